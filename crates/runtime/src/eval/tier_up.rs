//! Tier-up: terms and loops that may be compiled.
//!
//! A [`TierUpSite`] is a term, a loop or the body of a function that calls itself and changes variables
//! around it, together with its address in the core that it was made from. It is interpreted until it has been executed often, or compiled at once if it works on
//! large arrays; then the accelerator of the machine is asked for a kernel. A kernel that fails has
//! changed nothing: the evaluator runs the part again, and finds the error that is to be reported.

use super::bindings::Bindings;
use super::calls::MAX_CALL_DEPTH;
use super::code::{Closure, Node, NodeKind, Statement, StatementKind};
use super::error::Failure;
use super::evaluator::{Evaluator, Result};
use super::existential::Continuation;
use super::frame::moved_out;
use super::specialize::LARGE_COPY_SLOTS;
use crate::core::free_variables::FreeVariables;
use crate::core::{
    Function, FunctionId, GlobalId, KnownValue, LocalId, LocalInfo, Region, Root, Stmt, Term, TermKind,
    last_use,
};
use crate::hash::HashMap;
use crate::kernel::{CompilationUnit, Executable, Input, Limits, NotCompiled, RunResult};
use crate::source::Span;
use crate::types::{Type, TypeKind};
use crate::value::{Cell, Class, Value};
use self_cell::self_cell;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Instant;

/// The number of elements of an array from which a site is compiled before its first execution.
pub(super) const EAGER_ELEMENTS: u64 = 1_000;

/// The rounds of a loop inside another one, where they are not known before it runs.
const DEFAULT_INNER_ROUNDS: u64 = 4;

/// The number of calls and rounds after which a site is compiled.
const HOT_ROUNDS: u64 = 3_000;

/// The approximate number of slots that are copied in the time of one interpreted round of a loop.
pub(super) const SLOTS_PER_ROUND: u64 = 64;

/// The stack in bytes that compiling and running a kernel may take.
const COMPILE_STACK_BYTES: usize = 512 << 10;

/// The calls of the program that a kernel counts as none: those of functions that are inlined.
const CALLS_INSIDE: usize = 50;

/// Functions that the variables of a site hold, those inside others included, at most.
const MAX_KNOWN_FUNCTIONS: usize = 64;

/// Functions that a function holds inside one another, at most: the code of a chain of them has all,
/// and each has a site.
const MAX_FUNCTIONS_INSIDE: usize = 32;

/// The rest of the bound on the functions that are known, and the variables that they share.
struct KnownFunctions {
    left: usize,
    cells: Vec<Arc<Cell>>,
}

/// The number of kernels of one site, for different functions in its variables.
const MAX_KERNELS_PER_SITE: usize = 8;

/// The number of terms from which a region is large: inside a large region that was too much code,
/// only regions of at most half its size are tried.
const LARGE_REGION_TERMS: usize = 1_000;

/// The number of nested regions that were too much code after which nothing further inside is
/// tried.
const MAX_ENCLOSING_TOO_LONG: usize = 4;

/// A term or a loop that may be compiled.
pub struct TierUpSite {
    fragment: Arc<CoreFragment>,
    address: CoreAddress,
    /// Its terms, numbered in the order of specialization.
    terms: Range<u32>,
    /// The code that is interpreted otherwise.
    pub interpreted: Interpreted,
    locals: Arc<[LocalInfo]>,
    bindings: Arc<Bindings>,
    /// The outer locals that are not read after it, computed when needed.
    dead_locals: OnceLock<Vec<LocalId>>,
    /// The outer variables that hold functions or that functions share, computed when needed.
    known: OnceLock<Vec<Root>>,
    /// The number of elements of the largest array that it mentions; of a loop, its rounds with
    /// those of the loops inside.
    pub(super) weight: u64,
    /// The rounds of the loops inside, for each round of a loop; at least 1.
    pub(super) inner_rounds: u64,
    /// True for a loop over integers whose number of rounds may be computed in front of it.
    pub(super) bounds_decide: bool,
    /// The number of calls and rounds so far.
    heat: AtomicU64,
    /// The heat up to which a call is interpreted, since what its last kernel has copied costs as
    /// much.
    rests_until: AtomicU64,
    kernels: Mutex<Vec<CachedKernel>>,
    /// True if it has no kernel whatever the functions around it are: there are none.
    is_declined: AtomicBool,
}

