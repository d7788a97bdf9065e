//! Views into buffers, shared until a store.

use super::copy_counter::count_copied_slots;
use super::{Buffer, Class, Value};
use std::sync::Arc;

/// Slots of a buffer that is kept though little of it is in view.
const MIN_SHRUNK_SLOTS: usize = 64;

/// Slots of a part that is copied when it is read, if the whole is larger: a view of the whole would make the next store
/// into it copy all of it.
const MAX_COPIED_SLOTS: usize = 8;

/// A view of two or more slots.
#[derive(Clone)]
pub struct Seq {
    store: Storage,
    start: usize,
    len: usize,
}

#[derive(Clone)]
enum Storage {
    Flat(Arc<Buffer>),
    Rope(Arc<Vec<RopePart>>),
}

/// Part of a rope: it holds the slots from `at` of the rope on.
#[derive(Clone)]
struct RopePart {
    at: usize,
    buffer: Arc<Buffer>,
    start: usize,
    len: usize,
}

impl Seq {
    /// All of a buffer.
    pub fn new(buffer: Buffer) -> Seq {
        let len = buffer.len();
        Seq { store: Storage::Flat(Arc::new(buffer)), start: 0, len }
    }

    /// The views one after the other, sharing their buffers.
    pub fn rope(views: &[Seq]) -> Seq {
        let mut parts: Vec<RopePart> = Vec::new();
        let mut at = 0;
        for view in views {
            view.for_each_shared_part(|buffer, start, len| {
                parts.push(RopePart { at, buffer: buffer.clone(), start, len });
                at += len;
            });
        }
        Seq { store: Storage::Rope(Arc::new(parts)), start: 0, len: at }
    }

    /// All of a buffer that others may see, too.
    pub fn shared(buffer: Arc<Buffer>) -> Seq {
        let len = buffer.len();
        Seq { store: Storage::Flat(buffer), start: 0, len }
    }

    /// One buffer of a class that holds the view, with the position of the first slot; copied if it is
    /// not so already. `None` if there is no room for the copy.
    pub fn to_flat(&self, class: Class) -> Option<(Arc<Buffer>, usize)> {
        if let Storage::Flat(buffer) = &self.store
            && buffer.class() == class
        {
            return Some((buffer.clone(), self.start));
        }
        let mut buffer = Buffer::with_capacity(class, self.len)?;
        count_copied_slots(self.len);
        self.for_each_part(|part, start, len| buffer.extend(part, start, len));
        Some((Arc::new(buffer), 0))
    }

    /// Whether it is all of a buffer of a class, in memory of our own, that nobody else holds.
    pub fn is_unique(&self, class: Class) -> bool {
        match &self.store {
            Storage::Flat(buffer) => {
                Arc::strong_count(buffer) == 1
                    && buffer.class() == class
                    && self.len == buffer.len()
                    && !self.has_mapped_part()
            }
            Storage::Rope(_) => false,
        }
    }

    /// The buffer that it is all of, if nobody else holds it.
    pub fn into_buffer(self) -> Option<Buffer> {
        match self.store {
            Storage::Flat(buffer) if self.len == buffer.len() => Arc::into_inner(buffer),
            _ => None,
        }
    }

    /// Slots in view.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it shows no slot.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// One slot.
    pub fn get(&self, i: usize) -> Value {
        match &self.store {
            Storage::Flat(buffer) => buffer.get(self.start + i),
            Storage::Rope(parts) => {
                let part = &parts[part_containing(parts, self.start + i)];
                part.buffer.get(part.start + self.start + i - part.at)
            }
        }
    }

    /// A narrower view of the same storage; a copy of a small part of a large one.
    pub fn slice(&self, start: usize, len: usize) -> Seq {
        if let Storage::Flat(buffer) = &self.store
            && len <= MAX_COPIED_SLOTS
            && buffer.len() > MIN_SHRUNK_SLOTS
            && let Some(mut small) = Buffer::with_capacity(buffer.class(), len)
        {
            small.extend(buffer, self.start + start, len);
            return Seq::new(small);
        }
        let start = self.start + start;
        if let Storage::Rope(parts) = &self.store {
            let part = &parts[part_containing(parts, start)];
            if start + len <= part.at + part.len {
                let store = Storage::Flat(part.buffer.clone());
                return Seq { store, start: part.start + start - part.at, len };
            }
        }
        Seq { store: self.store.clone(), start, len }
    }

    /// Whether a part of it lies in memory of somebody else.
    pub fn has_mapped_part(&self) -> bool {
        let mut foreign = false;
        self.for_each_part(|buffer, _, _| foreign |= buffer.is_mapped());
        foreign
    }

    /// The address of the first slot's buffer and the position in it: equal for views of the same
    /// storage.
    pub fn storage_address(&self) -> (usize, usize) {
        match &self.store {
            Storage::Flat(buffer) => (Arc::as_ptr(buffer) as usize, self.start),
            Storage::Rope(parts) => {
                let part = &parts[part_containing(parts, self.start)];
                (Arc::as_ptr(&part.buffer) as usize, part.start + self.start - part.at)
            }
        }
    }

