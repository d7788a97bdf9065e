//! Vectorization with masks: loops around a loop per element take several elements at a time, each
//! until it is done.
//!
//! The number of steps until an orbit leaves a circle, or until Newton's method ends: a loop around
//! such a loop does one element after the other, and each waits for its own chain of operations.
//! Here [`MAX_LINE_WIDTH`] elements go together, in [`VECTORS`] vectors: registers and variables
//! have a lane for each, and a mask says which lanes are active.
//!
//! **Method.** A variable is set in active lanes only. Of a condition that differs, each side runs
//! with the lanes for which it holds, if there are any. Lanes that leave a loop or a block are
//! taken out of the mask, and are put back where that construct ends; a loop runs as long as there
//! are active lanes. At each place that is reached, at least one lane is active: when none is left,
//! control goes to where lanes come back ([`Masked::resume`]). So whatever is the same in all lanes
//! is computed as in a single round (loads and divisions, too: some lane's round would do it), and
//! where a lane fails, the run fails.
//!
//! **When** ([`plan`]). The body has a loop; inside it lanes compute what vectors can, and little
//! else that cannot fail; nothing of differing places is read, and nothing is written. What stands
//! around the inner loops, where all lanes are active, may be anything: it is done lane by lane.
//! Variables belong to a round: they are set before they are read, and nobody reads them afterward.
//!
//! Each lane does the operations of its round in their order, so results are the same in every bit.
//! Rounds left over are done one by one.

use super::emit::{Emit, has_fma, machine_type};
use super::private_variables::{escapes, private_variables, set_variables};
use crate::hash::{HashMap, HashSet};
use crate::loop_ir::{
    Array, Binary, Compare, Kernel, Label, Op, Reg, ScalarFunction, ScalarType, Stmt, Unary, Var,
    for_each_stmt,
};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, Endianness, InstBuilder, MemFlagsData, Type, Value, types};
use cranelift_frontend::Variable;

/// Vectors that go together, so that one need not wait for the other.
const VECTORS: usize = 2;

/// Elements that go together.
const MAX_LINE_WIDTH: usize = 2 * VECTORS;

/// The vector of two numbers of 8 bytes.
fn pair(ty: ScalarType) -> Type {
    if ty.is_float() { types::F64X2 } else { types::I64X2 }
}

/// Operations on vectors that make up for one that is done lane by lane.
const MIN_VECTOR_OPS_PER_LANE_OP: usize = 3;

/// The role of a register in the iterations of a loop.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Role {
    /// The same in all lanes.
    Same,
    /// The index plus what is the same in all.
    Index,
    /// A number for each lane.
    Varying,
}

/// A loop whose rounds go together.
pub struct Plan {
    roles: HashMap<Reg, Role>,
    /// Variables that are set inside.
    vars: HashSet<Var>,
}

/// The vectorization with masks of a loop over `index`, if it can be vectorized and it is
/// profitable.
pub fn plan(kernel: &Kernel, index: Reg, body: &[Stmt]) -> Option<Plan> {
    let mut store_lanes = HashMap::<Array, Reg>::default();
    // An array is written at one place in each round: else the order of rounds would be seen.
    let mut apart = true;
    for_each_stmt(body, &mut |stmt| {
        if let Stmt::Store(array, at, _) = stmt {
            apart &= store_lanes.insert(*array, *at).is_none_or(|other| other == *at);
        }
    });
    if !apart {
        return None;
    }
    let vars = private_variables(kernel, body).filter(|vars| *vars == set_variables(body))?;
    let roles = HashMap::from_iter([(index, Role::Index)]);
    let mut look = Analysis { kernel, roles, vars, store_lanes, loops: 0, work: 0, slow: 0 };
    look.stmts(body, true)?;
    (look.work > 1 + MIN_VECTOR_OPS_PER_LANE_OP * look.slow)
        .then_some(Plan { roles: look.roles, vars: look.vars })
}

/// Returns true if lanes may leave on the way.
fn exits(stmts: &[Stmt]) -> bool {
    let mut found = false;
    for_each_stmt(stmts, &mut |stmt| found |= matches!(stmt, Stmt::Break(_) | Stmt::Continue(_)));
    found
}

