//! Printing of values: `.str` for people, `._strr` for reading back.
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
use num_bigint::{BigInt, BigUint};
use num_traits::ToPrimitive;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::fmt::Write;
use std::sync::atomic::{AtomicBool, Ordering};

/// A printer of values.
pub struct ValueFormatter<'a> {
    /// The cache of layouts.
    pub layouts: &'a Layouts,
    /// True for text that reads back.
    pub read_back: bool,
    /// The types with an overridden text.
    pub overrides: &'a Overrides,
    /// The overridden parts of the value, in the order of the walk.
    pub parts: &'a RefCell<OverriddenParts>,
    /// Bounds of an abbreviated text.
    pub abbreviation: Option<Abbreviation>,
    /// The interrupt flag. Once it is set, the text is undefined.
    pub interrupt: Option<&'a AtomicBool>,
}

/// The bounds of an abbreviated text. Strings in it are quoted, so that their ends are visible.
#[derive(Clone, Copy)]
pub struct Abbreviation {
    /// The approximate length in bytes.
    pub max_bytes: usize,
    /// The number of shown elements of each array.
    pub max_elements: usize,
}

/// The parts of a value with an overridden text.
pub enum OverriddenParts {
    /// Collected on the first walk: the index of the function, and the value.
    Collected(Vec<(usize, Value)>),
    /// The texts that their functions returned, for the second walk.
    Texts(VecDeque<String>),
}

/// The length in bytes from which a text is truncated.
const MAX_TEXT_BYTES: usize = 64 << 20;

/// The number of elements between two polls of the interrupt flag.
const ELEMENTS_PER_POLL: usize = 1 << 12;
/// The number of bytes that are written between two polls of the interrupt flag: a terminal may be
/// slow.
const OUTPUT_CHUNK_BYTES: usize = 1 << 14;

/// Writes a text in chunks.
///
/// # Errors
///
/// The interrupt flag was set.
pub fn write_output(mut text: &str, out: &mut dyn FnMut(&str), stop: &AtomicBool) -> Result<(), Failure> {
    loop {
        if stop.load(Ordering::Relaxed) {
            return Err(Failure::Interrupted);
        }
        let (piece, rest) = text.split_at(text.floor_char_boundary(OUTPUT_CHUNK_BYTES));
        out(piece);
        if rest.is_empty() {
            return Ok(());
        }
        text = rest;
    }
}

/// Returns the text of a value by its structure, without overrides.
pub fn structural_text(
    layouts: &Layouts,
    read_back: bool,
    value: &Value,
    ty: &Type,
    stop: Option<&AtomicBool>,
) -> String {
    let parts = RefCell::new(OverriddenParts::Collected(Vec::new()));
    ValueFormatter {
        layouts,
        read_back,
        overrides: &Overrides::default(),
        parts: &parts,
        abbreviation: None,
        interrupt: stop,
    }
    .text(value, ty)
}

