//! The array IR: the intermediate representation between core and loops.
//!
//! A [`Program`] is a list of first-order functions. A function has size parameters, parameters and
//! a body in A-normal form: each statement defines one value by one operation on values, and some
//! operations hold blocks, which have parameters of their own. Arrays are values; an operation says
//! what each element is, and in which order elements may be computed, never how an array is stored.
//! Every size is a polynomial over size variables ([`Size`]), so one function serves all shapes.
//!
//! **Types.** [`Type`]: elements, indices, tuples, arrays, sums, and arrays whose sizes are known
//! only at run time. An index of a [`Space`] is the list of its digits, and a digit is always below
//! its size. The digits of an array are kept until arrays are stored: operations that only renumber
//! elements ([`Op::View`]) are functions from digits to digits ([`DigitExpr`]).
//!
//! **Invariants**, which [`validate`] checks:
//!
//! 1. A value is defined once in its function, and read only where its definition has run: after it
//!    in the same block, or in a block inside. The same holds of size variables. A type mentions
//!    only size variables in scope.
//! 2. Each statement states the type of its value, and the type is the one that follows from the
//!    operation and the types of its operands.
//! 3. An index is in range because of its type. [`Op::At`] and [`Op::View`] are accepted only if
//!    the bound of each digit, a polynomial, is at most the size of the digit: if the difference
//!    has natural coefficients it is natural at all sizes. A number becomes an index by
//!    [`Op::Locate`], which fails if it is out of range. So [`Op::Index`] and [`Op::Update`] check
//!    nothing.
//! 4. A piece of a sum, or of a digit of several pieces, is read only under its number:
//!    [`Op::Switch`] gives it to the block of the case.
//! 5. [`End::Next`] and [`End::Exit`] end a block. They name a loop or block around them, and none
//!    beyond the body of a [`Op::Map`] or another operation whose elements have no order.
//! 6. A function states its [`Effect`], and it is the effect of its body, or a later one in the
//!    order of [`Effect`]. A call of the function itself or of a later function may not end, so a
//!    function that is total or may only fail ends: the bodies of its operations are run once for
//!    each index of a space or number of a range, and its calls lead to earlier functions.
//! 7. A reduction whose [`Grouping`] is `any` is one of an operation that is associative and
//!    commutative in every bit.
//!
//! A run of a valid program gives a value of the stated type, fails at a site, or does not end.
//! The argument is by induction over the run: each value has its stated type when it is defined (2,
//! 4), stays as it is because nothing assigns to it, and is there when it is read (1, 5); the
//! operations are total on their types but for those that name a site (3). [`interpret`] is the
//! meaning, and its internal assertions are these invariants.
//!
//! **Primitives are total.** A quotient by 0 is 0 and a remainder by 0 is the dividend, so an
//! operation without a site may be moved, repeated or left out. Where the language fails, a
//! [`Op::Check`] stands before the primitive.
//!
//! **Grouping.** Only [`Grouping`] allows another order of the operations of a reduction. `fixed`
//! is that of [`crate::core::reduction`], counted in the reduction's own space.
//!
//! **Text.** [`mod@print`] and [`parse`] are inverses. A `#` begins a comment.
//!
//! ```text
//! program  = { site | function }
//! site     = "site" S ":" kind span { "from" span }
//! span     = start "to" end "in" source
//! function = "fun" F name "[" { N ":" name } "]" "(" params ")" "->" type "," effect block
//! params   = { V ":" type }                                    separated by commas
//! block    = "{" { V ":" type "=" op } end "}"
//! end      = "yield" V | "next" @ V | "exit" @ V
//! op       = word { operand } { [ "(" params ")" ] block }     each operation as `print` says
//! type     = element | "idx" space | "(" types ")" | space type | "sum" "(" types ")"
//!          | "some" number type
//! space    = "[" { digit } "]"                                 separated by commas
//! digit    = size { "|" size }
//! size     = term { "+" term }
//! term     = factor { "*" factor }
//! factor   = number | atom [ "^" number ]
//! atom     = N | "?" number
//! ```
//!
//! with `F`, `V`, `N`, `S` and `@` for an id such as `f0`, `v0`, `n0`, `s0` and `@0`.
//!
//! **Costs.** A type is a tree without sharing; values mention it by copying. Printing and parsing
//! take time in proportion to the text of the program, validation and each pass to that times the
//! terms of its sizes and the loops inside each other.
//!
//! The word `move` is reserved for operations between machines.
//!
//! Knows neither terms of the language nor storage nor a machine.

