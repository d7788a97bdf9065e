//! Advice about the axes of fields: an axis whose halo or boundaries are missing, are wider or
//! narrower, or stand where the axis itself is wanted.
//!
//! Takes the type of an array and of the place it is given to; gives functions of the library with
//! the axis they work on in brackets. What is advised checks, and works along the axis that is
//! meant: the one that the program names, or the one that lacks the halo. A boundary condition
//! belongs to the problem that is solved, so advice with one has no edit.

use crate::check::context::Checker;
use crate::core::{Term, TermKind};
use crate::diagnostic::Help;
use crate::iso::text_after_cast;
use crate::source::Span;
use crate::types::number::MAX_COMPONENTS;
use crate::types::{Alignment, Type, TypeKind};
use num_traits::ToPrimitive;

/// An axis, by what the library has around the axis in it.
enum Form<'t> {
    /// `halo[H, N]`
    Halo(&'t Type, &'t Type),
    /// `half[N]`
    Half(&'t Type),
    /// Any other.
    Plain,
}

/// Returns the form of an axis.
fn form(axis: &Type) -> Form<'_> {
    let TypeKind::Nominal(nominal, args) = axis.kind() else { return Form::Plain };
    match (&*nominal.name, &args[..]) {
        ("halo", [width, inner]) => Form::Halo(width, inner),
        ("half", [inner]) => Form::Half(inner),
        _ => Form::Plain,
    }
}

impl Checker<'_> {
    /// Returns the help for an array, the value of `term`, without an axis that is wanted. Some
    /// axes may have the wanted form, but fewer than are wanted.
    pub(in crate::check) fn missing_axis_help(
        &mut self,
        found: &Type,
        axis: &Type,
        term: &Term,
    ) -> Option<Help> {
        let several = axis.axes().len();
        if several > 1 {
            let words = format!(
                "`{axis}` is {several} axes, and a function works on one: call it for one after the other"
            );
            return Some(words.into());
        }
        if let Some(help) = several_fields(found, axis) {
            return Some(help);
        }
        let TypeKind::Array(_, index) = found.kind() else { return None };
        let own = index.axes();
        if let Some(help) = own.iter().find_map(|one| axis_conversion_help(found, one, axis, term.span)) {
            return Some(help);
        }
        let plain: Vec<&Type> = own.iter().filter(|one| !matches!(form(one), Form::Halo(..))).collect();
        match form(axis) {
            Form::Halo(width, inner) if inner.has_meta() => {
                if let Some(help) = self.halo_consumed_help(width, term) {
                    return Some(help);
                }
                if let Some(help) = own.iter().find_map(|one| other_width(found, one, width, term.span)) {
                    return Some(help);
                }
                condition(width, &plain)
            }
            Form::Half(inner) if inner.has_meta() => half_axis_help(&plain),
            Form::Plain => redeclared_axis_reason(&own, axis).map(Help::from),
            Form::Halo(..) | Form::Half(_) => None,
        }
    }

    /// Returns the help for an operator on a halo applied to what another operator has left
    /// without one: the axis is that of the inner operator.
    fn halo_consumed_help(&mut self, width: &Type, term: &Term) -> Option<Help> {
        let (mut inner, mut call) = (None, term);
        while inner.is_none() {
            call = match &call.kind {
                TermKind::Reshape(of) => of,
                TermKind::Block(_, Some(value)) => value,
                TermKind::Call(_, args) => {
                    inner = Some(args.iter().map(|arg| self.infer.display_type(&arg.ty)).collect::<Vec<_>>());
                    call
                }
                _ => return None,
            };
        }
        let TypeKind::Array(_, left) = self.infer.display_type(&call.ty).kind().clone() else { return None };
        let left = left.axes();
        for given in inner? {
            let TypeKind::Array(_, index) = given.kind() else { continue };
            for axis in index.axes() {
                let Form::Halo(own, inside) = form(&axis) else { continue };
                if left.contains(&axis) || !left.contains(inside) {
                    continue;
                }
                let (Some(first), Some(second)) = (count(own), count(width)) else { continue };
                let whole = first + second;
                let nested = halo_like(&axis, own, &halo_like(&axis, width, inside));
                let read = with_axis(&given, &axis, &nested);
                return Some(
                    format!(
                        "the operator inside takes the halo of `{inside}` away: begin with `halo[{whole}, {inside}]`, read \
                         as `{nested}`. That is `clamped[{whole}, {inside}] x :>> {}`, or `mirrored`, `periodic`, \
                         `held v`, `filled f` in place of `clamped`",
                        text_after_cast(&read)
                    )
                    .into(),
                );
            }
        }
        None
    }
}

