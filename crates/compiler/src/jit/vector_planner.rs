//! Analysis of a loop for its [`Plan`]: the role of each register, statement by statement.

use super::emit::has_fma;
use super::induction::Induction;
use super::lane_cost::LaneCost;
use super::lane_ranges::{LaneRanges, divides_lanes};
use super::private_variables::private_variables;
use super::vector_plan::{
    AccumulatorLanes, Extreme, LaneTypes, Plan, Role, compares, divides_by_bits, has_lanes, is_lane, role_in,
    slot_holds,
};
use crate::core::reduction::LANES;
use crate::hash::{HashMap, HashSet};
use crate::loop_ir::accumulator::{Accumulator, ArgExtreme, Member, Recurrences, recurrences};
use crate::loop_ir::promotion::{converts_in_short_lanes, divides_narrow, has_promoted_form};
use crate::loop_ir::{
    Array, Binary, Cast, Compare, Kernel, Op, Reg, ScalarFunction, ScalarType, Stmt, Summand, Unary, Var,
    for_each_stmt, has_vector_form,
};

/// Operations, loads among them, for which lanes are gathered one by one.
const OPERATIONS_PER_GATHER: usize = 4;

/// Operations up to which vectors in flight find registers.
const MAX_VECTOR_OPS: usize = 14;

/// Accumulators up to which four vectors of each are in flight.
const MAX_ACCUMULATORS: usize = 2;

/// Vectors in flight where functions are called with a block of numbers.
const BLOCK_VECTORS: usize = 16;

/// The vectorization of a loop over `index`, if it can be vectorized with lanes of these types;
/// `total` is the operand of a reduction.
pub(super) fn plan(
    kernel: &Kernel,
    index: Reg,
    body: &[Stmt],
    total: Option<Summand>,
    types: LaneTypes,
) -> Option<Plan> {
    let has_control = body.iter().any(|stmt| !stmt.bodies().is_empty());
    let variables = match has_control {
        false => HashSet::default(),
        true if types.are_wide() => private_variables(kernel, body)?,
        true => return None,
    };
    // A variable may be set to what another one holds.
    let mut signaling = HashSet::default();
    loop {
        let mut planner = Planner::new(kernel, index, body, types, (&variables, &signaling))?;
        planner.statements(body)?;
        let found = planner.signaling_variables(body);
        if found.len() == signaling.len() {
            return planner.finish(total);
        }
        signaling = found;
    }
}

/// A plan under construction.
struct Planner<'k> {
    kernel: &'k Kernel,
    types: LaneTypes,
    roles: HashMap<Reg, Role>,
    inductions: HashMap<Reg, Induction>,
    /// The slots that are read and written of arrays that are stored into.
    stored: HashMap<Array, Vec<Reg>>,
    accumulators: Vec<Accumulator>,
    choices: Vec<ArgExtreme>,
    variables: &'k HashSet<Var>,
    uniform: HashSet<Reg>,
    ranges: LaneRanges,
    width: Option<usize>,
    work: usize,
    calls: bool,
    gathers: usize,
    can_fail: bool,
    /// There are integers of 1 or 2 bytes in lanes of 4: beside others that have such lanes, since
    /// narrower lanes are quicker where all are.
    has_short_slots: bool,
    /// Statements around, where some lanes may not be active.
    depth: usize,
    nested_cost: LaneCost,
}

