//! `:why`: the full explanation of an error.
//!
//! Takes a diagnostic; gives its notes and the book's entry of its code, with a program that causes
//! it. The book is the only source of this text.

use crate::cli::explain::markdown_to_text;
use felis::session::reference;
use felis_base::diagnostic::Diagnostic;

/// Returns the full explanation of a diagnostic.
pub fn explain_diagnostic(diagnostic: &Diagnostic) -> String {
    let mut out = format!("{}: {}\n", diagnostic.code, diagnostic.message);
    if !diagnostic.primary.text.is_empty() {
        out.push_str(&format!("here: {}\n", diagnostic.primary.text));
    }
    diagnostic.notes.iter().for_each(|note| out.push_str(&format!("note: {note}\n")));
    diagnostic.help.iter().for_each(|help| out.push_str(&format!("help: {}\n", help.text)));
    if let Some(page) = reference_page(diagnostic.code.as_str()) {
        out.push_str(&format!("\nIn general:\n{page}"));
    }
    out
}

/// Returns the section of a code as plain text.
fn reference_page(code: &str) -> Option<String> {
    reference::explain(code).map(|section| markdown_to_text(&section))
}

#[cfg(test)]
mod tests {
    use super::reference_page;

    #[test]
    fn a_code_has_its_section() {
        let text = reference_page("E0102").expect("a section");
        assert!(text.starts_with("A string whose line ends"), "{text}");
        assert!(text.contains("\n    println$ \"hello;\n"), "{text}");
        assert!(!text.contains("```") && !text.contains("E0103"), "{text}");
        assert_eq!(reference_page("no code"), None);
    }
}
