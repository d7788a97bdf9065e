//! Texts: short ones as they are, long ones with room to grow and an index of their characters.
//!
//! Takes texts; gives their bytes, the number of their characters, and the byte at which a
//! character begins. A program counts characters and a `string` is UTF-8, so the place of a
//! character depends on all before it. For a long text the bytes at which every [`STRIDE`]th
//! character begins are computed at the first question, and kept: each further question takes a
//! constant time. A text that nobody shares grows in place, and its index with it.

use super::Buffer;
use std::sync::{Arc, OnceLock};

/// The content of a `string`.
#[derive(Clone)]
pub struct Text(Form);

/// The two forms of texts.
#[derive(Clone)]
enum Form {
    /// A text of fewer than [`MIN_INDEXED_BYTES`] bytes, or a constant.
    Plain(Arc<str>),
    /// A longer text.
    Indexed(Arc<Indexed>),
}

/// A text with an index.
#[derive(Clone)]
struct Indexed {
    text: String,
    /// Computed when it is first needed.
    index: OnceLock<Index>,
    /// The code points of the characters, computed when machine code first reads the text.
    code_points: OnceLock<Arc<Buffer>>,
}

/// The places of characters in a text.
#[derive(Clone, Debug, PartialEq)]
struct Index {
    /// The number of characters.
    chars: usize,
    /// The byte at which every [`STRIDE`]th character begins; empty while all characters are one
    /// byte long.
    begins: Vec<usize>,
}

/// The length from which a text has an index: a shorter one is read as quickly as an index.
const MIN_INDEXED_BYTES: usize = 128;

/// The number of bytes that are indexed between two polls.
const POLL_BYTES: usize = 1 << 20;

/// The number of characters from one entry of the index to the next.
const STRIDE: usize = 64;

impl Index {
    /// Returns the index of a text.
    fn of(text: &str) -> Index {
        let mut index = Index { chars: 0, begins: Vec::new() };
        index.extend(text, 0);
        index
    }

    /// Extends the index of the first `from` bytes of a text to all of it.
    fn extend(&mut self, text: &str, from: usize) {
        let added = &text[from..];
        if self.begins.is_empty() {
            if added.is_ascii() {
                self.chars += added.len();
                return;
            }
            self.begins.extend((0..self.chars).step_by(STRIDE));
        }
        for (byte, _) in added.char_indices() {
            if self.chars.is_multiple_of(STRIDE) {
                self.begins.push(from + byte);
            }
            self.chars += 1;
        }
    }

    /// Returns the byte at which a character begins; the length of the text if there is none.
    fn byte_of(&self, text: &str, number: usize) -> usize {
        if number >= self.chars {
            return text.len();
        }
        if self.begins.is_empty() {
            return number;
        }
        let begin = self.begins[number / STRIDE];
        let inside = text[begin..].char_indices().nth(number % STRIDE);
        begin + inside.map_or(0, |(byte, _)| byte)
    }

    /// Returns the number of characters that begin before a byte, at which one begins.
    fn chars_before(&self, text: &str, byte: usize) -> usize {
        if self.begins.is_empty() {
            return byte;
        }
        let entry = self.begins.partition_point(|begin| *begin <= byte).saturating_sub(1);
        let begin = self.begins[entry];
        entry * STRIDE + text[begin..byte].chars().count()
    }
}

impl Text {
    /// Returns the characters.
    pub fn as_str(&self) -> &str {
        match &self.0 {
            Form::Plain(text) => text,
            Form::Indexed(indexed) => &indexed.text,
        }
    }

    /// Computes the index of a text that has none yet and is long; `poll` is called now and then.
    ///
    /// # Errors
    ///
    /// That of `poll`: no index is computed then.
    pub fn ensure_index<E>(&self, poll: impl Fn() -> Result<(), E>) -> Result<(), E> {
        let Form::Indexed(indexed) = &self.0 else { return Ok(()) };
        let text = &*indexed.text;
        if indexed.index.get().is_some() || text.len() < POLL_BYTES {
            return Ok(());
        }
        let mut index = Index { chars: 0, begins: Vec::new() };
        let mut done = 0;
        while done < text.len() {
            poll()?;
            let mut end = (done + POLL_BYTES).min(text.len());
            while !text.is_char_boundary(end) {
                end += 1;
            }
            index.extend(&text[..end], done);
            done = end;
        }
        // Another thread may have been quicker: both have found the same.
        let _ = indexed.index.set(index);
        Ok(())
    }

