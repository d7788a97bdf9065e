//! The forms of compiled loops. A pass that no longer applies changes no result, so its effect on
//! the form is tested here.

use felis::session::{Executor, Mode, Session, Stage, Status, on_large_stack};
use std::path::Path;
use std::process::Command;

/// Returns the forms of all parts of a program, one after the other; every part must be compiled.
fn loops(program: &str) -> String {
    on_large_stack(|| {
        let mut session = Session::new().with_executor(Executor::Compiled, 2);
        session.trace(Stage::Loops);
        let outcome = session.evaluate("program", program, Mode::Script, &mut |_| ());
        let messages: Vec<String> = outcome.diagnostics.iter().map(|d| session.render(d, false)).collect();
        assert!(outcome.status == Status::Ok, "{}", messages.join("\n"));
        let traced = session.take_traces();
        assert!(!traced.is_empty(), "nothing was compiled");
        traced.into_iter().map(|(place, text)| text.unwrap_or_else(|why| panic!("{place}: {why}"))).collect()
    })
}

const WAVES: &str = "fun waves[I:COMPACTLINEAR](k:int):real ^ I => [ ((((i :>> int) * k) % 101) :> real) / 7.0 for i in ..[I] ];\n";

#[test]
fn matrix_products_are_contracted() {
    let text = loops(&format!("{WAVES}val m = matmul (waves[40 \\* 50] 7, waves[50 \\* 60] 5);"));
    assert!(text.contains("  gemm fused shared "), "{text}");
    // The same for arrays in memory: a column is not copied for each row.
    let text = loops(&format!(
        "{WAVES}val a = waves[300 \\* 300] 7;\nval b = waves[300 \\* 300] 5;\nval m = matmul (a, b);"
    ));
    assert!(text.contains("  gemm fused shared ") && !text.contains(": stack "), "{text}");
    let text = loops(&format!(
        "{WAVES}val a = waves[40 \\* 50] 7;\nval b = waves[50 \\* 60] 5;
val m = [ sum [ a.(i \\, k) * b.(k \\, j) for k in ..[50] ] for i in ..[40], j in ..[60] ];"
    ));
    assert!(text.contains("  gemm shared r"), "{text}");
}

/// In a loop that uses its previous results, and in iterations that run in parallel.
#[test]
fn matrix_products_inside_loops_are_contracted() {
    let text = loops(&format!(
        "{WAVES}val a = waves[40 \\* 40] 7;\nvar b = waves[40 \\* 40] 5;
for k in 0..<3000 perform b = matmul (a, b);"
    ));
    assert!(text.contains("  gemm fused ") && text.contains(": scratch, "), "{text}");
    let text = loops(&format!(
        "{WAVES}val a = waves[20 \\* 40 \\* 50] 7 :>> real ^ (40 \\* 50) ^ 20;\nval b = waves[50 \\* 30] 5;
val c = [ matmul (x, b) for x in a ];"
    ));
    // The products are stored directly at their destination.
    assert!(text.contains("  gemm fused ") && !text.contains(": thread_local, "), "{text}");
    let text = loops(&format!(
        "{WAVES}val a = waves[20 \\* 40 \\* 50] 7 :>> real ^ (40 \\* 50) ^ 20;\nval b = waves[50 \\* 30] 5;
val c = [ map (fun (v:real) => v * v) (matmul (x, b)) for x in a ];"
    ));
    // All of them are one product of more rows.
    assert!(text.matches("  gemm fused ").count() == 1 && text.contains("n0 = 800"), "{text}");
}

/// Four rows are processed together where divisions dominate the latency; running sums are bound by
/// memory instead.
#[test]
fn rows_that_wait_for_divisions_go_side_by_side() {
    let rows = |next: &str| {
        loops(&format!(
            "{WAVES}fun row[K:COMPACTLINEAR](x:real ^ K):real ^ K {{
  var y = x;
  for k in 1..<#sizeof[K] perform &y.(k :>> K) <- {next};
  return y;
}}
val x = waves[3000 \\* 50] 7 :>> real ^ 50 ^ 3000;
val m = [ row (x.i) for i in ..[3000] ];"
        ))
    };
    let text = rows("x.(k :>> K) / (2.0 + y.((k - 1) :>> K))");
    // The body for four rows, and that for a single row.
    assert_eq!(text.matches(" = div_float ").count(), 5 + 1, "{text}");
    let text = rows("x.(k :>> K) + y.((k - 1) :>> K)");
    assert_eq!(text.matches(" = div_float ").count(), 1, "{text}");
}

