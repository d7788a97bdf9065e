//! The file `parties.toml`: where each party is, and what proves that it is that party.
//!
//! Takes a text; gives an entry for each party, with the paths as seen from the folder of the file.
//! Never opens a certificate and never connects.
//!
//! ```toml
//! [alice]
//! address = "192.0.2.1:4000"    # where the others reach her
//! certificate = "alice.pem"
//! key = "alice.key"             # on her own machine only
//! folder = "data"               # where her files are; likewise
//! listen = "0.0.0.0:4000"       # if she cannot listen on `address`; likewise
//! ```

use crate::suggest::similar;
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

/// The size of the file in bytes at most.
const MAX_FILE_BYTES: u64 = 1 << 20;

/// The number of brackets that are open at once, and of dots in a line, at most. The parser of TOML
/// calls itself for each of them; tables of texts need one bracket.
const MAX_NESTING: usize = 64;

/// The keys of an entry, those that each entry must have first.
const KEYS: [&str; 5] = ["address", "certificate", "key", "folder", "listen"];

/// The number of keys that each entry must have.
const REQUIRED: usize = 2;

/// The entry of one party in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Address at which the others reach the party: `host:port`.
    pub address: String,
    /// The file of its certificate.
    pub certificate: PathBuf,
    /// The file of its private key.
    pub key: Option<PathBuf>,
    /// The folder of its files.
    pub folder: Option<PathBuf>,
    /// Address at which it listens, if not at the one above.
    pub listen: Option<String>,
}

/// The file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Config {
    /// The entry of each party by its name.
    pub parties: BTreeMap<String, Entry>,
}

/// The reason why there is no configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConfigError {
    /// The file cannot be read.
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The reason, as text.
        why: String,
    },
    /// The text is not TOML, or holds something else than tables of texts.
    Malformed {
        /// The reason and its place, as text.
        why: String,
    },
    /// A party has a key that means nothing.
    UnknownKey {
        /// The party.
        party: String,
        /// The key.
        key: String,
        /// The key that may be meant.
        similar: Option<String>,
    },
    /// A party lacks a key.
    MissingKey {
        /// The party.
        party: String,
        /// The key.
        key: &'static str,
    },
    /// An address is not `host:port`.
    Address {
        /// The party.
        party: String,
        /// The text in place of the address.
        address: String,
    },
    /// There is no entry for a party.
    MissingParty {
        /// The party.
        party: String,
        /// The entry that may be meant.
        similar: Option<String>,
    },
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let perhaps = |f: &mut fmt::Formatter<'_>, similar: &Option<String>| match similar {
            Some(name) => write!(f, "; perhaps `{}` is meant", name.escape_debug()),
            None => Ok(()),
        };
        match self {
            ConfigError::Unreadable { path, why } => write!(f, "{} cannot be read: {why}", path.display()),
            ConfigError::Malformed { why } => write!(f, "the file of parties is malformed: {why}"),
            ConfigError::UnknownKey { party, key, similar } => {
                let (party, key) = (party.escape_debug(), key.escape_debug());
                write!(f, "the entry of {party} has an unknown key `{key}`")?;
                perhaps(f, similar)
            }
            ConfigError::MissingKey { party, key } => {
                write!(f, "the entry of {} lacks the key `{key}`", party.escape_debug())
            }
            ConfigError::Address { party, address } => write!(
                f,
                "the address of {} is `host:port` such as \"192.0.2.1:4000\", not \"{}\"",
                party.escape_debug(),
                address.escape_debug()
            ),
            ConfigError::MissingParty { party, similar } => {
                write!(f, "the file of parties has no entry for {party}")?;
                perhaps(f, similar)
            }
        }
    }
}

impl std::error::Error for ConfigError {}

impl Config {
    /// Reads a file.
    ///
    /// # Errors
    /// The file cannot be read or says something else.
    pub fn read(path: &Path) -> Result<Config, ConfigError> {
        let unreadable =
            |why: &dyn fmt::Display| ConfigError::Unreadable { path: path.into(), why: why.to_string() };
        let size = std::fs::metadata(path).map_err(|error| unreadable(&error))?.len();
        if size > MAX_FILE_BYTES {
            return Err(unreadable(&format_args!("it has more than {MAX_FILE_BYTES} bytes")));
        }
        let text = std::fs::read_to_string(path).map_err(|error| unreadable(&error))?;
        Config::parse(&text, path.parent().unwrap_or(Path::new("")))
    }

    /// Reads the text of a file that lies in `folder`.
    ///
    /// # Errors
    /// The text says something else.
    pub fn parse(text: &str, folder: &Path) -> Result<Config, ConfigError> {
        if let Some(line) = too_nested(text) {
            return Err(ConfigError::Malformed { why: format!("too many brackets or dots at line {line}") });
        }
        let tables: BTreeMap<String, BTreeMap<String, String>> =
            basic_toml::from_str(text).map_err(|error| ConfigError::Malformed { why: error.to_string() })?;
        let entry = |(party, table)| Ok((String::clone(&party), Entry::new(party, table, folder)?));
        Ok(Config { parties: tables.into_iter().map(entry).collect::<Result<_, _>>()? })
    }

    /// Returns the entry of a party.
    ///
    /// # Errors
    /// There is none.
    pub fn entry(&self, party: &str) -> Result<&Entry, ConfigError> {
        self.parties.get(party).ok_or_else(|| ConfigError::MissingParty {
            party: party.into(),
            similar: similar(party, self.parties.keys().map(String::as_str)),
        })
    }
}

