//! Core as text, for inspection of a program.
//!
//! Takes functions and scripts; gives text for reading only, which no parser reads. Locals are
//! printed as `name.number`, which distinguishes those of one name.

use super::Program;
use super::term::{
    ForRange, Function, FunctionId, GlobalId, LocalId, LocalInfo, Op, Pat, PatKind, Region, Root, Script,
    StepKind, Stmt, StmtKind, Term, TermKind,
};
use crate::types::Type;
use std::fmt::Write;

/// Returns a script, and the functions of its program, as text.
pub fn program(program: &Program, script: &Script) -> String {
    let mut out = String::new();
    for (id, f) in program.functions.iter().enumerate() {
        if let Some(f) = f {
            out.push_str(&function(program, FunctionId::new(id), f));
            out.push('\n');
        }
    }
    out + &self::script(program, script)
}

/// Returns the statements of a script as text.
pub fn script(program: &Program, script: &Script) -> String {
    let mut p = Printer { program, locals: &script.locals, out: String::new(), indent: 0 };
    p.stmts(&script.body);
    if let Some(result) = &script.result {
        p.term(result);
        let _ = writeln!(p.out, " : {}", result.ty);
    }
    p.out
}

/// Returns a function with its number as text.
pub fn function(program: &Program, id: FunctionId, function: &Function) -> String {
    let mut p = Printer { program, locals: &function.locals, out: String::new(), indent: 0 };
    let _ = write!(p.out, "fun {}#{id}", function.name);
    if !function.type_params.is_empty() {
        let params: Vec<String> =
            function.type_params.iter().map(|v| format!("{}:{}", v.name, v.kind)).collect();
        let _ = write!(p.out, "[{}]", params.join(", "));
    }
    p.typed_locals(" ", &function.params);
    if !function.captures.is_empty() {
        p.typed_locals(" captures ", &function.captures);
    }
    let _ = write!(p.out, " : {} =", function.body.ty);
    p.indent = 1;
    p.line();
    p.term(&function.body);
    p.out.push('\n');
    p.out
}

/// Returns a region of a body with these locals as text.
pub fn unit(program: &Program, locals: &[LocalInfo], region: Region<'_>) -> String {
    let mut p = Printer { program, locals, out: String::new(), indent: 0 };
    match region {
        Region::Term(term) => p.term(term),
        Region::Loop(stmt) => p.stmts(std::slice::from_ref(stmt)),
        Region::Call(_, function) => p.term(&function.body),
    }
    p.out.push('\n');
    p.out
}

/// A printer of the parts of one body.
struct Printer<'a> {
    /// The program, for names of functions and session variables.
    program: &'a Program,
    /// The locals of the body.
    locals: &'a [LocalInfo],
    /// The text so far.
    out: String,
    /// The depth of nested blocks.
    indent: usize,
}

