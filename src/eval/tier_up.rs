//! Parts of the code that a faster executor may take over.
//!
//! A [`Site`] is a term or a loop together with its place in the core it was made from. It is run as ever until it
//! has cost something, or at once if it works on large arrays; then the machine's accelerator is asked for a
//! kernel. A kernel that fails has changed nothing: the evaluator runs the part again, and finds
//! the error that is to be reported.

use super::code::{Closure, Node, Statement, StatementKind};
use super::error::Failure;
use super::existential::Rest;
use super::run::{Result, Run};
use super::specialize::{Bindings, MUCH_TO_COPY};
use crate::core::free_variables::FreeVariables;
use crate::core::{Function, LocalId, LocalInfo, Root, Stmt, Term, TermKind, last_use};
use crate::hash::HashMap;
use crate::kernel::{CompilationUnit, Executable, Input, KnownValue, Limits, NotCompiled, Region, RunResult};
use crate::source::Span;
use crate::types::{Type, TypeKind};
use crate::value::{Cell, Value};
use self_cell::self_cell;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

/// Elements of an array from which a part is compiled before it has run.
const LARGE: u64 = 1_000;

/// Calls and rounds of a part after which it is compiled.
const HOT: u64 = 3_000;

/// Slots that are copied in the time that the evaluator takes for a round of a loop, about.
const SLOTS_OF_ROUND: u64 = 64;

/// Bytes of stack that making and running a kernel may take.
const COMPILING: usize = 512 << 10;

/// Kernels of one site: for different functions in its variables.
const MOST_KERNELS: usize = 8;

/// Terms of a part from which it is large: of one that is too much code, only parts of half its size are tried.
const LARGE_PART: usize = 1_000;

/// Of so many parts inside one another that are all too much code, nothing further inside is tried.
const MOST_AROUND: usize = 4;

/// A term or a loop that may be taken over.
pub struct TierUpSite {
    whole: Arc<Whole>,
    place: Place,
    /// Its terms, by the order in which they were specialized.
    terms: Range<u32>,
    /// The code to run otherwise.
    pub plain: Plain,
    locals: Arc<[LocalInfo]>,
    bindings: Arc<Bindings>,
    /// Variables outside that nobody reads after it, once somebody has asked.
    dying: OnceLock<Vec<LocalId>>,
    /// Variables outside that hold functions, once somebody has asked.
    functions: OnceLock<Vec<Root>>,
    /// Elements of the largest array that it mentions.
    weight: u64,
    /// Calls and rounds so far.
    heat: AtomicU64,
    kernels: Mutex<Vec<Known>>,
}

/// The core that sites are parts of: those inside one another share it.
pub struct Whole {
    core: Core,
    /// Made when a part is first looked for.
    index: OnceLock<Index>,
    /// Parts that were too much code.
    too_long: Mutex<Vec<Range<u32>>>,
}

/// What is specialized as one.
#[derive(Clone)]
pub enum Core {
    /// The body of a function.
    Function(Arc<Function>),
    /// A statement of a script.
    Statement(Arc<Stmt>),
    /// The value of a script.
    Term(Arc<Term>),
    /// What follows an opening.
    Rest(Arc<Rest>),
}

/// Where a site lies in its core: the address of the term or statement, which stays while the core is held.
#[derive(Clone, Copy)]
pub enum Place {
    /// A term.
    Term(usize),
    /// A `for` or `while`.
    Loop(usize),
}

impl Place {
    /// That of a term.
    pub fn of_term(term: &Term) -> Place {
        Place::Term(std::ptr::from_ref(term).addr())
    }

    /// That of a loop.
    pub fn of_loop(stmt: &Stmt) -> Place {
        Place::Loop(std::ptr::from_ref(stmt).addr())
    }
}

self_cell! {
    /// Core with the places in it.
    struct Index {
        owner: Core,
        #[covariant]
        dependent: Places,
    }
}

/// The terms and the statements of a core by their addresses; whether it is a statement tells two of one address apart.
struct Places<'c>(HashMap<(bool, usize), Region<'c>>);

