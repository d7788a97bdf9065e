//! The standard library: embedded, and read on demand.
//!
//! Takes the names that a text mentions; gives the statements of the library that define them, and
//! those that these mention in turn. The dependencies are in a [`table`] that the build script
//! writes; a statement is parsed and checked when a program first mentions one of its names.
//! Questions about all of the library split all its texts into statements, once in a process, by
//! lexing alone ([`index`]).
//!
//! Modules of the library ([`modules`]) are no part of this: a session reads them on demand, too,
//! but each among its own names.
//!
//! The library is checked among its own names ([`Library::env`]), never among the user's: a user
//! who has a variable `sum` does not break a library function that calls `sum`.

mod files;
// The build script uses the part that writes the table.
#[allow(dead_code)]
mod index;
pub(super) mod load;
pub mod modules;
mod shared_loads;
mod table;

use felis_base::source::{Source, SourceId};
use felis_check::check::Env;
use felis_check::check::env::{Definition, Scope, TypeDefinition};
use felis_check::check::module::Module;
use felis_syntax::syntax::{self, Chunk, Parsed};
use files::FILES;
pub use index::sources;
use index::{INSTANCES_PREFIX, TYPE_WORDS};
pub(super) use index::{NARROW_TYPES, index};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// The part of the library that a session has read.
#[derive(Clone)]
pub(super) struct Library {
    /// The definitions that have been read, by name.
    pub env: Env,
    /// The statements that have been read, by their number in the index.
    pub loaded: BTreeSet<usize>,
    /// True if narrow types may occur: a text has mentioned one.
    pub narrow: bool,
}

/// The primitives that give values of narrow types; stated here, so that no start of a program
/// reads the signatures of all primitives.
const NARROW_PRIMITIVES: [&str; 6] =
    ["round_to_single", "_read_pixels", "common_words", "_zero_sums", "_zero_bits", "own_words"];

/// Returns true for the text of a type that names a narrow type.
pub(super) fn mentions_narrow_type(text: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric()).any(|word| NARROW_TYPES.contains(&word))
}

/// Returns true for the name of a narrow type, and of a primitive that gives values of one.
fn is_narrow(name: &str) -> bool {
    NARROW_TYPES.contains(&name) || NARROW_PRIMITIVES.contains(&name)
}

impl Library {
    /// Returns a library of which nothing has been read.
    pub fn new() -> Library {
        Library { env: Env::new(), loaded: BTreeSet::new(), narrow: false }
    }

    /// The statements that define `names`, or are mentioned by those that do, but for those
    /// `known`; in the order of the library. And whether narrow types may occur from then on.
    pub fn required_statements(
        &self,
        names: &[impl AsRef<str>],
        known: &BTreeSet<usize>,
    ) -> (BTreeSet<usize>, bool) {
        let table = table::table();
        let mut narrow = self.narrow || names.iter().any(|name| is_narrow(name.as_ref()));
        let mut missing = BTreeSet::new();
        let mut waiting: Vec<usize> =
            names.iter().flat_map(|name| table.statements_for(name.as_ref())).collect();
        loop {
            while let Some(at) = waiting.pop() {
                if !known.contains(&at) && missing.insert(at) {
                    let statement = table.statement(at);
                    narrow |= statement.narrow;
                    waiting.extend(&statement.requires);
                }
            }
            if narrow {
                let methods = names.iter().flat_map(|name| table.method_classes_for(name.as_ref()));
                waiting.extend(methods.filter(|at| !known.contains(at) && !missing.contains(at)));
                let instances = known.union(&missing).flat_map(|at| &table.statement(*at).instances);
                waiting.extend(instances.filter(|at| !known.contains(at) && !missing.contains(at)));
            }
            if waiting.is_empty() {
                return (missing, narrow);
            }
        }
    }
}

/// Makes the names that statements of the library define known in another `Env`.
pub(super) fn adopt_statements(library: &Env, env: &mut Env, chunks: &BTreeSet<usize>) {
    env.number_after(library);
    for (id, class) in &library.classes {
        env.classes.entry(*id).or_insert_with(|| class.clone());
    }
    for (class, instances) in &library.instances {
        let known = env.instances.entry(*class).or_default();
        let new: Vec<_> = instances.iter().filter(|i| !known.iter().any(|k| Arc::ptr_eq(k, i))).collect();
        known.extend(new.into_iter().cloned());
    }
    for (id, signature) in &library.signatures {
        env.signatures.entry(*id).or_insert_with(|| signature.clone());
    }
    adopt_names(
        library,
        env,
        chunks.iter().flat_map(|&at| table::table().statement(at).defines.iter().copied()),
    );
}

