//! Truth tables of stuck applications whose unknowns are of declared kinds.
//!
//! `narrow(V, W)` depends on variables and holes that range over members of declared kinds, so it
//! has finitely many values: a row for each choice of members, at most [`MAX_ROWS`]. The table
//! decides what the rules of [`super::apply`], which try one arm after the other, cannot:
//!
//! - if all rows have the same value, the application is that value;
//! - if all rows have the member that one of its unknowns has there, it is that unknown;
//! - two applications are equal iff their tables are, whatever functions they are written with.
//!   Unknowns that a table does not depend on are removed. So equal types stay equal trees:
//!   [`Application`] compares tables.
//!
//! A row without a value (no arm, or a refusal) differs from every other value, so an application
//! that has one is never decided, and the error is found where the unknowns are known.
//!
//! [`solve_equation`] solves an equation for its holes. Where rows are not enumerated (an unknown
//! of another kind, a function that is being declared, too many rows), nothing is decided, as
//! without tables.

use super::apply::Reduction;
use super::{FiniteKind, Kind, Member, Meta, Type, TypeFun, TypeKind};
use crate::hash::HashSet;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// Rows enumerated for one question, at most.
pub const MAX_ROWS: usize = 4_096;

/// A stuck application: a type function whose arguments do not determine an arm.
#[derive(Clone, Debug)]
pub struct Application {
    /// The function.
    pub fun: TypeFun,
    /// The arguments, as written.
    pub args: Vec<Type>,
    /// The table, if its rows have been enumerated.
    table: Option<Arc<Table>>,
    /// The reason why it has no result, if known.
    failure: Option<Arc<Reduction>>,
}

impl Application {
    /// Returns a stuck application without a table.
    pub fn stuck(fun: TypeFun, args: Vec<Type>) -> Application {
        Application { fun, args, table: None, failure: None }
    }

    /// Returns an application that has no result, with the reason.
    pub fn with_failure(fun: TypeFun, args: Vec<Type>, why: Reduction) -> Application {
        Application { failure: Some(Arc::new(why)), ..Application::stuck(fun, args) }
    }

    /// Returns true if the table is known.
    pub fn is_tabled(&self) -> bool {
        self.table.is_some()
    }

    /// Returns the reason why it has no result, if that is known.
    pub fn failure(&self) -> Option<&Reduction> {
        self.failure.as_deref()
    }
}

impl PartialEq for Application {
    fn eq(&self, other: &Application) -> bool {
        match (&self.table, &other.table) {
            (Some(one), Some(other)) => one == other,
            (None, None) => self.fun == other.fun && self.args == other.args,
            _ => false,
        }
    }
}
impl Eq for Application {}
impl Hash for Application {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match &self.table {
            Some(table) => table.hash(state),
            None => (&self.fun, &self.args).hash(state),
        }
    }
}

/// The values of an application by the members of its unknowns, the last unknown varying fastest.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Table {
    /// The unknowns, in order.
    unknowns: Vec<Unknown>,
    /// The values of the rows; `None` for a row without a value.
    rows: Vec<Option<Type>>,
}

/// A variable or hole of a declared kind, identified by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Unknown {
    /// A rigid variable.
    Var(u32),
    /// A hole of inference.
    Hole(u32),
}

/// The unknowns of types, in order, with their kinds.
struct Choices {
    /// The unknowns with their types and kinds.
    unknowns: Vec<(Unknown, Type, FiniteKind)>,
}

impl Choices {
    /// Returns the unknowns of types; `None` if one is of another kind, or if there are too many
    /// rows.
    fn of(types: &[&Type]) -> Option<Choices> {
        let mut kinds: Vec<FiniteKind> = Vec::new();
        types.iter().for_each(|ty| declared_kinds(ty, &mut kinds));
        let mut unknowns = Vec::new();
        let mut seen = HashSet::default();
        for ty in types {
            collect_unknowns(ty, &kinds, &mut seen, &mut unknowns)?;
        }
        unknowns.sort_by_key(|(unknown, ..)| *unknown);
        let choices = Choices { unknowns };
        let counts = choices.unknowns.iter().map(|(_, _, kind)| kind.members.len());
        counts.into_iter().try_fold(1usize, |rows, n| rows.checked_mul(n).filter(|n| *n <= MAX_ROWS))?;
        Some(choices)
    }

    /// Returns the number of rows.
    fn count(&self) -> usize {
        self.unknowns.iter().map(|(_, _, kind)| kind.members.len()).product()
    }

    /// Returns the members of a row.
    fn row(&self, mut row: usize) -> Vec<Type> {
        let mut members: Vec<Type> = self
            .unknowns
            .iter()
            .rev()
            .map(|(_, _, kind)| {
                let index = row % kind.members.len();
                row /= kind.members.len();
                Member { kind: kind.clone(), index }.into_type()
            })
            .collect();
        members.reverse();
        members
    }

