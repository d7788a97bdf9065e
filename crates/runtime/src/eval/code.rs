//! Specialized code: core at concrete types, with slots and sizes computed.
//!
//! Made by [`super::specialize`], run by [`super::terms`] and [`super::statements`]. There is one
//! [`Instance`] for each function at each list of type arguments that it is called with.

use super::existential::OpenCode;
use super::keys::EntryForm;
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
    /// True if the body is a primitive whose operands are the parameters, in their order and each
    /// once.
    pub forwards: bool,
}

impl Instance {
    /// Returns true for a body that is a primitive whose operands are these parameters, which are
    /// the first locals, in their order and each once.
    pub fn is_forwarding(body: &Node, params: &[LocalId]) -> bool {
        let NodeKind::Prim(_, _, operands) = &body.kind else { return false };
        let is_param = |at: usize, operand: &Node| match operand.kind {
            NodeKind::Local(local) | NodeKind::Move(local) => local.index() == at,
            _ => false,
        };
        params.len() == operands.len()
            && params.iter().enumerate().all(|(at, param)| param.index() == at)
            && operands.iter().enumerate().all(|(at, operand)| is_param(at, operand))
    }
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
    /// A constant.
    Constant(Value),
    /// A local.
    Local(LocalId),
    /// A local that is stored in a cell.
    Shared(LocalId),
    /// A variable of the session.
    Global(GlobalId),
    /// The last read of a local: its value is moved out.
    Move(LocalId),
    /// The last read of slots `start..start + len` of a local, other slots of which are still read;
    /// the flag is true if these are all slots.
    MoveSlots(LocalId, usize, usize, bool),
    /// The last read of a local in a cell, which is assigned next.
    MoveShared(LocalId),
    /// The last read of a variable of the session, which is assigned next.
    MoveGlobal(GlobalId),
    /// A function value: the function, and the locals that it captures.
    Closure(Arc<Callee>, Vec<LocalId>),
    /// A known function, without captures.
    CallKnown(Arc<Callee>, Vec<Node>),
    /// A call of a function value.
    Call(Box<Node>, Vec<Node>),
    /// A method of a missing instance: a bug of the checker.
    MissingInstance,
    /// A primitive.
    Prim(Prim, Arc<PrimTypes>, Vec<Node>),
    /// A primitive that computes from places: a move, or the place that executes it.
    Communicate(Prim, Arc<PrimTypes>, Vec<Node>),
    /// An arithmetic operator on a number system, with the modulus of modular arithmetic.
    Arithmetic(Op, Num, Option<Code>, Vec<Node>),
    /// A comparison of values of a type.
    Compare(Op, Type, Arc<Layout>, Box<Node>, Box<Node>),
    /// `==` or `!=` of values parts of which have an overridden equality.
    CompareOverridden(Op, Type, Arc<Overrides>, Box<Node>, Box<Node>),
    /// `not` of a truth value.
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
    /// A compact product of parts.
    Pack(Arc<Layout>, Vec<Node>),
    /// A factor of a compact product at a constant index.
    Factor(Arc<Layout>, Box<Node>, Code),
    /// A digit of a compact power at a computed index.
    Digit(Arc<Layout>, Box<Node>, Box<Node>),
    /// A case of a sum with its argument.
    Inject(SumRepresentation, Code, Box<Node>),
    /// The code of a compact value as a number.
    ToCode(Scalar, Box<Node>),
    /// The value of a compact type with a code.
    FromCode(Scalar, Arc<CodeType>, Box<Node>),
    /// A conversion between number types.
    Convert(Scalar, Scalar, Box<Node>),
    /// A reshape between types that are stored differently: a bug of the checker.
    StorageMismatch(Box<Node>, Arc<(Type, Type)>),
    /// The code of a value whose type has more values than the scalar type.
    CodesTooLarge(Scalar, Arc<CodeType>, Box<Node>),
    /// Work at a place, whose output is told apart from what all parties print.
    AtPlace(Box<Node>),
    /// A conditional.
    If(Box<Node>, Box<Node>, Box<Node>),
    /// A match.
    Match(Box<Node>, Vec<Arm>),
    /// A block with its value; the unit value if there is none.
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
    /// The form of the entries of a container, computed at the first call.
    pub(super) entry: OnceLock<Option<EntryForm>>,
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

/// An arm of a match.
pub struct Arm {
    /// The pattern.
    pub pattern: Pattern,
    /// The guard.
    pub guard: Option<Node>,
    /// The value.
    pub body: Node,
}

/// A pattern at concrete types.
pub enum Pattern {
    /// Any value.
    Any,
    /// Any value, bound to a local.
    Bind(LocalId),
    /// Any value, bound to a local in a new cell.
    BindShared(LocalId),
    /// Both patterns; the second one binds the whole value.
    As(Box<Pattern>, Box<Pattern>),
    /// An integer of at most 64 bits, by its bits.
    Int(i64),
    /// A `bigint`.
    Bigint(BigInt),
    /// A `real`.
    Real(f64),
    /// An `f32`.
    Single(f32),
    /// Integers of a word between two bounds, both included; integers of a fixed width are decoded
    /// first.
    Ints(Option<Fixed>, i128, i128),
    /// Big integers between two bounds, both included.
    Bigints(BigInt, BigInt),
    /// Characters between two code points, both included.
    Chars(Code, Code),
    /// One of several patterns.
    Or(Vec<Pattern>),
    /// A text.
    Str(Arc<str>),
    /// A compact value, by its code.
    Code(Code),
    /// The parts, each with its first slot and its number of slots; the number of slots of the
    /// whole.
    Tuple(Vec<(usize, usize, Pattern)>, usize),
    /// A compact product, with patterns of its factors.
    Pack(Arc<Layout>, Vec<Pattern>),
    /// A case of a sum, with a pattern of its argument.
    Case(SumRepresentation, Code, Option<Box<Pattern>>),
    /// The number of the case, and its argument.
    Coarray(SumRepresentation, Box<Pattern>, Box<Pattern>),
}

/// A statement, with its source position.
pub struct Statement {
    /// The operation.
    pub kind: StatementKind,
    /// The source position.
    pub span: Span,
}

/// The operation of a statement.
pub enum StatementKind {
    /// Binds the variables of a pattern.
    Let(Pattern, Node),
    /// Assigns a local.
    SetLocal(LocalId, Node),
    /// Assigns a local that is stored in a cell.
    SetShared(LocalId, Node),
    /// Assigns a variable of the session.
    SetGlobal(GlobalId, Node),
    /// Stores into a part of a variable.
    Store(Box<Store>),
    /// Drops the values of locals.
    Drop(Box<[LocalId]>),
    /// Evaluates a term and drops its value.
    Expr(Node),
    /// A conditional.
    If(Node, Vec<Statement>, Vec<Statement>),
    /// A match: patterns with guards and bodies.
    Match(Node, Vec<(Pattern, Option<Node>, Vec<Statement>)>),
    /// A loop over all codes of an index type of this size.
    ForAll(LocalId, Code, Vec<Statement>),
    /// A loop over integers from low to high; the flag is true if high is included.
    ForInts(LocalId, Node, Node, bool, Vec<Statement>),
    /// Loop variable, array, number of slots of an element, number of elements, body.
    ForElements(LocalId, Node, usize, usize, Vec<Statement>),
    /// A `while` loop.
    While(Node, Vec<Statement>),
    /// Leaves the innermost loop.
    Break,
    /// Begins the next round of the innermost loop.
    Continue,
    /// Returns from the function.
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
    /// The variable.
    pub root: StoreRoot,
    /// Steps through flat storage: constant slot offsets, and indices times strides.
    pub steps: Vec<StoreStep>,
    /// Steps inside the compact value at that slot, outermost first.
    pub parts: Vec<(Arc<Layout>, PartStep)>,
    /// The number of slots of the root.
    pub root_slots: usize,
    /// The layout of the part that is stored, or of the slot that holds it.
    pub place: Arc<Layout>,
    /// The storage class that the part needs.
    pub class: crate::value::Class,
    /// The new value.
    pub value: Node,
}

/// The variable of a store.
pub enum StoreRoot {
    /// A local.
    Local(LocalId),
    /// A local that is stored in a cell.
    Shared(LocalId),
    /// A variable of the session.
    Global(GlobalId),
}

/// A step through flat storage.
pub enum StoreStep {
    /// A constant slot offset.
    Offset(usize),
    /// An index times a stride in slots.
    Index(Node, usize),
}

/// A step inside a compact value.
pub enum PartStep {
    /// A constant position.
    Factor(Code),
    /// A computed position.
    Digit(Node),
}
