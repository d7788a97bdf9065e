//! Interleaved accesses: lanes from every second, third or fourth slot, and to all slots of such
//! groups, as the components of records in an array are ("Auto-vectorization of interleaved data
//! for SIMD", Nuzman, Rosen and Zaks, 2006).
//!
//! **Loads.** The slots of the lanes lie in as many vectors as the stride says; the last of these
//! ends with the last slot, so none beyond it is read. AVX-512 chooses from two vectors by one
//! permutation, so each vector after the first takes one. AVX2 permutes each vector and blends.
//!
//! **Stores.** Each vector of slots has numbers of all components, chosen in the same way.
//!
//! Permutations are tables in static memory, whose addresses are in the code.

use super::{Assembler, Lane, Pointer, SCRATCH_REGISTER, Source, Vector};
use crate::loop_ir::{Isa, MAX_COMPONENTS};
use std::collections::BTreeMap;
use std::sync::Mutex;

/// The slots of one access: lanes, and the slots from one to the next.
#[derive(Clone, Copy)]
struct Interleaving {
    lanes: usize,
    stride: usize,
}

/// The index of a lane for one permutation, and the lanes that it sets.
type Choice = Option<usize>;

impl Interleaving {
    /// The accesses of vectors of so many lanes.
    fn new(lanes: usize, stride: usize) -> Interleaving {
        debug_assert!((2..=MAX_COMPONENTS).contains(&stride) && lanes >= stride);
        Interleaving { lanes, stride }
    }

    /// The first slots of the vectors that hold the slots of all lanes.
    fn first_slots(self) -> Vec<usize> {
        let last = self.stride * (self.lanes - 1) + 1 - self.lanes;
        (0..self.stride - 1).map(|vector| vector * self.lanes).chain([last]).collect()
    }

    /// The vector that holds the slot of a lane, and the place in it.
    fn source(self, lane: usize) -> (usize, usize) {
        let slot = self.stride * lane;
        let vector = (slot / self.lanes).min(self.stride - 1);
        (vector, slot - self.first_slots()[vector])
    }

    /// The component and the lane that a slot of a vector of slots is.
    fn target(self, vector: usize, place: usize) -> (usize, usize) {
        let slot = vector * self.lanes + place;
        (slot % self.stride, slot / self.stride)
    }

    /// The places of the lanes of a load in each of the vectors that hold their slots.
    fn loaded(self) -> Vec<Vec<Choice>> {
        self.choices(|lane| self.source(lane))
    }

    /// The lanes of each component that a vector of slots holds, of a store.
    fn stored(self, vector: usize) -> Vec<Vec<Choice>> {
        self.choices(|place| self.target(vector, place))
    }

    /// For each source the index in it of each lane that is taken from it, by the source and the
    /// index of a lane.
    fn choices(self, of: impl Fn(usize) -> (usize, usize)) -> Vec<Vec<Choice>> {
        let from = |source: usize| {
            let chosen = |lane| Some(of(lane)).filter(|(own, _)| *own == source).map(|(_, index)| index);
            (0..self.lanes).map(chosen).collect()
        };
        (0..self.stride).map(from).collect()
    }
}

/// The indices of a permutation of two vectors that takes some lanes from the second one, and
/// others from the first: the places of those, or for `None` the same lane.
fn of_two(first: Option<&[Choice]>, second: &[Choice]) -> Vec<usize> {
    let lanes = second.len();
    let of = |lane: usize| match second[lane] {
        Some(place) => lanes + place,
        None => first.map_or(Some(lane), |first| first[lane]).unwrap_or(0),
    };
    (0..lanes).map(of).collect()
}

/// The indices of a permutation of one vector.
fn of_one(choices: &[Choice]) -> Vec<usize> {
    choices.iter().map(|place| place.unwrap_or(0)).collect()
}

/// The bits of the lanes that a permutation sets.
fn lane_bits(choices: &[Choice]) -> u32 {
    choices.iter().enumerate().map(|(lane, place)| u32::from(place.is_some()) << lane).sum()
}

