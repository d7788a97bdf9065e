//! The commands of a session: `:type` and its like.
//!
//! Takes a line that begins with a colon; gives an answer, or says how the command is written. Files and
//! the editor are in [`super::files`].

use super::super::commands::{Flow, comparison, implicit_names};
use super::super::show::statistics;
use super::super::{exit, explain, output};
use super::{Repl, files, why, words};
use felis::diagnostic::Diagnostic;
use felis::session::{Session, reference};
use std::time::{Duration, Instant};

/// A command.
pub struct Command {
    /// Its name, with the colon.
    pub name: &'static str,
    /// What it is used on, as the list of commands shows it.
    pub argument: &'static str,
    /// What it is used on, as completion needs to know.
    pub wants: Wants,
    /// The argument may be left out.
    pub optional: bool,
    /// What it does.
    pub meaning: &'static str,
}

/// What a command is used on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wants {
    Nothing,
    Expression,
    Type,
    Name,
    Class,
    File,
    /// A file that is written. With `!` after the command, over one that somebody else has made.
    NewFile,
    Command,
}

const fn command(
    name: &'static str,
    argument: &'static str,
    wants: Wants,
    optional: bool,
    meaning: &'static str,
) -> Command {
    Command { name, argument, wants, optional, meaning }
}

/// All commands, in the order of the list.
pub const COMMANDS: &[Command] = &[
    command(":type", "EXPRESSION", Wants::Expression, false, "its type; of a function, all its forms"),
    command(":kind", "TYPE", Wants::Type, false, "its kind"),
    command(":size", "TYPE", Wants::Type, false, "how many values it has"),
    command(":iso", "TYPE ~ TYPE", Wants::Type, false, "how they are related, with the laws used"),
    command(":can", "EXPRESSION", Wants::Expression, false, "whether it makes sense, and what it gives"),
    command(
        ":dispatch",
        "EXPRESSION",
        Wants::Expression,
        false,
        "the functions, instances and conversions it goes through",
    ),
    command(":instances", "CLASS", Wants::Class, false, "the types that belong to it"),
    command(
        ":doc",
        "NAME",
        Wants::Name,
        false,
        "what it is for, with examples; also of words and signs. Short: `?NAME`",
    ),
    command(":source", "NAME", Wants::Name, false, "the text of its definition"),
    command(":why", "", Wants::Nothing, false, "more about the last error"),
    command(":time", "EXPRESSION", Wants::Expression, false, "evaluate it and say how long that took"),
    command(":plot", "EXPRESSION", Wants::Expression, false, "draw it: a picture, numbers, or a matrix"),
    command(":stats", "", Wants::Nothing, false, "what was compiled so far, and the memory that arrays took"),
    command(":load", "FILE", Wants::File, false, "run a program in this session"),
    command(":reload", "", Wants::Nothing, false, "run the program loaded last as it is now"),
    command(
        ":edit",
        "[FILE]",
        Wants::File,
        true,
        "write in $EDITOR, then load; without FILE what was loaded last",
    ),
    command(
        ":save",
        "FILE",
        Wants::NewFile,
        false,
        "write what this session has defined into a file; `:save!` over any",
    ),
    command(":env", "", Wants::Nothing, false, "what you have defined"),
    command(":reset", "", Wants::Nothing, false, "forget all of it"),
    command(":help", "[COMMAND]", Wants::Command, true, "this list"),
    command(":quit", "", Wants::Nothing, false, "leave, as Ctrl-D does"),
];

/// The command that a word stands for: its name, or the beginning of one name only. Else why not.
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

