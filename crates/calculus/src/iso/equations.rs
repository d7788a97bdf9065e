//! Isomorphism under equations of sizes: `require N == 3 \* K`.
//!
//! Takes equations between compact linear types, each stating that two sizes are equal, and two
//! types; decides whether the types are naturally isomorphic for all sizes that satisfy the
//! equations. The decision procedure is unchanged: the equations are *solved*, and the types are
//! compared after substitution of the solution.
//!
//! **Solving.** A solution is a list of *cases*. Each case substitutes sizes for some of the
//! variables, in terms of the others and of fresh ones. A rule replaces an equation by cases such
//! that every valuation that satisfies it is an instance of some case (*completeness*). Both sides
//! are polynomials with natural coefficients. Their common part is subtracted first (addition of
//! naturals is cancellative), then the common factor `c` of all terms is divided out: `c = 0`, or
//! the rest holds. Then
//!
//! 1. `N == P`, `N` not in `P`; `P` may contain powers here: one case, N := P.
//! 2. `n == 0` for a number n > 0, and a number equal to another: no case. `P == 0` for a sum: all
//!    terms are 0; for a product: a case for each variable, which is 0.
//! 3. `a \* N == b \* M`, where the numbers are coprime: N := b \* t, M := a \* t, for `a` divides
//!    M.
//! 4. A product of distinct variables and a number equal to another, `f1 ⋯ fm == g1 ⋯ gn`: fi := ∏j
//!    xij, gj := ∏i xij (the four-number theorem for m = n = 2). Every solution in positive
//!    naturals has this form, by unique factorization. One with zeros has it, too: some fi and some
//!    gj are 0; take xij = 0, xij' = gj' and xi'j = fi' for the others, and 1 elsewhere. A number
//!    in place of a factor makes a case for each way to write it as such a product. The numbers of
//!    the two sides are coprime and none is 0.
//! 5. A sum of distinct variables and a number equal to another, `f1 + ⋯ + fm == g1 + ⋯ + gn`: fi
//!    := Σj xij, gj := Σi xij (Riesz refinement: two partitions of one interval have a common
//!    refinement). A number makes a case for each way to write it as such a sum.
//!
//! Equations are solved one after the other, each at the substitutions of those before. An equation
//! that no rule fits is skipped and listed in [`Solution::unsolved`].
//!
//! **Soundness.** A valuation that satisfies the equations satisfies those that were solved, so it
//! is an instance of a case; if the types are naturally isomorphic for all values of the variables
//! in every case, they are at that valuation. Nothing is claimed without equations, nor if no case
//! is left: equations that cannot hold are refused at their declaration.
//!
//! **Completeness.** Each rule's cases satisfy its equation, so no rule loses solutions. Only
//! skipped equations lose information: those with a variable twice in rules 4 and 5, with
//! exponents, or with more than [`MAX_CASES`] cases.
//!
//! Cost: cases are bounded by [`MAX_CASES`], polynomials by the bound of [`Size`].

use super::Verdict;
use super::substitute::FreeParameters;
use crate::hash::{HashMap, HashSet};
use crate::types::size::{Powers, Size};
use crate::types::variable_numbers::EQUATION_SIZES;
use crate::types::{Kind, Type, TypeKind, TypeVar};
use num_bigint::BigUint;
use num_integer::Integer;
use num_traits::{One, ToPrimitive, Zero};
use std::cell::Cell;
use std::sync::Arc;

/// Cases that a list of equations is split into, at most.
pub const MAX_CASES: usize = 64;
/// Factors or terms on one side of rules 4 and 5, at most.
const MAX_PARTS: usize = 6;
/// Rules applied to one equation in sequence, at most.
const MAX_RULE_STEPS: usize = 16;

/// A substitution: sizes by the numbers of the variables they replace.
type Case = HashMap<u32, Type>;

