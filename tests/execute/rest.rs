//! Products with a first component and a rest: programs over random tuples and random axes against
//! results computed by the test, the same in every executor; and matching of `A * ..R` against all
//! splits.
//!
//! `FELIS_SEED` repeats a run.

use crate::random::{Dice, run};
use felis_base::hash::HashMap;
use felis_calculus::types::{Kind, ProductForm, Type, TypeVar, matching::matching};
use std::cmp::Ordering;

/// A type that a component may have.
#[derive(Clone, PartialEq)]
enum Part {
    Int,
    Text,
    Real,
    Tuple(Vec<Part>),
}

/// A value of such a type.
#[derive(Clone, PartialEq)]
enum Value {
    Int(i64),
    Text(String),
    Real(i64),
    Tuple(Vec<Value>),
}

impl Part {
    fn random(dice: &mut Dice, depth: usize) -> Part {
        match dice.roll(if depth == 0 { 3 } else { 5 }) {
            0 => Part::Int,
            1 => Part::Text,
            2 => Part::Real,
            _ => Part::Tuple((0..2 + dice.roll(3)).map(|_| Part::random(dice, depth - 1)).collect()),
        }
    }

    fn value(&self, dice: &mut Dice) -> Value {
        match self {
            Part::Int => Value::Int(dice.roll(3) as i64),
            Part::Text => Value::Text(["a", "b", "c"][dice.roll(3)].into()),
            Part::Real => Value::Real(dice.roll(3) as i64),
            Part::Tuple(parts) => Value::Tuple(parts.iter().map(|part| part.value(dice)).collect()),
        }
    }

    fn ty(&self) -> Type {
        match self {
            Part::Int => Type::int(),
            Part::Text => Type::string(),
            Part::Real => Type::real(),
            Part::Tuple(parts) => Type::product(parts.iter().map(Part::ty).collect()),
        }
    }
}

impl Value {
    /// Returns the value as source text, or as printed.
    fn text(&self, quotes: bool) -> String {
        match self {
            Value::Int(n) => n.to_string(),
            Value::Real(n) => format!("{n}.5"),
            Value::Text(text) if quotes => format!("\"{text}\""),
            Value::Text(text) => text.clone(),
            Value::Tuple(parts) => tuple(parts, quotes),
        }
    }

    fn order(&self, other: &Value) -> Ordering {
        match (self, other) {
            (Value::Int(a), Value::Int(b)) | (Value::Real(a), Value::Real(b)) => a.cmp(b),
            (Value::Text(a), Value::Text(b)) => a.cmp(b),
            (Value::Tuple(a), Value::Tuple(b)) => a
                .iter()
                .zip(b)
                .map(|(a, b)| a.order(b))
                .find(|order| order.is_ne())
                .unwrap_or(Ordering::Equal),
            _ => Ordering::Equal,
        }
    }
}

/// Returns a tuple; a single component is written by itself.
fn tuple(parts: &[Value], quotes: bool) -> String {
    let texts: Vec<String> = parts.iter().map(|part| part.text(quotes)).collect();
    if let [only] = &texts[..] { only.clone() } else { format!("({})", texts.join(", ")) }
}

/// Generates a tuple of two components or more.
fn random_tuple(dice: &mut Dice, depth: usize) -> Vec<Part> {
    (0..2 + dice.roll(4)).map(|_| Part::random(dice, depth)).collect()
}

const FUNCTIONS: &str = "\
fun first[A, R](x:A * ..R):A { val (a, ..r) = x; return a; }
fun rest[A, R](x:A * ..R):..R => match x with | (_, ..r) => r endmatch;
fun again[A, R](x:A * ..R):A * ..R { val (a, ..r) = x; return (a, ..r); }
fun before[T, A, R](t:T, x:A * ..R):T * A * ..R => (t, ..x);
class Length[T] { fun length : T -> int; }
instance[A, B] Length[A * B] { fun length(x) => 2; }
instance[A, B, R with Length[B * ..R]] Length[A * B * ..R] { fun length(a, ..r) => 1 + length r; }
typefun last(T) => typematch T with | A * B => B | A * B * ..R => last(B * ..R) | A => A endmatch;
";

/// Computes a first component, the rest, both joined again, one component more, and the number of
/// components.
#[test]
fn tuples_are_taken_apart_and_put_together() {
    let mut dice = Dice::seeded();
    for _ in 0..12 {
        let (mut program, mut expected) = (FUNCTIONS.to_string(), String::new());
        for number in 0..12 {
            let parts = random_tuple(&mut dice, 2);
            let values: Vec<Value> = parts.iter().map(|part| part.value(&mut dice)).collect();
            let written = tuple(&values, true);
            program += &format!("val x{number} = {written};\n");
            program += &format!("println (first x{number}, rest x{number}, again x{number});\n");
            program += &format!("println (before ('c', x{number})); println (length x{number});\n");
            let last = values.last().expect("a component");
            program += &format!("val y{number} : last({}) = {};\n", type_of(&parts), last.text(true));
            let shown = tuple(&values, false);
            expected += &format!("({}, {}, {shown})\n", values[0].text(false), tuple(&values[1..], false));
            let inside = shown.trim_start_matches('(');
            let inside = if shown.starts_with("((") { &shown[1..] } else { inside };
            expected += &format!("(c, {inside}\n{}\n", values.len());
        }
        assert_eq!(run(&program), expected, "{program}");
    }
}

