//! Operations on texts of any length, in chunks between which the interrupt flag is polled.

use super::error::Failure;
use super::prim::MAX_STRING_BYTES;
use crate::value::{Buffer, Class, Value};
use std::sync::atomic::{AtomicBool, Ordering};

type Result<T> = std::result::Result<T, Failure>;

/// The number of bytes of a chunk.
const CHUNK_BYTES: usize = 1 << 20;

/// Fails if the interrupt flag is set.
fn poll_interrupt(stop: &AtomicBool) -> Result<()> {
    if stop.load(Ordering::Relaxed) { Err(Failure::Interrupted) } else { Ok(()) }
}

/// Returns the character of a code point.
///
/// # Errors
///
/// A number that is no code point.
pub fn character(point: i64) -> Result<char> {
    let found = u32::try_from(point).ok().and_then(char::from_u32);
    found.ok_or_else(|| Failure::NoCharacter { code: point.to_string() })
}

/// Returns the text of an array of code points, at least one.
///
/// # Errors
///
/// The first number that is no code point; a text that would be too long; an interrupt.
pub fn text_of(points: &Value, stop: &AtomicBool) -> Result<Value> {
    let (many, one);
    let points: &[u64] = match points {
        Value::Seq(seq) => {
            let memory = || super::arithmetic::memory_failure(seq.len(), 8, MAX_STRING_BYTES as u64);
            many = seq.to_sole_buffer(Class::Word).ok_or_else(memory)?;
            let Buffer::Word(slots) = &many else { unreachable!("a buffer of words") };
            slots
        }
        // An array of one element is that element.
        value => {
            one = [value.word()];
            &one
        }
    };
    let mut out = String::with_capacity(points.len());
    for chunk in points.chunks(CHUNK_BYTES) {
        poll_interrupt(stop)?;
        for point in chunk {
            out.push(character(*point as i64)?);
        }
        if out.len() > MAX_STRING_BYTES {
            return Err(super::arithmetic::memory_failure(points.len(), 1, MAX_STRING_BYTES as u64));
        }
    }
    Ok(Value::str(out))
}

/// Returns the offset of the first character at or after a byte, or the end.
fn next_char_boundary(text: &str, mut at: usize) -> usize {
    at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at += 1;
    }
    at
}

/// Returns a text without the blanks around it.
fn trim<'t>(text: &'t str, stop: &AtomicBool) -> Result<&'t str> {
    let (mut start, mut end) = (0, text.len());
    while start < end {
        let piece = &text[start..next_char_boundary(text, start + CHUNK_BYTES).min(end)];
        let rest = piece.trim_start();
        start += piece.len() - rest.len();
        if !rest.is_empty() {
            break;
        }
        poll_interrupt(stop)?;
    }
    while start < end {
        let from = next_char_boundary(text, end.saturating_sub(CHUNK_BYTES).max(start));
        let piece = &text[if from < end { from } else { start }..end];
        let rest = piece.trim_end();
        end -= piece.len() - rest.len();
        if !rest.is_empty() {
            break;
        }
        poll_interrupt(stop)?;
    }
    Ok(&text[start..end])
}

/// Parses a `real`; `None` if the text is none.
pub(super) fn parse_real(text: &str, stop: &AtomicBool) -> Result<Option<f64>> {
    let text = trim(text, stop)?;
    if text.len() <= CHUNK_BYTES {
        return Ok(text.parse().ok());
    }
    parse_long_real(text, stop)
}

/// The number of significant digits that decide the rounding: no binary64 number, and no midpoint
/// of two, has more.
const MAX_SIGNIFICANT_DIGITS: usize = 800;

