//! The command line: files, expressions, questions about types, and the REPL.
//!
//! Takes arguments; gives output, diagnostics on standard error, and an exit code ([`exit`]). Uses
//! only [`felis::session`] and [`felis::editor`] of the library.

mod answers;
mod arguments;
mod bench;
mod data;
mod doc;
mod explain;
mod files;
mod fmt;
mod help;
mod input;
mod interrupt;
mod json;
mod lsp;
mod map;
mod new;
mod output;
#[cfg(feature = "parties")]
mod party;
mod programs;
mod repl;
mod replace;
mod show;
mod site;
mod system;
mod test;
mod topics;
mod watch;

pub use arguments::Arguments;

use arguments::Command;
use clap::CommandFactory;
use felis::session::{
    Conversion, LawTrial, LawVerdict, Mode, Outcome, Screen, Session, Stage, Status, TestSelection,
};
use felis_base::diagnostic::Diagnostic;
use files::FileLoader;
use input::{InputError, SourceText};
pub use interrupt::block_resize_signal;
use interrupt::{Activity, Interrupts};
use output::Output;
use programs::{may_hold_benches, may_hold_tests, named_programs};
use std::ffi::OsString;
use std::io::{BufRead, IsTerminal};
use std::path::Path;
use std::sync::Arc;
use test::TestOutput;

/// The exit codes of the command.
pub mod exit {
    /// Success.
    pub const OK: u8 = 0;
    /// The program stopped with an error at run time, or its output could not be written.
    pub const FAILED: u8 = 1;
    /// The command was called wrongly, or a file could not be read.
    pub const USAGE: u8 = 2;
    /// A text could not be read as a program, or its types are wrong: nothing has run.
    pub const REJECTED: u8 = 3;
    /// Ctrl-C.
    pub const INTERRUPTED: u8 = 130;
    /// The reader of the output has closed the pipe: the exit code of shells for a command that is
    /// ended by SIGPIPE.
    pub const BROKEN_PIPE: u8 = 141;
}

/// Carries out the command; returns the exit code.
pub fn run(arguments: Arguments) -> u8 {
    if let Some(Command::Lsp { .. }) = arguments.command {
        return lsp::serve();
    }
    let mut shell = match Shell::new() {
        Ok(shell) => shell,
        Err(why) => {
            output::print_error(&format!("felis: {why}"));
            return exit::USAGE;
        }
    };
    let code = match (arguments.command, arguments.evaluate, arguments.file) {
        (Some(command), _, _) => shell.command(command),
        (None, Some(text), _) => shell.evaluate("expression", &text, Mode::Line),
        (None, None, Some(file)) => match input::unknown_word_error(&file) {
            Some(refusal) => shell.report_input_error(&refusal),
            None => shell.run_file(&file, &arguments.rest),
        },
        (None, None, None) if std::io::stdin().is_terminal() && std::io::stdout().is_terminal() => {
            return repl::run_interactive(shell);
        }
        (None, None, None) => return repl::run_piped(shell),
    };
    // All output is flushed. The session is not dropped, because the process ends.
    std::mem::forget(shell);
    code
}

/// Reports that the system has no memory for the stack on which programs run.
pub fn report_missing_stack() -> u8 {
    output::print_error(
        "felis: the system gives no memory for the stack that programs run on; see `ulimit -v`",
    );
    exit::FAILED
}

/// Makes a panic of Felis print one line instead of a Rust backtrace. A session continues if
/// possible.
pub fn report_bugs_in_one_line() {
    if std::env::var_os("RUST_BACKTRACE").is_none() {
        std::panic::set_hook(Box::new(|panic| {
            output::print_error(&format!("felis: internal error: {panic}"));
        }));
    }
}

/// A session with its output and settings.
pub struct Shell {
    /// The session.
    session: Session,
    /// The streams of output and messages.
    output: Output,
    /// The handling of Ctrl-C.
    interrupts: Interrupts,
    /// The format of messages.
    messages: MessageFormat,
}

/// The format and the stream of messages.
#[derive(Clone, Copy, PartialEq, Eq)]
enum MessageFormat {
    /// Readable text, on standard error.
    SourceText,
    /// Lines of JSON on standard output, which has no other output.
    JsonOut,
    /// Lines of JSON on standard error.
    JsonErr,
}

