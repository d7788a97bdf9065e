//! Local functions that change variables of the function around them: random programs against
//! results computed by the test, the same in every executor.
//!
//! `FELIS_SEED` repeats a run.

use crate::random::{Dice, run};
use std::fmt::Write;

/// The number of variables, places of the array, and functions of a program.
const VARIABLES: usize = 3;
const PLACES: usize = 3;
const FUNCTIONS: usize = 4;

/// A number computed without a call.
#[derive(Clone)]
enum Number {
    Constant(i64),
    Variable(usize),
    Place(usize),
    /// The parameter of the enclosing function; for the outer one, an element of a loop.
    Parameter,
    /// A `val` of the block.
    Known(usize),
    Of(char, Box<Number>, Box<Number>),
}

/// The destination of the result of a call.
enum Target {
    Known(usize),
    Variable(usize),
    Place(usize),
    Nowhere,
    Returned,
}

enum Step {
    Set(usize, Number),
    Store(usize, Number),
    Add(usize, Number),
    Call(Target, usize, Number),
    /// A `val` that is the call in one branch and a number in the other.
    Either(usize, (Number, Number), usize, Number, Number),
    If(Number, Number, Vec<Step>, Vec<Step>),
    /// `if f (…) do`: the function returns a number, and a storing function of its own compares it
    /// with 0.
    IfCall(usize, Number, Vec<Step>),
    /// A recursive call at a smaller number.
    Again(usize),
    Times(usize, Vec<Step>),
}

/// The form of the declaration of a function.
#[derive(Clone, Copy, PartialEq)]
enum Form {
    Plain,
    Generic,
    /// The work is done in a function of its own.
    Nested,
    /// The work is done in a procedure of its own, which leaves the result in a variable.
    ByProcedure,
}

struct Function {
    form: Form,
    steps: Vec<Step>,
    result: Number,
}

struct Program {
    functions: Vec<Function>,
    main: Vec<Step>,
    result: Number,
    numbers: Vec<i64>,
}

/// The definitions that a part of a program may mention.
#[derive(Clone)]
struct Around {
    known: usize,
    functions: usize,
    itself: bool,
    /// True if a `return` may occur here.
    returns: bool,
}

fn number(dice: &mut Dice, known: usize, depth: usize) -> Number {
    match dice.roll(if depth == 0 { 5 } else { 7 }) {
        0 => Number::Constant(dice.roll(9) as i64),
        1 => Number::Variable(dice.roll(VARIABLES)),
        2 => Number::Place(dice.roll(PLACES)),
        3 if known > 0 => Number::Known(dice.roll(known)),
        5 | 6 => {
            let (left, right) = (number(dice, known, depth - 1), number(dice, known, depth - 1));
            Number::Of(['+', '-', '*'][dice.roll(3)], Box::new(left), Box::new(right))
        }
        _ => Number::Parameter,
    }
}

fn steps(dice: &mut Dice, around: &mut Around, depth: usize) -> Vec<Step> {
    let mut all = Vec::new();
    for _ in 0..1 + dice.roll(4) {
        let value = number(dice, around.known, 2);
        let callable = around.functions > 0;
        let mut inner = around.clone();
        all.push(match dice.roll(10) {
            0 => Step::Set(dice.roll(VARIABLES), value),
            1 => Step::Store(dice.roll(PLACES), value),
            2 => Step::Add(dice.roll(PLACES), value),
            3..=5 if callable => {
                let target = match dice.roll(8) {
                    0 | 1 => Target::Variable(dice.roll(VARIABLES)),
                    2 => Target::Place(dice.roll(PLACES)),
                    3 => Target::Nowhere,
                    4 if around.returns && depth == 0 => Target::Returned,
                    _ => {
                        around.known += 1;
                        Target::Known(around.known - 1)
                    }
                };
                Step::Call(target, dice.roll(around.functions), value)
            }
            6 if callable => {
                let condition = (number(dice, around.known, 1), number(dice, around.known, 1));
                let otherwise = number(dice, around.known, 1);
                around.known += 1;
                Step::Either(around.known - 1, condition, dice.roll(around.functions), value, otherwise)
            }
            7 if depth > 0 => {
                let than = number(dice, around.known, 1);
                let then = steps(dice, &mut inner, depth - 1);
                inner.known = around.known;
                Step::If(value, than, then, steps(dice, &mut inner, depth - 1))
            }
            8 if depth > 0 && callable => {
                let called = dice.roll(around.functions);
                Step::IfCall(called, value, steps(dice, &mut inner, depth - 1))
            }
            8 if around.itself => {
                around.known += 1;
                Step::Again(around.known - 1)
            }
            9 if depth > 0 => Step::Times(1 + dice.roll(2), steps(dice, &mut inner, depth - 1)),
            _ => Step::Set(dice.roll(VARIABLES), value),
        });
    }
    all
}

