//! The pages of the book, embedded, so that the command shows them without a file or a network.
//!
//! Takes topics and words; gives pages, sections and places where words occur. Lays nothing out.
//! The pages about the library are made from its doc comments ([`super::docs`]).

use super::docs::{self, markdown};
use std::sync::LazyLock;

/// The pages, each with the name of its file, in the order of the table of contents.
const PAGES: &[(&str, &str)] = &[
    ("introduction", include_str!("../../book/src/introduction.md")),
    ("numbers", include_str!("../../book/src/numbers.md")),
    ("shapes", include_str!("../../book/src/shapes.md")),
    ("compact", include_str!("../../book/src/compact.md")),
    ("indices", include_str!("../../book/src/indices.md")),
    ("laws", include_str!("../../book/src/laws.md")),
    ("moves", include_str!("../../book/src/moves.md")),
    ("verdicts", include_str!("../../book/src/verdicts.md")),
    ("derivations", include_str!("../../book/src/derivations.md")),
    ("kinds", include_str!("../../book/src/kinds.md")),
    ("type_functions", include_str!("../../book/src/type_functions.md")),
    ("polymorphism", include_str!("../../book/src/polymorphism.md")),
    ("rest", include_str!("../../book/src/rest.md")),
    ("sizes", include_str!("../../book/src/sizes.md")),
    ("any_size", include_str!("../../book/src/any_size.md")),
    ("sums", include_str!("../../book/src/sums.md")),
    ("enumerations", include_str!("../../book/src/enumerations.md")),
    ("torus", include_str!("../../book/src/torus.md")),
    ("ranges", include_str!("../../book/src/ranges.md")),
    ("fields", include_str!("../../book/src/fields.md")),
    ("stencils", include_str!("../../book/src/stencils.md")),
    ("meshes", include_str!("../../book/src/meshes.md")),
    ("functions", include_str!("../../book/src/functions.md")),
    ("data", include_str!("../../book/src/data.md")),
    ("classes", include_str!("../../book/src/classes.md")),
    ("arrays", include_str!("../../book/src/arrays.md")),
    ("control", include_str!("../../book/src/control.md")),
    ("text", include_str!("../../book/src/text.md")),
    ("files", include_str!("../../book/src/files.md")),
    ("tables", include_str!("../../book/src/tables.md")),
    ("containers", include_str!("../../book/src/containers.md")),
    ("pictures", include_str!("../../book/src/pictures.md")),
    ("secrets", include_str!("../../book/src/secrets.md")),
    ("modules", include_str!("../../book/src/modules.md")),
    ("cookbook_arrays", include_str!("../../book/src/cookbook_arrays.md")),
    ("cookbook_text", include_str!("../../book/src/cookbook_text.md")),
    ("cookbook_time", include_str!("../../book/src/cookbook_time.md")),
    ("parties", include_str!("../../book/src/parties.md")),
    ("ciphers", include_str!("../../book/src/ciphers.md")),
    ("private_tables", include_str!("../../book/src/private_tables.md")),
    ("threats", include_str!("../../book/src/threats.md")),
    ("speed", include_str!("../../book/src/speed.md")),
    ("session", include_str!("../../book/src/session.md")),
    ("editors", include_str!("../../book/src/editors.md")),
    ("questions", include_str!("../../book/src/questions.md")),
    ("errors", include_str!("../../book/src/errors.md")),
    ("from_numpy", include_str!("../../book/src/from_numpy.md")),
    ("from_futhark", include_str!("../../book/src/from_futhark.md")),
    ("from_felix", include_str!("../../book/src/from_felix.md")),
    ("from_julia", include_str!("../../book/src/from_julia.md")),
    ("from_gt4py", include_str!("../../book/src/from_gt4py.md")),
    ("first_contact", include_str!("../../book/src/first_contact.md")),
    ("command", include_str!("../../book/src/command.md")),
    ("choices", include_str!("../../book/src/choices.md")),
    ("grammar", include_str!("../../book/src/grammar.md")),
    ("diagnostics", include_str!("../../book/src/diagnostics.md")),
];

/// The table of contents, which names each page once.
const SUMMARY: &str = include_str!("../../book/src/SUMMARY.md");

/// A page of the book.
#[derive(Clone, Debug)]
pub struct Chapter {
    /// The name of its file without ending; `library/NAME` for a page about the library.
    pub name: String,
    /// Its title.
    pub title: String,
    /// Its text, in Markdown.
    pub text: String,
}

