//! Words of storage slots in normal form, compared letter by letter.
//!
//! Takes size and word trees of one case of variables ([`super::tree`]); decides whether two words,
//! or two sizes, are equal at every valuation of that case.
//!
//! **Words.** A type is, for each valuation of its size variables, a word of storage slots. With
//! `X` for a shift by one slot a word is the polynomial `Σ letter · X^(slots to its right)`. A
//! repetition `w^E` is `w · (X^(E·|w|) - 1) / (X^|w| - 1)`. So each letter of a type comes with a
//! product `X^o · Π (X^u - 1) / Π (X^d - 1)` in which `o`, `u` and `d` are sizes ([`Term`]). Two
//! words are equal iff they have one length and, for each letter, the sum of its products in one
//! word minus that in the other is 0. Multiplied by all denominators it is a sum of `± X^size`;
//! sizes in normal form ([`super::size_form`]) are grouped by equality, and each group must sum to
//! 0.
//!
//! A letter is a scalar, a function type, a closed declared type with the words of the arguments
//! that it is functorial in, a compact slot of a size other than 1, or a tagged sum with its list
//! of cases. That list is a word again, of unit cases and other cases; nested sums are spliced in,
//! a list of units is a compact slot and a list of one case is that case.
//!
//! Decides one case; [`super::exact`] splits the cases and proves this sound and complete.

use super::size_form::{Form, Forms, NormalFormError};
use super::tree::{Size, SizeId, Trees, Word, WordId};
use crate::hash::HashMap;
use num_bigint::BigInt;
use num_traits::Zero;
use std::collections::BTreeMap;

/// Letters of one word, without common ends, at most.
pub const MAX_TERMS: usize = 100_000;
/// Monomials that a product of `X^u - 1` is multiplied out to, at most.
const MAX_EXPANSION: usize = 4_096;

/// The result of an operation within the budget.
type Result<T> = std::result::Result<T, NormalFormError>;

crate::id::ids! {
    /// The number of a form.
    FormId "";
    /// The number of a letter; equal letters have equal numbers.
    LetterId "";
}

/// A letter times `X^offset · Π (X^up - 1) / Π (X^down - 1)`; no size occurs in both lists.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Term {
    /// The letter.
    letter: LetterId,
    /// The exponent of the shift.
    offset: FormId,
    /// The sizes `up`, with multiplicity.
    up: Vec<FormId>,
    /// The sizes `down`, with multiplicity.
    down: Vec<FormId>,
}

/// A word of slots or of cases.
#[derive(Clone, Debug)]
struct Letters {
    /// The number of slots or cases.
    length: FormId,
    /// The letters with their factors.
    terms: Vec<Term>,
}

/// A letter of a word of slots or of cases.
#[derive(Clone, Debug)]
enum Letter {
    /// A compact slot.
    Compact(FormId),
    /// A slot identified by a name and the words of its arguments.
    Named(u32, Vec<Letters>),
    /// A tagged sum: its cases.
    Sum(Letters),
    /// A case without argument.
    Unit,
    /// A case with this argument.
    Case(Letters),
}

/// The repetitions around the word being written.
#[derive(Default)]
struct Context {
    /// The sizes `up` of [`Term`].
    up: Vec<FormId>,
    /// The sizes `down` of [`Term`].
    down: Vec<FormId>,
}

/// Trees of one case of variables as words over letters.
pub struct Words<'t> {
    /// The trees.
    trees: &'t Trees,
    /// The basis of sizes, which the caller takes over.
    pub forms: Forms,
    /// The forms by number.
    numbered: Vec<Form>,
    /// The numbers of forms.
    numbers: HashMap<Form, FormId>,
    /// The letters by number.
    letters: Vec<Letter>,
    /// The letters that are compact slots, by the form of their size.
    compact: HashMap<FormId, LetterId>,
    /// The letters that are names without arguments, by name.
    plain: HashMap<u32, LetterId>,
    /// The forms of sizes computed so far.
    sizes: HashMap<SizeId, FormId>,
    /// The lengths of words computed so far.
    lengths: HashMap<WordId, FormId>,
    /// The cases of tagged sums computed so far.
    sums: HashMap<WordId, Letters>,
    /// The results of comparisons by structure.
    compared: HashMap<(WordId, WordId), bool>,
    /// The unknown counts, each a name with the forms of its arguments.
    unknowns: Vec<(u32, Vec<FormId>)>,
}

/// The number of the unit case.
const UNIT: LetterId = LetterId(0);
/// The number of the form 0.
const ZERO: FormId = FormId(0);
/// The number of the form 1.
const ONE: FormId = FormId(1);

