//! Reads the array IR from text, as [`super::print::program`] writes it: for golden files of the
//! passes and for tests.
//!
//! By recursive descent over words and signs; the grammar is at the head of [`super`]. Gives a
//! program without looking whether it is valid, which is [`super::validate`]'s work, or an error
//! with the number of the line.

use super::mnemonics::Mnemonic;
use super::{
    Binary, Block, Cast, Combine, CombineAt, Compare, Digit, DigitExpr, Effect, Element, End, Function,
    FunctionId, Grouping, Io, Label, MAX_BOUND, MAX_SIZE_VARIABLES, Op, Prim, Program, Range, ScalarFunction,
    Site, SiteId, SiteKind, Size, SizeAtom, SizeVar, Space, Stmt, Type, Unary, Value,
};
use crate::id::Id;
use crate::source::{SourceId, Span};
use std::sync::Arc;

/// Blocks, types and digits inside each other, at most.
const MAX_DEPTH: u32 = 200;

/// The largest exponent of a size.
const MAX_POWER: u32 = 64;

type Result<T> = std::result::Result<T, String>;

/// The program that a text describes.
///
/// # Errors
/// A sentence on the first mistake, with the number of the line.
pub fn program(text: &str) -> Result<Program> {
    let mut parser = Parser { words: words(text), at: 0, depth: 0 };
    let mut program = Program::default();
    while let Some(word) = parser.peek() {
        let known = match word {
            "site" => parser.site(&mut program),
            "fun" => parser.function(&mut program),
            other => Err(format!("`site` or `fun` is expected in place of `{other}`")),
        };
        known.map_err(|why| format!("line {}: {why}", parser.line()))?;
    }
    Ok(program)
}

/// A word or sign with the number of its line.
struct Word<'t> {
    text: &'t str,
    line: usize,
}

/// The words and signs of a text.
fn words(text: &str) -> Vec<Word<'_>> {
    let mut words = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let mut rest = line.split('#').next().unwrap_or_default().trim_start();
        while let Some(first) = rest.chars().next() {
            let of_word = |c: char| c.is_alphanumeric() || "_?@.-".contains(c);
            let end = match first {
                '-' if rest.starts_with("->") => 2,
                c if of_word(c) => rest.find(|c| !of_word(c)).unwrap_or(rest.len()),
                c => c.len_utf8(),
            };
            words.push(Word { text: &rest[..end], line: number + 1 });
            rest = rest[end..].trim_start();
        }
    }
    words
}

struct Parser<'t> {
    words: Vec<Word<'t>>,
    at: usize,
    depth: u32,
}

/// The number behind a prefix, such as that of `v3`.
fn numbered(word: &str, prefix: &str) -> Option<u32> {
    let digits = word.strip_prefix(prefix)?;
    digits.parse().ok().filter(|_| digits.bytes().all(|byte| byte.is_ascii_digit()))
}

impl<'t> Parser<'t> {
    /// The line of the last word that was read.
    fn line(&self) -> usize {
        let at = self.at.saturating_sub(1).min(self.words.len().saturating_sub(1));
        self.words.get(at).map_or(1, |word| word.line)
    }

