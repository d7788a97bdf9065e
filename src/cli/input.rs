//! Texts from files and standard input, and settings from the environment.

use super::output::{Output, display_path, print_error, stderr_columns};
use super::{exit, json};
use felis::session::{Executor, Session};
use felis_base::diagnostic::{Diagnostic, render_within};
use felis_base::source::{SourceId, SourceMap, Span};
use std::ffi::OsString;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;

/// A text and its name in messages.
pub struct SourceText {
    /// The name.
    pub name: String,
    /// The text.
    pub text: String,
}

/// The reason why a text could not be read.
pub enum InputError {
    /// The file cannot be read.
    Unreadable(String),
    /// The file can be read, but is not UTF-8.
    NotText(Box<Diagnostic>, SourceMap),
}

impl InputError {
    /// Reports the error as text; returns the exit code.
    pub fn report(&self, output: &Output) -> u8 {
        match self {
            InputError::Unreadable(message) => print_error(&format!("felis: {message}")),
            InputError::NotText(diagnostic, sources) => {
                let columns = stderr_columns();
                output.write_error_text(&render_within(diagnostic, sources, output.color, columns));
            }
        }
        self.exit_code()
    }

    /// Returns the error as a line of JSON.
    pub fn json(&self) -> String {
        let line = match self {
            // The error has no place, because there is no text.
            InputError::Unreadable(message) => {
                let nowhere = Span::new(SourceId(0), 0, 0);
                json::diagnostic_line(&Diagnostic::error("E1001", nowhere, message, ""), &SourceMap::new())
            }
            InputError::NotText(diagnostic, sources) => json::diagnostic_line(diagnostic, sources),
        };
        format!("{line}\n")
    }

    /// Returns the exit code.
    pub fn exit_code(&self) -> u8 {
        match self {
            InputError::Unreadable(_) => exit::USAGE,
            InputError::NotText(..) => exit::REJECTED,
        }
    }
}

/// Returns the error for `felis WORD` if the word is neither a file nor a command.
pub fn unknown_word_error(word: &Path) -> Option<InputError> {
    let bare = word.extension().is_none() && word.components().count() == 1 && word.as_os_str() != "-";
    if !bare || word.symlink_metadata().is_ok() {
        return None;
    }
    let shown = display_path(word);
    let meant = super::arguments::similar_command(&shown);
    let meant =
        meant.map_or(" (see `felis --help`)".to_string(), |meant| format!("; did you mean `{meant}`?"));
    Some(InputError::Unreadable(match similar_file(word) {
        file if file.is_empty() => format!("there is no file `{shown}`, and no command has this name{meant}"),
        file => format!("there is no file `{shown}`{file}"),
    }))
}

/// Returns a similar path of a program for one that does not exist, as the end of a sentence.
fn similar_file(path: &Path) -> String {
    let there = super::files::sibling_programs(path);
    let meant = there.iter().find(|other| Path::new(other).file_stem() == path.file_name());
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let meant = meant.cloned().or_else(|| felis::session::similar(&name, there.iter().map(String::as_str)));
    meant.map_or(String::new(), |meant| {
        format!("; did you mean `{}`?", display_path(&path.with_file_name(meant)))
    })
}

/// The maximum length of a text, in bytes.
pub const MAX_TEXT_BYTES: u64 = 64 << 20;

/// Reads a file, or standard input for `-`.
pub fn read(path: &Path) -> Result<SourceText, InputError> {
    if path.as_os_str() != "-" {
        return read_file(path, &display_path(path));
    }
    let mut bytes = Vec::new();
    let read = std::io::stdin().lock().take(MAX_TEXT_BYTES + 1).read_to_end(&mut bytes);
    read.map_err(|error| InputError::Unreadable(format!("cannot read standard input: {error}")))?;
    text("standard input", bytes)
}

