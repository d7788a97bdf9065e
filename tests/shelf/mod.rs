//! Modules and data for tests: a loader whose files are given with it, and files in memory.

#![allow(dead_code)] // each test file uses its part

use felis::session::{FileSystem, Loader, NotFound, Place};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};

/// Texts by their paths, which begin at one folder.
#[derive(Clone, Default)]
pub struct Shelf {
    files: BTreeMap<String, String>,
}

impl Shelf {
    /// These files.
    pub fn new(files: &[(&str, &str)]) -> Shelf {
        Shelf { files: files.iter().map(|(name, text)| (name.to_string(), text.to_string())).collect() }
    }

    /// Puts a file there, or another in its place.
    pub fn put(&mut self, name: &str, text: &str) {
        self.files.insert(name.to_string(), text.to_string());
    }

    /// The files of a folder, as far as they are text.
    pub fn of_folder(folder: &Path) -> Shelf {
        let mut shelf = Shelf::default();
        let mut waiting = vec![(folder.to_path_buf(), String::new())];
        while let Some((folder, before)) = waiting.pop() {
            for entry in fs::read_dir(folder).expect("a folder").flatten() {
                let name = format!("{before}{}", entry.file_name().to_string_lossy());
                if entry.path().is_dir() {
                    waiting.push((entry.path(), format!("{name}/")));
                } else if let Ok(text) = fs::read_to_string(entry.path()) {
                    shelf.put(&name, &text);
                }
            }
        }
        shelf
    }
}

impl Loader for Shelf {
    fn find(&self, from: Option<&Place>, path: &str) -> Result<Place, NotFound> {
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
            return Ok(Place { id: name.clone(), name });
        }
        let importer = from.map_or("main.flx", |place| &place.id);
        let beside = self.files.keys().filter(|name| *name != importer).cloned().collect();
        Err(NotFound::Absent { looked: name, beside })
    }

    fn read(&self, place: &Place) -> Result<String, String> {
        self.files.get(&place.id).cloned().ok_or_else(|| "it is gone".to_string())
    }
}

/// Data files in memory, seen by all its clones.
#[derive(Clone, Default)]
pub struct Drawer(Arc<Mutex<BTreeMap<String, Vec<u8>>>>);

impl FileSystem for Drawer {
    fn read(&self, path: &str, _: u64) -> Result<Vec<u8>, String> {
        let found = self.0.lock().expect("a lock").get(path).cloned();
        found.ok_or_else(|| "there is no such file".to_string())
    }

    fn write(&self, path: &str, bytes: &[u8]) -> Result<(), String> {
        if path.contains('/') {
            return Err("its folder is not there".to_string());
        }
        self.0.lock().expect("a lock").insert(path.to_string(), bytes.to_vec());
        Ok(())
    }
}
