//! Producer-consumer fusion: the elements of an array are computed where they are read, and the
//! array is not made.
//!
//! ```text
//! v2: [n0] f64 = map (v3: [n0]) {               v8: f64 = reduce add fixed v7 (v9: idx [n0]) {
//!   v4: f64 = index v0 v3                         v4: f64 = index v0 v9
//!   v5: f64 = mul v4 v4                           v5: f64 = mul v4 v4
//!   yield v5                               =>     yield v5
//! }                                             }
//! v8: f64 = reduce add fixed v7 (v9: idx [n0]) {
//!   v10: f64 = index v2 v9
//!   yield v10
//! }
//! ```
//!
//! **What is fused.** A map all of whose uses are elements that are read ([`Op::Index`]), or one
//! view, which becomes a map itself. Its body is total; or it may fail and there is one use, for
//! each index of its space once and in order, in the body of an operation of the same block, where
//! nothing else may fail before.
//!
//! **Profitability.** A use runs as often as the loops between the array and the use have rounds.
//! Each must be at most twice the number of elements; or the elements are those of another array,
//! so that to find one costs no more than to read it. Uses that run for few elements only, a
//! sixty-fourth of them, do not count, and those with more rounds than elements, such as a field
//! that is read with a halo, count twice. With several others the body must be cheap: `(uses - 1) *
//! cost <= uses + 48`. A primitive costs 1, as does an element that is read, and 8 division and an
//! element whose position is data. An element that is stored and read costs 48: an array is larger
//! than the caches, its element takes 24 bytes from and to memory, and in that time primitives go
//! by vectors. One of an array that is known to have at most 32 768 elements costs 24 in place of
//! 48: they fit the second-level cache. One that is made in each round of a loop costs 2. A
//! reduction of at most four terms costs what these cost, one of more is not copied. A function is
//! computed once. What is made of digits alone costs a quarter: it is the same for all
//! rounds of inner loops, or a condition at which loops are cut.
//!
//! An array of contractions is made unless maps read it in its own order: sums over an index of
//! numbers that are read at some digits of the index and of others that are read at others, as a
//! product of matrices is. By tiles each number is read once for many sums; inside another
//! reduction, once for each. Arrays of fewer than 256 such sums are as others.
//!
//! An array is made where one that it reads changes before its last use: an element that is stored
//! takes the place of the old one, unless the old array is still read.
//!
//! **Why nothing changes.** A total body gives the same value whenever it runs. A body that may
//! fail runs for the same indices in the same order, before or after statements that cannot fail,
//! so the same site fails first, with the same values; if there is none, nothing fails in either
//! program. No operation of an element changes, so results agree to the bit.
//!
//! **Work.** Proportional to the program: a body is copied once, or it is cheap. The budget bounds
//! chains of cheap bodies.

use super::super::digit;
use super::super::visit::{Part, PartMut};
use super::super::{
    Binary, Block, DigitExpr, Effect, End, Function, Label, Op, Prim, Program, Size, Space, Stmt, Type, Value,
};
use super::simplify::take;
use super::{Declined, Work, next_value, op_weight};
use crate::hash::{HashMap, HashSet};
use std::collections::BTreeSet;

/// The unit of costs: a primitive of elements.
const PRIMITIVE_COST: u32 = 4;

/// The cost of an operation of digits.
const DIGIT_OPERATION: u32 = 1;

/// The cost of an element whose position is data: it is not read by vectors.
const GATHER_COST: u32 = 8 * PRIMITIVE_COST;

/// The cost of a body with a loop or a function: it is not computed twice.
const LOOP_OR_CALL_COST: u32 = 1_000 * PRIMITIVE_COST;

/// Terms of the longest reduction whose cost is that of its terms: it is written out.
const MAX_WRITTEN_OUT_TERMS: u64 = 4;

/// The cost of an element that goes to memory and comes back.
const MEMORY_ROUND_TRIP_COST: u32 = 48 * PRIMITIVE_COST;

/// The cost of an element of a short array.
const SHORT_ARRAY_ROUND_TRIP_COST: u32 = 24 * PRIMITIVE_COST;

/// Elements of the longest short array: with 8 bytes each they fit the second-level cache.
const MAX_SHORT_ARRAY_ELEMENTS: u64 = 1 << 15;

