//! Splitting of loops at a crossing dependence: a loop that stores into all cells of a row and
//! loads one of them again in each round is cut where it stores into that cell.
//!
//! ```text
//! for j in low..<high              for j in low..<min(k, high)
//!   d[i, j] <- … d[i, k] …    =>     d[i, j] <- … d[i, k] …
//!                                  for j in max(k, low)..<min(k + 1, high)
//!                                    d[i, j] <- … d[i, k] …
//!                                  for j in max(k + 1, low)..<high
//!                                    d[i, j] <- … d[i, k] …
//! ```
//!
//! In the first and in the last loop, no round stores into the cell that is loaded, so their rounds
//! are independent and go by vectors (a weak-zero dependence; Allen and Kennedy, *Optimizing
//! compilers for modern architectures*, 2001, section 3.3.2). Shortest paths and eliminations in
//! place have such loops.
//!
//! **When.** An innermost loop in order that sets no variable, whose stores and accesses meet in no
//! other way in different rounds ([`dependence`](super::dependence)). All such cells are stored in
//! the round of one number that is the same in all rounds. The rounds stay in their order.
//!
//! Costs two copies of the body.

use super::super::{Binary, Kernel, Op, Reg, Stmt, defined_registers, for_each_stmt, is_straight_line};
use super::affine::Affine;
use super::clone_stmts::Cloner;
use super::dependence::{Dependences, Rounds};
use super::{Builder, assigned_vars, has_alias, known_rounds, loads_stored, rewrite};
use crate::hash::HashMap;

/// Statements of a body, at most.
const MAX_STATEMENTS: usize = 40;
/// Rounds of a loop, at least, if their number is known.
const MIN_ROUNDS: i64 = 32;

/// Runs the pass.
pub(super) fn run(kernel: &mut Kernel) {
    let crossings = crossings(kernel);
    if crossings.is_empty() {
        return;
    }
    rewrite(kernel, &mut |kernel, stmts, _| {
        let mut out = Vec::new();
        for stmt in stmts {
            match &stmt {
                Stmt::For { index, .. } if crossings.contains_key(index) => {
                    out.extend(split(kernel, stmt, &crossings));
                }
                _ => out.push(stmt),
            }
        }
        out
    });
}

/// The loops that are split, by their indices, with the numbers at which they are.
fn crossings(kernel: &Kernel) -> HashMap<Reg, Reg> {
    let mut dependences = None;
    let mut found = HashMap::default();
    for_each_stmt(&kernel.body, &mut |stmt| {
        if let Stmt::For { index, low, high, body, .. } = stmt
            && body.len() <= MAX_STATEMENTS
            && is_straight_line(body)
            && assigned_vars(body).is_empty()
            && loads_stored(body)
        {
            let dependences = dependences.get_or_insert_with(|| Dependences::new(kernel));
            let rounds = known_rounds(dependences.forms(), Some(*low), *high);
            if rounds.is_none_or(|rounds| rounds >= MIN_ROUNDS) {
                found.extend(crossing(kernel, dependences, *index, body).map(|at| (*index, at)));
            }
        }
    });
    found
}

/// The number of the round in which a loop stores into the cells that it loads in all rounds, if
/// nothing else keeps its rounds from being independent.
fn crossing(kernel: &Kernel, dependences: &mut Dependences<'_>, index: Reg, body: &[Stmt]) -> Option<Reg> {
    let (mut stores, mut accesses) = (Vec::new(), Vec::new());
    for_each_stmt(body, &mut |stmt| match stmt {
        Stmt::Store(array, at, _) => {
            stores.push((*array, *at));
            accesses.push((*array, *at));
        }
        Stmt::Let(_, Op::Load(array, at, _)) => accesses.push((*array, *at)),
        _ => {}
    });
    let inner = defined_registers(body);
    let rounds = Rounds { index, inner: &inner, prefix: None };
    let mut crossing = None;
    for (array, at) in stores {
        if has_alias(kernel, array) {
            return None;
        }
        let store = dependences.forms().of(at);
        for (_, at) in accesses.iter().filter(|access| access.0 == array) {
            let access = dependences.forms().of(*at);
            if !dependences.may_meet(&store, &access, &rounds) {
                continue;
            }
            let at = only_meeting(&store, &access, index).filter(|at| !inner.contains(at))?;
            if *crossing.get_or_insert(at) != at {
                return None;
            }
        }
    }
    // The number after it does not wrap around.
    crossing.filter(|at| dependences.interval(*at).is_some_and(|range| range.high < i64::MAX))
}

/// The register that the index is equal to in the only round that stores into the slot of an
/// access, which is the same in all rounds.
fn only_meeting(store: &Affine, access: &Affine, index: Reg) -> Option<Reg> {
    let difference = store.add_scaled(access, -1)?;
    let factor = difference.coefficient(index);
    let other = difference.terms.iter().find(|term| term.0 != index)?;
    let exact = difference.constant == 0 && difference.terms.len() == 2 && other.1 == -factor;
    (exact && factor.abs() == 1 && access.coefficient(index) == 0).then_some(other.0)
}

/// The rounds before a number, that of it, and those after it.
fn split(kernel: &mut Kernel, stmt: Stmt, crossings: &HashMap<Reg, Reg>) -> Vec<Stmt> {
    let Stmt::For { label, index, low, high, body } = stmt else { return vec![stmt] };
    let at = crossings[&index];
    let mut build = Builder::new(kernel);
    let one = build.int(1);
    let next = build.binary(Binary::Add, at, one);
    let before_end = build.min(at, high);
    let (begin, end) = (build.max(at, low), build.min(next, high));
    let after_begin = build.max(next, low);
    for (low, high) in [(low, before_end), (begin, end)] {
        let label = build.label();
        let mut copy = Cloner::new(build.kernel);
        let index = copy.fresh(index);
        let body = copy.stmts(&body);
        build.stmts.push(Stmt::For { label, index, low, high, body });
    }
    build.stmts.push(Stmt::For { label, index, low: after_begin, high, body });
    build.stmts
}
