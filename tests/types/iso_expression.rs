//! Expressions that messages suggest for moving storage: over random pairs of types, the checker
//! accepts the suggested expression at the wanted type; with values, the conversion there and back
//! is the identity. Suggestions discard no labels.

use crate::iso_support::random::{Reach, any_type, rewrite};
use crate::iso_support::{ty, variable};
use felis::session::{Mode, Session};
use felis_base::diagnostic::Diagnostic;
use felis_calculus::iso::{LabelLoss, Verdict, compare, label_loss, verdict};
use felis_calculus::types::{Type, TypeKind};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;

/// Returns the expression in a help, as a reader of the message would take it.
fn expression(help: &str) -> Option<&str> {
    help.contains("where `v` is the value").then(|| help.split('`').nth(1)).flatten()
}

fn help(a: &Type, b: &Type) -> Option<String> {
    compare(a, b).explanation().2
}

/// Returns a session with the abstract type of the random types.
fn session() -> Session {
    let mut session = Session::new();
    let text = "type F[T, I:COMPACTLINEAR, J:COMPACTLINEAR] layout T, I;";
    let done = session.evaluate("types", text, Mode::Script, &mut |_| {});
    assert!(!done.diagnostics.iter().any(Diagnostic::is_error), "{:?}", done.diagnostics);
    session
}

/// Returns the errors of a function from one type to the other.
fn refused(session: &mut Session, a: &Type, b: &Type, body: &str) -> Option<String> {
    let text = format!("fun made[N:COMPACTLINEAR, M:COMPACTLINEAR, T](v:{a}):{b} => {body};");
    let done = session.check("made", &text);
    let shown: String =
        done.diagnostics.iter().filter(|d| d.is_error()).map(|d| session.render(d, false)).collect();
    (!shown.is_empty()).then(|| format!("{text}\n{shown}"))
}

fn mentions(ty: &Type, which: &dyn Fn(&Type) -> bool) -> bool {
    let mut found = which(ty);
    ty.kind().for_each_child(&mut |child| found = found || mentions(child, which));
    found
}

/// Returns the text of a value of a type without variables, with distinct numbers at distinct
/// places.
fn value(ty: &Type, number: &str, depth: usize) -> Option<String> {
    if ty.is_compact() {
        let size = ty.size().ok().filter(|size| *size > 0u8.into() && *size < 1000u32.into())?;
        return Some(format!("((({number}) % {size}) :>> ({ty}))"));
    }
    Some(match ty.kind() {
        TypeKind::Scalar(_) if *ty == Type::int() => format!("({number})"),
        TypeKind::Scalar(_) if *ty == Type::real() => format!("(({number}) :> real)"),
        TypeKind::Scalar(_) if *ty == Type::string() => format!("({number}).str"),
        TypeKind::Product(parts) => {
            let parts = parts.iter().enumerate();
            let parts: Option<Vec<String>> =
                parts.map(|(i, part)| value(part, &format!("{number} + {}", 10 * i + 1), depth)).collect();
            format!("({})", parts?.join(", "))
        }
        TypeKind::Record(fields) => {
            let fields = fields.iter().enumerate().map(|(i, (name, part))| {
                Some(format!("{name} = {}", value(part, &format!("{number} + {}", 7 * i + 2), depth)?))
            });
            format!("({})", fields.collect::<Option<Vec<_>>>()?.join(", "))
        }
        TypeKind::Array(element, index) => {
            index.size().ok().filter(|size| *size < 50u32.into())?;
            let i = format!("i{depth}");
            let inner = value(element, &format!("{number} + 3 * ({i} :>> int)"), depth + 1)?;
            format!("[ {inner} for {i} in ..[{index}] ]")
        }
        TypeKind::Sum(cases) => {
            let at = cases.iter().position(|case| !case.is_compact())?;
            format!("((case {at} of ({ty})) {})", value(&cases[at], number, depth)?)
        }
        TypeKind::Repeat(n, case) if n.is_at_least_two() => {
            format!("((case 1 of ({ty})) {})", value(case, number, depth)?)
        }
        _ => return None,
    })
}