impl<'c> Places<'c> {
    /// All of them, in one walk.
    fn of(core: &'c Core) -> Places<'c> {
        let mut places = Places(HashMap::default());
        let mut terms: Vec<&'c Term> = Vec::new();
        match core {
            Core::Function(function) => terms.push(&function.body),
            Core::Term(term) => terms.push(term),
            Core::Statement(stmt) => places.statements(std::slice::from_ref(&**stmt), &mut terms),
            Core::Rest(rest) => {
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

impl Whole {
    /// Core that is about to be specialized.
    pub fn new(core: Core) -> Arc<Whole> {
        Arc::new(Whole { core, index: OnceLock::new(), too_long: Mutex::default() })
    }

    /// What lies at a place.
    fn find(&self, place: Place) -> Option<Region<'_>> {
        let index = self.index.get_or_init(|| Index::new(self.core.clone(), |core| Places::of(core)));
        let (Place::Term(at) | Place::Loop(at)) = place;
        index.borrow_dependent().0.get(&(matches!(place, Place::Loop(_)), at)).copied()
    }

    /// Whether a part was too much code, or lies in one that was and is not much smaller.
    fn is_too_long(&self, part: &Range<u32>) -> bool {
        let Ok(known) = self.too_long.lock() else { return true };
        let around = |known: &&Range<u32>| known.start <= part.start && part.end <= known.end;
        let near = |known: &Range<u32>| known.len() >= LARGE_PART && 2 * part.len() > known.len();
        let (mut count, mut is_near) = (0, false);
        for known in known.iter().filter(around) {
            count += 1;
            is_near |= near(known);
        }
        is_near || count >= MOST_AROUND
    }

    fn note_too_long(&self, part: &Range<u32>) {
        if let Ok(mut known) = self.too_long.lock() {
            known.push(part.clone());
        }
    }
}

/// What a site does if nobody takes it over.
pub enum Plain {
    /// A term.
    Node(Box<Node>),
    /// A loop.
    Statement(Box<Statement>),
}

/// An answer of the accelerator.
struct Known {
    functions: Vec<(Root, KnownValue)>,
    kernel: Option<Arc<dyn Executable>>,
    /// Runs that failed.
    failures: u32,
}

impl TierUpSite {
    /// A part that may be taken over.
    #[allow(clippy::too_many_arguments)] // what was computed while it was specialized
    pub(super) fn new(
        whole: Arc<Whole>,
        place: Place,
        terms: Range<u32>,
        plain: Plain,
        locals: Arc<[LocalInfo]>,
        bindings: Arc<Bindings>,
        weight: u64,
    ) -> TierUpSite {
        TierUpSite {
            whole,
            place,
            terms,
            plain,
            locals,
            bindings,
            dying: OnceLock::new(),
            functions: OnceLock::new(),
            weight,
            heat: AtomicU64::new(0),
            kernels: Mutex::new(Vec::new()),
        }
    }
}

impl Run<'_, '_> {
    /// A term that may be taken over. The value of `dying` is not read afterward.
    pub(super) fn term_site(
        &mut self,
        site: &TierUpSite,
        frame: &mut [Value],
        span: Span,
        dying: Option<Root>,
    ) -> Result<Value> {
        if let Some(kernel) = self.kernel(site, site.weight, frame) {
            match self.taken_over(&*kernel, frame, span, dying)? {
                Some(mut values) => {
                    let dying = site.dying.get_or_init(|| match site.whole.find(site.place) {
                        Some(Region::Term(term)) => {
                            let mut dying = last_use::dying_locals(term);
                            // A cell stays where it is.
                            dying.retain(|local| !site.locals[*local as usize].shared);
                            dying
                        }
                        _ => Vec::new(),
                    });
                    dying.iter().for_each(|local| frame[*local as usize] = super::run::gone());
                    return Ok(values.pop().unwrap_or(Value::UNIT));
                }
                None => self.note_failure(site),
            }
        }
        let Plain::Node(node) = &site.plain else { return Ok(Value::UNIT) };
        let before = self.ticks;
        let value = self.eval(node, frame);
        site.heat.fetch_add(u64::from(self.ticks.wrapping_sub(before)) + 1, Ordering::Relaxed);
        value
    }

    /// A loop that may be taken over.
    pub(super) fn loop_site(&mut self, site: &TierUpSite, frame: &mut [Value], span: Span) -> Result<()> {
        let Plain::Statement(plain) = &site.plain else { return Ok(()) };
        let weight = match &plain.kind {
            // Bounds are pure: to evaluate them once more does no harm.
            StatementKind::ForInts(_, low, high, ..) if self.machine.accelerator.is_some() => {
                let (low, high) = (self.eval(low, frame)?.as_int(), self.eval(high, frame)?.as_int());
                high.saturating_sub(low).max(0) as u64
            }
            _ => site.weight,
        };
        // Rounds that cost less than what the kernel would copy are left to the evaluator.
        let mut due = LARGE;
        if let Some(kernel) = self.kernel(site, weight, frame) {
            let copying = LARGE.min(self.copied(&*kernel, frame) / SLOTS_OF_ROUND);
            let pays = match &plain.kind {
                StatementKind::While(..) => copying == 0,
                StatementKind::ForInts(..) => copying <= weight,
                _ => true,
            };
            if !pays {
                due = copying;
            } else if self.loop_taken_over(&*kernel, frame, span)? {
                return Ok(());
            } else {
                self.note_failure(site);
            }
        }
        let before = self.ticks;
        let done = match &plain.kind {
            StatementKind::While(condition, body) => {
                self.while_site(site, (condition, body), due, frame, span)
            }
            _ => self.statement(plain, frame),
        };
        site.heat.fetch_add(u64::from(self.ticks.wrapping_sub(before)) + 1, Ordering::Relaxed);
        done
    }

    /// Slots that a kernel copies for each run, because it may fail: what it changes is kept until it is done.
    fn copied(&self, kernel: &dyn Executable, frame: &[Value]) -> u64 {
        if !kernel.can_fail() || self.machine.eager {
            return 0;
        }
        let slots = |value: &Value| match value {
            Value::Seq(seq) if seq.len() >= MUCH_TO_COPY => seq.len() as u64,
            _ => 0,
        };
        let changes = kernel.changes().iter().map(|root| match root {
            Root::Local(local) => slots(&frame[*local as usize]),
            Root::Global(global) => self.machine.globals[*global as usize].get().as_ref().map_or(0, slots),
        });
        changes.sum()
    }

    /// A `while` that has not been taken over: what is left of it after some rounds is the same loop.
    fn while_site(
        &mut self,
        site: &TierUpSite,
        (condition, body): (&Node, &[Statement]),
        due: u64,
        frame: &mut [Value],
        span: Span,
    ) -> Result<()> {
        let (mut due, before) = (Some(due), self.ticks);
        while self.eval(condition, frame)?.as_bool() {
            if !self.round(body, frame, span)? {
                break;
            }
            // Rounds of loops inside count, too.
            let rounds = u64::from(self.ticks.wrapping_sub(before));
            if due.take_if(|due| rounds >= *due).is_some()
                && let Some(kernel) = self.kernel(site, u64::MAX, frame)
            {
                if self.loop_taken_over(&*kernel, frame, span)? {
                    return Ok(());
                }
                self.note_failure(site);
            }
        }
        Ok(())
    }

    fn loop_taken_over(&mut self, kernel: &dyn Executable, frame: &mut [Value], span: Span) -> Result<bool> {
        let Some(values) = self.taken_over(kernel, frame, span, None)? else { return Ok(false) };
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
    fn taken_over(
        &mut self,
        kernel: &dyn Executable,
        frame: &mut [Value],
        span: Span,
        dying: Option<Root>,
    ) -> Result<Option<Vec<Value>>> {
        let changes = kernel.changes().len();
        if kernel.inputs().iter().take(changes).any(|input| self.outgrows(input, frame)) {
            return Ok(None);
        }
        let mut inputs = Vec::with_capacity(kernel.inputs().len());
        for (i, input) in kernel.inputs().iter().enumerate() {
            // What changes is handed over, unless it may have to be had back.
            let own = i < changes && !kernel.can_fail();
            match self.input(input, frame, own) {
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
            inputs[i] = self.input(input, frame, true).unwrap_or(Value::UNIT);
        }
        let spare_of = dying
            .filter(|root| kernel.accepts_spare() && kernel.inputs().iter().all(|input| input.root != *root));
        let whole = |root| Input { root, path: Vec::new() };
        let mut spare = spare_of.and_then(|root| self.input(&whole(root), frame, true));
        let watched = self.machine.watch.enter(Some(1));
        let watch = Mutex::new(&mut self.machine.watch);
        // Whoever finds it taken has nothing newer to say.
        let report_progress = |done, total| {
            if let Ok(mut watch) = watch.try_lock() {
                watch.at(done, total);
            }
        };
        let report_progress: Option<&(dyn Fn(u64, u64) + Sync)> =
            if watched { Some(&report_progress) } else { None };
        let limits = Limits { interrupt: self.host.interrupt, memory: self.host.memory, report_progress };
        let ran = kernel.run(&mut inputs, &mut spare, &limits);
        if watched {
            self.machine.watch.leave();
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
    fn outgrows(&self, input: &Input, frame: &[Value]) -> bool {
        let value = match input.root {
            Root::Local(local) => Some(frame[local as usize].clone()),
            Root::Global(global) => self.machine.globals[global as usize].get(),
        };
        let Some(Value::Seq(seq)) = value else { return false };
        seq.is_foreign() && (seq.len() as u64).saturating_mul(seq.class().bytes()) > self.host.memory
    }

    /// The value of a kernel's input; nothing if a variable of the session has none yet.
    fn input(&mut self, input: &Input, frame: &mut [Value], own: bool) -> Option<Value> {
        let mut value = match input.root {
            Root::Local(local) if own => std::mem::replace(&mut frame[local as usize], Value::UNIT),
            Root::Local(local) => frame[local as usize].clone(),
            Root::Global(global) => {
                let cell: Arc<Cell> = self.machine.globals[global as usize].clone();
                let value = cell.get()?;
                if own {
                    self.note(&cell, &value);
                    cell.set(None);
                }
                value
            }
        };
        for at in &input.path {
            let Value::Function(any) = &value else { return None };
            value = any.downcast_ref::<Closure>()?.captures.get(*at)?.clone();
        }
        Some(value)
    }

    /// The kernel of a site that has run often enough, or is large enough.
    fn kernel(&self, site: &TierUpSite, weight: u64, frame: &[Value]) -> Option<Arc<dyn Executable>> {
        let accelerator = self.machine.accelerator.as_ref()?;
        // Deep inside calls the evaluator goes on by itself.
        if !super::stack_guard::has_room_for(COMPILING) {
            return None;
        }
        let eager = self.machine.eager;
        if !eager && weight < LARGE && site.heat.load(Ordering::Relaxed) < HOT {
            return None;
        }
        // Before the part is looked for: of many parts inside one that is too much code, each would be.
        if site.kernels.lock().ok()?.is_empty() && site.whole.is_too_long(&site.terms) {
            return None;
        }
        let functions: Vec<(Root, KnownValue)> = self
            .functions(site)
            .iter()
            .map(|root| {
                let value = match root {
                    Root::Local(local) => Some(frame[*local as usize].clone()),
                    Root::Global(global) => self.machine.globals[*global as usize].get(),
                };
                (*root, value.as_ref().map_or(KnownValue::Data, shape))
            })
            .collect();
        let mut kernels = site.kernels.lock().ok()?;
        if let Some(known) = kernels.iter().find(|known| known.functions == functions) {
            return known.kernel.clone().filter(|_| known.failures < 3);
        }
        if kernels.len() >= MOST_KERNELS {
            return None;
        }
        if site.whole.is_too_long(&site.terms) {
            kernels.push(Known { functions, kernel: None, failures: 0 });
            return None;
        }
        let what = site.whole.find(site.place)?;
        let sizes = self.machine.sizes.clone();
        let concrete = |ty: &Type| sizes.concrete(&site.bindings.concrete(ty));
        let interrupt = self.host.interrupt;
        let part = CompilationUnit {
            program: self.program,
            layouts: &self.machine.layouts,
            locals: &site.locals,
            concrete: &concrete,
            region: what,
            functions: &functions,
            may_continue: &|| !interrupt.load(Ordering::Relaxed) && super::stack_guard::has_room(),
        };
        let kernel = match accelerator.prepare(&part) {
            Ok(kernel) => Some(kernel),
            Err(NotCompiled::Stopped) => return None,
            Err(declined) => {
                if declined == NotCompiled::TooLong {
                    site.whole.note_too_long(&site.terms);
                }
                None
            }
        };
        kernels.push(Known { functions, kernel: kernel.clone(), failures: 0 });
        kernel
    }

    /// The variables outside of a site that hold functions.
    fn functions<'s>(&self, site: &'s TierUpSite) -> &'s [Root] {
        site.functions.get_or_init(|| {
            let mentioned = match site.whole.find(site.place) {
                Some(Region::Term(term)) => FreeVariables::by_term(term),
                Some(Region::Loop(stmt)) => FreeVariables::by_stmt(stmt),
                None => FreeVariables::default(),
            };
            // Types of what is inside may mention sizes that only open there.
            let concrete = |ty: &Type| self.machine.sizes.concrete(&site.bindings.concrete(ty));
            let is_function = |ty: &Type| matches!(concrete(ty).kind(), TypeKind::Function(..));
            let local = |l: &u32| site.locals.get(*l as usize).is_some_and(|info| is_function(&info.ty));
            let global = |g: &u32| self.program.globals.get(*g as usize).is_some_and(|g| is_function(&g.ty));
            let locals = mentioned.locals.iter().filter(|l| local(l)).map(|l| Root::Local(*l));
            let globals = mentioned.globals.iter().filter(|g| global(g)).map(|g| Root::Global(*g));
            locals.chain(globals).collect()
        })
    }

    /// Notes that a kernel of the site failed: one that does so again and again is left alone.
    fn note_failure(&self, site: &TierUpSite) {
        if let Ok(mut kernels) = site.kernels.lock() {
            kernels.iter_mut().for_each(|known| known.failures += 1);
        }
    }
}

/// What is known of a value before a part runs.
fn shape(value: &Value) -> KnownValue {
    match value {
        Value::Function(any) => match any.downcast_ref::<Closure>() {
            Some(closure) => KnownValue::Function(
                closure.instance.function,
                closure.instance.type_args.clone(),
                closure.captures.iter().map(shape).collect(),
            ),
            None => KnownValue::Data,
        },
        _ => KnownValue::Data,
    }
}
