//! Evaluation of terms: strict, left to right.
//!
//! A frame is a slice of values, one for each local of the function.

use super::arithmetic::{
    MAX_BIGINT_BITS, arithmetic, compare, convert, equal, from_code, memory_failure, to_bigint,
};
use super::code::{Closure, Node, NodeKind, PrimTypes, SumRepresentation};
use super::error::Failure;
use super::evaluator::{AbruptCompletion, Evaluator, Result};
use super::frame::{debug_assert_present, take_local};
use super::matching::{inject_case, match_pattern};
use super::prim::MAX_STRING_BYTES;
use super::show;
use super::tier_up::{Interpreted, TierUpSite};
use crate::core::{GlobalId, LocalId, Num, Op, Prim, Root};
use crate::layout::{Form, Layout};
use crate::source::Span;
use crate::types::Scalar;
use crate::types::encoding::Code;
use crate::value::{Cell, Class, Packed, Seq, Value};
use num_bigint::BigInt;
use std::sync::Arc;

impl Evaluator<'_, '_> {
    /// Evaluates terms from left to right.
    pub(super) fn eval_all(&mut self, nodes: &[Node], frame: &mut [Value]) -> Result<Vec<Value>> {
        self.eval_with_room(nodes, nodes.len(), frame)
    }

    /// Evaluates terms from left to right, with room for `room` values: those of the frame of a
    /// function that is called with them.
    fn eval_with_room(&mut self, nodes: &[Node], room: usize, frame: &mut [Value]) -> Result<Vec<Value>> {
        let mut values = self.take_vector(room);
        for node in nodes {
            // Most operands are variables, whose values go where they are needed at once.
            values.push(match &node.kind {
                NodeKind::Constant(value) => value.clone(),
                NodeKind::Local(local) => {
                    let value = &frame[local.index()];
                    debug_assert_present(value);
                    value.clone()
                }
                NodeKind::Move(local) => take_local(&mut frame[local.index()]),
                _ => self.eval(node, frame)?,
            });
        }
        Ok(values)
    }

    /// Evaluates a term whose values are single words: numbers of fixed width, characters.
    #[inline(always)]
    fn eval_word(&mut self, node: &Node, frame: &mut [Value]) -> Result<u64> {
        match &node.kind {
            NodeKind::Constant(value) => Ok(value.word()),
            // A word that is moved may stay where it is.
            NodeKind::Local(local) | NodeKind::Move(local) => {
                let value = &frame[local.index()];
                debug_assert_present(value);
                Ok(value.word())
            }
            _ => Ok(self.eval(node, frame)?.word()),
        }
    }

    /// Applies a primitive to its operands.
    pub(super) fn apply_primitive(
        &mut self,
        prim: Prim,
        types: &PrimTypes,
        mut args: Vec<Value>,
        span: Span,
    ) -> Result<Value> {
        let result = match prim {
            Prim::Reduce => return self.reduce(types, args, span),
            Prim::Scan => return self.scan(types, args, span),
            Prim::Sort | Prim::Order => self.sort(types, &args, prim == Prim::Order, span),
            Prim::Group => self.group(types, &args, span),
            Prim::ListPush
            | Prim::ListGet
            | Prim::ListPut
            | Prim::HeapPush
            | Prim::HeapPop
            | Prim::DictPut
            | Prim::DictLookup
            | Prim::DictGet
            | Prim::DictRemove => self.eval_container_primitive(prim, types, &mut args, span),
            Prim::ArgMin | Prim::ArgMax => self.arg_extreme(prim == Prim::ArgMax, types, &args, span),
            Prim::Dot => self.dot(types, &args, span),
            _ if !types.overrides.is_empty() => {
                let text = self.overridden_text(&args[0], &types.args[0], &types.overrides, span)?;
                Ok(match prim {
                    Prim::Str => Value::str(text),
                    _ => {
                        let text = if prim == Prim::Print { text } else { text + "\n" };
                        let given = show::write_output(&text, &mut *self.host.out, self.host.interrupt);
                        given.map_err(|failure| self.fail(failure, span))?;
                        Value::UNIT
                    }
                })
            }
            _ => {
                let done = self.machine.eval_primitive(prim, types, &args, self.host);
                done.map_err(|failure| self.fail(failure, span))
            }
        }?;
        self.recycle_vector(args);
        Ok(result)
    }

