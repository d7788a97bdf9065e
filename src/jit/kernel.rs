//! A kernel at work: values in, phases, values out.

use super::Shared;
use super::code::Code;
use super::gemm::Panels;
use super::native::FrameAddress;
use super::partition::{DONE, FAILED, IterationSpace, PANELS, Partition, STOPPED};
use crate::core::Root;
use crate::kernel::{Executable, Input, Limits, RunResult};
use crate::loop_ir::{Array, ArrayInfo, Kernel, Origin, Stmt, buffer_reuse};
use crate::lower::{Delivery, Feed, Lowered};
use crate::value::{Buffer, Class, Seq, Value};
use rayon::iter::{IntoParallelIterator, ParallelIterator};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Nanoseconds of work from which several threads pay.
const WORTH_SPLITTING: f64 = 200_000.0;

/// Nanoseconds of work of a piece: between two of them a run can be stopped.
const PIECE: f64 = 100_000.0;

/// Nanoseconds of work of a piece of a long loop.
const LONG_PIECE: f64 = 4_000_000.0;

/// Somebody who is told how far a loop is hears of it about as often.
const OFTEN: Duration = Duration::from_millis(10);

/// Pieces for each thread, so that uneven ones even out.
const PIECES_EACH: usize = 4;

/// Loops with their code.
pub struct CompiledKernel {
    lowered: Lowered,
    code: Arc<Code>,
    shared: Arc<Shared>,
    can_fail: bool,
    /// Inputs that the result may be written over.
    overwrites: Vec<usize>,
    /// The one array that is made is the result, and nothing fails once there is room for it.
    takes_spare: bool,
    /// For each phase, the arrays that each of its pieces has of its own.
    own: Vec<Vec<usize>>,
}

impl CompiledKernel {
    /// A kernel of loops and their code.
    pub(super) fn new(lowered: Lowered, code: Arc<Code>, shared: Arc<Shared>) -> CompiledKernel {
        let mut can_fail = false;
        crate::loop_ir::for_each_stmt(&lowered.nest.body, &mut |s| can_fail |= matches!(s, Stmt::Fail));
        // A lack of memory is a failure, too.
        let made =
            |origin: &Origin| matches!(origin, Origin::Scratch | Origin::ThreadLocal | Origin::Result(_));
        let mut made = lowered.nest.arrays.iter().map(|a| a.origin).filter(made);
        let (first, second) = (made.next(), made.next());
        let takes_spare = !can_fail && second.is_none() && matches!(first, Some(Origin::Result(_)));
        can_fail |= first.is_some();
        let own = code.phases.iter().map(|phase| own_arrays(&lowered.nest, phase)).collect();
        let overwritten = buffer_reuse::overwritten(&lowered.nest);
        let fits = |feed: &Feed| match feed {
            Feed::Read(array, class) => overwritten.contains(array) && lowered.classes[..] == [*class],
            _ => false,
        };
        let overwrites = (0..lowered.feeds.len()).filter(|i| fits(&lowered.feeds[*i])).collect();
        CompiledKernel { lowered, code, shared, can_fail, overwrites, takes_spare, own }
    }

    /// Does the rounds of a parallel phase from `low` up to `high`, with arrays of their own if they need some.
    fn piece(&self, at: usize, words: &mut [u64], (low, high): (i64, i64), memory: u64) -> i64 {
        let nest = &self.lowered.nest;
        let mut own: Vec<Buffer> = Vec::new();
        for array in &self.own[at] {
            let Some(buffer) = room(nest, *array, None, memory) else { return FAILED };
            words[self.code.frame.arrays + array] = buffer.address();
            own.push(buffer);
        }
        self.code.functions.call(at, FrameAddress::of(words), low, high)
    }

    /// Does the rounds of a parallel phase, which have packed panels in common.
    fn rounds(&self, phase: (usize, usize), count: i64, words: &mut [u64], limits: &Limits<'_>) -> i64 {
        let panels = Panels::default();
        // One round alone packs one after the other into the same memory.
        words[PANELS] = if count > 1 { std::ptr::from_ref(&panels) as u64 } else { 0 };
        let status = self.pieces(phase, count, words, limits);
        words[PANELS] = 0;
        status
    }

