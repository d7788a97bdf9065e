//! Bindings of type variables while core is specialized.

use crate::hash::HashMap;
use crate::types::Type;
use std::sync::Arc;

/// Types for type variables: those of a function for its parameters, and of each opening since.
#[derive(Clone, Debug, Default)]
pub struct Bindings {
    /// The innermost bindings.
    pub types: HashMap<u32, Type>,
    /// The enclosing bindings.
    pub outer: Option<Arc<Bindings>>,
}

impl Bindings {
    /// Returns a type with its bound variables replaced.
    pub fn concrete(&self, ty: &Type) -> Type {
        if !ty.has_var() {
            return ty.clone();
        }
        let mut found = HashMap::default();
        ty.for_each_var(&mut |var| {
            if let Some(known) = self.get(var.id) {
                found.insert(var.id, known.clone());
            }
        });
        ty.substitute(&found)
    }

    /// Returns the type of a variable.
    fn get(&self, var: u32) -> Option<&Type> {
        let mut at = Some(self);
        while let Some(bindings) = at {
            if let Some(found) = bindings.types.get(&var) {
                return Some(found);
            }
            at = bindings.outer.as_deref();
        }
        None
    }
}

impl Drop for Bindings {
    fn drop(&mut self) {
        // A block may open thousands of sizes in a chain: dropped in a loop, not by recursion.
        let mut next = self.outer.take();
        while let Some(mut bindings) = next.and_then(Arc::into_inner) {
            next = bindings.outer.take();
        }
    }
}
