//! The network of a party among processes: TCP, mutual TLS 1.3, two threads for each other party.
//!
//! Takes connections on which all have agreed what is run; gives a [`Network`]. Knows no values.
//!
//! For each other party there is a thread that reads and one that writes, and none of them waits
//! for the program: large exchanges in both directions cannot lock ([`flow`] says how memory stays
//! bounded). [`channel`] is the lock that the two share, and nobody holds it while waiting for a
//! socket. One more thread asks for signs of life at each tick and counts the ticks since the last
//! byte of each party: time is measured by ticks, so that a process that was stopped itself reports
//! no peer as lost when it goes on.
//!
//! Locks are taken in this order: the state, the outbox of a party, the channel.

mod channel;
mod establish;
mod flow;
mod identity;
#[cfg(test)]
mod misbehaving_peer;

use crate::certificate::MAX_NAME_BYTES;
use crate::config::Config;
use crate::frame::{MAX_PARTIES, SessionName};
use crate::handshake::{ConnectError, Hello, MAX_BUILD_BYTES, hash};
use crate::network::progress::{Counters, Progress};
use crate::network::stream::Streams;
use crate::network::{Header, Length, Network, NetworkError, POLL, PartyId, Refusal, Traffic, lock};
use channel::Channel;
use establish::{ConnectedParty, Session};
use flow::{Event, ReceiveQueue, SendQueue};
use identity::Identity;
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

/// The time that a stop, an end, or the last frames may take to leave this machine at most.
const MAX_FLUSH: Duration = Duration::from_secs(1);

/// The size of the buffer between the socket and TLS in bytes.
const READ_BYTES: usize = 1 << 17;

/// Limits of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The longest time that the parties wait for each other at the beginning.
    pub connect: Duration,
    /// The time between two signs of life.
    pub heartbeat: Duration,
    /// The silence after which a party is given up.
    pub silence: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            connect: Duration::from_secs(60),
            heartbeat: Duration::from_secs(1),
            silence: Duration::from_secs(30),
        }
    }
}

/// The run of a program by one party: the program, and the other parties.
#[derive(Clone, Debug)]
pub struct Options {
    /// The addresses and certificates of the parties.
    pub config: Config,
    /// The names of the parties in the order of the declaration.
    pub parties: Vec<String>,
    /// The name of this party.
    pub me: String,
    /// The version of Felis: at most [`MAX_BUILD_BYTES`] of it are compared.
    pub build: String,
    /// A hash of the text of the program, from a cryptographic hash function.
    pub program: [u8; 32],
    /// The arguments of the program.
    pub args: Vec<String>,
    /// Limits of time.
    pub limits: Limits,
}

/// Connects with the other parties; returns when all have agreed on what is run.
///
/// # Errors
/// See [`ConnectError`]. The interrupt flag is looked at all the time.
pub fn connect(options: &Options, interrupt: &AtomicBool) -> Result<Arc<dyn Network>, ConnectError> {
    let Options { config, parties, me, build, program, args, limits } = options;
    if !(2..=MAX_PARTIES).contains(&parties.len()) {
        return Err(ConnectError::Count { parties: parties.len() });
    }
    if let Some(name) = parties.iter().find(|name| name.len() > MAX_NAME_BYTES) {
        return Err(ConnectError::LongName { name: name.clone() });
    }
    let me = establish::party_number(parties, me)?;
    let identity = Identity::read(config, parties, me)?;
    let prints = identity.certificates().iter().map(|certificate| hash([certificate.as_ref()]));
    let hello = Hello {
        from: me,
        build: build[..build.floor_char_boundary(MAX_BUILD_BYTES)].into(),
        program: *program,
        args: hash(args.iter().map(String::as_bytes)),
        parties: parties.iter().cloned().zip(prints).collect(),
        nonce: establish::random_bytes()?,
    };
    let session = establish::establish(config, &identity, hello, limits, interrupt)?;
    Ok(Arc::new(Tls::start(me, session, limits)?))
}

