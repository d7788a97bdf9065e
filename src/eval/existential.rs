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
use super::evaluator::{Evaluator, Result};
use super::specialize::{Bindings, Specializer};
use super::tier_up::CoreRoot;
use crate::core::{LocalId, LocalInfo, Stmt, Term};
use crate::source::Span;
use crate::types::encoding::Code;
use crate::types::{Type, TypeVar};
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
    pub(super) stmts: Vec<Statement>,
    pub(super) value: Option<Node>,
}

#[derive(Default)]
pub(super) struct SpecializationCache {
    generation: u64,
    /// Newest first.
    by_sizes: VecDeque<(Vec<Type>, Arc<ContinuationCode>)>,
}

impl Evaluator<'_, '_> {
    pub(super) fn specialized_continuation(
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

/// Returns the number at which a linear function that is `none` at 0 and `one` at 1 is `left`.
pub(super) fn solve_size(left: &BigUint, none: &BigUint, one: &BigUint) -> Option<BigUint> {
    if left < none || one < none {
        return None;
    }
    let (rest, slope) = (left - none, one - none);
    if slope.is_zero() {
        return rest.is_zero().then(BigUint::default);
    }
    (&rest % &slope).is_zero().then(|| rest / slope)
}
