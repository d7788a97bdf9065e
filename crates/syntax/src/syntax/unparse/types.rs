//! Printing of types and patterns.

use super::super::ast::{Pattern, PatternKind, TypeExpr, TypeExprKind};
use super::super::literal::quoted;
use super::Printer;
use super::expr::quoted_char;

// How tightly a type binds, from `->` to atoms; the levels of the grammar.
const FUNCTION: u8 = 0;
const PLACED: u8 = 1;
pub(super) const SUM: u8 = 2;
const COMPACT_SUM: u8 = 3;
const PRODUCT: u8 = 4;
const COMPACT_PRODUCT: u8 = 5;
const POWER: u8 = 6;
pub(super) const ATOM: u8 = 7;

// How tightly a pattern binds.
const ALTERNATIVES: u8 = 0;
const TUPLE: u8 = 1;
const AS: u8 = 2;
const COMPACT: u8 = 3;
const SINGLE: u8 = 4;
const PATTERN_ATOM: u8 = 5;

impl Printer {
    /// Prints a type.
    pub(super) fn ty(&mut self, ty: &TypeExpr) {
        self.ty_at(ty, FUNCTION);
    }

    /// Prints a type, in parentheses where it binds less tightly than `level`.
    pub(super) fn ty_at(&mut self, ty: &TypeExpr, level: u8) {
        use TypeExprKind::*;
        let own = match &ty.kind {
            Function(..) => FUNCTION,
            Placed(..) => PLACED,
            Sum(_) => SUM,
            CompactSum(_) => COMPACT_SUM,
            Product(_) | Repeat(..) => PRODUCT,
            CompactProduct(_) => COMPACT_PRODUCT,
            Array(..) | CompactPower(..) => POWER,
            _ => ATOM,
        };
        self.note_type(ty, own < level);
        let host = std::mem::replace(&mut self.host, ty.span);
        self.wrapped(own < level, |p| match &ty.kind {
            Number(n) => p.put(&n.to_string()),
            Name(name, args) => {
                p.put(&name.text);
                p.type_arguments(args);
            }
            Call(name, args) => {
                p.put(&name.text);
                p.put("(");
                p.separated(args, ", ", Printer::ty);
                p.put(")");
            }
            Product(items) => p.separated(items, " * ", |p, t| p.ty_at(t, COMPACT_PRODUCT)),
            Sum(items) => p.separated(items, " + ", |p, t| p.ty_at(t, COMPACT_SUM)),
            CompactProduct(items) => p.separated(items, " \\* ", |p, t| p.ty_at(t, POWER)),
            CompactSum(items) => p.separated(items, " \\+ ", |p, t| p.ty_at(t, PRODUCT)),
            Array(base, index) => p.ty_pair(base, POWER, " ^ ", index, ATOM),
            CompactPower(base, index) => p.ty_pair(base, POWER, " \\^ ", index, ATOM),
            Repeat(count, item) => p.ty_pair(count, COMPACT_PRODUCT, " *+ ", item, COMPACT_PRODUCT),
            Function(domain, codomain) => p.ty_pair(domain, PLACED, " -> ", codomain, FUNCTION),
            Placed(ty, places) => p.ty_pair(ty, SUM, " @ ", places, ATOM),
            Places(names) => {
                p.put("{");
                p.separated(names, ", ", |p, name| p.put(&name.text));
                p.put("}");
            }
            Record(fields) | CompactRecord(fields) => {
                p.put("(");
                let compact = matches!(ty.kind, CompactRecord(_));
                p.separated(fields, if compact { " \\, " } else { ", " }, |p, (name, ty)| {
                    p.put(&name.text);
                    p.put(":");
                    p.ty(ty);
                });
                p.put(")");
            }
            Open(name) => {
                p.put("?");
                p.put(&name.text);
            }
            Rest(name) => {
                p.put("..");
                p.put(&name.text);
            }
            Labels(first, last) => {
                for (label, before) in [(first, ""), (last, "..")] {
                    p.put(before);
                    p.put(if label.negative { "-" } else { "" });
                    p.ty(&label.size);
                }
            }
            Hole | Error => p.put("_"),
            Refusal(text) => {
                p.put("error ");
                p.put(&quoted(text));
            }
            TypeMatch(subjects, arms) => {
                p.put("typematch ");
                p.type_list(subjects);
                p.put(" with");
                for arm in arms {
                    p.put(" | ");
                    p.type_list(&arm.patterns);
                    p.put(" => ");
                    p.ty(&arm.result);
                }
                p.put(" endmatch");
            }
        });
        self.host = host;
    }

    /// Prints the type after `:>>` and `:>`.
    pub(super) fn ty_after_cast(&mut self, ty: &TypeExpr) {
        match &ty.kind {
            TypeExprKind::CompactSum(items) => {
                self.separated(items, " \\+ ", |p, t| p.ty_at(t, COMPACT_PRODUCT));
            }
            TypeExprKind::Placed(inner, places) => {
                self.ty_after_cast(inner);
                self.put(" @ ");
                self.ty_at(places, ATOM);
            }
            _ => self.ty_at(ty, COMPACT_PRODUCT),
        }
    }