/// The queue of frames to one party.
struct Outbox {
    state: Mutex<Out>,
    /// Rung at each change of the state.
    bell: Condvar,
}

struct Out {
    flow: SendQueue,
    /// The writer has taken bytes and not yet given them to the socket.
    busy: bool,
    /// Nothing will be added.
    closing: bool,
    /// Nothing can be sent any more.
    dead: bool,
}

impl Outbox {
    fn change(&self, change: impl FnOnce(&mut Out)) {
        change(&mut lock(&self.state));
        self.bell.notify_all();
    }

    /// Waits until the control frames are with the operating system, or it makes no sense to wait.
    fn flush(&self, deadline: Instant) {
        let mut out = lock(&self.state);
        while (out.busy || out.flow.has_control()) && !out.dead {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            out = self.bell.wait_timeout(out, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// The state of one other party, as far as it is known.
struct Peer {
    inflow: ReceiveQueue,
    /// The messages that were sent and received in the present epoch.
    sent: u64,
    received: u64,
    /// The number of messages that the party has sent in the present epoch, when it has finished
    /// it.
    finish: Option<u64>,
    /// The same of the last later epoch.
    later: Option<(u64, u64)>,
    /// The ticks since the last byte came.
    quiet: u32,
}

struct State {
    epoch: u64,
    progress: Progress,
    peers: Vec<Peer>,
}

/// State that the threads share.
struct Shared {
    me: PartyId,
    state: Mutex<State>,
    /// Rung when a program that waits has to look again.
    bell: Condvar,
    outboxes: Vec<Outbox>,
    /// `None` for this party.
    wires: Vec<Option<Wire>>,
}

struct Wire {
    socket: TcpStream,
    channel: Channel,
}

/// The network of this process.
struct Tls {
    shared: Arc<Shared>,
    streams: Streams,
    counters: Mutex<Counters>,
    threads: Vec<JoinHandle<()>>,
    /// Dropped at the end: then the thread of the ticks ends.
    ticks: Option<Sender<()>>,
}

impl Tls {
    fn start(me: PartyId, session: Session, limits: &Limits) -> Result<Tls, ConnectError> {
        let Session { name, peers, keys } = session;
        let parties = peers.len();
        let wire = |ConnectedParty { socket, connection }| Wire { socket, channel: Channel::new(connection) };
        let shared = Arc::new(Shared {
            me,
            state: Mutex::new(State {
                epoch: 0,
                progress: Progress::new(parties),
                peers: (0..parties).map(|_| Peer::new(name)).collect(),
            }),
            bell: Condvar::new(),
            outboxes: (0..parties).map(|_| Outbox::new(name)).collect(),
            wires: peers.into_iter().map(|joined| joined.map(wire)).collect(),
        });
        let (ticks, ended) = channel();
        let streams = Streams::new(keys);
        let ticks = Some(ticks);
        let mut tls = Tls { shared, streams, counters: Mutex::default(), threads: Vec::new(), ticks };
        for party in tls.shared.others() {
            tls.spawn(move |shared| shared.read(party))?;
            tls.spawn(move |shared| shared.write(party))?;
        }
        let heartbeat = limits.heartbeat.max(Duration::from_millis(1));
        let ratio = limits.silence.as_nanos().div_ceil(heartbeat.as_nanos());
        let most = u32::try_from(ratio).unwrap_or(u32::MAX);
        tls.spawn(move |shared| shared.tick(&ended, heartbeat, most))?;
        Ok(tls)
    }

    fn spawn(&mut self, work: impl FnOnce(&Shared) + Send + 'static) -> Result<(), ConnectError> {
        let shared = self.shared.clone();
        let thread = Builder::new().name("parties".into()).spawn(move || work(&shared));
        self.threads.push(thread.map_err(|error| ConnectError::System { why: error.to_string() })?);
        Ok(())
    }
}

impl Outbox {
    fn new(session: SessionName) -> Outbox {
        let out = Out { flow: SendQueue::new(session), busy: false, closing: false, dead: false };
        Outbox { state: Mutex::new(out), bell: Condvar::new() }
    }
}

impl Peer {
    fn new(session: SessionName) -> Peer {
        Peer { inflow: ReceiveQueue::new(session), sent: 0, received: 0, finish: None, later: None, quiet: 0 }
    }

    fn begin(&mut self, epoch: u64) {
        self.inflow.drop_before(epoch);
        (self.sent, self.received) = (0, 0);
        self.finish = self.later.filter(|&(at, _)| at == epoch).map(|(_, messages)| messages);
        self.later = self.later.filter(|&(at, _)| at > epoch);
    }

    /// Decides about the oldest message: it is there, it may still come, or it is not the one that
    /// is expected. One that is refused stays: so is every later one.
    fn take(&mut self, epoch: u64, header: &Header, length: Length) -> Result<Option<Vec<u8>>, Refusal> {
        let Some(message) = self.inflow.front() else {
            // Data may come after the frame that says how many messages there are.
            let all = self.finish.is_some_and(|messages| messages <= self.received) || self.later.is_some();
            return if all { Err(Refusal::OutOfPlace) } else { Ok(None) };
        };
        if message.epoch > epoch {
            return Err(Refusal::OutOfPlace);
        }
        header.check(&message.header)?;
        length.check(message.length)?;
        let data = self.inflow.pop();
        match data {
            Some(_) => self.received += 1,
            None => self.inflow.reserve_front(),
        }
        Ok(data)
    }
}

impl Shared {
    fn others(&self) -> impl Iterator<Item = PartyId> + use<> {
        let (me, parties) = (self.me, self.wires.len());
        (0..parties).filter(move |&party| party != me)
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut lock(&self.state));
        self.bell.notify_all();
    }

    /// Gives a party up: nothing will come from it, and nothing can be sent to it.
    fn lose(&self, party: PartyId, why: NetworkError) {
        self.change(|state| state.progress.note_lost(party, why));
        self.outboxes[party].change(|out| out.dead = true);
        if let Some(wire) = &self.wires[party] {
            // It may be closed already.
            let _ = wire.socket.shutdown(Shutdown::Both);
        }
    }

    /// The thread that reads what a party sends.
    fn read(&self, party: PartyId) {
        let Some(Wire { socket, channel }) = &self.wires[party] else { return };
        let mut socket = socket;
        let (mut sealed, mut plain) = (vec![0; READ_BYTES], Vec::new());
        // What came with the last bytes of the handshake is with TLS already.
        let mut bytes = 0;
        loop {
            plain.clear();
            let opened = channel.open(&sealed[..bytes], &mut plain);
            let fed = self.feed(party, &plain);
            match (opened, fed) {
                (_, Err(why)) => return self.lose(party, NetworkError::Refused(party, why)),
                (Err(_), _) => {
                    return self.lose(party, NetworkError::Refused(party, Refusal::Malformed));
                }
                (Ok(true), _) => break,
                (Ok(false), Ok(())) => {}
            }
            bytes = loop {
                match socket.read(&mut sealed) {
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Err(_) => break 0,
                    Ok(bytes) => break bytes,
                }
            };
            if bytes == 0 {
                break;
            }
        }
        // The other side has ended. This side ends, too, after what it still has to say.
        self.change(|state| state.progress.note_lost(party, NetworkError::Lost(party)));
        self.outboxes[party].change(|out| out.closing = true);
    }

    /// Takes what a party has sent.
    fn feed(&self, party: PartyId, plain: &[u8]) -> Result<(), Refusal> {
        if plain.is_empty() {
            return Ok(());
        }
        let state = &mut *lock(&self.state);
        let (epoch, peer) = (state.epoch, &mut state.peers[party]);
        peer.quiet = 0;
        let (outbox, progress) = (&self.outboxes[party], &mut state.progress);
        let (finish, later, mut events) = (&mut peer.finish, &mut peer.later, false);
        let (me, parties) = (self.me, self.outboxes.len());
        let fed = peer.inflow.push_bytes(plain, epoch, |event| match event {
            Event::Credit(allowed) => outbox.change(|out| out.flow.accept_credit(allowed)),
            Event::Stop(at, after) => {
                let first = after.filter(|&first| first < parties && first != me);
                progress.note_stopped(first.unwrap_or(party), at);
                events = true;
            }
            Event::Finish(at, messages) => {
                progress.note_finished(party, at);
                match at.cmp(&epoch) {
                    std::cmp::Ordering::Less => {}
                    std::cmp::Ordering::Equal => *finish = Some(messages),
                    std::cmp::Ordering::Greater => *later = Some((at, messages)),
                }
                events = true;
            }
        });
        self.tell_credit(party, peer);
        if events || fed != Ok(false) {
            self.bell.notify_all();
        }
        fed.map(drop)
    }

    fn tell_credit(&self, party: PartyId, peer: &mut Peer) {
        if let Some(credit) = peer.inflow.new_credit_limit() {
            self.outboxes[party].change(|out| out.flow.send_credit(credit));
        }
    }

    /// The thread that writes what is to be sent to a party.
    fn write(&self, party: PartyId) {
        let Some(Wire { socket, channel }) = &self.wires[party] else { return };
        let mut socket = socket;
        let outbox = &self.outboxes[party];
        let (mut plain, mut sealed) = (Vec::new(), Vec::new());
        loop {
            let mut out = lock(&outbox.state);
            while !(out.dead || out.closing || out.flow.is_ready()) {
                out = outbox.bell.wait(out).unwrap_or_else(PoisonError::into_inner);
            }
            if out.dead {
                return;
            }
            plain.clear();
            sealed.clear();
            out.flow.take_frames(&mut plain);
            out.busy = true;
            drop(out);
            let last = plain.is_empty();
            let written = channel.seal(&plain, last, &mut sealed).and_then(|()| socket.write_all(&sealed));
            outbox.change(|out| {
                out.busy = false;
                out.dead |= last || written.is_err();
            });
            if last {
                let _ = socket.shutdown(Shutdown::Write);
                return;
            }
            if written.is_err() {
                // What the other has sent before it ended is still read: its last word counts.
                return;
            }
        }
    }

    /// The thread of the ticks: signs of life are given, and those of the others are missed.
    fn tick(&self, ended: &Receiver<()>, heartbeat: Duration, most: u32) {
        while ended.recv_timeout(heartbeat) == Err(RecvTimeoutError::Timeout) {
            for party in self.others() {
                self.outboxes[party].change(|out| out.flow.send_heartbeat());
                let silent = {
                    let state = &mut *lock(&self.state);
                    let peer = &mut state.peers[party];
                    peer.quiet = peer.quiet.saturating_add(1);
                    peer.quiet > most && !state.progress.is_lost(party)
                };
                if silent {
                    self.lose(party, NetworkError::Silent(party));
                }
            }
        }
    }

    fn flush(&self) {
        let deadline = Instant::now() + MAX_FLUSH;
        self.others().for_each(|party| self.outboxes[party].flush(deadline));
    }

    /// Waits until a question to the state has an answer.
    fn wait<T>(
        &self,
        interrupt: &AtomicBool,
        mut question: impl FnMut(&mut State) -> Option<Result<T, NetworkError>>,
    ) -> Result<T, NetworkError> {
        let mut state = lock(&self.state);
        loop {
            if interrupt.load(Ordering::Relaxed) {
                return Err(NetworkError::Interrupted);
            }
            state.progress.check(state.epoch)?;
            if let Some(answer) = question(&mut state) {
                return answer;
            }
            state = self.bell.wait_timeout(state, POLL).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl Network for Tls {
    fn me(&self) -> PartyId {
        self.shared.me
    }

    fn parties(&self) -> usize {
        self.shared.wires.len()
    }

    fn begin(&self, epoch: u64) {
        self.streams.begin(epoch);
        let state = &mut *lock(&self.shared.state);
        if epoch > state.epoch {
            state.epoch = epoch;
            for party in self.shared.others() {
                state.peers[party].begin(epoch);
                self.shared.tell_credit(party, &mut state.peers[party]);
            }
        }
    }

    fn send(&self, to: PartyId, header: &Header, data: Vec<u8>) -> Result<(), NetworkError> {
        let bytes = data.len();
        {
            let state = &mut *lock(&self.shared.state);
            state.progress.check(state.epoch)?;
            state.peers[to].sent += 1;
            let epoch = state.epoch;
            self.shared.outboxes[to].change(|out| out.flow.push(epoch, *header, data));
        }
        lock(&self.counters).count_sent(bytes as u64);
        Ok(())
    }

    fn wait_for_room(
        &self,
        to: PartyId,
        header: &Header,
        interrupt: &AtomicBool,
    ) -> Result<(), NetworkError> {
        self.shared.wait(interrupt, |state| {
            let out = lock(&self.shared.outboxes[to].state);
            (out.dead || out.flow.has_room(state.epoch, header.count)).then_some(Ok(()))
        })
    }

    fn receive(
        &self,
        from: PartyId,
        header: &Header,
        length: Length,
        interrupt: &AtomicBool,
    ) -> Result<Vec<u8>, NetworkError> {
        let data = self.shared.wait(interrupt, |state| {
            let (epoch, peer) = (state.epoch, &mut state.peers[from]);
            let taken = peer.take(epoch, header, length);
            self.shared.tell_credit(from, peer);
            taken.map_err(|why| NetworkError::Refused(from, why)).transpose()
        })?;
        lock(&self.counters).count_received(data.len() as u64);
        Ok(data)
    }

    fn random_words(&self, with: PartyId, words: &mut [u64]) {
        self.streams.fill(with, words);
    }

    fn stop(&self, after: Option<PartyId>) {
        self.shared.change(|state| {
            let epoch = state.epoch;
            state.progress.note_stopped(self.shared.me, epoch);
            for party in self.shared.others() {
                self.shared.outboxes[party].change(|out| out.flow.send_stop(epoch, after));
            }
        });
        // The process may end now.
        self.shared.flush();
    }

    fn finish(&self, interrupt: &AtomicBool) -> Result<(), NetworkError> {
        let shared = &self.shared;
        let epoch = {
            let state = &mut *lock(&shared.state);
            let epoch = state.epoch;
            state.progress.check(epoch)?;
            state.progress.note_finished(shared.me, epoch);
            for party in shared.others() {
                let messages = state.peers[party].sent;
                shared.outboxes[party].change(|out| out.flow.send_finish(epoch, messages));
            }
            epoch
        };
        shared.wait(interrupt, |state| {
            let mut others = shared.others();
            others.all(|party| state.progress.has_finished(party, epoch)).then_some(Ok(()))
        })?;
        shared.flush();
        // What nobody has asked for was sent by another program.
        let state = lock(&shared.state);
        let other = |&party: &PartyId| {
            let peer = &state.peers[party];
            peer.finish.is_some_and(|messages| messages != peer.received)
        };
        match shared.others().find(other) {
            Some(party) => Err(NetworkError::Refused(party, Refusal::OutOfPlace)),
            None => Ok(()),
        }
    }

    fn traffic(&self) -> Traffic {
        lock(&self.counters).traffic()
    }
}

impl Drop for Tls {
    fn drop(&mut self) {
        self.ticks = None;
        for party in self.shared.others() {
            self.shared.outboxes[party].change(|out| out.closing = true);
        }
        // The others read the last frames and close their side, which ends the threads that read.
        let deadline = Instant::now() + MAX_FLUSH;
        while Instant::now() < deadline && !self.threads.iter().all(JoinHandle::is_finished) {
            std::thread::sleep(Duration::from_millis(1));
        }
        for party in self.shared.others() {
            self.shared.lose(party, NetworkError::Lost(party));
        }
        for thread in self.threads.drain(..) {
            // A thread that panics has lost its party.
            let _ = thread.join();
        }
    }
}
