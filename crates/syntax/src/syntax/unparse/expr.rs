//! Printing of expressions, with the blocks and parameters in them.
//!
//! The printer of a statement is a parameter, [`Printer::print_stmt`], so that this file does not
//! depend on that of statements.

use super::super::ast::{ApplyForm, Arm, BinaryOp, Body, Expr, ExprKind, Function, Param, Stmt, UnaryOp};
use super::super::literal::{push_escaped, quoted};
use super::Printer;
use super::types::{ATOM as TYPE_ATOM, SUM as TYPE_SUM};

// How tightly an expression binds, from `$` to atoms; the levels of the grammar.
const DOLLAR: u8 = 0;
const TUPLE: u8 = 1;
const COMPACT: u8 = 2;
const PIPE: u8 = 3;
const OR: u8 = 4;
const AND: u8 = 5;
const NOT: u8 = 6;
const COMPARE: u8 = 7;
const RANGE: u8 = 8;
const ADD: u8 = 9;
const MULTIPLY: u8 = 10;
const CAST: u8 = 11;
const NEGATE: u8 = 12;
const POWER: u8 = 13;
const UPDATE: u8 = 14;
const APPLY: u8 = 15;
const DOT: u8 = 16;
const HASH: u8 = 17;
const ATOM: u8 = 18;

/// The context of an expression, which determines its parentheses.
#[derive(Clone, Copy)]
struct Context {
    /// The least level that needs no parentheses.
    level: u8,
    /// A bare tuple is possible: commas around it do not separate other parts.
    comma: bool,
    /// No token follows that the body of a lambda would include.
    tail: bool,
    /// Brackets, commas or keywords are around, no operator.
    root: bool,
}

impl Context {
    /// Returns the context of an operand at a level.
    fn level(self, level: u8) -> Context {
        Context { level, tail: false, root: false, ..self }
    }
}

/// Any expression.
const FULL: Context = Context { level: DOLLAR, comma: true, tail: true, root: true };
/// An expression between commas.
const ELEMENT: Context = Context { level: DOLLAR, comma: false, tail: true, root: true };
/// An operand.
const INNER: Context = Context { level: DOLLAR, comma: false, tail: false, root: false };

impl Printer {
    /// Prints an expression.
    pub(super) fn expr(&mut self, expr: &Expr) {
        self.expr_at(expr, FULL);
    }

    /// Prints the range of a loop: a bare tuple, or an expression whose commas are in parentheses.
    pub(super) fn loop_source(&mut self, expr: &Expr) {
        self.expr_at(expr, ELEMENT);
    }

    /// Prints the target of a store.
    pub(super) fn place(&mut self, expr: &Expr) {
        self.expr_at(expr, INNER.level(DOT));
    }

    /// Prints the argument of a function or an injection. An `if` after an operand would begin the
    /// condition of a comprehension.
    fn argument(&mut self, argument: &Expr) {
        let condition = matches!(leftmost(argument).kind, ExprKind::If { .. });
        self.expr_at(argument, INNER.level(if condition { ATOM + 1 } else { DOT }));
    }

    /// Prints an expression in a context.
    fn expr_at(&mut self, expr: &Expr, place: Context) {
        let bare = match &expr.kind {
            ExprKind::Lambda(_) => place.tail && place.level <= TUPLE,
            ExprKind::Tuple(items) if !items.is_empty() => place.comma && place.level <= TUPLE,
            // `!` is used where `not` would extend too far.
            ExprKind::Unary(UnaryOp::Not, _) => place.level <= NEGATE,
            kind => level_of(kind) >= place.level,
        };
        self.note_expr(expr, bare, place.root, place.level <= RANGE);
        let host = std::mem::replace(&mut self.host, expr.span);
        if bare {
            self.unparenthesized(expr, place);
        } else {
            self.put("(");
            self.unparenthesized(expr, FULL);
            self.put(")");
        }
        self.host = host;
    }

    /// Prints an expression between commas.
    pub(super) fn expr_element(&mut self, expr: &Expr) {
        self.expr_at(expr, ELEMENT);
    }

