//! The interactive session, at a terminal and without one.
//!
//! Reads inputs (as many lines as make an input complete), evaluates each, and shows its value with
//! its type. A failed input changes nothing.

mod commands;
mod editor;
mod files;
mod highlight;
mod history;
pub mod progress;
mod shell;
mod why;
mod word_docs;

pub use commands::{format_duration, word_documentation};

use super::answers::Flow;
use super::input::{MAX_TEXT_BYTES, decode};
use super::interrupt::{Activity, ResizeSignalGuard};
use super::{Shell, exit, exit_code, output};
use felis::session::{IncrementalSplit, Mode, Session, Status, ValueText, Window};
use felis_base::diagnostic::{Diagnostic, apply_edits};
use felis_base::source::Span;
use rustyline::error::ReadlineError;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::{BufRead, Read};
use std::path::PathBuf;
use std::rc::Rc;
use unicode_width::UnicodeWidthStr;

/// The prompt before the first line of an input.
const PROMPT: &str = "felis> ";
/// The mark before each further line of an input, as wide as the prompt.
const CONTINUATION_PROMPT: &str = "  ...> ";

/// A session at a prompt, with the state of its commands.
pub struct Repl {
    /// The session with its output.
    shell: Shell,
    /// The size of the window for the layout of results.
    window: Window,
    /// The file loaded last.
    loaded: Option<PathBuf>,
    /// The files that were loaded or saved here, by paths without links, with their contents at
    /// that time.
    known_files: BTreeMap<PathBuf, String>,
    /// The last error.
    last_error: Option<Diagnostic>,
    /// The last input that was not a command.
    last_input: String,
    /// The last input with the edits that its errors suggest, which Tab takes.
    correction: Option<String>,
}

/// Runs a session with a line editor. Returns the exit code.
pub fn run_interactive(shell: Shell) -> u8 {
    let repl = Rc::new(RefCell::new(Repl::new(shell)));
    let mut editor = match editor::line_editor(&repl) {
        Ok(editor) => editor,
        Err(_) => return repl.borrow_mut().read_all(),
    };
    let history = history::history_file();
    if let Some(file) = &history {
        // A history that cannot be read is treated as empty.
        let _ = editor.load_history(file);
    }
    progress::install(&mut repl.borrow_mut().shell.session);
    repl.borrow_mut()
        .shell
        .output
        .write(&format!("Felis {}   :help lists commands, Ctrl-D leaves\n", env!("CARGO_PKG_VERSION")));
    repl.borrow().shell.interrupts.protect_session();
    // Between two inputs a signal has nothing to stop.
    let _editing = repl.borrow().shell.interrupts.while_doing(Activity::Editing);
    loop {
        repl.borrow_mut().window =
            editor.dimensions().map_or(DEFAULT_WINDOW, |(columns, lines)| terminal_window(columns, lines));
        if let Some(assistant) = editor.helper() {
            assistant.start_line();
        }
        let resizes = ResizeSignalGuard::unblock();
        let line = editor.readline(PROMPT);
        drop(resizes);
        match line {
            Ok(text) if text.trim().is_empty() => {}
            Ok(text) => {
                let _ = editor.add_history_entry(text.trim_end());
                let text = editor::strip_line_marks(&text);
                if let Some(file) = &history {
                    let _ = editor.append_history(file);
                }
                // Pasted text may be several inputs. After a failure the rest is skipped, because
                // it may rely on the failed input.
                for input in Session::split_inputs(&text) {
                    match repl.borrow_mut().handle_input(input) {
                        Flow::Quit => return exit::OK,
                        Flow::Exit(code) => return code,
                        Flow::Continue(exit::OK) => {}
                        Flow::Continue(_) => break,
                    }
                }
            }
            Err(ReadlineError::Interrupted) => {}
            // Invalid UTF-8: the line is lost, and the session goes on.
            Err(ReadlineError::Io(error)) if error.kind() == std::io::ErrorKind::InvalidData => {
                output::print_error("felis: what was typed is no text in UTF-8, and is left out");
            }
            Err(ReadlineError::Eof) => return exit::OK,
            Err(error) => {
                output::print_error(&format!("felis: cannot read from the terminal: {error}"));
                return exit::USAGE;
            }
        }
    }
}

