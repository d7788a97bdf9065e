//! The language server as a client sees it: each answer exactly.

use crate::lsp_client::{Client, edited, place, position, slice};
use serde_json::{Value, json};

const GEOMETRY: &str = "// Shapes in the plane.

/// The area of a rectangle.
export fun area(w:int, h:int):int => w * h;
export struct Point { x : real; y : real; }
export val origin = Point (0.0, 0.0);
fun hidden(n:int):int => area (n, n);
";

const PROGRAM: &str = "import \"geometry.flx\" as g (area, Point);
typedef Time = 24 \\* 60;
variant shape = | Dot | Circle of real;
/// Twice it.
fun twice(x:int) => x * 2;
fun each[N:COMPACTLINEAR](v : int ^ N):int ^ N => map twice v;
val (first, second) = (1, 2.5);
var n = twice first;
n = n + area (first, n);
val p : Point = g::origin;
println (p.x);
fun width(s:shape):real =>
  match s with
  | Dot => 0.0
  | Circle r => r * 2.0
  endmatch;
proc go() {
  val z = sum (1, 2, 3);
  println z;
}
val t : Time = `1:24 \\, `2:60;
println (width (Circle 1.0), g::area (1, 2), t, each (1, 2));
";

/// Returns a server that has both programs, the second one open.
fn opened(name: &str) -> (Client, String) {
    let mut client = Client::new(name);
    client.file("geometry.flx", GEOMETRY);
    let uri = client.open("main.flx", PROGRAM);
    assert_eq!(client.diagnostics(&uri, 1), Vec::<Value>::new());
    (client, uri)
}

/// Returns the hover at a place, without the fences around the declaration.
fn hover(client: &mut Client, uri: &str, needle: &str) -> String {
    let told = client.at("textDocument/hover", uri, PROGRAM, needle);
    let text = told["contents"]["value"].as_str().unwrap_or("nothing");
    text.replace("```felis\n", "").replace("\n```\n", "\n").trim_end().to_string()
}

#[test]
fn hover_tells_declarations_types_sizes_and_docs() {
    let (mut client, uri) = opened("hover");
    for (needle, told) in [
        ("map tw|ice", "fun twice(x:int) : int\n\n---\n\nTwice it."),
        ("n + ar|ea", "fun area(w:int, h:int):int\n\nfrom `geometry.flx`\n\n---\n\nThe area of a rectangle."),
        ("g::ori|gin", "val origin : Point\n\nfrom `geometry.flx`"),
        ("p|.x", "val p : Point"),
        ("p.x|)", "x : real\n\na field of `Point`"),
        ("| Ci‸rcle r", "Circle of real\n\na case of `shape`"),
        ("=> r| * 2.0", "r : real"),
        ("val t| :", "val t : 24 \\* 60\n\nkind COMPACTLINEAR · size 1440"),
        ("t : Ti|me", "typedef Time = 24 \\* 60\n\nkind COMPACTLINEAR · size 1440"),
        ("v : int ^ |N", "N : COMPACTLINEAR\n\na type parameter"),
        ("(|v : int", "v : int ^ N"),
        ("(Circle 1|.0", ": real"),
        ("as |g", "import \"geometry.flx\" as g (area, Point)"),
        ("import \"geo|metry", "import geometry.flx\n\n---\n\nShapes in the plane."),
        ("[N:COMPACT|LINEAR", "nothing"),
        ("v|al t", "nothing"),
    ] {
        assert_eq!(hover(&mut client, &uri, needle), told, "{needle}");
    }
    let sum = hover(&mut client, &uri, "z = su|m");
    let head =
        "fun sum[T, I:COMPACTLINEAR with Add[T]](x:T ^ I):T\n\nfrom `stdlib/fold.flx`\n\n---\n\nThe sum of";
    assert!(sum.starts_with(head), "{sum}");
    let print = hover(&mut client, &uri, "print|ln z");
    assert!(print.starts_with("println[T] : T -> void\n\n---\n\n"), "{print}");
    assert_eq!(client.leave(), Some(0));
}

/// A line that is being written has hovers for its valid part.
#[test]
fn hover_tells_of_a_broken_line() {
    let (mut client, uri) = opened("hover_broken");
    for (version, line, needle, told) in [
        (2, "val broken = area (n, ", "ar|ea (n, ", "fun area(w:int, h:int):int"),
        (3, "val broken = twice (n) + ", "twi|ce (n) +", "fun twice(x:int) : int"),
        (4, "val broken = (p.x", "p|.x", "val p : Point"),
        (5, "val broken = [ fir|st".trim_matches('|'), "[ fir", "val first : int"),
        (6, "val broken = ) first", ") first", ""),
    ] {
        let line = line.replace('|', "");
        let text = format!("{PROGRAM}{line}\n");
        client.replace(&uri, version, &text);
        let at = PROGRAM.len() + line.find(&needle.replace('|', "")).expect("a place");
        let at = at + needle.find('|').unwrap_or(needle.len());
        let asked = json!({ "textDocument": { "uri": uri }, "position": position(&text, at) });
        let found = client.request("textDocument/hover", asked).expect("an answer");
        let text = found["contents"]["value"].as_str().unwrap_or_default();
        assert!(text.replace("```felis\n", "").starts_with(told), "{line}: {text}");
    }
    assert_eq!(client.leave(), Some(0));
}

