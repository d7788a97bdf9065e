//! Matches: patterns become a decision tree, and the tree becomes branches and switches.
//!
//! The arms are rows of a table. A row has the patterns that are left, each on a part of the value
//! that is matched, and the variables that are bound. The first pattern of the first row is the
//! next test: a switch over the cases of a sum, or a comparison. Behind each outcome stands the
//! table of the rows that may still match (Maranget, Compiling Pattern Matching to Good Decision
//! Trees, 2008). So a test is made once on each way, and a part is read only under the case that
//! has it.
//!
//! An arm that stands at several leaves is built once: a leaf leaves a block with the variables
//! that it binds, and the body of the arm stands behind the block.
//!
//! A match covers all values of its type, so the last test of a table of one row is left out.
//!
//! **Work.** At most [`MAX_NODES`] nodes; beyond that the unit is declined.

use super::types::{scalar_element, structural_type};
use super::{AbruptCompletion, Builder, Declined, Known, Result, Scope};
use crate::array_ir::{
    Binary, Compare, DigitExpr, Element, End, Label, Op, Prim, SiteKind, Type, Unary, Value,
};
use crate::core::{Arm, LocalId, Pat, PatKind, Root, Stmt, Term};
use crate::hash::HashMap;
use crate::source::Span;
use crate::types::{Type as CoreType, TypeKind};
use num_traits::ToPrimitive;

/// Rows of all tables of a match, at most.
const MAX_NODES: usize = 4_000;

crate::id::ids! {
    /// The number of a part of the value that is matched.
    PartId "";
}

/// The value that is matched.
const WHOLE: PartId = PartId(0);

/// A variable with the part that it is bound to.
type Bound = (LocalId, PartId);

/// The way from one part to another.
#[derive(Clone, PartialEq)]
enum Access {
    /// The value itself, or the argument of a case, which a switch gives.
    Given,
    Component(u64),
    Factor(usize, CoreType),
    Reshape,
}

/// A part of the value that is matched.
struct Part {
    of: PartId,
    access: Access,
    ty: CoreType,
}

/// A comparison of a part with constants.
#[derive(Clone, PartialEq)]
enum Test {
    /// A word, by its bits.
    Word(u64),
    /// A word between two, by their bits; read with sign or without.
    Between(u64, u64, bool),
    /// A compact value by its code.
    Code(u64),
}

/// A pattern that may fail.
#[derive(Clone)]
enum Refutable<'t> {
    Test(Test),
    /// A case of a sum of these types, with a pattern for its argument.
    Case(usize, Option<&'t Pat>, Vec<CoreType>),
}

#[derive(Clone)]
struct Row<'t> {
    arm: usize,
    columns: Vec<(PartId, Refutable<'t>)>,
    bound: Vec<Bound>,
}

enum Tree {
    Fail,
    Leaf { arm: usize, bound: Vec<Bound>, otherwise: Option<Box<Tree>> },
    Test { part: PartId, test: Test, sides: Box<[Tree; 2]> },
    Switch { part: PartId, pieces: Vec<(PartId, CoreType)>, sides: Vec<Tree> },
}

/// The arms of a match, as terms or as statements.
#[derive(Clone, Copy)]
pub(super) enum Arms<'t> {
    Terms(&'t [Arm]),
    Stmts(&'t [(Pat, Option<Term>, Vec<Stmt>)]),
}

impl<'t> Arms<'t> {
    fn patterns(self) -> Vec<&'t Pat> {
        match self {
            Arms::Terms(arms) => arms.iter().map(|arm| &arm.pattern).collect(),
            Arms::Stmts(arms) => arms.iter().map(|(pattern, ..)| pattern).collect(),
        }
    }

    fn guard(self, arm: usize) -> Option<&'t Term> {
        match self {
            Arms::Terms(arms) => arms[arm].guard.as_ref(),
            Arms::Stmts(arms) => arms[arm].1.as_ref(),
        }
    }

    fn count(self) -> usize {
        match self {
            Arms::Terms(arms) => arms.len(),
            Arms::Stmts(arms) => arms.len(),
        }
    }
}

/// The tables of a match.
struct Tables<'s, 't> {
    scope: &'s Scope<'s>,
    arms: Arms<'t>,
    parts: Vec<Part>,
    nodes: usize,
}

