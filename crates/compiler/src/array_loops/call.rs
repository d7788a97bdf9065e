//! Functions of the array IR beside the unit, which are recursive, and calls of them.
//!
//! A function is a kernel of its own ([`Kernel::functions`]). A word of a parameter is a scalar of
//! it, an array of a parameter an input; a word of the result is a scalar result, an array of the
//! result memory that the caller hands over. Types say how many there are, and in which order, so a
//! call is lowered without a look at the function. An array that is handed over lies in memory of the
//! narrowest class of its type, element after element; one that does not is copied there first. So an
//! array that a recursion only passes on is copied at most once, by the unit.
//!
//! What a function computes in arrays of its own lies on its stack.
//!
//! Declines arrays in sums, sizes that are passed on, and arrays that are too large for the stack.

use super::storage::{ArrayValue, LoweredValue, scalar_type};
use super::{Declined, Emitter, Result};
use crate::array_ir::{self as ir, End, FunctionId, Space, Stmt as ArrayStmt, Type, Value};
use crate::loop_ir::{Array, FunctionCall, Kernel, Op, Origin, Reg, ScalarType, Stmt};

/// The values that a call hands over, or that a function gives back.
#[derive(Default)]
struct Handed {
    regs: Vec<Reg>,
    arrays: Vec<(Array, Reg)>,
}

/// Returns true for a sum with an array in it.
fn is_array_in_sum(ty: &Type) -> bool {
    match ty {
        Type::Sum(types) => types.iter().any(Type::has_array),
        Type::Tuple(types) => types.iter().any(is_array_in_sum),
        Type::Array(_, element) => element.has_sum() && element.has_array(),
        Type::Element(_) | Type::Index(_) | Type::Exists(..) => false,
    }
}

impl<'p> Emitter<'p> {
    /// The kernel of a function that is not that of the unit.
    pub(super) fn recursive_function(mut self) -> Result<(Kernel, usize)> {
        self.in_parallel = true;
        let body = &self.function.body;
        for (value, ty) in &body.params {
            let lowered = self.parameter(ty)?;
            self.values.insert(*value, lowered);
        }
        self.stmts(&body.stmts)?;
        let End::Yield(value) = body.end else { unreachable!("a function yields its value") };
        let (lowered, ty) = (self.values[&value].clone(), &self.function.result);
        let mut results = 0;
        self.give_back(&lowered, ty, &mut results)?;
        self.kernel.body = self.open.pop().expect("a block is open").stmts;
        self.kernel.constants = self.constants;
        let on_heap = |origin: Origin| matches!(origin, Origin::Scratch | Origin::ThreadLocal);
        if self.kernel.arrays.iter().any(|array| on_heap(array.origin)) {
            return Err(Declined::Stack);
        }
        Ok((self.kernel, self.made))
    }

