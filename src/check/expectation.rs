//! The expectation of an expression: what its place says about its type and its effects.

use crate::types::Type;

/// The type that the place of an expression asks for, if something states one, and whether the
/// place is a statement. It guides elaboration and is no demand: the conversion of the term makes
/// the demand afterwards. The pair plays the part of the inherited type in bidirectional typing
/// (Dunfield & Krishnaswami 2021).
#[derive(Clone, Copy, Debug)]
pub(in crate::check) struct Expectation<'t> {
    /// The type, as far as it is known; it may have holes.
    pub(in crate::check) ty: Option<&'t Type>,
    /// The expression is a statement by itself: it may call a procedure.
    pub(in crate::check) statement: bool,
}

impl<'t> Expectation<'t> {
    /// Nothing is known.
    pub(in crate::check) const NONE: Expectation<'static> = Expectation { ty: None, statement: false };

    /// A statement by itself.
    pub(in crate::check) const STATEMENT: Expectation<'static> = Expectation { ty: None, statement: true };

    /// The same type, of a value.
    pub(in crate::check) fn value(self) -> Expectation<'t> {
        Expectation { statement: false, ..self }
    }

    /// A value of this type.
    pub(in crate::check) fn of(ty: &'t Type) -> Expectation<'t> {
        Expectation { ty: Some(ty), statement: false }
    }
}

impl<'t> From<Option<&'t Type>> for Expectation<'t> {
    fn from(ty: Option<&'t Type>) -> Expectation<'t> {
        Expectation { ty, statement: false }
    }
}
