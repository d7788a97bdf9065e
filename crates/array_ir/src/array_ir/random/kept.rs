//! Random uses of what a filter keeps: maps of the values, reductions and their number.

use super::Generator;
use crate::array_ir::{Binary, Block, Combine, Element, End, Grouping, Op, Prim, Size, Type, Value};

impl Generator {
    /// A map of the elements of an array, reductions of it, and its size.
    pub(super) fn use_kept(&mut self, array: Value) {
        let (mut array, Some((_, ty))) =
            (array, self.scope.iter().find(|(value, _)| *value == array).cloned())
        else {
            unreachable!("it has just been opened")
        };
        let Type::Array(space, element) = &ty else { unreachable!("it is an array") };
        if self.random.bool() {
            let body = self.element_block(array, &ty, true);
            array = self.define(ty.clone(), Op::Map(body));
        }
        if let Type::Element(number) = **element
            && number != Element::B1
        {
            for _ in 0..self.random.u8(..3) {
                let op = if self.random.bool() { Binary::Add } else { Binary::Max };
                let grouping = match op {
                    Binary::Add if number.is_float() => Grouping::Fixed,
                    _ => Grouping::Any,
                };
                let start = self.value_without_structure(element);
                let squares = self.random.bool();
                let body = self.element_block(array, &ty, squares);
                let op = Op::Reduce { combine: Combine::Prim(op), grouping, start, body };
                self.define((**element).clone(), op);
            }
        }
        if let (true, [digit]) = (self.random.bool(), &space.digits[..]) {
            let size: Option<Size> = digit.size();
            self.define(Type::I64, Op::Size(size.expect("a variable")));
        }
    }

    /// A block that gives the element of an array at its index, or the square of it if it is a number.
    fn element_block(&mut self, array: Value, ty: &Type, squares: bool) -> Block {
        let Type::Array(space, element) = ty else { unreachable!("it is an array") };
        let outer = std::mem::take(&mut self.stmts);
        let scope = self.scope.len();
        let at = Value(self.fresh());
        let mut result = self.define((**element).clone(), Op::Index(array, at));
        if let (Type::Element(number), true) = (&**element, squares)
            && *number != Element::B1
        {
            let op = Op::Prim(Prim::Binary(Binary::Mul), vec![result, result]);
            result = self.define((**element).clone(), op);
        }
        let stmts = std::mem::replace(&mut self.stmts, outer);
        self.scope.truncate(scope);
        Block { params: vec![(at, Type::Index(space.clone()))], stmts, end: End::Yield(result) }
    }
}
