//! The order of the types and functions of an input among the statements that name sizes.
//!
//! The types and functions of one input are known before its statements run, in any order. An
//! exception is a type over a size that a statement names, as in `val x : real ^ ?N = …;` and
//! `newtype Vertex = N;`, and a function whose header mentions such a size or such a type: it is
//! collected after that statement.
//!
//! Takes statements; gives for each statement that names sizes the declarations that wait for it.
//! One pass over the statements, and as many over the declarations as there are types in a row each
//! of which mentions the next.

use crate::hash::HashMap;
use crate::syntax::ast::{Function, Generics, Param, Stmt, StmtKind, TypeExpr, TypeExprKind, TypeParam};
use std::sync::Arc;

/// Returns, for the position of a statement, the positions of the declarations that wait for it.
pub(super) fn dependent_declarations(stmts: &[Stmt]) -> HashMap<usize, Vec<usize>> {
    let mut named: HashMap<Arc<str>, usize> = HashMap::default();
    let (mut types, mut functions) = (Vec::new(), Vec::new());
    for (at, stmt) in stmts.iter().enumerate() {
        match &stmt.kind {
            StmtKind::Let { pattern, ty, .. } => {
                let mut note = |ty: &TypeExpr| {
                    opens(ty, &mut |name| {
                        named.insert(name.clone(), at);
                    })
                };
                ty.iter().for_each(&mut note);
                pattern.for_each_type(&mut note);
            }
            StmtKind::Require(left, right) => {
                for side in [left, right] {
                    opens(side, &mut |name| {
                        named.insert(name.clone(), at);
                    });
                }
            }
            StmtKind::Function { function, .. } if !named.is_empty() => {
                let mut mentioned = Vec::new();
                header(function, &mut |name| mentioned.push(name));
                functions.push(Dependent::new(at, mentioned, &named));
            }
            _ if named.is_empty() => {}
            kind => types.extend(declared_type(kind).map(|(name, own, written)| {
                let mut mentioned = Vec::new();
                written.iter().for_each(|ty| mentions(ty, &mut |name| mentioned.push(name)));
                mentioned.retain(|name| !own.contains(name));
                (name, Dependent::new(at, mentioned, &named))
            })),
        }
    }
    // A type may mention types that are declared after it: until nothing changes.
    let mut waits: HashMap<&Arc<str>, usize> = HashMap::default();
    let mut changed = true;
    while std::mem::take(&mut changed) {
        for (name, dependent) in &mut types {
            dependent.wait_as(&waits);
            // A name that is declared twice waits for the later statement: so this ends.
            if dependent.last > waits.get(name).copied() {
                waits.extend(dependent.last.map(|last| (*name, last)));
                changed = true;
            }
        }
    }
    functions.iter_mut().for_each(|dependent| dependent.wait_as(&waits));
    let mut waiting: HashMap<usize, Vec<usize>> = HashMap::default();
    let mut all: Vec<Dependent<'_>> =
        types.into_iter().map(|(_, dependent)| dependent).chain(functions).collect();
    all.sort_by_key(|dependent| dependent.at);
    for Dependent { at, last, .. } in all {
        if let Some(last) = last {
            waiting.entry(last).or_default().push(at);
        }
    }
    waiting
}

/// A declaration that may wait for a statement.
struct Dependent<'a> {
    /// The position of the declaration.
    at: usize,
    /// The last statement before it whose sizes it mentions, as far as is known.
    last: Option<usize>,
    /// The names that it mentions.
    mentioned: Vec<&'a Arc<str>>,
}

impl<'a> Dependent<'a> {
    /// A declaration that waits for the sizes of `named`, which are before it.
    fn new(at: usize, mentioned: Vec<&'a Arc<str>>, named: &HashMap<Arc<str>, usize>) -> Dependent<'a> {
        let last = mentioned.iter().filter_map(|name| named.get(*name).copied()).max();
        Dependent { at, last, mentioned }
    }

    /// Waits for what the types wait for that it mentions, if that is before it.
    fn wait_as(&mut self, waits: &HashMap<&Arc<str>, usize>) {
        let of_types = self.mentioned.iter().filter_map(|name| waits.get(name).copied());
        self.last = self.last.max(of_types.filter(|last| *last < self.at).max());
    }
}

/// Calls `f` for each name that `?` opens in a type.
fn opens(ty: &TypeExpr, f: &mut dyn FnMut(&Arc<str>)) {
    if let TypeExprKind::Open(name) = &ty.kind {
        f(&name.text);
    }
    // A function type binds the names that it opens.
    if !matches!(ty.kind, TypeExprKind::Function(..)) {
        ty.for_each_child(&mut |child| opens(child, f));
    }
}

/// Calls `f` for each name of a type in the header of a function, except its own type parameters.
fn header<'a>(function: &'a Function, f: &mut dyn FnMut(&'a Arc<str>)) {
    let own = own_names(&function.generics);
    let mut names = |ty: &'a TypeExpr| {
        mentions(ty, &mut |name| {
            if !own.contains(&name) {
                f(name)
            }
        })
    };
    for Param { pattern, ty, .. } in function.params.iter().flatten() {
        ty.iter().for_each(&mut names);
        pattern.for_each_type(&mut names);
    }
    function.result.iter().for_each(names);
}

