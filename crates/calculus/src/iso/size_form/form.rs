//! Forms: sums of monomials over powers, with nested exponents.
//!
//! The data of the normal form; [`super::Forms`] has the arithmetic that needs a basis.

use super::super::dyadic::Dyadic;
use num_bigint::BigUint;
use num_traits::{One, Zero};
use rustc_hash::FxHasher;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{BuildHasher, BuildHasherDefault, Hash, Hasher};
use std::ops::Deref;
use std::sync::Arc;

/// A sum of monomials with coefficients other than 0.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Form {
    /// The coefficients by monomial.
    pub(super) terms: BTreeMap<Monomial, Dyadic>,
}

/// A product of powers whose exponents are not 0.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub(super) struct Monomial {
    /// The exponents by base.
    pub(super) powers: BTreeMap<Base, Exponent>,
}

/// A base of a power.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Base {
    /// A variable, by its number.
    Variable(u32),
    /// An integer above 1 of the coprime basis.
    Integer(BigUint),
    /// A member of the basis, by its number in [`Forms::sum_bases`].
    Sum(usize),
}

/// A form with its hash, so that nested exponents are compared in constant time where they differ.
#[derive(Clone, Debug)]
pub(super) struct Exponent(Arc<(u64, Form)>);

impl Exponent {
    /// Returns a form with its hash.
    pub(super) fn new(form: Form) -> Exponent {
        Exponent(Arc::new((BuildHasherDefault::<FxHasher>::default().hash_one(&form), form)))
    }
}

impl Deref for Exponent {
    type Target = Form;

    fn deref(&self) -> &Form {
        &self.0.1
    }
}

impl Hash for Exponent {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.0.0);
    }
}

impl PartialEq for Exponent {
    fn eq(&self, other: &Exponent) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Exponent {}

impl PartialOrd for Exponent {
    fn partial_cmp(&self, other: &Exponent) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Exponent {
    fn cmp(&self, other: &Exponent) -> Ordering {
        if Arc::ptr_eq(&self.0, &other.0) {
            return Ordering::Equal;
        }
        self.0.0.cmp(&other.0.0).then_with(|| self.0.1.cmp(&other.0.1))
    }
}

impl Form {
    /// Returns the form of a number.
    pub fn constant(n: BigUint) -> Form {
        Form::term(Monomial::default(), n.into())
    }

    /// Returns the form of 1.
    pub fn one() -> Form {
        Form::constant(BigUint::one())
    }

    /// Returns the form of a variable.
    pub fn variable(id: u32) -> Form {
        Form::power(Base::Variable(id), Form::one())
    }

    /// Returns the form of a single power.
    pub(super) fn power(base: Base, exponent: Form) -> Form {
        if exponent.is_zero() {
            return Form::one();
        }
        Form::term(Monomial { powers: BTreeMap::from([(base, Exponent::new(exponent))]) }, Dyadic::one())
    }

    /// Returns the form of a single term.
    pub(super) fn term(monomial: Monomial, coefficient: Dyadic) -> Form {
        let mut form = Form::default();
        if !coefficient.is_zero() {
            form.terms.insert(monomial, coefficient);
        }
        form
    }

    /// Returns true if the form is 0.
    pub fn is_zero(&self) -> bool {
        self.terms.is_empty()
    }

    /// Returns true if the form is 1.
    pub fn is_one(&self) -> bool {
        self.as_constant().is_some_and(|n| n.is_one())
    }

    /// Returns the value of a form without variables and powers.
    pub(super) fn as_constant(&self) -> Option<Dyadic> {
        match self.terms.first_key_value() {
            None => Some(Dyadic::zero()),
            Some((monomial, n)) if self.terms.len() == 1 && monomial.powers.is_empty() => Some(n.clone()),
            Some(_) => None,
        }
    }

    /// Adds a term, and removes it where the sum is 0.
    pub(super) fn add_term(&mut self, monomial: Monomial, coefficient: Dyadic) {
        use std::collections::btree_map::Entry;
        match self.terms.entry(monomial) {
            Entry::Vacant(free) => {
                if !coefficient.is_zero() {
                    free.insert(coefficient);
                }
            }
            Entry::Occupied(mut known) => {
                let sum = known.get().clone() + coefficient;
                if sum.is_zero() {
                    known.remove();
                } else {
                    known.insert(sum);
                }
            }
        }
    }

    /// Returns the form times a number.
    pub(super) fn scale(&self, factor: &Dyadic) -> Form {
        if factor.is_one() {
            return self.clone();
        }
        Form { terms: self.terms.iter().map(|(monomial, n)| (monomial.clone(), n * factor)).collect() }
    }

    /// Splits `E' + c` into `E'`, without constant term, and `c`.
    pub(super) fn split_constant(&self) -> (Form, Dyadic) {
        let mut rest = self.clone();
        let constant = rest.terms.remove(&Monomial::default()).unwrap_or_else(Dyadic::zero);
        (rest, constant)
    }
}

/// Returns the greatest monomial that divides both: each power to the lesser of its exponents.
pub(super) fn monomial_gcd(a: &Monomial, b: &Monomial) -> Monomial {
    let mut powers = BTreeMap::new();
    let bases: BTreeSet<&Base> = a.powers.keys().chain(b.powers.keys()).collect();
    let none = Exponent::new(Form::default());
    for base in bases {
        let (x, y) = (a.powers.get(base).unwrap_or(&none), b.powers.get(base).unwrap_or(&none));
        let mut least = Form::default();
        for monomial in x.terms.keys().chain(y.terms.keys()) {
            let of = |form: &Form| form.terms.get(monomial).cloned().unwrap_or_else(Dyadic::zero);
            let n = of(x).min(of(y));
            if !n.is_zero() {
                least.terms.insert(monomial.clone(), n);
            }
        }
        if !least.is_zero() {
            powers.insert(base.clone(), Exponent::new(least));
        }
    }
    Monomial { powers }
}