impl Program {
    fn random(dice: &mut Dice) -> Program {
        let mut functions = Vec::new();
        for at in 0..FUNCTIONS {
            let form = [Form::Plain, Form::Generic, Form::Nested, Form::ByProcedure][dice.roll(4)];
            let itself = form == Form::Plain;
            let returns = form != Form::ByProcedure;
            let mut around = Around { known: 0, functions: at, itself, returns };
            let steps = steps(dice, &mut around, 2);
            functions.push(Function { form, steps, result: number(dice, 0, 2) });
        }
        let mut around = Around { known: 0, functions: FUNCTIONS, itself: false, returns: false };
        let main = steps(dice, &mut around, 2);
        let numbers = (0..3).map(|_| dice.roll(20) as i64 - 8).collect();
        Program { functions, main, result: number(dice, 0, 2), numbers }
    }
}

// ---- programs as text -------------------------------------------------------------------------

fn shown(value: &Number) -> String {
    match value {
        Number::Constant(n) => n.to_string(),
        Number::Variable(v) => format!("v{v}"),
        Number::Place(p) => format!("cells.{p}"),
        Number::Parameter => "x".into(),
        Number::Known(k) => format!("k{k}"),
        Number::Of(op, a, b) => format!("({} {op} {})", shown(a), shown(b)),
    }
}

impl Program {
    fn call(&self, function: usize, value: &Number) -> String {
        match self.functions[function].form {
            Form::Generic => format!("f{function} ({}, \"t\")", shown(value)),
            _ => format!("f{function} ({})", shown(value)),
        }
    }

    fn write(&self, out: &mut String, all: &[Step], itself: usize) {
        for step in all {
            let _ = match step {
                Step::Set(v, value) => writeln!(out, "v{v} = {};", shown(value)),
                Step::Store(p, value) => writeln!(out, "&cells.{p} <- {};", shown(value)),
                Step::Add(p, value) => writeln!(out, "&cells.{p} += {};", shown(value)),
                Step::Call(target, function, value) => {
                    let call = self.call(*function, value);
                    match target {
                        Target::Known(k) => writeln!(out, "val k{k} = {call};"),
                        Target::Variable(v) => writeln!(out, "v{v} = {call};"),
                        Target::Place(p) => writeln!(out, "&cells.{p} <- {call};"),
                        Target::Nowhere => writeln!(out, "{call};"),
                        Target::Returned => writeln!(out, "if v0 > 50 do return {call}; done"),
                    }
                }
                Step::Either(k, (a, b), function, value, otherwise) => writeln!(
                    out,
                    "val k{k} = if {} < {} then {} else {} endif;",
                    shown(a),
                    shown(b),
                    self.call(*function, value),
                    shown(otherwise)
                ),
                Step::If(a, b, then, otherwise) => {
                    let _ = writeln!(out, "if {} < {} do", shown(a), shown(b));
                    self.write(out, then, itself);
                    let _ = writeln!(out, "else");
                    self.write(out, otherwise, itself);
                    writeln!(out, "done")
                }
                Step::IfCall(function, value, then) => {
                    let call = self.call(*function, value);
                    // A name that is unique in the program.
                    let name = format!("asked{}", out.len());
                    let _ = writeln!(out, "fun {name}() : bool = {{ val k = {call}; return k > 0; }}");
                    let _ = writeln!(out, "if {name} () do");
                    self.write(out, then, itself);
                    writeln!(out, "done")
                }
                Step::Again(k) => {
                    let _ = writeln!(out, "var k{k} = 0;");
                    writeln!(out, "if x > 0 do k{k} = f{itself} (x % 3 - 1); done")
                }
                Step::Times(n, body) => {
                    let _ = writeln!(out, "for i in 0..<{n} do");
                    self.write(out, body, itself);
                    writeln!(out, "done")
                }
            };
        }
    }

