//! The context of checking: the [`Checker`], the item and the functions that are being checked, and
//! the names in scope.
//!
//! Holds state and the operations that keep it consistent. Never elaborates.

use crate::check::annotations::Annotations;
use crate::check::elaborate::overload::DeferredCall;
use crate::check::env::Parameter;
use crate::check::env::{Constraint, Definition, Env, Scope, TypeDefinition};
use crate::check::error::CheckError;
use crate::check::error::TypeError;
use crate::check::report::Reports;
use crate::check::solve::infer::Infer;
use crate::check::state::{
    AppliedTypes, ConstrainedApplication, LiftedFunction, Obligation, OpenSizeMeaning, Opening, OpeningScope,
    PlaceScope, Reduced, RequiredSignature, Sequence, WrittenConstraints,
};
use crate::core::{
    Function, FunctionId, GlobalId, LocalId, LocalInfo, Pat, PatKind, Program, Stmt, StmtKind, Term, TermKind,
};
use crate::hash::{HashMap, HashSet};
use crate::source::Span;
use crate::syntax::ast;
use crate::types::kind::FiniteKind;
use crate::types::{MAX_TYPE_NODES, Type, TypeVar};
use std::sync::Arc;

/// A variable in scope.
#[derive(Clone, Debug)]
pub(super) struct Binding {
    /// The local of the frame that binds the variable.
    pub(super) local: LocalId,
    /// True if declared with `var`.
    pub(super) mutable: bool,
    /// The place of the name.
    pub(super) span: Span,
    /// The word `val` of its statement, if it has one.
    pub(super) word: Option<Span>,
    /// True for a function declared here. The search for its name continues in outer blocks.
    pub(super) function: bool,
    /// Functions of the same name in the same block, newest first.
    pub(super) overloads: Vec<Binding>,
    /// The number of the function if it has type parameters: no variable holds it, and each use
    /// makes its own value.
    pub(super) generic: Option<FunctionId>,
}

/// The kind of the body that is being checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FrameKind {
    /// The top-level statements, which may have effects.
    Script,
    /// A `fun`, which is pure.
    Fun,
    /// A `proc`.
    Proc,
}

/// The state of one function body being checked. Inner frames capture variables of outer frames.
pub(super) struct Frame {
    /// The kind of the body.
    pub(super) kind: FrameKind,
    /// The name of the function, for messages.
    pub(super) name: Arc<str>,
    /// The place of the function's header.
    pub(super) header: Span,
    /// The variables in scope by name, one table for each block, innermost last.
    pub(super) scopes: Vec<HashMap<Arc<str>, Binding>>,
    /// All locals of the function.
    pub(super) locals: Vec<LocalInfo>,
    /// The captures: the local of the next outer frame, and the local of this frame that holds it.
    pub(super) captures: Vec<(LocalId, LocalId)>,
    /// The type of the operand of `return`.
    pub(super) result: Option<Type>,
    /// True if no annotation states the type of `return`: the first `return` determines it.
    pub(super) free_result: bool,
    /// The number of loops around the present statement.
    pub(super) loops: usize,
    /// The first local of the innermost `{ …; e }` around the present statement, if there is one.
    pub(super) block: Option<LocalId>,
    /// The opening scopes around the present expression, innermost last.
    pub(super) opening_scopes: Vec<OpeningScope>,
    /// The type variables opened in this frame so far.
    pub(super) opened: Vec<TypeVar>,
    /// Existential values that patterns have bound and that are still to be opened, each with the
    /// pattern for the value inside.
    pub(super) matched: Vec<(Opening, Pat)>,
    /// Procedures that change nothing but variables of this frame or of the procedures around it. A
    /// pure frame may call them.
    pub(super) contained: HashSet<LocalId>,
    /// Functions held by immutable variables of this frame.
    pub(super) functions: HashMap<LocalId, Reduced>,
    /// True if the body has an effect visible outside the function in which it is declared.
    pub(super) outside: bool,
    /// True for a function declared by name in another one: it may change variables of the
    /// functions around it.
    pub(super) may_store: bool,
    /// True for a `joint fun`: it may move data between places.
    pub(super) joint: bool,
    /// True for a procedure with a result.
    pub(super) valued: bool,
}

impl Frame {
    /// Returns true for the procedure of a `bench` block. No identifier has such a name.
    pub(super) fn is_bench(&self) -> bool {
        self.name.starts_with("bench \"")
    }

