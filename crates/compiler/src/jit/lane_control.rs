//! Control flow in lanes: branches, and loops inside a round, of loops that are vectorized with
//! AVX-512 or AVX2.
//!
//! The number of steps until an orbit leaves a circle, or until Newton's method ends, differs from
//! round to round. A mask says which lanes are active.
//!
//! **Method** (Allen et al., *Conversion of control dependence to data dependence*, 1983; Pharr and
//! Mark, *ispc: a SPMD compiler for high-performance CPU programming*, 2012). A variable of a round
//! has a register of its own, which is set in active lanes only. Of a branch, each side runs with
//! the lanes for which its condition holds. Lanes that leave a loop or a block are taken out of the
//! mask, and come back where that construct ends; a loop runs as long as there are active lanes.
//!
//! **Which code is skipped** when no lane is active: that of a side that is long or reads slots, and
//! what follows a statement by which lanes leave. Elsewhere operations run for no lane, which is
//! harmless: they do not fail, and change nothing.
//!
//! **Registers.** Where control flow meets, values are where they were before. So before a loop,
//! and before a side that may be skipped, the values that are in registers are also written to
//! memory ([`Loop::checkpoint`]), and are read again after it. Masks of AVX-512, variables and
//! indices have registers that do not change.
//!
//! **Interrupts** are polled in each round of an inner loop; the function is left, and its caller
//! polls again.

use super::asm_x64::{Arithmetic, Assembler, ForwardJump, Lane, Mask, Vector};
use super::private_variables::escapes;
use super::vector_operations::compare;
use super::vector_plan::Role;
use super::vector_registers::{Checkpoint, Loop, Place, Registers, Word};
use crate::loop_ir::{Compare, Isa, Label, Op, Reg, Stmt, Var, for_each_stmt};

/// Statements of a side of a branch up to which it is not skipped.
const MAX_UNSKIPPED: usize = 12;

/// Jumps out of a function.
#[derive(Default)]
pub(super) struct Exits {
    /// Jumps of a run that is stopped.
    pub(super) stopped: Vec<ForwardJump>,
    /// Jumps of a round that fails.
    pub(super) failed: Vec<ForwardJump>,
}

/// The state of the lanes while a round is written.
pub(super) struct Execution<'e> {
    /// The number of the vector in an iteration.
    pub(super) part: usize,
    /// The active lanes; all if there is no mask. Inside a statement it is a register that nothing
    /// else holds.
    pub(super) active: Option<Mask>,
    /// The number of the next statement.
    pub(super) at: usize,
    /// Loops and blocks around, outer ones first.
    constructs: Vec<Construct>,
    /// The jumps to where control goes when no lane is active, outer ones first; `None` where code
    /// goes on.
    skips: Vec<Option<Vec<ForwardJump>>>,
    exits: &'e mut Exits,
}

/// The registers of the index of an inner loop, of its first value, and of the bound of it.
type Range = (Reg, Reg, Reg);

/// A loop or block around.
struct Construct {
    label: Label,
    /// The lanes around, in memory if the mask of the active lanes is the same register.
    outer: Option<usize>,
    /// The lanes that come back where it ends, in memory, if some that have entered it do not.
    left: Option<usize>,
    /// The lanes that wait for the next round, in memory, if any do.
    waiting: Option<usize>,
}