/// The core that contains sites; nested sites share it.
pub struct CoreFragment {
    root: CoreRoot,
    /// The index of regions, made at the first lookup.
    index: OnceLock<RegionIndex>,
    /// The regions that were too much code.
    too_long: Mutex<Vec<Range<u32>>>,
}

/// The root of core that is specialized as one unit.
#[derive(Clone)]
pub enum CoreRoot {
    /// The body of a function.
    Function(Arc<Function>),
    /// A statement of a script.
    Statement(Arc<Stmt>),
    /// The value of a script.
    Term(Arc<Term>),
    /// The statements after an opening.
    Rest(Arc<Continuation>),
}

/// The address of the region of a site within its core. It stays valid while the core is held.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum CoreAddress {
    /// A term.
    Term(usize),
    /// A `for` or `while`.
    Loop(usize),
    /// A call of the function that the core is.
    Call(FunctionId),
}

impl CoreAddress {
    /// Returns the address of a term.
    pub fn of_term(term: &Term) -> CoreAddress {
        CoreAddress::Term(std::ptr::from_ref(term).addr())
    }

    /// Returns the address of a loop.
    pub fn of_loop(stmt: &Stmt) -> CoreAddress {
        CoreAddress::Loop(std::ptr::from_ref(stmt).addr())
    }
}

self_cell! {
    /// Core with an index of its regions.
    struct RegionIndex {
        owner: CoreRoot,
        #[covariant]
        dependent: RegionMap,
    }
}

/// The terms and statements of a core by their addresses.
struct RegionMap<'c>(HashMap<CoreAddress, Region<'c>>);

impl<'c> RegionMap<'c> {
    /// Indexes all terms and statements in one walk.
    fn of(core: &'c CoreRoot) -> RegionMap<'c> {
        let mut places = RegionMap(HashMap::default());
        let mut terms: Vec<&'c Term> = Vec::new();
        match core {
            CoreRoot::Function(function) => terms.push(&function.body),
            CoreRoot::Term(term) => terms.push(term),
            CoreRoot::Statement(stmt) => places.statements(std::slice::from_ref(&**stmt), &mut terms),
            CoreRoot::Rest(rest) => {
                places.statements(&rest.stmts, &mut terms);
                terms.extend(&rest.value);
            }
        }
        while let Some(term) = terms.pop() {
            places.0.insert(CoreAddress::of_term(term), Region::Term(term));
            if let TermKind::Block(stmts, value) = &term.kind {
                places.statements(stmts, &mut terms);
                terms.extend(value.as_deref());
            } else {
                term.for_each_child(&mut |child| terms.push(child));
            }
        }
        places
    }

    /// Indexes the loops of statements, and collects their terms.
    fn statements(&mut self, stmts: &'c [Stmt], terms: &mut Vec<&'c Term>) {
        for stmt in stmts {
            stmt.for_each_stmt(&mut |inner| {
                self.0.insert(CoreAddress::of_loop(inner), Region::Loop(inner));
            });
            stmt.for_each_term(&mut |term| terms.push(term));
        }
    }
}

impl CoreFragment {
    /// Wraps core that is about to be specialized.
    pub fn new(core: CoreRoot) -> Arc<CoreFragment> {
        Arc::new(CoreFragment { root: core, index: OnceLock::new(), too_long: Mutex::default() })
    }

    /// Returns the region at an address.
    fn find(&self, address: CoreAddress) -> Region<'_> {
        if let (CoreAddress::Call(id), CoreRoot::Function(function)) = (address, &self.root) {
            return Region::Call(id, function);
        }
        let index =
            self.index.get_or_init(|| RegionIndex::new(self.root.clone(), |core| RegionMap::of(core)));
        *index.borrow_dependent().0.get(&address).expect("a site lies in the core that it was made from")
    }

