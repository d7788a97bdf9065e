//! The session as a program: its inputs, so that a file of them defines what the session defines.
//!
//! Takes the inputs that have succeeded, with what the checker has noted of their names; gives a text. In a
//! session a name may be defined anew, and what was made with the old definition goes on with it; in a program a
//! name has one meaning. So a definition that another has replaced is left out, or, if something that stays needs
//! it, gets a name of its own, here and wherever it is meant. Evaluates and checks nothing.

use super::definition::{Input, definition_text};
use super::index::outline::{Declaration, DeclarationKind, outline};
use super::shown_sizes::{Shows, opening};
use super::{Session, library};
use crate::check::annotations::Referent;
use crate::check::env::{Callable, Definition};
use crate::check::module::Module;
use crate::core::{GlobalId, Prim};
use crate::hash::{HashMap, HashSet};
use crate::source::{Source, SourceId, Span};
use crate::syntax::ast::{ImportNames, StmtKind, stem};
use crate::syntax::{self, Chunk};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What a name in an input stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Meaning {
    /// What is declared by the name that stands here.
    Declared(Span),
    /// An earlier result.
    Result(GlobalId),
    /// What an import of a file has brought, by its number: the name itself, or behind the module's name.
    Imported(usize),
    /// A size that a variable shows, by its number.
    Shown(u32),
}

