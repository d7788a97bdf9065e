//! The first components of a product and the rest: `A * ..R`, `N \* ..R`.
//!
//! `R` is a *list*: one component or more of a product, in order, which need not be known. Its kind,
//! [`Kind::List`], says which of the two products they are components of. A list is no type of
//! values. [`TypeKind::Rest`] is the product of a list that is not known to its end; when it becomes
//! known the product is written out ([`Type::product_of`]). So `A * ..R` at `int` and `real * string`
//! is the flat `int * real * string`.
//!
//! **Why lists, and not the product of the rest.** `A * (B * C)` and `A * B * C` are different types.
//! If `R` stood for the type of the rest, it would be `B * C` in both, and `A * ..R` would have two
//! meanings. A list of one component, `B * C`, and a list of two, `B` and `C`, are different. So
//! `A * ..R` says what `A` and `R` are: unification and matching have one solution at most.
//! By itself `..R` stands for the product of the list, which is the component if there is one only.
//! That is not injective: an equation with it waits until the list is known.
//!
//! **Storage.** A product of components and the pair of the first and the product of the rest have the
//! same slots in the same order, and compact products the same code. So `(a, ..r)` is a reshape.
//!
//! A list for `\*` may be empty: an index type that is no product is one axis, and what is left is `1`.
//! A list for `*` has one component at least: no type but a tuple is one.

use super::{Kind, LONGEST_WRITTEN, Type, TypeKind, copies};

/// Which product lists are components of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ProductForm {
    /// `A * B`
    Tuple,
    /// `A \* B`
    Compact,
}

impl ProductForm {
    /// The kind of the products, and of their components.
    pub fn kind(self) -> Kind {
        match self {
            ProductForm::Tuple => Kind::Type,
            ProductForm::Compact => Kind::Compact,
        }
    }

    /// The form whose products are of this kind.
    pub fn of(kind: Kind) -> Option<ProductForm> {
        [ProductForm::Tuple, ProductForm::Compact].into_iter().find(|form| form.kind() == kind)
    }

    /// The product of components that are known.
    pub fn product(self, components: Vec<Type>) -> Type {
        match self {
            ProductForm::Tuple => Type::product(components),
            ProductForm::Compact => Type::compact_product(components),
        }
    }
}

impl Type {
    /// A list: these components and then those of another list.
    pub fn list(form: ProductForm, mut components: Vec<Type>, rest: Option<Type>) -> Type {
        match rest.as_ref().map(Type::kind) {
            Some(TypeKind::Error) => return Type::error(),
            Some(TypeKind::List(_, more, end)) => {
                components.extend(more.iter().cloned());
                let end = end.clone();
                return Type::list(form, components, end);
            }
            Some(_) if components.is_empty() => return rest.unwrap_or_else(Type::error),
            _ => {}
        }
        match components.iter().any(Type::is_error) {
            true => Type::error(),
            false => Type::new(TypeKind::List(form, components, rest)),
        }
    }

    /// The product of a list, written out if the list is known.
    pub fn product_of(list: Type) -> Type {
        match list.kind() {
            TypeKind::Error => list,
            TypeKind::List(form, components, None) => form.product(components.clone()),
            _ => Type::new(TypeKind::Rest(list)),
        }
    }

    /// Which product it is a list for.
    pub fn list_form(&self) -> Option<ProductForm> {
        match self.kind_of() {
            Kind::List(form) => Some(form),
            _ => None,
        }
    }

    /// The list that a product is of, if it is one whatever its variables stand for: `A * B`, `T ^ 3`,
    /// `A \* B`, `A \^ 3`, and for `\*` also the types that are one axis.
    pub fn as_list(&self, form: ProductForm) -> Option<Type> {
        let written = match (form, self.kind()) {
            (ProductForm::Tuple, TypeKind::Product(parts))
            | (ProductForm::Compact, TypeKind::CompactProduct(parts)) => parts.clone(),
            (ProductForm::Tuple, TypeKind::Array(part, count))
            | (ProductForm::Compact, TypeKind::CompactPower(part, count)) => {
                copies(part, count.as_unit_sum()?, LONGEST_WRITTEN).filter(|parts| parts.len() > 1)?
            }
            (ProductForm::Compact, TypeKind::UnitSum(_) | TypeKind::Nominal(..)) => vec![self.clone()],
            (_, TypeKind::Rest(list)) => {
                let whole = matches!(list.kind(), TypeKind::List(..)) && list.list_form() == Some(form);
                return whole.then(|| list.clone());
            }
            _ => return None,
        };
        Some(Type::list(form, written, None))
    }

    /// The list with one component, or the components of a product: what a written type is where a list
    /// is meant.
    pub fn into_list(self, form: ProductForm) -> Type {
        match self.kind() {
            TypeKind::Rest(list) if list.list_form() == Some(form) => list.clone(),
            _ => self.as_list(form).unwrap_or_else(|| Type::list(form, vec![self], None)),
        }
    }

    /// How specific a product is: more for more components that are written out, most for all.
    pub fn written_components(&self) -> usize {
        match self.kind() {
            TypeKind::Rest(list) => match list.kind() {
                TypeKind::List(_, components, _) => components.len(),
                _ => 0,
            },
            _ => usize::MAX,
        }
    }

    /// The type with what is known of products written as pairs: `A * ..R` as `A * R` with a variable
    /// `R` for the product of the rest. Naturally isomorphic to it, whatever the list is.
    pub fn paired(&self) -> Type {
        if !self.has_rest() {
            return self.clone();
        }
        let TypeKind::Rest(list) = self.kind() else {
            return self.map_children(&mut Type::paired);
        };
        let (form, mut parts, end) = match list.kind() {
            TypeKind::List(form, parts, Some(end)) => {
                (*form, parts.iter().map(Type::paired).collect(), end.clone())
            }
            _ => (list.list_form().unwrap_or(ProductForm::Tuple), Vec::new(), list.clone()),
        };
        if let TypeKind::Var(var) = end.kind() {
            let var = super::TypeVar { kind: form.kind(), ..var.clone() };
            parts.push(Type::var(var));
            return form.product(parts);
        }
        self.clone()
    }
}