    /// The widest class among the buffers in view.
    pub fn class(&self) -> Class {
        let mut class = Class::U8;
        self.for_each_part(|buffer, _, _| class = class.max(buffer.class()));
        class
    }

    pub(super) fn for_each_part(&self, mut f: impl FnMut(&Buffer, usize, usize)) {
        self.for_each_shared_part(|buffer, start, len| f(buffer, start, len));
    }

    fn for_each_shared_part(&self, mut f: impl FnMut(&Arc<Buffer>, usize, usize)) {
        match &self.store {
            Storage::Flat(buffer) => f(buffer, self.start, self.len),
            Storage::Rope(parts) => {
                let end = self.start + self.len;
                for part in &parts[part_containing(parts, self.start)..] {
                    if part.at >= end {
                        break;
                    }
                    let from = self.start.max(part.at);
                    let to = end.min(part.at + part.len);
                    f(&part.buffer, part.start + from - part.at, to - from);
                }
            }
        }
    }

    /// Parts of the rope, if it is one.
    pub(super) fn part_count(&self) -> usize {
        match &self.store {
            Storage::Flat(_) => 1,
            Storage::Rope(parts) => parts.len(),
        }
    }

    /// Writes it out into a buffer of a class with room for twice as many slots as it is to have;
    /// if there is no such room it stays what it is.
    pub(super) fn flatten_with_capacity(&mut self, class: Class, slots: usize) -> bool {
        let Some(mut buffer) = Buffer::with_capacity(class, slots.saturating_mul(2)) else { return false };
        count_copied_slots(self.len);
        self.for_each_part(|part, start, len| buffer.extend(part, start, len));
        *self = Seq::new(buffer);
        true
    }

    /// Whether it lies in a buffer of a class, in memory of our own, that nobody else holds.
    pub(super) fn can_grow(&mut self, class: Class) -> bool {
        match &mut self.store {
            Storage::Flat(buffer) => {
                Arc::get_mut(buffer).is_some_and(|buffer| buffer.class() == class && !buffer.is_mapped())
            }
            Storage::Rope(_) => false,
        }
    }

    /// Makes room for so many slots behind it; whether there was any.
    pub(super) fn try_reserve(&mut self, slots: usize) -> bool {
        let end = self.start + self.len;
        let Some(buffer) = self.unique_buffer() else { return false };
        buffer.truncate(end);
        buffer.try_reserve(slots)
    }

    /// Adds the slots of a value of so many behind it, where there is room for them.
    pub(super) fn append(&mut self, value: &Value, slots: usize) {
        count_copied_slots(slots);
        let buffer = self.unique_buffer().expect("the buffer has been reserved");
        buffer.append(value, slots);
        self.len += slots;
    }

    /// Its buffer, if nobody else holds it.
    fn unique_buffer(&mut self) -> Option<&mut Buffer> {
        match &mut self.store {
            Storage::Flat(buffer) => Arc::get_mut(buffer),
            Storage::Rope(_) => None,
        }
    }

    /// A narrower view in place of this one. If nobody else holds the storage, what lies behind the
    /// view is let go of, and all that lies outside when that is three quarters of it.
    pub(super) fn into_slice(self, start: usize, len: usize) -> Seq {
        // A view of a part of a rope is a view of that part's buffer alone.
        let mut view = self.slice(start, len);
        drop(self);
        let (start, len) = (view.start, view.len);
        let Some(buffer) = view.unique_buffer() else { return view };
        if buffer.is_mapped() {
            return view;
        }
        buffer.truncate(start + len);
        if buffer.capacity() > MIN_SHRUNK_SLOTS
            && len < buffer.capacity() / 4
            && let Some(mut small) = Buffer::with_capacity(buffer.class(), 2 * len)
        {
            count_copied_slots(len);
            small.extend(buffer, start, len);
            return Seq::new(small);
        }
        view
    }

    /// One slot, moved out if nobody else holds the buffer that it lies in.
    pub(super) fn take(&mut self, i: usize) -> Value {
        let (start, len) = (self.start, self.len);
        let taken = match &mut self.store {
            Storage::Flat(buffer) => match Arc::get_mut(buffer) {
                Some(Buffer::Any(values)) => Some(std::mem::replace(&mut values[start + i], Value::UNIT)),
                _ => None,
            },
            Storage::Rope(parts) => {
                let at = part_containing(parts, start + i);
                Arc::get_mut(parts).map(|parts| &mut parts[at]).and_then(|part| {
                    let slot = part.start + start + i - part.at;
                    match Arc::get_mut(&mut part.buffer) {
                        Some(Buffer::Any(values)) => Some(std::mem::replace(&mut values[slot], Value::UNIT)),
                        _ => None,
                    }
                })
            }
        };
        debug_assert!(i < len, "a slot of the view");
        taken.unwrap_or_else(|| self.get(i))
    }

