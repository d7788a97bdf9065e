//! Storage of growing containers: lists, heaps and dictionaries of the standard library.
//!
//! A list is a struct of a count and an array with room behind the elements. A heap is stored in
//! the same way, and its element at `k` is not before that at `(k - 1) / 2`. A dictionary is a
//! struct that begins with a count, an array of entries with room behind them, each a key and a
//! value, and a hash table: an array of `int` whose length is zero or a power of two, at most half
//! full. A place of the table holds 0, or the number of an entry and one more in its lower half and
//! the upper half of the hash of the key in its upper half. Collisions go to the next place.
//!
//! A container that is not shared is changed in place; of one that is, the parts that change are
//! copied first.

use super::arithmetic::memory_failure;
use super::code::PrimTypes;
use super::error::Failure;
use super::evaluator::{Evaluator, Result};
use super::keys::EntryForm;
use super::prim::result_case;
use crate::core::Prim;
use crate::source::Span;
use crate::types::encoding::Code;
use crate::types::{Type, TypeKind};
use crate::value::{Buffer, Class, Packed, Seq, Value};
use num_traits::ToPrimitive;
use std::sync::Arc;

/// The number of places of the smallest hash table.
const MIN_TABLE_PLACES: usize = 8;

/// The part of a place that is the number of an entry and one more.
const ENTRY: u64 = u32::MAX as u64;

/// The most entries of a dictionary.
const MAX_ENTRIES: usize = u32::MAX as usize - 1;

impl Evaluator<'_, '_> {
    /// Evaluates a primitive on the storage of a container.
    pub(super) fn eval_container_primitive(
        &mut self,
        prim: Prim,
        types: &PrimTypes,
        args: &mut [Value],
        span: Span,
    ) -> Result<Value> {
        match prim {
            Prim::ListPush => return self.list_push(types, args, span),
            Prim::ListPut => return self.list_put(types, args, span),
            Prim::ListGet => return Ok(list_get(types, args)),
            _ => {}
        }
        let mut args = args.iter_mut().map(|place| std::mem::replace(place, Value::UNIT));
        let mut operand = || args.next().expect("a primitive has its operands");
        let container = operand();
        let key = if prim == Prim::HeapPop { Value::UNIT } else { operand() };
        let value = if matches!(prim, Prim::DictGet | Prim::DictPut) { operand() } else { Value::UNIT };
        let layouts = &self.machine.layouts;
        let form = types.entry.get_or_init(|| {
            let (key, value) = (&types.args[0], types.args.get(1).filter(|_| types.args.len() > 2));
            EntryForm::new(&layouts.of(key), value.map(|value| layouts.of(value)).as_deref())
        });
        let Some(entry) = form else {
            return Err(self.fail(Failure::Internal { message: "keys that `_hashes` refuses" }, span));
        };
        match prim {
            Prim::HeapPush => self.heap_push(entry, container, &key, span),
            Prim::HeapPop => self.heap_pop(entry, container, span),
            Prim::DictLookup => Ok(match entry.find(&container, &key) {
                Some(found) => result_case(types, Code::Small(1), found),
                None => result_case(types, Code::ZERO, Value::UNIT),
            }),
            Prim::DictGet => Ok(entry.find(&container, &key).unwrap_or(value)),
            Prim::DictPut => self.dict_put(entry, container, &key, &value, span),
            Prim::DictRemove => self.dict_remove(entry, container, &key, span),
            _ => Err(self.fail(Failure::Internal { message: "a primitive that knows no container" }, span)),
        }
    }

    /// Appends an element to a list.
    fn list_push(&mut self, types: &PrimTypes, args: &mut [Value], span: Span) -> Result<Value> {
        let [list, element] = args else { unreachable!("a primitive has its operands") };
        let layout = types.layout.as_deref().expect("the primitive has a type argument");
        let fields = fields_mut(list);
        let (count, room) = (fields[0].as_int(), capacity(&fields[1]));
        let Some(count) = usize::try_from(count).ok().filter(|count| *count <= room) else {
            let message = format!("a list with room for {room} elements has {count}");
            return Err(self.fail(Failure::Failed { message }, span));
        };
        let class = if layout.slots == 0 { Class::U8 } else { layout.class };
        self.store_entry(
            &mut fields[1],
            room,
            (count, layout.slots, class),
            &[(&*element, layout.slots)],
            span,
        )?;
        fields[0] = Value::int(count as i64 + 1);
        Ok(std::mem::replace(list, Value::UNIT))
    }