    /// Returns the index, if the text has one.
    fn index(&self) -> Option<&Index> {
        match &self.0 {
            Form::Plain(_) => None,
            Form::Indexed(indexed) => Some(indexed.index.get_or_init(|| Index::of(&indexed.text))),
        }
    }

    /// Returns the number of characters.
    pub fn char_count(&self) -> usize {
        self.index().map_or_else(|| self.as_str().chars().count(), |index| index.chars)
    }

    /// Returns the byte at which a character begins; the length of the text if there is none.
    pub fn byte_of(&self, number: usize) -> usize {
        let text = self.as_str();
        match self.index() {
            Some(index) => index.byte_of(text, number),
            None => text.char_indices().nth(number).map_or(text.len(), |(byte, _)| byte),
        }
    }

    /// Returns the number of characters that begin before a byte.
    ///
    /// # Panics
    ///
    /// If no character begins at the byte, and it is not the end.
    pub fn chars_before(&self, byte: usize) -> usize {
        let text = self.as_str();
        self.index().map_or_else(|| text[..byte].chars().count(), |index| index.chars_before(text, byte))
    }

    /// Returns the characters from one position up to, not including, another; positions behind the
    /// end are the end.
    pub fn char_range(&self, from: usize, to: usize) -> &str {
        let begin = self.byte_of(from);
        let end = if to <= from { begin } else { self.byte_of(to) };
        &self.as_str()[begin..end]
    }

    /// Returns the text with another behind it. A text that is not shared grows in place.
    #[must_use]
    pub fn with_appended(mut self, added: &str) -> Text {
        if let Form::Indexed(indexed) = &mut self.0
            && let Some(indexed) = Arc::get_mut(indexed)
        {
            let from = indexed.text.len();
            indexed.text.push_str(added);
            if let Some(index) = indexed.index.get_mut() {
                index.extend(&indexed.text, from);
            }
            match indexed.code_points.get_mut().map(Arc::get_mut) {
                Some(Some(Buffer::U32(points))) => points.extend(added.chars().map(u32::from)),
                _ => _ = indexed.code_points.take(),
            }
            return self;
        }
        let own = self.as_str();
        let mut text = String::with_capacity(own.len() + added.len());
        text.push_str(own);
        text.push_str(added);
        Text::from(text)
    }

    /// Returns true if both are one object.
    pub fn is_same_object(&self, other: &Text) -> bool {
        match (&self.0, &other.0) {
            (Form::Plain(a), Form::Plain(b)) => Arc::ptr_eq(a, b),
            (Form::Indexed(a), Form::Indexed(b)) => Arc::ptr_eq(a, b),
            _ => false,
        }
    }

    /// Returns the number of bytes that the text keeps allocated.
    pub fn allocated_bytes(&self) -> usize {
        match &self.0 {
            Form::Plain(text) => text.len(),
            Form::Indexed(indexed) => {
                let points = indexed.code_points.get().map_or(0, |points| 4 * points.len());
                indexed.text.capacity() + points
            }
        }
    }

    /// Returns the code points of the characters: those of a long text are computed once, and kept
    /// while it grows in place.
    pub fn code_points(&self) -> Arc<Buffer> {
        let of = |text: &str| Arc::new(Buffer::U32(text.chars().map(u32::from).collect()));
        match &self.0 {
            Form::Plain(text) => of(text),
            Form::Indexed(indexed) => indexed.code_points.get_or_init(|| of(&indexed.text)).clone(),
        }
    }
}

