//! Keywords of other languages that begin statements or blocks, with their equivalents here.
//!
//! Takes a word; gives a sentence for a message. No word of the table is reserved: it is consulted
//! only about an unreadable statement, or an unknown name.

/// Returns the advice for a statement that begins with this word.
pub fn advice(word: &str) -> Option<&'static str> {
    let row = WORDS.iter().find(|(words, _)| words.contains(&word));
    row.map(|(_, instead)| *instead)
}

/// Words of other languages, with the advice.
const WORDS: &[(&[&str], &str)] = &[
    (
        &["let"],
        "write `val x = e;` for a name that keeps its value, `var x = e;` for one that changes; `let x = e in e` has a value",
    ),
    (
        &["const", "local", "my", "auto", "dim", "static", "mutable"],
        "write `val x = e;` for a name that keeps its value, `var x = e;` for one that changes",
    ),
    (
        &["def", "fn", "func", "function", "sub", "define", "defn", "method", "gen"],
        "write `fun f(x:int):int => e;`, or `proc p(x:int) { … }` for what prints or stores",
    ),
    (
        &["procedure", "subroutine"],
        "write `proc p(x:int) { … }`, or `fun f(x:int):int => e;` for what only computes",
    ),
    (
        &[
            "int", "integer", "float", "real", "double", "bool", "boolean", "char", "string", "long",
            "short", "unsigned",
        ],
        "the name comes before its type: `val x : int = e;`, `fun f(x:int):int => e;`, and `x:int;` in a `struct`",
    ),
    (
        &["union", "data", "datatype"],
        "write `variant color = Red | Green;`, with arguments as in `variant shape = Circle of real | Dot;`",
    ),
    (
        &["record", "object", "dataclass"],
        "write `struct point { x:int; y:int; }`; its values are made by `point (1, 2)`",
    ),
    (&["interface", "trait", "protocol", "typeclass"], "write `class Shape[T] { fun area : T -> real; }`"),
    (&["impl", "implement", "deriving"], "write `instance Shape[square] { fun area (s:square) => …; }`"),
    (
        &["module", "namespace", "package", "open", "include", "use", "using", "from"],
        "a file is a module: write `import \"file.flx\";`, or `import \"file.flx\" (name);` for one of its names",
    ),
    (
        &["switch", "select", "cond"],
        "write `match e do | 0 => s; | _ => t; done`, or `match e with | 0 => a | _ => b endmatch` for a value",
    ),
    (&["loop", "repeat", "forever", "until"], "write `while c do … done`; `break;` leaves it"),
    (&["foreach", "forall", "parfor"], "write `for x in xs do … done`"),
    (&["begin"], "write `do … done` for a block of statements; the body of a function stands in `{ }`"),
    (
        &["end", "fi", "od", "esac", "endfor", "endwhile", "enddo"],
        "a block ends with `done`, an `if` with a value with `endif`, a body in braces with `}`",
    ),
    (&["elseif", "elsif", "elsewhen"], "write `elif`"),
    (&["otherwise", "default"], "write `| _ => …` for all the rest"),
    (&["then"], "write `if c do … done`; a value is `if c then a else b endif`"),
    (
        &["try", "catch", "except", "finally", "throw", "raise", "rescue", "panic", "error"],
        "nothing is thrown: a function that may fail gives `option[T]` or `1 + T`, and `fail \"why\"` ends the program",
    ),
    (
        &["printf", "puts", "cout", "echo", "printfn", "putStrLn", "writeln", "write", "display", "disp"],
        "write `println$ \"x = \" + x.str;`",
    ),
    (
        &["pub", "public", "private", "protected", "external"],
        "write `export` before what other files may use",
    ),
    (
        &["async", "await", "spawn", "go", "thread"],
        "array functions run on all cores by themselves: `map`, `sum` and comprehensions need no word for it",
    ),
    (&["yield", "generator"], "write a function that gives an array, such as `[ e for i in ..[10] ]`"),
    (&["where"], "name a part before it is used: `val x = e;` in the `{ }` of a function"),
    (&["pass", "skip", "nop"], "a block may be empty: `do done`"),
    (&["del", "delete", "free"], "memory is given back by itself"),
    (&["mut", "ref"], "write `var x = e;` for a variable"),
    (
        &["virtual", "abstract", "override"],
        "a `class` declares functions by their types, as in `fun area : T -> real;`",
    ),
    (&["unless"], "write `if not c do … done`"),
    (&["goto", "label"], "write `while`, `break` and `continue`"),
];
