//! Primitives folded, and comparisons decided by the sizes and digits that numbers are.

use super::{Rewrite, Walk};
use crate::array_ir::digit::{MAX_DIGIT_NODES, bound, limit_nodes, reduce_digit};
use crate::array_ir::validate::is_reassociable;
use crate::array_ir::{
    Binary, Compare, DigitExpr, Element, Op, Prim, Size, Type, Unary, Value, Violation, scalar,
};

impl Walk<'_> {
    pub(super) fn constant(&self, value: Value) -> Option<(Element, u64)> {
        match self.ops.get(&value)? {
            Op::Const(element, bits) => Some((*element, *bits)),
            _ => None,
        }
    }

    /// The size that an `i64` is at all values of size variables.
    pub(super) fn exact(&self, value: Value) -> Option<Size> {
        match self.ops.get(&value)? {
            Op::Size(size) => Some(size.clone()),
            Op::Const(Element::I64, bits) if (*bits as i64) >= 0 => Some(Size::constant(*bits)),
            _ => None,
        }
    }

    /// The digit that an `i64` is.
    pub(super) fn digit(&self, value: Value) -> Option<DigitExpr> {
        limit_nodes(self.digit_within(value, &mut { MAX_DIGIT_NODES })?)
    }

    /// A word as a digit that is made of at most so many others.
    fn digit_within(&self, value: Value, nodes: &mut usize) -> Option<DigitExpr> {
        *nodes = nodes.checked_sub(1)?;
        if let Some(size) = self.exact(value) {
            return Some(DigitExpr::Constant(size));
        }
        match self.ops.get(&value)? {
            Op::Number(digit) => Some(digit.clone()),
            Op::Prim(Prim::Binary(Binary::Add), values) => {
                let [a, b] = values[..] else { return None };
                let digits = vec![self.digit_within(a, nodes)?, self.digit_within(b, nodes)?];
                self.natural(reduce_digit(DigitExpr::Sum(digits)))
            }
            Op::Prim(Prim::Binary(Binary::Mul), values) => {
                let [a, b] = values[..] else { return None };
                let (of, stride) = match (self.exact(a), self.exact(b)) {
                    (None, Some(stride)) => (a, stride),
                    (Some(stride), None) => (b, stride),
                    _ => return None,
                };
                let stride = stride.to_constant().filter(|stride| *stride > 0)?;
                let of = Box::new(self.digit_within(of, nodes)?);
                self.natural(reduce_digit(DigitExpr::Affine { offset: Size::constant(0), stride, of }))
            }
            _ => None,
        }
    }

    /// A digit, if the arithmetic of words that computes it cannot wrap: it is below 2^62, or the
    /// sum of two numbers that are.
    fn natural(&self, digit: DigitExpr) -> Option<DigitExpr> {
        const LIMIT: u64 = 1 << 62;
        let is_size = |digit: &DigitExpr| match digit {
            DigitExpr::Of(..) => true,
            DigitExpr::Constant(size) => size.to_constant().is_none_or(|number| number < LIMIT),
            _ => false,
        };
        let fits = match (self.bound(&digit)?.to_constant(), &digit) {
            (Some(bound), _) => bound <= LIMIT,
            (None, DigitExpr::Sum(digits)) => digits.len() <= 2 && digits.iter().all(is_size),
            (None, digit) => is_size(digit),
        };
        fits.then_some(digit)
    }

    pub(super) fn bound(&self, digit: &DigitExpr) -> Option<Size> {
        let index = |value| match self.types.get(&value) {
            Some(Type::Index(space)) => Ok(space),
            // Not in the types of this walk: nothing is known of it.
            _ => Err(Violation::NotDefined { value }),
        };
        bound(digit, None, &index).ok()
    }

    /// Returns whether one number is less than another, if that is known.
    fn less(&self, a: Value, b: Value) -> Option<bool> {
        let one = Size::constant(1);
        if let Some(high) = self.exact(b) {
            let below = match self.exact(a) {
                Some(size) => size.add(&one),
                None => self.bound(&self.digit(a)?),
            };
            if below.is_some_and(|below| below.is_at_most(&high)) {
                return Some(true);
            }
        }
        if let Some(low) = self.exact(a) {
            let below = match self.exact(b) {
                Some(size) => size.add(&one),
                None => self.bound(&self.digit(b)?),
            };
            // b < below <= a + 1
            if below.is_some_and(|below| low.add(&one).is_some_and(|after| below.is_at_most(&after))) {
                return Some(false);
            }
        } else if self.digit(a).is_some() && self.exact(b)? == Size::constant(0) {
            return Some(false);
        }
        None
    }

    pub(super) fn select(&self, condition: Value, a: Value, b: Value) -> Rewrite {
        if a == b {
            return Rewrite::Copy(a);
        }
        if let Some((_, bits)) = self.constant(condition) {
            return Rewrite::Copy(if bits == 1 { a } else { b });
        }
        if let (Some((Element::B1, 1)), Some((Element::B1, 0))) = (self.constant(a), self.constant(b)) {
            return Rewrite::Copy(condition);
        }
        match self.ops.get(&condition) {
            Some(Op::Prim(Prim::Unary(Unary::Not), inner)) => Rewrite::Op(Op::Select(inner[0], b, a)),
            _ => Rewrite::Op(Op::Select(condition, a, b)),
        }
    }

    pub(super) fn prim(&self, prim: Prim, values: Vec<Value>) -> Rewrite {
        let constants: Vec<Option<(Element, u64)>> =
            values.iter().map(|value| self.constant(*value)).collect();
        if let Some(known) = constants.iter().copied().collect::<Option<Vec<_>>>() {
            let (types, words): (Vec<Element>, Vec<u64>) = known.into_iter().unzip();
            let result = scalar::result(prim, &types).expect("the program is valid");
            let word = scalar::apply(prim, types[0], &words);
            let is_nan = match result {
                Element::F32 => f32::from_bits(word as u32).is_nan(),
                Element::F64 => f64::from_bits(word).is_nan(),
                _ => false,
            };
            if !is_nan {
                return Rewrite::Op(Op::Const(result, word));
            }
        }
        match (prim, &values[..]) {
            (Prim::Binary(op), [a, b]) => self.binary(op, *a, *b, constants[0], constants[1]),
            (Prim::Unary(op), [a]) => match self.ops.get(a) {
                Some(Op::Prim(Prim::Unary(inner), values)) if *inner == op => Rewrite::Copy(values[0]),
                Some(Op::Prim(Prim::Compare(Compare::Eq), values)) if op == Unary::Not => {
                    self.compare(Compare::Ne, values[0], values[1])
                }
                Some(Op::Prim(Prim::Compare(Compare::Ne), values)) if op == Unary::Not => {
                    self.compare(Compare::Eq, values[0], values[1])
                }
                _ => Rewrite::Op(Op::Prim(prim, values)),
            },
            (Prim::Compare(op), [a, b]) => self.compare(op, *a, *b),
            _ => Rewrite::Op(Op::Prim(prim, values)),
        }
    }

    fn binary(
        &self,
        op: Binary,
        a: Value,
        b: Value,
        left: Option<(Element, u64)>,
        right: Option<(Element, u64)>,
    ) -> Rewrite {
        let element = self.types.get(&a).and_then(Type::element);
        let keep = Rewrite::Op(Op::Prim(Prim::Binary(op), vec![a, b]));
        let Some(element) = element.filter(|element| !element.is_float()) else { return keep };
        let ones = element.truncate(u64::MAX);
        // An operation that commutes has its constant behind, and values in order.
        let commutes = is_reassociable(op, element);
        let exchanged = commutes && (left.is_some(), a) > (right.is_some(), b);
        let (a, b, right) = if exchanged { (b, a, left) } else { (a, b, right) };
        let zero = Rewrite::Op(Op::Const(element, 0));
        match (op, right.map(|constant| constant.1)) {
            (Binary::Add | Binary::Sub | Binary::Or | Binary::Xor, Some(0)) => Rewrite::Copy(a),
            (Binary::Mul | Binary::DivSigned | Binary::DivUnsigned, Some(1)) if element != Element::B1 => {
                Rewrite::Copy(a)
            }
            (Binary::Mul | Binary::And, Some(0)) => zero,
            (Binary::And, Some(bits)) if bits == ones => Rewrite::Copy(a),
            (Binary::Or, Some(bits)) if bits == ones => Rewrite::Op(Op::Const(element, ones)),
            (Binary::Sub | Binary::Xor, _) if a == b => zero,
            (Binary::And | Binary::Or, _) if a == b => Rewrite::Copy(a),
            (Binary::Min | Binary::Max | Binary::MinUnsigned | Binary::MaxUnsigned, _) if a == b => {
                Rewrite::Copy(a)
            }
            _ => Rewrite::Op(Op::Prim(Prim::Binary(op), vec![a, b])),
        }
    }

    fn compare(&self, op: Compare, a: Value, b: Value) -> Rewrite {
        let truth = |known: bool| Rewrite::Op(Op::Const(Element::B1, u64::from(known)));
        let is_float = self.types.get(&a).and_then(Type::element).is_some_and(Element::is_float);
        if a == b {
            match op {
                Compare::Lt | Compare::LtUnsigned => return truth(false),
                Compare::Eq | Compare::Le | Compare::LeUnsigned if !is_float => return truth(true),
                Compare::Ne if !is_float => return truth(false),
                _ => {}
            }
        }
        let known = match op {
            Compare::Lt | Compare::LtUnsigned => self.less(a, b),
            Compare::Le | Compare::LeUnsigned => self.less(b, a).map(|less| !less),
            Compare::Eq | Compare::Ne => match (self.less(a, b), self.less(b, a)) {
                (Some(true), _) | (_, Some(true)) => Some(op == Compare::Ne),
                (Some(false), Some(false)) => Some(op == Compare::Eq),
                _ => None,
            },
        };
        known.map_or_else(|| Rewrite::Op(Op::Prim(Prim::Compare(op), vec![a, b])), truth)
    }
}
