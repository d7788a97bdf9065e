//! The syntax tree: the structure of a Felis program before name resolution and type checking.
//!
//! Every node carries its span. Names are unresolved, types are written forms ([`TypeExpr`]), and
//! syntactic sugar is kept as far as the printer needs it to reproduce the text.
//! [`visit`](super::visit) has the visitor over all nodes.

mod expr;
mod import;
mod pattern;
mod types;

pub use expr::{ApplyForm, BinaryOp, Expr, ExprKind, Interpolation, UnaryOp};
pub use import::{Import, ImportNames, ImportTarget, stem};
pub use pattern::{Pattern, PatternKind};
pub use types::{IndexLabel, TypeArm, TypeExpr, TypeExprKind};

use crate::source::Span;
use std::sync::Arc;

/// An identifier with its span.
#[derive(Clone, Debug)]
pub struct Name {
    /// The identifier.
    pub text: Arc<str>,
    /// The span in the source text.
    pub span: Span,
}

/// One arm of a `match`: `B` is an expression or a block.
#[derive(Clone, Debug)]
pub struct Arm<B> {
    /// The pattern.
    pub pattern: Pattern,
    /// `when` condition.
    pub guard: Option<Expr>,
    /// The result.
    pub body: B,
}

/// `fun`, `proc` or a lambda: parameters, result and body.
#[derive(Clone, Debug)]
pub struct Function {
    /// `proc` rather than `fun`.
    pub is_proc: bool,
    /// `joint fun`: it moves data between places.
    pub is_joint: bool,
    /// `[T, N:COMPACTLINEAR with …]`.
    pub generics: Generics,
    /// Curried parameter groups: `f (x:A, y:B) (z:C)` has two.
    pub params: Vec<Vec<Param>>,
    /// `:R`.
    pub result: Option<TypeExpr>,
    /// The body.
    pub body: Body,
    /// From `fun` to the end of the header, for messages.
    pub header: Span,
}

/// The body of a function.
#[derive(Clone, Debug)]
pub enum Body {
    /// `=> e`.
    Expr(Box<Expr>),
    /// `{ … }`.
    Block(Vec<Stmt>),
}

/// One parameter `x:T`; a lambda may leave the type out.
#[derive(Clone, Debug)]
pub struct Param {
    /// A name, or an irrefutable pattern in parentheses.
    pub pattern: Pattern,
    /// The type.
    pub ty: Option<TypeExpr>,
    /// The default value.
    pub default: Option<Expr>,
}

/// `[T, N:COMPACTLINEAR with Add[T]]`.
#[derive(Clone, Debug, Default)]
pub struct Generics {
    /// Parameters with their kinds.
    pub params: Vec<TypeParam>,
    /// Constraints: a class name with its arguments.
    pub constraints: Vec<(Name, Vec<TypeExpr>)>,
}

/// One type parameter.
#[derive(Clone, Debug)]
pub struct TypeParam {
    /// The name.
    pub name: Name,
    /// `:KIND`; `TYPE` when left out.
    pub kind: Option<Name>,
    /// The header mentions it as `..R`.
    pub rest: bool,
}

/// A statement.
#[derive(Clone, Debug)]
pub struct Stmt {
    /// The form.
    pub kind: StmtKind,
    /// The span in the source text.
    pub span: Span,
}

