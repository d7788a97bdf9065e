//! The session at a terminal, and the same without one.
//!
//! Reads inputs (as many lines as it takes to complete one), evaluates each, shows its value with
//! its type. A failed input changes nothing.

mod colors;
mod commands;
mod editor;
mod files;
mod history;
pub mod progress;
mod why;
mod words;

pub use commands::duration;

use super::commands::Flow;
use super::input::{LARGEST, decode};
use super::interrupt::{Doing, Resizes};
use super::{Shell, code, exit, output};
use felis::diagnostic::Diagnostic;
use felis::session::{IncrementalSplit, Mode, Session, Shown, Status, Window};
use rustyline::error::ReadlineError;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::{BufRead, Read};
use std::path::PathBuf;
use std::rc::Rc;
use unicode_width::UnicodeWidthStr;

const PROMPT: &str = "felis> ";
/// What stands before each further line of an input, as wide as the prompt.
const CONTINUED: &str = "  ...> ";

/// A session at a prompt, with what its commands remember.
pub struct Repl {
    shell: Shell,
    /// How much is seen at once.
    window: Window,
    /// The file loaded last.
    loaded: Option<PathBuf>,
    /// Files that were loaded or saved here, without links, and what they held then.
    own: BTreeMap<PathBuf, String>,
    /// The last error.
    wrong: Option<Diagnostic>,
    /// The last input that was no command.
    last: String,
}

/// A session with a line editor.
pub fn interactive(shell: Shell) -> u8 {
    let repl = Rc::new(RefCell::new(Repl::new(shell)));
    let mut editor = match editor::editor(&repl) {
        Ok(editor) => editor,
        Err(_) => return repl.borrow_mut().read_all(),
    };
    let history = history::file();
    if let Some(file) = &history {
        // A history that cannot be read is an empty one.
        let _ = editor.load_history(file);
    }
    progress::watch(&mut repl.borrow_mut().shell.session);
    repl.borrow_mut()
        .shell
        .output
        .write(&format!("Felis {}   :help lists commands, Ctrl-D leaves\n", env!("CARGO_PKG_VERSION")));
    repl.borrow().shell.interrupts.hold_on();
    // Between two inputs a signal is for nobody.
    let _editing = repl.borrow().shell.interrupts.while_doing(Doing::Editing);
    loop {
        repl.borrow_mut().window =
            editor.dimensions().map_or(PAGE, |(columns, lines)| window(columns, lines));
        if let Some(assistant) = editor.helper() {
            assistant.begin();
        }
        let resizes = Resizes::heard();
        let line = editor.readline(PROMPT);
        drop(resizes);
        match line {
            Ok(text) if text.trim().is_empty() => {}
            Ok(text) => {
                let _ = editor.add_history_entry(text.trim_end());
                let text = editor::entered(&text);
                if let Some(file) = &history {
                    let _ = editor.append_history(file);
                }
                // What was put in at once may be several inputs. Those after one that fails may rely on it.
                for input in Session::inputs_of(&text) {
                    match repl.borrow_mut().take(input) {
                        Flow::Quit => return exit::OK,
                        Flow::Continue(exit::OK) => {}
                        Flow::Continue(_) => break,
                    }
                }
            }
            Err(ReadlineError::Interrupted) => {}
            // Bytes that are no text: what was typed with them is lost, and nothing else.
            Err(ReadlineError::Io(error)) if error.kind() == std::io::ErrorKind::InvalidData => {
                output::complain("felis: what was typed is no text in UTF-8, and is left out");
            }
            Err(ReadlineError::Eof) => return exit::OK,
            Err(error) => {
                output::complain(&format!("felis: cannot read from the terminal: {error}"));
                return exit::USAGE;
            }
        }
    }
}

/// A session that reads lines and prompts for none.
pub fn piped(shell: Shell) -> u8 {
    Repl::new(shell).read_all()
}

impl Repl {
    fn new(shell: Shell) -> Repl {
        Repl { shell, window: PAGE, loaded: None, own: BTreeMap::new(), wrong: None, last: String::new() }
    }

