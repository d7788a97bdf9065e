//! Existential types: `T ^ ?K`, a `T ^ K` for a size that each value carries.
//!
//! A second-class form: it occurs only as the result of a function, so that a size has a name
//! wherever a value has one. Bound variables are *locally nameless* (A. Charguéraud, *The Locally
//! Nameless Representation*, J. Automated Reasoning 49, 2012): in the body of a
//! [`TypeKind::Exists`] a bound variable is a [`TypeVar`] from a reserved range of numbers, which
//! encodes its de Bruijn level (the number of binders between it and its own) and its position
//! among the variables of that binder, by first occurrence. So α-equivalent types are equal trees,
//! substitution of closed types captures nothing, and a bound variable's name is for printing only.
//!
//! [`Type::exists`] binds (*closing*), [`Type::opened`] substitutes types for bound variables
//! (*opening*). Only variables of kind COMPACTLINEAR are bound: sizes.

use super::variable_numbers::BOUND_VARIABLES;
use super::{Kind, Type, TypeKind, TypeVar};
use std::sync::Arc;

/// Variables of one binder, at most.
const MAX_BOUND_VARIABLES: usize = 256;

impl TypeVar {
    /// Returns a bound variable.
    fn bound(depth: u32, position: usize, name: &Arc<str>) -> TypeVar {
        TypeVar {
            id: BOUND_VARIABLES.nth(depth as usize * MAX_BOUND_VARIABLES + position),
            name: name.clone(),
            kind: Kind::Compact,
        }
    }

    /// Returns the number of binders between a bound variable and its own, and its position there.
    pub fn as_bound(&self) -> Option<(u32, usize)> {
        let at = BOUND_VARIABLES.position(self.id)?;
        Some(((at / MAX_BOUND_VARIABLES) as u32, at % MAX_BOUND_VARIABLES))
    }

    /// Returns true if the variable is bound by an existential type around it.
    pub fn is_bound(&self) -> bool {
        BOUND_VARIABLES.contains(self.id)
    }
}

impl Type {
    /// Returns `body` with `vars` existentially bound; `body` itself if it mentions none of them;
    /// the error type beyond [`MAX_BOUND_VARIABLES`].
    pub fn exists(vars: &[TypeVar], body: &Type) -> Type {
        let mut order: Vec<TypeVar> = Vec::new();
        body.for_each_var(&mut |var| {
            if vars.contains(var) && !order.contains(var) {
                order.push(var.clone());
            }
        });
        match order.len() {
            0 => body.clone(),
            n if n > MAX_BOUND_VARIABLES => Type::error(),
            n => Type::new(TypeKind::Exists(n, close(body, &order, 0))),
        }
    }

    /// Returns the names of the variables that an existential type binds, in order; none for other
    /// types.
    pub fn bound_names(&self) -> Vec<Arc<str>> {
        fn walk(ty: &Type, depth: u32, names: &mut Vec<Arc<str>>) {
            if ty.loose_bound_range() <= depth {
                return;
            }
            match ty.kind() {
                TypeKind::Var(var) => {
                    if let Some((at, position)) = var.as_bound()
                        && at == depth
                        && position == names.len()
                    {
                        names.push(var.name.clone());
                    }
                }
                TypeKind::Exists(_, body) => walk(body, depth + 1, names),
                kind => kind.for_each_child(&mut |child| walk(child, depth, names)),
            }
        }
        let mut names = Vec::new();
        if let TypeKind::Exists(_, body) = self.kind() {
            walk(body, 0, &mut names);
        }
        names
    }

    /// Returns the body of an existential type with these types in place of its variables; any
    /// other type as it is.
    pub fn opened(&self, sizes: &[Type]) -> Type {
        match self.kind() {
            TypeKind::Exists(_, body) => open(body, sizes, 0),
            _ => self.clone(),
        }
    }

    /// Returns the number of variables that an existential type binds; 0 for other types.
    pub fn bound_count(&self) -> usize {
        match self.kind() {
            TypeKind::Exists(n, _) => *n,
            _ => 0,
        }
    }

    /// Returns true if the type is existential.
    pub fn is_exists(&self) -> bool {
        matches!(self.kind(), TypeKind::Exists(..))
    }

