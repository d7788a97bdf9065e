//! Rewriting steps toward the natural normal form of a word, see [`super::search`].
//!
//! Takes a flat product or sum with normal parts; applies one storage-preserving step where one is
//! possible: joining neighbors, unrolling, splitting off copies, taking roots, rotating, absorbing.
//! The steps are those of word combinatorics with exponents (M. Lothaire, *Combinatorics on Words*,
//! 1983): primitive roots and conjugacy of periods.

use super::laws::{Connective, Law, Witness};
use super::search::Search;
use crate::types::Type;
use crate::types::size::Size;
use num_bigint::BigUint;
use num_traits::{One, ToPrimitive, Zero};
use std::sync::Arc;

/// Parts that a block of constant exponent is unrolled to, at most.
const MAX_WORD_PARTS: usize = 64;

/// Appends one step on `witness.to`, if one is possible; `None` if the search has exceeded its
/// bounds.
pub(super) fn step(search: &mut Search, side: Connective, witness: &mut Witness) -> Option<()> {
    let parts = side.parts(&witness.to);
    if join_neighbors(side, &parts, witness) || unroll_block(side, &parts, witness) {
        return Some(());
    }
    for at in 0..parts.len() {
        let Some(block) = Block::of(side, &parts[at]) else { continue };
        if take_root(side, &parts, at, &block, witness)
            || split_off_copies(side, &parts, at, &block, witness)
            || rotate(side, &parts, at, &block, witness)
            || rotate_deeper(search, side, &parts, at, &block, witness)?
            || absorb_copy(side, &parts, at, &block, witness)
        {
            return Some(());
        }
    }
    Some(())
}

/// A power of a word of two parts or more.
struct Block {
    /// The parts of the base.
    word: Vec<Type>,
    /// The base.
    base: Type,
    /// The exponent.
    exponent: Size,
}

impl Block {
    /// Returns a part as a block; `None` if its base has one part only.
    fn of(side: Connective, part: &Type) -> Option<Block> {
        let (base, exponent) = side.base_and_exponent(part);
        let word = side.parts(&base);
        (word.len() > 1).then_some(())?;
        Some(Block { word, base, exponent: Size::of(&exponent)? })
    }

    /// Returns the constant part of the exponent, if that many copies are few enough to be
    /// unrolled.
    fn unrollable_copies(&self) -> Option<usize> {
        let constant = self.exponent.split_constant().1.to_usize()?;
        (constant.checked_mul(self.word.len())? <= MAX_WORD_PARTS).then_some(constant)
    }
}

/// Returns the power of a base to a size.
fn power_of(side: Connective, base: &Type, exponent: &Size) -> Type {
    side.power(base, exponent.to_type())
}

/// Returns the parts of a word repeated.
fn copies_of(word: &[Type], copies: usize) -> Vec<Type> {
    std::iter::repeat_n(word, copies).flatten().cloned().collect()
}

/// Returns the word with parts `from..to` replaced.
fn splice(side: Connective, parts: &[Type], from: usize, to: usize, middle: Vec<Type>) -> Type {
    side.combine([&parts[..from], &middle, &parts[to..]].concat())
}

/// Joins the first maximal run of neighbors of one base; returns true if the type changed.
fn join_neighbors(side: Connective, parts: &[Type], witness: &mut Witness) -> bool {
    let split: Vec<(Type, Type)> = parts.iter().map(|part| side.base_and_exponent(part)).collect();
    let mut start = 0;
    while start < split.len() {
        let mut end = start + 1;
        while end < split.len() && split[end].0 == split[start].0 {
            end += 1;
        }
        if end > start + 1 {
            let total = split[start..end]
                .iter()
                .try_fold(Size::zero(), |sum, (_, exponent)| sum.add(&Size::of(exponent)?));
            let Some(power) = total.map(|total| power_of(side, &split[start].0, &total)) else {
                return false;
            };
            let before = witness.to.clone();
            witness.apply_law(Law::Concat(side), splice(side, parts, start, end, vec![power]));
            return witness.to != before;
        }
        start = end;
    }
    false
}

