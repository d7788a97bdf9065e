//! Sorting of slots: numbers and codes, in their own order.
//!
//! The order is that of `before` in the standard library: numbers ascend; of floats -0 equals 0 and
//! NaN is last; sorts are stable. Elements that are equal are the same bits, but for zeros and NaN:
//! so slots without these become integers in the same order, which an unstable sort puts in order
//! sooner than a stable one that computes the key of each slot again and again. Bytes are counted.
//!
//! Nothing here is interrupted: a sort of a million slots takes a twentieth of a second.

/// Slots from which on bytes are counted.
const MIN_COUNTED: usize = 64;

/// The key by which slots are ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SortKey {
    /// Unsigned numbers.
    Unsigned,
    /// Signed numbers of this many bits.
    Signed(u32),
    /// Binary64.
    Double,
    /// Binary32.
    Single,
}

impl SortKey {
    /// Returns a number that is monotone in the value of a slot.
    #[inline(always)]
    pub fn key(self, slot: u64) -> u64 {
        const SIGN: u64 = 1 << 63;
        match self {
            SortKey::Unsigned => slot,
            SortKey::Signed(bits) => slot << (64 - bits) ^ SIGN,
            SortKey::Single => SortKey::Double.key(f64::from(f32::from_bits(slot as u32)).to_bits()),
            SortKey::Double => match f64::from_bits(slot) {
                x if x.is_nan() => u64::MAX,
                0.0 => SIGN,
                _ if slot & SIGN != 0 => !slot,
                _ => slot | SIGN,
            },
        }
    }
}

/// A slot of an array.
pub trait Slot: Copy + Ord {
    /// The number of its bits.
    const BITS: u32;
    /// Returns its bits.
    fn word(self) -> u64;
    /// Makes a slot of the lowest bits of a word.
    fn from_word(word: u64) -> Self;
}

macro_rules! slots {
    ($($ty:ident)*) => {
        $(
            impl Slot for $ty {
                const BITS: u32 = $ty::BITS;

                #[inline(always)]
                fn word(self) -> u64 {
                    self as u64
                }

                #[inline(always)]
                fn from_word(word: u64) -> $ty {
                    word as $ty
                }
            }
        )*
    };
}
slots!(u8 u16 u32 u64);

/// Sorts slots; the sort is stable.
pub fn sort_slots<T: Slot>(slots: &mut [T], key: SortKey) {
    if T::BITS == 8 && slots.len() >= MIN_COUNTED {
        return sort_bytes(slots, key);
    }
    let sign = 1u64 << (T::BITS - 1);
    match key {
        SortKey::Unsigned => slots.sort_unstable(),
        SortKey::Signed(bits) if bits == T::BITS => {
            sort_as_integers(slots, |word| word ^ sign, |number| number ^ sign);
        }
        SortKey::Double | SortKey::Single if !slots.iter().any(|slot| has_equal_bits(*slot, key)) => {
            let number = |word: u64| if word & sign != 0 { !word } else { word | sign };
            sort_as_integers(
                slots,
                number,
                |number| if number & sign != 0 { number ^ sign } else { !number },
            );
        }
        _ => slots.sort_by_key(|slot| key.key(slot.word())),
    }
}

/// Returns true for floats that equal others of other bits: -0 and NaN.
#[inline(always)]
fn has_equal_bits<T: Slot>(slot: T, key: SortKey) -> bool {
    let (sign, infinity) = match key {
        SortKey::Single => (1 << 31, u64::from(f32::INFINITY.to_bits())),
        _ => (1 << 63, f64::INFINITY.to_bits()),
    };
    slot.word() == sign || slot.word() & !sign > infinity
}

/// Sorts slots by integers that a function makes of them and another one makes slots of.
#[inline(always)]
fn sort_as_integers<T: Slot>(slots: &mut [T], to: impl Fn(u64) -> u64, from: impl Fn(u64) -> u64) {
    slots.iter_mut().for_each(|slot| *slot = T::from_word(to(slot.word())));
    slots.sort_unstable();
    slots.iter_mut().for_each(|slot| *slot = T::from_word(from(slot.word())));
}

/// Sorts bytes by counting each value.
fn sort_bytes<T: Slot>(slots: &mut [T], key: SortKey) {
    let mut counts = [0usize; 256];
    slots.iter().for_each(|slot| counts[slot.word() as usize] += 1);
    let first = if let SortKey::Signed(_) = key { 128 } else { 0 };
    let mut rest = slots;
    for value in (0..256).map(|i| (first + i) % 256) {
        let (same, later) = std::mem::take(&mut rest).split_at_mut(counts[value]);
        same.fill(T::from_word(value as u64));
        rest = later;
    }
}

