//! The one table of primitives: name, type as written in the language, a sentence.
//!
//! The checker reads names and types here; every executor matches [`Prim`] exhaustively, so that
//! a forgotten primitive does not compile.

use crate::types::{Scalar, Type, TypeKind};
use num_traits::ToPrimitive;

macro_rules! prims {
    ($( $variant:ident $name:literal : $ty:literal, $doc:literal; )*) => {
        /// A primitive.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Prim { $( #[doc = $doc] $variant, )* }

        impl Prim {
            /// Every primitive, in the order of the table.
            pub const ALL: &'static [Prim] = &[ $( Prim::$variant, )* ];

            /// Its name; several primitives of one name are overloads.
            pub fn name(self) -> &'static str {
                match self { $( Prim::$variant => $name, )* }
            }

            /// Its type, as source text: `[T, I:COMPACTLINEAR] T -> U`.
            pub fn signature(self) -> &'static str {
                match self { $( Prim::$variant => $ty, )* }
            }

            /// Its name with its type: `name[T, I:COMPACTLINEAR] : T -> U`.
            pub fn declaration(self) -> String {
                match self.signature().split_once("] ") {
                    Some((params, ty)) => format!("{}{params}] : {ty}", self.name()),
                    None => format!("{} : {}", self.name(), self.signature()),
                }
            }

            /// What it does, in a sentence.
            pub fn doc(self) -> &'static str {
                match self { $( Prim::$variant => $doc, )* }
            }
        }
    };
}

