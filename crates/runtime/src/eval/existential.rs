//! Sizes that are opened at run time.
//!
//! Core mentions a size that arrives at run time as a type variable in the rest of the block. The
//! rest stays core until the sizes are known, and is then specialized for them, as a function is
//! for its type arguments. Specializations are cached for the most recent sizes, so that a loop
//! that opens the same sizes again specializes once. A loop that meets new sizes in each round
//! specializes the rest of its body in each round; the caches are bounded
//! ([`MAX_CACHED_SPECIALIZATIONS`], [`OPENINGS_PER_GENERATION`]).
//!
//! A size found by `require N == 3 \* ?K` is opened in the same way.

use super::bindings::Bindings;
use super::code::{Node, Statement};
use super::error::Failure;
use super::evaluator::{Evaluator, Result};
use super::specialize::Specializer;
use super::tier_up::CoreRoot;
use crate::core::{LocalId, LocalInfo, Stmt, Term};
use crate::source::Span;
use crate::types::encoding::Code;
use crate::types::{Type, TypeVar};
use num_bigint::BigUint;
use num_traits::Zero;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, OnceLock};

/// The number of specializations that one opening caches.
const MAX_CACHED_SPECIALIZATIONS: usize = 64;

/// The number of specializations of an opening after which its sizes are taken to change all the
/// time: then a term is compiled for them only if what it makes of them is large.
const MAX_EAGER_SPECIALIZATIONS: u64 = 8;

/// After this many specializations all older ones are dropped: nested openings would otherwise keep
/// the product of their caches.
pub(super) const OPENINGS_PER_GENERATION: u64 = 2_048;

/// A statement that opens sizes, with the rest of its block.
pub struct OpenCode {
    /// The origin of the sizes.
    pub(super) source: SizeSource,
    /// The type variables of the sizes.
    pub(super) vars: Vec<TypeVar>,
    /// The statements after an enclosing opening, or the block of this one.
    pub(super) continuation: Arc<Continuation>,
    /// The index of the first statement after the opening.
    pub(super) from: usize,
    /// The bindings around the opening.
    pub(super) bindings: Arc<Bindings>,
    /// The locals of the frame.
    pub(super) locals: Arc<[LocalInfo]>,
    /// The continuations specialized for the most recent sizes.
    pub(super) cache: Mutex<SpecializationCache>,
}

/// The origin of sizes.
pub(super) enum SizeSource {
    /// An existential value, the local that receives the value at the sizes, and whether that local
    /// is a cell.
    Value(Node, LocalId, bool),
    /// An equation: its left side, its right side with 0 and with 1 in place of the size, and its
    /// text.
    Equation(Code, Code, Code, Arc<str>),
}

/// Statements of core, and the value of their block.
pub(super) struct Continuation {
    pub(super) stmts: Vec<Stmt>,
    pub(super) value: Option<Term>,
}

/// A continuation specialized for sizes.
pub(super) struct ContinuationCode {
    pub(super) stmts: Vec<Statement>,
    pub(super) value: Option<Node>,
}

/// A cache of specialized continuations.
#[derive(Default)]
pub(super) struct SpecializationCache {
    generation: u64,
    /// The number of specializations so far.
    made: u64,
    /// The most recent first.
    by_sizes: VecDeque<(Vec<Type>, Arc<ContinuationCode>)>,
}

impl Evaluator<'_, '_> {
    /// Returns the continuation specialized for these sizes, from the cache if it is there.
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
            *kept = SpecializationCache { generation, made: kept.made, by_sizes: VecDeque::new() };
        }
        if let Some(at) = kept.by_sizes.iter().position(|(known, _)| *known == sizes) {
            // The most recent one is found first, and the oldest is dropped.
            if let Some(found) = kept.by_sizes.remove(at) {
                kept.by_sizes.push_front(found);
            }
            return Ok(kept.by_sizes[0].1.clone());
        }
        kept.made += 1;
        let sizes_change = kept.made > MAX_EAGER_SPECIALIZATIONS;
        let own = code.vars.iter().map(|var| var.id).zip(sizes.iter().cloned()).collect();
        let bindings = Arc::new(Bindings { types: own, outer: Some(code.bindings.clone()) });
        let specializer = Specializer {
            bindings,
            shared_locals: OnceLock::from(code.locals.clone()),
            changing_sizes: if sizes_change { code.vars.clone() } else { Vec::new() },
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

    /// Fails if the specialized code needs a size of the session that is not opened yet.
    pub(super) fn require_bound(&self, unbound: Option<TypeVar>, span: Span) -> Result<()> {
        match unbound {
            Some(var) => Err(self.fail(Failure::Unset { name: var.name.to_string() }, span)),
            None => Ok(()),
        }
    }
}

/// Returns the number at which a linear function with value `none` at 0 and `one` at 1 has the
/// value `left`; `None` if there is no such number.
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
