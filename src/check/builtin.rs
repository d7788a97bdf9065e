//! Which operators the language has for which types, and the classes that give them to other types.
//!
//! A function of an operator's name is asked only where the operator is not built in
//! ([`super::operator`]); one that would never be asked is reported where it is declared.

use super::Checker;
use super::constraint::Answer;
use super::env::Callable;
use super::error::{CheckError, ClassError};
use crate::core::{Num, Op, Term, TermKind};
use crate::source::Span;
use crate::types::{Kind, NominalBody, Type, TypeKind};

/// Operators, the library's classes that they belong to, and what an instance of those must say.
/// `-` is there twice: with two operands, and as a prefix.
const CLASSES: &[(&str, usize, &str, &[&str])] = &[
    ("+", 2, "Add", &["+", "zero"]),
    ("-", 2, "Sub", &["-"]),
    ("-", 1, "Neg", &["-"]),
    ("*", 2, "Mul", &["*", "one"]),
    ("/", 2, "Div", &["/"]),
    ("<", 2, "Ord", &["<"]),
    ("<=", 2, "Ord", &["<"]),
    (">", 2, "Ord", &["<"]),
    (">=", 2, "Ord", &["<"]),
];

/// The class of an operator with this many operands.
fn class_of(symbol: &str, operands: usize) -> Option<(&'static str, &'static [&'static str])> {
    let found = CLASSES.iter().find(|(op, n, ..)| *op == symbol && *n == operands);
    found.map(|(_, _, class, members)| (*class, *members))
}

/// What to write so that an operator takes operands of these types, if that can be said. `literal`
/// is the type of one of the operands that is a literal.
pub(super) fn operator_advice(symbol: &str, operands: &[&Type], literal: Option<&Type>) -> Option<String> {
    let class = class_of(symbol, operands.len());
    let one = match operands {
        [a, b] if a != b => match (literal, a.kind(), b.kind()) {
            (Some(literal), TypeKind::Var(var), _) | (Some(literal), _, TypeKind::Var(var))
                if var.kind == Kind::Type =>
            {
                let (name, (class, _)) = (&var.name, class?);
                return Some(format!(
                    "nothing is known about `{name}`: ask for it in the header, `with {class}[{name}], \
                     Literal[{literal}, {name}]`"
                ));
            }
            _ => None,
        },
        _ => operands.first(),
    };
    let declared = operands.iter().any(|ty| matches!(ty.kind(), TypeKind::Nominal(..)));
    match (one.map(|ty| ty.kind()), class) {
        (Some(TypeKind::Var(var)), Some((class, _))) if var.kind == Kind::Type => Some(format!(
            "nothing is known about `{0}`: ask for it in the header, `with {class}[{0}]`",
            var.name
        )),
        (Some(TypeKind::Var(var)), None) if var.kind == Kind::Type => {
            Some(format!("nothing is known about `{}`: take the operation as a parameter", var.name))
        }
        (Some(TypeKind::Nominal(nominal, _)), Some((class, members))) => {
            let ty = one?;
            let members: Vec<String> = members.iter().map(|m| format!("fun {m} …")).collect();
            let instance = format!("`instance {class}[{ty}] {{ {} }}`", members.join("; "));
            Some(match nominal.body() {
                Some(NominalBody::Newtype(_)) if !nominal.is_compact_record() => {
                    format!("a newtype has only the operators that it is given: write {instance}")
                }
                _ => format!("write {instance}"),
            })
        }
        _ if declared => {
            let params: Vec<String> =
                operands.iter().zip(["a", "b"]).map(|(ty, name)| format!("{name} : {ty}")).collect();
            Some(format!("declare one: `fun {symbol} ({}) => …`", params.join(", ")))
        }
        _ => None,
    }
}

impl Checker<'_> {
    /// What an instance that has the operator for these operands lacks, in words.
    pub(super) fn unmet(&mut self, symbol: &str, operands: &Type) -> Option<String> {
        let callables = self.env.callables(symbol).map(<[_]>::to_vec).unwrap_or_default();
        callables.iter().filter(|callable| matches!(callable, Callable::Method(..))).find_map(|method| {
            let scheme = self.header(method);
            let mark = self.infer.mark();
            let instance = scheme.instantiate(&mut self.infer, &[]);
            let fits = self.infer.unify(operands, &instance.domain).is_ok();
            let asked = instance.constraints.first().filter(|_| fits).map(|c| self.zonked(c));
            let unmet = asked.and_then(|asked| match self.entails(&asked) {
                Answer::No(missing) if missing != asked => Some(format!(
                    "`{}` needs `{}`, and there is no such instance",
                    self.env.text(&asked),
                    self.env.text(&missing)
                )),
                _ => None,
            });
            self.infer.undo(mark);
            unmet
        })
    }

    /// Reports a function named by an operator that no use of the operator leads to.
    pub(super) fn reachable_operator(&mut self, name: &str, domain: &Type, span: Span) {
        let pair = domain.components(2).filter(|parts| parts.len() == 2);
        let never = match (name, pair) {
            ("!", _) => true,
            ("-", None) => built_in_prefix(domain),
            ("-", Some(pair)) => built_in(name, &pair[0], &pair[1]) && built_in_prefix(domain),
            (_, Some(pair)) => built_in(name, &pair[0], &pair[1]),
            // Operators have two operands, so a function of anything else is called by no operator;
            // its name can still be an overload of a method.
            (_, None) => false,
        };
        if never {
            let operands = domain.components(2).filter(|parts| parts.len() == 2);
            let operands = operands.unwrap_or_else(|| vec![domain.clone()]);
            self.report(ClassError::BuiltInOperator { span, op: name.to_string(), operands }.into());
        }
    }
}

