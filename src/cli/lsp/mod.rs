//! The language server, `felis lsp`, on standard input and output.
//!
//! Takes messages of the Language Server Protocol; gives answers and diagnostics. Translates
//! requests to questions for [`felis::editor`], which answers them. One thread handles messages in
//! their order, so that a request is answered for the text at the time it was sent.
//!
//! **Diagnostics** are published after [`DIAGNOSTICS_DELAY`] without a change of the text, unless
//! another change has arrived while they were computed. **A request** that is canceled before its
//! turn is not carried out. **A panic** is answered as an error; the server continues with a new
//! session.

mod actions;
mod completion;
mod diagnostics;
mod documents;
mod lookups;
mod position;
mod rename;
mod semantic_tokens;
mod symbols;
mod transport;
mod uri;
mod workspace;

use super::{exit, input};
use documents::Documents;
use felis::editor::{Draft, Edited, Index};
use felis::session::{Executor, Session};
use lsp_server::{Connection, ErrorCode, Message, Notification, Request, RequestId, Response};
use lsp_types::Uri;
use lsp_types::notification;
use lsp_types::notification::Notification as _;
use lsp_types::request as request_type;
use lsp_types::request::Request as _;
use serde_json::{Value, json};
use std::collections::{HashMap, VecDeque};
use std::io::IsTerminal;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::rc::Rc;
use std::time::{Duration, Instant};
use workspace::{BufferLoader, LibraryCopies};

/// The time without a change after which a text is checked.
const DIAGNOSTICS_DELAY: Duration = Duration::from_millis(60);

/// The reason why a request fails.
pub struct RequestError {
    /// The error code of the protocol.
    code: ErrorCode,
    /// The message for the user.
    message: String,
}

impl RequestError {
    /// Returns the error for a request that cannot be carried out.
    fn failed(message: impl Into<String>) -> RequestError {
        RequestError { code: ErrorCode::RequestFailed, message: message.into() }
    }
}

/// The result of a request.
type RequestResult = Result<Value, RequestError>;

/// Serves one editor until it disconnects.
pub fn serve() -> u8 {
    if std::io::stdin().is_terminal() {
        super::output::print_error("felis lsp: waiting for an editor on standard input; Ctrl-D ends it");
    }
    let (connection, threads) = match transport::stdio() {
        Ok(connected) => connected,
        Err(error) => {
            super::output::print_error(&format!("felis lsp: {error}"));
            return exit::FAILED;
        }
    };
    let code = match initialize(&connection) {
        Ok(parameters) => Server::new(connection, &parameters).run(),
        Err(code) => {
            drop(connection);
            code
        }
    };
    // The connection is closed, so the threads end, except one that waits for input that never
    // comes.
    if code == exit::OK {
        threads.join();
    }
    code
}

/// Exchanges capabilities with the editor; returns its parameters.
fn initialize(connection: &Connection) -> Result<Value, u8> {
    let failed = |error: &dyn std::fmt::Display| {
        super::output::print_error(&format!("felis lsp: {error}"));
        exit::USAGE
    };
    let (id, parameters) = connection
        .initialize_start()
        .map_err(|error| if error.channel_is_disconnected() { exit::OK } else { failed(&error) })?;
    let greeting = json!({
        "capabilities": capabilities(),
        "serverInfo": { "name": "felis", "version": env!("CARGO_PKG_VERSION") },
    });
    connection.initialize_finish(id, greeting).map_err(|error| failed(&error))?;
    Ok(parameters)
}

/// Returns the folders that an editor has open; older ones name one root only.
fn folders(parameters: &Value) -> Vec<PathBuf> {
    let path = |uri: &Value| serde_json::from_value(uri.clone()).ok().as_ref().and_then(uri::path);
    let several = parameters["workspaceFolders"].as_array().into_iter().flatten();
    let several: Vec<PathBuf> = several.filter_map(|folder| path(&folder["uri"])).collect();
    if several.is_empty() { path(&parameters["rootUri"]).into_iter().collect() } else { several }
}

