//! Fast refutation: types whose fingerprints differ have different slots, or different numbers of
//! values.
//!
//! The method is randomized identity testing by evaluation at a point modulo a prime (J. Schwartz
//! 1980; R. Zippel 1979), with Karp–Rabin fingerprints for words (R. Karp and M. Rabin 1987).
//!
//! **Slots.** A type is, for each valuation of its size variables, a word of storage slots. A word
//! is fingerprinted as the polynomial `Σ code(slot_i)·B^(n-i)` at a point `B` modulo a prime, which
//! composes: a product of words costs one multiplication by `B^length`, and a power `w^E` is
//! `w·(L^E - 1)/(L - 1)` with `L = B^|w|`. Lengths and exponents are [`super::residue`] numbers, so
//! `10^21` elements or `2\^4096` of them cost what two cost, and nothing is ever expanded. The code
//! of a compact slot is derived from its size, of a scalar from its name, of a sum from the
//! fingerprint of its cases (a second word, over unit cases and case words).
//!
//! **One random valuation suffices.** Call the slot word of a type at a valuation `w(v)`. Two such
//! words agree iff, as polynomials in `B`, sums of terms `code·B^R(v)` over products of `1 -
//! B^Q(v)` agree, and that depends only on which of finitely many exponential polynomials `R`
//! coincide at `v`. Two of them that are not the same polynomial differ at nearly all `v`. So
//! agreement at a random large `v` is agreement as parametric words, and these specialize to every
//! `v`, also to those where a slot has one value and vanishes or a sum has one case and unwraps. A
//! large `v` misses only powers of a *void* base: `0^N` is 0 there and 1 at `N = 0`. Hence each
//! variable met in the exponent of a void base is also tried at 0 and at 1, in all combinations
//! (whether an expression without subtraction is 0, is 1 or is more depends only on which of its
//! variables are). With pairs, `n(n - 1)/2`, an exponent may vanish at 1 and be 1 at 2: variables
//! are then tried at 2 as well, for whether sums, products, powers and pairs are 0, 1, 2 or more
//! depends only on which of those their parts are. The same argument covers counts, with a random
//! number for every scalar and every opaque type.
//!
//! So a difference is certain. Agreement is evidence only: the points and primes are fixed, and
//! types can be constructed that agree there and nowhere else. [`super::exact`] confirms equality.
//!
//! Cost: linear in the type, about a microsecond a node.
//!
//! Sizes with pairs are polynomials with halves, and their residues are exact: [`super::residue`]
//! carries a spare bit for each halving within another, up to [`Ring::MAX_SPARE_BITS`]. Types with
//! pairs nested deeper are not refuted here.
//!
//! Knows no laws and gives no reasons: [`super::search`] and [`mod@super::verify`] do.

use super::residue::{self, EXACT_BELOW, Number, Ring};
use super::tree::{MAX_DEPTH, MAX_UNFOLDED_TYPES, closed_abstract_type, storage_parts};
use crate::cancellation;
use crate::hash::{HashMap, HashSet};
use crate::types::variable_numbers::UNKNOWN_SIZES;
use crate::types::{Triangle, Type, TypeKind};

/// Returns true if two types have the same slots at the points of evaluation.
pub fn same_slots(a: &Type, b: &Type) -> bool {
    agree(a, b, &|point, ty| {
        let word = point.word(ty, 0);
        vec![word.hash, word.length.residues[0], u64::from(word.length.low)]
    })
}

/// Returns true if two types have equally many values at the points of evaluation, each scalar
/// being an unknown.
pub fn same_count(a: &Type, b: &Type) -> bool {
    agree(a, b, &|point, ty| vec![point.count(ty, 0)])
}

/// Valuations tried, at most, where many variables are exponents of void bases.
const MAX_CELLS: u32 = 243;

