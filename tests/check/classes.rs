//! Classes and instances: selection of instances, requirements, coherence. Programs with their
//! output, or with the codes of their messages.

use crate::checker::{codes, output};
use felis::session::{Mode, Session, Status};

const SIZE: &str = "class Size[T] { fun size_of : T -> int; }\ninstance Size[int] { fun size_of(x) => x; }\n";
const EQ: &str = "class Eq[T] { fun == : T * T -> bool; fun == (a:T, b:T):bool => a == b; }\n";
const SHOW: &str = "class Show[T] { fun show : T -> string; fun show(x:T):string => str x; }\n";
const BOX: &str = "struct Box[T] { content:T; }\n";

#[test]
fn heads_of_every_kind_of_type() {
    for (head, value) in [
        ("int -> int", "fun (x:int) => x"),
        ("(a:int, b:string)", "(a=1, b=\"x\")"),
        ("int + string", "`0:(int + string) 5"),
        ("3 \\* 4", "5 :>> 3 \\* 4"),
        ("string ^ 2", "(\"a\", \"b\")"),
        ("string * real", "(\"a\", 1.5)"),
        ("unit", "()"),
        ("bool", "true"),
    ] {
        let text =
            format!("{SIZE}instance Size[{head}] {{ fun size_of(x) => 7; }}\nprintln (size_of ({value}));");
        assert_eq!(output(&text), "7\n", "{head}");
    }
    let every = "class Name[T] { fun name : T -> string; }\ninstance[T] Name[T] { fun name(x) => \"any\"; }\n\
                 println (name 1, name \"a\", name (1, 2), name (fun (x:int) => x));";
    assert_eq!(output(every), "(any, any, any, any)\n");
    let alias =
        format!("typedef pair = string * int;\n{SIZE}instance Size[pair] {{ fun size_of(p) => p.1; }}\n");
    assert_eq!(output(&format!("{alias}println (size_of (\"a\", 3));")), "3\n");
    assert_eq!(codes(&format!("{alias}instance Size[string * int] {{ fun size_of(p) => 0; }}")), ["E0605"]);
}

#[test]
fn a_default_names_the_parameters_of_its_method() {
    let text = "class D[T] { fun d[U] : T * U -> T; fun d[W](x:T, y:W):T { val z : W = y; return x; } }\n\
                instance D[int] { }\ninstance D[string] { fun d[V](x, y) { val z : V = y; return \"own\"; } }\n\
                println (d (3, 4.5), d (\"a\", 1));";
    assert_eq!(output(text), "(3, own)\n");
}

#[test]
fn constraints_of_a_type_hold_where_it_is_applied() {
    let types = "class Key[T] { fun key : T -> int; }\ninstance Key[int] { fun key(x) => x; }\n\
                 struct Heap[T with Key[T]] { top:T; }\nvariant Tree[T with Key[T]] = Leaf | Node of T;\n";
    for (text, expected) in [
        ("println ((Heap 3).top);", &[][..]),
        ("fun top[T with Key[T]](h:Heap[T]):T => h.top; println (top (Heap 3));", &[]),
        ("val f = fun (h:Heap[string]) => 3;", &["E0601"]),
        ("fun f():int { fun g(h:Heap[string]):int => 3; return 4; }", &["E0601"]),
        ("val x = Node \"a\";", &["E0601"]),
        ("val x : Tree[string] ^ 2 = (Leaf, Leaf);", &["E0601"]),
        ("struct Pair[T] { a:Heap[T]; b:Tree[T]; }", &["E0601", "E0601"]),
        (
            "struct Pair[T with Key[T]] { a:Heap[T]; b:Tree[T]; } println ((Pair (Heap 1, Node 2)).a.top);",
            &[],
        ),
        (
            "instance[T with Key[T]] Key[Heap[T]] { fun key(h) => key h.top; } println (key (Heap (Heap 7)));",
            &[],
        ),
        ("val x = Heap (Heap 7);", &["E0601"]),
        ("struct P[with Key[string]] { x:int; }", &["W0031", "E0601"]),
    ] {
        let mut found = codes(&format!("{types}{text}"));
        found.sort_unstable();
        let mut expected = expected.to_vec();
        expected.sort_unstable();
        assert_eq!(found, expected, "{text}");
    }
}

