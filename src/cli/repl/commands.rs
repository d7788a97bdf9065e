//! The commands of a session, such as `:type`, in one table.
//!
//! Takes a line that begins with a colon; gives an answer, or a message about the command's usage.
//! Commands about files are in [`super::files`].

use super::super::answers::{Flow, comparison_text, implicit_names_note};
use super::super::show::statistics_text;
use super::super::{exit, explain, output, topics};
use super::{Repl, files, shell, why, word_docs};
use felis::session::{Session, docs, reference};
use felis_base::diagnostic::Diagnostic;
use std::time::{Duration, Instant};

/// A line of the table of commands.
pub struct Command {
    /// The name, with its colon.
    pub name: &'static str,
    /// The argument as the list of commands shows it.
    pub argument: &'static str,
    /// The kind of the argument, for completion.
    pub argument_kind: ArgumentKind,
    /// True if the argument may be omitted.
    pub optional: bool,
    /// The description in the list of commands.
    pub summary: &'static str,
    /// The function that carries it out.
    handler: fn(&mut Repl, Invocation<'_>) -> Reply,
}

/// The kind of argument that a command takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArgumentKind {
    /// No argument.
    Nothing,
    /// An expression or statements.
    Expression,
    /// One or several types.
    Type,
    /// A name that is defined, or a word of the language.
    Name,
    /// The name of a class.
    Class,
    /// A file that is read.
    File,
    /// A file that is written. `!` after the command permits replacing a file of unknown content.
    NewFile,
    /// The name of a command, or words of the book.
    Topic,
    /// A command of the system.
    Shell,
}

/// The words of a line that invokes a command.
struct Invocation<'l> {
    /// The text after the command; empty if there is none.
    argument: &'l str,
    /// True if `!` follows the command.
    overwrite: bool,
}

/// The reply to a command.
enum Reply {
    /// Text for standard output.
    Text(String),
    /// Diagnostics of the session.
    Diagnostics(Vec<Diagnostic>),
    /// A message about wrong usage.
    Usage(String),
    /// The command has written its output itself.
    Done(Flow),
}

impl From<Result<String, Vec<Diagnostic>>> for Reply {
    fn from(answer: Result<String, Vec<Diagnostic>>) -> Reply {
        match answer {
            Ok(text) => Reply::Text(text),
            Err(diagnostics) => Reply::Diagnostics(diagnostics),
        }
    }
}

