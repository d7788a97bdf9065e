//! Random trees of the forms that the parser makes.

use super::trees::Dice;
use felis_base::source::Span;
use felis_syntax::syntax::ast::*;

const NAMES: &[&str] = &["x", "y", "f", "g", "N", "row_sum", "a'", "_k", "Some", "int"];
const OPERATORS: &[&str] = &["+", "-", "*", "/", "%", "**", "==", "!=", "<", "<=", ">", ">=", "!"];

/// A generator of random trees of the forms that the parser makes.
pub struct TreeGenerator {
    pub dice: Dice,
}

impl TreeGenerator {
    fn many<T>(&mut self, least: usize, most: usize, mut one: impl FnMut(&mut TreeGenerator) -> T) -> Vec<T> {
        let count = least + self.dice.roll(most - least + 1);
        (0..count).map(|_| one(self)).collect()
    }

    fn maybe<T>(&mut self, one: impl FnOnce(&mut TreeGenerator) -> T) -> Option<T> {
        self.dice.coin().then(|| one(self))
    }

    fn name(&mut self) -> Name {
        let text = NAMES[self.dice.roll(NAMES.len())];
        Name { text: text.into(), span: Span::default() }
    }

    /// Returns a name at a use, sometimes one of a module.
    fn path(&mut self) -> Name {
        match self.dice.roll(4) {
            0 => Name {
                text: format!("{}::{}", self.name().text, self.name().text).into(),
                span: Span::default(),
            },
            _ => self.name(),
        }
    }

    fn number(&mut self) -> num_bigint::BigUint {
        let small = self.dice.roll(20) as u32;
        if self.dice.roll(10) == 0 { num_bigint::BigUint::from(7u32).pow(60) + small } else { small.into() }
    }

    fn real(&mut self) -> std::sync::Arc<str> {
        ["0.0", "1.50", "1e-7", "1E+22", "0.1", "123456.789"][self.dice.roll(6)].into()
    }

    fn suffixed(&mut self) -> (std::sync::Arc<str>, &'static str) {
        let (digits, suffix) =
            [("5", "i8"), ("0xff", "u8"), ("1.5e-3", "f32"), ("2", "f64"), ("0b101", "n")][self.dice.roll(5)];
        (digits.into(), suffix)
    }

    fn character(&mut self) -> char {
        ['a', '\'', '"', '\\', '\n', '\0', 'é', '\u{7}', '😀'][self.dice.roll(9)]
    }

    fn string(&mut self) -> std::sync::Arc<str> {
        ["", "a b", "\"q\" \\ \n\t\r\0", "é…\u{7}", "// no /* comment"][self.dice.roll(5)].into()
    }

    fn ty(&mut self, depth: u32) -> TypeExpr {
        use TypeExprKind::*;
        let deeper = depth.saturating_sub(1);
        let one = |g: &mut TreeGenerator| Box::new(g.ty(deeper));
        let kind = match self.dice.roll(if depth == 0 { 4 } else { 17 }) {
            0 => Number(self.number()),
            1 => Name(self.path(), Vec::new()),
            2 => Open(self.name()),
            3 => Hole,
            4 => Name(self.path(), self.many(1, 2, |g| g.ty(deeper))),
            5 => Product(self.many(2, 3, |g| g.ty(deeper))),
            6 => Sum(self.many(2, 3, |g| g.ty(deeper))),
            7 => Array(one(self), one(self)),
            8 => CompactProduct(self.many(2, 3, |g| g.ty(deeper))),
            9 => CompactSum(self.many(2, 3, |g| g.ty(deeper))),
            10 => CompactPower(one(self), one(self)),
            11 => Repeat(one(self), one(self)),
            12 => Function(one(self), one(self)),
            13 if self.dice.coin() => CompactRecord(self.many(2, 3, |g| (g.name(), g.ty(deeper)))),
            13 => Record(self.many(1, 2, |g| (g.name(), g.ty(deeper)))),
            14 if self.dice.coin() => Rest(self.name()),
            14 => Call(self.path(), self.many(0, 2, |g| g.ty(deeper))),
            15 => Refusal(self.string()),
            _ => {
                let subjects = self.many(1, 2, |g| g.ty(deeper));
                let arms = self.many(1, 2, |g| TypeArm {
                    patterns: g.many(1, 2, |g| g.ty(deeper)),
                    span: Span::default(),
                    result: g.ty(deeper),
                });
                TypeMatch(subjects, arms)
            }
        };
        TypeExpr { kind, span: Span::default() }
    }

