//! ChaCha with 12 rounds, many blocks at a time.
//!
//! Takes a key; gives the words of its stream from position 0 on, in results of a fixed size. The
//! words are those of `ChaCha12Rng` whatever the machine: with AVX-512 sixteen blocks are computed
//! together, in half the time of the crate, which has instructions up to AVX2.

use super::stream::Key;
use rand_chacha::ChaCha12Core;
use rand_chacha::rand_core::SeedableRng;
use rand_chacha::rand_core::block::Generator;

/// The number of words in a result: sixteen blocks of 64 bytes.
pub const RESULT_WORDS: usize = 128;

/// The generator of a stream.
pub enum ChaCha {
    /// Sixteen blocks at a time, with AVX-512.
    #[cfg(target_arch = "x86_64")]
    Avx512(avx512::Avx512ChaCha),
    /// The implementation for any machine.
    Portable(ChaCha12Core),
}

impl ChaCha {
    /// Makes the generator of a key, at position 0.
    pub fn new(key: Key) -> ChaCha {
        #[cfg(target_arch = "x86_64")]
        if let Some(generator) = avx512::Avx512ChaCha::new(&key) {
            return ChaCha::Avx512(generator);
        }
        ChaCha::Portable(ChaCha12Core::from_seed(key))
    }

    /// Fills whole results with the next words.
    pub fn fill(&mut self, results: &mut [[u64; RESULT_WORDS]]) {
        match self {
            #[cfg(target_arch = "x86_64")]
            ChaCha::Avx512(generator) => generator.fill(results),
            ChaCha::Portable(core) => {
                let mut part = [0; 64];
                for words in results.iter_mut().flat_map(|result| result.as_chunks_mut::<32>().0) {
                    core.generate(&mut part);
                    for (word, [low, high]) in words.iter_mut().zip(part.as_chunks::<2>().0) {
                        *word = u64::from(*high) << 32 | u64::from(*low);
                    }
                }
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod avx512 {
    use super::{Key, RESULT_WORDS};
    use core::arch::x86_64::__m512i;
    use pulp::x86::V4;
    use pulp::{NullaryFnOnce, cast};

    /// The number of groups of four blocks. A register holds a row of the state of each block of a
    /// group; operations of one group wait for each other, those of others do not.
    const GROUPS: usize = 4;
    /// The first row of the state: "expand 32-byte k".
    const CONSTANTS: [u32; 4] = [0x6170_7865, 0x3320_646e, 0x7962_2d32, 0x6b20_6574];

    /// The generator of a stream by AVX-512.
    pub struct Avx512ChaCha {
        simd: V4,
        key: [u32; 8],
        /// The number of the next block.
        counter: u64,
    }

    impl Avx512ChaCha {
        /// Makes the generator of a key; `None` if the machine lacks AVX-512.
        pub fn new(key: &Key) -> Option<Avx512ChaCha> {
            let simd = V4::try_new()?;
            let mut words = [0; 8];
            for (word, bytes) in words.iter_mut().zip(key.as_chunks().0) {
                *word = u32::from_le_bytes(*bytes);
            }
            Some(Avx512ChaCha { simd, key: words, counter: 0 })
        }

        /// Fills whole results with the next words.
        pub fn fill(&mut self, results: &mut [[u64; RESULT_WORDS]]) {
            let simd = self.simd;
            simd.vectorize(Fill { generator: self, results });
        }
    }

    /// The work of filling results, which is compiled for AVX-512.
    struct Fill<'a> {
        generator: &'a mut Avx512ChaCha,
        results: &'a mut [[u64; RESULT_WORDS]],
    }

    /// Returns a register that holds a row of four equal blocks.
    #[inline(always)]
    fn row(words: &[u32]) -> __m512i {
        let mut all = [0u32; 16];
        for (block, word) in all.chunks_exact_mut(4).flat_map(|block| block.iter_mut().zip(words)) {
            *block = *word;
        }
        cast(all)
    }

    /// Returns the last rows of four blocks: their numbers, and the number of the stream, which is
    /// 0.
    #[inline(always)]
    fn counters(first: u64) -> __m512i {
        let mut all = [0u64; 8];
        for (block, number) in all.chunks_exact_mut(2).zip(0..) {
            block[0] = first.wrapping_add(number);
        }
        cast(all)
    }

    impl NullaryFnOnce for Fill<'_> {
        type Output = ();

        #[inline(always)]
        fn call(self) {
            let x = self.generator.simd.avx512f;
            let (low, high) = self.generator.key.split_at(4);
            let first = [row(&CONSTANTS), row(low), row(high)];
            for result in self.results {
                let mut last = [first[0]; GROUPS];
                for group in &mut last {
                    *group = counters(self.generator.counter);
                    self.generator.counter = self.generator.counter.wrapping_add(4);
                }
                let (mut a, mut b, mut c, mut d) =
                    ([first[0]; GROUPS], [first[1]; GROUPS], [first[2]; GROUPS], last);
                // A step is taken for all groups before the next one.
                macro_rules! each {
                    ($to:ident = $value:expr) => {
                        for g in 0..GROUPS {
                            $to[g] = $value(g);
                        }
                    };
                }
                for round in 0..12 {
                    each!(a = |g: usize| x._mm512_add_epi32(a[g], b[g]));
                    each!(d = |g: usize| x._mm512_rol_epi32::<16>(x._mm512_xor_si512(d[g], a[g])));
                    each!(c = |g: usize| x._mm512_add_epi32(c[g], d[g]));
                    each!(b = |g: usize| x._mm512_rol_epi32::<12>(x._mm512_xor_si512(b[g], c[g])));
                    each!(a = |g: usize| x._mm512_add_epi32(a[g], b[g]));
                    each!(d = |g: usize| x._mm512_rol_epi32::<8>(x._mm512_xor_si512(d[g], a[g])));
                    each!(c = |g: usize| x._mm512_add_epi32(c[g], d[g]));
                    each!(b = |g: usize| x._mm512_rol_epi32::<7>(x._mm512_xor_si512(b[g], c[g])));
                    // Columns become diagonals, and in the next round columns again.
                    each!(c = |g: usize| x._mm512_shuffle_epi32::<0b01_00_11_10>(c[g]));
                    if round % 2 == 0 {
                        each!(b = |g: usize| x._mm512_shuffle_epi32::<0b00_11_10_01>(b[g]));
                        each!(d = |g: usize| x._mm512_shuffle_epi32::<0b10_01_00_11>(d[g]));
                    } else {
                        each!(b = |g: usize| x._mm512_shuffle_epi32::<0b10_01_00_11>(b[g]));
                        each!(d = |g: usize| x._mm512_shuffle_epi32::<0b00_11_10_01>(d[g]));
                    }
                }
                for (g, words) in result.as_chunks_mut::<32>().0.iter_mut().enumerate() {
                    let a = x._mm512_add_epi32(a[g], first[0]);
                    let b = x._mm512_add_epi32(b[g], first[1]);
                    let c = x._mm512_add_epi32(c[g], first[2]);
                    let d = x._mm512_add_epi32(d[g], last[g]);
                    // The rows of a block one after the other: a transposition of quarters.
                    let halves = [
                        x._mm512_shuffle_i32x4::<0b01_00_01_00>(a, b),
                        x._mm512_shuffle_i32x4::<0b01_00_01_00>(c, d),
                        x._mm512_shuffle_i32x4::<0b11_10_11_10>(a, b),
                        x._mm512_shuffle_i32x4::<0b11_10_11_10>(c, d),
                    ];
                    let [ab, cd, ef, gh] = halves;
                    let blocks = [
                        x._mm512_shuffle_i32x4::<0b10_00_10_00>(ab, cd),
                        x._mm512_shuffle_i32x4::<0b11_01_11_01>(ab, cd),
                        x._mm512_shuffle_i32x4::<0b10_00_10_00>(ef, gh),
                        x._mm512_shuffle_i32x4::<0b11_01_11_01>(ef, gh),
                    ];
                    for (words, block) in words.as_chunks_mut::<8>().0.iter_mut().zip(blocks) {
                        *words = cast(block);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_chacha::ChaCha12Rng;
    use rand_chacha::rand_core::Rng;

    /// The words of the generator that the machine has, and those of any machine, are the crate's.
    #[test]
    fn the_words_are_those_of_the_crate() {
        let key: Key = std::array::from_fn(|i| 3 + 7 * i as u8);
        let mut rng = ChaCha12Rng::from_seed(key);
        let (mut one, mut other) = (ChaCha::new(key), ChaCha::Portable(ChaCha12Core::from_seed(key)));
        for count in [1, 2, 5] {
            let (mut words, mut others) = (vec![[0; RESULT_WORDS]; count], vec![[0; RESULT_WORDS]; count]);
            one.fill(&mut words);
            other.fill(&mut others);
            let wanted: Vec<u64> = (0..count * RESULT_WORDS).map(|_| rng.next_u64()).collect();
            assert_eq!(words.as_flattened(), wanted);
            assert_eq!(others.as_flattened(), wanted);
        }
    }
}