    /// Makes a frame with one empty block.
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
            opening_scopes: Vec::new(),
            opened: Vec::new(),
            matched: Vec::new(),
            contained: HashSet::default(),
            outside: false,
            may_store: false,
            joint: false,
            valued: false,
        }
    }

    /// Returns true for a `fun`.
    pub(super) fn is_pure(&self) -> bool {
        self.kind == FrameKind::Fun
    }

    /// Returns true if the calls of the function have no defined order.
    pub(super) fn is_unordered(&self) -> bool {
        self.is_pure() && !self.may_store
    }
}

/// The state of the top-level item being checked. It is put aside while another item is checked on
/// demand.
#[derive(Default)]
pub(super) struct Item {
    /// The frames of the functions being checked, innermost last.
    pub(super) frames: Vec<Frame>,
    /// Inner functions that are complete except that solved holes are not yet replaced.
    pub(super) unfinished: Vec<(FunctionId, Function)>,
    /// The session variables that this item declares.
    pub(super) new_globals: Vec<GlobalId>,
    /// The types in scope by name: type parameters and named sizes.
    pub(super) type_scope: HashMap<Arc<str>, Type>,
    /// The type parameters in scope.
    pub(super) type_params: Vec<TypeVar>,
    /// The names of sizes brought into the scope of types, each with the type it hides.
    pub(super) named: Vec<(Arc<str>, Option<Type>)>,
    /// True if a name bound now, of a size too, stays bound for the rest of the session.
    pub(super) names_last: bool,
    /// The parameters of functions declared in blocks, in their groups, by the place of the
    /// declaration.
    pub(super) local_parameters: HashMap<Span, Vec<Vec<Parameter>>>,
    /// The type variables opened below the top level since functions were last finished.
    pub(super) opened: Vec<TypeVar>,
    /// The type variables that each inner function has opened itself.
    pub(super) owned: HashMap<FunctionId, Vec<TypeVar>>,
    /// The equations of sizes required in the blocks around the present statement.
    pub(super) equations: Vec<(Type, Type)>,
    /// The equations of the top level that this item relies on.
    pub(super) relied: Vec<(Type, Type)>,
    /// The constraints given by the header, with those of their superclasses.
    pub(super) givens: Vec<Constraint>,
    /// The type parameters that the item mentions, by number.
    pub(super) mentioned: HashSet<u32>,
    /// The declared types with constraints that the item applies.
    pub(super) applied: Vec<ConstrainedApplication>,
    /// The constraints that the item needs and that are not yet solved.
    pub(super) obligations: Vec<Obligation>,
    /// True in a law: the values of its variables can be compared.
    pub(super) in_law: bool,
    /// True if a constraint of the header could not be read. A constraint that seems to be missing
    /// may be that one.
    pub(super) in_doubt: bool,
    /// The calls whose function is not yet chosen.
    pub(super) deferred_calls: Vec<DeferredCall>,
    /// The number of calls that have ever been deferred.
    pub(super) deferred_count: usize,
    /// The functions chosen for deferred calls, by the numbers that stand for the calls.
    pub(super) chosen: HashMap<FunctionId, Term>,
    /// The functions with type parameters that are declared in the item.
    pub(super) lifted: HashMap<FunctionId, LiftedFunction>,
    /// The definitions hidden by the type declarations of the blocks around.
    pub(super) hidden: Vec<Hidden>,
    /// True while the definitions of the blocks are put aside and the hidden ones are in effect.
    pub(super) swapped: bool,
    /// The places at which functions that change variables around them may be called.
    pub(super) sequence: Sequence,
    /// The `at` block or lifted call around the present expression, if there is one.
    pub(super) place_scope: Option<PlaceScope>,
    /// The number of constructs around the present expression that evaluate their parts in no
    /// defined order.
    pub(super) unordered: usize,
    /// True if the function closed last has an effect visible outside.
    pub(super) closed_outside: bool,
    /// The number of sizes that were told to all parties when the item began.
    pub(super) revealed_around: usize,
}

/// A declared function whose body has not been checked.
#[derive(Clone)]
pub(super) struct Pending {
    /// The name of the function.
    pub(super) name: Arc<str>,
    /// The declaration.
    pub(super) function: Arc<ast::Function>,
    /// The type parameters of the header and of the surroundings.
    pub(super) type_params: Vec<TypeVar>,
    /// The sizes of the session that have a name at the declaration.
    pub(super) sizes: Vec<(Arc<str>, Type)>,
    /// The constraints that hold in the body.
    pub(super) givens: Vec<Constraint>,
    /// The signature stated by the class, for a method of an instance.
    pub(super) expected: Option<RequiredSignature>,
    /// True in a law; see [`Item::in_law`].
    pub(super) in_law: bool,
    /// True if a constraint of the header could not be read; see [`Item::in_doubt`].
    pub(super) in_doubt: bool,
}

