//! Runs of compiled kernels: binds inputs, runs the phases, and makes values of the results.

use super::Shared;
use super::call::stack_limit;
use super::code::Code;
use super::fields::{accepts_field, field_at, size_of, sized_slots};
use super::gemm::Panels;
use super::growable::Growables;
use super::native::FrameAddress;
use super::partition::{
    CALLS_WORD, Control, GROWABLES_WORD, INTERRUPT_WORD, IterationSpace, PANELS_WORD, Partition, STACK_WORD,
    STATUS_DONE, STATUS_FAILED, STATUS_STOPPED,
};
use super::pieces::{self, RoundTime, Rounds};
use crate::array_loops::{FieldBinding, InputBinding, Lowered, ResultSource};
use crate::kernel::{Executable, Input, Limits, RunResult};
use crate::loop_ir::{Array, Kernel, Label, Op, Origin, Reg, Stmt, buffer_reuse};
use crate::value::{Buffer, Class, Packed, Seq, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Slots of an array that a run without loops may copy.
const MAX_SLOTS_COPIED_BY_SHORT: usize = 64;

/// The interval between two reports of progress, about.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(10);

/// A control transfer out of a list of statements.
enum ControlExit {
    /// The run ends with a status.
    Status(i64),
    /// A loop or block is left.
    Break(Label),
    /// A loop goes on.
    Continue(Label),
}

impl ControlExit {
    /// Resolves the transfer at the loop `label`: true to continue, false to leave; or passes it
    /// on.
    fn at_loop(self, label: Label) -> Result<bool, ControlExit> {
        match self {
            ControlExit::Break(left) if left == label => Ok(false),
            ControlExit::Continue(next) if next == label => Ok(true),
            other => Err(other),
        }
    }
}

/// The time that runs of a kernel have taken, and that of unboxing their inputs and boxing their
/// results. A loop that reads few elements of a long array of sums is left to the evaluator after some
/// runs.
#[derive(Default)]
struct BoxingTime {
    runs: AtomicU64,
    run_ns: AtomicU64,
    boxing_ns: AtomicU64,
}

/// Words of a value with sums for each round of a loop up to which the value is unboxed in any case.
const WORDS_PER_ROUND: u64 = 4;

/// Runs of a kernel after which it is known whether sums take most of the time.
const MIN_BOXING_RUNS: u64 = 4;

/// The time of sums in all runs from which on it counts, in nanoseconds.
const MIN_BOXING_NS: u64 = 100_000;

impl BoxingTime {
    fn note(&self, boxing: Duration) {
        self.boxing_ns.fetch_add(boxing.as_nanos() as u64, Ordering::Relaxed);
    }

    fn note_run(&self, run: Duration) {
        self.runs.fetch_add(1, Ordering::Relaxed);
        self.run_ns.fetch_add(run.as_nanos() as u64, Ordering::Relaxed);
    }

    fn is_unprofitable(&self) -> bool {
        let [runs, run, boxing] =
            [&self.runs, &self.run_ns, &self.boxing_ns].map(|count| count.load(Ordering::Relaxed));
        runs >= MIN_BOXING_RUNS && boxing >= MIN_BOXING_NS && boxing > 4 * run
    }
}

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
    /// No loop goes through an array: a run takes few steps, or a number that is not known.
    is_short: bool,
    /// The rounds of the longest nest of loops, as far as they are known.
    rounds: u64,
    /// An input or a result holds sums.
    has_sums: bool,
    /// The time that these take.
    boxing: BoxingTime,
    /// For each parallel loop, the time of a round.
    round_times: Vec<RoundTime>,
    /// For each phase, the arrays that each of its pieces has of its own.
    thread_local: Vec<Vec<Array>>,
    /// The class of the slots of arrays to work in whose memory becomes that of a result or of a
    /// variable.
    exchanged_classes: BTreeMap<Array, Class>,
}

