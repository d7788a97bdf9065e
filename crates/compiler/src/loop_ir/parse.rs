//! Reads the loop form from text, as [`super::print::kernel`] writes it: for golden files of the
//! passes and for tests.
//!
//! Types of registers come from the statements that set them; a register that no statement sets is
//! `i64`. Statements belong to the line above that is indented less. Gives a kernel without looking
//! whether it is valid, which is [`super::validate`]'s work, or an error with the number of the
//! line.

use super::mnemonics::Mnemonic;
use super::{
    ArrayInfo, Binary, Cast, Compare, FunctionCall, Gemm, Id, Kernel, Op, Origin, Part, ReductionOp, Reg,
    ScalarFunction, ScalarType, Sort, Stmt, Summand, Unary, for_each_stmt,
};
use crate::hash::HashMap;

/// Registers, variables, arrays and labels of a text: tables of this size are made for a large
/// number.
const MAX_IDS: usize = 1 << 20;

/// The kernel that a text describes. Empty lines and those that begin with `#` are left out.
///
/// # Errors
/// A sentence on the first mistake, with the number of the line.
pub fn kernel(text: &str) -> Result<Kernel, String> {
    let mut lines = Vec::new();
    for (i, line) in text.lines().enumerate() {
        let content = line.trim_start();
        if !content.is_empty() && !content.starts_with('#') {
            lines.push(Line { number: i + 1, indent: line.len() - content.len(), text: content.trim_end() });
        }
    }
    let is_function = |line: &Line<'_>| line.text.starts_with("function ");
    let count = lines.iter().filter(|line| is_function(line)).count();
    let mut functions: Vec<Kernel> = Vec::new();
    while let Some(at) = lines.iter().rposition(is_function) {
        let rest = lines.split_off(at);
        let (line, rest) = rest.split_first().expect("the line that was found");
        let number = Words::new(line.text.trim_start_matches("function ")).numbered("f");
        let number = number.map_err(|error| line.error(&error))?;
        if number as usize + functions.len() + 1 != count {
            return Err(line.error("functions are numbered in order"));
        }
        functions.push(kernel_of_lines(rest)?);
    }
    functions.reverse();
    Ok(Kernel { functions, ..kernel_of_lines(&lines)? })
}

/// The kernel of some lines, which has no functions.
fn kernel_of_lines(lines: &[Line<'_>]) -> Result<Kernel, String> {
    let mut parser = Parser { kernel: Kernel::default(), types: HashMap::default() };
    let mut body = Vec::new();
    for line in lines {
        if !parser.declaration(line).map_err(|error| line.error(&error))? {
            body.push(*line);
        }
    }
    let mut rest = &body[..];
    parser.kernel.body = parser.stmts(&mut rest, 0)?;
    if let [line, ..] = rest {
        return Err(line.error("statements that belong to no other"));
    }
    Ok(parser.finish())
}

/// A line with its indentation in spaces.
#[derive(Clone, Copy)]
struct Line<'t> {
    number: usize,
    indent: usize,
    text: &'t str,
}

impl Line<'_> {
    fn error(&self, message: &str) -> String {
        format!("line {}: {message}: `{}`", self.number, self.text)
    }
}

struct Parser {
    kernel: Kernel,
    types: HashMap<Reg, ScalarType>,
}

/// The words and signs of a line, in order.
struct Words<'t>(Vec<&'t str>);

impl<'t> Words<'t> {
    fn new(text: &'t str) -> Words<'t> {
        let mut words = Vec::new();
        let mut rest = text.trim_start();
        while let Some(first) = rest.chars().next() {
            let end = match first {
                ',' | ':' | '[' | ']' | '(' | ')' if !rest.starts_with(":=") => 1,
                '.' if rest.starts_with("..<") => 3,
                _ => {
                    let stop = |c: char| c.is_whitespace() || ",:[]()".contains(c);
                    let end = rest.find(stop).unwrap_or(rest.len());
                    let end = if rest.starts_with(":=") { 2 } else { end };
                    rest.find("..<").map_or(end, |range| range.min(end))
                }
            };
            words.push(&rest[..end]);
            rest = rest[end..].trim_start();
        }
        words.reverse();
        Words(words)
    }

    fn next(&mut self) -> Result<&'t str, String> {
        self.0.pop().ok_or_else(|| "the line ends too early".to_string())
    }

    fn take(&mut self, word: &str) -> bool {
        let found = self.0.last() == Some(&word);
        if found {
            self.0.pop();
        }
        found
    }

    fn expect(&mut self, word: &str) -> Result<(), String> {
        let found = self.next()?;
        if found == word { Ok(()) } else { Err(format!("`{word}` is expected in place of `{found}`")) }
    }

    fn end(&self) -> Result<(), String> {
        self.0.last().map_or(Ok(()), |word| Err(format!("`{word}` is one word too many")))
    }

