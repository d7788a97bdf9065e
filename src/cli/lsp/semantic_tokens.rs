//! Semantic tokens and folding ranges.

use super::documents::Document;
use super::{RequestResult, Server, json_result};
use felis::editor::{Index, NameClass, Target};
use felis::editor::{TokenClass, blocks, tokens};
use lsp_types::{
    FoldingRange, FoldingRangeKind, FoldingRangeParams, SemanticToken, SemanticTokens, SemanticTokensParams,
    SemanticTokensRangeParams,
};
use serde_json::{Value, json};
use std::ops::Range;

/// The token types, in the order of their numbers.
const TOKEN_TYPES: &[&str] = &[
    "keyword",
    "number",
    "string",
    "comment",
    "operator",
    "variable",
    "function",
    "type",
    "struct",
    "typeParameter",
    "enumMember",
    "property",
    "class",
    "method",
    "namespace",
];

/// The token modifiers, in the order of their bits.
const MODIFIERS: &[&str] = &["declaration", "readonly", "defaultLibrary"];

/// Returns the names of the token types and modifiers.
pub fn legend() -> Value {
    json!({ "tokenTypes": TOKEN_TYPES, "tokenModifiers": MODIFIERS })
}

/// Returns the number of a token type.
fn token_type_number(kind: &str) -> u32 {
    TOKEN_TYPES.iter().position(|known| *known == kind).expect("a token type of the legend") as u32
}

impl Server {
    /// Answers `textDocument/semanticTokens/full`.
    pub(super) fn tokens(&mut self, params: SemanticTokensParams) -> RequestResult {
        let uri = params.text_document.uri;
        let Some(index) = self.index_of(&uri) else { return Ok(Value::Null) };
        let Some(document) = self.documents.get(&uri) else { return Ok(Value::Null) };
        json_result(semantic_tokens(document, &index, 0..document.text.len()))
    }

    /// Answers `textDocument/semanticTokens/range`.
    pub(super) fn tokens_between(&mut self, params: SemanticTokensRangeParams) -> RequestResult {
        let uri = params.text_document.uri;
        let Some(index) = self.index_of(&uri) else { return Ok(Value::Null) };
        let Some(document) = self.documents.get(&uri) else { return Ok(Value::Null) };
        let byte = |position| document.lines.byte(&document.text, position);
        json_result(semantic_tokens(document, &index, byte(params.range.start)..byte(params.range.end)))
    }

    /// Answers `textDocument/foldingRange`.
    pub(super) fn folding_ranges(&mut self, params: FoldingRangeParams) -> RequestResult {
        let Some(document) = self.documents.get(&params.text_document.uri) else { return Ok(Value::Null) };
        json_result(folding_ranges(document))
    }
}

/// Returns the tokens of a text that touch a range.
fn semantic_tokens(document: &Document, index: &Index, wanted: Range<usize>) -> SemanticTokens {
    let text = &document.text;
    let uses = index.uses_of(index.root);
    let mut data = Vec::new();
    let (mut line, mut start) = (0, 0);
    let mut put = |bytes: Range<usize>, kind: u32, modifiers: u32| {
        // A token may not span lines: a comment is sent line by line.
        let mut at = bytes.start;
        for piece in text[bytes].split_inclusive('\n') {
            let (from, to) = (at, at + piece.trim_end_matches(['\n', '\r']).len());
            at += piece.len();
            if from >= to || to < wanted.start || from > wanted.end {
                continue;
            }
            let place = document.lines.position(text, from);
            let delta_line = place.line - line;
            let delta_start = if delta_line == 0 { place.character - start } else { place.character };
            (line, start) = (place.line, place.character);
            let length = text[from..to].encode_utf16().count() as u32;
            data.push(SemanticToken {
                delta_line,
                delta_start,
                length,
                token_type: kind,
                token_modifiers_bitset: modifiers,
            });
        }
    };
    for (bytes, class) in tokens(text) {
        let kind = match class {
            TokenClass::Keyword => "keyword",
            TokenClass::Number => "number",
            TokenClass::Text => "string",
            TokenClass::Comment => "comment",
            TokenClass::Operator => "operator",
            TokenClass::Open | TokenClass::Close | TokenClass::Unreadable => continue,
            TokenClass::Name | TokenClass::TypeName => {
                // The parts of a qualified name have token types of their own.
                let first = uses.partition_point(|found| (found.span.start as usize) < bytes.start);
                let inside = uses[first..].iter().take_while(|found| found.span.end as usize <= bytes.end);
                for found in inside {
                    let (kind, modifiers) = token_type(index, *found);
                    put(found.span.range(), token_type_number(kind), modifiers);
                }
                continue;
            }
        };
        put(bytes, token_type_number(kind), 0);
    }
    SemanticTokens { result_id: None, data }
}

