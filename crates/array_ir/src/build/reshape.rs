//! Reshapes: the same storage at another type, as views, indices and nested maps.
//!
//! Two lists of digits with one product number the same slots in order. They are cut into the
//! shortest groups with equal products; within a group the slots are numbered by one number, which
//! the digits of the one type make ([`DigitExpr::Join`]) and those of the other are digits of
//! ([`DigitExpr::Split`]). Products are compared as polynomials.

use super::{Builder, Declined, Result};
use crate::array_ir::{DigitExpr, Op, Size, Space, Type, Value};
use crate::types::Type as CoreType;

impl Builder<'_> {
    /// A value at another type of the same storage.
    pub(super) fn reshape(&mut self, value: Value, to: &CoreType) -> Result<Value> {
        let (from, wanted) = (self.types[&value].clone(), self.ty(to)?);
        if from == wanted {
            return Ok(value);
        }
        let is_compact = |ty: &Type| matches!(ty, Type::Index(_)) || *ty == Type::B1 || *ty == Type::unit();
        if is_compact(&from) && is_compact(&wanted) {
            let digits = self.digits(value)?;
            let space = self.space(to)?;
            let digits = regroup(&digits, &sizes(&space)?).ok_or(Declined::Reshape)?;
            return self.compact(to, digits);
        }
        match (&from, &wanted) {
            (Type::Array(..), _) | (_, Type::Array(..)) => self.reshape_array(value, wanted),
            _ => Err(Declined::Reshape.into()),
        }
    }

    /// An array, or what is stored like one, at another type of the same storage.
    pub(super) fn reshape_array(&mut self, value: Value, wanted: Type) -> Result<Value> {
        let from = self.types[&value].clone();
        let ((source, leaf), (target, other)) = (levels(&from), levels(&wanted));
        if leaf != other {
            return Err(Declined::Reshape.into());
        }
        if let ([of], [to]) = (&source[..], &target[..]) {
            let digits: Vec<(DigitExpr, Size)> = (0..).map(DigitExpr::Target).zip(sizes(to)?).collect();
            let digits = regroup(&digits, &sizes(of)?).ok_or(Declined::Reshape)?;
            return self.define(wanted.clone(), Op::View(to.clone(), value, digits));
        }
        self.nested(value, &source, &target, &wanted, Vec::new())
    }

    /// The rest of the levels of an array inside those whose digits are known.
    fn nested(
        &mut self,
        value: Value,
        source: &[Space],
        target: &[Space],
        wanted: &Type,
        outer: Vec<(DigitExpr, Size)>,
    ) -> Result<Value> {
        let (Some((space, rest)), Type::Array(_, element)) = (target.split_first(), wanted) else {
            let mut all = Vec::new();
            for space in source {
                all.extend(sizes(space)?);
            }
            let mut digits = regroup(&outer, &all).ok_or(Declined::Reshape)?.into_iter();
            let mut value = value;
            for space in source {
                let own = digits.by_ref().take(space.digits.len()).collect();
                let at = self.define(Type::Index(space.clone()), Op::At(space.clone(), own))?;
                value = self.element_at(value, at)?;
            }
            return Ok(value);
        };
        let own = sizes(space)?;
        let body = self.block(vec![Type::Index(space.clone())], |this, params| {
            let mut outer = outer;
            outer.extend((0..).map(|at| DigitExpr::Of(params[0], at)).zip(own));
            this.nested(value, source, rest, element, outer)
        })?;
        self.define(wanted.clone(), Op::Map(body))
    }
}

/// The spaces of arrays of arrays from outside, and the type inside.
fn levels(ty: &Type) -> (Vec<Space>, &Type) {
    let (mut spaces, mut ty) = (Vec::new(), ty);
    while let Type::Array(space, element) = ty {
        spaces.push(space.clone());
        ty = element;
    }
    (spaces, ty)
}

/// The sizes of the digits of a space.
pub(super) fn sizes(space: &Space) -> Result<Vec<Size>> {
    space.digits.iter().map(|digit| digit.size().ok_or(Declined::Size.into())).collect()
}

fn product<'s>(mut sizes: impl Iterator<Item = &'s Size>) -> Option<Size> {
    sizes.try_fold(Size::constant(1), |product, size| product.mul(size))
}

/// Digits of the sizes `to` that number what `digits` number; `None` if that is not known to be the
/// same.
pub(super) fn regroup(digits: &[(DigitExpr, Size)], to: &[Size]) -> Option<Vec<DigitExpr>> {
    let (mut rest, mut wanted, mut made) = (digits, to, Vec::new());
    while !(rest.is_empty() && wanted.is_empty()) {
        let (p, q) = shortest_group(rest, wanted)?;
        let (group, after) = rest.split_at(p);
        let (sizes, others) = wanted.split_at(q);
        let number = match group {
            [] => DigitExpr::Constant(Size::constant(0)),
            [(digit, _)] => digit.clone(),
            group => DigitExpr::Join(group.to_vec()),
        };
        match sizes {
            [_] => made.push(number),
            sizes => made.extend((0..sizes.len() as u32).map(|digit| DigitExpr::Split {
                of: Box::new(number.clone()),
                sizes: sizes.to_vec(),
                digit,
            })),
        }
        (rest, wanted) = (after, others);
    }
    Some(made)
}

/// The shortest beginnings of two lists with equal products, not both empty.
fn shortest_group(digits: &[(DigitExpr, Size)], to: &[Size]) -> Option<(usize, usize)> {
    for length in 1..=digits.len() + to.len() {
        for p in 0..=length.min(digits.len()) {
            let q = length - p;
            if q > to.len() {
                continue;
            }
            let left = product(digits[..p].iter().map(|(_, size)| size))?;
            if Some(left) == product(to[..q].iter()) {
                return Some((p, q));
            }
        }
    }
    None
}