/// Returns the type of a tuple as source text.
fn type_of(parts: &[Part]) -> String {
    let text = |part: &Part| match part {
        Part::Int => "int".to_string(),
        Part::Text => "string".to_string(),
        Part::Real => "real".to_string(),
        Part::Tuple(parts) => format!("({})", type_of(parts)),
    };
    parts.iter().map(text).collect::<Vec<_>>().join(" * ")
}

/// The library orders tuples by the first components that differ.
#[test]
fn tuples_are_sorted_by_their_components() {
    let mut dice = Dice::seeded();
    let (mut program, mut expected) = (String::new(), String::new());
    for _ in 0..30 {
        let parts = random_tuple(&mut dice, 2);
        let mut all: Vec<Value> =
            (0..2 + dice.roll(6)).map(|_| Part::Tuple(parts.clone()).value(&mut dice)).collect();
        program += &format!("println (sort {});\n", tuple(&all, true));
        let (a, b) = (&all[0], &all[1]);
        program += &format!("println (({} < {}), max ({0}, {1}));\n", a.text(true), b.text(true));
        let larger = if a.order(b).is_lt() { b } else { a };
        let compared = format!("({}, {})\n", a.order(b).is_lt(), larger.text(false));
        all.sort_by(Value::order);
        expected += &format!("{}\n{compared}", tuple(&all, false));
    }
    assert_eq!(run(&program), expected, "{program}");
}

/// Rows of an array of any rank, and indices split at the first axis.
#[test]
fn axes_are_split_at_the_first() {
    let mut dice = Dice::seeded();
    let mut program = "\
fun first_axis[N:COMPACTLINEAR, R:COMPACTLINEAR](i:N \\* ..R):int { val (n \\, ..r) = i; return n :>> int; }
fun other_axes[N:COMPACTLINEAR, R:COMPACTLINEAR](i:N \\* ..R):int { val (n \\, ..r) = i; return r :>> int; }
fun joined[N:COMPACTLINEAR, R:COMPACTLINEAR](i:N \\* ..R):N \\* ..R { val (n \\, ..r) = i; return (n \\, ..r); }
"
    .to_string();
    let mut expected = String::new();
    for _ in 0..20 {
        let axes: Vec<usize> = (0..1 + dice.roll(4)).map(|_| 2 + dice.roll(3)).collect();
        let text = axes.iter().map(usize::to_string).collect::<Vec<_>>().join(" \\* ");
        let (rows, size) = (axes[0], axes.iter().product::<usize>());
        let row = size / rows;
        program += &format!("println (map_rows sum #iota[{text}]);\n");
        let sums: Vec<String> =
            (0..rows).map(|n| (n * row..(n + 1) * row).sum::<usize>().to_string()).collect();
        expected += &format!("({})\n", sums.join(", "));
        let code = dice.roll(size);
        let index = format!("(`{code}:{size} :>> ({text}))");
        program += &format!("println (first_axis {index}, other_axes {index}, joined {index} == {index});\n");
        expected += &format!("({}, {}, true)\n", code / row, code % row);
    }
    assert_eq!(run(&program), expected, "{program}");
}

/// A tuple matches `A * ..R` in exactly one way, the split that rebuilds it; no other type matches.
#[test]
fn matching_splits_in_one_way() {
    let mut dice = Dice::seeded();
    let var = |id, name: &str, kind| TypeVar { id, name: name.into(), kind };
    let (a, r) = (var(1, "A", Kind::Type), var(2, "R", Kind::List(ProductForm::Tuple)));
    let list = Type::list(ProductForm::Tuple, vec![Type::var(a.clone())], Some(Type::var(r.clone())));
    let pattern = Type::product_of(list);
    let vars = [a, r];
    for _ in 0..2_000 {
        let part = Part::random(&mut dice, 3);
        let ty = part.ty();
        let found = matching(&vars, std::slice::from_ref(&pattern), std::slice::from_ref(&ty));
        let Part::Tuple(parts) = part else {
            assert!(found.is_none(), "{ty}");
            continue;
        };
        let bindings = found.unwrap_or_else(|| panic!("{ty} is a tuple")).bindings;
        assert_eq!(bindings[&1], parts[0].ty());
        let rest = parts[1..].iter().map(Part::ty).collect();
        assert_eq!(bindings[&2], Type::list(ProductForm::Tuple, rest, None));
        assert_eq!(pattern.substitute(&bindings), ty);
        // Every other split rebuilds another type.
        for at in 1..parts.len() - 1 {
            let front = Type::product(parts[..=at].iter().map(Part::ty).collect());
            let rest = parts[at + 1..].iter().map(Part::ty).collect();
            let rest = Type::list(ProductForm::Tuple, rest, None);
            let other = HashMap::from_iter([(1, front), (2, rest)]);
            assert_ne!(pattern.substitute(&other), ty);
        }
    }
}