#[test]
fn on_a_tuple_of_equal_types_the_array_counts_if_it_holds() {
    let products =
        "instance[A, B with Size[A], Size[B]] Size[A * B] { fun size_of(p) => size_of p.0 + size_of p.1; }\n";
    let arrays = "instance[T, I:COMPACTLINEAR with Size[T]] Size[T ^ I] { fun size_of(x) => 100; }\n";
    let generic = "fun both[A, B with Size[A], Size[B]](a:A, b:B):int => size_of (a, b);\n";
    let uses = "println (size_of (1, 2), both (1, 2), size_of ((1, 2), 3));";
    assert_eq!(output(&format!("{SIZE}{products}{generic}{uses}")), "(3, 3, 6)\n");
    assert_eq!(output(&format!("{SIZE}{products}{arrays}{generic}{uses}")), "(100, 100, 103)\n");
    // If the array's instance requires too much, the product's instance is selected, in the generic
    // function too.
    let demanding = "class Big[T] { fun big : T -> int; }\n\
                     instance[T, I:COMPACTLINEAR with Big[T]] Size[T ^ I] { fun size_of(x) => big x.(0 :>> I); }\n";
    assert_eq!(output(&format!("{SIZE}{products}{demanding}{generic}{uses}")), "(3, 3, 6)\n");
}

#[test]
fn of_two_heads_apart_the_one_that_meets_later_is_meant() {
    let class = "class Which[T] { fun which : T -> int; }\n";
    let (first, second) = (
        "instance[A, B, C] Which[(A * B) * C] { fun which(x) => 1; }\n",
        "instance[T, C] Which[T ^ 2 * C] { fun which(x) => 2; }\n",
    );
    let uses = "println (which ((1, 2), (3, 4)), which ((1, \"a\"), 3), which ((1, 2), \"a\"));";
    assert_eq!(output(&format!("{class}{first}{second}{uses}")), "(2, 1, 2)\n");
    assert_eq!(output(&format!("{class}{second}{first}{uses}")), "(2, 1, 2)\n");
}

#[test]
fn a_sum_that_could_be_one_of_units_overlaps_with_unit_sums() {
    for head in ["N", "bool"] {
        let params = if head == "N" { "[N:UNITSUM]" } else { "" };
        let text = format!(
            "{SIZE}instance[A, B] Size[A + B] {{ fun size_of(x) => 1; }}\n\
             instance{params} Size[{head}] {{ fun size_of(x) => 2; }}"
        );
        assert_eq!(codes(&text), ["E0605"], "{head}");
    }
    let repeated =
        format!("{SIZE}instance[T] Size[2 *+ T] {{ fun size_of(x) => 5; }}\nprintln (size_of true);");
    assert_eq!(output(&repeated), "5\n");
}

#[test]
fn requirements_without_end_are_refused() {
    for required in ["Depth[T ^ 2]", "Depth[T]", "Depth[Box[T]]", "Other[T]"] {
        let text = format!(
            "{BOX}class Depth[T] {{ fun depth : T -> int; }}\nclass Other[T] {{ fun other : T -> int; }}\n\
             instance[T with {required}] Depth[T] {{ fun depth(x) => 1; }}\n\
             instance[T with Depth[T]] Other[T] {{ fun other(x) => depth x; }}\ndepth 1;"
        );
        assert_eq!(codes(&text), ["E0615"], "{required}");
    }
}

