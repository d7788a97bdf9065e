//! Values as text: `.str` for people, `._strr` for reading back.
//!
//! Elements come in storage order, whatever the constructor of the index type. `.str` puts blanks
//! after commas and shows an index value as its number; `._strr` leaves blanks out, quotes strings
//! and shows an index value as `case 1 of 3`. Truth values are `true` and `false` in both.

use super::error::Failure;
use super::overrides::Overrides;
use crate::layout::{Form, Layout, Layouts};
use crate::types::encoding::{Code, Encoding};
use crate::types::{NominalBody, Scalar, Type, TypeKind};
use crate::value::Value;
use num_bigint::BigUint;
use num_traits::ToPrimitive;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::fmt::Write;
use std::sync::atomic::{AtomicBool, Ordering};

/// How to show.
pub struct Show<'a> {
    /// Layouts made so far.
    pub layouts: &'a Layouts,
    /// For reading back rather than for people.
    pub read_back: bool,
    /// Types with a text of their own.
    pub own: &'a Overrides,
    /// Their values, in the order met, or what their functions gave for them.
    pub parts: &'a RefCell<Parts>,
    /// For a glance: not all of a large value.
    pub brief: Option<Brief>,
    /// Set from outside to stop the work; what there is of the text then is good for nothing.
    pub stop: Option<&'a AtomicBool>,
}

/// How much of a value is shown at a glance. Strings are then quoted, so that one sees where they end.
#[derive(Clone, Copy)]
pub struct Brief {
    /// About how many bytes the text may have.
    pub longest: usize,
    /// How many elements of one array.
    pub elements: usize,
}

/// Parts of a value that have a text of their own.
pub enum Parts {
    /// Met on a first walk: which function, and the value.
    Met(Vec<(usize, Value)>),
    /// Their texts, for the second walk.
    Texts(VecDeque<String>),
}

/// A text is cut here: nobody reads more, and memory is finite.
const LONGEST: usize = 64 << 20;

/// Elements of an array after which it is looked whether the work is to stop.
const LOOK: usize = 1 << 12;
/// Bytes of a text that are given out between two such looks: a terminal may be slow.
const PIECE: usize = 1 << 14;

/// Gives a text out, unless somebody wants to stop.
pub fn give_out(mut text: &str, out: &mut dyn FnMut(&str), stop: &AtomicBool) -> Result<(), Failure> {
    loop {
        if stop.load(Ordering::Relaxed) {
            return Err(Failure::Interrupted);
        }
        let (piece, rest) = text.split_at(text.floor_char_boundary(PIECE));
        out(piece);
        if rest.is_empty() {
            return Ok(());
        }
        text = rest;
    }
}

/// The text of a value, by its structure alone.
pub fn plain(
    layouts: &Layouts,
    read_back: bool,
    value: &Value,
    ty: &Type,
    stop: Option<&AtomicBool>,
) -> String {
    let parts = RefCell::new(Parts::Met(Vec::new()));
    Show { layouts, read_back, own: &Overrides::default(), parts: &parts, brief: None, stop }.text(value, ty)
}

