//! The loop form: what a part of a program becomes before it is machine code.
//!
//! A [`Nest`] computes one or several results from arrays and scalars that are given to it. It is a
//! list of statements over registers, each set once, and variables, which change. Every aggregate of
//! the program has become slots of flat arrays (see [`crate::value`]), every function has been written
//! out, and every size is a constant or a parameter: nests of one structure share their machine code
//! whatever the sizes are ([`Nest::key`]).
//!
//! **Arrays and slots.** An array is a run of slots of equal width; [`Op::Load`] and [`Stmt::Store`] go
//! by the number of a slot. Indices come from values of index types, so nothing is checked here.
//!
//! **Parallel statements.** [`Stmt::Each`] stands at the top of a nest. Its rounds are independent of
//! each other: they may run in any order, cut into pieces. Everything else runs in order.
//!
//! **Reductions** of floats join in one fixed tree, whatever the machine and the pieces:
//! [`Stmt::Total`] keeps the lanes of one chunk ([`crate::core::reduction`]), and the results of chunks
//! are joined from left to right by ordinary statements.
//!
//! **Passes** ([`pass`]) give loops a better form before they become machine code.
//!
//! **Failing.** [`Stmt::Fail`] leaves the nest: its results are worth nothing, and whoever runs it takes
//! the reference evaluator to find out what to report.
//!
//! Knows no types of the language and no machine.

pub mod cost;
pub mod in_place;
pub mod pass;
pub mod print;
pub mod validate;

pub use crate::core::reduction::Joining;

/// A register: set once, in the order of statements.
pub type Reg = u32;
/// A variable: set and read any number of times.
pub type Var = u32;
/// An array.
pub type Array = u32;
/// What `Break` and `Continue` lead out of.
pub type Label = u32;

/// The type of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ty {
    /// 8 bits, of either sign.
    I8,
    /// 16 bits.
    I16,
    /// 32 bits; characters too.
    I32,
    /// 64 bits; codes, truth values and slot numbers too.
    I64,
    /// binary32
    F32,
    /// binary64
    F64,
}

impl Ty {
    /// The bits of a floating-point constant at this type.
    pub fn bits_of(self, number: f64) -> u64 {
        match self {
            Ty::F32 => u64::from((number as f32).to_bits()),
            _ => number.to_bits(),
        }
    }

    /// Bytes of a value.
    pub fn bytes(self) -> usize {
        match self {
            Ty::I8 => 1,
            Ty::I16 => 2,
            Ty::I32 | Ty::F32 => 4,
            Ty::I64 | Ty::F64 => 8,
        }
    }

    /// Whether it is a floating-point type.
    pub fn is_float(self) -> bool {
        matches!(self, Ty::F32 | Ty::F64)
    }
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
    Quotient,
    /// The smaller of two floats: -0 is below +0, and the NaN without a sign and with nothing but its first bit if one is NaN.
    Min,
    /// The larger of two floats, as `Min` is the smaller.
    Max,
    /// Towards zero; the divisor is not 0, and the smallest number by -1 is itself.
    DivSigned,
    /// The divisor is not 0.
    DivUnsigned,
    /// With the sign of the dividend; the divisor is not 0.
    RemSigned,
    /// The divisor is not 0.
    RemUnsigned,
    /// Bitwise.
    And,
    /// Bitwise.
    Or,
    /// Bitwise.
    Xor,
    /// By fewer places than there are bits.
    Shl,
    /// Without sign; by fewer places than there are bits.
    Shr,
}

