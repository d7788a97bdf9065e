//! The topics of `felis help TOPIC` and `:help TOPIC`: pages of the book, names, codes, and places
//! where the book says something of words.
//!
//! Takes a topic; gives text for a terminal. A topic is, in this order: a page by its name or
//! title, the code of a diagnostic, a heading of the book, a name or word of the language, and else
//! words that are looked for in all of the book.

mod layout;

use super::{explain, output, repl};
use felis::session::book::{self, Chapter, SearchHit};
use felis::session::{Session, reference};

/// The topic that is the list of all pages.
const LIST: &str = "topics";

/// The maximum number of places that a search shows.
const MAX_HITS: usize = 12;

/// Returns the text about a topic; `None` if nothing is known of it.
pub fn topic_text(session: &mut Session, topic: &str) -> Option<String> {
    if topic.eq_ignore_ascii_case(LIST) {
        return Some(page_list());
    }
    if let Some(chapter) = book::chapter(topic) {
        return Some(page_text(&chapter.text));
    }
    if let Some(page) = reference::explain(topic) {
        return Some(output::wrap_for_stdout(explain::markdown_to_text(&page), 0));
    }
    if let Some(text) = repl::word_documentation(session, topic) {
        return Some(text);
    }
    let words: Vec<&str> = topic.split_whitespace().collect();
    let hits = book::search(&words);
    let whole = hits.iter().find(|hit| hit.section.heading.eq_ignore_ascii_case(topic));
    match whole {
        Some(SearchHit { section, .. }) => Some(page_text(&format!(
            "# {}\n{}\n(from {})\n",
            section.heading,
            section.text,
            source(section.chapter)
        ))),
        None if hits.is_empty() => None,
        None => Some(hit_list(topic, &hits)),
    }
}

/// Returns the pages of the book, each with its name and its title.
fn page_list() -> String {
    let width = book::chapters().iter().map(|chapter| chapter.name.len()).max().unwrap_or(0);
    let lines =
        book::chapters().iter().map(|chapter| format!("  {:<width$}  {}\n", chapter.name, chapter.title));
    format!("The pages of the book, by name and title:\n\n{}", lines.collect::<String>())
}

/// Returns how to ask for a page: its name.
fn source(chapter: &Chapter) -> String {
    format!("the page `{}`: {}", chapter.name, chapter.title)
}

/// Returns the places at which the book says something of words.
fn hit_list(topic: &str, hits: &[SearchHit<'_>]) -> String {
    let mut out = format!("The book says something of `{topic}` here; the first word of each is a topic:\n");
    for SearchHit { section, line } in hits.iter().take(MAX_HITS) {
        let heading = section.heading.trim();
        let place = match heading == section.chapter.title {
            true => heading.to_string(),
            false => format!("{}: {heading}", section.chapter.title),
        };
        out.push_str(&format!("\n  {}   {}\n", section.chapter.name, layout::without_marks(&place)));
        let line = layout::without_marks(line.trim());
        if !line.is_empty() && line != heading {
            out.push_str(&format!("    {}\n", shortened(&line)));
        }
    }
    if hits.len() > MAX_HITS {
        out.push_str(&format!("\nand {} more\n", hits.len() - MAX_HITS));
    }
    out
}

/// Returns the beginning of a line that is long.
fn shortened(line: &str) -> String {
    /// The maximum number of characters.
    const MAX: usize = 90;
    match line.char_indices().nth(MAX) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line.to_string(),
    }
}

/// Returns a page for a terminal.
fn page_text(markdown: &str) -> String {
    output::wrap_for_stdout(layout::page(markdown), 0)
}