impl CompiledKernel {
    /// A kernel of loops and their code.
    pub(super) fn new(lowered: Lowered, code: Arc<Code>, shared: Arc<Shared>) -> CompiledKernel {
        let mut can_fail = false;
        let mut is_short = true;
        crate::loop_ir::for_each_stmt(&lowered.kernel.body, &mut |stmt| {
            can_fail |= matches!(stmt, Stmt::Fail | Stmt::Call(_));
            is_short &= !matches!(
                stmt,
                Stmt::For { .. }
                    | Stmt::ParallelFor { .. }
                    | Stmt::Reduce { .. }
                    | Stmt::Gemm(_)
                    | Stmt::Sort(_)
                    | Stmt::Call(_)
            );
        });
        // A lack of memory is a failure, too.
        let made = |origin: &Origin| {
            matches!(origin, Origin::Scratch | Origin::ThreadLocal | Origin::Growable | Origin::Result(_))
        };
        let mut made = lowered.kernel.arrays.iter().map(|a| a.origin).filter(made);
        let (first, second) = (made.next(), made.next());
        let has_sums = lowered.bindings.iter().any(|binding| matches!(binding, InputBinding::Unbox(..)))
            || lowered.results.iter().any(|result| matches!(result, ResultSource::Unboxed(..)));
        let takes_spare =
            !has_sums && !can_fail && second.is_none() && matches!(first, Some(Origin::Result(_)));
        can_fail |= first.is_some() || has_sums;
        let thread_local =
            code.phases.iter().map(|phase| thread_local_arrays(&lowered.kernel, phase)).collect();
        let reusable_inputs = buffer_reuse::reusable_inputs(&lowered.kernel);
        let fits = |binding: &InputBinding| match binding {
            InputBinding::Read(array, class) => {
                reusable_inputs.contains(array) && lowered.classes[..] == [*class]
            }
            _ => false,
        };
        let overwrites = (0..lowered.bindings.len()).filter(|i| fits(&lowered.bindings[*i])).collect();
        let exchanged_classes = exchanged_classes(&lowered);
        let rounds = known_rounds(&lowered.kernel);
        let round_times = lowered.kernel.iteration_costs.iter().map(|_| RoundTime::default()).collect();
        CompiledKernel {
            lowered,
            code,
            shared,
            can_fail,
            overwrites,
            takes_spare,
            is_short,
            rounds,
            has_sums,
            boxing: BoxingTime::default(),
            round_times,
            thread_local,
            exchanged_classes,
        }
    }

    /// Does the rounds of a phase from `low` up to `high`, with arrays of their own if they need
    /// some.
    fn run_piece(&self, at: usize, words: &mut [u64], (low, high): (i64, i64), limits: &Limits<'_>) -> i64 {
        let (kernel, frame) = (&self.lowered.kernel, &self.code.frame);
        if !kernel.functions.is_empty() {
            // Of the thread that runs the piece.
            words[STACK_WORD] = stack_limit(limits) as u64;
        }
        let mut buffers: Vec<Buffer> = Vec::new();
        let (mut growables, before) = (Growables::new(limits.memory), words[GROWABLES_WORD]);
        for array in &self.thread_local[at] {
            if let Some(capacity) = frame.capacities.get(array) {
                (words[frame.arrays + array.index()], words[*capacity]) = (0, 0);
                words[GROWABLES_WORD] = growables.address();
                continue;
            }
            let Some(buffer) = allocate(kernel, *array, None, limits.memory) else { return STATUS_FAILED };
            words[frame.arrays + array.index()] = buffer.address();
            buffers.push(buffer);
        }
        let status = self.code.functions.call(at, FrameAddress::of(words), low, high);
        words[GROWABLES_WORD] = before;
        status
    }

