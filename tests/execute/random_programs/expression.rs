//! Expressions of a given type. Every node is an atom or in brackets, so that it may occur
//! anywhere.

use super::tree::{Node, leaf, node};
use super::types::{Index, Ty};
use super::{Function, Generator, MAX_ITERATIONS, Scope};

impl Generator {
    /// Makes an expression of a type.
    pub(super) fn expression(&mut self, ty: &Ty, depth: u32, scope: &Scope) -> Node {
        if depth == 0 || scope.rounds > MAX_ITERATIONS {
            return self.small(ty, scope);
        }
        let depth = depth - 1;
        match self.rng.u32(0..20) {
            0 | 1 => {
                if let Some(found) = self.mentioned(ty, scope, depth) {
                    return found;
                }
            }
            2 => {
                let condition = self.expression(&Ty::bool(), depth, scope);
                let (a, b) = (self.expression(ty, depth, scope), self.expression(ty, depth, scope));
                return node(ty.clone(), "(if {} then {} else {} endif)", vec![condition, a, b]);
            }
            3 => return self.applied_lambda(ty, depth, scope),
            4 => {
                let functions: Vec<Function> = self.functions.clone();
                for function in functions {
                    let mut sizes = Vec::new();
                    if function.result.fits(ty, &mut sizes) && scope.rounds < 20 && self.rng.bool() {
                        return self.call_at(&function, sizes, depth.min(1), scope);
                    }
                }
            }
            5 => return self.matched(ty, depth, scope),
            6 if scope.rounds < 200 => {
                // A fold whose state has this type.
                let (element, index) = (self.ty(0), self.index_in(scope, 1));
                let array = self.expression(&Ty::array(&element, &index), depth, scope);
                let start = self.expression(ty, depth, scope);
                let (s, v) = (self.name("s"), self.name("v"));
                let inner = scope.closed(index.size()).with(&s, ty.clone()).with(&v, element.clone());
                let body = self.expression(ty, depth.min(2), &inner);
                let pattern = format!(
                    "(({{}} |> fold (fun ({s}:{}, {v}:{}) => {{}}) {{}}))",
                    ty.text(),
                    element.text()
                );
                return node(ty.clone(), &pattern, vec![array, body, start]);
            }
            7 => {
                // An element of an array.
                let index = self.index_in(scope, 2);
                if index.size() > 0 && ty.slots() * index.size() < 60 {
                    let array = self.expression(&Ty::array(ty, &index), depth, scope);
                    let at = self.expression(&Ty::Code(index), depth, scope);
                    return node(ty.clone(), "({}).({})", vec![array, at]);
                }
            }
            8 => {
                // A component of a tuple.
                let other = self.ty(0);
                let (parts, at) =
                    if self.rng.bool() { (vec![ty.clone(), other], 0) } else { (vec![other, ty.clone()], 1) };
                let tuple = self.expression(&Ty::Tuple(parts), depth, scope);
                return node(ty.clone(), &format!("({{}}).{at}"), vec![tuple]);
            }
            9 => {
                let tried = self.expression(&Ty::Maybe(Box::new(ty.clone())), depth, scope);
                let otherwise = self.expression(ty, depth, scope);
                return node(ty.clone(), "(otherwise {} {})", vec![otherwise, tried]);
            }
            _ => {}
        }
        match ty {
            Ty::Number(name) => self.number_of(name, ty, depth, scope),
            Ty::Code(Index::Unit(2)) => self.truth(depth, scope),
            Ty::Code(index) => self.code(index, depth, scope),
            Ty::Array(of, index) => self.array(of, index, depth, scope),
            _ => self.made(ty, depth, scope),
        }
    }

    /// Makes a value from its parts.
    fn made(&mut self, ty: &Ty, depth: u32, scope: &Scope) -> Node {
        let mut each = |types: Vec<Ty>| -> Vec<Node> {
            types.iter().map(|t| self.expression(t, depth, scope)).collect()
        };
        match ty {
            Ty::Tuple(types) => {
                let holes = vec!["{}"; types.len()].join(", ");
                node(ty.clone(), &format!("({holes})"), each(types.clone()))
            }
            Ty::Record(fields) => {
                let holes: Vec<String> = fields.iter().map(|(f, _)| format!("{f} = {{}}")).collect();
                let parts = each(fields.iter().map(|(_, t)| t.clone()).collect());
                node(ty.clone(), &format!("({})", holes.join(", ")), parts)
            }
            Ty::Struct(name, fields) => {
                let holes = vec!["{}"; fields.len()].join(", ");
                let parts = each(fields.iter().map(|(_, t)| t.clone()).collect());
                node(ty.clone(), &format!("({name} ({holes}))"), parts)
            }
            Ty::Maybe(of) => match (self.rng.u32(0..4), &**of) {
                (0, _) => leaf(ty, format!("(case 0 of {})", ty.text())),
                (1, Ty::Code(index)) => {
                    let n = self.expression(&Ty::int(), depth, scope);
                    node(ty.clone(), &format!("({{}}).index[{}]", index.text()), vec![n])
                }
                _ => {
                    let value = self.expression(of, depth, scope);
                    node(ty.clone(), &format!("((case 1 of {}) {{}})", ty.text()), vec![value])
                }
            },
            _ => self.small(ty, scope),
        }
    }

