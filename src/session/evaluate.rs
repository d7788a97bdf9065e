//! Evaluation of an input: checked, run, its value formatted.

use super::annotation_collector::AnnotationCollector;
use super::diagnostics::interruption;
use super::host::HostValue;
use super::inputs::EvaluatedInput;
use super::modules::ModuleScript;
use super::transaction::TransactionEnd;
use super::{
    Mode, Outcome, Session, Status, ValueText, detached_source, display, edition_check, library, results,
};
use felis_base::cancellation;
use felis_base::diagnostic::{Diagnostic, Help, HelpRequest};
use felis_base::source::{SourceId, Span};
use felis_base::suggest::similar;
use felis_calculus::core::{GlobalId, Script, TermKind};
use felis_calculus::types::{Type, TypeKind, TypeVar};
use felis_check::check;
use felis_check::check::annotations::Annotations;
use felis_runtime::eval::{self, Host, PictureFields, RuntimeError};
use felis_runtime::value::Value;
use felis_syntax::syntax::{self, Parsed};
use std::sync::Arc;

impl Session {
    /// Runs a text, which messages call `name`; what it prints goes to `out`.
    pub fn evaluate(&mut self, name: &str, text: &str, mode: Mode, out: &mut dyn FnMut(&str)) -> Outcome {
        self.evaluate_after(name, text, mode, out, TransactionEnd::Commit, |_, _, _, _| ())
    }

    /// Does the same, with `work` on the checked scripts and the messages so far before they run,
    /// and with this end if it succeeds.
    pub(super) fn evaluate_after(
        &mut self,
        name: &str,
        text: &str,
        mode: Mode,
        out: &mut dyn FnMut(&str),
        end: TransactionEnd,
        work: impl FnOnce(&mut Session, &[ModuleScript], &Script, &[Diagnostic]),
    ) -> Outcome {
        // Whether a name that is one of a result stands for it only the checker knows; it is asked
        // if there is one.
        let named = self.results.mentioned_in(&syntax::mentioned_names(&detached_source(text)));
        let before = self.results.latest();
        let source = SourceId(self.sources.len() as u32);
        let (mut uses, mut notes, mut globals) = (Vec::new(), Annotations::default(), GlobalId(0));
        let mut outcome = self.transaction(name, text, |session, first, parsed, diagnostics| {
            let functions = session.program.functions.len();
            session.collector = Some(AnnotationCollector::for_names(source.0));
            globals = GlobalId::new(session.program.globals.len());
            let script = match mode {
                Mode::Script => session.check_file(parsed, diagnostics),
                Mode::Line | Mode::Display(_) | Mode::Value => session.check_input(parsed, diagnostics),
            };
            notes = session.collector.take().expect("the collector was set above").into_annotations();
            uses = results::result_uses(text, source, &notes, &named);
            let script = script?;
            work(session, first, &script, diagnostics);
            let value = session.run_modules_and_script(first, &script, mode, out, diagnostics)?;
            let keeps = end == TransactionEnd::Commit;
            if keeps && session.program.functions.len() > functions && !computes_data_only(&script) {
                session.results.pin(uses.iter().map(|(_, id)| *id));
            }
            Ok((value, end))
        });
        // A panic may have left it.
        self.collector = None;
        self.suggest_file_types(&mut outcome.diagnostics);
        if outcome.status == Status::Ok && end == TransactionEnd::Commit {
            self.inputs.push(EvaluatedInput {
                source,
                shows_value: outcome.value.is_some(),
                result: self.results.latest().filter(|last| Some(*last) != before),
                uses,
                globals: globals..GlobalId::new(self.program.globals.len()),
                notes: Arc::new(notes),
                imports: self.imported_files(source),
                replaced_at: None,
            });
        }
        outcome
    }

