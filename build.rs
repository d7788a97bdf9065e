//! The text of `felis --version`, which names version, commit and target, and the table of the
//! library's statements.
//!
//! The commit is that of the repository which is built, or the variable `FELIS_COMMIT` where a
//! package is built without one. A build for development names none: it would be built again after
//! each commit.

use std::path::Path;
use std::process::Command;

#[path = "src/session/library/files.rs"]
mod files;
// A run uses the part that answers questions.
#[allow(dead_code)]
#[path = "src/session/library/index.rs"]
mod index;

fn main() {
    // The texts of the library are part of this program.
    println!("cargo::rerun-if-changed=build.rs");
    write_table();
    println!("cargo::rerun-if-env-changed=FELIS_COMMIT");
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let target = variable("TARGET").unwrap_or_default();
    let commit = variable("FELIS_COMMIT").or_else(|| {
        let release = variable("PROFILE").is_some_and(|profile| profile == "release");
        if release { commit_of_repository() } else { None }
    });
    let commit = commit.unwrap_or_else(|| "development".to_string());
    let version = variable("CARGO_PKG_VERSION").unwrap_or_default();
    println!("cargo::rustc-env=FELIS_VERSION={version} ({commit}, {target})");
}

/// Writes the table of the library's statements where the library includes it.
fn write_table() {
    let folder = std::env::var("OUT_DIR").expect("Cargo names the folder for what a build script writes");
    let path = Path::new(&folder).join("library_table.txt");
    std::fs::write(&path, index::table_text()).expect("the folder of the build can be written");
}

/// Returns the abbreviated commit of the repository that this package is the root of, with `+` if
/// files differ from it; `None` without a repository or without `git`.
fn commit_of_repository() -> Option<String> {
    let git = |arguments: &[&str]| {
        let output = Command::new("git").args(arguments).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        output.status.success().then(|| text.trim().to_string())
    };
    // A package that is unpacked within another repository has no commit.
    if !git(&["rev-parse", "--show-prefix"])?.is_empty() {
        return None;
    }
    for name in ["HEAD", "logs/HEAD"] {
        println!("cargo::rerun-if-changed={}", git(&["rev-parse", "--git-path", name])?);
    }
    for name in ["Cargo.toml", "crates", "src", "stdlib"] {
        println!("cargo::rerun-if-changed={name}");
    }
    let commit = git(&["rev-parse", "--short=10", "HEAD"])?;
    let changed = !git(&["status", "--porcelain", "--untracked-files=no"])?.is_empty();
    Some(format!("{commit}{}", if changed { "+" } else { "" }))
}