    /// Returns a variable, or a part of one, that has a type.
    fn mentioned(&mut self, ty: &Ty, scope: &Scope, depth: u32) -> Option<Node> {
        let whole: Vec<&str> = scope.variables.iter().filter(|v| v.ty == *ty).map(|v| &*v.name).collect();
        if !whole.is_empty() && (depth == 0 || self.rng.u32(0..3) > 0) {
            // The latest are the innermost.
            let at = whole.len() - 1 - self.rng.usize(0..whole.len()).min(self.rng.usize(0..whole.len()));
            return Some(leaf(ty, whole[at]));
        }
        // An index of a part is an expression, too, so the depth is limited.
        for _ in 0..if depth == 0 || scope.variables.is_empty() { 0 } else { 4 } {
            let variable = scope.variables[self.rng.usize(0..scope.variables.len())].clone();
            let value = leaf(&variable.ty, variable.name);
            if let Some(part) = self.part_of(value, ty, depth, scope, 3) {
                return Some(part);
            }
        }
        None
    }

    /// Returns a part of a value that has a type.
    fn part_of(&mut self, value: Node, ty: &Ty, depth: u32, scope: &Scope, steps: u32) -> Option<Node> {
        if value.ty == *ty {
            return Some(value);
        }
        if steps == 0 {
            return None;
        }
        let part = match value.ty.clone() {
            Ty::Tuple(parts) => {
                let at = self.rng.usize(0..parts.len());
                node(parts[at].clone(), &format!("({{}}).{at}"), vec![value])
            }
            Ty::Record(fields) | Ty::Struct(_, fields) => {
                let (field, ty) = fields[self.rng.usize(0..fields.len())].clone();
                node(ty, &format!("({{}}).{field}"), vec![value])
            }
            Ty::Array(of, index) if index.size() > 0 => {
                let at = self.expression(&Ty::Code(index), depth - 1, scope);
                node(*of, "({}).({})", vec![value, at])
            }
            Ty::Code(Index::Product(parts)) => {
                let at = self.rng.usize(0..parts.len());
                node(Ty::Code(parts[at].clone()), &format!("({{}}).{at}"), vec![value])
            }
            Ty::Code(Index::Power(base, places)) => {
                let at = self.expression(&Ty::Code(*places), depth - 1, scope);
                node(Ty::Code(*base), "({}).({})", vec![value, at])
            }
            Ty::Code(Index::Pairs(_, of)) => {
                let at = self.rng.usize(0..2);
                node(Ty::Code(*of), &format!("({{}}).{at}"), vec![value])
            }
            _ => return None,
        };
        self.part_of(part, ty, depth, scope, steps - 1)
    }

    /// Returns a variable or a literal.
    pub(super) fn small(&mut self, ty: &Ty, scope: &Scope) -> Node {
        if self.rng.u32(0..4) > 0
            && let Some(found) = self.mentioned(ty, scope, 0)
        {
            return found;
        }
        match ty {
            Ty::Number(name) => leaf(ty, self.literal(name)),
            Ty::Code(index) if index.open() => {
                let n = self.rng.u32(0..9);
                leaf(ty, format!("(({n}).mod[{}])", index.text()))
            }
            Ty::Code(Index::Unit(2)) => leaf(ty, if self.rng.bool() { "true" } else { "false" }),
            // There is no value; an expression of this type is only ever under `fail`.
            Ty::Code(index) if index.size() == 0 => leaf(ty, format!("((0).mod[{}])", index.text())),
            Ty::Code(Index::Unit(n)) => leaf(ty, format!("`{}:{n}", self.rng.u64(0..*n))),
            Ty::Code(index) => leaf(ty, format!("({} :>> {})", self.rng.u64(0..index.size()), index.text())),
            Ty::Array(of, index) if index.open() || index.size() < 2 || index.size() * of.slots() > 24 => {
                let element = self.small(of, &scope.closed(1));
                node(ty.clone(), &format!("(fill[{}] {{}})", index.text()), vec![element])
            }
            Ty::Array(of, index) => {
                let elements: Vec<Node> = (0..index.size()).map(|_| self.small(of, scope)).collect();
                let holes = vec!["{}"; elements.len()].join(", ");
                node(ty.clone(), &format!("(({holes}) :>> {})", ty.text()), elements)
            }
            _ => self.made(ty, 0, scope),
        }
    }