impl<'t> Tables<'_, 't> {
    fn part(&mut self, of: PartId, access: Access, ty: &CoreType) -> PartId {
        let found =
            |part: &Part| access != Access::Given && part.of == of && part.access == access && part.ty == *ty;
        if let Some(known) = self.parts.iter().position(found) {
            return PartId::new(known);
        }
        self.parts.push(Part { of, access, ty: ty.clone() });
        PartId::new(self.parts.len() - 1)
    }

    /// The rows with a pattern on a part more: one for each alternative.
    fn with_pattern(&mut self, rows: Vec<Row<'t>>, part: PartId, pattern: &'t Pat) -> Result<Vec<Row<'t>>> {
        let ty = self.scope.concrete(&pattern.ty);
        let all = |mut rows: Vec<Row<'t>>, column: Refutable<'t>| {
            rows.iter_mut().for_each(|row| row.columns.push((part, column.clone())));
            rows
        };
        let bind = |mut rows: Vec<Row<'t>>, local: LocalId| {
            rows.iter_mut().for_each(|row| row.bound.push((local, part)));
            rows
        };
        let scalar = || ty.unfold().as_scalar().ok_or(Declined::Pattern);
        let word = |n: &num_bigint::BigInt| n.to_i128().map(|n| n as u64).ok_or(Declined::Bigint);
        Ok(match &pattern.kind {
            PatKind::Wild => rows,
            PatKind::Bind(local) => bind(rows, *local),
            PatKind::As(inner, local) => {
                let rows = bind(rows, *local);
                self.with_pattern(rows, part, inner)?
            }
            PatKind::Int(n) => {
                let element = scalar_element(scalar()?)?;
                all(rows, Refutable::Test(Test::Word(element.truncate(word(n)?))))
            }
            PatKind::Real(x) => {
                // Of the two zeros, which are equal, only one: other bits are other numbers then.
                let bits = match scalar_element(scalar()?)? {
                    Element::F32 => u64::from((x.single + 0.0).to_bits()),
                    _ => (x.double + 0.0).to_bits(),
                };
                all(rows, Refutable::Test(Test::Word(bits)))
            }
            PatKind::Char(c) => all(rows, Refutable::Test(Test::Word(u64::from(u32::from(*c))))),
            PatKind::Ints(low, high) => {
                let scalar = scalar()?;
                let element = scalar_element(scalar)?;
                let [low, high] = [element.truncate(word(low)?), element.truncate(word(high)?)];
                all(rows, Refutable::Test(Test::Between(low, high, !super::types::is_unsigned(scalar))))
            }
            PatKind::Chars(low, high) => {
                let [low, high] = [low, high].map(|c| u64::from(u32::from(*c)));
                all(rows, Refutable::Test(Test::Between(low, high, false)))
            }
            PatKind::Code(n) => {
                let code = n.to_u64().ok_or(Declined::Size)?;
                all(rows, Refutable::Test(Test::Code(code)))
            }
            PatKind::Or(parts) => {
                let mut found = Vec::new();
                for alternative in parts {
                    found.extend(self.with_pattern(rows.clone(), part, alternative)?);
                }
                found
            }
            PatKind::Str(_) => return Err(Declined::Text.into()),
            PatKind::Coarray(..) => return Err(Declined::Pattern.into()),
            PatKind::Tuple(parts) => {
                let mut rows = rows;
                for (at, inner) in (0..).zip(parts) {
                    let of = self.part(part, Access::Component(at), &self.scope.concrete(&inner.ty));
                    rows = self.with_pattern(rows, of, inner)?;
                }
                rows
            }
            PatKind::Pack(parts) => {
                let (mut rows, base) = (rows, structural_type(&ty));
                for (at, inner) in parts.iter().enumerate() {
                    let access = Access::Factor(at, base.clone());
                    let of = self.part(part, access, &self.scope.concrete(&inner.ty));
                    rows = self.with_pattern(rows, of, inner)?;
                }
                rows
            }
            PatKind::Reshape(inner) => {
                let of = self.part(part, Access::Reshape, &self.scope.concrete(&inner.ty));
                self.with_pattern(rows, of, inner)?
            }
            PatKind::Case(case, inner) => {
                let case = case.to_usize().ok_or(Declined::Length)?;
                match cases(&ty) {
                    Some(cases) => all(rows, Refutable::Case(case, inner.as_deref(), cases)),
                    None if ty.is_compact() => all(rows, Refutable::Test(Test::Code(case as u64))),
                    None => return Err(Declined::Pattern.into()),
                }
            }
        })
    }

    /// The tree of a table.
    fn tree(&mut self, mut rows: Vec<Row<'t>>) -> Result<Tree> {
        self.nodes += rows.len();
        if self.nodes > MAX_NODES {
            return Err(Declined::Length.into());
        }
        let Some(first) = rows.first().cloned() else { return Ok(Tree::Fail) };
        let Row { arm, columns, bound } = first;
        let Some((part, pattern)) = columns.first() else {
            let otherwise = match self.arms.guard(arm) {
                None => None,
                // The first alternative that fits decides: behind its guard stands the next arm.
                Some(_) => {
                    rows.retain(|row| row.arm != arm);
                    Some(Box::new(self.tree(rows)?))
                }
            };
            return Ok(Tree::Leaf { arm, bound, otherwise });
        };
        match pattern {
            Refutable::Test(test) => {
                let on = |row: &Row<'t>| {
                    row.columns.iter().enumerate().find_map(|(at, (of, pattern))| match pattern {
                        Refutable::Test(other) if of == part => Some((at, other.clone())),
                        _ => None,
                    })
                };
                let (mut matching, mut others) = (Vec::new(), Vec::new());
                for row in &rows {
                    match on(row) {
                        Some((at, other)) if other == *test => {
                            let mut row = row.clone();
                            row.columns.remove(at);
                            matching.push(row);
                        }
                        Some((_, other)) if excludes(test, &other) => others.push(row.clone()),
                        _ => {
                            matching.push(row.clone());
                            others.push(row.clone());
                        }
                    }
                }
                let then = self.tree(matching)?;
                if others.is_empty() {
                    return Ok(then);
                }
                let sides = Box::new([then, self.tree(others)?]);
                Ok(Tree::Test { part: *part, test: test.clone(), sides })
            }
            Refutable::Case(_, _, types) => {
                let pieces: Vec<(PartId, CoreType)> =
                    types.iter().map(|ty| (self.part(*part, Access::Given, ty), ty.clone())).collect();
                let mut sides = Vec::new();
                for (case, (piece, _)) in pieces.iter().enumerate() {
                    let mut own = Vec::new();
                    for row in &rows {
                        let is_case = |(of, pattern): &(PartId, Refutable<'t>)| {
                            of == part && matches!(pattern, Refutable::Case(..))
                        };
                        let Some(at) = row.columns.iter().position(is_case) else {
                            own.push(row.clone());
                            continue;
                        };
                        let mut row = row.clone();
                        if let (_, Refutable::Case(wanted, inner, _)) = row.columns.remove(at)
                            && wanted == case
                        {
                            match inner {
                                Some(inner) => own.extend(self.with_pattern(vec![row], *piece, inner)?),
                                None => own.push(row),
                            }
                        }
                    }
                    sides.push(self.tree(own)?);
                }
                Ok(Tree::Switch { part: *part, pieces, sides })
            }
        }
    }
}

