//! The exact decision procedure: equality of storage slots, or of numbers of values, of two types.
//!
//! Takes two types; gives `Some(true)` or `Some(false)` for certain, or `None` where the work would
//! exceed the budget. [`super::fingerprint`] refutes equality faster; only this module confirms it.
//!
//! The number of values of a type is an exponential polynomial in its size variables, so equality
//! of counts is Tarski's high school identity problem with variables. The eleven high school
//! identities are not complete for it (A. Wilkie, *On exponentiation: a solution to Tarski's high
//! school algebra problem*, 1981; R. Gurevič, *Equational theory of positive numbers with
//! exponentiation is not finitely axiomatizable*, APAL 49, 1990), but equality is decidable (D.
//! Richardson 1969; A. Macintyre 1981), by the normal form of [`super::size_form`].
//!
//! **Words.** [`super::slot_words`] compares storage slots as polynomials in a shift by one slot,
//! with sizes as exponents, and counts as sizes; sizes are compared in the normal form of
//! [`super::size_form`].
//!
//! **Case splits.** `0 ^ E` is 1 where `E` is 0 and 0 elsewhere, which no normal form above
//! expresses. Where it occurs, a variable of `E` is assumed to be 0, and then not to be 0;
//! [`super::tree`] simplifies under the assumption, until no such power is left. This is a binary
//! decision diagram (R. Bryant 1986) whose nodes are pairs of trees, each visited once. With pairs
//! `n(n - 1)/2` in a base or in an exponent, the variables of `n` are split into 0, 1, 2 and more
//! until `n` is 0, 1 or at least 2, and those of the base below an exponent with pairs until it is
//! 0 or positive.
//!
//! **Soundness.** Within one case all bases of powers with variables in their exponents are sums,
//! products and variables. If the groups sum to 0, `D·(F - G) = 0` holds for the two words `F` and
//! `G` and the product `D` of denominators `X^d - 1`, by laws that hold for all naturals. Where
//! some `d` is 0, let all variables exceed their values by a real `ε > 0`. Sizes are continuous
//! from the right there (a power whose base tends to 0 has an exponent that is constant or tends to
//! 0 like a power of `ε`), no `d` vanishes for small `ε`, and `(X^(E·d) - 1)/(X^d - 1)` tends to
//! `E` as `d` tends to 0, when the word it multiplies tends to the empty one. So `F = G` there,
//! too. Words of letters that are equal stay equal when some letters get a size of 1 and vanish or
//! a sum keeps one case.
//!
//! **Completeness.** Two words that are equal for all valuations are equal for those at which
//! different sizes have different values, and there the grouping is by value. Within the budget,
//! and unless [`Forms::incomplete`] or [`Trees::is_truncated`], `Some(false)` is therefore certain,
//! too.
//!
//! Cost: linear in the type for types built alike. Otherwise one term per letter, and `2^k`
//! monomials for `k` repetitions around a letter that do not cancel. At most [`STEP_BUDGET`] steps,
//! [`MAX_CASES`] cases of variables and [`super::slot_words::MAX_TERMS`] letters.

use super::size_form::{Forms, NormalFormError};
use super::slot_words::Words;
use super::tree::{AssumptionMemo, Classes, Size, SizeId, Trees, Word, WordId};
use crate::hash::HashSet;
use crate::types::Type;

/// Steps of arithmetic for one decision, at most.
pub const STEP_BUDGET: u64 = 500_000;
/// Pairs of trees visited in one decision, at most.
pub const MAX_CASES: usize = 2_000;
/// Refinements of the coprime basis in one comparison, at most.
const MAX_REFINEMENTS: usize = 64;
/// Nodes of the arena, at most.
const MAX_NODES: usize = 1_000_000;

/// Decides whether two types have the same slots at every valuation; `None` beyond the budget.
pub fn same_slots(a: &Type, b: &Type) -> Option<bool> {
    let mut decision = Decision::default();
    let pair = (decision.trees.word_of(a), decision.trees.word_of(b));
    decision.decide(Pair::Words(pair.0, pair.1))
}

