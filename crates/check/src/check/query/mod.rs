//! Queries about types, as a session makes them.

pub mod type_query;
