//! Completion: the names that could be written at a position in a text.
//!
//! Takes a text that is being written, most often a broken one, and a position in it; gives
//! candidates. The text is checked with a word at the position, and if that cannot be parsed, with
//! tokens that close the statement. So the checker itself reports the names in scope and the type
//! before a dot.

use super::checked::{Edited, Unchanged, index_and_ask_edited};
use super::cursor::{enclosing_call, word_start};
use super::index::Index;
use super::repair::{PLACEHOLDER, repair_attempts};
use super::tokens::{TokenClass, tokens};
use crate::session::outline::DeclarationKind;
use crate::session::{Annotations, Draft, NameKind, Session, library};
use felis_calculus::types::{Type, TypeKind};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

/// A candidate for a name at a position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The name.
    pub name: String,
    /// The kind of its referent.
    pub kind: CandidateKind,
    /// Its type or declaration, as far as it has been read.
    pub detail: Option<String>,
    /// Its origin.
    pub origin: Origin,
}

/// The origin of a name, nearest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// A part of the value before a dot.
    Part,
    /// The enclosing function or block.
    Local,
    /// A definition of the text, of earlier inputs or of imports.
    Own,
    /// The library.
    Library,
    /// The language: a keyword.
    Language,
}

/// The kind of the referent of a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CandidateKind {
    /// A word of the language.
    Keyword,
    /// A variable.
    Variable,
    /// A function or procedure.
    Function,
    /// A constructor.
    Constructor,
    /// A type.
    Type,
    /// A class.
    Class,
    /// A field or component.
    Field,
    /// A module.
    Module,
}

impl From<NameKind> for CandidateKind {
    fn from(kind: NameKind) -> CandidateKind {
        match kind {
            NameKind::Keyword => CandidateKind::Keyword,
            NameKind::Variable => CandidateKind::Variable,
            NameKind::Function => CandidateKind::Function,
            NameKind::Constructor => CandidateKind::Constructor,
            NameKind::Type => CandidateKind::Type,
            NameKind::Class => CandidateKind::Class,
            NameKind::Module => CandidateKind::Module,
        }
    }
}

impl CandidateKind {
    /// Returns its position in the order of all kinds.
    fn rank(self) -> u8 {
        match self {
            CandidateKind::Field => 0,
            CandidateKind::Variable => 1,
            CandidateKind::Constructor => 2,
            CandidateKind::Function => 3,
            CandidateKind::Module => 4,
            CandidateKind::Type => 5,
            CandidateKind::Class => 6,
            CandidateKind::Keyword => 7,
        }
    }
}

/// The kind of name that fits a position.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CompletionContext {
    /// A part of the value before the dot.
    Part,
    /// A type.
    Type,
    /// A part of the library, to be imported.
    Library,
    /// A name of a part of the library, to be imported.
    NameOf(&'static str),
    /// Any name.
    Any,
}

/// The completions at a position.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Completions {
    /// The byte at which the name to complete begins.
    pub start: usize,
    /// The names that could be written there.
    pub names: Vec<String>,
}

/// Completes an input at a byte: after a dot fields and then functions; after a colon types; after
/// `import` parts of the library; otherwise names, the nearest first. At the beginning of a name
/// only the first three cases give completions.
pub fn complete_at(session: &mut Session, text: &str, at: usize) -> Completions {
    let draft = Draft { name: "input", text, id: "", before: None };
    let Some(before) = text.get(..at) else { return Completions::default() };
    let start = word_start(before);
    let asks = tokens(&before[..start])
        .last()
        .is_some_and(|(range, _)| matches!(&before[range.clone()], "." | ":" | ":>" | ":>>" | "import"));
    if start == at && !asks {
        return Completions { start, names: Vec::new() };
    }
    let (start, found) = candidates(session, Edited { draft, base: None }, at);
    Completions { start, names: found.into_iter().map(|candidate| candidate.name).collect() }
}

