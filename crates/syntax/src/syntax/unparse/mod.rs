//! Printing: tree → source text that reads back as the same tree.
//!
//! Writes as few parentheses as the grammar allows. `///` comments are kept; other comments are not
//! in the tree. Nothing is reordered or abbreviated.

mod expr;
mod stmt;
mod types;

use super::ast::{ApplyForm, Expr, ExprKind, Name, Pattern, Stmt, TypeExpr};
use super::edition::ParenthesisSite;
pub use super::literal::quoted;
use crate::source::Span;
pub(super) use expr::{binds_as_operand, first_part};

/// Returns the text of a program, one statement per line.
pub fn print(stmts: &[Stmt]) -> String {
    super::parse::with_large_stack(|| {
        let mut out = Printer::new();
        out.sequence(stmts);
        out.text
    })
}

/// Returns the text of an expression.
pub fn print_expr(expr: &Expr) -> String {
    super::parse::with_large_stack(|| {
        let mut out = Printer::new();
        out.expr(expr);
        out.text
    })
}

/// Returns the text of a type.
pub fn print_type(ty: &TypeExpr) -> String {
    super::parse::with_large_stack(|| {
        let mut out = Printer::new();
        out.ty(ty);
        out.text
    })
}

/// Returns the text of a pattern.
pub fn print_pattern(pattern: &Pattern) -> String {
    super::parse::with_large_stack(|| {
        let mut out = Printer::new();
        out.pattern(pattern);
        out.text
    })
}

/// The text of a statement, and the places where its tree needs parentheses.
pub(super) struct ParenthesisReport {
    pub text: String,
    /// The parts that need parentheses.
    pub needed: Vec<ParenthesisSite>,
    /// The operators `:>>`, `:>` and `|>` among others that need none.
    pub bare: Vec<ParenthesisSite>,
}

impl ParenthesisReport {
    /// Prints a statement and records its parentheses.
    pub fn of(stmt: &Stmt) -> ParenthesisReport {
        let mut out = Printer { report: Some((Vec::new(), Vec::new())), ..Printer::new() };
        out.sequence(std::slice::from_ref(stmt));
        let (needed, bare) = out.report.expect("requested above");
        ParenthesisReport { text: out.text, needed, bare }
    }
}

/// The printer: the text so far.
struct Printer {
    /// Prints a statement inside an expression.
    print_stmt: fn(&mut Printer, &Stmt),
    text: String,
    indent: usize,
    /// The span of the enclosing expression or type.
    host: Span,
    /// The contents of a [`ParenthesisReport`], where one is requested.
    report: Option<(Vec<ParenthesisSite>, Vec<ParenthesisSite>)>,
}

impl Printer {
    /// Returns a printer without text.
    fn new() -> Printer {
        let (text, host) = (String::new(), Span::default());
        Printer { print_stmt: Printer::stmt, text, indent: 0, host, report: None }
    }

    /// Appends text.
    fn put(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Begins an indented line.
    fn line(&mut self) {
        self.text.push('\n');
        for _ in 0..self.indent {
            self.text.push_str("  ");
        }
    }

    /// Records an expression that is in parentheses unless it is `bare`; at a `root`, no operator
    /// is around, at a `loose` place no arithmetic operator.
    fn note_expr(&mut self, expr: &Expr, bare: bool, root: bool, loose: bool) {
        let host = self.host;
        let Some((needed, without)) = &mut self.report else { return };
        let moved = matches!(
            &expr.kind,
            ExprKind::Reshape(..) | ExprKind::Convert(..) | ExprKind::Apply { form: ApplyForm::Pipe, .. }
        );
        if !bare {
            // Those that a lambda needs are no others than before.
            if matches!(expr.kind, ExprKind::Lambda(_)) {
                return;
            }
            needed.push(ParenthesisSite::of_expr(expr, host, loose));
        } else if moved && !root {
            without.push(ParenthesisSite::of_expr(expr, host, loose));
        }
    }

    /// Records a type that needs parentheses.
    fn note_type(&mut self, ty: &TypeExpr, parentheses: bool) {
        let host = self.host;
        if let Some((needed, _)) = self.report.as_mut().filter(|_| parentheses) {
            needed.push(ParenthesisSite::of_type(ty, host));
        }
    }

    /// Prints `inner`, in parentheses if `parentheses`.
    fn wrapped(&mut self, parentheses: bool, inner: impl FnOnce(&mut Printer)) {
        if parentheses {
            self.put("(");
        }
        inner(self);
        if parentheses {
            self.put(")");
        }
    }

    /// Prints items with a separator between them.
    fn separated<T>(&mut self, items: &[T], separator: &str, mut each: impl FnMut(&mut Printer, &T)) {
        for (at, item) in items.iter().enumerate() {
            if at > 0 {
                self.put(separator);
            }
            each(self, item);
        }
    }

    /// Writes `(name = …, name = …)`; `each` writes what a name is given.
    fn named_fields<T>(
        &mut self,
        fields: &[(Name, T)],
        separator: &str,
        mut each: impl FnMut(&mut Printer, &T),
    ) {
        self.put("(");
        self.separated(fields, separator, |p, (name, field)| {
            p.put(&name.text);
            p.put(" = ");
            each(p, field);
        });
        self.put(")");
    }
}
