//! Literals of Python, such as the header of an `.npy` file: `{'descr': '<f8', 'shape': (3, 4), }`.
//!
//! Takes text; gives a tree, or `None` if the text is no literal. Nesting is bounded.

/// A literal.
#[derive(Clone, Debug, PartialEq)]
pub enum Literal {
    /// A text.
    Text(String),
    /// An integer.
    Int(u64),
    /// `True` or `False`.
    Bool(bool),
    /// A tuple or a list.
    Items(Vec<Literal>),
    /// A dictionary with texts as keys.
    Dict(Vec<(String, Literal)>),
}

/// The deepest nesting of literals.
const MAX_DEPTH: usize = 16;

/// Parses a literal with blanks around it.
pub fn parse(text: &str) -> Option<Literal> {
    let mut reader = Parser { rest: text };
    let literal = reader.parse_literal(0)?;
    reader.skip_whitespace();
    reader.rest.is_empty().then_some(literal)
}

impl Literal {
    /// Returns the value of a key of a dictionary.
    pub fn get(&self, key: &str) -> Option<&Literal> {
        match self {
            Literal::Dict(entries) => entries.iter().find(|(name, _)| name == key).map(|(_, value)| value),
            _ => None,
        }
    }

    /// Returns the items of a tuple or list.
    pub fn items(&self) -> Option<&[Literal]> {
        match self {
            Literal::Items(items) => Some(items),
            _ => None,
        }
    }

    /// Returns the text of a text literal.
    pub fn text(&self) -> Option<&str> {
        match self {
            Literal::Text(text) => Some(text),
            _ => None,
        }
    }
}

/// Returns a text as a literal.
pub fn quote(text: &str) -> String {
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

/// Parses an escape after its backslash.
fn parse_escape(chars: &mut std::str::CharIndices<'_>) -> Option<char> {
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

/// A parser, with the rest of the text.
struct Parser<'t> {
    rest: &'t str,
}

impl Parser<'_> {
    /// Skips blanks.
    fn skip_whitespace(&mut self) {
        self.rest = self.rest.trim_start();
    }

    /// Skips blanks and `what`; returns false if `what` does not follow.
    fn eat(&mut self, what: &str) -> bool {
        self.skip_whitespace();
        let rest = self.rest.strip_prefix(what);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    /// Parses a literal at this depth of nesting.
    fn parse_literal(&mut self, depth: usize) -> Option<Literal> {
        if depth > MAX_DEPTH {
            return None;
        }
        self.skip_whitespace();
        match self.rest.chars().next()? {
            '{' => {
                self.eat("{");
                let mut entries = Vec::new();
                while !self.eat("}") {
                    let Literal::Text(key) = self.parse_literal(depth + 1)? else { return None };
                    if !self.eat(":") {
                        return None;
                    }
                    entries.push((key, self.parse_literal(depth + 1)?));
                    if !self.eat(",") {
                        return self.eat("}").then_some(Literal::Dict(entries));
                    }
                }
                Some(Literal::Dict(entries))
            }
            '(' | '[' => {
                let close = if self.eat("(") { ")" } else { "]" };
                self.eat("[");
                let mut items = Vec::new();
                while !self.eat(close) {
                    items.push(self.parse_literal(depth + 1)?);
                    if !self.eat(",") {
                        return self.eat(close).then_some(Literal::Items(items));
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
                        (_, '\\') => content.push(parse_escape(&mut chars)?),
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
            _ if self.eat("True") => Some(Literal::Bool(true)),
            _ if self.eat("False") => Some(Literal::Bool(false)),
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
        let read = parse(header).expect("a literal");
        assert_eq!(read.get("descr"), Some(&Literal::Text("<f8".into())));
        assert_eq!(read.get("fortran_order"), Some(&Literal::Bool(false)));
        assert_eq!(read.get("shape"), Some(&Literal::Items(vec![Literal::Int(3), Literal::Int(4)])));
    }

    /// Tests texts as Python writes them.
    #[test]
    fn texts() {
        for (text, literal) in [
            ("age", "'age'"),
            ("it's", "\"it's\""),
            ("a'\"b", r#"'a\'"b'"#),
            ("a\\b", r"'a\\b'"),
            ("größe", "'größe'"),
        ] {
            assert_eq!(quote(text), literal);
            assert_eq!(parse(literal), Some(Literal::Text(text.into())));
        }
        assert_eq!(parse(r"'a\n\x41\u00e9\U0001f600'"), Some(Literal::Text("a\nAé😀".into())));
        for wrong in [r"'\", r"'\'", r"'\q'", r"'\x4'", r"'\ud800'", r"'\Uffffffff'"] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn what_is_none() {
        for text in ["", "{", "{'a'}", "(1", "'a", "{'a': }", "(1 2)", "1 2", "-1", "99999999999999999999999"]
        {
            assert_eq!(parse(text), None, "{text}");
        }
        assert_eq!(parse(&"(".repeat(100_000)), None);
    }
}