/// The cost of an element of an array that is made anew in each iteration of a loop: it stays in
/// the caches.
const CACHE_ROUND_TRIP_COST: u32 = 2 * PRIMITIVE_COST;

/// Contractions of the smallest array of such that is made.
const MIN_CONTRACTIONS: u64 = 256;

/// Uses of an array in the text, at most, for which its body is copied.
const MAX_COPIES: u32 = 16;

/// A use is for few elements if so many times its rounds are at most the number of elements.
const UNCOUNTED_USE_RATIO: u64 = 64;

/// Runs the pass.
pub(super) fn run(program: &Program, work: &mut Work) -> Result<Program, Declined> {
    let mut result = program.clone();
    for function in &mut result.functions {
        fuse(function, work)?;
    }
    Ok(result)
}

fn fuse(function: &mut Function, work: &mut Work) -> Result<(), Declined> {
    let (next, mut label) = (next_value(function), 0);
    function.body.for_each_block(&mut |block| {
        for stmt in &block.stmts {
            label = declared(&stmt.op).map_or(label, |own| label.max(own.0 + 1));
        }
    });
    let mut uses = UseTable::default();
    uses.block(&function.body, work)?;
    let mut changes = uses.changes;
    // Another parameter than those that the function changes is copied before it is changed, or is
    // the first state of the loop that the function is: nothing reads it later.
    let unchanged = &function.body.params[function.changes..];
    changes.retain(|value, _| unchanged.iter().all(|(param, _)| param != value));
    let mut fusion = Fusion { work, uses: uses.arrays, changes, delayed: HashMap::default(), next, label };
    function.body = fusion.block(take(&mut function.body), &mut HashMap::default())?;
    Ok(())
}

/// The number of terms of a reduction with this body, if it is written out.
fn written_out_terms(body: &Block) -> Option<u32> {
    let (_, Type::Index(space)) = body.params.first()? else { return None };
    let terms = space.size()?.to_constant().filter(|terms| *terms <= MAX_WRITTEN_OUT_TERMS)?;
    u32::try_from(terms).ok()
}

/// The label that an operation declares.
fn declared(op: &Op) -> Option<Label> {
    match op {
        Op::For { label, .. } | Op::While { label, .. } | Op::Block(label, _) => Some(*label),
        _ => None,
    }
}

/// The uses of an array that a map or a view makes.
#[derive(Debug)]
struct Uses {
    /// The position of the definition, and that after which no use is; of a use in a loop that
    /// begins after the definition, the end of the loop.
    defined: u32,
    until: u32,
    /// Loops around the definition.
    depth: usize,
    /// The number of elements, those of elements that are made by [`nested`] maps; `None` beyond
    /// the bounds of sizes.
    size: Option<Size>,
    /// True if the elements are made by nested maps.
    is_nested: bool,
    /// Elements that are read, in the text.
    elements: u32,
    /// Views.
    views: u32,
    /// Uses that are not for few elements; one with more rounds than elements counts twice.
    counted: u32,
    /// True if all uses are elements or views.
    read: bool,
    /// True if, in addition, no use runs more than twice as often as there are elements.
    bounded: bool,
    /// True if there is a use in the order of the elements that stands where failures keep their
    /// order.
    in_order: bool,
    /// Uses in maps in the order of the elements.
    in_maps: u32,
}

/// Collects the uses of arrays.
#[derive(Default)]
struct UseTable {
    arrays: HashMap<Value, Uses>,
    /// Elements that are arrays, by the array of [`nested`] maps that they are elements of.
    rows: HashMap<Value, Value>,
    /// The rounds of the loops around, outermost first; `None` if they are not known.
    loops: Vec<Option<Size>>,
    /// The number of the present statement, in the order of the text.
    position: u32,
    /// The positions of the loops around, with the arrays from outside that are used inside.
    open: Vec<(u32, Vec<Value>)>,
    /// The positions at which the memory of an array may be taken by another value.
    changes: HashMap<Value, Vec<u32>>,
    /// The parts of tuples.
    tuples: HashMap<Value, Vec<Value>>,
}

impl UseTable {
    /// Records that the memory of a value may be that of another one from here on.
    fn changed(&mut self, value: Value) {
        self.changes.entry(value).or_default().push(self.position);
        if let Some(parts) = self.tuples.get(&value).cloned() {
            parts.into_iter().for_each(|part| self.changed(part));
        }
    }

