//! Groups of equal keys: the distinct keys of an array in order, and the group of each element.
//!
//! Words are numbered by a table over their range if it is short, else by a hash table; texts and
//! `bigint`s by a hash table. The slots of a tuple are numbered one after the other: the number of
//! a pair of groups is a word again, in the order of the pairs.

use super::arithmetic::memory_failure;
use super::code::PrimTypes;
use super::error::Failure;
use super::evaluator::{Evaluator, Result};
use super::existential_prims::{buffer_value, pack_with_sizes};
use super::keys::{EntryForm, KeySlot, hash, mix, slot};
use crate::source::Span;
use crate::types::Type;
use crate::types::encoding::Code;
use crate::value::{Buffer, Class, Value};
use num_traits::ToPrimitive;
use std::hash::Hash;
use std::sync::Arc;

/// The number of elements between two polls of the interrupt flag.
const ELEMENTS_PER_POLL: usize = 1 << 16;

/// A range of words is short if it is at most this many times the number of elements.
const MAX_RANGE_PER_ELEMENT: u64 = 4;

/// The slots of an array of keys: a flat buffer and the position of the first.
type Slots = (Arc<Buffer>, usize);

/// The groups of the elements of an array, numbered in the order of their keys.
struct Groups {
    /// The group of each element.
    of: Vec<u32>,
    /// The first element of each group.
    first: Vec<u32>,
}

impl Evaluator<'_, '_> {
    /// Evaluates `_group keys`.
    pub(super) fn group(&mut self, types: &PrimTypes, args: &[Value], span: Span) -> Result<Value> {
        let internal = Failure::Internal { message: "groups of keys that `_hashes` refuses" };
        let (Some(element), Some(index)) = (&types.layout, types.args.get(1)) else {
            return Err(self.fail(internal, span));
        };
        let count = index.size().ok().and_then(|size| size.to_usize()).expect("an array fits the memory");
        let Some(form) = EntryForm::new(element, None) else {
            return Err(self.fail(internal, span));
        };
        if u32::try_from(count).is_err() {
            return Err(self.fail(memory_failure(count, 16, self.host.memory), span));
        }
        let Some(slots) = flat_slots(&args[0], count * element.slots) else {
            return Err(self.fail(memory_failure(count, 16, self.host.memory), span));
        };
        let groups = self.number_keys(&form.key, &slots, count, span)?;
        let group_count = groups.first.len();
        let mut keys = self.allocate_buffer(form.class, group_count * element.slots, span)?;
        let (buffer, start) = &slots;
        if element.slots > 0 {
            for first in &groups.first {
                keys.extend(buffer, start + *first as usize * element.slots, element.slots);
            }
        }
        let keys = (buffer_value(keys), group_count * element.slots);
        // The only group has no number: its type has one value.
        let number = self.machine.layouts.of(&Type::unit_sum(group_count));
        let at_slots = if group_count > 1 { count } else { 0 };
        let mut at = self.allocate_buffer(number.class, at_slots, span)?;
        if at_slots > 0 {
            match &mut at {
                Buffer::U8(at) => at.extend(groups.of.iter().map(|group| *group as u8)),
                Buffer::U16(at) => at.extend(groups.of.iter().map(|group| *group as u16)),
                Buffer::U32(at) => at.extend(&groups.of),
                wider => groups.of.iter().for_each(|group| wider.push(Value::Word(u64::from(*group)))),
            }
        }
        let total = keys.1 + at_slots;
        let class = match (keys.1, at_slots) {
            (0, _) => number.class,
            (_, 0) => form.class,
            _ => form.class.max(number.class),
        };
        match Value::tuple(vec![keys, (buffer_value(at), at_slots)], class, total) {
            Some(both) => Ok(pack_with_sizes(vec![Code::from(group_count)], both)),
            None => Err(self.fail(memory_failure(total, class.bytes(), self.host.memory), span)),
        }
    }

    /// Numbers the groups of keys with these slots.
    fn number_keys(
        &mut self,
        key: &[KeySlot],
        (buffer, start): &Slots,
        count: usize,
        span: Span,
    ) -> Result<Groups> {
        let mut groups: Option<Groups> = None;
        for (at, form) in key.iter().enumerate() {
            let place = |i: usize| start + i * key.len() + at;
            let own = match (form, &**buffer) {
                (KeySlot::Word(order), Buffer::Word(words)) => {
                    self.number_words(count, |i| order.key(words[place(i)]), span)?
                }
                (KeySlot::Word(order), words) => {
                    self.number_words(count, |i| order.key(slot(words, place(i)).word()), span)?
                }
                (KeySlot::Text, Buffer::Any(all)) => {
                    self.number_hashed(count, |i| all[place(i)].as_str(), span)?
                }
                (KeySlot::Bigint, Buffer::Any(all)) => {
                    let number = |i: usize| match &all[place(i)] {
                        Value::Bigint(n) => &**n,
                        _ => unreachable!("the value is not a `bigint`"),
                    };
                    self.number_hashed(count, number, span)?
                }
                _ => unreachable!("texts and `bigint`s are slots of any value"),
            };
            groups = Some(match groups {
                None => own,
                Some(before) => {
                    let width = own.first.len() as u64;
                    let pair = |i: usize| u64::from(before.of[i]) * width + u64::from(own.of[i]);
                    self.number_words(count, pair, span)?
                }
            });
        }
        // Keys without slots are all equal.
        Ok(groups.unwrap_or_else(|| Groups { of: vec![0; count], first: vec![0; count.min(1)] }))
    }