impl<'e> Execution<'e> {
    /// The state before a round.
    pub(super) fn new(part: usize, active: Option<Mask>, exits: &'e mut Exits) -> Execution<'e> {
        Execution { part, active, at: 0, constructs: Vec::new(), skips: Vec::new(), exits }
    }

    /// Begins the next statement, or the end of one.
    fn begin(&mut self, registers: &mut Registers) {
        registers.begin(self.at);
        self.at += 1;
    }

    /// Ends statements that can be skipped; gives the jumps over them.
    fn end_skipped(&mut self) -> Vec<ForwardJump> {
        self.skips.pop().flatten().expect("statements that can be skipped have a list of jumps")
    }
}

/// Returns true for a side of a branch that runs even if no lane takes it.
fn is_unskipped(stmts: &[Stmt]) -> bool {
    let (mut count, mut plain) = (0, true);
    for_each_stmt(stmts, &mut |stmt| {
        count += 1;
        plain &=
            !matches!(stmt, Stmt::Let(_, Op::Load(..)) | Stmt::For { .. } | Stmt::Loop(..) | Stmt::Block(..));
    });
    plain && count <= MAX_UNSKIPPED
}

/// The statement of a side of a branch that does nothing but leave or fail.
fn only_leaves(stmts: &[Stmt]) -> Option<&Stmt> {
    match stmts {
        [leave @ (Stmt::Break(_) | Stmt::Continue(_) | Stmt::Fail)] => Some(leave),
        _ => None,
    }
}

impl Loop<'_> {
    /// A statement with others inside, or one that reads, sets or leaves what a round has of its
    /// own.
    pub(super) fn control(
        &mut self,
        asm: &mut Assembler,
        registers: &mut Registers,
        run: &mut Execution<'_>,
        stmt: &Stmt,
    ) -> Option<()> {
        match stmt {
            Stmt::Let(reg, Op::Get(var)) => self.get(asm, registers, *reg, *var),
            Stmt::Set(var, reg) => {
                let (from, to, lane) =
                    (self.vector(asm, registers, *reg)?, self.variable(*var), self.lane(*reg));
                match run.active {
                    Some(active) if registers.nested => asm.blend(lane, to, active, (from, to)),
                    _ => asm.copy(to, from),
                }
                self.release(registers, &[*reg], &[from]);
                Some(())
            }
            Stmt::If(condition, then, otherwise) => {
                self.branch(asm, registers, run, *condition, (then, otherwise))
            }
            Stmt::For { label, index, low, high, body } => {
                self.repeat(asm, registers, run, stmt, (*label, Some((*index, *low, *high)), body))
            }
            Stmt::Loop(label, body) => self.repeat(asm, registers, run, stmt, (*label, None, body)),
            Stmt::Block(label, body) => self.block(asm, registers, run, stmt, (*label, body)),
            Stmt::Break(_) | Stmt::Continue(_) => {
                let active = run.active?;
                self.leave(asm, registers, run, stmt, active)?;
                asm.mask_none(active);
                if let Some(Some(skips)) = run.skips.last_mut() {
                    skips.push(asm.jump());
                }
                Some(())
            }
            Stmt::Fail => {
                match run.active {
                    Some(active) => run.exits.failed.push(asm.jump_if_any(active, self.lanes())),
                    None => run.exits.failed.push(asm.jump()),
                }
                Some(())
            }
            _ => None,
        }
    }

    /// A register with the present value of a variable: that of the variable if it is not set as
    /// long as the register is read, else a copy.
    fn get(&mut self, asm: &mut Assembler, registers: &mut Registers, reg: Reg, var: Var) -> Option<()> {
        let from = self.variable(var);
        let last = *self.reads[&reg].last().expect("a register is set by a statement");
        let is_set =
            self.sets.get(&var).is_some_and(|sets| sets.iter().any(|at| (registers.at..last).contains(at)));
        let vector = match is_set {
            false => from,
            true => {
                let copy = self.take(asm, registers)?;
                asm.copy(copy, from);
                copy
            }
        };
        registers.places.insert(reg, Place::Vector(vector));
        self.free(registers, &[reg]);
        Some(())
    }

    /// Notes the lanes that leave a construct, or go on with it.
    fn leave(
        &mut self,
        asm: &mut Assembler,
        registers: &mut Registers,
        run: &Execution<'_>,
        stmt: &Stmt,
        lanes: Mask,
    ) -> Option<()> {
        let (label, leaves) = match stmt {
            Stmt::Break(label) => (label, true),
            Stmt::Continue(label) => (label, false),
            _ => return None,
        };
        let construct = run.constructs.iter().find(|construct| construct.label == *label)?;
        match if leaves { construct.left } else { construct.waiting } {
            Some(into) => self.add_lanes(asm, registers, into, lanes),
            None => Some(()),
        }
    }