/// The classification of the registers and statements of a loop.
struct Analysis<'n> {
    kernel: &'n Kernel,
    roles: HashMap<Reg, Role>,
    vars: HashSet<Var>,
    store_lanes: HashMap<Array, Reg>,
    /// Loops around.
    loops: usize,
    /// Operations on vectors inside loops, and those that are done lane by lane there.
    work: usize,
    slow: usize,
}

impl Analysis<'_> {
    fn role(&self, reg: Reg) -> Role {
        self.roles.get(&reg).copied().unwrap_or(Role::Same)
    }

    /// `certain`: all lanes are active.
    fn stmts(&mut self, stmts: &[Stmt], mut certain: bool) -> Option<()> {
        for stmt in stmts {
            match stmt {
                Stmt::Let(reg, op) => {
                    let role = self.op(*reg, op, certain)?;
                    self.roles.insert(*reg, role);
                }
                Stmt::Set(_, reg) => {
                    if self.kernel.regs[*reg].bytes() != 8 {
                        return None;
                    }
                }
                Stmt::Store(array, at, value) => {
                    let fits = self.kernel.arrays[*array].width == 8 && self.kernel.regs[*value].bytes() == 8;
                    if !certain || self.loops > 0 || self.role(*at) != Role::Index || !fits {
                        return None;
                    }
                }
                Stmt::If(_, then, otherwise) => {
                    self.stmts(then, false)?;
                    self.stmts(otherwise, false)?;
                }
                Stmt::For { index, low, high, body, .. } => {
                    if self.role(*low) != Role::Same || self.role(*high) != Role::Same {
                        return None;
                    }
                    self.roles.insert(*index, Role::Same);
                    self.inside(body)?;
                }
                Stmt::Loop(_, body) => self.inside(body)?,
                Stmt::Block(_, body) => self.stmts(body, certain)?,
                Stmt::Break(_) | Stmt::Continue(_) | Stmt::Fail => {}
                Stmt::Swap(..)
                | Stmt::Grow(..)
                | Stmt::ParallelFor { .. }
                | Stmt::Reduce { .. }
                | Stmt::Gemm(_)
                | Stmt::Sort(_)
                | Stmt::Call(_) => {
                    return None;
                }
            }
            certain &= escapes(std::slice::from_ref(stmt)).is_empty();
        }
        Some(())
    }

    fn inside(&mut self, body: &[Stmt]) -> Option<()> {
        self.loops += 1;
        self.stmts(body, false)?;
        self.loops -= 1;
        Some(())
    }

    fn op(&mut self, reg: Reg, op: &Op, certain: bool) -> Option<Role> {
        let lanes_only = certain && self.loops == 0;
        let mut same = true;
        op.for_each_reg(&mut |reg| same &= self.role(reg) == Role::Same);
        match op {
            Op::Get(var) if self.vars.contains(var) => return Some(Role::Varying),
            Op::Load(array, ..) if self.store_lanes.contains_key(array) => return None,
            _ if same => return Some(Role::Same),
            Op::Binary(Binary::Add, a, b) => match (self.role(*a), self.role(*b)) {
                (Role::Index, Role::Same) | (Role::Same, Role::Index) => return Some(Role::Index),
                _ => {}
            },
            Op::Binary(Binary::Sub, a, b) if (self.role(*a), self.role(*b)) == (Role::Index, Role::Same) => {
                return Some(Role::Index);
            }
            _ => {}
        }
        if by_vectors(self.kernel, &self.roles, reg, op) {
            self.work += usize::from(self.loops > 0);
            return Some(Role::Varying);
        }
        if !lanes_only {
            // A lane that is not active may hold anything.
            let harmless = match op {
                Op::Cast(..) => true,
                Op::Binary(_, _, by) => {
                    self.kernel.constants.get(by).is_some_and(|by| (1..1 << 32).contains(by))
                }
                _ => false,
            };
            self.slow += 1;
            if !harmless {
                return None;
            }
        }
        Some(Role::Varying)
    }
}