    /// Returns true if a region was too much code, or lies in one that was and is not much smaller.
    fn is_too_long(&self, part: &Range<u32>) -> bool {
        let known = self.too_long.lock().expect(LOCK_NOT_POISONED);
        let around = |known: &&Range<u32>| known.start <= part.start && part.end <= known.end;
        let near = |known: &Range<u32>| known.len() >= LARGE_REGION_TERMS && 2 * part.len() > known.len();
        let (mut count, mut is_near) = (0, false);
        for known in known.iter().filter(around) {
            count += 1;
            is_near |= near(known);
        }
        is_near || count >= MAX_ENCLOSING_TOO_LONG
    }

    /// Records that a region was too much code.
    fn note_too_long(&self, part: &Range<u32>) {
        self.too_long.lock().expect(LOCK_NOT_POISONED).push(part.clone());
    }
}

/// The reason why the lock is not poisoned: to look up and to add is all that is done under it.
const LOCK_NOT_POISONED: &str = "no thread panics while it holds the lock of the regions that are too long";

/// The interpreted code of a site.
pub enum Interpreted {
    /// A term.
    Node(Box<Node>),
    /// A loop.
    Statement(Box<Statement>),
}

/// An answer of the accelerator.
struct CachedKernel {
    known: Vec<(Root, KnownValue)>,
    kernel: Option<Arc<dyn Executable>>,
    /// The number of failed runs.
    failures: u32,
}

impl TierUpSite {
    /// Creates a site.
    #[allow(clippy::too_many_arguments)] // what was computed while it was specialized
    pub(super) fn new(
        whole: Arc<CoreFragment>,
        place: CoreAddress,
        terms: Range<u32>,
        plain: Interpreted,
        locals: Arc<[LocalInfo]>,
        bindings: Arc<Bindings>,
        weight: u64,
    ) -> TierUpSite {
        TierUpSite {
            fragment: whole,
            address: place,
            terms,
            interpreted: plain,
            locals,
            bindings,
            dead_locals: OnceLock::new(),
            known: OnceLock::new(),
            weight,
            inner_rounds: 1,
            bounds_decide: false,
            heat: AtomicU64::new(0),
            rests_until: AtomicU64::new(0),
            kernels: Mutex::new(Vec::new()),
            is_declined: AtomicBool::new(false),
        }
    }

    /// Returns true if it is a call of a function.
    pub(super) fn is_call(&self) -> bool {
        matches!(self.address, CoreAddress::Call(_))
    }

    /// The rounds of a loop with those of the loops inside, as far as they are known before it
    /// runs.
    fn rounds(&self) -> u64 {
        let Interpreted::Statement(stmt) = &self.interpreted else { return 1 };
        let own = match &stmt.kind {
            StatementKind::ForInts(_, low, high, ..) => match (&low.kind, &high.kind) {
                (NodeKind::Constant(low), NodeKind::Constant(high)) => {
                    high.as_int().saturating_sub(low.as_int()).max(1) as u64
                }
                _ => DEFAULT_INNER_ROUNDS,
            },
            StatementKind::While(..) => DEFAULT_INNER_ROUNDS,
            _ => return self.weight.max(1),
        };
        own.saturating_mul(self.inner_rounds)
    }

    /// Adds the ticks of a run of the interpreted code to the heat.
    pub(super) fn add_heat(&self, ticks: u32) {
        self.heat.fetch_add(u64::from(ticks) + 1, Ordering::Relaxed);
    }
}

/// The rounds of the loops among statements, those inside included: of the loop with the most. At
/// least 1.
pub(super) fn loop_rounds(stmts: &[Statement]) -> u64 {
    let rounds = stmts.iter().map(|stmt| match &stmt.kind {
        StatementKind::TierUp(site) => site.rounds(),
        StatementKind::If(_, then, otherwise) => loop_rounds(then).max(loop_rounds(otherwise)),
        StatementKind::Match(_, arms) => arms.iter().map(|(_, _, body)| loop_rounds(body)).fold(1, u64::max),
        _ => 1,
    });
    rounds.fold(1, u64::max)
}