    /// Adds lanes to a mask in memory.
    fn add_lanes(
        &mut self,
        asm: &mut Assembler,
        registers: &mut Registers,
        into: usize,
        lanes: Mask,
    ) -> Option<()> {
        let all = self.take_mask(asm, registers)?;
        asm.reload_mask(all, into);
        asm.mask_or(all, all, lanes);
        asm.spill_mask(into, all);
        registers.give_mask(all);
        Some(())
    }

    /// Skips what follows if no lane is active.
    fn skip_if_none(&mut self, asm: &mut Assembler, run: &mut Execution<'_>) {
        let lanes = self.lanes();
        if let (Some(Some(skips)), Some(active)) = (run.skips.last_mut(), run.active) {
            skips.push(asm.jump_if_none(active, lanes));
        }
    }

    fn branch(
        &mut self,
        asm: &mut Assembler,
        registers: &mut Registers,
        run: &mut Execution<'_>,
        condition: Reg,
        (then, otherwise): (&[Stmt], &[Stmt]),
    ) -> Option<()> {
        let mask = self.condition(asm, registers, condition)?;
        let holds = mask.mask;
        let leaving = match (only_leaves(then), only_leaves(otherwise)) {
            (Some(leave), None) if otherwise.is_empty() => Some((leave, true)),
            (None, Some(leave)) if then.is_empty() => Some((leave, false)),
            _ => None,
        };
        if let Some((leave, if_true)) = leaving {
            let gone = self.lanes_of_side(asm, registers, run.active, (holds, if_true))?;
            if *leave == Stmt::Fail {
                run.exits.failed.push(asm.jump_if_any(gone, self.lanes()));
            } else {
                let active = run.active?;
                self.leave(asm, registers, run, leave, gone)?;
                asm.mask_and_not(active, gone, active);
            }
            registers.give_mask(gone);
            self.end_condition(registers, condition, mask.own);
            run.at += 1;
            run.begin(registers);
            if *leave != Stmt::Fail {
                self.skip_if_none(asm, run);
            }
            return Some(());
        }
        let exits = !escapes(then).is_empty() || !escapes(otherwise).is_empty();
        // The lanes of each side; of one that does nothing they are needed where some leave.
        let mut sides = Vec::new();
        for (stmts, if_true) in [(then, true), (otherwise, false)] {
            if stmts.is_empty() && !exits {
                continue;
            }
            sides.push((stmts, self.lanes_of_side(asm, registers, run.active, (holds, if_true))?));
        }
        self.end_condition(registers, condition, mask.own);
        let (outer, nested) = (run.active, registers.nested);
        registers.nested = true;
        for (stmts, lanes) in &sides {
            run.active = Some(*lanes);
            if is_unskipped(stmts) {
                run.skips.push(None);
                self.statements(asm, registers, run, stmts)?;
                run.skips.pop();
                continue;
            }
            let checkpoint = self.checkpoint(asm, registers)?;
            run.skips.push(Some(vec![asm.jump_if_none(*lanes, self.lanes())]));
            self.statements(asm, registers, run, stmts)?;
            for skip in run.end_skipped() {
                asm.patch_jump(skip);
            }
            // The last statement of the side: the next one may read what is restored.
            registers.begin(run.at - 1);
            self.restore(registers, &checkpoint);
        }
        registers.nested = nested;
        run.active = outer;
        run.begin(registers);
        if let (Some(active), true, [(_, yes), (_, no)]) = (outer, exits, &sides[..]) {
            asm.mask_or(active, *yes, *no);
        }
        for (_, lanes) in sides {
            registers.give_mask(lanes);
        }
        if exits {
            self.skip_if_none(asm, run);
        }
        Some(())
    }