#[test]
fn fields_are_told_while_they_are_written() {
    let (mut client, uri) = opened("fields");
    let text = format!("{PROGRAM}val u = Point (1.0, ");
    client.replace(&uri, 2, &text);
    let asked = json!({ "textDocument": { "uri": uri }, "position": position(&text, text.len()) });
    let help = client.request("textDocument/signatureHelp", asked).expect("an answer");
    assert_eq!(help["signatures"][0]["label"], "Point(x:real, y:real) : Point");
    assert_eq!(help["activeParameter"], 1);
    assert_eq!(help["signatures"][0]["parameters"][1]["label"], json!([14, 20]));
    assert_eq!(client.leave(), Some(0));
}

#[test]
fn definitions_are_found_in_this_text_in_modules_and_in_the_library() {
    let (mut client, uri) = opened("definition");
    for (needle, file, text, target) in [
        ("map tw|ice", "main.flx", PROGRAM, "twice(x"),
        ("n + ar|ea", "geometry.flx", GEOMETRY, "area(w"),
        ("import \"geometry.flx\" as g (ar|ea", "geometry.flx", GEOMETRY, "area(w"),
        ("p : Po|int", "geometry.flx", GEOMETRY, "Point {"),
        ("p.x|)", "geometry.flx", GEOMETRY, "x : real"),
        ("= g|::origin", "main.flx", PROGRAM, "g (area"),
        ("Dot| =>", "main.flx", PROGRAM, "‸Dot | Circle of"),
        ("t : Ti|me", "main.flx", PROGRAM, "Time = 24"),
        ("v|;\nval (first", "main.flx", PROGRAM, "v : int"),
    ] {
        let found = client.at("textDocument/definition", &uri, PROGRAM, needle);
        let at = found["uri"].as_str().unwrap_or_else(|| panic!("{needle}: {found}"));
        assert!(at.ends_with(&format!("/programs/{file}")), "{needle}: {at}");
        assert_eq!(found["range"]["start"], place(text, target), "{needle}");
    }
    // The library's text is a read-only copy.
    let found = client.at("textDocument/definition", &uri, PROGRAM, "z = su|m");
    let path = found["uri"].as_str().expect("a URI").strip_prefix("file://").expect("a file").to_string();
    assert!(path.ends_with("/cache/felis/0.1.0/stdlib/fold.flx"), "{path}");
    let text = std::fs::read_to_string(&path).expect("the copy");
    assert_eq!(slice(&text, &found["range"]), "sum");
    assert!(std::fs::metadata(&path).expect("the copy").permissions().readonly());
    // It is shown with its outline and without diagnostics.
    let copy = format!("file://{path}");
    client.open_text(&copy, &text);
    let symbols = client.request("textDocument/documentSymbol", json!({ "textDocument": { "uri": copy } }));
    let rename = json!({ "newName": "total" });
    let refused = client.asked_at("textDocument/rename", &copy, &text, "fun su|m[T", rename);
    assert!(refused.expect_err("refused")["message"].as_str().expect("a reason").contains("a copy of the"));
    assert!(symbols.expect("symbols").as_array().expect("a list").iter().any(|s| s["name"] == "sum"));
    client.replace(&uri, 2, PROGRAM);
    client.diagnostics(&uri, 2);
    let told = client.told_before();
    assert!(told.iter().all(|told| told["params"]["uri"] != copy), "{told:?}");
    assert_eq!(client.at("textDocument/definition", &uri, PROGRAM, "print|ln z"), Value::Null);
}

/// Returns places as file and text, in order.
fn places(found: &Value) -> Vec<(String, u64, u64)> {
    let all = found.as_array().unwrap_or_else(|| panic!("{found}"));
    let place = |one: &Value| {
        let file = one["uri"].as_str().expect("a URI").rsplit('/').next().expect("a name").to_string();
        let start = &one["range"]["start"];
        (file, start["line"].as_u64().expect("a line"), start["character"].as_u64().expect("a character"))
    };
    all.iter().map(place).collect()
}

#[test]
fn references_go_by_meaning_and_over_files() {
    let (mut client, uri) = opened("references");
    // A text that is not open, with a name of another meaning, and a word in a comment.
    client.file(
        "other.flx",
        "import \"geometry.flx\" as g;\nval area = 1; // area\nprintln (g::area (area, 2));\n",
    );
    let with = json!({ "context": { "includeDeclaration": true } });
    let found = client.asked_at("textDocument/references", &uri, PROGRAM, "n + ar|ea", with.clone());
    let expected = [
        ("geometry.flx", 3, 11),
        ("geometry.flx", 6, 25),
        ("main.flx", 0, 28),
        ("main.flx", 8, 8),
        ("main.flx", 21, 32),
        ("other.flx", 2, 12),
    ];
    let expected: Vec<_> = expected.map(|(file, line, at)| (file.to_string(), line, at)).into();
    assert_eq!(places(&found.expect("places")), expected);
    let without = json!({ "context": { "includeDeclaration": false } });
    let found = client.asked_at("textDocument/references", &uri, PROGRAM, "fun tw|ice", without);
    let here = |line, at| ("main.flx".to_string(), line, at);
    assert_eq!(places(&found.expect("places")), [here(5, 54), here(7, 8)]);
    let marks = client.at("textDocument/documentHighlight", &uri, PROGRAM, "fun tw|ice");
    assert_eq!(marks.as_array().expect("a list").len(), 3);
}

