//! The connection of one party with the others that run the same program.
//!
//! Takes messages as bytes; gives those of the other parties, in order, or the reason why there are
//! none. Knows nothing of values: the evaluator encodes them. [`local`] connects threads of one
//! process; other crates connect processes.
//!
//! All parties execute the same sequence of moves, so both ends of a message know its [`Header`]
//! without being told. A frame whose header or length is another is refused before memory is taken
//! for it.
//!
//! An *epoch* is one input of a session. A party that fails, is interrupted, or runs out of memory
//! calls [`Network::stop`]; every party then gets [`NetworkError::Stopped`] from its next call in
//! the same epoch, whatever was sent before. [`Network::begin`] starts the next epoch and
//! drops the frames of older ones.

mod chacha;
pub mod local;
pub mod progress;
pub mod stream;

use std::any::Any;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The time after which a party that waits looks at its interrupt flag again.
pub const POLL: Duration = Duration::from_millis(20);

/// The number of bytes of earlier moves that are kept for one party before a sender waits.
pub const MAX_QUEUED_BYTES: u64 = 64 << 20;

/// The bytes that a message counts apart from its data while it is kept.
pub const QUEUED_MESSAGE_BYTES: u64 = 128;

/// Locks a mutex. What a panic has left behind is used: every change here is one assignment or
/// push.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The number of a party, in the order of the declaration.
pub type PartyId = usize;

/// The facts about a message that both ends know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The number of moves that the parties have executed in this epoch.
    pub count: u64,
    /// A hash of the place of the move in the program.
    pub site: u64,
    /// A hash of the type of the data.
    pub ty: u64,
    /// A hash of the public execution so far: the places passed and the values made public.
    pub digest: u64,
}

impl Header {
    /// Compares the header of a frame with this one, which is expected.
    ///
    /// # Errors
    /// [`Refusal::Diverged`] if only the public execution differs, or also the place that it led
    /// to; [`Refusal::OutOfPlace`] if the frame belongs to another move.
    pub fn check(&self, found: &Header) -> Result<(), Refusal> {
        if self == found {
            Ok(())
        } else if self.count == found.count && self.digest != found.digest {
            Err(Refusal::Diverged)
        } else {
            Err(Refusal::OutOfPlace)
        }
    }
}

/// The length of a message in bytes, as its receiver knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// Exactly that many bytes.
    Exact(u64),
    /// An upper bound in bytes: the size arrives with the data.
    AtMost(u64),
}

impl Length {
    /// Compares the length of a message with the expected one.
    ///
    /// # Errors
    /// [`Refusal::WrongLength`].
    pub fn check(self, found: u64) -> Result<(), Refusal> {
        let fits = match self {
            Length::Exact(bytes) => found == bytes,
            Length::AtMost(bytes) => found <= bytes,
        };
        if fits { Ok(()) } else { Err(Refusal::WrongLength) }
    }
}

/// The reason why there is no message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NetworkError {
    /// The party has stopped: its program failed or was interrupted.
    Stopped(PartyId),
    /// The connection with the party was closed without a word.
    Lost(PartyId),
    /// The party has been silent for longer than the limit: not even a heartbeat came.
    Silent(PartyId),
    /// A frame of the party was refused, and why.
    Refused(PartyId, Refusal),
    /// The interrupt flag of this party is set.
    Interrupted,
}

/// The reason why a frame was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The bytes are no frame.
    Malformed,
    /// The frame belongs to another move: replayed, reordered, or sent by another program.
    OutOfPlace,
    /// The data have another length.
    WrongLength,
    /// The parties disagree on public values, or have taken different paths.
    Diverged,
}

/// Counters of the messages of one party since it was connected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Bytes of data sent, without headers.
    pub bytes_sent: u64,
    /// Bytes of data received, without headers.
    pub bytes_received: u64,
    /// Messages sent.
    pub messages_sent: u64,
    /// Messages received.
    pub messages_received: u64,
    /// Rounds: the number of times that data were received after data had been sent. Messages that
    /// may be on their way at the same time count once.
    pub rounds: u64,
}

