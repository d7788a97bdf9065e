//! The expectation of an expression: the type and the effects that its context allows.

use crate::types::Type;

/// The type that the context of an expression states, if it states one, and whether the context is
/// a statement. The expectation guides elaboration and demands nothing: the conversion of the term
/// demands the type afterward. It is the inherited type of bidirectional typing (Dunfield &
/// Krishnaswami 2021).
#[derive(Clone, Copy, Debug)]
pub(in crate::check) struct Expectation<'t> {
    /// The type, as far as it is known; it may have holes.
    pub(in crate::check) ty: Option<&'t Type>,
    /// True if the expression is a statement by itself, which may call a procedure.
    pub(in crate::check) statement: bool,
}

impl<'t> Expectation<'t> {
    /// No expectation.
    pub(in crate::check) const NONE: Expectation<'static> = Expectation { ty: None, statement: false };

    /// The expectation of a statement by itself.
    pub(in crate::check) const STATEMENT: Expectation<'static> = Expectation { ty: None, statement: true };

    /// Returns the expectation of the same type for a value.
    pub(in crate::check) fn value(self) -> Expectation<'t> {
        Expectation { statement: false, ..self }
    }

    /// Returns the expectation of a value of this type.
    pub(in crate::check) fn of(ty: &'t Type) -> Expectation<'t> {
        Expectation { ty: Some(ty), statement: false }
    }
}

impl<'t> From<Option<&'t Type>> for Expectation<'t> {
    fn from(ty: Option<&'t Type>) -> Expectation<'t> {
        Expectation { ty, statement: false }
    }
}
