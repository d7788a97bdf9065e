//! The syntax tree: the structure of a Felis program before name resolution and type checking.
//!
//! Every node carries its span. Names are unresolved, types are written forms ([`TypeExpr`]), and
//! syntactic sugar is kept as far as the printer needs it to reproduce the text.
//! [`visit`](super::visit) has the visitor over all nodes.

use crate::source::Span;
use num_bigint::BigUint;
use std::sync::Arc;

/// An identifier with its span.
#[derive(Clone, Debug)]
pub struct Name {
    /// The identifier.
    pub text: Arc<str>,
    /// The span in the source text.
    pub span: Span,
}

/// An expression.
#[derive(Clone, Debug)]
pub struct Expr {
    /// The form.
    pub kind: ExprKind,
    /// The span in the source text.
    pub span: Span,
}

/// The forms of expressions.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// `42`, `010` (ten), `0xff`, `0b101`, `1_000`.
    Int(BigUint),
    /// `1.5`, `1e-3`: the digits as written but for `_`, since each float type rounds them its own
    /// way.
    Real(Arc<str>),
    /// `5u8`, `2.5f32`, `5n`: the digits as written but for `_`, and the suffix.
    Suffixed(Arc<str>, &'static str),
    /// `'a'` with its escape resolved.
    Char(char),
    /// `"text"` with its escapes resolved.
    Str(Arc<str>),
    /// `f"… {x:8.3} …"`: the text at the beginning, and the interpolations with the texts after
    /// them.
    Interpolated(Arc<str>, Vec<Interpolation>),
    /// `true`, `false`.
    Bool(bool),
    /// A name.
    Name(Name),
    /// `f[T, 3]`: explicit type arguments.
    TypeArgs(Box<Expr>, Vec<TypeExpr>),
    /// `` `n:T `` (tick) or `case n of T`: a constant for a unit case, else an injection function.
    CaseOf {
        /// The number of the case, from 0.
        index: BigUint,
        /// The sum.
        ty: TypeExpr,
        /// Written with a backtick.
        tick: bool,
    },
    /// `case n e`: injection into the expected sum; `case n` alone is not an expression.
    Inject {
        /// The number of the case, from 0.
        index: BigUint,
        /// The argument.
        arg: Box<Expr>,
    },
    /// `proj n of T`.
    Proj {
        /// The number of the component, from 0.
        index: BigUint,
        /// The product or array.
        ty: TypeExpr,
    },
    /// `aproj e of T`: the projection of an array at an index value.
    Aproj {
        /// The index.
        index: Box<Expr>,
        /// The array type.
        ty: TypeExpr,
    },
    /// `ainj e of T`: the injection into a coarray at an index value.
    Ainj {
        /// The index.
        index: Box<Expr>,
        /// The coarray type.
        ty: TypeExpr,
    },
    /// `()`, `a, b, c` (never of length 1).
    Tuple(Vec<Expr>),
    /// `a\, b`.
    CompactTuple(Vec<Expr>),
    /// `..e`: the components of `e`, last in a tuple.
    Rest(Box<Expr>),
    /// `(a = 1, b = 2)`.
    Record(Vec<(Name, Expr)>),
    /// `(a = x \, b = y)`
    CompactRecord(Vec<(Name, Expr)>),
    /// `(...r, a = 1)`: fields, and records (without a name) whose fields are included.
    Spread(Vec<(Option<Name>, Expr)>),
    /// `r with (a = 1)`.
    Update(Box<Expr>, Vec<(Name, Expr)>),
    /// `(1, 2, b = 3)`: arguments by position and by name.
    Arguments(Vec<Expr>, Vec<(Name, Expr)>),
    /// `[a, b, c]`: an array literal, of length 1 too.
    Array(Vec<Expr>),
    /// `[ e for p in i, q in j if c ]`.
    Comprehension {
        /// One element.
        body: Box<Expr>,
        /// The clauses, outermost first.
        clauses: Vec<(Pattern, Expr)>,
        /// The condition on elements.
        guard: Option<Box<Expr>>,
    },
    /// `..[I]`: all values of `I`.
    AllOf(TypeExpr),
    /// `_` as a key, or as a part of one: a whole axis.
    Axis,
    /// `a..b` (inclusive) or `a..<b`.
    IntRange {
        /// First.
        low: Box<Expr>,
        /// Last, or one past the last.
        high: Box<Expr>,
        /// `..` rather than `..<`.
        inclusive: bool,
    },
    /// `..i` or `..<i`: the values of the type of `i` up to it. Only as the range of a loop.
    UpTo {
        /// The index.
        high: Box<Expr>,
        /// `..` rather than `..<`.
        inclusive: bool,
    },
    /// A function applied to an argument.
    Apply {
        /// The function.
        function: Box<Expr>,
        /// The argument.
        argument: Box<Expr>,
        /// The notation.
        form: ApplyForm,
    },
    /// `x.f`, `x.1`, `x.(i\,j)`: projection, indexing or application, depending on the key.
    Dot {
        /// The left side.
        base: Box<Expr>,
        /// The right side: a name, number, parenthesized expression, `TypeArgs` of a name, or tick.
        key: Box<Expr>,
    },
    /// `-e`, `!e`, `not e`.
    Unary(UnaryOp, Box<Expr>),
    /// `a + b`, `a < b`, `a or b` …
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `if c then a elif d then b else e endif`.
    If {
        /// Conditions with their results.
        arms: Vec<(Expr, Expr)>,
        /// The result when no condition holds.
        otherwise: Box<Expr>,
    },
    /// `match e with | p => a | q when c => b endmatch`.
    Match {
        /// The scrutinee.
        scrutinee: Box<Expr>,
        /// The arms in order.
        arms: Vec<Arm<Expr>>,
    },
    /// `fun (x:T):R => e`, `fun (x:T) { … }`, `proc (x:T) { … }`.
    Lambda(Box<Function>),
    /// `{ …; e }`, and `let p = e in e`, which is a block with one `val`.
    Block {
        /// The statements before the value.
        stmts: Vec<Stmt>,
        /// The value.
        value: Box<Expr>,
    },
    /// `x :>> T`.
    Reshape(Box<Expr>, TypeExpr),
    /// `x :> T`.
    Convert(Box<Expr>, TypeExpr),
    /// An unreadable expression; an error has been reported.
    Error,
}

