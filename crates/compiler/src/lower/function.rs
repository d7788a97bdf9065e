//! Calls: functions are written out where they are called.

use super::{
    AbstractValue, Binding, BodyFacts, Declined, Exit, Frame, FunctionValue, Locals, Lower, Place, Result,
    UnexpectedForm, UnsupportedConstruct, bare, use_counts,
};
use crate::core::last_use;
use crate::core::{Function, FunctionId, Stmt as CoreStmt, StmtKind, Term, TermKind};
use crate::loop_ir::Stmt;
use crate::types::Type;
use std::rc::Rc;

/// Functions within one another.
const MAX_INLINE_DEPTH: usize = 40;

/// The same function within itself: `map` of a `map` is no recursion.
const MAX_SELF_INLINE_DEPTH: usize = 4;

/// Computations of an element from which the array is stored instead.
const MAX_COMPUTATIONS: f64 = 1.5;

/// Gathers of an element from which the array is stored instead: reading stored elements in order
/// then saves more than storing them costs.
const MAX_GATHERS: f64 = 8.0;

impl<'a> Lower<'a> {
    /// A function of the program.
    pub(crate) fn function(&self, id: FunctionId) -> Result<&'a Function> {
        let function = self.program.functions.get(id as usize).and_then(|f| f.as_deref());
        function.ok_or(Declined::Form(UnexpectedForm::FunctionWithoutBody))
    }

    /// A function applied to arguments at their types.
    pub(crate) fn call(
        &mut self,
        fun: &FunctionValue<'a>,
        args: Vec<(AbstractValue<'a>, Type)>,
        ty: &Type,
    ) -> Result<AbstractValue<'a>> {
        let function = self.function(fun.function)?;
        let again = self.calls.iter().filter(|id| **id == fun.function).count();
        if self.calls.len() >= MAX_INLINE_DEPTH || again >= MAX_SELF_INLINE_DEPTH {
            return Err(Declined::Construct(UnsupportedConstruct::Recursion));
        }
        let instance = self.instances.entry((fun.function, fun.type_args.clone())).or_insert_with(|| {
            let types = function.type_params.iter().map(|p| p.id).zip(fun.type_args.iter().cloned());
            let stored = use_counts::stored(&[], Some(&function.body));
            Rc::new(BodyFacts::new(&function.locals, types.collect(), stored))
        });
        let mut frame = Frame {
            locals: Locals::default(),
            infos: instance.clone(),
            exit: None,
            around: None,
            outermost: false,
        };
        let given = args.len();
        let args = self.arguments(function, &frame, args)?;
        self.moved_into(function, given == args.len(), &args);
        for (param, value) in function.params.iter().zip(args) {
            let info = &function.locals[*param as usize];
            if info.shared {
                return Err(Declined::Construct(UnsupportedConstruct::SharedVariable));
            }
            let ty = self.ty(&frame, &info.ty);
            let value = self.kept(value, &ty, *param, &function.body, &frame)?;
            let changes = frame.infos.stored.contains(param);
            self.bind(*param, value, &ty, changes, &mut frame)?;
        }
        for (local, value) in function.captures.iter().zip(&fun.captures) {
            if function.locals[*local as usize].shared {
                return Err(Declined::Construct(UnsupportedConstruct::SharedVariable));
            }
            frame.locals.set(*local, Binding::Value(value.clone()));
        }
        if let Some(this) = function.this {
            let again = FunctionValue {
                function: fun.function,
                type_args: fun.type_args.clone(),
                captures: fun.captures.clone(),
            };
            frame.locals.set(this, Binding::Value(AbstractValue::Fun(Rc::new(again))));
        }
        self.calls.push(fun.function);
        let value = self.body(&function.body, ty, &mut frame);
        self.calls.pop();
        // What the function's own variables hold ends with it.
        value
    }

    /// An array that is being moved stays so if it goes to a parameter that is read once.
    fn moved_into(&mut self, function: &Function, apart: bool, args: &[AbstractValue<'a>]) {
        let Some(array) = self.moving else { return };
        let once = last_use::params_read_once(function);
        let fine = args.iter().zip(&function.params).all(|(value, param)| match value {
            AbstractValue::Array(_) => once.contains(param) || !self.changing(value, Some(array)),
            value => !self.changing(value, Some(array)),
        });
        if !apart || !fine {
            self.moving = None;
        }
    }

    /// The place of a value that is moved, if it is all that lies there.
    pub(crate) fn own_place(&self, value: &AbstractValue<'a>, ty: &Type) -> Option<Place> {
        let AbstractValue::Array(stored) = value else { return None };
        let super::Aggregate::Stored { array, base, .. } = **stored else { return None };
        let whole = self.known(base) == Some(0) && self.layout(ty).slots as u64 == self.kernel.slots[array];
        (self.moving == Some(array) && whole).then_some(Place::Memory(array, base))
    }

    /// Arguments for the parameters of a function.
    fn arguments(
        &mut self,
        function: &'a Function,
        frame: &Frame<'a>,
        mut args: Vec<(AbstractValue<'a>, Type)>,
    ) -> Result<Vec<AbstractValue<'a>>> {
        let wanted = function.params.len();
        if args.len() == wanted {
            return Ok(args.into_iter().map(|(v, _)| v).collect());
        }
        let domain = self.ty(frame, &function.domain);
        if args.len() != 1 {
            let whole = self.tuple(args, &domain)?;
            args = vec![(whole, domain.clone())];
        }
        let (whole, _) = args.pop().ok_or(Declined::Form(UnexpectedForm::CallWithoutArgument))?;
        if wanted == 1 {
            return Ok(vec![whole]);
        }
        let types = domain.components(wanted).unwrap_or_default();
        if types.len() != wanted {
            return Err(Declined::Form(UnexpectedForm::ParametersWithoutTypes));
        }
        let mut values = Vec::new();
        for (i, ty) in types.iter().enumerate() {
            values.push(self.component(&whole, &domain, i as u64, &bare(ty))?);
        }
        Ok(values)
    }

    /// The value of a function's body.
    fn body(&mut self, body: &'a Term, ty: &Type, frame: &mut Frame<'a>) -> Result<AbstractValue<'a>> {
        let TermKind::Block(stmts, value) = &body.kind else { return self.term(body, frame) };
        let value = value.as_deref();
        // `return` at the very end is the value.
        if let (Some((last, rest)), None) = (stmts.split_last(), value)
            && let StmtKind::Return(term) = &last.kind
            && !rest.iter().any(returns)
        {
            self.statements(rest, Some(term), frame)?;
            return self.term(term, frame);
        }
        if !stmts.iter().any(returns) {
            self.statements(stmts, value, frame)?;
            return match value {
                Some(value) => self.term(value, frame),
                None => Ok(AbstractValue::Unit),
            };
        }
        let place = self.place_for(ty)?;
        let label = self.label();
        frame.exit = Some(Rc::new(Exit { label, place: place.clone(), ty: ty.clone() }));
        let (inside, ()) = self.under_condition(|this| {
            this.statements(stmts, value, frame)?;
            if let Some(value) = value {
                let value = this.term(value, frame)?;
                this.assign(&place, &value, ty)?;
            }
            Ok(())
        })?;
        self.emit(Stmt::Block(label, inside))?;
        self.frozen(&place)
    }

    /// A block as a term: its variables are the enclosing function's.
    pub(crate) fn block_term(
        &mut self,
        stmts: &'a [CoreStmt],
        value: Option<&'a Term>,
        whole: &'a Term,
        frame: &mut Frame<'a>,
    ) -> Result<AbstractValue<'a>> {
        if value.is_none() && stmts.iter().any(returns) && frame.exit.is_none() {
            let ty = self.ty(frame, &whole.ty);
            return self.body(whole, &ty, frame);
        }
        self.statements(stmts, value, frame)?;
        match value {
            Some(value) => self.term(value, frame),
            None => {
                let ty = self.ty(frame, &whole.ty);
                self.zero(&ty)
            }
        }
    }

    /// A value as it is bound: stored, if its elements would be computed more than once.
    pub(crate) fn kept(
        &mut self,
        value: AbstractValue<'a>,
        ty: &Type,
        local: u32,
        scope: &'a Term,
        frame: &Frame<'a>,
    ) -> Result<AbstractValue<'a>> {
        if !self.worth_holding(&value, ty, &[scope], local, frame) {
            return Ok(value);
        }
        self.materialize(&value, ty)
    }

    /// Returns true if a value bound to a local is better stored.
    pub(crate) fn worth_holding(
        &mut self,
        value: &AbstractValue<'a>,
        ty: &Type,
        scope: &[&'a Term],
        local: u32,
        frame: &Frame<'a>,
    ) -> bool {
        let AbstractValue::Array(array) = value else { return false };
        // Uses of an element from which the array is stored.
        let (mut seen, mut viewed) = (array, false);
        let most = loop {
            match &**seen {
                super::Aggregate::Built { body, .. } if use_counts::cheap(body) => return false,
                super::Aggregate::Built { body, .. } if use_counts::gathers(body) => break MAX_GATHERS,
                // A reshape of an array that is built costs what the array costs.
                super::Aggregate::View { of: AbstractValue::Array(of), .. } => (seen, viewed) = (of, true),
                super::Aggregate::Stored { .. } | super::Aggregate::Zero if !viewed => return false,
                _ => break MAX_COMPUTATIONS,
            }
        };
        let slots = self.layout(ty).slots as f64;
        let count = |index: &Type| self.count(&self.ty(frame, index)).unwrap_or(1) as f64;
        let used: f64 = scope.iter().map(|term| use_counts::times(term, local, &count)).sum();
        used > slots * most
    }

    /// Binds a local: to a value, or to a place that holds it if it changes.
    pub(crate) fn bind(
        &mut self,
        local: u32,
        value: AbstractValue<'a>,
        ty: &Type,
        changes: bool,
        frame: &mut Frame<'a>,
    ) -> Result<()> {
        if frame.infos.locals.get(local as usize).is_none_or(|local| local.shared) {
            return Err(Declined::Construct(UnsupportedConstruct::SharedVariable));
        }
        let bind = if let (true, Some(place)) = (changes, self.own_place(&value, ty)) {
            if let Some(array) = self.moving.take() {
                // The parameter that it came by is not read again.
                frame.locals.forget(array);
            }
            Binding::Place(place)
        } else if changes {
            let place: Place = self.place_for(ty)?;
            self.assign(&place, &value, ty)?;
            Binding::Place(place)
        } else {
            Binding::Value(value)
        };
        frame.locals.set(local, bind);
        Ok(())
    }
}

/// Returns true if a statement may leave the function.
fn returns(stmt: &CoreStmt) -> bool {
    let mut found = false;
    stmt.for_each_stmt(&mut |stmt| found = found || matches!(stmt.kind, StmtKind::Return(_)));
    found
}
