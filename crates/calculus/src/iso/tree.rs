//! Trees of sizes and of storage words, shared and simplified, under assumptions about variables.
//!
//! Takes types; gives nodes of an arena ([`Trees`]) with hash-consing: equal nodes have equal
//! numbers, so that a declaration used twice in each of two hundred others is two hundred nodes. A
//! *size* tree is a natural number built with `+`, `·`, `^` and pairs; a *word* tree is a sequence
//! of storage slots: letters, concatenations and repetitions. The number of values of any type is a
//! size tree, too, scalars being variables.
//!
//! **Classes.** Whether a size is 0, 1, 2 or more depends only on which of those its parts are
//! (`n(n - 1)/2` is 0, 0, 1, more; 3 stands for more). Each node holds the set of classes that it
//! may have, given those of its variables (an abstract interpretation: P. Cousot and R. Cousot
//! 1977), and is a number where only one of 0, 1 and 2 is left. So assumptions such as `N = 0`
//! simplify: `0 ^ N` to 1, `0 ^ (N + 1)` to 0.
//!
//! Decides nothing: [`super::exact`] does.

use crate::cancellation;
use crate::hash::HashMap;
use crate::types::{MAX_SIZE_BITS, NominalBody, Triangle, Type, TypeKind};
use num_bigint::BigUint;
use num_traits::{One, ToPrimitive, Zero};

/// The number of a size node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SizeId(u32);

/// The number of a word node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct WordId(u32);

/// A size.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Size {
    /// A number.
    Number(BigUint),
    /// A variable, and the classes it may have.
    Variable(u32, Classes),
    /// The count of a closed declared type: an unknown of at least 2 for its name and the counts
    /// of the arguments that it is functorial in.
    Unknown(u32, Vec<SizeId>),
    /// An operation on two parts or more.
    Sum(Vec<SizeId>),
    /// An operation on two parts or more.
    Product(Vec<SizeId>),
    /// Base and exponent.
    Power(SizeId, SizeId),
    /// `n(n - 1)/2`
    Pairs(SizeId),
}

/// Storage slots.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Word {
    /// One integer below a size other than 1.
    Compact(SizeId),
    /// A slot that is the same only for the same type, or the same closed type of the same words.
    Letter(u32, Vec<WordId>),
    /// No word, or two or more in sequence.
    Concatenation(Vec<WordId>),
    /// A word repeated.
    Repetition(WordId, SizeId),
    /// The tagged sum of some cases.
    Cases(Vec<WordId>),
    /// The tagged sum of one case repeated.
    Copies(WordId, SizeId),
}

/// A set of classes 0, 1, 2, 3 (3 or more), as bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Classes(u8);

impl Classes {
    /// Any natural number.
    pub const ANY: Classes = Classes(0b1111);
    /// 2 or more.
    pub const SEVERAL: Classes = Classes(0b1100);
    /// 0.
    const ZERO: Classes = Classes(0b0001);
    /// 0 or 1.
    const UP_TO_ONE: Classes = Classes(0b0011);

    /// Returns the class of a number.
    fn of(n: &BigUint) -> Classes {
        Classes(1 << n.to_u8().unwrap_or(3).min(3))
    }

    /// Returns the only number of the set, if it is 0, 1 or 2.
    fn number(self) -> Option<u32> {
        (self.0.is_power_of_two() && self.0 < 0b1000).then(|| self.0.trailing_zeros())
    }

    /// Returns true if the number is 0 for certain.
    pub fn is_zero(self) -> bool {
        self == Classes::ZERO
    }

    /// Returns true if the number may be 0.
    pub fn may_be_zero(self) -> bool {
        self.0 & Classes::ZERO.0 != 0
    }

    /// Returns true if the number may be 0 or 1.
    pub fn may_be_up_to_one(self) -> bool {
        self.0 & Classes::UP_TO_ONE.0 != 0
    }

    /// Returns the least class and the others, if there are several.
    pub fn split_least(self) -> Option<(Classes, Classes)> {
        let least = self.0 & self.0.wrapping_neg();
        (self.0 != least).then_some((Classes(least), Classes(self.0 & !least)))
    }