/// Returns true if an operation is one of vectors, whatever its operands hold.
fn by_vectors(kernel: &Kernel, roles: &HashMap<Reg, Role>, reg: Reg, op: &Op) -> bool {
    let mut wide = kernel.regs[reg].bytes() == 8;
    op.for_each_reg(&mut |reg| wide &= kernel.regs[reg].bytes() == 8);
    let float = kernel.regs[reg].is_float();
    wide && match op {
        Op::Binary(Binary::Add | Binary::Sub | Binary::Mul, ..) => true,
        Op::Binary(Binary::DivFloat | Binary::Min | Binary::Max, ..) => true,
        Op::Binary(Binary::And | Binary::Or | Binary::Xor, ..) => true,
        // All lanes move by as many places.
        Op::Binary(Binary::Shl | Binary::Shr, _, by) => {
            !float && roles.get(by).is_none_or(|role| *role == Role::Same)
        }
        Op::Unary(Unary::Neg, _) => true,
        Op::Unary(Unary::Sqrt | Unary::Floor | Unary::Ceil | Unary::Trunc, _) => float,
        Op::Unary(Unary::Not, _) => !float,
        Op::Compare(..) | Op::Select(..) => true,
        Op::Call(ScalarFunction::Fma, _) => has_fma(),
        _ => false,
    }
}

/// The value of a register in all lanes.
enum LaneValues {
    Vectors([Value; VECTORS]),
    /// A mask in place of 0 or 1: all bits or none.
    Mask([Value; VECTORS]),
    /// One by one.
    Lanes([Value; MAX_LINE_WIDTH]),
}

type Variables = [Variable; VECTORS];

/// Rounds under construction.
struct Masked<'p> {
    plan: &'p Plan,
    values: HashMap<Reg, LaneValues>,
    vars: HashMap<Var, Variables>,
    /// Lanes that are active.
    active: Variables,
    /// Lanes that have left a construct, and those that wait for its next round.
    left: HashMap<Label, (Variables, Variables)>,
    /// The blocks to which control goes when no lane is active, innermost last.
    resume: Vec<Block>,
}

impl Emit<'_, '_> {
    /// Does as many rounds as go together; gives the first index left.
    pub(super) fn masked_simd_loop(
        &mut self,
        plan: &Plan,
        index: Reg,
        low: Value,
        high: Value,
        body: &[Stmt],
    ) -> Value {
        let (head, inside, end) = (self.b.create_block(), self.b.create_block(), self.b.create_block());
        let at = self.b.append_block_param(head, types::I64);
        let outer = self.regs.clone();
        self.b.ins().jump(head, &[low.into()]);
        self.b.switch_to_block(head);
        let after = self.b.ins().iadd_imm_s(at, MAX_LINE_WIDTH as i64);
        let ends = self.lacks_rounds(at, high, MAX_LINE_WIDTH as i64);
        self.leave_loop_if(ends, (end, &[]), inside);
        self.b.switch_to_block(inside);
        self.poll_interrupt();
        self.regs.insert(index, at);
        let active = self.mask_variables(true);
        let mut vars = HashMap::default();
        for var in &plan.vars {
            let zero = self.zero_vector(self.kernel.vars[*var]);
            vars.insert(*var, self.variables([zero; VECTORS]));
        }
        let (values, left) = (HashMap::default(), HashMap::default());
        let mut masked = Masked { plan, values, vars, active, left, resume: Vec::new() };
        if self.masked(&mut masked, body, true) {
            self.b.ins().jump(head, &[after.into()]);
        }
        self.b.switch_to_block(end);
        self.regs = outer;
        at
    }

    fn zero_vector(&mut self, ty: ScalarType) -> Value {
        let zero = self.zero(machine_type(ty));
        self.b.ins().splat(pair(ty), zero)
    }

    /// Variables that hold vectors.
    fn variables(&mut self, values: [Value; VECTORS]) -> Variables {
        values.map(|value| {
            let ty = self.b.func.dfg.value_type(value);
            let variable = self.b.declare_var(ty);
            self.b.def_var(variable, value);
            variable
        })
    }

    /// Variables that hold masks: of all lanes, or of none.
    fn mask_variables(&mut self, all: bool) -> Variables {
        let bits = self.b.ins().iconst(types::I64, if all { -1 } else { 0 });
        let mask = self.b.ins().splat(types::I64X2, bits);
        self.variables([mask; VECTORS])
    }