/// Returns the byte at which the word to be replaced begins, and the candidates for it.
pub fn candidates(session: &mut Session, edited: Edited<'_>, at: usize) -> (usize, Vec<Candidate>) {
    let draft = edited.draft;
    let Some(before) = draft.text.get(..at) else { return (at, Vec::new()) };
    let mut parts = tokens(before);
    let start = word_start(before);
    if let Some((range, class)) = parts.last() {
        let open_comment = *class == TokenClass::Comment && !before[range.clone()].ends_with("*/");
        let literal = matches!(class, TokenClass::Text | TokenClass::Number);
        let after_dot = parts.len() >= 2 && before[parts[parts.len() - 2].0.clone()] == *".";
        if range.end == at && (open_comment || literal && !after_dot) {
            return (at, Vec::new());
        }
    }
    let prefix = &before[start..];
    parts.retain(|(range, _)| range.end <= start);
    let last = parts.last().map(|(range, _)| (range.start, &before[range.clone()]));
    let wants = match last {
        Some((_, ".")) => CompletionContext::Part,
        Some((_, ":" | ":>" | ":>>")) => CompletionContext::Type,
        Some((_, "import")) => CompletionContext::Library,
        _ => match imported_part(before, &parts) {
            Some(part) => CompletionContext::NameOf(part),
            None => CompletionContext::Any,
        },
    };
    let names: Option<Vec<String>> = match wants {
        CompletionContext::Library => {
            Some(library::parts().chain(library::modules::names()).map(str::to_string).collect())
        }
        CompletionContext::NameOf(part) => {
            library::part_names(part).or_else(|| Some(library::modules::exported_names(part)))
        }
        _ => None,
    };
    if let Some(mut names) = names {
        names.retain(|name| name.starts_with(prefix) && (!name.starts_with('_') || prefix.starts_with('_')));
        names.sort();
        let candidate = |name: String| match wants {
            CompletionContext::Library => {
                Candidate { name, kind: CandidateKind::Module, detail: None, origin: Origin::Library }
            }
            _ => candidate(session, name),
        };
        return (start, names.into_iter().map(candidate).collect());
    }
    // At the beginning of an argument, its name may be written.
    let function =
        last.filter(|(_, sign)| matches!(*sign, "(" | ",")).and_then(|_| enclosing_call(&before[..start]));
    let dot = last.map_or(0, |(at, _)| at);
    let word = if prefix.is_empty() { PLACEHOLDER } else { "" };
    let cursor = at + word.len();
    let (mut best, mut read) = (Vec::new(), false);
    for text in repair_attempts(draft.text, at, word) {
        let attempt = edited.with_text(&text);
        let mut others = Vec::new();
        let ask = |session: &Session, notes: &Annotations| match wants {
            CompletionContext::Part | CompletionContext::Library | CompletionContext::NameOf(_) => Vec::new(),
            CompletionContext::Type => type_candidates(session, prefix, notes),
            CompletionContext::Any => {
                let mut found = function.map_or(Vec::new(), |name| parameter_candidates(session, name));
                found.extend(name_candidates(session, prefix, notes));
                found
            }
        };
        let (index, found) = index_and_ask_edited(session, attempt, cursor, Some((prefix, &mut others)), ask);
        let mut found = found.unwrap_or_default();
        if matches!(wants, CompletionContext::Any | CompletionContext::Type) {
            add_unchanged(&mut found, others, wants == CompletionContext::Type);
        }
        let known = match wants {
            CompletionContext::Part => {
                let ty = index.type_before(dot);
                found.extend(ty.into_iter().flat_map(components_of).map(|(name, ty)| Candidate {
                    name,
                    kind: CandidateKind::Field,
                    detail: Some(ty.to_string()),
                    origin: Origin::Part,
                }));
                ty.is_some()
            }
            // Names at the top level are known in any case; those in scope only if the expression
            // was parsed.
            _ => index.has_expression_at(cursor),
        };
        found.retain(|candidate| candidate.name.starts_with(prefix) && candidate.name != PLACEHOLDER);
        if known || best.is_empty() {
            best = found;
        }
        if known {
            read = true;
            break;
        }
    }
    if wants == CompletionContext::Any && !read {
        // A statement that cannot be checked has no scope: the words of the text are candidates.
        let words = matching_words(draft.text, start, prefix);
        let new = words.filter(|word| !best.iter().any(|known| known.name == *word));
        let new: BTreeSet<&str> = new.collect();
        let local = |name: &str| Candidate {
            name: name.to_string(),
            kind: CandidateKind::Variable,
            detail: None,
            origin: Origin::Local,
        };
        best.splice(0..0, new.into_iter().map(local));
    }
    if wants == CompletionContext::Part && !prefix.is_empty() {
        let ask = |session: &Session, notes: &Annotations| name_candidates(session, prefix, notes);
        let mut others = Vec::new();
        let (_, more) = index_and_ask_edited(session, edited, at, Some((prefix, &mut others)), ask);
        let mut functions = more.unwrap_or_default();
        add_unchanged(&mut functions, others, false);
        best.extend(functions.into_iter().filter(|c| c.kind == CandidateKind::Function));
    }
    (start, best)
}

