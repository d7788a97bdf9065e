//! Hash tables with a fast hash function (FxHash).
//!
//! The standard hash function resists keys that are chosen to collide, and takes about a twentieth
//! of the time of a short program. Keys here are small numbers and types of a program, which the
//! author of the program has chosen.

use rustc_hash::FxBuildHasher;

/// A hash map.
pub type HashMap<K, V> = std::collections::HashMap<K, V, FxBuildHasher>;

/// A hash set.
pub type HashSet<T> = std::collections::HashSet<T, FxBuildHasher>;
