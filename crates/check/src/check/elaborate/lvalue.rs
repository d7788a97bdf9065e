//! Places that are stored into: `&x.1 <- v`, `&(rows m).i <- v`, `&x.(1..2) <- v`, `&x.p <- v`.
//!
//! Takes a place as it is written; returns a store through projections of one variable. The place
//! is elaborated like any expression that reads it, and the term is then *reduced*: functions are
//! replaced by their bodies (β), and variables that hold functions by these functions (δ), until
//! only projections of one variable are left: components, elements, parts, digits and reshapes. So
//! a function is a place if its value is a part of its argument, even if the program defines it:
//! `rows`, `proj 1 of T`, `compose (p, q)`, `fun (x:T) => x.1`. An array construction whose
//! elements are places, such as the column `` m.(_ \, `1:3) ``, is stored into element by element.
//!
//! A subterm that is not a part of the variable, such as an index, stays a term. It is pure, so its
//! value in the store is the same as in the function that it comes from. A reduction takes at most
//! [`MAX_STEPS`] steps. A term that needs more, or that computes a new value, is not a place.

use crate::check::context::Checker;
use crate::check::elaborate::assign::Stored;
use crate::check::error::{PartError, PlaceError, SizeError};
use crate::check::expectation::Expectation;
use crate::check::state::Reduced;
use crate::core::{
    ForRange, Function, LocalId, PatKind, Root, Step, StepKind, Stmt, StmtKind, Term, TermKind,
};
use crate::hash::HashMap;
use crate::source::Span;
use crate::syntax::ast::{self, BinaryOp, Expr, ExprKind};
use crate::types::{Type, TypeKind};
use num_bigint::BigUint;
use num_traits::ToPrimitive;
use std::sync::Arc;

/// Maximum number of terms examined while one place is reduced.
const MAX_STEPS: usize = 10_000;

/// Maximum depth of functions expanded inside one another.
const MAX_DEPTH: usize = 64;

/// The meanings of the variables of a function whose body is expanded.
#[derive(Clone)]
struct Scope {
    /// The reduced value of each local.
    locals: HashMap<LocalId, Reduced>,
    /// The type argument of each type parameter.
    types: HashMap<u32, Type>,
    /// The name of the function; `None` for the frame of the store.
    name: Option<Arc<str>>,
    /// The number of expanded functions and blocks around.
    depth: usize,
}

/// The failure of a reduction: the term is not a place, because the named function computes a new
/// value. Without a name, the place itself does.
pub(in crate::check) struct NotAPlace(Option<Arc<str>>);

/// The result of a reduction.
type Result<T> = std::result::Result<T, NotAPlace>;

/// The state of one reduction.
struct Reduction<'s> {
    /// The variable that is stored into.
    root: Root,
    /// The statements that precede the store.
    before: &'s mut Vec<Stmt>,
    /// The number of terms examined so far.
    steps: usize,
}

