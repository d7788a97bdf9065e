//! The loop form: the intermediate representation between core and machine code.
//!
//! A [`Kernel`] computes one or several results from arrays and scalars that are given to it. It is
//! a list of statements over registers, each set once, and variables, which change. Every aggregate
//! of the program has become slots of flat arrays (see [`crate::value`]), every function that is
//! not recursive has been inlined, and every size is a constant or a parameter: kernels of one
//! structure share their machine code whatever the sizes are ([`Kernel::key`]).
//!
//! **Arrays and slots.** An array is a run of slots of equal width; [`Op::Load`] and
//! [`Stmt::Store`] go by the number of a slot. Indices come from values of index types, so nothing
//! is checked here.
//!
//! **Parallel statements.** The rounds of a [`Stmt::ParallelFor`] are independent of each other:
//! they may run in any order, cut into pieces. It stands at the top of a kernel or in statements
//! that run in order, neither in another one nor in a [`Stmt::Reduce`]. Everything else runs in
//! order.
//!
//! **Reductions** of floats join in one fixed tree, whatever the machine and the pieces:
//! [`Stmt::Reduce`] keeps the lanes of one chunk ([`crate::core::reduction`]), and the results of
//! chunks are joined from left to right by ordinary statements.
//!
//! **Functions.** A recursive function is a kernel of its own among [`Kernel::functions`], and
//! [`Stmt::Call`] calls it, in the body of the kernel or of a function. Its scalars are its
//! parameters and its scalar results its results; its inputs are arrays of the caller, which it
//! reads, its result arrays are memory of the caller, which it writes. It has no arrays but these
//! and those on its stack, no parallel statements, and no functions of its own. A call that finds
//! too little stack, or is nested too deep, fails as [`Stmt::Fail`] does.
//!
//! **Passes** ([`pass`]) give loops a better form before they become machine code.
//!
//! **Failing.** [`Stmt::Fail`] leaves the kernel: its results are undefined, and the caller runs
//! the evaluator, which finds the error to report.
//!
//! Knows no types of the language, and of the machine only its [`TargetMachine`].

pub mod accumulator;
pub mod buffer_reuse;
pub mod cost;
pub mod id;
mod mnemonics;
pub mod parse;
pub mod pass;
pub mod print;
pub mod promotion;
pub mod reciprocal;
pub mod scaling;
pub mod selection;
pub mod target;
#[cfg(test)]
mod tests;
pub mod validate;
pub mod visit;

pub use crate::core::reduction::ReductionOp;
pub use crate::core::scalar_function::{ScalarFunction, ScalarType};
pub use id::{Array, Id, IdMap, IdVec, Label, Reg, Var};
pub use target::{Isa, TargetMachine};
pub use visit::{Part, PartMut, defined_registers, for_each_stmt};

/// Returns the bits of the identity of a reduction, from which its lanes start.
pub fn identity_bits(reduction: ReductionOp, ty: ScalarType) -> u64 {
    match ty {
        ScalarType::F32 => u64::from((reduction.identity() as f32).to_bits()),
        _ => reduction.identity().to_bits(),
    }
}

/// The slots of an array of which nothing is known but that it is in memory: so many are more than a
/// machine has.
pub const UNBOUNDED_SLOTS: u64 = 1 << 40;

/// Components of records in an array that are lanes of vectors, at most.
pub const MAX_COMPONENTS: usize = 4;

/// Returns true if a function has a form that takes a block of numbers and goes by vectors.
pub fn has_vector_form(function: ScalarFunction) -> bool {
    use ScalarFunction::{Acos, Asin, Atan, Atan2, Cos, Exp, Log, Log2, Log10, Pow, Sin, Tanh};
    matches!(function, Exp | Log | Log2 | Log10 | Tanh | Sin | Cos | Asin | Acos | Atan | Atan2 | Pow)
}

