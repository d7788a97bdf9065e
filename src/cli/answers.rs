//! Texts of answers, and the request of a command to the loop that reads inputs.

use felis::session::{Comparison, Session};

/// The request of a command to the loop that reads inputs.
pub enum Flow {
    /// The loop reads the next input; the number is the exit code of this input.
    Continue(u8),
    /// The loop ends.
    Quit,
    /// The loop ends with this exit code: a program has ended itself.
    Exit(u8),
}

/// Returns a verdict and its reasons as text.
pub fn comparison_text(comparison: &Comparison) -> String {
    let mut out = format!("{}\n", comparison.verdict);
    if let Some(reasons) = &comparison.reasons {
        out.push_str(&format!("{}\n", reasons.message));
        reasons.notes.iter().for_each(|note| out.push_str(&format!("note: {note}\n")));
        reasons.help.iter().for_each(|help| out.push_str(&format!("help: {help}\n")));
        reasons.derivation.iter().for_each(|steps| out.push_str(&format!("{steps}\n")));
    }
    out
}

/// Returns notes about names in types that are index variables and may be misspelt types.
pub fn implicit_names_note(session: &mut Session, types: &[&str]) -> String {
    let names = session.implicit_names(types);
    names
        .iter()
        .map(|name| format!("note: `{name}` is no type known here: it stands for any index type\n"))
        .collect()
}
