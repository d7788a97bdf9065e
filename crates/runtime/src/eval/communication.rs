//! Moves of data between the parties of a program, and random words that parties have in common.
//!
//! Takes a primitive of class `Communication`, its type arguments, which state the places, and its
//! projected argument; returns what this party has of the result. Every party executes every move,
//! in the same order, whether it sends, receives, or does neither: so all count moves alike, and
//! the header of each message is known at both ends. The public digest covers the places of all
//! moves so far and all values made public; parties that disagree on a public value find out at
//! their next message.

use super::ciphers::Purpose;
use super::code::PrimTypes;
use super::error::{Failure, RuntimeError};
use super::evaluator::{Evaluator, Result};
use super::existential_prims::{allocate_buffer, allocate_slots, buffer_value};
use super::machine::Machine;
use super::wire::{Malformed, WireCodec};
use crate::core::{Prim, Script};
use crate::hash::stable_hash;
use crate::layout::Layout;
use crate::network::{Data, Header, Length, Network, NetworkError, PartyId, Refusal};
use crate::source::Span;
use crate::types::{PlaceSet, Type};
use crate::value::{Buffer, Class, Value};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The party that a machine runs a program for.
#[derive(Clone)]
pub struct Party {
    /// The number of the party.
    pub me: PartyId,
    /// The names of all parties, in order.
    pub names: Arc<[Arc<str>]>,
    /// The connection with the others.
    pub network: Arc<dyn Network>,
    /// The number of moves so far in this input.
    pub(super) moves: u64,
    /// A hash of the public execution so far.
    pub(super) digest: u64,
}

impl Party {
    /// Creates a party that has not moved anything.
    pub fn new(me: PartyId, names: Arc<[Arc<str>]>, network: Arc<dyn Network>) -> Party {
        Party { me, names, network, moves: 0, digest: 0 }
    }

    /// Returns the failure of a connection.
    fn failure(&self, error: NetworkError) -> Failure {
        let name = |party: PartyId| self.names[party].to_string();
        match error {
            NetworkError::Stopped(party) => Failure::PartyStopped { party: name(party) },
            NetworkError::Lost(party) => Failure::PartyLost { party: name(party) },
            NetworkError::Silent(party) => Failure::PartySilent { party: name(party) },
            NetworkError::Refused(party, Refusal::Diverged) => {
                Failure::PartiesDiverged { party: name(party) }
            }
            NetworkError::Refused(party, _) => Failure::MessageRefused { party: name(party) },
            NetworkError::Interrupted => Failure::Interrupted,
        }
    }

    /// Begins an input.
    pub fn begin(&mut self, epoch: u64) {
        self.network.begin(epoch);
        (self.moves, self.digest) = (0, epoch);
    }
}

/// A move in a program without parties, or between places that are not known: a bug of the checker.
const NO_PARTY: Failure = Failure::Internal { message: "a move without places" };

impl Machine {
    /// Waits until the other parties have finished the input, too.
    ///
    /// # Errors
    /// One of them has stopped.
    pub fn finish_party(
        &mut self,
        interrupt: &AtomicBool,
        script: &Script,
    ) -> std::result::Result<(), Box<RuntimeError>> {
        let Some(party) = &self.party else { return Ok(()) };
        let span = script.body.last().map_or(Span::default(), |stmt| stmt.span);
        party.network.finish(interrupt).map_err(|error| {
            Box::new(RuntimeError { failure: party.failure(error), span, calls: Vec::new(), place: None })
        })
    }
}

impl Evaluator<'_, '_> {
    /// Executes a move.
    pub(super) fn communicate(
        &mut self,
        prim: Prim,
        types: &PrimTypes,
        args: &[Value],
        span: Span,
    ) -> Result<Value> {
        let done = self.try_communicate(prim, types, args, span);
        done.map_err(|failure| self.fail(failure, span))
    }