impl<'k> Planner<'k> {
    /// The plan of a loop before its statements are looked at; its own variables, and those of them
    /// that may hold signaling NaNs.
    fn new(
        kernel: &'k Kernel,
        index: Reg,
        body: &[Stmt],
        types: LaneTypes,
        (variables, signaling): (&'k HashSet<Var>, &HashSet<Var>),
    ) -> Option<Planner<'k>> {
        let mut stored: HashMap<Array, Vec<Reg>> = HashMap::default();
        for_each_stmt(body, &mut |stmt| {
            if let Stmt::Store(array, at, _) = stmt {
                stored.entry(*array).or_default().push(*at);
            }
        });
        for_each_stmt(body, &mut |stmt| {
            if let Stmt::Let(_, Op::Load(array, at, _)) = stmt
                && let Some(slots) = stored.get_mut(array)
            {
                slots.push(*at);
            }
        });
        let Recurrences { accumulators, extremes: choices } = recurrences_beside(kernel, body, variables)?;
        if !choices.is_empty() && !types.are_wide() {
            return None;
        }
        let first = Induction { stride: 1, root: index, offset: 0 };
        Some(Planner {
            kernel,
            types,
            roles: HashMap::from_iter([(index, Role::Index)]),
            inductions: HashMap::from_iter([(index, first)]),
            stored,
            accumulators,
            choices,
            variables,
            uniform: HashSet::default(),
            ranges: LaneRanges::of_variables(signaling.clone()),
            width: None,
            work: 0,
            calls: false,
            gathers: 0,
            can_fail: false,
            has_short_slots: false,
            depth: 0,
            nested_cost: LaneCost::default(),
        })
    }

    fn role(&self, reg: &Reg) -> Role {
        role_in(&self.roles, *reg)
    }

    /// Returns true if lanes may have the values of a register.
    fn numbers(&self, reg: &Reg) -> bool {
        has_lanes(self.role(reg), self.types)
    }

    /// Takes lanes of a type: all are equally wide.
    fn lanes(&mut self, ty: ScalarType) -> Option<()> {
        let bytes = ty.bytes();
        if self.types == LaneTypes::Promoted {
            self.width = Some(8);
            return Some(());
        }
        ((bytes >= 4 || self.types == LaneTypes::All) && *self.width.get_or_insert(bytes) == bytes)
            .then_some(())
    }

    fn statements(&mut self, body: &[Stmt]) -> Option<()> {
        body.iter().try_for_each(|stmt| self.statement(stmt))
    }

    fn statement(&mut self, stmt: &Stmt) -> Option<()> {
        if self.depth > 0 || !stmt.bodies().is_empty() {
            self.nested_cost.add_control(stmt);
        }
        match stmt {
            Stmt::Let(reg, op) => self.define(*reg, op),
            Stmt::Store(array, at, value) => self.store(*array, *at, *value),
            Stmt::Set(var, reg) if self.variables.contains(var) => {
                if !self.numbers(reg) {
                    return None;
                }
                self.lanes(self.kernel.regs[*reg])
            }
            // An accumulator.
            Stmt::Set(..) if self.depth == 0 => Some(()),
            Stmt::If(condition, then, otherwise) => {
                // A truth value that is a number has a lane.
                match self.role(condition) {
                    Role::Mask => {}
                    Role::Lanes | Role::Same => self.lanes(self.kernel.regs[*condition])?,
                    _ => return None,
                }
                self.inside(then)?;
                self.inside(otherwise)
            }
            Stmt::For { index, low, high, body, .. } => {
                if self.role(low) != Role::Same || self.role(high) != Role::Same {
                    return None;
                }
                // Its own rounds may be lanes.
                let is_flat = body.iter().all(|stmt| stmt.bodies().is_empty());
                if is_flat && plan(self.kernel, *index, body, None, self.types).is_some() {
                    return None;
                }
                self.lanes(ScalarType::I64)?;
                self.roles.insert(*index, Role::Lanes);
                self.uniform.insert(*index);
                self.inside(body)
            }
            Stmt::Loop(_, body) | Stmt::Block(_, body) => self.inside(body),
            Stmt::Break(_) | Stmt::Continue(_) if self.depth > 0 => Some(()),
            Stmt::Fail if self.depth > 0 => {
                self.can_fail = true;
                Some(())
            }
            _ => None,
        }
    }

    fn inside(&mut self, body: &[Stmt]) -> Option<()> {
        self.depth += 1;
        self.statements(body)?;
        self.depth -= 1;
        Some(())
    }

