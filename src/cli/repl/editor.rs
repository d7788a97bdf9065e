//! The helper of the line editor: colors, completion, hints, completeness of an input.
//!
//! Takes a line and the position of the cursor. Evaluates nothing.

use super::commands::{ArgumentKind, COMMANDS};
use super::{
    CONTINUATION_PROMPT, DEFAULT_WINDOW, PROMPT, Repl, commands, files, highlight, needs_more_lines,
};
use felis::editor::{self, import_path};
use rustyline::completion::Completer;
use rustyline::highlight::{CmdKind, Highlighter};
use rustyline::hint::{Hint, Hinter};
use rustyline::history::FileHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{
    Cmd, ColorMode, CompletionType, ConditionalEventHandler, Config, Context, DefaultEditor, Editor, Event,
    EventContext, EventHandler, Helper, KeyCode, KeyEvent, Modifiers, RepeatCount,
};
use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::{Duration, Instant};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// A line editor of a session.
pub type LineEditor = Editor<Assistant, FileHistory>;

/// Makes the line editor for a session.
pub fn line_editor(repl: &Rc<RefCell<Repl>>) -> rustyline::Result<LineEditor> {
    let color = repl.borrow().shell.output.color;
    let config = Config::builder()
        .completion_type(CompletionType::List)
        .completion_show_all_if_ambiguous(true)
        // The marks before further lines are drawn by the same mechanism as colors, also without
        // colors.
        .color_mode(ColorMode::Forced)
        .tab_stop(CONTINUATION_PROMPT.len() as u8)
        .max_history_size(10_000)?
        .history_ignore_space(true)
        .build();
    let mut editor = Editor::with_history(config.clone(), FileHistory::with_config(&config))?;
    editor.set_helper(Some(Assistant {
        repl: repl.clone(),
        color,
        finished: Cell::new(false),
        next_hint: Cell::new(None),
        ruler: RefCell::new(DefaultEditor::new()?),
        drawn: RefCell::new(DrawnLine::default()),
    }));
    let enter = KeyEvent(KeyCode::Enter, Modifiers::NONE);
    for key in [enter, KeyEvent::ctrl('J'), KeyEvent::ctrl('M')] {
        editor.bind_sequence(key, EventHandler::Conditional(Box::new(Enter)));
    }
    Ok(editor)
}

/// The beginning of each further line of an input. The line editor supports no mark before such a
/// line, but draws a tab with a configurable width; the mark is drawn in place of the tab.
const LINE_BREAK_MARK: &str = "\n\t";

/// Returns an input without the marks of its lines.
pub fn strip_line_marks(text: &str) -> String {
    text.replace(LINE_BREAK_MARK, "\n")
}

/// Returns true if an input continues in the next line.
fn continues(text: &str) -> bool {
    let text = strip_line_marks(text);
    // One empty line may occur in a function; two end an incomplete input.
    !text.ends_with("\n\n") && needs_more_lines(&text)
}

/// The handler of Enter: begins a new line in an incomplete input.
struct Enter;

impl ConditionalEventHandler for Enter {
    fn handle(&self, _: &Event, _: RepeatCount, _: bool, at: &EventContext) -> Option<Cmd> {
        continues(at.line()).then(|| Cmd::Insert(1, LINE_BREAK_MARK.to_string()))
    }
}

/// The helper of the line editor: completion, hints, colors, completeness.
#[derive(Helper)]
pub struct Assistant {
    /// The session.
    repl: Rc<RefCell<Repl>>,
    /// True if the line is colored.
    color: bool,
    /// True while the line is drawn for the last time.
    finished: Cell<bool>,
    /// The time before which no further hint is made, after one that took long.
    next_hint: Cell<Option<Instant>>,
    /// A second editor that reports the width of the terminal, because the first one is borrowed.
    ruler: RefCell<DefaultEditor>,
    /// The line as drawn last.
    drawn: RefCell<DrawnLine>,
}

/// A line as drawn.
#[derive(Default)]
struct DrawnLine {
    /// The text before the cursor.
    before: String,
    /// The columns of the terminal.
    columns: usize,
}

impl DrawnLine {
    /// Returns the number of terminal lines of this width from the prompt to the cursor.
    fn rows_above_cursor(&self, columns: usize) -> usize {
        let (mut row, mut column) = (0, PROMPT.len());
        for c in self.before.chars() {
            let width = match c {
                '\n' => {
                    (row, column) = (row + 1, 0);
                    continue;
                }
                '\t' => CONTINUATION_PROMPT.len() - column % CONTINUATION_PROMPT.len(),
                c => c.width().unwrap_or(0),
            };
            column += width;
            if column > columns {
                (row, column) = (row + 1, width);
            }
        }
        row + usize::from(column == columns)
    }
}