/// The indices of a permutation, of lanes of 4 or 8 bytes.
#[repr(align(64))]
struct Indices([u8; 64]);

/// A permutation of lanes of so many bytes, which stays where it is.
fn table(indices: &[usize], bytes: usize) -> &'static Indices {
    /// Permutations by their indices and the bytes of a lane. There are few, for all programs.
    static TABLES: Mutex<BTreeMap<(Vec<usize>, usize), &'static Indices>> = Mutex::new(BTreeMap::new());
    let mut tables = TABLES.lock().expect("nothing fails while it is locked");
    tables.entry((indices.to_vec(), bytes)).or_insert_with(|| {
        let mut table = Indices([0; 64]);
        for (index, lane) in indices.iter().zip(table.0.chunks_mut(bytes)) {
            lane.copy_from_slice(&index.to_le_bytes()[..bytes]);
        }
        Box::leak(Box::new(table))
    })
}

impl Assembler {
    fn lanes_of(&self, lane: Lane) -> usize {
        self.isa.vector_bytes() / usize::from(lane.bytes())
    }

    /// A permutation from static memory.
    fn load_table(&mut self, lane: Lane, to: Vector, indices: &[usize]) {
        // mov r11, address
        self.bytes.extend([0x49, 0xb8 | SCRATCH_REGISTER & 7]);
        let address = table(indices, lane.bytes().into()).0.as_ptr() as u64;
        self.bytes.extend(address.to_le_bytes());
        self.vector((1, 0, 0x10), false, (to.0, 0, Source::Scratch(0)));
    }

    /// Lanes from slots that are `stride` slots apart, with another register.
    pub fn load_interleaved(
        &mut self,
        lane: Lane,
        to: Vector,
        (from, stride): (Pointer, usize),
        other: Vector,
    ) {
        let own = Interleaving::new(self.lanes_of(lane), stride);
        let bytes = usize::from(lane.bytes());
        let sources: Vec<Source> =
            own.first_slots().iter().map(|slot| Source::Strided((slot * bytes) as i32)).collect();
        self.strided(from, (stride * bytes) as i32);
        self.choose(lane, to, &sources, &own.loaded(), other);
    }

    /// Lanes of all components to the slots of groups that lie side by side, from the slot of the
    /// first component on, with two other registers.
    pub fn store_interleaved(
        &mut self,
        lane: Lane,
        to: Pointer,
        components: &[Vector],
        [slots, other]: [Vector; 2],
    ) {
        let own = Interleaving::new(self.lanes_of(lane), components.len());
        let bytes = usize::from(lane.bytes());
        let sources: Vec<Source> = components.iter().map(|part| Source::Register(part.0)).collect();
        self.strided(to, (components.len() * bytes) as i32);
        for vector in 0..components.len() {
            self.choose(lane, slots, &sources, &own.stored(vector), other);
            let place = Source::Strided((vector * self.isa.vector_bytes()) as i32);
            self.vector((1, 0, 0x11), false, (slots.0, 0, place));
        }
    }

