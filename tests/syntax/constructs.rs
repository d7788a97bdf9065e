//! Constructs and their trees: the trees of two texts are compared.

use crate::trees::{self, bare, incomplete, stmts};
use felis_base::source::SourceMap;
use felis_syntax::syntax::ast::{BinaryOp, Body, ClassMember, ExprKind, PatternKind, StmtKind, TypeExprKind};
use felis_syntax::syntax::{self, unparse};

/// Checks that two expressions have the same tree.
fn same(short: &str, long: &str) {
    assert_eq!(bare(&stmts(&format!("{short};"))), bare(&stmts(&format!("{long};"))), "{short} and {long}");
}

fn differ(one: &str, other: &str) {
    assert_ne!(bare(&stmts(&format!("{one};"))), bare(&stmts(&format!("{other};"))), "{one} and {other}");
}

fn same_type(short: &str, long: &str) {
    same(&format!("x :>> ({short})"), &format!("x :>> (({long}))"));
}

fn expr(text: &str) -> ExprKind {
    let mut map = SourceMap::new();
    let source = map.add("e", text);
    let (expr, errors) = syntax::parse_expr(&source);
    assert!(errors.is_empty(), "{text}: {errors:?}");
    expr.expect("an expression").kind
}

fn ty(text: &str) -> TypeExprKind {
    let mut map = SourceMap::new();
    let source = map.add("t", text);
    let (ty, errors) = syntax::parse_type(&source);
    assert!(errors.is_empty(), "{text}: {errors:?}");
    ty.expect("a type").kind
}

fn stmt(text: &str) -> StmtKind {
    stmts(text).remove(0).kind
}

#[test]
fn places_and_variables() {
    let StmtKind::Store { op: Some(BinaryOp::Add), .. } = stmt("&a.i += 5;") else { panic!("a store") };
    let StmtKind::Store { op: Some(BinaryOp::Pow), .. } = stmt("&a.(i \\, j).x **= 5;") else {
        panic!("a store")
    };
    let StmtKind::Store { op: None, .. } = stmt("&a.i <- 5;") else { panic!("a store") };
    same("a, b = b, a", "(a, b) = (b, a)");
    differ("a, (b, c) = e", "a, b, c = e");
    let StmtKind::AssignAll { .. } = stmt("(a, (b, c)) = f x;") else { panic!("an assignment") };
}

#[test]
fn nested_loops_and_indices_up_to_one() {
    same("for i in a, j in b do s; done", "for i in a do for j in b do s; done done");
    same("for i in a, b, j in c perform s", "for i in (a, b) perform for j in c perform s");
    same("for i in f (a, b), (j, k) in c perform s", "for i in (f (a, b)) perform for (j, k) in c perform s");
    let StmtKind::For { iterable, .. } = stmt("for j in ..<i do done") else { panic!("a loop") };
    assert!(matches!(iterable.kind, ExprKind::UpTo { inclusive: false, .. }));
    let StmtKind::For { iterable, .. } = stmt("for j in ..i + k do done") else { panic!("a loop") };
    assert!(matches!(iterable.kind, ExprKind::UpTo { inclusive: true, .. }));
    let StmtKind::For { iterable, .. } = stmt("for j in ..[I] do done") else { panic!("a loop") };
    assert!(matches!(iterable.kind, ExprKind::AllOf(_)));
}

