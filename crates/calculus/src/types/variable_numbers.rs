//! The numbers of type variables and of declared types: who gives out which.
//!
//! A variable is its number, so two makers of variables whose types may meet must not share any.
//! Each has a range of its own here, and the program is not compiled if two of them overlap. A
//! number beyond the end of a range is a panic, never a number of the next range.
//!
//! Two kinds of numbers are counted apart: those of variables (`VARIABLES`) and those of declared
//! types (`DECLARATIONS`). The array IR has types of its own, which no type of core is part of:
//! its sizes ([`ARRAY_SIZES`], [`ARRAY_BOUND_SIZES`]) may have any numbers, but different ones.

/// A range of numbers that one maker gives out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NumberRange {
    /// The first number.
    first: u32,
    /// The last number.
    last: u32,
}

impl NumberRange {
    /// Returns the number at a position.
    ///
    /// # Panics
    /// If the range has fewer numbers.
    pub fn nth(self, at: usize) -> u32 {
        let number = u32::try_from(at).ok().and_then(|at| self.first.checked_add(at));
        number.filter(|number| *number <= self.last).unwrap_or_else(|| self.exhausted())
    }

    /// Returns the number at a position, counted from the last one down.
    ///
    /// # Panics
    /// If the range has fewer numbers.
    pub fn nth_from_last(self, at: usize) -> u32 {
        let number = u32::try_from(at).ok().and_then(|at| self.last.checked_sub(at));
        number.filter(|number| *number >= self.first).unwrap_or_else(|| self.exhausted())
    }

    fn exhausted(self) -> ! {
        panic!("the numbers {:#x} to {:#x} are all given out", self.first, self.last)
    }

    /// Returns how many numbers the range has; the range of all numbers is none.
    pub const fn count(self) -> u32 {
        self.last - self.first + 1
    }

    /// Returns the position of a number; `None` for a number of another range.
    pub const fn position(self, number: u32) -> Option<usize> {
        if self.contains(number) { Some((number - self.first) as usize) } else { None }
    }

    /// Returns true for a number of the range.
    pub const fn contains(self, number: u32) -> bool {
        self.first <= number && number <= self.last
    }

    /// Returns true if no number is in both ranges.
    const fn is_disjoint(self, other: NumberRange) -> bool {
        self.last < other.first || other.last < self.first
    }
}

const fn range(first: u32, last: u32) -> NumberRange {
    assert!(first <= last);
    NumberRange { first, last }
}

/// Variables and declared types of programs, by `Env::fresh_id` of the checker, which counts up.
/// Types of one session stand beside each other, so each has another number.
pub const SESSION: NumberRange = range(0, 0x1fff_ffff);

/// Variables in place of declared types and of field names, by which `iso::labels` compares two
/// types. They stand beside variables of the session and those of equations ([`EQUATION_SIZES`]).
pub const LABELS: NumberRange = range(0x2000_0000, 0x27ff_ffff);

/// The size at which `eval::json` opens a type `T ^ ?K`, to see its element; one at a time.
pub const JSON_SIZES: NumberRange = range(0x2800_0000, 0x2800_0000);

/// Sizes that a file tells, within one description of a file type (`types::stored`).
pub const FILE_SIZES: NumberRange = range(0x3000_0000, 0x3000_0fff);

/// Sizes by which `iso::equations` writes the solutions of an equation. They are substituted into
/// types of the session.
pub const EQUATION_SIZES: NumberRange = range(0x3fff_ffff, 0x5fff_ffff);

/// Parameters and opened sizes of signatures of primitives (`core::signature`), which are
/// instantiated at types of the session.
pub const SIGNATURE_PARAMETERS: NumberRange = range(0x6000_0000, 0x6fff_ffff);

/// Parameters of the types of compact records (`types::compact_record`), for which their parts are
/// substituted; the types themselves, among declared types.
pub const COMPACT_RECORDS: NumberRange = range(0x7000_0000, 0x7fff_ffff);

