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
use super::run::{Result, Run};
use super::specialize::{Bindings, Specializer};
use super::tier_up::Core;
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
const KEPT: usize = 16;

/// After this many specialisations all that are older are forgotten: openings inside openings keep
/// some for each of some.
pub(super) const GENERATION: u64 = 2_048;

/// An opening, with the rest of its block.
pub struct OpenCode {
    pub(super) source: Source,
    pub(super) vars: Vec<TypeVar>,
    /// The block that the opening stands in, or what follows an opening further out.
    pub(super) rest: Arc<Rest>,
    /// The first statement of it that comes after the opening.
    pub(super) from: usize,
    pub(super) bindings: Arc<Bindings>,
    pub(super) locals: Arc<[LocalInfo]>,
    pub(super) kept: Mutex<Kept>,
}

/// Where sizes come from.
pub(super) enum Source {
    /// An existential value; where its value goes, and whether that is a cell.
    Value(Node, LocalId, bool),
    /// An equation: its left side, its right side with 0 and with 1 in place of the size, as written.
    Equation(Code, Code, Code, Arc<str>),
}

/// Statements of core, and the value of their block.
pub(super) struct Rest {
    pub(super) stmts: Vec<Stmt>,
    pub(super) value: Option<Term>,
}

/// The same at sizes.
pub(super) struct RestCode {
    stmts: Vec<Statement>,
    value: Option<Node>,
}

#[derive(Default)]
pub(super) struct Kept {
    generation: u64,
    /// Newest first.
    by_sizes: VecDeque<(Vec<Type>, Arc<RestCode>)>,
}

/// The position of the first statement that opens sizes.
pub(super) fn first_opening(stmts: &[Stmt]) -> Option<usize> {
    stmts
        .iter()
        .position(|s| matches!(s.kind, StmtKind::Open { .. } | StmtKind::Require { solve: Some(_), .. }))
}

impl Specializer<'_> {
    /// The opening at position `at` of statements that are those of `rest` from `from` on.
    pub(super) fn opening(&self, stmt: &Stmt, rest: Arc<Rest>, from: usize) -> Option<OpenCode> {
        let (source, vars) = match &stmt.kind {
            StmtKind::Open { vars, local, value } => {
                let shared = self.locals[*local as usize].shared;
                (Source::Value(self.node(value), *local, shared), vars.clone())
            }
            StmtKind::Require { left, right, solve: Some(var) } => {
                let at = |n: u32| {
                    let size = [(var.id, Type::unit_sum(n))].into_iter().collect();
                    self.size(&right.substitute(&size))
                };
                let text = super::error::equation(left, right);
                (Source::Equation(self.size(left), at(0), at(1), text), vec![var.clone()])
            }
            _ => return None,
        };
        let locals = self.kept.get_or_init(|| Arc::from(self.locals)).clone();
        let bindings = self.bindings.clone();
        Some(OpenCode { source, vars, rest, from, bindings, locals, kept: Mutex::default() })
    }

    /// The code of what follows an opening.
    fn rest(&self, rest: &Arc<Rest>, from: usize) -> RestCode {
        let stmts = &rest.stmts[from..];
        if let Some(at) = first_opening(stmts) {
            let mut code = self.plain(&stmts[..at]);
            let span = stmts[at].span;
            if let Some(opening) = self.opening(&stmts[at], rest.clone(), from + at + 1) {
                if rest.value.is_some() {
                    let kind = super::code::Kind::Open(Box::new(opening));
                    return RestCode { stmts: code, value: Some(Node { kind, span }) };
                }
                code.push(Statement { kind: super::code::StatementKind::Open(Box::new(opening)), span });
            }
            return RestCode { stmts: code, value: None };
        }
        RestCode { stmts: self.plain(stmts), value: rest.value.as_ref().map(|v| self.node(v)) }
    }

    /// The same for a block met for the first time.
    pub(super) fn opening_block(
        &self,
        stmts: &[Stmt],
        value: Option<&Term>,
    ) -> Option<(Vec<Statement>, Option<Node>)> {
        let at = first_opening(stmts)?;
        // What stands before the first opening is not needed any more.
        let rest = Arc::new(Rest { stmts: stmts[at + 1..].to_vec(), value: value.cloned() });
        let mut code = self.plain(&stmts[..at]);
        let span = stmts[at].span;
        let opening = Box::new(self.opening(&stmts[at], rest, 0)?);
        if value.is_some() {
            return Some((code, Some(Node { kind: super::code::Kind::Open(opening), span })));
        }
        code.push(Statement { kind: super::code::StatementKind::Open(opening), span });
        Some((code, None))
    }
}

