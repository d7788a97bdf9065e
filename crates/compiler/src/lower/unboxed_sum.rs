//! Values of sums whose cases have arguments, while they are on their way.
//!
//! Stored, such a value is an object of its own, and no slot of an array; so arrays of them are the
//! evaluator's. But most never are stored: a function gives `Some x` or `None`, and who called it
//! looks which. Such a value is [`AbstractValue::Sum`]: the number of its case, and an argument for
//! each case, of which one counts. The others are zeros.

use super::{AbstractValue, Declined, Lower, Place, Result, UnsupportedType, bare};
use crate::layout::{Form, Layout};
use crate::loop_ir::{Binary, Compare, Op, Reg, ScalarType, Stmt};
use crate::types::encoding::Code;
use crate::types::{Type, TypeKind};
use crate::value::Class;
use num_traits::ToPrimitive;
use std::rc::Rc;

/// Cases of the largest sum.
const MAX_CASES: u64 = 16;

/// Sums inside sums. A variant that mentions itself would have them without end.
const MAX_DEPTH: usize = 4;

/// Returns true if values of a layout are objects that are taken apart here.
fn apart(layout: &Layout) -> bool {
    layout.slots == 1
        && layout.class == Class::Any
        && match &layout.form {
            Form::Sum(sum) => !sum.is_unwrapped(),
            Form::Variant => true,
            _ => false,
        }
}

/// The types of the arguments, by case.
fn arguments(ty: &Type) -> Option<Vec<Type>> {
    match ty.kind() {
        TypeKind::Sum(cases) => Some(cases.iter().map(bare).collect()),
        TypeKind::Repeat(n, case) => {
            let n = n.size().ok().and_then(|n| n.to_u64()).filter(|n| *n <= MAX_CASES)?;
            Some((0..n).map(|_| bare(case)).collect())
        }
        TypeKind::Nominal(nominal, args) => {
            Some(nominal.variant_cases(args)?.iter().map(|(_, case)| bare(case)).collect())
        }
        _ => None,
    }
}

impl<'a> Lower<'a> {
    /// The types of the arguments of a sum that is taken apart here, by case; of any other type,
    /// nothing.
    pub(crate) fn cases(&self, ty: &Type) -> Result<Option<Vec<Type>>> {
        let cases = self.taken_apart(ty)?;
        cases.iter().flatten().try_for_each(|case| self.ends(case, 0))?;
        Ok(cases)
    }

    fn taken_apart(&self, ty: &Type) -> Result<Option<Vec<Type>>> {
        if ty.has_var() || !apart(&self.layout(ty)) {
            return Ok(None);
        }
        let cases = arguments(ty).filter(|cases| cases.len() as u64 <= MAX_CASES);
        cases.map(Some).ok_or(Declined::Type(UnsupportedType::ManyCases))
    }

    /// Returns true if the sums inside a type end somewhere: its zero is written out.
    fn ends(&self, ty: &Type, depth: usize) -> Result<()> {
        self.step()?;
        if depth == MAX_DEPTH {
            return Err(Declined::Type(UnsupportedType::RecursiveVariant));
        }
        if let Some(cases) = self.taken_apart(ty)? {
            return cases.iter().try_for_each(|case| self.ends(case, depth + 1));
        }
        match &self.layout(ty).form {
            Form::Parts(parts) => {
                let parts = ty.components(parts.len()).unwrap_or_default();
                parts.iter().try_for_each(|part| self.ends(&bare(part), depth))
            }
            _ => Ok(()),
        }
    }

    /// Case `case` with an argument.
    pub(crate) fn case_of(
        &mut self,
        types: &[Type],
        case: &Code,
        argument: &AbstractValue<'a>,
    ) -> Result<AbstractValue<'a>> {
        let case = case.to_u64().ok_or(Declined::Type(UnsupportedType::WideCode))?;
        let mut arguments = Vec::new();
        for (i, ty) in types.iter().enumerate() {
            arguments.push(if i as u64 == case { argument.clone() } else { self.zero(ty)? });
        }
        Ok(AbstractValue::Sum(self.int(case)?, Rc::new(arguments)))
    }

    /// One of two values of a sum.
    pub(crate) fn choose_case(
        &mut self,
        condition: Reg,
        (a, x): (Reg, &[AbstractValue<'a>]),
        (b, y): (Reg, &[AbstractValue<'a>]),
        types: &[Type],
    ) -> Result<AbstractValue<'a>> {
        let case = self.set(ScalarType::I64, Op::Select(condition, a, b))?;
        let mut arguments = Vec::new();
        for ((x, y), ty) in x.iter().zip(y).zip(types) {
            arguments.push(self.choose(condition, x, y, ty)?);
        }
        Ok(AbstractValue::Sum(case, Rc::new(arguments)))
    }

    /// Returns true if two values of a sum are the same: the case, and its argument.
    pub(crate) fn same_case(
        &mut self,
        (a, x): (Reg, &[AbstractValue<'a>]),
        (b, y): (Reg, &[AbstractValue<'a>]),
        types: &[Type],
    ) -> Result<Reg> {
        let mut all = self.set(ScalarType::I64, Op::Compare(Compare::Eq, a, b))?;
        let one = self.int(1)?;
        for (i, ((x, y), ty)) in x.iter().zip(y).zip(types).enumerate() {
            let i = self.int(i as u64)?;
            let other = self.set(ScalarType::I64, Op::Compare(Compare::Eq, a, i))?;
            let other = self.binary(Binary::Xor, other, one)?;
            let same = self.same(x, y, ty)?;
            let same = self.binary(Binary::Or, other, same)?;
            all = self.binary(Binary::And, all, same)?;
        }
        Ok(all)
    }

    /// A place for values of a sum.
    pub(crate) fn place_for_case(&mut self, types: &[Type]) -> Result<Place> {
        let case = self.var(ScalarType::I64);
        let places = types.iter().map(|ty| self.place_for(ty)).collect::<Result<Vec<_>>>()?;
        Ok(Place::Sum(case, Rc::new(places)))
    }

    /// Puts a value of a sum into its place.
    pub(crate) fn assign_case(
        &mut self,
        (var, places): (crate::loop_ir::Var, &[Place]),
        value: &AbstractValue<'a>,
        ty: &Type,
    ) -> Result<()> {
        let (AbstractValue::Sum(case, arguments), Some(types)) = (value, self.cases(ty)?) else {
            return Err(Declined::Type(UnsupportedType::StoredSum));
        };
        let mut ready = Vec::new();
        for (argument, ty) in arguments.iter().zip(&types) {
            // An argument may be read from where another one goes.
            let changing = self.changing(argument, None);
            ready.push(if changing { self.materialize(argument, ty)? } else { argument.clone() });
        }
        self.emit(Stmt::Set(var, *case))?;
        for ((place, argument), ty) in places.iter().zip(&ready).zip(&types) {
            self.assign(place, argument, ty)?;
        }
        Ok(())
    }
}
