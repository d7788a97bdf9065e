//! Rename: changed everywhere by meaning, or refused with the reason.
//!
//! The change is tried before it is handed out: all texts that take part are checked with it, and every
//! name in them must stand for what it stood for.

use super::documents::Document;
use super::position::Lines;
use super::workspace::Buffers;
use super::{Answer, Refusal, Server, said, uri, workspace};
use felis::session::index::{Change, Index, changed, check_name, same_meaning};
use lsp_types::{
    PrepareRenameResponse, RenameParams, TextDocumentPositionParams, TextEdit, Uri, WorkspaceEdit,
};
use serde_json::Value;
use std::collections::HashMap;
use std::path::PathBuf;
use std::rc::Rc;

impl Server {
    pub(super) fn prepare_rename(&mut self, asked: TextDocumentPositionParams) -> Answer {
        let Some((document, index, at)) = self.place(&asked) else { return Ok(Value::Null) };
        let (span, _) = index.renamable(at).map_err(Refusal::failed)?;
        not_a_copy(document)?;
        let range = document.lines.span(&document.text, span);
        let placeholder = index.sources().slice(span).to_string();
        said(PrepareRenameResponse::RangeWithPlaceholder { range, placeholder })
    }

    pub(super) fn rename(&mut self, asked: RenameParams) -> Answer {
        let Some((document, index, at)) = self.place(&asked.text_document_position) else {
            return Ok(Value::Null);
        };
        not_a_copy(document)?;
        let name = asked.new_name.trim();
        check_name(name).map_err(Refusal::failed)?;
        let (span, declared) = index.renamable(at).map_err(Refusal::failed)?;
        let word = index.sources().slice(span).to_string();
        if word == name {
            return said(WorkspaceEdit::default());
        }
        let spot = index.spot(declared).ok_or_else(|| Refusal::failed("it has no place"))?;
        let indexes = self.indexes_naming(&index, &spot, &word);
        let mut change = Change::new();
        for index in &indexes {
            index.places_naming(&spot, &mut change).map_err(Refusal::failed)?;
        }
        self.try_change(&indexes, &change, name)?;
        let mut edits: HashMap<Uri, Vec<TextEdit>> = HashMap::new();
        for (id, places) in &change {
            let text =
                self.text_of(&indexes, id).ok_or_else(|| Refusal::failed(format!("`{id}` is gone")))?;
            let open = self.documents.of_file(id).map(|document| document.uri.clone());
            let target = open.or_else(|| uri::of(&PathBuf::from(id)));
            let target = target.ok_or_else(|| Refusal::failed(format!("`{id}` is no file")))?;
            let lines = Lines::of(&text);
            let places = places.iter().map(|(from, to)| TextEdit {
                range: lines.range(&text, *from..*to),
                new_text: name.to_string(),
            });
            edits.insert(target, places.collect());
        }
        said(WorkspaceEdit { changes: Some(edits), ..WorkspaceEdit::default() })
    }

    /// Checks all texts with a change in them.
    fn try_change(&mut self, indexes: &[Rc<Index>], change: &Change, name: &str) -> Result<(), Refusal> {
        let mut drafts: HashMap<String, String> = HashMap::new();
        for (id, places) in change {
            let text = self.text_of(indexes, id).unwrap_or_default();
            drafts.insert(id.clone(), changed(&text, places, name));
        }
        let Some(_drafted) = Drafted::put(&self.documents.buffers, &drafts) else {
            return Err(Refusal::failed("the texts cannot be read"));
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
            let after = self.index_of(&path, &shown, &id, &text);
            verdict = same_meaning(index, &after, change, name);
            if verdict.is_err() {
                break;
            }
        }
        verdict.map_err(Refusal::failed)
    }

    /// The text with an id, as the indexes have seen it.
    fn text_of(&self, indexes: &[Rc<Index>], id: &str) -> Option<String> {
        if let Some(document) = self.documents.of_file(id) {
            return Some(document.text.clone());
        }
        let seen = indexes.iter().find_map(|index| index.text_with(id).map(str::to_string));
        seen.or_else(|| workspace::read(&PathBuf::from(id)))
    }
}

/// Drafts in the place of open texts; what was there comes back when this goes, after a panic, too.
struct Drafted {
    buffers: Buffers,
    kept: HashMap<String, String>,
}

impl Drafted {
    fn put(buffers: &Buffers, drafts: &HashMap<String, String>) -> Option<Drafted> {
        let mut texts = buffers.lock().ok()?;
        let kept = texts.clone();
        texts.extend(drafts.clone());
        Some(Drafted { buffers: buffers.clone(), kept })
    }
}

impl Drop for Drafted {
    fn drop(&mut self) {
        if let Ok(mut texts) = self.buffers.lock() {
            *texts = std::mem::take(&mut self.kept);
        }
    }
}

/// Nothing is renamed in a copy of the library's text.
fn not_a_copy(document: &Document) -> Result<(), Refusal> {
    match document.library {
        true => Err(Refusal::failed("this is a copy of the standard library, which stays as it is")),
        false => Ok(()),
    }
}