/// Returns the names of the type parameters of a declaration.
fn own_names(generics: &Generics) -> Vec<&Arc<str>> {
    parameter_names(&generics.params)
}

/// Returns the names of type parameters.
fn parameter_names(params: &[TypeParam]) -> Vec<&Arc<str>> {
    params.iter().map(|param| &param.name.text).collect()
}

/// The name of a declared type, its type parameters, and the types that it is written with.
type DeclaredType<'a> = (&'a Arc<str>, Vec<&'a Arc<str>>, Vec<&'a TypeExpr>);

/// Returns the parts of a statement that declares a type or a type function.
fn declared_type(kind: &StmtKind) -> Option<DeclaredType<'_>> {
    let (declaration, written) = match kind {
        StmtKind::Newtype(declaration, body) | StmtKind::Typedef(declaration, body) => {
            (declaration, vec![body])
        }
        StmtKind::Struct(declaration, fields) => (declaration, fields.iter().map(|(_, ty)| ty).collect()),
        StmtKind::Variant(declaration, cases) => {
            (declaration, cases.iter().filter_map(|(_, ty)| ty.as_ref()).collect())
        }
        StmtKind::Abstract { decl, representation, .. } => (decl, representation.iter().collect()),
        StmtKind::Typefun { name, params, body, .. } => {
            return Some((&name.text, parameter_names(params), vec![body]));
        }
        _ => return None,
    };
    Some((&declaration.name.text, own_names(&declaration.generics), written))
}

/// Calls `f` for each name mentioned in a type.
fn mentions<'a>(ty: &'a TypeExpr, f: &mut dyn FnMut(&'a Arc<str>)) {
    if let TypeExprKind::Name(name, _) | TypeExprKind::Call(name, _) = &ty.kind {
        f(&name.text);
    }
    ty.for_each_child(&mut |child| mentions(child, f));
}

#[cfg(test)]
mod tests {
    use super::dependent_declarations;
    use crate::hash::HashMap;
    use crate::source::Source;
    use crate::syntax;

    /// Returns the declarations of a text that wait for each statement.
    fn waiting(text: &str) -> HashMap<usize, Vec<usize>> {
        let parsed = syntax::parse(&Source { text: text.to_string(), ..Source::default() });
        assert!(parsed.errors.is_empty(), "{:?}\n{text}", parsed.errors);
        dependent_declarations(&parsed.stmts)
    }

    /// A statement of a random text.
    enum Line {
        /// Names a size.
        Size,
        /// A type over the names of lines.
        Type(Vec<usize>),
        /// A function whose header mentions types.
        Function(Vec<usize>),
        /// A statement that names nothing.
        Other,
    }

    impl Line {
        fn text(&self, at: usize) -> String {
            let product = |names: &[usize]| {
                let names: Vec<String> = names.iter().map(|name| format!("T{name}")).collect();
                if names.is_empty() { "int".to_string() } else { names.join(" * ") }
            };
            match self {
                Line::Size => format!("val v{at} : int ^ ?T{at} = w;"),
                Line::Type(names) => format!("typedef T{at} = {};", product(names)),
                Line::Function(names) => format!("fun f{at}(x:{}):int => 1;", product(names)),
                Line::Other => format!("val v{at} = 1;"),
            }
        }
    }

    /// Returns the last statement before a line that names a size on which the line depends,
    /// through any number of types before it.
    fn last_size(lines: &[Line], at: usize) -> Option<usize> {
        match &lines[at] {
            Line::Size => Some(at),
            Line::Type(names) | Line::Function(names) => {
                names.iter().filter(|name| **name < at).filter_map(|name| last_size(lines, *name)).max()
            }
            Line::Other => None,
        }
    }

