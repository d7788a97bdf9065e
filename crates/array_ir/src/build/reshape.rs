//! Reshapes: the same storage at another type, as views, indices and nested maps; tuples of arrays
//! and arrays over sums by way of one array of all leaves, where they are of one type.
//!
//! Two lists of digits with one product number the same slots in order. They are cut into the
//! shortest groups with equal products; within a group the slots are numbered by one number, which
//! the digits of the one type make ([`DigitExpr::Join`]) and those of the other are digits of
//! ([`DigitExpr::Split`]). Products are compared as polynomials.

use super::{Builder, Declined, Result};
use crate::array_ir::{Digit, DigitExpr, Op, Size, Space, Type, Value};
use crate::types::Type as CoreType;

impl Builder<'_> {
    /// A value at another type of the same storage.
    pub(super) fn reshape(&mut self, value: Value, to: &CoreType) -> Result<Value> {
        let (from, wanted) = (self.types[&value].clone(), self.ty(to)?);
        if from == wanted {
            return Ok(value);
        }
        // A struct of one field is stored like the field.
        match (&from, &wanted) {
            (_, Type::Tuple(parts)) if parts[..] == [from.clone()] => {
                return self.define(wanted, Op::Tuple(vec![value]));
            }
            (Type::Tuple(parts), _) if parts[..] == [wanted.clone()] => return self.component(value, 0),
            _ => {}
        }
        let is_compact = |ty: &Type| matches!(ty, Type::Index(_)) || *ty == Type::B1 || *ty == Type::unit();
        if is_compact(&from) && is_compact(&wanted) {
            let digits = self.digits(value)?;
            return self.compact_of_digits(to, &digits);
        }
        let ((_, leaf), (_, other)) = (levels(&from), levels(&wanted));
        if leaf == other && (!matches!(leaf, Type::Tuple(_)) || leaves(&from) == leaves(&wanted)) {
            return self.reshape_array(value, wanted);
        }
        if let (Type::Array(..), Type::Tuple(parts)) = (&from, &wanted)
            && let Some(pieces) = pieces(&from, parts)
        {
            return self.split_pieces(value, &pieces, &wanted);
        }
        if let (Type::Tuple(parts), Type::Array(..)) = (&from, &wanted)
            && let Some(pieces) = pieces(&wanted, parts)
        {
            return self.join_pieces(value, &pieces);
        }
        let (Some((leaf, count)), Some((other, wanted_count))) = (line(&from), line(&wanted)) else {
            return Err(Declined::Reshape.into());
        };
        if leaf != other || count != wanted_count {
            return Err(Declined::Reshape.into());
        }
        let line = self.flatten(value)?;
        self.unflatten(line, &Size::constant(0), &wanted)
    }

    /// The tuple of the pieces of an array over a sum, whose digits stay as they are.
    fn split_pieces(&mut self, array: Value, pieces: &[Type], wanted: &Type) -> Result<Value> {
        let Type::Tuple(parts) = wanted else { unreachable!("pieces are those of a tuple") };
        let (mut values, mut offset) = (Vec::new(), Size::constant(0));
        for (piece, part) in pieces.iter().zip(parts) {
            let Type::Array(space, _) = piece else { unreachable!("a piece is an array") };
            let first = Box::new(DigitExpr::Target(0));
            let mut digits = vec![DigitExpr::Affine { offset: offset.clone(), stride: 1, of: first }];
            digits.extend((1..space.digits.len() as u32).map(DigitExpr::Target));
            let own = self.define(piece.clone(), Op::View(space.clone(), array, digits))?;
            values.push(if piece == part { own } else { self.reshape_array(own, part.clone())? });
            offset = offset.add(&sizes(space)?[0]).ok_or(Declined::Size)?;
        }
        self.define(wanted.clone(), Op::Tuple(values))
    }

    /// The array over a sum of the components of a tuple.
    fn join_pieces(&mut self, tuple: Value, pieces: &[Type]) -> Result<Value> {
        let mut joined = None;
        for (at, piece) in (0..).zip(pieces) {
            let part = self.component(tuple, at)?;
            let part =
                if self.types[&part] == *piece { part } else { self.reshape_array(part, piece.clone())? };
            joined = Some(match joined {
                None => part,
                Some(line) => self.side_by_side(line, part)?,
            });
        }
        Ok(joined.expect("a sum has pieces"))
    }

    /// The leaves of a value of one type of leaves, in storage order, as an array over one digit.
    fn flatten(&mut self, value: Value) -> Result<Value> {
        let ty = self.types[&value].clone();
        let (leaf, count) = line(&ty).ok_or(Declined::Reshape)?;
        let whole = Type::array(Space::new([count]), leaf.clone());
        match &ty {
            Type::Array(space, element) if matches!(levels(element).1, Type::Tuple(_)) => {
                let (_, count) = line(element).ok_or(Declined::Reshape)?;
                let body = self.block(vec![Type::Index(space.clone())], |this, params| {
                    let element = this.element_at(value, params[0])?;
                    this.flatten(element)
                })?;
                let lines = Type::array(space.clone(), Type::array(Space::new([count]), leaf));
                let lines = self.define(lines, Op::Map(body))?;
                self.reshape_array(lines, whole)
            }
            Type::Array(..) => self.reshape_array(value, whole),
            Type::Tuple(parts) => {
                let mut line = None;
                for (at, part) in (0..).zip(parts) {
                    if *part == Type::unit() {
                        continue;
                    }
                    let part = self.component(value, at)?;
                    let part = self.flatten(part)?;
                    line = Some(match line {
                        None => part,
                        Some(line) => self.side_by_side(line, part)?,
                    });
                }
                // The digit has a piece for each part.
                self.reshape_array(line.ok_or(Declined::Reshape)?, whole)
            }
            leaf => self.define(whole, Op::Array(leaf.clone(), vec![value])),
        }
    }

    fn side_by_side(&mut self, a: Value, b: Value) -> Result<Value> {
        let (Type::Array(first, leaf), Type::Array(second, _)) = (&self.types[&a], &self.types[&b]) else {
            unreachable!("lines are arrays");
        };
        let pieces = first.digits[0].pieces.iter().chain(second.digits[0].pieces.iter()).cloned().collect();
        let digits = [Digit { pieces }].into_iter().chain(first.digits[1..].iter().cloned()).collect();
        let ty = Type::Array(Space { digits }, leaf.clone());
        self.define(ty, Op::Concat(a, b))
    }

    /// The value of a type whose leaves are those of an array over one digit from an offset on.
    fn unflatten(&mut self, array: Value, offset: &Size, wanted: &Type) -> Result<Value> {
        let Type::Array(space, leaf) = self.types[&array].clone() else {
            unreachable!("lines are arrays");
        };
        let part = |count: Size| -> (Type, Op) {
            let digit =
                DigitExpr::Affine { offset: offset.clone(), stride: 1, of: Box::new(DigitExpr::Target(0)) };
            let target = Space::new([count]);
            (Type::Array(target.clone(), leaf.clone()), Op::View(target, array, vec![digit]))
        };
        match wanted {
            Type::Array(outer, element) if matches!(levels(element).1, Type::Tuple(_)) => {
                let (_, count) = line(element).ok_or(Declined::Reshape)?;
                let (_, all) = line(wanted).ok_or(Declined::Reshape)?;
                let (ty, op) = part(all);
                let own = self.define(ty, op)?;
                let mut digits = outer.digits.clone();
                digits.push(Digit::new(count.clone()));
                let row = Type::Array(Space { digits }, leaf.clone());
                let rows = self.reshape_array(own, row)?;
                let body = self.block(vec![Type::Index(outer.clone())], |this, params| {
                    let mut digits: Vec<DigitExpr> =
                        (0..outer.digits.len() as u32).map(|at| DigitExpr::Of(params[0], at)).collect();
                    digits.push(DigitExpr::Target(0));
                    let target = Space::new([count]);
                    let ty = Type::Array(target.clone(), leaf.clone());
                    let line = this.define(ty, Op::View(target, rows, digits))?;
                    this.unflatten(line, &Size::constant(0), element)
                })?;
                self.define(wanted.clone(), Op::Map(body))
            }
            Type::Array(..) => {
                let (_, count) = line(wanted).ok_or(Declined::Reshape)?;
                let (ty, op) = part(count);
                let own = self.define(ty, op)?;
                self.reshape_array(own, wanted.clone())
            }
            Type::Tuple(parts) => {
                let (mut values, mut offset) = (Vec::new(), offset.clone());
                for part in parts {
                    if *part == Type::unit() {
                        values.push(self.unit()?);
                        continue;
                    }
                    values.push(self.unflatten(array, &offset, part)?);
                    let (_, count) = line(part).ok_or(Declined::Reshape)?;
                    offset = offset.add(&count).ok_or(Declined::Size)?;
                }
                self.define(wanted.clone(), Op::Tuple(values))
            }
            _ => {
                let digit = DigitExpr::Constant(offset.clone());
                let at = self.define(Type::Index(space.clone()), Op::At(space, vec![digit]))?;
                self.element_at(array, at)
            }
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

/// The number of the leaves inside the levels of an array; `None` beyond the bounds of sizes.
fn leaves(ty: &Type) -> Option<Size> {
    let (spaces, _) = levels(ty);
    spaces.iter().try_fold(Size::constant(1), |product, space| product.mul(&space.size()?))
}

/// The types of the pieces of an array whose first digit is a sum, if it has as many pieces as
/// there are parts of a tuple, and each part is stored like its piece.
fn pieces(array: &Type, parts: &[Type]) -> Option<Vec<Type>> {
    let Type::Array(space, element) = array else { return None };
    let (first, rest) = space.digits.split_first()?;
    if first.pieces.len() != parts.len() || parts.len() < 2 {
        return None;
    }
    let leaf = levels(array).1;
    let mut pieces = Vec::new();
    for (size, part) in first.pieces.iter().zip(parts) {
        let digits = [Digit::new(size.clone())].into_iter().chain(rest.iter().cloned()).collect();
        let piece = Type::Array(Space { digits }, element.clone());
        // Arrays of one type of leaves only: others are by way of a line.
        if levels(part).1 != leaf || leaves(part)? != leaves(&piece)? {
            return None;
        }
        pieces.push(piece);
    }
    Some(pieces)
}

/// The type of the leaves of a type, if they have one, and their number.
fn line(ty: &Type) -> Option<(Type, Size)> {
    match ty {
        Type::Array(space, element) => {
            let (leaf, count) = line(element)?;
            Some((leaf, space.size()?.mul(&count)?))
        }
        Type::Tuple(parts) => {
            let mut all: Option<(Type, Size)> = None;
            for part in parts.iter().filter(|part| **part != Type::unit()) {
                let (leaf, count) = line(part)?;
                all = Some(match all {
                    None => (leaf, count),
                    Some((other, sum)) if other == leaf => (leaf, sum.add(&count)?),
                    Some(_) => return None,
                });
            }
            all
        }
        Type::Sum(_) | Type::Exists(..) => None,
        leaf => Some((leaf.clone(), Size::constant(1))),
    }
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

#[cfg(test)]
mod tests {
    use super::{regroup, shortest_group};
    use crate::array_ir::{DigitExpr, Size, SizeVar};
    use crate::build::run::{code, count, datum, run};
    use crate::types::Type as CoreType;

    fn numbers(sizes: &[u64]) -> Vec<Size> {
        sizes.iter().map(|size| Size::constant(*size)).collect()
    }

    /// Digits of these sizes, by their positions.
    fn digits(sizes: &[Size]) -> Vec<(DigitExpr, Size)> {
        (0..).map(DigitExpr::Target).zip(sizes.iter().cloned()).collect()
    }

    /// Makes a random compact type of a number of values with these factors in order.
    fn grouped(random: &mut fastrand::Rng, factors: &[u64]) -> CoreType {
        let mut sizes: Vec<u64> = Vec::new();
        for factor in factors {
            match sizes.last_mut() {
                Some(last) if random.bool() => *last *= factor,
                _ => sizes.push(*factor),
            }
        }
        CoreType::compact_product(sizes.into_iter().map(CoreType::unit_sum).collect())
    }

    #[test]
    fn a_compact_value_keeps_its_code() {
        let seed = 10u64;
        let mut random = fastrand::Rng::with_seed(seed);
        for round in 0..200 {
            let factors: Vec<u64> = (0..random.usize(..7)).map(|_| random.u64(1..5)).collect();
            let (from, to) = (grouped(&mut random, &factors), grouped(&mut random, &factors));
            let number = random.u64(..count(&from));
            let context = format!("seed {seed}, round {round}: {number} of {from} as {to}");
            let found =
                run(&[&from], &[datum(&from, number)], |builder, values| builder.reshape(values[0], &to));
            let found = found.unwrap_or_else(|why| panic!("{why:?}: {context}"));
            assert_eq!(code(&to, &found), number, "{context}");
        }
    }

    /// Digits are joined no further than their sizes need.
    #[test]
    fn groups_are_as_short_as_possible() {
        let groups = |from: &[u64], to: &[u64]| shortest_group(&digits(&numbers(from)), &numbers(to));
        assert_eq!(groups(&[2, 3], &[2, 3]), Some((1, 1)));
        assert_eq!(groups(&[2, 3, 4], &[6, 4]), Some((2, 1)));
        assert_eq!(groups(&[6, 4], &[2, 3, 4]), Some((1, 2)));
        assert_eq!(groups(&[4, 3], &[6, 2]), Some((2, 2)));
        assert_eq!(groups(&[1, 2], &[2]), Some((1, 0)));
        assert_eq!(groups(&[2], &[3]), None);
        // A digit that stays is itself.
        let same = regroup(&digits(&numbers(&[2, 3])), &numbers(&[2, 3]));
        assert_eq!(same, Some(vec![DigitExpr::Target(0), DigitExpr::Target(1)]));
    }

    /// Sizes are compared at all values of their variables.
    #[test]
    fn symbolic_sizes_are_grouped_by_their_products() {
        let [n, m] = [0, 1].map(|id| Size::var(SizeVar(id)));
        let product = n.mul(&m).expect("a small polynomial");
        let whole =
            regroup(&digits(&[n.clone(), m.clone()]), std::slice::from_ref(&product)).expect("one group");
        assert_eq!(whole, [DigitExpr::Join(digits(&[n.clone(), m.clone()]))]);
        assert!(regroup(&digits(&[product]), &[m.clone(), n.clone()]).is_some());
        assert_eq!(regroup(&digits(std::slice::from_ref(&n)), std::slice::from_ref(&m)), None);
        assert_eq!(regroup(&digits(&[n.clone(), m.clone()]), &[n]), None);
    }
}