    /// Adds a register.
    fn define(&mut self, reg: Reg, op: &Op) -> Option<()> {
        if let Some(total) = self.accumulators.iter().find(|total| total.chain.contains(&reg)) {
            if total.new == reg {
                let (ty, fits) = (total.ty, self.accumulates(total));
                self.work += 1;
                if fits? {
                    self.lanes(ty)?;
                }
            }
            self.roles.insert(reg, Role::Total);
            return Some(());
        }
        if self.choices.iter().any(|choice| choice.is_in_chain(reg)) {
            return self.define_choice(reg, op);
        }
        let (kernel, types, ty) = (self.kernel, self.types, self.kernel.regs[reg]);
        let mut same = true;
        op.for_each_reg(&mut |reg| same = same && self.role(&reg) == Role::Same);
        let number = match op {
            Op::Binary(kind, a, b) if ty == ScalarType::I64 => {
                let is_same = |reg| self.role(&reg) == Role::Same;
                Induction::result(kernel, &self.inductions, &is_same, reg, (*kind, *a, *b))
            }
            _ => None,
        };
        let number = number.filter(|number| number.stride == 1 || types.are_wide());
        self.inductions.extend(number.map(|number| (reg, number)));
        let has_form = || {
            let is_small = |reg| self.ranges.is_half(kernel, reg) || self.ranges.is_signed_half(kernel, reg);
            has_promoted_form(kernel, ty, op, is_small)
        };
        if types == LaneTypes::Promoted && !same && !has_form() {
            return None;
        }
        if types.are_wide() {
            let roles = &self.roles;
            self.ranges.define(kernel, reg, op, |reg| role_in(roles, *reg));
        }
        let new = match op {
            Op::Get(var) if self.variables.contains(var) => Role::Lanes,
            Op::Load(array, at, _) => self.load(*array, *at, ty)?,
            // It is computed before the loop, though no round may come to it.
            Op::Binary(kind, ..) if same && self.depth > 0 && kind.is_integer_division() => return None,
            _ if same => Role::Same,
            _ if number.is_some() => Role::Index,
            op => self.operation(reg, op)?,
        };
        match new {
            Role::Lanes => {
                if !self.is_short(op, ty) {
                    self.lanes(ty)?;
                }
                self.work += 1;
            }
            Role::Mask => self.work += 1,
            _ => {}
        }
        if types.are_wide() && ty == ScalarType::I64 {
            self.ranges.define_half(kernel, reg, op, new);
        }
        if self.depth > 0 && matches!(new, Role::Lanes | Role::Mask) {
            let is_gather = |at: &Reg| self.role(at) == Role::Lanes && !self.uniform.contains(at);
            let gathers = matches!(op, Op::Load(_, at, _) if is_gather(at));
            let halves = |reg: &Reg| self.ranges.is_half(kernel, *reg);
            self.nested_cost.add(LaneCost::of(kernel, op, gathers, halves));
        }
        let mut uniform = new == Role::Lanes && !matches!(op, Op::Get(_));
        op.for_each_reg(&mut |reg| {
            uniform = uniform && (self.role(&reg) == Role::Same || self.uniform.contains(&reg));
        });
        if uniform {
            self.uniform.insert(reg);
        }
        self.roles.insert(reg, new);
        Some(())
    }

    /// Takes lanes of 4 bytes for an integer of 1 or 2, of a slot or cut off, which they hold with
    /// its sign extended. Returns false for another number.
    fn is_short(&mut self, op: &Op, ty: ScalarType) -> bool {
        let is_short = match op {
            Op::Load(..) => true,
            Op::Cast(Cast::Truncate, _, from) => self.kernel.regs[*from] == ScalarType::I32,
            _ => false,
        };
        let is_short = is_short && self.types == LaneTypes::Words && ty.bytes() < 4;
        self.has_short_slots |= is_short;
        is_short
    }

