//! The checker: tree → core, by bidirectional elaboration.
//!
//! Takes the statements of one input and what the session knows ([`Env`], [`Program`]); gives a
//! [`Script`] with its diagnostics, and extends both. Type information flows down where it is
//! stated (annotations, arguments) and up where it is not; holes are solved by unification modulo
//! the definitional equalities ([`infer`]), and what stands at `:>>` is proved by [`crate::iso`].
//! The result has no holes: an input with an error gives no script.
//!
//! Order of one input: types by name, on demand; headers of functions; statements in order (a
//! function whose result type is not written is checked when first needed); remaining bodies.
//!
//! Never evaluates, never prints.

mod advice;
pub mod annotations;
mod apply;
mod behavior;
mod builtin;
mod candidate;
mod class;
mod common_type;
mod computed_result;
mod constraint;
mod decl;
mod dependency_order;
mod dot;
pub mod env;
pub mod error;
mod exhaustive;
mod existential;
mod expr;
mod fit;
pub mod foreign_names;
mod function;
mod grouping;
pub mod infer;
mod kinds;
mod local;
pub mod module;
mod named;
mod opaque;
mod operator;
mod overload;
mod pattern;
mod place;
mod record;
mod reshape;
mod rest;
mod size_equation;
mod slice;
mod stmt;
pub mod type_query;
mod typed_reader;
mod types;
mod well_formed;
mod zonk;

pub use env::Env;
pub use error::CheckError;
pub use stmt::unused_result;

use crate::core::{Function, FunctionId, GlobalId, LocalId, LocalInfo, Pat, Program, Script, Term, TermKind};
use crate::diagnostic::Diagnostic;
use crate::hash::{HashMap, HashSet};
use crate::source::Span;
use crate::syntax::ast;
use crate::types::opaque::with_hidden_representations;
use crate::types::{MAX_TYPE_NODES, Type, TypeVar};
use annotations::Annotations;
use constraint::Obligation;
use env::{Constraint, Definition, TypeDefinition};
use infer::Infer;
use std::sync::Arc;

/// Checks the statements of one input.
///
/// Diagnostics may be warnings and notes only; if one is an error there is no script, and the
/// caller puts `env` and `program` back as they were.
pub fn check(env: &mut Env, program: &mut Program, stmts: &[ast::Stmt]) -> (Option<Script>, Vec<Diagnostic>) {
    check_noting(env, program, stmts, &mut None)
}

/// The same, and notes for editors what the text says.
pub fn check_noting(
    env: &mut Env,
    program: &mut Program,
    stmts: &[ast::Stmt],
    notes: &mut Option<Annotations>,
) -> (Option<Script>, Vec<Diagnostic>) {
    let hidden = env.hidden.iter().copied().collect();
    let mut checker = Checker::new(env, program);
    checker.notes = notes.take();
    checker.exports(stmts);
    let script = with_hidden_representations(hidden, || checker.input(&module::bare(stmts)));
    *notes = checker.notes.take();
    if let Some(notes) = notes {
        notes.settle(&mut checker.infer);
    }
    let errors = checker.diagnostics.iter().any(Diagnostic::is_error);
    (if errors { None } else { Some(script) }, checker.diagnostics)
}

/// Whether a constraint without variables holds.
pub fn holds(env: &mut Env, program: &mut Program, constraint: &Constraint) -> bool {
    Checker::new(env, program).entails(constraint) == constraint::Answer::Yes
}

/// The type a written type stands for. With `implicit`, unknown names that begin with an upper-case
/// letter are COMPACTLINEAR variables.
pub fn lower_type(env: &mut Env, ty: &ast::TypeExpr, implicit: bool) -> (Type, Vec<Diagnostic>) {
    let (types, diagnostics) = lower_types(env, &[ty], implicit);
    (types.into_iter().next().unwrap_or_else(Type::error), diagnostics)
}

/// The types several written types stand for, read in one scope: an implicit variable of the one is
/// that of the others.
pub fn lower_types(env: &mut Env, types: &[&ast::TypeExpr], implicit: bool) -> (Vec<Type>, Vec<Diagnostic>) {
    let mut program = Program::default();
    let mut checker = Checker::new(env, &mut program);
    checker.implicit_vars = implicit;
    let types = types.iter().map(|ty| checker.lower_argument(ty)).collect();
    (types, checker.diagnostics)
}

