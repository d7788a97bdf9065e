//! The encoding: a value of a compact linear type is an integer below its size.
//!
//! One rule everywhere (arrays, tuples, loops, printing of codes), a mixed-radix number system:
//!
//! - product, big-endian: `(v1\,…\,vk)` ↦ `((v1·|A2| + v2)·|A3| + …)`; component i is `x / w_i %
//!   |A_i|`, where `w_i` is the product of the sizes to its right;
//! - sum, first case lowest: case i with argument v ↦ `|A_0| + … + |A_{i-1}| + v`;
//! - exponential `A \^ B`: a product of |B| copies of `A`, position 0 most significant;
//! - pairs `below[I]`, `lower[I]`: row by row, see [`super::triangle`].
//!
//! [`Code`] is such an integer: a machine word when it fits, a big integer beyond, exact at every
//! boundary. [`Encoding`] is the rule for one type with its sizes computed.

use super::{NoSize, Triangle, Type, TypeKind};
use num_bigint::BigUint;
use num_integer::Integer;
use num_traits::{ToPrimitive, Zero};
use std::cmp::Ordering;
use std::fmt;

/// A natural number in the smallest of three representations; equality is numeric.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Code {
    /// Below 2^64.
    Small(u64),
    /// Below 2^128, not below 2^64.
    Wide(u128),
    /// A number that is not below 2^128.
    Big(BigUint),
}

impl Code {
    /// Zero.
    pub const ZERO: Code = Code::Small(0);

    /// Returns the code as a big integer.
    pub fn to_big(&self) -> BigUint {
        match self {
            Code::Small(n) => BigUint::from(*n),
            Code::Wide(n) => BigUint::from(*n),
            Code::Big(n) => n.clone(),
        }
    }

    /// Returns the code as a machine word, if it fits.
    pub fn to_u64(&self) -> Option<u64> {
        match self {
            Code::Small(n) => Some(*n),
            _ => None,
        }
    }

    /// Returns the code as an index into memory, if it fits.
    pub fn to_usize(&self) -> Option<usize> {
        self.to_u64().and_then(|n| usize::try_from(n).ok())
    }

    /// Returns the code as two machine words, if it fits.
    fn to_u128(&self) -> Option<u128> {
        match self {
            Code::Small(n) => Some(u128::from(*n)),
            Code::Wide(n) => Some(*n),
            Code::Big(_) => None,
        }
    }

    /// Returns `self + other`.
    pub fn add(&self, other: &Code) -> Code {
        if let (Code::Small(a), Code::Small(b)) = (self, other) {
            return Code::from(u128::from(*a) + u128::from(*b));
        }
        match (self.to_u128(), other.to_u128()) {
            (Some(a), Some(b)) if a.checked_add(b).is_some() => Code::from(a + b),
            _ => Code::from(self.to_big() + other.to_big()),
        }
    }

    /// Returns `self - other`; `other` must not be larger.
    pub fn sub(&self, other: &Code) -> Code {
        match (self.to_u128(), other.to_u128()) {
            (Some(a), Some(b)) => Code::from(a - b),
            _ => Code::from(self.to_big() - other.to_big()),
        }
    }

    /// Returns `self · other`.
    pub fn mul(&self, other: &Code) -> Code {
        if let (Code::Small(a), Code::Small(b)) = (self, other) {
            return Code::from(u128::from(*a) * u128::from(*b));
        }
        match (self.to_u128(), other.to_u128()) {
            (Some(a), Some(b)) if a.checked_mul(b).is_some() => Code::from(a * b),
            _ => Code::from(self.to_big() * other.to_big()),
        }
    }

    /// Returns quotient and remainder.
    ///
    /// # Panics
    ///
    /// If `other` is zero.
    pub fn div_rem(&self, other: &Code) -> (Code, Code) {
        match (self, other) {
            (Code::Small(a), Code::Small(b)) => (Code::Small(a / b), Code::Small(a % b)),
            _ => match (self.to_u128(), other.to_u128()) {
                (Some(a), Some(b)) => (Code::from(a / b), Code::from(a % b)),
                _ => {
                    let (q, r) = self.to_big().div_rem(&other.to_big());
                    (Code::from(q), Code::from(r))
                }
            },
        }
    }

    /// Returns the bitwise and.
    pub fn and(&self, other: &Code) -> Code {
        match (self.to_u128(), other.to_u128()) {
            (Some(a), Some(b)) => Code::from(a & b),
            _ => Code::from(self.to_big() & other.to_big()),
        }
    }

    /// Returns the bitwise or.
    pub fn or(&self, other: &Code) -> Code {
        match (self.to_u128(), other.to_u128()) {
            (Some(a), Some(b)) => Code::from(a | b),
            _ => Code::from(self.to_big() | other.to_big()),
        }
    }

