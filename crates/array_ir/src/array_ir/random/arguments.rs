//! Random values of types, and the values that are of a type.

use crate::array_ir::interpret::Datum;
use crate::array_ir::{Digit, Element, Size, SizeAtom, Space, Type};
use fastrand::Rng;
use std::sync::Arc;

/// A random word of a type; special floats and small numbers are frequent.
pub fn word(random: &mut Rng, ty: Element) -> u64 {
    let float = |random: &mut Rng| {
        let special = [0.0, -0.0, 1.0, -1.5, 2.0, 1e300, -1e-310, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
        special[random.usize(..special.len())]
    };
    match ty {
        Element::F64 => float(random).to_bits(),
        Element::F32 => u64::from((float(random) as f32).to_bits()),
        ty if random.u8(..3) > 0 => ty.truncate(random.i64(-2..4) as u64),
        ty => ty.truncate(random.u64(..) >> random.u32(..64)),
    }
}

/// Returns true if a value is of a type, at the sizes that `size` gives; those of an existential
/// type are its own.
pub fn has_type(datum: &Datum, ty: &Type, size: &dyn Fn(SizeAtom) -> Option<u64>) -> bool {
    let extents = |space: &Space| -> Option<Vec<u64>> {
        let sum = |digit: &Digit| digit.pieces.iter().map(|piece| piece.evaluate(size)).sum();
        space.digits.iter().map(sum).collect()
    };
    match (datum, ty) {
        (Datum::Word(word), Type::Element(element)) => element.truncate(*word) == *word,
        (Datum::Index(digits), Type::Index(space)) => extents(space).is_some_and(|extents| {
            extents.len() == digits.len() && digits.iter().zip(extents).all(|(digit, extent)| *digit < extent)
        }),
        (Datum::Tuple(parts), Type::Tuple(types)) => {
            parts.len() == types.len() && parts.iter().zip(types).all(|(part, ty)| has_type(part, ty, size))
        }
        (Datum::Array(found, elements), Type::Array(space, element)) => {
            extents(space).as_ref() == Some(found)
                && found.iter().product::<u64>() == elements.len() as u64
                && elements.iter().all(|item| has_type(item, element, size))
        }
        (Datum::Case(case, piece), Type::Sum(types)) => {
            types.get(*case as usize).is_some_and(|ty| has_type(piece, ty, size))
        }
        (Datum::Packed(sizes, value), Type::Exists(count, ty)) => {
            let own = |atom| match atom {
                SizeAtom::Bound(position) => sizes.get(position as usize).copied(),
                atom => size(atom),
            };
            sizes.len() == *count as usize && has_type(value, ty, &own)
        }
        _ => false,
    }
}

/// A random argument of a type, of sizes that `size` gives.
pub fn datum(random: &mut Rng, ty: &Type, size: &dyn Fn(&Size) -> u64) -> Option<Datum> {
    let extents = |space: &Space| -> Vec<u64> {
        space.digits.iter().map(|digit| digit.pieces.iter().map(size).sum()).collect()
    };
    Some(match ty {
        Type::Element(element) => Datum::Word(word(random, *element)),
        Type::Index(space) => {
            let digits = extents(space).into_iter().map(|extent| (extent > 0).then(|| random.u64(..extent)));
            Datum::Index(digits.collect::<Option<_>>()?)
        }
        Type::Tuple(types) => {
            Datum::Tuple(types.iter().map(|ty| datum(random, ty, size)).collect::<Option<_>>()?)
        }
        Type::Array(space, element) => {
            let extents = extents(space);
            let count = extents.iter().product::<u64>();
            let elements = (0..count).map(|_| datum(random, element, size)).collect::<Option<_>>()?;
            Datum::Array(extents, Arc::new(elements))
        }
        Type::Sum(types) => {
            let case = random.usize(..types.len());
            Datum::Case(case as u32, Box::new(datum(random, &types[case], size)?))
        }
        Type::Exists(..) => return None,
    })
}