/// Makes names of the library known in another `Env` that knows its functions, classes and
/// instances.
pub(super) fn adopt_names<'n>(library: &Env, env: &mut Env, names: impl Iterator<Item = &'n str>) {
    for name in names {
        let name: Arc<str> = name.into();
        let name = &name;
        // Lists are made by functions: the parts of one have to fit each other.
        let is_list = &**name == "list";
        if let Some(class) = library.class_names.get(name) {
            env.class_names.entry(name.clone()).or_insert(*class);
        }
        if let Some(kind) = library.kinds.get(name) {
            env.kinds.entry(name.clone()).or_insert_with(|| kind.clone());
        }
        if let Some(definition) = library.types.get(name) {
            // The representation of the library's abstract types, and of its lists, is hidden from
            // users.
            if let TypeDefinition::Nominal(nominal) = definition
                && (nominal.as_abstract().is_some() || is_list)
            {
                env.hidden.insert(nominal.id);
            }
            env.types.entry(name.clone()).or_insert_with(|| definition.clone());
        }
        if is_list {
            continue;
        }
        match (library.values.get(name), env.values.get(name)) {
            (Some(definition), None) => {
                env.values.insert(name.clone(), definition.clone());
            }
            (Some(Definition::Callables(new)), Some(Definition::Callables(known))) => {
                let missing: Vec<_> = new.iter().filter(|c| !known.contains(c)).cloned().collect();
                missing.into_iter().for_each(|callable| env.add_callable(name, callable, Scope::Library));
            }
            // A name is adopted when it is first mentioned, so before the user can define it.
            _ => {}
        }
    }
}

/// Returns the names of the library that a text mentions: of `linear::dot` it is `dot`. A text with
/// an instance asks for all instances of the class, so that one that overlaps with it is seen. Names
/// of variables of the text are none, unless the library has a type of the name.
pub(super) fn mentioned_names(source: &Source) -> Vec<String> {
    let names = syntax::free_names(source, is_type);
    let mut names: Vec<String> =
        names.iter().map(|name| name.rsplit("::").next().unwrap_or(name).to_string()).collect();
    if source.text.contains("instance") {
        let chunks = syntax::chunks(source);
        names.extend(chunks.iter().filter_map(|c| c.head.first()).map(|class| all_instances_key(class)));
    }
    names
}

/// Returns the types of the library that the exported ones of these statements of a module mention:
/// its importers get values of them, and so what can be done with these.
pub(super) fn exported_types<'c>(chunks: impl Iterator<Item = &'c Chunk>) -> BTreeSet<String> {
    let exported = chunks.filter(|chunk| chunk.exported);
    let names = exported.flat_map(|chunk| &chunk.mentions).filter(|name| is_type(name));
    names.map(|name| name.to_string()).collect()
}

/// Returns true if the library declares a type of this name.
pub(super) fn is_type(name: &str) -> bool {
    let table = table::table();
    let declares = |at: usize| {
        let statement = table.statement(at);
        let text = sources().get(statement.source).map_or("", |source| &source.text[statement.range.clone()]);
        let first = text.lines().find(|line| !line.trim().is_empty() && !line.starts_with("//"));
        let word = first.and_then(|line| line.split_whitespace().next());
        statement.defines.contains(&name) && word.is_some_and(|word| TYPE_WORDS.contains(&word))
    };
    table.statements_for(name).any(declares)
}

/// Returns the key of all instances of a class.
fn all_instances_key(class: &str) -> String {
    format!("{INSTANCES_PREFIX}{class}")
}

/// The names of the parts of the library, which are its files.
pub fn parts() -> impl Iterator<Item = &'static str> {
    FILES.iter().filter_map(|(file, _)| file.strip_prefix("stdlib/")?.strip_suffix(".flx"))
}

/// A part of the library as a module.
pub(super) fn part(name: &str) -> Option<Arc<Module>> {
    static PARTS: OnceLock<Vec<Arc<Module>>> = OnceLock::new();
    let parts = PARTS.get_or_init(|| sources().iter().map(|source| Arc::new(Module::part(source))).collect());
    parts.get(self::parts().position(|part| part == name)?).cloned()
}

/// The names that a part of the library shows.
pub fn part_names(name: &str) -> Option<Vec<String>> {
    part(name).map(|module| module.names().map(str::to_string).collect())
}

/// The texts of the library that define a name.
pub fn texts_defining(name: &str) -> BTreeSet<SourceId> {
    index().defining_texts(name)
}

/// Reads statements of the library, those of one file at once.
pub(super) fn read(statements: &BTreeSet<usize>) -> Parsed {
    let mut ranges: BTreeMap<SourceId, Vec<Range<usize>>> = BTreeMap::new();
    for at in statements {
        let statement = table::table().statement(*at);
        ranges.entry(statement.source).or_default().push(statement.range.clone());
    }
    let mut all = Parsed::default();
    for (source, ranges) in ranges {
        let source = sources().get(source).expect("the table names texts of the library");
        let parsed = syntax::parse_ranges(source, ranges);
        all.stmts.extend(parsed.stmts);
        all.errors.extend(parsed.errors);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use felis_calculus::core::Prim;

    #[test]
    fn narrow_primitives_are_those_whose_results_are_narrow() {
        let is_narrow_result = |prim: &&Prim| {
            let (_, result) = prim.signature().rsplit_once("->").expect("a primitive has a result");
            mentions_narrow_type(result)
        };
        let names: Vec<&str> = Prim::ALL.iter().filter(is_narrow_result).map(|prim| prim.name()).collect();
        assert_eq!(names, NARROW_PRIMITIVES);
    }
}
