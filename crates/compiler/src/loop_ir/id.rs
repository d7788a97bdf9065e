//! Typed numbers of the loop form, and tables over them.
//!
//! A register, a variable, an array and a label are each a type of their own around a `u32`, so
//! that one cannot be used in place of another. [`IdVec`] is a vector that only the ids of its
//! entries index, [`IdMap`] a map of ids that is a vector, too.

pub use crate::id::Id;

use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

crate::id::ids! {
    /// A register: set once, in the order of statements.
    Reg "r";
    /// A variable: set and read any number of times.
    Var "v";
    /// An array of slots of equal width.
    Array "a";
    /// The name of a loop or block, which `Break` and `Continue` refer to.
    Label "@";
}

/// A vector indexed by ids of one type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct IdVec<I, T> {
    entries: Vec<T>,
    ids: PhantomData<I>,
}

impl<I: Id, T> IdVec<I, T> {
    /// Appends an entry, and returns its id.
    pub fn push(&mut self, entry: T) -> I {
        self.entries.push(entry);
        I::new(self.entries.len() - 1)
    }

    /// The number of entries.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns true if there is no entry.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The entry of an id; `None` beyond the end.
    pub fn get(&self, id: I) -> Option<&T> {
        self.entries.get(id.index())
    }

    /// The entries in the order of their ids.
    pub fn iter(&self) -> std::slice::Iter<'_, T> {
        self.entries.iter()
    }

    /// The ids in order.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = I> + use<I, T> {
        (0..self.entries.len()).map(I::new)
    }
}

impl<I, T> Default for IdVec<I, T> {
    fn default() -> IdVec<I, T> {
        IdVec { entries: Vec::new(), ids: PhantomData }
    }
}

impl<I, T> FromIterator<T> for IdVec<I, T> {
    fn from_iter<A: IntoIterator<Item = T>>(entries: A) -> IdVec<I, T> {
        IdVec { entries: entries.into_iter().collect(), ids: PhantomData }
    }
}

impl<I: Id, T> Index<I> for IdVec<I, T> {
    type Output = T;

    fn index(&self, id: I) -> &T {
        &self.entries[id.index()]
    }
}

impl<I: Id, T> IndexMut<I> for IdVec<I, T> {
    fn index_mut(&mut self, id: I) -> &mut T {
        &mut self.entries[id.index()]
    }
}

/// A map of ids of one type as a vector: for maps that have entries for many of the ids.
#[derive(Clone, Debug)]
pub struct IdMap<I, T> {
    entries: Vec<Option<T>>,
    ids: PhantomData<I>,
}

impl<I: Id, T> IdMap<I, T> {
    /// The entry of an id.
    pub fn get(&self, id: &I) -> Option<&T> {
        self.entries.get(id.index())?.as_ref()
    }

    /// Sets the entry of an id; returns the one before.
    pub fn insert(&mut self, id: I, entry: T) -> Option<T> {
        self.set(id, Some(entry))
    }

    /// Sets or removes the entry of an id; returns the one before.
    pub fn set(&mut self, id: I, entry: Option<T>) -> Option<T> {
        if self.entries.len() <= id.index() {
            self.entries.resize_with(id.index() + 1, || None);
        }
        std::mem::replace(&mut self.entries[id.index()], entry)
    }
}

impl<I, T> Default for IdMap<I, T> {
    fn default() -> IdMap<I, T> {
        IdMap { entries: Vec::new(), ids: PhantomData }
    }
}
