//! Literals of Python, as the header of an `.npy` file is one: `{'descr': '<f8', 'shape': (3, 4), }`.
//!
//! Takes text; gives a tree, or nothing if it is none. Nesting is bounded.

/// A literal.
#[derive(Clone, Debug, PartialEq)]
pub enum Literal {
    Text(String),
    Int(u64),
    Bool(bool),
    /// A tuple or a list.
    Items(Vec<Literal>),
    Dict(Vec<(String, Literal)>),
}

/// How deep literals may nest.
const MAX_DEPTH: usize = 16;

/// The literal that a text is, but for blanks around it.
pub fn read(text: &str) -> Option<Literal> {
    let mut reader = Reader { rest: text };
    let literal = reader.literal(0)?;
    reader.blanks();
    reader.rest.is_empty().then_some(literal)
}

impl Literal {
    /// What stands under a key.
    pub fn get(&self, key: &str) -> Option<&Literal> {
        match self {
            Literal::Dict(entries) => entries.iter().find(|(name, _)| name == key).map(|(_, value)| value),
            _ => None,
        }
    }

    /// The items of a tuple or list.
    pub fn items(&self) -> Option<&[Literal]> {
        match self {
            Literal::Items(items) => Some(items),
            _ => None,
        }
    }

    /// As text.
    pub fn text(&self) -> Option<&str> {
        match self {
            Literal::Text(text) => Some(text),
            _ => None,
        }
    }
}

/// A text as such a literal.
pub fn quoted(text: &str) -> String {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    let mut out = String::from(quote);
    for c in text.chars() {
        match c {
            c if c == quote || c == '\\' => out.extend(['\\', c]),
            c if c.is_control() => out.push_str(&format!("\\U{:08x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push(quote);
    out
}

/// What stands behind a backslash.
fn escaped(chars: &mut std::str::CharIndices<'_>) -> Option<char> {
    let digits = match chars.next()?.1 {
        c @ ('\\' | '\'' | '"') => return Some(c),
        'n' => return Some('\n'),
        't' => return Some('\t'),
        'r' => return Some('\r'),
        'x' => 2,
        'u' => 4,
        'U' => 8,
        _ => return None,
    };
    let mut code = 0u32;
    for _ in 0..digits {
        code = code.checked_mul(16)?.checked_add(chars.next()?.1.to_digit(16)?)?;
    }
    char::from_u32(code)
}

struct Reader<'t> {
    rest: &'t str,
}

impl Reader<'_> {
    fn blanks(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn take(&mut self, what: &str) -> bool {
        self.blanks();
        let rest = self.rest.strip_prefix(what);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn literal(&mut self, depth: usize) -> Option<Literal> {
        if depth > MAX_DEPTH {
            return None;
        }
        self.blanks();
        match self.rest.chars().next()? {
            '{' => {
                self.take("{");
                let mut entries = Vec::new();
                while !self.take("}") {
                    let Literal::Text(key) = self.literal(depth + 1)? else { return None };
                    if !self.take(":") {
                        return None;
                    }
                    entries.push((key, self.literal(depth + 1)?));
                    if !self.take(",") {
                        return self.take("}").then_some(Literal::Dict(entries));
                    }
                }
                Some(Literal::Dict(entries))
            }
            '(' | '[' => {
                let close = if self.take("(") { ")" } else { "]" };
                self.take("[");
                let mut items = Vec::new();
                while !self.take(close) {
                    items.push(self.literal(depth + 1)?);
                    if !self.take(",") {
                        return self.take(close).then_some(Literal::Items(items));
                    }
                }
                Some(Literal::Items(items))
            }
            quote @ ('\'' | '"') => {
                let text = &self.rest[1..];
                let mut content = String::new();
                let mut chars = text.char_indices();
                loop {
                    match chars.next()? {
                        (at, c) if c == quote => {
                            self.rest = &text[at + 1..];
                            break Some(Literal::Text(content));
                        }
                        (_, '\\') => content.push(escaped(&mut chars)?),
                        (_, c) => content.push(c),
                    }
                }
            }
            c if c.is_ascii_digit() => {
                let end = self.rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(self.rest.len());
                let (digits, rest) = self.rest.split_at(end);
                // Python 2 wrote `3L`.
                self.rest = rest.strip_prefix('L').unwrap_or(rest);
                digits.parse().ok().map(Literal::Int)
            }
            _ if self.take("True") => Some(Literal::Bool(true)),
            _ if self.take("False") => Some(Literal::Bool(false)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header() {
        let header = "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4L,), }  \n";
        let read = read(header).expect("a literal");
        assert_eq!(read.get("descr"), Some(&Literal::Text("<f8".into())));
        assert_eq!(read.get("fortran_order"), Some(&Literal::Bool(false)));
        assert_eq!(read.get("shape"), Some(&Literal::Items(vec![Literal::Int(3), Literal::Int(4)])));
    }

    /// As Python writes texts.
    #[test]
    fn texts() {
        for (text, literal) in [
            ("age", "'age'"),
            ("it's", "\"it's\""),
            ("a'\"b", r#"'a\'"b'"#),
            ("a\\b", r"'a\\b'"),
            ("größe", "'größe'"),
        ] {
            assert_eq!(quoted(text), literal);
            assert_eq!(read(literal), Some(Literal::Text(text.into())));
        }
        assert_eq!(read(r"'a\n\x41\u00e9\U0001f600'"), Some(Literal::Text("a\nAé😀".into())));
        for wrong in [r"'\", r"'\'", r"'\q'", r"'\x4'", r"'\ud800'", r"'\Uffffffff'"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn what_is_none() {
        for text in ["", "{", "{'a'}", "(1", "'a", "{'a': }", "(1 2)", "1 2", "-1", "99999999999999999999999"]
        {
            assert_eq!(read(text), None, "{text}");
        }
        assert_eq!(read(&"(".repeat(100_000)), None);
    }
}
