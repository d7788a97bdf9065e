//! The index of the library's statements, and the table that is made of it when Felis is built.
//!
//! Takes the texts of the library; splits them into statements by lexing alone, and says which
//! define each name. The build script writes the table, of which a run reads the lines it needs:
//! to lex the whole library takes longer than a small program runs. A run makes the index for
//! questions about all of the library only.

use super::files::FILES;
use felis_base::hash::{HashMap, HashSet};
use felis_base::source::{SourceId, SourceMap};
use felis_calculus::core::Prim;
use felis_syntax::syntax::{self, Chunk};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::{Arc, OnceLock};

/// The numbers that are narrower than `int` and `real`, or unsigned. Most programs have none, and
/// the join of two may be a third type that the text does not mention; so their instances are read
/// when any of these names and the class are mentioned.
pub const NARROW_TYPES: [&str; 8] = ["i8", "i16", "i32", "u8", "u16", "u32", "u64", "f32"];

/// The prefix of a key that asks for all instances of a class.
pub const INSTANCES_PREFIX: &str = "instance ";

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

/// The words that declarations of types begin with.
pub const TYPE_WORDS: [&str; 7] = ["typedef", "newtype", "struct", "variant", "enum", "typefun", "type"];

/// The statements of the library, and which of them define each name.
pub struct LibraryIndex {
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
        self.declared(|word| TYPE_WORDS.contains(&word))
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

/// Returns the index, which is made at the first call.
pub fn index() -> &'static LibraryIndex {
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

/// Returns true if a name is no operator.
pub fn is_identifier(name: &str) -> bool {
    name.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// Returns the text of the table: a line for each statement, in order: the number of its file, the
/// bytes where it begins (with its comment) and ends, and 1 if it mentions narrow types; the names
/// that it defines; the statements that it requires; those that it requires where narrow types
/// occur. Then, after an empty line, a line for each name, sorted: the name, the statements that
/// are read for it, and those that are read where narrow types occur.
pub fn table_text() -> String {
    let index = index();
    let mut out = String::new();
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