    /// Numbers the groups of words, which are in the order of numbers.
    fn number_words(&mut self, count: usize, word: impl Fn(usize) -> u64, span: Span) -> Result<Groups> {
        self.require_memory(Class::Word, count.saturating_mul(2), span)?;
        let (mut low, mut high) = (u64::MAX, 0);
        for i in 0..count {
            self.poll_group(i, span)?;
            (low, high) = (low.min(word(i)), high.max(word(i)));
        }
        if count > 0 && high - low < (count as u64).max(1 << 8) * MAX_RANGE_PER_ELEMENT {
            return self.number_range(count, |i| (word(i) - low) as usize, (high - low) as usize, span);
        }
        // Slots of a hash table with open addressing: a group and one more, and its key.
        let mut table: Vec<(u32, u64)> = vec![(0, 0); 1 << 10];
        let (mut of, mut first, mut keys) = (Vec::with_capacity(count), Vec::new(), Vec::new());
        for i in 0..count {
            self.poll_group(i, span)?;
            if 2 * keys.len() >= table.len() {
                table = vec![(0, 0); 2 * table.len()];
                for (group, key) in keys.iter().enumerate() {
                    let mut at = mix(*key) as usize & (table.len() - 1);
                    while table[at].0 != 0 {
                        at = (at + 1) & (table.len() - 1);
                    }
                    table[at] = (group as u32 + 1, *key);
                }
            }
            let key = word(i);
            let mut at = mix(key) as usize & (table.len() - 1);
            while table[at].0 != 0 && table[at].1 != key {
                at = (at + 1) & (table.len() - 1);
            }
            if table[at].0 == 0 {
                keys.push(key);
                first.push(i as u32);
                table[at] = (keys.len() as u32, key);
            }
            of.push(table[at].0 - 1);
        }
        self.in_order(Groups { of, first }, |a, b| keys[a as usize].cmp(&keys[b as usize]), span)
    }

    /// Numbers the groups of words from 0 to `high` by a table of all of them.
    fn number_range(
        &mut self,
        count: usize,
        word: impl Fn(usize) -> usize,
        high: usize,
        span: Span,
    ) -> Result<Groups> {
        // The first element with each word, and one more.
        let mut table = vec![0u32; high + 1];
        for i in (0..count).rev() {
            self.poll_group(i, span)?;
            table[word(i)] = i as u32 + 1;
        }
        let mut first = Vec::new();
        for entry in &mut table {
            if *entry > 0 {
                first.push(*entry - 1);
                *entry = first.len() as u32 - 1;
            }
        }
        let mut of = Vec::with_capacity(count);
        for i in 0..count {
            self.poll_group(i, span)?;
            of.push(table[word(i)]);
        }
        Ok(Groups { of, first })
    }

    /// Numbers the groups of values that are hashed.
    fn number_hashed<'a, T: Hash + Ord + ?Sized + 'a>(
        &mut self,
        count: usize,
        value: impl Fn(usize) -> &'a T,
        span: Span,
    ) -> Result<Groups> {
        self.require_memory(Class::Word, count.saturating_mul(2), span)?;
        // Slots of a hash table with open addressing: a group and one more, and the hash.
        let mut table: Vec<(u32, u32)> = vec![(0, 0); 1 << 10];
        let (mut of, mut first) = (Vec::with_capacity(count), Vec::<u32>::new());
        for i in 0..count {
            self.poll_group(i, span)?;
            if 2 * first.len() >= table.len() {
                let mut larger = vec![(0, 0); 2 * table.len()];
                for entry in table.iter().filter(|(group, _)| *group != 0) {
                    let mut at = entry.1 as usize & (larger.len() - 1);
                    while larger[at].0 != 0 {
                        at = (at + 1) & (larger.len() - 1);
                    }
                    larger[at] = *entry;
                }
                table = larger;
            }
            let hash = hash(value(i)) as u32;
            let mut at = hash as usize & (table.len() - 1);
            while table[at].0 != 0
                && (table[at].1 != hash || value(first[table[at].0 as usize - 1] as usize) != value(i))
            {
                at = (at + 1) & (table.len() - 1);
            }
            if table[at].0 == 0 {
                first.push(i as u32);
                table[at] = (first.len() as u32, hash);
            }
            of.push(table[at].0 - 1);
        }
        let firsts = first.clone();
        let key = |group: u32| value(firsts[group as usize] as usize);
        self.in_order(Groups { of, first }, |a, b| key(a).cmp(key(b)), span)
    }

    /// Numbers groups in the order of their keys, which `compare` compares.
    fn in_order(
        &mut self,
        mut groups: Groups,
        compare: impl Fn(u32, u32) -> std::cmp::Ordering,
        span: Span,
    ) -> Result<Groups> {
        let mut sorted: Vec<u32> = (0..groups.first.len() as u32).collect();
        sorted.sort_unstable_by(|a, b| compare(*a, *b));
        self.poll_interrupt(span)?;
        let mut number = vec![0; sorted.len()];
        for (at, group) in sorted.iter().enumerate() {
            number[*group as usize] = at as u32;
        }
        groups.of.iter_mut().for_each(|group| *group = number[*group as usize]);
        let first = sorted.iter().map(|group| groups.first[*group as usize]).collect();
        Ok(Groups { of: groups.of, first })
    }

    /// Polls the interrupt flag at some elements.
    fn poll_group(&mut self, element: usize, span: Span) -> Result<()> {
        if element.is_multiple_of(ELEMENTS_PER_POLL) { self.poll_interrupt(span) } else { Ok(()) }
    }
}

/// Returns the slots of an array; `None` if there is no memory.
fn flat_slots(array: &Value, slots: usize) -> Option<Slots> {
    match array {
        Value::Seq(seq) => seq.to_flat(seq.class()),
        one => {
            let mut buffer = Buffer::empty(Class::Any);
            if slots == 1 {
                buffer.push(one.clone());
            }
            Some((Arc::new(buffer), 0))
        }
    }
}