    /// Records a use of an array here.
    fn reach(&mut self, array: Value) {
        let Some(uses) = self.arrays.get_mut(&array) else { return };
        uses.until = uses.until.max(self.position);
        let defined = uses.defined;
        if let Some((_, used)) = self.open.iter_mut().find(|(start, _)| *start > defined) {
            used.push(array);
        }
    }

    fn block(&mut self, block: &Block, work: &mut Work) -> Result<(), Declined> {
        // The arrays of this block after which no statement fails or leaves.
        let mut quiet: Vec<Value> = Vec::new();
        for stmt in &block.stmts {
            work.spend(op_weight(&stmt.op))?;
            self.position += 1;
            match &stmt.op {
                Op::Tuple(parts) => drop(self.tuples.insert(stmt.value, parts.clone())),
                Op::Update(array, ..) | Op::Sort(array) => self.changed(*array),
                Op::For { state, .. } | Op::While { state, .. } => self.changed(*state),
                Op::Call { changes, values, .. } => {
                    values[..*changes].iter().for_each(|value| self.changed(*value));
                }
                _ => {}
            }
            self.uses(stmt, &quiet);
            self.inner_blocks(&stmt.op, work)?;
            let array = match &stmt.ty {
                Type::Array(space, _) if matches!(stmt.op, Op::Map(_) | Op::View(..)) => Some(space),
                _ => None,
            };
            if let Some(space) = array {
                let size = match &stmt.op {
                    Op::Map(body) => elements(body, space),
                    _ => space.size(),
                };
                self.arrays.insert(
                    stmt.value,
                    Uses {
                        defined: self.position,
                        until: self.position,
                        depth: self.loops.len(),
                        size,
                        is_nested: matches!(&stmt.op, Op::Map(body) if nested(body).is_some()),
                        elements: 0,
                        views: 0,
                        counted: 0,
                        read: true,
                        bounded: true,
                        in_order: false,
                        in_maps: 0,
                    },
                );
            }
            if stmt.op.effect() != Effect::Total || leaves(&stmt.op) {
                quiet.clear();
            }
            quiet.extend(array.map(|_| stmt.value));
        }
        self.position += 1;
        self.changed(block.end.value());
        self.escapes(block.end.value());
        Ok(())
    }

    fn escapes(&mut self, value: Value) {
        if let Some(array) = self.rows.get(&value) {
            self.arrays.entry(*array).and_modify(|uses| uses.bounded = false);
        }
        if let Some(uses) = self.arrays.get_mut(&value) {
            (uses.read, uses.bounded) = (false, false);
        }
    }

    /// The uses of a statement itself, and those in the order of the elements in the body of its
    /// operation.
    fn uses(&mut self, stmt: &Stmt, quiet: &[Value]) {
        stmt.op.for_each_part(&mut |part| {
            let Part::Use(value) = part else { return };
            let row_of = self.rows.get(value).copied();
            // The value itself, if it is no element of an array of arrays.
            let array = row_of.unwrap_or(*value);
            self.reach(array);
            let Some(uses) = self.arrays.get_mut(&array) else { return };
            if uses.is_nested && row_of.is_none() && matches!(&stmt.op, Op::Index(array, _) if array == value)
            {
                // What is read of the element counts.
                uses.elements += 1;
                self.rows.insert(stmt.value, *value);
                return;
            }
            let rounds = self.loops[uses.depth..]
                .iter()
                .try_fold(Size::constant(1), |product, rounds| product.mul(rounds.as_ref()?));
            let (rounds, is_view) = match &stmt.op {
                Op::Index(array, _) if array == value => (rounds, false),
                Op::View(space, array, _) if array == value => {
                    (rounds.and_then(|rounds| rounds.mul(&space.size()?)), row_of.is_none())
                }
                _ => {
                    uses.read &= row_of.is_some();
                    (None, false)
                }
            };
            let at_most = |rounds: &Size| uses.size.as_ref().is_some_and(|size| rounds.is_at_most(size));
            let twice = uses.size.as_ref().and_then(|size| size.mul(&Size::constant(2)));
            let is_bounded = |rounds: &Size| twice.as_ref().is_some_and(|twice| rounds.is_at_most(twice));
            uses.bounded &= rounds.as_ref().is_some_and(is_bounded);
            let few = rounds.as_ref().and_then(|rounds| rounds.mul(&Size::constant(UNCOUNTED_USE_RATIO)));
            uses.counted += match (few, rounds) {
                (Some(few), _) if at_most(&few) => 0,
                (_, Some(rounds)) if at_most(&rounds) => 1,
                _ => 2,
            };
            if row_of.is_none() {
                *(if is_view { &mut uses.views } else { &mut uses.elements }) += 1;
            }
        });
        let body = match &stmt.op {
            Op::Map(body) | Op::Reduce { body, .. } | Op::Scan { body, .. } => body,
            Op::For { range: None, body, .. } if !leaves(&stmt.op) => body,
            _ => return,
        };
        let [(index, Type::Index(space)), ..] = &body.params[..] else { return };
        if body.effect() != Effect::Total {
            return;
        }
        for inner in &body.stmts {
            let Op::Index(array, at) = &inner.op else { continue };
            if at == index && matches!(stmt.op, Op::Map(_)) && self.space_size(*array) == space.size() {
                self.arrays.entry(*array).and_modify(|uses| uses.in_maps += 1);
            }
            if at == index && quiet.contains(array) && self.space_size(*array) == space.size() {
                self.arrays.entry(*array).and_modify(|uses| uses.in_order = true);
            }
        }
    }