    /// Does the rounds of a parallel phase in pieces.
    fn pieces(&self, (at, each): (usize, usize), count: i64, words: &mut [u64], limits: &Limits<'_>) -> i64 {
        let (stop, memory) = (limits.interrupt, limits.memory);
        let cost = self.lowered.nest.costs.get(each).copied().unwrap_or(1.0).max(0.05);
        let whole = cost * count as f64;
        let pool = if whole >= WORTH_SPLITTING { self.shared.pool() } else { None };
        let least = ((PIECE / cost) as i64).clamp(1, count.max(1));
        let tell = limits.tell.filter(|_| whole >= WORTH_SPLITTING);
        if let Some(tell) = tell {
            tell(0, count as u64);
        }
        let Some(pool) = pool else {
            let mut low = 0;
            while low < count {
                let high = count.min(low + least);
                match self.piece(at, words, (low, high), memory) {
                    DONE if stop.load(Ordering::Relaxed) && high < count => return STOPPED,
                    DONE => {
                        low = high;
                        if let Some(tell) = tell {
                            tell(low as u64, count as u64);
                        }
                    }
                    other => return other,
                }
            }
            return DONE;
        };
        let threads = pool.current_num_threads() as i64;
        let most = ((whole / LONG_PIECE) as i64).max(threads * PIECES_EACH as i64);
        let wanted = (count / least).clamp(1, most);
        // Rounds of which some pieces would have two and others one are pieces themselves.
        let wanted = if count < 2 * wanted { count } else { wanted };
        let (status, done) = (AtomicI64::new(DONE), AtomicU64::new(0));
        let frame = &*words;
        pool.install(|| {
            (0..wanted).into_par_iter().for_each(|piece| {
                if status.load(Ordering::Relaxed) != DONE {
                    return;
                }
                if stop.load(Ordering::Relaxed) {
                    status.store(STOPPED, Ordering::Relaxed);
                    return;
                }
                let bound = |k: i64| (i128::from(count) * i128::from(k) / i128::from(wanted)) as i64;
                // Addresses of own arrays are written into a copy.
                match self.piece(at, &mut frame.to_vec(), (bound(piece), bound(piece + 1)), memory) {
                    DONE => {
                        let own = (bound(piece + 1) - bound(piece)) as u64;
                        let done = done.fetch_add(own, Ordering::Relaxed) + own;
                        if let Some(tell) = tell {
                            tell(done, count as u64);
                        }
                    }
                    // A failure counts for more: the evaluator can be stopped, too.
                    FAILED => status.store(FAILED, Ordering::Relaxed),
                    other => {
                        let _ = status.compare_exchange(DONE, other, Ordering::Relaxed, Ordering::Relaxed);
                    }
                }
            });
        });
        status.into_inner()
    }

    /// Does the rounds of a loop in order: all at once, unless somebody wants to know how far it is.
    fn in_order(&self, at: usize, (from, high): (i64, i64), words: &mut [u64], limits: &Limits<'_>) -> i64 {
        let Some(tell) = limits.tell else {
            return self.code.functions.call(at, FrameAddress::of(words), from, high);
        };
        let (mut low, mut rounds) = (from, 1);
        while low < high {
            let next = high.min(low.saturating_add(rounds));
            let begun = Instant::now();
            match self.code.functions.call(at, FrameAddress::of(words), low, next) {
                DONE => low = next,
                other => return other,
            }
            tell(low.abs_diff(from), high.abs_diff(from));
            if begun.elapsed() < OFTEN {
                rounds = rounds.saturating_mul(2);
            }
        }
        DONE
    }

    /// The value of a result.
    fn value(
        &self,
        given: &Delivery,
        words: &[u64],
        results: &mut [Option<Buffer>],
        changed: &mut [Option<Value>],
    ) -> Option<Value> {
        Some(match given {
            Delivery::Unit => Value::UNIT,
            Delivery::Word(at) => {
                let reg = self.lowered.nest.words[*at];
                let bits = words[self.code.frame.regs[&reg]];
                let bytes = self.lowered.nest.regs[reg as usize].bytes();
                Value::Word(if bytes == 8 { bits } else { bits & ((1 << (8 * bytes)) - 1) })
            }
            Delivery::Array(number, _) => Value::Seq(Seq::new(results[*number as usize].take()?)),
            Delivery::Changed(number) => changed[*number].take()?,
            Delivery::Parts(given, class) => {
                let mut parts = Vec::new();
                for part in given {
                    let value = self.value(part, words, results, changed)?;
                    let slots = slots(&value, part);
                    parts.push((value, slots));
                }
                let slots = parts.iter().map(|(_, slots)| slots).sum();
                Value::tuple(parts, *class, slots)?
            }
        })
    }
}

