//! The one table of primitives: name, type as written in the language, class, a sentence.
//!
//! The checker reads names and types here; every executor matches [`Prim`] exhaustively, so that a
//! missing primitive does not compile. [`PrimClass`] states how a primitive is computed and its
//! effect. Functions of scalars have a table of their own ([`super::scalar_function`]), which
//! contains all that such a primitive needs.

use super::scalar_function::{ScalarFunction, scalar_functions};
use super::signature::Signature;
use crate::hash::HashMap;
use crate::types::{Scalar, Type, TypeKind};
use num_traits::ToPrimitive;
use std::sync::OnceLock;

/// The way in which a primitive is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PrimClass {
    /// A total function of scalars, from their table.
    Scalar(ScalarFunction),
    /// Prints.
    Output,
    /// A function that takes or returns text.
    Text,
    /// A function of a character.
    Character,
    /// A query about concrete types, answered when a function is specialized.
    TypeQuery,
    /// Ends the program, always or under a condition.
    Check,
    /// Processes the elements of an array in the fixed grouping of [`super::reduction`].
    Fold,
    /// Sorts an array.
    Sort,
    /// Groups elements, or changes or reads the storage of a container, for the library alone.
    Container,
    /// Returns the smaller or larger of two values of one word.
    Order,
    /// The checker computes the type of the result from that of the argument.
    ComputedResult,
    /// Converts between codes, indices and values of compact types and sums.
    Code,
    /// Converts between numbers without failing.
    Convert,
    /// Returns an array whose size is determined at run time.
    Select,
    /// Returns an array whose size is determined at run time, from a text.
    SelectText,
    /// Returns the content of a file.
    Reader {
        /// The file may have columns of lists.
        lists: bool,
    },
    /// Asks the machine that runs the program, or changes what others see of it: its clock, its
    /// standard input and error, its variables, its folders.
    System,
    /// Returns the place that executes it.
    Place,
    /// Moves data between places, or draws random numbers that places have in common: all of them
    /// execute it.
    Communication,
    /// Writes a file.
    Writer {
        /// The file may have columns of lists.
        lists: bool,
    },
    /// Works on keys and ciphertexts, for the library alone: its types say less than those of the
    /// functions that call it.
    Cipher {
        /// A draw of random numbers, or a use of a file.
        at_place: bool,
    },
}

/// The effect of a primitive, beyond its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// None: the primitive may be computed early, repeatedly, or not at all.
    None,
    /// May end the program with an error.
    MayFail,
    /// Prints.
    Output,
    /// Reads or writes a file, asks the machine, or draws random numbers: it may be different for
    /// each party.
    Files,
    /// Moves data between places: never dropped, merged or exchanged with another.
    Communication,
}

impl PrimClass {
    /// Returns the effect of primitives of the class.
    pub fn effect(self) -> Effect {
        match self {
            PrimClass::Scalar(_)
            | PrimClass::Character
            | PrimClass::TypeQuery
            | PrimClass::Order
            | PrimClass::ComputedResult
            | PrimClass::Place
            | PrimClass::Convert => Effect::None,
            // The operation of a fold may fail, and so may the allocation of an array or a text.
            PrimClass::Check
            | PrimClass::Text
            | PrimClass::Fold
            | PrimClass::Sort
            | PrimClass::Container
            | PrimClass::Code
            | PrimClass::Select
            | PrimClass::SelectText
            | PrimClass::Cipher { at_place: false } => Effect::MayFail,
            PrimClass::Output => Effect::Output,
            PrimClass::Communication => Effect::Communication,
            PrimClass::Reader { .. }
            | PrimClass::Writer { .. }
            | PrimClass::System
            | PrimClass::Cipher { at_place: true } => Effect::Files,
        }
    }
}

macro_rules! prims {
    ({ before { $( $a:ident $a_name:literal : $a_ty:literal, $a_class:expr, $a_doc:literal; )* }
       after { $( $b:ident $b_name:literal : $b_ty:literal, $b_class:expr, $b_doc:literal; )* } }
     primitives { $( $scalar:ident $name:literal $args:tt -> $result:ident = $body:expr, $doc:literal; )* }
     operators { $( $op:tt )* }) => {
        /// A primitive.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Prim {
            $( #[doc = $a_doc] $a, )*
            /// A function of scalars.
            Scalar(ScalarFunction),
            $( #[doc = $b_doc] $b, )*
        }

        impl Prim {
            /// Every primitive, in the order of the table.
            pub const ALL: &'static [Prim] = &[
                $( Prim::$a, )*
                $( Prim::Scalar(ScalarFunction::$scalar), )*
                $( Prim::$b, )*
            ];

            /// Returns the name; several primitives of one name are overloads.
            pub fn name(self) -> &'static str {
                match self {
                    Prim::Scalar(function) => function.name(),
                    $( Prim::$a => $a_name, )*
                    $( Prim::$b => $b_name, )*
                }
            }

            /// Returns the type as source text: `[T, I:COMPACTLINEAR] T -> U`.
            pub fn signature(self) -> &'static str {
                match self {
                    Prim::Scalar(function) => function.type_text(),
                    $( Prim::$a => $a_ty, )*
                    $( Prim::$b => $b_ty, )*
                }
            }

            /// Returns the class.
            pub fn class(self) -> PrimClass {
                #[allow(clippy::enum_glob_use)]
                use PrimClass::*;
                match self {
                    Prim::Scalar(function) => Scalar(function),
                    $( Prim::$a => $a_class, )*
                    $( Prim::$b => $b_class, )*
                }
            }

            /// Returns a sentence that describes the primitive.
            pub fn doc(self) -> &'static str {
                match self {
                    Prim::Scalar(function) => function.doc(),
                    $( Prim::$a => $a_doc, )*
                    $( Prim::$b => $b_doc, )*
                }
            }
        }
    };
}

