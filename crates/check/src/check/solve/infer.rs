//! Holes (unification variables) and unification.
//!
//! Takes types with holes ([`Meta`]) and makes them equal by solving the holes. Every change can be
//! undone ([`Infer::mark`], [`Infer::undo`]), so that an overload can be tried. A hole may belong
//! to a *literal*: it stands for a number type that the context chooses, and for `int` or `real` if
//! the context chooses none. Unification is first-order unification (Robinson) modulo the
//! definitional equalities only: a product of holes unifies with an array of that many elements,
//! and never with a merely isomorphic type.
//!
//! **Levels.** Each hole has a level: the number of the oldest hole whose solution mentions it.
//! Solving a hole lowers the levels of the holes in its solution (the level discipline of Rémy,
//! 1992, used here for scopes and not for generalization). A rigid variable that is opened later
//! than a hole's level must not occur in the solution of that hole; unification then fails instead
//! of letting the variable leave its scope.
//!
//! **Type functions.** An application that is stuck on holes does not determine its arguments (type
//! functions are not injective), unless its table does ([`table::solve_equation`]). So an equation
//! with such an application is *postponed*, and tried again whenever holes have been solved. An
//! application that is stuck on rigid variables alone equals the applications with the same table;
//! without a table it equals only itself. Equations that are still postponed when an item ends have
//! unsolved holes, which are reported there. The list of postponed equations is part of the state
//! that a mark restores.
//!
//! **Cost.** One pass over both types, plus an occurs check over the solution of each hole that is
//! solved, plus the postponed equations (at most `MAX_POSTPONED`) after each round that solves a
//! hole.

use crate::hash::HashMap;
use crate::source::Span;
use crate::types::table::{self, TableAnswer};
use crate::types::{Kind, Meta, ProductForm, Scalar, Type, TypeKind, TypeVar};

/// The set of types that the hole of a literal may become.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Literal {
    /// Any number type.
    Int,
    /// Any float type.
    Real,
}

impl Literal {
    /// Returns the type that is taken when the context chooses none.
    pub fn default_type(self) -> Type {
        match self {
            Literal::Int => Type::int(),
            Literal::Real => Type::real(),
        }
    }

    /// Returns true if the literal can be of this scalar type.
    pub fn allows(self, scalar: Scalar) -> bool {
        match self {
            Literal::Int => scalar.is_number(),
            Literal::Real => scalar.is_float(),
        }
    }
}

/// The state of one hole.
#[derive(Clone, Debug)]
struct Hole {
    /// The kind of its solutions.
    kind: Kind,
    /// The literal class, if the hole belongs to a literal.
    literal: Option<Literal>,
    /// The solution, once there is one.
    solution: Option<Type>,
    /// The number of the oldest hole whose solution mentions this hole, or the hole's own number.
    level: u32,
}

/// The table of holes, with the postponed equations and the trail for undoing changes.
#[derive(Debug, Default)]
pub struct Infer {
    /// The holes, by number.
    holes: Vec<Hole>,
    /// The opened rigid variables, each with the number of the first hole whose solution may
    /// mention it. An older hole is used where the variable is not in scope.
    opened: HashMap<u32, u32>,
    /// True while a product must not unify with an array: see [`crate::types::matching`].
    pub tuples_apart: bool,
    /// Previous states of what was changed, newest last.
    trail: Vec<UndoEntry>,
    /// Postponed equations: those with applications that are stuck on holes.
    postponed: Vec<Equation>,
    /// True if a hole has been solved since the postponed equations were last tried.
    progress: bool,
    /// The place that the checker is at, recorded in postponed equations.
    pub here: Span,
}

/// One entry of the trail: the state before a change.
#[derive(Debug)]
enum UndoEntry {
    /// The previous state of the hole with this number.
    Hole(u32, Hole),
    /// The previous list of postponed equations.
    Postponed(Vec<Equation>),
}

/// Two types that must be equal, with the place that requires it.
#[derive(Clone, Debug)]
pub struct Equation {
    /// The type that was found.
    pub found: Type,
    /// The type that was expected.
    pub expected: Type,
    /// The place that requires the equality.
    pub span: Span,
}

/// Maximum number of equations that are postponed at once. Ordinary programs have a few.
const MAX_POSTPONED: usize = 1_000;

/// Returns true if the type may be an argument where this kind is expected. A hole (which the user
/// may write) is accepted at every kind.
pub fn accepts(kind: Kind, ty: &Type) -> bool {
    // A type written where a list is expected stands for the list of its components.
    let component = matches!(kind, Kind::List(form) if ty.has_kind(form.kind()));
    matches!(ty.kind(), TypeKind::Meta(_)) || ty.has_kind(kind) || component
}

/// A position in the trail, to which [`Infer::undo`] returns.
#[derive(Clone, Copy)]
pub struct Mark(usize);

/// The failure of a unification. It carries no data, because the caller has the two types.
#[derive(Debug)]
pub struct UnifyError;

impl Infer {
    /// Returns a new hole of this kind.
    pub fn fresh(&mut self, kind: Kind) -> Type {
        let id = self.holes.len() as u32;
        self.holes.push(Hole { kind, literal: None, solution: None, level: id });
        Type::meta(id, kind)
    }

    /// Returns the number that the next hole will have.
    pub fn next_hole(&self) -> u32 {
        self.holes.len() as u32
    }

    /// Opens a rigid variable: holes with a level below `first` cannot mention it in their
    /// solutions.
    pub fn open_rigid_variable(&mut self, var: &TypeVar, first: u32) {
        self.opened.insert(var.id, first);
    }

    /// Returns a new hole for a literal.
    pub fn fresh_literal(&mut self, literal: Literal) -> Type {
        let id = self.holes.len() as u32;
        self.holes.push(Hole { kind: Kind::Type, literal: Some(literal), solution: None, level: id });
        Type::meta(id, Kind::Type)
    }

