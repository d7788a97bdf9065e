//! What could be written next, and the type of what has been written.
//!
//! Takes a text that is being written; gives names that go on at the cursor, and a hint. Checks, never
//! evaluates, and leaves the session as it was.

use super::index::Draft;
use super::query::{BUILT_IN_TYPE_NAMES, function_signature};
use super::tokens::{TokenClass, tokens};
use super::{Session, library};
use crate::check::env::{Callable, Definition};
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use crate::syntax::{self, ast};
use crate::types::{Scalar, Type};
use std::collections::BTreeSet;

/// What could be written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Completions {
    /// Where the name to complete begins.
    pub start: usize,
    /// Names that could stand there.
    pub names: Vec<String>,
}

/// Longer texts have no hint: checking them would be felt.
const MAX_HINTED_BYTES: usize = 4_000;
/// The most components that are offered after a dot.
const MAX_COMPONENTS: usize = 16;

impl Session {
    /// What could be written at a place of an input: fields after a dot and then functions, types after a colon,
    /// parts of the library after `import`, else names, the nearest first. Where nothing of a name is written, only
    /// the first three are told.
    pub fn complete_at(&mut self, text: &str, at: usize) -> Completions {
        let draft = Draft { name: "input", text, id: "", before: None };
        let Some(before) = text.get(..at) else { return Completions::default() };
        let start = word_start(before);
        let asks = tokens(&before[..start])
            .last()
            .is_some_and(|(range, _)| matches!(&before[range.clone()], "." | ":" | ":>" | ":>>" | "import"));
        if start == at && !asks {
            return Completions { start, names: Vec::new() };
        }
        let (start, found) = self.candidates(draft, at);
        Completions { start, names: found.into_iter().map(|candidate| candidate.name).collect() }
    }

    /// Names of types that begin with `prefix`, sorted.
    pub fn type_names_starting_with(&self, prefix: &str) -> Vec<String> {
        let known = self.env.types.keys().map(|name| &**name).filter(|name| !name.contains("::"));
        let scalars = Scalar::ALL.iter().map(|scalar| scalar.name());
        let types =
            known.chain(library::index().types()).chain(scalars).chain(BUILT_IN_TYPE_NAMES.iter().copied());
        let fitting: BTreeSet<&str> = types.filter(|name| name.starts_with(prefix)).collect();
        fitting.into_iter().map(str::to_string).collect()
    }

    /// Names of classes that begin with `prefix`, sorted.
    pub fn class_names_starting_with(&self, prefix: &str) -> Vec<String> {
        let known = self.env.class_names.keys().map(|name| &**name);
        let fitting: BTreeSet<&str> =
            known.chain(library::index().classes()).filter(|name| name.starts_with(prefix)).collect();
        fitting.into_iter().map(str::to_string).collect()
    }

    /// What could be told beside a text that is being written: the type of its last expression or
    /// definition, the type of a function that is named or whose argument is being written.
    pub fn hint(&mut self, text: &str) -> Option<String> {
        if text.len() > MAX_HINTED_BYTES || text.contains("import") {
            return None;
        }
        self.with_temporary_sources(|session| {
            let text = text.trim().trim_end_matches(';').trim_end();
            if syntax::is_name(text) && !session.overloads(text).is_empty() {
                return session.overload_hint(text);
            }
            match session.type_being_written(text) {
                Some(hint) => Some(hint),
                None => session.overload_hint(enclosing_call(text)?),
            }
        })
    }

    /// Name and type of a function, of one with several forms the first and how many more there are.
    fn overload_hint(&mut self, name: &str) -> Option<String> {
        let overloads = self.overloads(name);
        let (first, more) = overloads.split_first()?;
        Some(match more.len() {
            0 => first.signature.clone(),
            more => format!("{}   (and {more} more)", first.signature),
        })
    }