scalar_functions! { prims
    before {
        Print "print": "[T] T -> void", Output, "Writes a value as `str` gives it.";
        Println "println": "[T] T -> void", Output, "Writes a value as `str` gives it, and ends the line.";
        Str "str": "[T] T -> string", Text, "The value as text for people.";
        Strr "_strr": "[T] T -> string", Text, "The value as text that reads back.";
        TypeText "type_text": "[T] T -> string", ComputedResult, "The type of the value as text, as messages show it; the value is not computed.";
        Convertible "convertible": "[A, B] unit -> bool", TypeQuery, "Whether `:>` leads from `A` to `B`.";
        CallableWith "callable": "[F, A] unit -> bool", TypeQuery, "Whether `F` is a type of functions or procedures that take a value of `A`, as it is or without loss.";
        Fail "fail": "[T] string -> T", Check, "Stops the program with this message.";
        Assert "assert": "bool -> void", Check, "Stops the program if the condition is false.";
        Reduce "_reduce": "[T, I:COMPACTLINEAR] (T * T -> T) * T * T ^ I -> T", Fold, "Joins a start and all elements by an associative operation, in one fixed tree.";
        Scan "_scan": "[T, I:COMPACTLINEAR] (T * T -> T) * T ^ I -> T ^ I", Fold, "The running results of an associative operation, grouped in one fixed way.";
        Sorts "_sorts": "[T, I:COMPACTLINEAR] unit -> bool", TypeQuery, "Whether `_sort` and `_order` are for arrays of this type: of more than a few values of one word.";
        Sort "_sort": "[T, I:COMPACTLINEAR] T ^ I -> T ^ I", Sort, "The elements in ascending order, of a type that `_sorts`.";
        Order "_order": "[T, I:COMPACTLINEAR] T ^ I -> I ^ I", Sort, "The indices in the ascending order of their elements, of a type that `_sorts`.";
        Hashes "_hashes": "[T] unit -> bool", TypeQuery, "Whether values of this type are keys of `_group` and of the hash tables of dictionaries: scalars, codes of one word and tuples of these, in the order that the language gives them.";
        Compiled "_compiled": "unit -> bool", TypeQuery, "Whether machine code is made of this: a container is a primitive of the evaluator, and compiled from its text.";
        Group "_group": "[K, I:COMPACTLINEAR] K ^ I -> K ^ ?G * ?G ^ I", Container, "The distinct elements in their order, and for each element the number of its own; of a type that `_hashes`.";
        ListPush "_list_push": "[T, L] L * T -> L", Container, "The list with one element more.";
        ListGet "_list_get": "[T, L] L * int -> 1 + T", Container, "The element at a position in case 1; case 0 if there is none.";
        ListPut "_list_put": "[T, L] L * int * T -> L", Container, "The list with another element at a position that it has.";
        HeapPush "_heap_push": "[T, H] H * T -> H", Container, "The heap with one element more, of a type that `_hashes`.";
        HeapPop "_heap_pop": "[T, H] H -> H", Container, "The heap without its least element, of a type that `_hashes`; the same if it is empty.";
        DictPut "_dict_put": "[K, V, D] D * K * V -> D", Container, "The dictionary with a value at a key of a type that `_hashes`.";
        DictLookup "_dict_lookup": "[K, V, D] D * K -> 1 + V", Container, "The value at a key of a type that `_hashes`.";
        DictGet "_dict_get": "[K, V, D] D * K * V -> V", Container, "The value at a key of a type that `_hashes`, or another where there is none.";
        DictRemove "_dict_remove": "[K, V, D] D * K -> D", Container, "The dictionary without a key of a type that `_hashes`.";
        Ranks "_ranks": "[T] unit -> bool", TypeQuery, "Whether `_min`, `_max`, `_argmin` and `_argmax` are for elements of this type: of one word, in the order that the language gives it.";
        Min "_min": "[T] T * T -> T", Order, "The smaller of two values of a type that `_ranks`.";
        Max "_max": "[T] T * T -> T", Order, "The larger of two values of a type that `_ranks`.";
        ArgMin "_argmin": "[T, I:COMPACTLINEAR] T ^ I -> I", Fold, "The first index of the smallest element, of a type that `_ranks`.";
        ArgMax "_argmax": "[T, I:COMPACTLINEAR] T ^ I -> I", Fold, "The first index of the largest element, of a type that `_ranks`.";
        AtMost "_at_most": "[I:COMPACTLINEAR, J:COMPACTLINEAR] unit -> bool", TypeQuery, "Whether an index type has no more values than another one.";
        Fuses "_fuses": "[T] unit -> bool", TypeQuery, "Whether `_dot` is for elements of this type.";
        Dot "_dot": "[T, I:COMPACTLINEAR] T ^ I * T ^ I -> T", Fold, "The sum of the products, each added without being rounded before; of a type that `_fuses`.";
        Move "move": "[T, S] S -> T", ComputedResult, "The value with its leaves, the numbers and codes in it, where the type `T` has them; leaves that could be exchanged are an error.";
        Over "over": "[D:COMPACTLINEAR, S, T] S -> T", ComputedResult, "The array over the axes of `D`, repeated along those that it does not have; its own axes stand in `D` in their order.";
        TransposeTo "transpose_to": "[D:COMPACTLINEAR, S, T] S -> T", ComputedResult, "The array with its axes in the order in which they stand in `D`.";
        Like "like": "[Y, S, T] Y -> S -> T", ComputedResult, "The second array over the axes of the first, repeated along those that it does not have.";
        Pack "pack": "[S, T] S -> T", ComputedResult, "The compact product of the components of a tuple, the compact exponential of the elements of an array: one code.";
        Unpack "unpack": "[S, T] S -> T", ComputedResult, "The components of a compact product as a tuple, the digits of a compact exponential as an array.";
        AInj "_ainj": "[N:COMPACTLINEAR, T] N * T -> N *+ T", Code, "The case of a coarray with this index, and its argument.";
        CaseNo "caseno": "[S, T] S -> T", ComputedResult, "The number of the case that a value of a sum is: an index of `N` for a coarray `N *+ A`.";
        CaseArg "casearg": "[S, T] S -> T", ComputedResult, "The argument of a value of a sum whose cases all have arguments of one type.";
        HasPlace "_has_place": "[S:PLACES, R:PLACES] unit -> bool", TypeQuery, "True if a place of R is one of S.";
        HasPlaces "_has_places": "[S:PLACES, R:PLACES] unit -> bool", TypeQuery, "True if all places of R are of S.";
        Size "sizeof": "[I:COMPACTLINEAR] unit -> int", Code, "The number of values of `I`.";
        Shift "_shift": "[N:COMPACTLINEAR, M:COMPACTLINEAR, S:COMPACTLINEAR] N * M -> S", Code, "The value whose code is the sum of two codes, where `S` has at least one value less than `N` and `M` together.";
        FirstLabel "_first_label": "[I:COMPACTLINEAR] unit -> int", Code, "The label of the first value of `I`; 0 if its values have no labels.";
        Wrap "wrap": "[T, S] S -> T", Convert, "The number as an integer of type `T`, wrapped around if it does not fit.";
        Saturate "saturate": "[T, S] S -> T", Convert, "The number as an integer of type `T`, the nearest bound if it does not fit.";
        ModInt "mod": "[I:COMPACTLINEAR] int -> I", Code, "The value of `I` whose code is the integer modulo the size of `I`.";
        ModBigint "mod": "[I:COMPACTLINEAR] bigint -> I", Code, "The value of `I` whose code is the integer modulo the size of `I`.";
        IndexInt "index": "[I:COMPACTLINEAR] int -> 1 + I", Code, "Case 1 with the value of `I` whose code is the integer, or case 0.";
        IndexBigint "index": "[I:COMPACTLINEAR] bigint -> 1 + I", Code, "Case 1 with the value of `I` whose code is the integer, or case 0.";
    }
    after {
        StrLen "strlen": "string -> int", Text, "The number of characters.";
        Substring "substring": "string * int * int -> string", Text, "The characters from one position up to, not including, another; positions outside are moved to the ends.";
        StrFind "strfind": "string * string -> int", Text, "The position of the first occurrence of the second text in the first, or -1.";
        StrFindFrom "_find_from": "string * string * int -> int", Text, "The position of the first occurrence of the second text in the first, at this position or later, or -1.";
        StrReplace "_replace_all": "string * string * string -> string", Text, "The first text with each occurrence of the second one, from the left, replaced by the third.";
        Upper "upper": "string -> string", Text, "In upper case.";
        Lower "lower": "string -> string", Text, "In lower case.";
        UpperChar "upper": "char -> char", Character, "In upper case, where that is one character.";
        LowerChar "lower": "char -> char", Character, "In lower case, where that is one character.";
        IsLetter "is_letter": "char -> bool", Character, "Whether it is a letter of any script.";
        IsSpace "is_space": "char -> bool", Character, "Whether it is a blank, a tab, a line break or another space.";
        Normalize "_normalize": "string * int -> string", Text, "In a normal form of Unicode: 0 is NFC, 1 is NFD, 2 is NFKC, 3 is NFKD.";
        Sha256 "_sha256": "string -> string", Text, "The SHA-256 hash of the UTF-8 bytes, as 64 hexadecimal digits.";
        Base64 "_base64": "string -> string", Text, "The UTF-8 bytes in Base64.";
        FromBase64 "_from_base64": "string -> 1 + string", Text, "Case 1 with the text whose UTF-8 bytes the Base64 stands for, or case 0.";
        RegexMistake "_regex_mistake": "string -> 1 + (int * string)", Text, "Case 0 if the text is a regular expression, or case 1 with the position of a mistake and its description.";
        RegexMatches "_regex_matches": "string * string * int * int * bool -> int ^ ?N", SelectText, "The first and the last position of each match of a regular expression in a text, from a position on and at most so many; of each group of each match, -1 twice for one without part in it, if the last argument is true.";
        RegexGroups "_regex_groups": "string -> string ^ ?N", SelectText, "The names of the groups of a regular expression, the whole match first; an empty text for a group without a name.";
        RegexReplace "_regex_replace": "string * string * string * int -> string", Text, "The second text with so many matches of the regular expression replaced by the third text, in which `$name` stands for a group; all of them for 0.";
        JsonDecode "_decode_json": "[T] string -> (int * string) + T", Text, "Case 1 with the value of `T` that a text of JSON describes, or case 0 with the position of a mistake and its description.";
        JsonEncode "_encode_json": "[T] T * int -> string", Text, "The value as JSON, in one line for 0, or over lines that are indented by so many blanks for each level.";
        TimeFormat "_format_time": "string * int * int * int * string -> string + string", Text, "Case 1 with a day since 1970-01-01, the nanoseconds of the day, an offset from UTC in seconds and a time zone as a format says, or case 0 with what is wrong.";
        TimeParse "_parse_time": "string * string -> int ^ ?N", SelectText, "What a text of a format says: the day since 1970-01-01, the nanoseconds of the day, the offset from UTC in seconds, each behind 1 if it is stated and 0 if not; nothing if the text is none of that format.";
        ZoneOffset "_zone_offset": "string * int -> int", Text, "The offset from UTC in seconds of a time zone, at nanoseconds since 1970-01-01 UTC; 100000 if there is no such zone.";
        ZoneTimes "_zone_times": "string * int * int -> int ^ ?N", SelectText, "The number of instants at which a time zone shows a day since 1970-01-01 and nanoseconds of the day, and these instants as nanoseconds since 1970-01-01 UTC; 0 where clocks are set forward, with the instant as far behind the jump; -1 if there is no such zone.";
        Trim "trim": "string -> string", Text, "Without blanks at its ends.";
        StrRepeat "repeat": "string * int -> string", Text, "The text that many times; empty below 1.";
        Chr "chr": "int -> string", Text, "The character with this Unicode code point.";
        TextOf "_text_of": "[I:COMPACTLINEAR] int ^ I -> string", Text, "The characters with these Unicode code points, one after the other.";
        CodePoint "codepoint": "string * int -> int", Text, "The Unicode code point of the character at a position, or -1.";
        ParseInt "parse_int": "string -> 1 + int", Text, "Case 1 with the integer the text is, or case 0.";
        ParseReal "parse_real": "string -> 1 + real", Text, "Case 1 with the real the text is, or case 0.";
        Compress "compress": "[T, I:COMPACTLINEAR] T ^ I * bool ^ I -> T ^ ?K", Select, "The elements beside which the other array is true, in order.";
        Iota "iota": "int -> int ^ ?N", Select, "The integers from 0 up to, not including, a number that is not negative.";
        Characters "characters": "string -> string ^ ?N", SelectText, "The characters of a text, each as a text.";
        Words "words": "string -> string ^ ?N", SelectText, "The parts of a text between blanks.";
        Lines "lines": "string -> string ^ ?N", SelectText, "The lines of a text.";
        Split "split": "string * string -> string ^ ?N", SelectText, "The parts of a text between the places where another stands.";
        Numbers "numbers": "string -> real ^ ?N", SelectText, "The numbers of a text, between blanks and commas.";
        Table "table": "string -> real ^ (?R \\* ?C)", SelectText, "The numbers of a text, a row for each line that has any; rows are equally long.";
        Npy "npy": "[S] string -> S", Reader { lists: false }, "The array of an `.npy` file, as the stated type says.";
        Npz "npz": "[S] string * string -> S", Reader { lists: false }, "The array of this name in an `.npz` file, as the stated type says.";
        Csv "csv": "[S] string -> S", Reader { lists: false }, "The table of a CSV file, as the stated type says: records by the names of its columns, or numbers.";
        CsvBy "csv": "[S] string * char -> S", Reader { lists: false }, "The table of a file, with this character between the cells of a line.";
        CsvAfter "csv": "[S] string * char * int * string -> S", Reader { lists: false }, "The table of a file, with this character between the cells of a line, after so many lines that are skipped; a cell that is one of these words, between blanks, is empty.";
        Arrow "arrow": "[S] string -> S", Reader { lists: true }, "The table of an Arrow file, as the stated type says: records by the names of its columns.";
        Parquet "parquet": "[S] string -> S", Reader { lists: true }, "The table of a Parquet file, as the stated type says: records by the names of its columns.";
        Netcdf "netcdf": "[S] string * string -> S", Reader { lists: false }, "The values of a variable `x` of a NetCDF file, or of an attribute `x:units` or `:title`, as the stated type says.";
        NetcdfFilled "netcdf": "[S] string * string * real -> S", Reader { lists: false }, "The values of a variable of a NetCDF file, with this number in place of each missing one.";
        Ugrid "ugrid": "[S] string * string -> S", Reader { lists: false }, "A connectivity of a mesh in a NetCDF file by the conventions of UGRID: indices from 0 on, and -1 where there is none.";
        Raw "raw": "[S] string -> S", Reader { lists: false }, "The numbers of a file that holds nothing else, as the stated type says.";
        ReadText "read_text": "string -> string", Reader { lists: false }, "The text of a file.";
        ReadPixels "_read_pixels": "string -> u8 ^ 4 ^ (?H \\* ?W)", Reader { lists: false }, "The pixels of a PNG or JPEG file, rows from above, each by its red, green, blue and opacity.";
        ReadLine "_read_line": "unit -> 1 + string", System, "Case 1 with the next line of standard input, without its end, or case 0 at the end.";
        ReadInput "_read_input": "unit -> string", System, "The rest of standard input.";
        Environment "_env": "string -> 1 + string", System, "Case 1 with the value of an environment variable, or case 0.";
        Now "_now": "unit -> int", System, "The nanoseconds since 1970-01-01 UTC by the clock of the machine.";
        Ticks "_ticks": "unit -> int", System, "The nanoseconds since some moment, by a clock that is never set.";
        ListDir "_list_dir": "string -> string ^ ?N", System, "The names of what a folder holds, sorted by their bytes.";
        Sleep "_sleep": "int -> void", System, "Waits for so many nanoseconds.";
        PrintError "_print_error": "string -> void", System, "Writes a text to standard error.";
        Exit "_exit": "int -> void", System, "Ends the program with an exit code from 0 to 255.";
        WriteNpy "write_npy": "[T] string * T -> void", Writer { lists: false }, "Writes an array or a table as an `.npy` file.";
        WriteNpz "write_npz": "[T] string * T -> void", Writer { lists: false }, "Writes the arrays of a record as an `.npz` file.";
        WriteCsv "write_csv": "[T] string * T -> void", Writer { lists: false }, "Writes records or numbers as a CSV file.";
        WriteCsvBy "write_csv": "[T] string * T * char -> void", Writer { lists: false }, "Writes records or numbers as a file, with this character between the cells of a line.";
        WriteArrow "write_arrow": "[T] string * T -> void", Writer { lists: true }, "Writes records as an Arrow file.";
        WriteParquet "write_parquet": "[T] string * T -> void", Writer { lists: true }, "Writes records as a Parquet file.";
        WriteNetcdf "write_netcdf": "[T] string * T -> void", Writer { lists: false }, "Writes the variables and attributes of a record as a NetCDF file.";
        WriteVtk "write_vtk": "[P, C, F] string * P * C * F -> void", Writer { lists: false }, "Writes points, cells by the numbers of their corners, and fields of both as a grid in the legacy format of VTK.";
        WriteRaw "write_raw": "[T] string * T -> void", Writer { lists: false }, "Writes numbers, and nothing else, as a file.";
        WriteText "write_text": "string * string -> void", Writer { lists: false }, "Writes a text as a file.";
        Cells "_cells": "[T] T -> string", Text, "The numbers of an array as text, between blanks.";
        Svg "_svg": "string -> string", Text, "The picture that a text describes, as SVG.";
        Draw "_draw": "string -> void", Output, "Prints the picture that a text describes, as it fits where it is seen.";
        SavePicture "_save_picture": "string * string -> void", Writer { lists: false }, "Writes the picture that a text describes as a file.";
        Me "_me": "[S:PLACES] unit -> S @ S", Place, "The place that runs this.";
        Send "send": "[B:PLACE, A:PLACE, T] T @ A -> T @ B", Communication, "The value, moved to another place: one message.";
        Give "give": "[R:PLACES, A:PLACE, T] T @ A -> T @ R", Communication, "The value, moved to each of these places; they check that all have the same.";
        Exchange "exchange": "[S:PLACES, T] (T ^ S) @ S -> (T ^ S) @ S", Communication, "What each place holds for each other, moved there.";
        ShiftPlaces "shift": "[K:UNITSUM, S:PLACES, T] T @ S -> T @ S", Communication, "The value of each place, moved to the K-th place after it.";
        Collect "collect": "[A:PLACE, S:PLACES, T] T @ S -> (T ^ S) @ A", Communication, "The values of all places as an array at one place.";
        Scatter "scatter": "[S:PLACES, A:PLACE, T] (T ^ S) @ A -> T @ S", Communication, "The elements of an array at one place, each moved to its own place.";
        Join "join": "[U:PLACES, R:PLACES, S:PLACES, T] (T @ R) * (T @ S) -> T @ U", Communication, "The values of disjoint places as one value at all of them; no message.";
        Reveal "reveal": "[A:PLACE, T] T @ A -> T", Communication, "Disclosure: the value, made public.";
        RevealAll "reveal_all": "[S:PLACES, T] T @ S -> T ^ S", Communication, "Disclosure: the values of all places, made public.";
        RevealNeighbors "_reveal_neighbors": "[S:PLACES, T] (T ^ 2) @ S -> T ^ S", Communication, "Disclosure: the values of all places, of which each place of three has its own and that of the next one; they compare digests.";
        Overlay "_overlay": "[S:PLACES, R:PLACES, T] (T @ R) * (T @ S) -> T @ S", Communication, "The first value at the places of S that are of R, the second one at the others; no message.";
        CommonWords "common_words": "[S:PLACES, I:COMPACTLINEAR] unit -> (u64 ^ I ^ 2) @ S", Communication, "Random words that each place has in common with the next place, then those in common with the previous one; no other place knows them.";
        ZeroSums "_zero_sums": "[S:PLACES, I:COMPACTLINEAR] unit -> (u64 ^ I) @ S", Communication, "Random words whose sum over the places is 0: what each place has in common with the next one, less what it has with the previous one.";
        ZeroBits "_zero_bits": "[S:PLACES, I:COMPACTLINEAR] unit -> (u64 ^ I) @ S", Communication, "Random words whose exclusive or over the places is 0, as `_zero_sums`.";
        OwnWords "own_words": "[S:PLACES, I:COMPACTLINEAR] unit -> (u64 ^ I) @ S", Communication, "Random words that each place alone knows.";
        Fixed "fixed": "real * int -> string", Text, "The number with that many digits after the point.";
        Keygen "_keygen": "[R, S] unit -> R", Cipher { at_place: true }, "A new secret key of the scheme `S`.";
        KeyIdentity "_key_identity": "[A] A -> unit ^ ?K", Cipher { at_place: false }, "The fingerprint of the key that an object belongs to, as a size.";
        Retype "_retype": "[R, A] A -> R", Cipher { at_place: false }, "The same key or ciphertext, compared with the type `R`.";
        PublicPart "_public_part": "[R, A] A -> R", Cipher { at_place: false }, "The public key of a secret key.";
        EvaluationKey "_evaluation_key": "[R, A] A -> R", Cipher { at_place: true }, "The key of `R` for products or for rotations that a secret key makes.";
        Encrypt "_encrypt": "[R, A, X] A * X * int * int -> R", Cipher { at_place: true }, "The ciphertext of a number, or of an array of numbers, below 2^bits in magnitude and with so many binary digits after the point; 0 bits are those of the type.";
        Decrypt "_decrypt": "[X, A, B] A * B -> X", Cipher { at_place: false }, "The number, or the array of numbers, of a ciphertext.";
        CipherAdd "_cipher_add": "[R, A, B] A * B -> R", Cipher { at_place: false }, "The sum of two ciphertexts of one key.";
        CipherSubtract "_cipher_subtract": "[R, A, B] A * B -> R", Cipher { at_place: false }, "The difference of two ciphertexts of one key.";
        CipherNegate "_cipher_negate": "[R, A] A -> R", Cipher { at_place: false }, "The negated ciphertext.";
        CipherAddPlain "_cipher_add_plain": "[R, A, X] A * X * int * int -> R", Cipher { at_place: false }, "The sum with plain numbers of so many bits and binary digits after the point.";
        CipherScale "_cipher_scale": "[R, A] A * int * int -> R", Cipher { at_place: false }, "The product with a public integer of so many binary digits after the point.";
        CipherTimesPlain "_cipher_times_plain": "[R, A, X] A * X * int * int -> R", Cipher { at_place: false }, "The product with plain numbers of so many bits and binary digits after the point, in a time that does not tell them.";
        CipherSum "_cipher_sum": "[R, A, I:COMPACTLINEAR] A ^ I -> R", Cipher { at_place: false }, "The sum of all ciphertexts.";
        CipherDot "_cipher_dot": "[R, A, X, I:COMPACTLINEAR] A ^ I * X ^ I * int * int -> R", Cipher { at_place: false }, "The sum of the products with plain numbers of so many bits and binary digits after the point.";
        CipherTimes "_cipher_times": "[R, A, B, C] A * B * C -> R", Cipher { at_place: false }, "The product of two ciphertexts by a key for products.";
        CipherRotate "_cipher_rotate": "[R, A, B] A * int * B -> R", Cipher { at_place: false }, "The vector whose element i is element i plus a number, in cyclic indices, by keys for rotations.";
        CipherInnerSum "_cipher_inner_sum": "[R, A, B] A * B -> R", Cipher { at_place: false }, "The sum of the elements of a vector, by keys for rotations.";
        CipherRefresh "_cipher_refresh": "[R, A] A * int -> R", Cipher { at_place: true }, "A ciphertext of the same numbers that does not tell how it was computed, but for a probability of 2^-bits.";
        CipherBudget "_cipher_budget": "[A] A -> real", Cipher { at_place: false }, "The bits of noise that a packed ciphertext has room for, by the bound.";
        CipherMagnitude "_cipher_magnitude": "[A] A -> int", Cipher { at_place: false }, "The bits of the bound of the numbers of a ciphertext.";
        Blinding "_blinding": "[R] unit -> R", Cipher { at_place: true }, "A new secret exponent of a private intersection.";
        TagKey "_tag_key": "[R] u64 ^ 4 -> R", Cipher { at_place: false }, "The key of a keyed hash that has these words.";
        KeyedHashes "_keyed_hashes": "[R, A, I:COMPACTLINEAR] A * string ^ I -> R ^ I", Cipher { at_place: false }, "The tags of texts under the key of a keyed hash, or their points to the power of a secret exponent.";
        BlindAgain "_blind_again": "[R, A, I:COMPACTLINEAR] A * R ^ I -> R ^ I", Cipher { at_place: false }, "Points to the power of a secret exponent.";
        ReadCipher "_read_cipher": "[R] string -> R", Cipher { at_place: true }, "The key or ciphertext of a file, compared with the type `R`.";
        WriteCipher "_write_cipher": "[A] string * A -> void", Cipher { at_place: true }, "Writes a public key, an evaluation key or a ciphertext as a file.";
    }
}