/// Returns true if `print` gives the same for both types at every point tried.
fn agree(a: &Type, b: &Type, print: &dyn Fn(&mut Point, &Type) -> Vec<u64>) -> bool {
    let levels = 2 + exponent_depth(a).max(exponent_depth(b));
    let halvings = pair_depth(a).max(pair_depth(b)) as u32;
    if halvings > Ring::MAX_SPARE_BITS {
        return true;
    }
    // The classes are large, 0 and 1; with pairs, 2 as well.
    let classes_each = if halvings > 0 { 4u64 } else { 3 };
    let mut opaque = HashMap::default();
    let mut split: Vec<u32> = Vec::new();
    'again: loop {
        let all = (classes_each as u32).checked_pow(split.len() as u32).unwrap_or(u32::MAX);
        for cell in 0..all.min(MAX_CELLS) {
            // Beyond the limit, cells are drawn; the first ones still are "all large", "one is 0" …
            let pick = |i: usize| {
                if all <= MAX_CELLS || cell < MAX_CELLS / 3 {
                    u64::from(cell) / classes_each.saturating_pow(i as u32) % classes_each
                } else {
                    residue::pseudorandom(&[u64::from(cell), i as u64]) % classes_each
                }
            };
            let classes: HashMap<u32, u64> = split.iter().enumerate().map(|(i, &id)| (id, pick(i))).collect();
            for which in 0..2 {
                let ring = Ring::new(which, levels).with_spare(halvings);
                let mut point = Point::new(ring, which as u64, classes.clone(), std::mem::take(&mut opaque));
                let same = print(&mut point, a) == print(&mut point, b);
                opaque = std::mem::take(&mut point.opaque);
                if point.truncated {
                    return true;
                }
                if !same {
                    return false;
                }
                let fresh: Vec<u32> =
                    point.void_exponents.iter().copied().filter(|id| !split.contains(id)).collect();
                if !fresh.is_empty() {
                    split.extend(fresh);
                    split.sort_unstable();
                    continue 'again;
                }
            }
        }
        return true;
    }
}

/// Returns the nesting depth of exponents within exponents.
fn exponent_depth(ty: &Type) -> usize {
    nesting_depth(ty, &|ty| match ty.kind() {
        TypeKind::Array(base, index) | TypeKind::CompactPower(base, index) => vec![(base, 0), (index, 1)],
        TypeKind::Function(index, base) if index.is_compact() => vec![(base, 0), (index, 1)],
        _ => Vec::new(),
    })
}

/// Returns the nesting depth of pairs within pairs.
fn pair_depth(ty: &Type) -> usize {
    nesting_depth(ty, &|ty| match ty.kind() {
        TypeKind::Triangle(_, index) => vec![(index, 1)],
        _ => Vec::new(),
    })
}

