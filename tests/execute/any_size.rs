//! Data of any size inside data: random programs that make, open, match, update and move fields
//! with `?K`, in every executor, against a model with lists; and programs that would be unsound if
//! two openings shared a size.
//!
//! `FELIS_SEED` repeats a run, `FELIS_RANDOM=N` runs N programs.

use crate::random::{Dice, number};
use felis::session::{Executor, Mode, Session, Status, on_large_stack};
use std::fmt::Write;

/// Returns the output of a program, or the codes of its messages.
fn printed(text: &str, executor: Executor) -> String {
    on_large_stack(|| said(&mut Session::new().with_executor(executor, 1), text))
}

/// Returns the same for a text after others.
fn said(session: &mut Session, text: &str) -> String {
    let mut out = String::new();
    let outcome = session.evaluate("any_size", text, Mode::Script, &mut |text| out += text);
    match outcome.status {
        Status::Ok => out,
        _ => outcome.diagnostics.iter().map(|d| d.code.as_str()).collect::<Vec<_>>().join(" "),
    }
}

const DECLARATIONS: &str = "
struct bag[T] { items : T ^ ?K; tag : int; }
variant tree = Leaf of int | Node of tree ^ ?N;
fun push[T] (b : bag[T], v : T) : bag[T] {
  val items : T ^ ?K = b.items;
  return b with (items = (items, [v]) :>> T ^ (K \\+ 1));
}
fun joined[T] (a : bag[T], b : bag[T]) : bag[T] {
  val x : T ^ ?A = a.items;
  val y : T ^ ?B = b.items;
  return bag ((x, y) :>> T ^ (A \\+ B), a.tag + b.tag);
}
fun put[T] (b : bag[T], at : int, v : T) : bag[T] {
  val items : T ^ ?K = b.items;
  match at.index[K] do
  | case 1 i => return b with (items = stored (items, i, v));
  | case 0 => return b;
  done
}
fun stored[T, I : COMPACTLINEAR] (x : T ^ I, i : I, v : T) : T ^ I { var r = x; &r.i <- v; return r; }
fun product (a : bag[int], b : bag[int]) : int {
  val x : int ^ ?A = a.items;
  val y : int ^ ?B = b.items;
  if #sizeof[A] != #sizeof[B] return -1;
  require A == B;
  return sum [ x.i * (y :>> int ^ A).i for i in ..[A] ];
}
fun total (t : tree) : int => match t with | Leaf n => n | Node kids => 1 + sum (map total kids) endmatch;
fun grown (t : tree, n : int) : tree => match t with
  | Node (kids : tree ^ ?K) => Node ((kids, [Leaf n]) :>> tree ^ (K \\+ 1))
  | leaf => Node [leaf, Leaf n]
  endmatch;
fun checksum (b : bag[int]) : int {
  val items : int ^ ?K = b.items;
  var sum = b.tag;
  for i in ..[K] do sum = (sum * 31 + items.i + (i :>> int)) % 1000003; done
  return sum;
}
";

fn checksum(items: &[i64], tag: i64) -> i64 {
    items.iter().enumerate().fold(tag, |sum, (i, x)| (sum * 31 + x + i as i64) % 1_000_003)
}

#[derive(Clone)]
struct Bag {
    items: Vec<i64>,
    tag: i64,
}