/// A procedure that checks the body of a declared function on demand. Resolution needs the result
/// type of a function that states none; `items`, a layer above resolution, provides the procedure,
/// as the query providers of rustc do.
pub(super) type CheckFunction = fn(&mut Checker<'_>, FunctionId);

/// The checker of one input: everything that elaboration reads and changes.
pub(super) struct Checker<'a> {
    /// The procedure that checks a pending function.
    pub(super) check_function: CheckFunction,
    /// The names of the session.
    pub(super) env: &'a mut Env,
    /// The program that the input extends.
    pub(super) program: &'a mut Program,
    /// The holes and their solutions.
    pub(super) infer: Infer,
    /// The item being checked.
    pub(super) item: Item,
    /// The messages so far.
    pub(super) reports: Reports,
    /// The type declarations that are not read yet, by name.
    pub(super) pending_types: HashMap<Arc<str>, ast::Stmt>,
    /// The names of the types whose declarations are being read, outermost first.
    pub(super) types_in_progress: Vec<Arc<str>>,
    /// The constraints written in the type declarations that are being read, innermost last.
    pub(super) written: Vec<WrittenConstraints>,
    /// The constraints written in the type declarations that have been read.
    pub(super) declared: Vec<WrittenConstraints>,
    /// The types with constraints that the declarations of this input apply.
    pub(super) uses: Vec<AppliedTypes>,
    /// The functions whose bodies are not checked yet.
    pub(super) pending_functions: HashMap<FunctionId, Pending>,
    /// The first function of this input, by number.
    pub(super) first_function: FunctionId,
    /// The number of sizes that were told to all parties before this input.
    pub(super) revealed_before: usize,
    /// True if unknown names with an upper-case initial are type variables.
    pub(super) implicit_vars: bool,
    /// The meaning of `?N` in the type being read.
    pub(super) opens: OpenSizeMeaning,
    /// The names of the sizes that the present annotation leaves open, with their holes.
    pub(super) stated: Vec<(crate::syntax::ast::Name, Type)>,
    /// True if the pattern being read has to match every value.
    pub(super) in_total_pattern: bool,
    /// The word `val` of the statement whose pattern is being bound, if it has one.
    pub(super) let_word: Option<Span>,
    /// The notes for an editor, if one requests them.
    pub(super) notes: Option<Annotations>,
}