    fn literal(&mut self, name: &str) -> String {
        let n = match self.rng.u32(0..12) {
            0 => 0,
            1 => 127,
            _ => self.rng.i64(0..12),
        };
        match name {
            "int" => match self.rng.u32(0..24) {
                0 => "9223372036854775807".to_string(),
                1 => "(-9223372036854775807 - 1)".to_string(),
                2..=5 => format!("(-{n})"),
                _ => n.to_string(),
            },
            "real" | "f32" => {
                let suffix = if name == "f32" { "f32" } else { "" };
                match self.rng.u32(0..30) {
                    0 => format!("(0.0{suffix} / 0.0{suffix})"),
                    1 => format!("(1.0{suffix} / 0.0{suffix})"),
                    2 => format!("(-0.0{suffix})"),
                    3 => format!("1e30{suffix}"),
                    4..=8 => format!("(-{}.{}{suffix})", self.rng.u32(0..9), self.rng.u32(0..1000)),
                    _ => format!("{}.{}{suffix}", self.rng.u32(0..9), self.rng.u32(0..1000)),
                }
            }
            _ if name.starts_with('i') && self.rng.u32(0..4) == 0 => format!("(-{n}{name})"),
            _ => format!("{n}{name}"),
        }
    }

    fn number_of(&mut self, name: &str, ty: &Ty, depth: u32, scope: &Scope) -> Node {
        let real = name == "real" || name == "f32";
        let signed = real || !name.starts_with('u');
        match self.rng.u32(0..22) {
            0..=6 => {
                let signs = if self.one_in(3) { 8 } else { 6 };
                let sign = ["+", "-", "*", "+", "-", "*", "/", "%"][self.rng.usize(0..signs)];
                let sign = if real && sign == "%" { "/" } else { sign };
                let (a, b) = (self.expression(ty, depth, scope), self.expression(ty, depth, scope));
                node(ty.clone(), &format!("({{}} {sign} {{}})"), vec![a, b])
            }
            7 if signed => {
                let a = self.expression(ty, depth, scope);
                node(ty.clone(), ["(-{})", "(abs {})", "(sign {})"][self.rng.usize(0..3)], vec![a])
            }
            8 => {
                let (a, b) = (self.expression(ty, depth, scope), self.expression(ty, depth, scope));
                node(ty.clone(), ["(max ({}, {}))", "(min ({}, {}))"][self.rng.usize(0..2)], vec![a, b])
            }
            9..=12 => {
                let index = self.index_in(scope, 2);
                let array = self.expression(&Ty::array(ty, &index), depth, scope);
                let empty = index.size() == 0;
                let word =
                    ["sum", "sum", "product", "max", "min"][self.rng.usize(0..if empty { 3 } else { 5 })];
                node(ty.clone(), &format!("({word} {{}})"), vec![array])
            }
            13 => {
                let index = self.index_in(scope, 1);
                let array = Ty::array(ty, &index);
                let (a, b) = (self.expression(&array, depth, scope), self.expression(&array, depth, scope));
                node(ty.clone(), "(dot ({}, {}))", vec![a, b])
            }
            14 | 15 => {
                let from = self.number();
                let value = self.expression(&from, depth, scope);
                let to = ty.text();
                let pattern = match self.rng.u32(0..3) {
                    0 if !real => format!("({{}}).wrap[{to}]"),
                    1 if !real => format!("({{}}).saturate[{to}]"),
                    _ => format!("({{}} :> {to})"),
                };
                node(ty.clone(), &pattern, vec![value])
            }
            16 | 17 if name == "int" => {
                let index = self.index_in(scope, 2);
                let code = self.expression(&Ty::Code(index.clone()), depth, scope);
                if index.size() == 0 {
                    self.small(ty, scope)
                } else {
                    node(ty.clone(), "({} :>> int)", vec![code])
                }
            }
            18 if name == "int" => {
                let index = self.index_in(scope, 2);
                let mask = self.expression(&Ty::array(&Ty::bool(), &index), depth, scope);
                node(ty.clone(), "(count {})", vec![mask])
            }
            16 | 17 if name == "real" => {
                let word =
                    ["sqrt", "sin", "cos", "exp", "log", "floor", "ceil", "round", "trunc", "tanh", "atan"];
                let a = self.expression(ty, depth, scope);
                node(ty.clone(), &format!("({} {{}})", word[self.rng.usize(0..word.len())]), vec![a])
            }
            19 if name == "int" => {
                let words = [
                    "(band ({}, {}))",
                    "(bor ({}, {}))",
                    "(bxor ({}, {}))",
                    "(shl ({}, {}))",
                    "(shr ({}, {}))",
                ];
                let (a, b) = (self.expression(ty, depth, scope), self.expression(ty, depth, scope));
                node(ty.clone(), words[self.rng.usize(0..5)], vec![a, b])
            }
            20 => {
                let a = self.expression(ty, depth, scope);
                node(ty.clone(), &format!("({{}} ** {})", if real { "2.0" } else { "2" }), vec![a])
                    .and_suffix(name, real)
            }
            21 => {
                let index = self.index_in(scope, 1);
                let array = self.expression(&Ty::array(ty, &index), depth, scope);
                let zero = self.expression(ty, depth.min(1), scope);
                let op = self.joiner(ty, depth, &scope.closed(index.size()));
                node(ty.clone(), "({} |> reduce {} {})", vec![array, op, zero])
            }
            _ => self.small(ty, scope),
        }
    }

