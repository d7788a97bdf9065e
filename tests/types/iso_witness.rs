//! Derivations: found for natural or isomorphic types, verified independently, and printed.

use crate::iso_support::ty;
use felis_calculus::iso::{Verdict, compare, explain, verify};
use felis_calculus::types::{Kind, Nominal, NominalBody, Type};

/// Checks that every related pair of the table has a derivation that proves the verdict.
#[test]
fn the_table_is_derived() {
    let mut missing = Vec::new();
    for line in include_str!("isomorphisms.tsv").lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let (a, b) = (ty(fields[1]), ty(fields[2]));
        let found = compare(&a, &b);
        match (&found.witness, found.verdict) {
            (_, Verdict::Different) => {}
            (Some(witness), verdict) => match verify(&a, &b, witness) {
                Ok(proved) => assert_eq!(proved, verdict, "{line}"),
                Err(fault) => panic!("{line}: {fault}"),
            },
            (None, _) => missing.push(line),
        }
    }
    assert!(missing.is_empty(), "{} missing:\n{}", missing.len(), missing.join("\n"));
}

#[test]
fn harder_pairs_are_derived() {
    let mut missing = Vec::new();
    for (a, b) in [
        ("(T^M)^N", "T^(N \\* M)"),
        ("T^M * T^N", "T^(M \\+ N)"),
        ("T^0", "1"),
        ("(int*real)^N * int", "int * (real*int)^N"),
        ("((int*real)^N)*int", "int*((real*int)^N)"),
        ("2\\^(N\\+1)", "2\\^N \\* 2"),
        ("1^N", "1"),
        ("(1*1)^N * int", "int"),
        ("0 + int", "int"),
        ("N + (N + int)", "(2 \\* N) + int"),
        ("(5^1) + int", "5 + int"),
        ("int^0 + int", "1 + int"),
        ("(int + real)^1 + 2", "int + real + 2"),
        ("int * (real*int)^N * (real*int)^M * real", "(int*real)^N * (int * real)^(M \\+ 1)"),
        ("(int*real*int*real)^N", "(int*real)^(2\\*N)"),
        ("((int*real)^M * int * real)^N", "(int*real)^((M\\+1)\\*N)"),
        ("((int*real)^M * int)^N * (int*real)^M", "(int*real)^M * (int*(int*real)^M)^N"),
        (
            "(int*real)^(N\\+M) * (string * real * (int*real)^M)^K",
            "(int*real)^N * ((int*real)^M * string * real)^K * (int*real)^M",
        ),
        ("1000000000000 *+ int", "int + 999999999999 *+ int"),
        ("1000000000000 *+ (int + real)", "int + 999999999999 *+ (real + int) + real"),
        ("real ^ (1000000000000000000000 \\* 2)", "(real ^ 2) ^ 1000000000000000000000"),
        ("int ^ (2\\^(2\\^100))", "(int ^ (2\\^(2\\^99))) ^ (2\\^(2\\^99))"),
        ("(int*real)^2", "int*real*int*real"),
        ("(int*real)^100000", "int * (real*int)^99999 * real"),
        ("int * real", "real * int"),
        ("(int*real)^N", "int^N * real^N"),
        ("int * (real + string)", "int * real + int * string"),
        ("3 * 4", "3 \\* 4"),
        ("3 ^ N", "3 \\^ N"),
        ("int * 2", "int + int"),
        ("0 * int", "0 * real"),
        ("(int + real)^2", "int^2 + 2 * int * real + real^2"),
        ("int * N + int * M", "int * (N \\+ M)"),
        ("int^N * real * int^M", "int^(M \\+ N) * real"),
        ("(int * real)^(N\\+1)", "int^N * (int * real) * real^N"),
        ("(2 * int)^N", "2\\^N * int^N"),
        ("(int + real)^(N \\+ 1)", "(real + int)^N * real + int * (int + real)^N"),
    ] {
        let (a, b) = (ty(a), ty(b));
        let found = compare(&a, &b);
        match &found.witness {
            Some(witness) => println!("{}\n{}\n", found.verdict, explain(witness)),
            None => missing.push(format!("{a}  against  {b}: {}", found.verdict)),
        }
    }
    assert!(missing.is_empty(), "{} missing:\n{}", missing.len(), missing.join("\n"));
}

#[test]
fn declared_types_stand_for_their_definitions() {
    let declare = |id, name: &str, kind, body| {
        let nominal = Nominal::declare(id, name.into(), Vec::new(), kind);
        nominal.define(body);
        Type::nominal(nominal, Vec::new())
    };
    let vertex = declare(1, "Vertex", Kind::Compact, NominalBody::Newtype(ty("3 \\* 1000")));
    let fields = vec![("x".into(), Type::real()), ("y".into(), vertex.clone())];
    let point = declare(2, "Point", Kind::Type, NominalBody::Struct(fields.clone()));
    let cases = vec![("A".into(), Type::unit()), ("B".into(), Type::int())];
    let variant = declare(3, "V", Kind::Type, NominalBody::Variant(cases.clone()));
    let same = declare(4, "W", Kind::Type, NominalBody::Variant(cases));
    let product = Type::product(vec![Type::real(), vertex.clone()]);
    for (a, b, expected) in [
        (vertex.clone(), ty("3000"), Verdict::Natural),
        (Type::array(Type::real(), vertex.clone()), ty("(real ^ 1000) ^ 3"), Verdict::Natural),
        (point.clone(), product.clone(), Verdict::Natural),
        (point.clone(), ty("real * 3000"), Verdict::Natural),
        (Type::record(fields), point.clone(), Verdict::Natural),
        (point, ty("3000 * real"), Verdict::Isomorphic),
        (variant.clone(), variant.clone(), Verdict::Equal),
        (variant.clone(), same, Verdict::Different),
        (variant.clone(), ty("1 + int"), Verdict::Different),
        (Type::product(vec![variant.clone(), Type::unit()]), variant, Verdict::Natural),
    ] {
        let found = compare(&a, &b);
        assert_eq!(found.verdict, expected, "{a} against {b}");
        assert_eq!(found.witness.is_some(), expected != Verdict::Different, "{a} against {b}");
    }
    assert_eq!(compare(&Type::error(), &Type::int()).verdict, Verdict::Equal);
}