/// Parses a long text. Digits beyond [`MAX_SIGNIFICANT_DIGITS`] decide only the direction of
/// rounding.
fn parse_long_real(text: &str, stop: &AtomicBool) -> Result<Option<f64>> {
    /// An exponent beyond this bound makes a number 0 or infinite.
    const MAX_EXPONENT: i64 = 1 << 50;
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let mut digits = String::new();
    let (mut any, mut more, mut fraction) = (false, false, false);
    let (mut shift, mut exponent): (i64, Option<(bool, i64)>) = (0, None);
    let mut bytes = unsigned.bytes().enumerate().peekable();
    while let Some((at, byte)) = bytes.next() {
        if at % CHUNK_BYTES == 0 {
            poll_interrupt(stop)?;
        }
        match (byte, &mut exponent) {
            (b'0'..=b'9', Some((_, exponent))) => {
                *exponent = (*exponent * 10 + i64::from(byte - b'0')).min(MAX_EXPONENT);
            }
            (b'0'..=b'9', None) => {
                any = true;
                let kept = digits.len() < MAX_SIGNIFICANT_DIGITS && (byte != b'0' || !digits.is_empty());
                if kept {
                    digits.push(byte.into());
                } else if !digits.is_empty() {
                    more |= byte != b'0';
                }
                let dropped = !kept && !digits.is_empty();
                shift += i64::from(dropped) - i64::from(fraction);
            }
            (b'.', None) if !fraction => fraction = true,
            (b'e' | b'E', None) if any => {
                let negative = bytes.next_if(|(_, sign)| matches!(*sign, b'+' | b'-'));
                exponent = Some((negative.is_some_and(|(_, sign)| sign == b'-'), 0));
                if !bytes.peek().is_some_and(|(_, digit)| digit.is_ascii_digit()) {
                    return Ok(None);
                }
            }
            _ => return Ok(None),
        }
    }
    if !any {
        return Ok(None);
    }
    let exponent = exponent.map_or(0, |(negative, n)| if negative { -n } else { n });
    let sign = if text.starts_with('-') { "-" } else { "" };
    let last = if more { '1' } else { '0' };
    // Beyond these bounds every number is 0 or infinite.
    let exponent = (exponent + shift - 1).clamp(-100_000, 100_000);
    Ok(format!("{sign}0{digits}{last}e{exponent}").parse().ok())
}

/// Returns the offset of the first occurrence of `part` from a byte on.
pub(super) fn find_from(text: &str, part: &str, from: usize, stop: &AtomicBool) -> Result<Option<usize>> {
    // Each search preprocesses `part`, so chunks are longer for a long part.
    let piece = CHUNK_BYTES.max(part.len().saturating_mul(4));
    let mut at = from;
    loop {
        poll_interrupt(stop)?;
        // An occurrence may begin in this chunk and end behind it.
        let last = next_char_boundary(text, at.saturating_add(piece));
        let end = next_char_boundary(text, last.saturating_add(part.len()));
        if let Some(found) = text[at..end].find(part) {
            return Ok(Some(at + found));
        }
        if last == text.len() {
            return Ok(None);
        }
        at = last;
    }
}

