//! The words of enumerations in the texts of intermediate forms, for their printers and parsers.

pub use crate::mnemonics;

/// Defines the trait `Mnemonic` of a form, and implements it for enumerations with a word for each
/// variant. The trait is one of the crate that calls this, since some enumerations are of others.
#[macro_export]
macro_rules! mnemonics {
    ($( $Enum:ident { $( $variant:ident $word:literal )* } )*) => {
        /// Enumerations with a word for each variant.
        pub trait Mnemonic: Sized {
            /// Returns the word.
            fn mnemonic(self) -> &'static str;

            /// Returns the variant of this word.
            fn from_mnemonic(word: &str) -> Option<Self>;
        }

        $(
            impl Mnemonic for $Enum {
                fn mnemonic(self) -> &'static str {
                    match self { $( $Enum::$variant => $word, )* }
                }

                fn from_mnemonic(word: &str) -> Option<$Enum> {
                    match word {
                        $( $word => Some($Enum::$variant), )*
                        _ => None,
                    }
                }
            }
        )*
    };
}