    /// Returns the classes of an operation on two sizes.
    fn combine(self, other: Classes, class: impl Fn(u32, u32) -> u32) -> Classes {
        let mut all = 0;
        for a in (0..4).filter(|a| self.0 & 1 << a != 0) {
            for b in (0..4).filter(|b| other.0 & 1 << b != 0) {
                all |= 1 << class(a, b).min(3);
            }
        }
        Classes(all)
    }
}

/// The meaning of a variable of size trees.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Name {
    /// A size variable, by its number.
    Variable(u32),
    /// The count, or the identity, of a type.
    Type(Type),
}

/// Parts of a sum, product or concatenation that nested ones are spliced into, at most; larger ones
/// stay shared.
const MAX_SPLICED_PARTS: usize = 256;

/// Nesting at which declared types are unfolded, at most.
pub const MAX_DEPTH: u32 = 1_200;

/// Declared types unfolded, at most: recursion with growing arguments produces new types without
/// bound.
pub const MAX_UNFOLDED_TYPES: u32 = 4_000;

/// The arena of trees.
#[derive(Default)]
pub struct Trees {
    /// The number of declared types unfolded so far.
    unfolded_types: u32,
    /// See [`Trees::is_truncated`].
    truncated: bool,
    /// The size nodes, with their classes and true if pairs occur in them.
    sizes: Vec<(Size, Classes, bool)>,
    /// The numbers of size nodes.
    size_ids: HashMap<Size, SizeId>,
    /// The word nodes.
    words: Vec<Word>,
    /// The numbers of word nodes.
    word_ids: HashMap<Word, WordId>,
    /// The numbers of variables and of types as names.
    names: HashMap<Name, u32>,
    /// The sizes of types computed so far.
    sizes_of: HashMap<Type, SizeId>,
    /// The words of types computed so far.
    words_of: HashMap<Type, WordId>,
    /// The numbers of values of types computed so far.
    counts_of: HashMap<Type, SizeId>,
}

impl Trees {
    /// Returns a size by its number.
    pub fn size(&self, id: SizeId) -> &Size {
        &self.sizes[id.0 as usize].0
    }

    /// Returns a word by its number.
    pub fn word(&self, id: WordId) -> &Word {
        &self.words[id.0 as usize]
    }

    /// Returns the classes that a size may have.
    pub fn classes(&self, id: SizeId) -> Classes {
        self.sizes[id.0 as usize].1
    }

    /// Returns true if pairs occur in a size.
    pub fn has_pairs(&self, id: SizeId) -> bool {
        self.sizes[id.0 as usize].2
    }

    /// Returns true if some declared type was not unfolded because of the bounds, so that different
    /// words or sizes may be equal.
    pub fn is_truncated(&self) -> bool {
        self.truncated
    }

    /// Returns true if a declared type may be unfolded at this depth; notes otherwise that the
    /// trees are truncated.
    fn may_unfold(&mut self, depth: u32) -> bool {
        self.unfolded_types += 1;
        let opens = depth < MAX_DEPTH && self.unfolded_types < MAX_UNFOLDED_TYPES;
        self.truncated |= !opens;
        opens
    }

    /// Returns the number of nodes.
    pub fn len(&self) -> usize {
        self.sizes.len() + self.words.len()
    }

    /// Returns a number node.
    fn number(&mut self, n: BigUint) -> SizeId {
        self.intern(Size::Number(n))
    }

