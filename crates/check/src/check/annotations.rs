//! Notes for editors, taken while a text is checked: the referent of each name, the types of
//! expressions, the names in scope at a cursor.
//!
//! Takes remarks of the checker; gives [`Annotations`]. Never decides anything: a text is checked
//! the same with notes and without. A checker without notes pays one comparison for each remark.

use crate::check::context::Checker;
use crate::check::env::{Callable, Definition, TypeDefinition};
use crate::check::solve::infer::Infer;
use crate::core::{FunctionId, Prim};
use crate::hash::{HashMap, HashSet};
use crate::source::{SourceId, Span};
use crate::syntax::ast::Name;
use crate::types::{Nominal, Type, TypeKind};
use std::sync::Arc;

/// The declaration that a name refers to.
#[derive(Clone, Debug, PartialEq)]
pub enum Referent {
    /// A declaration at this place: a variable, a function, a method, a class, a type parameter.
    At(Span),
    /// A declared type, by its number.
    Nominal(Nominal),
    /// A case of a variant.
    Case(Nominal, usize),
    /// A field of a struct.
    Field(Nominal, usize),
    /// A field of a record; no declaration exists for it.
    RecordField,
    /// A type, a kind or a member of a kind; the caller finds it by name among those of the text.
    Named,
    /// A type parameter, or a named size, by its number.
    Parameter(u32),
    /// A primitive.
    Prim(Prim),
}

/// The notes of one input and of the modules that it reads.
#[derive(Debug, Default)]
pub struct Annotations {
    /// The first text of interest, by number; remarks about texts numbered lower are discarded.
    first: u32,
    /// True if the types of expressions and variables are not recorded.
    names_only: bool,
    /// The place of a text at which the names in scope are recorded.
    cursor: Option<(SourceId, u32)>,
    /// The numbers of entries of `types` and of `variables` that are settled already: those of
    /// texts checked before.
    settled: (usize, usize),
    /// The names with their referents, as far as these are known. Of several notes for one place
    /// the last one holds.
    pub uses: Vec<(Span, Referent)>,
    /// The types of expressions.
    pub types: Vec<(Span, Type)>,
    /// The places in `types` that hold a written type instead of an expression.
    pub written: HashSet<Span>,
    /// The names that bind variables, with their types.
    pub variables: Vec<(Span, Type)>,
    /// The places of the declarations of declared types, by the number of the type.
    pub nominals: HashMap<u32, Span>,
    /// The places of the declarations of type parameters and sizes, by number and name.
    pub parameters: HashMap<(u32, Arc<str>), Span>,
    /// The names of the kinds of type parameters and sizes, by the places of their declarations.
    pub kinds: HashMap<Span, String>,
    /// The choices among functions of several scopes, one line each; `None` if they are not
    /// recorded.
    pub choices: Option<Vec<String>>,
    /// The variables and type parameters in scope at the cursor.
    pub scope: Vec<(Arc<str>, Option<Type>)>,
    /// The places of what would have been reported without an earlier report: if that goes, these
    /// are reported.
    pub suppressed: Vec<Span>,
    /// The places of the names of functions whose body a place outside of it depends on, although
    /// their type is written.
    pub unfolded: Vec<Span>,
    /// The places of values at the top level whose sizes are opened: the names of other sizes
    /// differ from those of these.
    pub opened: Vec<Span>,
    /// True if the rules of places apply, which concern all statements together.
    pub has_places: bool,
}

impl Annotations {
    /// Makes notes of the texts numbered from `first`, with the scope at the cursor if one is
    /// given.
    pub fn new(first: u32, cursor: Option<(SourceId, u32)>) -> Annotations {
        Annotations { first, cursor, ..Annotations::default() }
    }

    /// Makes notes of names alone, for the texts numbered from `first`.
    pub fn of_names(first: u32) -> Annotations {
        Annotations { first, names_only: true, ..Annotations::default() }
    }

    /// Makes notes of the choices among functions, for the texts numbered from `first`.
    pub fn of_choices(first: u32) -> Annotations {
        Annotations { first, names_only: true, choices: Some(Vec::new()), ..Annotations::default() }
    }

    /// Returns true if the choices made at this place are recorded.
    pub(super) fn wants_choices(&self, span: Span) -> bool {
        self.choices.is_some() && self.wants(span)
    }

    /// Returns true if the place is in a text of interest and is not empty.
    fn wants(&self, span: Span) -> bool {
        span.source.0 >= self.first && span.start < span.end
    }

