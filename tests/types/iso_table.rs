//! The table of section 3 of the language, and rows of the same kind beyond it.

use crate::iso_support::ty;
use felis_calculus::iso::{Verdict, verdict};

#[test]
fn the_table_holds() {
    let table = include_str!("isomorphisms.tsv");
    let mut wrong = Vec::new();
    let mut rows = 0;
    for line in table.lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let [_, a, b, expected] = fields[..] else { panic!("row {line}") };
        let (a, b) = (ty(a), ty(b));
        rows += 1;
        for (x, y) in [(&a, &b), (&b, &a)] {
            let found = verdict(x, y).to_string();
            if found != expected {
                wrong.push(format!("{line}: found {found}"));
            }
        }
    }
    assert_eq!(rows, 400);
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

fn check(expected: Verdict, a: &str, b: &str) {
    let (left, right) = (ty(a), ty(b));
    assert_eq!(verdict(&left, &right), expected, "{a}  against  {b}");
    assert_eq!(verdict(&right, &left), expected, "{b}  against  {a}");
}

#[test]
fn natural_by_the_laws_of_section_3() {
    for (a, b) in [
        ("(T^M)^N", "T^(N \\* M)"),
        ("T^M * T^N", "T^(M \\+ N)"),
        ("T^1", "T"),
        ("T^0", "1"),
        ("(M \\+ N) \\* K", "M \\* K \\+ N \\* K"),
        ("T^(3\\*2)", "T^6"),
        ("T^(3\\*2)", "T^(2\\*3)"),
        ("3+2", "5"),
        ("(int*real)^N * int", "int * (real*int)^N"),
        ("((int*real)^N)*int", "int*((real*int)^N)"),
        ("2\\^(N\\+1)", "2\\^N \\* 2"),
        ("4\\^N", "2\\^(2\\*N)"),
        ("6\\^N", "2\\^N \\* 3\\^N"),
        ("(N\\+1)\\^2", "N\\*N \\+ 2\\*N \\+ 1"),
        ("(N\\*M)\\^K", "N\\^K \\* M\\^K"),
        ("(N\\^M)\\^K", "N\\^(K\\*M)"),
        ("(2 \\* N \\+ 2) \\^ M", "2\\^M \\* (N\\+1)\\^M"),
        ("0\\^N \\* N", "0"),
        ("0\\^(N\\+1)", "0"),
        ("0\\^0", "1"),
        ("0\\^(N\\+M)", "0\\^N \\* 0\\^M"),
        ("0\\^(2\\*N)", "0\\^N"),
        ("1\\^N", "1"),
        ("1^N", "1"),
        ("(1*1)^N * int", "int"),
        ("int^0 * real", "real"),
        ("0 + int", "int"),
        ("0 + 0", "0"),
        ("N + (N + int)", "(2 \\* N) + int"),
        ("int + 1 + 1", "int + 2"),
        ("int + (1 + real)", "(int + 1) + real"),
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
        ("3 \\+ N", "N \\+ 3"),
        ("int -> real", "int -> real"),
        ("(int -> real) * 1", "int -> real"),
        ("1000000000000 *+ int", "int + 999999999999 *+ int"),
        ("1000000000000 *+ (int + real)", "int + 999999999999 *+ (real + int) + real"),
        ("real ^ (1000000000000000000000 \\* 2)", "real ^ (2 \\* 1000000000000000000000)"),
        ("real ^ (1000000000000000000000 \\* 2)", "(real ^ 2) ^ 1000000000000000000000"),
        ("2\\^(2\\^100) \\* 2\\^(2\\^100)", "2\\^(2\\^101)"),
        ("int ^ (2\\^4096)", "(int ^ (2\\^4095)) ^ 2"),
        ("int ^ (2\\^(2\\^100))", "(int ^ (2\\^(2\\^99))) ^ (2\\^(2\\^99))"),
    ] {
        let expected = if ty(a) == ty(b) { Verdict::Equal } else { Verdict::Natural };
        check(expected, a, b);
    }
}

#[test]
fn isomorphic_but_moving() {
    for (a, b) in [
        ("int * real", "real * int"),
        ("(int*real)^N", "int^N * real^N"),
        ("int * (real + string)", "int * real + int * string"),
        ("3 * 4", "3 \\* 4"),
        ("3 ^ N", "3 \\^ N"),
        ("3 ^ 2", "9"),
        ("int * 2", "int + int"),
        ("2 * int", "2 *+ int"),
        ("0 * int", "0"),
        ("0 * int", "int * 0"),
        ("0 * int", "0 * real"),
        ("(int + real)^2", "int^2 + 2 * int * real + real^2"),
        ("int * N + int * M", "int * (N \\+ M)"),
        ("int^N * real * int^M", "int^(M \\+ N) * real"),
        ("(int * real)^(N\\+1)", "int^N * (int * real) * real^N"),
        ("0^N", "0\\^N"),
        ("T * U", "U * T"),
        ("(2 * int)^N", "2\\^N * int^N"),
    ] {
        check(Verdict::Isomorphic, a, b);
    }
}

#[test]
fn different_however_alike() {
    for (a, b) in [
        ("int", "real"),
        ("T", "U"),
        ("int", "18446744073709551616"),
        ("2\\^64", "int"),
        ("0\\^N", "0"),
        ("0\\^N", "1"),
        ("0\\^(N\\*M)", "0\\^(N\\+M)"),
        ("0^N", "0"),
        ("int^(0\\^N)", "1"),
        ("2\\^N", "2\\^(N\\+1)"),
        ("N\\^M", "M\\^N"),
        ("2\\^(2\\^100)", "2\\^(2\\^100) \\+ 1"),
        ("2\\^4096", "2\\^4097"),
        ("1000000000000000000000", "1000000000000000000001"),
        ("real ^ 1000000000000000000000", "real ^ 1000000000000000000001"),
        ("int -> real", "int -> int"),
        ("N\\*N", "2\\*N"),
        ("int + N", "int + M"),
        ("1", "int^0 * 2"),
    ] {
        check(Verdict::Different, a, b);
    }
}

/// Wilkie's identity: true for naturals, not derivable by the laws of school algebra.
#[test]
fn wilkies_identity() {
    let side = |x: &str, y: &str| {
        format!(
            "((1\\+N)\\^{x} \\+ (1\\+N\\+N\\*N)\\^{x})\\^{y} \\* ((1\\+N\\*N\\*N)\\^{y} \\+ (1\\+N\\*N\\+N\\*N\\*N\\*N)\\^{y})\\^{x}"
        )
    };
    check(Verdict::Natural, &side("K", "M"), &side("M", "K"));
}
