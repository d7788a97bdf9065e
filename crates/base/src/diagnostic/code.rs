//! Codes of messages, and [`errors!`], which declares the errors that carry them.
//!
//! A code is a letter and four digits: `E` for errors, `W` for warnings, `N` for notes. Codes are
//! stable: the reference (`book/src/diagnostics.md`) has a section for each, which
//! `felis explain CODE` prints.

use std::fmt;

/// The code of a message, such as `E0301`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Code(&'static str);

impl Code {
    /// The code of this text.
    ///
    /// # Panics
    /// The text is no letter of `E`, `W`, `N` with four digits. In a constant this is an error of
    /// compilation.
    pub const fn new(text: &'static str) -> Code {
        let bytes = text.as_bytes();
        assert!(
            bytes.len() == 5 && matches!(bytes[0], b'E' | b'W' | b'N'),
            "a code is a letter and four digits"
        );
        let mut at = 1;
        while at < 5 {
            assert!(bytes[at].is_ascii_digit(), "a code is a letter and four digits");
            at += 1;
        }
        Code(text)
    }

    /// The text.
    pub const fn as_str(self) -> &'static str {
        self.0
    }
}

impl From<&'static str> for Code {
    fn from(text: &'static str) -> Code {
        Code::new(text)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl PartialEq<str> for Code {
    fn eq(&self, other: &str) -> bool {
        self.0 == other
    }
}

impl PartialEq<&str> for Code {
    fn eq(&self, other: &&str) -> bool {
        self.0 == *other
    }
}

/// Declares an enum of errors, each variant once with its code and fields, and `code()`.
///
/// ```text
/// errors! {
///     /// Errors about doors.
///     pub enum DoorError {
///         /// The door is locked.
///         E0123 Locked { span: Span, key: String },
///     }
/// }
/// ```
///
/// A variant that holds another error and has its code is written `field => Variant { field: … }`
/// after a semicolon. The message is `to_diagnostic`, written by hand. An enum of `families:` holds
/// other such enums; it has `From` for each, and both `code()` and `to_diagnostic()` are theirs.
#[macro_export]
macro_rules! errors {
    (
        $(#[$meta:meta])*
        pub enum $name:ident {
            families:
            $($family:ident($error:ty),)+
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug)]
        #[allow(missing_docs)] // a family says what it is at its own declaration
        pub enum $name {
            $($family($error),)+
        }

        impl $name {
            /// The code of the message.
            pub fn code(&self) -> $crate::diagnostic::Code {
                match self {
                    $($name::$family(error) => error.code(),)+
                }
            }

            /// The message.
            pub fn to_diagnostic(&self) -> $crate::diagnostic::Diagnostic {
                match self {
                    $($name::$family(error) => error.to_diagnostic(),)+
                }
            }
        }

        $(impl From<$error> for $name {
            fn from(error: $error) -> $name {
                $name::$family(error)
            }
        })+
    };
    (
        $(#[$meta:meta])*
        pub enum $name:ident {
            $(
                $(#[$variant_meta:meta])*
                $code:ident $variant:ident $({
                    $($(#[$field_meta:meta])* $field:ident: $ty:ty),* $(,)?
                })?
            ),* $(,)?
            $(;
                $(#[$outer_meta:meta])*
                $inner:ident => $outer:ident {
                    $($(#[$outer_field_meta:meta])* $outer_field:ident: $outer_ty:ty),* $(,)?
                }
            )?
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug)]
        #[allow(missing_docs)] // fields are what the message shows
        pub enum $name {
            $($(#[$variant_meta])* $variant $({ $($(#[$field_meta])* $field: $ty),* })?,)*
            $($(#[$outer_meta])* $outer { $($(#[$outer_field_meta])* $outer_field: $outer_ty),* },)?
        }

        impl $name {
            /// The code of the message.
            pub fn code(&self) -> $crate::diagnostic::Code {
                match self {
                    $($name::$variant { .. } => const { $crate::diagnostic::Code::new(stringify!($code)) },)*
                    $($name::$outer { $inner, .. } => $inner.code(),)?
                }
            }
        }
    };
}

pub use errors;