/// The solution of a list of equations: substitutions that cover all valuations satisfying them.
#[derive(Clone, Debug)]
pub struct Solution {
    /// The substitutions.
    cases: Vec<Case>,
    /// Equations that no rule fits, by their position.
    pub unsolved: Vec<usize>,
}

/// Returns true if two types are naturally isomorphic for all sizes that satisfy the equations;
/// false without equations that concern the types.
pub fn natural_under(equations: &[(Type, Type)], a: &Type, b: &Type) -> bool {
    let equations = relevant(equations, a, b);
    !equations.is_empty() && Solution::of(&equations).natural(a, b)
}

/// Returns the equations that concern the types: those that share a variable with them, directly or
/// through other equations.
pub fn relevant(equations: &[(Type, Type)], a: &Type, b: &Type) -> Vec<(Type, Type)> {
    let vars = |ty: &Type| {
        let mut vars = Vec::new();
        ty.for_each_var(&mut |var| vars.push(var.id));
        vars
    };
    let mut reached: Vec<u32> = vars(a).into_iter().chain(vars(b)).collect();
    let mut taken = vec![false; equations.len()];
    loop {
        let before = reached.len();
        for (at, (left, right)) in equations.iter().enumerate() {
            let own: Vec<u32> = vars(left).into_iter().chain(vars(right)).collect();
            if !taken[at] && own.iter().any(|var| reached.contains(var)) {
                taken[at] = true;
                reached.extend(own);
            }
        }
        if reached.len() == before {
            break;
        }
    }
    equations.iter().zip(taken).filter(|(_, taken)| *taken).map(|(equation, _)| equation.clone()).collect()
}

impl Solution {
    /// Solves the equations that rules exist for; [`Solution::unsolved`] lists the others.
    pub fn of(equations: &[(Type, Type)]) -> Solution {
        let mut solution = Solution { cases: vec![Case::default()], unsolved: Vec::new() };
        // Fresh variables have numbers distinct from all others.
        let fresh = Cell::new(0);
        for (at, (left, right)) in equations.iter().enumerate() {
            let mut cases = Vec::new();
            let mut solved = true;
            for case in &solution.cases {
                let sides = (left.substitute(case), right.substitute(case));
                match solve(&sides.0, &sides.1, &fresh, MAX_RULE_STEPS) {
                    Some(found) => cases.extend(found.into_iter().map(|next| compose(case, next))),
                    None => solved = false,
                }
                if !solved || cases.len() > MAX_CASES {
                    solved = false;
                    break;
                }
            }
            if solved {
                solution.cases = cases;
            } else {
                solution.unsolved.push(at);
            }
        }
        solution
    }

    /// Returns true if no sizes satisfy the equations.
    pub fn is_unsatisfiable(&self) -> bool {
        self.cases.is_empty()
    }

    /// Returns true if two types are naturally isomorphic in every case.
    pub fn natural(&self, a: &Type, b: &Type) -> bool {
        // Equal sizes do not make equal types: a type function or an abstract type may distinguish
        // them.
        let mut free = FreeParameters::default();
        let mut holds = |case: &Case| {
            super::verdict(&free.replace_sizes(a, case), &free.replace_sizes(b, case)) <= Verdict::Natural
        };
        !self.cases.is_empty()
            && !contains_application(a)
            && !contains_application(b)
            && self.cases.iter().all(&mut holds)
    }
}

/// Returns true if a type contains an unreduced application of a type function, directly or in the
/// definition of a declared type; also where the definitions exceed the bound.
fn contains_application(ty: &Type) -> bool {
    /// Types visited, at most: polymorphic recursion produces new types without bound.
    const MAX_TYPES: usize = 1_000;
    let mut seen: HashSet<Type> = HashSet::default();
    let mut waiting = vec![ty.clone()];
    while let Some(ty) = waiting.pop() {
        if ty.has_apply() || seen.len() >= MAX_TYPES {
            return true;
        }
        if !ty.has_var() || !seen.insert(ty.clone()) {
            continue;
        }
        if let TypeKind::Nominal(nominal, args) = ty.kind() {
            let fields = nominal.struct_fields(args).or_else(|| nominal.variant_cases(args));
            waiting.extend(fields.into_iter().flatten().map(|(_, ty)| ty));
            waiting.extend(nominal.definition(args));
            waiting.extend(nominal.representation(args));
        }
        ty.kind().for_each_child(&mut |child| waiting.push(child.clone()));
    }
    false
}