    /// Returns true if the lanes of an accumulator are those of its type; `None` if it has none.
    fn accumulates(&self, total: &Accumulator) -> Option<bool> {
        match total.sum_of(self.role(&total.operand)) {
            AccumulatorLanes::Same => {
                let conditional = total.condition.map(|condition| self.role(&condition));
                // Lanes of an integer keep more bits than it has, which no sum of its own bits sees.
                let fits = self.types != LaneTypes::Promoted || total.ty.bytes() == 8 || !total.ty.is_float();
                let joins = total.joins_lanes(self.types, conditional);
                (fits && joins && self.numbers(&total.operand)).then_some(true)
            }
            // Counts are as wide as what is compared, and joined before they are full.
            AccumulatorLanes::Count => Some(false),
            AccumulatorLanes::Sum { .. } => (self.types == LaneTypes::All).then_some(false),
        }
    }

    /// Adds a register of an extreme with companions.
    fn define_choice(&mut self, reg: Reg, op: &Op) -> Option<()> {
        self.work += 1;
        if let Op::Select(_, operand, _) = op {
            let is_extreme = self.choices.iter().any(|choice| choice.members[0].new == reg);
            // A number that is not NaN is no signaling one.
            if !self.numbers(operand) || !is_extreme && self.may_signal(*operand) {
                return None;
            }
            self.lanes(self.kernel.regs[reg])?;
        }
        let role = if matches!(op, Op::Compare(..)) { Role::Mask } else { Role::Total };
        self.roles.insert(reg, role);
        Some(())
    }

    /// Returns true if lanes would change a float of 4 bytes that is copied: a signaling NaN would
    /// become a quiet one.
    fn may_signal(&self, reg: Reg) -> bool {
        self.types == LaneTypes::Promoted && self.ranges.may_signal(self.kernel, reg, |reg| self.role(reg))
    }

    /// The role of what is read from a slot.
    fn load(&mut self, array: Array, at: Reg, ty: ScalarType) -> Option<Role> {
        let (types, width) = (self.types, self.kernel.arrays[array].width);
        match self.role(&at) {
            Role::Same if self.depth == 0 => Some(Role::Same),
            Role::Index => {
                let stride = self.inductions[&at].stride;
                let fits = match self.depth {
                    0 => is_lane(width, ty, types, stride),
                    // Any lanes may be active.
                    _ => stride == 1 && usize::from(width) == ty.bytes() && width == 8,
                };
                if !fits {
                    return None;
                }
                // A short slot is asked for its lanes by what defines the register.
                if ty.bytes() >= 4 || types != LaneTypes::Words {
                    self.lanes(ty)?;
                }
                Some(Role::Lanes)
            }
            // One slot for all lanes.
            Role::Lanes | Role::Same if self.role(&at) == Role::Same || self.uniform.contains(&at) => {
                self.lanes(ty)?;
                (types == LaneTypes::Words && self.width == Some(width.into()) && ty.bytes() == 8)
                    .then_some(Role::Lanes)
            }
            // Slots anywhere, whose numbers are lanes.
            Role::Lanes if types.are_wide() && ty.bytes() == 8 && slot_holds(width, ty, types) => {
                self.gathers += 1;
                Some(Role::Lanes)
            }
            _ => None,
        }
    }

