//! Resolution of the checker's notes to [`Use`]s.
//!
//! Takes notes, declarations and imports; gives uses. The note of a variable, function or parameter
//! holds the span of its declaration. Declared types have no span in the checker: they are looked
//! up by number, and those without a number by name. The order of the search by name is that of the
//! checker: the declarations of the text, then those of its imports, then those of the library.

use super::index::{Index, Target, Use};
use crate::session::outline::{Declaration, DeclarationKind};
use crate::session::{Referent, library};
use felis_base::hash::HashMap;
use felis_base::source::{SourceId, Span};
use felis_calculus::types::Nominal;
use felis_syntax::syntax;
use felis_syntax::syntax::ast::{Import, ImportNames, Stmt, StmtKind};
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

/// The notes of the checker that are to be resolved.
pub(super) struct CheckerNotes {
    /// The names with their referents.
    pub uses: Vec<(Span, Referent)>,
    /// The places of the declarations of declared types, by the number of the type.
    pub nominals: HashMap<u32, Span>,
    /// The places of the declarations of type parameters and sizes, by number and name.
    pub parameters: HashMap<(u32, Arc<str>), Span>,
    /// The imports of all texts.
    pub imports: Vec<Import>,
    /// The imported texts, by the places of the imports' targets.
    pub targets: HashMap<Span, SourceId>,
}

/// Collects the imports among statements.
pub(super) fn collect_imports(stmts: &[Stmt], out: &mut Vec<Import>) {
    out.extend(stmts.iter().filter_map(|stmt| match &stmt.kind {
        StmtKind::Import(import) => Some(import.clone()),
        _ => None,
    }));
}