/// Returns the texts after a rename, or the reason for its refusal.
fn renamed(client: &mut Client, uri: &str, needle: &str, name: &str) -> Result<(String, String), String> {
    let more = json!({ "newName": name });
    let done = client.asked_at("textDocument/rename", uri, PROGRAM, needle, more);
    let done = done.map_err(|error| {
        assert_eq!(error["code"], -32803, "{error}");
        error["message"].as_str().expect("a reason").to_string()
    })?;
    let changes = done["changes"].as_object().expect("changes");
    let of = |file: &str, text: &str| {
        let edits = changes.iter().find(|(uri, _)| uri.ends_with(file));
        edits.map_or(text.to_string(), |(_, edits)| edited(text, edits))
    };
    Ok((of("main.flx", PROGRAM), of("geometry.flx", GEOMETRY)))
}

#[test]
fn renames_change_what_means_the_same_and_nothing_else() {
    let (mut client, uri) = opened("rename");
    let (program, geometry) = renamed(&mut client, &uri, "fun tw|ice", "doubled").expect("done");
    assert_eq!(program, PROGRAM.replace("twice", "doubled"));
    assert_eq!(geometry, GEOMETRY);
    let (program, geometry) = renamed(&mut client, &uri, "g::ar|ea", "surface").expect("done");
    assert_eq!(program, PROGRAM.replace("area", "surface"));
    assert_eq!(geometry, GEOMETRY.replace("fun area", "fun surface").replace("=> area", "=> surface"));
    let (program, geometry) = renamed(&mut client, &uri, "p.x|)", "east").expect("done");
    assert_eq!(program, PROGRAM.replace("p.x", "p.east"));
    assert_eq!(geometry, GEOMETRY.replace("{ x :", "{ east :"));
    let (program, _) = renamed(&mut client, &uri, "as |g", "plane").expect("done");
    assert_eq!(program, PROGRAM.replace("as g", "as plane").replace("g::", "plane::"));
    let (program, _) = renamed(&mut client, &uri, "[|N:", "Rows").expect("done");
    assert_eq!(program, PROGRAM.replace("[N:", "[Rows:").replace("int ^ N", "int ^ Rows"));
    let (program, _) = renamed(&mut client, &uri, "| Ci‸rcle r", "Ring").expect("done");
    assert_eq!(program, PROGRAM.replace("Circle", "Ring"));
    let (program, geometry) = renamed(&mut client, &uri, "p : Po|int", "Place").expect("done");
    assert_eq!(program, PROGRAM.replace("Point", "Place"));
    assert_eq!(geometry, GEOMETRY.replace("Point", "Place"));
    // Renaming changes nothing by itself: the same request has the same answer.
    assert!(renamed(&mut client, &uri, "fun tw|ice", "doubled").is_ok());
}

#[test]
fn renames_reach_every_construct() {
    let text = "kind VIS = public | secret;
typefun meet(V:VIS, W:VIS):VIS => typematch (V, W) with | (secret, _) => secret | (_, Other) => Other endmatch;
type Cipher[T, I:COMPACTLINEAR] layout I = T ^ I;
class Shape[T] { fun size : T -> int; fun both(x:T):int => 2 * size x; fun both : T -> int; law ok(x:T) => size x == size x; }
struct box { w:int; h:int; }
instance Shape[box] { fun size(self:box):int => self.w * self.h; }
fun use_it[T with Shape[T]](x:T):int => size x + both x;
val n = use_it (box (1, 2));
fun outer(k:int):int {
  fun inner(j:int):int => j + k;
  var acc = 0;
  for i in 0..k do acc += inner i; done
  val (a, b as whole) = (1, (2, 3));
  val (p, q) = whole;
  return acc + a + p + q + (fun (z:int) => z * k) 3;
}
val f : int ^ ?N = filter (fun (x) => x > 1) (1, 2, 3);
fun same(x : int ^ N) : int ^ N => x;
val g = [ (x, y) for x in ..[2], y in f ];
variant tree[T] = | Leaf | Node of tree[T] * T * tree[T];
fun depth[T](t:tree[T]):int => match t with | Leaf => 0 | Node (l, _, r) => 1 + max (depth l, depth r) endmatch;
";
    let mut client = Client::new("constructs");
    let uri = client.open("constructs.flx", text);
    assert_eq!(client.diagnostics(&uri, 1), Vec::<Value>::new());
    for (needle, places) in [
        ("kind VI‸S", 4),
        ("| (sec‸ret", 3),
        ("(_, Oth‸er)", 2),
        ("layout ‸I", 3),
        ("{ fun si‸ze : T", 6),
        ("(se‸lf:box", 3),
        ("instance Sha‸pe", 3),
        ("both(‸x", 2),
        ("fun bo‸th :", 3),
        ("law o‸k", 1),
        ("self.‸w", 2),
        ("+= inn‸er", 2),
        ("var ac‸c", 3),
        ("as who‸le", 2),
        ("(‸z:int", 2),
        ("outer(‸k", 4),
        ("?‸N", 3),
        ("for ‸x in", 2),
        ("..[2], ‸y", 2),
        ("| No‸de (l", 2),
        ("Node (‸l", 2),
        ("variant tr‸ee", 4),
        ("max (de‸pth", 3),
        ("val ‸f :", 2),
    ] {
        let more = json!({ "newName": "renamed" });
        let done = client.asked_at("textDocument/rename", &uri, text, needle, more);
        let done = done.unwrap_or_else(|error| panic!("{needle}: {error}"));
        let edits = done["changes"][&uri].as_array().expect("edits");
        assert_eq!(edits.len(), places, "{needle}: {edits:?}");
    }
}

