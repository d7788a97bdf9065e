//! The reshape that gives an array the form of index that its context wants.
//!
//! Takes the type found and the type wanted, whose index may have holes, as in `T ^ (1 \+ _ \+ 1)`;
//! gives the reshape to write, or the help that there is none. The two index types must have the
//! same size. This is an equation, solved from the outside inward; each form of index with one
//! unknown part has its own solution:
//!
//! ```text
//! A \+ _      the size minus that of A; variables if the difference is a size again
//! A \* _      the size divided by that of A, numbers only; factor by factor for two products
//! _ \^ n      the n-th root, numbers only
//! below[_]    the number of rows, numbers only
//! ```
//!
//! A solution is offered only if it passes the two rules of the checker: it is naturally isomorphic
//! to the type found, and it unifies with the type wanted. Changes nothing: all holes are restored.

use crate::check::context::Checker;
use crate::diagnostic::Help;
use crate::iso::{self, Verdict};
use crate::source::Span;
use crate::types::encoding::Code;
use crate::types::size::Size;
use crate::types::{Kind, Triangle, Type, TypeKind};
use num_bigint::BigUint;
use num_integer::Integer;
use num_traits::{One, ToPrimitive, Zero};

/// The depth of nested forms beyond which nothing is solved.
const MAX_DEPTH: u32 = 64;

/// An index type of the wanted form.
struct Solved {
    /// The index type.
    index: Type,
    /// True if it is one of several solutions: another split would fit too.
    example: bool,
}

impl Checker<'_> {
    /// Returns the help for an array with the right elements and the wrong form of index.
    pub(in crate::check) fn fit_hint(&mut self, found: &Type, expected: &Type, span: Span) -> Option<Help> {
        let (TypeKind::Array(element, index), TypeKind::Array(wanted, form)) =
            (found.kind(), expected.kind())
        else {
            return None;
        };
        if index.has_meta() || !form.has_meta() || matches!(form.kind(), TypeKind::Meta(_)) {
            return None;
        }
        let mark = self.infer.mark();
        let elements = self.infer.unify(element, wanted).is_ok();
        let element = self.infer.zonk(element);
        let hint = match solve(index, form, MAX_DEPTH) {
            _ if !elements => None,
            Some(solved) => {
                let fitting = Type::array(element, solved.index);
                let fits = iso::verdict(found, &fitting) == Verdict::Natural
                    && self.infer.unify(&fitting, expected).is_ok();
                fits.then(|| {
                    if let Some(forgotten) = self.label_loss(found, &fitting, &[]) {
                        Help::new(self.reshape_alternative(&forgotten, found, &fitting))
                    } else if solved.example {
                        Help::new(format!("say how it is put together, such as `:>> {fitting}`"))
                    } else {
                        let words = format!("`:>> {fitting}` reads it in that form, at no cost");
                        Help::around(words, span, &format!(" :>> {fitting}"), "")
                    }
                })
            }
            None => index
                .size()
                .ok()
                .filter(|n| never(n, form, MAX_DEPTH))
                .map(|n| format!("no index type in the place of `_` gives `{form}` the size {n}").into()),
        };
        self.infer.undo(mark);
        hint
    }
}

