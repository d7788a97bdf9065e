//! Type functions against their definition, on random tables, patterns and types; abstract types
//! with and without their representation.

use crate::iso_support::{abstract_type, ty, variable};
use felis_base::hash::HashMap;
use felis_calculus::iso::laws::{Law, Witness};
use felis_calculus::iso::{Verdict, compare, verdict, verify};
use felis_calculus::types::apply::{Fit, Meaning, Reduction, Refusal, TypeArm};
use felis_calculus::types::opaque::{Abstract, with_hidden_representations};
use felis_calculus::types::table::{self, TableAnswer};
use felis_calculus::types::{FiniteKind, Kind, Member, Nominal, NominalBody, Type, TypeFun, TypeVar};
use proptest::prelude::*;
use std::sync::Arc;

fn var(id: u32, kind: Kind) -> TypeVar {
    TypeVar { id, name: format!("v{id}").into(), kind }
}

fn kind(id: u32, members: usize) -> FiniteKind {
    FiniteKind::new(id, format!("K{id}").into(), (0..members).map(|m| format!("m{id}_{m}").into()).collect())
}

fn member(kind: &FiniteKind, index: usize) -> Type {
    Member { kind: kind.clone(), index }.into_type()
}

/// A cell of a table over a kind of three members: a member, or a variable by its number.
#[derive(Clone, Copy, Debug)]
enum Cell {
    Member(usize),
    Var(u32),
}

fn cell() -> impl Strategy<Value = Cell> {
    prop_oneof![(0usize..3).prop_map(Cell::Member), (0u32..3).prop_map(Cell::Var)]
}

/// Rows of two patterns and a result; a variable that the patterns do not bind is member 0.
type Table = Vec<(Cell, Cell, Cell)>;

fn lookup(table: &Table, a: usize, b: usize) -> Option<usize> {
    table.iter().find_map(|(p, q, result)| {
        let mut bound: HashMap<u32, usize> = HashMap::default();
        for (pattern, value) in [(p, a), (q, b)] {
            let wanted = match pattern {
                Cell::Member(m) => *m,
                Cell::Var(v) => *bound.entry(*v).or_insert(value),
            };
            if wanted != value {
                return None;
            }
        }
        Some(match result {
            Cell::Member(m) => *m,
            Cell::Var(v) => bound.get(v).copied().unwrap_or(0),
        })
    })
}

fn function(k: &FiniteKind, table: &Table) -> TypeFun {
    let params = vec![var(1, k.kind()), var(2, k.kind())];
    let subjects = params.iter().cloned().map(Type::var).collect();
    let binds: Vec<TypeVar> = (0..3).map(|v| var(10 + v, k.kind())).collect();
    let cell = |c: &Cell| match c {
        Cell::Member(m) => member(k, *m),
        Cell::Var(v) => Type::var(binds[*v as usize].clone()),
    };
    let arms = table.iter().map(|(p, q, result)| {
        let bound = |v: &u32| [p, q].into_iter().any(|c| matches!(c, Cell::Var(w) if w == v));
        let result = match result {
            Cell::Var(v) if !bound(v) => member(k, 0),
            other => cell(other),
        };
        TypeArm { patterns: vec![cell(p), cell(q)], binds: binds.clone(), result, refusal: None }
    });
    let fun = TypeFun::declare(3, "f".into(), params, k.kind(), vec![k.clone()]);
    fun.define(Meaning::Match(subjects, arms.collect()));
    fun
}

/// Generates types of all forms that patterns match, over two rigid variables, or over two pattern
/// variables.
fn small_type(first: u32) -> BoxedStrategy<Type> {
    let leaf = prop_oneof![
        2 => Just(Type::int()),
        2 => Just(Type::real()),
        2 => (0u32..4).prop_map(Type::unit_sum),
        3 => Just(Type::var(var(first, Kind::Type))),
        1 => Just(Type::var(var(first + 1, Kind::Type))),
    ];
    let index = prop_oneof![
        2 => (0u32..4).prop_map(Type::unit_sum),
        2 => Just(Type::var(var(first + 2, Kind::Compact))),
        1 => Just(Type::compact_product(vec![Type::unit_sum(2u32), Type::var(var(first + 2, Kind::Compact))])),
        1 => Just(Type::compact_power(Type::unit_sum(2u32), Type::unit_sum(2u32))),
    ]
    .boxed();
    leaf.prop_recursive(3, 8, 3, move |inner| {
        prop_oneof![
            3 => prop::collection::vec(inner.clone(), 2..4).prop_map(Type::product),
            2 => prop::collection::vec(inner.clone(), 2..4).prop_map(Type::sum),
            1 => (index.clone(), inner.clone()).prop_map(|(n, t)| Type::repeat(n, t)),
            2 => (inner.clone(), index.clone()).prop_map(|(t, i)| Type::array(t, i)),
            1 => (inner.clone(), inner.clone()).prop_map(|(a, b)| Type::function(a, b)),
            1 => inner.prop_map(|t| Type::record(vec![("x".into(), t)])),
        ]
    })
    .boxed()
}

