//! The chain of choices that carries out an expression, with the type at each step.
//!
//! Takes the core of an expression; gives lines: a call is indented below its caller, calls of one
//! body are in the order of evaluation. Beside each line stands what selected the function: an
//! instance, the overloads of a name, a conversion, or the language itself.
//!
//! **Erased parts.** A type argument that decides no choice below is written `_`: a function that
//! goes by visibility alone does not distinguish number formats. A parameter decides a choice if
//! the body names it in the arguments of a method, or passes it on to a parameter that does
//! ([`DispatchPrinter::deciding_params`]; a recursive call adds nothing). So types become more
//! concrete from the bottom to the top, where all of the result's type is known.
//!
//! Chooses nothing itself: it reads what the checker and [`Program::implementation`] decide.

use felis_base::hash::HashMap;
use felis_calculus::core::{ClassId, Function, FunctionId, Op, Program, Script, Stmt, Term, TermKind};
use felis_calculus::types::{Type, TypeVar};
use felis_check::check::Env;
use felis_check::check::env::Callable;
use std::sync::Arc;

/// Lines written at most.
const MAX_LINES: usize = 200;
/// Calls within one another followed at most.
const MAX_CALL_DEPTH: usize = 40;

/// The chain of choices of an expression, as text.
pub fn dispatch_chain(env: &Env, program: &Program, script: &Script) -> String {
    let mut walk = DispatchPrinter {
        env,
        program,
        lines: Vec::new(),
        open: Vec::new(),
        known: HashMap::default(),
        cut: false,
    };
    if let Some(term) = &script.result {
        walk.print_term(term, &HashMap::default());
        if walk.lines.is_empty() {
            walk.push_line(format!("{}", term.ty), "nothing is chosen: it is a value");
        }
    }
    for stmt in &script.body {
        let mut stmt = stmt.clone();
        walk.print_stmt(&mut stmt);
    }
    walk.finish()
}

/// The printer of a chain of choices.
struct DispatchPrinter<'a> {
    env: &'a Env,
    program: &'a Program,
    /// Indentation, text, comment.
    lines: Vec<(usize, String, String)>,
    /// The calls we are in.
    open: Vec<(FunctionId, Vec<Type>)>,
    /// The type parameters of functions that decide a choice; `None` while they are computed.
    known: HashMap<FunctionId, Option<Vec<bool>>>,
    cut: bool,
}

/// Type arguments by the ids of their parameters.
type Bindings = HashMap<u32, Type>;

