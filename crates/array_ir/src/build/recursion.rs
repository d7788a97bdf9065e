//! Recursion: functions of the array IR beside the unit, and calls of them.
//!
//! A call is inlined unless that would not end. The calls that are being built form a stack, and
//! each of them has an [`Instance`]: the function, its type arguments and the function values that
//! it is given or has captured, each of them an instance, too. Data is no part of it. A call whose
//! instance is on the stack already would lead to itself again, whatever its data is: such an
//! instance is recursive, and becomes a function of the array IR. A function at other type
//! arguments, or with another function value, is another instance: recursion over types ends where
//! the types do, and is inlined.
//!
//! **Method.**
//!
//! 1. The unit is built with all calls inlined. If there are [`MAX_INLINED_CALLS`] calls of one
//!    function inside each other, building starts again and looks for recursive instances.
//! 2. Each time a recursive instance is found, building starts once more, and knows it. At most
//!    [`MAX_RECURSIVE`] instances are found so; a unit with more is declined.
//! 3. The first call of an instance that is known builds the function: its parameters are the data
//!    that the instance has captured, in order, and the data among its arguments; function values
//!    stand in its body as the instances that they are, with parameters as what they have captured.
//!    The stack of calls is empty there, so a cycle of several functions has one function of the
//!    array IR, in which the others are inlined.
//! 4. The variables that a call changes ([`Changes`]) are the first parameters, and their last
//!    values are further parts of the result ([`Function::changes`]). Which of the captured values
//!    are the same variable belongs to the instance.
//! 5. Session variables that the function only mentions, itself or in functions that it calls, are
//!    further parameters, which follow the others. They are known when no function is left that is
//!    being built: then the calls inside the functions are completed.
//!
//! **Declined.** A function value as a result, a variable that holds a function and is changed, and
//! types with sizes that are no numbers: the function has no size parameters.

use super::{
    Block, Body, Builder, Closure, Declined, GlobalId, Known, KnownValue, Outside, Region, Result, Root,
};
use crate::array_ir::visit::PartMut;
use crate::array_ir::{Effect, Function, FunctionId, Op, Type, Value};
use crate::core::FunctionId as CoreId;
use crate::core::free_variables::{FreeVariables, globals_set_by_functions};
use crate::hash::{HashMap, HashSet};
use crate::types::Type as CoreType;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Calls of one function inside each other from which on recursive instances are looked for: a
/// function of the library may be the argument of another call of itself.
pub(super) const MAX_INLINED_CALLS: usize = 4;

/// Parts of an instance, those of functions in it included, at most.
const MAX_INSTANCE_PARTS: usize = 256;

/// Recursive instances of a unit, at most.
const MAX_RECURSIVE: usize = 16;

/// A function at type arguments and with known function values.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Instance {
    function: CoreId,
    types: Vec<CoreType>,
    /// The parts of what it has captured, and of its arguments.
    values: Vec<Shape>,
}

/// The part of a value that belongs to an instance.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Shape {
    Data,
    Function(Arc<Instance>),
    /// A variable that the call changes, by its position among those.
    Changed(usize),
}

/// The variables that a call changes.
#[derive(Default)]
pub(super) struct Changes {
    /// The cells of those that local functions share, in the order in which the values of the call
    /// mention them.
    pub(super) cells: Vec<usize>,
    /// The session variables.
    pub(super) globals: BTreeSet<GlobalId>,
}

impl Changes {
    pub(super) fn count(&self) -> usize {
        self.cells.len() + self.globals.len()
    }
}

/// The recursive instances of a unit.
#[derive(Default)]
pub(super) struct Recursion {
    /// True once recursive instances are looked for.
    pub(super) looks: bool,
    /// The instances that earlier attempts have found.
    pub(super) known: Vec<Instance>,
    /// One that has been found in this attempt.
    found: Option<Instance>,
    /// The instances of the calls that are being built.
    pub(super) active: Vec<Option<Instance>>,
    /// The functions made of instances, in the order of their ids behind that of the unit.
    pub(super) made: Vec<RecursiveFunction>,
    /// The function that is being built.
    pub(super) current: Option<usize>,
    /// Calls inside each other from one function to the next, at most.
    pub(super) longest_step: u32,
}

