//! Moves by leaves, coarrays and packing, against results that the test computes from the types:
//! random types with permuted leaves, each value with distinct elements.
//!
//! `FELIS_SEED` repeats a run.

use crate::random::{Dice, run};

/// A type as a tree over leaves.
#[derive(Clone)]
enum Shape {
    /// A leaf, by its number.
    Leaf(usize),
    Tuple(Vec<Shape>),
    Array(Box<Shape>, usize),
}

const SCALARS: [&str; 6] = ["int", "real", "string", "char", "u8", "f32"];

/// Returns element `i` of a leaf.
fn element(scalar: &str, i: usize) -> String {
    match scalar {
        "int" => i.to_string(),
        "real" => format!("{i}.5"),
        "string" => format!("\"s{i}\""),
        "char" => format!("'{}'", char::from_u32(0x4e00 + i as u32).expect("a character")),
        "u8" => format!("{i}u8"),
        _ => format!("{i}.25f32"),
    }
}

impl Shape {
    fn ty(&self, scalars: &[&str]) -> String {
        match self {
            Shape::Leaf(leaf) => scalars[*leaf].to_string(),
            Shape::Tuple(parts) => {
                let parts: Vec<String> = parts.iter().map(|part| part.ty(scalars)).collect();
                format!("({})", parts.join(" * "))
            }
            Shape::Array(inner, n) => format!("({} ^ {n})", inner.ty(scalars)),
        }
    }

    /// Returns the value whose leaves have their elements in order.
    fn value(&self, scalars: &[&str], next: &mut [usize]) -> String {
        match self {
            Shape::Leaf(leaf) => {
                next[*leaf] += 1;
                element(scalars[*leaf], next[*leaf] - 1)
            }
            Shape::Tuple(parts) => {
                let parts: Vec<String> = parts.iter().map(|part| part.value(scalars, next)).collect();
                format!("({})", parts.join(", "))
            }
            Shape::Array(inner, n) => {
                let parts: Vec<String> = (0..*n).map(|_| inner.value(scalars, next)).collect();
                format!("[{}]", parts.join(", "))
            }
        }
    }
}

/// Returns a shape with these leaves and their counts.
fn shape(leaves: &[(usize, usize)], dice: &mut Dice) -> Shape {
    let common = |d: usize| leaves.iter().all(|(_, count)| count % d == 0);
    let divisors: Vec<usize> = (2..=6).filter(|d| common(*d)).collect();
    if !divisors.is_empty() && (leaves.len() == 1 || dice.roll(2) == 0) {
        let d = divisors[dice.roll(divisors.len())];
        let inner: Vec<(usize, usize)> = leaves.iter().map(|(leaf, count)| (*leaf, count / d)).collect();
        return Shape::Array(Box::new(shape(&inner, dice)), d);
    }
    if let [(leaf, 1)] = leaves {
        return Shape::Leaf(*leaf);
    }
    let mut leaves = leaves.to_vec();
    dice.shuffle(&mut leaves);
    let mut parts = Vec::new();
    while !leaves.is_empty() {
        // At least two parts.
        let most = leaves.len() - usize::from(parts.is_empty());
        let taken: Vec<(usize, usize)> = leaves.drain(..1 + dice.roll(most)).collect();
        parts.push(shape(&taken, dice));
    }
    Shape::Tuple(parts)
}

#[test]
fn leaves_keep_their_elements_in_order() {
    let mut dice = Dice::seeded();
    let seed = dice.seed;
    for _ in 0..120 {
        let mut scalars = SCALARS.to_vec();
        dice.shuffle(&mut scalars);
        scalars.truncate(2 + dice.roll(4));
        let leaves: Vec<(usize, usize)> =
            (0..scalars.len()).map(|leaf| (leaf, [1, 2, 4, 6, 6, 12][dice.roll(6)])).collect();
        let (from, to) = (shape(&leaves, &mut dice), shape(&leaves, &mut dice));
        let (a, b) = (from.ty(&scalars), to.ty(&scalars));
        let x = from.value(&scalars, &mut vec![0; scalars.len()]);
        let y = to.value(&scalars, &mut vec![0; scalars.len()]);
        let program = format!(
            "val x : {a} = {x};\nval y : {b} = {y};\nprintln (x.move[{b}] == y, y.move[{a}] == x);\n\
             fun there (v : {a}) : {b} => v.move[{b}];\nprintln (there x == y);\n"
        );
        assert_eq!(run(&program), "(true, true)\ntrue\n", "seed {seed}\n{program}");
    }
}

/// A sum as a tree over cases.
#[derive(Clone)]
enum Sum {
    /// A case, by its number.
    Case(usize),
    Sum(Vec<Sum>),
}

/// The arguments of cases: pairwise different types, with a value.
const CASES: [(&str, &str); 7] = [
    ("int", "7"),
    ("real", "2.5"),
    ("string", "\"s\""),
    ("(int * real)", "(3, 0.5)"),
    ("5", "`3:5"),
    ("(3 *+ char)", "(case 2 of 3 *+ char) 'c'"),
    ("(u8 ^ 3)", "[1u8, 2u8, 3u8]"),
];

