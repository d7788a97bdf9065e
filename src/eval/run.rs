//! The machine: runs specialized code as a tree.
//!
//! Strict, left to right. A frame is a slice of values, one for each local of the function. Loops
//! and calls look whether they are to stop; calls look whether there is stack left. Every store
//! into a session variable or a shared variable is noted, so that a failed input can be undone.

use super::arith::{
    LARGEST_BIGINT_BITS, arithmetic, compare, convert, equal, from_code, to_bigint, too_much,
};
use super::code::{
    Callee, Cases, Closure, Instance, Kind, Node, PartStep, Pattern, Statement, StatementKind, Store,
    StoreRoot, StoreStep,
};
use super::error::{Failure, RuntimeError};
use super::existential::{Rest, first_opening};
use super::matching::{fits, inject};
use super::prim::LONGEST_STRING;
use super::progress::{Watch, Watcher};
use super::show;
use super::specialize::{Bindings, Specializer, instance};
use super::stack_guard;
use super::tier_up::{Core, Whole};
use crate::core::last_use::{self, ReachableGlobals};
use crate::core::{Function, FunctionId, LocalInfo, Num, Op, Prim, Program, Root, Script};
use crate::data::FileSystem;
use crate::hash::HashMap;
use crate::kernel::Accelerator;
use crate::layout::{Form, Layout, Layouts, TOO_MANY, countable};
use crate::picture::Screen;
use crate::source::Span;
use crate::types::encoding::Code;
use crate::types::{DEEPEST_TYPE, LARGEST_TYPE_NODES, Scalar, Type};
use crate::value::{Buffer, Cell, Class, Packed, Seq, Value};
use num_bigint::BigInt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What a run may use of the world.
pub struct Host<'a> {
    /// Receives what the program prints.
    pub out: &'a mut dyn FnMut(&str),
    /// Set from outside to stop the run.
    pub interrupt: &'a AtomicBool,
    /// Bytes that one value may take.
    pub memory: u64,
    /// Where files are, if there are any.
    pub files: Option<&'a dyn FileSystem>,
    /// Where pictures are seen that the program prints.
    pub screen: Screen,
}

/// Runs programs; holds the session's variables and the functions specialized so far.
#[derive(Default)]
pub struct Machine {
    pub(super) layouts: Layouts,
    pub(super) globals: Vec<Arc<Cell>>,
    instances: HashMap<(FunctionId, Vec<Type>), Arc<Instance>>,
    /// Functions with their last uses marked, what they reach, and how many instances of classes
    /// there were.
    marked: HashMap<FunctionId, Arc<Function>>,
    reach: ReachableGlobals,
    marked_among: usize,
    /// Old values of cells, since the last checkpoint, newest last.
    journal: Vec<(Arc<Cell>, Option<Value>)>,
    /// Number of the present input.
    input: u64,
    pub(super) calls: Vec<(Arc<str>, Span)>,
    /// Sizes opened at the top level, for as long as the session lives.
    pub(super) sizes: Arc<Bindings>,
    /// How often code has been specialized for sizes that arrived at run time.
    pub(super) opened: u64,
    /// The outermost loop, for whoever waits.
    pub(super) watch: Watch,
    /// Who may take over parts of programs.
    pub(super) accelerator: Option<Arc<dyn Accelerator>>,
    /// Whether parts are taken over before they have cost anything.
    pub(super) eager: bool,
}

/// A state to return to.
pub struct Checkpoint {
    globals: usize,
    functions: usize,
    sizes: Arc<Bindings>,
}

/// Why evaluation of a node did not give a value.
pub(super) enum Stop {
    Error(Box<RuntimeError>),
    Return(Value),
    Break,
    Continue,
}

impl Stop {
    /// The error that ends a script.
    pub(super) fn into_error(self) -> Box<RuntimeError> {
        match self {
            Stop::Error(error) => error,
            _ => Box::new(RuntimeError {
                failure: Failure::Internal { what: "control left the script" },
                span: Span::default(),
                calls: Vec::new(),
            }),
        }
    }
}

pub(super) type Result<T> = std::result::Result<T, Stop>;

/// Calls within one another. The stack of [`stack::with_stack`] holds more as a rule; a number of
/// its own makes the limit the same everywhere.
const DEEPEST: usize = 100_000;

/// The most instances that are kept: sizes that arrive at run time make new ones without end.
const MOST_INSTANCES: usize = 4_000;

/// What a run carries along.
pub(super) struct Run<'r, 'h> {
    pub(super) machine: &'r mut Machine,
    pub(super) program: &'r Program,
    pub(super) host: &'r mut Host<'h>,
    pub(super) ticks: u32,
}

impl Machine {
    /// A machine without variables.
    pub fn new() -> Machine {
        Machine::default()
    }

    /// Sets who may take over parts of programs; `eager`, before they have cost anything.
    pub fn accelerate(&mut self, accelerator: Option<Arc<dyn Accelerator>>, eager: bool) {
        self.accelerator = accelerator;
        self.eager = eager;
        self.forget_instances();
    }

    /// The present state. Take one before an input, with the program as it was.
    pub fn checkpoint(&mut self, program: &Program) -> Checkpoint {
        self.journal.clear();
        self.input += 1;
        Checkpoint {
            globals: self.globals.len(),
            functions: program.functions.len(),
            sizes: self.sizes.clone(),
        }
    }

