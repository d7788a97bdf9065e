//! Atomic replacement of files: a reader sees all old bytes or all new ones.
//!
//! New bytes are written beside the file and then moved to its place. The target of a symbolic link
//! is replaced, not the link. The new file has the permissions of the old one from the beginning. A
//! read-only file is refused, although its folder would allow a replacement. A failure leaves no
//! new file.
//!
//! On Linux, on most file systems, the new bytes are written to a file without a name
//! (`O_TMPFILE`), which vanishes with the process, and which gets its name when it is complete. A
//! file that replaces another one first gets a name beside it, and is moved by the next system
//! call; only a process that is killed between the two leaves that name. Elsewhere the new file has
//! a name that ends in `.part` from the beginning, and a process that is killed while it writes
//! leaves that file.

use std::fs::{self, File, Permissions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use tempfile::{Builder, NamedTempFile};

/// The number of bytes written between two calls of `look`.
const CHUNK_BYTES: usize = 1 << 22;
/// The number of pieces after which the data are synchronized to the disk.
const MAX_UNSYNCED_CHUNKS: usize = 8;
/// The maximum length of a chain of symbolic links.
const MAX_LINKS: usize = 40;
/// The maximum length of a name that leaves room for a suffix.
const MAX_NAME_BYTES: usize = 200;

/// The permissions of a written file.
pub enum Access {
    /// The default permissions of a new file.
    New,
    /// These.
    Same(Permissions),
    /// Read-only for all users.
    ReadOnly,
}

/// Replaces a file, or makes one if there is none; the error is the reason in words. `look` is
/// called with the target between pieces and before the file appears; its error stops the
/// replacement.
pub fn replace(path: &Path, bytes: &[u8], look: &dyn Fn(&Path) -> Result<(), String>) -> Result<(), String> {
    let target = target(path).map_err(|error| reason(&error))?;
    let access = match fs::metadata(&target) {
        Ok(about) if about.is_dir() => return Err("it is a folder".to_string()),
        Ok(about) if !about.is_file() => return Err("it is no file".to_string()),
        Ok(about) if about.permissions().readonly() => {
            return Err(reason(&ErrorKind::PermissionDenied.into()));
        }
        Ok(about) => Access::Same(about.permissions()),
        Err(_) => Access::New,
    };
    install_file(&target, bytes, access, look)
}

/// Puts a file at this path, and replaces any file there.
pub fn install_file(
    target: &Path,
    bytes: &[u8],
    access: Access,
    look: &dyn Fn(&Path) -> Result<(), String>,
) -> Result<(), String> {
    let why = |error: io::Error| reason(&error);
    let (mut file, beside) = match unnamed(target) {
        Some(file) => (file, None),
        None => {
            let (file, path) =
                create_temporary_sibling(target, |path| File::create_new(path)).map_err(why)?.into_parts();
            (file, Some(path))
        }
    };
    let write = || {
        set(&file, access).map_err(why)?;
        for (at, piece) in bytes.chunks(CHUNK_BYTES).enumerate() {
            look(target)?;
            file.write_all(piece).map_err(why)?;
            // Little data may be left for the last synchronization, because it cannot be
            // interrupted.
            if at % MAX_UNSYNCED_CHUNKS == MAX_UNSYNCED_CHUNKS - 1 {
                file.sync_data().map_err(why)?;
            }
        }
        file.sync_all().map_err(why)?;
        look(target)
    };
    // On a failure, dropping the variable removes the name beside.
    write()?;
    let beside = match beside {
        Some(path) => path,
        // Without a file to be replaced, the first name is the final one.
        None if name(&file, target).is_ok() => return Ok(()),
        None => {
            self::create_temporary_sibling(target, |path| name(&file, path)).map_err(why)?.into_temp_path()
        }
    };
    drop(file);
    beside.persist(target).map_err(|failed| why(failed.error))
}

/// Makes a file without a name in the folder of another file, if the system supports it.
#[cfg(target_os = "linux")]
fn unnamed(target: &Path) -> Option<File> {
    use std::os::unix::fs::OpenOptionsExt;
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let file = fs::OpenOptions::new().write(true).custom_flags(nix::libc::O_TMPFILE).open(folder).ok()?;
    // The file gets its name through this folder.
    fs::symlink_metadata(descriptor(&file)).ok().map(|_| file)
}

#[cfg(not(target_os = "linux"))]
fn unnamed(_: &Path) -> Option<File> {
    None
}

/// Gives a file without a name this name, if the name is free.
#[cfg(target_os = "linux")]
fn name(file: &File, path: &Path) -> io::Result<()> {
    use nix::fcntl::{AT_FDCWD, AtFlags};
    nix::unistd::linkat(AT_FDCWD, &descriptor(file), AT_FDCWD, path, AtFlags::AT_SYMLINK_FOLLOW)
        .map_err(io::Error::from)
}

#[cfg(not(target_os = "linux"))]
fn name(_: &File, _: &Path) -> io::Result<()> {
    Err(ErrorKind::Unsupported.into())
}

/// Returns the path of an open file in `/proc`.
#[cfg(target_os = "linux")]
fn descriptor(file: &File) -> PathBuf {
    use std::os::fd::AsRawFd;
    PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()))
}

