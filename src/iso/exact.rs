//! The exact decision: whether two types have the same storage slots, or as many values.
//!
//! Takes two types; gives `Some(true)` or `Some(false)` for certain, or `None` where the work would
//! exceed the budget. [`super::fingerprint`] says "no" sooner; "yes" is said here only.
//!
//! **Words.** A type is, for each valuation of its size variables, a word of storage slots. With `X`
//! for a shift by one slot a word is the polynomial `Σ letter · X^(slots to its right)`. A repetition
//! `w^E` is `w · (X^(E·|w|) - 1) / (X^|w| - 1)`. So each letter of a type comes with a product
//! `X^o · Π (X^u - 1) / Π (X^d - 1)` in which `o`, `u` and `d` are sizes ([`Term`]). Two words are the
//! same iff they have one length and, for each letter, the sum of its products in one word less that
//! in the other is 0. Multiplied by all denominators it is a sum of `± X^size`; sizes in normal form
//! ([`super::size_form`]) are grouped by equality, and each group must sum to 0.
//!
//! A letter is a scalar, a function type, a closed declared type with the words of the arguments that
//! it is functorial in, a compact slot of a size other than 1, or a tagged sum with its list of
//! cases. That list is a word again, of unit cases and other cases; nested sums are spliced in, a
//! list of units is a compact slot and a list of one case is that case.
//!
//! **Cases of variables.** `0 ^ E` is 1 where `E` is 0 and else 0, which no normal form above tells. Where
//! it occurs, a variable of `E` is taken to be 0, and then not to be 0; [`super::tree`] simplifies
//! under the assumption, and so on until no such power is left: a decision diagram, whose nodes are
//! pairs of trees and are visited once. With pairs `n(n - 1)/2` in a base or in an exponent, the
//! variables of `n` are told apart as 0, 1, 2 and more until `n` is 0, 1 or at least 2, and those of
//! the base below an exponent with pairs until it is 0 or not.
//!
//! **Soundness.** Within one case all bases of powers with variables in their exponents are sums,
//! products and variables. If the groups sum to 0, `D·(F - G) = 0` holds for the two words `F` and `G`
//! and the product `D` of denominators `X^d - 1`, by laws that hold for all naturals. Where some `d`
//! is 0, let all variables exceed their values by a real `ε > 0`. Sizes are continuous from the right
//! there (a power whose base tends to 0 has an exponent that is constant or tends to 0 like a power
//! of `ε`), no `d` vanishes for small `ε`, and `(X^(E·d) - 1)/(X^d - 1)` tends to `E` as `d` tends to
//! 0, when the word it multiplies tends to the empty one. So `F = G` there, too. Words of letters that
//! are equal stay equal when some letters get a size of 1 and vanish or a sum keeps one case.
//! **Completeness.** Two words that are the same for all valuations are so for those at which different
//! sizes have different values, and there the grouping is by value. Within the budget, and unless
//! [`Forms::incomplete`], "no" is therefore certain, too.
//!
//! Cost: linear in the type for types built alike. Else one term a letter, and `2^k` monomials for `k`
//! repetitions around a letter that do not cancel. At most [`BUDGET`] steps, [`MAX_CASES`] cases of
//! variables and [`MAX_TERMS`] letters.

use super::size_form::{Form, Forms, Stop};
use super::tree::{Assumed, Classes, Size, SizeId, Trees, Word, WordId};
use crate::hash::{HashMap, HashSet};
use crate::types::Type;
use num_bigint::BigInt;
use num_traits::Zero;
use std::collections::BTreeMap;

/// Steps of arithmetic for one decision.
pub const BUDGET: u64 = 500_000;
/// Cases of variables told apart.
pub const MAX_CASES: usize = 2_000;
/// Letters of one word, as far as the two differ.
pub const MAX_TERMS: usize = 100_000;
/// Times that the basis is made finer.
const MAX_REFINEMENTS: usize = 64;
/// Monomials that a product of `X^u - 1` is multiplied out to.
const MAX_EXPANSION: usize = 4_096;
/// Nodes of the arena.
const MAX_NODES: usize = 1_000_000;