/// Composes two substitutions: `first`, then `then`.
fn compose(first: &Case, then: Case) -> Case {
    let mut both: Case = first.iter().map(|(var, size)| (*var, size.substitute(&then))).collect();
    for (var, size) in then {
        both.entry(var).or_insert(size);
    }
    both
}

/// A monomial: its coefficient, and its variables with their exponents.
type Term = (BigUint, Powers);

/// Returns the cases of one equation; `None` if no rule fits.
fn solve(left: &Type, right: &Type, fresh: &Cell<u32>, steps: usize) -> Option<Vec<Case>> {
    let steps = steps.checked_sub(1)?;
    // Rule 1, whatever the other side is.
    for (one, other) in [(left, right), (right, left)] {
        if let TypeKind::Var(var) = one.kind() {
            let mut occurs = false;
            other.for_each_var(&mut |found| occurs |= found.id == var.id);
            if !occurs {
                return Some(vec![Case::from_iter([(var.id, other.clone())])]);
            }
        }
    }
    let (left, right) = (Size::of(left)?, Size::of(right)?);
    let common = left.common(&right);
    let without = |side: &Size| side.checked_sub(&common).expect("a common part can be subtracted");
    let (left, right) = (without(&left), without(&right));
    if left.is_zero() && right.is_zero() {
        return Some(vec![Case::default()]);
    }
    let (mut left, mut right) = (left.monomials()?, right.monomials()?);
    let number = left.iter().chain(&right).fold(BigUint::zero(), |gcd, (n, _)| gcd.gcd(n));
    left.iter_mut().chain(&mut right).for_each(|(n, _)| *n /= &number);
    // A variable common to all terms is 0, or it is divided out.
    let first = left.first().or(right.first()).expect("one side is not 0").1.clone();
    for (var, _) in first {
        let everywhere =
            |terms: &[Term]| terms.iter().all(|(_, powers)| powers.iter().any(|(v, _)| *v == var));
        if everywhere(&left) && everywhere(&right) {
            for (_, powers) in left.iter_mut().chain(&mut right) {
                powers.iter_mut().filter(|(v, _)| *v == var).for_each(|(_, n)| *n -= 1);
                powers.retain(|(_, n)| *n > 0);
            }
            let mut cases = vec![Case::from_iter([(var.id, Type::void())])];
            cases.extend(solve(&to_type(&left), &to_type(&right), fresh, steps)?);
            return Some(cases);
        }
    }
    if right.is_empty() || single_variable(&right).is_some() {
        std::mem::swap(&mut left, &mut right);
    }
    // Rule 2: the left side is 0.
    if left.is_empty() {
        return zero_cases(&right, fresh, steps);
    }
    if let ([(a, powers)], [(b, others)]) = (&left[..], &right[..])
        && powers.is_empty()
        && others.is_empty()
    {
        return Some(if a == b { vec![Case::default()] } else { Vec::new() });
    }
    // Rule 1.
    for (one, other) in [(&left, &right), (&right, &left)] {
        if let Some(var) = single_variable(one)
            && other.iter().all(|(_, powers)| powers.iter().all(|(v, _)| v != var))
        {
            return Some(vec![Case::from_iter([(var.id, to_type(other))])]);
        }
    }
    match (&left[..], &right[..]) {
        ([one], [other]) => solve_products(one, other, fresh),
        _ => solve_sums(&left, &right, fresh),
    }
}

