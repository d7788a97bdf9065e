//! Support for editors: the index of a text, completion, hovers, signature help, renaming, colors.
//!
//! Takes texts that are being written, so often broken ones, and positions in them as bytes. Uses
//! the public queries of a session, which does not know of editors. Gives answers that are
//! independent of any protocol. Evaluates no program and keeps nothing in the session.

mod checked;
mod completion;
mod cursor;
mod dependencies;
mod describe;
mod hint;
mod hover;
mod index;
mod lookup;
mod operator;
mod rename;
mod repair;
mod resolve;
mod signature_help;
mod tokens;

pub use crate::session::Draft;
pub use crate::session::outline::{Declaration, DeclarationKind, outline};
pub use checked::{CheckedText, Edited, check_edited};
pub use completion::{Candidate, CandidateKind, Completions, Origin, candidates, complete_at};
pub use cursor::import_path;
pub use describe::Hover;
pub use hint::hint;
pub use hover::hover;
pub use index::{Index, Target, Use, index};
pub use lookup::{Hint, NameClass};
pub use rename::{Occurrence, RenameEdits, RenameRefusal, apply_rename, check_name, check_same_meaning};
pub use signature_help::{Form, Invocation, invocation};
pub use tokens::{Blocks, TokenClass, blocks, matching_bracket, tokens};