impl Printer<'_> {
    /// Begins a line.
    fn line(&mut self) {
        self.out.push('\n');
        (0..self.indent).for_each(|_| self.out.push_str("  "));
    }

    /// Prints a local.
    fn local(&mut self, local: LocalId) {
        let name = self.locals.get(local.index()).map_or("?", |l| &l.name);
        let _ = write!(self.out, "{name}.{local}");
    }

    /// Prints a session variable.
    fn global(&mut self, global: GlobalId) {
        let name = self.program.globals.get(global.index()).map_or("?", |g| &g.name);
        let _ = write!(self.out, "{name}@{global}");
    }

    /// Prints locals with their types.
    fn typed_locals(&mut self, before: &str, locals: &[LocalId]) {
        let _ = write!(self.out, "{before}(");
        for (i, local) in locals.iter().enumerate() {
            self.out.push_str(if i > 0 { ", " } else { "" });
            self.local(*local);
            let info = self.locals.get(local.index());
            let shared = info.is_some_and(|l| l.shared);
            let ty = info.map_or_else(Type::error, |l| l.ty.clone());
            let _ = write!(self.out, ":{}{ty}", if shared { "shared " } else { "" });
        }
        self.out.push(')');
    }

    /// Prints terms separated by commas.
    fn terms(&mut self, open: &str, terms: &[Term], close: &str) {
        self.out.push_str(open);
        for (i, term) in terms.iter().enumerate() {
            self.out.push_str(if i > 0 { ", " } else { "" });
            self.term(term);
        }
        self.out.push_str(close);
    }

    /// Prints `what[type](term)`.
    fn to(&mut self, what: &str, inner: &Term, ty: &Type) {
        let _ = write!(self.out, "{what}[{ty}](");
        self.term(inner);
        self.out.push(')');
    }

    /// Prints a term.
    fn term(&mut self, term: &Term) {
        match &term.kind {
            TermKind::Int(n) => {
                let _ = write!(self.out, "{n}");
            }
            TermKind::Real(x) => {
                let _ = write!(self.out, "{:?}", x.double);
            }
            TermKind::Char(c) => {
                let _ = write!(self.out, "{c:?}");
            }
            TermKind::Str(text) => {
                let _ = write!(self.out, "{text:?}");
            }
            TermKind::Code(_) if term.ty.is_unit() => self.out.push_str("()"),
            TermKind::Code(n) => {
                let _ = write!(self.out, "`{n}:{}", term.ty);
            }
            TermKind::Local(local) => self.local(*local),
            TermKind::Global(global) => self.global(*global),
            TermKind::Move(place) => {
                self.out.push_str("move ");
                self.term(place);
            }
            TermKind::Closure { function, type_args, captures } => {
                let name = self.program.functions.get(function.index()).and_then(Option::as_ref);
                let name = name.map_or("?", |f| &f.name);
                let _ = write!(self.out, "{name}#{function}");
                if !type_args.is_empty() {
                    let args: Vec<String> = type_args.iter().map(Type::to_string).collect();
                    let _ = write!(self.out, "[{}]", args.join(", "));
                }
                if !captures.is_empty() {
                    self.out.push('{');
                    for (i, local) in captures.iter().enumerate() {
                        self.out.push_str(if i > 0 { ", " } else { "" });
                        self.local(*local);
                    }
                    self.out.push('}');
                }
            }
            TermKind::Method { class, method, type_args } => {
                let known = self.program.classes.get(class.index());
                let name = known.and_then(|c| c.methods.get(*method)).map_or("?", |m| &m.name);
                let args: Vec<String> = type_args.iter().map(Type::to_string).collect();
                let class = known.map_or("?", |c| &c.name);
                let _ = write!(self.out, "{class}.{name}[{}]", args.join(", "));
            }
            TermKind::Call(head, args) => {
                self.term(head);
                self.terms("(", args, ")");
            }
            TermKind::Prim(prim, type_args, args) => {
                self.out.push_str(prim.name());
                if !type_args.is_empty() {
                    let types: Vec<String> = type_args.iter().map(Type::to_string).collect();
                    let _ = write!(self.out, "[{}]", types.join(", "));
                }
                self.terms("(", args, ")");
            }
            TermKind::Op(op, args) => self.op(*op, args),
            TermKind::Tuple(parts) => self.terms("(", parts, if parts.len() == 1 { ",)" } else { ")" }),
            TermKind::Component(base, i) => {
                self.term(base);
                let _ = write!(self.out, ".{i}");
            }
            TermKind::Index(array, index) => {
                self.term(array);
                self.out.push_str(".(");
                self.term(index);
                self.out.push(')');
            }
            TermKind::Build(clauses, body) => {
                self.out.push('[');
                self.term(body);
                for (i, (local, ty)) in clauses.iter().enumerate() {
                    self.out.push_str(if i > 0 { ", " } else { " for " });
                    self.local(*local);
                    let _ = write!(self.out, " in ..[{ty}]");
                }
                self.out.push(']');
            }
            TermKind::Pack(parts) => self.terms("pack(", parts, ")"),
            TermKind::Factor(base, i) => {
                self.term(base);
                let _ = write!(self.out, ".\\{i}");
            }
            TermKind::Digit(base, i) => {
                self.term(base);
                self.out.push_str(".\\(");
                self.term(i);
                self.out.push(')');
            }
            TermKind::Inject(case, arg) => {
                let _ = write!(self.out, "case {case} of {} (", term.ty);
                self.term(arg);
                self.out.push(')');
            }
            TermKind::Reshape(inner) => self.to("reshape", inner, &term.ty),
            TermKind::ToCode(inner) => self.to("code", inner, &term.ty),
            TermKind::FromCode(inner) => self.to("from_code", inner, &term.ty),
            TermKind::Convert(inner) => self.to("convert", inner, &term.ty),
            TermKind::At(places, body) => {
                let _ = write!(self.out, "at {places} (");
                self.term(body);
                self.out.push(')');
            }
            TermKind::Here(inner) => {
                self.out.push_str("here(");
                self.term(inner);
                self.out.push(')');
            }
            TermKind::Restrict(inner) => self.to("restrict", inner, &term.ty),
            TermKind::If(condition, then, otherwise) => {
                self.out.push_str("if ");
                self.term(condition);
                self.out.push_str(" then ");
                self.term(then);
                self.out.push_str(" else ");
                self.term(otherwise);
            }
            TermKind::Match(scrutinee, arms) => {
                self.out.push_str("match ");
                self.term(scrutinee);
                self.indent += 1;
                for arm in arms {
                    self.line();
                    self.arm(&arm.pattern, arm.guard.as_ref());
                    self.out.push(' ');
                    self.term(&arm.body);
                }
                self.indent -= 1;
            }
            TermKind::PackSizes(sizes, inner) => {
                let sizes: Vec<String> = sizes.iter().map(Type::to_string).collect();
                let _ = write!(self.out, "pack_sizes[{}](", sizes.join(", "));
                self.term(inner);
                self.out.push(')');
            }
            TermKind::Block(stmts, value) => {
                self.out.push('{');
                self.indent += 1;
                self.line();
                self.stmts(stmts);
                if let Some(value) = value {
                    self.term(value);
                }
                self.indent -= 1;
                self.unindented();
                self.out.push('}');
            }
            TermKind::Error => self.out.push_str("<error>"),
        }
    }

    /// Prints the pattern and the guard of an arm.
    fn arm(&mut self, pattern: &Pat, guard: Option<&Term>) {
        self.out.push_str("| ");
        self.pattern(pattern);
        if let Some(guard) = guard {
            self.out.push_str(" when ");
            self.term(guard);
        }
        self.out.push_str(" =>");
    }

    /// Prints an operator with its operands.
    fn op(&mut self, op: Op, args: &[Term]) {
        // Prints `Add(Int)` as `add_int`, and `Eq` as `eq`.
        let name = format!("{op:?}").to_lowercase().replace('(', "_").replace(')', "");
        self.terms(&format!("{name}("), args, ")");
    }

    /// Prints a pattern.
    fn pattern(&mut self, pat: &Pat) {
        match &pat.kind {
            PatKind::Wild => self.out.push('_'),
            PatKind::Bind(local) => self.local(*local),
            PatKind::As(inner, local) => {
                self.pattern(inner);
                self.out.push_str(" as ");
                self.local(*local);
            }
            PatKind::Int(n) => {
                let _ = write!(self.out, "{n}");
            }
            PatKind::Real(x) => {
                let _ = write!(self.out, "{:?}", x.double);
            }
            PatKind::Char(c) => {
                let _ = write!(self.out, "{c:?}");
            }
            PatKind::Ints(low, high) => {
                let _ = write!(self.out, "{low}..{high}");
            }
            PatKind::Chars(low, high) => {
                let _ = write!(self.out, "{low:?}..{high:?}");
            }
            PatKind::Or(parts) => {
                self.out.push('(');
                for (i, part) in parts.iter().enumerate() {
                    self.out.push_str(if i > 0 { " | " } else { "" });
                    self.pattern(part);
                }
                self.out.push(')');
            }
            PatKind::Str(text) => {
                let _ = write!(self.out, "{text:?}");
            }
            PatKind::Code(n) => {
                let _ = write!(self.out, "`{n}:{}", pat.ty);
            }
            PatKind::Tuple(parts) | PatKind::Pack(parts) => {
                let packed = matches!(pat.kind, PatKind::Pack(_));
                self.out.push_str(if packed { "pack(" } else { "(" });
                for (i, part) in parts.iter().enumerate() {
                    self.out.push_str(if i > 0 { ", " } else { "" });
                    self.pattern(part);
                }
                self.out.push(')');
            }
            PatKind::Reshape(inner) => {
                let _ = write!(self.out, "as {}: ", inner.ty);
                self.pattern(inner);
            }
            PatKind::Coarray(index, argument) => {
                self.out.push_str("case ");
                self.pattern(index);
                self.out.push(' ');
                self.pattern(argument);
            }
            PatKind::Case(case, inner) => {
                let _ = write!(self.out, "case {case}");
                if let Some(inner) = inner {
                    self.out.push(' ');
                    self.pattern(inner);
                }
            }
        }
    }

    /// Prints statements, each on a line, and begins the next line.
    fn stmts(&mut self, stmts: &[Stmt]) {
        for stmt in stmts {
            self.stmt(&stmt.kind);
            self.line();
        }
    }

    /// Prints a block of statements inside a statement.
    fn body(&mut self, stmts: &[Stmt]) {
        self.out.push_str(" {");
        self.indent += 1;
        self.line();
        self.stmts(stmts);
        self.indent -= 1;
        self.unindented();
        self.out.push('}');
    }

    /// Removes the indentation of a line that was begun after the last statement of a block.
    fn unindented(&mut self) {
        if self.out.ends_with("  ") {
            self.out.truncate(self.out.trim_end_matches(' ').len());
            (0..self.indent).for_each(|_| self.out.push_str("  "));
        } else {
            self.line();
        }
    }

    /// Prints a statement.
    fn stmt(&mut self, kind: &StmtKind) {
        match kind {
            StmtKind::Let(pat, term) => {
                self.out.push_str("let ");
                self.pattern(pat);
                self.out.push_str(" = ");
                self.term(term);
            }
            StmtKind::SetLocal(local, term) => {
                self.local(*local);
                self.out.push_str(" := ");
                self.term(term);
            }
            StmtKind::SetGlobal(global, term) => {
                self.global(*global);
                self.out.push_str(" := ");
                self.term(term);
            }
            StmtKind::Store { root, path, value, .. } => {
                self.out.push('&');
                match root {
                    Root::Local(local) => self.local(*local),
                    Root::Global(global) => self.global(*global),
                }
                for step in path {
                    let (open, index) = match &step.kind {
                        StepKind::Reshape => (format!(" :>> {}", step.to), None),
                        StepKind::Component(i) => (format!(".{i}"), None),
                        StepKind::Factor(i) => (format!(".\\{i}"), None),
                        StepKind::Index(index) => (".(".to_string(), Some(index)),
                        StepKind::Digit(index) => (".\\(".to_string(), Some(index)),
                    };
                    self.out.push_str(&open);
                    if let Some(index) = index {
                        self.term(index);
                        self.out.push(')');
                    }
                }
                self.out.push_str(" <- ");
                self.term(value);
            }
            StmtKind::Open { vars, local, value } => {
                let vars: Vec<&str> = vars.iter().map(|v| &*v.name).collect();
                let _ = write!(self.out, "open [{}] ", vars.join(", "));
                self.local(*local);
                self.out.push_str(" = ");
                self.term(value);
            }
            StmtKind::Require { left, right, solve } => {
                let solve = solve.as_ref().map_or(String::new(), |var| format!("[{}] ", var.name));
                let _ = write!(self.out, "require {solve}{left} == {right}");
            }
            StmtKind::Drop(locals) => {
                self.out.push_str("drop ");
                for (i, local) in locals.iter().enumerate() {
                    self.out.push_str(if i > 0 { ", " } else { "" });
                    self.local(*local);
                }
            }
            StmtKind::Expr(term) => self.term(term),
            StmtKind::If(condition, then, otherwise) => {
                self.out.push_str("if ");
                self.term(condition);
                self.body(then);
                if !otherwise.is_empty() {
                    self.out.push_str(" else");
                    self.body(otherwise);
                }
            }
            StmtKind::Match(scrutinee, arms) => {
                self.out.push_str("match ");
                self.term(scrutinee);
                self.indent += 1;
                for (pat, guard, body) in arms {
                    self.line();
                    self.arm(pat, guard.as_ref());
                    self.body(body);
                }
                self.indent -= 1;
            }
            StmtKind::For(local, range, body) => {
                self.out.push_str("for ");
                self.local(*local);
                self.out.push_str(" in ");
                match range {
                    ForRange::All(ty) => {
                        let _ = write!(self.out, "..[{ty}]");
                    }
                    ForRange::Ints { low, high, inclusive } => {
                        self.term(low);
                        self.out.push_str(if *inclusive { ".." } else { "..<" });
                        self.term(high);
                    }
                    ForRange::Elements(array) => self.term(array),
                }
                self.body(body);
            }
            StmtKind::While(condition, body) => {
                self.out.push_str("while ");
                self.term(condition);
                self.body(body);
            }
            StmtKind::Break => self.out.push_str("break"),
            StmtKind::Continue => self.out.push_str("continue"),
            StmtKind::Return(term) => {
                self.out.push_str("return ");
                self.term(term);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::function;
    use crate::core::testing::{local, stmt, term};
    use crate::core::{
        Function, FunctionId, Global, GlobalId, LocalId, LocalInfo, Num, Op, Pat, PatKind, Program, Root,
        Step, StepKind, StmtKind, TermKind,
    };
    use crate::source::Span;
    use crate::types::{Kind, Type, TypeVar};

    /// Blocks are indented, locals of one name have their numbers, and a local or variable that
    /// does not exist is `?`.
    #[test]
    fn nested_blocks_are_indented() {
        let wild = |kind| Pat { kind, ty: Type::int(), span: Span::default() };
        let step = |kind| Step { kind, from: Type::int(), to: Type::int() };
        let path = vec![step(StepKind::Component(1u32.into())), step(StepKind::Index(local(0)))];
        let store = StmtKind::Store {
            root: Root::Local(LocalId::new(1)),
            root_ty: Type::int(),
            path,
            value: local(7),
        };
        let sum = term(TermKind::Op(Op::Add(Num::Int), vec![local(0), term(TermKind::Int(1.into()))]));
        let set = |id| stmt(StmtKind::SetGlobal(GlobalId::new(id), sum.clone()));
        let choice = stmt(StmtKind::If(local(0), vec![set(0)], vec![stmt(StmtKind::Break)]));
        let arms = vec![
            (wild(PatKind::Int(0.into())), Some(local(1)), vec![set(1)]),
            (
                wild(PatKind::Or(vec![wild(PatKind::Ints(1.into(), 2.into())), wild(PatKind::Wild)])),
                None,
                vec![],
            ),
        ];
        let body = vec![
            stmt(StmtKind::While(local(0), vec![choice])),
            stmt(StmtKind::Match(local(0), arms)),
            stmt(store),
        ];
        let info = |shared| LocalInfo { name: "x".into(), ty: Type::int(), shared };
        let printed = Function {
            name: "f".into(),
            type_params: vec![TypeVar { id: 1_001, name: "N".into(), kind: Kind::Compact }],
            params: vec![LocalId::new(0)],
            captures: vec![LocalId::new(1)],
            this: None,
            locals: vec![info(false), info(true)],
            domain: Type::int(),
            given: Vec::new(),
            body: term(TermKind::Block(body, Some(Box::new(term(TermKind::Tuple(vec![local(0)])))))),
            span: Span::default(),
        };
        let globals = vec![Global { name: "g".into(), ty: Type::int() }];
        let program = Program { globals, ..Program::default() };
        let expected = "\
fun f#3[N:COMPACTLINEAR] (x.0:int) captures (x.1:shared int) : int =
  {
    while x.0 {
      if x.0 {
        g@0 := add_int(x.0, 1)
      } else {
        break
      }
    }
    match x.0
      | 0 when x.1 => {
        ?@1 := add_int(x.0, 1)
      }
      | (1..2 | _) => {
      }
    &x.1.1.(x.0) <- ?.7
    (x.0,)
  }
";
        assert_eq!(function(&program, FunctionId::new(3), &printed), expected);
    }
}
