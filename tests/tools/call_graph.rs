//! The calls between the files of a room: the layers of `check` call downward only, and no room has
//! a larger cycle of files than allowed.
//!
//! The graph is read from the text: a call is `self.name(…)`, `this.name(…)`, `checker.name(…)` or
//! `module::name(…)` of a function whose name is defined in exactly one file of the room, where the
//! path leads into the room. Names defined in several files are not followed, so the graph is a
//! lower bound. The test prints every cycle (`--nocapture`).
//!
//! In `check`, the layers name items of lower ones only, too: in `use`, and in paths within the
//! code.

use fancy_regex::Regex;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The number of files in the largest cycle of each room. A number may decrease and never increase.
const LARGEST_CYCLE: &[(&str, usize)] = &[
    ("api", 1),
    ("array_ir", 1),
    ("array_loops", 7),
    ("build", 10),
    ("check", 25),
    ("cli", 8),
    ("core", 1),
    ("data", 1),
    ("editor", 1),
    ("eval", 5),
    ("iso", 1),
    ("jit", 4),
    ("loop_ir", 1),
    ("network", 1),
    ("picture", 1),
    ("session", 1),
    ("syntax", 1),
    ("types", 1),
    ("value", 1),
];

/// The layers of `check`, from the lowest up. Files without a folder are the lowest layer; `mod.rs`
/// is the highest.
const LAYERS: &[&str] = &["", "solve", "types", "resolve", "hints", "elaborate", "items", "query"];

/// Files that are below the layer of their folder: they use no other files of the room.
const LOWEST: &[&str] = &["solve/infer.rs", "solve/axes.rs"];

/// Files that may name an item of a higher layer: the checker holds the deferred calls, and these
/// the candidates of `resolve`. None may be added.
const UPWARD: &[(&str, &str)] = &[("context.rs", "elaborate/overload.rs")];

/// For each file of a room, the files that it calls, with the functions.
type Graph = BTreeMap<String, BTreeMap<String, BTreeSet<String>>>;

