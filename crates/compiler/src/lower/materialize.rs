//! Materialization: arrays that would be computed several times are stored.
//!
//! An array that is only remembered is computed where it is read. If its elements are read more
//! often than there are elements, they are computed more often than needed; whether storing them is
//! cheaper is found by lowering once: each array that is built has a number, and at each place
//! where an element of it is written out, it is counted how often that place runs for each time
//! that the array is built, and what the element costs there ([`crate::loop_ir::cost`]). At the end
//! ([`Materialization::worth_storing`]) the part is lowered again, with one array more stored where
//! it is built: of several the last one, since it is made of the others, which are then read less
//! often.
//!
//! Views only choose among the elements of other arrays. They are not stored for this reason,
//! because arithmetic of indices counts nothing: an element that is only read from where it is
//! stored costs no more than reading it from elsewhere.

use super::Lower;
use crate::loop_ir::{Binary, Op, ScalarType, cost};

/// Nanoseconds of writing or reading a slot that stays in a cache.
const CACHED_SLOT_NS: f64 = 0.5;

/// Bytes of an array that does not stay there.
const UNCACHED_BYTES: f64 = 4e6;

/// Nanoseconds of writing and reading a slot of such an array, on top.
const UNCACHED_SLOT_NS: f64 = 2.0;

/// The ratio of time saved to time spent from which an array is stored.
const MIN_GAIN: f64 = 1.5;

/// Counters of the work per array.
#[derive(Clone)]
pub(super) struct Materialization {
    arrays: Vec<Uses>,
    /// The number of runs of the statements under construction.
    rounds: f64,
    /// The cost of the statements so far, in nanoseconds.
    spent: f64,
}

/// Uses of an array that is built.
#[derive(Clone, Copy)]
struct Uses {
    elements: f64,
    bytes: f64,
    /// The number of times that it is built.
    built: f64,
    /// Elements computed each time.
    computed: f64,
    cost: f64,
}

impl Materialization {
    pub fn new() -> Materialization {
        Materialization { arrays: Vec::new(), rounds: 1.0, spent: 0.0 }
    }

    /// The next array is built.
    pub fn built(&mut self, elements: u64, bytes: u64) {
        let (elements, bytes) = (elements as f64, bytes as f64);
        self.arrays.push(Uses { elements, bytes, built: self.rounds, computed: 0.0, cost: 0.0 });
    }

    /// Arrays from one on are forgotten.
    pub fn truncate(&mut self, number: usize) {
        self.arrays.truncate(number);
    }

    /// A register is set. Arithmetic of integers is taken for that of indices.
    pub fn set(&mut self, ty: ScalarType, op: &Op) {
        if ty != ScalarType::I64 || !matches!(op, Op::Binary(..)) {
            self.spent += cost::op_cost(op);
        }
    }

    /// An operation of the program on integers.
    pub fn integers(&mut self, op: Binary) {
        self.spent += cost::binary_cost(op);
    }

    /// The cost of the statements so far, in nanoseconds.
    pub fn spent(&self) -> f64 {
        self.spent
    }

    /// An element of an array was written out, from where so much had been spent.
    pub fn element(&mut self, number: usize, spent: f64) {
        if let Some(uses) = self.arrays.get_mut(number) {
            uses.computed += self.rounds / uses.built;
            uses.cost = uses.cost.max(self.spent - spent);
        }
    }

    /// All elements of an array are computed, once.
    pub fn whole(&mut self, number: usize) {
        if let Some(uses) = self.arrays.get_mut(number) {
            uses.computed += uses.elements * self.rounds / uses.built;
        }
    }

    /// The last array that had better be stored where it is built.
    pub fn worth_storing(&self) -> Option<usize> {
        let worth = |uses: &Uses| {
            let times = uses.computed / uses.elements;
            let slot = CACHED_SLOT_NS * (1.0 + times)
                + if uses.bytes > UNCACHED_BYTES { UNCACHED_SLOT_NS } else { 0.0 };
            (times - 1.0) * uses.cost > MIN_GAIN * slot
        };
        self.arrays.iter().rposition(worth)
    }
}

impl<'a> Lower<'a> {
    /// The statements that `work` makes run so many times.
    pub(crate) fn times<T>(&mut self, rounds: u64, work: impl FnOnce(&mut Self) -> T) -> T {
        let outer = self.repeat.rounds;
        self.repeat.rounds *= rounds as f64;
        let done = work(self);
        self.repeat.rounds = outer;
        done
    }
}