    /// Does the rounds of a parallel phase, which have packed panels in common.
    fn run_parallel(&self, phase: (usize, usize), count: i64, words: &mut [u64], limits: &Limits<'_>) -> i64 {
        let panels = Panels::default();
        // One round alone packs one after the other into the same memory.
        words[PANELS_WORD] = if count > 1 { std::ptr::from_ref(&panels) as u64 } else { 0 };
        let (at, each) = phase;
        let estimated_ns = self.lowered.kernel.iteration_costs[each];
        let rounds = Rounds { count, estimated_ns, time: &self.round_times[each] };
        let run_piece = |words: &mut [u64], range: (i64, i64)| self.run_piece(at, words, range, limits);
        let status = pieces::run(&rounds, || self.shared.thread_pool(), (&mut *words, limits), &run_piece);
        words[PANELS_WORD] = 0;
        status
    }

    /// Runs the iterations of a loop in order: all at once, or in chunks of growing size if
    /// progress is reported.
    fn run_sequential(
        &self,
        at: usize,
        (from, high): (i64, i64),
        words: &mut [u64],
        limits: &Limits<'_>,
    ) -> i64 {
        let Some(report_progress) = limits.report_progress else {
            return self.run_piece(at, words, (from, high), limits);
        };
        let (mut low, mut rounds) = (from, 1);
        while low < high {
            let next = high.min(low.saturating_add(rounds));
            let begun = Instant::now();
            match self.run_piece(at, words, (low, next), limits) {
                STATUS_DONE => low = next,
                other => return other,
            }
            report_progress(low.abs_diff(from), high.abs_diff(from));
            if begun.elapsed() < PROGRESS_INTERVAL {
                rounds = rounds.saturating_mul(2);
            }
        }
        STATUS_DONE
    }

    /// Gives results and variables the memory that exchanges have left to their arrays; `given`
    /// are the addresses before the run.
    fn adopt_swapped_buffers(
        &self,
        words: &[u64],
        given: &[u64],
        results: &mut [Option<Buffer>],
        work: &mut Vec<Buffer>,
        changed: &mut [Option<Value>],
    ) {
        let arrays = &self.lowered.kernel.arrays;
        let last = |array: Array| words[self.code.frame.arrays + array.index()];
        if arrays.ids().all(|array| last(array) == given[array.index()]) {
            return;
        }
        // A result or variable that has been exchanged with another array gives its memory up.
        for array in arrays.ids() {
            if let Origin::Result(number) = arrays[array].origin
                && last(array) != given[array.index()]
            {
                work.extend(results[number as usize].take());
            }
        }
        for (variable, binding) in changed.iter_mut().zip(&self.lowered.bindings) {
            if let InputBinding::Change(array, _) = binding
                && last(*array) != given[array.index()]
            {
                work.extend(variable.take().and_then(into_sole_buffer));
            }
        }
        let mut buffer_at = |address: u64| {
            let at = work.iter().position(|buffer| buffer.address() == address);
            work.swap_remove(at.expect("arrays are exchanged with those that are made for the run"))
        };
        for array in arrays.ids() {
            if let Origin::Result(number) = arrays[array].origin
                && last(array) != given[array.index()]
            {
                results[number as usize] = Some(buffer_at(last(array)));
            }
        }
        for (variable, binding) in changed.iter_mut().zip(&self.lowered.bindings) {
            if let InputBinding::Change(array, _) = binding
                && last(*array) != given[array.index()]
            {
                *variable = Some(Value::Seq(Seq::new(buffer_at(last(*array)))));
            }
        }
    }

    /// Runs phases as their control flow says.
    fn run_control(
        &self,
        control: &[Control],
        words: &mut [u64],
        limits: &Limits<'_>,
    ) -> Result<(), ControlExit> {
        control.iter().try_for_each(|step| self.run_step(step, words, limits))
    }