/// A top-level statement of an input.
struct Piece {
    /// The number of its input.
    input: usize,
    source: Arc<Source>,
    chunk: Chunk,
    kind: PieceKind,
    /// The names it declares at the top level.
    declares: Vec<Span>,
    /// What others see of it first: the head of a function or instance.
    head: Span,
    /// What its names stand for, in their order.
    means: Vec<(Span, Meaning)>,
    /// The result that it gives.
    result: Option<GlobalId>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PieceKind {
    /// Declares names.
    Definition,
    /// A function or procedure, of which a name can have several.
    Function,
    /// A variable that statements may change.
    Variable,
    Instance,
    Import,
    /// An expression whose value was only shown.
    Shown,
    /// Anything else is there for what it does.
    Statement,
}

/// An import of a file.
struct Imported {
    input: usize,
    piece: usize,
    /// Where the file is named, and its id.
    file: Span,
    id: String,
    /// What the module is called.
    called: String,
    /// The names that it brings.
    brings: Vec<String>,
    /// The text of the file.
    source: SourceId,
}

/// What has been declared as the program goes on.
#[derive(Default)]
struct Declared {
    /// The texts of inputs.
    texts: HashSet<SourceId>,
    imports: Vec<Imported>,
    /// Names of types, kinds and their members, in order, with the numbers of their inputs.
    types: Vec<(usize, Span)>,
    /// Declared types by their numbers.
    nominals: HashMap<u32, Span>,
    /// Cases and methods by where their type or class is declared.
    members: HashMap<Span, Vec<Span>>,
    /// Sizes that arrived at run time.
    sizes: HashMap<(u32, Arc<str>), Span>,
    /// The first variables that show sizes.
    shown: HashMap<u32, Shows>,
}

impl Session {
    /// What the session has defined, as a program. An import of a file is written as `import_of` says it for the
    /// file's id; expressions that only showed a value are left out.
    pub fn program_text(&self, import_of: &dyn Fn(&str) -> Option<String>) -> String {
        let (pieces, declared) = self.pieces();
        let current = self.current(&declared);
        let needed = self.needed(&pieces, &current, &declared);
        let mut fresh = self.fresh(&pieces);
        let mut names: HashMap<Span, String> = HashMap::default();
        let mut results: HashMap<GlobalId, String> = HashMap::default();
        // What a name is hidden by that was the library's when it was used.
        let mut hiding: HashSet<&str> = HashSet::default();
        let kept = || pieces.iter().zip(&needed).filter(|(_, needed)| **needed).map(|(piece, _)| piece);
        for piece in kept() {
            for &at in &piece.declares {
                let name = self.sources.slice(at);
                if !current.contains(&at) && syntax::is_name(name) {
                    names.insert(at, fresh.of(name));
                } else if piece.kind != PieceKind::Function {
                    hiding.insert(name);
                }
            }
            if let Some(id) = piece.result {
                results.insert(id, fresh.of("result"));
            }
        }
        let shown = self.shown_names(kept(), &pieces, &declared, &mut fresh);
        let modules = self.taken_over(&pieces, &needed, &declared, &mut fresh);
        let used: HashSet<usize> = kept()
            .flat_map(|piece| &piece.means)
            .filter_map(
                |(_, meaning)| if let Meaning::Imported(number) = meaning { Some(*number) } else { None },
            )
            .collect();
        let (mut imports, mut out) = (BTreeSet::new(), String::new());
        for (at, piece) in pieces.iter().enumerate().filter(|(at, _)| needed[*at]) {
            let mut text = String::new();
            if let Some(first) = piece.declares.iter().find(|at| names.contains_key(at)) {
                let name = self.sources.slice(*first);
                text.push_str(&format!("// `{name}` as it was before it was replaced.\n"));
            }
            let written = definition_text(&piece.source, &piece.chunk);
            for line in written.doc.iter().flat_map(|doc| doc.lines()) {
                text.push_str(format!("/// {line}").trim_end());
                text.push('\n');
            }
            if let Some(name) = piece.result.and_then(|id| results.get(&id)) {
                text.push_str(&format!("val {name} = "));
            }
            let mut changes: BTreeMap<Span, String> = BTreeMap::new();
            for &(at, meaning) in &piece.means {
                let word = self.sources.slice(at);
                let name = match meaning {
                    Meaning::Result(id) => results.get(&id).cloned(),
                    Meaning::Shown(id) => shown.get(&id).cloned(),
                    Meaning::Imported(number) => modules[number].as_ref().and_then(|module| {
                        let own = word.rsplit("::").next().unwrap_or(word);
                        let stays = !word.contains("::") && module.brings.iter().any(|name| name == own);
                        (!stays).then(|| format!("{}::{own}", module.called))
                    }),
                    Meaning::Declared(declared) if self.sources.slice(declared) != word => None,
                    Meaning::Declared(declared) => match names.get(&declared) {
                        Some(name) => Some(name.clone()),
                        None if hiding.contains(word) => self.part_of(declared.source).map(|part| {
                            imports.insert(format!("import {part};"));
                            format!("{part}::{word}")
                        }),
                        None => None,
                    },
                };
                changes.extend(name.map(|name| (at, name)));
            }
            changes.extend(piece.declares.iter().filter_map(|at| Some((*at, names.get(at)?.clone()))));
            let import = declared.imports.iter().position(|import| import.piece == at);
            let path = import.and_then(|number| {
                let path = import_of(&declared.imports[number].id)?;
                Some(format!("\"{}\"", path.replace('\\', "\\\\").replace('"', "\\\"")))
            });
            if let Some(number) = import {
                changes.extend(path.clone().map(|path| (declared.imports[number].file, path)));
            }
            match import.and_then(|number| Some((number, modules[number].as_ref()?))) {
                Some((number, module)) => {
                    let import = &declared.imports[number];
                    let anew = module.called != import.called;
                    if anew && module.brings.is_empty() && !used.contains(&number) {
                        continue;
                    }
                    let path = path.unwrap_or_else(|| self.sources.slice(import.file).to_string());
                    text.push_str(&format!("import {path}"));
                    if anew || stem(path.trim_matches('"')) != module.called {
                        text.push_str(&format!(" as {}", module.called));
                    }
                    if !module.brings.is_empty() {
                        text.push_str(&format!(" ({})", module.brings.join(", ")));
                    }
                }
                None => text.push_str(&changed(&written.text, piece.chunk.span.start, &changes)),
            }
            if !text.ends_with([';', '}']) {
                text.push(';');
            }
            if piece.kind != PieceKind::Import || imports.insert(text.clone()) {
                out.push_str(&text);
                out.push('\n');
            }
            let own = |id: &GlobalId| {
                declared
                    .shown
                    .iter()
                    .any(|(var, by)| by.piece == at && by.id == *id && shown.contains_key(var))
            };
            for id in (0..self.program.globals.len() as GlobalId).filter(own) {
                let own = |var: &&u32| declared.shown.get(var).is_some_and(|by| by.id == id);
                let sizes = shown.iter().filter(|(var, _)| own(var)).map(|(var, name)| (*var, name.clone()));
                let global = &self.program.globals[id as usize];
                let ty = opening(&global.ty, &sizes.collect());
                let name = results.get(&id).cloned().or_else(|| {
                    let at = piece.declares.iter().find(|at| self.sources.slice(**at) == &*global.name)?;
                    Some(names.get(at).cloned().unwrap_or_else(|| global.name.to_string()))
                });
                out.extend(name.map(|name| format!("val _ : {ty} = {name};\n")));
            }
        }
        // Those that no input has written stand first.
        let first: Vec<&String> = imports.iter().filter(|import| !out.contains(import.as_str())).collect();
        first.into_iter().map(|import| format!("{import}\n")).collect::<String>() + &out
    }

