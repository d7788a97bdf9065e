//! Printing: tree → source text that reads back as the same tree.
//!
//! Writes as few parentheses as the grammar allows. `///` comments are kept, other comments are not
//! in the tree. Never changes what is printed: no reordering, no shortening.

mod expr;
mod stmt;
mod types;

use super::ast::{ApplyForm, Expr, ExprKind, Pattern, Stmt, TypeExpr};
use super::edition::Wrap;
use crate::source::Span;
pub use expr::quoted;
pub(super) use expr::{binds_as_operand, first_part};

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

/// A statement as text, and where its tree has parentheses.
pub(super) struct Groups {
    pub text: String,
    /// What needs them where it stands.
    pub needed: Vec<Wrap>,
    /// `:>>`, `:>` and `|>` among operators, which need none.
    pub bare: Vec<Wrap>,
}

impl Groups {
    pub fn of(stmt: &Stmt) -> Groups {
        let mut out = Printer { groups: Some((Vec::new(), Vec::new())), ..Printer::default() };
        out.sequence(std::slice::from_ref(stmt));
        let (needed, bare) = out.groups.unwrap_or_default();
        Groups { text: out.text, needed, bare }
    }
}

/// The text so far.
#[derive(Default)]
struct Printer {
    text: String,
    indent: usize,
    /// The expression or type around.
    host: Span,
    /// What [`Groups`] holds, where it is asked for.
    groups: Option<(Vec<Wrap>, Vec<Wrap>)>,
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

    /// Notes an expression that stands in parentheses unless it is `bare`; at a `root`, no operator is around, at
    /// a `loose` place no arithmetic.
    fn note_expr(&mut self, expr: &Expr, bare: bool, root: bool, loose: bool) {
        let host = self.host;
        let Some((needed, without)) = &mut self.groups else { return };
        let moved = matches!(
            &expr.kind,
            ExprKind::Reshape(..) | ExprKind::Convert(..) | ExprKind::Apply { form: ApplyForm::Pipe, .. }
        );
        if !bare {
            // Those that a lambda needs are no others than before.
            if matches!(expr.kind, ExprKind::Lambda(_)) {
                return;
            }
            needed.push(Wrap::of_expr(expr, host, loose));
        } else if moved && !root {
            without.push(Wrap::of_expr(expr, host, loose));
        }
    }

    fn note_type(&mut self, ty: &TypeExpr, parentheses: bool) {
        let host = self.host;
        if let Some((needed, _)) = self.groups.as_mut().filter(|_| parentheses) {
            needed.push(Wrap::of_type(ty, host));
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