impl Evaluator<'_, '_> {
    /// Runs the kernel of the site of a term, if there is one. The value of `dead_variable` is not
    /// read afterward. Returns `None`, with nothing changed, if the term is to be evaluated.
    pub(super) fn run_term_kernel(
        &mut self,
        site: &TierUpSite,
        frame: &mut [Value],
        span: Span,
        dead_variable: Option<Root>,
    ) -> Result<Option<Value>> {
        let Some(kernel) = self.site_kernel(site, site.weight, frame) else { return Ok(None) };
        let Some(mut values) = self.run_kernel(&*kernel, frame, span, dead_variable)? else {
            self.note_failure(site);
            return Ok(None);
        };
        let dead_locals = site.dead_locals.get_or_init(|| {
            let Region::Term(term) = site.fragment.find(site.address) else {
                unreachable!("the site of a term lies at a term")
            };
            let mut dead_locals = last_use::last_used_locals(term);
            // The cell of a shared local is still used.
            dead_locals.retain(|local| !site.locals[local.index()].shared);
            dead_locals
        });
        dead_locals.iter().for_each(|local| frame[local.index()] = moved_out());
        Ok(Some(values.pop().expect("the kernel of a term gives its value")))
    }

    /// Returns the number of slots that a kernel copies for each run: a kernel that may fail keeps
    /// the variables that it changes until it is done, and with them the arrays that bring their
    /// sizes along, as lists have them.
    pub(super) fn slots_copied_per_run(&self, kernel: &dyn Executable, frame: &[Value]) -> u64 {
        fn slots(value: &Value) -> u64 {
            match value {
                Value::Seq(seq) if seq.class() == Class::Any && seq.len() < LARGE_COPY_SLOTS => {
                    (0..seq.len()).map(|at| slots(&seq.get(at))).sum()
                }
                Value::Seq(seq) if seq.len() >= LARGE_COPY_SLOTS => seq.len() as u64,
                Value::Packed(packed) => slots(&packed.value),
                _ => 0,
            }
        }
        if !kernel.can_fail() || self.machine.eager {
            return 0;
        }
        let changes = kernel.inputs().iter().take(kernel.changes());
        changes.map(|input| self.input_value(input, frame).as_ref().map_or(0, slots)).sum()
    }

    /// Runs the kernel of a call of a function, whose arguments and captured values are in the
    /// frame, and sets the variables around it that it changes. Returns `None`, with nothing
    /// changed, if the body is to be evaluated: also some times after a run that has copied
    /// variables for longer than it has computed, where a slot takes about a nanosecond.
    pub(super) fn run_call_kernel(
        &mut self,
        site: &TierUpSite,
        frame: &mut [Value],
        span: Span,
    ) -> Result<Option<Value>> {
        if site.rests_until.load(Ordering::Relaxed) > site.heat.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let Some(kernel) = self.site_kernel(site, site.weight, frame) else { return Ok(None) };
        let (copied, begun) = (self.slots_copied_per_run(&*kernel, frame), Instant::now());
        let Some(mut values) = self.run_kernel(&*kernel, frame, span, None)? else {
            self.note_failure(site);
            return Ok(None);
        };
        let other_nanoseconds = (begun.elapsed().as_nanos() as u64).saturating_sub(copied);
        let rounds = copied.saturating_sub(other_nanoseconds) / SLOTS_PER_ROUND;
        site.rests_until.store(site.heat.load(Ordering::Relaxed) + rounds, Ordering::Relaxed);
        let changed = values.split_off(1);
        self.set_changed_variables(&*kernel, changed, frame);
        Ok(values.pop())
    }

    /// Runs the kernel of a loop and sets the variables that it changes. Returns false if it
    /// failed.
    pub(super) fn run_loop_kernel(
        &mut self,
        kernel: &dyn Executable,
        frame: &mut [Value],
        span: Span,
    ) -> Result<bool> {
        let Some(values) = self.run_kernel(kernel, frame, span, None)? else { return Ok(false) };
        self.set_changed_variables(kernel, values, frame);
        Ok(true)
    }

    /// Sets the variables that a kernel changes.
    fn set_changed_variables(&mut self, kernel: &dyn Executable, values: Vec<Value>, frame: &mut [Value]) {
        for (input, value) in kernel.inputs().iter().zip(values) {
            self.set_variable(input, value, frame);
        }
    }

