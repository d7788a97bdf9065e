//! Names of sizes that arrive at run time and that results and variables show.
//!
//! A size that arrives at run time is a type variable; the checker gives it a name that no type and
//! no other size that is shown has. When a text writes this name, it becomes the name of a type
//! from then on, unless the user, the library or an import has a type of that name. Also writes the
//! type pattern by which a program binds such a size.

use super::Session;
use felis_base::hash::HashMap;
use felis_base::source::Source;
use felis_calculus::core::GlobalId;
use felis_calculus::types::{Kind, Type, TypeKind, TypeVar};
use felis_check::check::env::{Definition, Scope, TypeDefinition};
use felis_syntax::syntax;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

impl Session {
    /// Makes the sizes known that a text names and that variables of earlier inputs show.
    pub(super) fn bind_shown_sizes(&mut self, text: &Source) {
        let mut shown: HashMap<Arc<str>, BTreeMap<u32, TypeVar>> = HashMap::default();
        let mut named: Option<BTreeSet<&str>> = None;
        for definition in self.env.values.values() {
            let Definition::Global { id, scope: Scope::Module, .. } = definition else { continue };
            let ty = &self.program.globals[id.index()].ty;
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
pub(super) struct SizeWitness {
    pub piece: usize,
    pub id: GlobalId,
}

/// A type that fits values of another one and opens the sizes that have these names: `_ ^ ?K`.
pub(super) fn size_opening_pattern(ty: &Type, names: &HashMap<u32, String>) -> String {
    let mut mentioned = false;
    ty.for_each_var(&mut |var| mentioned |= names.contains_key(&var.id));
    if !mentioned {
        return "_".to_string();
    }
    let listed = |parts: &[Type], between: &str| {
        let parts: Vec<String> = parts.iter().map(|part| size_opening_pattern(part, names)).collect();
        format!("({})", parts.join(between))
    };
    match ty.kind() {
        TypeKind::Array(element, index) => {
            format!("({} ^ {})", size_opening_pattern(element, names), size_opening_pattern(index, names))
        }
        TypeKind::Product(parts) => listed(parts, " * "),
        TypeKind::CompactProduct(parts) => listed(parts, " \\* "),
        TypeKind::Function(domain, codomain) => {
            format!("({} -> {})", size_opening_pattern(domain, names), size_opening_pattern(codomain, names))
        }
        TypeKind::Record(fields) => {
            let fields: Vec<String> = fields
                .iter()
                .map(|(name, ty)| format!("{name}:{}", size_opening_pattern(ty, names)))
                .collect();
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