    /// Undoes every store since the checkpoint, and forgets functions made since.
    pub fn restore(&mut self, checkpoint: &Checkpoint) {
        for (cell, old) in std::mem::take(&mut self.journal).into_iter().rev() {
            cell.set(old);
        }
        self.globals.truncate(checkpoint.globals);
        self.sizes = checkpoint.sizes.clone();
        self.instances.retain(|(function, _), _| (*function as usize) < checkpoint.functions);
        self.forget_marks();
    }

    /// Gives a session variable a value from outside.
    pub fn set_global(&mut self, id: crate::core::GlobalId, value: Value) {
        while self.globals.len() <= id as usize {
            self.globals.push(Cell::new(None));
        }
        self.globals[id as usize].set(Some(value));
    }

    /// Sets who is told how far loops are, and gives who was.
    pub fn set_watcher(&mut self, watcher: Option<Watcher>) -> Option<Watcher> {
        self.watch.set(watcher)
    }

    /// Lets go of the value of a session variable.
    pub fn forget_global(&mut self, id: crate::core::GlobalId) {
        if let Some(cell) = self.globals.get(id as usize) {
            cell.set(None);
        }
    }

    /// Forgets how functions look at concrete types: a new instance may replace one they used.
    pub fn forget_instances(&mut self) {
        self.instances.clear();
        self.forget_marks();
    }

    fn forget_marks(&mut self) {
        self.marked.clear();
        self.reach = ReachableGlobals::default();
    }

    /// The value of a session variable, if it has been set.
    pub fn global(&self, id: crate::core::GlobalId) -> Option<Value> {
        self.globals.get(id as usize).and_then(|cell| cell.get())
    }

    /// Runs the statements of a script; gives its value if it has one.
    pub fn run(
        &mut self,
        program: &Program,
        script: &Script,
        host: &mut Host<'_>,
    ) -> std::result::Result<Option<Value>, Box<RuntimeError>> {
        while self.globals.len() < program.globals.len() {
            self.globals.push(Cell::new(None));
        }
        self.calls.clear();
        self.watch.begin();
        if self.marked_among != program.instances.len() {
            self.marked_among = program.instances.len();
            self.forget_marks();
        }
        let mut run = Run { machine: self, program, host, ticks: 0 };
        let mut frame = vec![Value::UNIT; script.locals.len()];
        // One statement after the other: an early one may make a type large that a later one uses.
        for at in 0..script.body.len() {
            run.top_level(script, at, &mut frame).map_err(Stop::into_error)?;
        }
        match &script.result {
            Some(term) => {
                let reach = &mut run.machine.reach;
                let term = Arc::new(last_use::mark_result(program, reach, &script.locals, term));
                let specializer = run.specializer(&script.locals, Core::Term(term.clone()));
                let (code, unset) = (specializer.node(&term), specializer.unset.take());
                run.bound(unset, term.span).map_err(Stop::into_error)?;
                run.eval(&code, &mut frame).map(Some).map_err(Stop::into_error)
            }
            None => Ok(None),
        }
    }

    /// A type with the sizes that the session has opened in place of their variables.
    pub fn concrete(&self, ty: &Type) -> Type {
        self.sizes.concrete(ty)
    }
}

impl Run<'_, '_> {
    /// For core, at the sizes that the session has opened.
    pub(super) fn specializer<'s>(&'s self, locals: &'s [LocalInfo], core: Core) -> Specializer<'s> {
        let sites = self.machine.accelerator.is_some();
        let whole = Whole::new(core);
        Specializer::new(self.program, &self.machine.layouts, &self.machine.sizes, locals, sites, whole)
    }

    /// A statement at the top level: what it opens lives as long as the session.
    fn top_level(&mut self, script: &Script, at: usize, frame: &mut [Value]) -> Result<()> {
        let (stmt, drops) = last_use::mark_statement(self.program, &mut self.machine.reach, script, at);
        let stmt = Arc::new(stmt);
        let specializer = self.specializer(&script.locals, Core::Statement(stmt.clone()));
        if first_opening(std::slice::from_ref(&*stmt)).is_some() {
            // The rest is the rest of the session: it is not run from here.
            let nothing = Arc::new(Rest { stmts: Vec::new(), value: None });
            let (code, unset) = (specializer.opening(&stmt, nothing, 0), specializer.unset.take());
            drop(specializer);
            self.bound(unset, stmt.span)?;
            let Some(code) = code else { return Ok(()) };
            let sizes = self.sizes(&code.source, frame, stmt.span)?;
            let known = Arc::make_mut(&mut self.machine.sizes);
            known.own.extend(code.vars.iter().map(|var| var.id).zip(sizes));
            return Ok(());
        }
        let (code, unset) = (specializer.statements(std::slice::from_ref(&*stmt)), specializer.unset.take());
        self.bound(unset, stmt.span)?;
        self.block(&code, frame)?;
        drops.iter().for_each(|local| frame[*local as usize] = Value::UNIT);
        Ok(())
    }

    pub(super) fn fail(&self, failure: Failure, span: Span) -> Stop {
        let calls = self.machine.calls.iter().rev().map(|(name, at)| (name.to_string(), *at)).collect();
        Stop::Error(Box::new(RuntimeError { failure, span, calls }))
    }