/// Reads a file; messages use the name `shown`.
pub fn read_file(path: &Path, shown: &str) -> Result<SourceText, InputError> {
    let unreadable = |error: std::io::Error| {
        InputError::Unreadable(match error.kind() {
            ErrorKind::NotFound => format!("there is no file `{shown}`{}", similar_file(path)),
            ErrorKind::IsADirectory => format!("`{shown}` is a directory, not a program"),
            ErrorKind::PermissionDenied => format!("no permission to read `{shown}`"),
            _ => format!("cannot read `{shown}`: {error}"),
        })
    };
    let file = File::open(path).map_err(unreadable)?;
    let mut bytes = Vec::new();
    file.take(MAX_TEXT_BYTES + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    text(shown, bytes)
}

/// Returns bytes as a text with a name; fails for invalid UTF-8 and for more than `MAX_TEXT_BYTES`.
fn text(name: &str, bytes: Vec<u8>) -> Result<SourceText, InputError> {
    if bytes.len() as u64 > MAX_TEXT_BYTES {
        return Err(InputError::Unreadable(format!("`{name}` is larger than {} MiB", MAX_TEXT_BYTES >> 20)));
    }
    let text = decode(name, bytes)?;
    Ok(SourceText { name: name.to_string(), text })
}

/// Decodes bytes as UTF-8.
pub fn decode(name: &str, bytes: Vec<u8>) -> Result<String, InputError> {
    String::from_utf8(bytes).map_err(|error| {
        let (at, wrong) = (error.utf8_error().valid_up_to(), error.as_bytes());
        let byte = wrong.get(at).copied().unwrap_or(0);
        // The readable form is equal up to the invalid byte, which is a replacement character
        // there.
        let mut sources = SourceMap::new();
        let source = sources.add(name, String::from_utf8_lossy(wrong));
        let span = Span::new(source.id, at, at + char::REPLACEMENT_CHARACTER.len_utf8());
        let message = format!("`{name}` is not UTF-8 text");
        let label = format!("the byte 0x{byte:02x} is not part of a character");
        let diagnostic =
            Diagnostic::error("E0100", span, message, label).help("save the file in the encoding UTF-8");
        InputError::NotText(Box::new(diagnostic), sources)
    })
}

/// Returns a statement that defines the arguments of a program as `args`.
pub fn arguments_statement(arguments: &[OsString]) -> String {
    let texts: Vec<String> = arguments.iter().map(|text| quote_string(&text.to_string_lossy())).collect();
    // `T ^ 1` is naturally `T`, and `T ^ 0` is `()`. The type of `args` must not depend on the
    // number of arguments, so the number is a size known at run time.
    format!("val args = of_any_size (({}) :>> string ^ {});", texts.join(", "), texts.len())
}

/// Returns a text as a string literal of the language.
fn quote_string(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => out.push_str(&format!("\\u{{{:x}}}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// Returns the limit of bytes for one value: three quarters of the machine's memory.
pub fn memory_limit() -> u64 {
    /// The limit where the system does not report its memory.
    const FALLBACK_BYTES: u64 = 8 << 30;
    let Ok(table) = std::fs::read_to_string("/proc/meminfo") else { return FALLBACK_BYTES };
    let total = table.lines().find_map(|line| line.strip_prefix("MemTotal:"));
    let kibibytes = total.and_then(|rest| rest.trim().strip_suffix("kB")?.trim().parse::<u64>().ok());
    kibibytes.map_or(FALLBACK_BYTES, |total| total.saturating_mul(1024) / 4 * 3)
}

/// The maximum number of threads, because each thread costs memory.
const MAX_THREADS: usize = 1024;

/// Parses a number of threads, at most [`MAX_THREADS`]; 0 means one for each core.
fn parse_thread_count(text: &str) -> Result<usize, String> {
    let text = text.trim();
    if text.is_empty() || !text.bytes().all(|b| b.is_ascii_digit()) {
        return Err(format!(
            "FELIS_THREADS is `{text}`: it is a number of threads, such as 4, or 0 for as many as there are cores"
        ));
    }
    // A number too long to parse is beyond the maximum.
    Ok(text.parse::<usize>().map_or(MAX_THREADS, |count| count.min(MAX_THREADS)))
}

/// Returns a session with the executor of the environment: `FELIS_EXECUTOR` is `reference`,
/// `compiled` or `eager`, `FELIS_THREADS` a number. Returns a message if either is invalid.
pub fn session_from_environment() -> Result<Session, String> {
    let set = |name: &str| std::env::var_os(name).map(|value| value.to_string_lossy().into_owned());
    let executor = match set("FELIS_EXECUTOR").as_deref() {
        Some("reference") => Executor::Reference,
        Some("eager") => Executor::Eager,
        None | Some("compiled" | "") => Executor::Compiled,
        Some(other) => {
            return Err(format!("FELIS_EXECUTOR is `{other}`: it is `reference`, `compiled` or `eager`"));
        }
    };
    let threads = match set("FELIS_THREADS").as_deref() {
        None | Some("") => 0,
        Some(text) => parse_thread_count(text)?,
    };
    Ok(Session::new().with_executor(executor, threads))
}
