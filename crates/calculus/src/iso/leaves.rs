//! Moves by leaves: the permutation that maps the scalars of one type to the places of another.
//!
//! Takes two types; gives a [`LeafPermutation`], or the reason why there is none. The *leaves* of a
//! type are its slots, each with the axes of the arrays above it: scalars, compact slots,
//! functions, type variables, closed declared types, and tagged sums as wholes. Two leaves are *the
//! same* if their slots are, and if there are equally many of them. A permutation exists iff no two
//! leaves of one type are the same and each leaf of one type is the same as one of the other; then
//! it is unique, because elements within a leaf keep their order. Where the slots are tagged sums,
//! the rule is applied to their cases: nested sums are flattened, a coarray is one case with an
//! axis, and a case goes to the case whose argument can be moved and that occurs as often.
//!
//! So `(int * real) ^ N` moves to `int ^ N * real ^ N`, `A + B` to `B + A`, and `real ^ (N \* M)`
//! to `real ^ M ^ N`; nothing is ever transposed.
//!
//! **Soundness.** Each leaf of the result is read once, from a leaf with equally many slots of the
//! same kind. That holds for all values of size variables, since "the same" is decided by exact
//! verdicts.
//!
//! **Cost.** At most [`MAX_LEAVES`]² verdicts for a product, and as many for each sum in it.
//!
//! Knows no syntax, and makes no terms.

use super::labels::Natural;
use crate::types::{NominalBody, Type, TypeKind};

/// Leaves of a type, or cases of a sum, at most.
pub const MAX_LEAVES: usize = 64;

/// Nesting of sums within cases, at most.
const MAX_SUM_DEPTH: u32 = 8;

/// One step from a type to a part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// A component of a product, record or struct, or a case of a sum.
    Part(usize, Type),
    /// An element of an array, or a case of a coarray, at an index of this type.
    Axis(Type, Type),
    /// The definition of a newtype.
    Unfold(Type),
}

impl Step {
    /// Returns the type that the step leads to.
    pub fn to(&self) -> &Type {
        match self {
            Step::Part(_, to) | Step::Axis(_, to) | Step::Unfold(to) => to,
        }
    }
}

/// A leaf of a product, or a case of a sum.
#[derive(Clone, Debug)]
pub struct Leaf {
    /// The type of the leaf, which is moved as a whole.
    pub ty: Type,
    /// The path from the whole type to the leaf.
    pub path: Vec<Step>,
}

impl Leaf {
    /// Returns the axes above the leaf, from the outermost.
    pub fn axes(&self) -> Vec<Type> {
        let axis = |step: &Step| match step {
            Step::Axis(index, _) => Some(index.clone()),
            _ => None,
        };
        self.path.iter().filter_map(axis).collect()
    }

    /// Returns the text of the leaf as a part of a value `x`: `x.1`, `x.0.i`, `case 1`.
    pub fn place_text(&self, sum: bool) -> String {
        let mut text = String::from(if sum { "case" } else { "x" });
        for step in &self.path {
            match step {
                Step::Part(i, _) if sum => text += &format!(" {i}"),
                Step::Part(i, _) => text += &format!(".{i}"),
                Step::Axis(..) if sum => text += " i",
                Step::Axis(..) => text += ".i",
                Step::Unfold(_) => {}
            }
        }
        text
    }
}

/// A map from the leaves of the result to those of the source.
#[derive(Clone, Debug)]
pub struct LeafPermutation {
    /// The leaves of the source.
    pub leaves: Vec<Leaf>,
    /// For each leaf of the result, in order, the number of its source.
    pub order: Vec<usize>,
}

/// The reason why there is no permutation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoPermutation {
    /// Pairs of leaves of one type could be exchanged.
    Exchangeable {
        /// True for leaves of the source, false for leaves of the result.
        source: bool,
        /// Some of the pairs, as the texts of their places.
        pairs: Vec<(String, String)>,
        /// The type of the first pair.
        ty: Type,
    },
    /// The other type lacks a leaf.
    Missing {
        /// True for a leaf of the source.
        source: bool,
        /// The text of its place.
        place: String,
        /// The slot.
        ty: Type,
        /// The axes above it.
        axes: Vec<Type>,
    },
    /// More leaves, or deeper sums, than the bounds allow.
    TooMany,
}

