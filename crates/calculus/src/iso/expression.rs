//! Expressions that move storage: program text that converts a value of one type to another.
//!
//! Takes two types; gives an expression of the language that makes a value of the second from `v`,
//! a value of the first, if one of the forms below does. Messages name library functions only
//! through this module, so their suggestions type-check as written.
//!
//! ```text
//! v.transpose, v.pack …    a function whose type fits exactly: the table LIBRARY_FUNCTIONS
//! v.move[T]               leaves of which no two could be exchanged ([`super::leaves`])
//! (v.1, v.0.swap)         products of equal length, in order or, if that is unique, permuted
//! (b = v.b, a = v.a)      records with the same names
//! [ e.swap for e in v ]   arrays of one index type
//! match v with …          sums with equally many cases, in order or, if that is unique, permuted
//! ```
//!
//! A function may be preceded or followed by a `:>>` that loses no labels ([`super::labels`]). A
//! permutation is unique if no two components have one type; otherwise two components could be
//! confused, and no expression is given.
//!
//! The forms are exact: for every pair of types for which one is given, the checker accepts the
//! expression, which a property test verifies. Knows no syntax but that of the text it writes.

use super::labels::{Natural, label_loss, text_after_cast};
use super::leaves::{self, Leaf};
use crate::types::{Type, TypeKind};
use std::fmt::Write;

/// An expression in the value `v`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expression {
    /// The text of the expression.
    pub text: String,
    /// The library functions that it calls; the expression is wrong where their names are shadowed.
    pub functions: Vec<&'static str>,
}

impl Expression {
    /// Returns the help text of a message that suggests the expression.
    pub fn help(&self) -> String {
        format!("`{}` makes the one from the other, where `v` is the value", self.text)
    }
}

/// Nesting of expressions, at most.
const MAX_DEPTH: usize = 5;
/// Pairs of types compared, at most.
const MAX_PAIRS: usize = 100;
/// Components and cases written out, at most.
const MAX_PARTS: usize = 8;
/// Bytes of an expression, at most: longer ones are not helpful.
const MAX_TEXT_BYTES: usize = 240;
/// Nodes of the two types together, at most.
const MAX_TYPE_NODES: u32 = 500;

/// A library function and its inverse.
struct LibraryFunction {
    /// The name of the function.
    name: &'static str,
    /// The name of its inverse.
    inverse: &'static str,
    /// Returns the result type at an argument type, if the function accepts it.
    apply: fn(&Type) -> Option<Type>,
}

/// The library functions that expressions may call, with their inverses and result types.
const LIBRARY_FUNCTIONS: [LibraryFunction; 6] = [
    LibraryFunction { name: "distribute", inverse: "factor", apply: distribute },
    LibraryFunction { name: "factor", inverse: "distribute", apply: factor },
    LibraryFunction { name: "pack", inverse: "unpack", apply: pack },
    LibraryFunction { name: "unpack", inverse: "pack", apply: unpack },
    LibraryFunction { name: "transpose", inverse: "transpose", apply: transpose },
    LibraryFunction { name: "transpose", inverse: "transpose", apply: transpose_nested },
];

/// Returns an expression that makes a value of type `to` from one of type `from`.
pub fn expression(from: &Type, to: &Type, natural: &mut Natural<'_>) -> Option<Expression> {
    if from == to
        || from.nodes().saturating_add(to.nodes()) > MAX_TYPE_NODES
        || from.has_meta()
        || to.has_meta()
    {
        return None;
    }
    let mut writer = Writer { natural, functions: Vec::new(), pairs: 0 };
    let text = writer.write("v", from, to, 0)?;
    // The outermost parentheses of `(v.swap :>> T)` are redundant.
    let text = match text.strip_prefix('(').and_then(|inner| inner.strip_suffix(')')) {
        Some(inner) if needs_no_parentheses(inner) => inner.to_string(),
        _ => text,
    };
    let functions = writer.functions;
    (text.len() <= MAX_TEXT_BYTES).then_some(Expression { text, functions })
}

/// Returns true if a text needs no parentheses: a reshape or a match, as opposed to a part of a
/// tuple, a record or two operands with parentheses of their own.
fn needs_no_parentheses(inner: &str) -> bool {
    let (mut open, mut reshape) = (0usize, false);
    for (at, c) in inner.char_indices() {
        match c {
            '(' | '[' => open += 1,
            ')' | ']' if open == 0 => return false,
            ')' | ']' => open -= 1,
            ',' | '=' if open == 0 && !inner.starts_with("match ") => return false,
            ':' if open == 0 && inner[at..].starts_with(":>> ") => reshape = true,
            _ => {}
        }
    }
    reshape || inner.starts_with("match ")
}

