//! Shared loads: what statements of the library give in a session that has defined nothing, kept
//! for later sessions of the process.
//!
//! Checking statements of the library is most of what a short program takes. The result depends on
//! the statements alone as long as a session has defined nothing: so a session that begins with the
//! same statements as an earlier one copies it, numbers of types and functions included, and cannot
//! be told from one that has checked them itself. Copies share functions, classes and types.

use felis_base::diagnostic::Diagnostic;
use felis_calculus::core::{Program, Script};
use felis_check::check::{self, Env};
use std::collections::{BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The results that are kept, at most.
const MAX_LOADS: usize = 16;

/// The definitions of statements.
pub(super) struct SharedLoad {
    /// The definitions by name.
    pub env: Env,
    /// The definitions.
    pub program: Program,
    /// The statements that compute variables.
    pub script: Script,
}

/// A result, or the errors of the statements. Empty while a session computes it.
type Loaded = Arc<OnceLock<Result<SharedLoad, Vec<Diagnostic>>>>;

/// The results with the numbers of their statements; those that were used last come first.
static LOADS: Mutex<VecDeque<(BTreeSet<usize>, Loaded)>> = Mutex::new(VecDeque::new());

/// Does `work` on what statements give, which are given by their numbers in the index. Sessions
/// that ask at the same time wait for the first of them.
pub(super) fn with_load<T>(
    statements: &BTreeSet<usize>,
    work: impl FnOnce(&Result<SharedLoad, Vec<Diagnostic>>) -> T,
) -> T {
    let loaded = {
        let mut loads = LOADS.lock().unwrap_or_else(PoisonError::into_inner);
        let at = loads.iter().position(|(known, _)| known == statements);
        let load =
            at.and_then(|at| loads.remove(at)).unwrap_or_else(|| (statements.clone(), Loaded::default()));
        let loaded = load.1.clone();
        loads.truncate(MAX_LOADS - 1);
        loads.push_front(load);
        loaded
    };
    work(loaded.get_or_init(|| load(statements)))
}

/// Checks statements among nothing but themselves.
fn load(statements: &BTreeSet<usize>) -> Result<SharedLoad, Vec<Diagnostic>> {
    let (mut env, mut program) = (Env::new(), Program::default());
    let script = check_statements(statements, &mut env, &mut program)?;
    Ok(SharedLoad { env, program, script })
}

/// Checks statements of the library among what is known; returns what computes their variables.
pub(super) fn check_statements(
    statements: &BTreeSet<usize>,
    env: &mut Env,
    program: &mut Program,
) -> Result<Script, Vec<Diagnostic>> {
    let read = super::read(statements);
    let mut errors = read.errors;
    let (script, found) = check::check(env, program, &read.stmts);
    errors.extend(found.into_iter().filter(Diagnostic::is_error));
    script.filter(|_| errors.is_empty()).ok_or(errors)
}
