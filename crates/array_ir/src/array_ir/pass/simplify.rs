//! Simplify: constants folded, copies propagated, equal operations shared, dead ones removed,
//! comparisons of sizes and digits decided by polynomials.
//!
//! One walk forward over each function rewrites statements in place of their operands' values, and
//! one backward removes total statements whose values nobody reads.
//!
//! ```text
//! v3: i64 = mul v1 v2          v3: i64 = mul v1 v2
//! v4: i64 = mul v1 v2    =>    v5: i64 = add v3 v3
//! v5: i64 = add v3 v4          yield v5
//! yield v5
//! ```
//!
//! **Why nothing changes.** A value is replaced by one that is equal to the bit and is in scope:
//!
//! * A constant is what [`super::super::scalar::apply`], the interpreter's own meaning, gives. A
//!   result that is NaN is not folded, since machines differ in its bits.
//! * Of floats no identity is used but `neg (neg x)`: `x + 0` changes -0, `x - x` and `x * 0` are
//!   NaN for infinities and `x * 1` may change a NaN. `x < x` is false of NaN, too; `x == x` is not
//!   true.
//! * A statement that may fail and is equal to an earlier one, which has not failed, does not fail,
//!   and gives the same value. So it is shared whatever its site. Order of failures stays.
//! * What fails, may not end, has output, opens sizes or leaves a loop is not removed.
//! * A number of `iota` is its index.
//! * A reduction of two elements is their operation, if its start changes nothing. A reduction by a
//!   block that applies a primitive is one by the primitive, if the grouping means nothing.
//! * What is packed and then opened has the sizes with which it was packed.
//! * A comparison of sizes is decided if the difference has natural coefficients; sizes and digits
//!   are below 2^62, so that they compare as numbers do.
//!
//! **Work.** A constant number of units for each part of a statement: digits are put in place of
//! others only up to [`MAX_DIGIT_NODES`].

mod prims;

use super::super::digit::{MAX_DIGIT_NODES, limit_nodes, nodes, reduce_digit, replace, replace_targets};
use super::super::scalar::idempotent_identity;
use super::super::validate::{is_reassociable, substitute, substitute_in_space};
use super::super::visit::PartMut;
use super::super::{
    Binary, Block, Combine, DigitExpr, Effect, Element, End, Function, Grouping, Label, Op, Prim, Program,
    Range, Size, SizeAtom, SizeVar, Space, Stmt, Type, Value,
};
use super::{Declined, Work, next_value, op_weight};
use crate::hash::{HashMap, HashSet};

/// Runs the pass.
pub(super) fn run(program: &Program, work: &mut Work) -> Result<Program, Declined> {
    let mut result = program.clone();
    for function in &mut result.functions {
        simplify(function, work)?;
    }
    Ok(result)
}

fn simplify(function: &mut Function, work: &mut Work) -> Result<(), Declined> {
    let (mut labels, mut uses) = (HashMap::default(), HashMap::default());
    function.body.for_each_block(&mut |block| {
        if let Some(label) = block.end.label() {
            *labels.entry(label).or_insert(0) += 1;
        }
        *uses.entry(block.end.value()).or_insert(0) += 1;
        for stmt in &block.stmts {
            stmt.op.for_each_use(&mut |value| *uses.entry(value).or_insert(0) += 1);
        }
    });
    let next = next_value(function);
    let mut walk = Walk {
        work,
        types: HashMap::default(),
        ops: HashMap::default(),
        replaced: HashMap::default(),
        sizes: HashMap::default(),
        shared: HashMap::default(),
        checked: HashSet::default(),
        undo: Vec::new(),
        labels,
        uses,
        around: Vec::new(),
        removable: HashSet::default(),
        next,
    };
    let (body, _) = walk.block(take(&mut function.body), false)?;
    function.body = body;
    let removable = walk.removable;
    sweep(&mut function.body, &removable, &mut HashSet::default(), work)
}

/// Puts a new value in place of an old one; false if there is none.
fn put<T>(old: &mut T, new: Option<T>) -> bool {
    match new {
        Some(new) => {
            *old = new;
            true
        }
        None => false,
    }
}

/// Takes a block out of its place.
pub(super) fn take(block: &mut Block) -> Block {
    let empty = Block { params: Vec::new(), stmts: Vec::new(), end: End::Yield(Value(0)) };
    std::mem::replace(block, empty)
}

