//! The handshake: greetings that the parties exchange before the first message, and the session
//! that follows from them.
//!
//! Takes the greetings of all parties; gives the name of the session and the keys of the streams,
//! or the reason why there is no session. Never connects: bytes come from and go to `tls`.
//!
//! Each party greets each other one, inside TLS. A greeting has the build, a hash of the program
//! and one of its arguments, the parties with the fingerprints of their certificates, and a fresh
//! nonce. Nothing is judged before all greetings are there, so a party that differs is named by all
//! others.
//!
//! The name of the session is a hash of all greetings in the order of the parties, so it is fresh
//! if one nonce is. Then each party tells each other one this name: a party that greets two others
//! differently is found here. The key of the streams of a pair is exported from their connection
//! (RFC 5705, with the session name as context): the third party takes no part in that connection,
//! and cannot know it.

use crate::config::ConfigError;
use crate::frame::{MAX_PARTIES, SessionName};
use crate::network::PartyId;
use ring::digest::{Context, SHA256};
use std::fmt;

/// The first bytes of a greeting, with the version of this protocol.
const MAGIC: &[u8; 16] = b"felis parties 1\n";

/// The size of a greeting in bytes at most.
pub const MAX_HELLO_BYTES: usize = 1 << 14;

/// The length of the text that names a build in bytes at most.
pub const MAX_BUILD_BYTES: usize = 256;

/// A hash, SHA-256.
pub type Hash = [u8; 32];

/// Says what a nonce, a key and a fingerprint are for; of TLS exporters.
pub const EXPORTER_LABEL: &[u8] = b"EXPORTER felis pairwise streams";

/// Computes the hash of texts; no two lists of texts are written to the same bytes.
pub fn hash<'a>(texts: impl IntoIterator<Item = &'a [u8]>) -> Hash {
    let mut context = Context::new(&SHA256);
    for text in texts {
        context.update(&(text.len() as u64).to_le_bytes());
        context.update(text);
    }
    let mut hash = Hash::default();
    // The digest of SHA-256 has 32 bytes.
    hash.copy_from_slice(context.finish().as_ref());
    hash
}

/// A greeting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hello {
    /// The number of the sender.
    pub from: PartyId,
    /// The version of Felis.
    pub build: String,
    /// A hash of the text of the program.
    pub program: Hash,
    /// A hash of the arguments of the program.
    pub args: Hash,
    /// The names of the parties and the fingerprints of their certificates.
    pub parties: Vec<(String, Hash)>,
    /// Fresh bytes.
    pub nonce: Hash,
}

/// A property in which two parties differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Difference {
    /// The versions of Felis.
    Build {
        /// The version that this party has.
        mine: String,
        /// The version that the other has.
        other: String,
    },
    /// The names of the parties, or their order.
    Parties,
    /// The certificate of a party.
    Certificate {
        /// The party.
        of: String,
    },
    /// The text of the program.
    Program,
    /// The arguments of the program.
    Args,
}

