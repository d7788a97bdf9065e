//! The standard library: embedded, and read on demand.
//!
//! Takes the names that a text mentions; gives the statements of the library that define them, and
//! those that these mention in turn. The dependencies are in a [`table`] that is computed ahead; a
//! statement is parsed and checked when a program first mentions one of its names. Questions about
//! all of the library split all its texts into statements, once in a process, by lexing alone
//! ([`index`]).
//!
//! Modules of the library ([`modules`]) are no part of this: they are read as the files of users are.
//!
//! The library is checked among its own names ([`Library::env`]), never among the user's: a user
//! who has a variable `sum` does not break a library function that calls `sum`.

pub(super) mod load;
pub mod modules;
mod table;

use crate::check::Env;
use crate::check::env::{Definition, Scope, TypeDefinition};
use crate::check::module::Module;
use crate::core::Prim;
use crate::hash::{HashMap, HashSet};
use crate::source::{Source, SourceId, SourceMap};
use crate::syntax::{self, Chunk, Parsed};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// The files of the library, by the names messages give them. Their order is the order in which
/// their variables are made.
const FILES: &[(&str, &str)] = &[
    ("stdlib/class.flx", include_str!("../../../stdlib/class.flx")),
    ("stdlib/number_class.flx", include_str!("../../../stdlib/number_class.flx")),
    ("stdlib/number.flx", include_str!("../../../stdlib/number.flx")),
    ("stdlib/special.flx", include_str!("../../../stdlib/special.flx")),
    ("stdlib/string.flx", include_str!("../../../stdlib/string.flx")),
    ("stdlib/char.flx", include_str!("../../../stdlib/char.flx")),
    ("stdlib/order.flx", include_str!("../../../stdlib/order.flx")),
    ("stdlib/option.flx", include_str!("../../../stdlib/option.flx")),
    ("stdlib/cyclic.flx", include_str!("../../../stdlib/cyclic.flx")),
    ("stdlib/array.flx", include_str!("../../../stdlib/array.flx")),
    ("stdlib/shape.flx", include_str!("../../../stdlib/shape.flx")),
    ("stdlib/views.flx", include_str!("../../../stdlib/views.flx")),
    ("stdlib/pairs.flx", include_str!("../../../stdlib/pairs.flx")),
    ("stdlib/list.flx", include_str!("../../../stdlib/list.flx")),
    ("stdlib/missing.flx", include_str!("../../../stdlib/missing.flx")),
    ("stdlib/index_set.flx", include_str!("../../../stdlib/index_set.flx")),
    ("stdlib/fold.flx", include_str!("../../../stdlib/fold.flx")),
    ("stdlib/counts.flx", include_str!("../../../stdlib/counts.flx")),
    ("stdlib/sort.flx", include_str!("../../../stdlib/sort.flx")),
    ("stdlib/linear.flx", include_str!("../../../stdlib/linear.flx")),
    ("stdlib/statistics.flx", include_str!("../../../stdlib/statistics.flx")),
    ("stdlib/fields.flx", include_str!("../../../stdlib/fields.flx")),
    ("stdlib/meshes.flx", include_str!("../../../stdlib/meshes.flx")),
    ("stdlib/sphere.flx", include_str!("../../../stdlib/sphere.flx")),
    ("stdlib/select.flx", include_str!("../../../stdlib/select.flx")),
    ("stdlib/algebra.flx", include_str!("../../../stdlib/algebra.flx")),
    ("stdlib/complex.flx", include_str!("../../../stdlib/complex.flx")),
    ("stdlib/picture.flx", include_str!("../../../stdlib/picture.flx")),
    ("stdlib/replicated.flx", include_str!("../../../stdlib/replicated.flx")),
    ("stdlib/shared_bits.flx", include_str!("../../../stdlib/shared_bits.flx")),
    ("stdlib/truncation.flx", include_str!("../../../stdlib/truncation.flx")),
    ("stdlib/secret.flx", include_str!("../../../stdlib/secret.flx")),
    ("stdlib/fixed_point.flx", include_str!("../../../stdlib/fixed_point.flx")),
    ("stdlib/fixed_functions.flx", include_str!("../../../stdlib/fixed_functions.flx")),
    ("stdlib/secret_order.flx", include_str!("../../../stdlib/secret_order.flx")),
    ("stdlib/ciphers.flx", include_str!("../../../stdlib/ciphers.flx")),
    ("stdlib/shamir.flx", include_str!("../../../stdlib/shamir.flx")),
    ("stdlib/additive.flx", include_str!("../../../stdlib/additive.flx")),
    ("stdlib/private_join.flx", include_str!("../../../stdlib/private_join.flx")),
];

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

