//! Filters: what is computed of the values that are kept is computed by the filter, and a reduction
//! whose grouping does not matter needs no array of them.
//!
//! ```text
//! v4: some 1 [?0] idx [n0] = filter (v1: idx [n0]) {    v4: some 1 [?0] f64 = filter (v1: idx [n0]) {
//!   v3: (b1, idx [n0]) = tuple v2 v1                      v8: f64 = index v0 v1
//!   yield v3                                              v3: (b1, f64) = tuple v2 v8
//! }                                                 =>    yield v3
//! v5: [n1] idx [n0] = open n1 v4                        }
//! v6: [n1] f64 = map (v7: idx [n1]) {                   v5: [n1] f64 = open n1 v4
//!   v9: idx [n0] = index v5 v7
//!   v8: f64 = index v0 v9
//!   yield v8
//! }
//! ```
//!
//! A comprehension with a condition keeps indices, and then maps them to values. Values that are
//! computed in the order of the index are read in order, and the array of indices is not made.
//!
//! ```text
//! v5: [n1] i64 = open n1 v4                             v6: i64 = reduce add any v0 (v1: idx [n0]) {
//! v6: i64 = reduce add any v0 (v7: idx [n1]) {            v9: i64 = select v2 v3 v10
//!   v8: i64 = index v5 v7                           =>    yield v9
//!   yield v8                                            }
//! }
//! ```
//!
//! Values that are not kept are the identity of the operation; the number of those that are is a sum
//! of ones.
//!
//! **What is changed.** Filters whose block is total, and which one statement opens. A map of the
//! values is computed by the filter if it is total, has no loops, no elementary functions, at most
//! [`MAX_STATEMENTS`] statements and no arrays as values, and nothing else reads what is kept.
//! Reductions are changed if they and the size are all that is read of the array; if there are
//! several, the block of the filter has no loops and is short, since each of them has it.
//!
//! **Why nothing changes.** Total statements give the same values whenever they run, of values that
//! are not kept, too, which nobody reads. A grouping that does not matter permits identities.
//!
//! **Work.** Proportional to the program: a block is copied at most [`MAX_COPIES`] times.

use super::super::scalar::identity;
use super::super::visit::{Part, PartMut};
use super::super::{
    Binary, Block, Combine, Effect, Element, End, Grouping, Op, Prim, Program, ScalarFunction, Size,
    SizeAtom, SizeVar, Space, Stmt, Type, Value,
};
use super::simplify::take;
use super::{Declined, Work, for_each_block_mut, next_value, weight};
use crate::hash::{HashMap, HashSet};

/// Statements of a map that a filter computes, and of a filter that is copied, at most.
const MAX_STATEMENTS: usize = 24;

/// Reductions that a filter is copied to, at most.
const MAX_COPIES: usize = 4;

/// Runs the pass.
pub(super) fn run(program: &Program, work: &mut Work) -> Result<Program, Declined> {
    work.spend(weight(program))?;
    let mut result = program.clone();
    for function in &mut result.functions {
        let mut filters = Filters { next: next_value(function), ..Filters::default() };
        filters.count(&function.body);
        filters.block(&mut function.body);
    }
    Ok(result)
}

#[derive(Default)]
struct Filters {
    /// Uses of each value.
    uses: HashMap<Value, usize>,
    /// Sizes and types that mention each size variable, definitions left out.
    mentions: HashMap<SizeVar, usize>,
    /// The number of the next new value.
    next: u32,
}

/// A filter and the statement that opens it.
struct Kept {
    /// The positions of both in their block.
    filter: usize,
    open: usize,
    /// The size, and the array.
    size: SizeVar,
    array: Value,
    /// The condition and the value of the filter.
    condition: Value,
    value: Value,
}

impl Kept {
    /// Returns true for the type of the indices of the array.
    fn is_index(&self, ty: &Type) -> bool {
        matches!(ty, Type::Index(space) if *space == Space::new([Size::var(self.size)]))
    }
}