    /// Makes a lambda of two values of one type.
    fn joiner(&mut self, ty: &Ty, depth: u32, scope: &Scope) -> Node {
        let (a, b) = (self.name("a"), self.name("b"));
        let inner = scope.closed(1).with(&a, ty.clone()).with(&b, ty.clone());
        let body = self.expression(ty, depth.min(2), &inner);
        let t = ty.text();
        // A lambda is not a value of the type; a type of its own keeps it when programs shrink.
        node(
            Ty::Tuple(vec![ty.clone(), Ty::Statement]),
            &format!("(fun ({a}:{t}, {b}:{t}) => {{}})"),
            vec![body],
        )
    }

    fn truth(&mut self, depth: u32, scope: &Scope) -> Node {
        let bool = Ty::bool();
        match self.rng.u32(0..12) {
            0..=5 => {
                let ty = match self.rng.u32(0..4) {
                    0 => Ty::Code(Index::Unit(self.rng.u64(2..9))),
                    _ => self.number(),
                };
                let sign = ["==", "!=", "<", "<=", ">", ">="][self.rng.usize(0..6)];
                let (a, b) = (self.expression(&ty, depth, scope), self.expression(&ty, depth, scope));
                node(bool, &format!("({{}} {sign} {{}})"), vec![a, b])
            }
            6 => {
                let ty = self.ty_in(scope, 1);
                let sign = ["==", "!="][self.rng.usize(0..2)];
                let (a, b) = (self.expression(&ty, depth, scope), self.expression(&ty, depth, scope));
                node(bool, &format!("({{}} {sign} {{}})"), vec![a, b])
            }
            7 | 8 => {
                let word = ["and", "or"][self.rng.usize(0..2)];
                let (a, b) = (self.expression(&bool, depth, scope), self.expression(&bool, depth, scope));
                node(bool, &format!("({{}} {word} {{}})"), vec![a, b])
            }
            9 => {
                let a = self.expression(&bool, depth, scope);
                node(bool, "(not {})", vec![a])
            }
            10 => {
                let index = self.index_in(scope, 2);
                let mask = self.expression(&Ty::array(&Ty::bool(), &index), depth, scope);
                node(bool, ["(all {})", "(any {})"][self.rng.usize(0..2)], vec![mask])
            }
            _ => self.small(&bool, scope),
        }
    }

