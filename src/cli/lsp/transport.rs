//! Messages of an editor from standard input, and answers to standard output.
//!
//! Each message is JSON after a header that says how long it is. What is no message is answered with an error and
//! passed over: the server goes on with the next one. Nothing is allocated because a header says so: bytes are kept
//! as they arrive, and a message beyond [`LARGEST`] is not kept at all.

use lsp_server::{Connection, ErrorCode, Message};
use serde_json::{Value, json};
use std::io::{self, BufRead, Read, Write};
use std::thread::{Builder, JoinHandle};

/// The largest message that is read, in bytes.
const LARGEST: u64 = 256 << 20;
/// The longest line of a header.
const MAX_LINE_BYTES: u64 = 4096;
/// The field that says how long a message is.
const LENGTH: &[u8] = b"content-length:";

/// The threads that read and write.
pub struct Threads {
    reader: JoinHandle<()>,
    writer: JoinHandle<()>,
}

impl Threads {
    /// Waits until all is read and written.
    pub fn join(self) {
        // A thread that panicked has said so.
        let _ = self.reader.join();
        let _ = self.writer.join();
    }
}

/// A connection over the standard streams.
pub fn stdio() -> io::Result<(Connection, Threads)> {
    let (server, editor) = Connection::memory();
    let Connection { sender, receiver } = editor;
    let writer = Builder::new().name("writer".into()).spawn(move || {
        for message in receiver {
            // Where nobody reads any more there is nobody to tell.
            if message.write(&mut io::stdout().lock()).is_err() {
                break;
            }
        }
    })?;
    let reader = Builder::new().name("reader".into()).spawn(move || {
        let mut incoming = Incoming { input: io::stdin().lock(), line: Vec::new() };
        while let Some(read) = incoming.next() {
            match read {
                Ok(message) => {
                    let last = matches!(&message, Message::Notification(note) if note.method == "exit");
                    if sender.send(message).is_err() || last {
                        break;
                    }
                }
                Err(wrong) => {
                    if wrong.answer(&mut io::stdout().lock()).is_err() {
                        break;
                    }
                }
            }
        }
    })?;
    Ok((server, Threads { reader, writer }))
}

/// Why what came is no message.
#[derive(Debug)]
struct Wrong {
    code: ErrorCode,
    why: String,
}

impl Wrong {
    fn parse(why: impl Into<String>) -> Wrong {
        Wrong { code: ErrorCode::ParseError, why: why.into() }
    }

    fn invalid(why: impl Into<String>) -> Wrong {
        Wrong { code: ErrorCode::InvalidRequest, why: why.into() }
    }

    /// Answers it; which request it was cannot be known.
    fn answer(&self, out: &mut impl Write) -> io::Result<()> {
        let error = json!({ "code": self.code as i32, "message": self.why });
        let text = json!({ "jsonrpc": "2.0", "id": Value::Null, "error": error }).to_string();
        write!(out, "Content-Length: {}\r\n\r\n{text}", text.len())?;
        out.flush()
    }
}

/// The messages that come.
struct Incoming<R> {
    input: R,
    /// A line of a header that has been read and not been looked at.
    line: Vec<u8>,
}

impl<R: BufRead> Incoming<R> {
    /// The next message, or what is wrong with it; nothing at the end.
    fn next(&mut self) -> Option<Result<Message, Wrong>> {
        let length = match self.header()? {
            Ok(length) => length,
            Err(wrong) => {
                self.pass_over();
                return Some(Err(wrong));
            }
        };
        if length > LARGEST {
            self.pass_over();
            let why = format!("a message of {length} bytes; at most {LARGEST} are read");
            return Some(Err(Wrong::invalid(why)));
        }
        let mut body = Vec::new();
        let read = self.input.by_ref().take(length).read_to_end(&mut body);
        if read.is_err() || (body.len() as u64) < length {
            return None;
        }
        Some(message(&body))
    }

