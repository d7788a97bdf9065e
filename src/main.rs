//! The `felis` command: arguments in, exit code out. All work is done by [`cli`] on one thread,
//! with a stack that holds the deepest programs. The stack that the system gives may be small:
//! nothing is done on it.

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    let done = felis::session::try_on_large_stack(|| {
        let arguments = cli::Arguments::read();
        cli::report_bugs_in_one_line();
        cli::block_resize_signal();
        cli::run(arguments)
    });
    ExitCode::from(done.unwrap_or_else(|_| cli::report_missing_stack()))
}
