//! From what the checker has noted to what names stand for.
//!
//! Takes notes, declarations and imports; gives [`Use`]s. A variable, a function and a parameter were noted
//! with their places. Declared types have no place in the checker: theirs are looked up by number, and
//! what has none by name, among the declarations of the text, then those it imports, then the library's;
//! that is how the checker found them.

use super::{Declaration, DeclarationKind, Index, Target, Use};
use crate::check::annotations::Referent;
use crate::hash::HashMap;
use crate::session::library;
use crate::source::{SourceId, Span};
use crate::syntax;
use crate::syntax::ast::{Import, ImportNames, Stmt, StmtKind};
use crate::types::Nominal;
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

/// What there is to resolve.
pub(super) struct Noted {
    pub uses: Vec<(Span, Referent)>,
    pub nominals: HashMap<u32, Span>,
    pub parameters: HashMap<(u32, Arc<str>), Span>,
    /// The imports of all texts.
    pub imports: Vec<Import>,
    /// The texts behind them, by where these name them.
    pub targets: HashMap<Span, SourceId>,
}

/// Collects the imports among statements.
pub(super) fn imports(stmts: &[Stmt], out: &mut Vec<Import>) {
    out.extend(stmts.iter().filter_map(|stmt| match &stmt.kind {
        StmtKind::Import(import) => Some(import.clone()),
        _ => None,
    }));
}

/// All names of the texts of an index that stand for something, in order.
pub(super) fn uses(index: &Index, noted: Noted) -> Vec<Use> {
    let mut found: BTreeMap<Span, Target> = BTreeMap::new();
    let resolver = Resolver { index, noted: &noted };
    for span in index.variables.keys() {
        found.insert(*span, Target::Declared(*span));
    }
    for (span, referent) in &noted.uses {
        if let Some(target) = resolver.target(*span, referent) {
            found.insert(*span, target);
        }
    }
    for outline in index.outlines.values() {
        for declaration in outline.iter() {
            declaration.each(&mut |declaration| {
                use DeclarationKind as K;
                // The name of an instance is a use of its class, and those in it are uses of methods.
                if !matches!(declaration.kind, K::Instance | K::Import | K::Test) {
                    let at = declaration.name_at;
                    found.entry(at).or_insert(Target::Declared(at));
                }
            });
        }
    }
    let mut uses: Vec<Use> = Vec::with_capacity(found.len());
    for (span, target) in found {
        resolver.add(span, target, &mut uses);
    }
    for import in &noted.imports {
        resolver.import(import, &mut uses);
    }
    uses.sort_by_key(|found| found.span);
    uses.dedup_by_key(|found| found.span);
    uses
}

struct Resolver<'i> {
    index: &'i Index,
    noted: &'i Noted,
}

