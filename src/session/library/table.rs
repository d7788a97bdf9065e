//! The table of the library's statements and their dependencies, computed ahead.
//!
//! To compute it, the whole library is lexed, which takes longer than a small program runs. So it
//! is stored in `table.txt`. A line for each statement, in order: the number of its file, the bytes
//! where it begins (with its comment) and ends, and 1 if it mentions narrow types; the names that
//! it defines; the statements that it requires; those that it requires where narrow types occur.
//! Then, after an empty line, a line for each name, sorted: the name, the statements that are read
//! for it, and those that are read where narrow types occur. The first line holds the lengths of
//! the files: if these have changed, the table is computed again, in memory.
//!
//! `BLESS=1 cargo test -p felis-lang --lib table` writes the file; the same test fails if it is out of
//! date.

use super::{INSTANCES_PREFIX, LibraryIndex, NARROW_TYPES, index, is_identifier, sources};
use crate::source::SourceId;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::ops::Range;
use std::sync::OnceLock;

/// The table, by lines.
pub(super) struct Table {
    statements: Vec<&'static str>,
    names: Vec<&'static str>,
}

/// A statement of the library.
pub(super) struct Statement {
    pub source: SourceId,
    /// Its text, with the comment before it.
    pub range: Range<usize>,
    pub defines: Vec<&'static str>,
    /// True if it mentions a narrow type.
    pub narrow: bool,
    /// The statements that are read with it.
    pub requires: Vec<usize>,
    /// Of a class, its instances at narrow types.
    pub instances: Vec<usize>,
}

/// Returns the table, which is parsed at the first call.
pub(super) fn table() -> &'static Table {
    static TABLE: OnceLock<Table> = OnceLock::new();
    TABLE.get_or_init(|| {
        let written = include_str!("table.txt");
        let text = match written.lines().next() == Some(file_lengths().as_str()) {
            true => written,
            false => Box::leak(table_text(index()).into_boxed_str()),
        };
        let mut lines = text.lines().skip(1);
        let statements = lines.by_ref().take_while(|line| !line.is_empty()).collect();
        Table { statements, names: lines.collect() }
    })
}

/// Parses numbers between blanks.
fn parse_numbers(text: &'static str) -> impl Iterator<Item = usize> {
    text.split_ascii_whitespace().map(|n| n.parse().expect("a number in the table"))
}

/// The name of a line, and the rest.
fn split_name(line: &'static str) -> (&'static str, &'static str) {
    line.split_once('\t').unwrap_or((line, ""))
}

impl Table {
    /// The statements that are read for a name.
    pub fn statements_for(&self, name: &str) -> impl Iterator<Item = usize> + use<> {
        parse_numbers(self.entry(name).0)
    }

    /// The classes that are read for the name of a method where narrow types occur.
    pub fn method_classes_for(&self, name: &str) -> impl Iterator<Item = usize> + use<> {
        parse_numbers(self.entry(name).1)
    }

    /// Returns the two lists of the line of a name; empty if there is none.
    fn entry(&self, name: &str) -> (&'static str, &'static str) {
        let at = self.names.binary_search_by(|line| split_name(line).0.cmp(name));
        split_name(at.map_or("", |at| split_name(self.names[at]).1))
    }

    /// A statement by its number.
    pub fn statement(&self, at: usize) -> Statement {
        let mut parts = self.statements[at].split('\t');
        let mut next = || parts.next().expect("four fields of a statement");
        let place: Vec<usize> = parse_numbers(next()).collect();
        let (defines, requires, instances) = (next(), next(), next());
        Statement {
            source: SourceId(place[0] as u32),
            range: place[1]..place[2],
            defines: defines.split(' ').filter(|name| !name.is_empty()).collect(),
            narrow: place[3] == 1,
            requires: parse_numbers(requires).collect(),
            instances: parse_numbers(instances).collect(),
        }
    }
}

/// The lengths of the files.
fn file_lengths() -> String {
    let lengths: Vec<String> = sources().iter().map(|source| source.text.len().to_string()).collect();
    lengths.join(" ")
}

/// The text of the table.
fn table_text(index: &LibraryIndex) -> String {
    let mut out = file_lengths() + "\n";
    let list = |numbers: &mut dyn Iterator<Item = usize>| -> String {
        numbers.map(|n| n.to_string()).collect::<Vec<_>>().join(" ")
    };
    for (at, chunk) in index.chunks.iter().enumerate() {
        let text = &sources().get(chunk.span.source).expect("a chunk of the library").text;
        let range = chunk.range_with_comment(text);
        // An operator alone requires nothing: it is built in, or its class is named.
        let names = chunk.mentions.iter().filter(|name| is_identifier(name));
        let mut asks: BTreeSet<usize> = names.flat_map(|name| index.definitions(name)).copied().collect();
        asks.extend(chunk.defines.iter().flat_map(|name| index.definitions_with(name)));
        // With a narrow type, a method is that of its class, though a primitive has the name.
        if chunk.mentions.iter().any(|name| NARROW_TYPES.contains(&&**name)) {
            asks.extend(chunk.mentions.iter().flat_map(|name| index.method_classes_for(name)));
        }
        asks.remove(&at);
        let defines = chunk.defines.iter().map(|name| &**name).collect::<Vec<_>>().join(" ");
        let asks = list(&mut asks.into_iter());
        let (source, begin, end) = (chunk.span.source.0, range.start, range.end);
        // Those of the library's own types need no others.
        let own = chunk.head.first().is_some_and(|class| !index.narrow(class).contains(&at));
        let narrow = u8::from(!own && chunk.mentions.iter().any(|name| NARROW_TYPES.contains(&&**name)));
        let instances = list(&mut chunk.defines.iter().flat_map(|name| index.narrow(name)).copied());
        let _ = writeln!(out, "{source} {begin} {end} {narrow}\t{defines}\t{asks}\t{instances}");
    }
    let named = index.by_name.keys().chain(index.methods.keys());
    let mut names: Vec<String> = named.map(|name| name.to_string()).collect();
    names.extend(index.by_class.keys().map(|class| format!("{INSTANCES_PREFIX}{class}")));
    names.sort();
    names.dedup();
    for name in names {
        let (read, methods) = (index.definitions(&name), index.method_classes_for(&name));
        let (read, methods) = (list(&mut read.iter().copied()), list(&mut methods.iter().copied()));
        let _ = write!(out, "\n{name}\t{read}{}{methods}", if methods.is_empty() { "" } else { "\t" });
    }
    out + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_that_of_the_library() {
        let wanted = table_text(index());
        if std::env::var_os("BLESS").is_some() {
            let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/session/library/table.txt");
            std::fs::write(path, &wanted).expect("the table can be written");
        } else {
            assert!(
                include_str!("table.txt") == wanted,
                "run `BLESS=1 cargo test -p felis-lang --lib table`"
            );
        }
    }
}
