//! Patterns, elaborated against the type of the values that they are matched with.
//!
//! Takes a pattern and a type; returns a core pattern whose variables are bound in the innermost
//! scope.
//!
//! An unqualified name is the case of that name if there is one, otherwise a variable. A case of
//! the library is meant only if values of its variant are matched; otherwise a case added to the
//! library would change variables of programs into cases. If the type of the matched values is not
//! known, the name is a case of the library if it begins with a capital letter and the pattern need
//! not be total.

use crate::check::annotations::Referent;
use crate::check::context::{Binding, Checker};
use crate::check::elaborate::apply;
use crate::check::env::Scope;
use crate::check::error::{CallError, ConversionError, PartError, PatternError, StatementError, TypeError};
use crate::check::solve::exhaustive;
use crate::check::solve::infer::Literal;
use crate::check::terms::{Number, parse_suffixed_number};
use crate::core::{LocalId, Pat, PatKind, TermKind};
use crate::hash::HashSet;
use crate::source::Span;
use crate::syntax::ast::{Name, Pattern, PatternKind};
use crate::types::number::{MAX_COMPONENTS, Rounded};
use crate::types::{Kind, Nominal, ProductForm, Scalar, Type, TypeKind};
use num_bigint::{BigInt, BigUint};
use std::sync::Arc;

