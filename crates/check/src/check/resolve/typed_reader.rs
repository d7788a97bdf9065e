//! Readers of files: primitives whose result type is the type stated at their place.
//!
//! Takes the stated type and the instance of a reader's scheme; sets the type argument of the
//! instance, or reports an error. It never opens a file.
//!
//! A reader is a function whose result type is a bare type parameter. Where the stated type
//! contains `?N`, the type argument is that type for *some* sizes, an existential type. The call is
//! then opened like any other call of an existential result, and the sizes are found at run time.
//! Reading is an effect, so a reader may be called only where procedures may be called.

use crate::check::context::Checker;
use crate::check::env::Instance;
use crate::check::error::{CallError, SizeError};
use crate::check::expectation::Expectation;
use crate::core::Prim;
use crate::source::Span;
use crate::syntax::ast::Name;
use crate::types::stored::{FileType, NotStorable};
use crate::types::{Kind, Type, TypeKind, TypeVar};
use std::sync::Arc;

impl Checker<'_> {
    /// Sets the type argument and the result of a reader's instance to the stated type. Returns
    /// false after reporting an error: in a pure function, without a stated type, or at a type that
    /// the format cannot store.
    pub(in crate::check) fn instantiate_reader(
        &mut self,
        prim: Prim,
        name: &Name,
        instance: &mut Instance,
        type_args: &[Type],
        expected: Expectation<'_>,
    ) -> bool {
        let span = name.span;
        self.frame().outside = true;
        if self.frame().is_pure() {
            let header = Some(self.frame().header);
            self.report(CallError::ReaderInFun { span, name: name.text.to_string(), header });
            return false;
        }
        if !prim.has_stated_result_type() {
            return true;
        }
        let stated = match (type_args.first(), expected.ty) {
            (Some(given), _) => given.clone(),
            (None, Some(hint)) => self.infer.zonk(hint),
            (None, None) => self.infer.fresh(Kind::Type),
        };
        if stated.is_error() {
            return false;
        }
        let mut sizes: Vec<(u32, TypeVar)> = Vec::new();
        let body = self.sizes_opened(&stated, &mut sizes);
        if body.has_meta() {
            let stated = match stated.kind() {
                TypeKind::Meta(_) => None,
                _ => Some(self.infer.display_type(&stated)),
            };
            self.report(SizeError::NothingStated { span, name: name.text.to_string(), stated });
            return false;
        }
        let vars: Vec<TypeVar> = sizes.into_iter().map(|(_, var)| var).collect();
        let ty = Type::exists(&vars, &body);
        if !self.check_storable(prim, &ty, span) {
            return false;
        }
        instance.args = vec![ty.clone()];
        instance.result = Some(ty);
        true
    }

    /// Returns true if files can hold the type; otherwise reports an error and returns false. A
    /// type with parameters or stuck applications is accepted here and examined when it is
    /// concrete.
    pub(in crate::check) fn check_storable(&mut self, prim: Prim, ty: &Type, span: Span) -> bool {
        let error = match FileType::of(ty) {
            Ok(stored) => match stored.list().filter(|_| !prim.supports_list_columns()) {
                None => return true,
                Some((field, list)) => SizeError::NoLists {
                    span,
                    prim: prim.name(),
                    reads: prim.is_reader(),
                    field: field.to_string(),
                    list: list.text(),
                },
            },
            Err(NotStorable::Part(part)) if part.is_error() => return false,
            Err(NotStorable::Part(part))
                if matches!(part.kind(), TypeKind::Var(_) | TypeKind::Apply(..) | TypeKind::Rest(_)) =>
            {
                return true;
            }
            Err(NotStorable::Part(part)) => SizeError::NotStored { span, ty: ty.clone(), part },
            Err(NotStorable::Axis(ty)) => SizeError::NotAnAxis { span, ty },
            Err(NotStorable::Shared { field, columns }) => {
                SizeError::SharedSize { span, ty: ty.clone(), field: field.to_string(), columns }
            }
        };
        self.report(error);
        false
    }

    /// Returns the type with a variable in place of each hole for a size. Appends the new variables
    /// to `sizes`, each with the number of its hole.
    fn sizes_opened(&mut self, ty: &Type, sizes: &mut Vec<(u32, TypeVar)>) -> Type {
        if !ty.has_meta() {
            return ty.clone();
        }
        let TypeKind::Meta(meta) = ty.kind() else {
            return ty.map_children(&mut |child| self.sizes_opened(child, sizes));
        };
        if let Some((_, var)) = sizes.iter().find(|(id, _)| *id == meta.id) {
            return Type::var(var.clone());
        }
        if meta.kind == Kind::Type || self.infer.literal_of(ty).is_some() {
            return ty.clone();
        }
        let known = self.stated.clone().into_iter().find(|(_, hole)| self.infer.zonk(hole) == *ty);
        let name: Arc<str> = known.map_or_else(|| "N".into(), |(name, _)| name.text.clone());
        let var = self.env.fresh_var(&name, Kind::Compact);
        sizes.push((meta.id, var.clone()));
        Type::var(var)
    }
}
