//! Recursive functions: values of any type, with calls of the function itself in branches, in loops
//! and beside each other. Recursive procedures that change variables around them, those of a function
//! or of the session.

use super::tree::{Node, leaf, node};
use super::types::Ty;
use super::{Generator, Scope, Variable};

/// The largest first argument of a call from outside. Each call makes at most two at smaller
/// numbers.
const MAX_DEPTH: u32 = 5;

impl Generator {
    /// Makes an array whose elements are computed by a recursive function.
    pub fn recursive(&mut self) -> Node {
        let (name, n, i) = (self.name("r"), self.name("n"), self.name("i"));
        let result = self.ty(1);
        let parameters: Vec<(String, Ty)> =
            (0..self.rng.usize(1..3)).map(|_| (self.name("p"), self.ty(1))).collect();
        let mut scope = Scope { rounds: 100, result: Some(result.clone()), ..Scope::default() };
        for (name, ty) in &parameters {
            scope = scope.with(name, ty.clone());
        }
        let mut texts = vec![format!("{n}:int")];
        texts.extend(parameters.iter().map(|(name, ty)| format!("{name}:{}", ty.text())));
        let base = self.expression(&result, 2, &scope);
        let mut parts = vec![base];
        let mut inner = scope.with(&n, Ty::int());
        parts.extend(self.statements(1, &mut inner));
        for less in 1..=self.rng.usize(1..3) {
            let value = self.name("v");
            let mut arguments = vec![];
            for (_, ty) in &parameters {
                arguments.push(self.expression(ty, 2, &inner));
            }
            let holes = ", {}".repeat(arguments.len());
            let call = format!("{name} ({n} - {less}{holes})");
            let pattern = match self.rng.u32(0..3) {
                0 => {
                    arguments.insert(0, self.expression(&Ty::bool(), 1, &inner));
                    arguments.push(self.expression(&result, 1, &inner));
                    format!("val {value} : {} = if {{}} then {call} else {{}} endif;\n", result.text())
                }
                1 => {
                    let (round, first) = (self.name("k"), self.expression(&result, 1, &inner));
                    arguments.insert(0, first);
                    let open = format!("var {value} : {} = {{}};\n", result.text());
                    format!("{open}for {round} in 0..<1 do {value} = {call}; done\n")
                }
                _ => format!("val {value} : {} = {call};\n", result.text()),
            };
            parts.push(node(Ty::Tuple(vec![Ty::Statement]), &pattern, arguments));
            inner = inner.with(&value, result.clone());
        }
        parts.extend(self.statements(1, &mut inner));
        let value = self.expression(&result, 2, &inner);
        parts.push(node(Ty::Tuple(vec![Ty::Statement]), "return {};\n", vec![value]));
        let arguments: Vec<Node> = {
            let outer = Scope { rounds: 1, ..Scope::default() };
            parameters.iter().map(|(_, ty)| self.expression(ty, 2, &outer)).collect()
        };
        let (size, holes) = (self.rng.u32(1..30), "{}".repeat(parts.len() - 1));
        let given = ", {}".repeat(arguments.len());
        parts.extend(arguments);
        let pattern = format!(
            "fun {name}({}):{} {{\nif {n} <= 0 perform return {{}};\n{holes}}}\n\
             println (_strr [ {name} (({i} :>> int) % {MAX_DEPTH}{given}) for {i} in ..[{size}] ]);\n",
            texts.join(", "),
            result.text()
        );
        node(Ty::Statement, &pattern, parts)
    }

