//! Tables by hash, with a quick hash.
//!
//! The standard one withstands keys that somebody has chosen to collide, and takes some twentieth of the time of a short program.
//! Keys here are small numbers and types of a program, which its own author has written.

use rustc_hash::FxBuildHasher;

/// A map.
pub type HashMap<K, V> = std::collections::HashMap<K, V, FxBuildHasher>;

/// A set.
pub type HashSet<T> = std::collections::HashSet<T, FxBuildHasher>;
