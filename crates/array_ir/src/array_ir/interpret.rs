//! The meaning of the array IR: an interpreter of valid programs.
//!
//! Takes a program, a function, sizes and arguments; gives the value of the function, or the site
//! at which it fails. Plain on purpose: values are trees, every array is made, and operations run
//! in the order of the text. Passes and later stages are compared with it.
//!
//! **Order.** The values of the block of a reduction, scan, filter or order are all computed first,
//! in the order of indices; then they are joined. So which site fails is defined.
//!
//! **Work.** Each statement and each element takes one unit of the given work, and calls are nested
//! at most [`MAX_CALLS`] deep: a run always ends, and takes memory in proportion to the work.
//!
//! # Panics
//! On an invalid program.

use super::scalar;
use super::{
    Binary, Block, Combine, CombineAt, Digit, DigitExpr, Element, End, Function, FunctionId, Grouping, Label,
    Op, Prim, Program, Range, SiteId, Size, SizeAtom, SizeVar, Space, Type, Value,
};
use crate::core::reduction::{CHUNK, LANES, ReductionOp, combine_lanes};
use crate::hash::HashMap;
use std::cmp::Ordering;
use std::sync::Arc;

/// Calls inside each other, at most.
pub const MAX_CALLS: u32 = 64;

/// Sizes and digits are below: the guard at the entry of a program holds it.
pub const MAX_SIZE: u64 = 1 << 62;

/// A value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Datum {
    /// The bits of an element, filled with 0 above.
    Word(u64),
    /// The digits of an index.
    Index(Vec<u64>),
    /// The parts of a tuple.
    Tuple(Vec<Datum>),
    /// The sizes of the digits of an array, and its elements, the last digit changing fastest.
    Array(Vec<u64>, Arc<Vec<Datum>>),
    /// The number of a case, and its piece.
    Case(u32, Box<Datum>),
    /// Sizes, and a value at them.
    Packed(Vec<u64>, Box<Datum>),
}

impl Datum {
    /// The value of what has none.
    pub fn unit() -> Datum {
        Datum::Tuple(Vec::new())
    }

    fn word(&self) -> u64 {
        match self {
            Datum::Word(word) => *word,
            other => unreachable!("{other:?} is no word: {INVALID}"),
        }
    }

    fn is_true(&self) -> bool {
        self.word() == 1
    }

    fn digits(&self) -> &[u64] {
        match self {
            Datum::Index(digits) => digits,
            other => unreachable!("{other:?} is no index: {INVALID}"),
        }
    }

    fn parts(&self) -> &[Datum] {
        match self {
            Datum::Tuple(parts) => parts,
            other => unreachable!("{other:?} is no tuple: {INVALID}"),
        }
    }

    fn elements(&self) -> (&[u64], &Arc<Vec<Datum>>) {
        match self {
            Datum::Array(extents, elements) => (extents, elements),
            other => unreachable!("{other:?} is no array: {INVALID}"),
        }
    }
}

/// The validator has accepted the program that is run.
const INVALID: &str = "the program is not valid";

/// The reason why a run ended without a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunError {
    /// A check failed, with the values that its message shows.
    Failed(SiteId, Vec<Datum>),
    /// The work, the depth of calls or the range of sizes is exceeded.
    Exhausted,
}

/// The end of a run with a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The value of the function.
    pub value: Datum,
    /// The output, in order.
    pub output: Vec<Datum>,
    /// The units of work that are left.
    pub work_left: u64,
}

/// Runs a function of a valid program at sizes and arguments of its types, with units of work.
///
/// # Errors
/// The site that fails, or the exhaustion of a bound.
pub fn run(
    program: &Program,
    function: FunctionId,
    sizes: &[u64],
    arguments: &[Datum],
    work: u64,
) -> Result<Outcome, RunError> {
    let types = program.functions.iter().map(value_types).collect();
    let mut run = Run { program, types, work, calls: 0, output: Vec::new() };
    let value = run.call(function, sizes, arguments.to_vec())?;
    Ok(Outcome { value, output: run.output, work_left: run.work })
}