    /// Maps the number of each type parameter to a new hole of its kind.
    pub fn instantiate(&mut self, params: &[TypeVar]) -> HashMap<u32, Type> {
        params.iter().map(|p| (p.id, self.fresh(p.kind))).collect()
    }

    /// Returns a mark of the present state.
    pub fn mark(&self) -> Mark {
        Mark(self.trail.len())
    }

    /// Undoes every change since the mark.
    pub fn undo(&mut self, mark: Mark) {
        while self.trail.len() > mark.0 {
            match self.trail.pop() {
                Some(UndoEntry::Hole(id, hole)) => self.holes[id as usize] = hole,
                Some(UndoEntry::Postponed(equations)) => self.postponed = equations,
                None => {}
            }
        }
    }

    /// Returns a hole for changing; records its state in the trail and notes progress.
    fn change(&mut self, id: u32) -> &mut Hole {
        let hole = &mut self.holes[id as usize];
        self.trail.push(UndoEntry::Hole(id, hole.clone()));
        self.progress = true;
        hole
    }

    /// Removes and returns the postponed equations, before another item is checked.
    /// [`Infer::restore_postponed`] restores them.
    pub fn take_postponed(&mut self) -> Vec<Equation> {
        self.set_postponed(Vec::new())
    }

    /// Restores the postponed equations of the item that goes on.
    pub fn restore_postponed(&mut self, equations: Vec<Equation>) {
        self.set_postponed(equations);
    }

    /// Replaces the postponed equations, recorded in the trail; returns the previous ones.
    fn set_postponed(&mut self, equations: Vec<Equation>) -> Vec<Equation> {
        let old = std::mem::replace(&mut self.postponed, equations);
        if !(old.is_empty() && self.postponed.is_empty()) {
            self.trail.push(UndoEntry::Postponed(old.clone()));
        }
        old
    }

    /// Postpones an equation; fails if [`MAX_POSTPONED`] equations wait already.
    pub(super) fn postpone(&mut self, a: &Type, b: &Type) -> Result<(), UnifyError> {
        if self.postponed.len() >= MAX_POSTPONED {
            return Err(UnifyError);
        }
        let mut equations = self.postponed.clone();
        equations.push(Equation { found: a.clone(), expected: b.clone(), span: self.here });
        self.set_postponed(equations);
        Ok(())
    }

    /// Decides an equation with an application that is stuck on holes by its table; postpones it if
    /// the table does not decide it.
    fn by_table(&mut self, a: &Type, b: &Type) -> Result<(), UnifyError> {
        let (a, b) = (self.zonk(a), self.zonk(b));
        match table::solve_equation(&a, &b) {
            Some(TableAnswer::Never) => Err(UnifyError),
            Some(TableAnswer::Always) => Ok(()),
            Some(TableAnswer::Solved(holes)) if !holes.is_empty() => {
                holes.iter().try_for_each(|(meta, ty)| self.solve(*meta, ty))?;
                self.equate(&a, &b)
            }
            _ => self.postpone(&a, &b),
        }
    }

    /// Tries the postponed equations again, as long as that solves holes.
    fn retry(&mut self) -> Result<(), UnifyError> {
        while std::mem::take(&mut self.progress) && !self.postponed.is_empty() {
            let here = self.here;
            for equation in self.set_postponed(Vec::new()) {
                self.here = equation.span;
                let result = self.equate(&equation.found, &equation.expected);
                self.here = here;
                result?;
            }
        }
        Ok(())
    }

    /// Settles all postponed equations and returns the first that does not hold, whatever the open
    /// holes become. Equations that hold are dropped.
    pub fn contradiction(&mut self) -> Option<Equation> {
        for Equation { found, expected, span } in self.set_postponed(Vec::new()) {
            let (found, expected) = (self.zonk_with_defaults(&found), self.zonk_with_defaults(&expected));
            if !self.try_unify(&found, &expected) {
                return Some(Equation { found, expected, span });
            }
        }
        None
    }

    /// Returns the literal class of an unsolved hole, or `None` for any other type.
    pub fn literal_of(&self, ty: &Type) -> Option<Literal> {
        match self.shallow(ty).kind() {
            TypeKind::Meta(meta) => self.holes[meta.id as usize].literal,
            _ => None,
        }
    }

    /// Returns the type with a solved hole at its top replaced by its solution.
    pub fn shallow(&self, ty: &Type) -> Type {
        let mut ty = ty.clone();
        while let TypeKind::Meta(meta) = ty.kind() {
            match &self.holes[meta.id as usize].solution {
                Some(solution) => ty = solution.clone(),
                None => break,
            }
        }
        ty
    }

    /// Returns the type with all solved holes replaced, in canonical form.
    pub fn zonk(&self, ty: &Type) -> Type {
        if !ty.has_meta() {
            return ty.clone();
        }
        let ty = self.shallow(ty);
        if !ty.has_meta() || matches!(ty.kind(), TypeKind::Meta(_)) {
            return ty;
        }
        ty.map_children(&mut |child| self.zonk(child))
    }

    /// Gives the unsolved literal holes of the type their default types, then zonks as
    /// [`Infer::zonk`].
    pub fn zonk_with_defaults(&mut self, ty: &Type) -> Type {
        let ty = self.zonk(ty);
        if ty.has_meta() {
            self.default_literals(&ty);
            let mark = self.mark();
            if self.retry().is_err() {
                // The postponed equation that fails is reported when the item ends.
                self.undo(mark);
            }
            return self.zonk(&ty);
        }
        ty
    }

