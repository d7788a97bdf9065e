//! Signatures as text: functions, constructors and primitives with their types.

use super::names::Overload;
use felis_calculus::types::{Kind, Nominal, NominalBody, TypeVar};
use felis_check::check::Env;
use felis_check::check::env::{Callable, Constraint, Scheme};
use std::ops::Range;

/// Returns signature and documentation of a callable.
pub(super) fn describe_callable(env: &Env, name: &str, callable: &Callable) -> Overload {
    let plain = |signature: String| Overload { signature, doc: None, declared: None, fields: Vec::new() };
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
        Callable::Case(nominal, case) => plain(case_signature(name, nominal, *case)),
        Callable::Struct(nominal) => {
            let (signature, fields) = struct_signature(name, nominal);
            Overload { fields, ..plain(signature) }
        }
    }
}

/// Returns a case with its argument and its type: `Circle : real -> Shape`.
fn case_signature(name: &str, nominal: &Nominal, case: usize) -> String {
    let (args, whole) = applied(nominal);
    // The body of a broken declaration is unknown.
    let argument = match nominal.body() {
        Some(NominalBody::Variant(cases)) => cases.get(case).map(|(_, ty)| ty),
        _ => None,
    };
    match argument.filter(|ty| !ty.is_unit()) {
        Some(ty) => format!("{name}{args} : {ty} -> {whole}"),
        None => format!("{name} : {whole}"),
    }
}

/// Returns the constructor of a struct, `Point(x:real, y:real) : Point`, and the ranges of its
/// fields.
fn struct_signature(name: &str, nominal: &Nominal) -> (String, Vec<Range<usize>>) {
    let (args, whole) = applied(nominal);
    // The constructor of a compact record belongs to a newtype, and the body of a broken
    // declaration is unknown.
    let Some(NominalBody::Struct(declared)) = nominal.body() else {
        return (format!("{name} : {whole}"), Vec::new());
    };
    let (mut text, mut fields) = (format!("{name}{args}("), Vec::new());
    for (at, (field, ty)) in declared.iter().enumerate() {
        text.push_str(if at > 0 { ", " } else { "" });
        let start = text.len();
        text.push_str(&format!("{field}:{ty}"));
        fields.push(start..text.len());
    }
    text.push_str(&format!(") : {whole}"));
    (text, fields)
}

/// Returns the type parameters of a declared type in brackets, and the type applied to them.
fn applied(nominal: &Nominal) -> (String, String) {
    let params = nominal.params.iter().map(|param| param.name.to_string()).collect::<Vec<_>>().join(", ");
    let args = if params.is_empty() { String::new() } else { format!("[{params}]") };
    let whole = format!("{}{args}", nominal.name);
    (args, whole)
}

/// A name with the type of a function.
pub(super) fn function_signature(env: &Env, name: &str, scheme: &Scheme) -> String {
    format!("{name}{} : {}", type_parameter_list(env, &scheme.params, &scheme.constraints), scheme.ty())
}

/// Returns type parameters and constraints in brackets, as they are declared; empty without
/// parameters.
pub(super) fn type_parameter_list(env: &Env, params: &[TypeVar], constraints: &[Constraint]) -> String {
    if params.is_empty() {
        return String::new();
    }
    let mut text = type_parameters(env, params);
    if !constraints.is_empty() {
        text += " with ";
        text += &constraints.iter().map(|c| env.text(c)).collect::<Vec<_>>().join(", ");
    }
    format!("[{text}]")
}

/// Returns type parameters as they are declared, without brackets.
pub(super) fn type_parameters(env: &Env, params: &[TypeVar]) -> String {
    let each = params.iter().map(|param| match param.kind.declared() {
        Kind::Type => param.name.to_string(),
        kind => format!("{}:{}", param.name, env.kind_name(kind)),
    });
    each.collect::<Vec<_>>().join(", ")
}
