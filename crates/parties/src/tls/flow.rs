//! The two directions of a connection as state machines: what may be sent next, and what has come.
//!
//! Takes messages and gives the bytes of frames, and back. Never waits, and knows neither sockets
//! nor TLS.
//!
//! The receiver never keeps more than [`MAX_WINDOW_BYTES`] that its program has not asked for. Each
//! side counts the bytes of messages since the connection began, [`HEAD_BYTES`] for each message
//! and its data; the receiver says how far the sender may go ([`Kind::Credit`]). It lets the sender
//! go on by what the program has received, and by the length of the message that the program waits
//! for, after header and length have been checked. So stop and heartbeat frames never wait behind
//! data, and a false length costs the receiver no memory.

use crate::frame::{HEAD_BYTES, Head, Kind, MAX_PART_BYTES, NO_HEADER, SessionName};
use crate::network::{Header, MAX_QUEUED_BYTES, QUEUED_MESSAGE_BYTES, Refusal};
use std::collections::VecDeque;

/// The number of bytes that wait for the program of the receiver at most.
pub const MAX_WINDOW_BYTES: u64 = 4 << 20;

/// The number of bytes of memory that is taken at once for a message, at most. More is taken when
/// that many bytes have come.
const MAX_RESERVED_BYTES: u64 = 64 << 20;

/// The number of bytes after which a permission is sent although nobody waits.
const CREDIT_STEP_BYTES: u64 = MAX_WINDOW_BYTES / 4;

/// The number of bytes that are sealed at once; control frames may stand between two such pieces.
const BATCH_BYTES: usize = 2 * MAX_PART_BYTES;

/// The overhead with which a message counts, apart from its data.
const MESSAGE_BYTES: u64 = HEAD_BYTES as u64;

/// A message that is to be sent.
struct OutgoingMessage {
    epoch: u64,
    header: Header,
    data: Vec<u8>,
    sent: usize,
    begun: bool,
}

/// The messages to one party that are not sent yet.
pub struct SendQueue {
    session: SessionName,
    messages: VecDeque<OutgoingMessage>,
    /// The bytes that these messages count while they are kept.
    queued: u64,
    /// The credit that the receiver has given, and the part of it that is used.
    allowed: u64,
    charged: u64,
    credit: Option<u64>,
    /// The epoch, and the number of the party that was the first to stop.
    stop: Option<(u64, u64)>,
    finish: Option<(u64, u64)>,
    heartbeat: bool,
}

impl SendQueue {
    /// Creates the state of a sender that has nothing to send.
    pub fn new(session: SessionName) -> SendQueue {
        SendQueue {
            session,
            messages: VecDeque::new(),
            queued: 0,
            allowed: MAX_WINDOW_BYTES,
            charged: 0,
            credit: None,
            stop: None,
            finish: None,
            heartbeat: false,
        }
    }

    /// Adds a message.
    pub fn push(&mut self, epoch: u64, header: Header, data: Vec<u8>) {
        self.queued += data.len() as u64 + QUEUED_MESSAGE_BYTES;
        self.messages.push_back(OutgoingMessage { epoch, header, data, sent: 0, begun: false });
    }

    /// Decides whether a move may add a message: at most [`MAX_QUEUED_BYTES`] are kept, or all that
    /// is kept is of this move.
    pub fn has_room(&self, epoch: u64, count: u64) -> bool {
        let front = self.messages.front();
        let earlier = front.is_some_and(|message| (message.epoch, message.header.count) != (epoch, count));
        !earlier || self.queued <= MAX_QUEUED_BYTES
    }

    /// Raises the credit limit that the receiver has granted to this side, in bytes since the
    /// beginning.
    pub fn accept_credit(&mut self, allowed: u64) {
        self.allowed = self.allowed.max(allowed);
    }

    /// Queues a frame that grants the other side this credit limit.
    pub fn send_credit(&mut self, credit: u64) {
        self.credit = self.credit.max(Some(credit));
    }