/// Returns statements about four bags, and the final state.
fn program(dice: &mut Dice, statements: usize) -> (String, String) {
    let mut text = String::new();
    let mut bags: Vec<Bag> = (0..4).map(|i| Bag { items: vec![i], tag: 0 }).collect();
    let mut expected = String::new();
    for i in 0..4 {
        let _ = writeln!(text, "  var b{i} = bag ([{i}], 0);");
    }
    for at in 0..statements {
        let (i, j, k) = (dice.roll(4), dice.roll(4), dice.roll(4));
        let c = dice.roll(100) as i64;
        let step = match dice.roll(13) {
            0 => {
                let items: Vec<i64> = (0..dice.roll(4)).map(|_| dice.roll(50) as i64).collect();
                let step = if items.is_empty() {
                    format!("b{i} = bag (filter (fun (x : int) => x > 0) [0], {c});")
                } else {
                    format!("b{i} = bag ({items:?}, {c});")
                };
                bags[i] = Bag { items, tag: c };
                step
            }
            1 | 2 => {
                bags[i] = bags[j].clone();
                bags[i].items.push(c);
                format!("b{i} = push (b{j}, {c});")
            }
            3 if bags[j].items.len() + bags[k].items.len() < 40 => {
                let items = [&bags[j].items[..], &bags[k].items[..]].concat();
                let tag = bags[j].tag + bags[k].tag;
                bags[i] = Bag { items, tag };
                format!("b{i} = joined (b{j}, b{k});")
            }
            4 => {
                let items: Vec<i64> = bags[j].items.iter().map(|x| x + c).collect();
                bags[i] = Bag { items, tag: bags[i].tag };
                format!(
                    "val x{at} : int ^ ?K{at} = b{j}.items; b{i} = b{i} with (items = [ x{at}.q + {c} for q in ..[K{at}] ]);"
                )
            }
            5 => {
                let items: Vec<i64> = bags[j].items.iter().copied().filter(|x| *x > c).collect();
                let tag = bags[j].tag;
                bags[i] = Bag { items, tag };
                format!("b{i} = bag (filter (fun (x : int) => x > {c}) b{j}.items, b{j}.tag);")
            }
            6 => {
                // A value opened before an assignment keeps its size.
                let before: i64 = bags[j].items.iter().sum();
                bags[j] = bags[k].clone();
                let after: i64 = bags[j].items.iter().sum();
                let _ = writeln!(expected, "{before} {after}");
                format!(
                    "val y{at} = b{j}.items; b{j} = b{k}; println ((sum y{at}).str + \" \" + (sum b{j}.items).str);"
                )
            }
            7 => {
                let _ = writeln!(expected, "{} {}", bags[j].items.len(), bags[j].tag);
                format!(
                    "val (items = z{at}, tag = t{at}) = b{j}; println ((len z{at}).str + \" \" + t{at}.str);"
                )
            }
            8 => {
                let pair = [bags[j].clone(), bags[k].clone()];
                let sum: i64 = pair.iter().map(|b| b.items.len() as i64).sum();
                let _ = writeln!(
                    expected,
                    "{sum} {}",
                    pair[0].items == pair[1].items && pair[0].tag == pair[1].tag
                );
                format!(
                    "val p{at} = [b{j}, b{k}]; println ((sum [ len b.items for b in p{at} ]).str + \" \" + (p{at}.(0) == p{at}.(1)).str);"
                )
            }
            9 => {
                let at = dice.roll(6);
                bags[i] = bags[j].clone();
                if let Some(item) = bags[i].items.get_mut(at) {
                    *item = c;
                }
                format!("b{i} = put (b{j}, {at}, {c});")
            }
            10 => {
                let (a, b) = (&bags[j].items, &bags[k].items);
                let product: i64 = a.iter().zip(b).map(|(a, b)| a * b).sum();
                let _ = writeln!(expected, "{}", if a.len() == b.len() { product } else { -1 });
                format!("println (product (b{j}, b{k}));")
            }
            11 => {
                let place = dice.roll(5);
                match bags[j].items.get(place) {
                    Some(item) => writeln!(expected, "{item}"),
                    None => writeln!(expected, "none"),
                }
                .unwrap_or_default();
                format!(
                    "val u{at} : int ^ ?U{at} = b{j}.items; match {place}.index[U{at}] do | case 1 i => println u{at}.i; | case 0 => println \"none\"; done"
                )
            }
            _ => {
                let _ = writeln!(expected, "{}", checksum(&bags[i].items, bags[i].tag));
                format!("println (checksum b{i});")
            }
        };
        let _ = writeln!(text, "  {step}");
    }
    for (i, bag) in bags.iter().enumerate() {
        let _ = writeln!(text, "  println (checksum b{i});");
        let _ = writeln!(expected, "{}", checksum(&bag.items, bag.tag));
    }
    (text, expected)
}

/// The number of programs that one session runs, one after the other.
const OF_ONE_SESSION: u64 = 20;

#[test]
fn random_programs_do_what_lists_do() {
    let mut dice = Dice::seeded();
    let seed = dice.seed;
    let mut left = number("FELIS_RANDOM").unwrap_or(40);
    while left > 0 {
        let programs: Vec<(String, String)> = (0..left.min(OF_ONE_SESSION))
            .map(|_| {
                let statements = 1 + dice.roll(25);
                program(&mut dice, statements)
            })
            .collect();
        left -= programs.len() as u64;
        for executor in [Executor::Reference, Executor::Eager] {
            on_large_stack(|| {
                let mut session = Session::new().with_executor(executor, 1);
                assert_eq!(said(&mut session, DECLARATIONS), "");
                for (body, expected) in &programs {
                    for text in [body.clone(), format!("proc run () {{\n{body}}}\nrun ();\n")] {
                        let found = said(&mut session, &text);
                        assert_eq!(&found, expected, "seed {seed}, {executor:?}:\n{text}");
                    }
                }
            });
        }
    }
}