impl Show<'_> {
    fn longest(&self) -> usize {
        self.brief.map_or(LONGEST, |brief| brief.longest)
    }

    /// The text of a value.
    pub fn text(&self, value: &Value, ty: &Type) -> String {
        let mut out = String::new();
        self.write(value, ty, &mut out);
        out
    }

    fn comma(&self) -> &'static str {
        if self.read_back { "," } else { ", " }
    }

    fn write(&self, value: &Value, ty: &Type, out: &mut String) {
        if out.len() > self.longest() || !super::stack_guard::has_room() {
            if !out.ends_with('…') {
                out.push('…');
            }
            return;
        }
        let ty = match self.own.at(ty) {
            Ok(at) => {
                match &mut *self.parts.borrow_mut() {
                    Parts::Met(met) => met.push((at, value.clone())),
                    Parts::Texts(texts) => out.push_str(&texts.pop_front().unwrap_or_default()),
                }
                return;
            }
            Err(structure) => structure,
        };
        if ty.is_compact() {
            return self.compact(&value.to_code(), &ty, out);
        }
        match ty.kind() {
            TypeKind::Scalar(scalar) => self.scalar(value, *scalar, out),
            TypeKind::Array(element, _) => self.array(value, &ty, element, out),
            TypeKind::Product(parts) => self.parts(value, &ty, parts.iter().map(|t| (None, t.clone())), out),
            TypeKind::Record(fields) => {
                self.parts(value, &ty, fields.iter().map(|(n, t)| (Some(&**n), t.clone())), out);
            }
            TypeKind::Sum(_) | TypeKind::Repeat(..) => {
                let layout = self.layouts.of(&ty);
                let Form::Sum(sum) = &layout.form else { return };
                let (case, argument) = sum.split(value);
                let case_ty = ty.case_type(&case.to_big()).unwrap_or_else(Type::unit);
                let _ = write!(out, "case {case} ");
                self.argument(&argument, &case_ty, out);
            }
            TypeKind::Nominal(nominal, args) => match nominal.body() {
                Some(NominalBody::Struct(_)) => {
                    out.push_str(&nominal.name);
                    let fields = nominal.struct_fields(args).unwrap_or_default();
                    self.parts(value, &ty, fields.into_iter().map(|(_, t)| (None, t)), out);
                }
                // What it consists of is nobody's business.
                Some(NominalBody::Abstract(_)) => {
                    let _ = write!(out, "<{}>", nominal.name);
                }
                _ => {
                    let Value::Sum(sum) = value else { return };
                    let cases = nominal.variant_cases(args).unwrap_or_default();
                    let Some(case) = sum.0.to_usize() else { return };
                    let Some((name, case_ty)) = cases.get(case) else { return };
                    out.push_str(name);
                    if nominal.case_has_argument(case) {
                        out.push(' ');
                        self.argument(&sum.1, case_ty, out);
                    }
                }
            },
            TypeKind::Exists(..) => {
                if let Value::Packed(packed) = value {
                    self.write(&packed.value, &packed.opened(&ty), out);
                }
            }
            _ => out.push_str("<function>"),
        }
    }

    /// The argument of a case: in parentheses unless it brings its own.
    fn argument(&self, value: &Value, ty: &Type, out: &mut String) {
        if self.own.at(ty).is_err() && parenthesized(ty) {
            self.write(value, ty, out);
        } else {
            out.push('(');
            self.write(value, ty, out);
            out.push(')');
        }
    }

    fn scalar(&self, value: &Value, scalar: Scalar, out: &mut String) {
        match scalar {
            Scalar::Int => {
                let _ = write!(out, "{}", value.as_int());
            }
            Scalar::Fixed(fixed) => {
                let _ = write!(out, "{}", fixed.decode(value.word()));
            }
            Scalar::Real if self.read_back && !value.as_real().is_finite() => {
                out.push_str(quotient(value.as_real()));
            }
            Scalar::Single if self.read_back && !value.as_single().is_finite() => {
                out.push_str(quotient(value.as_single().into()));
            }
            Scalar::Single => out.push_str(&single(value.as_single())),
            Scalar::Real => out.push_str(&real(value.as_real())),
            Scalar::Bigint => {
                let _ = write!(out, "{}", value.as_bigint());
            }
            Scalar::String if self.brief.is_some() => glance(value.as_str(), self.longest(), out),
            Scalar::String if self.read_back => quote(value.as_str(), out),
            Scalar::String => out.push_str(value.as_str()),
            Scalar::Char if self.read_back || self.brief.is_some() => {
                out.push_str(&character(value.as_char()))
            }
            Scalar::Char => out.push(value.as_char()),
        }
    }

    fn array(&self, value: &Value, ty: &Type, element: &Type, out: &mut String) {
        let layout = self.layouts.of(ty);
        let Form::Array { element: each, count } = &layout.form else { return };
        let (open, close) = if *count < 2 { ('[', ']') } else { ('(', ')') };
        out.push(open);
        // At a glance, the first elements and the last.
        let most = self.brief.map_or(usize::MAX, |brief| brief.elements.max(2));
        let gap = if *count > most { most - most / 2..*count - most / 2 } else { *count..*count };
        for i in (0..gap.start).chain(gap.end..*count) {
            // Whoever asked finds that the work was stopped, and drops what there is.
            if i % LOOK == 0 && self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
                return;
            }
            if i == gap.end && !gap.is_empty() {
                let _ = write!(out, "{}…", self.comma());
            }
            if out.len() > self.longest() {
                out.push('…');
                break;
            }
            if i > 0 {
                out.push_str(self.comma());
            }
            let part = part(value, &layout, i * each.slots, each);
            self.write(&part, element, out);
        }
        out.push(close);
    }

    fn parts<'t>(
        &self,
        value: &Value,
        ty: &Type,
        parts: impl Iterator<Item = (Option<&'t str>, Type)>,
        out: &mut String,
    ) {
        let layout = self.layouts.of(ty);
        out.push('(');
        for (i, (name, ty)) in parts.enumerate() {
            if i > 0 {
                out.push_str(self.comma());
            }
            if let Some(name) = name {
                let _ = write!(out, "{name}=");
            }
            if let Some((start, each)) = layout.part(i) {
                self.write(&part(value, &layout, start, &each), &ty, out);
            }
        }
        out.push(')');
    }

    fn compact(&self, code: &Code, ty: &Type, out: &mut String) {
        if let (TypeKind::Nominal(nominal, _), false) = (ty.kind(), self.read_back)
            && nominal.cyclic
        {
            let _ = write!(out, "{code}");
            return;
        }
        if let Some(fields) = ty.named_parts() {
            let named = |i: usize| (&*fields[i].0, fields[i].1.clone());
            return self.digits(code, ty, fields.len(), named, out);
        }
        let ty = ty.unfold();
        if ty.is_unit() {
            out.push_str("()");
            return;
        }
        if ty.is_bool() {
            out.push_str(if code.is_zero() { "false" } else { "true" });
            return;
        }
        match ty.kind() {
            TypeKind::UnitSum(n) if self.read_back => {
                let _ = write!(out, "case {code} of {n}");
            }
            TypeKind::UnitSum(_) => {
                let _ = write!(out, "{code}");
            }
            TypeKind::CompactSum(cases) => {
                let Ok(encoding) = Encoding::of(&ty) else { return };
                let (case, argument) = encoding.split(code);
                let _ = write!(out, "case {case} ");
                if let Some(case_ty) = case.to_usize().and_then(|i| cases.get(i)) {
                    let own = parenthesized(case_ty);
                    out.push_str(if own { "" } else { "(" });
                    self.compact(&argument, case_ty, out);
                    out.push_str(if own { "" } else { ")" });
                }
            }
            TypeKind::CompactProduct(factors) => {
                self.digits(code, &ty, factors.len(), |i| ("", factors[i].clone()), out)
            }
            TypeKind::CompactPower(base, exponent) => {
                let count = exponent.size().ok().and_then(|n| n.to_usize()).unwrap_or(usize::MAX);
                self.digits(code, &ty, count, |_| ("", base.clone()), out);
            }
            TypeKind::Nominal(nominal, args) => {
                let cases = nominal.variant_cases(args).unwrap_or_default();
                let name = code.to_usize().and_then(|case| cases.get(case));
                out.push_str(name.map_or("", |(name, _)| name));
            }
            // A pair is made by a function; its code reads back as it is.
            TypeKind::Triangle(..) if self.read_back => {
                let _ = write!(out, "({code}:>>{ty})");
            }
            TypeKind::Triangle(_, index) => self.digits(code, &ty, 2, |_| ("", index.clone()), out),
            _ => {
                let _ = write!(out, "{code}");
            }
        }
    }

    /// The parts of a compact value, each with its name, which is empty where it has none.
    fn digits<'n>(
        &self,
        code: &Code,
        ty: &Type,
        count: usize,
        part: impl Fn(usize) -> (&'n str, Type),
        out: &mut String,
    ) {
        let Ok(encoding) = Encoding::of(ty) else { return };
        let (open, close) = if count < 2 { ('[', ']') } else { ('(', ')') };
        out.push(open);
        for i in 0..count {
            if i > 0 {
                out.push_str(if self.read_back { "\\," } else { "\\, " });
            }
            if out.len() > self.longest() {
                out.push('…');
                break;
            }
            let (name, part) = part(i);
            if !name.is_empty() {
                let _ = write!(out, "{name}=");
            }
            self.compact(&encoding.project(code, &Code::from(i)), &part, out);
        }
        out.push(close);
    }
}