/// Two classes that require each other at each of 40 levels: each requirement is decided once.
#[test]
fn shared_requirements_are_looked_at_once() {
    let mut value = "1".to_string();
    for _ in 0..40 {
        value = format!("Box ({value})");
    }
    let text = format!(
        "{BOX}class C[T] {{ fun c : T -> int; }}\nclass D[T] {{ fun d : T -> int; }}\n\
         instance C[int] {{ fun c(x) => x; }}\ninstance D[int] {{ fun d(x) => x; }}\n\
         instance[T with C[T], D[T]] C[Box[T]] {{ fun c(b) => d b.content; }}\n\
         instance[T with C[T], D[T]] D[Box[T]] {{ fun d(b) => c b.content; }}\n\
         println (c ({value}));"
    );
    assert_eq!(output(&text), "1\n");
}

#[test]
fn equality_by_an_instance_that_does_not_hold_is_none() {
    let boxes = format!(
        "{EQ}{BOX}instance[T with Eq[T]] Eq[Box[T]] {{ fun == (a, b) => a.content == b.content; }}\n"
    );
    assert_eq!(output(&format!("{boxes}println (Box 1 == Box 1);")), "true\n");
    assert_eq!(codes(&format!("{boxes}println (Box sin == Box sin);")), ["E0432"]);
    // The default of `==` compares by structure, so the type must be comparable.
    assert_eq!(codes(&format!("{EQ}{BOX}instance[T] Eq[Box[T]] {{}}")), ["E0606"]);
    assert_eq!(codes(&format!("{EQ}struct F {{ f:int -> int; }}\ninstance Eq[F] {{}}")), ["E0606"]);
    assert_eq!(codes(&format!("{EQ}{BOX}instance[T with Eq[T]] Eq[Box[T]] {{}}")), [""; 0]);
}

#[test]
fn text_by_an_instance_that_does_not_hold_is_by_structure() {
    let text = format!(
        "{SHOW}{SIZE}{BOX}instance[T with Size[T]] Show[Box[T]] {{ fun show(b) => \"box of \" + (size_of b.content).str; }}\n\
         println (Box 3, Box \"a\");\nprintln (show (Box 3), show (Box \"a\"));\n\
         fun shown[T](x:T):string => show (Box x);\nprintln (shown 3, shown \"a\");"
    );
    assert_eq!(output(&text), "(box of 3, Box(a))\n(box of 3, Box(a))\n(box of 3, Box(a))\n");
}

#[test]
fn methods_are_values_and_have_type_parameters_of_their_own() {
    let text = format!(
        "{SIZE}fun apply[A, B](f:A -> B, x:A):B => f x;\n\
         fun twice[T with Size[T]](x:T):int {{ val f = size_of[T]; return f x + apply (size_of, x); }}\n\
         println (apply (size_of, 5), twice 4);\n\
         class Pair[T] {{ fun beside[U] : T * U -> U * T; }}\n\
         instance Pair[int] {{ fun beside(x, u) => u, x; }}\n\
         instance Pair[string] {{ fun beside[W](x, u) {{ val y : W = u; return y, x + \"!\"; }} }}\n\
         fun swapped[T, U with Pair[T]](x:T, u:U):U * T => beside (x, u);\n\
         println (beside (1, \"a\"), beside (\"b\", 1.5), swapped (1, true));"
    );
    assert_eq!(output(&text), "(5, 8)\n((a, 1), (1.5, b!), (true, 1))\n");
}

#[test]
fn procedures_are_methods() {
    let text = "class Log[T] { fun log : T -> void; }\n\
                instance Log[int] { proc log(x) { println (\"int \" + x.str); } }\n\
                instance[A, B with Log[A], Log[B]] Log[A * B] { proc log(p) { log p.0; log p.1; } }\n\
                instance Log[string] { proc log(x) { println x; } }\n\
                proc twice[T with Log[T]](x:T) { log x; log x; }\ntwice (1, \"a\");";
    assert_eq!(output(text), "int 1\na\nint 1\na\n");
    let pure = "class Log[T] { fun log : T -> void; }\nfun f[T with Log[T]](x:T):int { log x; return 1; }";
    assert_eq!(codes(pure), ["E0405"]);
}

