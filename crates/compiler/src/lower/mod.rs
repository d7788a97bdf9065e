//! Lowering: core → loop form.
//!
//! Takes a part of a program at concrete types; gives a [`Kernel`] and what to feed it, or
//! declines.
//!
//! **Method.** The part is run with registers for numbers. A value ([`AbstractValue`]) is what is
//! known of it when code is made: a register, parts, a stored array, a function. Functions are
//! therefore written out where they are called, projections of tuples cost nothing, and an array
//! that is built is only remembered ([`Aggregate::Built`]): its element is computed where it is
//! read. So producers run inside their consumers, `sum [ x.i * y.i for i in ..[I] ]` is one loop,
//! and a chain of maps is one map. An array is stored when it is a result, when it changes, or when
//! its elements would be computed more often than there are elements ([`use_counts`],
//! [`materialize`]).
//!
//! **Strictness.** Core computes every element of an array, one that nobody reads, too; if that
//! fails, the program fails. So an array whose elements may fail is left to be computed where it is
//! read only if that is certain to happen for each element ([`strictness`]).
//!
//! **Order.** Core is strict, and a failing element of an early array is reported before one of a
//! later array. Run inside one another they may fail in another order; therefore a kernel only says
//! *that* it failed, and the evaluator runs the part again to find the error.
//!
//! **What changes.** Variables of the part that are numbers become variables of the kernel; arrays
//! are changed in place. A value that still refers to such an array when it is stored into would
//! see the change, so the store refuses ([`Declined`]), and the part stays with the evaluator.
//!
//! **Sizes.** Types are concrete here, but a size above [`MAX_CONSTANT_SIZE`] is a parameter of the
//! kernel, so that all shapes of one program share one kernel ([`Kernel::key`]).
//!
//! Declines strings, big integers, variants, arrays of sums with arguments, codes beyond 64
//! bits, recursion, output, and parts that would become too long. Never evaluates anything.

mod array;
mod bigint_range;
mod declined;
mod function;
mod index_algebra;
mod materialize;
mod mutation;
mod operator;
mod pattern;
mod prim;
mod reduce;
mod stmt;
mod strictness;
mod term;
mod unboxed_sum;
mod use_counts;

use crate::core::free_variables::{FreeVariables, changed_by};
use crate::core::{FunctionId, KnownValue, LocalInfo, Program, Root, Term};
use crate::hash::{HashMap, HashSet};
use crate::kernel::{CompilationUnit, Input, Region};
use crate::layout::{Form, Layout, Layouts, Leaf, TOO_MANY_SLOTS};
use crate::loop_ir::{
    Array, Binary, Id, Kernel, Label, MAX_CONSTANT_SIZE, MAX_STACK_SLOTS, Op, Origin, Reg, ScalarType, Stmt,
    Unary, Var,
};
use crate::types::encoding::Code;
use crate::types::{Scalar, Type, TypeKind};
use crate::value::Class;
pub use declined::{Declined, UnexpectedForm, UnsupportedConstruct, UnsupportedType};
use num_traits::One;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

/// Statements of the longest kernel.
const MAX_STATEMENTS: usize = 12_000;

/// Steps that all attempts at a part may take together: terms met, and parts of values looked at.
/// Values that are shared many times are small to hold and may be without end to write out.
const MAX_STEPS: u64 = 400_000;

/// Attempts at lowering a unit.
const MAX_ATTEMPTS: usize = 16;

/// Slots of the smallest tuple, record or struct whose components are inputs of their own.
const MIN_SEPARATED_SLOTS: usize = 64;

/// Components of the largest one.
const MAX_SEPARATED_PARTS: usize = 64;

/// Height of the tallest type whose components are inputs of their own. Taller ones are made by
/// polymorphic recursion, where each would be looked for among all of the others.
const MAX_SEPARATED_DEPTH: u32 = 64;

type Result<T> = std::result::Result<T, Declined>;

/// The source of a result among those of a kernel.
#[derive(Clone, Debug, PartialEq)]
pub enum ResultSource {
    /// Declined slot.
    Unit,
    /// One of [`Kernel::scalar_results`].
    Word(usize),
    /// A result array, by its number, with the class of its slots.
    Array(u32, Class),
    /// A variable that was changed in place, by its number.
    Changed(usize),
    /// Parts of a tuple.
    Parts(Vec<ResultSource>, Class),
}

/// A part as loops, and how to feed it.
#[derive(Debug)]
pub struct Lowered {
    /// The loops.
    pub kernel: Kernel,
    /// Statements in them, about.
    pub statements: usize,
    /// The inputs; the first ones are the variables that change.
    pub inputs: Vec<Input>,
    /// The binding of each input.
    pub bindings: Vec<InputBinding>,
    /// Variables that change.
    pub changes: Vec<Root>,
    /// The results: of a term, one; of a loop, one for each variable.
    pub results: Vec<ResultSource>,
    /// Class of each result array.
    pub classes: Vec<Class>,
}

