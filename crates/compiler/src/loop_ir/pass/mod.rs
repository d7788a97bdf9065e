//! Passes over the loop form: each takes a kernel and gives one that computes the same, to the last
//! bit.
//!
//! [`PASSES`] is the whole list, in order. A pass that finds nothing changes nothing. Tests
//! validate the kernel after each of them ([`run`]).

mod affine;
mod cache_blocking;
mod clone_stmts;
mod collapse;
mod copy_propagation;
mod crossing_dependence;
mod dce;
mod dead_stores;
mod defer_checks;
mod delinearize;
mod demanded_bits;
mod dependence;
mod distribute;
mod early_exit;
mod float_ranges;
mod gemm;
mod if_conversion;
mod index_set_splitting;
mod integer_ranges;
mod interchange_tile;
mod invariant_reductions;
mod licm;
mod loop_fission;
mod loop_load_elimination;
mod loop_predication;
mod loop_unswitching;
mod loop_versioning;
mod narrow_integers;
mod narrow_lanes;
mod parallel_level;
mod parallel_reduction;
mod parallelize;
mod parameterize;
mod privatize_histogram;
mod reassociate;
mod register_promotion;
mod register_tiling;
mod renumber;
mod scalar_replacement;
mod short_circuiting;
mod simplify;
mod sink;
mod strength_reduction;
mod structured_branches;
mod tile_transpositions;
mod triangular_nest;
mod unroll;
mod unroll_and_jam;
mod value_ranges;
mod variable_renaming;
mod vector_forms;
mod vector_if_conversion;

use super::{Array, Binary, Kernel, Op, Origin, Part, Reg, ScalarType, Stmt, Summand, Var, for_each_stmt};
use crate::hash::{HashMap, HashSet};
use std::collections::BTreeSet;

/// A pass.
pub struct Pass {
    /// The name of the pass: of its file and of the folder of its golden files.
    pub name: &'static str,
    /// Transforms a kernel.
    pub run: fn(&mut Kernel),
}

