//! The random streams of one party: one in common with each other party, one of its own.
//!
//! Takes a master key for each party; gives words. Never makes a key, and never goes back in a
//! stream.
//!
//! The derivation: the key of epoch `e` is the first 32 bytes of ChaCha20 with the master key and
//! stream number `e`, and the stream of the epoch is ChaCha12 with that key from position 0. So
//! streams of different epochs have independent keys, and a position of one is never a position of
//! another. [`Streams::begin`] accepts greater numbers of epochs only, and nothing sets a position:
//! an epoch that fails leaves its rest unused, and a repeated number of an epoch goes on where the
//! stream stands. Master keys are fresh in each connection, so epoch 1 of another run is another
//! stream, too.

use super::chacha::{ChaCha, RESULT_WORDS};
use super::{PartyId, lock};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use std::sync::Mutex;

/// A master key: known to the two parties of a stream and nobody else.
pub type Key = [u8; 32];

/// The streams of one party.
pub struct Streams {
    masters: Vec<Key>,
    state: Mutex<State>,
}

struct State {
    epoch: u64,
    streams: Vec<Stream>,
}

impl Streams {
    /// Makes the streams of epoch 0 from the master keys, in the order of the parties. The key of a
    /// party with itself must be known to nobody else.
    pub fn new(masters: Vec<Key>) -> Streams {
        let streams = at_epoch(&masters, 0);
        Streams { masters, state: Mutex::new(State { epoch: 0, streams }) }
    }

    /// Derives the streams of an epoch. Does nothing unless the number is greater than before.
    pub fn begin(&self, epoch: u64) {
        let mut state = lock(&self.state);
        if epoch > state.epoch {
            *state = State { epoch, streams: at_epoch(&self.masters, epoch) };
        }
    }

    /// Fills `words` from the stream in common with a party.
    pub fn fill(&self, with: PartyId, words: &mut [u64]) {
        let stream = &mut lock(&self.state).streams[with];
        stream.fill(words);
    }
}

/// A stream, by whole results of the generator: a word at a time takes longer than computing it.
struct Stream {
    generator: ChaCha,
    /// The last result.
    result: [[u64; RESULT_WORDS]; 1],
    /// The number of words of the result that have been given.
    used: usize,
}

impl Stream {
    /// Makes a stream that begins.
    fn new(key: Key) -> Stream {
        Stream { generator: ChaCha::new(key), result: [[0; RESULT_WORDS]], used: RESULT_WORDS }
    }

    /// Fills `words` with the next ones.
    fn fill(&mut self, words: &mut [u64]) {
        let words = self.give_rest(words);
        let (whole, rest) = words.as_chunks_mut();
        self.generator.fill(whole);
        if !rest.is_empty() {
            self.generator.fill(&mut self.result);
            self.used = 0;
            self.give_rest(rest);
        }
    }

    /// Gives what is left of the last result; returns the words that it does not reach.
    fn give_rest<'a>(&mut self, words: &'a mut [u64]) -> &'a mut [u64] {
        let left = &self.result[0][self.used..];
        let (now, later) = words.split_at_mut(left.len().min(words.len()));
        now.copy_from_slice(&left[..now.len()]);
        self.used += now.len();
        later
    }
}

fn at_epoch(masters: &[Key], epoch: u64) -> Vec<Stream> {
    let derive = |master: &Key| {
        let mut derivation = ChaCha20Rng::from_seed(*master);
        derivation.set_stream(epoch);
        let mut key = Key::default();
        derivation.fill_bytes(&mut key);
        Stream::new(key)
    };
    masters.iter().map(derive).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_chacha::ChaCha12Rng;

    fn words(streams: &Streams, with: PartyId, count: usize) -> Vec<u64> {
        let mut words = vec![0; count];
        streams.fill(with, &mut words);
        words
    }

    #[test]
    fn the_words_are_those_of_the_derivation() {
        let streams = Streams::new(vec![[7; 32]]);
        streams.begin(3);
        let mut derivation = ChaCha20Rng::from_seed([7; 32]);
        derivation.set_stream(3);
        let mut key = [0; 32];
        derivation.fill_bytes(&mut key);
        let mut bytes = [0; 32];
        ChaCha12Rng::from_seed(key).fill_bytes(&mut bytes);
        let wanted: Vec<u64> =
            bytes.as_chunks().0.iter().map(|bytes: &[u8; 8]| u64::from_le_bytes(*bytes)).collect();
        assert_eq!(words(&streams, 0, 4), wanted);
    }

    #[test]
    fn a_stream_never_goes_back() {
        let streams = Streams::new(vec![[1; 32], [2; 32]]);
        let mut seen = std::collections::HashSet::new();
        // Repeated, smaller and greater numbers of epochs.
        for epoch in [0, 0, 1, 1, 0, 2, 1, 5, 3, 5, u64::MAX, 0] {
            streams.begin(epoch);
            for with in [0, 1] {
                for word in words(&streams, with, 100) {
                    assert!(seen.insert(word), "a word twice after epoch {epoch} began");
                }
            }
        }
    }

    #[test]
    fn pieces_of_any_size_give_the_same_words() {
        let (one, other) = (Streams::new(vec![[9; 32]]), Streams::new(vec![[9; 32]]));
        let whole = words(&one, 0, 1000);
        let mut pieces = Vec::new();
        for size in (0..).take_while(|size| size * (size + 1) / 2 <= 1000) {
            pieces.extend(words(&other, 0, size));
        }
        assert_eq!(pieces, whole[..pieces.len()]);
    }
}
