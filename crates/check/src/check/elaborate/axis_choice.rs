//! Calls that do not determine the axis they work on: `inside u` where `u` has two halos.
//!
//! Takes the scheme of the function, the type arguments of the call and the types of its arguments;
//! reports E0323 with type arguments that determine the call. They are found by trying: each is one
//! that checks.

use crate::check::context::Checker;
use crate::check::elaborate::apply::Arg;
use crate::check::elaborate::call::domain_after;
use crate::check::env::{Instance, Scheme};
use crate::check::error::AxisError;
use crate::check::solve::axes::is_undetermined;
use crate::core::{Term, TermKind};
use crate::diagnostic::Help;
use crate::source::Span;
use crate::syntax::ast;
use crate::types::{Kind, Origin, Type, TypeKind, TypeVar};

/// Type arguments of a call that are tried for a message.
const MAX_TRIALS: usize = 64;

/// A parameter of an array with lists of axes, and the array that it is given.
struct Given {
    /// The parameter type.
    takes: Type,
    /// The elements of its index type.
    items: Vec<Type>,
    /// The type of the array.
    array: Type,
    /// The axes of the array.
    axes: Vec<Type>,
}

impl Checker<'_> {
    /// Returns true for a literal given as an index whose type follows from the axis of a later
    /// argument, where nothing determines that axis: the offset in `moved 1 u`.
    pub(in crate::check) fn awaits_axis(&mut self, first: &Arg, instance: &Instance) -> bool {
        let Arg::Done(term) = first else { return false };
        let domain = self.infer.zonk(&instance.domain);
        self.infer.literal_of(&term.ty).is_some()
            && matches!(domain.kind(), TypeKind::Nominal(..))
            && domain.has_meta()
            && is_undetermined(&self.infer.display_type(&instance.ty()))
    }

    /// Makes an offset that is a literal the width of the halo that a message is about to ask for.
    pub(in crate::check) fn offset_as_width(&mut self, first: &Arg, domain: &Type) {
        if let Arg::Done(Term { kind: TermKind::Int(offset), .. }) = first
            && let TypeKind::Nominal(nominal, args) = self.infer.zonk(domain).kind()
            && let Some(Origin::MinusSize(width)) = nominal.origin_at(args)
        {
            let number = offset.magnitude().clone().max(1u32.into());
            self.infer.try_unify(&width, &Type::unit_sum(number));
        }
    }

    /// Reports a call that does not determine the axis it works on, with the type arguments and the
    /// types of the arguments that it is given.
    pub(in crate::check) fn undetermined_axis(
        &mut self,
        name: &ast::Name,
        scheme: &Scheme,
        (type_args, given): (&[Type], &[Type]),
        span: Span,
    ) -> Term {
        let mut arrays = Vec::new();
        for (at, ty) in given.iter().enumerate() {
            let takes = match at {
                0 => Some(scheme.domain.clone()),
                _ => scheme.result.as_ref().and_then(|result| domain_after(result, at - 1)),
            };
            let ty = self.infer.display_type(ty);
            takes.iter().for_each(|takes| arrays_given(takes, &ty, &mut arrays));
        }
        let takes = arrays.first().map_or(&scheme.domain, |given| &given.takes).clone();
        let axes = arrays.first().map_or_else(Vec::new, |given| {
            let fitting = |axis: &&Type| given.items.iter().any(|item| fits(item, axis, &mut Vec::new()));
            given.axes.iter().filter(fitting).cloned().collect()
        });
        let args = self.determining_arguments(scheme, type_args, &arrays);
        let help = args.map(|args| {
            let written: Vec<String> = args.iter().zip(&scheme.params).map(argument_text).collect();
            let call = format!("{}[{}]", name.text, written.join(", "));
            let edits = match type_args {
                [] => vec![(name.span, call.clone())],
                _ => Vec::new(),
            };
            Help { text: format!("write the axis in brackets after the name: `{call}`"), edits }
        });
        let (place, name) = (name.span, name.text.to_string());
        self.error_term(AxisError::Undetermined { span: place, name, takes, axes, help }, span)
    }

    /// Returns type arguments, as few as suffice, with which a call determines its axes: for the
    /// first axes of the array that are possible.
    fn determining_arguments(
        &mut self,
        scheme: &Scheme,
        type_args: &[Type],
        arrays: &[Given],
    ) -> Option<Vec<Type>> {
        let first = arrays.first()?;
        let mut solutions = Vec::new();
        assign(&first.items, &first.axes, &mut Vec::new(), &mut solutions);
        for solution in solutions {
            let mut args = Vec::new();
            for (at, param) in scheme.params.iter().enumerate() {
                let written = type_args.get(at).filter(|ty| !ty.has_meta()).cloned();
                let axis = solution.iter().find(|(var, _)| var == param).map(|(_, ty)| ty.clone());
                // No array determines the width of a halo that is made.
                let free = || (param.kind == Kind::UnitSum).then(Type::unit);
                let Some(arg) = written.or(axis).or_else(free) else { break };
                args.push(arg);
                if args.len() < type_args.len() {
                    continue;
                }
                let mark = self.infer.mark();
                let instance = scheme.instantiate(&mut self.infer, &args);
                let fit = arrays.iter().all(|given| {
                    let bindings = scheme.params.iter().map(|p| p.id).zip(instance.args.iter().cloned());
                    let takes = given.takes.substitute(&bindings.collect());
                    self.infer.unify(&given.array, &takes).is_ok()
                });
                let determined = fit && !is_undetermined(&self.infer.zonk_with_defaults(&instance.ty()));
                self.infer.undo(mark);
                if determined && !self.leaves_open(scheme, &solution, args.len()) {
                    return Some(args);
                }
            }
        }
        None
    }

    /// Returns true if a parameter after the first `count` is a width that nothing determines.
    fn leaves_open(&self, scheme: &Scheme, solution: &[(TypeVar, Type)], count: usize) -> bool {
        let determined = |param: &TypeVar| solution.iter().any(|(var, _)| var == param);
        scheme.params.iter().skip(count).any(|param| param.kind == Kind::UnitSum && !determined(param))
    }
}