/// Runs a session that reads lines without prompts. Returns the exit code.
pub fn run_piped(shell: Shell) -> u8 {
    Repl::new(shell).read_all()
}

impl Repl {
    /// Returns a prompt without any history.
    fn new(shell: Shell) -> Repl {
        Repl {
            shell,
            window: DEFAULT_WINDOW,
            loaded: None,
            known_files: BTreeMap::new(),
            last_error: None,
            last_input: String::new(),
            correction: None,
        }
    }

    /// Reads and evaluates standard input to its end; returns the worst exit code.
    fn read_all(&mut self) -> u8 {
        let mut worst = exit::OK;
        let mut pending = IncrementalSplit::default();
        let mut stdin = std::io::stdin().lock();
        loop {
            let before = pending.text().len();
            let mut line = Vec::new();
            // One byte more than the maximum shows that the input is too long.
            let room = MAX_TEXT_BYTES + 1 - before as u64;
            let end = match (&mut stdin).take(room).read_until(b'\n', &mut line) {
                Ok(read) if read as u64 == room => {
                    output::print_error(&format!(
                        "felis: an input is larger than {} MiB",
                        MAX_TEXT_BYTES >> 20
                    ));
                    return exit::USAGE;
                }
                Ok(read) => read == 0,
                Err(error) => {
                    output::print_error(&format!("felis: cannot read standard input: {error}"));
                    return exit::USAGE;
                }
            };
            if before == 0 && end {
                return worst;
            }
            let line = match String::from_utf8(line) {
                Ok(line) => line,
                Err(error) => {
                    let mut bytes = std::mem::take(&mut pending).into_text().into_bytes();
                    bytes.extend(error.as_bytes());
                    if let Err(refusal) = decode("standard input", bytes) {
                        self.shell.output.flush();
                        worst = worst.max(refusal.report(&self.shell.output));
                    }
                    continue;
                }
            };
            let open = pending.push(&line);
            // A line that cannot end an input need not be parsed.
            let blank = line.trim().is_empty() && before > 0;
            let command = pending.text().trim_start().starts_with([':', '?']);
            if !end && (blank || open && !command || needs_more_lines(pending.text())) {
                continue;
            }
            let text = std::mem::take(&mut pending).into_text();
            match self.handle_input(&text) {
                Flow::Continue(exit::INTERRUPTED) => return exit::INTERRUPTED,
                Flow::Continue(exit_code) => worst = worst.max(exit_code),
                Flow::Quit => return worst,
                Flow::Exit(code) => return code,
            }
            self.shell.output.flush();
        }
    }

    /// Carries out one input: a command, or statements.
    fn handle_input(&mut self, text: &str) -> Flow {
        if text.trim_start().starts_with([':', '?']) {
            let _asking = self.shell.interrupts.while_doing(Activity::Evaluating);
            return commands::run(self, text);
        }
        self.last_input = text.to_string();
        self.evaluate_input(text)
    }

    /// Evaluates one input and shows its result or its diagnostics.
    fn evaluate_input(&mut self, text: &str) -> Flow {
        self.evaluate_in_window(text, self.window)
    }

    /// Evaluates one input and shows its result at length, in a pager if the screen is too small.
    fn page(&mut self, text: &str) -> Flow {
        self.evaluate_in_window(text, Window::page(self.window.columns))
    }

    /// Shows a text: in a pager if the screen is too small for it.
    fn show_text(&mut self, text: &str) {
        let _reading = self.shell.interrupts.while_doing(Activity::Editing);
        self.shell.output.write_paged(text);
    }