    fn read_vars(&mut self, variables: Variables) -> [Value; VECTORS] {
        variables.map(|variable| self.b.use_var(variable))
    }

    fn write_vars(&mut self, variables: Variables, values: [Value; VECTORS]) {
        variables.into_iter().zip(values).for_each(|(variable, value)| self.b.def_var(variable, value));
    }

    /// Takes lanes into a mask.
    fn add_lanes(&mut self, into: Variables, lanes: [Value; VECTORS]) {
        let old = self.read_vars(into);
        let new = std::array::from_fn(|i| self.b.ins().bor(old[i], lanes[i]));
        self.write_vars(into, new);
    }

    /// No lane is active any more.
    fn none_active(&mut self, masked: &Masked<'_>) {
        let zero = self.zero_vector(ScalarType::I64);
        self.write_vars(masked.active, [zero; VECTORS]);
    }

    /// Goes to one block if there is a lane in a mask, to another one if there is none.
    fn any(&mut self, mask: [Value; VECTORS], some: Block, none: Block) {
        let all = mask.into_iter().reduce(|a, b| self.b.ins().bor(a, b));
        let any = all.map(|all| self.b.ins().vany_true(all));
        match any {
            Some(any) => drop(self.b.ins().brif(any, some, &[], none, &[])),
            None => drop(self.b.ins().jump(none, &[])),
        }
    }

    /// Goes on if lanes are active.
    fn branch_if_any_active(&mut self, masked: &Masked<'_>) {
        let Some(none) = masked.resume.last().copied() else { return };
        let on = self.b.create_block();
        let active = self.read_vars(masked.active);
        self.any(active, on, none);
        self.b.switch_to_block(on);
    }

    /// Writes statements. Whether their end is reached. `full`: all lanes are active.
    fn masked(&mut self, masked: &mut Masked<'_>, stmts: &[Stmt], mut full: bool) -> bool {
        for stmt in stmts {
            if !self.masked_stmt(masked, stmt, full) {
                return false;
            }
            full &= escapes(std::slice::from_ref(stmt)).is_empty();
        }
        true
    }

    fn masked_stmt(&mut self, masked: &mut Masked<'_>, stmt: &Stmt, full: bool) -> bool {
        match stmt {
            Stmt::Let(reg, op) => {
                if masked.plan.roles.get(reg) == Some(&Role::Varying) {
                    let value = self.varying(masked, *reg, op);
                    masked.values.insert(*reg, value);
                } else {
                    let value = self.op(op);
                    self.regs.insert(*reg, value);
                }
                true
            }
            Stmt::Set(var, reg) => {
                let variables = masked.vars[var];
                let mut new = self.as_vectors(masked, *reg);
                if !full {
                    let (old, active) = (self.read_vars(variables), self.read_vars(masked.active));
                    new = std::array::from_fn(|i| self.blend(active[i], new[i], old[i]));
                }
                self.write_vars(variables, new);
                true
            }
            Stmt::Store(array, at, value) => {
                let value = self.as_vectors(masked, *value);
                let at = self.reg(*at);
                let place = self.address(*array, at);
                let flags = MemFlagsData::new().with_notrap();
                for (i, vector) in value.into_iter().enumerate() {
                    self.b.ins().store(flags, vector, place, 16 * i as i32);
                }
                true
            }
            Stmt::If(condition, then, otherwise) => {
                self.masked_if(masked, *condition, then, otherwise);
                true
            }
            Stmt::For { label, index, low, high, body } => {
                let (low, high) = (self.reg(*low), self.reg(*high));
                self.masked_loop(masked, stmt, *label, Some((*index, low, high)), body, full);
                true
            }
            Stmt::Loop(label, body) => {
                self.masked_loop(masked, stmt, *label, None, body, full);
                true
            }
            Stmt::Block(label, body) => {
                let left = self.mask_variables(false);
                masked.left.insert(*label, (left, left));
                let end = self.b.create_block();
                masked.resume.push(end);
                if self.masked(masked, body, full) {
                    self.b.ins().jump(end, &[]);
                }
                masked.resume.pop();
                self.b.switch_to_block(end);
                let back = self.read_vars(left);
                self.add_lanes(masked.active, back);
                if !escapes(body).iter().all(|l| l == label) {
                    self.branch_if_any_active(masked);
                }
                true
            }
            Stmt::Break(label) | Stmt::Continue(label) => {
                let (left, waiting) = masked.left[label];
                let active = self.read_vars(masked.active);
                self.add_lanes(if matches!(stmt, Stmt::Break(_)) { left } else { waiting }, active);
                self.none_active(masked);
                if let Some(resume) = masked.resume.last() {
                    self.b.ins().jump(*resume, &[]);
                }
                false
            }
            Stmt::Fail => {
                self.b.ins().jump(self.fail, &[]);
                false
            }
            // `plan` has none of these.
            Stmt::Swap(..)
            | Stmt::Grow(..)
            | Stmt::ParallelFor { .. }
            | Stmt::Reduce { .. }
            | Stmt::Gemm(_)
            | Stmt::Sort(_)
            | Stmt::Call(_) => true,
        }
    }