    /// Evaluates a term.
    pub(super) fn eval(&mut self, node: &Node, frame: &mut [Value]) -> Result<Value> {
        let span = node.span;
        match &node.kind {
            NodeKind::Constant(value) => Ok(value.clone()),
            NodeKind::Local(local) => {
                let value = &frame[local.index()];
                debug_assert_present(value);
                Ok(value.clone())
            }
            NodeKind::Shared(local) => Ok(shared_cell(frame, *local).get().expect(SHARED_VARIABLE_IS_SET)),
            NodeKind::Global(global) => match self.machine.globals[global.index()].get() {
                Some(value) => Ok(value),
                None => Err(self.unset_global(*global, span)),
            },
            NodeKind::Move(local) => Ok(take_local(&mut frame[local.index()])),
            NodeKind::MoveSlots(local, start, len, whole) => {
                let place = &mut frame[local.index()];
                Ok(match len {
                    0 => Value::UNIT,
                    // The other parts have no slots, and may still be read.
                    _ if *whole => std::mem::replace(place, Value::UNIT),
                    _ => place.take_slots(*start, *len),
                })
            }
            NodeKind::MoveShared(local) => {
                let cell = shared_cell(frame, *local).clone();
                Ok(self.take_cell(&cell).expect(SHARED_VARIABLE_IS_SET))
            }
            NodeKind::MoveGlobal(global) => {
                let cell = self.machine.globals[global.index()].clone();
                match self.take_cell(&cell) {
                    Some(value) => Ok(value),
                    None => Err(self.unset_global(*global, span)),
                }
            }
            NodeKind::Closure(callee, captures) => {
                let instance = self.callee_instance(callee, span)?.clone();
                let captures = captures.iter().map(|c| frame[c.index()].clone()).collect();
                Ok(Value::Function(Arc::new(Closure { instance, captures })))
            }
            NodeKind::CallKnown(callee, args) => {
                let instance = self.callee_instance(callee, span)?;
                if instance.forwards && args.len() == instance.params.len() {
                    let args = self.eval_all(args, frame)?;
                    return self.call_forwarded(instance, args, span);
                }
                let args = self.eval_with_room(args, instance.locals, frame)?;
                self.call(instance, None, args, span)
            }
            NodeKind::Call(head, args) => {
                if let Some(value) = self.call_curried(head, args, frame, span) {
                    return value;
                }
                let function = self.eval(head, frame)?;
                let args = self.eval_all(args, frame)?;
                self.apply_function(&function, args, span)
            }
            NodeKind::MissingInstance => {
                Err(self.fail(Failure::Internal { message: "a method without instance" }, span))
            }
            NodeKind::Prim(prim, types, args) => {
                let args = self.eval_all(args, frame)?;
                self.apply_primitive(*prim, types, args, span)
            }
            NodeKind::Communicate(prim, types, args) => {
                let args = self.eval_all(args, frame)?;
                self.communicate(*prim, types, &args, span)
            }
            NodeKind::Arithmetic(op, num, modulus, args) => {
                // The most frequent cases first: this path dominates interpreted loops.
                if let (Num::Int | Num::Real, [a, b]) = (num, &args[..]) {
                    let (a, b) = (self.eval_word(a, frame)?, self.eval_word(b, frame)?);
                    let (x, y) = (f64::from_bits(a), f64::from_bits(b));
                    return Ok(match (op, num) {
                        (Op::Add(_), Num::Int) => Value::Word(a.wrapping_add(b)),
                        (Op::Sub(_), Num::Int) => Value::Word(a.wrapping_sub(b)),
                        (Op::Mul(_), Num::Int) => Value::Word(a.wrapping_mul(b)),
                        (Op::Add(_), Num::Real) => Value::real(x + y),
                        (Op::Sub(_), Num::Real) => Value::real(x - y),
                        (Op::Mul(_), Num::Real) => Value::real(x * y),
                        _ => {
                            let done =
                                arithmetic(*op, *num, modulus.as_ref(), &Value::Word(a), &Value::Word(b));
                            return done.map_err(|failure| self.fail(failure, span));
                        }
                    });
                }
                let a = self.eval(&args[0], frame)?;
                let b = match args.get(1) {
                    Some(b) => self.eval(b, frame)?,
                    None => Value::UNIT,
                };
                self.guard_growth(*num, &a, &b, span)?;
                let (a, b) = match (a, b) {
                    (Value::Str(text), Value::Str(added)) => {
                        return Ok(Value::Str(text.with_appended(added.as_str())));
                    }
                    other => other,
                };
                arithmetic(*op, *num, modulus.as_ref(), &a, &b).map_err(|failure| self.fail(failure, span))
            }
            NodeKind::Compare(op, _, layout, a, b) if matches!(layout.form, Form::Scalar(Scalar::Int)) => {
                let (a, b) = (self.eval_word(a, frame)? as i64, self.eval_word(b, frame)? as i64);
                Ok(Value::bool(match op {
                    Op::Eq => a == b,
                    Op::Ne => a != b,
                    Op::Lt => a < b,
                    Op::Le => a <= b,
                    Op::Gt => a > b,
                    Op::Ge => a >= b,
                    _ => unreachable!("an operator that compares"),
                }))
            }
            NodeKind::Compare(op, ty, layout, a, b) => {
                let a = self.eval(a, frame)?;
                let b = self.eval(b, frame)?;
                let same = compare(*op, &self.machine.layouts, ty, layout, &a, &b, self.host.interrupt);
                if !matches!(layout.form, Form::Compact(_) | Form::Scalar(_)) {
                    self.poll_interrupt(span)?;
                }
                Ok(Value::bool(same))
            }
            NodeKind::CompareOverridden(op, ty, overrides, a, b) => {
                let a = self.eval(a, frame)?;
                let b = self.eval(b, frame)?;
                let (layouts, interrupt) = (&self.machine.layouts, self.host.interrupt);
                let mut overridden = Vec::new();
                let mut same = equal(layouts, overrides, ty, &a, &b, &mut overridden, interrupt);
                self.poll_interrupt(span)?;
                for (at, a, b) in overridden {
                    same = same && self.call_override(overrides, at, vec![a, b], span)?.as_bool();
                }
                Ok(Value::bool(same == (*op == Op::Eq)))
            }
            NodeKind::Bits(op, last, args) => {
                let a = self.eval(&args[0], frame)?.to_code();
                let b = match args.get(1) {
                    Some(b) => self.eval(b, frame)?.to_code(),
                    None => Code::ZERO,
                };
                Ok(Value::code(match op {
                    Op::And => a.and(&b),
                    Op::Or => a.or(&b),
                    _ => last.sub(&a),
                }))
            }
            NodeKind::Not(a) => Ok(Value::bool(!self.eval(a, frame)?.as_bool())),
            NodeKind::Tuple(parts, layout) => {
                let mut values = Vec::with_capacity(parts.len());
                for (part, slots) in parts {
                    values.push((self.eval(part, frame)?, *slots));
                }
                self.build_tuple(values, layout, span)
            }
            NodeKind::Slots(base, start, len, whole) => {
                let value = self.eval(base, frame)?;
                Ok(if *whole { value } else { value.into_slots(*start, *len) })
            }
            NodeKind::Index(array, index, slots, whole) => {
                let value = self.eval(array, frame)?;
                let index = self.eval(index, frame)?;
                Ok(if *whole { value } else { value.into_slots(index.word() as usize * slots, *slots) })
            }
            NodeKind::Build(clauses, body, element, layout) => {
                let total = clauses.iter().try_fold(1u64, |n, (_, size)| n.checked_mul(size.to_u64()?));
                self.with_progress(total, |run, counts| {
                    run.build_array(clauses, body, element, layout, frame, span, counts)
                })
            }
            NodeKind::Pack(layout, parts) => {
                let compact = layout.require_compact();
                self.require_countable(&compact.size, span)?;
                let parts: Vec<Code> = self.eval_all(parts, frame)?.iter().map(Value::to_code).collect();
                Ok(Value::code(compact.encoding.pack(&parts)))
            }
            NodeKind::Factor(layout, base, i) => {
                let code = self.eval(base, frame)?.to_code();
                Ok(Value::code(layout.require_compact().encoding.project(&code, i)))
            }
            NodeKind::Digit(layout, base, i) => {
                let code = self.eval(base, frame)?.to_code();
                let i = self.eval(i, frame)?.to_code();
                Ok(Value::code(layout.require_compact().encoding.project(&code, &i)))
            }
            NodeKind::Inject(cases, case, argument) => {
                if let SumRepresentation::Compact(layout) = cases {
                    self.require_countable(&layout.require_compact().size, span)?;
                }
                let argument = self.eval(argument, frame)?;
                Ok(inject_case(cases, case, argument))
            }
            NodeKind::ToCode(scalar, inner) => {
                let code = self.eval(inner, frame)?.to_code();
                Ok(match scalar {
                    Scalar::Bigint => Value::bigint(BigInt::from(code.to_big())),
                    Scalar::Real => Value::real(number_code(&code) as f64),
                    Scalar::Single => Value::single(number_code(&code) as f32),
                    _ => Value::Word(number_code(&code)),
                })
            }
            NodeKind::FromCode(scalar, ty, inner) => {
                let value = self.eval(inner, frame)?;
                self.require_countable(&Code::from(&ty.size), span)?;
                let n = to_bigint(*scalar, &value);
                from_code(&n, &ty.size, &ty.ty).map_err(|failure| self.fail(failure, span))
            }
            NodeKind::Convert(from, to, inner) => {
                let value = self.eval(inner, frame)?;
                convert(*from, *to, &value).map_err(|failure| self.fail(failure, span))
            }
            NodeKind::StorageMismatch(inner, types) => {
                self.eval(inner, frame)?;
                let (from, to) = (types.0.clone(), types.1.clone());
                Err(self.fail(Failure::StoredOtherwise { from, to }, span))
            }
            NodeKind::CodesTooLarge(scalar, ty, inner) => {
                self.eval(inner, frame)?;
                self.require_countable(&Code::from(&ty.size), span)?;
                let failure = Failure::CodesTooLarge {
                    ty: ty.ty.to_string(),
                    size: ty.size.to_string(),
                    number: scalar.name(),
                };
                Err(self.fail(failure, span))
            }
            NodeKind::AtPlace(body) => {
                self.switch_output();
                let done = self.eval(body, frame);
                self.switch_output();
                done
            }
            NodeKind::If(condition, then, otherwise) => {
                if self.eval(condition, frame)?.as_bool() {
                    self.eval(then, frame)
                } else {
                    self.eval(otherwise, frame)
                }
            }
            NodeKind::Match(scrutinee, arms) => {
                let value = self.eval(scrutinee, frame)?;
                for arm in arms {
                    if match_pattern(&arm.pattern, &value, frame) {
                        if let Some(guard) = &arm.guard
                            && !self.eval(guard, frame)?.as_bool()
                        {
                            continue;
                        }
                        // The values bound by the arm are then not shared.
                        drop(value);
                        return self.eval(&arm.body, frame);
                    }
                }
                Err(self.fail(Failure::NoMatch, span))
            }
            NodeKind::Block(stmts, value) => {
                self.run_block(stmts, frame)?;
                match value {
                    Some(value) => self.eval(value, frame),
                    None => Ok(Value::UNIT),
                }
            }
            NodeKind::PackSizes(sizes, inner) => {
                sizes.iter().try_for_each(|(_, size)| self.require_countable(size, span))?;
                let value = self.eval(inner, frame)?;
                let sizes = sizes.iter().map(|(ty, _)| ty.clone()).collect();
                Ok(Value::Packed(Arc::new(Packed { sizes, value })))
            }
            NodeKind::OpenSizes(code) => self.open_sizes(code, frame, span),
            NodeKind::TierUp(site) => self.eval_site(site, frame, span, None),
        }
    }