/// Makes a line of the table.
const fn command(
    name: &'static str,
    argument: &'static str,
    argument_kind: ArgumentKind,
    optional: bool,
    summary: &'static str,
    handler: fn(&mut Repl, Invocation<'_>) -> Reply,
) -> Command {
    Command { name, argument, argument_kind, optional, summary, handler }
}

/// All commands, in the order of the list.
pub const COMMANDS: &[Command] = &[
    command(
        ":type",
        "EXPRESSION",
        ArgumentKind::Expression,
        false,
        "its type; of a function, all its forms",
        type_of,
    ),
    command(":kind", "TYPE", ArgumentKind::Type, false, "its kind", kind_of),
    command(":size", "TYPE", ArgumentKind::Type, false, "how many values it has", size_of),
    command(
        ":iso",
        "TYPE ~ TYPE",
        ArgumentKind::Type,
        false,
        "how they are related, with the laws used",
        compare_types,
    ),
    command(
        ":can",
        "EXPRESSION",
        ArgumentKind::Expression,
        false,
        "whether it makes sense, and what it gives",
        resolve_expression,
    ),
    command(
        ":dispatch",
        "EXPRESSION",
        ArgumentKind::Expression,
        false,
        "the functions, instances and conversions it goes through",
        |repl, call| {
            let found = repl.shell.session.explain_dispatch(call.argument);
            found.map(|found| found.call_chain + &found.kernel).into()
        },
    ),
    command(":instances", "CLASS", ArgumentKind::Class, false, "the types that belong to it", instances_of),
    command(
        ":doc",
        "NAME",
        ArgumentKind::Name,
        false,
        "what it is for, with examples; also of words and signs. Short: `?NAME`",
        |repl, call| {
            let session = &mut repl.shell.session;
            let text = word_documentation(session, call.argument).or_else(|| reference_text(call.argument));
            text_about(session, call.argument, text)
        },
    ),
    command(":source", "NAME", ArgumentKind::Name, false, "the text of its definition", |repl, call| {
        let session = &mut repl.shell.session;
        let text = definition_source(session, call.argument);
        text_about(session, call.argument, text)
    }),
    command(":why", "", ArgumentKind::Nothing, false, "more about the last error", |repl, _| {
        match &repl.last_error {
            Some(diagnostic) => Reply::Text(output::wrap_for_stdout(why::explain_diagnostic(diagnostic), 0)),
            None => Reply::Usage("there has been no error in this session".to_string()),
        }
    }),
    command(
        ":time",
        "EXPRESSION",
        ArgumentKind::Expression,
        false,
        "evaluate it and say how long that took",
        |repl, call| Reply::Done(time(repl, call.argument)),
    ),
    command(
        ":page",
        "EXPRESSION",
        ArgumentKind::Expression,
        false,
        "show its value at length in $PAGER, up to 10 000 lines",
        |repl, call| Reply::Done(repl.page(call.argument)),
    ),
    command(
        ":plot",
        "EXPRESSION",
        ArgumentKind::Expression,
        false,
        "draw it: a picture, numbers, or a matrix",
        |repl, call| Reply::Done(plot(repl, call.argument)),
    ),
    command(
        ":stats",
        "",
        ArgumentKind::Nothing,
        false,
        "what was compiled so far, and the memory that arrays took",
        |repl, _| Reply::Text(statistics_text(&repl.shell.session.metrics())),
    ),
    command(":load", "FILE", ArgumentKind::File, false, "run a program in this session", |repl, call| {
        Reply::Done(files::load(repl, call.argument))
    }),
    command(
        ":reload",
        "",
        ArgumentKind::Nothing,
        false,
        "run the program loaded last as it is now",
        |repl, _| Reply::Done(files::reload(repl)),
    ),
    command(
        ":edit",
        "[FILE]",
        ArgumentKind::File,
        true,
        "write in $EDITOR, then load; without FILE what was loaded last",
        |repl, call| Reply::Done(files::edit(repl, call.argument)),
    ),
    command(
        ":save",
        "FILE",
        ArgumentKind::NewFile,
        false,
        "write what this session has defined into a file; `:save!` over any",
        |repl, call| Reply::Done(files::save(repl, call.argument, call.overwrite)),
    ),
    command(":env", "", ArgumentKind::Nothing, false, "what you have defined", |repl, _| {
        let definitions = repl.shell.session.definitions().into_iter();
        Reply::Text(definitions.map(|definition| format!("{}\n", definition.declaration)).collect())
    }),
    command(":reset", "", ArgumentKind::Nothing, false, "forget all of it", |repl, _| {
        let names = repl.shell.session.user_names();
        repl.shell.session.reset();
        repl.loaded = None;
        Reply::Text(match &names[..] {
            [] => "nothing had been defined\n".to_string(),
            names => format!("forgotten: {}\n", files::name_list(names, repl.window.columns)),
        })
    }),
    command(
        ":shell",
        "COMMAND",
        ArgumentKind::Shell,
        false,
        "run a command of the system. Short: `:!COMMAND`",
        |repl, call| Reply::Done(shell::run(repl, call.argument)),
    ),
    command(
        ":help",
        "[TOPIC]",
        ArgumentKind::Topic,
        true,
        "this list; a command, a page of the book, or what the book says of words",
        help,
    ),
    command(":quit", "", ArgumentKind::Nothing, false, "leave, as Ctrl-D does", |_, _| {
        Reply::Done(Flow::Quit)
    }),
];

/// Returns the command of a word: its name, or a prefix of exactly one name.
pub fn find(word: &str) -> Result<&'static Command, String> {
    if let Some(known) = COMMANDS.iter().find(|command| command.name == word) {
        return Ok(known);
    }
    let fitting: Vec<&Command> =
        COMMANDS.iter().filter(|command| word.len() > 1 && command.name.starts_with(word)).collect();
    match &fitting[..] {
        [one] => Ok(one),
        [] => Err(format!("there is no command `{word}`; `:help` lists them")),
        several => {
            let names: Vec<String> = several.iter().map(|command| format!("`{}`", command.name)).collect();
            Err(format!("`{word}` could be {}", names.join(", ")))
        }
    }
}