/// Returns the capabilities of the server, as JSON.
fn capabilities() -> Value {
    json!({
        "positionEncoding": "utf-16",
        "textDocumentSync": { "openClose": true, "change": 2, "save": {} },
        "hoverProvider": true,
        "completionProvider": { "triggerCharacters": [".", ":", "\"", "/"], "resolveProvider": true },
        "signatureHelpProvider": { "triggerCharacters": ["(", ",", " "] },
        "definitionProvider": true,
        "referencesProvider": true,
        "documentHighlightProvider": true,
        "documentSymbolProvider": true,
        "workspaceSymbolProvider": true,
        "codeActionProvider": { "codeActionKinds": ["quickfix"] },
        "documentFormattingProvider": true,
        "renameProvider": { "prepareProvider": true },
        "foldingRangeProvider": true,
        "inlayHintProvider": true,
        "semanticTokensProvider": { "legend": semantic_tokens::legend(), "full": true, "range": true },
        "workspace": { "workspaceFolders": { "supported": true, "changeNotifications": true } },
    })
}

/// The server of one editor.
pub struct Server {
    /// The connection to the editor.
    connection: Connection,
    /// The messages that have arrived and are not handled yet.
    waiting: VecDeque<Message>,
    /// The session in which texts are checked.
    session: Session,
    /// The open texts.
    documents: Documents,
    /// Indexes of programs of the workspace that are not open, by their ids.
    unopened: HashMap<String, Rc<Index>>,
    /// The copies of library texts for the editor.
    copies: LibraryCopies,
    /// The folders of the workspace.
    folders: Vec<PathBuf>,
    /// True after a shutdown request.
    leaving: bool,
    /// True if the editor can report changed files.
    can_watch: bool,
}

/// Returns the session in which texts are checked.
fn new_session() -> Session {
    // Nothing runs here except the code of the library itself.
    Session::new().with_executor(Executor::Reference, 1)
}

impl Server {
    /// Makes a server. Reads only the parameters that are used; the others may have any form.
    fn new(connection: Connection, parameters: &Value) -> Server {
        let watching = "/capabilities/workspace/didChangeWatchedFiles/dynamicRegistration";
        let can_watch = parameters.pointer(watching).and_then(Value::as_bool).unwrap_or(false);
        Server {
            connection,
            waiting: VecDeque::new(),
            session: new_session(),
            documents: Documents::default(),
            unopened: HashMap::new(),
            copies: LibraryCopies::new(),
            folders: folders(parameters),
            leaving: false,
            can_watch,
        }
    }

    /// Handles messages until the editor leaves; returns the exit code.
    fn run(mut self) -> u8 {
        if self.can_watch {
            let pattern = json!({ "watchers": [{ "globPattern": "**/*.flx" }] });
            let method = notification::DidChangeWatchedFiles::METHOD;
            let registration = json!({ "id": "programs", "method": method, "registerOptions": pattern });
            let parameters = json!({ "registrations": [registration] });
            let id = RequestId::from("watch".to_string());
            self.send(Request::new(id, request_type::RegisterCapability::METHOD.into(), parameters).into());
        }
        self.read_library();
        loop {
            let Some(message) = self.next() else {
                // The editor has closed the connection.
                return if self.leaving { exit::OK } else { exit::FAILED };
            };
            match message {
                None => self.publish_due_diagnostics(),
                Some(Message::Request(request)) => self.handle_request(request),
                Some(Message::Notification(note)) if note.method == notification::Exit::METHOD => {
                    return if self.leaving { exit::OK } else { exit::FAILED };
                }
                Some(Message::Notification(note)) => self.handle_notification(note),
                Some(Message::Response(_)) => {}
            }
        }
    }

    /// Reads what every text needs of the library, before the first text arrives.
    fn read_library(&mut self) {
        let text = "val all : int ^ 2 = [ k + 1 for k in [ 1, 2 ] ];";
        felis::editor::index(&mut self.session, Draft { name: "library", text, id: "library", before: None });
    }