    /// Prints the condition of an arm, before its `=>`.
    pub(super) fn guard(&mut self, guard: &Expr) {
        if ends_in_update(guard) {
            self.put("(");
            self.expr(guard);
            self.put(")");
        } else {
            self.expr(guard);
        }
    }

    /// Writes an arm on a line of its own up to its arrow: `| pattern when guard`.
    pub(super) fn arm_head<B>(&mut self, arm: &Arm<B>) {
        self.line();
        self.put("| ");
        self.arm_pattern(&arm.pattern);
        if let Some(guard) = &arm.guard {
            self.put(" when ");
            self.guard(guard);
        }
    }

    /// Prints an expression without parentheses around it.
    fn unparenthesized(&mut self, expr: &Expr, place: Context) {
        use ExprKind::*;
        match &expr.kind {
            Int(n) => self.put(&n.to_string()),
            Real(digits) => self.put(digits),
            Suffixed(digits, suffix) => self.put(&format!("{digits}{suffix}")),
            Char(c) => self.put(&quoted_char(*c)),
            Str(text) => self.put(&quoted(text)),
            Interpolated(text, holes) => {
                self.put("f\"");
                self.put(&escaped_piece(text));
                for hole in holes {
                    self.put("{");
                    self.expr_at(&hole.value, ELEMENT);
                    if hole.width.is_some() || hole.places.is_some() {
                        self.put(":");
                    }
                    if hole.zeros {
                        self.put("0");
                    }
                    self.put(&hole.width.map_or(String::new(), |n| n.to_string()));
                    self.put(&hole.places.map_or(String::new(), |n| format!(".{n}")));
                    self.put("}");
                    self.put(&escaped_piece(&hole.text));
                }
                self.put("\"");
            }
            Bool(value) => self.put(if *value { "true" } else { "false" }),
            Name(name) => self.put(&name.text),
            TypeArgs(base, args) => {
                self.expr_at(base, INNER.level(ATOM));
                self.type_arguments(args);
            }
            CaseOf { index, ty, tick: true } => {
                self.put(&format!("`{index}:"));
                self.ty_at(ty, TYPE_ATOM);
            }
            CaseOf { index, ty, tick: false } => {
                self.put(&format!("case {index} of "));
                self.ty_at(ty, TYPE_SUM);
            }
            Inject { index, arg } => {
                self.put(&format!("case {index} "));
                self.argument(arg);
            }
            Proj { index, ty } => {
                self.put(&format!("proj {index} of "));
                self.ty_at(ty, TYPE_SUM);
            }
            kind @ (Aproj { index, ty } | Ainj { index, ty }) => {
                self.put(if matches!(kind, Ainj { .. }) { "ainj " } else { "aproj " });
                self.expr_at(index, INNER.level(APPLY));
                self.put(" of ");
                self.ty_at(ty, TYPE_SUM);
            }
            // `..[` begins all values of a type.
            Rest(value) => {
                self.put("..");
                let bracket = matches!(leftmost(value).kind, Array(_) | Comprehension { .. });
                self.wrapped(bracket, |p| p.expr_at(value, if bracket { FULL } else { INNER.level(OR) }));
            }
            Tuple(items) if items.is_empty() => self.put("()"),
            Tuple(items) => self.separated(items, ", ", |p, e| p.expr_at(e, INNER.level(COMPACT))),
            CompactTuple(items) => self.separated(items, "\\, ", |p, e| p.expr_at(e, INNER.level(OR))),
            Record(fields) => {
                self.named_fields(fields, ", ", |p, value| p.expr_at(value, ELEMENT));
            }
            CompactRecord(fields) => {
                self.named_fields(fields, " \\, ", |p, value| p.expr_at(value, INNER.level(OR)));
            }
            Spread(parts) => {
                self.put("(");
                self.separated(parts, ", ", |p, (name, value)| {
                    match name {
                        Some(name) => {
                            p.put(&name.text);
                            p.put(" = ");
                        }
                        None => p.put("..."),
                    }
                    // Dots and digits would be one token with the dots before.
                    let joins = matches!(leftmost(value).kind, Int(_) | Real(_) | Suffixed(..) | AllOf(_));
                    if name.is_none() && joins {
                        p.put("(");
                        p.expr(value);
                        p.put(")");
                        return;
                    }
                    p.expr_at(value, ELEMENT);
                });
                self.put(")");
            }
            Update(record, fields) => {
                self.expr_at(record, INNER.level(UPDATE));
                self.put(" with ");
                self.named_fields(fields, ", ", |p, value| p.expr_at(value, ELEMENT));
            }
            Arguments(values, named) => {
                self.put("(");
                self.separated(values, ", ", |p, value| p.expr_at(value, ELEMENT));
                for (name, value) in named {
                    self.put(", ");
                    self.put(&name.text);
                    self.put(" = ");
                    self.expr_at(value, ELEMENT);
                }
                self.put(")");
            }
            Array(items) => {
                self.put("[");
                self.separated(items, ", ", |p, e| p.expr_at(e, ELEMENT));
                self.put("]");
            }
            Comprehension { body, clauses, guard } => {
                self.put("[");
                self.expr_at(body, ELEMENT);
                self.put(" for ");
                self.separated(clauses, ", ", |p, (pattern, values)| {
                    p.pattern_item(pattern);
                    p.put(" in ");
                    p.expr_at(values, ELEMENT);
                });
                if let Some(guard) = guard {
                    self.put(" if ");
                    self.expr_at(guard, ELEMENT);
                }
                self.put("]");
            }
            Axis => self.put("_"),
            AllOf(ty) => {
                self.put("..[");
                self.ty(ty);
                self.put("]");
            }
            IntRange { low, high, inclusive } => {
                self.expr_at(low, INNER.level(RANGE));
                self.put(if *inclusive { ".." } else { "..<" });
                // `..[` would begin all values of a type.
                let bracket = matches!(leftmost(high).kind, Array(_) | Comprehension { .. });
                self.expr_at(high, INNER.level(if bracket { ATOM + 1 } else { ADD }));
            }
            UpTo { high, inclusive } => {
                self.put(if *inclusive { ".." } else { "..<" });
                let bracket = matches!(leftmost(high).kind, Array(_) | Comprehension { .. });
                self.expr_at(high, if bracket { INNER.level(ATOM + 1) } else { ELEMENT });
            }
            Apply { function, argument, form } => match form {
                ApplyForm::Juxtaposed => {
                    self.expr_at(function, INNER.level(APPLY));
                    self.put(" ");
                    self.argument(argument);
                }
                ApplyForm::Dollar => {
                    self.expr_at(function, place.level(TUPLE));
                    self.put("$ ");
                    self.expr_at(argument, Context { level: DOLLAR, root: false, ..place });
                }
                ApplyForm::Pipe => {
                    self.expr_at(argument, place.level(PIPE));
                    self.put(" |> ");
                    self.expr_at(function, Context { level: OR, root: false, ..place });
                }
                ApplyForm::Hash => {
                    self.put("#");
                    self.expr_at(function, INNER.level(HASH));
                }
            },
            Dot { base, key } => {
                // `1.2` would be one number.
                let number = ends_in_number(base) && matches!(key.kind, Int(_));
                self.expr_at(base, INNER.level(if number { ATOM + 1 } else { DOT }));
                self.put(".");
                let bare_key = matches!(
                    key.kind,
                    Int(_)
                        | Name(_)
                        | TypeArgs(..)
                        | CaseOf { tick: true, .. }
                        | Record(_)
                        | CompactRecord(_)
                        // `()` brings its own.
                        | Tuple(_)
                ) && !matches!(&key.kind, Tuple(items) if !items.is_empty());
                if bare_key {
                    self.expr_at(key, INNER.level(ATOM));
                } else {
                    self.put("(");
                    self.unparenthesized(key, FULL);
                    self.put(")");
                }
            }
            Unary(UnaryOp::Neg, value) => {
                self.put("-");
                self.expr_at(value, INNER.level(NEGATE));
            }
            Unary(UnaryOp::Not, value) if place.level <= NOT => {
                self.put("not ");
                self.expr_at(value, INNER.level(NOT));
            }
            Unary(UnaryOp::Not, value) => {
                self.put("!");
                self.expr_at(value, INNER.level(NEGATE));
            }
            Binary(op, left, right) => {
                let level = binary_level(*op);
                let (left_level, right_level) = match level {
                    POWER => (UPDATE, POWER),
                    COMPARE => (RANGE, RANGE),
                    level => (level, level + 1),
                };
                self.expr_at(left, INNER.level(left_level));
                self.put(" ");
                self.put(op.symbol());
                self.put(" ");
                self.expr_at(right, INNER.level(right_level));
            }
            If { arms, otherwise } => {
                for (at, (condition, value)) in arms.iter().enumerate() {
                    self.put(if at == 0 { "if " } else { " elif " });
                    self.expr(condition);
                    self.put(" then ");
                    self.expr(value);
                }
                self.put(" else ");
                self.expr(otherwise);
                self.put(" endif");
            }
            Match { scrutinee, arms } => {
                self.put("match ");
                self.expr(scrutinee);
                self.put(" with");
                self.indent += 1;
                for arm in arms {
                    self.arm_head(arm);
                    self.put(" => ");
                    self.expr(&arm.body);
                }
                self.indent -= 1;
                self.line();
                self.put("endmatch");
            }
            Block { stmts, value } => self.block_value(stmts, value),
            At { places, stmts, value } => {
                self.put("at ");
                self.ty_at(places, TYPE_ATOM);
                self.put(" ");
                match value {
                    Some(value) => self.block_value(stmts, value),
                    None => self.block(stmts),
                }
            }
            Lambda(function) => self.lambda(function),
            Reshape(value, ty) => {
                self.expr_at(value, INNER.level(CAST));
                self.put(" :>> ");
                self.ty_after_cast(ty);
            }
            Convert(value, ty) => {
                self.expr_at(value, INNER.level(CAST));
                self.put(" :> ");
                self.ty_after_cast(ty);
            }
            Error => self.put("()"),
        }
    }