/// Part of a value that begins at a slot.
pub(super) fn part(value: &Value, whole: &Layout, start: usize, part: &Layout) -> Value {
    if whole.slots == part.slots { value.clone() } else { value.slots(start, part.slots) }
}

/// Whether values of a type are shown in parentheses.
fn parenthesized(ty: &Type) -> bool {
    if ty.named_parts().is_some() && ty.is_compact() {
        return true;
    }
    let ty = ty.unfold();
    let several = |index: &Type| index.size().is_ok_and(|n| n > BigUint::from(1u32));
    match ty.kind() {
        TypeKind::Product(_) | TypeKind::Record(_) | TypeKind::CompactProduct(_) | TypeKind::Triangle(..) => {
            true
        }
        TypeKind::Array(_, index) | TypeKind::CompactPower(_, index) => several(index),
        _ => ty.is_unit(),
    }
}

/// The shortest text that reads back as the same `f32`.
fn single(x: f32) -> String {
    if x.is_finite() { format!("{x:?}") } else { real(f64::from(x)) }
}

/// The shortest text that reads back as the same `real`.
pub(super) fn real(x: f64) -> String {
    if x.is_nan() {
        return "nan".into();
    }
    if x.is_infinite() {
        return if x > 0.0 { "inf".into() } else { "-inf".into() };
    }
    format!("{x:?}")
}

