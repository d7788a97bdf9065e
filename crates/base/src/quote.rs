//! Quoted names: a text that is no identifier written as a name, and back.
//!
//! `n"first name"` stands for `first name`; a quote or a backslash is preceded by a backslash.
//! Which texts need quotes is decided elsewhere.

/// Writes a text as a quoted name.
pub fn quote(text: &str) -> String {
    format!("n\"{}\"", text.replace('\\', r"\\").replace('"', "\\\""))
}

/// Returns the text between the quotes of a name, with its escapes; `None` if the name has no
/// quotes.
pub fn strip_quotes(name: &str) -> Option<&str> {
    name.strip_prefix("n\"")?.strip_suffix('"')
}

/// Resolves the escapes of the text between quotes; `None` if a backslash precedes anything but a
/// quote or a backslash.
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