/// Unrolls the first short block of constant exponent; returns true if there is one.
fn unroll_block(side: Connective, parts: &[Type], witness: &mut Witness) -> bool {
    for (at, part) in parts.iter().enumerate() {
        let Some(block) = Block::of(side, part) else { continue };
        let (symbolic, _) = block.exponent.split_constant();
        let Some(copies) = block.unrollable_copies().filter(|_| symbolic.is_zero()) else { continue };
        witness.apply_law(Law::Unroll(side), splice(side, parts, at, at + 1, copies_of(&block.word, copies)));
        return true;
    }
    false
}

/// Applies `(v·v)^E = v^(2·E)`: the base folds, then the powers join.
fn take_root(side: Connective, parts: &[Type], at: usize, block: &Block, witness: &mut Witness) -> bool {
    let length = block.word.len();
    let period = (1..length)
        .find(|p| length.is_multiple_of(*p) && block.word.chunks(*p).all(|copy| copy == &block.word[..*p]));
    let Some(period) = period else { return take_root_of_powers(side, parts, at, block, witness) };
    let copies = Size::constant(length / period);
    let base = side.combine(block.word[..period].to_vec());
    let Some(exponent) = block.exponent.mul(&copies) else { return false };
    let mut fold = Witness::identity(&block.base);
    fold.apply_law(Law::Unroll(side), power_of(side, &base, &copies));
    let mut power = Witness::identity(&parts[at]);
    power.apply_inside(vec![(0, Arc::new(fold))]);
    power.apply_law(Law::Curry(side), power_of(side, &base, &exponent));
    apply_at(witness, parts.len(), at, power);
    true
}

/// Applies `(v^M·v)^E = v^((M+1)·E)`: the base is powers and copies of the first block's own base.
fn take_root_of_powers(
    side: Connective,
    parts: &[Type],
    at: usize,
    block: &Block,
    witness: &mut Witness,
) -> bool {
    let Some(root) = block.word.iter().find_map(|part| Block::of(side, part)) else { return false };
    let mut word = block.word.clone();
    let mut fold = Witness::identity(&block.base);
    let mut total = Some(Size::zero());
    let mut i = 0;
    while i < word.len() {
        let (base, mut exponent) = side.base_and_exponent(&word[i]);
        if base != root.base {
            if !word[i..].starts_with(&root.word) {
                return false;
            }
            word.splice(i..i + root.word.len(), [root.base.clone()]);
            fold.apply_law(Law::Unroll(side), side.combine(word.clone()));
            exponent = Type::unit();
        }
        total = total.and_then(|total| total.add(&Size::of(&exponent)?));
        i += 1;
    }
    let whole = total.as_ref().map(|total| power_of(side, &root.base, total));
    let joined = total.and_then(|total| Some(power_of(side, &root.base, &total.mul(&block.exponent)?)));
    let (Some(whole), Some(joined)) = (whole, joined) else { return false };
    fold.apply_law(Law::Concat(side), whole);
    let mut power = Witness::identity(&parts[at]);
    power.apply_inside(vec![(0, Arc::new(fold))]);
    power.apply_law(Law::Curry(side), joined);
    apply_at(witness, parts.len(), at, power);
    true
}

/// Appends a derivation of part `at`, or of the whole when the word has one part only.
fn apply_at(witness: &mut Witness, parts: usize, at: usize, inner: Witness) {
    if parts == 1 { witness.append(inner) } else { witness.apply_inside(vec![(at, Arc::new(inner))]) }
}

