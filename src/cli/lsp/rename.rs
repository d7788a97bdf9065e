//! Rename: all references are changed, or the request is refused with the reason.
//!
//! The change is verified before it is sent: all affected texts are checked with it, and every name
//! in them must keep its referent.

use super::documents::Document;
use super::position::Lines;
use super::workspace::Buffers;
use super::{RequestError, RequestResult, Server, json_result, uri, workspace};
use felis::editor::{Index, RenameEdits, apply_rename, check_name, check_same_meaning};
use lsp_types::{
    PrepareRenameResponse, RenameParams, TextDocumentPositionParams, TextEdit, Uri, WorkspaceEdit,
};
use serde_json::Value;
use std::collections::HashMap;
use std::path::PathBuf;
use std::rc::Rc;

impl Server {
    /// Answers `textDocument/prepareRename`.
    pub(super) fn prepare_rename(&mut self, params: TextDocumentPositionParams) -> RequestResult {
        let Some((document, index, at)) = self.document_position(&params) else { return Ok(Value::Null) };
        let (span, _) = index.rename_target(at).map_err(RequestError::failed)?;
        refuse_library_copy(document)?;
        let range = document.lines.span(&document.text, span);
        let placeholder = index.sources().slice(span).to_string();
        json_result(PrepareRenameResponse::RangeWithPlaceholder { range, placeholder })
    }

    /// Answers `textDocument/rename`.
    pub(super) fn rename(&mut self, params: RenameParams) -> RequestResult {
        let Some((document, index, at)) = self.document_position(&params.text_document_position) else {
            return Ok(Value::Null);
        };
        refuse_library_copy(document)?;
        let name = params.new_name.trim();
        check_name(name).map_err(RequestError::failed)?;
        let (span, declared) = index.rename_target(at).map_err(RequestError::failed)?;
        let word = index.sources().slice(span).to_string();
        if word == name {
            return json_result(WorkspaceEdit::default());
        }
        let spot = index.occurrence(declared).ok_or_else(|| RequestError::failed("it has no place"))?;
        let indexes = self.indexes_naming(&index, &spot, &word);
        let mut change = RenameEdits::new();
        for index in &indexes {
            index.collect_occurrences(&spot, &mut change).map_err(RequestError::failed)?;
        }
        self.verify_change(&indexes, &change, name)?;
        let mut edits: HashMap<Uri, Vec<TextEdit>> = HashMap::new();
        for (id, places) in &change {
            let text =
                self.text_of(&indexes, id).ok_or_else(|| RequestError::failed(format!("`{id}` is gone")))?;
            let open = self.documents.of_file(id).map(|document| document.uri.clone());
            let target = open.or_else(|| uri::of(&PathBuf::from(id)));
            let target = target.ok_or_else(|| RequestError::failed(format!("`{id}` is no file")))?;
            let lines = Lines::of(&text);
            let places = places.iter().map(|(from, to)| TextEdit {
                range: lines.range(&text, *from..*to),
                new_text: name.to_string(),
            });
            edits.insert(target, places.collect());
        }
        json_result(WorkspaceEdit { changes: Some(edits), ..WorkspaceEdit::default() })
    }

    /// Checks all texts with the change applied.
    fn verify_change(
        &mut self,
        indexes: &[Rc<Index>],
        change: &RenameEdits,
        name: &str,
    ) -> Result<(), RequestError> {
        let mut drafts: HashMap<String, String> = HashMap::new();
        for (id, places) in change {
            let text =
                self.text_of(indexes, id).ok_or_else(|| RequestError::failed(format!("`{id}` is gone")))?;
            drafts.insert(id.clone(), apply_rename(&text, places, name));
        }
        let Some(_drafted) = BufferOverride::install(&self.documents.buffers, &drafts) else {
            return Err(RequestError::failed("the texts cannot be read"));
        };
        let mut verdict = Ok(());
        for index in indexes {
            let Some(id) = index.id_of(index.root).map(str::to_string) else { continue };
            let path = match self.documents.of_file(&id) {
                Some(document) => document.path(),
                None => PathBuf::from(&id),
            };
            let shown =
                index.sources().get(index.root).map_or_else(String::new, |source| source.name.clone());
            let text = drafts.get(&id).cloned().unwrap_or_else(|| index.text().to_string());
            let after = self.build_index(&path, &shown, &id, &text);
            verdict = check_same_meaning(index, &after, change, name);
            if verdict.is_err() {
                break;
            }
        }
        verdict.map_err(RequestError::failed)
    }

    /// Returns the text with an id, as the indexes have read it.
    fn text_of(&self, indexes: &[Rc<Index>], id: &str) -> Option<String> {
        if let Some(document) = self.documents.of_file(id) {
            return Some(document.text.clone());
        }
        let seen = indexes.iter().find_map(|index| index.text_with(id).map(str::to_string));
        seen.or_else(|| workspace::read(&PathBuf::from(id)))
    }
}

/// A guard with drafts in place of open texts; its drop restores the open texts, also after a
/// panic.
struct BufferOverride {
    /// The open texts of the loader.
    buffers: Buffers,
    /// The texts to be restored.
    kept: HashMap<String, String>,
}

impl BufferOverride {
    /// Puts drafts in the place of open texts; `None` if the lock is poisoned.
    fn install(buffers: &Buffers, drafts: &HashMap<String, String>) -> Option<BufferOverride> {
        let mut texts = buffers.lock().ok()?;
        let kept = texts.clone();
        texts.extend(drafts.clone());
        Some(BufferOverride { buffers: buffers.clone(), kept })
    }
}

impl Drop for BufferOverride {
    fn drop(&mut self) {
        if let Ok(mut texts) = self.buffers.lock() {
            *texts = std::mem::take(&mut self.kept);
        }
    }
}

/// Refuses to rename in a copy of the library's text.
fn refuse_library_copy(document: &Document) -> Result<(), RequestError> {
    match document.library {
        true => Err(RequestError::failed("this is a copy of the standard library, which stays as it is")),
        false => Ok(()),
    }
}