/// The reason why the parties are not connected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConnectError {
    /// The configuration has a mistake.
    Config(ConfigError),
    /// This party is none of the program's.
    NoParty {
        /// The name of this party.
        name: String,
    },
    /// The name of a party has more than [`crate::certificate::MAX_NAME_BYTES`].
    LongName {
        /// The name.
        name: String,
    },
    /// The program has fewer than two parties, or more than [`MAX_PARTIES`].
    Count {
        /// The number of parties.
        parties: usize,
    },
    /// The file of a certificate or key is not usable.
    File {
        /// The file.
        path: std::path::PathBuf,
        /// The reason, as text.
        why: String,
    },
    /// The key of this party is not that of its certificate.
    Key {
        /// The reason, as text.
        why: String,
    },
    /// Two parties have the same certificate.
    SameCertificate {
        /// One of them.
        one: String,
        /// The other.
        other: String,
    },
    /// This party cannot listen at its address.
    Listen {
        /// The address.
        address: String,
        /// The reason, as text.
        why: String,
    },
    /// A party has not appeared within the limit.
    Absent {
        /// The party.
        party: String,
        /// The last reason why an attempt failed, if there was an attempt.
        why: Option<String>,
    },
    /// Whoever answers at the address of a party has not its certificate.
    Impostor {
        /// The party.
        party: String,
        /// Its address.
        address: String,
    },
    /// A party has ended the connection while it was made, as this party's certificate is not the
    /// one that it knows, or for a reason of TLS.
    Refused {
        /// The party.
        party: String,
        /// The reason, as text.
        why: String,
    },
    /// A party has ended the connection before all were connected.
    Lost {
        /// The party.
        party: String,
    },
    /// A party sends no greeting of this protocol.
    Greeting {
        /// The party.
        party: String,
    },
    /// Two parties run different things.
    Differs {
        /// The property that differs.
        what: Difference,
        /// This party.
        me: String,
        /// The other party.
        other: String,
    },
    /// A party has heard other greetings: somebody greets the parties differently.
    Session {
        /// The party.
        party: String,
    },
    /// The interrupt flag is set.
    Interrupted,
    /// The operating system gives no randomness, threads, or sockets.
    System {
        /// The reason, as text.
        why: String,
    },
}

impl fmt::Display for ConnectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ConnectError::Config(error) => error.fmt(f),
            ConnectError::NoParty { name } => {
                write!(f, "the program has no party `{}`", name.escape_debug())
            }
            ConnectError::LongName { name } => {
                let most = crate::certificate::MAX_NAME_BYTES;
                write!(f, "the name of a party has {most} bytes at most, unlike `{}`", name.escape_debug())
            }
            ConnectError::Count { parties } => {
                write!(f, "a program has 2 to {MAX_PARTIES} parties, not {parties}")
            }
            ConnectError::File { path, why } => write!(f, "{} cannot be used: {why}", path.display()),
            ConnectError::Key { why } => {
                write!(f, "the private key does not belong to the certificate: {why}")
            }
            ConnectError::SameCertificate { one, other } => {
                write!(f, "{one} and {other} have the same certificate")
            }
            ConnectError::Listen { address, why } => write!(f, "cannot listen at {address}: {why}"),
            ConnectError::Absent { party, why: None } => write!(f, "{party} has not appeared"),
            ConnectError::Absent { party, why: Some(why) } => {
                write!(f, "{party} has not appeared; the last attempt: {why}")
            }
            ConnectError::Impostor { party, address } => {
                write!(f, "who answers at {address} has another certificate than {party}")
            }
            ConnectError::Refused { party, why } => write!(f, "{party} refuses the connection: {why}"),
            ConnectError::Lost { party } => {
                write!(f, "{party} has ended the connection before all were connected")
            }
            ConnectError::Greeting { party } => write!(f, "{party} does not greet as a party does"),
            ConnectError::Differs { what, me, other } => match what {
                Difference::Build { mine, other: theirs } => {
                    let theirs = theirs.escape_debug();
                    write!(f, "{me} runs Felis {mine}, {other} runs Felis {theirs}")
                }
                Difference::Parties => write!(f, "{me} and {other} have different parties"),
                Difference::Certificate { of } => {
                    write!(f, "{me} and {other} have different certificates of {of}")
                }
                Difference::Program => write!(f, "{me} and {other} run different programs"),
                Difference::Args => write!(f, "{me} and {other} run the program with different arguments"),
            },
            ConnectError::Session { party } => {
                write!(
                    f,
                    "{party} has been greeted otherwise: one of the parties does not follow the protocol"
                )
            }
            ConnectError::Interrupted => write!(f, "interrupted"),
            ConnectError::System { why } => write!(f, "the system refuses: {why}"),
        }
    }
}

impl std::error::Error for ConnectError {}

impl From<ConfigError> for ConnectError {
    fn from(error: ConfigError) -> ConnectError {
        ConnectError::Config(error)
    }
}

/// Takes pieces from the front of bytes.
struct Pieces<'a>(&'a [u8]);