    /// Visits the free variables, as often as they occur, left to right.
    pub fn for_each_var(&self, f: &mut dyn FnMut(&TypeVar)) {
        if !self.has_var() {
            return;
        }
        if let TypeKind::Var(var) = self.kind() {
            f(var);
        }
        self.kind().for_each_child(&mut |child| child.for_each_var(f));
    }
}

/// Replaces free variables by bound ones, under `depth` binders.
fn close(ty: &Type, vars: &[TypeVar], depth: u32) -> Type {
    if !ty.has_var() {
        return ty.clone();
    }
    match ty.kind() {
        TypeKind::Var(var) => match vars.iter().position(|v| v == var) {
            Some(position) => Type::var(TypeVar::bound(depth, position, &vars[position].name)),
            None => ty.clone(),
        },
        TypeKind::Exists(n, body) => Type::new(TypeKind::Exists(*n, close(body, vars, depth + 1))),
        _ => ty.map_children(&mut |child| close(child, vars, depth)),
    }
}

/// Replaces bound variables by types, under `depth` binders.
fn open(ty: &Type, sizes: &[Type], depth: u32) -> Type {
    if ty.loose_bound_range() <= depth {
        return ty.clone();
    }
    match ty.kind() {
        TypeKind::Var(var) => match var.as_bound() {
            Some((at, position)) if at == depth => sizes.get(position).cloned().unwrap_or_else(Type::error),
            _ => ty.clone(),
        },
        TypeKind::Exists(n, body) => Type::new(TypeKind::Exists(*n, open(body, sizes, depth + 1))),
        _ => ty.map_children(&mut |child| open(child, sizes, depth)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn var(id: u32, name: &str) -> TypeVar {
        TypeVar { id, name: name.into(), kind: Kind::Compact }
    }

    fn array(var: &TypeVar) -> Type {
        Type::array(Type::int(), Type::var(var.clone()))
    }

    #[test]
    fn names_of_bound_variables_do_not_matter() {
        let (k, l) = (var(1, "K"), var(2, "L"));
        let (a, b) = (
            Type::exists(std::slice::from_ref(&k), &array(&k)),
            Type::exists(std::slice::from_ref(&l), &array(&l)),
        );
        assert_eq!(a, b);
        assert_eq!(a.to_string(), "int ^ ?K");
        assert_eq!(b.to_string(), "int ^ ?L");
        assert!(!a.has_var());
        assert_eq!(a.opened(&[Type::unit_sum(3u32)]), Type::array(Type::int(), Type::unit_sum(3u32)));
    }

    #[test]
    fn order_is_that_of_occurrence() {
        let (k, l) = (var(1, "K"), var(2, "L"));
        let body = Type::product(vec![array(&l), array(&k)]);
        let ty = Type::exists(&[k.clone(), l.clone()], &body);
        assert_eq!(ty.bound_names(), vec![Arc::from("L"), Arc::from("K")]);
        assert_eq!(ty, Type::exists(&[l, k], &body));
    }

    #[test]
    fn nothing_is_captured() {
        // `∃K. (T -> int) ^ K` at `T := int -> ∃L. int ^ L`, and closed over the variables it
        // mentions.
        let (k, l, t) = (var(1, "K"), var(2, "L"), TypeVar { id: 3, name: "T".into(), kind: Kind::Type });
        let inner = Type::function(Type::int(), Type::exists(std::slice::from_ref(&l), &array(&l)));
        let outer =
            Type::exists(std::slice::from_ref(&k), &Type::array(Type::var(t.clone()), Type::var(k.clone())));
        let ty = outer.substitute(&[(t.id, inner.clone())].into_iter().collect());
        assert_eq!(ty.to_string(), "(int -> int ^ ?L) ^ ?K");
        assert_eq!(ty.opened(&[Type::unit_sum(2u32)]), Type::array(inner, Type::unit_sum(2u32)));
        // A variable free in an inner body is bound further out.
        let both = Type::function(
            Type::int(),
            Type::exists(std::slice::from_ref(&l), &Type::product(vec![array(&k), array(&l)])),
        );
        let ty = Type::exists(std::slice::from_ref(&k), &Type::product(vec![array(&k), both.clone()]));
        assert_eq!(ty.opened(&[Type::var(k.clone())]), Type::product(vec![array(&k), both]));
    }
}