    /// Returns the next message; `Some(None)` if diagnostics are due first; `None` at the end of
    /// the connection.
    fn next(&mut self) -> Option<Option<Message>> {
        self.receive_pending();
        if let Some(message) = self.waiting.pop_front() {
            return Some(Some(message));
        }
        let diagnostics_due = self.documents.iter().filter_map(|document| document.diagnostics_due).min();
        match diagnostics_due {
            None => self.connection.receiver.recv().ok().map(Some),
            Some(diagnostics_due) => {
                match self
                    .connection
                    .receiver
                    .recv_timeout(diagnostics_due.saturating_duration_since(Instant::now()))
                {
                    Ok(message) => Some(Some(message)),
                    Err(error) if error.is_timeout() => Some(None),
                    Err(_) => None,
                }
            }
        }
    }

    /// Receives the messages that have arrived, without waiting.
    fn receive_pending(&mut self) {
        self.waiting.extend(self.connection.receiver.try_iter());
    }

    /// Sends a message to the editor.
    fn send(&self, message: Message) {
        // If the connection is closed, no further message arrives.
        let _ = self.connection.sender.send(message);
    }

    /// Answers a request; a canceled one and one that panics are answered with an error.
    fn handle_request(&mut self, request: Request) {
        self.receive_pending();
        let id = request.id.clone();
        let taken_back = self.waiting.iter().any(|message| match message {
            Message::Notification(note) => note.method == notification::Cancel::METHOD && cancels(note, &id),
            _ => false,
        });
        let answer = if taken_back {
            Err(RequestError { code: ErrorCode::RequestCanceled, message: "taken back".into() })
        } else if self.leaving {
            Err(RequestError { code: ErrorCode::InvalidRequest, message: "the server is leaving".into() })
        } else {
            let method = request.method.clone();
            let done = catch_unwind(AssertUnwindSafe(|| self.dispatch(request)));
            done.unwrap_or_else(|_| {
                self.renew_session();
                Err(RequestError {
                    code: ErrorCode::InternalError,
                    message: format!("Felis itself has failed at {method}; please report it with the text"),
                })
            })
        };
        self.send(Message::Response(match answer {
            // `new_ok` would copy it.
            Ok(value) => Response { id, response_result: Ok(value) },
            Err(RequestError { code, message }) => Response::new_err(id, code as i32, message),
        }));
    }

    /// Calls the function that answers the method of a request.
    fn dispatch(&mut self, request: Request) -> RequestResult {
        match request.method.as_str() {
            request_type::Shutdown::METHOD => {
                self.leaving = true;
                Ok(Value::Null)
            }
            request_type::HoverRequest::METHOD => self.hover(request_params(request)?),
            request_type::GotoDefinition::METHOD => self.definition(request_params(request)?),
            request_type::References::METHOD => self.references(request_params(request)?),
            request_type::DocumentHighlightRequest::METHOD => self.highlights(request_params(request)?),
            request_type::DocumentSymbolRequest::METHOD => self.symbols(request_params(request)?),
            request_type::WorkspaceSymbolRequest::METHOD => self.workspace_symbols(request_params(request)?),
            request_type::InlayHintRequest::METHOD => self.inlay_hints(request_params(request)?),
            request_type::FoldingRangeRequest::METHOD => self.folding_ranges(request_params(request)?),
            request_type::SemanticTokensFullRequest::METHOD => self.tokens(request_params(request)?),
            request_type::SemanticTokensRangeRequest::METHOD => self.tokens_between(request_params(request)?),
            request_type::Completion::METHOD => self.complete(request_params(request)?),
            request_type::ResolveCompletionItem::METHOD => self.resolve(request_params(request)?),
            request_type::SignatureHelpRequest::METHOD => self.signature_help(request_params(request)?),
            request_type::CodeActionRequest::METHOD => self.code_actions(request_params(request)?),
            request_type::Formatting::METHOD => self.format(request_params(request)?),
            request_type::PrepareRenameRequest::METHOD => self.prepare_rename(request_params(request)?),
            request_type::Rename::METHOD => self.rename(request_params(request)?),
            // A request that panics, for the test that a panic is answered.
            #[cfg(debug_assertions)]
            "felis/panic" => panic!("as was asked"),
            // A request that takes long enough for others to be canceled meanwhile, for a test.
            #[cfg(debug_assertions)]
            "felis/sleep" => {
                std::thread::sleep(std::time::Duration::from_millis(300));
                Ok(serde_json::Value::Null)
            }
            method => Err(RequestError {
                code: ErrorCode::MethodNotFound,
                message: format!("`{method}` is not answered here"),
            }),
        }
    }

