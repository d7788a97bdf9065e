//! Functions and their statements: local variables, loops, stores into parts, early ends.

use super::tree::{Node, leaf, node};
use super::types::{Index, Ty};
use super::{Function, Generator, MAX_ITERATIONS, Scope, Variable};

impl Generator {
    /// Makes a function of the program, which later ones may call.
    pub(super) fn function(&mut self) -> Node {
        let name = self.name("f");
        let sizes: Vec<String> = match self.rng.u32(0..3) {
            0 => vec!["N".to_string()],
            1 if self.rng.bool() => vec!["N".to_string(), "M".to_string()],
            _ => Vec::new(),
        };
        let mut scope = Scope { rounds: 1, sizes: sizes.clone(), ..Scope::default() };
        let mut parameters = Vec::new();
        // Each size occurs in a parameter.
        for size in &sizes {
            let of = self.ty(0);
            parameters.push(Ty::array(&of, &Index::Var(size.clone())));
        }
        for _ in 0..self.rng.usize(1..3) {
            let ty = self.ty_in(&scope, 2);
            parameters.push(ty);
        }
        let mut texts = Vec::new();
        for ty in &parameters {
            let name = self.name("p");
            texts.push(format!("{name}:{}", ty.text()));
            scope = scope.with(&name, ty.clone());
        }
        let result = self.ty_in(&scope, 2);
        scope.result = Some(result.clone());
        let generics: Vec<String> = sizes.iter().map(|s| format!("{s}:COMPACTLINEAR")).collect();
        let generics = if sizes.is_empty() { String::new() } else { format!("[{}]", generics.join(", ")) };
        let head = format!("fun {name}{generics}({}):{}", texts.join(", "), result.text());
        let item = if self.one_in(4) {
            let value = self.expression(&result, 4, &scope.closed(1));
            node(Ty::Statement, &format!("{head} => {{}};\n"), vec![value])
        } else {
            let body = self.body(&result, 3, &scope);
            node(Ty::Statement, &format!("{head} {{\n{{}}\n}}\n"), vec![body])
        };
        self.functions.push(Function { name, sizes, parameters, result });
        item
    }

    /// Makes statements that end with a `return`.
    pub(super) fn body(&mut self, result: &Ty, depth: u32, scope: &Scope) -> Node {
        let mut scope = Scope { result: Some(result.clone()), looping: false, ..scope.clone() };
        let mut statements = self.statements(depth, &mut scope);
        let value = self.expression(result, depth, &scope);
        statements.push(node(Ty::Tuple(vec![Ty::Statement]), "return {};", vec![value]));
        block(statements)
    }

    pub(super) fn statements(&mut self, depth: u32, scope: &mut Scope) -> Vec<Node> {
        (0..self.rng.usize(1..5)).map(|_| self.statement(depth, scope)).collect()
    }