impl Filters {
    fn count(&mut self, block: &Block) {
        block.for_each_block(&mut |block| {
            *self.uses.entry(block.end.value()).or_default() += 1;
            block.params.iter().for_each(|(_, ty)| self.count_sizes(ty));
            for stmt in &block.stmts {
                self.count_sizes(&stmt.ty);
                stmt.op.for_each_part(&mut |part| match part {
                    Part::Use(value) => *self.uses.entry(*value).or_default() += 1,
                    Part::Size(size) => self.count_atoms(size),
                    Part::Space(space) => self.count_sizes(&Type::Index(space.clone())),
                    Part::Type(ty) => self.count_sizes(ty),
                    _ => {}
                });
            }
        });
    }

    fn count_sizes(&mut self, ty: &Type) {
        match ty {
            Type::Element(_) => {}
            Type::Index(space) => self.count_space(space),
            Type::Tuple(types) | Type::Sum(types) => types.iter().for_each(|ty| self.count_sizes(ty)),
            Type::Array(space, element) => {
                self.count_space(space);
                self.count_sizes(element);
            }
            Type::Exists(_, inner) => self.count_sizes(inner),
        }
    }

    fn count_space(&mut self, space: &Space) {
        space.digits.iter().flat_map(|digit| digit.pieces.iter()).for_each(|size| self.count_atoms(size));
    }

    fn count_atoms(&mut self, size: &Size) {
        for atom in size.atoms() {
            if let SizeAtom::Var(var) = atom {
                *self.mentions.entry(var).or_default() += 1;
            }
        }
    }

    fn uses(&self, value: Value) -> usize {
        self.uses.get(&value).copied().unwrap_or(0)
    }

    fn fresh(&mut self) -> Value {
        self.next += 1;
        Value(self.next - 1)
    }

    fn block(&mut self, block: &mut Block) {
        for stmt in &mut block.stmts {
            for_each_block_mut(&mut stmt.op, &mut |inner| self.block(inner));
        }
        let mut at = 0;
        while at < block.stmts.len() {
            if let Some(mut kept) = self.kept_at(&block.stmts, at) {
                while self.compute_in_filter(block, &mut kept) {}
                if self.mask(block, &kept) {
                    continue;
                }
            }
            at += 1;
        }
    }

    /// The filter at a position that one statement of the block opens.
    fn kept_at(&self, stmts: &[Stmt], filter: usize) -> Option<Kept> {
        let Stmt { value: packed, op: Op::Filter(body), .. } = &stmts[filter] else { return None };
        if body.effect() != Effect::Total || self.uses(*packed) != 1 {
            return None;
        }
        let End::Yield(pair) = body.end else { return None };
        let Op::Tuple(parts) = &body.stmts.iter().find(|stmt| stmt.value == pair)?.op else { return None };
        let [condition, value] = parts[..] else { return None };
        let open = stmts.iter().position(|stmt| matches!(stmt.op, Op::Open(_, value) if value == *packed))?;
        let Stmt { value: array, op: Op::Open(vars, _), .. } = &stmts[open] else { return None };
        let [size] = vars[..] else { return None };
        Some(Kept { filter, open, size, array: *array, condition, value })
    }

    /// The elements of the array that a block reads at its index, if it reads nothing else of both.
    fn elements(&self, kept: &Kept, body: &Block) -> Option<Vec<Value>> {
        let index = body.params[0].0;
        let is_element = |stmt: &&Stmt| stmt.op == Op::Index(kept.array, index);
        let elements: Vec<Value> = body.stmts.iter().filter(is_element).map(|stmt| stmt.value).collect();
        (kept.is_index(&body.params[0].1) && self.uses(index) == elements.len()).then_some(elements)
    }