    /// Sets the variable that an input is.
    fn set_variable(&mut self, input: &Input, value: Value, frame: &mut [Value]) {
        match (self.input_place(input, frame), input.root) {
            (Some(Value::Cell(cell)), _) => self.set_cell(&cell, value),
            (_, Root::Local(local)) => frame[local.index()] = value,
            (_, Root::Global(_)) => unreachable!("a session variable has a cell"),
        }
    }

    /// Returns the place of an input: a cell, or a value that is in none; `None` if the variable that
    /// it is captured in is not set.
    fn input_place(&self, input: &Input, frame: &[Value]) -> Option<Value> {
        let mut place = match input.root {
            Root::Local(local) => frame[local.index()].clone(),
            Root::Global(global) => Value::Cell(self.machine.globals[global.index()].clone()),
        };
        for at in &input.path {
            if let Value::Cell(cell) = &place {
                place = cell.get()?;
            }
            let Value::Function(any) = &place else {
                unreachable!("a kernel is run with the functions that it was made for")
            };
            let closure = any.downcast_ref::<Closure>().expect("a function value of this executor");
            place = closure.captures[*at].clone();
        }
        Some(place)
    }

    /// Runs a kernel; `None`, with nothing changed, if it failed.
    fn run_kernel(
        &mut self,
        kernel: &dyn Executable,
        frame: &mut [Value],
        span: Span,
        dying: Option<Root>,
    ) -> Result<Option<Vec<Value>>> {
        let changes = kernel.changes();
        let mut changed = kernel.inputs().iter().take(changes);
        if changed.any(|input| self.exceeds_memory(input, frame)) {
            return Ok(None);
        }
        let inputs = kernel.inputs().iter().map(|input| self.input_value(input, frame));
        let Some(mut inputs) = inputs.collect::<Option<Vec<Value>>>() else { return Ok(None) };
        // After all inputs are known to be set. Variables that change are moved into the kernel,
        // unless it may fail.
        if !kernel.can_fail() {
            for (value, input) in inputs.iter_mut().zip(kernel.inputs()).take(changes) {
                *value = Value::UNIT;
                *value = self.take_input(input, frame);
            }
        }
        let dies = |input: &Input| dying.is_some_and(|root| *input == Input::whole(root));
        let taken =
            kernel.inputs().iter().enumerate().find(|(i, input)| dies(input) && kernel.overwrites(*i));
        if let Some((i, input)) = taken {
            inputs[i] = Value::UNIT;
            inputs[i] = self.take_input(input, frame);
        }
        let spare_of = dying
            .filter(|root| kernel.accepts_spare() && kernel.inputs().iter().all(|input| input.root != *root));
        let spare_of = spare_of.map(Input::whole);
        let is_set = spare_of.as_ref().is_some_and(|input| self.input_value(input, frame).is_some());
        let mut spare = spare_of.as_ref().filter(|_| is_set).map(|input| self.take_input(input, frame));
        let watched = self.machine.progress.enter_loop(Some(1));
        let watch = Mutex::new(&mut self.machine.progress);
        // A thread that finds the lock taken skips its report.
        let report_progress = |done, total| {
            if let Ok(mut watch) = watch.try_lock() {
                watch.set_rounds(done, total);
            }
        };
        let report_progress: Option<&(dyn Fn(u64, u64) + Sync)> =
            if watched { Some(&report_progress) } else { None };
        let limits = Limits {
            interrupt: self.host.interrupt,
            memory: self.host.memory,
            calls: MAX_CALL_DEPTH.saturating_sub(self.machine.calls.len() + CALLS_INSIDE) as u64,
            stack_limit: &super::stack_guard::limit,
            report_progress,
        };
        let ran = kernel.run(&mut inputs, &mut spare, &limits);
        if watched {
            self.machine.progress.leave_loop();
        }
        match ran {
            RunResult::Done(values) => Ok(Some(values)),
            ended @ (RunResult::Failed | RunResult::Refused) => {
                if matches!(ended, RunResult::Refused) && !kernel.can_fail() {
                    for (i, input) in kernel.inputs().iter().enumerate().take(changes) {
                        let value = std::mem::replace(&mut inputs[i], Value::UNIT);
                        self.set_variable(input, value, frame);
                    }
                }
                if let (Some(input), Some(value)) = (spare_of, spare) {
                    self.set_variable(&input, value, frame);
                }
                if let Some((i, input)) = taken {
                    // The journal has the old value of a global since it was taken.
                    self.set_variable(input, inputs.swap_remove(i), frame);
                }
                Ok(None)
            }
            RunResult::Interrupted => Err(self.fail(Failure::Interrupted, span)),
        }
    }

