//! Queries: questions about types that a session asks.

pub mod type_query;