/// Whether two types have the same slots at every valuation.
pub fn same_slots(a: &Type, b: &Type) -> Option<bool> {
    let mut decision = Decision::default();
    let pair = (decision.trees.word_of(a), decision.trees.word_of(b));
    decision.decide(Pair::Words(pair.0, pair.1))
}

/// Whether two types have as many values at every valuation, each scalar being an unknown.
pub fn same_count(a: &Type, b: &Type) -> Option<bool> {
    let mut decision = Decision::default();
    let pair = (decision.trees.count_of(a), decision.trees.count_of(b));
    decision.decide(Pair::Sizes(pair.0, pair.1))
}

/// Whether two compact linear types have the same size at every valuation.
pub fn same_size(a: &Type, b: &Type) -> Option<bool> {
    same_size_within(a, b, &mut BUDGET.clone())
}

/// The same, with so many steps for this question and those that follow.
pub fn same_size_within(a: &Type, b: &Type, budget: &mut u64) -> Option<bool> {
    let mut decision = Decision { budget: *budget, ..Decision::default() };
    let pair = (decision.trees.size_of(a), decision.trees.size_of(b));
    let answer = decision.decide(Pair::Sizes(pair.0, pair.1));
    *budget = decision.budget;
    answer
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Pair {
    Words(WordId, WordId),
    Sizes(SizeId, SizeId),
}

struct Decision {
    trees: Trees,
    budget: u64,
    /// Pairs that are the same, or being decided.
    decided: HashSet<Pair>,
}

impl Default for Decision {
    fn default() -> Decision {
        Decision { trees: Trees::default(), budget: BUDGET, decided: HashSet::default() }
    }
}

impl Decision {
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
            if let Some((variable, classes)) = Cases::of(&self.trees, pair) {
                let (least, others) = classes.halves()?;
                waiting.push(self.assume(pair, variable, others));
                waiting.push(self.assume(pair, variable, least));
                continue;
            }
            match self.compare(pair) {
                // One place where they differ is enough.
                Some(false) => return (!self.trees.cut()).then_some(false),
                Some(true) => {}
                None => unknown = true,
            }
        }
        (!unknown).then_some(true)
    }

    fn assume(&mut self, pair: Pair, variable: u32, classes: Classes) -> Pair {
        let mut seen = Assumed::default();
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
        // Once to find the variable, once here.
        self.budget = self.budget.saturating_sub(2 * seen.len() as u64);
        assumed
    }

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
                Err(Stop::Refined) => {}
                Err(Stop::Budget) => break,
            }
        }
        self.budget = forms.budget();
        None
    }
}

/// The search for a variable that has to be told apart.
struct Cases<'t> {
    trees: &'t Trees,
    sizes: HashSet<(SizeId, bool)>,
    words: HashSet<WordId>,
}

impl Cases<'_> {
    fn of(trees: &Trees, pair: Pair) -> Option<(u32, Classes)> {
        let mut search = Cases { trees, sizes: HashSet::default(), words: HashSet::default() };
        match pair {
            Pair::Words(a, b) => search.word(a).or_else(|| search.word(b)),
            Pair::Sizes(a, b) => search.size(a, false).or_else(|| search.size(b, false)),
        }
    }

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

    /// `in_power`: whether it is part of a base or of an exponent, where pairs count.
    fn size(&mut self, id: SizeId, in_power: bool) -> Option<(u32, Classes)> {
        // Without pairs it makes no difference where a size stands.
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

    /// A variable of a size that is of several classes, one for which `open` holds if there is.
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
                    if classes.halves().is_some() {
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

type Result<T> = std::result::Result<T, Stop>;

/// The number of a form.
type FormId = u32;

/// The number of a letter.
type LetterId = u32;

/// A letter times `X^offset · Π (X^up - 1) / Π (X^down - 1)`; nothing stands on both sides.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Term {
    letter: LetterId,
    offset: FormId,
    up: Vec<FormId>,
    down: Vec<FormId>,
}

/// A word of slots or of cases.
#[derive(Clone, Debug)]
struct Letters {
    length: FormId,
    terms: Vec<Term>,
}

#[derive(Clone, Debug)]
enum Letter {
    /// A compact slot.
    Compact(FormId),
    /// What is the same only by name and by the words of the arguments.
    Named(u32, Vec<Letters>),
    /// A tagged sum: its cases.
    Sum(Letters),
    /// A case without argument.
    Unit,
    /// A case with this argument.
    Case(Letters),
}

/// The repetitions around a word that is being written down.
#[derive(Default)]
struct Context {
    up: Vec<FormId>,
    down: Vec<FormId>,
}

/// Trees of one case of variables as words over letters.
struct Words<'t> {
    trees: &'t Trees,
    forms: Forms,
    numbered: Vec<Form>,
    numbers: HashMap<Form, FormId>,
    letters: Vec<Letter>,
    compact: HashMap<FormId, LetterId>,
    plain: HashMap<u32, LetterId>,
    sizes: HashMap<SizeId, FormId>,
    lengths: HashMap<WordId, FormId>,
    sums: HashMap<WordId, Letters>,
    compared: HashMap<(WordId, WordId), bool>,
    unknowns: Vec<(u32, Vec<FormId>)>,
}