/// Carries out a line that begins with `:` or `?`.
pub fn run(repl: &mut Repl, line: &str) -> Flow {
    repl.shell.output.flush();
    let line = line.trim();
    // `?sum` is short for `:doc sum`, `:!ls` for `:shell ls`.
    let short = [("?", ":doc"), (":!", ":shell")];
    let asked = short.iter().find_map(|(mark, word)| Some(format!("{word} {}", line.strip_prefix(mark)?)));
    let line = asked.as_deref().unwrap_or(line);
    let (word, argument) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let argument = argument.trim();
    let (bare, overwrite) = word.strip_suffix('!').map_or((word, false), |bare| (bare, true));
    let command = match find(bare) {
        Ok(command) => command,
        Err(why) => return usage_error(&why),
    };
    if overwrite && command.argument_kind != ArgumentKind::NewFile {
        return usage_error(&format!(
            "`{}` takes no `!`: there is nothing that it would replace",
            command.name
        ));
    }
    if argument.is_empty() && command.argument_kind != ArgumentKind::Nothing && !command.optional {
        return usage_error(&format!("write `{} {}`", command.name, command.argument));
    }
    if !argument.is_empty() && command.argument_kind == ArgumentKind::Nothing {
        return usage_error(&format!("`{}` takes nothing after it", command.name));
    }
    match (command.handler)(repl, Invocation { argument, overwrite }) {
        Reply::Text(text) => {
            repl.show_text(&text);
            Flow::Continue(exit::OK)
        }
        Reply::Diagnostics(diagnostics) => {
            repl.record_error(&diagnostics);
            Flow::Continue(repl.shell.write_answer(Err(diagnostics)))
        }
        Reply::Usage(why) => usage_error(&why),
        Reply::Done(flow) => flow,
    }
}

/// Carries out `:kind`.
fn kind_of(repl: &mut Repl, call: Invocation<'_>) -> Reply {
    let session = &mut repl.shell.session;
    if let Some(members) = session.kind_members(call.argument) {
        return Reply::Text(format!("a kind: {}\n", members.join(" | ")));
    }
    let kind = session.kind_of(call.argument);
    kind.map(|(_, kind)| format!("{kind}\n{}", implicit_names_note(session, &[call.argument]))).into()
}

/// Carries out `:size`.
fn size_of(repl: &mut Repl, call: Invocation<'_>) -> Reply {
    let session = &mut repl.shell.session;
    let size = session.size_of(call.argument);
    size.map(|size| format!("{size}\n{}", implicit_names_note(session, &[call.argument]))).into()
}

/// Carries out `:iso`.
fn compare_types(repl: &mut Repl, call: Invocation<'_>) -> Reply {
    let session = &mut repl.shell.session;
    let Some((left, right)) = call.argument.split_once('~') else {
        return Reply::Usage("write `:iso TYPE ~ TYPE`".to_string());
    };
    let answer = session.iso(left, right, true);
    answer
        .map(|answer| format!("{}{}", comparison_text(&answer), implicit_names_note(session, &[left, right])))
        .into()
}

/// Carries out `:can`.
fn resolve_expression(repl: &mut Repl, call: Invocation<'_>) -> Reply {
    let (session, argument) = (&mut repl.shell.session, call.argument);
    // No expression begins with these: the words are an operator and types, as after `felis can`.
    let resolution = if argument.starts_with(['+', '*', '/', '%', '<', '>', '=', ':']) {
        let mut words = argument.split_whitespace();
        let name = words.next().unwrap_or_default();
        session.resolve_use(name, &words.collect::<Vec<_>>())
    } else if session.overload_signatures(argument).is_some()
        && let Some(forms) = session.scoped_overload_signatures(argument)
    {
        return Reply::Text(forms);
    } else {
        session.explain_dispatch(argument)
    };
    resolution.map(|found| format!("yes : {}\n{}", found.result, found.choices)).into()
}

/// Carries out `:instances`.
fn instances_of(repl: &mut Repl, call: Invocation<'_>) -> Reply {
    let instances = repl.shell.session.instances_of(call.argument);
    instances
        .map(|lines| match &lines[..] {
            [] => "none\n".to_string(),
            lines => lines.iter().map(|line| format!("{line}\n")).collect(),
        })
        .into()
}

/// Carries out `:help`.
fn help(repl: &mut Repl, call: Invocation<'_>) -> Reply {
    if call.argument.is_empty() {
        return Reply::Text(help_text());
    }
    let word = match call.argument.starts_with(':') {
        true => call.argument.to_string(),
        false => format!(":{}", call.argument),
    };
    match find(&word) {
        Ok(command) => Reply::Text(help_line(command)),
        Err(why) if call.argument.starts_with(':') => Reply::Usage(why),
        Err(_) => match topics::topic_text(&mut repl.shell.session, call.argument) {
            Some(text) => Reply::Text(text),
            None => Reply::Usage(format!(
                "there is no command `{word}`, and the book says nothing of `{}`; `:help topics` lists its pages",
                call.argument
            )),
        },
    }
}