impl Shell {
    /// Returns the shell of this process, with a session that reads its files.
    fn new() -> Result<Shell, String> {
        let mut session = input::session_from_environment()?;
        session.set_max_value_bytes(input::memory_limit());
        session.set_loader(Box::new(FileLoader::relative_to_working_directory()));
        session.set_files(Arc::new(data::DataFiles::new(session.interrupt_flag())));
        session.set_system(Arc::new(system::Machine::new()));
        let interrupts = Interrupts::install(session.interrupt_flag());
        Ok(Shell { session, output: Output::new(), interrupts, messages: MessageFormat::SourceText })
    }

    /// Carries out a subcommand; returns the exit code.
    fn command(&mut self, command: Command) -> u8 {
        match self.carry_out(command) {
            Ok(code) | Err(code) => {
                self.output.flush();
                code
            }
        }
    }

    /// Carries out a subcommand; returns the exit code, as an error where the programs that it
    /// names are not found.
    fn carry_out(&mut self, command: Command) -> Result<u8, u8> {
        let code = match command {
            Command::Check { watch: true, json, files } => {
                self.messages = if json { MessageFormat::JsonOut } else { MessageFormat::SourceText };
                self.watch(&named_programs(&files, |_| true)?)
            }
            Command::Check { json, files, .. } => {
                self.messages = if json { MessageFormat::JsonOut } else { MessageFormat::SourceText };
                let files = named_programs(&files, |_| true)?;
                files.iter().map(|file| self.check(file)).max().unwrap_or(exit::OK)
            }
            Command::New { folder } => new::create_program(&mut self.output, &folder),
            Command::Run { json, show, stats, party, parties, file, rest } => {
                self.messages = if json { MessageFormat::JsonErr } else { MessageFormat::SourceText };
                let stage = show.map(|stage| match stage.as_str() {
                    "core" => Stage::Core,
                    "array" => Stage::Array,
                    "loops" => Stage::Loops,
                    "clif" => Stage::Instructions,
                    other => unreachable!("the parser of arguments has let `{other}` through"),
                });
                self.run_and_report(stage, stats, |shell| match (party, parties) {
                    #[cfg(feature = "parties")]
                    (Some(party), Some(parties)) => shell.run_as_party(&party, &parties, &file, &rest),
                    #[cfg(not(feature = "parties"))]
                    (Some(_), Some(_)) => {
                        output::print_error("felis: this build connects no processes: feature `parties`");
                        exit::USAGE
                    }
                    _ => shell.run_file(&file, &rest),
                })
            }
            #[cfg(feature = "parties")]
            Command::Party { action } => self.run_party_command(&action),
            #[cfg(not(feature = "parties"))]
            Command::Party { .. } => {
                output::print_error("felis: this build connects no processes: feature `parties`");
                exit::USAGE
            }
            Command::Lsp { .. } => unreachable!("`lsp` is served before there is a shell"),
            Command::Bench { seconds, json, files } => {
                self.bench(&named_programs(&files, may_hold_benches)?, seconds, json)
            }
            Command::Test { only, limit, quiet, json, files } => {
                let told = match (json, quiet) {
                    (true, _) => TestOutput::Json,
                    (_, true) => TestOutput::Failed,
                    _ => TestOutput::All,
                };
                let files = named_programs(&files, may_hold_tests)?;
                self.test(&files, &TestSelection { only, limit }, told)
            }
            Command::Doc { site: true, output, .. } => self.write_site(&output),
            Command::Doc { file, markdown, output, .. } => self.document(file.as_deref(), markdown, &output),
            Command::Help { topic } => self.help(&topic),
            Command::Man => self.manual(),
            Command::Explain { code } => explain::explain(&mut self.output, code.as_deref()),
            Command::Completions { shell } => {
                let mut script = Vec::new();
                clap_complete::generate(shell, &mut Arguments::command(), "felis", &mut script);
                self.output.write(&String::from_utf8_lossy(&script));
                exit::OK
            }
            Command::Fmt { check, from_v01, files } => {
                let files = named_programs(&files, |_| true)?;
                files.iter().map(|file| self.format(file, check, from_v01)).max().unwrap_or(exit::OK)
            }
            Command::Iso { batch: true, .. } => self.iso_batch(),
            Command::Iso { explain, left, right, .. } => {
                let [left, right] = [left, right].map(|ty| ty.expect("two types unless `--batch`"));
                let answer = self.session.iso(&left, &right, explain);
                let code = self.write_answer(answer.map(|comparison| answers::comparison_text(&comparison)));
                self.note_implicit_names(&[&left, &right]);
                code
            }
            Command::Type { expression } => {
                let answer = match self.session.overload_signatures(&expression) {
                    Some(forms) => Ok(forms),
                    None => self.session.type_of(&expression).map(|ty| format!("{ty}\n")),
                };
                self.write_answer(answer)
            }
            Command::Convert { from, to } => {
                let answer = self.session.conversion(&from, &to);
                self.write_answer(answer.map(|conversion| match conversion {
                    Conversion::None(why) => format!("none\nnote: {why}\n"),
                    other => format!("{}\n", other.name()),
                }))
            }
            Command::Can { name, types, with } => self.print_use(&name, &types, with.as_deref()),
            Command::Laws { file, cases, seed } => self.laws(file.as_deref(), cases, seed),
            Command::Size { ty } => {
                let answer = self.session.size_of(&ty);
                let code = self.write_answer(answer.map(|size| format!("{size}\n")));
                self.note_implicit_names(&[&ty]);
                code
            }
        };
        Ok(code)
    }

