//! Memory of sizes: it stays bounded when a program opens another size in each iteration.

use crate::alone;
use felis::session::{Mode, Session, Status};

#[test]
fn loops_that_open_new_sizes_do_not_grow() {
    let _alone = alone();
    let rounds = |n: usize| {
        let text = format!(
            "var total = 0;
proc go() {{
  for i in 0..<{n} do
    val x : int ^ ?N = iota (i % 83);
    val y : int ^ ?M = iota (i % 89);
    val f = fun (k:int) => k + #sizeof[N] + #sizeof[M];
    total = total + f 1;
  done
}}
go (); println total;"
        );
        let mut session = Session::new();
        let mut printed = String::new();
        let outcome = session.evaluate("test", &text, Mode::Script, &mut |s| printed.push_str(s));
        assert_eq!(outcome.status, Status::Ok);
        printed.trim_end().to_string()
    };
    let before = resident();
    assert_eq!(rounds(100_000), (0..100_000u64).map(|i| 1 + i % 83 + i % 89).sum::<u64>().to_string());
    let grown = resident().saturating_sub(before);
    assert!(grown < 100 << 20, "{} MiB more", grown >> 20);
}

/// Returns the resident memory of this process in bytes, if the system reports it.
fn resident() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    text.split_whitespace().nth(1).and_then(|pages| pages.parse::<u64>().ok()).unwrap_or(0) * 4096
}