    /// Returns the number of a size node, simplified to a number where its classes allow.
    fn intern(&mut self, size: Size) -> SizeId {
        cancellation::poll();
        if let Some(known) = self.size_ids.get(&size) {
            return *known;
        }
        let of = |id: &SizeId| self.classes(*id);
        let fold = |parts: &[SizeId], start: u8, class: fn(u32, u32) -> u32| {
            parts.iter().fold(Classes(1 << start), |all, part| all.combine(of(part), class))
        };
        let classes = match &size {
            Size::Number(n) => Classes::of(n),
            Size::Variable(_, classes) => *classes,
            Size::Unknown(..) => Classes::SEVERAL,
            Size::Sum(parts) => fold(parts, 0, |a, b| a + b),
            Size::Product(parts) => fold(parts, 1, |a, b| a * b),
            Size::Power(base, exponent) => of(base).combine(of(exponent), u32::pow),
            Size::Pairs(n) => {
                of(n).combine(Classes::ZERO, |n, _| if n == 3 { 3 } else { n * n.saturating_sub(1) / 2 })
            }
        };
        let pairs = match &size {
            Size::Number(_) | Size::Variable(..) | Size::Unknown(..) => false,
            Size::Sum(parts) | Size::Product(parts) => parts.iter().any(|part| self.has_pairs(*part)),
            Size::Power(base, exponent) => self.has_pairs(*base) || self.has_pairs(*exponent),
            Size::Pairs(_) => true,
        };
        if let Some(n) = classes.number()
            && !matches!(size, Size::Number(_))
        {
            return self.number(n.into());
        }
        let id = SizeId(self.sizes.len() as u32);
        self.sizes.push((size.clone(), classes, pairs));
        self.size_ids.insert(size, id);
        id
    }

    /// Returns the number of a word node.
    fn intern_word(&mut self, word: Word) -> WordId {
        cancellation::poll();
        if let Some(known) = self.word_ids.get(&word) {
            return *known;
        }
        let id = WordId(self.words.len() as u32);
        self.words.push(word.clone());
        self.word_ids.insert(word, id);
        id
    }

    /// Returns the value of a number node.
    fn as_number(&self, id: SizeId) -> Option<&BigUint> {
        match self.size(id) {
            Size::Number(n) => Some(n),
            _ => None,
        }
    }

    /// Returns true if a size is this number.
    fn equals_number(&self, id: SizeId, n: u32) -> bool {
        self.as_number(id).is_some_and(|number| *number == n.into())
    }

    /// Returns a sum, nested ones spliced in and constants added.
    fn sum(&mut self, parts: Vec<SizeId>) -> SizeId {
        let mut constant = BigUint::zero();
        let mut rest = Vec::new();
        for part in parts {
            match self.size(part) {
                Size::Number(n) => constant += n,
                Size::Sum(inner) if rest.len() + inner.len() <= MAX_SPLICED_PARTS => {
                    rest.extend(inner.iter().copied())
                }
                _ => rest.push(part),
            }
        }
        if !constant.is_zero() {
            rest.push(self.number(constant));
        }
        match rest[..] {
            [] => self.number(BigUint::zero()),
            [only] => only,
            _ => self.intern(Size::Sum(rest)),
        }
    }

    /// Returns a product, nested ones spliced in and constants multiplied.
    fn product(&mut self, parts: Vec<SizeId>) -> SizeId {
        let mut constant = BigUint::one();
        let mut rest = Vec::new();
        for part in parts {
            match self.size(part) {
                Size::Number(n) if constant.bits() + n.bits() <= MAX_SIZE_BITS => constant *= n,
                Size::Product(inner) if rest.len() + inner.len() <= MAX_SPLICED_PARTS => {
                    rest.extend(inner.iter().copied())
                }
                _ => rest.push(part),
            }
        }
        if constant.is_zero() {
            return self.number(constant);
        }
        let mut rest = self.powers(rest);
        if !constant.is_one() {
            rest.push(self.number(constant));
        }
        match rest[..] {
            [] => self.number(BigUint::one()),
            [only] => only,
            _ => self.intern(Size::Product(rest)),
        }
    }

    /// Returns the factors with the powers of each base joined: `b^e · b^f = b^(e + f)`.
    fn powers(&mut self, factors: Vec<SizeId>) -> Vec<SizeId> {
        let mut bases: Vec<SizeId> = Vec::new();
        let mut exponents: HashMap<SizeId, Vec<SizeId>> = HashMap::default();
        for factor in &factors {
            let (base, exponent) = match *self.size(*factor) {
                Size::Power(base, exponent) => (base, exponent),
                _ => (*factor, self.number(BigUint::one())),
            };
            let of_base = exponents.entry(base).or_default();
            if of_base.is_empty() {
                bases.push(base);
            }
            of_base.push(exponent);
        }
        if bases.len() == factors.len() {
            return factors;
        }
        let mut powers = Vec::new();
        for base in bases {
            let exponent = exponents.remove(&base).map(|all| self.sum(all));
            powers.extend(exponent.map(|exponent| self.power(base, exponent)));
        }
        powers
    }

