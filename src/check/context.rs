//! The context of checking: the [`Checker`], the item and the function that are being checked,
//! names in scope.
//!
//! Everything here is state with the operations that keep it consistent. Nothing elaborates.

use crate::check::annotations::Annotations;
use crate::check::elaborate::existential::{Host, Opening};
use crate::check::elaborate::local::Lifted;
use crate::check::elaborate::overload::Waiting;
use crate::check::elaborate::place::Seen;
use crate::check::elaborate::storing;
use crate::check::env::Parameter;
use crate::check::error::TypeError;
use crate::check::items::class::Expected;
use crate::check::report::Reports;
use crate::check::types::sizes::Opens;
use crate::check::types::well_formed::{Applied, Uses, Written};

use crate::check::env::{Constraint, Definition, Env, Scope, TypeDefinition};
use crate::check::error::CheckError;
use crate::check::solve::constraint::Obligation;
use crate::check::solve::infer::Infer;
use crate::core::{Function, FunctionId, GlobalId, LocalId, LocalInfo, Pat, Program, Term, TermKind};
use crate::hash::{HashMap, HashSet};
use crate::source::Span;
use crate::syntax::ast;
use crate::types::kind::FiniteKind;
use crate::types::{MAX_TYPE_NODES, Type, TypeVar};
use std::sync::Arc;

/// A variable in scope.
#[derive(Clone, Debug)]
pub(super) struct Binding {
    pub(super) local: LocalId,
    pub(super) mutable: bool,
    pub(super) span: Span,
    /// The word `val` of its statement.
    pub(super) word: Option<Span>,
    /// A function declared here, which does not end the search for its name.
    pub(super) function: bool,
    /// Functions of the same name in the same block, newest first.
    pub(super) overloads: Vec<Binding>,
    /// The function has type parameters: no variable holds it, and each use makes its own value.
    pub(super) generic: Option<FunctionId>,
}

/// What kind of body is being checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FrameKind {
    /// Top-level statements: effects are welcome.
    Script,
    /// A `fun`: pure.
    Fun,
    /// A `proc`.
    Proc,
}

/// One function body being checked; inner ones capture variables of outer ones.
pub(super) struct Frame {
    pub(super) kind: FrameKind,
    pub(super) name: Arc<str>,
    pub(super) header: Span,
    pub(super) scopes: Vec<HashMap<Arc<str>, Binding>>,
    pub(super) locals: Vec<LocalInfo>,
    /// Local of the next outer frame, and the local it is here.
    pub(super) captures: Vec<(LocalId, LocalId)>,
    /// What `return` gives.
    pub(super) result: Option<Type>,
    /// Nothing says what `return` gives: the first one does.
    pub(super) free_result: bool,
    /// Loops around the present statement.
    pub(super) loops: usize,
    /// Inside `{ …; e }`: the first of its own variables.
    pub(super) block: Option<LocalId>,
    /// What the present expression stands in, innermost last.
    pub(super) hosts: Vec<Host>,
    /// Variables opened in it so far.
    pub(super) opened: Vec<TypeVar>,
    /// What patterns have bound that is still to be opened, with the patterns for what is in it.
    pub(super) matched: Vec<(Opening, Pat)>,
    /// Procedures that change nothing but variables of this frame, or of procedures around it: it
    /// may call them, pure as it may be.
    pub(super) contained: HashSet<LocalId>,
    /// Functions that its variables hold for good.
    pub(super) functions: HashMap<LocalId, Seen>,
    /// It does something that can be seen outside the function in which it is declared.
    pub(super) outside: bool,
    /// It is a function declared by name in another: it may change variables of functions around
    /// it.
    pub(super) may_store: bool,
}

impl Frame {
    pub(super) fn new(kind: FrameKind, name: Arc<str>, header: Span) -> Frame {
        Frame {
            kind,
            name,
            header,
            scopes: vec![HashMap::default()],
            locals: Vec::new(),
            functions: HashMap::default(),
            captures: Vec::new(),
            result: None,
            free_result: false,
            loops: 0,
            block: None,
            hosts: Vec::new(),
            opened: Vec::new(),
            matched: Vec::new(),
            contained: HashSet::default(),
            outside: false,
            may_store: false,
        }
    }

    pub(super) fn pure(&self) -> bool {
        self.kind == FrameKind::Fun
    }