impl Checker<'_> {
    /// Reports a name that is bound twice by patterns that bind together.
    pub(in crate::check) fn check_duplicate_names<'p>(
        &mut self,
        patterns: impl IntoIterator<Item = &'p Pattern>,
        what: &'static str,
    ) {
        let mut bound = Vec::new();
        for pattern in patterns {
            names_of(pattern, &mut bound);
        }
        let mut seen = HashSet::default();
        for name in bound {
            // The type of the matched values, not known here, determines if a lowercase name is a
            // case of the library.
            let small = !name.text.starts_with(char::is_uppercase);
            let case = self.env.scoped_constructor(&name.text);
            let case = case.is_some_and(|(_, _, scope)| scope != Scope::Library || !small);
            let binds = !case && name.qualified().is_none();
            if binds && !seen.insert(&name.text) {
                self.report(TypeError::Duplicate { span: name.span, what, name: name.text.to_string() });
            }
        }
    }

    /// Elaborates a pattern that must fit every value of the type.
    pub(in crate::check) fn irrefutable_pattern(&mut self, pattern: &Pattern, ty: &Type) -> Pat {
        self.irrefutable_binding(pattern, ty, false)
    }

    /// Elaborates a pattern that must fit every value; its variables are mutable if `mutable`.
    pub(in crate::check) fn irrefutable_binding(
        &mut self,
        pattern: &Pattern,
        ty: &Type,
        mutable: bool,
    ) -> Pat {
        let in_total_pattern = std::mem::replace(&mut self.in_total_pattern, true);
        let pat = self.pattern(pattern, ty, mutable);
        self.in_total_pattern = in_total_pattern;
        if !pat.is_total() {
            let ty = self.infer.zonk_with_defaults(ty);
            if let Some(missing) = exhaustive::missing_pattern(&[&pat], &ty) {
                self.report(PatternError::Refutable { span: pattern.span, missing });
            }
        }
        pat
    }

    /// Elaborates a pattern; binds its variables in the innermost scope.
    pub(in crate::check) fn pattern(&mut self, pattern: &Pattern, ty: &Type, mutable: bool) -> Pat {
        let span = pattern.span;
        let ty = self.infer.zonk(ty);
        let make = |kind| Pat { kind, ty: ty.clone(), span };
        match &pattern.kind {
            PatternKind::Wild | PatternKind::Error => make(PatKind::Wild),
            _ if ty.is_exists() => self.packed_pattern(pattern, &ty, mutable),
            PatternKind::Name(name) => {
                if let Some((nominal, case)) = self.resolve_case(name, &ty) {
                    return self.constructor(name, nominal.id, case, None, &ty, mutable, span);
                }
                if name.qualified().is_some() {
                    self.unknown_constructor(name);
                    return self.error_pattern(None, mutable, span);
                }
                self.variable_pattern(name, &ty, mutable)
            }
            PatternKind::Typed(inner, written) => {
                let (written_ty, names) = self.lower_named(written);
                if !self.infer.try_unify(&written_ty, &ty) {
                    let found = self.infer.zonk_with_defaults(&ty);
                    let error = ConversionError::Mismatch {
                        span: written.span,
                        expected: found,
                        found: written_ty,
                        because: None,
                        hint: None,
                    };
                    self.report(error);
                }
                let ty = self.name_sizes(names, &ty);
                self.pattern(inner, &ty, mutable)
            }
            PatternKind::As(inner, name) => {
                let inner = self.pattern(inner, &ty, mutable);
                let local = self.new_local(&name.text, ty.clone());
                self.bind(&name.text, local, mutable, name.span);
                make(PatKind::As(Box::new(inner), local))
            }
            PatternKind::Int { value, negative } => {
                let value =
                    if *negative { -BigInt::from(value.clone()) } else { BigInt::from(value.clone()) };
                // A literal is a label of an index type that has labels, as it is in expressions.
                if self.infer.shallow(&ty).is_labeled() {
                    let ty = self.infer.zonk(&ty);
                    return match self.value_with_label(&value, &ty, span).kind {
                        TermKind::Code(code) => make(PatKind::Code(code)),
                        _ => self.error_pattern(None, mutable, span),
                    };
                }
                self.number_pattern(Literal::Int, &ty, span);
                if self.infer.shallow(&ty).as_scalar().is_some_and(Scalar::is_float) {
                    return make(PatKind::Real(Rounded::from_integer(&value)));
                }
                make(PatKind::Int(value))
            }
            PatternKind::Real { digits, negative } => {
                self.number_pattern(Literal::Real, &ty, span);
                let x = Rounded::read(digits);
                make(PatKind::Real(if *negative { -x } else { x }))
            }
            PatternKind::Suffixed { digits, suffix, negative } => {
                let (value, own) = parse_suffixed_number(digits, suffix);
                if !self.infer.try_unify(&ty, &own) {
                    self.report_pattern_mismatch(&format!("a number of type `{own}`"), &ty, None, span);
                    return self.error_pattern(None, mutable, span);
                }
                let kind = match (value, *negative) {
                    (Number::Whole(n), negative) => PatKind::Int(if negative { -n } else { n }),
                    (Number::Real(x), negative) => PatKind::Real(if negative { -x } else { x }),
                };
                Pat { kind, ty: own, span }
            }
            PatternKind::Range { low, high, inclusive } => {
                let ends = (self.pattern(low, &ty, mutable), self.pattern(high, &ty, mutable));
                let ty = self.infer.zonk(&ty);
                let make = |kind| Pat { kind, ty: ty.clone(), span };
                match (ends.0.kind, ends.1.kind) {
                    (PatKind::Int(low), PatKind::Int(high)) => {
                        let high = if *inclusive { high } else { high - 1 };
                        if low > high {
                            self.report(StatementError::EmptyRange { span });
                            return self.error_pattern(None, mutable, span);
                        }
                        make(PatKind::Ints(low, high))
                    }
                    (PatKind::Char(low), PatKind::Char(high)) => {
                        let (first, end) = (u32::from(low), u32::from(high));
                        // The surrogate code points between 0xD7FF and 0xE000 are not characters.
                        let before = if end == 0xE000 { 0xD7FF } else { end.wrapping_sub(1) };
                        let last = if *inclusive { Some(high) } else { char::from_u32(before) };
                        match last.filter(|last| first <= u32::from(*last)) {
                            Some(last) => make(PatKind::Chars(low, last)),
                            None => {
                                self.report(StatementError::EmptyRange { span });
                                self.error_pattern(None, mutable, span)
                            }
                        }
                    }
                    _ => {
                        if !ends.0.ty.is_error() && !ends.1.ty.is_error() {
                            self.report_pattern_mismatch(
                                "a range of integers or characters",
                                &ty,
                                None,
                                span,
                            );
                        }
                        self.error_pattern(None, mutable, span)
                    }
                }
            }
            PatternKind::Or(parts) => make(PatKind::Or(self.alternatives(parts, &ty, mutable))),
            PatternKind::Char(c) => {
                if !self.infer.try_unify(&ty, &Type::char()) {
                    self.report_pattern_mismatch("a character", &ty, None, span);
                }
                make(PatKind::Char(*c))
            }
            PatternKind::Str(text) => {
                if !self.infer.try_unify(&ty, &Type::string()) {
                    self.report_pattern_mismatch("a string", &ty, None, span);
                }
                make(PatKind::Str(text.clone()))
            }
            PatternKind::Bool(b) => {
                if !self.infer.try_unify(&ty, &Type::bool()) {
                    self.report_pattern_mismatch("a truth value", &ty, None, span);
                }
                Pat { kind: PatKind::Code(BigUint::from(u8::from(*b))), ty: Type::bool(), span }
            }
            PatternKind::Tick(code, written) => {
                let written = self.lower(written);
                if !self.infer.try_unify(&written, &ty) {
                    self.report_pattern_mismatch(&format!("a value of `{written}`"), &ty, None, span);
                } else if self.case_type(&written, code, span).is_some_and(|case| !case.is_unit()) {
                    return make(PatKind::Case(code.clone(), None));
                }
                make(PatKind::Code(code.clone()))
            }
            PatternKind::Tuple(parts) if parts.is_empty() => {
                if !self.infer.try_unify(&ty, &Type::unit()) {
                    self.report_pattern_mismatch("`()`", &ty, None, span);
                }
                make(PatKind::Wild)
            }
            PatternKind::Tuple(parts) | PatternKind::CompactTuple(parts)
                if let Some(rest) = misplaced(parts) =>
            {
                self.rest_not_last(rest);
                self.error_parts(parts, mutable);
                self.error_pattern(None, mutable, span)
            }
            PatternKind::Tuple(parts) if is_rest(parts) => {
                self.rest_pattern(ProductForm::Tuple, parts, &ty, mutable, span)
            }
            PatternKind::CompactTuple(parts) if is_rest(parts) => {
                self.rest_pattern(ProductForm::Compact, parts, &ty, mutable, span)
            }
            PatternKind::Rest(Some(name)) if ty.is_error() => self.variable_pattern(name, &ty, mutable),
            PatternKind::Rest(None) if ty.is_error() => make(PatKind::Wild),
            PatternKind::Rest(_) => {
                self.rest_not_last(pattern);
                self.pattern(pattern, &Type::error(), mutable)
            }
            PatternKind::Tuple(parts) => {
                if let TypeKind::Meta(_) = ty.kind() {
                    let holes = Type::product(parts.iter().map(|_| self.infer.fresh(Kind::Spread)).collect());
                    let _ = self.infer.try_unify(&ty, &holes);
                }
                let ty = self.infer.zonk(&ty);
                let unfolded = ty.unfold();
                match unfolded.components(MAX_COMPONENTS).filter(|c| c.len() == parts.len()) {
                    Some(components) => {
                        let parts =
                            parts.iter().zip(&components).map(|(p, t)| self.pattern(p, t, mutable)).collect();
                        Pat { kind: PatKind::Tuple(parts), ty, span }
                    }
                    None => {
                        let help = match unfolded.compact_parts(MAX_COMPONENTS) {
                            Some(_) => Some("a compact tuple is taken apart by `(p\\, q)`".to_string()),
                            None => unfolded
                                .components(MAX_COMPONENTS)
                                .map(|c| format!("it has {} components", c.len())),
                        };
                        self.report_pattern_mismatch(&format!("a tuple of {}", parts.len()), &ty, help, span);
                        self.error_parts(parts, mutable);
                        self.error_pattern(None, mutable, span)
                    }
                }
            }
            PatternKind::CompactTuple(parts) => {
                let factors = ty.unfold().compact_parts(MAX_COMPONENTS).filter(|f| f.len() == parts.len());
                match factors {
                    Some(factors) => {
                        let parts =
                            parts.iter().zip(&factors).map(|(p, t)| self.pattern(p, t, mutable)).collect();
                        make(PatKind::Pack(parts))
                    }
                    None => {
                        self.report_pattern_mismatch(
                            &format!("a compact tuple of {}", parts.len()),
                            &ty,
                            None,
                            span,
                        );
                        self.error_parts(parts, mutable);
                        self.error_pattern(None, mutable, span)
                    }
                }
            }
            PatternKind::Record(fields) | PatternKind::CompactRecord(fields) => {
                let compact = matches!(pattern.kind, PatternKind::CompactRecord(_));
                let known = self.env.visible_parts(&ty, span).filter(|_| ty.is_compact() == compact);
                let Some(known) = known else {
                    let (what, other) = match compact {
                        true => ("a compact record", "a record is taken apart by `(x = p, y = q)`"),
                        false => ("a record", "a compact record is taken apart by `(x = p \\, y = q)`"),
                    };
                    let help = ty.named_parts().map(|_| other.to_string());
                    self.report_pattern_mismatch(what, &ty, help, span);
                    fields
                        .iter()
                        .for_each(|(_, inner)| self.error_parts(std::slice::from_ref(inner), mutable));
                    return self.error_pattern(None, mutable, span);
                };
                let mut parts: Vec<Pat> =
                    known.iter().map(|(_, ty)| Pat { kind: PatKind::Wild, ty: ty.clone(), span }).collect();
                for (name, inner) in fields {
                    match known.iter().position(|(k, _)| *k == name.text) {
                        Some(at) => {
                            self.note_field(name.span, &ty, at);
                            parts[at] = self.pattern(inner, &known[at].1, mutable);
                        }
                        None => {
                            let fields = known.iter().map(|(n, _)| n.to_string()).collect();
                            let (name_text, ty) = (name.text.to_string(), ty.clone());
                            self.report(PartError::NoField { span: name.span, name: name_text, ty, fields });
                            self.error_parts(std::slice::from_ref(inner), mutable);
                        }
                    }
                }
                make(if compact { PatKind::Pack(parts) } else { PatKind::Tuple(parts) })
            }
            PatternKind::Coarray(index, inner) => {
                let unfolded = ty.unfold();
                let TypeKind::Repeat(cases, case) = unfolded.kind() else {
                    let help =
                        "`case 1 p` is the case with a number; any case has an index in a coarray `N *+ T`";
                    self.report_pattern_mismatch("a case with an index", &ty, Some(help.to_string()), span);
                    self.error_parts(std::slice::from_ref(index), mutable);
                    return self.error_pattern(Some(inner), mutable, span);
                };
                let index = self.pattern(index, cases, mutable);
                let inner = self.pattern(inner, case, mutable);
                make(PatKind::Coarray(Box::new(index), Box::new(inner)))
            }
            PatternKind::Case(index, inner) => {
                if let TypeKind::Nominal(nominal, _) = ty.kind()
                    && ty.unfold() == ty
                {
                    let name = nominal.name.to_string();
                    self.report_pattern_mismatch(
                        "a numbered case",
                        &ty,
                        Some(format!("the cases of `{name}` have names")),
                        span,
                    );
                    return self.error_pattern(inner.as_deref(), mutable, span);
                }
                let Some(case) = self.case_type(&ty, index, span) else {
                    return self.error_pattern(inner.as_deref(), mutable, span);
                };
                match inner {
                    Some(inner) => {
                        let inner = self.pattern(inner, &case, mutable);
                        make(PatKind::Case(index.clone(), Some(Box::new(inner))))
                    }
                    None => {
                        if !case.is_unit() {
                            let error = CallError::ConstructorArgument {
                                span,
                                name: format!("case {index}"),
                                takes: true,
                                ty: Some(case),
                            };
                            self.report(error);
                        }
                        make(PatKind::Case(index.clone(), None))
                    }
                }
            }
            PatternKind::Constructor(name, inner) => match self.env.constructor(&name.text) {
                Some((nominal, case)) => {
                    self.constructor(name, nominal.id, case, Some(inner), &ty, mutable, span)
                }
                None => {
                    self.unknown_constructor(name);
                    // The program writes `x int`, as other languages declare the type of a
                    // variable.
                    if let PatternKind::Name(ty) = &inner.kind
                        && self.is_conversion_name(&ty.text)
                        && let Some(report) = self.reports.last_mut()
                        && report.span() == name.span
                    {
                        let words =
                            format!("the type of a name follows a colon: `{} : {}`", name.text, ty.text);
                        report.set_help(crate::diagnostic::Help::instead(words, name.span.after(), " :"));
                    } else if let PatternKind::Name(other) = &inner.kind
                        && let Some(report) = self.reports.last_mut()
                        && report.span() == name.span
                        && name.text.starts_with(|c: char| c.is_ascii_lowercase())
                        && !name.text.contains("::")
                    {
                        let words = match apply::foreign_or_scalar(&name.text) {
                            Some(ty) => format!("the name comes before its type: `{} : {ty}`", other.text),
                            None => format!("several names are a tuple: `{}, {}`", name.text, other.text),
                        };
                        report.set_help(words.into());
                    }
                    self.error_pattern(Some(inner), mutable, span)
                }
            },
        }
    }

    /// Elaborates alternatives. All must bind the same names at the same types; each name is one
    /// variable, that of the first alternative.
    fn alternatives(&mut self, parts: &[Pattern], ty: &Type, mutable: bool) -> Vec<Pat> {
        let mut pats = Vec::with_capacity(parts.len());
        let mut first: Vec<(Arc<str>, Binding)> = Vec::new();
        for (at, part) in parts.iter().enumerate() {
            if at > 0 {
                self.check_duplicate_names([part], "variable");
            }
            let (mut pat, mut bound) = self.in_scope(|this| {
                let pat = this.pattern(part, ty, mutable);
                let bound = this.frame().scopes.last().expect("a frame has a scope").clone();
                (pat, bound.into_iter().collect::<Vec<_>>())
            });
            bound.sort_by_key(|(_, binding)| binding.local);
            if at == 0 {
                first = bound;
            } else {
                self.bind_alike(part, &parts[0], &mut pat, &mut first, bound);
            }
            pats.push(pat);
        }
        if let Some(scope) = self.frame().scopes.last_mut() {
            scope.extend(first);
        }
        pats
    }

    /// Replaces the variables of a further alternative by those of the first.
    fn bind_alike(
        &mut self,
        part: &Pattern,
        before: &Pattern,
        pat: &mut Pat,
        first: &mut Vec<(Arc<str>, Binding)>,
        bound: Vec<(Arc<str>, Binding)>,
    ) {
        let known = first.len();
        for (name, binding) in &first[..known] {
            if !bound.iter().any(|(other, _)| other == name) && !pat.ty.is_error() {
                let (span, name) = (part.span, name.to_string());
                self.report(PatternError::BindsInAlternative { span, name, bound: binding.span });
            }
        }
        let mut same: Vec<(LocalId, LocalId)> = Vec::new();
        for (name, binding) in bound {
            let Some((_, one)) = first.iter().find(|(other, _)| *other == name) else {
                let (span, text) = (before.span, name.to_string());
                self.report(PatternError::BindsInAlternative { span, name: text, bound: binding.span });
                // The variable is bound with the error type, so that its uses report nothing more.
                self.frame().locals[binding.local.index()].ty = Type::error();
                first.push((name, binding));
                continue;
            };
            let one = one.clone();
            self.note(binding.span, |_| Some(Referent::At(one.span)));
            same.push((binding.local, one.local));
            let [ours, theirs] =
                [binding.local, one.local].map(|local| self.frame().locals[local.index()].ty.clone());
            if !self.infer.try_unify(&theirs, &ours) {
                let (ours, theirs) =
                    (self.infer.zonk_with_defaults(&ours), self.infer.zonk_with_defaults(&theirs));
                let (span, name) = (binding.span, name.to_string());
                self.report(PatternError::AlternativeTypes {
                    span,
                    name,
                    ty: ours,
                    first: one.span,
                    was: theirs,
                });
            }
        }
        pat.for_each_local_mut(&mut |local| {
            if let Some((_, one)) = same.iter().find(|(own, _)| own == local) {
                *local = *one;
            }
        });
    }

    /// Returns a pattern that binds a variable to values of this type.
    pub(in crate::check) fn variable_pattern(&mut self, name: &Name, ty: &Type, mutable: bool) -> Pat {
        let local = self.new_local(&name.text, ty.clone());
        self.bind(&name.text, local, mutable, name.span);
        Pat { kind: PatKind::Bind(local), ty: ty.clone(), span: name.span }
    }

    /// Returns the case that an unqualified name refers to in a pattern for values of this type.
    pub(in crate::check) fn resolve_case(&self, name: &Name, ty: &Type) -> Option<(Nominal, usize)> {
        let (nominal, case, scope) = self.env.scoped_constructor(&name.text)?;
        let means = scope != Scope::Library
            || name.qualified().is_some()
            || match ty.kind() {
                TypeKind::Nominal(found, _) => found.id == nominal.id,
                TypeKind::Error => true,
                TypeKind::Meta(_) => !self.in_total_pattern && name.text.starts_with(char::is_uppercase),
                _ => false,
            };
        means.then_some((nominal, case))
    }

    /// Elaborates a pattern of a `match` arm. Warns about a variable that has the name of a library
    /// case.
    pub(in crate::check) fn arm_pattern(&mut self, pattern: &Pattern, ty: &Type) -> Pat {
        let in_total_pattern = std::mem::take(&mut self.in_total_pattern);
        let pat = self.pattern(pattern, ty, false);
        self.in_total_pattern = in_total_pattern;
        if let (PatternKind::Name(name), PatKind::Bind(_)) = (&pattern.kind, &pat.kind)
            && name.text.starts_with(char::is_uppercase)
            && let Some((nominal, _)) = self.env.constructor(&name.text)
        {
            let (span, name, ty) = (name.span, name.text.to_string(), self.infer.zonk_with_defaults(ty));
            self.report(PatternError::CaseAsVariable { span, name, ty, variant: nominal.name.to_string() });
        }
        pat
    }

    /// Returns a placeholder for a pattern whose error has been reported. Its variables are bound,
    /// and its coverage is not examined.
    pub(in crate::check) fn error_pattern(
        &mut self,
        inner: Option<&Pattern>,
        mutable: bool,
        span: Span,
    ) -> Pat {
        if let Some(inner) = inner {
            self.error_parts(std::slice::from_ref(inner), mutable);
        }
        Pat { kind: PatKind::Wild, ty: Type::error(), span }
    }

    /// Reports a constructor that is not known, with a similar name if there is one.
    fn unknown_constructor(&mut self, name: &Name) {
        if self.report_unknown_in_module(name) {
            return;
        }
        let known = self.constructors();
        let similar = crate::suggest::similar(&name.text, known.iter().map(String::as_str));
        let similar = self.env.qualified_export(&name.text).or(similar);
        self.report(CallError::UnknownName {
            span: name.span,
            name: name.text.to_string(),
            similar,
            is_type: false,
        });
    }

    /// Returns the names of all constructors, for suggestions.
    fn constructors(&self) -> Vec<String> {
        self.env.values.keys().filter(|n| self.env.constructor(n).is_some()).map(|n| n.to_string()).collect()
    }

    /// Binds the variables of patterns with the error type, because the value does not have their
    /// shape.
    pub(in crate::check) fn error_parts(&mut self, parts: &[Pattern], mutable: bool) {
        for part in parts {
            self.pattern(part, &Type::error(), mutable);
        }
    }

    /// Requires the type of a pattern for a number literal to be a number type; reports a mismatch.
    fn number_pattern(&mut self, literal: Literal, ty: &Type, span: Span) {
        let hole = self.infer.fresh_literal(literal);
        if !self.infer.try_unify(ty, &hole) {
            let ty = self.infer.zonk_with_defaults(ty);
            let help = if ty.is_compact() && ty.as_unit_sum().is_some() {
                Some(format!("an index value is written `` `1:{ty} `` or `case 1`"))
            } else {
                None
            };
            self.report_pattern_mismatch("a number", &ty, help, span);
        }
    }

    /// Reports a pattern that does not fit the type, unless that is the error type.
    pub(in crate::check) fn report_pattern_mismatch(
        &mut self,
        what: &str,
        ty: &Type,
        help: Option<String>,
        span: Span,
    ) {
        let ty = self.infer.zonk_with_defaults(ty);
        if !ty.is_error() {
            match ty.as_placed() {
                // The value is at places, and the pattern would tell all what it is.
                Some(_) => drop(self.is_public(&ty, "a value", span)),
                None => self.report(PatternError::PatternMismatch { span, what: what.to_string(), ty, help }),
            }
        }
    }

    /// Elaborates a constructor pattern, with or without an argument.
    #[allow(clippy::too_many_arguments)] // one constructor pattern, with and without argument
    fn constructor(
        &mut self,
        name: &Name,
        nominal: u32,
        case: usize,
        inner: Option<&Pattern>,
        ty: &Type,
        mutable: bool,
        span: Span,
    ) -> Pat {
        self.note(name.span, |this| {
            let (nominal, case) = this.env.constructor(&name.text)?;
            Some(Referent::Case(nominal, case))
        });
        let ty = self.infer.zonk(ty);
        let mut takes = false;
        let cases = match ty.kind() {
            TypeKind::Nominal(found, args) if found.id == nominal => {
                takes = found.case_has_argument(case);
                found.variant_cases(args)
            }
            TypeKind::Error => {
                return self.error_pattern(inner, mutable, span);
            }
            _ => None,
        };
        let Some(cases) = cases else {
            let help = match self.env.constructor(&name.text) {
                Some((n, _)) => Some(format!("`{}` is a case of `{}`", name.text, n.name)),
                None => None,
            };
            self.report_pattern_mismatch(&format!("`{}`", name.text), &ty, help, span);
            return self.error_pattern(inner, mutable, span);
        };
        let argument = &cases[case].1;
        let inner = match (inner, argument.is_unit()) {
            // A case that is declared with an argument takes one, even if its type is `()`.
            (Some(inner), _) if takes => Some(Box::new(self.pattern(inner, argument, mutable))),
            (None, true) => None,
            (given, _) => {
                self.report(CallError::ConstructorArgument {
                    span,
                    name: name.text.to_string(),
                    takes: given.is_none(),
                    ty: Some(argument.clone()),
                });
                given.into_iter().for_each(|g| self.error_parts(std::slice::from_ref(g), mutable));
                None
            }
        };
        Pat { kind: PatKind::Case(BigUint::from(case), inner), ty, span }
    }
}

