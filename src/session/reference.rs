//! The reference of diagnostics: the meaning of each code, a program that causes it, its remedy.
//!
//! The text is the book's page, embedded, so that command and book agree.

/// The page of the book.
const PAGE: &str = include_str!("../../book/src/diagnostics.md");

/// Returns the codes that have an entry, each with its first sentence, in the order of the book.
pub fn codes() -> impl Iterator<Item = (&'static str, &'static str)> {
    sections().map(|(_, code, body)| {
        let first = body.trim_start().split("\n\n").next().unwrap_or_default();
        let end = first.find(". ").map_or(first.len(), |at| at + 1);
        (code, &first[..end])
    })
}

/// Returns the entry of a code, in Markdown; the files that its program imports come first.
pub fn explain(code: &str) -> Option<String> {
    let (chapter, _, body) = sections().find(|(_, own, _)| own.eq_ignore_ascii_case(code))?;
    let shared = chapter.split("\n### ").next().unwrap_or_default();
    let mut out = String::new();
    for fence in shared.split("\n```felis file=").skip(1) {
        let Some(end) = fence.find("\n```") else { continue };
        let name = fence.lines().next().unwrap_or_default();
        if body.contains(&format!("\"{name}\"")) {
            out.push_str(&format!("```felis file={}\n```\n\n", &fence[..end]));
        }
    }
    Some(format!("{}{}", out, body.trim()))
}

/// The chapter of each entry, its code, its text.
fn sections() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    PAGE.split("\n## ").skip(1).flat_map(|chapter| {
        chapter.split("\n### ").skip(1).filter_map(move |entry| {
            let (code, body) = entry.split_once('\n')?;
            Some((chapter, code.trim(), body))
        })
    })
}