/// An operation on two registers of one type, with a result of that type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Binary {
    /// Wraps on integers.
    Add,
    /// Wraps on integers.
    Sub,
    /// Wraps on integers.
    Mul,
    /// Quotient of floats.
    DivFloat,
    /// The smaller of two floats: -0 is below +0, and the NaN without a sign and with nothing but
    /// its first bit if one is NaN.
    Min,
    /// The larger of two floats, as `Min` is the smaller.
    Max,
    /// Toward zero; the divisor is not 0, and the smallest number by -1 is itself.
    DivSigned,
    /// The divisor is not 0.
    DivUnsigned,
    /// The remainder with the sign of the dividend; the divisor is not 0.
    RemSigned,
    /// The divisor is not 0.
    RemUnsigned,
    /// Bitwise.
    And,
    /// Bitwise.
    Or,
    /// Bitwise.
    Xor,
    /// A shift by fewer places than there are bits.
    Shl,
    /// An unsigned shift by fewer places than there are bits.
    Shr,
}

impl Binary {
    /// Returns true for quotients and remainders of integers: slow, and undefined for the divisor
    /// 0.
    pub fn is_integer_division(self) -> bool {
        matches!(self, Binary::DivSigned | Binary::DivUnsigned | Binary::RemSigned | Binary::RemUnsigned)
    }
}

/// The operation that joins two partial results of a reduction.
impl From<ReductionOp> for Binary {
    fn from(reduction: ReductionOp) -> Binary {
        match reduction {
            ReductionOp::Add => Binary::Add,
            ReductionOp::Mul => Binary::Mul,
            ReductionOp::Min => Binary::Min,
            ReductionOp::Max => Binary::Max,
        }
    }
}

/// An operation on one register, with a result of its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unary {
    /// Wraps on integers.
    Neg,
    /// Bitwise complement.
    Not,
    /// Square root, correctly rounded.
    Sqrt,
    /// Largest whole number not above.
    Floor,
    /// Smallest whole number not below.
    Ceil,
    /// Whole part.
    Trunc,
    /// Number of one bits.
    PopCount,
    /// Number of zero bits below the lowest one; all for 0.
    TrailingZeros,
}

/// A comparison of two registers of one type; the result is 0 or 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Compare {
    /// Equal; of floats, ordered and equal.
    Eq,
    /// Not equal; of floats, true of NaN.
    Ne,
    /// Less, with sign; of floats, ordered.
    Lt,
    /// Not greater, with sign; of floats, ordered.
    Le,
    /// Less, without sign.
    LtUnsigned,
    /// Not greater, without sign.
    LeUnsigned,
}

impl Compare {
    /// Returns the answer for two words of 64 bits.
    pub fn holds(self, a: u64, b: u64) -> bool {
        match self {
            Compare::Eq => a == b,
            Compare::Ne => a != b,
            Compare::Lt => (a as i64) < b as i64,
            Compare::Le => a as i64 <= b as i64,
            Compare::LtUnsigned => a < b,
            Compare::LeUnsigned => a <= b,
        }
    }
}

/// A change of type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cast {
    /// Sign extension to a wider integer.
    SignExtend,
    /// Zero extension to a wider integer.
    ZeroExtend,
    /// Truncation to a narrower integer, dropping the upper bits.
    Truncate,
    /// A signed integer to the nearest float.
    SignedToFloat,
    /// An unsigned integer to the nearest float.
    UnsignedToFloat,
    /// A float in range, without its fraction, to a signed integer of 32 or 64 bits.
    FloatToSigned,
    /// A conversion between float types, rounded to nearest.
    FloatToFloat,
    /// The bits of a binary64, as an integer of 64 bits.
    FloatToBits,
}

/// An operation whose result a register is set to. Without effect; may be left out or moved
/// forward.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// A constant by its bits.
    Const(ScalarType, u64),
    /// A size; which one, see [`Kernel::sizes`].
    Size(u32),
    /// A scalar that is given; which one, see [`Kernel::scalars`].
    Scalar(u32),
    /// Two operands.
    Binary(Binary, Reg, Reg),
    /// One operand.
    Unary(Unary, Reg),
    /// 0 or 1, as `I64`.
    Compare(Compare, Reg, Reg),
    /// The second if the first is not 0, otherwise the third.
    Select(Reg, Reg, Reg),
    /// A conversion to another type.
    Cast(Cast, ScalarType, Reg),
    /// A slot of an array.
    Load(Array, Reg, ScalarType),
    /// The present value of a variable.
    Get(Var),
    /// A function called.
    Call(ScalarFunction, Vec<Reg>),
}

