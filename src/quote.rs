//! Names in quotes: how a text that is no name by itself is written as one, and what such a name stands for.
//!
//! `n"first name"` stands for `first name`; a quote or a backslash has a backslash before it. Knows nothing of what needs
//! quotes.

/// A text as a name in quotes.
pub fn quote(text: &str) -> String {
    format!("n\"{}\"", text.replace('\\', r"\\").replace('"', "\\\""))
}

/// What stands between the quotes of a name, as it is written there; nothing if it has none.
pub fn strip_quotes(name: &str) -> Option<&str> {
    name.strip_prefix("n\"")?.strip_suffix('"')
}

/// The text that stands between quotes; nothing if a backslash stands before anything but a quote or a backslash.
pub fn unescape(inside: &str) -> Option<String> {
    let (mut out, mut chars) = (String::new(), inside.chars());
    while let Some(c) = chars.next() {
        out.push(match c {
            '\\' => chars.next().filter(|c| matches!(c, '"' | '\\'))?,
            c => c,
        });
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back() {
        for text in ["first name", r#"a"b\"#, "", r"\\", "n\"x\""] {
            let name = quote(text);
            assert_eq!(strip_quotes(&name).and_then(unescape).as_deref(), Some(text), "{name}");
        }
        assert_eq!(strip_quotes("n"), None);
        assert_eq!(strip_quotes("n\""), None);
        assert_eq!(unescape(r"a\n"), None);
        assert_eq!(unescape("\\"), None);
    }
}
