//! Enumerations as index types, and sets of index values, against results computed by the test.

use felis::session::{Mode, Session, Status, on_large_stack};
use proptest::prelude::*;

/// Returns the output of a program, or the codes of its messages.
fn printed(text: &str) -> String {
    let text = text.to_string();
    on_large_stack(move || {
        let mut out = String::new();
        let outcome = Session::new().evaluate("enumerations", &text, Mode::Script, &mut |text| out += text);
        match outcome.status {
            Status::Ok => out,
            _ => outcome.diagnostics.iter().map(|d| d.code.as_str()).collect::<Vec<_>>().join(" "),
        }
    })
}

fn names(n: usize) -> Vec<String> {
    (0..n).map(|i| format!("C{i}")).collect()
}

/// A declaration with `n` cases, in either form.
fn declared(n: usize, word: usize) -> String {
    match word % 3 {
        0 => format!("enum e = {};", names(n).join(", ")),
        1 => format!("enum e = | {};", names(n).join(" | ")),
        _ => format!("variant e = {};", names(n).join(" | ")),
    }
}

#[test]
fn codes_are_the_order_of_declaration() {
    for n in [1usize, 2, 3, 7, 255, 256, 257] {
        let text = format!(
            "{} println (#sizeof[e]); for c in ..[e] perform println (c, c :>> int, c.str, c._strr);
             println (map (fun (c:e) => (c :>> int) :>> e) ..[e] == ..[e], C{} :>> int);",
            declared(n, n),
            n - 1
        );
        let mut expected = format!("{n}\n");
        for (i, name) in names(n).iter().enumerate() {
            expected += &format!("({name}, {i}, {name}, {name})\n");
        }
        expected += &format!("(true, {})\n", n - 1);
        assert_eq!(printed(&text), expected, "{n} cases");
    }
}

#[test]
fn steps_and_conversions_are_those_of_the_codes() {
    for n in 1usize..6 {
        for k in -7i64..8 {
            let text = format!(
                "{} println (map (fun (c:e) => (c.around ({k})) :>> int) ..[e], (({k}).mod[e]) :>> int,
                   (({k}).clamp[e]) :>> int, match ({k}).index[e] with | case 1 c => c :>> int | case 0 => -1 endmatch);
                 println [ match c.next with | case 1 d => d :>> int | case 0 => -1 endmatch for c in ..[e] ];",
                declared(n, 0)
            );
            let size = n as i64;
            let list = |all: Vec<i64>| {
                let all: Vec<String> = all.iter().map(i64::to_string).collect();
                match n {
                    1 => format!("[{}]", all.join(", ")),
                    _ => format!("({})", all.join(", ")),
                }
            };
            let around = list((0..size).map(|c| (c + k).rem_euclid(size)).collect());
            let next = list((0..size).map(|c| if c + 1 < size { c + 1 } else { -1 }).collect());
            let index = if (0..size).contains(&k) { k } else { -1 };
            let expected =
                format!("({around}, {}, {}, {index})\n{next}\n", k.rem_euclid(size), k.clamp(0, size - 1));
            assert_eq!(printed(&text), expected, "{n} cases, {k}");
        }
    }
}

#[test]
fn comparisons_follow_codes_unless_an_instance_says_otherwise() {
    let loops = "for a in ..[e] do for b in ..[e] perform print (a < b, a <= b, a > b, a >= b, a == b); done
         println (sort ..[e], max ..[e]);";
    let line = |key: fn(i64) -> i64| {
        let mut out = String::new();
        for (a, b) in (0..3).flat_map(|a| (0..3).map(move |b| (a, b))) {
            let (x, y) = (key(a), key(b));
            out += &format!("({}, {}, {}, {}, {})", x < y, x <= y, x > y, x >= y, a == b);
        }
        let mut sorted = [0, 1, 2];
        sorted.sort_by_key(|c| key(*c));
        let shown: Vec<String> = sorted.iter().map(|c| format!("C{c}")).collect();
        out + &format!("(({}), C{})\n", shown.join(", "), sorted[2])
    };
    assert_eq!(printed(&format!("{} {loops}", declared(3, 0))), line(|c| c));
    let own = "instance Ord[e] { fun < (a, b) => (a :>> int) > (b :>> int); }";
    assert_eq!(printed(&format!("{} {own} {loops}", declared(3, 0))), line(|c| -c));
}