    /// Stores an element of a list.
    fn list_put(&mut self, types: &PrimTypes, args: &mut [Value], span: Span) -> Result<Value> {
        let [list, at, element] = args else { unreachable!("a primitive has its operands") };
        let layout = types.layout.as_deref().expect("the primitive has a type argument");
        let (at, fields) = (at.as_int(), fields_mut(list));
        let count = fields[0].as_int().min(capacity(&fields[1]) as i64);
        let Some(at) = usize::try_from(at).ok().filter(|_| at < count) else {
            let message = format!("a list of {count} has no element {at}");
            return Err(self.fail(Failure::Failed { message }, span));
        };
        if layout.slots > 0 {
            let array = &mut packed_mut(&mut fields[1]).value;
            let parts = [(&*element, layout.slots)];
            self.set_entry(array, at * layout.slots, layout.class, &parts, span)?;
        }
        Ok(std::mem::replace(list, Value::UNIT))
    }

    /// Stores parts one after the other as entry `at` of an array with room for `capacity` of them,
    /// which grows where there is no room for it.
    fn store_entry(
        &self,
        room: &mut Value,
        capacity: usize,
        (at, slots, class): (usize, usize, Class),
        parts: &[(&Value, usize)],
        span: Span,
    ) -> Result<()> {
        let packed = packed_mut(room);
        if at >= capacity {
            let wanted = capacity.saturating_mul(2).saturating_add(4);
            let refused = || self.fail(memory_failure(wanted, class.bytes(), self.host.memory), span);
            if slots > 0 {
                let total = wanted.checked_mul(slots).ok_or_else(refused)?;
                let mut buffer = self.allocate_buffer(class, total, span)?;
                buffer.append(&packed.value, at * slots);
                // What is behind the elements is never read; it is of their type.
                parts.iter().for_each(|(part, slots)| buffer.append(part, *slots));
                buffer.repeat_end(slots, wanted - at - 1);
                packed.value = Value::Seq(Seq::new(buffer));
            }
            packed.sizes = vec![Type::unit_sum(wanted)];
            return Ok(());
        }
        if slots > 0 {
            self.set_entry(&mut packed.value, at * slots, class, parts, span)?;
        }
        Ok(())
    }

    /// Stores parts one after the other, from a slot of an array on.
    fn set_entry(
        &self,
        array: &mut Value,
        mut at: usize,
        class: Class,
        parts: &[(&Value, usize)],
        span: Span,
    ) -> Result<()> {
        match array {
            Value::Seq(seq) => {
                if !seq.is_unique(class) {
                    self.require_memory(class, seq.len(), span)?;
                }
                let (buffer, start) = seq.make_mut(class);
                for (part, slots) in parts {
                    match part {
                        Value::Word(word) if *slots == 1 => buffer.set(start + at, Value::Word(*word)),
                        _ => (0..*slots).for_each(|i| buffer.set(start + at + i, part.slots(i, 1))),
                    }
                    at += slots;
                }
            }
            one => {
                if let Some((part, _)) = parts.iter().find(|(_, slots)| *slots == 1) {
                    *one = (*part).clone();
                }
            }
        }
        Ok(())
    }

    /// Adds an element to a heap.
    fn heap_push(&mut self, form: &EntryForm, mut heap: Value, element: &Value, span: Span) -> Result<Value> {
        let fields = fields_mut(&mut heap);
        let count = fields[0].word() as usize;
        let room = capacity(&fields[1]);
        self.store_entry(
            &mut fields[1],
            room,
            (count, form.slots, form.class),
            &[(element, form.slots)],
            span,
        )?;
        fields[0] = Value::int(count as i64 + 1);
        if let Value::Seq(seq) = &mut packed_mut(&mut fields[1]).value {
            let (buffer, start) = seq.make_mut(form.class);
            let mut at = count;
            while at > 0 {
                let above = (at - 1) / 2;
                if !form.is_before(buffer, start + at * form.slots, start + above * form.slots) {
                    break;
                }
                form.swap_entries(buffer, start, at, above);
                at = above;
            }
        }
        Ok(heap)
    }

    /// Removes the least element of a heap.
    fn heap_pop(&mut self, form: &EntryForm, mut heap: Value, span: Span) -> Result<Value> {
        let fields = fields_mut(&mut heap);
        let Some(last) = (fields[0].word() as usize).checked_sub(1) else { return Ok(heap) };
        fields[0] = Value::int(last as i64);
        if let Value::Seq(seq) = &mut packed_mut(&mut fields[1]).value {
            if !seq.is_unique(form.class) {
                self.require_memory(form.class, seq.len(), span)?;
            }
            let (buffer, start) = seq.make_mut(form.class);
            form.swap_entries(buffer, start, 0, last);
            let mut at = 0;
            loop {
                let place = |entry: usize| start + entry * form.slots;
                let mut down = 2 * at + 1;
                if down >= last {
                    break;
                }
                if down + 1 < last && form.is_before(buffer, place(down + 1), place(down)) {
                    down += 1;
                }
                if !form.is_before(buffer, place(down), place(at)) {
                    break;
                }
                form.swap_entries(buffer, start, at, down);
                at = down;
            }
        }
        Ok(heap)
    }

