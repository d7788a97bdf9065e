//! Hints: the type of what is being written, beside the line.

use super::cursor::enclosing_call;
use crate::session::Session;
use crate::syntax;

/// The longest text that is checked for a hint, in bytes.
const MAX_HINTED_BYTES: usize = 4_000;

/// Returns the hint for a text that is being written: the type of its last expression or
/// definition, the type of a function that is named or whose argument is being written.
pub fn hint(session: &mut Session, text: &str) -> Option<String> {
    if text.len() > MAX_HINTED_BYTES || text.contains("import") {
        return None;
    }
    session.with_temporary_sources(|session| {
        let text = text.trim().trim_end_matches(';').trim_end();
        if syntax::is_name(text) && !session.overloads(text).is_empty() {
            return overload_hint(session, text);
        }
        match session.type_of_last_statement(text) {
            Some(hint) => Some(hint),
            None => overload_hint(session, enclosing_call(text)?),
        }
    })
}

/// Name and type of a function, of one with several forms the first and how many more there are.
fn overload_hint(session: &mut Session, name: &str) -> Option<String> {
    let overloads = session.overloads(name);
    let (first, more) = overloads.split_first()?;
    Some(match more.len() {
        0 => first.signature.clone(),
        more => format!("{}   (and {more} more)", first.signature),
    })
}