/// Generates ground types for the rigid variables 1, 2 and 3.
fn ground() -> impl Strategy<Value = HashMap<u32, Type>> {
    let some = || {
        prop_oneof![
            Just(Type::int()),
            Just(Type::unit()),
            Just(Type::bool()),
            Just(ty("int * int")),
            Just(ty("int * real")),
            Just(ty("real ^ 3")),
        ]
    };
    (some(), some(), 0u32..4)
        .prop_map(|(t, u, n)| HashMap::from_iter([(1, t), (2, u), (3, Type::unit_sum(n))]))
}

fn config() -> ProptestConfig {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(2_000);
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    /// On members, a type function equals its table.
    #[test]
    fn tables_are_looked_up(rows in prop::collection::vec((cell(), cell(), cell()), 1..6)) {
        let k = kind(7, 3);
        let fun = function(&k, &rows);
        for a in 0..3 {
            for b in 0..3 {
                let expected = match lookup(&rows, a, b) {
                    Some(m) => Reduction::Reduced(member(&k, m)),
                    None => Reduction::NoArm,
                };
                prop_assert_eq!(fun.reduce(&[member(&k, a), member(&k, b)]), expected);
            }
        }
    }

    /// With one unknown argument: the early reduct equals the result for each member.
    #[test]
    fn tables_are_looked_up_early(rows in prop::collection::vec((cell(), cell(), cell()), 1..6), b in 0usize..3) {
        let k = kind(7, 3);
        let fun = function(&k, &rows);
        let unknown = Type::var(var(90, k.kind()));
        let early = fun.reduce(&[unknown.clone(), member(&k, b)]);
        for a in 0..3 {
            let late = fun.reduce(&[member(&k, a), member(&k, b)]);
            match &early {
                Reduction::Reduced(ty) => {
                    let ty = ty.substitute(&HashMap::from_iter([(90, member(&k, a))]));
                    prop_assert_eq!(Reduction::Reduced(ty), late);
                }
                Reduction::NoArm => prop_assert_eq!(&Reduction::NoArm, &late),
                // The application is undecided: some member makes a difference to some arm.
                _ => prop_assert_eq!(&Reduction::Stuck, &early),
            }
        }
    }

    /// Early and late reduction agree on types of every form, and a pattern that matches equals the
    /// type.
    #[test]
    fn early_is_late(
        patterns in prop::collection::vec(small_type(11), 1..4),
        subject in small_type(1),
        ground in ground(),
    ) {
        let binds: Vec<TypeVar> =
            vec![var(11, Kind::Type), var(12, Kind::Type), var(13, Kind::Compact)];
        let arms: Vec<TypeArm> = patterns
            .iter()
            .enumerate()
            .map(|(i, pattern)| TypeArm {
                patterns: vec![pattern.clone()],
                binds: binds.clone(),
                result: Type::array(Type::int(), Type::unit_sum(i)),
                refusal: None,
            })
            .collect();
        for arm in &arms {
            let late = subject.substitute(&ground);
            let (fit, found) = arm.fit(std::slice::from_ref(&subject));
            match fit {
                Fit::Matches => {
                    prop_assert_eq!(&arm.patterns[0].substitute(&found), &subject);
                    prop_assert_eq!(arm.fit(&[late]).0, Fit::Matches);
                }
                Fit::Apart => prop_assert_eq!(arm.fit(&[late]).0, Fit::Apart),
                Fit::Undecided => {}
            }
            prop_assert!(arm.fit(&[subject.substitute(&ground)]).0 != Fit::Undecided);
        }
        let own = var(50, Kind::Type);
        let fun = TypeFun::declare(51, "f".into(), vec![own.clone()], Kind::Type, Vec::new());
        fun.define(Meaning::Match(vec![Type::var(own)], arms));
        let early = Type::apply(fun.clone(), vec![subject.clone()]).substitute(&ground);
        let late = Type::apply(fun, vec![subject.substitute(&ground)]);
        prop_assert_eq!(early, late);
    }
}