    /// Looks, now and then, whether the run is to stop.
    pub(super) fn tick(&mut self, span: Span) -> Result<()> {
        self.ticks = self.ticks.wrapping_add(1);
        if self.ticks.is_multiple_of(64) {
            self.go_on(span)?;
            self.machine.watch.tell();
        }
        Ok(())
    }

    /// Unless somebody wants the run to stop.
    pub(super) fn go_on(&self, span: Span) -> Result<()> {
        match self.host.interrupt.load(Ordering::Relaxed) {
            true => Err(self.fail(Failure::Interrupted, span)),
            false => Ok(()),
        }
    }

    /// Runs a loop of so many rounds, if that is known; it is told whether to count them.
    fn watched<T>(
        &mut self,
        total: Option<u64>,
        rounds: impl FnOnce(&mut Self, bool) -> Result<T>,
    ) -> Result<T> {
        let outermost = self.machine.watch.enter(total);
        let done = rounds(self, outermost);
        if outermost {
            self.machine.watch.leave();
        }
        done
    }

    fn evals(&mut self, nodes: &[Node], frame: &mut [Value]) -> Result<Vec<Value>> {
        nodes.iter().map(|n| self.eval(n, frame)).collect()
    }

    pub(super) fn eval(&mut self, node: &Node, frame: &mut [Value]) -> Result<Value> {
        let span = node.span;
        match &node.kind {
            Kind::Constant(value) => Ok(value.clone()),
            Kind::Local(local) => {
                let value = &frame[*local as usize];
                debug_assert!(!is_gone(value), "a local is read after its last use");
                Ok(value.clone())
            }
            Kind::Shared(local) => Ok(match &frame[*local as usize] {
                Value::Cell(cell) => cell.get().unwrap_or(Value::UNIT),
                other => other.clone(),
            }),
            Kind::Global(global) => match self.machine.globals[*global as usize].get() {
                Some(value) => Ok(value),
                None => {
                    let name = self.program.globals[*global as usize].name.to_string();
                    Err(self.fail(Failure::Unset { name }, span))
                }
            },
            Kind::Move(local) => Ok(take(&mut frame[*local as usize])),
            Kind::MoveSlots(local, start, len, whole) => {
                let place = &mut frame[*local as usize];
                Ok(match len {
                    0 => Value::UNIT,
                    // The others have no slot, and may still be read.
                    _ if *whole => std::mem::replace(place, Value::UNIT),
                    _ => place.take_slots(*start, *len),
                })
            }
            Kind::MoveShared(local) => Ok(match &frame[*local as usize] {
                Value::Cell(cell) => {
                    let cell = cell.clone();
                    self.take_cell(&cell).unwrap_or(Value::UNIT)
                }
                other => other.clone(),
            }),
            Kind::MoveGlobal(global) => {
                let cell = self.machine.globals[*global as usize].clone();
                match self.take_cell(&cell) {
                    Some(value) => Ok(value),
                    None => {
                        let name = self.program.globals[*global as usize].name.to_string();
                        Err(self.fail(Failure::Unset { name }, span))
                    }
                }
            }
            Kind::Closure(callee, captures) => {
                let instance = self.instance(callee, span)?;
                let captures = captures.iter().map(|c| frame[*c as usize].clone()).collect();
                Ok(Value::Function(Arc::new(Closure { instance, captures })))
            }
            Kind::CallKnown(callee, args) => {
                let instance = self.instance(callee, span)?;
                let args = self.evals(args, frame)?;
                self.call(&instance, None, args, span)
            }
            Kind::Call(head, args) => {
                let function = self.eval(head, frame)?;
                let args = self.evals(args, frame)?;
                self.apply(&function, args, span)
            }
            Kind::NoInstance => Err(self.fail(Failure::Internal { what: "a method without instance" }, span)),
            Kind::Prim(Prim::Reduce, types, args) => {
                let args = self.evals(args, frame)?;
                self.reduce(types, args, span)
            }
            Kind::Prim(prim @ (Prim::Sort | Prim::Order), types, args) => {
                let args = self.evals(args, frame)?;
                self.sort(types, &args, *prim == Prim::Order, span)
            }
            Kind::Prim(prim @ (Prim::ArgMin | Prim::ArgMax), types, args) => {
                let args = self.evals(args, frame)?;
                self.arg_extreme(*prim == Prim::ArgMax, types, &args, span)
            }
            Kind::Prim(Prim::Dot, types, args) => {
                let args = self.evals(args, frame)?;
                self.dot(types, &args, span)
            }
            Kind::Prim(Prim::Scan, types, args) => {
                let args = self.evals(args, frame)?;
                self.scan(types, args, span)
            }
            Kind::Prim(prim, types, args) => {
                let args = self.evals(args, frame)?;
                if !types.own.is_empty() {
                    let text = self.own_text(&args[0], &types.args[0], &types.own, span)?;
                    return Ok(match prim {
                        Prim::Str => Value::str(text),
                        _ => {
                            let text = if *prim == Prim::Print { text } else { text + "\n" };
                            let given = show::give_out(&text, &mut *self.host.out, self.host.interrupt);
                            given.map_err(|failure| self.fail(failure, span))?;
                            Value::UNIT
                        }
                    });
                }
                let done = self.machine.primitive(*prim, types, &args, self.host);
                done.map_err(|failure| self.fail(failure, span))
            }
            Kind::Arithmetic(op, num, modulus, args) => {
                let a = self.eval(&args[0], frame)?;
                let b = match args.get(1) {
                    Some(b) => self.eval(b, frame)?,
                    None => Value::UNIT,
                };
                // The commonest cases first: this is the heart of every loop.
                match (op, num) {
                    (Op::Add(_), Num::Int) => return Ok(Value::int(a.as_int().wrapping_add(b.as_int()))),
                    (Op::Add(_), Num::Real) => return Ok(Value::real(a.as_real() + b.as_real())),
                    (Op::Mul(_), Num::Real) => return Ok(Value::real(a.as_real() * b.as_real())),
                    _ => {}
                }
                self.guard_growth(*num, &a, &b, span)?;
                arithmetic(*op, *num, modulus.as_ref(), &a, &b).map_err(|failure| self.fail(failure, span))
            }
            Kind::Compare(op, ty, layout, a, b) => {
                let a = self.eval(a, frame)?;
                let b = self.eval(b, frame)?;
                let same = compare(*op, &self.machine.layouts, ty, layout, &a, &b, self.host.interrupt);
                if !matches!(layout.form, Form::Compact(_) | Form::Scalar(_)) {
                    self.go_on(span)?;
                }
                Ok(Value::bool(same))
            }
            Kind::OwnCompare(op, ty, own, a, b) => {
                let a = self.eval(a, frame)?;
                let b = self.eval(b, frame)?;
                let mut apart = Vec::new();
                let mut same = equal(&self.machine.layouts, own, ty, &a, &b, &mut apart, self.host.interrupt);
                self.go_on(span)?;
                for (at, a, b) in apart {
                    same = same && self.call_own(own, at, vec![a, b], span)?.as_bool();
                }
                Ok(Value::bool(same == (*op == Op::Eq)))
            }
            Kind::Bits(op, last, args) => {
                let a = self.eval(&args[0], frame)?.to_code();
                let b = match args.get(1) {
                    Some(b) => self.eval(b, frame)?.to_code(),
                    None => Code::ZERO,
                };
                Ok(Value::code(match op {
                    Op::And => a.and(&b),
                    Op::Or => a.or(&b),
                    _ => last.sub(&a),
                }))
            }
            Kind::Not(a) => Ok(Value::bool(!self.eval(a, frame)?.as_bool())),
            Kind::Tuple(parts, layout) => {
                let mut values = Vec::with_capacity(parts.len());
                for (part, slots) in parts {
                    values.push((self.eval(part, frame)?, *slots));
                }
                self.tuple(values, layout, span)
            }
            Kind::Slots(base, start, len, whole) => {
                let value = self.eval(base, frame)?;
                Ok(if *whole { value } else { value.into_slots(*start, *len) })
            }
            Kind::Index(array, index, slots, whole) => {
                let value = self.eval(array, frame)?;
                let index = self.eval(index, frame)?;
                Ok(if *whole { value } else { value.into_slots(index.word() as usize * slots, *slots) })
            }
            Kind::Build(clauses, body, element, layout) => {
                let total = clauses.iter().try_fold(1u64, |n, (_, size)| n.checked_mul(size.to_u64()?));
                self.watched(total, |run, counts| {
                    run.build(clauses, body, element, layout, frame, span, counts)
                })
            }
            Kind::Pack(layout, parts) => {
                self.counted(layout.compact().map(|c| &c.size), span)?;
                let parts: Vec<Code> = self.evals(parts, frame)?.iter().map(Value::to_code).collect();
                Ok(layout.compact().map_or(Value::UNIT, |c| Value::code(c.encoding.pack(&parts))))
            }
            Kind::Factor(layout, base, i) => {
                let code = self.eval(base, frame)?.to_code();
                Ok(layout.compact().map_or(Value::UNIT, |c| Value::code(c.encoding.project(&code, i))))
            }
            Kind::Digit(layout, base, i) => {
                let code = self.eval(base, frame)?.to_code();
                let i = self.eval(i, frame)?.to_code();
                Ok(layout.compact().map_or(Value::UNIT, |c| Value::code(c.encoding.project(&code, &i))))
            }
            Kind::Inject(cases, case, argument) => {
                if let Cases::Compact(layout) = cases {
                    self.counted(layout.compact().map(|c| &c.size), span)?;
                }
                let argument = self.eval(argument, frame)?;
                Ok(inject(cases, case, argument))
            }
            Kind::ToCode(scalar, inner) => {
                let code = self.eval(inner, frame)?.to_code();
                Ok(match scalar {
                    Scalar::Bigint => Value::bigint(BigInt::from(code.to_big())),
                    // The number type holds all codes exactly.
                    Scalar::Real => Value::real(code.to_u64().unwrap_or(0) as f64),
                    Scalar::Single => Value::single(code.to_u64().unwrap_or(0) as f32),
                    _ => Value::Word(code.to_u64().unwrap_or(0)),
                })
            }
            Kind::FromCode(scalar, ty, inner) => {
                let value = self.eval(inner, frame)?;
                self.counted(Some(&Code::from(&ty.size)), span)?;
                let n = to_bigint(*scalar, &value);
                from_code(&n, &ty.size, &ty.ty).map_err(|failure| self.fail(failure, span))
            }
            Kind::Convert(from, to, inner) => {
                let value = self.eval(inner, frame)?;
                convert(*from, *to, &value).map_err(|failure| self.fail(failure, span))
            }
            Kind::Unlike(inner, types) => {
                self.eval(inner, frame)?;
                let (from, to) = (types.0.clone(), types.1.clone());
                Err(self.fail(Failure::StoredOtherwise { from, to }, span))
            }
            Kind::Uncoded(scalar, ty, inner) => {
                self.eval(inner, frame)?;
                self.counted(Some(&Code::from(&ty.size)), span)?;
                let failure = Failure::CodesTooLarge {
                    ty: ty.ty.to_string(),
                    size: ty.size.to_string(),
                    number: scalar.name(),
                };
                Err(self.fail(failure, span))
            }
            Kind::If(condition, then, otherwise) => {
                if self.eval(condition, frame)?.as_bool() {
                    self.eval(then, frame)
                } else {
                    self.eval(otherwise, frame)
                }
            }
            Kind::Match(scrutinee, arms) => {
                let value = self.eval(scrutinee, frame)?;
                for arm in arms {
                    if fits(&arm.pattern, &value, frame) {
                        if let Some(guard) = &arm.guard
                            && !self.eval(guard, frame)?.as_bool()
                        {
                            continue;
                        }
                        // What the arm has bound is not held twice.
                        drop(value);
                        return self.eval(&arm.body, frame);
                    }
                }
                Err(self.fail(Failure::NoMatch, span))
            }
            Kind::Block(stmts, value) => {
                self.block(stmts, frame)?;
                match value {
                    Some(value) => self.eval(value, frame),
                    None => Ok(Value::UNIT),
                }
            }
            Kind::PackSizes(sizes, inner) => {
                sizes.iter().try_for_each(|(_, size)| self.counted(Some(size), span))?;
                let value = self.eval(inner, frame)?;
                let sizes = sizes.iter().map(|(ty, _)| ty.clone()).collect();
                Ok(Value::Packed(Arc::new(Packed { sizes, value })))
            }
            Kind::Open(code) => self.open(code, frame, span),
            Kind::Site(site) => self.term_site(site, frame, span, None),
        }
    }