/// The state of one search: the functions named so far and the pairs compared.
struct Writer<'w, 'n> {
    /// The relation "naturally isomorphic".
    natural: &'w mut Natural<'n>,
    /// The functions named so far.
    functions: Vec<&'static str>,
    /// The number of pairs compared so far.
    pairs: usize,
}

impl Writer<'_, '_> {
    /// Returns the text of an operand that makes a value of type `to` from the operand `v` of type
    /// `from`.
    fn write(&mut self, v: &str, from: &Type, to: &Type, depth: usize) -> Option<String> {
        if from == to {
            return Some(v.to_string());
        }
        self.pairs += 1;
        if depth > MAX_DEPTH || self.pairs > MAX_PAIRS || v.len() > MAX_TEXT_BYTES {
            return None;
        }
        if let Some(text) = self.reshape(v, from, to) {
            return Some(text);
        }
        // A failed attempt leaves no function named.
        let named = self.functions.len();
        let ways = [
            Writer::move_leaves,
            Writer::function,
            Writer::coarray,
            Writer::fields,
            Writer::components,
            Writer::elements,
            Writer::cases,
        ];
        for way in ways {
            if let Some(text) = way(self, v, from, to, depth) {
                return Some(text);
            }
            self.functions.truncate(named);
        }
        None
    }

    /// Returns `(v :>> T)`, if the reshape loses no labels.
    fn reshape(&mut self, v: &str, from: &Type, to: &Type) -> Option<String> {
        let kept = (self.natural)(from, to) && label_loss(from, to, &mut *self.natural).is_none();
        kept.then(|| format!("({v} :>> {})", text_after_cast(to)))
    }

