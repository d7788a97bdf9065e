//! From core to the array IR: closures become the functions they are, methods are chosen, and sizes
//! stay symbolic.
//!
//! Takes a function or a top-level statement of a program; gives a program of the array IR, whose
//! first function it is, or one word for what is not built yet ([`Declined`]). Every function that
//! is called is inlined, so that none is a value, but for those that are recursive ([`recursion`]):
//! they are further functions. A size is a size variable where core has a type variable, and
//! a number where core has one: no size is taken from the numbers of a run.
//!
//! **Values.** A truth value is a `b1`, `()` an empty tuple, another compact value the index of the
//! digits of its type: `N \* M` has those of `N` and `M`, a sum one digit of several pieces. A
//! product is a tuple, an array is an array over the digits of its index type, a sum whose cases
//! have arguments and a variant are sums.
//!
//! **Variables.** A variable that changes is the value that was set last, and the state of the
//! branches and loops that set it.
//!
//! **Sizes that are opened.** The type variable of a statement that opens a value stands for another
//! size in each call of its function, so each inlined statement has type variables of its own
//! ([`INLINED_SIZES`](crate::types::variable_numbers::INLINED_SIZES)).
//!
//! **Order.** Operands come before operations, as the evaluator has them, and the elements of an
//! array are computed where it is built. So the check that fails first in the order of statements
//! is the one that the evaluator reports.
//!
//! **Work.** At most 20 000 statements are made and calls inlined, and calls are nested at most 40
//! deep; beyond that the unit is declined.
//!
//! Never evaluates a term, and knows nothing of storage.

mod bigint;
mod call;
mod fit;
mod pattern;
mod power;
mod prim;
mod recursion;
mod reshape;
mod state;
mod term;
mod text;
mod triangle;
mod types;

pub use types::structural_type;

use crate::array_ir::{
    Binary, Block, Cast, Compare, Effect, Element, End, Function, Label, Op, Prim, Program, Site, SiteId,
    SiteKind, Size, SizeVar, Stmt, Type, Value, pass, print, renumber, validate,
};
use crate::core::integer_range::Range;
use crate::core::{self, FunctionId, GlobalId, KnownValue, LocalId, Region, Root, StmtKind, Term};
use crate::hash::{HashMap, HashSet};
use crate::source::Span;
use crate::types::{Type as CoreType, TypeVar};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Statements of a unit and calls that are inlined in it, at most.
const MAX_STATEMENTS: usize = 20_000;

/// Calls inside each other, at most.
const MAX_CALLS: u32 = 40;

/// Terms and blocks inside each other, at most.
const MAX_DEPTH: u32 = 400;

/// Words of the largest value that is written out by its elements. A value of arrays that share
/// theirs is small in the evaluator, too, until it is stored: it says then that it is too large.
const MAX_LITERAL_WORDS: u64 = 1 << 24;

