//! The visitor of syntax trees: the direct children of any node, in source order.
//!
//! Takes a [`Node`]; gives its children. The one place that enumerates the fields of all forms,
//! without wildcard arms, so that a new form of the tree does not compile before it is visited.
//! Walks over whole trees recurse through [`Node::for_each_child`]; nesting is bounded by the
//! bracket pass.

use super::ast::{
    Body, ClassMember, Expr, ExprKind, Function, Generics, Param, Pattern, PatternKind, Stmt, StmtKind,
    TypeDecl, TypeExpr, TypeExprKind,
};

/// A node of the syntax tree.
#[derive(Clone, Copy, Debug)]
pub enum Node<'t> {
    /// A statement.
    Stmt(&'t Stmt),
    /// An expression.
    Expr(&'t Expr),
    /// A pattern.
    Pattern(&'t Pattern),
    /// A written type.
    Type(&'t TypeExpr),
}

/// The consumer of children.
type Visit<'f, 't> = &'f mut dyn FnMut(Node<'t>);

impl<'t> Node<'t> {
    /// Visits the direct children, in source order.
    pub fn for_each_child(self, f: Visit<'_, 't>) {
        match self {
            Node::Stmt(stmt) => stmt_children(stmt, f),
            Node::Expr(expr) => expr_children(expr, f),
            Node::Pattern(pattern) => pattern_children(pattern, f),
            Node::Type(ty) => type_children(ty, f),
        }
    }
}

impl TypeExpr {
    /// Visits the types that the type is written with, in source order.
    pub fn for_each_child<'t>(&'t self, f: &mut dyn FnMut(&'t TypeExpr)) {
        type_children(self, &mut |child| {
            if let Node::Type(ty) = child {
                f(ty);
            }
        });
    }
}

impl Pattern {
    /// Visits the outermost types written in the pattern, in source order.
    pub fn for_each_type<'t>(&'t self, f: &mut dyn FnMut(&'t TypeExpr)) {
        pattern_children(self, &mut |child| match child {
            Node::Type(ty) => f(ty),
            Node::Pattern(inner) => inner.for_each_type(f),
            Node::Stmt(_) | Node::Expr(_) => unreachable!("a pattern contains patterns and types only"),
        });
    }
}

/// Visits expressions.
fn exprs<'t>(list: impl IntoIterator<Item = &'t Expr>, f: Visit<'_, 't>) {
    list.into_iter().for_each(|expr| f(Node::Expr(expr)));
}

/// Visits statements.
fn stmts<'t>(list: &'t [Stmt], f: Visit<'_, 't>) {
    list.iter().for_each(|stmt| f(Node::Stmt(stmt)));
}

/// Visits patterns.
fn patterns<'t>(list: impl IntoIterator<Item = &'t Pattern>, f: Visit<'_, 't>) {
    list.into_iter().for_each(|pattern| f(Node::Pattern(pattern)));
}

/// Visits types.
fn types<'t>(list: impl IntoIterator<Item = &'t TypeExpr>, f: Visit<'_, 't>) {
    list.into_iter().for_each(|ty| f(Node::Type(ty)));
}