    /// Strings and big integers grow under `+` and `*`: no single one beyond the limit.
    fn guard_growth(&self, num: Num, a: &Value, b: &Value, span: Span) -> Result<()> {
        let bytes = match num {
            Num::String => (a.as_str().len() + b.as_str().len()) as u64,
            Num::Bigint => match (a, b) {
                (Value::Bigint(a), Value::Bigint(b)) if a.bits() + b.bits() > LARGEST_BIGINT_BITS => {
                    return Err(self.fail(Failure::HugeNumber, span));
                }
                _ => 0,
            },
            _ => 0,
        };
        let limit = self.host.memory.min(LONGEST_STRING as u64);
        if bytes > limit {
            return Err(self.fail(too_much(bytes as usize, 1, limit), span));
        }
        // A copy of so much takes as long as many steps.
        const MUCH: u64 = 1 << 20;
        if bytes > MUCH { self.go_on(span) } else { Ok(()) }
    }

    /// Fails if codes of a type of this size are too large to compute with.
    pub(super) fn counted(&self, size: Option<&Code>, span: Span) -> Result<()> {
        match size {
            Some(size) if !countable(size) => Err(self.fail(Failure::Uncountable, span)),
            _ => Ok(()),
        }
    }

    pub(super) fn instance(&mut self, callee: &Callee, span: Span) -> Result<Arc<Instance>> {
        if let Some(known) = callee.instance.get() {
            return Ok(known.clone());
        }
        let key = (callee.function, callee.type_args.clone());
        let made = match self.machine.instances.get(&key) {
            Some(made) => made.clone(),
            None => {
                let Some(Some(function)) = self.program.functions.get(callee.function as usize) else {
                    return Err(self.fail(Failure::Internal { what: "a function without body" }, span));
                };
                let large = |t: &Type| t.nodes() > LARGEST_TYPE_NODES || t.depth() > DEEPEST_TYPE;
                if callee.type_args.iter().any(large) {
                    return Err(self.fail(Failure::TypeTooLarge, span));
                }
                let machine = &mut *self.machine;
                let mark = || Arc::new(last_use::mark_function(self.program, &mut machine.reach, function));
                let function = machine.marked.entry(callee.function).or_insert_with(mark).clone();
                let (machine, sizes) = (&*self.machine, &self.machine.sizes);
                let (made, unset) = instance(
                    self.program,
                    &machine.layouts,
                    sizes,
                    callee.function,
                    &function,
                    &callee.type_args,
                    machine.accelerator.is_some(),
                );
                self.bound(unset, span)?;
                let made = Arc::new(made);
                if self.machine.instances.len() >= MOST_INSTANCES {
                    self.machine.instances.clear();
                }
                self.machine.instances.insert(key, made.clone());
                made
            }
        };
        let _ = callee.instance.set(made.clone());
        Ok(made)
    }

