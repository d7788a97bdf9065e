//! Calls: the function is known, and its body stands in place of the call, unless it is recursive
//! ([`super::recursion`]).

use super::recursion::{Changes, Instance, RecursiveFunction, has_sizes, id_of, is_concrete};
use super::{Builder, Closure, Declined, Known, Outside, Result, Scope};
use crate::array_ir::{Block, Effect, End, Op, Type, Value};
use crate::core::{self, ClassId, Root, Stmt, StmtKind, Term, TermKind};
use crate::hash::HashMap;
use crate::source::Span;
use crate::types::{Type as CoreType, TypeKind};
use std::sync::Arc;

impl Builder<'_> {
    /// The function that a method is at types.
    pub(super) fn method(&mut self, class: ClassId, method: usize, types: &[CoreType]) -> Result<Known> {
        // At other sizes another instance may fit.
        let meet = |args: &[CoreType]| args.iter().zip(types).all(|(head, ty)| may_meet(head, ty));
        let own = self.core.instances.iter().filter(|instance| instance.class == class);
        if types.iter().any(CoreType::has_var) && own.filter(|instance| meet(&instance.args)).count() > 1 {
            return Err(Declined::Query.into());
        }
        let found = self.core.implementation(class, method, types);
        let (function, types) = found.ok_or(Declined::Abstract)?;
        Ok(Known::Function(Arc::new(Closure::new(self.core, function, types, Vec::new()))))
    }

    /// A call of a term.
    pub(super) fn call(
        &mut self,
        scope: &mut Scope,
        term: &Term,
        head: &Term,
        args: &[Term],
    ) -> Result<Known> {
        let Known::Function(closure) = self.term(scope, head)? else {
            return Err(Declined::Function.into());
        };
        let args = args.iter().map(|arg| self.term(scope, arg)).collect::<Result<Vec<_>>>()?;
        self.apply_at(&closure, args, term.span)
    }

    /// The value of a function for arguments, called at a place.
    pub(super) fn apply_at(&mut self, closure: &Arc<Closure>, args: Vec<Known>, span: Span) -> Result<Known> {
        self.call_spans.push(span);
        let result = self.apply(closure, args);
        self.call_spans.pop();
        result
    }

    /// The value of a function for new parameters of the unit.
    pub(super) fn apply_to_params(
        &mut self,
        closure: &Arc<Closure>,
        params: &mut Vec<(Value, Type)>,
    ) -> Result<Known> {
        let function = self.core.functions.get(closure.function.index()).cloned().flatten();
        let function = function.expect("a function of a checked program");
        let bindings = function.type_params.iter().map(|param| param.id).zip(closure.types.iter().cloned());
        let scope = Scope { at_run: self.at_run, ..Scope::of(bindings.collect(), &function.locals) };
        let mut args = Vec::new();
        for param in &function.params {
            let ty = self.ty(&scope.concrete(&function.locals[param.index()].ty))?;
            let value = self.fresh();
            self.types.insert(value, ty.clone());
            params.push((value, ty));
            args.push(Known::Data(value));
        }
        self.apply(closure, args)
    }

    /// The value of a function for arguments; several are the components of one.
    pub(super) fn apply(&mut self, closure: &Arc<Closure>, mut args: Vec<Known>) -> Result<Known> {
        let function = self.core.functions.get(closure.function.index()).cloned().flatten();
        let function = function.expect("a function of a checked program");
        self.spend()?;
        if !function.given.is_empty() {
            return Err(Declined::Arrival.into());
        }
        let bindings = function.type_params.iter().map(|param| param.id).zip(closure.types.iter().cloned());
        let mut scope = Scope { at_run: self.at_run, ..Scope::of(bindings.collect(), &function.locals) };
        match (args.len(), function.params.len()) {
            (found, expected) if found == expected => {}
            (1, expected) => {
                let whole = self.data(args.remove(0))?;
                for at in 0..expected {
                    args.push(Known::Data(self.component(whole, at as u64)?));
                }
            }
            (_, 1) => {
                let values = args.drain(..).map(|arg| self.data(arg)).collect::<Result<Vec<_>>>()?;
                let domain = scope.concrete(&function.domain);
                args.push(Known::Data(self.product(&domain, values)?));
            }
            _ => unreachable!("a call has the arguments of the function, or one"),
        }
        if let Some(known) = self.recursive_call(closure, &function, &args)? {
            return Ok(known);
        }
        self.begin_call(closure, &args)?;
        let result = self.body_of_call(&mut scope, closure, &function, args);
        self.end_call();
        result
    }

    /// A call of a function whose arguments and captured values are its locals; gives its value with
    /// the last values of the variables that it changes, and the parameters that are their first ones.
    pub(super) fn call_from_outside(
        &mut self,
        scope: &mut Scope<'_>,
        id: core::FunctionId,
        function: &core::Function,
    ) -> Result<(Value, Vec<Value>)> {
        let types = function.type_params.iter().map(|param| scope.concrete(&CoreType::var(param.clone())));
        let types: Vec<CoreType> = types.collect();
        let mut locals = function.captures.iter().chain(&function.params);
        let mut values = locals.try_fold(Vec::new(), |mut values, local| {
            // The variable itself, where functions share it.
            let bound = scope.locals.get(local).cloned();
            values.push(bound.map_or_else(|| self.variable(scope, Root::Local(*local)), Ok)?);
            Ok::<_, super::AbruptCompletion>(values)
        })?;
        let args = values.split_off(function.captures.len());
        let closure = Arc::new(Closure::new(self.core, id, types, values));
        let changes = self.changes(&closure, &args);
        for global in &changes.globals {
            let known = self.variable(scope, Root::Global(*global))?;
            self.bind_variable(scope, Root::Global(*global), known);
        }
        let first = self.changed_values(&changes)?;
        self.changed_cells = changes.cells.iter().copied().collect();
        let value = self.apply(&closure, args)?;
        self.expect_others_unchanged()?;
        let mut parts = vec![self.data(value)?];
        parts.extend(self.changed_values(&changes)?);
        Ok((self.tuple_or_one(parts)?, first))
    }

    /// The value of a call of a recursive instance; `None` if the call is to be inlined.
    fn recursive_call(
        &mut self,
        closure: &Arc<Closure>,
        function: &core::Function,
        args: &[Known],
    ) -> Result<Option<Known>> {
        if self.recursion.known.is_empty() {
            return Ok(None);
        }
        let changes = self.changes(closure, args);
        let Some(instance) = self.instance(closure, args, &changes) else { return Ok(None) };
        if !self.recursion.known.contains(&instance) {
            return Ok(None);
        }
        let mut values = self.changed_values(&changes)?;
        for known in closure.captures.iter().chain(args) {
            self.data_in(known, &changes, &mut values);
        }
        let types: Vec<Type> = values.iter().map(|value| self.types[value].clone()).collect();
        let made = self.recursion.made.iter().position(|made| made.instance == instance);
        let number = match made {
            Some(number) => number,
            None => self.build_recursive((instance, &changes), closure, function, args, types.clone())?,
        };
        let made = &self.recursion.made[number];
        if made.params != types {
            return Err(Declined::Recursion.into());
        }
        let result = made.result.clone();
        let step = self.calls.len() as u32 + u32::from(self.recursion.current.is_none());
        self.recursion.longest_step = self.recursion.longest_step.max(step);
        if self.recursion.made[number].complete {
            for (outside, ty, _) in self.recursion.made[number].outside.clone() {
                values.push(self.outside_now(outside, &ty)?);
            }
        }
        let (function, effect, sizes) = (id_of(number), Effect::MayNotEnd, Vec::new());
        let call = Op::Call { function, effect, changes: changes.count(), sizes, values };
        let called = self.define(result, call)?;
        if changes.count() == 0 {
            return Ok(Some(Known::Data(called)));
        }
        let value = self.component(called, 0)?;
        let mut parts = Vec::new();
        for part in 1..=changes.count() as u64 {
            parts.push(Known::Data(self.component(called, part)?));
        }
        let globals = parts.split_off(changes.cells.len());
        for (cell, part) in changes.cells.iter().zip(parts) {
            self.cells[*cell] = part;
        }
        self.globals.extend(changes.globals.into_iter().zip(globals));
        Ok(Some(Known::Data(value)))
    }

    /// The value of a session variable where the unit stands.
    fn outside_now(&mut self, outside: Outside, ty: &CoreType) -> Result<Value> {
        if outside.path.is_empty()
            && let Root::Global(global) = outside.root
            && let Some(known) = self.globals.get(&global)
        {
            return self.data(known.clone());
        }
        self.outside_data(outside, ty)
    }

    /// Builds the function of an instance; gives its number.
    fn build_recursive(
        &mut self,
        (instance, changes): (Instance, &Changes),
        closure: &Closure,
        function: &core::Function,
        args: &[Known],
        types: Vec<Type>,
    ) -> Result<usize> {
        let bindings = function.type_params.iter().map(|param| param.id).zip(closure.types.iter().cloned());
        let mut scope = Scope { at_run: self.at_run, ..Scope::of(bindings.collect(), &function.locals) };
        let result = scope.concrete(&function.body.ty);
        if matches!(result.kind(), TypeKind::Function(..) | TypeKind::Procedure(_)) {
            return Err(Declined::Recursion.into());
        }
        let result = self.ty(&result)?;
        if has_sizes(&instance) || !types.iter().chain([&result]).all(is_concrete) {
            return Err(Declined::Recursion.into());
        }
        let params: Vec<(Value, Type)> = types.iter().map(|ty| (self.fresh(), ty.clone())).collect();
        self.types.extend(params.iter().cloned());
        let mut values = params.iter().map(|param| param.0);
        let kept = self.cells.clone();
        let mut cells = HashMap::default();
        for cell in &changes.cells {
            cells.insert(*cell, self.cells.len());
            self.cells.push(Known::Data(values.next().expect("a parameter for each variable that changes")));
        }
        let globals = changes.globals.iter().copied().zip(values.by_ref().map(Known::Data)).collect();
        let closure = self.closure_with_data(closure, &cells, &mut values);
        let args: Vec<Known> = args.iter().map(|arg| self.with_data(arg, &cells, &mut values)).collect();
        let own_changes = Changes {
            cells: changes.cells.iter().map(|cell| cells[cell]).collect(),
            globals: changes.globals.clone(),
        };
        let result = match changes.count() {
            0 => result,
            count => {
                let changed = types[..count].iter().cloned();
                Type::Tuple([result].into_iter().chain(changed).collect())
            }
        };

        let number = self.recursion.made.len();
        let name = super::name_text(&function.name).into();
        let made = RecursiveFunction::new(instance.clone(), name, changes, types, result.clone());
        self.recursion.made.push(made);
        let outer = self.recursion.current.replace(number);
        let active = std::mem::replace(&mut self.recursion.active, vec![Some(instance)]);
        let calls = std::mem::replace(&mut self.calls, vec![closure.function]);
        let (spans, stmts) = (std::mem::take(&mut self.call_spans), std::mem::take(&mut self.stmts));
        let outside = std::mem::take(&mut self.outside);
        let globals = std::mem::replace(&mut self.globals, globals);
        let settled = (std::mem::take(&mut self.settled), std::mem::take(&mut self.settled_globals));
        let value = self.body_of_call(&mut scope, &closure, function, args)?;
        let mut parts = vec![self.data(value)?];
        parts.extend(self.changed_values(&own_changes)?);
        let value = self.tuple_or_one(parts)?;
        (self.cells, self.globals) = (kept, globals);
        (self.settled, self.settled_globals) = settled;
        let outside = std::mem::replace(&mut self.outside, outside);
        let stmts = std::mem::replace(&mut self.stmts, stmts);
        (self.call_spans, self.calls) = (spans, calls);
        (self.recursion.active, self.recursion.current) = (active, outer);

        if self.types[&value] != result {
            return Err(Declined::Recursion.into());
        }
        let made = &mut self.recursion.made[number];
        (made.body, made.outside) = (Some(Block { params, stmts, end: End::Yield(value) }), outside);
        if self.recursion.current.is_none() {
            self.complete_functions()?;
        }
        Ok(number)
    }

    /// The value of the body of a function at arguments, as many as it has parameters.
    fn body_of_call(
        &mut self,
        scope: &mut Scope,
        closure: &Arc<Closure>,
        function: &core::Function,
        args: Vec<Known>,
    ) -> Result<Known> {
        for (param, arg) in function.params.iter().zip(args) {
            self.bind_local(scope, *param, arg);
        }
        scope.locals.extend(function.captures.iter().copied().zip(closure.captures.iter().cloned()));
        self.carry_captures(scope, closure, function.locals.len());
        if let Some(this) = function.this {
            scope.locals.insert(this, Known::Function(closure.clone()));
        }
        self.function_body(scope, &function.body)
    }

    /// The value of the body of a function, which `return` may leave.
    pub(super) fn function_body(&mut self, scope: &mut Scope, body: &Term) -> Result<Known> {
        let ty = scope.concrete(&body.ty);
        if matches!(ty.kind(), TypeKind::Function(..) | TypeKind::Procedure(_)) {
            return self.function_valued_body(scope, body);
        }
        let ty: Type = self.ty(&ty)?;
        let label = self.label();
        scope.returns = Some(label);
        let carried = scope.carried.clone();
        let ty = self.state_type(scope, Some(ty), &carried)?;
        let block = self.block(Vec::new(), |this, _| {
            let value = this.value(scope, body)?;
            this.pack(scope, Some(value), &carried)
        })?;
        let packed = self.define(ty, Op::Block(label, block))?;
        let value = self.unpack(scope, packed, true, &carried)?;
        Ok(Known::Data(value.expect("a body has a value")))
    }

    /// The function that a body gives. A body that is left by `return` before its end is declined:
    /// which function it gives is known only when it runs.
    fn function_valued_body(&mut self, scope: &mut Scope, body: &Term) -> Result<Known> {
        if let TermKind::Block(stmts, None) = &body.kind
            && let Some((Stmt { kind: StmtKind::Return(value), .. }, stmts)) = stmts.split_last()
        {
            self.stmts(scope, stmts)?;
            return self.function_valued_body(scope, value);
        }
        self.term(scope, body)
    }
}

/// Returns false if two types differ at all types and sizes of their variables.
fn may_meet(a: &CoreType, b: &CoreType) -> bool {
    match (a.kind(), b.kind()) {
        (TypeKind::Var(_) | TypeKind::Apply(_) | TypeKind::Rest(_), _)
        | (_, TypeKind::Var(_) | TypeKind::Apply(_) | TypeKind::Rest(_)) => true,
        (TypeKind::Scalar(a), TypeKind::Scalar(b)) => a == b,
        (TypeKind::Array(a, i), TypeKind::Array(b, j)) => may_meet(a, b) && may_meet(i, j),
        (TypeKind::Nominal(a, _), TypeKind::Nominal(b, _)) => a == b,
        // Types of two forms may have one normal form: a product of equal types is an array.
        _ if a.is_compact() && b.is_compact() => true,
        (TypeKind::Scalar(_) | TypeKind::Nominal(..), _)
        | (_, TypeKind::Scalar(_) | TypeKind::Nominal(..)) => false,
        _ => true,
    }
}
