//! Automatic parallelization: loops in order whose rounds are independent become parallel.
//!
//! ```text
//! for i in 0..<n                 parallel for i < n
//!   v = call exp(a[i])     =>      v = call exp(a[i])
//!   b[i] <- v                      b[i] <- v
//! ```
//!
//! **When rounds are independent** (loops without carried dependence; Allen and Kennedy,
//! *Optimizing compilers for modern architectures*, 2001, chapter 2). A slot that a round stores
//! into is none that another round loads or stores ([`dependence`](super::dependence)). A variable
//! that a round sets is set before it is read, and read nowhere else. No round leaves the loop, but
//! for a failure of the kernel, which stops the rounds on other threads.
//!
//! An array to work in that only the rounds mention, and that each fills before it reads it, has
//! memory for each piece.
//!
//! **Which.** The outermost such loop, if all its rounds are estimated to take long enough
//! ([`cost`](super::super::cost)) and hold no parallel loop that does.
//!
//! Costs time in proportion to the statements times the depth of loops; of an array, to the stores
//! times the accesses in the loop, of different slots.

use super::super::{
    Array, Binary, Kernel, Label, Op, Origin, Part, Reg, ScalarType, Stmt, Var, cost, defined_registers,
    for_each_stmt,
};
use super::dependence::{Dependences, Rounds};
use super::parallel_level::MIN_PARALLEL_NS;
use super::{Builder, assigned_vars, has_alias, mentions, rewrite};
use crate::hash::{HashMap, HashSet};
use std::collections::BTreeSet;

/// Nanoseconds of a loop from which it is parallel, if nothing repeats it.
const MIN_NS: f64 = 15_000.0;

/// Bytes of the largest array of which each piece has its own.
const MAX_PRIVATE_BYTES: u64 = 1 << 20;

/// Pairs of accesses of an array that are compared.
const MAX_PAIRS: usize = 4096;

/// Runs the pass.
pub(super) fn run(kernel: &mut Kernel) {
    parallelize(kernel, MIN_NS);
}

/// Runs the pass where loops have been cut. Short pieces stay in order, as they do for all sizes of
/// a kernel.
pub(super) fn run_on_pieces(kernel: &mut Kernel) {
    parallelize(kernel, MIN_PARALLEL_NS);
}

/// Makes independent loops parallel that take so many nanoseconds.
fn parallelize(kernel: &mut Kernel, min_ns: f64) {
    let costs = cost::loop_costs(kernel);
    let mut worthwhile = false;
    for_each_stmt(&kernel.body, &mut |stmt| {
        worthwhile |= matches!(stmt, Stmt::For { index, .. } if costs[index] >= min_ns);
    });
    if !worthwhile {
        return;
    }
    let mut search = Search::new(kernel);
    let (mut loops, mut private) = (HashSet::default(), Vec::new());
    let least = [min_ns, MIN_PARALLEL_NS];
    search.find_parallel_loops(&kernel.body, (false, least), &costs, &mut |index, arrays| {
        loops.insert(index);
        private.extend(arrays);
    });
    if loops.is_empty() {
        return;
    }
    for array in private {
        kernel.arrays[array].origin = Origin::ThreadLocal;
    }
    rewrite(kernel, &mut |kernel, stmts, _| {
        let mut out = Vec::new();
        for stmt in stmts {
            match stmt {
                Stmt::For { label, index, low, high, body } if loops.contains(&index) => {
                    out.extend(parallel_for(kernel, label, index, (low, high), body));
                }
                stmt => out.push(stmt),
            }
        }
        out
    });
}

/// The sequential loops among these, by their indices, whose rounds are independent and share the
/// memory of all arrays. Pieces of a loop that is cut (`in_pieces`) share none on the stack.
pub(super) fn independent_loops(kernel: &Kernel, candidates: &HashSet<Reg>, in_pieces: bool) -> HashSet<Reg> {
    let mut search = Search::new(kernel);
    let mut found = HashSet::default();
    for_each_stmt(&kernel.body, &mut |stmt| {
        if let Stmt::For { index, .. } = stmt
            && candidates.contains(index)
            && search.check_independence(stmt, &[], in_pieces).is_some_and(|private| private.is_empty())
        {
            found.insert(*index);
        }
    });
    found
}

/// Returns true if the rounds of a loop in order are independent but for variables that they carry,
/// and share the memory of all arrays.
pub(super) fn is_independent_but_for(kernel: &Kernel, stmt: &Stmt, carried: &[Var]) -> bool {
    Search::new(kernel).check_independence(stmt, carried, true).is_some_and(|private| private.is_empty())
}