    /// Handles a notification.
    fn handle_notification(&mut self, note: Notification) {
        let method = note.method.as_str();
        match method {
            notification::DidOpenTextDocument::METHOD => {
                let Some(opened) = notification_params::<lsp_types::DidOpenTextDocumentParams>(note) else {
                    return;
                };
                let opened = opened.text_document;
                let library = uri::path(&opened.uri).is_some_and(|path| self.copies.contains(&path));
                let document = self.documents.open(opened.uri, opened.version, opened.text, library);
                document.diagnostics_due = (!library).then(Instant::now);
                let id = document.id.clone();
                self.invalidate_importers(&id);
            }
            notification::DidChangeTextDocument::METHOD => {
                let Some(changed) = notification_params::<lsp_types::DidChangeTextDocumentParams>(note)
                else {
                    return;
                };
                let (uri, version) = (changed.text_document.uri, changed.text_document.version);
                self.documents.change(&uri, version, changed.content_changes);
                let Some(document) = self.documents.get_mut(&uri) else { return };
                document.diagnostics_due = (!document.library).then(|| Instant::now() + DIAGNOSTICS_DELAY);
                let id = document.id.clone();
                self.invalidate_importers(&id);
            }
            notification::DidCloseTextDocument::METHOD => {
                let Some(closed) = notification_params::<lsp_types::DidCloseTextDocumentParams>(note) else {
                    return;
                };
                let uri = closed.text_document.uri;
                if let Some(document) = self.documents.close(&uri) {
                    // A closed text has no diagnostics.
                    self.send(diagnostics::publish_message(&uri, None, Vec::new()));
                    self.invalidate_importers(&document.id);
                }
            }
            notification::DidChangeWatchedFiles::METHOD | notification::DidSaveTextDocument::METHOD => {
                self.invalidate_after_disk_change()
            }
            notification::DidChangeWorkspaceFolders::METHOD => {
                let changed = notification_params::<lsp_types::DidChangeWorkspaceFoldersParams>(note);
                let Some(changed) = changed.map(|changed| changed.event) else { return };
                let gone: Vec<PathBuf> = changed.removed.iter().filter_map(|f| uri::path(&f.uri)).collect();
                self.folders.retain(|folder| !gone.contains(folder));
                self.folders.extend(changed.added.iter().filter_map(|folder| uri::path(&folder.uri)));
            }
            _ => {}
        }
    }

    /// Begins a new session after a failure; all texts are checked anew.
    fn renew_session(&mut self) {
        self.session = new_session();
        for document in self.documents.iter_mut() {
            (document.index, document.checked) = (None, None);
        }
    }

    /// Marks the texts that have read this one, or tried to, for another check.
    fn invalidate_importers(&mut self, id: &str) {
        for document in self.documents.iter_mut().filter(|document| document.id != id && !document.library) {
            let concerned = document
                .index
                .as_ref()
                .is_none_or(|index| index.includes(id) || index.has_unresolved_imports);
            if concerned {
                (document.index, document.checked) = (None, None);
                document.diagnostics_due =
                    document.diagnostics_due.or(Some(Instant::now() + DIAGNOSTICS_DELAY));
            }
        }
    }

    /// Marks texts for another check after a change on disk.
    fn invalidate_after_disk_change(&mut self) {
        for document in self.documents.iter_mut().filter(|document| !document.library) {
            let alone = document
                .index
                .as_ref()
                .is_some_and(|index| index.has_no_imports() && !index.has_unresolved_imports);
            if !alone {
                (document.index, document.checked) = (None, None);
                document.diagnostics_due =
                    document.diagnostics_due.or(Some(Instant::now() + DIAGNOSTICS_DELAY));
            }
        }
    }

