//! Sizes of compact linear types, as exact exponential polynomials over size variables.
//!
//! Takes a type; gives its number of values as a sum of monomials, each a natural coefficient times
//! powers `base ^ exponent`. A base is a variable, a constant (in `2^N`, or in `2^(2^100)`, which
//! is never expanded), a sum that cannot be multiplied out (in `(N + 1)^M`) or the pairs `N(N -
//! 1)/2` of a monomial; an exponent is a size again. Pairs are a base of their own because
//! coefficients are natural here: with `C(n) = n(n - 1)/2`, `C(a + b) = C(a) + C(b) + a·b` and
//! `C(k·m) = k·C(m) + C(k)·m²` leave pairs of single monomials only. The laws applied: `P^(E+F) =
//! P^E·P^F`, `(P·Q)^E = P^E·Q^E`, `(P^E)^F = P^(E·F)`, `P^0 = 1`, `1^E = 1`; constant bases are
//! split into primes, sums into content and rest, and constant powers of sums are multiplied out
//! while they are small.
//!
//! Equal forms are equal sizes. The converse holds for polynomials and for exponentials of
//! constants, variables and monomials; among powers of sums a few identities are missed (Wilkie's,
//! and `(N² + 2N + 1)^M = (N+1)^(2M)`), as are powers of 0, and `N² = 2·C(N) + N` among pairs.
//! `iso::verdict` decides those too.
//!
//! Every operation gives `None` when its result would be large. Never expands a number beyond
//! [`super::MAX_SIZE_BITS`].

use super::{MAX_SIZE_BITS, Triangle, Type, TypeKind, TypeVar};
use num_bigint::BigUint;
use num_integer::Integer;
use num_traits::{One, ToPrimitive, Zero};
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt;

/// A number of values: a sum of monomials with coefficients.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Size {
    /// The coefficients by monomial.
    terms: BTreeMap<Monomial, BigUint>,
}

/// A product of powers; the empty one is 1.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
struct Monomial {
    /// The exponents by base.
    powers: BTreeMap<Base, Size>,
}

/// A base of a power.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Base {
    /// A size variable.
    Var(Variable),
    /// A constant.
    Constant(BigUint),
    /// Two terms or more, without common factor.
    Sum(Size),
    /// `n(n - 1)/2` of one monomial with a variable, without coefficient.
    Pairs(Size),
}

/// A variable, ordered by name for readability and then by number.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Variable(TypeVar);

impl PartialOrd for Variable {
    fn partial_cmp(&self, other: &Variable) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Variable {
    fn cmp(&self, other: &Variable) -> Ordering {
        (&self.0.name, self.0.id).cmp(&(&other.0.name, other.0.id))
    }
}

/// Variables with their exponents.
pub type Powers = Vec<(TypeVar, u32)>;

/// Monomials of a size, at most.
const MAX_TERMS: usize = 200;

/// Trial divisors of a constant base are below this.
const MAX_TRIAL_DIVISOR: u32 = 1_000;

/// Nesting of exponents, at most.
const MAX_EXPONENT_DEPTH: u32 = 64;

impl Size {
    /// Returns the size of a compact linear type; `None` for other types and beyond the bounds.
    pub fn of(ty: &Type) -> Option<Size> {
        Size::of_type_within(ty, 1_000)
    }

    /// Returns the size of a type nested at most `depth` deep.
    fn of_type_within(ty: &Type, depth: u32) -> Option<Size> {
        let depth = depth.checked_sub(1)?;
        match ty.kind() {
            TypeKind::UnitSum(n) => Some(Size::constant(n.clone())),
            TypeKind::Places(set) => Some(Size::constant(set.count())),
            TypeKind::CompactProduct(factors) => factors
                .iter()
                .try_fold(Size::one(), |product, f| product.mul(&Size::of_type_within(f, depth)?)),
            TypeKind::CompactSum(cases) => {
                cases.iter().try_fold(Size::zero(), |sum, c| sum.add(&Size::of_type_within(c, depth)?))
            }
            TypeKind::CompactPower(base, exponent) => {
                Size::of_type_within(base, depth)?.pow(&Size::of_type_within(exponent, depth)?)
            }
            TypeKind::Triangle(triangle, index) => {
                let index = Size::of_type_within(index, depth)?;
                match triangle {
                    Triangle::Below => index.pairs(),
                    Triangle::Lower => index.pairs()?.add(&index),
                }
            }
            TypeKind::Nominal(nominal, args) if ty.is_compact() => {
                Size::of_type_within(&nominal.definition(args)?, depth)
            }
            TypeKind::Var(var) if ty.is_compact() => Some(Size::variable(var.clone())),
            TypeKind::Rest(_) if ty.is_compact() => {
                let [pair] = Type::rests_as_pairs([ty]);
                Size::of_type_within(&pair, depth)
            }
            _ => None,
        }
    }