    fn masked_if(&mut self, masked: &mut Masked<'_>, condition: Reg, then: &[Stmt], otherwise: &[Stmt]) {
        let condition = self.mask(masked, condition);
        let old = self.read_vars(masked.active);
        let yes = std::array::from_fn(|i| self.b.ins().band(old[i], condition[i]));
        let no = std::array::from_fn(|i| self.b.ins().band_not(old[i], condition[i]));
        // Lanes that get to the end.
        let reach = self.mask_variables(false);
        let join = self.b.create_block();
        let mut sides = vec![(yes, then), (no, otherwise)];
        // A side without statements has nothing to run: its lanes are there already.
        sides.retain(|(lanes, stmts)| {
            if stmts.is_empty() {
                self.add_lanes(reach, *lanes);
            }
            !stmts.is_empty()
        });
        let only = sides.len() == 1;
        for (lanes, stmts) in sides {
            let (run, skip) = (self.b.create_block(), self.b.create_block());
            // If no lane takes the only side, everything stays as it is.
            self.any(lanes, run, if only { join } else { skip });
            self.b.switch_to_block(run);
            self.write_vars(masked.active, lanes);
            masked.resume.push(skip);
            if self.masked(masked, stmts, false) {
                let reached = self.read_vars(masked.active);
                self.add_lanes(reach, reached);
                self.b.ins().jump(skip, &[]);
            }
            masked.resume.pop();
            self.b.switch_to_block(skip);
        }
        let reached = self.read_vars(reach);
        self.write_vars(masked.active, reached);
        if exits(then) || exits(otherwise) {
            self.branch_if_any_active(masked);
        }
        self.b.ins().jump(join, &[]);
        self.b.switch_to_block(join);
    }

    /// A loop inside: over a range that is the same for all lanes, or until all have left.
    fn masked_loop(
        &mut self,
        masked: &mut Masked<'_>,
        stmt: &Stmt,
        label: Label,
        range: Option<(Reg, Value, Value)>,
        body: &[Stmt],
        full: bool,
    ) {
        let (left, waiting) = (self.mask_variables(false), self.mask_variables(false));
        masked.left.insert(label, (left, waiting));
        let (head, inside) = (self.b.create_block(), self.b.create_block());
        let (next, end) = (self.b.create_block(), self.b.create_block());
        let at = self.b.append_block_param(head, types::I64);
        let low = match range {
            Some((_, low, _)) => low,
            None => self.b.ins().iconst(types::I64, 0),
        };
        self.b.ins().jump(head, &[low.into()]);
        self.b.switch_to_block(head);
        match range {
            Some((index, _, high)) => {
                let ends = self.b.ins().icmp(IntCC::SignedGreaterThanOrEqual, at, high);
                self.leave_loop_if(ends, (end, &[]), inside);
                self.regs.insert(index, at);
            }
            None => drop(self.b.ins().jump(inside, &[])),
        }
        self.b.switch_to_block(inside);
        self.poll_interrupt();
        masked.resume.push(next);
        let may_leave = exits(body);
        if self.masked(masked, body, full && !may_leave) {
            self.b.ins().jump(next, &[]);
        }
        masked.resume.pop();
        self.b.switch_to_block(next);
        let after = self.b.ins().iadd_imm_s(at, 1);
        if may_leave {
            let back = self.read_vars(waiting);
            self.add_lanes(masked.active, back);
            let none = self.zero_vector(ScalarType::I64);
            self.write_vars(waiting, [none; VECTORS]);
            let on = self.b.create_block();
            let active = self.read_vars(masked.active);
            self.any(active, on, end);
            self.b.switch_to_block(on);
        }
        self.b.ins().jump(head, &[after.into()]);
        self.b.switch_to_block(end);
        let back = self.read_vars(left);
        self.add_lanes(masked.active, back);
        if !escapes(std::slice::from_ref(stmt)).is_empty() {
            self.branch_if_any_active(masked);
        }
    }

