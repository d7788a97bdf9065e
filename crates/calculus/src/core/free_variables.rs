//! The variables and the functions that a term mentions, and the variables that a loop changes, by
//! itself or by the functions that it calls.

use super::prim::Effect;
use super::visit::Part;
use super::{
    ClassId, Function, FunctionId, GlobalId, LocalId, Program, Root, Stmt, StmtKind, Term, TermKind,
};
use crate::types::TypeKind;
use std::collections::{BTreeMap, BTreeSet};

/// Functions that are looked at for one that leads back to another.
const MAX_CYCLE_SEARCH: u32 = 64;

/// The variables and functions that a term mentions.
#[derive(Clone, Debug, Default)]
pub struct FreeVariables {
    /// Locals that are read, captured or stored into.
    pub locals: BTreeSet<LocalId>,
    /// Locals that are declared inside.
    pub declared: BTreeSet<LocalId>,
    /// Session variables that are read or stored into.
    pub globals: BTreeSet<GlobalId>,
    /// Functions that are used as values or called.
    pub functions: BTreeSet<FunctionId>,
    /// Methods of classes, by their numbers.
    pub methods: BTreeSet<(ClassId, usize)>,
    /// Variables that are stored into.
    stored: BTreeSet<Root>,
    /// True if a primitive prints, asks the machine or moves data, or a term is at a place.
    acts: bool,
}

impl FreeVariables {
    /// Returns the variables and functions that a term mentions.
    pub fn of_term(term: &Term) -> FreeVariables {
        let mut found = FreeVariables::default();
        found.term(term);
        found
    }

    /// Returns the variables and functions that a statement mentions.
    pub fn of_stmt(stmt: &Stmt) -> FreeVariables {
        let mut found = FreeVariables::default();
        found.stmt(stmt);
        found
    }

    /// Adds the variables and functions that the term mentions.
    fn term(&mut self, term: &Term) {
        match &term.kind {
            TermKind::Global(global) => {
                self.globals.insert(*global);
            }
            TermKind::Closure { function, .. } => {
                self.functions.insert(*function);
            }
            TermKind::Method { class, method, .. } => {
                self.methods.insert((*class, *method));
            }
            TermKind::Prim(prim, ..) => {
                self.acts |= !matches!(prim.effect(), Effect::None | Effect::MayFail);
            }
            TermKind::At(..) => self.acts = true,
            _ => {}
        }
        term.for_each_part(&mut |part| self.part(part));
    }

    /// Adds the variables and functions that the statement mentions. To drop a variable is not to
    /// mention it.
    fn stmt(&mut self, stmt: &Stmt) {
        if let StmtKind::Drop(_) = stmt.kind {
            return;
        }
        if let Some(root) = stmt.stores_into() {
            self.stored.insert(root);
            if let Root::Global(global) = root {
                self.globals.insert(global);
            }
        }
        stmt.for_each_part(&mut |part| self.part(part));
    }

    /// Returns true if evaluating the term, without the functions that it mentions, has an effect,
    /// where some locals are captured.
    fn has_effects(&self, captures: &[LocalId]) -> bool {
        let is_outside = |root: &Root| match root {
            Root::Global(_) => true,
            Root::Local(local) => captures.contains(local),
        };
        self.acts || self.stored.iter().any(is_outside)
    }

    fn part(&mut self, part: Part<'_>) {
        match part {
            Part::Use(local) | Part::Set(local) => {
                self.locals.insert(*local);
            }
            Part::Term(term) => self.term(term),
            Part::Body(stmts) => stmts.iter().for_each(|stmt| self.stmt(stmt)),
            Part::Pat(_) | Part::Def(_) => bind(&part, &mut self.declared),
            Part::Type(_) => {}
        }
    }
}

/// The variables outside of a loop that it changes, in the order they are met.
pub fn modified_variables(stmt: &Stmt) -> Vec<Root> {
    let (mut found, mut own) = (Vec::new(), BTreeSet::new());
    collect(stmt, &mut found, &mut own);
    stmt.for_each_term(&mut |term| inside(term, &mut found, &mut own));
    let mut seen = Vec::new();
    for root in found {
        if !seen.contains(&root) && !matches!(root, Root::Local(local) if own.contains(&local)) {
            seen.push(root);
        }
    }
    seen
}

