//! The parties of a program: a machine for each that runs in this process.
//!
//! A program with `party` is run by several parties. By default each is a thread of this process
//! with a machine of its own, and queues in memory connect them; a frontend may give the connection
//! of one party with other processes instead ([`Session::join_parties`]). All machines run the same
//! checked script: projected to its party.
//!
//! **Output.** What all parties print is printed once. What a party prints at a place is printed as
//! `bob: …`. All of it has the order of the program: every party counts the public outputs and the
//! work at places that may print, which is the same count for all, and a text is written when no
//! party is before it anymore.
//!
//! **Failure.** A party that fails stops the others ([`felis_runtime::network::Network::stop`]); the error
//! that is reported is its own.

use super::display::texts;
use super::{Mode, Session, ValueText};
use crate::session::on_large_stack;
use felis_base::source::Span;
use felis_calculus::core::{GlobalId, Program, Script, Term, TermKind};
use felis_calculus::types::Type;
use felis_runtime::data::FileSystem;
use felis_runtime::eval::{Checkpoint, Failure, Host, Machine, Party, RuntimeError, Screen};
use felis_runtime::network::{self, Network, PartyId};
use felis_runtime::system::System;
use felis_runtime::value::Value;
use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Sender, channel};

/// The parties of a session.
#[derive(Default)]
pub(super) struct Parties {
    /// The machines of the parties from 1 on that run in this process. The machine of the session
    /// is that of party 0, or of the only party here.
    pub(super) others: Vec<Machine>,
    /// The connection that a frontend has given.
    joined: Option<Arc<dyn Network>>,
    /// True once the machines have their parties.
    started: bool,
    /// The number of the last input.
    epoch: u64,
}

/// The state of the other machines, to which they can be restored.
pub(super) struct PartiesCheckpoint {
    others: Vec<Checkpoint>,
    started: bool,
}

/// A text that a party has printed, or how far it has come.
struct Printed {
    party: PartyId,
    /// The number of outputs before.
    position: u64,
    /// The text.
    text: String,
    /// True if it was printed at a place.
    here: bool,
}

/// The results of the parties, by number.
type Ends = Vec<Result<Option<Value>, Box<RuntimeError>>>;

impl Session {
    /// Makes this process one of the parties: the others are connected through `network`.
    pub fn join_parties(&mut self, network: Arc<dyn Network>) {
        self.parties.joined = Some(network);
    }

    /// Returns the names of the parties that the program declares; none if it declares none.
    pub fn party_names(&self) -> Vec<Arc<str>> {
        self.program.party.as_ref().map(|party| party.place_names()).unwrap_or_default()
    }

    /// Returns the number of this party and the counters of its messages, for each party that runs
    /// in this process.
    pub fn traffic(&mut self) -> Vec<(Arc<str>, network::Traffic)> {
        let parties = self.machines().filter_map(|machine| machine.party_mut());
        parties.map(|party| (party.names[party.me].clone(), party.network.traffic())).collect()
    }

    /// Takes a snapshot of the other machines.
    pub(super) fn parties_checkpoint(&mut self) -> PartiesCheckpoint {
        let program = &self.program;
        let others = self.parties.others.iter_mut().map(|machine| machine.checkpoint(program)).collect();
        PartiesCheckpoint { others, started: self.parties.started }
    }

    /// Puts a snapshot of the other machines back.
    pub(super) fn restore_parties(&mut self, saved: &PartiesCheckpoint) {
        if !saved.started {
            self.parties.others.clear();
            if std::mem::take(&mut self.parties.started) {
                self.machine.set_party(None);
            }
            return;
        }
        for (machine, checkpoint) in self.parties.others.iter_mut().zip(&saved.others) {
            machine.restore(checkpoint);
        }
    }

    /// Returns the machines of this process.
    pub(super) fn machines(&mut self) -> impl Iterator<Item = &mut Machine> {
        std::iter::once(&mut self.machine).chain(&mut self.parties.others)
    }

    /// Drops the functions that the machines have specialized.
    pub(super) fn clear_instances(&mut self) {
        self.machines().for_each(Machine::clear_instances);
    }

    /// Sets a session variable: in the machine of the session, and in the others.
    pub(super) fn set_global(&mut self, id: GlobalId, own: Value, others: Vec<Value>) {
        for (machine, value) in self.machines().zip(std::iter::once(own).chain(others)) {
            machine.set_global(id, value);
        }
    }