#[test]
fn sums_of_columns_go_by_rows() {
    let text = loops(&format!(
        "{WAVES}val m = waves[300 \\* 200] 7;\nval s = [ sum [ m.(i \\, j) for i in ..[300] ] for j in ..[200] ];"
    ));
    assert!(text.contains(": stack "), "{text}");
}

#[test]
fn long_counts_have_bins_for_each_part() {
    let program = |n: usize| format!("val h = histogram [ ((i :>> int) * 7).mod[100] for i in ..[{n}] ];");
    assert!(loops(&program(300_000)).contains("scratch"));
    assert!(!loops(&program(3_000)).contains("scratch"));
}

/// Computes the inner points of each of twenty plates.
fn plates(body: &str) -> String {
    loops(&format!(
        "{WAVES}typedef H = 1 \\+ (1 \\+ 40 \\+ 1) \\+ 1;
fun step(u:real ^ (H \\* H)):real ^ (40 \\* 40) {{
  val s = shifts2 u;
  {body}
}}
val out = map step (waves[20 \\* (H \\* H)] 3 :>> real ^ (H \\* H) ^ 20);"
    ))
}

#[test]
fn what_is_read_several_times_is_stored_for_each_round() {
    let often = plates(
        "val lap = shifts2 (4.0 * s.here - (s.north + s.south + s.west + s.east));
  return lap.here - (lap.north + lap.south + lap.west + lap.east);",
    );
    // The plates themselves are the other one.
    assert_eq!(often.matches(": thread_local, ").count(), 2, "{often}");
    let once = plates("return interior2 (4.0 * s.here - (s.north + s.south + s.west + s.east));");
    assert_eq!(once.matches(": thread_local, ").count(), 1, "{once}");
}

#[test]
fn loops_per_element_go_by_several() {
    let masks = |body: &str| {
        let program = format!(
            "fun one(a:real):real {{ var x = a; {body} return x; }}\nval v = [ one (((i :>> int) :> real) / 7.0) for i in ..[9000] ];"
        );
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("loops_per_element.flx");
        std::fs::write(&path, program).expect("a file can be written");
        // Wider vectors are not Cranelift's.
        let run = Command::new(env!("CARGO_BIN_EXE_felis"))
            .args(["run", "--show", "clif"])
            .arg(&path)
            .env("FELIS_EXECUTOR", "compiled")
            .env("FELIS_VECTORS", "128")
            .output()
            .expect("the program starts");
        assert!(run.status.success(), "{run:?}");
        String::from_utf8_lossy(&run.stdout).matches("vany_true").count()
    };
    assert!(masks("while x > 1.0 do x = x / 2.0; x = x - 0.1; done") > 0);
    assert!(masks("for k in 0..<40 do if x * x > 4.0 perform return x; x = x * x - a; done") > 0);
    // A loop that calls functions is not masked.
    assert_eq!(masks("while x > 1.0 do x = sin x * 0.9; done"), 0);
}

#[test]
fn long_scans_are_made_of_runs() {
    let each =
        |n: usize| loops(&format!("{WAVES}val s = cumsum (waves[{n}] 7);")).matches("parallel for ").count();
    // The numbers are computed during the summation: within runs, and then over the runs.
    assert_eq!((each(1_000), each(100_000), each(1_000_000)), (0, 2, 2));
}

#[test]
fn long_scans_in_rounds_at_the_same_time_share_nothing() {
    let text = loops(&format!(
        "{WAVES}val s = map (fun (x:real ^ 100000) => cumsum x) (waves[40 \\* 100000] 7 :>> real ^ 100000 ^ 40);"
    ));
    assert!(text.contains("parallel for ") && text.contains(": stack "), "{text}");
    assert!(!text.contains(": scratch, "), "{text}");
}