/// Sets `into` to the numbers of slots in the order of their keys; both have one length. Where the
/// bits in which keys differ leave room for the number of a slot, both are one word.
pub fn order_slots<K: Slot, I: Slot>(slots: &[K], key: SortKey, into: &mut [I]) {
    let keys = slots.iter().map(|slot| key.key(slot.word()));
    let differing = differing_bits(keys.clone());
    let low = differing.trailing_zeros() % 64;
    let bits = slots.len().next_power_of_two().trailing_zeros();
    if (differing >> low).leading_zeros() >= bits {
        // Of equal bits above there are none in which the keys differ.
        let mut words: Vec<u64> =
            keys.zip(0u64..).map(|(key, i)| ((key & differing) >> low) << bits | i).collect();
        words.sort_unstable();
        let mask = (1 << bits) - 1;
        into.iter_mut().zip(words).for_each(|(index, word)| *index = I::from_word(word & mask));
    } else {
        let mut pairs: Vec<u128> = keys.zip(0u128..).map(|(key, i)| u128::from(key) << 64 | i).collect();
        pairs.sort_unstable();
        into.iter_mut().zip(pairs).for_each(|(index, pair)| *index = I::from_word(pair as u64));
    }
}

/// The bits that are not the same in all keys.
pub fn differing_bits(keys: impl Iterator<Item = u64>) -> u64 {
    let (any, every) = keys.fold((0, u64::MAX), |(any, every), key| (any | key, every & key));
    any & !every
}

#[cfg(test)]
mod tests {
    use super::{Slot, SortKey, order_slots, sort_slots};

    #[test]
    fn keys_grow_with_values() {
        let reals = [f64::NEG_INFINITY, -2.5, -5e-324, -0.0, 5e-324, 1.0, f64::INFINITY, f64::NAN];
        let keys = reals.map(|x| SortKey::Double.key(x.to_bits()));
        assert!(keys.is_sorted_by(|a, b| a < b), "{keys:x?}");
        assert_eq!(SortKey::Double.key(0), SortKey::Double.key((-0.0f64).to_bits()));
        assert_eq!(SortKey::Double.key((-f64::NAN).to_bits()), u64::MAX);
        let singles =
            [-1.5f32, -1e-45, 0.0, 1e-45, 3.0, f32::NAN].map(|x| SortKey::Single.key(x.to_bits().into()));
        assert!(singles.is_sorted_by(|a, b| a < b));
        let bytes = [-128i8, -1, 0, 1, 127].map(|n| SortKey::Signed(8).key((n as u8).into()));
        assert!(bytes.is_sorted_by(|a, b| a < b));
        let ints = [i64::MIN, -1, 0, 1, i64::MAX].map(|n| SortKey::Signed(64).key(n as u64));
        assert!(ints.is_sorted_by(|a, b| a < b));
    }

    /// Compares the sort and the order of slots with a stable sort by their keys.
    fn check<T: Slot + std::fmt::Debug>(slots: &[T], key: SortKey) {
        let mut wanted: Vec<usize> = (0..slots.len()).collect();
        wanted.sort_by_key(|i| key.key(slots[*i].word()));
        let mut order = vec![0u32; slots.len()];
        order_slots(slots, key, &mut order);
        assert!(order.iter().map(|i| *i as usize).eq(wanted.iter().copied()), "{key:?} {slots:?}: {order:?}");
        let mut sorted = slots.to_vec();
        sort_slots(&mut sorted, key);
        assert!(sorted.iter().eq(wanted.iter().map(|i| &slots[*i])), "{key:?} {slots:?}: {sorted:?}");
    }

    #[test]
    fn sorts_are_stable_sorts_by_keys() {
        let mut random = fastrand::Rng::with_seed(29);
        let special = [0.0, -0.0, f64::NAN, -f64::NAN, 1.0, -1.0, f64::INFINITY, f64::NEG_INFINITY, 5e-324];
        for length in [0, 1, 2, 3, 17, 63, 64, 100, 1000] {
            for round in 0..6 {
                let mut words =
                    |mask: u64| -> Vec<u64> { (0..length).map(|_| random.u64(..) & mask).collect() };
                let (all, few) = (words(u64::MAX), words(7 << 40));
                for numbers in [&all, &few] {
                    check(numbers, SortKey::Unsigned);
                    check(numbers, SortKey::Signed(64));
                    check(numbers, SortKey::Double);
                }
                let mut float = || special[random.usize(..special.len())] * if round < 3 { 1.0 } else { 0.5 };
                let floats: Vec<f64> = (0..length).map(|_| float()).collect();
                check(&floats.iter().map(|x| x.to_bits()).collect::<Vec<_>>(), SortKey::Double);
                check(&floats.iter().map(|x| (*x as f32).to_bits()).collect::<Vec<_>>(), SortKey::Single);
                let narrow: Vec<u32> = all.iter().map(|word| *word as u32).collect();
                check(&narrow, SortKey::Single);
                check(&narrow, SortKey::Signed(32));
                check(&narrow, SortKey::Unsigned);
                let bytes: Vec<u8> = all.iter().map(|word| *word as u8).collect();
                check(&bytes, SortKey::Unsigned);
                check(&bytes, SortKey::Signed(8));
                let halves: Vec<u16> = all.iter().map(|word| *word as u16).collect();
                check(&halves, SortKey::Signed(16));
            }
        }
    }
}