    /// Calls an instance. The arguments are one value, or the components of one tuple.
    pub(super) fn call(
        &mut self,
        instance: &Arc<Instance>,
        closure: Option<(&Value, &[Value])>,
        mut args: Vec<Value>,
        span: Span,
    ) -> Result<Value> {
        self.tick(span)?;
        let depth = self.machine.calls.len();
        if depth >= DEEPEST || !stack_guard::has_room() {
            return Err(self.fail(Failure::TooDeep { depth }, span));
        }
        let params = &instance.params;
        if args.len() != params.len() {
            if args.len() != 1 {
                let slots = |i| instance.domain.part(i).map_or(0, |(_, part)| part.slots);
                let parts = args.into_iter().enumerate().map(|(i, arg)| (arg, slots(i))).collect();
                args = vec![self.tuple(parts, &instance.domain, span)?];
            }
            if params.len() != 1 {
                let whole = args.pop().unwrap_or(Value::UNIT);
                args = (0..params.len())
                    .map(|i| match instance.domain.part(i) {
                        Some((start, part)) => super::show::part(&whole, &instance.domain, start, &part),
                        None => Value::UNIT,
                    })
                    .collect();
            }
        }
        let mut frame = vec![Value::UNIT; instance.locals];
        for (param, arg) in params.iter().zip(args) {
            frame[*param as usize] = arg;
        }
        if let Some((this, captures)) = closure {
            for (local, value) in instance.captures.iter().zip(captures) {
                frame[*local as usize] = value.clone();
            }
            if let Some(local) = instance.this {
                frame[local as usize] = this.clone();
            }
        }
        self.machine.calls.push((instance.name.clone(), span));
        let result = match self.eval(&instance.body, &mut frame) {
            Err(Stop::Return(value)) => Ok(value),
            other => other,
        };
        self.machine.calls.pop();
        result
    }

