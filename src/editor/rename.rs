//! Renaming: the places to change, and the check that every name keeps its referent.
//!
//! Takes the indexes of all texts that may name the declaration; gives the places to change, or the
//! reason why it cannot be renamed. Scopes are not analyzed separately: the caller changes the
//! texts and builds their indexes again, and [`check_same_meaning`] compares the referents before
//! and after.

use super::index::{Index, Target};
use super::tokens::{TokenClass, tokens};
use crate::session::KEYWORDS;
use crate::session::outline::DeclarationKind;
use felis_base::source::{SourceMap, Span, line_number};
use felis_syntax::syntax;
use std::collections::{BTreeMap, BTreeSet};

/// A place that is valid in every index: the id of a text, and bytes in it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Occurrence {
    /// The text.
    pub id: String,
    /// The first byte.
    pub start: usize,
    /// The byte after the last one.
    pub end: usize,
}

/// The places to change, by the ids of texts, in order.
pub type RenameEdits = BTreeMap<String, BTreeSet<(usize, usize)>>;

/// The reason why something cannot be renamed, as a sentence.
pub type RenameRefusal = String;

impl Index {
    /// Returns a span as a place that is valid in every index.
    pub fn occurrence(&self, span: Span) -> Option<Occurrence> {
        let id = match self.modules.get(&span.source) {
            Some(id) => id.clone(),
            None => self.sources.get(span.source)?.name.clone(),
        };
        Some(Occurrence { id, start: span.start as usize, end: span.end as usize })
    }

    /// Returns the name at a byte of the text, and the span of its declaration.
    pub fn rename_target(&self, at: usize) -> Result<(Span, Span), RenameRefusal> {
        let Some(found) = self.use_at(at) else {
            let touches = |span: &&Span| {
                span.source == self.root && span.start as usize <= at && at <= span.end as usize
            };
            return Err(match self.record_fields.iter().find(touches) {
                Some(field) => format!(
                    "`{}` is a field of a record, and records with the same fields are of one type wherever they \
                     are written: declare a `struct`, whose fields can be renamed",
                    self.sources.slice(*field)
                ),
                None => "there is no name here whose meaning is known".into(),
            });
        };
        let name = self.sources.slice(found.span);
        let declared = match found.target {
            Target::Declared(declared) => declared,
            Target::BuiltIn => return Err(format!("`{name}` is part of the language")),
            Target::Module(_) => {
                return Err(format!(
                    "`{name}` is called as its file is: write `import … as name;` to call it otherwise"
                ));
            }
        };
        if !syntax::is_name(name) {
            return Err(format!("`{name}` is an operator"));
        }
        if self.is_library(declared.source) {
            return Err(format!("`{name}` is declared in the standard library, which stays as it is"));
        }
        if !self.modules.contains_key(&declared.source) {
            return Err(format!("`{name}` is given to every program"));
        }
        Ok((found.span, declared))
    }

    /// Adds the places in this index's texts that refer to this declaration.
    pub fn collect_occurrences(
        &self,
        declared: &Occurrence,
        change: &mut RenameEdits,
    ) -> Result<(), RenameRefusal> {
        let Some(span) = self.span_of(declared) else { return Ok(()) };
        let name = self.sources.slice(span);
        for place in self.uses_for(Target::Declared(span)) {
            if let Some(spot) = self.occurrence(place) {
                change.entry(spot.id).or_default().insert((spot.start, spot.end));
            }
        }
        // A text with errors may refer to the declaration at places that were not checked.
        let broken = self.diagnostics.iter().find(|said| said.is_error());
        if let Some(broken) = broken {
            for (range, class) in tokens(self.text()) {
                let word = &self.text()[range.clone()];
                let same = word.rsplit("::").next() == Some(name);
                let named = matches!(class, TokenClass::Name | TokenClass::TypeName);
                let own = self.uses_of(self.root);
                if same && named && !own.iter().any(|found| found.span.end as usize == range.end) {
                    let file = &self.sources.get(self.root).expect("an index keeps its text").name;
                    return Err(format!(
                        "`{file}` has errors, and what `{name}` means in its line {} is not known ({}: {})",
                        line_number(self.text(), range.start),
                        broken.code,
                        broken.message
                    ));
                }
            }
        }
        self.check_shared_import(span)
    }