#[test]
fn alternatives_and_ranges() {
    let pattern = |text: &str| {
        let ExprKind::Match { mut arms, .. } = expr(&format!("match e with {text} => 1 endmatch")) else {
            panic!("a match")
        };
        assert_eq!(arms.len(), 1, "{text}");
        arms.remove(0).pattern.kind
    };
    assert!(matches!(pattern("| 1 | 2"), PatternKind::Or(parts) if parts.len() == 2));
    assert!(matches!(pattern("1 | 2 | a, b"), PatternKind::Or(parts) if parts.len() == 3));
    assert!(matches!(pattern("| (1 | 2, _)"), PatternKind::Or(_)));
    assert!(matches!(pattern("| ((1 | 2), _)"), PatternKind::Tuple(_)));
    assert!(matches!(pattern("-5..-1"), PatternKind::Range { inclusive: true, .. }));
    assert!(matches!(pattern("'a'..<'z'"), PatternKind::Range { inclusive: false, .. }));
    assert!(matches!(pattern("(1..2, 3)"), PatternKind::Tuple(_)));
}

#[test]
fn blocks_with_values() {
    same("x = let a = 1 in a + b", "x = { val a = 1; a + b }");
    same("f$ let a = 1 in let b = 2 in a, b", "f$ { val a = 1; { val b = 2; a } }, b");
    same("[ let a = i in a for i in xs ]", "[ { val a = i; a } for i in xs ]");
    same("let (a, b) : T = c, d in a", "{ val (a, b) : T = c, d; a }");
    same("let x", "let (x)");
    assert!(matches!(expr("{ val a = 1; a }"), ExprKind::Block { .. }));
    assert!(matches!(expr("1 + { val a = 1; a }"), ExprKind::Binary(..)));
    assert_eq!(stmts("fun f(x:int):int => { val a = 1; a } + 1; g;").len(), 2);
    assert_eq!(stmts("val x = if c then { val a = 1; a } else { val b = 2; b } endif;").len(), 1);
    assert_eq!(stmts("val x = match c with | 1 => { val a = 1; a } | _ => 2 endmatch;").len(), 1);
}

