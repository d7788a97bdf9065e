//! Execution of statements: blocks, loops, stores, and blocks that open sizes.

use super::code::{Node, NodeKind, PartStep, Pattern, Statement, StatementKind, Store, StoreRoot, StoreStep};
use super::error::Failure;
use super::evaluator::{AbruptCompletion, Evaluator, Result};
use super::existential::{OpenCode, SizeSource, solve_size};
use super::frame::{moved_out, set_word};
use super::matching::match_pattern;
use super::stores::write_place;
use super::terms::{SHARED_VARIABLE_IS_SET, shared_cell};
use super::tier_up::{EAGER_ELEMENTS, Interpreted, SLOTS_PER_ROUND, TierUpSite};
use crate::core::Root;
use crate::layout::Layout;
use crate::source::Span;
use crate::types::Type;
use crate::types::encoding::Code;
use crate::value::{Cell, Packed, Value};

impl Evaluator<'_, '_> {
    /// Runs statements in order.
    pub(super) fn run_block(&mut self, stmts: &[Statement], frame: &mut [Value]) -> Result<()> {
        for stmt in stmts {
            self.run_statement(stmt, frame)?;
        }
        Ok(())
    }

    /// Runs a loop body once. Returns false if the loop was left by `break`.
    pub(super) fn run_round(&mut self, body: &[Statement], frame: &mut [Value], span: Span) -> Result<bool> {
        self.tick(span)?;
        match self.run_block(body, frame) {
            Ok(()) | Err(AbruptCompletion::Continue) => Ok(true),
            Err(AbruptCompletion::Break) => Ok(false),
            Err(stop) => Err(stop),
        }
    }

    /// Runs a loop body once, and counts the round for progress if asked to.
    fn run_counted_round(
        &mut self,
        body: &[Statement],
        frame: &mut [Value],
        span: Span,
        counts: bool,
    ) -> Result<bool> {
        let goes_on = self.run_round(body, frame, span)?;
        if counts {
            self.machine.progress.finish_round();
        }
        Ok(goes_on)
    }

    /// Evaluates the next value of a variable; the memory of its old value may be reused.
    fn eval_replacement(&mut self, node: &Node, variable: Root, frame: &mut [Value]) -> Result<Value> {
        match &node.kind {
            NodeKind::TierUp(site) => self.eval_site(site, frame, node.span, Some(variable)),
            _ => self.eval(node, frame),
        }
    }