/// A variable in scope.
#[derive(Clone, Debug)]
struct Binding {
    local: LocalId,
    mutable: bool,
    span: Span,
    /// The word `val` of its statement.
    word: Option<Span>,
    /// A function declared here, which does not end the search for its name.
    function: bool,
    /// Functions of the same name in the same block, newest first.
    overloads: Vec<Binding>,
    /// The function has type parameters: no variable holds it, and each use makes its own value.
    generic: Option<FunctionId>,
}

/// What kind of body is being checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FrameKind {
    /// Top-level statements: effects are welcome.
    Script,
    /// A `fun`: pure.
    Fun,
    /// A `proc`.
    Proc,
}

/// One function body being checked; inner ones capture variables of outer ones.
struct Frame {
    kind: FrameKind,
    name: Arc<str>,
    header: Span,
    scopes: Vec<HashMap<Arc<str>, Binding>>,
    locals: Vec<LocalInfo>,
    /// Local of the next outer frame, and the local it is here.
    captures: Vec<(LocalId, LocalId)>,
    /// What `return` gives.
    result: Option<Type>,
    /// Nothing says what `return` gives: the first one does.
    free_result: bool,
    /// Loops around the present statement.
    loops: usize,
    /// Inside `{ …; e }`: the first of its own variables.
    block: Option<LocalId>,
    /// What the present expression stands in, innermost last.
    hosts: Vec<existential::Host>,
    /// Variables opened in it so far.
    opened: Vec<TypeVar>,
    /// What patterns have bound that is still to be opened, with the patterns for what is in it.
    matched: Vec<(existential::Opening, Pat)>,
    /// Procedures that change nothing but variables of this frame, or of procedures around it: it may call them,
    /// pure as it may be.
    contained: HashSet<LocalId>,
    /// Functions that its variables hold for good.
    functions: HashMap<LocalId, place::Seen>,
    /// It does something that can be seen outside the function in which it is declared.
    outside: bool,
}

impl Frame {
    fn new(kind: FrameKind, name: Arc<str>, header: Span) -> Frame {
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
        }
    }

    fn pure(&self) -> bool {
        self.kind == FrameKind::Fun
    }
}

/// Everything about the top-level item being checked: put aside while another is checked on demand.
#[derive(Default)]
struct Item {
    frames: Vec<Frame>,
    /// Inner functions, complete but for solved holes.
    unfinished: Vec<(FunctionId, Function)>,
    /// Session variables made by this item.
    new_globals: Vec<GlobalId>,
    type_scope: HashMap<Arc<str>, Type>,
    type_params: Vec<TypeVar>,
    /// Names of sizes brought into the scope of types, with what they hide.
    named: Vec<(Arc<str>, Option<Type>)>,
    /// What is bound now is bound for the rest of the session, names of sizes included.
    names_last: bool,
    /// The names of the parameters of functions declared in blocks, by where these are declared.
    local_parameters: HashMap<Span, Vec<Vec<env::Parameter>>>,
    /// Variables opened below the top level, since functions were last finished.
    opened: Vec<TypeVar>,
    /// Those that each inner function has opened itself.
    owned: HashMap<FunctionId, Vec<TypeVar>>,
    /// Equations of sizes that have been required in the blocks around.
    equations: Vec<(Type, Type)>,
    /// Those of the top level that it relies on.
    relied: Vec<(Type, Type)>,
    /// Constraints that the header gives, with those of their superclasses.
    givens: Vec<Constraint>,
    /// Type parameters that it has mentioned, by their numbers.
    mentioned: HashSet<u32>,
    /// Declared types with constraints that the item applies.
    applied: Vec<well_formed::Applied>,
    /// Constraints that the item needs and that have not been looked at.
    obligations: Vec<Obligation>,
    /// A law: its variables can be compared.
    in_law: bool,
    /// A constraint of the header could not be read: it may be the one that is missed.
    in_doubt: bool,
    /// Calls whose function is chosen when more is known.
    waiting: Vec<overload::Waiting>,
    /// How many calls have waited.
    waited: FunctionId,
    /// Those that have been chosen, by the numbers that stand for them.
    chosen: HashMap<FunctionId, Term>,
    /// Functions with type parameters that are declared in it.
    lifted: HashMap<FunctionId, local::Lifted>,
    /// What the blocks around have declared types of, with what it hides.
    hidden: Vec<local::Hidden>,
    /// What they declare is put aside, and what they hide is known.
    swapped: bool,
    /// Whether the function closed last does what can be seen outside.
    closed_outside: bool,
}