    /// Prints a lambda.
    fn lambda(&mut self, function: &Function) {
        self.put(if function.is_proc { "proc " } else { "fun " });
        self.groups(&function.params);
        if let Some(result) = &function.result {
            self.put(":");
            self.ty(result);
        }
        match &function.body {
            Body::Expr(body) => {
                self.put(" => ");
                self.expr_at(body, ELEMENT);
            }
            Body::Block(stmts) => {
                self.put(" ");
                self.block(stmts);
            }
        }
    }

    /// Prints statements on lines of their own, indented by one level.
    pub(super) fn print_indented(&mut self, stmts: &[Stmt]) {
        self.indent += 1;
        for stmt in stmts {
            self.line();
            (self.print_stmt)(self, stmt);
        }
        self.indent -= 1;
        self.line();
    }

    /// Prints `{ … }`.
    pub(super) fn block(&mut self, stmts: &[Stmt]) {
        self.put("{");
        self.print_indented(stmts);
        self.put("}");
    }

    /// Prints `{ …; e }`.
    pub(super) fn block_value(&mut self, stmts: &[Stmt], value: &Expr) {
        self.put("{");
        self.indent += 1;
        for stmt in stmts {
            self.line();
            (self.print_stmt)(self, stmt);
        }
        self.line();
        self.expr(value);
        self.indent -= 1;
        self.line();
        self.put("}");
    }

