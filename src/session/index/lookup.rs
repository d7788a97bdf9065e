//! Questions to an index: what stands at a place, and what is inferred.
//!
//! Takes places of texts as bytes; gives declarations, uses, types in words. Knows nothing of any
//! protocol, and checks nothing.

use super::{Declaration, DeclarationKind, Index, Target, Use};
use crate::core::Prim;
use crate::session::tokens::{TokenClass, tokens};
use crate::source::{SourceId, Span};
use crate::types::{Kind, Type, TypeKind};
use std::sync::Arc;

/// What can be told about a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hover {
    /// What it is told about.
    pub span: Span,
    /// In the words of a declaration.
    pub code: String,
    /// Kind, size and the like, each in a few words.
    pub facts: Vec<String>,
    /// What its doc comment says.
    pub doc: Option<Arc<str>>,
}

/// A type that is not written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hint {
    /// After which byte of the text it would stand.
    pub at: usize,
    /// The type.
    pub ty: String,
}

/// What a name is, for colors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameClass {
    /// A variable that may change.
    Variable,
    /// Any other variable.
    Value,
    /// A function or procedure.
    Function,
    /// A type.
    Type,
    /// A struct.
    Struct,
    /// A type parameter, or a size that has been named.
    TypeParameter,
    /// A case of a variant, or a member of a kind.
    Case,
    /// A field.
    Field,
    /// A class, or a kind.
    Class,
    /// A method of a class.
    Method,
    /// A module.
    Module,
}

/// Longer declarations are cut where they are shown.
const MAX_DECLARATION_LINES: usize = 16;

impl Index {
    /// The text itself.
    pub fn text(&self) -> &str {
        self.sources.get(self.root).map_or("", |source| &source.text)
    }

    /// The name at a byte of the text, its end included.
    pub fn use_at(&self, at: usize) -> Option<Use> {
        let own = self.uses_of(self.root);
        let touching =
            own.iter().filter(|found| found.span.start as usize <= at && at <= found.span.end as usize);
        // Between two names, the one that begins there.
        touching.max_by_key(|found| found.span).copied()
    }

    /// The names of a text, in order.
    pub fn uses_of(&self, source: SourceId) -> &[Use] {
        let from = self.uses.partition_point(|found| found.span.source < source);
        let to = self.uses.partition_point(|found| found.span.source <= source);
        &self.uses[from..to]
    }

    /// Where something is named, in all texts; where it is declared, too.
    pub fn uses_for(&self, target: Target) -> impl Iterator<Item = Span> {
        self.uses.iter().filter(move |found| found.target == target).map(|found| found.span)
    }

    /// The innermost expression or type at a byte of the text, with its type.
    pub fn type_at(&self, at: usize) -> Option<(Span, &Type)> {
        let from = self.types.partition_point(|(span, _)| span.source < self.root);
        let own = self.types[from..].iter().take_while(|(span, _)| span.source == self.root);
        let around =
            own.filter(|(span, ty)| span.start as usize <= at && at <= span.end as usize && !ty.is_error());
        let mut best: Option<(Span, &Type)> = None;
        for (span, ty) in around {
            let length = |span: Span| span.end - span.start;
            if best.is_none_or(|(known, _)| length(*span) <= length(known)) {
                best = Some((*span, ty));
            }
        }
        best
    }

    /// The type of the expression that ends at a byte of the text, parentheses around it left out.
    pub(super) fn type_before(&self, end: usize) -> Option<&Type> {
        let text = self.text();
        let own = self.types.iter().filter(|(span, ty)| span.source == self.root && !ty.is_error());
        let ends = own.filter(|(span, _)| {
            let between = text.get(span.end as usize..end);
            between.is_some_and(|between| between.chars().all(|c| c == ')' || c.is_whitespace()))
        });
        let widest = ends.max_by_key(|(span, _)| (span.end, std::cmp::Reverse(span.start)));
        widest.map(|(_, ty)| ty)
    }

    /// What can be told about a byte of the text.
    pub fn hover(&self, at: usize) -> Option<Hover> {
        if let Some(found) = self.use_at(at)
            && let Some(hover) = self.hover_of_use(found)
        {
            return Some(hover);
        }
        let inside = |class| matches!(class, TokenClass::Comment);
        if tokens(self.text()).iter().any(|(range, class)| range.contains(&at) && inside(*class)) {
            return None;
        }
        if let Some(hover) = self.operator_at(at) {
            return Some(hover);
        }
        let (span, ty) = self.type_at(at)?;
        Some(Hover { span, code: format!(": {ty}"), facts: facts(ty), doc: None })
    }

