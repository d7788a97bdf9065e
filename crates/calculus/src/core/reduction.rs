//! Reductions and scans: the grouping of operations that every executor uses.
//!
//! `_reduce (op, zero, x)` divides the elements of `x` into chunks of [`CHUNK`], reduces each, and
//! joins `zero` and the results of the chunks from left to right. Within a chunk elements are
//! joined from left to right, except where `op` is plainly `+`, `*`, `_min` or `_max` of floats
//! ([`reduction_op`]). Then [`LANES`] accumulators are used: element `k` of the chunk goes to lane
//! `k % LANES`. They start from -0, 1 or an infinity, the identity of the operation. At the end
//! lane `i` is joined with lane `i + 4`, then with `i + 2`, then with `i + 1` ([`combine_lanes`]).
//! So results are bitwise equal on any number of threads, and an operation need only be
//! associative.
//!
//! For floats, `_min` and `_max` are `minimum` and `maximum` of IEEE 754-2019 ([`min_max`]): -0 is
//! below +0, and the result is NaN, always the same one, if an operand is NaN. So they are
//! associative and commutative in every bit, and their grouping has no visible effect.
//!
//! `_dot (x, y)` is the sum of the products, with the chunks and lanes of `+`; but a product is
//! added to its lane by a fused multiply-add, without intermediate rounding.
//!
//! `_scan (op, x)` has the same chunks. Within one the running results are made from left to right;
//! the last result of a chunk is joined from the left to those of the next chunk.

use super::{FunctionId, Num, Op, Prim, Program, Term, TermKind};
use crate::hash::HashMap;
use crate::types::Type;

/// The number of elements of a chunk.
pub const CHUNK: usize = 1 << 15;

/// The number of accumulators of a chunk.
pub const LANES: usize = 8;

/// An operation that is reduced in lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReductionOp {
    /// `+`
    Add,
    /// `*`
    Mul,
    /// `_min`
    Min,
    /// `_max`
    Max,
}

impl ReductionOp {
    /// Returns the identity of the operation, from which lanes start.
    pub const fn identity(self) -> f64 {
        match self {
            ReductionOp::Add => -0.0,
            ReductionOp::Mul => 1.0,
            ReductionOp::Min => f64::INFINITY,
            ReductionOp::Max => f64::NEG_INFINITY,
        }
    }

    /// Joins two numbers.
    pub fn apply(self, a: f64, b: f64) -> f64 {
        match self {
            ReductionOp::Add => a + b,
            ReductionOp::Mul => a * b,
            ReductionOp::Min => min_max(false, a, b),
            ReductionOp::Max => min_max(true, a, b),
        }
    }
}

/// Returns the larger of two floats if `max`, otherwise the smaller: -0 is below +0, and the result
/// is [`f64::NAN`] if one operand is NaN. For operands that are exactly representable in binary32,
/// the result is one of them, or the NaN that `f64::NAN as f32` is.
pub fn min_max(max: bool, a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() {
        return f64::NAN;
    }
    // Among equal operands only zeros may differ, by their sign.
    let first = if a == b { a.is_sign_positive() == max } else { (a > b) == max };
    if first { a } else { b }
}

/// Joins the lanes of a chunk.
pub fn combine_lanes<T: Copy>(mut lanes: [T; LANES], mut join: impl FnMut(T, T) -> T) -> T {
    let mut width = LANES / 2;
    while width > 0 {
        for i in 0..width {
            lanes[i] = join(lanes[i], lanes[i + width]);
        }
        width /= 2;
    }
    lanes[0]
}

/// Returns the operation of a function that applies `+`, `*`, `_min` or `_max` of floats to its two
/// parameters, directly or through a method; `None` for other functions.
pub fn reduction_op(program: &Program, function: FunctionId, type_args: &[Type]) -> Option<ReductionOp> {
    resolve(program, function, type_args, 0)
}