impl CompiledKernel {
    /// Whether the inputs are what the code was made for: so many slots, and codes of their types.
    fn fit(&self, inputs: &[Value]) -> bool {
        let slots = |array: &Array| self.lowered.nest.slots[*array as usize];
        inputs.len() == self.lowered.feeds.len()
            && inputs.iter().zip(&self.lowered.feeds).all(|(value, feed)| match (feed, value) {
                (Feed::Nothing, _) => true,
                (Feed::Scalar(_, below), Value::Word(word)) => below.is_none_or(|below| *word < below),
                (Feed::Read(array, _) | Feed::Change(array, _), Value::Seq(seq)) => {
                    seq.len() as u64 == slots(array)
                }
                _ => false,
            })
    }

    /// Whether the result is written over an input: it may be, nobody else holds it, and it has as many slots.
    fn takes_over(&self, input: usize, value: &Value) -> bool {
        self.overwrites(input) && self.fits_result(value)
    }

    /// Whether the memory of a value is that of the one result: nobody else holds it, and it has as many slots.
    fn fits_result(&self, value: &Value) -> bool {
        let Value::Seq(seq) = value else { return false };
        let slots = |array: &ArrayInfo| matches!(array.origin, Origin::Result(_));
        let result = self.lowered.nest.arrays.iter().position(slots);
        seq.is_unique(self.lowered.classes[0])
            && result.is_some_and(|result| self.lowered.nest.slots[result] == seq.len() as u64)
    }
}

/// The buffer that a value is all of, if nobody else holds it.
fn buffer_of(value: Value) -> Option<Buffer> {
    match value {
        Value::Seq(seq) => seq.into_buffer(),
        _ => None,
    }
}

/// Room for an array of a nest, if there is so much memory: of slots of a class, or of bytes.
fn room(nest: &Kernel, array: usize, class: Option<Class>, memory: u64) -> Option<Buffer> {
    let slots = nest.slots[array];
    let bytes = slots.checked_mul(u64::from(nest.arrays[array].width)).filter(|bytes| *bytes <= memory)?;
    let (class, slots) = class.map_or((Class::Word, bytes.div_ceil(8)), |class| (class, slots));
    // A nest writes each slot before it reads it.
    let (buffer, fresh) = Buffer::with_len(class, slots as usize)?;
    if fresh {
        super::native::huge_pages(buffer.address(), bytes);
    }
    Some(buffer)
}

/// The arrays that each piece of a phase has of its own.
fn own_arrays(nest: &Kernel, phase: &Partition) -> Vec<usize> {
    let mut found = BTreeSet::new();
    crate::loop_ir::for_each_stmt(&nest.body[phase.stmts.clone()], &mut |stmt| {
        found.extend(stmt.arrays().into_iter().map(|array| array as usize));
    });
    found.into_iter().filter(|array| nest.arrays[*array].origin == Origin::ThreadLocal).collect()
}

/// Slots of a result.
fn slots(value: &Value, given: &Delivery) -> usize {
    match (value, given) {
        (_, Delivery::Unit) => 0,
        (Value::Seq(seq), _) => seq.len(),
        _ => 1,
    }
}

impl Executable for CompiledKernel {
    fn inputs(&self) -> &[Input] {
        &self.lowered.inputs
    }

    fn changes(&self) -> &[Root] {
        &self.lowered.changes
    }

    fn overwrites(&self, input: usize) -> bool {
        self.overwrites.contains(&input)
    }

    fn accepts_spare(&self) -> bool {
        self.takes_spare
    }

    fn can_fail(&self) -> bool {
        self.can_fail
    }

