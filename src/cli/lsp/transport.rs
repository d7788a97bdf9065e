//! The transport of messages: from the editor by standard input, and to it by standard output.
//!
//! Each message is JSON after a header with its length. Malformed input is answered with an error
//! and skipped up to the next header. The length in a header causes no allocation: bytes are stored
//! as they arrive, and a message beyond [`MAX_MESSAGE_BYTES`] is not stored.

use lsp_server::{Connection, ErrorCode, Message};
use serde_json::{Value, json};
use std::io::{self, BufRead, Read, Write};
use std::thread::{Builder, JoinHandle};

/// The maximum length of a message, in bytes.
const MAX_MESSAGE_BYTES: u64 = 256 << 20;
/// The maximum length of a line of a header, in bytes.
const MAX_HEADER_LINE_BYTES: u64 = 4096;
/// The header field with the length of a message.
const CONTENT_LENGTH: &[u8] = b"content-length:";

/// The threads that read and write.
pub struct Threads {
    /// The thread that reads standard input.
    reader: JoinHandle<()>,
    /// The thread that writes standard output.
    writer: JoinHandle<()>,
}

impl Threads {
    /// Waits until all messages are read and written.
    pub fn join(self) {
        // A thread that panicked has printed its message.
        let _ = self.reader.join();
        let _ = self.writer.join();
    }
}

/// Makes a connection over the standard streams.
pub fn stdio() -> io::Result<(Connection, Threads)> {
    let (server, editor) = Connection::memory();
    let Connection { sender, receiver } = editor;
    let writer = Builder::new().name("writer".into()).spawn(move || {
        for message in receiver {
            // A closed connection is not an error.
            if message.write(&mut io::stdout().lock()).is_err() {
                break;
            }
        }
    })?;
    let reader = Builder::new().name("reader".into()).spawn(move || {
        let mut incoming = MessageReader { input: io::stdin().lock(), line: Vec::new() };
        while let Some(read) = incoming.next() {
            match read {
                Ok(message) => {
                    let last = matches!(&message, Message::Notification(note) if note.method == "exit");
                    if sender.send(message).is_err() || last {
                        break;
                    }
                }
                Err(wrong) => {
                    if wrong.respond(&mut io::stdout().lock()).is_err() {
                        break;
                    }
                }
            }
        }
    })?;
    Ok((server, Threads { reader, writer }))
}

/// The error of input that is not a message.
#[derive(Debug)]
struct MalformedMessage {
    /// The error code of the protocol.
    code: ErrorCode,
    /// The reason.
    why: String,
}

impl MalformedMessage {
    /// Returns the error for a text that is not JSON or has no header.
    fn parse(why: impl Into<String>) -> MalformedMessage {
        MalformedMessage { code: ErrorCode::ParseError, why: why.into() }
    }

    /// Returns the error for JSON that is not a message.
    fn invalid(why: impl Into<String>) -> MalformedMessage {
        MalformedMessage { code: ErrorCode::InvalidRequest, why: why.into() }
    }

    /// Answers the malformed input, with a null id because the request is unknown.
    fn respond(&self, out: &mut impl Write) -> io::Result<()> {
        let error = json!({ "code": self.code as i32, "message": self.why });
        let text = json!({ "jsonrpc": "2.0", "id": Value::Null, "error": error }).to_string();
        write!(out, "Content-Length: {}\r\n\r\n{text}", text.len())?;
        out.flush()
    }
}

/// The reader of incoming messages.
struct MessageReader<R> {
    /// The input.
    input: R,
    /// A line of a header that was read and is not parsed yet.
    line: Vec<u8>,
}

impl<R: BufRead> MessageReader<R> {
    /// Returns the next message, or the error of malformed input; `None` at the end.
    fn next(&mut self) -> Option<Result<Message, MalformedMessage>> {
        let length = match self.header()? {
            Ok(length) => length,
            Err(wrong) => {
                self.skip_to_header();
                return Some(Err(wrong));
            }
        };
        if length > MAX_MESSAGE_BYTES {
            self.skip_to_header();
            let why = format!("a message of {length} bytes; at most {MAX_MESSAGE_BYTES} are read");
            return Some(Err(MalformedMessage::invalid(why)));
        }
        let mut body = Vec::new();
        let read = self.input.by_ref().take(length).read_to_end(&mut body);
        if read.is_err() || (body.len() as u64) < length {
            return None;
        }
        Some(parse_message(&body))
    }

    /// Returns the length of the next message; `None` at the end.
    fn header(&mut self) -> Option<Result<u64, MalformedMessage>> {
        let mut length = None;
        let mut empty = true;
        loop {
            if self.line.is_empty() && !self.read_line() {
                return None;
            }
            let line = std::mem::take(&mut self.line);
            let text = line.trim_ascii();
            if text.is_empty() {
                // Blank lines before a header are ignored.
                if empty {
                    continue;
                }
                return Some(
                    length.ok_or_else(|| MalformedMessage::parse("a header without Content-Length")),
                );
            }
            empty = false;
            if !text.contains(&b':') || !line.ends_with(b"\n") {
                return Some(Err(MalformedMessage::parse("this is no header of a message")));
            }
            if let Some(digits) = content_length_value(text) {
                let digits = std::str::from_utf8(digits.trim_ascii()).ok();
                let number = digits.filter(|digits| digits.bytes().all(|b| b.is_ascii_digit()));
                // A number with too many digits counts as a large one.
                let large = |digits: &str| digits.parse().unwrap_or(u64::MAX);
                match number.filter(|digits| !digits.is_empty()) {
                    Some(digits) => length = Some(large(digits)),
                    None => return Some(Err(MalformedMessage::parse("Content-Length is no number"))),
                }
            }
        }
    }

    /// Reads a line, up to the maximum length; false at the end of input.
    fn read_line(&mut self) -> bool {
        let mut line = Vec::new();
        let read = self.input.by_ref().take(MAX_HEADER_LINE_BYTES).read_until(b'\n', &mut line);
        self.line = line;
        read.is_ok_and(|read| read > 0)
    }

    /// Skips malformed input up to the next header.
    fn skip_to_header(&mut self) {
        loop {
            // A header may follow the end of a message on the same line.
            let lower = self.line.to_ascii_lowercase();
            let found = lower.windows(CONTENT_LENGTH.len()).rposition(|window| window == CONTENT_LENGTH);
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

/// Returns the text after `Content-Length:`.
fn content_length_value(line: &[u8]) -> Option<&[u8]> {
    let (name, rest) = line.split_at_checked(CONTENT_LENGTH.len())?;
    name.eq_ignore_ascii_case(CONTENT_LENGTH).then_some(rest)
}

/// Parses the body of a message.
fn parse_message(body: &[u8]) -> Result<Message, MalformedMessage> {
    let value: Value =
        serde_json::from_slice(body).map_err(|error| MalformedMessage::parse(error.to_string()))?;
    if !value.is_object() {
        return Err(MalformedMessage::invalid("a message is an object"));
    }
    serde_json::from_value(value)
        .map_err(|_| MalformedMessage::invalid("neither a request nor an answer nor a notification"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads messages from bytes; returns the method of each message, or the code of its error.
    fn read(bytes: &[u8]) -> Vec<Result<String, i32>> {
        let mut incoming = MessageReader { input: bytes, line: Vec::new() };
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
