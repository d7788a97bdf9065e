//! One-way matching: a type as an instance of a pattern, with types for the pattern's variables.
//!
//! Takes a pattern with variables and a type without holes; gives the substitution. Variables of
//! the type are constants here. Matching is on canonical types, hence modulo the definitional
//! equalities of the language, with one choice left open: a pattern `A * B` and a tuple of two
//! equal components, which is the array `T ^ 2`. They match, and the place where they *meet* is
//! recorded.
//!
//! **Preference.** Patterns that have no type in common unless products meet arrays count as apart,
//! and still may match one type: `A * B` and `T ^ N`, or `(A * B) * (T ^ 2)` and `(T ^ 2) * (A *
//! B)`. Matches are therefore ordered: at the first place, outermost and then leftmost, where one
//! of them meets and the other does not, the one that does not is preferred. Two matches of one
//! type that meet at the same places come from patterns that unify with products apart from arrays,
//! which coherence excludes; so the order is strict.
//!
//! Before that, a pattern that is an enumeration is preferred to a variable over index types,
//! because an instance for all index types may be overridden for an enumeration, as for other
//! declared types. So is a pattern that writes out more components of a tuple to one that leaves
//! them to the rest, `A * ..R`.
//!
//! Solves nothing on the type's side; knows no classes.

use super::{Kind, ProductForm, Type, TypeKind, TypeVar};
use crate::hash::HashMap;

/// The result of a match.
#[derive(Clone, Debug)]
pub struct Match {
    /// Types for the variables. A variable that the pattern does not mention is not bound.
    pub bindings: HashMap<u32, Type>,
    /// The places where a product met an array: paths from the root, outermost first, then
    /// leftmost.
    meets: Vec<Vec<usize>>,
    /// The number of variables over index types that are bound to enumerations.
    enumerations: usize,
    /// For each pattern the number of components it writes out, if it leaves a rest.
    rests: Vec<usize>,
}

impl Match {
    /// Compares two matches of one type: the lesser is preferred.
    pub fn preference(&self, other: &Match) -> std::cmp::Ordering {
        use std::cmp::Ordering;
        if self.enumerations != other.enumerations {
            return self.enumerations.cmp(&other.enumerations);
        }
        if self.rests != other.rests {
            return other.rests.cmp(&self.rests);
        }
        // Paths come sorted, so the first difference shows the first place where only one meets.
        let (mut ours, mut theirs) = (self.meets.iter(), other.meets.iter());
        loop {
            match (ours.next(), theirs.next()) {
                (None, None) => return Ordering::Equal,
                (None, Some(_)) => return Ordering::Less,
                (Some(_), None) => return Ordering::Greater,
                (Some(a), Some(b)) => match path_order(a, b) {
                    Ordering::Equal => {}
                    // At the earlier place the other match does not meet.
                    Ordering::Less => return Ordering::Greater,
                    Ordering::Greater => return Ordering::Less,
                },
            }
        }
    }
}

/// Compares paths: outermost first, then leftmost.
fn path_order(a: &[usize], b: &[usize]) -> std::cmp::Ordering {
    a.len().cmp(&b.len()).then_with(|| a.cmp(b))
}

/// Returns types for `vars` at which the patterns equal the types, pair by pair; `None` if there
/// are none.
pub fn matching(vars: &[TypeVar], patterns: &[Type], types: &[Type]) -> Option<Match> {
    if patterns.len() != types.len() {
        return None;
    }
    let mut matcher =
        Matcher { vars, found: HashMap::default(), path: Vec::new(), meets: Vec::new(), enumerations: 0 };
    if !matcher.all(patterns, types) {
        return None;
    }
    matcher.meets.sort_by(|a, b| path_order(a, b));
    let rests = patterns.iter().map(Type::written_components).collect();
    Some(Match { bindings: matcher.found, meets: matcher.meets, enumerations: matcher.enumerations, rests })
}

/// The state of one match.
struct Matcher<'a> {
    /// The variables of the pattern.
    vars: &'a [TypeVar],
    /// The types bound to them so far.
    found: HashMap<u32, Type>,
    /// The path from the root to the present position.
    path: Vec<usize>,
    /// The paths at which a product met an array.
    meets: Vec<Vec<usize>>,
    /// The number of index variables bound to enumerations.
    enumerations: usize,
}

