//! Signatures as text: functions, constructors and primitives with their types.

use super::names::Overload;
use crate::check::Env;
use crate::check::env::{Callable, Constraint, Scheme};
use crate::types::{Kind, Nominal, NominalBody, TypeVar};

pub(super) fn describe_callable(env: &Env, name: &str, callable: &Callable) -> Overload {
    let plain = |signature: String| Overload { signature, doc: None, declared: None, is_struct: false };
    match callable {
        Callable::Function(id) => match env.signatures.get(id) {
            Some(signature) => Overload {
                doc: signature.doc.clone(),
                declared: Some(signature.span),
                ..plain(function_signature(env, name, &signature.scheme))
            },
            None => plain(name.to_string()),
        },
        Callable::Prim(prim) => Overload { doc: Some(prim.doc().into()), ..plain(prim.declaration()) },
        Callable::Method(class, method) => match env.classes.get(class) {
            Some(class) => Overload {
                doc: Some(format!("A method of `{}`.", class.name).into()),
                ..plain(function_signature(env, name, &class.methods[*method].scheme))
            },
            None => plain(name.to_string()),
        },
        Callable::Case(nominal, _) => plain(constructor_signature(name, nominal, callable)),
        Callable::Struct(nominal) => {
            Overload { is_struct: true, ..plain(constructor_signature(name, nominal, callable)) }
        }
    }
}

/// A constructor with what it takes and gives: `Point(x:real, y:real) : Point`, `Circle : real -> Shape`.
pub(super) fn constructor_signature(name: &str, nominal: &Nominal, callable: &Callable) -> String {
    let params = nominal.params.iter().map(|param| param.name.to_string()).collect::<Vec<_>>().join(", ");
    let args = if params.is_empty() { String::new() } else { format!("[{params}]") };
    let whole = format!("{}{args}", nominal.name);
    match (nominal.body(), callable) {
        (Some(NominalBody::Struct(fields)), _) => {
            let fields = fields.iter().map(|(field, ty)| format!("{field}:{ty}")).collect::<Vec<_>>();
            format!("{name}{args}({}) : {whole}", fields.join(", "))
        }
        (Some(NominalBody::Variant(cases)), Callable::Case(_, at)) => match cases.get(*at) {
            Some((_, ty)) if !ty.is_unit() => format!("{name}{args} : {ty} -> {whole}"),
            _ => format!("{name} : {whole}"),
        },
        _ => format!("{name} : {whole}"),
    }
}

/// A name with the type of a function.
pub(super) fn function_signature(env: &Env, name: &str, scheme: &Scheme) -> String {
    format!("{name}{} : {}", type_parameter_list(env, &scheme.params, &scheme.constraints), scheme.ty())
}

/// Type parameters as they are declared.
pub(super) fn type_parameter_list(env: &Env, params: &[TypeVar], constraints: &[Constraint]) -> String {
    if params.is_empty() {
        return String::new();
    }
    let each = params.iter().map(|param| match param.kind.declared() {
        Kind::Type => param.name.to_string(),
        kind => format!("{}:{}", param.name, env.kind_name(kind)),
    });
    let mut text = each.collect::<Vec<_>>().join(", ");
    if !constraints.is_empty() {
        text += " with ";
        text += &constraints.iter().map(|c| env.text(c)).collect::<Vec<_>>().join(", ");
    }
    format!("[{text}]")
}