#[test]
fn renames_that_would_change_a_meaning_are_refused() {
    let (mut client, uri) = opened("refuse");
    let file = uri.strip_prefix("file://").expect("a file").to_string();
    let in_main = |text: &str| text.replace("FILE", &file);
    for (needle, name, why) in [
        ("val (fir|st,", "n", "`n` in line 9 of `FILE` would mean something else"),
        ("| Circle ‸r", "Dot", "`Dot` in line 15 of `FILE` would mean something else"),
        ("fun tw|ice", "map", "`map` in line 6 of `FILE` would mean something else"),
        ("fun tw|ice", "val", "`val` is a word of the language"),
        ("fun tw|ice", "2x", "`2x` is not a name"),
        ("z = su|m", "total", "`sum` is declared in the standard library, which stays as it is"),
        ("print|ln z", "show", "`println` is part of the language"),
        ("(Circle 1|.0", "x", "there is no name here whose meaning is known"),
    ] {
        let refused = renamed(&mut client, &uri, needle, name).expect_err(needle);
        assert_eq!(refused, in_main(why), "{needle} as {name}");
    }
    let asked = client.asked_at("textDocument/prepareRename", &uri, PROGRAM, "z = su|m", json!({}));
    assert!(asked.expect_err("refused")["message"].as_str().expect("a reason").contains("standard library"));
    let asked = client.at("textDocument/prepareRename", &uri, PROGRAM, "map tw|ice");
    assert_eq!(asked["placeholder"], "twice");
    assert_eq!(slice(PROGRAM, &asked["range"]), "twice");
    // A text that could not be checked may use the name, too.
    let broken = PROGRAM.replace("map twice v", "map twice ) v");
    client.replace(&uri, 2, &broken);
    let asked = json!({ "newName": "doubled" });
    let refused = client.asked_at("textDocument/rename", &uri, &broken, "fun tw|ice", asked);
    let message = refused.expect_err("refused")["message"].as_str().expect("a reason").to_string();
    assert!(message.contains("has errors, and what `twice` means in its line 6 is not known"), "{message}");
    // One word of an import that refers to two functions.
    let two = "export fun f(x:int):int => x;\nexport fun f(x:string):string => x;\n";
    client.open("two.flx", two);
    let user = "import \"two.flx\" (f);\nprintln (f 1, f \"a\");\n";
    let user_uri = client.open("user.flx", user);
    let asked = json!({ "newName": "g" });
    let refused = client.asked_at("textDocument/rename", &user_uri, user, "f| 1", asked);
    let message = refused.expect_err("refused")["message"].as_str().expect("a reason").to_string();
    assert!(
        message.ends_with("imports all functions called `f` by one word, and this is one of them"),
        "{message}"
    );
}

#[test]
fn a_field_of_a_record_is_not_renamed_and_that_of_a_struct_is() {
    let mut client = Client::new("record-fields");
    let text = "struct P { x : int; y : int; }\nval r = (age=36, size=2);\nval p = P (r.age, r.size);\nprintln (p.x + r.age);\nval (age = a, size = _) = r;\nprintln a;\n";
    let uri = client.open("fields.flx", text);
    assert_eq!(client.diagnostics(&uri, 1), Vec::<Value>::new());
    for needle in ["(ag|e=36", "(r.ag|e", "+ r.ag|e", "(ag|e = a"] {
        let asked = client.asked_at("textDocument/prepareRename", &uri, text, needle, json!({}));
        assert_eq!(
            asked.expect_err(needle)["message"],
            "`age` is a field of a record, and records with the same fields are of one type wherever they are written: declare a `struct`, whose fields can be renamed"
        );
    }
    let asked = json!({ "newName": "first" });
    let done = client.asked_at("textDocument/rename", &uri, text, "p.|x", asked).expect("a change");
    let changed = edited(text, &done["changes"][&uri]);
    assert!(changed.contains("struct P { first : int;") && changed.contains("p.first + r.age"), "{changed}");
}