/// The types of all values of a function.
fn value_types(function: &Function) -> HashMap<Value, &Type> {
    let mut types = HashMap::default();
    function.body.for_each_block(&mut |block| {
        types.extend(block.params.iter().map(|(value, ty)| (*value, ty)));
        types.extend(block.stmts.iter().map(|stmt| (stmt.value, &stmt.ty)));
    });
    types
}

struct Run<'a> {
    program: &'a Program,
    /// The types of values, by function.
    types: Vec<HashMap<Value, &'a Type>>,
    work: u64,
    calls: u32,
    output: Vec<Datum>,
}

/// The values and sizes of a call.
struct Frame {
    function: FunctionId,
    values: HashMap<Value, Datum>,
    sizes: HashMap<SizeVar, u64>,
}

/// The way in which a block ends.
enum Flow {
    Yield(Datum),
    Next(Label, Datum),
    Exit(Label, Datum),
}

/// The sizes of the digits of a space, its indices, and the values of a block for them.
type Tabulation = (Vec<u64>, Vec<Vec<u64>>, Vec<Datum>);

/// A value, or the reason why the run ended without one.
type RunResult<T> = Result<T, RunError>;

impl Frame {
    fn get(&self, value: Value) -> &Datum {
        self.values.get(&value).unwrap_or_else(|| panic!("{value} is not set: {INVALID}"))
    }

    fn word(&self, value: Value) -> u64 {
        self.get(value).word()
    }

    fn all(&self, values: &[Value]) -> Vec<Datum> {
        values.iter().map(|value| self.get(*value).clone()).collect()
    }

    fn size(&self, size: &Size) -> RunResult<u64> {
        let value = size.evaluate(&|atom| match atom {
            SizeAtom::Var(var) => self.sizes.get(&var).copied(),
            SizeAtom::Bound(_) => None,
        });
        value.filter(|value| *value < MAX_SIZE).ok_or(RunError::Exhausted)
    }

    fn digit_size(&self, digit: &Digit) -> RunResult<u64> {
        digit
            .pieces
            .iter()
            .try_fold(0u64, |sum, piece| sum.checked_add(self.size(piece)?).ok_or(RunError::Exhausted))
    }

    /// The sizes of the digits of a space.
    fn extents(&self, space: &Space) -> RunResult<Vec<u64>> {
        space.digits.iter().map(|digit| self.digit_size(digit)).collect()
    }

    /// A digit, for the index of a view that is asked for.
    fn digit(&self, digit: &DigitExpr, target: &[u64]) -> RunResult<u64> {
        let wide = |n: Option<u64>| n.ok_or(RunError::Exhausted);
        Ok(match digit {
            DigitExpr::Target(at) => target[*at as usize],
            DigitExpr::Of(value, at) => self.get(*value).digits()[*at as usize],
            DigitExpr::Constant(size) => self.size(size)?,
            DigitExpr::Affine { offset, stride, of } => {
                let product = self.digit(of, target)?.checked_mul(*stride);
                let offset = self.size(offset)?;
                wide(product.and_then(|product| product.checked_add(offset)))?
            }
            DigitExpr::Sum(digits) => {
                let digits = digits.iter().map(|digit| self.digit(digit, target));
                wide(digits.collect::<RunResult<Vec<_>>>()?.into_iter().try_fold(0, u64::checked_add))?
            }
            DigitExpr::Modular { size, plus, minus } => {
                let size = i128::from(self.size(size)?);
                let sum = |digits: &[DigitExpr]| -> RunResult<i128> {
                    digits.iter().try_fold(0, |sum, digit| Ok(sum + i128::from(self.digit(digit, target)?)))
                };
                (sum(plus)? - sum(minus)?).rem_euclid(size) as u64
            }
            DigitExpr::Reverse { size, of } => self.size(size)? - 1 - self.digit(of, target)?,
            DigitExpr::Join(digits) => {
                let mut number = 0u64;
                for (digit, size) in digits {
                    let (digit, size) = (self.digit(digit, target)?, self.size(size)?);
                    number = wide(number.checked_mul(size).and_then(|product| product.checked_add(digit)))?;
                }
                number
            }
            DigitExpr::Split { of, sizes, digit } => {
                let mut rest = self.digit(of, target)?;
                for (at, size) in sizes.iter().enumerate().rev() {
                    let size = self.size(size)?;
                    if at == *digit as usize {
                        return Ok(rest % size);
                    }
                    rest /= size;
                }
                unreachable!("{INVALID}")
            }
            DigitExpr::Remainder(value, size) => self.word(*value) % size,
        })
    }
}

