//! The normal form of sizes: exponential polynomials, compared by exact arithmetic.
//!
//! Takes sizes built from naturals and variables with `+`, `·`, `^` and pairs `n(n - 1)/2`; gives
//! sums of monomials, such that equal forms are equal for every value of the variables, and forms
//! of one [`Forms`] that are not equal are unequal for some value, unless [`Forms::incomplete`].
//!
//! **The form.** A monomial is a product of powers `base ^ exponent` with a dyadic coefficient. An
//! exponent is a form again. A base is a variable, an integer above 1, or a form of two terms or
//! more without content, the *rest*. A power `B ^ E` is normalized in three steps:
//!
//! 1. The natural constant `c` of `E = E' + c` is separated: `B^E = B^E' · B^c`, and `B^c` is
//!    multiplied out. A constant power too large for that stays a power ([`Forms::incomplete`]).
//! 2. `B` is its content (an integer over a power of two), times the greatest monomial that divides
//!    all terms, times the rest. The power of each is taken separately.
//! 3. Integers are split over a *coprime basis* of all integers met (E. Bach, J. Driscoll and J.
//!    Shallit, *Factor refinement*, 1993), rests over a basis of all rests met whose members have
//!    no common factor pairwise ([`super::polynomial`]). When a member has to be split, everything
//!    is recomputed with the finer basis ([`NormalFormError::Refined`]). A rest that is split
//!    involves powers whose own bases are of lower height, so members up to that height stay valid,
//!    and the heights bound how often this happens.
//!
//! **Soundness.** Every step is a law that holds for all naturals, 0 included (`0^0 = 1`): `P^(E+F)
//! = P^E·P^F`, `(P·Q)^E = P^E·Q^E`, `(P^E)^F = P^(E·F)`, `P^0 = 1`, `1^E = 1`, and those of a
//! commutative ring; a rest may be negative somewhere, its natural powers obey the same laws. Two
//! things need more. `0 ^ E` is no exponential polynomial: [`super::exact`] splits the cases in
//! which `E` is 0. Pairs in exponents lead to fractional exponents, `2^(n²/2 - n/2)`, whose laws
//! need a positive base; [`super::exact`] splits cases until the bases are. A factor of such a base
//! is nowhere 0 then, so it has one sign, and its absolute value may stand for it: the signs of two
//! negative factors cancel in each base.
//!
//! **Completeness.** Suppose a difference of two forms vanishes for all naturals. By induction on
//! height: variables and the exponentials `q^m`, for members `q` of the basis and the monomials `m`
//! of exponents, are algebraically independent as functions. For members are multiplicatively
//! independent (coprime and no units), and the monomials `m` are different functions by induction,
//! so that products of powers of the `q^m` are exponentials of different exponents `Σ m·log q`;
//! those are linearly independent over functions of lower height (D. Richardson, *Solution of the
//! identity problem for integral exponential functions*, Z. Math. Logik 15, 1969; A. Macintyre,
//! *The laws of exponentiation*, LNM 890, 1981). So all coefficients are 0. No finite set of laws
//! suffices (A. Wilkie; R. Gurevič), which is why a normal form decides and not a derivation.
//!
//! Cost: a few operations on small maps for ordinary sizes; at most [`MAX_TERMS`] monomials,
//! [`MAX_BITS`] bits, [`MAX_BASES`] bases and [`Forms::budget`] steps, beyond which nothing is
//! decided ([`NormalFormError::Budget`]).

mod form;
mod shared_powers;

pub use form::Form;

use super::dyadic::Dyadic;
use super::polynomial::Polynomial;
use crate::cancellation;
use crate::types::MAX_SIZE_BITS;
use form::{Base, Exponent, Monomial, monomial_gcd};
use num_bigint::{BigInt, BigUint};
use num_integer::Integer;
use num_traits::{One, ToPrimitive, Zero};
use shared_powers::{SharedPowers, refine_coprime_basis};
use std::collections::BTreeMap;

