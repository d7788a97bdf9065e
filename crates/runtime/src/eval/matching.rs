//! Construction and case distinction of sums; pattern matching.

use super::code::{Pattern, SumRepresentation};
use crate::layout::{Form, Layouts};
use crate::types::encoding::Code;
use crate::types::{Type, TypeKind};
use crate::value::{Case, Cell, Value};
use std::sync::Arc;

impl SumRepresentation {
    /// Returns the representation of the cases of a sum type.
    pub(super) fn of(layouts: &Layouts, ty: &Type) -> SumRepresentation {
        let ty = ty.unfold();
        let layout = layouts.of(&ty);
        match ty.kind() {
            _ if ty.is_compact() => SumRepresentation::Compact(layout),
            TypeKind::Nominal(..) => SumRepresentation::Variant,
            _ => SumRepresentation::Sum(layout),
        }
    }
}

/// Returns the value of a case with its argument.
pub(super) fn inject_case(cases: &SumRepresentation, case: &Code, argument: Value) -> Value {
    match cases {
        SumRepresentation::Variant => Value::Sum(Arc::new(Case(case.clone(), argument))),
        SumRepresentation::Compact(layout) => {
            Value::code(layout.require_compact().encoding.inject(case, &argument.to_code()))
        }
        SumRepresentation::Sum(layout) => match &layout.form {
            Form::Sum(sum) => sum.inject(case, argument),
            _ => argument,
        },
    }
}

/// Returns the case of a value, and its argument.
pub(super) fn split_case(cases: &SumRepresentation, value: &Value) -> (Code, Value) {
    match cases {
        SumRepresentation::Variant => match value {
            Value::Sum(sum) => (sum.0.clone(), sum.1.clone()),
            _ => unreachable!("a value of a variant has a tag"),
        },
        SumRepresentation::Compact(layout) => {
            let (case, argument) = layout.require_compact().encoding.split(&value.to_code());
            (case, Value::code(argument))
        }
        SumRepresentation::Sum(layout) => match &layout.form {
            Form::Sum(sum) => sum.split(value),
            _ => (Code::ZERO, value.clone()),
        },
    }
}

/// Returns true if a value matches a pattern. Binds the locals of the pattern, also where a later
/// part does not match.
pub(super) fn match_pattern(pattern: &Pattern, value: &Value, frame: &mut [Value]) -> bool {
    match pattern {
        Pattern::Any => true,
        Pattern::Bind(local) => {
            frame[local.index()] = value.clone();
            true
        }
        Pattern::BindShared(local) => {
            frame[local.index()] = Value::Cell(Cell::new(Some(value.clone())));
            true
        }
        Pattern::As(inner, whole) => match_pattern(inner, value, frame) && match_pattern(whole, value, frame),
        Pattern::Int(n) => value.as_int() == *n,
        Pattern::Bigint(n) => value.as_bigint() == *n,
        Pattern::Real(x) => value.as_real() == *x,
        Pattern::Single(x) => value.as_single() == *x,
        Pattern::Ints(fixed, low, high) => {
            let word = value.as_int();
            let n = fixed.map_or(i128::from(word), |fixed| fixed.decode(word as u64));
            *low <= n && n <= *high
        }
        Pattern::Bigints(low, high) => (low..=high).contains(&&value.as_bigint()),
        Pattern::Chars(low, high) => (low..=high).contains(&&value.to_code()),
        Pattern::Or(parts) => parts.iter().any(|part| match_pattern(part, value, frame)),
        Pattern::Str(text) => value.as_str() == &**text,
        Pattern::Code(code) => value.to_code() == *code,
        Pattern::Tuple(parts, whole) => parts.iter().all(|(start, slots, part)| {
            let value = if slots == whole { value.clone() } else { value.slots(*start, *slots) };
            match_pattern(part, &value, frame)
        }),
        Pattern::Pack(layout, parts) => {
            let compact = layout.require_compact();
            let code = value.to_code();
            parts.iter().enumerate().all(|(i, part)| {
                match_pattern(part, &Value::code(compact.encoding.project(&code, &Code::from(i))), frame)
            })
        }
        Pattern::Case(cases, case, inner) => {
            let (found, argument) = split_case(cases, value);
            found == *case && inner.as_ref().is_none_or(|p| match_pattern(p, &argument, frame))
        }
        Pattern::Coarray(cases, index, argument) => {
            let (found, inner) = split_case(cases, value);
            match_pattern(index, &Value::code(found), frame) && match_pattern(argument, &inner, frame)
        }
    }
}
