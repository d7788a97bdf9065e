//! Loops → instructions: one function for each [`Partition`] of a kernel.
//!
//! Innermost loops that only compute go by vectors ([`super::simd128`], [`super::vector_loops`]);
//! loops around loops per element by vectors with masks ([`super::masked_simd`]).

use super::call::{Given, polls_by_call};
use super::partition::{
    CALLS_WORD, Frame, INTERRUPT_WORD, IterationSpace, PANELS_WORD, Partition, STATUS_DONE, STATUS_FAILED,
    STATUS_STOPPED,
};
use super::vector_loops::VectorLoop;
use super::vector_plan::LaneTypes;
use super::vector_planner;
use crate::core::reduction::{LANES, ReductionOp, combine_lanes};
use crate::hash::{HashMap, HashSet};
use crate::loop_ir::{
    Array, Binary, Cast, Compare, FunctionCall, Gemm, Kernel, Label, Op, Origin, Part, Reg, ScalarFunction,
    ScalarType, Sort, Stmt, Summand, Unary, Var, buffer_reuse, for_each_stmt, is_straight_line,
};
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{
    Block, BlockArg, FuncRef, InstBuilder, InstructionData, MemFlagsData, Opcode, StackSlotData,
    StackSlotKind, Type, Value, ValueDef, types,
};
use cranelift_frontend::{FunctionBuilder, Variable};
use std::collections::BTreeSet;

/// Bytes that an address is beyond another, below.
const MAX_DISPLACEMENT: u64 = 1 << 30;

/// Returns true if the processor multiplies and adds in one instruction.
pub fn has_fma() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::is_x86_feature_detected!("fma");
    #[cfg(not(target_arch = "x86_64"))]
    return cfg!(target_arch = "aarch64");
}

/// The machine's type.
pub fn machine_type(ty: ScalarType) -> Type {
    match ty {
        ScalarType::I8 => types::I8,
        ScalarType::I16 => types::I16,
        ScalarType::I32 => types::I32,
        ScalarType::I64 => types::I64,
        ScalarType::F32 => types::F32,
        ScalarType::F64 => types::F64,
    }
}

/// Statements of the longest body of a reduction that is written out for the rounds of all lanes.
const MAX_REPEATED_STATEMENTS: usize = 8;

/// Rounds of a reduction from which on lanes in memory, or a vector loop, take less time than lanes
/// in registers.
const MAX_FEW_ROUNDS: i64 = 24;

/// Iterations of an innermost loop between two polls for an interruption.
const ITERATIONS_PER_POLL: i64 = 1024;

/// Returns true if one side of a branch only sets variables that the other side sets as well, and
/// does not read, so that they may be set in front of the branch.
fn sets_first(side: &[Stmt], other: &[Stmt]) -> bool {
    let is_straight =
        other.iter().all(|stmt| matches!(stmt, Stmt::Let(..) | Stmt::Set(..) | Stmt::Store(..)));
    let reads =
        |var: &Var| other.iter().any(|stmt| matches!(stmt, Stmt::Let(_, Op::Get(read)) if read == var));
    let sets = |var: &Var| other.iter().any(|stmt| matches!(stmt, Stmt::Set(set, _) if set == var));
    is_straight
        && side.iter().all(|stmt| match stmt {
            Stmt::Let(_, op) => matches!(op, Op::Const(..)),
            Stmt::Set(var, _) => sets(var) && !reads(var),
            _ => false,
        })
}

/// Returns true if one of two registers depends on a slot of an array or on a variable.
fn depend_on_data(kernel: &Kernel, (a, b): (Reg, Reg)) -> bool {
    let mut dependent = HashSet::default();
    for_each_stmt(&kernel.body, &mut |stmt| {
        if let Stmt::Let(reg, op) = stmt {
            let mut depends = matches!(op, Op::Load(..) | Op::Get(_));
            op.for_each_reg(&mut |operand| depends |= dependent.contains(&operand));
            if depends {
                dependent.insert(*reg);
            }
        }
    });
    dependent.contains(&a) || dependent.contains(&b)
}

/// Returns true if a side of a branch ends outside of a loop.
fn breaks(side: &[Stmt]) -> bool {
    matches!(side.last(), Some(Stmt::Break(_) | Stmt::Fail))
}

/// Returns true if a statement becomes instructions of its own.
fn emits_instructions(stmt: &Stmt) -> bool {
    !matches!(stmt, Stmt::Set(..) | Stmt::Let(_, Op::Const(..) | Op::Size(_) | Op::Scalar(_) | Op::Get(_)))
}

/// The rounds of a reduction that one set of lanes joins.
#[derive(Clone, Copy)]
struct Chunk<'s> {
    index: Reg,
    low: Value,
    high: Value,
    body: &'s [Stmt],
    item: Summand,
    /// The first value of the lanes.
    neutral: Value,
}

/// The functions that a phase calls.
#[derive(Default)]
pub struct Functions<'n> {
    /// Functions of numbers.
    pub math: HashMap<ScalarFunction, FuncRef>,
    /// The variants that take a block of numbers.
    pub blocks: HashMap<ScalarFunction, FuncRef>,
    /// The kernel for contractions.
    pub gemm: Option<FuncRef>,
    /// The function that sorts slots.
    pub sort: Option<FuncRef>,
    /// The function that makes room in an array.
    pub grow: Option<FuncRef>,
    /// The recursive functions of the kernel.
    pub recursive: Vec<FuncRef>,
    /// Loops in AVX-512, by the register of their index.
    pub vector_loops: HashMap<Reg, (FuncRef, &'n VectorLoop)>,
}

/// The address of an array in a function.
#[derive(Clone, Copy)]
enum Base {
    /// The same throughout.
    Fixed(Value),
    /// Another one after an exchange.
    Variable(Variable),
}

/// One function under construction.
pub struct Emit<'n, 'f> {
    /// The function under construction.
    pub b: FunctionBuilder<'f>,
    /// The kernel.
    pub kernel: &'n Kernel,
    frame: &'n Frame,
    pub(super) functions: &'n Functions<'n>,
    args: Value,
    pub(super) regs: HashMap<Reg, Value>,
    /// Registers that hold the value of a variable, or a choice between that and another number.
    unchanged: HashSet<Reg>,
    pub(super) vars: HashMap<Var, Variable>,
    labels: HashMap<Label, (Block, Block)>,
    bases: HashMap<Array, Base>,
    /// The addresses of arrays that a function has been given.
    pub(super) addresses: HashMap<Array, Value>,
    /// The other values that a function has been given; `None` for a phase.
    pub(super) given: Option<Given>,
    /// Given arrays that a result may be written over.
    reusable_inputs: Vec<Array>,
    pub(super) fail: Block,
    stop: Block,
    /// Leaves with the status of a call.
    leave: Option<(Block, Value)>,
}