/// The way in which an input reaches the kernel.
#[derive(Clone, Debug, PartialEq)]
pub enum InputBinding {
    /// Not at all.
    Nothing,
    /// As a scalar; a code, below this size.
    Scalar(u32, Option<u64>),
    /// As an array of slots of this class, to be read.
    Read(Array, Class),
    /// As an array of slots of this class, to be changed.
    Change(Array, Class),
}

/// A value as the lowering knows it.
#[derive(Clone)]
pub(crate) enum AbstractValue<'a> {
    /// Declined slot.
    Unit,
    /// One slot.
    Word(Reg),
    /// Components in order; of an array, too.
    Parts(Rc<Vec<AbstractValue<'a>>>),
    /// Two or more slots.
    Array(Rc<Aggregate<'a>>),
    /// A sum with arguments: the number of the case, and an argument for each.
    Sum(Reg, Rc<Vec<AbstractValue<'a>>>),
    /// A function.
    Fun(Rc<FunctionValue<'a>>),
}

/// An aggregate that is not written out.
pub(crate) enum Aggregate<'a> {
    /// Slots of an array from one on. `changing`: it may be stored into while this is alive.
    Stored { array: Array, base: Reg, changing: bool },
    /// `[ body for … ]`, computed where it is read.
    /// `still`: nothing that its frame holds refers to an array that changes.
    Built { clauses: Vec<(u32, Type)>, body: &'a Term, frame: Frame<'a>, number: usize, still: bool },
    /// Either, by a condition.
    Choice(Reg, AbstractValue<'a>, AbstractValue<'a>),
    /// The slots of another value, from one on, seen at another type.
    View { of: AbstractValue<'a>, ty: Type, start: Reg },
    /// Zeros: what stands where nothing is ever computed.
    Zero,
}

/// A function as a value.
pub(crate) struct FunctionValue<'a> {
    function: FunctionId,
    type_args: Vec<Type>,
    captures: Vec<AbstractValue<'a>>,
}

/// A variable that changes.
#[derive(Clone, Debug)]
pub(crate) enum Place {
    Unit,
    Var(Var),
    Parts(Rc<Vec<Place>>),
    /// The case of a sum, and a place for the argument of each.
    Sum(Var, Rc<Vec<Place>>),
    /// Slots of an array from one on.
    Memory(Array, Reg),
}

/// The value or place of a local.
#[derive(Clone)]
pub(crate) enum Binding<'a> {
    Value(AbstractValue<'a>),
    Place(Place),
}

/// The locals of a function that is being written out.
#[derive(Clone)]
pub(crate) struct Frame<'a> {
    locals: Locals<'a>,
    infos: Rc<BodyFacts<'a>>,
    /// The target of `return`.
    exit: Option<Rc<Exit>>,
    /// The innermost loop.
    around: Option<Label>,
    /// True if it is the body that the part itself belongs to.
    outermost: bool,
}

/// The bindings of the locals of a body, by their numbers. An array remembers few of the many
/// that a body may have.
#[derive(Clone, Default)]
pub(crate) struct Locals<'a>(BTreeMap<u32, Binding<'a>>);

impl<'a> Locals<'a> {
    /// The binding of a local.
    pub fn get(&self, local: u32) -> Option<&Binding<'a>> {
        self.0.get(&local)
    }

    /// Binds a local.
    pub fn set(&mut self, local: u32, bind: Binding<'a>) {
        self.0.insert(local, bind);
    }

    /// Forgets what is an array that is now changed under another name.
    pub fn forget(&mut self, array: Array) {
        self.0.retain(|_, bind| match bind {
            Binding::Value(AbstractValue::Array(stored)) => {
                !matches!(**stored, Aggregate::Stored { array: of, .. } if of == array)
            }
            _ => true,
        });
    }

    /// The bound locals with their bindings.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &Binding<'a>)> {
        self.0.iter().map(|(local, bind)| (*local, bind))
    }

    /// The number of bound locals.
    pub fn len(&self) -> usize {
        self.0.len()
    }
}

pub(crate) struct BodyFacts<'a> {
    /// The locals that the body stores into, anywhere.
    stored: BTreeSet<u32>,
    locals: &'a [LocalInfo],
    types: HashMap<u32, Type>,
    /// Types of the body by their address, each with what it is here: most are asked for many
    /// times.
    known: RefCell<HashMap<usize, (Type, Type)>>,
}