    /// A mask of the active lanes in which a condition holds, or does not.
    fn lanes_of_side(
        &mut self,
        asm: &mut Assembler,
        registers: &mut Registers,
        active: Option<Mask>,
        (holds, if_true): (Mask, bool),
    ) -> Option<Mask> {
        let lanes = self.take_mask(asm, registers)?;
        match (active, if_true) {
            (Some(active), true) => asm.mask_and(lanes, active, holds),
            (Some(active), false) => asm.mask_and_not(lanes, holds, active),
            (None, true) => asm.mask_or(lanes, holds, holds),
            (None, false) => asm.mask_not(lanes, holds),
        }
        Some(lanes)
    }

    /// Gives back the mask of a condition, and the condition if nobody reads it any more.
    fn end_condition(&mut self, registers: &mut Registers, condition: Reg, own: Option<Mask>) {
        if let Some(own) = own {
            registers.give_mask(own);
        }
        self.free(registers, &[condition]);
    }

    /// The mask of the active lanes of a construct, which are those around, and its state.
    fn enter(
        &mut self,
        asm: &mut Assembler,
        registers: &mut Registers,
        run: &Execution<'_>,
        (stmt, label): (&Stmt, Label),
    ) -> Option<(Mask, Construct)> {
        let mut waits = false;
        for_each_stmt(std::slice::from_ref(stmt), &mut |stmt| {
            waits |= matches!(stmt, Stmt::Continue(target) if *target == label);
        });
        let escaping = !escapes(std::slice::from_ref(stmt)).is_empty();
        // A mask that nothing else holds stays in its register.
        let (active, outer) = match run.active.filter(|_| registers.nested) {
            Some(active) => {
                let outer = if escaping { None } else { Some(self.reserve_memory(registers)?) };
                if let Some(outer) = outer {
                    asm.spill_mask(outer, active);
                }
                (active, outer)
            }
            None => {
                let active = self.take_mask(asm, registers)?;
                match run.active {
                    Some(lanes) => asm.mask_or(active, lanes, lanes),
                    None => asm.mask_all(active),
                }
                (active, None)
            }
        };
        let mut none = |needed: bool| -> Option<Option<usize>> {
            if !needed {
                return Some(None);
            }
            let (number, mask) = (self.reserve_memory(registers)?, self.take_mask(asm, registers)?);
            asm.mask_none(mask);
            asm.spill_mask(number, mask);
            registers.give_mask(mask);
            Some(Some(number))
        };
        let (left, waiting) = (none(escaping)?, none(waits)?);
        Some((active, Construct { label, outer, left, waiting }))
    }

    /// The statements of a construct; gives it with the jumps to where no lane is active.
    fn body(
        &mut self,
        asm: &mut Assembler,
        registers: &mut Registers,
        run: &mut Execution<'_>,
        (active, construct): (Mask, Construct),
        body: &[Stmt],
    ) -> Option<(Construct, Vec<ForwardJump>)> {
        let (outer, nested) = (run.active, registers.nested);
        run.constructs.push(construct);
        run.skips.push(Some(Vec::new()));
        (run.active, registers.nested) = (Some(active), true);
        self.statements(asm, registers, run, body)?;
        (run.active, registers.nested) = (outer, nested);
        let skips = run.end_skipped();
        Some((run.constructs.pop().expect("it was added before its statements"), skips))
    }

    /// The end of a construct: lanes that have left it are active again.
    fn end(
        &mut self,
        asm: &mut Assembler,
        registers: &mut Registers,
        run: &mut Execution<'_>,
        active: Mask,
        construct: &Construct,
    ) {
        let Construct { outer, left, waiting, .. } = construct;
        match left.or(*outer) {
            Some(lanes) => asm.reload_mask(active, lanes),
            None => registers.give_mask(active),
        }
        for number in [outer, left, waiting].into_iter().copied().flatten() {
            registers.release_memory(number);
        }
        if left.is_some() {
            self.skip_if_none(asm, run);
        }
    }

