//! Sizes replaced by equal ones, where a type depends on their number only.
//!
//! Takes a type and sizes for variables; gives the type with the sizes substituted. Equal sizes do
//! not make equal types: a closed abstract type may depend on all of an argument that its `layout`
//! does not name, and such an argument stays as it is, also deep inside other types. A parameter of
//! a declared type is *free* if its parts mention it only where it may be replaced. Types may
//! mention each other, so this is the greatest fixed point: all parameters are assumed to be free
//! until a part contradicts it, iterated until nothing changes.

use crate::hash::HashMap;
use crate::types::{Nominal, NominalBody, Type, TypeKind};

/// For each declared type, by its number, the parameters that are free.
#[derive(Default)]
pub struct FreeParameters {
    /// For each parameter, true if it is free.
    known: HashMap<u32, Vec<bool>>,
}

impl FreeParameters {
    /// Returns the type with sizes substituted for variables, by their numbers, in free positions.
    pub fn replace_sizes(&mut self, ty: &Type, sizes: &HashMap<u32, Type>) -> Type {
        self.compute_free(ty);
        self.substitute_free(ty, sizes)
    }

    /// Substitutes without computing free parameters first.
    fn substitute_free(&self, ty: &Type, sizes: &HashMap<u32, Type>) -> Type {
        if !ty.has_var() {
            return ty.clone();
        }
        match ty.kind() {
            TypeKind::Var(var) => sizes.get(&var.id).unwrap_or(ty).clone(),
            TypeKind::Nominal(nominal, args) => {
                let free = self.known.get(&nominal.id);
                let may = |i: usize| free.is_some_and(|free| free.get(i) == Some(&true));
                let args = args.iter().enumerate();
                let args =
                    args.map(|(i, arg)| if may(i) { self.substitute_free(arg, sizes) } else { arg.clone() });
                Type::nominal(nominal.clone(), args.collect())
            }
            _ => ty.map_children(&mut |child| self.substitute_free(child, sizes)),
        }
    }

    /// Computes the free parameters of all declared types reachable from a type.
    fn compute_free(&mut self, ty: &Type) {
        let mut found: Vec<(Nominal, Vec<Type>)> = Vec::new();
        let mut waiting = vec![ty.clone()];
        while let Some(ty) = waiting.pop() {
            if !ty.has_var() {
                continue;
            }
            if let TypeKind::Nominal(nominal, _) = ty.kind()
                && !self.known.contains_key(&nominal.id)
            {
                let free = match nominal.layout() {
                    Some(layout) => layout.to_vec(),
                    None => vec![true; nominal.params.len()],
                };
                self.known.insert(nominal.id, free);
                let parts = component_types(nominal);
                waiting.extend(parts.iter().cloned());
                found.push((nominal.clone(), parts));
            }
            ty.kind().for_each_child(&mut |child| waiting.push(child.clone()));
        }
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for (nominal, parts) in &found {
                for (i, param) in nominal.params.iter().enumerate() {
                    let taken = HashMap::from_iter([(param.id, Type::unit())]);
                    let stays = parts.iter().any(|part| self.substitute_free(part, &taken).mentions(param));
                    let all = self.known.get_mut(&nominal.id).expect("the type was entered above");
                    let free = &mut all[i];
                    changed |= stays && *free;
                    *free &= !stays;
                }
            }
        }
    }
}

/// Returns the component types of a declared type, in terms of its parameters; none where it is
/// closed.
fn component_types(nominal: &Nominal) -> Vec<Type> {
    match nominal.body() {
        _ if nominal.layout().is_some() => Vec::new(),
        Some(NominalBody::Newtype(definition)) => vec![definition.clone()],
        Some(NominalBody::Struct(parts) | NominalBody::Variant(parts)) => {
            parts.iter().map(|(_, part)| part.clone()).collect()
        }
        Some(NominalBody::Abstract(known)) => known.representation.iter().cloned().collect(),
        None => Vec::new(),
    }
}
