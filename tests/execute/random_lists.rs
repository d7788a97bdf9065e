//! Random programs over values of several sizes: lists, heaps, and structs with an array that
//! brings its size along. They are set, exchanged, changed in loops and branches, and kept in older
//! versions, of which no change may be seen. The evaluator and compiled code must agree in all.
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
    depth: usize,
    names: usize,
}

impl Generator {
    fn pick(&mut self, of: &[&'static str]) -> &'static str {
        of[self.random.usize(..of.len())]
    }

    fn line(&mut self, text: &str) {
        let _ = writeln!(self.text, "{}{text}", "  ".repeat(self.depth + 1));
    }

    fn name(&mut self, letter: &str) -> String {
        self.names += 1;
        format!("{letter}{}", self.names)
    }

    fn list(&mut self) -> &'static str {
        self.pick(&["p", "q", "r"])
    }

    fn front(&mut self) -> &'static str {
        self.pick(&["f", "g"])
    }

    fn number(&mut self, depth: u32) -> String {
        match self.random.u8(..if depth == 0 { 3 } else { 9 }) {
            0 => self.random.u8(..9).to_string(),
            1 => "n".into(),
            2 => "t".into(),
            3 => format!("({} + {})", self.number(depth - 1), self.number(depth - 1)),
            4 => format!("({} * 3 - {})", self.number(depth - 1), self.number(depth - 1)),
            5 => format!("len {}", self.list()),
            6 => format!("(get ({}, {}) |> otherwise (-1))", self.list(), self.number(depth - 1)),
            7 => format!("sum (elements {})", self.list()),
            _ => format!("total {}", self.front()),
        }
    }

    fn condition(&mut self) -> String {
        format!("({}) % {} == {}", self.number(1), self.random.u8(2..4), self.random.u8(..2))
    }

    fn value(&mut self) -> String {
        match self.random.u8(..8) {
            0 => "list_of[int] []".into(),
            1 => format!("list_of ({}, {})", self.number(1), self.number(0)),
            2 => self.list().into(),
            3 => format!("tail_of {}", self.list()),
            4 => {
                let (condition, one, other) = (self.condition(), self.list(), self.list());
                format!("if {condition} then {one} else {other} endif")
            }
            _ => format!("push ({}, {})", self.list(), self.number(2)),
        }
    }

    fn statement(&mut self) {
        let is_deep = self.depth > 2;
        match self.random.u8(..if is_deep { 9 } else { 15 }) {
            0..=3 => {
                let (list, value) = (self.list(), self.value());
                self.line(&format!("{list} = {value};"));
            }
            4 => {
                let list = self.list();
                let (last, rest) = (self.name("v"), self.name("o"));
                self.line(&format!("match pop {list} do"));
                self.line(&format!("| Some ({rest}, {last}) => {list} = {rest}; n += {last} % 7;"));
                self.line("| None => n += 1;");
                self.line("done");
            }
            5 => {
                let (list, at, value) = (self.list(), self.number(0), self.number(1));
                self.line(&format!("if 0 <= {at} and {at} < len {list} do"));
                self.line(&format!("  {list} = put ({list}, {at}, {value});"));
                self.line("done");
            }
            6 => {
                let (front, value) = (self.front(), self.number(1));
                let kept = match self.random.u8(..4) {
                    0 => format!("kept ({front}, {value})"),
                    1 => format!("grown ({front}, {value})"),
                    2 => self.front().to_string(),
                    _ => format!("joined ({}, {})", self.front(), self.front()),
                };
                self.line(&format!("{front} = {kept};"));
                self.line(&format!("if count_of {front} > 60 do {front} = front [ n % 5, 1 ]; done"));
            }
            7 => {
                let value = self.number(1);
                self.line(&format!("h = push (h, {value} % 100);"));
                self.line("if len h > 5 do val (least, others) = take_least h; h = others; n += least; done");
            }
            8 => {
                let value = self.number(2);
                self.line(&format!("n = ({value}) % 1009;"));
            }
            9 | 10 => {
                let condition = self.condition();
                self.line(&format!("if {condition} do"));
                self.body();
                if self.random.bool() {
                    self.line("else");
                    self.body();
                }
                self.line("done");
            }
            11 | 12 => {
                let rounds = self.pick(&["0..<3", "1..4", "0..<n % 5"]);
                let index = self.name("i");
                self.line(&format!("for {index} in {rounds} do"));
                self.spend();
                self.depth += 1;
                self.line(&format!("t += {index};"));
                self.depth -= 1;
                self.body();
                if self.random.u8(..3) == 0 {
                    let (condition, leave) = (self.condition(), self.pick(&["break", "continue"]));
                    self.line(&format!("  if {condition} perform {leave};"));
                    self.body();
                }
                self.line("done");
            }
            13 => {
                let (list, item) = (self.list(), self.name("e"));
                self.line(&format!("for {item} in elements {list} do"));
                self.spend();
                self.depth += 1;
                self.line(&format!("t = (t * 3 + {item}) % 1009;"));
                if self.random.bool() {
                    let other = self.list();
                    self.line(&format!("if len {other} < 40 do {other} = push ({other}, {item} + t); done"));
                }
                self.depth -= 1;
                self.line("done");
            }
            _ => {
                let list = self.list();
                self.line(&format!("while len {list} > 0 and n % 4 != 3 do"));
                self.spend();
                self.depth += 1;
                self.line("n += 1;");
                self.depth -= 1;
                self.body();
                self.line(&format!("  {list} = tail_of {list};"));
                self.line("done");
            }
        }
    }