    /// A loop inside: over a range that is the same in all lanes, or until all have left.
    fn repeat(
        &mut self,
        asm: &mut Assembler,
        registers: &mut Registers,
        run: &mut Execution<'_>,
        stmt: &Stmt,
        (label, range, body): (Label, Option<Range>, &[Stmt]),
    ) -> Option<()> {
        let (active, construct) = self.enter(asm, registers, run, (stmt, label))?;
        let counter = match range {
            Some((_, low, _)) => {
                let first = self.vector(asm, registers, low)?;
                let counter = self.take(asm, registers)?;
                asm.copy(counter, first);
                self.release(registers, &[low], &[first]);
                registers.fixed.push(counter);
                Some(counter)
            }
            None => None,
        };
        let checkpoint = self.checkpoint(asm, registers)?;
        let head = asm.offset();
        let stop = self.word(Word::Stop);
        run.exits.stopped.push(asm.jump_if_set(stop));
        let mut ends = Vec::new();
        if let (Some((index, _, high)), Some(counter)) = (range, counter) {
            registers.places.insert(index, Place::Vector(counter));
            let bound = self.vector(asm, registers, high)?;
            let more = self.take_mask(asm, registers)?;
            compare(asm, Lane::I64, more, (counter, bound), Compare::Lt);
            if let Some(left) = construct.left {
                let over = self.take_mask(asm, registers)?;
                asm.mask_and_not(over, more, active);
                self.add_lanes(asm, registers, left, over)?;
                registers.give_mask(over);
            }
            asm.mask_and(active, active, more);
            registers.give_mask(more);
            self.release(registers, &[high], &[bound]);
            ends.push(asm.jump_if_none(active, self.lanes()));
        }
        let waiting = construct.waiting;
        let (construct, skips) = self.body(asm, registers, run, (active, construct), body)?;
        match waiting {
            // No lane is active there.
            None => ends.extend(skips),
            Some(waiting) => {
                for skip in skips {
                    asm.patch_jump(skip);
                }
                self.restore(registers, &checkpoint);
                let lanes = self.take_mask(asm, registers)?;
                asm.reload_mask(lanes, waiting);
                asm.mask_or(active, active, lanes);
                asm.mask_none(lanes);
                asm.spill_mask(waiting, lanes);
            }
        }
        run.begin(registers);
        self.restore(registers, &checkpoint);
        match counter {
            Some(counter) => {
                self.advance(asm, registers, counter)?;
                asm.jump_back(head);
            }
            None if waiting.is_some() => asm.jump_back_if_any(active, self.lanes(), head),
            // Statements that no lane goes through have been skipped.
            None => asm.jump_back(head),
        }
        for end in ends {
            asm.patch_jump(end);
        }
        if let (Some((index, ..)), Some(counter)) = (range, counter) {
            registers.places.remove(&index);
            registers.fixed.retain(|vector| *vector != counter);
            registers.vectors.push(counter);
        }
        self.end(asm, registers, run, active, &construct);
        Some(())
    }

    /// Adds 1 to the index of an inner loop.
    fn advance(&mut self, asm: &mut Assembler, registers: &mut Registers, counter: Vector) -> Option<()> {
        let step = self.take(asm, registers)?;
        self.constant(asm, Lane::I64, step, 1);
        asm.arithmetic(Arithmetic::Add, Lane::I64, counter, (counter, step), None);
        registers.vectors.push(step);
        Some(())
    }

    /// Statements that can be left.
    fn block(
        &mut self,
        asm: &mut Assembler,
        registers: &mut Registers,
        run: &mut Execution<'_>,
        stmt: &Stmt,
        (label, body): (Label, &[Stmt]),
    ) -> Option<()> {
        let (active, construct) = self.enter(asm, registers, run, (stmt, label))?;
        let checkpoint = self.checkpoint(asm, registers)?;
        let (construct, skips) = self.body(asm, registers, run, (active, construct), body)?;
        for skip in skips {
            asm.patch_jump(skip);
        }
        run.begin(registers);
        self.restore(registers, &checkpoint);
        if let Some(left) = construct.left {
            self.add_lanes(asm, registers, left, active)?;
        }
        self.end(asm, registers, run, active, &construct);
        Some(())
    }