/// The variables that a leaf binds, in one order for all leaves of an arm.
fn sorted(bound: &[Bound]) -> Vec<Bound> {
    let mut bound = bound.to_vec();
    bound.sort_by_key(|(local, _)| *local);
    bound
}

/// Returns true if a value that passes one test fails the other.
fn excludes(a: &Test, b: &Test) -> bool {
    match (a, b) {
        (Test::Word(a), Test::Word(b)) | (Test::Code(a), Test::Code(b)) => a != b,
        _ => false,
    }
}

/// The types of the arguments of a sum that is switched over, by case.
fn cases(ty: &CoreType) -> Option<Vec<CoreType>> {
    let ty = structural_type(ty);
    match ty.kind() {
        TypeKind::CompactSum(cases) | TypeKind::Sum(cases) => Some(cases.clone()),
        TypeKind::Nominal(nominal, args) => {
            Some(nominal.variant_cases(args)?.into_iter().map(|(_, case)| case).collect())
        }
        _ => None,
    }
}

impl Tree {
    /// Calls a function with each leaf: its arm, and the variables that it binds.
    fn for_each_leaf(&self, f: &mut dyn FnMut(usize, &[Bound])) {
        match self {
            Tree::Fail => {}
            Tree::Leaf { arm, bound, otherwise } => {
                f(*arm, bound);
                otherwise.iter().for_each(|tree| tree.for_each_leaf(f));
            }
            Tree::Test { sides, .. } => sides.iter().for_each(|tree| tree.for_each_leaf(f)),
            Tree::Switch { sides, .. } => sides.iter().for_each(|tree| tree.for_each_leaf(f)),
        }
    }
}