    /// Returns a power, simplified.
    fn power(&mut self, base: SizeId, exponent: SizeId) -> SizeId {
        if self.equals_number(exponent, 0) || self.equals_number(base, 1) {
            return self.number(BigUint::one());
        }
        if self.equals_number(exponent, 1) {
            return base;
        }
        if let (Some(n), Some(e)) =
            (self.as_number(base), self.as_number(exponent).and_then(ToPrimitive::to_u32))
            && n.bits().saturating_mul(e.into()) <= MAX_SIZE_BITS
        {
            let power = n.pow(e);
            return self.number(power);
        }
        if let Size::Power(inner, first) = *self.size(base) {
            let exponent = self.product(vec![first, exponent]);
            return self.power(inner, exponent);
        }
        self.intern(Size::Power(base, exponent))
    }

    /// Returns `n(n - 1)/2`.
    fn pairs(&mut self, n: SizeId) -> SizeId {
        match self.as_number(n) {
            Some(n) if n.bits() * 2 <= MAX_SIZE_BITS => {
                let pairs = Triangle::Below.count(n);
                self.number(pairs)
            }
            _ => self.intern(Size::Pairs(n)),
        }
    }

    /// Returns a variable by its meaning.
    fn variable(&mut self, name: Name, classes: Classes) -> SizeId {
        let next = self.names.len() as u32;
        let id = *self.names.entry(name).or_insert(next);
        self.intern(Size::Variable(id, classes))
    }

    /// Returns the number of a type as a name.
    fn name_id(&mut self, ty: &Type) -> u32 {
        let next = self.names.len() as u32;
        *self.names.entry(Name::Type(ty.clone())).or_insert(next)
    }

    /// Returns the size of a compact linear type.
    pub fn size_of(&mut self, ty: &Type) -> SizeId {
        self.size_at(ty, 0)
    }

    /// Returns the size of a compact linear type inside `depth` declared types; memoized.
    fn size_at(&mut self, ty: &Type, depth: u32) -> SizeId {
        if let Some(known) = self.sizes_of.get(ty) {
            return *known;
        }
        let mut all =
            |parts: &[Type]| parts.iter().map(|part| self.size_at(part, depth + 1)).collect::<Vec<_>>();
        let size = match ty.kind() {
            TypeKind::UnitSum(n) => self.number(n.clone()),
            TypeKind::Places(set) => self.number(set.count().into()),
            TypeKind::CompactProduct(parts) => {
                let parts = all(parts);
                self.product(parts)
            }
            TypeKind::CompactSum(parts) => {
                let parts = all(parts);
                self.sum(parts)
            }
            TypeKind::CompactPower(base, exponent) => {
                let (base, exponent) = (self.size_at(base, depth + 1), self.size_at(exponent, depth + 1));
                self.power(base, exponent)
            }
            TypeKind::Triangle(triangle, index) => {
                let n = self.size_at(index, depth + 1);
                let below = self.pairs(n);
                match triangle {
                    Triangle::Below => below,
                    Triangle::Lower => self.sum(vec![below, n]),
                }
            }
            TypeKind::Var(var) => self.variable(Name::Variable(var.id), Classes::ANY),
            TypeKind::Nominal(..) if self.may_unfold(depth) => match storage_parts(ty).as_deref() {
                Some([definition]) => self.size_at(definition, depth + 1),
                _ => self.variable(Name::Type(ty.clone()), Classes::ANY),
            },
            _ => self.variable(Name::Type(ty.clone()), Classes::ANY),
        };
        self.sizes_of.insert(ty.clone(), size);
        size
    }

    /// Returns the storage slots of a type.
    pub fn word_of(&mut self, ty: &Type) -> WordId {
        self.word_at(ty, 0)
    }