    /// The statements of all inputs, in order, and what they declare.
    fn pieces(&self) -> (Vec<Piece>, Declared) {
        use DeclarationKind as K;
        let (mut pieces, mut declared) = (Vec::new(), Declared::default());
        for (number, input) in self.inputs.iter().enumerate() {
            let Some(source) = self.sources.get(input.source) else { continue };
            let first = pieces.len();
            declared.texts.insert(input.source);
            declared.nominals.extend(&input.notes.nominals);
            declared.sizes.extend(input.notes.parameters.iter().map(|(key, at)| (key.clone(), *at)));
            let declarations = outline(source);
            for declaration in &declarations {
                if is_type(declaration.kind) {
                    declared.types.push((number, declaration.name_at));
                }
                let members: Vec<Span> = declaration.members.iter().map(|member| member.name_at).collect();
                if declaration.kind == K::Kind {
                    declared.types.extend(members.iter().map(|at| (number, *at)));
                }
                declared.members.insert(declaration.name_at, members);
            }
            let chunks = syntax::chunks(source);
            for import in &input.imports {
                let at = chunks.iter().position(|chunk| covers(chunk.span, import.0));
                declared
                    .imports
                    .extend(at.and_then(|at| imported(source, import, number, pieces.len() + at)));
            }
            let means = self.meanings(number, input, &declared);
            let last = chunks.len().saturating_sub(1);
            for (at, chunk) in chunks.into_iter().enumerate() {
                let own: Vec<&Declaration> =
                    declarations.iter().filter(|declaration| covers(chunk.span, declaration.span)).collect();
                let shows = input.shows && at == last;
                let kind = match own.first().map(|declaration| declaration.kind) {
                    None if shows => PieceKind::Shown,
                    None => PieceKind::Statement,
                    Some(K::Instance) => PieceKind::Instance,
                    Some(K::Import) => PieceKind::Import,
                    Some(K::Function | K::Procedure) => PieceKind::Function,
                    Some(K::Variable) => PieceKind::Variable,
                    Some(_) => PieceKind::Definition,
                };
                let mut declares = Vec::new();
                for declaration in own.iter().filter(|d| !matches!(d.kind, K::Instance | K::Import)) {
                    declares.push(declaration.name_at);
                    let members = declaration
                        .members
                        .iter()
                        .filter(|member| matches!(member.kind, K::Case | K::Member | K::Method));
                    declares.extend(members.map(|member| member.name_at));
                }
                let sizes = input.notes.parameters.values().filter(|at| {
                    let named = matches!(chunk.word, "val" | "var") && covers(chunk.span, **at);
                    named && source.text[..at.start as usize].ends_with('?')
                });
                declares.extend(sizes);
                let head = own.first().map_or(chunk.span, |declaration| declaration.head);
                let inside = |at: &Span| covers(chunk.span, *at);
                let means = means.iter().filter(|(at, _)| inside(at)).copied().collect();
                let result = input.result.filter(|_| shows);
                pieces.push(Piece {
                    input: number,
                    source: source.clone(),
                    chunk,
                    kind,
                    declares,
                    head,
                    means,
                    result,
                });
            }
            self.note_shown(input, &pieces, first, &mut declared);
        }
        (pieces, declared)
    }

