//! Meshes: reductions through random tables of neighbors against a model, and types over sizes that
//! arrive; the same in every executor. `FELIS_SEED` repeats a run.

use crate::random::{Dice, number, run};

/// Returns a list as Felis writes it.
fn list(numbers: &[i64]) -> String {
    let all: Vec<String> = numbers.iter().map(i64::to_string).collect();
    format!("[{}]", all.join(", "))
}

/// Returns a list as Felis prints it.
fn printed(numbers: &[i64]) -> String {
    let text = list(numbers);
    if numbers.len() == 1 { text + "\n" } else { format!("({})\n", &text[1..text.len() - 1]) }
}

#[test]
fn reductions_leave_gaps_out() {
    let mut dice = Dice::seeded();
    for _ in 0..number("FELIS_RANDOM").unwrap_or(40) {
        let (nodes, rows, columns, levels) =
            (3 + dice.roll(6), 3 + dice.roll(6), 2 + dice.roll(3), 3 + dice.roll(3));
        let gaps = dice.roll(2) == 0;
        let raw: Vec<i64> = (0..rows * columns)
            .map(|_| if gaps && dice.roll(3) == 0 { -1 } else { dice.roll(nodes) as i64 })
            .collect();
        // Nodes before the levels or after them.
        let first = dice.roll(2) == 0;
        let x: Vec<i64> = (0..nodes * levels).map(|_| dice.roll(100) as i64 - 50).collect();
        let at = |node: usize, level: usize| {
            if first { x[node * levels + level] } else { x[level * nodes + node] }
        };
        let mut program = format!(
            "newtype Node = {nodes};\nnewtype Row = {rows};\nnewtype Level = {levels};\n\
             val raw = {} :>> int ^ (Row \\* {columns});\nval x = {} :>> int ^ ({});\n",
            list(&raw),
            list(&x),
            if first { "Node \\* Level" } else { "Level \\* Node" },
        );
        program += if gaps { "val t = table[Node] (-1) raw;\n" } else { "val t = full_table[Node] raw;\n" };
        let mut expected = String::new();
        let mut show = |term: &str, of: &dyn Fn(&[i64]) -> i64| {
            program += &format!("println [ v for v in ({term}) :>> int ^ {} ];\n", rows * levels);
            let value = |row: usize, level: usize| {
                let neighbors = raw[row * columns..(row + 1) * columns].iter().filter(|n| **n >= 0);
                of(&neighbors.map(|n| at(*n as usize, level)).collect::<Vec<_>>())
            };
            let places = (0..rows * levels)
                .map(|i| if first { (i / levels, i % levels) } else { (i % rows, i / rows) });
            expected += &printed(&places.map(|(row, level)| value(row, level)).collect::<Vec<_>>());
        };
        show("sum_through t x", &|all| all.iter().sum());
        show("reduce_through (t, fun (s:int, v:int) => 3 * s + v, 1) x", &|all| {
            all.iter().fold(1, |s, v| 3 * s + v)
        });
        let all = raw.chunks(columns).all(|row| row.iter().any(|n| *n >= 0));
        if all {
            show("max_through t x", &|all| *all.iter().max().unwrap());
            show("min_through t x", &|all| *all.iter().min().unwrap());
        }
        assert_eq!(run(&program), expected, "{program}");
    }
}