/// The number of an index among those of a space.
fn position(extents: &[u64], digits: &[u64]) -> usize {
    let number = extents.iter().zip(digits).fold(0u64, |number, (extent, digit)| {
        assert!(digit < extent, "the digit {digit} is not below {extent}: {INVALID}");
        number * extent + digit
    });
    number as usize
}

impl Run<'_> {
    fn spend(&mut self, units: u64) -> RunResult<()> {
        self.work = self.work.checked_sub(units).ok_or(RunError::Exhausted)?;
        Ok(())
    }

    /// The indices with these extents in order, each for one unit of work.
    fn indices(&mut self, extents: &[u64]) -> RunResult<Vec<Vec<u64>>> {
        let count = extents.iter().try_fold(1u64, |product, extent| product.checked_mul(*extent));
        let count = if extents.contains(&0) { 0 } else { count.ok_or(RunError::Exhausted)? };
        self.spend(count)?;
        let mut index = vec![0; extents.len()];
        let mut indices = Vec::new();
        for _ in 0..count {
            indices.push(index.clone());
            for (digit, extent) in index.iter_mut().zip(extents).rev() {
                *digit += 1;
                if *digit < *extent {
                    break;
                }
                *digit = 0;
            }
        }
        Ok(indices)
    }

    fn call(&mut self, id: FunctionId, sizes: &[u64], arguments: Vec<Datum>) -> RunResult<Datum> {
        if self.calls == MAX_CALLS {
            return Err(RunError::Exhausted);
        }
        self.calls += 1;
        let function: &Function = &self.program.functions[id.index()];
        let sizes = function.sizes.iter().map(|(var, _)| *var).zip(sizes.iter().copied()).collect();
        let mut frame = Frame { function: id, values: HashMap::default(), sizes };
        let result = self.value(&function.body, arguments, &mut frame);
        self.calls -= 1;
        result
    }

    /// Runs a block that cannot be left but by its value.
    fn value(&mut self, block: &Block, arguments: Vec<Datum>, frame: &mut Frame) -> RunResult<Datum> {
        match self.block(block, arguments, frame)? {
            Flow::Yield(value) => Ok(value),
            Flow::Next(label, _) | Flow::Exit(label, _) => unreachable!("{label} is not around: {INVALID}"),
        }
    }

    fn block(&mut self, block: &Block, arguments: Vec<Datum>, frame: &mut Frame) -> RunResult<Flow> {
        frame.values.extend(block.params.iter().map(|param| param.0).zip(arguments));
        for stmt in &block.stmts {
            self.spend(1)?;
            match self.op(&stmt.op, frame)? {
                Flow::Yield(value) => drop(frame.values.insert(stmt.value, value)),
                leaving => return Ok(leaving),
            }
        }
        let value = frame.get(block.end.value()).clone();
        Ok(match block.end {
            End::Yield(_) => Flow::Yield(value),
            End::Next(label, _) => Flow::Next(label, value),
            End::Exit(label, _) => Flow::Exit(label, value),
        })
    }

    /// The values of a block for all indices of its parameter, with the extents.
    fn tabulate(&mut self, body: &Block, frame: &mut Frame) -> RunResult<Tabulation> {
        let Type::Index(space) = &body.params[0].1 else { unreachable!("{INVALID}") };
        let extents = frame.extents(space)?;
        let indices = self.indices(&extents)?;
        let mut values = Vec::new();
        for index in &indices {
            values.push(self.value(body, vec![Datum::Index(index.clone())], frame)?);
        }
        Ok((extents, indices, values))
    }

    fn op(&mut self, op: &Op, frame: &mut Frame) -> RunResult<Flow> {
        Ok(Flow::Yield(match op {
            Op::Const(_, bits) => Datum::Word(*bits),
            Op::Size(size) => Datum::Word(frame.size(size)?),
            Op::Prim(prim, values) => {
                let words: Vec<u64> = values.iter().map(|value| frame.word(*value)).collect();
                Datum::Word(scalar::apply(*prim, self.element(values[0], frame), &words))
            }
            Op::Select(condition, a, b) => {
                frame.get(if frame.get(*condition).is_true() { *a } else { *b }).clone()
            }
            Op::Tuple(values) => Datum::Tuple(frame.all(values)),
            Op::Part(value, part) => frame.get(*value).parts()[*part as usize].clone(),
            Op::Array(_, values) => Datum::Array(vec![values.len() as u64], Arc::new(frame.all(values))),
            Op::Index(array, at) => {
                let (extents, elements) = frame.get(*array).elements();
                elements[position(extents, frame.get(*at).digits())].clone()
            }
            Op::At(_, digits) => {
                Datum::Index(digits.iter().map(|digit| frame.digit(digit, &[])).collect::<RunResult<_>>()?)
            }
            Op::TryLocate(size, value) => {
                let (size, number) = (frame.size(size)?, frame.get(*value).word());
                Datum::Index(vec![if number < size { number + 1 } else { 0 }])
            }
            Op::Locate(space, values, site) => {
                let digits: Vec<u64> = values.iter().map(|value| frame.word(*value)).collect();
                // A negative number is beyond every size.
                if digits.iter().zip(frame.extents(space)?).any(|(digit, extent)| *digit >= extent) {
                    return Err(RunError::Failed(*site, frame.all(values)));
                }
                Datum::Index(digits)
            }
            Op::Number(digit) => match frame.digit(digit, &[])? {
                number if number < MAX_SIZE => Datum::Word(number),
                _ => return Err(RunError::Exhausted),
            },
            Op::Check(condition, site, shown) => {
                if !frame.get(*condition).is_true() {
                    return Err(RunError::Failed(*site, frame.all(shown)));
                }
                Datum::unit()
            }
            Op::Map(body) => {
                let (extents, _, values) = self.tabulate(body, frame)?;
                Datum::Array(extents, Arc::new(values))
            }
            Op::Reduce { combine: Combine::Dot, start, body, .. } => {
                let (_, _, values) = self.tabulate(body, frame)?;
                Datum::Word(dot(frame.word(*start), &values))
            }
            Op::Reduce { combine, grouping, start, body } => {
                let (_, _, values) = self.tabulate(body, frame)?;
                let start = frame.get(*start).clone();
                let ty = self.yielded_type(body, frame);
                self.reduce(combine, *grouping, ty, start, &values, frame)?
            }
            Op::Scan { combine, grouping, body } => {
                let (extents, _, values) = self.tabulate(body, frame)?;
                let ty = self.yielded_type(body, frame);
                Datum::Array(extents, Arc::new(self.scan(combine, *grouping, ty, values, frame)?))
            }
            Op::ReduceAt { combine, start, body, .. } => {
                let (_, _, items) = self.tabulate(body, frame)?;
                let ty = self.yielded_type(body, frame);
                let Type::Tuple(parts) = ty else { unreachable!("{INVALID}") };
                let ty = &parts[1];
                let (extents, elements) = frame.get(*start).elements();
                let (extents, mut elements) = (extents.to_vec(), elements.as_ref().clone());
                self.spend(elements.len() as u64)?;
                for item in items {
                    let [at, value] = item.parts() else { unreachable!("{INVALID}") };
                    let at = position(&extents, at.digits());
                    elements[at] = match combine {
                        CombineAt::Last => value.clone(),
                        CombineAt::Combine(combine) => {
                            self.join(combine, ty, elements[at].clone(), value.clone(), frame)?
                        }
                    };
                }
                Datum::Array(extents, Arc::new(elements))
            }
            Op::View(space, array, digits) => {
                let extents = frame.extents(space)?;
                let indices = self.indices(&extents)?;
                let (from, elements) = frame.get(*array).elements();
                let mut out = Vec::new();
                for target in indices {
                    let source = digits.iter().map(|digit| frame.digit(digit, &target));
                    out.push(elements[position(from, &source.collect::<RunResult<Vec<_>>>()?)].clone());
                }
                Datum::Array(extents, Arc::new(out))
            }
            Op::Concat(a, b) => {
                let ((first, x), (second, y)) = (frame.get(*a).elements(), frame.get(*b).elements());
                let mut extents = first.to_vec();
                extents[0] = extents[0].checked_add(second[0]).ok_or(RunError::Exhausted)?;
                let elements: Vec<Datum> = x.iter().chain(y.iter()).cloned().collect();
                self.spend(elements.len() as u64)?;
                Datum::Array(extents, Arc::new(elements))
            }
            Op::Filter(body) => {
                let (_, _, items) = self.tabulate(body, frame)?;
                let kept = items.iter().filter(|item| item.parts()[0].is_true());
                let kept: Vec<Datum> = kept.map(|item| item.parts()[1].clone()).collect();
                let count = vec![kept.len() as u64];
                Datum::Packed(count.clone(), Box::new(Datum::Array(count, Arc::new(kept))))
            }
            Op::Iota(count) => {
                let count = u64::try_from(frame.get(*count).word() as i64).unwrap_or(0);
                self.spend(count)?;
                let numbers = (0..count).map(Datum::Word).collect();
                Datum::Packed(vec![count], Box::new(Datum::Array(vec![count], Arc::new(numbers))))
            }
            Op::Order(body) => {
                let (extents, indices, keys) = self.tabulate(body, frame)?;
                let ty = self.yielded_type(body, frame);
                let mut order: Vec<usize> = (0..keys.len()).collect();
                order.sort_by(|a, b| key_order(ty, &keys[*a], &keys[*b]));
                let order = order.into_iter().map(|at| Datum::Index(indices[at].clone()));
                Datum::Array(extents, Arc::new(order.collect()))
            }
            Op::Sort(array) => {
                let Type::Array(_, element) = self.types[frame.function.index()][array] else {
                    unreachable!("what is sorted is an array: {INVALID}")
                };
                let (extents, elements) = frame.get(*array).elements();
                let (extents, mut elements) = (extents.to_vec(), elements.to_vec());
                self.spend(elements.len() as u64)?;
                elements.sort_by(|a, b| key_order(element, a, b));
                Datum::Array(extents, Arc::new(elements))
            }
            Op::Update(array, at, value) => {
                self.updated(frame.get(*array), frame.get(*at).digits(), frame.get(*value))?
            }
            Op::For { label, range, state, body } => {
                return self.run_for(*label, *range, *state, body, frame);
            }
            Op::While { label, state, condition, body } => {
                let mut state = frame.get(*state).clone();
                loop {
                    self.spend(1)?;
                    if !self.value(condition, vec![state.clone()], frame)?.is_true() {
                        return Ok(Flow::Yield(state));
                    }
                    match round(*label, self.block(body, vec![state], frame)?) {
                        Ok(next) => state = next,
                        Err(flow) => return Ok(flow),
                    }
                }
            }
            Op::Block(label, body) => {
                return Ok(match self.block(body, Vec::new(), frame)? {
                    Flow::Exit(left, value) if left == *label => Flow::Yield(value),
                    flow => flow,
                });
            }
            Op::If(condition, then, otherwise) => {
                let side = if frame.get(*condition).is_true() { then } else { otherwise };
                return self.block(side, Vec::new(), frame);
            }
            Op::Switch(value, blocks) => {
                let (case, piece) = match frame.get(*value).clone() {
                    Datum::Case(case, piece) => (case as usize, *piece),
                    index => piece_of(index.digits()[0], blocks, frame)?,
                };
                return self.block(&blocks[case], vec![piece], frame);
            }
            Op::Case(_, case, value) => Datum::Case(*case, Box::new(frame.get(*value).clone())),
            Op::Tag(value) => match frame.get(*value) {
                Datum::Case(case, _) => Datum::Word(u64::from(*case)),
                other => unreachable!("{other:?} is no sum: {INVALID}"),
            },
            Op::Pack(_, sizes, value) => {
                let sizes = sizes.iter().map(|size| frame.size(size)).collect::<RunResult<_>>()?;
                Datum::Packed(sizes, Box::new(frame.get(*value).clone()))
            }
            Op::Open(vars, value) => {
                let Datum::Packed(sizes, value) = frame.get(*value).clone() else {
                    unreachable!("{INVALID}")
                };
                frame.sizes.extend(vars.iter().copied().zip(sizes));
                *value
            }
            Op::Require(ty, value, site) => {
                let (found, value) = (self.types[frame.function.index()][value], frame.get(*value).clone());
                if !same_sizes(found, ty, frame)? {
                    return Err(RunError::Failed(*site, Vec::new()));
                }
                value
            }
            Op::Call { function, sizes, values, .. } => {
                let sizes: Vec<u64> = sizes.iter().map(|size| frame.size(size)).collect::<RunResult<_>>()?;
                self.call(*function, &sizes, frame.all(values))?
            }
            Op::Io(super::Io::Emit, values) => {
                self.output.extend(frame.all(values));
                Datum::unit()
            }
        }))
    }
}

