//! Properties of the language, over random types and values: types print and read back, values
//! print and read back at their type, reshapes keep every slot.

use crate::checker::run;
use felis_base::source::SourceMap;
use felis_calculus::types::{Triangle, Type};
use felis_check::check::{self, Env};
use proptest::prelude::*;

/// Numbers from a seed (xorshift), so that a failing case is one number.
struct Dice(u64);

impl Dice {
    fn new(seed: u64) -> Dice {
        Dice(seed | 1)
    }

    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 20) as usize % sides
    }

    fn pick<'t, T>(&mut self, of: &'t [T]) -> &'t T {
        &of[self.roll(of.len())]
    }
}

/// Returns a compact linear type.
fn compact(dice: &mut Dice, depth: u32) -> Type {
    let many = |dice: &mut Dice| {
        let n = 2 + dice.roll(2);
        (0..n).map(|_| compact(dice, depth - 1)).collect::<Vec<_>>()
    };
    match dice.roll(if depth == 0 { 4 } else { 9 }) {
        8 => Type::triangle(*dice.pick(&Triangle::ALL), compact(dice, depth - 1)),
        0..=2 => Type::unit_sum(dice.roll(6)),
        3 => Type::unit_sum(*dice.pick(&[255u64, 256, 257, 65_536, 1 << 32, u64::MAX])),
        4 | 5 => Type::compact_product(many(dice)),
        6 => Type::compact_sum(many(dice)),
        _ => Type::compact_power(compact(dice, depth - 1), compact(dice, depth - 1)),
    }
}

/// Returns a type without declared ones.
fn any_type(dice: &mut Dice, depth: u32) -> Type {
    let many = |dice: &mut Dice| {
        let n = 2 + dice.roll(3);
        (0..n).map(|_| any_type(dice, depth - 1)).collect::<Vec<_>>()
    };
    match dice.roll(if depth == 0 { 5 } else { 13 }) {
        0 => Type::int(),
        1 => Type::real(),
        2 => Type::string(),
        3 => Type::bigint(),
        4 => compact(dice, depth),
        5 | 6 => Type::product(many(dice)),
        7 => Type::sum(many(dice)),
        8 => Type::repeat(compact(dice, depth - 1), any_type(dice, depth - 1)),
        9 | 10 => Type::array(any_type(dice, depth - 1), compact(dice, depth - 1)),
        11 => {
            let fields = many(dice).into_iter().enumerate();
            Type::record(fields.map(|(i, ty)| (format!("f{i}").into(), ty)).collect())
        }
        _ => {
            let domain = any_type(dice, depth - 1);
            let result = any_type(dice, depth - 1);
            // A function to `void` is a procedure.
            if result.is_void() { Type::procedure(domain) } else { Type::function(domain, result) }
        }
    }
}

/// Returns a type whose values can be compared.
fn data_type(dice: &mut Dice, depth: u32) -> Type {
    loop {
        let ty = any_type(dice, depth);
        if !ty.to_string().contains("->") {
            return ty;
        }
    }
}

fn read_type(text: &str) -> Result<Type, String> {
    let mut map = SourceMap::new();
    let source = map.add("type", text);
    let (tree, errors) = felis_syntax::syntax::parse_type(&source);
    let tree = tree.ok_or_else(|| format!("{errors:?}"))?;
    let (ty, said) = check::lower_type(&mut Env::new(), &tree, false);
    if said.is_empty() { Ok(ty) } else { Err(format!("{said:?}")) }
}

/// A type with a value of it: an expression, and the text that `_strr` must return.
struct Sample {
    ty: Type,
    expr: String,
    text: String,
}

fn sample(ty: Type, expr: impl Into<String>, text: impl Into<String>) -> Sample {
    Sample { ty, expr: expr.into(), text: text.into() }
}

/// Returns text in parentheses, unless it has its own.
fn argument(ty: &Type, text: &str) -> String {
    let own = ty.as_scalar().is_none() && (ty.is_unit() || text.starts_with('('));
    if own { text.to_string() } else { format!("({text})") }
}