/// The operation that joins.
impl From<Joining> for Binary {
    fn from(joining: Joining) -> Binary {
        match joining {
            Joining::Add => Binary::Add,
            Joining::Mul => Binary::Mul,
            Joining::Min => Binary::Min,
            Joining::Max => Binary::Max,
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

/// A change of type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cast {
    /// To a wider integer, keeping the sign.
    Signed,
    /// To a wider integer, filling with 0.
    Unsigned,
    /// To a narrower integer, dropping the upper bits.
    Narrow,
    /// A signed integer to the nearest float.
    FloatSigned,
    /// An unsigned integer to the nearest float.
    FloatUnsigned,
    /// A float, whole and in range, to a signed 64-bit integer.
    Whole,
    /// Between float types, to nearest.
    Float,
}

/// A function that is called, not written out: the same one that the evaluator calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // named as in the table of primitives
pub enum Math {
    Exp,
    Log,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Tanh,
    Round,
    Atan2,
    /// `x * y + z` of binary64, rounded once.
    Fma,
    /// Power of binary64.
    Pow,
    /// Remainder of binary64.
    Rem,
    /// Power of binary32.
    PowSingle,
    /// Remainder of binary32.
    RemSingle,
    /// Wrapping power of 64-bit integers, the exponent unsigned.
    PowInt,
}

impl Math {
    /// Types of the arguments and the result.
    pub fn signature(self) -> (&'static [Ty], Ty) {
        match self {
            Math::Atan2 | Math::Pow | Math::Rem => (&[Ty::F64, Ty::F64], Ty::F64),
            Math::Fma => (&[Ty::F64; 3], Ty::F64),
            Math::PowSingle | Math::RemSingle => (&[Ty::F32, Ty::F32], Ty::F32),
            Math::PowInt => (&[Ty::I64, Ty::I64], Ty::I64),
            _ => (&[Ty::F64], Ty::F64),
        }
    }
}

/// What a register is set to. Has no effect; may be left out or done early.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// A constant by its bits.
    Const(Ty, u64),
    /// A size; which one, see [`Nest::sizes`].
    Size(u32),
    /// A scalar that is given; which one, see [`Nest::scalars`].
    Scalar(u32),
    /// Two operands.
    Binary(Binary, Reg, Reg),
    /// One operand.
    Unary(Unary, Reg),
    /// 0 or 1, as `I64`.
    Compare(Compare, Reg, Reg),
    /// The second if the first is not 0, otherwise the third.
    Select(Reg, Reg, Reg),
    /// To another type.
    Cast(Cast, Ty, Reg),
    /// A slot of an array.
    Load(Array, Reg, Ty),
    /// What a variable is now.
    Get(Var),
    /// A function called.
    Call(Math, Vec<Reg>),
}

impl Op {
    /// Calls `f` on each register it reads.
    pub fn for_each_reg(&self, f: &mut dyn FnMut(Reg)) {
        self.clone().for_each_reg_mut(&mut |reg| f(*reg));
    }

    /// Calls `f` on each register it reads, to be replaced.
    pub fn for_each_reg_mut(&mut self, f: &mut dyn FnMut(&mut Reg)) {
        match self {
            Op::Const(..) | Op::Size(_) | Op::Scalar(_) | Op::Get(_) => {}
            Op::Binary(_, a, b) | Op::Compare(_, a, b) => {
                f(a);
                f(b);
            }
            Op::Unary(_, a) | Op::Cast(_, _, a) | Op::Load(_, a, _) => f(a),
            Op::Select(a, b, c) => {
                f(a);
                f(b);
                f(c);
            }
            Op::Call(_, args) => args.iter_mut().for_each(f),
        }
    }
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
    /// Either one or the other.
    If(Reg, Vec<Stmt>, Vec<Stmt>),
    /// The index from `low` up to, not including, `high`.
    For { label: Label, index: Reg, low: Reg, high: Reg, body: Vec<Stmt> },
    /// For ever, until left.
    Loop(Label, Vec<Stmt>),
    /// Once; can be left early.
    Block(Label, Vec<Stmt>),
    /// Leaves a loop or block.
    Break(Label),
    /// Goes on with a loop.
    Continue(Label),
    /// Gives up.
    Fail,
    /// The index from 0 up to, not including, `count`, in any order.
    Each { index: Reg, count: Reg, body: Vec<Stmt> },
    /// Joins what `body` sets for each index from `low` up to, not including, `high`, in
    /// lanes; of nothing, what lanes start from.
    Total { index: Reg, low: Reg, high: Reg, body: Vec<Stmt>, item: Item, result: Reg },
    /// Sums of products for each row and column.
    Contract(Contraction),
}

/// What a [`Stmt::Total`] joins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Item {
    /// A number, by an operation.
    One(Joining, Reg),
    /// The product of two, added without being rounded before.
    Product(Reg, Reg),
}

impl Item {
    /// The registers.
    pub fn regs(self) -> impl Iterator<Item = Reg> {
        let (first, second) = match self {
            Item::One(_, reg) => (reg, None),
            Item::Product(a, b) => (a, Some(b)),
        };
        [first].into_iter().chain(second)
    }

