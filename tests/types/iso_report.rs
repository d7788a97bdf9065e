//! The texts of comparisons.

use crate::iso_support::ty;
use felis_calculus::iso::{Move, compare, explain};

/// Kinds of movement, in both directions.
#[test]
fn moves_are_named() {
    for (a, b, there, back) in [
        ("int * real", "real * int", Move::Swap, Move::Swap),
        ("int + real", "real + int", Move::SwapCases, Move::SwapCases),
        ("(int * real)^N", "int^N * real^N", Move::Unzip, Move::Zip),
        ("int * (real + string)", "int * real + int * string", Move::Distribute, Move::Factor),
        ("3 * 4", "3 \\* 4", Move::Pack, Move::Unpack),
        ("3^N", "3\\^N", Move::Pack, Move::Unpack),
        ("int^2 * (2 * real)", "int^2 * (real * 2)", Move::Swap, Move::Swap),
    ] {
        assert_eq!(compare(&ty(a), &ty(b)).moves, [there], "{a} to {b}");
        assert_eq!(compare(&ty(b), &ty(a)).moves, [back], "{b} to {a}");
    }
    let (message, notes, help) = compare(&ty("3 * int"), &ty("3 *+ int")).explanation();
    assert_eq!(message, "isomorphic, but its storage must move");
    assert_eq!(notes.last().map(String::as_str), Some("`:>>` never moves storage"));
    assert_eq!(
        help.as_deref(),
        Some("`((ainj v.0 of 3 *+ int) v.1)` makes the one from the other, where `v` is the value")
    );
    let (square, sum) = ("(int + real) ^ 2", "int ^ 2 + real * int + int * real + real ^ 2");
    let (_, notes, help) = compare(&ty(square), &ty(sum)).explanation();
    let moves = "what moves: what stands beside a sum goes into each of its cases; components change places; \
                 cases change places, or are collected";
    assert_eq!(notes.last().map(String::as_str), Some(moves));
    let wanted = format!("write a function that makes `{sum}` from `{square}`");
    assert_eq!(help, Some(wanted));
}

#[test]
fn relabeled_axes_are_noted() {
    for (a, b, expected) in [
        ("real^(2\\*3)", "real^(3\\*2)", true),
        ("(real^2)^3", "real^(2\\*3)", true),
        ("(real^2)^3", "real^(3\\*2)", false),
        ("real^(N\\*M)", "real^(M\\*N)", true),
        ("int * real^(2\\*3)", "int * real^(3\\*2)", true),
        ("real^(2\\*3)", "real^6", false),
        ("real^(2\\*3)", "real^(6\\*1)", false),
    ] {
        assert_eq!(compare(&ty(a), &ty(b)).permutes_axes, expected, "{a} to {b}");
    }
    let (_, notes, _) = compare(&ty("real^(2\\*3)"), &ty("real^(3\\*2)")).explanation();
    assert!(notes[0].contains("not a transpose"), "{notes:?}");
}

#[test]
fn differences_are_placed() {
    for (a, b, expected) in [
        ("real^(N \\* (3 \\+ 3))", "real^(N \\* 7)", "they part at the index: size 6N against size 7N"),
        ("3 \\* N \\+ 6", "3 \\* (N \\+ 1)", "`3 \\* (N \\+ 1)` has size 3N + 3"),
        (
            "int * string^1 * (int * 3)",
            "int * string * int * real",
            "they part at component 3: `3` against `real`",
        ),
        ("int * int * real", "int^2", "they part at component 1: `real` against nothing more"),
        ("int + real", "int + string", "they part at case 1: `real` against `string`"),
        (
            "(int * real)^N",
            "(int * string)^N",
            "they part at component 1 of the element: `real` against `string`",
        ),
    ] {
        let (_, notes, _) = compare(&ty(a), &ty(b)).explanation();
        assert!(notes.iter().any(|note| note == expected), "{a} to {b}: {notes:?}");
    }
}

#[test]
fn derivations_read_as_calculations() {
    let (a, b) = (ty("(int*real)^N * int * 1"), ty("int * (real*int)^(N \\* 1)"));
    let text = compare(&a, &b).witness.map(|witness| explain(&witness)).unwrap_or_default();
    let expected = "     (int * real) ^ N * int * 1
 1 = (int * real) ^ N * int   (associate: A * (B * C) = A * B * C, 1 * A = A)
 2 = int * (real * int) ^ N   (rotate: A * (B * A)^N = (A * B)^N * A)
 3 = int * (real * int) ^ (N \\* 1)   (linearize: compact types of the same size are the same integers)";
    assert_eq!(text, expected);
}
