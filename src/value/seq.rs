//! Views into buffers, shared until a store.

use super::{Buffer, Class, Value};
use std::sync::Arc;

/// A view of two or more slots.
#[derive(Clone)]
pub struct Seq {
    store: Store,
    start: usize,
    len: usize,
}

#[derive(Clone)]
enum Store {
    Flat(Arc<Buffer>),
    Rope(Arc<Vec<Part>>),
}

/// Part of a rope: it holds the slots from `at` of the rope on.
#[derive(Clone)]
struct Part {
    at: usize,
    buffer: Arc<Buffer>,
    start: usize,
    len: usize,
}

impl Seq {
    /// All of a buffer.
    pub fn new(buffer: Buffer) -> Seq {
        let len = buffer.len();
        Seq { store: Store::Flat(Arc::new(buffer)), start: 0, len }
    }

    /// The views one after the other, sharing their buffers.
    pub fn rope(views: &[Seq]) -> Seq {
        let mut parts: Vec<Part> = Vec::new();
        let mut at = 0;
        for view in views {
            view.for_each_shared(|buffer, start, len| {
                parts.push(Part { at, buffer: buffer.clone(), start, len });
                at += len;
            });
        }
        Seq { store: Store::Rope(Arc::new(parts)), start: 0, len: at }
    }

    /// All of a buffer that others may see, too.
    pub fn shared(buffer: Arc<Buffer>) -> Seq {
        let len = buffer.len();
        Seq { store: Store::Flat(buffer), start: 0, len }
    }

    /// One buffer of a class that holds the view, with the position of the first slot; copied if it is
    /// not so already. `None` if there is no room for the copy.
    pub fn flat(&self, class: Class) -> Option<(Arc<Buffer>, usize)> {
        if let Store::Flat(buffer) = &self.store
            && buffer.class() == class
        {
            return Some((buffer.clone(), self.start));
        }
        let mut buffer = Buffer::with_room(class, self.len)?;
        self.for_each_part(|part, start, len| buffer.extend(part, start, len));
        Some((Arc::new(buffer), 0))
    }

    /// Whether it is all of a buffer of a class, in memory of our own, that nobody else holds.
    pub fn is_sole(&self, class: Class) -> bool {
        match &self.store {
            Store::Flat(buffer) => {
                Arc::strong_count(buffer) == 1
                    && buffer.class() == class
                    && self.len == buffer.len()
                    && !self.is_foreign()
            }
            Store::Rope(_) => false,
        }
    }

    /// The buffer that it is all of, if nobody else holds it.
    pub fn into_buffer(self) -> Option<Buffer> {
        match self.store {
            Store::Flat(buffer) if self.len == buffer.len() => Arc::into_inner(buffer),
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
            Store::Flat(buffer) => buffer.get(self.start + i),
            Store::Rope(parts) => {
                let part = &parts[part_of(parts, self.start + i)];
                part.buffer.get(part.start + self.start + i - part.at)
            }
        }
    }

    /// A narrower view of the same storage.
    pub fn slice(&self, start: usize, len: usize) -> Seq {
        let start = self.start + start;
        if let Store::Rope(parts) = &self.store {
            let part = &parts[part_of(parts, start)];
            if start + len <= part.at + part.len {
                let store = Store::Flat(part.buffer.clone());
                return Seq { store, start: part.start + start - part.at, len };
            }
        }
        Seq { store: self.store.clone(), start, len }
    }

    /// Whether a part of it lies in memory of somebody else.
    pub fn is_foreign(&self) -> bool {
        let mut foreign = false;
        self.for_each_part(|buffer, _, _| foreign |= buffer.is_foreign());
        foreign
    }

    /// The address of the first slot's buffer and the position in it: equal for views of the same
    /// storage.
    pub fn address(&self) -> (usize, usize) {
        match &self.store {
            Store::Flat(buffer) => (Arc::as_ptr(buffer) as usize, self.start),
            Store::Rope(parts) => {
                let part = &parts[part_of(parts, self.start)];
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
        self.for_each_shared(|buffer, start, len| f(buffer, start, len));
    }

    fn for_each_shared(&self, mut f: impl FnMut(&Arc<Buffer>, usize, usize)) {
        match &self.store {
            Store::Flat(buffer) => f(buffer, self.start, self.len),
            Store::Rope(parts) => {
                let end = self.start + self.len;
                for part in &parts[part_of(parts, self.start)..] {
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

    /// The buffer of the view, its own and flat, with the position of the view in it: what a store
    /// needs. Copies unless nobody else sees the buffer, and its memory is its own.
    pub fn make_mut(&mut self, class: Class) -> (&mut Buffer, usize) {
        let flat = match &self.store {
            Store::Flat(buffer) => {
                Arc::strong_count(buffer) == 1 && buffer.class() >= class && !buffer.is_foreign()
            }
            Store::Rope(_) => false,
        };
        if !flat {
            let mut buffer = Buffer::with_room(self.class().max(class), self.len)
                .unwrap_or_else(|| Buffer::Any(Vec::new()));
            self.for_each_part(|part, start, len| buffer.extend(part, start, len));
            *self = Seq::new(buffer);
        }
        let start = self.start;
        match &mut self.store {
            Store::Flat(buffer) => (Arc::make_mut(buffer), start),
            Store::Rope(_) => unreachable!("a copied view is flat"),
        }
    }
}

/// The part that holds a slot of a rope.
fn part_of(parts: &[Part], slot: usize) -> usize {
    parts.partition_point(|p| p.at <= slot).max(1) - 1
}