/// Data that another party may read in place where both are in one process, and get as bytes
/// elsewhere. They never change.
pub trait SharedData: Any + Send + Sync {
    /// Returns the number of bytes.
    fn length(&self) -> u64;

    /// Returns the bytes.
    fn to_bytes(&self) -> Vec<u8>;
}

/// The data of a message, as its receiver gets them.
#[derive(Clone)]
pub enum Data {
    /// Bytes of its own.
    Bytes(Vec<u8>),
    /// Data that the sender shares.
    Shared(Arc<dyn SharedData>),
}

impl Data {
    /// Returns the number of bytes.
    pub fn length(&self) -> u64 {
        match self {
            Data::Bytes(bytes) => bytes.len() as u64,
            Data::Shared(shared) => shared.length(),
        }
    }

    /// Returns the bytes.
    pub fn into_bytes(self) -> Vec<u8> {
        match self {
            Data::Bytes(bytes) => bytes,
            Data::Shared(shared) => shared.to_bytes(),
        }
    }
}

/// The connection of one party with the others.
pub trait Network: Send + Sync {
    /// Returns the number of this party.
    fn me(&self) -> PartyId;

    /// Returns how many parties there are.
    fn parties(&self) -> usize;

    /// Begins an epoch. Drops the frames of older epochs, and derives the pairwise streams anew, so
    /// that no stream is used twice. The first epoch is 0 and has begun already; a number that is
    /// not greater than the present one changes nothing.
    fn begin(&self, epoch: u64);

    /// Sends data to another party, never to this one. Does not wait for its program: a large
    /// exchange cannot lock.
    ///
    /// # Errors
    /// A party has stopped or is lost, whichever it is.
    fn send(&self, to: PartyId, header: &Header, data: Vec<u8>) -> Result<(), NetworkError>;

    /// Waits while more than [`MAX_QUEUED_BYTES`] are kept for another party that has not asked for
    /// them, before a move sends it more. Data of the same move are not waited for: in it the other
    /// may be sending as well. So of all parties the one that is behind the others never waits here
    /// for one that waits here, too. Returns within 100 ms after the flag is set.
    ///
    /// # Errors
    /// See [`NetworkError`].
    fn wait_for_room(
        &self,
        _to: PartyId,
        _header: &Header,
        _interrupt: &AtomicBool,
    ) -> Result<(), NetworkError> {
        Ok(())
    }

    /// Waits for the next data of another party. Returns within 100 ms after the flag is set.
    ///
    /// # Errors
    /// See [`NetworkError`].
    fn receive(
        &self,
        from: PartyId,
        header: &Header,
        length: Length,
        interrupt: &AtomicBool,
    ) -> Result<Vec<u8>, NetworkError>;

    /// Sends data as [`Network::send`] does. Parties of one process need no copy of them.
    ///
    /// # Errors
    /// See [`Network::send`].
    fn send_shared(
        &self,
        to: PartyId,
        header: &Header,
        data: Arc<dyn SharedData>,
    ) -> Result<(), NetworkError> {
        self.send(to, header, data.to_bytes())
    }

    /// Waits for the next data of another party, as [`Network::receive`] does, which may be what it
    /// has shared.
    ///
    /// # Errors
    /// See [`NetworkError`].
    fn receive_shared(
        &self,
        from: PartyId,
        header: &Header,
        length: Length,
        interrupt: &AtomicBool,
    ) -> Result<Data, NetworkError> {
        self.receive(from, header, length, interrupt).map(Data::Bytes)
    }

    /// Fills `words` from the stream that this party has in common with another one, or from a
    /// stream of its own if `with` is this party. Both parties of a stream draw in the same order.
    fn random_words(&self, with: PartyId, words: &mut [u64]);

    /// Tells all others that this party has stopped in the present epoch; `after` is the party that
    /// had stopped or was lost before, if that is why. The others may hear of this party first.
    fn stop(&self, after: Option<PartyId>);

    /// Waits until all others have finished the present epoch, too.
    ///
    /// # Errors
    /// One of them has stopped or is lost, or has sent what this party never asked for.
    fn finish(&self, interrupt: &AtomicBool) -> Result<(), NetworkError>;

    /// Returns the counters.
    fn traffic(&self) -> Traffic;
}
