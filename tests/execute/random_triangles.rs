//! Random loops over the triangles of a matrix, as factorizations and substitutions have them: sums
//! in order up to an index of a loop around, which read what earlier rounds have stored, or are
//! independent of it. The evaluator and compiled code must agree to the last bit.
//!
//! `FELIS_RANDOM=SEEDS` runs that many programs instead of the usual number, `FELIS_RANDOM_SEED=N`
//! begins at a seed.

use crate::random_loops::random_programs_agree;
use fastrand::Rng;
use std::fmt::Write;

/// A program under construction.
struct Generator {
    random: Rng,
    text: String,
    /// Indices of the loops around.
    indices: Vec<&'static str>,
    sums: usize,
    /// Arrays that belong to a round.
    own: Vec<String>,
}

impl Generator {
    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.random.usize(..of.len())]
    }

    fn index(&mut self) -> &'static str {
        let indices = self.indices.clone();
        self.pick(&indices)
    }

    fn line(&mut self, depth: usize, text: &str) {
        let _ = writeln!(self.text, "{}{text}", "  ".repeat(depth + 1));
    }

    /// A place that may be stored into: of a matrix, or of a vector.
    fn place(&mut self) -> String {
        let (row, column) = (self.index(), self.index());
        match self.random.u8(..6) {
            0 => format!("x.{row}"),
            1 => format!("y.{row}"),
            2 => format!("u.({row} \\, {column})"),
            _ => format!("m.({row} \\, {column})"),
        }
    }

    fn read(&mut self) -> String {
        match self.random.u8(..8) {
            0 => format!("a.({} \\, {})", self.index(), self.index()),
            1 => "0.75".to_string(),
            2 | 3 if !self.own.is_empty() => {
                let (number, index) = (self.random.usize(..self.own.len()), self.index());
                match self.random.bool() {
                    true => format!("{}.(`1:4)", self.own[number]),
                    false => format!("{}.(({index} :>> int).mod[4])", self.own[number]),
                }
            }
            _ => self.place(),
        }
    }

    /// A loop over an index: its first line; those over a triangle go up to an index around, or
    /// have a test.
    fn opened(&mut self, index: &'static str) -> String {
        let around = self.indices.clone();
        match (self.random.u8(..6), around.is_empty()) {
            (0, _) | (_, true) => format!("for {index} in ..[N] do"),
            (1, _) => format!("for {index} in ..{} do", self.pick(&around)),
            (2, _) => format!("for {index} in ..[N] perform if {index} > {} do", self.pick(&around)),
            (3, _) => format!("for {index} in ..[N] perform if {index} >= {} do", self.pick(&around)),
            (4, _) => format!("for {index} in ..[N] perform if {index} < {} do", self.pick(&around)),
            _ => format!("for {index} in ..<{} do", self.pick(&around)),
        }
    }

    /// A sum in order, and where it goes.
    fn sum(&mut self, depth: usize) {
        self.sums += 1;
        let (sum, first) = (format!("s{}", self.sums), self.read());
        self.line(depth, &format!("var {sum} = {first};"));
        let head = self.opened("k");
        self.line(depth, &head);
        self.indices.push("k");
        for _ in 0..self.random.usize(1..3) {
            let (a, b, op) = (self.read(), self.read(), self.pick(&["-=", "+="]));
            self.line(depth + 1, &format!("{sum} {op} 0.25 * {a} * {b};"));
        }
        if self.random.u8(..8) == 0 {
            let place = self.place();
            self.line(depth + 1, &format!("&{place} <- 0.5 * {place} + 0.125;"));
        }
        self.indices.pop();
        self.line(depth, "done");
        let (place, divisor) = (self.place(), self.read());
        let value =
            self.pick(&["S", "0.5 * S", "S / (2.0 + abs (D))"]).replace('S', &sum).replace('D', &divisor);
        self.line(depth, &format!("&{place} <- min (max ({value}, -1.0), 1.0);"));
    }

    /// A small array of a round; one of its slots may be a number that a loop has computed.
    fn own_array(&mut self, depth: usize) {
        self.sums += 1;
        let (name, index, value) = (format!("w{}", self.sums), self.index(), self.read());
        self.line(depth, &format!("var {name} : real ^ 4 = fill 0.25;"));
        if self.random.bool() {
            let head = self.opened("t");
            self.line(depth, &head);
            self.line(depth + 1, &format!("&{name}.(`1:4) <- 0.5 * {name}.(`1:4) + 0.125;"));
            self.line(depth, "done");
        }
        if self.random.bool() {
            self.line(depth, &format!("&{name}.(({index} :>> int).mod[4]) <- {value};"));
        }
        self.own.push(name);
    }

    fn body(&mut self, depth: usize) {
        let own = self.own.len();
        if self.random.u8(..3) == 0 {
            self.own_array(depth);
        }
        for _ in 0..self.random.usize(1..3) {
            match self.random.u8(..4) {
                0 => {
                    let (place, a, b) = (self.place(), self.read(), self.read());
                    self.line(depth, &format!("&{place} <- 0.5 * {a} - 0.25 * {b};"));
                }
                _ => self.sum(depth),
            }
        }
        self.own.truncate(own);
    }

    fn loops(&mut self) {
        let head = self.opened("i");
        self.line(0, &head);
        self.indices.push("i");
        if self.random.bool() {
            self.own_array(1);
        }
        if self.random.u8(..3) == 0 {
            self.body(1);
        }
        if self.random.u8(..4) > 0 {
            let head = self.opened("j");
            self.line(1, &head);
            self.indices.push("j");
            self.body(2);
            self.indices.pop();
            self.line(1, "done");
        }
        if self.random.u8(..3) == 0 {
            self.body(1);
        }
        self.own.clear();
        self.indices.pop();
        self.line(0, "done");
    }
}

fn program(seed: u64) -> String {
    let mut generator = Generator {
        random: Rng::with_seed(seed),
        text: String::new(),
        indices: Vec::new(),
        sums: 0,
        own: Vec::new(),
    };
    for _ in 0..generator.random.usize(1..3) {
        generator.loops();
    }
    let size = [9, 16, 21, 33][generator.random.usize(..4)];
    format!(
        "typedef N = {size};
val a = [ (((i :>> int) * 7919 % 1009) :> real) / 1009.0 - 0.5 for i in ..[N \\* N] ];
fun kernel(a:real ^ (N \\* N)):real * real * real * real {{
  var m = a;
  var u = [ a.i + 0.5 for i in ..[N \\* N] ];
  var x = [ a.(i \\, i) for i in ..[N] ];
  var y = [ 0.25 - a.(i \\, i) for i in ..[N] ];
{}  return (sum m, sum [ u.i * ((i :>> int) :> real) for i in ..[N \\* N] ], sum x, sum y);
}}
println (kernel a);
",
        generator.text
    )
}

#[test]
fn random_triangles_agree() {
    random_programs_agree(60, program);
}
