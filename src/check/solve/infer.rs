//! Holes and unification.
//!
//! Takes types with holes ([`Meta`]) and makes them equal by solving the holes; what it did can be
//! undone ([`Infer::mark`], [`Infer::undo`]), so that an overload can be tried. A hole may be that
//! of a *literal*: it stands for a number type that the context chooses, and for `int` or `real` if
//! nothing does. Unification is modulo the definitional equalities only: a product of holes meets
//! an array of that many elements, never an isomorphic type.
//!
//! **Type functions.** An application that is stuck on holes says nothing about its arguments (type
//! functions are not injective), unless its table does ([`table::solve_equation`]): so an equation
//! with one is *postponed* and tried again whenever holes have been solved. Stuck on rigid
//! variables alone it is equal to what has the same table, else to itself only. What is still
//! postponed when an item ends has holes that nothing solves, and those are reported there. The
//! list is part of what a mark remembers.

use crate::hash::HashMap;
use crate::source::Span;
use crate::types::table::{self, TableAnswer};
use crate::types::{Kind, Meta, ProductForm, Scalar, Type, TypeKind, TypeVar};

/// What a literal hole may become.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Literal {
    /// Any number type.
    Int,
    /// Any float type.
    Real,
}

impl Literal {
    /// The type taken when nothing chooses.
    pub fn default_type(self) -> Type {
        match self {
            Literal::Int => Type::int(),
            Literal::Real => Type::real(),
        }
    }

    /// Whether a literal of the class can be of this type.
    pub fn allows(self, scalar: Scalar) -> bool {
        match self {
            Literal::Int => scalar.is_number(),
            Literal::Real => scalar.is_float(),
        }
    }
}

#[derive(Clone, Debug)]
struct Hole {
    kind: Kind,
    literal: Option<Literal>,
    solution: Option<Type>,
    /// The number of the oldest hole whose solution it is part of, or its own.
    level: u32,
}

/// The table of holes.
#[derive(Debug, Default)]
pub struct Infer {
    holes: Vec<Hole>,
    /// Variables opened so far, each with the first hole that may know it: what an older hole
    /// stands for is used where the variable has no meaning.
    opened: HashMap<u32, u32>,
    /// For now a product meets no array: see [`crate::types::matching`].
    pub tuples_apart: bool,
    /// Old states, newest last.
    trail: Vec<UndoEntry>,
    /// Equations with applications that are stuck on holes.
    postponed: Vec<Equation>,
    /// A hole has been solved since the postponed equations were tried.
    progress: bool,
    /// Where the checker is.
    pub here: Span,
}

#[derive(Debug)]
enum UndoEntry {
    Hole(u32, Hole),
    Postponed(Vec<Equation>),
}

/// Two types that have to be equal, and where that was asked.
#[derive(Clone, Debug)]
pub struct Equation {
    /// What was found.
    pub found: Type,
    /// What was expected.
    pub expected: Type,
    /// Where.
    pub span: Span,
}

/// Equations that may wait at once. Programs have a few.
const MAX_POSTPONED: usize = 1_000;

/// Whether a type may be an argument where this kind is wanted: holes written by the user may.
pub fn accepts(kind: Kind, ty: &Type) -> bool {
    // A type that is written for a list means the components of it.
    let component = matches!(kind, Kind::List(form) if ty.has_kind(form.kind()));
    matches!(ty.kind(), TypeKind::Meta(_)) || ty.has_kind(kind) || component
}

/// A state to return to.
#[derive(Clone, Copy)]
pub struct Mark(usize);

/// Unification failed. The caller knows the two types; this says nothing more.
#[derive(Debug)]
pub struct UnifyError;

impl Infer {
    /// A new hole.
    pub fn fresh(&mut self, kind: Kind) -> Type {
        let birth = self.holes.len() as u32;
        self.holes.push(Hole { kind, literal: None, solution: None, level: birth });
        Type::meta(birth, kind)
    }

    /// The number that the next hole will have.
    pub fn next_hole(&self) -> u32 {
        self.holes.len() as u32
    }

    /// A rigid variable has been opened: holes below `first` cannot take it.
    pub fn open(&mut self, var: &TypeVar, first: u32) {
        self.opened.insert(var.id, first);
    }

    /// A new hole for a literal.
    pub fn fresh_literal(&mut self, literal: Literal) -> Type {
        let birth = self.holes.len() as u32;
        self.holes.push(Hole { kind: Kind::Type, literal: Some(literal), solution: None, level: birth });
        Type::meta(birth, Kind::Type)
    }

    /// Fresh holes for type parameters.
    pub fn instantiate(&mut self, params: &[TypeVar]) -> HashMap<u32, Type> {
        params.iter().map(|p| (p.id, self.fresh(p.kind))).collect()
    }

    /// The present state.
    pub fn mark(&self) -> Mark {
        Mark(self.trail.len())
    }

