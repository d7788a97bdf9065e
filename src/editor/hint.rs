//! Hints: the type of the text that is being written, shown beside the line.

use super::cursor::enclosing_call;
use crate::session::Session;
use felis_syntax::syntax;

/// The maximum length of a text that is checked for a hint, in bytes.
const MAX_HINTED_BYTES: usize = 4_000;

/// Returns the hint for a text that is being written: the type of its last expression or
/// definition, or the type of the function that is named or called at its end.
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

/// Returns the name and type of a function; for several forms, the first one and the number of the
/// others.
fn overload_hint(session: &mut Session, name: &str) -> Option<String> {
    let overloads = session.overloads(name);
    let (first, more) = overloads.split_first()?;
    Some(match more.len() {
        0 => first.signature.clone(),
        more => format!("{}   (and {more} more)", first.signature),
    })
}