    /// The value of a tuple or array from its parts.
    fn tuple(&mut self, parts: Vec<(Value, usize)>, layout: &Layout, span: Span) -> Result<Value> {
        let (class, slots) = (layout.class, layout.slots);
        if slots > 1 {
            // Shared or not: what could not be written out is refused.
            self.room(class, slots, span)?;
        }
        Value::tuple(parts, class, slots)
            .ok_or_else(|| self.fail(too_much(slots, class.bytes(), self.host.memory), span))
    }

    /// Fails if a value of that many slots is more than memory allows.
    pub(super) fn room(&self, class: Class, slots: usize, span: Span) -> Result<()> {
        let bytes = (slots as u64).checked_mul(class.bytes()).filter(|_| slots != TOO_MANY);
        if bytes.is_some_and(|bytes| bytes <= self.host.memory) {
            return Ok(());
        }
        Err(self.fail(too_much(slots, class.bytes(), self.host.memory), span))
    }

    /// An empty buffer with room for that many slots, if memory allows.
    pub(super) fn buffer(&self, class: Class, slots: usize, span: Span) -> Result<Buffer> {
        self.room(class, slots, span)?;
        Buffer::with_room(class, slots)
            .ok_or_else(|| self.fail(too_much(slots, class.bytes(), self.host.memory), span))
    }

    #[allow(clippy::too_many_arguments)] // the parts of one node, and where it runs
    fn build(
        &mut self,
        clauses: &[(u32, Code)],
        body: &Node,
        element: &Layout,
        layout: &Layout,
        frame: &mut [Value],
        span: Span,
        counts: bool,
    ) -> Result<Value> {
        if clauses.iter().any(|(_, size)| size.is_zero()) {
            return Ok(Value::UNIT);
        }
        clauses.iter().try_for_each(|(_, size)| self.counted(Some(size), span))?;
        let mut buffer =
            self.buffer(if layout.slots > 1 { layout.class } else { Class::U8 }, layout.slots, span)?;
        let mut position: Vec<Code> = vec![Code::ZERO; clauses.len()];
        for (local, _) in clauses {
            frame[*local as usize] = Value::UNIT;
        }
        let mut last = Value::UNIT;
        loop {
            self.tick(span)?;
            last = match self.eval(body, frame)? {
                value if layout.slots > 1 => {
                    buffer.append(&value, element.slots);
                    last
                }
                // One slot or none in the whole: the element that has it.
                value if element.slots == layout.slots => value,
                _ => last,
            };
            if counts {
                self.machine.watch.advance();
            }
            let mut at = clauses.len();
            loop {
                if at == 0 {
                    return Ok(match layout.slots {
                        0 => Value::UNIT,
                        1 => last,
                        _ => Value::Seq(Seq::new(buffer)),
                    });
                }
                at -= 1;
                let (local, size) = &clauses[at];
                position[at] = position[at].add(&Code::Small(1));
                if position[at] < *size {
                    frame[*local as usize] = Value::code(position[at].clone());
                    break;
                }
                position[at] = Code::ZERO;
                frame[*local as usize] = Value::UNIT;
            }
        }
    }

    pub(super) fn block(&mut self, stmts: &[Statement], frame: &mut [Value]) -> Result<()> {
        for stmt in stmts {
            self.statement(stmt, frame)?;
        }
        Ok(())
    }

