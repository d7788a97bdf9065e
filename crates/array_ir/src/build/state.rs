//! Variables, stores into parts of them, branches and loops: variables that change become state.
//!
//! In a list of statements a variable is the value that was set last. A branch or a round gives the
//! variables that it may set as its value: all of them in a tuple, or the one. `break`, `continue`
//! and `return` are ends with values. So no statement changes anything.
//!
//! A variable that a local function shares is declined: its value is that of the time of a call.

use super::types::structural_type;
use super::{AbruptCompletion, Builder, Declined, Known, Result, Scope};
use crate::array_ir::{Block, DigitExpr, End, Label, Op, Range, Space, Type, Value};
use crate::core::{self, ForRange, GlobalId, LocalId, Root, Stmt, Term, TermKind};
use crate::hash::HashMap;

/// The loop whose body is built.
pub(super) struct Loop {
    /// The label.
    label: Label,
    /// The variables that are its state.
    variables: Vec<Root>,
}

/// The values of variables at a point: of the body, and of the session.
pub(super) struct VariableValues(HashMap<LocalId, Known>, HashMap<GlobalId, Known>);

/// The statements or the term of one side of a branch.
pub(super) type BranchBody<'a> = &'a mut dyn FnMut(&mut Builder<'_>, &mut Scope<'_>) -> Result<Option<Value>>;

impl Builder<'_> {
    /// The variables that statements set and that have a value before.
    pub(super) fn variables_of_stmts(&self, scope: &Scope, stmts: &[Stmt]) -> Result<Vec<Root>> {
        let mut found = Vec::new();
        set_by_stmts(stmts, &mut found);
        self.variables(scope, found)
    }

    /// The variables that terms set and that have a value before.
    pub(super) fn variables_of_terms(&self, scope: &Scope, terms: &[&Term]) -> Result<Vec<Root>> {
        let mut found = Vec::new();
        terms.iter().for_each(|term| set_by_term(term, &mut found));
        self.variables(scope, found)
    }

    fn variables(&self, scope: &Scope, mut found: Vec<Root>) -> Result<Vec<Root>> {
        found.sort_unstable();
        found.dedup();
        if found.iter().any(|root| matches!(root, Root::Local(local) if scope.is_shared(*local))) {
            return Err(Declined::Variable.into());
        }
        found.retain(|root| self.lookup_variable(scope, *root).is_some());
        Ok(found)
    }

    /// The value of a variable that has been bound or set in the unit, or that the unit changes.
    pub(super) fn lookup_variable<'s>(&'s self, scope: &'s Scope, root: Root) -> Option<&'s Known> {
        match root {
            Root::Local(local) => scope.locals.get(&local),
            Root::Global(global) => self.globals.get(&global),
        }
    }

    /// Sets a variable to a value.
    fn rebind(&mut self, scope: &mut Scope, root: Root, known: Known) {
        match root {
            Root::Local(local) => scope.locals.insert(local, known),
            Root::Global(global) => self.globals.insert(global, known),
        };
    }

    /// The data that a variable has as its value.
    fn data_of(&self, scope: &Scope, root: Root) -> Result<Value> {
        self.data(self.lookup_variable(scope, root).expect("a variable with a value").clone())
    }

    pub(super) fn variable_values(&self, scope: &Scope) -> VariableValues {
        VariableValues(scope.locals.clone(), self.globals.clone())
    }

    pub(super) fn restore_variables(
        &mut self,
        scope: &mut Scope,
        VariableValues(locals, globals): VariableValues,
    ) {
        (scope.locals, self.globals) = (locals, globals);
    }

    /// A loop of a unit over variables outside, which it changes; gives their last values.
    pub(super) fn loop_over_outside(
        &mut self,
        scope: &mut Scope<'_>,
        changes: &[Root],
        stmt: &Stmt,
    ) -> Result<Value> {
        for root in changes {
            let known = self.variable(scope, *root)?;
            self.data(known.clone())?;
            self.rebind(scope, *root, known);
        }
        self.stmt(scope, stmt)?;
        self.pack(scope, None, changes)
    }

    /// The values of variables, behind another value if there is one: a tuple, or the one value.
    pub(super) fn pack(&mut self, scope: &Scope, first: Option<Value>, variables: &[Root]) -> Result<Value> {
        let mut values: Vec<Value> = first.into_iter().collect();
        for root in variables {
            values.push(self.data_of(scope, *root)?);
        }
        if let [value] = values[..] {
            return Ok(value);
        }
        let ty = Type::Tuple(values.iter().map(|value| self.types[value].clone()).collect());
        self.define(ty, Op::Tuple(values))
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
    /// outside of the unit, one of the session inside of a function, one that local functions
    /// share.
    fn expect_changeable(&self, scope: &Scope, root: Root) -> Result<()> {
        let may_change = match root {
            Root::Local(local) if scope.is_shared(local) => false,
            // A local of a function may be set first here.
            Root::Local(_) => scope.script.is_none() || self.lookup_variable(scope, root).is_some(),
            Root::Global(_) => scope.script.is_some() && self.lookup_variable(scope, root).is_some(),
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
            scope.locals.insert(local, Known::Data(item));
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
            this.value(scope, condition)
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
        Err(AbruptCompletion::Jump(if is_break {
            End::Exit(*label, state)
        } else {
            End::Next(*label, state)
        }))
    }
}

/// Collects the variables that statements set, with those in terms.
fn set_by_stmts(stmts: &[Stmt], found: &mut Vec<Root>) {
    for stmt in stmts {
        stmt.for_each_stmt(&mut |inner| {
            found.extend(inner.stores_into());
        });
        stmt.for_each_term(&mut |term| set_by_term(term, found));
    }
}

fn set_by_term(term: &Term, found: &mut Vec<Root>) {
    match &term.kind {
        TermKind::Block(stmts, value) => {
            set_by_stmts(stmts, found);
            if let Some(value) = value {
                set_by_term(value, found);
            }
        }
        _ => term.for_each_child(&mut |child| set_by_term(child, found)),
    }
}