    /// Evaluates one input and shows its result, laid out for a window, or its diagnostics.
    fn evaluate_in_window(&mut self, text: &str, window: Window) -> Flow {
        if let Some(forms) = self.shell.session.overload_signatures(text) {
            self.shell.output.write(&forms);
            return Flow::Continue(exit::OK);
        }
        let outcome = self.shell.evaluate_with_output("input", text, Mode::Display(window));
        self.shell.output.end_line();
        self.record_error(&outcome.diagnostics);
        self.correction = self.corrected_input(&outcome.diagnostics);
        self.shell.report_diagnostics(&outcome.diagnostics);
        let word = text.trim().trim_end_matches(';');
        if outcome.status == Status::Rejected && ["help", "quit", "exit"].contains(&word) {
            output::print_error("commands begin with a colon: `:help` lists them, `:quit` leaves");
        }
        if let Some(value) = outcome.value {
            let text = result_text(&value, window);
            match window.is_page() {
                true => self.show_text(&text),
                false => self.shell.output.write(&text),
            }
        }
        if outcome.status == Status::Interrupted {
            output::print_error("interrupted; nothing has changed");
        }
        if let Status::Exited(code) = outcome.status {
            return Flow::Exit(code);
        }
        Flow::Continue(exit_code(outcome.status))
    }

    /// Returns the input of diagnostics with the edits that its errors suggest; `None` if one of
    /// them suggests none, or the input has several lines.
    fn corrected_input(&self, diagnostics: &[Diagnostic]) -> Option<String> {
        let mut edits: Vec<(Span, String)> = Vec::new();
        for diagnostic in diagnostics.iter().filter(|diagnostic| diagnostic.is_error()) {
            let help = diagnostic.help.as_ref().filter(|help| !help.edits.is_empty())?;
            edits.extend(help.edits.iter().filter(|edit| !edits.contains(edit)).cloned().collect::<Vec<_>>());
        }
        let source = self.shell.session.sources().get(edits.first()?.0.source)?;
        let own = edits.iter().all(|(span, _)| span.source == source.id);
        let corrected = apply_edits(source.text.trim_end(), source.id, &edits);
        (own && source.name == "input" && !corrected.contains('\n')).then_some(corrected)
    }

    /// Stores the first error.
    fn record_error(&mut self, diagnostics: &[Diagnostic]) {
        if let Some(wrong) = diagnostics.iter().find(|diagnostic| diagnostic.is_error()) {
            self.last_error = Some(wrong.clone());
        }
    }
}

/// Returns a result with its type, in one line if there is room.
fn result_text(value: &ValueText, window: Window) -> String {
    let text = &value.text;
    // A type that names a size does not show its value.
    let sizes: Vec<String> = value.sizes.iter().map(|(name, size)| format!("{name} = {size}")).collect();
    let sizes = if sizes.is_empty() { String::new() } else { format!("   where {}", sizes.join(", ")) };
    let ty = format!("{}{sizes}", value.ty);
    let short = text.width() + ty.width() + 3 <= window.columns || text.width() < MAX_INLINE_VALUE_COLUMNS;
    match text.contains('\n') || !short {
        true => format!("{text}\n  : {ty}\n"),
        false => format!("{text} : {ty}\n"),
    }
}

/// The maximum width of a value after which a type of any length follows in the same line, in
/// columns.
const MAX_INLINE_VALUE_COLUMNS: usize = 40;

/// The window if no terminal reports its size.
const DEFAULT_WINDOW: Window = Window { columns: 100, rows: 20 };

/// Returns the window for a terminal of a size.
fn terminal_window(columns: u16, lines: u16) -> Window {
    // The input stays visible above the answer.
    let rows = usize::from(lines).saturating_sub(6).clamp(5, 24);
    match columns {
        // A terminal of unknown size reports 0.
        0 => DEFAULT_WINDOW,
        _ => Window { columns: usize::from(columns).max(20), rows },
    }
}

/// Returns true if more lines have to be read before a text is evaluated.
fn needs_more_lines(text: &str) -> bool {
    let text = text.trim_start();
    // A `///` comment is followed by the definition that it documents.
    let about = text.lines().rfind(|line| !line.trim().is_empty());
    let announces = about.is_some_and(|line| line.trim_start().starts_with("///"));
    !text.starts_with([':', '?']) && (announces || Session::is_incomplete(text))
}
