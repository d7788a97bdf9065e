//! Variables, stores into parts of them, branches and loops: variables that change become state.
//!
//! In a list of statements a variable is the value that was set last. A branch or a round gives the
//! variables that it may set as its value: all of them in a tuple, or the one. `break`, `continue`
//! and `return` are ends with values. So no statement changes anything.
//!
//! A session variable that functions set, which a loop of the script calls, is one of the variables
//! that the loop changes: a call gives its last value as a further result, too.
//!
//! Data outside of the unit is a parameter, and a function is what the variable is known to hold, with
//! what it has captured.
//!
//! A variable that local functions share has a cell ([`Builder::cells`]), in which they find its value
//! at the time of a call. A local function that sets one gives its last value as a further result of
//! its body; the language calls such a function in a statement of its own.

use super::types::structural_type;
use super::{AbruptCompletion, Builder, Closure, Declined, Known, Outside, Result, Scope};
use crate::array_ir::{Block, DigitExpr, End, Label, Op, Range, Space, Type, Value};
use crate::core::free_variables::modified_variables;
use crate::core::{self, ForRange, FunctionId, GlobalId, KnownValue, LocalId, Root, Stmt, Term, TermKind};
use crate::hash::HashMap;
use crate::types::Type as CoreType;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The loop whose body is built.
pub(super) struct Loop {
    /// The label.
    label: Label,
    /// The variables that are its state.
    variables: Vec<Root>,
}

/// The values of variables at a point: of the body, and of the session.
pub(super) struct VariableValues(HashMap<LocalId, Known>, HashMap<GlobalId, Known>, Vec<Known>);

/// The statements or the term of one side of a branch.
pub(super) type BranchBody<'a> = &'a mut dyn FnMut(&mut Builder<'_>, &mut Scope<'_>) -> Result<Option<Value>>;

