//! Repair of a text that is being written: similar texts that may be parsed.

use super::tokens::blocks;

/// The word inserted at a position where no name is written yet; no program contains it.
pub(super) const PLACEHOLDER: &str = "nothing_written_yet";

/// Returns texts in which the statement at a position can perhaps be parsed: the text itself with a
/// word at the position; the same with the statement ended there; and the same with all open
/// brackets and blocks of the statement closed, and the missing parts added.
pub(super) fn repair_attempts(text: &str, at: usize, word: &str) -> Vec<String> {
    let (before, after) = text.split_at(at);
    let line_end = after.find('\n').unwrap_or(after.len());
    let below = &after[line_end..];
    let closers = closing_tokens(before);
    let mut all = vec![format!("{before}{word}{after}")];
    // The ends of a statement, of a function without body, and of a variable without value.
    let ends = [";", &format!(" => {PLACEHOLDER};"), &format!(" = {PLACEHOLDER};")];
    all.push(format!("{before}{word};{after}"));
    all.extend(ends.map(|end| format!("{before}{word}{closers}{end}{below}")));
    all
}

/// Returns the tokens that close the brackets and blocks that are open at the end of a text.
fn closing_tokens(before: &str) -> String {
    let mut out = String::new();
    for closer in blocks(before).open.into_iter().rev() {
        match closer {
            closer if closer.ends_with("endif") || closer == "endmatch" => out.push(' '),
            "done" => out.push_str("; "),
            "}" if !out.trim_end().ends_with([';', '}']) => out.push(';'),
            _ => {}
        }
        out.push_str(&closer.replace('_', PLACEHOLDER));
    }
    out
}