/// Returns `typefun f(T) => …` with one arm for everything.
fn endless(result: impl Fn(Type) -> Type) -> (TypeFun, Type) {
    let (own, bound) = (var(1, Kind::Type), var(2, Kind::Type));
    let fun = TypeFun::declare(3, "grow".into(), vec![own.clone()], Kind::Type, Vec::new());
    let call = |arg| Type::apply(fun.clone(), vec![arg]);
    let result =
        result(call(Type::product(vec![Type::var(bound.clone()), Type::var(bound.clone()), Type::int()])));
    let arm = TypeArm { patterns: vec![Type::var(bound.clone())], binds: vec![bound], result, refusal: None };
    fun.define(Meaning::Match(vec![Type::var(own)], vec![arm]));
    let ty = Type::apply(fun.clone(), vec![Type::real()]);
    (fun, ty)
}

/// Fuel ends endless reductions at once, and leaves the application as written.
#[test]
fn endless_reductions_end() {
    for (fun, ty) in
        [endless(|call| call), endless(|call| Type::product(vec![call.clone(), Type::int(), call]))]
    {
        assert_eq!(fun.reduce(&[Type::real()]), Reduction::OutOfFuel);
        assert_eq!(ty.to_string(), "grow(real)");
        // A repeated reduction does not make it grow.
        let again = ty.substitute(&HashMap::from_iter([(9, Type::int())]));
        assert_eq!(again, ty);
    }
}

/// Under an abstract type only its functorial arguments may change.
#[test]
fn derivations_work_under_layouts() {
    let n = |k: u32| Type::unit_sum(k);
    let six = ty("3 \\* 2");
    let a = abstract_type(ty("(int * real) * int"), six.clone(), n(5));
    let b = abstract_type(ty("int * (real * int)"), n(6), n(5));
    let comparison = compare(&a, &b);
    assert_eq!(comparison.verdict, Verdict::Natural);
    assert_eq!(comparison.witness.map(|w| verify(&a, &b, &w).ok()), Some(Some(Verdict::Natural)));
    let c = abstract_type(ty("int * real"), n(5), six.clone());
    let d = abstract_type(ty("int * real"), n(5), n(6));
    assert_eq!(verdict(&c, &d), Verdict::Different);
    // A derivation that changes the last argument is refused.
    let mut linear = Witness::identity(&six);
    linear.apply_law(Law::Linearize, n(6));
    let mut forged = Witness::identity(&c);
    forged.apply_inside(vec![(2, Arc::new(linear.clone()))]);
    assert_eq!(forged.to, d);
    assert!(verify(&c, &d, &forged).is_err());
    let mut honest = Witness::identity(&abstract_type(variable("T"), six, n(5)));
    honest.apply_inside(vec![(1, Arc::new(linear))]);
    assert!(verify(&honest.from, &honest.to, &honest).is_ok());
}

/// A hidden representation is unknown to the decision procedure, the search and the verification
/// alike.
#[test]
fn representations_can_be_hidden() {
    let (t, i) = (var(1, Kind::Type), var(2, Kind::Compact));
    let stored = Type::array(Type::var(t.clone()), Type::var(i.clone()));
    let nominal = Nominal::declare(9, "Cipher".into(), vec![t, i], Kind::Type);
    let known = Abstract { layout: vec![false, true], representation: Some(stored) };
    nominal.define(NominalBody::Abstract(known));
    let cipher = |t: Type, i: Type| Type::nominal(nominal.clone(), vec![t, i]);
    let (a, b) = (cipher(Type::int(), ty("3 \\* 2")), ty("int ^ 6"));
    let proof = compare(&a, &b).witness.expect("derived");
    assert_eq!(verify(&a, &b, &proof).ok(), Some(Verdict::Natural));
    with_hidden_representations(vec![9], || {
        assert_eq!(verdict(&a, &b), Verdict::Different);
        assert!(verify(&a, &b, &proof).is_err());
        assert_eq!(verdict(&a, &cipher(Type::int(), Type::unit_sum(6u32))), Verdict::Natural);
        assert_eq!(verdict(&a, &cipher(ty("int ^ 1"), ty("3 \\* 2"))), Verdict::Different);
    });
    assert_eq!(verdict(&a, &cipher(ty("int ^ 1"), Type::unit_sum(6u32))), Verdict::Natural);
}