impl Prim {
    /// Returns the name with its type: `name[T, I:COMPACTLINEAR] : T -> U`.
    pub fn declaration(self) -> String {
        match self.signature().split_once("] ") {
            Some((params, ty)) => format!("{}{params}] : {ty}", self.name()),
            None => format!("{} : {}", self.name(), self.signature()),
        }
    }

    /// Returns the type, which is parsed once for all uses.
    pub fn typed_signature(self) -> &'static Signature {
        static SIGNATURES: OnceLock<HashMap<Prim, Signature>> = OnceLock::new();
        let read = |prim: &Prim| (*prim, Signature::read(prim.signature()));
        let all = SIGNATURES.get_or_init(|| Prim::ALL.iter().map(read).collect());
        all.get(&self).expect("every primitive is in the table")
    }

    /// Returns the effect.
    pub fn effect(self) -> Effect {
        self.class().effect()
    }

    /// Returns true if the primitive computes from the places among its type arguments.
    pub fn names_places(self) -> bool {
        matches!(self.class(), PrimClass::Communication | PrimClass::Place)
    }

    /// Returns true if a call is a statement: the type ends in `-> void`.
    pub fn is_procedure(self) -> bool {
        self.signature().ends_with("-> void")
    }

    /// Returns true if the texts of the library alone may call it: its name begins with `_`. Such a
    /// primitive may rely on what the library knows of its arguments: that a sum of indices fits its
    /// type, or that a list has as many elements as it says.
    pub fn is_internal(self) -> bool {
        self.name().starts_with('_') && self != Prim::Strr
    }

    /// Returns true if it returns what may differ each time: the content of a file, or an answer of
    /// the machine.
    pub fn is_effectful_function(self) -> bool {
        (self.is_reader() || self.class() == PrimClass::System) && !self.is_procedure()
    }

    /// Returns true if it returns the content of a file.
    pub fn is_reader(self) -> bool {
        matches!(self.class(), PrimClass::Reader { .. })
    }

    /// Returns true if the checker computes the type of the result from that of the argument.
    pub fn has_computed_result_type(self) -> bool {
        self.class() == PrimClass::ComputedResult
    }

    /// Returns true for primitives with a computed result type whose first type argument states the
    /// result: its type, or its index type.
    pub fn has_stated_target(self) -> bool {
        matches!(self, Prim::Move | Prim::Over | Prim::TransposeTo)
    }

    /// Returns true if it returns a value of a type that the program states.
    pub fn has_stated_result_type(self) -> bool {
        self.is_reader() && self.signature().ends_with("-> S")
    }

    /// Returns true if the files that it reads or writes may have columns of lists.
    pub fn supports_list_columns(self) -> bool {
        matches!(self.class(), PrimClass::Reader { lists: true } | PrimClass::Writer { lists: true })
    }
}