/// All passes, in the order in which they run. What one finds another may need: jumps are branches
/// for all, checks of slots stand in front of loops, indices are
/// constants when loops are written out, then small arrays are variables, then conditions are
/// known, and where loops are cut at these there is more to write out and to fold. Conditions that
/// were branches are choices then, at which loops are cut once more; branches that are left stand
/// around loops where they can. Costly branches are choices only where loops go by vectors for it,
/// which is asked once before loops are cut and once after it. Slots that loops accumulate in are
/// variables before loops become parallel; loops become so once more where they have been cut.
pub const PASSES: &[Pass] = &[
    Pass { name: "structured_branches", run: structured_branches::run },
    Pass { name: "triangular_nest", run: triangular_nest::run },
    Pass { name: "dce", run: dce::run },
    Pass { name: "collapse", run: collapse::run },
    Pass { name: "parallel_level", run: parallel_level::run },
    Pass { name: "value_ranges", run: value_ranges::run },
    Pass { name: "copy_propagation", run: copy_propagation::run },
    Pass { name: "loop_predication", run: loop_predication::run },
    Pass { name: "gemm", run: gemm::run },
    Pass { name: "unroll", run: unroll::run },
    Pass { name: "structured_branches", run: structured_branches::run },
    Pass { name: "scalar_replacement", run: scalar_replacement::run },
    Pass { name: "if_conversion", run: if_conversion::run },
    Pass { name: "copy_propagation", run: copy_propagation::run },
    Pass { name: "simplify", run: simplify::run },
    Pass { name: "value_ranges", run: value_ranges::run },
    Pass { name: "simplify", run: simplify::run },
    Pass { name: "dead_stores", run: dead_stores::run },
    Pass { name: "dce", run: dce::run },
    Pass { name: "short_circuiting", run: short_circuiting::run },
    Pass { name: "delinearize", run: delinearize::run },
    Pass { name: "register_promotion", run: register_promotion::run },
    Pass { name: "invariant_reductions", run: invariant_reductions::run },
    Pass { name: "parallelize", run: parallelize::run },
    Pass { name: "index_set_splitting", run: index_set_splitting::run },
    Pass { name: "variable_renaming", run: variable_renaming::run },
    Pass { name: "unroll", run: unroll::run },
    Pass { name: "structured_branches", run: structured_branches::run },
    Pass { name: "scalar_replacement", run: scalar_replacement::run },
    Pass { name: "copy_propagation", run: copy_propagation::run },
    Pass { name: "if_conversion", run: if_conversion::run },
    Pass { name: "vector_if_conversion", run: vector_if_conversion::run },
    Pass { name: "copy_propagation", run: copy_propagation::run },
    Pass { name: "value_ranges", run: value_ranges::run },
    Pass { name: "simplify", run: simplify::run },
    Pass { name: "index_set_splitting", run: index_set_splitting::run },
    Pass { name: "value_ranges", run: value_ranges::run },
    Pass { name: "simplify", run: simplify::run },
    Pass { name: "crossing_dependence", run: crossing_dependence::run },
    Pass { name: "parallelize", run: parallelize::run_on_pieces },
    Pass { name: "variable_renaming", run: variable_renaming::run },
    Pass { name: "vector_if_conversion", run: vector_if_conversion::run },
    Pass { name: "loop_unswitching", run: loop_unswitching::run },
    Pass { name: "copy_propagation", run: copy_propagation::run },
    Pass { name: "gemm", run: gemm::run },
    Pass { name: "interchange_tile", run: interchange_tile::run },
    Pass { name: "cache_blocking", run: cache_blocking::run },
    Pass { name: "tile_transpositions", run: tile_transpositions::run },
    Pass { name: "privatize_histogram", run: privatize_histogram::run },
    Pass { name: "reassociate", run: reassociate::run },
    Pass { name: "parallel_reduction", run: parallel_reduction::run },
    Pass { name: "loop_load_elimination", run: loop_load_elimination::run },
    Pass { name: "reassociate", run: reassociate::run },
    Pass { name: "register_tiling", run: register_tiling::run },
    Pass { name: "licm", run: licm::run },
    Pass { name: "unroll_and_jam", run: unroll_and_jam::run },
    Pass { name: "strength_reduction", run: strength_reduction::run },
    Pass { name: "dce", run: dce::run },
    Pass { name: "defer_checks", run: defer_checks::run },
    Pass { name: "demanded_bits", run: demanded_bits::run },
    Pass { name: "loop_fission", run: loop_fission::run },
    Pass { name: "distribute", run: distribute::run },
    Pass { name: "early_exit", run: early_exit::run },
    Pass { name: "narrow_integers", run: narrow_integers::run },
    Pass { name: "narrow_lanes", run: narrow_lanes::run },
    Pass { name: "loop_versioning", run: loop_versioning::run },
    Pass { name: "dce", run: dce::run },
    Pass { name: "sink", run: sink::run },
    Pass { name: "parameterize", run: parameterize::run },
    Pass { name: "renumber", run: renumber::run },
];

/// The passes that functions of a kernel do without: they make parallel statements, or arrays that
/// are not on the stack or large there.
const PASSES_OF_BODIES: &[&str] = &[
    "triangular_nest",
    "parallel_level",
    "gemm",
    "delinearize",
    "parallelize",
    "parallel_reduction",
    "interchange_tile",
    "privatize_histogram",
];

/// Runs all passes, and estimates the costs of loops.
pub fn run(kernel: &mut Kernel) {
    for at in 0..kernel.functions.len() {
        let mut function = std::mem::take(&mut kernel.functions[at]);
        function.target = kernel.target;
        for pass in PASSES.iter().filter(|pass| !PASSES_OF_BODIES.contains(&pass.name)) {
            (pass.run)(&mut function);
            dce::remove_unwritten_reads(&mut function);
        }
        kernel.functions[at] = function;
    }
    for pass in PASSES {
        let before = cfg!(debug_assertions).then(|| kernel.clone());
        (pass.run)(kernel);
        dce::remove_unwritten_reads(kernel);
        if before.is_some_and(|before| before != *kernel)
            && let Err(why) = super::validate::validate(kernel)
        {
            panic!("{} gives an invalid kernel: {why}\n{}", pass.name, super::print::kernel(kernel));
        }
    }
    kernel.iteration_costs = super::cost::iteration_costs(kernel);
}

/// Statements under construction: sets fresh registers of a kernel.
struct Builder<'n> {
    kernel: &'n mut Kernel,
    stmts: Vec<Stmt>,
}

