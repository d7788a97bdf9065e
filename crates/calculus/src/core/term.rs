//! Terms and statements of core, and the program that holds them.

use super::{ClassId, Prim};
use crate::source::Span;
use crate::types::number::{Fixed, Rounded};
use crate::types::{Scalar, Type, TypeKind, TypeVar};
use num_bigint::{BigInt, BigUint};
use std::sync::Arc;

/// A term with its type.
#[derive(Clone, Debug)]
pub struct Term {
    /// The form.
    pub kind: TermKind,
    /// The type.
    pub ty: Type,
    /// The place in the source text.
    pub span: Span,
}

crate::id::ids! {
    /// A local variable of one function, numbered from 0 within it.
    LocalId "";
    /// A session variable, by its number.
    GlobalId "";
    /// A function of the program, by its number.
    FunctionId "";
}

/// The forms of terms.
#[derive(Clone, Debug)]
pub enum TermKind {
    /// An integer literal; its type determines the number system.
    Int(BigInt),
    /// A real literal; its type determines the rounding.
    Real(Rounded),
    /// A character literal.
    Char(char),
    /// A string literal.
    Str(Arc<str>),
    /// A value of a compact linear type by its code; `()` is code 0 of `1`.
    Code(BigUint),
    /// A local variable.
    Local(LocalId),
    /// A session variable.
    Global(GlobalId),
    /// The last read of a variable or of a component of one: its value is moved
    /// ([`super::last_use`]).
    Move(Box<Term>),
    /// A function value: a function at type arguments, with the variables it captures.
    Closure {
        /// The function.
        function: FunctionId,
        /// One type for each of its type parameters.
        type_args: Vec<Type>,
        /// Locals of the enclosing function, one for each capture of the function.
        captures: Vec<LocalId>,
    },
    /// A method of a class: the function that the instance at these types has for it.
    Method {
        /// The class.
        class: ClassId,
        /// The number of the method in the class.
        method: usize,
        /// Arguments of the class, then those of the method's own type parameters.
        type_args: Vec<Type>,
    },
    /// An application of a function. Several arguments are the components of one tuple.
    Call(Box<Term>, Vec<Term>),
    /// An application of a primitive at type arguments.
    Prim(Prim, Vec<Type>, Vec<Term>),
    /// An operator applied to operands of one scalar type, or a comparison of two equal types.
    Op(Op, Vec<Term>),
    /// A product, record, struct or array from its components in storage order.
    Tuple(Vec<Term>),
    /// A component of a product, record or struct, or of an array at a constant position.
    Component(Box<Term>, BigUint),
    /// An array at an index value.
    Index(Box<Term>, Box<Term>),
    /// The array whose element at `(i1\,…\,ik)` is the body; its index type is the compact
    /// product of the clause types.
    Build(Vec<(LocalId, Type)>, Box<Term>),
    /// A compact product from its parts.
    Pack(Vec<Term>),
    /// A part of a compact product, by its number.
    Factor(Box<Term>, BigUint),
    /// A digit of a compact exponential at a position.
    Digit(Box<Term>, Box<Term>),
    /// A case of a sum (tagged, compact or variant) with its argument (`()` for a unit case).
    Inject(BigUint, Box<Term>),
    /// The same storage at another type: `:>>` between naturally isomorphic types.
    Reshape(Box<Term>),
    /// The code of a compact value as a number.
    ToCode(Box<Term>),
    /// The compact value with this code; checked at run time.
    FromCode(Box<Term>),
    /// A conversion between numbers; checked at run time.
    Convert(Box<Term>),
    /// `at S { e }`: the value of `T @ S` that each place of `S` has, computed there alone.
    At(Type, Box<Term>),
    /// The value that this place has of a `T @ R`; inside an `At` of places that belong to `R`.
    Here(Box<Term>),
    /// A value of `T`, or of `T @ R`, as one of `T @ S` at the places of `S`, which belong to `R`.
    Restrict(Box<Term>),
    /// The condition, the then-branch, the else-branch.
    If(Box<Term>, Box<Term>, Box<Term>),
    /// The first arm that matches.
    Match(Box<Term>, Vec<Arm>),
    /// A value of an existential type: its sizes, and the value at them.
    PackSizes(Vec<Type>, Box<Term>),
    /// Statements, then a value. Without a value, a `return` among them returns it, or it is `()`.
    Block(Vec<Stmt>, Option<Box<Term>>),
    /// An error term; never occurs in a program without errors.
    Error,
}

