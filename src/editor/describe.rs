//! Texts about declarations and types, for hovers and lists.

use super::index::Index;
use crate::session::outline::{Declaration, DeclarationKind};
use felis_base::source::Span;
use felis_calculus::types::{Kind, Type, TypeKind};
use std::sync::Arc;

/// The information about a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hover {
    /// The span that it describes.
    pub span: Span,
    /// The declaration, in the syntax of the language.
    pub code: String,
    /// Properties such as kind and size, each in a few words.
    pub facts: Vec<String>,
    /// Its doc comment.
    pub doc: Option<Arc<str>>,
}

/// The maximum number of lines of a declaration that are shown.
const MAX_DECLARATION_LINES: usize = 16;

impl Index {
    /// Returns a declaration as shown to its users.
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

    /// Returns the inferred result type of a function.
    pub(super) fn inferred_result(&self, declaration: &Declaration) -> Option<Type> {
        let mut result = self.signatures.get(&declaration.name_span)?.result.clone()?;
        for _ in 1..declaration.params.len() {
            result = match result.kind() {
                TypeKind::Function(_, result) => result.clone(),
                _ => return None,
            };
        }
        (!result.is_error()).then_some(result)
    }

    /// Returns the file of a declaration outside this text, or the declaration that it is a part
    /// of.
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
}

/// Returns the last part of a path.
pub(super) fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// Returns kind, number of elements or size of a type, as texts.
pub(super) fn type_facts(ty: &Type) -> Vec<String> {
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
            if let Some(size) = felis_calculus::types::size::Size::of(ty) {
                facts.push(format!("size {size}"));
            }
        }
        _ => {}
    }
    facts
}