    /// The import that has brought a name, as an input with this number saw it.
    fn brought(
        &self,
        name: &str,
        text: Option<SourceId>,
        number: usize,
        declared: &Declared,
    ) -> Option<usize> {
        let (module, own) = name.split_once("::").map_or((None, name), |(module, own)| (Some(module), own));
        let brings = |import: &Imported| {
            let seen =
                import.input <= number && self.inputs[import.input].forgotten.is_none_or(|at| at > number);
            seen && match module {
                Some(module) => import.called == module,
                None => import.brings.iter().any(|brought| brought == own),
            }
        };
        // Several may bring the name, and the one that is meant stands in this text.
        let means = |import: &Imported| Some(import.source) == text && brings(import);
        let meant = declared.imports.iter().rposition(means);
        meant.or_else(|| declared.imports.iter().rposition(brings))
    }

    /// What the names of an input stand for, as far as the session has declared it.
    fn meanings(&self, number: usize, input: &Input, declared: &Declared) -> Vec<(Span, Meaning)> {
        let mut found: BTreeMap<Span, Meaning> = BTreeMap::new();
        let member = |nominal: u32, at: usize| {
            declared.members.get(declared.nominals.get(&nominal)?)?.get(at).copied()
        };
        let shown = |referent: &Referent| match referent {
            Referent::Parameter(id) => declared.shown.contains_key(id).then_some(*id),
            _ => None,
        };
        for (span, referent) in &input.notes.uses {
            if span.source != input.source {
                continue;
            }
            let word = self.sources.slice(*span);
            let meaning = match referent {
                Referent::At(at) => (*at != Span::default()).then_some(*at),
                Referent::Nominal(nominal) => declared.nominals.get(&nominal.id).copied(),
                Referent::Case(nominal, at) => member(nominal.id, *at),
                Referent::Parameter(id) => declared.sizes.get(&(*id, word.into())).copied(),
                Referent::Named => self.type_named(word, number, declared),
                Referent::Field(..) | Referent::RecordField | Referent::Prim(_) => None,
            };
            // What neither an input nor the library declares comes from an import.
            let here = |at: &Span| self.part_of(at.source).is_some() || declared.texts.contains(&at.source);
            let can_come =
                !matches!(referent, Referent::Field(..) | Referent::RecordField | Referent::Prim(_));
            let meaning = match meaning.filter(here) {
                Some(at) => Some(Meaning::Declared(at)),
                None if let Some(id) = shown(referent) => Some(Meaning::Shown(id)),
                None if can_come => {
                    let text = if let Referent::At(at) = referent { Some(at.source) } else { None };
                    self.brought(word, text, number, declared).map(Meaning::Imported)
                }
                None => None,
            };
            // What is noted later of one place holds.
            match meaning {
                Some(meaning) => found.insert(*span, meaning),
                None => found.remove(span),
            };
        }
        let place = |from: usize, to: usize| Span::new(input.source, from, to);
        found.extend(input.uses.iter().map(|(at, id)| (place(at.start, at.end), Meaning::Result(*id))));
        found.into_iter().collect()
    }

    /// The type of a name, as an input with this number saw it.
    fn type_named(&self, name: &str, number: usize, declared: &Declared) -> Option<Span> {
        let seen = declared.types.iter().rev().filter(|(input, _)| {
            *input <= number && self.inputs[*input].forgotten.is_none_or(|at| at > number)
        });
        seen.map(|(_, at)| *at).find(|at| self.sources.slice(*at) == name)
    }