impl Checker<'_> {
    /// The last look at an operator: an operand whose type was a hole when the operator was checked
    /// may have turned out to be of a type that has the operator by a class, or not at all.
    pub(super) fn settled_operator(&mut self, term: &mut Term) {
        let TermKind::Op(op, operands) = &mut term.kind else { return };
        let (Some(ty), Some(symbol)) = (operands.first().map(|o| o.ty.clone()), op.symbol()) else { return };
        let span = term.span;
        if ty.is_error() {
            return;
        }
        match *op {
            Op::Eq | Op::Ne => {
                if let Some(part) = self.opaque_part(&ty) {
                    self.report(CheckError::OpaqueCompare { span, ty, part });
                }
                return;
            }
            Op::Lt | Op::Le | Op::Gt | Op::Ge if ty.as_scalar().is_some() || ty.is_compact() => return,
            _ => {}
        }
        if let Some(num) = Num::of(&ty)
            && num.has(symbol)
            && (operands.len() == 2 || num != Num::String)
        {
            *op = op.at(num);
            return;
        }
        if is_array(&ty) || matches!(ty.kind(), TypeKind::Product(_)) {
            let what = format!("the type of the operands of `{symbol}`");
            let instead = format!("write the type arguments, or the type: here it is `{ty}`");
            self.report(CheckError::CannotInfer { span, what, instead });
            return;
        }
        let operands = std::mem::take(operands);
        let mut call = match self.user_operator(symbol, operands, span) {
            Ok(call) => call,
            Err(operands) => {
                let right = operands.get(1).map(|_| ty.clone());
                let types: Vec<&Type> = operands.iter().map(|_| &ty).collect();
                let help = operator_advice(symbol, &types, None).map(Into::into);
                self.report(CheckError::NoOperator { span, op: symbol, left: ty, right, help });
                return;
            }
        };
        self.discharge();
        if !self.infer.try_unify(&call.ty, &term.ty) {
            let (expected, found) = (term.ty.clone(), self.infer.settle(&call.ty));
            self.report(CheckError::Mismatch { span, expected, found, because: None, hint: None });
            return;
        }
        self.finish_term(&mut call);
        *term = call;
    }
}

/// Whether prefix minus is built in.
fn built_in_prefix(operand: &Type) -> bool {
    is_array(operand) || Num::of(operand).is_some_and(|num| num != Num::String)
}

/// Whether an operator is built in for operands of these types.
fn built_in(symbol: &str, a: &Type, b: &Type) -> bool {
    let joined = match (a.as_scalar(), b.as_scalar()) {
        (Some(left), Some(right)) if left != right && left.is_number() && right.is_number() => {
            left.join(right).map(Type::scalar)
        }
        _ => (a == b).then(|| a.clone()),
    };
    match symbol {
        "==" | "!=" => joined.is_some(),
        "<" | "<=" | ">" | ">=" => {
            // An enumeration has the order of its codes unless it is given another.
            joined.is_some_and(|ty| {
                ty.as_scalar().is_some() || ty.is_compact() && ty.as_enumeration().is_none()
            })
        }
        // Element by element, whatever the elements are.
        "+" | "-" | "*" | "/" | "%" | "**" if is_array(a) || is_array(b) => true,
        "+" | "-" | "*" | "/" | "%" | "**" => {
            joined.as_ref().and_then(Num::of).is_some_and(|num| num.has(symbol))
        }
        _ => false,
    }
}

fn is_array(ty: &Type) -> bool {
    matches!(ty.kind(), TypeKind::Array(..))
}