#[test]
fn the_names_are_shown_inside_of_compact_values() {
    let text = "enum e = A, B; enum one = Only;
         println (A \\, `1:3); println$ (A \\, `1:3)._strr; println$ (B \\, A)._strr;
         println (case 1 of (2 \\+ e)) B; println (A, [B], Only, Some A);
         newtype f = e; println (A :>> f); println$ ((B \\, Only) :>> 2 \\* 1);
         struct s { c:e; n:int; } println (s (B, 1));";
    let text = text.replace("(case 1 of (2 \\+ e)) B", "((case 1 of (2 \\+ e)) B)");
    assert_eq!(
        printed(&text),
        "(A\\, 1)\n(A\\,case 1 of 3)\n(B\\,A)\ncase 1 (B)\n(A, [B], Only, Some (A))\nA\n(true\\, ())\ns(B, 1)\n"
    );
}

#[test]
fn instances_of_show_and_eq_keep_their_meaning() {
    let text = "enum e = A, B, C;
         instance Show[e] { fun show(c) => \"<\" + (c :>> int).str + \">\"; }
         instance Eq[e] { fun == (a, b) => (a :>> int) / 2 == (b :>> int) / 2; }
         println (A, [B], A == B, B == C, (A, C) == (B, C), [A] == [C]);";
    assert_eq!(printed(text), "(<0>, [<1>], true, false, true, false)\n");
}

#[test]
fn an_enumeration_is_its_unit_sum_by_reshape_and_by_nothing_else() {
    let e = "enum e = A, B, C; enum g = X, Y, Z;";
    for (text, found) in [
        ("println ((1, 2, 3) :>> int ^ e);", "(1, 2, 3)\n"),
        ("println (`2:3 :>> e, C :>> 3, (X :>> g) :>> e);", "(C, 2, A)\n"),
        ("println ((B \\, A) :>> 9 :>> int);", "3\n"),
        ("val x : 3 = A;", "E0301"),
        ("val x : e = `0:3;", "E0301"),
        ("val x : e = X;", "E0301"),
        ("val x : e = 1;", "E0301"),
        ("println (A + B);", "E0414"),
        ("println (3 :>> e);", "E0304"),
        ("val n = 3; println (n :>> e);", "E0502"),
        ("println (match A with | A => 1 | B => 2 endmatch);", "E0411"),
        ("println (match A with | case 0 => 1 | _ => 2 endmatch);", "E0413"),
    ] {
        let shown = printed(&format!("{e} {text}"));
        match found.starts_with('E') {
            true => assert!(shown.contains(found), "{text}: {shown}"),
            false => assert_eq!(shown, found, "{text}"),
        }
    }
}

/// The sizes of index types of sets: none, a word, at and beyond 64 and 128 bits.
const SIZES: [usize; 9] = [0, 1, 5, 31, 62, 63, 64, 65, 130];

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn sets_work_bit_by_bit(at in 0usize..9, a in any::<[u64; 3]>(), b in any::<[u64; 3]>()) {
        let n = SIZES[at];
        let bit = |words: &[u64; 3], i: usize| words[i / 64] >> (i % 64) & 1 == 1;
        let bits = |words: &[u64; 3]| -> Vec<bool> { (0..n).map(|i| bit(words, i)).collect() };
        let (x, y) = (bits(&a), bits(&b));
        let code = |bits: &[bool]| bits.iter().fold("0".to_string(), |text, bit| text + if *bit { "1" } else { "0" });
        let number = |bits: &[bool]| num_bigint::BigUint::parse_bytes(code(bits).as_bytes(), 2).unwrap();
        let each = |f: &dyn Fn(bool, bool) -> bool| -> Vec<bool> {
            x.iter().zip(&y).map(|(a, b)| f(*a, *b)).collect()
        };
        let text = format!(
            "val a = ({}n :>> 2 \\^ {n}); val b = ({}n :>> 2 \\^ {n});
             println ((a and b) :>> bigint); println ((a or b) :>> bigint); println ((not a) :>> bigint);
             println (difference (a, b) :>> bigint);
             println (subset (a, b), cardinality a, (len (members a)), set_of (members a) == a);",
            number(&x), number(&y)
        );
        let text = text.replace("n :>>", " :>>");
        let not: Vec<bool> = x.iter().map(|a| !a).collect();
        let members = x.iter().filter(|a| **a).count();
        let expected = format!(
            "{}\n{}\n{}\n{}\n({}, {members}, {members}, true)\n",
            number(&each(&|a, b| a && b)), number(&each(&|a, b| a || b)), number(&not),
            number(&each(&|a, b| a && !b)),
            x.iter().zip(&y).all(|(a, b)| !a || *b)
        );
        prop_assert_eq!(printed(&text), expected);
    }
}

