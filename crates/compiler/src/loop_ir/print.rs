//! The loop form as text: for `--show loops`, for messages of the validator, and for golden files.
//!
//! [`super::parse::kernel`] reads what is printed here. Registers that no statement mentions and
//! the estimates of costs are not part of the text.

use super::mnemonics::Mnemonic;
use super::{Array, FunctionCall, Gemm, IdVec, Kernel, Op, Origin, Reg, ScalarType, Sort, Stmt, Summand};
use std::fmt::Write;

/// A kernel as text: a line for each array, variable, scalar, size and statement, and one for the
/// results. Functions follow, each with a line in front of it.
pub fn kernel(kernel: &Kernel) -> String {
    let mut out = String::new();
    write_kernel(kernel, &mut out);
    for (number, function) in kernel.functions.iter().enumerate() {
        let _ = writeln!(out, "function f{number}");
        write_kernel(function, &mut out);
    }
    out
}

fn write_kernel(kernel: &Kernel, out: &mut String) {
    for array in kernel.arrays.ids() {
        let (info, slots) = (kernel.arrays[array], kernel.slots[array]);
        let origin = match info.origin {
            Origin::Input(n) => format!("input {n}"),
            Origin::InOut(n) => format!("inout {n}"),
            Origin::Result(n) => format!("result {n}"),
            Origin::Scratch => "scratch".into(),
            Origin::ThreadLocal => "thread_local".into(),
            Origin::Alias(array) => format!("alias {array}"),
            Origin::Growable => "growable".into(),
            Origin::Stack(slots) => format!("stack {slots}"),
        };
        let _ = writeln!(out, "array {array}: {origin}, {} bytes a slot, {slots} slots", info.width);
    }
    for var in kernel.vars.ids() {
        let _ = writeln!(out, "var {var}: {}", kernel.vars[var].mnemonic());
    }
    for (i, ty) in kernel.scalars.iter().enumerate() {
        let _ = writeln!(out, "scalar s{i}: {}", ty.mnemonic());
    }
    for (i, size) in kernel.sizes.iter().enumerate() {
        let _ = writeln!(out, "size n{i} = {size}");
    }
    write_stmts(&kernel.regs, &kernel.body, 0, out);
    if !kernel.scalar_results.is_empty() {
        let results: Vec<String> = kernel.scalar_results.iter().map(Reg::to_string).collect();
        let _ = writeln!(out, "return {}", results.join(", "));
    }
}

/// Writes statements, each at its depth of indentation.
fn write_stmts(regs: &IdVec<Reg, ScalarType>, stmts: &[Stmt], depth: usize, out: &mut String) {
    let ty = |reg: &Reg| regs.get(*reg).map_or("?", |ty| ty.mnemonic());
    for stmt in stmts {
        let line = match stmt {
            Stmt::Let(reg, op) => format!("{reg}: {} = {}", ty(reg), op_text(op)),
            Stmt::Set(var, reg) => format!("{var} := {reg}"),
            Stmt::Store(array, at, value) => format!("{array}[{at}] <- {value}"),
            Stmt::Swap(a, b) => format!("swap {a} {b}"),
            Stmt::Grow(array, slots) => format!("grow {array} {slots}"),
            Stmt::If(condition, ..) => format!("if {condition}"),
            Stmt::For { label, index, low, high, .. } => format!("for {index} in {low}..<{high} {label}"),
            Stmt::Loop(label, _) => format!("loop {label}"),
            Stmt::Block(label, _) => format!("block {label}"),
            Stmt::ParallelFor { index, count, .. } => format!("parallel for {index} < {count}"),
            Stmt::Reduce { index, low, high, item, result, .. } => {
                let item = match item {
                    Summand::Value(op, value) => format!("{} {value}", op.mnemonic()),
                    Summand::Product(a, b) => format!("fma {a} {b}"),
                };
                format!("{result}: {} = reduce {item}, {index} in {low}..<{high}", ty(result))
            }
            Stmt::Gemm(gemm) => gemm_text(gemm),
            Stmt::Sort(Sort { ty, indices, count, into, first, keys, at }) => {
                let (name, ty) = (if *indices { "order" } else { "sort" }, ty.mnemonic());
                format!("{name} {ty} {count}: {into}[{first}] <- {keys}[{at}]")
            }
            Stmt::Call(call) => call_text(call, &ty),
            Stmt::Break(label) => format!("break {label}"),
            Stmt::Continue(label) => format!("continue {label}"),
            Stmt::Fail => "fail".into(),
        };
        let indent = "  ".repeat(depth);
        let _ = writeln!(out, "{indent}{line}");
        match stmt {
            Stmt::If(_, then, otherwise) => {
                write_stmts(regs, then, depth + 1, out);
                if !otherwise.is_empty() {
                    let _ = writeln!(out, "{indent}else");
                    write_stmts(regs, otherwise, depth + 1, out);
                }
            }
            stmt => {
                for body in stmt.bodies() {
                    write_stmts(regs, body, depth + 1, out);
                }
            }
        }
    }
}