/// Does what a line that begins with `:` says.
pub fn run(repl: &mut Repl, line: &str) -> Flow {
    repl.shell.output.flush();
    let line = line.trim();
    // `?sum` is short for `:doc sum`.
    let asked = line.strip_prefix('?').map(|name| format!(":doc {name}"));
    let line = asked.as_deref().unwrap_or(line);
    let (word, argument) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let argument = argument.trim();
    let (bare, over) = word.strip_suffix('!').map_or((word, false), |bare| (bare, true));
    let command = match find(bare) {
        Ok(command) => command,
        Err(why) => return misused(&why),
    };
    if over && command.wants != Wants::NewFile {
        return misused(&format!("`{}` takes no `!`: there is nothing that it would replace", command.name));
    }
    if argument.is_empty() && command.wants != Wants::Nothing && !command.optional {
        return misused(&format!("write `{} {}`", command.name, command.argument));
    }
    if !argument.is_empty() && command.wants == Wants::Nothing {
        return misused(&format!("`{}` takes nothing after it", command.name));
    }
    let session = &mut repl.shell.session;
    let answer = match command.name {
        ":type" => type_of(session, argument),
        ":kind" => match session.members(argument) {
            Some(members) => Ok(format!("a kind: {}\n", members.join(" | "))),
            None => session
                .kind_of(argument)
                .map(|(_, kind)| format!("{kind}\n{}", implicit_names(session, &[argument]))),
        },
        ":size" => {
            session.size_of(argument).map(|size| format!("{size}\n{}", implicit_names(session, &[argument])))
        }
        ":iso" => match argument.split_once('~') {
            Some((left, right)) => session
                .iso(left, right, true)
                .map(|answer| format!("{}{}", comparison(&answer), implicit_names(session, &[left, right]))),
            None => return misused("write `:iso TYPE ~ TYPE`"),
        },
        // No expression begins with these: an operator and types, as after `felis can`.
        ":can" if argument.starts_with(['+', '*', '/', '%', '<', '>', '=', ':']) => {
            let mut words = argument.split_whitespace();
            let name = words.next().unwrap_or_default();
            let able = session.can(name, &words.collect::<Vec<_>>());
            able.map(|able| format!("yes : {}\n{}", able.result, able.choices))
        }
        ":can" => match session.forms_of(argument).and_then(|_| session.scoped_forms(argument)) {
            Some(forms) => Ok(forms),
            None => {
                let able = session.dispatch(argument);
                able.map(|able| format!("yes : {}\n{}", able.result, able.choices))
            }
        },
        ":dispatch" => session.dispatch(argument).map(|able| able.how),
        ":instances" => session.instances(argument).map(|lines| match &lines[..] {
            [] => "none\n".to_string(),
            lines => lines.iter().map(|line| format!("{line}\n")).collect(),
        }),
        ":doc" => match words::explained(argument)
            .map(|text| output::prose(text, 0))
            .or_else(|| doc(session, argument))
            .or_else(|| told_elsewhere(argument))
        {
            Some(text) => Ok(text),
            None => return misused(&unknown(session, argument)),
        },
        ":source" => match source(session, argument) {
            Some(text) => Ok(text),
            None => return misused(&unknown(session, argument)),
        },
        ":why" => match &repl.wrong {
            Some(diagnostic) => Ok(output::prose(why::explain(diagnostic), 0)),
            None => return misused("there has been no error in this session"),
        },
        ":time" => return time(repl, argument),
        ":plot" => return plot(repl, argument),
        ":stats" => Ok(statistics(&session.work())),
        ":load" => return files::load(repl, argument),
        ":reload" => return files::reload(repl),
        ":edit" => return files::edit(repl, argument),
        ":save" => return files::save(repl, argument, over),
        ":env" => {
            let lines = session.definitions().into_iter().map(|d| format!("{}\n", d.declaration));
            Ok(lines.collect())
        }
        ":reset" => {
            let names = session.own_names();
            session.reset();
            repl.loaded = None;
            Ok(match &names[..] {
                [] => "nothing had been defined\n".to_string(),
                names => format!("forgotten: {}\n", files::listed(names, repl.window.columns)),
            })
        }
        ":help" => match argument {
            "" => Ok(help()),
            argument => {
                let word = if argument.starts_with(':') { argument.into() } else { format!(":{argument}") };
                match find(&word) {
                    Ok(command) => Ok(entry(command)),
                    Err(why) => return misused(&why),
                }
            }
        },
        _ => return Flow::Quit,
    };
    if let Err(diagnostics) = &answer {
        repl.note(diagnostics);
    }
    Flow::Continue(repl.shell.answer(answer))
}

/// That nothing has a name, with the one that may be meant.
fn unknown(session: &Session, name: &str) -> String {
    let known = session.known_names();
    match words::near(name, known.iter().map(String::as_str)) {
        Some(near) => format!("nothing is known by the name `{name}`: did you mean `{near}`?"),
        None => format!("nothing is known by the name `{name}`"),
    }
}

/// Says how a command is written.
pub fn misused(why: &str) -> Flow {
    output::complain(why);
    Flow::Continue(exit::USAGE)
}

fn type_of(session: &mut Session, text: &str) -> Result<String, Vec<Diagnostic>> {
    match functions(session, text) {
        Some(text) => Ok(text),
        None => session.type_of(text).map(|ty| format!("{ty}\n")),
    }
}