/// An interpolated value, `{x:8.3}`, and the text after it.
#[derive(Clone, Debug)]
pub struct Interpolation {
    /// The value.
    pub value: Expr,
    /// The minimum width in characters.
    pub width: Option<usize>,
    /// The number of digits after the decimal point.
    pub places: Option<usize>,
    /// The text up to the next interpolation.
    pub text: Arc<str>,
}

/// The notation of an application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApplyForm {
    /// `f x`.
    Juxtaposed,
    /// `f$ x`.
    Dollar,
    /// `x |> f`.
    Pipe,
    /// `#f`.
    Hash,
}

/// Prefix operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    /// `-`
    Neg,
    /// `!` and `not`
    Not,
}

/// Infix operators on values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    /// `+`
    Add,
    /// `-`
    Sub,
    /// `*`
    Mul,
    /// `/`
    Div,
    /// `%`
    Rem,
    /// `**`
    Pow,
    /// `==`
    Eq,
    /// `!=`
    Ne,
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `>`
    Gt,
    /// `>=`
    Ge,
    /// `in`
    In,
    /// `and`
    And,
    /// `or`
    Or,
}

impl BinaryOp {
    /// Returns the operator as written.
    pub fn symbol(self) -> &'static str {
        match self {
            BinaryOp::Add => "+",
            BinaryOp::Sub => "-",
            BinaryOp::Mul => "*",
            BinaryOp::Div => "/",
            BinaryOp::Rem => "%",
            BinaryOp::Pow => "**",
            BinaryOp::Eq => "==",
            BinaryOp::Ne => "!=",
            BinaryOp::Lt => "<",
            BinaryOp::Le => "<=",
            BinaryOp::Gt => ">",
            BinaryOp::Ge => ">=",
            BinaryOp::In => "in",
            BinaryOp::And => "and",
            BinaryOp::Or => "or",
        }
    }
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