    fn space_size(&self, array: Value) -> Option<Size> {
        self.arrays.get(&array)?.size.clone()
    }

    fn inner_blocks(&mut self, op: &Op, work: &mut Work) -> Result<(), Declined> {
        // The blocks that run once for each index.
        let body = match op {
            Op::Map(body) | Op::Filter(body) | Op::Order(body) => Some(body),
            Op::Reduce { body, .. } | Op::Scan { body, .. } | Op::ReduceAt { body, .. } => Some(body),
            Op::For { range: None, body, .. } => Some(body),
            _ => None,
        };
        let once = matches!(op, Op::If(..) | Op::Switch(..) | Op::Block(..));
        for block in op.blocks() {
            if once {
                self.block(block, work)?;
                continue;
            }
            let rounds = match &block.params.first() {
                Some((_, Type::Index(space))) if body.is_some_and(|body| std::ptr::eq(body, block)) => {
                    space.size()
                }
                _ => None,
            };
            self.loops.push(rounds);
            self.open.push((self.position, Vec::new()));
            let done = self.block(block, work);
            self.loops.pop();
            let (_, used) = self.open.pop().expect("the loop is open");
            used.into_iter().for_each(|array| self.reach(array));
            done?;
        }
        Ok(())
    }
}

/// Returns true if a block inside ends in another way than with its value.
fn leaves(op: &Op) -> bool {
    op.blocks().iter().any(|block| {
        let mut found = false;
        block.for_each_block(&mut |block| found |= block.end.label().is_some());
        found
    })
}

/// The map that makes the elements of a map, if all else in its body only finds elements of other
/// arrays: an array of arrays whose elements are computed one by one.
fn nested(body: &Block) -> Option<(&Block, &Space)> {
    let End::Yield(value) = body.end else { return None };
    let (made, others): (Vec<&Stmt>, Vec<&Stmt>) = body.stmts.iter().partition(|stmt| stmt.value == value);
    let [Stmt { op: Op::Map(inner), ty: Type::Array(space, _), .. }] = made[..] else { return None };
    others
        .iter()
        .all(|stmt| matches!(stmt.op, Op::At(..) | Op::Part(..) | Op::Index(..)))
        .then_some((inner, space))
}

/// The number of elements of a map over a space.
fn elements(body: &Block, space: &Space) -> Option<Size> {
    match nested(body) {
        Some((inner, inner_space)) => space.size()?.mul(&elements(inner, inner_space)?),
        None => space.size(),
    }
}

/// The cost of one element.
fn element_cost(body: &Block) -> u32 {
    match nested(body) {
        Some((inner, _)) => element_cost(inner),
        None => Costs { digits: body.params.iter().map(|(index, _)| *index).collect() }.block(body),
    }
}

/// Returns true if the elements of a map are elements of other arrays, or tuples or arrays of such:
/// to find one costs no more than to read it.
fn is_relocation(body: &Block) -> bool {
    let finds = |stmt: &Stmt| match &stmt.op {
        Op::At(..) | Op::Part(..) | Op::Tuple(_) | Op::Index(..) | Op::View(..) => true,
        Op::Map(body) => is_relocation(body),
        _ => false,
    };
    matches!(body.end, End::Yield(_)) && body.stmts.iter().all(finds)
}

