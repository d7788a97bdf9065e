//! Random loops over arrays that are large enough to be cut into pieces: reads and writes at affine
//! slots, some of rounds that depend on each other, some of independent ones. The evaluator and
//! compiled code with two threads must agree to the last bit.
//!
//! `FELIS_RANDOM=SEEDS` runs that many programs instead of the usual number, `FELIS_RANDOM_SEED=N`
//! begins at a seed.

use crate::random::number;
use fastrand::Rng;
use felis::session::{Executor, Mode, Session, Status, on_large_stack};
use std::fmt::Write;

const ROWS: i64 = 40;
const COLUMNS: i64 = 200;

/// A program under construction.
struct Generator {
    random: Rng,
    text: String,
    /// Indices of the loops around.
    indices: Vec<String>,
    names: usize,
}

impl Generator {
    fn pick<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.random.usize(..of.len())]
    }

    fn line(&mut self, text: &str) {
        let _ = writeln!(self.text, "{}{text}", "  ".repeat(self.indices.len() + 1));
    }

    /// A slot number: a sum of indices times small numbers.
    fn slot(&mut self) -> String {
        let mut terms: Vec<String> = Vec::new();
        let places = [COLUMNS.to_string(), "1".to_string()];
        let plain = self.random.u8(..4) > 0;
        for (index, place) in self.indices.clone().iter().zip(places) {
            let factor = match plain {
                true => place,
                false => self.pick(&["0", "1", "200", "-1", "2", "201", "199"]).to_string(),
            };
            terms.push(format!("{index} * ({factor})"));
        }
        let offset = self.pick(&["0", "0", "0", "1", "-1", "200", "-200", "7", "3999"]);
        terms.push(format!("({offset})"));
        format!("({}).mod[N]", terms.join(" + "))
    }

    fn array(&mut self) -> &'static str {
        self.pick(&["x", "y", "z"])
    }

    fn number(&mut self, depth: u32) -> String {
        match self.random.u8(..if depth == 0 { 3 } else { 9 }) {
            0 => format!("{}.5", self.random.u8(..3)),
            1 | 2 => {
                let (array, slot) = (self.array(), self.slot());
                format!("{array}.({slot})")
            }
            3 => format!("(0.5 * {} + {})", self.number(depth - 1), self.number(depth - 1)),
            4 => format!("({} - 0.25 * {})", self.number(depth - 1), self.number(depth - 1)),
            5 => format!("exp (-(abs ({})))", self.number(depth - 1)),
            6 => format!("min ({}, {})", self.number(depth - 1), self.number(depth - 1)),
            7 => format!("a.(codes.({}))", self.slot()),
            _ => format!("tanh ({})", self.number(depth - 1)),
        }
    }

    fn statement(&mut self) {
        match self.random.u8(..8) {
            0 => {
                let (array, slot) = (self.array(), self.slot());
                let value = self.number(1);
                self.line(&format!("&{array}.({slot}) += {value};"));
            }
            1 => {
                let (condition, array) = (self.number(0), self.array());
                let (slot, value) = (self.slot(), self.number(1));
                self.line(&format!("if {condition} < 0.75 perform &{array}.({slot}) <- {value};"));
            }
            2 => {
                let condition = self.number(0);
                self.line(&format!("if {condition} > 1.75 perform continue;"));
            }
            3 => {
                self.names += 1;
                let sum = format!("s{}", self.names);
                let (first, array, slot) = (self.number(0), self.array(), self.slot());
                let item = self.slot();
                self.line(&format!("var {sum} = {first};"));
                self.line(&format!(
                    "for k in 0..<4 perform {sum} = 0.5 * {sum} + a.((({item} :>> int) + k).mod[N]);"
                ));
                self.line(&format!("&{array}.({slot}) <- {sum};"));
            }
            4 => {
                self.names += 1;
                let work = format!("w{}", self.names);
                let (item, array, slot) = (self.number(1), self.array(), self.slot());
                self.line(&format!("var {work} : real ^ 20 = fill 0.5;"));
                self.line(&format!("for k in 0..<20 perform &{work}.(k.mod[20]) += a.(k.mod[N]) + {item};"));
                self.line(&format!(
                    "&{array}.({slot}) <- sum [ {work}.k * {work}.((19 - (k :>> int)).mod[20]) for k in ..[20] ];"
                ));
            }
            _ => {
                let (array, slot, value) = (self.array(), self.slot(), self.number(2));
                self.line(&format!("&{array}.({slot}) <- {value};"));
            }
        }
    }

    fn body(&mut self) {
        for _ in 0..self.random.usize(1..4) {
            self.statement();
        }
    }

    fn loops(&mut self) {
        match self.random.u8(..5) {
            0 => {
                let range = self.pick(&["0..<8000", "1..<7999", "200..<7800"]);
                self.line(&format!("for f in {range} do"));
                self.indices = vec!["(f / 200)".into(), "(f % 200)".into()];
                self.body();
            }
            1 => {
                let (value, op) = (self.pick(&["x", "y"]), self.pick(&["sum", "min", "max"]));
                self.indices = vec!["(i :>> int)".into(), "(j :>> int)".into()];
                let item = self.number(2);
                self.indices.clear();
                self.line(&format!(
                    "&{value}.(5.mod[N]) <- {op} [ {item} for i in ..[{ROWS}], j in ..[{COLUMNS}] ];"
                ));
                return;
            }
            _ => {
                let rows = self.pick(&["0..<40", "1..<40", "0..<39"]);
                let columns = self.pick(&["0..<200", "1..<199", "i..<200", "0..<i + 1"]);
                self.line(&format!("for i in {rows} do"));
                self.line(&format!("for j in {columns} do"));
                self.indices = vec!["i".into(), "j".into()];
                self.body();
                self.line("done");
            }
        }
        self.indices.clear();
        self.line("done");
    }
}