/// Returns the variable that a side consists of: coefficient 1, exponent 1.
fn single_variable(terms: &[Term]) -> Option<&TypeVar> {
    match terms {
        [(n, powers)] if n.is_one() => match &powers[..] {
            [(var, 1)] => Some(var),
            _ => None,
        },
        _ => None,
    }
}

/// Returns the cases in which all terms are 0 (rule 2).
fn zero_cases(terms: &[Term], fresh: &Cell<u32>, steps: usize) -> Option<Vec<Case>> {
    let Some((first, rest)) = terms.split_first() else { return Some(vec![Case::default()]) };
    let mut cases = Vec::new();
    for (var, _) in &first.1 {
        let zero = Case::from_iter([(var.id, Type::void())]);
        let rest = to_type(rest).substitute(&zero);
        let found = solve(&Type::void(), &rest, fresh, steps)?;
        cases.extend(found.into_iter().map(|next| compose(&zero, next)));
    }
    (cases.len() <= MAX_CASES).then_some(cases)
}

/// Solves an equation of two products by rules 3 and 4.
fn solve_products(left: &Term, right: &Term, fresh: &Cell<u32>) -> Option<Vec<Case>> {
    let factors = |(number, powers): &Term| -> Option<(Vec<TypeVar>, BigUint)> {
        powers
            .iter()
            .all(|(_, n)| *n == 1)
            .then(|| (powers.iter().map(|(v, _)| v.clone()).collect(), number.clone()))
    };
    solve_by_grid(factors(left)?, factors(right)?, Grid::Product, fresh)
}

/// Solves an equation of two sums by rule 5.
fn solve_sums(left: &[Term], right: &[Term], fresh: &Cell<u32>) -> Option<Vec<Case>> {
    let terms = |terms: &[Term]| -> Option<(Vec<TypeVar>, BigUint)> {
        let (mut vars, mut number) = (Vec::new(), BigUint::zero());
        for term in terms {
            match (&term.1[..], single_variable(std::slice::from_ref(term))) {
                ([], _) => number += &term.0,
                (_, Some(var)) => vars.push(var.clone()),
                _ => return None,
            }
        }
        Some((vars, number))
    };
    solve_by_grid(terms(left)?, terms(right)?, Grid::Sum, fresh)
}

/// The operation that joins the entries of a grid.
#[derive(Clone, Copy, PartialEq)]
enum Grid {
    /// Rule 4: the entries are multiplied.
    Product,
    /// Rule 5: the entries are added.
    Sum,
}