    fn hover_of_use(&self, found: Use) -> Option<Hover> {
        let span = found.span;
        let here = || self.type_at(span.start as usize).filter(|(of, _)| *of == span).map(|(_, ty)| ty);
        match found.target {
            Target::BuiltIn => {
                let name = self.sources.slice(span);
                if let Some(prim) = Prim::ALL.iter().find(|prim| prim.name() == name) {
                    let code = prim.declaration();
                    return Some(Hover { span, code, facts: Vec::new(), doc: Some(prim.doc().into()) });
                }
                let ty = here()?;
                Some(Hover { span, code: ty.to_string(), facts: facts(ty), doc: None })
            }
            Target::Module(source) => {
                let text = self.sources.get(source)?;
                let first = text
                    .text
                    .lines()
                    .map(str::trim)
                    .take_while(|line| line.starts_with("//") && !line.starts_with("///"));
                let about: Vec<&str> = first.map(|line| line.trim_start_matches('/').trim()).collect();
                let doc = (!about.is_empty()).then(|| about.join("\n").into());
                let code = format!("import {}", file_name(&text.name));
                Some(Hover { span, code, facts: Vec::new(), doc })
            }
            Target::Declared(declared) => {
                let name = self.sources.slice(declared);
                if let Some(declaration) = self.declaration(declared) {
                    let mut facts = Vec::new();
                    // Where a value or a type is named, its kind and size are of interest.
                    if let Some(ty) = self.variables.get(&declared).or_else(here)
                        && !ty.is_error()
                        && !matches!(ty.kind(), TypeKind::Function(..) | TypeKind::Procedure(_))
                    {
                        facts = self::facts(ty);
                    }
                    facts.extend(self.origin_fact(declared));
                    let (code, doc) = (self.declaration_text(declaration), declaration.doc.clone());
                    return Some(Hover { span, code, facts, doc });
                }
                if let Some(kind) = self.kinds.get(&declared) {
                    let code = format!("{name} : {kind}");
                    return Some(Hover { span, code, facts: vec!["a type parameter".into()], doc: None });
                }
                let ty = self.variables.get(&declared)?;
                let code = format!("{name} : {ty}");
                (!ty.is_error()).then(|| Hover { span, code, facts: self::facts(ty), doc: None })
            }
        }
    }

    /// A declaration as its users are shown it.
    pub(super) fn declaration_text(&self, declaration: &Declaration) -> String {
        use DeclarationKind as K;
        let head = self.sources.slice(declaration.head).trim();
        match declaration.kind {
            K::Value | K::Variable => {
                let word = if declaration.kind == K::Value { "val" } else { "var" };
                match self.variables.get(&declaration.name_span) {
                    Some(ty) => format!("{word} {} : {ty}", declaration.name),
                    None => format!("{word} {head}"),
                }
            }
            K::Function | K::Procedure => {
                let head = head.trim_end_matches(['{', ' ']).trim_end_matches("=>").trim_end();
                match self.inferred_result(declaration) {
                    Some(result) if !declaration.typed => format!("{head} : {result}"),
                    _ => head.to_string(),
                }
            }
            K::Case | K::Field | K::Member => head.trim_end_matches(';').to_string(),
            K::Method if !head.starts_with("fun") => format!("fun {head}"),
            K::Law => format!("law {head}"),
            _ => {
                let mut lines = head.lines();
                let mut text = lines.by_ref().take(MAX_DECLARATION_LINES).collect::<Vec<_>>().join("\n");
                if lines.next().is_some() {
                    text.push_str("\n…");
                }
                text
            }
        }
    }

    /// The type of what is declared, where it has one that is worth a word.
    pub fn type_of_declaration(&self, declaration: &Declaration) -> Option<String> {
        if let Some(ty) = self.variables.get(&declaration.name_span) {
            return (!ty.is_error()).then(|| ty.to_string());
        }
        let scheme = self.signatures.get(&declaration.name_span)?;
        let ty = scheme.ty();
        (!ty.is_error()).then(|| ty.to_string())
    }

    /// What a function gives.
    fn inferred_result(&self, declaration: &Declaration) -> Option<Type> {
        let mut result = self.signatures.get(&declaration.name_span)?.result.clone()?;
        for _ in 1..declaration.params.len() {
            result = match result.kind() {
                TypeKind::Function(_, result) => result.clone(),
                _ => return None,
            };
        }
        (!result.is_error()).then_some(result)
    }

