//! Widths and outlines of texts in the embedded font.
//!
//! The font is DejaVu Sans, subset to Latin, Greek, Cyrillic, arrows and mathematical signs
//! (`font/LICENSE`). No system font is used, so pictures are the same on every machine. A character
//! that the font lacks is an empty box, and the picture states their number. There is no shaping: a
//! text is the sequence of its characters.

use tiny_skia::{Path, PathBuilder, Transform};
use ttf_parser::{Face, GlyphId, OutlineBuilder};
use unicode_width::UnicodeWidthChar;

/// The file of the font.
const FONT_BYTES: &[u8] = include_bytes!("font/DejaVuSans.ttf");

/// The font.
pub struct Font(Face<'static>);

impl Font {
    /// Loads the embedded font.
    pub fn new() -> Font {
        Font(Face::parse(FONT_BYTES, 0).expect("the font that is part of the program is one"))
    }

    /// Returns the width of a text at a font size.
    pub fn width(&self, text: &str, size: f64) -> f64 {
        let units: f64 = self.glyphs(text).map(|glyph| self.advance(glyph)).sum();
        units * self.scale(size)
    }

    /// Returns the text, truncated with an ellipsis to a width of `room`.
    pub fn truncated(&self, text: &str, size: f64, room: f64) -> String {
        if self.width(text, size) <= room {
            return text.to_string();
        }
        let mut length = self.width("…", size);
        let fits = |c: &char| {
            length += self.width(c.encode_utf8(&mut [0; 4]), size);
            length <= room
        };
        let start: String = text.chars().take_while(fits).collect();
        format!("{}…", start.trim_end())
    }

    /// Returns the outline of a text that begins at the origin of the baseline; `None` if it is
    /// empty.
    pub fn outline(&self, text: &str, size: f64) -> Option<Path> {
        let scale = self.scale(size);
        let mut outline = PathOutline(PathBuilder::new());
        let mut at = 0.0;
        for glyph in self.glyphs(text) {
            let mut own = PathOutline(PathBuilder::new());
            self.0.outline_glyph(glyph, &mut own);
            if let Some(path) = own.0.finish() {
                let place =
                    Transform::from_row(scale as f32, 0.0, 0.0, -scale as f32, (at * scale) as f32, 0.0);
                outline.0.push_path(&path.transform(place)?);
            }
            at += self.advance(glyph);
        }
        outline.0.finish()
    }

    /// Returns the number of characters of a text that the font lacks.
    pub fn missing(&self, text: &str) -> usize {
        self.glyphs(text).filter(|glyph| *glyph == GlyphId(0)).count()
    }

    /// Returns the glyphs of a text.
    fn glyphs(&self, text: &str) -> impl Iterator<Item = GlyphId> {
        text.chars().filter_map(|c| match self.0.glyph_index(c) {
            // Characters of width 0 are not drawn.
            None if c.width() == Some(0) => None,
            found => Some(found.unwrap_or(GlyphId(0))),
        })
    }

    /// Returns the advance width of a glyph in font units.
    fn advance(&self, glyph: GlyphId) -> f64 {
        f64::from(self.0.glyph_hor_advance(glyph).unwrap_or(0))
    }

    /// Returns the length of a font unit at a font size.
    fn scale(&self, size: f64) -> f64 {
        size / f64::from(self.0.units_per_em())
    }
}

/// An adapter from the font parser to the path builder.
struct PathOutline(PathBuilder);

impl OutlineBuilder for PathOutline {
    fn move_to(&mut self, x: f32, y: f32) {
        self.0.move_to(x, y);
    }
    fn line_to(&mut self, x: f32, y: f32) {
        self.0.line_to(x, y);
    }
    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        self.0.quad_to(x1, y1, x, y);
    }
    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        self.0.cubic_to(x1, y1, x2, y2, x, y);
    }
    fn close(&mut self) {
        self.0.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths() {
        let font = Font::new();
        assert_eq!(font.width("", 10.0), 0.0);
        assert!(font.width("iii", 10.0) < font.width("mmm", 10.0));
        assert!((font.width("ab", 20.0) - 2.0 * font.width("ab", 10.0)).abs() < 1e-9);
        // All digits have one width, so numbers align.
        assert_eq!(font.width("111", 10.0), font.width("888", 10.0));
        assert_eq!(font.width("a\u{200d}", 10.0), font.width("a", 10.0));
    }

    #[test]
    fn what_is_too_long_is_cut() {
        let font = Font::new();
        assert_eq!(font.truncated("short", 10.0, 100.0), "short");
        let cut = font.truncated("a title that is much too long", 10.0, 60.0);
        assert!(cut.starts_with("a t") && cut.ends_with('…'), "{cut}");
        assert!(font.width(&cut, 10.0) <= 60.0, "{cut}");
        assert_eq!(font.truncated("wide", 10.0, 0.0), "…");
    }

    #[test]
    fn letters_of_the_sciences_are_in_it() {
        let font = Font::new();
        for c in "azAZ09 äéßøñćőžğ αβγΩμ Жя ±×÷·√∞∑∏∫∂∇≤≥≠≈∈∪∩⊗⊕ ²³¹⁰₀₉ ←→↑↓⇒ ℝℕℤℂ – — … € ° ′ ″".chars()
        {
            assert!(font.0.glyph_index(c).is_some(), "{c}");
        }
        assert!(font.outline("Σ", 10.0).is_some() && font.outline(" ", 10.0).is_none());
        assert!(font.outline("漢", 10.0).is_some(), "a box");
    }
}