/// Adds the names of the text that were not checked again, each at its place in the order.
fn add_unchanged(found: &mut Vec<Candidate>, others: Vec<Unchanged>, only_types: bool) {
    use DeclarationKind as K;
    let mut own: BTreeMap<String, Candidate> = BTreeMap::new();
    for Unchanged { name, kind, ty } in others {
        let (kind, detail) = match kind {
            K::Type | K::TypeFunction | K::Variant => (CandidateKind::Type, None),
            K::Struct if only_types => (CandidateKind::Type, None),
            _ if only_types => continue,
            K::Value | K::Variable => (CandidateKind::Variable, ty),
            K::Function | K::Procedure | K::Method => (CandidateKind::Function, ty),
            K::Case | K::Struct => (CandidateKind::Constructor, None),
            K::Class => (CandidateKind::Class, None),
            K::Import => (CandidateKind::Module, None),
            K::Field | K::Law | K::Instance | K::Kind | K::Member | K::Test => continue,
        };
        // Of functions the first one is described, of variables the last one.
        let known = own.get(&name).is_some_and(|known| known.kind != CandidateKind::Variable);
        if !known {
            own.insert(name.clone(), Candidate { name, kind, detail, origin: Origin::Own });
        }
    }
    found.retain(|known| known.origin != Origin::Library || !own.contains_key(&known.name));
    let known: BTreeSet<String> = found.iter().map(|candidate| candidate.name.clone()).collect();
    found.extend(own.into_values().filter(|candidate| !known.contains(&candidate.name)));
    let rank = |candidate: &Candidate| if only_types { 0 } else { candidate.kind.rank() };
    // Names in scope keep the order in which the checker tells them.
    let name = |candidate: &Candidate| match candidate.origin {
        Origin::Own => candidate.name.clone(),
        _ => String::new(),
    };
    found.sort_by_key(|candidate| (candidate.origin, rank(candidate), name(candidate)));
}

/// Returns the names of types.
fn type_candidates(session: &Session, prefix: &str, notes: &Annotations) -> Vec<Candidate> {
    let local = |name: &str| Candidate {
        name: name.into(),
        kind: CandidateKind::Type,
        detail: None,
        origin: Origin::Local,
    };
    let scope = notes.scope.iter().filter(|(_, ty)| ty.is_none()).map(|(name, _)| local(name));
    let mut all: Vec<Candidate> = scope.collect();
    for name in session.type_names_starting_with(prefix) {
        if !all.iter().any(|known| known.name == name) {
            all.push(Candidate { kind: CandidateKind::Type, ..candidate(session, name) });
        }
    }
    all.sort_by_key(|candidate| candidate.origin);
    all
}

/// Returns the names of the parameters of a function, each with the `=` before its value.
fn parameter_candidates(session: &Session, function: &str) -> Vec<Candidate> {
    let parameters = session.parameters_of(function).into_iter().map(|(name, ty)| Candidate {
        name: format!("{name} = "),
        kind: CandidateKind::Field,
        detail: ty.as_ref().map(Type::to_string),
        origin: Origin::Part,
    });
    parameters.collect()
}

