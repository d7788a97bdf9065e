//! Specialized code: core at concrete types, with slots and sizes computed.
//!
//! Made by [`super::specialize`], run by [`super::terms`] and [`super::statements`]. There is one
//! [`Instance`] for each function at each list of type arguments that it is called with.

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
    /// The name, for messages.
    pub name: Arc<str>,
    /// The number of the function.
    pub function: FunctionId,
    /// The type arguments.
    pub type_args: Vec<Type>,
    /// The number of locals of a frame.
    pub locals: usize,
    /// The locals that receive the arguments.
    pub params: Vec<LocalId>,
    /// The locals that receive the captured variables.
    pub captures: Vec<LocalId>,
    /// The local that receives the function value itself, if the function is recursive through it.
    pub this: Option<LocalId>,
    /// The layout of the whole argument.
    pub domain: Arc<Layout>,
    /// The body.
    pub body: Node,
}

/// A function value of this executor.
pub struct Closure {
    /// The operation.
    pub instance: Arc<Instance>,
    /// The captured values; cells of shared variables are captured as cells.
    pub captures: Vec<Value>,
}

impl Drop for Closure {
    fn drop(&mut self) {
        self.captures.drain(..).for_each(drop_iteratively);
    }
}

/// A callee. It is specialized when it is first called.
pub struct Callee {
    /// The function.
    pub function: FunctionId,
    /// Its concrete type arguments.
    pub type_args: Vec<Type>,
    /// The instance, after the first call.
    pub instance: OnceLock<Arc<Instance>>,
}

/// A term, with its source position.
pub struct Node {
    /// The operation.
    pub kind: NodeKind,
    /// The source position.
    pub span: Span,
}

/// The operation of a node.
pub enum NodeKind {
    Constant(Value),
    Local(LocalId),
    /// A local that is stored in a cell.
    Shared(LocalId),
    Global(GlobalId),
    /// The last read of a local: its value is moved out.
    Move(LocalId),
    /// The last read of slots `start..start + len` of a local, other slots of which are still read;
    /// the flag is true if these are all slots.
    MoveSlots(LocalId, usize, usize, bool),
    /// The last read of a local in a cell, which is assigned next.
    MoveShared(LocalId),
    MoveGlobal(GlobalId),
    Closure(Arc<Callee>, Vec<LocalId>),
    /// A known function, without captures.
    CallKnown(Arc<Callee>, Vec<Node>),
    Call(Box<Node>, Vec<Node>),
    /// A method of a missing instance: a bug of the checker.
    MissingInstance,
    Prim(Prim, Arc<PrimTypes>, Vec<Node>),
    Arithmetic(Op, Num, Option<Code>, Vec<Node>),
    Compare(Op, Type, Arc<Layout>, Box<Node>, Box<Node>),
    /// `==` or `!=` of values parts of which have an overridden equality.
    CompareOverridden(Op, Type, Arc<Overrides>, Box<Node>, Box<Node>),
    Not(Box<Node>),
    /// `and`, `or` and `not` on all digits of a value of `2 \^ I`, with the largest code of the
    /// type.
    Bits(Op, Code, Vec<Node>),
    /// The parts, each with its number of slots, and the layout of the whole.
    Tuple(Vec<(Node, usize)>, Arc<Layout>),
    /// Slots `start..start + len` of a value; the flag is true if these are all slots.
    Slots(Box<Node>, usize, usize, bool),
    /// The element at an index: the number of slots of an element; the flag is true if the array is
    /// its only element.
    Index(Box<Node>, Box<Node>, usize, bool),
    /// An array comprehension: loop variables with the sizes of their types, the body, and the
    /// layouts of an element and of the array.
    Build(Vec<(LocalId, Code)>, Box<Node>, Arc<Layout>, Arc<Layout>),
    Pack(Arc<Layout>, Vec<Node>),
    Factor(Arc<Layout>, Box<Node>, Code),
    Digit(Arc<Layout>, Box<Node>, Box<Node>),
    Inject(SumRepresentation, Code, Box<Node>),
    ToCode(Scalar, Box<Node>),
    FromCode(Scalar, Arc<CodeType>, Box<Node>),
    Convert(Scalar, Scalar, Box<Node>),
    /// A reshape between types that are stored differently: a bug of the checker.
    StorageMismatch(Box<Node>, Arc<(Type, Type)>),
    /// The code of a value whose type has more values than the scalar type.
    CodesTooLarge(Scalar, Arc<CodeType>, Box<Node>),
    If(Box<Node>, Box<Node>, Box<Node>),
    Match(Box<Node>, Vec<Arm>),
    Block(Vec<Statement>, Option<Box<Node>>),
    /// An existential value: the sizes, and the value at these sizes.
    PackSizes(Vec<(Type, Code)>, Box<Node>),
    /// Opens sizes; the value is that of the rest of the block.
    OpenSizes(Box<OpenCode>),
    /// A term that may be compiled.
    TierUp(Box<TierUpSite>),
}