    /// Where something is declared that is not of this text, or what it is a part of.
    pub(super) fn origin_fact(&self, declared: Span) -> Option<String> {
        let whole = self
            .outline_of(declared.source)
            .iter()
            .find(|whole| whole.members.iter().any(|member| member.name_span == declared));
        if let Some(whole) = whole {
            let what = match whole.kind {
                DeclarationKind::Variant => "a case of",
                DeclarationKind::Struct => "a field of",
                DeclarationKind::Kind => "a member of",
                _ => "a method of",
            };
            return Some(format!("{what} `{}`", whole.name));
        }
        let source = self.sources.get(declared.source)?;
        (declared.source != self.root).then(|| {
            let file = if self.is_library(declared.source) { &source.name } else { file_name(&source.name) };
            format!("from `{file}`")
        })
    }

    /// Types that are inferred and not written: of variables, and of what functions give.
    pub fn type_hints(&self) -> Vec<Hint> {
        let text = self.text();
        let mut hints = Vec::new();
        for (span, ty) in self.variables.iter().filter(|(span, _)| span.source == self.root) {
            let after = text.get(span.end as usize..).unwrap_or("").trim_start();
            // Before a colon the type is written, and the values of a loop are told by what it walks.
            let bound = after.starts_with(['=', ',', ')', '|']) || after.starts_with("\\,");
            let named = self.sources.slice(*span).starts_with(|c: char| c.is_alphabetic() || c == '_');
            if bound && named && !ty.is_error() && !after.starts_with("==") && !self.has_written_type(*span) {
                hints.push(Hint { at: span.end as usize, ty: ty.to_string() });
            }
        }
        for declaration in self.declarations() {
            if matches!(declaration.kind, DeclarationKind::Function)
                && !declaration.typed
                && let Some(result) = self.inferred_result(declaration)
                && let Some(last) = declaration.params.iter().flatten().last()
                && let Some(close) = text.get(last.end as usize..).and_then(|rest| rest.find(')'))
            {
                hints.push(Hint { at: last.end as usize + close + 1, ty: result.to_string() });
            }
        }
        hints.sort_by_key(|hint| hint.at);
        hints
    }

    /// Whether a name is bound by a pattern whose type is written behind it as a whole.
    fn has_written_type(&self, span: Span) -> bool {
        self.declarations().iter().any(|declaration| declaration.typed && declaration.name_span == span)
    }

    /// What a name is.
    pub fn class_of(&self, found: Use) -> NameClass {
        use DeclarationKind as K;
        let declared = match found.target {
            Target::Module(_) => return NameClass::Module,
            Target::BuiltIn => {
                let name = self.sources.slice(found.span);
                let prim = Prim::ALL.iter().any(|prim| prim.name() == name);
                let kind = Kind::named(name).is_some();
                return match (prim, kind) {
                    (true, _) => NameClass::Function,
                    (_, true) => NameClass::Class,
                    _ => NameClass::Type,
                };
            }
            Target::Declared(declared) => declared,
        };
        if self.kinds.contains_key(&declared) {
            return NameClass::TypeParameter;
        }
        match self.declaration(declared).map(|declaration| declaration.kind) {
            Some(K::Function | K::Procedure) => NameClass::Function,
            Some(K::Variable) => NameClass::Variable,
            Some(K::Type | K::TypeFunction | K::Variant) => NameClass::Type,
            Some(K::Struct) => NameClass::Struct,
            Some(K::Case | K::Member) => NameClass::Case,
            Some(K::Field) => NameClass::Field,
            Some(K::Class | K::Kind | K::Instance) => NameClass::Class,
            Some(K::Method | K::Law) => NameClass::Method,
            Some(K::Import) => NameClass::Module,
            Some(K::Value | K::Test) => NameClass::Value,
            None => match self.variables.get(&declared).map(Type::kind) {
                Some(TypeKind::Function(..) | TypeKind::Procedure(_)) => NameClass::Function,
                Some(_) => NameClass::Value,
                // The name that an import gives to a module.
                None => NameClass::Module,
            },
        }
    }
}

/// The last part of a path.
fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// What is worth knowing about values of a type.
pub(super) fn facts(ty: &Type) -> Vec<String> {
    let mut facts = Vec::new();
    if ty.kind_of() != Kind::Type {
        facts.push(format!("kind {}", ty.kind_of()));
    }
    match ty.kind() {
        TypeKind::Array(_, index) => {
            if let Ok(size) = index.size() {
                facts.push(if size == 1u32.into() { "1 element".into() } else { format!("{size} elements") });
            }
        }
        _ if ty.is_compact() => {
            if let Some(size) = crate::types::size::Size::of(ty) {
                facts.push(format!("size {size}"));
            }
        }
        _ => {}
    }
    facts
}