impl<'a> BodyFacts<'a> {
    fn new(locals: &'a [LocalInfo], types: HashMap<u32, Type>, stored: BTreeSet<u32>) -> BodyFacts<'a> {
        BodyFacts { stored, locals, types, known: RefCell::default() }
    }
}

pub(crate) struct Exit {
    label: Label,
    place: Place,
    ty: Type,
}

/// The result of folding an operation on constants.
enum Folded {
    Constant(u64),
    Operand(Reg),
}

/// A list of statements under construction.
#[derive(Default)]
struct OpenBlock {
    stmts: Vec<Stmt>,
    /// Operations computed here, with their registers.
    computed: HashMap<Op, Reg>,
    /// Slots that have been read here, since something was written.
    read: HashMap<Op, Reg>,
}

/// A part of a code, as division gives it.
struct Digit {
    /// The whole code.
    code: Reg,
    /// The position among the parts.
    at: usize,
    /// The sizes of all parts.
    sizes: Vec<u64>,
}

pub(crate) struct Lower<'a> {
    unit: &'a CompilationUnit<'a>,
    program: &'a Program,
    layouts: &'a Layouts,
    kernel: Kernel,
    /// Lists of statements under construction, innermost last.
    open: Vec<OpenBlock>,
    /// Statements made so far.
    made: usize,
    /// Steps that are left for this attempt and those after it.
    steps: Rc<Cell<u64>>,
    /// The locals that bodies of arrays mention, by the address of the body.
    free: HashMap<usize, Rc<BTreeSet<u32>>>,
    /// Layouts of types whose values can be held.
    held: RefCell<HashMap<Type, Arc<Layout>>>,
    constants: HashMap<Reg, u64>,
    /// Bounds of registers that hold big integers.
    ranges: HashMap<Reg, crate::core::integer_range::Range>,
    /// Facts about slot numbers and codes.
    facts: index_algebra::IndexFacts,
    /// The arrays under construction that are computed as a whole.
    strict: strictness::Strictness<'a>,
    /// Counters of how often arrays are computed.
    repeat: materialize::Materialization,
    /// Codes that were packed, with their parts and the sizes of these.
    packed: HashMap<Reg, (Vec<AbstractValue<'a>>, Vec<u64>)>,
    /// Codes that were taken apart by division.
    divided: HashSet<Reg>,
    /// Parts of codes that were taken apart by division.
    parts: HashMap<Reg, Digit>,
    inputs: Vec<Input>,
    bindings: Vec<InputBinding>,
    known: Vec<(Input, AbstractValue<'a>)>,
    globals: HashMap<u32, Place>,
    /// A cache of the variables and functions that bodies of functions mention.
    mentioned: RefCell<HashMap<FunctionId, Rc<FreeVariables>>>,
    /// An array that changes, which is being assigned and is given to a function: nobody else looks
    /// at it.
    moving: Option<Array>,
    /// Functions being written out.
    calls: Vec<FunctionId>,
    /// Facts about bodies of functions at types.
    instances: HashMap<(FunctionId, Vec<Type>), Rc<BodyFacts<'a>>>,
    /// Inside a round that may run at the same time as others.
    in_each: bool,
    /// Inside the body of a reduction in lanes.
    in_reduce: bool,
    /// Classes of the result arrays.
    classes: Vec<Class>,
    /// Variables that change.
    changes: Vec<Root>,
    /// The results so far.
    results: Vec<ResultSource>,
}

/// The loops of a part.
pub fn lower<'a>(unit: &'a CompilationUnit<'a>) -> std::result::Result<Lowered, Declined> {
    let mut at_once = BTreeSet::new();
    // What would do, though an array is computed more often than needed.
    let mut so_far = None;
    let steps = Rc::new(Cell::new(MAX_STEPS));
    for _ in 0..MAX_ATTEMPTS {
        let mut lower = Lower::new(unit, at_once.clone(), steps.clone());
        let result = lower.attempt();
        let repeated = lower.repeat.worth_storing().filter(|number| !at_once.contains(number));
        let next = match result.and_then(|()| lower.unread()) {
            Ok(unread) => {
                if unread.is_none() {
                    so_far = Some(lower.done());
                }
                unread.or(repeated)
            }
            Err(Declined::Stopped) => return Err(Declined::Stopped),
            Err(Declined::TooLong) if so_far.is_none() && steps.get() > 0 => repeated,
            Err(no) => return so_far.ok_or(no),
        };
        match next {
            Some(number) => at_once.insert(number),
            None => return so_far.ok_or(Declined::TooLong),
        };
    }
    so_far.ok_or(Declined::Construct(UnsupportedConstruct::ManyStrictArrays))
}

impl<'a> Lower<'a> {
    fn new(unit: &'a CompilationUnit<'a>, at_once: BTreeSet<usize>, steps: Rc<Cell<u64>>) -> Lower<'a> {
        Lower {
            unit,
            program: unit.program,
            layouts: unit.layouts,
            kernel: Kernel::default(),
            open: vec![OpenBlock::default()],
            made: 0,
            steps,
            free: HashMap::default(),
            held: RefCell::default(),
            constants: HashMap::default(),
            ranges: HashMap::default(),
            facts: index_algebra::IndexFacts::default(),
            strict: strictness::Strictness::new(at_once),
            repeat: materialize::Materialization::new(),
            packed: HashMap::default(),
            divided: HashSet::default(),
            parts: HashMap::default(),
            inputs: Vec::new(),
            bindings: Vec::new(),
            known: Vec::new(),
            globals: HashMap::default(),
            mentioned: RefCell::default(),
            moving: None,
            calls: Vec::new(),
            instances: HashMap::default(),
            in_each: false,
            in_reduce: false,
            classes: Vec::new(),
            changes: Vec::new(),
            results: Vec::new(),
        }
    }