    /// Queues a frame that says that this party has stopped, and after which other one. The
    /// messages of the epoch are forgotten.
    pub fn send_stop(&mut self, epoch: u64, after: Option<usize>) {
        self.messages.clear();
        self.queued = 0;
        self.stop = Some((epoch, after.map_or(0, |party| party as u64 + 1)));
    }

    /// Queues a frame that says that this party has finished, after that many messages.
    pub fn send_finish(&mut self, epoch: u64, messages: u64) {
        self.finish = Some((epoch, messages));
    }

    /// Queues a heartbeat frame.
    pub fn send_heartbeat(&mut self) {
        self.heartbeat = true;
    }

    /// Decides whether a frame other than of a message waits.
    pub fn has_control(&self) -> bool {
        self.heartbeat || self.credit.is_some() || self.stop.is_some() || self.finish.is_some()
    }

    /// Decides whether anything can be sent now.
    pub fn is_ready(&self) -> bool {
        self.has_control() || self.next_part().is_some()
    }

    /// Returns the size of the next part if the receiver lets it go.
    fn next_part(&self) -> Option<usize> {
        let message = self.messages.front()?;
        let part = (message.data.len() - message.sent).min(MAX_PART_BYTES);
        let cost = part as u64 + if message.begun { 0 } else { MESSAGE_BYTES };
        (self.charged + cost <= self.allowed).then_some(part)
    }

    /// Appends the next frames to `bytes`: all control frames, then data.
    pub fn take_frames(&mut self, bytes: &mut Vec<u8>) {
        let (session, end) = (self.session, bytes.len() + BATCH_BYTES);
        let mut control = |kind, epoch, number| {
            bytes.extend(Head { kind, epoch, header: NO_HEADER, number }.encode(&session));
        };
        if let Some((epoch, after)) = self.stop.take() {
            control(Kind::Stop, epoch, after);
        }
        if let Some(credit) = self.credit.take() {
            control(Kind::Credit, 0, credit);
        }
        if let Some((epoch, messages)) = self.finish.take() {
            control(Kind::Finish, epoch, messages);
        }
        if std::mem::take(&mut self.heartbeat) {
            control(Kind::Heartbeat, 0, 0);
        }
        while bytes.len() < end
            && let Some(part) = self.next_part()
            && let Some(message) = self.messages.front_mut()
        {
            let length = message.data.len();
            let head = if message.begun {
                Head { kind: Kind::Part, epoch: message.epoch, header: NO_HEADER, number: part as u64 }
            } else {
                self.charged += MESSAGE_BYTES;
                Head { kind: Kind::Data, epoch: message.epoch, header: message.header, number: length as u64 }
            };
            bytes.extend(head.encode(&session));
            bytes.extend(&message.data[message.sent..message.sent + part]);
            (message.begun, message.sent) = (true, message.sent + part);
            self.charged += part as u64;
            if message.sent == length {
                self.messages.pop_front();
                self.queued -= length as u64 + QUEUED_MESSAGE_BYTES;
            }
        }
    }
}

/// A message that has come, at least in part.
#[derive(Debug)]
pub struct IncomingMessage {
    /// Its epoch.
    pub epoch: u64,
    /// Its header.
    pub header: Header,
    /// The length of its data in bytes, as declared.
    pub length: u64,
    /// The data that have come.
    pub data: Vec<u8>,
    charged: u64,
}

impl IncomingMessage {
    /// Decides whether all data have come.
    pub fn is_complete(&self) -> bool {
        self.data.len() as u64 == self.length
    }
}

/// The message whose parts are coming.
struct Open {
    epoch: u64,
    /// The bytes of data whose parts have not begun.
    left: u64,
    /// True if it is the last one of the messages; otherwise its data are dropped.
    kept: bool,
}