/// Replaces each occurrence of `old` from the left. Returns the number of occurrences as an error
/// if the result had more than `most` bytes.
pub(super) fn replace_all(
    text: &str,
    old: &str,
    new: &str,
    most: usize,
    stop: &AtomicBool,
) -> Result<std::result::Result<String, usize>> {
    let mut places = 0usize;
    let each = |place: &mut dyn FnMut(usize)| -> Result<()> {
        if old.is_empty() {
            // The empty text occurs before each character, and at the end.
            let mut at = 0;
            while at < text.len() {
                poll_interrupt(stop)?;
                let end = next_char_boundary(text, at + CHUNK_BYTES);
                text[at..end].char_indices().for_each(|(byte, _)| place(at + byte));
                at = end;
            }
            place(text.len());
            return Ok(());
        }
        let mut at = 0;
        while let Some(next) = find_from(text, old, at, stop)? {
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

/// Repeats a text. The caller has checked the length.
pub(super) fn repeat(text: &str, times: usize, stop: &AtomicBool) -> Result<String> {
    let mut out = String::with_capacity(text.len() * times);
    // Short texts are first repeated to a chunk.
    let block = text.repeat((CHUNK_BYTES / text.len().max(1)).clamp(1, times.max(1)));
    let whole = text.len() * times;
    while out.len() + block.len() <= whole && !block.is_empty() {
        poll_interrupt(stop)?;
        out.push_str(&block);
    }
    let rest = whole - out.len();
    out.push_str(&block[..rest]);
    Ok(out)
}

/// Converts the case of a text.
pub(super) fn convert_case(text: &str, change: impl Fn(&str) -> String, stop: &AtomicBool) -> Result<String> {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        poll_interrupt(stop)?;
        // The case of a letter may depend on its neighbors, but never across a blank.
        let least = next_char_boundary(text, at + CHUNK_BYTES);
        let blank = text[least..].find([' ', '\n']).map_or(text.len(), |blank| least + blank + 1);
        out.push_str(&change(&text[at..blank]));
        at = blank;
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Text;

    /// A text of several pieces, with characters of each length and parts that lie across the cuts.
    fn long() -> String {
        "aé漢𝄞 ΑΣ Σab\n".repeat(3 * CHUNK_BYTES / 20)
    }

    #[test]
    fn pieces_are_the_whole() {
        let (go, text) = (AtomicBool::new(false), long());
        for text in ["", "a", "é漢", "aaa", &text] {
            let indexed = Text::from(text);
            assert!(indexed.ensure_index(|| poll_interrupt(&go)).is_ok());
            assert_eq!(indexed.char_count(), text.chars().count());
            for (from, to) in [(0, 3), (2, 1), (1, usize::MAX), (CHUNK_BYTES / 2, CHUNK_BYTES), (0, 0)] {
                let expected: String = text.chars().skip(from).take(to.saturating_sub(from)).collect();
                assert_eq!(indexed.char_range(from, to), expected);
            }
            for word in ["a", "b\na", "漢𝄞", "aa", "zz", "", "Σab\n"] {
                assert_eq!(find_from(text, word, 0, &go).ok(), Some(text.find(word)), "{word}");
                for new in ["", "x", "漢漢"] {
                    let replaced =
                        replace_all(text, word, new, usize::MAX / 2, &go).ok().and_then(|text| text.ok());
                    assert_eq!(replaced, Some(text.replace(word, new)), "{word} {new}");
                }
            }
            assert_eq!(convert_case(text, str::to_lowercase, &go).ok(), Some(text.to_lowercase()));
            assert_eq!(convert_case(text, str::to_uppercase, &go).ok(), Some(text.to_uppercase()));
        }
        for (text, times) in [("", 5), ("ab", 0), ("ab", 1), ("é", 7), ("abc", CHUNK_BYTES), (&text, 2)] {
            assert_eq!(repeat(text, times, &go).ok(), Some(text.repeat(times)));
        }
    }

    #[test]
    fn what_would_be_too_long_is_not_made() {
        let go = AtomicBool::new(false);
        assert_eq!(replace_all("aaaa", "a", "xx", 7, &go).ok(), Some(Err(4)));
        assert_eq!(replace_all("aaaa", "a", "xx", 8, &go).ok(), Some(Ok("xxxxxxxx".to_string())));
    }

    #[test]
    fn all_of_them_stop() {
        let (stop, text) = (AtomicBool::new(true), long());
        assert!(Text::from(&*text).ensure_index(|| poll_interrupt(&stop)).is_err());
        assert!(
            find_from(&text, "zz", 0, &stop).is_err()
                && replace_all(&text, "a", "b", CHUNK_BYTES, &stop).is_err()
        );
        assert!(
            repeat("ab", CHUNK_BYTES, &stop).is_err()
                && convert_case(&text, str::to_lowercase, &stop).is_err()
        );
    }

    #[test]
    fn long_texts_are_the_reals_that_short_ones_are() {
        let stop = AtomicBool::new(false);
        let long = |text: &str| parse_long_real(text, &stop).ok().flatten().map(f64::to_bits);
        let short = |text: &str| text.parse::<f64>().ok().map(f64::to_bits);
        let mut random = fastrand::Rng::with_seed(1);
        for _ in 0..20_000 {
            let length = random.usize(0..12);
            let text: String =
                (0..length).map(|_| *random.choice(b"0123456789.e+-0").unwrap_or(&b'0') as char).collect();
            assert_eq!(long(&text), short(&text), "{text}");
        }
        // Half way between two reals, and a little more or less, far behind.
        for half in ["9007199254740993", "0.500000000000000055511151231257827021181583404541015625"] {
            for zeros in [0, 700, 900, 5_000] {
                let point = if half.contains('.') { "" } else { "." };
                for end in ["", "1", "e-3", "1e+2"] {
                    let text = format!("{half}{point}{}{end}", "0".repeat(zeros));
                    assert_eq!(long(&text), short(&text), "{half} {zeros} {end}");
                }
            }
        }
        for text in ["1", "3.25", ".5", "7e5", "-2."] {
            let padded = format!("{}{text}", if text.starts_with('-') { "" } else { "000" });
            assert_eq!(long(&padded), short(&padded));
        }
        let zeros = "0".repeat(2_000);
        for text in [
            format!("1{zeros}e-2000"),
            format!("0.{zeros}1e2001"),
            format!("1{zeros}"),
            format!("0.{zeros}1"),
        ] {
            assert_eq!(long(&text), short(&text));
        }
    }

    #[test]
    fn blanks_around_a_text_are_taken_away() {
        let stop = AtomicBool::new(false);
        for text in ["", " ", " a", "a ", "  é \u{2003}", "a b"] {
            assert_eq!(trim(text, &stop).ok(), Some(text.trim()));
        }
        let long = format!("{}x{}", "\u{2003}".repeat(CHUNK_BYTES), " ".repeat(CHUNK_BYTES + 1));
        assert_eq!(trim(&long, &stop).ok(), Some("x"));
    }
}