impl<'a> Pieces<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (piece, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(piece)
    }

    fn hash(&mut self) -> Option<Hash> {
        self.take(32)?.try_into().ok()
    }

    fn number(&mut self) -> Option<usize> {
        let bytes: [u8; 2] = self.take(2)?.try_into().ok()?;
        Some(u16::from_le_bytes(bytes).into())
    }

    fn text(&mut self, max: usize) -> Option<String> {
        let count = self.number().filter(|&count| count <= max)?;
        String::from_utf8(self.take(count)?.to_vec()).ok()
    }
}

impl Hello {
    /// Writes a greeting. Numbers and lengths have two bytes; the limits of [`Hello::decode`] hold.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        let number = |bytes: &mut Vec<u8>, number: usize| {
            bytes.extend(u16::try_from(number).unwrap_or(u16::MAX).to_le_bytes());
        };
        number(&mut bytes, self.from);
        number(&mut bytes, self.build.len());
        bytes.extend(self.build.bytes());
        bytes.extend(self.program);
        bytes.extend(self.args);
        number(&mut bytes, self.parties.len());
        for (name, fingerprint) in &self.parties {
            number(&mut bytes, name.len());
            bytes.extend(name.bytes());
            bytes.extend(fingerprint);
        }
        bytes.extend(self.nonce);
        bytes
    }

    /// Reads a greeting; `None` if the bytes are none.
    pub fn decode(bytes: &[u8]) -> Option<Hello> {
        let mut pieces = Pieces(bytes);
        (pieces.take(MAGIC.len())? == MAGIC).then_some(())?;
        let from = pieces.number()?;
        let build = pieces.text(MAX_BUILD_BYTES)?;
        let (program, args) = (pieces.hash()?, pieces.hash()?);
        let count = pieces.number().filter(|&count| count <= MAX_PARTIES)?;
        let mut parties = Vec::new();
        for _ in 0..count {
            parties.push((pieces.text(crate::certificate::MAX_NAME_BYTES)?, pieces.hash()?));
        }
        let nonce = pieces.hash()?;
        pieces.0.is_empty().then_some(Hello { from, build, program, args, parties, nonce })
    }

    /// Compares the greeting of another party with this one.
    ///
    /// # Errors
    /// The first difference; the program and its arguments come last, as they differ whenever
    /// something else does.
    pub fn compare(&self, other: &Hello) -> Result<(), Difference> {
        if self.build != other.build {
            return Err(Difference::Build { mine: self.build.clone(), other: other.build.clone() });
        }
        if !self.parties.iter().map(|(name, _)| name).eq(other.parties.iter().map(|(name, _)| name)) {
            return Err(Difference::Parties);
        }
        if let Some(((of, _), _)) = self.parties.iter().zip(&other.parties).find(|(one, other)| one != other)
        {
            return Err(Difference::Certificate { of: of.clone() });
        }
        match (self.program == other.program, self.args == other.args) {
            (false, _) => Err(Difference::Program),
            (true, false) => Err(Difference::Args),
            (true, true) => Ok(()),
        }
    }
}

/// Compares all greetings with that of this party and gives the hash of all, whose beginning is the
/// name of the session. The greetings are in the order of the parties.
///
/// # Errors
/// The first party that differs, and in what.
pub fn verify_agreement(me: PartyId, hellos: &[Hello]) -> Result<Hash, ConnectError> {
    let mine = &hellos[me];
    for (other, hello) in hellos.iter().enumerate() {
        let name = || mine.parties[other].0.clone();
        if hello.from != other {
            return Err(ConnectError::Greeting { party: name() });
        }
        mine.compare(hello).map_err(|what| ConnectError::Differs {
            what,
            me: mine.parties[me].0.clone(),
            other: name(),
        })?;
    }
    let texts: Vec<Vec<u8>> = hellos.iter().map(Hello::encode).collect();
    Ok(hash(texts.iter().map(Vec::as_slice)))
}

