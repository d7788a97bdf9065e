//! Typed numbers of the array IR: values, size variables, labels, functions and sites.

use std::fmt;

macro_rules! ids {
    ($( $(#[$doc:meta])* $name:ident $prefix:literal; )*) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $name {
            /// The text in front of the number.
            pub const PREFIX: &'static str = $prefix;

            /// The number as a position in a table.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl From<u32> for $name {
            fn from(number: u32) -> $name {
                $name(number)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }
    )* };
}

ids! {
    /// A value of a function: defined once, by a statement or as the parameter of a block.
    Value "v";
    /// A size variable of a function: one of its size parameters, or opened by a statement.
    SizeVar "n";
    /// A loop or a block that `next` and `exit` name.
    Label "@";
    /// A function of a program.
    FunctionId "f";
    /// A place in the source text at which a run may fail.
    SiteId "s";
}