    /// Replaces the holes in the noted types by their solutions. The types need no `Infer`
    /// afterward.
    pub(super) fn settle(&mut self, infer: &mut Infer) {
        let new = self.types.iter_mut().skip(self.settled.0);
        for (_, ty) in new.chain(self.variables.iter_mut().skip(self.settled.1)) {
            *ty = infer.zonk_with_defaults(ty);
        }
        self.settled = (self.types.len(), self.variables.len());
        for ty in self.scope.iter_mut().filter_map(|(_, ty)| ty.as_mut()) {
            *ty = infer.zonk_with_defaults(ty);
        }
    }
}

impl Checker<'_> {
    /// Notes that nothing is reported at a place because of an earlier report.
    pub(super) fn note_suppressed(&mut self, span: Span) {
        if let Some(notes) = &mut self.notes {
            notes.suppressed.push(span);
        }
    }

    /// Notes that a place depends on the body of a function.
    pub(super) fn note_unfolded(&mut self, function: FunctionId) {
        if let (Some(notes), Some(signature)) = (&mut self.notes, self.env.signatures.get(&function)) {
            notes.unfolded.push(signature.span);
        }
    }

    /// Notes the referent of a name.
    pub(super) fn note(&mut self, span: Span, referent: impl FnOnce(&Self) -> Option<Referent>) {
        if self.notes.as_ref().is_some_and(|notes| notes.wants(span))
            && let Some(referent) = referent(self)
            && let Some(notes) = &mut self.notes
        {
            notes.uses.push((span, referent));
        }
    }

    /// Notes that a name refers to a callable.
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

    /// Notes a field of a value of this type, if the type is a struct or a record.
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

    /// Notes the place at which a type is declared.
    pub(super) fn note_type_declared(&mut self, name: &Name) {
        let Some(notes) = &mut self.notes else { return };
        if let Some(TypeDefinition::Nominal(nominal)) = self.env.types.get(&name.text) {
            notes.nominals.insert(nominal.id, name.span);
        }
    }

    /// Notes the place at which a type parameter or a size gets its name.
    pub(super) fn note_parameter(&mut self, name: &Name, ty: &Type) {
        let Some(notes) = &mut self.notes else { return };
        if let (true, TypeKind::Var(var)) = (notes.wants(name.span), ty.kind()) {
            notes.parameters.entry((var.id, name.text.clone())).or_insert(name.span);
            notes.kinds.insert(name.span, self.env.kind_name(var.kind.declared()));
            notes.uses.push((name.span, Referent::Parameter(var.id)));
        }
    }

    /// Notes the referent of a name in a type.
    pub(super) fn note_type_name(&mut self, name: &Name) {
        self.note(name.span, |this| {
            let known =
                this.item.type_scope.get(&name.text).or_else(|| match this.env.types.get(&name.text) {
                    Some(TypeDefinition::Size(size)) => Some(size),
                    _ => None,
                });
            Some(match known.map(Type::kind) {
                Some(TypeKind::Var(var)) => Referent::Parameter(var.id),
                _ => Referent::Named,
            })
        });
        self.note_scope(name.span);
    }

    /// Notes the type of an expression.
    pub(super) fn note_expr(&mut self, span: Span, ty: &Type) {
        let Some(notes) = &mut self.notes else { return };
        if notes.wants(span) && !notes.names_only {
            notes.types.push((span, ty.clone()));
        }
    }

    /// Notes that a type, not an expression, is written at this place.
    pub(super) fn note_written(&mut self, span: Span) {
        if let Some(notes) = &mut self.notes {
            notes.written.insert(span);
        }
    }

    /// Notes the names in scope, if the cursor is at the end of this place.
    pub(super) fn note_scope(&mut self, span: Span) {
        let Some(notes) = &self.notes else { return };
        if notes.cursor != Some((span.source, span.end)) || !notes.scope.is_empty() {
            return;
        }
        let mut scope: Vec<(Arc<str>, Option<Type>)> = Vec::new();
        for frame in self.item.frames.iter().rev() {
            for (name, binding) in frame.scopes.iter().rev().flatten() {
                // Variables that the checker makes begin with a blank: no text can write them.
                if !name.starts_with(' ') && !scope.iter().any(|(known, _)| known == name) {
                    scope.push((name.clone(), Some(frame.locals[binding.local.index()].ty.clone())));
                }
            }
        }
        scope.extend(self.item.type_scope.keys().map(|name| (name.clone(), None)));
        if let Some(notes) = &mut self.notes {
            notes.scope = scope;
        }
    }

    /// Notes the referent of the name of a value, if it is a session variable.
    pub(super) fn note_global(&mut self, span: Span, name: &str) {
        self.note(span, |this| match this.env.values.get(name) {
            Some(Definition::Global { span, .. }) => Some(Referent::At(*span)),
            _ => None,
        });
    }
}
