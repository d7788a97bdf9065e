//! Visits of trees: every child of a node is visited once.
//!
//! They parse, so they stand here: as unit tests they had the whole grammar compiled a second time.

use felis_base::source::SourceMap;
use felis_syntax::syntax::visit::Node;

/// The number of nodes of each sort in a program.
fn counts(text: &str) -> [usize; 4] {
    fn count(node: Node<'_>, found: &mut [usize; 4]) {
        found[match node {
            Node::Stmt(_) => 0,
            Node::Expr(_) => 1,
            Node::Pattern(_) => 2,
            Node::Type(_) => 3,
        }] += 1;
        node.for_each_child(&mut |child| count(child, found));
    }
    let parsed = felis_syntax::syntax::parse(&SourceMap::new().add("", text));
    assert!(parsed.errors.is_empty(), "{text}");
    let mut found = [0; 4];
    parsed.stmts.iter().for_each(|stmt| count(Node::Stmt(stmt), &mut found));
    found
}

#[test]
fn every_child_is_visited_once() {
    for (text, expected) in [
        ("val (x, y) : int * real = (1, 2.0);", [1, 3, 3, 3]),
        ("fun f[T with Add[T]](x:T, y:T = x):T => x + y;", [1, 4, 2, 4]),
        ("match e do | (case 0 x) | `1:3 => f x; | _ when c => g; done", [3, 6, 5, 1]),
        ("[ e + 1 for e in xs if e > 0 ] :>> int ^ 3;", [1, 9, 1, 3]),
        ("class C[T] { fun f : T -> T; law l(x:T) => f x == x; }", [1, 5, 1, 4]),
    ] {
        assert_eq!(counts(text), expected, "{text}");
    }
}

#[test]
fn types_of_alternatives_are_visited() {
    let source = SourceMap::new().add("", "match e with | (x:int) | ((y:real), z) => 1 endmatch;");
    let parsed = felis_syntax::syntax::parse(&source);
    let mut found = Vec::new();
    fn walk(node: Node<'_>, found: &mut Vec<String>) {
        match node {
            Node::Pattern(pattern) => {
                pattern.for_each_type(&mut |ty| found.push(felis_syntax::syntax::unparse::print_type(ty)))
            }
            other => other.for_each_child(&mut |child| walk(child, found)),
        }
    }
    parsed.stmts.iter().for_each(|stmt| walk(Node::Stmt(stmt), &mut found));
    assert_eq!(found, ["int", "real"]);
}