    /// A number behind a prefix, such as `r3`.
    fn numbered(&mut self, prefix: &str) -> Result<u32, String> {
        let word = self.next()?;
        let number = word.strip_prefix(prefix).and_then(|digits| digits.parse().ok());
        number.ok_or_else(|| format!("`{prefix}` with a number is expected in place of `{word}`"))
    }

    fn id<I: Id>(&mut self, prefix: &str) -> Result<I, String> {
        id(self.numbered(prefix)?)
    }

    fn reg(&mut self) -> Result<Reg, String> {
        self.id("r")
    }

    fn number<N: std::str::FromStr>(&mut self) -> Result<N, String> {
        let word = self.next()?;
        word.parse().map_err(|_| format!("a number is expected in place of `{word}`"))
    }

    fn scalar_type(&mut self) -> Result<ScalarType, String> {
        let word = self.next()?;
        ScalarType::from_mnemonic(word).ok_or_else(|| format!("`{word}` is no type"))
    }

    /// `r1 in r2..<r3`
    fn range(&mut self) -> Result<(Reg, Reg, Reg), String> {
        let index = self.reg()?;
        self.expect("in")?;
        let low = self.reg()?;
        self.expect("..<")?;
        Ok((index, low, self.reg()?))
    }

    /// `a1[r1, r2, …]`
    fn slots<const N: usize>(&mut self) -> Result<(super::Array, [Reg; N]), String> {
        let array = self.id("a")?;
        self.expect("[")?;
        let mut regs = [Reg::new(0); N];
        for (i, reg) in regs.iter_mut().enumerate() {
            if i > 0 {
                self.expect(",")?;
            }
            *reg = self.reg()?;
        }
        self.expect("]")?;
        Ok((array, regs))
    }
}

impl Parser {
    /// Reads a line that declares something or names the results; false if it is a statement.
    fn declaration(&mut self, line: &Line<'_>) -> Result<bool, String> {
        let mut words = Words::new(line.text);
        let in_order = |number: u32, known: usize| {
            if number as usize == known {
                Ok(())
            } else {
                Err("declarations are numbered in order".to_string())
            }
        };
        match words.next()? {
            "array" => {
                in_order(words.numbered("a")?, self.kernel.arrays.len())?;
                words.expect(":")?;
                let origin = match words.next()? {
                    "input" => Origin::Input(words.number()?),
                    "inout" => Origin::InOut(words.number()?),
                    "result" => Origin::Result(words.number()?),
                    "scratch" => Origin::Scratch,
                    "thread_local" => Origin::ThreadLocal,
                    "growable" => Origin::Growable,
                    "stack" => Origin::Stack(words.number()?),
                    "alias" => Origin::Alias(words.id("a")?),
                    other => return Err(format!("`{other}` is no origin of an array")),
                };
                words.expect(",")?;
                let width = words.number()?;
                ["bytes", "a", "slot", ","].into_iter().try_for_each(|word| words.expect(word))?;
                let slots = words.number()?;
                words.expect("slots")?;
                self.kernel.arrays.push(ArrayInfo { origin, width });
                self.kernel.slots.push(slots);
            }
            "var" => {
                in_order(words.numbered("v")?, self.kernel.vars.len())?;
                words.expect(":")?;
                self.kernel.vars.push(words.scalar_type()?);
            }
            "scalar" => {
                in_order(words.numbered("s")?, self.kernel.scalars.len())?;
                words.expect(":")?;
                self.kernel.scalars.push(words.scalar_type()?);
            }
            "size" => {
                in_order(words.numbered("n")?, self.kernel.sizes.len())?;
                words.expect("=")?;
                self.kernel.sizes.push(words.number()?);
            }
            "return" => loop {
                self.kernel.scalar_results.push(words.reg()?);
                if !words.take(",") {
                    break;
                }
            },
            _ => return Ok(false),
        }
        words.end()?;
        Ok(true)
    }