    pub(super) fn statement(&mut self, depth: u32, scope: &mut Scope) -> Node {
        let inner_depth = depth.saturating_sub(1);
        let limit = if depth == 0 || scope.rounds > MAX_ITERATIONS / 10 { 11 } else { 20 };
        match self.rng.u32(0..limit) {
            0..=3 => {
                let ty = self.ty_in(scope, 2);
                let value = self.expression(&ty, depth, scope);
                let open = self.rng.u32(0..4) > 0;
                let name = self.name("v");
                let word = if open { "var" } else { "val" };
                let made =
                    node(Ty::Statement, &format!("{word} {name} : {} = {{}};\n", ty.text()), vec![value]);
                scope.variables.push(Variable { name, ty, open });
                made
            }
            4..=6 => self.store(depth, scope),
            7 | 8 => self.moved(depth, scope).unwrap_or_else(|| self.store(depth, scope)),
            9 => self.called(inner_depth, scope).unwrap_or_else(|| self.store(depth, scope)),
            10 => match (&scope.result, scope.looping) {
                (_, true) if self.rng.u32(0..3) > 0 => {
                    let condition = self.expression(&Ty::bool(), inner_depth, scope);
                    let word = ["break", "continue"][self.rng.usize(0..2)];
                    node(Ty::Statement, &format!("if {{}} perform {word};\n"), vec![condition])
                }
                (Some(result), _) => {
                    let result = result.clone();
                    let condition = self.expression(&Ty::bool(), inner_depth, scope);
                    let value = self.expression(&result, inner_depth, scope);
                    node(Ty::Statement, "if {} perform return {};\n", vec![condition, value])
                }
                (None, _) => self.store(depth, scope),
            },
            11 | 12 => {
                let condition = self.expression(&Ty::bool(), inner_depth, scope);
                let first = block(self.statements(inner_depth, &mut scope.clone()));
                if self.rng.bool() {
                    return node(Ty::Statement, "if {} do\n{}\ndone\n", vec![condition, first]);
                }
                let second = block(self.statements(inner_depth, &mut scope.clone()));
                node(Ty::Statement, "if {} do\n{}\nelse\n{}\ndone\n", vec![condition, first, second])
            }
            13 => {
                // A bounded `while`: nothing else stores into its counter.
                let (counter, most) = (self.name("w"), self.rng.u64(1..8));
                let condition = self.expression(&Ty::bool(), inner_depth, scope);
                let mut inner = scope.with(&counter, Ty::int());
                inner.rounds *= most;
                inner.looping = true;
                let body = block(self.statements(inner_depth, &mut inner));
                let pattern = format!(
                    "var {counter} = 0;\nwhile {counter} < {most} and {{}} do\n{counter} += 1;\n{{}}\ndone\n"
                );
                node(Ty::Statement, &pattern, vec![condition, body])
            }
            14 => {
                let subject =
                    Index::Sum(vec![Index::Unit(self.rng.u64(2..5)), Index::Unit(self.rng.u64(2..5))]);
                let Index::Sum(parts) = &subject else { return block(Vec::new()) };
                let value = self.expression(&Ty::Code(subject.clone()), inner_depth, scope);
                let (i, j) = (self.name("i"), self.name("j"));
                let mut one = scope.with(&i, Ty::Code(parts[0].clone()));
                let mut two = scope.with(&j, Ty::Code(parts[1].clone()));
                let first = block(self.statements(inner_depth, &mut one));
                let second = block(self.statements(inner_depth, &mut two));
                let pattern = format!("match {{}} do\n| case 0 {i} => {{}}\n| case 1 {j} => {{}}\ndone\n");
                node(Ty::Statement, &pattern, vec![value, first, second])
            }
            15 if self.rng.bool() => {
                // A local function, which sees the definitions around it.
                let (given, result) = (self.ty(0), self.ty(1));
                let (name, x, y) = (self.name("h"), self.name("x"), self.name("y"));
                let inner = Scope { result: Some(result.clone()), ..scope.closed(2).with(&x, given.clone()) };
                let body = self.body(&result, inner_depth, &inner);
                let argument = self.expression(&given, inner_depth, scope);
                let pattern = format!(
                    "fun {name}({x}:{}):{} {{ {{}} }}\nval {y} = {name} ({{}});\n",
                    given.text(),
                    result.text()
                );
                scope.variables.push(Variable { name: y, ty: result, open: false });
                node(Ty::Statement, &pattern, vec![body, argument])
            }
            _ => self.for_loop(inner_depth, scope),
        }
    }