    fn code(&mut self, index: &Index, depth: u32, scope: &Scope) -> Node {
        let ty = Ty::Code(index.clone());
        let t = index.text();
        if !index.open() && index.size() == 0 {
            return self.small(&ty, scope);
        }
        match self.rng.u32(0..10) {
            0 | 1 => {
                let n = self.expression(&Ty::int(), depth, scope);
                node(ty, &format!("({{}}).mod[{t}]"), vec![n])
            }
            2 if self.one_in(4) => {
                let n = self.expression(&Ty::int(), depth, scope);
                node(ty, &format!("({{}} :>> {t})"), vec![n])
            }
            3 => {
                let i = self.expression(&ty, depth, scope);
                node(ty, "(flip {})", vec![i])
            }
            4 => {
                let element = self.number();
                let array = self.expression(&Ty::array(&element, index), depth, scope);
                node(ty, ["(argmax {})", "(argmin {})"][self.rng.usize(0..2)], vec![array])
            }
            5 if !index.open() => {
                // Another type with as many values.
                let from = self.of_size(index.size());
                let i = self.expression(&Ty::Code(from), depth, scope);
                node(ty, &format!("({{}} :>> {t})"), vec![i])
            }
            _ => match index {
                Index::Unit(_) => {
                    let sign = ["+", "-", "*"][self.rng.usize(0..3)];
                    let (a, b) = (self.expression(&ty, depth, scope), self.expression(&ty, depth, scope));
                    let ring = format!("(({{}} :>> cyclic[{t}]) {sign} ({{}} :>> cyclic[{t}])) :>> {t}");
                    node(ty, &format!("({ring})"), vec![a, b])
                }
                Index::Product(parts) => {
                    let holes = vec!["{}"; parts.len()].join(" \\, ");
                    let parts =
                        parts.iter().map(|p| self.expression(&Ty::Code(p.clone()), depth, scope)).collect();
                    node(ty, &format!("({holes})"), parts)
                }
                Index::Sum(parts) => {
                    let at = self.rng.usize(0..parts.len());
                    if parts[at].size() < 2 || parts[at].open() {
                        return self.small(&ty, scope);
                    }
                    let part = self.expression(&Ty::Code(parts[at].clone()), depth, scope);
                    node(ty, &format!("((case {at} of {t}) {{}})"), vec![part])
                }
                _ => self.small(&ty, scope),
            },
        }
    }

    /// Makes an index type of this size.
    pub(super) fn of_size(&mut self, size: u64) -> Index {
        let divisors: Vec<u64> = (2..size).filter(|d| size.is_multiple_of(*d)).collect();
        match self.rng.u32(0..3) {
            0 if !divisors.is_empty() => {
                let d = divisors[self.rng.usize(0..divisors.len())];
                Index::Product(vec![Index::Unit(d), self.of_size(size / d)])
            }
            1 if size > 3 => {
                let first = self.rng.u64(1..size - 1);
                Index::Sum(vec![Index::Unit(first), Index::Unit(size - first)])
            }
            _ => Index::Unit(size),
        }
    }

    /// Makes a lambda that is applied at once: a `let`.
    fn applied_lambda(&mut self, ty: &Ty, depth: u32, scope: &Scope) -> Node {
        let given = self.ty_in(scope, 1);
        let argument = self.expression(&given, depth, scope);
        let name = self.name("x");
        let inner = scope.closed(1).with(&name, given.clone());
        if self.rng.bool() {
            let body = self.expression(ty, depth, &inner);
            return node(
                ty.clone(),
                &format!("((fun ({name}:{}) => {{}}) ({{}}))", given.text()),
                vec![body, argument],
            );
        }
        let inner = Scope { result: Some(ty.clone()), ..inner };
        let body = self.body(ty, depth.min(2), &inner);
        node(
            ty.clone(),
            &format!("((fun ({name}:{}) {{ {{}} }}) ({{}}))", given.text()),
            vec![body, argument],
        )
    }

    /// Makes a match on a compact value or a tuple.
    fn matched(&mut self, ty: &Ty, depth: u32, scope: &Scope) -> Node {
        match self.rng.u32(0..4) {
            0 => {
                let (a, b) = (self.index(1), Index::Unit(self.rng.u64(2..5)));
                let on = Ty::Code(Index::Sum(vec![a.clone(), b.clone()]));
                if a.size() < 2 {
                    return self.small(ty, scope);
                }
                let value = self.expression(&on, depth, scope);
                let (i, j) = (self.name("i"), self.name("j"));
                let first = self.expression(ty, depth, &scope.with(&i, Ty::Code(a)));
                let second = self.expression(ty, depth, &scope.with(&j, Ty::Code(b)));
                let pattern = format!("(match {{}} with | case 0 {i} => {{}} | case 1 {j} => {{}} endmatch)");
                node(ty.clone(), &pattern, vec![value, first, second])
            }
            1 => {
                let (a, b) = (self.ty(0), self.number());
                let value = self.expression(&Ty::Tuple(vec![a.clone(), b.clone()]), depth, scope);
                let (x, y) = (self.name("x"), self.name("y"));
                let inner = scope.with(&x, a).with(&y, b.clone());
                let literal = if b == Ty::int() { "3" } else { "_" };
                let guard = self.expression(&Ty::bool(), depth.min(1), &inner);
                let (first, second) = (self.expression(ty, depth, &inner), self.expression(ty, depth, scope));
                if literal == "3" {
                    let pattern = format!(
                        "(match {{}} with | _, 3 => {{}} | {x}, {y} when {{}} => {{}} | _ => {{}} endmatch)"
                    );
                    let third = self.expression(ty, depth.min(1), scope);
                    return node(ty.clone(), &pattern, vec![value, third, guard, first, second]);
                }
                let pattern = format!("(match {{}} with | {x}, {y} when {{}} => {{}} | _ => {{}} endmatch)");
                node(ty.clone(), &pattern, vec![value, guard, first, second])
            }
            2 => {
                let (a, b) = (Index::Unit(self.rng.u64(2..5)), Index::Unit(self.rng.u64(2..7)));
                let value =
                    self.expression(&Ty::Code(Index::Product(vec![a.clone(), b.clone()])), depth, scope);
                let (x, y) = (self.name("x"), self.name("y"));
                let inner = scope.with(&x, Ty::Code(a)).with(&y, Ty::Code(b));
                let (first, second) = (self.expression(ty, depth, scope), self.expression(ty, depth, &inner));
                let pattern =
                    format!("(match {{}} with | case 1 \\, _ => {{}} | {x} \\, {y} => {{}} endmatch)");
                node(ty.clone(), &pattern, vec![value, first, second])
            }
            _ => {
                let of = self.ty(0);
                let value = self.expression(&Ty::Maybe(Box::new(of.clone())), depth, scope);
                let x = self.name("x");
                let first = self.expression(ty, depth, &scope.with(&x, of));
                let second = self.expression(ty, depth, scope);
                let pattern = format!("(match {{}} with | case 1 {x} => {{}} | case 0 => {{}} endmatch)");
                node(ty.clone(), &pattern, vec![value, first, second])
            }
        }
    }

