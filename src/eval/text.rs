//! Work on texts, which may be long: in pieces, and between the pieces it is asked whether to stop.

use super::error::Failure;
use std::sync::atomic::{AtomicBool, Ordering};

type Result<T> = std::result::Result<T, Failure>;

/// Bytes of a piece.
const PIECE: usize = 1 << 20;

/// Whether the work may go on.
fn go_on(stop: &AtomicBool) -> Result<()> {
    if stop.load(Ordering::Relaxed) { Err(Failure::Interrupted) } else { Ok(()) }
}

/// The next place at or after a byte where a character begins, or the end.
fn boundary(text: &str, mut at: usize) -> usize {
    at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at += 1;
    }
    at
}

/// The number of characters.
pub(super) fn length(text: &str, stop: &AtomicBool) -> Result<usize> {
    let (mut at, mut count) = (0, 0);
    while at < text.len() {
        go_on(stop)?;
        let end = boundary(text, at + PIECE);
        count += text[at..end].chars().count();
        at = end;
    }
    Ok(count)
}

/// The byte where the character of this number begins, or the end of the text.
fn byte_of(text: &str, number: usize, stop: &AtomicBool) -> Result<usize> {
    let (mut at, mut left) = (0, number);
    while at < text.len() {
        go_on(stop)?;
        let end = boundary(text, at + PIECE);
        let piece = &text[at..end];
        let count = piece.chars().count();
        if left < count {
            let inside = piece.char_indices().nth(left);
            return Ok(at + inside.map_or(piece.len(), |(byte, _)| byte));
        }
        left -= count;
        at = end;
    }
    Ok(text.len())
}

/// The characters from one position up to, not including, another.
pub(super) fn part<'t>(text: &'t str, from: usize, to: usize, stop: &AtomicBool) -> Result<&'t str> {
    let begin = byte_of(text, from, stop)?;
    let rest = &text[begin..];
    let end = byte_of(rest, to.saturating_sub(from), stop)?;
    Ok(&rest[..end])
}

/// The byte where a text first stands in another, from a byte on.
fn found(text: &str, part: &str, from: usize, stop: &AtomicBool) -> Result<Option<usize>> {
    // Beside a long part its preparation counts, which each search begins with.
    let piece = PIECE.max(part.len().saturating_mul(4));
    let mut at = from;
    loop {
        go_on(stop)?;
        // What begins in this piece may end behind it.
        let last = boundary(text, at.saturating_add(piece));
        let end = boundary(text, last.saturating_add(part.len()));
        if let Some(found) = text[at..end].find(part) {
            return Ok(Some(at + found));
        }
        if last == text.len() {
            return Ok(None);
        }
        at = last;
    }
}

/// The position of the first occurrence, in characters.
pub(super) fn position(text: &str, part: &str, stop: &AtomicBool) -> Result<Option<usize>> {
    match found(text, part, 0, stop)? {
        Some(byte) => Ok(Some(length(&text[..byte], stop)?)),
        None => Ok(None),
    }
}

/// The text with each occurrence of one part replaced, from the left; how many there are if the result had more
/// than `most` bytes.
pub(super) fn replaced(
    text: &str,
    old: &str,
    new: &str,
    most: usize,
    stop: &AtomicBool,
) -> Result<std::result::Result<String, usize>> {
    let mut places = 0usize;
    let each = |place: &mut dyn FnMut(usize)| -> Result<()> {
        if old.is_empty() {
            // Nothing stands before each character, and at the end.
            let mut at = 0;
            while at < text.len() {
                go_on(stop)?;
                let end = boundary(text, at + PIECE);
                text[at..end].char_indices().for_each(|(byte, _)| place(at + byte));
                at = end;
            }
            place(text.len());
            return Ok(());
        }
        let mut at = 0;
        while let Some(next) = found(text, old, at, stop)? {
            place(next);
            at = next + old.len();
        }
        Ok(())
    };
    each(&mut |_| places += 1)?;
    let bytes = places
        .checked_mul(new.len())
        .and_then(|more| more.checked_add(text.len()))
        .and_then(|bytes| bytes.checked_sub(places.checked_mul(old.len())?));
    let Some(bytes) = bytes.filter(|bytes| *bytes <= most.max(text.len())) else { return Ok(Err(places)) };
    let mut out = String::with_capacity(bytes);
    let mut done = 0;
    each(&mut |next| {
        out.push_str(&text[done..next]);
        out.push_str(new);
        done = next + old.len();
    })?;
    out.push_str(&text[done..]);
    Ok(Ok(out))
}