    /// Lowers the part.
    fn attempt(&mut self) -> Result<()> {
        let unit = self.unit;
        let stored = match unit.region {
            Region::Term(term) => use_counts::stored(&[], Some(term)),
            Region::Loop(stmt) => use_counts::stored(std::slice::from_ref(stmt), None),
        };
        let mut frame = Frame {
            locals: Locals::default(),
            infos: Rc::new(BodyFacts::new(unit.locals, HashMap::default(), stored)),
            exit: None,
            around: None,
            outermost: true,
        };
        match unit.region {
            Region::Term(term) => {
                let ty = self.ty(&frame, &term.ty);
                let value = self.term(term, &mut frame)?;
                self.few_leaves(&value)?;
                let result = self.give(&value, &ty)?;
                self.results.push(result);
            }
            Region::Loop(stmt) => {
                self.changes = changed_by(stmt);
                let mut places = Vec::new();
                for root in self.changes.clone() {
                    places.push(self.changed(root, &mut frame)?);
                }
                self.statement(stmt, &mut frame)?;
                for (number, place) in places.iter().enumerate() {
                    let result = self.give_place(place, number)?;
                    self.results.push(result);
                }
            }
        }
        Ok(())
    }

    /// The finished loops.
    fn done(mut self) -> Lowered {
        self.kernel.body = self.open.pop().expect("a block is open").stmts;
        self.kernel.constants = self.constants;
        // An input that is not read may be large, and in another form than a kernel reads.
        let mut read: HashSet<Array> = HashSet::default();
        crate::loop_ir::for_each_stmt(&self.kernel.body, &mut |stmt| read.extend(stmt.arrays()));
        for binding in &mut self.bindings {
            if matches!(binding, InputBinding::Read(array, _) if !read.contains(array)) {
                *binding = InputBinding::Nothing;
            }
        }
        let Lower { kernel, made: statements, inputs, bindings, changes, results, classes, .. } = self;
        Lowered { kernel, statements, inputs, bindings, changes, results, classes }
    }
}

/// The type of a register for one slot.
pub(crate) fn word(leaf: &Leaf) -> Result<ScalarType> {
    Ok(match leaf {
        Leaf::Code(size) if *size <= Code::Wide(1 << 64) => ScalarType::I64,
        Leaf::Code(_) => return Err(Declined::Type(UnsupportedType::WideCode)),
        Leaf::Scalar(Scalar::Int) => ScalarType::I64,
        Leaf::Scalar(Scalar::Real) => ScalarType::F64,
        Leaf::Scalar(Scalar::Single) => ScalarType::F32,
        Leaf::Scalar(Scalar::Char) => ScalarType::I32,
        Leaf::Scalar(Scalar::Fixed(fixed)) => match fixed.shape().0 {
            8 => ScalarType::I8,
            16 => ScalarType::I16,
            32 => ScalarType::I32,
            _ => ScalarType::I64,
        },
        Leaf::Scalar(Scalar::Bigint) => return Err(Declined::Type(UnsupportedType::BigInteger)),
        Leaf::Scalar(Scalar::String) => return Err(Declined::Type(UnsupportedType::String)),
    })
}

/// The types of the parts of a large tuple, record or struct; `None` for any other type, or one
/// with too many parts.
pub(crate) fn separable_types(ty: &Type, layout: &Layout) -> Option<Vec<Type>> {
    let Form::Parts(parts) = &layout.form else { return None };
    let tall = ty.depth() > MAX_SEPARATED_DEPTH;
    if tall || layout.slots < MIN_SEPARATED_SLOTS || parts.len() > MAX_SEPARATED_PARTS {
        return None;
    }
    ty.unfold().components(MAX_SEPARATED_PARTS).filter(|types| types.len() == parts.len())
}

/// The exclusive upper bound of the codes in a slot; `None` if it holds no codes, or every word is
/// one.
pub(crate) fn codes_below(leaf: &Leaf) -> Option<u64> {
    match leaf {
        Leaf::Code(size) => size.to_u64(),
        Leaf::Scalar(_) => None,
    }
}

/// A type as its values are stored: newtypes unfolded, arrays of one element that element.
pub(crate) fn bare(ty: &Type) -> Type {
    let mut ty = ty.unfold();
    loop {
        let TypeKind::Array(element, index) = ty.kind() else { return ty };
        match index.size() {
            Ok(size) if size.is_one() => ty = element.unfold(),
            _ => return ty,
        }
    }
}

impl<'a> Lower<'a> {
    // ---- types -----------------------------------------------------------------------------

    /// A type of a body at concrete types, as values are stored.
    pub(crate) fn ty(&self, frame: &Frame<'_>, ty: &Type) -> Type {
        let infos = &*frame.infos;
        if let Some((_, known)) = infos.known.borrow().get(&ty.address()) {
            return known.clone();
        }
        let here =
            if ty.has_var() && !infos.types.is_empty() { ty.substitute(&infos.types) } else { ty.clone() };
        let here = bare(&(self.unit.concrete)(&here));
        infos.known.borrow_mut().insert(ty.address(), (ty.clone(), here.clone()));
        here
    }