    /// Gives the unsolved literal holes of the type their default types, without retrying
    /// equations.
    fn default_literals(&mut self, ty: &Type) {
        if !ty.has_meta() {
            return;
        }
        if let TypeKind::Meta(meta) = ty.kind() {
            let hole = &self.holes[meta.id as usize];
            match (&hole.solution, hole.literal) {
                (Some(solution), _) => {
                    let solution = solution.clone();
                    self.default_literals(&solution);
                }
                (None, Some(literal)) => self.change(meta.id).solution = Some(literal.default_type()),
                (None, None) => {}
            }
            return;
        }
        let mut children = Vec::new();
        ty.kind().for_each_child(&mut |child| children.push(child.clone()));
        for child in &children {
            self.default_literals(child);
        }
    }

    /// Returns the number of nodes of the type with all solved holes replaced, saturating. A shared
    /// solution is counted at each occurrence but visited once.
    pub fn nodes(&self, ty: &Type) -> u32 {
        fn count(this: &Infer, ty: &Type, known: &mut HashMap<u32, u32>) -> u32 {
            if !ty.has_meta() {
                return ty.nodes();
            }
            if let TypeKind::Meta(meta) = ty.kind() {
                if let Some(&nodes) = known.get(&meta.id) {
                    return nodes;
                }
                let solution = &this.holes[meta.id as usize].solution;
                let nodes = solution.as_ref().map_or(1, |s| count(this, s, known));
                known.insert(meta.id, nodes);
                return nodes;
            }
            let mut nodes = 1u32;
            ty.kind().for_each_child(&mut |c| nodes = nodes.saturating_add(count(this, c, known)));
            nodes
        }
        count(self, ty, &mut HashMap::default())
    }

    /// Returns the type as messages show it, with literal holes at their defaults. Changes nothing.
    pub fn display_type(&mut self, ty: &Type) -> Type {
        let mark = self.mark();
        let shown = self.zonk_with_defaults(ty);
        self.undo(mark);
        shown
    }

    /// Returns true if the hole occurs in the type or in the solutions of its holes (the occurs
    /// check).
    fn occurs(&self, id: u32, ty: &Type) -> bool {
        if !ty.has_meta() {
            return false;
        }
        match ty.kind() {
            TypeKind::Meta(meta) if meta.id == id => true,
            TypeKind::Meta(meta) => {
                self.holes[meta.id as usize].solution.as_ref().is_some_and(|s| self.occurs(id, s))
            }
            kind => {
                let mut found = false;
                kind.for_each_child(&mut |child| found = found || self.occurs(id, child));
                found
            }
        }
    }

    /// Solves a hole by a type, or postpones the equation. Fails if the kinds or literal classes
    /// differ, if the hole occurs in the type, or if a rigid variable would leave its scope.
    pub(super) fn solve(&mut self, meta: Meta, ty: &Type) -> Result<(), UnifyError> {
        let hole = self.holes[meta.id as usize].clone();
        if let TypeKind::Meta(other) = ty.kind() {
            if other.id == meta.id {
                return Ok(());
            }
            // Of two holes, the one with the weaker requirement takes the other as its solution.
            let theirs = &self.holes[other.id as usize];
            let literal = hole.literal.max(theirs.literal);
            let kind = hole.kind.meet(theirs.kind).ok_or(UnifyError)?;
            let level = hole.level.min(theirs.level);
            if literal.is_some() && kind != Kind::Type {
                return Err(UnifyError);
            }
            if theirs.kind != kind {
                // The solution must have the smaller kind in its node.
                let merged = self.fresh(kind);
                if let Some(hole) = self.holes.last_mut() {
                    hole.level = level;
                    hole.literal = literal;
                }
                self.change(meta.id).solution = Some(merged.clone());
                self.change(other.id).solution = Some(merged);
                return Ok(());
            }
            let other = self.change(other.id);
            other.literal = literal;
            other.level = level;
            self.change(meta.id).solution = Some(ty.clone());
            return Ok(());
        }
        let product = matches!(ty.kind(), TypeKind::Rest(list) if matches!(list.kind(), TypeKind::List(..)));
        if product && hole.literal.is_some() {
            // A number type is never a product, whatever the components are.
            return Err(UnifyError);
        }
        let open = self.is_open(ty);
        if open && (hole.literal.is_some() || self.occurs(meta.id, ty)) {
            return self.by_table(&Type::meta(meta.id, meta.kind), ty);
        }
        if let Some(literal) = hole.literal {
            match ty.kind() {
                TypeKind::Scalar(scalar) if literal.allows(*scalar) => {}
                TypeKind::Error => {}
                _ => return Err(UnifyError),
            }
        }
        // At a kind below TYPE, a sum is a sum of units.
        if hole.kind != Kind::Type && hole.kind.is_subkind_of(Kind::Type) {
            let cases = match ty.kind() {
                TypeKind::Sum(parts) => Some((parts.clone(), Type::unit_sum(parts.len()))),
                // `N *+ 1` is `N` only from 2 on: another coarray is no index type.
                TypeKind::Repeat(n, part) => {
                    let n = self.shallow(n);
                    if !n.is_at_least_two() && !matches!(n.kind(), TypeKind::Meta(_)) {
                        return Err(UnifyError);
                    }
                    Some((vec![part.clone()], n))
                }
                _ => None,
            };
            if let Some((parts, n)) = cases {
                parts.iter().try_for_each(|part| self.unify(part, &Type::unit()))?;
                return self.solve(meta, &n);
            }
        }
        // A value never has an existential type, and a bound variable is undefined outside its
        // type.
        if !ty.has_kind(hole.kind) || ty.is_exists() || ty.loose_bound_range() > 0 || self.occurs(meta.id, ty)
        {
            return Err(UnifyError);
        }
        self.adjust_levels(ty, hole.level)?;
        self.change(meta.id).solution = Some(ty.clone());
        Ok(())
    }