prims! {
    Print "print": "[T] T -> void", "Writes a value as `str` gives it.";
    Println "println": "[T] T -> void", "Writes a value as `str` gives it, and ends the line.";
    Str "str": "[T] T -> string", "The value as text for people.";
    Strr "_strr": "[T] T -> string", "The value as text that reads back.";
    TypeText "type_text": "[T] T -> string", "The type of the value as text, as messages show it; the value is not computed.";
    Convertible "convertible": "[A, B] unit -> bool", "Whether `:>` leads from `A` to `B`.";
    CallableWith "callable": "[F, A] unit -> bool", "Whether `F` is a type of functions or procedures that take a value of `A`, as it is or without loss.";
    Fail "fail": "[T] string -> T", "Stops the program with this message.";
    Assert "assert": "bool -> void", "Stops the program if the condition is false.";
    Reduce "_reduce": "[T, I:COMPACTLINEAR] (T * T -> T) * T * T ^ I -> T", "Joins a start and all elements by an associative operation, in one fixed tree.";
    Scan "_scan": "[T, I:COMPACTLINEAR] (T * T -> T) * T ^ I -> T ^ I", "The running results of an associative operation, grouped in one fixed way.";
    Sorts "_sorts": "[T, I:COMPACTLINEAR] unit -> bool", "Whether `_sort` and `_order` are for arrays of this type: of more than a few values of one word.";
    Sort "_sort": "[T, I:COMPACTLINEAR] T ^ I -> T ^ I", "The elements in ascending order, of a type that `_sorts`.";
    Order "_order": "[T, I:COMPACTLINEAR] T ^ I -> I ^ I", "The indices in the ascending order of their elements, of a type that `_sorts`.";
    Ranks "_ranks": "[T] unit -> bool", "Whether `_min`, `_max`, `_argmin` and `_argmax` are for elements of this type: of one word, in the order that the language gives it.";
    Min "_min": "[T] T * T -> T", "The smaller of two values of a type that `_ranks`.";
    Max "_max": "[T] T * T -> T", "The larger of two values of a type that `_ranks`.";
    ArgMin "_argmin": "[T, I:COMPACTLINEAR] T ^ I -> I", "The first index of the smallest element, of a type that `_ranks`.";
    ArgMax "_argmax": "[T, I:COMPACTLINEAR] T ^ I -> I", "The first index of the largest element, of a type that `_ranks`.";
    Fuses "_fuses": "[T] unit -> bool", "Whether `_dot` is for elements of this type.";
    Dot "_dot": "[T, I:COMPACTLINEAR] T ^ I * T ^ I -> T", "The sum of the products, each added without being rounded before; of a type that `_fuses`.";
    Move "move": "[T, S] S -> T", "The value with its leaves, the numbers and codes in it, where the type `T` has them; leaves that could be exchanged are an error.";
    Pack "pack": "[S, T] S -> T", "The compact product of the components of a tuple, the compact exponential of the elements of an array: one code.";
    Unpack "unpack": "[S, T] S -> T", "The components of a compact product as a tuple, the digits of a compact exponential as an array.";
    AInj "_ainj": "[N:COMPACTLINEAR, T] N * T -> N *+ T", "The case of a coarray with this index, and its argument.";
    CaseNo "caseno": "[S, T] S -> T", "The number of the case that a value of a sum is: an index of `N` for a coarray `N *+ A`.";
    CaseArg "casearg": "[S, T] S -> T", "The argument of a value of a sum whose cases all have arguments of one type.";
    Size "sizeof": "[I:COMPACTLINEAR] unit -> int", "The number of values of `I`.";
    Wrap "wrap": "[T, S] S -> T", "The number as an integer of type `T`, wrapped around if it does not fit.";
    Saturate "saturate": "[T, S] S -> T", "The number as an integer of type `T`, the nearest bound if it does not fit.";
    ModInt "mod": "[I:COMPACTLINEAR] int -> I", "The value of `I` whose code is the integer modulo the size of `I`.";
    ModBigint "mod": "[I:COMPACTLINEAR] bigint -> I", "The value of `I` whose code is the integer modulo the size of `I`.";
    IndexInt "index": "[I:COMPACTLINEAR] int -> 1 + I", "Case 1 with the value of `I` whose code is the integer, or case 0.";
    IndexBigint "index": "[I:COMPACTLINEAR] bigint -> 1 + I", "Case 1 with the value of `I` whose code is the integer, or case 0.";
    Sqrt "sqrt": "real -> real", "The square root.";
    Fma "fma": "real * real * real -> real", "`x * y + z`, rounded once.";
    Exp "exp": "real -> real", "e to the power of a number.";
    Log "log": "real -> real", "The natural logarithm.";
    Sin "sin": "real -> real", "The sine of an angle in radians.";
    Cos "cos": "real -> real", "The cosine of an angle in radians.";
    Tan "tan": "real -> real", "The tangent of an angle in radians.";
    Asin "asin": "real -> real", "The angle in [-π/2, π/2] with this sine.";
    Acos "acos": "real -> real", "The angle in [0, π] with this cosine.";
    Atan "atan": "real -> real", "The angle in (-π/2, π/2) with this tangent.";
    Atan2 "atan2": "real * real -> real", "The angle of the point (x, y), given as (y, x).";
    Tanh "tanh": "real -> real", "The hyperbolic tangent.";
    Floor "floor": "real -> real", "The largest whole number not above.";
    Ceil "ceil": "real -> real", "The smallest whole number not below.";
    Round "round": "real -> real", "The nearest whole number, halves away from zero.";
    Trunc "trunc": "real -> real", "The whole part.";
    IsNan "is_nan": "real -> bool", "Whether it is not a number.";
    BitAnd "band": "int * int -> int", "Bitwise and.";
    BitOr "bor": "int * int -> int", "Bitwise or.";
    BitXor "bxor": "int * int -> int", "Bitwise exclusive or.";
    BitNot "bnot": "int -> int", "Bitwise complement.";
    Shl "shl": "int * int -> int", "Shifts left; 0 from 64 places on.";
    Shr "shr": "int * int -> int", "Shifts right without sign; 0 from 64 places on.";
    PopCount "popcount": "int -> int", "The number of one bits.";
    Ctz "ctz": "int -> int", "The number of zero bits below the lowest one; 64 for 0.";
    StrLen "strlen": "string -> int", "The number of characters.";
    Substring "substring": "string * int * int -> string", "The characters from one position up to, not including, another; positions outside are moved to the ends.";
    StrFind "strfind": "string * string -> int", "The position of the first occurrence of the second text in the first, or -1.";
    StrReplace "_replace_all": "string * string * string -> string", "The first text with each occurrence of the second one, from the left, replaced by the third.";
    Upper "upper": "string -> string", "In upper case.";
    Lower "lower": "string -> string", "In lower case.";
    UpperChar "upper": "char -> char", "In upper case, where that is one character.";
    LowerChar "lower": "char -> char", "In lower case, where that is one character.";
    IsLetter "is_letter": "char -> bool", "Whether it is a letter of any script.";
    IsSpace "is_space": "char -> bool", "Whether it is a blank, a tab, a line break or another space.";
    Trim "trim": "string -> string", "Without blanks at its ends.";
    StrRepeat "repeat": "string * int -> string", "The text that many times; empty below 1.";
    Chr "chr": "int -> string", "The character with this Unicode code point.";
    CodePoint "codepoint": "string * int -> int", "The Unicode code point of the character at a position, or -1.";
    ParseInt "parse_int": "string -> 1 + int", "Case 1 with the integer the text is, or case 0.";
    ParseReal "parse_real": "string -> 1 + real", "Case 1 with the real the text is, or case 0.";
    Compress "compress": "[T, I:COMPACTLINEAR] T ^ I * bool ^ I -> T ^ ?K", "The elements beside which the other array is true, in order.";
    Iota "iota": "int -> int ^ ?N", "The integers from 0 up to, not including, a number that is not negative.";
    Characters "characters": "string -> string ^ ?N", "The characters of a text, each as a text.";
    Words "words": "string -> string ^ ?N", "The parts of a text between blanks.";
    Lines "lines": "string -> string ^ ?N", "The lines of a text.";
    Split "split": "string * string -> string ^ ?N", "The parts of a text between the places where another stands.";
    Numbers "numbers": "string -> real ^ ?N", "The numbers of a text, between blanks and commas.";
    Table "table": "string -> real ^ (?R \\* ?C)", "The numbers of a text, a row for each line that has any; rows are equally long.";
    Npy "npy": "[S] string -> S", "The array of an `.npy` file, as the stated type says.";
    Npz "npz": "[S] string * string -> S", "The array of this name in an `.npz` file, as the stated type says.";
    Csv "csv": "[S] string -> S", "The table of a CSV file, as the stated type says: records by the names of its columns, or numbers.";
    CsvBy "csv": "[S] string * char -> S", "The table of a file, with this character between the cells of a line.";
    Arrow "arrow": "[S] string -> S", "The table of an Arrow file, as the stated type says: records by the names of its columns.";
    Parquet "parquet": "[S] string -> S", "The table of a Parquet file, as the stated type says: records by the names of its columns.";
    Raw "raw": "[S] string -> S", "The numbers of a file that holds nothing else, as the stated type says.";
    ReadText "read_text": "string -> string", "The text of a file.";
    WriteNpy "write_npy": "[T] string * T -> void", "Writes an array or a table as an `.npy` file.";
    WriteNpz "write_npz": "[T] string * T -> void", "Writes the arrays of a record as an `.npz` file.";
    WriteCsv "write_csv": "[T] string * T -> void", "Writes records or numbers as a CSV file.";
    WriteCsvBy "write_csv": "[T] string * T * char -> void", "Writes records or numbers as a file, with this character between the cells of a line.";
    WriteArrow "write_arrow": "[T] string * T -> void", "Writes records as an Arrow file.";
    WriteParquet "write_parquet": "[T] string * T -> void", "Writes records as a Parquet file.";
    WriteRaw "write_raw": "[T] string * T -> void", "Writes numbers, and nothing else, as a file.";
    WriteText "write_text": "string * string -> void", "Writes a text as a file.";
    Cells "_cells": "[T] T -> string", "The numbers of an array as text, between blanks.";
    Svg "_svg": "string -> string", "The picture that a text describes, as SVG.";
    Draw "_draw": "string -> void", "Prints the picture that a text describes, as it fits where it is seen.";
    SavePicture "_save_picture": "string * string -> void", "Writes the picture that a text describes as a file.";
    Fixed "fixed": "real * int -> string", "The number with that many digits after the point.";
}

