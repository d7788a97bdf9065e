//! Names without a definition, and qualified names: the reports, and the similar names that they
//! suggest.

use crate::check::context::Checker;
use crate::check::env::{Env, Module};
use crate::check::error::module::Respelled;
use crate::check::error::{CallError, ModuleError, TypeError};
use crate::core::{Term, TermKind};
use crate::source::Span;
use crate::suggest::similar;
use crate::syntax::ast;
use crate::syntax::ast::Name;
use crate::types::Type;

impl Checker<'_> {
    /// Reports a qualified name that has no definition here. Returns false if the module exports
    /// the name as something else.
    pub(super) fn report_unknown_in_module(&mut self, name: &Name) -> bool {
        let Some((module_name, own)) = name.qualified() else { return false };
        match self.env.modules.get(module_name).cloned() {
            Some(module) if module.exports(own) => return false,
            Some(module) => self.report_not_in_module(name, module_name, &module, own),
            None => {
                // The file may be imported under another name.
                let file = format!("{module_name}.flx");
                let of_file = |module: &Module| module.file.rsplit('/').next() == Some(&file);
                let renamed = self.env.modules.iter().filter(|(_, module)| of_file(module));
                let renamed = renamed.map(|(name, _)| name.to_string()).min();
                let similar = renamed.or_else(|| similar(module_name, self.env.modules.keys().map(|k| &**k)));
                let part = self.env.parts.contains(&module_name);
                let (span, module) = (name.span, module_name.to_string());
                self.report(ModuleError::UnknownModule { span, module, similar, part });
            }
        }
        true
    }

    /// Reports a name that a module does not have or does not export. The place `at` ends with the
    /// name.
    pub(in crate::check) fn report_not_in_module(
        &mut self,
        at: &Name,
        module_name: &str,
        module: &Module,
        name: &str,
    ) {
        let span = at.span;
        let (name_text, file) = (name.to_string(), module.file.clone());
        if let Some(chunk) = module.definitions(name).next() {
            let declared = chunk.word_at;
            self.report(ModuleError::Private { span, name: name_text, file, declared });
            return;
        }
        let own = Span { start: span.end.saturating_sub(name.len() as u32), ..span };
        let similar = similar(name, module.names()).map(|text| Respelled { span: own, text });
        let module = module_name.to_string();
        self.report(ModuleError::NotInModule { span, module, name: name_text, file, similar });
    }

    /// Reports that a name is that of a module, and returns true, if it is.
    pub(super) fn is_module(&mut self, name: &Name) -> bool {
        let Some(module) = self.env.modules.get(&name.text) else { return false };
        // Names that begin with `_` are private to the library.
        let example = module.names().find(|name| !name.starts_with('_')).map(str::to_string);
        self.report(ModuleError::NoValue { span: name.span, module: name.text.to_string(), example });
        true
    }

    /// Reports that a name is not defined, and returns an error term.
    pub(super) fn report_unknown_name(&mut self, name: &ast::Name) -> Term {
        if self.lookup_local(&name.text).is_some() || self.global(&name.text).is_some() {
            let error = TypeError::ValueWithTypeArguments { span: name.span, name: name.text.to_string() };
            return self.error_term(error, name.span);
        }
        if self.report_unknown_in_module(name) || self.is_module(name) {
            return Term::new(TermKind::Error, Type::error(), name.span);
        }
        if let Some(frame) = self.item.frames.iter().rev().find(|frame| frame.name == name.text) {
            let (span, name, declared) = (name.span, name.text.to_string(), frame.header);
            return self.error_term(CallError::RecursiveUntyped { span, name, declared }, span);
        }
        let is_type = self.type_definition(&name.text).is_some();
        let similar = if is_type { None } else { self.similar_name(&name.text) };
        let error = CallError::UnknownName { span: name.span, name: name.text.to_string(), similar, is_type };
        self.error_term(error, name.span)
    }

    /// Returns a known name that is similar to this one.
    pub(super) fn similar_name(&mut self, name: &str) -> Option<String> {
        // With many reports, the unknown names have one common cause, which a suggestion does not
        // show.
        let similar = (self.reports.len() < MAX_REPORTS_WITH_SUGGESTIONS)
            .then(|| similar(name, self.known_names().iter().map(String::as_str)))
            .flatten();
        self.env.qualified_export(name).or(similar)
    }
}

/// Returns the place of the word that begins a statement.
pub(super) fn first_word_span(stmt: Span, word: &str) -> Span {
    Span { end: stmt.start + word.len() as u32, ..stmt }
}

/// The number of messages of an input after which unknown names get no suggestions.
const MAX_REPORTS_WITH_SUGGESTIONS: usize = 50;

impl Env {
    /// Returns the qualified name under which an imported module exports this name.
    pub(super) fn qualified_export(&self, name: &str) -> Option<String> {
        let found = self.modules.iter().filter(|(_, module)| module.exports(name));
        found.map(|(module, _)| format!("{module}::{name}")).min()
    }
}
