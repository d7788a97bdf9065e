//! The table of the library's statements and their dependencies, which the build script writes.
//!
//! [`super::index`] says what its lines hold. A run finds a name by binary search and parses the
//! lines that it needs, each once.

use felis_base::source::SourceId;
use std::ops::Range;
use std::sync::OnceLock;

/// The table, by lines.
pub(super) struct Table {
    statements: Vec<(&'static str, OnceLock<Statement>)>,
    /// Each name with the rest of its line, in the order of names.
    names: Vec<(&'static str, &'static str)>,
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
    /// The instances at narrow types, of a class.
    pub instances: Vec<usize>,
}

/// Returns the table, which is parsed at the first call.
pub(super) fn table() -> &'static Table {
    static TABLE: OnceLock<Table> = OnceLock::new();
    TABLE.get_or_init(|| {
        let mut lines = include_str!(concat!(env!("OUT_DIR"), "/library_table.txt")).lines();
        let statements = lines.by_ref().take_while(|line| !line.is_empty());
        let statements = statements.map(|line| (line, OnceLock::new())).collect();
        Table { statements, names: lines.map(split_name).collect() }
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
        let at = self.names.binary_search_by(|(known, _)| (*known).cmp(name));
        split_name(at.map_or("", |at| self.names[at].1))
    }

    /// A statement by its number.
    pub fn statement(&self, at: usize) -> &Statement {
        let (line, statement) = &self.statements[at];
        statement.get_or_init(|| Statement::parse(line))
    }
}

impl Statement {
    /// Parses the line of a statement.
    fn parse(line: &'static str) -> Statement {
        let mut parts = line.split('\t');
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