    /// Returns the slots of a type inside `depth` declared types; memoized.
    fn word_at(&mut self, ty: &Type, depth: u32) -> WordId {
        if ty.is_compact() {
            let size = self.size_at(ty, depth);
            return self.compact(size);
        }
        if let Some(known) = self.words_of.get(ty) {
            return *known;
        }
        let opens = matches!(ty.kind(), TypeKind::Nominal(..)) && self.may_unfold(depth);
        let mut all = |parts: &mut dyn Iterator<Item = &Type>| {
            parts.map(|part| self.word_at(part, depth + 1)).collect::<Vec<_>>()
        };
        let word = match ty.kind() {
            TypeKind::Product(parts) => {
                let parts = all(&mut parts.iter());
                self.concatenation(parts)
            }
            TypeKind::Record(fields) => {
                let parts = all(&mut fields.iter().map(|(_, field)| field));
                self.concatenation(parts)
            }
            TypeKind::Array(element, index) => {
                let (word, count) = (self.word_at(element, depth + 1), self.size_at(index, depth + 1));
                self.repetition(word, count)
            }
            TypeKind::Sum(cases) => {
                let cases = all(&mut cases.iter());
                self.cases(cases)
            }
            TypeKind::Repeat(n, case) => {
                let (case, n) = (self.word_at(case, depth + 1), self.size_at(n, depth + 1));
                self.copies(case, n)
            }
            TypeKind::Nominal(..) if opens => match (storage_parts(ty), closed_abstract_type(ty)) {
                (Some(parts), _) => {
                    let parts = all(&mut parts.iter());
                    self.concatenation(parts)
                }
                (None, Some((fixed, free))) => {
                    let free = all(&mut free.iter());
                    let name = self.name_id(&fixed);
                    self.intern_word(Word::Letter(name, free))
                }
                (None, None) => self.letter(ty),
            },
            _ => self.letter(ty),
        };
        self.words_of.insert(ty.clone(), word);
        word
    }

    /// Returns the slot of a type that equals itself only.
    fn letter(&mut self, ty: &Type) -> WordId {
        let name = self.name_id(ty);
        self.intern_word(Word::Letter(name, Vec::new()))
    }

    /// Returns the empty word.
    fn empty(&mut self) -> WordId {
        self.intern_word(Word::Concatenation(Vec::new()))
    }

    /// Returns true for the empty word.
    fn is_empty(&self, id: WordId) -> bool {
        matches!(self.word(id), Word::Concatenation(parts) if parts.is_empty())
    }

    /// Returns a compact slot; the empty word if its size is 1.
    fn compact(&mut self, size: SizeId) -> WordId {
        if self.equals_number(size, 1) { self.empty() } else { self.intern_word(Word::Compact(size)) }
    }

    /// Returns a concatenation, nested ones spliced in.
    fn concatenation(&mut self, parts: Vec<WordId>) -> WordId {
        let mut flat = Vec::new();
        for part in parts {
            match self.word(part) {
                Word::Concatenation(inner) if inner.is_empty() => {}
                Word::Concatenation(inner) if flat.len() + inner.len() <= MAX_SPLICED_PARTS => {
                    flat.extend(inner.iter().copied());
                }
                _ => flat.push(part),
            }
        }
        match flat[..] {
            [only] => only,
            _ => self.intern_word(Word::Concatenation(flat)),
        }
    }

    /// Returns a repetition, simplified.
    fn repetition(&mut self, word: WordId, count: SizeId) -> WordId {
        if self.equals_number(count, 0) || self.is_empty(word) {
            return self.empty();
        }
        if self.equals_number(count, 1) {
            return word;
        }
        match *self.word(word) {
            Word::Repetition(inner, times) => {
                let count = self.product(vec![count, times]);
                self.repetition(inner, count)
            }
            _ => self.intern_word(Word::Repetition(word, count)),
        }
    }

    /// Returns a tagged sum; a compact slot if all cases are units.
    fn cases(&mut self, parts: Vec<WordId>) -> WordId {
        let void = |trees: &Trees, part: WordId| matches!(trees.word(part), Word::Compact(n) if trees.equals_number(*n, 0));
        let parts: Vec<WordId> = parts.into_iter().filter(|part| !void(self, *part)).collect();
        let units: Option<Vec<SizeId>> = parts.iter().map(|part| self.units(*part)).collect();
        if let Some(units) = units {
            let size = self.sum(units);
            return self.compact(size);
        }
        match parts[..] {
            [only] => only,
            _ => self.intern_word(Word::Cases(parts)),
        }
    }

