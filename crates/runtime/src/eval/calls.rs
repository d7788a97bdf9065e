//! Calls of functions and function values.

use super::code::{Closure, Instance, NodeKind};
use super::error::Failure;
use super::evaluator::{AbruptCompletion, Evaluator, Result};
use super::show::value_part;
use super::stack_guard;
use crate::source::Span;
use crate::value::Value;
use std::sync::Arc;

/// The depth of calls that a program may reach. [`stack_guard`] bounds the depth, too; this bound
/// is the same on every machine.
pub(super) const MAX_CALL_DEPTH: usize = 100_000;

impl Evaluator<'_, '_> {
    /// Calls an instance. The arguments are one value, or the components of one tuple.
    pub(super) fn call(
        &mut self,
        instance: &Arc<Instance>,
        closure: Option<(&Value, &[Value])>,
        mut args: Vec<Value>,
        span: Span,
    ) -> Result<Value> {
        self.tick(span)?;
        let depth = self.machine.calls.len();
        if depth >= MAX_CALL_DEPTH || !stack_guard::has_room() {
            return Err(self.fail(Failure::TooDeep { depth }, span));
        }
        let params = &instance.params;
        if args.len() != params.len() {
            let component =
                |i| instance.domain.part(i).expect("a function of several values has a product domain");
            if args.len() != 1 {
                let parts = args.into_iter().enumerate();
                let parts = parts.map(|(i, arg)| (arg, component(i).1.slots)).collect();
                args = vec![self.build_tuple(parts, &instance.domain, span)?];
            }
            if params.len() != 1 {
                let whole = args.pop().expect("one argument");
                args = (0..params.len())
                    .map(|i| {
                        let (start, part) = component(i);
                        value_part(&whole, &instance.domain, start, &part)
                    })
                    .collect();
            }
        }
        // Arguments that are the first locals begin the frame where they are.
        let in_place = params.iter().enumerate().all(|(at, param)| param.index() == at);
        let mut frame = if in_place { std::mem::take(&mut args) } else { self.take_vector(instance.locals) };
        frame.resize(instance.locals, Value::UNIT);
        for (param, arg) in params.iter().zip(args) {
            frame[param.index()] = arg;
        }
        if let Some((this, captures)) = closure {
            for (local, value) in instance.captures.iter().zip(captures) {
                frame[local.index()] = value.clone();
            }
            if let Some(local) = instance.this {
                frame[local.index()] = this.clone();
            }
        }
        self.machine.calls.push((instance.function, span));
        let result = match self.eval(&instance.body, &mut frame) {
            Err(AbruptCompletion::Return(value)) => Ok(value),
            other => other,
        };
        self.machine.calls.pop();
        self.recycle_vector(frame);
        result
    }

    /// Calls an instance that passes its parameters on to a primitive, without a frame: the
    /// arguments are those of the primitive.
    pub(super) fn call_forwarded(
        &mut self,
        instance: &Instance,
        args: Vec<Value>,
        span: Span,
    ) -> Result<Value> {
        let NodeKind::Prim(prim, types, _) = &instance.body.kind else {
            unreachable!("the body of what forwards is a primitive")
        };
        self.tick(span)?;
        let depth = self.machine.calls.len();
        if depth >= MAX_CALL_DEPTH {
            return Err(self.fail(Failure::TooDeep { depth }, span));
        }
        self.machine.calls.push((instance.function, span));
        let result = self.apply_primitive(*prim, types, args, instance.body.span);
        self.machine.calls.pop();
        result
    }

    /// Calls a function value.
    pub(super) fn apply_function(&mut self, function: &Value, args: Vec<Value>, span: Span) -> Result<Value> {
        let closure = match function {
            Value::Function(any) => any.downcast_ref::<Closure>(),
            _ => None,
        };
        match closure {
            Some(closure) => {
                let instance = closure.instance.clone();
                self.call(&instance, Some((function, &closure.captures)), args, span)
            }
            None => Err(self.fail(Failure::Internal { message: "a call of no function" }, span)),
        }
    }
}
