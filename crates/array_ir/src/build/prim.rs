//! Primitives, operators of numbers and conversions.

use super::fit::is_short;
use super::types::{is_unsigned, structural_type};
use super::{Builder, Closure, Declined, Known, Result, Scope};
use crate::array_ir::DigitExpr;
use crate::array_ir::scalar::idempotent_identity;
use crate::array_ir::validate::{instantiate, is_reassociable};
use crate::array_ir::{
    Binary, Block, Cast, Combine, Compare, Element, Grouping, Op, Prim, ScalarFunction, SiteKind, Size,
    Space, Type, Unary, Value,
};
use crate::core::prim::{PrimClass, fuses, type_answer};
use crate::core::reduction::{ReductionOp, reduction_op};
use crate::core::{self, LocalId, Num, Term, TermKind};
use crate::source::Span;
use crate::types::number::Fixed;
use crate::types::{Scalar, Type as CoreType};
use std::sync::Arc;

/// Numbers of the longest `iota` of a run. The evaluator makes longer ones, and says if there is no
/// memory for them.
const MAX_IOTA: u64 = 1 << 24;

/// The largest exponent of an integer whose power is written out as a product.
const MAX_PRODUCT: u32 = 16;

impl Builder<'_> {
    /// An application of a primitive.
    pub(super) fn prim(
        &mut self,
        scope: &mut Scope,
        term: &Term,
        prim: core::Prim,
        types: &[CoreType],
        args: &[Term],
    ) -> Result<Value> {
        let types: Vec<CoreType> = types.iter().map(|ty| scope.concrete(ty)).collect();
        match prim {
            // The answer for a compact type depends on its size.
            core::Prim::AtMost | core::Prim::Ranks | core::Prim::Hashes
                if types.iter().any(|ty| ty.is_compact() && ty.has_var()) =>
            {
                Err(Declined::Query.into())
            }
            // Sorted by one operation whatever their number is.
            core::Prim::Sorts if types.iter().any(CoreType::has_var) => {
                let answer = core::prim::ranks(&types[..1]);
                self.constant(Element::B1, u64::from(answer))
            }
            core::Prim::Compiled => self.constant(Element::B1, 1),
            core::Prim::AtMost
            | core::Prim::Ranks
            | core::Prim::Fuses
            | core::Prim::Sorts
            | core::Prim::Hashes => {
                let answer = type_answer(prim, &types).expect("a question about types");
                self.constant(Element::B1, u64::from(answer))
            }
            core::Prim::Convertible | core::Prim::CallableWith if !types.iter().any(CoreType::has_var) => {
                let answer = self.core.type_query_answer(prim, &types).ok_or(Declined::Query)?;
                self.constant(Element::B1, u64::from(answer))
            }
            core::Prim::Size => {
                let size = self.size(&structural_type(&types[0]))?;
                self.define(Type::I64, Op::Size(size))
            }
            core::Prim::Scalar(function) => {
                let values = args.iter().map(|arg| self.value(scope, arg)).collect::<Result<Vec<_>>>()?;
                let ty = self.ty(&scope.concrete(&term.ty))?;
                self.define(ty, Op::Prim(Prim::Function(function), values))
            }
            core::Prim::Min | core::Prim::Max => {
                let ty = structural_type(&types[0]);
                let (a, b) = match args {
                    [a, b] => (self.value(scope, a)?, self.value(scope, b)?),
                    _ => return Err(Declined::Primitive.into()),
                };
                let unsigned = ty.as_scalar().is_some_and(is_unsigned);
                let op = extreme(prim == core::Prim::Max, unsigned);
                match self.types[&a].clone() {
                    Type::Element(element) if element != Element::B1 => self.binary(op, a, b),
                    Type::Element(_) => {
                        let op = if prim == core::Prim::Min { Binary::And } else { Binary::Or };
                        self.binary(op, a, b)
                    }
                    index => {
                        let (low, high) = if prim == core::Prim::Max { (a, b) } else { (b, a) };
                        let (low, high) = (self.code(low)?, self.code(high)?);
                        let second = self.compare(Compare::Lt, low, high)?;
                        self.define(index, Op::Select(second, b, a))
                    }
                }
            }
            core::Prim::Assert => {
                let condition = self.value(scope, &args[0])?;
                let site = self.site(SiteKind::Assert, term.span);
                self.define(Type::unit(), Op::Check(condition, site, Vec::new()))
            }
            core::Prim::Fail => self.fail(scope, term),
            core::Prim::ModInt | core::Prim::ModBigint => {
                let size = self.size(&structural_type(&types[0]))?;
                let (number, unsigned) = self.integer_operand(scope, &args[0])?;
                let size = self.define(Type::I64, Op::Size(size))?;
                if unsigned {
                    let code = self.binary(Binary::RemUnsigned, number, size)?;
                    return self.code_to_compact(scope, term, code);
                }
                // The remainder has the sign of the number, and is the number where the size is 0.
                let rest = self.binary(Binary::RemSigned, number, size)?;
                let zero = self.constant(Element::I64, 0)?;
                let (sum, below) =
                    (self.binary(Binary::Add, rest, size)?, self.compare(Compare::Lt, rest, zero)?);
                let code = self.define(Type::I64, Op::Select(below, sum, rest))?;
                self.code_to_compact(scope, term, code)
            }
            core::Prim::Shift => {
                let codes = args.iter().map(|arg| {
                    let value = self.value(scope, arg)?;
                    self.code_digit(value)
                });
                let sum = DigitExpr::Sum(codes.collect::<Result<_>>()?);
                let to = scope.concrete(&term.ty);
                let size = self.size(&structural_type(&to))?;
                if !self.is_below(&sum, &size) {
                    return Err(Declined::Size.into());
                }
                self.compact_of_code(&to, sum, size)
            }
            core::Prim::IndexInt | core::Prim::IndexBigint => {
                let size = self.size(&structural_type(&types[0]))?;
                // A `u64` beyond the integers is negative as a word, and no code either.
                let (number, _) = self.integer_operand(scope, &args[0])?;
                let (space, to) = (Space::optional(size.clone()), scope.concrete(&term.ty));
                let found = self.define(Type::Index(space.clone()), Op::TryLocate(size, number))?;
                if self.ty(&to)? == self.types[&found] {
                    return Ok(found);
                }
                // `1 + 1` is `bool`.
                let size = space.size().ok_or(Declined::Size)?;
                self.compact_of_code(&to, DigitExpr::Of(found, 0), size)
            }
            core::Prim::ArgMin | core::Prim::ArgMax => {
                let array = self.value(scope, &args[0])?;
                self.extreme_index(prim == core::Prim::ArgMax, array, &types, term.span)
            }
            core::Prim::Sort => {
                let array = self.value(scope, &args[0])?;
                self.sorted(array, &types[0])
            }
            core::Prim::Order => {
                let array = self.value(scope, &args[0])?;
                self.order(array, &types, term.span)
            }
            core::Prim::Dot => self.dot(scope, &types, args),
            core::Prim::Wrap | core::Prim::Saturate => {
                let value = self.value(scope, &args[0])?;
                let scalars = [&args[0].ty, &term.ty].map(|ty| scope.concrete(ty).unfold().as_scalar());
                let [Some(from), Some(to)] = scalars else { return Err(Declined::Conversion.into()) };
                self.fitted(value, (from, to), prim == core::Prim::Saturate)
            }
            core::Prim::Compress => self.compress(scope, args),
            core::Prim::StrLen => {
                let text = self.value(scope, &args[0])?;
                self.text_length(text)
            }
            core::Prim::CodePoint => {
                let (text, at) = (self.value(scope, &args[0])?, self.value(scope, &args[1])?);
                self.code_point(text, at)
            }
            core::Prim::Iota => {
                let count = self.value(scope, &args[0])?;
                let most = self.constant(Element::I64, MAX_IOTA)?;
                let fits = self.compare(Compare::LtUnsigned, count, most)?;
                let site = self.site(SiteKind::Range, term.span);
                self.define(Type::unit(), Op::Check(fits, site, Vec::new()))?;
                self.define(Type::sized_array(Type::I64), Op::Iota(count))
            }
            core::Prim::Reduce => self.reduce(scope, term.span, &types, args),
            core::Prim::Scan => self.scan(scope, term.span, &types, args),
            prim => Err(match prim.class() {
                PrimClass::Output => Declined::Output,
                PrimClass::Text | PrimClass::SelectText => Declined::Text,
                PrimClass::Reader { .. }
                | PrimClass::Writer { .. }
                | PrimClass::System
                | PrimClass::Cipher { .. } => Declined::File,
                PrimClass::TypeQuery => Declined::Query,
                PrimClass::Select => Declined::Arrival,
                PrimClass::Place | PrimClass::Communication => Declined::Place,
                _ => Declined::Primitive,
            }
            .into()),
        }
    }

    /// An integer as a word, and whether that has no sign. A `u64` is given as an unbounded
    /// integer; a conversion to `int` may fail.
    fn integer_operand(&mut self, scope: &mut Scope, arg: &Term) -> Result<(Value, bool)> {
        let is_unbounded = scope.concrete(&arg.ty).unfold().as_scalar() == Some(Scalar::Bigint);
        if is_unbounded
            && let TermKind::Convert(inner) = &arg.kind
            && let Some(scalar @ Scalar::Fixed(fixed)) = scope.concrete(&inner.ty).unfold().as_scalar()
        {
            let value = self.value(scope, inner)?;
            return Ok((self.widened(value, scalar)?, fixed == Fixed::U64));
        }
        let value = self.value(scope, arg)?;
        if is_unbounded {
            self.range(value)?;
        }
        Ok((value, false))
    }

    /// An integer with another first bit: those without sign are then in the order of those with
    /// one.
    fn with_first_bit_turned(&mut self, value: Value, element: Element) -> Result<Value> {
        let bit = self.constant(element, 1 << (element.bits() - 1))?;
        self.binary(Binary::Xor, value, bit)
    }

    /// The elements of an array in ascending order. The operation compares integers with sign: of
    /// those without one the first bit is turned before and after it.
    fn sorted(&mut self, array: Value, ty: &CoreType) -> Result<Value> {
        let ty_of_array = self.types[&array].clone();
        let Type::Array(space, element) = &ty_of_array else {
            return Err(Declined::Primitive.into());
        };
        let unsigned = structural_type(ty).as_scalar().is_some_and(is_unsigned);
        match **element {
            Type::Element(element) if unsigned && element != Element::B1 => {
                let turned = |this: &mut Self, array: Value| {
                    let body = this.block(vec![Type::Index(space.clone())], |this, params| {
                        let value = this.element_at(array, params[0])?;
                        this.with_first_bit_turned(value, element)
                    })?;
                    this.define(ty_of_array.clone(), Op::Map(body))
                };
                let signed = turned(self, array)?;
                let sorted = self.define(ty_of_array.clone(), Op::Sort(signed))?;
                turned(self, sorted)
            }
            Type::Element(_) | Type::Index(_) => self.define(ty_of_array, Op::Sort(array)),
            _ => Err(Declined::Primitive.into()),
        }
    }

    /// The indices of an array in the ascending order of its elements.
    fn order(&mut self, array: Value, types: &[CoreType], span: Span) -> Result<Value> {
        let [ty, index] = types else { return Err(Declined::Primitive.into()) };
        let Type::Array(space, element) = self.types[&array].clone() else {
            return Err(Declined::Primitive.into());
        };
        let unsigned = structural_type(ty).as_scalar().is_some_and(is_unsigned);
        let body = self.block(vec![Type::Index(space.clone())], |this, params| {
            let value = this.element_at(array, params[0])?;
            match *element {
                Type::Element(Element::I64) if unsigned => this.with_first_bit_turned(value, Element::I64),
                // Of floats -0 equals +0 here.
                Type::Element(element) if !element.is_float() => {
                    this.order_key(value, element, unsigned, true)
                }
                Type::Element(_) => Ok(value),
                _ => this.code(value),
            }
        })?;
        let indices = Type::array(space.clone(), Type::Index(space.clone()));
        let order = self.define(indices.clone(), Op::Order(body))?;
        let element = self.ty(index)?;
        if element == Type::Index(space.clone()) {
            return Ok(order);
        }
        let body = self.block(vec![Type::Index(space.clone())], |this, params| {
            let at = this.element_at(order, params[0])?;
            let code = this.code(at)?;
            this.compact_at_code(index, code, span)
        })?;
        self.define(Type::array(space, element), Op::Map(body))
    }

    /// `compress (x, kept)`: the elements beside which a truth value is true.
    fn compress(&mut self, scope: &mut Scope, args: &[Term]) -> Result<Value> {
        let [array, kept] = args else { return Err(Declined::Primitive.into()) };
        let (array, kept) = (self.value(scope, array)?, self.value(scope, kept)?);
        let Type::Array(space, element) = self.types[&array].clone() else {
            unreachable!("{array} is an array")
        };
        let body = self.block(vec![Type::Index(space)], |this, params| {
            let is_kept = this.element_at(kept, params[0])?;
            let value = this.element_at(array, params[0])?;
            let ty = Type::Tuple(vec![Type::B1, (*element).clone()]);
            this.define(ty, Op::Tuple(vec![is_kept, value]))
        })?;
        self.define(Type::sized_array((*element).clone()), Op::Filter(body))
    }

    /// A failure, and a value of any kind of the type that is never reached.
    fn fail(&mut self, scope: &Scope, term: &Term) -> Result<Value> {
        let no = self.constant(Element::B1, 0)?;
        let site = self.site(SiteKind::Assert, term.span);
        self.define(Type::unit(), Op::Check(no, site, Vec::new()))?;
        let ty = self.ty(&scope.concrete(&term.ty))?;
        self.unreachable_value(&ty, site)
    }

    /// A value of a type behind a check at a site that fails.
    pub(super) fn unreachable_value(&mut self, ty: &Type, site: crate::array_ir::SiteId) -> Result<Value> {
        match ty {
            Type::Element(element) => self.constant(*element, 0),
            Type::Index(space) => {
                let number = self.constant(Element::I64, u64::MAX)?;
                let numbers = vec![number; space.digits.len()];
                self.define(ty.clone(), Op::Locate(space.clone(), numbers, site))
            }
            Type::Tuple(types) => {
                let values =
                    types.iter().map(|ty| self.unreachable_value(ty, site)).collect::<Result<_>>()?;
                self.define(ty.clone(), Op::Tuple(values))
            }
            Type::Array(space, element) => {
                let body = self.block(vec![Type::Index(space.clone())], |this, _| {
                    this.unreachable_value(element, site)
                })?;
                self.define(ty.clone(), Op::Map(body))
            }
            Type::Sum(cases) => {
                let piece = self.unreachable_value(cases.first().ok_or(Declined::Sum)?, site)?;
                self.define(ty.clone(), Op::Case(ty.clone(), 0, piece))
            }
            Type::Exists(count, inner) => {
                let sizes = vec![Size::constant(0); *count as usize];
                let inner = instantiate(inner, *count, &sizes).map_err(|_| Declined::Size)?;
                let value = self.unreachable_value(&inner, site)?;
                self.define(ty.clone(), Op::Pack(ty.clone(), sizes, value))
            }
        }
    }

    /// The function of an argument, and the array after it.
    fn operation(&mut self, scope: &mut Scope, term: &Term) -> Result<Arc<Closure>> {
        match self.term(scope, term)? {
            Known::Function(closure) => Ok(closure),
            Known::Data(_) | Known::Shared(_) => Err(Declined::Function.into()),
        }
    }

    /// The operation of a reduction, and whether its grouping does not matter. In lanes are exactly
    /// those that [`reduction_op`] says.
    fn combine(
        &mut self,
        closure: &Arc<Closure>,
        span: Span,
        element: &CoreType,
        ty: &Type,
    ) -> Result<(Combine, bool)> {
        let of_floats = structural_type(element).as_scalar().is_some_and(Scalar::is_float);
        if of_floats && let Some(op) = reduction_op(self.core, closure.function, &closure.types) {
            let op = match op {
                ReductionOp::Add => Binary::Add,
                ReductionOp::Mul => Binary::Mul,
                ReductionOp::Min => Binary::Min,
                ReductionOp::Max => Binary::Max,
            };
            let element = ty.element().expect("floats are elements");
            return Ok((Combine::Prim(op), is_reassociable(op, element)));
        }
        let block = self.block(vec![ty.clone(), ty.clone()], |this, params| {
            let args = params.iter().map(|param| Known::Data(*param)).collect();
            let result = this.apply_at(closure, args, span)?;
            this.data(result)
        })?;
        if let Some(op) = block.only_operation()
            && let Some(element) = ty.element()
            && is_reassociable(op, element)
        {
            return Ok((Combine::Prim(op), true));
        }
        Ok((Combine::Block(block), false))
    }

    /// The block of the elements of an array, with the space of its index type.
    fn elements(&mut self, array: Value, ty: &Type) -> Result<Block> {
        match self.types[&array].clone() {
            Type::Array(space, element) if *element == *ty => {
                self.block(vec![Type::Index(space)], |this, params| this.element_at(array, params[0]))
            }
            found => unreachable!("{found} is no array of {ty}"),
        }
    }

    fn reduce(&mut self, scope: &mut Scope, span: Span, types: &[CoreType], args: &[Term]) -> Result<Value> {
        let [op, start, array] = args else { return Err(Declined::Primitive.into()) };
        let closure = self.operation(scope, op)?;
        let is_element = is_element_of(start, array);
        let (mut start, array) = (self.value(scope, start)?, self.value(scope, array)?);
        let ty = self.ty(&types[0])?;
        let (combine, any) = self.combine(&closure, span, &types[0], &ty)?;
        // An element that is joined twice changes nothing.
        if is_element
            && let Combine::Prim(op) = combine
            && let Some(element) = ty.element()
            && let Some(identity) = idempotent_identity(op, element)
        {
            start = self.constant(element, identity)?;
        }
        let grouping = if any { Grouping::Any } else { Grouping::Fixed };
        let body = self.elements(array, &ty)?;
        self.define(ty, Op::Reduce { combine, grouping, start, body })
    }

    /// The first index of the largest element if `largest`, else of the smallest.
    ///
    /// Elements are compared by keys, integers in the order that the language gives the elements.
    /// The reduction is one of pairs of a key and a code. Integers of few bytes, of which a vector
    /// holds many, are reduced twice: to the extreme, and to the least code of an element that
    /// equals it.
    fn extreme_index(
        &mut self,
        largest: bool,
        array: Value,
        types: &[CoreType],
        span: Span,
    ) -> Result<Value> {
        let [ty, index] = types else { return Err(Declined::Primitive.into()) };
        let Type::Array(space, element) = self.types[&array].clone() else {
            unreachable!("an array has a largest element");
        };
        let size = self.size(&structural_type(index))?;
        let (count, zero) = (self.define(Type::I64, Op::Size(size))?, self.constant(Element::I64, 0)?);
        // Without elements there is no first one.
        self.compact_at_code(index, zero, span)?;
        let unsigned = structural_type(ty).as_scalar().is_some_and(is_unsigned);
        let op = extreme(largest, unsigned);
        let identity = |element| {
            idempotent_identity(op, element).expect("an extreme that is joined twice changes nothing")
        };
        let index_type = Type::Index(space);
        if let Type::Element(element @ (Element::I8 | Element::I16)) = *element {
            let start = self.constant(element, identity(element))?;
            let body =
                self.block(vec![index_type.clone()], |this, params| this.element_at(array, params[0]))?;
            let best = Op::Reduce { combine: Combine::Prim(op), grouping: Grouping::Any, start, body };
            let best = self.define(Type::Element(element), best)?;
            let body = self.block(vec![index_type], |this, params| {
                let value = this.element_at(array, params[0])?;
                let (is_best, code) = (this.compare(Compare::Eq, value, best)?, this.code(params[0])?);
                this.define(Type::I64, Op::Select(is_best, code, count))
            })?;
            let combine = Combine::Prim(Binary::Min);
            let first = Op::Reduce { combine, grouping: Grouping::Any, start: count, body };
            let first = self.define(Type::I64, first)?;
            return self.compact_at_code(index, first, span);
        }
        let pair = Type::Tuple(vec![Type::I64; 2]);
        let least = self.constant(Element::I64, identity(Element::I64))?;
        let start = self.define(pair.clone(), Op::Tuple(vec![least, zero]))?;
        let body = self.block(vec![index_type], |this, params| {
            let value = this.element_at(array, params[0])?;
            let key = match *element {
                Type::Element(element) => this.order_key(value, element, unsigned, largest)?,
                // The order of a compact type is that of its codes.
                _ => this.code(value)?,
            };
            let code = this.code(params[0])?;
            this.define(pair.clone(), Op::Tuple(vec![key, code]))
        })?;
        let beyond = if unsigned { Compare::LtUnsigned } else { Compare::Lt };
        let combine = self.block(vec![pair.clone(); 2], |this, params| {
            let part = |this: &mut Self, of: usize, at| this.define(Type::I64, Op::Part(params[of], at));
            let keys = [part(this, 0, 0)?, part(this, 1, 0)?];
            let codes = [part(this, 0, 1)?, part(this, 1, 1)?];
            let is_beyond = match largest {
                true => this.compare(beyond, keys[0], keys[1])?,
                false => this.compare(beyond, keys[1], keys[0])?,
            };
            let chosen = [keys, codes].map(|[old, new]| Op::Select(is_beyond, new, old));
            let [key, code] = chosen.map(|op| this.define(Type::I64, op));
            this.define(pair.clone(), Op::Tuple(vec![key?, code?]))
        })?;
        let combine = Combine::Block(combine);
        let best = self.define(pair, Op::Reduce { combine, grouping: Grouping::Fixed, start, body })?;
        let code = self.define(Type::I64, Op::Part(best, 1))?;
        self.compact_at_code(index, code, span)
    }

    /// An integer of 64 bits in the order of elements: without sign if `unsigned`. -0 is below +0;
    /// NaN is above all other numbers if `nan_last`, else below them.
    fn order_key(&mut self, value: Value, element: Element, unsigned: bool, nan_last: bool) -> Result<Value> {
        let number = match element {
            Element::I64 => return Ok(value),
            Element::B1 => return self.cast(value, Cast::ZeroExtend, Element::I64),
            Element::I8 | Element::I16 | Element::I32 if unsigned => {
                return self.cast(value, Cast::ZeroExtend, Element::I64);
            }
            Element::I8 | Element::I16 | Element::I32 => {
                return self.cast(value, Cast::SignExtend, Element::I64);
            }
            Element::F32 => self.cast(value, Cast::FloatToFloat, Element::F64)?,
            Element::F64 => value,
        };
        // Below zero the bits without the sign grow as the number falls.
        let bits = self.cast(number, Cast::FloatToBits, Element::I64)?;
        let (zero, most) = (self.constant(Element::I64, 0)?, self.constant(Element::I64, i64::MAX as u64)?);
        let (is_negative, turned) =
            (self.compare(Compare::Lt, bits, zero)?, self.binary(Binary::Xor, bits, most)?);
        let key = self.define(Type::I64, Op::Select(is_negative, turned, bits))?;
        let nan = self.constant(Element::I64, if nan_last { i64::MAX } else { i64::MIN } as u64)?;
        let is_nan = self.compare(Compare::Ne, number, number)?;
        self.define(Type::I64, Op::Select(is_nan, nan, key))
    }

    /// The sum of products of `_dot`, from 0.
    fn dot(&mut self, scope: &mut Scope, types: &[CoreType], args: &[Term]) -> Result<Value> {
        let [x, y] = args else { return Err(Declined::Primitive.into()) };
        if !fuses(&types[..1]) {
            return Err(Declined::Primitive.into());
        }
        let (x, y) = (self.value(scope, x)?, self.value(scope, y)?);
        let Type::Array(space, element) = self.types[&x].clone() else {
            unreachable!("`_dot` is of arrays");
        };
        let pair = Type::Tuple(vec![(*element).clone(), (*element).clone()]);
        let body = self.block(vec![Type::Index(space)], |this, params| {
            let factors = vec![this.element_at(x, params[0])?, this.element_at(y, params[0])?];
            this.define(pair, Op::Tuple(factors))
        })?;
        let start = self.constant(Element::F64, 0)?;
        self.define(
            (*element).clone(),
            Op::Reduce { combine: Combine::Dot, grouping: Grouping::Fixed, start, body },
        )
    }

    fn scan(&mut self, scope: &mut Scope, span: Span, types: &[CoreType], args: &[Term]) -> Result<Value> {
        let [op, array] = args else { return Err(Declined::Primitive.into()) };
        let closure = self.operation(scope, op)?;
        let array = self.value(scope, array)?;
        let ty = self.ty(&types[0])?;
        let (combine, _) = self.combine(&closure, span, &types[0], &ty)?;
        let body = self.elements(array, &ty)?;
        let whole = self.types[&array].clone();
        self.define(whole, Op::Scan { combine, grouping: Grouping::Fixed, body })
    }

    /// A number as an integer of type `to`: the nearest bound where it does not fit if `saturate`,
    /// else wrapped around.
    fn fitted(&mut self, value: Value, (from, to): (Scalar, Scalar), saturate: bool) -> Result<Value> {
        let target = super::types::scalar_element(to)?;
        let bounds = to.bounds().ok_or(Declined::Conversion)?;
        let word = match from.bounds() {
            Some(source) => {
                let word = self.widened(value, from)?;
                if saturate { self.saturated(word, source, bounds)? } else { word }
            }
            None if from.is_float() && saturate && is_short(&bounds) => {
                return self.saturated_short(value, bounds, target);
            }
            None if from.is_float() => {
                let float = match from {
                    Scalar::Single => self.cast(value, Cast::FloatToFloat, Element::F64)?,
                    _ => value,
                };
                self.fitted_float(float, bounds, saturate)?
            }
            None => return Err(Declined::Conversion.into()),
        };
        match target {
            Element::I64 => Ok(word),
            target => self.cast(word, Cast::Truncate, target),
        }
    }

    /// An integer as an `i64` of the same number; of `u64` the same bits.
    pub(super) fn widened(&mut self, value: Value, scalar: Scalar) -> Result<Value> {
        match self.types[&value].element() {
            Some(Element::I64) => Ok(value),
            _ if is_unsigned(scalar) => self.cast(value, Cast::ZeroExtend, Element::I64),
            _ => self.cast(value, Cast::SignExtend, Element::I64),
        }
    }

    fn check(&mut self, condition: Value, kind: SiteKind, span: Span, shown: Vec<Value>) -> Result<()> {
        let site = self.site(kind, span);
        self.define(Type::unit(), Op::Check(condition, site, shown)).map(|_| ())
    }

    /// An operator of numbers.
    pub(super) fn arithmetic(
        &mut self,
        op: core::Op,
        num: Num,
        values: &[Value],
        span: Span,
    ) -> Result<Value> {
        let scalar = match num {
            Num::Int => Scalar::Int,
            Num::Fixed(fixed) => Scalar::Fixed(fixed),
            Num::Single => Scalar::Single,
            Num::Real => Scalar::Real,
            Num::Bigint => return self.big_arithmetic(op, values, span),
            Num::Mod => return Err(Declined::Cyclic.into()),
            Num::String => return Err(Declined::Text.into()),
        };
        let element = super::types::scalar_element(scalar)?;
        let unsigned = is_unsigned(scalar);
        let (a, b) = match values {
            [a] => return self.define(Type::Element(element), Op::Prim(Prim::Unary(Unary::Neg), vec![*a])),
            [a, b] => (*a, *b),
            _ => unreachable!("an operator has one operand or two"),
        };
        match op {
            core::Op::Add(_) => self.binary(Binary::Add, a, b),
            core::Op::Sub(_) => self.binary(Binary::Sub, a, b),
            core::Op::Mul(_) => self.binary(Binary::Mul, a, b),
            core::Op::Div(_) if element.is_float() => self.binary(Binary::Div, a, b),
            core::Op::Pow(_) if let Some(count) = self.small_power(element, b) => {
                self.product_of_powers(a, element, count)
            }
            core::Op::Rem(_) | core::Op::Pow(_) if element.is_float() => {
                let function = match (op, element) {
                    (core::Op::Rem(_), Element::F64) => ScalarFunction::Rem,
                    (core::Op::Rem(_), _) => ScalarFunction::RemSingle,
                    (_, Element::F64) => ScalarFunction::Pow,
                    _ => ScalarFunction::PowSingle,
                };
                self.define(Type::Element(element), Op::Prim(Prim::Function(function), vec![a, b]))
            }
            core::Op::Div(_) | core::Op::Rem(_) => {
                let zero = self.constant(element, 0)?;
                let fits = self.compare(Compare::Ne, b, zero)?;
                self.check(fits, SiteKind::Division, span, Vec::new())?;
                let op = match (op, unsigned) {
                    (core::Op::Div(_), false) => Binary::DivSigned,
                    (core::Op::Div(_), true) => Binary::DivUnsigned,
                    (_, false) => Binary::RemSigned,
                    (_, true) => Binary::RemUnsigned,
                };
                self.binary(op, a, b)
            }
            core::Op::Pow(_) => {
                let (base, exponent) = (self.widened(a, scalar)?, self.widened(b, scalar)?);
                if !unsigned {
                    let zero = self.constant(Element::I64, 0)?;
                    let fits = self.compare(Compare::Le, zero, exponent)?;
                    self.check(fits, SiteKind::Power, span, Vec::new())?;
                }
                let function = Op::Prim(Prim::Function(ScalarFunction::PowInt), vec![base, exponent]);
                let power = self.define(Type::I64, function)?;
                match element {
                    Element::I64 => Ok(power),
                    element => self.cast(power, Cast::Truncate, element),
                }
            }
            _ => unreachable!("comparisons are no arithmetic"),
        }
    }

    /// The exponent of a power that is a product, if it is known: of floats those that
    /// [`crate::elementary::pow`] multiplies, of integers, which wrap around in any order, a few
    /// more.
    fn small_power(&self, element: Element, exponent: Value) -> Option<u32> {
        let bits = *self.constants.get(&exponent)?;
        let (count, counts) = match element {
            Element::F64 => (f64::from_bits(bits), 2..=3),
            Element::F32 => (f64::from(f32::from_bits(bits as u32)), 2..=3),
            _ if bits <= u64::from(MAX_PRODUCT) => (bits as f64, 1..=MAX_PRODUCT),
            _ => return None,
        };
        counts.into_iter().find(|known| f64::from(*known) == count)
    }

    /// A product of equal factors, by squares.
    fn product_of_powers(&mut self, base: Value, element: Element, count: u32) -> Result<Value> {
        // The cube of a binary32 is rounded once, after that of a binary64.
        if element == Element::F32 && count > 2 {
            let wide = self.cast(base, Cast::FloatToFloat, Element::F64)?;
            let product = self.product_of_powers(wide, Element::F64, count)?;
            return self.cast(product, Cast::FloatToFloat, Element::F32);
        }
        let (mut power, mut square, mut rest) = (None, base, count);
        while rest > 0 {
            if rest & 1 == 1 {
                power = Some(match power {
                    None => square,
                    Some(power) => self.binary(Binary::Mul, square, power)?,
                });
            }
            rest >>= 1;
            if rest > 0 {
                square = self.binary(Binary::Mul, square, square)?;
            }
        }
        Ok(power.expect("an exponent above 0"))
    }

    /// A conversion between numbers.
    pub(super) fn convert(
        &mut self,
        value: Value,
        from: &CoreType,
        to: &CoreType,
        span: Span,
    ) -> Result<Value> {
        let (Some(from), Some(to)) = (from.unfold().as_scalar(), to.unfold().as_scalar()) else {
            return Err(Declined::Conversion.into());
        };
        if from == Scalar::Bigint {
            self.range(value)?;
            return self.convert(value, &CoreType::scalar(Scalar::Int), &CoreType::scalar(to), span);
        }
        if to == Scalar::Bigint {
            let bounds = from.bounds().filter(|_| from.is_integer()).ok_or(Declined::Bigint)?;
            let wide = self.widened(value, from)?;
            return self.with_range(wide, bounds);
        }
        if from == to {
            return Ok(value);
        }
        let (source, target) = (super::types::scalar_element(from)?, super::types::scalar_element(to)?);
        match (source.is_float(), target.is_float()) {
            (true, true) if target == Element::F64 => self.cast(value, Cast::FloatToFloat, target),
            (true, true) => {
                let narrow = self.cast(value, Cast::FloatToFloat, target)?;
                // Finite numbers stay finite.
                let (is_narrow, is_wide) = (self.is_finite(narrow)?, self.is_finite(value)?);
                let is_special = self.define(Type::B1, Op::Prim(Prim::Unary(Unary::Not), vec![is_wide]))?;
                let fits = self.binary(Binary::Or, is_narrow, is_special)?;
                self.check(fits, SiteKind::Convert, span, vec![value])?;
                Ok(narrow)
            }
            (true, false)
                if to != Scalar::Char
                    && let Some(bounds) = to.bounds().filter(is_short) =>
            {
                let fits = self.is_within(value, bounds)?;
                self.check(fits, SiteKind::Convert, span, vec![value])?;
                self.short_of_float(value, bounds, target)
            }
            (true, false) if source == Element::F32 => {
                let wide = self.cast(value, Cast::FloatToFloat, Element::F64)?;
                let (real, int) = (CoreType::scalar(Scalar::Real), CoreType::scalar(Scalar::Int));
                if matches!(to, Scalar::Char | Scalar::Fixed(Fixed::U64)) {
                    return self.convert(wide, &real, &CoreType::scalar(to), span);
                }
                let word = self.convert(wide, &real, &int, span)?;
                self.truncated.insert(word, value);
                self.convert(word, &int, &CoreType::scalar(to), span)
            }
            (true, false) if to == Scalar::Char => Err(Declined::Conversion.into()),
            (true, false) if to == Scalar::Fixed(Fixed::U64) => self.float_to_word(value, span),
            (true, false) if to != Scalar::Int => {
                let real = CoreType::scalar(Scalar::Real);
                let wide = self.convert(value, &real, &CoreType::scalar(Scalar::Int), span)?;
                self.convert_integer(wide, Scalar::Int, to, target, span)
            }
            (true, false) => {
                // NaN is in no range.
                let low = self.constant(Element::F64, (-(2f64.powi(63))).to_bits())?;
                let high = self.constant(Element::F64, 2f64.powi(63).to_bits())?;
                let (above, below) =
                    (self.compare(Compare::Le, low, value)?, self.compare(Compare::Lt, value, high)?);
                let fits = self.binary(Binary::And, above, below)?;
                self.check(fits, SiteKind::Convert, span, vec![value])?;
                let word = self.cast(value, Cast::FloatToSigned, Element::I64)?;
                self.truncated.insert(word, value);
                Ok(word)
            }
            // A binary32 has lanes of 4 bytes: so has what becomes one.
            (false, true) if target == Element::F32 && matches!(source, Element::I8 | Element::I16) => {
                let cast = if is_unsigned(from) { Cast::ZeroExtend } else { Cast::SignExtend };
                let number = self.cast(value, cast, Element::I32)?;
                self.cast(number, Cast::SignedToFloat, target)
            }
            // A number below 2^32 is a word with a sign, and its conversion that of words.
            (false, true) if is_unsigned(from) && source != Element::I64 => {
                let wide = self.widened(value, from)?;
                self.cast(wide, Cast::SignedToFloat, target)
            }
            (false, true) if is_unsigned(from) => self.cast(value, Cast::UnsignedToFloat, target),
            (false, true) => self.cast(value, Cast::SignedToFloat, target),
            // A character is no number for every number.
            (false, false) if to == Scalar::Char => self.character(value, from, span),
            (false, false) => self.convert_integer(value, from, to, target, span),
        }
    }

    /// The character with a number: below the surrogates, or behind them and below 17 * 2^16.
    fn character(&mut self, value: Value, from: Scalar, span: Span) -> Result<Value> {
        let wide = self.widened(value, from)?;
        if !from.bounds().is_some_and(|(low, high)| low >= 0 && high < 0xd800) {
            let [first, behind, count] = [0xd800, 0xe000, 0x11_0000 - 0xe000];
            let first = self.constant(Element::I64, first)?;
            let is_before = self.compare(Compare::LtUnsigned, wide, first)?;
            let (behind, count) = (self.constant(Element::I64, behind)?, self.constant(Element::I64, count)?);
            let rest = self.binary(Binary::Sub, wide, behind)?;
            let is_behind = self.compare(Compare::LtUnsigned, rest, count)?;
            let fits = self.binary(Binary::Or, is_before, is_behind)?;
            self.check(fits, SiteKind::Convert, span, vec![value])?;
        }
        self.cast(wide, Cast::Truncate, Element::I32)
    }

    /// A float above -1 and below 2^64 as a `u64`.
    fn float_to_word(&mut self, value: Value, span: Span) -> Result<Value> {
        let low = self.constant(Element::F64, (-1f64).to_bits())?;
        let high = self.constant(Element::F64, 2f64.powi(64).to_bits())?;
        let (above, below) =
            (self.compare(Compare::Lt, low, value)?, self.compare(Compare::Lt, value, high)?);
        let fits = self.binary(Binary::And, above, below)?;
        self.check(fits, SiteKind::Convert, span, vec![value])?;
        self.fitted_float(value, (0, i128::from(u64::MAX)), true)
    }

    /// Returns whether a float is neither infinite nor NaN: less itself it is 0.
    fn is_finite(&mut self, value: Value) -> Result<Value> {
        let element = self.types[&value].element().expect("a float is an element");
        let (rest, zero) = (self.binary(Binary::Sub, value, value)?, self.constant(element, 0)?);
        self.compare(Compare::Eq, rest, zero)
    }

    fn convert_integer(
        &mut self,
        value: Value,
        from: Scalar,
        to: Scalar,
        target: Element,
        span: Span,
    ) -> Result<Value> {
        if let (Some(float), Some(bounds)) = (self.truncated.get(&value).copied(), to.bounds())
            && self.has_short_form(float, bounds)
        {
            let fits = self.is_within(float, bounds)?;
            self.check(fits, SiteKind::Convert, span, vec![value])?;
            return self.short_of_float(float, bounds, target);
        }
        let wide = self.widened(value, from)?;
        // Where one of the types is `u64` and the other one has a sign, the word has none.
        let is_word = |scalar| scalar == Scalar::Fixed(Fixed::U64);
        if is_word(from) && !is_unsigned(to) || is_word(to) && !is_unsigned(from) {
            let zero = self.constant(Element::I64, 0)?;
            let fits = self.compare(Compare::Le, zero, wide)?;
            self.check(fits, SiteKind::Convert, span, vec![value])?;
        }
        if target == Element::I64 {
            return Ok(wide);
        }
        let narrow = self.cast(wide, Cast::Truncate, target)?;
        if !from.fits(to) {
            let back = self.widened(narrow, to)?;
            let fits = self.compare(Compare::Eq, back, wide)?;
            self.check(fits, SiteKind::Convert, span, vec![value])?;
        }
        Ok(narrow)
    }
}

/// Returns true for an element of the array that a variable holds.
fn is_element_of(term: &Term, array: &Term) -> bool {
    fn local(term: &Term) -> Option<LocalId> {
        match &term.kind {
            TermKind::Local(id) => Some(*id),
            TermKind::Move(term) => local(term),
            _ => None,
        }
    }
    match &term.kind {
        TermKind::Index(of, _) => local(array).is_some() && local(of) == local(array),
        _ => false,
    }
}

/// The primitive that gives the larger of two words, or the smaller.
fn extreme(larger: bool, unsigned: bool) -> Binary {
    match (larger, unsigned) {
        (false, false) => Binary::Min,
        (false, true) => Binary::MinUnsigned,
        (true, false) => Binary::Max,
        (true, true) => Binary::MaxUnsigned,
    }
}