#[test]
fn tables_compose_and_invert() {
    let mut dice = Dice::seeded();
    for _ in 0..number("FELIS_RANDOM").unwrap_or(40) {
        let (nodes, rows, cells) = (3 + dice.roll(5), 3 + dice.roll(5), 3 + dice.roll(5));
        let mut raw = |rows: usize, below: usize| -> Vec<i64> {
            (0..rows * 2).map(|_| if dice.roll(4) == 0 { -1 } else { dice.roll(below) as i64 }).collect()
        };
        let (of_rows, of_cells) = (raw(rows, nodes), raw(cells, rows));
        let program = format!(
            "newtype Node = {nodes};\nnewtype Row = {rows};\nnewtype Cell = {cells};\n\
             val s = table[Node] (-1) ({} :>> int ^ (Row \\* 2));\n\
             val t = table[Row] (-1) ({} :>> int ^ (Cell \\* 2));\n\
             val x = [ (n :>> int) * (n :>> int) + 1 for n in ..[Node] ];\n\
             val y = [ (n :>> int) * 3 + 1 for n in ..[Row] ];\n\
             println (sum_through (compose_tables t s) x == sum_through t (sum_through s x));\n\
             println [ v for v in sum_through (inverse_table s) y ];\n\
             println [ v for v in sum_through (ragged_inverse s) y ];\n\
             println [ v for v in reduce_through (ragged_inverse s, fun (a:int, b:int) => 2 * a + b, 1) y ];\n",
            list(&of_rows),
            list(&of_cells),
        );
        let rows_of = |node: usize| {
            let entries = of_rows.iter().enumerate().filter(move |(_, n)| **n == node as i64);
            entries.map(|(at, _)| (at / 2) as i64 * 3 + 1)
        };
        let sums: Vec<i64> = (0..nodes).map(|node| rows_of(node).sum()).collect();
        let folds: Vec<i64> = (0..nodes).map(|node| rows_of(node).fold(1, |a, b| 2 * a + b)).collect();
        let expected = format!("true\n{}{}{}", printed(&sums), printed(&sums), printed(&folds));
        assert_eq!(run(&program), expected, "{program}");
    }
}

#[test]
fn a_number_that_is_no_neighbor_is_named_by_its_place() {
    let program =
        "val raw = (0, 1, 1, 2, 3, 4) :>> int ^ (3 \\* 2);\nval t = table[4] (-1, \"edges.nc\") raw;\n";
    let message = "E0506: edges.nc has 4 in row 2, column 1: an index is 0 to 3, and -1 a gap\n";
    assert_eq!(run(program), message);
    let program = "val raw = (0, 1, 1, -1, 3, 2) :>> int ^ (3 \\* 2);\nval t = full_table[4] raw;\n";
    assert_eq!(run(program), "E0506: the table has -1 in row 1, column 1: an index is 0 to 3\n");
    let program = "val t = ragged[3] ((0, 2, 1, 3) :>> int ^ half[3]) (0, 1, 2);\n";
    let message = "E0506: the offsets of the table do not rise from 0 to 3, the number of its neighbors\n";
    assert_eq!(run(program), message);
    let program = "println (max_through (table[3] (-1) ((0, -1, -1, -1) :>> int ^ (2 \\* 2))) (1, 2, 3));\n";
    assert_eq!(run(program), "E0506: row 1 of the table has no neighbors\n");
}

#[test]
fn meshes_of_equal_size_do_not_mix() {
    let two = "
        val a : real ^ ?V = [ 1.0 for _ in iota 3 ];
        newtype Vertex = V;
        val b : real ^ ?W = [ 2.0 for _ in iota 3 ];
        newtype Other = W;
        require V == W;
        val (x, y) = (a :>> real ^ Vertex, b :>> real ^ Other);
    ";
    let mixed = |text: &str| format!("{two} println ({text});\n");
    assert_eq!(run(&mixed("sum_over[Vertex] x, sizeof[Other] ()")), "(3.0, 3)\n");
    let message = "E0415: `+` works element by element, but `real ^ Vertex` and `real ^ Other` have different index types\n";
    assert!(run(&mixed("x + y")).ends_with(message));
    let table = "full_table[Vertex] ((0, 1, 2, 2) :>> int ^ (2 \\* 2))";
    assert_eq!(run(&mixed(&format!("sum_through ({table}) x"))), "(2.0, 2.0)\n");
    let message = "E0320: `real ^ Other` has no axis `Vertex`\n";
    assert!(run(&mixed(&format!("sum_through ({table}) y"))).ends_with(message));
    // A function on the mesh is declared after it.
    let function = format!("{two} fun total(u:real ^ Vertex):real => sum u; println (total x);\n");
    assert_eq!(run(&function), "3.0\n");
}