    /// Returns the tagged sum of one case repeated.
    fn copies(&mut self, case: WordId, count: SizeId) -> WordId {
        if let Some(units) = self.units(case) {
            let size = self.product(vec![count, units]);
            return self.compact(size);
        }
        if self.equals_number(count, 0) {
            return self.compact(count);
        }
        if self.equals_number(count, 1) { case } else { self.intern_word(Word::Copies(case, count)) }
    }

    /// Returns the number of unit cases that a case denotes, if it is a compact slot or the unit.
    fn units(&mut self, part: WordId) -> Option<SizeId> {
        match self.word(part) {
            Word::Compact(size) => Some(*size),
            Word::Concatenation(parts) if parts.is_empty() => Some(self.number(BigUint::one())),
            _ => None,
        }
    }

    /// Returns the number of values of a type.
    pub fn count_of(&mut self, ty: &Type) -> SizeId {
        self.count_at(ty, 0)
    }

    /// Returns the number of values of a type inside `depth` declared types; memoized.
    fn count_at(&mut self, ty: &Type, depth: u32) -> SizeId {
        if ty.is_compact() {
            return self.size_at(ty, depth);
        }
        if let Some(known) = self.counts_of.get(ty) {
            return *known;
        }
        let opens = matches!(ty.kind(), TypeKind::Nominal(..)) && self.may_unfold(depth);
        let mut all = |parts: &mut dyn Iterator<Item = &Type>| {
            parts.map(|part| self.count_at(part, depth + 1)).collect::<Vec<_>>()
        };
        let count = match ty.kind() {
            TypeKind::Product(parts) => {
                let parts = all(&mut parts.iter());
                self.product(parts)
            }
            TypeKind::Record(fields) => {
                let parts = all(&mut fields.iter().map(|(_, field)| field));
                self.product(parts)
            }
            TypeKind::Sum(cases) => {
                let cases = all(&mut cases.iter());
                self.sum(cases)
            }
            TypeKind::Repeat(n, case) => {
                let (n, case) = (self.size_at(n, depth + 1), self.count_at(case, depth + 1));
                self.product(vec![n, case])
            }
            TypeKind::Array(base, index) => {
                let (base, index) = (self.count_at(base, depth + 1), self.size_at(index, depth + 1));
                self.power(base, index)
            }
            TypeKind::Function(domain, codomain) if domain.is_compact() => {
                let (base, index) = (self.count_at(codomain, depth + 1), self.size_at(domain, depth + 1));
                self.power(base, index)
            }
            TypeKind::Nominal(..) if opens => match (storage_parts(ty), closed_abstract_type(ty)) {
                (Some(parts), _) => {
                    let parts = all(&mut parts.iter());
                    self.product(parts)
                }
                (None, Some((fixed, free))) => {
                    let free = all(&mut free.iter());
                    let name = self.name_id(&fixed);
                    self.intern(Size::Unknown(name, free))
                }
                (None, None) => self.variable(Name::Type(ty.clone()), Classes::SEVERAL),
            },
            TypeKind::Var(var) => self.variable(Name::Variable(var.id), Classes::ANY),
            _ => self.variable(Name::Type(ty.clone()), Classes::SEVERAL),
        };
        self.counts_of.insert(ty.clone(), count);
        count
    }