/// Returns the token type of a name, and its modifiers as bits.
fn token_type(index: &Index, found: felis::editor::Use) -> (&'static str, u32) {
    let class = index.class_of(found);
    let kind = match class {
        NameClass::Variable | NameClass::Value => "variable",
        NameClass::Function => "function",
        NameClass::Type => "type",
        NameClass::Struct => "struct",
        NameClass::TypeParameter => "typeParameter",
        NameClass::Case => "enumMember",
        NameClass::Field => "property",
        NameClass::Class => "class",
        NameClass::Method => "method",
        NameClass::Module => "namespace",
    };
    let readonly = class == NameClass::Value;
    let (declaration, library) = match found.target {
        Target::Declared(span) => (span == found.span, index.is_library(span.source)),
        Target::BuiltIn => (false, true),
        Target::Module(source) => (false, index.is_library(source)),
    };
    (kind, u32::from(declaration) | u32::from(readonly) << 1 | u32::from(library) << 2)
}

/// Returns the ranges that can be folded: brackets, blocks, comments and imports of several lines.
fn folding_ranges(document: &Document) -> Vec<FoldingRange> {
    let text = &document.text;
    let line = |at: usize| document.lines.position(text, at).line;
    let mut found: Vec<FoldingRange> = Vec::new();
    let mut add = |first: u32, last: u32, kind: Option<FoldingRangeKind>| {
        if last > first && !found.iter().any(|known| known.start_line == first) {
            found.push(FoldingRange { start_line: first, end_line: last, kind, ..FoldingRange::default() });
        }
    };
    let mut comment: Option<(u32, u32)> = None;
    let mut imports: Option<(u32, u32)> = None;
    for (bytes, class) in tokens(text) {
        let word = &text[bytes.clone()];
        let (first, last) = (line(bytes.start), line(bytes.end));
        if class == TokenClass::Comment {
            comment = match comment {
                Some((from, to)) if first == to + 1 => Some((from, last)),
                Some((from, to)) => {
                    add(from, to, Some(FoldingRangeKind::Comment));
                    Some((first, last))
                }
                None => Some((first, last)),
            };
            continue;
        }
        if let Some((from, to)) = comment.take() {
            add(from, to, Some(FoldingRangeKind::Comment));
        }
        match (class, word) {
            (TokenClass::Keyword, "import") => {
                imports = Some((imports.map_or(first, |(from, _)| from), last));
            }
            (
                TokenClass::Keyword,
                "fun" | "proc" | "val" | "var" | "export" | "struct" | "variant" | "enum",
            ) => {
                if let Some((from, to)) = imports.take() {
                    add(from, to, Some(FoldingRangeKind::Imports));
                }
            }
            _ => {}
        }
    }
    if let Some((from, to)) = comment {
        add(from, to, Some(FoldingRangeKind::Comment));
    }
    if let Some((from, to)) = imports {
        add(from, to, Some(FoldingRangeKind::Imports));
    }
    for block in blocks(text).closed {
        add(line(block.start), line(block.end).saturating_sub(1), None);
    }
    found.sort_by_key(|fold| fold.start_line);
    found
}
