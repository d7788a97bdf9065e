//! The frames on the wire: a head of fixed size, then data.
//!
//! Takes heads and gives bytes, and back. Never takes memory: the length that a head declares is a
//! number for the receiver to judge.
//!
//! | bytes | content |
//! |---|---|
//! | 0 to 3 | `FLP` and the version of this format |
//! | 4 to 7 | the kind, and zeros |
//! | 8 to 23 | the name of the session |
//! | 24 to 31 | the epoch |
//! | 32 to 63 | count, site, type and digest of a message; zeros in other kinds |
//! | 64 to 71 | a number, see [`Kind`] |
//!
//! Numbers are little-endian. A message is a frame [`Kind::Data`] with its length and its first
//! [`MAX_PART_BYTES`] bytes, then a frame [`Kind::Part`] for each further piece of that size and
//! for the rest. Other frames may stand between the parts of a message; parts of two messages may
//! not mix.

use crate::network::{Header, Refusal};

/// The first bytes of each frame.
const MAGIC: [u8; 4] = *b"FLP\x01";

/// The size of a head in bytes.
pub const HEAD_BYTES: usize = 72;

/// The number of bytes of data in one frame at most.
pub const MAX_PART_BYTES: usize = 1 << 16;

/// The number of parties at most.
pub const MAX_PARTIES: usize = 64;

/// The name of a session: nobody can know it before all parties have drawn their nonces.
pub type SessionName = [u8; 16];

/// The kind of a frame, which gives its number a meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// The beginning of a message; the number is the length of its data in bytes.
    Data = 1,
    /// The next part of the message; the number is the length of the part in bytes.
    Part = 2,
    /// A permission; the number is how many bytes the receiver may be sent since the connection
    /// began, [`HEAD_BYTES`] of them for each message.
    Credit = 3,
    /// A sign of life; the number is 0.
    Heartbeat = 4,
    /// The sender has stopped in this epoch; the number is 0, or one more than that of the party
    /// that has stopped before it.
    Stop = 5,
    /// The sender has finished this epoch; the number is how many messages it sent in it to the
    /// receiver.
    Finish = 6,
}

const KINDS: [Kind; 6] = [Kind::Data, Kind::Part, Kind::Credit, Kind::Heartbeat, Kind::Stop, Kind::Finish];

/// A head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// The kind of the frame.
    pub kind: Kind,
    /// The epoch of the sender; 0 where it does not matter.
    pub epoch: u64,
    /// The facts about a message; zeros in other kinds.
    pub header: Header,
    /// A number, see [`Kind`].
    pub number: u64,
}

/// The header of frames that are no message.
pub const NO_HEADER: Header = Header { count: 0, site: 0, ty: 0, digest: 0 };

impl Head {
    /// Writes a head.
    pub fn encode(&self, session: &SessionName) -> [u8; HEAD_BYTES] {
        let mut bytes = [0; HEAD_BYTES];
        bytes[..4].copy_from_slice(&MAGIC);
        bytes[4] = self.kind as u8;
        bytes[8..24].copy_from_slice(session);
        let Header { count, site, ty, digest } = self.header;
        for (at, number) in [self.epoch, count, site, ty, digest, self.number].into_iter().enumerate() {
            bytes[24 + 8 * at..32 + 8 * at].copy_from_slice(&number.to_le_bytes());
        }
        bytes
    }

    /// Reads a head.
    ///
    /// # Errors
    /// [`Refusal::Malformed`] if no party writes such bytes, [`Refusal::OutOfPlace`] if the frame
    /// belongs to another session.
    pub fn decode(bytes: &[u8; HEAD_BYTES], session: &SessionName) -> Result<Head, Refusal> {
        let kind = KINDS.into_iter().find(|&kind| kind as u8 == bytes[4]);
        let (Some(kind), true) = (kind, bytes[..4] == MAGIC && bytes[5..8] == [0; 3]) else {
            return Err(Refusal::Malformed);
        };
        if bytes[8..24] != session[..] {
            return Err(Refusal::OutOfPlace);
        }
        let mut numbers = [0; 6];
        for (number, bytes) in numbers.iter_mut().zip(bytes[24..].as_chunks().0) {
            *number = u64::from_le_bytes(*bytes);
        }
        let [epoch, count, site, ty, digest, number] = numbers;
        let header = Header { count, site, ty, digest };
        let fits = match kind {
            Kind::Data => true,
            Kind::Part => (1..=MAX_PART_BYTES as u64).contains(&number) && header == NO_HEADER,
            Kind::Credit | Kind::Finish => header == NO_HEADER,
            Kind::Heartbeat => header == NO_HEADER && number == 0,
            Kind::Stop => header == NO_HEADER && number <= MAX_PARTIES as u64,
        };
        if fits { Ok(Head { kind, epoch, header, number }) } else { Err(Refusal::Malformed) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SESSION: SessionName = [3; 16];

    fn head(kind: Kind) -> Head {
        let message = kind == Kind::Data;
        let header = if message { Header { count: 1, site: 2, ty: 3, digest: u64::MAX } } else { NO_HEADER };
        let number = u64::from(!matches!(kind, Kind::Heartbeat | Kind::Stop)) * 500;
        Head { kind, epoch: 77, header, number }
    }

    #[test]
    fn there_and_back() {
        for kind in KINDS {
            assert_eq!(Head::decode(&head(kind).encode(&SESSION), &SESSION), Ok(head(kind)));
        }
    }

    #[test]
    fn other_sessions_and_what_nobody_writes_are_refused() {
        for kind in KINDS {
            let good = head(kind).encode(&SESSION);
            assert_eq!(Head::decode(&good, &[4; 16]), Err(Refusal::OutOfPlace));
            for at in (0..8).chain(if kind == Kind::Data { 0..0 } else { 32..64 }) {
                for bit in 0..8 {
                    let mut bad = good;
                    bad[at] ^= 1 << bit;
                    let read = Head::decode(&bad, &SESSION);
                    // A damaged kind may be another kind that fits.
                    assert!(at == 4 && read != Ok(head(kind)) || read == Err(Refusal::Malformed), "{at}");
                }
            }
        }
        for (kind, number) in [
            (Kind::Part, 0),
            (Kind::Part, 1 + MAX_PART_BYTES as u64),
            (Kind::Part, u64::MAX),
            (Kind::Stop, 1 + MAX_PARTIES as u64),
            (Kind::Heartbeat, 1),
        ] {
            let bad = Head { number, ..head(kind) }.encode(&SESSION);
            assert_eq!(Head::decode(&bad, &SESSION), Err(Refusal::Malformed), "{kind:?} {number}");
        }
    }

    #[test]
    fn any_bytes_are_read_or_refused() {
        let seed = fastrand::u64(..);
        eprintln!("seed {seed}");
        let mut random = fastrand::Rng::with_seed(seed);
        for _ in 0..100_000 {
            let mut bytes = head(random.choice(KINDS).expect("a kind")).encode(&SESSION);
            for _ in 0..random.usize(0..6) {
                bytes[random.usize(..HEAD_BYTES)] = random.u8(..);
            }
            // What is read is written to the same bytes: there is one form of each head.
            if let Ok(head) = Head::decode(&bytes, &SESSION) {
                assert_eq!(head.encode(&SESSION), bytes);
            }
        }
    }
}