impl Builder<'_> {
    /// The variables that statements set and that have a value before.
    pub(super) fn variables_of_stmts(&self, scope: &Scope, stmts: &[Stmt]) -> Result<Vec<Root>> {
        let mut setters = Setters { builder: self, scope, found: Vec::new() };
        setters.visit_stmts(stmts);
        self.variables(scope, setters.found)
    }

    /// The variables that terms set and that have a value before.
    pub(super) fn variables_of_terms(&self, scope: &Scope, terms: &[&Term]) -> Result<Vec<Root>> {
        let mut setters = Setters { builder: self, scope, found: Vec::new() };
        terms.iter().for_each(|term| setters.visit_term(term));
        self.variables(scope, setters.found)
    }

    fn variables(&self, scope: &Scope, mut found: Vec<Root>) -> Result<Vec<Root>> {
        found.sort_unstable();
        found.dedup();
        found.retain(|root| self.lookup_variable(scope, *root).is_some());
        let is_own = |root: &Root| match root {
            Root::Local(local) => scope.is_own(*local),
            Root::Global(_) => scope.script.is_some() || scope.carried.contains(root),
        };
        if !found.iter().all(is_own) {
            return Err(Declined::Variable.into());
        }
        Ok(found)
    }

    /// The value of a variable that has been bound or set in the unit, or that the unit changes.
    pub(super) fn lookup_variable<'s>(&'s self, scope: &'s Scope, root: Root) -> Option<&'s Known> {
        let known = match root {
            Root::Local(local) => scope.locals.get(&local),
            Root::Global(global) => self.globals.get(&global),
        };
        match known {
            Some(Known::Shared(cell)) => self.cells.get(*cell),
            known => known,
        }
    }

    /// Gives a local its first value.
    pub(super) fn bind_local(&mut self, scope: &mut Scope, local: LocalId, known: Known) {
        if !scope.is_shared(local) {
            scope.locals.insert(local, known);
            return;
        }
        scope.locals.insert(local, Known::Shared(self.cells.len()));
        scope.owned.push(local);
        self.cells.push(known);
    }

    /// Sets a variable outside to what it is at the beginning of the unit.
    pub(super) fn bind_variable(&mut self, scope: &mut Scope, root: Root, known: Known) {
        if !matches!(known, Known::Shared(_)) {
            self.rebind(scope, root, known);
        }
    }

    /// Sets a variable to a value.
    fn rebind(&mut self, scope: &mut Scope, root: Root, known: Known) {
        match root {
            Root::Local(local) => match scope.locals.get(&local) {
                Some(Known::Shared(cell)) => self.cells[*cell] = known,
                _ => drop(scope.locals.insert(local, known)),
            },
            Root::Global(global) => drop(self.globals.insert(global, known)),
        }
    }

    /// The data that a variable has as its value.
    fn data_of(&self, scope: &Scope, root: Root) -> Result<Value> {
        self.data(self.lookup_variable(scope, root).expect("a variable with a value").clone())
    }

    pub(super) fn variable_values(&self, scope: &Scope) -> VariableValues {
        VariableValues(scope.locals.clone(), self.globals.clone(), self.cells.clone())
    }

    pub(super) fn restore_variables(
        &mut self,
        scope: &mut Scope,
        VariableValues(locals, globals, cells): VariableValues,
    ) {
        (scope.locals, self.globals, self.cells) = (locals, globals, cells);
    }

    /// Binds the shared variables outside, and the locals that hold functions. A shared variable that
    /// is captured only has a local behind those of the body, of which there are `locals`.
    pub(super) fn bind_outside(&mut self, scope: &mut Scope<'_>, locals: usize) -> Result<()> {
        for (root, _) in self.known {
            // A block forgets the cells that are made in it, so all are made here.
            let value = self.variable(scope, *root)?;
            if let (Root::Local(local), Known::Shared(_) | Known::Function(_)) = (*root, &value) {
                if let Known::Shared(_) = value {
                    scope.owned.push(local);
                }
                scope.locals.insert(local, value);
            }
        }
        for known in scope.locals.values() {
            if let Known::Function(closure) = known {
                self.outside_sets.extend(&closure.sets);
            }
        }
        let is_bound = |cell: usize| {
            scope.locals.values().any(|known| matches!(known, Known::Shared(bound) if *bound == cell))
        };
        let captured: Vec<usize> = (0..self.cells.len()).filter(|cell| !is_bound(*cell)).collect();
        for (local, cell) in (locals..).zip(captured) {
            let local = LocalId::new(local);
            scope.locals.insert(local, Known::Shared(cell));
            scope.owned.push(local);
        }
        Ok(())
    }

    /// The value of a variable now.
    pub(super) fn variable(&mut self, scope: &Scope, root: Root) -> Result<Known> {
        if let Some(known) = self.lookup_variable(scope, root) {
            return Ok(known.clone());
        }
        let ty = match (root, scope.script) {
            (Root::Local(local), Some(locals)) => &locals[local.index()].ty,
            (Root::Global(global), _) => &self.core.globals[global.index()].ty,
            // A variable that is set later.
            (Root::Local(_), None) => return Err(Declined::Variable.into()),
        };
        let value = self.known.iter().find(|(known, _)| *known == root).map(|(_, value)| value);
        let outside = Outside { root, path: Vec::new() };
        self.outside(outside, &scope.concrete(ty), value.unwrap_or(&KnownValue::Data))
    }

    /// A value outside of the unit.
    fn outside(&mut self, outside: Outside, ty: &CoreType, known: &KnownValue) -> Result<Known> {
        match known {
            KnownValue::Data => Ok(Known::Data(self.outside_data(outside, ty)?)),
            KnownValue::Function(function, types, captured) => {
                self.outside_function(&outside, *function, types, captured)
            }
            KnownValue::Shared(number) => {
                let known = self.outside_cells.get(number).map(|(cell, _)| *cell);
                if self.recursion.current.is_some() {
                    // A function is not given the cell, but what is in it.
                    return match known {
                        Some(cell) if !self.changed_cells.contains(&cell) => {
                            Ok(Known::Data(self.outside_data(outside, ty)?))
                        }
                        _ => Err(Declined::Variable.into()),
                    };
                }
                if let Some(cell) = known {
                    return Ok(Known::Shared(cell));
                }
                let param = self.outside_data(outside, ty)?;
                self.outside_cells.insert(*number, (self.cells.len(), param));
                self.cells.push(Known::Data(param));
                Ok(Known::Shared(self.cells.len() - 1))
            }
        }
    }

    /// The parameter that is a value outside of the unit.
    pub(super) fn outside_data(&mut self, outside: Outside, ty: &CoreType) -> Result<Value> {
        if let Some((.., value)) = self.outside.iter().find(|(known, ..)| *known == outside) {
            return Ok(*value);
        }
        let (core_type, ty) = (ty.clone(), self.ty(ty)?);
        let value = self.fresh();
        self.types.insert(value, ty);
        self.outside.push((outside, core_type, value));
        Ok(value)
    }

    /// A function outside of the unit, with what it has captured.
    fn outside_function(
        &mut self,
        outside: &Outside,
        function: FunctionId,
        types: &[CoreType],
        captured: &[KnownValue],
    ) -> Result<Known> {
        let body = self.core.functions.get(function.index()).cloned().flatten();
        let body = body.expect("a function of a checked program");
        let bindings = body.type_params.iter().map(|param| param.id).zip(types.iter().cloned());
        let scope = Scope { at_run: self.at_run, ..Scope::of(bindings.collect(), &body.locals) };
        let mut captures = Vec::new();
        for ((at, local), known) in body.captures.iter().enumerate().zip(captured) {
            let path = outside.path.iter().copied().chain([at]).collect();
            let ty = scope.concrete(&body.locals[local.index()].ty);
            captures.push(self.outside(Outside { path, ..outside.clone() }, &ty, known)?);
        }
        let set = captures_set_by(self.core, function);
        if set.iter().any(|at| matches!(captures[*at], Known::Data(_))) {
            return Err(Declined::Variable.into());
        }
        Ok(Known::Function(Arc::new(Closure::new(self.core, function, types.to_vec(), captures))))
    }

    /// A term that is a unit: it changes no variable outside.
    pub(super) fn pure_term(&mut self, scope: &mut Scope<'_>, term: &Term) -> Result<Value> {
        let value = self.value(scope, term)?;
        self.expect_others_unchanged()?;
        Ok(value)
    }

    /// Declines a change of a shared variable outside that is none of those that the unit changes.
    pub(super) fn expect_others_unchanged(&self) -> Result<()> {
        let is_changed = |(cell, first): &(usize, Value)| {
            !self.changed_cells.contains(cell) && !self.cells[*cell].is(&Known::Data(*first))
        };
        if self.outside_cells.values().any(is_changed) { Err(Declined::Variable.into()) } else { Ok(()) }
    }

    /// A loop over variables outside, which it changes; gives their last values, and the parameters
    /// that are their first ones.
    pub(super) fn loop_over_outside(
        &mut self,
        scope: &mut Scope<'_>,
        stmt: &Stmt,
    ) -> Result<(Value, Vec<Value>)> {
        let mut changes = modified_variables(stmt);
        let globals: BTreeSet<GlobalId> = self.setters.values().flatten().copied().collect();
        let sets = &self.outside_sets;
        let holds_cell = |known: &Known| matches!(known, Known::Shared(cell) if sets.contains(cell));
        let locals: BTreeSet<LocalId> =
            scope.locals.iter().filter(|(_, known)| holds_cell(known)).map(|(local, _)| *local).collect();
        let mut made = Setters { builder: self, scope, found: Vec::new() };
        made.visit_stmts(std::slice::from_ref(stmt));
        let is_shared = |root: &Root| match root {
            Root::Local(local) => matches!(scope.locals.get(local), Some(Known::Shared(_))),
            Root::Global(_) => false,
        };
        let made = made.found.into_iter().filter(is_shared);
        let further = locals.into_iter().map(Root::Local).chain(globals.into_iter().map(Root::Global));
        for root in further.chain(made) {
            if !changes.contains(&root) {
                changes.push(root);
            }
        }
        let cells = changes.iter().filter_map(|root| match root {
            Root::Local(local) => match scope.locals.get(local) {
                Some(Known::Shared(cell)) => Some(*cell),
                _ => None,
            },
            Root::Global(_) => None,
        });
        self.changed_cells = cells.collect();
        let mut first = Vec::new();
        for root in &changes {
            let known = self.variable(scope, *root)?;
            first.push(self.data(known.clone())?);
            self.bind_variable(scope, *root, known);
        }
        self.stmt(scope, stmt)?;
        self.expect_others_unchanged()?;
        Ok((self.pack(scope, None, &changes)?, first))
    }

    /// The values of variables, behind another value if there is one: a tuple, or the one value.
    pub(super) fn pack(&mut self, scope: &Scope, first: Option<Value>, variables: &[Root]) -> Result<Value> {
        let mut values: Vec<Value> = first.into_iter().collect();
        for root in variables {
            values.push(self.data_of(scope, *root)?);
        }
        self.settle(scope, variables);
        self.tuple_or_one(values)
    }

    /// A tuple of values, or the one value.
    pub(super) fn tuple_or_one(&mut self, values: Vec<Value>) -> Result<Value> {
        if let [value] = values[..] {
            return Ok(value);
        }
        let ty = Type::Tuple(values.iter().map(|value| self.types[value].clone()).collect());
        self.define(ty, Op::Tuple(values))
    }

    /// Carries on the variables that a function value sets, or that function values which it has been
    /// given set. Shared ones that it has not captured itself get a local behind its own, of which
    /// there are `locals`.
    pub(super) fn carry_captures(&self, scope: &mut Scope, closure: &Closure, locals: usize) {
        let mut cells = closure.sets.clone();
        let mut globals = self.globals_set_by(closure);
        for known in scope.locals.values() {
            if let Known::Function(given) = known {
                cells.extend(&given.sets);
                globals.extend(self.globals_set_by(given));
            }
        }
        cells.sort_unstable();
        cells.dedup();
        for cell in cells {
            let local = local_of_cell(scope, cell).unwrap_or_else(|| {
                let local = LocalId::new(locals + scope.carried.len());
                scope.locals.insert(local, Known::Shared(cell));
                local
            });
            scope.owned.push(local);
            scope.carried.push(Root::Local(local));
        }
        scope.carried.extend(globals.into_iter().map(Root::Global));
    }

    /// States that changes of variables need not be carried beyond the block that is built.
    pub(super) fn settle(&mut self, scope: &Scope, variables: &[Root]) {
        for root in variables {
            match root {
                Root::Local(local) => {
                    if let Some(Known::Shared(cell)) = scope.locals.get(local) {
                        self.settled.push(*cell);
                    }
                }
                Root::Global(global) => self.settled_globals.push(*global),
            }
        }
    }

    /// States the same of all variables of a function, at a jump that leaves a loop or the function
    /// with the values that are needed there.
    pub(super) fn settle_own(&mut self, scope: &Scope) {
        let own: Vec<Root> = scope.owned.iter().map(|local| Root::Local(*local)).collect();
        self.settle(scope, &own);
    }

    /// Sets variables to what [`Builder::pack`] has put together; gives the value in front.
    pub(super) fn unpack(
        &mut self,
        scope: &mut Scope,
        packed: Value,
        has_first: bool,
        variables: &[Root],
    ) -> Result<Option<Value>> {
        let count = usize::from(has_first) + variables.len();
        let mut parts = Vec::with_capacity(count);
        match self.types[&packed].clone() {
            _ if count == 1 => parts.push(packed),
            Type::Tuple(types) => {
                for (part, ty) in (0..).zip(types) {
                    parts.push(self.define(ty, Op::Part(packed, part))?);
                }
            }
            ty => unreachable!("{ty} is no state of {count} parts"),
        }
        let mut parts = parts.into_iter();
        let first = if has_first { parts.next() } else { None };
        for (root, part) in variables.iter().zip(parts) {
            self.rebind(scope, *root, Known::Data(part));
        }
        Ok(first)
    }

    /// One of two sides, of which each may set variables; they give values of a type if there is
    /// one.
    pub(super) fn branch(
        &mut self,
        scope: &mut Scope<'_>,
        condition: Value,
        variables: &[Root],
        ty: Option<Type>,
        sides: [BranchBody<'_>; 2],
    ) -> Result<Option<Value>> {
        let mut blocks = Vec::new();
        for side in sides {
            blocks.push(self.branch_block(scope, variables, Vec::new(), |this, scope, _| side(this, scope))?);
        }
        self.join_branches(scope, variables, ty, blocks, |blocks| {
            let [then, otherwise]: [Block; 2] = blocks.try_into().expect("a branch has two sides");
            Op::If(condition, then, otherwise)
        })
    }

    /// The block of a side, with parameters of these types: its value, and the variables that it
    /// may set.
    pub(super) fn branch_block(
        &mut self,
        scope: &mut Scope<'_>,
        variables: &[Root],
        params: Vec<Type>,
        build: impl FnOnce(&mut Self, &mut Scope<'_>, &[Value]) -> Result<Option<Value>>,
    ) -> Result<Block> {
        let before = self.variable_values(scope);
        let block = self.block(params, |this, params| {
            let value = build(this, scope, params)?;
            this.pack(scope, value, variables)
        });
        self.restore_variables(scope, before);
        block
    }

    /// The operation that runs one of some sides, behind which the variables have the values of the
    /// side that ran.
    pub(super) fn join_branches(
        &mut self,
        scope: &mut Scope<'_>,
        variables: &[Root],
        ty: Option<Type>,
        mut blocks: Vec<Block>,
        op: impl FnOnce(Vec<Block>) -> Op,
    ) -> Result<Option<Value>> {
        if blocks.iter().any(|block| matches!(block.end, End::Yield(_))) {
            let has_first = ty.is_some();
            let ty = self.state_type(scope, ty, variables)?;
            let packed = self.define(ty, op(blocks))?;
            return self.unpack(scope, packed, has_first, variables);
        }
        let mut end = blocks[0].end;
        let ty = self.types[&end.value()].clone();
        let same = |block: &Block| match (block.end, end) {
            (End::Exit(a, _), End::Exit(b, _)) | (End::Next(a, _), End::Next(b, _)) => a == b,
            _ => false,
        };
        // All sides leave in the same way: with the value of the one that runs. Sides that leave in
        // different ways do so themselves, and nothing behind them runs.
        if blocks.iter().all(same) {
            for block in &mut blocks {
                block.end = End::Yield(block.end.value());
            }
        }
        *end.value_mut() = self.define(ty, op(blocks))?;
        self.settle_own(scope);
        Err(AbruptCompletion::Jump(end))
    }

    /// The type of what [`Builder::pack`] makes of variables, behind a value of a type if there is
    /// one.
    pub(super) fn state_type(&self, scope: &Scope, first: Option<Type>, variables: &[Root]) -> Result<Type> {
        let mut types: Vec<Type> = first.into_iter().collect();
        for root in variables {
            types.push(self.types[&self.data_of(scope, *root)?].clone());
        }
        Ok(if types.len() == 1 { types.remove(0) } else { Type::Tuple(types) })
    }

    /// Sets a variable.
    pub(super) fn set(&mut self, scope: &mut Scope<'_>, root: Root, term: &Term) -> Result<()> {
        let known = self.term(scope, term)?;
        self.expect_changeable(scope, root)?;
        self.rebind(scope, root, known);
        Ok(())
    }

    /// Declines a change of a variable that is not known to change where its values are joined: one
    /// outside of the unit, one of the session or of a function around whose changes a function does
    /// not carry on.
    fn expect_changeable(&self, scope: &Scope, root: Root) -> Result<()> {
        let may_change = match root {
            Root::Local(local) if !scope.is_own(local) => false,
            // A local of a function may be set first here.
            Root::Local(_) => scope.script.is_none() || self.lookup_variable(scope, root).is_some(),
            Root::Global(_) => {
                (scope.script.is_some() || scope.carried.contains(&root))
                    && self.lookup_variable(scope, root).is_some()
            }
        };
        if may_change { Ok(()) } else { Err(Declined::Variable.into()) }
    }

    /// Stores into a part of a variable: the path is computed first, then the value.
    pub(super) fn store(
        &mut self,
        scope: &mut Scope<'_>,
        root: Root,
        path: &[core::Step],
        value: &Term,
    ) -> Result<()> {
        let mut at = Vec::new();
        for step in path {
            at.push(match &step.kind {
                core::StepKind::Index(term) | core::StepKind::Digit(term) => Some(self.value(scope, term)?),
                _ => None,
            });
        }
        let value = self.value(scope, value)?;
        self.expect_changeable(scope, root)?;
        let before = self.variable(scope, root)?;
        let before = self.data(before)?;
        let after = self.write(scope, before, path, &at, value)?;
        self.rebind(scope, root, Known::Data(after));
        Ok(())
    }

    /// The value `before` with another at the end of a path.
    fn write(
        &mut self,
        scope: &Scope,
        before: Value,
        path: &[core::Step],
        at: &[Option<Value>],
        value: Value,
    ) -> Result<Value> {
        let ([step, path @ ..], [index, at @ ..]) = (path, at) else { return Ok(value) };
        match (&step.kind, self.types[&before].clone()) {
            (core::StepKind::Component(position), Type::Tuple(types)) => {
                let position = usize::try_from(position).map_err(|_| Declined::Length)?;
                let mut parts = Vec::new();
                for part in 0..types.len() as u64 {
                    parts.push(self.component(before, part)?);
                }
                parts[position] = self.write(scope, parts[position], path, at, value)?;
                self.define(Type::Tuple(types), Op::Tuple(parts))
            }
            (core::StepKind::Component(position), Type::Array(space, _)) => {
                let position = u64::try_from(position).map_err(|_| Declined::Length)?;
                let at_position = self.index_at(&space, position)?;
                self.write_element(scope, before, at_position, (path, at), value)
            }
            (core::StepKind::Index(_), Type::Array(..)) => {
                let index = self.array_index(before, index.expect("an index has been computed"))?;
                self.write_element(scope, before, index, (path, at), value)
            }
            (core::StepKind::Factor(position), _) => {
                let position = usize::try_from(position).map_err(|_| Declined::Length)?;
                let (from, to) = (scope.concrete(&step.from), scope.concrete(&step.to));
                let inner = self.factor(before, &structural_type(&from), position, &to)?;
                let inner = self.write(scope, inner, path, at, value)?;
                self.with_factor(before, &from, position, inner)
            }
            (core::StepKind::Digit(_), _) => {
                let from = scope.concrete(&step.from);
                let power = self.power(&from)?;
                let position = index.expect("a position has been computed");
                let inner = self.power_digit(before, &power, position)?;
                let inner = self.write(scope, inner, path, at, value)?;
                self.with_power_digit(before, (&from, &power), position, inner)
            }
            (core::StepKind::Reshape, _) => {
                let inner = self.reshape(before, &scope.concrete(&step.to))?;
                let inner = self.write(scope, inner, path, at, value)?;
                self.reshape(inner, &scope.concrete(&step.from))
            }
            _ => Err(Declined::Variable.into()),
        }
    }

    fn write_element(
        &mut self,
        scope: &Scope,
        array: Value,
        index: Value,
        (path, at): (&[core::Step], &[Option<Value>]),
        value: Value,
    ) -> Result<Value> {
        // An element of an element is stored without a copy of the one that it is in.
        let (mut levels, mut element) = (vec![index], array);
        let (mut path, mut at) = (path, at);
        let element = loop {
            let ([step, rest @ ..], [given, others @ ..]) = (path, at) else { break value };
            element = self.element_at(element, levels[levels.len() - 1])?;
            let inner = match (&step.kind, &self.types[&element]) {
                (core::StepKind::Index(_), Type::Array(space, _)) if !space.digits.is_empty() => {
                    self.array_index(element, given.expect("an index has been computed"))?
                }
                _ => break self.write(scope, element, path, at, value)?,
            };
            levels.push(inner);
            (path, at) = (rest, others);
        };
        let ty = self.types[&array].clone();
        let index = self.joined_index(&levels)?;
        self.define(ty, Op::Update(array, index, element))
    }

    /// The index that has the digits of some indices one after another.
    fn joined_index(&mut self, indices: &[Value]) -> Result<Value> {
        if let [index] = indices {
            return Ok(*index);
        }
        let (mut space, mut digits) = (Space::default(), Vec::new());
        for index in indices {
            let Type::Index(own) = &self.types[index] else { unreachable!("{index} is an index") };
            digits.extend((0..own.digits.len() as u32).map(|digit| DigitExpr::Of(*index, digit)));
            space.digits.extend(own.digits.iter().cloned());
        }
        self.define(Type::Index(space.clone()), Op::At(space, digits))
    }

    /// A loop over a range.
    pub(super) fn for_loop(
        &mut self,
        scope: &mut Scope<'_>,
        local: LocalId,
        range: &ForRange,
        body: &[Stmt],
    ) -> Result<()> {
        let (ints, index, array, all) = match range {
            ForRange::All(ty) => {
                let ty = scope.concrete(ty);
                let space = self.space(&ty)?;
                (None, Type::Index(space), None, Some(ty))
            }
            ForRange::Ints { low, high, inclusive } => {
                let (low, high) = (self.value(scope, low)?, self.value(scope, high)?);
                (Some(Range { low, high, inclusive: *inclusive }), Type::I64, None, None)
            }
            ForRange::Elements(array) => {
                let array = self.value(scope, array)?;
                let Type::Array(space, _) = self.types[&array].clone() else {
                    unreachable!("a loop runs over the elements of an array");
                };
                (None, Type::Index(space), Some(array), None)
            }
        };
        let variables = self.variables_of_stmts(scope, body)?;
        let state = self.pack(scope, None, &variables)?;
        let ty = self.types[&state].clone();
        let label = self.label();
        let before = self.variable_values(scope);
        let block = self.block(vec![index, ty.clone()], |this, params| {
            this.unpack(scope, params[1], false, &variables)?;
            let item = match (array, &all) {
                (Some(array), _) => this.element_at(array, params[0])?,
                (None, Some(ty)) => this.whole_index(ty, params[0])?,
                (None, None) => params[0],
            };
            this.bind_local(scope, local, Known::Data(item));
            this.round(scope, label, &variables, body)
        });
        self.restore_variables(scope, before);
        let last = self.define(ty, Op::For { label, range: ints, state, body: block? })?;
        self.unpack(scope, last, false, &variables).map(|_| ())
    }

    /// A loop while a condition holds.
    pub(super) fn while_loop(
        &mut self,
        scope: &mut Scope<'_>,
        condition: &Term,
        body: &[Stmt],
    ) -> Result<()> {
        if !self.variables_of_terms(scope, &[condition])?.is_empty() {
            return Err(Declined::Variable.into());
        }
        let variables = self.variables_of_stmts(scope, body)?;
        let state = self.pack(scope, None, &variables)?;
        let ty = self.types[&state].clone();
        let label = self.label();
        let before = self.variable_values(scope);
        let test = self.block(vec![ty.clone()], |this, params| {
            this.unpack(scope, params[0], false, &variables)?;
            let holds = this.value(scope, condition);
            this.settle(scope, &variables);
            holds
        });
        self.restore_variables(scope, before);
        let before = self.variable_values(scope);
        let block = test.and_then(|test| {
            let block = self.block(vec![ty.clone()], |this, params| {
                this.unpack(scope, params[0], false, &variables)?;
                this.round(scope, label, &variables, body)
            })?;
            Ok((test, block))
        });
        self.restore_variables(scope, before);
        let (condition, body) = block?;
        let last = self.define(ty, Op::While { label, state, condition, body })?;
        self.unpack(scope, last, false, &variables).map(|_| ())
    }

    /// The state after the statements of one round.
    fn round(
        &mut self,
        scope: &mut Scope<'_>,
        label: Label,
        variables: &[Root],
        body: &[Stmt],
    ) -> Result<Value> {
        scope.loops.push(Loop { label, variables: variables.to_vec() });
        let done = body.iter().try_for_each(|stmt| self.stmt(scope, stmt));
        scope.loops.pop();
        done?;
        self.pack(scope, None, variables)
    }

    /// The end of a round by `break` or `continue`.
    pub(super) fn leave_round(&mut self, scope: &Scope, is_break: bool) -> Result<()> {
        let Loop { label, variables } = scope.loops.last().ok_or(Declined::Loop)?;
        let state = self.pack(scope, None, variables)?;
        self.settle_own(scope);
        Err(AbruptCompletion::Jump(if is_break {
            End::Exit(*label, state)
        } else {
            End::Next(*label, state)
        }))
    }
}

/// The variables that statements and terms set, by themselves or by functions that they mention.
struct Setters<'b, 's, 'p> {
    builder: &'b Builder<'p>,
    scope: &'b Scope<'s>,
    found: Vec<Root>,
}