    /// The same of other registers.
    pub fn map(self, mut f: impl FnMut(Reg) -> Reg) -> Item {
        match self {
            Item::One(joining, reg) => Item::One(joining, f(reg)),
            Item::Product(a, b) => Item::Product(f(a), f(b)),
        }
    }

    /// How lanes are joined.
    pub fn joining(self) -> Joining {
        match self {
            Item::One(joining, _) => joining,
            Item::Product(..) => Joining::Add,
        }
    }

    /// The type of the lanes.
    pub fn ty(self, nest: &Nest) -> Ty {
        match self {
            Item::One(_, reg) | Item::Product(reg, _) => nest.regs[reg as usize],
        }
    }

    /// A lane with one more.
    pub fn taken(self, lane: Reg) -> Op {
        match self {
            Item::One(joining, reg) => Op::Binary(joining.into(), lane, reg),
            Item::Product(a, b) => Op::Call(Math::Fma, vec![a, b, lane]),
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
/// in the lanes of one chunk, as [`Stmt::Total`] has them; each product `fused` with its addition, or rounded before. `depth` is
/// at most a chunk. It is `shared` if all rounds of the parallel statement around it have the same right factors.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // said above
pub struct Contraction {
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

impl Contraction {
    /// The registers it reads, in the order of their declaration.
    pub fn regs(&self) -> Vec<Reg> {
        let mut regs = Vec::new();
        self.clone().for_each_reg_mut(&mut |reg| regs.push(*reg));
        regs
    }

    /// Calls `f` on each register it reads, to be replaced.
    pub fn for_each_reg_mut(&mut self, f: &mut dyn FnMut(&mut Reg)) {
        let regs = [
            &mut self.at,
            &mut self.rows,
            &mut self.columns,
            &mut self.depth,
            &mut self.left_at,
            &mut self.left_row,
            &mut self.left_step,
            &mut self.right_at,
            &mut self.right_step,
            &mut self.right_column,
            &mut self.start,
        ];
        regs.into_iter().for_each(f);
    }
}

/// Where an array comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Origin {
    /// The caller gives it, to be read.
    Given(u32),
    /// The caller gives it, to be changed.
    Changed(u32),
    /// A result, made by the caller with this many slots: of [`Nest::results`].
    Result(u32),
    /// Made for the run, with this many slots. Rounds that run at the same time write slots of their own.
    Scratch,
    /// Made for each piece of a parallel loop: rounds that run at the same time have different ones.
    Own,
    /// A few slots of each run's own.
    Local(u32),
}

/// An array of a nest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ArrayInfo {
    /// Where it comes from.
    pub origin: Origin,
    /// Bytes of a slot.
    pub width: u8,
}

/// A part of a program as loops.
#[derive(Clone, Debug, Default)]
pub struct Nest {
    /// Types of registers.
    pub regs: Vec<Ty>,
    /// Types of variables.
    pub vars: Vec<Ty>,
    /// Arrays.
    pub arrays: Vec<ArrayInfo>,
    /// Slots of each array, for those that are made.
    pub slots: Vec<u64>,
    /// Types of the scalars that are given.
    pub scalars: Vec<Ty>,
    /// Values of the sizes. No part of the structure.
    pub sizes: Vec<u64>,
    /// Labels used.
    pub labels: u32,
    /// What is done.
    pub body: Vec<Stmt>,
    /// Registers, set at the top, that hold the scalars of the results.
    pub words: Vec<Reg>,
    /// Registers that are constants, with their bits.
    pub constants: crate::hash::HashMap<Reg, u64>,
    /// What a round of each [`Stmt::Each`] costs, in nanoseconds by a rough estimate.
    pub costs: Vec<f64>,
}

/// What nests have in common that share machine code.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    regs: Vec<Ty>,
    vars: Vec<Ty>,
    arrays: Vec<ArrayInfo>,
    scalars: Vec<Ty>,
    /// How many there are: the frame has a word for each.
    sizes: usize,
    body: Vec<Stmt>,
    words: Vec<Reg>,
}

impl Nest {
    /// Everything but the sizes.
    pub fn key(&self) -> Key {
        Key {
            regs: self.regs.clone(),
            vars: self.vars.clone(),
            arrays: self.arrays.clone(),
            scalars: self.scalars.clone(),
            sizes: self.sizes.len(),
            body: self.body.clone(),
            words: self.words.clone(),
        }
    }

