//! Advice for a value of one type where another type is wanted: the `:>>`, `:>` or expression that
//! a message may name.
//!
//! One module decides what a message may advise, so that no message leads to a loss of type
//! information. `:>>` is advised only where it discards no declared label ([`crate::iso::labels`]),
//! `:>` only between types with the same nominal types, and an expression that moves storage only
//! if the checker accepts it.

use crate::check::context::Checker;
use crate::check::env::{Callable, Definition};
use crate::check::hints::fields::{halo_axes_hint, redeclared_axis_reason};
use crate::diagnostic::Help;
use crate::iso::expression::Expression;
use crate::iso::{self, Comparison, LabelLoss, Verdict, labels};
use crate::source::Span;
use crate::types::{Alignment, Type, TypeKind};

impl Checker<'_> {
    /// Returns the labels that reading a value of one type as the other would discard, by the
    /// equations of sizes that hold here and those in `more`. The two types are naturally
    /// isomorphic by these equations.
    pub(in crate::check) fn label_loss(
        &self,
        found: &Type,
        expected: &Type,
        more: &[(Type, Type)],
    ) -> Option<LabelLoss> {
        let mut equations = self.equations();
        equations.extend_from_slice(more);
        iso::label_loss(found, expected, &mut |a, b| {
            iso::verdict(a, b) <= Verdict::Natural || iso::equations::natural_under(&equations, a, b)
        })
    }

    /// Returns the help that `:>>` reads a value as the wanted type, introduced by `words`; or, if
    /// `:>>` would discard a label, the advice to use instead. The two types are naturally
    /// isomorphic here.
    pub(in crate::check) fn reshape_help(
        &mut self,
        found: &Type,
        expected: &Type,
        span: Span,
        words: &str,
    ) -> Help {
        match self.label_loss(found, expected, &[]) {
            None => {
                let written = iso::text_after_cast(expected);
                let words = format!("{words}: `:>> {written}` reads it as the other, at no cost");
                Help::around(words, span, &format!(" :>> {written}"), "")
            }
            Some(forgotten) => Help::new(self.reshape_alternative(&forgotten, found, expected)),
        }
    }

    /// Returns the advice for two types between which `:>>` would discard a label.
    pub(in crate::check) fn reshape_alternative(
        &self,
        forgotten: &LabelLoss,
        found: &Type,
        expected: &Type,
    ) -> String {
        self.conversion_hint(found, expected).unwrap_or_else(|| forgotten.advice(found, expected))
    }

    /// Returns the help that names an expression from the one type to the other, if there is one
    /// and its names refer to the library's functions here.
    pub(in crate::check) fn conversion_hint(&self, found: &Type, expected: &Type) -> Option<String> {
        let natural = &mut |a: &Type, b: &Type| iso::verdict(a, b) <= Verdict::Natural;
        let expression = iso::expression::expression(found, expected, natural)?;
        self.means_library(&expression).then(|| expression.help())
    }

    /// Compares two types for messages. The expression is omitted if its names refer to other
    /// functions here.
    pub(in crate::check) fn compare_for_message(&self, from: &Type, to: &Type) -> Comparison {
        let mut comparison = iso::compare(from, to);
        comparison.expression = comparison.expression.filter(|expression| self.means_library(expression));
        comparison
    }

    /// Returns true if the names of an expression's functions refer to the library's functions
    /// here, and to nothing else.
    fn means_library(&self, expression: &Expression) -> bool {
        expression.functions.iter().all(|name| {
            let local =
                self.item.frames.iter().flat_map(|f| &f.scopes).any(|scope| scope.contains_key(*name));
            let own = match self.env.values.get(*name) {
                // The library's functions are read at their first mention.
                None => false,
                Some(Definition::Callables(callables)) => callables.iter().any(|callable| match callable {
                    Callable::Function(id) => self
                        .env
                        .signatures
                        .get(id)
                        .is_none_or(|signature| signature.span.source.0 >= self.env.library_texts),
                    Callable::Prim(_) => false,
                    _ => true,
                }),
                Some(_) => true,
            };
            !local && !own
        })
    }

    /// Returns the advice that brings two arrays to one index type, or the reason against it.
    pub(in crate::check) fn index_type_hint(&mut self, left: &Type, right: &Type) -> Option<String> {
        let (TypeKind::Array(element, i), TypeKind::Array(_, j)) = (left.kind(), right.kind()) else {
            return None;
        };
        if left.has_meta() || right.has_meta() {
            return None;
        }
        if let Some(advice) = halo_axes_hint(i, j) {
            return Some(advice);
        }
        if let Some(words) = i.axes().iter().find_map(|axis| redeclared_axis_reason(&j.axes(), axis)) {
            return Some(words);
        }
        match Alignment::of(i, j) {
            Some(Alignment::Permuted) => {
                return Some(format!(
                    "`transpose_to[{i}]` gives the right one the order of axes of the left one"
                ));
            }
            Some(Alignment::Contains) => {
                return Some(format!(
                    "`over[{i}]` repeats the right one along the axes that only the left one has"
                ));
            }
            Some(Alignment::ContainedIn) => {
                return Some(format!(
                    "`over[{j}]` repeats the left one along the axes that only the right one has"
                ));
            }
            Some(Alignment::Union(all)) if i.axes().len() > 1 || j.axes().len() > 1 => {
                return Some(format!(
                    "`over[{all}]` repeats each along the axes that only the other one has; `transpose_to` comes first \
                     where their order differs"
                ));
            }
            _ => {}
        }
        if iso::verdict(i, j) > Verdict::Natural && !iso::equations::natural_under(&self.equations(), i, j) {
            return self.late_size(left, &Type::array(element.clone(), j.clone()));
        }
        let wanted = Type::array(element.clone(), j.clone());
        Some(match self.label_loss(left, &wanted, &[]) {
            None => format!("`:>> {wanted}` brings the left one to the index type of the right one"),
            Some(forgotten) => self.reshape_alternative(&forgotten, left, &wanted),
        })
    }

    /// Checks that `:> to` may be advised: the conversion works on numbers and components alone.
    /// The error is the advice to use instead.
    pub(in crate::check) fn convertible_words(&self, from: &Type, to: &Type) -> Result<(), String> {
        match labels::nominal_difference(from, to) {
            None => Ok(()),
            Some(forgotten) => Err(forgotten.advice(from, to)),
        }
    }
}