macro_rules! declined {
    ($( $(#[$doc:meta])* $variant:ident $word:literal; )*) => {
        /// The reason why a unit is not built: what it contains.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Declined {
            $( $(#[$doc])* $variant, )*
        }

        impl Declined {
            /// All reasons.
            pub const ALL: &'static [Declined] = &[ $( Declined::$variant, )* ];

            /// The word for it.
            pub fn word(self) -> &'static str {
                match self { $( Declined::$variant => $word, )* }
            }
        }
    };
}

declined! {
    /// A type parameter that is no size.
    Polymorphic "polymorphic";
    /// A text.
    Text "text";
    /// An unbounded integer.
    Bigint "bigint";
    /// A function where only data is built.
    Function "function";
    /// A recursive function that is not built, or calls nested very deep.
    Recursion "recursion";
    /// More statements than a unit may have.
    Length "length";
    /// A sum of many cases or of many equal ones, or sums that are nested deep.
    Sum "sum";
    /// A compact power or digits of one.
    Power "power";
    /// A size that is no polynomial, or beyond the bounds of sizes.
    Size "size";
    /// Sizes that arrive at run time, and equations of sizes.
    Arrival "arrival";
    /// Data at places.
    Place "place";
    /// A type whose definition is hidden, or a list of types.
    Abstract "abstract";
    /// Arithmetic modulo a size.
    Cyclic "cyclic";
    /// A conversion between numbers that may fail, or that rounds.
    Conversion "conversion";
    /// The same storage at a type of another form.
    Reshape "reshape";
    /// A comparison of values that are no words.
    Comparison "comparison";
    /// A question about types whose answer depends on a size.
    Query "query";
    /// A pattern of another form than a tuple.
    Pattern "pattern";
    /// A variable of the session that a function changes, a variable that changes in a
    /// comprehension, or that a local function changes.
    Variable "variable";
    /// A loop at the top level, or ends of both sides of a branch that differ.
    Loop "loop";
    /// Output.
    Output "output";
    /// A file.
    File "file";
    /// A primitive that is not built yet.
    Primitive "primitive";
}

/// The abrupt end of building a block: a refusal, or a jump that ends the block.
enum AbruptCompletion {
    Declined(Declined),
    Jump(End),
}

impl From<Declined> for AbruptCompletion {
    fn from(declined: Declined) -> AbruptCompletion {
        AbruptCompletion::Declined(declined)
    }
}

type Result<T> = std::result::Result<T, AbruptCompletion>;

/// The array IR of a function at its own type parameters.
///
/// # Errors
/// The construct that is not built.
pub fn function(program: &core::Program, id: FunctionId) -> std::result::Result<Program, Declined> {
    let body = program.functions.get(id.index()).and_then(|function| function.as_ref());
    let body = body.expect("a function of a checked program").clone();
    if !body.captures.is_empty() || body.this.is_some() {
        return Err(Declined::Function);
    }
    if !body.given.is_empty() {
        return Err(Declined::Arrival);
    }
    let build = |builder: &mut Builder<'_>| {
        body.type_params.iter().for_each(|param| drop(builder.size_var(param)));
        let types = body.type_params.iter().map(|param| CoreType::var(param.clone())).collect();
        let mut params = Vec::new();
        let mut result = Known::Function(Arc::new(Closure::new(program, id, types, Vec::new())));
        // A function that gives a function takes the parameters of both.
        while let Known::Function(closure) = &result {
            result = builder.apply_to_params(&closure.clone(), &mut params)?;
        }
        Ok((params, builder.data(result)?))
    };
    attempts(&body.name, &|| Builder::new(program), build).map(|(program, _)| program)
}

/// The array IR of a top-level statement: the value that it gives, with the variables that it reads
/// as parameters.
///
/// # Errors
/// The construct that is not built.
pub fn statement(
    program: &core::Program,
    locals: &[core::LocalInfo],
    stmt: &core::Stmt,
) -> std::result::Result<Program, Declined> {
    let term = match &stmt.kind {
        StmtKind::SetGlobal(_, term) | StmtKind::Let(_, term) | StmtKind::Expr(term) => term,
        StmtKind::For(..) | StmtKind::While(..) => return Err(Declined::Loop),
        StmtKind::Open { .. } | StmtKind::Require { .. } => return Err(Declined::Arrival),
        _ => return Err(Declined::Variable),
    };
    result(program, locals, term)
}

/// The array IR of a top-level expression, with the variables that it reads as parameters.
///
/// # Errors
/// The construct that is not built.
pub fn result(
    program: &core::Program,
    locals: &[core::LocalInfo],
    term: &Term,
) -> std::result::Result<Program, Declined> {
    let build = |builder: &mut Builder<'_>| {
        let mut scope = Scope { script: Some(locals), ..Scope::of(HashMap::default(), locals) };
        let value = builder.term(&mut scope, term)?;
        Ok((Vec::new(), builder.data(value)?))
    };
    attempts("statement", &|| Builder::new(program), build).map(|(program, _)| program)
}

/// A variable outside of a unit, or a value that the function in it has captured.
#[derive(Clone, Debug, PartialEq)]
pub struct Outside {
    /// The variable.
    pub root: Root,
    /// Positions among captured values, outermost first.
    pub path: Vec<usize>,
}

/// The array IR of a term or a loop with the variables outside.
#[derive(Debug)]
pub struct Unit {
    /// A program whose functions have no size parameters. The result of the first one is the value
    /// of a term; or the variables that a loop has changed: the one, or a tuple; or a tuple of the
    /// value of a call and the variables that it has changed, or the value alone if there are none.
    /// The other functions are recursive.
    pub program: Program,
    /// The variable or captured value of each parameter of the function, with its type.
    pub inputs: Vec<(Outside, CoreType)>,
    /// The number of variables that the region changes: the first parameters.
    pub changes: usize,
    /// The calls of the program from one call of the array IR to the next inside of it, at most.
    pub longest_step: u32,
}

