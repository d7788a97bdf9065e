//! Standard output and standard error.
//!
//! Output is buffered, and flushed before anything is written to standard error, so that both
//! appear in order; on a terminal it is flushed at once, elsewhere when it is written
//! [`FLUSH_INTERVAL`] after it was flushed before. If the reader has closed the pipe, the
//! command ends without a message, with the exit code of shells for a command that `SIGPIPE` ends.

use felis::session::{Colors, Screen};
use felis_base::diagnostic::{escape_control, escape_control_lines, fill_paragraphs};
use std::io::{BufWriter, ErrorKind, IsTerminal, Stdout, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use terminal_size::{Height, Width};

/// The streams of output and messages.
pub struct Output {
    /// The buffered standard output.
    out: BufWriter<Stdout>,
    /// True if standard output is a terminal.
    pub interactive: bool,
    /// True if messages are colored.
    pub color: bool,
    /// The colors of pictures on a terminal.
    colors: Colors,
    /// True if the last line written is complete.
    at_line_start: bool,
    /// The time of the last flush.
    flushed: Instant,
}

/// Time after which written output is not kept back any longer, so that a reader sees how far a
/// program is that prints seldom.
const FLUSH_INTERVAL: Duration = Duration::from_millis(100);

impl Output {
    /// The standard streams.
    pub fn new() -> Output {
        let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
            || std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        Output {
            out: BufWriter::with_capacity(1 << 16, std::io::stdout()),
            interactive: std::io::stdout().is_terminal(),
            color: std::io::stderr().is_terminal() && !plain,
            colors: if plain { Colors::None } else { terminal_colors() },
            at_line_start: true,
            flushed: Instant::now(),
        }
    }

    /// Returns the screen for pictures that a program draws: the terminal, or a default page.
    pub fn screen(&self) -> Screen {
        // These rows stay free for the input and the text of the picture.
        const RESERVED_ROWS: usize = 8;
        match terminal_size::terminal_size() {
            Some((Width(columns), Height(rows))) if self.interactive && columns > 0 => Screen {
                columns: columns.into(),
                rows: usize::from(rows).saturating_sub(RESERVED_ROWS),
                colors: self.colors,
            },
            _ => Screen::default(),
        }
    }

    /// Writes to standard output.
    pub fn write(&mut self, text: &str) {
        if let Err(error) = self.out.write_all(text.as_bytes()) {
            exit_on_write_error(&error);
        }
        if let Some(last) = text.chars().next_back() {
            self.at_line_start = last == '\n';
        }
        if self.interactive || self.flushed.elapsed() > FLUSH_INTERVAL {
            self.flush();
        }
    }

    /// Writes a text to standard output: by a pager if it is a terminal with fewer lines.
    pub fn write_paged(&mut self, text: &str) {
        let size = terminal_size::terminal_size().filter(|_| self.interactive);
        let rows = size.map_or(usize::MAX, |(_, Height(rows))| usize::from(rows));
        // The prompt takes a line.
        if text.lines().count() < rows || !shown_by_pager(text) {
            self.write(text);
        }
    }

    /// Ends a line that a program has left open.
    pub fn end_line(&mut self) {
        if !self.at_line_start {
            self.write("\n");
        }
    }

    /// Flushes the output.
    pub fn flush(&mut self) {
        self.flushed = Instant::now();
        if let Err(error) = self.out.flush().and_then(|()| self.out.get_mut().flush()) {
            exit_on_write_error(&error);
        }
    }

    /// Writes lines to standard error.
    pub fn write_error_text(&self, text: &str) {
        // An error of standard error cannot be reported anywhere.
        let _ = std::io::stderr().write_all(text.as_bytes());
    }
}

/// The pager without the variable `PAGER`: it quits at the end of a text that fits, keeps the text
/// on the screen, and shows colors.
const DEFAULT_PAGER: &str = "less -FRX";

/// Shows a text in `$PAGER`; false if there is none, or `cat`, or it cannot be started.
fn shown_by_pager(text: &str) -> bool {
    let pager = std::env::var("PAGER").unwrap_or_else(|_| DEFAULT_PAGER.to_string());
    let mut words = pager.split_whitespace();
    let Some(program) = words.next().filter(|program| *program != "cat") else { return false };
    let mut command = Command::new(program);
    // Text with letters beyond ASCII is shown as it is, whatever the locale says.
    command.args(words).env("LESSCHARSET", "utf-8").stdin(Stdio::piped());
    let Ok(mut child) = command.spawn() else { return false };
    if let Some(mut input) = child.stdin.take() {
        // A pager that is left early closes the pipe.
        let _ = input.write_all(text.as_bytes());
    }
    let _ = child.wait();
    true
}

/// Returns the colors that the terminal reports.
fn terminal_colors() -> Colors {
    match std::env::var("COLORTERM").as_deref() {
        Ok("truecolor" | "24bit") => Colors::Full,
        _ => Colors::Indexed,
    }
}

/// Writes a line, or several, to standard error.
pub fn print_error(line: &str) {
    let text = format!("{}\n", escape_control_lines(line));
    let text = stderr_columns().map_or(text.clone(), |columns| fill_paragraphs(&text, columns));
    let _ = std::io::stderr().write_all(text.as_bytes());
}

/// Returns the columns of the terminal on standard error, if there is one.
pub fn stderr_columns() -> Option<usize> {
    known_columns(terminal_size::terminal_size_of(std::io::stderr()))
}

/// Returns prose for standard output, to be indented by `by` columns: wrapped on a terminal,
/// otherwise unchanged.
pub fn wrap_for_stdout(text: String, by: usize) -> String {
    match known_columns(terminal_size::terminal_size_of(std::io::stdout())) {
        Some(columns) => fill_paragraphs(&text, columns.saturating_sub(by)),
        None => text,
    }
}

/// Returns the columns of a terminal that knows its size.
fn known_columns(size: Option<(Width, Height)>) -> Option<usize> {
    // A terminal of unknown width reports 0.
    size.map(|(Width(columns), _)| usize::from(columns)).filter(|&columns| columns > 0)
}

/// Returns the path of a file for a line of output or a message.
pub fn display_path(path: &Path) -> String {
    escape_control(&path.display().to_string()).into_owned()
}

/// Ends the command, because none of its output can be read any more.
fn exit_on_write_error(error: &std::io::Error) -> ! {
    if error.kind() == ErrorKind::BrokenPipe {
        std::process::exit(super::exit::BROKEN_PIPE.into());
    }
    print_error(&format!("felis: cannot write to standard output: {error}"));
    std::process::exit(super::exit::FAILED.into());
}