    /// Returns true if the code is zero.
    pub fn is_zero(&self) -> bool {
        matches!(self, Code::Small(0))
    }
}

impl From<u64> for Code {
    fn from(n: u64) -> Code {
        Code::Small(n)
    }
}
impl From<usize> for Code {
    fn from(n: usize) -> Code {
        Code::Small(n as u64)
    }
}
impl From<u128> for Code {
    fn from(n: u128) -> Code {
        u64::try_from(n).map_or(Code::Wide(n), Code::Small)
    }
}
impl From<BigUint> for Code {
    fn from(n: BigUint) -> Code {
        n.to_u128().map_or(Code::Big(n), Code::from)
    }
}
impl From<&BigUint> for Code {
    fn from(n: &BigUint) -> Code {
        n.to_u128().map_or_else(|| Code::Big(n.clone()), Code::from)
    }
}
impl PartialOrd for Code {
    fn partial_cmp(&self, other: &Code) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Code {
    fn cmp(&self, other: &Code) -> Ordering {
        match (self.to_u128(), other.to_u128()) {
            (Some(a), Some(b)) => a.cmp(&b),
            (None, Some(_)) => Ordering::Greater,
            (Some(_), None) => Ordering::Less,
            (None, None) => self.to_big().cmp(&other.to_big()),
        }
    }
}
impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Code::Small(n) => write!(f, "{n}"),
            Code::Wide(n) => write!(f, "{n}"),
            Code::Big(n) => write!(f, "{n}"),
        }
    }
}

/// The width of the storage of one compact value: the smallest word that holds its size minus one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Width {
    /// Size at most 2^8.
    U8,
    /// Size at most 2^16.
    U16,
    /// Size at most 2^32.
    U32,
    /// Size at most 2^64.
    U64,
    /// Size at most 2^128.
    U128,
    /// Larger.
    Big,
}

impl Width {
    /// Returns the width for a type of `size` values.
    pub fn of(size: &BigUint) -> Width {
        let bits = if size.is_zero() { 0 } else { (size - 1u32).bits() };
        match bits {
            0..=8 => Width::U8,
            9..=16 => Width::U16,
            17..=32 => Width::U32,
            33..=64 => Width::U64,
            65..=128 => Width::U128,
            _ => Width::Big,
        }
    }
}

/// The rule for one ground compact linear type, with the sizes it needs.
#[derive(Clone, Debug)]
pub enum Encoding {
    /// A unit sum: the value is its own code.
    Unit(Code),
    /// A product of factors with their sizes and weights.
    Product {
        /// |A_i|, left to right.
        sizes: Vec<Code>,
        /// w_i, the product of the sizes to the right of factor i.
        weights: Vec<Code>,
    },
    /// A sum of cases starting at these offsets.
    Sum {
        /// Offset of each case, and the size of the whole at the end.
        offsets: Vec<Code>,
    },
    /// `count` digits in base `base`, position 0 most significant.
    Power {
        /// |A|.
        base: Code,
        /// |B|.
        count: Code,
    },
    /// Pairs of indices; their codes do not depend on the size of the index type.
    Triangle(Triangle),
}

impl Encoding {
    /// Returns the rule of a ground type; newtypes use their definition, enumerations the order of
    /// their cases.
    ///
    /// # Errors
    ///
    /// The reason why the type has no size.
    pub fn of(ty: &Type) -> Result<Encoding, NoSize> {
        match ty.kind() {
            TypeKind::UnitSum(n) => Ok(Encoding::Unit(Code::from(n))),
            TypeKind::CompactProduct(factors) => {
                let sizes = codes(factors)?;
                let mut weights = vec![Code::Small(1); sizes.len()];
                for i in (1..sizes.len()).rev() {
                    weights[i - 1] = weights[i].mul(&sizes[i]);
                }
                Ok(Encoding::Product { sizes, weights })
            }
            TypeKind::CompactSum(cases) => {
                let mut offsets = vec![Code::ZERO];
                for size in codes(cases)? {
                    let next = offsets[offsets.len() - 1].add(&size);
                    offsets.push(next);
                }
                Ok(Encoding::Sum { offsets })
            }
            TypeKind::CompactPower(base, exponent) => {
                Ok(Encoding::Power { base: Code::from(base.size()?), count: Code::from(exponent.size()?) })
            }
            TypeKind::Triangle(triangle, index) => index.size().map(|_| Encoding::Triangle(*triangle)),
            TypeKind::Places(set) => Ok(Encoding::Unit(Code::Small(u64::from(set.count())))),
            TypeKind::Nominal(nominal, args) => match nominal.definition(args) {
                Some(definition) => Encoding::of(&definition),
                None => Err(NoSize::NotCompact),
            },
            TypeKind::Var(var) => Err(NoSize::Variable(var.clone())),
            _ => Err(NoSize::NotCompact),
        }
    }

