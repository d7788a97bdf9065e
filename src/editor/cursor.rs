//! The text before a cursor, by lexing alone: the word, the path of an import, and the call that
//! are being written.

use super::tokens::{TokenClass, tokens};

/// Returns the byte at which the name that ends a text begins; `geometry::ar` is one name.
pub(super) fn word_start(text: &str) -> usize {
    let in_word = |c: char| c.is_alphanumeric() || c == '_' || c == '\'';
    let word = |end: usize| {
        let letters = text[..end].char_indices().rev().take_while(|(_, c)| in_word(*c));
        letters.last().map_or(end, |(i, _)| i)
    };
    let mut start = word(text.len());
    while text[..start].ends_with("::") && word(start - 2) < start - 2 {
        start = word(start - 2);
    }
    start
}

/// Returns the path of an import that is being written at the end of a text.
pub fn import_path(before: &str) -> Option<&str> {
    let line = &before[before.rfind('\n').map_or(0, |at| at + 1)..];
    let (start, path) = line.rsplit_once('"')?;
    let word = start.trim_end();
    let word = word.rsplit(|c: char| c.is_whitespace() || c == ';').next()?;
    // A path with an escape is not completed.
    (word == "import" && !start.contains("//") && !path.contains('\\')).then_some(path)
}

/// Returns the function whose argument is being written at the end of a text: the name before the
/// innermost open parenthesis.
pub(super) fn enclosing_call(text: &str) -> Option<&str> {
    let parts = tokens(text);
    let mut depth = 0usize;
    for (at, (_, class)) in parts.iter().enumerate().rev() {
        match class {
            TokenClass::Close => depth += 1,
            TokenClass::Open if depth > 0 => depth -= 1,
            TokenClass::Open => {
                let (range, class) = &parts[at.checked_sub(1)?];
                let named = matches!(class, TokenClass::Name | TokenClass::TypeName);
                return named.then(|| &text[range.clone()]);
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::import_path;

    #[test]
    fn paths_of_imports() {
        for (before, path) in [
            ("import \"geo", Some("geo")),
            ("val x = 1;\nimport   \"../a/b", Some("../a/b")),
            ("val x = 1; import \"", Some("")),
            ("import \"a.flx\"", None),
            ("println \"import", None),
            ("// import \"a", None),
            ("import \"a\nb", None),
        ] {
            assert_eq!(import_path(before), path, "{before:?}");
        }
    }
}