/// Returns an index type of this form with the size of `index`.
fn solve(index: &Type, form: &Type, depth: u32) -> Option<Solved> {
    let depth = depth.checked_sub(1)?;
    if !form.has_meta() {
        return Some(Solved { index: form.clone(), example: false });
    }
    let number = || index.size().ok();
    let unknown = |parts: &[Type]| {
        let mut unknown = parts.iter().enumerate().filter(|(_, part)| part.has_meta());
        let first = unknown.next().map(|(at, _)| at);
        first.filter(|_| unknown.next().is_none())
    };
    match form.kind() {
        TypeKind::Meta(meta) => {
            let index = match (meta.kind, number()) {
                (Kind::UnitSum, Some(n)) => Type::unit_sum(n),
                _ => index.clone(),
            };
            Some(Solved { index, example: false })
        }
        TypeKind::CompactSum(parts) => {
            if let TypeKind::CompactSum(own) = index.kind()
                && own.len() == parts.len()
                && let Some(solved) = all(own, parts, depth, Type::compact_sum)
                && same_size(&solved.index, index)
            {
                return Some(solved);
            }
            let Some(at) = unknown(parts) else { return split(number()?, parts) };
            let others = parts.iter().enumerate().filter(|(i, _)| *i != at);
            let known = others.map(|(_, part)| part.clone()).collect();
            let rest = Size::of(index)?.checked_sub(&Size::of(&Type::compact_sum(known))?)?;
            replaced(parts, at, solve(&rest.to_type(), &parts[at], depth)?, Type::compact_sum)
        }
        TypeKind::CompactProduct(parts) => {
            if let Some(own) = index.compact_factors(parts.len()).filter(|own| own.len() == parts.len())
                && let Some(solved) = all(&own, parts, depth, Type::compact_product)
                && same_size(&solved.index, index)
            {
                return Some(solved);
            }
            let Some(at) = unknown(parts) else { return grouped(index, parts) };
            let others = parts.iter().enumerate().filter(|(i, _)| *i != at);
            let known = Type::compact_product(others.map(|(_, part)| part.clone()).collect()).size().ok()?;
            let (quotient, rest) = if known.is_zero() { return None } else { number()?.div_rem(&known) };
            let part = rest.is_zero().then(|| Type::unit_sum(quotient))?;
            replaced(parts, at, solve(&part, &parts[at], depth)?, Type::compact_product)
        }
        TypeKind::CompactPower(base, exponent) if !exponent.has_meta() => {
            let root = match index.kind() {
                TypeKind::CompactPower(own, times) if times == exponent => own.clone(),
                _ => {
                    let (n, times) = (number()?, exponent.size().ok()?.to_u32().filter(|t| *t > 0)?);
                    let root = n.nth_root(times);
                    (root.pow(times) == n).then(|| Type::unit_sum(root))?
                }
            };
            let solved = solve(&root, base, depth)?;
            Some(Solved { index: Type::compact_power(solved.index, exponent.clone()), ..solved })
        }
        TypeKind::Triangle(triangle, of) => {
            let rows = match index.kind() {
                TypeKind::Triangle(own, rows) if own == triangle => rows.clone(),
                _ => Type::unit_sum(rows(*triangle, &number()?)?),
            };
            let solved = solve(&rows, of, depth)?;
            Some(Solved { index: Type::triangle(*triangle, solved.index), ..solved })
        }
        _ => None,
    }
}

/// Groups the factors of a longer product into the parts of a form whose parts are all holes: the
/// last part takes the remaining factors. A number is split into two factors.
fn grouped(index: &Type, parts: &[Type]) -> Option<Solved> {
    let open = |part: &Type| matches!(part.kind(), TypeKind::Meta(meta) if meta.kind != Kind::UnitSum);
    if parts.is_empty() || !parts.iter().all(open) {
        return None;
    }
    if let ([_, _], Some(n)) = (parts, index.as_unit_sum().and_then(|n| n.to_u64())) {
        let (rows, columns) = nearest_factors(n)?;
        let index = Type::compact_product(vec![Type::unit_sum(rows), Type::unit_sum(columns)]);
        return Some(Solved { index, example: true });
    }
    let TypeKind::CompactProduct(own) = index.kind() else { return None };
    if own.len() <= parts.len() {
        return None;
    }
    let (first, rest) = own.split_at(parts.len() - 1);
    let mut factors = first.to_vec();
    factors.push(Type::compact_product(rest.to_vec()));
    Some(Solved { index: Type::compact_product(factors), example: true })
}

/// Returns the two factors of a number that are nearest to each other, for numbers up to
/// `MAX_FACTORED`. Trial division: at most √n steps.
fn nearest_factors(n: u64) -> Option<(u64, u64)> {
    /// The largest number that is factored.
    const MAX_FACTORED: u64 = 1 << 24;
    let root = Some(n).filter(|n| (1..=MAX_FACTORED).contains(n))?.isqrt();
    (1..=root).rev().find(|rows| n.is_multiple_of(*rows)).map(|rows| (rows, n / rows))
}