    /// Returns `0`.
    pub fn zero() -> Size {
        Size::default()
    }

    /// Returns `1`.
    pub fn one() -> Size {
        Size::constant(BigUint::one())
    }

    /// Returns the size of a number.
    pub fn constant(n: impl Into<BigUint>) -> Size {
        Size::monomial(n.into(), Monomial::default())
    }

    /// Returns the size of a variable.
    pub fn variable(var: TypeVar) -> Size {
        Size::power(Base::Var(Variable(var)), Size::one())
    }

    /// Returns a single power.
    fn power(base: Base, exponent: Size) -> Size {
        Size::monomial(BigUint::one(), Monomial { powers: BTreeMap::from([(base, exponent)]) })
    }

    /// Returns a single term.
    fn monomial(coefficient: BigUint, monomial: Monomial) -> Size {
        let mut terms = BTreeMap::new();
        if !coefficient.is_zero() {
            terms.insert(monomial, coefficient);
        }
        Size { terms }
    }

    /// Returns true if the size is 0 for every value of its variables.
    pub fn is_zero(&self) -> bool {
        self.terms.is_empty()
    }

    /// Returns true if the size is 1 for every value of its variables.
    pub fn is_one(&self) -> bool {
        self.as_constant().is_some_and(One::is_one)
    }

    /// Returns the value of a nonzero size without variables and powers.
    fn as_constant(&self) -> Option<&BigUint> {
        match self.terms.first_key_value() {
            Some((monomial, n)) if self.terms.len() == 1 && monomial.powers.is_empty() => Some(n),
            _ => None,
        }
    }

    /// Returns the value of a size without variables and powers.
    pub fn to_constant(&self) -> Option<BigUint> {
        if self.is_zero() { Some(BigUint::zero()) } else { self.as_constant().cloned() }
    }

    /// Splits `E + c` into `E`, without constant term, and `c`.
    pub fn split_constant(&self) -> (Size, BigUint) {
        let mut rest = self.clone();
        let constant = rest.terms.remove(&Monomial::default()).unwrap_or_default();
        (rest, constant)
    }

    /// Returns `self + other`.
    pub fn add(&self, other: &Size) -> Option<Size> {
        let mut sum = self.clone();
        for (monomial, n) in &other.terms {
            *sum.terms.entry(monomial.clone()).or_default() += n;
        }
        (sum.terms.len() <= MAX_TERMS).then_some(sum)
    }

    /// Returns `self - other`, if the difference has natural coefficients.
    pub fn checked_sub(&self, other: &Size) -> Option<Size> {
        let mut rest = self.clone();
        for (monomial, n) in &other.terms {
            let have = rest.terms.get_mut(monomial)?;
            if *have < *n {
                return None;
            }
            *have -= n;
            if have.is_zero() {
                rest.terms.remove(monomial);
            }
        }
        Some(rest)
    }

    /// Returns the largest size that can be subtracted from both.
    pub fn common(&self, other: &Size) -> Size {
        let terms = self.terms.iter().filter_map(|(monomial, n)| {
            other.terms.get(monomial).map(|m| (monomial.clone(), n.min(m).clone()))
        });
        Size { terms: terms.collect() }
    }

    /// Returns `self · other`.
    pub fn mul(&self, other: &Size) -> Option<Size> {
        let mut product = Size::zero();
        if self.terms.len().saturating_mul(other.terms.len()) > MAX_TERMS * 4 {
            return None;
        }
        for (left, n) in &self.terms {
            for (right, m) in &other.terms {
                if n.bits() + m.bits() > MAX_SIZE_BITS {
                    return None;
                }
                let Some(monomial) = left.mul(right)? else { continue };
                *product.terms.entry(monomial).or_default() += n * m;
            }
        }
        (product.terms.len() <= MAX_TERMS).then_some(product)
    }