/// A parallel loop for one in order.
fn parallel_for(
    kernel: &mut Kernel,
    label: Label,
    index: Reg,
    (low, high): (Reg, Reg),
    mut body: Vec<Stmt>,
) -> Vec<Stmt> {
    if replace_continues(&mut body, label) {
        body = vec![Stmt::Block(label, body)];
    }
    if kernel.constants.get(&low) == Some(&0) {
        return vec![Stmt::ParallelFor { index, count: high, body }];
    }
    let mut build = Builder::new(kernel);
    let last = build.max(low, high);
    let count = build.binary(Binary::Sub, last, low);
    let round = build.reg(ScalarType::I64);
    let mut out = build.stmts;
    body.insert(0, Stmt::Let(index, Op::Binary(Binary::Add, round, low)));
    out.push(Stmt::ParallelFor { index: round, count, body });
    out
}

/// Replaces each `continue` of a loop by a `break` out of a block around its body; returns true if
/// there is one.
fn replace_continues(stmts: &mut [Stmt], label: Label) -> bool {
    let mut found = false;
    for stmt in stmts {
        if *stmt == Stmt::Continue(label) {
            *stmt = Stmt::Break(label);
            found = true;
        }
        for body in stmt.bodies_mut() {
            found |= replace_continues(body, label);
        }
    }
    found
}

struct Search<'k> {
    kernel: &'k Kernel,
    dependences: Dependences<'k>,
    mentioned: Mentions,
}

/// The number of times that statements mention variables and arrays.
#[derive(Default)]
pub(super) struct Mentions {
    vars: HashMap<Var, u32>,
    arrays: HashMap<Array, u32>,
}

impl Mentions {
    /// Counts the mentions in statements.
    pub(super) fn of(stmts: &[Stmt]) -> Mentions {
        let mut this = Mentions::default();
        for_each_stmt(stmts, &mut |stmt| {
            stmt.for_each_part(&mut |part| match part {
                Part::VarRead(var) | Part::VarWrite(var) => *this.vars.entry(*var).or_default() += 1,
                Part::ArrayRead(array) | Part::ArrayWrite(array) | Part::ArrayChange(array) => {
                    *this.arrays.entry(*array).or_default() += 1;
                }
                _ => {}
            });
        });
        this
    }
}