/// A function made of an instance.
pub(super) struct RecursiveFunction {
    pub(super) instance: Instance,
    name: Arc<str>,
    /// The number of variables that it changes.
    pub(super) changes: usize,
    /// The session variables among them.
    globals: BTreeSet<GlobalId>,
    /// The types of the parameters without session variables that it only mentions.
    pub(super) params: Vec<Type>,
    pub(super) result: Type,
    pub(super) body: Option<Block>,
    /// The session variables that it only mentions, with their types and parameters.
    pub(super) outside: Vec<(Outside, CoreType, Value)>,
    /// True once `outside` holds those of functions that it calls, too.
    pub(super) complete: bool,
}

impl RecursiveFunction {
    /// A function that is about to be built.
    pub(super) fn new(
        instance: Instance,
        name: Arc<str>,
        changes: &Changes,
        params: Vec<Type>,
        result: Type,
    ) -> Self {
        let (body, outside, complete) = (None, Vec::new(), false);
        let (changes, globals) = (changes.count(), changes.globals.clone());
        RecursiveFunction { instance, name, changes, globals, params, result, body, outside, complete }
    }
}

impl Recursion {
    /// The state of the next attempt to build a unit that was declined for recursion; `None` if
    /// there is none.
    pub(super) fn next_attempt(self) -> Option<Recursion> {
        let mut known = self.known;
        match self.found {
            Some(_) if known.len() == MAX_RECURSIVE => return None,
            Some(found) => known.push(found),
            None if self.looks => return None,
            None => {}
        }
        Some(Recursion { looks: true, known, ..Recursion::default() })
    }

    /// The functions, which stand behind that of the unit.
    pub(super) fn functions(self) -> impl Iterator<Item = Function> {
        self.made.into_iter().map(|made| Function {
            name: made.name,
            sizes: Vec::new(),
            result: made.result,
            effect: Effect::MayNotEnd,
            changes: made.changes,
            body: made.body.expect("a function is built before the unit ends"),
        })
    }
}

/// The id of a function by its number among those that were made.
pub(super) fn id_of(number: usize) -> FunctionId {
    FunctionId(u32::try_from(number + 1).expect("few functions"))
}