    /// Returns `n(n - 1)/2` for n = `self`.
    pub fn pairs(&self) -> Option<Size> {
        if self.terms.len().saturating_mul(self.terms.len()) > MAX_TERMS * 4 {
            return None;
        }
        let mut sum = Size::zero();
        for (at, (monomial, n)) in self.terms.iter().enumerate() {
            if n.bits() * 2 > MAX_SIZE_BITS {
                return None;
            }
            let inside = Size::monomial(Triangle::Below.count(n), monomial.clone());
            let bare = Size::monomial(BigUint::one(), monomial.clone());
            // C(n·m) = n·C(m) + C(n)·m², where m = 1 has no pairs.
            sum = sum.add(&inside.mul(&bare)?)?;
            if !bare.is_one() {
                let pairs = Size::power(Base::Pairs(bare), Size::one());
                sum = sum.add(&pairs.mul(&Size::constant(n.clone()))?)?;
            }
            let one = Size::monomial(n.clone(), monomial.clone());
            for (other, m) in self.terms.iter().skip(at + 1) {
                sum = sum.add(&one.mul(&Size::monomial(m.clone(), other.clone()))?)?;
            }
        }
        Some(sum)
    }

    /// Returns `self ^ exponent`, with `0 ^ 0 = 1`.
    pub fn pow(&self, exponent: &Size) -> Option<Size> {
        self.pow_within(exponent, MAX_EXPONENT_DEPTH)
    }

    /// Returns `self ^ exponent` with exponents nested at most `depth` deep.
    fn pow_within(&self, exponent: &Size, depth: u32) -> Option<Size> {
        let depth = depth.checked_sub(1)?;
        if exponent.is_zero() || self.is_one() {
            return Some(Size::one());
        }
        if exponent.is_one() {
            return Some(self.clone());
        }
        if self.is_zero() {
            return Some(power_of_zero(exponent));
        }
        if self.terms.len() > 1 {
            return self.power_of_sum(exponent, depth);
        }
        let (monomial, coefficient) = self.terms.first_key_value()?;
        let mut result = power_of_constant(coefficient, exponent)?;
        for (base, inner) in &monomial.powers {
            let exponent = inner.mul(exponent)?;
            result = result.mul(&match base {
                Base::Constant(n) if n.is_zero() => power_of_zero(&exponent),
                Base::Constant(n) => power_of_constant(n, &exponent)?,
                base => Size::power(base.clone(), exponent),
            })?;
        }
        Some(result)
    }

    /// Returns a power of a sum: content and common powers of variables are factored out.
    fn power_of_sum(&self, exponent: &Size, depth: u32) -> Option<Size> {
        // Content and common powers of variables are factored out: (2N·P + 4N)^E = 2^E·N^E·(P +
        // 2)^E.
        let content = self.terms.values().fold(BigUint::zero(), |gcd, n| gcd.gcd(n));
        let mut shared = self.terms.keys().next()?.clone();
        for other in self.terms.keys() {
            shared = shared.common(other);
        }
        let mut rest = Size::zero();
        for (monomial, n) in &self.terms {
            rest.terms.insert(monomial.without(&shared)?, n / &content);
        }
        let outside = Size::monomial(content, shared);
        let outside = if outside.is_one() { outside } else { outside.pow_within(exponent, depth)? };
        let (symbolic, constant) = exponent.split_constant();
        let inside = match constant.to_u32().filter(|&c| c <= 64) {
            Some(count) => {
                let expanded = (0..count).try_fold(Size::one(), |product, _| product.mul(&rest));
                match expanded {
                    Some(product) if symbolic.is_zero() => product,
                    Some(product) => product.mul(&Size::power(Base::Sum(rest), symbolic))?,
                    None => Size::power(Base::Sum(rest), exponent.clone()),
                }
            }
            None => Size::power(Base::Sum(rest), exponent.clone()),
        };
        outside.mul(&inside)
    }

    /// Returns the value at the values that `value` gives to the variables, within
    /// [`MAX_SIZE_BITS`].
    pub fn evaluate(&self, value: &dyn Fn(&TypeVar) -> Option<BigUint>) -> Option<BigUint> {
        let mut sum = BigUint::zero();
        for (monomial, n) in &self.terms {
            let mut product = n.clone();
            for (base, exponent) in &monomial.powers {
                let base = match base {
                    Base::Var(var) => value(&var.0)?,
                    Base::Constant(n) => n.clone(),
                    Base::Sum(sum) => sum.evaluate(value)?,
                    Base::Pairs(of) => Triangle::Below.count(&of.evaluate(value)?),
                };
                product *= evaluate_power(&base, &exponent.evaluate(value)?)?;
                if product.bits() > MAX_SIZE_BITS {
                    return None;
                }
            }
            sum += product;
        }
        Some(sum)
    }