    /// Executes a move; returns the failure without its place.
    fn try_communicate(
        &mut self,
        prim: Prim,
        types: &PrimTypes,
        args: &[Value],
        span: Span,
    ) -> std::result::Result<Value, Failure> {
        let party = self.machine.party.as_mut().ok_or(NO_PARTY)?;
        if prim == Prim::Me {
            let set = types.args.first().and_then(Type::as_places).ok_or(NO_PARTY)?;
            // An index of one place has no slot.
            let position = set.position(party.me).filter(|_| set.count() > 1);
            return Ok(position.map_or(Value::UNIT, |position| Value::Word(position as u64)));
        }
        party.moves += 1;
        let site = stable_hash(&(span.start, span.end, prim.name()));
        party.digest = stable_hash(&(party.digest, site));
        let ty = types.args.last().cloned().ok_or(NO_PARTY)?;
        let header =
            Header { count: party.moves, site, ty: stable_hash(&ty.to_string()), digest: party.digest };
        let party = party.clone();
        let exchange = Exchange { party: &party, run: self, header, ty: &ty };
        let places = |at: usize| types.args.get(at).and_then(Type::as_places).ok_or(NO_PARTY);
        let me = party.me;
        match prim {
            Prim::Send => {
                let (to, from) = (single(&places(0)?)?, single(&places(1)?)?);
                exchange.one_to_many(from, &[to], &args[0])
            }
            Prim::Give => {
                let (to, from) = (places(0)?, single(&places(1)?)?);
                let to: Vec<PartyId> = to.numbers().collect();
                exchange.one_to_many_checked(from, &to, &args[0])
            }
            Prim::Exchange => exchange.all_to_all(&places(0)?, &args[0]),
            Prim::ShiftPlaces => {
                let shift =
                    types.args[0].size().ok().and_then(|n| usize::try_from(n).ok()).ok_or(NO_PARTY)?;
                exchange.shift(&places(1)?, shift, &args[0])
            }
            Prim::Collect => exchange.collect(single(&places(0)?)?, &places(1)?, &args[0]),
            Prim::Scatter => exchange.scatter(&places(0)?, single(&places(1)?)?, &args[0]),
            Prim::Join => {
                let (first, second) = (places(1)?, places(2)?);
                let own = [(first, 0), (second, 1)].into_iter().find(|(set, _)| set.contains(me));
                Ok(own.map_or(Value::UNIT, |(_, at)| args[at].clone()))
            }
            Prim::Reveal => {
                let from = single(&places(0)?)?;
                let all: Vec<PartyId> = (0..party.names.len()).collect();
                let value = exchange.one_to_many(from, &all, &args[0])?;
                self.disclose(&ty, &value)?;
                Ok(value)
            }
            Prim::RevealAll => {
                let value = exchange.gather_everywhere(&places(0)?, &args[0])?;
                let array = Type::array(ty.clone(), types.args[0].clone());
                self.disclose(&array, &value)?;
                Ok(value)
            }
            Prim::RevealNeighbors => {
                let value = exchange.gather_from_neighbors(&places(0)?, &args[0])?;
                let array = Type::array(ty.clone(), types.args[0].clone());
                self.disclose(&array, &value)?;
                Ok(value)
            }
            Prim::Overlay => {
                let (all, some) = (places(0)?, places(1)?);
                Ok(match (all.contains(me), some.contains(me)) {
                    (true, true) => args[0].clone(),
                    (true, false) => args[1].clone(),
                    (false, _) => Value::UNIT,
                })
            }
            Prim::CommonWords => {
                let count = word_count(&ty)?;
                exchange.common_words(&places(0)?, count)
            }
            Prim::ZeroSums | Prim::ZeroBits => {
                let count = word_count(&ty)?;
                exchange.zero_words(&places(0)?, count, prim == Prim::ZeroBits)
            }
            Prim::OwnWords => {
                let count = word_count(&ty)?;
                match places(0)?.contains(me) {
                    true => exchange.words([me], count, false),
                    false => Ok(Value::UNIT),
                }
            }
            _ => Err(NO_PARTY),
        }
    }

    /// Adds a value that was made public to the digest.
    fn disclose(&mut self, ty: &Type, value: &Value) -> std::result::Result<(), Failure> {
        let wire = WireCodec::new(&self.machine.layouts, self.host.memory);
        let bytes = wire.encode(ty, value, Purpose::Compare)?;
        if let Some(party) = &mut self.machine.party {
            party.digest = stable_hash(&(party.digest, bytes));
        }
        Ok(())
    }
}

/// Returns the number of elements of an array of words.
fn word_count(index: &Type) -> std::result::Result<usize, Failure> {
    index.size().ok().and_then(|n| usize::try_from(n).ok()).ok_or(NO_PARTY)
}

