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
const DEEPEST: usize = 16;

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
        if depth > DEEPEST {
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
                let end = text.find(quote)?;
                let content = &text[..end];
                // Names of fields have no escapes that matter; what has is refused.
                if content.contains('\\') {
                    return None;
                }
                self.rest = &text[end + 1..];
                Some(Literal::Text(content.to_string()))
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

    #[test]
    fn what_is_none() {
        for text in ["", "{", "{'a'}", "(1", "'a", "{'a': }", "(1 2)", "1 2", "-1", "99999999999999999999999"]
        {
            assert_eq!(read(text), None, "{text}");
        }
        assert_eq!(read(&"(".repeat(100_000)), None);
    }
}
