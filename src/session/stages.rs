//! The stages of a program on the way to machine code, as text for people: core, the array IR,
//! loops and instructions; and what loops take, as work and span.
//!
//! The array IR is built for functions and top-level statements, the other stages for the units
//! that the compiler is offered while a program runs, which it builds as array IR of its own.

use super::transaction::TransactionEnd;
use super::{Session, library};
use felis_array_ir::build;
use felis_base::source::{self, Span};
use felis_calculus::core::{FunctionId, Script};
use felis_compiler::jit;
use std::sync::Arc;

/// A stage on the way to machine code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// A compilation unit as core.
    Core,
    /// Functions and top-level statements as array IR.
    Array,
    /// A compilation unit as loops.
    Loops,
    /// The work and the span of a compilation unit, and its parallel loops.
    Scaling,
    /// The instructions of the code generator.
    Instructions,
}

/// The array IR of a part of a program, or the reason why it has none.
pub type Built = Result<felis_array_ir::array_ir::Program, build::Declined>;

/// The place of a part of a program, and its text at a stage; or the reason why it has none.
type Record = (Span, Result<String, String>);

impl Session {
    /// Records from here on the parts of programs at a stage.
    pub fn trace(&mut self, stage: Stage) {
        self.array_trace = (stage == Stage::Array).then(Vec::new);
        let stage = match stage {
            Stage::Core => jit::Stage::Core,
            Stage::Loops => jit::Stage::Loops,
            Stage::Scaling => jit::Stage::Scaling,
            Stage::Instructions => jit::Stage::Instructions,
            Stage::Array => return,
        };
        if let Some(jit) = &self.jit {
            jit.trace(stage);
        }
    }

    /// Returns the records since: the place of each part (file and line), and its text or the
    /// reason why it has none. Of the array IR, functions come first.
    pub fn take_traces(&mut self) -> Vec<(String, Result<String, String>)> {
        let mut noted: Vec<Record> = Vec::new();
        if let Some(statements) = self.array_trace.take() {
            noted.extend(self.build_array_ir(false).into_iter().map(|(_, span, built)| (span, text(built))));
            noted.extend(statements);
            self.array_trace = Some(Vec::new());
        } else if let Some(jit) = &self.jit {
            noted.extend(jit.take_traces().into_iter().map(|trace| (trace.span, trace.text)));
        }
        let place = |span: Span| match self.sources.get(span.source) {
            Some(source) => {
                format!("{}:{}", source.name, source::line_number(&source.text, span.start as usize))
            }
            None => String::new(),
        };
        noted.into_iter().map(|(span, text)| (place(span), text)).collect()
    }

    /// The functions of a text as array IR, as [`Session::build_array_ir`] returns them; the text is
    /// checked, does not run, and leaves nothing but what it has read of the library. Its statements
    /// are recorded if that stage is traced. Empty if it is refused.
    pub fn array_ir_of(&mut self, name: &str, text: &str) -> Vec<(Arc<str>, Span, Built)> {
        let mut built = Vec::new();
        self.transaction(name, text, |session, _, parsed, diagnostics| {
            session.check_file(parsed, diagnostics).map(|script| {
                session.record_array_ir(&script);
                built = session.build_array_ir(false);
                (None, TransactionEnd::RollBack)
            })
        });
        built
    }

    /// The functions so far as array IR, at their own sizes, with their names and places; those of
    /// the library that have been read, too, if `library`. Lambdas and local functions are parts of
    /// others.
    pub fn build_array_ir(&self, library: bool) -> Vec<(Arc<str>, Span, Built)> {
        let mut built = Vec::new();
        for (id, function) in self.program.functions.iter().enumerate() {
            let Some(function) = function else { continue };
            let of_library = (function.span.source.0 as usize) < library::sources().len();
            let is_part =
                &*function.name == "fun" || !function.captures.is_empty() || function.this.is_some();
            if is_part || of_library && !library {
                continue;
            }
            built.push((
                function.name.clone(),
                function.span,
                build::function(&self.program, FunctionId::new(id)),
            ));
        }
        built
    }

    /// Records the statements of a script before they run, if the array IR is asked for.
    pub(super) fn record_array_ir(&mut self, script: &Script) {
        let Some(records) = &mut self.array_trace else { return };
        for stmt in &script.body {
            records.push((stmt.span, text(build::statement(&self.program, &script.locals, stmt))));
        }
        if let Some(term) = &script.result {
            records.push((term.span, text(build::result(&self.program, &script.locals, term))));
        }
    }
}

/// A program of the array IR as text, or the word for what is not built.
fn text(built: Built) -> Result<String, String> {
    match built {
        Ok(program) => Ok(felis_array_ir::array_ir::print::program(&program)),
        Err(declined) => Err(declined.word().to_string()),
    }
}