/// A statement.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Stmt {
    /// Sets a register.
    Let(Reg, Op),
    /// Sets a variable.
    Set(Var, Reg),
    /// Sets a slot.
    Store(Array, Reg, Reg),
    /// Exchanges the memory of two arrays of as many slots of the same width. Both are
    /// [`Origin::Scratch`], [`Origin::Result`] or [`Origin::InOut`], and no round of a parallel
    /// statement exchanges any. Or both are [`Origin::Growable`], with as many slots as they have.
    Swap(Array, Array),
    /// Makes room in an array for so many slots from its first one on: [`Origin::Growable`]. The
    /// slots that it has stay as they are. Leaves the kernel as [`Stmt::Fail`] does if there is not
    /// so much memory.
    Grow(Array, Reg),
    /// Runs the first statements if a truth value is true, else the second.
    If(Reg, Vec<Stmt>, Vec<Stmt>),
    /// Iterates over `low..high` in order.
    For {
        /// The loop, for statements that leave or continue it.
        label: Label,
        /// The register of the index, set before each iteration.
        index: Reg,
        /// The first index.
        low: Reg,
        /// The index after the last one.
        high: Reg,
        /// The statements of an iteration.
        body: Vec<Stmt>,
    },
    /// Repeats until left.
    Loop(Label, Vec<Stmt>),
    /// Runs once; can be left early.
    Block(Label, Vec<Stmt>),
    /// Leaves a loop or block.
    Break(Label),
    /// Begins the next iteration of a loop.
    Continue(Label),
    /// Leaves the kernel; its results are undefined.
    Fail,
    /// Iterates over `0..count` in any order.
    ParallelFor {
        /// The register of the index.
        index: Reg,
        /// The number of iterations.
        count: Reg,
        /// The statements of an iteration.
        body: Vec<Stmt>,
    },
    /// Reduces what `body` sets for each index of `low..high`, in lanes; the result of an empty
    /// range is the initial value of a lane.
    Reduce {
        /// The register of the index.
        index: Reg,
        /// The first index.
        low: Reg,
        /// The index after the last one.
        high: Reg,
        /// The statements that set the operand.
        body: Vec<Stmt>,
        /// The operand and the operation.
        item: Summand,
        /// The register of the result.
        result: Reg,
    },
    /// Sums of products for each row and column.
    Gemm(Gemm),
    /// Slots in the order of what they hold.
    Sort(Sort),
    /// Calls a function of the kernel, which may fail.
    Call(FunctionCall),
}

/// The operand of a [`Stmt::Reduce`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Summand {
    /// A number, by an operation.
    Value(ReductionOp, Reg),
    /// The product of two, added without being rounded before.
    Product(Reg, Reg),
}

impl Summand {
    /// The registers.
    pub fn regs(self) -> impl Iterator<Item = Reg> {
        let (first, second) = match self {
            Summand::Value(_, reg) => (reg, None),
            Summand::Product(a, b) => (a, Some(b)),
        };
        [first].into_iter().chain(second)
    }

    /// The same of other registers.
    pub fn map(self, mut f: impl FnMut(Reg) -> Reg) -> Summand {
        match self {
            Summand::Value(joining, reg) => Summand::Value(joining, f(reg)),
            Summand::Product(a, b) => Summand::Product(f(a), f(b)),
        }
    }

    /// The operation of the lanes.
    pub fn op(self) -> ReductionOp {
        match self {
            Summand::Value(joining, _) => joining,
            Summand::Product(..) => ReductionOp::Add,
        }
    }

    /// The type of the lanes.
    pub fn ty(self, kernel: &Kernel) -> ScalarType {
        match self {
            Summand::Value(_, reg) | Summand::Product(reg, _) => kernel.regs[reg],
        }
    }

    /// Returns the operation that accumulates the operand into `lane`.
    pub fn accumulate(self, lane: Reg) -> Op {
        match self {
            Summand::Value(joining, reg) => Op::Binary(joining.into(), lane, reg),
            Summand::Product(a, b) => Op::Call(ScalarFunction::Fma, vec![a, b, lane]),
        }
    }
}