    /// Returns the code of a product (or exponential) with these parts, or of a pair of two
    /// indices, which must be in order.
    pub fn pack(&self, parts: &[Code]) -> Code {
        let size_of = |i: usize| match self {
            Encoding::Product { sizes, .. } => &sizes[i],
            Encoding::Power { base, .. } => base,
            Encoding::Unit(size) => size,
            Encoding::Sum { offsets } => &offsets[offsets.len() - 1],
            Encoding::Triangle(_) => &Code::ZERO,
        };
        if let (Encoding::Triangle(triangle), [i, j]) = (self, parts) {
            return triangle.code(i, j);
        }
        if let (Encoding::Power { base, .. }, true) = (self, parts.len() > MAX_SINGLE_DIGITS) {
            return join_digits(parts.iter().map(Code::to_big).collect(), base.to_big());
        }
        let mut code = Code::ZERO;
        for (i, part) in parts.iter().enumerate() {
            code = code.mul(size_of(i)).add(part);
        }
        code
    }

    /// Returns the digits of an exponential, from the most significant one.
    ///
    /// # Panics
    ///
    /// For an encoding of another form.
    pub fn digits(&self, code: &Code, count: usize) -> Vec<Code> {
        let Encoding::Power { base, .. } = self else {
            unreachable!("digits are asked of exponentials only, not of {self:?}")
        };
        let mut digits = Vec::with_capacity(count);
        split_digits(code, base, count, &mut digits);
        digits
    }

    /// Returns size and weight of part `i`: a factor of a product, a position of an exponential.
    pub fn size_and_weight(&self, i: &Code) -> (Code, Code) {
        match self {
            Encoding::Product { sizes, weights } => {
                let i = i.to_usize().expect("the number of a factor fits memory");
                (sizes[i].clone(), weights[i].clone())
            }
            Encoding::Power { base, count } => {
                let right = count.sub(i).sub(&Code::Small(1));
                let exponent = right.to_u64().and_then(|n| u32::try_from(n).ok()).unwrap_or(u32::MAX);
                let weight = if base.to_u64() == Some(1) {
                    Code::Small(1)
                } else {
                    Code::from(base.to_big().pow(exponent))
                };
                (base.clone(), weight)
            }
            Encoding::Unit(size) => (size.clone(), Code::Small(1)),
            Encoding::Sum { offsets } => (offsets[offsets.len() - 1].clone(), Code::Small(1)),
            // The parts of a pair have no places of their own.
            Encoding::Triangle(_) => (Code::Small(1), Code::Small(1)),
        }
    }

    /// Projects: returns part `i` of `code`.
    pub fn project(&self, code: &Code, i: &Code) -> Code {
        if let Encoding::Triangle(triangle) = self {
            let (row, column) = triangle.position(code);
            return if i.is_zero() { row } else { column };
        }
        let (size, weight) = self.size_and_weight(i);
        code.div_rem(&weight).0.div_rem(&size).1
    }

    /// Stores through a projection: returns `code` with part `i` replaced by `part`. Not for pairs,
    /// whose parts depend on one another.
    pub fn replace(&self, code: &Code, i: &Code, part: &Code) -> Code {
        let (size, weight) = self.size_and_weight(i);
        let old = code.div_rem(&weight).0.div_rem(&size).1;
        code.sub(&old.mul(&weight)).add(&part.mul(&weight))
    }

    /// Injects: returns the code of case `i` with argument `v`.
    pub fn inject(&self, i: &Code, v: &Code) -> Code {
        match self {
            Encoding::Sum { offsets } => {
                offsets[i.to_usize().expect("the number of a case fits memory")].add(v)
            }
            _ => i.clone(),
        }
    }

    /// Analyzes cases: returns the case `code` belongs to, and its argument.
    pub fn split(&self, code: &Code) -> (Code, Code) {
        match self {
            Encoding::Sum { offsets } => {
                // Void cases share their offset with the next; the last at or below is the case.
                let case = offsets[..offsets.len() - 1].partition_point(|o| o <= code).max(1) - 1;
                (Code::from(case), code.sub(&offsets[case]))
            }
            _ => (code.clone(), Code::ZERO),
        }
    }
}

/// Digits converted one after the other, at most; longer lists are converted by divide and conquer,
/// so that the cost is that of multiplication and division of numbers as long as the whole (D.
/// Knuth, *The Art of Computer Programming* 2, section 4.4).
const MAX_SINGLE_DIGITS: usize = 64;

