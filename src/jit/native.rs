//! The one place where the compiler leaves what the language can check.
//!
//! **Why this is sound.** A function made by [`super::emit`] reads and writes memory only through the
//! addresses in its frame: slots of arrays, at numbers that come from values of index types and are
//! therefore below the number of slots (the type checker has proved it, `:>>` checks it, and a case of a
//! sum is taken apart only behind a test of its code), or from loops over exactly those slots. The
//! kernel that fills the frame keeps every array alive and in place for as long as the function runs,
//! gives arrays that are written to nobody else, and never gives one array as two. Rounds of a parallel
//! statement write different slots, namely those of their own index; they only read what others
//! have set before. So there is no data race: threads meet only at the end of a phase, where rayon
//! synchronises them.

use cranelift_jit::JITModule;
use cranelift_module::FuncId;

/// Finished functions, with the memory that holds them.
pub struct Functions {
    module: Option<JITModule>,
    entries: Vec<usize>,
}

// SAFETY: the module is not touched between `finish` and `drop`, and code is only read.
unsafe impl Send for Functions {}
// SAFETY: as above.
unsafe impl Sync for Functions {}

type Entry = extern "C" fn(*mut u64, i64, i64) -> i64;

impl Functions {
    /// Finishes the functions of a module.
    pub fn finish(mut module: JITModule, ids: &[FuncId]) -> Result<Functions, String> {
        module.finalize_definitions().map_err(|error| error.to_string())?;
        let entries = ids.iter().map(|id| module.get_finalized_function(*id) as usize).collect();
        Ok(Functions { module: Some(module), entries })
    }

    /// Calls a function with a frame and a range of rounds.
    ///
    /// The frame is as [`super::emit::Frame`] says: the caller has put live addresses into it.
    pub(super) fn call(&self, at: usize, frame: FrameAddress, low: i64, high: i64) -> i64 {
        // SAFETY: the address is that of a function of this signature, made by `emit`, and the module
        // that holds it lives as long as `self`. What the function does is argued at the top.
        let entry: Entry = unsafe { std::mem::transmute::<usize, Entry>(self.entries[at]) };
        entry(frame.0 as *mut u64, low, high)
    }
}

impl Drop for Functions {
    fn drop(&mut self) {
        if let Some(module) = self.module.take() {
            // SAFETY: `self` is the only owner of the entries, and it is going.
            unsafe { module.free_memory() }
        }
    }
}

/// The address of a frame, for threads to share.
#[derive(Clone, Copy)]
pub(super) struct FrameAddress(usize);

impl FrameAddress {
    /// The address of these words.
    pub(super) fn of(words: &mut [u64]) -> FrameAddress {
        FrameAddress(words.as_mut_ptr() as usize)
    }
}
