//! Commands of the system, from within a session.

use super::super::answers::Flow;
use super::super::exit;
use super::super::interrupt::Activity;
use super::super::output;
use super::Repl;
use std::process::Command;

/// Runs a command of the system with the terminal of the session, by `$SHELL` or `sh`. A command
/// that fails is told with its exit code.
pub fn run(repl: &mut Repl, command: &str) -> Flow {
    repl.shell.output.flush();
    let (shell, option) = shell_of_system();
    let done = {
        // Ctrl-C is for the command, not for the session.
        let _running = repl.shell.interrupts.while_doing(Activity::Editing);
        Command::new(&shell).arg(option).arg(command).status()
    };
    match done {
        Ok(status) if status.success() => Flow::Continue(exit::OK),
        Ok(status) => {
            output::print_error(&format!("the command failed ({status})"));
            Flow::Continue(exit::FAILED)
        }
        Err(error) => {
            output::print_error(&format!("cannot start `{shell}`: {error}"));
            Flow::Continue(exit::FAILED)
        }
    }
}

/// Returns the program that runs commands, and its option before a command.
fn shell_of_system() -> (String, &'static str) {
    if cfg!(windows) {
        return ("cmd".to_string(), "/C");
    }
    let shell = std::env::var("SHELL").ok().filter(|shell| !shell.is_empty());
    (shell.unwrap_or_else(|| "sh".to_string()), "-c")
}