impl<'n, 'f> Emit<'n, 'f> {
    /// Writes a phase into the function that `b` builds.
    pub fn phase(
        b: FunctionBuilder<'f>,
        kernel: &'n Kernel,
        frame: &'n Frame,
        phase: &Partition,
        functions: &'n Functions<'n>,
    ) -> FunctionBuilder<'f> {
        let (mut this, params) = Emit::begin(b, kernel, frame, functions);
        let stmts = phase.stmts(kernel);
        this.enter(stmts);
        match (stmts, phase.rounds) {
            ([Stmt::ParallelFor { index, body, .. }], IterationSpace::Parallel(..)) => {
                this.rounds(*index, params[1], params[2], body, None);
            }
            ([Stmt::For { label, index, body, .. }], IterationSpace::InOrder(..)) => {
                this.rounds(*index, params[1], params[2], body, Some(*label));
            }
            _ => {
                if !this.stmts(stmts) {
                    // The return behind it is never reached, but a function ends with one.
                    let dead = this.b.create_block();
                    this.b.switch_to_block(dead);
                }
            }
        }
        this.leave(stmts);
        let done = this.b.ins().iconst(types::I64, STATUS_DONE);
        this.b.ins().return_(&[done]);
        this.finish()
    }

    /// Begins a function, whose first parameter is the frame; gives its parameters.
    pub(super) fn begin(
        mut b: FunctionBuilder<'f>,
        kernel: &'n Kernel,
        frame: &'n Frame,
        functions: &'n Functions<'n>,
    ) -> (Emit<'n, 'f>, Vec<Value>) {
        let entry = b.create_block();
        b.append_block_params_for_function_params(entry);
        b.switch_to_block(entry);
        let params = b.block_params(entry).to_vec();
        let (fail, stop) = (b.create_block(), b.create_block());
        let this = Emit {
            b,
            kernel,
            frame,
            functions,
            args: params[0],
            regs: HashMap::default(),
            unchanged: HashSet::default(),
            vars: HashMap::default(),
            labels: HashMap::default(),
            bases: HashMap::default(),
            addresses: HashMap::default(),
            given: None,
            reusable_inputs: buffer_reuse::ever_reusable_inputs(kernel),
            fail,
            stop,
            leave: None,
        };
        (this, params)
    }

    /// Ends a function that has returned: writes what leaves it early.
    pub(super) fn finish(mut self) -> FunctionBuilder<'f> {
        for (block, status) in [(self.fail, STATUS_FAILED), (self.stop, STATUS_STOPPED)] {
            self.b.switch_to_block(block);
            let status = self.b.ins().iconst(types::I64, status);
            self.return_status(status);
        }
        if let Some((block, status)) = self.leave {
            self.b.switch_to_block(block);
            self.return_status(status);
        }
        self.b.seal_all_blocks();
        self.b
    }

    fn return_status(&mut self, status: Value) {
        let mut returned = vec![status];
        returned.extend(self.no_results());
        self.b.ins().return_(&returned);
    }

    /// Leaves the function with a status unless it is [`STATUS_DONE`].
    pub(super) fn leave_unless_done(&mut self, status: Value) {
        let (leave, _) = *self.leave.get_or_insert_with(|| {
            let block = self.b.create_block();
            (block, self.b.append_block_param(block, types::I64))
        });
        let on = self.b.create_block();
        self.b.ins().brif(status, leave, &[BlockArg::Value(status)], on, &[]);
        self.b.switch_to_block(on);
    }

    /// Values in place of results.
    pub(super) fn no_results(&mut self) -> Vec<Value> {
        if self.given.is_none() {
            return Vec::new();
        }
        let results = &self.kernel.scalar_results;
        results.iter().map(|reg| self.zero(machine_type(self.kernel.regs[*reg]))).collect()
    }

    /// Makes known what the statements read: arrays, and what other phases have set.
    pub(super) fn enter(&mut self, stmts: &[Stmt]) {
        let mut own: BTreeSet<Reg> = BTreeSet::new();
        let (mut read, mut arrays, mut vars) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        for_each_stmt(stmts, &mut |stmt| {
            stmt.for_each_part(&mut |part| match part {
                Part::Use(reg) | Part::Item(reg) => drop(read.insert(*reg)),
                Part::Def(reg) => drop(own.insert(*reg)),
                Part::VarRead(var) | Part::VarWrite(var) => drop(vars.insert(*var)),
                Part::ArrayRead(array) | Part::ArrayWrite(array) | Part::ArrayChange(array) => {
                    _ = arrays.insert(*array);
                }
                Part::Label(_) | Part::Target(_) | Part::Body(_) => {}
            });
        });
        let aliases: Vec<(Array, Array)> = arrays
            .iter()
            .filter_map(|array| match self.kernel.arrays[*array].origin {
                Origin::Alias(of) => Some((*array, of)),
                _ => None,
            })
            .collect();
        for (alias, of) in &aliases {
            arrays.remove(alias);
            arrays.insert(*of);
        }
        for array in arrays {
            let base = match self.kernel.arrays[array].origin {
                Origin::Stack(slots) => {
                    let bytes = slots * u32::from(self.kernel.arrays[array].width);
                    let data = StackSlotData::new(StackSlotKind::ExplicitSlot, bytes.max(8), 4);
                    let slot = self.b.create_sized_stack_slot(data);
                    self.b.ins().stack_addr(types::I64, slot, 0)
                }
                _ => match self.addresses.get(&array) {
                    Some(address) => *address,
                    None => self.word(types::I64, self.frame.arrays + array.index()),
                },
            };
            let base = if self.frame.exchanged.contains(&array) {
                let variable = self.b.declare_var(types::I64);
                self.b.def_var(variable, base);
                Base::Variable(variable)
            } else {
                Base::Fixed(base)
            };
            self.bases.insert(array, base);
        }
        for (alias, of) in aliases {
            self.bases.insert(alias, self.bases[&of]);
        }
        for reg in read.difference(&own) {
            let ty = self.kernel.regs[*reg];
            if let Some(bits) = self.kernel.constants.get(reg) {
                let value = self.op(&Op::Const(ty, *bits));
                self.regs.insert(*reg, value);
            } else if let Some(at) = self.frame.regs.get(reg) {
                let value = self.word(machine_type(self.kernel.regs[*reg]), *at);
                self.regs.insert(*reg, value);
            }
        }
        for var in vars {
            let ty = machine_type(self.kernel.vars[var]);
            let variable = self.b.declare_var(ty);
            let start = match self.frame.vars.get(&var) {
                Some(at) => self.word(ty, *at),
                None => self.zero(ty),
            };
            self.b.def_var(variable, start);
            self.vars.insert(var, variable);
        }
    }

    /// Leaves what other phases read.
    fn leave(&mut self, stmts: &[Stmt]) {
        let flags = MemFlagsData::trusted();
        for reg in stmts.iter().flat_map(Stmt::results) {
            if let (Some(at), Some(value)) = (self.frame.regs.get(reg), self.regs.get(reg)) {
                self.b.ins().store(flags, *value, self.args, 8 * *at as i32);
            }
        }
        // Rounds that run at the same time change no variables but their own.
        if matches!(stmts, [Stmt::ParallelFor { .. }]) {
            return;
        }
        for (var, at) in &self.frame.vars {
            if let Some(variable) = self.vars.get(var) {
                let value = self.b.use_var(*variable);
                self.b.ins().store(flags, value, self.args, 8 * *at as i32);
            }
        }
    }

    pub(super) fn word(&mut self, ty: Type, at: usize) -> Value {
        self.b.ins().load(ty, MemFlagsData::trusted(), self.args, 8 * at as i32)
    }

    pub(super) fn zero(&mut self, ty: Type) -> Value {
        match ty {
            types::F64 => self.b.ins().f64const(0.0),
            types::F32 => self.b.ins().f32const(0.0),
            ty => self.b.ins().iconst(ty, 0),
        }
    }

    /// A register's value.
    pub fn reg(&self, reg: Reg) -> Value {
        self.regs[&reg]
    }

    fn jump(&mut self, block: Block, args: &[Value]) {
        let args: Vec<BlockArg> = args.iter().map(|v| BlockArg::Value(*v)).collect();
        self.b.ins().jump(block, &args);
    }

    /// Leaves the function if the run is to stop.
    pub(super) fn poll_interrupt(&mut self) {
        let flag = self.word(types::I64, INTERRUPT_WORD);
        let set = self.b.ins().load(types::I8, MemFlagsData::new().with_notrap(), flag, 0);
        let on = self.b.create_block();
        self.b.ins().brif(set, self.stop, &[], on, &[]);
        self.b.switch_to_block(on);
    }

    /// Writes statements. Whether the end is reached.
    pub(super) fn stmts(&mut self, stmts: &[Stmt]) -> bool {
        stmts.iter().all(|stmt| self.stmt(stmt))
    }

    fn stmt(&mut self, stmt: &Stmt) -> bool {
        match stmt {
            Stmt::Let(reg, op) => {
                let value = self.op(op);
                self.regs.insert(*reg, value);
                let may_keep = match op {
                    Op::Get(_) => true,
                    Op::Select(_, a, b) => self.unchanged.contains(a) || self.unchanged.contains(b),
                    _ => false,
                };
                if may_keep {
                    self.unchanged.insert(*reg);
                }
                true
            }
            Stmt::Set(var, reg) => {
                let value = self.reg(*reg);
                self.b.def_var(self.vars[var], value);
                true
            }
            Stmt::Store(array, at, value) => {
                let (at, ty, value) = (self.reg(*at), self.kernel.regs[*value], self.reg(*value));
                self.store(*array, at, value, ty);
                true
            }
            Stmt::Swap(a, b) => {
                let addresses = [self.base(*b), self.base(*a)];
                for (array, address) in [a, b].into_iter().zip(addresses) {
                    let Base::Variable(variable) = self.bases[array] else {
                        unreachable!("an array that is exchanged has a variable")
                    };
                    self.b.def_var(variable, address);
                    let at = 8 * (self.frame.arrays + array.index()) as i32;
                    self.b.ins().store(MemFlagsData::trusted(), address, self.args, at);
                }
                if let (Some(a), Some(b)) = (self.capacity_word(*a), self.capacity_word(*b)) {
                    let capacities = [self.word(types::I64, b), self.word(types::I64, a)];
                    for (at, capacity) in [a, b].into_iter().zip(capacities) {
                        self.b.ins().store(MemFlagsData::trusted(), capacity, self.args, 8 * at as i32);
                    }
                }
                true
            }
            Stmt::Grow(array, slots) => {
                let slots = self.reg(*slots);
                self.emit_grow(*array, slots);
                true
            }
            Stmt::If(condition, then, otherwise) => {
                let condition = self.reg(*condition);
                let end = self.b.create_block();
                // Variables that one side sets are set in front of the branch, so the other side is
                // reached, and left, without a jump.
                let (mut yes, mut no) = (end, end);
                if sets_first(then, otherwise) {
                    self.stmts(then);
                    no = self.b.create_block();
                } else if sets_first(otherwise, then) {
                    self.stmts(otherwise);
                    yes = self.b.create_block();
                } else {
                    (yes, no) = (self.b.create_block(), self.b.create_block());
                }
                if breaks(otherwise) && !breaks(then) {
                    let ends = self.b.ins().icmp_imm_s(IntCC::Equal, condition, 0);
                    self.leave_loop_if(ends, (no, &[]), yes);
                } else {
                    self.b.ins().brif(condition, yes, &[], no, &[]);
                }
                for (block, stmts) in [(yes, then), (no, otherwise)] {
                    if block == end {
                        continue;
                    }
                    self.b.switch_to_block(block);
                    if self.stmts(stmts) {
                        self.jump(end, &[]);
                    }
                }
                self.b.switch_to_block(end);
                true
            }
            Stmt::For { label, index, low, high, body } => {
                let (low, high) = (self.reg(*low), self.reg(*high));
                self.rounds(*index, low, high, body, Some(*label));
                true
            }
            Stmt::Loop(label, body) => {
                let (head, end) = (self.b.create_block(), self.b.create_block());
                self.labels.insert(*label, (head, end));
                self.jump(head, &[]);
                self.b.switch_to_block(head);
                if !polls_by_call(Some(*label), body) {
                    self.poll_interrupt();
                }
                if self.stmts(body) {
                    self.jump(head, &[]);
                }
                self.b.switch_to_block(end);
                true
            }
            Stmt::Block(label, body) => {
                let end = self.b.create_block();
                self.labels.insert(*label, (end, end));
                if self.stmts(body) {
                    self.jump(end, &[]);
                }
                self.b.switch_to_block(end);
                true
            }
            Stmt::Break(label) => {
                let (_, end) = self.labels[label];
                self.jump(end, &[]);
                false
            }
            Stmt::Continue(label) => {
                let (head, _) = self.labels[label];
                self.jump(head, &[]);
                false
            }
            Stmt::Fail => {
                self.jump(self.fail, &[]);
                false
            }
            Stmt::ParallelFor { index, count, body } => {
                let low = self.b.ins().iconst(types::I64, 0);
                let high = self.reg(*count);
                self.rounds(*index, low, high, body, None);
                true
            }
            Stmt::Reduce { index, low, high, body, item, result } => {
                let total = self.reduce(*index, (*low, *high), body, *item);
                self.regs.insert(*result, total);
                true
            }
            Stmt::Gemm(gemm) => {
                self.emit_gemm(stmt, gemm);
                true
            }
            Stmt::Sort(sort) => {
                self.emit_sort(sort);
                true
            }
            Stmt::Call(call) => {
                self.emit_call(call);
                true
            }
        }
    }

    /// Calls the kernel for contractions, with what [`super::native::gemm`] reads.
    fn emit_gemm(&mut self, stmt: &Stmt, gemm: &Gemm) {
        let shared = match gemm.shared {
            true => self.word(types::I64, PANELS_WORD),
            false => self.b.ins().iconst(types::I64, 0),
        };
        let mut words = vec![self.word(types::I64, INTERRUPT_WORD), shared];
        for array in [gemm.into, gemm.left, gemm.right] {
            words.push(self.base(array));
        }
        let is_single = self.kernel.regs[gemm.start] == ScalarType::F32;
        words.push(self.b.ins().iconst(types::I64, i64::from(gemm.fused) | i64::from(is_single) << 1));
        stmt.for_each_reg(&mut |reg| words.push(self.reg(reg)));
        let data = StackSlotData::new(StackSlotKind::ExplicitSlot, 8 * words.len() as u32, 4);
        let slot = self.b.create_sized_stack_slot(data);
        let flags = MemFlagsData::trusted();
        let place = self.b.ins().stack_addr(types::I64, slot, 0);
        for (i, word) in words.into_iter().enumerate() {
            self.b.ins().store(flags, word, place, 8 * i as i32);
        }
        let function =
            self.functions.gemm.expect("the function of contractions is declared with the first one");
        let call = self.b.ins().call(function, &[place]);
        let status = self.b.inst_results(call)[0];
        let on = self.b.create_block();
        self.b.ins().brif(status, self.stop, &[], on, &[]);
        self.b.switch_to_block(on);
    }

    /// The word of the number of slots of an array that grows.
    fn capacity_word(&self, array: Array) -> Option<usize> {
        self.frame.capacities.get(&array).copied()
    }

    /// Calls the function that makes room in an array, if it has fewer slots.
    fn emit_grow(&mut self, array: Array, slots: Value) {
        let capacity = self.capacity_word(array).expect("an array that grows has a number of slots");
        let (more, end) = (self.b.create_block(), self.b.create_block());
        let has = self.word(types::I64, capacity);
        let lacks = self.b.ins().icmp(IntCC::UnsignedGreaterThan, slots, has);
        self.b.ins().brif(lacks, more, &[], end, &[]);
        self.b.switch_to_block(more);
        let address = self.frame.arrays + array.index();
        let numbers = [address as i64, capacity as i64, i64::from(self.kernel.arrays[array].width)];
        let [address_word, capacity, width] = numbers.map(|number| self.b.ins().iconst(types::I64, number));
        let function = self.functions.grow.expect("the function is declared with the first array that grows");
        let call = self.b.ins().call(function, &[self.args, address_word, capacity, slots, width]);
        let (is_there, grown) = (self.b.inst_results(call)[0], self.b.create_block());
        let is_missing = self.b.ins().icmp_imm_s(IntCC::Equal, is_there, 0);
        self.leave_loop_if(is_missing, (self.fail, &[]), grown);
        self.b.switch_to_block(grown);
        let base = self.word(types::I64, address);
        let Base::Variable(variable) = self.bases[&array] else {
            unreachable!("an array that grows has a variable")
        };
        self.b.def_var(variable, base);
        self.jump(end, &[]);
        self.b.switch_to_block(end);
    }

    /// Calls [`super::native::sort`] with what it reads.
    fn emit_sort(&mut self, sort: &Sort) {
        let bytes = |array: Array| self.kernel.arrays[array].width;
        let form = super::sort::encode(sort.ty, bytes(sort.keys), sort.indices.then(|| bytes(sort.into)));
        let (first, at) = (self.reg(sort.first), self.reg(sort.at));
        let words = [
            self.address(sort.into, first),
            self.address(sort.keys, at),
            self.reg(sort.count),
            self.b.ins().iconst(types::I64, form),
        ];
        let function = self.functions.sort.expect("the function of sorts is declared with the first one");
        self.b.ins().call(function, &words);
    }

    /// Calls a function, and leaves if it fails or is stopped.
    fn emit_call(&mut self, call: &FunctionCall) {
        let calls = match &self.given {
            Some(given) => given.calls,
            None => self.word(types::I64, CALLS_WORD),
        };
        let mut args = vec![self.args, self.b.ins().iadd_imm_s(calls, -1)];
        args.extend(call.args.iter().map(|reg| self.reg(*reg)));
        for (array, at) in call.read.iter().chain(&call.changed).chain(&call.written) {
            let at = self.reg(*at);
            args.push(self.address(*array, at));
        }
        let function = self.functions.recursive[call.function as usize];
        let call_inst = self.b.ins().call(function, &args);
        let returned = self.b.inst_results(call_inst).to_vec();
        self.leave_unless_done(returned[0]);
        self.regs.extend(call.results.iter().copied().zip(returned[1..].iter().copied()));
    }

    /// A loop from `low` up to, not including, `high`.
    fn rounds(&mut self, index: Reg, low: Value, high: Value, body: &[Stmt], label: Option<Label>) {
        if let Some(vector_loop) = self.functions.vector_loops.get(&index) {
            return self.emit_vector_loop(*vector_loop, index, (low, high), body, None);
        }
        let low = match vector_planner::plan(self.kernel, index, body, None, LaneTypes::All) {
            Some(plan) => self.vector_loop(&plan, index, low, high, body, label.is_some()),
            None => match super::masked_simd::plan(self.kernel, index, body) {
                Some(plan) => self.masked_simd_loop(&plan, index, low, high, body),
                None if is_straight_line(body) => return self.straight_rounds(index, low, high, body),
                None => low,
            },
        };
        let (head, inside) = (self.b.create_block(), self.b.create_block());
        let (next, end) = (self.b.create_block(), self.b.create_block());
        let at = self.b.append_block_param(head, types::I64);
        if let Some(label) = label {
            self.labels.insert(label, (next, end));
        }
        self.jump(head, &[low]);
        self.b.switch_to_block(head);
        let ends = self.b.ins().icmp(IntCC::SignedGreaterThanOrEqual, at, high);
        self.leave_loop_if(ends, (end, &[]), inside);
        self.b.switch_to_block(inside);
        if !polls_by_call(label, body) {
            self.poll_interrupt();
        }
        self.regs.insert(index, at);
        if self.stmts(body) {
            self.jump(next, &[]);
        }
        self.b.switch_to_block(next);
        let one = self.b.ins().iconst(types::I64, 1);
        let after = self.b.ins().iadd(at, one);
        self.jump(head, &[after]);
        self.b.switch_to_block(end);
    }

    /// Branches at the head of a loop, or within its body: out of it if a condition holds, else to
    /// a block of the loop.
    ///
    /// The exit is the first successor, so that it is visited last in reverse postorder. Cranelift
    /// moves a computation out of a loop, and leaves it outside, only while it has met no block
    /// behind that loop.
    pub(super) fn leave_loop_if(&mut self, ends: Value, (exit, args): (Block, &[BlockArg]), inside: Block) {
        self.b.ins().brif(ends, exit, args, inside, &[]);
    }

    /// 1 if an index is fewer than so many rounds below an end. No sum wraps, whatever the two are.
    pub(super) fn lacks_rounds(&mut self, at: Value, end: Value, rounds: i64) -> Value {
        let beyond = self.b.ins().icmp(IntCC::SignedGreaterThanOrEqual, at, end);
        let left = self.b.ins().isub(end, at);
        let least = self.b.ins().iconst(types::I64, rounds);
        let few = self.b.ins().icmp(IntCC::UnsignedLessThan, left, least);
        self.b.ins().bor(beyond, few)
    }

    /// Emits a loop with a straight-line body that polls for an interrupt once in
    /// [`ITERATIONS_PER_POLL`] iterations, unrolled if it is short.
    fn straight_rounds(&mut self, index: Reg, low: Value, high: Value, body: &[Stmt]) {
        let short = match body.iter().filter(|stmt| emits_instructions(stmt)).count() {
            0..=8 => 4,
            9..=16 => 2,
            _ => 1,
        };
        let block = |this: &mut Self| {
            let block = this.b.create_block();
            (block, this.b.append_block_param(block, types::I64))
        };
        let ((head, at), run, end) = (block(self), self.b.create_block(), self.b.create_block());
        self.jump(head, &[low]);
        self.b.switch_to_block(head);
        let ends = self.b.ins().icmp(IntCC::SignedGreaterThanOrEqual, at, high);
        self.leave_loop_if(ends, (end, &[]), run);
        self.b.switch_to_block(run);
        self.poll_interrupt();
        let left = self.b.ins().isub(high, at);
        let poll = self.b.ins().iconst(types::I64, ITERATIONS_PER_POLL);
        let until_poll = self.b.ins().umin(left, poll);
        let limit = self.b.ins().iadd(at, until_poll);
        let mut from = at;
        let turns: &[i64] = if short > 1 { &[short, 1] } else { &[1] };
        for &rounds in turns {
            let ((several, at), inside, next) = (block(self), self.b.create_block(), self.b.create_block());
            self.jump(several, &[from]);
            self.b.switch_to_block(several);
            let after = self.b.ins().iadd_imm_s(at, rounds);
            // The sum may wrap near the largest number.
            let left = self.b.ins().isub(limit, at);
            let least = self.b.ins().iconst(types::I64, rounds);
            let ends = self.b.ins().icmp(IntCC::UnsignedLessThan, left, least);
            self.leave_loop_if(ends, (next, &[]), inside);
            self.b.switch_to_block(inside);
            let reaches_the_end = (0..rounds).all(|round| {
                let place = if round == 0 { at } else { self.b.ins().iadd_imm_s(at, round) };
                self.regs.insert(index, place);
                self.stmts(body)
            });
            if reaches_the_end {
                self.jump(several, &[after]);
            }
            self.b.switch_to_block(next);
            from = at;
        }
        self.jump(head, &[from]);
        self.b.switch_to_block(end);
    }

    /// The lanes of one chunk, joined. Where data decide how many rounds a chunk has, one of few
    /// rounds keeps them in registers: to set up lanes in memory, or a vector loop, takes longer than
    /// its rounds do. Short loops over a size have been written out.
    fn reduce(&mut self, index: Reg, bounds: (Reg, Reg), body: &[Stmt], item: Summand) -> Value {
        let (low, high) = (self.reg(bounds.0), self.reg(bounds.1));
        let ty = machine_type(item.ty(self.kernel));
        let joining = item.op();
        let neutral = match ty {
            types::F32 => self.b.ins().f32const(joining.identity() as f32),
            _ => self.b.ins().f64const(joining.identity()),
        };
        let is_short = body.iter().filter(|stmt| emits_instructions(stmt)).count() <= MAX_REPEATED_STATEMENTS
            && body.iter().all(|stmt| matches!(stmt, Stmt::Let(..) | Stmt::Set(..)))
            && matches!(joining, ReductionOp::Add | ReductionOp::Mul)
            && depend_on_data(self.kernel, bounds);
        let chunk = Chunk { index, low, high, body, item, neutral };
        let lanes = if is_short {
            let outer = self.regs.clone();
            let (few, many, end) = (self.b.create_block(), self.b.create_block(), self.b.create_block());
            let joined = std::array::from_fn(|_| self.b.append_block_param(end, ty));
            let rounds = self.b.ins().isub(high, low);
            let is_few = self.b.ins().icmp_imm_s(IntCC::SignedLessThan, rounds, MAX_FEW_ROUNDS);
            self.b.ins().brif(is_few, few, &[], many, &[]);
            self.b.switch_to_block(few);
            let lanes = self.lanes_in_registers(chunk);
            self.jump(end, &lanes);
            self.regs = outer.clone();
            self.b.switch_to_block(many);
            let lanes = self.lanes_in_memory(chunk);
            self.jump(end, &lanes);
            self.regs = outer;
            self.b.switch_to_block(end);
            joined
        } else {
            self.lanes_in_memory(chunk)
        };
        combine_lanes(lanes, |a, b| self.combine(joining, a, b))
    }

    /// The lanes of a chunk of few rounds.
    fn lanes_in_registers(&mut self, chunk: Chunk<'_>) -> [Value; LANES] {
        let Chunk { low, high, neutral, .. } = chunk;
        let ty = self.b.func.dfg.value_type(neutral);
        let block = |this: &mut Self| {
            let block = this.b.create_block();
            let at = this.b.append_block_param(block, types::I64);
            let lanes: [Value; LANES] = std::array::from_fn(|_| this.b.append_block_param(block, ty));
            (block, at, lanes)
        };
        let args = |at: Value, lanes: &[Value; LANES]| -> Vec<BlockArg> {
            [at].iter().chain(lanes).map(|value| BlockArg::Value(*value)).collect()
        };
        let (head, at, lanes) = block(self);
        let (rest, rest_at, rest_lanes) = block(self);
        let (end, _, joined) = block(self);
        let whole = self.b.create_block();
        self.b.ins().jump(head, &args(low, &[neutral; LANES]));
        self.b.switch_to_block(head);
        let left = self.b.ins().isub(high, at);
        let ends = self.b.ins().icmp_imm_s(IntCC::SignedLessThan, left, LANES as i64);
        self.leave_loop_if(ends, (rest, &args(at, &lanes)), whole);
        self.b.switch_to_block(whole);
        let mut next = lanes;
        for (lane, number) in next.iter_mut().zip(0..) {
            *lane = self.lane_after(chunk, (at, number), *lane);
        }
        let after = self.b.ins().iadd_imm_s(at, LANES as i64);
        self.b.ins().jump(head, &args(after, &next));
        // The last rounds, fewer than lanes.
        self.b.switch_to_block(rest);
        let mut now = rest_lanes;
        for number in 0..LANES - 1 {
            let one = self.b.create_block();
            let place = self.b.ins().iadd_imm_s(rest_at, number as i64);
            let ends = self.b.ins().icmp(IntCC::SignedGreaterThanOrEqual, place, high);
            self.b.ins().brif(ends, end, &args(place, &now), one, &[]);
            self.b.switch_to_block(one);
            now[number] = self.lane_after(chunk, (rest_at, number as i64), now[number]);
        }
        self.b.ins().jump(end, &args(rest_at, &now));
        self.b.switch_to_block(end);
        joined
    }

    /// A lane after the round at so many behind an index.
    fn lane_after(&mut self, chunk: Chunk<'_>, (at, number): (Value, i64), lane: Value) -> Value {
        let place = if number == 0 { at } else { self.b.ins().iadd_imm_s(at, number) };
        self.regs.insert(chunk.index, place);
        self.stmts(chunk.body);
        self.joined(chunk.item, lane)
    }

    /// The lanes of a chunk, by vectors or through memory.
    fn lanes_in_memory(&mut self, chunk: Chunk<'_>) -> [Value; LANES] {
        let Chunk { index, low, high, body, item, neutral } = chunk;
        let ty = self.b.func.dfg.value_type(neutral);
        let bytes = ty.bytes();
        let data = StackSlotData::new(StackSlotKind::ExplicitSlot, LANES as u32 * bytes, 4);
        let slot = self.b.create_sized_stack_slot(data);
        let lanes = self.b.ins().stack_addr(types::I64, slot, 0);
        let flags = MemFlagsData::new().with_notrap();
        let vector_loop = self.functions.vector_loops.get(&index);
        let narrow = || vector_planner::plan(self.kernel, index, body, Some(item), LaneTypes::All);
        let start = match vector_loop.is_none().then(narrow).flatten() {
            Some(plan) => {
                let (accumulators, start) =
                    self.vector_reduction(&plan, index, low, high, body, item, neutral);
                for (i, lane) in accumulators.into_iter().enumerate() {
                    self.b.ins().store(flags, lane, lanes, 16 * i as i32);
                }
                start
            }
            None => {
                for i in 0..LANES as i32 {
                    self.b.ins().store(flags, neutral, lanes, i * bytes as i32);
                }
                low
            }
        };
        if let Some(vector_loop) = vector_loop {
            self.emit_vector_loop(*vector_loop, index, (low, high), body, Some(lanes));
        } else {
            self.reduce_in_lanes(chunk, start, lanes);
        }
        std::array::from_fn(|i| self.b.ins().load(ty, flags, lanes, i as i32 * bytes as i32))
    }

    /// One element at a time: the lanes take turns, so that none waits for the one before.
    fn reduce_in_lanes(&mut self, chunk: Chunk<'_>, start: Value, lanes: Value) {
        let Chunk { index, low, high, body, item, .. } = chunk;
        let ty = machine_type(item.ty(self.kernel));
        let flags = MemFlagsData::new().with_notrap();
        let (head, inside, end) = (self.b.create_block(), self.b.create_block(), self.b.create_block());
        let at = self.b.append_block_param(head, types::I64);
        self.jump(head, &[start]);
        self.b.switch_to_block(head);
        let ends = self.b.ins().icmp(IntCC::SignedGreaterThanOrEqual, at, high);
        self.leave_loop_if(ends, (end, &[]), inside);
        self.b.switch_to_block(inside);
        self.regs.insert(index, at);
        if self.stmts(body) {
            let from = self.b.ins().isub(at, low);
            let lane = self.b.ins().band_imm_s(from, LANES as i64 - 1);
            let offset = self.b.ins().imul_imm_s(lane, i64::from(ty.bytes()));
            let place = self.b.ins().iadd(lanes, offset);
            let old = self.b.ins().load(ty, flags, place, 0);
            let new = self.joined(item, old);
            self.b.ins().store(flags, new, place, 0);
            let one = self.b.ins().iconst(types::I64, 1);
            let after = self.b.ins().iadd(at, one);
            self.jump(head, &[after]);
        }
        self.b.switch_to_block(end);
    }

    /// A lane joined with the item of a round.
    fn joined(&mut self, item: Summand, lane: Value) -> Value {
        match item {
            Summand::Value(joining, value) => {
                let value = self.reg(value);
                self.combine(joining, lane, value)
            }
            Summand::Product(a, b) => {
                let (a, b) = (self.reg(a), self.reg(b));
                self.fused_multiply_add(a, b, lane)
            }
        }
    }

    /// `a * b + c`, rounded once, of numbers; of vectors, if the processor has it.
    pub fn fused_multiply_add(&mut self, a: Value, b: Value, c: Value) -> Value {
        if has_fma() {
            return self.b.ins().fma(a, b, c);
        }
        let call = self.b.ins().call(self.functions.math[&ScalarFunction::Fma], &[a, b, c]);
        self.b.inst_results(call)[0]
    }

    /// Two values joined.
    pub fn combine(&mut self, joining: ReductionOp, a: Value, b: Value) -> Value {
        match joining {
            ReductionOp::Add => self.b.ins().fadd(a, b),
            ReductionOp::Mul => self.b.ins().fmul(a, b),
            ReductionOp::Min => self.extreme(false, a, b),
            ReductionOp::Max => self.extreme(true, a, b),
        }
    }

    /// The larger of two floats, or of two vectors of them, if `max`, else the smaller.
    fn extreme(&mut self, max: bool, a: Value, b: Value) -> Value {
        let ty = self.b.func.dfg.value_type(a);
        let single = ty.lane_type() == types::F32;
        let constant = |this: &mut Self, x: f64| match single {
            true => this.b.ins().f32const(x as f32),
            false => this.b.ins().f64const(x),
        };
        let choose = |this: &mut Self, condition, a, b| match ty.is_vector() {
            true => this.blend(condition, a, b),
            false => this.b.ins().select(condition, a, b),
        };
        // Of two zeros, and where one is NaN, the machine takes its second operand. So it is asked
        // twice, with the operands in either order: a largest zero has a sign if both have, a
        // smallest if one has. These forms are one instruction each.
        let (x, y) = if max { (b, a) } else { (a, b) };
        let less = self.b.ins().fcmp(FloatCC::LessThan, x, y);
        let number = choose(self, less, a, b);
        let less = self.b.ins().fcmp(FloatCC::LessThan, y, x);
        let other = choose(self, less, b, a);
        let number = if max { self.b.ins().band(number, other) } else { self.b.ins().bor(number, other) };
        let unordered = self.b.ins().fcmp(FloatCC::Unordered, a, b);
        let mut nan = constant(self, f64::NAN);
        if ty.is_vector() {
            nan = self.b.ins().splat(ty, nan);
        }
        choose(self, unordered, nan, number)
    }

    /// The address of an array.
    pub(super) fn base(&mut self, array: Array) -> Value {
        match self.bases[&array] {
            Base::Fixed(base) => base,
            Base::Variable(variable) => self.b.use_var(variable),
        }
    }

    /// The address of a slot.
    pub fn address(&mut self, array: Array, at: Value) -> Value {
        let base = self.base(array);
        let offset = match self.kernel.arrays[array].width {
            1 => at,
            width => self.b.ins().ishl_imm_u(at, i64::from(width.trailing_zeros())),
        };
        self.b.ins().iadd(base, offset)
    }

    /// A slot as an address and a number of bytes beyond it, which an instruction adds at no cost:
    /// what is added to the number of the slot as a constant.
    pub fn slot(&mut self, array: Array, mut at: Value) -> (Value, i32) {
        let width = i64::from(self.kernel.arrays[array].width);
        let mut bytes = 0;
        while let Some((rest, added)) = self.plus_constant(at) {
            match added.checked_mul(width).and_then(|added| added.checked_add(bytes)) {
                Some(sum) if sum.unsigned_abs() < MAX_DISPLACEMENT => (at, bytes) = (rest, sum),
                _ => break,
            }
        }
        (self.address(array, at), bytes as i32)
    }

    /// The other operand and the constant, for a sum of a number and a constant.
    fn plus_constant(&self, value: Value) -> Option<(Value, i64)> {
        let dfg = &self.b.func.dfg;
        let ValueDef::Result(inst, _) = dfg.value_def(value) else { return None };
        let InstructionData::Binary { opcode: Opcode::Iadd, args: [a, b] } = dfg.insts[inst] else {
            return None;
        };
        let constant = |value| match dfg.value_def(value) {
            ValueDef::Result(inst, _) => match dfg.insts[inst] {
                InstructionData::UnaryImm { opcode: Opcode::Iconst, imm } => Some(imm.bits()),
                _ => None,
            },
            _ => None,
        };
        constant(b).map(|n| (a, n)).or_else(|| constant(a).map(|n| (b, n)))
    }

    /// The flags of accesses to an array.
    pub fn access_flags(&self, array: Array) -> MemFlagsData {
        let flags = MemFlagsData::new().with_notrap();
        match self.kernel.arrays[array].origin {
            // A load from what is overwritten must not move behind the store.
            Origin::Input(_) if !self.reusable_inputs.contains(&array) => flags.with_readonly(),
            _ => flags,
        }
    }

    fn load(&mut self, array: Array, at: Value, ty: ScalarType) -> Value {
        let ((place, offset), flags) = (self.slot(array, at), self.access_flags(array));
        let width = self.kernel.arrays[array].width;
        if ty.bytes() <= usize::from(width) {
            return self.b.ins().load(machine_type(ty), flags, place, offset);
        }
        let narrow = Type::int(u16::from(width) * 8).expect("slots are 1, 2, 4 or 8 bytes wide");
        let value = self.b.ins().load(narrow, flags, place, offset);
        self.b.ins().uextend(machine_type(ty), value)
    }

    fn store(&mut self, array: Array, at: Value, value: Value, ty: ScalarType) {
        let ((place, offset), flags) = (self.slot(array, at), self.access_flags(array));
        let width = u32::from(self.kernel.arrays[array].width);
        let slot = Type::int(width as u16 * 8).expect("slots are 1, 2, 4 or 8 bytes wide");
        let bytes = ty.bytes() as u32;
        let value = if bytes == width {
            value
        } else if bytes > width {
            self.b.ins().ireduce(slot, value)
        } else {
            // Bits above a value's own are 0.
            let bits = match ty {
                ScalarType::F32 => self.b.ins().bitcast(types::I32, MemFlagsData::new(), value),
                _ => value,
            };
            self.b.ins().uextend(slot, bits)
        };
        self.b.ins().store(flags, value, place, offset);
    }

    /// A comparison: a bit, or a mask for each lane of vectors.
    pub fn compare(&mut self, kind: Compare, ty: ScalarType, a: Value, b: Value) -> Value {
        if ty.is_float() {
            self.b.ins().fcmp(float_code(kind), a, b)
        } else {
            self.b.ins().icmp(int_code(kind), a, b)
        }
    }

    /// The second value where a condition is not 0, otherwise the third. Floats are chosen by a
    /// mask: the code generator would jump, which takes long where data decide. Where the operands
    /// of a comparison of floats are those of the choice, it has an instruction. A variable that is
    /// changed in some rounds (`is_update`) waits for a mask in each of them, and such rounds are
    /// rare or follow a pattern: there it jumps.
    fn choose(&mut self, condition: Value, a: Value, b: Value, is_update: bool) -> Value {
        let ty = self.b.func.dfg.value_type(a);
        let vector = match ty {
            types::F64 => types::F64X2,
            types::F32 => types::F32X4,
            _ => return self.b.ins().select(condition, a, b),
        };
        let compared = self.float_comparison(condition).filter(|(_, operands)| {
            operands.iter().all(|operand| self.b.func.dfg.value_type(*operand) == ty)
        });
        let mask = match compared {
            Some((_, [x, y])) if [x, y] == [a, b] || [x, y] == [b, a] => {
                return self.b.ins().select(condition, a, b);
            }
            Some((code, operands)) => {
                let [x, y] = operands.map(|operand| self.b.ins().scalar_to_vector(vector, operand));
                self.b.ins().fcmp(code, x, y)
            }
            None if is_update => return self.b.ins().select(condition, a, b),
            None => {
                let is_true = self.b.ins().icmp_imm_s(IntCC::NotEqual, condition, 0);
                let one = self.b.ins().uextend(types::I64, is_true);
                let bits = self.b.ins().ineg(one);
                self.b.ins().scalar_to_vector(types::I64X2, bits)
            }
        };
        let [a, b] = [a, b].map(|value| self.b.ins().scalar_to_vector(vector, value));
        let chosen = self.blend(mask, a, b);
        self.b.ins().extractlane(chosen, 0)
    }

    /// The comparison of floats that a truth value is the result of.
    fn float_comparison(&self, truth: Value) -> Option<(FloatCC, [Value; 2])> {
        let dfg = &self.b.func.dfg;
        let mut inst = dfg.value_def(dfg.resolve_aliases(truth)).inst()?;
        if let InstructionData::Unary { opcode: Opcode::Uextend, arg } = dfg.insts[inst] {
            inst = dfg.value_def(dfg.resolve_aliases(arg)).inst()?;
        }
        match dfg.insts[inst] {
            InstructionData::FloatCompare { cond, args, .. } => Some((cond, args)),
            _ => None,
        }
    }

    /// An operation on single values.
    pub fn op(&mut self, op: &Op) -> Value {
        match op {
            Op::Const(ty, bits) => match ty {
                ScalarType::F64 => self.b.ins().f64const(f64::from_bits(*bits)),
                ScalarType::F32 => self.b.ins().f32const(f32::from_bits(*bits as u32)),
                ScalarType::I64 => self.b.ins().iconst(types::I64, *bits as i64),
                ty => {
                    let wide = self.b.ins().iconst(types::I64, *bits as i64);
                    self.b.ins().ireduce(machine_type(*ty), wide)
                }
            },
            Op::Size(n) => self.word(types::I64, self.frame.sizes + *n as usize),
            Op::Scalar(n) => {
                if let Some(given) = &self.given {
                    return given.scalars[*n as usize];
                }
                let ty = machine_type(self.kernel.scalars[*n as usize]);
                self.word(ty, self.frame.scalars + *n as usize)
            }
            Op::Binary(kind, a, b) => {
                let ty = self.kernel.regs[*a];
                let known = self.constant(*b);
                let (a, b) = (self.reg(*a), self.reg(*b));
                self.binary(*kind, ty, a, b, known)
            }
            Op::Unary(kind, a) => {
                let ty = self.kernel.regs[*a];
                let a = self.reg(*a);
                self.unary(*kind, ty, a)
            }
            Op::Compare(kind, a, b) => {
                let ty = self.kernel.regs[*a];
                let (a, b) = (self.reg(*a), self.reg(*b));
                let bit = self.compare(*kind, ty, a, b);
                self.b.ins().uextend(types::I64, bit)
            }
            Op::Select(c, a, b) => {
                let is_update = self.unchanged.contains(a) || self.unchanged.contains(b);
                let (c, a, b) = (self.reg(*c), self.reg(*a), self.reg(*b));
                self.choose(c, a, b, is_update)
            }
            Op::Cast(cast, to, a) => {
                let from = self.kernel.regs[*a];
                let (to, a) = (machine_type(*to), self.reg(*a));
                match cast {
                    Cast::SignExtend => self.b.ins().sextend(to, a),
                    Cast::ZeroExtend => self.b.ins().uextend(to, a),
                    Cast::Truncate => self.b.ins().ireduce(to, a),
                    Cast::SignedToFloat => self.b.ins().fcvt_from_sint(to, a),
                    Cast::UnsignedToFloat => self.b.ins().fcvt_from_uint(to, a),
                    Cast::FloatToSigned => self.b.ins().fcvt_to_sint_sat(to, a),
                    Cast::FloatToFloat if from == ScalarType::F32 => self.b.ins().fpromote(to, a),
                    Cast::FloatToFloat => self.b.ins().fdemote(to, a),
                    Cast::FloatToBits => self.b.ins().bitcast(to, MemFlagsData::new(), a),
                }
            }
            Op::Load(array, at, ty) => {
                let at = self.reg(*at);
                self.load(*array, at, *ty)
            }
            Op::Get(var) => self.b.use_var(self.vars[var]),
            Op::Call(f, args) => {
                let args: Vec<Value> = args.iter().map(|r| self.reg(*r)).collect();
                if let (ScalarFunction::Fma, [a, b, c]) = (f, &args[..]) {
                    return self.fused_multiply_add(*a, *b, *c);
                }
                let call = self.b.ins().call(self.functions.math[f], &args);
                self.b.inst_results(call)[0]
            }
        }
    }

    /// The bits of a register that is a constant.
    fn constant(&self, reg: Reg) -> Option<u64> {
        self.kernel.constants.get(&reg).copied()
    }

    /// Two operands, or two vectors of them.
    pub fn binary(&mut self, kind: Binary, ty: ScalarType, a: Value, b: Value, known: Option<u64>) -> Value {
        let float = ty.is_float();
        match kind {
            Binary::Add if float => self.b.ins().fadd(a, b),
            Binary::Sub if float => self.b.ins().fsub(a, b),
            Binary::Mul if float => self.b.ins().fmul(a, b),
            Binary::DivFloat => self.b.ins().fdiv(a, b),
            Binary::Min => self.extreme(false, a, b),
            Binary::Max => self.extreme(true, a, b),
            Binary::Add => self.b.ins().iadd(a, b),
            Binary::Sub => self.b.ins().isub(a, b),
            Binary::Mul => self.b.ins().imul(a, b),
            Binary::And => self.b.ins().band(a, b),
            Binary::Or => self.b.ins().bor(a, b),
            Binary::Xor => self.b.ins().bxor(a, b),
            Binary::Shl => self.b.ins().ishl(a, b),
            Binary::Shr => self.b.ins().ushr(a, b),
            Binary::DivSigned | Binary::DivUnsigned | Binary::RemSigned | Binary::RemUnsigned => {
                self.divide(kind, ty, a, b, known)
            }
        }
    }

    /// One operand, or a vector of them.
    pub fn unary(&mut self, kind: Unary, ty: ScalarType, a: Value) -> Value {
        match kind {
            Unary::Neg if ty.is_float() => self.b.ins().fneg(a),
            Unary::Neg => self.b.ins().ineg(a),
            Unary::Not => self.b.ins().bnot(a),
            Unary::Sqrt => self.b.ins().sqrt(a),
            Unary::Floor => self.b.ins().floor(a),
            Unary::Ceil => self.b.ins().ceil(a),
            Unary::Trunc => self.b.ins().trunc(a),
            Unary::PopCount => self.b.ins().popcnt(a),
            Unary::TrailingZeros => self.b.ins().ctz(a),
        }
    }
}

/// The machine's name of a comparison of floats.
fn float_code(kind: Compare) -> FloatCC {
    match kind {
        Compare::Eq => FloatCC::Equal,
        Compare::Ne => FloatCC::NotEqual,
        Compare::Lt | Compare::LtUnsigned => FloatCC::LessThan,
        Compare::Le | Compare::LeUnsigned => FloatCC::LessThanOrEqual,
    }
}

/// The machine's name of a comparison of integers.
fn int_code(kind: Compare) -> IntCC {
    match kind {
        Compare::Eq => IntCC::Equal,
        Compare::Ne => IntCC::NotEqual,
        Compare::Lt => IntCC::SignedLessThan,
        Compare::Le => IntCC::SignedLessThanOrEqual,
        Compare::LtUnsigned => IntCC::UnsignedLessThan,
        Compare::LeUnsigned => IntCC::UnsignedLessThanOrEqual,
    }
}