    /// `: T` for an expression, `x : T` for a definition; nothing for what is wrong or incomplete.
    fn type_being_written(&mut self, text: &str) -> Option<String> {
        let source = self.sources.add("hint", text);
        let parsed = syntax::parse(&source);
        if parsed.errors.iter().any(Diagnostic::is_error) {
            return None;
        }
        let last = parsed.stmts.last()?;
        let defined = match &last.kind {
            ast::StmtKind::Expr(_) => None,
            _ => Some(syntax::chunks(&source).last()?.defines.first()?.clone()),
        };
        self.load_mentioned(&source).ok()?;
        self.clear_interrupt();
        let span = Span::new(source.id, 0, source.text.len());
        let hint = self.with_rollback(span, |session| {
            session.bind_shown_sizes(&source);
            let script = session.check_input(&parsed, &mut Vec::new()).map_err(|_| Vec::new())?;
            let Some(name) = defined else {
                return Ok(script.result.map(|term| format!(": {}", term.ty)));
            };
            Ok(match session.env.values.get(&name) {
                Some(Definition::Global { id, .. }) => {
                    session.program.globals.get(*id as usize).map(|global| format!("{name} : {}", global.ty))
                }
                Some(Definition::Callables(callables)) => callables.iter().find_map(|callable| {
                    let Callable::Function(id) = callable else { return None };
                    let signature = session.env.signatures.get(id)?;
                    let here = signature.span.source == source.id;
                    here.then(|| function_signature(&session.env, &name, &signature.scheme))
                }),
                None => None,
            })
        });
        hint.ok().flatten()
    }

    /// Looks at texts that are not kept.
    pub fn with_temporary_sources<T>(&mut self, look: impl FnOnce(&mut Session) -> T) -> T {
        let texts = self.sources.len();
        let found = look(self);
        self.sources.truncate(texts);
        found
    }
}

/// What can be selected from a value by a dot, with its type: fields, or numbers of components.
pub(super) fn components_of(ty: &Type) -> Vec<(String, Type)> {
    if let Some(fields) = ty.named_parts() {
        return fields.into_iter().map(|(name, ty)| (name.to_string(), ty)).collect();
    }
    let ty = ty.unfold();
    let parts = ty.components(MAX_COMPONENTS).or_else(|| ty.compact_parts(MAX_COMPONENTS));
    let parts = parts.unwrap_or_default();
    parts.into_iter().enumerate().map(|(at, ty)| (at.to_string(), ty)).collect()
}

/// Where the name that ends a text begins; `geometry::ar` is one.
pub(super) fn word_start(text: &str) -> usize {
    let in_word = |c: char| c.is_alphanumeric() || c == '_' || c == '\'';
    let word = |end: usize| {
        let letters = text[..end].char_indices().rev().take_while(|(_, c)| in_word(*c));
        letters.last().map_or(end, |(i, _)| i)
    };
    let mut start = word(text.len());
    while text[..start].ends_with("::") && word(start - 2) < start - 2 {
        start = word(start - 2);
    }
    start
}

/// The path of an import that a text ends in, as far as it is written.
pub fn import_path(before: &str) -> Option<&str> {
    let line = &before[before.rfind('\n').map_or(0, |at| at + 1)..];
    let (start, path) = line.rsplit_once('"')?;
    let word = start.trim_end();
    let word = word.rsplit(|c: char| c.is_whitespace() || c == ';').next()?;
    // A path with an escape in it is beyond what is helped with.
    (word == "import" && !start.contains("//") && !path.contains('\\')).then_some(path)
}

/// The function whose argument a text ends in: what stands before the innermost open parenthesis.
pub(super) fn enclosing_call(text: &str) -> Option<&str> {
    let parts = tokens(text);
    let mut depth = 0usize;
    for (at, (_, class)) in parts.iter().enumerate().rev() {
        match class {
            TokenClass::Close => depth += 1,
            TokenClass::Open if depth > 0 => depth -= 1,
            TokenClass::Open => {
                let (range, class) = &parts[at.checked_sub(1)?];
                let named = matches!(class, TokenClass::Name | TokenClass::TypeName);
                return named.then(|| &text[range.clone()]);
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::import_path;

    #[test]
    fn paths_of_imports() {
        for (before, path) in [
            ("import \"geo", Some("geo")),
            ("val x = 1;\nimport   \"../a/b", Some("../a/b")),
            ("val x = 1; import \"", Some("")),
            ("import \"a.flx\"", None),
            ("println \"import", None),
            ("// import \"a", None),
            ("import \"a\nb", None),
        ] {
            assert_eq!(import_path(before), path, "{before:?}");
        }
    }
}
