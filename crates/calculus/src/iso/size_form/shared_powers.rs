//! Common factors of sums: forms as polynomials over the powers they share, and coprime bases.

use super::super::dyadic::Dyadic;
use super::super::polynomial::Polynomial;
use super::form::{Base, Exponent, Form, Monomial};
use super::{MAX_BASES, MAX_DEGREE};
use num_traits::ToPrimitive;
use std::collections::{BTreeMap, BTreeSet};

/// The powers that occur in two sums, as the variables of polynomials.
pub(super) struct SharedPowers {
    /// Base, and the monomial of its exponent.
    variables: Vec<(Base, Monomial)>,
    /// The common denominator of exponents, a power of two.
    halvings: u64,
}

impl SharedPowers {
    /// Returns the powers of both; `None` if the two have no power in common, hence no factor.
    pub(super) fn of(a: &Form, b: &Form) -> Option<SharedPowers> {
        let mut halvings = 0;
        let mut occurring = |form: &Form| {
            let mut all = BTreeSet::new();
            for (base, exponent) in form.terms.keys().flat_map(|monomial| monomial.powers.iter()) {
                for (inner, n) in &exponent.terms {
                    halvings = halvings.max(n.denominator_exponent());
                    all.insert((base.clone(), inner.clone()));
                }
            }
            all
        };
        let (left, right) = (occurring(a), occurring(b));
        left.intersection(&right).next()?;
        Some(SharedPowers { variables: left.union(&right).cloned().collect(), halvings })
    }

    /// Returns both sums as polynomials.
    pub(super) fn polynomials(&self, a: &Form, b: &Form) -> Option<(Polynomial, Polynomial)> {
        Some((self.polynomial(a)?, self.polynomial(b)?))
    }

    /// Returns a sum as a polynomial; `None` if an exponent is too large.
    pub(super) fn polynomial(&self, form: &Form) -> Option<Polynomial> {
        let mut polynomial = Polynomial::default();
        for (monomial, n) in &form.terms {
            let exponents = self.variables.iter().map(|(base, inner)| {
                let Some(n) = monomial.powers.get(base).and_then(|exponent| exponent.terms.get(inner)) else {
                    return Some(0);
                };
                n.numerator_over(self.halvings).to_u32().filter(|n| *n <= MAX_DEGREE)
            });
            polynomial.terms.insert(exponents.collect::<Option<Vec<u32>>>()?, n.numerator_over(0));
        }
        Some(polynomial)
    }

    /// Returns a polynomial as a sum.
    pub(super) fn form(&self, polynomial: &Polynomial) -> Form {
        let mut form = Form::default();
        for (exponents, n) in &polynomial.terms {
            let mut powers: BTreeMap<Base, Form> = BTreeMap::new();
            for ((base, inner), exponent) in self.variables.iter().zip(exponents).filter(|(_, e)| **e > 0) {
                let exponent = Dyadic::new((*exponent).into(), self.halvings);
                powers.entry(base.clone()).or_default().terms.insert(inner.clone(), exponent);
            }
            let powers = powers.into_iter().map(|(base, exponent)| (base, Exponent::new(exponent))).collect();
            form.terms.insert(Monomial { powers }, n.clone().into());
        }
        form
    }
}

/// Replaces members with a common factor by the results of `split`, until there are none.
pub(super) fn refine_coprime_basis<T: PartialEq + Clone>(
    members: &mut Vec<T>,
    split: &dyn Fn(&T, &T) -> Option<[T; 3]>,
) {
    // Each round lowers the product of the members.
    'again: for _ in 0..MAX_BASES * MAX_BASES {
        for i in 0..members.len() {
            for j in i + 1..members.len() {
                if members[i] == members[j] {
                    members.swap_remove(j);
                    continue 'again;
                }
                if let Some(parts) = split(&members[i], &members[j]) {
                    members.swap_remove(j);
                    members.swap_remove(i);
                    members.extend(parts);
                    continue 'again;
                }
            }
        }
        return;
    }
}
