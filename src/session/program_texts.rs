//! The texts of a program, which its parties compare before they run it.

use super::{Session, detached_source};
use felis_syntax::syntax::{self, ast::StmtKind};

impl Session {
    /// Returns the names of the parties that a text declares; none if it declares none.
    pub fn declared_parties(&self, text: &str) -> Vec<String> {
        let parsed = syntax::parse(&detached_source(text));
        let places = parsed.stmts.iter().find_map(|stmt| match &stmt.kind {
            StmtKind::Party { places, .. } => Some(places),
            _ => None,
        });
        places.into_iter().flatten().map(|place| place.text.to_string()).collect()
    }

    /// Returns the texts of a program: its own, and those of the modules that it imports.
    pub fn program_texts(&mut self, name: &str, text: &str) -> Vec<String> {
        let known = self.sources.len();
        self.check(name, text);
        let texts = self.sources.iter().skip(known).map(|source| source.text.to_string()).collect();
        self.sources.truncate(known);
        texts
    }
}