    /// Sets a session variable to the same value in all machines.
    pub(super) fn share_global(&mut self, id: GlobalId, value: &Value) {
        self.machines().for_each(|machine| machine.set_global(id, value.clone()));
    }

    /// Drops the value of a session variable.
    pub(super) fn clear_global(&mut self, id: GlobalId) {
        self.machines().for_each(|machine| machine.clear_global(id));
    }

    /// Replaces the text of a value at places by a line, or lines, for each place in this process.
    pub(super) fn format_placed(
        &mut self,
        shown: &mut ValueText,
        (own, others): (&Value, &[Value]),
        ty: &Type,
        mode: Mode,
        host: &mut Host<'_>,
    ) -> Result<(), Box<RuntimeError>> {
        let Some(set) = ty.as_placed().and_then(|(_, places)| places.as_places()) else { return Ok(()) };
        if mode == Mode::Value || self.parties.joined.is_some() {
            return Ok(());
        }
        let names = self.party_names();
        let machines = std::iter::once(&mut self.machine).chain(&mut self.parties.others);
        let mut lines = Vec::new();
        for (at, (machine, value)) in machines.zip(std::iter::once(own).chain(others)).enumerate() {
            if set.contains(at) {
                let concrete = machine.concrete(ty);
                let (text, _) = texts(machine, &self.program, value, &concrete, mode, host)?;
                lines.push(format!("{}: {text}", names[at]));
            }
        }
        shown.text = lines.join("\n");
        Ok(())
    }

    /// Gives each machine its party, when the program has declared them.
    fn start_parties(&mut self) {
        if std::mem::replace(&mut self.parties.started, true) {
            return;
        }
        let names: Arc<[Arc<str>]> = self.party_names().into();
        let networks = match &self.parties.joined {
            Some(network) => vec![network.clone()],
            None => network::local::connect(names.len()),
        };
        for (at, network) in networks.into_iter().enumerate() {
            let party = Party::new(network.me(), names.clone(), network);
            if at == 0 {
                self.machine.set_party(Some(party));
                continue;
            }
            let mut machine = self.machine.for_another_party();
            machine.set_party(Some(party));
            self.parties.others.push(machine);
        }
    }

    /// Runs a script of a program with parties. Returns the value that the machine of the session
    /// has, and those of the other machines.
    pub(super) fn run_for_parties(
        &mut self,
        script: &Script,
        out: &mut dyn FnMut(&str),
    ) -> Result<Option<(Value, Vec<Value>)>, Box<RuntimeError>> {
        self.start_parties();
        self.parties.epoch += 1;
        let (epoch, names) = (self.parties.epoch, self.party_names());
        let run = Run {
            program: &self.program,
            script,
            interrupt: &self.interrupt,
            memory: self.memory,
            files: self.files.as_deref(),
            system: self.system.as_deref(),
            screen: self.screen,
            alone: self.parties.joined.is_some(),
        };
        let machines: Vec<&mut Machine> =
            std::iter::once(&mut self.machine).chain(&mut self.parties.others).collect();
        let ends = run.all(machines, epoch, &names, out);
        own_error(ends, &names)
    }
}

/// Returns the values of the parties, or the error of the one that has stopped the others.
fn own_error(ends: Ends, names: &[Arc<str>]) -> Result<Option<(Value, Vec<Value>)>, Box<RuntimeError>> {
    let consequence = |error: &RuntimeError| {
        matches!(error.failure, Failure::PartyStopped { .. } | Failure::PartyLost { .. })
    };
    let mut values = Vec::new();
    let mut first: Option<(PartyId, Box<RuntimeError>)> = None;
    let mut followed = false;
    for (at, end) in ends.into_iter().enumerate() {
        match end {
            Ok(value) => values.push(value),
            Err(error) => {
                followed |= consequence(&error);
                if first.as_ref().is_none_or(|(_, first)| consequence(first) && !consequence(&error)) {
                    first = Some((at, error));
                }
            }
        }
    }
    if let Some((at, mut error)) = first {
        if (followed || !values.is_empty()) && !consequence(&error) {
            error.place = names.get(at).cloned();
        }
        return Err(error);
    }
    let mut values = values.into_iter();
    let Some(Some(own)) = values.next() else { return Ok(None) };
    let others = values.map(|value| value.expect("a script gives a value at each party or at none"));
    Ok(Some((own, others.collect())))
}

