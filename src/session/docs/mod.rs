//! Documentation pages of a text, from its doc comments.
//!
//! Takes a text, or the library; gives [`Page`]s, which [`html`] and [`markdown`] write. Reads no
//! file and checks nothing: a signature is the text of the declaration.
//!
//! A doc comment is prose in paragraphs, lines `law:`, `work`, and examples `> EXPRESSION` followed
//! by their output.

pub mod html;
pub mod markdown;

use super::library;
use felis_base::diagnostic::Diagnostic;
use felis_base::source::{Source, Span};
use felis_calculus::core::Prim;
use felis_syntax::syntax;
use felis_syntax::syntax::ast::{Stmt, StmtKind, stem};
use std::sync::Arc;

/// The documentation of one text.
#[derive(Clone, Debug)]
pub struct Page {
    /// The name of what it is about: that of a program without folder and ending.
    pub name: String,
    /// The comment at its beginning.
    pub about: String,
    /// Its definitions, in its order.
    pub entries: Vec<Entry>,
}

/// The documentation of one definition.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its name.
    pub name: String,
    /// The word that declares it: `fun`, `struct` …
    pub word: &'static str,
    /// The part of it that its users need.
    pub signature: String,
    /// The parts of its comment.
    pub parts: Vec<Part>,
}

/// A part of a doc comment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// A paragraph.
    Prose(String),
    /// A law of it.
    Law(String),
    /// The cost of it.
    Work(String),
    /// An expression, and what it gives.
    Example(String, String),
}

impl Page {
    /// The name of its file, without ending: a program called `index` is not the index of all
    /// pages.
    pub fn file_stem(&self) -> &str {
        if self.name == "index" { "index_" } else { &self.name }
    }
}

impl Entry {
    /// The first sentence.
    pub fn first_sentence(&self) -> &str {
        let first = self.parts.iter().find_map(|part| match part {
            Part::Prose(text) => Some(text.as_str()),
            _ => None,
        });
        let first = first.unwrap_or_default();
        &first[..first.find(". ").map_or(first.len(), |at| at + 1)]
    }
}

/// Returns the page of a text: its exports, or if it has none, all definitions with a doc comment.
pub fn page(name: &str, text: &str) -> Result<Page, Vec<Diagnostic>> {
    let source = super::detached_source(text);
    let parsed = syntax::parse(&source);
    if parsed.errors.iter().any(Diagnostic::is_error) {
        return Err(parsed.errors);
    }
    let exports = parsed.stmts.iter().any(|stmt| matches!(stmt.kind, StmtKind::Export(_)));
    let chunks = syntax::chunks(&source);
    let mut entries = Vec::new();
    for (stmt, chunk) in parsed.stmts.iter().zip(&chunks) {
        let (exported, inner) = match &stmt.kind {
            StmtKind::Export(inner) => (true, inner.as_ref()),
            _ => (false, stmt),
        };
        let shown = if exports { exported } else { chunk.doc.is_some() };
        let Some(name) = chunk.defines.first().filter(|_| shown) else { continue };
        entries.push(Entry {
            name: name.to_string(),
            word: chunk.word,
            signature: signature(&source, inner),
            parts: parse_doc(chunk.doc.as_deref().unwrap_or_default()),
        });
    }
    Ok(Page { name: stem(name).to_string(), about: opening_comment(text), entries })
}

/// The library, file by file, then its modules, and what is built in.
pub fn library() -> Vec<Page> {
    let mut pages: Vec<Page> =
        library::sources().iter().filter_map(|source| page(&source.name, &source.text).ok()).collect();
    let modules = library::modules::texts().iter();
    pages.extend(modules.filter_map(|(name, text)| page(name, text).ok()));
    let entries = Prim::ALL.iter().filter(|prim| !prim.is_internal()).map(|prim| {
        let parts = vec![Part::Prose(prim.doc().to_string())];
        let signature = prim.declaration();
        Entry { name: prim.name().to_string(), word: "built in", signature, parts }
    });
    let about = "What the language knows by itself: functions that cannot be written in it.".to_string();
    pages.push(Page { name: "builtin".to_string(), about, entries: entries.collect() });
    pages
}