impl<'n> Builder<'n> {
    fn new(kernel: &'n mut Kernel) -> Builder<'n> {
        Builder { kernel, stmts: Vec::new() }
    }

    fn reg(&mut self, ty: ScalarType) -> Reg {
        self.kernel.regs.push(ty)
    }

    fn define(&mut self, ty: ScalarType, op: Op) -> Reg {
        let reg = self.reg(ty);
        if let Op::Const(_, bits) = op {
            self.kernel.constants.insert(reg, bits);
        }
        self.stmts.push(Stmt::Let(reg, op));
        reg
    }

    fn int(&mut self, n: i64) -> Reg {
        self.define(ScalarType::I64, Op::Const(ScalarType::I64, n as u64))
    }

    fn binary(&mut self, op: Binary, a: Reg, b: Reg) -> Reg {
        let ty = self.kernel.regs[a];
        self.define(ty, Op::Binary(op, a, b))
    }

    /// The smaller of two signed integers.
    fn min(&mut self, a: Reg, b: Reg) -> Reg {
        let less = self.define(ScalarType::I64, Op::Compare(super::Compare::Lt, a, b));
        self.define(ScalarType::I64, Op::Select(less, a, b))
    }

    /// The larger of two signed integers.
    fn max(&mut self, a: Reg, b: Reg) -> Reg {
        let less = self.define(ScalarType::I64, Op::Compare(super::Compare::Lt, a, b));
        self.define(ScalarType::I64, Op::Select(less, b, a))
    }

    /// The number of rounds from `low` to below `high`, without sign; 0 if there are none.
    fn rounds(&mut self, low: Reg, high: Reg) -> Reg {
        let last = self.max(low, high);
        self.binary(Binary::Sub, last, low)
    }

    fn label(&mut self) -> super::Label {
        self.kernel.new_label()
    }
}

/// Returns a register set before the loops that equals `reg`: `reg` itself if it is set `before`
/// them, otherwise its slot number recomputed there; `None` if its operation in `ops` is no
/// constant, size, parameter, sum, difference or product of such registers. `known` has the
/// registers that have been recomputed.
fn hoisted(
    build: &mut Builder<'_>,
    ops: &HashMap<Reg, &Op>,
    before: &dyn Fn(Reg) -> bool,
    known: &mut HashMap<Reg, Reg>,
    reg: Reg,
) -> Option<Reg> {
    if before(reg) {
        return Some(reg);
    }
    if let Some(known) = known.get(&reg) {
        return Some(*known);
    }
    let mut op = (*ops.get(&reg)?).clone();
    match op {
        Op::Const(..) | Op::Size(_) | Op::Scalar(_) => {}
        Op::Binary(Binary::Add | Binary::Sub | Binary::Mul, ..) => {}
        _ => return None,
    }
    let mut all = true;
    op.for_each_reg_mut(&mut |reg| match hoisted(build, ops, before, known, *reg) {
        Some(same) => *reg = same,
        None => all = false,
    });
    if !all {
        return None;
    }
    let same = build.define(build.kernel.regs[reg], op);
    known.insert(reg, same);
    Some(same)
}

/// The statements with definitions that may stand late right before the statement that mentions them
/// first, itself or inside; those that none mentions stand at the end. They read neither arrays nor
/// variables.
fn place_late(stmts: Vec<Stmt>, is_late: &dyn Fn(Reg, &Op) -> bool) -> Vec<Stmt> {
    fn place(stmt: Stmt, waiting: &mut HashMap<Reg, Stmt>, out: &mut Vec<Stmt>) {
        let mut mentioned = Vec::new();
        if !waiting.is_empty() {
            for_each_stmt(std::slice::from_ref(&stmt), &mut |inner| {
                inner.for_each_read(&mut |reg| mentioned.extend(waiting.remove(&reg)));
            });
        }
        for definition in mentioned {
            place(definition, waiting, out);
        }
        out.push(stmt);
    }
    let (mut waiting, mut order) = (HashMap::default(), Vec::new());
    let mut out = Vec::with_capacity(stmts.len());
    for stmt in stmts {
        match &stmt {
            Stmt::Let(reg, op) if is_late(*reg, op) => {
                order.push(*reg);
                waiting.insert(*reg, stmt);
            }
            _ => place(stmt, &mut waiting, &mut out),
        }
    }
    out.extend(order.iter().filter_map(|reg| waiting.remove(reg)));
    out
}

/// Returns true if a statement, or one inside, reads or writes an array.
fn mentions(stmt: &Stmt, array: Array) -> bool {
    let mut found = false;
    for_each_stmt(std::slice::from_ref(stmt), &mut |inner| found |= inner.arrays().contains(&array));
    found
}

/// Returns true if the memory of an array has a second name.
fn has_alias(kernel: &Kernel, array: Array) -> bool {
    kernel.arrays.iter().any(|info| info.origin == Origin::Alias(array))
}

/// Returns false if what follows the statements is never reached from their end.
fn falls_through(stmts: &[Stmt]) -> bool {
    stmts.iter().all(|stmt| match stmt {
        Stmt::Break(_) | Stmt::Continue(_) | Stmt::Fail => false,
        Stmt::If(_, then, otherwise) => falls_through(then) || falls_through(otherwise),
        _ => true,
    })
}

/// The number of rounds of a loop, if it is known.
fn known_rounds(forms: &mut affine::Forms<'_>, low: Option<Reg>, high: Reg) -> Option<i64> {
    let low = match low {
        Some(low) => forms.of(low),
        None => affine::Affine::default(),
    };
    let rounds = forms.of(high).add_scaled(&low, -1)?;
    rounds.terms.is_empty().then_some(rounds.constant)
}

/// Returns true if an array is a second name of memory, or its memory has one.
fn has_second_name(kernel: &Kernel, array: Array) -> bool {
    matches!(kernel.arrays[array].origin, Origin::Alias(_)) || has_alias(kernel, array)
}

/// Returns true if a slot of an array keeps all bits of a value that is stored.
fn is_whole(kernel: &Kernel, array: Array, value: Reg) -> bool {
    match kernel.regs[value] {
        ScalarType::F64 | ScalarType::I64 => kernel.arrays[array].width == 8,
        ScalarType::F32 => kernel.arrays[array].width == 4,
        ScalarType::I8 | ScalarType::I16 | ScalarType::I32 => false,
    }
}

/// The registers that are computed from some, and these. The statements are in order.
fn dependents<'s>(roots: HashSet<Reg>, stmts: impl IntoIterator<Item = &'s Stmt>) -> HashSet<Reg> {
    let mut found = roots;
    for stmt in stmts {
        if let Stmt::Let(reg, _) = stmt
            && reads_any(stmt, &found)
        {
            found.insert(*reg);
        }
    }
    found
}