/// Returns the target of a path: the file there, or the end of its chain of links.
fn target(path: &Path) -> io::Result<PathBuf> {
    if let Ok(real) = fs::canonicalize(path) {
        return Ok(real);
    }
    let mut path = path.to_path_buf();
    for _ in 0..MAX_LINKS {
        match fs::read_link(&path) {
            // A relative link begins at the folder of the present one.
            Ok(next) => path = path.with_file_name("").join(next),
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::other("its links lead to each other"))
}

/// Sets the permissions of an open file.
fn set(file: &File, access: Access) -> io::Result<()> {
    let permissions = match access {
        Access::New => return Ok(()),
        Access::Same(permissions) => permissions,
        Access::ReadOnly => {
            let mut permissions = file.metadata()?.permissions();
            permissions.set_readonly(true);
            permissions
        }
    };
    file.set_permissions(permissions)
}

/// Makes something under a free name in the folder of another file.
fn create_temporary_sibling<T>(
    target: &Path,
    make: impl FnMut(&Path) -> io::Result<T>,
) -> io::Result<NamedTempFile<T>> {
    let name = target.file_name().map(|name| name.to_string_lossy().into_owned());
    let Some(name) = name else { return Err(ErrorKind::NotFound.into()) };
    let name = if name.len() > MAX_NAME_BYTES { "felis" } else { &name };
    let folder = target.parent().unwrap_or(Path::new(""));
    Builder::new().prefix(&format!(".{name}.")).suffix(".part").make_in(folder, make)
}

/// Returns the reason for an error in words.
fn reason(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => "its folder is not there".to_string(),
        ErrorKind::NotADirectory => "a part of its path is no folder".to_string(),
        ErrorKind::PermissionDenied => "there is no permission to write it".to_string(),
        ErrorKind::StorageFull => "the disk is full".to_string(),
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).expect("a folder").flatten();
        let mut names: Vec<String> =
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    fn all(path: &Path, bytes: &[u8]) -> Result<(), String> {
        replace(path, bytes, &|_| Ok(()))
    }

    #[test]
    fn what_is_no_file_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = folder.path();
        assert_eq!(all(folder, b"new"), Err("it is a folder".to_string()));
        assert_eq!(all(&folder.join("no").join("x"), b"new"), Err("its folder is not there".to_string()));
        let file = folder.join("x");
        fs::write(&file, "old").expect("written");
        assert_eq!(all(&file.join("y"), b"new"), Err("a part of its path is no folder".to_string()));
        let mut permissions = fs::metadata(&file).expect("a file").permissions();
        permissions.set_readonly(true);
        fs::set_permissions(&file, permissions).expect("permissions");
        assert_eq!(all(&file, b"new"), Err("there is no permission to write it".to_string()));
        assert_eq!(fs::read(&file).expect("a file"), b"old");
        assert_eq!(names(folder), ["x"]);
    }

    #[test]
    fn a_name_may_be_as_long_as_the_system_lets_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = folder.path();
        let long = "y".repeat(250);
        for bytes in [b"old", b"new"] {
            all(&folder.join(&long), bytes).expect("written");
            assert_eq!(fs::read(folder.join(&long)).expect("a file"), bytes);
        }
        let made =
            create_temporary_sibling(&folder.join("x"), |path| File::create_new(path)).expect("a file");
        let again =
            create_temporary_sibling(&folder.join("x"), |path| File::create_new(path)).expect("a file");
        assert_ne!(made.path(), again.path());
        drop((made, again));
        assert_eq!(names(folder), [long]);
    }

    #[test]
    fn what_is_stopped_on_the_way_leaves_the_old_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = folder.path();
        let file = folder.join("x");
        all(&file, b"old").expect("written");
        let stopped = replace(&file, b"new", &|target| {
            // Nothing has been written to the target so far.
            assert_eq!(fs::read(target).expect("a file"), b"old");
            Err("enough".to_string())
        });
        assert_eq!(stopped, Err("enough".to_string()));
        assert_eq!((fs::read(&file).expect("a file").as_slice(), names(folder).len()), (&b"old"[..], 1));
    }

    #[cfg(unix)]
    #[test]
    fn links_stay_and_permissions_are_there_from_the_beginning() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().expect("a folder");
        let folder = folder.path();
        let inner = folder.join("inner");
        fs::create_dir(&inner).expect("a folder");
        let file = inner.join("x");
        fs::write(&file, "old").expect("written");
        fs::set_permissions(&file, Permissions::from_mode(0o600)).expect("permissions");
        symlink("inner/x", folder.join("link")).expect("a link");
        let seen = replace(&folder.join("link"), b"new", &|_| {
            let modes = fs::read_dir(&inner).expect("a folder").flatten();
            for entry in modes {
                assert_eq!(entry.metadata().expect("a file").permissions().mode() & 0o777, 0o600);
            }
            Ok(())
        });
        assert_eq!(seen, Ok(()));
        assert_eq!(fs::read(&file).expect("a file"), b"new");
        // A dangling link through another link makes the file that it leads to.
        symlink("hop", folder.join("dangling")).expect("a link");
        symlink("inner/made", folder.join("hop")).expect("a link");
        all(&folder.join("dangling"), b"new").expect("written");
        assert_eq!(fs::read(inner.join("made")).expect("a file"), b"new");
        for link in ["link", "dangling", "hop"] {
            assert!(fs::symlink_metadata(folder.join(link)).expect("a link").is_symlink(), "{link}");
        }
        symlink("round", folder.join("round")).expect("a link");
        assert_eq!(all(&folder.join("round"), b"new"), Err("its links lead to each other".to_string()));
    }
}
