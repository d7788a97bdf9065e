//! Data files: read and written by their paths, which begin at the working folder.
//!
//! Only files are read, never devices or pipes, which may have no end. A file is written beside its place
//! and then moved there, so that nobody ever sees half of one.

use felis::session::FileSystem;
use std::fs::{self, File};
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

/// The files of this machine.
pub struct DataFiles;

impl FileSystem for DataFiles {
    fn read(&self, path: &str, most: u64) -> Result<Vec<u8>, String> {
        let why = |error: std::io::Error| reason(&error, "read it");
        let about = fs::metadata(path).map_err(why)?;
        if about.is_dir() {
            return Err("it is a folder".to_string());
        }
        if !about.is_file() {
            return Err("it is no file".to_string());
        }
        if about.len() > most {
            return Err("it is larger than the memory that may be used".to_string());
        }
        let mut bytes = Vec::new();
        bytes
            .try_reserve_exact(about.len() as usize)
            .map_err(|_| "there is not enough memory".to_string())?;
        // It may grow while it is read.
        File::open(path).and_then(|file| file.take(most).read_to_end(&mut bytes)).map_err(why)?;
        Ok(bytes)
    }

    fn write(&self, path: &str, bytes: &[u8]) -> Result<(), String> {
        let why = |error: std::io::Error| reason(&error, "write it");
        // What a link leads to is replaced, not the link.
        let target = fs::canonicalize(path).unwrap_or_else(|_| PathBuf::from(path));
        if target.is_dir() {
            return Err("it is a folder".to_string());
        }
        if fs::metadata(&target).is_ok_and(|about| !about.is_file()) {
            return Err("it is no file".to_string());
        }
        let (beside, mut file) = beside(&target).map_err(why)?;
        let written = file.write_all(bytes).and_then(|()| {
            if let Ok(about) = fs::metadata(&target) {
                file.set_permissions(about.permissions())?;
            }
            file.sync_all()
        });
        drop(file);
        let moved = written.and_then(|()| fs::rename(&beside, &target));
        moved.map_err(|error| {
            let _ = fs::remove_file(&beside);
            why(error)
        })
    }
}

/// A new file in the folder of another.
fn beside(target: &Path) -> std::io::Result<(PathBuf, File)> {
    let name = target.file_name().map(|name| name.to_string_lossy().into_owned());
    let Some(name) = name else { return Err(ErrorKind::NotFound.into()) };
    for n in 0..100 {
        let own = format!(".{name}.{}-{n}.part", std::process::id());
        // A long name leaves no room for more.
        let own = if own.len() > 200 { format!(".felis-{}-{n}.part", std::process::id()) } else { own };
        let path = target.with_file_name(own);
        match File::create_new(&path) {
            Ok(file) => return Ok((path, file)),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(ErrorKind::AlreadyExists.into())
}

fn reason(error: &std::io::Error, what: &str) -> String {
    match error.kind() {
        ErrorKind::NotFound if what == "read it" => "there is no such file".to_string(),
        ErrorKind::NotFound => "its folder is not there".to_string(),
        ErrorKind::NotADirectory => "a part of its path is no folder".to_string(),
        ErrorKind::PermissionDenied => format!("there is no permission to {what}"),
        ErrorKind::StorageFull => "the disk is full".to_string(),
        _ => error.to_string(),
    }
}
