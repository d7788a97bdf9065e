//! Types: written types and kinds, declarations of types, sizes known at run time.

pub(in crate::check) mod kinds;
pub(in crate::check) mod list_types;
pub(in crate::check) mod lower;
pub(in crate::check) mod opaque;
pub(in crate::check) mod places;
pub(in crate::check) mod sizes;
pub(in crate::check) mod well_formed;
pub(in crate::check) mod written_constraints;