    fn text(&self) -> String {
        let mut out = String::from("fun outer(xs : int ^ 3) : int * int * int * int * int ^ 3 = {\n");
        out += "var v0 = 1; var v1 = 2; var v2 = 3; var cells = (4, 5, 6);\n";
        for (at, function) in self.functions.iter().enumerate() {
            let result = shown(&function.result);
            let mut body = String::new();
            self.write(&mut body, &function.steps, at);
            let _ = match function.form {
                Form::Plain => writeln!(out, "fun f{at}(x : int) : int = {{\n{body}return {result};\n}}"),
                Form::Generic => {
                    writeln!(out, "fun f{at}[T](x : int, t : T) : int = {{\n{body}return {result};\n}}")
                }
                Form::Nested => writeln!(
                    out,
                    "fun f{at}(x : int) : int = {{\nfun inner(x : int) : int = {{\n{body}return {result};\n}}\n\
                     return inner x;\n}}"
                ),
                Form::ByProcedure => writeln!(
                    out,
                    "fun f{at}(x : int) : int = {{\nvar result = 0;\nproc work() {{\n{body}result = {result};\n}}\n\
                     work ();\nreturn result;\n}}"
                ),
            };
        }
        out += "for x in xs do\n";
        self.write(&mut out, &self.main, 0);
        let _ = writeln!(out, "v0 = {};\ndone\nreturn v0, v1, v2, v0 - v1, cells;\n}}", shown(&self.result));
        let numbers: Vec<String> = self.numbers.iter().map(ToString::to_string).collect();
        let _ = writeln!(out, "println (outer ({}));", numbers.join(", "));
        out
    }
}

// ---- the model --------------------------------------------------------------------------------

struct State {
    variables: [i64; VARIABLES],
    cells: [i64; PLACES],
    calls: usize,
}

impl State {
    fn value(&self, value: &Number, x: i64, known: &[i64]) -> i64 {
        match value {
            Number::Constant(n) => *n,
            Number::Variable(v) => self.variables[*v],
            Number::Place(p) => self.cells[*p],
            Number::Parameter => x,
            Number::Known(k) => known[*k],
            Number::Of(op, a, b) => {
                let (a, b) = (self.value(a, x, known), self.value(b, x, known));
                match op {
                    '+' => a.wrapping_add(b),
                    '-' => a.wrapping_sub(b),
                    _ => a.wrapping_mul(b),
                }
            }
        }
    }

    fn call(&mut self, program: &Program, function: usize, x: i64) -> i64 {
        self.calls += 1;
        let called = &program.functions[function];
        let mut known = vec![0; 64];
        match self.all(program, &called.steps, function, x, &mut known) {
            Some(returned) => returned,
            None => self.value(&called.result, x, &known),
        }
    }

