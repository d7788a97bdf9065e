//! Products with a first component and a rest: `A * ..R`, `N \* ..R`.
//!
//! `R` is a *list*: one component or more of a product, in order, which may be unknown. Its kind,
//! [`Kind::List`], determines which of the two products they are components of. A list is not a
//! type of values. [`TypeKind::Rest`] is the product of a list whose end is unknown; when the list
//! becomes known, the product is written out ([`Type::product_of`]). So `A * ..R` at `int` and
//! `real * string` is the flat `int * real * string`. These are the row-like sequence variables of
//! unification theory (T. Kutsia, *Solving equations with sequence variables*, 2007), restricted to
//! the last position.
//!
//! **Why lists, and not the product of the rest.** `A * (B * C)` and `A * B * C` are different
//! types. If `R` stood for the type of the rest, it would be `B * C` in both, and `A * ..R` would
//! have two meanings. A list of one component, `B * C`, and a list of two, `B` and `C`, are
//! different. So `A * ..R` determines `A` and `R`: unification and matching have one solution at
//! most. Alone, `R`, or `..R`, stands for the product of the list, which is the component if there
//! is one only. That is not injective: an equation with it is deferred until the list is known.
//!
//! **Storage.** A product of components and the pair of the first and the product of the rest have
//! the same slots in the same order, and compact products the same code. So `(a, ..r)` is a
//! reshape.
//!
//! A list for `\*` may be empty: an index type that is no product is one axis, and the rest is `1`.
//! A list for `*` has one component at least: only tuples match.

use super::{Kind, MAX_WRITTEN_COMPONENTS, Type, TypeKind, TypeVar, repeat_type};
use crate::hash::HashMap;

/// The product that lists are components of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ProductForm {
    /// `A * B`
    Tuple,
    /// `A \* B`
    Compact,
}

impl ProductForm {
    /// Returns the kind of the products, and of their components.
    pub fn kind(self) -> Kind {
        match self {
            ProductForm::Tuple => Kind::Type,
            ProductForm::Compact => Kind::Compact,
        }
    }

    /// Returns the form whose products are of this kind.
    pub fn of(kind: Kind) -> Option<ProductForm> {
        [ProductForm::Tuple, ProductForm::Compact].into_iter().find(|form| form.kind() == kind)
    }

    /// Returns the product of known components.
    pub fn product(self, components: Vec<Type>) -> Type {
        match self {
            ProductForm::Tuple => Type::product(components),
            ProductForm::Compact => Type::compact_product(components),
        }
    }
}

impl Type {
    /// Returns a list: these components and then those of another list.
    pub fn list(form: ProductForm, mut components: Vec<Type>, rest: Option<Type>) -> Type {
        match rest.as_ref().map(Type::kind) {
            Some(TypeKind::Error) => return Type::error(),
            Some(TypeKind::List(_, more, end)) => {
                components.extend(more.iter().cloned());
                let end = end.clone();
                return Type::list(form, components, end);
            }
            Some(_) if components.is_empty() => return rest.expect("matched as present"),
            _ => {}
        }
        match components.iter().any(Type::is_error) {
            true => Type::error(),
            false => Type::new(TypeKind::List(form, components, rest)),
        }
    }

    /// Returns the product of a list, written out if the list is known.
    pub fn product_of(list: Type) -> Type {
        match list.kind() {
            TypeKind::Error => list,
            TypeKind::List(form, components, None) => form.product(components.clone()),
            _ => Type::new(TypeKind::Rest(list)),
        }
    }

    /// Returns the product that a list belongs to.
    pub fn list_form(&self) -> Option<ProductForm> {
        match self.kind_of() {
            Kind::List(form) => Some(form),
            _ => None,
        }
    }

