//! Operators that are built in for given types, and the library classes for other types.
//!
//! Takes the symbol of an operator and the types of its operands; returns true if the language
//! defines the operator there, or advice on declaring it. It elaborates nothing.
//!
//! A function named by an operator is called only where the operator is not built in
//! ([`crate::check::elaborate::operator`]). A function that no use of the operator can call is
//! reported at its declaration.

use crate::check::context::Checker;
use crate::check::env::Callable;
use crate::check::error::ClassError;
use crate::check::solve::constraint::Answer;
use crate::core::Num;
use crate::source::Span;
use crate::types::{Kind, NominalBody, Scalar, Type, TypeKind};

/// Each operator with its number of operands, the library class that it belongs to, and the members
/// that an instance of the class must define. `-` occurs twice: with two operands, and as a prefix.
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

/// Operators that types of the library do not have, each with the function for it: the operator,
/// the names of the types of both operands, and the advice.
const FUNCTIONS: &[(&str, &str, &str, &str)] = &[
    ("-", "date", "date", "`days_between (a, b)` is the number of days from `a` to `b`"),
    ("+", "date", "int", "`add_days n d` is the date `n` days after `d`"),
    ("-", "date", "int", "`add_days (-n) d` is the date `n` days before `d`"),
    ("+", "date", "duration", "`add_days n d` is the date `n` days after `d`"),
    ("-", "time", "time", "`time_between (a, b)` is the duration from `a` to `b`"),
    ("+", "time", "duration", "`later d t` is the time that is `d` after `t`"),
    ("-", "time", "duration", "`later (-d) t` is the time that is `d` before `t`"),
    ("*", "duration", "int", "the number is scaled first, as in `seconds (90 * n)`"),
    ("*", "int", "duration", "the number is scaled first, as in `seconds (90 * n)`"),
];

/// Returns the advice for an operator on types of the library.
fn function_advice(symbol: &str, operands: &[&Type]) -> Option<&'static str> {
    let [a, b] = operands else { return None };
    let name = |ty: &Type| match ty.kind() {
        TypeKind::Nominal(nominal, _) => Some(nominal.name.to_string()),
        _ => ty.as_scalar().map(|scalar| scalar.name().to_string()),
    };
    let (a, b) = (name(a)?, name(b)?);
    let found = FUNCTIONS.iter().find(|(op, left, right, _)| *op == symbol && *left == a && *right == b);
    found.map(|(.., advice)| *advice)
}

/// Returns the class of an operator with this number of operands, and the members of its instances.
fn class_of(symbol: &str, operands: usize) -> Option<(&'static str, &'static [&'static str])> {
    let found = CLASSES.iter().find(|(op, n, ..)| *op == symbol && *n == operands);
    found.map(|(_, _, class, members)| (*class, *members))
}

/// Returns advice that makes an operator accept operands of these types; `None` if there is none.
/// `literal` is the type of an operand that is a literal, if any.
pub(in crate::check) fn operator_advice(
    symbol: &str,
    operands: &[&Type],
    literal: Option<&Type>,
) -> Option<String> {
    if let Some(advice) = function_advice(symbol, operands) {
        return Some(advice.to_string());
    }
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
        _ if let [index, step] = operands
            && matches!(symbol, "+" | "-")
            && index.is_compact()
            && step.as_scalar().is_some_and(Scalar::is_integer) =>
        {
            Some("an index is not a number: `i.around k` steps by an `int` and wraps, `moved k x` reads a field with a halo".into())
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
    /// Returns, as text, the requirement that an instance with the operator for these operands
    /// lacks; `None` if there is no such instance.
    pub(in crate::check) fn unmet_requirement(&mut self, symbol: &str, operands: &Type) -> Option<String> {
        let callables = self.env.callables(symbol).map(<[_]>::to_vec).unwrap_or_default();
        callables.iter().filter(|callable| matches!(callable, Callable::Method(..))).find_map(|method| {
            let scheme = self.header(method);
            let mark = self.infer.mark();
            let instance = scheme.instantiate(&mut self.infer, &[]);
            let fits = self.infer.unify(operands, &instance.domain).is_ok();
            let asked = instance.constraints.first().filter(|_| fits).map(|c| self.zonk_constraint(c));
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

    /// Reports a function named by an operator if no use of the operator can call it.
    pub(in crate::check) fn check_operator_reachable(&mut self, name: &str, domain: &Type, span: Span) {
        let pair = domain.components(2).filter(|parts| parts.len() == 2);
        let never = match (name, pair) {
            ("!", _) => true,
            ("-", None) => built_in_prefix(domain),
            ("-", Some(pair)) => built_in(name, &pair[0], &pair[1]) && built_in_prefix(domain),
            (_, Some(pair)) => built_in(name, &pair[0], &pair[1]),
            // Operators have two operands, so no operator calls a function with another number of
            // them. Its name can still be an overload of a method.
            (_, None) => false,
        };
        if never {
            let operands = domain.components(2).filter(|parts| parts.len() == 2);
            let operands = operands.unwrap_or_else(|| vec![domain.clone()]);
            self.report(ClassError::BuiltInOperator { span, op: name.to_string(), operands });
        }
    }
}

/// Returns true if prefix minus is built in for the operand.
fn built_in_prefix(operand: &Type) -> bool {
    is_array(operand) || Num::of(operand).is_some_and(|num| num != Num::String)
}

/// Returns true if an operator is built in for operands of these types.
fn built_in(symbol: &str, a: &Type, b: &Type) -> bool {
    if is_spread_nominal(a) || is_spread_nominal(b) {
        return false;
    }
    let joined = match (a.as_scalar(), b.as_scalar()) {
        (Some(left), Some(right)) if left != right && left.is_number() && right.is_number() => {
            left.join(right).map(Type::scalar)
        }
        _ => (a == b).then(|| a.clone()),
    };
    match symbol {
        "==" | "!=" => joined.is_some(),
        "<" | "<=" | ">" | ">=" => {
            // An enumeration is ordered by its codes unless an instance orders it otherwise.
            joined.is_some_and(|ty| {
                ty.as_scalar().is_some() || ty.is_compact() && ty.as_enumeration().is_none()
            })
        }
        // Arithmetic of arrays is elementwise, whatever the elements are.
        "+" | "-" | "*" | "/" | "%" | "**" if is_array(a) || is_array(b) => true,
        "+" | "-" | "*" | "/" | "%" | "**" => {
            joined.as_ref().and_then(Num::of).is_some_and(|num| num.has(symbol))
        }
        _ => false,
    }
}

/// Returns true for an abstract type whose values are spread over places: no element of an array,
/// and without an equality of its own.
pub(in crate::check) fn is_spread_nominal(ty: &Type) -> bool {
    ty.is_spread() && matches!(ty.kind(), TypeKind::Nominal(..))
}

/// Returns true if the type is an array type.
pub(in crate::check) fn is_array(ty: &Type) -> bool {
    matches!(ty.kind(), TypeKind::Array(..))
}