    /// Puts a value at a key of a dictionary.
    fn dict_put(
        &mut self,
        form: &EntryForm,
        mut dict: Value,
        key: &Value,
        value: &Value,
        span: Span,
    ) -> Result<Value> {
        let key_slots = form.key.len();
        let parts = [(key, key_slots), (value, form.slots - key_slots)];
        let hash = form.hash(key);
        let fields = fields_mut(&mut dict);
        let count = fields[0].word() as usize;
        if let Some(at) = form.position(hash, key, &fields[1], &fields[2]) {
            let packed = packed_mut(&mut fields[1]);
            self.set_entry(&mut packed.value, at * form.slots + key_slots, form.class, &parts[1..], span)?;
            return Ok(dict);
        }
        if count >= MAX_ENTRIES {
            return Err(self.fail(memory_failure(count, form.class.bytes(), self.host.memory), span));
        }
        let room = capacity(&fields[1]);
        self.store_entry(&mut fields[1], room, (count, form.slots, form.class), &parts, span)?;
        self.reserve_place(&mut fields[2], count, span)?;
        let table = self.table_mut(&mut fields[2], span)?;
        insert_place(table, hash & !ENTRY | (count as u64 + 1));
        fields[0] = Value::int(count as i64 + 1);
        Ok(dict)
    }

    /// Makes a hash table with room for one entry more than `count`.
    fn reserve_place(&self, table: &mut Value, count: usize, span: Span) -> Result<()> {
        let packed = packed_mut(table);
        let places = match &packed.value {
            Value::Seq(seq) => seq.len(),
            _ => 0,
        };
        if 2 * (count + 1) <= places {
            return Ok(());
        }
        let wanted = MIN_TABLE_PLACES.max(2 * places);
        let mut larger = self.allocate_buffer(Class::Word, wanted, span)?;
        if let Buffer::Word(larger) = &mut larger {
            larger.resize(wanted, 0);
            if let Value::Seq(seq) = &packed.value {
                (0..places).map(|i| seq.get(i).word()).filter(|place| *place != 0).for_each(|place| {
                    insert_place(larger, place);
                });
            }
        }
        packed.value = Value::Seq(Seq::new(larger));
        packed.sizes = vec![Type::unit_sum(wanted)];
        Ok(())
    }

    /// Returns the places of a hash table that has some, for a store.
    fn table_mut<'t>(&self, table: &'t mut Value, span: Span) -> Result<&'t mut [u64]> {
        let Value::Seq(seq) = &mut packed_mut(table).value else { unreachable!("the table has places") };
        if !seq.is_unique(Class::Word) {
            self.require_memory(Class::Word, seq.len(), span)?;
        }
        let len = seq.len();
        match seq.make_mut(Class::Word) {
            (Buffer::Word(places), start) => Ok(&mut places[start..start + len]),
            _ => unreachable!("places are words"),
        }
    }

    /// Removes a key of a dictionary; the last entry moves to where its entry was.
    fn dict_remove(&mut self, form: &EntryForm, mut dict: Value, key: &Value, span: Span) -> Result<Value> {
        let hash = form.hash(key);
        let fields = fields_mut(&mut dict);
        let Some(at) = form.position(hash, key, &fields[1], &fields[2]) else { return Ok(dict) };
        let last = fields[0].word() as usize - 1;
        let moved = unpacked(&fields[1]).slots(last * form.slots, form.slots);
        let table = self.table_mut(&mut fields[2], span)?;
        let hole = place_of(table, hash, at);
        close_hole(table, hole);
        if at != last {
            let moved_hash = form.hash(&moved.slots(0, form.key.len()));
            let place = place_of(table, moved_hash, last);
            table[place] = table[place] & !ENTRY | (at as u64 + 1);
            let packed = packed_mut(&mut fields[1]);
            self.set_entry(&mut packed.value, at * form.slots, form.class, &[(&moved, form.slots)], span)?;
        }
        fields[0] = Value::int(last as i64);
        Ok(dict)
    }
}

