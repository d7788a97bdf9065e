//! Questions about uses: what a function, operator or conversion on some types resolves to, and the
//! instances of a class.
//!
//! All of them go through [`felis_check::check::type_query::ask`]: the checker judges the use as if it
//! stood in a program. None of them changes the session.

use super::annotation_collector::AnnotationCollector;
use super::signature::type_parameter_list;
use super::{Session, dispatch, library};
use felis_base::diagnostic::Diagnostic;
use felis_base::source::Span;
use felis_calculus::core::{Script, Term, TermKind};
use felis_calculus::types::{Type, TypeKind};
use felis_check::check::type_query::{self, Question};
use felis_compiler::jit::{Jit, MAX_CONSTANT_SIZE};
use felis_syntax::syntax::{self, Parsed, ast};
use std::sync::Arc;

/// The resolution of a use of a function or operator.
#[derive(Clone, Debug)]
pub struct Resolution {
    /// The type of what it gives; `void` for a procedure.
    pub result: Type,
    /// The chain of choices, in lines.
    pub call_chain: String,
    /// The key of the kernel that it is compiled to, or why there is none, as a line; empty where
    /// no array is read or made.
    pub kernel: String,
    /// Scope and round of each candidate, a line for each, where functions of several scopes have
    /// the name.
    pub choices: String,
    /// Warnings and notes that the use would bring.
    pub remarks: Vec<Diagnostic>,
}

impl Session {
    /// Resolves a function, method or operator on values of these written types; gives as an
    /// error, why not. Type arguments may follow the name in brackets, as in `sum_over[K]`. `:`,
    /// `:>` and `:>>` ask whether a value of the first type becomes one of the second: without
    /// being asked for, by conversion, by reshaping.
    pub fn resolve_use(&mut self, name: &str, types: &[&str]) -> Result<Resolution, Vec<Diagnostic>> {
        // The name, too, may be the library's.
        let source = self.sources.add("question", name);
        self.load_mentioned(&source)?;
        let (name, type_args) = split_type_args(name);
        self.load_classes_of(name)?;
        let named: Vec<(&str, &str)> = type_args.iter().chain(types).map(|ty| ("type", *ty)).collect();
        let (mut type_args_and_types, _) = self.read_types(&named)?;
        let types = type_args_and_types.split_off(type_args.len());
        let question = match type_args_and_types {
            none if none.is_empty() => Question::named(name, types.len()),
            type_args => Question::Call(Arc::from(name), type_args),
        };
        let span = Span::new(source.id, 0, source.text.len());
        self.with_rollback(span, |session| {
            let mut choices = Vec::new();
            let (script, diagnostics) = type_query::ask(
                &mut session.env,
                &mut session.program,
                &question,
                &types,
                span,
                &mut choices,
            );
            let Some(script) = script else { return Err(diagnostics) };
            Ok(session.resolution(&script, diagnostics, &choices))
        })
    }

    /// Resolves an expression: its type, and the chain of choices that carries it out.
    pub fn explain_dispatch(&mut self, text: &str) -> Result<Resolution, Vec<Diagnostic>> {
        let source = self.sources.add("expression", text);
        let (expr, errors) = syntax::parse_expr(&source);
        let Some(expr) = expr else { return Err(errors) };
        self.load_mentioned(&source)?;
        self.clear_interrupt();
        let span = Span::new(source.id, 0, source.text.len());
        let stmt = ast::Stmt { kind: ast::StmtKind::Expr(expr), span };
        self.with_rollback(span, |session| {
            let mut diagnostics = Vec::new();
            session.collector = Some(AnnotationCollector::for_choices(source.id.0));
            let script = session.check_input(&Parsed::of(vec![stmt]), &mut diagnostics);
            let notes = session.collector.take().expect("the collector was set above").into_annotations();
            let choices = notes.choices.unwrap_or_default();
            match script {
                Ok(script) => Ok(session.resolution(&script, diagnostics, &choices)),
                Err(_) => Err(diagnostics),
            }
        })
    }

    /// Returns the functions of a name with the scope of each, nearest first; `None` if it has
    /// none.
    pub fn scoped_overload_signatures(&mut self, text: &str) -> Option<String> {
        let name = text.trim().trim_end_matches(';').trim_end();
        let forms = self.overloads(name);
        if forms.is_empty() {
            return None;
        }
        let candidates = self.env.candidates(name);
        let scopes = candidates.with_scopes().map(|(_, scope)| scope.words());
        Some(
            forms
                .iter()
                .zip(scopes)
                .map(|(form, scope)| format!("{}  # in {scope}\n", form.signature))
                .collect(),
        )
    }

    /// Returns the resolution of a checked script.
    fn resolution(&self, script: &Script, remarks: Vec<Diagnostic>, choices: &[String]) -> Resolution {
        let choices = choices.iter().map(|line| format!("{line}\n")).collect();
        let result = script.result.as_ref().map_or_else(Type::void, |term| term.ty.clone());
        Resolution {
            result,
            call_chain: dispatch::dispatch_chain(&self.env, &self.program, script),
            kernel: self.kernel_line(script).unwrap_or_default(),
            choices,
            remarks,
        }
    }