impl Checker<'_> {
    /// Elaborates `&place <- v;` and `&place += v;`. Appends to `before` the statements that
    /// precede the store. Returns `None` after reporting an error.
    pub(in crate::check) fn store(
        &mut self,
        place: &Expr,
        op: Option<BinaryOp>,
        value: &Expr,
        span: Span,
        before: &mut Vec<Stmt>,
    ) -> Option<StmtKind> {
        let Some(name) = variable_of(place) else {
            self.report(PartError::NotAPlace { span: place.span, function: None });
            return None;
        };
        let (root, root_ty) = self.assignable_root(name, Stored::Part)?;
        let root_ty = self.infer.zonk_with_defaults(&root_ty);
        if let (Some((_, places)), None, false) =
            (root_ty.as_placed(), &self.item.place_scope, matches!(place.kind, ExprKind::Name(_)))
        {
            let (span, name, places) = (place.span, name.text.to_string(), places.clone());
            self.report(PlaceError::PartStored { span, name, places });
            return None;
        }
        let read = self.expr(place, Expectation::NONE);
        self.resolve_deferred_call(&read.ty);
        let ty = self.infer.zonk_with_defaults(&read.ty);
        if ty.is_error() {
            return None;
        }
        if let Some(field) = self.opened_field(root) {
            let (span, name) = (place.span, name.text.to_string());
            self.report(SizeError::StoredThrough { span, name, field });
            return None;
        }
        let scope = Scope { locals: HashMap::default(), types: HashMap::default(), name: None, depth: 0 };
        let seen = match self.seen(&read, &scope, &mut Reduction { root, before, steps: 0 }) {
            Ok(seen @ (Reduced::Place(..) | Reduced::Built(..))) => seen,
            Ok(_) | Err(NotAPlace(None)) => {
                self.report(PartError::NotAPlace { span: place.span, function: None });
                return None;
            }
            Err(NotAPlace(Some(name))) => {
                let function = Some(name.to_string());
                self.report(PartError::NotAPlace { span: place.span, function });
                return None;
            }
        };
        if let Some(pair) = pair_in(&seen) {
            self.report(PartError::PairPart { span: place.span, ty: pair });
            return None;
        }
        let because = Some((place.span, format!("this place holds `{ty}`")));
        let (seen, value) = match op {
            Some(op) => {
                let seen = self.indices_once(seen, before);
                let held = self.read_place(&seen, root, place.span);
                // The name cannot be written in a program; it stands for the old value of the
                // place.
                let here = ast::Name { text: Arc::from(" place"), span: place.span };
                let local = self.new_local(&here.text, ty.clone());
                self.bind(&here.text, local, false, place.span);
                let left = Expr { kind: ExprKind::Name(here), span: place.span };
                let sum = self.binary(op, &left, value, Expectation::of(&ty), span);
                let mut sum = self.coerce(sum, &ty, because);
                read_instead(&mut sum, local, &held);
                (seen, sum)
            }
            None => {
                self.in_sequence(value);
                (seen, self.check(value, &ty, because))
            }
        };
        match seen {
            // The whole variable is assigned, which reads nothing of it.
            Reduced::Place(path, _) if path.is_empty() && ty == root_ty => Some(root.assigned(value)),
            Reduced::Place(path, _) => Some(StmtKind::Store { root, root_ty, path, value }),
            Reduced::Built(clauses, path, _) => {
                let value = self.bind_value(value, before);
                let index = self.index_of(&clauses, span);
                let value = self.array_at(value, index, span);
                let mut kind = StmtKind::Store { root, root_ty, path, value };
                for (local, ty) in clauses.into_iter().rev() {
                    kind = StmtKind::For(local, ForRange::All(ty), vec![Stmt { kind, span }]);
                }
                Some(kind)
            }
            Reduced::Value(_) | Reduced::Parts(..) | Reduced::Function { .. } => None,
        }
    }

    /// Returns the function that an immutable variable holds, if it captures only constants and
    /// such functions. Uses of the variable can then be expanded.
    pub(in crate::check) fn known_function_value(&mut self, value: &Term) -> Option<Reduced> {
        let ty = self.infer.shallow(&value.ty);
        let (TypeKind::Function(..), false) = (ty.kind(), ty.has_error()) else { return None };
        let scope = Scope { locals: HashMap::default(), types: HashMap::default(), name: None, depth: 0 };
        let (mut before, root) = (Vec::new(), Root::Local(LocalId(u32::MAX)));
        let seen = self.seen(value, &scope, &mut Reduction { root, before: &mut before, steps: 0 }).ok()?;
        (before.is_empty() && seen.is_constant()).then_some(seen)
    }

    /// Returns the index, in an array construction with these clauses, of the present element.
    fn index_of(&mut self, clauses: &[(LocalId, Type)], span: Span) -> Term {
        let indices: Vec<Term> = clauses.iter().map(|(local, _)| self.local_term(*local, span)).collect();
        match <[Term; 1]>::try_from(indices) {
            Ok([only]) => only,
            Err(several) => {
                let types = clauses.iter().map(|(_, ty)| ty.clone()).collect();
                Term::new(TermKind::Pack(several), Type::compact_product(types), span)
            }
        }
    }

    /// Reduces a term to a place, a value, or a function.
    fn seen(&mut self, term: &Term, scope: &Scope, at: &mut Reduction<'_>) -> Result<Reduced> {
        at.steps += 1;
        crate::cancellation::poll();
        if at.steps > MAX_STEPS || scope.depth > MAX_DEPTH {
            return Err(scope.new_value());
        }
        let (ty, span) = (self.type_in(&term.ty, scope), term.span);
        let (base, kind) = match &term.kind {
            TermKind::Local(local) => {
                return match (scope.locals.get(local), &scope.name) {
                    (Some(seen), _) => Ok(seen.clone()),
                    (None, None) if at.root == Root::Local(*local) => Ok(Reduced::Place(Vec::new(), ty)),
                    (None, None) => {
                        let function = self.frame().functions.get(local).cloned();
                        Ok(function.unwrap_or_else(|| Reduced::Value(term.clone())))
                    }
                    (None, Some(_)) => Err(scope.new_value()),
                };
            }
            TermKind::Global(id) if at.root == Root::Global(*id) => {
                return Ok(Reduced::Place(Vec::new(), ty));
            }
            TermKind::Global(id) => {
                let function = self.env.held_functions.get(id).cloned();
                return Ok(function.unwrap_or_else(|| Reduced::Value(term.clone())));
            }
            // What this place has of a variable is stored like the variable.
            TermKind::Here(base) => {
                return Ok(match self.seen(base, scope, at)? {
                    Reduced::Place(path, _) if path.is_empty() => Reduced::Place(path, ty),
                    other => other,
                });
            }
            TermKind::Component(base, i) => (base, StepKind::Component(i.clone())),
            TermKind::Factor(base, i) => (base, StepKind::Factor(i.clone())),
            TermKind::Reshape(base) => (base, StepKind::Reshape),
            TermKind::Index(base, index) => (base, StepKind::Index(self.value_in(index, scope, at)?)),
            TermKind::Digit(base, index) => (base, StepKind::Digit(self.value_in(index, scope, at)?)),
            TermKind::Closure { function, type_args, captures } => {
                let type_args = type_args.iter().map(|ty| self.type_in(ty, scope)).collect();
                let mut held = Vec::new();
                for local in captures {
                    let local = Term::new(TermKind::Local(*local), Type::unit(), span);
                    held.push(match scope.name {
                        // The type of a captured variable of an expanded function is not needed.
                        Some(_) => self.seen(&local, scope, at)?,
                        None => {
                            let TermKind::Local(id) = local.kind else { return Err(scope.new_value()) };
                            let local = self.local_term(id, span);
                            self.seen(&local, scope, at)?
                        }
                    });
                }
                return Ok(Reduced::Function { function: *function, type_args, captures: held });
            }
            TermKind::Call(head, args) => {
                let head = self.seen(head, scope, at)?;
                let args = args.iter().map(|arg| self.seen(arg, scope, at)).collect::<Result<Vec<_>>>()?;
                return self.applied(head, args, ty, scope, at);
            }
            TermKind::Tuple(parts) => {
                let parts =
                    parts.iter().map(|part| self.seen(part, scope, at)).collect::<Result<Vec<_>>>()?;
                return Ok(Reduced::Parts(parts, ty));
            }
            TermKind::Block(stmts, value) => return self.block_seen(stmts, value.as_deref(), scope, at),
            TermKind::Build(clauses, body) => {
                let mut inner = Scope { depth: scope.depth + 1, ..scope.clone() };
                let mut own = Vec::new();
                for (local, ty) in clauses {
                    let ty = self.type_in(ty, scope);
                    let here = match scope.name {
                        Some(_) => self.new_local("i", ty.clone()),
                        None => *local,
                    };
                    inner.locals.insert(*local, Reduced::Value(self.local_term(here, span)));
                    own.push((here, ty));
                }
                return match self.seen(body, &inner, at)? {
                    Reduced::Place(path, _) => Ok(Reduced::Built(own, path, ty)),
                    _ => Err(scope.new_value()),
                };
            }
            _ => return Ok(Reduced::Value(self.value_in(term, scope, at)?)),
        };
        let base = self.seen(base, scope, at)?;
        projected(base, kind, ty, span).ok_or_else(|| scope.new_value())
    }

    /// Reduces the body of a function, or a block.
    fn block_seen(
        &mut self,
        stmts: &[Stmt],
        value: Option<&Term>,
        scope: &Scope,
        at: &mut Reduction<'_>,
    ) -> Result<Reduced> {
        let mut inner = Scope { depth: scope.depth + 1, ..scope.clone() };
        for (i, stmt) in stmts.iter().enumerate() {
            match &stmt.kind {
                StmtKind::Let(pat, init) => {
                    let PatKind::Bind(local) = pat.kind else { return Err(scope.new_value()) };
                    let seen = self.seen(init, &inner, at)?;
                    match (&seen, &scope.name) {
                        // The value is evaluated once, at its place before the store.
                        (Reduced::Value(_), None) => at.before.push(stmt.clone()),
                        _ => drop(inner.locals.insert(local, seen)),
                    }
                }
                StmtKind::Return(result) if i + 1 == stmts.len() && value.is_none() => {
                    return self.seen(result, &inner, at);
                }
                _ => return Err(scope.new_value()),
            }
        }
        match value {
            Some(value) => self.seen(value, &inner, at),
            None => Err(scope.new_value()),
        }
    }

    /// Reduces the application of a function: its body at its arguments.
    fn applied(
        &mut self,
        head: Reduced,
        args: Vec<Reduced>,
        ty: Type,
        scope: &Scope,
        at: &mut Reduction<'_>,
    ) -> Result<Reduced> {
        let Reduced::Function { function, type_args, captures } = head else { return Err(scope.new_value()) };
        self.note_unfolded(function);
        self.check_pending(function);
        let body = self.item.unfinished.iter().find(|(id, _)| *id == function).map(|(_, f)| f.clone());
        let known = || self.program.functions.get(function.index()).cloned().flatten();
        let Some(body) = body.or_else(|| known().map(|f| Function::clone(&f))) else {
            return Err(scope.new_value());
        };
        let args = match (args.len(), body.params.len()) {
            (given, taken) if given == taken => args,
            (_, 1) => vec![Reduced::Parts(args, self.type_in(&body.domain, scope))],
            (1, taken) => (0..taken)
                .map(|i| {
                    let part = args[0].part(i)?;
                    projected(args[0].clone(), StepKind::Component(BigUint::from(i)), part, body.span)
                })
                .collect::<Option<Vec<_>>>()
                .ok_or_else(|| scope.new_value())?,
            _ => return Err(scope.new_value()),
        };
        let inner = Scope {
            locals: body
                .params
                .iter()
                .copied()
                .zip(args)
                .chain(body.captures.iter().copied().zip(captures))
                .collect(),
            types: body.type_params.iter().map(|param| param.id).zip(type_args).collect(),
            name: Some(body.name.clone()),
            depth: scope.depth + 1,
        };
        match self.seen(&body.body, &inner, at)? {
            // The type of the call may be more specific than that of the expanded body.
            Reduced::Place(path, _) => Ok(Reduced::Place(path, ty)),
            seen => Ok(seen),
        }
    }

    /// Returns a term that is not a place as a term of the frame of the store.
    fn value_in(&mut self, term: &Term, scope: &Scope, at: &mut Reduction<'_>) -> Result<Term> {
        if scope.locals.is_empty() && scope.name.is_none() {
            return Ok(term.clone());
        }
        at.steps += 1;
        let ty = self.type_in(&term.ty, scope);
        match &term.kind {
            TermKind::Local(local) => match (scope.locals.get(local), &scope.name) {
                (Some(Reduced::Value(value)), _) => return Ok(value.clone()),
                (None, None) => return Ok(term.clone()),
                _ => return Err(scope.new_value()),
            },
            TermKind::Closure { captures, .. } if !captures.is_empty() => return Err(scope.new_value()),
            // A term that binds variables cannot be moved to the other frame.
            TermKind::Build(..) | TermKind::Match(..) | TermKind::Block(..) => return Err(scope.new_value()),
            _ => {}
        }
        if at.steps > MAX_STEPS {
            return Err(scope.new_value());
        }
        let mut copy = Term { ty, ..term.clone() };
        if let TermKind::Prim(_, types, _)
        | TermKind::Closure { type_args: types, .. }
        | TermKind::Method { type_args: types, .. } = &mut copy.kind
        {
            types.iter_mut().for_each(|ty| *ty = self.type_in(ty, scope));
        }
        let mut fault = None;
        copy.for_each_child_mut(&mut |child| match self.value_in(child, scope, at) {
            Ok(value) => *child = value,
            Err(why) => fault = Some(why),
        });
        fault.map_or(Ok(copy), Err)
    }

    /// Returns a type of an expanded function at the type arguments of the expansion.
    fn type_in(&mut self, ty: &Type, scope: &Scope) -> Type {
        self.infer.zonk_with_defaults(ty).substitute(&scope.types)
    }

    /// Returns a place whose indices are computed once, in statements before the store.
    fn indices_once(&mut self, seen: Reduced, before: &mut Vec<Stmt>) -> Reduced {
        let Reduced::Place(path, ty) = seen else { return seen };
        let path = path.into_iter().map(|step| {
            let kind = match step.kind {
                StepKind::Index(index) => StepKind::Index(self.bind_index(index, before)),
                StepKind::Digit(index) => StepKind::Digit(self.bind_index(index, before)),
                kind => kind,
            };
            Step { kind, ..step }
        });
        Reduced::Place(path.collect(), ty)
    }

    /// Binds an index before the statement, unless it is a variable or a constant; returns the
    /// variable.
    pub(in crate::check) fn bind_index(&mut self, index: Term, before: &mut Vec<Stmt>) -> Term {
        match index.kind {
            TermKind::Local(_) | TermKind::Code(_) => index,
            _ => {
                let ty = self.infer.zonk_with_defaults(&index.ty);
                self.bind_value(Term { ty, ..index }, before)
            }
        }
    }

    /// Returns a term that reads the value at a place.
    fn read_place(&mut self, seen: &Reduced, root: Root, span: Span) -> Term {
        let whole = match root {
            Root::Local(id) => self.local_term(id, span),
            Root::Global(id) => {
                Term::new(TermKind::Global(id), self.program.globals[id.index()].ty.clone(), span)
            }
        };
        let whole = self.read_placed(whole);
        let read = |path: &[Step]| {
            path.iter().fold(whole.clone(), |held, step| read_step(held, &step.kind, step.to.clone(), span))
        };
        match seen {
            Reduced::Place(path, _) => read(path),
            Reduced::Built(clauses, path, ty) => {
                // The term needs index variables of its own, because the loop of the store uses
                // those of the clauses.
                let mut body = read(path);
                let mut own = Vec::new();
                for (local, ty) in clauses {
                    let here = self.new_local("i", ty.clone());
                    let value = self.local_term(here, span);
                    read_instead(&mut body, *local, &value);
                    own.push((here, ty.clone()));
                }
                Term::new(TermKind::Build(own, Box::new(body)), ty.clone(), span)
            }
            Reduced::Value(term) => term.clone(),
            Reduced::Parts(..) | Reduced::Function { .. } => Term::new(TermKind::Error, Type::error(), span),
        }
    }
}