impl DispatchPrinter<'_> {
    /// Adds a line at the present indentation; the bound on lines cuts the text.
    fn push_line(&mut self, text: String, comment: impl Into<String>) {
        if self.lines.len() < MAX_LINES {
            self.lines.push((self.open.len(), text, comment.into()));
        } else {
            self.cut = true;
        }
    }

    /// Returns the lines, with comments in one column.
    fn finish(self) -> String {
        let text = |(depth, text, _): &(usize, String, String)| format!("{}{text}", "  ".repeat(*depth));
        let width = self.lines.iter().map(|line| text(line).chars().count()).max().unwrap_or(0).min(90);
        let mut out = String::new();
        for line in &self.lines {
            let left = text(line);
            let line = if line.2.is_empty() { left } else { format!("{left:width$}  # {}", line.2) };
            out.push_str(line.trim_end());
            out.push('\n');
        }
        if self.cut {
            out.push_str("…\n");
        }
        out
    }

    /// Prints the choices of a statement.
    fn print_stmt(&mut self, stmt: &mut Stmt) {
        stmt.for_each_term_mut(&mut |term| self.print_term(term, &HashMap::default()));
    }

    /// Prints the choices of a term, its parts first.
    fn print_term(&mut self, term: &Term, at: &Bindings) {
        if self.cut {
            return;
        }
        match &term.kind {
            TermKind::Call(head, args) => {
                match &head.kind {
                    TermKind::Closure { .. } | TermKind::Method { .. } => {}
                    _ => self.print_term(head, at),
                }
                args.iter().for_each(|arg| self.print_term(arg, at));
                self.print_call(&head.kind, at);
            }
            TermKind::Closure { .. } | TermKind::Method { .. } => self.print_call(&term.kind, at),
            kind => {
                let mut copy = term.clone();
                copy.for_each_child_mut(&mut |child| self.print_term(child, at));
                self.print_built_in(kind, &term.ty, at);
            }
        }
    }

    /// Prints a built-in operation. Those inside functions are left out.
    fn print_built_in(&mut self, kind: &TermKind, ty: &Type, at: &Bindings) {
        let to = ty.substitute(at);
        match kind {
            TermKind::Op(op, operands) if self.open.is_empty() => {
                let types: Vec<String> = operands.iter().map(|o| o.ty.substitute(at).to_string()).collect();
                self.push_line(format!("{}({}) : {to}", operator_symbol(*op), types.join(", ")), "built in");
            }
            TermKind::Prim(prim, _, args) if self.open.is_empty() => {
                let types: Vec<String> = args.iter().map(|a| a.ty.substitute(at).to_string()).collect();
                self.push_line(format!("{}({}) : {to}", prim.name(), types.join(", ")), "built in");
            }
            TermKind::Convert(inner) => {
                let from = inner.ty.substitute(at);
                self.push_line(format!(":> {to}"), format!("conversion from {from}"));
            }
            TermKind::Reshape(inner) if self.open.is_empty() => {
                let from = inner.ty.substitute(at);
                self.push_line(format!(":>> {to}"), format!("the storage of {from} as it is"));
            }
            _ => {}
        }
    }

    /// Prints the function that a call resolves to, and the choices in its body.
    fn print_call(&mut self, head: &TermKind, at: &Bindings) {
        let concrete = |args: &[Type]| args.iter().map(|t| t.substitute(at)).collect::<Vec<Type>>();
        let (function, type_args, comment) = match head {
            TermKind::Closure { function, type_args, .. } => {
                (*function, concrete(type_args), self.overload_choice(*function))
            }
            TermKind::Method { class, method, type_args } => {
                let types = concrete(type_args);
                match self.program.implementation(*class, *method, &types) {
                    Some((function, args)) => (function, args, self.instance_choice(*class, &types)),
                    None => {
                        let name = &self.program.classes[class.index()].methods[*method].name;
                        self.push_line(format!("{name}(…)"), "chosen where the types are known");
                        return;
                    }
                }
            }
            _ => return,
        };
        let Some(Some(definition)) = self.program.functions.get(function.index()).cloned() else { return };
        let plain = matches!(&definition.body.kind, TermKind::Op(_, operands)
            if operands.iter().all(|o| matches!(o.kind, TermKind::Local(_))));
        let comment = match (comment.is_empty(), plain) {
            (_, false) => comment,
            (true, true) => "built in".to_string(),
            (false, true) => format!("{comment}, built in"),
        };
        let text = self.signature(function, &definition, &type_args);
        self.push_line(text, comment);
        let here = (function, type_args);
        if self.open.len() >= MAX_CALL_DEPTH || self.open.contains(&here) {
            return;
        }
        let bindings = definition.type_params.iter().map(|p| p.id).zip(here.1.iter().cloned()).collect();
        self.open.push(here);
        self.print_term(&definition.body, &bindings);
        self.open.pop();
    }

    /// Returns `name(x: A, y: B) : R`, with `_` for type arguments that decide nothing.
    fn signature(&mut self, id: FunctionId, function: &Arc<Function>, type_args: &[Type]) -> String {
        let matters = self.deciding_params(id);
        let bindings: Bindings = function
            .type_params
            .iter()
            .zip(type_args)
            .zip(matters)
            .map(|((param, arg), matters)| (param.id, if matters { arg.clone() } else { erased_type(param) }))
            .collect();
        let params: Vec<String> = function
            .params
            .iter()
            .map(|&local| {
                let info = &function.locals[local.index()];
                format!("{}: {}", info.name, info.ty.substitute(&bindings))
            })
            .filter(|text| text != "_: 1")
            .collect();
        let result = function.body.ty.substitute(&bindings);
        format!("{}({}) : {result}", function.name, params.join(", "))
    }

    /// Returns the instance of a method, and the types that select it.
    fn instance_choice(&self, class: ClassId, types: &[Type]) -> String {
        let definition = &self.program.classes[class.index()];
        let args = &types[..definition.params.len().min(types.len())];
        let choice: Vec<String> =
            definition.params.iter().zip(args).map(|(p, t)| format!("{} = {t}", p.name)).collect();
        let found = match self.program.instance(class, args) {
            Some((instance, _)) => {
                let head: Vec<String> = instance.args.iter().map(Type::to_string).collect();
                format!("{}[{}]", definition.name, head.join(", "))
            }
            None => format!("{} by structure", definition.name),
        };
        format!("{} select {found}", choice.join(", "))
    }

    /// Returns the number of overloads that a function was chosen from; empty if it is the only
    /// one.
    fn overload_choice(&self, function: FunctionId) -> String {
        let Some(signature) = self.env.signatures.get(&function) else { return String::new() };
        let others = self.env.callables(&signature.name).unwrap_or(&[]);
        if others.len() > 1 && others.contains(&Callable::Function(function)) {
            return format!("the types select 1 of {} named `{}`", others.len(), signature.name);
        }
        String::new()
    }

    /// Returns for each type parameter if a choice in the function depends on it.
    fn deciding_params(&mut self, id: FunctionId) -> Vec<bool> {
        match self.known.get(&id) {
            Some(Some(known)) => return known.clone(),
            Some(None) => return Vec::new(),
            None => {}
        }
        let Some(Some(function)) = self.program.functions.get(id.index()).cloned() else {
            return Vec::new();
        };
        self.known.insert(id, None);
        let mut deciding: Vec<Type> = Vec::new();
        self.collect_deciding_types(&mut function.body.clone(), &mut deciding);
        let mentioned = |param: &TypeVar| deciding.iter().any(|ty| ty.mentions(param));
        let matters: Vec<bool> = function.type_params.iter().map(mentioned).collect();
        self.known.insert(id, Some(matters.clone()));
        matters
    }

    /// Types that choices inside a term depend on.
    fn collect_deciding_types(&mut self, term: &mut Term, out: &mut Vec<Type>) {
        match &term.kind {
            TermKind::Method { class, type_args, .. } => {
                let count = self.program.classes[class.index()].params.len();
                out.extend(type_args.iter().take(count).cloned());
            }
            TermKind::Closure { function, type_args, .. } => {
                let matters = self.deciding_params(*function);
                let deciding = type_args.iter().zip(matters).filter(|(_, matters)| *matters);
                out.extend(deciding.map(|(ty, _)| ty.clone()));
            }
            _ => {}
        }
        term.for_each_child_mut(&mut |child| self.collect_deciding_types(child, out));
    }
}

/// Returns the type `_`, for a type argument that decides nothing.
fn erased_type(param: &TypeVar) -> Type {
    Type::var(TypeVar { id: param.id, name: "_".into(), kind: param.kind })
}

/// Returns the symbol of an operation.
fn operator_symbol(op: Op) -> &'static str {
    match op {
        Op::Neg(_) | Op::Sub(_) => "-",
        Op::Add(_) => "+",
        Op::Mul(_) => "*",
        Op::Div(_) => "/",
        Op::Rem(_) => "%",
        Op::Pow(_) => "**",
        Op::Not => "not ",
        Op::And => "and",
        Op::Or => "or",
        Op::Eq => "==",
        Op::Ne => "!=",
        Op::Lt => "<",
        Op::Le => "<=",
        Op::Gt => ">",
        Op::Ge => ">=",
    }
}
