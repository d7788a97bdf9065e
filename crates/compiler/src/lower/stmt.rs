//! Statements.

use super::{
    AbstractValue, Binding, Declined, Frame, Lower, Place, Result, UnexpectedForm, UnsupportedConstruct,
    use_counts,
};
use crate::core::{ForRange, Pat, PatKind, Root, Stmt as CoreStmt, StmtKind, Term, TermKind};
use crate::loop_ir::{Compare, Op, ScalarType, Stmt, cost};
use crate::types::{Type, TypeKind};

/// The statements that follow a binding in its block.
#[derive(Clone, Copy)]
struct Scope<'a> {
    stmts: &'a [CoreStmt],
    /// The value of the block.
    last: Option<&'a Term>,
}

impl<'a> Lower<'a> {
    /// Statements in order; `last` is the value of their block.
    pub(crate) fn statements(
        &mut self,
        stmts: &'a [CoreStmt],
        last: Option<&'a Term>,
        frame: &mut Frame<'a>,
    ) -> Result<()> {
        for (i, stmt) in stmts.iter().enumerate() {
            if let StmtKind::Let(pat, term) = &stmt.kind {
                self.bind_pattern(pat, term, Scope { stmts: &stmts[i + 1..], last }, frame)?;
                continue;
            }
            self.statement(stmt, frame)?;
        }
        Ok(())
    }

    /// One statement.
    pub(crate) fn statement(&mut self, stmt: &'a CoreStmt, frame: &mut Frame<'a>) -> Result<()> {
        match &stmt.kind {
            StmtKind::Let(pat, term) => {
                let nothing = Scope { stmts: &[], last: None };
                self.bind_pattern(pat, term, nothing, frame)
            }
            StmtKind::SetLocal(local, term) => {
                let value = self.next_value(Root::Local(*local), term, frame)?;
                let ty = self.ty(frame, &term.ty);
                match frame.locals.get(*local) {
                    Some(Binding::Place(place)) => {
                        let place = place.clone();
                        self.unwatched(Root::Local(*local), &place, frame)?;
                        self.assign(&place, &value, &ty)
                    }
                    // Declared without a value, set later, all in one line of statements.
                    None if !frame.outermost => self.bind(*local, value, &ty, true, frame),
                    _ => Err(Declined::Construct(UnsupportedConstruct::StoreIntoConstant)),
                }
            }
            StmtKind::SetGlobal(global, term) => {
                let value = self.next_value(Root::Global(*global), term, frame)?;
                let ty = self.ty(frame, &term.ty);
                match self.globals.get(global).cloned() {
                    Some(place) => {
                        self.unwatched(Root::Global(*global), &place, frame)?;
                        self.assign(&place, &value, &ty)
                    }
                    None => Err(Declined::Construct(UnsupportedConstruct::SessionVariableStore)),
                }
            }
            StmtKind::Store { root, root_ty, path, value } => self.store(*root, root_ty, path, value, frame),
            StmtKind::Open { .. } | StmtKind::Require { .. } => {
                Err(Declined::Construct(UnsupportedConstruct::RuntimeSizes))
            }
            // Who holds what is known here from the places themselves.
            StmtKind::Drop(_) => Ok(()),
            StmtKind::Expr(term) => self.term(term, frame).map(|_| ()),
            StmtKind::If(condition, then, otherwise) => {
                let value = self.term(condition, frame)?;
                let condition = self.as_word(&value, &Type::bool())?;
                match self.known(condition) {
                    Some(0) => self.statements(otherwise, None, frame),
                    Some(_) => self.statements(then, None, frame),
                    None => {
                        let (first, ()) = self.under_condition(|this| this.statements(then, None, frame))?;
                        let (second, ()) =
                            self.under_condition(|this| this.statements(otherwise, None, frame))?;
                        self.emit(Stmt::If(condition, first, second))
                    }
                }
            }
            StmtKind::Match(scrutinee, arms) => {
                let value = self.term(scrutinee, frame)?;
                self.match_statement(&value, arms, frame)
            }
            StmtKind::For(local, range, body) => self.for_loop(*local, range, body, frame),
            StmtKind::While(condition, body) => {
                let label = self.label();
                let outer = frame.around.replace(label);
                let rounds = |this: &mut Self| {
                    let value = this.term(condition, frame)?;
                    let condition = this.as_word(&value, &Type::bool())?;
                    match this.known(condition) {
                        Some(0) => this.emit(Stmt::Break(label))?,
                        Some(_) => {}
                        None => this.emit(Stmt::If(condition, Vec::new(), vec![Stmt::Break(label)]))?,
                    }
                    this.statements(body, None, frame)
                };
                let inside = self.times(cost::DEFAULT_TRIP_COUNT as u64, |this| this.under_condition(rounds));
                frame.around = outer;
                let (inside, ()) = inside?;
                self.emit(Stmt::Loop(label, inside))
            }
            StmtKind::Break | StmtKind::Continue => {
                let label = frame.around.ok_or(Declined::Construct(UnsupportedConstruct::ExitFromUnit))?;
                self.emit(if matches!(stmt.kind, StmtKind::Break) {
                    Stmt::Break(label)
                } else {
                    Stmt::Continue(label)
                })
            }
            StmtKind::Return(term) => {
                let exit =
                    frame.exit.clone().ok_or(Declined::Construct(UnsupportedConstruct::ExitFromUnit))?;
                let value = self.term(term, frame)?;
                self.assign(&exit.place, &value, &exit.ty)?;
                self.emit(Stmt::Break(exit.label))
            }
        }
    }