/// For some functions, and for those that they mention, the session variables that they set, by
/// themselves or by functions that they mention; without those that set none. What a function sets
/// that only its caller knows is that caller's.
pub fn globals_set_by_functions(
    program: &Program,
    functions: BTreeSet<FunctionId>,
) -> BTreeMap<FunctionId, BTreeSet<GlobalId>> {
    let mut mentioned: BTreeMap<FunctionId, BTreeSet<FunctionId>> = BTreeMap::new();
    let mut sets: BTreeMap<FunctionId, BTreeSet<GlobalId>> = BTreeMap::new();
    any_function(program, functions, &mut |id, _, found| {
        let own: BTreeSet<GlobalId> = found
            .stored
            .iter()
            .filter_map(|root| match root {
                Root::Global(global) => Some(*global),
                Root::Local(_) => None,
            })
            .collect();
        if !own.is_empty() {
            sets.insert(id, own);
        }
        mentioned.insert(id, found.functions.clone());
        false
    });
    let mut changed = !sets.is_empty();
    while std::mem::take(&mut changed) {
        for (id, inner) in &mentioned {
            let all: BTreeSet<GlobalId> =
                inner.iter().filter_map(|inner| sets.get(inner)).flatten().copied().collect();
            let own = sets.get(id).map_or(0, BTreeSet::len);
            if !all.is_empty() {
                let known = sets.entry(*id).or_default();
                known.extend(all);
                changed |= known.len() > own;
            }
        }
    }
    sets
}

/// Returns true if evaluating a term may have an effect: it calls a procedure that sets a variable
/// around it, prints, asks the machine or moves data, by itself or by functions that it mentions.
pub fn may_have_effects(program: &Program, term: &Term) -> bool {
    let own = FreeVariables::of_term(term);
    own.has_effects(&[])
        || any_function(program, own.functions, &mut |_, function, found| {
            found.has_effects(&function.captures)
        })
}

/// Returns true for a function that may call itself and may change variables around it, by itself
/// or by functions that it mentions or has captured. Cycles of many functions are not looked for.
pub fn may_recur_with_effects(program: &Program, id: FunctionId, function: &Function) -> bool {
    let own = FreeVariables::of_term(&function.body);
    let is_recursive = function.this.is_some_and(|this| own.locals.contains(&this))
        || own.functions.contains(&id)
        || !own.functions.is_empty() && leads_to(program, own.functions.clone(), id);
    let is_function = |local: &LocalId| {
        let ty = &function.locals[local.index()].ty;
        matches!(ty.unfold().kind(), TypeKind::Function(..) | TypeKind::Procedure(_))
    };
    is_recursive
        && (own.has_effects(&function.captures)
            || function.captures.iter().any(is_function)
            || any_function(program, own.functions, &mut |_, function, found| {
                found.has_effects(&function.captures)
            }))
}

/// Returns true if one of some functions mentions another one, itself or by functions that it
/// mentions, of which few are looked at.
fn leads_to(program: &Program, functions: BTreeSet<FunctionId>, target: FunctionId) -> bool {
    let (mut looked_at, mut found) = (0, false);
    any_function(program, functions, &mut |_, _, mentioned| {
        looked_at += 1;
        found |= mentioned.functions.contains(&target);
        found || looked_at == MAX_CYCLE_SEARCH
    });
    found
}

/// Returns true if a condition holds for one of the functions that are mentioned, also by others of
/// these. It is asked of each function once, with what the body mentions, until it holds.
fn any_function(
    program: &Program,
    mut waiting: BTreeSet<FunctionId>,
    holds: &mut dyn FnMut(FunctionId, &Function, &FreeVariables) -> bool,
) -> bool {
    let mut seen = waiting.clone();
    while let Some(id) = waiting.pop_first() {
        let Some(function) = program.functions.get(id.index()).and_then(Option::as_ref) else { continue };
        let found = FreeVariables::of_term(&function.body);
        if holds(id, function, &found) {
            return true;
        }
        waiting.extend(found.functions.into_iter().filter(|inner| seen.insert(*inner)));
    }
    false
}

/// Adds what a statement, and those nested in it, change and bind; without statements inside terms.
fn collect(stmt: &Stmt, found: &mut Vec<Root>, own: &mut BTreeSet<LocalId>) {
    stmt.for_each_stmt(&mut |stmt| {
        found.extend(stmt.stores_into());
        stmt.for_each_part(&mut |part| bind(&part, own));
    });
}

/// The same for the statements inside a term.
fn inside(term: &Term, found: &mut Vec<Root>, own: &mut BTreeSet<LocalId>) {
    term.for_each_part(&mut |part| {
        bind(&part, own);
        match part {
            Part::Term(child) => inside(child, found, own),
            Part::Body(stmts) => {
                stmts.iter().for_each(|stmt| collect(stmt, found, own));
                stmts.iter().for_each(|stmt| stmt.for_each_term(&mut |term| inside(term, found, own)));
            }
            _ => {}
        }
    });
}