#[test]
fn texts_with_values_and_over_lines() {
    let ExprKind::Interpolated(text, holes) = expr(r#"f"a{x}{{b{y + 1:8.3}}}c{z:5}""#) else {
        panic!("a text")
    };
    assert_eq!(&*text, "a");
    let forms: Vec<_> = holes.iter().map(|hole| (&*hole.text, hole.width, hole.places)).collect();
    assert_eq!(forms, [("{b", None, None), ("}c", Some(8), Some(3)), ("", Some(5), None)]);
    assert!(matches!(expr(r#"f"{`1:3}""#), ExprKind::Interpolated(_, holes) if holes[0].width.is_none()));
    assert!(matches!(expr(r#"f"""#), ExprKind::Interpolated(_, holes) if holes.is_empty()));
    same("\"\"\"\na \\n \"b\"\n\"\"\"", r#""a \\n \"b\"\n""#);
    same("\"\"\"\"\"\"", "\"\"");
    assert!(incomplete("val x = \"\"\"a\nb"));
}

#[test]
fn forms_of_felix() {
    assert_eq!(bare(&stmts("begin x = 1; end y = 2;")), bare(&stmts("do x = 1; done y = 2;")));
    assert_eq!(stmts("begin = 1; end = begin;").len(), 2);
    assert_eq!(bare(&stmts("if c return 1;")), bare(&stmts("if c perform return 1;")));
    // The colon of a code is none of `if c: s`.
    for jump in ["return 1", "break", "continue"] {
        assert_eq!(
            bare(&stmts(&format!("if a != `0:3 {jump};"))),
            bare(&stmts(&format!("if a != `0:3 perform {jump};")))
        );
    }
    assert_eq!(bare(&stmts("for i in a upto b do s; done")), bare(&stmts("for i in a..b do s; done")));
    assert_eq!(
        bare(&stmts("match e with | 1 => f x; | _ => g y; endmatch; h;")),
        bare(&stmts("match e do | 1 => f x; | _ => g y; done h;"))
    );
    same("assert a == b and c", "assert$ a == b and c");
    same("aproj of T", "fun (i) => aproj i of T");
    same("f of T * U", "fun (x : T * U) => f x");
    same("x of T", "fun (y : T) => x y");
    same("map (f of T) xs", "map (fun (x : T) => f x) xs");
    assert_eq!(
        bare(&stmts("fun f(x:T):T = { return x; } g;")),
        bare(&stmts("fun f(x:T):T { return x; } g;"))
    );
    assert_eq!(bare(&stmts("fun f(x:T):T = x;")), bare(&stmts("fun f(x:T):T => x;")));
    assert_eq!(
        bare(&stmts("class C[T] { virtual fun f : T -> T; }")),
        bare(&stmts("class C[T] { fun f : T -> T; }"))
    );
}

#[test]
fn precedence_of_expressions() {
    same("f$ x :>> T", "f$ (x :>> T)");
    same("a + b :>> T", "a + (b :>> T)");
    same("a * b :>> T * c", "(a * (b :>> T)) * c");
    same("i :>> int + 1", "(i :>> int) + 1");
    same("a, b :> int", "a, (b :> int)");
    same("a :>> T == b :>> T", "(a :>> T) == (b :>> T)");
    same("-x :>> T", "(-x) :>> T");
    same("2 ** x :>> T", "(2 ** x) :>> T");
    same("f x :>> T", "(f x) :>> T");
    same("x :>> 2 \\+ A \\* B ^ C * d", "(x :>> (2 \\+ (A \\* (B ^ C)))) * d");
    same("x :>> T |> f", "(x :>> T) |> f");
    same("a, b |> f", "a, (b |> f)");
    same("a or b |> f", "(a or b) |> f");
    same("a \\, b |> f", "a \\, (b |> f)");
    same("f $ x |> g", "f $ (x |> g)");
    same("f $ g $ a, b |> h", "f $ (g $ (a, (b |> h)))");
    same("x :>> T :> U :>> V", "((x :>> T) :> U) :>> V");
    same("f$ a, b", "f$ (a, b)");
    same("f$ g$ x", "f$ (g$ x)");
    same("x |> f |> g", "(x |> f) |> g");
    same("x |> f$ y", "(x |> f)$ y");
    same("a, b\\, c or d", "a, (b\\, (c or d))");
    same("a or b and not c == d", "a or (b and (not (c == d)))");
    same("a == b..c + 1", "a == (b..(c + 1))");
    same("a + b * -c ** 2", "a + (b * (-(c ** 2)))");
    same("a - b - c", "(a - b) - c");
    same("a ** b ** c", "a ** (b ** c)");
    same("2 ** -1", "2 ** (-1)");
    same("-f x", "-(f x)");
    same("!f x == y", "(!(f x)) == y");
    same("f x y", "(f x) y");
    same("f x.1", "f (x.1)");
    same("f x.g.2 y", "(f ((x.g).2)) y");
    same("f -1", "f - 1");
    same("#f.x", "(#f).x");
    same("x.f y", "(x.f) y");
    same("x.(y)", "x.y");
    same("case 0 of 2 \\+ 5 + 1 == x", "(case 0 of (2 \\+ 5 + 1)) == x");
    same("f$ fun (x:int) => x, y", "f$ ((fun (x:int) => x), y)");
    same("fun (x:int) => x + 1 :>> T", "fun (x:int) => (x + (1 :>> T))");
    same("x |> fun (y:int) => y |> g", "x |> (fun (y:int) => (y |> g))");
    same("(1,2), (3,4)", "((1,2), (3,4))");
    same("[f$ x, y]", "[(f$ x), y]");
    same("[a, b,]", "[a, b]");
    differ("a, b, c", "(a, b), c");
    differ("a\\, b\\, c", "(a\\, b)\\, c");
    differ("f[T]", "f [T]");
    same("010 + 0xff + 0b101 + 1_000", "10 + 255 + 5 + 1000");
    same("map f ..[3]", "map f (..[3])");
    same("x.1.2", "(x.1).2");
    same("`1:3.str", "(`1:3).str");
    same("x. (`1:2) . (`1:3)", "(x.(`1:2)).(`1:3)");
    same("aproj f x of int ^ 3", "aproj (f x) of (int ^ 3)");
    same("a /* b /* c */ d */ + // e\n f", "a + f");
}

#[test]
fn precedence_of_types() {
    same_type("int^2^3", "(int^2)^3");
    same_type("3\\*2\\+1", "(3\\*2)\\+1");
    same_type("A -> B -> C", "A -> (B -> C)");
    same_type("A * B + C -> D", "((A * B) + C) -> D");
    same_type("A \\* B * C", "(A \\* B) * C");
    same_type("A \\+ B + C", "(A \\+ B) + C");
    same_type("A \\* B ^ C \\^ D", "A \\* ((B ^ C) \\^ D)");
    same_type("3 *+ A * B", "(3 *+ A) * B");
    same_type("A * 3 *+ B", "(A * 3) *+ B");
    same_type("()", "1");
    assert!(matches!(ty("A * B * C"), TypeExprKind::Product(items) if items.len() == 3));
    assert!(matches!(ty("(A * B) * C"), TypeExprKind::Product(items) if items.len() == 2));
    assert!(matches!(ty("1 + 1 + 1"), TypeExprKind::Sum(items) if items.len() == 3));
    assert!(matches!(ty("(a:int)"), TypeExprKind::Record(fields) if fields.len() == 1));
    assert!(matches!(ty("option[int ^ 2, _]"), TypeExprKind::Name(_, args) if args.len() == 2));
    assert!(matches!(ty("?N \\* ?M"), TypeExprKind::CompactProduct(_)));
    assert!(
        matches!(ty("typematch T with int => 1 | _ => 2 endmatch"), TypeExprKind::TypeMatch(s, a) if s.len() == 1 && a.len() == 2)
    );
}

#[test]
fn forms_of_expressions() {
    assert!(matches!(expr("()"), ExprKind::Tuple(items) if items.is_empty()));
    assert!(matches!(expr("(a = 1)"), ExprKind::Record(fields) if fields.len() == 1));
    assert!(matches!(expr("[1]"), ExprKind::Array(items) if items.len() == 1));
    assert!(matches!(expr("[]"), ExprKind::Array(items) if items.is_empty()));
    assert!(matches!(expr("case 1 x"), ExprKind::Inject { .. }));
    assert!(matches!(expr("case 1 (case 2 of 4)"), ExprKind::Inject { .. }));
    assert!(matches!(expr("case 1 of 4"), ExprKind::CaseOf { tick: false, .. }));
    assert!(matches!(expr("`1:(3 \\+ 4)"), ExprKind::CaseOf { tick: true, .. }));
    assert!(matches!(expr("proj 0 of int * int"), ExprKind::Proj { .. }));
    assert!(matches!(expr("..[3 \\* 4]"), ExprKind::AllOf(_)));
    assert!(matches!(expr("0..<n"), ExprKind::IntRange { inclusive: false, .. }));
    assert!(
        matches!(expr("[x for i in ..[2], j in y]"), ExprKind::Comprehension { clauses, .. } if clauses.len() == 2)
    );
    assert!(matches!(expr("\"a\\u{e9}\\n\""), ExprKind::Str(s) if &*s == "aé\n"));
    assert!(matches!(expr("1.5e-3"), ExprKind::Real(d) if &*d == "1.5e-3"));
    assert!(matches!(expr("1e3"), ExprKind::Real(d) if &*d == "1e3"));
    assert!(
        matches!(expr("if a then b elif c then d else e endif"), ExprKind::If { arms, .. } if arms.len() == 2)
    );
    assert!(
        matches!(expr("match x with 1 => a | _ when b => c endmatch"), ExprKind::Match { arms, .. } if arms.len() == 2)
    );
    assert!(matches!(expr("a != b"), ExprKind::Binary(BinaryOp::Ne, ..)));
    assert!(
        matches!(expr("fun (x, y) (z:int) => x"), ExprKind::Lambda(f) if f.params.len() == 2 && !f.is_proc)
    );
    assert!(matches!(expr("proc (x:int) { print x; }"), ExprKind::Lambda(f) if f.is_proc));
    match expr("x.mod[I]") {
        ExprKind::Dot { key, .. } => assert!(matches!(key.kind, ExprKind::TypeArgs(..))),
        other => panic!("{other:?}"),
    }
}

#[test]
fn records_made_of_others() {
    same("f r with (x = 1) ** 2", "((f r) with (x = 1)) ** 2");
    same("-r with (x = 1) + s", "(-(r with (x = 1))) + s");
    same("r with (x = 1) with (y = 2)", "(r with (x = 1)) with (y = 2)");
    same(
        "match r with (x = 1) with | (x = a) => a endmatch",
        "match (r with (x = 1)) with (x = a) => a endmatch",
    );
    assert!(matches!(expr("match r with (x = 1) => 2 endmatch"), ExprKind::Match { .. }));
    assert!(matches!(expr("match r with (x = a) when a > 1 => 2 | _ => 3 endmatch"), ExprKind::Match { .. }));
    assert!(matches!(expr("(...r, x = 1)"), ExprKind::Spread(parts) if parts.len() == 2));
    assert!(matches!(expr("(x = 1, ...r)"), ExprKind::Spread(parts) if parts[1].0.is_none()));
    assert!(matches!(expr("(x = 1, y = 2)"), ExprKind::Record(fields) if fields.len() == 2));
}

#[test]
fn conditions_of_comprehensions() {
    let guarded = |text| matches!(expr(text), ExprKind::Comprehension { guard: Some(_), .. });
    assert!(guarded("[ x for x in xs if x > 1 ]"));
    assert!(guarded("[ x for x in xs, y in ys when x > 1 or y < 2 ]"));
    assert!(guarded("[ if a then b else c endif for x in if a then b else c endif if d ]"));
    same("[ x for x in xs if x > 1 ]", "[ x for x in xs when x > 1 ]");
    assert!(!guarded("[ if a then b else c endif for x in xs ]"));
}

#[test]
fn arguments_by_name() {
    let ExprKind::Apply { argument, .. } = expr("f (1, 2, b = 3, c = (4, 5))") else { panic!("a call") };
    let ExprKind::Arguments(places, named) = argument.kind else { panic!("arguments") };
    assert_eq!((places.len(), named.len()), (2, 2));
    let StmtKind::Function { function, .. } =
        stmt("fun f(x:int, y:int = 3, z:int -> int = fun (a) => a) => x;")
    else {
        panic!("a function");
    };
    let defaults: Vec<bool> = function.params[0].iter().map(|param| param.default.is_some()).collect();
    assert_eq!(defaults, [false, true, true]);
}

#[test]
fn forms_of_statements() {
    assert!(matches!(stmt("var x : int = 1;"), StmtKind::Let { mutable: true, ty: Some(_), .. }));
    assert!(matches!(stmt("val a, (b, _) = e;"), StmtKind::Let { mutable: false, .. }));
    assert!(matches!(stmt("x = 1;"), StmtKind::Assign { op: None, .. }));
    assert!(matches!(stmt("x **= 1;"), StmtKind::Assign { op: Some(BinaryOp::Pow), .. }));
    assert!(matches!(stmt("&x.1 <- v;"), StmtKind::Store { .. }));
    assert!(matches!(stmt("x == 1;"), StmtKind::Expr(_)));
    assert!(matches!(stmt("if c do else done"), StmtKind::If { otherwise: Some(_), .. }));
    assert!(matches!(stmt("if c perform x = 1;"), StmtKind::If { arms, .. } if arms.len() == 1));
    assert!(matches!(stmt("if c then a else b endif;"), StmtKind::Expr(_)));
    assert!(matches!(stmt("match x with | a => b endmatch;"), StmtKind::Expr(_)));
    assert!(
        matches!(stmt("match x do | a => b; c; | d => done"), StmtKind::Match { arms, .. } if arms[0].body.len() == 2)
    );
    assert!(matches!(stmt("do done"), StmtKind::Block(_)));
    assert!(matches!(stmt("fun (x:int) { return x; }"), StmtKind::Expr(_)));
    assert!(matches!(stmt("return;"), StmtKind::Return(None)));
    assert!(matches!(stmt("typefun f(V:VIS):VIS => V;"), StmtKind::Typefun { .. }));
    assert!(
        matches!(stmt("kind VIS = | public | secret;"), StmtKind::Kind { members, .. } if members.len() == 2)
    );
    assert!(matches!(
        stmt("type Cipher[T, I:COMPACTLINEAR] layout T, I = T ^ I;"),
        StmtKind::Abstract { layout, representation: Some(_), .. } if layout.len() == 2
    ));
    assert!(matches!(
        stmt("type Key;"),
        StmtKind::Abstract { layout, representation: None, .. } if layout.is_empty()
    ));
    assert!(matches!(stmt("instance C[int];"), StmtKind::Instance { .. }));
    assert!(matches!(stmt("struct p { x:int; y:real }"), StmtKind::Struct(_, f) if f.len() == 2));
    assert!(matches!(stmt("struct p(x:int, y:real);"), StmtKind::Struct(_, f) if f.len() == 2));
    assert!(matches!(stmt("variant o[T] = None | Some of T -> T;"), StmtKind::Variant(_, c) if c.len() == 2));
    assert!(matches!(stmt("require N == 3 \\* K;"), StmtKind::Require(..)));
    match stmt("class C[T with D[T]] { fun + : T; fun f(x:T) => x; law l(x:T) => true; };") {
        StmtKind::Class(decl, members) => {
            assert_eq!(decl.generics.constraints.len(), 1);
            assert!(matches!(
                members[..],
                [ClassMember::Signature { .. }, ClassMember::Default(_), ClassMember::Law(..)]
            ));
        }
        other => panic!("{other:?}"),
    }
    match stmt("/// A.\n///\n/// B.\nfun f[T](x:T)(y:int):T { }") {
        StmtKind::Function { function, doc, .. } => {
            assert_eq!(doc.as_deref(), Some("A.\n\nB."));
            assert_eq!(function.params.len(), 2);
            assert!(matches!(function.body, Body::Block(_)));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn patterns() {
    let pattern = |text: &str| match stmt(&format!("val {text} = e;")) {
        StmtKind::Let { pattern, .. } => pattern.kind,
        other => panic!("{other:?}"),
    };
    assert!(matches!(pattern("_"), PatternKind::Wild));
    assert!(matches!(pattern("Some (a, b)"), PatternKind::Constructor(..)));
    assert!(matches!(pattern("case 1"), PatternKind::Case(_, None)));
    assert!(matches!(pattern("case 1 x"), PatternKind::Case(_, Some(_))));
    assert!(matches!(pattern("-1"), PatternKind::Int { negative: true, .. }));
    assert!(matches!(pattern("`1:3"), PatternKind::Tick(..)));
    assert!(matches!(pattern("a\\, b"), PatternKind::CompactTuple(_)));
    assert!(matches!(pattern("a, b as c"), PatternKind::Tuple(_)));
    assert!(matches!(pattern("(a, b) as c"), PatternKind::As(..)));
    assert!(matches!(pattern("(x : int)"), PatternKind::Typed(..)));
    assert!(matches!(pattern("(a = x, b = _)"), PatternKind::Record(_)));
    assert!(matches!(pattern("()"), PatternKind::Tuple(items) if items.is_empty()));
}

#[test]
fn statements_are_told_apart_without_semicolons_after_blocks() {
    let text =
        "fun f() { } proc p() { } do done if c do done for i in x do done 1; fun g() => fun (x) { } ; 2";
    assert_eq!(stmts(text).len(), 8);
    assert_eq!(stmts("var f = fun (x:int) { return x; };\nf 3").len(), 2);
    assert_eq!(stmts("fun f() { };\n;;; 1").len(), 2);
}

#[test]
fn every_construct_reads_back() {
    let tree = stmts(include_str!("constructs.flx"));
    let printed = unparse::print(&tree);
    assert_eq!(bare(&tree), bare(&stmts(&printed)), "{printed}");
}

#[test]
fn spans_cover_the_text() {
    let text = "val x = (1 + 2) * 3;\nf x;";
    let tree = stmts(text);
    assert_eq!(&text[tree[0].span.range()], "val x = (1 + 2) * 3");
    assert_eq!(&text[tree[1].span.range()], "f x");
    match &tree[0].kind {
        StmtKind::Let { init, .. } => assert_eq!(&text[init.span.range()], "(1 + 2) * 3"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn chunks_are_statements_unparsed() {
    let text = "/// Doc.\nfun f(x:int) => g x + 1;\nvariant o[T] = | None | Some of T;\nval a, (b:T) = h;\n\
                class C[T] { fun + : T; fun z : T; }\ninstance C[int] { }\nprintln f;";
    let mut map = SourceMap::new();
    let source = map.add("c", text);
    let chunks = syntax::chunks(&source);
    let defines: Vec<Vec<&str>> = chunks.iter().map(|c| c.defines.iter().map(|d| &**d).collect()).collect();
    assert_eq!(
        defines,
        [vec!["f"], vec!["o", "None", "Some"], vec!["a", "b"], vec!["C", "+", "z"], vec![], vec![]]
    );
    assert_eq!(
        chunks.iter().map(|c| c.word).collect::<Vec<_>>(),
        ["fun", "variant", "val", "class", "instance", ""]
    );
    assert!(chunks[0].mentions.iter().any(|m| &**m == "g") && chunks[0].mentions.iter().any(|m| &**m == "+"));
    let whole = stmts(text);
    for (chunk, stmt) in chunks.iter().zip(&whole) {
        let parsed = syntax::parse_ranges(&source, [chunk.range_with_comment(&source.text)]);
        assert!(parsed.errors.is_empty());
        assert_eq!(format!("{:?}", parsed.stmts[0]), format!("{stmt:?}"));
    }
    let names = map.add("n", "f x.y // z\n1");
    assert_eq!(syntax::mentioned_names(&names), ["f", "x", "y"]);
}

#[test]
fn qualified_names_are_names() {
    same("m::f x.m::g", "(m::f) (x.(m::g))");
    same("a < b::c", "a < (b::c)");
    differ("m::f", "f");
    assert!(
        matches!(ty("m::T[m::U, 3]"), TypeExprKind::Name(name, args) if name.qualified() == Some(("m", "T")) && args.len() == 2)
    );
    assert!(
        matches!(expr("`1:m::T"), ExprKind::CaseOf { ty, .. } if matches!(&ty.kind, TypeExprKind::Name(n, _) if &*n.text == "m::T"))
    );
    for wrong in [
        "m:: f",
        "m ::f",
        "fun m::f(x:int) => x",
        "x : : T",
        "m::1",
        "import m::n",
        "(m::a = 1)",
        "m::x += 1",
    ] {
        assert!(!trees::codes(&format!("{wrong};")).is_empty(), "{wrong}");
    }
    let names = SourceMap::new().add("n", "m::f x");
    assert_eq!(syntax::mentioned_names(&names), ["m::f", "x"]);
}

#[test]
fn imports_and_exports() {
    use felis_syntax::syntax::ast::{ImportNames, ImportTarget};
    let import = |text: &str| match stmt(text) {
        StmtKind::Import(import) => import,
        other => panic!("{text}: {other:?}"),
    };
    assert!(
        matches!(import("import \"a/b.flx\";").target, ImportTarget::File { path, .. } if &*path == "a/b.flx")
    );
    assert!(matches!(import("import linear").target, ImportTarget::Library(name) if &*name.text == "linear"));
    let all = import("import linear as l (*);");
    assert!(all.alias.is_some_and(|a| &*a.text == "l") && matches!(all.names, ImportNames::All { .. }));
    assert!(matches!(import("import linear (a, b);").names, ImportNames::Listed(names) if names.len() == 2));
    // `export` begins a statement, and the definition after it does not begin another.
    let text = "/// Doc.\nexport fun f(x:int):int {\n  return x;\n}\nexport val x = 1\nexport struct P { x:int; }\nf x;";
    let (stmts, errors) = trees::read(text);
    assert!(errors.contains("E0121") && stmts.len() == 4, "{errors}");
    let StmtKind::Export(inner) = &stmts[0].kind else { panic!("{:?}", stmts[0]) };
    assert!(matches!(&inner.kind, StmtKind::Function { doc: Some(doc), .. } if &**doc == "Doc."));
    assert_eq!(unparse::print(&stmts[..1]), "/// Doc.\nexport fun f(x:int):int {\n  return x;\n}\n");
    let source = SourceMap::new().add("c", "/// Doc.\nexport variant o = A | m::B;\nfun f(x:int) => m::g x;");
    let chunks = syntax::chunks(&source);
    assert_eq!(
        chunks.iter().map(|c| (c.word, c.exported)).collect::<Vec<_>>(),
        [("variant", true), ("fun", false)]
    );
    assert!(chunks[0].doc.is_some() && chunks[0].defines.iter().any(|n| &**n == "A"));
    assert!(chunks[1].mentions.iter().any(|n| &**n == "g"));
    assert!(
        syntax::is_name("abc")
            && !syntax::is_name("match")
            && !syntax::is_name(" a")
            && !syntax::is_name("a::b")
    );
    assert!(!trees::incomplete("import linear;") && trees::incomplete("export fun f(x:int) {"));
}

#[test]
fn arguments_are_indented() {
    assert_eq!(trees::codes("val x = y\nprintln x;"), ["E0121"]);
    assert_eq!(trees::codes("proc p() {\n  f\n  (1);\n}"), ["E0121"]);
    same("f\n  (1)", "f (1)");
    same("f (a\n, b\n(c))", "f (a, b (c))");
    assert_eq!(stmts("proc p() {\n  fun g() { }\n  g();\n  do done\n  g();\n}").len(), 1);
}

/// An `if` that is an argument is read back where a condition might follow.
#[test]
fn choices_as_arguments_in_comprehensions_read_back() {
    for text in
        ["[x for x in f (if c then a else b endif)];", "[x for x in case 0 (if c then a else b endif)];"]
    {
        let tree = stmts(text);
        let printed = felis_syntax::syntax::unparse::print(&tree);
        assert_eq!(bare(&tree), bare(&stmts(&printed)), "{printed}");
    }
}

/// Statements in a block before a spread, or before a named argument, are not parts of the
/// surrounding parentheses.
#[test]
fn statements_in_a_block_before_a_spread() {
    let texts = [
        "(a = { match x do | 1 => y = 1; done; if c do y = 2; done; 3 }, ...r);",
        "(a = { for i in ..[3] perform y = 1; do y = 2; done; 3 }, ...r);",
        "f (a, { if c do y = 1; elif d do y = 2; done; 3 }, name = 4);",
    ];
    for text in texts {
        let tree = stmts(text);
        let printed = felis_syntax::syntax::unparse::print(&tree);
        assert_eq!(bare(&tree), bare(&stmts(&printed)), "{printed}");
    }
}