/// Returns the number with these digits, the most significant first.
fn join_digits(mut digits: Vec<BigUint>, mut base: BigUint) -> Code {
    while digits.len() > 1 {
        // With an odd count the most significant digit stays single.
        let odd = digits.len() % 2;
        let pairs = digits[odd..].chunks_exact(2).map(|pair| &pair[0] * &base + &pair[1]);
        digits = digits[..odd].iter().cloned().chain(pairs).collect();
        base = &base * &base;
    }
    digits.pop().map_or(Code::ZERO, Code::from)
}

/// Appends `count` digits of a code, the most significant first.
fn split_digits(code: &Code, base: &Code, count: usize, digits: &mut Vec<Code>) {
    if count > MAX_SINGLE_DIGITS {
        let low = count / 2;
        let weight = Code::from(base.to_big().pow(low as u32));
        let (high, rest) = code.div_rem(&weight);
        split_digits(&high, base, count - low, digits);
        return split_digits(&rest, base, low, digits);
    }
    let (start, mut rest) = (digits.len(), code.clone());
    for _ in 0..count {
        let (higher, digit) = rest.div_rem(base);
        digits.push(digit);
        rest = higher;
    }
    digits[start..].reverse();
}

/// Returns the sizes of types as codes.
fn codes(types: &[Type]) -> Result<Vec<Code>, NoSize> {
    types.iter().map(|ty| ty.size().map(Code::from)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn n(k: u64) -> Type {
        Type::unit_sum(k)
    }

    fn ground() -> impl Strategy<Value = Type> {
        let leaf = prop_oneof![
            (1u64..9).prop_map(n),
            prop_oneof![
                Just(255u64),
                Just(256),
                Just(257),
                Just(65_535),
                Just(65_537),
                Just(u64::from(u32::MAX)),
                Just(1 << 33),
                Just(u64::MAX)
            ]
            .prop_map(n)
        ];
        leaf.prop_recursive(3, 12, 3, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 2..4).prop_map(Type::compact_product),
                prop::collection::vec(inner.clone(), 2..4).prop_map(Type::compact_sum),
                (inner, 1u64..4).prop_map(|(base, e)| Type::compact_power(base, n(e))),
            ]
        })
    }

    #[test]
    fn facts_of_felix() {
        let e = Encoding::of(&Type::compact_product(vec![n(3), n(4), n(5)])).unwrap();
        let parts: Vec<Code> = [1u64, 2, 3].map(Code::from).to_vec();
        assert_eq!(e.pack(&parts), Code::Small(33));
        assert_eq!(e.replace(&Code::Small(59), &Code::Small(1), &Code::Small(2)), Code::Small(54));
    }

    proptest! {
        #[test]
        fn parts_of_a_product_come_back(factors in prop::collection::vec(ground(), 2..4), seed in any::<u128>()) {
            let ty = Type::compact_product(factors);
            let encoding = Encoding::of(&ty).unwrap();
            let size = ty.size().unwrap();
            let code = Code::from(BigUint::from(seed) % &size);
            let count = ty.compact_factors(9).unwrap().len();
            let parts: Vec<Code> = (0..count).map(|i| encoding.project(&code, &Code::from(i))).collect();
            prop_assert_eq!(encoding.pack(&parts), code.clone());
            for (i, part) in parts.iter().enumerate() {
                let zeroed = encoding.replace(&code, &Code::from(i), &Code::ZERO);
                prop_assert!(encoding.project(&zeroed, &Code::from(i)).is_zero());
                prop_assert_eq!(encoding.replace(&zeroed, &Code::from(i), part), code.clone());
            }
        }

        #[test]
        fn cases_of_a_sum_come_back(cases in prop::collection::vec(ground(), 2..5), seed in any::<u128>()) {
            let ty = Type::compact_sum(cases.clone());
            let encoding = Encoding::of(&ty).unwrap();
            let code = Code::from(BigUint::from(seed) % ty.size().unwrap());
            let (case, v) = encoding.split(&code);
            prop_assert!(v.to_big() < cases[case.to_usize().unwrap()].size().unwrap());
            prop_assert_eq!(encoding.inject(&case, &v), code);
        }

        #[test]
        fn arithmetic_is_exact_across_widths(a in any::<u128>(), b in 1u128.., shift in 0u32..100) {
            let (x, y) = (BigUint::from(a) << shift, BigUint::from(b));
            let (cx, cy) = (Code::from(&x), Code::from(&y));
            prop_assert_eq!(cx.add(&cy).to_big(), &x + &y);
            prop_assert_eq!(cx.mul(&cy).to_big(), &x * &y);
            let (q, r) = cx.div_rem(&cy);
            prop_assert_eq!((q.to_big(), r.to_big()), x.div_rem(&y));
            prop_assert_eq!(cx.cmp(&cy), x.cmp(&y));
        }
    }
}