impl Resolver<'_> {
    fn text(&self, span: Span) -> &str {
        self.index.sources.slice(span)
    }

    fn target(&self, span: Span, referent: &Referent) -> Option<Target> {
        Some(Target::Declared(match referent {
            Referent::At(declared) => *declared,
            Referent::Nominal(nominal) => self.nominal(nominal)?.name_at,
            Referent::Case(nominal, at) | Referent::Field(nominal, at) => {
                self.nominal(nominal)?.members.get(*at)?.name_at
            }
            Referent::Parameter(id) => {
                let name = self.text(span).trim_start_matches('?');
                *self.noted.parameters.get(&(*id, Arc::from(name)))?
            }
            Referent::RecordField => return None,
            Referent::Prim(_) => return Some(Target::BuiltIn),
            Referent::Named => match self.named(span) {
                Some(declaration) => declaration.name_at,
                None => return Some(Target::BuiltIn),
            },
        }))
    }

    /// The declaration of a declared type.
    fn nominal(&self, nominal: &Nominal) -> Option<&Declaration> {
        match self.noted.nominals.get(&nominal.id) {
            Some(span) => self.index.declaration(*span),
            None => library_type(&nominal.name),
        }
    }

    /// The type, kind or member that a name stands for where it is written.
    fn named(&self, span: Span) -> Option<&Declaration> {
        let name = self.text(span);
        if let Some((module, own)) = name.split_once("::") {
            let import = self.imports_of(span.source).find(|import| *import.module_name().text == *module)?;
            return self.type_in(self.target_of(import)?, own);
        }
        if let Some(own) = self.type_in(span.source, name) {
            return Some(own);
        }
        let imported = self.imports_of(span.source).filter(|import| match &import.names {
            ImportNames::Qualified => false,
            ImportNames::Listed(names) => names.iter().any(|listed| *listed.text == *name),
            ImportNames::All { .. } => true,
        });
        let mut imported = imported.filter_map(|import| self.type_in(self.target_of(import)?, name));
        imported.next().or_else(|| library_type(name))
    }

    fn type_in(&self, source: SourceId, name: &str) -> Option<&Declaration> {
        type_among(self.index.outline_of(source), name)
    }

    fn imports_of(&self, source: SourceId) -> impl Iterator<Item = &Import> {
        self.noted.imports.iter().filter(move |import| import.target.span().source == source)
    }

    fn target_of(&self, import: &Import) -> Option<SourceId> {
        self.noted.targets.get(&import.target.span()).copied()
    }

    /// What the name of a module stands for.
    fn module(&self, source: SourceId, name: &str) -> Option<Target> {
        let import = self.imports_of(source).find(|import| *import.module_name().text == *name)?;
        match &import.alias {
            Some(alias) => Some(Target::Declared(alias.span)),
            None => self.target_of(import).map(Target::Module),
        }
    }

    /// Adds a use, if its text is that of a name; of a qualified name both parts.
    fn add(&self, span: Span, target: Target, uses: &mut Vec<Use>) {
        let text = self.text(span);
        let size = text.starts_with('?');
        let span = if size { Span { start: span.start + 1, ..span } } else { span };
        let text = text.strip_prefix('?').unwrap_or(text);
        if let Some((module, own)) = text.split_once("::") {
            let cut = span.start + module.len() as u32;
            if let Some(target) = self.module(span.source, module) {
                uses.push(Use { span: Span { end: cut, ..span }, target });
            }
            let span = Span { start: span.end - own.len() as u32, ..span };
            return self.add_simple(span, target, uses);
        }
        self.add_simple(span, target, uses);
    }

    fn add_simple(&self, span: Span, target: Target, uses: &mut Vec<Use>) {
        let text = self.text(span);
        let fits = match target {
            // What the checker makes of other forms stands where no name is.
            Target::Declared(declared) => text == self.text(declared) && !text.is_empty(),
            _ => syntax::is_name(text),
        };
        if fits {
            uses.push(Use { span, target });
        }
    }

    /// The names in an import: of the module, and of what is brought from it.
    fn import(&self, import: &Import, uses: &mut Vec<Use>) {
        let Some(source) = self.target_of(import) else { return };
        uses.push(Use { span: import.target.span(), target: Target::Module(source) });
        if let Some(alias) = &import.alias {
            uses.push(Use { span: alias.span, target: Target::Declared(alias.span) });
        }
        if let ImportNames::Listed(names) = &import.names {
            for name in names {
                let mut found = None;
                for declaration in self.index.outline_of(source) {
                    declaration.each(&mut |inner| {
                        use DeclarationKind as K;
                        let apart = matches!(inner.kind, K::Field | K::Instance | K::Import | K::Test);
                        let fits = inner.name == *name.text && !apart;
                        if fits && found.is_none() {
                            found = Some(inner.name_at);
                        }
                    });
                }
                if let Some(declared) = found {
                    self.add_simple(name.span, Target::Declared(declared), uses);
                }
            }
        }
    }
}

impl Index {
    /// What a text declares; nothing, if it is not one of those that have been read.
    pub fn outline_of(&self, source: SourceId) -> &[Declaration] {
        match self.outlines.get(&source) {
            Some(outline) => outline,
            None => library_outline(source),
        }
    }

    /// The declaration whose name stands here.
    pub fn declaration(&self, name_at: Span) -> Option<&Declaration> {
        let mut found = None;
        for declaration in self.outline_of(name_at.source) {
            if declaration.span.start <= name_at.start && name_at.end <= declaration.span.end {
                declaration.each(&mut |inner| {
                    if inner.name_at == name_at {
                        found = Some(inner);
                    }
                });
            }
        }
        found
    }
}

/// What a text of the library declares; read when first asked for.
fn library_outline(source: SourceId) -> &'static [Declaration] {
    static OUTLINES: OnceLock<Vec<OnceLock<Vec<Declaration>>>> = OnceLock::new();
    let outlines = OUTLINES.get_or_init(|| library::sources().iter().map(|_| OnceLock::new()).collect());
    match (outlines.get(source.0 as usize), library::sources().get(source)) {
        (Some(outline), Some(text)) => outline.get_or_init(|| super::outline::outline(text)),
        _ => &[],
    }
}

/// The library's type, kind or member of this name.
fn library_type(name: &str) -> Option<&'static Declaration> {
    let homes = library::index().homes(name);
    homes.into_iter().find_map(|source| type_among(library_outline(source), name))
}

fn type_among<'d>(outline: &'d [Declaration], name: &str) -> Option<&'d Declaration> {
    use DeclarationKind as K;
    let types = |kind| matches!(kind, K::Type | K::TypeFunction | K::Struct | K::Variant | K::Kind);
    outline.iter().find_map(|declaration| {
        if declaration.name == name && types(declaration.kind) {
            return Some(declaration);
        }
        let members = declaration.members.iter().filter(|_| declaration.kind == K::Kind);
        members.into_iter().find(|member| member.name == name)
    })
}
