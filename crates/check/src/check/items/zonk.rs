//! The last step of an item: holes are replaced by their solutions, and literals are checked
//! against their types. (GHC calls the replacement zonking.)
//!
//! A hole without a solution is reported at its place; a literal hole takes its default. Afterward
//! no type in the item has a hole.

use crate::check::context::Checker;
use crate::check::elaborate::existential::{FurtherArgs, close_term};
use crate::check::error::{ConversionError, KindError, OperatorError, PatternError, PlaceError, TypeError};
use crate::check::resolve::builtin::{is_array, operator_advice};
use crate::check::solve::infer::Equation;
use crate::core::operand_order;
use crate::core::visit::PartMut;
use crate::core::{
    Function, FunctionId, LocalId, LocalInfo, Num, Op, Pat, PatKind, Prim, Stmt, Term, TermKind,
};
use crate::source::Span;
use crate::types::number::Rounded;
use crate::types::{Kind, NoSize, Scalar, Type, TypeKind};
use num_bigint::BigInt;
use std::sync::Arc;

impl Checker<'_> {
    /// Finishes top-level statements, with the inner functions and session variables that they
    /// made.
    pub(in crate::check) fn finish_stmts(&mut self, stmts: &mut [Stmt], result: &mut Option<Term>) {
        self.discharge();
        self.finish_equations();
        for stmt in &mut *stmts {
            self.finish_stmt(stmt);
        }
        if let Some(result) = result {
            self.finish_term(result);
        }
        for global in std::mem::take(&mut self.item.new_globals) {
            let ty = self.program.globals[global.index()].ty.clone();
            self.program.globals[global.index()].ty = self.infer.zonk_with_defaults(&ty);
        }
        let more = self.finish_inner_functions(stmts, &result.iter().collect::<Vec<_>>());
        stmts.iter_mut().for_each(|stmt| stmt.for_each_term_mut(&mut |term| close_term(term, &more)));
        result.iter_mut().for_each(|term| close_term(term, &more));
    }

    /// Finishes the inner functions of the present item, which has these statements and terms.
    /// Returns the type arguments that the functions take beyond those of the item.
    pub(in crate::check) fn finish_inner_functions(
        &mut self,
        stmts: &[Stmt],
        terms: &[&Term],
    ) -> FurtherArgs {
        let mut inner = std::mem::take(&mut self.item.unfinished);
        inner.iter_mut().for_each(|(_, function)| self.finish_function(function));
        self.check_sequence(stmts, terms, &inner);
        let more = self.close_over(&mut inner);
        for (id, function) in inner {
            // The marks of shared variables are complete only after the whole item.
            self.define_function(id, function);
        }
        more
    }

    /// Makes a finished function the one of its number, with its operands in order
    /// ([`operand_order`]). Between places, their order is that of what is sent.
    pub(in crate::check) fn define_function(&mut self, id: FunctionId, mut function: Function) {
        if self.program.party.is_none() {
            operand_order::order_in_function(&mut function);
        }
        self.program.functions[id.index()] = Some(Arc::new(function));
    }

    /// Finishes one function: its domain, its locals, its body.
    pub(in crate::check) fn finish_function(&mut self, function: &mut Function) {
        self.discharge();
        function.domain = self.finish_type_of(&function.domain, function.span, false);
        self.finish_equations();
        self.finish_locals(&mut function.locals);
        self.finish_term(&mut function.body);
    }

    /// Reports the contradictions among equations with type functions that were postponed. Holes in
    /// them are reported at their own places.
    fn finish_equations(&mut self) {
        while let Some(Equation { found, expected, span }) = self.infer.contradiction() {
            let known = [&found, &expected].map(|ty| self.check_reducible(ty.clone(), span));
            if known.iter().all(|ty| !ty.is_error()) {
                let error = ConversionError::Mismatch { span, expected, found, because: None, hint: None };
                self.report(error);
            }
        }
    }

    /// Replaces the holes in the types of locals.
    fn finish_locals(&mut self, locals: &mut [LocalInfo]) {
        for local in locals {
            local.ty = self.infer.zonk_with_defaults(&local.ty);
        }
    }

    /// Replaces the holes in a type; reports those without a solution.
    fn finish_type(&mut self, ty: &Type, span: Span) -> Type {
        self.finish_type_of(ty, span, true)
    }

    /// Replaces the holes in a type, as [`Checker::finish_type`] does. `origin` is true if the type
    /// originates here, and false for a value that is only named or bound.
    fn finish_type_of(&mut self, ty: &Type, span: Span, origin: bool) -> Type {
        self.finish_type_within(ty, (span, None), origin)
    }

    /// Replaces the holes in a type of a term, as [`Checker::finish_type_of`] does.
    fn finish_type_within(&mut self, ty: &Type, (span, term): (Span, Option<&Term>), origin: bool) -> Type {
        let ty = self.infer.zonk_with_defaults(ty);
        let ty = self.finish_applications(ty, span, origin);
        if ty.has_meta() {
            let stuck = ty.find_application(&mut |_, args| args.iter().any(Type::has_meta));
            if let Some(application) = stuck {
                self.report_application(KindError::CannotReduce { span, application }, origin);
                return Type::error();
            }
            if self.reports.any_error() {
                self.note_suppressed(span);
            } else if !has_hole_of_places(&ty)
                && let Some(error) = term.and_then(|term| self.open_parameter(term, &ty))
            {
                self.report(error);
            } else {
                let what = match ty.kind() {
                    TypeKind::Meta(_) => "the type of this".to_string(),
                    _ => format!("what `_` is in `{ty}`"),
                };
                let instead = match self.program.party.as_ref().filter(|_| has_hole_of_places(&ty)) {
                    Some(party) => format!("say at which places, as in `f[{}] x`", party.name),
                    None => "write the type, as in `val x : int ^ 3 = …` or `f[int, 3] x`".to_string(),
                };
                self.report(TypeError::CannotInfer { span, what, instead });
            }
            return Type::error();
        }
        ty
    }

    /// The error of the first function in a term of which a type parameter is a hole in `ty`.
    fn open_parameter(&mut self, term: &Term, ty: &Type) -> Option<TypeError> {
        if let TermKind::Closure { function, type_args, .. } = &term.kind {
            let args: Vec<Type> = type_args.iter().map(|arg| self.infer.zonk_with_defaults(arg)).collect();
            let is_open = |arg: &Type| matches!(arg.kind(), TypeKind::Meta(_)) && has_part(ty, arg);
            if let Some(at) = args.iter().position(is_open)
                && let Some(signature) = self.env.signatures.get(function)
                && let Some(parameter) = signature.scheme.params.get(at)
            {
                let example = |arg: &Type| match arg.kind_of() {
                    _ if !arg.has_meta() => arg.to_string(),
                    Kind::Type | Kind::Spread => "int".to_string(),
                    Kind::UnitSum | Kind::Compact => "3".to_string(),
                    _ => "…".to_string(),
                };
                let example = args.iter().map(example).collect::<Vec<_>>().join(", ");
                return Some(TypeError::OpenParameter {
                    span: term.span,
                    parameter: parameter.name.to_string(),
                    instead: format!("{}[{example}]", signature.name),
                    function: signature.name.to_string(),
                });
            }
        }
        let mut found = None;
        term.for_each_child(&mut |child| {
            found = found.take().or_else(|| self.open_parameter(child, ty));
        });
        found
    }

    /// Finishes a pattern: its types and its literals.
    fn finish_pat(&mut self, pat: &mut Pat) {
        pat.ty = self.finish_type_of(&pat.ty, pat.span, false);
        pat.for_each_part_mut(&mut |part| {
            if let PartMut::Pat(inner) = part {
                self.finish_pat(inner);
            }
        });
        match &mut pat.kind {
            PatKind::Ints(low, high) => {
                let (low, high) = (low.clone(), high.clone());
                if pat.ty.as_scalar().is_some_and(Scalar::is_float) {
                    let (what, ty) = ("a range of integers or characters".to_string(), pat.ty.clone());
                    self.report(PatternError::PatternMismatch { span: pat.span, what, ty, help: None });
                } else {
                    self.literal(&low, &pat.ty, pat.span);
                    self.literal(&high, &pat.ty, pat.span);
                }
            }
            PatKind::Int(value) => {
                let value = value.clone();
                if pat.ty.as_scalar().is_some_and(Scalar::is_float) {
                    pat.kind = PatKind::Real(Rounded::from_integer(&value));
                } else {
                    self.literal(&value, &pat.ty, pat.span);
                }
            }
            PatKind::Real(value) => self.real_literal(*value, &pat.ty, pat.span),
            _ => {}
        }
    }

    /// Finishes a statement and its parts.
    fn finish_stmt(&mut self, stmt: &mut Stmt) {
        let span = stmt.span;
        stmt.for_each_part_mut(&mut |part| match part {
            PartMut::Type(ty) => *ty = self.finish_type(ty, span),
            part => self.finish_part(part),
        });
    }

    /// Finishes a part of a term or a statement that is no type.
    fn finish_part(&mut self, part: PartMut<'_>) {
        match part {
            PartMut::Term(term) => self.finish_term(term),
            PartMut::Pat(pat) => self.finish_pat(pat),
            PartMut::Body(stmts) => stmts.iter_mut().for_each(|stmt| self.finish_stmt(stmt)),
            PartMut::Type(_) | PartMut::Use(_) | PartMut::Def(_) | PartMut::Set(_) => {}
        }
    }

    /// Finishes a term and its parts.
    pub(in crate::check) fn finish_term(&mut self, term: &mut Term) {
        if let Some(chosen) = self.take_chosen_call(term) {
            *term = chosen;
        }
        let origin = !matches!(
            term.kind,
            TermKind::Local(_) | TermKind::Global(_) | TermKind::Closure { .. } | TermKind::Method { .. }
        );
        term.ty = self.finish_type_within(&term.ty, (term.span, Some(term)), origin);
        let span = term.span;
        if let TermKind::Closure { type_args, .. }
        | TermKind::Method { type_args, .. }
        | TermKind::Prim(_, type_args, _) = &term.kind
        {
            let finish = |arg: &Type| self.finish_type_within(arg, (span, Some(term)), false);
            let finished = type_args.iter().map(finish).collect();
            if let TermKind::Closure { type_args, .. }
            | TermKind::Method { type_args, .. }
            | TermKind::Prim(_, type_args, _) = &mut term.kind
            {
                *type_args = finished;
            }
        }
        match &mut term.kind {
            TermKind::PackSizes(sizes, _) => {
                for size in sizes.iter_mut() {
                    // A term that stops the program has no size: any size fits.
                    let _ = matches!(self.infer.shallow(size).kind(), TypeKind::Meta(_))
                        && self.infer.try_unify(size, &Type::void());
                    *size = self.finish_type(size, span);
                }
            }
            TermKind::Build(clauses, _) => {
                for (_, ty) in clauses.iter_mut() {
                    *ty = self.finish_type(ty, span);
                }
                if let Err(NoSize::TooLarge) = index_size(clauses) {
                    self.report(TypeError::ArrayTooLarge { span, ty: term.ty.clone() });
                }
            }
            _ => {}
        }
        match &mut term.kind {
            // The type of a function may mention that of an argument, where an error of it belongs.
            TermKind::Call(head, args) => {
                args.iter_mut().for_each(|arg| self.finish_term(arg));
                self.finish_term(head);
            }
            _ => term.for_each_part_mut(&mut |part| self.finish_part(part)),
        }
        match &mut term.kind {
            TermKind::Int(value) => {
                let value = value.clone();
                self.literal(&value, &term.ty, span);
                if term.ty.as_scalar().is_some_and(Scalar::is_float) {
                    term.kind = TermKind::Real(Rounded::from_integer(&value));
                }
            }
            TermKind::Real(value) => self.real_literal(*value, &term.ty, span),
            TermKind::Prim(prim @ (Prim::Wrap | Prim::Saturate), type_args, _) => {
                let (to, from) = (type_args[0].clone(), type_args[1].clone());
                let sensible = to.as_scalar().is_some_and(Scalar::is_integer)
                    && from.as_scalar().is_some_and(Scalar::is_number);
                if !(sensible || from.is_error() || to.is_error()) {
                    let why = format!("`{}` leads from a number to an integer type", prim.name());
                    self.report(ConversionError::NoConversion { span, from, to, why, help: None });
                }
            }
            TermKind::Prim(
                prim @ (Prim::WriteNpy
                | Prim::WriteNpz
                | Prim::WriteCsv
                | Prim::WriteCsvBy
                | Prim::WriteArrow
                | Prim::WriteParquet
                | Prim::WriteRaw),
                type_args,
                args,
            ) => {
                let (prim, ty) = (*prim, type_args[0].clone());
                let span = args.get(1).or(args.last()).map_or(span, |arg| arg.span);
                let fields = if prim == Prim::WriteNpz { ty.unfold().fields() } else { None };
                let parts = fields.map_or(vec![ty], |fields| fields.into_iter().map(|(_, ty)| ty).collect());
                let _ = parts.iter().all(|part| self.check_storable(prim, part, span));
            }
            TermKind::Prim(prim @ (Prim::WriteNetcdf | Prim::WriteVtk), type_args, args) => {
                let prim = *prim;
                let whole: Vec<(Type, Span)> = match prim {
                    Prim::WriteNetcdf => {
                        vec![(type_args[0].clone(), args.last().map_or(span, |arg| arg.span))]
                    }
                    _ => type_args.iter().cloned().zip(args.iter().skip(1).map(|arg| arg.span)).collect(),
                };
                for (ty, span) in whole {
                    let mut parts = Vec::new();
                    file_parts(&ty, &mut parts);
                    let _ = parts.iter().all(|part| self.check_storable(prim, part, span));
                }
            }
            TermKind::Op(..) => self.finish_operator(term),
            // A base that was an exponential while holes were open may now be a compact product.
            TermKind::Component(base, position)
                if base.ty.is_compact() && !base.ty.is_error() && base.ty.components(0).is_none() =>
            {
                let (base, position) = (base.clone(), position.clone());
                term.kind = TermKind::Factor(base, position);
            }
            _ => {}
        }
    }

    /// Reports an integer literal that its type cannot hold exactly.
    fn literal(&mut self, value: &BigInt, ty: &Type, span: Span) {
        if ty.as_scalar().is_some_and(|scalar| !scalar.holds(value)) {
            self.report(ConversionError::LiteralRange { span, value: value.clone(), ty: ty.clone() });
        }
    }

    /// Reports a real literal beyond the largest value of `single`; the lexer reports those of
    /// `real`.
    fn real_literal(&mut self, value: Rounded, ty: &Type, span: Span) {
        if ty.as_scalar() == Some(Scalar::Single) && value.single.is_infinite() && value.double.is_finite() {
            self.report(ConversionError::RealLiteralRange { span, value: value.double, ty: ty.clone() });
        }
    }

    /// Finishes an operator. An operand whose type was a hole when the operator was checked may
    /// have a type for which a class, or nothing, defines the operator.
    pub(in crate::check) fn finish_operator(&mut self, term: &mut Term) {
        let TermKind::Op(op, operands) = &mut term.kind else { return };
        let (Some(ty), Some(symbol)) = (operands.first().map(|o| o.ty.clone()), op.symbol()) else { return };
        let span = term.span;
        if ty.is_error() {
            return;
        }
        match *op {
            Op::Eq | Op::Ne if ty.is_spread() => {
                self.report(PlaceError::SpreadCompared { span, ty });
                return;
            }
            Op::Eq | Op::Ne => {
                if let Some(part) = self.opaque_part(&ty) {
                    self.report(OperatorError::OpaqueCompare { span, ty, part });
                }
                return;
            }
            Op::Lt | Op::Le | Op::Gt | Op::Ge if ty.as_scalar().is_some() || ty.is_compact() => return,
            _ => {}
        }
        if let Some(num) = Num::of(&ty)
            && num.has(symbol)
            && (operands.len() == 2 || num != Num::String)
        {
            *op = op.at(num);
            return;
        }
        if is_array(&ty) || matches!(ty.kind(), TypeKind::Product(_)) {
            let what = format!("the type of the operands of `{symbol}`");
            let instead = format!("write the type arguments, or the type: here it is `{ty}`");
            self.report(TypeError::CannotInfer { span, what, instead });
            return;
        }
        let operands = std::mem::take(operands);
        let mut call = match self.user_operator(symbol, operands, span) {
            Ok(call) => call,
            Err(operands) => {
                let right = operands.get(1).map(|_| ty.clone());
                let types: Vec<&Type> = operands.iter().map(|_| &ty).collect();
                let help = operator_advice(symbol, &types, None).map(Into::into);
                self.report(OperatorError::NoOperator { span, op: symbol, left: ty, right, help });
                return;
            }
        };
        self.discharge();
        if !self.infer.try_unify(&call.ty, &term.ty) {
            let (expected, found) = (term.ty.clone(), self.infer.zonk_with_defaults(&call.ty));
            self.report(ConversionError::Mismatch { span, expected, found, because: None, hint: None });
            return;
        }
        self.finish_term(&mut call);
        *term = call;
    }
}

/// Returns the number of elements of an array built over these index types.
fn index_size(clauses: &[(LocalId, Type)]) -> Result<num_bigint::BigUint, NoSize> {
    Type::compact_product(clauses.iter().map(|(_, ty)| ty.clone()).collect()).size()
}

/// Appends the types of the parts of a record, of records in it too, that are written as arrays.
fn file_parts(ty: &Type, parts: &mut Vec<Type>) {
    match ty.unfold().fields() {
        Some(fields) => fields.iter().for_each(|(_, ty)| file_parts(ty, parts)),
        None if ty.is_unit() => {}
        None => parts.push(ty.clone()),
    }
}

/// Returns true if a part of a type is a hole for places.
fn has_hole_of_places(ty: &Type) -> bool {
    if let TypeKind::Meta(_) = ty.kind() {
        return matches!(ty.kind_of(), Kind::Place | Kind::Places);
    }
    let mut found = false;
    ty.kind().for_each_child(&mut |child| found = found || has_hole_of_places(child));
    found
}

/// Returns true if a type is a part of another one, or that itself.
fn has_part(ty: &Type, part: &Type) -> bool {
    let mut found = ty == part;
    ty.kind().for_each_child(&mut |child| found = found || has_part(child, part));
    found
}