    fn pattern(&mut self, depth: u32) -> Pattern {
        use PatternKind::*;
        let deeper = depth.saturating_sub(1);
        let one = |g: &mut TreeGenerator| Box::new(g.pattern(deeper));
        let kind = match self.dice.roll(if depth == 0 { 9 } else { 18 }) {
            16 => Or(self.many(2, 3, |g| g.pattern(deeper))),
            17 => {
                let end = |g: &mut TreeGenerator| {
                    let value = Int { value: g.number(), negative: g.dice.coin() };
                    Box::new(Pattern { kind: value, span: Span::default() })
                };
                Range { low: end(self), high: end(self), inclusive: self.dice.coin() }
            }
            7 => {
                let (digits, suffix) = self.suffixed();
                Suffixed { digits, suffix, negative: self.dice.coin() }
            }
            8 => Char(self.character()),
            0 => Wild,
            1 => Name(self.path()),
            2 => Int { value: self.number(), negative: self.dice.coin() },
            3 => Real { digits: self.real(), negative: self.dice.coin() },
            4 => Str(self.string()),
            5 => Bool(self.dice.coin()),
            6 => Tick(self.number(), self.ty(1)),
            14 => Typed(one(self), self.ty(deeper)),
            15 => Tuple(if self.dice.coin() { self.many(2, 3, |g| g.pattern(deeper)) } else { Vec::new() }),
            9 if self.dice.roll(4) == 0 => Rest(self.maybe(TreeGenerator::name)),
            9 => CompactTuple(self.many(2, 3, |g| g.pattern(deeper))),
            10 if self.dice.coin() => CompactRecord(self.many(2, 3, |g| (g.name(), g.pattern(deeper)))),
            10 => Record(self.many(1, 2, |g| (g.name(), g.pattern(deeper)))),
            11 => Case(self.number(), self.maybe(one)),
            12 => Constructor(self.path(), one(self)),
            _ => As(one(self), self.name()),
        };
        Pattern { kind, span: Span::default() }
    }

    /// Returns parts of a tuple, the last of them sometimes `..e`.
    fn with_rest(&mut self, depth: u32) -> Vec<Expr> {
        let mut parts = self.many(2, 3, |g| g.expr(depth));
        if let (true, Some(last)) = (self.dice.coin(), parts.pop()) {
            parts.push(self.at(ExprKind::Rest(Box::new(last.clone()))));
        } else {
            parts.push(self.expr(depth));
        }
        parts
    }

    fn key(&mut self, depth: u32) -> Expr {
        match self.dice.roll(3) {
            0 => self.at(ExprKind::Int(3u32.into())),
            1 => {
                let name = self.path();
                self.at(ExprKind::Name(name))
            }
            _ => self.expr(depth),
        }
    }

    fn at(&self, kind: ExprKind) -> Expr {
        Expr { kind, span: Span::default() }
    }

    fn param(&mut self, pattern: u32, depth: u32) -> Param {
        let (mut pattern, ty) = (self.pattern(pattern), self.maybe(|g| g.ty(depth)));
        // Parameters that end in a rest are read as one tuple.
        if let PatternKind::Rest(_) = pattern.kind {
            pattern.kind = PatternKind::Wild;
        }
        let default = if ty.is_some() { self.maybe(|g| g.expr(1)) } else { None };
        Param { pattern, ty, default }
    }

