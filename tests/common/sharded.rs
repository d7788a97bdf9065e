//! Random tests cut into parts that run at the same time.

/// Declares the tests `NAME::part_1` … `NAME::part_4`, each of which calls `NAME(part, 4)`, part
/// counted from 0.
macro_rules! in_four_parts {
    ($name:ident) => {
        mod $name {
            #[test]
            fn part_1() {
                super::$name(0, 4);
            }

            #[test]
            fn part_2() {
                super::$name(1, 4);
            }

            #[test]
            fn part_3() {
                super::$name(2, 4);
            }

            #[test]
            fn part_4() {
                super::$name(3, 4);
            }
        }
    };
}
pub(crate) use in_four_parts;
