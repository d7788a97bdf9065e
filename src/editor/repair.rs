//! Repair of a text that is being written: texts close to it that may be parsed.

use super::tokens::blocks;

/// The word that stands where nothing has been written yet: no program has it.
pub(super) const PLACEHOLDER: &str = "nothing_written_yet";

/// Texts in which what is being written at a place can perhaps be read: the text itself with a word
/// there, the same with the end of the statement, and with everything closed that is open in its
/// statement and what would complete it.
pub(super) fn repair_attempts(text: &str, at: usize, word: &str) -> Vec<String> {
    let (before, after) = text.split_at(at);
    let line_end = after.find('\n').unwrap_or(after.len());
    let below = &after[line_end..];
    let closers = closing_tokens(before);
    let mut all = vec![format!("{before}{word}{after}")];
    // What ends a statement, a function without body, a variable without value.
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
            "endif" | "endmatch" => out.push(' '),
            "done" => out.push_str("; "),
            "}" if !out.trim_end().ends_with([';', '}']) => out.push(';'),
            _ => {}
        }
        out.push_str(closer);
    }
    out
}
