//! Random bytes of the operating system.

use crate::CipherError;
use zeroize::Zeroizing;

/// Fills bytes.
pub(crate) fn fill(bytes: &mut [u8]) -> Result<(), CipherError> {
    getrandom::fill(bytes).map_err(|_| CipherError::NoRandomness)
}

/// Returns `count` random words, which are overwritten when they are dropped.
pub(crate) fn words(count: usize) -> Result<Zeroizing<Vec<u64>>, CipherError> {
    let mut bytes = Zeroizing::new(vec![0; 8 * count]);
    fill(&mut bytes)?;
    Ok(Zeroizing::new(bytes.as_chunks().0.iter().map(|&word| u64::from_le_bytes(word)).collect()))
}
