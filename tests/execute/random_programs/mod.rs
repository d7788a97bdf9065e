//! Random programs: well-typed texts from a seed, and smaller ones that fail in the same way.
//!
//! Takes a seed, gives the statements of a program as trees whose nodes know their types. Nothing
//! here runs a program. A tree that the checker rejects is unused, and not an error.

mod element;
mod expression;
mod recursive;
mod session;
mod shrink;
mod statement;
mod tree;
mod types;

pub use shrink::shrunk;
pub use tree::{Node, text};

use fastrand::Rng;
use tree::node;
use types::{Index, Ty};

/// A name in scope.
#[derive(Clone)]
struct Variable {
    name: String,
    ty: Ty,
    /// True if the variable may be stored into.
    open: bool,
}

/// A function of the program.
#[derive(Clone)]
struct Function {
    name: String,
    /// The names of its sizes, which occur in the types as `Index::Var`.
    sizes: Vec<String>,
    parameters: Vec<Ty>,
    result: Ty,
}

/// The definitions that may be mentioned at a place.
#[derive(Clone, Default)]
struct Scope {
    variables: Vec<Variable>,
    /// The approximate number of times that the place is reached.
    rounds: u64,
    /// The type of the operand of `return` here.
    result: Option<Ty>,
    /// True if `break` may occur here.
    looping: bool,
    /// The indices that are parameters of the function.
    sizes: Vec<String>,
    /// The procedures that may be called, with their argument types.
    procedures: Vec<(String, Ty)>,
}

impl Scope {
    fn with(&self, name: &str, ty: Ty) -> Scope {
        let mut scope = self.clone();
        scope.variables.push(Variable { name: name.to_string(), ty, open: false });
        scope
    }

    /// Returns the scope within a lambda or a comprehension: outer variables may not be stored
    /// into.
    fn closed(&self, rounds: u64) -> Scope {
        let mut scope = self.clone();
        scope.variables.iter_mut().for_each(|v| v.open = false);
        scope.rounds = scope.rounds.saturating_mul(rounds.max(1));
        (scope.looping, scope.result) = (false, None);
        scope.procedures.clear();
        scope
    }
}

/// The maximum number of iterations of nested loops of a program.
const MAX_ITERATIONS: u64 = 3_000;

/// A generator of programs.
pub struct Generator {
    rng: Rng,
    names: usize,
    /// The prefix of the names of this program.
    prefix: String,
    newtypes: Vec<(String, Index)>,
    structs: Vec<(String, Vec<(String, Ty)>)>,
    functions: Vec<Function>,
}

impl Generator {
    /// Makes a generator that gives the same program for the same seed.
    pub fn new(seed: u64) -> Generator {
        Generator {
            rng: Rng::with_seed(seed),
            names: 0,
            prefix: format!("p{seed}"),
            newtypes: Vec::new(),
            structs: Vec::new(),
            functions: Vec::new(),
        }
    }

    /// Makes the statements of a program.
    pub fn program(&mut self) -> Vec<Node> {
        let mut items = Vec::new();
        if self.one_in(3) {
            let (name, index) = (format!("V{}", self.prefix), self.index(2));
            items.push(Node::item(format!("newtype {name} = {};\n", index.text())));
            self.newtypes.push((name, index));
        }
        if self.one_in(3) {
            let name = format!("S{}", self.prefix);
            let fields: Vec<(String, Ty)> =
                ["a", "b", "c"][..self.rng.usize(2..4)].iter().map(|f| (f.to_string(), self.ty(1))).collect();
            let text: Vec<String> = fields.iter().map(|(f, t)| format!("{f} : {};", t.text())).collect();
            items.push(Node::item(format!("struct {name} {{ {} }}\n", text.join(" "))));
            self.structs.push((name, fields));
        }
        for _ in 0..self.rng.usize(1..4) {
            let function = self.function();
            items.push(function);
        }
        if self.one_in(3) {
            let elements = self.elements();
            items.push(elements);
        }
        if self.one_in(3) {
            let recursive = self.recursive();
            items.push(recursive);
        }
        let mut scope = Scope { rounds: 1, ..Scope::default() };
        for _ in 0..self.rng.usize(0..3) {
            let ty = self.ty(2);
            let name = self.name("g");
            let value = self.expression(&ty, 3, &scope);
            items.push(node(Ty::Statement, &format!("val {name} : {} = {{}};\n", ty.text()), vec![value]));
            scope = scope.with(&name, ty);
        }
        if self.rng.bool() {
            let session = self.session_part(&mut scope);
            items.extend(session);
        }
        for function in self.functions.clone() {
            for _ in 0..self.rng.usize(1..3) {
                if let Some(call) = self.call_of(&function, &scope) {
                    items.push(node(Ty::Statement, "println (_strr {});\n", vec![call]));
                }
            }
        }
        for _ in 0..self.rng.usize(1..4) {
            let ty = self.ty(2);
            let value = self.expression(&ty, 4, &scope);
            items.push(node(Ty::Statement, "println (_strr {});\n", vec![value]));
        }
        items
    }

    fn one_in(&mut self, n: u32) -> bool {
        self.rng.u32(0..n) == 0
    }

    fn name(&mut self, letter: &str) -> String {
        self.names += 1;
        format!("{letter}{}_{}", self.prefix, self.names)
    }
}