fn compact_sample(dice: &mut Dice, depth: u32) -> Sample {
    match dice.roll(if depth == 0 { 3 } else { 7 }) {
        6 => {
            let ty = Type::triangle(*dice.pick(&Triangle::ALL), Type::unit_sum(2 + dice.roll(300)));
            let last = ty.size().expect("a size") - 1u32;
            let code = if dice.roll(2) == 0 { last } else { last / 2u32 };
            let (expr, text) = (format!("({code} :>> {ty})"), format!("({code}:>>{ty})"));
            sample(ty, expr, text)
        }
        0..=2 => {
            let n = *dice.pick(&[1u64, 2, 3, 7, 255, 256, 257, 65_537, 1 << 33, u64::MAX]);
            let k = if dice.roll(2) == 0 { n - 1 } else { dice.roll(n.min(1 << 30) as usize) as u64 };
            let ty = Type::unit_sum(n);
            match n {
                1 => sample(ty, "()", "()"),
                2 => sample(ty, ["false", "true"][k as usize], ["false", "true"][k as usize]),
                _ => sample(ty, format!("`{k}:{n}"), format!("case {k} of {n}")),
            }
        }
        3 | 4 => {
            let parts: Vec<Sample> = (0..2 + dice.roll(3)).map(|_| compact_sample(dice, depth - 1)).collect();
            let list =
                |f: fn(&Sample) -> &str| format!("({})", parts.iter().map(f).collect::<Vec<_>>().join("\\,"));
            let ty = Type::compact_product(parts.iter().map(|p| p.ty.clone()).collect());
            sample(ty, list(|s| &s.expr), list(|s| &s.text))
        }
        _ => {
            let n = 2 + dice.roll(3);
            let case = dice.roll(n);
            let mut cases: Vec<Type> = (0..n).map(|_| compact(dice, depth - 1)).collect();
            let inner = compact_sample(dice, depth - 1);
            cases[case] = inner.ty.clone();
            let text = argument(&inner.ty, &inner.text);
            sample(
                Type::compact_sum(cases),
                format!("case {case} ({})", inner.expr),
                format!("case {case} {text}"),
            )
        }
    }
}

/// Returns a sample. Arrays are indexed by unit sums, because others have no literals.
fn any_sample(dice: &mut Dice, depth: u32) -> Sample {
    match dice.roll(if depth == 0 { 6 } else { 13 }) {
        0 => {
            let n = *dice.pick(&[0i64, 1, -1, 42, -1_000_000, i64::MAX, i64::MIN]);
            sample(Type::int(), n.to_string(), n.to_string())
        }
        1 => {
            let (expr, text) = dice.pick(&[
                ("0.0", "0.0"),
                ("-0.0", "-0.0"),
                ("1.5", "1.5"),
                ("-2.25", "-2.25"),
                ("1e300", "1e300"),
                ("-1e-300", "-1e-300"),
                ("0.1", "0.1"),
                ("1.0 / 0.0", "(1.0/0.0)"),
                ("-1.0 / 0.0", "(-1.0/0.0)"),
            ]);
            sample(Type::real(), *expr, *text)
        }
        2 => {
            let text = *dice.pick(&[
                "",
                "a b",
                "äöü漢🎉",
                "(1,2)",
                "case 1",
                "//",
                "\\\\ \\\" \\n\\t\\r\\0",
                "\\u{7}",
            ]);
            sample(Type::string(), format!("\"{text}\""), format!("\"{text}\""))
        }
        3 => {
            let n = ["0", "-5", "123456789012345678901234567890", "-98765432109876543210"][dice.roll(4)];
            sample(Type::bigint(), n, n)
        }
        4 | 5 => compact_sample(dice, depth.min(2)),
        6 | 7 => {
            let parts: Vec<Sample> = (0..2 + dice.roll(3)).map(|_| any_sample(dice, depth - 1)).collect();
            let list =
                |f: fn(&Sample) -> &str| format!("({})", parts.iter().map(f).collect::<Vec<_>>().join(","));
            let ty = Type::product(parts.iter().map(|p| p.ty.clone()).collect());
            sample(ty, list(|s| &s.expr), list(|s| &s.text))
        }
        8 | 9 => {
            let n = 2 + dice.roll(3);
            let case = dice.roll(n);
            let mut cases: Vec<Type> = (0..n).map(|_| data_type(dice, depth - 1)).collect();
            let inner = any_sample(dice, depth - 1);
            cases[case] = inner.ty.clone();
            let ty = Type::sum(cases);
            injection(ty, case, &inner)
        }
        10 => {
            let n = 2 + dice.roll(1_000_000);
            let case = dice.roll(n);
            let inner = any_sample(dice, depth - 1);
            injection(Type::repeat(Type::unit_sum(n), inner.ty.clone()), case, &inner)
        }
        11 => {
            let inner = any_sample(dice, depth - 1);
            let n = dice.roll(4);
            let list = |text: &str| {
                let all = vec![text; n].join(",");
                if n < 2 { format!("[{all}]") } else { format!("({all})") }
            };
            sample(Type::array(inner.ty.clone(), Type::unit_sum(n)), list(&inner.expr), list(&inner.text))
        }
        _ => {
            let parts: Vec<Sample> = (0..2 + dice.roll(2)).map(|_| any_sample(dice, depth - 1)).collect();
            let list = |f: fn(&Sample) -> &str| {
                let all: Vec<String> =
                    parts.iter().enumerate().map(|(i, p)| format!("f{i}={}", f(p))).collect();
                format!("({})", all.join(","))
            };
            let fields = parts.iter().enumerate().map(|(i, p)| (format!("f{i}").into(), p.ty.clone()));
            sample(Type::record(fields.collect()), list(|s| &s.expr), list(|s| &s.text))
        }
    }
}

