//! The tree of expressions.

use super::{Arm, Function, Name, Pattern, Stmt, TypeExpr};
use crate::source::Span;
use num_bigint::BigUint;
use std::sync::Arc;

/// An expression.
#[derive(Clone, Debug)]
pub struct Expr {
    /// The form.
    pub kind: ExprKind,
    /// The span in the source text.
    pub span: Span,
}

/// The forms of expressions.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// `42`, `010` (ten), `0xff`, `0b101`, `1_000`.
    Int(BigUint),
    /// `1.5`, `1e-3`: the digits as written but for `_`, since each float type rounds them its own
    /// way.
    Real(Arc<str>),
    /// `5u8`, `2.5f32`, `5n`: the digits as written but for `_`, and the suffix.
    Suffixed(Arc<str>, &'static str),
    /// `'a'` with its escape resolved.
    Char(char),
    /// `"text"` with its escapes resolved.
    Str(Arc<str>),
    /// `f"… {x:8.3} …"`: the text at the beginning, and the interpolations with the texts after
    /// them.
    Interpolated(Arc<str>, Vec<Interpolation>),
    /// `true`, `false`.
    Bool(bool),
    /// A name.
    Name(Name),
    /// `f[T, 3]`: explicit type arguments.
    TypeArgs(Box<Expr>, Vec<TypeExpr>),
    /// `` `n:T `` (tick) or `case n of T`: a constant for a unit case, else an injection function.
    CaseOf {
        /// The number of the case, from 0.
        index: BigUint,
        /// The sum.
        ty: TypeExpr,
        /// Written with a backtick.
        tick: bool,
    },
    /// `case n e`: injection into the expected sum; `case n` alone is not an expression.
    Inject {
        /// The number of the case, from 0.
        index: BigUint,
        /// The argument.
        arg: Box<Expr>,
    },
    /// `proj n of T`.
    Proj {
        /// The number of the component, from 0.
        index: BigUint,
        /// The product or array.
        ty: TypeExpr,
    },
    /// `aproj e of T`: the projection of an array at an index value.
    Aproj {
        /// The index.
        index: Box<Expr>,
        /// The array type.
        ty: TypeExpr,
    },
    /// `ainj e of T`: the injection into a coarray at an index value.
    Ainj {
        /// The index.
        index: Box<Expr>,
        /// The coarray type.
        ty: TypeExpr,
    },
    /// `()`, `a, b, c` (never of length 1).
    Tuple(Vec<Expr>),
    /// `a\, b`.
    CompactTuple(Vec<Expr>),
    /// `..e`: the components of `e`, last in a tuple.
    Rest(Box<Expr>),
    /// `(a = 1, b = 2)`.
    Record(Vec<(Name, Expr)>),
    /// `(a = x \, b = y)`
    CompactRecord(Vec<(Name, Expr)>),
    /// `(...r, a = 1)`: fields, and records (without a name) whose fields are included.
    Spread(Vec<(Option<Name>, Expr)>),
    /// `r with (a = 1)`.
    Update(Box<Expr>, Vec<(Name, Expr)>),
    /// `(1, 2, b = 3)`: arguments by position and by name.
    Arguments(Vec<Expr>, Vec<(Name, Expr)>),
    /// `[a, b, c]`: an array literal, of length 1 too.
    Array(Vec<Expr>),
    /// `[ e for p in i, q in j if c ]`.
    Comprehension {
        /// One element.
        body: Box<Expr>,
        /// The clauses, outermost first.
        clauses: Vec<(Pattern, Expr)>,
        /// The condition on elements.
        guard: Option<Box<Expr>>,
    },
    /// `..[I]`: all values of `I`.
    AllOf(TypeExpr),
    /// `_` as a key, or as a part of one: a whole axis.
    Axis,
    /// `a..b` (inclusive) or `a..<b`.
    IntRange {
        /// First.
        low: Box<Expr>,
        /// Last, or one past the last.
        high: Box<Expr>,
        /// `..` rather than `..<`.
        inclusive: bool,
    },
    /// `..i` or `..<i`: the values of the type of `i` up to it. Only as what a loop or a clause of
    /// a comprehension walks.
    UpTo {
        /// The index.
        high: Box<Expr>,
        /// `..` rather than `..<`.
        inclusive: bool,
    },
    /// A function applied to an argument.
    Apply {
        /// The function.
        function: Box<Expr>,
        /// The argument.
        argument: Box<Expr>,
        /// The notation.
        form: ApplyForm,
    },
    /// `x.f`, `x.1`, `x.(i\,j)`: projection, indexing or application, depending on the key.
    Dot {
        /// The left side.
        base: Box<Expr>,
        /// The right side: a name, number, parenthesized expression, `TypeArgs` of a name, or tick.
        key: Box<Expr>,
    },
    /// `-e`, `!e`, `not e`.
    Unary(UnaryOp, Box<Expr>),
    /// `a + b`, `a < b`, `a or b` …
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `if c then a elif d then b else e endif`.
    If {
        /// Conditions with their results.
        arms: Vec<(Expr, Expr)>,
        /// The result when no condition holds.
        otherwise: Box<Expr>,
    },
    /// `match e with | p => a | q when c => b endmatch`.
    Match {
        /// The scrutinee.
        scrutinee: Box<Expr>,
        /// The arms in order.
        arms: Vec<Arm<Expr>>,
    },
    /// `fun (x:T):R => e`, `fun (x:T) { … }`, `proc (x:T) { … }`.
    Lambda(Box<Function>),
    /// `{ …; e }`, and `let p = e in e`, which is a block with one `val`.
    Block {
        /// The statements before the value.
        stmts: Vec<Stmt>,
        /// The value.
        value: Box<Expr>,
    },
    /// `at S { …; e }`: work at the places `S`.
    At {
        /// The places.
        places: TypeExpr,
        /// The statements before the value.
        stmts: Vec<Stmt>,
        /// The value, unless the last is a statement.
        value: Option<Box<Expr>>,
    },
    /// `x :>> T`.
    Reshape(Box<Expr>, TypeExpr),
    /// `x :> T`.
    Convert(Box<Expr>, TypeExpr),
    /// An unreadable expression; an error has been reported.
    Error,
}

