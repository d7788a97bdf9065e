//! Queries about uses of types: calls with given argument types, operators, conversions.
//!
//! One mechanism answers all of them: the use is checked as if it stood in a program, with
//! variables of the given types as operands. So the answer and its messages are the checker's own,
//! and all declared classes and instances count.

use crate::check::elaborate::apply::Arg;
use crate::check::env::Env;
use crate::check::error::TypeError;
use crate::check::expectation::Expectation;
use crate::check::items::decl::new_checker;

use crate::check::annotations::Annotations;
use crate::check::context::{Checker, Frame, FrameKind};
use crate::check::resolve::candidates::Candidate;
use crate::core::{Program, Script, Term};
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use crate::syntax::ast::{BinaryOp, Name, UnaryOp};
use crate::types::Type;
use std::sync::Arc;

/// A use to be checked.
#[derive(Clone, Debug)]
pub enum Question {
    /// A call of a function or method at type arguments, perhaps none, with the operands as one
    /// tuple.
    Call(Arc<str>, Vec<Type>),
    /// An infix operator.
    Infix(BinaryOp),
    /// A prefix operator.
    Prefix(UnaryOp),
    /// The implicit conversion to the last type.
    Becomes,
    /// A conversion by `:>` to the last type.
    Convert,
    /// A conversion by `:>>` to the last type.
    Reshape,
}

impl Question {
    /// Returns the question that a name or an operator means with this number of types.
    pub fn named(name: &str, types: usize) -> Question {
        use BinaryOp as B;
        const INFIX: [BinaryOp; 15] = [
            B::Add,
            B::Sub,
            B::Mul,
            B::Div,
            B::Rem,
            B::Pow,
            B::Eq,
            B::Ne,
            B::Lt,
            B::Le,
            B::Gt,
            B::Ge,
            B::In,
            B::And,
            B::Or,
        ];
        match name {
            ":" => return Question::Becomes,
            ":>" => return Question::Convert,
            ":>>" => return Question::Reshape,
            "-" if types == 1 => return Question::Prefix(UnaryOp::Neg),
            "!" | "not" => return Question::Prefix(UnaryOp::Not),
            _ => {}
        }
        match INFIX.into_iter().find(|op| op.symbol() == name) {
            Some(op) if types == 2 => Question::Infix(op),
            _ => Question::Call(Arc::from(name), Vec::new()),
        }
    }
}

/// Checks a use of values of these types; returns a script with the use as its result, unless there
/// is an error, and the diagnostics. Messages point at `span`. Choices among functions of several
/// scopes are appended to `choices`, one line each.
pub fn ask(
    env: &mut Env,
    program: &mut Program,
    question: &Question,
    types: &[Type],
    span: Span,
    choices: &mut Vec<String>,
) -> (Option<Script>, Vec<Diagnostic>) {
    let mut checker = new_checker(env, program);
    checker.notes = Some(Annotations::of_choices(span.source.0));
    checker.item.frames.push(Frame::new(FrameKind::Script, "script".into(), span));
    let script = checker.hypothesis(question, types, span);
    choices.extend(checker.notes.take().and_then(|notes| notes.choices).into_iter().flatten());
    let errors = checker.reports.any_error();
    (if errors { None } else { Some(script) }, checker.reports.into_diagnostics())
}

impl Checker<'_> {
    /// Builds the script that makes one local for each type and uses them.
    fn hypothesis(&mut self, question: &Question, types: &[Type], span: Span) -> Script {
        let mut operands: Vec<Term> = Vec::new();
        for (i, ty) in types.iter().enumerate() {
            // The usual names of operands.
            let name = ["x", "y", "z"].get(i).map_or_else(|| format!("x{i}"), ToString::to_string);
            let local = self.new_local(&name, ty.clone());
            operands.push(self.local_term(local, span));
        }
        let mut term = self.used(question, operands, span);
        self.choose_deferred(0);
        self.discharge();
        self.finish_term(&mut term);
        self.finish_inner_functions(&[], &[&term]);
        let locals = std::mem::take(&mut self.frame().locals);
        Script { locals, body: Vec::new(), result: Some(term) }
    }

    /// Checks the use of the operands.
    fn used(&mut self, question: &Question, mut operands: Vec<Term>, span: Span) -> Term {
        match question {
            Question::Call(name, type_args) => {
                let name = Name { text: name.clone(), span };
                if !self.is_function_name(&name) {
                    return self.report_unknown_name(&name);
                }
                let argument = match operands.len() {
                    0 => Arg::Done(Term::unit(span)),
                    1 => Arg::Done(operands.remove(0)),
                    _ => Arg::Tuple(operands.into_iter().map(Arg::Done).collect(), span),
                };
                self.call_name(&name, type_args, vec![argument], Expectation::STATEMENT, span)
            }
            Question::Infix(op) => match <[Term; 2]>::try_from(operands) {
                Ok([a, b]) => self.infix(*op, a, b, span),
                Err(operands) => self.too_few(2, operands.len(), span),
            },
            Question::Prefix(op) => match <[Term; 1]>::try_from(operands) {
                Ok([operand]) => self.prefix(*op, operand, span),
                Err(operands) => self.too_few(1, operands.len(), span),
            },
            Question::Becomes | Question::Convert | Question::Reshape => {
                match <[Term; 2]>::try_from(operands) {
                    Ok([value, place]) => match question {
                        Question::Becomes => self.coerce(value, &place.ty, None),
                        Question::Convert => self.convert_term(value, &place.ty, span),
                        _ => self.reshape_term(value, place.ty, span),
                    },
                    Err(operands) => self.too_few(2, operands.len(), span),
                }
            }
        }
    }

    /// Reports a wrong number of types.
    fn too_few(&mut self, expected: usize, found: usize, span: Span) -> Term {
        self.error_term(TypeError::TypeArity { span, name: "this".into(), expected, found }, span)
    }
}

/// Returns the callables of a name with their types, as text.
pub fn describe_callables(env: &mut Env, program: &mut Program, name: &str) -> Vec<String> {
    let mut checker = new_checker(env, program);
    let candidates: Vec<Candidate> = checker.find(name).candidates().map(|(_, c)| c.clone()).collect();
    candidates.iter().map(|candidate| checker.name_and_type(name, candidate)).collect()
}
