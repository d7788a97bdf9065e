//! Written constraints, those after `with`: `with Ord[T], Show[T]`.

use crate::check::annotations::Referent;
use crate::check::context::Checker;
use crate::check::env::Constraint;
use crate::check::error::{ClassError, TypeError};
use crate::source::Span;
use crate::suggest::similar;
use crate::syntax::ast::{Name, TypeExpr};
use crate::types::Type;

impl Checker<'_> {
    /// Reads written constraints; reports and omits those that are not valid.
    pub(in crate::check) fn constraints(&mut self, written: &[(Name, Vec<TypeExpr>)]) -> Vec<Constraint> {
        let mut read: Vec<Constraint> = Vec::new();
        for (name, args) in written {
            let Some(constraint) = self.constraint(name, args, name.span) else { continue };
            let (span, text) = (name.span, self.env.text(&constraint));
            if read.contains(&constraint) {
                self.report(ClassError::ConstraintTwice { span, constraint: text });
            } else if !constraint.args.iter().any(Type::has_var) {
                self.report(ClassError::GroundConstraint { span, constraint: text });
            }
            read.push(constraint);
        }
        read
    }

    /// Reads one constraint: looks up the class and checks the number and kinds of its arguments.
    /// Returns `None` after a report.
    pub(in crate::check) fn constraint(
        &mut self,
        name: &Name,
        args: &[TypeExpr],
        span: Span,
    ) -> Option<Constraint> {
        let Some(class) = self.env.class(&name.text).cloned() else {
            if self.report_unknown_in_module(name) {
                return None;
            }
            let similar = similar(&name.text, self.env.class_names.keys().map(|k| &**k));
            let name_text = name.text.to_string();
            self.report(ClassError::UnknownClass { span: name.span, name: name_text, similar });
            return None;
        };
        self.note(name.span, |_| Some(Referent::At(class.span)));
        if class.params.len() != args.len() {
            let (expected, found) = (class.params.len(), args.len());
            self.report(ClassError::Arity { span, class: class.name.to_string(), expected, found });
            return None;
        }
        let mut types = Vec::new();
        for (param, written) in class.params.iter().zip(args) {
            let ty = self.lower_argument(written);
            if ty.is_error() || !self.check_kind(&ty, param, written.span) {
                return None;
            }
            if ty.has_meta() {
                let (what, instead) = ("which type is meant".into(), "write the type".into());
                self.report(TypeError::CannotInfer { span: written.span, what, instead });
                return None;
            }
            types.push(ty);
        }
        Some(Constraint { class: class.id, args: types })
    }
}