impl Matcher<'_> {
    /// Matches one pattern against one type.
    fn matches(&mut self, pattern: &Type, ty: &Type) -> bool {
        use TypeKind as K;
        if let K::Var(var) = pattern.kind()
            && self.vars.contains(var)
        {
            if let Some(known) = self.found.get(&var.id) {
                return known == ty;
            }
            let fits = ty.has_kind(var.kind) && ty.loose_bound_range() == 0;
            if fits {
                let index = var.kind == Kind::Compact && ty.as_enumeration().is_some();
                self.enumerations += usize::from(index);
                self.found.insert(var.id, ty.clone());
            }
            return fits;
        }
        if !pattern.has_var() {
            return pattern == ty;
        }
        match (pattern.kind(), ty.kind()) {
            (K::Array(t, i), K::Array(u, j)) | (K::CompactPower(t, i), K::CompactPower(u, j)) => {
                self.part(0, t, u) && self.part(1, i, j)
            }
            (K::Product(parts), K::Array(u, j)) => {
                self.meets.push(self.path.clone());
                self.match_power(parts, u, j)
            }
            (K::CompactProduct(parts), K::CompactPower(u, j)) => self.match_power(parts, u, j),
            (K::Repeat(n, t), K::Repeat(m, u)) => self.part(0, n, m) && self.part(1, t, u),
            (K::Repeat(n, t), K::UnitSum(_)) if ty.is_at_least_two() => {
                self.part(0, n, ty) && self.part(1, t, &Type::unit())
            }
            (K::Sum(parts), K::Repeat(m, u)) => self.match_power(parts, u, m),
            (K::Sum(parts), K::UnitSum(m)) => *m == parts.len().into() && self.each(parts, &Type::unit()),
            (K::Product(ps), K::Product(ts))
            | (K::Sum(ps), K::Sum(ts))
            | (K::CompactProduct(ps), K::CompactProduct(ts))
            | (K::CompactSum(ps), K::CompactSum(ts)) => self.all(ps, ts),
            (K::Function(d, c), K::Function(e, f)) => self.part(0, d, e) && self.part(1, c, f),
            (K::Procedure(d), K::Procedure(e)) => self.part(0, d, e),
            (K::Exists(n, p), K::Exists(m, t)) => n == m && self.part(0, p, t),
            (K::Record(ps), K::Record(ts)) => {
                let mut pairs = ps.iter().zip(ts).enumerate();
                ps.len() == ts.len() && pairs.all(|(at, ((n, p), (m, t)))| n == m && self.part(at, p, t))
            }
            (K::Nominal(n, ps), K::Nominal(m, ts)) => n == m && self.all(ps, ts),
            (K::Placed(p, r), K::Placed(t, s)) => self.part(0, p, t) && self.part(1, r, s),
            (K::Triangle(a, p), K::Triangle(b, t)) => a == b && self.matches(p, t),
            (K::Rest(list), _) => {
                let known = matches!(list.kind(), K::List(..)).then(|| list.list_form()).flatten();
                if let K::Array(..) = ty.kind() {
                    self.meets.push(self.path.clone());
                }
                known.and_then(|form| ty.as_list(form)).is_some_and(|found| self.matches(list, &found))
            }
            (K::List(_, ps, Some(end)), K::List(form, ..)) => {
                let Some((ts, rest)) = ty.list_prefix() else { return false };
                if ts.len() < ps.len()
                    || ts.len() == ps.len() && rest.is_none() && *form == ProductForm::Tuple
                {
                    return false;
                }
                let (first, more) = ts.split_at(ps.len());
                self.all(ps, first) && self.part(ps.len(), end, &Type::list(*form, more.to_vec(), rest))
            }
            _ => false,
        }
    }

    /// Matches a part of the pattern, with this position, against a part of the type.
    fn part(&mut self, at: usize, pattern: &Type, ty: &Type) -> bool {
        self.path.push(at);
        let matches = self.matches(pattern, ty);
        self.path.pop();
        matches
    }

    /// Matches patterns against types, pair by pair.
    fn all(&mut self, patterns: &[Type], types: &[Type]) -> bool {
        let mut pairs = patterns.iter().zip(types).enumerate();
        patterns.len() == types.len() && pairs.all(|(at, (p, t))| self.part(at, p, t))
    }

    /// Matches each pattern against one type.
    fn each(&mut self, patterns: &[Type], ty: &Type) -> bool {
        patterns.iter().enumerate().all(|(at, pattern)| self.part(at, pattern, ty))
    }

    /// Matches components against `u ^ j`.
    fn match_power(&mut self, parts: &[Type], u: &Type, j: &Type) -> bool {
        *j == Type::unit_sum(parts.len()) && self.each(parts, u)
    }
}
