//! Types of core as types of the array IR.

use super::reshape::{regroup, sizes};
use super::{Builder, Declined, Known, Result, Scope};
use crate::array_ir::{Compare, Violation, digit};
use crate::array_ir::{
    Digit, DigitExpr, Element, MAX_BOUND, Op, Prim, Size, SizeAtom, SizeVar, Space, Type, Value,
};
use crate::types::number::Fixed;
use crate::types::size::Size as ExactSize;
use crate::types::variable_numbers::INLINED_SIZES;
use crate::types::{Scalar, Type as CoreType, TypeKind, TypeVar};
use num_traits::{One, ToPrimitive};
use std::sync::Arc;

/// The element type of a scalar.
pub(super) fn scalar_element(scalar: Scalar) -> Result<Element> {
    Ok(match scalar {
        Scalar::Int => Element::I64,
        Scalar::Fixed(Fixed::I8 | Fixed::U8) => Element::I8,
        Scalar::Fixed(Fixed::I16 | Fixed::U16) => Element::I16,
        Scalar::Fixed(Fixed::I32 | Fixed::U32) | Scalar::Char => Element::I32,
        Scalar::Fixed(Fixed::U64) => Element::I64,
        Scalar::Single => Element::F32,
        Scalar::Real => Element::F64,
        Scalar::Bigint => return Err(Declined::Bigint.into()),
        Scalar::String => return Err(Declined::Text.into()),
    })
}

/// Returns true for scalars whose words are read without sign.
pub(super) fn is_unsigned(scalar: Scalar) -> bool {
    match scalar {
        Scalar::Fixed(fixed) => !fixed.shape().1,
        scalar => scalar == Scalar::Char,
    }
}

/// The type without names: definitions of newtypes and of compact declared types, and what abstract
/// types are represented by.
pub fn structural_type(ty: &CoreType) -> CoreType {
    let mut ty = ty.unfold();
    while let TypeKind::Nominal(nominal, args) = ty.kind()
        && let Some(definition) = match ty.is_compact() {
            true => nominal.definition(args),
            false => nominal.representation(args),
        }
    {
        ty = definition.unfold();
    }
    ty
}

/// The type of texts: arrays of code points, with their sizes.
fn text_type() -> Type {
    Type::sized_array(Type::Element(Element::I32))
}

/// Parts of a type, at most.
const MAX_TYPE_PARTS: usize = 1_024;

/// Types inside each other, at most: the levels of a type of recursion over types are built at each
/// of its calls.
const MAX_TYPE_LEVELS: u32 = 100;

/// Cases of the largest sum whose cases have arguments.
const MAX_CASES: usize = 16;

/// Sums inside sums, at most. A variant that mentions itself has them without end.
const MAX_SUMS: u32 = 4;

/// Parts of types that count as much as one statement.
const PARTS_PER_STATEMENT: usize = 16;

/// The parts that a type may have, and the sums inside each other.
struct TypeBounds {
    parts: usize,
    sums: u32,
    /// Types around that a value with its sizes cannot be a part of: arrays, and such values.
    bound: u32,
}