    fn array(&mut self, of: &Ty, index: &Index, depth: u32, scope: &Scope) -> Node {
        let ty = Ty::array(of, index);
        let inner = scope.closed(index.size());
        let (i, v) = (self.name("i"), self.name("v"));
        let number = matches!(of, Ty::Number(_));
        match self.rng.u32(0..24) {
            0..=3 => {
                if let Index::Product(parts) = index
                    && self.rng.u32(0..3) > 0
                {
                    let names: Vec<String> = parts.iter().map(|_| self.name("i")).collect();
                    let mut inner = inner;
                    let mut clauses = Vec::new();
                    for (name, part) in names.iter().zip(parts) {
                        inner = inner.with(name, Ty::Code(part.clone()));
                        clauses.push(format!("{name} in ..[{}]", part.text()));
                    }
                    let body = self.expression(of, depth, &inner);
                    return node(ty, &format!("[ {{}} for {} ]", clauses.join(", ")), vec![body]);
                }
                let body = self.expression(of, depth, &inner.with(&i, Ty::Code(index.clone())));
                node(ty, &format!("[ {{}} for {i} in ..[{}] ]", index.text()), vec![body])
            }
            4 | 5 => {
                let from = self.ty(1);
                let array = self.expression(&Ty::array(&from, index), depth, scope);
                let body = self.expression(of, depth, &inner.with(&v, from.clone()));
                if self.rng.bool() {
                    return node(ty, &format!("[ {{}} for {v} in {{}} ]"), vec![body, array]);
                }
                node(ty, &format!("(map (fun ({v}:{}) => {{}}) {{}})", from.text()), vec![body, array])
            }
            6 => {
                let (a, b) = (self.ty(0), self.ty(0));
                let x = self.expression(&Ty::array(&a, index), depth, scope);
                let y = self.expression(&Ty::array(&b, index), depth, scope);
                let body = self.expression(of, depth, &inner.with(&i, a.clone()).with(&v, b.clone()));
                let pattern =
                    format!("(zip_with (fun ({i}:{}, {v}:{}) => {{}}) ({{}}, {{}}))", a.text(), b.text());
                node(ty, &pattern, vec![body, x, y])
            }
            7..=9 if number => {
                let a = self.expression(&ty, depth, scope);
                let b = if self.rng.bool() {
                    self.expression(&ty, depth, scope)
                } else {
                    self.expression(of, depth, scope)
                };
                let sign = ["+", "-", "*"][self.rng.usize(0..3)];
                let both = if self.rng.bool() { vec![a, b] } else { vec![b, a] };
                if both.iter().all(|n| n.ty == *of) {
                    self.small(&ty, scope)
                } else {
                    node(ty, &format!("({{}} {sign} {{}})"), both)
                }
            }
            10 => {
                let array = self.expression(&ty, depth, scope);
                let joiner = self.joiner(of, depth, &inner);
                if self.rng.bool() {
                    return node(ty, "({} |> scan {})", vec![array, joiner]);
                }
                let zero = self.expression(of, depth.min(1), scope);
                node(ty, "({} |> exscan {} {})", vec![array, joiner, zero])
            }
            11 => {
                let a = self.expression(&ty, depth, scope);
                match index {
                    _ if self.rng.bool() => {
                        let by = self.expression(&Ty::int(), depth.min(1), scope);
                        node(ty, "(rotate {} {})", vec![by, a])
                    }
                    _ => node(ty, "(rev {})", vec![a]),
                }
            }
            12 => {
                let mask = self.expression(&Ty::array(&Ty::bool(), index), depth, scope);
                let (a, b) = (self.expression(&ty, depth, scope), self.expression(&ty, depth, scope));
                node(ty, "(select ({}, {}, {}))", vec![mask, a, b])
            }
            13 => {
                let source = self.index_in(scope, 1);
                if source.size() == 0 {
                    return self.small(&ty, scope);
                }
                let x = self.expression(&Ty::array(of, &source), depth, scope);
                let at = self.expression(&Ty::array(&Ty::Code(source), index), depth, scope);
                node(ty, "({} |> gather {})", vec![x, at])
            }
            14 if index.size() > 0 => {
                let source = self.index_in(scope, 1);
                let at = self.expression(&Ty::array(&Ty::Code(index.clone()), &source), depth, scope);
                let x = self.expression(&Ty::array(of, &source), depth, scope);
                let y = self.expression(&ty, depth, scope);
                node(ty, "({} |> scatter ({}, {}))", vec![y, at, x])
            }
            15 if index.size() > 0 => {
                let at = self.expression(&Ty::Code(index.clone()), depth, scope);
                let x = self.expression(of, depth, scope);
                let y = self.expression(&ty, depth, scope);
                node(ty, "({} |> with_at ({}, {}))", vec![y, at, x])
            }
            16 if of.ordered() => {
                let a = self.expression(&ty, depth, &inner);
                node(ty, ["(sort {})", "(rev (sort {}))"][self.rng.usize(0..2)], vec![a])
            }
            17 | 18 if !index.open() && !of.open() => {
                let from = self.of_size(index.size());
                let a = self.expression(&Ty::array(of, &from), depth, scope);
                node(ty.clone(), &format!("({{}} :>> {})", ty.text()), vec![a])
            }
            19 if number && index.size() > 0 => {
                let source = self.index_in(scope, 1);
                let at = self.expression(&Ty::array(&Ty::Code(index.clone()), &source), depth, scope);
                if *of == Ty::int() && self.rng.bool() {
                    return node(ty, &format!("(histogram[{}] {{}})", index.text()), vec![at]);
                }
                let x = self.expression(&Ty::array(of, &source), depth, scope);
                node(ty, "(scatter_add ({}, {}))", vec![at, x])
            }
            20 if number => {
                let a = self.expression(&ty, depth, scope);
                node(ty, "(cumsum {})", vec![a])
            }
            _ => self.shaped(of, index, depth, scope),
        }
    }

