//! Rewriting steps toward the isomorphic normal form, see [`super::search`].
//!
//! Takes a flat product or sum with normal parts; applies one step that may move storage where one
//! is possible: packing, unzipping, distributing, collecting, sorting. The result is the normal
//! form of polynomials: a sorted sum of monomials.

use super::laws::{Connective, Law, Witness, split_coefficient};
use crate::types::size::Size;
use crate::types::{Type, TypeKind};
use num_traits::ToPrimitive;

/// Cases of a sum after distribution, at most.
const MAX_CASES: usize = 256;

/// Exponents up to which powers of sums are multiplied out.
const MAX_UNROLLED_POWER: usize = 6;

/// Appends one step on `witness.to`, if one is possible; `None` if a sum would be too large.
pub(super) fn step(side: Connective, witness: &mut Witness) -> Option<()> {
    match side {
        Connective::Product => step_product(witness),
        Connective::Sum => step_sum(witness),
    }
}

/// Returns the canonical compact type of the same size.
fn linearize(ty: Type) -> Type {
    Size::of(&ty).map_or(ty, |size| size.to_type())
}

/// Appends one step on a product or array.
fn step_product(witness: &mut Witness) -> Option<()> {
    let ty = witness.to.clone();
    if let TypeKind::Array(base, index) = ty.kind() {
        if base.is_compact() {
            witness.apply_law(Law::Pack, linearize(Type::compact_power(base.clone(), index.clone())));
            return Some(());
        }
        if let TypeKind::Product(parts) = base.kind() {
            let arrays = parts.iter().map(|part| Type::array(part.clone(), index.clone())).collect();
            witness.apply_law(Law::Unzip, Type::product(arrays));
            return Some(());
        }
    }
    let parts = unrolled_factors(&ty);
    if parts.iter().any(Type::is_void) {
        witness.apply_law(Law::Annihilate, Type::void());
        return Some(());
    }
    if let Some(split) = power_of_sum(&parts) {
        witness.apply_law(Law::Concat(Connective::Product), split);
        return Some(());
    }
    for (i, part) in parts.iter().enumerate() {
        let TypeKind::Sum(cases) = part.kind() else { continue };
        if cases.len() > MAX_CASES {
            return None;
        }
        let with = |case: &Type| {
            let mut parts = parts.clone();
            parts[i] = case.clone();
            Type::product(parts)
        };
        witness.apply_law(Law::Distribute, Type::sum(cases.iter().map(with).collect()));
        return Some(());
    }
    let parts = Connective::Product.parts(&ty);
    let mut sorted = parts.clone();
    sorted.sort_by_cached_key(sort_key);
    if sorted != parts {
        witness.apply_law(Law::Commute(Connective::Product), Type::product(sorted));
        return Some(());
    }
    let compact = parts.iter().filter(|part| part.is_compact()).count();
    if compact > 1 {
        let packed = linearize(Type::compact_product(parts[..compact].to_vec()));
        let all = [std::slice::from_ref(&packed), &parts[compact..]].concat();
        witness.apply_law(Law::Pack, Type::product(all));
        return Some(());
    }
    // Powers of one base are neighbors now.
    let split: Vec<(Type, Type)> =
        parts.iter().map(|part| Connective::Product.base_and_exponent(part)).collect();
    for i in 1..split.len() {
        if split[i - 1].0 == split[i].0 {
            let exponent = linearize(Type::compact_sum(vec![split[i - 1].1.clone(), split[i].1.clone()]));
            let mut parts = parts.clone();
            parts[i - 1] = Connective::Product.power(&split[i].0, exponent);
            parts.remove(i);
            witness.apply_law(Law::Concat(Connective::Product), Type::product(parts));
            return Some(());
        }
    }
    Some(())
}

/// Returns the factors of a product, small powers of sums unrolled.
fn unrolled_factors(ty: &Type) -> Vec<Type> {
    match ty.kind() {
        TypeKind::Array(base, index)
            if matches!(base.kind(), TypeKind::Sum(_))
                && index
                    .as_unit_sum()
                    .and_then(ToPrimitive::to_usize)
                    .is_some_and(|n| n <= MAX_UNROLLED_POWER) =>
        {
            ty.components(MAX_UNROLLED_POWER).expect("an exponent within the limit")
        }
        _ => Connective::Product.parts(ty),
    }
}

/// Returns the product after `(A+B)^(E+c) = (A+B)^E * (A+B)^c`, where a factor has this form; small
/// powers among other factors are unrolled.
fn power_of_sum(parts: &[Type]) -> Option<Type> {
    parts.iter().enumerate().find_map(|(i, part)| {
        let TypeKind::Array(base, index) = part.kind() else { return None };
        matches!(base.kind(), TypeKind::Sum(_)).then_some(())?;
        let (symbolic, constant) = Size::of(index)?.split_constant();
        let copies = constant.to_usize().filter(|&n| n > 0 && n <= MAX_UNROLLED_POWER)?;
        if symbolic.is_zero() && parts.len() == 1 {
            return None;
        }
        let mut replacement = vec![base.clone(); copies];
        if !symbolic.is_zero() {
            replacement.insert(0, Type::array(base.clone(), symbolic.to_type()));
        }
        Some(Type::product([&parts[..i], &replacement, &parts[i + 1..]].concat()))
    })
}

/// Appends the step that collects and sorts the cases of a sum.
fn step_sum(witness: &mut Witness) -> Option<()> {
    let ty = witness.to.clone();
    let cases = Connective::Sum.parts(&ty);
    if cases.len() > MAX_CASES {
        return None;
    }
    let mut terms: Vec<(Vec<Type>, Size)> = Vec::new();
    for case in &cases {
        let (copies, rest) = split_coefficient(case);
        let copies = Size::of(&copies)?;
        match terms.iter_mut().find(|(other, _)| *other == rest) {
            Some((_, total)) => *total = total.add(&copies)?,
            None => terms.push((rest, copies)),
        }
    }
    let mut collected: Vec<Type> = terms
        .into_iter()
        .map(|(rest, copies)| {
            let copies = copies.to_type();
            let factors = if copies.is_unit() { rest } else { [vec![copies], rest].concat() };
            Type::product(factors)
        })
        .collect();
    collected.sort_by_cached_key(sort_key);
    let to = Type::sum(collected);
    witness.apply_law(Law::Collect, to);
    Some(())
}

/// Returns the sort key of a factor: compact types first, then by base, so that factors that can
/// join are neighbors.
fn sort_key(ty: &Type) -> (bool, String, String) {
    let (base, exponent) = Connective::Product.base_and_exponent(ty);
    (!ty.is_compact(), base.to_string(), exponent.to_string())
}