    /// The role of the result of an operation that differs in lanes.
    fn operation(&mut self, reg: Reg, op: &Op) -> Option<Role> {
        let (kernel, types, ty) = (self.kernel, self.types, self.kernel.regs[reg]);
        Some(match op {
            Op::Binary(kind, a, b) => match (kind, self.role(a), self.role(b)) {
                (Binary::And | Binary::Or, Role::Mask, Role::Mask) => Role::Mask,
                _ if !self.numbers(a) || !self.numbers(b) => return None,
                (Binary::Add | Binary::Sub | Binary::And | Binary::Or | Binary::Xor, ..) => Role::Lanes,
                (Binary::Mul | Binary::DivFloat | Binary::Min | Binary::Max, ..) if ty.is_float() => {
                    Role::Lanes
                }
                (Binary::Mul, ..) => Role::Lanes,
                _ if kind.is_integer_division() => {
                    let divisor = *kernel.constants.get(b)?;
                    if types == LaneTypes::All {
                        return divides_by_bits(*kind, divisor).then_some(Role::Lanes);
                    }
                    let divides = match ty {
                        ScalarType::I64 => divides_lanes(*kind, self.ranges.is_half(kernel, *a), divisor),
                        _ => divides_narrow(*kind, ty, divisor),
                    };
                    if !divides || ty.bytes() < 8 && types != LaneTypes::Promoted {
                        return None;
                    }
                    Role::Lanes
                }
                // The machine takes the number of places as it is, not modulo the bits.
                (Binary::Shl | Binary::Shr, _, Role::Same)
                    if kernel.constants.get(b).is_some_and(|n| *n < 8 * ty.bytes() as u64) =>
                {
                    Role::Lanes
                }
                _ => return None,
            },
            Op::Unary(Unary::PopCount, a)
                if types.are_wide()
                    && ty == ScalarType::I64
                    && self.numbers(a)
                    && kernel.target.has_population_count =>
            {
                Role::Lanes
            }
            Op::Unary(Unary::PopCount | Unary::TrailingZeros, _) => return None,
            Op::Unary(_, a) if self.numbers(a) => Role::Lanes,
            Op::Unary(..) => return None,
            // `not`
            Op::Compare(Compare::Eq, a, b)
                if self.role(a) == Role::Mask && kernel.constants.get(b) == Some(&0) =>
            {
                Role::Mask
            }
            Op::Compare(kind, a, b) => {
                let from = kernel.regs[*a];
                let compared = from.is_float() || compares(types, *kind, from);
                if !self.numbers(a) || !self.numbers(b) || !compared {
                    return None;
                }
                self.lanes(from)?;
                Role::Mask
            }
            Op::Select(c, a, b) => match self.role(c) {
                _ if !self.numbers(a) || !self.numbers(b) => return None,
                Role::Mask => Role::Lanes,
                // A truth value that is a number has a lane.
                Role::Lanes | Role::Same if types.are_wide() => {
                    self.lanes(kernel.regs[*c])?;
                    Role::Lanes
                }
                _ => return None,
            },
            Op::Call(f, args) => {
                let plain = args.iter().all(|arg| matches!(self.role(arg), Role::Same | Role::Lanes));
                let has_form = if *f == ScalarFunction::Fma { has_fma() } else { has_vector_form(*f) };
                if !plain || !has_form {
                    return None;
                }
                self.calls |= *f != ScalarFunction::Fma;
                Role::Lanes
            }
            Op::Cast(cast, to, a)
                if types == LaneTypes::Words
                    && converts_in_short_lanes(*cast, kernel.regs[*a], *to)
                    && self.numbers(a) =>
            {
                Role::Lanes
            }
            // The low bits of the index, or of a multiple of it.
            Op::Cast(Cast::Truncate, ScalarType::I32, a)
                if types == LaneTypes::Words && self.role(a) == Role::Index =>
            {
                Role::Lanes
            }
            Op::Cast(Cast::SignedToFloat | Cast::UnsignedToFloat | Cast::FloatToSigned, _, a)
                if types.are_wide() && self.numbers(a) =>
            {
                self.lanes(kernel.regs[*a])?;
                // There are conversions between lanes of 8 bytes.
                self.lanes(ScalarType::I64)?;
                Role::Lanes
            }
            Op::Cast(Cast::FloatToBits, _, a) if types.are_wide() && self.numbers(a) => {
                self.lanes(kernel.regs[*a])?;
                Role::Lanes
            }
            Op::Cast(_, _, a) if types == LaneTypes::Promoted && self.numbers(a) => Role::Lanes,
            // Each lane by itself: there is no instruction for all that every processor has.
            Op::Cast(Cast::SignedToFloat, _, a) if types == LaneTypes::All && self.role(a) == Role::Index => {
                Role::Lanes
            }
            Op::Cast(kind @ (Cast::ZeroExtend | Cast::SignExtend), ScalarType::I64, a)
                if types == LaneTypes::All && self.role(a) == Role::Lanes =>
            {
                Role::Extended { signed: *kind == Cast::SignExtend }
            }
            Op::Cast(..) => return None,
            Op::Load(..) | Op::Const(..) | Op::Size(_) | Op::Scalar(_) | Op::Get(_) => Role::Same,
        })
    }