    /// A parameter of a type.
    fn parameter(&mut self, ty: &Type) -> Result<LoweredValue<'p>> {
        if is_array_in_sum(ty) {
            return Err(Declined::Sum);
        }
        Ok(match ty {
            Type::Element(element) => LoweredValue::Word(self.parameter_word(scalar_type(*element))?),
            Type::Index(space) => {
                let mut digits = Vec::new();
                for extent in self.extents(space)? {
                    digits.push(match extent {
                        1 => self.int(0)?,
                        _ => self.parameter_word(ScalarType::I64)?,
                    });
                }
                LoweredValue::Index(digits.into())
            }
            Type::Tuple(types) => {
                let parts = types.iter().map(|ty| self.parameter(ty)).collect::<Result<Vec<_>>>()?;
                LoweredValue::Tuple(parts.into())
            }
            Type::Sum(types) => {
                let tag = self.parameter_word(ScalarType::I64)?;
                let pieces = types.iter().map(|ty| self.parameter(ty)).collect::<Result<Vec<_>>>()?;
                LoweredValue::Sum(tag, pieces.into())
            }
            Type::Array(..) if self.slots(ty)? == 0 => self.without_slots(ty)?,
            Type::Array(..) => {
                let inputs = self.kernel.arrays.iter();
                let number = inputs.filter(|array| matches!(array.origin, Origin::Input(_))).count() as u32;
                let array = self.handed_array(Origin::Input(number), ty)?;
                let base = self.int(0)?;
                self.load(ty, array, base)?
            }
            Type::Exists(..) => return Err(Declined::Arrival),
        })
    }

    fn parameter_word(&mut self, ty: ScalarType) -> Result<Reg> {
        self.kernel.scalars.push(ty);
        let number = self.kernel.scalars.len() as u32 - 1;
        self.set(ty, Op::Scalar(number))
    }

    /// An array that a caller hands over for a value of a type.
    fn handed_array(&mut self, origin: Origin, ty: &Type) -> Result<Array> {
        let (class, slots) = (self.class(ty)?, self.slots(ty)?);
        self.array(origin, class, slots)
    }

    /// Makes a value the result of the function; so many arrays are results already.
    fn give_back(&mut self, lowered: &LoweredValue<'p>, ty: &Type, results: &mut u32) -> Result<()> {
        if is_array_in_sum(ty) {
            return Err(Declined::Sum);
        }
        match (lowered, ty) {
            (LoweredValue::Word(reg), _) => self.kernel.scalar_results.push(*reg),
            (LoweredValue::Index(digits), Type::Index(space)) => {
                let extents = self.extents(space)?;
                let passed = digits.iter().zip(extents).filter(|(_, extent)| *extent != 1);
                self.kernel.scalar_results.extend(passed.map(|(digit, _)| *digit));
            }
            (LoweredValue::Tuple(parts), Type::Tuple(types)) => {
                for (part, ty) in parts.iter().zip(types) {
                    self.give_back(part, ty, results)?;
                }
            }
            (LoweredValue::Sum(tag, pieces), Type::Sum(types)) => {
                self.kernel.scalar_results.push(*tag);
                for (piece, ty) in pieces.iter().zip(types) {
                    self.give_back(piece, ty, results)?;
                }
            }
            (LoweredValue::Array(_), Type::Array(..)) if self.slots(ty)? == 0 => {}
            (LoweredValue::Array(_), Type::Array(..)) => {
                let array = self.handed_array(Origin::Result(*results), ty)?;
                *results += 1;
                let base = self.int(0)?;
                self.store(lowered, ty, array, base)?;
            }
            _ => return Err(Declined::Arrival),
        }
        Ok(())
    }

    /// A call of a function.
    pub(super) fn call(
        &mut self,
        stmt: &'p ArrayStmt,
        function: FunctionId,
        values: &[Value],
    ) -> Result<LoweredValue<'p>> {
        let number = function.index().checked_sub(1).ok_or(Declined::Call)?;
        let mut given = Handed::default();
        for value in values {
            let (lowered, ty) = (self.values[value].clone(), self.uses.types[value]);
            self.hand_over(&lowered, ty, &mut given)?;
        }
        let mut taken = Handed::default();
        let result = self.take_back(stmt.value, &stmt.ty, &mut 0, &mut taken)?;
        self.emit(Stmt::Call(FunctionCall {
            function: number as u32,
            args: given.regs,
            read: given.arrays,
            written: taken.arrays,
            results: taken.regs,
        }))?;
        Ok(result)
    }

    /// Collects the words and arrays of an argument.
    fn hand_over(&mut self, lowered: &LoweredValue<'p>, ty: &Type, given: &mut Handed) -> Result<()> {
        if is_array_in_sum(ty) {
            return Err(Declined::Sum);
        }
        match (lowered, ty) {
            (LoweredValue::Word(reg), _) => given.regs.push(*reg),
            (LoweredValue::Index(digits), Type::Index(space)) => {
                let extents = self.extents(space)?;
                let passed = digits.iter().zip(extents).filter(|(_, extent)| *extent != 1);
                given.regs.extend(passed.map(|(digit, _)| *digit));
            }
            (LoweredValue::Tuple(parts), Type::Tuple(types)) => {
                for (part, ty) in parts.iter().zip(types) {
                    self.hand_over(part, ty, given)?;
                }
            }
            (LoweredValue::Sum(tag, pieces), Type::Sum(types)) => {
                given.regs.push(*tag);
                for (piece, ty) in pieces.iter().zip(types) {
                    self.hand_over(piece, ty, given)?;
                }
            }
            (LoweredValue::Array(_), Type::Array(..)) if self.slots(ty)? == 0 => {}
            (LoweredValue::Array(value), Type::Array(..)) => {
                let width = self.class(ty)?.bytes();
                let place = |value: &ArrayValue<'p>| match value {
                    ArrayValue::Memory { array, base } => Some((*array, *base)),
                    _ => None,
                };
                let fits = |(array, _): &(Array, Reg)| u64::from(self.kernel.arrays[*array].width) == width;
                let known = place(value).filter(fits);
                given.arrays.push(match known {
                    Some(place) => place,
                    None => match self.store_in_own_memory(lowered, ty)? {
                        LoweredValue::Array(stored) => place(&stored).expect("an array that was stored"),
                        _ => unreachable!("an array is stored as one"),
                    },
                });
            }
            _ => return Err(Declined::Arrival),
        }
        Ok(())
    }

    /// The value that a call gives, with the registers and the memory that hold it; `next` is the
    /// position of its first array among those of the value.
    fn take_back(
        &mut self,
        value: Value,
        ty: &Type,
        next: &mut usize,
        taken: &mut Handed,
    ) -> Result<LoweredValue<'p>> {
        if is_array_in_sum(ty) {
            return Err(Declined::Sum);
        }
        let mut word = |this: &mut Self, ty: ScalarType| {
            taken.regs.push(this.reg(ty));
            taken.regs[taken.regs.len() - 1]
        };
        Ok(match ty {
            Type::Element(element) => LoweredValue::Word(word(self, scalar_type(*element))),
            Type::Index(space) => LoweredValue::Index(self.digits_of_result(space, &mut word)?.into()),
            Type::Tuple(types) => {
                let parts = types.iter().map(|ty| self.take_back(value, ty, next, taken));
                LoweredValue::Tuple(parts.collect::<Result<Vec<_>>>()?.into())
            }
            Type::Sum(types) => {
                let tag = word(self, ScalarType::I64);
                let pieces = types.iter().map(|ty| self.take_back(value, ty, next, taken));
                LoweredValue::Sum(tag, pieces.collect::<Result<Vec<_>>>()?.into())
            }
            Type::Array(..) => {
                *next += 1;
                if self.slots(ty)? == 0 {
                    return self.without_slots(ty);
                }
                let width = self.class(ty)?.bytes();
                let own = self.memory_of(value, *next - 1, ty)?;
                let array = match u64::from(self.kernel.arrays[own].width) == width {
                    true => own,
                    false => self.allocate(ty)?,
                };
                let base = self.int(0)?;
                taken.arrays.push((array, base));
                self.load(ty, array, base)?
            }
            Type::Exists(..) => return Err(Declined::Arrival),
        })
    }

    fn digits_of_result(
        &mut self,
        space: &Space,
        word: &mut dyn FnMut(&mut Self, ScalarType) -> Reg,
    ) -> Result<Vec<Reg>> {
        let mut digits = Vec::new();
        for extent in self.extents(space)? {
            digits.push(match extent {
                1 => self.int(0)?,
                _ => word(self, ScalarType::I64),
            });
        }
        Ok(digits)
    }
}

/// The functions of a program beside its first one, with their number of statements.
pub(super) fn functions<'p>(
    program: &'p ir::Program,
    emitter: &dyn Fn(&'p ir::Function) -> Emitter<'p>,
) -> Result<(Vec<Kernel>, usize)> {
    let (mut kernels, mut made) = (Vec::new(), 0);
    for function in &program.functions[1..] {
        let (kernel, statements) = emitter(function).recursive_function()?;
        kernels.push(kernel);
        made += statements;
    }
    Ok((kernels, made))
}