    /// Returns a size under the assumption that a variable has certain classes.
    pub fn assume(
        &mut self,
        id: SizeId,
        variable: u32,
        classes: Classes,
        seen: &mut AssumptionMemo,
    ) -> SizeId {
        if let Some(known) = seen.sizes.get(&id) {
            return *known;
        }
        let all = |trees: &mut Trees, parts: &[SizeId], seen: &mut AssumptionMemo| -> Vec<SizeId> {
            parts.iter().map(|part| trees.assume(*part, variable, classes, seen)).collect()
        };
        let assumed = match self.size(id).clone() {
            Size::Number(_) => id,
            Size::Variable(other, _) if other != variable => id,
            Size::Variable(..) => self.intern(Size::Variable(variable, classes)),
            Size::Unknown(name, parts) => {
                let parts = all(self, &parts, seen);
                self.intern(Size::Unknown(name, parts))
            }
            Size::Sum(parts) => {
                let parts = all(self, &parts, seen);
                self.sum(parts)
            }
            Size::Product(parts) => {
                let parts = all(self, &parts, seen);
                self.product(parts)
            }
            Size::Power(base, exponent) => {
                let base = self.assume(base, variable, classes, seen);
                let exponent = self.assume(exponent, variable, classes, seen);
                self.power(base, exponent)
            }
            Size::Pairs(n) => {
                let n = self.assume(n, variable, classes, seen);
                self.pairs(n)
            }
        };
        seen.sizes.insert(id, assumed);
        assumed
    }

    /// Returns a word under the assumption that a variable has certain classes.
    pub fn assume_word(
        &mut self,
        id: WordId,
        variable: u32,
        classes: Classes,
        seen: &mut AssumptionMemo,
    ) -> WordId {
        if let Some(known) = seen.words.get(&id) {
            return *known;
        }
        let all = |trees: &mut Trees, parts: &[WordId], seen: &mut AssumptionMemo| -> Vec<WordId> {
            parts.iter().map(|part| trees.assume_word(*part, variable, classes, seen)).collect()
        };
        let assumed = match self.word(id).clone() {
            Word::Compact(size) => {
                let size = self.assume(size, variable, classes, seen);
                self.compact(size)
            }
            Word::Letter(name, args) => {
                let args = all(self, &args, seen);
                self.intern_word(Word::Letter(name, args))
            }
            Word::Concatenation(parts) => {
                let parts = all(self, &parts, seen);
                self.concatenation(parts)
            }
            Word::Repetition(word, count) => {
                let word = self.assume_word(word, variable, classes, seen);
                let count = self.assume(count, variable, classes, seen);
                self.repetition(word, count)
            }
            Word::Cases(parts) => {
                let parts = all(self, &parts, seen);
                self.cases(parts)
            }
            Word::Copies(word, count) => {
                let word = self.assume_word(word, variable, classes, seen);
                let count = self.assume(count, variable, classes, seen);
                self.copies(word, count)
            }
        };
        seen.words.insert(id, assumed);
        assumed
    }
}

/// The memo of one assumption: the results by node.
#[derive(Default)]
pub struct AssumptionMemo {
    /// The sizes.
    sizes: HashMap<SizeId, SizeId>,
    /// The words.
    words: HashMap<WordId, WordId>,
}

impl AssumptionMemo {
    /// Returns the number of nodes visited.
    pub fn len(&self) -> usize {
        self.sizes.len() + self.words.len()
    }
}

/// Returns the parts whose storage a declared type has, where they are visible: the definition of a
/// newtype or of an abstract type, the unit sum of an enumeration, or the fields of a struct.
pub fn storage_parts(ty: &Type) -> Option<Vec<Type>> {
    let TypeKind::Nominal(nominal, args) = ty.kind() else { return None };
    match nominal.body()? {
        NominalBody::Newtype(_) | NominalBody::Abstract(_) | NominalBody::Variant(_) => {
            nominal.stored_as(args).map(|definition| vec![definition])
        }
        NominalBody::Struct(_) if nominal.has_existential_field() => None,
        NominalBody::Struct(_) => {
            nominal.struct_fields(args).map(|fields| fields.into_iter().map(|(_, field)| field).collect())
        }
    }
}

/// Returns a closed abstract type with its functorial arguments replaced by `1`, and these
/// arguments.
pub fn closed_abstract_type(ty: &Type) -> Option<(Type, Vec<Type>)> {
    let TypeKind::Nominal(nominal, args) = ty.kind() else { return None };
    let layout = nominal.layout()?;
    let fixed = args.iter().zip(layout).map(|(arg, free)| if *free { Type::unit() } else { arg.clone() });
    let fixed = Type::nominal(nominal.clone(), fixed.collect());
    Some((fixed, args.iter().zip(layout).filter(|(_, free)| **free).map(|(arg, _)| arg.clone()).collect()))
}