/// The content of a frame that is no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The sender lets this party go that far.
    Credit(u64),
    /// The sender has stopped in this epoch, by itself or after another party.
    Stop(u64, Option<usize>),
    /// The sender has finished this epoch, after that many messages.
    Finish(u64, u64),
}

/// The messages that have come from one party.
pub struct ReceiveQueue {
    session: SessionName,
    head: [u8; HEAD_BYTES],
    head_bytes: usize,
    /// The bytes of the present part that have not come.
    part_left: usize,
    open: Option<Open>,
    messages: VecDeque<IncomingMessage>,
    /// The credit of the sender, the part of it that has been announced, and the part that is used.
    allowed: u64,
    announced: u64,
    charged: u64,
    /// Bytes that have gone to the program or been dropped.
    released: u64,
}

impl ReceiveQueue {
    /// Creates the state of a receiver that has received nothing.
    pub fn new(session: SessionName) -> ReceiveQueue {
        ReceiveQueue {
            session,
            head: [0; HEAD_BYTES],
            head_bytes: 0,
            part_left: 0,
            open: None,
            messages: VecDeque::new(),
            allowed: MAX_WINDOW_BYTES,
            announced: MAX_WINDOW_BYTES,
            charged: 0,
            released: 0,
        }
    }

    /// Takes bytes; messages of epochs before `epoch` are dropped. Gives events to `say`, and
    /// returns whether a message has begun or is complete.
    ///
    /// # Errors
    /// The bytes are no frames of this session, or not in an order in which a party sends them.
    pub fn push_bytes(
        &mut self,
        mut bytes: &[u8],
        epoch: u64,
        mut say: impl FnMut(Event),
    ) -> Result<bool, Refusal> {
        let mut news = false;
        while !bytes.is_empty() {
            if self.part_left > 0 {
                let (data, rest) = bytes.split_at(self.part_left.min(bytes.len()));
                bytes = rest;
                self.part_left -= data.len();
                if let Some(Open { kept: true, .. }) = self.open
                    && let Some(message) = self.messages.back_mut()
                {
                    message.data.extend(data);
                    news |= message.is_complete();
                }
                continue;
            }
            let (piece, rest) = bytes.split_at((HEAD_BYTES - self.head_bytes).min(bytes.len()));
            bytes = rest;
            self.head[self.head_bytes..self.head_bytes + piece.len()].copy_from_slice(piece);
            self.head_bytes += piece.len();
            if self.head_bytes < HEAD_BYTES {
                break;
            }
            self.head_bytes = 0;
            let head = Head::decode(&self.head, &self.session)?;
            match head.kind {
                Kind::Data => {
                    self.begin_message(&head, epoch)?;
                    news = true;
                }
                Kind::Part => self.begin_part(&head)?,
                Kind::Credit => say(Event::Credit(head.number)),
                Kind::Stop => {
                    let after = head.number.checked_sub(1).map(|party| party as usize);
                    say(Event::Stop(head.epoch, after));
                }
                Kind::Finish => say(Event::Finish(head.epoch, head.number)),
                Kind::Heartbeat => {}
            }
        }
        Ok(news)
    }

    fn begin_message(&mut self, head: &Head, epoch: u64) -> Result<(), Refusal> {
        if let Some(open) = self.open.take() {
            if head.epoch < open.epoch {
                return Err(Refusal::OutOfPlace);
            }
            if open.left > 0 {
                // The sender has stopped within a message: it goes on in a later epoch.
                if head.epoch == open.epoch {
                    return Err(Refusal::Malformed);
                }
                if open.kept
                    && let Some(message) = self.messages.pop_back()
                {
                    self.released += message.charged;
                }
            }
        }
        let kept = head.epoch >= epoch;
        self.open = Some(Open { epoch: head.epoch, left: head.number, kept });
        if kept {
            let Head { epoch, header, number: length, .. } = *head;
            self.messages.push_back(IncomingMessage { epoch, header, length, data: Vec::new(), charged: 0 });
        }
        let part = head.number.min(MAX_PART_BYTES as u64);
        self.charge(part, MESSAGE_BYTES)
    }