/// The outcome of one round of a loop: the next state, or what leaves the loop.
fn round(label: Label, flow: Flow) -> Result<Datum, Flow> {
    match flow {
        Flow::Yield(state) => Ok(state),
        Flow::Next(left, state) if left == label => Ok(state),
        Flow::Exit(left, value) if left == label => Err(Flow::Yield(value)),
        flow => Err(flow),
    }
}

/// The piece of a digit that a number is in, with its index there.
fn piece_of(mut number: u64, blocks: &[Block], frame: &Frame) -> RunResult<(usize, Datum)> {
    for (case, block) in blocks.iter().enumerate() {
        let Type::Index(space) = &block.params[0].1 else { unreachable!("{INVALID}") };
        let size = frame.digit_size(&space.digits[0])?;
        if number < size {
            return Ok((case, Datum::Index(vec![number])));
        }
        number -= size;
    }
    unreachable!("a digit is below its size: {INVALID}")
}

/// Returns true if two types of one structure have equal sizes.
fn same_sizes(a: &Type, b: &Type, frame: &Frame) -> RunResult<bool> {
    let spaces = |a: &Space, b: &Space| -> RunResult<bool> {
        let pieces = |space: &Space| -> RunResult<Vec<u64>> {
            space.digits.iter().flat_map(|digit| digit.pieces.iter()).map(|piece| frame.size(piece)).collect()
        };
        Ok(pieces(a)? == pieces(b)?)
    };
    match (a, b) {
        (Type::Index(x), Type::Index(y)) => spaces(x, y),
        (Type::Array(x, s), Type::Array(y, t)) => Ok(spaces(x, y)? && same_sizes(s, t, frame)?),
        (Type::Tuple(x), Type::Tuple(y)) | (Type::Sum(x), Type::Sum(y)) => {
            x.iter().zip(y).try_fold(true, |same, (x, y)| Ok(same && same_sizes(x, y, frame)?))
        }
        _ => Ok(true),
    }
}

