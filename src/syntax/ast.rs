//! The tree: what a Felis program says, before anything is known about its meaning.
//!
//! Every node carries its span. Names are unresolved, types are written forms ([`TypeExpr`]), and
//! sugar is kept as far as the printer needs it to give the text back.

use crate::source::Span;
use num_bigint::BigUint;
use std::sync::Arc;

/// An identifier where it stands.
#[derive(Clone, Debug)]
pub struct Name {
    /// The identifier.
    pub text: Arc<str>,
    /// Where it stands.
    pub span: Span,
}

/// An expression.
#[derive(Clone, Debug)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Where it stands.
    pub span: Span,
}

/// The forms of expressions, `LANGUAGE.md` section 4.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// `42`, `010` (ten), `0xff`, `0b101`, `1_000`.
    Int(BigUint),
    /// `1.5`, `1e-3`: the digits as written but for `_`, since each float type rounds them its own way.
    Real(Arc<str>),
    /// `5u8`, `2.5f32`, `5n`: the digits as written but for `_`, and the suffix.
    Suffixed(Arc<str>, &'static str),
    /// `'a'` with its escape resolved.
    Char(char),
    /// `"text"` with its escapes resolved.
    Str(Arc<str>),
    /// `f"… {x:8.3} …"`: the text at the beginning, and values with the texts after them.
    Interpolated(Arc<str>, Vec<Interpolation>),
    /// `true`, `false`.
    Bool(bool),
    /// A name.
    Name(Name),
    /// `f[T, 3]`: type arguments given.
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
        /// Its argument.
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
    /// `(...r, a = 1)`: fields, and records (without a name) whose fields stand here.
    Spread(Vec<(Option<Name>, Expr)>),
    /// `r with (a = 1)`.
    Update(Box<Expr>, Vec<(Name, Expr)>),
    /// `(1, 2, b = 3)`: what a function is given, by place and by name.
    Arguments(Vec<Expr>, Vec<(Name, Expr)>),
    /// `[a, b, c]`: an array literal, of length 1 too.
    Array(Vec<Expr>),
    /// `[ e for p in i, q in j if c ]`.
    Comprehension {
        /// One element.
        body: Box<Expr>,
        /// The clauses, outermost first.
        clauses: Vec<(Pattern, Expr)>,
        /// Which elements there are.
        guard: Option<Box<Expr>>,
    },
    /// `..[I]`: all values of `I`.
    AllOf(TypeExpr),
    /// `_` as a key, or as a part of one: all of an axis.
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
    /// `..i` or `..<i`: the values of the type of `i` up to it. Only a loop walks it.
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
        /// How it was written.
        form: ApplyForm,
    },
    /// `x.f`, `x.1`, `x.(i\,j)`: projection, indexing or application, by what the key is.
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
        /// The result when none holds.
        otherwise: Box<Expr>,
    },
    /// `match e with | p => a | q when c => b endmatch`.
    Match {
        /// What is matched.
        scrutinee: Box<Expr>,
        /// The arms in order.
        arms: Vec<Arm<Expr>>,
    },
    /// `fun (x:T):R => e`, `fun (x:T) { … }`, `proc (x:T) { … }`.
    Lambda(Box<Function>),
    /// `{ …; e }`, and `let p = e in e`, which is a block with one `val`.
    Block {
        /// What comes first.
        stmts: Vec<Stmt>,
        /// The value.
        value: Box<Expr>,
    },
    /// `x :>> T`.
    Reshape(Box<Expr>, TypeExpr),
    /// `x :> T`.
    Convert(Box<Expr>, TypeExpr),
    /// What stands here could not be read; an error has been reported.
    Error,
}

/// A value in a text, `{x:8.3}`, and the text after it.
#[derive(Clone, Debug)]
pub struct Interpolation {
    /// The value.
    pub value: Expr,
    /// How many characters it takes at least.
    pub width: Option<usize>,
    /// How many digits stand after the point.
    pub places: Option<usize>,
    /// What follows.
    pub text: Arc<str>,
}

/// How an application was written.
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
    /// The operator as written.
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
    /// What must fit.
    pub pattern: Pattern,
    /// `when` condition.
    pub guard: Option<Expr>,
    /// The result.
    pub body: B,
}

/// A pattern.
#[derive(Clone, Debug)]
pub struct Pattern {
    /// What it is.
    pub kind: PatternKind,
    /// Where it stands.
    pub span: Span,
}

