//! Products with a first component and a rest: `A * ..R`, `N \* ..R`; index types with an axis
//! at any position: `..L \* K \* ..R`.
//!
//! `R` is a *list*: one component or more of a product, in order, which may be unknown. Its kind,
//! [`Kind::List`], determines which of the two products they are components of. A list is not a
//! type of values. [`TypeKind::Rest`] is the product of a list whose end is unknown; when the list
//! becomes known, the product is written out ([`Type::product_of`]). So `A * ..R` at `int` and
//! `real * string` is the flat `int * real * string`. These are the row-like sequence variables of
//! unification theory (T. Kutsia, *Solving equations with sequence variables*, 2007), restricted to
//! the last position.
//!
//! **Lists instead of the product of the rest.** `A * (B * C)` and `A * B * C` are different types.
//! If `R` stood for the type of the rest, it would be `B * C` in both, and `A * ..R` would have two
//! meanings. A list of one component, `B * C`, and a list of two, `B` and `C`, are different. So
//! `A * ..R` determines `A` and `R`: unification and matching have one solution at most.
//!
//! **Axes.** A product of `\*` may have several lists, `..L \* K \* ..R`. Its components are then
//! found in an index type by name ([`Type::axes`], `check/solve/axes.rs`), and each list is the
//! part between two of them. Lists before the last are components of [`TypeKind::List`] whose kind
//! is [`Kind::List`] (splices). A known list is spliced in, so a splice is always a variable or a
//! hole.
//!
//! **Alone.** By itself, `R`, or `..R`, stands for the product of the list, which is the component
//! if there is only one. That is not injective: an equation with it is deferred until the list is
//! known.
//!
//! **Storage.** A product of components and the pair of the first and the product of the rest have
//! the same slots in the same order, and compact products the same code. So `(a, ..r)` is a
//! reshape.
//!
//! A list for `\*` may be empty: an index type that is no product is one axis, and the rest is `1`.
//! A list for `*` has one component at least: only tuples match.

use super::variable_numbers::WHOLE_PRODUCTS;
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
        if components.iter().any(Type::is_error) {
            return Type::error();
        }
        if let Some(at) = components.iter().position(|part| matches!(part.kind(), TypeKind::List(..))) {
            let mut spliced = components[..at].to_vec();
            if let TypeKind::List(_, more, end) = components[at].kind() {
                spliced.extend(more.iter().chain(end).cloned());
            }
            spliced.extend_from_slice(&components[at + 1..]);
            return Type::list(form, spliced, rest);
        }
        if rest.is_none() && components.last().is_some_and(|last| last.list_form().is_some()) {
            let rest = components.pop();
            return Type::list(form, components, rest);
        }
        Type::new(TypeKind::List(form, components, rest))
    }

    /// Returns the components of a list that come before its first splice, and the list of those
    /// that follow, if there is one. `None` if the type is no list written out.
    pub fn list_prefix(&self) -> Option<(&[Type], Option<Type>)> {
        let TypeKind::List(form, parts, end) = self.kind() else { return None };
        match parts.iter().position(|part| part.list_form().is_some()) {
            None => Some((parts, end.clone())),
            Some(at) => Some((&parts[..at], Some(Type::list(*form, parts[at..].to_vec(), end.clone())))),
        }
    }

    /// Returns true for a list with a splice before its end, as in `..L \* K \* ..R`, and for the
    /// product of one.
    pub fn is_spliced(&self) -> bool {
        match self.kind() {
            TypeKind::Rest(list) => list.is_spliced(),
            TypeKind::List(_, parts, _) => parts.iter().any(|part| part.list_form().is_some()),
            _ => false,
        }
    }

    /// Returns true if a product with a splice before its end occurs in the type.
    pub fn has_spliced(&self) -> bool {
        let mut found = self.is_spliced();
        if self.has_rest() {
            self.kind().for_each_child(&mut |child| found = found || child.has_spliced());
        }
        found
    }

    /// Returns the axes of an index type in order: the factors of its product, of products among
    /// them too, and the variables of lists. A type that is no product is one axis.
    pub fn axes(&self) -> Vec<Type> {
        let mut axes = Vec::new();
        self.collect_axes(&mut axes);
        axes
    }

    /// Returns the type with the index types of its arrays as products without products among their
    /// factors.
    pub fn with_flat_indices(&self) -> Type {
        match self.kind() {
            TypeKind::Array(element, index) => {
                let axes = Type::list(ProductForm::Compact, index.axes(), None);
                Type::array(element.with_flat_indices(), Type::product_of(axes))
            }
            TypeKind::Product(_) | TypeKind::Record(_) => self.map_children(&mut Type::with_flat_indices),
            _ => self.clone(),
        }
    }

    fn collect_axes(&self, axes: &mut Vec<Type>) {
        match self.kind() {
            TypeKind::CompactProduct(parts) => parts.iter().for_each(|part| part.collect_axes(axes)),
            TypeKind::CompactPower(part, count) => {
                let parts = count.as_unit_sum().and_then(|n| repeat_type(part, n, MAX_WRITTEN_COMPONENTS));
                match parts {
                    Some(parts) => parts.iter().for_each(|part| part.collect_axes(axes)),
                    None => axes.push(self.clone()),
                }
            }
            TypeKind::Rest(list) => match list.kind() {
                TypeKind::List(_, parts, end) => {
                    parts.iter().chain(end).for_each(|part| match part.list_form() {
                        Some(_) => axes.push(part.clone()),
                        None => part.collect_axes(axes),
                    })
                }
                _ => axes.push(list.clone()),
            },
            _ => axes.push(self.clone()),
        }
    }

    /// Returns the product of a list, written out if the list is known.
    pub fn product_of(list: Type) -> Type {
        match list.kind() {
            TypeKind::Error => list,
            TypeKind::List(form, components, None) if !list.is_spliced() => form.product(components.clone()),
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
    pub fn rests_as_pairs<const N: usize>(types: [&Type; N]) -> [Type; N] {
        let mut pairs = Pairs { whole: HashMap::default() };
        types.map(|ty| pairs.of(ty))
    }
}

/// The variables that replace whole products of lists.
struct Pairs {
    /// The variables, by the product.
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
        let (form, parts) = match list.kind() {
            TypeKind::List(form, parts, end) => (*form, parts.iter().chain(end).collect()),
            _ => (list.list_form().unwrap_or(ProductForm::Tuple), vec![list]),
        };
        let pair: Option<Vec<Type>> = parts
            .into_iter()
            .map(|part| match (part.list_form(), part.kind()) {
                (None, _) => Some(self.of(part)),
                (Some(_), TypeKind::Var(var)) => {
                    Some(Type::var(TypeVar { kind: form.kind(), ..var.clone() }))
                }
                _ => None,
            })
            .collect();
        pair.map_or_else(|| self.variable(ty), |pair| form.product(pair))
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
        let id = WHOLE_PRODUCTS.nth(self.whole.len());
        let (kind, name) = (ty.kind_of(), ty.to_string().into());
        let variable = || Type::var(TypeVar { id, name, kind });
        self.whole.entry(ty.clone()).or_insert_with(variable).clone()
    }
}