/// Resolves the operation through calls of other functions, nested at most four deep.
fn resolve(program: &Program, function: FunctionId, type_args: &[Type], depth: u32) -> Option<ReductionOp> {
    let body = program.functions.get(function.index())?.as_ref()?;
    let own = |args: &[Term]| {
        let local = |term: &Term| match term.kind {
            TermKind::Local(local) => Some(local),
            _ => None,
        };
        body.params.len() == 2
            && args.len() == 2
            && args.iter().zip(&body.params).all(|(arg, param)| local(arg) == Some(*param))
    };
    let term = match &body.body.kind {
        // A body in braces that only returns a value.
        TermKind::Block(stmts, Some(value)) if stmts.is_empty() => value,
        _ => &body.body,
    };
    match &term.kind {
        TermKind::Op(Op::Add(Num::Real | Num::Single), args) if own(args) => Some(ReductionOp::Add),
        TermKind::Op(Op::Mul(Num::Real | Num::Single), args) if own(args) => Some(ReductionOp::Mul),
        // The caller asks for floats only.
        TermKind::Prim(Prim::Min, _, args) if own(args) => Some(ReductionOp::Min),
        TermKind::Prim(Prim::Max, _, args) if own(args) => Some(ReductionOp::Max),
        TermKind::Call(head, args) if own(args) && depth < 4 => {
            let bindings: HashMap<u32, Type> =
                body.type_params.iter().map(|p| p.id).zip(type_args.iter().cloned()).collect();
            let concrete = |types: &[Type]| types.iter().map(|t| t.substitute(&bindings)).collect::<Vec<_>>();
            match &head.kind {
                TermKind::Method { class, method, type_args } => {
                    let (function, types) = program.implementation(*class, *method, &concrete(type_args))?;
                    resolve(program, function, &types, depth + 1)
                }
                TermKind::Closure { function, type_args, captures } if captures.is_empty() => {
                    resolve(program, *function, &concrete(type_args), depth + 1)
                }
                _ => None,
            }
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{LANES, ReductionOp, combine_lanes, min_max};

    /// The grouping is that of the head of this file: `i` with `i + 4`, then `i + 2`, then `i + 1`.
    #[test]
    fn lanes_are_joined_in_halves() {
        let lanes: [String; LANES] = std::array::from_fn(|lane| lane.to_string());
        let lanes = lanes.each_ref().map(String::as_str);
        let joined = combine_lanes(lanes, |a, b| Box::leak(format!("({a} {b})").into_boxed_str()));
        assert_eq!(joined, "(((0 4) (2 6)) ((1 5) (3 7)))");
    }

    const NUMBERS: [f64; 9] =
        [0.0, -0.0, 1.0, -1.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, f64::MIN_POSITIVE, f64::MAX];

    #[test]
    fn minimum_and_maximum_are_associative_and_commutative_in_every_bit() {
        let bits = |max, a, b| min_max(max, a, b).to_bits();
        for max in [false, true] {
            for a in NUMBERS {
                for b in NUMBERS.into_iter().chain([-f64::NAN]) {
                    assert_eq!(bits(max, a, b), bits(max, b, a), "{a} and {b}");
                    for c in NUMBERS {
                        let (left, right) = (min_max(max, a, b), min_max(max, b, c));
                        assert_eq!(bits(max, left, c), bits(max, a, right), "{a}, {b} and {c}");
                    }
                }
            }
        }
        assert_eq!(min_max(false, 0.0, -0.0).to_bits(), (-0.0f64).to_bits());
        assert_eq!(min_max(true, -0.0, 0.0).to_bits(), 0.0f64.to_bits());
        assert_eq!(bits(true, -f64::NAN, 1.0), f64::NAN.to_bits());
    }

    #[test]
    fn an_identity_changes_no_bit() {
        for op in [ReductionOp::Add, ReductionOp::Mul, ReductionOp::Min, ReductionOp::Max] {
            for x in NUMBERS.into_iter().filter(|x| !x.is_nan()) {
                assert_eq!(op.apply(op.identity(), x).to_bits(), x.to_bits(), "{op:?} of {x}");
            }
        }
    }
}
