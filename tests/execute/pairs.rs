//! Pairs of indices: their order, their parts, and the messages about them.

use felis::session::{Mode, Session, Status, on_large_stack};

/// Returns the output of a program, or the codes of its messages.
fn printed(text: &str) -> String {
    let text = text.to_string();
    on_large_stack(move || {
        let mut out = String::new();
        let outcome = Session::new().evaluate("pairs", &text, Mode::Script, &mut |text| out += text);
        match outcome.status {
            Status::Ok => out,
            _ => outcome.diagnostics.iter().map(|d| d.code.as_str()).collect::<Vec<_>>().join(" "),
        }
    })
}

/// Returns the pairs of two index values by their definition.
fn by_hand(n: usize, diagonal: bool) -> Vec<(usize, usize)> {
    (0..n).flat_map(|i| (0..if diagonal { i + 1 } else { i }).map(move |j| (i, j))).collect()
}

#[test]
fn loops_walk_pairs_row_by_row() {
    for index in ["0", "1", "2", "5", "2 \\* 3", "2 \\+ 3", "2 \\^ 3", "below[4]"] {
        for (name, diagonal) in [("below", false), ("lower", true)] {
            let text = format!(
                "println (#sizeof[{index}]);
                 for p in ..[{name}[{index}]] perform
                   println ((p.0 :>> int).str + \" \" + (p.1 :>> int).str + \" \" + (p :>> int).str);"
            );
            let shown = printed(&text);
            let mut lines = shown.lines();
            let n: usize = lines.next().and_then(|n| n.parse().ok()).expect("a size");
            let expected: Vec<String> =
                by_hand(n, diagonal).iter().enumerate().map(|(c, (i, j))| format!("{i} {j} {c}")).collect();
            assert_eq!(lines.collect::<Vec<_>>(), expected, "{name}[{index}]");
        }
    }
}

#[test]
fn pairs_are_taken_apart_by_patterns() {
    let text = "for (i \\, j) in ..[below[4]] perform print (i, j);
         val a \\, b = lower_pair (`2:5, `4:5);
         println (a, b);
         fun name(p:lower[2]):string => match p with
           | `0:2 \\, `0:2 => \"first\" | `1:2 \\, `0:2 => \"across\" | `1:2 \\, `1:2 => \"second\"
         endmatch;
         println (map name ..[lower[2]]);
         println [ (i, j) for (i \\, j) in ..[lower[2]] ];";
    assert_eq!(
        printed(text),
        "(1, 0)(2, 0)(2, 1)(3, 0)(3, 1)(3, 2)(4, 2)\n(first, across, second)\n\
         ((false, false), (true, false), (true, true))\n"
    );
}

/// The range of the second part of a pair depends on the first; the coverage check of a match uses
/// this.
#[test]
fn matches_cover_the_pairs_there_are() {
    let matching = |ty: &str, arms: &str| {
        printed(&format!("val p = 0 :>> {ty}; println (match p with {arms} endmatch);"))
    };
    assert_eq!(matching("below[3]", "| _ \\, `0:3 => 1 | _ \\, `1:3 => 2"), "1\n");
    assert_eq!(matching("lower[3]", "| _ \\, `0:3 => 1 | _ \\, `1:3 => 2"), "E0411");
    // There is no pair of 0 and a later index.
    assert_eq!(
        matching("lower[3]", "| `0:3 \\, `2:3 => 0 | _ \\, `0:3 => 1 | _ \\, `1:3 => 2"),
        "W0002 E0411"
    );
    assert_eq!(matching("below[3]", "| `1:3 \\, _ => 1 | `2:3 \\, `0:3 => 2"), "E0411");
    assert_eq!(matching("below[3]", "| `1:3 \\, _ => 1 | `2:3 \\, `0:3 => 2 | `2:3 \\, `1:3 => 3"), "1\n");
    assert_eq!(matching("lower[2 \\+ 1]", "| case 0 _ \\, _ => 1 | case 1 () \\, _ => 2"), "1\n");
}

#[test]
fn symmetric_matrices_are_held_by_half() {
    let text = "fun holds[I:COMPACTLINEAR]():bool {
           val a = [ (p :>> int) * 3 + 1 for p in ..[lower[I]] ];
           val full = symmetric a;
           return full == transpose full and lower_part full == a
             and square_of (triangles full) == full
             and all [ full.(i \\, j) == a.(lower_pair (i, j)) for i in ..[I], j in ..[I] ];
         }
         println (#holds[0], #holds[1], #holds[2], #holds[5], #holds[2 \\* 3], #holds[2 \\+ 3], #holds[2 \\^ 3]);
         val a = [ (p :>> int) :> real for p in ..[lower[4]] ];
         val v = (1.0, 2.0, 3.0, 4.0);
         println (sym_vec (a, v) == mat_vec (symmetric a, v));";
    assert_eq!(printed(text), "(true, true, true, true, true, true, true)\ntrue\n");
}

#[test]
fn pairs_of_two_indices_are_total_and_exact() {
    let text = "println (all [ below_pair (p.0, p.1) == case 1 of 1 + below[20] p for p in ..[below[20]] ]);
         println (all [ lower_pair (p.1, p.0) == p for p in ..[lower[20]] ]);
         println (all [ (i == j) == (below_pair (i, j) == case 0 of 1 + below[9]) for i in ..[9], j in ..[9] ]);
         typedef huge = 2 \\^ 200;
         val i, j = ((2n ** 199 + 5) :>> huge), ((2n ** 150) :>> huge);
         val p = lower_pair (j, i);
         println (p.0 == i, p.1 == j, (p :>> bigint) == (2n ** 199 + 5) * (2n ** 199 + 6) / 2 + 2n ** 150);";
    let text = text.replace("case 1 of 1 + below[20] p", "(case 1 of 1 + below[20]) p");
    assert_eq!(printed(&text), "true\ntrue\ntrue\n(true, true, true)\n");
}

#[test]
fn what_pairs_are_not() {
    for (text, said) in [
        ("var p = lower_pair (`0:3, `1:3); &p.0 <- `0:3;", "E0433"),
        ("newtype edge = below[3]; var e = 0 :>> edge; &e.1 <- `0:3;", "E0433"),
        ("val p : lower[3] = (`0:3 \\, `1:3);", "E0301"),
        ("val p : below[3] = 2;", "E0301"),
        ("println (3 :>> below[3]);", "E0304"),
        ("var n = 3; println (n :>> below[3]);", "E0502"),
        ("val x : int ^ below[int] = [];", "E0202"),
        ("val x : below[3, 4] = 0;", "E0204"),
        ("println (lower_pair (`0:3, `1:4));", "E0301"),
        ("println (0 :>> lower[3]).2;", "E0417"),
        ("typedef below = 3; val x : below = `2:3; println x;", "2\n"),
        ("typedef far = lower[2 \\^ 100]; println ((0 :>> far).0 == 0 :>> 2 \\^ 100);", "true\n"),
    ] {
        let found = printed(text);
        assert!(found.starts_with(said), "{text}: {found}");
    }
}