    /// Where what can be named now is declared.
    fn current(&self, declared: &Declared) -> HashSet<Span> {
        let env = &self.env;
        let mut found: HashSet<Span> =
            env.class_names.values().filter_map(|id| Some(env.classes.get(id)?.span)).collect();
        let case = |nominal: u32, at: usize| {
            declared.members.get(declared.nominals.get(&nominal)?)?.get(at).copied()
        };
        for definition in env.values.values() {
            match definition {
                Definition::Global { span, .. } => _ = found.insert(*span),
                Definition::Callables(callables) => {
                    found.extend(callables.iter().filter_map(|callable| match callable {
                        Callable::Function(id) => Some(env.signatures.get(id)?.span),
                        Callable::Method(class, at) => Some(env.classes.get(class)?.methods.get(*at)?.span),
                        Callable::Case(nominal, at) => case(nominal.id, *at),
                        // It is named as its type is.
                        Callable::Struct(_) | Callable::Prim(_) => None,
                    }))
                }
            }
        }
        // Of types there is no place in an `Env`: the newest of a name is the one that counts.
        let mut named = HashSet::default();
        for (input, at) in declared.types.iter().rev() {
            if self.inputs[*input].forgotten.is_none() && named.insert(self.sources.slice(*at)) {
                found.insert(*at);
            }
        }
        let mut sizes: Vec<(&(u32, Arc<str>), &Span)> = declared.sizes.iter().collect();
        sizes.sort_by_key(|(_, at)| std::cmp::Reverse(**at));
        let newest = sizes.into_iter().filter(|((_, name), _)| named.insert(name));
        found.extend(newest.map(|(_, at)| *at));
        found.extend(env.instances.values().flatten().map(|instance| instance.span));
        found
    }

    /// Which pieces the program has: what can be named, what is done with it, and what they rely on.
    fn needed(&self, pieces: &[Piece], current: &HashSet<Span>, declared: &Declared) -> Vec<bool> {
        let mut homes: HashMap<Span, usize> = HashMap::default();
        let mut giving: HashMap<GlobalId, usize> = HashMap::default();
        for (at, piece) in pieces.iter().enumerate() {
            homes.extend(piece.declares.iter().map(|name| (*name, at)));
            giving.extend(piece.result.map(|id| (id, at)));
        }
        let target = |meaning: &Meaning| match meaning {
            Meaning::Declared(at) => homes.get(at).copied(),
            Meaning::Result(id) => giving.get(id).copied(),
            Meaning::Imported(number) => declared.imports.get(*number).map(|import| import.piece),
            Meaning::Shown(id) => declared.shown.get(id).map(|by| by.piece),
        };
        let targets: Vec<BTreeSet<usize>> = pieces
            .iter()
            .map(|piece| piece.means.iter().filter_map(|(_, meaning)| target(meaning)).collect())
            .collect();
        let types: HashSet<Span> = declared.types.iter().map(|(_, at)| *at).collect();
        // Whoever reads what a function takes cannot give it, for the type has been replaced.
        let outlived = |piece: &Piece| {
            piece.means.iter().any(|(at, meaning)| {
                let Meaning::Declared(ty) = meaning else { return false };
                covers(piece.head, *at) && types.contains(ty) && !current.contains(ty)
            })
        };
        let is_current = |piece: &Piece| piece.declares.iter().any(|at| current.contains(at));
        let name = |piece: &Piece| piece.declares.first().map_or("", |at| self.sources.slice(*at));
        let living: HashSet<&str> = pieces
            .iter()
            .filter(|piece| piece.kind == PieceKind::Function && is_current(piece) && !outlived(piece))
            .map(name)
            .collect();
        let forgotten = |piece: &Piece| self.inputs[piece.input].forgotten.is_some();
        let mut needed = vec![false; pieces.len()];
        for (at, piece) in pieces.iter().enumerate() {
            needed[at] = match piece.kind {
                PieceKind::Function => {
                    is_current(piece) && (!outlived(piece) || !living.contains(name(piece)))
                }
                PieceKind::Definition | PieceKind::Variable => is_current(piece),
                PieceKind::Import => true,
                PieceKind::Statement => {
                    let replaced = |at: &usize| !is_current(&pieces[*at]) && !pieces[*at].declares.is_empty();
                    !forgotten(piece) && !targets[at].iter().any(replaced)
                }
                PieceKind::Instance | PieceKind::Shown => false,
            };
        }
        // An import may be all that is left of a text that was forgotten.
        let uses_file = |at: usize, needed: &[bool]| {
            let input = pieces[at].input;
            let same =
                |other: &usize| pieces[*other].input == input && pieces[*other].kind != PieceKind::Import;
            (0..pieces.len()).filter(same).any(|other| needed[other])
        };
        for at in 0..pieces.len() {
            needed[at] &= pieces[at].kind != PieceKind::Import || !forgotten(&pieces[at]);
        }
        loop {
            let before = needed.iter().filter(|needed| **needed).count();
            for at in 0..pieces.len() {
                let piece = &pieces[at];
                needed[at] = needed[at]
                    || match piece.kind {
                        PieceKind::Instance => {
                            let head = piece.means.iter().filter(|(at, _)| covers(piece.head, *at));
                            let own: Vec<usize> = head.filter_map(|(_, meaning)| target(meaning)).collect();
                            let known = current.iter().any(|span| covers(piece.chunk.span, *span));
                            known && own.iter().all(|at| needed[*at]) && !(forgotten(piece) && own.is_empty())
                        }
                        PieceKind::Statement => changes_needed(at, pieces, &targets, &needed),
                        PieceKind::Import => uses_file(at, &needed),
                        _ => false,
                    };
                if needed[at] {
                    targets[at].iter().for_each(|target| needed[*target] = true);
                }
            }
            if needed.iter().filter(|needed| **needed).count() == before {
                return needed;
            }
        }
    }