/// Returns the text about a name, or a message that the name is unknown.
fn text_about(session: &Session, name: &str, text: Option<String>) -> Reply {
    match text {
        Some(text) => Reply::Text(text),
        None => Reply::Usage(unknown_name_message(session, name)),
    }
}

/// Returns the message that a name is unknown, with a similar name.
fn unknown_name_message(session: &Session, name: &str) -> String {
    let known = session.known_names();
    match word_docs::similar_name(name, known.iter().map(String::as_str)) {
        Some(near) => format!("nothing is known by the name `{name}`: did you mean `{near}`?"),
        None => format!("nothing is known by the name `{name}`"),
    }
}

/// Reports wrong usage of a command.
pub fn usage_error(why: &str) -> Flow {
    output::print_error(why);
    Flow::Continue(exit::USAGE)
}

/// Carries out `:type`.
fn type_of(repl: &mut Repl, call: Invocation<'_>) -> Reply {
    let session = &mut repl.shell.session;
    match overload_docs(session, call.argument) {
        Some(text) => Reply::Text(text),
        None => session.type_of(call.argument).map(|ty| format!("{ty}\n")).into(),
    }
}

/// Returns the functions of a name, each with its documentation.
fn overload_docs(session: &mut Session, name: &str) -> Option<String> {
    let overloads = session.overloads(name);
    let lines = overloads
        .iter()
        .map(|overload| format!("{}\n{}", overload.signature, indent_doc(overload.doc.as_deref())));
    (!overloads.is_empty()).then(|| lines.collect())
}

/// Returns what is known of a word or sign of the language, or of a name.
pub fn word_documentation(session: &mut Session, name: &str) -> Option<String> {
    word_docs::explain_word(name)
        .map(|text| output::wrap_for_stdout(text, 0))
        .or_else(|| documentation(session, name))
        .or_else(|| library_documentation(session, name))
}

/// Returns the definitions of a name with their documentation.
fn documentation(session: &mut Session, name: &str) -> Option<String> {
    if let Some(text) = overload_docs(session, name) {
        return Some(text);
    }
    let mut out = String::new();
    for definition in session.definition_texts(name) {
        let whole = definition.text.lines().count() <= MAX_WHOLE_LINES;
        let text = if whole { definition.text.trim_end() } else { definition.first_line() };
        out.push_str(&format!("{text}\n{}", indent_doc(definition.doc.as_deref())));
    }
    (!out.is_empty()).then_some(out)
}

/// Returns the documentation of a name that modules of the library export which are not imported,
/// or of the word for a function that other languages call so.
fn library_documentation(session: &mut Session, name: &str) -> Option<String> {
    let found = docs::in_modules(name);
    if !found.is_empty() {
        let texts = found.into_iter().map(|(module, text, doc)| {
            format!("import {module} ({name});\n{text}\n{}", indent_doc(doc.as_deref()))
        });
        return Some(texts.collect());
    }
    let Some(word) = docs::renamed(name) else {
        return docs::foreign_advice(name).map(|advice| format!("there is no `{name}`: {advice}\n"));
    };
    let text =
        documentation(session, word).or_else(|| library_documentation(session, word)).unwrap_or_default();
    Some(format!("`{name}` is `{word}` here\n{text}"))
}

/// Returns the documentation of a definition, indented below its text.
fn indent_doc(doc: Option<&str>) -> String {
    /// The indentation, in columns.
    const BY: usize = 4;
    let doc = doc.map_or(String::new(), |doc| output::wrap_for_stdout(doc.to_string(), BY));
    doc.lines().map(|line| format!("{:BY$}{line}\n", "")).collect()
}

/// The maximum number of lines of a definition that is shown whole.
const MAX_WHOLE_LINES: usize = 30;

/// Returns the page of a diagnostic's code, or the line of a command.
fn reference_text(word: &str) -> Option<String> {
    match word.starts_with(':') {
        true => find(word).ok().map(help_line),
        false => {
            reference::explain(word).map(|page| output::wrap_for_stdout(explain::markdown_to_text(&page), 0))
        }
    }
}

