//! Names that stand for nothing, and qualified names: what is reported, and which names are near.

use crate::check::context::Checker;
use crate::check::env::Env;
use crate::check::error::module::Respelled;
use crate::check::error::{CallError, ModuleError, TypeError};
use crate::check::items::module::Module;
use crate::core::{Term, TermKind};
use crate::source::Span;
use crate::suggest::similar;
use crate::syntax::ast;
use crate::syntax::ast::Name;
use crate::types::Type;

impl Checker<'_> {
    /// Says what is wrong with a qualified name that stands for nothing here; false if the module
    /// has it, though as something else.
    pub(super) fn unknown_in_module(&mut self, name: &Name) -> bool {
        let Some((module_name, own)) = name.qualified() else { return false };
        match self.env.modules.get(module_name).cloned() {
            Some(module) if module.shows(own) => return false,
            Some(module) => self.not_in_module(name, module_name, &module, own),
            None => {
                // Perhaps the file is there under another name.
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

    /// A name that a module does not have, or does not show; `at` ends with it.
    pub(in crate::check) fn not_in_module(
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

    /// Says that a name is that of a module, if it is.
    pub(super) fn is_module(&mut self, name: &Name) -> bool {
        let Some(module) = self.env.modules.get(&name.text) else { return false };
        let example = module.names().next().map(str::to_string);
        self.report(ModuleError::NoValue { span: name.span, module: name.text.to_string(), example });
        true
    }

    /// Says that a name is not defined.
    pub(super) fn unknown(&mut self, name: &ast::Name) -> Term {
        if self.lookup_local(&name.text).is_some() || self.global(&name.text).is_some() {
            let error = TypeError::ValueWithTypeArguments { span: name.span, name: name.text.to_string() };
            return self.wrong(error, name.span);
        }
        if self.unknown_in_module(name) || self.is_module(name) {
            return Term::new(TermKind::Error, Type::error(), name.span);
        }
        if let Some(frame) = self.item.frames.iter().rev().find(|frame| frame.name == name.text) {
            let (span, name, declared) = (name.span, name.text.to_string(), frame.header);
            return self.wrong(CallError::RecursiveUntyped { span, name, declared }, span);
        }
        let similar = self.similar_name(&name.text);
        let error = CallError::UnknownName { span: name.span, name: name.text.to_string(), similar };
        self.wrong(error, name.span)
    }

    /// A known name that one may stand for.
    pub(super) fn similar_name(&mut self, name: &str) -> Option<String> {
        // Whoever has so many to mend has one cause for them.
        let similar = (self.reports.len() < MAX_REPORTS_WITH_SUGGESTIONS)
            .then(|| similar(name, self.known_names().iter().map(String::as_str)))
            .flatten();
        self.env.elsewhere(name).or(similar)
    }
}

/// The place of the word that begins a statement.
pub(super) fn word(stmt: Span, word: &str) -> Span {
    Span { end: stmt.start + word.len() as u32, ..stmt }
}

/// Messages of an input after which unknown names are compared with those that are known no more.
const MAX_REPORTS_WITH_SUGGESTIONS: usize = 50;

impl Env {
    /// Under which qualified name an imported module has this.
    pub(super) fn elsewhere(&self, name: &str) -> Option<String> {
        let found = self.modules.iter().filter(|(_, module)| module.shows(name));
        found.map(|(module, _)| format!("{module}::{name}")).min()
    }
}
