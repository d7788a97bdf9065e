//! State that the layers keep in the checker ([`super::context`], [`super::env`]) between their
//! calls. It is here so that the lowest layer, which holds it, uses none of theirs.
//!
//! Data alone: what is done with it stands in the file that each part names.

use super::env::Constraint;
use super::error::CheckError;
use crate::core::{FunctionId, LocalId, Step, Term};
use crate::hash::HashSet;
use crate::source::Span;
use crate::syntax::ast::{Name, TypeExpr};
use crate::types::{Type, TypeVar};
use std::sync::Arc;

/// A constraint that a use depends on, recorded until the item ends (`solve/constraint`).
#[derive(Clone, Debug)]
pub(in crate::check) struct Obligation {
    /// The constraint that must hold.
    pub constraint: Constraint,
    /// The place of the use.
    pub span: Span,
    /// The use that needs the constraint, as text for messages: "`sum`".
    pub needed_by: String,
}

/// An application of a declared type with constraints (`types/well_formed`, as the two below).
#[derive(Clone, Debug)]
pub(in crate::check) struct ConstrainedApplication {
    /// The number of the type's first parameter, which identifies the type.
    pub declared: u32,
    /// The type arguments.
    pub args: Vec<Type>,
    /// The place of the application.
    pub span: Span,
    /// The name of the type.
    pub name: String,
}

/// The constraints of a declaration as written, not read yet.
#[derive(Clone, Debug, Default)]
pub(in crate::check) struct WrittenConstraints {
    /// The type parameters of the declaration.
    pub params: Vec<TypeVar>,
    /// The classes with their arguments.
    pub constraints: Vec<(Name, Vec<TypeExpr>)>,
    /// The types applied in the declaration.
    pub applied: Vec<ConstrainedApplication>,
}

/// The types applied in a declaration, with the constraints that it gives.
#[derive(Clone, Debug)]
pub(in crate::check) struct AppliedTypes {
    /// The constraints that hold in the declaration.
    pub givens: Vec<Constraint>,
    /// The applications.
    pub applied: Vec<ConstrainedApplication>,
}

/// The meaning of `?N` in the type being read (`types/sizes`).
#[derive(Default)]
pub(in crate::check) enum OpenSizeMeaning {
    /// An error.
    #[default]
    Nothing,
    /// A named hole, in the annotation of a variable.
    Named(Vec<(Name, Type)>),
    /// A variable to be bound, in the result of a function.
    Bound(Vec<TypeVar>),
}

/// A unit before which the openings made in it are placed: a statement, or an expression that may
/// be evaluated zero times or more than once (`elaborate/existential`).
#[derive(Default)]
pub(in crate::check) struct OpeningScope {
    /// The number of the first hole made in the scope.
    pub first_hole: u32,
    /// The span of the statement, if the scope is one.
    pub stmt: Option<Span>,
    /// The openings made in the scope, in order.
    pub openings: Vec<Opening>,
}

/// An existential value to be opened.
pub(in crate::check) struct Opening {
    /// The rigid variables of the sizes.
    pub vars: Vec<TypeVar>,
    /// The local that holds the opened value.
    pub local: LocalId,
    /// The existential value.
    pub value: Term,
}

/// A function with type parameters that is declared inside another function (`elaborate/local`).
pub(in crate::check) struct LiftedFunction {
    /// The depth of the frame that declares it.
    pub depth: usize,
    /// The variables of that frame that it captures.
    pub captures: Vec<LocalId>,
    /// The number of type parameters of the surrounding functions, which precede its own.
    pub outer: usize,
    /// True for a procedure that changes nothing but variables of the surrounding functions.
    pub contained: bool,
}

/// The result of reducing a term (`elaborate/lvalue`).
#[derive(Clone, Debug)]
pub(in crate::check) enum Reduced {
    /// A part of the variable, with the path to it and its type.
    Place(Vec<Step>, Type),
    /// A value, as a term of the frame of the store.
    Value(Term),
    /// A tuple a component of which may be a place.
    Parts(Vec<Reduced>, Type),
    /// A function with its captured values.
    Function { function: FunctionId, type_args: Vec<Type>, captures: Vec<Reduced> },
    /// An array whose elements are places: its clauses, the path of an element, and its type.
    Built(Vec<(LocalId, Type)>, Vec<Step>, Type),
}

/// The `at` block, or the lifted call, that is being elaborated (`elaborate/places`).
#[derive(Clone, Debug)]
pub(in crate::check) struct PlaceScope {
    /// The places.
    pub places: Type,
    /// The span of the text that states them.
    pub span: Span,
    /// The span of the whole block or call.
    pub whole: Span,
    /// True if no `at` is written: a function or an operator is applied to values at these places.
    pub lifted: bool,
}

/// The facts that elaboration records about an item for the check of storing functions
/// (`elaborate/storing`).
#[derive(Default)]
pub(in crate::check) struct Sequence {
    /// The spans of expressions whose evaluation is a step of a statement.
    pub whole: HashSet<Span>,
    /// Functions whose calls have no order: lambdas, and local functions with several parameter
    /// groups.
    pub unordered: HashSet<FunctionId>,
    /// Calls whose value is not used, with the error to report unless they change a variable.
    pub unused: Vec<(Span, CheckError)>,
}

/// The required signature of a method of an instance, of a default, or of a law (`items/class`).
#[derive(Clone)]
pub(in crate::check) struct RequiredSignature {
    /// The name of the method or law.
    pub method: Arc<str>,
    /// The name of its class.
    pub class: Arc<str>,
    /// The required argument type.
    pub domain: Type,
    /// The required result type; `None` for a procedure.
    pub result: Option<Type>,
}