    fn all(
        &mut self,
        program: &Program,
        steps: &[Step],
        itself: usize,
        x: i64,
        known: &mut Vec<i64>,
    ) -> Option<i64> {
        for step in steps {
            match step {
                Step::Set(v, value) => self.variables[*v] = self.value(value, x, known),
                Step::Store(p, value) => self.cells[*p] = self.value(value, x, known),
                Step::Add(p, value) => {
                    self.cells[*p] = self.cells[*p].wrapping_add(self.value(value, x, known));
                }
                Step::Call(target, function, value) => {
                    if matches!(target, Target::Returned) && self.variables[0] <= 50 {
                        continue;
                    }
                    let argument = self.value(value, x, known);
                    let result = self.call(program, *function, argument);
                    match target {
                        Target::Known(k) => known[*k] = result,
                        Target::Variable(v) => self.variables[*v] = result,
                        Target::Place(p) => self.cells[*p] = result,
                        Target::Nowhere => {}
                        Target::Returned => return Some(result),
                    }
                }
                Step::Either(k, (a, b), function, value, otherwise) => {
                    known[*k] = match self.value(a, x, known) < self.value(b, x, known) {
                        true => {
                            let argument = self.value(value, x, known);
                            self.call(program, *function, argument)
                        }
                        false => self.value(otherwise, x, known),
                    };
                }
                Step::If(a, b, then, otherwise) => {
                    let smaller = self.value(a, x, known) < self.value(b, x, known);
                    let branch = if smaller { then } else { otherwise };
                    if let Some(returned) = self.all(program, branch, itself, x, known) {
                        return Some(returned);
                    }
                }
                Step::IfCall(function, value, then) => {
                    let argument = self.value(value, x, known);
                    if self.call(program, *function, argument) > 0
                        && let Some(returned) = self.all(program, then, itself, x, known)
                    {
                        return Some(returned);
                    }
                }
                Step::Again(k) => {
                    known[*k] = if x > 0 { self.call(program, itself, x % 3 - 1) } else { 0 };
                }
                Step::Times(n, body) => {
                    for _ in 0..*n {
                        if let Some(returned) = self.all(program, body, itself, x, known) {
                            return Some(returned);
                        }
                    }
                }
            }
        }
        None
    }
}

#[test]
fn calls_of_storing_functions_happen_in_their_order() {
    let mut dice = Dice::seeded();
    let rounds = crate::random::number("FELIS_RANDOM").unwrap_or(60);
    let mut calls = 0;
    for _ in 0..rounds {
        let program = Program::random(&mut dice);
        let mut state = State { variables: [1, 2, 3], cells: [4, 5, 6], calls: 0 };
        for x in &program.numbers {
            let known = &mut vec![0; 64];
            let returned = state.all(&program, &program.main, 0, *x, known);
            assert!(returned.is_none(), "the outer function returns at its end");
            state.variables[0] = state.value(&program.result, *x, known);
        }
        let [v0, v1, v2] = state.variables;
        let [c0, c1, c2] = state.cells;
        let expected = format!("({v0}, {v1}, {v2}, {}, ({c0}, {c1}, {c2}))\n", v0.wrapping_sub(v1));
        assert_eq!(run(&program.text()), expected, "{}", program.text());
        calls += state.calls;
    }
    assert!(calls > rounds as usize, "the programs call their functions");
}

/// Checks that the outer function stays pure: any number of its calls may run at once.
#[test]
fn the_function_around_stays_pure() {
    let program = "
        fun ranks(xs : int ^ 4) : int ^ 4 = {
          var given = 0;
          fun next() : int = { given += 1; return given; }
          var out = (0, 0, 0, 0);
          for i in ..[4] do
            if xs.i > 2 do &out.i <- next (); done
          done
          return out;
        }
        println (map ranks ((1, 5, 2, 7), (3, 3, 3, 3)));
        println [ sum (ranks (i :>> int, j, 3, 4)) for i in ..[3], j in (1, 2, 3) ];
    ";
    assert_eq!(run(program), "((0, 1, 0, 2), (1, 2, 3, 4))\n(3, 3, 6, 3, 3, 6, 3, 3, 6)\n");
}