#[test]
fn operators_tell_what_they_do_there() {
    let mut client = Client::new("operators");
    let text = "/// Adds both parts.\nfun + (a:pair, b:pair):pair => pair (a.u + b.u, a.v + b.v);\nstruct pair { u : int; v : real; }\nval p = pair (1, 2.0) + pair (3, 4.0);\nval t = (3 :> cyclic[5]) * (4 :> cyclic[5]);\nval m = (1, 2, 3) + 10;\nval d = 7 / (2 + 3) - 1 - 2;\nval c = p == p and not (1 <= 2);\nval z = complex (1.0, 2.0) * complex (0.0, 1.0);\nval n = -d;\nval s : int * real = (1, 2.0);\n";
    let uri = client.open("operators.flx", text);
    assert_eq!(client.diagnostics(&uri, 1), Vec::<Value>::new());
    let mut told = |needle: &str| {
        let told = client.at("textDocument/hover", &uri, text, needle);
        let told = told["contents"]["value"].as_str().unwrap_or("nothing");
        told.replace("```felis\n", "").replace("\n```\n", "\n").trim_end().to_string()
    };
    for (needle, expected) in [
        (
            "(1, 2.0) |+ pair",
            "fun + (a:pair, b:pair):pair\nfun + (a:pair, b:pair):pair\n\n---\n\nAdds both parts.",
        ),
        (
            "a.u |+ b.u",
            "fun + (a:int, b:int):int\n\n---\n\nAdds; of `cyclic[N]` modulo the size of N. Of two strings, one after the other.",
        ),
        (
            "(3 :> cyclic[5]) |*",
            "fun * (a:cyclic[5], b:cyclic[5]):cyclic[5]\n\nkind COMPACTLINEAR · size 5\n\n---\n\nMultiplies; of `cyclic[N]` modulo the size of N.",
        ),
        (
            "3) |+ 10",
            "fun + (a:int ^ 3, b:int):int ^ 3\n\n3 elements · element by element\n\n---\n\nAdds; of `cyclic[N]` modulo the size of N. Of two strings, one after the other.",
        ),
        (
            "7 |/ (2",
            "fun / (a:int, b:int):int\n\n---\n\nDivides; of integers the quotient, rounded toward zero.",
        ),
        (
            "- 1 |- 2",
            "fun - (a:int, b:int):int\n\n---\n\nSubtracts, or negates; of `cyclic[N]` modulo the size of N.",
        ),
        ("= |-d", "fun - (a:int):int\n\n---\n\nSubtracts, or negates; of `cyclic[N]` modulo the size of N."),
        (
            "p |== p",
            "fun == (a:pair, b:pair):bool\n\n---\n\nWhether two values are equal, in all their parts.",
        ),
    ] {
        assert_eq!(told(needle), expected, "{needle}");
    }
    // The library's operator, with its declaration there.
    let product = told("2.0) |* complex");
    assert!(product.starts_with("fun * (a:complex, b:complex):complex\n"), "{product}");
    // In a type it is not an operator on values.
    assert_eq!(told("s : int |* real"), ": int * real");
}

#[test]
fn declarations_of_the_workspace_are_found() {
    let (mut client, _) = opened("workspace-symbols");
    client.file("deep/other.flx", "struct Area { size : int; }\ntest \"areas add up\" { }\n");
    client.file("broken.flx", "fun area_of(x:int => x;\n");
    let mut found = |query: &str| -> Vec<String> {
        let found = client.request("workspace/symbol", json!({ "query": query })).expect("a list");
        let found = found.as_array().expect("a list").iter().map(|symbol| {
            let uri = symbol["location"]["uri"].as_str().expect("a file");
            let file = uri.rsplit('/').next().unwrap_or_default();
            let line = &symbol["location"]["range"]["start"]["line"];
            let inside = symbol["containerName"].as_str().unwrap_or("-");
            format!("{} {file}:{line} {inside}", symbol["name"].as_str().expect("a name"))
        });
        let mut found: Vec<String> = found.collect();
        found.sort();
        found
    };
    assert_eq!(
        found("area"),
        [
            "Area other.flx:0 -",
            "area geometry.flx:3 -",
            "area_of broken.flx:0 -",
            "test \"areas add up\" other.flx:1 -"
        ]
    );
    assert_eq!(found("Crcl"), ["Circle main.flx:2 shape"]);
    assert_eq!(found("no such thing"), Vec::<String>::new());
    assert!(found("").len() > 15);
}

#[test]
fn paths_of_imports_are_completed() {
    let (mut client, uri) = opened("import-paths");
    client.file("deep/one.flx", "");
    client.file("deep/two.flx", "");
    client.file("notes.txt", "");
    let mut version = 1;
    let mut found = |line: &str, more: Value| -> Vec<String> {
        version += 1;
        let text = format!("{line}\n{PROGRAM}");
        client.replace(&uri, version, &text);
        let mut asked = json!({ "textDocument": { "uri": uri }, "position": position(&text, line.len()) });
        asked["context"] = more;
        let found = client.request("textDocument/completion", asked).expect("an answer");
        found["items"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|item| {
                // The inserted text continues the path.
                let (label, put) = (item["label"].as_str().expect("a label"), &item["textEdit"]["newText"]);
                assert_eq!(put, label);
                label.to_string()
            })
            .collect()
    };
    let typed = json!({ "triggerKind": 2, "triggerCharacter": "\"" });
    assert_eq!(found("import \"", typed.clone()), ["geometry.flx", "deep/"]);
    assert_eq!(found("import \"deep/", Value::Null), ["one.flx", "two.flx"]);
    assert_eq!(found("import \"deep/t", Value::Null), ["two.flx"]);
    assert_eq!(found("import \"deep/../geo", Value::Null), ["geometry.flx"]);
    assert_eq!(found("import \"nowhere/", Value::Null), Vec::<String>::new());
    assert_eq!(found("println \"", typed), Vec::<String>::new());
    let slash = json!({ "triggerKind": 2, "triggerCharacter": "/" });
    assert_eq!(found("println (1 /", slash), Vec::<String>::new());
}