pub mod digit;
mod error;
mod id;
pub mod interpret;
mod mnemonics;
pub mod parse;
pub mod pass;
pub mod print;
#[cfg(test)]
mod random;
mod renumber;
pub mod scalar;
mod size;
pub mod storage;
#[cfg(test)]
mod tests;
pub mod validate;
pub mod visit;

pub use crate::core::scalar_function::ScalarFunction;
use crate::source::Span;
pub use error::{Invalid, Violation};
pub use id::{FunctionId, Label, SiteId, SizeVar, Value};
pub use mnemonics::Mnemonic;
pub use renumber::renumber;
pub use size::{MAX_BOUND, MAX_SIZE_VARIABLES, Size, SizeAtom};
use std::sync::Arc;

/// A type of single words. Integers have no sign of their own: primitives say how they read them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Element {
    /// A truth value.
    B1,
    /// 8 bits.
    I8,
    /// 16 bits.
    I16,
    /// 32 bits; characters too.
    I32,
    /// 64 bits.
    I64,
    /// binary32
    F32,
    /// binary64
    F64,
}

impl Element {
    /// All of them.
    pub const ALL: [Element; 7] =
        [Element::B1, Element::I8, Element::I16, Element::I32, Element::I64, Element::F32, Element::F64];

    /// The number of bits.
    pub fn bits(self) -> u32 {
        match self {
            Element::B1 => 1,
            Element::I8 => 8,
            Element::I16 => 16,
            Element::I32 | Element::F32 => 32,
            Element::I64 | Element::F64 => 64,
        }
    }

    /// Returns true for floats.
    pub fn is_float(self) -> bool {
        matches!(self, Element::F32 | Element::F64)
    }

    /// Returns true for integers; truth values are none.
    pub fn is_integer(self) -> bool {
        !self.is_float() && self != Element::B1
    }

    /// The lowest bits of a word, as many as the type has.
    pub fn truncate(self, word: u64) -> u64 {
        if self.bits() == 64 { word } else { word & ((1 << self.bits()) - 1) }
    }
}

/// A digit of an index: a number below the sum of its pieces, which lie side by side.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Digit {
    /// One size, or the sizes that [`Op::Concat`] has put side by side.
    pub pieces: Arc<[Size]>,
}

impl Digit {
    /// A digit of one piece.
    pub fn new(size: Size) -> Digit {
        Digit { pieces: Arc::new([size]) }
    }

    /// The sum of the pieces; `None` beyond the bounds of sizes.
    pub fn size(&self) -> Option<Size> {
        self.pieces.iter().try_fold(Size::constant(0), |sum, piece| sum.add(piece))
    }
}

/// A set of indices: lists of digits, the last of which changes fastest. Without digits it has one
/// index.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct Space {
    /// The digits.
    pub digits: Vec<Digit>,
}

impl Space {
    /// The space of digits of one piece each.
    pub fn new(sizes: impl IntoIterator<Item = Size>) -> Space {
        Space { digits: sizes.into_iter().map(Digit::new).collect() }
    }

    /// The space of one digit that is one of a size or none: the values of [`Op::TryLocate`].
    pub fn optional(size: Size) -> Space {
        Space { digits: vec![Digit { pieces: Arc::new([Size::constant(1), size]) }] }
    }

    /// The number of indices; `None` beyond the bounds of sizes.
    pub fn size(&self) -> Option<Size> {
        self.digits.iter().try_fold(Size::constant(1), |product, digit| product.mul(&digit.size()?))
    }
}

