//! Products with a rest in written types: `A * ..R`, `N \* ..R` ([`crate::types::rest`]).

use crate::check::context::Checker;
use crate::check::elaborate::rest::Part;
use crate::check::error::RestError;
use crate::syntax::ast::{Name, TypeExpr, TypeExprKind};
use crate::types::{Kind, MAX_WRITTEN_COMPONENTS, ProductForm, Type, TypeKind};

impl Checker<'_> {
    /// The list that a name after `..` means in a type.
    pub(in crate::check) fn list_named(&mut self, name: &Name, form: Option<ProductForm>) -> Option<Type> {
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

    /// `..R` by itself: the product of the list.
    pub(in crate::check) fn lower_rest(&mut self, name: &Name) -> Type {
        self.list_named(name, None).map_or_else(Type::error, Type::product_of)
    }

    /// `A * B * ..R`, where `read` gives the types of the components and the list that the last
    /// part names; nothing where it has reported a mistake.
    pub(in crate::check) fn lower_spread(
        &mut self,
        form: ProductForm,
        parts: &[TypeExpr],
        read: &mut dyn FnMut(&mut Self, Part<'_>) -> Option<Type>,
    ) -> Type {
        let (last, first) = match parts.split_last() {
            Some((TypeExpr { kind: TypeExprKind::Rest(name), .. }, first)) => (Some(name), first),
            _ => (None, parts),
        };
        let mut misplaced = false;
        let mut types = Vec::with_capacity(first.len());
        for part in first {
            if let TypeExprKind::Rest(name) = &part.kind {
                let (span, what) = (part.span, name.text.to_string());
                self.report(RestError::NotLast { span, what });
                misplaced = true;
                continue;
            }
            types.push(read(self, Part::Component(part)).unwrap_or_else(Type::error));
        }
        if misplaced {
            return Type::error();
        }
        match last {
            None => form.product(types),
            Some(name) => match read(self, Part::Rest(name)) {
                Some(list) => Type::product_of(Type::list(form, types, Some(list))),
                None => Type::error(),
            },
        }
    }

    /// The kind of a type parameter of which the header says `..R`.
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

/// Why a type has no first component and a rest, if it looks as if it had.
pub(in crate::check) fn why_no_list(form: ProductForm, ty: &Type) -> Option<String> {
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