/// A pattern.
#[derive(Clone, Debug)]
pub struct Pattern {
    /// The form.
    pub kind: PatternKind,
    /// The span in the source text.
    pub span: Span,
}

/// The forms of patterns.
#[derive(Clone, Debug)]
pub enum PatternKind {
    /// `_`
    Wild,
    /// A variable, or a constructor without argument: name resolution decides.
    Name(Name),
    /// `x : T` in parentheses.
    Typed(Box<Pattern>, TypeExpr),
    /// `42`, `-1`.
    Int {
        /// The absolute value.
        value: BigUint,
        /// With a minus sign.
        negative: bool,
    },
    /// `1.5`, `-0.5`.
    Real {
        /// The digits, as in [`ExprKind::Real`].
        digits: Arc<str>,
        /// With a minus sign.
        negative: bool,
    },
    /// `5u8`, `-128i8`.
    Suffixed {
        /// The digits, as in [`ExprKind::Suffixed`].
        digits: Arc<str>,
        /// The suffix.
        suffix: &'static str,
        /// With a minus sign.
        negative: bool,
    },
    /// `'a'`.
    Char(char),
    /// `"text"`.
    Str(Arc<str>),
    /// `true`, `false`.
    Bool(bool),
    /// `` `1:3 ``.
    Tick(BigUint, TypeExpr),
    /// `()`, `(p, q)`.
    Tuple(Vec<Pattern>),
    /// `(p\, q)`.
    CompactTuple(Vec<Pattern>),
    /// `..r`, `.._`: the components that follow, last in a tuple.
    Rest(Option<Name>),
    /// `(a = p, b = q)`.
    Record(Vec<(Name, Pattern)>),
    /// `(a = p \, b = q)`
    CompactRecord(Vec<(Name, Pattern)>),
    /// `case n` (`None`) or `case n p`.
    Case(BigUint, Option<Box<Pattern>>),
    /// `case i p`: any case of a coarray, patterns for its index and its argument.
    Coarray(Box<Pattern>, Box<Pattern>),
    /// `Some p`.
    Constructor(Name, Box<Pattern>),
    /// `1..5`, `'a'..<'z'`: the ends are literals.
    Range {
        /// First.
        low: Box<Pattern>,
        /// Last, or one past the last.
        high: Box<Pattern>,
        /// `..` rather than `..<`.
        inclusive: bool,
    },
    /// `p | q`.
    Or(Vec<Pattern>),
    /// `p as x`.
    As(Box<Pattern>, Name),
    /// Unreadable; an error has been reported.
    Error,
}

/// A written type.
#[derive(Clone, Debug)]
pub struct TypeExpr {
    /// The form.
    pub kind: TypeExprKind,
    /// The span in the source text.
    pub span: Span,
}