/// Removes statements whose values nobody reads, last first.
fn sweep(
    block: &mut Block,
    removable: &HashSet<Value>,
    read: &mut HashSet<Value>,
    work: &mut Work,
) -> Result<(), Declined> {
    read.insert(block.end.value());
    let mut kept = Vec::with_capacity(block.stmts.len());
    for mut stmt in std::mem::take(&mut block.stmts).into_iter().rev() {
        work.spend(op_weight(&stmt.op))?;
        if removable.contains(&stmt.value) && !read.contains(&stmt.value) {
            continue;
        }
        let mut result = Ok(());
        stmt.op.for_each_part_mut(&mut |part| match part {
            PartMut::Use(value) => drop(read.insert(*value)),
            PartMut::Block(block) if result.is_ok() => result = sweep(block, removable, read, work),
            _ => {}
        });
        result?;
        kept.push(stmt);
    }
    kept.reverse();
    block.stmts = kept;
    Ok(())
}

/// An entry of a table that belongs to the block in which it was made.
enum Undo {
    Shared(Op, Type),
    Checked(Value),
}

/// The effect of statements, and the outermost loop or block that they leave, by its number from
/// outside.
#[derive(Clone, Copy)]
struct Behavior {
    effect: Effect,
    leaves: Option<usize>,
}

impl Behavior {
    const TOTAL: Behavior = Behavior { effect: Effect::Total, leaves: None };

    fn join(self, other: Behavior) -> Behavior {
        let leaves = self.leaves.into_iter().chain(other.leaves).min();
        Behavior { effect: self.effect.max(other.effect), leaves }
    }
}

/// The rewriting of one operation.
enum Rewrite {
    /// The value of another statement.
    Copy(Value),
    /// An operation, which may be the same.
    Op(Op),
}

struct Walk<'w> {
    work: &'w mut Work,
    /// Types of values in scope.
    types: HashMap<Value, Type>,
    /// Operations of values, without those that hold blocks or long digits.
    ops: HashMap<Value, Op>,
    /// Values in place of others.
    replaced: HashMap<Value, Value>,
    /// Sizes in place of variables that have been opened.
    sizes: HashMap<SizeVar, Size>,
    /// Values of operations in scope.
    shared: HashMap<(Op, Type), Value>,
    /// Conditions that a check in scope has found true.
    checked: HashSet<Value>,
    undo: Vec<Undo>,
    /// Ends that name each label.
    labels: HashMap<Label, u32>,
    /// Uses of each value in the program that the pass was given.
    uses: HashMap<Value, u32>,
    around: Vec<Label>,
    /// Statements that may be removed.
    removable: HashSet<Value>,
    next: u32,
}