const UNIT: LetterId = 0;
const ZERO: FormId = 0;
const ONE: FormId = 1;

impl Words<'_> {
    fn new(trees: &Trees, forms: Forms) -> Words<'_> {
        let mut words = Words {
            trees,
            forms,
            numbered: Vec::new(),
            numbers: HashMap::default(),
            letters: vec![Letter::Unit],
            compact: HashMap::default(),
            plain: HashMap::default(),
            sizes: HashMap::default(),
            lengths: HashMap::default(),
            sums: HashMap::default(),
            compared: HashMap::default(),
            unknowns: Vec::new(),
        };
        words.number(Form::default());
        words.number(Form::one());
        words
    }

    fn number(&mut self, form: Form) -> FormId {
        if let Some(known) = self.numbers.get(&form) {
            return *known;
        }
        let id = self.numbered.len() as FormId;
        self.numbered.push(form.clone());
        self.numbers.insert(form, id);
        id
    }

    fn add(&mut self, a: FormId, b: FormId) -> Result<FormId> {
        if a == ZERO || b == ZERO {
            return Ok(a.max(b));
        }
        let sum = self.forms.add(&self.numbered[a as usize], &self.numbered[b as usize])?;
        Ok(self.number(sum))
    }

    fn mul(&mut self, a: FormId, b: FormId) -> Result<FormId> {
        let product = self.forms.mul(&self.numbered[a as usize], &self.numbered[b as usize])?;
        Ok(self.number(product))
    }

    /// The normal form of a size.
    fn size(&mut self, id: SizeId) -> Result<FormId> {
        if let Some(known) = self.sizes.get(&id) {
            return Ok(*known);
        }
        let form = match self.trees.size(id) {
            Size::Number(n) => self.number(Form::constant(n.clone())),
            Size::Variable(variable, _) => self.number(Form::variable(*variable)),
            Size::Unknown(name, parts) => {
                let parts = parts.iter().map(|part| self.size(*part)).collect::<Result<Vec<_>>>()?;
                let key = (*name, parts);
                let at = self.unknowns.iter().position(|known| *known == key).unwrap_or_else(|| {
                    self.unknowns.push(key);
                    self.unknowns.len() - 1
                });
                // Apart from all variables of the trees.
                self.number(Form::variable(u32::MAX - at as u32))
            }
            Size::Sum(parts) => {
                let mut sum = ZERO;
                for (part, times) in grouped(parts) {
                    let (part, times) = (self.size(part)?, self.number(Form::constant(times.into())));
                    let part = self.mul(part, times)?;
                    sum = self.add(sum, part)?;
                }
                sum
            }
            Size::Product(parts) => {
                let mut product = ONE;
                for (part, times) in grouped(parts) {
                    let (part, times) = (self.size(part)?, Form::constant(times.into()));
                    let power = self.forms.pow(&self.numbered[part as usize], &times)?;
                    let power = self.number(power);
                    product = self.mul(product, power)?;
                }
                product
            }
            Size::Power(base, exponent) => {
                let (base, exponent) = (self.size(*base)?, self.size(*exponent)?);
                let power =
                    self.forms.pow(&self.numbered[base as usize], &self.numbered[exponent as usize])?;
                self.number(power)
            }
            Size::Pairs(n) => {
                let n = self.size(*n)?;
                let pairs = self.forms.pairs(&self.numbered[n as usize])?;
                self.number(pairs)
            }
        };
        self.sizes.insert(id, form);
        Ok(form)
    }

    fn same_size(&mut self, a: SizeId, b: SizeId) -> Result<Option<bool>> {
        let (a, b) = (self.size(a)?, self.size(b)?);
        self.forms.same(&self.numbered[a as usize], &self.numbered[b as usize])
    }

    fn same_word(&mut self, a: WordId, b: WordId) -> Result<Option<bool>> {
        let (a, b) = self.differing(a, b)?;
        if a.is_empty() && b.is_empty() {
            return Ok(Some(true));
        }
        let (a, b) = (self.concatenation(&a)?, self.concatenation(&b)?);
        Ok(Some(a.length == b.length && self.same_letters(&a, &b)?))
    }

    /// What is left of two words without the parts that correspond at their ends.
    fn differing(&mut self, a: WordId, b: WordId) -> Result<(Vec<WordId>, Vec<WordId>)> {
        let parts = |id: WordId| match self.trees.word(id) {
            Word::Concatenation(parts) => parts.clone(),
            _ => vec![id],
        };
        let (mut left, mut right) = (parts(a), parts(b));
        while let (Some(x), Some(y)) = (left.last(), right.last()) {
            if !self.alike(*x, *y)? {
                break;
            }
            left.pop();
            right.pop();
        }
        let mut front = 0;
        while let (Some(x), Some(y)) = (left.get(front), right.get(front)) {
            if !self.alike(*x, *y)? {
                break;
            }
            front += 1;
        }
        left.drain(..front);
        right.drain(..front);
        Ok((left, right))
    }

    /// Whether two words are the same because they are built alike of the same parts.
    fn alike(&mut self, a: WordId, b: WordId) -> Result<bool> {
        if a == b {
            return Ok(true);
        }
        if let Some(known) = self.compared.get(&(a, b)) {
            return Ok(*known);
        }
        self.forms.charge(1)?;
        let trees = self.trees;
        let alike = match (trees.word(a), trees.word(b)) {
            (Word::Compact(n), Word::Compact(m)) => self.size(*n)? == self.size(*m)?,
            (Word::Repetition(x, n), Word::Repetition(y, m)) | (Word::Copies(x, n), Word::Copies(y, m)) => {
                self.size(*n)? == self.size(*m)? && self.alike(*x, *y)?
            }
            (Word::Concatenation(xs), Word::Concatenation(ys)) | (Word::Cases(xs), Word::Cases(ys)) => {
                self.all_alike(xs, ys)?
            }
            (Word::Letter(x, xs), Word::Letter(y, ys)) => x == y && self.all_alike(xs, ys)?,
            _ => false,
        };
        self.compared.insert((a, b), alike);
        Ok(alike)
    }

    fn all_alike(&mut self, xs: &[WordId], ys: &[WordId]) -> Result<bool> {
        if xs.len() != ys.len() {
            return Ok(false);
        }
        for (x, y) in xs.iter().zip(ys) {
            if !self.alike(*x, *y)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The number of slots.
    fn length(&mut self, id: WordId) -> Result<FormId> {
        if let Some(known) = self.lengths.get(&id) {
            return Ok(*known);
        }
        let trees = self.trees;
        let length = match trees.word(id) {
            Word::Compact(size) => {
                if self.size(*size)? == ONE {
                    ZERO
                } else {
                    ONE
                }
            }
            Word::Letter(..) => ONE,
            Word::Concatenation(parts) => {
                let mut sum = ZERO;
                for part in parts {
                    let part = self.length(*part)?;
                    sum = self.add(sum, part)?;
                }
                sum
            }
            Word::Repetition(word, count) => {
                let (word, count) = (self.length(*word)?, self.size(*count)?);
                self.mul(word, count)?
            }
            Word::Cases(_) | Word::Copies(..) => {
                let mut slot = Letters { length: ZERO, terms: Vec::new() };
                self.slot_of_sum(id, ZERO, &Context::default(), &mut slot.terms)?;
                match slot.terms.first() {
                    None => ZERO,
                    Some(_) => self.sum_length(id)?,
                }
            }
        };
        self.lengths.insert(id, length);
        Ok(length)
    }

    fn concatenation(&mut self, parts: &[WordId]) -> Result<Letters> {
        let mut terms = Vec::new();
        let mut offset = ZERO;
        for part in parts.iter().rev() {
            self.write(*part, offset, &mut Context::default(), &mut terms)?;
            let length = self.length(*part)?;
            offset = self.add(offset, length)?;
        }
        Ok(Letters { length: offset, terms })
    }

    fn letters(&mut self, id: WordId) -> Result<Letters> {
        self.concatenation(&[id])
    }

    /// Writes the letters of a word down, with so many slots to its right.
    fn write(
        &mut self,
        id: WordId,
        offset: FormId,
        context: &mut Context,
        out: &mut Vec<Term>,
    ) -> Result<()> {
        self.forms.charge(1)?;
        if out.len() > MAX_TERMS {
            return Err(Stop::Budget);
        }
        let trees = self.trees;
        match trees.word(id) {
            Word::Compact(size) => {
                let size = self.size(*size)?;
                self.compact(size, offset, context, out)
            }
            Word::Letter(name, args) => {
                let args = args.iter().map(|arg| self.letters(*arg)).collect::<Result<Vec<_>>>()?;
                let letter = self.letter(Letter::Named(*name, args))?;
                self.emit(letter, offset, context, out)
            }
            Word::Concatenation(parts) => {
                let mut offset = offset;
                for part in parts.iter().rev() {
                    self.write(*part, offset, context, out)?;
                    let length = self.length(*part)?;
                    offset = self.add(offset, length)?;
                }
                Ok(())
            }
            Word::Repetition(word, count) => {
                let (length, count) = (self.length(*word)?, self.size(*count)?);
                self.repeat(length, count, context, |words, context| words.write(*word, offset, context, out))
            }
            Word::Cases(_) | Word::Copies(..) => self.slot_of_sum(id, offset, context, out),
        }
    }

    /// Writes something down so many times.
    fn repeat(
        &mut self,
        length: FormId,
        count: FormId,
        context: &mut Context,
        write: impl FnOnce(&mut Self, &mut Context) -> Result<()>,
    ) -> Result<()> {
        if length == ZERO || count == ZERO {
            return Ok(());
        }
        let whole = self.mul(length, count)?;
        context.up.push(whole);
        context.down.push(length);
        write(self, context)?;
        context.up.pop();
        context.down.pop();
        Ok(())
    }

    fn compact(
        &mut self,
        size: FormId,
        offset: FormId,
        context: &Context,
        out: &mut Vec<Term>,
    ) -> Result<()> {
        if size == ONE {
            return Ok(());
        }
        let letter = self.letter(Letter::Compact(size))?;
        self.emit(letter, offset, context, out)
    }

    fn emit(
        &mut self,
        letter: LetterId,
        offset: FormId,
        context: &Context,
        out: &mut Vec<Term>,
    ) -> Result<()> {
        let (mut up, mut down) = (context.up.clone(), context.down.clone());
        self.forms.charge(1 + up.len())?;
        cancel(&mut up, &mut down);
        out.push(Term { letter, offset, up, down });
        Ok(())
    }

    /// The cases of a tagged sum, nested ones spliced in.
    fn sum(&mut self, id: WordId) -> Result<Letters> {
        if let Some(known) = self.sums.get(&id) {
            return Ok(known.clone());
        }
        let trees = self.trees;
        let sum = match trees.word(id) {
            Word::Cases(parts) => {
                let (mut terms, mut offset) = (Vec::new(), ZERO);
                for part in parts.iter().rev() {
                    let cases = self.cases_of(*part)?;
                    self.splice(&cases, offset, &Context::default(), &mut terms)?;
                    offset = self.add(offset, cases.length)?;
                }
                Letters { length: offset, terms }
            }
            Word::Copies(part, count) => {
                let (cases, count) = (self.cases_of(*part)?, self.size(*count)?);
                let mut terms = Vec::new();
                self.repeat(cases.length, count, &mut Context::default(), |words, context| {
                    words.splice(&cases, ZERO, context, &mut terms)
                })?;
                Letters { length: self.mul(cases.length, count)?, terms }
            }
            _ => self.cases_of(id)?,
        };
        self.sums.insert(id, sum.clone());
        Ok(sum)
    }

    /// The cases that a type stands for as a case of a sum.
    fn cases_of(&mut self, id: WordId) -> Result<Letters> {
        if let Word::Cases(_) | Word::Copies(..) = self.trees.word(id) {
            return self.sum(id);
        }
        let word = self.letters(id)?;
        let only = match &word.terms[..] {
            [] => return Ok(units(ONE)),
            [only] if word.length == ONE => Some(only.letter),
            _ => None,
        };
        match only.map(|letter| &self.letters[letter as usize]) {
            Some(Letter::Compact(size)) => Ok(units(*size)),
            Some(Letter::Sum(cases)) => Ok(cases.clone()),
            _ => {
                let letter = self.letter(Letter::Case(word))?;
                let term = Term { letter, offset: ZERO, up: Vec::new(), down: Vec::new() };
                Ok(Letters { length: ONE, terms: vec![term] })
            }
        }
    }

    /// Writes the slot of a tagged sum down.
    fn slot_of_sum(
        &mut self,
        id: WordId,
        offset: FormId,
        context: &Context,
        out: &mut Vec<Term>,
    ) -> Result<()> {
        let cases = self.sum(id)?;
        if cases.terms.iter().all(|term| term.letter == UNIT) {
            return self.compact(cases.length, offset, context, out);
        }
        if let ([only], ONE) = (&cases.terms[..], cases.length)
            && let Letter::Case(word) = &self.letters[only.letter as usize]
        {
            return self.splice(&word.clone(), offset, context, out);
        }
        let letter = self.letter(Letter::Sum(cases))?;
        self.emit(letter, offset, context, out)
    }

    /// The number of slots of a tagged sum that has some: those of its only case, or one.
    fn sum_length(&mut self, id: WordId) -> Result<FormId> {
        let cases = self.sum(id)?;
        if let ([only], ONE) = (&cases.terms[..], cases.length)
            && let Letter::Case(word) = &self.letters[only.letter as usize]
        {
            return Ok(word.length);
        }
        Ok(ONE)
    }

    /// Writes letters down that were written before, within repetitions.
    fn splice(
        &mut self,
        letters: &Letters,
        offset: FormId,
        context: &Context,
        out: &mut Vec<Term>,
    ) -> Result<()> {
        for term in &letters.terms {
            self.forms.charge(1 + context.up.len())?;
            if out.len() > MAX_TERMS {
                return Err(Stop::Budget);
            }
            let mut term = term.clone();
            term.offset = self.add(term.offset, offset)?;
            term.up.extend(&context.up);
            term.down.extend(&context.down);
            cancel(&mut term.up, &mut term.down);
            out.push(term);
        }
        Ok(())
    }

    /// The number of a letter.
    fn letter(&mut self, letter: Letter) -> Result<LetterId> {
        let next = self.letters.len() as LetterId;
        let known = match &letter {
            Letter::Compact(size) => Some(*self.compact.entry(*size).or_insert(next)),
            Letter::Named(name, args) if args.is_empty() => Some(*self.plain.entry(*name).or_insert(next)),
            Letter::Unit => Some(UNIT),
            _ => self.find(&letter)?,
        };
        if let Some(known) = known.filter(|known| *known != next) {
            return Ok(known);
        }
        self.letters.push(letter);
        Ok(next)
    }

    fn find(&mut self, letter: &Letter) -> Result<Option<LetterId>> {
        for at in 0..self.letters.len() {
            self.forms.charge(1)?;
            let same = match (letter, &self.letters[at]) {
                (Letter::Sum(a), Letter::Sum(b)) | (Letter::Case(a), Letter::Case(b))
                    if a.length == b.length =>
                {
                    let b = b.clone();
                    self.same_letters(a, &b)?
                }
                (Letter::Named(name, args), Letter::Named(other, others)) if name == other => {
                    let others = others.clone();
                    let mut same = args.len() == others.len();
                    for (a, b) in args.iter().zip(&others) {
                        same = same && a.length == b.length && self.same_letters(a, b)?;
                    }
                    same
                }
                _ => false,
            };
            if same {
                return Ok(Some(at as LetterId));
            }
        }
        Ok(None)
    }

    /// Whether two words of one length have the same letters at the same places.
    fn same_letters(&mut self, a: &Letters, b: &Letters) -> Result<bool> {
        let mut balance: HashMap<&Term, i64> = HashMap::default();
        for (letters, sign) in [(a, 1), (b, -1)] {
            self.forms.charge(letters.terms.len())?;
            for term in &letters.terms {
                *balance.entry(term).or_default() += sign;
            }
        }
        let mut by_letter: HashMap<LetterId, Vec<(&Term, i64)>> = HashMap::default();
        for (term, times) in balance.into_iter().filter(|(_, times)| *times != 0) {
            by_letter.entry(term.letter).or_default().push((term, times));
        }
        for terms in by_letter.into_values() {
            if !self.vanishes(&terms)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether a sum of terms of one letter is 0.
    fn vanishes(&mut self, terms: &[(&Term, i64)]) -> Result<bool> {
        let mut denominator: Vec<FormId> = Vec::new();
        for (term, _) in terms {
            let (mut missing, mut have) = (term.down.clone(), denominator.clone());
            cancel(&mut missing, &mut have);
            denominator.extend(missing);
        }
        let mut sum: HashMap<FormId, BigInt> = HashMap::default();
        for (term, times) in terms {
            let (mut factors, mut down) = (denominator.clone(), term.down.clone());
            cancel(&mut factors, &mut down);
            factors.extend(&term.up);
            let mut product: HashMap<FormId, BigInt> =
                HashMap::from_iter([(term.offset, BigInt::from(*times))]);
            for factor in factors {
                let mut next: HashMap<FormId, BigInt> = HashMap::default();
                for (exponent, n) in product {
                    let shifted = self.add(exponent, factor)?;
                    *next.entry(shifted).or_default() += &n;
                    *next.entry(exponent).or_default() -= n;
                }
                next.retain(|_, n| !n.is_zero());
                if next.len() > MAX_EXPANSION {
                    return Err(Stop::Budget);
                }
                product = next;
            }
            for (exponent, n) in product {
                *sum.entry(exponent).or_default() += n;
            }
        }
        Ok(sum.values().all(Zero::is_zero))
    }
}

fn units(count: FormId) -> Letters {
    let terms = match count {
        ZERO => Vec::new(),
        ONE => vec![Term { letter: UNIT, offset: ZERO, up: Vec::new(), down: Vec::new() }],
        _ => vec![Term { letter: UNIT, offset: ZERO, up: vec![count], down: vec![ONE] }],
    };
    Letters { length: count, terms }
}

/// The parts that differ, in the order of their numbers, and how often each occurs.
fn grouped(parts: &[SizeId]) -> BTreeMap<SizeId, usize> {
    let mut times = BTreeMap::new();
    parts.iter().for_each(|part| *times.entry(*part).or_default() += 1);
    times
}

/// Sorts two lists and takes away what they have in common.
fn cancel(up: &mut Vec<FormId>, down: &mut Vec<FormId>) {
    up.sort_unstable();
    down.sort_unstable();
    let (mut i, mut j) = (0, 0);
    let (mut left, mut right) = (Vec::new(), Vec::new());
    while i < up.len() || j < down.len() {
        match (up.get(i), down.get(j)) {
            (Some(a), Some(b)) if a == b => {
                i += 1;
                j += 1;
            }
            (Some(a), b) if b.is_none_or(|b| a < b) => {
                left.push(*a);
                i += 1;
            }
            (_, Some(b)) => {
                right.push(*b);
                j += 1;
            }
            _ => break,
        }
    }
    (*up, *down) = (left, right);
}