/// A type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// A word.
    Element(Element),
    /// An index of a space.
    Index(Space),
    /// The values of some types together; `()` is the type of what has no value.
    Tuple(Vec<Type>),
    /// A value of a type for each index of a space.
    Array(Space, Arc<Type>),
    /// A value of one of some types, with the number of its case.
    Sum(Vec<Type>),
    /// A value of the type at some sizes, which come with it: that many [`SizeAtom::Bound`]. A part
    /// of tuples and sums only, and of none in another one.
    Exists(u32, Arc<Type>),
}

impl Type {
    /// 64-bit integers.
    pub const I64: Type = Type::Element(Element::I64);
    /// Truth values.
    pub const B1: Type = Type::Element(Element::B1);

    /// The type of what has no value.
    pub fn unit() -> Type {
        Type::Tuple(Vec::new())
    }

    /// The type of arrays.
    pub fn array(space: Space, element: Type) -> Type {
        Type::Array(space, Arc::new(element))
    }

    /// The type of arrays of one digit that bring their size along: `some 1 [?0] t`.
    pub fn sized_array(element: Type) -> Type {
        Type::Exists(1, Arc::new(Type::array(Space::new([Size::bound(0)]), element)))
    }

    /// The types that [`Op::Switch`] gives to its blocks: the pieces of a sum, or the indices of
    /// the pieces of a space of one digit.
    pub fn cases(&self) -> Option<Vec<Type>> {
        match self {
            Type::Sum(cases) => Some(cases.clone()),
            Type::Index(Space { digits }) => match &digits[..] {
                [digit] => {
                    let index = |size: &Size| Type::Index(Space::new([size.clone()]));
                    Some(digit.pieces.iter().map(index).collect())
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns true if values of the type hold an array.
    pub fn has_array(&self) -> bool {
        match self {
            Type::Array(..) => true,
            Type::Tuple(types) | Type::Sum(types) => types.iter().any(Type::has_array),
            Type::Exists(_, inner) => inner.has_array(),
            Type::Element(_) | Type::Index(_) => false,
        }
    }

    /// Returns true if values of the type hold an array that brings its size along.
    pub fn has_sized_array(&self) -> bool {
        match self {
            Type::Exists(..) => true,
            Type::Tuple(types) | Type::Sum(types) => types.iter().any(Type::has_sized_array),
            Type::Array(..) | Type::Element(_) | Type::Index(_) => false,
        }
    }

    /// Returns true if values of the type hold a sum.
    pub fn has_sum(&self) -> bool {
        match self {
            Type::Sum(_) => true,
            Type::Array(_, inner) | Type::Exists(_, inner) => inner.has_sum(),
            Type::Tuple(types) => types.iter().any(Type::has_sum),
            Type::Element(_) | Type::Index(_) => false,
        }
    }

    /// The levels of an array that an index of a space passes, outermost first, each with its space
    /// and the type of its elements: one level, and further ones until no digit is left. `None` if
    /// the digits are not those of levels.
    pub fn levels_at<'t>(&'t self, at: &Space) -> Option<Vec<(&'t Space, &'t Type)>> {
        let (mut levels, mut ty, mut digits) = (Vec::new(), self, &at.digits[..]);
        while levels.is_empty() || !digits.is_empty() {
            let Type::Array(space, element) = ty else { return None };
            digits = digits.strip_prefix(&space.digits[..])?;
            levels.push((space, &**element));
            ty = element;
        }
        Some(levels)
    }

    /// The element type, if it is one.
    pub fn element(&self) -> Option<Element> {
        match self {
            Type::Element(element) => Some(*element),
            _ => None,
        }
    }
}

/// An operation on two words of one type, with a result of the type. Total.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Binary {
    /// Of numbers; wraps on integers.
    Add,
    /// Of numbers; wraps on integers.
    Sub,
    /// Of numbers; wraps on integers.
    Mul,
    /// Quotient of floats.
    Div,
    /// The smaller: of integers with sign, of floats as [`crate::core::reduction::min_max`].
    Min,
    /// The larger: of integers with sign, of floats as [`crate::core::reduction::min_max`].
    Max,
    /// The smaller of integers without sign.
    MinUnsigned,
    /// The larger of integers without sign.
    MaxUnsigned,
    /// Toward zero, with sign; 0 for the divisor 0, and the smallest number by -1 is itself.
    DivSigned,
    /// The unsigned quotient; 0 for the divisor 0.
    DivUnsigned,
    /// The remainder with the sign of the dividend; the dividend for the divisor 0.
    RemSigned,
    /// The unsigned remainder; the dividend for the divisor 0.
    RemUnsigned,
    /// Bitwise, of integers and truth values.
    And,
    /// Bitwise, of integers and truth values.
    Or,
    /// Bitwise, of integers and truth values.
    Xor,
}

/// An operation on one word, with a result of its type. Total.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unary {
    /// Of numbers; wraps on integers.
    Neg,
    /// Bitwise complement of integers and truth values.
    Not,
}

/// A comparison of two words of one type, with a truth value as result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Compare {
    /// Equal; of floats, ordered and equal.
    Eq,
    /// Not equal; of floats, true of NaN.
    Ne,
    /// Less; of integers with sign, of floats ordered.
    Lt,
    /// Not greater; of integers with sign, of floats ordered.
    Le,
    /// Less, of integers without sign.
    LtUnsigned,
    /// Not greater, of integers without sign.
    LeUnsigned,
}

