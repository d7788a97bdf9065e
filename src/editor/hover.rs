//! Hovers: the information about the position under the pointer.

use super::checked::{Edited, index_and_ask_edited};
use super::describe::{Hover, file_name, type_facts};
use super::index::{Index, Target, Use};
use super::repair::{PLACEHOLDER, repair_attempts};
use super::tokens::{TokenClass, tokens};
use crate::session::{Overload, Session, primitive};
use felis_base::diagnostic::Diagnostic;
use felis_base::source::Span;
use felis_calculus::types::TypeKind;

/// Returns the hover at a byte of a text. In a text with errors, a broken statement is completed at
/// the end of the line and parsed again.
pub fn hover(session: &mut Session, edited: Edited<'_>, index: &Index, at: usize) -> Option<Hover> {
    let draft = edited.draft;
    if let Some(hover) = index.hover(at) {
        return Some(hover);
    }
    // In a text without errors, this position has no hover.
    if !index.diagnostics.iter().any(Diagnostic::is_error) || !draft.text.is_char_boundary(at) {
        return None;
    }
    let end = at + draft.text[at..].find('\n').unwrap_or(draft.text.len() - at);
    for text in
        repair_attempts(draft.text, end, "").into_iter().chain(repair_attempts(draft.text, end, PLACEHOLDER))
    {
        let attempt = edited.with_text(&text);
        let (index, _) = index_and_ask_edited(session, attempt, at, None, |_, _| ());
        let found = index.hover(at);
        if let Some(mut hover) = found.filter(|hover| hover.span.end as usize <= end) {
            hover.span = Span { source: index.root, ..hover.span };
            return Some(hover);
        }
    }
    None
}

impl Index {
    /// Returns the hover at a byte of the text.
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
        Some(Hover { span, code: format!(": {ty}"), facts: type_facts(ty), doc: None })
    }

    /// Returns the hover of a name.
    fn hover_of_use(&self, found: Use) -> Option<Hover> {
        let span = found.span;
        let here = || self.type_at(span.start as usize).filter(|(of, _)| *of == span).map(|(_, ty)| ty);
        match found.target {
            Target::BuiltIn => {
                let name = self.sources.slice(span);
                if let Some(primitive) = primitive(name) {
                    let Overload { signature, doc, .. } = primitive;
                    return Some(Hover { span, code: signature, facts: Vec::new(), doc });
                }
                let ty = here()?;
                Some(Hover { span, code: ty.to_string(), facts: type_facts(ty), doc: None })
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
                    // The name of a value or a type is shown with kind and size.
                    if let Some(ty) = self.variables.get(&declared).or_else(here)
                        && !ty.is_error()
                        && !matches!(ty.kind(), TypeKind::Function(..) | TypeKind::Procedure(_))
                    {
                        facts = type_facts(ty);
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
                (!ty.is_error()).then(|| Hover { span, code, facts: type_facts(ty), doc: None })
            }
        }
    }
}