/// A section of a page: what stands below a heading, up to the next one.
#[derive(Clone, Copy, Debug)]
pub struct Section<'b> {
    /// The page.
    pub chapter: &'b Chapter,
    /// The heading, which is the title of the page for its beginning.
    pub heading: &'b str,
    /// The text below the heading.
    pub text: &'b str,
}

/// Returns all pages, in the order of the table of contents.
pub fn chapters() -> &'static [Chapter] {
    static CHAPTERS: LazyLock<Vec<Chapter>> = LazyLock::new(|| {
        let own = PAGES.iter().map(|(name, text)| (name.to_string(), text.to_string()));
        let library = docs::library().into_iter();
        let library = library.map(|page| (format!("library/{}", page.name), markdown::page(&page)));
        own.chain(library).map(|(name, text)| Chapter { name, title: title(&text), text }).collect()
    });
    &CHAPTERS
}

/// A line of the table of contents.
#[derive(Clone, Copy, Debug)]
pub enum ContentsLine {
    /// The heading of the pages that follow.
    Heading(&'static str),
    /// A page.
    Page {
        /// The page.
        chapter: &'static Chapter,
        /// True for a page below the one before.
        below: bool,
    },
}

impl ContentsLine {
    /// Returns the page of the line.
    pub fn chapter(&self) -> Option<&'static Chapter> {
        match self {
            ContentsLine::Page { chapter, .. } => Some(chapter),
            ContentsLine::Heading(_) => None,
        }
    }
}

/// Returns the table of contents. The list of the pages about the library, which leads to them, is
/// one of its pages.
pub fn contents() -> Vec<ContentsLine> {
    static LIBRARY: LazyLock<Chapter> = LazyLock::new(|| {
        let title = "The library".to_string();
        let text = markdown::index(&title, &docs::library());
        Chapter { name: "library/index".to_string(), title, text }
    });
    let page = |line: &'static str| {
        let (_, name) = line.rsplit_once("](")?;
        let name = name.strip_suffix(".md)")?;
        let found =
            if name == LIBRARY.name { Some(&*LIBRARY) } else { chapters().iter().find(|c| c.name == name) };
        found.map(|chapter| ContentsLine::Page { chapter, below: line.starts_with(' ') })
    };
    let heading = |line: &'static str| line.strip_prefix("# ").map(ContentsLine::Heading);
    SUMMARY.lines().skip(1).filter_map(|line| heading(line).or_else(|| page(line))).collect()
}

/// Returns the title of a page: its first line.
fn title(text: &str) -> String {
    text.lines().next().unwrap_or_default().trim_start_matches('#').trim().to_string()
}

/// Returns the page with this name or title; upper and lower case are alike, and so are blanks and
/// underscores.
pub fn chapter(topic: &str) -> Option<&'static Chapter> {
    let key = |text: &str| text.trim().to_lowercase().replace([' ', '-'], "_");
    let wanted = key(topic);
    let named = |chapter: &&Chapter| key(&chapter.name) == wanted || key(&chapter.title) == wanted;
    chapters().iter().find(named)
}

/// Returns the sections of a page, in order. A heading within a program is none.
pub fn sections(chapter: &Chapter) -> Vec<Section<'_>> {
    let text = chapter.text.as_str();
    let (mut found, mut fenced) = (Vec::new(), false);
    let (mut heading, mut start, mut at) = (chapter.title.as_str(), 0, 0);
    for line in text.split_inclusive('\n') {
        let next = at + line.len();
        fenced ^= line.starts_with("```");
        if line.starts_with('#') && !fenced {
            if at > 0 {
                found.push(Section { chapter, heading, text: &text[start..at] });
            }
            heading = line.trim_start_matches('#').trim();
            start = next;
        }
        at = next;
    }
    found.push(Section { chapter, heading, text: &text[start..] });
    found
}

/// A section in which all words occur.
#[derive(Clone, Copy, Debug)]
pub struct SearchHit<'b> {
    /// The section.
    pub section: Section<'b>,
    /// The first line in which one of the words occurs; the heading, if they occur only there.
    pub line: &'b str,
}

/// The points of a word in a heading; in the text it has one for each occurrence, up to
/// [`MAX_WORD_POINTS`].
const HEADING_POINTS: usize = 20;