/// One run of a script by the parties of this process.
struct Run<'a> {
    program: &'a Program,
    script: &'a Script,
    interrupt: &'a AtomicBool,
    memory: u64,
    files: Option<&'a dyn FileSystem>,
    system: Option<&'a dyn System>,
    screen: Screen,
    /// True if one party alone runs in this process.
    alone: bool,
}

impl Run<'_> {
    /// Runs the script on each machine, each in a thread, and writes the output in the order of the
    /// program.
    fn all(
        &self,
        machines: Vec<&mut Machine>,
        epoch: u64,
        names: &[Arc<str>],
        out: &mut dyn FnMut(&str),
    ) -> Ends {
        let count = machines.len();
        std::thread::scope(|scope| {
            let (sender, printed) = channel::<Printed>();
            let mut threads = Vec::new();
            for (at, machine) in machines.into_iter().enumerate() {
                let sender = sender.clone();
                threads.push(scope.spawn(move || on_large_stack(|| self.one(machine, at, epoch, &sender))));
            }
            drop(sender);
            let mut merged = MergedOutput::new(count, names, self.alone);
            for text in printed {
                merged.add(text, out);
            }
            merged.finish(out);
            let join = |thread: std::thread::ScopedJoinHandle<'_, _>| {
                thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            };
            threads.into_iter().map(join).collect()
        })
    }

    /// Runs the script on one machine.
    fn one(
        &self,
        machine: &mut Machine,
        at: usize,
        epoch: u64,
        sender: &Sender<Printed>,
    ) -> Result<Option<Value>, Box<RuntimeError>> {
        let party = machine.party_mut().expect("the machine of a party has one");
        party.begin(epoch);
        let (names, network) = (party.names.clone(), party.network.clone());
        let position = Cell::new(0u64);
        let send = |text: &str, here: bool| {
            // A reader that is gone wants no output.
            let _ = sender.send(Printed { party: at, position: position.get(), text: text.into(), here });
        };
        let mut public = |text: &str| {
            if !text.is_empty() {
                position.set(position.get() + 1);
                send(text, false);
            }
        };
        let mut here = |text: &str| {
            if text.is_empty() {
                position.set(position.get() + 1);
            }
            send(text, true);
        };
        let mut host = Host {
            out: &mut public,
            out_here: Some(&mut here),
            interrupt: self.interrupt,
            memory: self.memory,
            files: self.files,
            system: self.system,
            screen: self.screen,
        };
        // A panic must not leave the others waiting.
        let stop = StopUnlessDone { network: &*network, done: Cell::new(false), after: Cell::new(None) };
        let note = |error: &RuntimeError| stop.after.set(cause(error, &names));
        let value = machine.run(self.program, self.script, &mut host).inspect_err(|error| {
            note(error);
            // A public error is that of all parties: each goes as far as this one, and has its own.
            if self.is_public(error) && network.finish(self.interrupt).is_ok() {
                stop.done.set(true);
            }
        })?;
        machine.finish_party(self.interrupt, self.script).inspect_err(|error| note(error))?;
        stop.done.set(true);
        Ok(value)
    }
}

impl Run<'_> {
    /// Returns true if an error is the same for all parties: what failed is no work at a place, and
    /// depends on public values alone. A ciphertext may be refused where it leaves its place.
    fn is_public(&self, error: &RuntimeError) -> bool {
        let of_a_party = matches!(
            error.failure,
            Failure::Interrupted
                | Failure::Memory { .. }
                | Failure::PartyStopped { .. }
                | Failure::PartyLost { .. }
                | Failure::PartySilent { .. }
                | Failure::PartiesDiverged { .. }
                | Failure::MessageRefused { .. }
                | Failure::CipherRefused { .. }
                | Failure::CipherOverflow { .. }
                | Failure::NoiseExhausted { .. }
        );
        if of_a_party {
            return false;
        }
        let calls = error.calls.iter().map(|(_, at)| *at);
        !std::iter::once(error.span).chain(calls).any(|span| self.is_at_a_place(span))
    }

    /// Returns true if the innermost term at a position is work at a place. What is moved into such
    /// work is evaluated before it, although it is written inside.
    fn is_at_a_place(&self, span: Span) -> bool {
        let mut innermost = Innermost { span, found: None };
        let mut search = |term: &Term| innermost.search(term, false);
        self.script.body.iter().for_each(|stmt| stmt.for_each_term(&mut search));
        self.script.result.iter().for_each(&mut search);
        self.program.functions.iter().flatten().for_each(|function| search(&function.body));
        innermost.found.is_some_and(|(_, at_place)| at_place)
    }
}