/// The children of a type that are counted, and the depth each adds.
type Deeper<'f> = &'f dyn for<'t> Fn(&'t Type) -> Vec<(&'t Type, usize)>;

/// Returns the greatest depth, as `deeper` counts it, on a path through a type and the definitions
/// in it.
fn nesting_depth(ty: &Type, deeper: Deeper<'_>) -> usize {
    fn go(ty: &Type, deeper: Deeper<'_>, seen: &mut HashMap<Type, usize>, depth: u32) -> usize {
        if depth > MAX_DEPTH || seen.len() > MAX_UNFOLDED_TYPES as usize {
            return 0;
        }
        let counted = deeper(ty);
        if !counted.is_empty() {
            let depths = counted.into_iter().map(|(part, more)| more + go(part, deeper, seen, depth + 1));
            return depths.max().unwrap_or(0);
        }
        match ty.kind() {
            TypeKind::Nominal(..) => {
                if let Some(&known) = seen.get(ty) {
                    return known;
                }
                // Also ends a definition that mentions itself.
                seen.insert(ty.clone(), 0);
                let parts = storage_parts(ty)
                    .or_else(|| closed_abstract_type(ty).map(|(_, parts)| parts))
                    .unwrap_or_default();
                let deepest = parts.iter().map(|part| go(part, deeper, seen, depth + 1)).max().unwrap_or(0);
                seen.insert(ty.clone(), deepest);
                deepest
            }
            TypeKind::Function(..) | TypeKind::Procedure(_) => 0,
            kind => {
                let mut deepest = 0;
                kind.for_each_child(&mut |child| deepest = deepest.max(go(child, deeper, seen, depth + 1)));
                deepest
            }
        }
    }
    go(ty, deeper, &mut HashMap::default(), 0)
}

/// One valuation of the variables and unknowns, and the values computed at it.
struct Point {
    /// The ring of the residues.
    ring: Ring,
    /// The seed of the pseudorandom codes.
    seed: u64,
    /// The point at which words are polynomials.
    base: u64,
    /// The point for words of cases.
    case_base: u64,
    /// The values by variable: n + 1 for the value n; 0, or no entry, for a large value.
    classes: HashMap<u32, u64>,
    /// Types that are one slot and equal only to themselves, numbered as met.
    opaque: HashMap<Type, u64>,
    /// Variables in exponents of void bases.
    void_exponents: HashSet<u32>,
    /// The sizes computed so far.
    sizes: HashMap<Type, Number>,
    /// The words computed so far.
    words: HashMap<Type, Word>,
    /// The numbers of values computed so far.
    counts: HashMap<Type, u64>,
    /// Some declared type was not unfolded, so that a difference of fingerprints is inconclusive.
    truncated: bool,
}

/// A word of slots: its length, its fingerprint, and the slot if there is exactly one.
#[derive(Clone)]
struct Word {
    /// The number of slots.
    length: Number,
    /// The fingerprint.
    hash: u64,
    /// The slot, if the word has exactly one.
    only: Option<Slot>,
}

/// A storage slot, as far as sums and cases distinguish them.
#[derive(Clone)]
enum Slot {
    /// An integer below this size.
    Compact(Number),
    /// A tagged sum of these cases.
    Sum(Box<Cases>),
    /// Any other slot.
    Other,
}

/// A word of cases, whether all are units, and the word of the case if there is exactly one.
#[derive(Clone)]
struct Cases {
    /// The number of cases.
    length: Number,
    /// The fingerprint.
    hash: u64,
    /// True if all cases are units.
    units: bool,
    /// The word of the case, if there is exactly one.
    only: Option<Box<Word>>,
}

/// The uses of pseudorandom codes: each has codes of its own.
#[derive(Clone, Copy)]
enum Tag {
    /// The point of evaluation of words.
    Base,
    /// The point of evaluation of words of cases.
    CaseBase,
    /// The value of a size variable.
    Variable,
    /// The code of a scalar.
    Scalar,
    /// The code of an opaque type.
    Opaque,
    /// The code of an argument of a closed abstract type.
    Argument,
    /// The code of a compact slot.
    Compact,
    /// The code of a tagged sum.
    Sum,
    /// The code of a unit case.
    Unit,
    /// The code of a case with an argument.
    Case,
}

impl Point {
    /// Returns a point over a ring, with no values computed.
    fn new(ring: Ring, seed: u64, classes: HashMap<u32, u64>, opaque: HashMap<Type, u64>) -> Point {
        let mut point = Point {
            ring,
            seed,
            base: 0,
            case_base: 0,
            classes,
            opaque,
            void_exponents: HashSet::default(),
            sizes: HashMap::default(),
            words: HashMap::default(),
            counts: HashMap::default(),
            truncated: false,
        };
        point.base = point.code(Tag::Base, &[]);
        point.case_base = point.code(Tag::CaseBase, &[]);
        point
    }

    /// Returns true if a declared type may be unfolded at this depth; notes otherwise that the
    /// result is truncated.
    fn may_unfold(&mut self, depth: u32) -> bool {
        let known = self.sizes.len() + self.words.len() + self.counts.len();
        let opens = depth < MAX_DEPTH && known < MAX_UNFOLDED_TYPES as usize;
        self.truncated |= !opens;
        opens
    }

    /// Returns a pseudorandom number for a use and some words.
    fn draw(&self, tag: Tag, words: &[u64]) -> u64 {
        let mut all = vec![self.seed, tag as u64];
        all.extend_from_slice(words);
        residue::pseudorandom(&all)
    }

    /// Returns a pseudorandom residue other than 0.
    fn code(&self, tag: Tag, words: &[u64]) -> u64 {
        self.draw(tag, words) % (self.ring.prime() - 1) + 1
    }

    /// Returns a code for a use, a hash and a number.
    fn number_code(&self, tag: Tag, hash: u64, n: &Number) -> u64 {
        let level = |i: usize| n.residues.get(i).copied().unwrap_or(0);
        self.code(tag, &[hash, u64::from(n.low), level(0), level(1)])
    }

    /// Returns the number of an opaque type; types are numbered in the order met.
    fn opaque_number(&mut self, ty: &Type) -> u64 {
        let next = self.opaque.len() as u64;
        *self.opaque.entry(ty.clone()).or_insert(next)
    }

    /// Returns a large pseudorandom number.
    fn large(&self, tag: Tag, id: u64) -> Number {
        self.ring.of_u64(self.draw(tag, &[id]) | 1 << 60)
    }

    /// Records the variables of an exponent of a void base: a large valuation does not decide `0 ^
    /// exponent`.
    fn note_void_exponent(&mut self, exponent: &Type) {
        fn variables(point: &mut Point, ty: &Type) {
            match ty.kind() {
                TypeKind::Var(var) => {
                    point.void_exponents.insert(var.id);
                }
                TypeKind::Apply(..) => {
                    let id = point.unknown_id(ty);
                    point.void_exponents.insert(id);
                }
                kind if ty.has_var() => {
                    let mut children = Vec::new();
                    kind.for_each_child(&mut |child| children.push(child.clone()));
                    children.iter().for_each(|child| variables(point, child));
                }
                _ => {}
            }
        }
        variables(self, exponent);
    }

    /// Returns the number of the variable for a size that no rule computes; such numbers descend
    /// from the last of their range.
    fn unknown_id(&mut self, ty: &Type) -> u32 {
        UNKNOWN_SIZES.nth_from_last(self.opaque_number(ty) as usize)
    }

    /// Returns the size of a compact linear type.
    fn size(&mut self, ty: &Type, depth: u32) -> Number {
        let size = self.spare_size(ty, depth);
        self.ring.without_spare_bits(&size)
    }

    /// Returns the size with its remaining spare bits.
    fn spare_size(&mut self, ty: &Type, depth: u32) -> Number {
        let ring = self.ring;
        match ty.kind() {
            TypeKind::UnitSum(n) => ring.of_biguint(n),
            TypeKind::Places(set) => ring.of_biguint(&set.count().into()),
            TypeKind::CompactProduct(factors) => factors.iter().fold(ring.of_u64(1), |product, factor| {
                let factor = self.spare_size(factor, depth + 1);
                ring.mul(&product, &factor)
            }),
            TypeKind::CompactSum(cases) => cases.iter().fold(ring.of_u64(0), |sum, case| {
                let case = self.spare_size(case, depth + 1);
                ring.add(&sum, &case)
            }),
            TypeKind::CompactPower(base, exponent) => {
                let (base, e) = (self.spare_size(base, depth + 1), self.spare_size(exponent, depth + 1));
                if base.is_zero() {
                    self.note_void_exponent(exponent);
                }
                ring.pow(&base, &e)
            }
            TypeKind::Triangle(triangle, index) => {
                let n = self.spare_size(index, depth + 1);
                match (ring.pairs(&n), triangle) {
                    (Some(pairs), Triangle::Below) => pairs,
                    (Some(pairs), Triangle::Lower) => ring.add(&pairs, &n),
                    (None, _) => self.unknown_size(ty),
                }
            }
            TypeKind::Var(var) => match self.classes.get(&var.id) {
                Some(&class) if class > 0 => ring.of_u64(class - 1),
                _ => self.large(Tag::Variable, u64::from(var.id)),
            },
            TypeKind::Nominal(..) if self.may_unfold(depth) => {
                if let Some(known) = self.sizes.get(ty) {
                    return known.clone();
                }
                let size = match storage_parts(ty).as_deref() {
                    Some([definition]) => self.spare_size(definition, depth + 1),
                    _ => self.unknown_size(ty),
                };
                self.sizes.insert(ty.clone(), size.clone());
                size
            }
            _ => self.unknown_size(ty),
        }
    }

    /// Returns the size of a type no rule computes.
    fn unknown_size(&mut self, ty: &Type) -> Number {
        let id = self.unknown_id(ty);
        if let Some(class) = self.classes.get(&id).filter(|class| **class > 0) {
            return self.ring.of_u64(class - 1);
        }
        let id = self.opaque_number(ty);
        self.large(Tag::Opaque, id)
    }

    /// Returns the slots of a type.
    fn word(&mut self, ty: &Type, depth: u32) -> Word {
        cancellation::poll();
        if ty.is_compact() {
            let size = self.size(ty, depth);
            return self.compact_slot(size);
        }
        match ty.kind() {
            TypeKind::Scalar(scalar) => {
                let code = self.code(Tag::Scalar, &[scalar.ordinal()]);
                self.slot(Slot::Other, code)
            }
            TypeKind::Product(parts) => self.concatenation(parts.iter(), depth),
            TypeKind::Record(fields) => self.concatenation(fields.iter().map(|(_, field)| field), depth),
            TypeKind::Array(element, index) => {
                let word = self.word(element, depth + 1);
                let count = self.size(index, depth + 1);
                self.repetition(word, &count)
            }
            TypeKind::Sum(_) | TypeKind::Repeat(..) => {
                let cases = self.cases(ty, depth);
                self.sum_slot(cases)
            }
            TypeKind::Nominal(..) if self.may_unfold(depth) => {
                if let Some(known) = self.words.get(ty) {
                    return known.clone();
                }
                let word = match storage_parts(ty) {
                    Some(parts) => self.concatenation(parts.iter(), depth),
                    None => self.closed_slot(ty, depth),
                };
                self.words.insert(ty.clone(), word.clone());
                word
            }
            _ => self.opaque_slot(ty),
        }
    }

    /// Returns the word of one slot.
    fn slot(&self, slot: Slot, code: u64) -> Word {
        Word { length: self.ring.of_u64(1), hash: code, only: Some(slot) }
    }

    /// Returns the slot of a type that equals itself only.
    fn opaque_slot(&mut self, ty: &Type) -> Word {
        let id = self.opaque_number(ty);
        let code = self.code(Tag::Opaque, &[id]);
        self.slot(Slot::Other, code)
    }

    /// Returns the slot of a variant or an abstract type. An abstract type is identified by its
    /// name, by the arguments it is not functorial in, and by the storage of the others.
    fn closed_slot(&mut self, ty: &Type, depth: u32) -> Word {
        let Some((fixed, free)) = closed_abstract_type(ty) else { return self.opaque_slot(ty) };
        let id = self.opaque_number(&fixed);
        let mut code = self.code(Tag::Opaque, &[id]);
        for arg in &free {
            let word = self.word(arg, depth + 1);
            code = self.code(Tag::Argument, &[code, word.hash]);
            code = self.number_code(Tag::Argument, code, &word.length);
        }
        self.slot(Slot::Other, code)
    }

    /// Returns the slot of one integer below `size`; the empty word if `size` is 1.
    fn compact_slot(&self, size: Number) -> Word {
        if size.is_one() {
            return self.empty();
        }
        let code = self.number_code(Tag::Compact, 0, &size);
        self.slot(Slot::Compact(size), code)
    }

    /// Returns the empty word.
    fn empty(&self) -> Word {
        Word { length: self.ring.of_u64(0), hash: 0, only: None }
    }

    /// Returns the word of a product.
    fn concatenation<'a>(&mut self, parts: impl Iterator<Item = &'a Type>, depth: u32) -> Word {
        let mut whole = self.empty();
        for part in parts {
            let part = self.word(part, depth + 1);
            if part.length.is_zero() {
                continue;
            }
            if whole.length.is_zero() {
                whole = part;
                continue;
            }
            whole.hash = self.join(self.base, whole.hash, &part.length, part.hash);
            whole.length = self.ring.add(&whole.length, &part.length);
            whole.only = None;
        }
        whole
    }

    /// Returns a word repeated `count` times.
    fn repetition(&mut self, mut word: Word, count: &Number) -> Word {
        if count.is_zero() || word.length.is_zero() {
            return self.empty();
        }
        word.hash = self.repeat(self.base, word.hash, &word.length, count);
        word.length = self.ring.mul(&word.length, count);
        if !count.is_one() {
            word.only = None;
        }
        word
    }

    /// Returns the fingerprint of the concatenation of two words.
    fn join(&self, base: u64, left: u64, right_length: &Number, right: u64) -> u64 {
        let p = self.ring.prime();
        let shift = residue::power(base, right_length.residues[1].into(), p);
        let sum = u128::from(residue::multiply(left, shift, p)) + u128::from(right);
        (sum % u128::from(p)) as u64
    }

    /// Returns the fingerprint of a word repeated `count` times: a geometric sum.
    fn repeat(&self, base: u64, hash: u64, length: &Number, count: &Number) -> u64 {
        let p = self.ring.prime();
        let ratio = residue::power(base, length.residues[1].into(), p);
        let sum = if ratio == 1 {
            count.residues[0]
        } else {
            let top = residue::power(ratio, count.residues[1].into(), p);
            residue::multiply((top + p - 1) % p, residue::inverse((ratio + p - 1) % p, p), p)
        };
        residue::multiply(hash, sum, p)
    }

    /// Returns the cases that a type contributes as a case of a sum.
    fn cases(&mut self, ty: &Type, depth: u32) -> Cases {
        match ty.kind() {
            TypeKind::Sum(parts) => {
                let mut whole = self.units(self.ring.of_u64(0));
                for part in parts {
                    let part = self.cases(part, depth + 1);
                    if part.length.is_zero() {
                        continue;
                    }
                    if whole.length.is_zero() {
                        whole = part;
                        continue;
                    }
                    whole.hash = self.join(self.case_base, whole.hash, &part.length, part.hash);
                    whole.length = self.ring.add(&whole.length, &part.length);
                    whole.units &= part.units;
                    whole.only = None;
                }
                whole
            }
            TypeKind::Repeat(n, case) => {
                let mut cases = self.cases(case, depth + 1);
                let n = self.size(n, depth + 1);
                if n.is_zero() {
                    return self.units(n);
                }
                cases.hash = self.repeat(self.case_base, cases.hash, &cases.length, &n);
                cases.length = self.ring.mul(&cases.length, &n);
                cases.only = cases.only.filter(|_| cases.length.is_one());
                cases
            }
            _ => {
                let word = self.word(ty, depth);
                match word.only {
                    None if word.length.is_zero() => self.units(self.ring.of_u64(1)),
                    Some(Slot::Compact(size)) => self.units(size),
                    Some(Slot::Sum(cases)) => *cases,
                    _ => Cases {
                        length: self.ring.of_u64(1),
                        hash: self.number_code(Tag::Case, word.hash, &word.length),
                        units: false,
                        only: Some(Box::new(word)),
                    },
                }
            }
        }
    }

    /// Returns a word of `count` unit cases.
    fn units(&mut self, count: Number) -> Cases {
        let code = self.code(Tag::Unit, &[]);
        Cases {
            hash: self.repeat(self.case_base, code, &self.ring.of_u64(1), &count),
            units: true,
            only: count.is_one().then(|| Box::new(self.empty())),
            length: count,
        }
    }

    /// Returns the slot of a tagged sum with these cases.
    fn sum_slot(&mut self, cases: Cases) -> Word {
        if cases.units {
            return self.compact_slot(cases.length);
        }
        match cases.only {
            Some(word) if cases.length.is_one() => *word,
            only => {
                let code = self.number_code(Tag::Sum, cases.hash, &cases.length);
                self.slot(Slot::Sum(Box::new(Cases { only, ..cases })), code)
            }
        }
    }

    /// Returns the number of values, modulo the prime.
    fn count(&mut self, ty: &Type, depth: u32) -> u64 {
        cancellation::poll();
        let p = self.ring.prime();
        if ty.is_compact() {
            return self.size(ty, depth).residues[0];
        }
        let product = |point: &mut Point, parts: &mut dyn Iterator<Item = &Type>| {
            parts.fold(1, |product, part| residue::multiply(product, point.count(part, depth + 1), p))
        };
        match ty.kind() {
            TypeKind::Scalar(scalar) => self.code(Tag::Scalar, &[scalar.ordinal()]),
            TypeKind::Product(parts) => product(self, &mut parts.iter()),
            TypeKind::Record(fields) => product(self, &mut fields.iter().map(|(_, field)| field)),
            TypeKind::Sum(parts) => parts
                .iter()
                .fold(0u128, |sum, part| (sum + u128::from(self.count(part, depth + 1))) % u128::from(p))
                as u64,
            TypeKind::Repeat(n, case) => {
                let n = self.size(n, depth + 1).residues[0];
                residue::multiply(n, self.count(case, depth + 1), p)
            }
            TypeKind::Array(element, index) | TypeKind::Function(index, element) if index.is_compact() => {
                let element = self.count(element, depth + 1);
                let e = self.size(index, depth + 1);
                if element == 0 {
                    self.note_void_exponent(index);
                }
                match e.low {
                    0 => 1,
                    _ if element == 0 => 0,
                    n if n < EXACT_BELOW => residue::power(element, n.into(), p),
                    _ => residue::power(element, e.residues[1].into(), p),
                }
            }
            TypeKind::Nominal(..) if self.may_unfold(depth) => {
                if let Some(&known) = self.counts.get(ty) {
                    return known;
                }
                let count = match storage_parts(ty) {
                    Some(parts) => product(self, &mut parts.iter()),
                    None => self.closed_count(ty, depth),
                };
                self.counts.insert(ty.clone(), count);
                count
            }
            _ => self.opaque_count(ty),
        }
    }

    /// Returns the number of values of a variant or an abstract type.
    fn closed_count(&mut self, ty: &Type, depth: u32) -> u64 {
        let Some((fixed, free)) = closed_abstract_type(ty) else { return self.opaque_count(ty) };
        let mut code = self.opaque_count(&fixed);
        for arg in &free {
            let count = self.count(arg, depth + 1);
            code = self.code(Tag::Argument, &[code, count]);
        }
        code
    }

    /// Returns the number of values of an opaque type: an unknown.
    fn opaque_count(&mut self, ty: &Type) -> u64 {
        let id = self.opaque_number(ty);
        self.code(Tag::Opaque, &[id])
    }
}