/// Adds the locals that a part binds.
fn bind(part: &Part<'_>, own: &mut BTreeSet<LocalId>) {
    match part {
        Part::Def(local) => {
            own.insert(**local);
        }
        Part::Pat(pat) => pat.for_each_local(&mut |local| {
            own.insert(local);
        }),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::{FreeVariables, modified_variables};
    use crate::core::testing::{local, stmt, term};
    use crate::core::{
        ClassId, ForRange, FunctionId, GlobalId, LocalId, Pat, PatKind, Root, Stmt, StmtKind, Term, TermKind,
    };
    use crate::source::Span;
    use crate::types::Type;

    fn set(id: usize, value: Term) -> Stmt {
        stmt(StmtKind::SetLocal(LocalId::new(id), value))
    }

    fn bind(id: usize, value: Term) -> Stmt {
        let pat = Pat { kind: PatKind::Bind(LocalId::new(id)), ty: Type::int(), span: Span::default() };
        stmt(StmtKind::Let(pat, value))
    }

    fn store(root: Root, value: Term) -> Stmt {
        stmt(StmtKind::Store { root, root_ty: Type::int(), path: Vec::new(), value })
    }

    fn block(stmts: Vec<Stmt>) -> Term {
        term(TermKind::Block(stmts, None))
    }

    fn forever(body: Vec<Stmt>) -> Stmt {
        stmt(StmtKind::While(local(9), body))
    }

    fn ids<'i>(locals: impl IntoIterator<Item = &'i LocalId>) -> Vec<usize> {
        locals.into_iter().map(|id| id.index()).collect()
    }

    #[test]
    fn reads_stores_and_captures_are_mentioned_and_bindings_are_not() {
        let closure = TermKind::Closure {
            function: FunctionId::new(3),
            type_args: Vec::new(),
            captures: vec![LocalId::new(4)],
        };
        let method = TermKind::Method { class: ClassId::new(1), method: 2, type_args: Vec::new() };
        let moved = term(TermKind::Move(Box::new(local(5))));
        let body = vec![
            bind(0, local(1)),
            set(2, term(TermKind::Call(Box::new(term(closure)), vec![term(method), moved]))),
            store(Root::Local(LocalId::new(6)), term(TermKind::Global(GlobalId::new(7)))),
            store(Root::Global(GlobalId::new(8)), local(1)),
        ];
        let found = FreeVariables::of_term(&block(body));
        assert_eq!(ids(&found.locals), [1, 2, 4, 5, 6]);
        assert_eq!(found.globals.into_iter().map(|id| id.index()).collect::<Vec<_>>(), [7, 8]);
        assert_eq!(found.functions.into_iter().collect::<Vec<_>>(), [FunctionId::new(3)]);
        assert_eq!(found.methods.into_iter().collect::<Vec<_>>(), [(ClassId::new(1), 2)]);
    }

    #[test]
    fn to_drop_a_variable_is_not_to_mention_it() {
        let drop = stmt(StmtKind::Drop(vec![LocalId::new(1)]));
        assert!(FreeVariables::of_stmt(&drop).locals.is_empty());
        let inside = stmt(StmtKind::If(local(2), vec![drop], Vec::new()));
        assert_eq!(ids(&FreeVariables::of_stmt(&inside).locals), [2]);
    }

    fn modified(loop_: &Stmt) -> Vec<usize> {
        let number = |root: &Root| match root {
            Root::Local(local) => local.index(),
            Root::Global(global) => 100 + global.index(),
        };
        modified_variables(loop_).iter().map(number).collect()
    }

    #[test]
    fn a_loop_changes_what_it_stores_into_once_and_in_order() {
        let body = vec![
            set(3, local(0)),
            stmt(StmtKind::If(local(9), vec![store(Root::Local(LocalId::new(1)), local(0))], Vec::new())),
            stmt(StmtKind::SetGlobal(GlobalId::new(2), local(0))),
            set(3, local(1)),
        ];
        assert_eq!(modified(&forever(body)), [3, 1, 102]);
    }

    /// Also where they are bound after a store: what binds a variable may stand in an inner loop.
    #[test]
    fn variables_that_a_loop_binds_are_its_own() {
        let inner = stmt(StmtKind::For(LocalId::new(2), ForRange::All(Type::bool()), vec![set(3, local(2))]));
        let body = vec![bind(1, local(0)), set(1, local(0)), set(2, local(0)), inner];
        assert_eq!(modified(&forever(body)), [3]);
        let arm = (
            Pat { kind: PatKind::Bind(LocalId::new(4)), ty: Type::int(), span: Span::default() },
            None,
            vec![set(4, local(0)), set(5, local(0))],
        );
        assert_eq!(modified(&forever(vec![stmt(StmtKind::Match(local(0), vec![arm]))])), [5]);
    }

    #[test]
    fn statements_inside_terms_change_variables() {
        let nested = block(vec![bind(1, local(0)), set(1, block(vec![set(2, local(0))]))]);
        assert_eq!(modified(&forever(vec![bind(3, nested.clone())])), [2]);
        assert_eq!(modified(&stmt(StmtKind::While(nested, Vec::new()))), [2]);
    }
}
