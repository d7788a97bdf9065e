//! The array IR as text: for `--show array`, for messages and for golden files.
//!
//! [`super::parse::program`] reads what is printed here. The text of each operation stands with it
//! in [`Op`].

use super::mnemonics::Mnemonic;
use super::{
    Block, Combine, CombineAt, DigitExpr, Element, End, Function, FunctionId, Op, Prim, Program, Range, Size,
    Space, Type, Value,
};
use crate::source::Span;
use std::fmt::{self, Display, Write};

/// A program as text.
pub fn program(program: &Program) -> String {
    let mut out = String::new();
    for (n, site) in program.sites.iter().enumerate() {
        let span = |span: Span| format!("{} to {} in {}", span.start, span.end, span.source.0);
        let _ = write!(out, "site s{n}: {} {}", site.kind.mnemonic(), span(site.span));
        for call in &site.calls {
            let _ = write!(out, " from {}", span(*call));
        }
        out.push('\n');
    }
    for (id, function) in program.function_ids().zip(&program.functions) {
        if !out.is_empty() {
            out.push('\n');
        }
        out.push_str(&self::function(id, function));
    }
    out
}

/// A function as text.
pub fn function(id: FunctionId, function: &Function) -> String {
    let mut out = format!("fun {id} {}[", function.name);
    let sizes: Vec<String> = function.sizes.iter().map(|(var, name)| format!("{var}: {name}")).collect();
    let _ = write!(out, "{}]({})", sizes.join(", "), params(&function.body));
    let changes = changing(function.changes);
    let _ = write!(out, " -> {}, {}{changes} ", function.result, function.effect.mnemonic());
    write_block(&function.body, 0, &mut out);
    out.push('\n');
    out
}

/// The words for a number of variables that a function changes: none if it changes none.
fn changing(changes: usize) -> String {
    if changes == 0 { String::new() } else { format!(" changing {changes}") }
}

fn params(block: &Block) -> String {
    let params: Vec<String> = block.params.iter().map(|(value, ty)| format!("{value}: {ty}")).collect();
    params.join(", ")
}

/// Writes a block without its parameters, from its brace on.
fn write_block(block: &Block, depth: usize, out: &mut String) {
    out.push_str("{\n");
    let indent = "  ".repeat(depth + 1);
    for stmt in &block.stmts {
        let _ = write!(out, "{indent}{}: {} = ", stmt.value, stmt.ty);
        write_op(&stmt.op, depth + 1, out);
        out.push('\n');
    }
    let _ = match block.end {
        End::Yield(value) => writeln!(out, "{indent}yield {value}"),
        End::Next(label, value) => writeln!(out, "{indent}next {label} {value}"),
        End::Exit(label, value) => writeln!(out, "{indent}exit {label} {value}"),
    };
    let _ = write!(out, "{}}}", "  ".repeat(depth));
}

/// Writes parameters and a block.
fn write_body(block: &Block, depth: usize, out: &mut String) {
    let _ = write!(out, " ({}) ", params(block));
    write_block(block, depth, out);
}

fn write_combine(combine: &Combine, depth: usize, out: &mut String) {
    match combine {
        Combine::Prim(op) => {
            let _ = write!(out, " {}", op.mnemonic());
        }
        Combine::Dot => out.push_str(" dot"),
        Combine::Block(block) => write_body(block, depth, out),
    }
}

/// The word of a primitive; the types of its operands tell the rest, and that of its result for a
/// cast.
pub fn prim(prim: Prim) -> &'static str {
    match prim {
        Prim::Binary(op) => op.mnemonic(),
        Prim::Unary(op) => op.mnemonic(),
        Prim::Compare(op) => op.mnemonic(),
        Prim::Cast(cast, _) => cast.mnemonic(),
        Prim::Function(function) => function.name(),
    }
}

/// The text of a constant.
fn constant(ty: Element, bits: u64) -> String {
    match ty {
        Element::F64 if f64::from_bits(bits).is_nan() => format!("bits {bits}"),
        Element::F32 if f32::from_bits(bits as u32).is_nan() => format!("bits {bits}"),
        Element::F64 => format!("{:?}", f64::from_bits(bits)),
        Element::F32 => format!("{:?}", f32::from_bits(bits as u32)),
        Element::B1 => (if bits == 0 { "false" } else { "true" }).into(),
        ty => super::scalar::sign_extend(ty, bits).to_string(),
    }
}

/// Words behind each other, each after a space.
struct Spaced<'a, T>(&'a [T]);

impl<T: Display> Display for Spaced<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|item| write!(f, " {item}"))
    }
}

/// Items with commas between.
struct Listed<'a, T>(&'a [T]);

