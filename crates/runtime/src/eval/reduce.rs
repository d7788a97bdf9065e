//! Reductions and scans, as [`crate::core::reduction`] defines them.

use super::code::{Closure, PrimTypes};
use super::error::Failure;
use super::evaluator::{Evaluator, Result};
use crate::core::prim::fuses;
use crate::core::reduction::{CHUNK, LANES, ReductionOp, combine_lanes, min_max, reduction_op};
use crate::layout::{Form, Layout};
use crate::source::Span;
use crate::types::encoding::Code;
use crate::types::{Scalar, Type};
use crate::value::{Class, Seq, Value};
use std::cmp::Ordering;

/// The message for the extreme of an empty array.
const EMPTY_ARRAY: &str = "an empty array has no best element";

impl Evaluator<'_, '_> {
    /// Evaluates `_reduce (op, zero, x)`.
    pub(super) fn reduce(&mut self, types: &PrimTypes, args: Vec<Value>, span: Span) -> Result<Value> {
        let [op, zero, x] = &args[..] else {
            return Err(self.fail(Failure::Internal { message: "a reduction without its parts" }, span));
        };
        let slots = types.layout.as_ref().map_or(0, |layout| layout.slots);
        let index = types.args.get(1).map(|ty| self.machine.layouts.of(ty));
        let Some(count) = index.and_then(|l| l.compact().and_then(|c| c.size.to_usize())) else {
            return Err(self.fail(Failure::Uncountable, span));
        };
        let element = |i: usize| if count == 1 { x.clone() } else { x.slots(i * slots, slots) };
        let lanes = self.lane_reduction(op, types.args.first());
        let mut total = zero.clone();
        for low in (0..count).step_by(CHUNK) {
            let high = count.min(low + CHUNK);
            let part = match lanes {
                Some((op, scalar)) => {
                    let float = |value: &Value| match scalar {
                        Scalar::Single => f64::from(value.as_single()),
                        _ => value.as_real(),
                    };
                    let combine = |a: f64, b: f64| match scalar {
                        // Rounded to binary32 after each operation: binary64 has more than twice
                        // the digits, so rounding twice equals rounding once.
                        Scalar::Single => f64::from(op.apply(a, b) as f32),
                        _ => op.apply(a, b),
                    };
                    let mut lane = [op.identity(); LANES];
                    for i in low..high {
                        self.tick(span)?;
                        let at = (i - low) % LANES;
                        lane[at] = combine(lane[at], float(&element(i)));
                    }
                    let sum = combine_lanes(lane, combine);
                    match scalar {
                        Scalar::Single => Value::single(sum as f32),
                        _ => Value::real(sum),
                    }
                }
                None => {
                    let mut part = element(low);
                    for i in low + 1..high {
                        part = self.apply_function(op, vec![part, element(i)], span)?;
                    }
                    part
                }
            };
            total = self.apply_function(op, vec![total, part], span)?;
        }
        Ok(total)
    }

    /// Evaluates `_argmax x` if `max`, else `_argmin x`.
    pub(super) fn arg_extreme(
        &mut self,
        max: bool,
        types: &PrimTypes,
        args: &[Value],
        span: Span,
    ) -> Result<Value> {
        let (x, [element, index]) = match (args, &types.args[..]) {
            ([x], [element, index]) => (x, [element, index].map(|ty| self.machine.layouts.of(ty))),
            _ => {
                return Err(
                    self.fail(Failure::Internal { message: "a largest element without its parts" }, span)
                );
            }
        };
        let Some(count) = index.compact().and_then(|c| c.size.to_usize()) else {
            return Err(self.fail(Failure::Uncountable, span));
        };
        if count == 0 {
            return Err(self.fail(Failure::Failed { message: EMPTY_ARRAY.to_string() }, span));
        }
        let at = |i: usize| if count == 1 { x.clone() } else { x.slots(i * element.slots, element.slots) };
        let mut best = (0, at(0));
        for i in 1..count {
            self.tick(span)?;
            let value = at(i);
            if extreme_order(&element, &value, &best.1, max).is_lt() {
                best = (i, value);
            }
        }
        Ok(Value::code(Code::from(best.0)))
    }