impl Run<'_, '_> {
    /// Opens sizes and runs the rest of the block; gives its value.
    pub(super) fn open(&mut self, code: &OpenCode, frame: &mut [Value], span: Span) -> Result<Value> {
        // Each opening of a block runs inside the one before.
        if !super::stack_guard::has_room() {
            let depth = self.machine.calls.len();
            return Err(self.fail(Failure::TooDeep { depth }, span));
        }
        let sizes = self.sizes(&code.source, frame, span)?;
        let rest = self.specialized(code, sizes, span)?;
        self.block(&rest.stmts, frame)?;
        match &rest.value {
            Some(value) => self.eval(value, frame),
            None => Ok(Value::UNIT),
        }
    }

    /// The sizes that arrive, as types.
    pub(super) fn sizes(&mut self, source: &Source, frame: &mut [Value], span: Span) -> Result<Vec<Type>> {
        match source {
            Source::Value(node, local, shared) => {
                let Value::Packed(packed) = self.eval(node, frame)? else {
                    return Err(self.fail(Failure::Internal { what: "a value without its sizes" }, span));
                };
                let sizes = packed.sizes.clone();
                // The only owner's value can be changed where it lies.
                let value = Packed::into_value(packed);
                frame[*local as usize] = if *shared { Value::Cell(Cell::new(Some(value))) } else { value };
                Ok(sizes)
            }
            Source::Equation(left, none, one, text) => {
                [left, none, one].into_iter().try_for_each(|size| self.counted(Some(size), span))?;
                let (left, none, one) = (left.to_big(), none.to_big(), one.to_big());
                match solution(&left, &none, &one) {
                    Some(size) => Ok(vec![Type::unit_sum(size)]),
                    None => {
                        let failure = Failure::NoSize { equation: text.to_string(), left, none, one };
                        Err(self.fail(failure, span))
                    }
                }
            }
        }
    }

    fn specialized(&mut self, code: &OpenCode, sizes: Vec<Type>, span: Span) -> Result<Arc<RestCode>> {
        let generation = self.machine.opened / GENERATION;
        let Ok(mut kept) = code.kept.lock() else {
            return Err(self.fail(Failure::Internal { what: "a lock left behind" }, span));
        };
        if kept.generation != generation {
            *kept = Kept { generation, by_sizes: VecDeque::new() };
        }
        if let Some(at) = kept.by_sizes.iter().position(|(known, _)| *known == sizes) {
            return Ok(kept.by_sizes[at].1.clone());
        }
        let own = code.vars.iter().map(|var| var.id).zip(sizes.iter().cloned()).collect();
        let bindings = Arc::new(Bindings { own, outer: Some(code.bindings.clone()) });
        let specializer = Specializer {
            bindings,
            kept: OnceLock::from(code.locals.clone()),
            ..self.specializer(&code.locals, Core::Rest(code.rest.clone()))
        };
        let made = Arc::new(specializer.rest(&code.rest, code.from));
        self.bound(specializer.unset.take(), span)?;
        kept.by_sizes.push_front((sizes, made.clone()));
        kept.by_sizes.truncate(KEPT);
        drop(kept);
        self.machine.opened += 1;
        Ok(made)
    }

    /// Fails if a size of the session was needed before it was there.
    pub(super) fn bound(&self, unset: Option<TypeVar>, span: Span) -> Result<()> {
        match unset {
            Some(var) => Err(self.fail(Failure::Unset { name: var.name.to_string() }, span)),
            None => Ok(()),
        }
    }
}

/// The number at which a linear function that is `none` at 0 and `one` at 1 is `left`.
fn solution(left: &BigUint, none: &BigUint, one: &BigUint) -> Option<BigUint> {
    if left < none || one < none {
        return None;
    }
    let (rest, slope) = (left - none, one - none);
    if slope.is_zero() {
        return rest.is_zero().then(BigUint::default);
    }
    (&rest % &slope).is_zero().then(|| rest / slope)
}