    /// Each lane from one of several sources: those that `choices` say, by another register.
    fn choose(&mut self, lane: Lane, to: Vector, sources: &[Source], choices: &[Vec<Choice>], other: Vector) {
        let long = lane.is_long();
        if self.isa == Isa::Avx512 {
            // vpermi2ps, vpermi2pd: the indices are in the result.
            self.load_table(lane, to, &of_two(Some(&choices[0]), &choices[1]));
            let first = match sources[0] {
                Source::Register(register) => register,
                memory => {
                    self.evex((1, 0, 0x10), false, (other.0, 0, memory), (None, false));
                    other.0
                }
            };
            self.evex((2, 1, 0x77), long, (to.0, first, sources[1]), (None, false));
            for (source, choices) in sources.iter().zip(choices).skip(2) {
                // vpermt2ps, vpermt2pd: the result is the first vector.
                self.load_table(lane, other, &of_two(None, choices));
                self.evex((2, 1, 0x7f), long, (to.0, other.0, *source), (None, false));
            }
            return;
        }
        for (number, (source, choices)) in sources.iter().zip(choices).enumerate() {
            let into = if number == 0 { to } else { other };
            if long {
                // vpermpd
                self.vex((3, 1, 0x01), (true, true), (into.0, 0, *source));
                self.bytes.push(of_one(choices).iter().rev().fold(0, |bits, place| bits << 2 | *place as u8));
            } else {
                // vpermps
                self.load_table(lane, into, &of_one(choices));
                self.vex((2, 1, 0x16), (false, true), (into.0, into.0, *source));
            }
            if number > 0 {
                // vblendps, vblendpd
                let opcode = (3, 1, 0x0c + u8::from(long));
                self.vex(opcode, (false, true), (to.0, to.0, Source::Register(other.0)));
                self.bytes.push(lane_bits(choices) as u8);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The slot numbers that permutations of vectors of slots give, as the instructions of AVX-512
    /// do.
    fn chosen(vectors: &[Vec<usize>], choices: &[Vec<Choice>]) -> Vec<usize> {
        let permuted = |a: &[usize], b: &[usize], indices: Vec<usize>| -> Vec<usize> {
            indices
                .iter()
                .map(|index| if *index < a.len() { a[*index] } else { b[*index - a.len()] })
                .collect()
        };
        let first = of_two(Some(&choices[0]), &choices[1]);
        let two = permuted(&vectors[0], &vectors[1], first);
        vectors[2..]
            .iter()
            .zip(&choices[2..])
            .fold(two, |known, (vector, choices)| permuted(&known, vector, of_two(None, choices)))
    }

    /// The same, by permutations of one vector and blends.
    fn blended(vectors: &[Vec<usize>], choices: &[Vec<Choice>]) -> Vec<usize> {
        let mut out = vec![usize::MAX; vectors[0].len()];
        for (vector, choices) in vectors.iter().zip(choices) {
            let (places, bits) = (of_one(choices), lane_bits(choices));
            for lane in 0..out.len() {
                if bits >> lane & 1 == 1 {
                    out[lane] = vector[places[lane]];
                }
            }
        }
        out
    }

    /// All accesses: of vectors of 4, 8 and 16 lanes.
    fn accesses() -> impl Iterator<Item = (usize, usize)> {
        [4, 8, 16].into_iter().flat_map(|lanes| (2..=MAX_COMPONENTS).map(move |stride| (lanes, stride)))
    }

    #[test]
    fn lanes_are_the_slots_at_a_distance_and_none_is_beyond() {
        for (lanes, stride) in accesses() {
            let own = Interleaving::new(lanes, stride);
            let vectors: Vec<Vec<usize>> =
                own.first_slots().iter().map(|first| (*first..first + lanes).collect()).collect();
            let choices = own.loaded();
            let expected: Vec<usize> = (0..lanes).map(|lane| stride * lane).collect();
            assert_eq!(chosen(&vectors, &choices), expected);
            assert_eq!(blended(&vectors, &choices), expected);
            assert_eq!(vectors.iter().flatten().max(), Some(&(stride * (lanes - 1))));
        }
    }

    #[test]
    fn slots_are_the_lanes_of_the_components_in_turn() {
        for (lanes, stride) in accesses() {
            let own = Interleaving::new(lanes, stride);
            // The lane `k` of the component `c` is for the slot `stride * k + c`.
            let components: Vec<Vec<usize>> =
                (0..stride).map(|c| (0..lanes).map(|k| stride * k + c).collect()).collect();
            for vector in 0..stride {
                let choices = own.stored(vector);
                let expected: Vec<usize> = (vector * lanes..(vector + 1) * lanes).collect();
                assert_eq!(chosen(&components, &choices), expected);
                assert_eq!(blended(&components, &choices), expected);
            }
        }
    }

    #[test]
    fn tables_hold_the_indices() {
        let own = Interleaving::new(8, 3);
        let indices = of_one(&own.loaded()[0]);
        for bytes in [4, 8] {
            let table = &table(&indices, bytes).0[..8 * bytes];
            let found: Vec<usize> = table.chunks(bytes).map(|index| index[0].into()).collect();
            assert_eq!(found, indices);
        }
    }
}
