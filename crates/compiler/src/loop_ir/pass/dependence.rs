//! Dependence tests: whether two rounds of a loop may touch the same slot of an array.
//!
//! Slots are affine in the indices of loops ([`Affine`]). Round `r` of a loop stores into slot
//! `s(r, x)`, and another round `r + t` accesses slot `o(r + t, y)`, where `x` and `y` are the
//! indices of loops inside, of one round each. What neither loop changes is the same number in
//! both. They meet if the difference `s - o` is 0 for some `t ≠ 0`.
//!
//! **Method**, on the difference as a sum of variables times coefficients:
//!
//! - *Bounds* (Banerjee, *Dependence analysis for supercomputing*, 1988). The smallest and the
//!   largest value: indices are replaced by the ends of their loops, the innermost first, as ends
//!   may depend on indices around. So `j - k` is at least 1 where `k` runs below `j`.
//! - *Distance*. Where both accesses have the same coefficient `c` of the index, the difference has
//!   `-c * t`, and a `t` other than 0 must reach the bounds of the rest.
//! - *Digits* (delinearization; Maslov, *Delinearization: an efficient way to break multiloop
//!   dependence equations*, 1992). Terms are divided into those that a coefficient `m` divides, and
//!   the others. If the bounds of the others hold one multiple of `m` only, both parts are
//!   constants, and each has to be possible: rows are equal and columns are equal.
//!
//! **Sound**: each step only excludes values that the difference cannot have. Numbers are bounded
//! so that no sum wraps around. Not complete: parts are tested by themselves, conditions in a body
//! are not known, and a register that is no index has its interval.
//!
//! Costs time in proportion to the square of the terms of a slot, of which there are few.

use super::super::accumulator::{AccumulatorOp, extreme_of_choice};
use super::super::{IdMap, Kernel, Op, Reg, Stmt, for_each_stmt};
use super::affine::{Affine, Forms};
use super::integer_ranges::Interval;
use super::loop_parts;
use super::value_ranges::definition_intervals;
use crate::hash::{HashMap, HashSet};

/// The bound of numbers: values below it do not wrap around in a word.
const MAX_BOUND: i128 = 1 << 62;

/// Replacements of an index by the end of its loop, for one bound.
const MAX_STEPS: usize = 32;

/// A variable of the difference of two slots.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Variable {
    /// The number of rounds from the one that stores to the other, which is not 0.
    Distance,
    /// A register that is the same in both rounds.
    Same(Reg),
    /// A register of the round that stores.
    Storing(Reg),
    /// A register of the other round.
    Other(Reg),
}

/// A sum of variables times coefficients and a constant.
#[derive(Clone, Default)]
struct Sum {
    terms: Vec<(Variable, i128)>,
    constant: i128,
}

impl Sum {
    fn add(&mut self, variable: Variable, coefficient: i128) {
        match self.terms.iter().position(|term| term.0 == variable) {
            Some(at) => self.terms[at].1 += coefficient,
            None => self.terms.push((variable, coefficient)),
        }
        self.terms.retain(|term| term.1 != 0);
    }

    /// Adds a form of registers, each of which is a variable, times a factor; `None` if a number is
    /// beyond the bound.
    fn add_form(&mut self, form: &Affine, factor: i128, variable: impl Fn(Reg) -> Variable) -> Option<()> {
        self.constant += i128::from(form.constant) * factor;
        for (reg, coefficient) in &form.terms {
            self.add(variable(*reg), i128::from(*coefficient) * factor);
        }
        let mut numbers = self.terms.iter().map(|term| term.1).chain([self.constant]);
        numbers.all(|number| number.abs() < MAX_BOUND).then_some(())
    }
}

/// A loop that an index belongs to.
#[derive(Clone, Copy)]
struct Loop {
    low: Option<Reg>,
    high: Reg,
    /// The number of loops around.
    depth: usize,
}

/// The forms, intervals and loops of the registers of a kernel, for dependence tests.
pub(super) struct Dependences<'k> {
    forms: Forms<'k>,
    intervals: IdMap<Reg, Interval>,
    loops: HashMap<Reg, Loop>,
}

/// The rounds that a test compares.
pub(super) struct Rounds<'a> {
    /// The index of the loop.
    pub index: Reg,
    /// The registers that are set in its body.
    pub inner: &'a HashSet<Reg>,
    /// The index of a loop inside of which the other round is compared up to the end that this loop
    /// has in the round that stores.
    pub prefix: Option<Reg>,
}