    fn run_step(&self, step: &Control, words: &mut [u64], limits: &Limits<'_>) -> Result<(), ControlExit> {
        let regs = &self.code.frame.regs;
        let is_stopped = || limits.interrupt.load(Ordering::Relaxed);
        // A loop tells how far it is, and nothing inside of it does.
        let inside = &Limits { report_progress: None, ..*limits };
        match step {
            Control::Phase(at) => match self.run_phase(*at, words, limits) {
                STATUS_DONE => Ok(()),
                status => Err(ControlExit::Status(status)),
            },
            Control::For { label, index, low, high, body } => {
                let (low, high) = (words[regs[low]] as i64, words[regs[high]] as i64);
                for round in low..high {
                    if is_stopped() {
                        return Err(ControlExit::Status(STATUS_STOPPED));
                    }
                    if let Some(report_progress) = limits.report_progress {
                        report_progress(round.abs_diff(low), high.abs_diff(low));
                    }
                    words[regs[index]] = round as u64;
                    if !self
                        .run_control(body, words, inside)
                        .map(|()| true)
                        .or_else(|leave| leave.at_loop(*label))?
                    {
                        break;
                    }
                }
                Ok(())
            }
            Control::Loop(label, body) => loop {
                if is_stopped() {
                    return Err(ControlExit::Status(STATUS_STOPPED));
                }
                if !self
                    .run_control(body, words, inside)
                    .map(|()| true)
                    .or_else(|leave| leave.at_loop(*label))?
                {
                    return Ok(());
                }
            },
            Control::Block(label, body) => match self.run_control(body, words, limits) {
                Err(ControlExit::Break(left)) if left == *label => Ok(()),
                other => other,
            },
            Control::If(condition, then, otherwise) => {
                let side = if words[regs[condition]] != 0 { then } else { otherwise };
                self.run_control(side, words, limits)
            }
            Control::Break(label) => Err(ControlExit::Break(*label)),
            Control::Continue(label) => Err(ControlExit::Continue(*label)),
        }
    }

    /// Runs one phase.
    fn run_phase(&self, at: usize, words: &mut [u64], limits: &Limits<'_>) -> i64 {
        let regs = &self.code.frame.regs;
        match self.code.phases[at].rounds {
            IterationSpace::Once => self.run_piece(at, words, (0, 0), limits),
            IterationSpace::Parallel(count, number) => {
                let count = words[regs[&count]] as i64;
                self.run_parallel((at, number), count, words, limits)
            }
            IterationSpace::InOrder(low, high) => {
                let (low, high) = (words[regs[&low]] as i64, words[regs[&high]] as i64);
                self.run_sequential(at, (low, high), words, limits)
            }
        }
    }

    /// The value of a result.
    fn result_value(
        &self,
        given: &ResultSource,
        words: &[u64],
        results: &mut [Option<Buffer>],
        growables: &mut Growables,
        changed: &mut [Option<Value>],
    ) -> Option<Value> {
        Some(match given {
            ResultSource::Unit => Value::UNIT,
            ResultSource::Word(at) => {
                let reg = self.lowered.kernel.scalar_results[*at];
                let bits = words[self.code.frame.regs[&reg]];
                let bytes = self.lowered.kernel.regs[reg].bytes();
                Value::Word(if bytes == 8 { bits } else { bits & ((1 << (8 * bytes)) - 1) })
            }
            ResultSource::Array(number, _) => Value::Seq(Seq::new(results[*number as usize].take()?)),
            ResultSource::Changed(number) => changed[*number].take()?,
            ResultSource::Unboxed(number, form) => {
                let mut words = results[*number as usize].take()?;
                let begun = Instant::now();
                let Buffer::Word(words) = &mut words else { unreachable!("a buffer of words") };
                let value = form.value_of(std::mem::take(words))?;
                self.boxing.note(begun.elapsed());
                value
            }
            ResultSource::Sized(array, size, stride) => {
                let size = words[self.code.frame.regs[&self.lowered.kernel.scalar_results[*size]]];
                let slots = usize::try_from(size.checked_mul(*stride)?).ok()?;
                let array = growables.take(words[self.code.frame.arrays + array.index()]);
                let value = match (slots, array) {
                    (0, _) => Value::UNIT,
                    (1, buffer) => buffer?.get(0),
                    (slots, buffer) => {
                        let mut buffer = buffer?;
                        buffer.truncate(slots);
                        Value::Seq(Seq::new(buffer))
                    }
                };
                Value::Packed(Arc::new(Packed::of_axis(size, value)))
            }
            ResultSource::Parts(given, class) => {
                let mut parts = Vec::new();
                for part in given {
                    let value = self.result_value(part, words, results, growables, changed)?;
                    let slots = slot_count(&value, part);
                    parts.push((value, slots));
                }
                let slots = parts.iter().map(|(_, slots)| slots).sum();
                Value::tuple(parts, *class, slots)?
            }
        })
    }
}

