//! What is noted for editors while a text is checked: what each name stands for, the types of
//! expressions, what is in scope at a place.
//!
//! Takes remarks of the checker where it knows them; gives [`Notes`]. A checker without notes pays
//! one comparison for each remark. Decides nothing: a text is checked the same with notes and
//! without.

use crate::check::context::Checker;
use crate::check::env::{Callable, Definition};
use crate::check::solve::infer::Infer;
use crate::core::Prim;
use crate::hash::{HashMap, HashSet};
use crate::source::{SourceId, Span};
use crate::syntax::ast::Name;
use crate::types::{Nominal, Type, TypeKind};
use std::sync::Arc;

/// What a name stands for.
#[derive(Clone, Debug, PartialEq)]
pub enum Referent {
    /// What is declared by the name that stands here: a variable, a function, a method, a class, a
    /// type parameter.
    At(Span),
    /// A declared type, by its number.
    Nominal(Nominal),
    /// A case of a variant.
    Case(Nominal, usize),
    /// A field of a struct.
    Field(Nominal, usize),
    /// A field of a record, which is declared nowhere.
    RecordField,
    /// A type, a kind or a member of one, looked up by name among those of the text.
    Named,
    /// A type parameter, or a size that has been named.
    Parameter(u32),
    /// A primitive.
    Prim(Prim),
}

/// What has been noted of one input and of the modules that it reads.
#[derive(Debug, Default)]
pub struct Annotations {
    /// Texts numbered below are of no interest.
    first: u32,
    /// Types of expressions and variables are of no interest.
    names_only: bool,
    /// A place of a text: what is in scope there is noted.
    cursor: Option<(SourceId, u32)>,
    /// How many types and variables are settled already: those of texts that were checked before.
    settled: (usize, usize),
    /// Names with what they stand for, as far as that is known; what is noted later of one place
    /// holds.
    pub uses: Vec<(Span, Referent)>,
    /// The types of expressions.
    pub types: Vec<(Span, Type)>,
    /// Those of them that are no expressions but types, as they are written.
    pub written: HashSet<Span>,
    /// The names that bind variables, with their types.
    pub variables: Vec<(Span, Type)>,
    /// Where the declared types of these texts are declared, by number.
    pub nominals: HashMap<u32, Span>,
    /// Where type parameters and sizes are declared, by number and name.
    pub parameters: HashMap<(u32, Arc<str>), Span>,
    /// The kinds of these, by their places.
    pub kinds: HashMap<Span, String>,
    /// The choices among functions of several scopes, in lines, if somebody asks for them.
    pub choices: Option<Vec<String>>,
    /// The variables and type parameters in scope at the cursor.
    pub scope: Vec<(Arc<str>, Option<Type>)>,
}

impl Annotations {
    /// For texts numbered from `first`, and for a place in one of them.
    pub fn new(first: u32, cursor: Option<(SourceId, u32)>) -> Annotations {
        Annotations { first, cursor, ..Annotations::default() }
    }

    /// For the names of texts numbered from `first`.
    pub fn of_names(first: u32) -> Annotations {
        Annotations { first, names_only: true, ..Annotations::default() }
    }

    /// For choices among functions, of texts numbered from `first`.
    pub fn of_choices(first: u32) -> Annotations {
        Annotations { first, names_only: true, choices: Some(Vec::new()), ..Annotations::default() }
    }

    /// Whether choices made in a text are of interest.
    pub(super) fn wants_choices(&self, span: Span) -> bool {
        self.choices.is_some() && self.wants(span)
    }

    fn wants(&self, span: Span) -> bool {
        span.source.0 >= self.first && span.start < span.end
    }

    /// Replaces holes by what they have become; afterward types stand for themselves.
    pub(super) fn settle(&mut self, infer: &mut Infer) {
        let new = self.types.iter_mut().skip(self.settled.0);
        for (_, ty) in new.chain(self.variables.iter_mut().skip(self.settled.1)) {
            *ty = infer.settle(ty);
        }
        self.settled = (self.types.len(), self.variables.len());
        for ty in self.scope.iter_mut().filter_map(|(_, ty)| ty.as_mut()) {
            *ty = infer.settle(ty);
        }
    }
}