fn program(seed: u64) -> String {
    let mut generator =
        Generator { random: Rng::with_seed(seed), text: String::new(), indices: Vec::new(), names: 0 };
    for _ in 0..generator.random.usize(1..4) {
        generator.loops();
    }
    format!(
        "typedef N = {};
val a = [ (((i :>> int) * 7919 % 1009) :> real) / 1009.0 for i in ..[N] ];
val codes = [ ((i :>> int) * 4801).mod[N] for i in ..[N] ];
fun kernel(a:real ^ N, codes:N ^ N):real * real * real {{
  var x = a;
  var y = rev a;
  var z = [ a.i + 0.5 for i in ..[N] ];
{}  return (sum x, sum [ y.i * ((i :>> int) :> real) for i in ..[N] ], sum z);
}}
println (kernel (a, codes));
",
        ROWS * COLUMNS,
        generator.text
    )
}

fn run(executor: Executor, threads: usize, program: &str) -> (Status, String, Vec<String>) {
    let mut out = String::new();
    let mut session = Session::new().with_executor(executor, threads);
    let outcome = session.evaluate("program", program, Mode::Script, &mut |text| out += text);
    let reported = outcome.diagnostics.iter().map(|d| session.render(d, false)).collect();
    (outcome.status, out, reported)
}

/// Checks that the evaluator and compiled code agree on random programs, one for each seed: `count`
/// of them if the environment says no other number.
pub(crate) fn random_programs_agree(count: u64, program: fn(u64) -> String) {
    let first = number("FELIS_RANDOM_SEED").unwrap_or(1);
    let count = number("FELIS_RANDOM").unwrap_or(count);
    let mut refused = 0;
    for seed in first..first + count {
        let program = program(seed);
        on_large_stack(|| {
            let reference = run(Executor::Reference, 1, &program);
            if reference.0 != Status::Ok {
                refused += 1;
                eprintln!("seed {seed}: {}", reference.2.join("\n"));
            }
            for (executor, threads) in [(Executor::Compiled, 2), (Executor::Eager, 1)] {
                let found = run(executor, threads, &program);
                assert_eq!(found, reference, "seed {seed}, {executor:?}:\n{program}");
            }
        });
    }
    // A program that is refused shows nothing.
    assert!(refused * 10 <= count, "{refused} of {count} programs do not run to the end");
}

#[test]
fn random_loops_agree() {
    random_programs_agree(60, program);
}