fn injection(ty: Type, case: usize, inner: &Sample) -> Sample {
    if let Some(n) = ty.as_unit_sum() {
        // `1 + 1 + 1` is `3`.
        return match ty.is_bool() {
            true => sample(ty, ["false", "true"][case], ["false", "true"][case]),
            false => sample(ty.clone(), format!("`{case}:{n}"), format!("case {case} of {n}")),
        };
    }
    let text = argument(&inner.ty, &inner.text);
    sample(ty, format!("case {case} ({})", inner.expr), format!("case {case} {text}"))
}

/// Returns the messages and the output of a program.
fn result(text: &str) -> (String, String) {
    let outcome = run("law.flx", text, true);
    (outcome.output, outcome.shown)
}

/// Returns a random grouping of slots into tuples.
fn grouped(dice: &mut Dice, slots: &[Type]) -> Type {
    if slots.len() < 2 {
        return Type::product(slots.to_vec());
    }
    let mut parts = Vec::new();
    let mut rest = slots;
    while !rest.is_empty() {
        let n = if parts.is_empty() { 1 + dice.roll(rest.len() - 1) } else { 1 + dice.roll(rest.len()) };
        let (group, later) = rest.split_at(n);
        parts.push(grouped(dice, group));
        rest = later;
    }
    Type::product(parts)
}

/// Returns a compact type with `n` values.
fn of_size(dice: &mut Dice, n: usize) -> Type {
    let divisors: Vec<usize> = (2..n).filter(|d| n.is_multiple_of(*d)).collect();
    match dice.roll(3) {
        0 if !divisors.is_empty() => {
            let d = *dice.pick(&divisors);
            Type::compact_product(vec![of_size(dice, d), of_size(dice, n / d)])
        }
        1 if n > 1 => {
            let d = 1 + dice.roll(n - 1);
            Type::compact_sum(vec![of_size(dice, d), of_size(dice, n - d)])
        }
        _ => Type::unit_sum(n),
    }
}

/// Returns a type with the storage of `element ^ n`.
fn array_of(dice: &mut Dice, element: &Type, n: usize) -> Type {
    let divisors: Vec<usize> = (1..=n).filter(|d| n.is_multiple_of(*d)).collect();
    match dice.roll(4) {
        0 if n > 1 => {
            let d = 1 + dice.roll(n - 1);
            Type::product(vec![array_of(dice, element, d), array_of(dice, element, n - d)])
        }
        1 | 2 => {
            let d = *dice.pick(&divisors);
            let inner = if n > 1 && d < n { array_of(dice, element, d) } else { element.clone() };
            let outer = if n > 1 && d < n { n / d } else { n };
            Type::array(inner, of_size(dice, outer))
        }
        _ => Type::array(element.clone(), of_size(dice, n)),
    }
}

fn without_brackets(text: &str) -> String {
    text.chars().filter(|c| !"()[]".contains(*c)).collect()
}