/// Returns the permutation from the leaves of one type to those of another.
pub fn plan(from: &Type, to: &Type, natural: &mut Natural<'_>) -> Result<LeafPermutation, NoPermutation> {
    permutation_between(leaves(from)?, leaves(to)?, false, natural, 0)
}

/// Returns the permutation from the cases of one sum to those of another.
pub fn plan_cases(
    from: &Type,
    to: &Type,
    natural: &mut Natural<'_>,
) -> Result<LeafPermutation, NoPermutation> {
    permutation_between(cases(from)?, cases(to)?, true, natural, 0)
}

/// Returns the leaves of a type, in storage order.
pub fn leaves(ty: &Type) -> Result<Vec<Leaf>, NoPermutation> {
    let mut found = Vec::new();
    collect_leaves(ty, &mut Vec::new(), &mut found)?;
    Ok(found)
}

/// Returns the cases of a sum, nested sums flattened, in the order of tags.
pub fn cases(ty: &Type) -> Result<Vec<Leaf>, NoPermutation> {
    let mut found = Vec::new();
    collect_cases(ty, &mut Vec::new(), &mut found)?;
    Ok(found)
}

/// Returns true if a type is a tagged sum, whose cases are leaves of their own.
pub fn is_sum(ty: &Type) -> bool {
    matches!(ty.unfold().kind(), TypeKind::Sum(_) | TypeKind::Repeat(..))
}

/// Appends the leaves of a type at `path`.
fn collect_leaves(ty: &Type, path: &mut Vec<Step>, found: &mut Vec<Leaf>) -> Result<(), NoPermutation> {
    if ty.is_compact() && !ty.has_var() && ty.size().is_ok_and(|n| n == 1u32.into()) {
        return Ok(());
    }
    let mut down = |step: Step| {
        let to = step.to().clone();
        path.push(step);
        let walked = collect_leaves(&to, path, found);
        path.pop();
        walked
    };
    if !ty.is_compact() {
        match ty.kind() {
            TypeKind::Product(parts) => {
                return parts.iter().enumerate().try_for_each(|(i, part)| down(Step::Part(i, part.clone())));
            }
            TypeKind::Record(fields) => {
                let mut fields = fields.iter().enumerate();
                return fields.try_for_each(|(i, (_, part))| down(Step::Part(i, part.clone())));
            }
            TypeKind::Array(element, index) => {
                return match index.as_unit_sum() {
                    Some(n) if *n == 0u32.into() => Ok(()),
                    _ => down(Step::Axis(index.clone(), element.clone())),
                };
            }
            TypeKind::Nominal(nominal, args) => match nominal.body() {
                Some(NominalBody::Newtype(_)) => {
                    return {
                        let to = nominal.newtype_definition(args).expect("a newtype has a definition");
                        down(Step::Unfold(to))
                    };
                }
                Some(NominalBody::Struct(_)) if !nominal.has_existential_field() => {
                    let fields = nominal.struct_fields(args).expect("a struct has fields");
                    let mut fields = fields.into_iter().enumerate();
                    return fields.try_for_each(|(i, (_, part))| down(Step::Part(i, part)));
                }
                _ => {}
            },
            _ => {}
        }
    }
    found.push(Leaf { ty: ty.clone(), path: path.clone() });
    if found.len() > MAX_LEAVES { Err(NoPermutation::TooMany) } else { Ok(()) }
}

/// Appends the cases of a sum at `path`.
fn collect_cases(ty: &Type, path: &mut Vec<Step>, found: &mut Vec<Leaf>) -> Result<(), NoPermutation> {
    if ty.is_void() {
        return Ok(());
    }
    let mut down = |step: Step| {
        let to = step.to().clone();
        path.push(step);
        let walked = collect_cases(&to, path, found);
        path.pop();
        walked
    };
    match ty.kind() {
        TypeKind::Sum(parts) => {
            return parts.iter().enumerate().try_for_each(|(i, part)| down(Step::Part(i, part.clone())));
        }
        TypeKind::Repeat(index, case) => return down(Step::Axis(index.clone(), case.clone())),
        TypeKind::Nominal(nominal, args) if is_sum(ty) => {
            let to =
                nominal.newtype_definition(args).expect("a declared type that unfolds to a sum is a newtype");
            return down(Step::Unfold(to));
        }
        _ => {}
    }
    found.push(Leaf { ty: ty.clone(), path: path.clone() });
    if found.len() > MAX_LEAVES { Err(NoPermutation::TooMany) } else { Ok(()) }
}