impl Setters<'_, '_, '_> {
    fn visit_stmts(&mut self, stmts: &[Stmt]) {
        for stmt in stmts {
            stmt.for_each_stmt(&mut |inner| {
                self.found.extend(inner.stores_into());
            });
            stmt.for_each_term(&mut |term| self.visit_term(term));
        }
    }

    fn visit_term(&mut self, term: &Term) {
        match &term.kind {
            TermKind::Block(stmts, value) => {
                self.visit_stmts(stmts);
                if let Some(value) = value {
                    self.visit_term(value);
                }
            }
            TermKind::Closure { function, captures, .. } => {
                if !self.scope.shared.is_empty() {
                    let set = captures_set_by(self.builder.core, *function);
                    self.found.extend(set.into_iter().map(|at| Root::Local(captures[at])));
                }
                let globals = self.builder.setters.get(function).into_iter().flatten();
                self.found.extend(globals.map(|global| Root::Global(*global)));
            }
            TermKind::Local(local) => {
                if let Some(Known::Function(closure)) =
                    self.builder.lookup_variable(self.scope, Root::Local(*local))
                {
                    let locals = closure.sets.iter().filter_map(|cell| local_of_cell(self.scope, *cell));
                    self.found.extend(locals.map(Root::Local));
                    self.found.extend(self.builder.globals_set_by(closure).into_iter().map(Root::Global));
                }
            }
            _ => term.for_each_child(&mut |child| self.visit_term(child)),
        }
    }
}