    fn peek(&self) -> Option<&'t str> {
        self.words.get(self.at).map(|word| word.text)
    }

    fn next(&mut self) -> Result<&'t str> {
        let word = self.peek().ok_or("the text ends too early")?;
        self.at += 1;
        Ok(word)
    }

    fn take(&mut self, word: &str) -> bool {
        let found = self.peek() == Some(word);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, word: &str) -> Result<()> {
        let found = self.next()?;
        if found == word { Ok(()) } else { Err(format!("`{word}` is expected in place of `{found}`")) }
    }

    /// Reads what is inside something else.
    fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.depth == MAX_DEPTH {
            return Err(format!("nested more than {MAX_DEPTH} deep"));
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    fn id<I: Id>(&mut self, prefix: &str) -> Result<I> {
        let word = self.next()?;
        let number = numbered(word, prefix);
        number
            .map(|number| I::new(number as usize))
            .ok_or_else(|| format!("`{prefix}` with a number is expected in place of `{word}`"))
    }

    fn value(&mut self) -> Result<Value> {
        self.id(Value::PREFIX)
    }

    fn site_id(&mut self) -> Result<SiteId> {
        self.id(SiteId::PREFIX)
    }

    fn size_var(&mut self) -> Result<SizeVar> {
        let var: SizeVar = self.id(SizeVar::PREFIX)?;
        if var.0 < MAX_SIZE_VARIABLES {
            Ok(var)
        } else {
            Err(format!("{var} is beyond n{MAX_SIZE_VARIABLES}"))
        }
    }

    fn number<N: std::str::FromStr>(&mut self) -> Result<N> {
        let word = self.next()?;
        word.parse().map_err(|_| format!("a number is expected in place of `{word}`"))
    }

    fn mnemonic<M: Mnemonic>(&mut self, what: &str) -> Result<M> {
        let word = self.next()?;
        M::from_mnemonic(word).ok_or_else(|| format!("`{word}` is no {what}"))
    }

    /// Values up to the first other word, or to the value that the next statement defines.
    fn values(&mut self) -> Result<Vec<Value>> {
        let mut values = Vec::new();
        while self.peek().is_some_and(|word| numbered(word, Value::PREFIX).is_some())
            && self.words.get(self.at + 1).is_none_or(|word| word.text != ":")
        {
            values.push(self.value()?);
        }
        Ok(values)
    }

    /// Items with commas between, up to a sign.
    fn list<T>(&mut self, end: &str, mut item: impl FnMut(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        let mut items = Vec::new();
        while !self.take(end) {
            if !items.is_empty() {
                self.expect(",")?;
            }
            items.push(item(self)?);
        }
        Ok(items)
    }

    fn site(&mut self, program: &mut Program) -> Result<()> {
        self.expect("site")?;
        let id = self.site_id()?;
        if id.index() != program.sites.len() {
            return Err("sites are numbered in order".into());
        }
        self.expect(":")?;
        let kind: SiteKind = self.mnemonic("kind of failure")?;
        let span = self.span()?;
        let mut calls = Vec::new();
        while self.take("from") {
            calls.push(self.span()?);
        }
        program.sites.push(Site { kind, span, calls });
        Ok(())
    }

    fn span(&mut self) -> Result<Span> {
        let start = self.number()?;
        self.expect("to")?;
        let end = self.number()?;
        self.expect("in")?;
        Ok(Span { source: SourceId(self.number()?), start, end })
    }

    /// The number of variables that a function changes.
    fn changes(&mut self) -> Result<usize> {
        if self.peek() != Some("changing") {
            return Ok(0);
        }
        self.next()?;
        self.number()
    }

    fn function(&mut self, program: &mut Program) -> Result<()> {
        self.expect("fun")?;
        let id: FunctionId = self.id(FunctionId::PREFIX)?;
        if id.index() != program.functions.len() {
            return Err("functions are numbered in order".into());
        }
        let name = self.next()?.into();
        self.expect("[")?;
        let sizes = self.list("]", |this| {
            let var = this.size_var()?;
            this.expect(":")?;
            Ok((var, this.next()?.into()))
        })?;
        let params = self.params()?;
        self.expect("->")?;
        let result = self.ty()?;
        self.expect(",")?;
        let effect: Effect = self.mnemonic("effect")?;
        let changes = self.changes()?;
        let body = self.block(params)?;
        program.functions.push(Function { name, sizes, result, effect, changes, body });
        Ok(())
    }

    fn params(&mut self) -> Result<Vec<(Value, Type)>> {
        self.expect("(")?;
        self.list(")", |this| {
            let value = this.value()?;
            this.expect(":")?;
            Ok((value, this.ty()?))
        })
    }

    /// Parameters and a block.
    fn body(&mut self) -> Result<Block> {
        let params = self.params()?;
        self.block(params)
    }

    fn block(&mut self, params: Vec<(Value, Type)>) -> Result<Block> {
        self.nested(|this| {
            this.expect("{")?;
            let mut stmts = Vec::new();
            let end = loop {
                match this.peek() {
                    Some("yield") => {
                        this.next()?;
                        break End::Yield(this.value()?);
                    }
                    Some("next") => {
                        this.next()?;
                        break End::Next(this.id(Label::PREFIX)?, this.value()?);
                    }
                    Some("exit") => {
                        this.next()?;
                        break End::Exit(this.id(Label::PREFIX)?, this.value()?);
                    }
                    _ => {
                        let value = this.value()?;
                        this.expect(":")?;
                        let ty = this.ty()?;
                        this.expect("=")?;
                        let op = this.op(&ty)?;
                        stmts.push(Stmt { value, ty, op });
                    }
                }
            };
            this.expect("}")?;
            Ok(Block { params, stmts, end })
        })
    }

    fn ty(&mut self) -> Result<Type> {
        self.nested(|this| {
            if this.peek() == Some("[") {
                let space = this.space()?;
                return Ok(Type::array(space, this.ty()?));
            }
            Ok(match this.next()? {
                "idx" => Type::Index(this.space()?),
                "(" => {
                    let mut types = Vec::new();
                    while !this.take(")") {
                        types.push(this.ty()?);
                        if this.take(")") {
                            break;
                        }
                        this.expect(",")?;
                    }
                    Type::Tuple(types)
                }
                "sum" => {
                    this.expect("(")?;
                    Type::Sum(this.list(")", Self::ty)?)
                }
                "some" => Type::Exists(this.number()?, Arc::new(this.ty()?)),
                word => Type::Element(
                    Element::from_mnemonic(word).ok_or_else(|| format!("`{word}` begins no type"))?,
                ),
            })
        })
    }

    fn space(&mut self) -> Result<Space> {
        self.expect("[")?;
        let digits = self.list("]", |this| {
            let mut pieces = vec![this.size()?];
            while this.take("|") {
                pieces.push(this.size()?);
            }
            Ok(Digit { pieces: pieces.into() })
        })?;
        Ok(Space { digits })
    }

    fn size(&mut self) -> Result<Size> {
        let mut sum = self.term()?;
        while self.take("+") {
            sum = sum.add(&self.term()?).ok_or(LARGE_SIZE)?;
        }
        Ok(sum)
    }

    fn term(&mut self) -> Result<Size> {
        let mut product = self.factor()?;
        while self.take("*") {
            product = product.mul(&self.factor()?).ok_or(LARGE_SIZE)?;
        }
        Ok(product)
    }

    fn factor(&mut self) -> Result<Size> {
        let word = self.next()?;
        let atom = if let Some(position) = numbered(word, "?") {
            SizeAtom::Bound(Some(position).filter(|at| *at < MAX_BOUND).ok_or("no such bound size")?)
        } else if word.starts_with(SizeVar::PREFIX) {
            self.at -= 1;
            SizeAtom::Var(self.size_var()?)
        } else {
            let number = word.parse().map_err(|_| format!("a size is expected in place of `{word}`"))?;
            return Ok(Size::constant(number));
        };
        let mut power = 1;
        if self.take("^") {
            power = self.number()?;
            if power > MAX_POWER {
                return Err(LARGE_SIZE.into());
            }
        }
        let base = Size::atom(atom);
        (0..power).try_fold(Size::constant(1), |product, _| product.mul(&base).ok_or(LARGE_SIZE.into()))
    }

    fn digit(&mut self) -> Result<DigitExpr> {
        self.nested(|this| {
            let word = this.next()?;
            if let Some(digit) = numbered(word, "d") {
                return Ok(DigitExpr::Target(digit));
            }
            if let Some((value, digit)) = word.split_once('.')
                && let Some(value) = numbered(value, Value::PREFIX)
                && let Some(digit) = numbered(digit, "")
            {
                return Ok(DigitExpr::Of(Value(value), digit));
            }
            if word == "const" {
                return Ok(DigitExpr::Constant(this.size()?));
            }
            if !matches!(word, "affine" | "sum" | "modular" | "reverse" | "join" | "split" | "remainder") {
                return Err(format!("`{word}` begins no digit"));
            }
            this.expect("(")?;
            let digit = match word {
                "affine" => {
                    let offset = this.size()?;
                    this.expect(",")?;
                    let stride = this.number()?;
                    this.expect(",")?;
                    DigitExpr::Affine { offset, stride, of: Box::new(this.digit()?) }
                }
                "reverse" => {
                    let size = this.size()?;
                    this.expect(",")?;
                    DigitExpr::Reverse { size, of: Box::new(this.digit()?) }
                }
                "remainder" => {
                    let value = this.value()?;
                    this.expect(",")?;
                    DigitExpr::Remainder(value, this.number()?)
                }
                "sum" => return Ok(DigitExpr::Sum(this.list(")", Self::digit)?)),
                "modular" => {
                    let size = this.size()?;
                    let (mut plus, mut minus) = (Vec::new(), Vec::new());
                    while this.take(",") {
                        match this.next()? {
                            "plus" if minus.is_empty() => plus.push(this.digit()?),
                            "minus" => minus.push(this.digit()?),
                            other => return Err(format!("`{other}` is neither `plus` nor `minus`")),
                        }
                    }
                    DigitExpr::Modular { size, plus, minus }
                }
                "join" => {
                    return Ok(DigitExpr::Join(this.list(")", |this| {
                        let digit = this.digit()?;
                        this.expect(":")?;
                        Ok((digit, this.size()?))
                    })?));
                }
                _ => {
                    let of = Box::new(this.digit()?);
                    this.expect(",")?;
                    let digit = this.number()?;
                    this.expect(",")?;
                    let sizes = this.list(")", Self::size)?;
                    return Ok(DigitExpr::Split { of, sizes, digit });
                }
            };
            this.expect(")")?;
            Ok(digit)
        })
    }

    fn digits(&mut self) -> Result<Vec<DigitExpr>> {
        self.expect("(")?;
        self.list(")", Self::digit)
    }

    fn combine(&mut self) -> Result<Combine> {
        match self.peek() {
            Some("(") => Ok(Combine::Block(self.body()?)),
            Some("dot") => self.next().map(|_| Combine::Dot),
            _ => Ok(Combine::Prim(self.mnemonic::<Binary>("operation of a reduction")?)),
        }
    }

    fn constant(&mut self, ty: &Type) -> Result<Op> {
        let element = ty.element().ok_or_else(|| format!("a constant is no {ty}"))?;
        let word = self.next()?;
        let bits = match (word, element) {
            ("bits", _) => Some(element.truncate(self.number()?)),
            ("true", Element::B1) => Some(1),
            ("false", Element::B1) => Some(0),
            (_, Element::B1) => None,
            (_, Element::F64) => word.parse::<f64>().ok().map(f64::to_bits),
            (_, Element::F32) => word.parse::<f32>().ok().map(|x| u64::from(x.to_bits())),
            _ => word.parse::<i64>().ok().map(|n| element.truncate(n as u64)),
        };
        let bits = bits.ok_or_else(|| format!("`{word}` is no {ty}"))?;
        Ok(Op::Const(element, bits))
    }

    /// An operation that defines a value of a type.
    fn op(&mut self, ty: &Type) -> Result<Op> {
        let word = self.next()?;
        Ok(match word {
            "const" => self.constant(ty)?,
            "size" => Op::Size(self.size()?),
            "select" => Op::Select(self.value()?, self.value()?, self.value()?),
            "tuple" => Op::Tuple(self.values()?),
            "part" => Op::Part(self.value()?, self.number()?),
            "array" => Op::Array(self.ty()?, self.values()?),
            "index" => Op::Index(self.value()?, self.value()?),
            "at" => Op::At(self.space()?, self.digits()?),
            "try_locate" => Op::TryLocate(self.size()?, self.value()?),
            "locate" => Op::Locate(self.space()?, self.values()?, self.site_id()?),
            "number" => Op::Number(self.digit()?),
            "check" => Op::Check(self.value()?, self.site_id()?, self.values()?),
            "map" => Op::Map(self.body()?),
            "reduce" => Op::Reduce {
                combine: self.combine()?,
                grouping: self.mnemonic::<Grouping>("grouping")?,
                start: self.value()?,
                body: self.body()?,
            },
            "scan" => Op::Scan {
                combine: self.combine()?,
                grouping: self.mnemonic::<Grouping>("grouping")?,
                body: self.body()?,
            },
            "reduce_at" => Op::ReduceAt {
                combine: match self.take("last") {
                    true => CombineAt::Last,
                    false => CombineAt::Combine(self.combine()?),
                },
                grouping: self.mnemonic::<Grouping>("grouping")?,
                start: self.value()?,
                body: self.body()?,
            },
            "view" => Op::View(self.space()?, self.value()?, self.digits()?),
            "concat" => Op::Concat(self.value()?, self.value()?),
            "filter" => Op::Filter(self.body()?),
            "iota" => Op::Iota(self.value()?),
            "order" => Op::Order(self.body()?),
            "sort" => Op::Sort(self.value()?),
            "update" => Op::Update(self.value()?, self.value()?, self.value()?),
            "for" => {
                let (label, state) = (self.id(Label::PREFIX)?, self.value()?);
                let range = match self.take("in") {
                    true => Some(Range {
                        low: self.value()?,
                        high: self.value()?,
                        inclusive: self.take("inclusive"),
                    }),
                    false => None,
                };
                Op::For { label, range, state, body: self.body()? }
            }
            "while" => Op::While {
                label: self.id(Label::PREFIX)?,
                state: self.value()?,
                condition: self.body()?,
                body: self.body()?,
            },
            "block" => Op::Block(self.id(Label::PREFIX)?, self.body()?),
            "if" => Op::If(self.value()?, self.block(Vec::new())?, self.block(Vec::new())?),
            "switch" => {
                let value = self.value()?;
                let mut cases = Vec::new();
                while self.peek() == Some("(") {
                    cases.push(self.body()?);
                }
                Op::Switch(value, cases)
            }
            "case" => Op::Case(self.ty()?, self.number()?, self.value()?),
            "tag" => Op::Tag(self.value()?),
            "pack" => {
                let ty = self.ty()?;
                self.expect("(")?;
                Op::Pack(ty, self.list(")", Self::size)?, self.value()?)
            }
            "open" => {
                let mut vars = Vec::new();
                while self.peek().is_some_and(|word| numbered(word, SizeVar::PREFIX).is_some()) {
                    vars.push(self.size_var()?);
                }
                Op::Open(vars, self.value()?)
            }
            "require" => Op::Require(self.ty()?, self.value()?, self.site_id()?),
            "call" => {
                let function = self.id(FunctionId::PREFIX)?;
                let (effect, changes) = (self.mnemonic("effect")?, self.changes()?);
                self.expect("[")?;
                let (sizes, values) = (self.list("]", Self::size)?, self.values()?);
                Op::Call { function, effect, changes, sizes, values }
            }
            "io" => Op::Io(self.mnemonic::<Io>("output")?, self.values()?),
            "move" => return Err("`move` is reserved".into()),
            word => {
                let prim = prim(word, ty).ok_or_else(|| format!("`{word}` is no operation"))?;
                Op::Prim(prim, self.values()?)
            }
        })
    }
}

/// The error of a size beyond the bounds of sizes.
const LARGE_SIZE: &str = "a size beyond the bounds of sizes";

/// The primitive of a word, with a result of a type.
fn prim(word: &str, ty: &Type) -> Option<Prim> {
    let binary = || Binary::from_mnemonic(word).map(Prim::Binary);
    let unary = || Unary::from_mnemonic(word).map(Prim::Unary);
    let compare = || Compare::from_mnemonic(word).map(Prim::Compare);
    let cast = || Some(Prim::Cast(Cast::from_mnemonic(word)?, ty.element()?));
    let function = || ScalarFunction::from_name(word).map(Prim::Function);
    binary().or_else(unary).or_else(compare).or_else(cast).or_else(function)
}