/// The order of two keys of a type.
fn key_order(ty: &Type, a: &Datum, b: &Datum) -> Ordering {
    match ty {
        Type::Element(element) => scalar::key_order(*element, a.word(), b.word()),
        Type::Tuple(types) => {
            let parts = types.iter().zip(a.parts().iter().zip(b.parts()));
            parts
                .map(|(ty, (a, b))| key_order(ty, a, b))
                .find(|order| order.is_ne())
                .unwrap_or(Ordering::Equal)
        }
        Type::Index(_) => a.digits().cmp(b.digits()),
        ty => unreachable!("{ty} is no type of keys: {INVALID}"),
    }
}

/// The operation that is reduced in lanes, of floats in the fixed grouping.
fn lane_operation(combine: &Combine, ty: &Type) -> Option<(ReductionOp, Element)> {
    let Combine::Prim(op) = combine else { return None };
    let element = ty.element().filter(|element| element.is_float())?;
    let op = match op {
        Binary::Add => ReductionOp::Add,
        Binary::Mul => ReductionOp::Mul,
        Binary::Min => ReductionOp::Min,
        Binary::Max => ReductionOp::Max,
        _ => return None,
    };
    Some((op, element))
}

/// The sum of a start and the products of pairs of factors, in chunks and lanes.
fn dot(start: u64, values: &[Datum]) -> u64 {
    let mut total = f64::from_bits(start);
    for chunk in values.chunks(CHUNK) {
        let mut lanes = [ReductionOp::Add.identity(); LANES];
        for (at, value) in chunk.iter().enumerate() {
            let [a, b] = value.parts() else { unreachable!("{INVALID}") };
            let (a, b) = (f64::from_bits(a.word()), f64::from_bits(b.word()));
            lanes[at % LANES] = a.mul_add(b, lanes[at % LANES]);
        }
        total += combine_lanes(lanes, |a, b| a + b);
    }
    total.to_bits()
}