    fn begin_part(&mut self, head: &Head) -> Result<(), Refusal> {
        let open = self.open.as_ref().filter(|open| open.epoch == head.epoch && open.left > 0);
        let Some(open) = open else { return Err(Refusal::OutOfPlace) };
        if head.number != open.left.min(MAX_PART_BYTES as u64) {
            return Err(Refusal::Malformed);
        }
        self.charge(head.number, 0)
    }

    /// Counts the next part of the open message, of that many bytes of data.
    fn charge(&mut self, part: u64, more: u64) -> Result<(), Refusal> {
        let cost = part + more;
        self.charged += cost;
        if self.charged > self.allowed {
            return Err(Refusal::Malformed);
        }
        let Some(open) = &mut self.open else { return Err(Refusal::OutOfPlace) };
        open.left -= part;
        match self.messages.back_mut() {
            Some(message) if open.kept => message.charged += cost,
            _ => self.released += cost,
        }
        // A part has at most `MAX_PART_BYTES`.
        self.part_left = part as usize;
        Ok(())
    }

    /// Drops the messages of epochs before this one.
    pub fn drop_before(&mut self, epoch: u64) {
        let dropped = self.messages.iter().take_while(|message| message.epoch < epoch).count();
        self.released += self.messages.drain(..dropped).map(|message| message.charged).sum::<u64>();
        if let Some(open) = &mut self.open {
            open.kept &= open.epoch >= epoch;
        }
    }

    /// Returns the oldest message, which may be incomplete.
    pub fn front(&self) -> Option<&IncomingMessage> {
        self.messages.front()
    }

    /// Reserves memory for the oldest message, which the program waits for and whose length is checked.
    pub fn reserve_front(&mut self) {
        let Some(message) = self.messages.front_mut() else { return };
        let reserved = message.length.min(MAX_RESERVED_BYTES) as usize;
        // Without the memory the data are taken as they come.
        let _ = message.data.try_reserve_exact(reserved.saturating_sub(message.data.len()));
        let end = self.released.saturating_add(MESSAGE_BYTES).saturating_add(message.length);
        if end > self.announced {
            self.allowed = self.allowed.max(end.saturating_add(MAX_WINDOW_BYTES));
        }
    }

    /// Takes the oldest message if it is complete.
    pub fn pop(&mut self) -> Option<Vec<u8>> {
        self.messages.front().filter(|message| message.is_complete())?;
        let message = self.messages.pop_front()?;
        self.released += message.charged;
        Some(message.data)
    }