/// The body of a program that a unit stands in.
#[derive(Clone, Copy)]
pub struct Body<'b> {
    /// The program.
    pub program: &'b core::Program,
    /// The locals.
    pub locals: &'b [core::LocalInfo],
    /// Makes the types of the body concrete.
    pub concrete: &'b dyn Fn(&CoreType) -> CoreType,
    /// The functions that variables outside of the unit hold, and which of these variables functions
    /// share.
    pub known: &'b [(Root, KnownValue)],
}

/// The array IR of a region of a body at concrete types. The variables that it reads or changes are
/// parameters.
///
/// # Errors
/// The construct that is not built.
pub fn unit(body: Body<'_>, region: Region<'_>) -> std::result::Result<Unit, Declined> {
    let (mut inputs, mut changes) = (Vec::new(), 0);
    let setters = recursion::setters(&body, region);
    let new = || Builder {
        at_run: Some(body.concrete),
        known: body.known,
        setters: setters.clone(),
        ..Builder::new(body.program)
    };
    let build = |builder: &mut Builder<'_>| {
        let scope = Scope::of(HashMap::default(), body.locals);
        let mut scope = Scope { script: Some(body.locals), at_run: Some(body.concrete), ..scope };
        builder.bind_outside(&mut scope, body.locals.len())?;
        let (value, changed) = match region {
            Region::Term(term) => (builder.pure_term(&mut scope, term)?, Vec::new()),
            Region::Loop(stmt) => builder.loop_over_outside(&mut scope, stmt)?,
            Region::Call(id, function) => builder.call_from_outside(&mut scope, id, function)?,
        };
        changes = changed.len();
        // Variables that change come first.
        let place = |param: &Value| changed.iter().position(|changed| changed == param);
        builder.outside.sort_by_key(|(.., param)| place(param).unwrap_or(changes));
        inputs.clear();
        inputs.extend(builder.outside.iter().map(|(outside, ty, _)| (outside.clone(), ty.clone())));
        Ok((Vec::new(), value))
    };
    let (program, longest_step) = attempts("unit", &new, build)?;
    // A type variable that is left has no size.
    let is_concrete = program.functions[0].sizes.is_empty();
    if is_concrete { Ok(Unit { program, inputs, changes, longest_step }) } else { Err(Declined::Size) }
}

/// The program of a function whose parameters and result `build` makes, with the calls from one
/// call of the array IR to the next: once, or again with what has been found of recursion.
fn attempts<'p>(
    name: &str,
    new: &dyn Fn() -> Builder<'p>,
    mut build: impl FnMut(&mut Builder<'p>) -> Result<(Vec<(Value, Type)>, Value)>,
) -> std::result::Result<(Program, u32), Declined> {
    let mut known = recursion::Recursion::default();
    loop {
        let mut builder = new();
        builder.recursion = known;
        match builder.finish(name, &mut build) {
            Ok(built) => return Ok(built),
            Err((Declined::Recursion, recursion)) => {
                known = recursion.next_attempt().ok_or(Declined::Recursion)?;
            }
            Err((declined, _)) => return Err(declined),
        }
    }
}

/// A value that is known while a unit is built.
#[derive(Clone)]
enum Known {
    /// A value of the array IR.
    Data(Value),
    /// A function at type arguments, with what it has captured.
    Function(Arc<Closure>),
    /// A variable that local functions share: its value is the one in [`Builder::cells`].
    Shared(usize),
}

impl Known {
    /// Returns true for the same value.
    fn is(&self, other: &Known) -> bool {
        match (self, other) {
            (Known::Data(a), Known::Data(b)) => a == b,
            (Known::Function(a), Known::Function(b)) => Arc::ptr_eq(a, b),
            (Known::Shared(a), Known::Shared(b)) => a == b,
            _ => false,
        }
    }
}

/// A function value.
struct Closure {
    function: FunctionId,
    types: Vec<CoreType>,
    captures: Vec<Known>,
    /// The cells of the variables that it sets, or a function that it has captured.
    sets: Vec<usize>,
}