/// A size given by a stuck type function may be 0 or 1, like that of a variable.
#[test]
fn open_sizes_may_be_small() {
    let (own, n) = (var(1, Kind::Compact), Type::var(var(2, Kind::Compact)));
    let fun = TypeFun::declare(3, "f".into(), vec![own.clone()], Kind::Compact, Vec::new());
    let arm = |pattern, result| TypeArm { patterns: vec![pattern], binds: Vec::new(), result, refusal: None };
    let arms = vec![arm(Type::unit_sum(3u32), Type::void())];
    fun.define(Meaning::Match(vec![Type::var(own)], arms));
    let size = Type::apply(fun, vec![n]);
    assert_eq!(size.to_string(), "f(v2)");
    let zero_to_it = Type::compact_power(Type::void(), size.clone());
    assert_eq!(verdict(&zero_to_it, &Type::void()), Verdict::Different);
    assert_eq!(verdict(&Type::array(Type::void(), size.clone()), &Type::void()), Verdict::Different);
    let twice = Type::compact_product(vec![size.clone(), size.clone()]);
    assert_eq!(verdict(&twice, &Type::compact_power(size.clone(), Type::unit_sum(2u32))), Verdict::Equal);
    let sum = Type::compact_sum(vec![size.clone(), size.clone()]);
    let product = Type::compact_product(vec![Type::unit_sum(2u32), size]);
    assert_eq!(verdict(&sum, &product), Verdict::Natural);
}

/// Returns a type function over three members given by its whole table; a hole in the table has no
/// arm, or an arm that is a refusal.
fn tabled(id: u32, k: &FiniteKind, table: &[Option<usize>]) -> TypeFun {
    let params = vec![var(id * 10 + 1, k.kind()), var(id * 10 + 2, k.kind())];
    let subjects = params.iter().cloned().map(Type::var).collect();
    let arms = table.iter().enumerate().filter_map(|(at, result)| {
        let patterns = vec![member(k, at / 3), member(k, at % 3)];
        let (result, refusal) = match result {
            Some(result) => (member(k, *result), None),
            None if at % 2 == 0 => (Type::error(), Some(Refusal { pieces: vec![Ok("no".into())] })),
            None => return None,
        };
        Some(TypeArm { patterns, binds: Vec::new(), result, refusal })
    });
    let fun = TypeFun::declare(id, format!("f{id}").into(), params, k.kind(), vec![k.clone()]);
    fun.define(Meaning::Match(subjects, arms.collect()));
    fun
}

/// An expression over members, three variables and two functions.
#[derive(Clone, Debug)]
enum Tree {
    Member(usize),
    Var(usize),
    Call(usize, Box<Tree>, Box<Tree>),
}

impl Tree {
    fn ty(&self, k: &FiniteKind, funs: &[TypeFun], vars: &[Type]) -> Type {
        match self {
            Tree::Member(m) => member(k, *m),
            Tree::Var(v) => vars[*v].clone(),
            Tree::Call(f, a, b) => {
                Type::apply(funs[*f].clone(), vec![a.ty(k, funs, vars), b.ty(k, funs, vars)])
            }
        }
    }

    /// Returns its value by lookup in the tables.
    fn value(&self, tables: &[Vec<Option<usize>>], vars: &[usize]) -> Option<usize> {
        match self {
            Tree::Member(m) => Some(*m),
            Tree::Var(v) => Some(vars[*v]),
            Tree::Call(f, a, b) => tables[*f][a.value(tables, vars)? * 3 + b.value(tables, vars)?],
        }
    }
}

fn tree() -> impl Strategy<Value = Tree> {
    let leaf = prop_oneof![(0usize..3).prop_map(Tree::Member), (0usize..3).prop_map(Tree::Var)];
    leaf.prop_recursive(3, 10, 2, |inner| {
        (0usize..2, inner.clone(), inner).prop_map(|(f, a, b)| Tree::Call(f, a.into(), b.into()))
    })
}

