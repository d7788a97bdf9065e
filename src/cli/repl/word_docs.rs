//! The documentation of keywords and signs for `:doc`: a sentence, and an example.
//!
//! Names of functions and types are documented where they are defined.

use felis::session::similar;

/// Words and signs, each with its purpose and an example.
const WORDS: &[(&str, &str, &str)] = &[
    (
        "fun",
        "defines a function, or is one without a name",
        "fun twice(n:int):int => 2 * n;   fun (x) => x + 1",
    ),
    (
        "proc",
        "defines a procedure: it may print, read and change variables",
        "proc greet(name:string) { println name; }",
    ),
    ("val", "names a value", "val x = 3;   val (a, b) = (1, 2);"),
    ("var", "declares a variable", "var n = 0; n += 1;"),
    (
        "if",
        "chooses a value, does a statement on a condition, or keeps elements",
        "if c then a else b endif   if c do s; done   [ x for x in xs if x > 1 ]",
    ),
    ("then", "stands before the value of a choice", "if c then a elif d then b else e endif"),
    ("elif", "begins another condition", "if c then a elif d then b else e endif"),
    ("else", "begins what is taken when no condition holds", "if c do s; else t; done"),
    ("endif", "ends a choice between values", "if c then a else b endif"),
    (
        "match",
        "takes a value apart by patterns",
        "match v with | Some x => x | None => 0 endmatch   match v do | p => s; done",
    ),
    ("endmatch", "ends a match that has a value", "match v with | Some x => x | None => 0 endmatch"),
    (
        "with",
        "begins the arms of a match, asks for classes, or gives fields other values",
        "match v with | p => e endmatch   fun f[T with Ord[T]](x:T) => x   r with (x = 3)",
    ),
    (
        "when",
        "puts a condition on an arm or on the elements of a comprehension",
        "| Some x when x > 0 => x   [ x for x in xs when x > 1 ]",
    ),
    (
        "for",
        "does statements for each element, or makes an element for each",
        "for x in xs do println x; done   [ x * x for x in xs ]",
    ),
    ("in", "stands before what is walked", "for k in 1..10 perform println k;"),
    ("while", "does statements as long as a condition holds", "while n > 1 do n = n / 2; done"),
    ("do", "begins the statements of a loop, a branch or a block", "for x in xs do println x; done"),
    ("done", "ends what `do` began", "do val x = 3; println x; done"),
    ("perform", "does one statement", "if n > 3 perform println n;"),
    ("return", "gives the value of a function, or leaves a procedure", "fun f(n:int):int { return n; }"),
    ("break", "leaves a loop", "while true do if n > 9 perform break; n += 1; done"),
    (
        "continue",
        "begins the next round of a loop",
        "for k in 1..9 do if k == 3 perform continue; println k; done",
    ),
    ("typedef", "gives a type another name", "typedef row = real ^ 3;"),
    ("newtype", "makes a type of its own with the values of another", "newtype meter = real;"),
    ("struct", "declares a record with a name of its own", "struct point { x:real; y:real; }"),
    (
        "enum",
        "declares a type of several constants, which is an index type",
        "enum color = Red, Green, Blue;",
    ),
    ("variant", "declares a type of several cases", "variant shape = | Circle of real | Empty;"),
    ("typefun", "declares a function between types", "typefun pair(T) => T * T;"),
    (
        "typematch",
        "chooses a type by the form of another",
        "typematch T with | int => real | _ => T endmatch",
    ),
    ("kind", "declares a kind with its members", "kind SIDE = left | right;"),
    ("type", "declares an abstract type", "type Key = int;"),
    ("class", "declares what types of a class can do", "class Size[T] { fun size : T -> int; }"),
    ("instance", "makes types members of a class", "instance Size[int] { fun size (x) => x; }"),
    ("require", "checks an equation of sizes when it runs, and relies on it after", "require N == 3 \\* K;"),
    ("import", "brings names of another file", "import \"geometry.flx\" as g (area);"),
    ("export", "lets importers see a definition", "export fun area(r:real) => r * r;"),
    ("case", "makes a value of a sum, or takes one apart", "case 1 of 3   case 1 x   | case 0 => e"),
    ("of", "stands before the type of a case or sum", "case 1 of 3   | Circle of real"),
    ("proj", "is the projection to a component", "proj 0 of int * real"),
    ("ainj", "is the injection into a coarray at an index", "ainj i of 3 *+ int"),
    ("aproj", "is the projection of an array to an index", "aproj i of int ^ 3"),
    ("as", "names what a pattern fits, or a module", "(a, b) as p   import \"m.flx\" as m;"),
    (
        "and",
        "is true if both are; the right side is evaluated only if the left one is true",
        "0 < n and n < 9",
    ),
    ("or", "is true if one is; the right side is evaluated only if the left one is false", "n < 0 or n > 9"),
    ("not", "turns a truth value round; binds looser than comparisons", "not a == b"),
    ("true", "is a truth value", "val b = true;"),
    ("false", "is a truth value", "val b = false;"),
    ("+", "adds, also element by element; joins texts; adds types", "1 + 2   \"a\" + \"b\"   int + real"),
    ("-", "subtracts, also element by element; before a value, its negative", "3 - 1   -x"),
    ("*", "multiplies, also element by element; makes product types", "2 * 3   int * real"),
    ("/", "divides; of integers toward zero", "7 / 2   7.0 / 2.0"),
    ("%", "is the remainder, with the sign of what is divided", "7 % 2"),
    ("**", "is the power; from right to left", "2 ** 10"),
    ("==", "compares for equality", "a == b"),
    ("!=", "compares for difference", "a != b"),
    ("<", "compares; comparisons do not chain", "a < b and b < c"),
    ("<=", "compares", "a <= b"),
    (">", "compares", "a > b"),
    (">=", "compares", "a >= b"),
    ("!", "turns a truth value round; binds tightly", "!done_now"),
    (
        ":>>",
        "reads a value at another type with the same storage, or checks an integer as an index",
        "m :>> real ^ (3 \\* 4)   n :>> 10",
    ),
    (":>", "converts a value, with a check where it may not fit", "x :> int   n :> real"),
    ("|>", "applies what follows to what stands before", "xs |> sort |> take 3"),
    ("$", "applies what stands before to all that follows", "println$ 1 + 2"),
    ("#", "applies a function to `()`", "#iota[10]"),
    (".", "selects a component, or applies a function", "p.x   t.0   xs.(i)   x.sqrt"),
    (
        "..",
        "is a range of integers with its end; before a type in brackets, all its values",
        "1..9   ..[2 \\* 3]",
    ),
    ("..<", "is a range of integers without its end", "0..<n"),
    ("...", "puts the fields of a record into another", "(...r, x = 3)"),
    ("=", "gives a name its value, or a variable another one", "val x = 3;   n = n + 1;"),
    ("+=", "adds to a variable; so do `-=`, `*=`, `/=`, `%=`, `**=`", "n += 1;"),
    ("<-", "stores into a component of a variable", "&x.1 <- 3;"),
    ("&", "stands before the place that is stored into", "&x.(i) <- 3;"),
    ("=>", "stands before a value: of a function, an arm", "fun (x) => x + 1"),
    ("->", "makes function types", "int -> real"),
    ("^", "makes array types; the power of numbers is `**`", "real ^ 3   real ^ (3 \\* 4)"),
    ("\\*", "makes index types of several axes", "..[3 \\* 4]"),
    ("\\+", "makes index types of pieces", "real ^ (3 \\+ 4)"),
    ("\\^", "makes index types of functions", "2 \\^ 8"),
    ("*+", "makes a sum of equal types", "3 *+ int"),
    ("\\,", "joins the axes of an index", "m.(i \\, j)"),
    (
        "?",
        "names a size that is known when the program runs",
        "val xs : int ^ ?N = filter (fun x => x > 1) ys;",
    ),
    ("`", "is a constant of a unit sum", "`1:3"),
    ("_", "fits anything in a pattern, and is inferred in a type", "val (a, _) = p;"),
];

/// Returns the purpose of a word or sign, with an example.
pub fn explain_word(word: &str) -> Option<String> {
    let (word, text, example) = WORDS.iter().find(|(known, ..)| *known == word)?;
    let examples: String = example.split("   ").map(|line| format!("    {line}\n")).collect();
    Some(format!("`{word}` {text}\n{examples}"))
}

/// Returns a name similar to this one, among `names` and the words.
pub fn similar_name<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Option<String> {
    similar(name, names.chain(WORDS.iter().map(|(word, ..)| *word).filter(|word| word.len() > 1)))
}