    /// Undoes everything since the mark.
    pub fn undo(&mut self, mark: Mark) {
        while self.trail.len() > mark.0 {
            match self.trail.pop() {
                Some(UndoEntry::Hole(id, hole)) => self.holes[id as usize] = hole,
                Some(UndoEntry::Postponed(equations)) => self.postponed = equations,
                None => {}
            }
        }
    }

    fn change(&mut self, id: u32) -> &mut Hole {
        let hole = &mut self.holes[id as usize];
        self.trail.push(UndoEntry::Hole(id, hole.clone()));
        self.progress = true;
        hole
    }

    /// Puts the postponed equations aside, for another item; gives them to [`Infer::put_back`].
    pub fn put_aside(&mut self) -> Vec<Equation> {
        self.set_postponed(Vec::new())
    }

    /// The equations of the item that goes on.
    pub fn put_back(&mut self, equations: Vec<Equation>) {
        self.set_postponed(equations);
    }

    fn set_postponed(&mut self, equations: Vec<Equation>) -> Vec<Equation> {
        let old = std::mem::replace(&mut self.postponed, equations);
        if !(old.is_empty() && self.postponed.is_empty()) {
            self.trail.push(UndoEntry::Postponed(old.clone()));
        }
        old
    }

    fn postpone(&mut self, a: &Type, b: &Type) -> Result<(), UnifyError> {
        if self.postponed.len() >= MAX_POSTPONED {
            return Err(UnifyError);
        }
        let mut equations = self.postponed.clone();
        equations.push(Equation { found: a.clone(), expected: b.clone(), span: self.here });
        self.set_postponed(equations);
        Ok(())
    }

    /// An equation with an application that is stuck on holes: what the tables say, else it waits.
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

    /// Tries the postponed equations again while that solves holes.
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

    /// An equation that does not hold, whatever the open holes become. Those that hold are done.
    pub fn contradiction(&mut self) -> Option<Equation> {
        for Equation { found, expected, span } in self.set_postponed(Vec::new()) {
            let (found, expected) = (self.settle(&found), self.settle(&expected));
            if !self.try_unify(&found, &expected) {
                return Some(Equation { found, expected, span });
            }
        }
        None
    }

    /// The literal class of an unsolved hole.
    pub fn literal_of(&self, ty: &Type) -> Option<Literal> {
        match self.shallow(ty).kind() {
            TypeKind::Meta(meta) => self.holes[meta.id as usize].literal,
            _ => None,
        }
    }

    /// The type with a solved hole at its top replaced.
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

    /// The type with all solved holes replaced, canonical.
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

    /// Gives unsolved literal holes in the type their default, then replaces as [`Infer::zonk`].
    pub fn settle(&mut self, ty: &Type) -> Type {
        let ty = self.zonk(ty);
        if ty.has_meta() {
            self.default_literals(&ty);
            let mark = self.mark();
            if self.retry().is_err() {
                // Reported when the item ends.
                self.undo(mark);
            }
            return self.zonk(&ty);
        }
        ty
    }

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

    /// Nodes of the type with all solved holes replaced, saturating. Shared solutions are counted
    /// each time they occur but walked once.
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

    /// The type as a message shows it: literals at their defaults, nothing decided.
    pub fn shown(&mut self, ty: &Type) -> Type {
        let mark = self.mark();
        let shown = self.settle(ty);
        self.undo(mark);
        shown
    }

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