/// A change of type. Total.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cast {
    /// Sign extension to a wider integer.
    SignExtend,
    /// Zero extension to a wider integer; from truth values too.
    ZeroExtend,
    /// Truncation to a narrower integer, dropping the upper bits; to truth values too.
    Truncate,
    /// A signed integer to the nearest float.
    SignedToFloat,
    /// An unsigned integer to the nearest float.
    UnsignedToFloat,
    /// A float to `i32` or `i64`, toward zero: to the nearest bound out of range, to 0 from NaN.
    FloatToSigned,
    /// A conversion between float types, rounded to nearest.
    FloatToFloat,
    /// The bits of a binary64, as `i64`.
    FloatToBits,
}

/// A primitive: a total function of words without effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Prim {
    /// Two operands.
    Binary(Binary),
    /// One operand.
    Unary(Unary),
    /// A truth value of two operands.
    Compare(Compare),
    /// A conversion to another type.
    Cast(Cast, Element),
    /// A function of the table of core.
    Function(ScalarFunction),
}

/// A digit computed from others. Its bound is a size that it is always below where there is an
/// index at all ([`validate`]).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum DigitExpr {
    /// A digit of the index that a view is asked for. The bound is its size.
    Target(u32),
    /// A digit of an index in scope. The bound is its size.
    Of(Value, u32),
    /// A number. The bound is the number after it.
    Constant(Size),
    /// `offset + stride * of` for a stride from 1 on. The bound is that of the largest `of`.
    Affine {
        /// The addend.
        offset: Size,
        /// The factor of the digit.
        stride: u64,
        /// The digit.
        of: Box<DigitExpr>,
    },
    /// The sum of some digits. The bound is that of the largest digits.
    Sum(Vec<DigitExpr>),
    /// The sum of some digits less that of others, modulo a size that all their bounds are at most;
    /// at least one digit in all. The bound is the size.
    Modular {
        /// The size.
        size: Size,
        /// The digits that are added.
        plus: Vec<DigitExpr>,
        /// The digits that are subtracted.
        minus: Vec<DigitExpr>,
    },
    /// `size - 1 - of`, for a digit whose bound is at most the size, which is the bound.
    Reverse {
        /// The size.
        size: Size,
        /// The digit.
        of: Box<DigitExpr>,
    },
    /// The number that has these digits, the last of which changes fastest, each with a size that
    /// its bound is at most. The bound is the product of the sizes.
    Join(Vec<(DigitExpr, Size)>),
    /// A digit of a number written with digits of these sizes, whose product is at least the bound
    /// of the number. The bound is the size of the digit.
    Split {
        /// The number.
        of: Box<DigitExpr>,
        /// The sizes.
        sizes: Vec<Size>,
        /// The position of the digit among them.
        digit: u32,
    },
    /// The remainder of a word of type `i64`, read without sign, by a number from 1 on, which is
    /// the bound. An operation on words that gives an index needs no site that way.
    Remainder(Value, u64),
}