    /// Prints groups of parameters.
    pub(super) fn groups(&mut self, groups: &[Vec<Param>]) {
        for group in groups {
            self.put("(");
            self.separated(group, ", ", |p, param| {
                p.pattern_item(&param.pattern);
                if let Some(ty) = &param.ty {
                    p.put(":");
                    p.ty(ty);
                }
                if let Some(default) = &param.default {
                    p.put(" = ");
                    p.expr_element(default);
                }
            });
            self.put(")");
        }
    }
}

/// Returns the level of an expression.
fn level_of(kind: &ExprKind) -> u8 {
    use ExprKind::*;
    match kind {
        Reshape(..) | Convert(..) => CAST,
        Apply { form: ApplyForm::Pipe, .. } => PIPE,
        Apply { form: ApplyForm::Dollar, .. } => DOLLAR,
        Apply { form: ApplyForm::Juxtaposed, .. } => APPLY,
        Apply { form: ApplyForm::Hash, .. } => HASH,
        Tuple(items) if !items.is_empty() => TUPLE,
        CompactTuple(_) => COMPACT,
        Binary(op, ..) => binary_level(*op),
        Unary(UnaryOp::Not, _) => NOT,
        Unary(UnaryOp::Neg, _) => NEGATE,
        // The type after `of` would take a `+` or `*` that follows.
        CaseOf { tick: false, .. }
        | Proj { .. }
        | Aproj { .. }
        | Ainj { .. }
        | Inject { .. }
        | IntRange { .. } => RANGE,
        Block { .. } => POWER,
        Update(..) => UPDATE,
        Dot { .. } => DOT,
        _ => ATOM,
    }
}

