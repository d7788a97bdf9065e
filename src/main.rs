//! The `felis` command: arguments in, exit code out. All work is done by [`cli`] on one thread, with a
//! stack that holds the deepest programs.

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments = cli::Arguments::read();
    cli::report_bugs_in_one_line();
    cli::hold_resizes();
    ExitCode::from(felis::session::on_large_stack(|| cli::run(arguments)))
}