/// The forms of patterns.
#[derive(Clone, Debug)]
pub enum PatternKind {
    /// `_`
    Wild,
    /// A variable, or a constructor without argument: resolution decides.
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
    /// Could not be read; an error has been reported.
    Error,
}

/// A type as written.
#[derive(Clone, Debug)]
pub struct TypeExpr {
    /// What it is.
    pub kind: TypeExprKind,
    /// Where it stands.
    pub span: Span,
}

/// The forms of types, `LANGUAGE.md` section 1.
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
    /// `..R`: the components that follow, or the product of them.
    Rest(Name),
    /// `_`: to be inferred.
    Hole,
    /// `typematch T with | p => R endmatch`, `typematch (V, W) with | (p, q) => R endmatch`.
    TypeMatch(Vec<TypeExpr>, Vec<TypeArm>),
    /// `error "…"`, as what a type function gives: that it gives nothing, in the author's words.
    Refusal(Arc<str>),
    /// Could not be read; an error has been reported.
    Error,
}

/// One arm of a `typematch`.
#[derive(Clone, Debug)]
pub struct TypeArm {
    /// One pattern, or as many as stand between the parentheses.
    pub patterns: Vec<TypeExpr>,
    /// Where they stand.
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

/// What a function does.
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
    /// Its name, or a pattern in parentheses that always fits.
    pub pattern: Pattern,
    /// Its type.
    pub ty: Option<TypeExpr>,
    /// What it is where a call leaves it out.
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
    /// Its name.
    pub name: Name,
    /// `:KIND`; `TYPE` when left out.
    pub kind: Option<Name>,
    /// Whether the header says `..R` of it.
    pub rest: bool,
}

/// A statement.
#[derive(Clone, Debug)]
pub struct Stmt {
    /// What it is.
    pub kind: StmtKind,
    /// Where it stands.
    pub span: Span,
}

/// The forms of statements.
#[derive(Clone, Debug)]
pub enum StmtKind {
    /// `var x : T = e;`, `val (a, b) = e;`.
    Let {
        /// `var` rather than `val`.
        mutable: bool,
        /// What is bound.
        pattern: Pattern,
        /// Its type.
        ty: Option<TypeExpr>,
        /// Its value.
        init: Expr,
    },
    /// `fun f …`, `proc p …`.
    Function {
        /// Its name.
        name: Name,
        /// The rest.
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
        /// Its name.
        name: Name,
        /// Its parameters.
        params: Vec<TypeParam>,
        /// The kind of its result.
        kind: Option<Name>,
        /// Its meaning.
        body: TypeExpr,
    },
    /// `kind VIS = public | private | secret;`.
    Kind {
        /// Its name.
        name: Name,
        /// Its members in order.
        members: Vec<Name>,
        /// The `///` comment before it.
        doc: Option<Arc<str>>,
    },
    /// `type Cipher[T, I:COMPACTLINEAR] layout I = T ^ I;`: an abstract type.
    Abstract {
        /// Its name and parameters.
        decl: TypeDecl,
        /// The parameters that it is functorial in.
        layout: Vec<Name>,
        /// How its values are stored.
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
        /// Its arguments.
        args: Vec<TypeExpr>,
        /// Definitions.
        members: Vec<Stmt>,
        /// `error "…"` in place of definitions: that there is none, in the author's words.
        refusal: Option<Name>,
    },
    /// `require N == 3 \* K;`.
    Require(TypeExpr, TypeExpr),
    /// `test "name" { … }` or `bench "name" { … }`: a procedure that nothing calls but a run of tests, or
    /// one that takes the time.
    Test {
        /// It is timed, and no test.
        bench: bool,
        /// Its name, and where it stands.
        title: Name,
        /// A procedure without parameters.
        function: Box<Function>,
    },
    /// `import "geometry.flx" as g (area);`
    Import(Import),
    /// `export fun f …`: a definition that importers see.
    Export(Box<Stmt>),
    /// `e;` for its effect.
    Expr(Expr),
    /// `e` without a `;` before a `}`: the value of a block. Elsewhere it has been reported.
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
        /// The block when none holds.
        otherwise: Option<Vec<Stmt>>,
    },
    /// `match e do | p => … done`.
    Match {
        /// What is matched.
        scrutinee: Expr,
        /// The arms in order.
        arms: Vec<Arm<Vec<Stmt>>>,
    },
    /// `for p in e do … done`, `for p in e perform s`.
    For {
        /// What each element is bound to.
        pattern: Pattern,
        /// What is walked.
        iterable: Expr,
        /// What is done.
        body: Vec<Stmt>,
    },
    /// `while c do … done`, `while c perform s`.
    While {
        /// The condition.
        condition: Expr,
        /// What is done.
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
    /// Could not be read; an error has been reported.
    Error,
}

