//! The files around: open buffers before those on disk, the library's texts as files, other programs of the
//! workspace.
//!
//! Takes paths; gives texts and places. Writes nothing but copies of the library and of the reference, for
//! editors to show, into a folder of their own.

use super::super::files::Files;
use super::super::input;
use super::super::replace::{self, Access};
use super::uri;
use felis::session::{Loader, NotFound, Place, reference};
use lsp_types::Uri;
use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// The texts that are open, by the ids of their files.
pub type Buffers = Arc<Mutex<HashMap<String, String>>>;

/// Finds files as the command does, but takes the texts that are open.
pub struct Overlay {
    files: Files,
    folder: PathBuf,
    buffers: Buffers,
}

impl Overlay {
    /// As seen from a program.
    pub fn beside(program: &Path, buffers: Buffers) -> Overlay {
        let folder = program.parent().map(Path::to_path_buf).unwrap_or_default();
        Overlay { files: Files::beside(program), folder, buffers }
    }

    fn open(&self, id: &str) -> Option<String> {
        self.buffers.lock().ok()?.get(id).cloned()
    }
}

impl Loader for Overlay {
    fn find(&self, from: Option<&Place>, path: &str) -> Result<Place, NotFound> {
        self.files.find(from, path).or_else(|missing| {
            // A text that has not been saved is there, too.
            let folder = match from {
                Some(place) => Path::new(&place.id).parent().map(Path::to_path_buf).unwrap_or_default(),
                None => self.folder.clone(),
            };
            let id = id_of(&folder.join(path));
            match (missing, self.open(&id)) {
                (NotFound::Absent { .. }, Some(_)) => Ok(Place { name: id.clone(), id }),
                (missing, _) => Err(missing),
            }
        })
    }

    fn read(&self, place: &Place) -> Result<String, String> {
        match self.open(&place.id) {
            Some(text) => Ok(text),
            None => self.files.read(place),
        }
    }
}

/// What tells a file from all others: its path without links, as far as it is there.
pub fn id_of(path: &Path) -> String {
    if let Ok(real) = path.canonicalize() {
        return real.display().to_string();
    }
    match (path.parent().and_then(|folder| folder.canonicalize().ok()), path.file_name()) {
        (Some(folder), Some(name)) => folder.join(name).display().to_string(),
        _ => path.display().to_string(),
    }
}

/// Where copies for editors lie.
pub struct Copies {
    folder: Option<PathBuf>,
    /// Those that have been made, or could not be.
    made: RefCell<HashMap<String, Option<Uri>>>,
}

impl Copies {
    /// In the folder for such things of this user, by the version of Felis.
    pub fn new() -> Copies {
        let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
        let base = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
        let base = base.or_else(home).unwrap_or_else(std::env::temp_dir);
        let folder = base.join("felis").join(env!("CARGO_PKG_VERSION"));
        let folder = std::fs::create_dir_all(&folder).ok().map(|()| id_of(&folder).into());
        Copies { folder, made: RefCell::default() }
    }

    /// Whether a file is such a copy.
    pub fn holds(&self, path: &Path) -> bool {
        self.folder.as_ref().is_some_and(|folder| path.starts_with(folder))
    }

    /// A text of the library as a file, named as messages name it.
    pub fn library(&self, name: &str, text: &str) -> Option<Uri> {
        self.once(name, || Some(text.to_string()))
    }

    /// The page of the reference about a code.
    pub fn explanation(&self, code: &str) -> Option<Uri> {
        self.once(&format!("explain/{code}.md"), || {
            Some(format!("# {code}\n\n{}\n", reference::explain(code)?))
        })
    }

    fn once(&self, name: &str, text: impl FnOnce() -> Option<String>) -> Option<Uri> {
        if let Some(made) = self.made.borrow().get(name) {
            return made.clone();
        }
        let made = text().and_then(|text| self.copy(name, &text));
        self.made.borrow_mut().insert(name.to_string(), made.clone());
        made
    }

    /// Nobody writes into a copy; an old one is replaced.
    fn copy(&self, name: &str, text: &str) -> Option<Uri> {
        let path = self.folder.as_ref()?.join(name);
        if std::fs::read_to_string(&path).is_ok_and(|old| old == text) {
            return uri::of(&path);
        }
        let folder = path.parent()?;
        std::fs::create_dir_all(folder).ok()?;
        // Another server may be at it: what is seen under the name is always whole.
        replace::put(&path, text.as_bytes(), Access::ReadOnly, &|_| Ok(())).ok()?;
        uri::of(&path)
    }
}

/// How many programs of a workspace are looked at, how deep, and how many entries of folders on the way.
const MOST_PROGRAMS: usize = 2_000;
const MAX_DEPTH: usize = 12;
const MOST_ENTRIES: usize = 100_000;

/// The programs below these folders; without those in hidden folders and in what other tools make.
pub fn programs(folders: &[PathBuf]) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    let mut waiting: Vec<(PathBuf, usize)> = folders.iter().map(|folder| (folder.clone(), 0)).collect();
    let mut seen = 0;
    while let Some((folder, depth)) = waiting.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            seen += 1;
            if seen > MOST_ENTRIES || found.len() >= MOST_PROGRAMS {
                return found;
            }
            let (path, name) = (entry.path(), entry.file_name());
            let Ok(kind) = entry.file_type() else { continue };
            let left_out =
                name.to_string_lossy().starts_with('.') || name == "target" || name == "node_modules";
            if kind.is_dir() && !left_out && depth < MAX_DEPTH {
                waiting.push((path, depth + 1));
            } else if kind.is_file() && path.extension().is_some_and(|extension| extension == "flx") {
                found.insert(path);
            }
        }
    }
    found
}

/// The text of a file.
pub fn read(path: &Path) -> Option<String> {
    input::read_file(path, "").ok().map(|text| text.text)
}