impl Assistant {
    /// Resets the state for a new line.
    pub fn start_line(&self) {
        *self.drawn.borrow_mut() = DrawnLine { before: String::new(), columns: self.terminal_columns() };
    }

    /// Returns the columns of the terminal now.
    fn terminal_columns(&self) -> usize {
        let known = self.ruler.borrow_mut().dimensions().map_or(0, |(columns, _)| usize::from(columns));
        if known == 0 { DEFAULT_WINDOW.columns } else { known }
    }
}

/// The time that a hint may take at every key.
const MAX_HINT_TIME: Duration = Duration::from_millis(30);
/// The pause after a hint that took longer, as a multiple of the time it took. So slow hints take
/// at most a fixed share of the time, and a line whose hint was slow only once has hints again.
const HINT_PAUSE: u32 = 5;
/// The minimum room for a hint, in columns.
const MIN_HINT_COLUMNS: usize = 10;

/// A hint beside a line; it is not part of the line.
pub struct LineHint(String);

impl Hint for LineHint {
    fn display(&self) -> &str {
        &self.0
    }

    fn completion(&self) -> Option<&str> {
        None
    }
}

impl Hinter for Assistant {
    type Hint = LineHint;

    fn hint(&self, line: &str, at: usize, _: &Context<'_>) -> Option<LineHint> {
        let text = line.trim();
        if at < line.len() || text.is_empty() || line.ends_with(['\n', '\t']) || text.starts_with(':') {
            return None;
        }
        if self.next_hint.get().is_some_and(|time| Instant::now() < time) {
            return None;
        }
        let mut repl = self.repl.try_borrow_mut().ok()?;
        let start = Instant::now();
        let hint = editor::hint(&mut repl.shell.session, text);
        let took = start.elapsed();
        self.next_hint.set((took > MAX_HINT_TIME).then(|| Instant::now() + took * HINT_PAUSE));
        // The hint stands after the last line and must fit into that line.
        let last = line.rsplit('\n').next().unwrap_or(line);
        let used = PROMPT.len() + last.trim_start_matches('\t').width();
        let room = self.terminal_columns().saturating_sub(used + 3);
        let hint = hint.filter(|_| room >= MIN_HINT_COLUMNS)?;
        let hint = hint.lines().next().unwrap_or("");
        let short = if hint.width() > room { without_parameters(hint) } else { None };
        let hint = short.as_deref().unwrap_or(hint);
        let fitting = match hint.char_indices().nth(room) {
            Some((end, _)) => format!("{}…", &hint[..end]),
            None => hint.to_string(),
        };
        Some(LineHint(format!("  {fitting}")))
    }
}

/// Returns a function's name and type without its type parameters, so that the argument comes
/// first: `matmul : …` for `matmul[T, … with …] : …`.
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
        self.drawn.borrow_mut().before = line.get(..at).unwrap_or(line).to_string();
        let painted = match self.color {
            true => highlight::highlight_line(line, (!self.finished.get()).then_some(at)),
            false => Cow::Borrowed(line),
        };
        if line.contains('\t') {
            Cow::Owned(highlight::draw_continuation_marks(&painted, CONTINUATION_PROMPT, self.color))
        } else {
            painted
        }
    }

    fn highlight_prompt<'b, 's: 'b, 'p: 'b>(&'s self, prompt: &'p str, _: bool) -> Cow<'b, str> {
        // A terminal that has become narrower has broken the drawn line into more lines than the
        // line editor knows, so the editor would begin too low.
        let columns = self.terminal_columns();
        let mut drawn = self.drawn.borrow_mut();
        let before = std::mem::replace(&mut drawn.columns, columns);
        let more = if columns < before {
            drawn.rows_above_cursor(columns).saturating_sub(drawn.rows_above_cursor(before))
        } else {
            0
        };
        if more == 0 { Cow::Borrowed(prompt) } else { Cow::Owned(format!("\x1b[{more}A\r\x1b[J{prompt}")) }
    }

    fn highlight_hint<'h>(&self, hint: &'h str) -> Cow<'h, str> {
        if self.color { Cow::Owned(highlight::dimmed(hint)) } else { Cow::Borrowed(hint) }
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
        } else if let Some(path) = import_path(before) {
            (at - path.len(), files::complete_path(path))
        } else {
            let found = editor::complete_at(&mut repl.shell.session, line, at);
            (found.start, found.names)
        };
        if let Some(correction) = repl.correction.as_ref().filter(|_| line.is_empty()) {
            return Ok((0, vec![correction.clone()]));
        }
        if start == at && names.is_empty() {
            // Tab indents where no word begins.
            (start, names) = (at, vec!["  ".to_string()]);
        }
        // The common prefix is inserted first; if it adds nothing, all candidates are listed.
        let common = common_prefix(&names);
        if common.len() > at - start {
            names = vec![common.to_string()];
        }
        Ok((start, names))
    }
}