impl<T: Display> Display for Listed<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, item) in self.0.iter().enumerate() {
            write!(f, "{}{item}", if i == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}

fn write_op(op: &Op, depth: usize, out: &mut String) {
    let _ = match op {
        Op::Const(ty, bits) => write!(out, "const {}", constant(*ty, *bits)),
        Op::Size(size) => write!(out, "size {size}"),
        Op::Prim(op, values) => write!(out, "{}{}", prim(*op), Spaced(values)),
        Op::Select(c, a, b) => write!(out, "select {c} {a} {b}"),
        Op::Tuple(values) => write!(out, "tuple{}", Spaced(values)),
        Op::Part(value, n) => write!(out, "part {value} {n}"),
        Op::Array(ty, values) => write!(out, "array {ty}{}", Spaced(values)),
        Op::Index(array, at) => write!(out, "index {array} {at}"),
        Op::At(space, digits) => write!(out, "at {space} ({})", Listed(digits)),
        Op::TryLocate(size, value) => write!(out, "try_locate {size} {value}"),
        Op::Locate(space, values, site) => write!(out, "locate {space}{} {site}", Spaced(values)),
        Op::Number(digit) => write!(out, "number {digit}"),
        Op::Check(condition, site, shown) => write!(out, "check {condition} {site}{}", Spaced(shown)),
        Op::Map(_) => write!(out, "map"),
        Op::Reduce { .. } => write!(out, "reduce"),
        Op::Scan { .. } => write!(out, "scan"),
        Op::ReduceAt { .. } => write!(out, "reduce_at"),
        Op::View(space, array, digits) => write!(out, "view {space} {array} ({})", Listed(digits)),
        Op::Concat(a, b) => write!(out, "concat {a} {b}"),
        Op::Filter(_) => write!(out, "filter"),
        Op::Iota(count) => write!(out, "iota {count}"),
        Op::Order(_) => write!(out, "order"),
        Op::Sort(array) => write!(out, "sort {array}"),
        Op::Update(array, at, value) => write!(out, "update {array} {at} {value}"),
        Op::For { label, range: None, state, .. } => write!(out, "for {label} {state}"),
        Op::For { label, range: Some(Range { low, high, inclusive }), state, .. } => {
            let inclusive = if *inclusive { " inclusive" } else { "" };
            write!(out, "for {label} {state} in {low} {high}{inclusive}")
        }
        Op::While { label, state, .. } => write!(out, "while {label} {state}"),
        Op::Block(label, _) => write!(out, "block {label}"),
        Op::If(condition, ..) => write!(out, "if {condition}"),
        Op::Switch(value, _) => write!(out, "switch {value}"),
        Op::Case(ty, case, value) => write!(out, "case {ty} {case} {value}"),
        Op::Tag(value) => write!(out, "tag {value}"),
        Op::Pack(ty, sizes, value) => write!(out, "pack {ty} ({}) {value}", Listed(sizes)),
        Op::Open(vars, value) => write!(out, "open{} {value}", Spaced(vars)),
        Op::Require(ty, value, site) => write!(out, "require {ty} {value} {site}"),
        Op::Call { function, effect, changes, sizes, values } => {
            let (effect, changes) = (effect.mnemonic(), changing(*changes));
            write!(out, "call {function} {effect}{changes} [{}]{}", Listed(sizes), Spaced(values))
        }
        Op::Io(io, values) => write!(out, "io {}{}", io.mnemonic(), Spaced(values)),
    };
    match op {
        Op::Reduce { combine, grouping, start, body } => {
            write_combine(combine, depth, out);
            let _ = write!(out, " {} {start}", grouping.mnemonic());
            write_body(body, depth, out);
        }
        Op::Scan { combine, grouping, body } => {
            write_combine(combine, depth, out);
            let _ = write!(out, " {}", grouping.mnemonic());
            write_body(body, depth, out);
        }
        Op::ReduceAt { combine, grouping, start, body } => {
            match combine {
                CombineAt::Combine(combine) => write_combine(combine, depth, out),
                CombineAt::Last => out.push_str(" last"),
            }
            let _ = write!(out, " {} {start}", grouping.mnemonic());
            write_body(body, depth, out);
        }
        Op::If(_, then, otherwise) => {
            for block in [then, otherwise] {
                out.push(' ');
                write_block(block, depth, out);
            }
        }
        op => op.blocks().into_iter().for_each(|block| write_body(block, depth, out)),
    }
}

/// A statement's value and operation on one line, without the statements of its blocks.
pub fn head(value: Value, op: &Op) -> String {
    let mut text = String::new();
    write_op(op, 0, &mut text);
    format!("{value} = {}", text.lines().next().unwrap_or_default())
}

impl Display for Space {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digit = |digit: &super::Digit| {
            let pieces: Vec<String> = digit.pieces.iter().map(Size::to_string).collect();
            pieces.join(" | ")
        };
        let digits: Vec<String> = self.digits.iter().map(digit).collect();
        write!(f, "[{}]", digits.join(", "))
    }
}

impl Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Element(element) => f.write_str(element.mnemonic()),
            Type::Index(space) => write!(f, "idx {space}"),
            Type::Tuple(types) if types.len() == 1 => write!(f, "({},)", types[0]),
            Type::Tuple(types) => write!(f, "({})", Listed(types)),
            Type::Array(space, element) => write!(f, "{space} {element}"),
            Type::Sum(types) => write!(f, "sum({})", Listed(types)),
            Type::Exists(count, ty) => write!(f, "some {count} {ty}"),
        }
    }
}

impl Display for DigitExpr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DigitExpr::Target(digit) => write!(f, "d{digit}"),
            DigitExpr::Of(value, digit) => write!(f, "{value}.{digit}"),
            DigitExpr::Constant(size) => write!(f, "const {size}"),
            DigitExpr::Affine { offset, stride, of } => write!(f, "affine({offset}, {stride}, {of})"),
            DigitExpr::Sum(digits) => write!(f, "sum({})", Listed(digits)),
            DigitExpr::Modular { size, plus, minus } => {
                write!(f, "modular({size}")?;
                plus.iter().try_for_each(|digit| write!(f, ", plus {digit}"))?;
                minus.iter().try_for_each(|digit| write!(f, ", minus {digit}"))?;
                f.write_str(")")
            }
            DigitExpr::Reverse { size, of } => write!(f, "reverse({size}, {of})"),
            DigitExpr::Join(digits) => {
                let digits: Vec<String> =
                    digits.iter().map(|(digit, size)| format!("{digit}: {size}")).collect();
                write!(f, "join({})", digits.join(", "))
            }
            DigitExpr::Split { of, sizes, digit } => write!(f, "split({of}, {digit}, {})", Listed(sizes)),
            DigitExpr::Remainder(value, size) => write!(f, "remainder({value}, {size})"),
        }
    }
}