#[test]
fn a_local_of_a_methods_name_hides_it() {
    let text = format!(
        "{SIZE}fun f(size_of:int):int => size_of + 1;\nval g = fun (size_of:int) => size_of;\nprintln (f 1, g 2);"
    );
    assert_eq!(output(&text), "(2, 2)\n");
    let overload = format!("{SIZE}fun size_of(x:string):int => 9;\nprintln (size_of 1, size_of \"abc\");");
    assert_eq!(output(&overload), "(1, 9)\n");
}

#[test]
fn several_parameters() {
    let class = "class Into[A, B] { fun into : A -> B; }\n\
                 instance Into[int, string] { fun into(x) => x.str; }\n\
                 instance Into[int, real] { fun into(x) => 1.5; }\n";
    assert_eq!(output(&format!("{class}val s : string = into 1;\nprintln (s, into 1 + 0.5);")), "(1, 2.0)\n");
    assert_eq!(codes(&format!("{class}println (into 1);")), ["E0602"]);
    let three = "class Act[G, X, Y] { fun act : G * X -> Y; }\n\
                 instance Act[int, string, string] { fun act(n, s) => s + n.str; }\n\
                 fun twice[G, X with Act[G, X, X]](g:G, x:X):X => act (g, act (g, x));\n\
                 println (twice (1, \"a\"));";
    assert_eq!(output(three), "a11\n");
}

/// An equality and text of a type's own is used at any depth; one that calls itself ends like any
/// recursion.
#[test]
fn own_equality_and_text_inside_values() {
    let text = format!(
        "{EQ}{SHOW}struct Mod7 {{ n:int; }}\ninstance Eq[Mod7] {{ fun == (a, b) => a.n % 7 == b.n % 7; }}\n\
         instance Show[Mod7] {{ fun show(m) => (m.n % 7).str + \"~\"; }}\n\
         variant tree = leaf of Mod7 | node of tree ^ 2;\n\
         println (node (leaf (Mod7 1), leaf (Mod7 9)) == node (leaf (Mod7 8), leaf (Mod7 2)));\n\
         println (node (leaf (Mod7 8), leaf (Mod7 9)), [ Mod7 (7 * (k :>> int)) for k in ..[2] ], (a = Mod7 3));"
    );
    assert_eq!(output(&text), "true\n(node (leaf (1~), leaf (2~)), (0~, 0~), (a=3~))\n");
    let itself = format!(
        "{SHOW}struct V {{ x:int; }}\ninstance Show[V] {{ fun show(v) => \"V\" + v.str; }}\nprintln (V 1);"
    );
    assert_eq!(codes(&itself), ["E0508"]);
    let itself = format!(
        "{EQ}struct V {{ x:int; }}\ninstance Eq[V] {{ fun == (a, b) => a == b; }}\nprintln (V 1 == V 1);"
    );
    assert_eq!(codes(&itself), ["E0508"]);
}