    /// Lowers the levels of the type's holes to `level`, the level of the hole that the type
    /// solves. Fails if the type mentions a rigid variable that was opened later than that level.
    fn adjust_levels(&mut self, ty: &Type, level: u32) -> Result<(), UnifyError> {
        if !(ty.has_meta() || ty.has_var() && !self.opened.is_empty()) {
            return Ok(());
        }
        match ty.kind() {
            TypeKind::Var(var) if self.opened.get(&var.id).is_some_and(|first| level < *first) => {
                Err(UnifyError)
            }
            TypeKind::Meta(meta) => match self.holes[meta.id as usize].solution.clone() {
                Some(solution) => self.adjust_levels(&solution, level),
                None => {
                    if self.holes[meta.id as usize].level > level {
                        self.change(meta.id).level = level;
                    }
                    Ok(())
                }
            },
            kind => {
                let mut children = Vec::new();
                kind.for_each_child(&mut |child| children.push(child.clone()));
                children.iter().try_for_each(|child| self.adjust_levels(child, level))
            }
        }
    }

    /// Returns true if the type is an application that is stuck on holes, or a product or list some
    /// components of which are holes.
    fn is_open(&self, ty: &Type) -> bool {
        matches!(ty.kind(), TypeKind::Apply(..) | TypeKind::Rest(_) | TypeKind::List(..)) && ty.has_meta()
    }

    /// Equates the product of a list whose end is not known with another type. Postpones the
    /// equation where the number of components of the other type is not known either.
    fn equate_product(&mut self, product: &Type, list: &Type, ty: &Type) -> Result<(), UnifyError> {
        use TypeKind as K;
        let (Some(form), whole) = (list.list_form(), matches!(list.kind(), K::List(..))) else {
            return Err(UnifyError);
        };
        if list.is_spliced() || ty.is_spliced() {
            return self.equate_axes(product, ty);
        }
        if let K::Rest(other) = ty.kind()
            && whole
            && matches!(other.kind(), K::List(..))
        {
            return self.equate(list, other);
        }
        // Two products of lists whose components are all unknown: the lists are equated.
        if let (false, K::Rest(other)) = (whole, ty.kind())
            && !matches!(other.kind(), K::List(..))
            && (!list.has_meta() || !other.has_meta())
        {
            return self.equate(list, other);
        }
        let open = matches!(ty.kind(), K::Apply(..) | K::Rest(_)) && ty.has_meta();
        let count = match (form, ty.kind()) {
            (ProductForm::Tuple, K::Array(_, count)) | (ProductForm::Compact, K::CompactPower(_, count)) => {
                matches!(self.shallow(count).kind(), K::Meta(_))
            }
            _ => false,
        };
        if open || count {
            return self.postpone(product, ty);
        }
        if whole {
            let found = ty.as_list(form).ok_or(UnifyError)?;
            return self.equate(list, &found);
        }
        // A product with one component is that component; for a list hole and a product the number
        // of components is not known yet.
        let product_like =
            matches!(ty.kind(), K::Product(_) | K::Array(..) | K::CompactProduct(_) | K::CompactPower(..));
        match list.kind() {
            K::Meta(_) if product_like || ty.is_unit() => self.postpone(product, ty),
            K::Meta(hole) if ty.has_kind(form.kind()) => {
                self.solve(*hole, &Type::list(form, vec![ty.clone()], None))
            }
            _ => Err(UnifyError),
        }
    }

    /// Equates two lists: the common components one by one, then the remaining ends.
    fn equate_lists(
        &mut self,
        form: ProductForm,
        (xs, xs_end): (&[Type], &Option<Type>),
        (ys, ys_end): (&[Type], &Option<Type>),
    ) -> Result<(), UnifyError> {
        let common = xs.len().min(ys.len());
        xs.iter().zip(ys).try_for_each(|(x, y)| self.equate(x, y))?;
        let left = |all: &[Type], end: &Option<Type>| match (&all[common..], end) {
            ([], None) => None,
            (more, end) => Some(Type::list(form, more.to_vec(), end.clone())),
        };
        match (left(xs, xs_end), left(ys, ys_end)) {
            (None, None) => Ok(()),
            (Some(x), Some(y)) => self.equate(&x, &y),
            // Only a list of `\*` may be empty.
            (Some(end), None) | (None, Some(end))
                if form == ProductForm::Compact && !matches!(end.kind(), TypeKind::List(..)) =>
            {
                self.equate(&end, &Type::list(form, Vec::new(), None))
            }
            _ => Err(UnifyError),
        }
    }

    /// Returns the type with its top constructor known: a solved hole replaced, and an open
    /// application zonked, which reduces it where possible.
    fn head(&self, ty: &Type) -> Type {
        let ty = self.shallow(ty);
        if self.is_open(&ty) { self.zonk(&ty) } else { ty }
    }

    /// Makes two types equal and retries the postponed equations. On failure some holes may stay
    /// solved; the caller undoes that with a mark.
    pub fn unify(&mut self, a: &Type, b: &Type) -> Result<(), UnifyError> {
        self.equate(a, b)?;
        self.retry()
    }

