//! Files for the server: open buffers before those on disk, the library's texts as files, the
//! programs of the workspace.
//!
//! Takes paths; gives texts and URIs. Writes only copies of the library and of the reference, which
//! editors display, into a folder of their own.

use super::super::files::FileLoader;
use super::super::input;
use super::super::replace::{self, Access};
use super::uri;
use felis::session::{Loader, ModuleLocation, NotFound, reference};
use lsp_types::Uri;
use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// The open texts, by the ids of their files.
pub type Buffers = Arc<Mutex<HashMap<String, String>>>;

/// A loader that finds files as the command does, and prefers open texts.
pub struct BufferLoader {
    /// The loader of files on disk.
    files: FileLoader,
    /// The folder of the program.
    folder: PathBuf,
    /// The open texts.
    buffers: Buffers,
}

impl BufferLoader {
    /// Returns a loader whose paths are relative to the folder of a program.
    pub fn relative_to(program: &Path, buffers: Buffers) -> BufferLoader {
        let folder = program.parent().map(Path::to_path_buf).unwrap_or_default();
        BufferLoader { files: FileLoader::relative_to(program), folder, buffers }
    }

    /// Returns the text of an open file.
    fn open(&self, id: &str) -> Option<String> {
        self.buffers.lock().ok()?.get(id).cloned()
    }
}

impl Loader for BufferLoader {
    fn find(&self, from: Option<&ModuleLocation>, path: &str) -> Result<ModuleLocation, NotFound> {
        self.files.find(from, path).or_else(|missing| {
            // An open text that is not yet saved counts as a file.
            let folder = match from {
                Some(place) => Path::new(&place.id).parent().map(Path::to_path_buf).unwrap_or_default(),
                None => self.folder.clone(),
            };
            let id = file_id(&folder.join(path));
            match (missing, self.open(&id)) {
                (NotFound::Absent { .. }, Some(_)) => Ok(ModuleLocation { name: id.clone(), id }),
                (missing, _) => Err(missing),
            }
        })
    }

    fn read(&self, place: &ModuleLocation) -> Result<String, String> {
        match self.open(&place.id) {
            Some(text) => Ok(text),
            None => self.files.read(place),
        }
    }
}

/// Returns the id of a file: its path without links, as far as it exists.
pub fn file_id(path: &Path) -> String {
    if let Ok(real) = path.canonicalize() {
        return real.display().to_string();
    }
    match (path.parent().and_then(|folder| folder.canonicalize().ok()), path.file_name()) {
        (Some(folder), Some(name)) => folder.join(name).display().to_string(),
        _ => path.display().to_string(),
    }
}

/// The copies for editors, in a folder of their own.
pub struct LibraryCopies {
    /// The folder; `None` if the user has no cache folder.
    folder: Option<PathBuf>,
    /// The URIs of the copies made so far; `None` for a copy that could not be made.
    made: RefCell<HashMap<String, Option<Uri>>>,
}

impl LibraryCopies {
    /// Returns the copies in the user's cache folder, by the version of Felis.
    pub fn new() -> LibraryCopies {
        let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
        let base = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
        let base = base.or_else(home).unwrap_or_else(std::env::temp_dir);
        let folder = base.join("felis").join(env!("CARGO_PKG_VERSION"));
        let folder = std::fs::create_dir_all(&folder).ok().map(|()| file_id(&folder).into());
        LibraryCopies { folder, made: RefCell::default() }
    }

    /// Returns true if a file is such a copy.
    pub fn contains(&self, path: &Path) -> bool {
        self.folder.as_ref().is_some_and(|folder| path.starts_with(folder))
    }

    /// Returns a text of the library as a file with the name that messages use.
    pub fn library(&self, name: &str, text: &str) -> Option<Uri> {
        self.copy_once(name, || Some(text.to_string()))
    }

    /// Returns the page of the reference about a code as a file.
    pub fn explanation(&self, code: &str) -> Option<Uri> {
        self.copy_once(&format!("explain/{code}.md"), || {
            Some(format!("# {code}\n\n{}\n", reference::explain(code)?))
        })
    }

    /// Returns the copy with a name; writes it at the first call.
    fn copy_once(&self, name: &str, text: impl FnOnce() -> Option<String>) -> Option<Uri> {
        if let Some(made) = self.made.borrow().get(name) {
            return made.clone();
        }
        let made = text().and_then(|text| self.copy(name, &text));
        self.made.borrow_mut().insert(name.to_string(), made.clone());
        made
    }

    /// Writes a read-only copy in place of an old one.
    fn copy(&self, name: &str, text: &str) -> Option<Uri> {
        let path = self.folder.as_ref()?.join(name);
        if std::fs::read_to_string(&path).is_ok_and(|old| old == text) {
            return uri::of(&path);
        }
        let folder = path.parent()?;
        std::fs::create_dir_all(folder).ok()?;
        // Another server may write it at the same time; the replacement is atomic.
        replace::install_file(&path, text.as_bytes(), Access::ReadOnly, &|_| Ok(())).ok()?;
        uri::of(&path)
    }
}

/// The maximum number of programs found in a workspace.
const MAX_PROGRAMS: usize = 2_000;
/// The maximum depth of folders below those of the workspace.
const MAX_FOLDER_DEPTH: usize = 12;
/// The maximum number of entries of folders that are read.
const MAX_DIRECTORY_ENTRIES: usize = 100_000;

/// Finds the programs below these folders, except those in hidden folders and in folders made by
/// tools.
pub fn find_programs(folders: &[PathBuf]) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    let mut waiting: Vec<(PathBuf, usize)> = folders.iter().map(|folder| (folder.clone(), 0)).collect();
    let mut seen = 0;
    while let Some((folder, depth)) = waiting.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            seen += 1;
            if seen > MAX_DIRECTORY_ENTRIES || found.len() >= MAX_PROGRAMS {
                return found;
            }
            let (path, name) = (entry.path(), entry.file_name());
            let Ok(kind) = entry.file_type() else { continue };
            let left_out =
                name.to_string_lossy().starts_with('.') || name == "target" || name == "node_modules";
            if kind.is_dir() && !left_out && depth < MAX_FOLDER_DEPTH {
                waiting.push((path, depth + 1));
            } else if kind.is_file() && path.extension().is_some_and(|extension| extension == "flx") {
                found.insert(path);
            }
        }
    }
    found
}

/// Returns the text of a file.
pub fn read(path: &Path) -> Option<String> {
    input::read_file(path, "").ok().map(|text| text.text)
}
