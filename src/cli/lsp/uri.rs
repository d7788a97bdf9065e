//! URIs of files in the protocol: `file:///folder/a%20b.flx`.
//!
//! Converts paths to URIs and back. A URI that is not of a file has no path.

use lsp_types::Uri;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// The characters that are percent-encoded: all that may have a meaning in a URI. Editors compare
/// URIs as texts.
const CODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/');

/// Returns the path of the file of a URI.
pub fn path(uri: &Uri) -> Option<PathBuf> {
    let rest = uri.as_str().strip_prefix("file://")?;
    // A host may precede the path; for files of this machine it is empty.
    let rest = &rest[rest.find('/')?..];
    let rest = rest.split(['?', '#']).next().unwrap_or(rest);
    let text = percent_decode_str(rest).decode_utf8().ok()?;
    // On Windows, `/c:/folder` denotes `c:/folder`.
    let drive = text.as_bytes().get(2) == Some(&b':') && text.as_bytes()[1].is_ascii_alphabetic();
    Some(PathBuf::from(if drive && cfg!(windows) { &text[1..] } else { &text }))
}

/// Returns the URI of a file.
pub fn of(path: &Path) -> Option<Uri> {
    let text = path.to_str()?.replace('\\', if cfg!(windows) { "/" } else { "\\" });
    let root = if text.starts_with('/') { "file://" } else { "file:///" };
    Uri::from_str(&format!("{root}{}", utf8_percent_encode(&text, CODED))).ok()
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::str::FromStr;

    #[test]
    fn paths_and_uris_are_inverses() {
        for file in ["/a/b.flx", "/a b/ü%20#?.flx", "/𝒳/c:d.flx", "/[a]|^/b~-_.flx"] {
            let uri = super::of(Path::new(file)).expect("a URI");
            assert_eq!(super::path(&uri).expect("a path"), Path::new(file), "{}", uri.as_str());
        }
        let coded = super::of(Path::new("/a b/[ü]")).expect("a URI");
        assert_eq!(coded.as_str(), "file:///a%20b/%5B%C3%BC%5D");
        let odd = lsp_types::Uri::from_str("file://host/a%2Fb%7e?x#y").expect("a URI");
        assert_eq!(super::path(&odd).expect("a path"), Path::new("/a/b~"));
        let untitled = lsp_types::Uri::from_str("untitled:Untitled-1").expect("a URI");
        assert_eq!(super::path(&untitled), None);
    }
}