/// Monomials of a form, at most.
pub const MAX_TERMS: usize = 4_096;
/// Bits of a coefficient, at most.
pub const MAX_BITS: u64 = MAX_SIZE_BITS;
/// Bases of powers that are sums, at most.
pub const MAX_BASES: usize = 64;
/// Exponents up to which constant powers of sums are multiplied out.
const MAX_EXPONENT: u32 = 512;
/// Steps of one expansion of a constant power, at most.
const MAX_EXPANSION_STEPS: u64 = 100_000;
/// Trial divisors are below this; the coprime basis holds the remaining factors.
const MAX_TRIAL_DIVISOR: u32 = 1_000;
/// Exponents in polynomials whose common divisors are searched, at most.
const MAX_DEGREE: u32 = 256;

/// Bits of numbers that are added or multiplied at the cost of one step.
const STEP_BITS: u64 = 256;
/// Bits of the integers that polynomials are evaluated to in a search for common divisors, at most.
const MAX_EVALUATION_BITS: u64 = 1 << 16;

/// The reason why no form is returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NormalFormError {
    /// The form would be too large, or take too long.
    Budget,
    /// The basis became finer: forms made before are invalid.
    Refined,
}

/// The result of an operation within the budget.
type Result<T> = std::result::Result<T, NormalFormError>;

/// The basis over which bases of powers are written, and the remaining budget.
#[derive(Debug)]
pub struct Forms {
    /// Integers without small factors, pairwise coprime.
    integers: Vec<BigUint>,
    /// All sums met, without content, each with its height of powers.
    sum_bases: Vec<(u32, Form)>,
    /// The members of the basis among the sums met, pairwise without common factor.
    sum_basis: Vec<usize>,
    /// The steps left.
    budget: u64,
    /// See [`Forms::incomplete`].
    incomplete: bool,
}

impl Forms {
    /// Returns an empty basis with a budget of steps.
    pub fn new(budget: u64) -> Forms {
        Forms {
            integers: Vec::new(),
            sum_bases: Vec::new(),
            sum_basis: Vec::new(),
            budget,
            incomplete: false,
        }
    }

    /// Returns true if different forms may stand for the same size: a constant power was too large
    /// to multiply out, or a common factor was not found within the bounds.
    pub fn incomplete(&self) -> bool {
        self.incomplete
    }

    /// Returns the remaining steps.
    pub fn budget(&self) -> u64 {
        self.budget
    }

    /// Takes steps from the budget. Polls for cancellation.
    pub fn charge(&mut self, steps: usize) -> Result<()> {
        cancellation::poll();
        self.budget = self.budget.checked_sub(steps as u64).ok_or(NormalFormError::Budget)?;
        Ok(())
    }

    /// Takes the cost of an operation on numbers of `bits` bits.
    fn charge_bits(&mut self, bits: u64) -> Result<()> {
        self.charge(1 + (bits / STEP_BITS) as usize)
    }

    /// Returns the form, unless it has too many terms.
    fn check_terms(form: Form) -> Result<Form> {
        if form.terms.len() > MAX_TERMS { Err(NormalFormError::Budget) } else { Ok(form) }
    }

    /// Returns `a + b`.
    pub fn add(&mut self, a: &Form, b: &Form) -> Result<Form> {
        self.charge(a.terms.len() + b.terms.len())?;
        let (mut sum, other) = if a.terms.len() < b.terms.len() { (b.clone(), a) } else { (a.clone(), b) };
        for (monomial, n) in &other.terms {
            self.charge_bits(n.bits())?;
            sum.add_term(monomial.clone(), n.clone());
        }
        Forms::check_terms(sum)
    }

    /// Returns `a · b`.
    pub fn mul(&mut self, a: &Form, b: &Form) -> Result<Form> {
        if a.is_one() {
            return Ok(b.clone());
        }
        if b.is_one() {
            return Ok(a.clone());
        }
        let mut product = Form::default();
        for (left, n) in &a.terms {
            for (right, m) in &b.terms {
                let bits = n.bits() + m.bits();
                self.charge_bits(bits)?;
                if bits > MAX_BITS {
                    return Err(NormalFormError::Budget);
                }
                let monomial = self.mul_monomials(left, right)?;
                product.add_term(monomial, n * m);
            }
            if product.terms.len() > MAX_TERMS {
                return Err(NormalFormError::Budget);
            }
        }
        Ok(product)
    }