/// The forms of statements.
#[derive(Clone, Debug)]
pub enum StmtKind {
    /// `var x : T = e;`, `val (a, b) = e;`.
    Let {
        /// `var` rather than `val`.
        mutable: bool,
        /// The pattern that is bound.
        pattern: Pattern,
        /// The type.
        ty: Option<TypeExpr>,
        /// The value.
        init: Expr,
    },
    /// `fun f …`, `proc p …`.
    Function {
        /// The name.
        name: Name,
        /// The function.
        function: Box<Function>,
        /// The `///` comment before it.
        doc: Option<Arc<str>>,
    },
    /// `typedef name[T] = T * T;`.
    Typedef(TypeDecl, TypeExpr),
    /// `newtype Vertex = 3 \* 1000;`.
    Newtype(TypeDecl, TypeExpr),
    /// `struct point { x:int; y:int; }`.
    Struct(TypeDecl, Vec<(Name, TypeExpr)>),
    /// `variant option[T] = | None | Some of T;`.
    Variant(TypeDecl, Vec<(Name, Option<TypeExpr>)>),
    /// `typefun narrow(V:VIS, W:VIS):VIS => …;`.
    Typefun {
        /// The name.
        name: Name,
        /// The parameters.
        params: Vec<TypeParam>,
        /// The kind of the result.
        kind: Option<Name>,
        /// The result type.
        body: TypeExpr,
    },
    /// `kind VIS = public | private | secret;`.
    Kind {
        /// The name.
        name: Name,
        /// The members in order.
        members: Vec<Name>,
        /// The `///` comment before it.
        doc: Option<Arc<str>>,
    },
    /// `party Party = alice | bob;`.
    Party {
        /// The name of the type of the places.
        name: Name,
        /// The places in order.
        places: Vec<Name>,
        /// The `///` comment before it.
        doc: Option<Arc<str>>,
    },
    /// `type Cipher[T, I:COMPACTLINEAR] layout I = T ^ I;`: an abstract type.
    Abstract {
        /// Name and parameters.
        decl: TypeDecl,
        /// The parameters that it is functorial in.
        layout: Vec<Name>,
        /// The representation.
        representation: Option<TypeExpr>,
    },
    /// `class Add[T] { fun + : T * T -> T; … }`.
    Class(TypeDecl, Vec<ClassMember>),
    /// `instance Add[int] { … }`.
    Instance {
        /// Parameters of the instance itself.
        generics: Generics,
        /// The class.
        class: Name,
        /// The arguments.
        args: Vec<TypeExpr>,
        /// Definitions.
        members: Vec<Stmt>,
        /// `error "…"` in place of definitions: no such instance, with the author's message.
        refusal: Option<Name>,
    },
    /// `require N == 3 \* K;`.
    Require(TypeExpr, TypeExpr),
    /// `test "name" { … }` or `bench "name" { … }`: a procedure that only a run of tests or of
    /// benchmarks calls.
    Test {
        /// True for a benchmark.
        bench: bool,
        /// The title, with its span.
        title: Name,
        /// A procedure without parameters.
        function: Box<Function>,
    },
    /// `import "geometry.flx" as g (area);`
    Import(Import),
    /// `export fun f …`: a definition visible to importers.
    Export(Box<Stmt>),
    /// `e;` for its effect.
    Expr(Expr),
    /// `e` without a `;` before a `}`: the value of a block. Elsewhere an error has been reported.
    Value(Expr),
    /// `x = e;`, `x += e;`.
    Assign {
        /// The variable.
        name: Name,
        /// The operator of a compound assignment.
        op: Option<BinaryOp>,
        /// The value.
        value: Expr,
    },
    /// `x, (y, z) = e;`.
    AssignAll {
        /// Variables in tuples.
        places: Pattern,
        /// The value.
        value: Expr,
    },
    /// `&x.1 <- v;`, `&x.1 += v;`.
    Store {
        /// A variable followed by projections.
        place: Expr,
        /// The operator of a compound assignment.
        op: Option<BinaryOp>,
        /// The value.
        value: Expr,
    },
    /// `if c do … elif d do … else … done`, `if c perform s`.
    If {
        /// Conditions with their blocks.
        arms: Vec<(Expr, Vec<Stmt>)>,
        /// The block when no condition holds.
        otherwise: Option<Vec<Stmt>>,
    },
    /// `match e do | p => … done`.
    Match {
        /// The scrutinee.
        scrutinee: Expr,
        /// The arms in order.
        arms: Vec<Arm<Vec<Stmt>>>,
    },
    /// `for p in e do … done`, `for p in e perform s`.
    For {
        /// The pattern that each element is bound to.
        pattern: Pattern,
        /// The range of the loop.
        iterable: Expr,
        /// The body.
        body: Vec<Stmt>,
    },
    /// `while c do … done`, `while c perform s`.
    While {
        /// The condition.
        condition: Expr,
        /// The body.
        body: Vec<Stmt>,
    },
    /// `do … done`.
    Block(Vec<Stmt>),
    /// `break;`
    Break,
    /// `continue;`
    Continue,
    /// `return e;`, `return;`
    Return(Option<Expr>),
    /// Unreadable; an error has been reported.
    Error,
}

