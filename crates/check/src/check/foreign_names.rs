//! Names that other languages give to functions and constants, each with its Felis counterpart.
//!
//! Consulted only for a name that has no definition, so no name is reserved. Each row has an
//! expression that shows its sentence; a test checks every expression, so that no message mentions
//! a name that does not exist.

/// A row: foreign names with the advice that is given for them.
pub struct Foreign {
    /// The names.
    pub names: &'static [&'static str],
    /// The advice, as a sentence or a part of one.
    pub instead: &'static str,
    /// An expression or statement that follows the advice.
    pub example: &'static str,
}

/// Returns the advice for a name.
pub fn lookup(name: &str) -> Option<&'static str> {
    ROWS.iter().find(|row| row.names.contains(&name)).map(|row| row.instead)
}

/// Returns the advice for a word between two operands that is an operator in another language.
pub(super) fn infix(word: &str) -> Option<&'static str> {
    Some(match word {
        "mod" | "rem" => "the remainder is `a % b`",
        "div" | "quot" => {
            "integers are divided by `a / b`, which cuts toward zero; `floor_div (a, b)` rounds down"
        }
        "is" | "eq" | "equals" => "compare with `a == b`",
        "ne" | "isnt" => "compare with `a != b`",
        "xor" => "of truth values it is `a != b`, of the bits of integers `bxor (a, b)`",
        "to" | "upto" | "until" | "downto" | "thru" => {
            "integers from one to another are `a..b`, without the last `a..<b`"
        }
        "step" | "by" => "a loop walks `a..b` by one; multiply its variable for another step",
        "cross" => "write `cross (a, b)`",
        "dot" => "write `dot (a, b)`",
        _ => return None,
    })
}

const fn row(names: &'static [&'static str], instead: &'static str, example: &'static str) -> Foreign {
    Foreign { names, instead, example }
}