    fn read_all(&mut self) -> u8 {
        let mut worst = exit::OK;
        let mut pending = IncrementalSplit::default();
        let mut stdin = std::io::stdin().lock();
        loop {
            let before = pending.text().len();
            let mut line = Vec::new();
            // One byte more than there may be shows that there are too many.
            let room = LARGEST + 1 - before as u64;
            let end = match (&mut stdin).take(room).read_until(b'\n', &mut line) {
                Ok(read) if read as u64 == room => {
                    output::complain(&format!("felis: an input is larger than {} MiB", LARGEST >> 20));
                    return exit::USAGE;
                }
                Ok(read) => read == 0,
                Err(error) => {
                    output::complain(&format!("felis: cannot read standard input: {error}"));
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
                        worst = worst.max(refusal.tell(&self.shell.output));
                    }
                    continue;
                }
            };
            let open = pending.push(&line);
            // A line that cannot end an input need not be looked at twice.
            let blank = line.trim().is_empty() && before > 0;
            let command = pending.text().trim_start().starts_with([':', '?']);
            if !end && (blank || open && !command || unfinished(pending.text())) {
                continue;
            }
            let text = std::mem::take(&mut pending).into_text();
            match self.take(&text) {
                Flow::Continue(exit::INTERRUPTED) => return exit::INTERRUPTED,
                Flow::Continue(code) => worst = worst.max(code),
                Flow::Quit => return worst,
            }
            self.shell.output.flush();
        }
    }

    /// Does what one input says.
    fn take(&mut self, text: &str) -> Flow {
        if text.trim_start().starts_with([':', '?']) {
            let _asking = self.shell.interrupts.while_doing(Doing::Evaluating);
            return commands::run(self, text);
        }
        self.last = text.to_string();
        self.input(text)
    }

    /// Evaluates one input and shows what becomes of it.
    fn input(&mut self, text: &str) -> Flow {
        if let Some(forms) = self.shell.session.forms_of(text) {
            self.shell.output.write(&forms);
            return Flow::Continue(exit::OK);
        }
        let outcome = self.shell.outcome("input", text, Mode::Display(self.window));
        self.shell.output.end_line();
        self.note(&outcome.diagnostics);
        self.shell.tell(&outcome.diagnostics);
        let word = text.trim().trim_end_matches(';');
        if outcome.status == Status::Rejected && ["help", "quit", "exit"].contains(&word) {
            output::complain("commands begin with a colon: `:help` lists them, `:quit` leaves");
        }
        if let Some(value) = outcome.value {
            self.shell.output.write(&shown(&value, self.window));
        }
        if outcome.status == Status::Interrupted {
            output::complain("interrupted; nothing has changed");
        }
        Flow::Continue(code(outcome.status))
    }

    /// Remembers what went wrong.
    fn note(&mut self, diagnostics: &[Diagnostic]) {
        if let Some(wrong) = diagnostics.iter().find(|diagnostic| diagnostic.is_error()) {
            self.wrong = Some(wrong.clone());
        }
    }
}

/// A result with its type: in the same line if there is room.
fn shown(value: &Shown, window: Window) -> String {
    let text = &value.text;
    // A type that names a size does not say how much it is.
    let sizes: Vec<String> = value.sizes.iter().map(|(name, size)| format!("{name} = {size}")).collect();
    let sizes = if sizes.is_empty() { String::new() } else { format!("   where {}", sizes.join(", ")) };
    let ty = format!("{}{sizes}", value.ty);
    let short = text.width() + ty.width() + 3 <= window.columns || text.width() < MOST_BEFORE_TYPE;
    match text.contains('\n') || !short {
        true => format!("{text}\n  : {ty}\n"),
        false => format!("{text} : {ty}\n"),
    }
}

/// After a text that is shorter than this its type follows in the line, however long it is.
const MOST_BEFORE_TYPE: usize = 40;

/// How much is seen at once where no terminal says.
const PAGE: Window = Window { columns: 100, rows: 20 };

/// How much is seen at once on a terminal.
fn window(columns: u16, lines: u16) -> Window {
    // What was asked should still be seen above the answer.
    let rows = usize::from(lines).saturating_sub(6).clamp(5, 24);
    match columns {
        // A terminal that does not know.
        0 => PAGE,
        _ => Window { columns: usize::from(columns).max(20), rows },
    }
}

/// Whether more lines should be read before this is evaluated.
fn unfinished(text: &str) -> bool {
    let text = text.trim_start();
    // A `///` comment is followed by what it is about.
    let about = text.lines().rfind(|line| !line.trim().is_empty());
    let announces = about.is_some_and(|line| line.trim_start().starts_with("///"));
    !text.starts_with([':', '?']) && (announces || Session::incomplete(text))
}
