//! Axes of index types, compared by their names.

use super::{ProductForm, Type, TypeKind};

/// The relation of the axes of two index types, each of which has a name and occurs once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Alignment {
    /// The same axes in the same order.
    Same,
    /// The same axes in another order.
    Permuted,
    /// The first has all axes of the second, in their order, and more.
    Contains,
    /// The second has all axes of the first, in their order, and more.
    ContainedIn,
    /// All axes of both, where each has one that the other lacks, or the order differs.
    Union(Type),
}

impl Alignment {
    /// Compares the axes of two index types. `None` if an axis has no name, being neither a
    /// declared type nor a variable, or occurs twice in one of them.
    pub fn of(a: &Type, b: &Type) -> Option<Alignment> {
        let (xs, ys) = (named_axes(a)?, named_axes(b)?);
        if xs == ys {
            return Some(Alignment::Same);
        }
        // The places of the axes of one among those of the other, if all occur there.
        let places = |of: &[Type], among: &[Type]| -> Option<Vec<usize>> {
            of.iter().map(|axis| among.iter().position(|other| other == axis)).collect()
        };
        let in_order = |places: &Option<Vec<usize>>| {
            places.as_ref().is_some_and(|places| places.windows(2).all(|pair| pair[0] < pair[1]))
        };
        let (forward, backward) = (places(&xs, &ys), places(&ys, &xs));
        Some(match (&forward, &backward) {
            (Some(_), Some(_)) => Alignment::Permuted,
            _ if in_order(&backward) => Alignment::Contains,
            _ if in_order(&forward) => Alignment::ContainedIn,
            _ => {
                let more = ys.iter().filter(|axis| !xs.contains(axis)).cloned();
                let all = xs.iter().cloned().chain(more).collect();
                Alignment::Union(Type::index_of(all))
            }
        })
    }
}

impl Type {
    /// Returns the index type of these axes, their compact product.
    pub fn index_of(axes: Vec<Type>) -> Type {
        Type::product_of(Type::list(ProductForm::Compact, axes, None))
    }

    /// Returns the product of the index types of an array and of the arrays in it, in storage
    /// order: `J \* I` of `int ^ I ^ J`. `None` of a type that is no array.
    pub fn nested_index(&self) -> Option<Type> {
        let (mut axes, mut next) = (Vec::new(), self);
        while let TypeKind::Array(element, index) = next.kind() {
            axes.extend(index.axes());
            next = element;
        }
        (!axes.is_empty()).then(|| Type::index_of(axes))
    }
}

/// Returns the axes of an index type if each has a name and occurs once.
fn named_axes(index: &Type) -> Option<Vec<Type>> {
    let axes = index.axes();
    let named = |axis: &Type| matches!(axis.kind(), TypeKind::Nominal(..) | TypeKind::Var(_));
    let once = |(at, axis): (usize, &Type)| !axes[..at].contains(axis);
    (axes.iter().all(named) && axes.iter().enumerate().all(once)).then_some(axes)
}
