//! The texts that are open in the editor.
//!
//! Takes the notifications of the editor; keeps texts with their versions. An open text takes
//! precedence over the file on disk.

use super::position::Lines;
use super::uri;
use super::workspace::{Buffers, file_id};
use felis::editor::{CheckedText, Index};
use lsp_types::{TextDocumentContentChangeEvent, Uri};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Instant;

/// An open text.
pub struct Document {
    /// The URI used by the editor.
    pub uri: Uri,
    /// The id of its file, or its URI if it is not a file.
    pub id: String,
    /// The name of the text in messages.
    pub name: String,
    /// The version number from the editor.
    pub version: i32,
    /// The text.
    pub text: String,
    /// The index of its lines.
    pub lines: Lines,
    /// The time at which its diagnostics are published.
    pub diagnostics_due: Option<Instant>,
    /// The index of its text; `None` after a change.
    pub index: Option<Rc<Index>>,
    /// The text when it was last checked, for the next check; `None` if what it imports has
    /// changed.
    pub checked: Option<Rc<CheckedText>>,
    /// True for a copy of the library's text, which is read-only.
    pub library: bool,
}

impl Document {
    /// Returns the path of its file; for a text that is not a file, a path made of its id.
    pub fn path(&self) -> PathBuf {
        uri::path(&self.uri).unwrap_or_else(|| PathBuf::from(&self.id))
    }
}

/// All open texts.
#[derive(Default)]
pub struct Documents {
    /// The texts by their URIs.
    open: BTreeMap<String, Document>,
    /// The open texts for the loader, by the ids of their files.
    pub buffers: Buffers,
}

impl Documents {
    /// Adds an opened text.
    pub fn open(&mut self, uri: Uri, version: i32, text: String, library: bool) -> &mut Document {
        let path = uri::path(&uri);
        let id = path.as_deref().map_or_else(|| uri.as_str().to_string(), file_id);
        let name = path.map_or_else(|| uri.as_str().to_string(), |path| path.display().to_string());
        let lines = Lines::of(&text);
        let key = uri.as_str().to_string();
        let (diagnostics_due, index, checked) = (None, None, None);
        let document =
            Document { uri, id, name, version, text, lines, diagnostics_due, index, checked, library };
        self.publish(&document);
        let entry = self.open.entry(key);
        entry.insert_entry(document).into_mut()
    }

    /// Applies changes to a text.
    pub fn change(&mut self, uri: &Uri, version: i32, changes: Vec<TextDocumentContentChangeEvent>) {
        let Some(document) = self.open.get_mut(uri.as_str()) else { return };
        for change in changes {
            match change.range {
                None => document.text = change.text,
                Some(range) => {
                    let start = document.lines.byte(&document.text, range.start);
                    let end = document.lines.byte(&document.text, range.end).max(start);
                    document.text.replace_range(start..end, &change.text);
                }
            }
            document.lines = Lines::of(&document.text);
        }
        document.version = version;
        document.index = None;
        if let Some(document) = self.open.get(uri.as_str()) {
            self.publish(document);
        }
    }

    /// Removes a closed text, and returns it.
    pub fn close(&mut self, uri: &Uri) -> Option<Document> {
        let document = self.open.remove(uri.as_str())?;
        if let Ok(mut buffers) = self.buffers.lock() {
            buffers.remove(&document.id);
        }
        Some(document)
    }

    /// Makes the text visible to importers.
    fn publish(&self, document: &Document) {
        if let (Ok(mut buffers), false) = (self.buffers.lock(), document.library) {
            buffers.insert(document.id.clone(), document.text.clone());
        }
    }

    /// Returns an open text.
    pub fn get(&self, uri: &Uri) -> Option<&Document> {
        self.open.get(uri.as_str())
    }

    /// Returns an open text, mutable.
    pub fn get_mut(&mut self, uri: &Uri) -> Option<&mut Document> {
        self.open.get_mut(uri.as_str())
    }

    /// Returns the open text of a file.
    pub fn of_file(&self, id: &str) -> Option<&Document> {
        self.open.values().find(|document| document.id == id)
    }

    /// Returns all open texts.
    pub fn iter(&self) -> impl Iterator<Item = &Document> {
        self.open.values()
    }

    /// Returns all open texts, mutable.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Document> {
        self.open.values_mut()
    }
}