    /// Returns a type at a row.
    fn substitute_row(&self, ty: &Type, row: &[Type]) -> Type {
        let unknown = match ty.kind() {
            TypeKind::Var(var) => Unknown::Var(var.id),
            TypeKind::Meta(meta) => Unknown::Hole(meta.id),
            _ if ty.has_var() || ty.has_meta() || ty.has_apply() => {
                return match ty.kind() {
                    TypeKind::Apply(Application { table: Some(table), .. }) => self.lookup(table, row),
                    _ => None,
                }
                .unwrap_or_else(|| ty.map_children(&mut |child| self.substitute_row(child, row)));
            }
            _ => return ty.clone(),
        };
        let found = self.unknowns.iter().position(|(known, ..)| *known == unknown);
        found.and_then(|at| row.get(at)).unwrap_or(ty).clone()
    }

    /// Returns the value of an existing table at a row, if it has one there.
    fn lookup(&self, table: &Table, row: &[Type]) -> Option<Type> {
        let mut at = 0;
        for unknown in &table.unknowns {
            let position = self.unknowns.iter().position(|(known, ..)| known == unknown)?;
            let TypeKind::Member(member) = row.get(position)?.kind() else { return None };
            at = at * self.unknowns[position].2.members.len() + member.index;
        }
        table.rows.get(at)?.clone()
    }

    /// Returns the value at a row, `Some(None)` if it has none; `None` if that is undecided.
    fn value(&self, ty: &Type, row: &[Type]) -> Option<Option<Type>> {
        let value = self.substitute_row(ty, row);
        match super::apply::failure(&value) {
            Some(Reduction::NoArm | Reduction::Refused(_)) => return Some(None),
            Some(_) => return None,
            None => {}
        }
        let open = value.has_apply() || value.has_var() || value.has_meta() || value.is_error();
        (!open).then_some(Some(value))
    }
}

/// Collects the declared kinds of the type functions in a type.
fn declared_kinds(ty: &Type, kinds: &mut Vec<FiniteKind>) {
    if !ty.has_apply() {
        return;
    }
    if let TypeKind::Apply(application) = ty.kind() {
        for kind in &application.fun.kinds {
            if kinds.iter().all(|known| known.id != kind.id) {
                kinds.push(kind.clone());
            }
        }
    }
    ty.kind().for_each_child(&mut |child| declared_kinds(child, kinds));
}

/// Collects the unknowns of a type; `None` if one is of another kind.
fn collect_unknowns(
    ty: &Type,
    kinds: &[FiniteKind],
    seen: &mut HashSet<Unknown>,
    unknowns: &mut Vec<(Unknown, Type, FiniteKind)>,
) -> Option<()> {
    if !(ty.has_var() || ty.has_meta()) {
        return (ty.loose_bound_range() == 0).then_some(());
    }
    let (unknown, kind) = match ty.kind() {
        TypeKind::Var(var) => (Unknown::Var(var.id), var.kind),
        TypeKind::Meta(meta) => (Unknown::Hole(meta.id), meta.kind),
        other => {
            let mut all = Some(());
            other.for_each_child(&mut |child| {
                all = all.and_then(|()| collect_unknowns(child, kinds, seen, unknowns))
            });
            return all;
        }
    };
    let Kind::Finite(id) = kind else { return None };
    let kind = kinds.iter().find(|known| known.id == id)?;
    if seen.insert(unknown) {
        unknowns.push((unknown, ty.clone(), kind.clone()));
    }
    Some(())
}

/// Returns the type that a stuck application equals by its table, or the application with its
/// table.
pub fn reduce_by_table(fun: TypeFun, args: Vec<Type>) -> Type {
    let bare = Type::new(TypeKind::Apply(Application::stuck(fun, args)));
    let Some(choices) = Choices::of(&[&bare]) else { return bare };
    let Some(rows) = super::apply::with_table_fuel(|| rows(&bare, &choices)) else { return bare };
    if let Some(Some(value)) = rows.first()
        && rows.iter().all(|row| row.as_ref() == Some(value))
    {
        return value.clone();
    }
    for (at, (_, unknown, _)) in choices.unknowns.iter().enumerate() {
        let mut all = rows.iter().enumerate();
        if all.all(|(row, value)| value.as_ref() == Some(&choices.row(row)[at])) {
            return unknown.clone();
        }
    }
    let table = Some(Arc::new(Table::without_irrelevant_unknowns(&choices, rows)));
    match bare.kind() {
        TypeKind::Apply(application) => {
            Type::new(TypeKind::Apply(Application { table, ..application.clone() }))
        }
        _ => unreachable!("built as an application above"),
    }
}

