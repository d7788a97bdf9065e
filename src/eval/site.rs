//! Parts of the code that a faster executor may take over.
//!
//! A [`Site`] is a term or a loop together with the core it was made from. It is run as ever until it
//! has cost something, or at once if it works on large arrays; then the machine's accelerator is asked for a
//! kernel. A kernel that fails has changed nothing: the evaluator runs the part again, and finds
//! the error that is to be reported.

use super::code::{Closure, Node, Statement, StatementKind};
use super::error::Failure;
use super::run::{Result, Run};
use super::specialise::Bindings;
use crate::core::{LocalInfo, Root, Stmt, Term};
use crate::kernel::{Input, Kernel, Limits, Part, Ran, Shape, What};
use crate::source::Span;
use crate::types::Type;
use crate::value::{Cell, Value};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// Elements of an array from which a part is compiled before it has run.
const LARGE: u64 = 1_000;

/// Calls and rounds of a part after which it is compiled.
const HOT: u64 = 3_000;

/// Bytes of stack that making and running a kernel may take.
const COMPILING: usize = 512 << 10;

/// Kernels of one site: for different functions in its variables.
const MOST_KERNELS: usize = 8;

/// A term or a loop that may be taken over.
pub struct Site {
    core: Core,
    /// The code to run otherwise.
    pub plain: Plain,
    locals: Arc<[LocalInfo]>,
    bindings: Arc<Bindings>,
    /// Variables outside that hold functions.
    functions: Vec<Root>,
    /// Elements of the largest array that it mentions.
    weight: u64,
    /// Calls and rounds so far.
    heat: AtomicU64,
    kernels: Mutex<Vec<Known>>,
}

/// What a site was made from.
pub enum Core {
    /// A term.
    Term(Term),
    /// A `for` or `while`.
    Loop(Stmt),
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
    functions: Vec<(Root, Shape)>,
    kernel: Option<Arc<dyn Kernel>>,
    /// Runs that failed.
    failures: u32,
}

impl Site {
    /// A part that may be taken over.
    pub(super) fn new(
        core: Core,
        plain: Plain,
        locals: Arc<[LocalInfo]>,
        bindings: Arc<Bindings>,
        functions: Vec<Root>,
        weight: u64,
    ) -> Site {
        Site {
            core,
            plain,
            locals,
            bindings,
            functions,
            weight,
            heat: AtomicU64::new(0),
            kernels: Mutex::new(Vec::new()),
        }
    }
}