/// Returns the only place of a set.
fn single(set: &PlaceSet) -> std::result::Result<PartyId, Failure> {
    match (set.count(), set.numbers().next()) {
        (1, Some(place)) => Ok(place),
        _ => Err(NO_PARTY),
    }
}

/// One move.
struct Exchange<'a, 'r, 'h, 'e> {
    /// The party.
    party: &'a Party,
    /// The evaluator.
    run: &'a mut Evaluator<'r, 'h>,
    /// The facts about the messages.
    header: Header,
    /// The type of the data.
    ty: &'e Type,
}

/// The result of a part of a move.
type Moved<T> = std::result::Result<T, Failure>;

impl Exchange<'_, '_, '_, '_> {
    /// Returns the layout of the data.
    fn layout(&self) -> Arc<Layout> {
        self.run.machine.layouts.of(self.ty)
    }

    /// Returns the coder of values.
    fn wire(&self) -> WireCodec<'_> {
        WireCodec::new(&self.run.machine.layouts, self.run.host.memory)
    }

    /// Sends a value to parties, except to this one.
    fn send(&self, to: impl IntoIterator<Item = PartyId>, value: &Value) -> Moved<()> {
        let mut others = to.into_iter().filter(|other| *other != self.party.me).peekable();
        if others.peek().is_some() {
            if let Some(shared) = self.wire().shared_slots(self.ty, value) {
                let network = &self.party.network;
                return others.try_for_each(|other| {
                    self.wait_for_room(other)?;
                    let sent = network.send_shared(other, &self.header, shared.clone());
                    sent.map_err(|error| self.party.failure(error))
                });
            }
            let bytes = self.wire().encode(self.ty, value, Purpose::Move)?;
            others.try_for_each(|other| self.send_bytes(other, bytes.clone()))?;
        }
        Ok(())
    }

    /// Waits while too much of earlier moves is kept for a party.
    fn wait_for_room(&self, to: PartyId) -> Moved<()> {
        let waited = self.party.network.wait_for_room(to, &self.header, self.run.host.interrupt);
        waited.map_err(|error| self.party.failure(error))
    }

    /// Sends bytes.
    fn send_bytes(&self, to: PartyId, bytes: Vec<u8>) -> Moved<()> {
        self.wait_for_room(to)?;
        self.party.network.send(to, &self.header, bytes).map_err(|error| self.party.failure(error))
    }

    /// Receives a value.
    fn receive(&self, from: PartyId) -> Moved<Value> {
        let data = self.receive_data(from)?;
        self.opened(from, data)
    }

    /// Receives the data of a value.
    fn receive_data(&self, from: PartyId) -> Moved<Data> {
        let length = match self.wire().fixed_length(self.ty) {
            Some(bytes) => Length::Exact(bytes),
            None => Length::AtMost(self.run.host.memory),
        };
        let interrupt = self.run.host.interrupt;
        let received = self.party.network.receive_shared(from, &self.header, length, interrupt);
        received.map_err(|error| self.party.failure(error))
    }

    /// Receives bytes.
    fn receive_bytes(&self, from: PartyId, length: Length) -> Moved<Vec<u8>> {
        let interrupt = self.run.host.interrupt;
        let received = self.party.network.receive(from, &self.header, length, interrupt);
        received.map_err(|error| self.party.failure(error))
    }

    /// Returns the value that a party has sent.
    fn opened(&self, from: PartyId, data: Data) -> Moved<Value> {
        let refused = |Malformed| Failure::MessageRefused { party: self.party.names[from].to_string() };
        self.wire().decode_message(self.ty, data).map_err(refused)
    }

    /// Moves a value from one party to several.
    fn one_to_many(&self, from: PartyId, to: &[PartyId], value: &Value) -> Moved<Value> {
        let me = self.party.me;
        if me == from {
            self.send(to.iter().copied(), value)?;
        }
        match (to.contains(&me), me == from) {
            (true, true) => Ok(value.clone()),
            (true, false) => self.receive(from),
            (false, _) => Ok(Value::UNIT),
        }
    }

    /// Moves a value from one party to several, which compare digests of what they have got.
    fn one_to_many_checked(&self, from: PartyId, to: &[PartyId], value: &Value) -> Moved<Value> {
        let me = self.party.me;
        if me == from || !to.contains(&me) {
            return self.one_to_many(from, to, value);
        }
        let bytes = self.receive_data(from)?.into_bytes();
        let receivers = || to.iter().copied().filter(|other| *other != from && *other != me);
        let digest = stable_hash(&bytes).to_le_bytes().to_vec();
        for other in receivers() {
            self.send_bytes(other, digest.clone())?;
        }
        for other in receivers() {
            if self.receive_bytes(other, Length::Exact(digest.len() as u64))? != digest {
                return Err(Failure::PartiesDiverged { party: self.party.names[from].to_string() });
            }
        }
        self.opened(from, Data::Bytes(bytes))
    }

    /// Moves what each place holds for each other.
    fn all_to_all(&self, set: &PlaceSet, value: &Value) -> Moved<Value> {
        let me = self.party.me;
        let Some(own) = set.position(me) else { return Ok(Value::UNIT) };
        let (slots, places) = (self.layout().slots, set.numbers().collect::<Vec<_>>());
        let part = |at: usize| value.slots(at * slots, slots);
        for (at, &other) in places.iter().enumerate() {
            self.send([other], &part(at))?;
        }
        let mut parts = Vec::with_capacity(places.len());
        for &other in &places {
            parts.push(if other == me { part(own) } else { self.receive(other)? });
        }
        self.array(parts)
    }

    /// Moves the value of each place to the one that is `shift` places after it.
    fn shift(&self, set: &PlaceSet, shift: usize, value: &Value) -> Moved<Value> {
        let Some(own) = set.position(self.party.me) else { return Ok(Value::UNIT) };
        let places: Vec<PartyId> = set.numbers().collect();
        let shift = shift % places.len();
        if shift == 0 {
            return Ok(value.clone());
        }
        self.send([places[(own + shift) % places.len()]], value)?;
        self.receive(places[(own + places.len() - shift) % places.len()])
    }

    /// Moves the values of all places to one.
    fn collect(&self, to: PartyId, set: &PlaceSet, value: &Value) -> Moved<Value> {
        let me = self.party.me;
        if set.contains(me) {
            self.send([to], value)?;
        }
        if me == to { self.gathered(set, value) } else { Ok(Value::UNIT) }
    }

    /// Returns the values that all places have sent, this one's among them.
    fn gathered(&self, set: &PlaceSet, value: &Value) -> Moved<Value> {
        let mut parts = Vec::new();
        for other in set.numbers() {
            parts.push(if other == self.party.me { value.clone() } else { self.receive(other)? });
        }
        self.array(parts)
    }

    /// Moves the elements of an array at one place to the places.
    fn scatter(&self, set: &PlaceSet, from: PartyId, value: &Value) -> Moved<Value> {
        let (me, slots) = (self.party.me, self.layout().slots);
        let part = |at: usize| value.slots(at * slots, slots);
        if me == from {
            for (at, other) in set.numbers().enumerate() {
                self.send([other], &part(at))?;
            }
        }
        match (set.position(me), me == from) {
            (Some(own), true) => Ok(part(own)),
            (Some(_), false) => self.receive(from),
            (None, _) => Ok(Value::UNIT),
        }
    }

    /// Moves the values of the places to all parties.
    fn gather_everywhere(&self, set: &PlaceSet, value: &Value) -> Moved<Value> {
        if set.contains(self.party.me) {
            self.send(0..self.party.names.len(), value)?;
        }
        self.gathered(set, value)
    }

    /// Moves the values of the places to all parties, where each place has its own value and that
    /// of the next one. Of three places each lacks one value: the next place sends it, and the
    /// previous one, whose it is, a digest of it.
    fn gather_from_neighbors(&self, set: &PlaceSet, value: &Value) -> Moved<Value> {
        let (me, slots) = (self.party.me, self.layout().slots);
        let places: Vec<PartyId> = set.numbers().collect();
        let held = |at: usize| value.slots(at * slots, slots);
        let Some(own) = set.position(me).filter(|_| places.len() == 3) else {
            let own = if set.contains(me) { held(0) } else { Value::UNIT };
            return self.gather_everywhere(set, &own);
        };
        let (next, previous) = (places[(own + 1) % 3], places[(own + 2) % 3]);
        self.send([previous], &held(1))?;
        let outside = (0..self.party.names.len()).filter(|party| !set.contains(*party));
        self.send(outside, &held(0))?;
        self.send_bytes(next, self.digest_of(&held(0))?)?;
        let lacking = self.receive(next)?;
        let digest = self.digest_of(&lacking)?;
        if self.receive_bytes(previous, Length::Exact(digest.len() as u64))? != digest {
            return Err(Failure::PartiesDiverged { party: self.party.names[next].to_string() });
        }
        let mut parts = vec![held(0), held(1), lacking];
        parts.rotate_right(own);
        self.array(parts)
    }

    /// Returns a digest of a value.
    fn digest_of(&self, value: &Value) -> Moved<Vec<u8>> {
        let bytes = self.wire().encode(self.ty, value, Purpose::Compare)?;
        Ok(stable_hash(&bytes).to_le_bytes().to_vec())
    }

    /// Returns the words that a place has in common with the next one, then those in common with
    /// the previous one.
    fn common_words(&self, set: &PlaceSet, count: usize) -> Moved<Value> {
        match self.neighbors(set) {
            Some((neighbors, last_first)) => self.words(neighbors, count, last_first),
            None => Ok(Value::UNIT),
        }
    }

    /// Returns the next place and the previous one, and whether words in common with the latter are
    /// drawn first; `None` outside of the places. Two places are the next of each other, and draw
    /// from one stream: the first words drawn are those that the first place has in common with its
    /// next one.
    fn neighbors(&self, set: &PlaceSet) -> Option<([PartyId; 2], bool)> {
        let own = set.position(self.party.me)?;
        let places: Vec<PartyId> = set.numbers().collect();
        let next = places[(own + 1) % places.len()];
        let previous = places[(own + places.len() - 1) % places.len()];
        Some(([next, previous], places.len() == 2 && own == 1))
    }

    /// Returns the words that a place has in common with the next one, without those in common with
    /// the previous one: by exclusive or, or subtracted. Drawn piece by piece, which the caches
    /// hold.
    fn zero_words(&self, set: &PlaceSet, count: usize, bits: bool) -> Moved<Value> {
        const PIECE: usize = 1 << 10;
        let Some(([next, previous], last_first)) = self.neighbors(set) else { return Ok(Value::UNIT) };
        let mut buffer = allocate_slots(Class::Word, count, self.run.host.memory)?;
        let Buffer::Word(words) = &mut buffer else { return Err(NO_PARTY) };
        let mut others = [0; PIECE];
        for words in words.chunks_mut(PIECE) {
            let others = &mut others[..words.len()];
            if last_first {
                self.party.network.random_words(previous, others);
                self.party.network.random_words(next, words);
            } else {
                self.party.network.random_words(next, words);
                self.party.network.random_words(previous, others);
            }
            for (word, other) in words.iter_mut().zip(others) {
                *word = if bits { *word ^ *other } else { word.wrapping_sub(*other) };
            }
        }
        Ok(buffer_value(buffer))
    }

    /// Returns words from the streams in common with each of these parties; the last ones are drawn
    /// first if `last_first` is set.
    fn words<const N: usize>(&self, with: [PartyId; N], count: usize, last_first: bool) -> Moved<Value> {
        // All of it is written: memory that is used again need not be zeroed.
        let mut buffer = allocate_slots(Class::Word, N * count, self.run.host.memory)?;
        let Buffer::Word(words) = &mut buffer else { return Err(NO_PARTY) };
        let mut order: Vec<usize> = (0..N).collect();
        if last_first {
            order.reverse();
        }
        for at in order {
            self.party.network.random_words(with[at], &mut words[at * count..][..count]);
        }
        Ok(buffer_value(buffer))
    }

    /// Returns values of the type of the data as an array.
    fn array(&self, parts: Vec<Value>) -> Moved<Value> {
        let layout = self.layout();
        if layout.slots == 0 {
            return Ok(Value::UNIT);
        }
        let mut buffer = allocate_buffer(layout.class, parts.len() * layout.slots, self.run.host.memory)?;
        parts.iter().for_each(|part| buffer.append(part, layout.slots));
        Ok(buffer_value(buffer))
    }
}