    /// A narrower view whose slots nobody reads here any more: a part of a rope that nobody else
    /// holds is moved out.
    pub(super) fn take_slice(&mut self, start: usize, len: usize) -> Seq {
        let from = self.start + start;
        if let Storage::Rope(parts) = &mut self.store {
            let at = part_containing(parts, from);
            if let Some(parts) = Arc::get_mut(parts)
                && let part = &mut parts[at]
                && (part.at, part.len) == (from, len)
            {
                let nothing = Arc::new(Buffer::Any(vec![Value::UNIT; 0]));
                let store = Storage::Flat(std::mem::replace(&mut part.buffer, nothing));
                return Seq { store, start: part.start, len };
            }
        }
        if let Some(rest) = self.split_off_slice(start, len) {
            let mut whole = std::mem::replace(self, rest);
            (whole.start, whole.len) = (whole.start + start, len);
            return whole;
        }
        self.slice(start, len)
    }

    /// The view with a gap instead of some slots, if what is left is little and nobody else holds the buffer: then that
    /// can go to whoever takes the slots.
    fn split_off_slice(&mut self, start: usize, len: usize) -> Option<Seq> {
        if self.len - len > MIN_SHRUNK_SLOTS || self.unique_buffer().is_none_or(|buffer| buffer.is_mapped()) {
            return None;
        }
        let Storage::Flat(buffer) = &self.store else { return None };
        let mut parts = Vec::new();
        for (at, part, gap) in
            [(0, start, false), (start, len, true), (start + len, self.len - start - len, false)]
        {
            let mut own = Buffer::with_capacity(buffer.class(), if gap { 0 } else { part })?;
            if !gap {
                count_copied_slots(part);
                own.extend(buffer, self.start + at, part);
            }
            if part > 0 {
                parts.push(RopePart { at, buffer: Arc::new(own), start: 0, len: part });
            }
        }
        Some(Seq { store: Storage::Rope(Arc::new(parts)), start: 0, len: self.len })
    }

    /// A buffer that holds some slots of the view, its own, with the position of the first of them:
    /// what a store into them needs. Of a rope only the part that they lie in is copied.
    pub fn slots_mut(&mut self, start: usize, len: usize, class: Class) -> (&mut Buffer, usize) {
        if !self.make_part_unique(self.start + start, len, class) {
            let (buffer, base) = self.make_mut(class);
            return (buffer, base + start);
        }
        let at = self.start + start;
        match &mut self.store {
            Storage::Flat(buffer) => (Arc::make_mut(buffer), at),
            Storage::Rope(parts) => {
                let part = part_containing(parts, at);
                let part = &mut Arc::make_mut(parts)[part];
                (Arc::make_mut(&mut part.buffer), part.start + at - part.at)
            }
        }
    }

    /// Makes the part of a rope that slots lie in its own, which others may see; nothing if they
    /// lie in several.
    fn make_part_unique(&mut self, from: usize, len: usize, class: Class) -> bool {
        let Storage::Rope(parts) = &mut self.store else { return false };
        let at = part_containing(parts, from);
        if from + len > parts[at].at + parts[at].len {
            return false;
        }
        // The list of the parts is short: others keep theirs.
        let part = &mut Arc::make_mut(parts)[at];
        let own =
            Arc::strong_count(&part.buffer) == 1 && part.buffer.class() >= class && !part.buffer.is_mapped();
        if !own {
            let wide = part.buffer.class().max(class);
            let Some(mut buffer) = Buffer::with_capacity(wide, part.len) else { return false };
            count_copied_slots(part.len);
            buffer.extend(&part.buffer, part.start, part.len);
            part.buffer = Arc::new(buffer);
            part.start = 0;
        }
        true
    }

    /// The buffer of the view, its own and flat, with the position of the view in it: what a store
    /// needs. Copies unless nobody else sees the buffer, and its memory is its own.
    pub fn make_mut(&mut self, class: Class) -> (&mut Buffer, usize) {
        let flat = match &self.store {
            Storage::Flat(buffer) => {
                Arc::strong_count(buffer) == 1 && buffer.class() >= class && !buffer.is_mapped()
            }
            Storage::Rope(_) => false,
        };
        if !flat {
            let mut buffer =
                Buffer::with_capacity(self.class().max(class), self.len).expect(super::buffer::GRANTED);
            count_copied_slots(self.len);
            self.for_each_part(|part, start, len| buffer.extend(part, start, len));
            *self = Seq::new(buffer);
        }
        let start = self.start;
        match &mut self.store {
            Storage::Flat(buffer) => (Arc::make_mut(buffer), start),
            Storage::Rope(_) => unreachable!("a copied view is flat"),
        }
    }
}

/// The part that holds a slot of a rope.
fn part_containing(parts: &[RopePart], slot: usize) -> usize {
    parts.partition_point(|p| p.at <= slot).max(1) - 1
}