/// Visits the children of a statement.
fn stmt_children<'t>(stmt: &'t Stmt, f: Visit<'_, 't>) {
    use StmtKind as S;
    match &stmt.kind {
        S::Break | S::Continue | S::Import(_) | S::Kind { .. } | S::Party { .. } | S::Error => {}
        S::Let { mutable: _, pattern, ty, init } => {
            f(Node::Pattern(pattern));
            types(ty, f);
            f(Node::Expr(init));
        }
        S::Function { name: _, function, doc: _ } | S::Test { bench: _, title: _, function } => {
            function_children(function, f)
        }
        S::Typedef(decl, ty) | S::Newtype(decl, ty) => {
            decl_children(decl, f);
            f(Node::Type(ty));
        }
        S::Struct(decl, fields) => {
            decl_children(decl, f);
            types(fields.iter().map(|(_, ty)| ty), f);
        }
        S::Variant(decl, cases) => {
            decl_children(decl, f);
            types(cases.iter().filter_map(|(_, ty)| ty.as_ref()), f);
        }
        S::Typefun { name: _, params: _, kind: _, body } => f(Node::Type(body)),
        S::Abstract { decl, layout: _, representation } => {
            decl_children(decl, f);
            types(representation, f);
        }
        S::Class(decl, members) => {
            decl_children(decl, f);
            for member in members {
                match member {
                    ClassMember::Signature { is_joint: _, name: _, generics, ty } => {
                        generics_children(generics, f);
                        f(Node::Type(ty));
                    }
                    ClassMember::Default(stmt) => f(Node::Stmt(stmt)),
                    ClassMember::Law(_, params, body) => {
                        param_children(params, f);
                        f(Node::Expr(body));
                    }
                }
            }
        }
        S::Instance { generics, class: _, args, members, refusal: _ } => {
            generics_children(generics, f);
            types(args, f);
            stmts(members, f);
        }
        S::Require(left, right) => types([left, right], f),
        S::Export(inner) => f(Node::Stmt(inner)),
        S::Expr(expr) | S::Value(expr) => f(Node::Expr(expr)),
        S::Assign { name: _, op: _, value } => f(Node::Expr(value)),
        S::AssignAll { places, value } => {
            f(Node::Pattern(places));
            f(Node::Expr(value));
        }
        S::Store { place, op: _, value } => exprs([place, value], f),
        S::If { arms, otherwise } => {
            for (condition, body) in arms {
                f(Node::Expr(condition));
                stmts(body, f);
            }
            otherwise.iter().for_each(|body| stmts(body, f));
        }
        S::Match { scrutinee, arms } => {
            f(Node::Expr(scrutinee));
            for arm in arms {
                f(Node::Pattern(&arm.pattern));
                exprs(&arm.guard, f);
                stmts(&arm.body, f);
            }
        }
        S::For { pattern, iterable, body } => {
            f(Node::Pattern(pattern));
            f(Node::Expr(iterable));
            stmts(body, f);
        }
        S::While { condition, body } => {
            f(Node::Expr(condition));
            stmts(body, f);
        }
        S::Block(body) => stmts(body, f),
        S::Return(value) => exprs(value, f),
    }
}

/// Visits the children of a function: constraints, parameters, result and body.
fn function_children<'t>(function: &'t Function, f: Visit<'_, 't>) {
    generics_children(&function.generics, f);
    function.params.iter().for_each(|group| param_children(group, f));
    types(&function.result, f);
    match &function.body {
        Body::Expr(body) => f(Node::Expr(body)),
        Body::Block(body) => stmts(body, f),
    }
}

/// Visits the children of parameters.
fn param_children<'t>(params: &'t [Param], f: Visit<'_, 't>) {
    for Param { pattern, ty, default } in params {
        f(Node::Pattern(pattern));
        types(ty, f);
        exprs(default, f);
    }
}

/// Visits the children of the head of a declaration.
fn decl_children<'t>(decl: &'t TypeDecl, f: Visit<'_, 't>) {
    generics_children(&decl.generics, f);
}

/// Visits the types in constraints.
fn generics_children<'t>(generics: &'t Generics, f: Visit<'_, 't>) {
    types(generics.constraints.iter().flat_map(|(_, args)| args), f);
}

