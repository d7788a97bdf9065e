//! Data files: read and written by their paths, which are relative to the working folder.
//!
//! Only regular files are read, never devices or pipes, which may have no end. A write
//! [replaces](replace) a file as a whole. A large file of which parts are used is mapped, not read.
//! An interrupt stops reads and writes.

use super::{map, replace};
use bytes::Bytes;
use felis::session::FileSystem;
use std::fs::{self, File, Metadata};
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The number of bytes that are read between two checks of the interrupt flag.
const READ_CHUNK_BYTES: usize = 1 << 22;
/// The length from which a file is mapped. A shorter file is read at once, so that later changes by
/// other programs have no effect.
const MIN_MAPPED_BYTES: u64 = 1 << 28;

/// The access to the files of this machine.
pub struct DataFiles {
    /// Set when the user interrupts.
    stop: Arc<AtomicBool>,
    /// The folder that paths are relative to, if not the working folder.
    folder: Option<PathBuf>,
}

impl DataFiles {
    /// Returns an access whose reads and writes stop when the flag is set.
    pub fn new(stop: Arc<AtomicBool>) -> DataFiles {
        DataFiles { stop, folder: None }
    }

    /// Returns an access whose paths are relative to a folder.
    #[cfg(feature = "parties")]
    pub fn inside(self, folder: PathBuf) -> DataFiles {
        DataFiles { folder: Some(folder), ..self }
    }

    /// Returns a path as seen from the working folder.
    fn path(&self, path: &str) -> PathBuf {
        self.folder.as_ref().map_or_else(|| PathBuf::from(path), |folder| folder.join(path))
    }

    /// Fails if the user has interrupted.
    fn check_interrupt(&self) -> std::io::Result<()> {
        match self.stop.load(Ordering::Relaxed) {
            true => Err(std::io::Error::new(ErrorKind::Interrupted, "it was interrupted")),
            false => Ok(()),
        }
    }

    /// Reads all bytes of a file, which may grow meanwhile; reads at most one byte more than
    /// `most`.
    fn read_to_limit(&self, file: File, most: u64, bytes: &mut Vec<u8>) -> std::io::Result<()> {
        let mut file = file.take(most.saturating_add(1));
        loop {
            self.check_interrupt()?;
            if file.by_ref().take(READ_CHUNK_BYTES as u64).read_to_end(bytes)? == 0 {
                return Ok(());
            }
        }
    }
}

/// Returns the metadata of a readable file, or the reason why it cannot be read.
fn file_metadata(path: &Path) -> Result<Metadata, String> {
    let about = fs::metadata(path).map_err(|error| error_text(&error))?;
    match (about.is_dir(), about.is_file()) {
        (true, _) => Err("it is a folder".to_string()),
        (_, false) => Err("it is no file".to_string()),
        _ => Ok(about),
    }
}

impl FileSystem for DataFiles {
    fn read(&self, path: &str, most: u64) -> Result<Vec<u8>, String> {
        let why = |error: std::io::Error| error_text(&error);
        let path = &self.path(path);
        let about = file_metadata(path)?;
        let too_large = || Err("it is larger than the memory that may be used".to_string());
        if about.len() > most {
            return too_large();
        }
        let mut bytes = Vec::new();
        bytes
            .try_reserve_exact(about.len() as usize)
            .map_err(|_| "there is not enough memory".to_string())?;
        File::open(path).and_then(|file| self.read_to_limit(file, most, &mut bytes)).map_err(why)?;
        if bytes.len() as u64 > most { too_large() } else { Ok(bytes) }
    }

    fn map(&self, path: &str, most: u64) -> Result<Bytes, String> {
        let whole = &self.path(path);
        let mapped = match file_metadata(whole)?.len() >= MIN_MAPPED_BYTES {
            true => File::open(whole).map_err(|error| error_text(&error)).map(|file| map::bytes(&file))?,
            false => None,
        };
        // Some file systems do not support maps.
        mapped.map_or_else(|| self.read(path, most).map(Bytes::from), Ok)
    }

    fn write(&self, path: &str, bytes: &[u8]) -> Result<(), String> {
        replace::replace(&self.path(path), bytes, &|_| {
            self.check_interrupt().map_err(|error| error.to_string())
        })
    }
}

/// Returns the text of an error that concerns a data file.
fn error_text(error: &std::io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => "there is no such file".to_string(),
        ErrorKind::NotADirectory => "a part of its path is no folder".to_string(),
        ErrorKind::PermissionDenied => "there is no permission to read it".to_string(),
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn an_interrupted_writing_leaves_the_file_and_nothing_beside_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = folder.path();
        let path = folder.join("x.txt");
        let name = path.to_str().expect("a name");
        let stop = Arc::new(AtomicBool::new(false));
        let files = DataFiles::new(stop.clone());
        files.write(name, b"old").expect("written");
        stop.store(true, Ordering::Relaxed);
        for bytes in [&b"new"[..], &[0; 3 * READ_CHUNK_BYTES]] {
            assert_eq!(files.write(name, bytes), Err("it was interrupted".to_string()));
            assert_eq!(files.read(name, 100), Err("it was interrupted".to_string()));
        }
        stop.store(false, Ordering::Relaxed);
        assert_eq!(files.read(name, 100).as_deref(), Ok(&b"old"[..]));
        assert_eq!(fs::read_dir(folder).expect("a folder").count(), 1);
    }

    #[test]
    fn a_file_that_grows_while_it_is_read_is_refused_and_not_cut() {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = folder.path();
        let path = folder.join("x.txt");
        let files = DataFiles::new(Arc::new(AtomicBool::new(false)));
        fs::write(&path, "12345").expect("written");
        // The length that `read` has obtained is out of date.
        for (most, seen) in [(3, 4), (4, 5), (5, 5), (u64::MAX, 5)] {
            let mut bytes = Vec::new();
            files.read_to_limit(File::open(&path).expect("a file"), most, &mut bytes).expect("read");
            assert_eq!(bytes.len(), seen, "{most}");
        }
        let name = path.to_str().expect("a name");
        assert_eq!(files.read(name, 4), Err("it is larger than the memory that may be used".to_string()));
        assert_eq!(files.read(name, 5).as_deref(), Ok(&b"12345"[..]));
    }

    #[test]
    fn a_map_holds_what_was_there_while_the_file_is_replaced() {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = folder.path();
        let path = folder.join("x.bin");
        let name = path.to_str().expect("a name");
        let files = DataFiles::new(Arc::new(AtomicBool::new(false)));
        // Almost all of the file is a hole.
        let mut file = File::create(&path).expect("a file");
        file.write_all(b"begins").and_then(|()| file.set_len(MIN_MAPPED_BYTES)).expect("written");
        // A map needs no memory.
        let mapped = files.map(name, 0).expect("mapped");
        assert!(files.read(name, 1000).is_err());
        files.write(name, b"short").expect("written");
        assert_eq!(
            (mapped.len() as u64, &mapped[..6], mapped[1 << 27]),
            (MIN_MAPPED_BYTES, &b"begins"[..], 0)
        );
        assert_eq!(files.map(name, 1000).as_deref(), Ok(&b"short"[..]));
        assert_eq!(files.map(folder.to_str().expect("a name"), 9), Err("it is a folder".to_string()));
    }
}