    /// Returns a call of one library function or two, possibly with a reshape before or after.
    fn function(&mut self, v: &str, from: &Type, to: &Type, _: usize) -> Option<String> {
        let results: Vec<(&'static str, Type)> =
            LIBRARY_FUNCTIONS.iter().filter_map(|form| Some((form.name, (form.apply)(from)?))).collect();
        let sources: Vec<(&'static str, Type)> =
            LIBRARY_FUNCTIONS.iter().filter_map(|form| Some((form.inverse, (form.apply)(to)?))).collect();
        let mut call = |name: &'static str, v: &str| {
            self.functions.push(name);
            format!("{v}.{name}")
        };
        if let Some((name, _)) = results.iter().find(|(_, result)| result == to) {
            return Some(call(name, v));
        }
        for (first, middle) in &results {
            if let Some((second, _)) = sources.iter().find(|(_, source)| source == middle) {
                let inner = call(first, v);
                return Some(call(second, &inner));
            }
        }
        for (name, result) in &results {
            if let Some(text) = self.reshape(&format!("{v}.{name}"), result, to) {
                self.functions.push(name);
                return Some(text);
            }
        }
        for (name, source) in &sources {
            if let Some(text) = self.reshape(v, from, source) {
                self.functions.push(name);
                return Some(format!("{text}.{name}"));
            }
        }
        for (name, result) in &results {
            if let Some(text) = self.move_leaves(&format!("{v}.{name}"), result, to, 0) {
                self.functions.push(name);
                return Some(text);
            }
        }
        for (name, source) in &sources {
            if let Some(text) = self.move_leaves(v, from, source, 0) {
                self.functions.push(name);
                return Some(format!("{text}.{name}"));
            }
        }
        None
    }

    /// Returns `v.move[T]`, if storage must move and no leaf loses labels or axes.
    fn move_leaves(&mut self, v: &str, from: &Type, to: &Type, _: usize) -> Option<String> {
        if (self.natural)(from, to) {
            return None;
        }
        let sums = leaves::is_sum(from) && leaves::is_sum(to);
        let (plan, wanted) = match sums {
            true => (leaves::plan_cases(from, to, &mut *self.natural), leaves::cases(to)),
            false => (leaves::plan(from, to, &mut *self.natural), leaves::leaves(to)),
        };
        let (plan, wanted) = (plan.ok()?, wanted.ok()?);
        let whole = |leaf: &Leaf| Type::array(leaf.ty.clone(), Type::compact_product(leaf.axes()));
        for (at, leaf) in plan.order.iter().zip(&wanted) {
            let (from, to) = (whole(&plan.leaves[*at]), whole(leaf));
            if from != to && label_loss(&from, &to, &mut *self.natural).is_some() {
                return None;
            }
        }
        self.functions.push("move");
        Some(format!("{v}.move[{to}]"))
    }

    /// Returns the conversion of a coarray to the pair of its index and its argument, or back.
    fn coarray(&mut self, v: &str, from: &Type, to: &Type, _: usize) -> Option<String> {
        let pair = |(cases, case): (&Type, &Type)| Type::product(vec![cases.clone(), case.clone()]);
        if as_coarray(from).map(pair).as_ref() == Some(to) {
            self.functions.extend(["caseno", "casearg"]);
            return Some(format!("({v}.caseno, {v}.casearg)"));
        }
        let back = as_coarray(to).map(pair).as_ref() == Some(from);
        back.then(|| format!("((ainj {v}.0 of {to}) {v}.1)"))
    }

    /// Returns a record literal for records with the same names.
    fn fields(&mut self, v: &str, from: &Type, to: &Type, depth: usize) -> Option<String> {
        let (own, wanted, comma) = match (from.kind(), to.kind()) {
            (TypeKind::Record(own), TypeKind::Record(wanted)) => (own.clone(), wanted.clone(), ", "),
            _ => (from.compact_fields()?, to.compact_fields()?, " \\, "),
        };
        if own.len() != wanted.len() || own.len() > MAX_PARTS {
            return None;
        }
        let mut parts = Vec::new();
        for (name, ty) in &wanted {
            let (_, part) = own.iter().find(|(other, _)| other == name)?;
            parts.push(format!("{name} = {}", self.write(&format!("{v}.{name}"), part, ty, depth + 1)?));
        }
        Some(format!("({})", parts.join(comma)))
    }

    /// Returns a tuple for products of equal length.
    fn components(&mut self, v: &str, from: &Type, to: &Type, depth: usize) -> Option<String> {
        let product = |ty: &Type| matches!(ty.kind(), TypeKind::Product(_));
        let (own, wanted) = match (from.compact_factors(MAX_PARTS), to.compact_factors(MAX_PARTS)) {
            (None, None) if product(from) || product(to) => {
                (numbered_components(from)?, numbered_components(to)?)
            }
            // Packing and unpacking more than the library has functions for.
            (Some(factors), None) if !from.is_compact() || !to.is_compact() => {
                (factors, numbered_components(to)?)
            }
            (None, Some(factors)) if !from.is_compact() || !to.is_compact() => {
                (numbered_components(from)?, factors)
            }
            (Some(own), Some(wanted)) => (own, wanted),
            _ => return None,
        };
        if own.len() != wanted.len() || own.len() > MAX_PARTS {
            return None;
        }
        let order = self.component_order(&own, &wanted, depth)?;
        let mut parts = Vec::new();
        for (i, ty) in order.into_iter().zip(&wanted) {
            parts.push(self.write(&format!("{v}.{i}"), &own[i], ty, depth + 1)?);
        }
        let separator = if to.is_compact() { " \\, " } else { ", " };
        Some(format!("({})", parts.join(separator)))
    }

    /// Returns a comprehension that converts each element of an array.
    fn elements(&mut self, v: &str, from: &Type, to: &Type, depth: usize) -> Option<String> {
        let (TypeKind::Array(own, i), TypeKind::Array(wanted, j)) = (from.kind(), to.kind()) else {
            return None;
        };
        if i != j {
            return None;
        }
        let element = format!("e{}", if depth == 0 { String::new() } else { depth.to_string() });
        let body = self.write(&element, own, wanted, depth + 1)?;
        Some(format!("[ {body} for {element} in {v} ]"))
    }

    /// Returns a `match` for sums with equally many cases, each with an argument.
    fn cases(&mut self, v: &str, from: &Type, to: &Type, depth: usize) -> Option<String> {
        let (TypeKind::Sum(own), TypeKind::Sum(wanted)) = (from.kind(), to.kind()) else { return None };
        if own.len() != wanted.len() || own.len() > MAX_PARTS || own.iter().any(|case| case.is_compact()) {
            return None;
        }
        let order = self.component_order(own, wanted, depth)?;
        let case = format!("c{}", if depth == 0 { String::new() } else { depth.to_string() });
        let mut text = format!("(match {v} with");
        for (i, ty) in own.iter().enumerate() {
            let at = order.iter().position(|source| *source == i)?;
            let made = self.write(&case, ty, &wanted[at], depth + 1)?;
            let _ = write!(text, " | case {i} {case} => case {at} {made}");
        }
        text.push_str(" endmatch)");
        Some(text)
    }

    /// Returns for each wanted part the number of its source: the identity if each part can be
    /// converted in place, otherwise the only permutation of equal types.
    fn component_order(&mut self, own: &[Type], wanted: &[Type], depth: usize) -> Option<Vec<usize>> {
        let named = self.functions.len();
        let straight = own.iter().zip(wanted).all(|(x, y)| self.write("v", x, y, depth + 1).is_some());
        self.functions.truncate(named);
        if straight {
            return Some((0..own.len()).collect());
        }
        let mut order = Vec::new();
        for ty in wanted {
            let mut equal = own.iter().enumerate().filter(|(_, part)| *part == ty);
            let (at, _) = equal.next()?;
            if equal.next().is_some() || order.contains(&at) {
                return None;
            }
            order.push(at);
        }
        Some(order)
    }
}

/// Returns the numbered components of a product or short array.
fn numbered_components(ty: &Type) -> Option<Vec<Type>> {
    match ty.kind() {
        TypeKind::Product(_) | TypeKind::Array(..) => ty.components(MAX_PARTS),
        _ => None,
    }
}

/// Returns the two components of a product of two different types (`T * T` is an array).
fn pair(ty: &Type) -> Option<(&Type, &Type)> {
    match ty.kind() {
        TypeKind::Product(parts) => match &parts[..] {
            [a, b] => Some((a, b)),
            _ => None,
        },
        _ => None,
    }
}

/// Returns the index and the case type of a coarray.
fn as_coarray(ty: &Type) -> Option<(&Type, &Type)> {
    match ty.kind() {
        TypeKind::Repeat(cases, case) => Some((cases, case)),
        _ => None,
    }
}

/// Returns the two cases of a sum.
fn sum_pair(ty: &Type) -> Option<(Type, Type)> {
    match ty.kind() {
        TypeKind::Sum(cases) => match &cases[..] {
            [a, b] => Some((a.clone(), b.clone())),
            _ => None,
        },
        TypeKind::Repeat(n, case) if n.is_bool() => Some((case.clone(), case.clone())),
        _ => None,
    }
}

/// Returns the two components of a product or of `T ^ 2`.
fn pair_components(ty: &Type) -> Option<(Type, Type)> {
    match ty.kind() {
        TypeKind::Array(element, index) if index.as_unit_sum().is_some_and(|n| *n == 2u8.into()) => {
            Some((element.clone(), element.clone()))
        }
        _ => pair(ty).map(|(a, b)| (a.clone(), b.clone())),
    }
}

/// Returns the result type of `distribute`: `A * (B + C)` to `A * B + A * C`.
fn distribute(ty: &Type) -> Option<Type> {
    let (a, sum) = pair(ty)?;
    let (b, c) = sum_pair(sum)?;
    let with = |case: Type| Type::product(vec![a.clone(), case]);
    Some(Type::sum(vec![with(b), with(c)]))
}

/// Returns the result type of `factor`: `A * B + A * C` to `A * (B + C)`.
fn factor(ty: &Type) -> Option<Type> {
    let (first, second) = sum_pair(ty)?;
    let ((a, b), (other, c)) = (pair_components(&first)?, pair_components(&second)?);
    (a == other).then(|| Type::product(vec![a, Type::sum(vec![b, c])]))
}

/// Returns the result type of `pack`: products, records and arrays of compact types.
fn pack(ty: &Type) -> Option<Type> {
    match ty.kind() {
        TypeKind::Product(parts) if parts.iter().all(Type::is_compact) => {
            Some(Type::compact_product(parts.clone()))
        }
        TypeKind::Record(fields) if fields.len() > 1 && fields.iter().all(|(_, part)| part.is_compact()) => {
            Some(Type::compact_record(fields.clone()))
        }
        TypeKind::Array(element, index) if element.is_compact() => {
            Some(Type::compact_power(element.clone(), index.clone()))
        }
        _ => None,
    }
}

/// Returns the result type of `unpack`, the inverse of `pack`.
fn unpack(ty: &Type) -> Option<Type> {
    if let Some(fields) = ty.compact_fields() {
        return Some(Type::record(fields));
    }
    match ty.kind() {
        TypeKind::CompactProduct(parts) => Some(Type::product(parts.clone())),
        TypeKind::CompactPower(digit, index) => Some(Type::array(digit.clone(), index.clone())),
        _ => None,
    }
}

/// Returns the result type of `transpose` on `T ^ (N \* M)`.
fn transpose(ty: &Type) -> Option<Type> {
    let TypeKind::Array(element, index) = ty.kind() else { return None };
    match index.compact_factors(2).as_deref() {
        // Arrays of arrays have axes of their own, and both functions would fit.
        Some([n, m]) if !matches!(element.kind(), TypeKind::Array(..)) => {
            Some(Type::array(element.clone(), Type::compact_product(vec![m.clone(), n.clone()])))
        }
        _ => None,
    }
}

/// Returns the result type of `transpose` on `T ^ M ^ N`.
fn transpose_nested(ty: &Type) -> Option<Type> {
    let TypeKind::Array(row, outer) = ty.kind() else { return None };
    let TypeKind::Array(element, inner) = row.kind() else { return None };
    if outer.compact_factors(2).is_some_and(|factors| factors.len() == 2) {
        return None;
    }
    Some(Type::array(Type::array(element.clone(), outer.clone()), inner.clone()))
}