impl Sum {
    fn ty(&self) -> String {
        match self {
            Sum::Case(case) => CASES[*case].0.to_string(),
            Sum::Sum(parts) => {
                let parts: Vec<String> = parts.iter().map(Sum::ty).collect();
                format!("({})", parts.join(" + "))
            }
        }
    }

    /// Returns the value of a case, if it is here.
    fn value(&self, wanted: usize) -> Option<String> {
        match self {
            Sum::Case(case) => (*case == wanted).then(|| format!("({})", CASES[wanted].1)),
            Sum::Sum(parts) => {
                let (i, value) =
                    parts.iter().enumerate().find_map(|(i, part)| Some((i, part.value(wanted)?)))?;
                Some(format!("((case {i} of {}) {value})", self.ty()))
            }
        }
    }
}

fn sum(mut cases: Vec<usize>, dice: &mut Dice) -> Sum {
    if let [only] = cases[..] {
        return Sum::Case(only);
    }
    dice.shuffle(&mut cases);
    let mut parts = Vec::new();
    while !cases.is_empty() {
        let most = cases.len() - usize::from(parts.is_empty());
        let taken: Vec<usize> = cases.drain(..1 + dice.roll(most)).collect();
        parts.push(sum(taken, dice));
    }
    Sum::Sum(parts)
}

#[test]
fn cases_keep_their_arguments() {
    let mut dice = Dice::seeded();
    let seed = dice.seed;
    for _ in 0..60 {
        let mut cases: Vec<usize> = (0..CASES.len()).collect();
        dice.shuffle(&mut cases);
        cases.truncate(2 + dice.roll(4));
        let (from, to) = (sum(cases.clone(), &mut dice), sum(cases.clone(), &mut dice));
        let (a, b) = (from.ty(), to.ty());
        let mut program = String::new();
        for case in &cases {
            let (Some(x), Some(y)) = (from.value(*case), to.value(*case)) else { panic!("no case") };
            program += &format!("println ({x}.move[{b}] == {y} and {y}.move[{a}] == {x});\n");
        }
        assert_eq!(run(&program), "true\n".repeat(cases.len()), "seed {seed}\n{program}");
    }
}

/// A coarray is a sum of copies: made, distinguished and shown in the same way.
#[test]
fn a_coarray_is_a_sum_of_copies() {
    for (index, n) in [("3", 3usize), ("(2 \\* 2)", 4), ("(1 \\+ 2)", 3), ("1", 1), ("(2 \\^ 3)", 8)] {
        for (argument, value) in
            [("int", "7"), ("(int * string)", "(1, \"a\")"), ("(2 + int)", "(case 1 of 2 + int) 5")]
        {
            let copies = vec![argument; n].join(" + ");
            for case in 0..n {
                let made = format!("((ainj ({case} :>> {index}) of {index} *+ {argument}) ({value}))");
                let copy = match n {
                    1 => format!("({value})"),
                    _ => format!("((case {case} of {copies}) ({value}))"),
                };
                let program = format!(
                    "val x = {made};\nprintln ((x :>> ({copies})) == {copy}, ({copy} :>> ({index} *+ {argument})) == x);\n\
                     println (x.caseno :>> int, x.casearg == ({value}));\n\
                     fun taken[N : COMPACTLINEAR, T] (x : N *+ T) : N * T => match x with | case i v => (i, v) endmatch;\n\
                     println ((taken x).0 :>> int, (taken x).1 == ({value}));\n"
                );
                assert_eq!(
                    run(&program),
                    format!("(true, true)\n({case}, true)\n({case}, true)\n"),
                    "{program}"
                );
            }
        }
    }
}

#[test]
fn packing_is_the_encoding() {
    let mut dice = Dice::seeded();
    let seed = dice.seed;
    for _ in 0..40 {
        let sizes: Vec<usize> = (0..2 + dice.roll(5)).map(|_| 1 + dice.roll(9)).collect();
        let digits: Vec<usize> = sizes.iter().map(|n| dice.roll(*n)).collect();
        let code = sizes.iter().zip(&digits).fold(0, |code, (n, digit)| code * n + digit);
        let parts: Vec<String> = sizes.iter().zip(&digits).map(|(n, d)| format!("`{d}:{n}")).collect();
        let (base, count) = (1 + dice.roll(300), 1 + dice.roll(200));
        let program = format!(
            "val x = ({});\nprintln (x.pack :>> int, x.pack.unpack == x);\n\
             val d : {base} ^ {count} = [ (7 * (i :>> int) + 3).mod[{base}] for i in ..[{count}] ];\n\
             var code : bigint = 0;\nfor e in d do code = code * {base} + (e :>> bigint); done\n\
             println ((pack d :>> bigint) == code, unpack (pack d) == d, (pack d).(`0:{count}) == d.(`0:{count}));\n",
            parts.join(", ")
        );
        assert_eq!(run(&program), format!("({code}, true)\n(true, true, true)\n"), "seed {seed}\n{program}");
    }
}