    /// Refuses to rename a function that an import brings together with other functions of its
    /// name.
    fn check_shared_import(&self, declared: Span) -> Result<(), RenameRefusal> {
        let name = self.sources.slice(declared);
        let functions = |kind| matches!(kind, DeclarationKind::Function | DeclarationKind::Procedure);
        let alike = self
            .outline_of(declared.source)
            .iter()
            .filter(|other| other.name == name && functions(other.kind));
        if alike.count() < 2 || declared.source == self.root {
            return Ok(());
        }
        let text = self.text();
        let listed =
            syntax::parse(&SourceMap::new().add("", text)).stmts.iter().any(|stmt| match &stmt.kind {
                syntax::ast::StmtKind::Import(import) => match &import.names {
                    syntax::ast::ImportNames::Listed(names) => names.iter().any(|n| *n.text == *name),
                    _ => false,
                },
                _ => false,
            });
        if !listed {
            return Ok(());
        }
        let file = &self.sources.get(self.root).expect("an index keeps its text").name;
        Err(format!("`{file}` imports all functions called `{name}` by one word, and this is one of them"))
    }

    /// Returns a place as a span of this index.
    pub fn span_of(&self, spot: &Occurrence) -> Option<Span> {
        let (source, _) = self.modules.iter().find(|(_, id)| **id == spot.id)?;
        Some(Span::new(*source, spot.start, spot.end))
    }

    /// Returns the targets of names, as far as they can be compared, with places shifted by the
    /// change.
    fn name_meanings(
        &self,
        shift: &dyn Fn(Occurrence) -> Occurrence,
    ) -> BTreeMap<Occurrence, Option<Occurrence>> {
        let mut all = BTreeMap::new();
        for found in &self.uses {
            let Some(at) = self.occurrence(found.span) else { continue };
            let target = match found.target {
                Target::Declared(span) => self.occurrence(span).map(shift),
                Target::Module(source) => self.occurrence(Span::new(source, 0, 0)),
                Target::BuiltIn => None,
            };
            all.insert(shift(at), target);
        }
        all
    }
}

/// Refuses a word that is not a name.
pub fn check_name(name: &str) -> Result<(), RenameRefusal> {
    match (syntax::is_name(name), KEYWORDS.contains(&name)) {
        (true, false) => Ok(()),
        (_, true) => Err(format!("`{name}` is a word of the language")),
        _ => Err(format!("`{name}` is not a name")),
    }
}

/// Returns a text with the name written at these places.
pub fn apply_rename(text: &str, places: &BTreeSet<(usize, usize)>, name: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut end = 0;
    for (from, to) in places {
        out.push_str(&text[end..*from]);
        out.push_str(name);
        end = *to;
    }
    out.push_str(&text[end..]);
    out
}

/// Refuses a change that alters the referent of a name: `before` and `after` are indexes of one
/// text, without the change and with it.
pub fn check_same_meaning(
    before: &Index,
    after: &Index,
    change: &RenameEdits,
    name: &str,
) -> Result<(), RenameRefusal> {
    let shift = |spot: Occurrence| shift_occurrence(spot, change, name.len());
    let (old, new) = (before.name_meanings(&shift), after.name_meanings(&|spot| spot));
    let differs = old.iter().find(|(at, target)| new.get(*at) != Some(target)).map(|(at, _)| at);
    let differs = differs.or_else(|| new.keys().find(|at| !old.contains_key(*at)));
    let place = |spot: &Occurrence| {
        let text = after.span_of(spot).and_then(|span| after.sources.get(span.source));
        let line = text.map_or(0, |source| line_number(&source.text, spot.start));
        let file = text.map_or("", |source| &source.name);
        let word = text.and_then(|source| source.text.get(spot.start..spot.end)).unwrap_or_default();
        (word.to_string(), file.to_string(), line)
    };
    if let Some(spot) = differs {
        let (word, file, line) = place(spot);
        return Err(format!("`{word}` in line {line} of `{file}` would mean something else"));
    }
    let count = |index: &Index| {
        let mut codes: Vec<&str> = index.diagnostics.iter().map(|said| said.code.as_str()).collect();
        codes.sort_unstable();
        codes.into_iter().map(str::to_string).collect::<Vec<_>>()
    };
    if count(before) != count(after) {
        let new = after.diagnostics.iter().find(|said| {
            let alike = |index: &Index| index.diagnostics.iter().filter(|d| d.code == said.code).count();
            alike(after) > alike(before)
        });
        return Err(match new {
            Some(said) => {
                let file = after.sources.get(said.primary.span.source).map_or("", |source| &source.name);
                format!("`{file}` would have an error: {}", said.message)
            }
            None => "what is wrong with the text would not be the same".to_string(),
        });
    }
    Ok(())
}

/// Returns a place as shifted by a change.
fn shift_occurrence(spot: Occurrence, change: &RenameEdits, length: usize) -> Occurrence {
    let Some(places) = change.get(&spot.id) else { return spot };
    let moved = |at: usize| {
        let before = places.iter().take_while(|(_, end)| *end <= at);
        before.fold(at as isize, |at, (start, end)| at + length as isize - (end - start) as isize) as usize
    };
    let start = moved(spot.start);
    let end = moved(spot.end);
    Occurrence { start, end, ..spot }
}