    /// The imports whose module or names something later has taken the place of, each with another name for the
    /// module, and what it still brings.
    fn taken_over(
        &self,
        pieces: &[Piece],
        needed: &[bool],
        declared: &Declared,
        fresh: &mut Fresh,
    ) -> Vec<Option<Imported>> {
        let imports = &declared.imports;
        let taken = |import: &Imported, name: &str| {
            let other = |other: &Imported| {
                needed[other.piece]
                    && other.piece > import.piece
                    && other.id != import.id
                    && other.brings.iter().any(|brought| brought == name)
            };
            let later = pieces.iter().zip(needed).skip(import.piece + 1).filter(|(_, needed)| **needed);
            let declares = |piece: &Piece| piece.declares.iter().any(|at| self.sources.slice(*at) == name);
            imports.iter().any(other) || later.into_iter().any(|(piece, _)| declares(piece))
        };
        let changed = imports.iter().map(|import| {
            let brings: Vec<String> =
                import.brings.iter().filter(|name| !taken(import, name)).cloned().collect();
            let renamed = imports.iter().any(|other| {
                needed[other.piece]
                    && other.piece > import.piece
                    && other.id != import.id
                    && other.called == import.called
            });
            let changes = needed[import.piece] && (renamed || brings.len() < import.brings.len());
            changes.then(|| {
                let called = match (renamed, syntax::is_name(&import.called)) {
                    (false, true) => import.called.clone(),
                    (_, true) => fresh.of(&import.called),
                    // What a file is called may be no name.
                    (_, false) => fresh.of("module"),
                };
                Imported { called, brings, id: import.id.clone(), ..*import }
            })
        });
        changed.collect()
    }

    /// The names of the sizes that statements name and that variables show: as they are shown, unless something else
    /// has the name.
    fn shown_names<'p>(
        &self,
        kept: impl Iterator<Item = &'p Piece>,
        pieces: &[Piece],
        declared: &Declared,
        fresh: &mut Fresh,
    ) -> BTreeMap<u32, String> {
        let mut names: BTreeMap<u32, String> = BTreeMap::new();
        let mut taken: HashSet<String> = pieces
            .iter()
            .flat_map(|piece| &piece.declares)
            .chain(declared.types.iter().map(|(_, at)| at))
            .map(|at| self.sources.slice(*at).to_string())
            .collect();
        for (at, meaning) in kept.flat_map(|piece| &piece.means) {
            if let Meaning::Shown(id) = meaning
                && !names.contains_key(id)
            {
                let word = self.sources.slice(*at);
                let free =
                    taken.insert(word.to_string()) && library::index().names().all(|name| name != word);
                names.insert(*id, if free { word.to_string() } else { fresh.of(word) });
            }
        }
        names
    }