/// Returns true if counting shows that no index type of this form has the size `n`.
fn never(n: &BigUint, form: &Type, depth: u32) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    if !form.has_meta() {
        return form.size().is_ok_and(|size| size != *n);
    }
    let known = |parts: &[Type]| -> Option<Vec<BigUint>> {
        parts.iter().filter(|part| !part.has_meta()).map(|part| part.size().ok()).collect()
    };
    let open =
        |parts: &[Type]| -> Vec<Type> { parts.iter().filter(|part| part.has_meta()).cloned().collect() };
    let rest = |rest: BigUint, parts: &[Type]| match &open(parts)[..] {
        [one] => never(&rest, one, depth),
        _ => false,
    };
    match form.kind() {
        TypeKind::CompactSum(parts) => {
            let Some(known) = known(parts) else { return false };
            let known: BigUint = known.iter().sum();
            known > *n || rest(n - known, parts)
        }
        TypeKind::CompactProduct(parts) => {
            let Some(known) = known(parts) else { return false };
            let known: BigUint = known.iter().product();
            if known.is_zero() {
                return !n.is_zero();
            }
            let (quotient, remainder) = n.div_rem(&known);
            !remainder.is_zero() || rest(quotient, parts)
        }
        TypeKind::CompactPower(base, exponent) if !exponent.has_meta() => {
            let Some(times) = exponent.size().ok().and_then(|e| e.to_u32()).filter(|t| *t > 0) else {
                return false;
            };
            let root = n.nth_root(times);
            root.pow(times) != *n || never(&root, base, depth)
        }
        TypeKind::Triangle(triangle, of) => rows(*triangle, n).is_none_or(|rows| never(&rows, of, depth)),
        _ => false,
    }
}

/// Returns true if two index types have the same size.
fn same_size(a: &Type, b: &Type) -> bool {
    iso::verdict(a, b) <= Verdict::Natural
}

/// Solves a sum or product part by part.
fn all(own: &[Type], parts: &[Type], depth: u32, make: fn(Vec<Type>) -> Type) -> Option<Solved> {
    let solved = own.iter().zip(parts).map(|(own, part)| solve(own, part, depth));
    let solved = solved.collect::<Option<Vec<_>>>()?;
    let example = solved.iter().any(|s| s.example);
    Some(Solved { index: make(solved.into_iter().map(|s| s.index).collect()), example })
}

/// Puts a solved part in its place in a sum or product.
fn replaced(parts: &[Type], at: usize, part: Solved, make: fn(Vec<Type>) -> Type) -> Option<Solved> {
    let mut parts = parts.to_vec();
    parts[at] = part.index;
    Some(Solved { index: make(parts), example: part.example })
}

/// Solves a sum with several holes: the first hole takes the remaining size, each other hole takes
/// 1.
fn split(size: BigUint, parts: &[Type]) -> Option<Solved> {
    if parts.iter().any(|part| part.has_meta() && !matches!(part.kind(), TypeKind::Meta(_))) {
        return None;
    }
    let least: Vec<Type> =
        parts.iter().map(|part| if part.has_meta() { Type::unit() } else { part.clone() }).collect();
    let rest = size + BigUint::one();
    let taken = Type::compact_sum(least.clone()).size().ok()?;
    let first = parts.iter().position(Type::has_meta)?;
    let mut parts = least;
    parts[first] = Type::unit_sum(if rest > taken { rest - taken } else { return None });
    Some(Solved { index: Type::compact_sum(parts), example: true })
}

/// Returns the number of rows of a triangle of `n` positions, if there is one.
fn rows(triangle: Triangle, n: &BigUint) -> Option<BigUint> {
    let (rows, rest) = triangle.position(&Code::from(n));
    rest.is_zero().then(|| rows.to_big())
}
