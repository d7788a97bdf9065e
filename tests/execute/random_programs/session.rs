//! Session variables: statements at the top level that change them, functions that read them and
//! procedures that change them. A value computed from a variable must not change with it.

use super::tree::{Node, leaf, node};
use super::types::Ty;
use super::{Generator, Scope, Variable};

impl Generator {
    /// Makes variables, functions that read them and statements that change them, interleaved with
    /// output of their values.
    pub(super) fn session_part(&mut self, scope: &mut Scope) -> Vec<Node> {
        let mut items = Vec::new();
        for _ in 0..self.rng.usize(1..4) {
            let array = self.rng.u32(0..3) > 0;
            let ty = if array { self.number_or_pair_array() } else { self.ty(2) };
            let value = self.expression(&ty, 2, scope);
            let name = self.name("g");
            items.push(node(Ty::Statement, &format!("var {name} : {} = {{}};\n", ty.text()), vec![value]));
            scope.variables.push(Variable { name, ty, open: true });
        }
        for _ in 0..self.rng.usize(0..3) {
            let item = if self.rng.bool() { self.looking_function(scope) } else { self.procedure(scope) };
            items.push(item);
        }
        for _ in 0..self.rng.usize(2..6) {
            let depth = self.rng.u32(2..4);
            items.push(self.statement(depth, scope));
            if self.rng.bool() {
                items.push(self.printed(scope));
            }
        }
        let open: Vec<Variable> = scope.variables.iter().filter(|v| v.open).cloned().collect();
        for variable in open {
            let value = leaf(&variable.ty, variable.name);
            items.push(node(Ty::Statement, "println (_strr {});\n", vec![value]));
        }
        items
    }

    fn number_or_pair_array(&mut self) -> Ty {
        let of = if self.one_in(4) { self.ty(1) } else { self.number() };
        let index = self.index(2);
        Ty::array(&of, &index)
    }

    /// Makes a function whose result depends on the values of the variables at the call.
    fn looking_function(&mut self, scope: &mut Scope) -> Node {
        let (name, x) = (self.name("f"), self.name("x"));
        let (given, result) = (self.ty(0), self.ty(1));
        let inner = scope.closed(1).with(&x, given.clone());
        let value = self.expression(&result, 3, &inner);
        let head = format!("fun {name}({x}:{}):{}", given.text(), result.text());
        self.functions.push(super::Function { name, sizes: Vec::new(), parameters: vec![given], result });
        node(Ty::Statement, &format!("{head} => {{}};\n"), vec![value])
    }

    /// Makes a procedure that changes session variables.
    fn procedure(&mut self, scope: &mut Scope) -> Node {
        let (name, y) = (self.name("c"), self.name("y"));
        let given = self.ty(1);
        let mut inner = scope.with(&y, given.clone());
        inner.rounds = 10;
        let body = self.statements(2, &mut inner);
        scope.procedures.push((name.clone(), given.clone()));
        let holes = "{}".repeat(body.len());
        node(Ty::Statement, &format!("proc {name}({y}:{}) {{\n{holes}}}\n", given.text()), body)
    }

    /// Makes a call of a procedure, if one may be called.
    pub(super) fn called(&mut self, depth: u32, scope: &Scope) -> Option<Node> {
        if scope.procedures.is_empty() {
            return None;
        }
        let (name, given) = scope.procedures[self.rng.usize(0..scope.procedures.len())].clone();
        let value = self.expression(&given, depth, scope);
        Some(node(Ty::Statement, &format!("{name} ({{}});\n"), vec![value]))
    }

    /// Prints a variable, or the result of a function of it.
    fn printed(&mut self, scope: &Scope) -> Node {
        let variable = scope.variables[self.rng.usize(0..scope.variables.len())].clone();
        let value = leaf(&variable.ty, variable.name);
        node(Ty::Statement, "println (_strr {});\n", vec![value])
    }

    /// Replaces an array by one whose elements read other elements of it, directly or through a
    /// value.
    pub(super) fn moved(&mut self, depth: u32, scope: &mut Scope) -> Option<Node> {
        let arrays: Vec<Variable> = scope
            .variables
            .iter()
            .filter(|v| v.open && matches!(&v.ty, Ty::Array(_, index) if index.size() > 0))
            .cloned()
            .collect();
        if arrays.is_empty() {
            return None;
        }
        let variable = arrays[self.rng.usize(0..arrays.len())].clone();
        let Ty::Array(of, index) = &variable.ty else { return None };
        let (i, old) = (self.name("i"), self.name("o"));
        let inner = scope.closed(index.size()).with(&i, Ty::Code(index.clone()));
        let mut read = || {
            let at = self.expression(&Ty::Code(index.clone()), depth.min(2), &inner);
            node((**of).clone(), &format!("({}).({{}})", variable.name), vec![at])
        };
        let (a, b) = (read(), read());
        let element = match &**of {
            Ty::Number(_) => node((**of).clone(), "({} + {})", vec![a, b]),
            _ => {
                let condition = self.expression(&Ty::bool(), depth.min(2), &inner);
                node((**of).clone(), "(if {} then {} else {} endif)", vec![condition, a, b])
            }
        };
        let made =
            node(variable.ty.clone(), &format!("[ {{}} for {i} in ..[{}] ]", index.text()), vec![element]);
        let name = &variable.name;
        if self.rng.bool() {
            return Some(node(Ty::Statement, &format!("{name} = {{}};\n"), vec![made]));
        }
        // Another statement may come between.
        let between = self.store(depth, scope);
        let pattern = format!("val {old} = {{}};\n{{}}{name} = {old};\n");
        let whole = node(Ty::Statement, &pattern, vec![made, between]);
        scope.variables.push(Variable { name: old, ty: variable.ty.clone(), open: false });
        Some(whole)
    }
}