    /// A loop body, once. Whether the loop goes on.
    pub(super) fn round(&mut self, body: &[Statement], frame: &mut [Value], span: Span) -> Result<bool> {
        self.tick(span)?;
        match self.block(body, frame) {
            Ok(()) | Err(Stop::Continue) => Ok(true),
            Err(Stop::Break) => Ok(false),
            Err(stop) => Err(stop),
        }
    }

    /// The same in a loop that may count its rounds.
    fn counted_round(
        &mut self,
        body: &[Statement],
        frame: &mut [Value],
        span: Span,
        counts: bool,
    ) -> Result<bool> {
        let goes_on = self.round(body, frame, span)?;
        if counts {
            self.machine.watch.advance();
        }
        Ok(goes_on)
    }

    pub(super) fn set_cell(&mut self, cell: &Arc<Cell>, value: Value) {
        let old = cell.set(Some(value));
        // The oldest value is the one to go back to: later ones of the same cell need no note.
        if cell.first_in(self.machine.input) {
            self.machine.journal.push((cell.clone(), old));
        }
    }

    /// Takes the value of a variable that is assigned next.
    fn take_cell(&mut self, cell: &Arc<Cell>) -> Option<Value> {
        let value = cell.set(None)?;
        self.note(cell, &value);
        Some(value)
    }

    /// Notes the value of a variable that is about to be changed in place. The note shares its storage:
    /// the first change of an input copies, no later one.
    pub(super) fn note(&mut self, cell: &Arc<Cell>, value: &Value) {
        if cell.first_in(self.machine.input) {
            self.machine.journal.push((cell.clone(), Some(value.clone())));
        }
    }

    /// The next value of a variable: the one before may give its memory.
    fn replacement(&mut self, node: &Node, variable: Root, frame: &mut [Value]) -> Result<Value> {
        match &node.kind {
            Kind::Site(site) => self.term_site(site, frame, node.span, Some(variable)),
            _ => self.eval(node, frame),
        }
    }

    pub(super) fn statement(&mut self, stmt: &Statement, frame: &mut [Value]) -> Result<()> {
        let span = stmt.span;
        use StatementKind as S;
        match &stmt.kind {
            S::Let(pattern, node) => {
                let value = match pattern {
                    // In a loop, what it was in the round before is not read any more.
                    Pattern::Bind(local) => self.replacement(node, Root::Local(*local), frame)?,
                    _ => self.eval(node, frame)?,
                };
                if !fits(pattern, &value, frame) {
                    return Err(self.fail(Failure::NoMatch, span));
                }
            }
            S::SetLocal(local, node) => {
                frame[*local as usize] = self.replacement(node, Root::Local(*local), frame)?;
            }
            S::SetShared(local, node) => {
                let value = self.eval(node, frame)?;
                if let Value::Cell(cell) = &frame[*local as usize] {
                    let cell = cell.clone();
                    self.set_cell(&cell, value);
                }
            }
            S::SetGlobal(global, node) => {
                let value = self.replacement(node, Root::Global(*global), frame)?;
                let cell = self.machine.globals[*global as usize].clone();
                self.set_cell(&cell, value);
            }
            S::Store(store) => self.store(store, frame, span)?,
            S::Drop(locals) => locals.iter().for_each(|local| frame[*local as usize] = gone()),
            S::Expr(node) => {
                self.eval(node, frame)?;
            }
            S::If(condition, then, otherwise) => {
                let branch = if self.eval(condition, frame)?.as_bool() { then } else { otherwise };
                self.block(branch, frame)?;
            }
            S::Match(scrutinee, arms) => {
                let value = self.eval(scrutinee, frame)?;
                for (pattern, guard, body) in arms {
                    if fits(pattern, &value, frame) {
                        if let Some(guard) = guard
                            && !self.eval(guard, frame)?.as_bool()
                        {
                            continue;
                        }
                        drop(value);
                        return self.block(body, frame);
                    }
                }
                return Err(self.fail(Failure::NoMatch, span));
            }
            S::ForAll(local, size, body) => {
                self.counted(Some(size), span)?;
                self.watched(size.to_u64(), |run, counts| {
                    let mut code = Code::ZERO;
                    while code < *size {
                        frame[*local as usize] = Value::code(code.clone());
                        if !run.counted_round(body, frame, span, counts)? {
                            break;
                        }
                        code = code.add(&Code::Small(1));
                    }
                    Ok(())
                })?;
            }
            S::ForInts(local, low, high, inclusive, body) => {
                let low = self.eval(low, frame)?.as_int();
                let high = self.eval(high, frame)?.as_int();
                let total = u64::try_from(i128::from(high) - i128::from(low) + i128::from(*inclusive)).ok();
                self.watched(total, |run, counts| {
                    let mut i = low;
                    while i < high || (*inclusive && i == high) {
                        frame[*local as usize] = Value::int(i);
                        if !run.counted_round(body, frame, span, counts)? {
                            break;
                        }
                        match i.checked_add(1) {
                            Some(next) => i = next,
                            None => break,
                        }
                    }
                    Ok(())
                })?;
            }
            S::ForElements(local, array, slots, count, body) => {
                let array = self.eval(array, frame)?;
                self.watched(Some(*count as u64), |run, counts| {
                    for i in 0..*count {
                        let element =
                            if *count == 1 { array.clone() } else { array.slots(i * slots, *slots) };
                        frame[*local as usize] = element;
                        if !run.counted_round(body, frame, span, counts)? {
                            break;
                        }
                    }
                    Ok(())
                })?;
            }
            S::While(condition, body) => {
                while self.eval(condition, frame)?.as_bool() {
                    if !self.round(body, frame, span)? {
                        break;
                    }
                }
            }
            S::Break => return Err(Stop::Break),
            S::Continue => return Err(Stop::Continue),
            S::Return(node) => return Err(Stop::Return(self.eval(node, frame)?)),
            S::Open(code) => {
                self.open(code, frame, span)?;
            }
            S::Site(site) => self.loop_site(site, frame, span)?,
            S::Require(left, right, equation) => {
                [left, right].into_iter().try_for_each(|size| self.counted(Some(size), span))?;
                if left != right {
                    let (left, right) = (left.to_big(), right.to_big());
                    let failure = Failure::SizesDiffer { equation: equation.to_string(), left, right };
                    return Err(self.fail(failure, span));
                }
            }
        }
        Ok(())
    }

