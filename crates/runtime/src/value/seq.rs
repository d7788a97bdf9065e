//! Views of two or more slots in shared buffers, copied on write.

use super::copy_counter::count_copied_slots;
use super::{Buffer, Class, Value};
use std::sync::Arc;

/// The number of slots up to which a buffer is kept whole, however little of it is in view.
const MIN_SHRUNK_SLOTS: usize = 64;

/// The number of slots up to which a slice of a larger buffer is copied: a view of the buffer would
/// make the next store into it copy all of it.
const MAX_COPIED_SLOTS: usize = 8;

/// A view of two or more slots: `len` slots from `start` on of one buffer, or of a rope of several.
/// Cloning a view shares its storage.
#[derive(Clone)]
pub struct Seq {
    store: Storage,
    start: usize,
    len: usize,
}

/// The storage of a view.
#[derive(Clone)]
enum Storage {
    /// One buffer.
    Flat(Arc<Buffer>),
    /// Parts of several buffers.
    Rope(Arc<Vec<RopePart>>),
}

/// A part of a rope: `len` slots of `buffer` from `start` on, which are the slots of the rope from
/// `at` on.
#[derive(Clone)]
struct RopePart {
    at: usize,
    buffer: Arc<Buffer>,
    start: usize,
    len: usize,
}

impl Seq {
    /// Makes a view of all of a buffer.
    pub fn new(buffer: Buffer) -> Seq {
        let len = buffer.len();
        Seq { store: Storage::Flat(Arc::new(buffer)), start: 0, len }
    }

    /// Concatenates views; their buffers are shared.
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

    /// Makes a view of all of a shared buffer.
    pub fn shared(buffer: Arc<Buffer>) -> Seq {
        let len = buffer.len();
        Seq { store: Storage::Flat(buffer), start: 0, len }
    }

    /// Returns one buffer of this class that holds the view, and the position of its first slot.
    /// Copies unless the view already lies in such a buffer; `None` if there is no memory for the
    /// copy.
    pub fn to_flat(&self, class: Class) -> Option<(Arc<Buffer>, usize)> {
        if let Storage::Flat(buffer) = &self.store
            && buffer.class() == class
        {
            return Some((buffer.clone(), self.start));
        }
        Some((Arc::new(self.to_sole_buffer(class)?), 0))
    }

    /// Returns true if the view lies in one buffer of this class.
    pub fn is_flat(&self, class: Class) -> bool {
        matches!(&self.store, Storage::Flat(buffer) if buffer.class() == class)
    }

    /// Returns a copy of the view in a buffer of this class; `None` if there is no memory for it.
    pub fn to_sole_buffer(&self, class: Class) -> Option<Buffer> {
        let mut buffer = Buffer::with_capacity(class, self.len)?;
        count_copied_slots(self.len);
        self.for_each_part(|part, start, len| buffer.extend(part, start, len));
        Some(buffer)
    }

    /// Returns true if the view is all of an unshared, owned buffer of this class.
    pub fn is_unique(&self, class: Class) -> bool {
        match &self.store {
            Storage::Flat(buffer) => {
                Arc::strong_count(buffer) == 1
                    && buffer.class() == class
                    && self.len == buffer.len()
                    && !self.has_read_only_part()
            }
            Storage::Rope(_) => false,
        }
    }

    /// Returns the buffer, if the view is all of an unshared buffer.
    pub fn into_buffer(self) -> Option<Buffer> {
        match self.store {
            Storage::Flat(buffer) if self.len == buffer.len() => Arc::into_inner(buffer),
            _ => None,
        }
    }

    /// The buffers in which the slots lie.
    pub(super) fn buffers(&self) -> impl Iterator<Item = &Arc<Buffer>> {
        let (flat, parts) = match &self.store {
            Storage::Flat(buffer) => (Some(buffer), &[][..]),
            Storage::Rope(parts) => (None, &parts[..]),
        };
        flat.into_iter().chain(parts.iter().map(|part| &part.buffer))
    }