    /// Runs a statement.
    pub(super) fn run_statement(&mut self, stmt: &Statement, frame: &mut [Value]) -> Result<()> {
        let span = stmt.span;
        use StatementKind as S;
        match &stmt.kind {
            S::Let(pattern, node) => {
                if let Pattern::Bind(local) = pattern {
                    // In a loop, the value of the last round is not read again.
                    frame[local.index()] = self.eval_replacement(node, Root::Local(*local), frame)?;
                    return Ok(());
                }
                let value = self.eval(node, frame)?;
                if !match_pattern(pattern, &value, frame) {
                    return Err(self.fail(Failure::NoMatch, span));
                }
            }
            S::SetLocal(local, node) => {
                frame[local.index()] = self.eval_replacement(node, Root::Local(*local), frame)?;
            }
            S::SetShared(local, node) => {
                let value = self.eval(node, frame)?;
                let cell = shared_cell(frame, *local).clone();
                self.set_cell(&cell, value);
            }
            S::SetGlobal(global, node) => {
                let value = self.eval_replacement(node, Root::Global(*global), frame)?;
                let cell = self.machine.globals[global.index()].clone();
                self.set_cell(&cell, value);
            }
            S::Store(store) => self.run_store(store, frame, span)?,
            S::Drop(locals) => locals.iter().for_each(|local| frame[local.index()] = moved_out()),
            S::Expr(node) => {
                self.eval(node, frame)?;
            }
            S::If(condition, then, otherwise) => {
                let branch = if self.eval(condition, frame)?.as_bool() { then } else { otherwise };
                self.run_block(branch, frame)?;
            }
            S::Match(scrutinee, arms) => {
                let value = self.eval(scrutinee, frame)?;
                for (pattern, guard, body) in arms {
                    if match_pattern(pattern, &value, frame) {
                        if let Some(guard) = guard
                            && !self.eval(guard, frame)?.as_bool()
                        {
                            continue;
                        }
                        drop(value);
                        return self.run_block(body, frame);
                    }
                }
                return Err(self.fail(Failure::NoMatch, span));
            }
            S::ForAll(local, size, body) => {
                self.require_countable(size, span)?;
                self.with_progress(size.to_u64(), |run, counts| {
                    let mut code = Code::ZERO;
                    while code < *size {
                        match &code {
                            Code::Small(word) => set_word(&mut frame[local.index()], *word),
                            _ => frame[local.index()] = Value::code(code.clone()),
                        }
                        if !run.run_counted_round(body, frame, span, counts)? {
                            break;
                        }
                        code = code.add(&Code::Small(1));
                    }
                    Ok(())
                })?;
            }
            S::ForInts(local, low, high, inclusive, body) => {
                let low = self.eval(low, frame)?.as_int();
                let high = self.eval(high, frame)?.as_int();
                let total = u64::try_from(i128::from(high) - i128::from(low) + i128::from(*inclusive)).ok();
                self.with_progress(total, |run, counts| {
                    let mut i = low;
                    while i < high || (*inclusive && i == high) {
                        set_word(&mut frame[local.index()], i as u64);
                        if !run.run_counted_round(body, frame, span, counts)? {
                            break;
                        }
                        match i.checked_add(1) {
                            Some(next) => i = next,
                            None => break,
                        }
                    }
                    Ok(())
                })?;
            }
            S::ForElements(local, array, slots, count, body) => {
                let array = self.eval(array, frame)?;
                self.with_progress(Some(*count as u64), |run, counts| {
                    for i in 0..*count {
                        let element =
                            if *count == 1 { array.clone() } else { array.slots(i * slots, *slots) };
                        frame[local.index()] = element;
                        if !run.run_counted_round(body, frame, span, counts)? {
                            break;
                        }
                    }
                    Ok(())
                })?;
            }
            S::While(condition, body) => {
                while self.eval(condition, frame)?.as_bool() {
                    if !self.run_round(body, frame, span)? {
                        break;
                    }
                }
            }
            S::Break => return Err(AbruptCompletion::Break),
            S::Continue => return Err(AbruptCompletion::Continue),
            S::Return(node) => return Err(AbruptCompletion::Return(self.eval(node, frame)?)),
            S::OpenSizes(code) => {
                self.open_sizes(code, frame, span)?;
            }
            S::TierUp(site) => self.run_loop_site(site, frame, span)?,
            S::Require(left, right, equation) => {
                [left, right].into_iter().try_for_each(|size| self.require_countable(size, span))?;
                if left != right {
                    let (left, right) = (left.to_big(), right.to_big());
                    let failure = Failure::SizesDiffer { equation: equation.to_string(), left, right };
                    return Err(self.fail(failure, span));
                }
            }
        }
        Ok(())
    }

    /// Fails if a store copies a mapped array that exceeds the memory bound.
    fn require_copy_memory(&self, root: &Value, store: &Store, span: Span) -> Result<()> {
        match root {
            Value::Seq(seq) if seq.has_read_only_part() => {
                self.require_memory(store.class, store.root_slots, span)
            }
            _ => Ok(()),
        }
    }

    /// Runs a store into a part of a variable: evaluates its path and its value, then writes.
    fn run_store(&mut self, store: &Store, frame: &mut [Value], span: Span) -> Result<()> {
        let mut start = 0usize;
        for step in &store.steps {
            start += match step {
                StoreStep::Offset(offset) => *offset,
                StoreStep::Index(index, stride) => {
                    let index = self.eval(index, frame)?;
                    // An array of elements without slots may have more elements than a word counts.
                    if *stride == 0 { 0 } else { index.word() as usize * stride }
                }
            };
        }
        let mut parts: Vec<(&Layout, Code)> = Vec::new();
        for (layout, step) in &store.parts {
            let i = match step {
                PartStep::Factor(i) => i.clone(),
                PartStep::Digit(node) => self.eval(node, frame)?.to_code(),
            };
            parts.push((layout, i));
        }
        let value = self.eval(&store.value, frame)?;
        let (cell, mut root) = match &store.root {
            StoreRoot::Local(local) => {
                self.require_copy_memory(&frame[local.index()], store, span)?;
                write_place(&mut frame[local.index()], start, &parts, value, store);
                return Ok(());
            }
            StoreRoot::Shared(local) => {
                let cell = shared_cell(frame, *local).clone();
                let root = cell.get().expect(SHARED_VARIABLE_IS_SET);
                (cell, root)
            }
            StoreRoot::Global(global) => {
                let cell = self.machine.globals[global.index()].clone();
                match cell.get() {
                    Some(root) => (cell, root),
                    None => return Err(self.unset_global(*global, span)),
                }
            }
        };
        self.require_copy_memory(&root, store, span)?;
        self.journal(&cell, &root);
        cell.set(None);
        write_place(&mut root, start, &parts, value, store);
        cell.set(Some(root));
        Ok(())
    }