impl<'a> Checker<'a> {
    /// Makes a checker of a session's environment and program.
    pub(super) fn new(
        env: &'a mut Env,
        program: &'a mut Program,
        check_function: CheckFunction,
    ) -> Checker<'a> {
        Checker {
            env,
            check_function,
            first_function: FunctionId::new(program.functions.len()),
            revealed_before: program.revealed_sizes.len(),
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
            opens: OpenSizeMeaning::Nothing,
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

    /// Adds a message.
    pub(super) fn report(&mut self, error: impl Into<CheckError>) {
        self.reports.add(error.into());
    }

    /// Reports an error and returns an error term for the wrong expression.
    pub(super) fn error_term(&mut self, error: impl Into<CheckError>, span: Span) -> Term {
        self.report(error);
        Term::new(TermKind::Error, Type::error(), span)
    }

    /// Returns the innermost frame; makes the frame of the script if there is none.
    pub(super) fn frame(&mut self) -> &mut Frame {
        if self.item.frames.is_empty() {
            self.item.frames.push(Frame::new(FrameKind::Script, "script".into(), Span::default()));
        }
        let last = self.item.frames.len() - 1;
        &mut self.item.frames[last]
    }

    /// Makes a local of the innermost frame, without a name in scope.
    pub(super) fn new_local(&mut self, name: &str, ty: Type) -> LocalId {
        let locals = &mut self.frame().locals;
        locals.push(LocalInfo { name: Arc::from(name), ty, shared: false });
        LocalId::new(locals.len() - 1)
    }

    /// Brings a local into scope under a name.
    pub(super) fn bind(&mut self, name: &Arc<str>, local: LocalId, mutable: bool, span: Span) {
        let (word, overloads) = (self.let_word, Vec::new());
        let binding = Binding { local, mutable, span, word, function: false, overloads, generic: None };
        self.note_binding(local, span);
        if let Some(scope) = self.frame().scopes.last_mut() {
            scope.insert(name.clone(), binding);
        }
    }

    /// Brings a function into scope under a name, beside other functions of the name in its block.
    pub(super) fn bind_function(&mut self, name: &Arc<str>, local: LocalId, span: Span) {
        self.note_binding(local, span);
        self.bind_any_function(name, local, span, None);
    }

    /// Brings a function into scope, beside other functions of the name in its block. `generic` is
    /// the number of a function with type parameters.
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

    /// Notes a bound local for an editor.
    pub(super) fn note_binding(&mut self, local: LocalId, span: Span) {
        self.note_variable(span, |this| match this.item.frames.last() {
            Some(frame) => frame.locals[local.index()].ty.clone(),
            None => Type::error(),
        });
    }

    /// Runs `f` in a block of its own: names that it brings into scope end with it.
    pub(super) fn in_scope<T>(&mut self, f: impl FnOnce(&mut Self) -> T) -> T {
        self.frame().scopes.push(HashMap::default());
        let hidden = self.item.hidden.len();
        let result = self.with_sizes(f);
        self.frame().scopes.pop();
        self.show_hidden(hidden);
        result
    }

    /// Returns the variable of this name as a local of the innermost frame, captured if an outer
    /// frame has it; and true if the innermost frame has it.
    pub(super) fn lookup_local(&mut self, name: &str) -> Option<(Binding, bool)> {
        let (depth, binding) = self
            .item
            .frames
            .iter()
            .enumerate()
            .rev()
            .find_map(|(d, f)| f.scopes.iter().rev().find_map(|s| s.get(name)).map(|b| (d, b.clone())))?;
        Some(self.capture(depth, binding))
    }

    /// Returns a variable of the frame at `depth` as a local of the innermost frame, captured
    /// through the frames between; and true if the two frames are the same.
    pub(super) fn capture(&mut self, depth: usize, binding: Binding) -> (Binding, bool) {
        let frames = &mut self.item.frames;
        let mut local = binding.local;
        for inner in depth + 1..frames.len() {
            if binding.mutable {
                frames[inner - 1].locals[local.index()].shared = true;
            }
            local = match frames[inner].captures.iter().find(|(outer, _)| *outer == local) {
                Some((_, here)) => *here,
                None => {
                    let info = frames[inner - 1].locals[local.index()].clone();
                    let contained = frames[inner - 1].contained.contains(&local);
                    let frame = &mut frames[inner];
                    if contained && !frame.is_unordered() {
                        frame.contained.insert(LocalId::new(frame.locals.len()));
                    }
                    frame.locals.push(info);
                    let here = LocalId::new(frame.locals.len() - 1);
                    frame.captures.push((local, here));
                    here
                }
            };
        }
        let own = depth + 1 == frames.len();
        (Binding { local, ..binding }, own)
    }

    /// Binds a value to a new local, with the statement added to `prefix`; returns the local. A
    /// literal is returned unchanged.
    pub(super) fn bind_value(&mut self, value: Term, prefix: &mut Vec<Stmt>) -> Term {
        let (span, ty) = (value.span, value.ty.clone());
        if let TermKind::Int(_)
        | TermKind::Real(_)
        | TermKind::Str(_)
        | TermKind::Char(_)
        | TermKind::Code(_) = value.kind
        {
            return value;
        }
        let local = self.new_local("part", ty.clone());
        let bind = Pat { kind: PatKind::Bind(local), ty, span };
        prefix.push(Stmt { kind: StmtKind::Let(bind, value), span });
        self.local_term(local, span)
    }

    /// Makes the term that reads a local of the innermost frame.
    pub(super) fn local_term(&mut self, local: LocalId, span: Span) -> Term {
        let ty = self.frame().locals[local.index()].ty.clone();
        Term::new(TermKind::Local(local), ty, span)
    }

    /// Reports a type with more nodes than the limit, once for each input: types built from it
    /// exceed the limit too.
    pub(super) fn report_too_large(&mut self, span: Span) {
        if !self
            .reports
            .iter()
            .any(|report| matches!(report.error, CheckError::Type(TypeError::TypeTooLarge { .. })))
        {
            self.report(TypeError::TypeTooLarge { span });
        } else {
            self.note_suppressed(span);
        }
    }

    /// Returns an error term, with a report, for a term whose type has more than `MAX_TYPE_NODES`
    /// nodes, so that no later walk visits such a type.
    pub(super) fn check_type_size(&mut self, term: Term) -> Term {
        if self.infer.nodes(&term.ty) > MAX_TYPE_NODES {
            let span = term.span;
            self.report_too_large(span);
            return Term::new(TermKind::Error, Type::error(), span);
        }
        term
    }

    /// Returns the names of values known here, for suggestions.
    pub(super) fn known_names(&self) -> Vec<String> {
        let locals = self.item.frames.iter().flat_map(|f| f.scopes.iter().flat_map(|s| s.keys()));
        locals.chain(self.env.values.keys()).map(|n| n.to_string()).collect()
    }

    /// Returns a session variable by name: its number, true for `var`, the place of its name, the
    /// word of its statement.
    pub(super) fn global(&self, name: &str) -> Option<(GlobalId, bool, Span, Option<Span>)> {
        match self.env.values.get(name) {
            Some(Definition::Global { id, mutable, span, word, .. }) => Some((*id, *mutable, *span, *word)),
            _ => None,
        }
    }

    /// Returns the definition of a type by name.
    pub(super) fn type_definition(&self, name: &str) -> Option<&TypeDefinition> {
        self.env.types.get(name)
    }

    /// Checks another item: runs `f` with the state of the present item put aside.
    pub(super) fn with_separate_item<T>(&mut self, f: impl FnOnce(&mut Self) -> T) -> T {
        self.swap_hidden();
        let item = Item { revealed_around: self.program.revealed_sizes.len(), ..Item::default() };
        let outer = std::mem::replace(&mut self.item, item);
        let equations = self.infer.take_postponed();
        let result = f(self);
        self.infer.restore_postponed(equations);
        self.item = outer;
        self.swap_hidden();
        result
    }

    /// Exchanges the definitions declared by blocks for those that they hide, because another item
    /// does not see these blocks.
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
        // A name may be hidden twice: the definition of the outermost level is restored last.
        match self.item.swapped {
            false => hidden.iter_mut().rev().for_each(|one| exchange(self, one)),
            true => hidden.iter_mut().for_each(|one| exchange(self, one)),
        }
        self.item.swapped = !self.item.swapped;
        self.item.hidden = hidden;
    }

