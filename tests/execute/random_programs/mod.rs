//! Random programs: well-typed texts from a seed, and smaller ones that fail in the same way.
//!
//! Takes a seed, gives the statements of a program as trees whose nodes know their types. Nothing
//! here runs a program; a tree that the checker refuses is a waste and no mistake.

mod element;
mod expression;
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
    /// Whether something may be stored into it.
    open: bool,
}

/// A function of the program.
#[derive(Clone)]
struct Function {
    name: String,
    /// Names of its sizes, which stand in the types as `Index::Var`.
    sizes: Vec<String>,
    parameters: Vec<Ty>,
    result: Ty,
}

/// What can be mentioned at a place.
#[derive(Clone, Default)]
struct Scope {
    variables: Vec<Variable>,
    /// How often the place is reached, about.
    rounds: u64,
    /// What a `return` here gives.
    result: Option<Ty>,
    /// Whether `break` may stand here.
    looping: bool,
    /// Indices that are parameters of the function.
    sizes: Vec<String>,
    /// Procedures that may be called, with what they are given.
    procedures: Vec<(String, Ty)>,
}

impl Scope {
    fn with(&self, name: &str, ty: Ty) -> Scope {
        let mut scope = self.clone();
        scope.variables.push(Variable { name: name.to_string(), ty, open: false });
        scope
    }

    /// The scope within a lambda or a comprehension: nothing outside may be stored into.
    fn closed(&self, rounds: u64) -> Scope {
        let mut scope = self.clone();
        scope.variables.iter_mut().for_each(|v| v.open = false);
        scope.rounds = scope.rounds.saturating_mul(rounds.max(1));
        (scope.looping, scope.result) = (false, None);
        scope.procedures.clear();
        scope
    }
}

/// Most rounds that nested loops of a program come to.
const MOST_ROUNDS: u64 = 3_000;

/// Makes programs.
pub struct Generator {
    rng: Rng,
    names: usize,
    /// What the names of this program begin with.
    prefix: String,
    newtypes: Vec<(String, Index)>,
    structs: Vec<(String, Vec<(String, Ty)>)>,
    functions: Vec<Function>,
}

impl Generator {
    /// A generator that gives the same program for the same seed.
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

    /// The statements of a program.
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