impl Scope {
    /// Returns the failure that a new value is computed in this scope.
    fn new_value(&self) -> NotAPlace {
        NotAPlace(self.name.clone())
    }
}

impl Reduced {
    /// Returns true for a function that captures only constants and such functions.
    fn is_constant(&self) -> bool {
        let Reduced::Function { captures, .. } = self else { return false };
        captures.iter().all(|captured| match captured {
            Reduced::Value(term) => matches!(term.kind, TermKind::Code(_) | TermKind::Int(_)),
            captured => captured.is_constant(),
        })
    }

    /// Returns the type of a component.
    fn part(&self, i: usize) -> Option<Type> {
        let ty = match self {
            Reduced::Place(_, ty) | Reduced::Parts(_, ty) | Reduced::Built(_, _, ty) => ty,
            Reduced::Value(term) => &term.ty,
            Reduced::Function { .. } => return None,
        };
        ty.unfold().components(i + 1).or_else(|| ty.unfold().components(64))?.get(i).cloned()
    }
}

/// Returns the projection of a reduced term; `None` if it is not possible.
fn projected(base: Reduced, kind: StepKind, to: Type, span: Span) -> Option<Reduced> {
    match (base, kind) {
        (Reduced::Place(mut path, from), kind) => {
            path.push(Step { kind, from, to: to.clone() });
            Some(Reduced::Place(path, to))
        }
        (Reduced::Parts(mut parts, _), StepKind::Component(i)) => {
            let i = i.to_usize().filter(|i| *i < parts.len())?;
            Some(parts.swap_remove(i))
        }
        (Reduced::Value(base), kind) => Some(Reduced::Value(read_step(base, &kind, to, span))),
        _ => None,
    }
}