    /// Which of its statements gives each variable of an input its value.
    fn note_shown(&self, input: &Input, pieces: &[Piece], first: usize, declared: &mut Declared) {
        let mut places: Vec<(&str, usize)> = Vec::new();
        for (at, piece) in pieces.iter().enumerate().skip(first) {
            places.extend(piece.declares.iter().map(|name| (self.sources.slice(*name), at)));
        }
        let mut given: Vec<(GlobalId, usize)> = Vec::new();
        for id in input.globals.clone() {
            let Some(global) = self.program.globals.get(id as usize) else { continue };
            if let Some(at) = places.iter().position(|(name, _)| **name == *global.name) {
                given.push((id, places.remove(at).1));
            }
        }
        let result = pieces.iter().enumerate().skip(first).find_map(|(at, piece)| Some((piece.result?, at)));
        for (id, piece) in given.into_iter().chain(result) {
            self.program.globals[id as usize].ty.for_each_var(&mut |var| {
                declared.shown.entry(var.id).or_insert(Shows { piece, id });
            });
        }
    }

    /// The part of the library that a text is.
    fn part_of(&self, source: SourceId) -> Option<&'static str> {
        library::parts().nth(source.0 as usize)
    }

    fn fresh(&self, pieces: &[Piece]) -> Fresh {
        let mut taken: HashSet<String> = library::index().names().map(str::to_string).collect();
        taken.extend(Prim::ALL.iter().map(|prim| prim.name().to_string()));
        for piece in pieces {
            taken
                .extend(piece.chunk.mentions.iter().chain(&piece.chunk.defines).map(|name| name.to_string()));
        }
        Fresh { taken }
    }
}

/// Whether a statement leads to a variable that is needed, and so may have made it what it is.
fn changes_needed(at: usize, pieces: &[Piece], targets: &[BTreeSet<usize>], needed: &[bool]) -> bool {
    let (mut seen, mut waiting) = (HashSet::default(), vec![at]);
    while let Some(next) = waiting.pop() {
        if seen.insert(next) {
            if pieces[next].kind == PieceKind::Variable && needed[next] {
                return true;
            }
            waiting.extend(&targets[next]);
        }
    }
    false
}

/// An import of a file, as it is written.
fn imported(
    source: &Source,
    (file, id, module): &(Span, String, Arc<Module>),
    input: usize,
    piece: usize,
) -> Option<Imported> {
    let parsed = syntax::parse(source);
    let import = parsed.stmts.iter().find_map(|stmt| match &stmt.kind {
        StmtKind::Import(import) if import.target.span() == *file => Some(import),
        _ => None,
    })?;
    let brings = match &import.names {
        ImportNames::Qualified => Vec::new(),
        ImportNames::Listed(names) => names.iter().map(|name| name.text.to_string()).collect(),
        ImportNames::All { .. } => module.names().map(str::to_string).collect(),
    };
    let called = import.module_name().text.to_string();
    Some(Imported { input, piece, file: *file, id: id.clone(), called, brings, source: module.source })
}

/// Names that nothing else has.
struct Fresh {
    taken: HashSet<String>,
}

impl Fresh {
    fn of(&mut self, name: &str) -> String {
        let mut number = 1;
        loop {
            let new = format!("{name}_{number}");
            if self.taken.insert(new.clone()) {
                return new;
            }
            number += 1;
        }
    }
}

fn is_type(kind: DeclarationKind) -> bool {
    use DeclarationKind as K;
    matches!(kind, K::Type | K::TypeFunction | K::Struct | K::Variant | K::Kind)
}

fn covers(outer: Span, inner: Span) -> bool {
    outer.source == inner.source && outer.start <= inner.start && inner.end <= outer.end
}

/// A text that begins at a byte of its source, with other words in these places.
fn changed(text: &str, start: u32, changes: &BTreeMap<Span, String>) -> String {
    let (mut out, mut end) = (String::new(), 0);
    for (at, word) in changes {
        let (from, to) = ((at.start - start) as usize, (at.end - start) as usize);
        let Some(between) = text.get(end..from).filter(|_| to <= text.len()) else { continue };
        out.push_str(between);
        out.push_str(word);
        end = to;
    }
    out.push_str(&text[end..]);
    out
}