/// Returns the first line with more nesting than [`MAX_NESTING`]; brackets in texts count, too.
fn too_nested(text: &str) -> Option<usize> {
    let mut depth = 0usize;
    let lines = (1..).zip(text.lines());
    let deep = lines.filter(|(_, line)| {
        let mut deepest = line.matches('.').count();
        for byte in line.bytes() {
            match byte {
                b'[' | b'{' => depth += 1,
                b']' | b'}' => depth = depth.saturating_sub(1),
                _ => {}
            }
            deepest = deepest.max(depth);
        }
        deepest > MAX_NESTING
    });
    deep.map(|(line, _)| line).next()
}

impl Entry {
    fn new(party: String, mut table: BTreeMap<String, String>, folder: &Path) -> Result<Entry, ConfigError> {
        if let Some(key) = table.keys().find(|key| !KEYS.contains(&key.as_str())) {
            let similar = similar(key, KEYS.into_iter());
            return Err(ConfigError::UnknownKey { party, key: key.clone(), similar });
        }
        if let Some(key) = KEYS[..REQUIRED].iter().find(|&&key| !table.contains_key(key)) {
            return Err(ConfigError::MissingKey { party, key });
        }
        let [address, certificate, key, files, listen] = KEYS.map(|key| table.remove(key));
        let required = "each of the first keys is there, or is missed above";
        let address = address.expect(required);
        for address in std::iter::once(&address).chain(&listen) {
            let port = address
                .rsplit_once(':')
                .and_then(|(host, port)| (!host.is_empty()).then(|| port.parse::<u16>().ok()).flatten());
            if port.is_none() {
                return Err(ConfigError::Address { party, address: address.clone() });
            }
        }
        Ok(Entry {
            address,
            certificate: folder.join(certificate.expect(required)),
            key: key.map(|key| folder.join(key)),
            folder: files.map(|files| folder.join(files)),
            listen,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALICE: &str = "[alice]\naddress = \"a.example:4000\"\ncertificate = \"alice.pem\"\n";

    fn error(text: &str) -> String {
        Config::parse(text, Path::new("at")).expect_err(text).to_string()
    }

    #[test]
    fn an_entry_is_read_and_paths_begin_at_the_file() {
        let text = format!(
            "{ALICE}key = \"k/alice.key\"\nfolder = \"data\"\nlisten = \"[::]:4000\"\n[bob]\n{}",
            &ALICE[8..]
        );
        let config = Config::parse(&text, Path::new("at")).expect("a good file");
        let alice = config.entry("alice").expect("an entry");
        assert_eq!(alice.certificate, Path::new("at/alice.pem"));
        assert_eq!(alice.key.as_deref(), Some(Path::new("at/k/alice.key")));
        assert_eq!(alice.folder.as_deref(), Some(Path::new("at/data")));
        assert_eq!(config.entry("bob").expect("an entry").key, None);
        assert_eq!(
            config.entry("alise").expect_err("no entry").to_string(),
            "the file of parties has no entry for alise; perhaps `alice` is meant"
        );
    }

    #[test]
    fn mistakes_are_named() {
        for (more, words) in [
            (
                "adress = \"b\"\n",
                "the entry of alice has an unknown key `adress`; perhaps `address` is meant",
            ),
            ("\"\\u001b[2J\" = \"b\"\n", "the entry of alice has an unknown key `\\u{1b}[2J`"),
            (
                "listen = \"4000\"\n",
                "the address of alice is `host:port` such as \"192.0.2.1:4000\", not \"4000\"",
            ),
            ("[bob]\naddress = \"b:1\"\n", "the entry of bob lacks the key `certificate`"),
            (
                "[bob]\naddress = \"b:70000\"\ncertificate = \"\"\n",
                "the address of bob is `host:port` such as \"192.0.2.1:4000\", not \"b:70000\"",
            ),
            (
                "[bob]\naddress = \":1\"\ncertificate = \"\"\n",
                "the address of bob is `host:port` such as \"192.0.2.1:4000\", not \":1\"",
            ),
        ] {
            assert_eq!(error(&format!("{ALICE}{more}")), words);
        }
        for more in ["key = 1\n", "[alice]\n", "address = \"twice:1\"\n", "key\n", "[bob\n", "x = [[[[\n"] {
            assert!(error(&format!("{ALICE}{more}")).starts_with("the file of parties is malformed: "));
        }
        assert!(error("address = \"b:1\"").starts_with("the file of parties is malformed: "));
    }

    #[test]
    fn damaged_files_give_errors() {
        let seed = fastrand::u64(..);
        eprintln!("seed {seed}");
        let mut random = fastrand::Rng::with_seed(seed);
        for _ in 0..2000 {
            let mut bytes = ALICE.repeat(2).into_bytes();
            for _ in 0..random.usize(1..8) {
                let at = random.usize(..bytes.len());
                bytes[at] = *random.choice(b"[]{}=\"'\\\n.#,19 \xff").expect("a byte");
            }
            let _ = Config::parse(&String::from_utf8_lossy(&bytes), Path::new(""));
        }
    }

    #[test]
    fn nesting_is_bounded() {
        for open in ["[", "{a=", "a.", "[\n", "[[a]]\n[a."] {
            for times in [MAX_NESTING / 2, MAX_NESTING, 100_000] {
                let nested = open.repeat(times);
                for text in [
                    format!("x = {nested}"),
                    nested.clone(),
                    format!("{ALICE}{nested}b = 1"),
                    format!("[{nested}b]"),
                ] {
                    error(&text);
                }
            }
        }
    }
}
