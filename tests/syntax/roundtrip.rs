//! Printing and parsing as inverse operations: on random trees, and on the programs of this folder.

use crate::random_trees::TreeGenerator;
use crate::trees::{Dice, bare, read, stmts};
use felis_syntax::syntax::unparse;
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn printed_trees_read_back(seed: u64, depth in 1u32..6) {
        let tree = vec![TreeGenerator { dice: Dice(seed) }.stmt(depth)];
        let text = unparse::print(&tree);
        let (again, errors) = read(&text);
        prop_assert!(errors.is_empty(), "{}\n{}", text, errors);
        prop_assert!(bare(&tree) == bare(&again), "{}\n{}", text, unparse::print(&again));
    }
}

#[test]
fn programs_read_back() {
    for text in [include_str!("reshape.flx"), include_str!("sums.flx"), include_str!("encoding.flx")] {
        let tree = stmts(text);
        let printed = unparse::print(&tree);
        assert_eq!(bare(&tree), bare(&stmts(&printed)), "{printed}");
        assert_eq!(printed, unparse::print(&stmts(&printed)));
    }
}