/// Returns the name of the session from the hash of all greetings.
pub fn session_name(agreed: &Hash) -> SessionName {
    *agreed.first_chunk().expect("a hash has 32 bytes")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hello(from: PartyId) -> Hello {
        Hello {
            from,
            build: "0.2.0".into(),
            program: [1; 32],
            args: [2; 32],
            parties: vec![("alice".into(), [3; 32]), ("bob".into(), [4; 32]), ("carol".into(), [5; 32])],
            nonce: [from as u8; 32],
        }
    }

    fn hellos() -> Vec<Hello> {
        (0..3).map(hello).collect()
    }

    #[test]
    fn there_and_back() {
        assert_eq!(Hello::decode(&hello(2).encode()), Some(hello(2)));
        let long = Hello {
            build: "b".repeat(MAX_BUILD_BYTES),
            parties: vec![("n".repeat(crate::certificate::MAX_NAME_BYTES), [0; 32]); MAX_PARTIES],
            ..hello(0)
        };
        let bytes = long.encode();
        assert!(bytes.len() <= MAX_HELLO_BYTES);
        assert_eq!(Hello::decode(&bytes), Some(long));
    }

    #[test]
    fn cut_and_damaged_greetings_are_read_or_refused() {
        let seed = fastrand::u64(..);
        eprintln!("seed {seed}");
        let mut random = fastrand::Rng::with_seed(seed);
        let good = hello(1).encode();
        for end in 0..good.len() {
            assert_eq!(Hello::decode(&good[..end]), None);
        }
        assert_eq!(Hello::decode(&[&good[..], &[0]].concat()), None);
        for _ in 0..20_000 {
            let mut bytes = good.clone();
            for _ in 0..random.usize(1..6) {
                let at = random.usize(..bytes.len());
                bytes[at] = random.u8(..);
            }
            if let Some(read) = Hello::decode(&bytes) {
                assert_eq!(read.encode(), bytes);
            }
        }
    }

    #[test]
    fn a_difference_is_named() {
        let certificate = Difference::Certificate { of: "carol".into() };
        let build = Difference::Build { mine: "0.2.0".into(), other: "0.3.0".into() };
        let mut others = vec![hello(0).parties; 3];
        others[0][2].1 = [9; 32];
        others[1].swap(0, 1);
        others[2].pop();
        let mut others = others.into_iter();
        let mut parties = || others.next().expect("three lists");
        let cases = [
            (Hello { parties: parties(), ..hello(1) }, certificate),
            (Hello { parties: parties(), ..hello(1) }, Difference::Parties),
            (Hello { parties: parties(), program: [0; 32], ..hello(1) }, Difference::Parties),
            (Hello { build: "0.3.0".into(), program: [0; 32], ..hello(1) }, build),
            (Hello { program: [0; 32], args: [0; 32], ..hello(1) }, Difference::Program),
            (Hello { args: [0; 32], ..hello(1) }, Difference::Args),
        ];
        for (other, what) in cases {
            let (me, name) = ("carol".into(), "bob".into());
            let all = [hello(0), other, hello(2)];
            assert_eq!(verify_agreement(2, &all), Err(ConnectError::Differs { what, me, other: name }));
        }
        let all = [hello(0), hello(2), hello(2)];
        assert_eq!(verify_agreement(0, &all), Err(ConnectError::Greeting { party: "bob".into() }));
    }

    #[test]
    fn each_nonce_makes_another_session() {
        let agreed = verify_agreement(0, &hellos()).expect("they agree");
        assert_eq!(verify_agreement(1, &hellos()), Ok(agreed));
        for party in 0..3 {
            let mut all = hellos();
            all[party].nonce[31] ^= 1;
            assert_ne!(
                verify_agreement(0, &all).map(|agreed| session_name(&agreed)),
                Ok(session_name(&agreed))
            );
        }
    }

    #[test]
    fn hashes_of_lists_differ_by_their_borders() {
        let lists: [&[&[u8]]; 4] = [&[b"ab", b""], &[b"a", b"b"], &[b"ab"], &[]];
        let hashes: std::collections::HashSet<Hash> =
            lists.iter().map(|list| hash(list.iter().copied())).collect();
        assert_eq!(hashes.len(), lists.len());
    }
}