    /// Returns the monomials, where each is a number times powers of variables: coefficients, and
    /// variables with their exponents. `None` for a size with other powers.
    pub fn monomials(&self) -> Option<Vec<(BigUint, Powers)>> {
        let power = |(base, exponent): (&Base, &Size)| match base {
            Base::Var(var) => Some((var.0.clone(), exponent.to_constant()?.to_u32().filter(|n| *n <= 64)?)),
            _ => None,
        };
        self.terms
            .iter()
            .map(|(monomial, n)| Some((n.clone(), monomial.powers.iter().map(power).collect::<Option<_>>()?)))
            .collect()
    }

    /// Returns the canonical compact linear type of this size.
    pub fn to_type(&self) -> Type {
        let cases = self.terms.iter().map(|(monomial, n)| {
            let mut factors = Vec::new();
            if !n.is_one() || monomial.powers.is_empty() {
                factors.push(Type::unit_sum(n.clone()));
            }
            for (base, exponent) in &monomial.powers {
                let base = match base {
                    Base::Var(var) => Type::var(var.0.clone()),
                    Base::Constant(n) => Type::unit_sum(n.clone()),
                    Base::Sum(sum) => sum.to_type(),
                    Base::Pairs(of) => Type::triangle(Triangle::Below, of.to_type()),
                };
                factors.push(if exponent.is_one() {
                    base
                } else {
                    Type::compact_power(base, exponent.to_type())
                });
            }
            Type::compact_product(factors)
        });
        // Constants come last, as is conventional.
        let mut cases: Vec<Type> = cases.collect();
        if self.terms.len() > 1 && self.terms.contains_key(&Monomial::default()) {
            cases.rotate_left(1);
        }
        Type::compact_sum(cases)
    }
}

impl Monomial {
    /// Returns the sort key of terms in print: the number of symbolic powers, then the sum of the
    /// constant exponents.
    fn degree(&self) -> (usize, BigUint) {
        let constants: Vec<Option<BigUint>> = self.powers.values().map(Size::to_constant).collect();
        let symbolic = constants.iter().filter(|c| c.is_none()).count();
        let pairs = self.powers.keys().filter(|base| matches!(base, Base::Pairs(_))).count();
        (symbolic, constants.into_iter().flatten().sum::<BigUint>() + pairs)
    }

    /// Returns the product; `Some(None)` when it is 0.
    fn mul(&self, other: &Monomial) -> Option<Option<Monomial>> {
        let mut product = self.clone();
        for (base, exponent) in &other.powers {
            let sum = match product.powers.remove(base) {
                None => exponent.clone(),
                Some(already) => already.add(exponent)?,
            };
            if let Base::Constant(n) = base
                && n.is_zero()
            {
                // 0^E·0^F is 0^(E+F), which is 0^G for whichever G is 0 exactly where E + F is.
                product.powers.extend(power_of_zero(&sum).terms.pop_first()?.0.powers);
            } else {
                product.powers.insert(base.clone(), sum);
            }
        }
        // A variable that must be 0 for 0^E not to be, times that power.
        if let Some(zeros) = product.powers.get(&Base::Constant(BigUint::zero())) {
            let vanishes = product.powers.iter().any(|(base, exponent)| {
                matches!(base, Base::Var(_))
                    && exponent.terms.contains_key(&Monomial::default())
                    && Size::power(base.clone(), Size::one())
                        .terms
                        .keys()
                        .all(|m| zeros.terms.contains_key(m))
            });
            if vanishes {
                return Some(None);
            }
        }
        Some(Some(product))
    }

    /// Returns the greatest monomial that divides both.
    fn common(&self, other: &Monomial) -> Monomial {
        let powers = self.powers.iter().filter_map(|(base, e)| {
            let common = e.common(other.powers.get(base)?);
            (!common.is_zero()).then(|| (base.clone(), common))
        });
        Monomial { powers: powers.collect() }
    }