    /// Returns true if a variable that is to change is mapped and too large to be copied: the
    /// evaluator reports that at its first store.
    fn exceeds_memory(&self, input: &Input, frame: &[Value]) -> bool {
        let Some(Value::Seq(seq)) = self.input_value(input, frame) else { return false };
        seq.has_read_only_part() && (seq.len() as u64).saturating_mul(seq.class().bytes()) > self.host.memory
    }

    /// Returns the value of an input of a kernel; `None` if a variable is not set.
    fn input_value(&self, input: &Input, frame: &[Value]) -> Option<Value> {
        let value = match self.input_place(input, frame)? {
            Value::Cell(cell) => cell.get()?,
            value => value,
        };
        Some(match (input.part, &value) {
            (Some((start, 1)), Value::Seq(seq)) => seq.get(start),
            (Some((start, slots)), Value::Seq(seq)) => Value::Seq(seq.slice(start, slots)),
            _ => value,
        })
    }

    /// Moves out the value of a variable that is an input of a kernel; the variable is set.
    fn take_input(&mut self, input: &Input, frame: &mut [Value]) -> Value {
        match (self.input_place(input, frame), input.root) {
            (Some(Value::Cell(cell)), _) => self.take_cell(&cell).expect("the variable is set"),
            (_, Root::Local(local)) => std::mem::replace(&mut frame[local.index()], Value::UNIT),
            (_, Root::Global(_)) => unreachable!("a session variable has a cell"),
        }
    }

    /// Returns the kernel of a site that has been executed often enough or is large enough.
    pub(super) fn site_kernel(
        &self,
        site: &TierUpSite,
        weight: u64,
        frame: &[Value],
    ) -> Option<Arc<dyn Executable>> {
        let accelerator = self.machine.accelerator.as_ref()?;
        if site.is_declined.load(Ordering::Relaxed) {
            return None;
        }
        // Near the end of the stack the evaluator does not compile.
        if !super::stack_guard::has_room_for(COMPILE_STACK_BYTES) {
            return None;
        }
        let eager = self.machine.eager;
        if !eager && weight < EAGER_ELEMENTS && site.heat.load(Ordering::Relaxed) < HOT_ROUNDS {
            return None;
        }
        // A panic of the compiler, which has been reported, leaves the lock of the site poisoned:
        // the evaluator runs this part from then on.
        // Checked before the lookup: a region that was too much code may contain many sites.
        if site.kernels.lock().ok()?.is_empty() && site.fragment.is_too_long(&site.terms) {
            return None;
        }
        let mut functions = KnownFunctions { left: MAX_KNOWN_FUNCTIONS, cells: Vec::new() };
        let known: Vec<(Root, KnownValue)> = self
            .known_variables(site)
            .iter()
            .map(|root| {
                let value = match root {
                    Root::Local(local) => Some(frame[local.index()].clone()),
                    Root::Global(global) => self.machine.globals[global.index()].get(),
                };
                let known = match &value {
                    Some(value) => known_value(value, MAX_FUNCTIONS_INSIDE, &mut functions)?,
                    None => KnownValue::Data,
                };
                Some((*root, known))
            })
            .collect::<Option<_>>()?;
        let mut kernels = site.kernels.lock().ok()?;
        if let Some(cached) = kernels.iter().find(|cached| cached.known == known) {
            let is_only = known.is_empty() || site.is_call();
            if is_only && (cached.kernel.is_none() || cached.failures >= 3) {
                site.is_declined.store(true, Ordering::Relaxed);
            }
            return cached.kernel.clone().filter(|_| cached.failures < 3);
        }
        if kernels.len() >= MAX_KERNELS_PER_SITE {
            // Each call would ask which functions it has been given.
            site.is_declined.store(site.is_call(), Ordering::Relaxed);
            return None;
        }
        if site.fragment.is_too_long(&site.terms) {
            kernels.push(CachedKernel { known, kernel: None, failures: 0 });
            return None;
        }
        let region = site.fragment.find(site.address);
        let sizes = self.machine.sizes.clone();
        let concrete = |ty: &Type| sizes.concrete(&site.bindings.concrete(ty));
        let interrupt = self.host.interrupt;
        let part = CompilationUnit {
            program: self.program,
            layouts: &self.machine.layouts,
            locals: &site.locals,
            concrete: &concrete,
            region,
            known: &known,
            may_continue: &|| !interrupt.load(Ordering::Relaxed) && super::stack_guard::has_room(),
        };
        let kernel = match accelerator.prepare(&part) {
            Ok(kernel) => Some(kernel),
            Err(NotCompiled::Stopped) => return None,
            Err(declined) => {
                if declined == NotCompiled::TooLong {
                    site.fragment.note_too_long(&site.terms);
                }
                None
            }
        };
        kernels.push(CachedKernel { known, kernel: kernel.clone(), failures: 0 });
        kernel
    }