impl CompiledKernel {
    /// Returns true if the inputs are what the code was made for: so many slots, and codes of their
    /// types.
    fn accepts_inputs(&self, inputs: &[Value]) -> bool {
        // A part of a record, say, may have slots of another class, and is copied for each run.
        let is_copied = |seq: &Seq, class| seq.len() > MAX_SLOTS_COPIED_BY_SHORT && !seq.is_flat(class);
        let slots = |array: &Array| self.lowered.kernel.slots[*array];
        let most_copied = (WORDS_PER_ROUND * self.rounds).max(MAX_SLOTS_COPIED_BY_SHORT as u64);
        let changes = self.lowered.changes;
        let mut all = inputs.iter().zip(&self.lowered.bindings).enumerate();
        inputs.len() == self.lowered.bindings.len()
            && all.all(|(at, (value, binding))| match (binding, value) {
                (InputBinding::Nothing, _) => true,
                (InputBinding::Scalar(_, below), Value::Word(word)) => {
                    below.is_none_or(|below| *word < below)
                }
                (InputBinding::Read(array, class) | InputBinding::Change(array, class), Value::Seq(seq)) => {
                    seq.len() as u64 == slots(array) && !(self.is_short && is_copied(seq, *class))
                }
                (InputBinding::Fields(fields), value) => {
                    // A loop has memory of its own for the arrays that it changes.
                    let copied = if at < changes { u64::MAX } else { most_copied };
                    fields.iter().all(|(slot, field)| accepts_field(field, &field_at(value, *slot), copied))
                }
                (InputBinding::Unbox(_, form), _) => {
                    let words = form.words();
                    let is_long =
                        words > MAX_SLOTS_COPIED_BY_SHORT && words as u64 > WORDS_PER_ROUND * self.rounds;
                    let is_slow = is_long && (self.is_short || self.boxing.is_unprofitable());
                    !is_slow || form.kept_words(value).is_some()
                }
                _ => false,
            })
    }

    /// Returns true if the result is written over an input: it may be, nobody else holds it, and it
    /// has as many slots.
    fn can_overwrite(&self, input: usize, value: &Value) -> bool {
        self.overwrites(input) && self.fits_result(value)
    }

    /// Returns true if the memory of a value is that of the one result: nobody else holds it, and
    /// it has as many slots.
    fn fits_result(&self, value: &Value) -> bool {
        let Value::Seq(seq) = value else { return false };
        let arrays = &self.lowered.kernel.arrays;
        let result = arrays.ids().find(|array| matches!(arrays[*array].origin, Origin::Result(_)));
        seq.is_unique(self.lowered.classes[0])
            && result.is_some_and(|result| self.lowered.kernel.slots[result] == seq.len() as u64)
    }
}