    /// Makes two types equal structurally, modulo the definitional equalities, without retrying the
    /// postponed equations.
    pub(super) fn equate(&mut self, a: &Type, b: &Type) -> Result<(), UnifyError> {
        let (a, b) = (self.head(a), self.head(b));
        if a == b {
            return Ok(());
        }
        use TypeKind as K;
        match (a.kind(), b.kind()) {
            (K::Error, _) | (_, K::Error) => Ok(()),
            // The younger of two holes takes the older one as its solution, so a chain of uses does
            // not make a chain of holes.
            (K::Meta(older), K::Meta(younger)) if older.kind == younger.kind && older.id < younger.id => {
                self.solve(*younger, &a)
            }
            (K::Meta(meta), _) => self.solve(*meta, &b),
            (_, K::Meta(meta)) => self.solve(*meta, &a),
            (K::Array(..), K::Rest(_)) | (K::Rest(_), K::Array(..)) if self.tuples_apart => Err(UnifyError),
            (K::Rest(list), _) => self.equate_product(&a, list, &b),
            (_, K::Rest(list)) => self.equate_product(&b, list, &a),
            (K::List(form, xs, xs_end), K::List(other, ys, ys_end)) if form == other => {
                self.equate_lists(*form, (xs, xs_end), (ys, ys_end))
            }
            (K::Apply(..), _) | (_, K::Apply(..)) if self.is_open(&a) || self.is_open(&b) => {
                if !(a.kind_of().meet(b.kind_of()).is_some() || a.is_error() || b.is_error()) {
                    return Err(UnifyError);
                }
                self.by_table(&a, &b)
            }
            (K::Array(t, i), K::Array(u, j)) => {
                self.equate(t, u)?;
                self.equate(i, j)
            }
            (K::Array(..), K::Product(_)) | (K::Product(_), K::Array(..)) if self.tuples_apart => {
                Err(UnifyError)
            }
            (K::Array(t, i), K::Product(parts)) | (K::Product(parts), K::Array(t, i)) => {
                self.equate(i, &Type::unit_sum(parts.len()))?;
                parts.iter().try_for_each(|part| self.equate(part, t))
            }
            (K::CompactPower(t, i), K::CompactProduct(parts))
            | (K::CompactProduct(parts), K::CompactPower(t, i)) => {
                self.equate(i, &Type::unit_sum(parts.len()))?;
                parts.iter().try_for_each(|part| self.equate(part, t))
            }
            (K::CompactPower(t, i), K::CompactPower(u, j)) => {
                self.equate(t, u)?;
                self.equate(i, j)
            }
            (K::Repeat(n, t), K::Sum(parts)) | (K::Sum(parts), K::Repeat(n, t)) => {
                self.equate(n, &Type::unit_sum(parts.len()))?;
                parts.iter().try_for_each(|part| self.equate(part, t))
            }
            (K::UnitSum(n), K::Sum(parts)) | (K::Sum(parts), K::UnitSum(n)) => {
                if *n != parts.len().into() {
                    return Err(UnifyError);
                }
                parts.iter().try_for_each(|part| self.equate(part, &Type::unit()))
            }
            (K::UnitSum(_), K::Repeat(n, t)) if a.is_at_least_two() => {
                self.equate(n, &a)?;
                self.equate(t, &Type::unit())
            }
            (K::Repeat(n, t), K::UnitSum(_)) if b.is_at_least_two() => {
                self.equate(n, &b)?;
                self.equate(t, &Type::unit())
            }
            (K::Repeat(n, t), K::Repeat(m, u)) => {
                self.equate(n, m)?;
                self.equate(t, u)
            }
            (K::Product(xs), K::Product(ys))
            | (K::Sum(xs), K::Sum(ys))
            | (K::CompactProduct(xs), K::CompactProduct(ys))
            | (K::CompactSum(xs), K::CompactSum(ys))
                if xs.len() == ys.len() =>
            {
                xs.iter().zip(ys).try_for_each(|(x, y)| self.equate(x, y))
            }
            (K::Triangle(t, i), K::Triangle(u, j)) if t == u => self.equate(i, j),
            (K::Placed(t, r), K::Placed(u, s)) => {
                self.equate(t, u)?;
                self.equate(r, s)
            }
            (K::Function(d, c), K::Function(e, f)) => {
                self.equate(d, e)?;
                self.equate(c, f)
            }
            (K::Procedure(d), K::Procedure(e)) => self.equate(d, e),
            // Bound variables are rigid; two of them are the same variable if their indices are
            // equal.
            (K::Exists(n, d), K::Exists(m, e)) if n == m => self.equate(d, e),
            (K::Record(xs), K::Record(ys)) if xs.len() == ys.len() => xs
                .iter()
                .zip(ys)
                .try_for_each(|((n, x), (m, y))| if n == m { self.equate(x, y) } else { Err(UnifyError) }),
            (K::Nominal(n, xs), K::Nominal(m, ys)) if n == m => {
                xs.iter().zip(ys).try_for_each(|(x, y)| self.equate(x, y))
            }
            _ => Err(UnifyError),
        }
    }

    /// Returns the unsolved holes of a type that do not belong to literals, in order of occurrence.
    pub fn open_holes(&self, ty: &Type) -> Vec<Meta> {
        fn collect(this: &Infer, ty: &Type, found: &mut Vec<Meta>) {
            if !ty.has_meta() {
                return;
            }
            match this.shallow(ty).kind() {
                TypeKind::Meta(meta) => {
                    if this.is_open_hole(meta) && !found.contains(meta) {
                        found.push(*meta);
                    }
                }
                kind => kind.for_each_child(&mut |child| collect(this, child, found)),
            }
        }
        let mut found = Vec::new();
        collect(self, ty, &mut found);
        found
    }

    /// Returns true if a hole is unsolved and does not belong to a literal.
    pub fn is_open_hole(&self, meta: &Meta) -> bool {
        let hole = &self.holes[meta.id as usize];
        hole.solution.is_none() && hole.literal.is_none()
    }

    /// Unifies two types; on failure undoes every change and returns false.
    pub fn try_unify(&mut self, a: &Type, b: &Type) -> bool {
        let mark = self.mark();
        let ok = self.unify(a, b).is_ok();
        if !ok {
            self.undo(mark);
        }
        ok
    }
}

#[cfg(test)]
mod tests {
    use super::{Equation, Infer, Literal};
    use crate::types::{Kind, ProductForm, Scalar, Type, TypeKind, TypeVar};

    const ROUNDS: usize = 3_000;