    /// Makes variables, a recursive procedure that changes them, by itself and by another one, and
    /// calls of it; all of them in a function, or of the session.
    pub fn recursive_procedure(&mut self) -> Node {
        let is_local = self.rng.bool();
        let mut scope = Scope { rounds: 60, ..Scope::default() };
        let mut parts = Vec::new();
        for _ in 0..self.rng.usize(1..4) {
            let (name, ty) = (self.name("g"), if self.rng.bool() { self.ty(2) } else { self.ty(1) });
            let value = self.expression(&ty, 2, &Scope { rounds: 60, ..Scope::default() });
            parts.push(node(Ty::Statement, &format!("var {name} : {} = {{}};\n", ty.text()), vec![value]));
            scope.variables.push(Variable { name, ty, open: true });
        }
        if self.rng.bool() {
            let helper = self.setting_procedure(&mut scope);
            parts.push(helper);
        }
        let (name, n, x) = (self.name("r"), self.name("n"), self.name("x"));
        let given = self.ty(1);
        let mut inner = scope.with(&n, Ty::int()).with(&x, given.clone());
        let base = self.statement(1, &mut inner.clone());
        let mut body = self.statements(1, &mut inner);
        for less in 1..=self.rng.usize(1..3) {
            let argument = self.expression(&given, 2, &inner);
            let call = format!("{name} ({n} - {less}, {{}});");
            body.push(match self.rng.u32(0..4) {
                0 => {
                    let condition = self.expression(&Ty::bool(), 1, &inner);
                    let pattern = format!("if {{}} do\n{call}\ndone\n");
                    node(Ty::Statement, &pattern, vec![condition, argument])
                }
                1 => {
                    let round = self.name("k");
                    let pattern = format!("for {round} in 0..<1 do\n{call}\ndone\n");
                    node(Ty::Statement, &pattern, vec![argument])
                }
                _ => node(Ty::Statement, &format!("{call}\n"), vec![argument]),
            });
            body.extend(self.statements(1, &mut inner));
        }
        let holes = "{}".repeat(body.len());
        let head = format!("proc {name}({n}:int, {x}:{})", given.text());
        let pattern = format!("{head} {{\nif {n} <= 0 do\n{{}}\nreturn;\ndone\n{holes}}}\n");
        body.insert(0, base);
        parts.push(node(Ty::Statement, &pattern, body));
        let (round, depth) = (self.name("k"), self.rng.u32(1..MAX_DEPTH));
        let argument = self.expression(&given, 2, &scope);
        let pattern = match self.rng.bool() {
            true => format!("{name} ({depth}, {{}});\n"),
            false => format!("for {round} in 0..<3 do\n{name} ({depth} - {round}, {{}});\ndone\n"),
        };
        parts.push(node(Ty::Statement, &pattern, vec![argument]));
        let printed: Vec<Node> =
            scope.variables.iter().map(|variable| leaf(&variable.ty, variable.name.clone())).collect();
        if !is_local {
            let print = |value| node(Ty::Statement, "println (_strr {});\n", vec![value]);
            parts.extend(printed.into_iter().map(print));
            return node(Ty::Statement, &"{}".repeat(parts.len()), parts);
        }
        let (whole, types) = (self.name("f"), scope.variables.iter().map(|variable| variable.ty.text()));
        let result = types.collect::<Vec<_>>().join(" * ");
        let holes = "{}".repeat(parts.len());
        let values = vec!["{}"; printed.len()].join(", ");
        let pattern = format!(
            "fun {whole}(calls:int):{result} {{\n{holes}return {values};\n}}\nprintln (_strr ({whole} 1));\n"
        );
        parts.extend(printed);
        node(Ty::Statement, &pattern, parts)
    }

    /// Makes a procedure that changes the variables, which may be called.
    fn setting_procedure(&mut self, scope: &mut Scope) -> Node {
        let (name, y) = (self.name("c"), self.name("y"));
        let given = self.ty(0);
        let body = self.statements(1, &mut scope.with(&y, given.clone()));
        scope.procedures.push((name.clone(), given.clone()));
        let holes = "{}".repeat(body.len());
        node(Ty::Statement, &format!("proc {name}({y}:{}) {{\n{holes}}}\n", given.text()), body)
    }
}
