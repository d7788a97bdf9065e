//! Questions about the text of a program that need parsing alone: layout, migration from version
//! 0.1, the inputs in it.

use super::diagnostics::internal_error;
use super::{Session, detached_source};
use felis_base::diagnostic::Diagnostic;
use felis_base::source::{Source, Span};
use felis_syntax::syntax;
use felis_syntax::syntax::brackets::IncrementalSplit;
use std::panic::{RefUnwindSafe, catch_unwind};

impl Session {
    /// Lays a text out anew; it is read, not checked. It is kept only if something is wrong with
    /// it, which is said of its places.
    pub fn format(&mut self, name: &str, text: &str) -> Result<String, Vec<Diagnostic>> {
        self.rewrite(name, text, syntax::fmt::format_source)
    }

    /// Rewrites a text. The text is kept in the session only if it has errors, which refer to it.
    fn rewrite(
        &mut self,
        name: &str,
        text: &str,
        rewrite: impl Fn(&Source) -> Result<String, Vec<Diagnostic>> + RefUnwindSafe,
    ) -> Result<String, Vec<Diagnostic>> {
        let texts = self.sources.len();
        let source = self.sources.add(name, text);
        let done = catch_unwind(|| rewrite(&source));
        let laid = done.unwrap_or_else(|_| Err(vec![internal_error(Span::new(source.id, 0, 0))]));
        if laid.is_ok() {
            self.sources.truncate(texts);
        }
        laid
    }

    /// A text of version 0.1 as it is written today, which no errors are known of.
    pub fn migrate(&mut self, name: &str, text: &str) -> Result<String, Vec<Diagnostic>> {
        self.rewrite(name, text, syntax::edition::migrate)
    }

    /// Returns true if a text ends too early and more lines could complete it.
    pub fn is_incomplete(text: &str) -> bool {
        syntax::parse(&detached_source(text)).incomplete
    }

    /// The inputs that some lines are: all of them one, if they can be read so; else those that
    /// they would be if they were written one after the other.
    pub fn split_inputs(text: &str) -> Vec<&str> {
        let broken =
            |text: &str| syntax::parse(&detached_source(text)).errors.iter().any(Diagnostic::is_error);
        if !text.trim_end().contains('\n') || !broken(text) {
            return vec![text];
        }
        let (mut inputs, mut start, mut end) = (Vec::new(), 0, 0);
        let mut growing = IncrementalSplit::default();
        for line in text.split_inclusive('\n') {
            end += line.len();
            let open = growing.push(line);
            let piece = &text[start..end];
            let command = piece.trim_start().starts_with(':');
            let announces = piece.lines().rfind(|line| !line.trim().is_empty());
            let announces = announces.is_some_and(|line| line.trim_start().starts_with("///"));
            if piece.trim().is_empty() || command || !announces && !open && !Session::is_incomplete(piece) {
                inputs.push(piece);
                start = end;
                growing = IncrementalSplit::default();
            }
        }
        inputs.push(&text[start..]);
        inputs.retain(|piece| !piece.trim().is_empty());
        inputs
    }
}