    /// Computes a map of the values in the filter; returns false if there is none.
    fn compute_in_filter(&mut self, block: &mut Block, kept: &mut Kept) -> bool {
        let is_wanted = |stmt: &Stmt| {
            let Op::Map(body) = &stmt.op else { return false };
            let elements = self.elements(kept, body);
            elements.is_some_and(|elements| !elements.is_empty() && elements.len() == self.uses(kept.array))
        };
        let Some(map) = (kept.open + 1..block.stmts.len()).find(|at| is_wanted(&block.stmts[*at])) else {
            return false;
        };
        let behind: HashSet<Value> = block.stmts[kept.filter..map].iter().map(|stmt| stmt.value).collect();
        let (Op::Map(body), Type::Array(_, element)) = (&block.stmts[map].op, &block.stmts[map].ty) else {
            return false;
        };
        let is_behind = |stmt: &Stmt| {
            let mut found = false;
            stmt.op.for_each_use(&mut |value| found |= value != kept.array && behind.contains(&value));
            found
        };
        let End::Yield(result) = body.end else { return false };
        let is_cheap = body.stmts.len() <= MAX_STATEMENTS
            && body.stmts.iter().all(|stmt| stmt.op.blocks().is_empty() && !stmt.ty.has_array())
            && !calls_function(body);
        if !is_cheap
            || element.has_array()
            || body.effect() != Effect::Total
            || behind.contains(&result)
            || body.stmts.iter().any(is_behind)
        {
            return false;
        }
        // The size is known behind the filter only; the type of the index mentions it.
        let mut inside = Filters::default();
        inside.count(body);
        if inside.mentions.get(&kept.size) != Some(&1) {
            return false;
        }
        let element = (**element).clone();
        let Stmt { value: mapped, op: Op::Map(body), .. } = block.stmts.remove(map) else { return false };
        let (array, value) = (kept.array, kept.value);
        let (stmts, result) = with_element(body, array, value);
        let filter = &mut block.stmts[kept.filter];
        let Op::Filter(own) = &mut filter.op else { return false };
        let at = own.stmts.iter().position(|stmt| stmt.value == own.end.value()).expect("the block has it");
        let pair = &mut own.stmts[at];
        pair.ty = Type::Tuple(vec![Type::B1, element.clone()]);
        pair.op = Op::Tuple(vec![kept.condition, result]);
        own.stmts.splice(at..at, stmts);
        filter.ty = Type::sized_array(element.clone());
        block.stmts[kept.open].ty = Type::array(Space::new([Size::var(kept.size)]), element);
        let names: HashMap<Value, Value> = [(mapped, array)].into_iter().collect();
        block.stmts[kept.open + 1..].iter_mut().for_each(|stmt| rename(stmt, &names));
        let end = block.end.value_mut();
        *end = names.get(end).copied().unwrap_or(*end);
        // The type of the map and that of its index are gone.
        self.uses.insert(array, self.uses(mapped));
        *self.mentions.entry(kept.size).or_default() -= 2;
        kept.value = result;
        true
    }

    /// Makes reductions of the array reductions of all values; returns false if something else is read
    /// of it.
    fn mask(&mut self, block: &mut Block, kept: &Kept) -> bool {
        let (mut reductions, mut sizes, mut reads) = (Vec::new(), Vec::new(), 0);
        for (at, stmt) in block.stmts.iter().enumerate().skip(kept.open + 1) {
            match &stmt.op {
                Op::Reduce { combine: Combine::Prim(op), grouping: Grouping::Any, body, .. }
                    if body.effect() == Effect::Total
                        && !calls_function(body)
                        && stmt.ty.element().is_some_and(|element| identity(*op, element).is_some()) =>
                {
                    if let Some(elements) = self.elements(kept, body) {
                        reads += elements.len();
                        reductions.push(at);
                    }
                }
                Op::Size(size) if *size == Size::var(kept.size) => sizes.push(at),
                _ => {}
            }
        }
        let copies = reductions.len() + sizes.len();
        // The type of the array mentions the size, and that of the index of each reduction.
        let mentions = self.mentions.get(&kept.size).copied().unwrap_or(0);
        if reads != self.uses(kept.array) || mentions != 1 + copies {
            return false;
        }
        let Op::Filter(body) = &block.stmts[kept.filter].op else { return false };
        let is_short = body.stmts.len() <= MAX_STATEMENTS
            && copies <= MAX_COPIES
            && body.stmts.iter().all(|stmt| stmt.op.blocks().is_empty());
        if copies > 1 && !is_short {
            return false;
        }
        let filter = body.clone();
        for at in reductions {
            let (mut own, condition, value) = self.copy(&filter, kept, copies > 1);
            let stmt = &mut block.stmts[at];
            let element = stmt.ty.element().expect("a reduction of elements");
            let Op::Reduce { combine: Combine::Prim(op), body, .. } = &mut stmt.op else { continue };
            let bits = identity(*op, element).expect("the operation has one");
            let (stmts, result) = with_element(take(body), kept.array, value);
            own.stmts.extend(stmts);
            *body = self.masked(own, element, condition, result, bits);
        }
        let mut starts = Vec::new();
        for at in sizes {
            let (mut own, condition, _) = self.copy(&filter, kept, copies > 1);
            let one = self.fresh();
            own.stmts.push(Stmt { value: one, ty: Type::I64, op: Op::Const(Element::I64, 1) });
            let body = self.masked(own, Element::I64, condition, one, 0);
            let start = self.fresh();
            let (combine, grouping) = (Combine::Prim(Binary::Add), Grouping::Any);
            block.stmts[at].op = Op::Reduce { combine, grouping, start, body };
            starts.push(Stmt { value: start, ty: Type::I64, op: Op::Const(Element::I64, 0) });
        }
        block.stmts.remove(kept.open);
        block.stmts.splice(kept.filter..=kept.filter, starts);
        true
    }

