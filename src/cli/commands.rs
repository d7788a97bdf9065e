//! The commands of a session, `:type` and its like, and how answers look.

use super::{Shell, exit};
use felis::session::{Comparison, Session};

/// What a command asks of the loop that reads.
pub enum Flow {
    /// Go on; the exit code this input would give.
    Continue(u8),
    /// Leave.
    Quit,
}

/// Name, argument, meaning.
pub const COMMANDS: &[(&str, &str, &str)] = &[
    (":type", "EXPRESSION", "its type; of a function, all its forms"),
    (":kind", "TYPE", "its kind"),
    (":size", "TYPE", "how many values it has"),
    (":iso", "TYPE ~ TYPE", "how they are related, with the laws used"),
    (":can", "EXPRESSION", "whether it makes sense, and what it gives"),
    (":dispatch", "EXPRESSION", "the functions, instances and conversions it goes through"),
    (":instances", "CLASS", "the types that belong to it"),
    (":env", "", "what you have defined"),
    (":reset", "", "forget all of it"),
    (":help", "", "this list"),
    (":quit", "", "leave, as Ctrl-D does"),
];

/// Does what a line that begins with `:` says.
pub fn command(shell: &mut Shell, line: &str) -> Flow {
    shell.output.flush();
    let line = line.trim();
    let (name, argument) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let argument = argument.trim();
    let known = COMMANDS.iter().find(|(full, ..)| *full == name).or_else(|| {
        let mut fitting = COMMANDS.iter().filter(|(full, ..)| name.len() > 1 && full.starts_with(name));
        fitting.next().filter(|_| fitting.next().is_none())
    });
    let Some((name, wants, _)) = known else {
        super::output::complain(&format!("there is no command `{name}`; `:help` lists them"));
        return Flow::Continue(exit::USAGE);
    };
    if wants.is_empty() != argument.is_empty() {
        super::output::complain(&format!("write `{}`", format!("{name} {wants}").trim_end()));
        return Flow::Continue(exit::USAGE);
    }
    let session = &mut shell.session;
    let answer = match *name {
        ":type" => type_of(session, argument),
        ":kind" => match session.members(argument) {
            Some(members) => Ok(format!("a kind: {}\n", members.join(" | "))),
            None => session.kind_of(argument).map(|(_, kind)| format!("{kind}\n")),
        },
        ":size" => session.size_of(argument).map(|size| format!("{size}\n")),
        ":iso" => match argument.split_once('~') {
            Some((left, right)) => session.iso(left, right, true).map(|answer| comparison(&answer)),
            None => {
                super::output::complain("write `:iso TYPE ~ TYPE`");
                return Flow::Continue(exit::USAGE);
            }
        },
        ":can" => session.dispatch(argument).map(|able| format!("yes : {}\n", able.result)),
        ":dispatch" => session.dispatch(argument).map(|able| able.how),
        ":instances" => session.instances(argument).map(|lines| match &lines[..] {
            [] => "none\n".to_string(),
            lines => lines.iter().map(|line| format!("{line}\n")).collect(),
        }),
        ":env" => {
            let lines = session.definitions().into_iter().map(|d| format!("{}\n", d.declaration));
            Ok(lines.collect())
        }
        ":reset" => {
            session.reset();
            Ok(String::new())
        }
        ":help" => Ok(help()),
        _ => return Flow::Quit,
    };
    Flow::Continue(shell.answer(answer))
}

fn type_of(session: &mut Session, text: &str) -> Result<String, Vec<felis::diagnostic::Diagnostic>> {
    let overloads = session.overloads(text);
    if overloads.is_empty() {
        return session.type_of(text).map(|ty| format!("{ty}\n"));
    }
    let lines = overloads.iter().map(|overload| {
        let doc = overload.doc.iter().flat_map(|doc| doc.lines()).map(|line| format!("    {line}\n"));
        format!("{}\n{}", overload.signature, doc.collect::<String>())
    });
    Ok(lines.collect())
}

/// A verdict and its reasons.
pub fn comparison(comparison: &Comparison) -> String {
    let mut out = format!("{}\n", comparison.verdict);
    if let Some(reasons) = &comparison.reasons {
        out.push_str(&format!("{}\n", reasons.message));
        reasons.notes.iter().for_each(|note| out.push_str(&format!("note: {note}\n")));
        reasons.help.iter().for_each(|help| out.push_str(&format!("help: {help}\n")));
        reasons.derivation.iter().for_each(|steps| out.push_str(&format!("{steps}\n")));
    }
    out
}

fn help() -> String {
    let mut out = String::from("Statements and expressions end with the line, unless something is open.\n");
    for (name, argument, meaning) in COMMANDS {
        out.push_str(&format!("  {:<22} {meaning}\n", format!("{name} {argument}")));
    }
    out.push_str("Tab completes, Ctrl-C stops, two empty lines end what cannot be completed.\n");
    out
}