/// Returns the element of a list at a position in case 1, or case 0.
fn list_get(types: &PrimTypes, args: &[Value]) -> Value {
    let [Value::Seq(fields), at] = args else { unreachable!("a list has several fields") };
    let slots = types.layout.as_deref().expect("the primitive has a type argument").slots;
    let room = fields.get(1);
    let (at, count) = (at.as_int(), fields.get(0).as_int().min(capacity(&room) as i64));
    if at < 0 || at >= count {
        return result_case(types, Code::ZERO, Value::UNIT);
    }
    result_case(types, Code::Small(1), unpacked(&room).slots(at as usize * slots, slots))
}

impl EntryForm {
    /// Returns the value at a key of a dictionary.
    fn find(&self, dict: &Value, key: &Value) -> Option<Value> {
        let Value::Seq(fields) = dict else { unreachable!("a container has several fields") };
        let (entries, table) = (fields.get(1), fields.get(2));
        let at = self.position(self.hash(key), key, &entries, &table)?;
        let key_slots = self.key.len();
        Some(unpacked(&entries).slots(at * self.slots + key_slots, self.slots - key_slots))
    }

    /// Returns the number of the entry with a key.
    fn position(&self, hash: u64, key: &Value, entries: &Value, table: &Value) -> Option<usize> {
        // An empty dictionary has no table.
        let Value::Seq(places) = unpacked(table) else { return None };
        let (table, start) = places.locate(0);
        let Buffer::Word(table) = table else { unreachable!("places are words in one buffer") };
        let mask = places.len() - 1;
        let entries = unpacked(entries);
        let mut at = (hash >> 32) as usize & mask;
        loop {
            let place = table[start + at];
            if place == 0 {
                return None;
            }
            if (place ^ hash) & !ENTRY == 0 {
                let entry = (place & ENTRY) as usize - 1;
                let first = entry * self.slots;
                let same = match entries {
                    Value::Seq(seq) => {
                        let (buffer, at) = seq.locate(first);
                        self.matches_at(key, buffer, at)
                    }
                    // Keys without slots are all equal.
                    _ => true,
                };
                if same {
                    return Some(entry);
                }
            }
            at = (at + 1) & mask;
        }
    }
}

/// Returns the place of an entry whose key has this hash.
fn place_of(table: &[u64], hash: u64, entry: usize) -> usize {
    let mask = table.len() - 1;
    let mut place = (hash >> 32) as usize & mask;
    while table[place] & ENTRY != entry as u64 + 1 {
        place = (place + 1) & mask;
    }
    place
}

/// Puts an entry at the first free place from that of its hash on.
fn insert_place(table: &mut [u64], entry: u64) {
    let mask = table.len() - 1;
    let mut at = (entry >> 32) as usize & mask;
    while table[at] != 0 {
        at = (at + 1) & mask;
    }
    table[at] = entry;
}

/// Frees a place, and moves entries behind it so that each is found from the place of its hash on.
fn close_hole(table: &mut [u64], mut hole: usize) {
    let mask = table.len() - 1;
    let mut at = hole;
    loop {
        at = (at + 1) & mask;
        if table[at] == 0 {
            break;
        }
        let home = (table[at] >> 32) as usize & mask;
        if at.wrapping_sub(home) & mask >= at.wrapping_sub(hole) & mask {
            table[hole] = table[at];
            hole = at;
        }
    }
    table[hole] = 0;
}

/// Returns the fields of a container, which are slots of any value.
fn fields_mut(container: &mut Value) -> &mut [Value] {
    let Value::Seq(seq) = container else { unreachable!("a container has several fields") };
    let len = seq.len();
    match seq.make_mut(Class::Any) {
        (Buffer::Any(fields), start) => &mut fields[start..start + len],
        _ => unreachable!("the fields of a container are slots of any value"),
    }
}

/// Returns an existential value, copied if it is shared. What it holds stays shared.
fn packed_mut(value: &mut Value) -> &mut Packed {
    let Value::Packed(packed) = value else { unreachable!("the field has a size of its own") };
    Arc::make_mut(packed)
}

/// Returns the size that comes with an array.
fn capacity(array: &Value) -> usize {
    match array {
        Value::Packed(packed) => {
            let size = match packed.sizes[0].kind() {
                TypeKind::UnitSum(size) => size.to_usize(),
                _ => packed.sizes[0].size().ok().and_then(|size| size.to_usize()),
            };
            size.expect("the size of an array in memory is a number of slots")
        }
        _ => unreachable!("the field has a size of its own"),
    }
}

/// Returns what an existential value holds.
fn unpacked(value: &Value) -> &Value {
    match value {
        Value::Packed(packed) => &packed.value,
        _ => unreachable!("the field has a size of its own"),
    }
}