/// Sums of products of binary64: for each row `r` and column `c`
///
/// ```text
/// into[at + r * columns + c] = start + sum over k below depth of
///     left[left_at + r * left_row + k * left_step] * right[right_at + k * right_step + c * right_column]
/// ```
///
/// in the lanes of one chunk, as [`Stmt::Reduce`] has them; each product `fused` with its addition,
/// or rounded before. `depth` is at most a chunk. It is `shared` if all rounds of the parallel
/// statement around it have the same right factors.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // said above
pub struct Gemm {
    pub fused: bool,
    pub shared: bool,
    pub into: Array,
    pub at: Reg,
    pub rows: Reg,
    pub columns: Reg,
    pub depth: Reg,
    pub left: Array,
    pub left_at: Reg,
    pub left_row: Reg,
    pub left_step: Reg,
    pub right: Array,
    pub right_at: Reg,
    pub right_step: Reg,
    pub right_column: Reg,
    /// A binary64; the others are whole numbers.
    pub start: Reg,
}

/// The slots of `into` from `first` on become the values of `count` slots of `keys` from `at` on,
/// of type `ty`, in ascending order; with `indices`, the numbers of these slots, from 0, in the
/// order of their values. Integers compare with sign if the slots are as wide as the type, else
/// they are codes, without sign; of floats -0 equals +0, and NaN is last. The sort is stable. Both
/// arrays may be one, with one first slot, where there are no indices.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // said above
pub struct Sort {
    pub ty: ScalarType,
    pub indices: bool,
    pub count: Reg,
    pub into: Array,
    pub first: Reg,
    pub keys: Array,
    pub at: Reg,
}

/// A call of a function of [`Kernel::functions`]. The function reads the arrays of `read` from the
/// given slots on, in the order of its inputs, changes those of `changed`, and writes those of
/// `written`, in the order of its results; no array of `changed` or `written` is another one here. It
/// writes the slots that it has for a result, all of them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FunctionCall {
    /// The number of the function.
    pub function: u32,
    /// The values of its scalars.
    pub args: Vec<Reg>,
    /// The arrays that it reads, each with the first slot.
    pub read: Vec<(Array, Reg)>,
    /// The arrays that it changes, each with the first slot.
    pub changed: Vec<(Array, Reg)>,
    /// The arrays that it writes, each with the first slot.
    pub written: Vec<(Array, Reg)>,
    /// The registers that its results are set to.
    pub results: Vec<Reg>,
}

/// The origin of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Origin {
    /// The caller gives it, to be read.
    Input(u32),
    /// The caller gives it, to be changed.
    InOut(u32),
    /// A result, made by the caller with this many slots: of [`Kernel::results`].
    Result(u32),
    /// Made for the run, with this many slots. Rounds that run at the same time write slots of
    /// their own.
    Scratch,
    /// Made for each piece of a parallel loop: rounds that run at the same time have different
    /// ones.
    ThreadLocal,
    /// Made for the run, or for each piece of a parallel loop that mentions it, without slots:
    /// [`Stmt::Grow`] gives it as many as it needs.
    Growable,
    /// A few slots of each run's own.
    Stack(u32),
    /// The memory of another array, to be read and written where no round reads or writes what
    /// another one writes by another name.
    Alias(Array),
}

/// Sizes up to this are constants of a kernel; those above are parameters.
pub const MAX_CONSTANT_SIZE: u64 = 16;

/// Slots of an array on the stack whose number of slots is no part of the structure of a kernel:
/// the most that any has, and a cache line, so that slots of one number in two arrays are not a
/// power of two apart.
const STACK_SLOTS: u32 = 520;

/// Slots up to which an array of a run's own lies on the stack.
pub const MAX_STACK_SLOTS: u64 = 512;

/// Slots up to which the stack has exactly as many.
const MAX_EXACT_STACK_SLOTS: u64 = 16;

impl Origin {
    /// The origin of an array of at most [`MAX_STACK_SLOTS`] slots on the stack of a run. Beyond a
    /// few slots it takes the same memory whatever the number of slots is, so that kernels of other
    /// sizes share their code.
    pub fn stack(slots: u64) -> Origin {
        assert!(slots <= MAX_STACK_SLOTS, "an array of {slots} slots on the stack");
        match slots {
            0..=MAX_EXACT_STACK_SLOTS => Origin::Stack(slots.next_multiple_of(2) as u32),
            _ => Origin::Stack(STACK_SLOTS),
        }
    }
}

