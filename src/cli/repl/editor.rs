//! The line editor: what it asks while a line is written.
//!
//! Takes a line and the place of the cursor; gives its colours, what could be written next, and whether
//! the input is complete. Evaluates nothing.

use super::super::Shell;
use super::super::commands::COMMANDS;
use super::{colors, unfinished};
use rustyline::completion::Completer;
use rustyline::highlight::{CmdKind, Highlighter};
use rustyline::history::FileHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{ColorMode, CompletionType, Config, Context, Editor, Helper, Hinter};
use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// A line editor of a session.
pub type Line = Editor<Assistant, FileHistory>;

/// A line editor for a session.
pub fn editor(shell: &Rc<RefCell<Shell>>) -> rustyline::Result<Line> {
    let color = shell.borrow().output.color;
    let config = Config::builder()
        .completion_type(CompletionType::List)
        .color_mode(if color { ColorMode::Enabled } else { ColorMode::Disabled })
        .max_history_size(10_000)?
        .history_ignore_space(true)
        .build();
    let mut editor = Editor::with_history(config.clone(), FileHistory::with_config(&config))?;
    editor.set_helper(Some(Assistant { shell: shell.clone(), color, finished: Cell::new(false) }));
    Ok(editor)
}

/// What the line editor asks while a line is written.
#[derive(Helper, Hinter)]
pub struct Assistant {
    shell: Rc<RefCell<Shell>>,
    color: bool,
    /// The line is shown for the last time.
    finished: Cell<bool>,
}

impl Highlighter for Assistant {
    fn highlight<'l>(&self, line: &'l str, at: usize) -> Cow<'l, str> {
        colors::line(line, (!self.finished.get()).then_some(at))
    }

    fn highlight_prompt<'b, 's: 'b, 'p: 'b>(&'s self, prompt: &'p str, _: bool) -> Cow<'b, str> {
        Cow::Borrowed(prompt)
    }

    fn highlight_hint<'h>(&self, hint: &'h str) -> Cow<'h, str> {
        Cow::Owned(colors::aside(hint))
    }

    fn highlight_char(&self, _: &str, _: usize, kind: CmdKind) -> bool {
        self.finished.set(kind == CmdKind::ForcedRefresh);
        self.color
    }
}

impl Completer for Assistant {
    type Candidate = String;

    fn complete(&self, line: &str, at: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<String>)> {
        let before = &line[..at];
        let in_word = |c: char| c.is_alphanumeric() || c == '_' || c == '\'';
        let word = |end: usize| {
            let letters = before[..end].char_indices().rev().take_while(|(_, c)| in_word(*c));
            letters.last().map_or(end, |(i, _)| i)
        };
        let mut start = word(at);
        // `geometry::ar`
        while before[..start].ends_with("::") && word(start - 2) < start - 2 {
            start = word(start - 2);
        }
        if before.trim_start().starts_with(':') && !before.trim_start().contains(char::is_whitespace) {
            let start = before.len() - before.trim_start().len();
            let names =
                COMMANDS.iter().map(|(name, ..)| *name).filter(|name| name.starts_with(&before[start..]));
            return Ok((start, names.map(|name| format!("{name} ")).collect()));
        }
        if start == at {
            // Where no word begins, Tab indents.
            return Ok((at, vec!["  ".to_string()]));
        }
        Ok((start, self.shell.borrow().session.complete(&before[start..])))
    }
}

impl Validator for Assistant {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        let text = context.input();
        // One empty line may stand in a function; two end an input that will never be complete.
        let given_up = text.ends_with("\n\n");
        Ok(if !given_up && unfinished(text) {
            ValidationResult::Incomplete
        } else {
            ValidationResult::Valid(None)
        })
    }
}