/// An interpolated value, `{x:8.3}`, and the text after it.
#[derive(Clone, Debug)]
pub struct Interpolation {
    /// The value.
    pub value: Expr,
    /// The minimum width in characters.
    pub width: Option<usize>,
    /// True if zeros fill the width, `{x:08}`, and not blanks.
    pub zeros: bool,
    /// The number of digits after the decimal point.
    pub places: Option<usize>,
    /// The text up to the next interpolation.
    pub text: Arc<str>,
}

/// The notation of an application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApplyForm {
    /// `f x`.
    Juxtaposed,
    /// `f$ x`.
    Dollar,
    /// `x |> f`.
    Pipe,
    /// `#f`.
    Hash,
}

/// Prefix operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    /// `-`
    Neg,
    /// `!` and `not`
    Not,
}

/// Infix operators on values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    /// `+`
    Add,
    /// `-`
    Sub,
    /// `*`
    Mul,
    /// `/`
    Div,
    /// `%`
    Rem,
    /// `**`
    Pow,
    /// `==`
    Eq,
    /// `!=`
    Ne,
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `>`
    Gt,
    /// `>=`
    Ge,
    /// `in`
    In,
    /// `and`
    And,
    /// `or`
    Or,
}

impl BinaryOp {
    /// Returns the operator as written.
    pub fn symbol(self) -> &'static str {
        match self {
            BinaryOp::Add => "+",
            BinaryOp::Sub => "-",
            BinaryOp::Mul => "*",
            BinaryOp::Div => "/",
            BinaryOp::Rem => "%",
            BinaryOp::Pow => "**",
            BinaryOp::Eq => "==",
            BinaryOp::Ne => "!=",
            BinaryOp::Lt => "<",
            BinaryOp::Le => "<=",
            BinaryOp::Gt => ">",
            BinaryOp::Ge => ">=",
            BinaryOp::In => "in",
            BinaryOp::And => "and",
            BinaryOp::Or => "or",
        }
    }
}