impl Prim {
    /// Whether calling it is an effect.
    pub fn is_procedure(self) -> bool {
        self.signature().ends_with("-> void")
    }

    /// Whether it gives what is in a file.
    pub fn is_reader(self) -> bool {
        matches!(
            self,
            Prim::Npy
                | Prim::Npz
                | Prim::Csv
                | Prim::CsvBy
                | Prim::Arrow
                | Prim::Parquet
                | Prim::Raw
                | Prim::ReadText
        )
    }

    /// Whether the checker computes the type of the result from that of the argument.
    pub fn has_computed_result_type(self) -> bool {
        matches!(self, Prim::Move | Prim::Pack | Prim::Unpack | Prim::CaseNo | Prim::CaseArg | Prim::TypeText)
    }

    /// Whether the stated type says what it gives.
    pub fn has_stated_result_type(self) -> bool {
        self.is_reader() && self.signature().ends_with("-> S")
    }

    /// Whether the files that it reads or writes have columns of lists.
    pub fn supports_list_columns(self) -> bool {
        matches!(self, Prim::Arrow | Prim::WriteArrow | Prim::Parquet | Prim::WriteParquet)
    }
}

/// What [`Prim::Fuses`] says of the type it is used at.
pub fn fuses(types: &[Type]) -> bool {
    matches!(types, [element] if element.as_scalar() == Some(Scalar::Real))
}

/// What [`Prim::Ranks`] says of the type it is used at: values of one word have an order that is known, but those of a declared
/// type may have one of their own.
pub fn ranks(types: &[Type]) -> bool {
    let [element] = types else { return false };
    match element.as_scalar() {
        Some(scalar) => !matches!(scalar, Scalar::Bigint | Scalar::String),
        None => {
            let bits = element.size().map_or(u64::MAX, |size| size.bits());
            !matches!(element.kind(), TypeKind::Nominal(..)) && element.is_compact() && bits <= 63
        }
    }
}

/// What [`Prim::Sorts`] says of the types it is used at, of elements and of indices: values of one word have an order that is known, but those of a
/// declared type may have one of their own.
pub fn sorts(types: &[Type]) -> bool {
    /// Fewer are sorted where they are, by the function in the language.
    const MAX_UNSORTED_ELEMENTS: u64 = 200;
    let [element, index] = types else { return false };
    ranks(std::slice::from_ref(element))
        && index.size().is_ok_and(|size| size.to_u64().is_some_and(|size| size > MAX_UNSORTED_ELEMENTS))
}
