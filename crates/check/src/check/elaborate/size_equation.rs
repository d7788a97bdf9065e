//! Size equations: `require N == 3 \* K;`, checked at run time and assumed afterwards.
//!
//! Takes both sides; returns the core statement, and records the equation. An equation of a block
//! holds to the end of the block, an equation of the top level for the rest of the session. Code of
//! the same block, and functions made in it, run only after the check. A declared function may be
//! called before an equation of the top level has been checked; if it relies on one, it checks the
//! equation again when it is called.
//!
//! If one side contains `?K` once and is linear in it, the statement computes the size and opens
//! it.

use crate::check::context::Checker;
use crate::check::error::SizeError;
use crate::check::report::mentions_error;
use crate::core::{Stmt, StmtKind};
use crate::iso::equations::{self, Solution};
use crate::source::Span;
use crate::syntax::ast::{Name, TypeExpr};
use crate::types::size::Size;
use crate::types::{Kind, Type, TypeKind, TypeVar};

impl Checker<'_> {
    /// Elaborates a `require` statement. Returns `None` after reporting an error.
    pub(in crate::check) fn require(
        &mut self,
        left: &TypeExpr,
        right: &TypeExpr,
        span: Span,
    ) -> Option<StmtKind> {
        let (mut a, mut names) = self.required_size(left);
        let (mut b, more) = self.required_size(right);
        if names.is_empty() || !more.is_empty() {
            names.extend(more);
        } else {
            std::mem::swap(&mut a, &mut b);
        }
        if mentions_error(&a) || mentions_error(&b) {
            return None;
        }
        if a.has_meta() || names.len() > 1 {
            let span = names.last().map_or(span, |(name, _)| name.span);
            self.report(SizeError::TwoUnknown { span });
            return None;
        }
        let session = self.at_session_level();
        let mut solve = None;
        if let Some((name, hole)) = names.pop() {
            let var = self.found_size(&name, session);
            let _ = self.infer.try_unify(&hole, &Type::var(var.clone()));
            b = self.infer.zonk(&b);
            if occurrences(&b, &var) != Some(1) {
                let (span, name) = (name.span, name.text.to_string());
                self.report(SizeError::NotLinear { span, name });
                return None;
            }
            self.bind_size(&name, Type::var(var.clone()), session);
            solve = Some(var);
        }
        let before = self.equations();
        let mut known = before.clone();
        known.push((a.clone(), b.clone()));
        let known = equations::relevant(&known, &a, &b);
        let solution = Solution::of(&known);
        let same = Size::of(&a).is_some_and(|size| Some(size) == Size::of(&b));
        if solution.is_unsatisfiable() || (a.size().is_ok() && b.size().is_ok() && a.size() != b.size()) {
            let because = known.len() > 1;
            self.report(SizeError::NeverEqual { span, left: a, right: b, because });
            return None;
        }
        if same {
            self.report(SizeError::AlwaysEqual { span, left: a.clone(), right: b.clone() });
        } else if solution.unsolved.iter().any(|at| known[*at] == (a.clone(), b.clone())) {
            self.report(SizeError::NotUsed { span, left: a.clone(), right: b.clone() });
        }
        let equations = if session { &mut self.env.equations } else { &mut self.item.equations };
        equations.push((a.clone(), b.clone()));
        Some(StmtKind::Require { left: a, right: b, solve })
    }

    /// Lowers one side, a compact type; returns it with the names that it opens.
    fn required_size(&mut self, written: &TypeExpr) -> (Type, Vec<(Name, Type)>) {
        let (ty, names) = self.lower_named(written);
        let fits = self.require_compact(&ty, written, "stand in an equation of sizes");
        (if fits { ty } else { Type::error() }, names)
    }

    /// Returns a rigid variable for a size that the statement computes.
    fn found_size(&mut self, name: &Name, session: bool) -> TypeVar {
        let var = self.env.fresh_var(&name.text, Kind::Compact);
        let first = self.frame().opening_scopes.last().map_or(0, |scope| scope.first_hole);
        self.infer.open_rigid_variable(&var, first);
        if session {
            self.program.sizes.push(var.clone());
        } else {
            self.item.opened.push(var.clone());
        }
        self.frame().opened.push(var.clone());
        var
    }

    /// Returns statements that check again the equations on which a declared function relies,
    /// because it may be called before them.
    pub(in crate::check) fn repeat_requirements(&mut self, span: Span) -> Vec<Stmt> {
        let relied = std::mem::take(&mut self.item.relied);
        let again = |(left, right)| Stmt { kind: StmtKind::Require { left, right, solve: None }, span };
        relied.into_iter().map(again).collect()
    }

    /// Returns the error that sizes known only at run time are not known to be equal, if such an
    /// equation would make the two types naturally isomorphic.
    pub(in crate::check) fn unequal_sizes_error(
        &mut self,
        from: &Type,
        to: &Type,
        span: Span,
    ) -> Option<SizeError> {
        let (left, right) = equations::required_equation(from, to)?;
        let opened = |var: &TypeVar| {
            self.program.sizes.contains(var) || self.item.frames.iter().any(|f| f.opened.contains(var))
        };
        let (mut arrives, mut unnamed) = (false, None);
        for side in [&left, &right] {
            side.for_each_var(&mut |var| {
                arrives |= opened(var);
                if !self.denotes(&var.name, var) {
                    unnamed.get_or_insert_with(|| var.name.to_string());
                }
            });
        }
        let mut equations = self.equations();
        equations.push((left.clone(), right.clone()));
        if !arrives || !equations::natural_under(&equations, from, to) {
            return None;
        }
        let before =
            self.item.frames.last().and_then(|f| f.opening_scopes.iter().rev().find_map(|scope| scope.stmt));
        let (from, to) = (from.clone(), to.clone());
        Some(SizeError::NotKnownEqual { span, from, to, left, right, before, unnamed })
    }
}

/// Returns the number of occurrences of a variable in a size that is linear in it; `None` if the
/// variable occurs in another position.
fn occurrences(ty: &Type, var: &TypeVar) -> Option<usize> {
    match ty.kind() {
        TypeKind::Var(found) if found == var => Some(1),
        TypeKind::CompactProduct(parts) | TypeKind::CompactSum(parts) => {
            parts.iter().map(|part| occurrences(part, var)).sum()
        }
        _ if ty.mentions(var) => None,
        _ => Some(0),
    }
}
