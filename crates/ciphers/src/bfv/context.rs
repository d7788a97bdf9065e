//! The contexts of `fhe`, one for each prime of the parameters, made once in a process: `fhe`
//! compares them by their addresses.

use super::Parameters;
use crate::CipherError;
use fhe::bfv::{BfvParameters, BfvParametersBuilder};
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

/// The variance of secrets and errors, whose coefficients are at most twice as large.
pub(super) const VARIANCE: usize = 10;

type Table = HashMap<(usize, u64), Arc<BfvParameters>>;

static CONTEXTS: LazyLock<Mutex<Table>> = LazyLock::new(Mutex::default);

/// Returns the context of each prime.
pub(super) fn contexts(parameters: Parameters) -> Result<Vec<Arc<BfvParameters>>, CipherError> {
    // A context is whole or not in the table.
    let mut table = CONTEXTS.lock().unwrap_or_else(PoisonError::into_inner);
    let mut contexts = Vec::with_capacity(parameters.primes().len());
    for &prime in parameters.primes() {
        let key = (parameters.degree(), prime);
        if let Some(context) = table.get(&key) {
            contexts.push(context.clone());
            continue;
        }
        let context = BfvParametersBuilder::new()
            .set_degree(parameters.degree())
            .set_plaintext_modulus(prime)
            .set_moduli(parameters.moduli())
            .set_variance(VARIANCE)
            .build_arc()
            .map_err(|_| CipherError::Internal { operation: "the construction of parameters" })?;
        table.insert(key, context.clone());
        contexts.push(context);
    }
    Ok(contexts)
}