    /// Reads the statements of one indentation, with those inside.
    fn stmts(&mut self, lines: &mut &[Line<'_>], indent: usize) -> Result<Vec<Stmt>, String> {
        let mut stmts = Vec::new();
        while let [line, rest @ ..] = lines
            && line.indent == indent
            && line.text != "else"
        {
            *lines = rest;
            let mut stmt = self.stmt(line).map_err(|error| line.error(&error))?;
            let holds_body = !stmt.bodies().is_empty();
            if holds_body
                && let [inner, ..] = lines
                && inner.indent > indent
            {
                let inside = self.stmts(lines, inner.indent)?;
                if let Some(body) = stmt.bodies_mut().into_iter().next() {
                    *body = inside;
                }
            }
            if let Stmt::If(_, _, otherwise) = &mut stmt
                && let [line, rest @ ..] = lines
                && line.indent == indent
                && line.text == "else"
            {
                *lines = rest;
                if let [inner, ..] = lines
                    && inner.indent > indent
                {
                    *otherwise = self.stmts(lines, inner.indent)?;
                }
            }
            stmts.push(stmt);
        }
        Ok(stmts)
    }

    /// Reads one statement, with empty lists of statements inside.
    fn stmt(&mut self, line: &Line<'_>) -> Result<Stmt, String> {
        let mut words = Words::new(line.text);
        let body = Vec::new();
        let stmt = match words.0.last().copied().unwrap_or_default() {
            "if" => {
                words.next()?;
                Stmt::If(words.reg()?, Vec::new(), Vec::new())
            }
            "for" => {
                words.next()?;
                let (index, low, high) = words.range()?;
                Stmt::For { label: words.id("@")?, index, low, high, body }
            }
            "loop" => {
                words.next()?;
                Stmt::Loop(words.id("@")?, body)
            }
            "block" => {
                words.next()?;
                Stmt::Block(words.id("@")?, body)
            }
            "parallel" => {
                words.next()?;
                words.expect("for")?;
                let index = words.reg()?;
                words.expect("<")?;
                Stmt::ParallelFor { index, count: words.reg()?, body }
            }
            "gemm" => {
                words.next()?;
                Stmt::Gemm(gemm(&mut words)?)
            }
            "sort" | "order" => {
                let indices = words.next()? == "order";
                let (ty, count) = (words.scalar_type()?, words.reg()?);
                words.expect(":")?;
                let (into, [first]) = words.slots()?;
                words.expect("<-")?;
                let (keys, [at]) = words.slots()?;
                Stmt::Sort(Sort { ty, indices, count, into, first, keys, at })
            }
            "call" => {
                words.next()?;
                Stmt::Call(self.call(&mut words)?)
            }
            "break" => {
                words.next()?;
                Stmt::Break(words.id("@")?)
            }
            "continue" => {
                words.next()?;
                Stmt::Continue(words.id("@")?)
            }
            "fail" => {
                words.next()?;
                Stmt::Fail
            }
            "swap" => {
                words.next()?;
                Stmt::Swap(words.id("a")?, words.id("a")?)
            }
            "grow" => {
                words.next()?;
                Stmt::Grow(words.id("a")?, words.reg()?)
            }
            first if first.starts_with('v') => {
                let var = words.id("v")?;
                words.expect(":=")?;
                Stmt::Set(var, words.reg()?)
            }
            first if first.starts_with('a') => {
                let (array, [at]) = words.slots()?;
                words.expect("<-")?;
                Stmt::Store(array, at, words.reg()?)
            }
            _ => self.set_register(&mut words)?,
        };
        words.end()?;
        Ok(stmt)
    }

    /// `r1: TYPE = …`
    fn set_register(&mut self, words: &mut Words<'_>) -> Result<Stmt, String> {
        let reg = words.reg()?;
        words.expect(":")?;
        let ty = words.scalar_type()?;
        words.expect("=")?;
        self.types.insert(reg, ty);
        if !words.take("reduce") {
            return Ok(Stmt::Let(reg, op(words, ty)?));
        }
        let item = match words.next()? {
            "fma" => Summand::Product(words.reg()?, words.reg()?),
            name => {
                let op =
                    ReductionOp::from_mnemonic(name).ok_or_else(|| format!("`{name}` reduces nothing"))?;
                Summand::Value(op, words.reg()?)
            }
        };
        words.expect(",")?;
        let (index, low, high) = words.range()?;
        Ok(Stmt::Reduce { index, low, high, body: Vec::new(), item, result: reg })
    }

    /// A call of a function, behind its first word.
    fn call(&mut self, words: &mut Words<'_>) -> Result<FunctionCall, String> {
        let function = words.numbered("f")?;
        let (mut args, mut read) = (Vec::new(), Vec::new());
        let (mut results, mut written, mut changed) = (Vec::new(), Vec::new(), Vec::new());
        let (mut is_result, mut is_changed) = (false, false);
        while let Some(word) = words.0.last() {
            if *word == "->" && !is_result {
                words.next()?;
                is_result = true;
            } else if *word == "changing" && !is_result {
                words.next()?;
                is_changed = true;
            } else if word.starts_with('a') {
                let (array, [at]) = words.slots()?;
                let arrays = match (is_result, is_changed) {
                    (true, _) => &mut written,
                    (false, true) => &mut changed,
                    (false, false) => &mut read,
                };
                arrays.push((array, at));
            } else if is_result {
                let reg = words.reg()?;
                words.expect(":")?;
                self.types.insert(reg, words.scalar_type()?);
                results.push(reg);
            } else {
                args.push(words.reg()?);
            }
        }
        Ok(FunctionCall { function, args, read, changed, written, results })
    }

    /// Completes the tables: types of all registers, constants, and the number of labels.
    fn finish(self) -> Kernel {
        let Parser { mut kernel, types } = self;
        let (mut regs, mut labels) = (0, 0);
        let mut constants = Vec::new();
        for_each_stmt(&kernel.body, &mut |stmt| {
            if let Stmt::Let(reg, Op::Const(_, bits)) = stmt {
                constants.push((*reg, *bits));
            }
            stmt.for_each_part(&mut |part| match part {
                Part::Use(reg) | Part::Item(reg) | Part::Def(reg) => regs = regs.max(reg.index() + 1),
                Part::Label(label) | Part::Target(label) => labels = labels.max(label.index() as u32 + 1),
                _ => {}
            });
        });
        let ty = |number| types.get(&Reg::new(number)).copied().unwrap_or(ScalarType::I64);
        kernel.regs = (0..regs).map(ty).collect();
        kernel.labels = labels;
        kernel.constants = constants.into_iter().collect();
        kernel
    }
}

/// The id with a number, if it is below [`MAX_IDS`].
fn id<I: Id>(number: u32) -> Result<I, String> {
    match number as usize {
        number if number < MAX_IDS => Ok(I::new(number)),
        number => Err(format!("the number {number} is not below {MAX_IDS}")),
    }
}

/// The operation that sets a register of a type.
fn op(words: &mut Words<'_>, ty: ScalarType) -> Result<Op, String> {
    let word = words.next()?;
    if word == "nan" {
        let digits = words.next()?;
        let bits = digits.strip_prefix("0x").and_then(|digits| u64::from_str_radix(digits, 16).ok());
        return Ok(Op::Const(ty, bits.ok_or_else(|| format!("`{digits}` is no bit pattern"))?));
    }
    let named = |name| word.strip_prefix(name).and_then(|digits: &str| digits.parse::<u32>().ok());
    if let Some(n) = named("n") {
        return Ok(Op::Size(n));
    }
    if let Some(n) = named("s") {
        return Ok(Op::Scalar(n));
    }
    if let Some(n) = named("v") {
        return Ok(Op::Get(id(n)?));
    }
    if let Some(n) = named("a") {
        words.expect("[")?;
        let at = words.reg()?;
        words.expect("]")?;
        return Ok(Op::Load(id(n)?, at, ty));
    }
    if let Some(n) = named("r") {
        let sign = words.next()?;
        let compare = Compare::from_mnemonic(sign).ok_or_else(|| format!("`{sign}` compares nothing"))?;
        return Ok(Op::Compare(compare, id(n)?, words.reg()?));
    }
    if word == "select" {
        return Ok(Op::Select(words.reg()?, words.reg()?, words.reg()?));
    }
    if word == "call" {
        let name = words.next()?;
        let f = ScalarFunction::from_name(name).ok_or_else(|| format!("`{name}` is no function"))?;
        words.expect("(")?;
        let mut args = vec![words.reg()?];
        while words.take(",") {
            args.push(words.reg()?);
        }
        words.expect(")")?;
        return Ok(Op::Call(f, args));
    }
    if let Some(op) = Binary::from_mnemonic(word) {
        return Ok(Op::Binary(op, words.reg()?, words.reg()?));
    }
    if let Some(op) = Unary::from_mnemonic(word) {
        return Ok(Op::Unary(op, words.reg()?));
    }
    if let Some(cast) = Cast::from_mnemonic(word) {
        return Ok(Op::Cast(cast, ty, words.reg()?));
    }
    let bits = match ty {
        ScalarType::F64 => word.parse::<f64>().ok().map(f64::to_bits),
        ScalarType::F32 => word.parse::<f32>().ok().map(|x| u64::from(x.to_bits())),
        _ => word.parse::<i64>().ok().map(|n| n as u64),
    };
    Ok(Op::Const(ty, bits.ok_or_else(|| format!("`{word}` is no operation"))?))
}

/// The parts of a contraction, behind its first word.
fn gemm(words: &mut Words<'_>) -> Result<Gemm, String> {
    let (fused, shared) = (words.take("fused"), words.take("shared"));
    let (rows, columns, depth) = (words.reg()?, words.reg()?, words.reg()?);
    words.expect(":")?;
    let (into, [at]) = words.slots()?;
    words.expect("<-")?;
    let start = words.reg()?;
    words.expect("+")?;
    let (left, [left_at, left_row, left_step]) = words.slots()?;
    words.expect("*")?;
    let (right, [right_at, right_step, right_column]) = words.slots()?;
    Ok(Gemm {
        fused,
        shared,
        into,
        at,
        rows,
        columns,
        depth,
        left,
        left_at,
        left_row,
        left_step,
        right,
        right_at,
        right_step,
        right_column,
        start,
    })
}