/// Returns the answer of a query about concrete types that the types alone decide; `None` for
/// other primitives.
pub fn type_answer(prim: Prim, types: &[Type]) -> Option<bool> {
    Some(match prim {
        Prim::AtMost => at_most(types),
        Prim::Fuses => fuses(types),
        Prim::Sorts => sorts(types),
        Prim::Ranks => ranks(types),
        Prim::Hashes => hashes(types),
        Prim::HasPlace => has_place(types),
        Prim::HasPlaces => has_places(types),
        // Of the evaluator; the compiler gives its own answer.
        Prim::Compiled => false,
        _ => return None,
    })
}

/// Returns the answer of [`Prim::AtMost`] for its type arguments.
fn at_most(types: &[Type]) -> bool {
    matches!(types, [i, j] if matches!((i.size(), j.size()), (Ok(i), Ok(j)) if i <= j))
}

/// Returns the answer of [`Prim::Fuses`] for its type argument.
pub fn fuses(types: &[Type]) -> bool {
    matches!(types, [element] if element.as_scalar() == Some(Scalar::Real))
}

/// Returns the answer of [`Prim::Ranks`] for its type argument: true if the order of its values is
/// built in. Values of one word have a built-in order, except that a declared type may define its
/// own.
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

/// Returns the answer of [`Prim::Hashes`] for its type argument: true if two values are the same
/// key exactly if their slots are, but for zeros and NaN of floats.
pub fn hashes(types: &[Type]) -> bool {
    matches!(types, [ty] if is_hashed(ty))
}