/// Generates small types of the forms in which storage is moved.
fn small_type() -> BoxedStrategy<Type> {
    let leaf = prop_oneof![
        3 => Just(Type::int()),
        3 => Just(Type::real()),
        3 => Just(Type::string()),
        3 => (2u32..5).prop_map(Type::unit_sum),
        1 => Just(variable("N")),
        1 => Just(variable("T")),
        1 => Just(ty("2 \\* 3")),
    ];
    let index = prop_oneof![Just(ty("3")), Just(variable("N")), Just(ty("2 \\* 3")), Just(ty("N \\* M"))];
    leaf.prop_recursive(3, 8, 3, move |inner| {
        let records = prop::collection::vec(inner.clone(), 1..4).prop_map(|parts| {
            let names = ["x", "y", "z"];
            Type::record(names.iter().map(|name| (*name).into()).zip(parts).collect())
        });
        prop_oneof![
            5 => prop::collection::vec(inner.clone(), 2..4).prop_map(Type::product),
            3 => prop::collection::vec(inner.clone(), 2..4).prop_map(Type::sum),
            3 => (inner, index.clone()).prop_map(|(t, i)| Type::array(t, i)),
            2 => records,
        ]
    })
    .boxed()
}

/// Returns the type with its storage moved at one place.
fn moved(ty: &Type, rule: usize) -> Type {
    let rotated = |parts: &[Type]| {
        let mut parts = parts.to_vec();
        let n = parts.len();
        parts.rotate_left(1 + rule / 8 % (n - 1).max(1));
        parts
    };
    let product = |a: &Type, b: &Type| Type::product(vec![a.clone(), b.clone()]);
    match (rule % 8, ty.kind()) {
        (0, TypeKind::Product(parts)) => match (&parts[..], parts.last().map(Type::kind)) {
            ([a, _], Some(TypeKind::Sum(cases))) => {
                Type::sum(cases.iter().map(|case| product(a, case)).collect())
            }
            _ => Type::product(rotated(parts)),
        },
        (1, TypeKind::Product(parts)) if parts.iter().all(Type::is_compact) => {
            Type::compact_product(parts.clone())
        }
        (2, TypeKind::Product(parts)) => match (parts[0].kind(), parts[1].kind()) {
            (TypeKind::Array(a, i), TypeKind::Array(b, j)) if i == j && parts.len() == 2 => {
                Type::array(product(a, b), i.clone())
            }
            _ => Type::product(rotated(parts)),
        },
        (3 | 4, TypeKind::Product(parts)) => Type::product(rotated(parts)),
        (5, TypeKind::Product(parts)) if parts.len() == 3 => {
            product(&parts[0], &product(&parts[1], &parts[2]))
        }
        (0..=5, TypeKind::Sum(cases)) => Type::sum(rotated(cases)),
        (0..=2, TypeKind::Array(element, index)) => match (element.kind(), index.kind()) {
            (TypeKind::Product(parts), _) => {
                Type::product(parts.iter().map(|part| Type::array(part.clone(), index.clone())).collect())
            }
            (TypeKind::Array(inner, own), _) => {
                Type::array(Type::array(inner.clone(), index.clone()), own.clone())
            }
            (_, TypeKind::CompactProduct(axes)) => {
                Type::array(element.clone(), Type::compact_product(rotated(axes)))
            }
            _ => ty.clone(),
        },
        (0..=5, TypeKind::Record(fields)) => {
            let mut fields = fields.clone();
            fields.rotate_left(1);
            Type::record(fields)
        }
        (3 | 4, TypeKind::CompactProduct(parts)) => Type::product(parts.clone()),
        (5, _) => product(ty, &Type::unit()),
        _ => ty.clone(),
    }
}

/// Returns the same at some place inside.
fn moved_inside(ty: &Type, place: usize, rule: usize) -> Type {
    if place == 0 || ty.is_compact() {
        return moved(ty, rule);
    }
    let mut at = 0;
    let mut count = 0;
    ty.kind().for_each_child(&mut |_| count += 1);
    let chosen = if count == 0 { 0 } else { place % count };
    ty.map_children(&mut |child| {
        at += 1;
        let here = at - 1 == chosen;
        // The index of an array stays compact.
        let index = matches!(ty.kind(), TypeKind::Array(_, index) if index == child && at == 2);
        if here && !index { moved_inside(child, place / 3, rule) } else { child.clone() }
    })
}