    /// Calls a known function of two groups of parameters with both, as in `char_at i text`,
    /// without making the function between them; `None` if the function does more than make it.
    fn call_curried(
        &mut self,
        head: &Node,
        args: &[Node],
        frame: &mut [Value],
        span: Span,
    ) -> Option<Result<Value>> {
        let NodeKind::CallKnown(callee, first) = &head.kind else { return None };
        let outer = callee.instance.get()?;
        let NodeKind::Closure(inner, captured) = &outer.body.kind else { return None };
        let inner = inner.instance.get()?;
        let place = |local: &LocalId| outer.params.iter().position(|param| param == local);
        if first.len() != outer.params.len()
            || inner.this.is_some()
            || !captured.iter().all(|local| place(local).is_some())
        {
            return None;
        }
        let mut both = || {
            let given = self.eval_all(first, frame)?;
            let args = self.eval_with_room(args, inner.locals, frame)?;
            let mut captures = self.take_vector(captured.len());
            captures.extend(captured.iter().filter_map(place).map(|at| given[at].clone()));
            self.recycle_vector(given);
            let result = self.call(inner, Some((&Value::UNIT, &captures)), args, span);
            self.recycle_vector(captures);
            result
        };
        Some(both())
    }

    /// Runs the kernel of a site if it has one, or evaluates its term. The value of `dead_variable`
    /// is not read afterward.
    pub(super) fn eval_site(
        &mut self,
        site: &TierUpSite,
        frame: &mut [Value],
        span: Span,
        dead_variable: Option<Root>,
    ) -> Result<Value> {
        let computed = match site.is_call() {
            true => self.run_call_kernel(site, frame, span)?,
            false => self.run_term_kernel(site, frame, span, dead_variable)?,
        };
        if let Some(value) = computed {
            return Ok(value);
        }
        let Interpreted::Node(node) = &site.interpreted else {
            unreachable!("the site of a term or a call holds a node")
        };
        if site.is_call() {
            // Calls inside count themselves.
            site.add_heat(0);
            return self.eval(node, frame);
        }
        let before = self.ticks;
        let value = self.eval(node, frame);
        site.add_heat(self.ticks.wrapping_sub(before));
        value
    }