/// A declared function whose body has not been checked.
#[derive(Clone)]
struct Pending {
    name: Arc<str>,
    function: Arc<ast::Function>,
    type_params: Vec<TypeVar>,
    /// Sizes of the session that had a name where it is declared.
    sizes: Vec<(Arc<str>, Type)>,
    /// Constraints that hold in it.
    givens: Vec<Constraint>,
    /// What a class says it is.
    expected: Option<class::Expected>,
    in_law: bool,
    in_doubt: bool,
}

struct Checker<'a> {
    env: &'a mut Env,
    program: &'a mut Program,
    infer: Infer,
    item: Item,
    diagnostics: Vec<Diagnostic>,
    pending_types: HashMap<Arc<str>, ast::Stmt>,
    types_in_progress: Vec<Arc<str>>,
    /// Constraints of the types that are being declared, innermost last, and of those that have been.
    written: Vec<well_formed::Written>,
    declared: Vec<well_formed::Written>,
    /// What the declarations of this input apply.
    uses: Vec<well_formed::Uses>,
    pending_functions: HashMap<FunctionId, Pending>,
    /// Functions numbered from here on are of this input.
    first_function: FunctionId,
    implicit_vars: bool,
    /// What `?N` is in the type being read.
    opens: existential::Opens,
    /// The names of the sizes that the present annotation leaves open, with their holes.
    stated: Vec<(crate::syntax::ast::Name, Type)>,
    /// The next expression is a statement, so a procedure may be called.
    at_statement: bool,
    /// The pattern that is being read has to fit every value.
    in_total_pattern: bool,
    /// The word that begins the statement whose pattern is being bound.
    let_word: Option<Span>,
    /// What is noted for an editor, if one asks.
    notes: Option<Annotations>,
}