/// Solves `rows · row_number == columns · column_number`, or the same with sums: each variable is
/// the product or sum of its row or column in a grid of fresh variables. A number that is not the
/// neutral element is split into a row or column of numbers, in every possible way.
fn solve_by_grid(
    (rows, row_number): (Vec<TypeVar>, BigUint),
    (columns, column_number): (Vec<TypeVar>, BigUint),
    grid: Grid,
    fresh: &Cell<u32>,
) -> Option<Vec<Case>> {
    let neutral = if grid == Grid::Product { BigUint::one() } else { BigUint::zero() };
    // Common parts were removed: no variable occurs on both sides, and the numbers are coprime.
    if rows.iter().any(|var| columns.contains(var)) || rows.len().max(columns.len()) > MAX_PARTS {
        return None;
    }
    if (rows.is_empty() && row_number == neutral) || (columns.is_empty() && column_number == neutral) {
        // `1 == N \* M` and its like: each part of the other side is 1. Rule 4 with an empty side.
        let (vars, number) = if rows.is_empty() { (columns, column_number) } else { (rows, row_number) };
        let all = vars.iter().map(|var| (var.id, Type::unit_sum(neutral.clone()))).collect();
        return Some(if number == neutral { vec![all] } else { Vec::new() });
    }
    let splits = |number: &BigUint, parts: usize| -> Option<Vec<Vec<BigUint>>> {
        if *number == neutral {
            Some(vec![vec![neutral.clone(); parts]])
        } else {
            decompositions(number, parts, grid)
        }
    };
    // A number on one side is split among the variables of the other; between the numbers nothing
    // is shared in products, for they have no common factor, and in sums one of them is 0.
    let mut cases = Vec::new();
    for of_row in splits(&row_number, columns.len())? {
        for of_column in splits(&column_number, rows.len())? {
            let mut parts: Vec<Vec<Type>> = vec![Vec::new(); rows.len() + columns.len()];
            for i in 0..rows.len() {
                for j in 0..columns.len() {
                    let id = EQUATION_SIZES.nth(fresh.get() as usize);
                    fresh.set(fresh.get() + 1);
                    let x = Type::var(TypeVar { id, name: Arc::from(format!("x{id}")), kind: Kind::Compact });
                    parts[i].push(x.clone());
                    parts[rows.len() + j].push(x);
                }
            }
            let numbers = of_column.iter().chain(&of_row);
            parts
                .iter_mut()
                .zip(numbers)
                .for_each(|(part, number)| part.push(Type::unit_sum(number.clone())));
            let sizes = parts.into_iter().map(|part| match grid {
                Grid::Product => Type::compact_product(part),
                Grid::Sum => Type::compact_sum(part),
            });
            cases.push(rows.iter().chain(&columns).map(|var| var.id).zip(sizes).collect());
            if cases.len() > MAX_CASES {
                return None;
            }
        }
    }
    Some(cases)
}

/// Returns every way to write a number as a product or sum of `parts` naturals, in order; `None` if
/// the number or the count of ways is too large.
fn decompositions(number: &BigUint, parts: usize, grid: Grid) -> Option<Vec<Vec<BigUint>>> {
    /// Numbers that are decomposed, at most.
    const MAX_NUMBER: u64 = 10_000;
    let number = number.to_u64().filter(|n| *n <= MAX_NUMBER)?;
    match parts {
        // An empty product or sum is not this number.
        0 => return Some(Vec::new()),
        1 => return Some(vec![vec![number.into()]]),
        _ => {}
    }
    let mut found = Vec::new();
    for first in 0..=number {
        let rest = match grid {
            Grid::Sum => number - first,
            Grid::Product if first > 0 && number % first == 0 => number / first,
            Grid::Product => continue,
        };
        for mut more in decompositions(&rest.into(), parts - 1, grid)? {
            more.insert(0, first.into());
            found.push(more);
            if found.len() > MAX_CASES {
                return None;
            }
        }
    }
    Some(found)
}

/// Returns a compact type of the size that these terms have.
fn to_type(terms: &[Term]) -> Type {
    let terms = terms.iter().map(|(n, powers)| {
        let powers = powers.iter().flat_map(|(var, n)| vec![Type::var(var.clone()); *n as usize]);
        let number = (!n.is_one() || powers.clone().next().is_none()).then(|| Type::unit_sum(n.clone()));
        Type::compact_product(number.into_iter().chain(powers).collect())
    });
    Type::compact_sum(terms.collect())
}

/// Returns the sizes of the index types of two arrays of the same elements: the equation that has
/// to be required for them to be naturally isomorphic.
pub fn required_equation(a: &Type, b: &Type) -> Option<(Type, Type)> {
    let (mut elements, mut indices) = ([a.unfold(), b.unfold()], [Vec::new(), Vec::new()]);
    for (element, indices) in elements.iter_mut().zip(&mut indices) {
        while let TypeKind::Array(inner, index) = element.clone().kind() {
            indices.push(index.clone());
            *element = inner.unfold();
        }
    }
    let [left, right] = indices.map(Type::compact_product);
    let variable = left.has_var() || right.has_var();
    let same = super::verdict(&elements[0], &elements[1]) <= Verdict::Natural;
    (same && variable && left != right).then_some((left, right))
}
