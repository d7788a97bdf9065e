//! Types that a caller has written as text.

use super::Session;
use felis_base::diagnostic::Diagnostic;
use felis_base::source::Span;
use felis_calculus::types::Type;
use felis_check::check;
use felis_syntax::syntax::{self, ast};

impl Session {
    /// Several written types in one scope, and where they stand.
    pub(super) fn read_types(
        &mut self,
        texts: &[(&str, &str)],
    ) -> Result<(Vec<Type>, Vec<Span>), Vec<Diagnostic>> {
        let (mut written, mut spans, mut diagnostics) = (Vec::new(), Vec::new(), Vec::new());
        for (name, text) in texts {
            let source = self.sources.add(*name, *text);
            let (ty, errors) = syntax::parse_type(&source);
            diagnostics.extend(errors);
            if let Some(ty) = ty {
                spans.push(ty.span);
                written.push(ty);
            }
            self.load_mentioned(&source)?;
        }
        if written.len() < texts.len() {
            return Err(diagnostics);
        }
        let whole = spans.first().copied().unwrap_or_default();
        let written: Vec<&ast::TypeExpr> = written.iter().collect();
        let (types, found) =
            self.with_rollback(whole, |session| Ok(check::lower_types(&mut session.env, &written, true)))?;
        diagnostics.extend(found);
        if diagnostics.iter().any(Diagnostic::is_error) { Err(diagnostics) } else { Ok((types, spans)) }
    }
}