    /// Returns the product of two monomials.
    fn mul_monomials(&mut self, a: &Monomial, b: &Monomial) -> Result<Monomial> {
        let (mut product, other) =
            if a.powers.len() < b.powers.len() { (b.clone(), a) } else { (a.clone(), b) };
        for (base, exponent) in &other.powers {
            let sum = match product.powers.remove(base) {
                None => exponent.clone(),
                Some(already) => Exponent::new(self.add(&already, exponent)?),
            };
            if !sum.is_zero() {
                product.powers.insert(base.clone(), sum);
            }
        }
        Ok(product)
    }

    /// Returns `n(n - 1)/2`.
    pub fn pairs(&mut self, n: &Form) -> Result<Form> {
        let mut twice = self.mul(n, n)?;
        for (monomial, coefficient) in &n.terms {
            twice.add_term(monomial.clone(), -coefficient.clone());
        }
        Ok(Form { terms: twice.terms.into_iter().map(|(monomial, n)| (monomial, n.half())).collect() })
    }

    /// Returns `base ^ exponent`, where `base` is not 0 or `exponent` is constant.
    pub fn pow(&mut self, base: &Form, exponent: &Form) -> Result<Form> {
        self.charge(1)?;
        if exponent.is_zero() || base.is_one() {
            return Ok(Form::one());
        }
        let (symbolic, constant) = exponent.split_constant();
        // Sizes are natural numbers, and so is their constant term.
        let constant = constant.as_natural().ok_or(NormalFormError::Budget)?.clone();
        let outside = self.constant_power(base, &constant)?;
        if symbolic.is_zero() {
            return Ok(outside);
        }
        if base.is_zero() {
            return Err(NormalFormError::Budget);
        }
        let inside = self.split_power(base, &symbolic)?;
        self.mul(&inside, &outside)
    }

    /// Returns `base ^ exponent` for a constant exponent.
    fn constant_power(&mut self, base: &Form, exponent: &BigUint) -> Result<Form> {
        if exponent.is_zero() {
            return Ok(Form::one());
        }
        if exponent.is_one() || base.is_zero() {
            return Ok(base.clone());
        }
        let count = exponent.to_u32();
        if let (Some((monomial, coefficient)), 1) = (base.terms.first_key_value(), base.terms.len()) {
            let natural = coefficient.as_natural().ok_or(NormalFormError::Budget)?.clone();
            let factor = Form::constant(exponent.clone());
            let symbols = self.raise_monomial(monomial, &factor)?;
            let fits = |count: &u32| (natural.bits() - 1).saturating_mul((*count).into()) < MAX_BITS;
            let number = match count.filter(fits) {
                Some(count) => Form::constant(natural.pow(count)),
                None if natural.is_one() => Form::one(),
                None => {
                    self.incomplete = true;
                    self.integer_power(&natural, &factor)?
                }
            };
            return self.mul(&symbols, &number);
        }
        if let Some(count) = count.filter(|count| *count <= MAX_EXPONENT)
            && let Some(power) = self.expand_power(base, count)?
        {
            return Ok(power);
        }
        self.incomplete = true;
        self.split_power(base, &Form::constant(exponent.clone()))
    }

    /// Returns a constant power of a sum, multiplied out; `None` if that is too large.
    fn expand_power(&mut self, base: &Form, count: u32) -> Result<Option<Form>> {
        let all = self.budget;
        self.budget = all.min(MAX_EXPANSION_STEPS);
        let mut power = Ok(base.clone());
        for _ in 1..count {
            power = power.and_then(|power| self.mul(&power, base));
        }
        self.budget = all - (all.min(MAX_EXPANSION_STEPS) - self.budget);
        match power {
            Ok(power) => Ok(Some(power)),
            Err(NormalFormError::Budget) => {
                self.charge(MAX_EXPANSION_STEPS as usize)?;
                Ok(None)
            }
            Err(stop) => Err(stop),
        }
    }