/// One arm of a match.
#[derive(Clone, Debug)]
pub struct Arm {
    /// The pattern that must match.
    pub pattern: Pat,
    /// A condition on the bound variables.
    pub guard: Option<Term>,
    /// The result.
    pub body: Term,
}

/// A typed pattern.
#[derive(Clone, Debug)]
pub struct Pat {
    /// The form.
    pub kind: PatKind,
    /// The type of the matched value.
    pub ty: Type,
    /// The place in the source text.
    pub span: Span,
}

/// The forms of patterns.
#[derive(Clone, Debug)]
pub enum PatKind {
    /// Matches everything.
    Wild,
    /// Matches everything and binds it.
    Bind(LocalId),
    /// Matches whatever the inner pattern matches, and binds the whole.
    As(Box<Pat>, LocalId),
    /// An integer literal of a scalar type.
    Int(BigInt),
    /// A real literal.
    Real(Rounded),
    /// A character literal.
    Char(char),
    /// The integers from one to another, both included.
    Ints(BigInt, BigInt),
    /// The characters from one to another, both included.
    Chars(char, char),
    /// Matches if one of these matches; they bind nothing.
    Or(Vec<Pat>),
    /// A string literal.
    Str(Arc<str>),
    /// The compact value with this code.
    Code(BigUint),
    /// The components of a product, record or struct.
    Tuple(Vec<Pat>),
    /// The parts of a compact product.
    Pack(Vec<Pat>),
    /// A case of a sum or variant, with a pattern for the argument.
    Case(BigUint, Option<Box<Pat>>),
    /// Any case of a coarray `N *+ T`: patterns for its index and its argument.
    Coarray(Box<Pat>, Box<Pat>),
    /// Matches if the pattern matches the value read at the pattern's type, which has the same
    /// slots.
    Reshape(Box<Pat>),
}

/// The number systems with operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Num {
    /// 64-bit, wrapping.
    Int,
    /// Integers of another fixed width, wrapping.
    Fixed(Fixed),
    /// binary32.
    Single,
    /// binary64.
    Real,
    /// Unbounded integers.
    Bigint,
    /// Integers modulo the size of the term's type, `cyclic[N]`.
    Mod,
    /// Text; has `+` only.
    String,
}

impl Num {
    /// Returns the number system of a type's operators.
    pub fn of(ty: &Type) -> Option<Num> {
        match ty.kind() {
            TypeKind::Scalar(Scalar::Int) => Some(Num::Int),
            TypeKind::Scalar(Scalar::Real) => Some(Num::Real),
            TypeKind::Scalar(Scalar::Single) => Some(Num::Single),
            TypeKind::Scalar(Scalar::Fixed(fixed)) => Some(Num::Fixed(*fixed)),
            TypeKind::Scalar(Scalar::Bigint) => Some(Num::Bigint),
            TypeKind::Scalar(Scalar::String) => Some(Num::String),
            TypeKind::Nominal(nominal, _) if nominal.cyclic => Some(Num::Mod),
            _ => None,
        }
    }

    /// Returns true if an infix operator, or `-` as a prefix, is built in for it.
    pub fn has(self, symbol: &str) -> bool {
        match self {
            Num::String => symbol == "+",
            Num::Mod => matches!(symbol, "+" | "-" | "*"),
            _ => matches!(symbol, "+" | "-" | "*" | "/" | "%" | "**"),
        }
    }
}

/// The operators on scalars. The checker expands pointwise uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// Prefix minus.
    Neg(Num),
    /// `+`
    Add(Num),
    /// `-`
    Sub(Num),
    /// `*`
    Mul(Num),
    /// `/`
    Div(Num),
    /// `%`
    Rem(Num),
    /// `**`
    Pow(Num),
    /// `not` of a truth value, or of each digit of a `2 \^ I`.
    Not,
    /// `and` of two `2 \^ I`, digit by digit; for two `bool` it is a condition.
    And,
    /// `or` of two `2 \^ I`, digit by digit; for two `bool` it is a condition.
    Or,
    /// `==` on any data.
    Eq,
    /// `!=` on any data.
    Ne,
    /// `<` on scalars; on compact values by code.
    Lt,
    /// `<=`
    Le,
    /// `>`
    Gt,
    /// `>=`
    Ge,
}