/// Returns the help for an array where one is wanted that differs in one axis, which has a halo or
/// is that of boundaries in one of them.
pub(in crate::check) fn axis_mismatch_help(found: &Type, expected: &Type, span: Span) -> Option<Help> {
    let (TypeKind::Array(element, index), TypeKind::Array(wanted, other)) = (found.kind(), expected.kind())
    else {
        return None;
    };
    let (own, axes) = (index.axes(), other.axes());
    if element != wanted || own.len() != axes.len() {
        return None;
    }
    let mut apart = own.iter().zip(&axes).filter(|(one, axis)| one != axis);
    match (apart.next(), apart.next()) {
        (Some((one, axis)), None) => axis_conversion_help(found, one, axis, span),
        _ => None,
    }
}

/// Returns the functions that bring an axis of an array to another, whose names are known.
fn axis_conversion_help(found: &Type, own: &Type, wanted: &Type, span: Span) -> Option<Help> {
    if own.has_meta() || own == wanted {
        return None;
    }
    match (form(own), form(wanted)) {
        (_, Form::Halo(width, inner)) if inner == own => condition(width, &[own]),
        (Form::Halo(width, inner), Form::Halo(less, same)) if inner == same => {
            let (more, less_count) = (count(width)?, count(less)?);
            if more < less_count {
                return Some(narrower(own, less));
            }
            let outer = Type::unit_sum(more - less_count);
            let read = text_after_cast(&with_axis(found, own, &halo_like(own, &outer, wanted)));
            let inside = format!("inside[{}, {wanted}]", outer.size_text());
            let words = format!("`{inside} (x :>> {read})` leaves out the outer part of the halo");
            Some(applied(words, span, &inside, &format!(" :>> {read}")))
        }
        (Form::Halo(width, inner), _) if inner == wanted => {
            let inside = format!("inside[{}, {inner}]", width.size_text());
            Some(applied(format!("`{inside}` leaves out the halo"), span, &inside, ""))
        }
        (_, Form::Half(inner)) if inner == own => half_axis_help(&[own]),
        (Form::Half(inner), _) if inner == wanted => {
            Some(format!("{} from `{own}` to `{inner}`", half_to_axis_words(inner, "it")).into())
        }
        _ => None,
    }
}

/// Returns the help for a halo of another width than an operator takes, along any axis.
fn other_width(found: &Type, own: &Type, width: &Type, span: Span) -> Option<Help> {
    let Form::Halo(has, inner) = form(own) else { return None };
    let (has, wanted) = (count(has)?, count(width)?);
    if has < wanted {
        return Some(narrower(own, width));
    }
    let rest = Type::unit_sum(has.checked_sub(wanted).filter(|rest| *rest > 0)?);
    let nested = halo_like(own, width, &halo_like(own, &rest, inner));
    let read = text_after_cast(&with_axis(found, own, &nested));
    let words = format!("`:>> {read}` reads `{own}` as `{nested}`, at no cost");
    Some(Help::around(words, span, &format!(" :>> {read}"), ""))
}

/// Returns the help for a halo that is narrower than a wanted one.
fn narrower(own: &Type, width: &Type) -> Help {
    let Form::Halo(has, inner) = form(own) else { unreachable!("the caller has found a halo") };
    let (has, width) = (has.size_text(), width.size_text());
    format!(
        "a halo of {width} comes from a boundary condition: `clamped[{width}, {inner}] (inside[{has}, {inner}] x)`, or \
         `mirrored`, `periodic`, `held v`, `filled f` in place of `clamped`"
    )
    .into()
}