/// Returns the uses of names that have a target, in order.
pub(super) fn resolve_uses(index: &Index, noted: CheckerNotes) -> Vec<Use> {
    let mut found: BTreeMap<Span, Target> = BTreeMap::new();
    let types = index.outlines.iter().map(|(source, outline)| (*source, types_by_name(outline))).collect();
    let resolver = Resolver { index, noted: &noted, types };
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
            declaration.for_each(&mut |declaration| {
                use DeclarationKind as K;
                // The name of an instance is a use of its class; the names in it are uses of
                // methods.
                if !matches!(declaration.kind, K::Instance | K::Import | K::Test) {
                    let at = declaration.name_span;
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
        resolver.add_import_uses(import, &mut uses);
    }
    uses.sort_by_key(|found| found.span);
    uses.dedup_by_key(|found| found.span);
    uses
}

/// A resolver of the checker's notes into uses.
struct Resolver<'i> {
    /// The index.
    index: &'i Index,
    /// The notes.
    noted: &'i CheckerNotes,
    /// The types, kinds and members of the texts that were read, by name.
    types: HashMap<SourceId, HashMap<&'i str, &'i Declaration>>,
}

impl Resolver<'_> {
    /// Returns the text of a span.
    fn text(&self, span: Span) -> &str {
        self.index.sources.slice(span)
    }

    /// Returns the target of a name with this referent; `None` if it has no declaration.
    fn target(&self, span: Span, referent: &Referent) -> Option<Target> {
        Some(Target::Declared(match referent {
            Referent::At(declared) => *declared,
            Referent::Nominal(nominal) => self.nominal_declaration(nominal)?.name_span,
            Referent::Case(nominal, at) | Referent::Field(nominal, at) => {
                self.nominal_declaration(nominal)?.members.get(*at)?.name_span
            }
            Referent::Parameter(id) => {
                let name = self.text(span).trim_start_matches('?');
                *self.noted.parameters.get(&(*id, Arc::from(name)))?
            }
            Referent::RecordField => return None,
            Referent::Prim(_) => return Some(Target::BuiltIn),
            Referent::Named => match self.declaration_named(span) {
                Some(declaration) => declaration.name_span,
                None => return Some(Target::BuiltIn),
            },
        }))
    }

    /// Returns the declaration of a declared type.
    fn nominal_declaration(&self, nominal: &Nominal) -> Option<&Declaration> {
        match self.noted.nominals.get(&nominal.id) {
            Some(span) => self.index.declaration(*span),
            None => library_type_declaration(&nominal.name),
        }
    }

    /// Returns the type, kind or member that a name refers to where it is written.
    fn declaration_named(&self, span: Span) -> Option<&Declaration> {
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
        imported.next().or_else(|| library_type_declaration(name))
    }

    /// Returns the type of this name that a text declares.
    fn type_in(&self, source: SourceId, name: &str) -> Option<&Declaration> {
        match self.types.get(&source) {
            Some(types) => types.get(name).copied(),
            None => library_type(source, name),
        }
    }

    /// Returns the imports of a text.
    fn imports_of(&self, source: SourceId) -> impl Iterator<Item = &Import> {
        self.noted.imports.iter().filter(move |import| import.target.span().source == source)
    }

    /// Returns the text that an import refers to.
    fn target_of(&self, import: &Import) -> Option<SourceId> {
        self.noted.targets.get(&import.target.span()).copied()
    }

    /// Returns the referent of the name of a module.
    fn module(&self, source: SourceId, name: &str) -> Option<Target> {
        let import = self.imports_of(source).find(|import| *import.module_name().text == *name)?;
        match &import.alias {
            Some(alias) => Some(Target::Declared(alias.span)),
            None => self.target_of(import).map(Target::Module),
        }
    }

    /// Adds a use, if the text at the place is the name of the target; for a qualified name both
    /// parts.
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

    /// Adds a use, if the text at the place is the name of the target.
    fn add_simple(&self, span: Span, target: Target, uses: &mut Vec<Use>) {
        let text = self.text(span);
        let fits = match target {
            // Notes on expansions of the checker have places without a name.
            Target::Declared(declared) => text == self.text(declared) && !text.is_empty(),
            _ => syntax::is_name(text),
        };
        if fits {
            uses.push(Use { span, target });
        }
    }

    /// Adds the names in an import: that of the module, and those brought from it.
    fn add_import_uses(&self, import: &Import, uses: &mut Vec<Use>) {
        let Some(source) = self.target_of(import) else { return };
        uses.push(Use { span: import.target.span(), target: Target::Module(source) });
        if let Some(alias) = &import.alias {
            uses.push(Use { span: alias.span, target: Target::Declared(alias.span) });
        }
        if let ImportNames::Listed(names) = &import.names {
            for name in names {
                let mut found = None;
                for declaration in self.index.outline_of(source) {
                    declaration.for_each(&mut |inner| {
                        use DeclarationKind as K;
                        let apart = matches!(inner.kind, K::Field | K::Instance | K::Import | K::Test);
                        let fits = inner.name == *name.text && !apart;
                        if fits && found.is_none() {
                            found = Some(inner.name_span);
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
    /// Returns the declarations of a text; none if the text was not read.
    pub fn outline_of(&self, source: SourceId) -> &[Declaration] {
        match self.outlines.get(&source) {
            Some(outline) => outline,
            None => library_outline(source),
        }
    }

    /// Returns the declaration with this name span.
    pub fn declaration(&self, name_span: Span) -> Option<&Declaration> {
        // Those of one statement have one span, and statements stand one after the other.
        let outline = self.outline_of(name_span.source);
        let after = outline.partition_point(|declaration| declaration.span.start <= name_span.start);
        let around = outline[..after].iter().rev();
        let mut around = around.take_while(|declaration| name_span.end <= declaration.span.end);
        around.find_map(|declaration| {
            let mut found = None;
            declaration.for_each(&mut |inner| {
                if inner.name_span == name_span {
                    found = Some(inner);
                }
            });
            found
        })
    }
}

/// The declarations of a text of the library.
struct LibraryOutline {
    declarations: Vec<Declaration>,
    types: OnceLock<HashMap<&'static str, &'static Declaration>>,
}

/// Returns the outline of a text of the library, which is parsed at the first call.
fn library_text(source: SourceId) -> Option<&'static LibraryOutline> {
    static OUTLINES: OnceLock<Vec<OnceLock<LibraryOutline>>> = OnceLock::new();
    let outlines = OUTLINES.get_or_init(|| library::sources().iter().map(|_| OnceLock::new()).collect());
    let (outline, text) = (outlines.get(source.0 as usize)?, library::sources().get(source)?);
    let parsed =
        || LibraryOutline { declarations: crate::session::outline::outline(text), types: OnceLock::new() };
    Some(outline.get_or_init(parsed))
}

/// Returns the declarations of a text of the library.
fn library_outline(source: SourceId) -> &'static [Declaration] {
    library_text(source).map_or(&[], |outline| &outline.declarations)
}

/// Returns the type, kind or member of this name that a text of the library declares.
fn library_type(source: SourceId, name: &str) -> Option<&'static Declaration> {
    let outline = library_text(source)?;
    outline.types.get_or_init(|| types_by_name(&outline.declarations)).get(name).copied()
}

/// Returns the library's type, kind or member of this name.
fn library_type_declaration(name: &str) -> Option<&'static Declaration> {
    let homes = library::texts_defining(name);
    homes.into_iter().find_map(|source| library_type(source, name))
}

/// Returns the types, kinds and members that declarations declare, by name; of several the first.
fn types_by_name(outline: &[Declaration]) -> HashMap<&str, &Declaration> {
    use DeclarationKind as K;
    let mut types = HashMap::default();
    for declaration in outline {
        if let K::Type | K::TypeFunction | K::Struct | K::Variant | K::Kind = declaration.kind {
            types.entry(declaration.name.as_str()).or_insert(declaration);
        }
        for member in declaration.members.iter().filter(|_| declaration.kind == K::Kind) {
            types.entry(member.name.as_str()).or_insert(member);
        }
    }
    types
}