    /// The error of a session variable that is read before it is set.
    pub(super) fn unset_global(&self, global: GlobalId, span: Span) -> AbruptCompletion {
        let name = self.program.globals[global.index()].name.to_string();
        self.fail(Failure::Unset { name }, span)
    }

    /// Fails if the result of `+` or `*` on strings or big integers exceeds its bound.
    fn guard_growth(&self, num: Num, a: &Value, b: &Value, span: Span) -> Result<()> {
        let bytes = match num {
            Num::String => (a.as_str().len() + b.as_str().len()) as u64,
            Num::Bigint => match (a, b) {
                (Value::Bigint(a), Value::Bigint(b)) if a.bits() + b.bits() > MAX_BIGINT_BITS => {
                    return Err(self.fail(Failure::HugeNumber, span));
                }
                _ => 0,
            },
            _ => 0,
        };
        let limit = self.host.memory.min(MAX_STRING_BYTES as u64);
        if bytes > limit {
            return Err(self.fail(memory_failure(bytes as usize, 1, limit), span));
        }
        // The number of bytes from which a copy takes as long as many steps.
        const MIN_POLLED_COPY_BYTES: u64 = 1 << 20;
        if bytes > MIN_POLLED_COPY_BYTES { self.poll_interrupt(span) } else { Ok(()) }
    }