/// The text so many times; its length has been checked.
pub(super) fn repeated(text: &str, times: usize, stop: &AtomicBool) -> Result<String> {
    let mut out = String::with_capacity(text.len() * times);
    // Short texts are gathered to a piece first.
    let block = text.repeat((PIECE / text.len().max(1)).clamp(1, times.max(1)));
    let whole = text.len() * times;
    while out.len() + block.len() <= whole && !block.is_empty() {
        go_on(stop)?;
        out.push_str(&block);
    }
    let rest = whole - out.len();
    out.push_str(&block[..rest]);
    Ok(out)
}

/// The text in another case.
pub(super) fn in_case(text: &str, change: impl Fn(&str) -> String, stop: &AtomicBool) -> Result<String> {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        go_on(stop)?;
        // The case of a letter may depend on the letters beside it, never on those behind a blank.
        let least = boundary(text, at + PIECE);
        let blank = text[least..].find([' ', '\n']).map_or(text.len(), |blank| least + blank + 1);
        out.push_str(&change(&text[at..blank]));
        at = blank;
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A text of several pieces, with characters of each length and parts that lie across the cuts.
    fn long() -> String {
        "aé漢𝄞 ΑΣ Σab\n".repeat(3 * PIECE / 20)
    }

    #[test]
    fn pieces_are_the_whole() {
        let (go, text) = (AtomicBool::new(false), long());
        for text in ["", "a", "é漢", "aaa", &text] {
            assert_eq!(length(text, &go).ok(), Some(text.chars().count()));
            for (from, to) in [(0, 3), (2, 1), (1, usize::MAX), (PIECE / 2, PIECE), (0, 0)] {
                let expected: String = text.chars().skip(from).take(to.saturating_sub(from)).collect();
                assert_eq!(part(text, from, to, &go).ok(), Some(expected.as_str()));
            }
            for word in ["a", "b\na", "漢𝄞", "aa", "zz", "", "Σab\n"] {
                let at = text.find(word).map(|byte| text[..byte].chars().count());
                assert_eq!(position(text, word, &go).ok(), Some(at), "{word}");
                for new in ["", "x", "漢漢"] {
                    let replaced =
                        replaced(text, word, new, usize::MAX / 2, &go).ok().and_then(|text| text.ok());
                    assert_eq!(replaced, Some(text.replace(word, new)), "{word} {new}");
                }
            }
            assert_eq!(in_case(text, str::to_lowercase, &go).ok(), Some(text.to_lowercase()));
            assert_eq!(in_case(text, str::to_uppercase, &go).ok(), Some(text.to_uppercase()));
        }
        for (text, times) in [("", 5), ("ab", 0), ("ab", 1), ("é", 7), ("abc", PIECE), (&text, 2)] {
            assert_eq!(repeated(text, times, &go).ok(), Some(text.repeat(times)));
        }
    }

    #[test]
    fn what_would_be_too_long_is_not_made() {
        let go = AtomicBool::new(false);
        assert_eq!(replaced("aaaa", "a", "xx", 7, &go).ok(), Some(Err(4)));
        assert_eq!(replaced("aaaa", "a", "xx", 8, &go).ok(), Some(Ok("xxxxxxxx".to_string())));
    }

    #[test]
    fn all_of_them_stop() {
        let (stop, text) = (AtomicBool::new(true), long());
        assert!(length(&text, &stop).is_err() && part(&text, 0, 5, &stop).is_err());
        assert!(position(&text, "zz", &stop).is_err() && replaced(&text, "a", "b", PIECE, &stop).is_err());
        assert!(repeated("ab", PIECE, &stop).is_err() && in_case(&text, str::to_lowercase, &stop).is_err());
    }
}