    /// Makes a random type without holes, of at most so many levels.
    fn ground(random: &mut fastrand::Rng, levels: usize) -> Type {
        let compact = |random: &mut fastrand::Rng| {
            let n = Type::unit_sum(random.u32(0..4));
            if random.bool() { n } else { Type::compact_power(n, Type::unit_sum(random.u32(1..4))) }
        };
        if levels == 0 {
            return match random.usize(..4) {
                0 => Type::int(),
                1 => Type::real(),
                2 => Type::unit(),
                _ => compact(random),
            };
        }
        let parts = |random: &mut fastrand::Rng| -> Vec<Type> {
            (0..random.usize(2..4)).map(|_| ground(random, levels - 1)).collect()
        };
        match random.usize(..6) {
            0 => Type::product(parts(random)),
            1 => Type::sum(parts(random)),
            2 => Type::function(ground(random, levels - 1), ground(random, levels - 1)),
            3 => Type::array(ground(random, levels - 1), compact(random)),
            4 => Type::repeat(compact(random), ground(random, levels - 1)),
            _ => ground(random, 0),
        }
    }

    /// Makes a type of which a type without holes is an instance: some parts become holes, and some
    /// products and sums of equal parts are written out.
    fn generalized(infer: &mut Infer, random: &mut fastrand::Rng, ty: &Type) -> Type {
        if random.usize(..4) == 0 {
            let kind = if random.bool() { ty.kind_of() } else { Kind::Type };
            return infer.fresh(kind);
        }
        let count = |index: &Type| index.as_unit_sum().and_then(|n| usize::try_from(n).ok());
        let written = |n: usize| (2..4).contains(&n);
        match ty.kind() {
            TypeKind::Array(part, index) if count(index).is_some_and(written) && random.bool() => {
                let n = count(index).expect("tested above");
                Type::product((0..n).map(|_| generalized(infer, random, part)).collect())
            }
            TypeKind::Repeat(index, part) if count(index).is_some_and(written) && random.bool() => {
                let n = count(index).expect("tested above");
                Type::sum((0..n).map(|_| generalized(infer, random, part)).collect())
            }
            TypeKind::UnitSum(_) if count(ty).is_some_and(written) && random.bool() => {
                let n = count(ty).expect("tested above");
                Type::sum((0..n).map(|_| generalized(infer, random, &Type::unit())).collect())
            }
            _ => ty.map_children(&mut |child| generalized(infer, random, child)),
        }
    }

    /// Two types with a common instance unify, in both orders, and the unifier is the most general
    /// one: the instance is still an instance of both.
    #[test]
    fn types_with_a_common_instance_have_a_most_general_unifier() {
        let seed = 1u64;
        let mut random = fastrand::Rng::with_seed(seed);
        for round in 0..ROUNDS {
            let mut infer = Infer::default();
            let instance = ground(&mut random, 3);
            let a = generalized(&mut infer, &mut random, &instance);
            let b = generalized(&mut infer, &mut random, &instance);
            let context = format!("seed {seed}, round {round}: {a} and {b} of {instance}");
            for (a, b) in [(&a, &b), (&b, &a)] {
                let mark = infer.mark();
                assert!(infer.try_unify(a, b), "{context}");
                assert_eq!(infer.zonk(a), infer.zonk(b), "{context}");
                assert!(infer.try_unify(a, &instance), "{context}: {}", infer.zonk(a));
                assert_eq!(infer.zonk(b), instance, "{context}");
                infer.undo(mark);
            }
            assert!(infer.postponed.is_empty(), "{context}");
        }
    }

    /// Unification of any two types succeeds in both orders or in neither; after success the types
    /// are equal.
    #[test]
    fn unification_is_symmetric() {
        let seed = 2u64;
        let mut random = fastrand::Rng::with_seed(seed);
        let mut unified = 0;
        for round in 0..ROUNDS {
            let mut infer = Infer::default();
            let levels = random.usize(..3);
            let [one, other] = [(); 2].map(|()| ground(&mut random, levels));
            let [a, b] = [one, other].map(|ty| generalized(&mut infer, &mut random, &ty));
            // Holes that occur on both sides.
            let shared = [infer.fresh(Kind::Type), infer.fresh(Kind::Compact)];
            let mut put =
                |ty: &Type| Type::product(vec![ty.clone(), random.choice(&shared).unwrap().clone()]);
            let (a, b) = (put(&a), put(&b));
            let context = format!("seed {seed}, round {round}: {a} and {b}");
            let mut results = Vec::new();
            for (a, b) in [(&a, &b), (&b, &a)] {
                let mark = infer.mark();
                results.push(infer.try_unify(a, b));
                if results.last() == Some(&true) {
                    let (a, b) = (infer.zonk(a), infer.zonk(b));
                    assert!(a == b || has_coarray_of_units(&a) || has_coarray_of_units(&b), "{context}");
                    unified += 1;
                }
                infer.undo(mark);
            }
            assert_eq!(results[0], results[1], "{context}");
        }
        assert!(unified > ROUNDS / 4 && unified < 2 * ROUNDS - ROUNDS / 4, "{unified}");
    }

    /// Returns true if a type has a part `N *+ 1`, which a hole of an index type takes for `N`.
    fn has_coarray_of_units(ty: &Type) -> bool {
        let mut found = matches!(ty.kind(), TypeKind::Repeat(_, case) if case.is_unit());
        ty.kind().for_each_child(&mut |child| found = found || has_coarray_of_units(child));
        found
    }

    /// `N *+ 1` is `N` where `N` is known to be `2` or more, and otherwise a type of its own, which
    /// is no index type.
    #[test]
    fn a_coarray_of_units_is_no_index_type() {
        let size = TypeVar { id: 903, name: "N".into(), kind: Kind::Compact };
        for cases in [Type::void(), Type::unit(), Type::var(size)] {
            let coarray = Type::repeat(cases.clone(), Type::unit());
            assert!(coarray != cases && !coarray.is_compact());
            let mut infer = Infer::default();
            let hole = infer.fresh(Kind::Compact);
            assert!(!infer.try_unify(&hole, &coarray), "{} is no {coarray}", infer.zonk(&hole));
        }
    }