    /// Returns the quotient of two monomials, if it is one.
    fn without(&self, divisor: &Monomial) -> Option<Monomial> {
        let mut rest = self.clone();
        for (base, e) in &divisor.powers {
            let left = rest.powers.remove(base)?.checked_sub(e)?;
            if !left.is_zero() {
                rest.powers.insert(base.clone(), left);
            }
        }
        Some(rest)
    }
}

/// Returns `0 ^ exponent`. Only the zeros of the exponent matter, so its coefficients become 1.
fn power_of_zero(exponent: &Size) -> Size {
    let (mut support, constant) = exponent.split_constant();
    if !constant.is_zero() {
        return Size::zero();
    }
    support.terms.values_mut().for_each(|n| *n = BigUint::one());
    let squarefree = support.terms.into_iter().map(|(mut monomial, n)| {
        for e in monomial.powers.values_mut() {
            if e.as_constant().is_some() {
                *e = Size::one();
            }
        }
        (monomial, n)
    });
    let support = Size { terms: squarefree.collect() };
    if support.is_zero() { Size::one() } else { Size::power(Base::Constant(BigUint::zero()), support) }
}

/// Returns `n ^ exponent` for `n ≥ 1`: a number within [`MAX_SIZE_BITS`], powers of primes beyond.
fn power_of_constant(n: &BigUint, exponent: &Size) -> Option<Size> {
    if n.is_one() {
        return Some(Size::one());
    }
    let (symbolic, constant) = exponent.split_constant();
    match evaluate_power(n, &constant) {
        Some(number) if symbolic.is_zero() => Some(Size::constant(number)),
        Some(number) => Size::constant(number).mul(&factored_power(n, &symbolic)?),
        None => factored_power(n, exponent),
    }
}

/// Returns `n ^ exponent` as powers of primes.
fn factored_power(n: &BigUint, exponent: &Size) -> Option<Size> {
    let mut rest = n.clone();
    let mut result = Size::one();
    let mut split = |prime: BigUint, times: u32| -> Option<()> {
        let exponent = exponent.mul(&Size::constant(times))?;
        result = result.mul(&Size::power(Base::Constant(prime), exponent))?;
        Some(())
    };
    for d in 2..MAX_TRIAL_DIVISOR {
        let mut times = 0;
        while !rest.is_one() && (&rest % d).is_zero() {
            rest /= d;
            times += 1;
        }
        if times > 0 {
            split(BigUint::from(d), times)?;
        }
    }
    if !rest.is_one() {
        split(rest, 1)?;
    }
    Some(result)
}

/// Returns a power of numbers within [`MAX_SIZE_BITS`].
fn evaluate_power(base: &BigUint, exponent: &BigUint) -> Option<BigUint> {
    if base.is_one() || exponent.is_zero() {
        return Some(BigUint::one());
    }
    if base.is_zero() {
        return Some(BigUint::zero());
    }
    let exponent = exponent.to_u32()?;
    (base.bits().checked_mul(u64::from(exponent))? <= MAX_SIZE_BITS).then(|| base.pow(exponent))
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_zero() {
            return f.write_str("0");
        }
        // `N(N - 1)/2 + N` reads better as `N(N + 1)/2`.
        let mut rest = self.clone();
        let mut closed: Vec<(Monomial, String)> = Vec::new();
        for (monomial, n) in &self.terms {
            let only = monomial.powers.first_key_value().filter(|_| monomial.powers.len() == 1 && n.is_one());
            if let Some((Base::Pairs(of), exponent)) = only
                && exponent.is_one()
                && let Some(without) = rest.checked_sub(of)
            {
                rest = without;
                rest.terms.remove(monomial);
                closed.push((monomial.clone(), pairs_text(of, '+')));
            }
        }
        // Highest powers come first, the constant last, as is conventional for polynomials.
        let mut terms: Vec<(Monomial, Option<&BigUint>)> =
            rest.terms.iter().map(|(monomial, n)| (monomial.clone(), Some(n))).collect();
        terms.extend(closed.iter().map(|(monomial, _)| (monomial.clone(), None)));
        terms.sort_by_key(|(monomial, _)| std::cmp::Reverse(monomial.degree()));
        for (i, (monomial, n)) in terms.into_iter().enumerate() {
            if i > 0 {
                f.write_str(" + ")?;
            }
            match (n, closed.iter().find(|(m, _)| *m == monomial)) {
                (None, Some((_, text))) => f.write_str(text)?,
                (Some(n), _) => write_monomial(f, n, &monomial)?,
                (None, None) => unreachable!("a term without coefficient is a closed form"),
            }
        }
        Ok(())
    }
}

