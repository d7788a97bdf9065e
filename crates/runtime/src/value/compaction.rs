//! Compaction: the elements of a buffer that a mask chooses, in order.

use super::Buffer;

/// Elements that are compacted at a time.
const BLOCK: usize = 256;

impl Buffer {
    /// Appends elements of `slots` slots of another buffer: of those that begin at slot `start`,
    /// the ones at which the mask is not 0. The buffer has room for them.
    pub fn append_masked(&mut self, other: &Buffer, start: usize, slots: usize, mask: &[u8]) {
        match (self, other) {
            (Buffer::U8(v), Buffer::U8(w)) if slots == 1 => compact(v, &w[start..], mask),
            (Buffer::U16(v), Buffer::U16(w)) if slots == 1 => compact(v, &w[start..], mask),
            (Buffer::U32(v), Buffer::U32(w)) if slots == 1 => compact(v, &w[start..], mask),
            (Buffer::Word(v), Buffer::Word(w)) if slots == 1 => compact(v, &w[start..], mask),
            (Buffer::Wide(v), Buffer::Wide(w)) if slots == 1 => compact(v, &w[start..], mask),
            (this, other) => {
                for (first, count) in runs(mask) {
                    this.extend(other, start + first * slots, count * slots);
                }
            }
        }
    }
}

/// Appends the elements at which the mask is not 0. Without a branch for each element: masks of
/// data are seldom predictable.
fn compact<T: Copy + Default>(to: &mut Vec<T>, from: &[T], mask: &[u8]) {
    let mut block = [T::default(); BLOCK];
    for (from, mask) in from.chunks(BLOCK).zip(mask.chunks(BLOCK)) {
        let mut kept = 0;
        for (element, chosen) in from.iter().zip(mask) {
            // At most as many are kept as have been looked at.
            block[kept % BLOCK] = *element;
            kept += usize::from(*chosen != 0);
        }
        to.extend_from_slice(&block[..kept]);
    }
}

/// The runs of chosen elements: the first of each and their number.
fn runs(mask: &[u8]) -> impl Iterator<Item = (usize, usize)> + '_ {
    let mut at = 0;
    std::iter::from_fn(move || {
        let first = at + mask[at..].iter().position(|chosen| *chosen != 0)?;
        let count = mask[first..].iter().take_while(|chosen| **chosen != 0).count();
        at = first + count;
        Some((first, count))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compaction of random masks is that of the definition, for elements of one and of several
    /// slots.
    #[test]
    fn chosen_elements_are_those_of_the_mask() {
        for seed in 0..200 {
            let mut random = fastrand::Rng::with_seed(seed);
            let (count, slots, start) = (random.usize(0..700), random.usize(1..4), random.usize(0..3));
            let density = random.u8(0..=4);
            let mask: Vec<u8> = (0..count).map(|_| u8::from(random.u8(0..4) < density)).collect();
            let words: Vec<u64> = (0..start + count * slots).map(|_| random.u64(..)).collect();
            let mut expected = Vec::new();
            for (element, chosen) in words[start..].chunks(slots).zip(&mask) {
                if *chosen != 0 {
                    expected.extend_from_slice(element);
                }
            }
            let mut found = Buffer::Word(Vec::new());
            found.append_masked(&Buffer::Word(words.clone()), start, slots, &mask);
            assert!(matches!(&found, Buffer::Word(v) if *v == expected), "seed {seed}");
            let bytes: Vec<u8> = words.iter().map(|word| *word as u8).collect();
            let mut found = Buffer::U8(Vec::new());
            found.append_masked(&Buffer::U8(bytes), start, slots, &mask);
            let narrow: Vec<u8> = expected.iter().map(|word| *word as u8).collect();
            assert!(matches!(&found, Buffer::U8(v) if *v == narrow), "seed {seed}");
        }
    }
}