/// A match while it is built.
struct Match<'t> {
    arms: Arms<'t>,
    parts: Vec<Part>,
    /// The type of the value; `None` for statements.
    ty: Option<Type>,
    variables: Vec<Root>,
    /// The blocks that the leaves of arms with several leave.
    shared: HashMap<usize, Label>,
    /// The block that all other leaves leave, if an arm has several.
    done: Option<Label>,
    span: Span,
}

impl Builder<'_> {
    /// A match of a value; gives the value of the arm that fits, of a type if there is one.
    pub(super) fn match_arms(
        &mut self,
        scope: &mut Scope<'_>,
        value: &Term,
        arms: Arms<'_>,
        ty: Option<Type>,
        variables: Vec<Root>,
    ) -> Result<Option<Value>> {
        let (span, core_type) = (value.span, scope.concrete(&value.ty));
        let value = self.value(scope, value)?;
        let guards: Vec<&Term> = (0..arms.count()).filter_map(|arm| arms.guard(arm)).collect();
        if !self.variables_of_terms(scope, &guards)?.is_empty() {
            return Err(Declined::Variable.into());
        }
        let whole = Part { of: WHOLE, access: Access::Given, ty: core_type };
        let mut tables = Tables { scope, arms, parts: vec![whole], nodes: 0 };
        let mut rows = Vec::new();
        for (arm, pattern) in arms.patterns().into_iter().enumerate() {
            let row = Row { arm, columns: Vec::new(), bound: Vec::new() };
            rows.extend(tables.with_pattern(vec![row], WHOLE, pattern)?);
        }
        let tree = tables.tree(rows)?;
        let parts = tables.parts;
        let mut counts = vec![0; arms.count()];
        tree.for_each_leaf(&mut |arm, _| counts[arm] += 1);
        let shared: Vec<usize> = (0..counts.len()).filter(|arm| counts[*arm] > 1).collect();
        let mut values = vec![None; parts.len()];
        values[WHOLE.index()] = Some(value);
        let shared_labels = shared.iter().map(|arm| (*arm, self.label())).collect();
        let done = if shared.is_empty() { None } else { Some(self.label()) };
        let plan = Match { arms, parts, ty, variables, shared: shared_labels, done, span };
        let Some(done) = done else { return self.decide(scope, &plan, &tree, values) };
        let packed = self.state_type(scope, plan.ty.clone(), &plan.variables)?;
        let before = self.variable_values(scope);
        let block = self.block(Vec::new(), |this, _| this.shared_arms(scope, &plan, &tree, &values, &shared));
        self.restore_variables(scope, before);
        let result = self.define(packed, Op::Block(done, block?))?;
        self.unpack(scope, result, plan.ty.is_some(), &plan.variables)
    }

    /// The tree, and behind it the bodies of the arms that stand at several leaves.
    fn shared_arms(
        &mut self,
        scope: &mut Scope<'_>,
        plan: &Match<'_>,
        tree: &Tree,
        values: &[Option<Value>],
        shared: &[usize],
    ) -> Result<Value> {
        let Some((arm, rest)) = shared.split_last() else {
            let value = self.decide(scope, plan, tree, values.to_vec())?;
            return self.pack(scope, value, &plan.variables);
        };
        // All leaves of an arm bind the same variables, to values of the same types.
        let mut parts = Vec::new();
        tree.for_each_leaf(&mut |own, bound| {
            if own == *arm {
                parts = sorted(bound);
            }
        });
        let mut bound = Vec::new();
        for (local, part) in parts {
            bound.push((local, self.ty(&plan.parts[part.index()].ty)?));
        }
        let ty = Type::Tuple(bound.iter().map(|(_, ty)| ty.clone()).collect());
        let before = self.variable_values(scope);
        let block = self.block(Vec::new(), |this, _| {
            let value = this.shared_arms(scope, plan, tree, values, rest)?;
            // The leaves of all other arms leave with the value of the match.
            Err(AbruptCompletion::Jump(End::Exit(plan.done.expect("an arm is shared"), value)))
        });
        self.restore_variables(scope, before);
        let packed = self.define(ty, Op::Block(plan.shared[arm], block?))?;
        for (at, (local, ty)) in (0..).zip(bound) {
            let part = self.define(ty, Op::Part(packed, at))?;
            self.bind_local(scope, local, Known::Data(part));
        }
        let value = self.arm_body(scope, plan, *arm)?;
        self.pack(scope, value, &plan.variables)
    }

    fn arm_body(&mut self, scope: &mut Scope<'_>, plan: &Match<'_>, arm: usize) -> Result<Option<Value>> {
        match plan.arms {
            Arms::Terms(arms) => self.value(scope, &arms[arm].body).map(Some),
            Arms::Stmts(arms) => self.stmts(scope, &arms[arm].2).map(|()| None),
        }
    }

    /// The value of a leaf, for the values of the variables that it binds: that of the body of its
    /// arm, which may stand behind the block that the leaf leaves.
    fn leaf(
        &mut self,
        scope: &mut Scope<'_>,
        plan: &Match<'_>,
        arm: usize,
        bound: &[Value],
    ) -> Result<Option<Value>> {
        let Some(label) = plan.shared.get(&arm) else { return self.arm_body(scope, plan, arm) };
        let ty = Type::Tuple(bound.iter().map(|value| self.types[value].clone()).collect());
        let value = self.define(ty, Op::Tuple(bound.to_vec()))?;
        Err(AbruptCompletion::Jump(End::Exit(*label, value)))
    }

    /// The value of a tree.
    fn decide(
        &mut self,
        scope: &mut Scope<'_>,
        plan: &Match<'_>,
        tree: &Tree,
        mut values: Vec<Option<Value>>,
    ) -> Result<Option<Value>> {
        match tree {
            Tree::Fail => {
                let no = self.constant(Element::B1, 0)?;
                let site = self.site(SiteKind::Assert, plan.span);
                self.define(Type::unit(), Op::Check(no, site, Vec::new()))?;
                plan.ty.as_ref().map(|ty| self.unreachable_value(ty, site)).transpose()
            }
            Tree::Leaf { arm, bound, otherwise } => {
                let mut bound_values = Vec::new();
                for (local, part) in sorted(bound) {
                    let value = self.part_value(plan, &mut values, part)?;
                    bound_values.push(value);
                    self.bind_local(scope, local, Known::Data(value));
                }
                let (Some(otherwise), Some(guard)) = (otherwise, plan.arms.guard(*arm)) else {
                    return self.leaf(scope, plan, *arm, &bound_values);
                };
                let condition = self.value(scope, guard)?;
                match self.known_condition(condition) {
                    Some(true) => return self.leaf(scope, plan, *arm, &bound_values),
                    Some(false) => return self.decide(scope, plan, otherwise, values),
                    None => {}
                }
                self.branch(
                    scope,
                    condition,
                    &plan.variables,
                    plan.ty.clone(),
                    [&mut |this, scope| this.leaf(scope, plan, *arm, &bound_values), &mut |this, scope| {
                        this.decide(scope, plan, otherwise, values.clone())
                    }],
                )
            }
            Tree::Test { part, test, sides } => {
                let value = self.part_value(plan, &mut values, *part)?;
                let condition = self.test(value, test)?;
                if let Some(known) = self.known_condition(condition) {
                    return self.decide(scope, plan, &sides[usize::from(!known)], values);
                }
                let [then, otherwise] = &**sides;
                self.branch(
                    scope,
                    condition,
                    &plan.variables,
                    plan.ty.clone(),
                    [
                        &mut |this, scope| this.decide(scope, plan, then, values.clone()),
                        &mut |this, scope| this.decide(scope, plan, otherwise, values.clone()),
                    ],
                )
            }
            Tree::Switch { part, pieces, sides } => {
                let value = self.part_value(plan, &mut values, *part)?;
                let types = self.types[&value].cases().ok_or(Declined::Pattern)?;
                if types.len() != sides.len() {
                    return Err(Declined::Pattern.into());
                }
                let mut blocks = Vec::new();
                for ((side, (piece, core_type)), ty) in sides.iter().zip(pieces).zip(types) {
                    let mut values = values.clone();
                    let of_sum = matches!(self.types[&value], Type::Sum(_));
                    blocks.push(self.branch_block(
                        scope,
                        &plan.variables,
                        vec![ty],
                        |this, scope, params| {
                            let argument = match of_sum {
                                true => params[0],
                                false => {
                                    let size = this.size(core_type)?;
                                    this.compact_of_code(core_type, DigitExpr::Of(params[0], 0), size)?
                                }
                            };
                            values[piece.index()] = Some(argument);
                            this.decide(scope, plan, side, values)
                        },
                    )?);
                }
                self.join_branches(scope, &plan.variables, plan.ty.clone(), blocks, |blocks| {
                    Op::Switch(value, blocks)
                })
            }
        }
    }

    /// The value of a part in the block that is built.
    fn part_value(&mut self, plan: &Match<'_>, values: &mut [Option<Value>], part: PartId) -> Result<Value> {
        if let Some(value) = values[part.index()] {
            return Ok(value);
        }
        let Part { of, access, ty } = &plan.parts[part.index()];
        let base = self.part_value(plan, values, *of)?;
        let value = match access {
            Access::Given => unreachable!("the argument of a case is read under its case"),
            Access::Component(at) => self.component(base, *at)?,
            Access::Factor(at, base_type) => self.factor(base, base_type, *at, ty)?,
            Access::Reshape => self.reshape(base, ty)?,
        };
        values[part.index()] = Some(value);
        Ok(value)
    }

    /// The condition under which a value passes a test.
    fn test(&mut self, value: Value, test: &Test) -> Result<Value> {
        let ty = self.types[&value].clone();
        match (test, &ty) {
            (Test::Word(bits), Type::Element(element)) => {
                let constant = self.constant(*element, *bits)?;
                self.compare(Compare::Eq, value, constant)
            }
            (Test::Between(low, high, signed), Type::Element(element)) => {
                let op = if *signed { Compare::Le } else { Compare::LeUnsigned };
                let (low, high) = (self.constant(*element, *low)?, self.constant(*element, *high)?);
                let (above, below) = (self.compare(op, low, value)?, self.compare(op, value, high)?);
                self.binary(Binary::And, above, below)
            }
            (Test::Code(1), Type::Element(Element::B1)) => Ok(value),
            (Test::Code(_), Type::Element(Element::B1)) => {
                self.define(Type::B1, Op::Prim(Prim::Unary(Unary::Not), vec![value]))
            }
            (Test::Code(code), Type::Index(_)) => {
                let (own, code) = (self.code(value)?, self.constant(Element::I64, *code)?);
                self.compare(Compare::Eq, own, code)
            }
            (Test::Code(_), Type::Tuple(parts)) if parts.is_empty() => self.constant(Element::B1, 1),
            _ => Err(Declined::Pattern.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::array_ir::interpret::Datum;
    use crate::build::run::{code, count, datum, run};
    use crate::build::{Builder, Declined, Known, Result, Scope};
    use crate::core::{self, Arm, LocalId, LocalInfo, Num, Pat, PatKind, Term, TermKind};
    use crate::hash::HashMap;
    use crate::source::Span;
    use crate::types::{Type as CoreType, TypeKind};

    fn term(kind: TermKind, ty: CoreType) -> Term {
        Term::new(kind, ty, Span::default())
    }

    fn pattern(kind: PatKind, ty: &CoreType) -> Pat {
        Pat { kind, ty: ty.clone(), span: Span::default() }
    }

    /// The type that is matched: scalars, indices and sums with arguments in a product.
    fn matched() -> CoreType {
        let three = CoreType::unit_sum(3u32);
        let pair = CoreType::compact_product(vec![three.clone(), CoreType::unit_sum(4u32)]);
        let inner = CoreType::sum(vec![CoreType::int(), CoreType::product(vec![CoreType::int(), three])]);
        let outer = CoreType::sum(vec![CoreType::unit(), inner, CoreType::int()]);
        CoreType::product(vec![CoreType::int(), CoreType::bool(), pair, outer])
    }

    /// Makes a random value: its numbers are small, so that literals fit them.
    fn value(random: &mut fastrand::Rng, ty: &CoreType) -> Datum {
        match ty.kind() {
            TypeKind::Scalar(_) => Datum::Word(random.i64(-2..3) as u64),
            TypeKind::Product(parts) => Datum::Tuple(parts.iter().map(|ty| value(random, ty)).collect()),
            TypeKind::Sum(cases) => {
                let case = random.usize(..cases.len());
                Datum::Case(case as u32, Box::new(value(random, &cases[case])))
            }
            _ => datum(ty, random.u64(..count(ty))),
        }
    }

    /// Makes a random pattern, which binds the local if that is given and of the type `int`.
    fn random_pattern(random: &mut fastrand::Rng, ty: &CoreType, local: &mut Option<LocalId>) -> Pat {
        let choice = random.usize(..8);
        if choice == 0 {
            return pattern(PatKind::Wild, ty);
        }
        if choice == 1 {
            // Alternatives bind nothing.
            let parts = (0..random.usize(2..4)).map(|_| random_pattern(random, ty, &mut None)).collect();
            return pattern(PatKind::Or(parts), ty);
        }
        let kind = match ty.kind() {
            TypeKind::Scalar(_) if choice == 2 && local.is_some() => {
                PatKind::Bind(local.take().expect("tested above"))
            }
            TypeKind::Scalar(_) if choice < 5 => PatKind::Int(random.i64(-2..3).into()),
            TypeKind::Scalar(_) => {
                let (a, b) = (random.i64(-3..4), random.i64(-3..4));
                let range = pattern(PatKind::Ints(a.min(b).into(), a.max(b).into()), ty);
                match local.take() {
                    Some(local) => PatKind::As(Box::new(range), local),
                    None => range.kind,
                }
            }
            TypeKind::Product(parts) => {
                PatKind::Tuple(parts.iter().map(|ty| random_pattern(random, ty, local)).collect())
            }
            TypeKind::CompactProduct(parts) if choice < 5 => {
                PatKind::Pack(parts.iter().map(|ty| random_pattern(random, ty, local)).collect())
            }
            TypeKind::Sum(cases) => {
                let case = random.usize(..cases.len());
                let inner = random_pattern(random, &cases[case], local);
                PatKind::Case(case.into(), (choice < 7 || inner.kind.binds()).then(|| Box::new(inner)))
            }
            _ => PatKind::Code(random.u64(..count(ty)).into()),
        };
        pattern(kind, ty)
    }

    /// A pattern that may bind.
    trait Binds {
        /// Returns true if it binds a local.
        fn binds(&self) -> bool;
    }

    impl Binds for PatKind {
        fn binds(&self) -> bool {
            let mut found = false;
            pattern(self.clone(), &CoreType::unit()).for_each_local(&mut |_| found = true);
            found
        }
    }

    /// Returns true if a value fits a pattern, by the definition; sets what the pattern binds.
    fn fits(pattern: &Pat, value: &Datum, bound: &mut Option<i64>) -> bool {
        match (&pattern.kind, value) {
            (PatKind::Wild, _) => true,
            (PatKind::Bind(_), Datum::Word(word)) => {
                *bound = Some(*word as i64);
                true
            }
            (PatKind::As(inner, _), Datum::Word(word)) => {
                *bound = Some(*word as i64);
                fits(inner, value, bound)
            }
            (PatKind::Or(parts), _) => parts.iter().any(|part| fits(part, value, bound)),
            (PatKind::Int(n), Datum::Word(word)) => *n == (*word as i64).into(),
            (PatKind::Ints(low, high), Datum::Word(word)) => (low..=high).contains(&&(*word as i64).into()),
            (PatKind::Tuple(parts), Datum::Tuple(values)) => {
                // All parts are matched, so that each binds.
                let all: Vec<bool> =
                    parts.iter().zip(values).map(|(part, value)| fits(part, value, bound)).collect();
                all.into_iter().all(|fits| fits)
            }
            (PatKind::Pack(parts), Datum::Index(digits)) => {
                parts.iter().zip(digits).all(|(part, digit)| fits(part, &datum(&part.ty, *digit), bound))
            }
            (PatKind::Code(wanted), value) => *wanted == code(&pattern.ty, value).into(),
            (PatKind::Case(case, inner), Datum::Case(own, argument)) => {
                *case == (*own).into() && inner.as_ref().is_none_or(|inner| fits(inner, argument, bound))
            }
            (kind, value) => panic!("{kind:?} is no pattern for {value:?}"),
        }
    }

    /// The local that holds the value, and the one that patterns bind.
    const MATCHED: usize = 0;
    const BOUND: usize = 1;

    fn local(id: usize, ty: CoreType) -> Term {
        term(TermKind::Local(LocalId::new(id)), ty)
    }

    fn int(n: i64) -> Term {
        term(TermKind::Int(n.into()), CoreType::int())
    }

    /// Builds a match of the value, and runs it.
    fn run_match(arms: &[Arm], value: Datum) -> std::result::Result<Datum, Declined> {
        let info = |ty: CoreType| LocalInfo { name: "x".into(), ty, shared: false };
        let locals = [info(matched()), info(CoreType::int())];
        run(&[&matched()], &[value], |builder: &mut Builder<'_>, values| -> Result<_> {
            let mut scope = Scope::of(HashMap::default(), &locals);
            scope.locals.insert(LocalId::new(MATCHED), Known::Data(values[0]));
            let kind = TermKind::Match(Box::new(local(MATCHED, matched())), arms.to_vec());
            builder.value(&mut scope, &term(kind, CoreType::int()))
        })
    }

    /// The tree of a match takes the first arm that fits and whose condition holds, with what its
    /// pattern binds.
    #[test]
    fn a_match_takes_the_first_arm_that_fits() {
        let seed = 12u64;
        let mut random = fastrand::Rng::with_seed(seed);
        let (mut taken, mut long) = ([0; 6], 0);
        for round in 0..1_500 {
            let mut arms: Vec<(Arm, Option<i64>)> = Vec::new();
            for at in 0..random.usize(..5) {
                let mut local_id = Some(LocalId::new(BOUND));
                let pattern = random_pattern(&mut random, &matched(), &mut local_id);
                let mut result = int(100 + at as i64);
                let (mut guard, mut limit) = (None, None);
                if pattern.kind.binds() {
                    result = local(BOUND, CoreType::int());
                    if random.bool() {
                        let least = random.i64(-2..3);
                        limit = Some(least);
                        let sides = vec![int(least), local(BOUND, CoreType::int())];
                        guard = Some(term(TermKind::Op(core::Op::Le, sides), CoreType::bool()));
                    }
                    // Of two arms that bind the same number, the sum shows which one it was.
                    let sides = vec![result, int(1_000 * (at as i64 + 1))];
                    result = term(TermKind::Op(core::Op::Add(Num::Int), sides), CoreType::int());
                }
                arms.push((Arm { pattern, guard, body: result }, limit));
            }
            arms.push((
                Arm { pattern: pattern(PatKind::Wild, &matched()), guard: None, body: int(-1) },
                None,
            ));
            let value = value(&mut random, &matched());
            let mut expected = None;
            for (at, (arm, limit)) in arms.iter().enumerate() {
                let mut bound = None;
                let holds = fits(&arm.pattern, &value, &mut bound)
                    && limit.is_none_or(|least| bound.is_some_and(|bound| least <= bound));
                if holds {
                    let last = at + 1 == arms.len();
                    taken[if last { 5 } else { at }] += 1;
                    expected = Some(match bound.filter(|_| arm.pattern.kind.binds()) {
                        Some(bound) => bound + 1_000 * (at as i64 + 1),
                        None if last => -1,
                        None => 100 + at as i64,
                    });
                    break;
                }
            }
            let arms: Vec<Arm> = arms.into_iter().map(|(arm, _)| arm).collect();
            let context = format!("seed {seed}, round {round}: {arms:?} of {value:?}");
            let found = match run_match(&arms, value) {
                Err(Declined::Length) => {
                    long += 1;
                    continue;
                }
                found => found.unwrap_or_else(|why| panic!("{why:?}: {context}")),
            };
            assert_eq!(Some(found), expected.map(|n| Datum::Word(n as u64)), "{context}");
        }
        assert!(
            taken[..2].iter().all(|count| *count > 100) && taken[5] > 100 && long < 100,
            "{taken:?}, {long}"
        );
    }

    /// An arm with many alternatives has its body once.
    #[test]
    fn the_body_of_an_arm_is_built_once() {
        let arms = |bodies: usize| {
            let codes: Vec<Pat> =
                (0..6).map(|n| pattern(PatKind::Int((n * 2).into()), &CoreType::int())).collect();
            let mut parts = vec![pattern(PatKind::Or(codes), &CoreType::int())];
            if let TypeKind::Product(types) = matched().kind() {
                parts.extend(types[1..].iter().map(|ty| pattern(PatKind::Wild, ty)));
            }
            let mut body = local(MATCHED, matched());
            body = term(TermKind::Component(Box::new(body), 0u32.into()), CoreType::int());
            for _ in 0..bodies {
                let sides = vec![body, int(3)];
                body = term(TermKind::Op(core::Op::Mul(Num::Int), sides), CoreType::int());
            }
            let wild = pattern(PatKind::Wild, &matched());
            [
                Arm { pattern: pattern(PatKind::Tuple(parts), &matched()), guard: None, body },
                Arm { pattern: wild, guard: None, body: int(-1) },
            ]
        };
        let made = |bodies: usize| {
            let core = core::Program::default();
            let mut builder = Builder::new(&core);
            let mut scope = Scope::of(HashMap::default(), &[]);
            let (ty, value) = (builder.ty(&matched()).ok().expect("a type"), builder.fresh());
            builder.types.insert(value, ty);
            scope.locals.insert(LocalId::new(MATCHED), Known::Data(value));
            let kind = TermKind::Match(Box::new(local(MATCHED, matched())), arms(bodies).to_vec());
            assert!(builder.value(&mut scope, &term(kind, CoreType::int())).is_ok());
            builder.made
        };
        // A product and its factor are two statements.
        assert_eq!(made(10) - made(5), 2 * 5);
    }
}
