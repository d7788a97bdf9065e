//! The first components and the rest in programs: `A * ..R` in types, `(a, ..r)` in patterns and
//! expressions, and the same with `\*` and `\,`. What it means: [`crate::types::rest`].
//!
//! Takes written types, patterns and tuples whose last part is `..`; gives types with lists, and core
//! in which `(a, ..r)` is a reshape of the pair `(a, r)`. Core has no other form for it: where a function
//! is specialized the types are known, and the slots are where they were.

use super::Checker;
use super::error::{CheckError, RestError};
use crate::core::{Pat, PatKind, Term, TermKind};
use crate::source::Span;
use crate::syntax::ast::{Expr, ExprKind, Name, Pattern, PatternKind, TypeExpr, TypeExprKind};
use crate::types::{Kind, MAX_WRITTEN_COMPONENTS, ProductForm, Type, TypeKind};

/// A part of a written product.
pub(super) enum Part<'t> {
    /// A component.
    Component(&'t TypeExpr),
    /// The name of the list of those that follow.
    Rest(&'t Name),
}

impl Checker<'_> {
    /// The list that a name after `..` means in a type.
    pub(super) fn list_named(&mut self, name: &Name, form: Option<ProductForm>) -> Option<Type> {
        let found = self.item.type_scope.get(&name.text).cloned();
        self.note_type_name(name);
        if let Some(TypeKind::Var(var)) = found.as_ref().map(Type::kind) {
            self.item.mentioned.insert(var.id);
        }
        let list = found.filter(|ty| ty.is_error() || ty.list_form().is_some());
        let (span, text) = (name.span, name.text.to_string());
        match list {
            None => self.report(RestError::NoList { span, name: text }.into()),
            Some(list) if list.is_error() => {}
            Some(list) => {
                let own = list.list_form();
                if form.is_none() || own == form {
                    return Some(list);
                }
                self.report(
                    RestError::Form { span, name: text, compact: own == Some(ProductForm::Tuple) }.into(),
                );
            }
        }
        None
    }

    /// `..R` by itself: the product of the list.
    pub(super) fn lower_rest(&mut self, name: &Name) -> Type {
        self.list_named(name, None).map_or_else(Type::error, Type::product_of)
    }

    /// `A * B * ..R`, where `read` gives the types of the components and the list that the last part names;
    /// nothing where it has reported a mistake.
    pub(super) fn lower_spread(
        &mut self,
        form: ProductForm,
        parts: &[TypeExpr],
        read: &mut dyn FnMut(&mut Self, Part<'_>) -> Option<Type>,
    ) -> Type {
        let (last, first) = match parts.split_last() {
            Some((TypeExpr { kind: TypeExprKind::Rest(name), .. }, first)) => (Some(name), first),
            _ => (None, parts),
        };
        let mut misplaced = false;
        let mut types = Vec::with_capacity(first.len());
        for part in first {
            if let TypeExprKind::Rest(name) = &part.kind {
                let (span, what) = (part.span, name.text.to_string());
                self.report(RestError::NotLast { span, what }.into());
                misplaced = true;
                continue;
            }
            types.push(read(self, Part::Component(part)).unwrap_or_else(Type::error));
        }
        if misplaced {
            return Type::error();
        }
        match last {
            None => form.product(types),
            Some(name) => match read(self, Part::Rest(name)) {
                Some(list) => Type::product_of(Type::list(form, types, Some(list))),
                None => Type::error(),
            },
        }
    }

    /// The kind of a type parameter of which the header says `..R`.
    pub(super) fn list_kind(&mut self, name: &Name, kind: Kind) -> Kind {
        match ProductForm::of(kind) {
            Some(form) => Kind::List(form),
            None => {
                let (span, kind) = (name.span, self.env.kind_name(kind));
                self.report(RestError::Kind { span, name: name.text.to_string(), kind }.into());
                Kind::List(ProductForm::Tuple)
            }
        }
    }

    /// Reports `..r` that does not end a tuple.
    pub(super) fn rest_not_last(&mut self, pattern: &Pattern) {
        if let PatternKind::Rest(name) = &pattern.kind {
            let what = name.as_ref().map_or("_".to_string(), |name| name.text.to_string());
            self.report(RestError::NotLast { span: pattern.span, what }.into());
        }
    }

    /// A pattern for a tuple, or a compact tuple, whose last part is `..r`.
    pub(super) fn rest_pattern(
        &mut self,
        form: ProductForm,
        parts: &[Pattern],
        ty: &Type,
        mutable: bool,
        span: Span,
    ) -> Pat {
        let Some((last, first)) = parts.split_last() else { return self.broken(None, mutable, span) };
        if let TypeKind::Meta(_) = ty.kind() {
            let holes = first.iter().map(|_| self.infer.fresh(form.kind())).collect();
            let list = self.infer.fresh(Kind::List(form));
            let _ = self.infer.try_unify(ty, &Type::product_of(Type::list(form, holes, Some(list))));
        }
        let ty = self.infer.zonk(ty);
        let list = ty.unfold().as_list(form);
        let list = list.as_ref().map(Type::kind);
        let split = match list {
            Some(TypeKind::List(_, known, end)) if known.len() >= first.len() => {
                let (own, more) = known.split_at(first.len());
                // Only of `\*` nothing may be left.
                let left = form == ProductForm::Compact || !more.is_empty() || end.is_some();
                left.then(|| (own.to_vec(), Type::list(form, more.to_vec(), end.clone())))
            }
            _ => None,
        };
        let Some((types, rest)) = split else {
            let what = match form {
                ProductForm::Tuple => format!("a tuple of {} and a rest", first.len()),
                ProductForm::Compact => format!("a compact tuple of {} and a rest", first.len()),
            };
            let help = match list {
                Some(TypeKind::List(_, known, None)) => Some(format!("it has {} components", known.len())),
                Some(TypeKind::List(_, known, Some(end))) => Some(format!(
                    "only {} of its components are known one by one: `{end}` may be one component",
                    known.len()
                )),
                _ => why_no_list(form, &ty),
            };
            self.misfit(&what, &ty, help, span);
            self.error_parts(parts, mutable);
            return self.broken(None, mutable, span);
        };
        let mut pats: Vec<Pat> = first.iter().zip(&types).map(|(p, t)| self.pattern(p, t, mutable)).collect();
        let rest = Type::product_of(rest);
        pats.push(match &last.kind {
            PatternKind::Rest(Some(name)) => self.variable_pattern(name, &rest, mutable),
            _ => Pat { kind: PatKind::Wild, ty: rest.clone(), span: last.span },
        });
        let pair = form.product(types.into_iter().chain([rest]).collect());
        let kind = match form {
            ProductForm::Tuple => PatKind::Tuple(pats),
            ProductForm::Compact => PatKind::Pack(pats),
        };
        let inner = Pat { kind, ty: pair, span };
        match inner.ty == ty {
            true => inner,
            false => Pat { kind: PatKind::Reshape(Box::new(inner)), ty, span },
        }
    }

    /// A tuple, or a compact tuple, whose last part is `..e`; nothing if it is none.
    pub(super) fn rest_tuple(
        &mut self,
        form: ProductForm,
        parts: &[Expr],
        hint: Option<&Type>,
        span: Span,
    ) -> Option<Term> {
        let (Expr { kind: ExprKind::Rest(rest), .. }, first) = parts.split_last()? else { return None };
        let hint = hint.map(|hint| self.infer.zonk(hint).unfold()).and_then(|hint| hint.as_list(form));
        let hints: &[Type] = match hint.as_ref().map(Type::kind) {
            Some(TypeKind::List(_, known, _)) => known,
            _ => &[],
        };
        let mut terms = Vec::new();
        let mut types = Vec::new();
        for (at, part) in first.iter().chain([&**rest]).enumerate() {
            let last = at == first.len();
            let term = match hints.get(at).filter(|_| !last) {
                Some(hint) => self.check(part, hint, None),
                None => self.expr(part, None),
            };
            // What a rest is made of has to be known.
            let ty = match form {
                ProductForm::Tuple if !last => self.infer.zonk(&term.ty),
                _ => self.infer.settle(&term.ty),
            };
            if let (true, TypeKind::Meta(_)) = (last, ty.kind()) {
                let what = "which components follow".to_string();
                let instead = "write the type of the value".to_string();
                return Some(self.wrong(CheckError::CannotInfer { span: part.span, what, instead }, span));
            }
            if ty.is_error() {
                return Some(Term::new(TermKind::Error, Type::error(), span));
            }
            if form == ProductForm::Compact && !ty.is_compact() {
                let role = "be part of a compact tuple";
                let error = super::types::not_compact(&ty, ty.to_string(), role, part.span);
                return Some(self.wrong(error, span));
            }
            types.push(ty);
            terms.push(term);
        }
        let ty = types.pop()?;
        if let TypeKind::Var(_) | TypeKind::Apply(..) = ty.kind() {
            return Some(self.wrong(RestError::Unknown { span: rest.span, ty }.into(), span));
        }
        let list = Type::list(form, types.clone(), Some(ty.clone().into_list(form)));
        let whole = Type::product_of(list);
        types.push(ty);
        let pair = form.product(types);
        let kind = match form {
            ProductForm::Tuple => TermKind::Tuple(terms),
            ProductForm::Compact => TermKind::Pack(terms),
        };
        let pair = Term::new(kind, pair, span);
        Some(match pair.ty == whole {
            true => pair,
            false => Term::new(TermKind::Reshape(Box::new(pair)), whole, span),
        })
    }
}

/// Why a value does not fit `A * ..R` or `N \* ..R`.
pub(super) fn no_list(found: &Type, expected: &Type) -> Option<String> {
    let TypeKind::Rest(list) = expected.kind() else { return None };
    let TypeKind::List(form, parts, _) = list.kind() else { return None };
    if let Some(TypeKind::List(_, known, None)) = found.as_list(*form).as_ref().map(Type::kind) {
        let (has, least) = (known.len(), parts.len() + 1);
        return (*form == ProductForm::Tuple && has < least)
            .then(|| format!("a tuple of {least} components or more is wanted, this one has {has}"));
    }
    let tuple = || format!("a tuple of {} components or more is wanted", parts.len() + 1);
    why_no_list(*form, found).or_else(|| (*form == ProductForm::Tuple).then(tuple))
}

/// Why a type has no first component and a rest, if it looks as if it had.
fn why_no_list(form: ProductForm, ty: &Type) -> Option<String> {
    match (form, ty.kind()) {
        (ProductForm::Tuple, TypeKind::Array(_, count)) if count.as_unit_sum().is_some() => Some(format!(
            "an array is a tuple of a first component and a rest from 2 to {MAX_WRITTEN_COMPONENTS} elements"
        )),
        (ProductForm::Tuple, TypeKind::Array(..)) => {
            Some("how many components an array has is known where its length is a number".to_string())
        }
        (ProductForm::Compact, TypeKind::Var(var)) => Some(format!(
            "a variable `{}` may be a product of axes or none: write `N \\* ..R` for it in the header",
            var.name
        )),
        (ProductForm::Compact, TypeKind::CompactPower(..)) => {
            Some("how many factors a power has is known where its exponent is a number".to_string())
        }
        _ => None,
    }
}
