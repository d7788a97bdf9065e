//! The machine as programs see it: standard input, clocks, environment variables, folders.
//!
//! Standard input is read without the buffer of the standard library, and only when something is
//! there: so an interrupt does not wait for a key, and what the session has not read is left to the
//! program.

use felis::session::{System, SystemError};
use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The machine of the command line.
pub struct Machine {
    /// The folder that paths are relative to, if not the working folder.
    folder: Option<PathBuf>,
    /// The moment that [`System::ticks`] counts from.
    start: Instant,
    input: Mutex<Input>,
}

/// The bytes of standard input that have been read and not been asked for.
#[derive(Default)]
struct Input {
    file: Option<File>,
    bytes: Vec<u8>,
    /// The number of bytes that have been searched for the end of a line.
    searched: usize,
    at_end: bool,
}

/// The number of bytes that are read at once.
const CHUNK_BYTES: usize = 1 << 16;

/// The time between two looks at the interrupt flag.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

impl Machine {
    /// Returns the machine, with paths relative to the working folder.
    pub fn new() -> Machine {
        Machine { folder: None, start: Instant::now(), input: Mutex::default() }
    }

    /// Returns the machine with paths relative to a folder.
    #[cfg(feature = "parties")]
    pub fn inside(self, folder: PathBuf) -> Machine {
        Machine { folder: Some(folder), ..self }
    }
}

/// Returns the reason of an error of the system.
fn refused(error: &std::io::Error) -> SystemError {
    SystemError::Refused(match error.kind() {
        ErrorKind::NotFound => "there is no such folder".to_string(),
        ErrorKind::NotADirectory => "it is no folder".to_string(),
        ErrorKind::PermissionDenied => "there is no permission to read it".to_string(),
        _ => error.to_string(),
    })
}

/// Returns bytes as text.
fn text(bytes: Vec<u8>) -> Result<String, SystemError> {
    String::from_utf8(bytes).map_err(|_| SystemError::Refused("it is not UTF-8".to_string()))
}

/// Fails if the flag is set.
fn poll(interrupt: &AtomicBool) -> Result<(), SystemError> {
    if interrupt.load(Ordering::Relaxed) { Err(SystemError::Interrupted) } else { Ok(()) }
}

/// Returns standard input as a file of its own.
#[cfg(unix)]
fn standard_input() -> std::io::Result<File> {
    use std::os::fd::AsFd;
    Ok(File::from(std::io::stdin().as_fd().try_clone_to_owned()?))
}

/// Waits until standard input has something, or its end; returns false after a while.
#[cfg(unix)]
fn wait_for(file: &File) -> bool {
    use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
    use std::os::fd::AsFd;
    let mut watched = [PollFd::new(file.as_fd(), PollFlags::POLLIN)];
    let wait = PollTimeout::try_from(POLL_INTERVAL).unwrap_or(PollTimeout::ZERO);
    // An interrupted wait has found nothing; another error is found by the reading.
    !matches!(poll(&mut watched, wait), Ok(0) | Err(nix::errno::Errno::EINTR))
}

impl Input {
    /// Reads some bytes more.
    fn read_more(&mut self, most: u64, interrupt: &AtomicBool) -> Result<(), SystemError> {
        poll(interrupt)?;
        if self.bytes.len() as u64 > most {
            return Err(SystemError::Refused("it takes more memory than may be used".to_string()));
        }
        let mut chunk = vec![0; CHUNK_BYTES];
        let count = self.read_chunk(&mut chunk, interrupt)?;
        self.at_end = count == 0;
        self.bytes.extend_from_slice(&chunk[..count]);
        Ok(())
    }

    /// Reads bytes into a chunk.
    #[cfg(unix)]
    fn read_chunk(&mut self, chunk: &mut [u8], interrupt: &AtomicBool) -> Result<usize, SystemError> {
        if self.file.is_none() {
            self.file = Some(standard_input().map_err(|error| refused(&error))?);
        }
        let Some(file) = &mut self.file else { return Ok(0) };
        while !wait_for(file) {
            poll(interrupt)?;
        }
        file.read(chunk).map_err(|error| refused(&error))
    }