    pub(crate) fn layout(&self, ty: &Type) -> Arc<Layout> {
        self.layouts.of(ty)
    }

    /// The layout of a type whose values can be held; how many slots, and their class.
    pub(crate) fn stored(&self, ty: &Type) -> Result<Arc<Layout>> {
        fn held(layout: &Layout) -> Result<()> {
            match &layout.form {
                Form::Compact(_) | Form::Scalar(_) => match layout.leaf() {
                    Some(leaf) => word(&leaf).map(|_| ()),
                    None => Ok(()),
                },
                Form::Parts(parts) => parts.iter().try_for_each(|(_, part)| held(part)),
                Form::Array { element, .. } => held(element),
                Form::Sum(_) => match layout.leaf() {
                    Some(leaf) => word(&leaf).map(|_| ()),
                    None if layout.slots == 0 => Ok(()),
                    None => Err(Declined::Type(UnsupportedType::SumWithArguments)),
                },
                Form::Variant => Err(Declined::Type(UnsupportedType::Variant)),
                Form::Function => Err(Declined::Type(UnsupportedType::FunctionInData)),
                Form::Packed => Err(Declined::Type(UnsupportedType::SizesInData)),
            }
        }
        if let Some(known) = self.held.borrow().get(ty) {
            return Ok(known.clone());
        }
        if ty.has_var() {
            return Err(Declined::Construct(UnsupportedConstruct::UnknownSize));
        }
        let layout = self.layout(ty);
        if layout.slots == TOO_MANY_SLOTS || layout.slots > 1 << 48 {
            return Err(Declined::Type(UnsupportedType::TooManySlots));
        }
        held(&layout)?;
        self.held.borrow_mut().insert(ty.clone(), layout.clone());
        Ok(layout)
    }

    /// The number of values of an index type.
    pub(crate) fn count(&self, ty: &Type) -> Result<u64> {
        if ty.has_var() {
            return Err(Declined::Construct(UnsupportedConstruct::UnknownSize));
        }
        let layout = self.layout(ty);
        let size = layout.compact().and_then(|c| c.size.to_u64());
        size.filter(|n| *n < 1 << 62).ok_or(Declined::Type(UnsupportedType::WideIndex))
    }

    // ---- bounds ----------------------------------------------------------------------------

    /// One step more. Whatever calls itself on terms or on parts of values begins with it.
    pub(crate) fn step(&self) -> Result<()> {
        self.steps_of(1)
    }

    /// So many steps more.
    pub(crate) fn steps_of(&self, count: usize) -> Result<()> {
        if !(self.unit.may_continue)() {
            return Err(Declined::Stopped);
        }
        let left = self.steps.get().checked_sub(count as u64);
        self.steps.set(left.unwrap_or(0));
        left.map(|_| ()).ok_or(Declined::TooLong)
    }

    /// The locals that the body of an array mentions.
    pub(crate) fn free(&mut self, body: &'a Term) -> Result<Rc<BTreeSet<u32>>> {
        let at = std::ptr::from_ref(body).addr();
        if let Some(known) = self.free.get(&at) {
            return Ok(known.clone());
        }
        self.steps_of(use_counts::terms(body) / 8)?;
        let found = Rc::new(use_counts::locals(body));
        self.free.insert(at, found.clone());
        Ok(found)
    }

