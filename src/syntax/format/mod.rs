//! Printing: tree → source text that reads back as the same tree.
//!
//! Writes as few parentheses as the grammar allows. `///` comments are kept, other comments are not
//! in the tree. Never changes what is printed: no reordering, no shortening.

mod expr;
mod stmt;
mod types;

use super::ast::{Expr, Pattern, Stmt, TypeExpr};
pub(crate) use expr::quoted;

/// The statements of a program, one below the other.
pub fn print(stmts: &[Stmt]) -> String {
    super::with_room(|| {
        let mut out = Printer::default();
        out.sequence(stmts);
        out.text
    })
}

/// An expression on its own.
pub fn print_expr(expr: &Expr) -> String {
    super::with_room(|| {
        let mut out = Printer::default();
        out.expr(expr);
        out.text
    })
}

/// A type on its own.
pub fn print_type(ty: &TypeExpr) -> String {
    super::with_room(|| {
        let mut out = Printer::default();
        out.ty(ty);
        out.text
    })
}

/// A pattern on its own.
pub fn print_pattern(pattern: &Pattern) -> String {
    super::with_room(|| {
        let mut out = Printer::default();
        out.pattern(pattern);
        out.text
    })
}

/// The text so far.
#[derive(Default)]
struct Printer {
    text: String,
    indent: usize,
}

impl Printer {
    fn put(&mut self, text: &str) {
        self.text.push_str(text);
    }

    fn line(&mut self) {
        self.text.push('\n');
        for _ in 0..self.indent {
            self.text.push_str("  ");
        }
    }

    /// `inner`, in parentheses where it binds too loosely for its place.
    fn wrapped(&mut self, parentheses: bool, inner: impl FnOnce(&mut Printer)) {
        if parentheses {
            self.put("(");
        }
        inner(self);
        if parentheses {
            self.put(")");
        }
    }

    fn separated<T>(&mut self, items: &[T], separator: &str, mut each: impl FnMut(&mut Printer, &T)) {
        for (at, item) in items.iter().enumerate() {
            if at > 0 {
                self.put(separator);
            }
            each(self, item);
        }
    }
}