/// The statements of a body for which `is_root` holds, and the definitions that they need.
fn slice(body: &[Stmt], is_root: impl Fn(&Stmt) -> bool) -> Vec<Stmt> {
    let mut needed = HashSet::default();
    let mut slice = Vec::new();
    for stmt in body.iter().rev() {
        if is_root(stmt) || stmt.as_definition().is_some_and(|(reg, _)| needed.contains(&reg)) {
            stmt.for_each_reg(&mut |operand| needed.extend([operand]));
            slice.push(stmt.clone());
        }
    }
    slice.reverse();
    slice
}

/// The variables that statements set, those of statements inside included.
fn assigned_vars(stmts: &[Stmt]) -> BTreeSet<Var> {
    let mut set = BTreeSet::new();
    for_each_stmt(stmts, &mut |stmt| {
        if let Stmt::Set(var, _) = stmt {
            set.insert(*var);
        }
    });
    set
}

/// The variables that the statements of a body set, those of statements inside left out.
fn set_variables(body: &[Stmt]) -> HashSet<Var> {
    let set = body.iter().filter_map(|stmt| match stmt {
        Stmt::Set(var, _) => Some(*var),
        _ => None,
    });
    set.collect()
}

/// The registers of a body that hold values of some variables, or are computed from these.
fn variable_dependents(vars: &HashSet<Var>, body: &[Stmt]) -> HashSet<Reg> {
    let gets = body.iter().filter_map(|stmt| match stmt {
        Stmt::Let(reg, Op::Get(var)) if vars.contains(var) => Some(*reg),
        _ => None,
    });
    dependents(gets.collect(), body)
}

/// Returns true if statements load from an array that they store into.
fn loads_stored(stmts: &[Stmt]) -> bool {
    let (mut loaded, mut stored) = (HashSet::default(), HashSet::default());
    for_each_stmt(stmts, &mut |stmt| match stmt {
        Stmt::Let(_, Op::Load(array, ..)) => drop(loaded.insert(*array)),
        Stmt::Store(array, ..) => drop(stored.insert(*array)),
        _ => {}
    });
    !loaded.is_disjoint(&stored)
}

