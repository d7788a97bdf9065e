//! Recursive functions: values of any type, with calls of the function itself in branches, in loops
//! and beside each other.

use super::tree::{Node, node};
use super::types::Ty;
use super::{Generator, Scope};

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
}
