//! Abstract types: `type Cipher[T, I:COMPACTLINEAR] layout I = T ^ I;`
//!
//! A representation must keep the promise of `layout`. It does if it remains naturally isomorphic
//! when the parameter is replaced by a newtype with the same storage: a representation that depends
//! on more than storage distinguishes the newtype by its name.

use crate::check::annotations::Referent;
use crate::check::context::Checker;
use crate::check::env::TypeDefinition;
use crate::check::error::{CheckError, KindError, TypeError};
use crate::iso::{self, Verdict};
use crate::syntax::ast::{Name, TypeDecl, TypeExpr};
use crate::types::opaque::Abstract;
use crate::types::{Kind, Nominal, NominalBody, Type, TypeVar};
use std::sync::Arc;

impl Checker<'_> {
    /// Declares an abstract type, and checks its representation.
    pub(in crate::check) fn declare_abstract(
        &mut self,
        declaration: &TypeDecl,
        layout: &[Name],
        representation: Option<&TypeExpr>,
    ) {
        let params = self.declare_params(&declaration.generics.params);
        self.declare_constraints(&params, &declaration.generics);
        let functorial = self.functorial(&params, layout);
        let stored = representation.map(|written| self.lower(written));
        if let (Some(ty), Some(written)) = (&stored, representation) {
            if ty.has_meta() {
                let instead = "write the whole type".to_string();
                let what = "how this type is stored".to_string();
                self.report(TypeError::CannotInfer { span: written.span, what, instead });
            }
            for (param, _) in params.iter().zip(&functorial).filter(|(_, functorial)| **functorial) {
                if !self.keeps_layout(ty, param) {
                    let error = KindError::LayoutBroken {
                        span: written.span,
                        name: declaration.name.text.to_string(),
                        param: param.name.to_string(),
                        index: param.kind != Kind::Type,
                        ty: ty.clone(),
                    };
                    self.report(CheckError::Kind(error));
                }
            }
        }
        let name = declaration.name.text.clone();
        let kind = if stored.as_ref().is_some_and(Type::is_spread) { Kind::Spread } else { Kind::Type };
        let nominal = Nominal::declare(self.env.fresh_id(), name.clone(), params, kind);
        nominal.define(NominalBody::Abstract(Abstract { layout: functorial, representation: stored }));
        self.env.types.insert(name, TypeDefinition::Nominal(nominal));
    }

    /// Returns, for each parameter, true if it is named after `layout`.
    fn functorial(&mut self, params: &[TypeVar], layout: &[Name]) -> Vec<bool> {
        let mut functorial = vec![false; params.len()];
        for (i, name) in layout.iter().enumerate() {
            if layout[..i].iter().any(|earlier| earlier.text == name.text) {
                let error =
                    TypeError::Duplicate { span: name.span, what: "layout", name: name.text.to_string() };
                self.report(error);
            }
            let at = params.iter().position(|p| p.name == name.text);
            self.note(name.span, |_| Some(Referent::Parameter(params[at?].id)));
            match at {
                Some(at) if !params[at].kind.is_finite() => functorial[at] = true,
                _ => {
                    let error = KindError::Layout {
                        span: name.span,
                        name: name.text.to_string(),
                        kind: at.map(|at| self.env.kind_name(params[at].kind)),
                        params: params
                            .iter()
                            .filter(|p| !p.kind.is_finite())
                            .map(|p| p.name.to_string())
                            .collect(),
                    };
                    self.report(CheckError::Kind(error));
                }
            }
        }
        functorial
    }

    /// Returns true if a type keeps its storage when a parameter is replaced by a type with the
    /// same storage.
    fn keeps_layout(&mut self, ty: &Type, param: &TypeVar) -> bool {
        let kind = match param.kind {
            // A newtype of a number is not a number.
            Kind::UnitSum => Kind::Compact,
            kind => kind,
        };
        let twin = Nominal::declare(self.env.fresh_id(), Arc::from("twin"), Vec::new(), kind);
        twin.define(NominalBody::Newtype(Type::var(param.clone())));
        let twin = Type::nominal(twin, Vec::new());
        let other = ty.substitute(&[(param.id, twin)].into_iter().collect());
        iso::verdict(ty, &other) <= Verdict::Natural
    }
}
