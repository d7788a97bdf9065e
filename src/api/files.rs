//! Files that an embedder gives to a session.

use crate::session;
use std::io::{Error, ErrorKind, Result};
use std::sync::Arc;

/// The files that programs may use: modules for `import`, and data. The library itself opens none.
///
/// Paths are as programs write them; those of imports are joined with the folder of the importing
/// text, `.` and `..` resolved.
///
/// ```
/// use std::{collections::HashMap, io, sync::Mutex};
///
/// struct InMemory(Mutex<HashMap<String, Vec<u8>>>);
///
/// impl felis::FileSystem for InMemory {
///     fn read(&self, path: &str) -> io::Result<Vec<u8>> {
///         self.0.lock().unwrap().get(path).cloned().ok_or(io::ErrorKind::NotFound.into())
///     }
///     fn write(&self, path: &str, bytes: &[u8]) -> io::Result<()> {
///         self.0.lock().unwrap().insert(path.into(), bytes.into());
///         Ok(())
///     }
/// }
///
/// let unit = ("unit.flx".to_string(), b"export val metre = 100;".to_vec());
/// let files = InMemory(Mutex::new(HashMap::from([unit])));
/// let mut session = felis::Session::new().with_files(files);
/// let n: i64 = session.evaluate("import \"unit.flx\"; 2 * unit::metre")?.value()?.try_into()?;
/// assert_eq!(n, 200);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait FileSystem: Send + Sync + 'static {
    /// Reads a whole file.
    ///
    /// # Errors
    /// There is no such file ([`ErrorKind::NotFound`]), or it cannot be read.
    fn read(&self, path: &str) -> Result<Vec<u8>>;

    /// Writes a file, wholly or not at all.
    ///
    /// # Errors
    /// The file cannot be written; so says this default, which supports no writing.
    fn write(&self, path: &str, bytes: &[u8]) -> Result<()> {
        let _ = (path, bytes);
        Err(Error::new(ErrorKind::Unsupported, "files cannot be written here"))
    }
}

/// Files of data for the session.
pub(super) struct Data<F>(pub Arc<F>);

impl<F: FileSystem> session::FileSystem for Data<F> {
    fn read(&self, path: &str, most: u64) -> std::result::Result<Vec<u8>, String> {
        let bytes = self.0.read(path).map_err(|error| reason(&error))?;
        match bytes.len() as u64 > most {
            true => Err("it is larger than the memory that may be used".to_string()),
            false => Ok(bytes),
        }
    }

    fn write(&self, path: &str, bytes: &[u8]) -> std::result::Result<(), String> {
        self.0.write(path, bytes).map_err(|error| error.to_string())
    }
}

/// Files as modules.
pub(super) struct Modules<F>(pub Arc<F>);

impl<F: FileSystem> session::Loader for Modules<F> {
    fn find(
        &self,
        from: Option<&session::ModuleLocation>,
        path: &str,
    ) -> std::result::Result<session::ModuleLocation, session::NotFound> {
        let folder = from.and_then(|place| place.id.rsplit_once('/')).map_or("", |(folder, _)| folder);
        let name = joined(folder, path);
        match self.0.read(&name) {
            Ok(_) => Ok(session::ModuleLocation { id: name.clone(), name }),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                Err(session::NotFound::Absent { looked: name, beside: Vec::new() })
            }
            Err(error) => Err(session::NotFound::Unusable(reason(&error))),
        }
    }

    fn read(&self, place: &session::ModuleLocation) -> std::result::Result<String, String> {
        let bytes = self.0.read(&place.id).map_err(|error| reason(&error))?;
        String::from_utf8(bytes).map_err(|_| "it is not UTF-8 text".to_string())
    }
}

fn reason(error: &Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => "there is no such file".to_string(),
        _ => error.to_string(),
    }
}

/// A path seen from a folder, without `.` and, where there is a folder to leave, without `..`.
fn joined(folder: &str, path: &str) -> String {
    let root = if path.starts_with('/') || folder.starts_with('/') { "/" } else { "" };
    let folder = if path.starts_with('/') { "" } else { folder };
    let mut parts: Vec<&str> = Vec::new();
    for part in folder.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    format!("{root}{}", parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::joined;

    #[test]
    fn paths_are_joined_and_tidy() {
        let cases = [
            ("", "a.flx", "a.flx"),
            ("x/y", "../a.flx", "x/a.flx"),
            ("x", "./z//a", "x/z/a"),
            ("", "../a", "../a"),
            ("..", "../a", "../../a"),
            ("/x", "a", "/x/a"),
            ("x", "/a", "/a"),
        ];
        for (folder, path, wanted) in cases {
            assert_eq!(joined(folder, path), wanted);
        }
    }
}