/// Returns true if a map has a contraction in its body: a reduction that reads numbers at some digits
/// of the index, and others at other digits.
fn has_contraction(body: &Block) -> bool {
    let Some((index, Type::Index(space))) = body.params.first() else { return false };
    let all: Digits = (0..space.digits.len() as u32).collect();
    let places = HashMap::from_iter([(*index, all.clone())]);
    let mut reads = DigitsRead { index: *index, places, made: HashMap::default() };
    body.stmts.iter().any(|stmt| match &stmt.op {
        Op::Reduce { body, .. } => {
            let read = reads.block(body);
            read.into_iter().filter(|digits| !digits.is_empty() && *digits != all).count() > 1
        }
        _ => {
            reads.stmt(stmt);
            false
        }
    })
}

/// Digits of the index of a map.
type Digits = BTreeSet<u32>;

/// The digits at which a body reads arrays.
struct DigitsRead {
    index: Value,
    /// The digits that an index, or an array found by one, depends on.
    places: HashMap<Value, Digits>,
    /// The digits at which the elements of arrays that are made in the body read.
    made: HashMap<Value, BTreeSet<Digits>>,
}

impl DigitsRead {
    /// The digits at which the statements of a block read.
    fn block(&mut self, block: &Block) -> BTreeSet<Digits> {
        block.stmts.iter().flat_map(|stmt| self.stmt(stmt)).collect()
    }

    /// The digits at which a statement reads.
    fn stmt(&mut self, stmt: &Stmt) -> BTreeSet<Digits> {
        let of = |value: &Value| self.places.get(value).cloned().unwrap_or_default();
        let sources = |digits: &[DigitExpr]| {
            let mut found = Digits::new();
            for digit in digits {
                digit::for_each_source(digit, &mut |value, at| match value == self.index {
                    true => drop(found.insert(at)),
                    false => found.extend(of(&value)),
                });
            }
            found
        };
        let place = match &stmt.op {
            Op::At(_, digits) => sources(digits),
            Op::View(_, array, digits) => &of(array) | &sources(digits),
            Op::Index(array, at) => &of(array) | &of(at),
            Op::Map(body) => {
                let read = self.block(body);
                self.made.insert(stmt.value, read);
                return BTreeSet::new();
            }
            _ => return BTreeSet::new(),
        };
        self.places.insert(stmt.value, place.clone());
        match &stmt.op {
            Op::Index(array, _) => self.made.get(array).cloned().unwrap_or_else(|| BTreeSet::from([place])),
            _ => BTreeSet::new(),
        }
    }
}

/// Costs of operations.
struct Costs {
    /// The values that are made of digits and constants alone.
    digits: HashSet<Value>,
}

impl Costs {
    /// The cost of a block for one run.
    fn block(&mut self, block: &Block) -> u32 {
        block.stmts.iter().fold(0u32, |sum, stmt| sum.saturating_add(self.stmt(stmt)))
    }

    fn stmt(&mut self, stmt: &Stmt) -> u32 {
        let mut of_digits = !matches!(stmt.op, Op::Index(..) | Op::View(..));
        stmt.op.for_each_part(&mut |part| {
            if let Part::Use(value) = part {
                of_digits &= self.digits.contains(value);
            }
        });
        let unit = if of_digits { DIGIT_OPERATION } else { PRIMITIVE_COST };
        let cost = match &stmt.op {
            Op::Const(..) | Op::Size(_) | Op::Tuple(_) | Op::Part(..) | Op::At(..) | Op::Number(_) => 0,
            Op::Prim(Prim::Function(_), _) => LOOP_OR_CALL_COST,
            Op::Prim(
                Prim::Binary(
                    Binary::Div
                    | Binary::DivSigned
                    | Binary::DivUnsigned
                    | Binary::RemSigned
                    | Binary::RemUnsigned,
                ),
                _,
            ) => 8 * unit,
            Op::Index(_, at) if !self.digits.contains(at) => GATHER_COST,
            Op::If(by, ..) | Op::Switch(by, _) => self.branches(*by, unit, &stmt.op.blocks()),
            Op::Reduce { body, .. } if let Some(terms) = written_out_terms(body) => {
                terms.saturating_mul(self.block(body).saturating_add(unit))
            }
            op if op.blocks().is_empty() => unit,
            _ => LOOP_OR_CALL_COST,
        };
        let yields_digits = |block: &&Block| self.digits.contains(&block.end.value());
        if of_digits && stmt.op.blocks().iter().all(yields_digits) {
            self.digits.insert(stmt.value);
        }
        cost
    }

