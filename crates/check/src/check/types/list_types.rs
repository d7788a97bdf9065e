//! Products with a rest in written types: `A * ..R`, `N \* ..R` ([`crate::types::rest`]).

use crate::check::context::Checker;
use crate::check::error::RestError;
use crate::syntax::ast::{Name, TypeExpr, TypeExprKind};
use crate::types::{Kind, MAX_WRITTEN_COMPONENTS, ProductForm, Type, TypeKind};

/// A part of a written product type.
pub(in crate::check) enum Part<'t> {
    /// A component.
    Component(&'t TypeExpr),
    /// The name of the list of the remaining components.
    Rest(&'t Name),
}

impl Checker<'_> {
    /// Returns the list that a name after `..` denotes in a type; `None` after a report. With a
    /// `form`, the list must have that form.
    pub(in crate::check) fn lookup_list(&mut self, name: &Name, form: Option<ProductForm>) -> Option<Type> {
        let found = self.item.type_scope.get(&name.text).cloned();
        self.note_type_name(name);
        if let Some(TypeKind::Var(var)) = found.as_ref().map(Type::kind) {
            self.item.mentioned.insert(var.id);
        }
        let list = found.filter(|ty| ty.is_error() || ty.list_form().is_some());
        let (span, text) = (name.span, name.text.to_string());
        match list {
            None => self.report(RestError::NoList { span, name: text }),
            Some(list) if list.is_error() => {}
            Some(list) => {
                let own = list.list_form();
                if form.is_none() || own == form {
                    return Some(list);
                }
                self.report(RestError::Form { span, name: text, compact: own == Some(ProductForm::Tuple) });
            }
        }
        None
    }

    /// Lowers `..R` by itself to the product of the list.
    pub(in crate::check) fn lower_rest(&mut self, name: &Name) -> Type {
        self.lookup_list(name, None).map_or_else(Type::error, Type::product_of)
    }

    /// Lowers `A * B * ..R`. `read` returns the types of the components and the list of the last
    /// part, or `None` after it has reported a mistake.
    pub(in crate::check) fn lower_spread(
        &mut self,
        form: ProductForm,
        spliced: bool,
        parts: &[TypeExpr],
        read: &mut dyn FnMut(&mut Self, Part<'_>) -> Option<Type>,
    ) -> Type {
        let mut misplaced = false;
        let mut lists = false;
        let mut types = Vec::with_capacity(parts.len());
        for (at, part) in parts.iter().enumerate() {
            let ty = match &part.kind {
                TypeExprKind::Rest(name) if at + 1 < parts.len() && !spliced => {
                    let (span, what) = (part.span, name.text.to_string());
                    self.report(RestError::NotLast { span, what });
                    misplaced = true;
                    None
                }
                TypeExprKind::Rest(name) => {
                    lists = true;
                    read(self, Part::Rest(name))
                }
                _ => read(self, Part::Component(part)),
            };
            types.push(ty.unwrap_or_else(Type::error));
        }
        match lists {
            _ if misplaced => Type::error(),
            true => Type::product_of(Type::list(form, types, None)),
            false => form.product(types),
        }
    }

    /// Returns the kind of a type parameter written `..R` in a header.
    pub(in crate::check) fn list_kind(&mut self, name: &Name, kind: Kind) -> Kind {
        match ProductForm::of(kind) {
            Some(form) => Kind::List(form),
            None => {
                let (span, kind) = (name.span, self.env.kind_name(kind));
                self.report(RestError::Kind { span, name: name.text.to_string(), kind });
                Kind::List(ProductForm::Tuple)
            }
        }
    }
}

/// Returns the reason why a type has no first component and rest, if it resembles a type that has
/// them.
pub(in crate::check) fn no_list_reason(form: ProductForm, ty: &Type) -> Option<String> {
    match (form, ty.kind()) {
        (ProductForm::Tuple, TypeKind::Array(_, count)) if count.as_unit_sum().is_some() => Some(format!(
            "an array is a tuple of a first component and a rest from 2 to {MAX_WRITTEN_COMPONENTS} elements"
        )),
        (ProductForm::Tuple, TypeKind::Array(..)) => {
            Some("how many components an array has is known where its length is a number".to_string())
        }
        (ProductForm::Compact, TypeKind::Var(var)) => Some(format!(
            "a variable `{}` may be a product of axes or none: write `N \\* ..R` for it in the header",
            var.name
        )),
        (ProductForm::Compact, TypeKind::CompactPower(..)) => {
            Some("how many factors a power has is known where its exponent is a number".to_string())
        }
        _ => None,
    }
}