/// The most points of a word in the text of a section.
const MAX_WORD_POINTS: usize = 8;

/// Returns the sections in which all words occur, upper and lower case alike: first those where
/// they stand in headings, then those where they occur most often.
pub fn search(words: &[&str]) -> Vec<SearchHit<'static>> {
    let words: Vec<String> =
        words.iter().map(|word| word.to_lowercase()).filter(|word| !word.is_empty()).collect();
    let mut hits: Vec<(usize, SearchHit<'static>)> = Vec::new();
    for section in chapters().iter().flat_map(sections) {
        let (heading, text) = (section.heading.to_lowercase(), section.text.to_lowercase());
        let title = section.chapter.title.to_lowercase();
        let points = words.iter().map(|word| {
            let in_heading = if heading.contains(word) { HEADING_POINTS } else { 0 };
            let in_title = if title.contains(word) { HEADING_POINTS / 4 } else { 0 };
            match in_heading + text.matches(word.as_str()).count().min(MAX_WORD_POINTS) {
                0 => None,
                own => Some(own + in_title),
            }
        });
        let Some(points) = points.sum::<Option<usize>>().filter(|points| *points > 0) else { continue };
        let found = |line: &&str| {
            let line = line.to_lowercase();
            words.iter().any(|word| line.contains(word))
        };
        let line = section.text.lines().find(found).unwrap_or(section.heading);
        hits.push((points, SearchHit { section, line }));
    }
    // The order of the book decides among equals.
    hits.sort_by_key(|(points, _)| std::cmp::Reverse(*points));
    hits.into_iter().map(|(_, hit)| hit).collect()
}

#[cfg(test)]
mod tests {
    use super::{ContentsLine, PAGES, SUMMARY, chapter, chapters, contents, search, sections};

    #[test]
    fn the_pages_are_those_of_the_table_of_contents() {
        let listed = SUMMARY.split("](").skip(1).filter_map(|rest| rest.split_once(".md)"));
        let (library, own): (Vec<&str>, Vec<&str>) =
            listed.map(|(name, _)| name).partition(|name| name.starts_with("library/"));
        assert_eq!(own, PAGES.iter().map(|(name, _)| *name).collect::<Vec<_>>());
        for name in library.iter().filter(|name| **name != "library/index") {
            assert!(chapter(name).is_some(), "{name}");
        }
    }

    #[test]
    fn the_contents_have_all_pages_and_headings() {
        let contents = contents();
        let pages = contents.iter().filter_map(ContentsLine::chapter);
        let mut names: Vec<&str> = pages.map(|chapter| chapter.name.as_str()).collect();
        names.retain(|name| *name != "library/index");
        let mut all: Vec<&str> = chapters().iter().map(|chapter| chapter.name.as_str()).collect();
        names.sort_unstable();
        all.sort_unstable();
        assert_eq!(names, all);
        assert!(contents.iter().any(|line| matches!(line, ContentsLine::Heading("Reference"))));
    }

    #[test]
    fn a_page_is_found_by_name_and_title() {
        assert_eq!(chapter("laws").map(|found| &*found.title), Some("The laws of algebra as reshapes"));
        assert_eq!(chapter("FROM NumPy").map(|found| &*found.name), Some("from_numpy"));
        assert_eq!(chapter("coming from numpy").map(|found| &*found.name), Some("from_numpy"));
        assert_eq!(chapter("library/sort").map(|found| &*found.title), Some("sort"));
        assert!(chapter("nonsense").is_none());
    }

    #[test]
    fn sections_are_all_of_a_page() {
        for chapter in chapters() {
            let parts = sections(chapter);
            let kept: usize = parts.iter().map(|part| part.text.lines().count() + 1).sum();
            assert_eq!(kept, chapter.text.lines().count(), "{}", chapter.name);
        }
    }

    #[test]
    fn sections_with_all_words_are_found_headings_first() {
        let hits = search(&["sets", "bits"]);
        assert!(!hits.is_empty());
        for hit in &hits {
            let all = format!("{} {}", hit.section.heading, hit.section.text).to_lowercase();
            assert!(all.contains("sets") && all.contains("bits"));
        }
        assert_eq!(search(&["Rename"])[0].section.heading, "Rename");
        assert!(search(&["xyzzy-no-such-word"]).is_empty());
        assert!(search(&[]).is_empty());
    }
}