    /// One more array, of slots of `width` bytes.
    pub fn array(&mut self, origin: Origin, width: u8, slots: u64) -> Array {
        self.arrays.push(ArrayInfo { origin, width });
        self.slots.push(slots);
        self.arrays.len() as Array - 1
    }

    /// The bytes that an array takes on the stack of a run.
    pub fn on_stack(&self, array: Array) -> u64 {
        match self.arrays[array as usize] {
            ArrayInfo { origin: Origin::Local(_), width } => self.slots[array as usize] * u64::from(width),
            _ => 0,
        }
    }
}

impl Stmt {
    /// The lists of statements inside.
    pub fn bodies(&self) -> Vec<&[Stmt]> {
        match self {
            Stmt::If(_, then, otherwise) => vec![then, otherwise],
            Stmt::For { body, .. }
            | Stmt::Loop(_, body)
            | Stmt::Block(_, body)
            | Stmt::Each { body, .. }
            | Stmt::Total { body, .. } => vec![body],
            _ => Vec::new(),
        }
    }

    /// The lists of statements inside, to be changed.
    pub fn bodies_mut(&mut self) -> Vec<&mut Vec<Stmt>> {
        match self {
            Stmt::If(_, then, otherwise) => vec![then, otherwise],
            Stmt::For { body, .. }
            | Stmt::Loop(_, body)
            | Stmt::Block(_, body)
            | Stmt::Each { body, .. }
            | Stmt::Total { body, .. } => vec![body],
            _ => Vec::new(),
        }
    }

    /// The arrays it reads or writes by itself, without those of the statements inside.
    pub fn arrays(&self) -> Vec<Array> {
        match self {
            Stmt::Let(_, Op::Load(array, ..)) | Stmt::Store(array, ..) => vec![*array],
            Stmt::Contract(c) => vec![c.into, c.left, c.right],
            _ => Vec::new(),
        }
    }

    /// The registers it reads by itself, without those of the statements inside.
    pub fn for_each_reg(&self, f: &mut dyn FnMut(Reg)) {
        match self {
            Stmt::Let(_, op) => op.for_each_reg(f),
            Stmt::Set(_, reg) | Stmt::If(reg, ..) => f(*reg),
            Stmt::Store(_, at, value) => {
                f(*at);
                f(*value);
            }
            // The value of a total is set inside.
            Stmt::For { low, high, .. } | Stmt::Total { low, high, .. } => {
                f(*low);
                f(*high);
            }
            Stmt::Each { count, .. } => f(*count),
            Stmt::Contract(contraction) => contraction.regs().into_iter().for_each(f),
            Stmt::Loop(..) | Stmt::Block(..) | Stmt::Break(_) | Stmt::Continue(_) | Stmt::Fail => {}
        }
    }

    /// Calls `f` on each of them, to be replaced.
    pub fn for_each_reg_mut(&mut self, f: &mut dyn FnMut(&mut Reg)) {
        match self {
            Stmt::Let(_, op) => op.for_each_reg_mut(f),
            Stmt::Set(_, reg) | Stmt::If(reg, ..) => f(reg),
            Stmt::Store(_, at, value) => {
                f(at);
                f(value);
            }
            Stmt::For { low, high, .. } | Stmt::Total { low, high, .. } => {
                f(low);
                f(high);
            }
            Stmt::Each { count, .. } => f(count),
            Stmt::Contract(contraction) => contraction.for_each_reg_mut(f),
            Stmt::Loop(..) | Stmt::Block(..) | Stmt::Break(_) | Stmt::Continue(_) | Stmt::Fail => {}
        }
    }
}

/// Calls `f` on each statement, those inside others included, outer ones first.
pub fn for_each_stmt<'a>(stmts: &'a [Stmt], f: &mut dyn FnMut(&'a Stmt)) {
    for stmt in stmts {
        f(stmt);
        stmt.bodies().into_iter().for_each(|body| for_each_stmt(body, f));
    }
}

/// Whether statements do one thing after the other: there is no loop, and none is left.
pub fn straight(body: &[Stmt]) -> bool {
    body.iter().all(|stmt| match stmt {
        Stmt::Let(..) | Stmt::Set(..) | Stmt::Store(..) | Stmt::Fail => true,
        Stmt::If(_, then, otherwise) => straight(then) && straight(otherwise),
        _ => false,
    })
}
