//! Types of values, as an embedder sees them.

use felis_calculus::types::{self, TypeKind};
use num_traits::ToPrimitive;
use std::fmt;

/// The type of a value. Equal types are equal here; `Display` writes a type as the language does.
///
/// ```
/// let mut session = felis::Session::new();
/// let point = session.evaluate("(x=1.5, y=(1, 2, 3))")?.value()?;
/// let fields: Vec<String> = point.ty().fields().iter().map(|(name, ty)| format!("{name}: {ty}")).collect();
/// assert_eq!(fields, ["x: real", "y: int ^ 3"]);
/// assert_eq!(point.ty().fields()[1].1.shape(), [3]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Type(pub(super) types::Type);

impl Type {
    /// The extents of the axes of an array, the slowest first; empty for what is no array. The axes
    /// of arrays in an array follow its own.
    pub fn shape(&self) -> Vec<usize> {
        axes_and_element(&self.0).0
    }

    /// The type of an element of an array below all its axes; the type itself for what is no array.
    pub fn element(&self) -> Type {
        Type(axes_and_element(&self.0).1)
    }

    /// The named fields of a record or struct, in order; empty for others.
    pub fn fields(&self) -> Vec<(String, Type)> {
        let fields = self.0.named_parts().unwrap_or_default();
        fields.into_iter().map(|(name, ty)| (name.to_string(), Type(ty))).collect()
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Type({})", self.0)
    }
}

/// The extents of all axes of an array, and the type below them.
pub(super) fn axes_and_element(ty: &types::Type) -> (Vec<usize>, types::Type) {
    let (mut shape, mut ty) = (Vec::new(), ty.clone());
    while let TypeKind::Array(element, index) = ty.unfold().kind() {
        shape.extend(axes(index));
        ty = element.clone();
    }
    (shape, ty)
}

/// The extents of an index: one for each factor of a product. No value has an index whose size is
/// no `usize`, but one without elements.
fn axes(index: &types::Type) -> Vec<usize> {
    let size = |ty: &types::Type| ty.size().ok().and_then(|n| n.to_usize());
    let index = index.unfold();
    let factors = match index.kind() {
        TypeKind::CompactProduct(factors) => factors.iter().map(size).collect(),
        TypeKind::CompactPower(base, exponent) => match (size(base), size(exponent)) {
            (Some(base), Some(times)) if times <= MAX_AXES => Some(vec![base; times]),
            _ => None,
        },
        _ => None,
    };
    factors.unwrap_or_else(|| vec![size(&index).unwrap_or(0)])
}

/// The most factors of a compact power that count as axes.
const MAX_AXES: usize = 8;