/// The functions of a name, each with what it does.
fn functions(session: &mut Session, name: &str) -> Option<String> {
    let overloads = session.overloads(name);
    let lines = overloads
        .iter()
        .map(|overload| format!("{}\n{}", overload.signature, set_in(overload.doc.as_deref())));
    (!overloads.is_empty()).then(|| lines.collect())
}

/// What is said about a name where it is defined.
fn doc(session: &mut Session, name: &str) -> Option<String> {
    if let Some(text) = functions(session, name) {
        return Some(text);
    }
    let mut out = String::new();
    for definition in session.definition_texts(name) {
        let whole = definition.text.lines().count() <= SHOWN_WHOLE;
        let text = if whole { definition.text.trim_end() } else { definition.head() };
        out.push_str(&format!("{text}\n{}", set_in(definition.doc.as_deref())));
    }
    (!out.is_empty()).then_some(out)
}

/// What is said of a definition, below its text.
fn set_in(doc: Option<&str>) -> String {
    const BY: usize = 4;
    let doc = doc.map_or(String::new(), |doc| output::prose(doc.to_string(), BY));
    doc.lines().map(|line| format!("{:BY$}{line}\n", "")).collect()
}

/// A definition of no more lines is shown whole.
const SHOWN_WHOLE: usize = 30;

/// What is said of a diagnostic's code, or of a command.
fn told_elsewhere(word: &str) -> Option<String> {
    match word.starts_with(':') {
        true => find(word).ok().map(entry),
        false => reference::explain(word).map(|page| output::prose(explain::plain(&page), 0)),
    }
}

/// The texts of a name's definitions.
fn source(session: &mut Session, name: &str) -> Option<String> {
    let definitions = session.definition_texts(name);
    if definitions.is_empty() {
        // A primitive has no text.
        let built_in = functions(session, name)?;
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

/// Evaluates an input and says how long that took, however it ended.
fn time(repl: &mut Repl, text: &str) -> Flow {
    let (start, before) = (Instant::now(), repl.shell.session.work());
    let flow = repl.input(text);
    let took = duration(start.elapsed());
    let work = repl.shell.session.work() - before;
    repl.shell.output.write(&format!("took {took}\n"));
    if work.runs > 0 || work.fresh + work.reused > 0 {
        repl.shell.output.write(&statistics(&work));
    }
    flow
}

/// Draws a picture, or what makes one: the first of these that makes sense.
fn plot(repl: &mut Repl, text: &str) -> Flow {
    let session = &mut repl.shell.session;
    let text = text.trim_end_matches(';');
    let drawn = match session.type_of(text) {
        Ok(ty) if ty.to_string() == "picture" => format!("draw ({text})"),
        Ok(ty) => {
            let made = ["heatmap", "image", "plot"].map(|by| format!("{by} ({text})"));
            match made.iter().find(|made| session.dispatch(made).is_ok()) {
                Some(made) => format!("draw ({made})"),
                None => {
                    return misused(&format!(
                        "`{ty}` cannot be drawn: a picture can, numbers or pairs of numbers in a row, and a matrix of numbers or colors"
                    ));
                }
            }
        }
        // The message is about what was written.
        Err(_) => text.to_string(),
    };
    repl.input(&drawn)
}

/// A time in the unit that suits it.
pub fn duration(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    match time.as_secs() {
        0 if seconds < 1e-3 => format!("{:.1} µs", seconds * 1e6),
        0 => format!("{:.1} ms", seconds * 1e3),
        whole @ 1..60 => format!("{:.2} s", whole as f64 + seconds.fract()),
        whole @ 60..3600 => format!("{} min {:02} s", whole / 60, whole % 60),
        whole => format!("{} h {:02} min", whole / 3600, whole / 60 % 60),
    }
}

fn entry(command: &Command) -> String {
    format!("  {:<22} {}\n", format!("{} {}", command.name, command.argument), command.meaning)
}

fn help() -> String {
    let mut out = String::from("Statements and expressions end with the line, unless something is open.\n");
    out.extend(COMMANDS.iter().map(entry));
    out.push_str("`it` and `_1` are the last result, `_2` the one before, up to `_9`.\n");
    out.push_str("Tab completes, Ctrl-R searches earlier lines, Ctrl-C stops; two empty lines end what\n");
    out.push_str("cannot be completed. A command may be shortened, as `:q`.\n");
    out
}

#[cfg(test)]
mod tests {
    use super::{COMMANDS, duration, find};
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
            assert_eq!(duration(Duration::from_micros(micros)), text);
        }
    }
}