/// The grouping of a reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Grouping {
    /// Any grouping and order: all give the same bits.
    Any,
    /// The one of [`crate::core::reduction`]: chunks, and lanes for `add`, `mul`, `min` and `max`
    /// of floats.
    Fixed,
    /// A left fold: from the left, one after another.
    Left,
}

/// The operation that joins two values of a reduction.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Combine {
    /// A primitive of elements.
    Prim(Binary),
    /// Sums of products of binary64: the values are pairs of factors, the start is a number, and
    /// each product is added to its lane without being rounded before. Of reductions in the fixed
    /// grouping only.
    Dot,
    /// A block of two parameters.
    Block(Block),
}

/// The operation that changes an element of a [`Op::ReduceAt`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum CombineAt {
    /// The element joined with the new value.
    Combine(Combine),
    /// The new value in place of the element.
    Last,
}

/// Numbers of type `i64` in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Range {
    /// The first.
    pub low: Value,
    /// The last, or the one after it.
    pub high: Value,
    /// True if `high` is the last.
    pub inclusive: bool,
}

/// An output of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Io {
    /// Hands values to the output, in order.
    Emit,
}

/// The order of effects, from what may be left out to what may not be exchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Effect {
    /// Gives a value.
    Total,
    /// Gives a value or fails at a site.
    MayFail,
    /// May also run without end.
    MayNotEnd,
    /// May also give output, in order.
    Ordered,
}

impl Effect {
    /// All of them in order.
    pub const ALL: [Effect; 4] = [Effect::Total, Effect::MayFail, Effect::MayNotEnd, Effect::Ordered];
}

/// The kind of a failure at a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SiteKind {
    /// The program says so.
    Assert,
    /// A quotient or remainder by 0.
    Division,
    /// A number that is no index.
    Range,
    /// A number that its new type does not hold.
    Convert,
    /// A power with a negative exponent.
    Power,
    /// Sizes that differ.
    Sizes,
}

/// A place at which a run may fail.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Site {
    /// The kind of the failure.
    pub kind: SiteKind,
    /// The place in the source text.
    pub span: Span,
    /// The places of the calls that were inlined around it, innermost first.
    pub calls: Vec<Span>,
}