/// The forms of types.
#[derive(Clone, Debug)]
pub enum TypeExprKind {
    /// `3`; `()` is read as `1`.
    Number(BigUint),
    /// `int`, `N`, `option[int]`.
    Name(Name, Vec<TypeExpr>),
    /// `narrow(V, W)`: a type function applied.
    Call(Name, Vec<TypeExpr>),
    /// `A * B * C`.
    Product(Vec<TypeExpr>),
    /// `A + B + C`.
    Sum(Vec<TypeExpr>),
    /// `T ^ I`.
    Array(Box<TypeExpr>, Box<TypeExpr>),
    /// `A \* B`.
    CompactProduct(Vec<TypeExpr>),
    /// `A \+ B`.
    CompactSum(Vec<TypeExpr>),
    /// `A \^ B`.
    CompactPower(Box<TypeExpr>, Box<TypeExpr>),
    /// `n *+ T`.
    Repeat(Box<TypeExpr>, Box<TypeExpr>),
    /// `D -> C`.
    Function(Box<TypeExpr>, Box<TypeExpr>),
    /// `(a:A, b:B)`.
    Record(Vec<(Name, TypeExpr)>),
    /// `(a:A \, b:B)`
    CompactRecord(Vec<(Name, TypeExpr)>),
    /// `?N`: opens a size known when the program runs.
    Open(Name),
    /// `..R`: the components that follow, or their product.
    Rest(Name),
    /// `_`: to be inferred.
    Hole,
    /// `typematch T with | p => R endmatch`, `typematch (V, W) with | (p, q) => R endmatch`.
    TypeMatch(Vec<TypeExpr>, Vec<TypeArm>),
    /// `error "…"` as the result of a type function: no result, with the author's message.
    Refusal(Arc<str>),
    /// Unreadable; an error has been reported.
    Error,
}

/// One arm of a `typematch`.
#[derive(Clone, Debug)]
pub struct TypeArm {
    /// One pattern, or several in parentheses.
    pub patterns: Vec<TypeExpr>,
    /// The span of the patterns.
    pub span: Span,
    /// The result.
    pub result: TypeExpr,
}

/// `fun`, `proc` or a lambda: parameters, result and body.
#[derive(Clone, Debug)]
pub struct Function {
    /// `proc` rather than `fun`.
    pub is_proc: bool,
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
            StmtKind::Function { doc, .. } | StmtKind::Kind { doc, .. } => Some(doc),
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

/// `import target as alias (names);`
#[derive(Clone, Debug)]
pub struct Import {
    /// The imported module.
    pub target: ImportTarget,
    /// The name of the module here.
    pub alias: Option<Name>,
    /// The names accessible without the module's name.
    pub names: ImportNames,
}

impl Import {
    /// Returns the name of the module here: its alias, or the name of the file or library part. The
    /// name of a file may not be an identifier.
    pub fn module_name(&self) -> Name {
        match (&self.alias, &self.target) {
            (Some(alias), _) => alias.clone(),
            (None, ImportTarget::Library(name)) => name.clone(),
            (None, ImportTarget::File { path, span }) => Name { text: stem(path).into(), span: *span },
        }
    }
}

/// Returns the name of a file without folders and `.flx`.
pub fn stem(path: &str) -> &str {
    let file = path.rsplit(['/', '\\']).next().unwrap_or(path);
    file.strip_suffix(".flx").unwrap_or(file)
}

/// The target of an `import`.
#[derive(Clone, Debug)]
pub enum ImportTarget {
    /// A file.
    File {
        /// The path, its escapes resolved.
        path: Arc<str>,
        /// The span of the string.
        span: Span,
    },
    /// A part of the standard library.
    Library(Name),
}

impl ImportTarget {
    /// Returns the span of the target.
    pub fn span(&self) -> Span {
        match self {
            ImportTarget::File { span, .. } => *span,
            ImportTarget::Library(name) => name.span,
        }
    }
}

/// The names of a module that an `import` makes accessible without the module's name.
#[derive(Clone, Debug)]
pub enum ImportNames {
    /// None.
    Qualified,
    /// `(area, Point)`.
    Listed(Vec<Name>),
    /// `(*)`.
    All {
        /// The span of the star.
        span: Span,
    },
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
    Signature(Name, Generics, TypeExpr),
    /// `fun name(x:T):T => …;`: a default.
    Default(Stmt),
    /// `law name(x:T, y:T) => e;`.
    Law(Name, Vec<Param>, Expr),
}

impl Function {
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