    /// Returns true if nothing says in which order calls of the function happen.
    pub(super) fn unordered(&self) -> bool {
        self.pure() && !self.may_store
    }
}

/// Everything about the top-level item being checked: put aside while another is checked on demand.
#[derive(Default)]
pub(super) struct Item {
    pub(super) frames: Vec<Frame>,
    /// Inner functions, complete but for solved holes.
    pub(super) unfinished: Vec<(FunctionId, Function)>,
    /// Session variables made by this item.
    pub(super) new_globals: Vec<GlobalId>,
    pub(super) type_scope: HashMap<Arc<str>, Type>,
    pub(super) type_params: Vec<TypeVar>,
    /// Names of sizes brought into the scope of types, with what they hide.
    pub(super) named: Vec<(Arc<str>, Option<Type>)>,
    /// What is bound now is bound for the rest of the session, names of sizes included.
    pub(super) names_last: bool,
    /// The names of the parameters of functions declared in blocks, by where these are declared.
    pub(super) local_parameters: HashMap<Span, Vec<Vec<Parameter>>>,
    /// Variables opened below the top level, since functions were last finished.
    pub(super) opened: Vec<TypeVar>,
    /// Those that each inner function has opened itself.
    pub(super) owned: HashMap<FunctionId, Vec<TypeVar>>,
    /// Equations of sizes that have been required in the blocks around.
    pub(super) equations: Vec<(Type, Type)>,
    /// Those of the top level that it relies on.
    pub(super) relied: Vec<(Type, Type)>,
    /// Constraints that the header gives, with those of their superclasses.
    pub(super) givens: Vec<Constraint>,
    /// Type parameters that it has mentioned, by their numbers.
    pub(super) mentioned: HashSet<u32>,
    /// Declared types with constraints that the item applies.
    pub(super) applied: Vec<Applied>,
    /// Constraints that the item needs and that have not been looked at.
    pub(super) obligations: Vec<Obligation>,
    /// A law: its variables can be compared.
    pub(super) in_law: bool,
    /// A constraint of the header could not be read: it may be the one that is missed.
    pub(super) in_doubt: bool,
    /// Calls whose function is chosen when more is known.
    pub(super) waiting: Vec<Waiting>,
    /// How many calls have waited.
    pub(super) waited: FunctionId,
    /// Those that have been chosen, by the numbers that stand for them.
    pub(super) chosen: HashMap<FunctionId, Term>,
    /// Functions with type parameters that are declared in it.
    pub(super) lifted: HashMap<FunctionId, Lifted>,
    /// What the blocks around have declared types of, with what it hides.
    pub(super) hidden: Vec<Hidden>,
    /// What they declare is put aside, and what they hide is known.
    pub(super) swapped: bool,
    /// Where functions that change variables around them may be called.
    pub(super) sequence: storing::Sequence,
    /// Whether the function closed last does what can be seen outside.
    pub(super) closed_outside: bool,
}

/// A declared function whose body has not been checked.
#[derive(Clone)]
pub(super) struct Pending {
    pub(super) name: Arc<str>,
    pub(super) function: Arc<ast::Function>,
    pub(super) type_params: Vec<TypeVar>,
    /// Sizes of the session that had a name where it is declared.
    pub(super) sizes: Vec<(Arc<str>, Type)>,
    /// Constraints that hold in it.
    pub(super) givens: Vec<Constraint>,
    /// What a class says it is.
    pub(super) expected: Option<Expected>,
    pub(super) in_law: bool,
    pub(super) in_doubt: bool,
}

/// Checks the body of a declared function on demand. Resolution needs the result type of a function
/// that states none; items, a layer above it, provide this function (as the query providers of
/// rustc do).
pub(super) type CheckFunction = fn(&mut Checker<'_>, FunctionId);

pub(super) struct Checker<'a> {
    pub(super) check_function: CheckFunction,
    pub(super) env: &'a mut Env,
    pub(super) program: &'a mut Program,
    pub(super) infer: Infer,
    pub(super) item: Item,
    pub(super) reports: Reports,
    pub(super) pending_types: HashMap<Arc<str>, ast::Stmt>,
    pub(super) types_in_progress: Vec<Arc<str>>,
    /// Constraints of the types that are being declared, innermost last, and of those that have
    /// been.
    pub(super) written: Vec<Written>,
    pub(super) declared: Vec<Written>,
    /// What the declarations of this input apply.
    pub(super) uses: Vec<Uses>,
    pub(super) pending_functions: HashMap<FunctionId, Pending>,
    /// Functions numbered from here on are of this input.
    pub(super) first_function: FunctionId,
    pub(super) implicit_vars: bool,
    /// What `?N` is in the type being read.
    pub(super) opens: Opens,
    /// The names of the sizes that the present annotation leaves open, with their holes.
    pub(super) stated: Vec<(crate::syntax::ast::Name, Type)>,
    /// The pattern that is being read has to fit every value.
    pub(super) in_total_pattern: bool,
    /// The word that begins the statement whose pattern is being bound.
    pub(super) let_word: Option<Span>,
    /// What is noted for an editor, if one asks.
    pub(super) notes: Option<Annotations>,
}