/// Returns the definitions of a name that modules of the library export: the module, the header,
/// and the doc comment of each.
pub fn in_modules(name: &str) -> Vec<(&'static str, String, Option<Arc<str>>)> {
    let mut found = Vec::new();
    for module in library::modules::exporting(name) {
        let Some((_, text)) = library::modules::text(module) else { continue };
        let source = super::detached_source(text);
        let parsed = syntax::parse(&source);
        for (stmt, chunk) in parsed.stmts.iter().zip(syntax::chunks(&source)) {
            if let StmtKind::Export(inner) = &stmt.kind
                && chunk.defines.iter().any(|own| **own == *name)
            {
                found.push((*module, signature(&source, inner), chunk.doc));
            }
        }
    }
    found
}

pub use super::library::modules::renamed;
pub use felis_check::check::foreign_names::lookup as foreign_advice;

/// The comment that a text begins with, in paragraphs.
fn opening_comment(text: &str) -> String {
    let lines = text.lines().skip_while(|line| line.starts_with("#!"));
    let comment = lines.map_while(|line| line.strip_prefix("//").filter(|rest| !rest.starts_with('/')));
    let lines: Vec<&str> = comment.map(str::trim).collect();
    paragraphs(&lines.join("\n")).join("\n\n")
}

/// Splits a text into paragraphs of one line each.
fn paragraphs(text: &str) -> Vec<String> {
    let each =
        text.split("\n\n").map(|part| part.trim().lines().map(str::trim).collect::<Vec<_>>().join(" "));
    each.filter(|part| !part.is_empty()).collect()
}

/// Returns the header of a function, or the whole text of any other definition.
fn signature(source: &Source, stmt: &Stmt) -> String {
    let text = |span: Span| &source.text[span.range()];
    let whole = text(stmt.span);
    match &stmt.kind {
        StmtKind::Function { function, .. } => text(function.header).trim_end().to_string(),
        StmtKind::Let { .. } => whole.split(" = ").next().unwrap_or(whole).trim_end().to_string(),
        // The representation of an abstract type is hidden.
        StmtKind::Abstract { .. } => whole.split(" = ").next().unwrap_or(whole).trim_end().to_string(),
        _ => whole.to_string(),
    }
}

/// Parses a doc comment into its parts.
fn parse_doc(doc: &str) -> Vec<Part> {
    let mut out = Vec::new();
    let mut prose = String::new();
    let mut lines = doc.lines().peekable();
    let end = |prose: &mut String, out: &mut Vec<Part>| {
        out.extend(paragraphs(&std::mem::take(prose)).into_iter().map(Part::Prose));
    };
    while let Some(line) = lines.next() {
        if let Some(expression) = line.strip_prefix("> ") {
            end(&mut prose, &mut out);
            // Prose that follows stands after an empty line.
            let begins = |line: &str| ["> ", "law: ", "work "].iter().any(|word| line.starts_with(word));
            let mut result: Vec<&str> = Vec::new();
            while let Some(line) = lines.next_if(|next| !next.trim().is_empty() && !begins(next)) {
                result.push(line);
            }
            out.push(Part::Example(expression.to_string(), result.join("\n")));
        } else if let Some(law) = line.strip_prefix("law: ") {
            end(&mut prose, &mut out);
            let mut law = law.to_string();
            // A law continues in indented lines.
            while let Some(more) = lines.next_if(|next| next.starts_with(' ')) {
                law.push(' ');
                law.push_str(more.trim());
            }
            out.push(Part::Law(law));
        } else if let Some(work) = line.strip_prefix("work ") {
            end(&mut prose, &mut out);
            out.push(Part::Work(work.to_string()));
        } else {
            prose.push_str(line);
            prose.push('\n');
        }
    }
    end(&mut prose, &mut out);
    out
}
