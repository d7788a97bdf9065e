//! The declarations of a text, with their spans: read from the tree; nothing is checked.
//!
//! Takes a text, however broken; gives its declarations as a tree. A statement that cannot be
//! parsed keeps the name that lexing finds in it.

use felis_base::source::{Source, Span};
use felis_syntax::syntax::ast::{
    ClassMember, Function, Name, Param, Pattern, PatternKind, Stmt, StmtKind, TypeDecl,
};
use felis_syntax::syntax::{self, Chunk};
use std::sync::Arc;

/// The kind of a declaration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeclarationKind {
    /// `fun`
    Function,
    /// `proc`
    Procedure,
    /// `val`
    Value,
    /// `var`
    Variable,
    /// `typedef`, `newtype`, `type`
    Type,
    /// `typefun`
    TypeFunction,
    /// `struct`
    Struct,
    /// `variant`
    Variant,
    /// A case of a variant.
    Case,
    /// A field of a struct.
    Field,
    /// `class`
    Class,
    /// A method of a class, or its definition in an instance.
    Method,
    /// `law`
    Law,
    /// `instance`
    Instance,
    /// `kind`
    Kind,
    /// A member of a kind.
    Member,
    /// `test`, `bench`
    Test,
    /// `import`
    Import,
}

/// A declaration with its places.
#[derive(Clone, Debug)]
pub struct Declaration {
    /// Its name.
    pub name: String,
    /// The kind of what it declares.
    pub kind: DeclarationKind,
    /// The span of its name.
    pub name_span: Span,
    /// The whole declaration, without its `///` comment.
    pub span: Span,
    /// The part of it that its users need.
    pub head: Span,
    /// The parameters of a function, in their groups.
    pub params: Vec<Vec<Span>>,
    /// The type of a variable, or what a function gives, is written.
    pub typed: bool,
    /// The `///` comment before it.
    pub doc: Option<Arc<str>>,
    /// `export` stands before it.
    pub exported: bool,
    /// The declarations inside it.
    pub members: Vec<Declaration>,
}

impl Declaration {
    /// Returns a declaration without parameters and members.
    fn new(name: &Name, kind: DeclarationKind, span: Span) -> Declaration {
        Declaration {
            name: name.text.to_string(),
            kind,
            name_span: name.span,
            span,
            head: span,
            params: Vec::new(),
            typed: true,
            doc: None,
            exported: false,
            members: Vec::new(),
        }
    }

    /// Moves its places, and those of the declarations inside it.
    pub fn move_spans(&mut self, moved: &dyn Fn(Span) -> Span) {
        for span in [&mut self.name_span, &mut self.span, &mut self.head] {
            *span = moved(*span);
        }
        self.params.iter_mut().flatten().for_each(|span| *span = moved(*span));
        self.members.iter_mut().for_each(|member| member.move_spans(moved));
    }

    /// Itself and all in it.
    pub fn for_each<'d>(&'d self, visit: &mut dyn FnMut(&'d Declaration)) {
        visit(self);
        self.members.iter().for_each(|member| member.for_each(visit));
    }
}

/// Returns the top-level declarations of a text, in order.
pub fn outline(source: &Source) -> Vec<Declaration> {
    outline_of_statements(source, &syntax::parse(source).stmts, &syntax::chunks(source))
}

/// Returns the declarations of statements of a text, which are given with their names.
pub fn outline_of_statements(source: &Source, stmts: &[Stmt], chunks: &[Chunk]) -> Vec<Declaration> {
    let mut out = Vec::new();
    for (stmt, chunk) in stmts.iter().zip(chunks) {
        let before = out.len();
        let inner = match &stmt.kind {
            StmtKind::Export(inner) => inner,
            _ => stmt,
        };
        push_declarations(inner, &mut out);
        if let StmtKind::Error = inner.kind {
            out.extend(broken_declaration(source, chunk));
        }
        for declaration in &mut out[before..] {
            declaration.exported = chunk.exported;
            declaration.doc = declaration.doc.take().or_else(|| chunk.doc.clone());
            if declaration.span == inner.span {
                declaration.span = stmt.span;
            }
        }
    }
    out
}