    /// Fails if a store into an array that lies in a file makes a copy for which there is no room.
    fn room_of_own(&self, root: &Value, store: &Store, span: Span) -> Result<()> {
        match root {
            Value::Seq(seq) if seq.is_foreign() => self.room(store.class, store.root_slots, span),
            _ => Ok(()),
        }
    }

    fn store(&mut self, store: &Store, frame: &mut [Value], span: Span) -> Result<()> {
        let mut start = 0usize;
        for step in &store.steps {
            start += match step {
                StoreStep::Offset(offset) => *offset,
                StoreStep::Index(index, stride) => self.eval(index, frame)?.word() as usize * stride,
            };
        }
        let mut parts: Vec<(&Layout, Code)> = Vec::new();
        for (layout, step) in &store.parts {
            let i = match step {
                PartStep::Factor(i) => i.clone(),
                PartStep::Digit(node) => self.eval(node, frame)?.to_code(),
            };
            parts.push((layout, i));
        }
        let value = self.eval(&store.value, frame)?;
        let shared = match &store.root {
            StoreRoot::Local(_) => None,
            StoreRoot::Shared(local) => match &frame[*local as usize] {
                Value::Cell(cell) => Some(cell.clone()),
                _ => None,
            },
            StoreRoot::Global(global) => Some(self.machine.globals[*global as usize].clone()),
        };
        match (shared, &store.root) {
            (Some(cell), _) => {
                let Some(mut root) = cell.get() else { return Ok(()) };
                self.room_of_own(&root, store, span)?;
                self.note(&cell, &root);
                cell.set(None);
                place(&mut root, start, &parts, value, store);
                cell.set(Some(root));
            }
            (None, StoreRoot::Local(local)) => {
                self.room_of_own(&frame[*local as usize], store, span)?;
                place(&mut frame[*local as usize], start, &parts, value, store);
            }
            _ => {}
        }
        Ok(())
    }
}

/// Moves a value out of its place.
fn take(place: &mut Value) -> Value {
    debug_assert!(!is_gone(place), "a local is moved twice");
    std::mem::replace(place, gone())
}

/// What a local holds whose value has been moved: where mistakes are looked for, something that is
/// no value of a program.
pub(super) fn gone() -> Value {
    #[cfg(debug_assertions)]
    return Value::Str(GONE.clone());
    #[cfg(not(debug_assertions))]
    Value::UNIT
}

#[cfg(debug_assertions)]
static GONE: std::sync::LazyLock<Arc<str>> = std::sync::LazyLock::new(|| "moved".into());

/// Whether it is that.
fn is_gone(value: &Value) -> bool {
    #[cfg(debug_assertions)]
    return matches!(value, Value::Str(text) if Arc::ptr_eq(text, &GONE));
    #[cfg(not(debug_assertions))]
    {
        let _ = value;
        false
    }
}

/// Writes a value into its place in a root.
fn place(root: &mut Value, start: usize, parts: &[(&Layout, Code)], value: Value, store: &Store) {
    let slots = store.place.slots;
    let value = if parts.is_empty() {
        value
    } else {
        let old = if store.root_slots == slots { root.clone() } else { root.slots(start, slots) };
        Value::code(replace(&old.to_code(), parts, &value.to_code()))
    };
    if slots == 0 {
        return;
    }
    if store.root_slots == slots {
        *root = value;
        return;
    }
    let Value::Seq(seq) = root else { return };
    let (buffer, at) = seq.slots_mut(start, slots, store.class);
    match &value {
        Value::Seq(source) if slots > 1 => {
            for i in 0..slots {
                buffer.set(at + i, source.get(i));
            }
        }
        one => buffer.set(at, one.clone()),
    }
}

/// A code with the part at the end of a path replaced.
fn replace(code: &Code, path: &[(&Layout, Code)], value: &Code) -> Code {
    let Some(((layout, i), rest)) = path.split_first() else { return value.clone() };
    let Some(compact) = layout.compact() else { return value.clone() };
    let inner = replace(&compact.encoding.project(code, i), rest, value);
    compact.encoding.replace(code, i, &inner)
}