#[test]
fn missing_arms_are_added() {
    let mut client = Client::new("arms");
    let text = "variant shape = | Dot | Circle of real | Box of real * real;\nfun area(s:shape):real =>\n  match s with\n  | Circle r => r\n  endmatch;\nproc show(s:shape) {\n  match s do\n  | Dot => println 1;\n  done\n}\nfun sign(b:2) => match b with | true => 1 endmatch;\n";
    let uri = client.open("arms.flx", text);
    assert_eq!(client.diagnostics(&uri, 1).len(), 3);
    let mut version = 1;
    let mut text = text.to_string();
    for needle in ["match |s with", "match |s do", "match |b with"] {
        let at = place(&text, needle);
        let asked = json!({
            "textDocument": { "uri": uri }, "range": { "start": at, "end": at }, "context": { "diagnostics": [] },
        });
        let actions = client.request("textDocument/codeAction", asked).expect("actions");
        let [action] = &actions.as_array().expect("a list")[..] else { panic!("{actions}") };
        text = edited(&text, &action["edit"]["changes"][&uri]);
        version += 1;
        client.replace(&uri, version, &text);
    }
    assert_eq!(client.diagnostics(&uri, version), Vec::<Value>::new());
    let expected = "variant shape = | Dot | Circle of real | Box of real * real;\nfun area(s:shape):real =>\n  match s with\n  | Circle r => r\n  | Dot => fail \"not written yet\"\n  | Box _ => fail \"not written yet\"\n  endmatch;\nproc show(s:shape) {\n  match s do\n  | Dot => println 1;\n  | Circle _ => ;\n  | Box _ => ;\n  done\n}\nfun sign(b:2) => match b with | true => 1 | false => fail \"not written yet\" endmatch;\n";
    assert_eq!(text, expected);
}

/// Returns labels with kinds and details, the first ones.
fn completed(
    client: &mut Client,
    uri: &str,
    version: i32,
    after: &str,
    typed: &str,
) -> Vec<(String, String)> {
    completed_at(client, uri, version, after, typed, typed.len())
}

/// Returns the same for a place within what is typed.
fn completed_at(
    client: &mut Client,
    uri: &str,
    version: i32,
    after: &str,
    typed: &str,
    cursor: usize,
) -> Vec<(String, String)> {
    let at = PROGRAM.find(after).expect("a place") + after.len();
    let text = format!("{}{typed}{}", &PROGRAM[..at], &PROGRAM[at..]);
    client.replace(uri, version, &text);
    let place = position(&text, at + cursor);
    let asked = json!({ "textDocument": { "uri": uri }, "position": place });
    let found = client.request("textDocument/completion", asked).expect("a list");
    let items = found["items"].as_array().expect("a list").clone();
    let detail = |item: &Value| item["detail"].as_str().unwrap_or("").to_string();
    items.iter().map(|item| (item["label"].as_str().expect("a label").to_string(), detail(item))).collect()
}

#[test]
fn completion_knows_what_is_in_scope_and_what_stands_before_a_dot() {
    let (mut client, uri) = opened("completion");
    let pairs = |all: &[(&str, &str)]| -> Vec<(String, String)> {
        all.iter().map(|(name, detail)| (name.to_string(), detail.to_string())).collect()
    };
    let inside = "val z = sum (1, 2, 3);\n";
    for (version, after, typed, expected) in [
        (2, inside, "  p.", pairs(&[("x", "real"), ("y", "real")])),
        (3, inside, "  println (g::origin.", pairs(&[("x", "real"), ("y", "real")])),
        (4, inside, "  println (fir", pairs(&[("first", "int")])),
        (5, inside, "  val q = g::a", pairs(&[("g::area", "int ^ 2 -> int")])),
        (6, inside, "  if z > 1 do println (z", pairs(&[("z", "int"), ("zero", "unit -> T"), ("zip", "")])),
        (7, "typedef Time = 24 \\* 60;\n", "val u : Ti", pairs(&[("Time", "")])),
        (8, "typedef Time = 24 \\* 60;\n", "fun h[Lines:COMPACTLINEAR](x:int ^ Li", pairs(&[("Lines", "")])),
        (9, "typedef Time = 24 \\* 60;\n", "fun h(whole:int):int => 1 + who", pairs(&[("whole", "int")])),
        (10, inside, "  // fir", Vec::new()),
        (11, inside, "  println \"fir", Vec::new()),
        // The type of a parameter is that which the call gives it.
        (12, inside, "  val q = map (fun q => q.) (p, p);", pairs(&[("x", "real"), ("y", "real")])),
        (13, inside, "  val q = (p, p) |> map (fun q => 1.0 + q.);", pairs(&[("x", "real"), ("y", "real")])),
        (
            14,
            inside,
            "  val q = fold (fun (a, q) => a + q.) 0.0 (p, p);",
            pairs(&[("x", "real"), ("y", "real")]),
        ),
    ] {
        let cursor = typed.find(".)").map_or(typed.len(), |at| at + 1);
        let found = completed_at(&mut client, &uri, version, after, typed, cursor);
        assert!(found.starts_with(&expected), "{typed}: {found:?}");
        assert!(found.len() < 10 && (!expected.is_empty() || found.is_empty()), "{typed}: {found:?}");
    }
    // At an empty place all names are offered; the nearest come first.
    let all = completed(&mut client, &uri, 15, inside, "  println ");
    assert_eq!(all[0], ("z".to_string(), "int".to_string()));
    for name in ["first", "twice", "sum", "endif", "Time", "g"] {
        assert!(all.iter().any(|(label, _)| label == name), "{name}");
    }
    assert!(all.iter().all(|(label, _)| !label.starts_with('_') && label != "nothing_written_yet"));
    // Details are computed on request.
    let item = json!({ "label": "transpose", "data": { "name": "transpose" } });
    let item = client.request("completionItem/resolve", item).expect("an item");
    assert!(item["detail"].as_str().expect("a type").starts_with("transpose[T, N:COMPACTLINEAR"), "{item}");
    assert!(item["documentation"]["value"].as_str().expect("a doc").starts_with("Exchanges the axes"));
}