impl Closure {
    fn new(
        core: &core::Program,
        function: FunctionId,
        types: Vec<CoreType>,
        captures: Vec<Known>,
    ) -> Closure {
        let own = state::captures_set_by(core, function).into_iter().filter_map(|at| match captures[at] {
            Known::Shared(cell) => Some(cell),
            Known::Data(_) | Known::Function(_) => None,
        });
        let mut sets: Vec<usize> = own.collect();
        for captured in &captures {
            if let Known::Function(closure) = captured {
                sets.extend(&closure.sets);
            }
        }
        sets.sort_unstable();
        sets.dedup();
        Closure { function, types, captures, sets }
    }
}

/// The variables of a function that is built.
struct Scope<'s> {
    /// The types of type variables.
    bindings: HashMap<u32, CoreType>,
    /// The locals of the script, for a statement: those that others bind are parameters.
    script: Option<&'s [core::LocalInfo]>,
    /// Makes types of the body concrete, for a unit.
    at_run: Option<&'s dyn Fn(&CoreType) -> CoreType>,
    locals: HashMap<LocalId, Known>,
    /// The block that `return` leaves.
    returns: Option<Label>,
    /// The loops around, the innermost last.
    loops: Vec<state::Loop>,
    /// Variables that local functions share.
    shared: Vec<LocalId>,
    /// Shared variables that this function has bound, or has captured and sets.
    owned: Vec<LocalId>,
    /// Variables that this function has captured and sets, and session variables that it sets. Their
    /// last values are results of its body.
    carried: Vec<Root>,
}

impl Scope<'_> {
    fn of(bindings: HashMap<u32, CoreType>, locals: &[core::LocalInfo]) -> Self {
        let shared = locals.iter().enumerate().filter(|(_, local)| local.shared);
        let shared = shared.map(|(id, _)| LocalId::new(id)).collect();
        let (loops, locals) = (Vec::new(), HashMap::default());
        let (owned, carried) = (Vec::new(), Vec::new());
        Scope { bindings, script: None, at_run: None, locals, returns: None, loops, shared, owned, carried }
    }

    fn is_shared(&self, local: LocalId) -> bool {
        self.shared.contains(&local)
    }

    /// Returns true for a variable whose changes by this function are carried on.
    fn is_own(&self, local: LocalId) -> bool {
        !self.is_shared(local) || self.owned.contains(&local) && self.locals.contains_key(&local)
    }

    /// The type at the arguments of the function.
    fn concrete(&self, ty: &CoreType) -> CoreType {
        let ty = ty.substitute(&self.bindings);
        self.at_run.map_or_else(|| ty.clone(), |concrete| concrete(&ty))
    }
}

/// The words of a value of a type whose sizes are constants; 1 for a size that is none. `None`
/// beyond a word.
fn words(ty: &Type) -> Option<u64> {
    match ty {
        Type::Array(space, element) => {
            let size = space.size()?.to_constant().unwrap_or(1);
            size.checked_mul(words(element)?)
        }
        Type::Tuple(types) => types.iter().try_fold(0u64, |sum, ty| sum.checked_add(words(ty)?)),
        _ => Some(1),
    }
}

struct Builder<'p> {
    core: &'p core::Program,
    /// Makes types concrete, for a unit: a function may mention sizes that a statement has opened.
    at_run: Option<&'p dyn Fn(&CoreType) -> CoreType>,
    sites: Vec<Site>,
    /// The size variables of type variables, with their names.
    sizes: Vec<(TypeVar, SizeVar)>,
    /// The sizes that statements open, by the positions of their type variables.
    opened: Vec<SizeVar>,
    /// The variables outside that are read, with types and parameters.
    outside: Vec<(Outside, CoreType, Value)>,
    /// The knowledge about variables outside.
    known: &'p [(Root, KnownValue)],
    /// The cells of variables outside that functions share, by their numbers, each with the parameter
    /// that is its first value.
    outside_cells: HashMap<usize, (usize, Value)>,
    /// The cells among them that functions outside set.
    outside_sets: BTreeSet<usize>,
    /// The cells among them that the unit changes.
    changed_cells: BTreeSet<usize>,
    /// The session variables that functions set, with those that they mention, in a unit.
    setters: BTreeMap<FunctionId, BTreeSet<GlobalId>>,
    /// The session variables that the unit changes, with their values.
    globals: HashMap<GlobalId, Known>,
    /// The values of variables that local functions share, each one data or a function.
    cells: Vec<Known>,
    /// The cells whose changes need not be carried beyond the block that is built: they are a part
    /// of its end, or nobody asks for them.
    settled: Vec<usize>,
    /// The session variables whose changes are a part of the end of the block that is built.
    settled_globals: Vec<GlobalId>,
    types: HashMap<Value, Type>,
    /// Values that are constants.
    constants: HashMap<Value, u64>,
    /// Words that are floats without their fraction, with the floats.
    truncated: HashMap<Value, Value>,
    /// The bounds of values that stand for unbounded integers.
    ranges: HashMap<Value, Range>,
    /// The statements of the block that is built.
    stmts: Vec<Stmt>,
    made: usize,
    next: u32,
    /// Functions that are inlined in each other.
    calls: Vec<FunctionId>,
    /// The functions that are recursive.
    recursion: recursion::Recursion,
    /// The places of these calls.
    call_spans: Vec<Span>,
    depth: u32,
}

