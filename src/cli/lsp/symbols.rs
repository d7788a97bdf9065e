//! Symbols: the declarations of a text as a tree, and those of the workspace that match a query.
//!
//! Workspace symbols are read from the syntax of the texts, for open texts in their present state;
//! nothing is checked.

use super::documents::Document;
use super::position::Lines;
use super::{RequestResult, Server, json_result, uri, workspace};
use felis::editor::outline;
use felis::editor::{Declaration, DeclarationKind, Index};
use felis_base::source::{SourceMap, Span};
use lsp_types::{
    DocumentSymbol, DocumentSymbolParams, Location, SymbolInformation, SymbolKind, Uri, WorkspaceSymbolParams,
};
use serde_json::Value;
use std::collections::BTreeSet;

/// The maximum number of declarations sent for a workspace.
const MAX_SYMBOLS: usize = 500;

impl Server {
    /// Answers `textDocument/documentSymbol`.
    pub(super) fn symbols(&mut self, params: DocumentSymbolParams) -> RequestResult {
        let uri = params.text_document.uri;
        let Some(index) = self.index_of(&uri) else { return Ok(Value::Null) };
        let Some(document) = self.documents.get(&uri) else { return Ok(Value::Null) };
        let shown = index.declarations().iter().filter(|d| d.kind != DeclarationKind::Import);
        json_result(shown.map(|declaration| symbol(declaration, document, &index)).collect::<Vec<_>>())
    }

    /// Answers `workspace/symbol`: the declarations in all texts of the workspace whose names
    /// contain these letters in this order.
    pub(super) fn workspace_symbols(&mut self, params: WorkspaceSymbolParams) -> RequestResult {
        let mut found = Vec::new();
        let mut known = BTreeSet::new();
        for document in self.documents.iter().filter(|document| !document.library) {
            known.insert(document.id.clone());
            collect(&document.uri, &document.text, &params.query, &mut found);
        }
        for path in workspace::find_programs(&self.folders) {
            if found.len() >= MAX_SYMBOLS {
                break;
            }
            if known.insert(workspace::file_id(&path))
                && let (Some(text), Some(uri)) = (workspace::read(&path), uri::of(&path))
            {
                collect(&uri, &text, &params.query, &mut found);
            }
        }
        found.truncate(MAX_SYMBOLS);
        json_result(found)
    }
}

/// Adds the declarations of a text that match the query.
fn collect(uri: &Uri, text: &str, query: &str, out: &mut Vec<SymbolInformation>) {
    let mut sources = SourceMap::new();
    let source = sources.add("", text);
    let lines = Lines::of(text);
    for declaration in outline(&source) {
        let container = name_of(&declaration, |span| sources.slice(span));
        let shown = |part: &Declaration| !matches!(part.kind, DeclarationKind::Import);
        declaration.for_each(&mut |part| {
            let name = name_of(part, |span| sources.slice(span));
            if !shown(part) || !is_subsequence(&name, query) {
                return;
            }
            let inside = part.name_span != declaration.name_span;
            #[allow(deprecated)] // The field is there, and nothing but this makes the value.
            out.push(SymbolInformation {
                name,
                kind: kind_of(part),
                tags: None,
                deprecated: None,
                location: Location { uri: uri.clone(), range: lines.span(text, part.name_span) },
                container_name: inside.then(|| container.clone()),
            });
        });
    }
}

/// Returns true if a name contains the letters of a query in their order, ignoring case.
fn is_subsequence(name: &str, query: &str) -> bool {
    let mut letters = name.chars().flat_map(char::to_lowercase);
    query.chars().flat_map(char::to_lowercase).all(|wanted| letters.any(|letter| letter == wanted))
}

/// Returns a declaration and its members as a symbol.
fn symbol(declaration: &Declaration, document: &Document, index: &Index) -> DocumentSymbol {
    let kind = kind_of(declaration);
    let name = name_of(declaration, |span| index.sources().slice(span));
    let children = declaration.members.iter().map(|member| symbol(member, document, index));
    let children: Vec<DocumentSymbol> = children.collect();
    let range = |span| document.lines.span(&document.text, span);
    #[allow(deprecated)] // The field is there, and nothing but this makes the value.
    DocumentSymbol {
        name,
        detail: index.type_of_declaration(declaration),
        kind,
        tags: None,
        deprecated: None,
        range: range(declaration.span.to(declaration.name_span)),
        selection_range: range(declaration.name_span),
        children: (!children.is_empty()).then_some(children),
    }
}

/// Returns the protocol's kind of a declaration.
fn kind_of(declaration: &Declaration) -> SymbolKind {
    use DeclarationKind as K;
    match declaration.kind {
        K::Function | K::Procedure | K::Law => SymbolKind::FUNCTION,
        K::Method => SymbolKind::METHOD,
        K::Value => SymbolKind::CONSTANT,
        K::Variable => SymbolKind::VARIABLE,
        K::Type | K::TypeFunction => SymbolKind::TYPE_PARAMETER,
        K::Struct => SymbolKind::STRUCT,
        K::Variant | K::Kind => SymbolKind::ENUM,
        K::Case | K::Member => SymbolKind::ENUM_MEMBER,
        K::Field => SymbolKind::FIELD,
        K::Class => SymbolKind::INTERFACE,
        K::Instance => SymbolKind::OBJECT,
        K::Test => SymbolKind::EVENT,
        K::Import => SymbolKind::MODULE,
    }
}

/// Returns the name of a declaration in a list of symbols.
fn name_of<'t>(declaration: &Declaration, slice: impl Fn(Span) -> &'t str) -> String {
    let head = slice(declaration.head);
    match declaration.kind {
        DeclarationKind::Instance => head.lines().next().unwrap_or(head).trim().to_string(),
        DeclarationKind::Test => {
            let bench = slice(declaration.span).starts_with("bench");
            format!("{} {:?}", if bench { "bench" } else { "test" }, declaration.name)
        }
        _ => declaration.name.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::is_subsequence;

    #[test]
    fn letters_in_their_order() {
        assert!(
            is_subsequence("map_rows", "")
                && is_subsequence("map_rows", "mr")
                && is_subsequence("map_rows", "ROWS")
        );
        assert!(!is_subsequence("map_rows", "rm") && !is_subsequence("map", "maps"));
    }
}
