//! Specialized code: core at concrete types, with slots and sizes computed.
//!
//! Made by [`super::specialize`], run by [`super::run`]. One [`Instance`] for each function at
//! each list of type arguments it is called with.

use super::existential::OpenCode;
use super::overrides::Overrides;
use super::tier_up::TierUpSite;
use crate::core::{FunctionId, GlobalId, LocalId, Num, Op, Prim};
use crate::layout::Layout;
use crate::source::Span;
use crate::types::encoding::Code;
use crate::types::number::Fixed;
use crate::types::{Scalar, Type};
use crate::value::{Value, drop_iteratively};
use num_bigint::{BigInt, BigUint};
use std::sync::{Arc, OnceLock};

/// A function at concrete types.
pub struct Instance {
    /// For messages.
    pub name: Arc<str>,
    /// Which function.
    pub function: FunctionId,
    /// At which types.
    pub type_args: Vec<Type>,
    /// Locals of a frame.
    pub locals: usize,
    /// Where arguments go.
    pub params: Vec<LocalId>,
    /// Where captured variables go.
    pub captures: Vec<LocalId>,
    /// Where the function itself goes.
    pub this: Option<LocalId>,
    /// Layout of the whole argument.
    pub domain: Arc<Layout>,
    /// The body.
    pub body: Node,
}

/// A function value of this executor.
pub struct Closure {
    /// What it does.
    pub instance: Arc<Instance>,
    /// What it captured, cells included.
    pub captures: Vec<Value>,
}

impl Drop for Closure {
    fn drop(&mut self) {
        self.captures.drain(..).for_each(drop_iteratively);
    }
}

/// A callee: specialized when first called.
pub struct Callee {
    /// The function.
    pub function: FunctionId,
    /// Its type arguments, concrete.
    pub type_args: Vec<Type>,
    /// The instance, once made.
    pub instance: OnceLock<Arc<Instance>>,
}

/// A node with its place.
pub struct Node {
    /// What it does.
    pub kind: NodeKind,
    /// Where it comes from.
    pub span: Span,
}

/// What a node does.
pub enum NodeKind {
    Constant(Value),
    Local(LocalId),
    /// A local that lives in a cell.
    Shared(LocalId),
    Global(GlobalId),
    /// A local that nobody reads any more.
    Move(LocalId),
    /// The same of slots of one, of which others are still read.
    MoveSlots(LocalId, usize, usize, bool),
    /// The same of a local in a cell, and of a variable of the session, which is assigned next.
    MoveShared(LocalId),
    MoveGlobal(GlobalId),
    Closure(Arc<Callee>, Vec<LocalId>),
    /// A known function, without captures.
    CallKnown(Arc<Callee>, Vec<Node>),
    Call(Box<Node>, Vec<Node>),
    /// A method of an instance that does not exist: a mistake of the checker.
    MissingInstance,
    Prim(Prim, Arc<PrimTypes>, Vec<Node>),
    Arithmetic(Op, Num, Option<Code>, Vec<Node>),
    Compare(Op, Type, Arc<Layout>, Box<Node>, Box<Node>),
    /// `==` or `!=` where some parts have an equality of their own.
    CompareOverridden(Op, Type, Arc<Overrides>, Box<Node>, Box<Node>),
    Not(Box<Node>),
    /// `and`, `or` and `not` of all digits of a `2 \^ I` with this largest code.
    Bits(Op, Code, Vec<Node>),
    /// Parts with their slots; class and slots of the whole.
    Tuple(Vec<(Node, usize)>, Arc<Layout>),
    /// Slots `start..start + len` of a value that has more, or the value itself.
    Slots(Box<Node>, usize, usize, bool),
    /// Element at an index: slots of an element, and whether the array is its only element.
    Index(Box<Node>, Box<Node>, usize, bool),
    /// Loop variables with the sizes of their types; layout of an element and of the whole.
    Build(Vec<(LocalId, Code)>, Box<Node>, Arc<Layout>, Arc<Layout>),
    Pack(Arc<Layout>, Vec<Node>),
    Factor(Arc<Layout>, Box<Node>, Code),
    Digit(Arc<Layout>, Box<Node>, Box<Node>),
    Inject(SumRepresentation, Code, Box<Node>),
    ToCode(Scalar, Box<Node>),
    FromCode(Scalar, Arc<CodeType>, Box<Node>),
    Convert(Scalar, Scalar, Box<Node>),
    /// A value read as another type that is stored otherwise: a mistake of the checker.
    StorageMismatch(Box<Node>, Arc<(Type, Type)>),
    /// The code of a type with more values than the scalar holds.
    CodesTooLarge(Scalar, Arc<CodeType>, Box<Node>),
    If(Box<Node>, Box<Node>, Box<Node>),
    Match(Box<Node>, Vec<Arm>),
    Block(Vec<Statement>, Option<Box<Node>>),
    /// Sizes and the value at them.
    PackSizes(Vec<(Type, Code)>, Box<Node>),
    /// Opens sizes; the value is that of the rest of the block.
    OpenSizes(Box<OpenCode>),
    /// A term that may be taken over by a faster executor.
    TierUp(Box<TierUpSite>),
}

