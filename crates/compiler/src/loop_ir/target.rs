//! The target of a kernel: what passes and code generation know of the machine.

/// A set of vector instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Isa {
    /// AVX-512F and AVX-512DQ: 32 registers of 512 bits, and 8 masks.
    Avx512,
    /// AVX2 and FMA3: 16 registers of 256 bits.
    Avx2,
}

impl Isa {
    /// The bytes of a vector.
    pub fn vector_bytes(self) -> usize {
        match self {
            Isa::Avx512 => 64,
            Isa::Avx2 => 32,
        }
    }
}

/// The machine that a kernel is made for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TargetMachine {
    /// The instructions for vectors of more than 128 bits, if loops go by such vectors.
    pub isa: Option<Isa>,
    /// True if these count the bits of lanes of 8 bytes.
    pub has_population_count: bool,
    /// Threads on which the pieces of parallel loops run; 0 where that is not known.
    pub threads: usize,
}

impl TargetMachine {
    /// Returns true if loops go by vectors of 256 or 512 bits: then a check costs less as a bit of
    /// each lane than as a branch of each iteration.
    pub fn has_wide_vectors(&self) -> bool {
        self.isa.is_some()
    }
}