#[test]
fn a_variant_that_mentions_itself_is_declined() {
    let why = on_large_stack(|| {
        let mut session = Session::new().with_executor(Executor::Compiled, 2);
        session.trace(Stage::Loops);
        let program = "variant nest = Leaf | Node of int * (int * nest);\nfun depth(n:nest):int => match n with | Leaf => 0 | Node (_, (_, inner)) => 1 + depth inner endmatch;\nval d = sum [ depth (if i :>> int == 3 then Leaf else Node (1, (2, Leaf)) endif) for i in ..[3000] ];";
        session.evaluate("program", program, Mode::Script, &mut |_| ());
        session.take_traces().into_iter().filter_map(|(_, text)| text.err()).collect::<Vec<_>>()
    });
    assert!(!why.is_empty() && why.iter().all(|why| why == "sum"), "{why:?}");
}

#[test]
fn structs_and_sums_on_their_way_are_compiled() {
    let text = loops(
        "struct point { x:real; y:real; }\nfun over(a:int, b:int):option[int] => if b == 0 then None else Some (a / b) endif;\nval n = sum [ match over (1000, (i :>> int) % 7) with | Some n => n | None => -1 endmatch for i in ..[3000] ];\nval same = count [ point (1.0, i :>> int :> real) == point (1.0, 3.0) for i in ..[3000] ];",
    );
    assert!(!text.is_empty());
}

/// A session variable that is not read in between: its next value is made in one loop, in the place
/// of the last one.
#[test]
fn the_next_value_of_a_session_variable_is_made_in_place() {
    let text = loops(&format!(
        "{WAVES}val x = waves[100] 7;\nval y = waves[100] 5;
fun axpy[I:COMPACTLINEAR](a:real, x:real ^ I, y:real ^ I):real ^ I => a * x + y;
var out = y;\nproc again(n:int) {{ for k in 0..<n perform out = axpy (k :> real, x, y); }}\nagain 10000;"
    ));
    assert!(text.contains("inout 0") && !text.contains("scratch"), "{text}");
}

/// Columns are processed by rows in a repeated loop, too, and in iterations that run in parallel.
#[test]
fn sums_of_columns_inside_loops_go_by_rows() {
    let text = loops(&format!(
        "{WAVES}val x = waves[70 \\* 300] 7;\nvar out = x |> map_cols sum;
for t in 0..<3000 perform out = x |> map_cols sum;"
    ));
    assert!(text.contains("inout 0") && text.matches("stack 2048, ").count() == 2, "{text}");
    let text = loops(&format!(
        "{WAVES}val x = waves[40 \\* 50 \\* 70] 7 :>> real ^ (50 \\* 70) ^ 40;\nval out = [ p |> map_cols sum for p in x ];"
    ));
    assert!(text.contains("stack 2048, "), "{text}");
}

/// Composed operators of fields read their argument directly: no field but the result is stored.
#[test]
fn composed_stencils_store_no_intermediate_field() {
    let text = loops(&format!(
        "{WAVES}newtype I = 100;\nnewtype J = 200;
fun second[N:COMPACTLINEAR, L:COMPACTLINEAR, R:COMPACTLINEAR]
  (u:real ^ (..L \\* halo[1, N] \\* ..R)):real ^ (..L \\* N \\* ..R) =>
  moved (-1) u + moved 1 u - 2.0 * moved 0 u;
fun laplacian(u:real ^ (halo[1, I] \\* halo[1, J])):real ^ (I \\* J) =>
  second[I] (inside[1, J] u) + second[J] (inside[1, I] u);
val u = waves[halo[1, I] \\* halo[1, J]] 7;\nval v = laplacian u;"
    ));
    assert!(!text.contains(": scratch, "), "{text}");
}

/// Each field has memory and slots of its own, and one that nothing reads is not there.
#[test]
fn fields_of_a_struct_are_inputs_of_their_own() {
    let text = loops(
        "struct grid[Cell:COMPACTLINEAR] { up : Cell ^ Cell; others : int ^ (Cell \\* 2); }
newtype Cell = 300000;
val g = grid ([ c for c in ..[Cell] ], fill 7);
fun moved_up[Cell:COMPACTLINEAR](g:grid[Cell])(x:real ^ Cell):real ^ Cell => [ x.n for n in g.up ];
val x = [ c :>> int :> real for c in ..[Cell] ];
val y = moved_up g x;",
    );
    assert!(text.contains("input 0, 4 bytes a slot, 300000 slots"), "{text}");
    assert!(!text.contains("900000 slots"), "{text}");
}