/// Applies `w^(E+c) = w^E·w…w`.
fn split_off_copies(
    side: Connective,
    parts: &[Type],
    at: usize,
    block: &Block,
    witness: &mut Witness,
) -> bool {
    let (symbolic, constant) = block.exponent.split_constant();
    if symbolic.is_zero() || constant.is_zero() {
        return false;
    }
    let Some(copies) = block.unrollable_copies() else { return false };
    let power = power_of(side, &block.base, &symbolic);
    let rest = power_of(side, &block.base, &Size::constant(copies));
    witness.apply_law(Law::Concat(side), splice(side, parts, at, at + 1, vec![power.clone(), rest]));
    if copies > 1 {
        let written = [vec![power], copies_of(&block.word, copies)].concat();
        witness.apply_law(Law::Unroll(side), splice(side, parts, at, at + 1, written));
    }
    true
}

/// Applies `x·(u·x)^E = (x·u)^E·x`, for the longest `x` within the last runs of the word before the
/// block and of its base.
fn rotate(side: Connective, parts: &[Type], at: usize, block: &Block, witness: &mut Witness) -> bool {
    let (Some(before), Some(last)) = (at.checked_sub(1).map(|i| &parts[i]), block.word.last()) else {
        return false;
    };
    let ((base, have), (other, need)) = (side.base_and_exponent(before), side.base_and_exponent(last));
    if base != other {
        return false;
    }
    let (Some(have), Some(need)) = (Size::of(&have), Size::of(&need)) else { return false };
    let common = have.common(&need);
    if common.is_zero() {
        return false;
    }
    let without = |run: &Size| run.checked_sub(&common).expect("a common part can be subtracted");
    let (left, kept) = (without(&have), without(&need));
    let moved = power_of(side, &base, &common);
    // Split the run before the block, and the last run within it.
    let mut outside = vec![moved.clone()];
    if !left.is_zero() {
        let left = power_of(side, &base, &left);
        outside.insert(0, left);
        witness.apply_law(Law::Concat(side), splice(side, parts, at - 1, at, outside.clone()));
    }
    let mut word = block.word.clone();
    if !kept.is_zero() {
        let kept = power_of(side, &base, &kept);
        word.pop();
        word.extend([kept, moved.clone()]);
        let mut split = Witness::identity(&block.base);
        split.apply_law(Law::Concat(side), side.combine(word.clone()));
        let mut power = Witness::identity(&parts[at]);
        power.apply_inside(vec![(0, Arc::new(split))]);
        let here = side.parts(&witness.to).len() - (parts.len() - at);
        witness.apply_inside(vec![(here, Arc::new(power))]);
    }
    word.rotate_right(1);
    let block = power_of(side, &side.combine(word), &block.exponent);
    outside.pop();
    outside.extend([block, moved]);
    witness.apply_law(Law::Rotate(side), splice(side, parts, at - 1, at + 1, outside));
    true
}

/// Applies the rotation where the shared end is itself a block: in `(a·b)^(N+M)·(c·b·(a·b)^M)^K`
/// the inner block was moved left in its word, as `(c·(b·a)^M·b)^K`, and the shared end is visible
/// only when the blocks of both words are rotated right.
fn rotate_deeper(
    search: &mut Search,
    side: Connective,
    parts: &[Type],
    at: usize,
    block: &Block,
    witness: &mut Witness,
) -> Option<bool> {
    search.count_step()?;
    let has_blocks = |parts: &[Type]| parts.iter().any(|part| Block::of(side, part).is_some());
    if !has_blocks(&parts[..at]) || !has_blocks(&block.word) {
        return Some(false);
    }
    let after = parts.len() - at;
    let mut turned = Witness::identity(&witness.to);
    rotate_blocks_right(side, &mut turned, after);
    let mut inner = Witness::identity(&block.base);
    rotate_blocks_right(side, &mut inner, 0);
    let here = side.parts(&turned.to).len() - after;
    let mut power = Witness::identity(&parts[at]);
    power.apply_inside(vec![(0, Arc::new(inner))]);
    turned.apply_inside(vec![(here, Arc::new(power))]);
    let parts = side.parts(&turned.to);
    let Some(block) = parts.get(here).and_then(|part| Block::of(side, part)) else { return Some(false) };
    // Shared letters are found without rotation, so only shared blocks count.
    let shares = block.word.last().is_some_and(|last| Block::of(side, last).is_some());
    let found = shares && rotate(side, &parts, here, &block, &mut turned);
    if found {
        witness.append(turned);
    }
    Some(found)
}