/// The rounds of the longest nest of loops whose ranges are known, each loop within one of the others.
fn known_rounds(kernel: &Kernel) -> u64 {
    fn of_stmts(stmts: &[Stmt], known: &dyn Fn(Reg) -> Option<u64>) -> u64 {
        let of_stmt = |stmt: &Stmt| {
            let inside = stmt.bodies().into_iter().map(|body| of_stmts(body, known)).max().unwrap_or(1);
            let own = match stmt {
                Stmt::For { low, high, .. } | Stmt::Reduce { low, high, .. } => {
                    known(*low).zip(known(*high)).map(|(low, high)| high.saturating_sub(low))
                }
                Stmt::ParallelFor { count, .. } => known(*count),
                _ => None,
            };
            own.unwrap_or(1).max(1).saturating_mul(inside)
        };
        stmts.iter().map(of_stmt).max().unwrap_or(1)
    }
    let mut sizes = BTreeMap::new();
    crate::loop_ir::for_each_stmt(&kernel.body, &mut |stmt| {
        if let Stmt::Let(reg, Op::Size(number)) = stmt {
            sizes.insert(*reg, kernel.sizes[*number as usize]);
        }
    });
    let known = |reg: Reg| sizes.get(&reg).or_else(|| kernel.constants.get(&reg)).copied();
    of_stmts(&kernel.body, &known)
}

/// The buffer that a value is all of, if nobody else holds it.
fn into_sole_buffer(value: Value) -> Option<Buffer> {
    match value {
        Value::Seq(seq) => seq.into_buffer(),
        _ => None,
    }
}

/// Room for an array of a kernel, if there is so much memory: of slots of a class, or of bytes.
fn allocate(kernel: &Kernel, array: Array, class: Option<Class>, memory: u64) -> Option<Buffer> {
    let slots = kernel.slots[array];
    let bytes = slots.checked_mul(u64::from(kernel.arrays[array].width)).filter(|bytes| *bytes <= memory)?;
    let (class, slots) = class.map_or((Class::Word, bytes.div_ceil(8)), |class| (class, slots));
    // A kernel writes each slot before it reads it.
    let (buffer, fresh) = Buffer::with_len(class, slots as usize)?;
    if fresh {
        super::native::advise_huge_pages(buffer.address(), bytes);
    }
    Some(buffer)
}

/// The slot classes of all arrays connected by `Swap`, directly or indirectly, to a result or a
/// changed variable.
fn exchanged_classes(lowered: &Lowered) -> BTreeMap<Array, Class> {
    let (kernel, mut classes, mut pairs) = (&lowered.kernel, BTreeMap::new(), Vec::new());
    crate::loop_ir::for_each_stmt(&kernel.body, &mut |stmt| {
        if let Stmt::Swap(a, b) = stmt {
            pairs.push((*a, *b));
        }
    });
    for array in kernel.arrays.ids() {
        if let Origin::Result(number) = kernel.arrays[array].origin {
            classes.insert(array, lowered.classes[number as usize]);
        }
    }
    for binding in &lowered.bindings {
        if let InputBinding::Change(array, class) = binding
            && pairs.iter().any(|(a, b)| a == array || b == array)
        {
            classes.insert(*array, *class);
        }
    }
    let mut before = 0;
    while before < classes.len() {
        before = classes.len();
        for (a, b) in &pairs {
            if let Some(class) = classes.get(a).or(classes.get(b)).copied() {
                classes.extend([(*a, class), (*b, class)]);
            }
        }
    }
    classes
}

/// The arrays that each piece of a phase has of its own.
fn thread_local_arrays(kernel: &Kernel, phase: &Partition) -> Vec<Array> {
    let mut found = BTreeSet::new();
    let in_parallel = matches!(phase.rounds, IterationSpace::Parallel(..));
    crate::loop_ir::for_each_stmt(phase.stmts(kernel), &mut |stmt| match stmt {
        Stmt::Grow(array, _) if in_parallel => _ = found.insert(*array),
        // The memory of one that grows.
        Stmt::Swap(a, b) if in_parallel => found.extend([*a, *b]),
        stmt => {
            let arrays = stmt.arrays();
            found.extend(arrays.iter().filter(|array| kernel.arrays[**array].origin == Origin::ThreadLocal));
        }
    });
    found.into_iter().collect()
}