/// Returns true if `:>>` applies to the whole expression without parentheses.
pub(in crate::syntax) fn binds_as_operand(expr: &Expr) -> bool {
    level_of(&expr.kind) >= CAST
}

/// Returns the level of an operator.
fn binary_level(op: BinaryOp) -> u8 {
    use BinaryOp::*;
    match op {
        Or => OR,
        And => AND,
        Eq | Ne | Lt | Le | Gt | Ge | In => COMPARE,
        Add | Sub => ADD,
        Mul | Div | Rem => MULTIPLY,
        Pow => POWER,
    }
}

/// Returns true if the last token is a number that a `.` and digits would turn into a real.
fn ends_in_number(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Int(_) => true,
        ExprKind::Apply { function, form: ApplyForm::Hash, .. } => ends_in_number(function),
        _ => false,
    }
}

/// Returns true if an expression ends with `r with (a = e)`: before `=>` that would be the first
/// arm of a `match`.
fn ends_in_update(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Update(..) => true,
        ExprKind::Rest(last) => ends_in_update(last),
        ExprKind::Binary(_, _, last) | ExprKind::Unary(_, last) | ExprKind::IntRange { high: last, .. } => {
            ends_in_update(last)
        }
        ExprKind::Apply { argument: last, form: ApplyForm::Dollar, .. }
        | ExprKind::Apply { function: last, form: ApplyForm::Pipe, .. } => ends_in_update(last),
        ExprKind::Tuple(parts) | ExprKind::CompactTuple(parts) => parts.last().is_some_and(ends_in_update),
        ExprKind::Lambda(function) => match &function.body {
            Body::Expr(body) => ends_in_update(body),
            Body::Block(_) => false,
        },
        _ => false,
    }
}

/// Returns the operand that an expression begins with; `None` if its first token is its own.
pub(in crate::syntax) fn first_part(expr: &Expr) -> Option<&Expr> {
    use ExprKind::*;
    match &expr.kind {
        Binary(_, first, _) | Reshape(first, _) | Convert(first, _) | Update(first, _) => Some(first),
        Dot { base, .. } => Some(base),
        IntRange { low, .. } => Some(low),
        Tuple(items) | CompactTuple(items) => items.first(),
        Apply { argument, form: ApplyForm::Pipe, .. } => Some(argument),
        Apply { form: ApplyForm::Hash, .. } => None,
        Apply { function, .. } => Some(function),
        _ => None,
    }
}

/// Returns the innermost expression that begins with the first token of `expr`, up to parentheses.
fn leftmost(expr: &Expr) -> &Expr {
    std::iter::successors(Some(expr), |at| first_part(at)).last().unwrap_or(expr)
}

/// Returns the escaped text of a piece of `f"…"`.
fn escaped_piece(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '{' => out.push_str("{{"),
            '}' => out.push_str("}}"),
            c => push_escaped(c, '"', &mut out),
        }
    }
    out
}

/// Returns a character literal.
pub(super) fn quoted_char(c: char) -> String {
    let mut out = String::from("'");
    push_escaped(c, '\'', &mut out);
    out.push('\'');
    out
}