/// Returns the longest common prefix of texts.
fn common_prefix(names: &[String]) -> &str {
    let Some((first, more)) = names.split_first() else { return "" };
    let shared = |other: &String| {
        let alike = first.char_indices().zip(other.chars()).find(|((_, a), b)| a != b);
        alike.map_or(first.len().min(other.len()), |((at, _), _)| at)
    };
    &first[..more.iter().map(shared).min().unwrap_or(first.len())]
}

/// Completes a line that begins with a colon: a command, or its argument.
fn complete_command(repl: &mut Repl, before: &str, begin: usize) -> (usize, Vec<String>) {
    let Some(end) = before[begin..].find(char::is_whitespace).map(|length| begin + length) else {
        let names = COMMANDS.iter().filter(|command| command.name.starts_with(&before[begin..]));
        let space = |argument_kind| if argument_kind == ArgumentKind::Nothing { "" } else { " " };
        return (begin, names.map(|c| format!("{}{}", c.name, space(c.argument_kind))).collect());
    };
    let Ok(command) = commands::find(&before[begin..end]) else { return (before.len(), Vec::new()) };
    let argument = before[end..].trim_start();
    let from = before.len() - argument.len();
    let session = &mut repl.shell.session;
    let found = editor::complete_at(session, argument, argument.len());
    let (start, prefix) = (from + found.start, &argument[found.start..]);
    match command.argument_kind {
        ArgumentKind::Nothing => (before.len(), Vec::new()),
        ArgumentKind::Expression => (start, found.names),
        ArgumentKind::Name => (start, session.names_starting_with(prefix)),
        ArgumentKind::Type => (start, session.type_names_starting_with(prefix)),
        ArgumentKind::Class => (start, session.class_names_starting_with(prefix)),
        ArgumentKind::File | ArgumentKind::NewFile => (from, files::complete_path(argument)),
        ArgumentKind::Topic => {
            let bare = argument.trim_start_matches(':');
            let names = COMMANDS.iter().map(|command| &command.name[1..]);
            let pages = felis::session::book::chapters().iter().map(|chapter| chapter.name.as_str());
            let names = names.chain(pages).filter(|name| name.starts_with(bare));
            (before.len() - bare.len(), names.map(str::to_string).collect())
        }
        // The last word may be a file.
        ArgumentKind::Shell => {
            let word = argument.rsplit(char::is_whitespace).next().unwrap_or_default();
            (before.len() - word.len(), files::complete_path(word))
        }
    }
}

impl Validator for Assistant {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        Ok(match continues(context.input()) {
            true => ValidationResult::Incomplete,
            false => ValidationResult::Valid(None),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{DrawnLine, common_prefix, continues, strip_line_marks, without_parameters};

    #[test]
    fn lines_break_where_the_terminal_ends() {
        let drawn = |before: &str| DrawnLine { before: before.to_string(), columns: 0 };
        assert_eq!(drawn("").rows_above_cursor(80), 0);
        assert_eq!(drawn("0123456789").rows_above_cursor(80), 0);
        // The prompt takes seven of these columns.
        assert_eq!([16, 17, 18].map(|columns| drawn("0123456789").rows_above_cursor(columns)), [1, 1, 0]);
        assert_eq!(drawn("f {\n\t0123456789").rows_above_cursor(16), 2);
    }

    #[test]
    fn what_names_have_in_common_is_written_first() {
        let common = |names: &[&str]| {
            common_prefix(&names.iter().map(|name| name.to_string()).collect::<Vec<_>>()).to_string()
        };
        assert_eq!(common(&[]), "");
        assert_eq!(common(&["one"]), "one");
        assert_eq!(common(&["columns", "column", "color"]), "col");
        assert_eq!(common(&["é", "è"]), "");
    }

    #[test]
    fn lines_are_entered_without_their_marks() {
        assert_eq!(strip_line_marks("f {\n\t  1\n\t}"), "f {\n  1\n}");
        assert!(continues("(1,") && continues("(1,\n\t") && !continues("(1,\n\t\n\t") && !continues("1"));
    }

    #[test]
    fn long_hints_leave_out_what_a_function_is_for() {
        let short = without_parameters("f'[T, U[_] with Add[T]] : T ^ 3 -> T");
        assert_eq!(short.as_deref(), Some("f' : T ^ 3 -> T"));
        assert_eq!(without_parameters("f : int -> int"), None);
        assert_eq!(without_parameters(": real ^ 3"), None);
    }
}