    /// Writes the values that are in registers to memory, where they are read from after it.
    fn checkpoint(&mut self, asm: &mut Assembler, registers: &mut Registers) -> Option<Checkpoint> {
        let mut values: Vec<(Reg, Vector)> = Vec::new();
        for (reg, place) in &registers.places {
            match place {
                Place::Vector(vector) if !registers.fixed.contains(vector) => values.push((*reg, *vector)),
                Place::Mask(mask) if self.isa == Isa::Avx2 => values.push((*reg, Vector(mask.0))),
                Place::Vector(_) | Place::Mask(_) => {}
            }
        }
        values.sort_unstable_by_key(|(reg, _)| *reg);
        for (reg, vector) in values {
            self.copy_to_memory(asm, registers, reg, vector)?;
            registers.places.remove(&reg);
            registers.vectors.push(vector);
        }
        Some(registers.checkpoint())
    }

    /// The state of a checkpoint, without what nobody reads after the present statement.
    fn restore(&self, registers: &mut Registers, checkpoint: &Checkpoint) {
        let is_read = |reg: &Reg| {
            self.reads.get(reg).and_then(|reads| reads.last()).is_some_and(|last| *last > registers.at)
        };
        let mut restored = checkpoint.clone();
        let Checkpoint { masks, places, memory, .. } = &mut restored;
        memory.retain(|reg, _| is_read(reg));
        places.retain(|reg, place| {
            let kept = is_read(reg);
            if let (Place::Mask(mask), false) = (place, kept) {
                masks.push(*mask);
            }
            kept
        });
        registers.restore(restored);
    }
}

/// Returns true for a statement that [`Loop::control`] writes.
pub(super) fn is_control(role: impl Fn(Reg) -> Role, variables: &[Var], stmt: &Stmt) -> bool {
    match stmt {
        Stmt::Let(reg, Op::Get(var)) => variables.contains(var) && role(*reg) == Role::Lanes,
        Stmt::Set(var, _) => variables.contains(var),
        Stmt::Break(_) | Stmt::Continue(_) | Stmt::Fail => true,
        _ => !stmt.bodies().is_empty(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::vector_loops::assemble;
    use super::*;
    use crate::loop_ir::parse;

    /// A loop whose rounds have a loop with these statements, which set `v0` from `r4`.
    fn has_vectors(isa: Isa, inner: &str) -> bool {
        let inner: String = inner.lines().map(|line| format!("\n    {line}")).collect();
        let text = format!(
            "array a0: result 0, 8 bytes a slot, 1000 slots
array a1: input 0, 8 bytes a slot, 1000 slots
var v0: f64
r0: i64 = 1000
r1: f64 = 0.5
parallel for r2 < r0
  r3: f64 = a1[r2]
  v0 := r3
  loop @0
    r4: f64 = v0
    r5: f64 = mul r4 r1
    r6: i64 = r5 < r1
    if r6
      break @0{inner}
  r90: f64 = v0
  a0[r2] <- r90"
        );
        let kernel = parse::kernel(&text).unwrap();
        kernel.body.iter().any(|stmt| assemble(isa, &kernel, stmt).is_some())
    }

    /// A sum of a number with itself so often that a side with it is skipped if no lane is active.
    fn long_sum(first: usize) -> String {
        let line = |i: usize| format!("  r{}: f64 = add r{} r5\n", first + i + 1, first + i);
        (0..MAX_UNSKIPPED + 1).map(line).collect()
    }

    #[test]
    fn what_the_second_side_reads_first_outlives_the_first_side() {
        let value =
            "r7: f64 = add r4 r5\nr8: i64 = r7 < r3\nr10: f64 = sub r4 r5\nr9: f64 = sub r5 r4\nif r8\n";
        let first = format!("{}  v0 := r{}\nelse\n", long_sum(10), 11 + MAX_UNSKIPPED);
        for second in ["  v0 := r9", "  r60: f64 = mul r9 r1\n  v0 := r60"] {
            for isa in [Isa::Avx2, Isa::Avx512] {
                assert!(has_vectors(isa, &format!("{value}{first}{second}")), "{isa:?}: {second}");
            }
        }
    }
}