/// Returns the help that makes a halo of an axis, which is one of these.
fn condition(width: &Type, axes: &[&Type]) -> Option<Help> {
    let width = match width.has_meta() {
        true => "1".to_string(),
        false => width.size_text(),
    };
    let (first, _) = axes.split_first()?;
    let others = "or `mirrored`, `periodic`, `held v`, `filled f` in place of `clamped`";
    if let [axis] = axes
        && matches!(axis.kind(), TypeKind::Nominal(nominal, _) if &*nominal.name == "cyclic")
    {
        return Some(
            format!(
                "`periodic[{width}, {axis}] x` makes the halo of a cyclic axis; `rotate_over[{axis}] k x` has the neighbors at \
                 an offset without one"
            )
            .into(),
        );
    }
    Some(match axes.len() {
        1 => format!("a boundary condition makes a halo: `clamped[{width}, {first}] x`, {others}").into(),
        _ => {
            let calls: Vec<String> =
                axes.iter().map(|axis| format!("`clamped[{width}, {axis}] x`")).collect();
            let words = "a boundary condition makes a halo along the axis that is meant";
            format!("{words}: {}, {others}", calls.join(", ")).into()
        }
    })
}

/// Returns the help for several fields, each with the wanted axis, in place of one.
fn several_fields(found: &Type, axis: &Type) -> Option<Help> {
    let parts = found.components(MAX_COMPONENTS).filter(|parts| parts.len() > 1)?;
    let has_axis = |part: &Type| match part.kind() {
        TypeKind::Array(_, index) => index.axes().contains(axis),
        _ => false,
    };
    let words = "`zip (x, y)` makes one field of two: its elements are tuples";
    parts.iter().all(has_axis).then(|| words.into())
}

/// Returns the help for an index of another index type than that of an array: of some of its axes,
/// of the same axes in another order, or of the axis in a halo.
pub(in crate::check) fn index_of_other_axes(found: &Type, index: &Type) -> Option<Help> {
    if let Form::Halo(width, inner) = form(index)
        && inner == found
    {
        let width = width.size_text();
        let words = format!(
            "`{index}` has a halo: `inside[{width}, {inner}] x` is the array without it, `moved[{width}, {inner}] k x` has the \
             neighbors at the offset `k`"
        );
        return Some(words.into());
    }
    match Alignment::of(found, index)? {
        Alignment::Permuted => {
            Some(format!("the axes of the array stand in another order: `{index}`").into())
        }
        Alignment::ContainedIn => {
            let words = "the array has more axes: an index has a part for each, joined by `\\,`";
            Some(words.into())
        }
        Alignment::Same | Alignment::Contains | Alignment::Union(_) => None,
    }
}

/// Returns the help that makes values on the boundaries of an axis, which is one of these.
fn half_axis_help(axes: &[&Type]) -> Option<Help> {
    let (first, more) = axes.split_first()?;
    let of_first =
        format!("`on_half[{first}] (first, f, last) x` makes values on the boundaries of `{first}`");
    let others = more.iter().map(|axis| format!(", `on_half[{axis}]` on those of `{axis}`"));
    Some(std::iter::once(of_first).chain(others).collect::<String>().into())
}

/// Returns the words for functions from the boundaries of an axis to the axis.
fn half_to_axis_words(inner: &Type, side: &str) -> String {
    format!("`mid[{inner}]`, `above[{inner}]` or `below[{inner}]` bring {side}")
}

/// Returns the reason why an axis of the same name is not the wanted one.
pub(in crate::check) fn redeclared_axis_reason(own: &[Type], axis: &Type) -> Option<String> {
    let name = axis.to_string();
    let same = own.iter().any(|one| one != axis && one.to_string() == name);
    same.then(|| {
        format!(
            "two types have the name `{name}`: they come from two modules, or one was declared anew, and then an array \
             that is made again has the new one"
        )
    })
}