impl Op {
    /// Returns the symbol of the operator, if it has one.
    pub fn symbol(self) -> Option<&'static str> {
        Some(match self {
            Op::Neg(_) | Op::Sub(_) => "-",
            Op::Add(_) => "+",
            Op::Mul(_) => "*",
            Op::Div(_) => "/",
            Op::Rem(_) => "%",
            Op::Pow(_) => "**",
            Op::Eq => "==",
            Op::Ne => "!=",
            Op::Lt => "<",
            Op::Le => "<=",
            Op::Gt => ">",
            Op::Ge => ">=",
            Op::Not | Op::And | Op::Or => return None,
        })
    }

    /// Returns the same operator in another number system.
    pub fn at(self, num: Num) -> Op {
        match self {
            Op::Neg(_) => Op::Neg(num),
            Op::Add(_) => Op::Add(num),
            Op::Sub(_) => Op::Sub(num),
            Op::Mul(_) => Op::Mul(num),
            Op::Div(_) => Op::Div(num),
            Op::Rem(_) => Op::Rem(num),
            Op::Pow(_) => Op::Pow(num),
            other => other,
        }
    }
}

/// A statement.
#[derive(Clone, Debug)]
pub struct Stmt {
    /// The form.
    pub kind: StmtKind,
    /// The place in the source text.
    pub span: Span,
}

/// The forms of statements.
#[derive(Clone, Debug)]
pub enum StmtKind {
    /// Binds the variables of a pattern that always matches.
    Let(Pat, Term),
    /// Sets a local that is a `var`.
    SetLocal(LocalId, Term),
    /// Sets or initializes a session variable.
    SetGlobal(GlobalId, Term),
    /// Stores a value into a part of a variable.
    Store {
        /// The variable.
        root: Root,
        /// The type of the variable.
        root_ty: Type,
        /// The projections, from the variable inward.
        path: Vec<Step>,
        /// The value to store.
        value: Term,
    },
    /// Opens a value of an existential type: in the rest of the block its sizes are type variables,
    /// and the local holds the value at these sizes.
    Open {
        /// One variable for each variable that the type binds.
        vars: Vec<TypeVar>,
        /// The local that receives the value.
        local: LocalId,
        /// The value, of an existential type.
        value: Term,
    },
    /// Checks that two sizes are equal. With a variable, which the right side mentions once,
    /// computes the size for which they are equal; the variable has this size in the rest of the
    /// block.
    Require {
        /// One size.
        left: Type,
        /// The other.
        right: Type,
        /// The variable to solve for.
        solve: Option<TypeVar>,
    },
    /// Drops the values of locals, which are not read later ([`super::last_use`]).
    Drop(Vec<LocalId>),
    /// An expression evaluated for its effect.
    Expr(Term),
    /// The condition, the then-branch, the else-branch.
    If(Term, Vec<Stmt>, Vec<Stmt>),
    /// The first arm that matches, for its effect.
    Match(Term, Vec<(Pat, Option<Term>, Vec<Stmt>)>),
    /// A loop over the values of a range, in order.
    For(LocalId, ForRange, Vec<Stmt>),
    /// A loop while the condition holds.
    While(Term, Vec<Stmt>),
    /// Leaves the innermost loop.
    Break,
    /// Continues the innermost loop.
    Continue,
    /// Returns from the function with a value.
    Return(Term),
}

/// The variable that a store starts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Root {
    /// A local variable.
    Local(LocalId),
    /// A session variable.
    Global(GlobalId),
}

impl Root {
    /// The assignment of a value to the variable.
    pub fn assigned(self, value: Term) -> StmtKind {
        match self {
            Root::Local(local) => StmtKind::SetLocal(local, value),
            Root::Global(global) => StmtKind::SetGlobal(global, value),
        }
    }
}

/// The knowledge about the value of a variable before code that reads it is compiled.
#[derive(Clone, Debug, PartialEq)]
pub enum KnownValue {
    /// Nothing: data.
    Data,
    /// The data of a variable that functions share. Equal numbers are one variable.
    Shared(usize),
    /// A function at these types, and its captured values.
    Function(FunctionId, Vec<Type>, Vec<KnownValue>),
}