/// Generates a random type and one with as many values.
fn pairs() -> impl Strategy<Value = (Type, Type)> {
    let rewritten = (any_type(), prop::collection::vec(any::<u16>(), 0..8)).prop_map(|(a, choices)| {
        let b = rewrite(&a, &choices, Reach::Isomorphic);
        (a, b)
    });
    let steps = prop::collection::vec((0usize..20, 0usize..64), 1..3);
    let moved = (small_type(), steps).prop_map(|(a, steps)| {
        let b = steps.iter().fold(a.clone(), |ty, (place, rule)| moved_inside(&ty, *place, *rule));
        (a, b)
    });
    prop_oneof![1 => rewritten, 4 => moved]
}

fn runner() -> TestRunner {
    // `FELIS_RANDOM=N` for more.
    let cases = std::env::var("FELIS_RANDOM").ok().and_then(|n| n.parse().ok()).unwrap_or(1500);
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha))
}

#[test]
fn what_is_named_checks() {
    let session = RefCell::new(session());
    let (named, asked) = (Cell::new(0), Cell::new(0));
    let mut runner = runner();
    let result = runner.run(&pairs(), |(a, b)| {
        for (a, b) in [(&a, &b), (&b, &a)] {
            if verdict(a, b) == Verdict::Equal {
                continue;
            }
            asked.set(asked.get() + 1);
            let Some(help) = help(a, b) else { continue };
            let Some(body) = expression(&help) else { continue };
            named.set(named.get() + 1);
            if let Some(why) = refused(&mut session.borrow_mut(), a, b, body) {
                return Err(TestCaseError::fail(why));
            }
        }
        Ok(())
    });
    assert!(result.is_ok(), "{}", result.map_or_else(|e| e.to_string(), |()| String::new()));
    let (named, asked) = (named.get(), asked.get());
    println!("{named} of {asked} name an expression");
    assert!(named > 100, "{named} of {asked} name an expression");
}

#[test]
fn there_and_back_is_where_it_began() {
    let session = RefCell::new(session());
    let tried = Cell::new(0);
    let sizes: HashMap<u32, Type> =
        [("N", Type::unit_sum(2u8)), ("M", Type::unit_sum(3u8)), ("T", Type::string())]
            .into_iter()
            .filter_map(|(name, size)| match variable(name).kind() {
                TypeKind::Var(var) => Some((var.id, size)),
                _ => None,
            })
            .collect();
    let sizes = sizes.into_iter().collect();
    let mut runner = runner();
    let result = runner.run(&pairs(), |(a, b)| {
        let (a, b) = (a.substitute(&sizes), b.substitute(&sizes));
        let function = |ty: &Type| matches!(ty.kind(), TypeKind::Function(..));
        let (Some(there), Some(back)) = (help(&a, &b), help(&b, &a)) else { return Ok(()) };
        let (Some(there), Some(back)) = (expression(&there), expression(&back)) else { return Ok(()) };
        if mentions(&a, &function) {
            return Ok(());
        }
        let Some(made) = value(&a, "1", 0) else { return Ok(()) };
        tried.set(tried.get() + 1);
        let n = tried.get();
        let text = format!(
            "val start : {a} = {made};\nfun there{n}(v:{a}):{b} => {there};\nfun back{n}(v:{b}):{a} => {back};\n\
             println (back{n} (there{n} start) == start);"
        );
        let mut session = session.borrow_mut();
        let mut output = String::new();
        let done = session.evaluate("way", &text, Mode::Script, &mut |part| output.push_str(part));
        let shown: String = done.diagnostics.iter().map(|d| session.render(d, false)).collect();
        prop_assert!(output == "true\n", "{text}\n{output}{shown}");
        Ok(())
    });
    assert!(result.is_ok(), "{}", result.map_or_else(|e| e.to_string(), |()| String::new()));
    let tried = tried.get();
    println!("{tried} ways tried");
    assert!(tried > 50, "{tried} ways tried");
}