/// Returns the text of one ASCII character. A walk over a text makes one at each step, so each is
/// allocated once.
fn ascii_text(byte: u8) -> Text {
    static TEXTS: OnceLock<Vec<Arc<str>>> = OnceLock::new();
    let texts = TEXTS.get_or_init(|| (0..128u8).map(|byte| char::from(byte).to_string().into()).collect());
    Text(Form::Plain(texts[usize::from(byte)].clone()))
}

impl From<&str> for Text {
    fn from(text: &str) -> Text {
        if let [byte @ 0..=127] = text.as_bytes() {
            return ascii_text(*byte);
        }
        if text.len() < MIN_INDEXED_BYTES { Text(Form::Plain(text.into())) } else { text.to_string().into() }
    }
}

impl From<String> for Text {
    fn from(text: String) -> Text {
        match text.len() < MIN_INDEXED_BYTES {
            true => Text(Form::Plain(text.into())),
            false => Text(Form::Indexed(Arc::new(Indexed {
                text,
                index: OnceLock::new(),
                code_points: OnceLock::new(),
            }))),
        }
    }
}

impl From<Arc<str>> for Text {
    fn from(text: Arc<str>) -> Text {
        if text.len() < MIN_INDEXED_BYTES { Text(Form::Plain(text)) } else { Text::from(&*text) }
    }
}

impl From<std::borrow::Cow<'_, str>> for Text {
    fn from(text: std::borrow::Cow<'_, str>) -> Text {
        match text {
            std::borrow::Cow::Borrowed(text) => text.into(),
            std::borrow::Cow::Owned(text) => text.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares all answers for a text with those of its characters.
    fn assert_agrees(text: &Text) {
        let own = text.as_str().to_string();
        let chars: Vec<(usize, char)> = own.char_indices().collect();
        assert_eq!(text.char_count(), chars.len());
        let points: Vec<u32> = chars.iter().map(|(_, c)| u32::from(*c)).collect();
        assert!(matches!(&*text.code_points(), Buffer::U32(found) if *found == points));
        for at in (0..chars.len()).step_by(7).chain([chars.len(), chars.len() + 1, usize::MAX]) {
            let byte = chars.get(at).map_or(own.len(), |(byte, _)| *byte);
            assert_eq!(text.byte_of(at), byte, "character {at}");
            assert_eq!(text.chars_before(byte), at.min(chars.len()), "byte {byte}");
            let end = chars.get(at.saturating_add(5)).map_or(own.len(), |(byte, _)| *byte);
            assert_eq!(text.char_range(at, at.saturating_add(5)), &own[byte..end]);
        }
    }

    #[test]
    fn positions_are_those_of_the_characters_while_texts_grow() {
        let seed = fastrand::u64(..);
        println!("seed {seed}");
        let mut random = fastrand::Rng::with_seed(seed);
        for _ in 0..40 {
            let mut text = Text::from("");
            for _ in 0..random.usize(1..30) {
                let alphabet: &[char] =
                    if random.bool() { &['a', 'b', '\n'] } else { &['a', 'é', '漢', '𝄞', '\u{301}'] };
                let added: String =
                    (0..random.usize(0..300)).map(|_| *random.choice(alphabet).expect("a letter")).collect();
                let expected = text.as_str().to_string() + &added;
                if random.bool() {
                    // A copy that is kept forbids growing in place, and stays as it was.
                    let (kept, before) = (text.clone(), text.as_str().to_string());
                    text = text.with_appended(&added);
                    assert_eq!(kept.as_str(), before);
                    assert_agrees(&kept);
                } else {
                    text = text.with_appended(&added);
                }
                assert_eq!(text.as_str(), expected);
                if random.bool() {
                    assert_agrees(&text);
                }
            }
            assert_agrees(&text);
        }
    }

    #[test]
    fn a_text_that_is_not_shared_grows_in_place() {
        let mut text = Text::from("x".repeat(1 << 16));
        let mut moves = 0;
        for _ in 0..(1 << 16) {
            let before = text.as_str().as_ptr();
            text = text.with_appended("y");
            moves += usize::from(before != text.as_str().as_ptr());
        }
        assert!(moves < 8, "the text moved {moves} times");
    }
}