/// An array of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ArrayInfo {
    /// The origin.
    pub origin: Origin,
    /// Bytes of a slot.
    pub width: u8,
}

/// A part of a program as loops.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Kernel {
    /// Types of registers.
    pub regs: IdVec<Reg, ScalarType>,
    /// Types of variables.
    pub vars: IdVec<Var, ScalarType>,
    /// Arrays.
    pub arrays: IdVec<Array, ArrayInfo>,
    /// Slots of each array, for those that are made.
    pub slots: IdVec<Array, u64>,
    /// Types of the scalars that are given.
    pub scalars: Vec<ScalarType>,
    /// Values of the sizes. No part of the structure.
    pub sizes: Vec<u64>,
    /// Labels used.
    pub labels: u32,
    /// The statements.
    pub body: Vec<Stmt>,
    /// Registers, set at the top, that hold the scalars of the results.
    pub scalar_results: Vec<Reg>,
    /// Registers that are constants, with their bits.
    pub constants: crate::hash::HashMap<Reg, u64>,
    /// An estimate for one iteration of each [`Stmt::ParallelFor`], in nanoseconds.
    pub iteration_costs: Vec<f64>,
    /// The machine. No part of the structure.
    pub target: TargetMachine,
    /// Recursive functions.
    pub functions: Vec<Kernel>,
}

/// The key of kernels that share machine code.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StructuralKey {
    regs: IdVec<Reg, ScalarType>,
    vars: IdVec<Var, ScalarType>,
    arrays: IdVec<Array, ArrayInfo>,
    scalars: Vec<ScalarType>,
    /// The number of sizes: the frame has a word for each.
    sizes: usize,
    body: Vec<Stmt>,
    scalar_results: Vec<Reg>,
    functions: Vec<StructuralKey>,
}

impl Kernel {
    /// The structure: everything but the sizes and the slots of arrays.
    pub fn key(&self) -> StructuralKey {
        StructuralKey {
            regs: self.regs.clone(),
            vars: self.vars.clone(),
            arrays: self.arrays.clone(),
            scalars: self.scalars.clone(),
            sizes: self.sizes.len(),
            body: self.body.clone(),
            scalar_results: self.scalar_results.clone(),
            functions: self.functions.iter().map(Kernel::key).collect(),
        }
    }

    /// The number of a parameter that is this size: the one that there is, or a new one.
    pub fn size_number(&mut self, size: u64) -> u32 {
        let known = self.sizes.iter().position(|known| *known == size);
        known.unwrap_or_else(|| {
            self.sizes.push(size);
            self.sizes.len() - 1
        }) as u32
    }

    /// A fresh label.
    pub fn new_label(&mut self) -> Label {
        self.labels += 1;
        Label::new(self.labels as usize - 1)
    }

    /// One more array, of slots of `width` bytes.
    pub fn add_array(&mut self, origin: Origin, width: u8, slots: u64) -> Array {
        self.slots.push(slots);
        self.arrays.push(ArrayInfo { origin, width })
    }

    /// The slots that an array has in each run: none of one whose size is known at the run only.
    pub fn certain_slots(&self, array: Array) -> u64 {
        if self.slots[array] < UNBOUNDED_SLOTS { self.slots[array] } else { 0 }
    }

    /// The bytes of the slots of an array on the stack of a run, which may have room for more
    /// there.
    pub fn stack_bytes(&self, array: Array) -> u64 {
        match self.arrays[array] {
            ArrayInfo { origin: Origin::Stack(_), width } => self.slots[array] * u64::from(width),
            _ => 0,
        }
    }
}

/// Returns true if statements are parallel loops, or hold such ones.
pub fn has_parallel_loop(stmts: &[Stmt]) -> bool {
    let mut found = false;
    for_each_stmt(stmts, &mut |stmt| found |= matches!(stmt, Stmt::ParallelFor { .. }));
    found
}

/// Returns true for straight-line code and branches: there is no loop, and none is left.
pub fn is_straight_line(body: &[Stmt]) -> bool {
    body.iter().all(|stmt| match stmt {
        Stmt::Let(..) | Stmt::Set(..) | Stmt::Store(..) | Stmt::Fail => true,
        Stmt::If(_, then, otherwise) => is_straight_line(then) && is_straight_line(otherwise),
        _ => false,
    })
}