    /// Evaluates `_dot (x, y)`.
    pub(super) fn dot(&mut self, types: &PrimTypes, args: &[Value], span: Span) -> Result<Value> {
        let index = types.args.get(1).map(|ty| self.machine.layouts.of(ty));
        let count = index.and_then(|l| l.compact().and_then(|c| c.size.to_usize()));
        let real = types.args.first().is_some_and(|ty| fuses(std::slice::from_ref(ty)));
        let (Some(count), [x, y], true) = (count, args, real) else {
            return Err(self.fail(Failure::Internal { message: "products of what is not real" }, span));
        };
        let element = |x: &Value, i: usize| match count {
            1 => x.as_real(),
            _ => x.slots(i, 1).as_real(),
        };
        let mut total = 0.0;
        for low in (0..count).step_by(CHUNK) {
            let mut lane = [ReductionOp::Add.identity(); LANES];
            for i in low..count.min(low + CHUNK) {
                self.tick(span)?;
                let at = (i - low) % LANES;
                lane[at] = element(x, i).mul_add(element(y, i), lane[at]);
            }
            total += combine_lanes(lane, |a, b| a + b);
        }
        Ok(Value::real(total))
    }

    /// Evaluates `_scan (op, x)`.
    pub(super) fn scan(&mut self, types: &PrimTypes, args: Vec<Value>, span: Span) -> Result<Value> {
        let (op, x, [element, index]) = match (&args[..], &types.args[..]) {
            ([op, x], [element, index]) => (op, x, [element, index].map(|ty| self.machine.layouts.of(ty))),
            _ => return Err(self.fail(Failure::Internal { message: "a scan without its parts" }, span)),
        };
        let Some(count) = index.compact().and_then(|c| c.size.to_usize()) else {
            return Err(self.fail(Failure::Uncountable, span));
        };
        if count <= 1 {
            return Ok(x.clone());
        }
        let slots = element.slots;
        let mut out =
            self.allocate_buffer(if slots > 0 { element.class } else { Class::U8 }, count * slots, span)?;
        // The last result of the previous chunk.
        let mut before: Option<Value> = None;
        for low in (0..count).step_by(CHUNK) {
            let mut total = x.slots(low * slots, slots);
            let mut last = Value::UNIT;
            for i in low..count.min(low + CHUNK) {
                self.tick(span)?;
                if i > low {
                    total = self.apply_function(op, vec![total, x.slots(i * slots, slots)], span)?;
                }
                last = match &before {
                    Some(before) => self.apply_function(op, vec![before.clone(), total.clone()], span)?,
                    None => total.clone(),
                };
                out.append(&last, slots);
            }
            before = Some(last);
        }
        Ok(if slots > 0 { Value::Seq(Seq::new(out)) } else { Value::UNIT })
    }

    /// Returns the operation and the scalar type, if the elements are floats that are reduced in
    /// lanes.
    fn lane_reduction(&self, op: &Value, element: Option<&Type>) -> Option<(ReductionOp, Scalar)> {
        let scalar = element?.unfold().as_scalar().filter(|s| s.is_float())?;
        let Value::Function(any) = op else { return None };
        let instance = &any.downcast_ref::<Closure>()?.instance;
        Some((reduction_op(self.program, instance.function, &instance.type_args)?, scalar))
    }
}

/// Compares two values in the order of `_max` if `max`, else of `_min`: NaN is first, then the
/// largest or the smallest.
fn extreme_order(layout: &Layout, a: &Value, b: &Value, max: bool) -> Ordering {
    let floats = match &layout.form {
        Form::Scalar(Scalar::Real) => Some((a.as_real(), b.as_real())),
        Form::Scalar(Scalar::Single) => Some((f64::from(a.as_single()), f64::from(b.as_single()))),
        _ => None,
    };
    let ascending = match floats {
        Some((a, b)) if a.is_nan() || b.is_nan() => return b.is_nan().cmp(&a.is_nan()),
        Some((a, b)) => a.total_cmp(&b),
        None => super::arithmetic::scalar_order(layout, a, b).expect("only floats are unordered"),
    };
    if max { ascending.reverse() } else { ascending }
}

/// Evaluates `_max (a, b)` if `max`, else `_min (a, b)`.
pub(super) fn extreme_value(layout: &Layout, a: &Value, b: &Value, max: bool) -> Value {
    match &layout.form {
        Form::Scalar(Scalar::Real) => Value::real(min_max(max, a.as_real(), b.as_real())),
        Form::Scalar(Scalar::Single) => {
            Value::single(min_max(max, f64::from(a.as_single()), f64::from(b.as_single())) as f32)
        }
        _ if extreme_order(layout, b, a, max).is_lt() => b.clone(),
        _ => a.clone(),
    }
}
