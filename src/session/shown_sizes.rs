//! Sizes that results and variables show: a text of the session may write them by the name that is shown.
//!
//! A size that arrives at run time is a variable of types; the checker gives it a name that no other size has
//! which is shown, nor a type. When a text writes the name it becomes that of a type, and stays it. A name that the user, the
//! library or an import has given to a type is theirs. Takes a text; makes names known. Also writes the type by which a program
//! opens such a size.

use super::Session;
use crate::check::env::{Definition, Scope, TypeDefinition};
use crate::core::GlobalId;
use crate::hash::HashMap;
use crate::source::Source;
use crate::syntax;
use crate::types::{Kind, Type, TypeKind, TypeVar};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

impl Session {
    /// Makes the sizes known that a text names and that variables of earlier inputs show.
    pub(super) fn know_shown_sizes(&mut self, text: &Source) {
        let mut shown: HashMap<Arc<str>, BTreeMap<u32, TypeVar>> = HashMap::default();
        let mut named: Option<BTreeSet<&str>> = None;
        for definition in self.env.values.values() {
            let Definition::Global { id, scope: Scope::Module, .. } = definition else { continue };
            let ty = &self.program.globals[*id as usize].ty;
            if !ty.has_var() {
                continue;
            }
            let named = named.get_or_insert_with(|| syntax::mentioned_names(text).into_iter().collect());
            ty.for_each_var(&mut |var| {
                if var.kind == Kind::Compact && named.contains(&*var.name) {
                    shown.entry(var.name.clone()).or_default().insert(var.id, var.clone());
                }
            });
        }
        for (name, mut vars) in shown {
            if let (Some((_, var)), None) = (vars.pop_first(), vars.first_key_value())
                && !self.env.types.contains_key(&name)
            {
                self.env.types.insert(name, TypeDefinition::Size(Type::var(var)));
            }
        }
    }
}

/// The first variable that shows a size, and the number of the statement that gives it its value.
#[derive(Clone)]
pub(super) struct Shows {
    pub piece: usize,
    pub id: GlobalId,
}

/// A type that fits values of another one and opens the sizes that have these names: `_ ^ ?K`.
pub(super) fn opening(ty: &Type, names: &HashMap<u32, String>) -> String {
    let mut mentioned = false;
    ty.for_each_var(&mut |var| mentioned |= names.contains_key(&var.id));
    if !mentioned {
        return "_".to_string();
    }
    let listed = |parts: &[Type], between: &str| {
        let parts: Vec<String> = parts.iter().map(|part| opening(part, names)).collect();
        format!("({})", parts.join(between))
    };
    match ty.kind() {
        TypeKind::Array(element, index) => {
            format!("({} ^ {})", opening(element, names), opening(index, names))
        }
        TypeKind::Product(parts) => listed(parts, " * "),
        TypeKind::CompactProduct(parts) => listed(parts, " \\* "),
        TypeKind::Function(domain, codomain) => {
            format!("({} -> {})", opening(domain, names), opening(codomain, names))
        }
        TypeKind::Record(fields) => {
            let fields: Vec<String> =
                fields.iter().map(|(name, ty)| format!("{name}:{}", opening(ty, names))).collect();
            format!("({})", fields.join(", "))
        }
        _ => {
            let mut bindings: HashMap<u32, Type> = HashMap::default();
            ty.for_each_var(&mut |var| {
                let name = names.get(&var.id).map_or("_".to_string(), |name| format!("?{name}"));
                bindings.insert(var.id, Type::var(TypeVar { name: name.into(), ..var.clone() }));
            });
            let text = ty.substitute(&bindings).to_string();
            if matches!(ty.kind(), TypeKind::Var(_)) { text } else { format!("({text})") }
        }
    }
}