/// The number of components of the largest tuple that is a key of a hash table.
const MAX_KEY_COMPONENTS: usize = 64;

/// Returns true for scalars, codes of one word, and tuples of these. A declared type
/// may define its own order.
fn is_hashed(ty: &Type) -> bool {
    match ty.kind() {
        TypeKind::Scalar(_) => true,
        TypeKind::Nominal(..) => false,
        _ if ty.is_compact() => ty.size().is_ok_and(|size| size.bits() <= 63),
        TypeKind::Product(_) | TypeKind::Array(..) => {
            ty.components(MAX_KEY_COMPONENTS).is_some_and(|parts| parts.iter().all(is_hashed))
        }
        _ => false,
    }
}

/// Returns the answer of [`Prim::HasPlace`] for its type arguments: true if two sets of places have
/// one in common.
pub fn has_place(args: &[Type]) -> bool {
    match args {
        [places, other] => match (places.as_places(), other.as_places()) {
            (Some(places), Some(other)) => places.mask & other.mask != 0,
            _ => false,
        },
        _ => false,
    }
}

/// Returns the answer of [`Prim::HasPlaces`] for its type arguments: true if the second set of
/// places is a part of the first.
pub fn has_places(args: &[Type]) -> bool {
    match args {
        [places, other] => match (places.as_places(), other.as_places()) {
            (Some(places), Some(other)) => other.mask & !places.mask == 0,
            _ => false,
        },
        _ => false,
    }
}

/// Returns the answer of [`Prim::Sorts`] for its type arguments, of elements and of indices: true
/// if the elements have a built-in order and there are enough of them.
pub fn sorts(types: &[Type]) -> bool {
    /// The number of elements up to which the function in the language sorts them in place.
    const MAX_UNSORTED_ELEMENTS: u64 = 9;
    let [element, index] = types else { return false };
    ranks(std::slice::from_ref(element))
        && index.size().is_ok_and(|size| size.to_u64().is_some_and(|size| size > MAX_UNSORTED_ELEMENTS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn procedures_have_an_effect_and_are_the_last_to_be_left_out() {
        for prim in Prim::ALL {
            assert!(!prim.is_procedure() || prim.effect() != Effect::None, "{prim:?}");
        }
    }

    #[test]
    fn names_and_types_are_unique() {
        let mut seen = std::collections::HashSet::new();
        assert!(Prim::ALL.iter().all(|prim| seen.insert(prim.declaration())));
    }
}
