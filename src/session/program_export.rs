//! The session as a program: a file of its inputs that defines what the session defines.
//!
//! Takes the inputs that have succeeded, with the checker's annotations of their names; gives a
//! text. In a session a name may be redefined, and what was made with the old definition keeps it;
//! in a program a name has one meaning. So a definition that another has replaced is left out, or,
//! if a statement that is kept needs it, is renamed with all its uses. Evaluates and checks
//! nothing.

use super::definition::definition_text;
use super::inputs::EvaluatedInput;
use super::outline::{Declaration, DeclarationKind, outline};
use super::shown_sizes::{SizeWitness, size_opening_pattern};
use super::{Session, library};
use felis_base::hash::{HashMap, HashSet};
use felis_base::source::{Source, SourceId, Span};
use felis_calculus::core::{GlobalId, Prim};
use felis_check::check::annotations::Referent;
use felis_check::check::env::{Callable, Definition};
use felis_check::check::module::Module;
use felis_syntax::syntax::ast::{ImportNames, StmtKind, stem};
use felis_syntax::syntax::{self, Chunk};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The referent of a name in an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NameMeaning {
    /// A declaration, by the span of its name.
    Declared(Span),
    /// An earlier result.
    Result(GlobalId),
    /// A name that an import of a file has brought, by the number of the import; it may stand
    /// behind the module's name.
    Imported(usize),
    /// A size that a variable shows, by its number.
    ValueText(u32),
}

/// A top-level statement of an input.
struct InputStatement {
    /// The number of its input.
    input: usize,
    source: Arc<Source>,
    chunk: Chunk,
    kind: StatementKind,
    /// The names it declares at the top level.
    declares: Vec<Span>,
    /// The head of a function or instance, else the whole statement.
    head: Span,
    /// The referents of its names, in order.
    means: Vec<(Span, NameMeaning)>,
    /// The result that it gives.
    result: Option<GlobalId>,
}

/// The kind of a statement, by which it is kept or left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StatementKind {
    /// Declares names.
    Definition,
    /// A function or procedure, of which a name can have several.
    Function,
    /// A variable that statements may change.
    Variable,
    Instance,
    Import,
    /// An expression whose value was only shown.
    ValueText,
    /// Anything else is there for what it does.
    Statement,
}

/// An import of a file.
struct FileImport {
    input: usize,
    piece: usize,
    /// The span of the path.
    file: Span,
    id: String,
    /// The name of the module.
    called: String,
    /// The names that it brings.
    brings: Vec<String>,
    /// The text of the file.
    source: SourceId,
}

/// The declarations so far, in the order of the inputs.
#[derive(Default)]
struct DeclarationTable {
    /// The texts of inputs.
    texts: HashSet<SourceId>,
    imports: Vec<FileImport>,
    /// Names of types, kinds and their members, in order, with the numbers of their inputs.
    types: Vec<(usize, Span)>,
    /// Declared types by their numbers.
    nominals: HashMap<u32, Span>,
    /// Cases and methods by where their type or class is declared.
    members: HashMap<Span, Vec<Span>>,
    /// Sizes that arrived at run time.
    sizes: HashMap<(u32, Arc<str>), Span>,
    /// The first variables that show sizes.
    shown: HashMap<u32, SizeWitness>,
}