    /// A register for all lanes, from an operation.
    fn varying(&mut self, masked: &Masked<'_>, reg: Reg, op: &Op) -> LaneValues {
        let ty = self.kernel.regs[reg];
        match op {
            Op::Get(var) => LaneValues::Vectors(self.read_vars(masked.vars[var])),
            Op::Load(array, at, _)
                if ty.bytes() == 8
                    && self.kernel.arrays[*array].width == 8
                    && masked.plan.roles.get(at) == Some(&Role::Index) =>
            {
                let at = self.reg(*at);
                let (place, flags) = (self.address(*array, at), self.access_flags(*array));
                let vector = pair(ty);
                LaneValues::Vectors(std::array::from_fn(|i| {
                    self.b.ins().load(vector, flags, place, 16 * i as i32)
                }))
            }
            op if by_vectors(self.kernel, &masked.plan.roles, reg, op) => self.by_vectors(masked, ty, op),
            op => {
                let mut regs = Vec::new();
                op.for_each_reg(&mut |reg| regs.push(reg));
                let lanes: Vec<_> = regs.iter().map(|reg| (*reg, self.lanes(masked, *reg))).collect();
                let outer = self.regs.clone();
                let one = |i: usize| {
                    self.regs.extend(lanes.iter().map(|(reg, lanes)| (*reg, lanes[i])));
                    self.op(op)
                };
                let value = std::array::from_fn(one);
                self.regs = outer;
                LaneValues::Lanes(value)
            }
        }
    }

    fn by_vectors(&mut self, masked: &Masked<'_>, ty: ScalarType, op: &Op) -> LaneValues {
        let is_mask = |reg: &Reg| matches!(masked.values.get(reg), Some(LaneValues::Mask(_)));
        match op {
            Op::Compare(Compare::Eq, a, b) if is_mask(a) && self.kernel.constants.get(b) == Some(&0) => {
                LaneValues::Mask(self.mask(masked, *a).map(|mask| self.b.ins().bnot(mask)))
            }
            Op::Compare(kind, a, b) => {
                let from = self.kernel.regs[*a];
                let (a, b) = (self.as_vectors(masked, *a), self.as_vectors(masked, *b));
                LaneValues::Mask(std::array::from_fn(|i| self.compare(*kind, from, a[i], b[i])))
            }
            Op::Binary(kind @ (Binary::And | Binary::Or), a, b) if is_mask(a) && is_mask(b) => {
                let (a, b) = (self.mask(masked, *a), self.mask(masked, *b));
                LaneValues::Mask(std::array::from_fn(|i| self.binary(*kind, ty, a[i], b[i], None)))
            }
            Op::Select(c, a, b) => {
                let c = self.mask(masked, *c);
                let (a, b) = (self.as_vectors(masked, *a), self.as_vectors(masked, *b));
                LaneValues::Vectors(std::array::from_fn(|i| self.blend(c[i], a[i], b[i])))
            }
            Op::Binary(kind @ (Binary::Shl | Binary::Shr), a, by) => {
                let (a, by) = (self.as_vectors(masked, *a), self.reg(*by));
                LaneValues::Vectors(a.map(|a| self.binary(*kind, ty, a, by, None)))
            }
            Op::Binary(kind, a, b) => {
                let (a, b) = (self.as_vectors(masked, *a), self.as_vectors(masked, *b));
                LaneValues::Vectors(std::array::from_fn(|i| self.binary(*kind, ty, a[i], b[i], None)))
            }
            Op::Unary(kind, a) => {
                LaneValues::Vectors(self.as_vectors(masked, *a).map(|a| self.unary(*kind, ty, a)))
            }
            // The only function among these multiplies and adds.
            op => {
                let mut args = Vec::new();
                op.for_each_reg(&mut |reg| args.push(reg));
                let args: Vec<_> = args.into_iter().map(|reg| self.as_vectors(masked, reg)).collect();
                LaneValues::Vectors(std::array::from_fn(|i| {
                    self.fused_multiply_add(args[0][i], args[1][i], args[2][i])
                }))
            }
        }
    }

