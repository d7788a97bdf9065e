//! Hash tables with a fast hash function (FxHash).
//!
//! The standard hash function resists keys that are chosen to collide, and takes about a twentieth
//! of the time of a short program. Keys here are small numbers and types of a program, which the
//! author of the program has chosen.

use rustc_hash::FxBuildHasher;
use std::hash::{Hash, Hasher};

/// A hash map.
pub type HashMap<K, V> = std::collections::HashMap<K, V, FxBuildHasher>;

/// Returns a hash that is the same in every process of one build (SipHash with fixed keys).
pub fn stable_hash(value: &impl Hash) -> u64 {
    let mut hasher = std::collections::hash_map::DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// A hash set.
pub type HashSet<T> = std::collections::HashSet<T, FxBuildHasher>;