/// Types a primitive needs: those it is applied at, and the type of its first argument.
pub struct PrimTypes {
    /// Type arguments.
    pub args: Vec<Type>,
    /// Layout of the first type argument.
    pub layout: Option<Arc<Layout>>,
    /// Layout of the result.
    pub result: Arc<Layout>,
    /// Types in the first type argument that have a text of their own, where that matters.
    pub overrides: Overrides,
}

/// A compact type for messages.
pub struct CodeType {
    /// The type.
    pub ty: Type,
    /// Its number of values.
    pub size: BigUint,
}

/// How cases are told apart.
#[derive(Clone)]
pub enum SumRepresentation {
    /// A tagged sum, by its layout.
    Sum(Arc<Layout>),
    /// A compact sum or unit sum, by its layout.
    Compact(Arc<Layout>),
    /// A variant: tag and argument as they are.
    Variant,
}

pub struct Arm {
    pub pattern: Pattern,
    pub guard: Option<Node>,
    pub body: Node,
}

/// A pattern at concrete types.
pub enum Pattern {
    Any,
    Bind(LocalId),
    BindShared(LocalId),
    As(Box<Pattern>, Box<Pattern>),
    Int(i64),
    Bigint(BigInt),
    Real(f64),
    Single(f32),
    /// Integers of a word from one to another, both included; those of another width are decoded first.
    Ints(Option<Fixed>, i128, i128),
    Bigints(BigInt, BigInt),
    Chars(Code, Code),
    Or(Vec<Pattern>),
    Str(Arc<str>),
    Code(Code),
    /// Parts with start and slots; slots of the whole.
    Tuple(Vec<(usize, usize, Pattern)>, usize),
    Pack(Arc<Layout>, Vec<Pattern>),
    Case(SumRepresentation, Code, Option<Box<Pattern>>),
    /// The number of the case, and its argument.
    Coarray(SumRepresentation, Box<Pattern>, Box<Pattern>),
}

/// A statement with its place.
pub struct Statement {
    pub kind: StatementKind,
    pub span: Span,
}

pub enum StatementKind {
    Let(Pattern, Node),
    SetLocal(LocalId, Node),
    SetShared(LocalId, Node),
    SetGlobal(GlobalId, Node),
    Store(Box<Store>),
    /// Lets go of locals.
    Drop(Box<[LocalId]>),
    Expr(Node),
    If(Node, Vec<Statement>, Vec<Statement>),
    Match(Node, Vec<(Pattern, Option<Node>, Vec<Statement>)>),
    ForAll(LocalId, Code, Vec<Statement>),
    ForInts(LocalId, Node, Node, bool, Vec<Statement>),
    /// Array, slots of an element, number of elements.
    ForElements(LocalId, Node, usize, usize, Vec<Statement>),
    While(Node, Vec<Statement>),
    Break,
    Continue,
    Return(Node),
    /// Opens sizes for the rest of the block. The last statement of its list.
    OpenSizes(Box<OpenCode>),
    /// Two sizes that must be equal, with the equation.
    Require(Code, Code, Arc<str>),
    /// A loop that may be taken over by a faster executor.
    TierUp(Box<TierUpSite>),
}

/// A store through projections.
pub struct Store {
    pub root: StoreRoot,
    /// Steps through storage: a constant slot offset, or an index times a stride.
    pub steps: Vec<StoreStep>,
    /// Steps inside the compact value found there, outermost first.
    pub parts: Vec<(Arc<Layout>, PartStep)>,
    /// Slots of the root and of the place; class that the place needs.
    pub root_slots: usize,
    pub place: Arc<Layout>,
    pub class: crate::value::Class,
    pub value: Node,
}

pub enum StoreRoot {
    Local(LocalId),
    Shared(LocalId),
    Global(GlobalId),
}

pub enum StoreStep {
    Offset(usize),
    Index(Node, usize),
}

pub enum PartStep {
    Factor(Code),
    Digit(Node),
}