    /// The length of the next message; nothing at the end.
    fn header(&mut self) -> Option<Result<u64, Wrong>> {
        let mut length = None;
        let mut empty = true;
        loop {
            if self.line.is_empty() && !self.read_line() {
                return None;
            }
            let line = std::mem::take(&mut self.line);
            let text = line.trim_ascii();
            if text.is_empty() {
                // Blank lines before a header are nothing.
                if empty {
                    continue;
                }
                return Some(length.ok_or_else(|| Wrong::parse("a header without Content-Length")));
            }
            empty = false;
            if !text.contains(&b':') || !line.ends_with(b"\n") {
                return Some(Err(Wrong::parse("this is no header of a message")));
            }
            if let Some(digits) = after_length(text) {
                let digits = std::str::from_utf8(digits.trim_ascii()).ok();
                let number = digits.filter(|digits| digits.bytes().all(|b| b.is_ascii_digit()));
                // More digits than a number has are those of a large one.
                let large = |digits: &str| digits.parse().unwrap_or(u64::MAX);
                match number.filter(|digits| !digits.is_empty()) {
                    Some(digits) => length = Some(large(digits)),
                    None => return Some(Err(Wrong::parse("Content-Length is no number"))),
                }
            }
        }
    }

    /// Reads a line, or as much of a long one as a header has; false at the end.
    fn read_line(&mut self) -> bool {
        let mut line = Vec::new();
        let read = self.input.by_ref().take(MAX_LINE_BYTES).read_until(b'\n', &mut line);
        self.line = line;
        read.is_ok_and(|read| read > 0)
    }

    /// Passes over what cannot be read, up to the next header.
    fn pass_over(&mut self) {
        loop {
            // A header may stand behind the end of a message, on the same line.
            let lower = self.line.to_ascii_lowercase();
            let found = lower.windows(LENGTH.len()).rposition(|window| window == LENGTH);
            if let Some(at) = found {
                self.line.drain(..at);
                return;
            }
            if !self.read_line() {
                return;
            }
        }
    }
}

/// What follows `Content-Length:`.
fn after_length(line: &[u8]) -> Option<&[u8]> {
    let (name, rest) = line.split_at_checked(LENGTH.len())?;
    name.eq_ignore_ascii_case(LENGTH).then_some(rest)
}

fn message(body: &[u8]) -> Result<Message, Wrong> {
    let value: Value = serde_json::from_slice(body).map_err(|error| Wrong::parse(error.to_string()))?;
    if !value.is_object() {
        return Err(Wrong::invalid("a message is an object"));
    }
    serde_json::from_value(value)
        .map_err(|_| Wrong::invalid("neither a request nor an answer nor a notification"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What becomes of bytes: the method of each message, or the code of what is wrong.
    fn read(bytes: &[u8]) -> Vec<Result<String, i32>> {
        let mut incoming = Incoming { input: bytes, line: Vec::new() };
        let mut out = Vec::new();
        while let Some(next) = incoming.next() {
            out.push(match next {
                Ok(Message::Notification(note)) => Ok(note.method),
                Ok(Message::Request(request)) => Ok(request.method),
                Ok(Message::Response(_)) => Ok("answer".to_string()),
                Err(wrong) => Err(wrong.code as i32),
            });
        }
        out
    }

    fn framed(body: &str) -> String {
        format!("Content-Length: {}\r\n\r\n{body}", body.len())
    }

    #[test]
    fn what_is_no_message_is_told_and_passed_over() {
        let good = framed(r#"{"jsonrpc":"2.0","method":"a"}"#);
        let parse = ErrorCode::ParseError as i32;
        let invalid = ErrorCode::InvalidRequest as i32;
        for (bad, code) in [
            (framed("{\"jsonrpc\""), parse),
            (framed(""), parse),
            (framed("\u{0}\u{1}"), parse),
            (framed(&"[".repeat(100_000)), parse),
            (framed("[]"), invalid),
            (framed("{}"), invalid),
            ("Content-Length: 99999999999999999999999\r\n\r\n".to_string(), invalid),
            ("Content-Length: 1099511627776\r\n\r\n{}".to_string(), invalid),
            ("Content-Length: -1\r\n\r\n{}".to_string(), parse),
            ("Content-Length: x\r\n\r\n{}\n".to_string(), parse),
            ("nonsense\r\n".to_string(), parse),
            ("Content-Type: x\r\n\r\n{}\r\n".to_string(), parse),
            (format!("{}\r\n\r\n", "x".repeat(100_000)), parse),
        ] {
            let all = format!("{good}{bad}{good}{good}");
            let expected = vec![Ok("a".to_string()), Err(code), Ok("a".to_string()), Ok("a".to_string())];
            assert_eq!(read(all.as_bytes()), expected, "{}", &bad[..bad.len().min(60)]);
        }
        assert_eq!(read(&good.as_bytes()[..good.len() - 1]), []);
        assert_eq!(read(b""), []);
    }
}
