//! Dead store elimination: of stores into arrays that nobody reads, and of arrays that are filled
//! and then filled again.
//!
//! `var y = x; for i in ..[N] perform &y.i <- f i;` copies `x` first, and no round reads the copy.
//!
//! **When.** Stores into an array to work in are dropped if nothing loads from it. A loop that does
//! nothing but store into one array is dropped if a later statement of the same list stores into
//! each of its slots, none in between mentions it, and that statement does not load from it. Loops
//! store into each slot if stores that run in each round have the slots `i0 * c0 + i1 * c1 + … + k`
//! for the indices `ij` of the loops, from 0 below `nj`, and all `k` below a number, as the fields of
//! a record have; and the coefficients are the place values of digits of that number and of these
//! radices ([`Affine`]).
//!
//! Costs time in proportion to the statements, and for each such loop to those that follow it.

use super::super::{Array, Kernel, Origin, Part, Reg, Stmt, for_each_stmt};
use super::affine::{Affine, Forms, digits_of};
use super::{has_alias, has_second_name, mentions};
use crate::hash::HashSet;
use std::collections::BTreeSet;

/// Runs the pass.
pub(super) fn run(kernel: &mut Kernel) {
    drop_filled_again(kernel);
    drop_unread(kernel);
}

/// Drops the stores into arrays to work in that nothing reads.
fn drop_unread(kernel: &mut Kernel) {
    let mut read: HashSet<Array> = HashSet::default();
    for_each_stmt(&kernel.body, &mut |stmt| match stmt {
        Stmt::Swap(a, b) => read.extend([*a, *b]),
        stmt => stmt.for_each_part(&mut |part| {
            if let Part::ArrayRead(array) | Part::ArrayChange(array) = part {
                read.insert(*array);
            }
        }),
    });
    let is_dead = |kernel: &Kernel, array: Array| {
        let own =
            matches!(kernel.arrays[array].origin, Origin::Scratch | Origin::ThreadLocal | Origin::Stack(_));
        own && !read.contains(&array) && !has_alias(kernel, array)
    };
    super::rewrite(kernel, &mut |kernel, mut stmts, _| {
        stmts.retain(|stmt| !matches!(stmt, Stmt::Store(array, ..) if is_dead(kernel, *array)));
        stmts
    });
}

/// Drops loops that fill an array which is filled again before it is read.
fn drop_filled_again(kernel: &mut Kernel) {
    let mut dead: HashSet<Reg> = HashSet::default();
    find_in(kernel, &kernel.body, &mut Forms::new(kernel), &mut dead);
    if !dead.is_empty() {
        super::rewrite(kernel, &mut |_, mut stmts, _| {
            stmts.retain(|stmt| index_of(stmt).is_none_or(|index| !dead.contains(&index)));
            stmts
        });
    }
}

fn index_of(stmt: &Stmt) -> Option<Reg> {
    match stmt {
        Stmt::For { index, .. } | Stmt::ParallelFor { index, .. } => Some(*index),
        _ => None,
    }
}

/// Collects the indices of the loops that are dropped.
fn find_in(kernel: &Kernel, stmts: &[Stmt], forms: &mut Forms<'_>, dead: &mut HashSet<Reg>) {
    for (at, stmt) in stmts.iter().enumerate() {
        if let Some((index, array)) = filled(kernel, stmt) {
            let next = stmts[at + 1..].iter().find(|later| mentions(later, array) || later.leaves());
            let again = next.is_some_and(|next| {
                !loads(next, array) && fill(kernel, std::slice::from_ref(next), array, &mut Vec::new(), forms)
            });
            if again {
                dead.insert(index);
                continue;
            }
        }
        for body in stmt.bodies() {
            find_in(kernel, body, forms, dead);
        }
    }
}

/// The index of a loop that does nothing but store into one array, and the array.
fn filled(kernel: &Kernel, stmt: &Stmt) -> Option<(Reg, Array)> {
    let index = index_of(stmt)?;
    let mut arrays: Vec<Array> = Vec::new();
    let mut plain = true;
    for_each_stmt(std::slice::from_ref(stmt), &mut |inner| match inner {
        Stmt::Store(array, ..) => arrays.push(*array),
        Stmt::Let(..) | Stmt::For { .. } | Stmt::ParallelFor { .. } => {}
        _ => plain = false,
    });
    arrays.dedup();
    let [array] = arrays[..] else { return None };
    (plain && !has_second_name(kernel, array) && !loads(stmt, array)).then_some((index, array))
}

/// Returns true if statements store into each slot of an array; `digits` are the indices of the
/// loops around, with their numbers of rounds.
fn fill(
    kernel: &Kernel,
    stmts: &[Stmt],
    array: Array,
    digits: &mut Vec<(Reg, i64)>,
    forms: &mut Forms<'_>,
) -> bool {
    let stored: Vec<Affine> = stmts
        .iter()
        .filter_map(|stmt| match stmt {
            Stmt::Store(stored, at, _) if *stored == array => Some(forms.of(*at)),
            _ => None,
        })
        .collect();
    // A loop whose index is not in the slot number has to run at all.
    let run = digits.iter().all(|(_, rounds)| *rounds > 0);
    let is_dense = |first: &Affine| {
        let beside = stored.iter().filter(|form| form.terms == first.terms).map(|form| form.constant);
        let constants: BTreeSet<i64> = beside.collect();
        let unit = constants.len() as i64;
        constants.into_iter().eq(0..unit)
            && digits_of(&first.terms, digits, unit, kernel.slots[array]).is_some()
    };
    if run && stored.iter().any(is_dense) {
        return true;
    }
    stmts.iter().any(|stmt| {
        let (index, low, high, body) = match stmt {
            Stmt::For { index, low, high, body, .. } => (*index, Some(*low), *high, body),
            Stmt::ParallelFor { index, count, body } => (*index, None, *count, body),
            _ => return false,
        };
        if low.is_some_and(|low| forms.constant(low) != Some(0)) || body.iter().any(Stmt::leaves) {
            return false;
        }
        let Some(rounds) = forms.constant(high) else { return false };
        digits.push((index, rounds));
        let found = fill(kernel, body, array, digits, forms);
        digits.pop();
        found
    })
}

fn loads(stmt: &Stmt, array: Array) -> bool {
    let mut found = false;
    for_each_stmt(std::slice::from_ref(stmt), &mut |inner| {
        inner.for_each_part(&mut |part| {
            found |= matches!(part, Part::ArrayRead(read) | Part::ArrayChange(read) if *read == array);
        });
    });
    found
}
