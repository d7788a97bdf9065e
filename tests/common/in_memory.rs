//! Modules and data for tests: a loader with files in memory, data files in memory, and the output
//! of programs that use them.

#![allow(dead_code)] // each program uses its part

use felis::session::{
    Executor, FileSystem, Loader, Mode, ModuleLocation, NotFound, Session, Status, System, SystemError,
    on_large_stack,
};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Texts by their paths, relative to one folder.
#[derive(Clone, Default)]
pub struct InMemoryLoader {
    files: BTreeMap<String, String>,
}

impl InMemoryLoader {
    /// Makes a loader with these files.
    pub fn new(files: &[(&str, &str)]) -> InMemoryLoader {
        InMemoryLoader {
            files: files.iter().map(|(name, text)| (name.to_string(), text.to_string())).collect(),
        }
    }

    /// Adds or replaces a file.
    pub fn put(&mut self, name: &str, text: &str) {
        self.files.insert(name.to_string(), text.to_string());
    }

    /// Reads the text files of a folder.
    pub fn of_folder(folder: &Path) -> InMemoryLoader {
        let mut loader = InMemoryLoader::default();
        let mut waiting = vec![(folder.to_path_buf(), String::new())];
        while let Some((folder, before)) = waiting.pop() {
            for entry in fs::read_dir(folder).expect("a folder").flatten() {
                let name = format!("{before}{}", entry.file_name().to_string_lossy());
                if entry.path().is_dir() {
                    waiting.push((entry.path(), format!("{name}/")));
                } else if let Ok(text) = fs::read_to_string(entry.path()) {
                    loader.put(&name, &text);
                }
            }
        }
        loader
    }
}

impl Loader for InMemoryLoader {
    fn find(&self, from: Option<&ModuleLocation>, path: &str) -> Result<ModuleLocation, NotFound> {
        let folder = from.and_then(|place| place.id.rsplit_once('/')).map_or("", |(folder, _)| folder);
        let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
        for part in path.split('/') {
            match part {
                "." => {}
                ".." => drop(parts.pop()),
                part => parts.push(part),
            }
        }
        let name = parts.join("/");
        if self.files.contains_key(&name) {
            return Ok(ModuleLocation { id: name.clone(), name });
        }
        let importer = from.map_or("main.flx", |place| &place.id);
        let beside = self.files.keys().filter(|name| *name != importer).cloned().collect();
        Err(NotFound::Absent { looked: name, beside })
    }

    fn read(&self, place: &ModuleLocation) -> Result<String, String> {
        self.files.get(&place.id).cloned().ok_or_else(|| "it is gone".to_string())
    }
}

/// Data files in memory, shared by all clones; other files are read from a folder.
#[derive(Clone, Default)]
pub struct InMemoryFileSystem {
    files: Arc<Mutex<BTreeMap<String, Vec<u8>>>>,
    below: Option<PathBuf>,
}

impl InMemoryFileSystem {
    /// Makes a host without files in memory that reads those of `tests/files`.
    pub fn over_fixtures() -> InMemoryFileSystem {
        InMemoryFileSystem { below: Some(fixtures()), ..InMemoryFileSystem::default() }
    }
}

impl FileSystem for InMemoryFileSystem {
    fn read(&self, path: &str, _: u64) -> Result<Vec<u8>, String> {
        let found = self.files.lock().expect("a lock").get(path).cloned();
        let below = || fs::read(self.below.as_ref()?.join(path)).ok();
        found.or_else(below).ok_or_else(|| "there is no such file".to_string())
    }

    fn write(&self, path: &str, bytes: &[u8]) -> Result<(), String> {
        if path.contains('/') {
            return Err("its folder is not there".to_string());
        }
        self.files.lock().expect("a lock").insert(path.to_string(), bytes.to_vec());
        Ok(())
    }
}

/// A machine that answers the same each time: a clock that stands still, two lines of input, one
/// variable, and the files of a file system in one folder.
pub struct StubSystem {
    input: Mutex<Vec<&'static str>>,
    files: InMemoryFileSystem,
}

impl StubSystem {
    /// Makes the machine whose working folder holds the files of a file system.
    pub fn with(files: InMemoryFileSystem) -> StubSystem {
        StubSystem { input: Mutex::new(vec!["Alan 41", "Ada 36"]), files }
    }
}

impl System for StubSystem {
    fn read_line(&self, _: u64, _: &AtomicBool) -> Result<Option<String>, SystemError> {
        Ok(self.input.lock().expect("a lock").pop().map(str::to_string))
    }

    fn read_input(&self, most: u64, stop: &AtomicBool) -> Result<String, SystemError> {
        let mut text = String::new();
        while let Some(line) = self.read_line(most, stop)? {
            text.push_str(&line);
            text.push('\n');
        }
        Ok(text)
    }

    fn environment(&self, name: &str) -> Result<Option<String>, SystemError> {
        Ok((name == "LANG").then(|| "en".to_string()))
    }

    /// Noon of 29 February 2024 in UTC.
    fn now(&self) -> i64 {
        1_709_208_000_000_000_000
    }

    fn ticks(&self) -> i64 {
        0
    }

    fn list_dir(&self, path: &str) -> Result<Vec<String>, SystemError> {
        match path {
            "." => Ok(self.files.files.lock().expect("a lock").keys().cloned().collect()),
            _ => Err(SystemError::Refused("there is no such folder".to_string())),
        }
    }

    fn sleep(&self, _: Duration, _: &AtomicBool) -> Result<(), SystemError> {
        Ok(())
    }

    fn print_error(&self, _: &str) -> Result<(), SystemError> {
        Ok(())
    }
}

/// Returns the folder of files made by other programs.
pub fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files")
}

/// Returns the output of a program over files of other programs, on both executors; it must have no
/// diagnostics.
pub fn output(text: &str) -> String {
    let run = |executor| {
        on_large_stack(|| {
            let mut session = Session::new().with_executor(executor, 0);
            session.set_files(Arc::new(InMemoryFileSystem::over_fixtures()));
            let mut output = String::new();
            let done = session.evaluate("test.flx", text, Mode::Script, &mut |text| output.push_str(text));
            let said: String = done.diagnostics.iter().map(|d| session.render(d, false)).collect();
            assert_eq!(done.status, Status::Ok, "{text}\n{said}");
            assert!(said.is_empty(), "{said}");
            output
        })
    };
    let plain = run(Executor::Reference);
    assert_eq!(plain, run(Executor::Eager), "{text}");
    plain
}