impl Session {
    /// Returns the definitions of the session as a program. An import of a file is written as
    /// `import_of` says it for the file's id; expressions that only showed a value are left out.
    pub fn program_text(&self, import_of: &dyn Fn(&str) -> Option<String>) -> String {
        let (pieces, declared) = self.input_statements();
        let current = self.current_declarations(&declared);
        let needed = self.required_statements(&pieces, &current, &declared);
        let mut fresh = self.fresh_names(&pieces);
        let mut names: HashMap<Span, String> = HashMap::default();
        let mut results: HashMap<GlobalId, String> = HashMap::default();
        // What a name is hidden by that was the library's when it was used.
        let mut hiding: HashSet<&str> = HashSet::default();
        let kept = || pieces.iter().zip(&needed).filter(|(_, needed)| **needed).map(|(piece, _)| piece);
        for piece in kept() {
            for &at in &piece.declares {
                let name = self.sources.slice(at);
                if !current.contains(&at) && syntax::is_name(name) {
                    names.insert(at, fresh.next(name));
                } else if piece.kind != StatementKind::Function {
                    hiding.insert(name);
                }
            }
            if let Some(id) = piece.result {
                results.insert(id, fresh.next("result"));
            }
        }
        let shown = self.size_names(kept(), &pieces, &declared, &mut fresh);
        let modules = self.shadowed_imports(&pieces, &needed, &declared, &mut fresh);
        let used: HashSet<usize> = kept()
            .flat_map(|piece| &piece.means)
            .filter_map(
                |(_, meaning)| {
                    if let NameMeaning::Imported(number) = meaning { Some(*number) } else { None }
                },
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
                    NameMeaning::Result(id) => results.get(&id).cloned(),
                    NameMeaning::ValueText(id) => shown.get(&id).cloned(),
                    NameMeaning::Imported(number) => modules[number].as_ref().and_then(|module| {
                        let own = word.rsplit("::").next().unwrap_or(word);
                        let stays = !word.contains("::") && module.brings.iter().any(|name| name == own);
                        (!stays).then(|| format!("{}::{own}", module.called))
                    }),
                    NameMeaning::Declared(declared) if self.sources.slice(declared) != word => None,
                    NameMeaning::Declared(declared) => match names.get(&declared) {
                        Some(name) => Some(name.clone()),
                        None if hiding.contains(word) => self.library_part(declared.source).map(|part| {
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
                None => text.push_str(&replace_words(&written.text, piece.chunk.span.start, &changes)),
            }
            if !text.ends_with([';', '}']) {
                text.push(';');
            }
            if piece.kind != StatementKind::Import || imports.insert(text.clone()) {
                out.push_str(&text);
                out.push('\n');
            }
            let own = |id: &GlobalId| {
                declared
                    .shown
                    .iter()
                    .any(|(var, by)| by.piece == at && by.id == *id && shown.contains_key(var))
            };
            for id in (0..self.program.globals.len()).map(GlobalId::new).filter(own) {
                let own = |var: &&u32| declared.shown.get(var).is_some_and(|by| by.id == id);
                let sizes = shown.iter().filter(|(var, _)| own(var)).map(|(var, name)| (*var, name.clone()));
                let global = &self.program.globals[id.index()];
                let ty = size_opening_pattern(&global.ty, &sizes.collect());
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
    fn input_statements(&self) -> (Vec<InputStatement>, DeclarationTable) {
        use DeclarationKind as K;
        let (mut pieces, mut declared) = (Vec::new(), DeclarationTable::default());
        for (number, input) in self.inputs.iter().enumerate() {
            let source = self.sources.get(input.source).expect("the text of an input is kept");
            let first = pieces.len();
            declared.texts.insert(input.source);
            declared.nominals.extend(&input.notes.nominals);
            declared.sizes.extend(input.notes.parameters.iter().map(|(key, at)| (key.clone(), *at)));
            let declarations = outline(source);
            for declaration in &declarations {
                if declares_type(declaration.kind) {
                    declared.types.push((number, declaration.name_span));
                }
                let members: Vec<Span> = declaration.members.iter().map(|member| member.name_span).collect();
                if declaration.kind == K::Kind {
                    declared.types.extend(members.iter().map(|at| (number, *at)));
                }
                declared.members.insert(declaration.name_span, members);
            }
            let chunks = syntax::chunks(source);
            for import in &input.imports {
                let at = chunks.iter().position(|chunk| covers(chunk.span, import.0));
                declared
                    .imports
                    .extend(at.and_then(|at| file_import(source, import, number, pieces.len() + at)));
            }
            let means = self.name_meanings(number, input, &declared);
            let last = chunks.len().saturating_sub(1);
            for (at, chunk) in chunks.into_iter().enumerate() {
                let own: Vec<&Declaration> =
                    declarations.iter().filter(|declaration| covers(chunk.span, declaration.span)).collect();
                let shows = input.shows_value && at == last;
                let kind = match own.first().map(|declaration| declaration.kind) {
                    None if shows => StatementKind::ValueText,
                    None => StatementKind::Statement,
                    Some(K::Instance) => StatementKind::Instance,
                    Some(K::Import) => StatementKind::Import,
                    Some(K::Function | K::Procedure) => StatementKind::Function,
                    Some(K::Variable) => StatementKind::Variable,
                    Some(_) => StatementKind::Definition,
                };
                let mut declares = Vec::new();
                for declaration in own.iter().filter(|d| !matches!(d.kind, K::Instance | K::Import)) {
                    declares.push(declaration.name_span);
                    let members = declaration
                        .members
                        .iter()
                        .filter(|member| matches!(member.kind, K::Case | K::Member | K::Method));
                    declares.extend(members.map(|member| member.name_span));
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
                pieces.push(InputStatement {
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
            self.record_size_witnesses(input, &pieces, first, &mut declared);
        }
        (pieces, declared)
    }

    /// The import that has brought a name, as an input with this number saw it.
    fn import_of_name(
        &self,
        name: &str,
        text: Option<SourceId>,
        number: usize,
        declared: &DeclarationTable,
    ) -> Option<usize> {
        let (module, own) = name.split_once("::").map_or((None, name), |(module, own)| (Some(module), own));
        let brings = |import: &FileImport| {
            let seen =
                import.input <= number && self.inputs[import.input].replaced_at.is_none_or(|at| at > number);
            seen && match module {
                Some(module) => import.called == module,
                None => import.brings.iter().any(|brought| brought == own),
            }
        };
        // Several imports may bring the name; the one that the text refers to takes precedence.
        let means = |import: &FileImport| Some(import.source) == text && brings(import);
        let meant = declared.imports.iter().rposition(means);
        meant.or_else(|| declared.imports.iter().rposition(brings))
    }

    /// Returns the referents of the names of an input that the session has declared.
    fn name_meanings(
        &self,
        number: usize,
        input: &EvaluatedInput,
        declared: &DeclarationTable,
    ) -> Vec<(Span, NameMeaning)> {
        let mut found: BTreeMap<Span, NameMeaning> = BTreeMap::new();
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
            let here =
                |at: &Span| self.library_part(at.source).is_some() || declared.texts.contains(&at.source);
            let can_come =
                !matches!(referent, Referent::Field(..) | Referent::RecordField | Referent::Prim(_));
            let meaning = match meaning.filter(here) {
                Some(at) => Some(NameMeaning::Declared(at)),
                None if let Some(id) = shown(referent) => Some(NameMeaning::ValueText(id)),
                None if can_come => {
                    let text = if let Referent::At(at) = referent { Some(at.source) } else { None };
                    self.import_of_name(word, text, number, declared).map(NameMeaning::Imported)
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
        found.extend(input.uses.iter().map(|(at, id)| (place(at.start, at.end), NameMeaning::Result(*id))));
        found.into_iter().collect()
    }

    /// The type of a name, as an input with this number saw it.
    fn type_named(&self, name: &str, number: usize, declared: &DeclarationTable) -> Option<Span> {
        let seen = declared.types.iter().rev().filter(|(input, _)| {
            *input <= number && self.inputs[*input].replaced_at.is_none_or(|at| at > number)
        });
        seen.map(|(_, at)| *at).find(|at| self.sources.slice(*at) == name)
    }

    /// Returns the spans of the declarations that can be named now.
    fn current_declarations(&self, declared: &DeclarationTable) -> HashSet<Span> {
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
            if self.inputs[*input].replaced_at.is_none() && named.insert(self.sources.slice(*at)) {
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

    /// Returns for each statement if the program has it: those that can be named, statements about
    /// them, and their dependencies.
    fn required_statements(
        &self,
        pieces: &[InputStatement],
        current: &HashSet<Span>,
        declared: &DeclarationTable,
    ) -> Vec<bool> {
        let mut homes: HashMap<Span, usize> = HashMap::default();
        let mut giving: HashMap<GlobalId, usize> = HashMap::default();
        for (at, piece) in pieces.iter().enumerate() {
            homes.extend(piece.declares.iter().map(|name| (*name, at)));
            giving.extend(piece.result.map(|id| (id, at)));
        }
        let target = |meaning: &NameMeaning| match meaning {
            NameMeaning::Declared(at) => homes.get(at).copied(),
            NameMeaning::Result(id) => giving.get(id).copied(),
            NameMeaning::Imported(number) => declared.imports.get(*number).map(|import| import.piece),
            NameMeaning::ValueText(id) => declared.shown.get(id).map(|by| by.piece),
        };
        let targets: Vec<BTreeSet<usize>> = pieces
            .iter()
            .map(|piece| piece.means.iter().filter_map(|(_, meaning)| target(meaning)).collect())
            .collect();
        let types: HashSet<Span> = declared.types.iter().map(|(_, at)| *at).collect();
        // A function that takes a replaced type cannot be called any more.
        let outlived = |piece: &InputStatement| {
            piece.means.iter().any(|(at, meaning)| {
                let NameMeaning::Declared(ty) = meaning else { return false };
                covers(piece.head, *at) && types.contains(ty) && !current.contains(ty)
            })
        };
        let is_current = |piece: &InputStatement| piece.declares.iter().any(|at| current.contains(at));
        let name = |piece: &InputStatement| piece.declares.first().map_or("", |at| self.sources.slice(*at));
        let living: HashSet<&str> = pieces
            .iter()
            .filter(|piece| piece.kind == StatementKind::Function && is_current(piece) && !outlived(piece))
            .map(name)
            .collect();
        let replaced_at = |piece: &InputStatement| self.inputs[piece.input].replaced_at.is_some();
        let mut needed = vec![false; pieces.len()];
        for (at, piece) in pieces.iter().enumerate() {
            needed[at] = match piece.kind {
                StatementKind::Function => {
                    is_current(piece) && (!outlived(piece) || !living.contains(name(piece)))
                }
                StatementKind::Definition | StatementKind::Variable => is_current(piece),
                StatementKind::Import => true,
                StatementKind::Statement => {
                    let replaced = |at: &usize| !is_current(&pieces[*at]) && !pieces[*at].declares.is_empty();
                    !replaced_at(piece) && !targets[at].iter().any(replaced)
                }
                StatementKind::Instance | StatementKind::ValueText => false,
            };
        }
        // Of a replaced text, an import may be the only statement that is kept.
        let uses_file = |at: usize, needed: &[bool]| {
            let input = pieces[at].input;
            let same =
                |other: &usize| pieces[*other].input == input && pieces[*other].kind != StatementKind::Import;
            (0..pieces.len()).filter(same).any(|other| needed[other])
        };
        for at in 0..pieces.len() {
            needed[at] &= pieces[at].kind != StatementKind::Import || !replaced_at(&pieces[at]);
        }
        loop {
            let before = needed.iter().filter(|needed| **needed).count();
            for at in 0..pieces.len() {
                let piece = &pieces[at];
                needed[at] = needed[at]
                    || match piece.kind {
                        StatementKind::Instance => {
                            let head = piece.means.iter().filter(|(at, _)| covers(piece.head, *at));
                            let own: Vec<usize> = head.filter_map(|(_, meaning)| target(meaning)).collect();
                            let known = current.iter().any(|span| covers(piece.chunk.span, *span));
                            known
                                && own.iter().all(|at| needed[*at])
                                && !(replaced_at(piece) && own.is_empty())
                        }
                        StatementKind::Statement => affects_required_variable(at, pieces, &targets, &needed),
                        StatementKind::Import => uses_file(at, &needed),
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

    /// The imports whose module or names something later has taken the place of, each with another
    /// name for the module, and what it still brings.
    fn shadowed_imports(
        &self,
        pieces: &[InputStatement],
        needed: &[bool],
        declared: &DeclarationTable,
        fresh: &mut FreshNames,
    ) -> Vec<Option<FileImport>> {
        let imports = &declared.imports;
        let taken = |import: &FileImport, name: &str| {
            let other = |other: &FileImport| {
                needed[other.piece]
                    && other.piece > import.piece
                    && other.id != import.id
                    && other.brings.iter().any(|brought| brought == name)
            };
            let later = pieces.iter().zip(needed).skip(import.piece + 1).filter(|(_, needed)| **needed);
            let declares =
                |piece: &InputStatement| piece.declares.iter().any(|at| self.sources.slice(*at) == name);
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
                    (_, true) => fresh.next(&import.called),
                    // What a file is called may be no name.
                    (_, false) => fresh.next("module"),
                };
                FileImport { called, brings, id: import.id.clone(), ..*import }
            })
        });
        changed.collect()
    }

    /// The names of the sizes that statements name and that variables show: as they are shown,
    /// unless something else has the name.
    fn size_names<'p>(
        &self,
        kept: impl Iterator<Item = &'p InputStatement>,
        pieces: &[InputStatement],
        declared: &DeclarationTable,
        fresh: &mut FreshNames,
    ) -> BTreeMap<u32, String> {
        let mut names: BTreeMap<u32, String> = BTreeMap::new();
        let mut taken: HashSet<String> = pieces
            .iter()
            .flat_map(|piece| &piece.declares)
            .chain(declared.types.iter().map(|(_, at)| at))
            .map(|at| self.sources.slice(*at).to_string())
            .collect();
        for (at, meaning) in kept.flat_map(|piece| &piece.means) {
            if let NameMeaning::ValueText(id) = meaning
                && !names.contains_key(id)
            {
                let word = self.sources.slice(*at);
                let free =
                    taken.insert(word.to_string()) && library::index().names().all(|name| name != word);
                names.insert(*id, if free { word.to_string() } else { fresh.next(word) });
            }
        }
        names
    }

    /// Records the statement of an input that gives each variable its value.
    fn record_size_witnesses(
        &self,
        input: &EvaluatedInput,
        pieces: &[InputStatement],
        first: usize,
        declared: &mut DeclarationTable,
    ) {
        let mut places: Vec<(&str, usize)> = Vec::new();
        for (at, piece) in pieces.iter().enumerate().skip(first) {
            places.extend(piece.declares.iter().map(|name| (self.sources.slice(*name), at)));
        }
        let mut given: Vec<(GlobalId, usize)> = Vec::new();
        for id in (input.globals.start.index()..input.globals.end.index()).map(GlobalId::new) {
            let global = &self.program.globals[id.index()];
            if let Some(at) = places.iter().position(|(name, _)| **name == *global.name) {
                given.push((id, places.remove(at).1));
            }
        }
        let result = pieces.iter().enumerate().skip(first).find_map(|(at, piece)| Some((piece.result?, at)));
        for (id, piece) in given.into_iter().chain(result) {
            self.program.globals[id.index()].ty.for_each_var(&mut |var| {
                declared.shown.entry(var.id).or_insert(SizeWitness { piece, id });
            });
        }
    }

    /// The part of the library that a text is.
    fn library_part(&self, source: SourceId) -> Option<&'static str> {
        library::parts().nth(source.0 as usize)
    }

    /// Returns a supply of names that no statement mentions.
    fn fresh_names(&self, pieces: &[InputStatement]) -> FreshNames {
        let mut taken: HashSet<String> = library::index().names().map(str::to_string).collect();
        taken.extend(Prim::ALL.iter().map(|prim| prim.name().to_string()));
        for piece in pieces {
            taken
                .extend(piece.chunk.mentions.iter().chain(&piece.chunk.defines).map(|name| name.to_string()));
        }
        FreshNames { taken }
    }
}

/// Returns true if a statement refers, directly or not, to a variable that is needed, which it may
/// have changed.
fn affects_required_variable(
    at: usize,
    pieces: &[InputStatement],
    targets: &[BTreeSet<usize>],
    needed: &[bool],
) -> bool {
    let (mut seen, mut waiting) = (HashSet::default(), vec![at]);
    while let Some(next) = waiting.pop() {
        if seen.insert(next) {
            if pieces[next].kind == StatementKind::Variable && needed[next] {
                return true;
            }
            waiting.extend(&targets[next]);
        }
    }
    false
}

/// An import of a file, as it is written.
fn file_import(
    source: &Source,
    (file, id, module): &(Span, String, Arc<Module>),
    input: usize,
    piece: usize,
) -> Option<FileImport> {
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
    Some(FileImport { input, piece, file: *file, id: id.clone(), called, brings, source: module.source })
}

/// Names that nothing else has.
struct FreshNames {
    taken: HashSet<String>,
}

impl FreshNames {
    /// Returns a new name: the given one with a number.
    fn next(&mut self, name: &str) -> String {
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

/// Returns true for the declaration of a type, type function or kind.
fn declares_type(kind: DeclarationKind) -> bool {
    use DeclarationKind as K;
    matches!(kind, K::Type | K::TypeFunction | K::Struct | K::Variant | K::Kind)
}

/// Returns true if a span contains another.
fn covers(outer: Span, inner: Span) -> bool {
    outer.source == inner.source && outer.start <= inner.start && inner.end <= outer.end
}

/// A text that begins at a byte of its source, with other words in these places.
fn replace_words(text: &str, start: u32, changes: &BTreeMap<Span, String>) -> String {
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