/// A part of a tuple with a size of its own is packed beside parts that are converted, or are
/// literals.
#[test]
fn a_part_is_packed_beside_others() {
    let declared = "struct sample { items : int ^ ?K; weight : real; }
typedef pair = (x:int, y:int);
variant reading = Sample of int ^ ?K * f32 | Missing of string * int ^ ?K * u8;
fun doubled[N : COMPACTLINEAR] (x : int ^ N) => x + x;
val x = [ i :>> int for i in ..[3] ];
val few = filter (fun (v : int) => v > 0) x;
val n = 7i16;
";
    for (value, shown) in [
        ("sample ([1, 2], 1)", "sample((1, 2), 1.0)"),
        ("sample (x, n)", "sample((0, 1, 2), 7.0)"),
        ("sample (few, 1)", "sample((1, 2), 1.0)"),
        ("sample (doubled x, n)", "sample((0, 2, 4), 7.0)"),
        ("sample ([], 0)", "sample([], 0.0)"),
        ("Sample (x, n)", "Sample (((0, 1, 2), 7.0))"),
        ("Missing (\"a\", few, 3)", "Missing ((a, (1, 2), 3))"),
        // No lossy conversion is implicit, and only an array is packed.
        ("sample (x, \"a\")", "E0301"),
        ("sample (1, 2)", "E0301"),
        ("sample ([1.5], 2)", "E0301"),
        // A tuple is neither a struct nor a record.
        ("let s : sample = (x, 1.0) in s", "E0301"),
        ("let s : sample = (x, n) in s", "E0301"),
        ("let s : pair = (n, n) in s", "E0301"),
        ("let s : pair = (y = n, x = n) in s", "E0301"),
        ("let s : pair = (x = n, y = n) in s", "(x=7, y=7)"),
    ] {
        for executor in [Executor::Reference, Executor::Eager] {
            let found = printed(&format!("{declared}println ({value});\n"), executor);
            assert_eq!(found.trim_end(), shown, "{value}");
        }
    }
}

#[test]
fn trees_grow() {
    let text = format!(
        "{DECLARATIONS}var t = Leaf 1;\nfor i in 0..<100 do t = grown (t, i); done\nprintln (total t);\n\
         var deep = Leaf 0;\nfor i in 0..<100000 do deep = Node [deep]; done\nprintln (match deep with | Node _ => 1 | Leaf _ => 0 endmatch);\n"
    );
    // The first step makes a node of the leaf, the others add leaves to it.
    assert_eq!(printed(&text, Executor::Reference), format!("{}\n1\n", 1 + 1 + (0..100).sum::<i32>()));
}

/// Programs that would read out of bounds if two openings had one size, or one size two values.
#[test]
fn no_size_is_another_ones() {
    let bag = "struct bag { items : int ^ ?K; }\nvar a = bag [1, 2, 3];\nvar b = bag [1];\n";
    for (program, code) in [
        // Two openings of one variable.
        ("val x = a.items;\nval y = a.items;\nprintln (x + y);", "E0415"),
        ("println (a.items + a.items);", "E0415"),
        // An index of one array applied to the other.
        (
            "val x : int ^ ?K = a.items;\nval y : int ^ ?L = b.items;\nfor i in ..[K] do println (y.i); done",
            "E0418",
        ),
        // The size of one arm used elsewhere.
        ("val x = if true then a.items else b.items endif;", "E0801"),
        ("var i : int = 0;\nval x : int ^ ?K = a.items;\na = b;\nval y : int ^ K = a.items;", "E0301"),
        // A size beyond the scope of an arm.
        (
            "variant v = V of int ^ ?K | W;\nval w = V [1, 2];\nval x = match w with | V xs => xs | W => [0] endmatch;",
            "E0801",
        ),
        // A function with one size for all of its results.
        ("fun f (b : bag) => b.items;\nval r = map f [a, b];", "E0301"),
        // A store that would change the size on which an index depends.
        ("val x : int ^ ?K = a.items;\n&a.items <- [1];\nfor i in ..[K] do println x.i; done", "E0812"),
        // The same storage by another name.
        ("struct other { items : int ^ ?K; }\nval o = a :>> other;", "E0302"),
        ("println ([ q.items for q in [a, b] ]);", "E0801"),
        ("val f = fun (q : bag) => q.items;\nval x = f a;\nval y = f b;\nprintln (x + y);", "E0415"),
    ] {
        let text = format!("{bag}{program}\n");
        let codes = printed(&text, Executor::Reference);
        assert!(codes.split(' ').any(|found| found == code), "{text}\nsaid: {codes}");
    }
}