    /// Makes arrays by functions that require a form of index.
    fn shaped(&mut self, of: &Ty, index: &Index, depth: u32, scope: &Scope) -> Node {
        let ty = Ty::array(of, index);
        let number = matches!(of, Ty::Number(_));
        match (index, self.rng.u32(0..4)) {
            (Index::Product(parts), 0) if parts.len() == 2 => {
                let flipped = Index::Product(vec![parts[1].clone(), parts[0].clone()]);
                let a = self.expression(&Ty::array(of, &flipped), depth, scope);
                node(ty, "(transpose {})", vec![a])
            }
            (Index::Product(parts), 1) if parts.len() == 2 => {
                let a = self.expression(
                    &Ty::Array(Box::new(Ty::array(of, &parts[1])), parts[0].clone()),
                    depth,
                    scope,
                );
                node(ty, "(unrows {})", vec![a])
            }
            (Index::Product(parts), _) if parts.len() == 2 && number => {
                let inner = Index::Unit(self.rng.u64(1..6));
                let a = Ty::array(of, &Index::Product(vec![parts[0].clone(), inner.clone()]));
                let b = Ty::array(of, &Index::Product(vec![inner, parts[1].clone()]));
                let (a, b) = (self.expression(&a, depth, scope), self.expression(&b, depth, scope));
                node(ty, "(matmul ({}, {}))", vec![a, b])
            }
            (Index::Sum(parts), _) if parts.len() == 2 => {
                let a = self.expression(&Ty::array(of, &parts[0]), depth, scope);
                let b = self.expression(&Ty::array(of, &parts[1]), depth, scope);
                node(ty, "(join ({}, {}))", vec![a, b])
            }
            (_, 0) => {
                let other = Index::Unit(self.rng.u64(1..5));
                let (whole, word) = if self.rng.bool() {
                    (Index::Sum(vec![index.clone(), other]), "left")
                } else {
                    (Index::Sum(vec![other, index.clone()]), "right")
                };
                let a = self.expression(&Ty::array(of, &whole), depth, scope);
                node(ty, &format!("({word} {{}})"), vec![a])
            }
            (_, 1) if number => {
                let inner = Index::Unit(self.rng.u64(1..6));
                let matrix = Ty::array(of, &Index::Product(vec![index.clone(), inner.clone()]));
                let (a, x) = (
                    self.expression(&matrix, depth, scope),
                    self.expression(&Ty::array(of, &inner), depth, scope),
                );
                node(ty, "(mat_vec ({}, {}))", vec![a, x])
            }
            (_, 2) => {
                let one = Index::Unit(1);
                let framed = Ty::array(of, &Index::Sum(vec![one.clone(), index.clone(), one]));
                let x = self.expression(&framed, depth, scope);
                if self.rng.bool() {
                    return node(ty, "(interior {})", vec![x]);
                }
                let (a, b, c) = (self.name("a"), self.name("b"), self.name("c"));
                let mut inner = scope.closed(index.size());
                for name in [&a, &b, &c] {
                    inner = inner.with(name, of.clone());
                }
                let body = self.expression(of, depth.min(2), &inner);
                let t = of.text();
                let pattern = format!("(stencil (fun ({a}:{t}, {b}:{t}, {c}:{t}) => {{}}) {{}})");
                node(ty, &pattern, vec![body, x])
            }
            _ => self.small(&ty, scope),
        }
    }

