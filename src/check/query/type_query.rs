//! Questions about types: may this be called with these, does this operator take them, what does
//! this convert to?
//!
//! One mechanism answers them all: the use is checked as if it stood in a program, with variables
//! of the types asked about as operands. So the answer is the checker's own, in its own words, and
//! classes and instances declared anywhere count.

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

/// A use that is asked about.
#[derive(Clone, Debug)]
pub enum Question {
    /// A function or method with these arguments, as one tuple.
    Call(Arc<str>),
    /// An infix operator.
    Infix(BinaryOp),
    /// A prefix operator.
    Prefix(UnaryOp),
    /// A value where one of the last type is wanted, without being asked for.
    Becomes,
    /// `:>` to the last type.
    Convert,
    /// `:>>` to the last type.
    Reshape,
}

impl Question {
    /// The question that a name or operator stands for, with this many types.
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
            _ => Question::Call(Arc::from(name)),
        }
    }
}

/// Checks a use of values of these types; gives it as a script whose result it is. `span` is where
/// messages point; choices among functions of several scopes are added to `choices`, in lines.
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
    fn hypothesis(&mut self, question: &Question, types: &[Type], span: Span) -> Script {
        let mut operands: Vec<Term> = Vec::new();
        for (i, ty) in types.iter().enumerate() {
            // Named as people name operands.
            let name = ["x", "y", "z"].get(i).map_or_else(|| format!("x{i}"), ToString::to_string);
            let local = self.new_local(&name, ty.clone());
            operands.push(self.local_term(local, span));
        }
        let mut term = self.used(question, operands, span);
        self.choose_waiting(0);
        self.discharge();
        self.finish_term(&mut term);
        self.finish_inner(&[], &[&term]);
        let locals = std::mem::take(&mut self.frame().locals);
        Script { locals, body: Vec::new(), result: Some(term) }
    }

    fn used(&mut self, question: &Question, mut operands: Vec<Term>, span: Span) -> Term {
        match question {
            Question::Call(name) => {
                let name = Name { text: name.clone(), span };
                if !self.names_callable(&name) {
                    return self.unknown(&name);
                }
                let argument = match operands.len() {
                    0 => Arg::Done(Term::unit(span)),
                    1 => Arg::Done(operands.remove(0)),
                    _ => Arg::Tuple(operands.into_iter().map(Arg::Done).collect(), span),
                };
                self.call_name(&name, &[], vec![argument], Expectation::STATEMENT, span)
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

    fn too_few(&mut self, expected: usize, found: usize, span: Span) -> Term {
        self.wrong(TypeError::TypeArity { span, name: "this".into(), expected, found }, span)
    }
}

/// What can be called by a name, with its type, as people read it.
pub fn described(env: &mut Env, program: &mut Program, name: &str) -> Vec<String> {
    let mut checker = new_checker(env, program);
    let candidates: Vec<Candidate> = checker.find(name).candidates().map(|(_, c)| c.clone()).collect();
    candidates.iter().map(|candidate| checker.typed(name, candidate)).collect()
}
