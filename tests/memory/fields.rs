//! Operators on fields: the arrays that they allocate.

use crate::alone;
use felis::session::{Executor, Mode, Session, Status, on_large_stack};

/// Evaluates a program, and then some statements; returns the bytes of arrays that these took.
fn bytes_of(program: &str, statements: &str) -> u64 {
    on_large_stack(|| {
        let mut session = Session::new().with_executor(Executor::Eager, 1);
        let mut evaluate = |text: &str| {
            let outcome = session.evaluate("fields", text, Mode::Script, &mut |_| ());
            assert_eq!(outcome.status, Status::Ok, "{text}");
            session.metrics()
        };
        let before = evaluate(program);
        let after = evaluate(statements);
        (after.fresh + after.reused) - (before.fresh + before.reused)
    })
}

/// Results of 64 by 64 numbers, on four levels in horizontal diffusion: less than one and a half
/// times as many bytes.
#[test]
fn operators_allocate_no_field_but_the_result() {
    let _alone = alone();
    let example = include_str!("../../examples/horizontal_diffusion.flx").replace("= 16;", "= 64;");
    let (example, _) = example.split_once("proc show").expect("the example has a procedure");
    let program = format!("{example}\nval wide = periodic[2, East] (periodic[2, North] start);");
    let bytes = bytes_of(&program, "val out = diffused[North, East] 0.025 wide;");
    assert!(bytes < 4 * 64 * 64 * 8 * 3 / 2, "horizontal diffusion: {bytes}");
    for halo in ["clamped[1, I]", "mirrored[1, I]", "periodic[1, I]", "held[1, I] 0.5"] {
        for axes in ["I \\* J", "J \\* I", "M \\* I \\* M"] {
            let program = format!(
                "newtype I = 64; newtype J = 64; newtype M = 8;
                 val u = [ (i :>> int) :> real for i in ..[{axes}] ] :>> real ^ ({axes});
                 fun curvature[K:COMPACTLINEAR, L:COMPACTLINEAR, R:COMPACTLINEAR](
                   h:real ^ (..L \\* halo[1, K] \\* ..R)
                 ):real ^ (..L \\* K \\* ..R) => moved 1 h + moved (-1) h - 2.0 * inside h;
                 fun named(u:real ^ ({axes})):real ^ ({axes}) {{
                   val h = {halo} u;
                   return moved 1 h + moved (-1) h - 2.0 * inside h;
                 }}
                 val kept = {halo} u;"
            );
            for statement in [
                "val out = named u;".to_string(),
                format!("val out = curvature[I] ({halo} u);"),
                format!("val out = moved 1 ({halo} u) + moved (-1) ({halo} u) - 2.0 * u;"),
                "val out = moved 1 kept + moved (-1) kept - 2.0 * inside kept;".to_string(),
            ] {
                let bytes = bytes_of(&program, &statement);
                assert!(bytes < 64 * 64 * 8 * 3 / 2, "{halo}, {axes}: {statement}: {bytes}");
            }
        }
    }
}
