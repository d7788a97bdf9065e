//! Parties as threads of one process, with queues in memory.
//!
//! Takes a number of parties; gives each its [`Network`]. Hides nothing: all parties share one
//! memory. A party whose network is dropped before it has finished is lost for the others.
//!
//! The master keys of the streams ([`super::stream`] says what is derived from them) come from the
//! operating system: one for each pair and one for each party alone. [`connect_seeded`] takes them
//! from a seed, for tests.

use super::progress::{Counters, Progress};
use super::stream::{Key, Streams};
use super::{
    Data, Header, Length, MAX_QUEUED_BYTES, Network, NetworkError, POLL, PartyId, QUEUED_MESSAGE_BYTES,
    Refusal, SharedData, Traffic, lock,
};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// A message that waits to be received.
struct Frame {
    epoch: u64,
    header: Header,
    data: Data,
}

/// Messages from the others to one party that it has not received yet.
struct Inbox {
    state: Mutex<State>,
    /// Rung at each change of the state.
    bell: Condvar,
}

struct State {
    epoch: u64,
    /// The frames of each party, of this epoch and later ones.
    frames: Vec<VecDeque<Frame>>,
    /// The bytes of these frames.
    queued: Vec<u64>,
    progress: Progress,
}

/// Returns the bytes that a frame counts while it is kept.
fn cost(frame: &Frame) -> u64 {
    frame.data.length() + QUEUED_MESSAGE_BYTES
}

/// The network of one thread.
struct Local {
    me: PartyId,
    inboxes: Arc<[Inbox]>,
    streams: Streams,
    counters: Mutex<Counters>,
}

/// Connects that many parties; gives the network of each, in the order of their numbers.
///
/// # Panics
/// The operating system gives no randomness.
pub fn connect(parties: usize) -> Vec<Arc<dyn Network>> {
    with_keys(parties, || {
        let mut key = Key::default();
        getrandom::fill(&mut key).expect("the operating system gives randomness");
        key
    })
}

/// Connects that many parties whose streams follow from a seed. For tests: such streams hide
/// nothing.
pub fn connect_seeded(parties: usize, seed: u64) -> Vec<Arc<dyn Network>> {
    let mut generator = ChaCha20Rng::seed_from_u64(seed);
    with_keys(parties, || {
        let mut key = Key::default();
        generator.fill_bytes(&mut key);
        key
    })
}

fn with_keys(parties: usize, mut key: impl FnMut() -> Key) -> Vec<Arc<dyn Network>> {
    // Party `one` draws its keys with itself and those after it; those before it have drawn theirs.
    let mut masters: Vec<Vec<Key>> = Vec::with_capacity(parties);
    for one in 0..parties {
        let before: Vec<Key> = masters.iter().map(|keys| keys[one]).collect();
        masters.push(before.into_iter().chain((one..parties).map(|_| key())).collect());
    }
    let inboxes: Arc<[Inbox]> = (0..parties).map(|_| Inbox::new(parties)).collect();
    let network = |(me, masters)| -> Arc<dyn Network> {
        Arc::new(Local {
            me,
            inboxes: inboxes.clone(),
            streams: Streams::new(masters),
            counters: Mutex::default(),
        })
    };
    masters.into_iter().enumerate().map(network).collect()
}

impl Inbox {
    fn new(parties: usize) -> Inbox {
        let frames = (0..parties).map(|_| VecDeque::new()).collect();
        let state = State { epoch: 0, frames, queued: vec![0; parties], progress: Progress::new(parties) };
        Inbox { state: Mutex::new(state), bell: Condvar::new() }
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut lock(&self.state));
        self.bell.notify_all();
    }
}

impl Local {
    fn inbox(&self) -> &Inbox {
        &self.inboxes[self.me]
    }

    fn others(&self) -> impl Iterator<Item = PartyId> {
        let me = self.me;
        (0..self.inboxes.len()).filter(move |&party| party != me)
    }