    /// Runs a file, or standard input for `-`, with its arguments in `args`. Returns the exit code.
    fn run_file(&mut self, file: &Path, arguments: &[OsString]) -> u8 {
        // Other runners accept `felis run FILE -- WORDS`, too.
        let arguments = match arguments {
            [dashes, words @ ..] if dashes == "--" => words,
            words => words,
        };
        let (name, text) = match input::read(file) {
            Ok(SourceText { name, text }) => (name, text),
            Err(refusal) => return self.report_input_error(&refusal),
        };
        self.session.set_loader(Box::new(FileLoader::relative_to(file)));
        self.define_arguments(&text, arguments);
        let call = match self.session.entry_point(&name, &text) {
            Ok(None) => None,
            Ok(Some(main)) => {
                let words: Vec<String> =
                    arguments.iter().map(|word| word.to_string_lossy().into_owned()).collect();
                let usage = format!("usage: {name} {}", main.usage());
                if let [word] = &words[..]
                    && matches!(word.as_str(), "--help" | "-h")
                {
                    self.output.write(&format!("{}\n", usage.trim_end()));
                    let doc = main.doc.as_deref().unwrap_or_default().trim();
                    if !doc.is_empty() {
                        self.output.write(&format!("\n{doc}\n"));
                    }
                    self.output.flush();
                    return exit::OK;
                }
                match main.call(&words) {
                    Ok(call) => Some(call),
                    Err(misfit) => {
                        self.output.flush();
                        output::print_error(&format!("felis: {misfit}"));
                        output::print_error(usage.trim_end());
                        return exit::USAGE;
                    }
                }
            }
            Err(diagnostics) => {
                self.report_diagnostics(&diagnostics);
                return exit::REJECTED;
            }
        };
        let status = self.evaluate_to_status(&name, &text, Mode::Script);
        match call {
            Some(call) if status == Status::Ok => self.evaluate("arguments", &call, Mode::Script),
            _ => exit_code(status),
        }
    }

    /// Runs a file for its declarations: its `main` is not called. Returns the exit code if it
    /// fails or ends itself.
    fn run_declarations(&mut self, file: &Path) -> Option<u8> {
        let SourceText { name, text } = match input::read(file) {
            Ok(text) => text,
            Err(refusal) => return Some(self.report_input_error(&refusal)),
        };
        self.session.set_loader(Box::new(FileLoader::relative_to(file)));
        self.define_arguments(&text, &[]);
        let status = self.evaluate_to_status(&name, &text, Mode::Script);
        self.output.end_line();
        (status != Status::Ok).then(|| exit_code(status))
    }

    /// Defines `args` for a program that may mention it.
    fn define_arguments(&mut self, text: &str, arguments: &[OsString]) {
        if text.contains("args") {
            self.evaluate("arguments", &input::arguments_statement(arguments), Mode::Script);
        }
    }

    /// Evaluates a text and reports its outcome; returns the exit code.
    fn evaluate(&mut self, name: &str, text: &str, mode: Mode) -> u8 {
        exit_code(self.evaluate_to_status(name, text, mode))
    }