/// Slots of a result.
fn slot_count(value: &Value, given: &ResultSource) -> usize {
    match (value, given) {
        (_, ResultSource::Unit) => 0,
        (Value::Seq(seq), _) => seq.len(),
        _ => 1,
    }
}

impl Executable for CompiledKernel {
    fn inputs(&self) -> &[Input] {
        &self.lowered.inputs
    }

    fn changes(&self) -> usize {
        self.lowered.changes
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
        let (kernel, frame) = (&self.lowered.kernel, &self.code.frame);
        let statistics = &self.shared.statistics;
        statistics.runs.fetch_add(1, Ordering::Relaxed);
        let mut words = vec![0u64; frame.words.max(1)];
        words[INTERRUPT_WORD] = std::ptr::from_ref(limits.interrupt) as u64;
        words[frame.sizes..frame.sizes + kernel.sizes.len()].copy_from_slice(&kernel.sizes);
        for (function, at) in kernel.functions.iter().zip(&frame.functions) {
            words[*at..at + function.sizes.len()].copy_from_slice(&function.sizes);
        }
        // Each call of a function counts as all calls of the program that are inlined in it.
        words[CALLS_WORD] = limits.calls / u64::from(self.lowered.longest_step.max(1));
        // Code reads and writes as many slots as it was made for: here ends what has fewer, in
        // every build.
        if !self.accepts_inputs(inputs) {
            statistics.failed.fetch_add(1, Ordering::Relaxed);
            return RunResult::Refused;
        }
        // Everything that an address leads to, alive until the end.
        let mut read: Vec<Arc<Buffer>> = Vec::new();
        let mut changed: Vec<Option<Value>> = Vec::new();
        let mut over: Option<(usize, Array)> = None;
        for (at, (value, binding)) in inputs.iter_mut().zip(&self.lowered.bindings).enumerate() {
            let changes = changed.len() < self.lowered.changes;
            match binding {
                InputBinding::Nothing => {}
                InputBinding::Unbox(array, form) if let Some(kept) = form.kept_words(value) => {
                    words[frame.arrays + array.index()] = kept.as_ptr() as u64;
                    let Value::Seq(seq) = &*value else { unreachable!("words of an array") };
                    read.extend(seq.to_flat(Class::Any).map(|(buffer, _)| buffer));
                }
                InputBinding::Unbox(array, form) => {
                    let begun = Instant::now();
                    let Some(mut buffer) = Buffer::with_capacity(Class::Word, form.words()) else {
                        return RunResult::Failed;
                    };
                    let Buffer::Word(slots) = &mut buffer else { unreachable!("a buffer of words") };
                    if !form.write(value, slots) {
                        return RunResult::Failed;
                    }
                    self.boxing.note(begun.elapsed());
                    words[frame.arrays + array.index()] = buffer.address();
                    read.push(Arc::new(buffer));
                }
                InputBinding::Scalar(n, _) => words[frame.scalars + *n as usize] = value.word(),
                InputBinding::Fields(fields) => {
                    for (slot, field) in fields {
                        match (field, field_at(value, *slot)) {
                            (FieldBinding::Sized(array, class, number, _), value) => {
                                let Some((size, buffer, start)) = sized_slots(&value, *class) else {
                                    return RunResult::Failed;
                                };
                                words[frame.scalars + *number as usize] = size;
                                words[frame.arrays + array.index()] =
                                    buffer.address() + start as u64 * class.bytes();
                                read.push(buffer);
                            }
                            (FieldBinding::Size(number), value) => {
                                let size = size_of(&value).expect("an array that was accepted has its size");
                                words[frame.scalars + *number as usize] = size;
                            }
                            (FieldBinding::Scalar(number, _), value) => {
                                words[frame.scalars + *number as usize] = value.word();
                            }
                        }
                    }
                }
                InputBinding::Read(array, _) if over.is_none() && self.can_overwrite(at, value) => {
                    over = Some((at, *array))
                }
                InputBinding::Read(array, class) => {
                    let Value::Seq(seq) = &*value else {
                        unreachable!("an array that was accepted is a sequence")
                    };
                    let Some((buffer, start)) = seq.to_flat(*class) else { return RunResult::Failed };
                    words[frame.arrays + array.index()] = buffer.address() + start as u64 * class.bytes();
                    read.push(buffer);
                }
                InputBinding::Change(array, class) => {
                    let Value::Seq(mut seq) = std::mem::replace(value, Value::UNIT) else {
                        unreachable!("an array that was accepted is a sequence")
                    };
                    if seq.class() != *class {
                        let Some((buffer, _)) = seq.to_flat(*class) else { return RunResult::Failed };
                        seq = Seq::shared(buffer);
                    }
                    // Memory that is exchanged is a buffer, and not a part of one.
                    if self.exchanged_classes.contains_key(array) && !seq.is_unique(*class) {
                        let Some(buffer) = seq.to_sole_buffer(*class) else { return RunResult::Failed };
                        seq = Seq::new(buffer);
                    }
                    let (buffer, start) = seq.make_mut(*class);
                    words[frame.arrays + array.index()] = buffer.address() + start as u64 * class.bytes();
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
        for at in kernel.arrays.ids() {
            let array = kernel.arrays[at];
            let class = match array.origin {
                Origin::Result(number) => Some(self.lowered.classes[number as usize]),
                Origin::Scratch => self.exchanged_classes.get(&at).copied(),
                Origin::Input(_)
                | Origin::InOut(_)
                | Origin::Stack(_)
                | Origin::ThreadLocal
                | Origin::Growable
                | Origin::Alias(_) => continue,
            };
            let taken = match over {
                Some((input, given)) => {
                    let buffer = into_sole_buffer(std::mem::replace(&mut inputs[input], Value::UNIT));
                    if let Some(buffer) = &buffer {
                        words[frame.arrays + given.index()] = buffer.address();
                    }
                    buffer
                }
                None if self.takes_spare => {
                    spare.take_if(|value| self.fits_result(value)).and_then(into_sole_buffer)
                }
                None => None,
            };
            let Some(buffer) = taken.or_else(|| allocate(kernel, at, class, limits.memory)) else {
                return RunResult::Failed;
            };
            words[frame.arrays + at.index()] = buffer.address();
            match array.origin {
                Origin::Result(number) => results[number as usize] = Some(buffer),
                _ => work.push(buffer),
            }
        }
        let mut growables = Growables::new(limits.memory);
        words[GROWABLES_WORD] = growables.address();
        let given = words[frame.arrays..frame.arrays + kernel.arrays.len()].to_vec();
        let begun = self.has_sums.then(Instant::now);
        match self.run_control(&self.code.control, &mut words, limits) {
            Ok(()) => {}
            Err(ControlExit::Status(STATUS_STOPPED)) => return RunResult::Interrupted,
            Err(ControlExit::Status(_)) => {
                statistics.failed.fetch_add(1, Ordering::Relaxed);
                return RunResult::Failed;
            }
            Err(ControlExit::Break(_) | ControlExit::Continue(_)) => {
                unreachable!("a label is that of a loop around")
            }
        }
        self.adopt_swapped_buffers(&words, &given, &mut results, &mut work, &mut changed);
        drop((read, work));
        if let Some(begun) = begun {
            self.boxing.note_run(begun.elapsed());
        }
        let values = self.lowered.results.iter();
        let values =
            values.map(|given| self.result_value(given, &words, &mut results, &mut growables, &mut changed));
        values.collect::<Option<Vec<Value>>>().map_or(RunResult::Failed, RunResult::Done)
    }
}