    /// Returns the outer variables of a site that hold functions or that functions share.
    fn known_variables<'s>(&self, site: &'s TierUpSite) -> &'s [Root] {
        site.known.get_or_init(|| {
            let mut mentioned = match site.fragment.find(site.address) {
                Region::Term(term) => FreeVariables::of_term(term),
                Region::Loop(stmt) => FreeVariables::of_stmt(stmt),
                Region::Call(_, function) => {
                    let mut mentioned = FreeVariables::of_term(&function.body);
                    mentioned.locals = function.captures.iter().chain(&function.params).copied().collect();
                    mentioned
                }
            };
            mentioned.locals.retain(|local| !mentioned.declared.contains(local));
            // Types inside the site may mention sizes that are opened there.
            let concrete = |ty: &Type| self.machine.sizes.concrete(&site.bindings.concrete(ty));
            let is_function =
                |ty: &Type| matches!(concrete(ty).kind(), TypeKind::Function(..) | TypeKind::Procedure(_));
            let local = |l: &LocalId| {
                let info = &site.locals[l.index()];
                info.shared || is_function(&info.ty)
            };
            let global = |g: &GlobalId| is_function(&self.program.globals[g.index()].ty);
            let locals = mentioned.locals.iter().filter(|l| local(l)).map(|l| Root::Local(*l));
            let globals = mentioned.globals.iter().filter(|g| global(g)).map(|g| Root::Global(*g));
            locals.chain(globals).collect()
        })
    }

    /// Counts a failure of a kernel of the site. A kernel that fails repeatedly is not run again.
    pub(super) fn note_failure(&self, site: &TierUpSite) {
        if let Ok(mut kernels) = site.kernels.lock() {
            kernels.iter_mut().for_each(|known| known.failures += 1);
        }
    }
}

/// Returns the part of a value that is known before a kernel is compiled; `None` if it holds more
/// than so many functions inside one another, or more than are left. Variables that functions share
/// are numbered by their positions in `cells`.
fn known_value(value: &Value, most: usize, functions: &mut KnownFunctions) -> Option<KnownValue> {
    let any = match value {
        Value::Function(any) => any,
        // None of the functions runs beside a kernel.
        Value::Cell(cell) => {
            return Some(match cell.get() {
                Some(held @ Value::Function(_)) => known_value(&held, most, functions)?,
                Some(_) => {
                    let cells = &mut functions.cells;
                    let number = cells.iter().position(|known| Arc::ptr_eq(known, cell));
                    KnownValue::Shared(number.unwrap_or_else(|| {
                        cells.push(cell.clone());
                        cells.len() - 1
                    }))
                }
                None => KnownValue::Data,
            });
        }
        _ => return Some(KnownValue::Data),
    };
    let Some(closure) = any.downcast_ref::<Closure>() else {
        unreachable!("a function value of this executor")
    };
    let inside = most.checked_sub(1)?;
    functions.left = functions.left.checked_sub(1)?;
    let captures = closure.captures.iter().map(|value| known_value(value, inside, functions));
    let captures: Option<_> = captures.collect();
    Some(KnownValue::Function(closure.instance.function, closure.instance.type_args.clone(), captures?))
}
