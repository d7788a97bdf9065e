//! The loop form as text, for people who look at what a program became.

use super::{Compare, Kernel, Op, Origin, ReductionOp, ScalarType, Stmt, Summand};
use std::fmt::Write;

/// A kernel as text.
pub fn kernel(kernel: &Kernel) -> String {
    let mut out = String::new();
    for (i, array) in kernel.arrays.iter().enumerate() {
        let origin = match array.origin {
            Origin::Input(n) => format!("given {n}"),
            Origin::InOut(n) => format!("changed {n}"),
            Origin::Result(n) => format!("result {n}"),
            Origin::Scratch => "scratch".into(),
            Origin::ThreadLocal => "own".into(),
            Origin::Stack(slots) => format!("local, {slots} slots"),
        };
        let _ = writeln!(out, "array a{i}: {origin}, {} bytes a slot", array.width);
    }
    for (i, ty) in kernel.scalars.iter().enumerate() {
        let _ = writeln!(out, "scalar s{i}: {}", type_name(*ty));
    }
    for (i, size) in kernel.sizes.iter().enumerate() {
        let _ = writeln!(out, "size n{i} = {size}");
    }
    stmts(kernel, &kernel.body, 0, &mut out);
    if !kernel.scalar_results.is_empty() {
        let words: Vec<String> = kernel.scalar_results.iter().map(|r| format!("r{r}")).collect();
        let _ = writeln!(out, "give {}", words.join(", "));
    }
    out
}

fn type_name(ty: ScalarType) -> &'static str {
    match ty {
        ScalarType::I8 => "i8",
        ScalarType::I16 => "i16",
        ScalarType::I32 => "i32",
        ScalarType::I64 => "i64",
        ScalarType::F32 => "f32",
        ScalarType::F64 => "f64",
    }
}

fn stmts(kernel: &Kernel, list: &[Stmt], depth: usize, out: &mut String) {
    for stmt in list {
        let indent = "  ".repeat(depth);
        let _ = match stmt {
            Stmt::Let(reg, o) => {
                writeln!(out, "{indent}r{reg}: {} = {}", type_name(kernel.regs[*reg as usize]), op_text(o))
            }
            Stmt::Set(var, reg) => writeln!(out, "{indent}v{var} := r{reg}"),
            Stmt::Store(array, at, value) => writeln!(out, "{indent}a{array}[r{at}] <- r{value}"),
            Stmt::If(condition, then, otherwise) => {
                let _ = writeln!(out, "{indent}if r{condition}");
                stmts(kernel, then, depth + 1, out);
                if !otherwise.is_empty() {
                    let _ = writeln!(out, "{indent}else");
                    stmts(kernel, otherwise, depth + 1, out);
                }
                continue;
            }
            Stmt::For { label, index, low, high, body } => {
                let _ = writeln!(out, "{indent}for r{index} in r{low}..<r{high} @{label}");
                stmts(kernel, body, depth + 1, out);
                continue;
            }
            Stmt::Loop(label, body) => {
                let _ = writeln!(out, "{indent}loop @{label}");
                stmts(kernel, body, depth + 1, out);
                continue;
            }
            Stmt::Block(label, body) => {
                let _ = writeln!(out, "{indent}block @{label}");
                stmts(kernel, body, depth + 1, out);
                continue;
            }
            Stmt::ParallelFor { index, count, body } => {
                let _ = writeln!(out, "{indent}each r{index} < r{count}");
                stmts(kernel, body, depth + 1, out);
                continue;
            }
            Stmt::Reduce { index, low, high, body, item, result } => {
                let item = match item {
                    Summand::Value(ReductionOp::Add, value) => format!("sum of r{value}"),
                    Summand::Value(ReductionOp::Mul, value) => format!("product of r{value}"),
                    Summand::Value(ReductionOp::Min, value) => format!("smallest of r{value}"),
                    Summand::Value(ReductionOp::Max, value) => format!("largest of r{value}"),
                    Summand::Product(a, b) => format!("sum of r{a} * r{b}"),
                };
                let _ = writeln!(out, "{indent}r{result} = {item}, r{index} in r{low}..<r{high}");
                stmts(kernel, body, depth + 1, out);
                continue;
            }
            Stmt::Gemm(c) => writeln!(
                out,
                "{indent}contract{}{} r{} * r{}, depth r{}: a{}[r{} ...] <- r{} + a{}[r{}, r{}, r{}] a{}[r{}, r{}, r{}]",
                if c.fused { " fused" } else { "" },
                if c.shared { " shared" } else { "" },
                c.rows,
                c.columns,
                c.depth,
                c.into,
                c.at,
                c.start,
                c.left,
                c.left_at,
                c.left_row,
                c.left_step,
                c.right,
                c.right_at,
                c.right_step,
                c.right_column,
            ),
            Stmt::Break(label) => writeln!(out, "{indent}break @{label}"),
            Stmt::Continue(label) => writeln!(out, "{indent}continue @{label}"),
            Stmt::Fail => writeln!(out, "{indent}fail"),
        };
    }
}

fn op_text(op: &Op) -> String {
    match op {
        Op::Const(ScalarType::F64, bits) => format!("{:?}", f64::from_bits(*bits)),
        Op::Const(ScalarType::F32, bits) => format!("{:?}", f32::from_bits(*bits as u32)),
        Op::Const(_, bits) => format!("{}", *bits as i64),
        Op::Size(n) => format!("n{n}"),
        Op::Scalar(n) => format!("s{n}"),
        Op::Binary(b, x, y) => format!("{} r{x} r{y}", format!("{b:?}").to_lowercase()),
        Op::Unary(u, x) => format!("{} r{x}", format!("{u:?}").to_lowercase()),
        Op::Compare(c, x, y) => {
            let sign = match c {
                Compare::Eq => "==",
                Compare::Ne => "!=",
                Compare::Lt => "<",
                Compare::Le => "<=",
                Compare::LtUnsigned => "<u",
                Compare::LeUnsigned => "<=u",
            };
            format!("r{x} {sign} r{y}")
        }
        Op::Select(c, x, y) => format!("r{c} ? r{x} : r{y}"),
        Op::Cast(c, ty, x) => format!("{} {} r{x}", format!("{c:?}").to_lowercase(), type_name(*ty)),
        Op::Load(array, at, _) => format!("a{array}[r{at}]"),
        Op::Get(var) => format!("v{var}"),
        Op::Call(f, args) => {
            let args: Vec<String> = args.iter().map(|r| format!("r{r}")).collect();
            format!("{}({})", format!("{f:?}").to_lowercase(), args.join(", "))
        }
    }
}
