//! Sizes opened while a program runs.
//!
//! Core mentions a size that arrives at run time as a type variable of the rest of the block. Here the
//! rest stays core until the sizes are there; then it is specialized for them, as a function is for
//! its type arguments. What has been specialized is kept for the sizes met last, so that a loop that
//! opens the same sizes again does it once. A loop that meets new sizes each time specializes the rest
//! of its body each time; what is kept is bounded ([`KEPT`], [`GENERATION`]).
//!
//! A size found by `require N == 3 \* ?K` is opened in the same way.

use super::code::{Node, Statement};
use super::error::Failure;
use super::run::{Evaluator, Result};
use super::specialize::{Bindings, Specializer};
use super::tier_up::CoreRoot;
use crate::core::{LocalId, LocalInfo, Stmt, StmtKind, Term};
use crate::source::Span;
use crate::types::encoding::Code;
use crate::types::{Type, TypeVar};
use crate::value::{Cell, Packed, Value};
use num_bigint::BigUint;
use num_traits::Zero;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, OnceLock};

/// Specialisations that one opening keeps.
const MAX_CACHED_SPECIALIZATIONS: usize = 16;

/// After this many specialisations all that are older are forgotten: openings inside openings keep
/// some for each of some.
pub(super) const OPENINGS_PER_GENERATION: u64 = 2_048;

/// An opening, with the rest of its block.
pub struct OpenCode {
    pub(super) source: SizeSource,
    pub(super) vars: Vec<TypeVar>,
    /// The block that the opening stands in, or what follows an opening further out.
    pub(super) continuation: Arc<Continuation>,
    /// The first statement of it that comes after the opening.
    pub(super) from: usize,
    pub(super) bindings: Arc<Bindings>,
    pub(super) locals: Arc<[LocalInfo]>,
    pub(super) cache: Mutex<SpecializationCache>,
}

/// Where sizes come from.
pub(super) enum SizeSource {
    /// An existential value; where its value goes, and whether that is a cell.
    Value(Node, LocalId, bool),
    /// An equation: its left side, its right side with 0 and with 1 in place of the size, as written.
    Equation(Code, Code, Code, Arc<str>),
}

/// Statements of core, and the value of their block.
pub(super) struct Continuation {
    pub(super) stmts: Vec<Stmt>,
    pub(super) value: Option<Term>,
}

/// The same at sizes.
pub(super) struct ContinuationCode {
    stmts: Vec<Statement>,
    value: Option<Node>,
}

#[derive(Default)]
pub(super) struct SpecializationCache {
    generation: u64,
    /// Newest first.
    by_sizes: VecDeque<(Vec<Type>, Arc<ContinuationCode>)>,
}

/// The position of the first statement that opens sizes.
pub(super) fn first_opening(stmts: &[Stmt]) -> Option<usize> {
    stmts
        .iter()
        .position(|s| matches!(s.kind, StmtKind::Open { .. } | StmtKind::Require { solve: Some(_), .. }))
}

impl Specializer<'_> {
    /// The opening at position `at` of statements that are those of `rest` from `from` on.
    pub(super) fn specialize_opening(
        &self,
        stmt: &Stmt,
        rest: Arc<Continuation>,
        from: usize,
    ) -> Option<OpenCode> {
        let (source, vars) = match &stmt.kind {
            StmtKind::Open { vars, local, value } => {
                let shared = self.locals[*local as usize].shared;
                (SizeSource::Value(self.node(value), *local, shared), vars.clone())
            }
            StmtKind::Require { left, right, solve: Some(var) } => {
                let at = |n: u32| {
                    let size = [(var.id, Type::unit_sum(n))].into_iter().collect();
                    self.size(&right.substitute(&size))
                };
                let text = super::error::format_equation(left, right);
                (SizeSource::Equation(self.size(left), at(0), at(1), text), vec![var.clone()])
            }
            _ => return None,
        };
        let locals = self.shared_locals.get_or_init(|| Arc::from(self.locals)).clone();
        let bindings = self.bindings.clone();
        Some(OpenCode { source, vars, continuation: rest, from, bindings, locals, cache: Mutex::default() })
    }

    /// The code of what follows an opening.
    fn specialize_continuation(&self, rest: &Arc<Continuation>, from: usize) -> ContinuationCode {
        let stmts = &rest.stmts[from..];
        if let Some(at) = first_opening(stmts) {
            let mut code = self.statements_without_openings(&stmts[..at]);
            let span = stmts[at].span;
            if let Some(opening) = self.specialize_opening(&stmts[at], rest.clone(), from + at + 1) {
                if rest.value.is_some() {
                    let kind = super::code::NodeKind::OpenSizes(Box::new(opening));
                    return ContinuationCode { stmts: code, value: Some(Node { kind, span }) };
                }
                code.push(Statement { kind: super::code::StatementKind::OpenSizes(Box::new(opening)), span });
            }
            return ContinuationCode { stmts: code, value: None };
        }
        ContinuationCode {
            stmts: self.statements_without_openings(stmts),
            value: rest.value.as_ref().map(|v| self.node(v)),
        }
    }

    /// The same for a block met for the first time.
    pub(super) fn specialize_opening_block(
        &self,
        stmts: &[Stmt],
        value: Option<&Term>,
    ) -> Option<(Vec<Statement>, Option<Node>)> {
        let at = first_opening(stmts)?;
        // What stands before the first opening is not needed any more.
        let rest = Arc::new(Continuation { stmts: stmts[at + 1..].to_vec(), value: value.cloned() });
        let mut code = self.statements_without_openings(&stmts[..at]);
        let span = stmts[at].span;
        let opening = Box::new(self.specialize_opening(&stmts[at], rest, 0)?);
        if value.is_some() {
            return Some((code, Some(Node { kind: super::code::NodeKind::OpenSizes(opening), span })));
        }
        code.push(Statement { kind: super::code::StatementKind::OpenSizes(opening), span });
        Some((code, None))
    }
}

