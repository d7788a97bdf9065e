//! JSON (RFC 8259): a text → a tree in which each value knows where it begins.
//!
//! Takes a text; gives its tree, or the first mistake with its byte. Numbers stay texts: what reads
//! them knows their type, so that an integer of 64 bits loses no digit and a real is the nearest
//! one. Members stay in their order. Depth is bounded, so that nothing that walks the tree
//! overflows.

use super::Limits;

/// A value of JSON.
#[derive(Clone, Debug, PartialEq)]
pub struct Json<'t> {
    /// The byte at which it begins.
    pub at: usize,
    /// The value.
    pub kind: JsonKind<'t>,
}

/// The kinds of values.
#[derive(Clone, Debug, PartialEq)]
pub enum JsonKind<'t> {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number, as it is written.
    Number(&'t str),
    /// A text, without quotes and escapes.
    Text(String),
    /// The elements of an array.
    List(Vec<Json<'t>>),
    /// The members of an object.
    Object(Vec<(String, Json<'t>)>),
}

/// A mistake in a text.
#[derive(Clone, Debug, PartialEq)]
pub enum JsonError {
    /// The text is no JSON.
    Mistake {
        /// The byte at which it is noticed.
        at: usize,
        /// The reason, in a few words.
        why: String,
    },
    /// The interrupt flag is set.
    Interrupted,
    /// The tree takes more memory than may be used.
    TooLarge,
}

/// The largest depth of lists and objects within one another.
pub const MAX_JSON_DEPTH: usize = 500;

/// Returns the tree of a text.
///
/// # Errors
///
/// The first mistake.
pub fn parse_json<'t>(text: &'t str, limits: &Limits<'_>) -> Result<Json<'t>, JsonError> {
    let mut reader = Reader { text, at: 0, depth: 0, rounds: 0, bytes: 0, limits: *limits };
    reader.blanks();
    let value = reader.value()?;
    reader.blanks();
    if reader.at < text.len() {
        return Err(reader.mistake("something stands after the value"));
    }
    Ok(value)
}

/// A reader of a text.
struct Reader<'t, 'l> {
    text: &'t str,
    /// The next byte.
    at: usize,
    /// The number of lists and objects around it.
    depth: usize,
    /// The number of values so far.
    rounds: usize,
    /// The bytes of the tree so far.
    bytes: u64,
    limits: Limits<'l>,
}

type Result<T, E = JsonError> = std::result::Result<T, E>;

impl<'t> Reader<'t, '_> {
    /// Returns the next byte; 0 at the end.
    fn peek(&self) -> u8 {
        self.text.as_bytes().get(self.at).copied().unwrap_or(0)
    }

    /// Returns a mistake at the next byte.
    fn mistake(&self, why: impl Into<String>) -> JsonError {
        JsonError::Mistake { at: self.at, why: why.into() }
    }

    /// Skips blanks.
    fn blanks(&mut self) {
        while matches!(self.peek(), b' ' | b'\n' | b'\r' | b'\t') {
            self.at += 1;
        }
    }

    /// Counts memory of the tree.
    fn take_memory(&mut self, bytes: usize) -> Result<()> {
        self.bytes += bytes as u64;
        if self.bytes > self.limits.memory { Err(JsonError::TooLarge) } else { Ok(()) }
    }

    /// Reads a value.
    fn value(&mut self) -> Result<Json<'t>> {
        self.limits.poll(self.rounds).map_err(|_| JsonError::Interrupted)?;
        self.rounds += 1;
        self.take_memory(size_of::<Json<'_>>())?;
        let at = self.at;
        let kind = match self.peek() {
            b'n' => self.word("null", JsonKind::Null)?,
            b't' => self.word("true", JsonKind::Bool(true))?,
            b'f' => self.word("false", JsonKind::Bool(false))?,
            b'"' => JsonKind::Text(self.text()?),
            b'-' | b'0'..=b'9' => JsonKind::Number(self.number()?),
            b'[' => self.nested(Self::list)?,
            b'{' => self.nested(Self::object)?,
            _ if self.at >= self.text.len() => {
                return Err(self.mistake("the text ends where a value is wanted"));
            }
            _ => return Err(self.mistake("no value begins like this")),
        };
        Ok(Json { at, kind })
    }

    /// Reads one of the words of JSON.
    fn word(&mut self, word: &str, kind: JsonKind<'t>) -> Result<JsonKind<'t>> {
        if !self.text[self.at..].starts_with(word) {
            return Err(self.mistake(format!("`{word}` is not complete")));
        }
        self.at += word.len();
        Ok(kind)
    }

    /// Reads a number.
    fn number(&mut self) -> Result<&'t str> {
        let start = self.at;
        if self.peek() == b'-' {
            self.at += 1;
        }
        let first = self.at;
        self.digits()?;
        if self.text.as_bytes()[first] == b'0' && self.at > first + 1 {
            self.at = first;
            return Err(self.mistake("a number does not begin with 0"));
        }
        if self.peek() == b'.' {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), b'e' | b'E') {
            self.at += 1;
            if matches!(self.peek(), b'+' | b'-') {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(&self.text[start..self.at])
    }

    /// Skips digits, at least one.
    fn digits(&mut self) -> Result<()> {
        if !self.peek().is_ascii_digit() {
            return Err(self.mistake("a digit is missing"));
        }
        while self.peek().is_ascii_digit() {
            self.at += 1;
        }
        Ok(())
    }

    /// Reads a text in quotes.
    fn text(&mut self) -> Result<String> {
        let open = self.at;
        self.at += 1;
        let mut out = String::new();
        loop {
            let rest = &self.text.as_bytes()[self.at..];
            let plain = rest.iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..=0x1f));
            let Some(plain) = plain else {
                return Err(JsonError::Mistake {
                    at: open,
                    why: "the text that begins here does not end".into(),
                });
            };
            self.take_memory(plain)?;
            out.push_str(&self.text[self.at..self.at + plain]);
            self.at += plain;
            match self.peek() {
                b'"' => {
                    self.at += 1;
                    return Ok(out);
                }
                b'\\' => out.push(self.escape()?),
                _ => return Err(self.mistake("a control character stands in a text: write it as an escape")),
            }
        }
    }

    /// Reads an escape.
    fn escape(&mut self) -> Result<char> {
        let kind = self.text.as_bytes().get(self.at + 1).copied().unwrap_or(0);
        let c = match kind {
            b'"' => '"',
            b'\\' => '\\',
            b'/' => '/',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => return self.code_unit_escape(),
            _ => return Err(self.mistake("there is no such escape")),
        };
        self.at += 2;
        Ok(c)
    }

    /// Reads `\uXXXX`, or two of them that are one character.
    fn code_unit_escape(&mut self) -> Result<char> {
        let unit = |at: usize| {
            let digits = self.text.get(at..at + 6)?.strip_prefix("\\u")?;
            let hexadecimal = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
            u32::from_str_radix(digits, 16).ok().filter(|_| hexadecimal)
        };
        let Some(first) = unit(self.at) else {
            return Err(self.mistake("`\\u` needs four hexadecimal digits"));
        };
        let second = unit(self.at + 6).filter(|low| (0xDC00..0xE000).contains(low));
        let (code, length) = match (first, second) {
            (0xD800..0xDC00, Some(low)) => (0x10000 + (first - 0xD800) * 0x400 + (low - 0xDC00), 12),
            _ => (first, 6),
        };
        let c = char::from_u32(code).ok_or_else(|| self.mistake("this escape is half of a character"))?;
        self.at += length;
        Ok(c)
    }

    /// Reads a list or an object, one level deeper.
    fn nested(&mut self, read: impl FnOnce(&mut Self) -> Result<JsonKind<'t>>) -> Result<JsonKind<'t>> {
        if self.depth == MAX_JSON_DEPTH {
            return Err(
                self.mistake(format!("more than {MAX_JSON_DEPTH} lists and objects within one another"))
            );
        }
        self.depth += 1;
        self.at += 1;
        self.blanks();
        let kind = read(self)?;
        self.depth -= 1;
        Ok(kind)
    }

    /// Reads the elements of a list, and its end.
    fn list(&mut self) -> Result<JsonKind<'t>> {
        let mut elements = Vec::new();
        if self.peek() == b']' {
            self.at += 1;
            return Ok(JsonKind::List(elements));
        }
        loop {
            elements.push(self.value()?);
            if self.is_end(b']')? {
                return Ok(JsonKind::List(elements));
            }
        }
    }

    /// Reads the members of an object, and its end.
    fn object(&mut self) -> Result<JsonKind<'t>> {
        let mut members = Vec::new();
        if self.peek() == b'}' {
            self.at += 1;
            return Ok(JsonKind::Object(members));
        }
        loop {
            if self.peek() != b'"' {
                return Err(self.mistake("a member begins with its name in quotes"));
            }
            let name = self.text()?;
            self.blanks();
            if self.peek() != b':' {
                return Err(self.mistake("`:` is missing after the name of a member"));
            }
            self.at += 1;
            self.blanks();
            self.take_memory(size_of::<String>())?;
            members.push((name, self.value()?));
            if self.is_end(b'}')? {
                return Ok(JsonKind::Object(members));
            }
        }
    }

    /// Skips the comma before the next part, or the end; returns true at the end.
    fn is_end(&mut self, end: u8) -> Result<bool> {
        self.blanks();
        let found = self.peek();
        if found != end && found != b',' {
            return Err(self.mistake(format!("`,` or `{}` is missing", char::from(end))));
        }
        self.at += 1;
        self.blanks();
        Ok(found == end)
    }
}

/// Writes a text in quotes, with escapes where JSON needs them.
pub fn write_json_text(text: &str, out: &mut String) {
    out.push('"');
    let mut done = 0;
    for (at, byte) in text.bytes().enumerate() {
        let escape = match byte {
            b'"' => "\\\"",
            b'\\' => "\\\\",
            b'\n' => "\\n",
            b'\r' => "\\r",
            b'\t' => "\\t",
            0..=0x1f => "",
            _ => continue,
        };
        out.push_str(&text[done..at]);
        out.push_str(escape);
        if escape.is_empty() {
            out.push_str(&format!("\\u{byte:04x}"));
        }
        done = at + 1;
    }
    out.push_str(&text[done..]);
    out.push('"');
}