    /// Returns the list of components of a product, if it is one for all values of its variables:
    /// `A * B`, `T ^ 3`, `A \* B`, `A \^ 3`, and for `\*` also the types that are one axis.
    pub fn as_list(&self, form: ProductForm) -> Option<Type> {
        let written = match (form, self.kind()) {
            (ProductForm::Tuple, TypeKind::Product(parts))
            | (ProductForm::Compact, TypeKind::CompactProduct(parts)) => parts.clone(),
            (ProductForm::Tuple, TypeKind::Array(part, count))
            | (ProductForm::Compact, TypeKind::CompactPower(part, count)) => {
                repeat_type(part, count.as_unit_sum()?, MAX_WRITTEN_COMPONENTS)
                    .filter(|parts| parts.len() > 1)?
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

    /// Converts a written type to a list: the components of a product, or the type as the only
    /// component.
    pub fn into_list(self, form: ProductForm) -> Type {
        match self.kind() {
            TypeKind::Rest(list) if list.list_form() == Some(form) => list.clone(),
            _ => self.as_list(form).unwrap_or_else(|| Type::list(form, vec![self], None)),
        }
    }

    /// Returns the specificity of a product: the number of components written out, the maximum for
    /// all.
    pub fn written_components(&self) -> usize {
        match self.kind() {
            TypeKind::Rest(list) => match list.kind() {
                TypeKind::List(_, components, _) => components.len(),
                _ => 0,
            },
            _ => usize::MAX,
        }
    }

    /// Rewrites products of lists as pairs, `A * ..R` as `A * R` with a variable `R` for the
    /// product of the rest, which is naturally isomorphic for every list. Arguments of declared
    /// types and of type functions, and functions, may distinguish the two: there the whole product
    /// becomes a variable. What holds of the results, for all values of the variables, holds of the
    /// types.
    pub fn paired<const N: usize>(types: [&Type; N]) -> [Type; N] {
        let mut pairs = Pairs { whole: HashMap::default() };
        types.map(|ty| pairs.of(ty))
    }
}

/// The variables that replace whole products of lists.
struct Pairs {
    whole: HashMap<Type, Type>,
}

impl Pairs {
    /// Rewrites one type.
    fn of(&mut self, ty: &Type) -> Type {
        if !ty.has_rest() {
            return ty.clone();
        }
        let list = match ty.kind() {
            TypeKind::Rest(list) => list,
            TypeKind::Product(_)
            | TypeKind::Sum(_)
            | TypeKind::Repeat(..)
            | TypeKind::Array(..)
            | TypeKind::CompactProduct(_)
            | TypeKind::CompactSum(_)
            | TypeKind::CompactPower(..)
            | TypeKind::Record(_) => return ty.map_children(&mut |child| self.of(child)),
            _ => return ty.map_children(&mut |child| self.closed(child)),
        };
        let (form, mut parts, end) = match list.kind() {
            TypeKind::List(form, parts, Some(end)) => {
                (*form, parts.iter().map(|part| self.of(part)).collect::<Vec<_>>(), end)
            }
            _ => (list.list_form().unwrap_or(ProductForm::Tuple), Vec::new(), list),
        };
        let TypeKind::Var(var) = end.kind() else { return self.variable(ty) };
        parts.push(Type::var(TypeVar { kind: form.kind(), ..var.clone() }));
        form.product(parts)
    }

    /// Rewrites a position where a product and the pair of the same storage are distinguished.
    fn closed(&mut self, ty: &Type) -> Type {
        match ty.kind() {
            TypeKind::Rest(_) => self.variable(ty),
            _ if ty.has_rest() => ty.map_children(&mut |child| self.closed(child)),
            _ => ty.clone(),
        }
    }

    /// Returns the variable that replaces a whole product.
    fn variable(&mut self, ty: &Type) -> Type {
        let number = self.whole.len() as u32;
        let (kind, name) = (ty.kind_of(), ty.to_string().into());
        let variable = || Type::var(TypeVar { id: FIRST_PRODUCT_ID + number, name, kind });
        self.whole.entry(ty.clone()).or_insert_with(variable).clone()
    }
}

/// The number of the first variable for a whole product; variables of programs have smaller
/// numbers.
const FIRST_PRODUCT_ID: u32 = 1 << 31;