    fn solve(&mut self, meta: Meta, ty: &Type) -> Result<(), UnifyError> {
        let hole = self.holes[meta.id as usize].clone();
        if let TypeKind::Meta(other) = ty.kind() {
            if other.id == meta.id {
                return Ok(());
            }
            // Of two holes the one that promises less takes the other as its solution.
            let theirs = &self.holes[other.id as usize];
            let literal = hole.literal.max(theirs.literal);
            let kind = hole.kind.meet(theirs.kind).ok_or(UnifyError)?;
            let birth = hole.level.min(theirs.level);
            if literal.is_some() && kind != Kind::Type {
                return Err(UnifyError);
            }
            if theirs.kind != kind {
                // The solution must carry the smaller kind in its node.
                let merged = self.fresh(kind);
                if let Some(hole) = self.holes.last_mut() {
                    hole.level = birth;
                }
                self.change(meta.id).solution = Some(merged.clone());
                self.change(other.id).solution = Some(merged);
                return Ok(());
            }
            let other = self.change(other.id);
            other.literal = literal;
            other.level = birth;
            self.change(meta.id).solution = Some(ty.clone());
            return Ok(());
        }
        let product = matches!(ty.kind(), TypeKind::Rest(list) if matches!(list.kind(), TypeKind::List(..)));
        if product && hole.literal.is_some() {
            // A number is no tuple, whatever the components are.
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
        // Below TYPE a sum is one of units.
        if hole.kind != Kind::Type && hole.kind.within(Kind::Type) {
            let cases = match ty.kind() {
                TypeKind::Sum(parts) => Some((parts.clone(), Type::unit_sum(parts.len()))),
                TypeKind::Repeat(n, part) => Some((vec![part.clone()], n.clone())),
                _ => None,
            };
            if let Some((parts, n)) = cases {
                parts.iter().try_for_each(|part| self.unify(part, &Type::unit()))?;
                return self.solve(meta, &n);
            }
        }
        // No type of values is existential, and a bound variable means nothing outside its type.
        if !ty.has_kind(hole.kind) || ty.is_exists() || ty.loose() > 0 || self.occurs(meta.id, ty) {
            return Err(UnifyError);
        }
        self.age(ty, hole.level)?;
        self.change(meta.id).solution = Some(ty.clone());
        Ok(())
    }

    /// Makes the holes of a type as old as the hole it is to solve; fails if it mentions a variable
    /// that was opened too late for that.
    fn age(&mut self, ty: &Type, birth: u32) -> Result<(), UnifyError> {
        if !(ty.has_meta() || ty.has_var() && !self.opened.is_empty()) {
            return Ok(());
        }
        match ty.kind() {
            TypeKind::Var(var) if self.opened.get(&var.id).is_some_and(|first| birth < *first) => {
                Err(UnifyError)
            }
            TypeKind::Meta(meta) => match self.holes[meta.id as usize].solution.clone() {
                Some(solution) => self.age(&solution, birth),
                None => {
                    if self.holes[meta.id as usize].level > birth {
                        self.change(meta.id).level = birth;
                    }
                    Ok(())
                }
            },
            kind => {
                let mut children = Vec::new();
                kind.for_each_child(&mut |child| children.push(child.clone()));
                children.iter().try_for_each(|child| self.age(child, birth))
            }
        }
    }

    /// Whether it is an application that is stuck on holes, or a product of which some components
    /// are holes.
    fn is_open(&self, ty: &Type) -> bool {
        matches!(ty.kind(), TypeKind::Apply(..) | TypeKind::Rest(_) | TypeKind::List(..)) && ty.has_meta()
    }

    /// A product that is not known to its end, and a type.
    fn equate_product(&mut self, product: &Type, list: &Type, ty: &Type) -> Result<(), UnifyError> {
        use TypeKind as K;
        let (Some(form), whole) = (list.list_form(), matches!(list.kind(), K::List(..))) else {
            return Err(UnifyError);
        };
        if let K::Rest(other) = ty.kind()
            && whole
            && matches!(other.kind(), K::List(..))
        {
            return self.equate(list, other);
        }
        // Of two products of lists of which nothing is known the lists are taken to be the same.
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
        // The product of one component is that component; of a product that is not yet a list it is
        // not known which.
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

    /// Two lists: component by component, and what is left.
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
            // Only of `\*` a list may be empty.
            (Some(end), None) | (None, Some(end))
                if form == ProductForm::Compact && !matches!(end.kind(), TypeKind::List(..)) =>
            {
                self.equate(&end, &Type::list(form, Vec::new(), None))
            }
            _ => Err(UnifyError),
        }
    }

    /// The type with its top known: a solved hole replaced, an application reduced if it can be.
    fn head(&self, ty: &Type) -> Type {
        let ty = self.shallow(ty);
        if self.is_open(&ty) { self.zonk(&ty) } else { ty }
    }

    /// Makes two types equal, or fails and leaves holes partly solved (undo with a mark).
    pub fn unify(&mut self, a: &Type, b: &Type) -> Result<(), UnifyError> {
        self.equate(a, b)?;
        self.retry()
    }

    fn equate(&mut self, a: &Type, b: &Type) -> Result<(), UnifyError> {
        let (a, b) = (self.head(a), self.head(b));
        if a == b {
            return Ok(());
        }
        use TypeKind as K;
        match (a.kind(), b.kind()) {
            (K::Error, _) | (_, K::Error) => Ok(()),
            // The younger of two holes takes the older one: a chain of uses makes no chain of
            // holes.
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
            (K::Triangle(t, i), K::Triangle(u, j)) if t == u => self.unify(i, j),
            (K::Function(d, c), K::Function(e, f)) => {
                self.equate(d, e)?;
                self.equate(c, f)
            }
            (K::Procedure(d), K::Procedure(e)) => self.equate(d, e),
            // Bound variables are rigid, and of one type if they are of one place.
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

    /// The open holes of a type that no literal has made.
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

    /// Whether nothing has said what a hole stands for, and no literal has made it.
    pub fn is_open_hole(&self, meta: &Meta) -> bool {
        let hole = &self.holes[meta.id as usize];
        hole.solution.is_none() && hole.literal.is_none()
    }

    /// Unifies, or undoes everything.
    pub fn try_unify(&mut self, a: &Type, b: &Type) -> bool {
        let mark = self.mark();
        let ok = self.unify(a, b).is_ok();
        if !ok {
            self.undo(mark);
        }
        ok
    }
}