/// Returns the source texts of a name's definitions.
fn definition_source(session: &mut Session, name: &str) -> Option<String> {
    let definitions = session.definition_texts(name);
    if definitions.is_empty() {
        // A primitive has no text.
        let built_in = overload_docs(session, name)?;
        return Some(format!("// built in\n{built_in}"));
    }
    let texts = definitions.iter().map(|definition| {
        let doc = definition
            .doc
            .iter()
            .flat_map(|doc| doc.lines())
            .map(|line| if line.is_empty() { "///\n".to_string() } else { format!("/// {line}\n") });
        format!("// {}\n{}{}\n", definition.place, doc.collect::<String>(), definition.text)
    });
    Some(texts.collect::<Vec<_>>().join("\n"))
}

/// Evaluates an input and prints its time, also after a failure.
fn time(repl: &mut Repl, text: &str) -> Flow {
    let (start, before) = (Instant::now(), repl.shell.session.metrics());
    let flow = repl.evaluate_input(text);
    let took = format_duration(start.elapsed());
    let work = repl.shell.session.metrics() - before;
    repl.shell.output.write(&format!("took {took}\n"));
    if work.runs > 0 || work.fresh + work.reused > 0 {
        repl.shell.output.write(&statistics_text(&work));
    }
    flow
}

/// Draws a picture, or a value as one: the first reading of the text that has a type is used.
fn plot(repl: &mut Repl, text: &str) -> Flow {
    let session = &mut repl.shell.session;
    let text = text.trim_end_matches(';');
    let drawn = match session.type_of(text) {
        Ok(ty) if session.is_library_type(&ty, "picture") => format!("draw ({text})"),
        Ok(ty) => {
            let made = ["heatmap", "image", "plot"].map(|by| format!("{by} ({text})"));
            match made.iter().find(|made| session.explain_dispatch(made).is_ok()) {
                Some(made) => format!("draw ({made})"),
                None => {
                    return usage_error(&format!(
                        "`{ty}` cannot be drawn: a picture can, numbers or pairs of numbers in a row, and a matrix of numbers or colors"
                    ));
                }
            }
        }
        // The message is about the text as written.
        Err(_) => text.to_string(),
    };
    repl.evaluate_input(&drawn)
}

/// Returns a time in a suitable unit.
pub fn format_duration(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    match time.as_secs() {
        0 if seconds < 1e-3 => format!("{:.1} µs", seconds * 1e6),
        0 => format!("{:.1} ms", seconds * 1e3),
        whole @ 1..60 => format!("{:.2} s", whole as f64 + seconds.fract()),
        whole @ 60..3600 => format!("{} min {:02} s", whole / 60, whole % 60),
        whole => format!("{} h {:02} min", whole / 3600, whole / 60 % 60),
    }
}

/// Returns the line about a command in the list of commands.
fn help_line(command: &Command) -> String {
    format!("  {:<22} {}\n", format!("{} {}", command.name, command.argument), command.summary)
}

/// Returns the list of commands.
fn help_text() -> String {
    let mut out = String::from("Statements and expressions end with the line, unless something is open.\n");
    out.extend(COMMANDS.iter().map(help_line));
    out.push_str("`it` and `_1` are the last result, `_2` the one before, up to `_9`.\n");
    out.push_str("Tab completes, Ctrl-R searches earlier lines, Ctrl-C stops; two empty lines end what\n");
    out.push_str("cannot be completed. A command may be shortened, as `:q`.\n");
    out
}

#[cfg(test)]
mod tests {
    use super::{COMMANDS, find, format_duration};
    use std::time::Duration;

    #[test]
    fn a_command_is_found_by_its_beginning() {
        assert_eq!(find(":ty").map(|command| command.name), Ok(":type"));
        assert_eq!(find(":load").map(|command| command.name), Ok(":load"));
        assert_eq!(find(":t").err(), Some("`:t` could be `:type`, `:time`".to_string()));
        assert!(find(":").is_err() && find(":nonsense").is_err());
        // No command is the beginning of another.
        for command in COMMANDS {
            assert_eq!(COMMANDS.iter().filter(|c| c.name.starts_with(command.name)).count(), 1);
        }
    }

    #[test]
    fn times_are_told_in_the_unit_that_suits_them() {
        for (micros, text) in [
            (12, "12.0 µs"),
            (1_500, "1.5 ms"),
            (2_340_000, "2.34 s"),
            (61_000_000, "1 min 01 s"),
            (7_320_000_000, "2 h 02 min"),
        ] {
            assert_eq!(format_duration(Duration::from_micros(micros)), text);
        }
    }
}