    /// Evaluates a text and reports its outcome.
    fn evaluate_to_status(&mut self, name: &str, text: &str, mode: Mode) -> Status {
        let outcome = self.evaluate_with_output(name, text, mode);
        if let Some(value) = &outcome.value {
            self.output.write(&value.text);
            self.output.write("\n");
        }
        self.output.flush();
        self.report_diagnostics(&outcome.diagnostics);
        if outcome.status == Status::Interrupted {
            output::print_error("interrupted");
        }
        outcome.status
    }

    /// Evaluates a text; writes output as it is produced, and reacts to Ctrl-C.
    fn evaluate_with_output(&mut self, name: &str, text: &str, mode: Mode) -> Outcome {
        self.run_with_output(|session, out| session.evaluate(name, text, mode, out))
    }

    /// Runs work that evaluates, with the same handling of output and Ctrl-C.
    fn run_with_output(
        &mut self,
        work: impl FnOnce(&mut Session, &mut dyn FnMut(&str)) -> Outcome,
    ) -> Outcome {
        let Shell { session, output, interrupts, .. } = self;
        session.set_screen(output.screen());
        let _running = interrupts.while_doing(Activity::Evaluating);
        let running = repl::progress::start();
        let mut outcome =
            work(session, &mut |text| repl::progress::write_output(text, |text| output.write(text)));
        drop(running);
        // Output elsewhere, such as that of a test, does not depend on the terminal.
        session.set_screen(Screen::default());
        if matches!(outcome.status, Status::Interrupted | Status::Exited(_)) {
            // The user has pressed Ctrl-C, or the program has ended itself: that is no error.
            outcome.diagnostics.retain(|diagnostic| !diagnostic.is_error());
        }
        outcome
    }

    /// Checks a file and reports its diagnostics; returns the exit code.
    fn check(&mut self, file: &Path) -> u8 {
        let SourceText { name, text } = match input::read(file) {
            Ok(text) => text,
            Err(refusal) => return self.report_input_error(&refusal),
        };
        self.session.set_loader(Box::new(FileLoader::relative_to(file)));
        // The number of arguments is not known; a program that checks must run without any.
        self.define_arguments(&text, &[]);
        let outcome = self.session.check(&name, &text);
        self.report_diagnostics(&outcome.diagnostics);
        exit_code(outcome.status)
    }

    /// Answers `felis can`: `yes` with the type and the choices, or `no` with the reason. Returns
    /// the exit code.
    fn print_use(&mut self, name: &str, types: &[String], with: Option<&Path>) -> u8 {
        if let Some(code) = with.and_then(|file| self.run_declarations(file)) {
            return code;
        }
        let types: Vec<&str> = types.iter().map(String::as_str).collect();
        match self.session.resolve_use(name, &types) {
            Ok(able) => {
                let chain = able.call_chain + &able.kernel;
                self.output.write(&format!("yes : {}\n{}{chain}", able.result, able.choices));
                self.report_diagnostics(&able.remarks);
                exit::OK
            }
            Err(diagnostics) => {
                // Without types, all functions of the name are listed, as by `:can` in a session.
                let forms =
                    if types.is_empty() { self.session.scoped_overload_signatures(name) } else { None };
                if let Some(forms) = forms {
                    self.output.write(&forms);
                    return exit::OK;
                }
                self.output.write("no\n");
                self.report_diagnostics(&diagnostics);
                exit::REJECTED
            }
        }
    }

    /// Checks the laws of the instances in a program, which runs first, or of those in the library,
    /// on random values. Returns the exit code.
    fn laws(&mut self, file: Option<&Path>, cases: u32, seed: u64) -> u8 {
        if let Some(code) = file.and_then(|file| self.run_declarations(file)) {
            return code;
        }
        let Shell { session, interrupts, .. } = self;
        let trials = {
            let _running = interrupts.while_doing(Activity::Evaluating);
            session.check_laws(cases, seed, file.is_none())
        };
        let trials = match trials {
            Ok(trials) => trials,
            Err(diagnostics) => {
                self.report_diagnostics(&diagnostics);
                return exit::REJECTED;
            }
        };
        let (mut held, mut code) = (0, exit::OK);
        for LawTrial { instance, law, verdict } in &trials {
            let name = format!("{instance} {law}");
            match verdict {
                LawVerdict::Held(_) => held += 1,
                LawVerdict::NoValues(ty) => {
                    self.output.write(&format!("{name}: not tried, no values of `{ty}` can be drawn\n"));
                }
                LawVerdict::Broken(at) => {
                    self.output.write(&format!("{name}: does not hold at {at}\n"));
                    code = exit::FAILED;
                }
                LawVerdict::Failed(at, diagnostic) => {
                    self.output.write(&format!("{name}: fails at {at}\n"));
                    self.report_diagnostics(std::slice::from_ref(diagnostic));
                    code = exit::FAILED;
                }
                LawVerdict::Interrupted => code = exit::INTERRUPTED,
            }
        }
        self.output.write(&format!(
            "{held} of {} laws held, {cases} choices of values each, seed {seed}\n",
            trials.len()
        ));
        code
    }