    /// Makes a call of a function of the program, at chosen sizes.
    pub(super) fn call_of(&mut self, function: &Function, scope: &Scope) -> Option<Node> {
        (scope.rounds < 20).then(|| self.call_at(function, Vec::new(), 1, scope))
    }

    fn call_at(
        &mut self,
        function: &Function,
        mut sizes: Vec<(String, Index)>,
        depth: u32,
        scope: &Scope,
    ) -> Node {
        for name in &function.sizes {
            if !sizes.iter().any(|(n, _)| n == name) {
                let mut size = self.index(1);
                if size.size() == 0 && !self.one_in(6) {
                    size = Index::Unit(4);
                }
                sizes.push((name.clone(), size));
            }
        }
        let types: Vec<Ty> = function.parameters.iter().map(|p| p.at(&sizes)).collect();
        let arguments: Vec<Node> = types.iter().map(|t| self.expression(t, depth, scope)).collect();
        let holes = vec!["{}"; arguments.len()].join(", ");
        let mut name = function.name.clone();
        if !function.sizes.is_empty() {
            let of =
                |n: &String| sizes.iter().find(|(m, _)| m == n).map(|(_, i)| i.text()).unwrap_or_default();
            name += &format!("[{}]", function.sizes.iter().map(of).collect::<Vec<_>>().join(", "));
        }
        node(function.result.at(&sizes), &format!("({name} ({holes}))"), arguments)
    }

    /// Returns an index type, sometimes a parameter of the function.
    pub(super) fn index_in(&mut self, scope: &Scope, depth: u32) -> Index {
        if !scope.sizes.is_empty() && self.rng.u32(0..3) > 0 {
            let size = Index::Var(scope.sizes[self.rng.usize(0..scope.sizes.len())].clone());
            return match self.rng.u32(0..6) {
                0 => Index::Product(vec![size, Index::Unit(2)]),
                1 => Index::Sum(vec![size, Index::Unit(2)]),
                _ => size,
            };
        }
        self.index(depth)
    }

    /// Returns a type, sometimes over a parameter of the function.
    pub(super) fn ty_in(&mut self, scope: &Scope, depth: u32) -> Ty {
        if !scope.sizes.is_empty() && self.rng.bool() {
            let (of, index) = (self.ty(0), self.index_in(scope, 1));
            return if self.rng.u32(0..4) == 0 { Ty::Code(index) } else { Ty::array(&of, &index) };
        }
        self.ty(depth)
    }
}

impl Node {
    /// Returns the exponent of a power as a literal of the same type.
    fn and_suffix(self, name: &str, real: bool) -> Node {
        if name == "int" || name == "real" {
            return self;
        }
        let literal = if real { "2.0" } else { "2" };
        let children: Vec<Node> = self.all().get(1).map(|n| (*n).clone()).into_iter().collect();
        node(self.ty.clone(), &format!("({{}} ** {literal}{name})"), children)
    }
}
