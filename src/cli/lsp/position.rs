//! Positions of the protocol: lines from 0, and UTF-16 units from 0 within a line.
//!
//! Takes a text once; converts byte offsets to positions and back. A position beyond its line means
//! the end of the line, one inside a character the beginning of the character, as the protocol
//! demands. Lines end at `\n`, `\r\n` and `\r`.

use felis_base::source::Span;
use lsp_types::{Position, Range};

/// The byte offsets at which the lines of a text begin.
#[derive(Clone, Debug)]
pub struct Lines {
    /// The starts, in order; the first is 0.
    starts: Vec<usize>,
}

impl Lines {
    /// Finds the lines of a text.
    pub fn of(text: &str) -> Lines {
        let bytes = text.as_bytes();
        let mut starts = vec![0];
        for (at, byte) in bytes.iter().enumerate() {
            let alone = *byte == b'\r' && bytes.get(at + 1) != Some(&b'\n');
            if *byte == b'\n' || alone {
                starts.push(at + 1);
            }
        }
        Lines { starts }
    }

    /// Returns the position of a byte offset.
    pub fn position(&self, text: &str, at: usize) -> Position {
        let mut at = at.min(text.len());
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        let line = self.starts.partition_point(|start| *start <= at) - 1;
        let units = text[self.starts[line]..at].encode_utf16().count();
        Position::new(line as u32, units as u32)
    }

    /// Returns the byte offset of a position.
    pub fn byte(&self, text: &str, position: Position) -> usize {
        let line = position.line as usize;
        let Some(&start) = self.starts.get(line) else { return text.len() };
        let end = self.starts.get(line + 1).copied().unwrap_or(text.len());
        let line = text[start..end].trim_end_matches(['\n', '\r']);
        let mut units = position.character as usize;
        for (at, c) in line.char_indices() {
            if units < c.len_utf16() {
                return start + at;
            }
            units -= c.len_utf16();
        }
        start + line.len()
    }

    /// Returns the range of bytes as positions.
    pub fn range(&self, text: &str, bytes: std::ops::Range<usize>) -> Range {
        Range::new(self.position(text, bytes.start), self.position(text, bytes.end))
    }

    /// Returns a span as positions.
    pub fn span(&self, text: &str, span: Span) -> Range {
        self.range(text, span.range())
    }
}

#[cfg(test)]
mod tests {
    use super::Lines;
    use lsp_types::Position;

    #[test]
    fn places_and_bytes_are_inverses() {
        for text in ["", "a", "a\nb", "a\r\nb\r\n", "𝒳 = é\n𝒴𝒵\r\n\r\nx", "\r\r\n\n", "é\u{2028}x\n"]
        {
            let lines = Lines::of(text);
            for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
                let inside = c == '\n' && text[..at].ends_with('\r');
                if !inside {
                    assert_eq!(lines.byte(text, lines.position(text, at)), at, "{text:?} {at}");
                }
            }
        }
    }

    #[test]
    fn units_are_those_of_utf16() {
        let text = "𝒳é = 1\r\nb";
        let lines = Lines::of(text);
        assert_eq!(lines.position(text, 4), Position::new(0, 2));
        assert_eq!(lines.position(text, 6), Position::new(0, 3));
        assert_eq!(lines.position(text, 12), Position::new(1, 0));
        // The middle of a character means its beginning, and a position beyond a line its end.
        assert_eq!(lines.byte(text, Position::new(0, 1)), 0);
        assert_eq!(lines.byte(text, Position::new(0, 99)), 10);
        assert_eq!(lines.byte(text, Position::new(7, 0)), text.len());
    }
}
