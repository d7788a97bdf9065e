//! Queries of an index about a position: the name there, its uses, inferred types.
//!
//! Takes positions as bytes of the text; gives declarations, uses, and types as text. Checks
//! nothing.

use super::index::{Index, Target, Use};
use crate::session::is_primitive;
use crate::session::outline::{Declaration, DeclarationKind};
use felis_base::source::{SourceId, Span};
use felis_calculus::types::{Kind, Type, TypeKind};

/// An inferred type to be shown in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hint {
    /// The byte of the text after which it is shown.
    pub at: usize,
    /// The type.
    pub ty: String,
}

/// The class of a name, for colors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameClass {
    /// A variable that may change.
    Variable,
    /// Any other variable.
    Value,
    /// A function or procedure.
    Function,
    /// A type.
    Type,
    /// A struct.
    Struct,
    /// A type parameter, or a named size.
    TypeParameter,
    /// A case of a variant, or a member of a kind.
    Case,
    /// A field.
    Field,
    /// A class, or a kind.
    Class,
    /// A method of a class.
    Method,
    /// A module.
    Module,
}

impl Index {
    /// Returns the text itself.
    pub fn text(&self) -> &str {
        &self.sources.get(self.root).expect("an index keeps its text").text
    }

    /// Returns the name at a byte of the text, or ending there.
    pub fn use_at(&self, at: usize) -> Option<Use> {
        let own = self.uses_of(self.root);
        let touching =
            own.iter().filter(|found| found.span.start as usize <= at && at <= found.span.end as usize);
        // Between two adjacent names, the second is chosen.
        touching.max_by_key(|found| found.span).copied()
    }

    /// Returns the names of a text, in order.
    pub fn uses_of(&self, source: SourceId) -> &[Use] {
        let from = self.uses.partition_point(|found| found.span.source < source);
        let to = self.uses.partition_point(|found| found.span.source <= source);
        &self.uses[from..to]
    }

    /// Returns the spans at which a target is named, in all texts, its declaration included.
    pub fn uses_for(&self, target: Target) -> impl Iterator<Item = Span> {
        self.uses.iter().filter(move |found| found.target == target).map(|found| found.span)
    }

    /// Returns the innermost expression or written type at a byte of the text, with its type.
    pub fn type_at(&self, at: usize) -> Option<(Span, &Type)> {
        let from = self.types.partition_point(|(span, _)| span.source < self.root);
        let own = self.types[from..].iter().take_while(|(span, _)| span.source == self.root);
        let around =
            own.filter(|(span, ty)| span.start as usize <= at && at <= span.end as usize && !ty.is_error());
        let mut best: Option<(Span, &Type)> = None;
        for (span, ty) in around {
            let length = |span: Span| span.end - span.start;
            if best.is_none_or(|(known, _)| length(*span) <= length(known)) {
                best = Some((*span, ty));
            }
        }
        best
    }

    /// Returns the type of the expression that ends at a byte of the text, apart from parentheses
    /// around it.
    pub(super) fn type_before(&self, end: usize) -> Option<&Type> {
        let text = self.text();
        let own = self.types.iter().filter(|(span, ty)| span.source == self.root && !ty.is_error());
        let ends = own.filter(|(span, _)| {
            let between = text.get(span.end as usize..end);
            between.is_some_and(|between| between.chars().all(|c| c == ')' || c.is_whitespace()))
        });
        let widest = ends.max_by_key(|(span, _)| (span.end, std::cmp::Reverse(span.start)));
        widest.map(|(_, ty)| ty)
    }

    /// Returns the type of a declaration, where it has one that is no error.
    pub fn type_of_declaration(&self, declaration: &Declaration) -> Option<String> {
        if let Some(ty) = self.variables.get(&declaration.name_span) {
            return (!ty.is_error()).then(|| ty.to_string());
        }
        let scheme = self.signatures.get(&declaration.name_span)?;
        let ty = scheme.ty();
        (!ty.is_error()).then(|| ty.to_string())
    }

    /// Returns the inferred types that are not written: those of variables, and of results of
    /// functions.
    pub fn type_hints(&self) -> Vec<Hint> {
        let text = self.text();
        let mut hints = Vec::new();
        for (span, ty) in self.variables.iter().filter(|(span, _)| span.source == self.root) {
            let after = text[span.end as usize..].trim_start();
            // A type is written after a colon; the type of a loop variable is evident from the
            // range.
            let bound = after.starts_with(['=', ',', ')', '|']) || after.starts_with("\\,");
            let named = self.sources.slice(*span).starts_with(|c: char| c.is_alphabetic() || c == '_');
            if bound && named && !ty.is_error() && !after.starts_with("==") && !self.has_written_type(*span) {
                hints.push(Hint { at: span.end as usize, ty: ty.to_string() });
            }
        }
        for declaration in self.declarations() {
            if matches!(declaration.kind, DeclarationKind::Function)
                && !declaration.typed
                && let Some(result) = self.inferred_result(declaration)
                && let Some(last) = declaration.params.iter().flatten().last()
                && let Some(close) = text.get(last.end as usize..).and_then(|rest| rest.find(')'))
            {
                hints.push(Hint { at: last.end as usize + close + 1, ty: result.to_string() });
            }
        }
        hints.sort_by_key(|hint| hint.at);
        hints
    }

    /// Returns true if a name is bound by a pattern with a written type.
    fn has_written_type(&self, span: Span) -> bool {
        self.declaration(span).is_some_and(|declaration| declaration.typed && declaration.name_span == span)
    }

    /// Returns the class of a name.
    pub fn class_of(&self, found: Use) -> NameClass {
        use DeclarationKind as K;
        let declared = match found.target {
            Target::Module(_) => return NameClass::Module,
            Target::BuiltIn => {
                let name = self.sources.slice(found.span);
                let prim = is_primitive(name);
                let kind = Kind::from_name(name).is_some();
                return match (prim, kind) {
                    (true, _) => NameClass::Function,
                    (_, true) => NameClass::Class,
                    _ => NameClass::Type,
                };
            }
            Target::Declared(declared) => declared,
        };
        if self.kinds.contains_key(&declared) {
            return NameClass::TypeParameter;
        }
        match self.declaration(declared).map(|declaration| declaration.kind) {
            Some(K::Function | K::Procedure) => NameClass::Function,
            Some(K::Variable) => NameClass::Variable,
            Some(K::Type | K::TypeFunction | K::Variant) => NameClass::Type,
            Some(K::Struct) => NameClass::Struct,
            Some(K::Case | K::Member) => NameClass::Case,
            Some(K::Field) => NameClass::Field,
            Some(K::Class | K::Kind | K::Instance) => NameClass::Class,
            Some(K::Method | K::Law) => NameClass::Method,
            Some(K::Import) => NameClass::Module,
            Some(K::Value | K::Test) => NameClass::Value,
            None => match self.variables.get(&declared).map(Type::kind) {
                Some(TypeKind::Function(..) | TypeKind::Procedure(_)) => NameClass::Function,
                Some(_) => NameClass::Value,
                // The alias that an import gives to a module.
                None => NameClass::Module,
            },
        }
    }
}
