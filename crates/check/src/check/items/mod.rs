//! Items: functions, classes, modules and top-level statements, each checked as a whole.

pub(in crate::check) mod class;
pub(in crate::check) mod decl;
mod function_effects;
pub mod module;
pub(in crate::check) mod place_rules;
mod size_places;
pub(in crate::check) mod top_level;
pub(in crate::check) mod zonk;