/// Returns the advice for two index types with axes that have a halo, or are those of boundaries,
/// in one of them only, or with another width.
pub(in crate::check) fn halo_axes_hint(left: &Type, right: &Type) -> Option<String> {
    let (mut xs, mut ys) = (left.axes(), right.axes());
    let mut steps = Vec::new();
    for x in &mut xs {
        if ys.contains(x) {
            continue;
        }
        let outer = enclosed_axes(x);
        let other = ys.iter_mut().find_map(|y| {
            let found = enclosed_axes(y).into_iter().find(|part| outer.contains(part))?;
            Some((y, found))
        });
        if let Some((y, common)) = other {
            steps.extend(removing(x, &common, "left"));
            steps.extend(removing(y, &common, "right"));
            (*x, *y) = (common.clone(), common);
        }
    }
    let (last, first) = steps.split_last()?;
    let mut words = match first {
        [] => last.clone(),
        _ => format!("{}, and {last}", first.join(", ")),
    };
    if xs != ys {
        let (left, right) = (Type::index_of(xs), Type::index_of(ys));
        words += &match Alignment::of(&left, &right)? {
            Alignment::Same => String::new(),
            Alignment::Permuted => format!("; then `transpose_to[{left}]` gives the right one this order"),
            Alignment::Contains => {
                format!("; then `over[{left}]` repeats the right one along the other axes")
            }
            Alignment::ContainedIn => {
                format!("; then `over[{right}]` repeats the left one along the other axes")
            }
            Alignment::Union(all) => format!("; then `over[{all}]` repeats each along the other axes"),
        };
    }
    Some(words)
}

/// Returns an axis, the one inside its halo or boundaries, and so on.
fn enclosed_axes(axis: &Type) -> Vec<Type> {
    let mut all = vec![axis.clone()];
    let mut next = axis;
    while let Form::Halo(_, inner) | Form::Half(inner) = form(next) {
        all.push(inner.clone());
        next = inner;
    }
    all
}

/// Returns the words for what brings the array of a side from an axis to one inside it.
fn removing(axis: &Type, to: &Type, side: &str) -> Vec<String> {
    let (mut words, mut next) = (Vec::new(), axis);
    while next != to {
        next = match form(next) {
            Form::Halo(width, inner) => {
                let width = width.size_text();
                words.push(format!("`inside[{width}, {inner}]` leaves out the halo of the {side} one"));
                inner
            }
            Form::Half(inner) => {
                words.push(format!(
                    "{} from `{next}` to `{inner}`",
                    half_to_axis_words(inner, &format!("the {side} one"))
                ));
                inner
            }
            Form::Plain => unreachable!("the axis is one inside the other"),
        };
    }
    words
}

/// Returns the help that applies a function to the expression at `span`, followed by `after`.
fn applied(words: String, span: Span, function: &str, after: &str) -> Help {
    Help::enclosing(words, span, format!("{function} ("), format!("{after})"))
}

/// Returns the size of an axis as a number.
fn count(ty: &Type) -> Option<u64> {
    ty.as_unit_sum().and_then(|n| n.to_u64())
}

/// Returns `halo[width, inner]`, with the declared type of an axis that is a halo.
fn halo_like(halo: &Type, width: &Type, inner: &Type) -> Type {
    let TypeKind::Nominal(nominal, _) = halo.kind() else { unreachable!("a halo is a declared type") };
    Type::nominal(nominal.clone(), vec![width.clone(), inner.clone()])
}

/// Returns the type of an array with one axis replaced.
fn with_axis(array: &Type, axis: &Type, by: &Type) -> Type {
    let TypeKind::Array(element, index) = array.kind() else { unreachable!("only arrays have axes") };
    let axes = index.axes().into_iter().map(|own| if own == *axis { by.clone() } else { own });
    Type::array(element.clone(), Type::index_of(axes.collect()))
}