    /// Returns the number of slots in view.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns true if no slot is in view.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns slot `i` of the view.
    pub fn get(&self, i: usize) -> Value {
        match &self.store {
            Storage::Flat(buffer) => buffer.get(self.start + i),
            Storage::Rope(parts) => {
                let part = &parts[part_containing(parts, self.start + i)];
                part.buffer.get(part.start + self.start + i - part.at)
            }
        }
    }

    /// Returns the buffer in which slot `i` of the view lies, and its position there.
    pub fn locate(&self, i: usize) -> (&Buffer, usize) {
        match &self.store {
            Storage::Flat(buffer) => (buffer, self.start + i),
            Storage::Rope(parts) => {
                let part = &parts[part_containing(parts, self.start + i)];
                (&part.buffer, part.start + self.start + i - part.at)
            }
        }
    }

    /// Returns a narrower view of the same storage, or a copy of a small part of a large buffer.
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

    /// Returns true if a part of the view is copied before the first change.
    pub fn has_read_only_part(&self) -> bool {
        let mut read_only = false;
        self.for_each_part(|buffer, _, _| read_only |= buffer.is_read_only());
        read_only
    }

    /// Returns the address of the buffer of the first slot and the position in it: equal for views
    /// of the same storage.
    pub fn storage_address(&self) -> (usize, usize) {
        match &self.store {
            Storage::Flat(buffer) => (Arc::as_ptr(buffer) as usize, self.start),
            Storage::Rope(parts) => {
                let part = &parts[part_containing(parts, self.start)];
                (Arc::as_ptr(&part.buffer) as usize, part.start + self.start - part.at)
            }
        }
    }

    /// Returns the widest class among the buffers in view.
    pub fn class(&self) -> Class {
        let mut class = Class::U8;
        self.for_each_part(|buffer, _, _| class = class.max(buffer.class()));
        class
    }

    /// Calls `f` with each buffer in view, the first slot in it and the number of slots.
    pub(super) fn for_each_part(&self, mut f: impl FnMut(&Buffer, usize, usize)) {
        self.for_each_shared_part(|buffer, start, len| f(buffer, start, len));
    }

    /// Calls `f` with each shared buffer in view, the first slot in it and the number of slots.
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

    /// Returns the number of buffers that the view is made of.
    pub(super) fn part_count(&self) -> usize {
        match &self.store {
            Storage::Flat(_) => 1,
            Storage::Rope(parts) => parts.len(),
        }
    }

    /// Copies the view into one buffer of this class, with capacity for twice `slots` slots.
    /// Returns false, and changes nothing, if there is no memory.
    pub(super) fn flatten_with_capacity(&mut self, class: Class, slots: usize) -> bool {
        let Some(mut buffer) = Buffer::with_capacity(class, slots.saturating_mul(2)) else { return false };
        count_copied_slots(self.len);
        self.for_each_part(|part, start, len| buffer.extend(part, start, len));
        *self = Seq::new(buffer);
        true
    }

    /// Returns true if the view lies in an unshared, owned buffer of this class.
    pub(super) fn can_grow(&mut self, class: Class) -> bool {
        match &mut self.store {
            Storage::Flat(buffer) => {
                Arc::get_mut(buffer).is_some_and(|buffer| buffer.class() == class && !buffer.is_read_only())
            }
            Storage::Rope(_) => false,
        }
    }

    /// Drops the slots of the buffer behind the view and makes room for `slots` more. Returns false
    /// if the buffer is shared or there is no memory.
    pub(super) fn try_reserve(&mut self, slots: usize) -> bool {
        let end = self.start + self.len;
        let Some(buffer) = self.unique_buffer() else { return false };
        buffer.truncate(end);
        buffer.try_reserve(slots)
    }

    /// Appends the slots of a value of `slots` slots. Room for them has been made by
    /// [`Seq::try_reserve`].
    pub(super) fn append(&mut self, value: &Value, slots: usize) {
        count_copied_slots(slots);
        let buffer = self.unique_buffer().expect("the buffer has been reserved");
        buffer.append(value, slots);
        self.len += slots;
    }