/// The numbers that are narrower than `int` and `real`, or unsigned. Most programs have none, and
/// two of them join in a third that nobody has mentioned; so their instances are read when any of
/// these names and the class are mentioned.
pub(super) const NARROW_TYPES: [&str; 8] = ["i8", "i16", "i32", "u8", "u16", "u32", "u64", "f32"];

/// The primitives that give values of narrow types; stated here, so that no start of a program
/// reads the signatures of all primitives.
const NARROW_PRIMITIVES: [&str; 2] = ["common_words", "own_words"];

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
                    waiting.extend(statement.requires);
                }
            }
            if narrow {
                let methods = names.iter().flat_map(|name| table.method_classes_for(name.as_ref()));
                waiting.extend(methods.filter(|at| !known.contains(at) && !missing.contains(at)));
                let instances = known.union(&missing).flat_map(|at| table.statement(*at).instances);
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
    adopt_names(library, env, chunks.iter().flat_map(|&at| table::table().statement(at).defines));
}

/// Makes names of the library known in another `Env` that knows its functions, classes and
/// instances.
pub(super) fn adopt_names<'n>(library: &Env, env: &mut Env, names: impl Iterator<Item = &'n str>) {
    for name in names {
        let name: Arc<str> = name.into();
        let name = &name;
        if let Some(class) = library.class_names.get(name) {
            env.class_names.entry(name.clone()).or_insert(*class);
        }
        if let Some(kind) = library.kinds.get(name) {
            env.kinds.entry(name.clone()).or_insert_with(|| kind.clone());
        }
        if let Some(definition) = library.types.get(name) {
            // The representation of the library's abstract types is hidden from users.
            if let TypeDefinition::Nominal(nominal) = definition
                && nominal.as_abstract().is_some()
            {
                env.hidden.insert(nominal.id);
            }
            env.types.entry(name.clone()).or_insert_with(|| definition.clone());
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
/// an instance asks for all instances of the class, so that one that overlaps with it is seen.
pub(super) fn mentioned_names(source: &Source) -> Vec<String> {
    let names = syntax::mentioned_names(source);
    let mut names: Vec<String> =
        names.iter().map(|name| name.rsplit("::").next().unwrap_or(name).to_string()).collect();
    if source.text.contains("instance") {
        let chunks = syntax::chunks(source);
        names.extend(chunks.iter().filter_map(|c| c.head.first()).map(|class| all_instances_key(class)));
    }
    names
}

/// Returns true if a name is no operator.
fn is_identifier(name: &str) -> bool {
    name.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// Returns the key of all instances of a class.
fn all_instances_key(class: &str) -> String {
    format!("{INSTANCES_PREFIX}{class}")
}

/// The prefix of a key that asks for all instances of a class.
const INSTANCES_PREFIX: &str = "instance ";

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

/// The statements of the library, and which of them define each name.
pub(super) struct LibraryIndex {
    /// All statements, in the order of the files.
    pub chunks: Vec<Chunk>,
    by_name: HashMap<Arc<str>, Vec<usize>>,
    /// The statements that are read with a name's definition: an instance with the library's types
    /// that its head names, and if there are none, with the class; an overload that another file or
    /// a primitive has the name of, too, with the types of its own file that it mentions, or with
    /// the abstract ones. So `sum` and `sqrt` bring no complex numbers, and complex numbers bring
    /// their `+` and their `sqrt`.
    by_type: HashMap<Arc<str>, Vec<usize>>,
    /// The instances of a class at narrow types.
    narrow: HashMap<Arc<str>, Vec<usize>>,
    /// The classes with a method that a primitive has the name of. They are read for its name where
    /// narrow types occur: the primitive does for the others.
    methods: HashMap<Arc<str>, Vec<usize>>,
    /// The instances of each class.
    by_class: HashMap<Arc<str>, Vec<usize>>,
}

impl LibraryIndex {
    /// Returns the statements that define a name.
    fn definitions(&self, name: &str) -> &[usize] {
        let found = match name.strip_prefix(INSTANCES_PREFIX) {
            Some(class) => self.by_class.get(class),
            None => self.by_name.get(name),
        };
        found.map_or(&[], Vec::as_slice)
    }

    /// Returns the statements that are read with a name's definition.
    fn definitions_with(&self, name: &str) -> &[usize] {
        self.by_type.get(name).map_or(&[], Vec::as_slice)
    }

    /// Returns the instances of a class at narrow types.
    fn narrow(&self, class: &str) -> &[usize] {
        self.narrow.get(class).map_or(&[], Vec::as_slice)
    }

    /// Returns the classes that are read for the name of a method where narrow types occur.
    fn method_classes_for(&self, name: &str) -> &[usize] {
        self.methods.get(name).map_or(&[], Vec::as_slice)
    }

    /// The names of types that the library declares.
    pub fn types(&self) -> impl Iterator<Item = &str> {
        let words = ["typedef", "newtype", "struct", "variant", "enum", "typefun", "type"];
        self.declared(move |word| words.contains(&word))
    }

    /// The names of its classes.
    pub fn classes(&self) -> impl Iterator<Item = &str> {
        self.declared(|word| word == "class")
    }

    /// Returns true if the library defines a function of this name.
    pub fn defines_function(&self, name: &str) -> bool {
        self.definitions(name)
            .iter()
            .any(|&at| matches!(self.chunks[at].word, "fun" | "proc" | "joint" | "class"))
    }

    /// Returns the names that statements with certain keywords declare.
    fn declared(&self, wanted: impl Fn(&str) -> bool) -> impl Iterator<Item = &str> {
        let chunks = self.chunks.iter().filter(move |chunk| wanted(chunk.word));
        chunks.filter_map(|chunk| chunk.defines.first().map(|name| &**name))
    }

    /// The texts that define a name.
    pub fn defining_texts(&self, name: &str) -> BTreeSet<SourceId> {
        self.definitions(name).iter().map(|&at| self.chunks[at].span.source).collect()
    }

    /// Every name that the library defines.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.by_name.keys().map(|name| &**name)
    }
}

/// Reads statements of the library, those of one file at once.
pub(super) fn read(statements: &BTreeSet<usize>) -> Parsed {
    let mut ranges: BTreeMap<SourceId, Vec<Range<usize>>> = BTreeMap::new();
    for at in statements {
        let statement = table::table().statement(*at);
        ranges.entry(statement.source).or_default().push(statement.range);
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

/// The texts of the library, as every session's source map begins: so their spans mean the same in
/// all sessions.
pub fn sources() -> &'static SourceMap {
    static SOURCES: OnceLock<SourceMap> = OnceLock::new();
    SOURCES.get_or_init(|| {
        let mut sources = SourceMap::new();
        for (name, text) in FILES {
            sources.add(*name, *text);
        }
        sources
    })
}

/// Returns the index, which is made at the first call.
pub(super) fn index() -> &'static LibraryIndex {
    static INDEX: OnceLock<LibraryIndex> = OnceLock::new();
    INDEX.get_or_init(|| {
        let chunks: Vec<Chunk> = sources().iter().flat_map(|source| syntax::chunks(source)).collect();
        let mut index = LibraryIndex {
            chunks,
            by_name: HashMap::default(),
            by_type: HashMap::default(),
            narrow: HashMap::default(),
            methods: HashMap::default(),
            by_class: HashMap::default(),
        };
        // The library's types, and the names that each file defines.
        let mut types: HashMap<&Arc<str>, SourceId> = HashMap::default();
        let mut abstract_types: HashSet<&Arc<str>> = HashSet::default();
        let mut homes: HashMap<&Arc<str>, BTreeSet<SourceId>> = HashMap::default();
        for chunk in &index.chunks {
            if matches!(chunk.word, "struct" | "newtype" | "variant" | "enum" | "type") {
                types.extend(chunk.defines.first().map(|name| (name, chunk.span.source)));
            }
            if chunk.word == "type" {
                abstract_types.extend(chunk.defines.first());
            }
            for name in &chunk.defines {
                homes.entry(name).or_default().insert(chunk.span.source);
            }
        }
        let primitives: HashSet<&str> = Prim::ALL.iter().map(|prim| prim.name()).collect();
        let (mut by_name, mut by_type) = (HashMap::default(), HashMap::default());
        let (mut narrow, mut methods) = (HashMap::default(), HashMap::default());
        let mut shared: HashSet<Arc<str>> = HashSet::default();
        let mut by_class: HashMap<Arc<str>, Vec<usize>> = HashMap::default();
        let enter = |map: &mut HashMap<Arc<str>, Vec<usize>>, name: &Arc<str>, at: usize| {
            map.entry(name.clone()).or_default().push(at);
        };
        for (at, chunk) in index.chunks.iter().enumerate() {
            if let Some((class, args)) = chunk.head.split_first() {
                enter(&mut by_class, class, at);
                let own: Vec<_> = args.iter().filter(|name| types.contains_key(name)).collect();
                if own.is_empty() && args.iter().any(|name| NARROW_TYPES.contains(&&**name)) {
                    enter(&mut narrow, class, at);
                } else {
                    let with = if own.is_empty() { vec![class] } else { own };
                    with.into_iter().for_each(|name| enter(&mut by_type, name, at));
                }
            }
            for (nth, name) in chunk.defines.iter().enumerate() {
                if chunk.word == "class" && nth > 0 && primitives.contains(&**name) {
                    enter(&mut methods, name, at);
                    continue;
                }
                // An operator is built in for other types.
                let elsewhere = primitives.contains(&**name) || !is_identifier(name) || homes[name].len() > 1;
                let overload = elsewhere && matches!(chunk.word, "fun" | "joint");
                let own = chunk.mentions.iter().filter(|ty| types.get(ty) == Some(&chunk.span.source));
                let mut own: Vec<_> = own.filter(|_| overload).collect();
                if own.is_empty() && overload {
                    // What is done with an abstract type may fill several files: the last declared
                    // counts.
                    let used = || chunk.mentions.iter().filter(|ty| abstract_types.contains(ty));
                    let last = used().map(|ty| types[ty]).max();
                    own = used().filter(|ty| Some(types[ty]) == last).collect();
                }
                if own.is_empty() {
                    enter(&mut by_name, name, at);
                }
                own.into_iter().for_each(|ty| enter(&mut by_type, ty, at));
            }
        }
        // A name that only such overloads have is read as others are.
        for (at, chunk) in index.chunks.iter().enumerate() {
            for name in
                chunk.defines.iter().filter(|name| is_identifier(name) && !primitives.contains(&***name))
            {
                if chunk.word != "class" && (!by_name.contains_key(name) || shared.contains(name)) {
                    shared.insert(name.clone());
                    enter(&mut by_name, name, at);
                }
            }
        }
        index.by_name = by_name;
        index.by_type = by_type;
        index.narrow = narrow;
        index.methods = methods;
        index.by_class = by_class;
        index
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn narrow_primitives_are_those_whose_results_are_narrow() {
        let is_narrow_result = |prim: &&Prim| {
            let (_, result) = prim.signature().rsplit_once("->").expect("a primitive has a result");
            result.split(|c: char| !c.is_alphanumeric()).any(|word| NARROW_TYPES.contains(&word))
        };
        let names: Vec<&str> = Prim::ALL.iter().filter(is_narrow_result).map(|prim| prim.name()).collect();
        assert_eq!(names, NARROW_PRIMITIVES);
    }
}
