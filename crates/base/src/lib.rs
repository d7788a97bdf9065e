//! Utilities of every stage: texts, messages, cancellation, elementary functions.

pub mod cancellation;
pub mod diagnostic;
pub mod elementary;
pub mod hash;
pub mod id;
pub mod mnemonic;
pub mod quote;
pub mod source;
pub mod suggest;