/// Returns the text of a type argument.
fn argument_text((ty, param): (&Type, &TypeVar)) -> String {
    match param.kind {
        Kind::UnitSum => ty.size_text(),
        _ => ty.to_string(),
    }
}

/// Collects the parameters for arrays with lists of axes that are given arrays of known axes.
fn arrays_given(takes: &Type, ty: &Type, out: &mut Vec<Given>) {
    match (takes.kind(), ty.kind()) {
        (TypeKind::Product(takes), TypeKind::Product(parts)) if takes.len() == parts.len() => {
            takes.iter().zip(parts).for_each(|(takes, part)| arrays_given(takes, part, out));
        }
        (TypeKind::Array(_, pattern), TypeKind::Array(_, index))
            if pattern.is_spliced() && !index.has_meta() =>
        {
            let (items, axes) = (pattern.axes(), index.axes());
            out.push(Given { takes: takes.clone(), items, array: ty.with_flat_indices(), axes });
        }
        _ => {}
    }
}

/// Extends the solution for type parameters so that an item of a pattern is this axis.
fn fits(item: &Type, axis: &Type, solution: &mut Vec<(TypeVar, Type)>) -> bool {
    match (item.kind(), axis.kind()) {
        (TypeKind::Var(var), _) if item.list_form().is_none() => {
            match solution.iter().find(|(other, _)| other == var) {
                Some((_, ty)) => ty == axis,
                None => {
                    solution.push((var.clone(), axis.clone()));
                    true
                }
            }
        }
        (TypeKind::Nominal(a, items), TypeKind::Nominal(b, axes)) => {
            a == b && items.iter().zip(axes).all(|(item, axis)| fits(item, axis, solution))
        }
        _ => item == axis,
    }
}

/// Collects the solutions for the parameters in the items of a pattern over all increasing
/// assignments of the items to axes, the first axes first.
fn assign(
    items: &[Type],
    axes: &[Type],
    solution: &mut Vec<(TypeVar, Type)>,
    out: &mut Vec<Vec<(TypeVar, Type)>>,
) {
    let Some((item, rest)) = items.split_first() else {
        out.push(solution.clone());
        return;
    };
    if item.list_form().is_some() {
        return assign(rest, axes, solution, out);
    }
    for (at, axis) in axes.iter().enumerate() {
        let before = solution.len();
        if out.len() < MAX_TRIALS && fits(item, axis, solution) {
            assign(rest, &axes[at + 1..], solution, out);
        }
        solution.truncate(before);
    }
}
