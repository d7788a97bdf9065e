//! Source texts and spans into them.
//!
//! Takes text with a name; gives byte spans that remember which text they point into, so that a
//! session can report an error in a line entered earlier or in the standard library. Knows no
//! stage of the compiler.

use std::fmt;
use std::sync::Arc;

/// Identifies one text of a [`SourceMap`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct SourceId(pub u32);

/// A half-open range of bytes in one source text.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Span {
    /// The text this span points into.
    pub source: SourceId,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// Makes the span of the bytes `start..end` of `source`.
    pub fn new(source: SourceId, start: usize, end: usize) -> Span {
        Span { source, start: start as u32, end: end as u32 }
    }

    /// Returns the smallest span that covers both. Spans of different texts are not joined: `self`
    /// is returned.
    pub fn to(self, other: Span) -> Span {
        if self.source != other.source {
            return self;
        }
        Span { source: self.source, start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// Returns the empty span directly after this one.
    pub fn after(self) -> Span {
        Span { start: self.end, ..self }
    }

    /// Returns the span as a byte range.
    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }
}

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}..{}", self.source.0, self.start, self.end)
    }
}

/// One text: a file, a line of a session, a standard-library module.
#[derive(Clone, Debug, Default)]
pub struct Source {
    /// The number of the text in its map.
    pub id: SourceId,
    /// The name of the text in messages.
    pub name: String,
    /// The whole text.
    pub text: String,
}

/// Returns the line number, from 1, of the byte at offset `at`.
pub fn line_number(text: impl AsRef<[u8]>, at: usize) -> usize {
    1 + text.as_ref().iter().take(at).filter(|byte| **byte == b'\n').count()
}

/// Returns the line number and the column in characters, both from 1, of the byte at offset `at`.
pub fn line_and_column(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or_default();
    let line = before.rfind('\n').map_or(0, |newline| newline + 1);
    (line_number(before, before.len()), 1 + before[line..].chars().count())
}

/// All texts a session has seen.
#[derive(Clone, Debug, Default)]
pub struct SourceMap {
    sources: Vec<Arc<Source>>,
}

impl SourceMap {
    /// Creates an empty map.
    pub fn new() -> SourceMap {
        SourceMap::default()
    }

    /// Adds a text and returns it with its number.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<String>) -> Arc<Source> {
        let id = SourceId(self.sources.len() as u32);
        let source = Arc::new(Source { id, name: name.into(), text: text.into() });
        self.sources.push(source.clone());
        source
    }

    /// Returns the number of texts.
    pub fn len(&self) -> usize {
        self.sources.len()
    }

    /// Returns true if there is no text.
    pub fn is_empty(&self) -> bool {
        self.sources.is_empty()
    }

    /// Removes all texts but the first `texts`: spans into the others are stale afterward.
    pub fn truncate(&mut self, texts: usize) {
        self.sources.truncate(texts);
    }

    /// Returns the text with this number.
    pub fn get(&self, id: SourceId) -> Option<&Arc<Source>> {
        self.sources.get(id.0 as usize)
    }

    /// Returns all texts in the order of their addition.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Source>> {
        self.sources.iter()
    }

    /// Returns the text that a span covers; empty if the span is stale.
    pub fn slice(&self, span: Span) -> &str {
        self.get(span.source).and_then(|s| s.text.get(span.range())).unwrap_or("")
    }
}
