//! Files in memory without reading them: pages come when they are first looked at, and go when memory is short.
//!
//! Takes a file that is open; gives its bytes, which are read-only and stay where they are for as long as somebody
//! has them. Felis itself never changes a file in place: it writes beside it and moves, and who has the old file
//! mapped keeps it.
//!
//! **Why this is sound, and where it ends.** A map is a promise that the bytes do not change while they are
//! seen, and no system enforces it: another program may write into the file, or cut it off. What such a program writes
//! may be seen or not, and numbers are read anew from memory at each use, so that every value is one that stood there.
//! What is checked and then relied upon (texts, codes below their size) is copied first. After a cut, looking beyond the new end ends the process
//! (`SIGBUS`). Small files are therefore read, and `files.md` tells users of large ones.

use bytes::Bytes;
use memmap2::Mmap;
use std::fs::File;

/// The bytes of a file; `None` where it cannot be mapped.
pub fn bytes(file: &File) -> Option<Bytes> {
    // SAFETY: the map is read-only, its length is that of the file, and it lives as long as its bytes. That nobody
    // changes the file meanwhile is what the head of this file says.
    let map = unsafe { Mmap::map(file) }.ok()?;
    Some(Bytes::from_owner(map))
}