/// An operation. Its type rule and its text stand with it; `X` and `Y` are spaces, `t` is a type,
/// `e` an element type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// `const 1.5 : e`: a word by its bits.
    Const(Element, u64),
    /// `size n0 : i64`: the value of a size. Total: sizes are below 2^62 at the entry of a program.
    Size(Size),
    /// `add v0 v1 : e`: a primitive.
    Prim(Prim, Vec<Value>),
    /// `select v0 v1 v2 : t`: the second if the first, a truth value, is true, otherwise the third.
    Select(Value, Value, Value),
    /// `tuple v0 v1 : (t, u)`.
    Tuple(Vec<Value>),
    /// `part v0 1 : u`: a component of a tuple.
    Part(Value, u32),
    /// `array t v0 v1 : [2] t`: the array of these elements.
    Array(Type, Vec<Value>),
    /// `index v0 v1 : t`: an element of `v0: X t` at `v1: idx X`.
    Index(Value, Value),
    /// `at X (v0.1, const 3) : idx X`: an index by its digits.
    At(Space, Vec<DigitExpr>),
    /// `locate X v0 v1 s0 : idx X`: an index by its digits as `i64`; fails if one is out of range.
    Locate(Space, Vec<Value>, SiteId),
    /// `try_locate n0 v0 : idx [1 | n0]`: piece 1 with the digit below the size that an `i64` is,
    /// or piece 0 if it is none.
    TryLocate(Size, Value),
    /// `number v0.1 : i64`: a digit as a number.
    Number(DigitExpr),
    /// `check v0 s0 v1 v2 : ()`: fails if `v0`, a truth value, is false; the others are shown.
    Check(Value, SiteId, Vec<Value>),
    /// `map (v0: idx X) {…} : X t`: an array by its elements, computed in any order. If several
    /// fail, the first in the order of indices is reported.
    Map(Block),
    /// `reduce add fixed v0 (v1: idx X) {…} : t`: the start joined with the values of the block.
    Reduce {
        /// The operation.
        combine: Combine,
        /// The grouping.
        grouping: Grouping,
        /// The start.
        start: Value,
        /// The values.
        body: Block,
    },
    /// `scan add left (v1: idx X) {…} : X t`: the running results of the values of the block.
    Scan {
        /// The operation.
        combine: Combine,
        /// The grouping; not `any`.
        grouping: Grouping,
        /// The values.
        body: Block,
    },
    /// `reduce_at add left v0 (v1: idx X) {…} : Y t`: for `v0: Y t` and a block that gives `(idx Y,
    /// t)`, the array with each value joined to the element at its index, in the order of `X`.
    /// `last` in place of an operation puts the value in place of the element.
    ReduceAt {
        /// The operation.
        combine: CombineAt,
        /// The grouping; not `fixed`.
        grouping: Grouping,
        /// The array that values are joined to.
        start: Value,
        /// The indices with their values.
        body: Block,
    },
    /// `view Y v0 (d1, d0) : Y t`: for `v0: X t`, the array whose element at an index of `Y` is
    /// that of `v0` at the digits given, one for each digit of `X`.
    View(Space, Value, Vec<DigitExpr>),
    /// `concat v0 v1 : [a | b, …] t`: two arrays side by side along the first digit.
    Concat(Value, Value),
    /// `filter (v0: idx X) {…} : some 1 [?0] t`: for a block that gives `(b1, t)`, the values
    /// beside which it is true, in the order of indices.
    Filter(Block),
    /// `iota v0 : some 1 [?0] i64`: the numbers from 0 up to, not including, `v0`, which is below
    /// 2^62; none if it is negative.
    Iota(Value),
    /// `order (v0: idx X) {…} : X idx X`: the indices in the ascending order of the keys that the
    /// block gives: elements, or tuples of keys, compared from the left. The order is stable.
    /// Integers compare with sign; of floats -0 equals +0, and NaN is last.
    Order(Block),
    /// `sort v0 : X t`: the elements of the array `v0`, words or indices, in the ascending order of
    /// [`Op::Order`]; indices by their digits from the left.
    Sort(Value),
    /// `update v0 v1 v2 : X t`: the array `v0` with `v2` at the index `v1`. An index with the
    /// digits of further levels, `idx [X, Y]` of `v0: X Y t`, is that of an element of an element
    /// ([`Type::levels_at`]).
    Update(Value, Value, Value),
    /// `for @0 v0 (v1: idx X, v2: t) {…} : t`: a state from `v0` on, which the block changes for
    /// each index in order. `for @0 v0 in v3 v4 (v1: i64, v2: t) {…}`: for the numbers from `v3` up
    /// to, not including, `v4`; `for @0 v0 in v3 v4 inclusive`: with `v4`.
    For {
        /// The label, for `next` with a state and `exit` with a result.
        label: Label,
        /// The numbers of the rounds; `None` for all indices of a space.
        range: Option<Range>,
        /// The first state.
        state: Value,
        /// The next state.
        body: Block,
    },
    /// `while @0 v0 (v1: t) {…} (v2: t) {…} : t`: a state, changed by the second block while the
    /// first gives true.
    While {
        /// The label, for `next` with a state and `exit` with a result.
        label: Label,
        /// The first state.
        state: Value,
        /// The condition.
        condition: Block,
        /// The next state.
        body: Block,
    },
    /// `block @0 () {…} : t`: once; `exit` leaves it with a result.
    Block(Label, Block),
    /// `if v0 {…} {…} : t`: one of two blocks without parameters.
    If(Value, Block, Block),
    /// `switch v0 (v1: t) {…} … : u`: for a value of a sum, the block of its case, with its piece;
    /// for an index of one digit, the block of the piece that it is in, with its index there.
    Switch(Value, Vec<Block>),
    /// `case sum(t, u) 1 v0 : sum(t, u)`: a case of a sum with its piece.
    Case(Type, u32, Value),
    /// `tag v0 : i64`: the number of the case.
    Tag(Value),
    /// `pack some 1 [?0] t (n0) v0 : some 1 [?0] t`: a value with its sizes.
    Pack(Type, Vec<Size>, Value),
    /// `open n1 v0 : [n1] t`: the value of an existential type; its sizes are in scope in the rest
    /// of the block.
    Open(Vec<SizeVar>, Value),
    /// `require t v0 s0 : t`: the value at a type that differs in its sizes only; fails if they are
    /// not equal. Digits with pieces have as many, each of its own size.
    Require(Type, Value, SiteId),
    /// `call f0 total [n0, 2*n1] v0 v1 : t`: a function at sizes, with its effect; `call f0 total
    /// changing 1 [] v0 v1 : t`: one that changes variables.
    Call {
        /// The function.
        function: FunctionId,
        /// Its effect.
        effect: Effect,
        /// The variables that it changes, as many as [`Function::changes`] says.
        changes: usize,
        /// Its sizes.
        sizes: Vec<Size>,
        /// Its arguments.
        values: Vec<Value>,
    },
    /// `io emit v0 v1 : ()`.
    Io(Io, Vec<Value>),
}