    /// The cost of branches: that of all, as all are computed to choose one, but of those that
    /// digits choose the dearest, since a loop is cut where the choice changes.
    fn branches(&mut self, by: Value, unit: u32, blocks: &[&Block]) -> u32 {
        let by_digits = self.digits.contains(&by);
        let mut cost = 0u32;
        for block in blocks {
            if by_digits {
                self.digits.extend(block.params.iter().map(|(value, _)| *value));
            }
            let own = self.block(block);
            cost = if by_digits { cost.max(own) } else { cost.saturating_add(own) };
        }
        cost.saturating_add(unit)
    }
}

struct Fusion<'w> {
    work: &'w mut Work,
    uses: HashMap<Value, Uses>,
    changes: HashMap<Value, Vec<u32>>,
    /// The bodies of arrays that are not made.
    delayed: HashMap<Value, Block>,
    next: u32,
    label: u32,
}

impl Fusion<'_> {
    /// Rewrites a block; `renamed` has the values in whose place others stand.
    fn block(&mut self, block: Block, renamed: &mut HashMap<Value, Value>) -> Result<Block, Declined> {
        let mut stmts = Vec::with_capacity(block.stmts.len());
        for stmt in block.stmts {
            self.stmt(stmt, renamed, &mut stmts)?;
        }
        let mut end = block.end;
        rename(end.value_mut(), renamed);
        Ok(Block { params: block.params, stmts, end })
    }

    fn stmt(
        &mut self,
        mut stmt: Stmt,
        renamed: &mut HashMap<Value, Value>,
        out: &mut Vec<Stmt>,
    ) -> Result<(), Declined> {
        self.work.spend(op_weight(&stmt.op))?;
        let mut failed = None;
        stmt.op.for_each_part_mut(&mut |part| match part {
            PartMut::Use(value) => rename(value, renamed),
            PartMut::Block(block) if failed.is_none() => match self.block(take(block), renamed) {
                Ok(new) => *block = new,
                Err(declined) => failed = Some(declined),
            },
            _ => {}
        });
        if let Some(declined) = failed {
            return Err(declined);
        }
        let Stmt { value, ty, op } = stmt;
        let op = match op {
            Op::Index(array, at) if self.delayed.contains_key(&array) => {
                let (stmts, result) = self.element(array, at)?;
                out.extend(stmts);
                renamed.insert(value, result);
                return Ok(());
            }
            Op::View(space, array, digits) if self.delayed.contains_key(&array) => {
                Op::Map(self.view(space, array, digits)?)
            }
            op => op,
        };
        match op {
            Op::Map(body) if self.is_delayed(value, &body) => drop(self.delayed.insert(value, body)),
            op => out.push(Stmt { value, ty, op }),
        }
        Ok(())
    }

    /// Returns true if the array of a map is computed where it is read.
    fn is_delayed(&self, array: Value, body: &Block) -> bool {
        let Some(uses) = self.uses.get(&array) else { return false };
        if self.reads_changed(body, uses.defined, uses.until) {
            return false;
        }
        let count = uses.elements + uses.views;
        if uses.read && count <= MAX_COPIES && is_relocation(body) {
            return true;
        }
        let may_stand_later = match body.effect() {
            Effect::Total => true,
            Effect::MayFail => count == 1 && uses.elements == 1 && uses.in_order,
            Effect::MayNotEnd | Effect::Ordered => false,
        };
        // A view of which parts are read may leave out elements, but no failure.
        let copies = uses.counted.saturating_sub(1).saturating_mul(element_cost(body));
        let elements = uses.size.as_ref().and_then(Size::to_constant);
        let memory = match elements {
            _ if uses.depth > 0 => CACHE_ROUND_TRIP_COST,
            Some(elements) if elements <= MAX_SHORT_ARRAY_ELEMENTS => SHORT_ARRAY_ROUND_TRIP_COST,
            _ => MEMORY_ROUND_TRIP_COST,
        };
        let is_made_of_contractions = uses.in_maps < count
            && elements.is_none_or(|elements| elements >= MIN_CONTRACTIONS)
            && has_contraction(body);
        uses.bounded
            && !is_made_of_contractions
            && may_stand_later
            && matches!(body.end, End::Yield(_))
            && (uses.views == 0 || count == 1)
            && count <= MAX_COPIES
            && copies <= uses.counted * PRIMITIVE_COST + memory
    }

    /// Returns true if a body reads a value whose memory another one may take between two
    /// positions: it would have to be copied, all of it.
    fn reads_changed(&self, body: &Block, defined: u32, until: u32) -> bool {
        let mut found = false;
        body.for_each_block(&mut |block| {
            for stmt in &block.stmts {
                stmt.op.for_each_part(&mut |part| {
                    if let Part::Use(value) = part
                        && let Some(positions) = self.changes.get(value)
                    {
                        found |= positions.iter().any(|at| defined < *at && *at < until);
                    }
                });
            }
        });
        found
    }

    fn fresh(&mut self) -> Value {
        self.next += 1;
        Value(self.next - 1)
    }

    /// The statements that compute an element of a delayed array, and its value.
    fn element(&mut self, array: Value, at: Value) -> Result<(Vec<Stmt>, Value), Declined> {
        let body = self.delayed[&array].clone();
        let mut renamed = HashMap::default();
        renamed.insert(body.params[0].0, at);
        let copy = self.copy(&body, &mut renamed, &mut HashMap::default())?;
        Ok((copy.stmts, copy.end.value()))
    }

    /// The body of the map that a view of a delayed array is.
    fn view(&mut self, space: Space, array: Value, digits: Vec<DigitExpr>) -> Result<Block, Declined> {
        let of = match &self.delayed[&array].params[0].1 {
            Type::Index(of) => of.clone(),
            _ => unreachable!("the elements of a map have indices"),
        };
        let (index, at) = (self.fresh(), self.fresh());
        let digits = digits
            .iter()
            .map(|digit| super::super::digit::replace_targets(digit, &|k| DigitExpr::Of(index, k)));
        let locate = Stmt { value: at, ty: Type::Index(of.clone()), op: Op::At(of, digits.collect()) };
        let (stmts, value) = self.element(array, at)?;
        let stmts = [locate].into_iter().chain(stmts).collect();
        Ok(Block { params: vec![(index, Type::Index(space))], stmts, end: End::Yield(value) })
    }

    /// A copy of a block with fresh values and labels.
    fn copy(
        &mut self,
        block: &Block,
        renamed: &mut HashMap<Value, Value>,
        labels: &mut HashMap<Label, Label>,
    ) -> Result<Block, Declined> {
        self.work.spend(2 + block.params.len() as u64)?;
        let mut params = Vec::new();
        for (param, ty) in &block.params {
            let own = *renamed.entry(*param).or_insert_with(|| {
                self.next += 1;
                Value(self.next - 1)
            });
            params.push((own, ty.clone()));
        }
        let mut stmts = Vec::new();
        for stmt in &block.stmts {
            self.work.spend(op_weight(&stmt.op))?;
            let mut op = stmt.op.clone();
            let mut failed = None;
            if let Some(label) = declared(&op) {
                self.label += 1;
                labels.insert(label, Label(self.label - 1));
            }
            op.for_each_part_mut(&mut |part| match part {
                PartMut::Use(value) => rename(value, renamed),
                PartMut::Label(label) => *label = labels[label],
                PartMut::Block(inner) if failed.is_none() => match self.copy(inner, renamed, labels) {
                    Ok(copy) => *inner = copy,
                    Err(declined) => failed = Some(declined),
                },
                _ => {}
            });
            if let Some(declined) = failed {
                return Err(declined);
            }
            let value = self.fresh();
            renamed.insert(stmt.value, value);
            stmts.push(Stmt { value, ty: stmt.ty.clone(), op });
        }
        let value = block.end.value();
        let value = renamed.get(&value).copied().unwrap_or(value);
        let of = |label: &Label| labels.get(label).copied().unwrap_or(*label);
        let end = match &block.end {
            End::Yield(_) => End::Yield(value),
            End::Next(label, _) => End::Next(of(label), value),
            End::Exit(label, _) => End::Exit(of(label), value),
        };
        Ok(Block { params, stmts, end })
    }
}

fn rename(value: &mut Value, renamed: &HashMap<Value, Value>) {
    if let Some(other) = renamed.get(value) {
        *value = *other;
    }
}
