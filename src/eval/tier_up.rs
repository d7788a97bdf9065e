//! Parts of the code that a faster executor may take over.
//!
//! A [`Site`] is a term or a loop together with its place in the core it was made from. It is run as ever until it
//! has cost something, or at once if it works on large arrays; then the machine's accelerator is asked for a
//! kernel. A kernel that fails has changed nothing: the evaluator runs the part again, and finds
//! the error that is to be reported.

use super::code::{Closure, Node, Statement};
use super::error::Failure;
use super::evaluator::{Evaluator, Result};
use super::existential::Continuation;
use super::frame::moved_out;
use super::specialize::{Bindings, LARGE_COPY_SLOTS};
use crate::core::free_variables::FreeVariables;
use crate::core::{Function, LocalId, LocalInfo, Root, Stmt, Term, TermKind, last_use};
use crate::hash::HashMap;
use crate::kernel::{CompilationUnit, Declined, Executable, Input, KnownValue, Limits, Region, RunResult};
use crate::source::Span;
use crate::types::{Type, TypeKind};
use crate::value::{Cell, Value};
use self_cell::self_cell;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

/// Elements of an array from which a part is compiled before it has run.
pub(super) const EAGER_ELEMENTS: u64 = 1_000;

/// Calls and rounds of a part after which it is compiled.
const HOT_ROUNDS: u64 = 3_000;

/// Slots that are copied in the time that the evaluator takes for a round of a loop, about.
pub(super) const SLOTS_PER_ROUND: u64 = 64;

/// Bytes of stack that making and running a kernel may take.
const COMPILE_STACK_BYTES: usize = 512 << 10;

/// Kernels of one site: for different functions in its variables.
const MAX_KERNELS_PER_SITE: usize = 8;

/// Terms of a part from which it is large: of one that is too much code, only parts of half its size are tried.
const LARGE_REGION_TERMS: usize = 1_000;

/// Of so many parts inside one another that are all too much code, nothing further inside is tried.
const MAX_ENCLOSING_TOO_LONG: usize = 4;

/// A term or a loop that may be taken over.
pub struct TierUpSite {
    fragment: Arc<CoreFragment>,
    address: CoreAddress,
    /// Its terms, by the order in which they were specialized.
    terms: Range<u32>,
    /// The code to run otherwise.
    pub interpreted: Interpreted,
    locals: Arc<[LocalInfo]>,
    bindings: Arc<Bindings>,
    /// Variables outside that nobody reads after it, once somebody has asked.
    dead_locals: OnceLock<Vec<LocalId>>,
    /// Variables outside that hold functions, once somebody has asked.
    functions: OnceLock<Vec<Root>>,
    /// Elements of the largest array that it mentions.
    pub(super) weight: u64,
    /// Calls and rounds so far.
    heat: AtomicU64,
    kernels: Mutex<Vec<CachedKernel>>,
}

/// The core that sites are parts of: those inside one another share it.
pub struct CoreFragment {
    root: CoreRoot,
    /// Made when a part is first looked for.
    index: OnceLock<RegionIndex>,
    /// Parts that were too much code.
    too_long: Mutex<Vec<Range<u32>>>,
}

/// What is specialized as one.
#[derive(Clone)]
pub enum CoreRoot {
    /// The body of a function.
    Function(Arc<Function>),
    /// A statement of a script.
    Statement(Arc<Stmt>),
    /// The value of a script.
    Term(Arc<Term>),
    /// What follows an opening.
    Rest(Arc<Continuation>),
}

/// Where a site lies in its core: the address of the term or statement, which stays while the core is held.
#[derive(Clone, Copy)]
pub enum CoreAddress {
    /// A term.
    Term(usize),
    /// A `for` or `while`.
    Loop(usize),
}

impl CoreAddress {
    /// That of a term.
    pub fn of_term(term: &Term) -> CoreAddress {
        CoreAddress::Term(std::ptr::from_ref(term).addr())
    }

    /// That of a loop.
    pub fn of_loop(stmt: &Stmt) -> CoreAddress {
        CoreAddress::Loop(std::ptr::from_ref(stmt).addr())
    }
}

self_cell! {
    /// Core with the places in it.
    struct RegionIndex {
        owner: CoreRoot,
        #[covariant]
        dependent: RegionMap,
    }
}

/// The terms and the statements of a core by their addresses; whether it is a statement tells two of one address apart.
struct RegionMap<'c>(HashMap<(bool, usize), Region<'c>>);