impl ValueFormatter<'_> {
    /// Returns the length in bytes from which the text is truncated.
    fn max_bytes(&self) -> usize {
        self.abbreviation.map_or(MAX_TEXT_BYTES, |brief| brief.max_bytes)
    }

    /// Returns the text of a value.
    pub fn text(&self, value: &Value, ty: &Type) -> String {
        let mut out = String::new();
        self.write(value, ty, &mut out);
        out
    }

    /// Returns the separator of elements.
    fn separator(&self) -> &'static str {
        if self.read_back { "," } else { ", " }
    }

    /// Writes a value.
    fn write(&self, value: &Value, ty: &Type, out: &mut String) {
        if out.len() > self.max_bytes() || !super::stack_guard::has_room() {
            if !out.ends_with('…') {
                out.push('…');
            }
            return;
        }
        let ty = match self.overrides.index_of(ty) {
            Ok(at) => {
                match &mut *self.parts.borrow_mut() {
                    OverriddenParts::Collected(met) => met.push((at, value.clone())),
                    OverriddenParts::Texts(texts) => {
                        out.push_str(&texts.pop_front().expect("both walks meet the same values"));
                    }
                }
                return;
            }
            Err(structure) => structure,
        };
        if ty.is_compact() {
            return self.write_compact(&value.to_code(), &ty, out);
        }
        match ty.kind() {
            TypeKind::Scalar(scalar) => self.write_scalar(value, *scalar, out),
            TypeKind::Array(element, _) => self.write_array(value, &ty, element, out),
            TypeKind::Product(parts) => {
                self.write_product(value, &ty, parts.iter().map(|t| (None, t.clone())), out)
            }
            TypeKind::Record(fields) => {
                self.write_product(value, &ty, fields.iter().map(|(n, t)| (Some(&**n), t.clone())), out);
            }
            TypeKind::Sum(_) | TypeKind::Repeat(..) => {
                let layout = self.layouts.of(&ty);
                let Form::Sum(sum) = &layout.form else { unreachable!("a sum has the layout of a sum") };
                let (case, argument) = sum.split(value);
                let case_ty = ty.case_type(&case.to_big()).expect("a sum has the case of its value");
                let _ = write!(out, "case {case} ");
                self.write_case_argument(&argument, &case_ty, out);
            }
            TypeKind::Nominal(nominal, args) => match nominal.body() {
                Some(NominalBody::Struct(_)) => {
                    out.push_str(&nominal.name);
                    let fields = nominal.struct_fields(args).expect("a struct has fields");
                    self.write_product(value, &ty, fields.into_iter().map(|(_, t)| (None, t)), out);
                }
                // The representation of an abstract type is not shown.
                Some(NominalBody::Abstract(_)) => {
                    let _ = write!(out, "<{}>", nominal.name);
                }
                _ => {
                    let Value::Sum(sum) = value else { unreachable!("a value of a variant has a tag") };
                    let cases = nominal.variant_cases(args).expect("a variant has cases");
                    let case = sum.0.to_usize().expect("a variant has the case of its value");
                    let (name, case_ty) = &cases[case];
                    out.push_str(name);
                    if nominal.case_has_argument(case) {
                        out.push(' ');
                        self.write_case_argument(&sum.1, case_ty, out);
                    }
                }
            },
            TypeKind::Exists(..) => {
                let Value::Packed(packed) = value else {
                    unreachable!("a value of an existential type has its sizes")
                };
                self.write(&packed.value, &packed.value_type(&ty), out);
            }
            _ => out.push_str("<function>"),
        }
    }

    /// Writes the argument of a case, in parentheses unless its own text has some.
    fn write_case_argument(&self, value: &Value, ty: &Type, out: &mut String) {
        if self.overrides.index_of(ty).is_err() && has_parentheses(ty) {
            self.write(value, ty, out);
        } else {
            out.push('(');
            self.write(value, ty, out);
            out.push(')');
        }
    }

    /// Writes a scalar.
    fn write_scalar(&self, value: &Value, scalar: Scalar, out: &mut String) {
        match scalar {
            Scalar::Int => {
                let _ = write!(out, "{}", value.as_int());
            }
            Scalar::Fixed(fixed) => {
                let _ = write!(out, "{}", fixed.decode(value.word()));
            }
            Scalar::Real if self.read_back && !value.as_real().is_finite() => {
                out.push_str(non_finite_expression(value.as_real()));
            }
            Scalar::Single if self.read_back && !value.as_single().is_finite() => {
                out.push_str(non_finite_expression(value.as_single().into()));
            }
            Scalar::Single => out.push_str(&single_text(value.as_single())),
            Scalar::Real => out.push_str(&real_text(value.as_real())),
            Scalar::Bigint => {
                let _ = write!(out, "{}", value.as_bigint());
            }
            Scalar::String if self.abbreviation.is_some() => {
                write_abbreviated(value.as_str(), self.max_bytes(), out)
            }
            Scalar::String if self.read_back => write_quoted(value.as_str(), out),
            Scalar::String => out.push_str(value.as_str()),
            Scalar::Char if self.read_back || self.abbreviation.is_some() => {
                out.push_str(&quoted_char(value.as_char()))
            }
            Scalar::Char => out.push(value.as_char()),
        }
    }

    /// Writes an array.
    fn write_array(&self, value: &Value, ty: &Type, element: &Type, out: &mut String) {
        let layout = self.layouts.of(ty);
        let Form::Array { element: each, count } = &layout.form else {
            unreachable!("an array has the layout of an array")
        };
        let (open, close) = if *count < 2 { ('[', ']') } else { ('(', ')') };
        out.push(open);
        // An abbreviated array shows its first and last elements.
        let most = self.abbreviation.map_or(usize::MAX, |brief| brief.max_elements.max(2));
        let gap = if *count > most { most - most / 2..*count - most / 2 } else { *count..*count };
        for i in (0..gap.start).chain(gap.end..*count) {
            // The caller polls the flag, too, and drops the text.
            if i % ELEMENTS_PER_POLL == 0 && self.interrupt.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
                return;
            }
            if i == gap.end && !gap.is_empty() {
                let _ = write!(out, "{}…", self.separator());
            }
            if out.len() > self.max_bytes() {
                out.push('…');
                break;
            }
            if i > 0 {
                out.push_str(self.separator());
            }
            let part = value_part(value, &layout, i * each.slots, each);
            self.write(&part, element, out);
        }
        out.push(close);
    }

    /// Writes the parts of a product, with names if it is a record.
    fn write_product<'t>(
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
                out.push_str(self.separator());
            }
            if let Some(name) = name {
                let _ = write!(out, "{name}=");
            }
            let (start, each) = layout.part(i).expect("a product has this component");
            self.write(&value_part(value, &layout, start, &each), &ty, out);
        }
        out.push(')');
    }

    /// Writes a compact value.
    fn write_compact(&self, code: &Code, ty: &Type, out: &mut String) {
        if let (TypeKind::Nominal(nominal, _), false) = (ty.kind(), self.read_back)
            && nominal.cyclic
        {
            let _ = write!(out, "{code}");
            return;
        }
        if let (Some(first), false) = (ty.first_label(), self.read_back) {
            let _ = write!(out, "{}", first + BigInt::from(code.to_big()));
            return;
        }
        if let Some(fields) = ty.named_parts() {
            let named = |i: usize| (&*fields[i].0, fields[i].1.clone());
            return self.write_compact_product(code, ty, fields.len(), named, out);
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
                let encoding = Encoding::of(&ty).expect("a type with values has an encoding");
                let (case, argument) = encoding.split(code);
                let _ = write!(out, "case {case} ");
                if let Some(case_ty) = case.to_usize().and_then(|i| cases.get(i)) {
                    let own = has_parentheses(case_ty);
                    out.push_str(if own { "" } else { "(" });
                    self.write_compact(&argument, case_ty, out);
                    out.push_str(if own { "" } else { ")" });
                }
            }
            TypeKind::CompactProduct(factors) => {
                self.write_compact_product(code, &ty, factors.len(), |i| ("", factors[i].clone()), out)
            }
            TypeKind::CompactPower(base, exponent) => {
                let count = exponent.size().ok().and_then(|n| n.to_usize()).unwrap_or(usize::MAX);
                self.write_compact_product(code, &ty, count, |_| ("", base.clone()), out);
            }
            TypeKind::Nominal(nominal, args) => {
                let cases = nominal.variant_cases(args).expect("an enumeration has cases");
                let case = code.to_usize().expect("an enumeration has the case of its value");
                out.push_str(&cases[case].0);
            }
            // A pair is made by a function of the library; its code reads back.
            TypeKind::Triangle(..) if self.read_back => {
                let _ = write!(out, "({code}:>>{ty})");
            }
            TypeKind::Triangle(_, index) => {
                self.write_compact_product(code, &ty, 2, |_| ("", index.clone()), out)
            }
            _ => {
                let _ = write!(out, "{code}");
            }
        }
    }

    /// Writes the parts of a compact value, each with its name, which is empty where it has none.
    fn write_compact_product<'n>(
        &self,
        code: &Code,
        ty: &Type,
        count: usize,
        part: impl Fn(usize) -> (&'n str, Type),
        out: &mut String,
    ) {
        let encoding = Encoding::of(ty).expect("a type with values has an encoding");
        let (open, close) = if count < 2 { ('[', ']') } else { ('(', ')') };
        out.push(open);
        for i in 0..count {
            if i > 0 {
                out.push_str(if self.read_back { "\\," } else { "\\, " });
            }
            if out.len() > self.max_bytes() {
                out.push('…');
                break;
            }
            let (name, part) = part(i);
            if !name.is_empty() {
                let _ = write!(out, "{name}=");
            }
            self.write_compact(&encoding.project(code, &Code::from(i)), &part, out);
        }
        out.push(close);
    }
}