/// Moves blocks right in a word, `(x·u)^E·x = x·(u·x)^E`, except within its last `fixed` parts.
fn rotate_blocks_right(side: Connective, witness: &mut Witness, fixed: usize) {
    for _ in 0..MAX_WORD_PARTS {
        let parts = side.parts(&witness.to);
        let end = parts.len() - fixed;
        let before = witness.to.clone();
        for at in 0..end.saturating_sub(1) {
            let Some(block) = Block::of(side, &parts[at]) else { continue };
            if let Some(turned) = rotate_block_right(side, &parts, at, &block) {
                witness.append(turned);
                break;
            }
        }
        if witness.to == before {
            return;
        }
    }
}

/// Applies `(x·u)^E·x = x·(u·x)^E` to the block at `at`, with `x` within the first run after it.
fn rotate_block_right(side: Connective, parts: &[Type], at: usize, block: &Block) -> Option<Witness> {
    let ((base, have), (other, need)) =
        (side.base_and_exponent(&parts[at + 1]), side.base_and_exponent(&block.word[0]));
    let (have, need) = (Size::of(&have)?, Size::of(&need)?);
    let common = have.common(&need);
    if base != other || common.is_zero() {
        return None;
    }
    let mut witness = Witness::identity(&side.combine(parts.to_vec()));
    let moved = power_of(side, &base, &common);
    let without = |run: &Size| run.checked_sub(&common).expect("a common part can be subtracted");
    let (left, kept) = (without(&have), without(&need));
    let mut rest = Vec::new();
    if !left.is_zero() {
        rest.push(power_of(side, &base, &left));
        let split = [std::slice::from_ref(&moved), &rest].concat();
        witness.apply_law(Law::Concat(side), splice(side, parts, at + 1, at + 2, split));
    }
    let mut word = block.word.clone();
    if !kept.is_zero() {
        word.splice(0..1, [moved.clone(), power_of(side, &base, &kept)]);
        let mut split = Witness::identity(&block.base);
        split.apply_law(Law::Concat(side), side.combine(word.clone()));
        let mut power = Witness::identity(&parts[at]);
        power.apply_inside(vec![(0, Arc::new(split))]);
        witness.apply_inside(vec![(at, Arc::new(power))]);
    }
    word.rotate_left(1);
    let base = side.combine(word);
    let power = power_of(side, &base, &block.exponent);
    let turned = [vec![moved, power.clone()], rest].concat();
    witness.apply_law(Law::Rotate(side), splice(side, parts, at, at + 2, turned));
    // The part rotated to the end may join its neighbor there.
    let mut joined = Witness::identity(&base);
    join_neighbors(side, &side.parts(&base), &mut joined);
    let mut inner = Witness::identity(&power);
    inner.apply_inside(vec![(0, Arc::new(joined))]);
    if side.parts(&witness.to).get(at + 1) == Some(&power) {
        witness.apply_inside(vec![(at + 1, Arc::new(inner))]);
    }
    Some(witness)
}

/// Applies `w^c·w = w^(c+1)`, for blocks too long to be unrolled.
fn absorb_copy(side: Connective, parts: &[Type], at: usize, block: &Block, witness: &mut Witness) -> bool {
    let after = &parts[at + 1..];
    if block.unrollable_copies().is_some() || !after.starts_with(&block.word) {
        return false;
    }
    let end = at + 1 + block.word.len();
    let Some(exponent) = block.exponent.add(&Size::constant(BigUint::one())) else { return false };
    let power = power_of(side, &block.base, &exponent);
    let grouped = vec![parts[at].clone(), block.base.clone()];
    // Grouping is unrolling read backwards; it must not make equal neighbors of the two.
    witness.apply_law(Law::Unroll(side), splice(side, parts, at, end, grouped));
    let here = splice(side, parts, at, end, vec![power]);
    witness.apply_law(Law::Concat(side), here);
    true
}