impl Rounds<'_> {
    /// A register of the round that stores, or of the other one.
    fn variable(&self, reg: Reg, stores: bool) -> Variable {
        match (reg == self.index || self.inner.contains(&reg), stores) {
            (false, _) => Variable::Same(reg),
            (true, true) => Variable::Storing(reg),
            (true, false) => Variable::Other(reg),
        }
    }
}

impl<'k> Dependences<'k> {
    /// Collects the loops and the intervals of a kernel.
    pub fn new(kernel: &'k Kernel) -> Dependences<'k> {
        let (mut loops, mut forms) = (HashMap::default(), Forms::new(kernel));
        collect_loops(&kernel.body, 0, &mut loops);
        let extremes = Extremes::of(kernel);
        for parts in loops.values_mut() {
            extremes.simplify_ends(parts, &mut forms);
        }
        Dependences { forms, intervals: definition_intervals(kernel), loops }
    }

    /// The affine forms of the kernel.
    pub fn forms(&mut self) -> &mut Forms<'k> {
        &mut self.forms
    }

    /// The interval of a register, if it has one.
    pub fn interval(&self, reg: Reg) -> Option<Interval> {
        self.intervals.get(&reg).copied()
    }

    /// Returns true if the slot that a round stores into may be one that another round accesses.
    pub fn may_meet(&mut self, store: &Affine, access: &Affine, rounds: &Rounds<'_>) -> bool {
        let mut difference = Sum::default();
        let coefficient = store.coefficient(rounds.index);
        let small = difference.add_form(store, 1, |reg| rounds.variable(reg, true)).is_some()
            && difference.add_form(access, -1, |reg| rounds.variable(reg, false)).is_some();
        if !small {
            return true;
        }
        if coefficient == access.coefficient(rounds.index) {
            let indices = [Variable::Storing(rounds.index), Variable::Other(rounds.index)];
            difference.terms.retain(|term| !indices.contains(&term.0));
            if coefficient != 0 {
                difference.add(Variable::Distance, -i128::from(coefficient));
            }
        }
        self.can_vanish(&difference, rounds)
    }

    /// The largest distance of two rounds, if it is known.
    fn max_distance(&self, rounds: &Rounds<'_>) -> Option<i128> {
        let range = self.intervals.get(&rounds.index)?;
        let distance = i128::from(range.high) - i128::from(range.low);
        (distance < MAX_BOUND).then_some(distance)
    }

    /// Returns true if a sum may be 0.
    fn can_vanish(&mut self, sum: &Sum, rounds: &Rounds<'_>) -> bool {
        let Some(bounds) = self.bounds(sum, rounds) else { return true };
        if bounds.0 > 0 || bounds.1 < 0 {
            return false;
        }
        let distance = sum.terms.iter().find(|term| term.0 == Variable::Distance).map(|term| term.1);
        if let (Some(coefficient), Some(most)) = (distance, self.max_distance(rounds)) {
            let mut rest = sum.clone();
            rest.terms.retain(|term| term.0 != Variable::Distance);
            if let Some((low, high)) = self.bounds(&rest, rounds) {
                // `rest + coefficient * t = 0`, so `|coefficient| * ±t` is a number of `rest`.
                let (first, last) = multiples(coefficient.abs(), low, high);
                let (first, last) = (first.max(-most), last.min(most));
                if first > last || (first, last) == (0, 0) {
                    return false;
                }
            }
        }
        let mut moduli: Vec<i128> = sum.terms.iter().map(|term| term.1.abs()).filter(|m| *m > 1).collect();
        moduli.sort_unstable();
        moduli.dedup();
        for modulus in moduli.into_iter().rev() {
            let (mut whole, mut rest) = (Sum::default(), Sum { terms: Vec::new(), constant: sum.constant });
            for term in &sum.terms {
                let part = if term.1 % modulus == 0 { &mut whole } else { &mut rest };
                part.terms.push(*term);
            }
            let Some((low, high)) = self.bounds(&rest, rounds) else { continue };
            let (first, last) = multiples(modulus, low, high);
            if first > last {
                return false;
            }
            // The largest digit is taken off once: other divisions of the same terms would take
            // exponential time.
            if first == last && !rest.terms.is_empty() {
                rest.constant -= first * modulus;
                whole.constant = first * modulus;
                return self.can_vanish(&rest, rounds) && self.can_vanish(&whole, rounds);
            }
        }
        true
    }