    /// Keeps a kind that may lose its name, for the types that have this kind.
    pub(super) fn remember_kind(&mut self, kind: Option<FiniteKind>) {
        let known = |kind: &FiniteKind| self.env.foreign_kinds.iter().any(|one| one.id == kind.id);
        let new = kind.filter(|kind| !known(kind));
        self.env.foreign_kinds.extend(new);
    }

    /// Removes the callables of this name from a scope, because a constructor replaces them there:
    /// a pattern has one reading.
    pub(super) fn hide(&mut self, name: &Arc<str>, scope: Scope) {
        if let Some(candidates) = self.env.candidates_in(name, scope) {
            candidates.retain(|_, known| known != scope);
        }
    }

    /// Returns the equations of sizes that hold here.
    pub(super) fn equations(&self) -> Vec<(Type, Type)> {
        self.env.equations.iter().chain(&self.item.equations).cloned().collect()
    }

    /// Returns true if a value opened now lives as long as the session.
    pub(super) fn at_session_level(&mut self) -> bool {
        let outermost = self.item.frames.len() == 1;
        let frame = self.frame();
        outermost && frame.kind == FrameKind::Script && frame.opening_scopes.len() == 1
    }

    /// Ends blocks: restores the definitions hidden since `from`, an earlier length of `hidden`.
    pub(in crate::check) fn show_hidden(&mut self, from: usize) {
        for hidden in self.item.hidden.split_off(from).into_iter().rev() {
            let Hidden { name, ty, parameter, value, kind, bindings } = hidden;
            // Types of the block keep the kind, and the kind keeps its name.
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

    /// Runs `f`, and ends the scope of the names of sizes and of the equations that it adds.
    pub(in crate::check) fn with_sizes<T>(&mut self, f: impl FnOnce(&mut Self) -> T) -> T {
        let (named, equations) = (self.item.named.len(), self.item.equations.len());
        let revealed = self.program.revealed_sizes.len();
        let result = f(self);
        self.program.revealed_sizes.truncate(revealed);
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

/// The definitions of a name outside the block that declares a type or a constructor of this name.
pub(in crate::check) struct Hidden {
    /// The name.
    pub(in crate::check) name: Arc<str>,
    /// The type of this name.
    pub(in crate::check) ty: Option<TypeDefinition>,
    /// The type parameter of this name.
    pub(in crate::check) parameter: Option<Type>,
    /// The variable or the callables of this name.
    pub(in crate::check) value: Option<Definition>,
    /// The kind of this name.
    pub(in crate::check) kind: Option<FiniteKind>,
    /// Variables and local functions, each with the index of its frame and of its block.
    pub(in crate::check) bindings: Vec<(usize, usize, Binding)>,
}