#[test]
fn loops_over_sets_agree_with_counting() {
    let text = "fun odd[I:COMPACTLINEAR](k:int):2 \\^ I {
           var s = #empty_set[I];
           for i in ..[I] do &s.i <- ((i :>> int) * k) % 3 == 1; done
           return s;
         }
         val sets : (2 \\^ 20) ^ 500 = [ odd[20] (k :>> int) for k in ..[500] ];
         println (sum [ cardinality (sets.k and not sets.((k.around 1))) for k in ..[500] ]);
         println (sum [ if subset (sets.k, not sets.(k.around 2)) then 1 else 0 endif for k in ..[500] ]);";
    let bit = |k: i64, i: i64| i * k % 3 == 1;
    let (mut first, mut second) = (0, 0);
    for k in 0..500 {
        let (one, two) = ((k + 1) % 500, (k + 2) % 500);
        first += (0..20).filter(|&i| bit(k, i) && !bit(one, i)).count();
        second += usize::from((0..20).all(|i| !bit(k, i) || !bit(two, i)));
    }
    assert_eq!(printed(text), format!("{first}\n{second}\n"));
}

#[test]
fn both_operands_of_sets_are_evaluated_and_one_of_conditions_may_not_be() {
    let text =
        "fun stop(n:int):2 \\^ 3 { if n > 0 perform return not #empty_set[3]; return (n :>> 2 \\^ 3); }
         println (#empty_set[3] and stop 1, false and (stop (-1) == stop 1));
         println (#empty_set[3] and stop (-1));";
    let shown = printed(text);
    assert!(shown.starts_with("E05"), "{shown}");
}

/// Compact records over parts of these sizes: the codes, parts and stores by hand.
#[test]
fn compact_records_are_compact_products_with_names() {
    for (n, m) in [(1usize, 1usize), (1, 3), (2, 2), (3, 4), (4, 1)] {
        let text = format!(
            "typedef at = (row:{n} \\, col:{m});
             for p in ..[at] do
               val (row=r \\, col=c) = p;
               println (p :>> int, r :>> int, c :>> int, p.row == r, p.1 == c, (row=r \\, col=c) == p,
                 (p :>> {n} \\* {m}) == (r \\, c), pack (unpack p) == p, (unpack p).col == c);
               var q = p;
               &q.row <- q.row.around 1;
               println (q :>> int, p with (col = c.around 1) :>> int, q.col == c);
             done
             val x : int ^ at = [ p :>> int for p in ..[at] ];
             println ([ x.(row=r \\, col=c) for r in ..[{n}], c in ..[{m}] ] == (x :>> int ^ ({n} \\* {m})));
             println (x == map (fun (p:at) => x.p) ..[at]);"
        );
        let text = text.replace("p with (col = c.around 1) :>> int", "(p with (col = c.around 1)) :>> int");
        let mut expected = String::new();
        for (r, c) in (0..n).flat_map(|r| (0..m).map(move |c| (r, c))) {
            let code = r * m + c;
            expected += &format!("({code}, {r}, {c}, true, true, true, true, true, true)\n");
            expected += &format!("({}, {}, true)\n", (r + 1) % n * m + c, r * m + (c + 1) % m);
        }
        expected += "true\ntrue\n";
        assert_eq!(printed(&text), expected, "{n} {m}");
    }
}

#[test]
fn compact_records_are_equal_by_names_and_natural_by_sizes() {
    let head = "val p = (row=`1:3 \\, col=`2:4);
         val m : int ^ (row:3 \\, col:4) = [ (i.row :>> int) * 10 + (i.col :>> int) for i in ..[(row:3 \\, col:4)] ];";
    for (text, found) in [
        ("println p; println p._strr;", "(row=1\\, col=2)\n(row=case 1 of 3\\,col=case 2 of 4)\n"),
        (
            "println (p :>> 3 \\* 4, p :>> 12, (`1:3 \\, `2:4) :>> (row:3 \\, col:4));",
            "((1\\, 2), 6, (row=1\\, col=2))\n",
        ),
        ("println (m.p, m.(row=1 \\, col=2), m.((row=`2:3 \\, col=`3:4)));", "(12, 12, 23)\n"),
        (
            "fun t[N:COMPACTLINEAR, M:COMPACTLINEAR](x:int ^ (row:N \\, col:M)):int ^ (row:M \\, col:N) =>
            [ x.(row=i.col \\, col=i.row) for i in ..[(row:M \\, col:N)] ];
          println ((t m).(row=3 \\, col=2), t (t m) == m);",
            "(23, true)\n",
        ),
        (
            "newtype place = (row:3 \\, col:4); val w = p :>> place; println (w, w.col);",
            "((row=1\\, col=2), 2)\n",
        ),
        (
            "enum c = A, B; println (row=A \\, n=`0:2); println (Some p, [p]);",
            "(row=A\\, n=false)\n(Some (row=1\\, col=2), [(row=1\\, col=2)])\n",
        ),
        (
            "println (match p with | (row = case 0 \\, col = _) => 0 | (row = _ \\, col = c) => c :>> int endmatch);",
            "2\n",
        ),
        (
            "println (match p with | (row = case 0 \\, col = _) => 0 | (row = case 2 \\, col = _) => 1 endmatch);",
            "E0411",
        ),
        ("val x : (row:3 \\, col:4) = (`1:3 \\, `2:4);", "E0301"),
        ("val x : (row:3 \\, col:4) = (col=`2:4 \\, row=`1:3);", "E0301"),
        ("val x : 3 \\* 4 = p;", "E0301"),
        ("println (m.(`1:3 \\, `2:4));", "E0418"),
        ("println (m.(row=1 \\, col=4));", "E0453"),
        ("println ((row=`1:3, col=`2:4) :>> (row:3 \\, col:4));", "E0302"),
        ("typedef t = (a:int \\, b:3);", "E0202"),
        ("typedef t = (a:3 \\, a:3);", "E0208"),
        ("val (row=r, col=c) = p;", "E0413"),
        ("println p.rwo;", "E0416"),
        ("println (p + p);", "E0414"),
    ] {
        let shown = printed(&format!("{head} {text}"));
        match found.starts_with('E') {
            true => assert!(shown.contains(found), "{text}: {shown}"),
            false => assert_eq!(shown, found, "{text}"),
        }
    }
}