impl Run<'_, '_> {
    /// A term that may be taken over. The value of `dying` is not read afterwards.
    pub(super) fn term_site(
        &mut self,
        site: &Site,
        frame: &mut [Value],
        span: Span,
        dying: Option<Root>,
    ) -> Result<Value> {
        if let Some(kernel) = self.kernel(site, site.weight, frame) {
            match self.taken_over(&*kernel, frame, span, dying)? {
                Some(mut values) => return Ok(values.pop().unwrap_or(Value::UNIT)),
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
    pub(super) fn loop_site(&mut self, site: &Site, frame: &mut [Value], span: Span) -> Result<()> {
        let Plain::Statement(plain) = &site.plain else { return Ok(()) };
        let weight = match &plain.kind {
            // Bounds are pure: to evaluate them once more does no harm.
            StatementKind::ForInts(_, low, high, ..) if self.machine.accelerator.is_some() => {
                let (low, high) = (self.eval(low, frame)?.as_int(), self.eval(high, frame)?.as_int());
                high.saturating_sub(low).max(0) as u64
            }
            _ => site.weight,
        };
        if let Some(kernel) = self.kernel(site, weight, frame) {
            if self.loop_taken_over(&*kernel, frame, span)? {
                return Ok(());
            }
            self.note_failure(site);
        }
        let before = self.ticks;
        let done = match &plain.kind {
            StatementKind::While(condition, body) => self.while_site(site, condition, body, frame, span),
            _ => self.statement(plain, frame),
        };
        site.heat.fetch_add(u64::from(self.ticks.wrapping_sub(before)) + 1, Ordering::Relaxed);
        done
    }

    /// A `while` that has not been taken over: what is left of it after a time is the same loop.
    fn while_site(
        &mut self,
        site: &Site,
        condition: &Node,
        body: &[Statement],
        frame: &mut [Value],
        span: Span,
    ) -> Result<()> {
        let mut rounds = 0u64;
        while self.eval(condition, frame)?.as_bool() {
            if !self.round(body, frame, span)? {
                break;
            }
            rounds += 1;
            if rounds == LARGE
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

    fn loop_taken_over(&mut self, kernel: &dyn Kernel, frame: &mut [Value], span: Span) -> Result<bool> {
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
        kernel: &dyn Kernel,
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
            .filter(|root| kernel.takes_spare() && kernel.inputs().iter().all(|input| input.root != *root));
        let whole = |root| Input { root, path: Vec::new() };
        let mut spare = spare_of.and_then(|root| self.input(&whole(root), frame, true));
        let watched = self.machine.watch.enter(Some(1));
        let watch = Mutex::new(&mut self.machine.watch);
        // Whoever finds it taken has nothing newer to say.
        let tell = |done, total| {
            if let Ok(mut watch) = watch.try_lock() {
                watch.at(done, total);
            }
        };
        let tell: Option<&(dyn Fn(u64, u64) + Sync)> = if watched { Some(&tell) } else { None };
        let limits = Limits { interrupt: self.host.interrupt, memory: self.host.memory, tell };
        let ran = kernel.run(&mut inputs, &mut spare, &limits);
        if watched {
            self.machine.watch.leave();
        }
        match ran {
            Ran::Done(values) => Ok(Some(values)),
            ended @ (Ran::Failed | Ran::Refused) => {
                if matches!(ended, Ran::Refused) && !kernel.can_fail() {
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
            Ran::Interrupted => Err(self.fail(Failure::Interrupted, span)),
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
    fn kernel(&self, site: &Site, weight: u64, frame: &[Value]) -> Option<Arc<dyn Kernel>> {
        let accelerator = self.machine.accelerator.as_ref()?;
        // Deep inside calls the evaluator goes on by itself.
        if !super::stack::has_room_for(COMPILING) {
            return None;
        }
        let eager = self.machine.eager;
        if !eager && weight < LARGE && site.heat.load(Ordering::Relaxed) < HOT {
            return None;
        }
        let functions: Vec<(Root, Shape)> = site
            .functions
            .iter()
            .map(|root| {
                let value = match root {
                    Root::Local(local) => Some(frame[*local as usize].clone()),
                    Root::Global(global) => self.machine.globals[*global as usize].get(),
                };
                (*root, value.as_ref().map_or(Shape::Data, shape))
            })
            .collect();
        let mut kernels = site.kernels.lock().ok()?;
        if let Some(known) = kernels.iter().find(|known| known.functions == functions) {
            return known.kernel.clone().filter(|_| known.failures < 3);
        }
        if kernels.len() >= MOST_KERNELS {
            return None;
        }
        let sizes = self.machine.sizes.clone();
        let concrete = |ty: &Type| sizes.concrete(&site.bindings.concrete(ty));
        let part = Part {
            program: self.program,
            layouts: &self.machine.layouts,
            locals: &site.locals,
            concrete: &concrete,
            what: match &site.core {
                Core::Term(term) => What::Term(term),
                Core::Loop(stmt) => What::Loop(stmt),
            },
            functions: &functions,
        };
        let kernel = accelerator.prepare(&part);
        kernels.push(Known { functions, kernel: kernel.clone(), failures: 0 });
        kernel
    }

    /// Notes that a kernel of the site failed: one that does so again and again is left alone.
    fn note_failure(&self, site: &Site) {
        if let Ok(mut kernels) = site.kernels.lock() {
            kernels.iter_mut().for_each(|known| known.failures += 1);
        }
    }
}

/// What is known of a value before a part runs.
fn shape(value: &Value) -> Shape {
    match value {
        Value::Function(any) => match any.downcast_ref::<Closure>() {
            Some(closure) => Shape::Function(
                closure.instance.function,
                closure.instance.type_args.clone(),
                closure.captures.iter().map(shape).collect(),
            ),
            None => Shape::Data,
        },
        _ => Shape::Data,
    }
}