impl<'k> Search<'k> {
    fn new(kernel: &'k Kernel) -> Search<'k> {
        Search { kernel, dependences: Dependences::new(kernel), mentioned: Mentions::of(&kernel.body) }
    }

    /// Calls `found` on the outermost independent loops that take long enough, by their indices,
    /// with the arrays of which each piece has its own. The least nanoseconds are those of a loop
    /// that nothing repeats, and of one that is `repeated`.
    fn find_parallel_loops(
        &mut self,
        stmts: &'k [Stmt],
        (repeated, least): (bool, [f64; 2]),
        costs: &HashMap<Reg, f64>,
        found: &mut dyn FnMut(Reg, Vec<Array>),
    ) {
        for stmt in stmts {
            match stmt {
                Stmt::ParallelFor { .. } | Stmt::Reduce { .. } => continue,
                Stmt::For { index, .. } => {
                    if costs[index] < least[usize::from(repeated)] {
                        continue;
                    }
                    if let Some(private) = self.check_independence(stmt, &[], true) {
                        found(*index, private);
                        continue;
                    }
                }
                _ => {}
            }
            let repeats = matches!(stmt, Stmt::For { .. } | Stmt::Loop(..));
            for body in stmt.bodies() {
                self.find_parallel_loops(body, (repeated || repeats, least), costs, found);
            }
        }
    }

    /// The arrays of which each piece has its own, if the rounds of a loop are independent but for
    /// variables that they carry. Arrays on the stack are not shared by pieces of a loop that is
    /// cut (`in_pieces`).
    fn check_independence(&mut self, stmt: &'k Stmt, carried: &[Var], in_pieces: bool) -> Option<Vec<Array>> {
        let Stmt::For { label, index, body, .. } = stmt else { return None };
        let mut plain = true;
        let mut written: HashSet<Array> = HashSet::default();
        // Arrays of which any slot may be read.
        let mut read: HashSet<Array> = HashSet::default();
        for_each_stmt(body, &mut |inner| {
            plain &= match inner {
                Stmt::Swap(..)
                | Stmt::Grow(..)
                | Stmt::Gemm(_)
                | Stmt::Sort(_)
                | Stmt::ParallelFor { .. } => false,
                Stmt::Call(call) => {
                    read.extend(call.read.iter().map(|(array, _)| *array));
                    call.written.is_empty() && call.changed.is_empty()
                }
                Stmt::Break(target) => target != label,
                _ => true,
            };
            written.extend(inner.written_arrays());
        });
        plain &= !written.iter().any(|array| has_alias(self.kernel, *array) || read.contains(array));
        if !plain || stmt.leaves() {
            return None;
        }
        let rounds = Rounds { index: *index, inner: &defined_registers(body), prefix: None };
        let own = Mentions::of(body);
        if !variables_are_private(body, carried, &self.mentioned) {
            return None;
        }
        let mut private = Vec::new();
        let mut arrays: Vec<Array> = written.into_iter().collect();
        arrays.sort_unstable();
        for array in arrays {
            let only_here = own.arrays.get(&array) == self.mentioned.arrays.get(&array);
            match self.kernel.arrays[array].origin {
                Origin::Stack(_) | Origin::ThreadLocal if only_here && is_filled_first(body, array) => {}
                Origin::Stack(_) | Origin::ThreadLocal if in_pieces => return None,
                _ if self.has_own_slots(array, body, &rounds) => {}
                Origin::Scratch if only_here && is_filled_first(body, array) => {
                    let width = u64::from(self.kernel.arrays[array].width);
                    if self.kernel.slots[array].saturating_mul(width) > MAX_PRIVATE_BYTES {
                        return None;
                    }
                    private.push(array);
                }
                _ => return None,
            }
        }
        Some(private)
    }

    /// Returns true if a round stores into slots of an array that no other round loads or stores.
    fn has_own_slots(&mut self, array: Array, body: &'k [Stmt], rounds: &Rounds<'_>) -> bool {
        let (mut stored, mut loaded) = (BTreeSet::new(), BTreeSet::new());
        for_each_stmt(body, &mut |stmt| match stmt {
            Stmt::Store(into, at, _) if *into == array => drop(stored.insert(*at)),
            Stmt::Let(_, Op::Load(from, at, _)) if *from == array => drop(loaded.insert(*at)),
            _ => {}
        });
        let forms = self.dependences.forms();
        let [stored, loaded] = [stored, loaded].map(|slots| {
            let mut distinct = Vec::new();
            for at in slots {
                let form = forms.of(at);
                if !distinct.contains(&form) {
                    distinct.push(form);
                }
            }
            distinct
        });
        // Functions write slots that are not known.
        !stored.is_empty()
            && stored.len() * (stored.len() + loaded.len()) <= MAX_PAIRS
            && stored.iter().all(|store| {
                let mut accesses = stored.iter().chain(&loaded);
                !accesses.any(|access| self.dependences.may_meet(store, access, rounds))
            })
    }
}

/// Returns true if each variable that a round sets, but for those that rounds carry, is its own,
/// where a kernel has these mentions.
pub(super) fn variables_are_private(body: &[Stmt], carried: &[Var], mentioned: &Mentions) -> bool {
    let own = Mentions::of(body);
    let mut set_here = assigned_vars(body);
    set_here.retain(|var| !carried.contains(var));
    let only_here = |var: &Var| own.vars.get(var) == mentioned.vars.get(var);
    set_here.iter().all(only_here) && are_set_first(body, &set_here, &mut HashSet::default())
}

/// Returns true if each of these variables is set before it is read; adds those that are set.
fn are_set_first(stmts: &[Stmt], vars: &BTreeSet<Var>, set: &mut HashSet<Var>) -> bool {
    for stmt in stmts {
        match stmt {
            Stmt::Set(var, _) => drop(set.insert(*var)),
            Stmt::Let(_, Op::Get(var)) if vars.contains(var) && !set.contains(var) => return false,
            Stmt::If(_, then, otherwise) => {
                let (mut one, mut other) = (set.clone(), set.clone());
                if !are_set_first(then, vars, &mut one) || !are_set_first(otherwise, vars, &mut other) {
                    return false;
                }
                set.extend(one.intersection(&other));
            }
            // May run not at all, or be left before its end.
            stmt => {
                let inside = |body: &[Stmt]| are_set_first(body, vars, &mut set.clone());
                if !stmt.bodies().into_iter().all(inside) {
                    return false;
                }
            }
        }
    }
    true
}

/// Returns true if the first statement that mentions an array stores into it, under no condition:
/// an array that belongs to a round is filled before it is read.
fn is_filled_first(stmts: &[Stmt], array: Array) -> bool {
    let Some(stmt) = stmts.iter().find(|stmt| mentions(stmt, array)) else { return false };
    match stmt {
        Stmt::Store(stored, ..) => *stored == array,
        Stmt::For { body, .. } | Stmt::Block(_, body) => is_filled_first(body, array),
        _ => false,
    }
}