/// The search for the innermost term around a position.
struct Innermost {
    span: Span,
    /// The length of the text of the term, and true if it is work at a place.
    found: Option<(usize, bool)>,
}

impl Innermost {
    /// Searches a term.
    fn search(&mut self, term: &Term, at_place: bool) {
        let at_place = at_place || matches!(term.kind, TermKind::At(..));
        let (inner, outer) = (self.span, term.span);
        let holds = inner.source == outer.source && outer.start <= inner.start && inner.end <= outer.end;
        // The variable of a value that was evaluated before has the position of the value.
        if holds && !matches!(term.kind, TermKind::Local(_) | TermKind::Here(_)) {
            let length = (outer.end - outer.start) as usize;
            let nearer = |(best, known): (usize, bool)| length < best || length == best && at_place && !known;
            if self.found.is_none_or(nearer) {
                self.found = Some((length, at_place));
            }
        }
        term.for_each_child(&mut |child| self.search(child, at_place));
    }
}

/// Tells the others that this party has stopped, unless it has finished.
struct StopUnlessDone<'a> {
    network: &'a dyn Network,
    done: Cell<bool>,
    /// The party that has stopped before.
    after: Cell<Option<PartyId>>,
}

/// Returns the party whose end is the reason for an error.
fn cause(error: &RuntimeError, names: &[Arc<str>]) -> Option<PartyId> {
    match &error.failure {
        Failure::PartyStopped { party } | Failure::PartyLost { party } => {
            names.iter().position(|name| **name == **party)
        }
        _ => None,
    }
}

impl Drop for StopUnlessDone<'_> {
    fn drop(&mut self) {
        if !self.done.get() {
            self.network.stop(self.after.get());
        }
    }
}

/// The output of all parties, in the order of the program.
struct MergedOutput<'a> {
    /// The progress of each party.
    positions: Vec<u64>,
    /// The texts that wait for a party to come by, by position, then party.
    waiting: Vec<Printed>,
    /// The names of the parties.
    names: &'a [Arc<str>],
    /// True if one party alone runs in this process: nothing is told apart.
    alone: bool,
    /// True for a party whose line is not ended.
    open_line: Option<PartyId>,
}

impl<'a> MergedOutput<'a> {
    fn new(count: usize, names: &'a [Arc<str>], alone: bool) -> MergedOutput<'a> {
        MergedOutput { positions: vec![0; count], waiting: Vec::new(), names, alone, open_line: None }
    }

    /// Adds a text, and writes what no party is before anymore.
    fn add(&mut self, text: Printed, out: &mut dyn FnMut(&str)) {
        self.positions[text.party] = text.position;
        if !text.text.is_empty() && (text.here || text.party == 0) {
            self.waiting.push(text);
        }
        let least = *self.positions.iter().min().expect("a run has a party");
        self.write(|position| position < least, out);
    }

    /// Writes what is left.
    fn finish(&mut self, out: &mut dyn FnMut(&str)) {
        self.write(|_| true, out);
    }

    /// Writes the texts at these positions.
    fn write(&mut self, ready: impl Fn(u64) -> bool, out: &mut dyn FnMut(&str)) {
        if self.alone {
            return self.waiting.drain(..).for_each(|text| out(&text.text));
        }
        // A stable sort keeps the order of one party's texts.
        self.waiting.sort_by_key(|text| (text.position, text.party));
        let count = self.waiting.iter().take_while(|text| ready(text.position)).count();
        let texts: Vec<Printed> = self.waiting.drain(..count).collect();
        for text in texts {
            if self.open_line.is_some_and(|open| !text.here || open != text.party) {
                out("\n");
            }
            if !text.here {
                self.open_line = None;
                out(&text.text);
                continue;
            }
            let name = &self.names[text.party];
            for line in text.text.split_inclusive('\n') {
                if self.open_line != Some(text.party) {
                    out(&format!("{name}: "));
                }
                out(line);
                self.open_line = (!line.ends_with('\n')).then_some(text.party);
            }
        }
    }
}