/// Adds the declarations of a statement.
fn push_declarations(stmt: &Stmt, out: &mut Vec<Declaration>) {
    use DeclarationKind as K;
    let span = stmt.span;
    match &stmt.kind {
        StmtKind::Let { mutable, pattern, ty, .. } => {
            let kind = if *mutable { K::Variable } else { K::Value };
            let mut names = Vec::new();
            bound_names(pattern, ty.is_some(), &mut names);
            for (name, typed) in names {
                let head = ty.as_ref().map_or(pattern.span, |ty| pattern.span.to(ty.span));
                out.push(Declaration { typed, head, ..Declaration::new(name, kind, span) });
            }
        }
        StmtKind::Function { name, function, doc } => {
            out.push(Declaration { doc: doc.clone(), ..self::function_declaration(name, function, span) });
        }
        StmtKind::Typedef(decl, _) | StmtKind::Newtype(decl, _) | StmtKind::Abstract { decl, .. } => {
            out.push(Declaration { doc: decl.doc.clone(), ..Declaration::new(&decl.name, K::Type, span) });
        }
        StmtKind::Struct(decl, fields) => {
            let members =
                fields.iter().map(|(name, ty)| simple_declaration(name, K::Field, name.span.to(ty.span)));
            out.push(type_declaration(decl, K::Struct, span, members.collect()));
        }
        StmtKind::Variant(decl, cases) => {
            let members = cases.iter().map(|(name, ty)| {
                simple_declaration(name, K::Case, ty.as_ref().map_or(name.span, |ty| name.span.to(ty.span)))
            });
            out.push(type_declaration(decl, K::Variant, span, members.collect()));
        }
        StmtKind::Typefun { name, .. } => out.push(Declaration::new(name, K::TypeFunction, span)),
        StmtKind::Kind { name, members, doc } => {
            let members = members.iter().map(|name| simple_declaration(name, K::Member, name.span)).collect();
            out.push(Declaration { members, doc: doc.clone(), ..Declaration::new(name, K::Kind, span) });
        }
        StmtKind::Class(decl, members) => {
            let members = members.iter().filter_map(class_member_declaration).collect();
            out.push(type_declaration(decl, K::Class, span, members));
        }
        StmtKind::Instance { class, args, members, .. } => {
            let mut inside = Vec::new();
            members.iter().for_each(|stmt| push_declarations(stmt, &mut inside));
            for member in &mut inside {
                member.kind = K::Method;
            }
            let end = args.last().map_or(class.span, |last| class.span.to(last.span).to(last.span.after()));
            let head = Span { start: span.start, ..end };
            out.push(Declaration { members: inside, head, ..Declaration::new(class, K::Instance, span) });
        }
        StmtKind::Test { title, .. } => out.push(Declaration::new(title, K::Test, span)),
        StmtKind::Import(import) => {
            out.push(Declaration::new(&import.module_name(), K::Import, span));
        }
        StmtKind::Export(inner) => push_declarations(inner, out),
        _ => {}
    }
}

/// Returns a declaration whose head is all of it.
fn simple_declaration(name: &Name, kind: DeclarationKind, span: Span) -> Declaration {
    Declaration::new(name, kind, span)
}

/// Returns the declaration of a type or class with its members.
fn type_declaration(
    decl: &TypeDecl,
    kind: DeclarationKind,
    span: Span,
    members: Vec<Declaration>,
) -> Declaration {
    Declaration { members, doc: decl.doc.clone(), ..Declaration::new(&decl.name, kind, span) }
}

/// Returns the declaration of a function or procedure.
fn function_declaration(name: &Name, function: &Function, span: Span) -> Declaration {
    let kind = if function.is_proc { DeclarationKind::Procedure } else { DeclarationKind::Function };
    let params = function.params.iter().map(|group| group.iter().map(parameter_span).collect()).collect();
    let typed = function.is_proc || function.result.is_some();
    Declaration { params, typed, head: function.header, ..Declaration::new(name, kind, span) }
}

/// Returns the span of a parameter with its type.
fn parameter_span(param: &Param) -> Span {
    param.ty.as_ref().map_or(param.pattern.span, |ty| param.pattern.span.to(ty.span))
}