    /// Returns a power of a monomial: its exponents times another.
    fn raise_monomial(&mut self, monomial: &Monomial, exponent: &Form) -> Result<Form> {
        let mut powers = BTreeMap::new();
        for (base, inner) in &monomial.powers {
            powers.insert(base.clone(), Exponent::new(self.mul(inner, exponent)?));
        }
        Ok(Form::term(Monomial { powers }, Dyadic::one()))
    }

    /// Returns `base ^ exponent` by content, common monomial and rest of the base; nothing is
    /// multiplied out.
    fn split_power(&mut self, base: &Form, exponent: &Form) -> Result<Form> {
        let (content, halvings, shared, rest) = self.split_content(base)?;
        let mut result = self.integer_power(&content, exponent)?;
        if halvings > 0 {
            let negative = exponent.scale(&-Dyadic::from(BigUint::from(halvings)));
            let two = Form::power(Base::Integer(2u32.into()), negative);
            result = self.mul(&result, &two)?;
        }
        let symbols = self.raise_monomial(&shared, exponent)?;
        result = self.mul(&result, &symbols)?;
        if rest.is_one() {
            return Ok(result);
        }
        let split = self.split_sum(rest)?;
        for (base, times) in split {
            let exponent = exponent.scale(&BigUint::from(times).into());
            result = self.mul(&result, &Form::power(Base::Sum(base), exponent))?;
        }
        Ok(result)
    }

    /// Splits a form other than 0 into its content (over a power of two), the greatest common
    /// monomial, and the rest.
    fn split_content(&mut self, form: &Form) -> Result<(BigUint, u64, Monomial, Form)> {
        self.charge(form.terms.len() * 2)?;
        let halvings = form.terms.values().map(Dyadic::denominator_exponent).max().unwrap_or(0);
        let content = form.terms.values().fold(BigInt::zero(), |gcd, n| gcd.gcd(&n.numerator_over(halvings)));
        let mut shared = form.terms.keys().next().cloned().ok_or(NormalFormError::Budget)?;
        for monomial in form.terms.keys().skip(1) {
            shared = monomial_gcd(&shared, monomial);
        }
        let mut inverse = shared.clone();
        for exponent in inverse.powers.values_mut() {
            *exponent = Exponent::new(exponent.scale(&-Dyadic::one()));
        }
        let mut rest = Form::default();
        for (monomial, n) in &form.terms {
            let n = n.numerator_over(halvings) / &content;
            rest.add_term(self.mul_monomials(monomial, &inverse)?, n.into());
        }
        if rest.terms.len() == 1 && !rest.is_one() {
            // A negative number of values.
            return Err(NormalFormError::Budget);
        }
        Ok((content.magnitude().clone(), halvings, shared, rest))
    }

    /// Returns `n ^ exponent` over the coprime basis.
    fn integer_power(&mut self, n: &BigUint, exponent: &Form) -> Result<Form> {
        let mut powers: Vec<(BigUint, u64)> = Vec::new();
        let mut rest = n.clone();
        let twos = rest.trailing_zeros().unwrap_or(0);
        if twos > 0 {
            rest >>= twos;
            powers.push((2u32.into(), twos));
        }
        for d in (3..MAX_TRIAL_DIVISOR).step_by(2) {
            if rest.is_one() {
                break;
            }
            self.charge_bits(rest.bits() / 8)?;
            if (&rest % d).is_zero() {
                let times = self.remove_factor(&mut rest, &d.into())?;
                powers.push((d.into(), times));
            }
        }
        for known in self.integers.clone() {
            let times = self.remove_factor(&mut rest, &known)?;
            if times > 0 {
                powers.push((known, times));
            }
        }
        if !rest.is_one() {
            for known in self.integers.clone() {
                self.charge_bits((known.bits() / 64 + 1) * (rest.bits() / 64 + 1) * 64)?;
                if known.gcd(&rest).is_one() {
                    continue;
                }
                self.integers.push(rest);
                refine_coprime_basis(&mut self.integers, &|a, b| {
                    let gcd = a.gcd(b);
                    (!gcd.is_one()).then(|| [a / &gcd, b / &gcd, gcd.clone()])
                });
                self.integers.retain(|n| !n.is_one());
                return Err(NormalFormError::Refined);
            }
            if self.integers.len() >= MAX_BASES {
                return Err(NormalFormError::Budget);
            }
            self.integers.push(rest.clone());
            powers.push((rest, 1));
        }
        let power = |(factor, times): (BigUint, u64)| {
            (Base::Integer(factor), Exponent::new(exponent.scale(&BigUint::from(times).into())))
        };
        Ok(Form::term(Monomial { powers: powers.into_iter().map(power).collect() }, Dyadic::one()))
    }