    /// A unification that fails, or that is undone, leaves every hole as it was.
    #[test]
    fn undoing_restores_every_hole() {
        let seed = 3u64;
        let mut random = fastrand::Rng::with_seed(seed);
        for round in 0..ROUNDS / 10 {
            let mut infer = Infer::default();
            let instance = ground(&mut random, 3);
            let all: Vec<Type> = (0..6).map(|_| generalized(&mut infer, &mut random, &instance)).collect();
            let state = |infer: &Infer, count: usize| format!("{:?}", &infer.holes[..count]);
            let mut marks = Vec::new();
            for _ in 0..12 {
                marks.push((infer.mark(), infer.holes.len(), state(&infer, infer.holes.len())));
                let (a, b) = (random.usize(..6), random.usize(..6));
                match random.bool() {
                    true => {
                        infer.try_unify(&all[a], &all[b]);
                    }
                    // Fails after it has solved the holes of the first component.
                    false => {
                        let pair = |ty: &Type, last| Type::product(vec![ty.clone(), last]);
                        let before = state(&infer, infer.holes.len());
                        let (a, b) = (pair(&all[a], Type::string()), pair(&all[b], Type::bigint()));
                        assert!(!infer.try_unify(&a, &b));
                        let count = marks[marks.len() - 1].1;
                        assert_eq!(state(&infer, count), before, "seed {seed}, round {round}");
                    }
                }
            }
            for (mark, count, before) in marks.into_iter().rev() {
                infer.undo(mark);
                assert_eq!(state(&infer, count), before, "seed {seed}, round {round}");
            }
        }
    }

    #[test]
    fn a_hole_is_no_part_of_its_solution() {
        let mut infer = Infer::default();
        let [a, b] = [(); 2].map(|()| infer.fresh(Kind::Type));
        let pair = |ty: &Type| Type::product(vec![ty.clone(), Type::int()]);
        assert!(infer.try_unify(&a, &a));
        assert!(!infer.try_unify(&a, &pair(&a)));
        // Through the solution of another hole.
        assert!(infer.try_unify(&a, &pair(&b)));
        assert!(!infer.try_unify(&b, &pair(&a)));
        assert!(infer.try_unify(&b, &Type::real()));
        assert_eq!(infer.zonk(&a), pair(&Type::real()));
    }

    /// A hole of one kind and one of another are the hole of the greatest common subkind; without
    /// one they do not unify.
    #[test]
    fn two_holes_are_one_of_the_common_kind() {
        let built_in = [Kind::UnitSum, Kind::Place, Kind::Places, Kind::Compact, Kind::Type, Kind::Spread];
        let lists = [Kind::List(ProductForm::Tuple), Kind::List(ProductForm::Compact)];
        let kinds: Vec<Kind> = built_in.into_iter().chain(lists).chain([Kind::Finite(7)]).collect();
        for &one in &kinds {
            for &other in &kinds {
                let mut infer = Infer::default();
                let (a, b) = (infer.fresh(one), infer.fresh(other));
                assert_eq!(infer.try_unify(&a, &b), one.meet(other).is_some(), "{one} and {other}");
                if let Some(kind) = one.meet(other) {
                    assert_eq!(infer.zonk(&a), infer.zonk(&b), "{one} and {other}");
                    assert_eq!(infer.zonk(&a).kind_of(), kind, "{one} and {other}");
                    assert!(infer.is_open_hole(match infer.zonk(&a).kind() {
                        TypeKind::Meta(meta) => meta,
                        other => panic!("{other:?} is no hole"),
                    }));
                }
            }
        }
    }

    #[test]
    fn a_hole_takes_types_of_its_kind_only() {
        let mut infer = Infer::default();
        let (number, index) = (infer.fresh(Kind::UnitSum), infer.fresh(Kind::Compact));
        let power = Type::compact_power(Type::bool(), Type::unit_sum(3u32));
        assert!(!infer.try_unify(&number, &Type::int()) && !infer.try_unify(&number, &power));
        assert!(!infer.try_unify(&index, &Type::int()) && infer.try_unify(&index, &power));
        // A sum at such a kind is a sum of units.
        let case = infer.fresh(Kind::Type);
        assert!(infer.try_unify(&number, &Type::sum(vec![case.clone(), Type::unit()])));
        assert_eq!((infer.zonk(&number), infer.zonk(&case)), (Type::bool(), Type::unit()));
    }

    #[test]
    fn existential_types_are_no_solutions() {
        let mut infer = Infer::default();
        let hole = infer.fresh(Kind::Type);
        let size = TypeVar { id: 900, name: "K".into(), kind: Kind::Compact };
        let some =
            Type::exists(std::slice::from_ref(&size), &Type::array(Type::int(), Type::var(size.clone())));
        assert!(some.is_exists() && infer.try_unify(&some, &some));
        assert!(!infer.try_unify(&hole, &some));
    }

    /// A rigid variable is in scope of the holes that are made after it is opened, and of no hole
    /// that an older one mentions.
    #[test]
    fn a_rigid_variable_stays_in_its_scope() {
        let rigid = |id: u32| TypeVar { id, name: "N".into(), kind: Kind::Compact };
        let mut infer = Infer::default();
        let old = infer.fresh(Kind::Type);
        let opened = rigid(901);
        infer.open_rigid_variable(&opened, infer.next_hole());
        let ty = Type::var(opened);
        let [young, size] = [Kind::Type, Kind::Compact].map(|kind| infer.fresh(kind));
        let mark = infer.mark();
        assert!(!infer.try_unify(&old, &ty));
        assert!(!infer.try_unify(&old, &Type::array(Type::int(), ty.clone())));
        assert!(infer.try_unify(&young, &ty));
        // The older hole would mention the variable by its solution, and by that of a younger hole.
        assert!(!infer.try_unify(&old, &young));
        infer.undo(mark);
        for (a, b) in [(&old, &young), (&young, &old)] {
            assert!(infer.try_unify(a, b));
            assert!(!infer.try_unify(&young, &ty));
            infer.undo(mark);
        }
        assert!(infer.try_unify(&old, &Type::array(Type::int(), size.clone())));
        assert!(!infer.try_unify(&size, &ty));
        // A variable that was opened before the hole is in scope.
        infer.open_rigid_variable(&rigid(902), 0);
        assert!(infer.try_unify(&size, &Type::var(rigid(902))));
    }