/// Returns the declaration of a member of a class.
fn class_member_declaration(member: &ClassMember) -> Option<Declaration> {
    Some(match member {
        ClassMember::Signature { name, ty, .. } => {
            simple_declaration(name, DeclarationKind::Method, name.span.to(ty.span))
        }
        // A default is no declaration: its method is declared beside it.
        ClassMember::Default(_) => return None,
        ClassMember::Law(name, params, body) => {
            let head = params.last().map_or(name.span, |last| name.span.to(parameter_span(last)));
            let span = name.span.to(body.span);
            Declaration { head, ..simple_declaration(name, DeclarationKind::Law, span) }
        }
    })
}

/// The names that a pattern may bind, and whether a type stands beside them.
fn bound_names<'p>(pattern: &'p Pattern, typed: bool, out: &mut Vec<(&'p Name, bool)>) {
    match &pattern.kind {
        PatternKind::Name(name) => out.push((name, typed)),
        PatternKind::Typed(inner, _) => bound_names(inner, true, out),
        PatternKind::As(inner, name) => {
            bound_names(inner, typed, out);
            out.push((name, typed));
        }
        PatternKind::Tuple(parts) | PatternKind::CompactTuple(parts) => {
            parts.iter().for_each(|part| bound_names(part, typed, out));
        }
        PatternKind::Record(fields) | PatternKind::CompactRecord(fields) => {
            fields.iter().for_each(|(_, part)| bound_names(part, typed, out));
        }
        PatternKind::Coarray(index, argument) => {
            bound_names(index, typed, out);
            bound_names(argument, typed, out);
        }
        PatternKind::Constructor(_, inner) | PatternKind::Case(_, Some(inner)) => {
            bound_names(inner, typed, out);
        }
        _ => {}
    }
}

/// Returns the declaration of a statement that cannot be parsed, from its keyword and name.
fn broken_declaration(source: &Source, chunk: &Chunk) -> Option<Declaration> {
    use DeclarationKind as K;
    let kind = match chunk.word {
        "fun" => K::Function,
        "proc" => K::Procedure,
        "val" => K::Value,
        "var" => K::Variable,
        "typedef" | "newtype" | "type" => K::Type,
        "typefun" => K::TypeFunction,
        "struct" => K::Struct,
        "variant" | "enum" => K::Variant,
        "class" => K::Class,
        "kind" => K::Kind,
        _ => return None,
    };
    let text = chunk.defines.first()?.clone();
    let from = chunk.word_at.end as usize;
    let rest = source.text.get(from..chunk.span.end as usize)?;
    let start = from + rest.find(&*text)?;
    let name = Name { span: Span::new(source.id, start, start + text.len()), text };
    Some(Declaration { typed: true, ..Declaration::new(&name, kind, chunk.span) })
}

#[cfg(test)]
mod tests {
    use super::{Declaration, DeclarationKind, outline};
    use crate::session::detached_source;

    fn shown(text: &str) -> Vec<String> {
        fn line(text: &str, declaration: &Declaration, depth: usize, out: &mut Vec<String>) {
            let slice = &text[declaration.name_span.range()];
            assert!(slice == declaration.name || declaration.kind == DeclarationKind::Import, "{slice}");
            out.push(format!("{}{:?} {}", " ".repeat(depth), declaration.kind, declaration.name));
            declaration.members.iter().for_each(|member| line(text, member, depth + 1, out));
        }
        let mut out = Vec::new();
        outline(&detached_source(text)).iter().for_each(|declaration| line(text, declaration, 0, &mut out));
        out
    }

    #[test]
    fn all_that_is_declared_is_told() {
        let text = "export fun f(x:int) => x; val (a, b) = (1, 2); variant v = | None | Some of int;\n\
                    struct s { x:int; } class C[T] { fun m : T -> T; } instance C[s] { fun m(x:s):s => x; }";
        assert_eq!(
            shown(text),
            [
                "Function f",
                "Value a",
                "Value b",
                "Variant v",
                " Case None",
                " Case Some",
                "Struct s",
                " Field x",
                "Class C",
                " Method m",
                "Instance C",
                " Method m",
            ]
        );
    }

    #[test]
    fn broken_statements_keep_their_names() {
        assert_eq!(shown("fun f(x:int => x;\nval y = 1;"), ["Function f", "Value y"]);
        assert_eq!(shown("val x = ;\nval y = 1;"), ["Value x", "Value y"]);
    }
}