impl<'a> Checker<'a> {
    pub(super) fn new(
        env: &'a mut Env,
        program: &'a mut Program,
        check_function: CheckFunction,
    ) -> Checker<'a> {
        Checker {
            env,
            check_function,
            first_function: program.functions.len() as FunctionId,
            program,
            infer: Infer::default(),
            item: Item::default(),
            reports: Reports::default(),
            pending_types: HashMap::default(),
            types_in_progress: Vec::new(),
            written: Vec::new(),
            declared: Vec::new(),
            uses: Vec::new(),
            pending_functions: HashMap::default(),
            implicit_vars: false,
            opens: Opens::Nothing,
            stated: Vec::new(),
            in_total_pattern: false,
            let_word: None,
            notes: None,
        }
    }

    /// Checks the body of a function of this input now, if it has not been checked.
    pub(super) fn check_pending(&mut self, id: FunctionId) {
        (self.check_function)(self, id);
    }

    pub(super) fn report(&mut self, error: impl Into<CheckError>) {
        self.reports.add(error.into());
    }

    /// Reports, and gives the term that stands for the mistake.
    pub(super) fn wrong(&mut self, error: impl Into<CheckError>, span: Span) -> Term {
        self.report(error);
        Term::new(TermKind::Error, Type::error(), span)
    }

    pub(super) fn frame(&mut self) -> &mut Frame {
        if self.item.frames.is_empty() {
            self.item.frames.push(Frame::new(FrameKind::Script, "script".into(), Span::default()));
        }
        let last = self.item.frames.len() - 1;
        &mut self.item.frames[last]
    }

    /// A new local of the innermost frame, without a name in scope.
    pub(super) fn new_local(&mut self, name: &str, ty: Type) -> LocalId {
        let locals = &mut self.frame().locals;
        locals.push(LocalInfo { name: Arc::from(name), ty, shared: false });
        locals.len() as LocalId - 1
    }

    /// Brings a local into scope under a name.
    pub(super) fn bind(&mut self, name: &Arc<str>, local: LocalId, mutable: bool, span: Span) {
        let (word, overloads) = (self.let_word, Vec::new());
        let binding = Binding { local, mutable, span, word, function: false, overloads, generic: None };
        self.note_bound(local, span);
        if let Some(scope) = self.frame().scopes.last_mut() {
            scope.insert(name.clone(), binding);
        }
    }

    /// Brings a function into scope under a name, beside other functions of the name in its block.
    pub(super) fn bind_function(&mut self, name: &Arc<str>, local: LocalId, span: Span) {
        self.note_bound(local, span);
        self.bind_any_function(name, local, span, None);
    }

    pub(super) fn bind_any_function(
        &mut self,
        name: &Arc<str>,
        local: LocalId,
        span: Span,
        generic: Option<FunctionId>,
    ) {
        let frame = self.frame();
        let mut overloads = Vec::new();
        if let Some(before) = frame.scopes.last_mut().and_then(|scope| scope.remove(name))
            && before.function
        {
            let others = before.overloads.clone();
            overloads.push(Binding { overloads: Vec::new(), ..before });
            overloads.extend(others);
        }
        if let Some(scope) = frame.scopes.last_mut() {
            let (mutable, function) = (false, true);
            let binding = Binding { local, mutable, span, word: None, function, overloads, generic };
            scope.insert(name.clone(), binding);
        }
    }

    pub(super) fn note_bound(&mut self, local: LocalId, span: Span) {
        self.note_variable(span, |this| match this.item.frames.last() {
            Some(frame) => frame.locals[local as usize].ty.clone(),
            None => Type::error(),
        });
    }

    pub(super) fn in_scope<T>(&mut self, f: impl FnOnce(&mut Self) -> T) -> T {
        self.frame().scopes.push(HashMap::default());
        let hidden = self.item.hidden.len();
        let result = self.with_sizes(f);
        self.frame().scopes.pop();
        self.show_hidden(hidden);
        result
    }

    /// The variable of this name as a local of the innermost frame, captured if it is an outer one.
    /// Also says whether it belongs to the innermost frame.
    pub(super) fn lookup_local(&mut self, name: &str) -> Option<(Binding, bool)> {
        let (depth, binding) = self
            .item
            .frames
            .iter()
            .enumerate()
            .rev()
            .find_map(|(d, f)| f.scopes.iter().rev().find_map(|s| s.get(name)).map(|b| (d, b.clone())))?;
        Some(self.captured(depth, binding))
    }

    /// A variable of a frame as a local of the innermost one, and whether the two are the same.
    pub(super) fn captured(&mut self, depth: usize, binding: Binding) -> (Binding, bool) {
        let frames = &mut self.item.frames;
        let mut local = binding.local;
        for inner in depth + 1..frames.len() {
            if binding.mutable {
                frames[inner - 1].locals[local as usize].shared = true;
            }
            local = match frames[inner].captures.iter().find(|(outer, _)| *outer == local) {
                Some((_, here)) => *here,
                None => {
                    let info = frames[inner - 1].locals[local as usize].clone();
                    let contained = frames[inner - 1].contained.contains(&local);
                    let frame = &mut frames[inner];
                    if contained && !frame.unordered() {
                        frame.contained.insert(frame.locals.len() as LocalId);
                    }
                    frame.locals.push(info);
                    let here = frame.locals.len() as LocalId - 1;
                    frame.captures.push((local, here));
                    here
                }
            };
        }
        let own = depth + 1 == frames.len();
        (Binding { local, ..binding }, own)
    }

    pub(super) fn local_term(&mut self, local: LocalId, span: Span) -> Term {
        let ty = self.frame().locals[local as usize].ty.clone();
        Term::new(TermKind::Local(local), ty, span)
    }

    /// Reports a type beyond reason. What is built from it grows again: one message is enough.
    pub(super) fn too_large(&mut self, span: Span) {
        if !self
            .reports
            .iter()
            .any(|report| matches!(report.error, CheckError::Type(TypeError::TypeTooLarge { .. })))
        {
            self.report(TypeError::TypeTooLarge { span });
        }
    }

    /// Refuses types that have grown beyond reason, before anything walks them.
    pub(super) fn bounded(&mut self, term: Term) -> Term {
        if self.infer.nodes(&term.ty) > MAX_TYPE_NODES {
            let span = term.span;
            self.too_large(span);
            return Term::new(TermKind::Error, Type::error(), span);
        }
        term
    }

    /// Names known here, for suggestions.
    pub(super) fn known_names(&self) -> Vec<String> {
        let locals = self.item.frames.iter().flat_map(|f| f.scopes.iter().flat_map(|s| s.keys()));
        locals.chain(self.env.values.keys()).map(|n| n.to_string()).collect()
    }

    pub(super) fn global(&self, name: &str) -> Option<(GlobalId, bool, Span, Option<Span>)> {
        match self.env.values.get(name) {
            Some(Definition::Global { id, mutable, span, word, .. }) => Some((*id, *mutable, *span, *word)),
            _ => None,
        }
    }

    pub(super) fn type_definition(&self, name: &str) -> Option<&TypeDefinition> {
        self.env.types.get(name)
    }

    /// Puts the state of the present item aside while `f` checks another.
    pub(super) fn aside<T>(&mut self, f: impl FnOnce(&mut Self) -> T) -> T {
        self.swap_hidden();
        let outer = std::mem::take(&mut self.item);
        let equations = self.infer.put_aside();
        let result = f(self);
        self.infer.put_back(equations);
        self.item = outer;
        self.swap_hidden();
        result
    }

    /// Exchanges what blocks have declared for what it hides: another item knows nothing of these
    /// blocks.
    pub(super) fn swap_hidden(&mut self) {
        let mut hidden = std::mem::take(&mut self.item.hidden);
        let exchange = |this: &mut Self, one: &mut Hidden| {
            let ty = match one.ty.take() {
                Some(ty) => this.env.types.insert(one.name.clone(), ty),
                None => this.env.types.remove(&one.name),
            };
            let value = match one.value.take() {
                Some(value) => this.env.values.insert(one.name.clone(), value),
                None => this.env.values.remove(&one.name),
            };
            let kind = match one.kind.take() {
                Some(kind) => this.env.kinds.insert(one.name.clone(), kind),
                None => this.env.kinds.remove(&one.name),
            };
            this.remember_kind(kind.clone());
            (one.ty, one.value, one.kind) = (ty, value, kind);
        };
        // A name may be hidden twice: the outer block comes back last.
        match self.item.swapped {
            false => hidden.iter_mut().rev().for_each(|one| exchange(self, one)),
            true => hidden.iter_mut().for_each(|one| exchange(self, one)),
        }
        self.item.swapped = !self.item.swapped;
        self.item.hidden = hidden;
    }

    /// Keeps a kind that may lose its name, for the types that are of it.
    pub(super) fn remember_kind(&mut self, kind: Option<FiniteKind>) {
        let known = |kind: &FiniteKind| self.env.foreign_kinds.iter().any(|one| one.id == kind.id);
        let new = kind.filter(|kind| !known(kind));
        self.env.foreign_kinds.extend(new);
    }

    /// A constructor replaces whatever had its name in its scope, so that patterns have one
    /// reading.
    pub(super) fn hide(&mut self, name: &Arc<str>, scope: Scope) {
        if let Some(candidates) = self.env.candidates_in(name, scope) {
            candidates.retain(|_, known| known != scope);
        }
    }

    /// Equations of sizes that hold here.
    pub(super) fn equations(&self) -> Vec<(Type, Type)> {
        self.env.equations.iter().chain(&self.item.equations).cloned().collect()
    }

    /// Whether what is opened now lives as long as the session.
    pub(super) fn at_session_level(&mut self) -> bool {
        let outermost = self.item.frames.len() == 1;
        let frame = self.frame();
        outermost && frame.kind == FrameKind::Script && frame.hosts.len() == 1
    }

    /// Ends the blocks whose names have been hidden from this number on.
    pub(in crate::check) fn show_hidden(&mut self, from: usize) {
        for hidden in self.item.hidden.split_off(from).into_iter().rev() {
            let Hidden { name, ty, parameter, value, kind, bindings } = hidden;
            // Types of the block keep the kind, and it its name.
            let ended = match kind {
                Some(kind) => self.env.kinds.insert(name.clone(), kind),
                None => self.env.kinds.remove(&name),
            };
            self.remember_kind(ended);
            let ended = match ty {
                Some(ty) => self.env.types.insert(name.clone(), ty),
                None => self.env.types.remove(&name),
            };
            if let Some(TypeDefinition::Nominal(nominal)) = ended
                && nominal.as_abstract().is_some()
            {
                self.env.unnamed.insert(nominal.id);
            }
            match value {
                Some(value) => self.env.values.insert(name.clone(), value),
                None => self.env.values.remove(&name),
            };
            if let Some(parameter) = parameter {
                self.item.type_scope.insert(name.clone(), parameter);
            }
            for (depth, block, binding) in bindings {
                let scope = self.item.frames.get_mut(depth).and_then(|frame| frame.scopes.get_mut(block));
                if let Some(scope) = scope {
                    scope.insert(name.clone(), binding);
                }
            }
        }
    }

    /// Does `f`; names of sizes that it brings into scope go with it.
    pub(in crate::check) fn with_sizes<T>(&mut self, f: impl FnOnce(&mut Self) -> T) -> T {
        let (named, equations) = (self.item.named.len(), self.item.equations.len());
        let result = f(self);
        for (name, old) in self.item.named.split_off(named).into_iter().rev() {
            match old {
                Some(old) => self.item.type_scope.insert(name, old),
                None => self.item.type_scope.remove(&name),
            };
        }
        self.item.equations.truncate(equations);
        result
    }
}

/// What a name means outside the block that declares a type, or a constructor, of the name.
pub(in crate::check) struct Hidden {
    pub(in crate::check) name: Arc<str>,
    pub(in crate::check) ty: Option<TypeDefinition>,
    pub(in crate::check) parameter: Option<Type>,
    pub(in crate::check) value: Option<Definition>,
    pub(in crate::check) kind: Option<FiniteKind>,
    /// Variables and local functions, with their frame and block.
    pub(in crate::check) bindings: Vec<(usize, usize, Binding)>,
}