#[test]
fn a_newtype_in_a_function_is_over_its_sizes() {
    let program = "
        proc show[N:COMPACTLINEAR](u:int ^ N, n:int) {
          val a : int ^ ?V = iota n;
          newtype Vertex = V;
          newtype Row = N;
          val x = a :>> int ^ Vertex;
          val t = over[Row \\* Vertex] x + over[Row \\* Vertex] (u :>> int ^ Row);
          println (sum_over[Vertex] t, sum_over[Row] t);
          fun code(k:Vertex):int => k :>> int;
          println [ code k for k in ..[Vertex] ];
        }
        show ((10, 20, 30), 4);
        show ((1, 2, 3, 4), 3);
    ";
    let printed =
        "((46, 86, 126), (60, 63, 66, 69))\n(0, 1, 2, 3)\n((6, 9, 12, 15), (10, 14, 18))\n(0, 1, 2)\n";
    assert_eq!(run(program), printed);
}

#[test]
fn the_icosahedron_is_divided_into_a_closed_mesh() {
    let program = "
        fun summary(level:int):string {
          val (points = p, ends = e, vertices = v, edges = s, cells = c) = icosahedral level;
          val points : real ^ 3 ^ ?V = p;
          val vertices : V ^ (?C \\* 3) = v;
          val ends : V ^ (?E \\* 2) = e;
          val edges : E ^ (C \\* 3) = s;
          val cells : C ^ (E \\* 2) = c;
          val joined = all [
            {
              val edge = edges.(c \\, j);
              val (x, y) = (vertices.(c \\, j), vertices.(c \\, j.around 1));
              val (a, b) = (ends.(edge \\, `0:2), ends.(edge \\, `1:2));
              a == x and b == y or a == y and b == x
            } for c in ..[C], j in ..[3]
          ];
          val beside = all [
            cells.(edges.(c \\, j) \\, `0:2) == c or cells.(edges.(c \\, j) \\, `1:2) == c for c in ..[C], j in ..[3]
          ];
          val unit = max [ abs (sum (q * q) - 1.0) for q in points ] < 1.0e-14;
          return f\"{sizeof[V] ()} {sizeof[E] ()} {sizeof[C] ()} {joined} {beside} {unit}\";
        }
        for level in 0..2 perform println (summary level);
    ";
    let printed = "12 30 20 true true true\n42 120 80 true true true\n162 480 320 true true true\n";
    assert_eq!(run(program), printed);
}

/// The number of kernels that a program is compiled to.
pub fn kernels(program: &str) -> u64 {
    use felis::session::{Executor, Mode, Session, Status, on_large_stack};
    on_large_stack(|| {
        let mut session = Session::new().with_executor(Executor::Eager, 1);
        let outcome = session.evaluate("kernels", program, Mode::Script, &mut |_| ());
        assert_eq!(outcome.status, Status::Ok, "{program}");
        session.metrics().kernels
    })
}

#[test]
fn sizes_and_meshes_share_a_kernel() {
    let sums = |sizes: &[[usize; 3]]| -> String {
        let one = |(at, [a, b, c]): (usize, &[usize; 3])| {
            format!(
                "newtype A{at} = {a}; newtype B{at} = {b}; newtype C{at} = {c};\n\
                 val u{at} = [ (i :>> int) % 7 for i in ..[A{at} \\* B{at} \\* C{at}] ];\n\
                 val s{at} = sum_over[B{at}] u{at};\n"
            )
        };
        sizes.iter().enumerate().map(one).collect()
    };
    assert_eq!(kernels(&sums(&[[30, 40, 50], [31, 42, 53], [33, 45, 57]])), kernels(&sums(&[[30, 40, 50]])));
    let meshes = |sizes: &[[usize; 2]]| -> String {
        let one = |(at, [v, e]): (usize, &[usize; 2])| {
            format!(
                "newtype Vertex{at} = {v}; newtype Edge{at} = {e};\n\
                 val raw{at} = [ ((k :>> int) * 7) % {v} for k in ..[Edge{at} \\* 2] ];\n\
                 val t{at} = full_table[Vertex{at}] raw{at};\n\
                 val x{at} = [ (k :>> int) :> real for k in ..[Vertex{at}] ];\n\
                 val s{at} = sum_through t{at} x{at};\n"
            )
        };
        sizes.iter().enumerate().map(one).collect()
    };
    // The number that the program takes a remainder by is in its text, so it is a kernel of its
    // own.
    let one = kernels(&meshes(&[[60, 90]]));
    assert_eq!(kernels(&meshes(&[[60, 90], [70, 95]])), one + 1);
}

