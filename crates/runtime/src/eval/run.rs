//! Runs of scripts: statement after statement at the top level, and the value at the end.

use super::error::RuntimeError;
use super::evaluator::{AbruptCompletion, Evaluator, Result};
use super::existential::Continuation;
use super::machine::{Host, Machine};
use super::specialize::first_opening;
use super::tier_up::CoreRoot;
use crate::core::last_use::ScriptLocals;
use crate::core::projection::Projection;
use crate::core::{Program, Script, last_use};
use crate::types::Type;
use crate::value::{Cell, Value};
use std::sync::Arc;

impl Machine {
    /// Runs the statements of a script, and returns its value if it has one.
    pub fn run(
        &mut self,
        program: &Program,
        script: &Script,
        host: &mut Host<'_>,
    ) -> std::result::Result<Option<Value>, Box<RuntimeError>> {
        while self.globals.len() < program.globals.len() {
            self.globals.push(Cell::new(None));
        }
        let projected = self.party.as_ref().filter(|_| script.mentions_places()).map(|party| {
            // Among the sizes of the session are those that lines before have told to all parties.
            let concrete = &|ty: &Type| self.sizes.concrete(ty);
            Projection::new(party.me, concrete, &program.placed_sizes).script(script)
        });
        let script = projected.as_ref().unwrap_or(script);
        self.calls.clear();
        self.progress.reset();
        if self.marked_instance_count != program.instances.len() {
            self.marked_instance_count = program.instances.len();
            self.clear_last_use_marks();
        }
        let mut run = Evaluator { machine: self, program, host, ticks: 0 };
        let mut frame = vec![Value::UNIT; script.locals.len()];
        // Statements are specialized one at a time: one may open sizes that a later one uses.
        let locals = ScriptLocals::of(script);
        for at in 0..script.body.len() {
            run.run_top_level((script, &locals), at, &mut frame).map_err(AbruptCompletion::into_error)?;
        }
        match &script.result {
            Some(term) => {
                let reach = &mut run.machine.reachable_globals;
                let term = Arc::new(last_use::mark_result(program, reach, &script.locals, term));
                let specializer = run.specializer(&script.locals, CoreRoot::Term(term.clone()));
                let (code, unbound) = (specializer.node(&term), specializer.unbound.take());
                run.require_bound(unbound, term.span).map_err(AbruptCompletion::into_error)?;
                run.eval(&code, &mut frame).map(Some).map_err(AbruptCompletion::into_error)
            }
            None => Ok(None),
        }
    }
}

impl Evaluator<'_, '_> {
    /// Runs a statement at the top level. Sizes that it opens are valid to the end of the session.
    fn run_top_level(
        &mut self,
        (script, locals): (&Script, &ScriptLocals),
        at: usize,
        frame: &mut [Value],
    ) -> Result<()> {
        let reach = &mut self.machine.reachable_globals;
        let (stmt, drops) = last_use::mark_statement(self.program, reach, (script, locals), at);
        let stmt = Arc::new(stmt);
        let specializer = self.specializer(&script.locals, CoreRoot::Statement(stmt.clone()));
        if first_opening(std::slice::from_ref(&*stmt)).is_some() {
            // The following statements are run by the caller.
            let nothing = Arc::new(Continuation { stmts: Vec::new(), value: None });
            let (code, unbound) =
                (specializer.specialize_opening(&stmt, nothing, 0), specializer.unbound.take());
            drop(specializer);
            self.require_bound(unbound, stmt.span)?;
            let sizes = self.eval_sizes(&code.source, frame, stmt.span)?;
            let known = Arc::make_mut(&mut self.machine.sizes);
            known.types.extend(code.vars.iter().map(|var| var.id).zip(sizes));
            return Ok(());
        }
        let (code, unbound) =
            (specializer.statements(std::slice::from_ref(&*stmt)), specializer.unbound.take());
        self.require_bound(unbound, stmt.span)?;
        self.run_block(&code, frame)?;
        drops.iter().for_each(|local| frame[local.index()] = Value::UNIT);
        Ok(())
    }
}