    /// Appends a message to the inbox of its receiver.
    fn push(&self, to: PartyId, header: &Header, data: Data) -> Result<(), NetworkError> {
        let epoch = {
            let state = lock(&self.inbox().state);
            state.progress.check(state.epoch)?;
            state.epoch
        };
        let bytes = data.length();
        self.inboxes[to].change(|state| {
            if epoch >= state.epoch {
                let frame = Frame { epoch, header: *header, data };
                state.queued[self.me] += cost(&frame);
                state.frames[self.me].push_back(frame);
            }
        });
        lock(&self.counters).count_sent(bytes);
        Ok(())
    }

    /// Waits until a question to the inbox has an answer.
    fn wait<T>(
        &self,
        interrupt: &AtomicBool,
        mut question: impl FnMut(&mut State) -> Option<Result<T, NetworkError>>,
    ) -> Result<T, NetworkError> {
        let inbox = self.inbox();
        let mut state: MutexGuard<'_, State> = lock(&inbox.state);
        loop {
            if interrupt.load(Ordering::Relaxed) {
                return Err(NetworkError::Interrupted);
            }
            state.progress.check(state.epoch)?;
            if let Some(answer) = question(&mut state) {
                return answer;
            }
            let woken = inbox.bell.wait_timeout(state, POLL);
            state = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl Network for Local {
    fn me(&self) -> PartyId {
        self.me
    }

    fn parties(&self) -> usize {
        self.inboxes.len()
    }

    fn begin(&self, epoch: u64) {
        self.streams.begin(epoch);
        let state = &mut *lock(&self.inbox().state);
        state.epoch = state.epoch.max(epoch);
        for (frames, queued) in state.frames.iter_mut().zip(&mut state.queued) {
            frames.retain(|frame| frame.epoch >= state.epoch);
            *queued = frames.iter().map(cost).sum();
        }
    }

    fn send(&self, to: PartyId, header: &Header, data: Vec<u8>) -> Result<(), NetworkError> {
        self.push(to, header, Data::Bytes(data))
    }

    fn send_shared(
        &self,
        to: PartyId,
        header: &Header,
        data: Arc<dyn SharedData>,
    ) -> Result<(), NetworkError> {
        self.push(to, header, Data::Shared(data))
    }

    fn wait_for_room(
        &self,
        to: PartyId,
        header: &Header,
        interrupt: &AtomicBool,
    ) -> Result<(), NetworkError> {
        let inbox = &self.inboxes[to];
        loop {
            if interrupt.load(Ordering::Relaxed) {
                return Err(NetworkError::Interrupted);
            }
            // Never both locks: the other party may be waiting for room, too.
            let epoch = {
                let own = lock(&self.inbox().state);
                own.progress.check(own.epoch)?;
                own.epoch
            };
            let state = lock(&inbox.state);
            let front = state.frames[self.me].front();
            let earlier =
                front.is_some_and(|frame| (frame.epoch, frame.header.count) != (epoch, header.count));
            if !earlier || state.queued[self.me] <= MAX_QUEUED_BYTES {
                return Ok(());
            }
            drop(inbox.bell.wait_timeout(state, POLL).unwrap_or_else(PoisonError::into_inner));
        }
    }

    fn receive(
        &self,
        from: PartyId,
        header: &Header,
        length: Length,
        interrupt: &AtomicBool,
    ) -> Result<Vec<u8>, NetworkError> {
        self.receive_shared(from, header, length, interrupt).map(Data::into_bytes)
    }

    fn receive_shared(
        &self,
        from: PartyId,
        header: &Header,
        length: Length,
        interrupt: &AtomicBool,
    ) -> Result<Data, NetworkError> {
        let data = self.wait(interrupt, |state| {
            let refused = |why| Some(Err(NetworkError::Refused(from, why)));
            // A frame that is refused stays: so does every later one.
            match state.frames[from].front() {
                Some(frame) if frame.epoch > state.epoch => return refused(Refusal::OutOfPlace),
                Some(frame) => {
                    let checked =
                        header.check(&frame.header).and_then(|()| length.check(frame.data.length()));
                    if let Err(why) = checked {
                        return refused(why);
                    }
                }
                None if state.progress.has_finished(from, state.epoch) => {
                    return refused(Refusal::OutOfPlace);
                }
                None => return None,
            }
            let frame = state.frames[from].pop_front()?;
            state.queued[from] -= cost(&frame);
            Some(Ok(frame.data))
        })?;
        // The sender may wait for room.
        self.inbox().bell.notify_all();
        lock(&self.counters).count_received(data.length());
        Ok(data)
    }

    fn random_words(&self, with: PartyId, words: &mut [u64]) {
        self.streams.fill(with, words);
    }

    fn stop(&self, _after: Option<PartyId>) {
        let epoch = lock(&self.inbox().state).epoch;
        for inbox in self.inboxes.iter() {
            inbox.change(|state| state.progress.note_stopped(self.me, epoch));
        }
    }

    fn finish(&self, interrupt: &AtomicBool) -> Result<(), NetworkError> {
        let epoch = {
            let state = lock(&self.inbox().state);
            state.progress.check(state.epoch)?;
            state.epoch
        };
        for inbox in self.inboxes.iter() {
            inbox.change(|state| state.progress.note_finished(self.me, epoch));
        }
        self.wait(interrupt, |state| {
            self.others().all(|party| state.progress.has_finished(party, epoch)).then_some(Ok(()))
        })?;
        // What nobody has asked for was sent by another program.
        let state = lock(&self.inbox().state);
        let left = |frames: &VecDeque<Frame>| frames.front().is_some_and(|frame| frame.epoch == epoch);
        match state.frames.iter().position(left) {
            Some(from) => Err(NetworkError::Refused(from, Refusal::OutOfPlace)),
            None => Ok(()),
        }
    }

    fn traffic(&self) -> Traffic {
        lock(&self.counters).traffic()
    }
}

impl Drop for Local {
    fn drop(&mut self) {
        for party in self.others() {
            self.inboxes[party]
                .change(|state| state.progress.note_lost(self.me, NetworkError::Lost(self.me)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;
    use std::time::Duration;

    static GO: AtomicBool = AtomicBool::new(false);

    fn header(count: u64) -> Header {
        Header { count, site: 10 + count, ty: 20, digest: 30 * count }
    }

    fn send(from: &dyn Network, to: PartyId, count: u64, data: &[u8]) {
        from.send(to, &header(count), data.to_vec()).expect("a message is taken");
    }

    fn receive(at: &dyn Network, from: PartyId, count: u64, bytes: u64) -> Result<Vec<u8>, NetworkError> {
        at.receive(from, &header(count), Length::Exact(bytes), &GO)
    }

    #[test]
    fn messages_come_in_order_from_each() {
        let nets = connect(3);
        for count in 0..100u64 {
            send(&*nets[0], 2, count, &[count as u8]);
            send(&*nets[1], 2, count, &[count as u8, 1]);
        }
        for count in 0..100u64 {
            assert_eq!(receive(&*nets[2], 1, count, 2), Ok(vec![count as u8, 1]));
            assert_eq!(receive(&*nets[2], 0, count, 1), Ok(vec![count as u8]));
        }
    }

    #[test]
    fn a_sender_waits_for_who_is_behind_and_not_for_who_sends_in_the_same_move() {
        const STEP: u64 = 16 << 20;
        let nets = connect(2);
        let room = |at: usize, count| nets[at].wait_for_room(1 - at, &header(count), &GO);
        // Both send more than the bound in one move.
        for _ in 0..8 {
            for at in [0, 1] {
                assert_eq!(room(at, 0), Ok(()));
                send(&*nets[at], 1 - at, 0, &vec![0; STEP as usize]);
            }
        }
        thread::scope(|scope| {
            let sender = scope.spawn(|| room(0, 1));
            thread::sleep(3 * POLL);
            assert!(!sender.is_finished());
            for _ in 0..5 {
                assert!(receive(&*nets[1], 0, 0, STEP).is_ok());
            }
            assert_eq!(sender.join().expect("no panic"), Ok(()));
        });
        // Whoever waits can be interrupted, and learns that the other one has stopped.
        let set = AtomicBool::new(true);
        assert_eq!(nets[1].wait_for_room(0, &header(1), &set), Err(NetworkError::Interrupted));
        nets[0].stop(None);
        assert_eq!(room(1, 1), Err(NetworkError::Stopped(0)));
    }

    #[test]
    fn frames_out_of_place_are_refused_and_stay_so() {
        let cases = [
            (Header { count: 6, ..header(5) }, Refusal::OutOfPlace),
            (Header { site: 1, ..header(5) }, Refusal::OutOfPlace),
            (Header { ty: 1, ..header(5) }, Refusal::OutOfPlace),
            (Header { digest: 1, ..header(5) }, Refusal::Diverged),
            (Header { digest: 1, site: 1, ..header(5) }, Refusal::Diverged),
            (Header { digest: 1, count: 4, ..header(5) }, Refusal::OutOfPlace),
        ];
        for (sent, why) in cases {
            let nets = connect(2);
            nets[0].send(1, &sent, vec![1]).expect("a message is taken");
            for _ in 0..2 {
                assert_eq!(receive(&*nets[1], 0, 5, 1), Err(NetworkError::Refused(0, why)), "{sent:?}");
            }
        }
    }

    #[test]
    fn data_of_another_length_are_refused() {
        let nets = connect(2);
        send(&*nets[0], 1, 1, &[1, 2, 3]);
        for length in [Length::Exact(2), Length::Exact(4), Length::AtMost(2)] {
            let got = nets[1].receive(0, &header(1), length, &GO);
            assert_eq!(got, Err(NetworkError::Refused(0, Refusal::WrongLength)), "{length:?}");
        }
        assert_eq!(nets[1].receive(0, &header(1), Length::AtMost(9), &GO), Ok(vec![1, 2, 3]));
    }

    #[test]
    fn a_stop_reaches_who_waits_whatever_was_sent_before() {
        let nets = connect(4);
        send(&*nets[0], 1, 0, &[7]);
        thread::scope(|scope| {
            let waiting = scope.spawn(|| receive(&*nets[1], 3, 0, 1));
            let finishing = scope.spawn(|| nets[2].finish(&GO));
            thread::sleep(Duration::from_millis(20));
            nets[0].stop(None);
            for thread in [waiting.join().expect("no panic").map(drop), finishing.join().expect("no panic")] {
                assert_eq!(thread, Err(NetworkError::Stopped(0)));
            }
        });
        assert_eq!(receive(&*nets[1], 0, 0, 1), Err(NetworkError::Stopped(0)), "even what was sent");
        assert_eq!(nets[1].send(2, &header(0), vec![]), Err(NetworkError::Stopped(0)));
        assert_eq!(nets[0].send(1, &header(0), vec![]), Err(NetworkError::Stopped(0)), "itself, too");
    }

    #[test]
    fn the_flag_interrupts_who_waits() {
        let nets = connect(3);
        let flag = AtomicBool::new(false);
        thread::scope(|scope| {
            let waiting = scope.spawn(|| nets[0].receive(2, &header(0), Length::AtMost(9), &flag));
            let finishing = scope.spawn(|| nets[1].finish(&flag));
            flag.store(true, Ordering::Relaxed);
            assert_eq!(waiting.join().expect("no panic"), Err(NetworkError::Interrupted));
            assert_eq!(finishing.join().expect("no panic"), Err(NetworkError::Interrupted));
        });
    }

    #[test]
    fn an_epoch_drops_what_is_older_and_keeps_what_is_newer() {
        let nets = connect(2);
        let begin = |epoch| nets.iter().for_each(|net| net.begin(epoch));
        begin(1);
        send(&*nets[0], 1, 0, &[1]);
        nets[1].stop(None);
        // The sender is ahead: it begins the next epoch first.
        nets[0].begin(2);
        send(&*nets[0], 1, 0, &[2]);
        nets[1].begin(2);
        assert_eq!(receive(&*nets[1], 0, 0, 1), Ok(vec![2]));
        // The sender is behind: its frame comes too late.
        nets[1].begin(3);
        send(&*nets[0], 1, 1, &[3]);
        nets[0].begin(3);
        send(&*nets[0], 1, 0, &[4]);
        assert_eq!(receive(&*nets[1], 0, 0, 1), Ok(vec![4]));
    }

    #[test]
    fn all_finish_together_and_what_is_left_is_refused() {
        let nets = connect(3);
        let finish = || -> Vec<_> {
            thread::scope(|scope| {
                let threads: Vec<_> = nets.iter().map(|net| scope.spawn(|| net.finish(&GO))).collect();
                threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
            })
        };
        assert_eq!(finish(), [Ok(()), Ok(()), Ok(())]);
        nets.iter().for_each(|net| net.begin(1));
        send(&*nets[1], 2, 0, &[1]);
        assert_eq!(finish(), [Ok(()), Ok(()), Err(NetworkError::Refused(1, Refusal::OutOfPlace))]);
        assert_eq!(receive(&*nets[0], 1, 0, 1), Err(NetworkError::Refused(1, Refusal::OutOfPlace)));
    }

    #[test]
    fn who_goes_without_a_word_is_lost() {
        let mut nets = connect(3);
        thread::scope(|scope| {
            let gone = nets.pop().expect("three parties");
            let waiting = scope.spawn(|| receive(&*nets[0], 1, 0, 1));
            drop(gone);
            assert_eq!(waiting.join().expect("no panic"), Err(NetworkError::Lost(2)));
        });
        assert_eq!(nets[1].send(0, &header(0), vec![]), Err(NetworkError::Lost(2)));
    }

    #[test]
    fn large_exchanges_do_not_lock() {
        let nets = connect(2);
        thread::scope(|scope| {
            for (me, net) in nets.iter().enumerate() {
                scope.spawn(move || {
                    for count in 0..3 {
                        send(&**net, 1 - me, count, &vec![me as u8; 1 << 22]);
                    }
                    for count in 0..3 {
                        assert_eq!(
                            receive(&**net, 1 - me, count, 1 << 22).map(|data| data.len()),
                            Ok(1 << 22)
                        );
                    }
                });
            }
        });
        assert_eq!(nets[0].traffic(), nets[1].traffic());
        assert_eq!((nets[0].traffic().rounds, nets[0].traffic().bytes_sent), (1, 3 << 22));
    }

    fn words(net: &dyn Network, with: PartyId) -> [u64; 64] {
        let mut words = [0; 64];
        net.random_words(with, &mut words);
        words
    }

    #[test]
    fn streams_agree_in_a_pair_and_differ_elsewhere() {
        let nets = connect(3);
        let mut seen = std::collections::HashSet::new();
        let mut fresh = |words: [u64; 64]| assert!(words.into_iter().all(|word| seen.insert(word)));
        for epoch in 1..4 {
            nets.iter().for_each(|net| net.begin(epoch));
            for (one, other) in [(0, 1), (0, 2), (1, 2)] {
                let drawn = words(&*nets[one], other);
                assert_eq!(drawn, words(&*nets[other], one));
                fresh(drawn);
            }
            (0..3).for_each(|me| fresh(words(&*nets[me], me)));
        }
        fresh(words(&*connect(2)[0], 1));
    }

    #[test]
    fn a_seed_gives_the_same_streams() {
        let (one, other) = (connect_seeded(3, 5), connect_seeded(3, 5));
        for (me, with) in [(0, 0), (0, 1), (2, 1)] {
            assert_eq!(words(&*one[me], with), words(&*other[me], with));
        }
        assert_ne!(words(&*one[1], 2), words(&*connect_seeded(3, 6)[1], 2));
    }
}