impl Evaluator<'_, '_> {
    /// Opens sizes and runs the rest of the block; gives its value.
    pub(super) fn open_sizes(&mut self, code: &OpenCode, frame: &mut [Value], span: Span) -> Result<Value> {
        // Each opening of a block runs inside the one before.
        if !super::stack_guard::has_room() {
            let depth = self.machine.calls.len();
            return Err(self.fail(Failure::TooDeep { depth }, span));
        }
        let sizes = self.eval_sizes(&code.source, frame, span)?;
        let rest = self.specialized_continuation(code, sizes, span)?;
        self.run_block(&rest.stmts, frame)?;
        match &rest.value {
            Some(value) => self.eval(value, frame),
            None => Ok(Value::UNIT),
        }
    }

    /// The sizes that arrive, as types.
    pub(super) fn eval_sizes(
        &mut self,
        source: &SizeSource,
        frame: &mut [Value],
        span: Span,
    ) -> Result<Vec<Type>> {
        match source {
            SizeSource::Value(node, local, shared) => {
                let Value::Packed(packed) = self.eval(node, frame)? else {
                    return Err(self.fail(Failure::Internal { message: "a value without its sizes" }, span));
                };
                let sizes = packed.sizes.clone();
                // The only owner's value can be changed where it lies.
                let value = Packed::into_value(packed);
                frame[*local as usize] = if *shared { Value::Cell(Cell::new(Some(value))) } else { value };
                Ok(sizes)
            }
            SizeSource::Equation(left, none, one, text) => {
                [left, none, one]
                    .into_iter()
                    .try_for_each(|size| self.require_countable(Some(size), span))?;
                let (left, none, one) = (left.to_big(), none.to_big(), one.to_big());
                match solve_size(&left, &none, &one) {
                    Some(size) => Ok(vec![Type::unit_sum(size)]),
                    None => {
                        let failure = Failure::NoSize {
                            equation: text.to_string(),
                            left,
                            right_at_zero: none,
                            right_at_one: one,
                        };
                        Err(self.fail(failure, span))
                    }
                }
            }
        }
    }

    fn specialized_continuation(
        &mut self,
        code: &OpenCode,
        sizes: Vec<Type>,
        span: Span,
    ) -> Result<Arc<ContinuationCode>> {
        let generation = self.machine.opening_count / OPENINGS_PER_GENERATION;
        let Ok(mut kept) = code.cache.lock() else {
            return Err(self.fail(Failure::Internal { message: "a lock left behind" }, span));
        };
        if kept.generation != generation {
            *kept = SpecializationCache { generation, by_sizes: VecDeque::new() };
        }
        if let Some(at) = kept.by_sizes.iter().position(|(known, _)| *known == sizes) {
            return Ok(kept.by_sizes[at].1.clone());
        }
        let own = code.vars.iter().map(|var| var.id).zip(sizes.iter().cloned()).collect();
        let bindings = Arc::new(Bindings { types: own, outer: Some(code.bindings.clone()) });
        let specializer = Specializer {
            bindings,
            shared_locals: OnceLock::from(code.locals.clone()),
            ..self.specializer(&code.locals, CoreRoot::Rest(code.continuation.clone()))
        };
        let made = Arc::new(specializer.specialize_continuation(&code.continuation, code.from));
        self.require_bound(specializer.unbound.take(), span)?;
        kept.by_sizes.push_front((sizes, made.clone()));
        kept.by_sizes.truncate(MAX_CACHED_SPECIALIZATIONS);
        drop(kept);
        self.machine.opening_count += 1;
        Ok(made)
    }

    /// Fails if a size of the session was needed before it was there.
    pub(super) fn require_bound(&self, unbound: Option<TypeVar>, span: Span) -> Result<()> {
        match unbound {
            Some(var) => Err(self.fail(Failure::Unset { name: var.name.to_string() }, span)),
            None => Ok(()),
        }
    }
}

/// The number at which a linear function that is `none` at 0 and `one` at 1 is `left`.
fn solve_size(left: &BigUint, none: &BigUint, one: &BigUint) -> Option<BigUint> {
    if left < none || one < none {
        return None;
    }
    let (rest, slope) = (left - none, one - none);
    if slope.is_zero() {
        return rest.is_zero().then(BigUint::default);
    }
    (&rest % &slope).is_zero().then(|| rest / slope)
}