    /// The block of a filter without its end, with its condition and its value; under new names if it
    /// is copied.
    fn copy(&mut self, filter: &Block, kept: &Kept, fresh: bool) -> (Block, Value, Value) {
        let mut own = filter.clone();
        own.stmts.retain(|stmt| stmt.value != filter.end.value());
        let mut names = HashMap::default();
        if fresh {
            for (param, _) in &mut own.params {
                let new = self.fresh();
                names.insert(std::mem::replace(param, new), new);
            }
            for stmt in &mut own.stmts {
                rename(stmt, &names);
                let new = self.fresh();
                names.insert(std::mem::replace(&mut stmt.value, new), new);
            }
            own.end = End::Yield(own.stmts.last().map_or(own.params[0].0, |stmt| stmt.value));
            self.count(&own);
        }
        let now = |value: Value| names.get(&value).copied().unwrap_or(value);
        (own, now(kept.condition), now(kept.value))
    }

    /// A block that gives a result where a condition holds, and an identity elsewhere.
    fn masked(
        &mut self,
        mut own: Block,
        element: Element,
        condition: Value,
        result: Value,
        bits: u64,
    ) -> Block {
        let (neutral, chosen, ty) = (self.fresh(), self.fresh(), Type::Element(element));
        own.stmts.push(Stmt { value: neutral, ty: ty.clone(), op: Op::Const(element, bits) });
        own.stmts.push(Stmt { value: chosen, ty, op: Op::Select(condition, result, neutral) });
        own.end = End::Yield(chosen);
        own
    }
}

/// The statements and the result of a block that reads an array at its index, with a value in place
/// of the element.
fn with_element(body: Block, array: Value, value: Value) -> (Vec<Stmt>, Value) {
    let element = Op::Index(array, body.params[0].0);
    let result = body.end.value();
    let (read, mut stmts): (Vec<Stmt>, Vec<Stmt>) =
        body.stmts.into_iter().partition(|stmt| stmt.op == element);
    let names: HashMap<Value, Value> = read.into_iter().map(|stmt| (stmt.value, value)).collect();
    stmts.iter_mut().for_each(|stmt| rename(stmt, &names));
    (stmts, names.get(&result).copied().unwrap_or(result))
}

/// Returns true for a block with an elementary function other than a square root, which is computed
/// for what is kept alone.
fn calls_function(block: &Block) -> bool {
    let mut found = false;
    block.for_each_stmt(&mut |stmt| {
        found |= matches!(stmt.op, Op::Prim(Prim::Function(function), _) if function != ScalarFunction::Sqrt);
    });
    found
}

/// Puts values in place of others in a statement.
fn rename(stmt: &mut Stmt, names: &HashMap<Value, Value>) {
    fn in_op(op: &mut Op, names: &HashMap<Value, Value>) {
        op.for_each_part_mut(&mut |part| match part {
            PartMut::Use(value) => *value = names.get(value).copied().unwrap_or(*value),
            PartMut::Block(block) => {
                block.stmts.iter_mut().for_each(|stmt| in_op(&mut stmt.op, names));
                let end = block.end.value_mut();
                *end = names.get(end).copied().unwrap_or(*end);
            }
            _ => {}
        });
    }
    in_op(&mut stmt.op, names);
}
