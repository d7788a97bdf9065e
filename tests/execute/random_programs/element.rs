//! Loops per element: functions of numbers whose loops end early, applied to each element of an
//! array.

use super::Generator;
use super::tree::{Node, leaf, node};
use super::types::Ty;

/// The variables of an element's function: their names, types, and true if they may be stored into.
type Names = Vec<(String, Ty, bool)>;

impl Generator {
    /// Makes an array whose elements are computed by a function with loops.
    pub(super) fn elements(&mut self) -> Node {
        let (name, x, n, i) = (self.name("e"), self.name("x"), self.name("n"), self.name("i"));
        let result = self.scalar();
        let mut names = vec![(x.clone(), Ty::real(), false), (n.clone(), Ty::int(), false)];
        let body = self.element_body(&result, &mut names);
        let size = self.rng.u32(1..30);
        let scale = self.rng.i32(-20..20);
        let pattern = format!(
            "fun {name}({x}:real, {n}:int):{} {{\n{{}}}}\nprintln (_strr [ {name} (((({i} :>> int) :> real) * {scale}.25 + 1.5), ({i} :>> int)) for {i} in ..[{size}] ]);\n",
            result.text()
        );
        node(Ty::Statement, &pattern, vec![body])
    }

    fn scalar(&mut self) -> Ty {
        if self.rng.bool() { Ty::real() } else { Ty::int() }
    }

    fn element_body(&mut self, result: &Ty, names: &mut Names) -> Node {
        let mut statements = Vec::new();
        for _ in 0..self.rng.usize(1..4) {
            let (ty, name) = (self.scalar(), self.name("v"));
            let value = self.worked_out(&ty, 1, names);
            statements.push(node(Ty::Statement, &format!("var {name} = {{}};\n"), vec![value]));
            names.push((name, ty, true));
        }
        statements.extend(self.element_statements(3, result, names, false));
        let value = self.worked_out(result, 1, names);
        statements.push(node(Ty::Tuple(vec![Ty::Statement]), "return {};\n", vec![value]));
        let holes = "{}".repeat(statements.len());
        node(Ty::Tuple(Vec::new()), &holes, statements)
    }

    fn element_block(&mut self, depth: u32, result: &Ty, names: &Names, looping: bool) -> Node {
        let statements = self.element_statements(depth, result, &mut names.clone(), looping);
        let holes = "{}".repeat(statements.len());
        node(Ty::Tuple(Vec::new()), &holes, statements)
    }

    fn element_statements(&mut self, depth: u32, result: &Ty, names: &mut Names, looping: bool) -> Vec<Node> {
        (0..self.rng.usize(1..5)).map(|_| self.element_statement(depth, result, names, looping)).collect()
    }

    /// A reduction of numbers that a condition keeps, as many as a number says.
    fn filtered(&mut self, ty: &Ty, names: &Names) -> Node {
        let number = self.name("q");
        let mut inside = names.clone();
        inside.push((number.clone(), Ty::int(), false));
        let value = self.worked_out(ty, 1, &inside);
        let count = self.worked_out(&Ty::int(), 1, names);
        let condition = self.condition(&inside);
        // The order of what a sum of floats adds up is seen in its last bits.
        let reduction = ["sum", "product", "sum (sort", "median ("]
            [self.rng.usize(0..if *ty == Ty::real() { 4 } else { 3 })];
        let end = if reduction.contains('(') { ")" } else { "" };
        let pattern = format!("({reduction} [ {{}} for {number} in iota (abs ({{}} % 20)) if {{}} ]{end})");
        node(ty.clone(), &pattern, vec![value, count, condition])
    }