impl Words<'_> {
    /// Returns an empty set of words over these trees.
    pub fn new(trees: &Trees, forms: Forms) -> Words<'_> {
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

    /// Returns the number of a form; equal forms have equal numbers.
    fn number(&mut self, form: Form) -> FormId {
        if let Some(known) = self.numbers.get(&form) {
            return *known;
        }
        let id = FormId::new(self.numbered.len());
        self.numbered.push(form.clone());
        self.numbers.insert(form, id);
        id
    }

    /// Returns the number of a sum.
    fn add(&mut self, a: FormId, b: FormId) -> Result<FormId> {
        if a == ZERO || b == ZERO {
            return Ok(a.max(b));
        }
        let sum = self.forms.add(&self.numbered[a.index()], &self.numbered[b.index()])?;
        Ok(self.number(sum))
    }

    /// Returns the number of a product.
    fn mul(&mut self, a: FormId, b: FormId) -> Result<FormId> {
        let product = self.forms.mul(&self.numbered[a.index()], &self.numbered[b.index()])?;
        Ok(self.number(product))
    }

    /// Returns the number of the normal form of a size.
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
                // Distinct from all variables of the trees, which are numbered from 0.
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
                    let power = self.forms.pow(&self.numbered[part.index()], &times)?;
                    let power = self.number(power);
                    product = self.mul(product, power)?;
                }
                product
            }
            Size::Power(base, exponent) => {
                let (base, exponent) = (self.size(*base)?, self.size(*exponent)?);
                let power = self.forms.pow(&self.numbered[base.index()], &self.numbered[exponent.index()])?;
                self.number(power)
            }
            Size::Pairs(n) => {
                let n = self.size(*n)?;
                let pairs = self.forms.pairs(&self.numbered[n.index()])?;
                self.number(pairs)
            }
        };
        self.sizes.insert(id, form);
        Ok(form)
    }

    /// Decides whether two sizes are equal; `None` where incompleteness prevents an answer.
    pub fn same_size(&mut self, a: SizeId, b: SizeId) -> Result<Option<bool>> {
        let (a, b) = (self.size(a)?, self.size(b)?);
        self.forms.same(&self.numbered[a.index()], &self.numbered[b.index()])
    }

    /// Decides whether two words are equal; `None` where incompleteness prevents an answer.
    pub fn same_word(&mut self, a: WordId, b: WordId) -> Result<Option<bool>> {
        let (a, b) = self.strip_common_ends(a, b)?;
        if a.is_empty() && b.is_empty() {
            return Ok(Some(true));
        }
        let (a, b) = (self.concatenation(&a)?, self.concatenation(&b)?);
        Ok(Some(a.length == b.length && self.same_letters(&a, &b)?))
    }

    /// Returns the parts of two words without the common ones at both ends.
    fn strip_common_ends(&mut self, a: WordId, b: WordId) -> Result<(Vec<WordId>, Vec<WordId>)> {
        let parts = |id: WordId| match self.trees.word(id) {
            Word::Concatenation(parts) => parts.clone(),
            _ => vec![id],
        };
        let (mut left, mut right) = (parts(a), parts(b));
        while let (Some(x), Some(y)) = (left.last(), right.last()) {
            if !self.same_structure(*x, *y)? {
                break;
            }
            left.pop();
            right.pop();
        }
        let mut front = 0;
        while let (Some(x), Some(y)) = (left.get(front), right.get(front)) {
            if !self.same_structure(*x, *y)? {
                break;
            }
            front += 1;
        }
        left.drain(..front);
        right.drain(..front);
        Ok((left, right))
    }

    /// Returns true if two words are equal by structure: the same constructors on equal parts.
    fn same_structure(&mut self, a: WordId, b: WordId) -> Result<bool> {
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
                self.size(*n)? == self.size(*m)? && self.same_structure(*x, *y)?
            }
            (Word::Concatenation(xs), Word::Concatenation(ys)) | (Word::Cases(xs), Word::Cases(ys)) => {
                self.all_same_structure(xs, ys)?
            }
            (Word::Letter(x, xs), Word::Letter(y, ys)) => x == y && self.all_same_structure(xs, ys)?,
            _ => false,
        };
        self.compared.insert((a, b), alike);
        Ok(alike)
    }

    /// Returns true if two lists of words are equal by structure.
    fn all_same_structure(&mut self, xs: &[WordId], ys: &[WordId]) -> Result<bool> {
        if xs.len() != ys.len() {
            return Ok(false);
        }
        for (x, y) in xs.iter().zip(ys) {
            if !self.same_structure(*x, *y)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns the number of slots of a word.
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

    /// Returns the letters of a concatenation.
    fn concatenation(&mut self, parts: &[WordId]) -> Result<Letters> {
        let mut terms = Vec::new();
        let mut offset = ZERO;
        for part in parts.iter().rev() {
            self.write_word(*part, offset, &mut Context::default(), &mut terms)?;
            let length = self.length(*part)?;
            offset = self.add(offset, length)?;
        }
        Ok(Letters { length: offset, terms })
    }

    /// Returns the letters of a word.
    fn letters(&mut self, id: WordId) -> Result<Letters> {
        self.concatenation(&[id])
    }

    /// Appends the letters of a word with `offset` slots to its right.
    fn write_word(
        &mut self,
        id: WordId,
        offset: FormId,
        context: &mut Context,
        out: &mut Vec<Term>,
    ) -> Result<()> {
        self.forms.charge(1)?;
        if out.len() > MAX_TERMS {
            return Err(NormalFormError::Budget);
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
                    self.write_word(*part, offset, context, out)?;
                    let length = self.length(*part)?;
                    offset = self.add(offset, length)?;
                }
                Ok(())
            }
            Word::Repetition(word, count) => {
                let (length, count) = (self.length(*word)?, self.size(*count)?);
                self.repeat(length, count, context, |words, context| {
                    words.write_word(*word, offset, context, out)
                })
            }
            Word::Cases(_) | Word::Copies(..) => self.slot_of_sum(id, offset, context, out),
        }
    }

    /// Calls `write` in the context of `count` repetitions of a word of `length` slots.
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

    /// Appends a compact slot; nothing if its size is 1.
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

    /// Appends one letter within the repetitions of `context`.
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

    /// Returns the cases of a tagged sum, nested ones spliced in.
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

    /// Returns the cases that a word contributes as a case of a sum.
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
        match only.map(|letter| &self.letters[letter.index()]) {
            Some(Letter::Compact(size)) => Ok(units(*size)),
            Some(Letter::Sum(cases)) => Ok(cases.clone()),
            _ => {
                let letter = self.letter(Letter::Case(word))?;
                let term = Term { letter, offset: ZERO, up: Vec::new(), down: Vec::new() };
                Ok(Letters { length: ONE, terms: vec![term] })
            }
        }
    }

    /// Appends the slot of a tagged sum.
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
            && let Letter::Case(word) = &self.letters[only.letter.index()]
        {
            return self.splice(&word.clone(), offset, context, out);
        }
        let letter = self.letter(Letter::Sum(cases))?;
        self.emit(letter, offset, context, out)
    }

    /// Returns the number of slots of a tagged sum that has some: those of its only case, or one.
    fn sum_length(&mut self, id: WordId) -> Result<FormId> {
        let cases = self.sum(id)?;
        if let ([only], ONE) = (&cases.terms[..], cases.length)
            && let Letter::Case(word) = &self.letters[only.letter.index()]
        {
            return Ok(word.length);
        }
        Ok(ONE)
    }

    /// Appends letters of another word, within the repetitions of `context`.
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
                return Err(NormalFormError::Budget);
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

    /// Returns the number of a letter; equal letters have equal numbers.
    fn letter(&mut self, letter: Letter) -> Result<LetterId> {
        let next = LetterId::new(self.letters.len());
        let known = match &letter {
            Letter::Compact(size) => Some(*self.compact.entry(*size).or_insert(next)),
            Letter::Named(name, args) if args.is_empty() => Some(*self.plain.entry(*name).or_insert(next)),
            Letter::Unit => Some(UNIT),
            _ => self.find_letter(&letter)?,
        };
        if let Some(known) = known.filter(|known| *known != next) {
            return Ok(known);
        }
        self.letters.push(letter);
        Ok(next)
    }

    /// Returns the number of an equal letter met before.
    fn find_letter(&mut self, letter: &Letter) -> Result<Option<LetterId>> {
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
                return Ok(Some(LetterId::new(at)));
            }
        }
        Ok(None)
    }

    /// Returns true if two words of one length have the same letters at the same places.
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
            if !self.sum_is_zero(&terms)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns true if a sum of terms of one letter is 0.
    fn sum_is_zero(&mut self, terms: &[(&Term, i64)]) -> Result<bool> {
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
                    return Err(NormalFormError::Budget);
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

/// Returns a word of `count` unit cases.
fn units(count: FormId) -> Letters {
    let terms = match count {
        ZERO => Vec::new(),
        ONE => vec![Term { letter: UNIT, offset: ZERO, up: Vec::new(), down: Vec::new() }],
        _ => vec![Term { letter: UNIT, offset: ZERO, up: vec![count], down: vec![ONE] }],
    };
    Letters { length: count, terms }
}

/// Returns the distinct parts, in the order of their numbers, with their multiplicities.
fn grouped(parts: &[SizeId]) -> BTreeMap<SizeId, usize> {
    let mut times = BTreeMap::new();
    parts.iter().for_each(|part| *times.entry(*part).or_default() += 1);
    times
}

/// Sorts two lists and removes their common elements.
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
            _ => unreachable!("one of the lists has elements left"),
        }
    }
    (*up, *down) = (left, right);
}
