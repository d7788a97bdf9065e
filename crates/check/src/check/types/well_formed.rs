//! Constraints of declared types: `struct Heap[T with Ord[T]] { … }`.
//!
//! The constraints must hold wherever the type is applied: where it is written with arguments, and
//! where a constructor makes a value of it. Types are declared before classes are known, so a
//! written type only records its application; the item that contains it checks the application with
//! its other obligations ([`crate::check::solve::constraint`]). Applications in the declarations
//! themselves (fields, heads of instances, types of methods) wait until all classes and instances
//! are known, each with the constraints that its declaration gives.
//!
//! A function that takes a `Heap[T]` must state `with Ord[T]` itself: a header shows all its
//! constraints.
//!
//! A declared type mentions no type variables but its parameters, which is checked when it is
//! declared.

use crate::check::context::Checker;
use crate::check::env::{Constraint, TypeConstraints, TypeDefinition};
use crate::check::error::TypeError;
use crate::check::state::{AppliedTypes, ConstrainedApplication, WrittenConstraints};
use crate::syntax::ast::{Generics, Name, Stmt, StmtKind, TypeDecl};
use crate::types::apply::{Meaning, TypeArm};
use crate::types::{Kind, NominalBody, Type, TypeVar};

impl Checker<'_> {
    /// Records the constraints of a type that is being declared.
    pub(in crate::check) fn declare_constraints(&mut self, params: &[TypeVar], generics: &Generics) {
        if let (Some(first), false) = (params.first(), generics.constraints.is_empty()) {
            let known = TypeConstraints { params: params.to_vec(), constraints: Vec::new() };
            self.env.type_constraints.insert(first.id, known);
        }
        if let Some(own) = self.written.last_mut() {
            own.params = params.to_vec();
            own.constraints = generics.constraints.clone();
        }
    }

    /// Runs `declare`, and records the types applied in its declaration.
    pub(in crate::check) fn record_declaration(&mut self, declare: impl FnOnce(&mut Self)) {
        let outer = std::mem::take(&mut self.item.applied);
        // Other types may be declared on the way: the innermost is last.
        self.written.push(WrittenConstraints::default());
        declare(self);
        if let Some(mut own) = self.written.pop() {
            own.applied = std::mem::take(&mut self.item.applied);
            self.declared.push(own);
        }
        self.item.applied = outer;
    }

    /// Reports a declared type that mentions a type variable other than its parameters. A newtype
    /// may, and a type function may mention sizes of statements: it is applied when they are known.
    pub(in crate::check) fn check_closed(&mut self, stmt: &Stmt) {
        let (StmtKind::Struct(TypeDecl { name, .. }, _)
        | StmtKind::Variant(TypeDecl { name, .. }, _)
        | StmtKind::Abstract { decl: TypeDecl { name, .. }, .. }
        | StmtKind::Typefun { name, .. }) = &stmt.kind
        else {
            return;
        };
        let mut own: Vec<TypeVar> = Vec::new();
        let parts: Vec<Type> = match self.env.types.get(&name.text) {
            Some(TypeDefinition::Nominal(nominal)) => {
                own.extend(nominal.params.iter().cloned());
                match nominal.body() {
                    Some(NominalBody::Abstract(known)) => known.representation.iter().cloned().collect(),
                    Some(NominalBody::Struct(parts) | NominalBody::Variant(parts)) => {
                        parts.iter().map(|(_, ty)| ty.clone()).collect()
                    }
                    _ => return,
                }
            }
            Some(TypeDefinition::Function(fun)) => {
                own.extend(fun.params.iter().cloned());
                match fun.meaning() {
                    Some(Meaning::Type(ty)) => vec![ty.clone()],
                    Some(Meaning::Match(subjects, arms)) => {
                        own.extend(arms.iter().flat_map(|arm| arm.binds.iter().cloned()));
                        let of_arm =
                            |arm: &TypeArm| [&arm.patterns[..], std::slice::from_ref(&arm.result)].concat();
                        subjects.iter().cloned().chain(arms.iter().flat_map(of_arm)).collect()
                    }
                    None => return,
                }
            }
            _ => return,
        };
        let function = matches!(stmt.kind, StmtKind::Typefun { .. });
        let mut foreign = None;
        for part in parts {
            part.for_each_var(&mut |var| {
                if !(own.contains(var) || function && self.program.sizes.contains(var)) {
                    foreign.get_or_insert_with(|| var.clone());
                }
            });
        }
        if let Some(variable) = foreign {
            let (span, name) = (name.span, name.text.to_string());
            let parameter = match variable.kind {
                Kind::Type => variable.name.to_string(),
                kind => format!("{}:{}", variable.name, self.env.kind_name(kind)),
            };
            let variable = variable.name.to_string();
            self.report(TypeError::LocalTypeMentions { span, name, variable, parameter, function });
        }
    }

    /// Records the application of a declared type, if the type has constraints.
    pub(in crate::check) fn record_application(&mut self, params: &[TypeVar], args: &[Type], name: &Name) {
        let Some(first) = params.first().filter(|first| self.env.type_constraints.contains_key(&first.id))
        else {
            return;
        };
        let (args, name_text) = (args.to_vec(), name.text.to_string());
        let applied = ConstrainedApplication { declared: first.id, args, span: name.span, name: name_text };
        self.item.applied.push(applied);
    }

    /// Keeps the applications of the present item until instances are known; `givens` are the
    /// constraints that the item gives.
    pub(in crate::check) fn defer_applications(&mut self, givens: Vec<Constraint>) {
        let applied = std::mem::take(&mut self.item.applied);
        if !applied.is_empty() {
            self.uses.push(AppliedTypes { givens, applied });
        }
    }

    /// Reads the constraints of the types of this input. Classes are known at this point.
    pub(in crate::check) fn collect_type_constraints(&mut self) {
        for written in std::mem::take(&mut self.declared) {
            let WrittenConstraints { params, constraints, mut applied } = written;
            let read = self.with_separate_item(|this| {
                for param in &params {
                    this.item.type_scope.insert(param.name.clone(), Type::var(param.clone()));
                }
                let read = this.constraints(&constraints);
                applied.append(&mut this.item.applied);
                read
            });
            match params.first() {
                Some(first) if !constraints.is_empty() => {
                    let known = TypeConstraints { params: params.clone(), constraints: read.clone() };
                    self.env.type_constraints.insert(first.id, known);
                }
                _ => {}
            }
            // Without parameters the constraints hold or fail once, at the declaration.
            let own = read.iter().zip(&constraints).filter(|_| params.is_empty());
            for (constraint, (name, _)) in own {
                self.add_obligation(constraint.clone(), name.span, "this type");
            }
            self.uses.push(AppliedTypes { givens: read, applied });
        }
    }

    /// Checks the applications in declarations. Instances are known at this point.
    pub(in crate::check) fn check_applications(&mut self) {
        for AppliedTypes { givens, applied } in std::mem::take(&mut self.uses) {
            if applied.is_empty() {
                continue;
            }
            self.with_separate_item(|this| {
                this.item.givens = this.with_supers(givens);
                this.item.applied = applied;
                this.discharge();
            });
        }
    }

    /// Returns the constraints of a declared type at its own parameters.
    pub(in crate::check) fn constraints_of(&self, params: &[TypeVar]) -> Vec<Constraint> {
        let known = params.first().and_then(|first| self.env.type_constraints.get(&first.id));
        known.map(|known| known.constraints.clone()).unwrap_or_default()
    }
}