impl Checker<'_> {
    /// Notes what a name stands for.
    pub(super) fn note(&mut self, span: Span, referent: impl FnOnce(&Self) -> Option<Referent>) {
        if self.notes.as_ref().is_some_and(|notes| notes.wants(span))
            && let Some(referent) = referent(self)
            && let Some(notes) = &mut self.notes
        {
            notes.uses.push((span, referent));
        }
    }

    /// Notes that a name stands for something that can be called.
    pub(super) fn note_callable(&mut self, span: Span, callable: &Callable) {
        self.note(span, |this| {
            Some(match callable {
                Callable::Function(id) => Referent::At(this.env.signatures.get(id)?.span),
                Callable::Method(class, at) => {
                    Referent::At(this.env.classes.get(class)?.methods.get(*at)?.span)
                }
                Callable::Prim(prim) => Referent::Prim(*prim),
                Callable::Case(nominal, case) => Referent::Case(nominal.clone(), *case),
                Callable::Struct(nominal) => Referent::Nominal(nominal.clone()),
            })
        });
    }

    /// Notes a field of a value of this type, where that is a struct or a record.
    pub(super) fn note_field(&mut self, span: Span, of: &Type, at: usize) {
        self.note(span, |_| match of.kind() {
            _ if of.compact_fields().is_some() => Some(Referent::RecordField),
            TypeKind::Nominal(nominal, _) => Some(Referent::Field(nominal.clone(), at)),
            TypeKind::Record(_) => Some(Referent::RecordField),
            _ => None,
        });
    }

    /// Notes a variable where it is bound.
    pub(super) fn note_variable(&mut self, span: Span, ty: impl FnOnce(&Self) -> Type) {
        if self.notes.as_ref().is_some_and(|notes| notes.wants(span) && !notes.names_only) {
            let ty = ty(self);
            if let Some(notes) = &mut self.notes {
                notes.variables.push((span, ty));
            }
        }
    }

    /// Notes where a type is declared.
    pub(super) fn note_type_declared(&mut self, name: &Name) {
        let Some(notes) = &mut self.notes else { return };
        if let Some(crate::check::TypeDefinition::Nominal(nominal)) = self.env.types.get(&name.text) {
            notes.nominals.insert(nominal.id, name.span);
        }
    }

    /// Notes where a type parameter or a size gets its name.
    pub(super) fn note_parameter(&mut self, name: &Name, ty: &Type) {
        let Some(notes) = &mut self.notes else { return };
        if let (true, TypeKind::Var(var)) = (notes.wants(name.span), ty.kind()) {
            notes.parameters.entry((var.id, name.text.clone())).or_insert(name.span);
            notes.kinds.insert(name.span, self.env.kind_name(var.kind.declared()));
            notes.uses.push((name.span, Referent::Parameter(var.id)));
        }
    }

    /// Notes what a name of a type stands for.
    pub(super) fn note_type_name(&mut self, name: &Name) {
        self.note(name.span, |this| {
            let known =
                this.item.type_scope.get(&name.text).or_else(|| match this.env.types.get(&name.text) {
                    Some(crate::check::TypeDefinition::Size(size)) => Some(size),
                    _ => None,
                });
            Some(match known.map(Type::kind) {
                Some(TypeKind::Var(var)) => Referent::Parameter(var.id),
                _ => Referent::Named,
            })
        });
        self.note_scope(name.span);
    }

    /// Notes the type of an expression, and what is in scope if the cursor is at its end.
    pub(super) fn note_expr(&mut self, span: Span, ty: &Type) {
        let Some(notes) = &mut self.notes else { return };
        if notes.wants(span) && !notes.names_only {
            notes.types.push((span, ty.clone()));
        }
    }

    /// Notes that a type is written here.
    pub(super) fn note_written(&mut self, span: Span) {
        if let Some(notes) = &mut self.notes {
            notes.written.insert(span);
        }
    }

    /// Notes what is in scope, if the cursor is at the end of this.
    pub(super) fn note_scope(&mut self, span: Span) {
        let Some(notes) = &self.notes else { return };
        if notes.cursor != Some((span.source, span.end)) || !notes.scope.is_empty() {
            return;
        }
        let mut scope: Vec<(Arc<str>, Option<Type>)> = Vec::new();
        for frame in self.item.frames.iter().rev() {
            for (name, binding) in frame.scopes.iter().rev().flatten() {
                // Those that the checker makes for itself have no name that could be written.
                if !name.starts_with(' ') && !scope.iter().any(|(known, _)| known == name) {
                    scope.push((name.clone(), Some(frame.locals[binding.local as usize].ty.clone())));
                }
            }
        }
        scope.extend(self.item.type_scope.keys().map(|name| (name.clone(), None)));
        if let Some(notes) = &mut self.notes {
            notes.scope = scope;
        }
    }

    /// Notes what the name of a value stands for, if it is a variable.
    pub(super) fn note_global(&mut self, span: Span, name: &str) {
        self.note(span, |this| match this.env.values.get(name) {
            Some(Definition::Global { span, .. }) => Some(Referent::At(*span)),
            _ => None,
        });
    }
}