    /// Returns the buffer, if it is one and not shared.
    fn unique_buffer(&mut self) -> Option<&mut Buffer> {
        match &mut self.store {
            Storage::Flat(buffer) => Arc::get_mut(buffer),
            Storage::Rope(_) => None,
        }
    }

    /// Returns a narrower view and drops this one. If the storage is not shared, the slots behind
    /// the narrower view are freed, and all slots outside it if they are three quarters of the
    /// buffer.
    pub(super) fn into_slice(self, start: usize, len: usize) -> Seq {
        // A slice that lies in one part of a rope is a view of that part's buffer alone.
        let mut view = self.slice(start, len);
        drop(self);
        let (start, len) = (view.start, view.len);
        let Some(buffer) = view.unique_buffer() else { return view };
        if buffer.is_read_only() {
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

    /// Returns slot `i`, moved out if its buffer is not shared.
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

    /// Returns a narrower view whose slots are not read through `self` afterward. A whole part of
    /// an unshared rope is moved out.
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

    /// Returns the view with a gap in place of slots `start..start + len`, if at most
    /// [`MIN_SHRUNK_SLOTS`] are left and the buffer is neither shared nor read only: the buffer itself
    /// can then be given to the owner of the slice.
    fn split_off_slice(&mut self, start: usize, len: usize) -> Option<Seq> {
        if self.len - len > MIN_SHRUNK_SLOTS
            || self.unique_buffer().is_none_or(|buffer| buffer.is_read_only())
        {
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

    /// Puts a value in place of a part that has been moved out ([`Seq::take_slice`]). Returns false,
    /// with nothing changed, if the slots are no such part.
    pub fn fill_gap(&mut self, start: usize, len: usize, value: &Value) -> bool {
        let from = self.start + start;
        let Storage::Rope(parts) = &mut self.store else { return false };
        let at = part_containing(parts, from);
        let part = &parts[at];
        if (part.at, part.len) != (from, len) || part.buffer.len() >= part.start + len {
            return false;
        }
        let Value::Seq(seq) = value else { return false };
        let Some((buffer, start)) = seq.to_flat(seq.class()) else { return false };
        let part = &mut Arc::make_mut(parts)[at];
        (part.buffer, part.start) = (buffer, start);
        true
    }

    /// Returns an unshared buffer that holds slots `start..start + len` of the view, and the
    /// position of the first of them, for a store. Of a rope only the part that holds the slots is
    /// copied.
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

    /// Makes the part of a rope that holds these slots unshared. Returns false if the view is no
    /// rope, the slots lie in several parts, or there is no memory.
    fn make_part_unique(&mut self, from: usize, len: usize, class: Class) -> bool {
        let Storage::Rope(parts) = &mut self.store else { return false };
        let at = part_containing(parts, from);
        if from + len > parts[at].at + parts[at].len {
            return false;
        }
        // The list of the parts is short, so copying it is cheap.
        let part = &mut Arc::make_mut(parts)[at];
        let own = Arc::strong_count(&part.buffer) == 1
            && part.buffer.class() >= class
            && !part.buffer.is_read_only();
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

    /// Returns the unshared flat buffer of the view, of this class or wider, and the position of
    /// the view in it, for a store. Copies if the buffer is shared, read only or too narrow.
    pub fn make_mut(&mut self, class: Class) -> (&mut Buffer, usize) {
        let flat = match &self.store {
            Storage::Flat(buffer) => {
                Arc::strong_count(buffer) == 1 && buffer.class() >= class && !buffer.is_read_only()
            }
            Storage::Rope(_) => false,
        };
        if !flat {
            let buffer =
                self.to_sole_buffer(self.class().max(class)).expect(super::buffer::COPY_MEMORY_AVAILABLE);
            *self = Seq::new(buffer);
        }
        let start = self.start;
        match &mut self.store {
            Storage::Flat(buffer) => (Arc::make_mut(buffer), start),
            Storage::Rope(_) => unreachable!("a copied view is flat"),
        }
    }
}

/// Returns the index of the part that holds a slot of a rope.
fn part_containing(parts: &[RopePart], slot: usize) -> usize {
    parts.partition_point(|p| p.at <= slot).max(1) - 1
}
