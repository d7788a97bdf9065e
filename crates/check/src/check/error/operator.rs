//! Errors about operators.

use super::{border_removal, index_size};
use crate::diagnostic::{Diagnostic, Help, errors};
use crate::source::Span;
use crate::types::{Type, TypeKind};

errors! {
    /// Errors about operators.
    pub enum OperatorError {
        /// An operator with operands that it does not take.
        E0414 NoOperator {
            span: Span,
            op: &'static str,
            left: Type,
            right: Option<Type>,
            help: Option<Help>,
        },
        /// An operator with two arrays of different index types.
        E0415 IndexTypesDiffer {
            span: Span,
            op: &'static str,
            left: Type,
            right: Type,
            /// The name of the expression that makes the index types equal.
            help: Option<String>,
        },
        /// `i in s` where `s` is not a set.
        E0470 NotASet {
            span: Span,
            ty: Type,
        },
        /// A comparison of values with a part that cannot be compared.
        E0432 OpaqueCompare {
            span: Span,
            ty: Type,
            part: Type,
        },
        /// A text of a value that has none.
        E0499 NoText {
            span: Span,
            ty: Type,
            part: Type,
        },
    }
}

impl OperatorError {
    /// Returns the message.
    pub fn to_diagnostic(&self) -> Diagnostic {
        use OperatorError as E;
        let code = self.code();
        let error =
            |span: &Span, message: String, label: String| Diagnostic::error(code, *span, message, label);
        match self {
            E::NoOperator { span, op, left, right, help } => {
                let d = match right {
                    Some(right) => error(
                        span,
                        format!("`{op}` does not take `{left}` and `{right}`"),
                        format!("`{left}` {op} `{right}`"),
                    ),
                    None => error(span, format!("`{op}` does not take `{left}`"), format!("{op} `{left}`")),
                };
                match help {
                    Some(help) => d.help(help.clone()),
                    None => d,
                }
            }
            E::IndexTypesDiffer { span, op, left, right, help } => {
                let d = error(
                    span,
                    format!(
                        "`{op}` works element by element, but `{left}` and `{right}` have different index types"
                    ),
                    format!("`{left}` {op} `{right}`"),
                );
                let d = match (index_size(left), index_size(right)) {
                    (Some(n), Some(m)) if n != m => d.note(format!("one has {n} elements, the other {m}")),
                    _ => d,
                };
                match (border_removal(left, right), help) {
                    (Some(function), _) => d.help(format!("`{function}` takes the ends off the larger one")),
                    (None, Some(help)) => d.help(help.clone()),
                    (None, None) if *op == "+" && is_list_like(left) && is_list_like(right) => {
                        d.help("`join (x, y)` has the elements of both, one array after the other")
                    }
                    (None, None) => d,
                }
            }
            E::NotASet { span, ty } => {
                let error =
                    error(span, format!("`{ty}` is not a set"), "`in` asks for a member of this".into());
                match ty.unfold().kind() {
                    TypeKind::Array(..) => error.help(
                        "a set is a `2 \\^ I`, as `set_of` makes it of indices; `any [ v == x for v in xs ]` looks \
                         through an array",
                    ),
                    _ => error.help(
                        "a set of indices is a `2 \\^ I`; a `val` or `var` stays known to the end of its block: end \
                         its statement with `;`",
                    ),
                }
            }
            E::OpaqueCompare { span, ty, part } => {
                use crate::types::TypeKind as K;
                let (label, help) = match part.kind() {
                    K::Var(_) | K::Apply(..) | K::Rest(_) => (
                        format!("nothing says that values of `{part}` can be compared"),
                        format!("ask for it in the header: `with Eq[{part}]`"),
                    ),
                    K::Nominal(nominal, _) if nominal.as_abstract().is_some() => (
                        format!("`{part}` is abstract: its values are not known"),
                        "its module may give it an instance of `Eq`".to_string(),
                    ),
                    K::Nominal(..) => (
                        format!("the instance of `Eq` for `{part}` does not hold here"),
                        format!("see what it requires of the arguments of `{part}`"),
                    ),
                    _ if part == ty => {
                        (format!("`{part}` is a function"), "compare what the functions give".to_string())
                    }
                    _ => (
                        format!("`{ty}` holds a function, `{part}`"),
                        "compare the parts that are data, or write an instance of `Eq` for a declared type"
                            .to_string(),
                    ),
                };
                error(span, format!("values of `{ty}` cannot be compared here"), label).help(help)
            }
            E::NoText { span, ty, part } => {
                let label = format!("`{part}` is native: its content is not shown");
                error(span, format!("values of `{ty}` have no text"), label)
                    .help("show what `decrypt` gives, where the secret key is")
            }
        }
    }
}

/// Returns true if a type is an array whose index type is a number, as that of `[1, 2, 3]` is.
fn is_list_like(ty: &Type) -> bool {
    matches!(ty.kind(), TypeKind::Array(_, index) if matches!(index.kind(), TypeKind::UnitSum(_)))
}
