//! The session at a terminal, and the same without one.
//!
//! Reads inputs (as many lines as it takes to complete one), evaluates each, shows its value with
//! its type. A failed input changes nothing.

mod colors;
mod editor;
mod history;

use super::commands::{Flow, command};
use super::input::{LARGEST, decode};
use super::interrupt::Doing;
use super::{Shell, code, exit, output};
use felis::session::{Mode, Session, Shown, Status};
use rustyline::error::ReadlineError;
use std::cell::RefCell;
use std::io::BufRead;
use std::rc::Rc;

const PROMPT: &str = "felis> ";

/// A session with a line editor.
pub fn interactive(shell: Shell) -> u8 {
    let shell = Rc::new(RefCell::new(shell));
    let mut editor = match editor::editor(&shell) {
        Ok(editor) => editor,
        Err(_) => return read_all(&mut shell.borrow_mut()),
    };
    let history = history::file();
    if let Some(file) = &history {
        // A history that cannot be read is an empty one.
        let _ = editor.load_history(file);
    }
    shell
        .borrow_mut()
        .output
        .write(&format!("Felis {}   :help lists commands, Ctrl-D leaves\n", env!("CARGO_PKG_VERSION")));
    // Between two inputs a signal is for nobody.
    let _editing = shell.borrow().interrupts.while_doing(Doing::Editing);
    loop {
        match editor.readline(PROMPT) {
            Ok(text) if text.trim().is_empty() => {}
            Ok(text) => {
                let _ = editor.add_history_entry(text.trim_end());
                if let Some(file) = &history {
                    let _ = editor.append_history(file);
                }
                if let Flow::Quit = input(&mut shell.borrow_mut(), &text) {
                    return exit::OK;
                }
            }
            Err(ReadlineError::Interrupted) => {}
            Err(ReadlineError::Eof) => return exit::OK,
            Err(error) => {
                output::complain(&format!("felis: cannot read from the terminal: {error}"));
                return exit::USAGE;
            }
        }
    }
}

/// A session that reads lines and prompts for none.
pub fn piped(mut shell: Shell) -> u8 {
    read_all(&mut shell)
}

fn read_all(shell: &mut Shell) -> u8 {
    let mut worst = exit::OK;
    let mut pending = Vec::new();
    let mut stdin = std::io::stdin().lock();
    loop {
        let before = pending.len();
        let end = match stdin.read_until(b'\n', &mut pending) {
            Ok(_) if pending.len() as u64 > LARGEST => {
                output::complain(&format!("felis: an input is larger than {} MiB", LARGEST >> 20));
                return exit::USAGE;
            }
            Ok(read) => read == 0,
            Err(error) => {
                output::complain(&format!("felis: cannot read standard input: {error}"));
                return exit::USAGE;
            }
        };
        if pending.is_empty() {
            return worst;
        }
        let text = match decode("standard input", std::mem::take(&mut pending)) {
            Ok(text) => text,
            Err(refusal) => {
                shell.output.flush();
                worst = worst.max(refusal.tell(&shell.output));
                continue;
            }
        };
        // A line that cannot end an input need not be looked at twice.
        let added = &text[before..];
        if !end && (added.trim().is_empty() && before > 0 || unfinished(&text)) {
            pending = text.into_bytes();
            continue;
        }
        match input(shell, &text) {
            Flow::Continue(exit::INTERRUPTED) => return exit::INTERRUPTED,
            Flow::Continue(code) => worst = worst.max(code),
            Flow::Quit => return worst,
        }
        shell.output.flush();
    }
}

/// Evaluates one input and shows what becomes of it.
fn input(shell: &mut Shell, text: &str) -> Flow {
    if text.trim_start().starts_with(':') {
        let _asking = shell.interrupts.while_doing(Doing::Evaluating);
        return command(shell, text);
    }
    let outcome = shell.outcome("input", text, Mode::Line);
    shell.output.end_line();
    shell.tell(&outcome.diagnostics);
    let word = text.trim().trim_end_matches(';');
    if outcome.status == Status::Rejected && ["help", "quit", "exit"].contains(&word) {
        output::complain("commands begin with a colon: `:help` lists them, `:quit` leaves");
    }
    if let Some(value) = outcome.value {
        let text = shown(&value, shell.output.interactive);
        shell.output.write(&text);
    }
    if outcome.status == Status::Interrupted {
        output::complain("interrupted; nothing has changed");
    }
    Flow::Continue(code(outcome.status))
}

/// The longest value shown at a terminal, in characters.
const LONGEST: usize = 20_000;

fn shown(value: &Shown, interactive: bool) -> String {
    let text = value.in_session();
    match text.char_indices().nth(LONGEST).filter(|_| interactive) {
        Some((end, _)) => format!("{}…\n  : {}   (`println` writes all of it)\n", &text[..end], value.ty),
        None => format!("{text} : {}\n", value.ty),
    }
}

/// Whether more lines should be read before this is evaluated.
fn unfinished(text: &str) -> bool {
    !text.trim_start().starts_with(':') && Session::incomplete(text)
}
