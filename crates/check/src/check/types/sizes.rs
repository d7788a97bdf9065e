//! Names of sizes known at run time, in written types: `?N` opens one, `?K` in a result binds one.
//!
//! Takes a written type; gives the type with a hole or a bound variable for each opened name
//! ([`OpenSizeMeaning`]), and adds the names to the scope of types.

use crate::check::context::Checker;
use crate::check::env::TypeDefinition;
use crate::check::error::SizeError;
use crate::check::state::OpenSizeMeaning;
use crate::hash::HashMap;
use crate::iso::equations;
use crate::source::Span;
use crate::syntax::ast::{Name, TypeExpr};
use crate::types::{Kind, Type, TypeKind, TypeVar};
use std::sync::Arc;

impl Checker<'_> {
    /// Lowers a written type in which `?N` is a named hole; returns the type, and the names with
    /// their holes.
    pub(in crate::check) fn lower_named(&mut self, written: &TypeExpr) -> (Type, Vec<(Name, Type)>) {
        let outer = std::mem::replace(&mut self.opens, OpenSizeMeaning::Named(Vec::new()));
        let ty = self.lower(written);
        match std::mem::replace(&mut self.opens, outer) {
            OpenSizeMeaning::Named(names) => (ty, names),
            _ => (ty, Vec::new()),
        }
    }

    /// Lowers `?N`.
    pub(in crate::check) fn lower_open(&mut self, name: &Name, span: Span) -> Type {
        match &mut self.opens {
            OpenSizeMeaning::Nothing => {
                self.report(SizeError::NotOpened { span, name: name.text.to_string() });
                Type::error()
            }
            OpenSizeMeaning::Named(names) => match names.iter().find(|(known, _)| known.text == name.text) {
                Some((_, hole)) => hole.clone(),
                None => {
                    let hole = self.infer.fresh(Kind::Compact);
                    names.push((name.clone(), hole.clone()));
                    hole
                }
            },
            OpenSizeMeaning::Bound(vars) => match vars.iter().find(|var| var.name == name.text) {
                Some(var) => Type::var(var.clone()),
                None => {
                    let var = self.env.fresh_var(&name.text, Kind::Compact);
                    vars.push(var.clone());
                    self.note_parameter(name, &Type::var(var.clone()));
                    Type::var(var)
                }
            },
        }
    }

    /// Lowers the written result of a function, in which `?N` is a size that the function chooses.
    pub(in crate::check) fn lower_result(&mut self, written: &TypeExpr) -> Type {
        let outer = std::mem::replace(&mut self.opens, OpenSizeMeaning::Bound(Vec::new()));
        let ty = self.lower(written);
        match std::mem::replace(&mut self.opens, outer) {
            OpenSizeMeaning::Bound(vars) if !vars.is_empty() => Type::exists(&vars, &ty),
            _ => ty,
        }
    }

    /// Brings the names of an annotation into scope as the solutions of their holes, and returns
    /// the type of the annotation. A variable opened in this statement takes the name.
    pub(in crate::check) fn name_sizes(&mut self, names: Vec<(Name, Type)>, ty: &Type) -> Type {
        if names.is_empty() {
            return ty.clone();
        }
        let session = self.item.names_last && self.at_session_level();
        let mut renamed: HashMap<u32, Type> = HashMap::default();
        for (name, hole) in names {
            let mut size = self.infer.zonk(&hole);
            if size.has_meta() {
                if self.reports.any_error() {
                    self.note_suppressed(name.span);
                } else {
                    let (span, name) = (name.span, name.text.to_string());
                    self.report(SizeError::Unknown { span, name });
                }
                size = Type::error();
            }
            if let TypeKind::Var(var) = size.clone().kind()
                && !renamed.contains_key(&var.id)
                && let Some(new) = self.rename(var, &name.text)
            {
                size = Type::var(new);
                renamed.insert(var.id, size.clone());
            }
            self.bind_size(&name, size, session);
        }
        self.infer.zonk(ty).substitute(&renamed)
    }

    /// Brings the name of a size into scope; with `session`, for the rest of the session.
    pub(in crate::check) fn bind_size(&mut self, name: &Name, size: Type, session: bool) {
        self.note_parameter(name, &size);
        if session {
            self.env.types.insert(name.text.clone(), TypeDefinition::Size(size));
        } else {
            let old = self.item.type_scope.insert(name.text.clone(), size);
            self.item.named.push((name.text.clone(), old));
        }
    }

    /// Renames a variable that the present opening scope has opened to the name in the program.
    fn rename(&mut self, var: &TypeVar, name: &Arc<str>) -> Option<TypeVar> {
        let new = TypeVar { name: name.clone(), ..var.clone() };
        let frame = self.frame();
        let bindings = [(var.id, Type::var(new.clone()))].into_iter().collect();
        let opened = frame.opening_scopes.last_mut().into_iter().flat_map(|scope| &mut scope.openings);
        let matched = frame.matched.iter_mut().map(|(opening, _)| opening);
        let opening = opened.chain(matched).find(|opening| opening.vars.contains(var))?;
        let local = opening.local;
        let vars = opening.vars.iter_mut();
        for old in vars.chain(&mut frame.opened).filter(|old| **old == *var) {
            *old = new.clone();
        }
        let info = &mut frame.locals[local.index()];
        info.ty = info.ty.substitute(&bindings);
        let known = self.item.opened.iter_mut().chain(&mut self.program.sizes);
        known.filter(|old| **old == *var).for_each(|old| *old = new.clone());
        Some(new)
    }

    /// Returns the named sizes of the session.
    pub(in crate::check) fn session_sizes(&self) -> Vec<(Arc<str>, Type)> {
        let sizes = self.env.types.iter().filter_map(|(name, known)| match known {
            TypeDefinition::Size(size) => Some((name.clone(), size.clone())),
            _ => None,
        });
        sizes.collect()
    }

    /// Returns true if two types are naturally isomorphic by the equations that hold here. Records
    /// the equations of the top level that are used.
    pub(in crate::check) fn is_naturally_isomorphic(&mut self, from: &Type, to: &Type) -> bool {
        let equations = self.equations();
        if equations.is_empty() || !equations::natural_under(&equations, from, to) {
            return false;
        }
        for equation in equations::relevant(&equations, from, to) {
            if self.env.equations.contains(&equation) && !self.item.relied.contains(&equation) {
                self.item.relied.push(equation);
            }
        }
        true
    }

    /// Returns true if a name denotes this variable where types are written.
    pub(in crate::check) fn denotes(&self, name: &Arc<str>, var: &TypeVar) -> bool {
        self.lookup_size(name).as_ref() == Some(var)
    }

    /// Returns the variable that a name denotes where types are written.
    pub(in crate::check) fn lookup_size(&self, name: &Arc<str>) -> Option<TypeVar> {
        match (self.item.type_scope.get(name), self.env.types.get(name)) {
            (Some(ty), _) | (None, Some(TypeDefinition::Size(ty))) => match ty.kind() {
                TypeKind::Var(var) => Some(var.clone()),
                _ => None,
            },
            _ => None,
        }
    }
}