/// Prints a value at its type, and after each reshape of a chain: the slots must stay.
fn slots_stay(expr: &str, types: &[Type]) -> Result<(), String> {
    let mut program = format!("val x0 : {} = {expr};\nprintln (x0._strr);\n", types[0]);
    for (i, ty) in types.iter().enumerate().skip(1) {
        program.push_str(&format!("val x{i} = x{} :>> ({ty});\nprintln (x{i}._strr);\n", i - 1));
    }
    let (output, shown) = result(&program);
    // Relabeled axes are reported by a note, which is expected here.
    if shown.contains("Error") || shown.contains("Warning") {
        return Err(format!("{program}\n{shown}"));
    }
    let lines: Vec<String> = output.lines().map(without_brackets).collect();
    if lines.len() == types.len() && lines.iter().all(|l| *l == lines[0]) {
        return Ok(());
    }
    Err(format!("{program}\n{output}"))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn types_print_and_read_back(seed in any::<u64>(), depth in 0u32..5) {
        let ty = any_type(&mut Dice::new(seed), depth);
        prop_assume!(ty.nodes() < 2_000);
        let text = ty.to_string();
        prop_assert_eq!(read_type(&text), Ok(ty), "{}", text);
    }

    #[test]
    fn values_print_and_read_back(seed in any::<u64>(), depth in 0u32..4) {
        let Sample { ty, expr, text } = any_sample(&mut Dice::new(seed), depth);
        let program = format!("val x : {ty} = {expr};\nprintln (x._strr);\n");
        let (output, shown) = result(&program);
        // A sum of one small and one uncountable type.
        prop_assume!(!shown.contains("E0514"));
        prop_assert_eq!(&shown, "", "{}", program);
        prop_assert_eq!(output.trim_end_matches('\n'), &text, "{}", program);
        let program = format!("val x : {ty} = {text};\nval y : {ty} = {expr};\nprintln (x._strr);\nprintln (x == y);\n");
        let (output, shown) = result(&program);
        // A sum of one small and one uncountable type.
        prop_assume!(!shown.contains("E0514"));
        prop_assert_eq!(&shown, "", "{}", program);
        prop_assert_eq!(output, format!("{text}\ntrue\n"), "{}", program);
    }

    #[test]
    fn regrouping_keeps_slots(seed in any::<u64>(), count in 1usize..9) {
        let mut dice = Dice::new(seed);
        let slots: Vec<Sample> = (0..count)
            .map(|i| match dice.roll(5) {
                0 => sample(Type::int(), i.to_string(), ""),
                1 => sample(Type::real(), format!("{i}.5"), ""),
                2 => sample(Type::string(), format!("\"s{i}\""), ""),
                3 => sample(Type::bool(), "true", ""),
                _ => sample(Type::unit_sum(9u32), format!("`{i}:9"), ""),
            })
            .collect();
        let types: Vec<Type> = slots.iter().map(|s| s.ty.clone()).collect();
        let expr = slots.iter().map(|s| s.expr.as_str()).collect::<Vec<_>>().join(", ");
        let mut chain = vec![Type::product(types.clone())];
        chain.extend((0..4).map(|_| grouped(&mut dice, &types)));
        slots_stay(&format!("({expr})"), &chain).map_err(TestCaseError::fail)?;
    }

    #[test]
    fn reindexing_keeps_slots(seed in any::<u64>(), n in 2usize..25, wide in any::<bool>()) {
        let mut dice = Dice::new(seed);
        let element = if wide { Type::product(vec![Type::int(), Type::string()]) } else { Type::int() };
        let item = |i: usize| if wide { format!("({i}, \"s\")") } else { i.to_string() };
        let expr = (0..n).map(item).collect::<Vec<_>>().join(", ");
        let mut chain = vec![Type::array(element.clone(), Type::unit_sum(n))];
        chain.extend((0..4).map(|_| array_of(&mut dice, &element, n)));
        slots_stay(&format!("({expr})"), &chain).map_err(TestCaseError::fail)?;
    }

    #[test]
    fn codes_come_back(seed in any::<u64>(), depth in 0u32..4) {
        let Sample { ty, expr, .. } = compact_sample(&mut Dice::new(seed), depth);
        let program = format!(
            "val x : {ty} = {expr};\nval n = x :>> bigint;\nprintln ((n :>> {ty}) == x);\n\
             val a : ({ty}) ^ 3 = (x, x, x);\nprintln (a.1 == x);\nprintln ((x, 1, x).2 == x);\n"
        );
        let (output, shown) = result(&program);
        // A sum of one small and one uncountable type.
        prop_assume!(!shown.contains("E0514"));
        prop_assert_eq!(&shown, "", "{}", program);
        prop_assert_eq!(output, "true\ntrue\ntrue\n", "{}", program);
    }
}