    fn run(&self, inputs: &mut [Value], spare: &mut Option<Value>, limits: &Limits<'_>) -> RunResult {
        let (nest, frame) = (&self.lowered.nest, &self.code.frame);
        let statistics = &self.shared.statistics;
        statistics.runs.fetch_add(1, Ordering::Relaxed);
        let mut words = vec![0u64; frame.words.max(1)];
        words[0] = std::ptr::from_ref(limits.interrupt) as u64;
        words[frame.sizes..frame.sizes + nest.sizes.len()].copy_from_slice(&nest.sizes);
        // Code reads and writes as many slots as it was made for: here ends what has fewer, in every build.
        if !self.fit(inputs) {
            statistics.failed.fetch_add(1, Ordering::Relaxed);
            return RunResult::Refused;
        }
        // Everything that an address leads to, alive until the end.
        let mut read: Vec<Arc<Buffer>> = Vec::new();
        let mut changed: Vec<Option<Value>> = Vec::new();
        let mut over: Option<(usize, Array)> = None;
        for (at, (value, feed)) in inputs.iter_mut().zip(&self.lowered.feeds).enumerate() {
            let changes = changed.len() < self.lowered.changes.len();
            match feed {
                Feed::Nothing => {}
                Feed::Scalar(n, _) => words[frame.scalars + *n as usize] = value.word(),
                Feed::Read(array, _) if over.is_none() && self.takes_over(at, value) => {
                    over = Some((at, *array))
                }
                Feed::Read(array, class) => {
                    let Value::Seq(seq) = &*value else { return RunResult::Failed };
                    let Some((buffer, start)) = seq.to_flat(*class) else { return RunResult::Failed };
                    words[frame.arrays + *array as usize] = buffer.address() + start as u64 * class.bytes();
                    read.push(buffer);
                }
                Feed::Change(array, class) => {
                    let Value::Seq(mut seq) = std::mem::replace(value, Value::UNIT) else {
                        return RunResult::Failed;
                    };
                    if seq.class() != *class {
                        let Some((buffer, _)) = seq.to_flat(*class) else { return RunResult::Failed };
                        seq = Seq::shared(buffer);
                    }
                    let (buffer, start) = seq.make_mut(*class);
                    words[frame.arrays + *array as usize] = buffer.address() + start as u64 * class.bytes();
                    changed.push(Some(Value::Seq(seq)));
                    continue;
                }
            }
            if changes {
                changed.push(None);
            }
        }
        let mut results: Vec<Option<Buffer>> = vec![None; self.lowered.classes.len()];
        let mut work: Vec<Buffer> = Vec::new();
        for (at, array) in nest.arrays.iter().enumerate() {
            let class = match array.origin {
                Origin::Result(number) => Some(self.lowered.classes[number as usize]),
                Origin::Scratch => None,
                Origin::Given(_) | Origin::Changed(_) | Origin::Local(_) | Origin::ThreadLocal => continue,
            };
            let taken = match over {
                Some((input, given)) => {
                    let buffer = buffer_of(std::mem::replace(&mut inputs[input], Value::UNIT));
                    if let Some(buffer) = &buffer {
                        words[frame.arrays + given as usize] = buffer.address();
                    }
                    buffer
                }
                None if self.takes_spare => {
                    spare.take_if(|value| self.fits_result(value)).and_then(buffer_of)
                }
                None => None,
            };
            let Some(buffer) = taken.or_else(|| room(nest, at, class, limits.memory)) else {
                return RunResult::Failed;
            };
            words[frame.arrays + at] = buffer.address();
            match array.origin {
                Origin::Result(number) => results[number as usize] = Some(buffer),
                _ => work.push(buffer),
            }
        }
        let mut each = 0;
        for (at, phase) in self.code.phases.iter().enumerate() {
            let status = match phase.rounds {
                IterationSpace::Once => self.code.functions.call(at, FrameAddress::of(&mut words), 0, 0),
                IterationSpace::Parallel(count) => {
                    each += 1;
                    let count = words[frame.regs[&count]] as i64;
                    self.rounds((at, each - 1), count, &mut words, limits)
                }
                IterationSpace::InOrder(low, high) => {
                    let (low, high) = (words[frame.regs[&low]] as i64, words[frame.regs[&high]] as i64);
                    self.in_order(at, (low, high), &mut words, limits)
                }
            };
            match status {
                DONE => {}
                STOPPED => return RunResult::Interrupted,
                _ => {
                    statistics.failed.fetch_add(1, Ordering::Relaxed);
                    return RunResult::Failed;
                }
            }
        }
        drop((read, work));
        let values = self.lowered.results.iter();
        let values = values.map(|given| self.value(given, &words, &mut results, &mut changed));
        values.collect::<Option<Vec<Value>>>().map_or(RunResult::Failed, RunResult::Done)
    }
}