/// The function, its results, the arrays that it writes, its arguments and the arrays that it reads.
fn call_text(call: &FunctionCall, ty: &dyn Fn(&Reg) -> &'static str) -> String {
    let FunctionCall { function, args, read, changed, written, results } = call;
    let results: Vec<String> = results.iter().map(|reg| format!(" {reg}: {}", ty(reg))).collect();
    let slots = |arrays: &[(Array, Reg)]| {
        arrays.iter().map(|(array, at)| format!(" {array}[{at}]")).collect::<Vec<_>>().concat()
    };
    let args: Vec<String> = args.iter().map(|reg| format!(" {reg}")).collect();
    let results = results.concat() + &slots(written);
    let arrow = if results.is_empty() { "" } else { " ->" };
    let changing = if changed.is_empty() { "" } else { " changing" };
    let given = args.concat() + &slots(read) + changing + &slots(changed);
    format!("call f{function}{given}{arrow}{results}")
}

/// The rows, columns and depth of a contraction; where its results go and what they start from; its
/// factors, each with the first slot and two strides.
fn gemm_text(gemm: &Gemm) -> String {
    let Gemm {
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
    } = gemm;
    let fused = if *fused { " fused" } else { "" };
    let shared = if *shared { " shared" } else { "" };
    format!(
        "gemm{fused}{shared} {rows} {columns} {depth}: {into}[{at}] <- {start} + \
         {left}[{left_at}, {left_row}, {left_step}] * {right}[{right_at}, {right_step}, {right_column}]"
    )
}

/// An operation as text; its type is written with the register that it sets.
fn op_text(op: &Op) -> String {
    match op {
        Op::Const(ScalarType::F64, bits) => match f64::from_bits(*bits) {
            x if x.is_nan() => format!("nan {bits:#x}"),
            x => format!("{x:?}"),
        },
        Op::Const(ScalarType::F32, bits) => match f32::from_bits(*bits as u32) {
            x if x.is_nan() => format!("nan {bits:#x}"),
            x => format!("{x:?}"),
        },
        Op::Const(_, bits) => format!("{}", *bits as i64),
        Op::Size(n) => format!("n{n}"),
        Op::Scalar(n) => format!("s{n}"),
        Op::Binary(op, a, b) => format!("{} {a} {b}", op.mnemonic()),
        Op::Unary(op, a) => format!("{} {a}", op.mnemonic()),
        Op::Compare(op, a, b) => format!("{a} {} {b}", op.mnemonic()),
        Op::Select(condition, a, b) => format!("select {condition} {a} {b}"),
        Op::Cast(cast, _, a) => format!("{} {a}", cast.mnemonic()),
        Op::Load(array, at, _) => format!("{array}[{at}]"),
        Op::Get(var) => format!("{var}"),
        Op::Call(f, args) => {
            let args: Vec<String> = args.iter().map(Reg::to_string).collect();
            format!("call {}({})", f.name(), args.join(", "))
        }
    }
}