/// The bits of the number that lanes start from.
fn identity(op: ReductionOp, element: Element) -> u64 {
    match element {
        Element::F32 => u64::from((op.identity() as f32).to_bits()),
        _ => op.identity().to_bits(),
    }
}

impl<'a> Run<'a> {
    /// The element type of a value.
    fn element(&self, value: Value, frame: &Frame) -> Element {
        let ty = self.types[frame.function.index()][&value];
        ty.element().unwrap_or_else(|| unreachable!("{value} is no element: {INVALID}"))
    }

    /// The type of the value that a block yields.
    fn yielded_type(&self, block: &Block, frame: &Frame) -> &'a Type {
        self.types[frame.function.index()][&block.end.value()]
    }

    fn join(
        &mut self,
        combine: &Combine,
        ty: &Type,
        a: Datum,
        b: Datum,
        frame: &mut Frame,
    ) -> RunResult<Datum> {
        match combine {
            Combine::Prim(op) => {
                let element = ty.element().unwrap_or_else(|| unreachable!("{INVALID}"));
                Ok(Datum::Word(scalar::apply(Prim::Binary(*op), element, &[a.word(), b.word()])))
            }
            Combine::Dot => unreachable!("pairs of factors are joined in `dot`"),
            Combine::Block(block) => self.value(block, vec![a, b], frame),
        }
    }

    fn reduce(
        &mut self,
        combine: &Combine,
        grouping: Grouping,
        ty: &Type,
        start: Datum,
        values: &[Datum],
        frame: &mut Frame,
    ) -> RunResult<Datum> {
        let mut total = start;
        match grouping {
            Grouping::Any | Grouping::Left => {
                for value in values {
                    total = self.join(combine, ty, total, value.clone(), frame)?;
                }
            }
            Grouping::Fixed => {
                for chunk in values.chunks(CHUNK) {
                    let part = match lane_operation(combine, ty) {
                        Some((op, element)) => {
                            let Combine::Prim(binary) = combine else { unreachable!("lanes are primitive") };
                            let join =
                                |a: u64, b: u64| scalar::apply(Prim::Binary(*binary), element, &[a, b]);
                            let mut lanes = [identity(op, element); LANES];
                            for (at, value) in chunk.iter().enumerate() {
                                lanes[at % LANES] = join(lanes[at % LANES], value.word());
                            }
                            Datum::Word(combine_lanes(lanes, join))
                        }
                        None => {
                            let mut part = chunk[0].clone();
                            for value in &chunk[1..] {
                                part = self.join(combine, ty, part, value.clone(), frame)?;
                            }
                            part
                        }
                    };
                    total = self.join(combine, ty, total, part, frame)?;
                }
            }
        }
        Ok(total)
    }

    fn scan(
        &mut self,
        combine: &Combine,
        grouping: Grouping,
        ty: &Type,
        values: Vec<Datum>,
        frame: &mut Frame,
    ) -> RunResult<Vec<Datum>> {
        let chunk = if grouping == Grouping::Fixed { CHUNK } else { usize::MAX };
        let mut out: Vec<Datum> = Vec::with_capacity(values.len());
        let mut before: Option<Datum> = None;
        for chunk in values.chunks(chunk) {
            let mut running: Option<Datum> = None;
            for value in chunk {
                let next = match running {
                    Some(running) => self.join(combine, ty, running, value.clone(), frame)?,
                    None => value.clone(),
                };
                out.push(match &before {
                    Some(before) => self.join(combine, ty, before.clone(), next.clone(), frame)?,
                    None => next.clone(),
                });
                running = Some(next);
            }
            before = out.last().cloned();
        }
        Ok(out)
    }

    /// An array with another element at digits: those of its space, and those of further levels.
    fn updated(&mut self, array: &Datum, digits: &[u64], value: &Datum) -> RunResult<Datum> {
        let (extents, elements) = array.elements();
        let (own, rest) = digits.split_at(extents.len());
        let mut elements = elements.as_ref().clone();
        self.spend(elements.len() as u64)?;
        let element = &mut elements[position(extents, own)];
        *element = match rest {
            [] => value.clone(),
            rest => self.updated(element, rest, value)?,
        };
        Ok(Datum::Array(extents.to_vec(), Arc::new(elements)))
    }

    fn run_for(
        &mut self,
        label: Label,
        range: Option<Range>,
        state: Value,
        body: &Block,
        frame: &mut Frame,
    ) -> RunResult<Flow> {
        let mut state = frame.get(state).clone();
        let mut run = |this: &mut Self, at: Datum, frame: &mut Frame| -> RunResult<Option<Flow>> {
            let before = std::mem::replace(&mut state, Datum::unit());
            match round(label, this.block(body, vec![at, before], frame)?) {
                Ok(next) => state = next,
                Err(flow) => return Ok(Some(flow)),
            }
            Ok(None)
        };
        match range {
            None => {
                let Type::Index(space) = &body.params[0].1 else { unreachable!("{INVALID}") };
                let extents = frame.extents(space)?;
                for index in self.indices(&extents)? {
                    if let Some(flow) = run(self, Datum::Index(index), frame)? {
                        return Ok(flow);
                    }
                }
            }
            Some(Range { low, high, inclusive }) => {
                let (mut number, high) = (frame.word(low) as i64, frame.word(high) as i64);
                while number < high || inclusive && number == high {
                    self.spend(1)?;
                    if let Some(flow) = run(self, Datum::Word(number as u64), frame)? {
                        return Ok(flow);
                    }
                    match number.checked_add(1) {
                        Some(next) => number = next,
                        None => break,
                    }
                }
            }
        }
        Ok(Flow::Yield(state))
    }
}