impl Builder<'_> {
    /// Begins a call: declines one that is nested too deep, and notes its instance.
    pub(super) fn begin_call(&mut self, closure: &Closure, args: &[Known]) -> Result<()> {
        let looks = self.recursion.looks;
        let instance = if looks { self.instance(closure, args, &self.changes(closure, args)) } else { None };
        let same = self.calls.iter().filter(|id| **id == closure.function).count();
        if self.calls.len() >= super::MAX_CALLS as usize || instance.is_none() && same >= MAX_INLINED_CALLS {
            return Err(Declined::Recursion.into());
        }
        if instance.is_some() && self.recursion.active.contains(&instance) {
            self.recursion.found = instance;
            return Err(Declined::Recursion.into());
        }
        self.calls.push(closure.function);
        self.recursion.active.push(instance);
        Ok(())
    }

    /// Ends a call.
    pub(super) fn end_call(&mut self) {
        self.calls.pop();
        self.recursion.active.pop();
    }

    /// The variables that a call changes.
    pub(super) fn changes(&self, closure: &Closure, args: &[Known]) -> Changes {
        let mut changes = Changes { globals: self.globals_set_by(closure), ..Changes::default() };
        let mut sets: BTreeSet<usize> = closure.sets.iter().copied().collect();
        for known in args {
            if let Known::Function(given) = self.unshared(known) {
                changes.globals.extend(self.globals_set_by(given));
                sets.extend(&given.sets);
            }
        }
        let (values, mut seen) = (closure.captures.iter().chain(args), HashSet::default());
        values.for_each(|known| self.collect_cells(known, &sets, &mut seen, &mut changes.cells));
        changes
    }

    /// Adds those cells of a set that are new, in the order in which a value mentions them. A function
    /// is looked at once.
    fn collect_cells(
        &self,
        known: &Known,
        set: &BTreeSet<usize>,
        seen: &mut HashSet<*const Closure>,
        found: &mut Vec<usize>,
    ) {
        match known {
            Known::Data(_) => {}
            Known::Function(closure) => {
                if seen.insert(Arc::as_ptr(closure)) {
                    closure.captures.iter().for_each(|known| self.collect_cells(known, set, seen, found));
                }
            }
            Known::Shared(cell) if !set.contains(cell) => {
                self.collect_cells(&self.cells[*cell], set, seen, found);
            }
            Known::Shared(cell) if !found.contains(cell) => found.push(*cell),
            Known::Shared(_) => {}
        }
    }

    /// A value that is not shared.
    pub(super) fn unshared<'k>(&'k self, known: &'k Known) -> &'k Known {
        match known {
            Known::Shared(cell) => self.unshared(&self.cells[*cell]),
            known => known,
        }
    }

    /// The instance of a call that changes variables; `None` if it has very many parts.
    pub(super) fn instance(&self, closure: &Closure, args: &[Known], changes: &Changes) -> Option<Instance> {
        self.instance_within(closure, args, changes, &mut MAX_INSTANCE_PARTS.clone())
    }

    fn instance_within(
        &self,
        closure: &Closure,
        args: &[Known],
        changes: &Changes,
        left: &mut usize,
    ) -> Option<Instance> {
        let values = closure.captures.iter().chain(args).map(|known| self.shape(known, changes, left));
        let values = values.collect::<Option<_>>()?;
        Some(Instance { function: closure.function, types: closure.types.clone(), values })
    }

    fn shape(&self, known: &Known, changes: &Changes, left: &mut usize) -> Option<Shape> {
        *left = left.checked_sub(1)?;
        Some(match known {
            Known::Data(_) => Shape::Data,
            Known::Function(closure) => {
                Shape::Function(Arc::new(self.instance_within(closure, &[], changes, left)?))
            }
            Known::Shared(cell) => match changes.cells.iter().position(|changed| changed == cell) {
                Some(position) => Shape::Changed(position),
                None => self.shape(&self.cells[*cell], changes, left)?,
            },
        })
    }

    /// The values of the variables that a call changes.
    pub(super) fn changed_values(&self, changes: &Changes) -> Result<Vec<Value>> {
        let cells = changes.cells.iter().map(|cell| self.data(self.cells[*cell].clone()));
        let globals = changes
            .globals
            .iter()
            .map(|global| self.data(self.globals.get(global).ok_or(Declined::Variable)?.clone()));
        cells.chain(globals).collect()
    }

    /// The data in a value, in order, without variables that change.
    pub(super) fn data_in(&self, known: &Known, changes: &Changes, values: &mut Vec<Value>) {
        match known {
            Known::Data(value) => values.push(*value),
            Known::Function(closure) => {
                closure.captures.iter().for_each(|known| self.data_in(known, changes, values));
            }
            Known::Shared(cell) if changes.cells.contains(cell) => {}
            Known::Shared(cell) => self.data_in(&self.cells[*cell], changes, values),
        }
    }

    /// The same value of other data, and of other cells of the variables that change.
    pub(super) fn with_data(
        &self,
        known: &Known,
        cells: &HashMap<usize, usize>,
        values: &mut dyn Iterator<Item = Value>,
    ) -> Known {
        match known {
            Known::Data(_) => Known::Data(values.next().expect("as much data as before")),
            Known::Function(closure) => Known::Function(self.closure_with_data(closure, cells, values)),
            Known::Shared(cell) => match cells.get(cell) {
                Some(cell) => Known::Shared(*cell),
                None => self.with_data(&self.cells[*cell], cells, values),
            },
        }
    }

    pub(super) fn closure_with_data(
        &self,
        closure: &Closure,
        cells: &HashMap<usize, usize>,
        values: &mut dyn Iterator<Item = Value>,
    ) -> Arc<Closure> {
        let captures = closure.captures.iter().map(|known| self.with_data(known, cells, values)).collect();
        Arc::new(Closure::new(self.core, closure.function, closure.types.clone(), captures))
    }

    /// Gives functions the session variables that those which they call mention, and their calls
    /// the arguments for them.
    pub(super) fn complete_functions(&mut self) -> Result<()> {
        let open: Vec<usize> =
            (0..self.recursion.made.len()).filter(|number| !self.recursion.made[*number].complete).collect();
        let mut called: HashMap<usize, Vec<usize>> = HashMap::default();
        for number in &open {
            let callees = called.entry(*number).or_default();
            let body = self.recursion.made[*number].body.as_ref();
            body.expect("no function is being built").for_each_stmt(&mut |stmt| {
                if let Op::Call { function, .. } = stmt.op {
                    callees.push(function.index() - 1);
                }
            });
        }
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for number in &open {
                for callee in &called[number] {
                    for (outside, ty, value) in self.recursion.made[*callee].outside.clone() {
                        let own = &self.recursion.made[*number].outside;
                        if own.iter().any(|(known, ..)| *known == outside) {
                            continue;
                        }
                        // The parameter would hold what it was at the beginning.
                        if let Root::Global(global) = outside.root
                            && self.recursion.made[*number].globals.contains(&global)
                        {
                            return Err(Declined::Recursion.into());
                        }
                        let param = self.fresh();
                        let built = self.types[&value].clone();
                        self.types.insert(param, built);
                        self.recursion.made[*number].outside.push((outside, ty, param));
                        changed = true;
                    }
                }
            }
        }
        let needed: Vec<Vec<Outside>> = self
            .recursion
            .made
            .iter()
            .map(|made| made.outside.iter().map(|of| of.0.clone()).collect())
            .collect();
        let takes: Vec<usize> =
            self.recursion.made.iter().map(|made| made.params.len() + made.outside.len()).collect();
        for number in open {
            let made = &mut self.recursion.made[number];
            let (own, body) = (&made.outside, made.body.as_mut().expect("no function is being built"));
            let value_of = |outside: &Outside| {
                let own = own.iter().find(|(known, ..)| known == outside);
                own.expect("a caller has the session variables of what it calls").2
            };
            let further = |callee: usize| needed[callee].iter().map(value_of).collect();
            complete_calls(body, &|callee, given| {
                if given < takes[callee] { further(callee) } else { Vec::new() }
            });
            body.params.extend(own.iter().map(|(_, _, value)| (*value, self.types[value].clone())));
            made.complete = true;
        }
        Ok(())
    }
}