/// Decides whether two types have equally many values at every valuation, each scalar being an
/// unknown; `None` beyond the budget.
pub fn same_count(a: &Type, b: &Type) -> Option<bool> {
    let mut decision = Decision::default();
    let pair = (decision.trees.count_of(a), decision.trees.count_of(b));
    decision.decide(Pair::Sizes(pair.0, pair.1))
}

/// Decides whether two compact linear types have the same size at every valuation; `None` beyond
/// the budget.
pub fn same_size(a: &Type, b: &Type) -> Option<bool> {
    same_size_within(a, b, &mut STEP_BUDGET.clone())
}

/// Decides [`same_size`] within `budget` steps, from which those taken are subtracted.
pub fn same_size_within(a: &Type, b: &Type, budget: &mut u64) -> Option<bool> {
    let mut decision = Decision { budget: *budget, ..Decision::default() };
    let pair = (decision.trees.size_of(a), decision.trees.size_of(b));
    let answer = decision.decide(Pair::Sizes(pair.0, pair.1));
    *budget = decision.budget;
    answer
}

/// Two nodes that are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Pair {
    /// Two words of storage.
    Words(WordId, WordId),
    /// Two sizes.
    Sizes(SizeId, SizeId),
}

/// The state of one decision: the trees, the pairs visited and the steps left.
struct Decision {
    /// The trees of all types in the decision.
    trees: Trees,
    /// The steps left.
    budget: u64,
    /// Pairs that are equal, or being decided.
    decided: HashSet<Pair>,
}

impl Default for Decision {
    fn default() -> Decision {
        Decision { trees: Trees::default(), budget: STEP_BUDGET, decided: HashSet::default() }
    }
}

impl Decision {
    /// Decides whether a pair is equal at every valuation, splitting cases where needed.
    fn decide(&mut self, pair: Pair) -> Option<bool> {
        let mut waiting = vec![pair];
        let mut unknown = false;
        while let Some(pair) = waiting.pop() {
            let same = match pair {
                Pair::Words(a, b) => a == b,
                Pair::Sizes(a, b) => a == b,
            };
            if same || !self.decided.insert(pair) {
                continue;
            }
            if self.decided.len() > MAX_CASES || self.trees.len() > MAX_NODES || self.budget == 0 {
                return None;
            }
            if let Some((variable, classes)) = CaseSplit::of(&self.trees, pair) {
                let (least, others) = classes.split_least()?;
                waiting.push(self.assume(pair, variable, others));
                waiting.push(self.assume(pair, variable, least));
                continue;
            }
            match self.compare(pair) {
                // One case in which they differ refutes equality.
                Some(false) => return (!self.trees.is_truncated()).then_some(false),
                Some(true) => {}
                None => unknown = true,
            }
        }
        (!unknown).then_some(true)
    }

    /// Returns the pair under the assumption that a variable is in some classes.
    fn assume(&mut self, pair: Pair, variable: u32, classes: Classes) -> Pair {
        let mut seen = AssumptionMemo::default();
        let assumed = match pair {
            Pair::Words(a, b) => Pair::Words(
                self.trees.assume_word(a, variable, classes, &mut seen),
                self.trees.assume_word(b, variable, classes, &mut seen),
            ),
            Pair::Sizes(a, b) => Pair::Sizes(
                self.trees.assume(a, variable, classes, &mut seen),
                self.trees.assume(b, variable, classes, &mut seen),
            ),
        };
        // Each node was visited once to find the variable and once here.
        self.budget = self.budget.saturating_sub(2 * seen.len() as u64);
        assumed
    }

    /// Compares a pair in which no case split is left, by normal forms.
    fn compare(&mut self, pair: Pair) -> Option<bool> {
        let mut forms = Forms::new(self.budget);
        for _ in 0..MAX_REFINEMENTS {
            let mut words = Words::new(&self.trees, forms);
            let answer = match pair {
                Pair::Words(a, b) => words.same_word(a, b),
                Pair::Sizes(a, b) => words.same_size(a, b),
            };
            forms = words.forms;
            match answer {
                Ok(answer) => {
                    self.budget = forms.budget();
                    return answer.filter(|same| *same || !forms.incomplete());
                }
                Err(NormalFormError::Refined) => {}
                Err(NormalFormError::Budget) => break,
            }
        }
        self.budget = forms.budget();
        None
    }
}