impl Builder<'_> {
    /// The size variable of a type variable.
    pub(super) fn size_var(&mut self, var: &TypeVar) -> Result<SizeVar> {
        if !CoreType::var(var.clone()).is_compact() {
            return Err(Declined::Polymorphic.into());
        }
        if let Some((_, size)) = self.sizes.iter().find(|(known, _)| known.id == var.id) {
            return Ok(*size);
        }
        if let Some(position) = INLINED_SIZES.position(var.id) {
            return Ok(self.opened[position]);
        }
        let size = self.fresh_size();
        self.sizes.push((var.clone(), size));
        Ok(size)
    }

    /// The variable of a size: one of the unit, or one that an existential type around binds.
    fn size_atom(&mut self, var: &TypeVar) -> Result<SizeAtom> {
        match var.as_bound() {
            Some((0, position)) if position < MAX_BOUND as usize => Ok(SizeAtom::Bound(position as u32)),
            Some(_) => Err(Declined::Arrival.into()),
            None => Ok(SizeAtom::Var(self.size_var(var)?)),
        }
    }

    /// The size of a compact type.
    pub(super) fn size(&mut self, ty: &CoreType) -> Result<Size> {
        let exact = ExactSize::of(ty).ok_or(Declined::Size)?;
        let mut sum = Size::constant(0);
        for (coefficient, powers) in exact.monomials().ok_or(Declined::Size)? {
            let coefficient = coefficient.to_u64().filter(|n| *n < 1 << 62).ok_or(Declined::Size)?;
            let mut product = Size::constant(coefficient);
            for (var, power) in powers {
                let var = Size::atom(self.size_atom(&var)?);
                for _ in 0..power {
                    product = product.mul(&var).ok_or(Declined::Size)?;
                }
            }
            sum = sum.add(&product).ok_or(Declined::Size)?;
        }
        Ok(sum)
    }

    /// The digits of an index type.
    pub(super) fn space(&mut self, ty: &CoreType) -> Result<Space> {
        let ty = structural_type(ty);
        let digits = match ty.kind() {
            TypeKind::UnitSum(n) if n.is_one() => Vec::new(),
            // The number of pairs has a size here only if it is a number: it is no polynomial with
            // natural coefficients.
            TypeKind::UnitSum(_) | TypeKind::Var(_) | TypeKind::Triangle(..) | TypeKind::Places(_) => {
                vec![Digit::new(self.size(&ty)?)]
            }
            TypeKind::CompactProduct(factors) => {
                let mut digits = Vec::new();
                for factor in factors {
                    digits.extend(self.space(factor)?.digits);
                }
                digits
            }
            TypeKind::CompactPower(..) => self.power_digits(&ty)?,
            TypeKind::CompactSum(cases) | TypeKind::Sum(cases) => {
                let pieces = cases.iter().map(|case| self.size(case));
                vec![Digit { pieces: pieces.collect::<Result<_>>()? }]
            }
            _ => return Err(Declined::Size.into()),
        };
        let space = Space { digits };
        space.size().ok_or(Declined::Size)?;
        Ok(space)
    }

    /// The type of the values of a type. Types of core share their parts, those of the array IR are
    /// trees: a type of more than [`MAX_TYPE_PARTS`] parts or [`MAX_TYPE_LEVELS`] levels is
    /// declined.
    pub(super) fn ty(&mut self, ty: &CoreType) -> Result<Type> {
        if ty.depth() > MAX_TYPE_LEVELS {
            return Err(Declined::Length.into());
        }
        let mut left = TypeBounds { parts: MAX_TYPE_PARTS, sums: MAX_SUMS, bound: 0 };
        let built = self.type_within(ty, &mut left)?;
        self.spend_units((MAX_TYPE_PARTS - left.parts) / PARTS_PER_STATEMENT)?;
        Ok(built)
    }

    /// The type of the values of a type, if it has at most so many parts; counts them.
    fn type_within(&mut self, ty: &CoreType, left: &mut TypeBounds) -> Result<Type> {
        left.parts = left.parts.checked_sub(1).ok_or(Declined::Length)?;
        let ty = structural_type(ty);
        let list = |this: &mut Self, types: Vec<CoreType>, left: &mut TypeBounds| -> Result<Type> {
            Ok(Type::Tuple(types.iter().map(|ty| this.type_within(ty, left)).collect::<Result<_>>()?))
        };
        let sum = |this: &mut Self, cases: Vec<CoreType>, left: &mut TypeBounds| -> Result<Type> {
            left.sums = left.sums.checked_sub(1).ok_or(Declined::Sum)?;
            if cases.is_empty() || cases.len() > MAX_CASES {
                return Err(Declined::Sum.into());
            }
            let cases = cases.iter().map(|ty| this.type_within(ty, left)).collect::<Result<_>>()?;
            left.sums += 1;
            Ok(Type::Sum(cases))
        };
        Ok(match ty.kind() {
            TypeKind::Scalar(Scalar::String) if left.bound == 0 => text_type(),
            TypeKind::Scalar(scalar) => Type::Element(scalar_element(*scalar)?),
            _ if ty.is_bool() => Type::B1,
            TypeKind::UnitSum(n) if n.is_one() => Type::unit(),
            TypeKind::Array(element, index) => {
                let space = self.space(index)?;
                left.bound += 1;
                let element = self.type_within(element, left)?;
                left.bound -= 1;
                Type::array(space, element)
            }
            TypeKind::Product(types) => list(self, types.clone(), left)?,
            TypeKind::Record(fields) => list(self, fields.iter().map(|(_, ty)| ty.clone()).collect(), left)?,
            TypeKind::Nominal(nominal, args) => match nominal.struct_fields(args) {
                Some(fields) => list(self, fields.into_iter().map(|(_, ty)| ty).collect(), left)?,
                None => match nominal.variant_cases(args) {
                    Some(cases) => sum(self, cases.into_iter().map(|(_, ty)| ty).collect(), left)?,
                    None => return Err(Declined::Abstract.into()),
                },
            },
            TypeKind::Var(var) if !ty.is_compact() => {
                self.size_var(var)?;
                unreachable!("a variable that is no size is declined")
            }
            _ if ty.is_compact() => Type::Index(self.space(&ty)?),
            TypeKind::Sum(cases) if cases.iter().all(CoreType::is_compact) => Type::Index(self.space(&ty)?),
            TypeKind::Sum(cases) => sum(self, cases.clone(), left)?,
            TypeKind::Repeat(..) => return Err(Declined::Sum.into()),
            TypeKind::Placed(..) => return Err(Declined::Place.into()),
            TypeKind::Function(..) | TypeKind::Procedure(_) => return Err(Declined::Function.into()),
            TypeKind::Exists(count, inner) if *count <= MAX_BOUND as usize && left.bound == 0 => {
                left.bound += 1;
                let inner = self.type_within(inner, left)?;
                left.bound -= 1;
                Type::Exists(*count as u32, Arc::new(inner))
            }
            TypeKind::Exists(..) => return Err(Declined::Arrival.into()),
            _ => return Err(Declined::Abstract.into()),
        })
    }

    /// The digits of a compact value, each with its size.
    pub(super) fn digits(&mut self, value: Value) -> Result<Vec<(DigitExpr, Size)>> {
        let value = match self.types[&value].clone() {
            Type::Element(Element::B1) => {
                let two = Space::new([Size::constant(2)]);
                let mut index = |n| {
                    let digit = DigitExpr::Constant(Size::constant(n));
                    self.define(Type::Index(two.clone()), Op::At(two.clone(), vec![digit]))
                };
                let (zero, one) = (index(0)?, index(1)?);
                self.define(Type::Index(two), Op::Select(value, one, zero))?
            }
            _ => value,
        };
        match self.types[&value].clone() {
            Type::Tuple(parts) if parts.is_empty() => Ok(Vec::new()),
            Type::Index(space) => {
                let sizes = space.digits.iter().map(|digit| digit.size().ok_or(Declined::Size.into()));
                let sizes = sizes.collect::<Result<Vec<_>>>()?;
                Ok((0..).map(|at| DigitExpr::Of(value, at)).zip(sizes).collect())
            }
            ty => unreachable!("a compact value is no {ty}"),
        }
    }

    /// The compact value of a type with these digits.
    pub(super) fn compact(&mut self, ty: &CoreType, digits: Vec<DigitExpr>) -> Result<Value> {
        match self.ty(ty)? {
            Type::Element(_) => {
                let digit = digits.into_iter().next().expect("a truth value has a digit");
                let number = self.define(Type::I64, Op::Number(digit))?;
                let one = self.constant(Element::I64, 1)?;
                self.define(Type::B1, Op::Prim(Prim::Compare(Compare::Eq), vec![number, one]))
            }
            Type::Index(space) => self.define(Type::Index(space.clone()), Op::At(space, digits)),
            _ => self.unit(),
        }
    }

    /// The compact value of a type that an index of its space is.
    pub(super) fn whole_index(&mut self, ty: &CoreType, index: Value) -> Result<Value> {
        if self.ty(ty)? == self.types[&index] {
            return Ok(index);
        }
        let digits = self.digits(index)?.into_iter().map(|(digit, _)| digit).collect();
        self.compact(ty, digits)
    }

    pub(super) fn unit(&mut self) -> Result<Value> {
        self.define(Type::unit(), Op::Tuple(Vec::new()))
    }

    /// The index of an array for a compact value.
    pub(super) fn array_index(&mut self, array: Value, at: Value) -> Result<Value> {
        let Type::Array(space, _) = self.types[&array].clone() else {
            unreachable!("only an array is indexed");
        };
        if self.types[&at] == Type::Index(space.clone()) {
            return Ok(at);
        }
        let digits = self.digits(at)?.into_iter().map(|(digit, _)| digit).collect();
        self.define(Type::Index(space.clone()), Op::At(space, digits))
    }

    /// An element of an array at an index of its space.
    pub(super) fn element_at(&mut self, array: Value, at: Value) -> Result<Value> {
        let Type::Array(_, element) = self.types[&array].clone() else {
            unreachable!("only an array is indexed");
        };
        self.define((*element).clone(), Op::Index(array, at))
    }

    /// The code of a compact value as an `i64`.
    pub(super) fn code(&mut self, value: Value) -> Result<Value> {
        let digit = self.code_digit(value)?;
        self.define(Type::I64, Op::Number(digit))
    }

    /// The code of a compact value as a digit.
    pub(super) fn code_digit(&mut self, value: Value) -> Result<DigitExpr> {
        let digits = self.digits(value)?;
        Ok(match &digits[..] {
            [] => DigitExpr::Constant(Size::constant(0)),
            [(digit, _)] => digit.clone(),
            _ => DigitExpr::Join(digits),
        })
    }

    /// The compact value of a type with a code that is below the size of the type.
    pub(super) fn compact_of_code(&mut self, ty: &CoreType, code: DigitExpr, size: Size) -> Result<Value> {
        self.compact_of_digits(ty, &[(code, size)])
    }

    /// The compact value of a type with a number that is written with other digits.
    pub(super) fn compact_of_digits(&mut self, ty: &CoreType, digits: &[(DigitExpr, Size)]) -> Result<Value> {
        let space = self.space(ty)?;
        let digits = regroup(digits, &sizes(&space)?).ok_or(Declined::Reshape)?;
        self.compact(ty, digits)
    }

    /// Returns true if a digit is known to be below a size.
    pub(super) fn is_below(&self, digit: &DigitExpr, size: &Size) -> bool {
        let index = |value| match self.types.get(&value) {
            Some(Type::Index(space)) => Ok(space),
            _ => Err(Violation::NotDefined { value }),
        };
        digit::bound(digit, None, &index).is_ok_and(|bound| bound.is_at_most(size))
    }

    /// A component of a tuple, or of an array at a position.
    pub(super) fn component(&mut self, value: Value, at: u64) -> Result<Value> {
        match self.types[&value].clone() {
            Type::Tuple(types) => {
                let at = u32::try_from(at).map_err(|_| Declined::Length)?;
                self.define(types[at as usize].clone(), Op::Part(value, at))
            }
            Type::Array(space, _) => {
                let index = self.index_at(&space, at)?;
                self.element_at(value, index)
            }
            ty => unreachable!("{ty} has no components"),
        }
    }

    /// The index at a position in storage order: the last digit changes first.
    pub(super) fn index_at(&mut self, space: &Space, position: u64) -> Result<Value> {
        let (mut rest, mut digits) = (position, Vec::new());
        for (at, size) in sizes(space)?.iter().enumerate().rev() {
            let digit = match at {
                0 => rest,
                _ => {
                    let size = size.to_constant().filter(|size| *size > 0).ok_or(Declined::Size)?;
                    let digit = rest % size;
                    rest /= size;
                    digit
                }
            };
            let after = Size::constant(digit).add(&Size::constant(1)).ok_or(Declined::Size)?;
            if !after.is_at_most(size) {
                return Err(Declined::Size.into());
            }
            digits.push(DigitExpr::Constant(Size::constant(digit)));
        }
        digits.reverse();
        self.define(Type::Index(space.clone()), Op::At(space.clone(), digits))
    }

    /// The product of some values at a type.
    pub(super) fn product(&mut self, ty: &CoreType, values: Vec<Value>) -> Result<Value> {
        match self.ty(ty)? {
            // Several values that are the one field of a struct.
            Type::Tuple(types) if types.len() != values.len() => Err(Declined::Reshape.into()),
            ty @ Type::Tuple(_) => self.define(ty, Op::Tuple(values)),
            Type::Array(space, element) => {
                let line = Space::new([Size::constant(values.len() as u64)]);
                let flat = Type::Array(line.clone(), element.clone());
                let array = self.define(flat.clone(), Op::Array((*element).clone(), values))?;
                if line == space {
                    return Ok(array);
                }
                self.reshape_array(array, Type::Array(space, element))
            }
            ty => unreachable!("{ty} is no product"),
        }
    }

    /// The data of a term's value.
    pub(super) fn value(&mut self, scope: &mut Scope, term: &crate::core::Term) -> Result<Value> {
        let known: Known = self.term(scope, term)?;
        self.data(known)
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_SUMS, is_unsigned, scalar_element, text_type};
    use crate::array_ir::Type;
    use crate::build::run::{code, count, run};
    use crate::build::{AbruptCompletion, Builder, Declined};
    use crate::core::Program;
    use crate::types::{Kind, Scalar, Triangle, Type as CoreType, TypeVar};
    use num_traits::ToPrimitive;

    fn built(ty: &CoreType) -> Result<Type, Declined> {
        match Builder::new(&Program::default()).ty(ty) {
            Ok(ty) => Ok(ty),
            Err(AbruptCompletion::Declined(why)) => Err(why),
            Err(AbruptCompletion::Jump(_)) => panic!("a type is no jump"),
        }
    }

    fn number(n: u64) -> CoreType {
        CoreType::unit_sum(n)
    }

    /// Makes a random compact type of at most so many levels.
    fn compact(random: &mut fastrand::Rng, levels: usize) -> CoreType {
        if levels == 0 {
            return number(random.u64(1..5));
        }
        let parts = |random: &mut fastrand::Rng| -> Vec<CoreType> {
            (0..random.usize(2..4)).map(|_| compact(random, levels - 1)).collect()
        };
        match random.usize(..4) {
            0 => CoreType::compact_product(parts(random)),
            1 => CoreType::compact_sum(parts(random)),
            2 => CoreType::compact_power(compact(random, levels - 1), number(random.u64(..10))),
            _ => CoreType::triangle(*random.choice(&Triangle::ALL).expect("two"), number(random.u64(2..6))),
        }
    }

    /// The digits of a type have as many values as the type.
    #[test]
    fn the_space_of_a_type_has_its_size() {
        let seed = 11u64;
        let mut random = fastrand::Rng::with_seed(seed);
        for round in 0..2_000 {
            let ty = compact(&mut random, 2);
            let Some(size) = ty.size().ok().and_then(|size| size.to_u64()).filter(|size| *size < 1 << 60)
            else {
                continue;
            };
            let space = Builder::new(&Program::default()).space(&ty).ok().and_then(|space| space.size());
            let found = space.and_then(|size| size.to_constant());
            assert_eq!(found, Some(size), "seed {seed}, round {round}: {ty}");
        }
    }

    /// A polynomial over the variables stands for the size at any numbers.
    #[test]
    fn symbolic_sizes_are_those_of_the_types_at_numbers() {
        let var = |id: u32| TypeVar { id: 1_001 + id, name: format!("N{id}").into(), kind: Kind::Compact };
        let [n, m] = [0, 1].map(|id| CoreType::var(var(id)));
        let sum = CoreType::compact_sum(vec![n.clone(), number(3)]);
        let ty = CoreType::compact_product(vec![sum, CoreType::compact_power(m, number(2)), n]);
        let core = Program::default();
        let mut builder = Builder::new(&core);
        let size = builder.size(&ty).ok().expect("a polynomial");
        for (a, b) in [(0u64, 5u64), (1, 1), (2, 3), (7, 4)] {
            let at = |atom| {
                let position =
                    builder.sizes.iter().find(|(_, size)| atom == crate::array_ir::SizeAtom::Var(*size));
                position.map(|(known, _)| if known.id == 1_001 { a } else { b })
            };
            assert_eq!(size.evaluate(&at), Some((a + 3) * b * b * a), "{a} and {b}");
        }
    }

    /// The index at a position of storage has the code of the position, as long as there is one.
    #[test]
    fn positions_are_codes_in_storage_order() {
        let ty = CoreType::compact_product(vec![number(3), number(4), number(2)]);
        for position in 0..count(&ty) {
            let found = run(&[], &[], |builder, _| {
                let space = builder.space(&ty)?;
                builder.index_at(&space, position)
            });
            assert_eq!(found.map(|found| code(&ty, &found)), Ok(position));
        }
        let beyond = run(&[], &[], |builder, _| {
            let space = builder.space(&ty)?;
            builder.index_at(&space, count(&ty))
        });
        assert_eq!(beyond, Err(Declined::Size));
    }

    #[test]
    fn elements_have_the_width_of_their_scalars() {
        for scalar in Scalar::ALL {
            match (scalar_element(scalar), scalar) {
                (Ok(element), Scalar::Fixed(fixed)) => {
                    let (bits, signed) = fixed.shape();
                    let all = if bits == 64 { u64::MAX } else { (1 << bits) - 1 };
                    assert_eq!(element.truncate(u64::MAX), all, "{scalar:?}");
                    assert_eq!(is_unsigned(scalar), !signed, "{scalar:?}");
                }
                (Ok(_), scalar) => assert_eq!(is_unsigned(scalar), scalar == Scalar::Char),
                (Err(_), scalar) => assert!(matches!(scalar, Scalar::Bigint | Scalar::String)),
            }
        }
    }

    #[test]
    fn types_without_a_form_are_declined_by_their_word() {
        let function = CoreType::function(CoreType::int(), CoreType::int());
        assert_eq!(built(&function), Err(Declined::Function));
        let texts = CoreType::array(CoreType::string(), number(3));
        assert_eq!(built(&texts), Err(Declined::Text));
        assert_eq!(built(&CoreType::string()), Ok(text_type()));
        assert_eq!(built(&CoreType::repeat(number(3), CoreType::real())), Err(Declined::Sum));
        let var = TypeVar { id: 1_001, name: "T".into(), kind: Kind::Type };
        assert_eq!(built(&CoreType::var(var)), Err(Declined::Polymorphic));
        let pair = CoreType::product(vec![CoreType::int(), CoreType::bool()]);
        assert_eq!(built(&pair), Ok(Type::Tuple(vec![Type::I64, Type::B1])));
    }

    /// A core type shares its parts: written out, this one has more than a billion.
    #[test]
    fn types_of_many_parts_are_declined() {
        let twice = |ty: CoreType, _| {
            CoreType::product(vec![ty.clone(), CoreType::product(vec![ty, CoreType::int()])])
        };
        let large = (0..30).fold(CoreType::real(), twice);
        assert_eq!(built(&large), Err(Declined::Length));
        let nested = |ty: CoreType, _| CoreType::sum(vec![CoreType::real(), ty]);
        assert!(built(&(0..MAX_SUMS).fold(CoreType::int(), nested)).is_ok());
        assert_eq!(built(&(0..=MAX_SUMS).fold(CoreType::int(), nested)), Err(Declined::Sum));
    }
}
