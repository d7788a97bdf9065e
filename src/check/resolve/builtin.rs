//! Which operators the language has for which types, and the classes that give them to other types.
//!
//! A function of an operator's name is asked only where the operator is not built in
//! ([`crate::check::elaborate::operator`]); one that would never be asked is reported where it is
//! declared.

use crate::check::context::Checker;
use crate::check::env::Callable;
use crate::check::error::ClassError;
use crate::check::solve::constraint::Answer;
use crate::core::Num;
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
pub(in crate::check) fn operator_advice(
    symbol: &str,
    operands: &[&Type],
    literal: Option<&Type>,
) -> Option<String> {
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
    pub(in crate::check) fn unmet(&mut self, symbol: &str, operands: &Type) -> Option<String> {
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
    pub(in crate::check) fn reachable_operator(&mut self, name: &str, domain: &Type, span: Span) {
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
            self.report(ClassError::BuiltInOperator { span, op: name.to_string(), operands });
        }
    }
}

impl Checker<'_> {}

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

pub(in crate::check) fn is_array(ty: &Type) -> bool {
    matches!(ty.kind(), TypeKind::Array(..))
}