/// Variables in place of whole products of lists (`types::rest`), beside the variables of the list.
pub const WHOLE_PRODUCTS: NumberRange = range(0x8000_0000, 0xefff_ffff);

/// Sizes that no rule computes, in a point of `iso::fingerprint`, which has values of variables.
pub const UNKNOWN_SIZES: NumberRange = range(0xf000_0000, 0xf0ff_ffff);

/// Sizes that the statements of inlined functions open (the builder of the array IR): the variable
/// of a statement stands for another size in each call.
pub const INLINED_SIZES: NumberRange = range(0xf100_0000, 0xf1ff_ffff);

/// Variables bound by existential types (`types::existential`), whose numbers say by which. They
/// are the last ones: they are told from free ones wherever a type is made.
pub const BOUND_VARIABLES: NumberRange = range(0xfff0_0000, u32::MAX);

/// Abstract types of which the storage alone is known (`types::opaque`): as far from the last
/// number as the declaration whose name they have is from the first of the session.
pub const STORAGE_OF_ABSTRACT_TYPES: NumberRange = range(u32::MAX - SESSION.last, u32::MAX);

/// Size variables of a function of the array IR.
pub const ARRAY_SIZES: NumberRange = range(0, (1 << 20) - 1);

/// Size variables that an existential type of the array IR binds: `?0` has the last number.
pub const ARRAY_BOUND_SIZES: NumberRange = range(u32::MAX - 15, u32::MAX);

/// The ranges of type variables of core.
const VARIABLES: &[NumberRange] = &[
    SESSION,
    LABELS,
    JSON_SIZES,
    FILE_SIZES,
    EQUATION_SIZES,
    SIGNATURE_PARAMETERS,
    COMPACT_RECORDS,
    WHOLE_PRODUCTS,
    UNKNOWN_SIZES,
    INLINED_SIZES,
    BOUND_VARIABLES,
];

/// The ranges of declared types.
const DECLARATIONS: &[NumberRange] = &[SESSION, COMPACT_RECORDS, STORAGE_OF_ABSTRACT_TYPES];

/// The ranges of sizes of the array IR.
const SIZES_OF_ARRAYS: &[NumberRange] = &[ARRAY_SIZES, ARRAY_BOUND_SIZES];

/// Returns true if no number is in two of these ranges.
const fn all_disjoint(ranges: &[NumberRange]) -> bool {
    let mut at = 0;
    while at < ranges.len() {
        let mut other = at + 1;
        while other < ranges.len() {
            if !ranges[at].is_disjoint(ranges[other]) {
                return false;
            }
            other += 1;
        }
        at += 1;
    }
    true
}

const _: () = assert!(all_disjoint(VARIABLES) && all_disjoint(DECLARATIONS) && all_disjoint(SIZES_OF_ARRAYS));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_gives_out_its_own_numbers() {
        assert_eq!((FILE_SIZES.nth(0), FILE_SIZES.nth(0xfff)), (0x3000_0000, 0x3000_0fff));
        assert_eq!(ARRAY_BOUND_SIZES.nth_from_last(1), u32::MAX - 1);
        assert_eq!((FILE_SIZES.position(0x3000_0002), FILE_SIZES.position(0x3000_1000)), (Some(2), None));
        let beyond = |number: fn() -> u32| std::panic::catch_unwind(number).is_err();
        assert!(beyond(|| FILE_SIZES.nth(0x1000)) && beyond(|| BOUND_VARIABLES.nth(usize::MAX)));
        assert!(beyond(|| ARRAY_BOUND_SIZES.nth_from_last(16)));
    }

    #[test]
    fn ranges_that_overlap_are_found() {
        assert!(!all_disjoint(&[range(0, 9), range(20, 29), range(9, 12)]));
        assert!(all_disjoint(&[range(0, 9), range(20, 29), range(10, 19)]));
    }
}