#[test]
fn parameters_are_told_while_they_are_written() {
    let (mut client, uri) = opened("parameters");
    for (version, typed, label, parameter) in [
        (2, "val u = area (1, ", "fun area(w:int, h:int):int", "h:int"),
        (3, "val u = area (", "fun area(w:int, h:int):int", "w:int"),
        (4, "val u = map twice (", "fun map[T, U, I:COMPACTLINEAR](f:T -> U)(x:T ^ I):U ^ I", "f:T -> U"),
        (5, "val u = map (twice) (", "fun map[T, U, I:COMPACTLINEAR](f:T -> U)(x:T ^ I):U ^ I", "x:T ^ I"),
        (6, "val u = twice.map (", "fun map[T, U, I:COMPACTLINEAR](f:T -> U)(x:T ^ I):U ^ I", "x:T ^ I"),
        // Without parentheses.
        (7, "val u = map ", "fun map[T, U, I:COMPACTLINEAR](f:T -> U)(x:T ^ I):U ^ I", "f:T -> U"),
        (8, "val u = map tw", "fun map[T, U, I:COMPACTLINEAR](f:T -> U)(x:T ^ I):U ^ I", "f:T -> U"),
        (9, "val u = map twice ", "fun map[T, U, I:COMPACTLINEAR](f:T -> U)(x:T ^ I):U ^ I", "x:T ^ I"),
        (10, "val u = 1 + area$ 1, ", "fun area(w:int, h:int):int", "h:int"),
        (11, "val u = twice.map fi", "fun map[T, U, I:COMPACTLINEAR](f:T -> U)(x:T ^ I):U ^ I", "x:T ^ I"),
        (
            12,
            "val u = area (first, first + map ",
            "fun map[T, U, I:COMPACTLINEAR](f:T -> U)(x:T ^ I):U ^ I",
            "f:T -> U",
        ),
        (13, "val u = area (first, first + ", "fun area(w:int, h:int):int", "h:int"),
    ] {
        let text = format!("{PROGRAM}{typed}");
        client.replace(&uri, version, &text);
        let asked = json!({ "textDocument": { "uri": uri }, "position": position(&text, text.len()) });
        let help = client.request("textDocument/signatureHelp", asked).expect("an answer");
        if typed.contains("twice (") {
            // The parenthesis belongs to `twice`.
            assert_eq!(help["signatures"][0]["label"], "fun twice(x:int) : int", "{typed}");
            continue;
        }
        let form = &help["signatures"][help["activeSignature"].as_u64().expect("a number") as usize];
        assert_eq!(form["label"], label, "{typed}");
        let active =
            &form["parameters"][help["activeParameter"].as_u64().expect("a number") as usize]["label"];
        let at = |end: usize| active[end].as_u64().expect("a place") as usize;
        assert_eq!(&label[at(0)..at(1)], parameter, "{typed}");
    }
    let asked = json!({ "textDocument": { "uri": uri }, "position": place(PROGRAM, "val z| =") });
    client.replace(&uri, 14, PROGRAM);
    assert_eq!(client.request("textDocument/signatureHelp", asked), Ok(Value::Null));
}

#[test]
fn inferred_types_symbols_and_folds() {
    let (mut client, uri) = opened("structure");
    let document = json!({ "uri": uri });
    let range = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 99, "character": 0 } });
    let hints = client.request("textDocument/inlayHint", json!({ "textDocument": document, "range": range }));
    let hints = hints.expect("hints");
    let shown = hints.as_array().expect("a list").iter().map(|hint| {
        let line = hint["position"]["line"].as_u64().expect("a line") as usize;
        let at = hint["position"]["character"].as_u64().expect("a character") as usize;
        let line = PROGRAM.lines().nth(line).expect("a line");
        format!("{}‹{}›", &line[..at], hint["label"].as_str().expect("a label"))
    });
    let expected = [
        "fun twice(x:int)‹: int›",
        "val (first‹: int›",
        "val (first, second‹: real›",
        "var n‹: int›",
        "  | Circle r‹: real›",
        "  val z‹: int›",
    ];
    assert_eq!(shown.collect::<Vec<_>>(), expected);

    let symbols = client.request("textDocument/documentSymbol", json!({ "textDocument": document }));
    let symbols = symbols.expect("symbols");
    let names = symbols.as_array().expect("a list").iter().map(|symbol| {
        let name = symbol["name"].as_str().expect("a name").to_string();
        assert_eq!(slice(PROGRAM, &symbol["selectionRange"]), name);
        let inside = symbol["children"].as_array().map_or(0, Vec::len);
        format!("{name} {} {inside}", symbol["detail"].as_str().unwrap_or("-"))
    });
    let expected = [
        "Time - 0",
        "shape - 2",
        "twice int -> int 0",
        "each int ^ N -> int ^ N 0",
        "first int 0",
        "second real 0",
        "n int 0",
        "p Point 0",
        "width shape -> real 0",
        "go unit -> void 0",
        "t 24 \\* 60 0",
    ];
    assert_eq!(names.collect::<Vec<_>>(), expected);

    let folds = client.request("textDocument/foldingRange", json!({ "textDocument": document }));
    let folds = folds.expect("folds");
    let lines =
        folds.as_array().expect("a list").iter().map(|fold| {
            (fold["startLine"].as_u64().expect("a line"), fold["endLine"].as_u64().expect("a line"))
        });
    assert_eq!(lines.collect::<Vec<_>>(), [(12, 14), (16, 18)]);
}

