//! Data files: read and written by their paths, which begin at the working folder.
//!
//! Only files are read, never devices or pipes, which may have no end. A file is written beside its place
//! and then moved there, so that nobody ever sees half of one. A large file that is used in parts is mapped, not read.
//! Both stop where a user interrupts.

use super::map;
use bytes::Bytes;
use felis::session::FileSystem;
use std::fs::{self, File, Metadata};
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Bytes that are read or written between two looks whether to stop.
const PIECE: usize = 1 << 22;
/// A shorter file is read, not mapped, which takes a moment: what others do to it later is then no concern.
const LEAST_MAPPED: u64 = 1 << 28;

/// The files of this machine.
pub struct DataFiles {
    /// Set when the user interrupts.
    stop: Arc<AtomicBool>,
}

impl DataFiles {
    /// Reading and writing stop when the flag is set.
    pub fn new(stop: Arc<AtomicBool>) -> DataFiles {
        DataFiles { stop }
    }

    /// Fails if the user has interrupted.
    fn look(&self) -> std::io::Result<()> {
        match self.stop.load(Ordering::Relaxed) {
            true => Err(std::io::Error::new(ErrorKind::Interrupted, "it was interrupted")),
            false => Ok(()),
        }
    }

    fn all(&self, file: File, most: u64, bytes: &mut Vec<u8>) -> std::io::Result<()> {
        let mut file = file.take(most);
        loop {
            self.look()?;
            if file.by_ref().take(PIECE as u64).read_to_end(bytes)? == 0 {
                return Ok(());
            }
        }
    }
}

/// A file that can be read, with what is known of it; why not, in words.
fn about(path: &str) -> Result<Metadata, String> {
    let about = fs::metadata(path).map_err(|error| reason(&error, "read it"))?;
    match (about.is_dir(), about.is_file()) {
        (true, _) => Err("it is a folder".to_string()),
        (_, false) => Err("it is no file".to_string()),
        _ => Ok(about),
    }
}

impl FileSystem for DataFiles {
    fn read(&self, path: &str, most: u64) -> Result<Vec<u8>, String> {
        let why = |error: std::io::Error| reason(&error, "read it");
        let about = about(path)?;
        if about.len() > most {
            return Err("it is larger than the memory that may be used".to_string());
        }
        let mut bytes = Vec::new();
        bytes
            .try_reserve_exact(about.len() as usize)
            .map_err(|_| "there is not enough memory".to_string())?;
        // It may grow while it is read.
        File::open(path).and_then(|file| self.all(file, most, &mut bytes)).map_err(why)?;
        Ok(bytes)
    }

    fn map(&self, path: &str, most: u64) -> Result<Bytes, String> {
        let mapped = match about(path)?.len() >= LEAST_MAPPED {
            true => {
                File::open(path).map_err(|error| reason(&error, "read it")).map(|file| map::bytes(&file))?
            }
            false => None,
        };
        // Some file systems have no maps.
        mapped.map_or_else(|| self.read(path, most).map(Bytes::from), Ok)
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
        let mut pieces =
            || bytes.chunks(PIECE).try_for_each(|piece| self.look().and_then(|()| file.write_all(piece)));
        let written = pieces().and_then(|()| {
            if let Ok(about) = fs::metadata(&target) {
                file.set_permissions(about.permissions())?;
            }
            file.sync_all()?;
            self.look()
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder of this test that is empty.
    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("felis-data-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).expect("a folder");
        folder
    }

    #[test]
    fn an_interrupted_writing_leaves_the_file_and_nothing_beside_it() {
        let folder = folder("stopped");
        let path = folder.join("x.txt");
        let name = path.to_str().expect("a name");
        let stop = Arc::new(AtomicBool::new(false));
        let files = DataFiles::new(stop.clone());
        files.write(name, b"old").expect("written");
        stop.store(true, Ordering::Relaxed);
        for bytes in [&b"new"[..], &[0; 3 * PIECE]] {
            assert_eq!(files.write(name, bytes), Err("it was interrupted".to_string()));
            assert_eq!(files.read(name, 100), Err("it was interrupted".to_string()));
        }
        stop.store(false, Ordering::Relaxed);
        assert_eq!(files.read(name, 100).as_deref(), Ok(&b"old"[..]));
        assert_eq!(fs::read_dir(&folder).expect("a folder").count(), 1);
        let _ = fs::remove_dir_all(&folder);
    }

    #[test]
    fn a_map_holds_what_was_there_while_the_file_is_replaced() {
        let folder = folder("mapped");
        let path = folder.join("x.bin");
        let name = path.to_str().expect("a name");
        let files = DataFiles::new(Arc::new(AtomicBool::new(false)));
        // Almost all of it is a hole.
        let mut file = File::create(&path).expect("a file");
        file.write_all(b"begins").and_then(|()| file.set_len(LEAST_MAPPED)).expect("written");
        // No room is needed for a map.
        let mapped = files.map(name, 0).expect("mapped");
        assert!(files.read(name, 1000).is_err());
        files.write(name, b"short").expect("written");
        assert_eq!((mapped.len() as u64, &mapped[..6], mapped[1 << 27]), (LEAST_MAPPED, &b"begins"[..], 0));
        assert_eq!(files.map(name, 1000).as_deref(), Ok(&b"short"[..]));
        assert_eq!(files.map(folder.to_str().expect("a name"), 9), Err("it is a folder".to_string()));
        let _ = fs::remove_dir_all(&folder);
    }
}