    /// The smallest and the largest value of a sum, if they are known and no sum wraps around.
    fn bounds(&mut self, sum: &Sum, rounds: &Rounds<'_>) -> Option<(i128, i128)> {
        let low = self.bound(sum.clone(), rounds, false)?;
        let high = self.bound(sum.clone(), rounds, true)?;
        (low.abs() < MAX_BOUND && high.abs() < MAX_BOUND).then_some((low, high))
    }

    fn bound(&mut self, mut sum: Sum, rounds: &Rounds<'_>, upper: bool) -> Option<i128> {
        for _ in 0..MAX_STEPS {
            // The innermost index that is replaced by an end of its loop.
            let innermost = sum.terms.iter().enumerate().filter_map(|(at, (variable, _))| match variable {
                Variable::Distance => None,
                Variable::Same(reg) | Variable::Storing(reg) | Variable::Other(reg) => {
                    self.loops.get(reg).map(|parts| (parts.depth, at, *parts))
                }
            });
            let Some((_, at, parts)) = innermost.max_by_key(|found| (found.0, found.1)) else { break };
            let (variable, coefficient) = sum.terms.swap_remove(at);
            let last = (coefficient > 0) == upper;
            let end = self.end(last, parts)?;
            sum.add_form(&end, coefficient, |reg| match variable {
                Variable::Same(_) => Variable::Same(reg),
                Variable::Other(index) => rounds.variable(reg, last && Some(index) == rounds.prefix),
                _ => rounds.variable(reg, true),
            })?;
        }
        let mut bound = sum.constant;
        for (variable, coefficient) in sum.terms {
            let (low, high) = match variable {
                Variable::Distance => {
                    let most = self.max_distance(rounds)?;
                    (-most, most)
                }
                Variable::Same(reg) | Variable::Storing(reg) | Variable::Other(reg) => {
                    let range = self.intervals.get(&reg)?;
                    (i128::from(range.low), i128::from(range.high))
                }
            };
            if low < -MAX_BOUND || high > MAX_BOUND {
                return None;
            }
            bound += coefficient * if (coefficient > 0) == upper { high } else { low };
        }
        Some(bound)
    }

    /// The last or the first index of a loop, as a form whose sum does not wrap around.
    fn end(&mut self, last: bool, parts: Loop) -> Option<Affine> {
        let end = match (last, parts.low) {
            (true, _) => self.forms.of(parts.high).add_scaled(&Affine::constant(1), -1)?,
            (false, Some(low)) => self.forms.of(low),
            (false, None) => Affine::constant(0),
        };
        let mut most = i128::from(end.constant).abs();
        for (reg, coefficient) in &end.terms {
            let range = self.intervals.get(reg)?;
            let reach = i128::from(range.low).abs().max(i128::from(range.high).abs());
            most += i128::from(*coefficient).abs() * reach;
        }
        (most < MAX_BOUND).then_some(end)
    }
}

/// The first and the last factor of the multiples of a positive number from `low` to `high`; the
/// first is larger if there is none.
fn multiples(of: i128, low: i128, high: i128) -> (i128, i128) {
    (low.div_euclid(of) + i128::from(low.rem_euclid(of) != 0), high.div_euclid(of))
}

fn collect_loops(stmts: &[Stmt], depth: usize, loops: &mut HashMap<Reg, Loop>) {
    for stmt in stmts {
        let mut inside = depth;
        if let Some(parts) = loop_parts(stmt) {
            loops.insert(parts.index, Loop { low: parts.low, high: parts.high, depth });
            inside += 1;
        }
        for body in stmt.bodies() {
            collect_loops(body, inside, loops);
        }
    }
}

/// The registers that are the smaller or the larger of two others.
#[derive(Default)]
struct Extremes {
    smaller: HashMap<Reg, (Reg, Reg)>,
    larger: HashMap<Reg, (Reg, Reg)>,
}

impl Extremes {
    fn of(kernel: &Kernel) -> Extremes {
        let (mut found, mut compared) = (Extremes::default(), HashMap::default());
        for_each_stmt(&kernel.body, &mut |stmt| match stmt {
            Stmt::Let(reg, Op::Compare(kind, a, b)) => drop(compared.insert(*reg, (*kind, (*a, *b)))),
            Stmt::Let(reg, Op::Select(condition, a, b)) => {
                let choice = compared.get(condition).map(|(kind, pair)| (*kind, *pair));
                let extreme = choice.and_then(|(kind, pair)| extreme_of_choice(kind, pair, (*a, *b)));
                if let Some(AccumulatorOp::Extreme { max, unsigned: false }) = extreme {
                    let kept = if max { &mut found.larger } else { &mut found.smaller };
                    kept.insert(*reg, (*a, *b));
                }
            }
            _ => {}
        });
        found
    }