    /// Divides a number by a factor as often as possible and returns the multiplicity: by repeated
    /// squares of the factor upward, then downward.
    fn remove_factor(&mut self, number: &mut BigUint, factor: &BigUint) -> Result<u64> {
        let mut squares = vec![factor.clone()];
        let (mut total, mut at) = (0, 0);
        loop {
            let limbs = number.bits() / 64 + 1;
            self.charge_bits(limbs * (squares[at].bits() / 64 + 1))?;
            let (quotient, remainder) = number.div_rem(&squares[at]);
            if remainder.is_zero() {
                *number = quotient;
                total += 1 << at;
                if at + 1 == squares.len() && squares[at].bits() * 2 <= number.bits() + 1 {
                    squares.push(&squares[at] * &squares[at]);
                    at += 1;
                }
            } else if at == 0 {
                return Ok(total);
            } else {
                at -= 1;
            }
        }
    }

    /// Returns the height of nested powers whose exponents are not constant.
    fn height(&self, form: &Form) -> u32 {
        let power = |(base, exponent): (&Base, &Exponent)| {
            let below = match base {
                Base::Sum(sum) => self.sum_bases[*sum].0,
                Base::Variable(_) | Base::Integer(_) => 0,
            };
            if exponent.as_constant().is_some() { below } else { 1 + below.max(self.height(exponent)) }
        };
        form.terms.keys().flat_map(|monomial| monomial.powers.iter()).map(power).max().unwrap_or(0)
    }

    /// Adds a sum to the basis and returns its number.
    fn insert_sum(&mut self, sum: Form) -> usize {
        let height = self.height(&sum);
        self.sum_bases.push((height, sum));
        self.sum_basis.push(self.sum_bases.len() - 1);
        self.sum_bases.len() - 1
    }

    /// Returns a sum without content as a product of members of the basis with multiplicities.
    fn split_sum(&mut self, sum: Form) -> Result<Vec<(usize, u32)>> {
        self.charge(self.sum_basis.len())?;
        if let Some(at) = self.sum_basis.iter().find(|at| self.sum_bases[**at].1 == sum) {
            return Ok(vec![(*at, 1)]);
        }
        let (mut found, mut rest) = (Vec::new(), sum);
        for at in self.sum_basis.clone() {
            let known = &self.sum_bases[at].1;
            let steps = rest.terms.len() + known.terms.len();
            let Some(common) = SharedPowers::of(&rest, known) else { continue };
            let polynomials = common.polynomials(&rest, known);
            self.charge(steps)?;
            let Some((mut left, right)) =
                polynomials.filter(|(a, b)| a.evaluation_bits(b) <= MAX_EVALUATION_BITS)
            else {
                self.incomplete = true;
                continue;
            };
            self.charge(steps * 4 + left.evaluation_bits(&right) as usize)?;
            let Some(divisor) = left.common_divisor(&right) else {
                self.incomplete = true;
                continue;
            };
            if divisor.is_constant() {
                continue;
            }
            if divisor != right.clone().primitive() {
                return Err(self.refine_sums(at, &common, &left, &right, &divisor));
            }
            let mut times = 0;
            while let Some(quotient) = left.divide(&right) {
                left = quotient;
                times += 1;
            }
            found.push((at, times));
            rest = common.form(&left);
            if rest.is_one() {
                return Ok(found);
            }
            if rest.terms.len() < 2 {
                return Err(NormalFormError::Budget);
            }
        }
        if self.sum_basis.len() >= MAX_BASES {
            return Err(NormalFormError::Budget);
        }
        found.push((self.insert_sum(rest), 1));
        Ok(found)
    }