    /// The second where a mask has lanes, elsewhere the third.
    pub(super) fn blend(&mut self, mask: Value, a: Value, b: Value) -> Value {
        let ty = self.b.func.dfg.value_type(a);
        let little = MemFlagsData::new().with_endianness(Endianness::Little);
        let as_they_are = self.b.func.dfg.value_type(mask) == ty;
        let mask = if as_they_are { mask } else { self.b.ins().bitcast(ty, little, mask) };
        self.b.ins().bitselect(mask, a, b)
    }

    /// A register as vectors.
    fn as_vectors(&mut self, masked: &Masked<'_>, reg: Reg) -> [Value; VECTORS] {
        let vector = pair(self.kernel.regs[reg]);
        match masked.values.get(&reg) {
            Some(LaneValues::Vectors(vectors)) => *vectors,
            Some(LaneValues::Mask(mask)) => {
                let one = self.b.ins().iconst(types::I64, 1);
                let ones = self.b.ins().splat(types::I64X2, one);
                mask.map(|mask| self.b.ins().band(mask, ones))
            }
            None if masked.plan.roles.get(&reg) != Some(&Role::Index) => {
                let value = self.reg(reg);
                [self.b.ins().splat(vector, value); VECTORS]
            }
            _ => {
                let lanes = self.lanes(masked, reg);
                std::array::from_fn(|i| {
                    let both = self.b.ins().splat(vector, lanes[2 * i]);
                    self.b.ins().insertlane(both, lanes[2 * i + 1], 1)
                })
            }
        }
    }

    /// A register as a mask: where it is not 0.
    fn mask(&mut self, masked: &Masked<'_>, reg: Reg) -> [Value; VECTORS] {
        if let Some(LaneValues::Mask(mask)) = masked.values.get(&reg) {
            return *mask;
        }
        let zero = self.zero_vector(ScalarType::I64);
        self.as_vectors(masked, reg).map(|numbers| self.b.ins().icmp(IntCC::NotEqual, numbers, zero))
    }

    /// A register lane by lane.
    fn lanes(&mut self, masked: &Masked<'_>, reg: Reg) -> [Value; MAX_LINE_WIDTH] {
        match masked.values.get(&reg) {
            Some(LaneValues::Lanes(lanes)) => *lanes,
            None => {
                let value = self.reg(reg);
                match masked.plan.roles.get(&reg) {
                    Some(Role::Index) => std::array::from_fn(|i| self.b.ins().iadd_imm_s(value, i as i64)),
                    _ => [value; MAX_LINE_WIDTH],
                }
            }
            Some(_) => {
                let vectors = self.as_vectors(masked, reg);
                std::array::from_fn(|i| self.b.ins().extractlane(vectors[i / 2], (i % 2) as u8))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loop_ir::parse;

    #[test]
    fn iterations_that_write_at_two_places_are_not_masked() {
        let planned = |last: &str| {
            let text = format!(
                "array a0: result 0, 8 bytes a slot, 10 slots
var v0: f64
r9: i64 = 10
parallel for r0 < r9
  r1: i64 = 1
  r2: i64 = add r0 r1
  r3: f64 = 0.0
  v0 := r3
  loop @0
    r4: f64 = v0
    r5: f64 = add r4 r3
    r6: f64 = mul r5 r4
    v0 := r6
    r7: i64 = r6 < r3
    if r7
      break @0
  r8: f64 = v0
  a0[r0] <- r8
{last}"
            );
            let kernel = parse::kernel(&text).unwrap();
            match &kernel.body[..] {
                [_, Stmt::ParallelFor { index, body, .. }] => plan(&kernel, *index, body).is_some(),
                other => panic!("{other:?}"),
            }
        };
        assert!(planned(""));
        assert!(!planned("  a0[r2] <- r8"));
    }
}
