//! The loader of imported files: resolves the path of an import and reads the text there.
//!
//! A path is relative to the folder of the importing text; in the texts of `-e`, of standard input
//! and of a session, to the working folder. Two paths to one file give one module. Only regular
//! files are read, never devices or pipes, which may have no end.

use super::input::{self, InputError};
use felis::session::{Loader, ModuleLocation, NotFound};
use felis_base::source::line_number;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

/// A loader of files whose paths are relative to one folder.
pub struct FileLoader {
    /// The folder.
    folder: PathBuf,
    /// The program in that folder; it is not suggested as an import to itself.
    program: PathBuf,
    /// The stamps of the requested files, if they are recorded.
    seen: Option<RecordedStamps>,
}

/// The stamps of the files that a program reads or tries to read, taken before the read.
pub type RecordedStamps = Arc<Mutex<BTreeMap<PathBuf, FileStamp>>>;

/// The modification time and the length of a file, by which a change is detected; `None` if there
/// is no file.
pub type FileStamp = Option<(SystemTime, u64)>;

/// Returns the present stamp of a file.
pub fn file_stamp(file: &Path) -> FileStamp {
    let metadata = std::fs::metadata(file).ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}

/// The maximum number of entries of a folder that are read for a suggestion.
const MAX_DIRECTORY_ENTRIES: usize = 1_000;

impl FileLoader {
    /// Returns a loader whose paths are relative to the folder of a program; for `-`, to the
    /// working folder.
    pub fn relative_to(program: &Path) -> FileLoader {
        let folder = program.parent().map(Path::to_path_buf).unwrap_or_default();
        FileLoader { folder, program: program.to_path_buf(), seen: None }
    }

    /// Records the stamp of each requested file.
    pub fn with_recorded_stamps(mut self, seen: RecordedStamps) -> FileLoader {
        self.seen = Some(seen);
        self
    }

    /// Returns a loader whose paths are relative to the working folder.
    pub fn relative_to_working_directory() -> FileLoader {
        FileLoader { folder: PathBuf::new(), program: PathBuf::new(), seen: None }
    }
}

impl Loader for FileLoader {
    fn find(&self, from: Option<&ModuleLocation>, path: &str) -> Result<ModuleLocation, NotFound> {
        // The real path begins at the importer's real folder, the shown path at its shown folder.
        let folder = |file: &str| Path::new(file).parent().map(Path::to_path_buf).unwrap_or_default();
        let (real, shown) = match from {
            Some(place) => (folder(&place.id), folder(&place.name)),
            None => (self.folder.clone(), self.folder.clone()),
        };
        let file = real.join(path);
        if let Some(seen) = &self.seen
            && let Ok(mut seen) = seen.lock()
        {
            seen.entry(file.clone()).or_insert_with(|| file_stamp(&file));
        }
        let name = normalize_path(&shown.join(path)).display().to_string();
        let unusable = |why: &str| Err(NotFound::Unusable(why.to_string()));
        let real_file = match file.canonicalize() {
            Ok(found) => found,
            Err(error) => {
                return match error.kind() {
                    ErrorKind::NotFound | ErrorKind::NotADirectory => {
                        let importer = from.map_or(self.program.as_path(), |place| Path::new(&place.id));
                        Err(NotFound::Absent {
                            looked: name,
                            beside: sibling_import_paths(&file, path, importer),
                        })
                    }
                    ErrorKind::PermissionDenied => unusable("there is no permission to read it"),
                    // A path with a zero byte, or one that is too long.
                    _ => unusable(&error.to_string()),
                };
            }
        };
        if real_file.is_dir() {
            return unusable("it is a directory");
        }
        if !real_file.is_file() {
            return unusable("it is no file");
        }
        match real_file.to_str() {
            Some(id) => Ok(ModuleLocation { id: id.to_string(), name }),
            None => unusable("the path of its folder is not UTF-8 text"),
        }
    }

    fn read(&self, place: &ModuleLocation) -> Result<String, String> {
        let refusal = match input::read_file(Path::new(&place.id), &place.name) {
            Ok(text) => return Ok(text.text),
            Err(refusal) => refusal,
        };
        Err(match refusal {
            InputError::Unreadable(message) => message,
            InputError::NotText(diagnostic, sources) => {
                let span = diagnostic.primary.span;
                let text = sources.get(span.source).map_or("", |source| &source.text);
                let line = line_number(text, span.start as usize);
                format!("it is not UTF-8 text: in line {line} {}", diagnostic.primary.text)
            }
        })
    }
}

/// Returns the programs beside a missing file, except the importer, as an import would write them.
fn sibling_import_paths(file: &Path, path: &str, importer: &Path) -> Vec<String> {
    let before = match path.rfind('/') {
        Some(at) => &path[..=at],
        None => "",
    };
    let others = sibling_programs(file).into_iter().filter(|name| file.with_file_name(name) != importer);
    others.map(|name| format!("{before}{name}")).collect()
}

/// The names of the programs in the folder of a file, in order.
pub fn sibling_programs(file: &Path) -> Vec<String> {
    let folder = match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let names = entries.take(MAX_DIRECTORY_ENTRIES).flatten().map(|entry| entry.file_name());
    let programs = names.filter(|name| Path::new(name).extension() == Some(OsStr::new("flx")));
    let mut found: Vec<String> = programs.filter_map(|name| Some(name.to_str()?.to_string())).collect();
    found.sort();
    found
}

/// Returns a path without `.` and without pairs of a folder and `..`.
fn normalize_path(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        let leaves = matches!(part, Component::ParentDir)
            && matches!(out.components().next_back(), Some(Component::Normal(_)));
        match part {
            Component::CurDir => {}
            _ if leaves => {
                out.pop();
            }
            part => out.push(part),
        }
    }
    out
}