    fn element_statement(&mut self, depth: u32, result: &Ty, names: &mut Names, looping: bool) -> Node {
        let from = if depth == 3 { 5 } else { 0 };
        match self.rng.u32(from..if depth == 0 { 5 } else { 10 }) {
            0..=2 => {
                let open: Vec<_> = names.iter().filter(|(_, _, open)| *open).cloned().collect();
                let (name, ty, _) = open[self.rng.usize(0..open.len())].clone();
                let value = self.worked_out(&ty, 2, names);
                node(Ty::Statement, &format!("{name} = {{}};\n"), vec![value])
            }
            3 => {
                let (ty, name) = (self.scalar(), self.name("v"));
                let value = match self.rng.u32(0..4) {
                    0 => self.filtered(&ty, names),
                    _ => self.worked_out(&ty, 2, names),
                };
                let word = if self.rng.bool() { "var" } else { "val" };
                names.push((name.clone(), ty, word == "var"));
                node(Ty::Statement, &format!("{word} {name} = {{}};\n"), vec![value])
            }
            4 => {
                let condition = self.condition(names);
                if looping && self.rng.u32(0..3) > 0 {
                    let word = ["break", "continue"][self.rng.usize(0..2)];
                    return node(Ty::Statement, &format!("if {{}} perform {word};\n"), vec![condition]);
                }
                let value = self.worked_out(result, 1, names);
                node(Ty::Statement, "if {} perform return {};\n", vec![condition, value])
            }
            5 | 6 => {
                let condition = self.condition(names);
                let first = self.element_block(depth - 1, result, names, looping);
                if self.rng.bool() {
                    return node(Ty::Statement, "if {} do\n{}done\n", vec![condition, first]);
                }
                let second = self.element_block(depth - 1, result, names, looping);
                node(Ty::Statement, "if {} do\n{}else\n{}done\n", vec![condition, first, second])
            }
            7 => {
                // The loop is bounded: nothing else stores into its counter.
                let (counter, most) = (self.name("w"), self.rng.u32(1..20));
                let condition = self.condition(names);
                let mut inner = names.clone();
                inner.push((counter.clone(), Ty::int(), false));
                let body = self.element_block(depth - 1, result, &inner, true);
                let pattern = format!(
                    "var {counter} = 0;\nwhile {counter} < {most} and {{}} do\n{counter} += 1;\n{{}}done\n"
                );
                node(Ty::Statement, &pattern, vec![condition, body])
            }
            _ => {
                let (index, most) = (self.name("k"), self.rng.u32(0..30));
                let mut inner = names.clone();
                inner.push((index.clone(), Ty::int(), false));
                let body = self.element_block(depth - 1, result, &inner, true);
                node(Ty::Statement, &format!("for {index} in 0..<{most} do\n{{}}done\n"), vec![body])
            }
        }
    }

    fn condition(&mut self, names: &Names) -> Node {
        let ty = self.scalar();
        let sign = ["<", "<=", ">", "==", "!="][self.rng.usize(0..5)];
        let (a, b) = (self.worked_out(&ty, 2, names), self.worked_out(&ty, 1, names));
        let one = node(Ty::bool(), &format!("({{}} {sign} {{}})"), vec![a, b]);
        match self.rng.u32(0..6) {
            0 => node(Ty::bool(), "(not {})", vec![one]),
            1 => {
                let other = self.condition(names);
                let word = ["and", "or"][self.rng.usize(0..2)];
                node(Ty::bool(), &format!("({{}} {word} {{}})"), vec![one, other])
            }
            _ => one,
        }
    }

    fn worked_out(&mut self, ty: &Ty, depth: u32, names: &Names) -> Node {
        let real = *ty == Ty::real();
        let known: Vec<_> = names.iter().filter(|(_, of, _)| of == ty).cloned().collect();
        let limit = if depth == 0 { 3 } else { 12 };
        match self.rng.u32(0..limit) {
            0 | 1 | 11 if !known.is_empty() => leaf(ty, known[self.rng.usize(0..known.len())].0.clone()),
            0..=2 if real => leaf(ty, format!("{:?}", f64::from(self.rng.i32(0..40)) / 8.0)),
            0..=2 => leaf(ty, self.rng.i32(0..12).to_string()),
            3 => {
                let condition = self.condition(names);
                let (a, b) = (self.worked_out(ty, depth - 1, names), self.worked_out(ty, depth - 1, names));
                node(ty.clone(), "(if {} then {} else {} endif)", vec![condition, a, b])
            }
            4 if real => {
                let of = self.worked_out(&Ty::int(), depth - 1, names);
                node(ty.clone(), "({} :> real)", vec![of])
            }
            5 if real => {
                let of = self.worked_out(ty, depth - 1, names);
                let function = ["sqrt", "abs", "floor", "sqrt", "abs", "ceil", "sin"][self.rng.usize(0..7)];
                node(ty.clone(), &format!("({function} ({{}}))"), vec![of])
            }
            4 => {
                let (a, b) = (self.worked_out(ty, depth - 1, names), self.worked_out(ty, depth - 1, names));
                let function = ["band", "bor", "bxor"][self.rng.usize(0..3)];
                node(ty.clone(), &format!("({function} ({{}}, {{}}))"), vec![a, b])
            }
            5 => {
                let a = self.worked_out(ty, depth - 1, names);
                node(ty.clone(), &format!("(shr ({{}}, {}))", self.rng.u32(0..5)), vec![a])
            }
            6 if !real && self.one_in(4) => {
                let a = self.worked_out(ty, depth - 1, names);
                node(ty.clone(), &format!("({{}} % {})", self.rng.u32(2..9)), vec![a])
            }
            6 if real => {
                let (a, b) = (self.worked_out(ty, depth - 1, names), self.worked_out(ty, depth - 1, names));
                node(ty.clone(), "({} / {})", vec![a, b])
            }
            _ => {
                let (a, b) = (self.worked_out(ty, depth - 1, names), self.worked_out(ty, depth - 1, names));
                let sign = ["+", "-", "*"][self.rng.usize(0..3)];
                node(ty.clone(), &format!("({{}} {sign} {{}})"), vec![a, b])
            }
        }
    }
}