    /// Splits a member of the basis by a proper divisor, and removes the members above its height.
    fn refine_sums(
        &mut self,
        at: usize,
        common: &SharedPowers,
        left: &Polynomial,
        right: &Polynomial,
        divisor: &Polynomial,
    ) -> NormalFormError {
        let height = self.sum_bases[at].0;
        self.sum_basis.retain(|other| self.sum_bases[*other].0 <= height && *other != at);
        let mut parts = vec![left.clone().primitive(), right.clone().primitive(), divisor.clone()];
        refine_coprime_basis(&mut parts, &|a, b| {
            let gcd = a.common_divisor(b).filter(|gcd| !gcd.is_constant())?;
            Some([a.divide(&gcd)?, b.divide(&gcd)?, gcd])
        });
        parts.retain(|part| !part.is_constant());
        for part in parts {
            let form = common.form(&part.primitive());
            if self.height(&form) <= height
                && !self.sum_basis.iter().any(|known| self.sum_bases[*known].1 == form)
            {
                self.insert_sum(form);
            }
        }
        NormalFormError::Refined
    }

    /// Decides whether two forms are the same size; `None` where incompleteness prevents an answer.
    pub fn same(&mut self, a: &Form, b: &Form) -> Result<Option<bool>> {
        let negative = b.scale(&-Dyadic::one());
        let difference = self.add(a, &negative)?;
        if difference.is_zero() {
            return Ok(Some(true));
        }
        let settled = self.expand_common_powers(difference)?;
        if settled.is_zero() {
            return Ok(Some(true));
        }
        Ok(if self.incomplete { None } else { Some(false) })
    }

    /// Multiplies out, for each base, the constant powers beyond the least of them.
    fn expand_common_powers(&mut self, form: Form) -> Result<Form> {
        let constant = |exponent: &Form| exponent.split_constant().1;
        let mut least: BTreeMap<Base, Dyadic> = BTreeMap::new();
        for (base, exponent) in form.terms.keys().flat_map(|monomial| monomial.powers.iter()) {
            let c = constant(exponent);
            if !matches!(base, Base::Variable(_)) && !c.is_zero() {
                least
                    .entry(base.clone())
                    .and_modify(|known| *known = known.clone().min(c.clone()))
                    .or_insert(c);
            }
        }
        if least.is_empty() {
            return Ok(form);
        }
        let mut settled = Form::default();
        for (monomial, n) in &form.terms {
            let mut outside = Form::term(Monomial::default(), n.clone());
            let mut inside = monomial.clone();
            for (base, least) in &least {
                let Some(exponent) = monomial.powers.get(base) else { continue };
                let c = constant(exponent);
                let more = c.clone() - least.clone();
                let Some(more) = more.as_natural().filter(|_| !c.is_zero() && !more.is_zero()) else {
                    continue;
                };
                let factor = match base {
                    // A factor of a positive base may be negative, and so may an odd power of it.
                    Base::Sum(sum) if self.sum_bases[*sum].1.terms.values().any(Dyadic::is_negative) => {
                        continue;
                    }
                    Base::Sum(sum) => self.sum_bases[*sum].1.clone(),
                    Base::Integer(n) => Form::constant(n.clone()),
                    Base::Variable(_) => continue,
                };
                let power = self.constant_power(&factor, more)?;
                let less = self.add(exponent, &Form::constant(more.clone()).scale(&-Dyadic::one()))?;
                inside.powers.insert(base.clone(), Exponent::new(less));
                outside = self.mul(&outside, &power)?;
            }
            let term = self.mul(&Form::term(inside, Dyadic::one()), &outside)?;
            settled = self.add(&settled, &term)?;
        }
        Ok(settled)
    }
}
