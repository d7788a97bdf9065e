//! `felis help` and `felis man`: the manual of the command, and topics of the book.

use super::arguments::Arguments;
use super::{Shell, exit, output, topics};
use clap::CommandFactory;

impl Shell {
    /// Shows the help of a command, or the text about a topic; without a topic the list of
    /// commands. Returns the exit code.
    pub(super) fn help(&mut self, words: &[String]) -> u8 {
        if let Some(text) = command_help(words) {
            self.output.write_paged(&text);
            return exit::OK;
        }
        let topic = words.join(" ");
        match topics::topic_text(&mut self.session, &topic) {
            Some(text) => {
                self.output.write_paged(&text);
                exit::OK
            }
            None => {
                self.output.flush();
                output::print_error(&format!("felis: the book says nothing of `{topic}`"));
                output::print_error(
                    "`felis help` lists the commands, `felis help topics` the pages of the book",
                );
                exit::USAGE
            }
        }
    }

    /// Writes the manual page. Returns the exit code.
    pub(super) fn manual(&mut self) -> u8 {
        let mut page = Vec::new();
        let manual = clap_mangen::Man::new(Arguments::command());
        let written = manual.render(&mut page).and_then(|()| {
            for command in commands_with_help() {
                page.extend(subsection(&command)?);
            }
            Ok(())
        });
        // Memory takes what is written to it.
        written.expect("a page in memory");
        self.output.write(&String::from_utf8_lossy(&page));
        exit::OK
    }
}

/// Returns the commands that are listed, in the order of the list.
fn commands_with_help() -> Vec<clap::Command> {
    let mut all = Arguments::command();
    all.build();
    all.get_subcommands().filter(|command| !command.is_hide_set()).cloned().collect()
}

/// Returns the section of the manual page about a command, with its arguments.
fn subsection(command: &clap::Command) -> std::io::Result<Vec<u8>> {
    let mut out = format!(".SH \"FELIS {}\"\n", command.get_name().to_uppercase()).into_bytes();
    let manual = clap_mangen::Man::new(command.clone());
    let mut body = Vec::new();
    manual.render_synopsis_section(&mut body)?;
    manual.render_description_section(&mut body)?;
    manual.render_options_section(&mut body)?;
    let body = String::from_utf8_lossy(&body);
    // Sections of a page of its own are parts of this one.
    out.extend(body.lines().flat_map(|line| match line.strip_prefix(".SH ") {
        Some(title) => format!(".SS {title}\n").into_bytes(),
        None => format!("{line}\n").into_bytes(),
    }));
    Ok(out)
}

/// Returns the help of the command with these words, such as `party new`; of `felis` itself without
/// words.
fn command_help(words: &[String]) -> Option<String> {
    let mut command = Arguments::command();
    command.build();
    let mut found = &mut command;
    for word in words {
        found = found.find_subcommand_mut(word)?;
    }
    Some(found.render_long_help().to_string())
}