/// All rows.
pub const ROWS: &[Foreign] = &[
    row(&["True", "TRUE"], "write `true`", "true"),
    row(&["False", "FALSE"], "write `false`", "false"),
    row(
        &["null", "nil", "NULL", "nullptr", "none", "nothing", "Nothing", "undefined", "NA", "missing"],
        "a value that may be missing is of type `option[T]`: `None[int]`, or `Some 3`",
        "None[int]",
    ),
    row(&["Just"], "write `Some`, of type `option[T]`", "Some 3"),
    row(
        &[
            "rand",
            "random",
            "randn",
            "randint",
            "rng",
            "uniform",
            "shuffle",
            "srand",
            "rand_int",
            "seed",
            "default_rng",
        ],
        "random numbers come from keys: `import random (new_key, uniforms);`, then `uniforms[10] (new_key 1)` has ten of them",
        "import random (new_key, uniforms); uniforms[10] (new_key 1)",
    ),
    row(
        &["length", "size", "numel", "strlength", "count_of", "nelems"],
        "`len x` is the number of elements, of a text that of its characters",
        "len [1, 2, 3]",
    ),
    row(
        &["shape", "ndim", "dims", "rank"],
        "the shape of an array is part of its type, as in `real ^ (3 \\* 4)`; `len x` is the number of elements",
        "len [1, 2, 3]",
    ),
    row(
        &["zeros", "zeroes", "zeros_like", "empty", "calloc", "malloc", "allocate"],
        "`fill 0.0` has as many elements as its place wants: `val a : real ^ (3 \\* 4) = fill 0.0;`",
        "val a : real ^ (3 \\* 4) = fill 0.0;",
    ),
    row(
        &["ones", "ones_like", "full", "replicate", "constant"],
        "`fill 1.0` has as many elements as its place wants: `val a : real ^ 3 = fill 1.0;`",
        "val a : real ^ 3 = fill 1.0;",
    ),
    row(&["eye"], "the identity matrix is `#identity[3]`", "#identity[3]"),
    row(
        &["arange", "range", "seq", "linrange"],
        "`iota n` has the integers below `n`, `#iota[10]` those below 10; a loop walks `for i in 0..<n do … done`",
        "#iota[10]",
    ),
    row(
        &["prev", "pred", "predecessor", "succ", "successor"],
        "`i.previous` and `i.next` are `case 1` of the index before or after, and `case 0` at the ends; `i.around (-1)` steps and wraps",
        "match (`1:3).previous with | case 1 i => i.around (-1) | case 0 _ => `0:3 endmatch",
    ),
    row(
        &["reverse", "reversed", "flipud", "fliplr"],
        "`rev x` has the elements in the opposite order",
        "rev [1, 2, 3]",
    ),
    row(
        &[
            "concat",
            "concatenate",
            "append",
            "vstack",
            "hstack",
            "vcat",
            "hcat",
            "extend",
            "push_back",
            "union_all",
        ],
        "`join (a, b)` puts two arrays together, `snoc (a, x)` one element after others, `push (l, x)` behind a list that grows",
        "push (list_of (snoc (join ([1, 2], [3]), 4)), 5)",
    ),
    row(
        &["reshape", "resize"],
        "`x :>> T` reads an array in another shape: `x :>> int ^ (2 \\* 3)`",
        "[1, 2, 3, 4, 5, 6] :>> int ^ (2 \\* 3)",
    ),
    row(
        &["flatten", "ravel"],
        "`:>>` reads an array in another shape: `x :>> int ^ 6`",
        "([[1, 2, 3], [4, 5, 6]]) :>> int ^ 6",
    ),
    row(
        &["where"],
        "`select (mask, x, y)` takes each element from one of two arrays, with `like x mask` in place of a mask of fewer axes; `filter (fun (x) => x > 1) xs` keeps some",
        "select ([true, false], [1, 2], [3, 4])",
    ),
    row(
        &["foldl", "foldLeft", "fold_left", "inject", "accumulate"],
        "write `fold (fun (a, x) => a + x) 0 xs`",
        "fold (fun (a, x) => a + x) 0 [1, 2, 3]",
    ),
    row(
        &["foldr", "foldRight"],
        "write `fold_right (fun (x, a) => a + x) 0 xs`",
        "fold_right (fun (x, a) => a + x) 0 [1, 2, 3]",
    ),
    row(
        &["scanl", "cumprod", "prefix_sum"],
        "write `scan (fun (a, b) => a * b) xs`; `cumsum xs` adds",
        "scan (fun (a, b) => a * b) [1, 2, 3]",
    ),
    row(
        &["foreach", "forEach", "each", "iter"],
        "write `for x in xs do … done`",
        "for x in [1, 2] do println x; done",
    ),
    row(
        &["vector", "array", "Array", "Vec", "Vector", "vec", "list", "List", "tuple", "seq_of"],
        "an array is written `[1, 2, 3]`, a tuple `(1, \"a\")`, a list that grows `list_of [1, 2, 3]`",
        "list_of [1, 2, 3]",
    ),
    row(
        &["dict", "Dict", "HashMap", "hashmap", "Map", "object"],
        "a record with names is written `(x=1, y=2)`; a table by keys comes from `import dict (*);`, as in `dict_of ((\"a\", 1), (\"b\", 2))`",
        "import dict (dict_of); val r = (x=1, y=2); val d = dict_of ((\"a\", 1), (\"b\", 2));",
    ),
    row(
        &["bench", "test"],
        "what is measured or tested stands in a block with a name: `bench \"name\" { … }`, `test \"name\" { … }`",
        "bench \"sums\" { val s = sum (1, 2); }",
    ),
    row(
        &["np", "numpy", "math", "Math", "torch", "jnp", "cmath"],
        "functions have no prefix: write `sin x`, `sum xs`",
        "sin 1.0",
    ),
    row(
        &[
            "printf",
            "sprintf",
            "format",
            "fmt",
            "print_endline",
            "putStrLn",
            "puts",
            "cout",
            "echo",
            "printLn",
            "console",
            "disp",
            "display",
            "write",
            "writeln",
        ],
        "write `println f\"x = {x}\"`; `{x:8.2}` has a width of 8 and two digits after the point",
        "println f\"{1.5:8.2}\";",
    ),
    row(
        &["exit", "quit", "abort"],
        "`fail \"why\";` stops the program with a message; otherwise it ends after its last statement",
        "if false do fail \"why\"; done",
    ),
    row(
        &["panic", "error", "raise", "throw", "die", "unreachable"],
        "write `fail \"why\"`",
        "if false do fail \"why\"; done",
    ),
    row(
        &["input", "readline", "read_line", "getline", "scanf", "gets", "stdin", "open", "fopen", "readFile"],
        "`read_text \"file.txt\"` reads a file, `import system (read_line);` a line of the input; `lines` and `words` cut a text",
        "import system (read_line); val w : string ^ ?N = words \"a b\";",
    ),
    row(
        &["parse", "parseInt", "atoi", "stoi", "to_int", "toInt", "read_int"],
        "`parse_int text` gives a number or nothing: `parse_int \"12\" |> otherwise 0`",
        "parse_int \"12\" |> otherwise 0",
    ),
    row(
        &["atof", "parseFloat", "to_float", "toFloat", "toDouble", "fromIntegral", "toReal"],
        "`n :> real` converts a number, `parse_real text |> otherwise 0.0` reads a text",
        "(3 :> real) + (parse_real \"1.5\" |> otherwise 0.0)",
    ),
    row(
        &["to_string", "toString", "string_of_int", "repr", "to_s", "stringify", "itoa"],
        "`x.str` gives a value as text",
        "3.str",
    ),
    row(&["pow", "power", "expt", "ipow"], "powers are written `x ** n`", "2 ** 3"),
    row(&["ln"], "the natural logarithm is `log x`", "log 2.0"),
    row(&["lg"], "`log10 x` is the logarithm to base 10, `log2 x` that to base 2", "log10 2.0 + log2 2.0"),
    row(&["Inf", "infinity", "INFINITY", "Infinity"], "infinity is `inf`", "-inf"),
    row(&["NaN", "NAN"], "not a number is `nan`; `is_nan x` asks for it", "is_nan nan"),
    row(&["avg", "average"], "write `mean xs`", "mean [1.0, 2.0]"),
    row(&["std", "stdev", "stddev", "std_dev", "sd"], "write `deviation xs`", "deviation [1.0, 2.0]"),
    row(
        &["sorted", "qsort", "sortBy", "sort_on"],
        "write `sort xs`, or `sort_by (fun (a, b) => a < b) xs`",
        "sort [2, 1]",
    ),
    row(&["argsort", "sortperm"], "write `order xs`", "order [2, 1]"),
    row(&["T"], "write `transpose x`", "transpose [[1, 2], [3, 4]]"),
    row(
        &["mul", "mm", "matrix_multiply", "mmul", "gemm"],
        "the product of matrices is `matmul (a, b)`",
        "matmul (#identity[2], #identity[2])",
    ),
    row(
        &["inv", "inverse", "linsolve"],
        "`solve (a, b)` solves a system of equations",
        "solve (#identity[2], [1.0, 2.0])",
    ),
    row(
        &["ord"],
        "`codepoint (text, 0)` is the code point of a character of a text, `'a' :> int` that of a character",
        "'a' :> int",
    ),
    row(&["isnan"], "write `is_nan x`", "is_nan 1.0"),
    row(&["fabs"], "write `abs x`", "abs (-1.5)"),
    row(&["ceiling"], "write `ceil x`", "ceil 1.5"),
    row(&["strip", "rstrip", "lstrip"], "`trim text` takes the blanks off both ends", "trim \" a \""),
    row(
        &["argwhere", "nonzero", "flatnonzero", "findall", "which"],
        "a condition keeps the indices where it holds: `[ i for i in ..[3] if x.i > 0 ]`",
        "val x = [1, -2, 3]; val at : 3 ^ ?K = [ i for i in ..[3] if x.i > 0 ];",
    ),
    row(
        &["bincount", "tabulate_counts"],
        "`histogram x` counts the values of an index type: `histogram [ v.mod[10] for v in x ]`",
        "histogram [ v.mod[10] for v in [1, 12, 3] ]",
    ),
    row(
        &["einsum", "tensordot"],
        "a comprehension says the sum: `[ sum [ a.(i \\, k) * b.(k \\, j) for k in ..[K] ] for i in ..[I], j in ..[J] ]`",
        "val a = #identity[2]; [ sum [ a.(i \\, k) * a.(k \\, j) for k in ..[2] ] for i in ..[2], j in ..[2] ]",
    ),
    row(
        &["hex", "oct", "bin"],
        "`in_base 16 n` has the digits of a number to another base",
        "in_base 16 255",
    ),
    row(&["is_none", "isNone", "is_nothing"], "write `not (is_some o)`", "not (is_some (Some 1))"),
    row(&["exp2", "exp10"], "powers are written `2.0 ** x`", "2.0 ** 0.5"),
    row(&["primes", "sieve", "primerange"], "`is_prime n` asks for one number", "is_prime 7"),
    row(
        &["max_by", "maxBy", "argmax_by", "min_by"],
        "`x.(argmax (map f x))` is the element where `f` is largest",
        "val x = [1, -3]; x.(argmax (map abs x))",
    ),
    row(
        &["read_csv", "load_csv", "loadtxt", "genfromtxt", "readcsv"],
        "`val t : (name:string, age:int) ^ ?N = csv \"people.csv\";` reads a table with these columns",
        "fun read(path:string):int => len path; read \"people.csv\"",
    ),
    row(
        &["chunks", "chunked", "batched"],
        "`:>>` reads an array in pieces: `x :>> int ^ 2 ^ 3`",
        "[1, 2, 3, 4, 5, 6] :>> int ^ 2 ^ 3",
    ),
    row(&["assert_eq", "assertEqual"], "write `assert (a == b);`", "assert (1 == 1);"),
    row(
        &["substr", "slice"],
        "`substring (text, from, to)` cuts a text; `take n xs` and `drop n xs` cut an array",
        "substring (\"abc\", 0, 2)",
    ),
    row(
        &["indexOf", "index_of", "findIndex"],
        "`strfind (text, part)` is the position in a text, `position (x, xs)` in an array",
        "strfind (\"abc\", \"b\")",
    ),
    row(&["toUpper", "to_upper", "uppercase", "upcase"], "write `upper text`", "upper \"a\""),
    row(&["toLower", "to_lower", "lowercase", "downcase"], "write `lower text`", "lower \"A\""),
    row(
        &["copy", "clone", "deepcopy", "dup"],
        "`var b = a;` is a copy: a store into `b` leaves `a` as it is",
        "var b = [1, 2];",
    ),
    row(&["is_empty", "isempty", "isEmpty"], "write `len x == 0`", "len [1] == 0"),
    row(
        &["lambda", "fn", "func", "function"],
        "a function without a name is written `fun (x) => e`",
        "map (fun (x) => x + 1) [1, 2]",
    ),
    row(
        &["typeof", "type_of"],
        "types are known before the program runs: `:type e` in a session, `felis type e` outside",
        "1",
    ),
    row(&["id", "identity_function"], "write `ident x`", "ident 3"),
    row(&["fst"], "the parts of a tuple are `x.0` and `x.1`", "(1, 2).0"),
    row(&["snd"], "the parts of a tuple are `x.0` and `x.1`", "(1, 2).1"),
    row(
        &["unwrap", "fromJust", "fromMaybe", "unwrap_or", "getOrElse", "get_or_else"],
        "`or_else d x` gives the value of an option, or `d`; `otherwise d x` that of a `1 + T`",
        "Some 3 |> or_else 0",
    ),
    row(&["new"], "a value of a struct is made by its name, as in `point (1, 2)`", "1"),
    row(&["self", "this"], "a method is a function: `fun area (s:square) => …`, called as `s.area`", "1"),
];