    fn expr(&mut self, depth: u32) -> Expr {
        use ExprKind::*;
        let deeper = depth.saturating_sub(1);
        let one = |g: &mut TreeGenerator| Box::new(g.expr(deeper));
        let kind = match self.dice.roll(if depth == 0 { 8 } else { 38 }) {
            36 => Block { stmts: self.many(1, 2, |g| g.stmt(deeper)), value: one(self) },
            37 => {
                // An expression inside a text contains no quotes.
                let hole = |g: &mut TreeGenerator| {
                    let name = g.name();
                    let (value, width) = (g.at(Name(name)), g.maybe(|g| g.dice.roll(20)));
                    let zeros = width.is_some() && g.dice.roll(2) == 0;
                    let places = g.maybe(|g| g.dice.roll(9));
                    Interpolation { value, width, zeros, places, text: g.string() }
                };
                let text = self.string();
                Interpolated(text, self.many(0, 2, hole))
            }
            34 => Inject { index: self.number(), arg: one(self) },
            6 => {
                let (digits, suffix) = self.suffixed();
                Suffixed(digits, suffix)
            }
            7 => Char(self.character()),
            0 => Int(self.number()),
            1 => Real(self.real()),
            2 => Str(self.string()),
            3 => Bool(self.dice.coin()),
            4 => Name(self.path()),
            5 => CaseOf { index: self.number(), ty: self.ty(1), tick: self.dice.coin() },
            35 => {
                let name = self.path();
                let name = self.at(Name(name));
                TypeArgs(Box::new(name), self.many(1, 2, |g| g.ty(deeper)))
            }
            8 => Proj { index: self.number(), ty: self.ty(deeper) },
            9 => Aproj { index: one(self), ty: self.ty(deeper) },
            10 => Tuple(if self.dice.coin() { self.with_rest(deeper) } else { Vec::new() }),
            11 => CompactTuple(self.with_rest(deeper)),
            12 => match self.dice.roll(4) {
                0 => {
                    let spread = (None, self.expr(deeper));
                    let mut parts = self.many(0, 2, |g| (g.maybe(TreeGenerator::name), g.expr(deeper)));
                    parts.push(spread);
                    Spread(parts)
                }
                1 => Update(one(self), self.many(1, 2, |g| (g.name(), g.expr(deeper)))),
                2 => {
                    let places = self.many(1, 2, |g| g.expr(deeper));
                    Arguments(places, self.many(1, 2, |g| (g.name(), g.expr(deeper))))
                }
                _ if self.dice.coin() => CompactRecord(self.many(2, 3, |g| (g.name(), g.expr(deeper)))),
                _ => Record(self.many(1, 2, |g| (g.name(), g.expr(deeper)))),
            },
            13 => Array(self.many(0, 3, |g| g.expr(deeper))),
            14 => Comprehension {
                body: one(self),
                clauses: self.many(1, 2, |g| (g.pattern(1), g.expr(deeper))),
                guard: self.maybe(|g| one(g)),
            },
            15 => AllOf(self.ty(deeper)),
            16 => IntRange { low: one(self), high: one(self), inclusive: self.dice.coin() },
            17 => {
                let unit = Box::new(self.at(Tuple(Vec::new())));
                Apply { function: one(self), argument: unit, form: ApplyForm::Hash }
            }
            18..=21 => {
                let form = [ApplyForm::Juxtaposed, ApplyForm::Dollar, ApplyForm::Pipe][self.dice.roll(3)];
                Apply { function: one(self), argument: one(self), form }
            }
            22 | 23 => Dot { base: one(self), key: Box::new(self.key(deeper)) },
            24 => Unary(UnaryOp::Neg, one(self)),
            25 => Unary(UnaryOp::Not, one(self)),
            26..=28 => Binary(self.binary(), one(self), one(self)),
            29 => If { arms: self.many(1, 2, |g| (g.expr(deeper), g.expr(deeper))), otherwise: one(self) },
            30 => Match {
                scrutinee: one(self),
                arms: self.many(1, 2, |g| Arm {
                    pattern: g.pattern(2),
                    guard: g.maybe(|g| g.expr(deeper)),
                    body: g.expr(deeper),
                }),
            },
            31 => Lambda(Box::new(self.function(deeper, Generics::default()))),
            32 => Reshape(one(self), self.ty(2)),
            _ => Convert(one(self), self.ty(2)),
        };
        self.at(kind)
    }

