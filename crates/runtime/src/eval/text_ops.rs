//! Primitives on texts as bytes and as Unicode: hashes, Base64, normal forms.

use super::error::Failure;
use std::sync::atomic::{AtomicBool, Ordering};
use unicode_normalization::UnicodeNormalization;

/// The characters of Base64 (RFC 4648), by their values.
const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Returns bytes in Base64, filled with `=`.
pub(super) fn to_base64(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let word =
            group.iter().enumerate().fold(0u32, |word, (at, byte)| word | u32::from(*byte) << (16 - 8 * at));
        for at in 0..4 {
            match at <= group.len() {
                true => out.push(char::from(BASE64[(word >> (18 - 6 * at)) as usize & 63])),
                false => out.push('='),
            }
        }
    }
    out
}

/// Returns the text whose UTF-8 bytes a Base64 stands for; `None` if it is none.
pub(super) fn from_base64(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    if !bytes.len().is_multiple_of(4) {
        return None;
    }
    let content = text.trim_end_matches('=');
    let filled = bytes.len() - content.len();
    if filled > 2 {
        return None;
    }
    let mut out = Vec::with_capacity(content.len() / 4 * 3 + 2);
    let (mut word, mut bits) = (0u32, 0);
    for byte in content.bytes() {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        word = (word << 6 | u32::from(value)) & 0xffff;
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            out.push((word >> bits) as u8);
        }
    }
    // Bits that stand for no byte are 0, so that a text has one Base64.
    let rest = word & ((1 << bits) - 1);
    if rest != 0 { None } else { String::from_utf8(out).ok() }
}

/// The number of characters between two polls of the interrupt flag.
const CHARS_PER_POLL: usize = 1 << 16;

/// Returns a text in a normal form of Unicode: 0 is NFC, 1 is NFD, 2 is NFKC, 3 is NFKD.
pub(super) fn normalize(text: &str, form: i64, stop: &AtomicBool) -> Result<String, Failure> {
    let collect = |characters: &mut dyn Iterator<Item = char>| {
        let mut out = String::with_capacity(text.len());
        for (at, c) in characters.enumerate() {
            if at.is_multiple_of(CHARS_PER_POLL) && stop.load(Ordering::Relaxed) {
                return Err(Failure::Interrupted);
            }
            out.push(c);
        }
        Ok(out)
    };
    match form {
        0 => collect(&mut text.nfc()),
        1 => collect(&mut text.nfd()),
        2 => collect(&mut text.nfkc()),
        3 => collect(&mut text.nfkd()),
        _ => Err(Failure::Failed { message: format!("there is no normal form {form}") }),
    }
}

/// Returns the SHA-256 hash of bytes (FIPS 180-4), as hexadecimal digits.
pub(super) fn sha256(bytes: &[u8], stop: &AtomicBool) -> Result<String, Failure> {
    let [constants, mut state] = [constants(64, 3), constants(8, 2)];
    let mut tail = bytes[bytes.len() / 64 * 64..].to_vec();
    tail.push(0x80);
    tail.resize(tail.len().next_multiple_of(64) + if tail.len() % 64 > 56 { 64 } else { 0 }, 0);
    let end = tail.len() - 8;
    tail[end..].copy_from_slice(&(bytes.len() as u64 * 8).to_be_bytes());
    for (at, block) in bytes.chunks_exact(64).chain(tail.chunks_exact(64)).enumerate() {
        if at.is_multiple_of(CHARS_PER_POLL) && stop.load(Ordering::Relaxed) {
            return Err(Failure::Interrupted);
        }
        compress(&mut state, &constants, block);
    }
    Ok(state.iter().map(|word| format!("{word:08x}")).collect())
}

/// Returns the first 32 bits of the fractional parts of the square or cube roots of the first
/// primes.
fn constants(count: usize, root: u32) -> Vec<u32> {
    let is_prime = |n: &u128| (2..*n).take_while(|d| d * d <= *n).all(|d| !n.is_multiple_of(d));
    let fraction = |prime: u128| {
        // The largest integer whose power is at most prime * 2^(32 * root).
        let (mut low, mut high) = (0u128, 1u128 << 40);
        let bound = prime << (32 * root);
        while high - low > 1 {
            let middle = (low + high) / 2;
            if middle.pow(root) <= bound { low = middle } else { high = middle }
        }
        low as u32
    };
    (2u128..).filter(is_prime).take(count).map(fraction).collect()
}

/// Adds a block of 64 bytes to the state.
fn compress(state: &mut [u32], constants: &[u32], block: &[u8]) {
    let mut words = [0u32; 64];
    for (word, bytes) in words.iter_mut().zip(block.chunks_exact(4)) {
        *word = u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    }
    for t in 16..64 {
        let (a, b) = (words[t - 15], words[t - 2]);
        let small = a.rotate_right(7) ^ a.rotate_right(18) ^ (a >> 3);
        let large = b.rotate_right(17) ^ b.rotate_right(19) ^ (b >> 10);
        words[t] = words[t - 16].wrapping_add(small).wrapping_add(words[t - 7]).wrapping_add(large);
    }
    let mut round = [0u32; 8];
    round.copy_from_slice(state);
    for (word, constant) in words.iter().zip(constants) {
        let [a, b, c, d, e, f, g, h] = round;
        let upper = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
        let chosen = (e & f) ^ (!e & g);
        let first = h.wrapping_add(upper).wrapping_add(chosen).wrapping_add(*constant).wrapping_add(*word);
        let lower = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
        let second = lower.wrapping_add((a & b) ^ (a & c) ^ (b & c));
        round = [first.wrapping_add(second), a, b, c, d.wrapping_add(first), e, f, g];
    }
    state.iter_mut().zip(round).for_each(|(word, added)| *word = word.wrapping_add(added));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_those_of_the_standard() {
        let stop = AtomicBool::new(false);
        let hash = |text: &str| sha256(text.as_bytes(), &stop).expect("a hash");
        assert_eq!(hash(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        assert_eq!(hash("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(
            hash("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        );
        let million = "a".repeat(1_000_000);
        assert_eq!(hash(&million), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
        // Lengths around the end of a block.
        let by_length: std::collections::HashSet<String> = (50..130).map(|n| hash(&million[..n])).collect();
        assert_eq!(by_length.len(), 80);
        assert_eq!(hash(&million[..55]), "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318");
        assert_eq!(hash(&million[..56]), "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a");
    }

    #[test]
    fn normal_forms_are_those_of_the_version_in_the_book() {
        assert_eq!(unicode_normalization::UNICODE_VERSION, (18, 0, 0));
        let book = include_str!("../../../../book/src/text.md");
        assert!(book.contains("(Unicode 18.0.0)"));
        let stop = AtomicBool::new(false);
        assert_eq!(normalize("e\u{301}", 0, &stop).ok().as_deref(), Some("\u{e9}"));
    }

    #[test]
    fn base64_is_that_of_the_standard() {
        for (plain, coded) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("é漢𝄞", "w6nmvKLwnYSe"),
        ] {
            assert_eq!(to_base64(plain.as_bytes()), coded);
            assert_eq!(from_base64(coded).as_deref(), Some(plain));
        }
        for wrong in ["Z", "Zg=", "Zg", "Zh==", "Z===", "====", "Zg==Zg==", "Zm9*", "/w=="] {
            assert_eq!(from_base64(wrong), None, "{wrong}");
        }
    }
}