#[test]
fn words_are_colored_by_meaning() {
    let mut client = Client::new("colors");
    let text = "/* 𝒳 */ struct P { q : int; } // 𝒳\nfun f[N:COMPACTLINEAR](p:P, v:int ^ N) => p.q + sum v;\nvar n = 1; /* a\nb */ n = 2;\n";
    let uri = client.open("colors.flx", text);
    let asked = json!({ "textDocument": { "uri": uri } });
    let found = client.request("textDocument/semanticTokens/full", asked).expect("tokens");
    let kinds = client.abilities["semanticTokensProvider"]["legend"]["tokenTypes"].clone();
    let data: Vec<u64> =
        found["data"].as_array().expect("numbers").iter().map(|n| n.as_u64().expect("a number")).collect();
    let (mut line, mut start) = (0, 0);
    let mut shown = Vec::new();
    for token in data.chunks(5) {
        start = if token[0] == 0 { start + token[1] } else { token[1] };
        line += token[0];
        let end = json!({ "line": line, "character": start + token[2] });
        let range = json!({ "start": { "line": line, "character": start }, "end": end });
        let kind = kinds[token[3] as usize].as_str().expect("a kind");
        if kind != "operator" && kind != "keyword" && kind != "number" {
            shown.push(format!("{} {kind} {}", slice(text, &range), token[4]));
        }
    }
    // Declarations have bit 1, immutable names bit 2, names of the language or the library bit 4.
    let expected = [
        "/* 𝒳 */ comment 0",
        "P struct 1",
        "q property 1",
        "int type 4",
        "// 𝒳 comment 0",
        "f function 1",
        "N typeParameter 1",
        "COMPACTLINEAR class 4",
        "p variable 3",
        "P struct 0",
        "v variable 3",
        "int type 4",
        "N typeParameter 0",
        "p variable 2",
        "q property 0",
        "sum function 4",
        "v variable 2",
        "n variable 1",
        "/* a comment 0",
        "b */ comment 0",
        "n variable 0",
    ];
    assert_eq!(shown, expected);
}

/// A program with keys and ciphertexts, which no build runs while it is edited.
const SEALED: &str = "typedef scheme = bfv[8192, 2];
val (secret, public) : (secret_key[?k, scheme] * public_key[?k, scheme]) = #keygen[scheme];
val turns = keys_for_rotations secret;
val sealed = encrypt (public, [1i8, 2i8, 3i8, 4i8]);
val turned = rotate (sealed, 1, turns);
val rows = [ sealed, turned ];
fun both[k:COMPACTLINEAR](x:cipher[k, int], y:cipher[k, int]):cipher[k, int] => x + y;
";

#[test]
fn keys_and_ciphertexts_are_told_and_completed() {
    let mut client = Client::new("ciphers");
    let uri = client.open("main.flx", SEALED);
    assert_eq!(client.diagnostics(&uri, 1), Vec::<Value>::new());
    for (needle, told) in [
        ("val sea|led", "val sealed : packed[k, i8, 4]"),
        ("rotate (sea|led", "val sealed : packed[k, i8, 4]"),
        ("rotate (sealed, 1, tur|ns", "val turns : rotation_keys[k]"),
        ("val ro|ws", "val rows : packed[k, i8, 4] ^ 2"),
        ("(secret, pub|lic)", "val public : public_key[k, bfv[8192, 2]]"),
        ("(sec|ret, public)", "val secret : secret_key[k, bfv[8192, 2]]"),
        ("=> x| + y", "x : cipher[k, int]"),
    ] {
        let told_here = client.at("textDocument/hover", &uri, SEALED, needle);
        let text = told_here["contents"]["value"].as_str().unwrap_or("nothing").to_string();
        assert!(text.contains(told), "{needle}: {text}");
    }
    let rotate = client.at("textDocument/hover", &uri, SEALED, "= rot|ate");
    let text = rotate["contents"]["value"].as_str().unwrap_or("nothing");
    assert!(text.contains("packed[k, T, I]") && text.contains("in cyclic indices"), "{text}");
    for (version, typed, label) in [
        (2, "val a = decr", "decrypt"),
        (3, "fun f[k:COMPACTLINEAR](x:ciph", "cipher"),
        (4, "val b = inner", "inner_sum"),
        (5, "val c = tur", "turned"),
        (6, "fun g[k:COMPACTLINEAR](x:pack", "packed"),
    ] {
        let text = format!("{SEALED}{typed}");
        client.replace(&uri, version, &text);
        let place = position(&text, text.len());
        let asked = json!({ "textDocument": { "uri": uri }, "position": place });
        let found = client.request("textDocument/completion", asked).expect("a list");
        let items = found["items"].as_array().expect("a list");
        let offered = items.iter().any(|item| item["label"] == label);
        assert!(offered, "{typed}: {found}");
    }
}