/// Returns the value at each row; `None` if one is undecided.
fn rows(ty: &Type, choices: &Choices) -> Option<Vec<Option<Type>>> {
    (0..choices.count())
        .map(|row| {
            crate::cancellation::poll();
            choices.value(ty, &choices.row(row))
        })
        .collect()
}

impl Table {
    /// Returns the table over those unknowns that it depends on.
    fn without_irrelevant_unknowns(choices: &Choices, mut rows: Vec<Option<Type>>) -> Table {
        let mut unknowns: Vec<(Unknown, usize)> =
            choices.unknowns.iter().map(|(unknown, _, kind)| (*unknown, kind.members.len())).collect();
        let mut at = 0;
        while at < unknowns.len() {
            let members = unknowns[at].1;
            let inner: usize = unknowns[at + 1..].iter().map(|(_, n)| n).product();
            // The rows that differ in this unknown alone stand `inner` apart.
            let first = |row: usize| row / inner / members * members * inner + row % inner;
            if rows.iter().enumerate().all(|(row, value)| *value == rows[first(row)]) {
                let kept = |row: usize| (row / inner).is_multiple_of(members);
                let mut row = 0..;
                rows.retain(|_| row.next().is_some_and(kept));
                unknowns.remove(at);
            } else {
                at += 1;
            }
        }
        Table { unknowns: unknowns.into_iter().map(|(unknown, _)| unknown).collect(), rows }
    }
}

/// The solution of an equation.
#[derive(Clone, Debug, PartialEq)]
pub enum TableAnswer {
    /// The equation has no solution: for some members of its variables no members of its holes
    /// satisfy it.
    Never,
    /// The equation holds for all members of its holes.
    Always,
    /// The holes that are determined: by a member, or by one of the variables. Possibly none.
    Solved(Vec<(Meta, Type)>),
}

/// Solves an equation of types, if its rows can be enumerated.
///
/// The equation must hold at every choice of members for the variables. A hole stands for some
/// member at each choice. So if the equation allows one member only, the same at every choice, the
/// hole is that member; and if at every choice it is the member of one variable, the hole is the
/// variable.
pub fn solve_equation(one: &Type, other: &Type) -> Option<TableAnswer> {
    let choices = Choices::of(&[one, other])?;
    let holes: Vec<(usize, Meta)> = choices
        .unknowns
        .iter()
        .enumerate()
        .filter_map(|(at, (_, ty, _))| match ty.kind() {
            TypeKind::Meta(meta) => Some((at, *meta)),
            _ => None,
        })
        .collect();
    // Variables come before holes, so the rows of one choice for the variables stand together.
    let each: usize = holes.iter().map(|(at, _)| choices.unknowns[*at].2.members.len()).product();
    let mut always = true;
    // For each hole, at each choice, the only possible member.
    let mut only: Vec<Vec<Option<Type>>> = vec![Vec::new(); holes.len()];
    let mut chosen: Vec<Vec<Type>> = Vec::new();
    for start in (0..choices.count()).step_by(each.max(1)) {
        let mut possible: Vec<HashSet<Type>> = vec![HashSet::default(); holes.len()];
        let mut any = false;
        for row in start..start + each {
            crate::cancellation::poll();
            let row = choices.row(row);
            let (left, right) = (choices.value(one, &row)?, choices.value(other, &row)?);
            let holds = left.is_some() && left == right;
            always &= holds;
            any |= holds;
            if holds {
                holes.iter().zip(&mut possible).for_each(|((at, _), set)| {
                    set.insert(row[*at].clone());
                });
            }
        }
        if !any {
            return Some(TableAnswer::Never);
        }
        chosen.push(choices.row(start));
        for (only, possible) in only.iter_mut().zip(possible) {
            let mut possible = possible.into_iter();
            only.push(possible.next().filter(|_| possible.next().is_none()));
        }
    }
    if always {
        return Some(TableAnswer::Always);
    }
    let solved = holes.iter().zip(&only).filter_map(|((_, meta), only)| {
        let first = only.first()?.clone()?;
        if only.iter().all(|member| member.as_ref() == Some(&first)) {
            return Some((*meta, first));
        }
        let variables = choices.unknowns.iter().enumerate();
        let mut variables = variables.filter(|(_, (_, ty, _))| matches!(ty.kind(), TypeKind::Var(_)));
        let same =
            |at: usize| only.iter().zip(&chosen).all(|(member, row)| member.as_ref() == Some(&row[at]));
        variables.find(|(at, _)| same(*at)).map(|(_, (_, ty, _))| (*meta, ty.clone()))
    });
    Some(TableAnswer::Solved(solved.collect()))
}