#[test]
fn forms_are_named() {
    for (a, b, expected) in [
        ("int * real", "real * int", Some("v.move[real * int]")),
        ("int + real", "real + int", Some("v.move[real + int]")),
        ("int * (real + string)", "int * real + int * string", Some("v.distribute")),
        ("int * real + int * string", "int * (real + string)", Some("v.factor")),
        ("(int * real)^N", "int^N * real^N", Some("v.move[int ^ N * real ^ N]")),
        ("int^N * real^N", "(int * real)^N", Some("v.move[(int * real) ^ N]")),
        ("3 * 4", "3 \\* 4", Some("v.pack")),
        ("3 \\* 4", "3 * 4", Some("v.unpack")),
        ("3 * 4 * 5 * 6", "3 \\* 4 \\* 5 \\* 6", Some("v.pack")),
        ("real^(N\\*M)", "real^(M\\*N)", Some("v.transpose")),
        ("real^N^M", "real^M^N", Some("v.transpose")),
        ("int * real * string", "string * int * real", Some("v.move[string * int * real]")),
        ("int + real + string", "string + int + real", Some("v.move[string + int + real]")),
        ("(int * real)^N", "(real * int)^N", Some("v.move[(real * int) ^ N]")),
        ("int^2 * (2 * real)", "int^2 * (real * 2)", Some("v.move[int ^ 2 * (real * 2)]")),
        ("int * real", "real * int * 1", Some("v.move[real * int * 1]")),
        (
            "int * real + int * string",
            "int * (string + real)",
            Some("v.move[int * string + int * real].factor"),
        ),
        // A conversion that needs a written function.
        ("3 * int", "3 *+ int", Some("((ainj v.0 of 3 *+ int) v.1)")),
        ("3 *+ int", "3 * int", Some("(v.caseno, v.casearg)")),
        ("int * int * real", "real * int * int", None),
        ("real^(2\\*3\\*4)", "real^(4\\*3\\*2)", None),
        ("3^N", "3\\^N", Some("v.pack")),
        ("1 + int + real", "int + real + 1", Some("v.move[int + real + 1]")),
    ] {
        let help = help(&ty(a), &ty(b));
        assert_eq!(help.as_deref().and_then(expression), expected, "{a} to {b}: {help:?}");
    }
}

#[test]
fn advice_joins_and_splits_axes_and_nothing_else() {
    let natural = &mut |a: &Type, b: &Type| verdict(a, b) <= Verdict::Natural;
    for (a, b, kept) in [
        ("real^(2\\*3)", "real^6", true),
        ("real^(N\\*M)", "real^M^N", true),
        ("real^(2\\*3)", "real^(3\\*2)", false),
        ("real^(2\\*6)", "real^(3\\*4)", false),
        ("real^(2\\*6)", "real^(4\\*3)", false),
        ("real^(2\\*2\\*3)", "real^(4\\*3)", true),
        ("real^(2\\*2\\*3)", "real^(2\\*6)", true),
        ("real^(2\\+3)", "real^(3\\+2)", false),
        ("real^(2\\+3)", "real^2 * real^3", true),
        ("real^(2\\+3)", "real^5", true),
        ("real^2 * real^3", "real^3 * real^2", false),
        ("real^N * real^M", "real^(N\\+M)", true),
        ("real^N * real^M", "real^M * real^N", false),
        ("int * (real * string)", "int * real * string", true),
        ("1 * int", "int", true),
        ("2 + 3", "5", true),
        ("2 + 3", "3 + 2", false),
        ("3 \\* 2", "2 \\* 3", false),
        ("3 \\* 2", "6", true),
        ("int * real^(2\\*3)", "int * real^(3\\*2)", false),
        ("int + real^(2\\*3)", "int + real^(3\\*2)", false),
        ("3 *+ (real^(2\\*3))", "3 *+ (real^(3\\*2))", false),
        ("(real^(2\\*3) * int)^4", "(real^(3\\*2) * int)^4", false),
    ] {
        let (x, y) = (ty(a), ty(b));
        assert!(verdict(&x, &y) <= Verdict::Natural, "{a} and {b} are natural");
        for (x, y) in [(&x, &y), (&y, &x)] {
            let found = label_loss(x, y, natural);
            assert_eq!(found, (!kept).then_some(LabelLoss::Axes), "{x} to {y}");
        }
    }
}