/// Prints a term.
fn write_monomial(f: &mut fmt::Formatter<'_>, n: &BigUint, monomial: &Monomial) -> fmt::Result {
    // 2·2^N reads better as 2^(N + 1).
    let mut coefficient = n.clone();
    let mut parts = Vec::new();
    let mut numbers: Vec<(Size, BigUint)> = Vec::new();
    for (base, exponent) in &monomial.powers {
        let mut exponent = exponent.clone();
        match base {
            Base::Constant(prime) if *prime > BigUint::one() => {
                let mut extra = 0u32;
                let mut left = coefficient.clone();
                while !left.is_one() && (&left % prime).is_zero() && extra < 1_000 {
                    left /= prime;
                    extra += 1;
                }
                if left.is_one() && extra > 0 {
                    coefficient = left;
                    exponent = exponent.add(&Size::constant(extra)).ok_or(fmt::Error)?;
                }
                match numbers.iter_mut().find(|(e, _)| *e == exponent) {
                    Some((_, product)) => *product *= prime,
                    None => numbers.push((exponent, prime.clone())),
                }
            }
            Base::Constant(zero) => numbers.push((exponent, zero.clone())),
            Base::Var(var) => parts.push(power_text(&var.0.name, &exponent)),
            Base::Sum(sum) => parts.push(power_text(&format!("({sum})"), &exponent)),
            Base::Pairs(of) if exponent.is_one() => parts.push(pairs_text(of, '-')),
            Base::Pairs(of) => parts.push(power_text(&format!("({})", pairs_text(of, '-')), &exponent)),
        }
    }
    let mut all: Vec<String> = numbers.iter().map(|(e, base)| power_text(&base.to_string(), e)).collect();
    all.extend(parts);
    let digits = if coefficient.bits() > 256 {
        format!("a number of {} bits", coefficient.bits())
    } else {
        coefficient.to_string()
    };
    if all.is_empty() {
        return f.write_str(&digits);
    }
    if !coefficient.is_one() {
        // `2N`, but `2·3^N`.
        let letter = all[0].starts_with(|c: char| c.is_alphabetic() || c == '(');
        write!(f, "{digits}{}", if letter { "" } else { "·" })?;
    }
    f.write_str(&all.join("·"))
}

/// Returns `N(N - 1)/2` or, where `of` is longer, `C(M·N, 2)`; with the sign `+`, the pairs of `of
/// + 1`.
fn pairs_text(of: &Size, sign: char) -> String {
    let of = of.to_string();
    match (of.chars().all(char::is_alphanumeric), sign) {
        // Written twice it could be of any length.
        (true, _) => format!("{of}({of} {sign} 1)/2"),
        (false, '+') => format!("C({of} + 1, 2)"),
        (false, _) => format!("C({of}, 2)"),
    }
}

