//! `:dispatch`, `:can` and `:instances`: sessions in `tests/dispatch/*.in` with their answers in
//! `.out`. They run in the folder of the examples, whose modules they import.
//!
//! `BLESS=1 cargo test --test tools dispatch` rewrites the `.out` files. Hashes of kernels, which
//! change with every pass of the compiler, are left out of them.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// Replaces the hash of each line `kernel HASH`.
fn without_hashes(text: &str) -> String {
    let line = |line: &str| match line.strip_prefix("kernel ") {
        Some(rest) => {
            let (hash, rest) = rest.split_at(16);
            assert!(hash.chars().all(|c| c.is_ascii_hexdigit()), "{line}");
            format!("kernel HASH{rest}")
        }
        None => line.to_string(),
    };
    text.lines().map(|text| line(text) + "\n").collect()
}

#[test]
fn sessions_answer_as_written() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let bless = std::env::var_os("BLESS").is_some_and(|v| v == "1");
    let (mut wrong, mut count) = (String::new(), 0);
    for entry in fs::read_dir(root.join("tests/dispatch")).expect("the sessions") {
        let path = entry.expect("a readable entry").path();
        if path.extension().is_none_or(|e| e != "in") {
            continue;
        }
        count += 1;
        let input = fs::read(&path).expect("a text");
        let mut felis = Command::new(env!("CARGO_BIN_EXE_felis"))
            .current_dir(root.join("examples"))
            .env("NO_COLOR", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("felis starts");
        felis.stdin.take().expect("a pipe").write_all(&input).expect("felis reads");
        let output = felis.wait_with_output().expect("felis ends");
        let shown = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
        let shown = without_hashes(&shown);
        let golden = path.with_extension("out");
        if bless {
            fs::write(&golden, &*shown).expect("writable");
        } else if fs::read_to_string(&golden).unwrap_or_default() != shown {
            wrong += &format!("{}:\n{shown}", path.display());
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(count >= 2);
}