    fn binary(&mut self) -> BinaryOp {
        use BinaryOp::*;
        [Add, Sub, Mul, Div, Rem, Pow, Eq, Ne, Lt, Le, Gt, Ge, In, And, Or][self.dice.roll(15)]
    }

    fn function(&mut self, depth: u32, generics: Generics) -> Function {
        let body = if self.dice.coin() {
            Body::Expr(Box::new(self.expr(depth)))
        } else {
            Body::Block(self.many(0, 2, |g| g.stmt(depth)))
        };
        let mut function = Function {
            is_proc: self.dice.coin(),
            is_joint: false,
            generics,
            params: self.many(1, 2, |g| g.many(0, 2, |g| g.param(1, 2))),
            result: self.maybe(|g| g.ty(2)),
            body,
            header: Span::default(),
        };
        function.mark_rests();
        function
    }

    fn generics(&mut self) -> Generics {
        Generics {
            params: self.many(0, 2, TreeGenerator::type_param),
            constraints: self.many(0, 2, |g| (g.path(), g.many(0, 2, |g| g.ty(1)))),
        }
    }

    fn type_param(&mut self) -> TypeParam {
        TypeParam { name: self.name(), kind: self.maybe(TreeGenerator::path), rest: false }
    }

    fn decl(&mut self) -> TypeDecl {
        TypeDecl { name: self.name(), generics: self.generics(), doc: self.doc() }
    }

    fn doc(&mut self) -> Option<std::sync::Arc<str>> {
        self.maybe(|g| ["One line.", "Two\n\n lines.", "/slash"][g.dice.roll(3)].into())
    }

    fn definition(&mut self, depth: u32) -> Stmt {
        let name = match self.dice.roll(3) {
            0 => Name { text: OPERATORS[self.dice.roll(OPERATORS.len())].into(), span: Span::default() },
            _ => self.name(),
        };
        let generics = self.generics();
        let (function, doc) = (Box::new(self.function(depth, generics)), self.doc());
        Stmt { kind: StmtKind::Function { name, function, doc }, span: Span::default() }
    }

    fn import(&mut self) -> Import {
        let span = Span::default();
        let path = self.string();
        Import {
            target: match self.dice.coin() {
                true => ImportTarget::File { path, span },
                false => ImportTarget::Library(self.name()),
            },
            alias: self.maybe(TreeGenerator::name),
            names: match self.dice.roll(3) {
                0 => ImportNames::Qualified,
                1 => ImportNames::All { span },
                _ => ImportNames::Listed(self.many(1, 3, TreeGenerator::name)),
            },
        }
    }