    /// The line that says what kernel a script's result is compiled to; `None` where no array of
    /// more than a few elements is read or made, a size is not known yet, or nothing is compiled.
    fn kernel_line(&self, script: &Script) -> Option<String> {
        let term = script.result.as_ref().filter(|term| computes_arrays(term))?;
        self.jit.as_ref()?;
        let (program, interrupt) = (&self.program, &*self.interrupt);
        let key = self.machine.with_unit(program, &script.locals, term, interrupt, Jit::kernel_key);
        Some(match key? {
            Ok(key) => {
                let widths = |all: &[u8]| match all {
                    [] => "nothing".to_string(),
                    all => {
                        let all: Vec<String> = all.iter().map(u8::to_string).collect();
                        format!("slots of {} bytes", all.join(", "))
                    }
                };
                let parameters = match key.parameters {
                    0 => "no size is a parameter".to_string(),
                    1 => "1 size is a parameter".to_string(),
                    n => format!("{n} sizes are parameters"),
                };
                let (read, written) = (widths(&key.read), widths(&key.written));
                format!("kernel {:016x}  # reads {read}, writes {written}; {parameters}\n", key.hash)
            }
            Err(reason) => format!("no kernel  # {reason}\n"),
        })
    }

    /// The instances of a class, as they are declared, and its laws and methods first.
    pub fn instances_of(&mut self, class: &str) -> Result<Vec<String>, Vec<Diagnostic>> {
        let source = self.sources.add("class", class);
        self.load_mentioned(&source)?;
        // An instance of the library is read with its class and its type: here with all types.
        let of_class = library::index()
            .chunks
            .iter()
            .filter(|chunk| chunk.head.first().is_some_and(|name| **name == *class.trim()));
        let heads: Vec<&str> = of_class.flat_map(|chunk| &chunk.head).map(|name| &**name).collect();
        self.load_and_adopt(&heads)?;
        let Some(class) = self.env.class(class.trim()).cloned() else {
            let names: Vec<&str> = self.env.class_names.keys().map(|name| &**name).collect();
            let similar = felis_base::suggest::similar(class.trim(), names.into_iter());
            let span = Span::new(source.id, 0, source.text.len());
            let error = felis_check::check::error::ClassError::UnknownClass {
                span,
                name: class.trim().to_string(),
                similar,
            };
            return Err(vec![error.to_diagnostic()]);
        };
        let mut lines = Vec::new();
        for membership in self.env.instances.get(&class.id).map_or(&[][..], Vec::as_slice) {
            let head = felis_check::check::env::Constraint { class: class.id, args: membership.args.clone() };
            let generics = type_parameter_list(&self.env, &membership.params, &membership.requires);
            let refused = if membership.refusal.is_some() { " error" } else { "" };
            lines.push(format!("instance{generics} {}{refused}", self.env.text(&head)));
        }
        lines.sort();
        Ok(lines)
    }

    /// Reads the classes of the library that give a meaning to an operator or conversion, so that
    /// the answer does not depend on what has been read before.
    fn load_classes_of(&mut self, name: &str) -> Result<(), Vec<Diagnostic>> {
        match name {
            ":" | ":>" => self.load_and_adopt(&["Convert", "Widen"]),
            _ => self.load_and_adopt(&[name]),
        }
    }
}

/// Returns true if values of a type are arrays of more than a few elements, or have some as parts.
fn has_array(ty: &Type) -> bool {
    match ty.kind() {
        TypeKind::Array(element, index) => {
            index.size().map_or(true, |size| size > MAX_CONSTANT_SIZE.into()) || has_array(element)
        }
        TypeKind::Product(types) => types.iter().any(has_array),
        TypeKind::Record(fields) => fields.iter().any(|(_, ty)| has_array(ty)),
        _ => false,
    }
}

/// Returns true if a term computes with arrays: a call or a comprehension gives one, or takes one.
fn computes_arrays(term: &Term) -> bool {
    let mut found = matches!(term.kind, TermKind::Call(..) | TermKind::Build(..)) && has_array(&term.ty);
    term.for_each_child(&mut |child| {
        found |= matches!(term.kind, TermKind::Call(..) | TermKind::Prim(..)) && has_array(&child.ty)
            || computes_arrays(child);
    });
    found
}

/// Returns a name and the texts of its type arguments in brackets.
fn split_type_args(text: &str) -> (&str, Vec<&str>) {
    let parts = text.trim_end().strip_suffix(']').and_then(|text| text.split_once('['));
    let Some((name, inside)) = parts.filter(|(name, _)| !name.trim().is_empty()) else {
        return (text, Vec::new());
    };
    let (mut args, mut depth, mut start) = (Vec::new(), 0i32, 0);
    for (at, c) in inside.char_indices() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            ',' if depth == 0 => {
                args.push(&inside[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    args.push(&inside[start..]);
    (name.trim_end(), args)
}