/// Returns the positions that a random key selects on an axis of this size, the text of the key,
/// and true if an axis remains.
fn key(n: usize, dice: &mut Dice) -> (Vec<usize>, String, bool) {
    match dice.roll(4) {
        0 => ((0..n).collect(), "_".to_string(), true),
        1 => {
            let start = dice.roll(n + 1);
            let end = start + dice.roll(n + 1 - start);
            ((start..end).collect(), format!("{start}..<{end}"), true)
        }
        2 => {
            let start = dice.roll(n);
            let last = start + dice.roll(n - start);
            ((start..=last).collect(), format!("{start}..{last}"), true)
        }
        _ => {
            let at = dice.roll(n);
            let written = if dice.roll(2) == 0 { format!("`{at}:{n}") } else { format!("({at} :>> {n})") };
            (vec![at], written, false)
        }
    }
}

/// A slice reads the elements at its indices, and a store through it changes them.
#[test]
fn slices_are_their_elements() {
    let mut dice = Dice::seeded();
    let seed = dice.seed;
    for _ in 0..150 {
        let sizes: Vec<usize> = (0..1 + dice.roll(3)).map(|_| 1 + dice.roll(4)).collect();
        let keys: Vec<_> = sizes.iter().map(|n| key(*n, &mut dice)).collect();
        if keys.iter().all(|(_, _, stays)| !stays) {
            continue;
        }
        let count: usize = sizes.iter().product();
        let mut places = vec![0];
        for (n, (positions, _, _)) in sizes.iter().zip(&keys) {
            places = places.iter().flat_map(|at| positions.iter().map(move |i| at * n + i)).collect();
        }
        let index: Vec<String> = sizes.iter().map(usize::to_string).collect();
        let (index, key) =
            (index.join(" \\* "), keys.iter().map(|k| k.1.clone()).collect::<Vec<_>>().join(" \\, "));
        let list = |elements: Vec<usize>| {
            format!("[{}]", elements.iter().map(usize::to_string).collect::<Vec<_>>().join(", "))
        };
        let stored = |i: usize| match places.iter().position(|place| *place == i) {
            Some(at) => 100 + at,
            None => i,
        };
        let kept: Vec<String> =
            keys.iter().filter(|k| k.2).map(|(positions, _, _)| positions.len().to_string()).collect();
        let (k, shape) = (places.len(), kept.join(" \\* "));
        let program = format!(
            "fun all(x : int ^ ({index})) : int ^ {count} => x :>> int ^ {count};\n\
             proc run() {{\n\
               var x : int ^ ({index}) = [ i :>> int for i in ..[{index}] ];\n\
               println ((x.({key}) :>> int ^ {k}) == {});\n\
               val v : int ^ {k} = [ 100 + (i :>> int) for i in ..[{k}] ];\n\
               &x.({key}) <- v :>> int ^ ({shape});\n\
               println (all x == {});\n\
               &x.({key}) += v :>> int ^ ({shape});\n\
               println (all x == {});\n\
             }}\nrun();\n",
            list(places.clone()),
            list((0..count).map(stored).collect()),
            list((0..count).map(|i| if stored(i) == i { i } else { stored(i) * 2 }).collect()),
        );
        assert_eq!(run(&program), "true\ntrue\ntrue\n", "seed {seed}\n{program}");
    }
}

/// A store through functions that return a part of their argument is the store through these parts.
#[test]
fn functions_that_give_parts_are_places() {
    let program = "
        struct particle { at : real ^ 3; tags : (int * string) ^ 2; }
        fun tag_at (i : 2) (p : particle) => p.tags.i;
        fun label (t : int * string) : string => t.1;
        fun corner[N : COMPACTLINEAR, M : COMPACTLINEAR, T] (m : T ^ (N \\* M), i : N, j : M) : T => rows m |> (aproj i of T ^ M ^ N) |> (aproj j of T ^ M);
        proc run () {
          var p = particle ([0.0, 0.0, 0.0], [(1, \"a\"), (2, \"b\")]);
          val second = tag_at (`1:2);
          &p.(compose (label, second)) <- \"changed\";
          &(label (tag_at (`0:2) p)) <- \"first\";
          &p.at.(proj 2 of real ^ 3) += 1.5;
          println (p.tags, p.at);
          var m = [ 0 for i in ..[2], j in ..[3] ];
          for i in ..[2] do &(corner (m, i, `2:3)) <- 7 + (i :>> int); done
          println m;
          var c = `1:3 \\, `2:4;
          &c.(proj 0 of 3 \\* 4) <- `2:3;
          println c;
        }
        run ();
    ";
    assert_eq!(run(program), "(((1, first), (2, changed)), (0.0, 0.0, 1.5))\n(0, 0, 7, 0, 0, 8)\n(2\\, 2)\n");
}