    /// Builds a tuple or array from its parts.
    pub(super) fn build_tuple(
        &mut self,
        parts: Vec<(Value, usize)>,
        layout: &Layout,
        span: Span,
    ) -> Result<Value> {
        let (class, slots) = (layout.class, layout.slots);
        if slots > 1 {
            // A shared tuple is also refused if it could not be copied.
            self.require_memory(class, slots, span)?;
        }
        Value::tuple(parts, class, slots)
            .ok_or_else(|| self.fail(memory_failure(slots, class.bytes(), self.host.memory), span))
    }

    /// Evaluates an array comprehension.
    #[allow(clippy::too_many_arguments)] // the parts of one node, and where it runs
    fn build_array(
        &mut self,
        clauses: &[(LocalId, Code)],
        body: &Node,
        element: &Layout,
        layout: &Layout,
        frame: &mut [Value],
        span: Span,
        counts: bool,
    ) -> Result<Value> {
        if clauses.iter().any(|(_, size)| size.is_zero()) {
            return Ok(Value::UNIT);
        }
        clauses.iter().try_for_each(|(_, size)| self.require_countable(size, span))?;
        let mut buffer = self.allocate_buffer(
            if layout.slots > 1 { layout.class } else { Class::U8 },
            layout.slots,
            span,
        )?;
        let mut position: Vec<Code> = vec![Code::ZERO; clauses.len()];
        for (local, _) in clauses {
            frame[local.index()] = Value::UNIT;
        }
        let mut last = Value::UNIT;
        // Runs the body once for each combination of the variables, the last one fastest.
        loop {
            self.tick(span)?;
            last = match self.eval(body, frame)? {
                value if layout.slots > 1 => {
                    buffer.append(&value, element.slots);
                    last
                }
                // If the whole has at most one slot, it is the element that has as many slots.
                value if element.slots == layout.slots => value,
                _ => last,
            };
            if counts {
                self.machine.progress.finish_round();
            }
            let mut at = clauses.len();
            loop {
                if at == 0 {
                    return Ok(match layout.slots {
                        0 => Value::UNIT,
                        1 => last,
                        _ => Value::Seq(Seq::new(buffer)),
                    });
                }
                at -= 1;
                let (local, size) = &clauses[at];
                position[at] = position[at].add(&Code::Small(1));
                if position[at] < *size {
                    frame[local.index()] = Value::code(position[at].clone());
                    break;
                }
                position[at] = Code::ZERO;
                frame[local.index()] = Value::UNIT;
            }
        }
    }
}

/// A shared variable is moved out only right before it is assigned.
pub(super) const SHARED_VARIABLE_IS_SET: &str = "a shared variable has a value";

/// Returns the cell of a local that is shared with other functions.
pub(super) fn shared_cell(frame: &[Value], local: LocalId) -> &Arc<Cell> {
    match &frame[local.index()] {
        Value::Cell(cell) => cell,
        _ => unreachable!("a shared local is bound to a cell"),
    }
}

/// Returns a code as a word. The specializer has checked that the number type holds every code.
fn number_code(code: &Code) -> u64 {
    code.to_u64().expect("the number type holds all codes of the type")
}