    /// Checks a text without running it, and keeps nothing of it.
    pub fn check(&mut self, name: &str, text: &str) -> Outcome {
        let mut outcome = self.transaction(name, text, |session, _, parsed, diagnostics| {
            session.check_file(parsed, diagnostics).map(|_| (None, TransactionEnd::RollBack))
        });
        self.suggest_file_types(&mut outcome.diagnostics);
        outcome
    }

    /// The checked form of an input, unless it has an error.
    pub(super) fn check_input(
        &mut self,
        parsed: &Parsed,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Result<Script, Status> {
        let instances = self.program.instances.len();
        let (collector, env, program) = (&mut self.collector, &mut self.env, &mut self.program);
        let sources = &self.sources;
        let done = cancellation::with_cancellation(&self.interrupt, || {
            edition_check::check_both_readings(collector, env, program, sources, parsed)
        });
        let Ok((script, found)) = done else {
            diagnostics.push(interruption(parsed.stmts.first().map_or(Span::default(), |stmt| stmt.span)));
            return Err(Status::Interrupted);
        };
        diagnostics.extend(found.into_iter().map(|diagnostic| self.suggest_library_name(diagnostic)));
        if self.program.instances.len() > instances {
            self.clear_instances();
        }
        script.ok_or(Status::Rejected)
    }

    /// The checked form of a file, whose last expression shows no value.
    pub(super) fn check_file(
        &mut self,
        parsed: &Parsed,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Result<Script, Status> {
        let script = self.check_input(parsed, diagnostics)?;
        let unused = check::unused_result(&parsed.stmts, &script);
        let wrong = unused.as_ref().is_some_and(Diagnostic::is_error);
        diagnostics.extend(unused);
        if wrong { Err(Status::Rejected) } else { Ok(script) }
    }

    /// Adds to a diagnostic about an unknown name the import of the library's module that exports
    /// it; else, if it has no help, a similar name of the library: the checker knows only what has
    /// been read of it. The name of a result that was released is told apart.
    pub(super) fn suggest_library_name(&self, mut diagnostic: Diagnostic) -> Diagnostic {
        let span = diagnostic.primary.span;
        let name = self.sources.slice(span);
        if self.results.is_released(name) && !self.env.values.contains_key(name) {
            return diagnostic
                .note("this result was released: those before the last are kept while they take 128 MiB or less")
                .help("give a result that is needed later a name, as in `val x = it`");
        }
        if diagnostic.help_request != Some(HelpRequest::LibraryName) {
            return diagnostic;
        }
        // A name that an imported module exports has been found by the checker.
        let imports = self.imports_for(span);
        if let Some((first, more)) = imports.split_first() {
            let advice = diagnostic.help.take().filter(|help| help.edits.is_empty());
            let more = more.iter().cloned().chain(advice);
            return more.fold(diagnostic.help(first.clone()), Diagnostic::alternative);
        }
        if let Some(word) = library::modules::renamed(name) {
            let advice = diagnostic.help.take().filter(|help| help.edits.is_empty());
            return advice
                .into_iter()
                .fold(diagnostic.help(self.renaming(span, word)), Diagnostic::alternative);
        }
        if diagnostic.help.is_some() {
            return diagnostic;
        }
        let names = library::index().names().filter(|name| !name.starts_with('_'));
        match similar(name, names) {
            Some(near) => diagnostic.fix(format!("did you mean `{near}`?"), span, near),
            None => diagnostic,
        }
    }

    /// Returns the help that puts the word of the library in place of a name of another language,
    /// with the import of its module if it is of one.
    fn renaming(&self, span: Span, word: &str) -> Help {
        let mut edits = vec![(span, word.to_string())];
        let modules = library::modules::exporting(word);
        let known = self.env.values.contains_key(word);
        let (Some(module), false, Some(source)) = (modules.first(), known, self.sources.get(span.source))
        else {
            return Help { text: format!("it is `{word}` here"), edits };
        };
        let import = format!("import {module} ({word});");
        edits.push(library::modules::insertion(source, &import));
        edits.reverse();
        Help { text: format!("it is `{word}` here: `{import}`"), edits }
    }

    /// Returns the imports of modules of the library that export the name at a place, each as an
    /// edit of its text; none if the text has imported one of them.
    fn imports_for(&self, span: Span) -> Vec<Help> {
        let Some(source) = self.sources.get(span.source) else { return Vec::new() };
        let name = self.sources.slice(span);
        let modules = library::modules::exporting(name);
        if modules.iter().any(|module| self.env.modules.contains_key(*module)) {
            return Vec::new();
        }
        let help = |module: &&str| {
            let import = format!("import {module} ({name});");
            let edit = library::modules::insertion(source, &import);
            Help { text: format!("`{import}`"), edits: vec![edit] }
        };
        modules.iter().map(help).collect()
    }

    /// Runs new modules, and then the script that imports them; its value.
    pub(super) fn run_modules_and_script(
        &mut self,
        first: &[ModuleScript],
        script: &Script,
        mode: Mode,
        out: &mut dyn FnMut(&str),
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Result<Option<ValueText>, Status> {
        for ModuleScript { script, import } in first {
            self.run_script(script, Mode::Script, out).map_err(|(status, diagnostic)| {
                diagnostics.push(diagnostic.label(*import, "imported here"));
                status
            })?;
        }
        self.run_script(script, mode, out).map_err(|(status, diagnostic)| {
            diagnostics.push(*diagnostic);
            status
        })
    }

    /// Runs a script; returns its value as the mode wants it.
    pub(super) fn run_script(
        &mut self,
        script: &Script,
        mode: Mode,
        out: &mut dyn FnMut(&str),
    ) -> Result<Option<ValueText>, (Status, Box<Diagnostic>)> {
        self.record_array_ir(script);
        let interrupt = self.interrupt.clone();
        let (files, system) = (self.files.clone(), self.system.clone());
        let with_parties = match self.program.party.is_some() {
            true => Some(self.run_for_parties(script, out)),
            false => None,
        };
        let mut host = Host {
            out,
            out_here: None,
            interrupt: &interrupt,
            memory: self.memory,
            files: files.as_deref(),
            system: system.as_deref(),
            screen: self.screen,
        };
        let ran = with_parties.unwrap_or_else(|| {
            let value = self.machine.run(&self.program, script, &mut host)?;
            Ok(value.map(|value| (value, Vec::new())))
        });
        let done = ran.and_then(|value| {
            let Some(((value, others), term)) = value.zip(script.result.as_ref()) else { return Ok(None) };
            if mode == Mode::Script {
                return Ok(None);
            }
            let mut shown = self.format_value(&value, &term.ty, mode, &mut host)?;
            self.format_placed(&mut shown, (&value, &others), &term.ty, mode, &mut host)?;
            Ok(Some((value, others, shown)))
        });
        match done {
            Ok(None) => Ok(None),
            Ok(Some((value, others, shown))) => {
                // An expression that only names a result makes no new one.
                let again = match script.result.as_ref().map(|term| &term.kind) {
                    Some(TermKind::Global(id)) => script.body.is_empty() && self.results.contains(*id),
                    _ => false,
                };
                if matches!(mode, Mode::Display(_)) && !again {
                    self.bind_result(value, others, &shown.ty);
                }
                Ok(Some(shown))
            }
            Err(error) => Err(self.failure(*error)),
        }
    }

    /// Returns the status and the message of an input that an error at run time has stopped.
    fn failure(&self, error: RuntimeError) -> (Status, Box<Diagnostic>) {
        let status = match error.exit_status() {
            Some(code) => Status::Exited(code),
            None if error.is_interruption() => Status::Interrupted,
            None => Status::Failed,
        };
        // The library's texts come first; its users are shown their own.
        let own = library::sources().iter().count();
        let is_module = |source: SourceId| {
            let source = self.sources.get(source);
            source.is_some_and(|source| library::modules::is_text(&source.name, &source.text))
        };
        let error = error.attributed_to_caller(|source| (source.0 as usize) < own || is_module(source));
        (status, Box::new(error.to_diagnostic()))
    }

    /// Returns the text of a value as a program prints it.
    ///
    /// # Errors
    /// The type has a `show` of its own that fails or is stopped.
    pub fn text_of(&mut self, value: &HostValue) -> Result<String, (Status, Box<Diagnostic>)> {
        self.clear_interrupt();
        let saved = self.snapshot();
        let interrupt = self.interrupt.clone();
        let mut host = Host {
            out: &mut |_| (),
            out_here: None,
            interrupt: &interrupt,
            memory: self.memory,
            files: None,
            system: None,
            screen: self.screen,
        };
        let text = self.machine.value_text(&self.program, &value.value, &value.ty, &mut host);
        self.restore(saved);
        text.map_err(|error| self.failure(*error))
    }

    /// A value as the mode of its input wants it.
    pub(super) fn format_value(
        &mut self,
        value: &Value,
        ty: &Type,
        mode: Mode,
        host: &mut Host<'_>,
    ) -> Result<ValueText, Box<RuntimeError>> {
        let concrete = self.machine.concrete(ty);
        let drawn = match mode {
            Mode::Display(_) => self.drawn_picture(value, &concrete, host)?,
            _ => None,
        };
        let (text, read_back) = match drawn {
            Some(text) => (text, String::new()),
            None => display::texts(&mut self.machine, &self.program, value, &concrete, mode, host)?,
        };
        let mut vars = Vec::new();
        collect_variables(ty, &mut vars);
        let size = |var: &TypeVar| (var.name.to_string(), self.machine.concrete(&Type::var(var.clone())));
        let sizes = vars.iter().map(size).map(|(name, size)| (name, size.size_text())).collect();
        let value = (mode == Mode::Value).then(|| HostValue { ty: concrete, value: value.clone() });
        Ok(ValueText { ty: ty.clone(), text, read_back, sizes, value })
    }

    /// Returns a picture of the library as the screen shows it; `None` for another value, and for a
    /// picture that cannot be drawn.
    fn drawn_picture(
        &self,
        value: &Value,
        ty: &Type,
        host: &Host<'_>,
    ) -> Result<Option<String>, Box<RuntimeError>> {
        let Value::Seq(fields) = value else { return Ok(None) };
        if !self.is_library_type(ty, "picture") {
            return Ok(None);
        }
        let [title, across, upward, layers] = [0, 1, 2, 3].map(|at| fields.get(at));
        let fields = PictureFields {
            title: title.as_str(),
            across: across.as_str(),
            upward: upward.as_str(),
            layers: layers.as_str(),
        };
        let drawn = eval::drawn_picture(fields, host).map_err(|failure| {
            Box::new(RuntimeError { failure, span: Span::default(), calls: Vec::new(), place: None })
        })?;
        Ok(drawn.map(|text| text.trim_end_matches('\n').to_string()))
    }
}

/// Returns true if a script only computes a value that holds no function, so that nothing it
/// mentions is needed later.
fn computes_data_only(script: &Script) -> bool {
    fn holds_function(ty: &Type) -> bool {
        let mut found = matches!(
            ty.kind(),
            TypeKind::Function(..) | TypeKind::Procedure(_) | TypeKind::Nominal(..) | TypeKind::Var(_)
        );
        ty.kind().for_each_child(&mut |child| found = found || holds_function(child));
        found
    }
    script.body.is_empty() && script.result.as_ref().is_some_and(|term| !holds_function(&term.ty))
}

/// The variables of a type, each once.
fn collect_variables(ty: &Type, found: &mut Vec<TypeVar>) {
    if let TypeKind::Var(var) = ty.kind()
        && !found.iter().any(|known| known.id == var.id)
    {
        found.push(var.clone());
    }
    ty.kind().for_each_child(&mut |child| collect_variables(child, found));
}