    fn store(&mut self, array: Array, at: Reg, value: Reg) -> Option<()> {
        let (ty, width) = (self.kernel.regs[value], self.kernel.arrays[array].width);
        let fits = |stride| is_lane(width, ty, self.types, stride) && (stride == 1 || self.depth == 0);
        let at = self.inductions.get(&at)?;
        if !fits(at.stride) || !self.numbers(&value) || self.may_signal(value) {
            return None;
        }
        if self.types == LaneTypes::Words && ty.bytes() < 4 {
            self.has_short_slots = true;
            return Some(());
        }
        self.lanes(ty)
    }

    /// The variables that may be set to signaling NaNs.
    fn signaling_variables(&self, body: &[Stmt]) -> HashSet<Var> {
        let mut found = HashSet::default();
        if !self.variables.is_empty() {
            for_each_stmt(body, &mut |stmt| {
                if let Stmt::Set(var, reg) = stmt
                    && self.may_signal(*reg)
                {
                    found.insert(*var);
                }
            });
        }
        found
    }

    /// The plan, all statements having been looked at.
    fn finish(self, total: Option<Summand>) -> Option<Plan> {
        let Planner { roles, inductions, accumulators, work, uniform, ranges, can_fail, nested_cost, .. } =
            self;
        // Different rounds read and write different slots of an array that is stored into.
        for slots in self.stored.values() {
            for (i, a) in slots.iter().enumerate() {
                for b in &slots[..i] {
                    let (a, b) = (inductions.get(a)?, inductions.get(b)?);
                    if a != b && !a.is_apart_from(*b) {
                        return None;
                    }
                }
            }
        }
        if self.has_short_slots && self.width != Some(4) || work < OPERATIONS_PER_GATHER * self.gathers {
            return None;
        }
        let grows = |member: &Member| inductions.get(&member.operand).is_some_and(|number| number.stride > 0);
        let placed = |choice: ArgExtreme| {
            let place = choice.members.iter().position(grows)?;
            Some(Extreme { choice, place })
        };
        let extremes: Vec<Extreme> = self.choices.into_iter().map(placed).collect::<Option<_>>()?;
        let unroll = if let Some(total) = total {
            let lanes = |reg: Reg| roles.get(&reg) == Some(&Role::Lanes);
            if !total.regs().all(lanes) || matches!(total, Summand::Product(..)) && !has_fma() {
                return None;
            }
            LANES * self.width? / 16
        } else if self.stored.is_empty() && accumulators.is_empty() && extremes.is_empty() {
            return None;
        } else if self.calls {
            BLOCK_VECTORS
        } else if work <= MAX_VECTOR_OPS && accumulators.len() <= MAX_ACCUMULATORS {
            4
        } else {
            2
        };
        let width = self.width?;
        let mut variables: Vec<Var> = self.variables.iter().copied().collect();
        variables.sort_unstable();
        Some(Plan {
            roles,
            width,
            unroll,
            accumulators,
            extremes,
            variables,
            can_fail,
            nested_cost,
            uniform,
            ranges,
            inductions,
        })
    }
}