impl Walk<'_> {
    /// Puts another value in place of one.
    fn replace(&mut self, value: Value, by: Value) {
        self.replaced.insert(value, by);
        let uses = self.uses.get(&value).copied().unwrap_or(0);
        *self.uses.entry(by).or_insert(0) += uses;
    }

    /// Puts sizes in place of variables that have been opened, in a type.
    fn replace_sizes(&self, ty: &mut Type) -> Result<(), Declined> {
        if !self.sizes.is_empty() {
            *ty = substitute(ty, &|atom| self.size_now(atom)).ok_or(Declined::Work)?;
        }
        Ok(())
    }

    /// Puts sizes in place of variables that have been opened, in a statement.
    fn replace_sizes_of_stmt(&self, stmt: &mut Stmt) -> Result<(), Declined> {
        if self.sizes.is_empty() {
            return Ok(());
        }
        self.replace_sizes(&mut stmt.ty)?;
        let now = |atom| self.size_now(atom);
        let mut within_bounds = true;
        stmt.op.for_each_part_mut(&mut |part| match part {
            PartMut::Size(size) => within_bounds &= put(size, size.substitute(&now)),
            PartMut::Space(space) => within_bounds &= put(space, substitute_in_space(space, &now)),
            PartMut::Type(ty) => within_bounds &= put(ty, substitute(ty, &now)),
            _ => {}
        });
        if within_bounds { Ok(()) } else { Err(Declined::Work) }
    }

    fn size_now(&self, atom: SizeAtom) -> Size {
        match atom {
            SizeAtom::Var(var) => self.sizes.get(&var).cloned().unwrap_or_else(|| Size::var(var)),
            SizeAtom::Bound(_) => Size::atom(atom),
        }
    }

    /// The value in whose place another stands now.
    fn now(&self, value: Value) -> Value {
        self.replaced.get(&value).copied().unwrap_or(value)
    }

    fn block(&mut self, mut block: Block, leaves: bool) -> Result<(Block, Behavior), Declined> {
        let around = (!leaves).then(|| std::mem::take(&mut self.around));
        let mark = self.undo.len();
        self.work.spend(2 + block.params.len() as u64)?;
        for (_, ty) in &mut block.params {
            self.replace_sizes(ty)?;
        }
        self.types.extend(block.params.iter().cloned());
        let mut stmts = Vec::with_capacity(block.stmts.len());
        let (end, behavior) = self.stmts(block.stmts, block.end, &mut stmts)?;
        for entry in self.undo.drain(mark..) {
            match entry {
                Undo::Shared(op, ty) => drop(self.shared.remove(&(op, ty))),
                Undo::Checked(value) => drop(self.checked.remove(&value)),
            }
        }
        if let Some(around) = around {
            self.around = around;
        }
        Ok((Block { params: block.params, stmts, end }, behavior))
    }

    /// Rewrites statements and an end behind those of `out`. The end is an earlier one if a
    /// statement always leaves.
    fn stmts(
        &mut self,
        stmts: Vec<Stmt>,
        end: End,
        out: &mut Vec<Stmt>,
    ) -> Result<(End, Behavior), Declined> {
        let mut behavior = Behavior::TOTAL;
        for mut stmt in stmts {
            self.work.spend(op_weight(&stmt.op))?;
            stmt.op.for_each_part_mut(&mut |part| {
                if let PartMut::Use(value) = part {
                    *value = self.replaced.get(value).copied().unwrap_or(*value);
                }
            });
            self.replace_sizes_of_stmt(&mut stmt)?;
            // A block that always runs, once, stands in place of the statement.
            if let Some(inner) = self.only_block(&mut stmt.op) {
                let (end, of_block) = self.stmts(inner.stmts, inner.end, out)?;
                behavior = behavior.join(of_block);
                match end {
                    End::Yield(value) => self.replace(stmt.value, value),
                    leaving => return Ok((leaving, behavior)),
                }
                continue;
            }
            behavior = behavior.join(self.stmt(stmt, out)?);
        }
        let mut end = end;
        let value = end.value_mut();
        *value = self.now(*value);
        if let Some(label) = end.label() {
            let at = self.around.iter().position(|around| *around == label);
            behavior.leaves = behavior.leaves.into_iter().chain(at).min();
        }
        Ok((end, behavior))
    }

    /// The one block of an operation that runs, if that is known; its parameter is replaced.
    fn only_block(&mut self, op: &mut Op) -> Option<Block> {
        match op {
            Op::If(condition, then, otherwise) => match self.constant(*condition)?.1 {
                0 => Some(take(otherwise)),
                _ => Some(take(then)),
            },
            Op::Switch(value, blocks) => {
                if let Some(Op::Case(_, case, piece)) = self.ops.get(value) {
                    let (case, piece) = (*case as usize, *piece);
                    let block = take(&mut blocks[case]);
                    self.replace(block.params[0].0, piece);
                    return Some(block);
                }
                let (case, digit) = self.known_piece(*value)?;
                let mut block = take(&mut blocks[case]);
                let (param, ty) = block.params.pop()?;
                let Type::Index(space) = &ty else { return None };
                let op = Op::At(space.clone(), vec![digit]);
                block.stmts.insert(0, Stmt { value: param, ty, op });
                Some(block)
            }
            Op::Block(label, body) => {
                let named = self.labels.get(label).copied().unwrap_or(0);
                match body.end {
                    End::Exit(own, value) if own == *label && named == 1 => {
                        body.end = End::Yield(value);
                        Some(take(body))
                    }
                    _ if named == 0 => Some(take(body)),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// The piece that an index of one digit is known to be in, with its digit there.
    fn known_piece(&self, index: Value) -> Option<(usize, DigitExpr)> {
        let (Op::At(_, digits), Type::Index(space)) = (self.ops.get(&index)?, self.types.get(&index)?) else {
            return None;
        };
        let (begin, digit) = match &digits[..] {
            [DigitExpr::Affine { offset, stride: 1, of }] => (offset.clone(), (**of).clone()),
            [digit] => (Size::constant(0), digit.clone()),
            _ => return None,
        };
        let mut offset = Size::constant(0);
        for (case, piece) in space.digits[0].pieces.iter().enumerate() {
            let inside = match &digit {
                DigitExpr::Constant(number) => {
                    begin.add(number)?.checked_sub(&offset).map(DigitExpr::Constant)
                }
                digit => (offset == begin).then(|| digit.clone()),
            };
            if let Some(digit) = inside
                && self.bound(&digit).is_some_and(|bound| bound.is_at_most(piece))
            {
                return Some((case, digit));
            }
            offset = offset.add(piece)?;
        }
        None
    }

    fn stmt(&mut self, stmt: Stmt, out: &mut Vec<Stmt>) -> Result<Behavior, Declined> {
        let Stmt { value, ty, op } = stmt;
        let (op, behavior) = self.inside(op)?;
        // The rewritten block always leaves itself, here only: its statements stand in its place.
        let op = match op {
            Op::Block(label, body) => match body.end {
                End::Exit(own, result) if own == label && self.labels.get(&label) == Some(&1) => {
                    out.extend(body.stmts);
                    self.replace(value, result);
                    return Ok(behavior);
                }
                _ => Op::Block(label, body),
            },
            op => op,
        };
        let op = match self.rewrite(op, out)? {
            Rewrite::Copy(other) => {
                self.replace(value, other);
                return Ok(behavior);
            }
            Rewrite::Op(op) => op,
        };
        let behavior = if op.blocks().is_empty() {
            Behavior { effect: op.own_effect(), leaves: None }
        } else {
            behavior
        };
        if behavior.effect < Effect::Ordered && op.blocks().is_empty() && !matches!(op, Op::Open(..)) {
            if let Op::Check(condition, ..) = op {
                if !self.checked.insert(condition) {
                    return Ok(self.define(value, ty, Op::Tuple(Vec::new()), out));
                }
                self.undo.push(Undo::Checked(condition));
            } else {
                let key = (without_site(&op), ty.clone());
                if let Some(other) = self.shared.get(&key) {
                    self.replace(value, *other);
                    return Ok(Behavior::TOTAL);
                }
                self.undo.push(Undo::Shared(key.0.clone(), key.1.clone()));
                self.shared.insert(key, value);
            }
        }
        if behavior.effect == Effect::Total && behavior.leaves.is_none() && !matches!(op, Op::Open(..)) {
            self.removable.insert(value);
        }
        let small = match &op {
            Op::At(_, digits) | Op::View(_, _, digits) => {
                digits.iter().all(|digit| nodes(digit) <= MAX_DIGIT_NODES)
            }
            op => op.blocks().is_empty(),
        };
        if small {
            self.ops.insert(value, op.clone());
        }
        self.types.insert(value, ty.clone());
        out.push(Stmt { value, ty, op });
        Ok(behavior)
    }

    /// Defines a value by a total operation.
    fn define(&mut self, value: Value, ty: Type, op: Op, out: &mut Vec<Stmt>) -> Behavior {
        self.removable.insert(value);
        self.ops.insert(value, op.clone());
        self.types.insert(value, ty.clone());
        out.push(Stmt { value, ty, op });
        Behavior::TOTAL
    }

    /// Rewrites the blocks of an operation; gives the effect of the operation with them.
    fn inside(&mut self, mut op: Op) -> Result<(Op, Behavior), Declined> {
        let mut behavior = Behavior { effect: op.own_effect(), leaves: None };
        let label = match &op {
            Op::For { label, .. } | Op::While { label, .. } | Op::Block(label, _) => Some(*label),
            _ => None,
        };
        // The condition of a `while` cannot leave it: its label is not around.
        let is_condition = |op: &Op, at: usize| matches!(op, Op::While { .. }) && at == 0;
        let whole = matches!(op, Op::If(..) | Op::Switch(..)) || label.is_some();
        let conditions: Vec<bool> = (0..op.blocks().len()).map(|at| is_condition(&op, at)).collect();
        self.around.extend(label);
        let depth = self.around.len() - usize::from(label.is_some());
        let (mut at, mut failed) = (0, None);
        op.for_each_part_mut(&mut |part| {
            if let (PartMut::Block(block), None) = (part, failed) {
                match self.block(take(block), whole && !conditions[at]) {
                    Ok((new, of_block)) => {
                        *block = new;
                        behavior = behavior.join(of_block);
                    }
                    Err(declined) => failed = Some(declined),
                }
                at += 1;
            }
        });
        self.around.truncate(depth);
        if let Some(declined) = failed {
            return Err(declined);
        }
        behavior.leaves = behavior.leaves.filter(|at| *at < depth);
        Ok((op, behavior))
    }

    fn rewrite(&mut self, op: Op, out: &mut Vec<Stmt>) -> Result<Rewrite, Declined> {
        Ok(match op {
            Op::Prim(prim, values) => self.prim(prim, values),
            Op::Size(size) => Rewrite::Op(match size.to_constant() {
                Some(number) if number < 1 << 62 => Op::Const(Element::I64, number),
                _ => Op::Size(size),
            }),
            Op::Select(condition, a, b) => self.select(condition, a, b),
            Op::Part(value, part) => match self.ops.get(&value) {
                Some(Op::Tuple(values)) => Rewrite::Copy(values[part as usize]),
                _ => Rewrite::Op(Op::Part(value, part)),
            },
            Op::Tag(value) => Rewrite::Op(match self.ops.get(&value) {
                Some(Op::Case(_, case, _)) => Op::Const(Element::I64, u64::from(*case)),
                _ => Op::Tag(value),
            }),
            // A value that is packed in scope needs no variables for its sizes.
            Op::Open(vars, value) => match self.ops.get(&value) {
                Some(Op::Pack(_, sizes, packed)) => {
                    self.sizes.extend(vars.into_iter().zip(sizes.iter().cloned()));
                    Rewrite::Copy(*packed)
                }
                _ => Rewrite::Op(Op::Open(vars, value)),
            },
            Op::Index(array, at) => return self.index(array, at, out),
            Op::At(space, digits) => {
                let digits: Vec<DigitExpr> =
                    digits.into_iter().map(|digit| self.simplify_digit(digit)).collect();
                match self.whole_index(&space, &digits) {
                    Some(value) => Rewrite::Copy(value),
                    None => Rewrite::Op(Op::At(space, digits)),
                }
            }
            Op::Number(digit) => Rewrite::Op(match self.simplify_digit(digit) {
                DigitExpr::Constant(size) => match size.to_constant() {
                    Some(number) if number < 1 << 62 => Op::Const(Element::I64, number),
                    _ => Op::Size(size),
                },
                digit => Op::Number(digit),
            }),
            Op::TryLocate(size, value) => {
                let digit = self.digit(value).filter(|digit| {
                    let bound = self.bound(digit);
                    bound.is_some_and(|bound| bound.is_at_most(&size))
                });
                let known = match (digit, self.constant(value)) {
                    (Some(digit), _) => Some(reduce_digit(DigitExpr::Affine {
                        offset: Size::constant(1),
                        stride: 1,
                        of: Box::new(digit),
                    })),
                    // Sizes are below 2^62.
                    (None, Some((_, number))) if number >= size.to_constant().unwrap_or(1 << 62) => {
                        Some(DigitExpr::Constant(Size::constant(0)))
                    }
                    _ => None,
                };
                Rewrite::Op(match known {
                    Some(digit) => Op::At(Space::optional(size), vec![digit]),
                    None => Op::TryLocate(size, value),
                })
            }
            Op::Locate(space, values, site) => {
                let digits = values.iter().zip(&space.digits).map(|(value, of)| {
                    let digit = self.digit(*value)?;
                    self.bound(&digit)?.is_at_most(&of.size()?).then_some(digit)
                });
                match digits.collect::<Option<Vec<_>>>() {
                    Some(digits) => match self.whole_index(&space, &digits) {
                        Some(value) => Rewrite::Copy(value),
                        None => Rewrite::Op(Op::At(space, digits)),
                    },
                    None => Rewrite::Op(Op::Locate(space, values, site)),
                }
            }
            Op::View(space, array, digits) => self.view(space, array, digits),
            Op::Check(condition, site, shown) => Rewrite::Op(match self.constant(condition) {
                Some((_, 1)) => Op::Tuple(Vec::new()),
                _ => Op::Check(condition, site, shown),
            }),
            Op::Require(wanted, value, site) => match self.types.get(&value) {
                Some(found) if *found == wanted => Rewrite::Copy(value),
                _ => Rewrite::Op(Op::Require(wanted, value, site)),
            },
            Op::Update(array, at, value) => match self.ops.get(&array) {
                // One that is read elsewhere is made anyway; two arrays made of the one before
                // could not take its place both.
                Some(Op::Update(before, other, _)) if *other == at && self.uses.get(&array) == Some(&1) => {
                    Rewrite::Op(Op::Update(*before, at, value))
                }
                _ => Rewrite::Op(Op::Update(array, at, value)),
            },
            Op::If(condition, then, otherwise) if then.stmts.is_empty() && otherwise.stmts.is_empty() => {
                match (then.end, otherwise.end) {
                    // A branch may give an array without a copy.
                    (End::Yield(a), End::Yield(b)) if a == b || !self.types[&a].has_array() => {
                        self.select(condition, a, b)
                    }
                    _ => Rewrite::Op(Op::If(condition, then, otherwise)),
                }
            }
            Op::Reduce { start, ref body, .. } if is_empty(body) => Rewrite::Copy(start),
            Op::Reduce { combine: Combine::Prim(op), grouping: Grouping::Any, start, ref body }
                if let Some(pair) = self.pair(body)
                    && self.is_identity(op, start) =>
            {
                self.prim(Prim::Binary(op), pair)
            }
            Op::Reduce { combine: Combine::Block(ref block), grouping: Grouping::Fixed, start, body }
                if let Some(op) = self.reassociable(block) =>
            {
                Rewrite::Op(Op::Reduce { combine: Combine::Prim(op), grouping: Grouping::Any, start, body })
            }
            Op::Scan { combine: Combine::Block(ref block), grouping, body }
                if let Some(op) = self.reassociable(block) =>
            {
                Rewrite::Op(Op::Scan { combine: Combine::Prim(op), grouping, body })
            }
            Op::For { range: None, state, ref body, .. } if is_empty(body) => Rewrite::Copy(state),
            Op::For { range: Some(range), state, .. } if self.is_empty_range(range) => Rewrite::Copy(state),
            op => Rewrite::Op(op),
        })
    }

    /// The elements that a reduction joins, if they are those of an array of two that is written
    /// out.
    fn pair(&self, body: &Block) -> Option<Vec<Value>> {
        let ([stmt], End::Yield(value)) = (&body.stmts[..], body.end) else { return None };
        let Op::Index(array, at) = stmt.op else { return None };
        let is_whole = stmt.value == value && at == body.params[0].0;
        match self.ops.get(&array)? {
            Op::Array(_, values) if is_whole && values.len() == 2 => Some(values.clone()),
            _ => None,
        }
    }

    /// Returns true if a value changes nothing in a reduction by an operation.
    fn is_identity(&self, op: Binary, value: Value) -> bool {
        self.constant(value).is_some_and(|(element, bits)| idempotent_identity(op, element) == Some(bits))
    }

    /// The operation of a block that only joins its parameters, if its grouping means nothing.
    fn reassociable(&self, block: &Block) -> Option<Binary> {
        let op = block.only_operation()?;
        is_reassociable(op, block.params[0].1.element()?).then_some(op)
    }

    /// Returns true if a range is known to hold no number.
    fn is_empty_range(&self, range: Range) -> bool {
        match (self.constant(range.low), self.constant(range.high)) {
            (Some((_, low)), Some((_, high))) => {
                let (low, high) = (low as i64, high as i64);
                low > high || low == high && !range.inclusive
            }
            _ => false,
        }
    }

    /// An element of an array of which more is known.
    fn index(&mut self, array: Value, at: Value, out: &mut Vec<Stmt>) -> Result<Rewrite, Declined> {
        let op = match self.ops.get(&array) {
            Some(Op::Update(_, other, value)) if *other == at => return Ok(Rewrite::Copy(*value)),
            Some(Op::Array(_, values)) => match self.ops.get(&at) {
                Some(Op::At(_, digits)) => match &digits[..] {
                    [DigitExpr::Constant(number)] => {
                        let position = number.to_constant().expect("a digit below a number is a number");
                        return Ok(Rewrite::Copy(values[position as usize]));
                    }
                    _ => Op::Index(array, at),
                },
                _ => Op::Index(array, at),
            },
            Some(Op::View(_, source, digits)) => {
                let (source, digits) = (*source, digits.clone());
                let placed: Option<Vec<DigitExpr>> = digits
                    .iter()
                    .map(|digit| limit_nodes(replace_targets(digit, &|k| DigitExpr::Of(at, k))))
                    .collect();
                let Some(Type::Array(space, _)) = self.types.get(&source) else {
                    return Ok(Rewrite::Op(Op::Index(array, at)));
                };
                let (space, Some(placed)) = (space.clone(), placed) else {
                    return Ok(Rewrite::Op(Op::Index(array, at)));
                };
                self.work.spend(placed.len() as u64 * MAX_DIGIT_NODES as u64)?;
                let value = Value(self.next);
                self.next += 1;
                let ty = Type::Index(space.clone());
                self.stmt(Stmt { value, ty, op: Op::At(space, placed) }, out)?;
                let at = self.now(value);
                return self.index(source, at, out);
            }
            Some(Op::Open(_, packed)) if matches!(self.ops.get(packed), Some(Op::Iota(_))) => {
                Op::Number(DigitExpr::Of(at, 0))
            }
            _ => Op::Index(array, at),
        };
        Ok(Rewrite::Op(op))
    }

    fn view(&mut self, space: Space, array: Value, digits: Vec<DigitExpr>) -> Rewrite {
        let digits: Vec<DigitExpr> = digits.into_iter().map(|digit| self.simplify_digit(digit)).collect();
        if let Some(Op::View(_, source, inner)) = self.ops.get(&array) {
            let source = *source;
            let composed = inner.iter().map(|digit| {
                let digit = replace_targets(digit, &|k| digits[k as usize].clone());
                limit_nodes(digit).map(|digit| self.simplify_digit(digit))
            });
            if let Some(composed) = composed.collect::<Option<Vec<_>>>() {
                return self.view_of_source(space, source, composed);
            }
        }
        self.view_of_source(space, array, digits)
    }

    fn view_of_source(&self, space: Space, array: Value, digits: Vec<DigitExpr>) -> Rewrite {
        let same = matches!(self.types.get(&array), Some(Type::Array(of, _)) if *of == space);
        let identity = (0..).map(DigitExpr::Target);
        if same && digits.iter().cloned().eq(identity.take(digits.len())) {
            return Rewrite::Copy(array);
        }
        Rewrite::Op(Op::View(space, array, digits))
    }

    /// The index in scope that has all of these digits in order.
    fn whole_index(&self, space: &Space, digits: &[DigitExpr]) -> Option<Value> {
        let DigitExpr::Of(value, 0) = digits.first()? else { return None };
        let same = digits.iter().zip(0..).all(|(digit, at)| *digit == DigitExpr::Of(*value, at));
        let whole = matches!(self.types.get(value), Some(Type::Index(of)) if of == space);
        (same && whole).then_some(*value)
    }

    /// The digit with those of known indices in place of the indices, and what undoes itself left
    /// out. The bound is at most that of the digit.
    fn simplify_digit(&self, digit: DigitExpr) -> DigitExpr {
        let known = |value: Value, at: u32| match self.ops.get(&value) {
            Some(Op::At(_, digits)) => digits[at as usize].clone(),
            _ => DigitExpr::Of(value, at),
        };
        let placed = replace(&digit, &DigitExpr::Target, &known);
        reduce_digit(limit_nodes(placed).unwrap_or(digit))
    }
}

/// Returns true if a block runs for no index.
fn is_empty(body: &Block) -> bool {
    match &body.params[0].1 {
        Type::Index(space) => space.size().and_then(|size| size.to_constant()) == Some(0),
        _ => false,
    }
}

/// The operation with the first site in place of its own: the key under which it is shared.
fn without_site(op: &Op) -> Op {
    let mut op = op.clone();
    op.for_each_part_mut(&mut |part| {
        if let PartMut::Site(site) = part {
            site.0 = 0;
        }
    });
    op
}
