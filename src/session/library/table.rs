//! What the statements of the library define and ask for, made ahead.
//!
//! To find that out takes the lexing of the whole library, which is longer than a small program runs. So it is written down in
//! `table.txt`, and looked up there. A line for each statement, in order: the number of its file, where it begins (with its
//! comment) and ends, and whether it mentions narrow types; the names it defines; the statements that it asks for; those that
//! it asks for where narrow types occur. Then, after an empty line, a line
//! for each name, sorted: the name, the statements that are read for it, and those that are where narrow types occur. The first line holds
//! the lengths of the files: if these have changed, the table is made anew, in memory.
//!
//! `BLESS=1 cargo test --lib table` writes the file; the same test fails if it is not what it should be.

use super::{INSTANCES, Index, NARROW, index, is_word, sources};
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
    /// Whether it mentions a narrow type.
    pub narrow: bool,
    /// The statements that are read with it.
    pub asks: Vec<usize>,
    /// Of a class, its instances at narrow types.
    pub instances: Vec<usize>,
}

/// The table, found or made when first asked for.
pub(super) fn table() -> &'static Table {
    static TABLE: OnceLock<Table> = OnceLock::new();
    TABLE.get_or_init(|| {
        let written = include_str!("table.txt");
        let text = match written.lines().next() == Some(lengths().as_str()) {
            true => written,
            false => Box::leak(text(index()).into_boxed_str()),
        };
        let mut lines = text.lines().skip(1);
        let statements = lines.by_ref().take_while(|line| !line.is_empty()).collect();
        Table { statements, names: lines.collect() }
    })
}

fn numbers(text: &'static str) -> impl Iterator<Item = usize> {
    text.split_ascii_whitespace().filter_map(|n| n.parse().ok())
}

/// The name of a line, and the rest.
fn name_of(line: &'static str) -> (&'static str, &'static str) {
    line.split_once('\t').unwrap_or((line, ""))
}

impl Table {
    /// The statements that are read for a name.
    pub fn named(&self, name: &str) -> impl Iterator<Item = usize> + use<> {
        numbers(self.of_name(name).0)
    }

    /// The classes that are read for the name of a method where narrow types occur.
    pub fn methods(&self, name: &str) -> impl Iterator<Item = usize> + use<> {
        numbers(self.of_name(name).1)
    }

    fn of_name(&self, name: &str) -> (&'static str, &'static str) {
        let at = self.names.binary_search_by(|line| name_of(line).0.cmp(name));
        name_of(at.map_or("", |at| name_of(self.names[at]).1))
    }

    /// A statement by its number.
    pub fn statement(&self, at: usize) -> Statement {
        let mut parts = self.statements[at].split('\t');
        let mut next = || parts.next().unwrap_or("");
        let place: Vec<usize> = numbers(next()).collect();
        let (defines, asks, instances) = (next(), next(), next());
        Statement {
            source: SourceId(place[0] as u32),
            range: place[1]..place[2],
            defines: defines.split(' ').filter(|name| !name.is_empty()).collect(),
            narrow: place[3] == 1,
            asks: numbers(asks).collect(),
            instances: numbers(instances).collect(),
        }
    }
}

/// The lengths of the files.
fn lengths() -> String {
    let lengths: Vec<String> = sources().iter().map(|source| source.text.len().to_string()).collect();
    lengths.join(" ")
}

/// The text of the table.
fn text(index: &Index) -> String {
    let mut out = lengths() + "\n";
    let list = |numbers: &mut dyn Iterator<Item = usize>| -> String {
        numbers.map(|n| n.to_string()).collect::<Vec<_>>().join(" ")
    };
    for (at, chunk) in index.chunks.iter().enumerate() {
        let text = sources().get(chunk.span.source).map_or("", |source| &source.text);
        let range = chunk.range_with_comment(text);
        // An operator alone asks for nothing: it is built in, or its class is named.
        let names = chunk.mentions.iter().filter(|name| is_word(name));
        let mut asks: BTreeSet<usize> = names.flat_map(|name| index.definitions(name)).copied().collect();
        asks.extend(chunk.defines.iter().flat_map(|name| index.brought(name)));
        asks.remove(&at);
        let defines = chunk.defines.iter().map(|name| &**name).collect::<Vec<_>>().join(" ");
        let asks = list(&mut asks.into_iter());
        let (source, begin, end) = (chunk.span.source.0, range.start, range.end);
        // Those of the library's own types need no others.
        let own = chunk.head.first().is_some_and(|class| !index.narrow(class).contains(&at));
        let narrow = u8::from(!own && chunk.mentions.iter().any(|name| NARROW.contains(&&**name)));
        let instances = list(&mut chunk.defines.iter().flat_map(|name| index.narrow(name)).copied());
        let _ = writeln!(out, "{source} {begin} {end} {narrow}\t{defines}\t{asks}\t{instances}");
    }
    let named = index.by_name.keys().chain(index.methods.keys());
    let mut names: Vec<String> = named.map(|name| name.to_string()).collect();
    names.extend(index.by_class.keys().map(|class| format!("{INSTANCES}{class}")));
    names.sort();
    names.dedup();
    for name in names {
        let (read, methods) = (index.definitions(&name), index.methods(&name));
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
        let wanted = text(index());
        if std::env::var_os("BLESS").is_some() {
            let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/session/library/table.txt");
            std::fs::write(path, &wanted).expect("the table can be written");
        } else {
            assert!(include_str!("table.txt") == wanted, "run `BLESS=1 cargo test --lib table`");
        }
    }
}