impl StmtKind {
    /// Returns the `///` comment of a definition.
    pub fn doc_mut(&mut self) -> Option<&mut Option<Arc<str>>> {
        match self {
            StmtKind::Function { doc, .. } | StmtKind::Kind { doc, .. } | StmtKind::Party { doc, .. } => {
                Some(doc)
            }
            StmtKind::Abstract { decl, .. }
            | StmtKind::Typedef(decl, _)
            | StmtKind::Newtype(decl, _)
            | StmtKind::Struct(decl, _)
            | StmtKind::Variant(decl, _)
            | StmtKind::Class(decl, _) => Some(&mut decl.doc),
            _ => None,
        }
    }
}

impl Name {
    /// Returns the module and the name in it, of `geometry::area`.
    pub fn qualified(&self) -> Option<(&str, &str)> {
        self.text.split_once("::")
    }
}

/// Name and parameters of a declared type or class.
#[derive(Clone, Debug)]
pub struct TypeDecl {
    /// The name.
    pub name: Name,
    /// The parameters.
    pub generics: Generics,
    /// The `///` comment before it.
    pub doc: Option<Arc<str>>,
}

/// A member of a class.
#[derive(Clone, Debug)]
pub enum ClassMember {
    /// `fun name : T * T -> T;`, `fun name[U] : T * U -> U;`; the name may be an operator.
    Signature {
        /// True for `joint fun`.
        is_joint: bool,
        /// The name, which may be an operator.
        name: Name,
        /// The method's own type parameters.
        generics: Generics,
        /// The type.
        ty: TypeExpr,
    },
    /// `fun name(x:T):T => …;`: a default.
    Default(Stmt),
    /// `law name(x:T, y:T) => e;`.
    Law(Name, Vec<Param>, Expr),
}

impl Function {
    /// Returns true for a `proc` with a written result and one group of parameters: a call of it is
    /// an expression.
    pub fn is_valued_procedure(&self) -> bool {
        self.is_proc && self.result.is_some() && self.params.len() == 1
    }

    /// Marks the type parameters that the header mentions as `..R`.
    pub fn mark_rests(&mut self) {
        if self.generics.params.is_empty() {
            return;
        }
        let mut types: Vec<&TypeExpr> = self.result.iter().collect();
        for param in self.params.iter().flatten() {
            types.extend(&param.ty);
            if let PatternKind::Typed(_, ty) = &param.pattern.kind {
                types.push(ty);
            }
        }
        self.generics.mark_rests(&types);
    }
}

impl Generics {
    /// Marks the parameters that the constraints, or one of these types, mention as `..R`.
    pub fn mark_rests(&mut self, types: &[&TypeExpr]) {
        fn rests(ty: &TypeExpr, found: &mut Vec<Arc<str>>) {
            match &ty.kind {
                TypeExprKind::Rest(name) => found.push(name.text.clone()),
                _ => ty.for_each_child(&mut |child| rests(child, found)),
            }
        }
        let mut found = Vec::new();
        types.iter().for_each(|ty| rests(ty, &mut found));
        self.constraints.iter().flat_map(|(_, args)| args).for_each(|ty| rests(ty, &mut found));
        for param in &mut self.params {
            param.rest = found.contains(&param.name.text);
        }
    }
}