    /// The first statement of a round: a program ends after some hundred rounds of all loops.
    fn spend(&mut self) {
        self.line("  fuel -= 1;");
        self.line("  if fuel < 0 perform break;");
    }

    fn body(&mut self) {
        self.depth += 1;
        for _ in 0..self.random.usize(1..4) {
            self.statement();
        }
        self.depth -= 1;
    }
}

fn program(seed: u64) -> String {
    let mut generator = Generator { random: Rng::with_seed(seed), text: String::new(), depth: 0, names: 0 };
    for _ in 0..generator.random.usize(2..6) {
        generator.statement();
    }
    format!(
        "import heap (*);
struct front[T] {{ items : T ^ ?K; }}
fun count_of(f:front[int]):int {{ val x : int ^ ?K = f.items; return #sizeof[K]; }}
fun total(f:front[int]):int {{ val x : int ^ ?K = f.items; return sum x; }}
fun kept(f:front[int], k:int):front[int] {{
  val x : int ^ ?K = f.items;
  return front [ v + k for v in x if (v + k) % 3 != 0 ];
}}
fun grown(f:front[int], k:int):front[int] {{
  val x : int ^ ?K = f.items;
  return front ((x, [ k + (i :>> int) for i in ..[K \\+ 1] ]) :>> int ^ (K \\+ (K \\+ 1)));
}}
fun joined(f:front[int], g:front[int]):front[int] {{
  val x : int ^ ?K = f.items;
  val y : int ^ ?L = g.items;
  return front ((x, y) :>> int ^ (K \\+ L));
}}
fun tail_of(l:list[int]):list[int] {{
  return match pop l with | Some (rest, _) => rest | None => l endmatch;
}}
fun kernel(start:int):int * int * list[int] {{
  var (n, t, fuel) = (start, 0, 300);
  var p = list_of[int] [];
  var q = list_of (1, 2, start);
  var r = q;
  var f = front [ 4, 5, start ];
  var g = front [ 0 ];
  var h = #empty_heap[int];
{}  while len h > 0 do
    val (least, others) = take_least h;
    h = others;
    t = (t * 31 + least) % 10007;
  done
  return n + total f + 3 * total g + count_of f, t + len q + sum (elements q), push (p, sum (elements r));
}}
for s in 0..<6 do println (kernel s); done
println [ (kernel (s :>> int)).0 for s in ..[40] ];
",
        generator.text
    )
}

#[test]
fn random_lists_agree() {
    random_programs_agree(24, program);
}
