//! The line editor: what it asks while a line is written.
//!
//! Takes a line and the place of the cursor; gives its colours, what could be written next, and whether
//! the input is complete. Evaluates nothing.

use super::commands::{COMMANDS, Wants};
use super::{PROMPT, Repl, colors, commands, files, unfinished};
use rustyline::completion::Completer;
use rustyline::highlight::{CmdKind, Highlighter};
use rustyline::hint::{Hint, Hinter};
use rustyline::history::FileHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{ColorMode, CompletionType, Config, Context, Editor, Helper};
use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::{Duration, Instant};
use unicode_width::UnicodeWidthStr;

/// A line editor of a session.
pub type Line = Editor<Assistant, FileHistory>;

/// A line editor for a session.
pub fn editor(repl: &Rc<RefCell<Repl>>) -> rustyline::Result<Line> {
    let color = repl.borrow().shell.output.color;
    let config = Config::builder()
        .completion_type(CompletionType::List)
        .color_mode(if color { ColorMode::Enabled } else { ColorMode::Disabled })
        .max_history_size(10_000)?
        .history_ignore_space(true)
        .build();
    let mut editor = Editor::with_history(config.clone(), FileHistory::with_config(&config))?;
    editor.set_helper(Some(Assistant {
        repl: repl.clone(),
        color,
        finished: Cell::new(false),
        slow: Cell::new(None),
    }));
    Ok(editor)
}

/// What the line editor asks while a line is written.
#[derive(Helper)]
pub struct Assistant {
    repl: Rc<RefCell<Repl>>,
    color: bool,
    /// The line is shown for the last time.
    finished: Cell<bool>,
    /// How long the line was when its hint took too long to find.
    slow: Cell<Option<usize>>,
}

/// A hint that takes longer is the last one for its line.
const LONGEST_WAIT: Duration = Duration::from_millis(30);
/// A hint that would have less room than this is not shown.
const LEAST_ROOM: usize = 10;

/// What is told beside a line, and is no part of it.
pub struct Aside(String);

impl Hint for Aside {
    fn display(&self) -> &str {
        &self.0
    }

    fn completion(&self) -> Option<&str> {
        None
    }
}

impl Hinter for Assistant {
    type Hint = Aside;

    fn hint(&self, line: &str, at: usize, _: &Context<'_>) -> Option<Aside> {
        let text = line.trim();
        if at < line.len() || text.is_empty() || line.ends_with('\n') || text.starts_with(':') {
            self.slow.set(None);
            return None;
        }
        if self.slow.get().is_some_and(|length| line.len() >= length) {
            return None;
        }
        let mut repl = self.repl.try_borrow_mut().ok()?;
        let start = Instant::now();
        let hint = repl.shell.session.hint(text);
        self.slow.set((start.elapsed() > LONGEST_WAIT).then_some(line.len()));
        // It stands after the last line, and takes no line of its own.
        let prompt = if line.contains('\n') { 0 } else { PROMPT.len() };
        let used = prompt + line.rsplit('\n').next().unwrap_or(line).width();
        let room = repl.window.columns.saturating_sub(used + 3);
        let hint = hint.filter(|_| room >= LEAST_ROOM)?;
        let hint = hint.lines().next().unwrap_or("");
        let short = if hint.width() > room { without_parameters(hint) } else { None };
        let hint = short.as_deref().unwrap_or(hint);
        let fitting = match hint.char_indices().nth(room) {
            Some((end, _)) => format!("{}…", &hint[..end]),
            None => hint.to_string(),
        };
        Some(Aside(format!("  {fitting}")))
    }
}

/// A function's name and type without the types it is for, `matmul : …` for `matmul[T, … with …] : …`: what it takes comes first.
fn without_parameters(hint: &str) -> Option<String> {
    let name = hint.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '\''))?;
    let mut depth = 0;
    let end = hint[name..].char_indices().find_map(|(at, c)| {
        depth += i32::from(c == '[') - i32::from(c == ']');
        (depth == 0).then_some(name + at + c.len_utf8())
    })?;
    (name > 0 && hint[name..].starts_with('[')).then(|| format!("{}{}", &hint[..name], &hint[end..]))
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
        let Ok(mut repl) = self.repl.try_borrow_mut() else { return Ok((at, Vec::new())) };
        let before = &line[..at];
        let begin = before.len() - before.trim_start().len();
        let (mut start, mut names) = if before[begin..].starts_with(':') {
            complete_command(&mut repl, before, begin)
        } else {
            let found = repl.shell.session.complete_at(line, at);
            (found.start, found.names)
        };
        if start == at && names.is_empty() {
            // Where no word begins, Tab indents.
            (start, names) = (at, vec!["  ".to_string()]);
        }
        Ok((start, names))
    }
}

/// What could go on in a line that begins with a colon: a command, or what the command is used on.
fn complete_command(repl: &mut Repl, before: &str, begin: usize) -> (usize, Vec<String>) {
    let Some(end) = before[begin..].find(char::is_whitespace).map(|length| begin + length) else {
        let names = COMMANDS.iter().filter(|command| command.name.starts_with(&before[begin..]));
        let space = |wants| if wants == Wants::Nothing { "" } else { " " };
        return (begin, names.map(|c| format!("{}{}", c.name, space(c.wants))).collect());
    };
    let Ok(command) = commands::find(&before[begin..end]) else { return (before.len(), Vec::new()) };
    let argument = before[end..].trim_start();
    let from = before.len() - argument.len();
    let session = &mut repl.shell.session;
    let found = session.complete_at(argument, argument.len());
    let (start, prefix) = (from + found.start, &argument[found.start..]);
    match command.wants {
        Wants::Nothing => (before.len(), Vec::new()),
        Wants::Expression => (start, found.names),
        Wants::Name => (start, session.complete(prefix)),
        Wants::Type => (start, session.complete_type(prefix)),
        Wants::Class => (start, session.complete_class(prefix)),
        Wants::File => (from, files::complete(argument)),
        Wants::Command => {
            let bare = argument.trim_start_matches(':');
            let names =
                COMMANDS.iter().map(|command| &command.name[1..]).filter(|name| name.starts_with(bare));
            (before.len() - bare.len(), names.map(str::to_string).collect())
        }
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

#[cfg(test)]
mod tests {
    use super::without_parameters;

    #[test]
    fn long_hints_leave_out_what_a_function_is_for() {
        let short = without_parameters("f'[T, U[_] with Add[T]] : T ^ 3 -> T");
        assert_eq!(short.as_deref(), Some("f' : T ^ 3 -> T"));
        assert_eq!(without_parameters("f : int -> int"), None);
        assert_eq!(without_parameters(": real ^ 3"), None);
    }
}