impl StmtKind {
    /// The place of the `///` comment of a definition.
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
    /// The module and the name in it, of `geometry::area`.
    pub fn qualified(&self) -> Option<(&str, &str)> {
        self.text.split_once("::")
    }
}

/// `import target as alias (names);`
#[derive(Clone, Debug)]
pub struct Import {
    /// What is imported.
    pub target: ImportTarget,
    /// What the module is called here.
    pub alias: Option<Name>,
    /// What can be said without the module's name.
    pub names: ImportNames,
}

impl Import {
    /// What the module is called here: by its alias, else after what is imported. What a file is called may be no
    /// name.
    pub fn module_name(&self) -> Name {
        match (&self.alias, &self.target) {
            (Some(alias), _) => alias.clone(),
            (None, ImportTarget::Library(name)) => name.clone(),
            (None, ImportTarget::File { path, span }) => Name { text: stem(path).into(), span: *span },
        }
    }
}

/// The name of a file without folders and `.flx`.
pub fn stem(path: &str) -> &str {
    let file = path.rsplit(['/', '\\']).next().unwrap_or(path);
    file.strip_suffix(".flx").unwrap_or(file)
}

/// What an `import` names.
#[derive(Clone, Debug)]
pub enum ImportTarget {
    /// A file.
    File {
        /// As written, its escapes resolved.
        path: Arc<str>,
        /// Where the string stands.
        span: Span,
    },
    /// A part of the standard library.
    Library(Name),
}

impl ImportTarget {
    /// Where it is written.
    pub fn span(&self) -> Span {
        match self {
            ImportTarget::File { span, .. } => *span,
            ImportTarget::Library(name) => name.span,
        }
    }
}

/// Which names of a module an `import` makes known without the module's name.
#[derive(Clone, Debug)]
pub enum ImportNames {
    /// None.
    Qualified,
    /// `(area, Point)`.
    Listed(Vec<Name>),
    /// `(*)`.
    All {
        /// Where the star stands.
        span: Span,
    },
}

/// Name and parameters of a declared type or class.
#[derive(Clone, Debug)]
pub struct TypeDecl {
    /// Its name.
    pub name: Name,
    /// Its parameters.
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

impl TypeExpr {
    /// Visits the types it is written with, left to right.
    pub fn for_each_child(&self, f: &mut dyn FnMut(&TypeExpr)) {
        use TypeExprKind as T;
        match &self.kind {
            T::Number(_) | T::Open(_) | T::Rest(_) | T::Hole | T::Refusal(_) | T::Error => {}
            T::Name(_, parts)
            | T::Call(_, parts)
            | T::Product(parts)
            | T::Sum(parts)
            | T::CompactProduct(parts)
            | T::CompactSum(parts) => {
                parts.iter().for_each(f);
            }
            T::Array(a, b) | T::CompactPower(a, b) | T::Repeat(a, b) | T::Function(a, b) => {
                f(a);
                f(b);
            }
            T::Record(fields) | T::CompactRecord(fields) => fields.iter().for_each(|(_, ty)| f(ty)),
            T::TypeMatch(subjects, arms) => {
                subjects.iter().for_each(&mut *f);
                arms.iter().for_each(|arm| {
                    arm.patterns.iter().for_each(&mut *f);
                    f(&arm.result);
                });
            }
        }
    }
}

impl Pattern {
    /// Visits the types written in it, left to right.
    pub fn for_each_type(&self, f: &mut dyn FnMut(&TypeExpr)) {
        use PatternKind as P;
        match &self.kind {
            P::Typed(inner, ty) => {
                f(ty);
                inner.for_each_type(f);
            }
            P::Tuple(parts) | P::CompactTuple(parts) => parts.iter().for_each(|part| part.for_each_type(f)),
            P::Record(fields) | P::CompactRecord(fields) => {
                fields.iter().for_each(|(_, part)| part.for_each_type(f))
            }
            P::Case(_, Some(inner)) | P::Constructor(_, inner) | P::As(inner, _) => inner.for_each_type(f),
            _ => {}
        }
    }
}

impl Function {
    /// Marks the type parameters of which the header says `..R`.
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
    /// Marks the parameters of which the constraints, or one of these types, say `..R`.
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