impl<'c> RegionMap<'c> {
    /// All of them, in one walk.
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
            places.0.insert((false, std::ptr::from_ref(term).addr()), Region::Term(term));
            if let TermKind::Block(stmts, value) = &term.kind {
                places.statements(stmts, &mut terms);
                terms.extend(value.as_deref());
            } else {
                term.for_each_child(&mut |child| terms.push(child));
            }
        }
        places
    }

    fn statements(&mut self, stmts: &'c [Stmt], terms: &mut Vec<&'c Term>) {
        for stmt in stmts {
            stmt.for_each_stmt(&mut |inner| {
                self.0.insert((true, std::ptr::from_ref(inner).addr()), Region::Loop(inner));
            });
            stmt.for_each_term(&mut |term| terms.push(term));
        }
    }
}

impl CoreFragment {
    /// Core that is about to be specialized.
    pub fn new(core: CoreRoot) -> Arc<CoreFragment> {
        Arc::new(CoreFragment { root: core, index: OnceLock::new(), too_long: Mutex::default() })
    }

    /// What lies at a place.
    fn find(&self, address: CoreAddress) -> Region<'_> {
        let index =
            self.index.get_or_init(|| RegionIndex::new(self.root.clone(), |core| RegionMap::of(core)));
        let (CoreAddress::Term(at) | CoreAddress::Loop(at)) = address;
        let key = (matches!(address, CoreAddress::Loop(_)), at);
        *index.borrow_dependent().0.get(&key).expect("a site lies in the core that it was made from")
    }

    /// Whether a part was too much code, or lies in one that was and is not much smaller.
    fn is_too_long(&self, part: &Range<u32>) -> bool {
        let Ok(known) = self.too_long.lock() else { return true };
        let around = |known: &&Range<u32>| known.start <= part.start && part.end <= known.end;
        let near = |known: &Range<u32>| known.len() >= LARGE_REGION_TERMS && 2 * part.len() > known.len();
        let (mut count, mut is_near) = (0, false);
        for known in known.iter().filter(around) {
            count += 1;
            is_near |= near(known);
        }
        is_near || count >= MAX_ENCLOSING_TOO_LONG
    }

    fn note_too_long(&self, part: &Range<u32>) {
        if let Ok(mut known) = self.too_long.lock() {
            known.push(part.clone());
        }
    }
}

/// What a site does if nobody takes it over.
pub enum Interpreted {
    /// A term.
    Node(Box<Node>),
    /// A loop.
    Statement(Box<Statement>),
}

/// An answer of the accelerator.
struct CachedKernel {
    functions: Vec<(Root, KnownValue)>,
    kernel: Option<Arc<dyn Executable>>,
    /// Runs that failed.
    failures: u32,
}

impl TierUpSite {
    /// A part that may be taken over.
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
            functions: OnceLock::new(),
            weight,
            heat: AtomicU64::new(0),
            kernels: Mutex::new(Vec::new()),
        }
    }

    /// Adds the ticks of a run of the interpreted code to the heat.
    pub(super) fn add_heat(&self, ticks: u32) {
        self.heat.fetch_add(u64::from(ticks) + 1, Ordering::Relaxed);
    }
}