/// The recurrences of a loop whose rounds have variables of their own: no statement inside others
/// reads or sets what they are made of.
fn recurrences_beside(kernel: &Kernel, body: &[Stmt], variables: &HashSet<Var>) -> Option<Recurrences> {
    let is_flat = |stmt: &Stmt| match stmt {
        Stmt::Let(_, Op::Get(var)) | Stmt::Set(var, _) => !variables.contains(var),
        _ => stmt.bodies().is_empty(),
    };
    if body.iter().all(is_flat) {
        return recurrences(kernel, body);
    }
    let flat: Vec<Stmt> = body.iter().filter(|stmt| is_flat(stmt)).cloned().collect();
    let found = recurrences(kernel, &flat)?;
    let mut apart = true;
    let is_joined = |reg: Reg| {
        let total = found.accumulators.iter().any(|total| total.chain.contains(&reg));
        total || found.extremes.iter().any(|extreme| extreme.is_in_chain(reg))
    };
    for stmt in body.iter().filter(|stmt| !stmt.bodies().is_empty()) {
        for_each_stmt(std::slice::from_ref(stmt), &mut |inner| {
            inner.for_each_read(&mut |reg| apart &= !is_joined(reg));
            if let Stmt::Let(_, Op::Get(var)) | Stmt::Set(var, _) = inner {
                let is_set = |stmt: &Stmt| matches!(stmt, Stmt::Set(other, _) if other == var);
                apart &= variables.contains(var) || !flat.iter().any(is_set);
            }
        });
    }
    apart.then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loop_ir::parse;

    /// The kernel of a loop over the index `r9`: a statement between two semicolons.
    fn kernel(body: &str) -> Kernel {
        let body: String = body.split(';').map(|line| format!("\n  {}", line.trim())).collect();
        let text = format!(
            "array a0: result 0, 8 bytes a slot, 4000 slots
array a1: input 0, 8 bytes a slot, 4000 slots
array a2: input 1, 4 bytes a slot, 4000 slots
array a3: result 1, 4 bytes a slot, 4000 slots
r0: i64 = 0
r1: i64 = 1
r2: i64 = 2
r3: i64 = 7
r4: i64 = 1000
parallel for r9 < r4{body}"
        );
        parse::kernel(&text).unwrap()
    }

    fn planned(kernel: &Kernel, types: LaneTypes) -> Option<Plan> {
        kernel.body.iter().find_map(|stmt| match stmt {
            Stmt::ParallelFor { index, body, .. } => plan(kernel, *index, body, None, types),
            _ => None,
        })
    }

    /// True for a plan with lanes of words, and true for one with lanes of any size.
    fn plans(body: &str) -> (bool, bool) {
        let kernel = kernel(body);
        let has = |types| planned(&kernel, types).is_some();
        (has(LaneTypes::Words), has(LaneTypes::All))
    }

    #[test]
    fn slots_of_different_rounds_are_apart() {
        let both = (true, true);
        assert_eq!(plans("r10: i64 = a1[r9]; a0[r9] <- r10"), both);
        // An array that is written is read at the same slot, or not at all.
        assert_eq!(plans("r10: i64 = a0[r9]; r11: i64 = add r10 r3; a0[r9] <- r11"), both);
        let next = "r10: i64 = add r9 r1; r11: i64 = a0[r10]; a0[r9] <- r11";
        assert_eq!(plans(next), (false, false));
        assert_eq!(plans("r10: i64 = a0[r0]; a0[r9] <- r10"), (false, false), "a slot of all rounds");
        assert_eq!(plans("r10: i64 = a1[r9]; a0[r3] <- r10"), (false, false), "one slot is stored into");
    }

    #[test]
    fn slots_at_a_distance_have_lanes_of_words() {
        let words = (true, false);
        let fields = "r10: i64 = mul r9 r2; r11: i64 = add r10 r1; r12: i64 = a1[r11]; r13: i64 = a1[r10]";
        assert_eq!(plans(&format!("{fields}; a0[r10] <- r12; a0[r11] <- r13")), words);
        // The distance of the stores is that of two rounds.
        let two = "r14: i64 = add r10 r2; a0[r10] <- r12; a0[r14] <- r13";
        assert_eq!(plans(&format!("{fields}; {two}")), (false, false));
        assert_eq!(plans("r10: i64 = sub r4 r9; r11: i64 = a1[r10]; a0[r9] <- r11"), words, "backward");
        let narrow = "r10: i64 = mul r9 r2; r11: i64 = a2[r10]; a0[r9] <- r11";
        assert_eq!(plans(narrow), (false, false), "narrow slots lie side by side");
    }

    #[test]
    fn strides_are_sums_and_products() {
        let kernel = kernel(
            "r10: i64 = mul r9 r3; r11: i64 = sub r10 r9; r12: i64 = shl r11 r2; r13: i64 = sub r4 r12;
            r14: i64 = a1[r13]; a0[r9] <- r14",
        );
        let plan = planned(&kernel, LaneTypes::Words).unwrap();
        let strides: Vec<i64> = (9..14).map(|reg| plan.stride(Reg::new(reg))).collect();
        assert_eq!(strides, [1, 7, 6, 24, -24]);
    }

    #[test]
    fn divisions_by_constants_have_lanes_of_words() {
        let divided = |op: &str| plans(&format!("r10: i64 = a1[r9]; r11: i64 = {op}; a0[r9] <- r11"));
        assert_eq!(divided("div_signed r10 r3"), (true, false));
        assert_eq!(divided("rem_signed r10 r4"), (true, false));
        assert_eq!(divided("div_signed r10 r10"), (false, false), "by what differs");
        // Without a sign, of 32 bits only.
        assert_eq!(divided("div_unsigned r10 r3"), (false, false));
        let narrow = "r10: i64 = a2[r9]; r11: i64 = div_unsigned r10 r3; a0[r9] <- r11";
        assert_eq!(plans(narrow), (true, false));
    }

    #[test]
    fn numbers_of_fewer_bytes_are_promoted() {
        let promoted = |body: &str| planned(&kernel(body), LaneTypes::Promoted).is_some();
        let single = "r10: f32 = a2[r9]";
        let double = "r11: f64 = a1[r9]";
        assert_eq!(plans(&format!("{single}; r12: f64 = float_to_float r10; a0[r9] <- r12")), (false, false));
        assert!(promoted(&format!("{single}; r12: f64 = float_to_float r10; a0[r9] <- r12")));
        let sum = "r12: f32 = float_to_float r11; r13: f32 = add r10 r12";
        assert!(promoted(&format!(
            "{single}; {double}; {sum}; r14: f64 = float_to_float r13; a0[r9] <- r14"
        )));
        let fused = "r12: f32 = float_to_float r11; r13: f32 = call fma(r10, r12, r10)";
        let stored = "r14: f64 = float_to_float r13; a0[r9] <- r14";
        assert!(!promoted(&format!("{single}; {double}; {fused}; {stored}")), "rounded twice");
        let converted = |from: &str| {
            promoted(&format!(
                "{from}; r12: f32 = signed_to_float r10; {double}; r13: f64 = float_to_float r12; r14: f64 = add r11 r13; a0[r9] <- r14"
            ))
        };
        assert!(converted("r10: i32 = a2[r9]"));
        assert!(converted("r10: i64 = a2[r9]"), "an integer below 2^32");
        assert!(!converted("r10: i64 = a1[r9]"), "an integer of more bits than a float has");
    }

    #[test]
    fn copies_of_floats_keep_signaling_nans() {
        let copied = |value: &str| {
            let chosen = "r12: i64 = r11 < r4; r13: f32 = neg r10; r14: f32 = add r10 r13; r15: f32 = select r12 r13 r14";
            let body = format!(
                "r10: f32 = a2[r9]; r11: i64 = a1[r9]; {chosen}; r16: f32 = sub r15 r10; a3[r9] <- {value}"
            );
            planned(&kernel(&body), LaneTypes::Promoted).is_some()
        };
        let values = ["r10", "r13", "r14", "r15", "r16"];
        assert_eq!(values.map(copied), [false, false, true, false, true]);
    }
}