impl<'a> Checker<'a> {
    fn new(env: &'a mut Env, program: &'a mut Program) -> Checker<'a> {
        Checker {
            env,
            first_function: program.functions.len() as FunctionId,
            program,
            infer: Infer::default(),
            item: Item::default(),
            diagnostics: Vec::new(),
            pending_types: HashMap::default(),
            types_in_progress: Vec::new(),
            written: Vec::new(),
            declared: Vec::new(),
            uses: Vec::new(),
            pending_functions: HashMap::default(),
            implicit_vars: false,
            opens: existential::Opens::Nothing,
            stated: Vec::new(),
            at_statement: false,
            in_total_pattern: false,
            let_word: None,
            notes: None,
        }
    }

    fn report(&mut self, error: CheckError) {
        let diagnostic = error.to_diagnostic();
        if !self.diagnostics.contains(&diagnostic) {
            self.diagnostics.push(diagnostic);
        }
    }

    /// Reports, and gives the term that stands for the mistake.
    fn wrong(&mut self, error: CheckError, span: Span) -> Term {
        self.report(error);
        Term::new(TermKind::Error, Type::error(), span)
    }

    fn frame(&mut self) -> &mut Frame {
        if self.item.frames.is_empty() {
            self.item.frames.push(Frame::new(FrameKind::Script, "script".into(), Span::default()));
        }
        let last = self.item.frames.len() - 1;
        &mut self.item.frames[last]
    }

    /// A new local of the innermost frame, without a name in scope.
    fn new_local(&mut self, name: &str, ty: Type) -> LocalId {
        let locals = &mut self.frame().locals;
        locals.push(LocalInfo { name: Arc::from(name), ty, shared: false });
        locals.len() as LocalId - 1
    }

    /// Brings a local into scope under a name.
    fn bind(&mut self, name: &Arc<str>, local: LocalId, mutable: bool, span: Span) {
        let (word, overloads) = (self.let_word, Vec::new());
        let binding = Binding { local, mutable, span, word, function: false, overloads, generic: None };
        self.note_bound(local, span);
        if let Some(scope) = self.frame().scopes.last_mut() {
            scope.insert(name.clone(), binding);
        }
    }

    /// Brings a function into scope under a name, beside other functions of the name in its block.
    fn bind_function(&mut self, name: &Arc<str>, local: LocalId, span: Span) {
        self.note_bound(local, span);
        self.bind_any_function(name, local, span, None);
    }

    fn bind_any_function(
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

    fn note_bound(&mut self, local: LocalId, span: Span) {
        self.note_variable(span, |this| match this.item.frames.last() {
            Some(frame) => frame.locals[local as usize].ty.clone(),
            None => Type::error(),
        });
    }

    fn in_scope<T>(&mut self, f: impl FnOnce(&mut Self) -> T) -> T {
        self.frame().scopes.push(HashMap::default());
        let hidden = self.item.hidden.len();
        let result = self.with_sizes(f);
        self.frame().scopes.pop();
        self.show_hidden(hidden);
        result
    }

    /// The variable of this name as a local of the innermost frame, captured if it is an outer one.
    /// Also says whether it belongs to the innermost frame.
    fn lookup_local(&mut self, name: &str) -> Option<(Binding, bool)> {
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
    fn captured(&mut self, depth: usize, binding: Binding) -> (Binding, bool) {
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
                    if contained && !frame.pure() {
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

    fn local_term(&mut self, local: LocalId, span: Span) -> Term {
        let ty = self.frame().locals[local as usize].ty.clone();
        Term::new(TermKind::Local(local), ty, span)
    }

    /// Reports a type beyond reason. What is built from it grows again: one message is enough.
    fn too_large(&mut self, span: Span) {
        let error = CheckError::TypeTooLarge { span };
        if !self.diagnostics.iter().any(|d| d.code == error.code()) {
            self.report(error);
        }
    }

    /// Refuses types that have grown beyond reason, before anything walks them.
    fn bounded(&mut self, term: Term) -> Term {
        if self.infer.nodes(&term.ty) > MAX_TYPE_NODES {
            let span = term.span;
            self.too_large(span);
            return Term::new(TermKind::Error, Type::error(), span);
        }
        term
    }

    fn input(&mut self, stmts: &[ast::Stmt]) -> Script {
        self.collect_types(stmts);
        self.collect_classes(stmts);
        self.collect_type_constraints();
        self.collect_instances(stmts);
        self.check_uses();
        let waiting = dependency_order::waiting(stmts);
        let late: HashSet<usize> = waiting.values().flatten().copied().collect();
        let early = stmts.iter().enumerate().filter(|(at, _)| !late.contains(at));
        self.collect_functions(early.map(|(_, stmt)| stmt));
        let mut script = Script { locals: Vec::new(), body: Vec::new(), result: None };
        self.frame();
        for (at, stmt) in stmts.iter().enumerate() {
            let last = at + 1 == stmts.len();
            self.top_level(stmt, last, &mut script);
            self.collect_functions(waiting.get(&at).into_iter().flatten().map(|&at| &stmts[at]));
        }
        script.locals = std::mem::take(&mut self.frame().locals);
        for local in &mut script.locals {
            local.ty = self.infer.settle(&local.ty);
        }
        let mut waiting: Vec<FunctionId> = self.pending_functions.keys().copied().collect();
        waiting.sort_unstable();
        for function in waiting {
            self.ensure_checked(function);
        }
        script
    }

    /// Names known here, for suggestions.
    fn known_names(&self) -> Vec<String> {
        let locals = self.item.frames.iter().flat_map(|f| f.scopes.iter().flat_map(|s| s.keys()));
        locals.chain(self.env.values.keys()).map(|n| n.to_string()).collect()
    }

    fn global(&self, name: &str) -> Option<(GlobalId, bool, Span, Option<Span>)> {
        match self.env.values.get(name) {
            Some(Definition::Global { id, mutable, span, word, .. }) => Some((*id, *mutable, *span, *word)),
            _ => None,
        }
    }

    fn type_definition(&self, name: &str) -> Option<&TypeDefinition> {
        self.env.types.get(name)
    }
}
