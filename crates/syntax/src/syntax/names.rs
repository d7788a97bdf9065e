//! Names: valid identifiers, and quoted names for arbitrary texts.
//!
//! A text that is not an identifier, such as the name of a column in a file, is written as a quoted
//! name: `n"first name"`. Each name has one spelling, so that equal names are equal texts: a text
//! that needs no quotes is not quoted, and only quotes and backslashes are escaped.

use super::lexer::{TokenKind, lex};
use crate::quote::{quote, strip_quotes, unescape};
use crate::source::SourceMap;

/// Returns true if a text is a name, possibly quoted, and not a keyword.
pub fn is_name(text: &str) -> bool {
    let lexed = lex(&SourceMap::new().add("", text));
    let whole = |start: u32, end: u32| start == 0 && end as usize == text.len();
    let name =
        matches!(&lexed.tokens[..], [only] if only.kind == TokenKind::Name && whole(only.start, only.end));
    name && lexed.errors.is_empty()
}

/// Returns the name for a text: the text itself, or quoted. `None` for the empty text and for texts
/// with control characters.
pub fn name_of(text: &str) -> Option<String> {
    if !text.contains('"') && is_name(text) {
        return Some(text.to_string());
    }
    let shown = !text.is_empty() && !text.chars().any(char::is_control);
    shown.then(|| quote(text))
}

/// Checks the spelling of a quoted name: returns the correct spelling if there is one; `None` if
/// the name is spelled correctly.
pub(super) fn check_spelling(written: &str) -> Option<Option<String>> {
    let name = strip_quotes(written).and_then(unescape).and_then(|text| name_of(&text));
    (name.as_deref() != Some(written)).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_text_is_written_in_one_way() {
        for (text, name) in [
            ("age", "age"),
            ("x'", "x'"),
            ("first name", "n\"first name\""),
            ("type", "n\"type\""),
            ("größe", "n\"größe\""),
            ("2024", "n\"2024\""),
            ("a\"b\\", "n\"a\\\"b\\\\\""),
            ("n\"a b\"", "n\"n\\\"a b\\\"\""),
            ("_", "n\"_\""),
            (" ", "n\" \""),
            ("a::b", "n\"a::b\""),
        ] {
            assert_eq!(name_of(text).as_deref(), Some(name), "{text}");
            assert!(is_name(name), "{name}");
        }
        for text in ["", "a\nb", "\t"] {
            assert_eq!(name_of(text), None, "{text:?}");
        }
    }

    #[test]
    fn names_in_quotes_that_are_misspelled() {
        for (written, name) in
            [("n\"age\"", Some("age")), ("n\"\"", None), ("n\"a\\n\"", None), ("n\"a\tb\"", None)]
        {
            assert_eq!(check_spelling(written), Some(name.map(str::to_string)), "{written}");
            assert!(!is_name(written), "{written}");
        }
        assert_eq!(check_spelling("n\"first name\""), None);
    }
}
