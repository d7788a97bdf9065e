//! The file that stores the lines of a session.
//!
//! Gives its path, in the user's data folder or as stated by `FELIS_HISTORY`; makes its folder. The
//! line editor reads and writes the file.

use std::ffi::OsString;
use std::path::PathBuf;

/// The environment variable with the path of another file; empty or `off` disables the history.
pub const HISTORY_VARIABLE: &str = "FELIS_HISTORY";

/// Returns the path of the file, unless the history is disabled or has no folder.
pub fn history_file() -> Option<PathBuf> {
    let file = history_path(|variable| std::env::var_os(variable))?;
    // Without its folder the file cannot be written, and the session has no history.
    std::fs::create_dir_all(file.parent()?).ok()?;
    Some(file)
}

/// Returns the path of the file by the variables of the environment.
fn history_path(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    if let Some(said) = variable(HISTORY_VARIABLE) {
        let off = said.is_empty() || said.eq_ignore_ascii_case("off");
        return (!off).then(|| PathBuf::from(said));
    }
    let folder = |name| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let data = folder("XDG_DATA_HOME").or_else(|| Some(folder("HOME")?.join(".local/share")))?;
    Some(data.join("felis").join("history"))
}

#[cfg(test)]
mod tests {
    use super::history_path;
    use std::path::PathBuf;

    fn with(variables: &[(&str, &str)]) -> Option<PathBuf> {
        history_path(|name| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into()))
    }

    #[test]
    fn variables_say_where() {
        assert_eq!(with(&[("HOME", "/home/a")]), Some("/home/a/.local/share/felis/history".into()));
        assert_eq!(
            with(&[("HOME", "/home/a"), ("XDG_DATA_HOME", "/data")]),
            Some("/data/felis/history".into())
        );
        // A relative folder would change with the working folder.
        assert_eq!(
            with(&[("HOME", "/home/a"), ("XDG_DATA_HOME", "data")]),
            Some("/home/a/.local/share/felis/history".into())
        );
        assert_eq!(with(&[("HOME", "/home/a"), ("FELIS_HISTORY", "lines")]), Some("lines".into()));
        assert_eq!(with(&[("HOME", "/home/a"), ("FELIS_HISTORY", "")]), None);
        assert_eq!(with(&[("HOME", "/home/a"), ("FELIS_HISTORY", "off")]), None);
        assert_eq!(with(&[]), None);
    }
}