/// The types that a primitive needs.
pub struct PrimTypes {
    /// The concrete type arguments.
    pub args: Vec<Type>,
    /// The layout of the first type argument.
    pub layout: Option<Arc<Layout>>,
    /// The layout of the result.
    pub result: Arc<Layout>,
    /// The overrides of `show` in the first type argument, for primitives that show values.
    pub overrides: Overrides,
}

/// A compact type, for messages.
pub struct CodeType {
    /// The type.
    pub ty: Type,
    /// The number of values.
    pub size: BigUint,
}

/// The representation of the cases of a sum.
#[derive(Clone)]
pub enum SumRepresentation {
    /// A tagged sum.
    Sum(Arc<Layout>),
    /// A compact sum or a unit sum: a code.
    Compact(Arc<Layout>),
    /// A variant: tag and argument.
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
    /// Integers of a word between two bounds, both included; integers of a fixed width are decoded
    /// first.
    Ints(Option<Fixed>, i128, i128),
    Bigints(BigInt, BigInt),
    Chars(Code, Code),
    Or(Vec<Pattern>),
    Str(Arc<str>),
    Code(Code),
    /// The parts, each with its first slot and its number of slots; the number of slots of the
    /// whole.
    Tuple(Vec<(usize, usize, Pattern)>, usize),
    Pack(Arc<Layout>, Vec<Pattern>),
    Case(SumRepresentation, Code, Option<Box<Pattern>>),
    /// The number of the case, and its argument.
    Coarray(SumRepresentation, Box<Pattern>, Box<Pattern>),
}

/// A statement, with its source position.
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
    /// Drops the values of locals.
    Drop(Box<[LocalId]>),
    Expr(Node),
    If(Node, Vec<Statement>, Vec<Statement>),
    Match(Node, Vec<(Pattern, Option<Node>, Vec<Statement>)>),
    ForAll(LocalId, Code, Vec<Statement>),
    ForInts(LocalId, Node, Node, bool, Vec<Statement>),
    /// Loop variable, array, number of slots of an element, number of elements, body.
    ForElements(LocalId, Node, usize, usize, Vec<Statement>),
    While(Node, Vec<Statement>),
    Break,
    Continue,
    Return(Node),
    /// Opens sizes for the rest of the block; the last statement of its list.
    OpenSizes(Box<OpenCode>),
    /// Two sizes that must be equal, with the text of the equation.
    Require(Code, Code, Arc<str>),
    /// A loop that may be compiled.
    TierUp(Box<TierUpSite>),
}

/// A store into a part of a variable.
pub struct Store {
    pub root: StoreRoot,
    /// Steps through flat storage: constant slot offsets, and indices times strides.
    pub steps: Vec<StoreStep>,
    /// Steps inside the compact value at that slot, outermost first.
    pub parts: Vec<(Arc<Layout>, PartStep)>,
    /// The number of slots of the root.
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