/// Visits the children of an expression.
fn expr_children<'t>(expr: &'t Expr, f: Visit<'_, 't>) {
    use ExprKind as E;
    match &expr.kind {
        E::Int(_)
        | E::Real(_)
        | E::Suffixed(..)
        | E::Char(_)
        | E::Str(_)
        | E::Bool(_)
        | E::Name(_)
        | E::Axis
        | E::Error => {}
        E::Interpolated(_, parts) => exprs(parts.iter().map(|part| &part.value), f),
        E::TypeArgs(base, args) => {
            f(Node::Expr(base));
            types(args, f);
        }
        E::CaseOf { index: _, ty, tick: _ } | E::Proj { index: _, ty } | E::AllOf(ty) => f(Node::Type(ty)),
        E::Inject { index: _, arg } => f(Node::Expr(arg)),
        E::Aproj { index, ty } | E::Ainj { index, ty } => {
            f(Node::Expr(index));
            f(Node::Type(ty));
        }
        E::Tuple(items) | E::CompactTuple(items) | E::Array(items) => exprs(items, f),
        E::Rest(value) | E::Unary(_, value) => f(Node::Expr(value)),
        E::Record(fields) | E::CompactRecord(fields) => exprs(fields.iter().map(|(_, value)| value), f),
        E::Spread(parts) => exprs(parts.iter().map(|(_, value)| value), f),
        E::Update(record, fields) => {
            f(Node::Expr(record));
            exprs(fields.iter().map(|(_, value)| value), f);
        }
        E::Arguments(values, named) => {
            exprs(values, f);
            exprs(named.iter().map(|(_, value)| value), f);
        }
        E::Comprehension { body, clauses, guard } => {
            f(Node::Expr(body));
            for (pattern, values) in clauses {
                f(Node::Pattern(pattern));
                f(Node::Expr(values));
            }
            exprs(guard.as_deref(), f);
        }
        E::IntRange { low, high, inclusive: _ } => exprs([&**low, &**high], f),
        E::UpTo { high, inclusive: _ } => f(Node::Expr(high)),
        E::Apply { function, argument, form: _ } => exprs([&**function, &**argument], f),
        E::Dot { base, key } => exprs([&**base, &**key], f),
        E::Binary(_, left, right) => exprs([&**left, &**right], f),
        E::If { arms, otherwise } => {
            for (condition, value) in arms {
                exprs([condition, value], f);
            }
            f(Node::Expr(otherwise));
        }
        E::Match { scrutinee, arms } => {
            f(Node::Expr(scrutinee));
            for arm in arms {
                f(Node::Pattern(&arm.pattern));
                exprs(&arm.guard, f);
                f(Node::Expr(&arm.body));
            }
        }
        E::Lambda(function) => function_children(function, f),
        E::Block { stmts: body, value } => {
            stmts(body, f);
            f(Node::Expr(value));
        }
        E::At { places, stmts: body, value } => {
            f(Node::Type(places));
            stmts(body, f);
            exprs(value.as_deref(), f);
        }
        E::Reshape(value, ty) | E::Convert(value, ty) => {
            f(Node::Expr(value));
            f(Node::Type(ty));
        }
    }
}

/// Visits the children of a pattern.
fn pattern_children<'t>(pattern: &'t Pattern, f: Visit<'_, 't>) {
    use PatternKind as P;
    match &pattern.kind {
        P::Wild
        | P::Name(_)
        | P::Int { .. }
        | P::Real { .. }
        | P::Suffixed { .. }
        | P::Char(_)
        | P::Str(_)
        | P::Bool(_)
        | P::Rest(_)
        | P::Error => {}
        P::Typed(inner, ty) => {
            f(Node::Pattern(inner));
            f(Node::Type(ty));
        }
        P::Tick(_, ty) => f(Node::Type(ty)),
        P::Tuple(parts) | P::CompactTuple(parts) | P::Or(parts) => patterns(parts, f),
        P::Record(fields) | P::CompactRecord(fields) => {
            patterns(fields.iter().map(|(_, field)| field), f);
        }
        P::Case(_, argument) => patterns(argument.as_deref(), f),
        P::Coarray(index, argument) => patterns([&**index, &**argument], f),
        P::Constructor(_, argument) => f(Node::Pattern(argument)),
        P::Range { low, high, inclusive: _ } => patterns([&**low, &**high], f),
        P::As(inner, _) => f(Node::Pattern(inner)),
    }
}

/// Visits the children of a type.
fn type_children<'t>(ty: &'t TypeExpr, f: Visit<'_, 't>) {
    use TypeExprKind as T;
    match &ty.kind {
        T::Number(_) | T::Places(_) | T::Open(_) | T::Rest(_) | T::Hole | T::Refusal(_) | T::Error => {}
        T::Name(_, parts)
        | T::Call(_, parts)
        | T::Product(parts)
        | T::Sum(parts)
        | T::CompactProduct(parts)
        | T::CompactSum(parts) => types(parts, f),
        T::Array(a, b) | T::CompactPower(a, b) | T::Repeat(a, b) | T::Function(a, b) | T::Placed(a, b) => {
            types([&**a, &**b], f);
        }
        T::Labels(first, last) => types([&first.size, &last.size], f),
        T::Record(fields) | T::CompactRecord(fields) => types(fields.iter().map(|(_, ty)| ty), f),
        T::TypeMatch(subjects, arms) => {
            types(subjects, f);
            for arm in arms {
                types(&arm.patterns, f);
                f(Node::Type(&arm.result));
            }
        }
    }
}