    /// Writes a verdict for each line `left<TAB>right` of standard input: `error` for an invalid
    /// line and an empty line for an empty one, so that lines correspond.
    fn iso_batch(&mut self) -> u8 {
        let mut worst = exit::OK;
        for (number, line) in std::io::stdin().lock().split(b'\n').enumerate() {
            let Ok(line) = line else { return exit::USAGE };
            let line = String::from_utf8_lossy(&line);
            let line = line.trim_end_matches('\r');
            if number % LINES_PER_SESSION == LINES_PER_SESSION - 1 {
                self.session.reset();
            }
            if line.is_empty() {
                self.output.write("\n");
                continue;
            }
            let answer = match line.split_once('\t') {
                Some((left, right)) => self.session.iso(left, right, false),
                None => {
                    self.output.flush();
                    output::print_error(&format!("felis: line {}: no tab between two types", number + 1));
                    Err(Vec::new())
                }
            };
            match answer {
                Ok(comparison) => self.output.write(&format!("{}\n", comparison.verdict)),
                Err(diagnostics) => {
                    self.output.write("error\n");
                    if !diagnostics.is_empty() {
                        self.output.flush();
                        output::print_error(&format!("felis: line {}:", number + 1));
                        self.report_diagnostics(&diagnostics);
                    }
                    worst = exit::REJECTED;
                }
            }
        }
        worst
    }

    /// Reports names in types that may be mistakes, on standard error.
    fn note_implicit_names(&mut self, types: &[&str]) {
        self.output.flush();
        answers::implicit_names_note(&mut self.session, types).lines().for_each(output::print_error);
    }

    /// Writes the answer to a question, or its diagnostics; returns the exit code.
    fn write_answer(&mut self, answer: Result<String, Vec<Diagnostic>>) -> u8 {
        match answer {
            Ok(text) => {
                self.output.write(&text);
                exit::OK
            }
            Err(diagnostics) => {
                self.report_diagnostics(&diagnostics);
                exit::REJECTED
            }
        }
    }

    /// Reports an input error; returns the exit code.
    fn report_input_error(&mut self, refusal: &InputError) -> u8 {
        self.output.flush();
        if self.messages == MessageFormat::SourceText {
            return refusal.report(&self.output);
        }
        self.write_message(&refusal.json());
        refusal.exit_code()
    }

    /// Writes a JSON message to the stream of messages.
    fn write_message(&mut self, line: &str) {
        if self.messages == MessageFormat::JsonOut {
            self.output.write(line);
        } else {
            self.output.flush();
            self.output.write_error_text(line);
        }
    }

    /// Writes diagnostics in the format and to the stream of messages.
    fn report_diagnostics(&mut self, diagnostics: &[Diagnostic]) {
        if self.messages != MessageFormat::SourceText {
            for diagnostic in diagnostics {
                let line = format!("{}\n", json::diagnostic_line(diagnostic, self.session.sources()));
                self.write_message(&line);
            }
            return;
        }
        self.output.flush();
        for diagnostic in diagnostics {
            let (color, columns) = (self.output.color, output::stderr_columns());
            self.output.write_error_text(&self.session.render_within(diagnostic, color, columns));
        }
    }
}

/// The number of lines after which a batch starts a new session, because a session keeps all its
/// texts.
const LINES_PER_SESSION: usize = 10_000;

/// Returns the exit code of a status.
fn exit_code(status: Status) -> u8 {
    match status {
        Status::Ok => exit::OK,
        Status::Rejected => exit::REJECTED,
        Status::Failed => exit::FAILED,
        Status::Interrupted => exit::INTERRUPTED,
        Status::Exited(code) => code,
    }
}