/// Returns a term that reads one projection.
fn read_step(base: Term, kind: &StepKind, to: Type, span: Span) -> Term {
    let base = Box::new(base);
    let kind = match kind {
        StepKind::Component(i) => TermKind::Component(base, i.clone()),
        StepKind::Factor(i) => TermKind::Factor(base, i.clone()),
        StepKind::Index(index) => TermKind::Index(base, Box::new(index.clone())),
        StepKind::Digit(index) => TermKind::Digit(base, Box::new(index.clone())),
        StepKind::Reshape => TermKind::Reshape(base),
    };
    Term::new(kind, to, span)
}

/// Returns the type of a pair of indices of a triangle, if the place is a part of such a pair.
fn pair_in(seen: &Reduced) -> Option<Type> {
    let (Reduced::Place(path, _) | Reduced::Built(_, path, _)) = seen else { return None };
    let is_pair = |step: &&Step| {
        matches!(step.kind, StepKind::Factor(_))
            && matches!(step.from.unfold().kind(), TypeKind::Triangle(..))
    };
    path.iter().find(is_pair).map(|step| step.from.clone())
}

/// Returns the variable that a written place is a part of: the base of projections, and the first
/// argument of functions.
fn variable_of(place: &Expr) -> Option<&ast::Name> {
    match &place.kind {
        ExprKind::Name(name) => Some(name),
        ExprKind::Dot { base, .. } => variable_of(base),
        ExprKind::Apply { argument, .. } => variable_of(argument),
        ExprKind::Tuple(parts) => parts.first().and_then(variable_of),
        ExprKind::Reshape(base, _) => variable_of(base),
        _ => None,
    }
}

/// Replaces a local in a term by the term `held`.
fn read_instead(term: &mut Term, local: LocalId, held: &Term) {
    if matches!(term.kind, TermKind::Local(id) if id == local) {
        *term = held.clone();
        return;
    }
    term.for_each_child_mut(&mut |child| read_instead(child, local, held));
}