/// Generates tables of two functions; some are commutative, some have holes.
fn tables() -> impl Strategy<Value = Vec<Vec<Option<usize>>>> {
    let whole = prop::collection::vec((0usize..3).prop_map(Some), 9);
    let symmetric = whole.clone().prop_map(|mut table| {
        for (a, b) in [(1, 0), (2, 0), (2, 1)] {
            table[a * 3 + b] = table[b * 3 + a];
        }
        table
    });
    let least = Just((0..9).map(|at| Some((at / 3usize).min(at % 3))).collect::<Vec<_>>());
    let holed = prop::collection::vec(prop_oneof![3 => (0usize..3).prop_map(Some), 1 => Just(None)], 9);
    let one = prop_oneof![2 => whole, 2 => symmetric, 1 => least, 1 => holed];
    prop::collection::vec(one, 2)
}

fn all_rows() -> impl Iterator<Item = [usize; 3]> {
    (0..27).map(|row| [row / 9, row / 3 % 3, row % 3])
}

proptest! {
    #![proptest_config(config())]

    /// Expressions over a declared kind are equal types iff all rows of their tables are equal. An
    /// expression with the same member in every row is that member; one with the member of a
    /// variable in every row is the variable.
    #[test]
    fn equal_tables_are_equal_types(tables in tables(), a in tree(), b in tree()) {
        let k = kind(7, 3);
        let funs = [tabled(3, &k, &tables[0]), tabled(4, &k, &tables[1])];
        let vars: Vec<Type> = (100..103).map(|v| Type::var(var(v, k.kind()))).collect();
        let (s, t) = (a.ty(&k, &funs, &vars), b.ty(&k, &funs, &vars));
        let values = |tree: &Tree| all_rows().map(|row| tree.value(&tables, &row)).collect::<Vec<_>>();
        let (x, y) = (values(&a), values(&b));
        let whole = x.iter().chain(&y).all(Option::is_some);
        if whole {
            prop_assert_eq!(s == t, x == y, "{} and {}", s, t);
            for m in 0..3 {
                prop_assert_eq!(s == member(&k, m), x.iter().all(|value| *value == Some(m)));
                let var = all_rows().map(|row| Some(row[m])).eq(x.iter().copied());
                prop_assert_eq!(s == vars[m], var);
            }
        }
        // Early and late reduction agree.
        for row in all_rows() {
            let members: Vec<Type> = row.iter().map(|m| member(&k, *m)).collect();
            let ground: HashMap<u32, Type> = (100..103).zip(members.iter().cloned()).collect();
            let (early, late) = (s.substitute(&ground), a.ty(&k, &funs, &members));
            match a.value(&tables, &row) {
                Some(m) => prop_assert_eq!((early, late), (member(&k, m), member(&k, m))),
                None => prop_assert!(early.has_apply() && late.has_apply()),
            }
        }
    }

    /// The solution of an equation agrees with enumeration: the first two variables are holes here,
    /// the third is rigid.
    #[test]
    fn equations_are_solved_by_their_tables(tables in tables(), a in tree(), b in tree()) {
        let k = kind(7, 3);
        let funs = [tabled(3, &k, &tables[0]), tabled(4, &k, &tables[1])];
        let metas = [Type::meta(0, k.kind()), Type::meta(1, k.kind())];
        let rigid = Type::var(var(102, k.kind()));
        let vars = [metas[0].clone(), metas[1].clone(), rigid.clone()];
        let (s, t) = (a.ty(&k, &funs, &vars), b.ty(&k, &funs, &vars));
        if !(s.has_apply() || t.has_apply()) {
            return Ok(());
        }
        let holds = |row: [usize; 3]| {
            let (x, y) = (a.value(&tables, &row), b.value(&tables, &row));
            x.is_some() && x == y
        };
        let says = table::solve_equation(&s, &t);
        // For each member of the rigid variable, the members that make the equation true.
        let solutions: Vec<Vec<[usize; 2]>> = (0..3)
            .map(|r| (0..9).map(|h| [h / 3, h % 3]).filter(|h| holds([h[0], h[1], r])).collect())
            .collect();
        if s.has_meta() || t.has_meta() {
            let never = solutions.iter().any(Vec::is_empty);
            prop_assert_eq!(says == Some(TableAnswer::Never), never, "{} = {}: {:?}", s, t, &says);
        }
        if let Some(TableAnswer::Always) = says {
            prop_assert!(all_rows().all(holds));
        }
        if let Some(TableAnswer::Solved(solved)) = says {
            for (meta, ty) in solved {
                for (r, solutions) in solutions.iter().enumerate() {
                    let value = if ty == rigid { member(&k, r) } else { ty.clone() };
                    let at = meta.id as usize;
                    prop_assert!(solutions.iter().all(|found| member(&k, found[at]) == value));
                }
            }
        }
    }
}