/// Returns the candidate for a name that the session knows.
fn candidate(session: &Session, name: String) -> Candidate {
    let description = session.describe_name(&name);
    let origin = match description.kind {
        NameKind::Keyword => Origin::Language,
        _ if description.is_user_defined => Origin::Own,
        _ => Origin::Library,
    };
    Candidate { name, kind: description.kind.into(), detail: description.detail, origin }
}

/// Returns names of all kinds.
fn name_candidates(session: &Session, prefix: &str, notes: &Annotations) -> Vec<Candidate> {
    let mut all: Vec<Candidate> = Vec::new();
    for (name, ty) in &notes.scope {
        let kind = match ty.as_ref().map(|ty| ty.kind()) {
            None => CandidateKind::Type,
            Some(TypeKind::Function(..) | TypeKind::Procedure(_)) => CandidateKind::Function,
            Some(_) => CandidateKind::Variable,
        };
        let detail = ty.as_ref().map(ToString::to_string);
        all.push(Candidate { name: name.to_string(), kind, detail, origin: Origin::Local });
    }
    let scoped: BTreeSet<String> = all.iter().map(|candidate| candidate.name.clone()).collect();
    let modules = session.module_names().filter(|name| name.starts_with(prefix));
    let mut names: BTreeSet<String> = session.names_starting_with(prefix).into_iter().collect();
    names.extend(modules.map(|name| name.to_string()));
    for name in names {
        if !scoped.contains(&name) {
            all.push(candidate(session, name));
        }
    }
    // The nearest come first; among them the names of values.
    all.sort_by_key(|candidate| (candidate.origin, candidate.kind.rank()));
    all
}

/// The maximum number of components offered after a dot.
const MAX_COMPONENTS: usize = 16;

/// Returns the components that a dot selects from a value, with their types: fields, columns of an
/// array of records, and numbers.
fn components_of(ty: &Type) -> Vec<(String, Type)> {
    if let Some(fields) = ty.named_parts() {
        return fields.into_iter().map(|(name, ty)| (name.to_string(), ty)).collect();
    }
    let ty = ty.unfold();
    let columns = match ty.kind() {
        TypeKind::Array(element, index) => element.named_parts().map(|fields| {
            let column = |(name, ty): (Arc<str>, Type)| (name.to_string(), Type::array(ty, index.clone()));
            fields.into_iter().map(column).collect()
        }),
        _ => None,
    };
    let mut all: Vec<(String, Type)> = columns.unwrap_or_default();
    let parts = ty.components(MAX_COMPONENTS).or_else(|| ty.compact_parts(MAX_COMPONENTS));
    let parts = parts.unwrap_or_default();
    all.extend(parts.into_iter().enumerate().map(|(at, ty)| (at.to_string(), ty)));
    all
}

/// Returns the part of the library whose names are being listed at the end of a text, in the
/// parentheses of its import.
fn imported_part(text: &str, parts: &[(Range<usize>, TokenClass)]) -> Option<&'static str> {
    let open = parts.iter().rposition(|(range, _)| &text[range.clone()] == "(")?;
    let listed = parts[open + 1..].iter();
    let mut listed =
        listed.filter(|(range, class)| *class != TokenClass::Name && &text[range.clone()] != ",");
    let named = parts.get(open.checked_sub(2)?..open)?.iter().map(|(range, _)| &text[range.clone()]);
    match named.collect::<Vec<_>>()[..] {
        ["import", name] if listed.next().is_none() => {
            library::parts().chain(library::modules::names()).find(|part| *part == name)
        }
        _ => None,
    }
}

/// Returns the other names in a text with this prefix.
fn matching_words<'t>(text: &'t str, start: usize, prefix: &'t str) -> impl Iterator<Item = &'t str> {
    let names = tokens(text).into_iter().filter(move |(range, class)| {
        range.start != start && matches!(class, TokenClass::Name | TokenClass::TypeName)
    });
    names.map(|(range, _)| &text[range]).filter(move |name| name.starts_with(prefix) && *name != prefix)
}

impl Index {
    /// Returns true if the statement at a byte could be checked.
    fn has_expression_at(&self, at: usize) -> bool {
        self.types
            .iter()
            .any(|(span, _)| span.source == self.root && span.start as usize <= at && at <= span.end as usize)
    }
}