/// A statement: the definition of a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Stmt {
    /// The value.
    pub value: Value,
    /// Its type.
    pub ty: Type,
    /// The operation.
    pub op: Op,
}

/// The end of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum End {
    /// The value of the block.
    Yield(Value),
    /// Goes on with the next round of a loop, with a state.
    Next(Label, Value),
    /// Leaves a loop or block with a result.
    Exit(Label, Value),
}

impl End {
    /// The value.
    pub fn value(self) -> Value {
        match self {
            End::Yield(value) | End::Next(_, value) | End::Exit(_, value) => value,
        }
    }

    /// The label, of an end that leaves more than its block.
    pub fn label(self) -> Option<Label> {
        match self {
            End::Yield(_) => None,
            End::Next(label, _) | End::Exit(label, _) => Some(label),
        }
    }
}

/// Statements with parameters.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Block {
    /// The parameters with their types.
    pub params: Vec<(Value, Type)>,
    /// The statements.
    pub stmts: Vec<Stmt>,
    /// The end.
    pub end: End,
}

/// A function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// The name, for readers.
    pub name: Arc<str>,
    /// The size parameters with their names, for readers.
    pub sizes: Vec<(SizeVar, Arc<str>)>,
    /// The type of the result.
    pub result: Type,
    /// The effect of a call.
    pub effect: Effect,
    /// The number of variables that it changes: its first parameters. Its result is a tuple then, of
    /// a value and the last values of these variables.
    pub changes: usize,
    /// The parameters and the body, which ends with `yield`.
    pub body: Block,
}

/// Functions that call each other, and the sites of their failures.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Program {
    /// The sites, by [`SiteId`].
    pub sites: Vec<Site>,
    /// The functions, by [`FunctionId`].
    pub functions: Vec<Function>,
}

impl Program {
    /// The ids of the functions in order.
    pub fn function_ids(&self) -> impl Iterator<Item = FunctionId> + use<> {
        (0..u32::try_from(self.functions.len()).expect("fewer than 2^32 functions")).map(FunctionId)
    }
}