    /// Returns the new credit limit if it exceeds the announced one by [`CREDIT_STEP_BYTES`].
    pub fn new_credit_limit(&mut self) -> Option<u64> {
        self.allowed = self.allowed.max(self.released.saturating_add(MAX_WINDOW_BYTES));
        let due = self.allowed - self.announced >= CREDIT_STEP_BYTES;
        due.then(|| {
            self.announced = self.allowed;
            self.allowed
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SESSION: SessionName = [8; 16];

    fn header(count: u64) -> Header {
        Header { count, site: 1, ty: 2, digest: 3 }
    }

    fn frame(kind: Kind, epoch: u64, number: u64) -> Vec<u8> {
        let header = if kind == Kind::Data { header(0) } else { NO_HEADER };
        Head { kind, epoch, header, number }.encode(&SESSION).to_vec()
    }

    fn refused(frames: &[Vec<u8>]) -> Refusal {
        ReceiveQueue::new(SESSION).push_bytes(&frames.concat(), 0, |_| {}).expect_err("a refusal")
    }

    /// Carries everything that may be sent; returns the number of bytes.
    fn carry(out: &mut SendQueue, into: &mut ReceiveQueue, epoch: u64) -> usize {
        let mut total = 0;
        while out.is_ready() {
            let mut bytes = Vec::new();
            out.take_frames(&mut bytes);
            total += bytes.len();
            into.push_bytes(&bytes, epoch, |_| {}).expect("good frames");
        }
        total
    }

    #[test]
    fn messages_of_any_size_arrive_however_the_bytes_are_cut() {
        let seed = fastrand::u64(..);
        eprintln!("seed {seed}");
        let mut random = fastrand::Rng::with_seed(seed);
        let part = MAX_PART_BYTES;
        let sizes = [0, 1, part - 1, part, part + 1, 2 * part, 3 * part + 17, 0, 500];
        let (mut out, mut into) = (SendQueue::new(SESSION), ReceiveQueue::new(SESSION));
        let data: Vec<Vec<u8>> =
            sizes.iter().map(|&size| std::iter::repeat_with(|| random.u8(..)).take(size).collect()).collect();
        for (count, data) in data.iter().enumerate() {
            out.push(0, header(count as u64), data.clone());
        }
        out.send_finish(0, 9);
        let mut bytes = Vec::new();
        while out.is_ready() {
            out.take_frames(&mut bytes);
            let more = random.usize(..100);
            out.send_credit(u64::MAX - more as u64);
            out.take_frames(&mut bytes);
        }
        let mut events = Vec::new();
        let mut rest = &bytes[..];
        while !rest.is_empty() {
            let (piece, after) = rest.split_at(random.usize(1..40_000).min(rest.len()));
            into.push_bytes(piece, 0, |event| events.push(event)).expect("good frames");
            rest = after;
        }
        assert!(events.contains(&Event::Finish(0, 9)));
        for (count, data) in data.iter().enumerate() {
            assert_eq!(into.front().map(|message| message.header), Some(header(count as u64)));
            assert_eq!(into.pop().as_ref(), Some(data));
        }
        assert!(into.pop().is_none());
    }

    #[test]
    fn there_is_room_until_too_much_of_earlier_moves_is_kept() {
        let mut out = SendQueue::new(SESSION);
        let step = 16 << 20;
        for _ in 0..MAX_QUEUED_BYTES / step + 1 {
            out.push(0, header(0), vec![0; step as usize]);
        }
        // The move at hand, the next one, and one of another epoch.
        let room = |out: &SendQueue| (out.has_room(0, 0), out.has_room(0, 1), out.has_room(1, 0));
        assert_eq!(room(&out), (true, false, false));
        out.accept_credit(u64::MAX);
        let mut bytes = Vec::new();
        while !room(&out).1 {
            bytes.clear();
            out.take_frames(&mut bytes);
        }
        let left: u64 = out.messages.iter().map(|message| message.data.len() as u64).sum();
        assert!(left > MAX_QUEUED_BYTES - 2 * step && left <= MAX_QUEUED_BYTES, "{left}");
        out.send_stop(0, None);
        assert_eq!((room(&out), out.queued), ((true, true, true), 0));
    }

    #[test]
    fn no_more_is_sent_than_the_window_until_the_program_asks() {
        let (mut out, mut into) = (SendQueue::new(SESSION), ReceiveQueue::new(SESSION));
        let size = 5 * MAX_WINDOW_BYTES as usize;
        out.push(0, header(0), vec![7; size]);
        out.push(0, header(1), vec![8; size]);
        let sent = carry(&mut out, &mut into, 0);
        assert!(sent as u64 <= MAX_WINDOW_BYTES + MAX_WINDOW_BYTES / 512, "{sent}");
        assert_eq!(into.new_credit_limit(), None);
        // Control frames pass.
        out.send_heartbeat();
        assert_eq!(carry(&mut out, &mut into, 0), HEAD_BYTES);
        for byte in [7, 8] {
            into.reserve_front();
            out.accept_credit(into.new_credit_limit().expect("a permission"));
            carry(&mut out, &mut into, 0);
            let data = into.pop().expect("a message");
            assert!(data.len() == size && data.iter().all(|&found| found == byte));
            // Another message follows, or nothing: so the permission may be there already.
            into.new_credit_limit().into_iter().for_each(|credit| out.accept_credit(credit));
            carry(&mut out, &mut into, 0);
        }
    }

    #[test]
    fn many_small_messages_are_never_stuck() {
        let (mut out, mut into) = (SendQueue::new(SESSION), ReceiveQueue::new(SESSION));
        let messages = 3 * MAX_WINDOW_BYTES / MESSAGE_BYTES;
        for count in 0..messages {
            out.push(0, header(count), Vec::new());
        }
        for count in 0..messages {
            while into.front().is_none() {
                assert!(carry(&mut out, &mut into, 0) > 0, "stuck at {count}");
            }
            into.reserve_front();
            assert_eq!(into.pop(), Some(Vec::new()));
            into.new_credit_limit().into_iter().for_each(|credit| out.accept_credit(credit));
        }
    }

    #[test]
    fn a_stop_within_a_message_goes_on_in_the_next_epoch() {
        for begun in [false, true] {
            let (mut out, mut into) = (SendQueue::new(SESSION), ReceiveQueue::new(SESSION));
            out.push(1, header(0), vec![1; 2 * MAX_WINDOW_BYTES as usize]);
            carry(&mut out, &mut into, 1);
            out.send_stop(1, None);
            if begun {
                into.drop_before(2);
                into.new_credit_limit().into_iter().for_each(|credit| out.accept_credit(credit));
            }
            out.push(2, header(0), vec![2; 100]);
            carry(&mut out, &mut into, if begun { 2 } else { 1 });
            into.drop_before(2);
            into.new_credit_limit().into_iter().for_each(|credit| out.accept_credit(credit));
            carry(&mut out, &mut into, 2);
            assert_eq!(into.pop(), Some(vec![2; 100]), "{begun}");
        }
    }

    #[test]
    fn frames_of_older_epochs_are_dropped_and_do_not_use_up_the_window() {
        let (mut out, mut into) = (SendQueue::new(SESSION), ReceiveQueue::new(SESSION));
        let size = MAX_WINDOW_BYTES as usize / 2;
        for epoch in 1..20 {
            out.push(epoch, header(0), vec![epoch as u8; size]);
        }
        while into.front().is_none() {
            let moved = carry(&mut out, &mut into, 19);
            let credit = into.new_credit_limit();
            credit.into_iter().for_each(|credit| out.accept_credit(credit));
            assert!(moved > 0 || credit.is_some(), "stuck");
        }
        while into.front().is_some_and(|message| !message.is_complete()) {
            into.reserve_front();
            into.new_credit_limit().into_iter().for_each(|credit| out.accept_credit(credit));
            carry(&mut out, &mut into, 19);
        }
        assert_eq!(into.pop(), Some(vec![19; size]));
    }

    #[test]
    fn a_false_length_takes_no_memory() {
        for length in [u64::MAX, 1 << 60, 1 << 40] {
            let mut into = ReceiveQueue::new(SESSION);
            into.push_bytes(&frame(Kind::Data, 0, length), 0, |_| {}).expect("a head alone");
            let message = into.front().expect("a message");
            assert_eq!((message.length, message.data.capacity()), (length, 0));
            // Even a program that takes any length gets memory for little more than what has come.
            into.reserve_front();
            assert!(into.front().expect("a message").data.capacity() as u64 <= 2 * MAX_RESERVED_BYTES);
            let _ = into.new_credit_limit();
        }
    }

    #[test]
    fn data_beyond_the_window_are_refused() {
        let mut frames = vec![frame(Kind::Data, 0, u64::MAX), vec![0; MAX_PART_BYTES]];
        for _ in 0..MAX_WINDOW_BYTES as usize / MAX_PART_BYTES {
            frames.push(frame(Kind::Part, 0, MAX_PART_BYTES as u64));
            frames.push(vec![0; MAX_PART_BYTES]);
        }
        assert_eq!(refused(&frames), Refusal::Malformed);
        let empty = vec![frame(Kind::Data, 0, 0); (MAX_WINDOW_BYTES / MESSAGE_BYTES) as usize + 1];
        assert_eq!(refused(&empty), Refusal::Malformed);
    }

    #[test]
    fn frames_in_another_order_are_refused() {
        let part = MAX_PART_BYTES as u64;
        let data = vec![0; MAX_PART_BYTES];
        let message = || frame(Kind::Data, 1, 2 * part);
        for (frames, why) in [
            (vec![frame(Kind::Part, 0, 1)], Refusal::OutOfPlace),
            (vec![frame(Kind::Data, 0, 0), frame(Kind::Part, 0, 1)], Refusal::OutOfPlace),
            (vec![message(), data.clone(), frame(Kind::Part, 2, part)], Refusal::OutOfPlace),
            (vec![message(), data.clone(), frame(Kind::Part, 1, part - 1)], Refusal::Malformed),
            (vec![message(), data.clone(), message()], Refusal::Malformed),
            (vec![message(), data.clone(), frame(Kind::Data, 0, 0)], Refusal::OutOfPlace),
            (vec![message(), vec![0; 100], frame(Kind::Stop, 1, 0), data], Refusal::Malformed),
            (vec![frame(Kind::Data, 2, 0), frame(Kind::Data, 1, 0)], Refusal::OutOfPlace),
            (vec![b"GET / HTTP/1.1\r\n".repeat(9)], Refusal::Malformed),
            (
                vec![
                    Head { kind: Kind::Stop, epoch: 0, header: NO_HEADER, number: 0 }
                        .encode(&[9; 16])
                        .to_vec(),
                ],
                Refusal::OutOfPlace,
            ),
        ] {
            // A part whose bytes are those of other frames shifts what is read as the next head.
            assert_eq!(refused(&frames), why, "{} frames", frames.len());
        }
    }

    /// Damages a good stream: the reader gives messages, waits for more, or refuses, and keeps no
    /// more than has come.
    #[test]
    fn damaged_streams_are_read_or_refused() {
        let seed = fastrand::u64(..);
        eprintln!("seed {seed}");
        let mut random = fastrand::Rng::with_seed(seed);
        for _ in 0..3000 {
            let mut out = SendQueue::new(SESSION);
            for count in 0..random.u64(1..6) {
                let size = if random.u8(..20) == 0 { 3 * MAX_PART_BYTES } else { random.usize(..300) };
                out.push(count / 2, header(count), vec![5; size]);
            }
            out.send_credit(random.u64(..));
            out.send_finish(random.u64(..3), random.u64(..));
            let mut bytes = Vec::new();
            while out.is_ready() {
                out.take_frames(&mut bytes);
            }
            // Frames are cut, doubled, exchanged; bytes are changed.
            for _ in 0..random.usize(1..4) {
                let at = random.usize(..bytes.len());
                match random.u8(..4) {
                    0 => bytes[at] = random.u8(..),
                    1 => bytes.truncate(at.max(1)),
                    2 => bytes.rotate_left(HEAD_BYTES.min(at)),
                    _ => {
                        let piece = bytes[at..(at + HEAD_BYTES).min(bytes.len())].to_vec();
                        bytes.splice(at..at, piece);
                    }
                }
            }
            let mut into = ReceiveQueue::new(SESSION);
            let epoch = random.u64(..3);
            for piece in bytes.chunks(random.usize(1..2000)) {
                if into.push_bytes(piece, epoch, |_| {}).is_err() {
                    break;
                }
                if random.bool() {
                    into.reserve_front();
                    into.pop();
                    into.new_credit_limit();
                }
                let kept: usize = into.messages.iter().map(|message| message.data.len()).sum();
                assert!(kept <= bytes.len());
            }
        }
    }
}