/// A region of a program that is compiled as one unit.
#[derive(Clone, Copy, Debug)]
pub enum Region<'a> {
    /// A term: its value is the result.
    Term(&'a Term),
    /// A loop: the variables outside that it changes are the results.
    Loop(&'a Stmt),
    /// A call of a function whose arguments and captured values are in its locals: its value is the
    /// first result, the variables around it that it changes are the others.
    Call(FunctionId, &'a Function),
}

impl Region<'_> {
    /// Returns the place.
    pub fn span(self) -> Span {
        match self {
            Region::Term(term) => term.span,
            Region::Loop(stmt) => stmt.span,
            Region::Call(_, function) => function.body.span,
        }
    }
}

/// One projection of a store's path.
#[derive(Clone, Debug)]
pub struct Step {
    /// The projection.
    pub kind: StepKind,
    /// The type that the step projects from.
    pub from: Type,
    /// The type of the projected part.
    pub to: Type,
}

/// The projections of a store. Compact parts come last.
#[derive(Clone, Debug)]
pub enum StepKind {
    /// A component of a product, record or struct, or a constant position of an array.
    Component(BigUint),
    /// An array at an index value.
    Index(Term),
    /// A part of a compact product.
    Factor(BigUint),
    /// A digit of a compact exponential.
    Digit(Term),
    /// The same storage at another type.
    Reshape,
}

/// The range of a `for`.
#[derive(Clone, Debug)]
pub enum ForRange {
    /// All values of a compact linear type, in encoding order.
    All(Type),
    /// The integers from low to high.
    Ints {
        /// The first integer.
        low: Term,
        /// The last integer, or the one after it.
        high: Term,
        /// True if `high` itself is included.
        inclusive: bool,
    },
    /// The elements of an array in storage order.
    Elements(Term),
}

/// A local variable.
#[derive(Clone, Debug)]
pub struct LocalInfo {
    /// The name, for messages.
    pub name: Arc<str>,
    /// The type.
    pub ty: Type,
    /// True for a `var` captured by an inner function: both share a cell that holds its value.
    pub shared: bool,
}

/// A function of the program.
#[derive(Clone, Debug)]
pub struct Function {
    /// The name; `fun` for a lambda.
    pub name: Arc<str>,
    /// The type parameters, those of enclosing functions first.
    pub type_params: Vec<TypeVar>,
    /// The parameters: several are the components of one tuple argument.
    pub params: Vec<LocalId>,
    /// The locals that receive the captured variables, in the order of [`TermKind::Closure`].
    pub captures: Vec<LocalId>,
    /// The local that holds the function itself during a call, for local recursion.
    pub this: Option<LocalId>,
    /// All locals, by [`LocalId`].
    pub locals: Vec<LocalInfo>,
    /// The type of its one argument.
    pub domain: Type,
    /// The equations of sizes that hold at every call: they were required before the function was
    /// made.
    pub given: Vec<(Type, Type)>,
    /// The body.
    pub body: Term,
    /// The place of the declaration.
    pub span: Span,
}

/// A session variable.
#[derive(Clone, Debug)]
pub struct Global {
    /// The name.
    pub name: Arc<str>,
    /// The type.
    pub ty: Type,
}

/// The top-level statements of one input, run in order in one frame.
#[derive(Clone, Debug)]
pub struct Script {
    /// The locals of the frame.
    pub locals: Vec<LocalInfo>,
    /// The statements.
    pub body: Vec<Stmt>,
    /// The value of the last statement if that is an expression, for display by a session.
    pub result: Option<Term>,
}

impl Term {
    /// Makes a term.
    pub fn new(kind: TermKind, ty: Type, span: Span) -> Term {
        Term { kind, ty, span }
    }

    /// Makes the term `()`.
    pub fn unit(span: Span) -> Term {
        Term::new(TermKind::Code(BigUint::ZERO), Type::unit(), span)
    }
}

impl Pat {
    /// Returns true if the pattern matches every value by its form alone.
    pub fn is_total(&self) -> bool {
        match &self.kind {
            PatKind::Wild | PatKind::Bind(_) => true,
            PatKind::As(inner, _) | PatKind::Reshape(inner) => inner.is_total(),
            PatKind::Tuple(parts) | PatKind::Pack(parts) => parts.iter().all(Pat::is_total),
            PatKind::Or(parts) => parts.iter().any(Pat::is_total),
            PatKind::Coarray(index, argument) => index.is_total() && argument.is_total(),
            _ => false,
        }
    }
}