#[test]
fn fields_of_a_struct_are_read_where_they_are() {
    let program = "
        struct grid[Cell:COMPACTLINEAR] { up : Cell ^ Cell; inner : (a:real ^ Cell, b:int); others : int ^ (Cell \\* 10); }
        newtype Cell = 3000;
        val g = grid ([ c.around 1 for c in ..[Cell] ], (a = fill 0.5, b = 3), fill 7);
        fun moved_up[Cell:COMPACTLINEAR](g:grid[Cell])(x:real ^ Cell):real ^ Cell =>
          (g.inner.b :> real) * through g.up x + g.inner.a;
        val x = [ c :>> int :> real for c in ..[Cell] ];
        println (sum (moved_up g x));
        println (sum (moved_up (g with (others = g.others + 1)) x), sum g.others);
    ";
    assert_eq!(run(program), "13497000.0\n(13497000.0, 210000)\n");
}

#[test]
fn a_block_with_a_value_has_types_of_its_own() {
    let program = "
        val q = { val a : int ^ ?N = iota 3; newtype Vertex = N; sum (a :>> int ^ Vertex) };
        newtype Vertex = 2;
        fun f(n:int):int {
          val total = {
            val a : int ^ ?N = iota n;
            newtype Row = N;
            newtype Column = Row;
            sum_over[Column] (a :>> int ^ Column)
          };
          return total + sizeof[Vertex] ();
        }
        println (q, f 4, sizeof[Vertex] ());
    ";
    assert_eq!(run(program), "(3, 8, 2)\n");
}

#[test]
fn ragged_rows_have_extremes_and_weights() {
    let program = r"
        newtype V = 3; newtype E = 3; newtype L = 2;
        val r = ragged[V] ((0, 2, 3, 6) :>> int ^ half[E]) (0, 1, 2, 2, 0, 2);
        val x = [ (5 * (i :>> int) + 3) % 7 for i in ..[L \* V] ];
        println x;
        println (max_through r x, min_through r x);
        println (weighted_through (r, (1, 10, 100, 1, 2, 4)) x);
        println (sum_through r x == weighted_through (r, fill[6] 1) x);
    ";
    let printed = "(3, 1, 6, 4, 2, 0)\n\
        ((3, 6, 6, 4, 0, 4), (1, 6, 3, 2, 0, 0))\n\
        (13, 600, 36, 24, 0, 8)\n\
        true\n";
    assert_eq!(run(program), printed);
    let empty = "println (max_through (ragged[2] ((0, 1, 1) :>> int ^ half[2]) [0]) (5, 6));";
    assert!(run(empty).contains("row 1 of the table has no neighbors"), "{}", run(empty));
    let few =
        "println (weighted_through (ragged[2] ((0, 1, 2) :>> int ^ half[2]) (0, 1), (1, 2, 3)) (5, 6));";
    assert!(run(few).contains("3 weights do not fit a table of 2 neighbors"), "{}", run(few));
}

#[test]
fn tables_without_gaps_compose_and_invert() {
    let program = r"
        newtype V = 4; newtype E = 5; newtype C = 2;
        val ends = full_table[V] ((0, 1, 1, 2, 2, 3, 3, 0, 0, 2) :>> int ^ (E \* 2));
        val sides = full_table[E] ((0, 1, 4, 2, 3, 4) :>> int ^ (C \* 3));
        val x = (1, 10, 100, 1000) :>> int ^ V;
        println (partial (compose_tables sides ends) == compose_tables (partial sides) (partial ends));
        println (sum_through (compose_tables sides ends) x);
        println (sum_through (inverse_table ends) (#iota[5] :>> int ^ E));
    ";
    assert_eq!(run(program), "true\n(222, 2202)\n(7, 1, 7, 5)\n");
}