    /// Prints two types with an operator between them.
    fn ty_pair(&mut self, left: &TypeExpr, left_level: u8, op: &str, right: &TypeExpr, right_level: u8) {
        self.ty_at(left, left_level);
        self.put(op);
        self.ty_at(right, right_level);
    }

    /// Prints one type, or several in parentheses.
    fn type_list(&mut self, types: &[TypeExpr]) {
        match types {
            [one] => self.ty(one),
            several => {
                self.put("(");
                self.separated(several, ", ", Printer::ty);
                self.put(")");
            }
        }
    }

    /// Prints type arguments; nothing for none.
    pub(super) fn type_arguments(&mut self, args: &[TypeExpr]) {
        if !args.is_empty() {
            self.put("[");
            self.separated(args, ", ", Printer::ty);
            self.put("]");
        }
    }

    /// Prints a pattern, possibly a bare tuple.
    pub(super) fn pattern(&mut self, pattern: &Pattern) {
        self.pattern_at(pattern, TUPLE);
    }

    /// Prints a pattern before `=>`.
    pub(super) fn arm_pattern(&mut self, pattern: &Pattern) {
        self.pattern_at(pattern, ALTERNATIVES);
    }

    /// Prints a pattern between commas.
    pub(super) fn pattern_item(&mut self, pattern: &Pattern) {
        self.pattern_at(pattern, AS);
    }

    /// Prints a pattern, in parentheses where it binds less tightly than `level`.
    fn pattern_at(&mut self, pattern: &Pattern, level: u8) {
        use PatternKind::*;
        let own = match &pattern.kind {
            Tuple(items) if items.len() > 1 => TUPLE,
            Or(_) => ALTERNATIVES,
            Range { .. } => SINGLE,
            As(..) => AS,
            CompactTuple(_) => COMPACT,
            Constructor(..) | Case(..) | Coarray(..) | Rest(_) => SINGLE,
            Int { negative: true, .. } | Real { negative: true, .. } | Suffixed { negative: true, .. } => {
                SINGLE
            }
            _ => PATTERN_ATOM,
        };
        self.wrapped(own < level, |p| match &pattern.kind {
            Wild | Error => p.put("_"),
            Name(name) => p.put(&name.text),
            Typed(inner, ty) => {
                p.put("(");
                p.arm_pattern(inner);
                p.put(":");
                p.ty(ty);
                p.put(")");
            }
            Int { value, negative } => {
                p.put(if *negative { "-" } else { "" });
                p.put(&value.to_string());
            }
            Real { digits, negative } => {
                p.put(if *negative { "-" } else { "" });
                p.put(digits);
            }
            Suffixed { digits, suffix, negative } => {
                p.put(if *negative { "-" } else { "" });
                p.put(&format!("{digits}{suffix}"));
            }
            Char(c) => p.put(&quoted_char(*c)),
            Str(text) => p.put(&quoted(text)),
            Bool(value) => p.put(if *value { "true" } else { "false" }),
            Tick(index, ty) => {
                p.put(&format!("`{index}:"));
                p.ty_at(ty, ATOM);
            }
            Rest(name) => {
                p.put("..");
                p.put(name.as_ref().map_or("_", |name| &name.text));
            }
            Tuple(items) if items.is_empty() => p.put("()"),
            Tuple(items) => p.separated(items, ", ", |p, i| p.pattern_at(i, AS)),
            CompactTuple(items) => p.separated(items, "\\, ", |p, i| p.pattern_at(i, SINGLE)),
            Record(fields) => {
                p.named_fields(fields, ", ", |p, field| p.pattern_at(field, AS));
            }
            CompactRecord(fields) => {
                p.named_fields(fields, " \\, ", |p, field| p.pattern_at(field, SINGLE));
            }
            Case(index, argument) => {
                p.put(&format!("case {index}"));
                if let Some(argument) = argument {
                    p.put(" ");
                    p.pattern_at(argument, PATTERN_ATOM);
                }
            }
            Coarray(index, argument) => {
                p.put("case ");
                p.pattern_at(index, PATTERN_ATOM);
                p.put(" ");
                p.pattern_at(argument, PATTERN_ATOM);
            }
            Constructor(name, argument) => {
                p.put(&name.text);
                p.put(" ");
                p.pattern_at(argument, PATTERN_ATOM);
            }
            Range { low, high, inclusive } => {
                p.pattern_at(low, SINGLE);
                p.put(if *inclusive { ".." } else { "..<" });
                p.pattern_at(high, SINGLE);
            }
            Or(parts) => p.separated(parts, " | ", |p, part| p.pattern_at(part, TUPLE)),
            As(inner, name) => {
                p.pattern_at(inner, AS);
                p.put(" as ");
                p.put(&name.text);
            }
        });
    }
}