    /// Publishes the diagnostics of one text that are due, unless the text has changed meanwhile.
    fn publish_due_diagnostics(&mut self) {
        let now = Instant::now();
        let diagnostics_due = self
            .documents
            .iter()
            .find(|document| document.diagnostics_due.is_some_and(|diagnostics_due| diagnostics_due <= now));
        let Some(uri) = diagnostics_due.map(|document| document.uri.clone()) else { return };
        if let Some(document) = self.documents.get_mut(&uri) {
            document.diagnostics_due = None;
        }
        let done = catch_unwind(AssertUnwindSafe(|| self.index_of(&uri)));
        if done.is_err() {
            self.renew_session();
        }
        self.receive_pending();
        let newer = self.waiting.iter().any(|message| match message {
            Message::Notification(note) => {
                note.method == notification::DidChangeTextDocument::METHOD
                    && note.params.pointer("/textDocument/uri").and_then(Value::as_str) == Some(uri.as_str())
            }
            _ => false,
        });
        if !newer {
            self.publish_diagnostics(&uri);
        }
    }

    /// Returns the index of an open text; builds it if it is missing.
    fn index_of(&mut self, uri: &Uri) -> Option<Rc<Index>> {
        let document = self.documents.get(uri)?;
        if let Some(index) = &document.index {
            return Some(index.clone());
        }
        let base = document.checked.clone();
        let checked = self.with_draft(uri, |session, draft| {
            felis::editor::check_edited(session, Edited { draft, base: base.as_deref() })
        })?;
        let document = self.documents.get_mut(uri)?;
        let index = checked.index.clone();
        document.index = Some(index.clone());
        document.checked = Some(Rc::new(checked));
        Some(index)
    }

    /// Builds the index of a text.
    fn build_index(&mut self, path: &std::path::Path, name: &str, id: &str, text: &str) -> Index {
        self.set_import_root(path);
        let before = arguments_draft(text);
        felis::editor::index(&mut self.session, Draft { name, text, id, before: before.as_deref() })
    }

    /// Sets the folder to which imports are relative.
    fn set_import_root(&mut self, path: &std::path::Path) {
        self.session.set_loader(Box::new(BufferLoader::relative_to(path, self.documents.buffers.clone())));
    }

    /// Runs `work` with an open text, as it was last checked, and the session.
    fn with_edited<T>(&mut self, uri: &Uri, work: impl FnOnce(&mut Session, Edited<'_>) -> T) -> Option<T> {
        let base = self.documents.get(uri)?.checked.clone();
        self.with_draft(uri, |session, draft| work(session, Edited { draft, base: base.as_deref() }))
    }

    /// Runs `work` with an open text and the session.
    fn with_draft<T>(&mut self, uri: &Uri, work: impl FnOnce(&mut Session, Draft<'_>) -> T) -> Option<T> {
        let path = self.documents.get(uri)?.path();
        self.set_import_root(&path);
        let document = self.documents.get(uri)?;
        let before = arguments_draft(&document.text);
        let (name, text, id) = (&document.name, &document.text, &document.id);
        Some(work(&mut self.session, Draft { name, text, id, before: before.as_deref() }))
    }
}

/// Returns the statement that defines `args`, for a text that may mention it, as `felis check`
/// does.
fn arguments_draft(text: &str) -> Option<String> {
    text.contains("args").then(|| input::arguments_statement(&[]))
}

/// Returns the parameters of a request, or the error that they are invalid.
fn request_params<T: serde::de::DeserializeOwned>(request: Request) -> Result<T, RequestError> {
    serde_json::from_value(request.params)
        .map_err(|error| RequestError { code: ErrorCode::InvalidParams, message: error.to_string() })
}

/// Returns the parameters of a notification, if they can be read.
fn notification_params<T: serde::de::DeserializeOwned>(note: Notification) -> Option<T> {
    serde_json::from_value(note.params).ok()
}

/// Returns an answer as JSON.
fn json_result(value: impl serde::Serialize) -> RequestResult {
    serde_json::to_value(value)
        .map_err(|error| RequestError { code: ErrorCode::InternalError, message: error.to_string() })
}

/// Returns true if a notification cancels a request.
fn cancels(note: &Notification, id: &RequestId) -> bool {
    let taken = note.params.get("id").and_then(|id| serde_json::from_value::<RequestId>(id.clone()).ok());
    taken.as_ref() == Some(id)
}