/// Returns true if the last of several patterns is `..r`.
fn is_rest(parts: &[Pattern]) -> bool {
    matches!(parts, [_, .., Pattern { kind: PatternKind::Rest(_), .. }])
}

/// Returns a part `..r` that is not the last one.
fn misplaced(parts: &[Pattern]) -> Option<&Pattern> {
    let (_, first) = parts.split_last()?;
    first.iter().find(|part| matches!(part.kind, PatternKind::Rest(_)))
}

/// Appends the names in a pattern that bind, and the constructors without argument.
fn names_of<'p>(pattern: &'p Pattern, out: &mut Vec<&'p Name>) {
    match &pattern.kind {
        PatternKind::Name(name) | PatternKind::Rest(Some(name)) => out.push(name),
        PatternKind::Rest(None) => {}
        PatternKind::Typed(inner, _)
        | PatternKind::Constructor(_, inner)
        | PatternKind::Case(_, Some(inner)) => names_of(inner, out),
        // All alternatives bind the same names.
        PatternKind::Or(parts) => parts.first().into_iter().for_each(|part| names_of(part, out)),
        PatternKind::Range { .. } => {}
        PatternKind::Coarray(index, inner) => {
            names_of(index, out);
            names_of(inner, out);
        }
        PatternKind::As(inner, name) => {
            names_of(inner, out);
            out.push(name);
        }
        PatternKind::Tuple(parts) | PatternKind::CompactTuple(parts) => {
            parts.iter().for_each(|part| names_of(part, out));
        }
        PatternKind::Record(fields) | PatternKind::CompactRecord(fields) => {
            fields.iter().for_each(|(_, part)| names_of(part, out));
        }
        PatternKind::Wild
        | PatternKind::Int { .. }
        | PatternKind::Real { .. }
        | PatternKind::Suffixed { .. }
        | PatternKind::Char(_)
        | PatternKind::Str(_)
        | PatternKind::Bool(_)
        | PatternKind::Tick(..)
        | PatternKind::Case(_, None)
        | PatternKind::Error => {}
    }
}
