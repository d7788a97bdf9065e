//! Random uses of what a filter keeps: maps of the values, reductions and their number.

use super::arguments::word;
use crate::array_ir::{Binary, Block, Combine, Element, End, Grouping, Op, Prim, Space, Stmt, Type, Value};
use fastrand::Rng;

/// A source of numbers, and the number of the next new value.
pub(super) struct Uses<'r> {
    pub(super) random: &'r mut Rng,
    pub(super) next: &'r mut u32,
}

impl Uses<'_> {
    fn value(&mut self) -> Value {
        *self.next += 1;
        Value(*self.next - 1)
    }

    fn stmt(&mut self, stmts: &mut Vec<Stmt>, ty: Type, op: Op) -> Value {
        let value = self.value();
        stmts.push(Stmt { value, ty, op });
        value
    }

    /// A map of the elements of an array, reductions of it, and its size.
    pub(super) fn of(&mut self, array: Value, space: &Space, element: &Type) -> Vec<Stmt> {
        let (mut array, mut stmts) = (array, Vec::new());
        if self.random.bool() {
            let body = self.element_block(array, space, element, true);
            array = self.stmt(&mut stmts, Type::array(space.clone(), element.clone()), Op::Map(body));
        }
        if let Type::Element(number) = *element
            && number != Element::B1
        {
            for _ in 0..self.random.u8(..3) {
                let op = if self.random.bool() { Binary::Add } else { Binary::Max };
                let grouping = match op {
                    Binary::Add if number.is_float() => Grouping::Fixed,
                    _ => Grouping::Any,
                };
                let start = Op::Const(number, word(self.random, number));
                let start = self.stmt(&mut stmts, element.clone(), start);
                let squares = self.random.bool();
                let body = self.element_block(array, space, element, squares);
                let op = Op::Reduce { combine: Combine::Prim(op), grouping, start, body };
                self.stmt(&mut stmts, element.clone(), op);
            }
        }
        if let (true, [digit]) = (self.random.bool(), &space.digits[..]) {
            let size = digit.size().expect("a variable");
            self.stmt(&mut stmts, Type::I64, Op::Size(size));
        }
        stmts
    }

    /// A block that gives the element of an array at its index, or its square if it is a number.
    fn element_block(&mut self, array: Value, space: &Space, element: &Type, squares: bool) -> Block {
        let (at, mut stmts) = (self.value(), Vec::new());
        let mut result = self.stmt(&mut stmts, element.clone(), Op::Index(array, at));
        if let (Type::Element(number), true) = (element, squares)
            && *number != Element::B1
        {
            let op = Op::Prim(Prim::Binary(Binary::Mul), vec![result, result]);
            result = self.stmt(&mut stmts, element.clone(), op);
        }
        Block { params: vec![(at, Type::Index(space.clone()))], stmts, end: End::Yield(result) }
    }
}
