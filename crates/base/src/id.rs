//! Typed numbers: a kind of thing that is numbered gets a type of its own around a `u32`, so that
//! one cannot be used in place of another.

use std::fmt;
use std::hash::Hash;

pub use crate::ids;

/// A number that names an entry of a table.
pub trait Id: Copy + Eq + Hash + Ord + fmt::Display {
    /// The id with this number.
    fn new(index: usize) -> Self;

    /// The number, from 0.
    fn index(self) -> usize;
}

/// Defines types of [`Id`]s, each with the text in front of its number when it is written.
#[macro_export]
macro_rules! ids {
    ($( $(#[$doc:meta])* $name:ident $prefix:literal; )*) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $name {
            /// The text in front of the number.
            pub const PREFIX: &'static str = $prefix;

            /// The id with this number.
            #[inline]
            pub fn new(index: usize) -> $name {
                $name(u32::try_from(index).expect("fewer than 2^32 ids"))
            }

            /// The number as a position in a table.
            #[inline]
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl $crate::id::Id for $name {
            fn new(index: usize) -> $name {
                $name::new(index)
            }

            fn index(self) -> usize {
                $name::index(self)
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }
    )* };
}
