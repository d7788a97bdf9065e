//! Pages as Markdown, as chapters of the book.

use super::{Page, Part};

/// A chapter.
pub fn page(page: &Page) -> String {
    let mut out = format!("# {}\n", page.name);
    if !page.about.is_empty() {
        out.push_str(&format!("\n{}\n", page.about));
    }
    for entry in &page.entries {
        out.push_str(&format!("\n## {}\n\n```felis-part\n{}\n```\n", heading(&entry.name), entry.signature));
        for part in &entry.parts {
            out.push_str(&match part {
                Part::Prose(text) => format!("\n{text}\n"),
                Part::Law(law) => format!("\nLaw: {law}\n"),
                Part::Work(work) => format!("\nWork: {work}\n"),
                Part::Example(expression, result) => {
                    format!("\n```felis-part\n{expression}\n```\n\n```text\n{result}\n```\n")
                }
            });
        }
    }
    out
}

/// A list of chapters, with links.
pub fn index(title: &str, pages: &[Page]) -> String {
    let mut out = format!("# {title}\n");
    for page in pages {
        out.push_str(&format!("\n## [{}]({}.md)\n", page.name, page.file_stem()));
        if let Some(about) = page.about.split("\n\n").next().filter(|about| !about.is_empty()) {
            out.push_str(&format!("\n{about}\n"));
        }
        let names: Vec<String> = page.entries.iter().map(|entry| format!("`{}`", entry.name)).collect();
        out.push_str(&format!("\n{}\n", names.join(", ")));
    }
    out
}

/// A name that is no operator of Markdown.
fn heading(name: &str) -> String {
    if name.starts_with(char::is_alphabetic) { name.replace('_', "\\_") } else { format!("`{name}`") }
}