/// An operator on the result of a constant, whose type is known only afterward.
#[test]
fn operators_on_constants_are_those_of_the_type_found() {
    let classes = "class Ring[T] { fun + : T * T -> T; fun * : T * T -> T; fun < : T * T -> bool; fun one : unit -> T; }\n\
                   class Minus[T] { fun - : T -> T; }\n\
                   instance Ring[real] { fun + (a, b) => a + b; fun * (a, b) => a * b; fun < (a, b) => a < b; fun one() => 1.0; }\n\
                   instance Minus[real] { fun - (a) => -a; }\n\
                   struct V { x:int; }\n\
                   instance Ring[V] { fun + (a, b) => V (a.x + b.x); fun * (a, b) => V (a.x * b.x); fun < (a, b) => a.x > b.x; fun one() => V 1; }\n\
                   instance Minus[V] { fun - (a) => V (-a.x); }\n";
    let text = format!(
        "{classes}fun two[T with Ring[T]]():T => one () + one ();\n\
         fun minus[T with Ring[T], Minus[T]](x:T):T {{ val m = -one (); return m * x; }}\n\
         fun less[T with Ring[T]](x:T):bool {{ val a = one (); val b = one (); val less = a < b + b; return less and a < x; }}\n\
         val y : V = one () + one () * one ();\n\
         println (two[real] (), two[V] (), minus 2.5, minus (V 2), less 2.5, less (V 2), less (V (-2)), y);"
    );
    assert_eq!(output(&text), "(2.0, V(2), -2.5, V(-2), true, false, false, V(2))\n");
    let none = format!("{classes}fun f[T with Ring[T]](x:T):T {{ val m = -one (); return m * x; }}");
    assert_eq!(codes(&none), ["E0414"]);
}

/// Classes and instances of a session: replaced by later ones, kept if an input fails anywhere.
#[test]
fn a_session_replaces_and_keeps() {
    let mut session = Session::new();
    let mut line = |text: &str| {
        let mut printed = String::new();
        let done = session.evaluate("input", text, Mode::Line, &mut |text| printed.push_str(text));
        match done.status {
            Status::Ok => done.value.map_or(printed, |value| value.text),
            _ => done.diagnostics.iter().find(|d| d.is_error()).map_or("", |d| d.code.as_str()).to_string(),
        }
    };
    for (input, expected) in [
        ("struct V { x:int; }", ""),
        ("instance Show[V] { fun show(v) => \"V\" + v.x.str; }", ""),
        ("V 1", "V1"),
        ("instance Show[V] { fun show(v) => \"W\" + v.x.str; }", ""),
        ("V 1", "W1"),
        ("instance Show[V] { fun show(v) => 5; }", "E0301"),
        ("V 1", "W1"),
        ("class C[T] { fun c : T -> int; }", ""),
        ("instance C[int] { fun c(x) => x; }", ""),
        ("fun g[T with C[T]](x:T):int => c x + 1;", ""),
        ("g 1", "2"),
        // Definitions that use the old class of this name continue to use it.
        ("class C[T] { fun c : T -> int; fun d : T -> int; }", ""),
        ("c 1", "E0601"),
        ("g 1", "2"),
        ("instance C[int] { fun c(x) => 10 * x; fun d(x) => nothing_here; }", "E0401"),
        ("c 1", "E0601"),
        ("instance C[int] { fun c(x) => 10 * x; fun d(x) => 0; } println (1 / 0);", "E0501"),
        ("c 1", "E0601"),
        ("instance C[int] { fun c(x) => 10 * x; fun d(x) => 0; }", ""),
        ("c 1, g 1", "(10, 2)"),
        ("instance Add[V] { fun + (a, b) => V (a.x + b.x); fun zero() => V 0; }", ""),
        ("val pair = (V 1, V 2);", ""),
        ("sum pair, V 1 + V 2", "(W3, W3)"),
        ("instance Add[V] { fun + (a, b) => V (a.x + b.x + 100); fun zero() => V 0; }", ""),
        ("sum pair, V 1 + V 2", "(W203, W103)"),
        // The library's instances cannot be replaced at any place.
        ("instance Add[int] { fun + (a, b) => 0; fun zero() => 0; }", "E0605"),
        ("instance[T] Convert[T, int] { fun convert(x) => 0; }", "E0605"),
        ("sum (1, 2)", "3"),
        // A class of the user is unrelated to the library's class of the same name.
        ("class Ord[T] { fun less : T -> bool; }", ""),
        ("sort (3, 1), 1 < 2", "((1, 3), true)"),
    ] {
        assert_eq!(line(input), expected, "{input}");
    }
}
