//! Files as the protocol names them: `file:///folder/a%20b.flx`.
//!
//! Takes paths and URIs; gives the other. What is no file has no path.

use lsp_types::Uri;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// The file that a URI names.
pub fn path(uri: &Uri) -> Option<PathBuf> {
    let rest = uri.as_str().strip_prefix("file://")?;
    // A host may stand before the path; of files of this machine it is empty.
    let rest = &rest[rest.find('/')?..];
    let rest = rest.split(['?', '#']).next().unwrap_or(rest);
    let mut bytes = Vec::with_capacity(rest.len());
    let mut left = rest.as_bytes();
    while let [first, tail @ ..] = left {
        let code =
            tail.get(..2).filter(|_| *first == b'%').and_then(|digits| std::str::from_utf8(digits).ok());
        match code.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                left = &tail[2..];
            }
            None => {
                bytes.push(*first);
                left = tail;
            }
        }
    }
    let text = String::from_utf8(bytes).ok()?;
    // `/c:/folder` is `c:/folder`.
    let drive = text.as_bytes().get(2) == Some(&b':') && text.as_bytes()[1].is_ascii_alphabetic();
    Some(PathBuf::from(if drive && cfg!(windows) { &text[1..] } else { &text }))
}

/// The URI of a file.
pub fn of(path: &Path) -> Option<Uri> {
    let text = path.to_str()?.replace('\\', if cfg!(windows) { "/" } else { "\\" });
    let mut out = String::from(if text.starts_with('/') { "file://" } else { "file:///" });
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                out.push(byte.into())
            }
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    Uri::from_str(&out).ok()
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::str::FromStr;

    #[test]
    fn paths_and_uris_are_inverses() {
        for file in ["/a/b.flx", "/a b/ü%20#?.flx", "/𝒳/c:d.flx"] {
            let uri = super::of(Path::new(file)).expect("a URI");
            assert_eq!(super::path(&uri).expect("a path"), Path::new(file), "{}", uri.as_str());
        }
        let untitled = lsp_types::Uri::from_str("untitled:Untitled-1").expect("a URI");
        assert_eq!(super::path(&untitled), None);
    }
}