    /// The value assigned to a variable. Where it is what a function makes of the variable's own
    /// value, the function may change that where it lies.
    fn next_value(&mut self, root: Root, term: &'a Term, frame: &mut Frame<'a>) -> Result<AbstractValue<'a>> {
        let place = match root {
            Root::Local(local) => match frame.locals.get(local) {
                Some(Binding::Place(place)) => Some(place.clone()),
                _ => None,
            },
            Root::Global(global) => self.globals.get(&global).cloned(),
        };
        let own = |arg: &Term| match &arg.kind {
            TermKind::Move(place) => match (&place.kind, root) {
                (TermKind::Local(local), Root::Local(own)) => *local == own,
                (TermKind::Global(global), Root::Global(own)) => *global == own,
                _ => false,
            },
            _ => false,
        };
        let (Some(Place::Memory(array, base)), TermKind::Call(_, args)) = (&place, &term.kind) else {
            return self.term(term, frame);
        };
        let whole = Place::Memory(*array, *base);
        if args.iter().filter(|arg| own(arg)).count() != 1 || self.unwatched(root, &whole, frame).is_err() {
            return self.term(term, frame);
        }
        let outer = self.moving.replace(*array);
        let value = self.term(term, frame);
        self.moving = outer;
        value
    }

    /// `val` and `var`.
    fn bind_pattern(
        &mut self,
        pat: &'a Pat,
        term: &'a Term,
        Scope { stmts: scope, last }: Scope<'a>,
        frame: &mut Frame<'a>,
    ) -> Result<()> {
        let value = self.term(term, frame)?;
        let ty = self.ty(frame, &pat.ty);
        // An array that changes would change under its new name.
        let moved = match &pat.kind {
            PatKind::Bind(local) => {
                frame.infos.stored.contains(local) && self.own_place(&value, &ty).is_some()
            }
            _ => false,
        };
        let value =
            if !moved && self.changing(&value, None) { self.materialize(&value, &ty)? } else { value };
        if let PatKind::Bind(local) = &pat.kind {
            if frame.infos.stored.contains(local) {
                return self.bind(*local, value, &ty, true, frame);
            }
            if !matches!(value, AbstractValue::Array(_)) {
                return self.bind(*local, value, &ty, false, frame);
            }
            // How often it is read: what follows is walked once for each array that is bound.
            self.steps_of(scope.len() * 8)?;
            let mut terms = Vec::new();
            scope.iter().for_each(|stmt| stmt.for_each_term(&mut |term| terms.push(term)));
            terms.extend(last);
            let loops = scope.iter().any(|s| matches!(s.kind, StmtKind::For(..) | StmtKind::While(..)));
            let value = if self.worth_holding(&value, &ty, &terms, *local, frame)
                || loops && scope.iter().any(|s| use_counts::in_loop(s, *local))
            {
                self.materialize(&value, &ty)?
            } else {
                value
            };
            return self.bind(*local, value, &ty, false, frame);
        }
        self.fits(pat, &value, frame, &mut |this, local, value, ty, frame| {
            let changes = frame.infos.stored.contains(&local);
            this.bind(local, value, &ty, changes, frame)
        })
        .map(|_| ())
    }

    fn for_loop(
        &mut self,
        local: u32,
        range: &'a ForRange,
        body: &'a [CoreStmt],
        frame: &mut Frame<'a>,
    ) -> Result<()> {
        let changes = frame.infos.stored.contains(&local);
        let label = self.label();
        let index = self.reg(ScalarType::I64);
        let (low, high, value): (_, _, Option<(AbstractValue<'a>, Type, Type)>) = match range {
            ForRange::All(ty) => {
                let ty = self.ty(frame, ty);
                let count = self.count(&ty)?;
                (self.int(0)?, self.size(count)?, None)
            }
            ForRange::Ints { low, high, inclusive } => {
                let low = self.term(low, frame)?;
                let low = self.as_word(&low, &Type::int())?;
                let high = self.term(high, frame)?;
                let mut high = self.as_word(&high, &Type::int())?;
                if *inclusive {
                    // The largest integer itself as an end: the evaluator knows where to stop.
                    let most = self.int(i64::MAX as u64)?;
                    let more = self.set(ScalarType::I64, Op::Compare(Compare::Lt, high, most))?;
                    self.check(more)?;
                    let one = self.int(1)?;
                    high = self.binary(crate::loop_ir::Binary::Add, high, one)?;
                }
                (low, high, None)
            }
            ForRange::Elements(array) => {
                let ty = self.ty(frame, &array.ty);
                let value = self.term(array, frame)?;
                let value = if self.changing(&value, None) { self.materialize(&value, &ty)? } else { value };
                // By the type as it is written: an array of one array is that array.
                let written = array.ty.unfold();
                let TypeKind::Array(element, index) = written.kind() else {
                    return Err(Declined::Form(UnexpectedForm::NoArray));
                };
                let (element, index) = (self.ty(frame, element), self.ty(frame, index));
                let count = self.count(&index)?;
                (self.int(0)?, self.size(count)?, Some((value, ty.clone(), element)))
            }
        };
        let outer = frame.around.replace(label);
        if !matches!(range, ForRange::Ints { .. })
            && let Some(count) = self.facts.value(high).filter(|count| *count > 0 && !body.iter().any(leaves))
        {
            self.strict.whole(index, count);
        }
        let work = |this: &mut Self| {
            let ty = this.ty(frame, &frame.infos.locals[local as usize].ty.clone());
            if value.is_none() && ty.is_compact() {
                let count = this.count(&ty)?;
                this.facts.bound(index, count);
            }
            let value = match &value {
                None if this.layout(&ty).slots == 0 => AbstractValue::Unit,
                None => AbstractValue::Word(index),
                Some((array, from, element)) => {
                    this.index(array, from, &AbstractValue::Word(index), element)?
                }
            };
            this.bind(local, value, &ty, changes, frame)?;
            this.statements(body, None, frame)
        };
        let rounds = match (self.facts.value(low), self.facts.value(high)) {
            (Some(low), Some(high)) => high.saturating_sub(low),
            _ => cost::DEFAULT_TRIP_COUNT as u64,
        };
        let whole = self.strict.is_whole(index);
        let inside =
            self.times(rounds, |this| if whole { this.block(work) } else { this.under_condition(work) });
        frame.around = outer;
        let (inside, ()) = inside?;
        self.emit(Stmt::For { label, index, low, high, body: inside })
    }
}

/// Returns true if a statement may leave a loop around it, or the function.
fn leaves(stmt: &CoreStmt) -> bool {
    let mut found = false;
    stmt.for_each_stmt(&mut |stmt| {
        found = found || matches!(stmt.kind, StmtKind::Break | StmtKind::Continue | StmtKind::Return(_));
    });
    found
}