    /// Declines a value of more parts than a kernel may have statements: each would be written out
    /// by one. Parts that are shared are counted as often as they stand there, and looked at once.
    pub(crate) fn few_leaves(&self, value: &AbstractValue<'a>) -> Result<()> {
        fn leaves<'a>(
            value: &AbstractValue<'a>,
            known: &mut HashMap<*const Vec<AbstractValue<'a>>, usize>,
        ) -> usize {
            let (AbstractValue::Parts(parts) | AbstractValue::Sum(_, parts)) = value else { return 1 };
            let at = Rc::as_ptr(parts);
            if let Some(count) = known.get(&at) {
                return *count;
            }
            let count = parts.iter().fold(0usize, |all, part| all.saturating_add(leaves(part, known)));
            known.insert(at, count);
            count
        }
        match value {
            AbstractValue::Parts(_) if leaves(value, &mut HashMap::default()) > MAX_STATEMENTS => {
                Err(Declined::TooLong)
            }
            _ => Ok(()),
        }
    }

    // ---- statements ------------------------------------------------------------------------

    pub(crate) fn emit(&mut self, stmt: Stmt) -> Result<()> {
        self.made += 1;
        if self.made > MAX_STATEMENTS {
            return Err(Declined::TooLong);
        }
        if let Some(open) = self.open.last_mut() {
            // It may write to any array.
            if !matches!(stmt, Stmt::Let(..)) {
                open.read.clear();
            }
            open.stmts.push(stmt);
        }
        Ok(())
    }

    /// The statements that `work` makes, by themselves.
    pub(crate) fn block<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<(Vec<Stmt>, T)> {
        self.open.push(OpenBlock::default());
        let done = work(self);
        let stmts = self.open.pop().expect("a block is open").stmts;
        Ok((stmts, done?))
    }

    pub(crate) fn reg(&mut self, ty: ScalarType) -> Reg {
        self.kernel.regs.push(ty)
    }

    pub(crate) fn type_of(&self, reg: Reg) -> ScalarType {
        self.kernel.regs[reg]
    }

    /// The register that has been set so, or else a note that the next one will be.
    fn computed(&mut self, op: &Op) -> Option<Reg> {
        let changes = |array: &Array| !matches!(self.kernel.arrays[*array].origin, Origin::Input(_));
        let passing = match op {
            Op::Get(_) => return None,
            Op::Load(array, ..) => changes(array),
            _ => false,
        };
        let (here, around) = self.open.split_last_mut()?;
        let known = if passing { &mut here.read } else { &mut here.computed };
        let found = match known.get(op) {
            None if !passing => around.iter().find_map(|open| open.computed.get(op)),
            found => found,
        };
        let found = found.copied();
        if found.is_none() {
            known.insert(op.clone(), Reg::new(self.kernel.regs.len()));
        }
        found
    }

    /// A register that is set so, maybe one that has been.
    pub(crate) fn set(&mut self, ty: ScalarType, op: Op) -> Result<Reg> {
        match self.folded(ty, &op) {
            Some(Folded::Constant(n)) => return self.int(n),
            Some(Folded::Operand(reg)) => return Ok(reg),
            None => {}
        }
        self.repeat.set(ty, &op);
        if let Some(known) = self.computed(&op) {
            return Ok(known);
        }
        let reg = self.reg(ty);
        if let Op::Const(ty, bits) = op {
            self.constants.insert(reg, bits);
            if ty == ScalarType::I64 {
                self.facts.is(reg, bits);
            }
        }
        self.emit(Stmt::Let(reg, op))?;
        Ok(reg)
    }

    /// The result of an operation on words whose operands are constants (constant folding).
    fn folded(&self, ty: ScalarType, op: &Op) -> Option<Folded> {
        match *op {
            Op::Unary(Unary::Neg, a) if ty == ScalarType::I64 => {
                Some(Folded::Constant((self.known(a)? as i64).wrapping_neg() as u64))
            }
            Op::Compare(compare, a, b) if self.type_of(a) == ScalarType::I64 => {
                let (a, b) = (self.known(a)?, self.known(b)?);
                Some(Folded::Constant(u64::from(compare.holds(a, b))))
            }
            Op::Select(condition, a, b) => {
                Some(Folded::Operand(if self.known(condition)? != 0 { a } else { b }))
            }
            _ => None,
        }
    }

    pub(crate) fn constant(&mut self, ty: ScalarType, bits: u64) -> Result<Reg> {
        self.set(ty, Op::Const(ty, bits))
    }

    pub(crate) fn int(&mut self, n: u64) -> Result<Reg> {
        self.constant(ScalarType::I64, n)
    }

    /// A size: a constant if it is small.
    pub(crate) fn size(&mut self, n: u64) -> Result<Reg> {
        if n <= MAX_CONSTANT_SIZE {
            return self.int(n);
        }
        let number = self.kernel.size_number(n);
        let reg = self.set(ScalarType::I64, Op::Size(number))?;
        self.facts.is(reg, n);
        Ok(reg)
    }

    pub(crate) fn known(&self, reg: Reg) -> Option<u64> {
        self.constants.get(&reg).copied()
    }

    /// An operation on slot numbers and codes, simplified where an operand is 0 or 1.
    pub(crate) fn binary(&mut self, op: Binary, a: Reg, b: Reg) -> Result<Reg> {
        let ty = self.type_of(a);
        if ty == ScalarType::I64 {
            match (op, self.known(a), self.known(b)) {
                (Binary::Add, Some(x), Some(y)) => return self.int(x.wrapping_add(y)),
                (Binary::Sub, Some(x), Some(y)) => return self.int(x.wrapping_sub(y)),
                (Binary::Mul, Some(x), Some(y)) => return self.int(x.wrapping_mul(y)),
                (Binary::Add, Some(0), _) => return Ok(b),
                (Binary::Add | Binary::Sub, _, Some(0)) => return Ok(a),
                (Binary::Mul, Some(1), _) => return Ok(b),
                (Binary::Mul | Binary::DivUnsigned | Binary::DivSigned, _, Some(1)) => return Ok(a),
                (Binary::Mul, Some(0), _) => return Ok(a),
                (Binary::Mul, _, Some(0)) => return Ok(b),
                (Binary::RemUnsigned, _, Some(1)) => return self.int(0),
                _ => {}
            }
            if let Some(simpler) = self.facts.simpler(op, a, b) {
                return self.simplified(simpler);
            }
            if matches!(op, Binary::DivUnsigned | Binary::RemUnsigned) {
                self.divided.insert(a);
            }
        }
        let result = self.set(ty, Op::Binary(op, a, b))?;
        if ty == ScalarType::I64 {
            self.facts.note(op, a, b, result);
        }
        Ok(result)
    }

    fn simplified(&mut self, simpler: index_algebra::Simpler) -> Result<Reg> {
        match simpler {
            index_algebra::Simpler::Sum(sum) => self.sum(&sum),
            index_algebra::Simpler::Of { op, sum, by, weight, plus } => {
                let (sum, by) = (self.sum(&sum)?, self.size(by)?);
                let part = self.binary(op, sum, by)?;
                let weight = self.size(weight)?;
                let part = self.binary(Binary::Mul, part, weight)?;
                let plus = self.sum(&plus)?;
                self.binary(Binary::Add, part, plus)
            }
        }
    }

    /// A number made of digits, as a register. The digit of weight 1 comes last: it is often the
    /// innermost index.
    fn sum(&mut self, sum: &index_algebra::Sum) -> Result<Reg> {
        let mut all = self.size(sum.rest)?;
        let mut digits = sum.digits.clone();
        digits.sort_by_key(|(_, weight)| std::cmp::Reverse(*weight));
        for (digit, weight) in digits {
            let weight = self.size(weight)?;
            let part = self.binary(Binary::Mul, digit, weight)?;
            all = self.binary(Binary::Add, all, part)?;
        }
        Ok(all)
    }

    pub(crate) fn label(&mut self) -> Label {
        self.kernel.new_label()
    }

    pub(crate) fn var(&mut self, ty: ScalarType) -> Var {
        self.kernel.vars.push(ty)
    }

    /// Returns true if the next statement may be a parallel one: it stands at the top of the kernel
    /// or in statements that run in order.
    pub(crate) fn may_be_parallel(&self) -> bool {
        !self.in_each && !self.in_reduce
    }

    /// The statements of the body of a reduction in lanes.
    pub(crate) fn reduce_body<T>(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<(Vec<Stmt>, T)> {
        let outer = std::mem::replace(&mut self.in_reduce, true);
        let done = self.block(work);
        self.in_reduce = outer;
        done
    }

    // ---- what is given and what is made ------------------------------------------------------

    pub(crate) fn array(&mut self, origin: Origin, class: Class, slots: u64) -> Result<Array> {
        let width = match class {
            Class::Wide | Class::Any => return Err(Declined::Type(UnsupportedType::WideSlot)),
            class => class.bytes() as u8,
        };
        Ok(self.kernel.add_array(origin, width, slots))
    }

    /// An array to work in, of as many slots as a type has.
    pub(crate) fn scratch(&mut self, layout: &Layout) -> Result<Array> {
        self.working(layout.class, layout.slots as u64)
    }

    /// An array to work in. Rounds that may run at the same time have each their own.
    pub(crate) fn working(&mut self, class: Class, slots: u64) -> Result<Array> {
        let origin = match self.in_each {
            false => Origin::Scratch,
            true if slots <= MAX_STACK_SLOTS => Origin::stack(slots),
            true => Origin::ThreadLocal,
        };
        self.array(origin, class, slots)
    }

    fn result_array(&mut self, layout: &Layout) -> Result<Array> {
        let number = self.classes.len() as u32;
        self.classes.push(layout.class);
        self.array(Origin::Result(number), layout.class, layout.slots as u64)
    }

    /// Makes a value of the part's a result.
    fn give(&mut self, value: &AbstractValue<'a>, ty: &Type) -> Result<ResultSource> {
        self.step()?;
        let layout = self.stored(ty)?;
        match (layout.slots, value) {
            (0, _) => Ok(ResultSource::Unit),
            (1, _) => {
                let reg = self.as_word(value, ty)?;
                self.kernel.scalar_results.push(reg);
                Ok(ResultSource::Word(self.kernel.scalar_results.len() - 1))
            }
            (_, AbstractValue::Parts(parts)) => {
                let types =
                    ty.components(parts.len()).ok_or(Declined::Form(UnexpectedForm::PartsWithoutTypes))?;
                let mut given = Vec::new();
                for (part, ty) in parts.iter().zip(types) {
                    given.push(self.give(part, &bare(&ty))?);
                }
                Ok(ResultSource::Parts(given, layout.class))
            }
            (slots, AbstractValue::Array(aggregate))
                if self.is_scratch(aggregate, slots as u64, layout.class) =>
            {
                // What was made to work in is the result.
                let Aggregate::Stored { array, .. } = **aggregate else {
                    return Err(Declined::Form(UnexpectedForm::NoStoredArray));
                };
                let number = self.classes.len() as u32;
                self.classes.push(layout.class);
                self.kernel.arrays[array].origin = Origin::Result(number);
                Ok(ResultSource::Array(number, layout.class))
            }
            _ => {
                let array = self.result_array(&layout)?;
                let base = self.int(0)?;
                self.fill(array, base, value, ty)?;
                let number = self.classes.len() as u32 - 1;
                Ok(ResultSource::Array(number, layout.class))
            }
        }
    }

    /// Returns true if an aggregate is all of an array to work in.
    fn is_scratch(&self, aggregate: &Aggregate<'a>, slots: u64, class: Class) -> bool {
        let Aggregate::Stored { array, base, .. } = aggregate else { return false };
        let info = self.kernel.arrays[*array];
        info.origin == Origin::Scratch
            && self.known(*base) == Some(0)
            && self.kernel.slots[*array] == slots
            && u64::from(info.width) == class.bytes()
    }

    /// The value of a variable outside, or of what a function captured there.
    pub(crate) fn input(&mut self, input: Input, ty: &Type, shape: &KnownValue) -> Result<AbstractValue<'a>> {
        if let Some((_, value)) = self.known.iter().find(|(known, _)| *known == input) {
            return Ok(value.clone());
        }
        let value = match shape {
            KnownValue::Function(function, type_args, captured) => {
                let body = self.function(*function)?;
                let types = body.type_params.iter().map(|p| p.id).zip(type_args.iter().cloned()).collect();
                let mut captures = Vec::new();
                for (i, (local, shape)) in body.captures.iter().zip(captured).enumerate() {
                    let info = body
                        .locals
                        .get(*local as usize)
                        .ok_or(Declined::Form(UnexpectedForm::CaptureWithoutType))?;
                    if info.shared {
                        return Err(Declined::Construct(UnsupportedConstruct::SharedVariable));
                    }
                    let ty = bare(&(self.unit.concrete)(&info.ty.substitute(&types)));
                    let mut path = input.path.clone();
                    path.push(i);
                    captures.push(self.input(Input { path, ..Input::whole(input.root) }, &ty, shape)?);
                }
                AbstractValue::Fun(Rc::new(FunctionValue {
                    function: *function,
                    type_args: type_args.clone(),
                    captures,
                }))
            }
            KnownValue::Data => {
                let layout = self.stored(ty)?;
                if let Some(parts) = self.separate_parts(&input, ty, &layout)? {
                    self.known.push((input, parts.clone()));
                    return Ok(parts);
                }
                match layout.slots {
                    0 => AbstractValue::Unit,
                    1 => {
                        let leaf = layout.leaf().ok_or(Declined::Form(UnexpectedForm::UnknownSlot))?;
                        let ty = word(&leaf)?;
                        self.kernel.scalars.push(ty);
                        let scalar = self.kernel.scalars.len() as u32 - 1;
                        self.inputs.push(input.clone());
                        self.bindings.push(InputBinding::Scalar(scalar, codes_below(&leaf)));
                        AbstractValue::Word(self.at_start(ty, Op::Scalar(scalar))?)
                    }
                    slots => {
                        let number = self.inputs.len() as u32;
                        let array = self.array(Origin::Input(number), layout.class, slots as u64)?;
                        self.inputs.push(input.clone());
                        self.bindings.push(InputBinding::Read(array, layout.class));
                        let base = self.at_start(ScalarType::I64, Op::Const(ScalarType::I64, 0))?;
                        AbstractValue::Array(Rc::new(Aggregate::Stored { array, base, changing: false }))
                    }
                }
            }
        };
        self.known.push((input, value.clone()));
        Ok(value)
    }

    /// The components of a large tuple, record or struct as inputs of their own; `None` for any
    /// other value. Fields are stored in memory of their own, and those that nothing reads are not
    /// bound ([`Lower::done`]).
    fn separate_parts(
        &mut self,
        input: &Input,
        ty: &Type,
        layout: &Layout,
    ) -> Result<Option<AbstractValue<'a>>> {
        let (Form::Parts(parts), Some(types)) = (&layout.form, separable_types(ty, layout)) else {
            return Ok(None);
        };
        let begin = input.part.map_or(0, |(start, _)| start);
        let mut values = Vec::new();
        for ((start, layout), ty) in parts.iter().zip(&types) {
            let part = Some((begin + start, layout.slots));
            let ty = bare(&(self.unit.concrete)(ty));
            values.push(self.input(Input { part, ..input.clone() }, &ty, &KnownValue::Data)?);
        }
        Ok(Some(AbstractValue::Parts(Rc::new(values))))
    }

    /// A register set before everything else: it is known wherever it is read.
    fn at_start(&mut self, ty: ScalarType, op: Op) -> Result<Reg> {
        let reg = self.reg(ty);
        if let Op::Const(_, bits) = op {
            self.constants.insert(reg, bits);
        }
        self.made += 1;
        self.open[0].stmts.insert(0, Stmt::Let(reg, op));
        Ok(reg)
    }

    /// The knowledge about a variable outside.
    pub(crate) fn shape(&self, root: Root) -> KnownValue {
        let known = self.unit.functions.iter().find(|(known, _)| *known == root);
        known.map_or(KnownValue::Data, |(_, shape)| shape.clone())
    }
}