    /// Runs the kernel of a site if it has one, or interprets its loop.
    fn run_loop_site(&mut self, site: &TierUpSite, frame: &mut [Value], span: Span) -> Result<()> {
        let Interpreted::Statement(interpreted) = &site.interpreted else {
            unreachable!("the site of a loop holds a statement")
        };
        let weight = match &interpreted.kind {
            // Bounds without effects may be evaluated twice.
            StatementKind::ForInts(_, low, high, ..)
                if site.bounds_decide && self.machine.accelerator.is_some() =>
            {
                let (low, high) = (self.eval(low, frame)?.as_int(), self.eval(high, frame)?.as_int());
                (high.saturating_sub(low).max(0) as u64).saturating_mul(site.inner_rounds)
            }
            _ => site.weight,
        };
        // A loop that costs less than the copies that its kernel makes is interpreted.
        let mut due = EAGER_ELEMENTS;
        if let Some(kernel) = self.site_kernel(site, weight, frame) {
            let copying = EAGER_ELEMENTS.min(self.slots_copied_per_run(&*kernel, frame) / SLOTS_PER_ROUND);
            let is_profitable = match &interpreted.kind {
                StatementKind::While(..) => copying == 0,
                _ => copying <= weight,
            };
            if !is_profitable {
                due = copying;
            } else if self.run_loop_kernel(&*kernel, frame, span)? {
                return Ok(());
            } else {
                self.note_failure(site);
            }
        }
        let before = self.ticks;
        let done = match &interpreted.kind {
            StatementKind::While(condition, body) => {
                self.run_while_site(site, (condition, body), due, frame, span)
            }
            _ => self.run_statement(interpreted, frame),
        };
        site.add_heat(self.ticks.wrapping_sub(before));
        done
    }

    /// Interprets a `while` loop. After `due` rounds the kernel of the site is tried again: the
    /// rest of the rounds is the same loop.
    fn run_while_site(
        &mut self,
        site: &TierUpSite,
        (condition, body): (&Node, &[Statement]),
        due: u64,
        frame: &mut [Value],
        span: Span,
    ) -> Result<()> {
        let (mut due, before) = (Some(due), self.ticks);
        while self.eval(condition, frame)?.as_bool() {
            if !self.run_round(body, frame, span)? {
                break;
            }
            // Rounds of inner loops are counted as well.
            let rounds = u64::from(self.ticks.wrapping_sub(before));
            if due.take_if(|due| rounds >= *due).is_some()
                && let Some(kernel) = self.site_kernel(site, u64::MAX, frame)
            {
                if self.run_loop_kernel(&*kernel, frame, span)? {
                    return Ok(());
                }
                self.note_failure(site);
            }
        }
        Ok(())
    }

    /// Opens sizes and runs the rest of the block. Returns the value of the block.
    pub(super) fn open_sizes(&mut self, code: &OpenCode, frame: &mut [Value], span: Span) -> Result<Value> {
        // Openings of one block are nested calls.
        if !super::stack_guard::has_room() {
            let depth = self.machine.calls.len();
            return Err(self.fail(Failure::TooDeep { depth }, span));
        }
        let sizes = self.eval_sizes(&code.source, frame, span)?;
        let rest = self.specialized_continuation(code, sizes, span)?;
        self.run_block(&rest.stmts, frame)?;
        match &rest.value {
            Some(value) => self.eval(value, frame),
            None => Ok(Value::UNIT),
        }
    }

    /// Evaluates the sizes, as types.
    pub(super) fn eval_sizes(
        &mut self,
        source: &SizeSource,
        frame: &mut [Value],
        span: Span,
    ) -> Result<Vec<Type>> {
        match source {
            SizeSource::Value(node, local, shared) => {
                let Value::Packed(packed) = self.eval(node, frame)? else {
                    return Err(self.fail(Failure::Internal { message: "a value without its sizes" }, span));
                };
                let sizes = packed.sizes.clone();
                // An unshared value can be changed in place.
                let value = Packed::into_value(packed);
                frame[local.index()] = if *shared { Value::Cell(Cell::new(Some(value))) } else { value };
                Ok(sizes)
            }
            SizeSource::Equation(left, none, one, text) => {
                [left, none, one].into_iter().try_for_each(|size| self.require_countable(size, span))?;
                let (left, none, one) = (left.to_big(), none.to_big(), one.to_big());
                match solve_size(&left, &none, &one) {
                    Some(size) => Ok(vec![Type::unit_sum(size)]),
                    None => {
                        let failure = Failure::NoSize {
                            equation: text.to_string(),
                            left,
                            right_at_zero: none,
                            right_at_one: one,
                        };
                        Err(self.fail(failure, span))
                    }
                }
            }
        }
    }
}
