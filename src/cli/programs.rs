//! The programs that arguments name: files, and all programs below folders.
//!
//! Takes paths; gives the files in the order of the arguments, those of a folder by their paths.
//! Hidden folders, and links to folders, are not searched.

use super::output::{display_path, print_error};
use super::{exit, input};
use std::path::{Path, PathBuf};

/// The ending of programs, without its dot.
const EXTENSION: &str = "flx";

/// The maximum depth of folders that are searched.
const MAX_DEPTH: usize = 64;

/// Returns the programs that are named, with all below each folder. Without arguments, those below
/// the working directory. A file that is named is there whatever its ending is, and whether `picks`
/// holds of its text or not; one that is found in a folder only if `picks` does.
///
/// # Errors
/// A message and the exit code: a folder cannot be read, or holds no program.
pub fn named_programs(paths: &[PathBuf], picks: impl Fn(&str) -> bool) -> Result<Vec<PathBuf>, u8> {
    let here = [PathBuf::from(".")];
    let paths = if paths.is_empty() { &here[..] } else { paths };
    let mut programs = Vec::new();
    for path in paths {
        if !path.is_dir() {
            programs.push(path.clone());
            continue;
        }
        let mut found = Vec::new();
        if let Err(error) = search(path, 0, &mut found) {
            print_error(&format!("felis: cannot search `{}`: {error}", display_path(path)));
            return Err(exit::USAGE);
        }
        if found.is_empty() {
            let name = display_path(path);
            print_error(&format!("felis: there is no program below `{name}`: no file ends in `.flx`"));
            return Err(exit::USAGE);
        }
        // What cannot be read is reported where it is used.
        found.retain(|file| input::read(file).map_or(true, |source| picks(&source.text)));
        found.sort();
        programs.extend(found);
    }
    Ok(programs)
}

/// Adds the programs in a folder, and in those below it.
fn search(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let (name, kind) = (entry.file_name(), entry.file_type()?);
        if name.to_string_lossy().starts_with('.') {
            continue;
        }
        // `./a.flx` is named as the user would: `a.flx`.
        let path = if folder.as_os_str() == "." { PathBuf::from(&name) } else { folder.join(&name) };
        if kind.is_dir() && depth < MAX_DEPTH {
            search(&path, depth + 1, found)?;
        } else if !kind.is_dir() && path.extension().is_some_and(|own| own == EXTENSION) && path.is_file() {
            found.push(path);
        }
    }
    Ok(())
}

/// Returns true if a text may hold what `felis test` runs: an example in a doc comment, or a test.
pub fn may_hold_tests(text: &str) -> bool {
    text.lines().map(str::trim_start).any(|line| {
        let example = line.strip_prefix("///").is_some_and(|doc| doc.trim_start().starts_with('>'));
        example || holds_block(line, "test")
    })
}

/// Returns true if a text may hold what `felis bench` runs.
pub fn may_hold_benches(text: &str) -> bool {
    text.lines().any(|line| holds_block(line, "bench"))
}

/// Returns true if a line may hold the beginning of a block `WORD "name" {`.
fn holds_block(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(at, _)| line[at + word.len()..].trim_start().starts_with('"'))
}

#[cfg(test)]
mod tests {
    use super::{may_hold_benches, may_hold_tests};

    #[test]
    fn texts_with_something_to_run_are_found() {
        assert!(may_hold_tests("fun f(n:int):int => n;\ntest \"one\" {\n}\n"));
        assert!(may_hold_tests("/// Text.\n///\n///   > f 1\n/// 1\nfun f(n:int):int => n;\n"));
        assert!(!may_hold_tests("// > f 1\nval test = 1;\n"));
        assert!(may_hold_benches("  bench  \"a\" { }"));
        assert!(!may_hold_benches("val bench = 1;"));
    }
}
