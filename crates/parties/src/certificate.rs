//! The certificate and the private key of a party, as files.
//!
//! Takes a name and a folder; writes two files that were not there. Certificates are signed by
//! their own keys, and compared with the files of the others byte by byte: no authority is asked,
//! and no date expires.

use rcgen::{CertificateParams, DistinguishedName, DnType, KeyPair, PKCS_ED25519};
use std::fmt;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

/// The length of the name of a party in bytes at most.
pub const MAX_NAME_BYTES: usize = 64;

/// The files that were written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreatedFiles {
    /// The file of the certificate: all parties need it.
    pub certificate: PathBuf,
    /// The file of the private key: nobody else may have it.
    pub key: PathBuf,
    /// The lines of `parties.toml` on the party's own machine.
    pub own_lines: String,
    /// The lines of `parties.toml` on the machines of the others.
    pub others_lines: String,
}

/// The reason why there is no certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CertificateError {
    /// The name has other characters than letters, digits and `_`, or too many.
    Name {
        /// The name.
        name: String,
    },
    /// The certificate could not be made.
    Unmade {
        /// The reason, as text.
        why: String,
    },
    /// A file cannot be written, or is there already.
    Unwritable {
        /// The file.
        path: PathBuf,
        /// The reason, as text.
        why: String,
    },
}

impl fmt::Display for CertificateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CertificateError::Name { name } => write!(
                f,
                "the name of a party has at most {MAX_NAME_BYTES} letters, digits and `_`, unlike `{}`",
                name.escape_debug()
            ),
            CertificateError::Unmade { why } => write!(f, "the certificate cannot be made: {why}"),
            CertificateError::Unwritable { path, why } => {
                write!(f, "{} cannot be written: {why}", path.display())
            }
        }
    }
}

impl std::error::Error for CertificateError {}

/// Creates the files `NAME.pem` and `NAME.key` in a folder; only the owner can read the second. The
/// address goes into the lines for `parties.toml`.
///
/// # Errors
/// The name is no name, or a file is there already or cannot be written.
pub fn create_certificate(
    folder: &Path,
    name: &str,
    address: &str,
) -> Result<CreatedFiles, CertificateError> {
    let valid = |c: char| c.is_alphanumeric() || c == '_';
    if name.is_empty() || name.len() > MAX_NAME_BYTES || !name.chars().all(valid) {
        return Err(CertificateError::Name { name: name.into() });
    }
    let unmade = |error: rcgen::Error| CertificateError::Unmade { why: error.to_string() };
    let pair = KeyPair::generate_for(&PKCS_ED25519).map_err(unmade)?;
    let mut params = CertificateParams::default();
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, name);
    let signed = params.self_signed(&pair).map_err(unmade)?;
    let created = CreatedFiles {
        certificate: folder.join(format!("{name}.pem")),
        key: folder.join(format!("{name}.key")),
        own_lines: lines(name, address, true),
        others_lines: lines(name, address, false),
    };
    write_new(&created.key, &pem("PRIVATE KEY", &pair.serialize_der()), true)?;
    if let Err(error) = write_new(&created.certificate, &pem("CERTIFICATE", signed.der()), false) {
        // A key without its certificate is of no use, and would be in the way of the next attempt.
        let _ = std::fs::remove_file(&created.key);
        return Err(error);
    }
    Ok(created)
}

fn lines(name: &str, address: &str, own: bool) -> String {
    // A name outside ASCII is no bare key of TOML; the text of an address needs the same escapes.
    let quoted = |text: &str| format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""));
    let table = if name.is_ascii() { name.to_string() } else { quoted(name) };
    let mut lines = format!("[{table}]\naddress = {}\ncertificate = \"{name}.pem\"\n", quoted(address));
    if own {
        lines += &format!("key = \"{name}.key\"\n");
    }
    lines
}

fn write_new(path: &Path, text: &str, secret: bool) -> Result<(), CertificateError> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    if secret {
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    }
    #[cfg(not(unix))]
    let _ = secret;
    let written = options.open(path).and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|error| CertificateError::Unwritable { path: path.into(), why: error.to_string() })
}

/// Writes bytes as a section of PEM: base 64 in lines of 64 characters.
fn pem(label: &str, bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = format!("-----BEGIN {label}-----\n");
    for line in bytes.chunks(48) {
        for group in line.chunks(3) {
            let byte = |at: usize| u32::from(group.get(at).copied().unwrap_or(0));
            let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
            for digit in 0..4 {
                let used = digit <= group.len();
                text.push(if used { DIGITS[(bits >> (18 - 6 * digit) & 63) as usize].into() } else { '=' });
            }
        }
        text.push('\n');
    }
    text + &format!("-----END {label}-----\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use rustls::pki_types::pem::PemObject;
    use rustls::pki_types::{CertificateDer, PrivateKeyDer};

    #[test]
    fn what_is_created_is_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let created = create_certificate(folder.path(), "alice", "192.0.2.1:4000").expect("files");
        CertificateDer::from_pem_file(&created.certificate).expect("a certificate");
        PrivateKeyDer::from_pem_file(&created.key).expect("a key");
        let config = Config::parse(&created.own_lines, folder.path()).expect("lines");
        let entry = config.entry("alice").expect("an entry");
        assert_eq!((&entry.certificate, entry.key.as_ref()), (&created.certificate, Some(&created.key)));
        let config = Config::parse(&created.others_lines, folder.path()).expect("lines");
        assert_eq!(config.entry("alice").expect("an entry").key, None);
    }

    #[cfg(unix)]
    #[test]
    fn only_the_owner_reads_the_key() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().expect("a folder");
        let created = create_certificate(folder.path(), "bob", "b:1").expect("files");
        let mode = std::fs::metadata(&created.key).expect("a file").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn no_file_is_replaced() {
        let folder = tempfile::tempdir().expect("a folder");
        let created = create_certificate(folder.path(), "carol", "c:1").expect("files");
        let key = std::fs::read(&created.key).expect("a key");
        let again = create_certificate(folder.path(), "carol", "c:1").expect_err("no files");
        assert!(matches!(again, CertificateError::Unwritable { .. }));
        assert_eq!(std::fs::read(&created.key).expect("a key"), key);
        // With the certificate alone in the way, no key is left behind.
        std::fs::remove_file(&created.key).expect("removed");
        create_certificate(folder.path(), "carol", "c:1").expect_err("no files");
        assert!(!created.key.exists());
    }

    #[test]
    fn a_name_is_no_path() {
        let folder = tempfile::tempdir().expect("a folder");
        for name in ["", "../x", "a b", "a/b", "a.b", &"a".repeat(MAX_NAME_BYTES + 1)] {
            let error = create_certificate(folder.path(), name, "c:1").expect_err("no files");
            assert_eq!(error, CertificateError::Name { name: name.into() });
        }
    }

    #[test]
    fn quotes_in_an_address_stay_inside() {
        let lines = lines("ålice", "a\"\\:1", true);
        let config = Config::parse(&lines, Path::new("")).expect("lines");
        assert_eq!(config.entry("ålice").expect("an entry").address, "a\"\\:1");
    }

    #[test]
    fn pem_is_base_64() {
        for (bytes, digits) in [("", ""), ("M", "TQ==\n"), ("Ma", "TWE=\n"), ("Man", "TWFu\n")] {
            let text = pem("X", bytes.as_bytes());
            assert_eq!(text, format!("-----BEGIN X-----\n{digits}-----END X-----\n"));
        }
    }
}