    /// Reads bytes into a chunk.
    #[cfg(not(unix))]
    fn read_chunk(&mut self, chunk: &mut [u8], _: &AtomicBool) -> Result<usize, SystemError> {
        std::io::stdin().lock().read(chunk).map_err(|error| refused(&error))
    }
}

impl System for Machine {
    fn read_line(&self, most: u64, interrupt: &AtomicBool) -> Result<Option<String>, SystemError> {
        let mut input = self.input.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let found = input.bytes[input.searched..].iter().position(|byte| *byte == b'\n');
            let (length, rest) = match found {
                Some(at) => (input.searched + at, input.searched + at + 1),
                None if input.at_end => (input.bytes.len(), input.bytes.len()),
                None => {
                    input.searched = input.bytes.len();
                    input.read_more(most, interrupt)?;
                    continue;
                }
            };
            input.searched = 0;
            if found.is_none() && length == 0 {
                // At a terminal there may be more after its end has been typed.
                input.at_end = false;
                return Ok(None);
            }
            let mut line = input.bytes[..length].to_vec();
            input.bytes.drain(..rest);
            if line.last() == Some(&b'\r') {
                line.pop();
            }
            return text(line).map(Some);
        }
    }

    fn read_input(&self, most: u64, interrupt: &AtomicBool) -> Result<String, SystemError> {
        let mut input = self.input.lock().unwrap_or_else(PoisonError::into_inner);
        while !input.at_end {
            input.read_more(most, interrupt)?;
        }
        (input.at_end, input.searched) = (false, 0);
        text(std::mem::take(&mut input.bytes))
    }

    fn environment(&self, name: &str) -> Result<Option<String>, SystemError> {
        // The system allows none of these in a name.
        if name.is_empty() || name.contains(['=', '\0']) {
            return Ok(None);
        }
        match std::env::var(name) {
            Ok(value) => Ok(Some(value)),
            Err(std::env::VarError::NotPresent) => Ok(None),
            Err(std::env::VarError::NotUnicode(_)) => {
                Err(SystemError::Refused(format!("the value of `{name}` is not UTF-8")))
            }
        }
    }

    fn now(&self) -> i64 {
        let nanoseconds = |duration: Duration| i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX);
        match SystemTime::now().duration_since(UNIX_EPOCH) {
            Ok(after) => nanoseconds(after),
            Err(before) => -nanoseconds(before.duration()),
        }
    }

    fn ticks(&self) -> i64 {
        i64::try_from(self.start.elapsed().as_nanos()).unwrap_or(i64::MAX)
    }

    fn list_dir(&self, path: &str) -> Result<Vec<String>, SystemError> {
        let whole = self.folder.as_ref().map_or_else(|| PathBuf::from(path), |folder| folder.join(path));
        let entries = std::fs::read_dir(whole).map_err(|error| refused(&error))?;
        let name = |entry: std::io::Result<std::fs::DirEntry>| {
            let name = entry.map_err(|error| refused(&error))?.file_name();
            name.into_string().map_err(|name| {
                SystemError::Refused(format!("the name `{}` is not UTF-8", name.to_string_lossy()))
            })
        };
        entries.map(name).collect()
    }

    fn sleep(&self, duration: Duration, interrupt: &AtomicBool) -> Result<(), SystemError> {
        let start = Instant::now();
        loop {
            poll(interrupt)?;
            match duration.checked_sub(start.elapsed()) {
                None | Some(Duration::ZERO) => return Ok(()),
                Some(left) => std::thread::sleep(left.min(POLL_INTERVAL)),
            }
        }
    }

    fn print_error(&self, text: &str) -> Result<(), SystemError> {
        let mut stream = std::io::stderr().lock();
        let written = stream.write_all(text.as_bytes()).and_then(|()| stream.flush());
        written.map_err(|error| refused(&error))
    }
}