/// Returns the permutation between two lists of leaves, or of cases (`sum`).
fn permutation_between(
    from: Vec<Leaf>,
    to: Vec<Leaf>,
    sum: bool,
    natural: &mut Natural<'_>,
    depth: u32,
) -> Result<LeafPermutation, NoPermutation> {
    if depth > MAX_SUM_DEPTH {
        return Err(NoPermutation::TooMany);
    }
    for (leaves, source) in [(&from, true), (&to, false)] {
        let pairs = exchangeable_pairs(leaves, sum, natural, depth)?;
        if let Some((first, _)) = pairs.first() {
            let ty = leaves[*first].ty.clone();
            let place = |i: usize| leaves[i].place_text(sum);
            let pairs = pairs.iter().map(|(i, j)| (place(*i), place(*j))).collect();
            return Err(NoPermutation::Exchangeable { source, pairs, ty });
        }
    }
    let mut order: Vec<usize> = Vec::new();
    for wanted in &to {
        let mut found = None;
        for (at, leaf) in from.iter().enumerate().filter(|(at, _)| !order.contains(at)) {
            if same(leaf, wanted, sum, natural, depth)? {
                found = Some(at);
                break;
            }
        }
        match found {
            Some(at) => order.push(at),
            None => return Err(missing(wanted, false, sum)),
        }
    }
    match from.iter().enumerate().find(|(at, _)| !order.contains(at)) {
        Some((_, leaf)) => Err(missing(leaf, true, sum)),
        None => Ok(LeafPermutation { leaves: from, order }),
    }
}

/// Returns the failure that a leaf has no counterpart.
fn missing(leaf: &Leaf, source: bool, sum: bool) -> NoPermutation {
    NoPermutation::Missing { source, place: leaf.place_text(sum), ty: leaf.ty.clone(), axes: leaf.axes() }
}

/// Returns pairs of leaves that are the same; at most a few, where there are many.
fn exchangeable_pairs(
    leaves: &[Leaf],
    sum: bool,
    natural: &mut Natural<'_>,
    depth: u32,
) -> Result<Vec<(usize, usize)>, NoPermutation> {
    /// Pairs reported, at most.
    const MAX_PAIRS: usize = 4;
    let mut pairs = Vec::new();
    for i in 0..leaves.len() {
        for j in i + 1..leaves.len() {
            if pairs.len() < MAX_PAIRS && same(&leaves[i], &leaves[j], sum, natural, depth)? {
                pairs.push((i, j));
            }
        }
    }
    Ok(pairs)
}

/// Returns true if two leaves, or two cases, have the same slots, and equally many.
fn same(a: &Leaf, b: &Leaf, sum: bool, natural: &mut Natural<'_>, depth: u32) -> Result<bool, NoPermutation> {
    let count = |leaf: &Leaf| Type::compact_product(leaf.axes());
    Ok(natural(&count(a), &count(b)) && movable(&a.ty, &b.ty, sum, natural, depth)?)
}

/// Returns true if values of one type can be moved to the other. Types of one slot can if they are
/// naturally isomorphic, or tagged sums whose cases can be moved.
fn movable(
    a: &Type,
    b: &Type,
    whole: bool,
    natural: &mut Natural<'_>,
    depth: u32,
) -> Result<bool, NoPermutation> {
    if a == b {
        return Ok(true);
    }
    // The argument of a case is moved as a whole value; other leaves are single slots.
    let found = if is_sum(a) && is_sum(b) {
        permutation_between(cases(a)?, cases(b)?, true, natural, depth + 1)
    } else if whole && !(a.is_compact() && b.is_compact()) {
        permutation_between(leaves(a)?, leaves(b)?, false, natural, depth + 1)
    } else {
        return Ok(natural(a, b));
    };
    match found {
        Ok(_) => Ok(true),
        Err(NoPermutation::TooMany) => Err(NoPermutation::TooMany),
        Err(_) => Ok(false),
    }
}