/// Returns true if a statement reads one of some registers.
fn reads_any(stmt: &Stmt, regs: &HashSet<Reg>) -> bool {
    let mut found = false;
    stmt.for_each_part(&mut |part| found |= matches!(part, Part::Use(reg) if regs.contains(reg)));
    found
}

/// The parts of a loop over an index; a parallel one begins at 0.
struct LoopParts<'s> {
    index: Reg,
    low: Option<Reg>,
    high: Reg,
    body: &'s [Stmt],
    item: Option<Summand>,
}

/// The parts of a statement that is such a loop.
fn loop_parts(stmt: &Stmt) -> Option<LoopParts<'_>> {
    Some(match stmt {
        Stmt::For { index, low, high, body, .. } => {
            LoopParts { index: *index, low: Some(*low), high: *high, body, item: None }
        }
        Stmt::ParallelFor { index, count, body } => {
            LoopParts { index: *index, low: None, high: *count, body, item: None }
        }
        Stmt::Reduce { index, low, high, body, item, .. } => {
            LoopParts { index: *index, low: Some(*low), high: *high, body, item: Some(*item) }
        }
        _ => return None,
    })
}

/// A loop that is cut into strips of equally many rounds, but for the last one.
struct Strips {
    /// The first index.
    low: Reg,
    /// The number of rounds of a strip.
    length: u64,
    /// The number of rounds, and that of strips: set before the strips.
    rounds: Reg,
    count: Reg,
    /// The number of a strip, which a loop over the strips sets.
    number: Reg,
}

/// The strips of a loop over `low..high`, of `length` rounds; sets the registers before them.
fn strip_mined(build: &mut Builder<'_>, (low, high): (Reg, Reg), length: u64) -> Strips {
    let rounds = build.rounds(low, high);
    let (more, divisor) = (build.int(length as i64 - 1), build.int(length as i64));
    let padded = build.binary(Binary::Add, rounds, more);
    let count = build.binary(Binary::DivUnsigned, padded, divisor);
    Strips { low, length, rounds, count, number: build.reg(ScalarType::I64) }
}

/// A strip: registers that are set at its beginning.
struct Strip {
    /// The number of rounds before it.
    skipped: Reg,
    /// Its first index.
    base: Reg,
    /// The number of its rounds.
    rounds: Reg,
}

impl Strips {
    /// Sets the registers of the strip with the number `self.number`.
    fn strip(&self, build: &mut Builder<'_>) -> Strip {
        let length = build.int(self.length as i64);
        let skipped = build.binary(Binary::Mul, self.number, length);
        let base = build.binary(Binary::Add, self.low, skipped);
        let left = build.binary(Binary::Sub, self.rounds, skipped);
        Strip { skipped, base, rounds: build.min(left, length) }
    }
}

/// The position of a list of statements in a kernel.
#[derive(Clone, Copy, PartialEq)]
enum Position {
    /// The body of the kernel.
    TopLevel,
    /// A context of statements that run in order.
    Sequential,
    /// A context inside a parallel statement or a reduction.
    Parallel,
}

impl Position {
    /// The position of the lists inside a statement at this position.
    fn inside(self, stmt: &Stmt) -> Position {
        match stmt {
            Stmt::ParallelFor { .. } | Stmt::Reduce { .. } => Position::Parallel,
            _ if self == Position::TopLevel => Position::Sequential,
            _ => self,
        }
    }
}

/// A function that replaces a list of statements at a position.
type Rewrite<'f> = dyn FnMut(&mut Kernel, Vec<Stmt>, Position) -> Vec<Stmt> + 'f;

/// Rewrites the statements of a kernel, lists inside others first; `list` may replace a whole list.
fn rewrite(kernel: &mut Kernel, list: &mut Rewrite<'_>) {
    fn walk(kernel: &mut Kernel, stmts: Vec<Stmt>, position: Position, list: &mut Rewrite<'_>) -> Vec<Stmt> {
        let stmts = stmts.into_iter().map(|mut stmt| {
            let inside = position.inside(&stmt);
            for body in stmt.bodies_mut() {
                *body = walk(kernel, std::mem::take(body), inside, list);
            }
            stmt
        });
        let stmts = stmts.collect();
        list(kernel, stmts, position)
    }
    let body = std::mem::take(&mut kernel.body);
    kernel.body = walk(kernel, body, Position::TopLevel, list);
}