impl Evaluator<'_, '_> {
    /// Runs the kernel of the site of a term, if there is one. The value of `dead_variable` is not read
    /// afterward. Returns `None`, with nothing changed, if the term is to be evaluated.
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
            let mut dead_locals = last_use::dying(term);
            // The cell of a shared local is still used.
            dead_locals.retain(|local| !site.locals[*local as usize].shared);
            dead_locals
        });
        dead_locals.iter().for_each(|local| frame[*local as usize] = moved_out());
        Ok(Some(values.pop().expect("the kernel of a term gives its value")))
    }

    /// Slots that a kernel copies for each run, because it may fail: what it changes is kept until it is done.
    pub(super) fn slots_copied_per_run(&self, kernel: &dyn Executable, frame: &[Value]) -> u64 {
        if !kernel.can_fail() || self.machine.eager {
            return 0;
        }
        let slots = |value: &Value| match value {
            Value::Seq(seq) if seq.len() >= LARGE_COPY_SLOTS => seq.len() as u64,
            _ => 0,
        };
        let changes = kernel.changes().iter().map(|root| match root {
            Root::Local(local) => slots(&frame[*local as usize]),
            Root::Global(global) => self.machine.globals[*global as usize].get().as_ref().map_or(0, slots),
        });
        changes.sum()
    }

    pub(super) fn run_loop_kernel(
        &mut self,
        kernel: &dyn Executable,
        frame: &mut [Value],
        span: Span,
    ) -> Result<bool> {
        let Some(values) = self.run_kernel(kernel, frame, span, None)? else { return Ok(false) };
        for (root, value) in kernel.changes().iter().zip(values) {
            self.set_variable(*root, value, frame);
        }
        Ok(true)
    }

    fn set_variable(&mut self, root: Root, value: Value, frame: &mut [Value]) {
        match root {
            Root::Local(local) => frame[local as usize] = value,
            Root::Global(global) => {
                let cell = self.machine.globals[global as usize].clone();
                self.set_cell(&cell, value);
            }
        }
    }

    /// Runs a kernel; nothing if it failed, and then nothing has changed.
    fn run_kernel(
        &mut self,
        kernel: &dyn Executable,
        frame: &mut [Value],
        span: Span,
        dying: Option<Root>,
    ) -> Result<Option<Vec<Value>>> {
        let changes = kernel.changes().len();
        if kernel.inputs().iter().take(changes).any(|input| self.exceeds_memory(input, frame)) {
            return Ok(None);
        }
        let mut inputs = Vec::with_capacity(kernel.inputs().len());
        for (i, input) in kernel.inputs().iter().enumerate() {
            // What changes is handed over, unless it may have to be had back.
            let own = i < changes && !kernel.can_fail();
            match self.kernel_input(input, frame, own) {
                Some(value) => inputs.push(value),
                None => return Ok(None),
            }
        }
        // Now that all of them are there.
        let dies = |input: &Input| dying == Some(input.root) && input.path.is_empty();
        let taken =
            kernel.inputs().iter().enumerate().find(|(i, input)| dies(input) && kernel.overwrites(*i));
        if let Some((i, input)) = taken {
            inputs[i] = Value::UNIT;
            inputs[i] = self.kernel_input(input, frame, true).expect("the variable was set a moment ago");
        }
        let spare_of = dying
            .filter(|root| kernel.accepts_spare() && kernel.inputs().iter().all(|input| input.root != *root));
        let whole = |root| Input { root, path: Vec::new() };
        let mut spare = spare_of.and_then(|root| self.kernel_input(&whole(root), frame, true));
        let watched = self.machine.progress.enter_loop(Some(1));
        let watch = Mutex::new(&mut self.machine.progress);
        // Whoever finds it taken has nothing newer to say.
        let tell = |done, total| {
            if let Ok(mut watch) = watch.try_lock() {
                watch.set_rounds(done, total);
            }
        };
        let tell: Option<&(dyn Fn(u64, u64) + Sync)> = if watched { Some(&tell) } else { None };
        let limits = Limits { interrupt: self.host.interrupt, memory: self.host.memory, tell };
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
                        self.set_variable(input.root, value, frame);
                    }
                }
                if let (Some(root), Some(value)) = (spare_of, spare) {
                    self.set_variable(root, value, frame);
                }
                if let Some((i, input)) = taken {
                    // A global has been noted when it was taken: this is no change.
                    self.set_variable(input.root, inputs.swap_remove(i), frame);
                }
                Ok(None)
            }
            RunResult::Interrupted => Err(self.fail(Failure::Interrupted, span)),
        }
    }

    /// Whether a variable that is to change lies in a file and is too large to be copied: the evaluator says so at
    /// its first store.
    fn exceeds_memory(&self, input: &Input, frame: &[Value]) -> bool {
        let value = match input.root {
            Root::Local(local) => Some(frame[local as usize].clone()),
            Root::Global(global) => self.machine.globals[global as usize].get(),
        };
        let Some(Value::Seq(seq)) = value else { return false };
        seq.has_mapped_part() && (seq.len() as u64).saturating_mul(seq.class().bytes()) > self.host.memory
    }

    /// The value of a kernel's input; nothing if a variable of the session has none yet.
    fn kernel_input(&mut self, input: &Input, frame: &mut [Value], own: bool) -> Option<Value> {
        let mut value = match input.root {
            Root::Local(local) if own => std::mem::replace(&mut frame[local as usize], Value::UNIT),
            Root::Local(local) => frame[local as usize].clone(),
            Root::Global(global) => {
                let cell: Arc<Cell> = self.machine.globals[global as usize].clone();
                let value = cell.get()?;
                if own {
                    self.journal(&cell, &value);
                    cell.set(None);
                }
                value
            }
        };
        for at in &input.path {
            let Value::Function(any) = &value else {
                unreachable!("a kernel is run with the functions that it was made for")
            };
            let closure = any.downcast_ref::<Closure>().expect("a function value of this executor");
            value = closure.captures[*at].clone();
        }
        Some(value)
    }

    /// The kernel of a site that has run often enough, or is large enough.
    pub(super) fn site_kernel(
        &self,
        site: &TierUpSite,
        weight: u64,
        frame: &[Value],
    ) -> Option<Arc<dyn Executable>> {
        let accelerator = self.machine.accelerator.as_ref()?;
        // Deep inside calls the evaluator goes on by itself.
        if !super::stack_guard::has_room_for(COMPILE_STACK_BYTES) {
            return None;
        }
        let eager = self.machine.eager;
        if !eager && weight < EAGER_ELEMENTS && site.heat.load(Ordering::Relaxed) < HOT_ROUNDS {
            return None;
        }
        // Before the part is looked for: of many parts inside one that is too much code, each would be.
        if site.kernels.lock().ok()?.is_empty() && site.fragment.is_too_long(&site.terms) {
            return None;
        }
        let functions: Vec<(Root, KnownValue)> = self
            .function_variables(site)
            .iter()
            .map(|root| {
                let value = match root {
                    Root::Local(local) => Some(frame[*local as usize].clone()),
                    Root::Global(global) => self.machine.globals[*global as usize].get(),
                };
                (*root, value.as_ref().map_or(KnownValue::Data, known_value))
            })
            .collect();
        let mut kernels = site.kernels.lock().ok()?;
        if let Some(known) = kernels.iter().find(|known| known.functions == functions) {
            return known.kernel.clone().filter(|_| known.failures < 3);
        }
        if kernels.len() >= MAX_KERNELS_PER_SITE {
            return None;
        }
        if site.fragment.is_too_long(&site.terms) {
            kernels.push(CachedKernel { functions, kernel: None, failures: 0 });
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
            functions: &functions,
            may_go_on: &|| !interrupt.load(Ordering::Relaxed) && super::stack_guard::has_room(),
        };
        let kernel = match accelerator.prepare(&part) {
            Ok(kernel) => Some(kernel),
            Err(Declined::Stopped) => return None,
            Err(declined) => {
                if declined == Declined::TooLong {
                    site.fragment.note_too_long(&site.terms);
                }
                None
            }
        };
        kernels.push(CachedKernel { functions, kernel: kernel.clone(), failures: 0 });
        kernel
    }

    /// The variables outside of a site that hold functions.
    fn function_variables<'s>(&self, site: &'s TierUpSite) -> &'s [Root] {
        site.functions.get_or_init(|| {
            let mentioned = match site.fragment.find(site.address) {
                Region::Term(term) => FreeVariables::by_term(term),
                Region::Loop(stmt) => FreeVariables::by_stmt(stmt),
            };
            // Types of what is inside may mention sizes that only open there.
            let concrete = |ty: &Type| self.machine.sizes.concrete(&site.bindings.concrete(ty));
            let is_function = |ty: &Type| matches!(concrete(ty).kind(), TypeKind::Function(..));
            let local = |l: &u32| is_function(&site.locals[*l as usize].ty);
            let global = |g: &u32| is_function(&self.program.globals[*g as usize].ty);
            let locals = mentioned.locals.iter().filter(|l| local(l)).map(|l| Root::Local(*l));
            let globals = mentioned.globals.iter().filter(|g| global(g)).map(|g| Root::Global(*g));
            locals.chain(globals).collect()
        })
    }

    /// Notes that a kernel of the site failed: one that does so again and again is left alone.
    pub(super) fn note_failure(&self, site: &TierUpSite) {
        if let Ok(mut kernels) = site.kernels.lock() {
            kernels.iter_mut().for_each(|known| known.failures += 1);
        }
    }
}

/// What is known of a value before a part runs.
fn known_value(value: &Value) -> KnownValue {
    match value {
        Value::Function(any) => match any.downcast_ref::<Closure>() {
            Some(closure) => KnownValue::Function(
                closure.instance.function,
                closure.instance.type_args.clone(),
                closure.captures.iter().map(known_value).collect(),
            ),
            None => unreachable!("a function value of this executor"),
        },
        _ => KnownValue::Data,
    }
}