/// The search for a variable whose classes have to be split.
struct CaseSplit<'t> {
    /// The trees.
    trees: &'t Trees,
    /// The sizes visited, with true for those visited within a power.
    sizes: HashSet<(SizeId, bool)>,
    /// The words visited.
    words: HashSet<WordId>,
}

impl CaseSplit<'_> {
    /// Returns a variable of the pair to split, and its present classes; `None` if none is left.
    fn of(trees: &Trees, pair: Pair) -> Option<(u32, Classes)> {
        let mut search = CaseSplit { trees, sizes: HashSet::default(), words: HashSet::default() };
        match pair {
            Pair::Words(a, b) => search.word(a).or_else(|| search.word(b)),
            Pair::Sizes(a, b) => search.size(a, false).or_else(|| search.size(b, false)),
        }
    }

    /// Returns a variable of a word to split.
    fn word(&mut self, id: WordId) -> Option<(u32, Classes)> {
        if !self.words.insert(id) {
            return None;
        }
        match self.trees.word(id) {
            Word::Compact(size) => self.size(*size, false),
            Word::Letter(_, parts) | Word::Concatenation(parts) | Word::Cases(parts) => {
                parts.iter().find_map(|part| self.word(*part))
            }
            Word::Repetition(word, count) | Word::Copies(word, count) => {
                self.word(*word).or_else(|| self.size(*count, false))
            }
        }
    }

    /// Returns a variable of a size to split. `in_power`: the size is part of a base or of an
    /// exponent, where pairs matter.
    fn size(&mut self, id: SizeId, in_power: bool) -> Option<(u32, Classes)> {
        // Without pairs the position of a size makes no difference.
        if !self.sizes.insert((id, in_power && self.trees.has_pairs(id))) {
            return None;
        }
        match self.trees.size(id) {
            Size::Number(_) | Size::Variable(..) => None,
            Size::Unknown(_, parts) => parts.iter().find_map(|part| self.size(*part, false)),
            Size::Sum(parts) | Size::Product(parts) => {
                parts.iter().find_map(|part| self.size(*part, in_power))
            }
            Size::Power(base, exponent) => {
                if self.trees.classes(*base).is_zero() {
                    return self.variable(*exponent, &Classes::may_be_zero);
                }
                if self.trees.has_pairs(*exponent) && self.trees.classes(*base).may_be_zero() {
                    return self.variable(*base, &Classes::may_be_zero);
                }
                self.size(*base, true).or_else(|| self.size(*exponent, true))
            }
            Size::Pairs(n) => {
                if in_power && self.trees.classes(*n).may_be_up_to_one() {
                    return self.variable(*n, &Classes::may_be_up_to_one);
                }
                self.size(*n, in_power)
            }
        }
    }

    /// Returns a variable of a size that may have several classes; one for which `open` holds is
    /// preferred.
    fn variable(&self, id: SizeId, open: &dyn Fn(Classes) -> bool) -> Option<(u32, Classes)> {
        let mut any = None;
        let mut seen = HashSet::default();
        let mut waiting = vec![id];
        while let Some(id) = waiting.pop() {
            if !seen.insert(id) {
                continue;
            }
            match self.trees.size(id) {
                Size::Number(_) => {}
                Size::Variable(variable, classes) => {
                    if classes.split_least().is_some() {
                        if open(*classes) {
                            return Some((*variable, *classes));
                        }
                        any = any.or(Some((*variable, *classes)));
                    }
                }
                Size::Unknown(_, parts) | Size::Sum(parts) | Size::Product(parts) => {
                    waiting.extend(parts.iter().rev());
                }
                Size::Power(base, exponent) => waiting.extend([*exponent, *base]),
                Size::Pairs(n) => waiting.push(*n),
            }
        }
        any
    }
}