    #[test]
    fn a_literal_is_of_the_types_that_its_class_allows() {
        for literal in [Literal::Int, Literal::Real] {
            for scalar in Scalar::ALL {
                let mut infer = Infer::default();
                let hole = infer.fresh_literal(literal);
                let ty = Type::scalar(scalar);
                assert_eq!(infer.try_unify(&hole, &ty), literal.allows(scalar), "{literal:?} at {ty}");
            }
            let mut infer = Infer::default();
            let hole = infer.fresh_literal(literal);
            let pair = Type::product(vec![Type::int(), Type::real()]);
            assert!(!infer.try_unify(&hole, &Type::bool()) && !infer.try_unify(&hole, &pair));
            assert!(infer.open_holes(&hole).is_empty());
            // A message shows the default, and nothing is decided.
            assert_eq!(infer.display_type(&hole), literal.default_type());
            assert_eq!(infer.literal_of(&hole), Some(literal));
            assert_eq!(infer.zonk_with_defaults(&hole), literal.default_type());
            assert_eq!(infer.literal_of(&hole), None);
        }
    }

    /// A literal that is equal to another, or to a hole, has the requirements of both.
    #[test]
    fn equal_literals_have_the_stronger_class() {
        for turned in [false, true] {
            let mut infer = Infer::default();
            let (int, real) = (infer.fresh_literal(Literal::Int), infer.fresh_literal(Literal::Real));
            let (hole, index) = (infer.fresh(Kind::Type), infer.fresh(Kind::Compact));
            let both = |infer: &mut Infer, a: &Type, b: &Type| {
                if turned { infer.try_unify(b, a) } else { infer.try_unify(a, b) }
            };
            assert!(!both(&mut infer, &int, &index), "a literal is no index");
            assert!(both(&mut infer, &int, &hole));
            assert_eq!(infer.literal_of(&hole), Some(Literal::Int));
            assert!(both(&mut infer, &hole, &real));
            assert_eq!(infer.literal_of(&int), Some(Literal::Real));
            assert!(!infer.try_unify(&int, &Type::int()));
            assert!(infer.try_unify(&int, &Type::scalar(Scalar::Single)));
            assert_eq!(infer.zonk(&real), Type::scalar(Scalar::Single));
        }
    }

    /// The equation of a product of unknown components and a product waits until the components are
    /// known.
    #[test]
    fn an_equation_that_waits_is_tried_when_a_hole_is_solved() {
        let form = ProductForm::Tuple;
        let pair = Type::product(vec![Type::int(), Type::real()]);
        let components = |parts: &[Type]| Type::list(form, parts.to_vec(), None);
        let mut infer = Infer::default();
        let list = infer.fresh(Kind::List(form));
        let product = Type::product_of(list.clone());
        let start = infer.mark();
        assert!(infer.try_unify(&product, &pair));
        assert!(matches!(infer.zonk(&list).kind(), TypeKind::Meta(_)));
        assert_eq!(infer.postponed.len(), 1);
        let mark = infer.mark();
        // The components contradict the equation; the equation still waits.
        assert!(!infer.try_unify(&list, &components(&[Type::int(), Type::int()])));
        assert_eq!(infer.postponed.len(), 1);
        assert!(infer.try_unify(&list, &components(&[Type::int(), Type::real()])));
        assert!(infer.postponed.is_empty());
        infer.undo(mark);
        assert_eq!(infer.postponed.len(), 1);
        // While another item is checked the equation is put aside, and nothing contradicts it.
        let waiting = infer.take_postponed();
        assert!(infer.try_unify(&list, &components(&[Type::int(), Type::int()])));
        infer.restore_postponed(waiting);
        let Some(Equation { found, expected, .. }) = infer.contradiction() else {
            panic!("`{}` is no `{pair}`", infer.zonk(&product));
        };
        assert_ne!(found, expected);
        infer.undo(start);
        assert!(infer.contradiction().is_none());
    }

    /// A tuple is an array of as many elements, except where the two are kept apart.
    #[test]
    fn a_tuple_unifies_with_an_array_unless_they_are_apart() {
        for apart in [false, true] {
            let mut infer = Infer { tuples_apart: apart, ..Infer::default() };
            let [a, b, element] = [(); 3].map(|()| infer.fresh(Kind::Type));
            let index = infer.fresh(Kind::Compact);
            let (tuple, array) = (Type::product(vec![a, b]), Type::array(element, index.clone()));
            assert_eq!(infer.try_unify(&tuple, &array), !apart);
            assert_eq!(infer.try_unify(&array, &tuple), !apart);
            assert_eq!(infer.zonk(&index) == Type::bool(), !apart);
        }
    }

    /// The nodes of a type are counted without the type being written out: this one has more than
    /// 2^100.
    #[test]
    fn nodes_are_counted_with_solutions_in_place() {
        let mut infer = Infer::default();
        let holes: Vec<Type> = (0..100).map(|_| infer.fresh(Kind::Type)).collect();
        for pair in holes.windows(2) {
            let twice = Type::function(pair[1].clone(), pair[1].clone());
            assert!(infer.try_unify(&pair[0], &twice));
        }
        assert_eq!(infer.nodes(&holes[0]), u32::MAX);
        for hole in &holes[90..] {
            assert_eq!(infer.nodes(hole), infer.zonk(hole).nodes());
        }
        assert_eq!(infer.open_holes(&holes[95]).len(), 1);
    }
}
