//! Texts: arrays of code points, each with its size. They are read; what makes a text is the
//! evaluator's.

use super::{Builder, Result};
use crate::array_ir::{Cast, DigitExpr, Element, Op, Size, Space, Type, Value};

impl Builder<'_> {
    /// The array of the code points of a text, and its size.
    fn code_points(&mut self, text: Value) -> Result<(Value, Size)> {
        let (points, sizes) = self.opened_value(text)?;
        Ok((points, Size::var(sizes[0])))
    }

    /// The number of characters of a text.
    pub(super) fn text_length(&mut self, text: Value) -> Result<Value> {
        let (_, size) = self.code_points(text)?;
        self.define(Type::I64, Op::Number(DigitExpr::Constant(size)))
    }

    /// The code point of a text at a position, -1 where there is none.
    pub(super) fn code_point(&mut self, text: Value, at: Value) -> Result<Value> {
        let (points, size) = self.code_points(text)?;
        let space = Space::optional(size.clone());
        let found = self.define(Type::Index(space.clone()), Op::TryLocate(size, at))?;
        let cases = Type::Index(space).cases().expect("two pieces");
        let [outside, inside] = <[Type; 2]>::try_from(cases).expect("two pieces");
        let outside = self.block(vec![outside], |this, _| this.constant(Element::I64, u64::MAX))?;
        let inside = self.block(vec![inside], |this, params| {
            let point = this.define(Type::Element(Element::I32), Op::Index(points, params[0]))?;
            this.cast(point, Cast::ZeroExtend, Element::I64)
        })?;
        self.define(Type::I64, Op::Switch(found, vec![outside, inside]))
    }
}