/// Collects the text of each file below a folder, without comments and unit tests, by its relative
/// path.
fn texts(root: &Path, folder: &Path, found: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(folder).expect("a folder of src").flatten() {
        let path = entry.path();
        if path.is_dir() {
            texts(root, &path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            let text = fs::read_to_string(&path).expect("a file of src");
            let text = text.split("#[cfg(test)]\nmod ").next().expect("a first part");
            let code: Vec<&str> =
                text.lines().map(|line| line.split("//").next().expect("a first part")).collect();
            let name = path.strip_prefix(root).expect("below the room").display().to_string();
            found.insert(name, code.join("\n"));
        }
    }
}

/// Returns the folder of a room, which is in one of the crates.
fn folder(room: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let crates = fs::read_dir(root.join("crates")).expect("the crates").flatten().map(|entry| entry.path());
    let mut folders = crates.chain([root.to_path_buf()]).map(|path| path.join("src").join(room));
    folders.find(|path| path.is_dir()).unwrap_or_else(|| panic!("no room `{room}`"))
}

fn graph(room: &str) -> Graph {
    let root = folder(room);
    let mut files = BTreeMap::new();
    texts(&root, &root, &mut files);
    let definition = Regex::new(r"\bfn (\w+)").expect("a pattern");
    // A path of lower-case segments refers to a function of a module; `Type::name` does not.
    let call = Regex::new(&format!(
        r"(?:\b(?:self|this|checker)\s*\.\s*(\w+)\s*(?:::<[^>]*>)?\()|(?:\b(?:super|self|crate::{room})::(?:[a-z_]\w*::)*([a-z_]\w*)\()",
    ))
    .expect("a pattern");
    let mut defined: BTreeMap<String, BTreeSet<&String>> = BTreeMap::new();
    for (file, text) in &files {
        for found in definition.captures_iter(text).flatten() {
            defined.entry(found.get(1).expect("a name").as_str().to_string()).or_default().insert(file);
        }
    }
    let mut graph = Graph::new();
    for (file, text) in &files {
        let calls = graph.entry(file.clone()).or_default();
        for found in call.captures_iter(text).flatten() {
            let name = found.get(1).or_else(|| found.get(2)).expect("a name").as_str().to_string();
            if let Some(files) = defined.get(&name)
                && files.len() == 1
                && !files.contains(file)
            {
                let target = files.first().expect("one file").to_string();
                calls.entry(target).or_default().insert(name);
            }
        }
    }
    graph
}

/// Returns the paths of a tree of `use`: `a::{b, c::d}` is `a::b` and `a::c::d`.
fn expanded(tree: &str) -> Vec<String> {
    let tree = tree.trim();
    let Some((before, inside)) = tree.strip_suffix('}').and_then(|tree| tree.split_once('{')) else {
        return vec![tree.split(" as ").next().expect("a first part").to_string()];
    };
    let mut depth = 0usize;
    let parts = inside.split(|c: char| {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        c == ',' && depth == 0
    });
    let parts = parts.filter(|part| !part.trim().is_empty());
    parts.flat_map(expanded).map(|part| format!("{before}{part}")).collect()
}

/// Returns, for each file of a room, the files whose items it names, with the items.
fn uses(room: &str) -> Graph {
    let root = folder(room);
    let mut files = BTreeMap::new();
    texts(&root, &root, &mut files);
    let segments = |file: &str| -> Vec<String> {
        let path = file.strip_suffix(".rs").expect("a source file");
        path.split('/').filter(|name| *name != "mod").map(str::to_string).collect()
    };
    let modules: BTreeMap<Vec<String>, &String> = files.keys().map(|file| (segments(file), file)).collect();
    let declaration = Regex::new(r"\buse ([^;]+);").expect("a pattern");
    let path = Regex::new(&format!(r"\b(?:crate::{room}|super)(?:::\w+)+")).expect("a pattern");
    let mut graph = Graph::new();
    for (file, text) in &files {
        let named = graph.entry(file.clone()).or_default();
        let declared = declaration.captures_iter(text).flatten();
        let declared = declared.flat_map(|found| expanded(found.get(1).expect("a tree").as_str()));
        let code = declaration.replace_all(text, "");
        let inside = path.find_iter(&*code).flatten().map(|found| found.as_str().to_string());
        for path in declared.chain(inside) {
            let words: Vec<&str> = path.split("::").map(str::trim).collect();
            let (mut at, words) = match &words[..] {
                ["crate", first, words @ ..] if *first == room => (Vec::new(), words),
                ["super", ..] => {
                    let ups = words.iter().take_while(|word| **word == "super").count();
                    let mut own = segments(file);
                    own.truncate(own.len().saturating_sub(ups));
                    (own, &words[ups..])
                }
                _ => continue,
            };
            at.extend(words.iter().map(|word| word.to_string()));
            let target = (0..=at.len()).rev().find(|length| modules.contains_key(&at[..*length]));
            let target = target.expect("the room itself is a module");
            let item = at[target..].join("::");
            if modules[&at[..target]] != file {
                named.entry(modules[&at[..target]].clone()).or_default().insert(item);
            }
        }
    }
    graph
}

/// Returns the files that can be reached from one by calls.
fn reachable<'g>(graph: &'g Graph, from: &'g str) -> BTreeSet<&'g str> {
    let mut found = BTreeSet::new();
    let mut open = vec![from];
    while let Some(file) = open.pop() {
        for next in graph.get(file).into_iter().flat_map(|calls| calls.keys()) {
            if found.insert(next.as_str()) {
                open.push(next);
            }
        }
    }
    found
}

/// Returns the cycles: the strongly connected components of more than one file.
fn cycles(graph: &Graph) -> BTreeSet<BTreeSet<&str>> {
    let reach: BTreeMap<&str, BTreeSet<&str>> =
        graph.keys().map(|file| (file.as_str(), reachable(graph, file))).collect();
    let mutual = |file: &&str| -> BTreeSet<&str> {
        reach[file].iter().copied().filter(|other| reach[other].contains(*file)).collect()
    };
    reach.keys().map(mutual).filter(|cycle| cycle.len() > 1).collect()
}

#[test]
fn cycles_of_files_do_not_grow() {
    let mut wrong = Vec::new();
    for (room, allowed) in LARGEST_CYCLE {
        let graph = graph(room);
        let cycles = cycles(&graph);
        for cycle in &cycles {
            println!("{room}: {} of {} files: {cycle:?}", cycle.len(), graph.len());
        }
        let largest = cycles.iter().map(BTreeSet::len).max().unwrap_or(1);
        if largest > *allowed {
            wrong.push(format!("{room}: a cycle of {largest} files where {allowed} are allowed"));
        } else if largest < *allowed {
            wrong.push(format!("{room}: the largest cycle has {largest} files: write it into LARGEST_CYCLE"));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// Returns the layer of a file of `check`.
fn layer(file: &str) -> usize {
    match file.split_once('/') {
        None if file == "mod.rs" => LAYERS.len(),
        None | Some(("error", _)) => 0,
        _ if LOWEST.contains(&file) => 0,
        Some((folder, _)) => {
            LAYERS.iter().position(|layer| *layer == folder).unwrap_or_else(|| panic!("the layer of {file}"))
        }
    }
}

/// Returns the arrows of a graph that point upward, as text.
fn upward(graph: &Graph, verb: &str) -> BTreeMap<(String, String), String> {
    let mut found = BTreeMap::new();
    for (file, targets) in graph {
        for (target, names) in targets.iter().filter(|(target, _)| layer(target) > layer(file)) {
            found.insert((file.clone(), target.clone()), format!("{file} {verb} {target}: {names:?}"));
        }
    }
    found
}

#[test]
fn layers_of_the_checker_call_downward() {
    let wrong: Vec<String> = upward(&graph("check"), "calls").into_values().collect();
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn layers_of_the_checker_use_downward() {
    let mut found = upward(&uses("check"), "uses");
    for (file, target) in UPWARD {
        let known = found.remove(&(file.to_string(), target.to_string()));
        assert!(known.is_some(), "{file} uses {target} no more: take it out of UPWARD");
    }
    let wrong: Vec<String> = found.into_values().collect();
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn trees_of_use_are_expanded() {
    let paths = expanded("crate::check::{env::{Env, Scope as S}, terms, names::{self}}");
    let expected =
        ["env::Env", "env::Scope", "terms", "names::self"].map(|path| format!("crate::check::{path}"));
    assert_eq!(paths, expected);
}

#[test]
fn cycles_are_found() {
    let calls = |targets: &[&str]| targets.iter().map(|t| (t.to_string(), BTreeSet::new())).collect();
    let graph: Graph =
        [("a", calls(&["b"])), ("b", calls(&["c"])), ("c", calls(&["b", "d"])), ("d", calls(&[]))]
            .map(|(file, calls)| (file.to_string(), calls))
            .into();
    assert_eq!(cycles(&graph), BTreeSet::from([BTreeSet::from(["b", "c"])]));
}