    /// A declaration waits for the last of the statements before it whose sizes it mentions,
    /// directly or through types that are declared before it.
    #[test]
    fn a_declaration_waits_for_the_last_size_that_it_mentions() {
        let seed = 6u64;
        let mut random = fastrand::Rng::with_seed(seed);
        for round in 0..500 {
            let mut lines: Vec<Line> = Vec::new();
            for at in 0..random.usize(1..12) {
                let types: Vec<usize> = (0..at)
                    .filter(|name| matches!(lines[*name], Line::Size | Line::Type(_)))
                    .filter(|_| random.usize(..3) == 0)
                    .collect();
                lines.push(match random.usize(..6) {
                    0 | 1 => Line::Size,
                    2 | 3 => Line::Type(types),
                    4 => Line::Function(types),
                    _ => Line::Other,
                });
            }
            let text: Vec<String> = lines.iter().enumerate().map(|(at, line)| line.text(at)).collect();
            let text = text.join("\n");
            let mut expected: HashMap<usize, Vec<usize>> = HashMap::default();
            for (at, line) in lines.iter().enumerate() {
                if let (Line::Type(_) | Line::Function(_), Some(size)) = (line, last_size(&lines, at)) {
                    expected.entry(size).or_default().push(at);
                }
            }
            assert_eq!(waiting(&text), expected, "seed {seed}, round {round}:\n{text}");
        }
    }

    #[test]
    fn a_parameter_of_the_declaration_is_no_size_of_a_statement() {
        let sizes = "val x : int ^ ?N = y;\n";
        let waits = |declaration: &str| !waiting(&format!("{sizes}{declaration}")).is_empty();
        assert!(waits("typedef T[M:COMPACTLINEAR] = int ^ N;"));
        assert!(!waits("typedef T[N:COMPACTLINEAR] = int ^ N;"));
        assert!(waits("fun f[M:COMPACTLINEAR](x:int ^ N):int => 1;"));
        assert!(!waits("fun f[N:COMPACTLINEAR](x:int ^ N):int => 1;"));
    }

    #[test]
    fn the_header_of_a_function_has_parameters_and_a_result() {
        let sizes = "val x : int ^ ?N = y;\n";
        let waits = |declaration: &str| !waiting(&format!("{sizes}{declaration}")).is_empty();
        assert!(waits("fun f(a:int)(b:int ^ N):int => 1;"));
        assert!(waits("fun f(a:int):N => fail \"\";"));
        assert!(waits("newtype Vertex = N;"));
        // The body is checked when all names are known.
        assert!(!waits("fun f(a:int):int => { val b : int ^ N = x; 1 };"));
        // The header of a function opens sizes of its own.
        assert!(!waits("fun f(a:int ^ ?M):int => 1;"));
    }

    /// The types of an input may be declared in any order.
    #[test]
    fn a_type_waits_for_sizes_of_types_declared_after_it() {
        let mut waiting = waiting("val x : int ^ ?N = y;\ntypedef A = int * B;\ntypedef B = int ^ N;");
        let first = waiting.get_mut(&0).expect("a type mentions the size");
        first.sort_unstable();
        assert_eq!(*first, [1, 2]);
    }

    #[test]
    fn a_name_that_is_declared_twice_waits_for_the_later_statement() {
        let text =
            "val x : int ^ ?N = y;\ntypedef A = N;\nval z : int ^ ?M = y;\ntypedef A = M;\ntypedef B = A;";
        assert_eq!(waiting(text), HashMap::from_iter([(0, vec![1]), (2, vec![3, 4])]));
    }

    #[test]
    fn every_form_of_type_waits_for_a_size() {
        let sizes = "val x : int ^ ?N = y;\n";
        for declaration in
            ["struct S { a:int ^ N; }", "variant V = | P of int ^ N | Q;", "typefun F(T) => T ^ N;"]
        {
            assert_eq!(waiting(&format!("{sizes}{declaration}")).get(&0), Some(&vec![1]), "{declaration}");
        }
    }

    #[test]
    fn sizes_of_patterns_and_of_equations_have_names() {
        assert_eq!(waiting("val ((x:int ^ ?N), y) = z;\ntypedef T = N;")[&0], [1]);
        assert_eq!(waiting("require ?N == 3;\ntypedef T = N;")[&0], [1]);
        // A function type binds the sizes that it opens.
        assert!(waiting("val f : int -> int ^ ?N = g;\ntypedef T = N;").is_empty());
    }
}