/// Returns the text of a power.
fn power_text(base: &str, exponent: &Size) -> String {
    if exponent.is_one() {
        return base.to_string();
    }
    let exponent = exponent.to_string();
    let name = exponent.starts_with(char::is_alphabetic) && exponent.chars().all(char::is_alphanumeric);
    if name || exponent.chars().all(|c| c.is_ascii_digit()) {
        format!("{base}^{exponent}")
    } else {
        format!("{base}^({exponent})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::Kind;

    fn var(name: &str, id: u32) -> Type {
        Type::var(TypeVar { id, name: name.into(), kind: Kind::Compact })
    }

    fn n(k: u32) -> Type {
        Type::unit_sum(k)
    }

    fn below(of: &Type) -> Type {
        Type::triangle(Triangle::Below, of.clone())
    }

    fn lower(of: &Type) -> Type {
        Type::triangle(Triangle::Lower, of.clone())
    }

    fn size(ty: Type) -> Size {
        Size::of(&ty).unwrap_or_default()
    }

    #[test]
    fn sizes_print_as_people_write_them() {
        let (big_n, m) = (var("N", 1), var("M", 2));
        let times = |a: &Type, b: &Type| Type::compact_product(vec![a.clone(), b.clone()]);
        let plus = |a: &Type, b: &Type| Type::compact_sum(vec![a.clone(), b.clone()]);
        let power = |a: &Type, b: &Type| Type::compact_power(a.clone(), b.clone());
        for (ty, text) in [
            (plus(&times(&n(2), &big_n), &n(6)), "2N + 6"),
            (power(&n(2), &plus(&big_n, &n(1))), "2^(N + 1)"),
            (times(&big_n, &m), "M·N"),
            (power(&n(6), &big_n), "6^N"),
            (power(&n(4), &big_n), "2^(2N)"),
            (times(&big_n, &big_n), "N^2"),
            (power(&plus(&big_n, &n(1)), &m), "(N + 1)^M"),
            (power(&plus(&big_n, &n(1)), &n(2)), "N^2 + 2N + 1"),
            (power(&n(0), &big_n), "0^N"),
            (times(&power(&n(0), &big_n), &big_n), "0"),
            (power(&n(2), &power(&n(2), &n(100))), "2^1267650600228229401496703205376"),
            (n(0), "0"),
            (below(&big_n), "N(N - 1)/2"),
            (lower(&big_n), "N(N + 1)/2"),
            (below(&plus(&big_n, &n(1))), "N(N + 1)/2"),
            (lower(&plus(&big_n, &n(1))), "N(N + 1)/2 + N + 1"),
            (below(&times(&n(2), &big_n)), "N^2 + 2N(N - 1)/2"),
            (power(&n(2), &below(&big_n)), "2^(N(N - 1)/2)"),
            (below(&times(&big_n, &m)), "C(M·N, 2)"),
            (lower(&below(&big_n)), "C(N(N - 1)/2 + 1, 2)"),
            (below(&n(100)), "4950"),
            (lower(&n(100)), "5050"),
        ] {
            assert_eq!(size(ty).to_string(), text);
        }
    }

    #[test]
    fn equal_sizes_have_equal_forms() {
        let (big_n, m) = (var("N", 1), var("M", 2));
        let sum = |parts: &[&Type]| Type::compact_sum(parts.iter().map(|&t| t.clone()).collect());
        let product = |parts: &[&Type]| Type::compact_product(parts.iter().map(|&t| t.clone()).collect());
        let power = |a: &Type, b: &Type| Type::compact_power(a.clone(), b.clone());
        let twice = sum(&[&product(&[&n(2), &big_n]), &n(2)]);
        for (a, b) in [
            (power(&n(2), &sum(&[&big_n, &n(1)])), product(&[&power(&n(2), &big_n), &n(2)])),
            (power(&twice, &m), product(&[&power(&n(2), &m), &power(&sum(&[&big_n, &n(1)]), &m)])),
            (power(&power(&big_n, &m), &big_n), power(&big_n, &product(&[&big_n, &m]))),
            (power(&n(0), &sum(&[&big_n, &big_n])), power(&n(0), &big_n)),
            (power(&n(0), &sum(&[&big_n, &n(1)])), n(0)),
            (below(&sum(&[&big_n, &n(1)])), lower(&big_n)),
            (below(&sum(&[&big_n, &m])), sum(&[&below(&big_n), &below(&m), &product(&[&big_n, &m])])),
            (
                below(&product(&[&n(3), &big_n])),
                sum(&[&product(&[&n(3), &below(&big_n)]), &product(&[&n(3), &big_n, &big_n])]),
            ),
            (lower(&lower(&big_n)), below(&sum(&[&n(1), &below(&sum(&[&big_n, &n(1)]))]))),
        ] {
            assert_eq!(size(a.clone()), size(b.clone()));
            assert_eq!(size(size(a.clone()).to_type()), size(a), "and the type of a size has that size");
        }
        assert_ne!(size(power(&n(2), &big_n)), size(power(&n(2), &m)));
    }

    #[test]
    fn sizes_have_values() {
        let ty = Type::compact_power(Type::compact_sum(vec![var("N", 1), n(1)]), var("M", 2));
        let value = |var: &TypeVar| Some(BigUint::from(var.id + 1));
        assert_eq!(size(ty).evaluate(&value), Some(BigUint::from(27u32)));
        let ty = lower(&Type::compact_sum(vec![Type::compact_product(vec![n(5), var("N", 1)]), n(3)]));
        assert_eq!(size(ty).evaluate(&value), Some(BigUint::from(91u32)));
    }
}
