//! Loading: statements of the library are parsed and checked when a text first mentions their
//! names.

use super::super::{Screen, Session};
use super::shared_loads;
use felis_base::diagnostic::Diagnostic;
use felis_calculus::core::{Prim, Script};
use felis_check::check::{self, Env};
use felis_runtime::eval::{Host, RuntimeError};
use felis_syntax::syntax;
use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;

/// Returns the environment of a text that has defined no name. Internal primitives are known in
/// texts of the library alone.
pub(in crate::session) fn initial_env(of_library: bool) -> Env {
    let mut env = Env::new();
    for prim in Prim::ALL.iter().filter(|prim| prim.is_internal() && !of_library) {
        env.values.remove(prim.name());
    }
    env.library_texts = super::sources().iter().count() as u32;
    env.parts = super::parts().chain(super::modules::names()).collect();
    env
}

impl Session {
    /// Reads what the library has under some names and makes it known.
    pub(in crate::session) fn load_and_adopt(
        &mut self,
        names: &[impl AsRef<str>],
    ) -> Result<(), Vec<Diagnostic>> {
        self.load_statements(names)?;
        let (new, _) = self.library.required_statements(names, &self.adopted);
        if !new.is_empty() {
            super::adopt_statements(&self.library.env, &mut self.env, &new);
            self.adopted.extend(new);
        }
        Ok(())
    }

    /// Adds functions to the library of this session, as a later one may have them; for tests of
    /// what that changes.
    pub fn extend_library(&mut self, text: &str) -> Result<(), Vec<Diagnostic>> {
        let source = self.sources.add("library", text);
        let parsed = syntax::parse(&source);
        let mut errors = parsed.errors;
        self.library.env.number_after(&self.env);
        let (script, found) = check::check(&mut self.library.env, &mut self.program, &parsed.stmts);
        errors.extend(found.into_iter().filter(Diagnostic::is_error));
        if script.is_none() || !errors.is_empty() {
            return Err(errors);
        }
        self.env.number_after(&self.library.env);
        let signatures = self.library.env.signatures.iter();
        self.env.signatures.extend(signatures.map(|(id, signature)| (*id, signature.clone())));
        super::adopt_names(
            &self.library.env,
            &mut self.env,
            Self::names_defined_in(text).iter().map(String::as_str),
        );
        Ok(())
    }

    /// Reads the whole library; for tests of it.
    pub fn load_whole_library(&mut self) -> Result<(), Vec<Diagnostic>> {
        let names: Vec<&str> = super::index().names().chain(super::NARROW_TYPES).collect();
        self.load_and_adopt(&names)
    }

    /// Reads what the library has under some names, if it has not been read.
    pub(in crate::session) fn load_statements(
        &mut self,
        names: &[impl AsRef<str>],
    ) -> Result<(), Vec<Diagnostic>> {
        let (missing, narrow) = self.library.required_statements(names, &self.library.loaded);
        self.library.narrow = narrow;
        if missing.is_empty() {
            return Ok(());
        }
        let saved = (self.snapshot(), self.library.clone());
        let loaded = self
            .define_statements(&missing)
            .and_then(|script| self.compute_variables(&script).map_err(|error| vec![error.to_diagnostic()]));
        if loaded.is_ok() {
            self.library.loaded.extend(&missing);
            self.env.number_after(&self.library.env);
        } else {
            self.library = saved.1;
            self.restore(saved.0);
        }
        loaded
    }

    /// Enters the definitions of statements that have not been read; returns what computes their
    /// variables.
    fn define_statements(&mut self, statements: &BTreeSet<usize>) -> Result<Script, Vec<Diagnostic>> {
        let is_first =
            self.library.loaded.is_empty() && self.program.is_empty() && !self.env.has_given_numbers();
        if !is_first {
            self.library.env.number_after(&self.env);
            return shared_loads::check_statements(statements, &mut self.library.env, &mut self.program);
        }
        shared_loads::with_load(statements, |load| {
            let load = load.as_ref().map_err(Clone::clone)?;
            self.library.env = load.env.clone();
            self.program = load.program.clone();
            Ok(load.script.clone())
        })
    }

    /// Computes variables of the library, which print nothing and wait for nothing. An interrupt is
    /// for the user's input.
    pub(in crate::session) fn compute_variables(&mut self, script: &Script) -> Result<(), Box<RuntimeError>> {
        let mut host = Host {
            out: &mut |_| (),
            out_here: None,
            interrupt: &AtomicBool::new(false),
            memory: self.memory,
            files: None,
            system: None,
            screen: Screen::default(),
        };
        let machines = std::iter::once(&mut self.machine).chain(&mut self.parties.others);
        machines.into_iter().try_for_each(|machine| machine.run(&self.program, script, &mut host).map(|_| ()))
    }
}