impl<'p> Builder<'p> {
    fn new(core: &'p core::Program) -> Builder<'p> {
        Builder {
            core,
            at_run: None,
            sites: Vec::new(),
            sizes: Vec::new(),
            opened: Vec::new(),
            outside: Vec::new(),
            known: &[],
            outside_cells: HashMap::default(),
            outside_sets: BTreeSet::new(),
            changed_cells: BTreeSet::new(),
            setters: BTreeMap::new(),
            globals: HashMap::default(),
            cells: Vec::new(),
            settled: Vec::new(),
            settled_globals: Vec::new(),
            types: HashMap::default(),
            constants: HashMap::default(),
            truncated: HashMap::default(),
            ranges: HashMap::default(),
            stmts: Vec::new(),
            made: 0,
            next: 0,
            calls: Vec::new(),
            recursion: recursion::Recursion::default(),
            call_spans: Vec::new(),
            depth: 0,
        }
    }

    /// The program of a function whose parameters and result `build` makes, after all passes, with
    /// the calls from one call of the array IR to the next. An error comes with what is known of
    /// recursion.
    fn finish(
        mut self,
        name: &str,
        build: impl FnOnce(&mut Builder<'p>) -> Result<(Vec<(Value, Type)>, Value)>,
    ) -> std::result::Result<(Program, u32), (Declined, Box<recursion::Recursion>)> {
        let (mut params, value) = match build(&mut self) {
            Ok(built) => built,
            Err(AbruptCompletion::Declined(declined)) => return Err((declined, Box::new(self.recursion))),
            Err(AbruptCompletion::Jump(_)) => unreachable!("a block around the body takes what is returned"),
        };
        params.extend(self.outside.iter().map(|(.., value)| (*value, self.types[value].clone())));
        let name_of = |var: &TypeVar| Arc::from(name_text(&var.name));
        let sizes = self.sizes.iter().map(|(var, size)| (*size, name_of(var))).collect();
        let result = self.types[&value].clone();
        let body = Block { params, stmts: self.stmts, end: End::Yield(value) };
        let name = Arc::from(name_text(name));
        let function = Function { name, sizes, result, effect: Effect::Total, changes: 0, body };
        let longest_step = self.recursion.longest_step;
        let functions = [function].into_iter().chain(self.recursion.functions()).collect();
        let mut program = Program { sites: self.sites, functions };
        state_least_effect(&mut program);
        if cfg!(debug_assertions)
            && let Err(why) = validate::validate(&program)
        {
            panic!("the builder made an invalid program: {why}\n{}", print::program(&program));
        }
        // If a pass needs more than its budget of work, the program stays as it was built.
        let mut simplified = pass::run(&program).unwrap_or(program);
        state_least_effect(&mut simplified);
        renumber(&mut simplified);
        Ok((simplified, longest_step))
    }

    fn fresh(&mut self) -> Value {
        self.next += 1;
        Value(self.next - 1)
    }

    fn label(&mut self) -> Label {
        self.next += 1;
        Label(self.next - 1)
    }

    fn site(&mut self, kind: SiteKind, span: Span) -> SiteId {
        let calls = self.call_spans.iter().rev().copied().collect();
        self.sites.push(Site { kind, span, calls });
        SiteId(u32::try_from(self.sites.len() - 1).expect("fewer sites than statements"))
    }

    fn define(&mut self, ty: Type, op: Op) -> Result<Value> {
        self.spend()?;
        if matches!(op, Op::Array(..)) && words(&ty).is_none_or(|words| words > MAX_LITERAL_WORDS) {
            return Err(Declined::Length.into());
        }
        let value = self.fresh();
        if let Op::Const(_, bits) = op {
            self.constants.insert(value, bits);
        }
        self.types.insert(value, ty.clone());
        self.stmts.push(Stmt { value, ty, op });
        Ok(value)
    }

    /// Counts a statement or a call.
    fn spend(&mut self) -> Result<()> {
        self.spend_units(1)
    }

    /// Counts what takes as much memory as so many statements.
    fn spend_units(&mut self, units: usize) -> Result<()> {
        self.made += units;
        if self.made > MAX_STATEMENTS { Err(Declined::Length.into()) } else { Ok(()) }
    }

    /// A new size variable, which becomes one of [`Builder::sizes`] or [`Builder::opened`].
    fn fresh_size(&self) -> SizeVar {
        SizeVar((self.sizes.len() + self.opened.len()) as u32)
    }

    /// An array opened, with its new sizes.
    fn opened_value(&mut self, packed: Value) -> Result<(Value, Vec<SizeVar>)> {
        let Type::Exists(count, inner) = self.types[&packed].clone() else {
            unreachable!("{packed} carries its sizes")
        };
        let own: Vec<SizeVar> = (0..count)
            .map(|_| {
                let size = self.fresh_size();
                self.opened.push(size);
                size
            })
            .collect();
        let sizes: Vec<Size> = own.iter().map(|var| Size::var(*var)).collect();
        let ty = validate::instantiate(&inner, count, &sizes).map_err(|_| Declined::Size)?;
        Ok((self.define(ty, Op::Open(own.clone(), packed))?, own))
    }

    /// A number compared with another of its type.
    fn compare(&mut self, op: Compare, a: Value, b: Value) -> Result<Value> {
        self.define(Type::B1, Op::Prim(Prim::Compare(op), vec![a, b]))
    }

    fn binary(&mut self, op: Binary, a: Value, b: Value) -> Result<Value> {
        let ty = self.types[&a].clone();
        self.define(ty, Op::Prim(Prim::Binary(op), vec![a, b]))
    }

    fn cast(&mut self, value: Value, cast: Cast, to: Element) -> Result<Value> {
        self.define(Type::Element(to), Op::Prim(Prim::Cast(cast, to), vec![value]))
    }

    fn constant(&mut self, element: Element, bits: u64) -> Result<Value> {
        self.define(Type::Element(element), Op::Const(element, element.truncate(bits)))
    }

    /// A block with parameters of these types; what `build` leaves is its end. Cells and session
    /// variables have the values afterward that they had before; a change that is not settled is
    /// declined.
    fn block(
        &mut self,
        params: Vec<Type>,
        build: impl FnOnce(&mut Self, &[Value]) -> Result<Value>,
    ) -> Result<Block> {
        if self.depth == MAX_DEPTH {
            return Err(Declined::Length.into());
        }
        self.depth += 1;
        let params: Vec<(Value, Type)> = params.into_iter().map(|ty| (self.fresh(), ty)).collect();
        self.types.extend(params.iter().cloned());
        let outer = std::mem::take(&mut self.stmts);
        let values: Vec<Value> = params.iter().map(|param| param.0).collect();
        let (cells, globals) = (self.cells.clone(), self.globals.clone());
        self.forget_settled();
        let end = build(self, &values);
        let changed = |at: &usize| !cells[*at].is(&self.cells[*at]);
        let mut is_carried = (0..cells.len()).filter(changed).all(|at| self.settled.contains(&at));
        is_carried &= self.globals.iter().all(|(global, known)| {
            globals.get(global).is_some_and(|before| before.is(known))
                || self.settled_globals.contains(global)
        });
        self.forget_settled();
        (self.cells, self.globals) = (cells, globals);
        let stmts = std::mem::replace(&mut self.stmts, outer);
        self.depth -= 1;
        let end = match end {
            Ok(value) => End::Yield(value),
            Err(AbruptCompletion::Jump(end)) => end,
            Err(declined) => return Err(declined),
        };
        if !is_carried {
            return Err(Declined::Variable.into());
        }
        Ok(Block { params, stmts, end })
    }

    /// The session variables that a function value sets, by itself or by function values that it has
    /// captured.
    fn globals_set_by(&self, closure: &Closure) -> BTreeSet<GlobalId> {
        let (mut globals, mut seen, mut waiting) = (BTreeSet::new(), HashSet::default(), vec![closure]);
        while let Some(closure) = waiting.pop().filter(|_| !self.setters.is_empty()) {
            if !seen.insert(std::ptr::from_ref(closure)) {
                continue;
            }
            globals.extend(self.setters.get(&closure.function).into_iter().flatten());
            waiting.extend(closure.captures.iter().filter_map(|captured| match self.unshared(captured) {
                Known::Function(inner) => Some(&**inner),
                Known::Data(_) | Known::Shared(_) => None,
            }));
        }
        globals
    }

    fn forget_settled(&mut self) {
        self.settled.clear();
        self.settled_globals.clear();
    }

    /// The data that a value is.
    fn data(&self, known: Known) -> Result<Value> {
        match known {
            Known::Data(value) => Ok(value),
            Known::Function(_) => Err(Declined::Function.into()),
            Known::Shared(cell) => self.data(self.cells[cell].clone()),
        }
    }
}

/// States the effect of the body of the first function: none calls it, so it is the least one that
/// is valid. The others may not end.
fn state_least_effect(program: &mut Program) {
    let first = &mut program.functions[0];
    first.effect = first.body.effect();
}

/// A name with letters, digits and underscores only.
fn name_text(name: &str) -> String {
    name.chars().map(|c| if c.is_alphanumeric() || c == '_' { c } else { '_' }).collect()
}

/// Runs of what a builder makes, for the tests of this folder.
#[cfg(test)]
mod run {
    use super::{Builder, CoreType, Declined, Result, Type, Value};
    use crate::array_ir::FunctionId;
    use crate::array_ir::interpret::{self, Datum};
    use crate::core;
    use num_traits::ToPrimitive;

    /// Builds a function of parameters of these types, and returns its value at the arguments.
    pub(super) fn run(
        params: &[&CoreType],
        arguments: &[Datum],
        build: impl FnOnce(&mut Builder<'_>, &[Value]) -> Result<Value>,
    ) -> std::result::Result<Datum, Declined> {
        let core = core::Program::default();
        let built = Builder::new(&core).finish("test", |builder| {
            let mut made: Vec<(Value, Type)> = Vec::new();
            for ty in params {
                let (ty, value) = (builder.ty(ty)?, builder.fresh());
                builder.types.insert(value, ty.clone());
                made.push((value, ty));
            }
            let values: Vec<Value> = made.iter().map(|(value, _)| *value).collect();
            let result = build(builder, &values)?;
            Ok((made, result))
        });
        let (program, _) = built.map_err(|(declined, _)| declined)?;
        let outcome = interpret::run(&program, FunctionId(0), &[], arguments, 1_000_000);
        Ok(outcome.expect("what is built does not fail").value)
    }

    /// The sizes of the digits of a compact type; `None` for a truth value.
    fn digits(ty: &CoreType) -> Option<Vec<u64>> {
        let core = core::Program::default();
        let mut builder = Builder::new(&core);
        match builder.ty(ty) {
            Ok(Type::Index(space)) => {
                let size = |digit: &crate::array_ir::Digit| digit.size().and_then(|size| size.to_constant());
                Some(space.digits.iter().map(|digit| size(digit).expect("a number")).collect())
            }
            Ok(_) => None,
            Err(_) => panic!("{ty} is a compact type"),
        }
    }

    /// The value of a compact type that has a code.
    pub(super) fn datum(ty: &CoreType, code: u64) -> Datum {
        if ty.is_unit() {
            return Datum::unit();
        }
        let Some(sizes) = digits(ty) else { return Datum::Word(code) };
        let (mut rest, mut digits) = (code, Vec::new());
        for size in sizes.iter().rev() {
            digits.push(rest % size);
            rest /= size;
        }
        digits.reverse();
        Datum::Index(digits)
    }

    /// The code of a value of a compact type.
    pub(super) fn code(ty: &CoreType, value: &Datum) -> u64 {
        match value {
            Datum::Word(word) => *word,
            Datum::Tuple(parts) if parts.is_empty() => 0,
            Datum::Index(own) => {
                let sizes = digits(ty).expect("an index has digits");
                own.iter().zip(sizes).fold(0, |code, (digit, size)| code * size + digit)
            }
            other => panic!("{other:?} is no compact value"),
        }
    }

    /// The number of values of a compact type.
    pub(super) fn count(ty: &CoreType) -> u64 {
        ty.size().ok().and_then(|size| size.to_u64()).expect("a small type")
    }
}