/// The local of a scope that a cell belongs to.
fn local_of_cell(scope: &Scope, cell: usize) -> Option<LocalId> {
    let is_it = |known: &Known| matches!(known, Known::Shared(own) if *own == cell);
    scope.locals.iter().find(|(_, known)| is_it(known)).map(|(local, _)| *local)
}

/// The positions of the captured variables that a function sets, or a function inside of it.
pub(super) fn captures_set_by(core: &core::Program, function: core::FunctionId) -> Vec<usize> {
    let function = core.functions.get(function.index()).and_then(Option::as_ref);
    let function = function.expect("a function of a checked program");
    let is_set =
        |local: &LocalId| function.locals[local.index()].shared && sets(core, &function.body, *local);
    (0..).zip(&function.captures).filter(|(_, local)| is_set(local)).map(|(at, _)| at).collect()
}

/// Returns true if a term, or a function that it makes, sets a local.
fn sets(core: &core::Program, term: &Term, local: LocalId) -> bool {
    let mut found = false;
    match &term.kind {
        TermKind::Block(stmts, value) => {
            for stmt in stmts {
                stmt.for_each_stmt(&mut |inner| found |= inner.stores_into() == Some(Root::Local(local)));
                stmt.for_each_term(&mut |term| found |= sets(core, term, local));
            }
            found |= value.as_ref().is_some_and(|value| sets(core, value, local));
        }
        TermKind::Closure { function, captures, .. } => {
            let made = core.functions.get(function.index()).and_then(Option::as_ref);
            let made = made.expect("a function of a checked program");
            let inside = captures.iter().zip(&made.captures).filter(|(captured, _)| **captured == local);
            found = inside.into_iter().any(|(_, own)| sets(core, &made.body, *own));
        }
        _ => term.for_each_child(&mut |child| found |= sets(core, child, local)),
    }
    found
}