/// There are no literals for infinities and NaN, but expressions.
fn quotient(x: f64) -> &'static str {
    match x {
        x if x.is_nan() => "(0.0/0.0)",
        x if x > 0.0 => "(1.0/0.0)",
        _ => "(-1.0/0.0)",
    }
}

/// A string in quotes, with escapes that the lexer reads.
fn quote(text: &str, out: &mut String) {
    out.push('"');
    text.chars().for_each(|c| escape(c, '"', out));
    out.push('"');
}

/// A string in quotes, and of a long one its beginning and how much is left out.
fn glance(text: &str, longest: usize, out: &mut String) {
    match text.char_indices().nth(longest) {
        None => quote(text, out),
        Some((end, _)) => {
            quote(&text[..end], out);
            let _ = write!(out, "… ({} characters left out)", text[end..].chars().count());
        }
    }
}

/// A character in quotes, with an escape that the lexer reads.
pub(super) fn character(c: char) -> String {
    let mut out = String::from("'");
    escape(c, '\'', &mut out);
    out.push('\'');
    out
}

/// A character inside quotes of this kind.
fn escape(c: char, quote: char, out: &mut String) {
    match c {
        '\\' => out.push_str("\\\\"),
        '\n' => out.push_str("\\n"),
        '\t' => out.push_str("\\t"),
        '\r' => out.push_str("\\r"),
        '\0' => out.push_str("\\0"),
        c if c == quote => {
            out.push('\\');
            out.push(c);
        }
        c if c.is_control() => {
            let _ = write!(out, "\\u{{{:x}}}", c as u32);
        }
        c => out.push(c),
    }
}