/// Appends arguments to each call in a block, by the function that is called and the number of
/// arguments that are there.
fn complete_calls(block: &mut Block, further: &dyn Fn(usize, usize) -> Vec<Value>) {
    for stmt in &mut block.stmts {
        if let Op::Call { function, values, .. } = &mut stmt.op {
            values.extend(further(function.index() - 1, values.len()));
        }
        stmt.op.for_each_part_mut(&mut |part| {
            if let PartMut::Block(inner) = part {
                complete_calls(inner, further);
            }
        });
    }
}

/// The session variables that functions set which a region mentions, or which variables outside hold.
/// A term changes nothing.
pub(super) fn setters(body: &Body<'_>, region: Region<'_>) -> BTreeMap<CoreId, BTreeSet<GlobalId>> {
    fn collect(known: &KnownValue, functions: &mut BTreeSet<CoreId>) {
        if let KnownValue::Function(id, _, captured) = known {
            functions.insert(*id);
            captured.iter().for_each(|known| collect(known, functions));
        }
    }
    let mut functions = match region {
        Region::Term(_) => return BTreeMap::new(),
        Region::Loop(stmt) => FreeVariables::of_stmt(stmt).functions,
        Region::Call(id, _) => BTreeSet::from([id]),
    };
    body.known.iter().for_each(|(_, known)| collect(known, &mut functions));
    globals_set_by_functions(body.program, functions)
}

/// Returns true if a type of an instance mentions a type variable.
pub(super) fn has_sizes(instance: &Instance) -> bool {
    let in_value = |shape: &Shape| match shape {
        Shape::Data | Shape::Changed(_) => false,
        Shape::Function(inner) => has_sizes(inner),
    };
    instance.types.iter().any(CoreType::has_var) || instance.values.iter().any(in_value)
}

/// Returns true if all sizes of a type are numbers, and it brings none along.
pub(super) fn is_concrete(ty: &Type) -> bool {
    let is_number = |space: &crate::array_ir::Space| {
        let size =
            |digit: &crate::array_ir::Digit| digit.pieces.iter().all(|size| size.to_constant().is_some());
        space.digits.iter().all(size)
    };
    match ty {
        Type::Element(_) => true,
        Type::Index(space) => is_number(space),
        Type::Tuple(types) | Type::Sum(types) => types.iter().all(is_concrete),
        Type::Array(space, element) => is_number(space) && is_concrete(element),
        Type::Exists(..) => false,
    }
}