/// Returns the part of a value that begins at a slot.
pub(super) fn value_part(value: &Value, whole: &Layout, start: usize, part: &Layout) -> Value {
    if whole.slots == part.slots { value.clone() } else { value.slots(start, part.slots) }
}

/// Returns true if the text of values of a type is in parentheses.
fn has_parentheses(ty: &Type) -> bool {
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

/// Returns the shortest text that reads back as the same `f32`.
fn single_text(x: f32) -> String {
    if x.is_finite() { format!("{x:?}") } else { real_text(f64::from(x)) }
}

/// Returns the shortest text that reads back as the same `real`.
pub(super) fn real_text(x: f64) -> String {
    if x.is_nan() {
        return "nan".into();
    }
    if x.is_infinite() {
        return if x > 0.0 { "inf".into() } else { "-inf".into() };
    }
    format!("{x:?}")
}

/// Returns an expression for an infinity or NaN, which have no literals.
fn non_finite_expression(x: f64) -> &'static str {
    match x {
        x if x.is_nan() => "(0.0/0.0)",
        x if x > 0.0 => "(1.0/0.0)",
        _ => "(-1.0/0.0)",
    }
}

/// Writes a string in quotes, with escapes that the lexer reads.
fn write_quoted(text: &str, out: &mut String) {
    out.push('"');
    text.chars().for_each(|c| write_escaped(c, '"', out));
    out.push('"');
}

/// Writes a string in quotes; of a long one the beginning and the number of omitted characters.
fn write_abbreviated(text: &str, longest: usize, out: &mut String) {
    match text.char_indices().nth(longest) {
        None => write_quoted(text, out),
        Some((end, _)) => {
            write_quoted(&text[..end], out);
            let _ = write!(out, "… ({} characters left out)", text[end..].chars().count());
        }
    }
}

/// Returns a character in quotes, with an escape that the lexer reads.
pub(super) fn quoted_char(c: char) -> String {
    let mut out = String::from("'");
    write_escaped(c, '\'', &mut out);
    out.push('\'');
    out
}

/// Writes a character inside quotes of this kind.
fn write_escaped(c: char, quote: char, out: &mut String) {
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