    pub fn stmt(&mut self, depth: u32) -> Stmt {
        use StmtKind::*;
        let deeper = depth.saturating_sub(1);
        let block = |g: &mut TreeGenerator| g.many(0, 2, |g| g.stmt(deeper));
        let kind = match self.dice.roll(if depth == 0 { 8 } else { 24 }) {
            0 => Let {
                mutable: self.dice.coin(),
                pattern: self.pattern(2),
                ty: self.maybe(|g| g.ty(2)),
                init: self.expr(deeper),
            },
            1 => Expr(self.expr(deeper)),
            2 => {
                use BinaryOp::*;
                let op = self.maybe(|g| [Add, Sub, Mul, Div, Rem, Pow][g.dice.roll(6)]);
                Assign { name: self.name(), op, value: self.expr(deeper) }
            }
            3 => {
                use BinaryOp::*;
                let op = self.maybe(|g| [Add, Sub, Mul, Div, Rem, Pow][g.dice.roll(6)]);
                Store { place: self.expr(deeper), op, value: self.expr(deeper) }
            }
            4 => Break,
            5 => Continue,
            6 => Return(self.maybe(|g| g.expr(deeper))),
            7 => Require(self.ty(2), self.ty(2)),
            8 => return self.definition(deeper),
            9 => Typedef(self.decl(), self.ty(deeper)),
            10 => Newtype(self.decl(), self.ty(deeper)),
            11 => Struct(self.decl(), self.many(0, 2, |g| (g.name(), g.ty(2)))),
            12 => Variant(self.decl(), self.many(1, 3, |g| (g.name(), g.maybe(|g| g.ty(2))))),
            13 => Typefun {
                name: self.name(),
                params: self.many(0, 2, TreeGenerator::type_param),
                kind: self.maybe(TreeGenerator::path),
                body: self.ty(deeper),
            },
            14 => Class(
                self.decl(),
                self.many(0, 3, |g| match g.dice.roll(3) {
                    0 => {
                        let (mut generics, ty) = (g.generics(), g.ty(2));
                        generics.mark_rests(&[&ty]);
                        let is_joint = g.dice.roll(4) == 0;
                        ClassMember::Signature { is_joint, name: g.name(), generics, ty }
                    }
                    1 => ClassMember::Default(g.definition(deeper)),
                    _ => {
                        let params = g.many(0, 2, |g| g.param(0, 1));
                        ClassMember::Law(g.name(), params, g.expr(deeper))
                    }
                }),
            ),
            15 => {
                let refusal = self.maybe(|g| Name { text: g.string(), ..g.name() });
                let (mut generics, args) = (self.generics(), self.many(0, 2, |g| g.ty(2)));
                generics.mark_rests(&args.iter().collect::<Vec<_>>());
                let class = self.path();
                let members = match refusal {
                    Some(_) => Vec::new(),
                    None => self.many(0, 2, |g| g.definition(deeper)),
                };
                Instance { generics, class, args, members, refusal }
            }
            20 => Kind { name: self.name(), members: self.many(1, 3, TreeGenerator::name), doc: self.doc() },
            21 => Abstract {
                decl: self.decl(),
                layout: self.many(0, 2, TreeGenerator::name),
                representation: self.maybe(|g| g.ty(2)),
            },
            16 => If { arms: self.many(1, 2, |g| (g.expr(deeper), block(g))), otherwise: self.maybe(block) },
            17 => Match {
                scrutinee: self.expr(deeper),
                arms: self.many(1, 2, |g| Arm {
                    pattern: g.pattern(2),
                    guard: g.maybe(|g| g.expr(deeper)),
                    body: block(g),
                }),
            },
            18 => {
                let high = Box::new(self.expr(deeper));
                let inclusive = self.dice.coin();
                let up_to = self.at(ExprKind::UpTo { high, inclusive });
                let iterable = if self.dice.coin() { up_to } else { self.expr(deeper) };
                For { pattern: self.pattern(1), iterable, body: block(self) }
            }
            19 => Import(self.import()),
            22 => {
                let stmt = self.stmt(deeper);
                match stmt.kind {
                    Let { .. } | Function { .. } | Typedef(..) | Variant(..) | Class(..) | Kind { .. } => {
                        Export(Box::new(stmt))
                    }
                    _ => return stmt,
                }
            }
            _ => match self.dice.roll(3) {
                0 => While { condition: self.expr(deeper), body: block(self) },
                1 => Block(block(self)),
                _ => Test {
                    bench: self.dice.roll(2) == 0,
                    title: ast_name(self.string()),
                    function: Box::new(felis_syntax::syntax::ast::Function {
                        is_proc: true,
                        is_joint: false,
                        generics: Generics::default(),
                        params: vec![Vec::new()],
                        result: None,
                        body: Body::Block(block(self)),
                        header: Span::default(),
                    }),
                },
            },
        };
        Stmt { kind, span: Span::default() }
    }
}

fn ast_name(text: std::sync::Arc<str>) -> Name {
    Name { text, span: Span::default() }
}
