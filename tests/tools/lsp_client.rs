//! A client of the language server, over pipes: the requests of an editor.

use serde_json::{Value, json};
use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// The timeout of a request, sufficient on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A client with its server.
pub struct Client {
    child: Child,
    input: Option<ChildStdin>,
    output: Receiver<Value>,
    /// Notifications and requests of the server that the test has not read yet.
    told: VecDeque<Value>,
    next: i64,
    /// A folder of its own, which also holds the server's copies.
    pub folder: PathBuf,
    /// The capabilities of the server.
    pub abilities: Value,
}

impl Client {
    /// Starts a server in a folder of its own, and initializes it.
    pub fn new(name: &str) -> Client {
        Client::with(name, json!({}))
    }

    /// Does the same for an editor with these capabilities.
    pub fn with(name: &str, capabilities: Value) -> Client {
        let folder = std::env::temp_dir().join(format!("felis-lsp-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(folder.join("programs")).expect("a folder");
        let folder = folder.canonicalize().expect("a real folder");
        let mut child = Command::new(env!("CARGO_BIN_EXE_felis"))
            .arg("lsp")
            .env("XDG_CACHE_HOME", folder.join("cache"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the server starts");
        let (sender, output) = channel();
        let mut pipe = BufReader::new(child.stdout.take().expect("a pipe"));
        std::thread::spawn(move || {
            while let Some(message) = receive(&mut pipe) {
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let input = child.stdin.take();
        let work = folder.join("programs");
        let mut client =
            Client { child, input, output, told: VecDeque::new(), next: 0, folder, abilities: Value::Null };
        let greeting = client.request(
            "initialize",
            json!({
                "processId": null,
                "capabilities": capabilities,
                "workspaceFolders": [{ "uri": uri(&work), "name": "programs" }],
            }),
        );
        client.abilities = greeting.expect("a greeting")["capabilities"].clone();
        assert_eq!(client.abilities["positionEncoding"], "utf-16");
        client.notify("initialized", json!({}));
        client
    }

    /// Writes a file of the workspace; returns its URI.
    pub fn file(&self, name: &str, text: &str) -> String {
        let path = self.folder.join("programs").join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(&path, text).expect("written");
        uri(&path)
    }

    /// Writes and opens a file of the workspace; returns its URI.
    pub fn open(&mut self, name: &str, text: &str) -> String {
        let uri = self.file(name, text);
        self.open_text(&uri, text);
        uri
    }

    /// Opens a text that need not be on disk.
    pub fn open_text(&mut self, uri: &str, text: &str) {
        let document = json!({ "uri": uri, "languageId": "felis", "version": 1, "text": text });
        self.notify("textDocument/didOpen", json!({ "textDocument": document }));
    }

    /// Replaces a whole open text.
    pub fn replace(&mut self, uri: &str, version: i32, text: &str) {
        self.change(uri, version, json!([{ "text": text }]));
    }

    /// Changes an open text.
    pub fn change(&mut self, uri: &str, version: i32, changes: Value) {
        let document = json!({ "uri": uri, "version": version });
        let changed = json!({ "textDocument": document, "contentChanges": changes });
        self.notify("textDocument/didChange", changed);
    }

    /// Sends raw bytes as one message.
    pub fn send(&mut self, message: &Value) {
        let text = message.to_string();
        let input = self.input.as_mut().expect("not closed");
        write!(input, "Content-Length: {}\r\n\r\n{text}", text.len()).expect("the server listens");
        input.flush().expect("the server listens");
    }

    /// Sends a notification.
    pub fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// Sends a request without waiting for its answer; returns its number.
    pub fn ask(&mut self, method: &str, params: Value) -> i64 {
        self.next += 1;
        let id = self.next;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    /// Returns the answer to a request, or its error.
    pub fn answer(&mut self, id: i64) -> Result<Value, Value> {
        loop {
            let message = self.output.recv_timeout(TIMEOUT).expect("an answer");
            if message["id"] == json!(id) && message.get("method").is_none() {
                return match message.get("error") {
                    Some(error) => Err(error.clone()),
                    None => Ok(message["result"].clone()),
                };
            }
            self.told.push_back(message);
        }
    }

    /// Sends a request and waits for the answer.
    pub fn request(&mut self, method: &str, params: Value) -> Result<Value, Value> {
        let id = self.ask(method, params);
        self.answer(id)
    }

    /// Sends a request about the place of a text that [`place`] finds.
    pub fn at(&mut self, method: &str, uri: &str, text: &str, needle: &str) -> Value {
        self.asked_at(method, uri, text, needle, json!({})).expect("an answer")
    }

    /// Does the same with more parameters; the answer may be an error.
    pub fn asked_at(
        &mut self,
        method: &str,
        uri: &str,
        text: &str,
        needle: &str,
        more: Value,
    ) -> Result<Value, Value> {
        let mut params = json!({ "textDocument": { "uri": uri }, "position": place(text, needle) });
        if let (Some(params), Value::Object(more)) = (params.as_object_mut(), more) {
            params.extend(more);
        }
        self.request(method, params)
    }

    /// Returns the next notification or request of the server with this method.
    pub fn told(&mut self, method: &str) -> Value {
        if let Some(at) = self.told.iter().position(|message| message["method"] == method) {
            return self.told.remove(at).expect("it is there")["params"].clone();
        }
        loop {
            let message = self.output.recv_timeout(TIMEOUT).expect("something is told");
            if message["method"] == method {
                return message["params"].clone();
            }
            self.told.push_back(message);
        }
    }

    /// Returns the diagnostics of a text in this version.
    pub fn diagnostics(&mut self, uri: &str, version: i32) -> Vec<Value> {
        loop {
            let told = self.told("textDocument/publishDiagnostics");
            if told["uri"] == uri && told["version"] == version {
                return told["diagnostics"].as_array().expect("a list").clone();
            }
        }
    }

    /// Returns the messages that have been received and not read yet.
    pub fn told_before(&mut self) -> Vec<Value> {
        self.told.extend(self.output.try_iter());
        self.told.drain(..).collect()
    }

    /// Shuts the server down; returns the exit code.
    pub fn leave(mut self) -> Option<i32> {
        self.request("shutdown", Value::Null).expect("it heeds");
        self.notify("exit", Value::Null);
        self.child.wait().expect("it ends").code()
    }

    /// Closes the connection without a shutdown; returns the exit code.
    pub fn vanish(mut self) -> Option<i32> {
        self.input = None;
        self.child.wait().expect("it ends").code()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn receive(pipe: &mut impl BufRead) -> Option<Value> {
    let mut length = None;
    loop {
        let mut line = String::new();
        if pipe.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let line = line.trim_end();
        if line.is_empty() {
            break;
        }
        if let Some(value) = line.strip_prefix("Content-Length: ") {
            length = value.parse::<usize>().ok();
        }
    }
    let mut body = vec![0; length?];
    pipe.read_exact(&mut body).ok()?;
    serde_json::from_slice(&body).ok()
}

/// Returns the URI of a file; the folders of tests have plain names.
pub fn uri(path: &Path) -> String {
    format!("file://{}", path.display().to_string().replace(' ', "%20"))
}

/// Returns the place of a `|`, or of a `‸` if there is one, in a needle that occurs once in a text;
/// otherwise that of the needle.
pub fn place(text: &str, needle: &str) -> Value {
    let mark = if needle.contains('‸') { '‸' } else { '|' };
    let (before, after) = needle.split_once(mark).unwrap_or((needle, ""));
    let found: Vec<usize> = text.match_indices(&format!("{before}{after}")).map(|(at, _)| at).collect();
    assert_eq!(found.len(), 1, "`{needle}` stands {} times in\n{text}", found.len());
    let at = found[0] + if needle.contains(mark) { before.len() } else { 0 };
    position(text, at)
}

/// Returns the starts of lines: after `\n`, `\r\n` and `\r`.
fn starts(text: &str) -> Vec<usize> {
    let ends =
        text.char_indices().filter(|(at, c)| *c == '\n' || *c == '\r' && !text[at + 1..].starts_with('\n'));
    std::iter::once(0).chain(ends.map(|(at, _)| at + 1)).collect()
}

/// Returns the position of a byte.
pub fn position(text: &str, at: usize) -> Value {
    let starts = starts(text);
    let line = starts.iter().filter(|start| **start <= at).count() - 1;
    json!({ "line": line, "character": text[starts[line]..at].encode_utf16().count() })
}

/// Returns the text at a range.
pub fn slice<'t>(text: &'t str, range: &Value) -> &'t str {
    &text[byte(text, &range["start"])..byte(text, &range["end"])]
}

/// Returns the byte at a position.
pub fn byte(text: &str, position: &Value) -> usize {
    let line = position["line"].as_u64().expect("a line") as usize;
    let mut units = position["character"].as_u64().expect("a character") as usize;
    let Some(&start) = starts(text).get(line) else { return text.len() };
    for (at, c) in text[start..].char_indices() {
        if units == 0 {
            return start + at;
        }
        units -= c.len_utf16();
    }
    text.len()
}

/// Returns a text with edits applied.
pub fn edited(text: &str, edits: &Value) -> String {
    let edits = edits.as_array().expect("a list of edits");
    let mut edits: Vec<(usize, usize, &str)> = edits
        .iter()
        .map(|edit| {
            let range = &edit["range"];
            let new = edit["newText"].as_str().expect("a text");
            (byte(text, &range["start"]), byte(text, &range["end"]), new)
        })
        .collect();
    edits.sort();
    let mut out = text.to_string();
    for (from, to, new) in edits.into_iter().rev() {
        out.replace_range(from..to, new);
    }
    out
}
