//! Slots and counts by the definitions of section 3, expanded in full at given sizes.
//!
//! The reference for the decision procedure: independent of it, and undefined (`None`) for large
//! types.

use felis_calculus::types::{Triangle, Type, TypeKind};
use num_bigint::BigUint;
use num_traits::{One, ToPrimitive, Zero};

const MAX_SLOTS: usize = 3_000;

/// One slot of storage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Slot {
    Compact(BigUint),
    Sum(Vec<Vec<Slot>>),
    Other(Type),
    /// An abstract type: the argument it is not functorial in, and the slots of the others.
    Abstract(Type, Vec<Vec<Slot>>),
}

/// The values of the variables N, M and any other.
pub type Sizes = [u32; 2];

/// Returns the size of a compact type.
pub fn size(ty: &Type, sizes: Sizes) -> Option<BigUint> {
    match ty.kind() {
        TypeKind::UnitSum(n) => Some(n.clone()),
        TypeKind::CompactProduct(parts) => {
            // Void factors come first: the others may be too large to be computed.
            let all: Vec<Option<BigUint>> = parts.iter().map(|part| size(part, sizes)).collect();
            if all.iter().flatten().any(Zero::is_zero) {
                return Some(BigUint::zero());
            }
            all.into_iter().try_fold(BigUint::one(), |product, part| small(product * part?))
        }
        TypeKind::CompactSum(parts) => {
            parts.iter().try_fold(BigUint::zero(), |sum, part| small(sum + size(part, sizes)?))
        }
        TypeKind::CompactPower(base, exponent) => {
            let (base, exponent) = (size(base, sizes)?, size(exponent, sizes)?);
            if exponent.is_zero() || base.is_one() {
                return Some(BigUint::one());
            }
            if base.is_zero() {
                return Some(base);
            }
            let exponent = exponent.to_u32().filter(|&e| e <= 2_000)?;
            small(base.pow(exponent))
        }
        TypeKind::Triangle(triangle, index) => {
            let n = size(index, sizes)?;
            let other = match triangle {
                Triangle::Lower => &n + 1u32,
                Triangle::Below if n.is_zero() => n.clone(),
                Triangle::Below => &n - 1u32,
            };
            small(n * other / 2u32)
        }
        TypeKind::Var(var) if var.name.as_ref() == "N" => Some(sizes[0].into()),
        TypeKind::Var(_) => Some(sizes[1].into()),
        _ => None,
    }
}

fn small(n: BigUint) -> Option<BigUint> {
    (n.bits() < 4_000).then_some(n)
}

/// Returns the slots of a type, in order.
pub fn slots(ty: &Type, sizes: Sizes) -> Option<Vec<Slot>> {
    if ty.is_compact() {
        let n = size(ty, sizes)?;
        return Some(if n.is_one() { Vec::new() } else { vec![Slot::Compact(n)] });
    }
    let concatenate = |parts: Vec<&Type>| {
        parts.into_iter().try_fold(Vec::new(), |mut all, part| {
            all.extend(slots(part, sizes)?);
            (all.len() <= MAX_SLOTS).then_some(all)
        })
    };
    match ty.kind() {
        TypeKind::Product(parts) => concatenate(parts.iter().collect()),
        TypeKind::Record(fields) => concatenate(fields.iter().map(|f| &f.1).collect()),
        TypeKind::Array(element, index) => {
            let one = slots(element, sizes)?;
            if one.is_empty() {
                return Some(one);
            }
            let n = size(index, sizes)?.to_usize()?;
            if n.checked_mul(one.len())? > MAX_SLOTS {
                return None;
            }
            Some(std::iter::repeat_n(one, n).flatten().collect())
        }
        TypeKind::Sum(_) | TypeKind::Repeat(..) => {
            let mut cases = cases(ty, sizes)?;
            if cases.iter().all(Vec::is_empty) {
                let n = cases.len();
                return Some(if n == 1 { Vec::new() } else { vec![Slot::Compact(n.into())] });
            }
            if cases.len() == 1 {
                return cases.pop();
            }
            Some(vec![Slot::Sum(cases)])
        }
        TypeKind::Nominal(_, args) => {
            let free = args[..2].iter().map(|arg| slots(arg, sizes)).collect::<Option<_>>()?;
            Some(vec![Slot::Abstract(args[2].clone(), free)])
        }
        _ => Some(vec![Slot::Other(ty.clone())]),
    }
}

fn cases(ty: &Type, sizes: Sizes) -> Option<Vec<Vec<Slot>>> {
    let all = match ty.kind() {
        TypeKind::Sum(parts) => parts.iter().try_fold(Vec::new(), |mut all, part| {
            all.extend(cases(part, sizes)?);
            (all.len() <= MAX_SLOTS).then_some(all)
        })?,
        TypeKind::Repeat(n, case) => {
            let one = cases(case, sizes)?;
            // Any number of empty words is empty, and need not be enumerated.
            if one.is_empty() {
                return Some(one);
            }
            let n = size(n, sizes)?.to_usize()?;
            (n.checked_mul(one.len())? <= MAX_SLOTS).then_some(())?;
            std::iter::repeat_n(one, n).flatten().collect()
        }
        _ => {
            let mut word = slots(ty, sizes)?;
            match word.as_slice() {
                [Slot::Compact(n)] => vec![Vec::new(); n.to_usize().filter(|&n| n <= MAX_SLOTS)?],
                [Slot::Sum(_)] => match word.pop()? {
                    Slot::Sum(cases) => cases,
                    _ => return None,
                },
                _ => vec![word],
            }
        }
    };
    (all.len() <= MAX_SLOTS).then_some(all)
}

/// Returns the number of values modulo a prime, with some number for each scalar.
pub fn count(ty: &Type, sizes: Sizes) -> Option<BigUint> {
    let p = BigUint::from(0xffff_ffff_ffff_ffc5u64);
    if ty.is_compact() {
        return Some(size(ty, sizes)? % p);
    }
    let product = |parts: Vec<&Type>| {
        parts.into_iter().try_fold(BigUint::one(), |product, part| Some(product * count(part, sizes)? % &p))
    };
    match ty.kind() {
        TypeKind::Product(parts) => product(parts.iter().collect()),
        TypeKind::Record(fields) => product(fields.iter().map(|f| &f.1).collect()),
        TypeKind::Sum(parts) => {
            parts.iter().try_fold(BigUint::zero(), |sum, part| Some((sum + count(part, sizes)?) % &p))
        }
        TypeKind::Repeat(n, case) => Some(size(n, sizes)? * count(case, sizes)? % p),
        TypeKind::Array(element, index) => Some(count(element, sizes)?.modpow(&size(index, sizes)?, &p)),
        TypeKind::Nominal(_, args) => {
            let (t, i) = (count(&args[0], sizes)?, count(&args[1], sizes)?);
            Some(hashed(&format!("F[{t}, {i}, {}]", args[2])))
        }
        _ => Some(hashed(&ty.to_string())),
    }
}

fn hashed(text: &str) -> BigUint {
    let start = 0x1234_5678_9abc_def1u64;
    text.bytes().fold(start, |h, b| h.wrapping_mul(0x100_0000_01b3) ^ u64::from(b)).into()
}