    /// Replaces the ends of a loop that index set splitting has clamped: a round that is made has
    /// an index from `a` on if the loop goes from `min(a, high)` to `high`, and one below `b` if it
    /// goes from `low` to `max(low, b)`. Of two ends, the one that is no constant stays.
    fn simplify_ends(&self, parts: &mut Loop, forms: &mut Forms<'_>) {
        let other = |pair: Option<&(Reg, Reg)>, end: Reg| match pair {
            Some((a, b)) if *b == end => Some(*a),
            Some((a, b)) if *a == end => Some(*b),
            _ => None,
        };
        let (low, high) = (parts.low, parts.high);
        if let Some(low) = low {
            parts.low = other(self.smaller.get(&low), high).or(Some(low));
            parts.high = other(self.larger.get(&high), low).unwrap_or(high);
        }
        while let Some((a, b)) = self.smaller.get(&parts.high) {
            parts.high = if forms.constant(*a).is_some() { *b } else { *a };
        }
        while let Some((a, b)) = parts.low.and_then(|low| self.larger.get(&low)) {
            parts.low = Some(if forms.constant(*a).is_some() { *b } else { *a });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::{defined_registers, parse};
    use super::*;
    use fastrand::Rng;
    use std::fmt::Write;

    /// A sum of multiples of indices (of the loop around, of the loop, of the loop inside) and a
    /// constant.
    type Form = [i64; 4];

    fn value(form: &Form, indices: [i64; 3]) -> i64 {
        form[3] + indices.iter().zip(form).map(|(index, factor)| index * factor).sum::<i64>()
    }

    /// Loops over `x`, `i` and `j`, the innermost of which stores into a slot and loads another
    /// one; each end is a form of the indices around.
    struct Nest {
        ends: [(Form, Form); 3],
        slots: [Form; 2],
    }

    impl Nest {
        fn random(random: &mut Rng) -> Nest {
            let few = |random: &mut Rng| [0, 0, 1, -1, 1, 5, 8][random.usize(..7)];
            let row = [5, 8, 8, 16][random.usize(..4)];
            let end = |random: &mut Rng, depth: usize, constant: i64| {
                let mut form = [0, 0, 0, constant];
                if depth > 0 && random.bool() {
                    form[random.usize(..depth)] = 1;
                    form[3] = random.i64(-1..2);
                }
                form
            };
            let mut ends = [([0; 4], [0; 4]); 3];
            for (depth, ends) in ends.iter_mut().enumerate() {
                let (low, high) = (random.i64(-1..2), random.i64(3..7));
                *ends = (end(random, depth, low), end(random, depth, high));
            }
            let slots = [(); 2].map(|()| {
                let mut form = [few(random), few(random), few(random), random.i64(-2..3)];
                if random.bool() {
                    // Rows and columns.
                    form = [0, 0, 0, 0];
                    form[random.usize(..3)] += row;
                    form[random.usize(..3)] += 1;
                }
                form
            });
            Nest { ends, slots }
        }

        /// The loop form, in which the registers of the slots are the last that are set.
        fn text(&self) -> String {
            let mut text = String::from("array a0: scratch, 8 bytes a slot, 4096 slots\nr0: f64 = 0.0\n");
            let (mut next, mut indices) = (1, Vec::new());
            for (depth, (low, high)) in self.ends.iter().enumerate() {
                let [low, high] = [low, high].map(|form| sum(&mut text, &mut next, &indices, form));
                let _ = writeln!(text, "{}for r{next} in r{low}..<r{high} @{depth}", "  ".repeat(depth));
                indices.push(next);
                next += 1;
            }
            let [store, load] = self.slots.map(|form| sum(&mut text, &mut next, &indices, &form));
            let _ = writeln!(text, "      r{next}: f64 = a0[r{load}]\n      a0[r{store}] <- r0");
            text
        }

        /// Returns true if two rounds of the loop over `i` meet, for the same `x`.
        fn rounds_meet(&self) -> bool {
            let [outer, tested, inner] = &self.ends;
            let range = |ends: &(Form, Form), at: [i64; 3]| value(&ends.0, at)..value(&ends.1, at);
            for x in range(outer, [0; 3]) {
                let rounds: Vec<(i64, i64, i64)> = range(tested, [x, 0, 0])
                    .flat_map(|i| range(inner, [x, i, 0]).map(move |j| (i, j)))
                    .map(|(i, j)| (i, value(&self.slots[0], [x, i, j]), value(&self.slots[1], [x, i, j])))
                    .collect();
                for (i, stored, _) in &rounds {
                    if rounds.iter().any(|(other, _, loaded)| other != i && stored == loaded) {
                        return true;
                    }
                }
            }
            false
        }
    }

    /// Writes the operations of a form; returns the register.
    fn sum(text: &mut String, next: &mut usize, indices: &[usize], form: &Form) -> usize {
        let indent = "  ".repeat(indices.len());
        let mut define = |text: &mut String, op: String| {
            let _ = writeln!(text, "{indent}r{next}: i64 = {op}");
            *next += 1;
            *next - 1
        };
        let mut total = define(text, form[3].to_string());
        for (index, factor) in indices.iter().zip(form).filter(|(_, factor)| **factor != 0) {
            let factor = define(text, factor.to_string());
            let product = define(text, format!("mul r{index} r{factor}"));
            total = define(text, format!("add r{total} r{product}"));
        }
        total
    }

    #[test]
    fn digits_are_taken_off_once() {
        let depth = 18;
        let mut text =
            String::from("array a0: scratch, 8 bytes a slot, 9 slots\nr0: f64 = 0.0\nr1: i64 = 0\n");
        text += "r2: i64 = 2\n";
        let (mut next, mut slots) = (3, ["r1".to_string(), "r1".to_string()]);
        for level in 0..depth {
            let indent = "  ".repeat(level);
            let index = next;
            let _ = writeln!(text, "{indent}for r{index} in r1..<r2 @{level}");
            next += 1;
            for (number, slot) in slots.iter_mut().enumerate() {
                let factor = (1 + number) << (2 * level);
                let _ = writeln!(text, "{indent}  r{next}: i64 = {factor}");
                let _ = writeln!(text, "{indent}  r{}: i64 = mul r{index} r{next}", next + 1);
                let _ = writeln!(text, "{indent}  r{}: i64 = add {slot} r{}", next + 2, next + 1);
                *slot = format!("r{}", next + 2);
                next += 3;
            }
        }
        let indent = "  ".repeat(depth);
        let [store, load] = slots;
        let _ = writeln!(text, "{indent}r{next}: f64 = a0[{load}]\n{indent}a0[{store}] <- r0");
        let kernel = parse::kernel(&text).unwrap_or_else(|why| panic!("{why}\n{text}"));
        let candidates = HashSet::from_iter([Reg::new(3)]);
        assert!(super::super::parallelize::independent_loops(&kernel, &candidates, false).is_empty());
    }

    #[test]
    fn rounds_that_meet_are_found() {
        let (mut apart, mut proved) = (0, 0);
        for seed in 0..20_000 {
            let nest = Nest::random(&mut Rng::with_seed(seed));
            let text = nest.text();
            let kernel = parse::kernel(&text).unwrap_or_else(|why| panic!("seed {seed}: {why}\n{text}"));
            let (mut slots, mut tested) = ([None; 2], None);
            for_each_stmt(&kernel.body, &mut |stmt| match stmt {
                Stmt::For { label, index, body, .. } if label.index() == 1 => {
                    tested = Some((*index, defined_registers(body)));
                }
                Stmt::Store(_, at, _) => slots[0] = Some(*at),
                Stmt::Let(_, Op::Load(_, at, _)) => slots[1] = Some(*at),
                _ => {}
            });
            let (index, inner) = tested.expect("there is a loop in the middle");
            let mut dependences = Dependences::new(&kernel);
            let [store, load] = slots.map(|at| dependences.forms().of(at.expect("there is an access")));
            let found = dependences.may_meet(&store, &load, &Rounds { index, inner: &inner, prefix: None });
            let meet = nest.rounds_meet();
            assert!(found || !meet, "seed {seed}: rounds meet\n{text}");
            apart += usize::from(!meet);
            proved += usize::from(!found);
        }
        assert!(2 * proved > apart, "{proved} of {apart} proved");
    }
}