    fn for_loop(&mut self, depth: u32, scope: &Scope) -> Node {
        let name = self.name("k");
        match self.rng.u32(0..4) {
            0 => {
                let ty = self.ty_in(scope, 1);
                let index = self.index_in(scope, 1);
                let array = self.expression(&Ty::array(&ty, &index), depth, scope);
                let mut inner = scope.with(&name, ty);
                inner.rounds *= index.size().max(1);
                inner.looping = true;
                let body = block(self.statements(depth, &mut inner));
                node(Ty::Statement, &format!("for {name} in {{}} do\n{{}}\ndone\n"), vec![array, body])
            }
            1 => {
                let (low, high) = (self.rng.i64(-3..4), self.rng.i64(-1..12));
                let sign = ["..", "..<"][self.rng.usize(0..2)];
                let mut inner = scope.with(&name, Ty::int());
                inner.rounds *= (high - low + 1).max(1) as u64;
                inner.looping = true;
                let body = block(self.statements(depth, &mut inner));
                node(
                    Ty::Statement,
                    &format!("for {name} in ({low}){sign}({high}) do\n{{}}\ndone\n"),
                    vec![body],
                )
            }
            _ => {
                let index = self.index_in(scope, 2);
                let mut inner = scope.clone();
                inner.rounds *= index.size().max(1);
                inner.looping = true;
                let pattern = match &index {
                    Index::Product(parts) if self.rng.bool() => {
                        let names: Vec<String> = parts.iter().map(|_| self.name("k")).collect();
                        for (name, part) in names.iter().zip(parts) {
                            inner = inner.with(name, Ty::Code(part.clone()));
                        }
                        names.join(" \\, ")
                    }
                    _ => {
                        inner = inner.with(&name, Ty::Code(index.clone()));
                        name
                    }
                };
                let body = block(self.statements(depth, &mut inner));
                node(
                    Ty::Statement,
                    &format!("for {pattern} in ..[{}] do\n{{}}\ndone\n", index.text()),
                    vec![body],
                )
            }
        }
    }

    /// Makes an assignment to a variable, or a store into a part of it.
    pub(super) fn store(&mut self, depth: u32, scope: &Scope) -> Node {
        let open: Vec<&Variable> = scope.variables.iter().filter(|v| v.open).collect();
        if open.is_empty() {
            return block(Vec::new());
        }
        let variable = open[self.rng.usize(0..open.len())].clone();
        let mut place = leaf(&Ty::Statement, variable.name.clone());
        let mut ty = variable.ty.clone();
        let mut steps = 0;
        while self.rng.u32(0..5) > 0 {
            let (pattern, next, at) = match &ty {
                Ty::Tuple(parts) => {
                    let at = self.rng.usize(0..parts.len());
                    (format!("{{}}.{at}"), parts[at].clone(), None)
                }
                Ty::Record(fields) | Ty::Struct(_, fields) => {
                    let (field, ty) = fields[self.rng.usize(0..fields.len())].clone();
                    (format!("{{}}.{field}"), ty, None)
                }
                Ty::Array(of, index) if index.size() > 0 => {
                    ("{}.({})".to_string(), (**of).clone(), Some(Ty::Code(index.clone())))
                }
                Ty::Code(Index::Product(parts)) => {
                    let at = self.rng.usize(0..parts.len());
                    (format!("{{}}.{at}"), Ty::Code(parts[at].clone()), None)
                }
                Ty::Code(Index::Power(base, places)) => {
                    ("{}.({})".to_string(), Ty::Code((**base).clone()), Some(Ty::Code((**places).clone())))
                }
                _ => break,
            };
            let at = at.map(|t| self.expression(&t, depth.min(2), scope));
            place = node(Ty::Statement, &pattern, [Some(place), at].into_iter().flatten().collect());
            ty = next;
            steps += 1;
        }
        // A place is not a statement that could be dropped.
        place.ty = Ty::Tuple(vec![Ty::Statement, Ty::Statement]);
        if steps > 0 {
            let value = self.expression(&ty, depth, scope);
            return node(Ty::Statement, "&{} <- {};\n", vec![place, value]);
        }
        let number = matches!(ty, Ty::Number(_));
        let value = self.expression(&ty, depth, scope);
        let sign = if number && self.rng.bool() { ["+=", "-=", "*="][self.rng.usize(0..3)] } else { "=" };
        node(Ty::Statement, &format!("{{}} {sign} {{}};\n"), vec![place, value])
    }
}

/// Makes a sequence of statements.
fn block(statements: Vec<Node>) -> Node {
    let holes = "{}".repeat(statements.len());
    node(Ty::Tuple(Vec::new()), &holes, statements)
}
