//! Atomic file creation: under the final name is the old file or the new one, never a part of one.

use super::background_sync::BackgroundSync;
use super::own_file::OwnFile;
use super::temporary_file::{TemporaryFile, directory};
use crate::write::Durable;
use marquetry_base::{Error, ErrorKind, Result};
use std::fs::{self, File, Permissions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// A file that appears under its name only when it is finished.
///
/// It is written to a hidden file in the same directory. [`finish`](Self::finish) syncs that to the disk and renames
/// it, which replaces a file of that name in one step. If it is dropped before that, or after an error, the old file
/// stays. A killed process leaves the hidden file, `.NAME.PID-N.tmp`, and the old file; a process that is notified of
/// its end can call [`remove_unfinished_files`](super::remove_unfinished_files).
///
/// Once it was [synced](Durable::sync), which writers do at checkpoints, the hidden file is valuable by itself. If it
/// is then dropped unfinished, the hidden file stays, and errors name it. [`discard`](Self::discard) removes it.
///
/// A replaced file passes on its permissions, and nobody can read the hidden file who cannot read the replaced one. It
/// does not pass on its owner, its access control list, its extended attributes (an SELinux label is the directory's),
/// or its other names: hard links keep the old file. If the name is a symbolic link, its target is replaced, and the
/// link stays. A relative path is resolved in the process's working directory at the time of creation.
///
/// ```
/// use marquetry_core::io::AtomicFile;
/// use std::io::Write;
///
/// # let path = std::env::temp_dir().join(format!("marquetry-{}.txt", std::process::id()));
/// let mut file = AtomicFile::create(&path)?;
/// file.write_all(b"all of it")?;
/// assert!(!path.exists());
/// file.finish()?;
/// assert_eq!(std::fs::read(&path)?, b"all of it");
/// # std::fs::remove_file(path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "the file has its name once it is finished"]
#[derive(Debug)]
pub struct AtomicFile {
    // INVARIANT: closed before `temporary` removes it, which some systems require; fields are dropped in order.
    file: BufWriter<OwnFile>,
    sync: BackgroundSync,
    temporary: TemporaryFile,
    /// The name as given, for errors.
    name: String,
    /// The path to replace: the name, or the target of the link with that name.
    target: PathBuf,
    /// Whether nothing may be replaced.
    is_new: bool,
    failed: bool,
}

impl AtomicFile {
    /// Begins a file at `path`.
    ///
    /// Fails, naming the path, if the directory does not exist or is not writable, or if `path` exists and is read-only
    /// or not a regular file: a directory, a pipe, a device.
    pub fn create(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        AtomicFile::create_named(path, &path.display().to_string())
    }

    /// The same, where errors call the file `name`.
    pub(super) fn create_named(path: &Path, name: &str) -> Result<Self> {
        AtomicFile::begin(path, name).map_err(|error| error.in_file(name))
    }

    /// Begins a file at `path`, which must not exist yet.
    ///
    /// Fails, naming the path, like [`create`](Self::create), and with [`ErrorKind::Argument`] if the path exists. So
    /// does [`finish`](Self::finish) if it exists by then; the existing file stays.
    ///
    /// ```
    /// use marquetry_core::io::AtomicFile;
    ///
    /// # let directory = tempfile::tempdir()?;
    /// # let path = directory.path().join("f");
    /// let (one, other) = (AtomicFile::create_new(&path)?, AtomicFile::create_new(&path)?);
    /// one.finish()?;
    /// assert!(other.finish().is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn create_new(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        if fs::symlink_metadata(path).is_ok() {
            return Err(is_there().in_file(path.display().to_string()));
        }
        Ok(AtomicFile { is_new: true, ..AtomicFile::create(path)? })
    }

    fn begin(path: &Path, name: &str) -> Result<Self> {
        let cannot = |error| Error::io("cannot create the file", error);
        let target = std::path::absolute(path).and_then(|path| behind_links(&path)).map_err(cannot)?;
        let permissions = replaced_permissions(&target)?;
        let (file, temporary) = TemporaryFile::create(&target, permissions.as_ref()).map_err(cannot)?;
        if let Some(permissions) = permissions {
            file.set_permissions(permissions).map_err(cannot)?;
        }
        let file = BufWriter::with_capacity(BUFFER, OwnFile::new(file));
        let (name, sync) = (name.to_owned(), BackgroundSync::default());
        Ok(AtomicFile { file, sync, temporary, name, target, is_new: false, failed: false })
    }

    /// Syncs the file to the disk, and renames it to its name.
    ///
    /// Fails if an earlier write failed, even if that error was ignored; the old file under the name then stays.
    pub fn finish(self) -> Result<()> {
        let AtomicFile { file, mut sync, mut temporary, name, target, is_new, failed } = self;
        let placed = |error: Error| error.in_file(name.as_str());
        let left = temporary.left();
        let cannot = |what, error| placed(Error::io(format!("cannot {what} file{left}"), error));
        if failed {
            let why = format!("not finished, as an earlier write failed{left}");
            return Err(placed(Error::new(ErrorKind::Io, why)));
        }
        let file = file.into_inner().map_err(io::IntoInnerError::into_error);
        let written = file.and_then(|file| sync.join().and_then(|()| file.file().sync_all()));
        written.map_err(|error| cannot("write the", error))?;
        let renamed = match is_new {
            true => temporary.rename_to_new(&target),
            false => temporary.rename(&target),
        };
        renamed.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => placed(is_there()),
            _ => cannot("rename the finished", error),
        })?;
        sync_directory(directory(&target))
            .map_err(|error| placed(Error::io("the file is written, its directory cannot be synced", error)))
    }

    /// Returns the path of the bytes until the file has its name.
    pub fn temporary_path(&self) -> &Path {
        self.temporary.path()
    }

    /// Gives the file up, and removes the written bytes, synced or not.
    pub fn discard(self) {
        let AtomicFile { file, sync, temporary, .. } = self;
        drop((file, sync));
        temporary.discard();
    }

    /// Starts syncing the hidden file if much of it is not on the disk. PERF: otherwise everything is left for
    /// [`finish`](Self::finish), when nothing is encoded meanwhile.
    fn begin_sync(&mut self) -> io::Result<()> {
        match self.sync.is_worth_it() {
            true => self.file.flush().and_then(|()| self.sync.begin(self.file.get_ref().file())),
            false => Ok(()),
        }
    }

    /// Records that the file is incomplete if `outcome` is an error, and names the file in it.
    fn watched<T>(&mut self, outcome: io::Result<T>) -> io::Result<T> {
        outcome.map_err(|error| match error.kind() {
            io::ErrorKind::Interrupted => error,
            _ => {
                self.failed = true;
                let what = format!("the file cannot be written{}", self.temporary.left());
                Error::io(what, error).in_file(self.name.as_str()).into()
            }
        })
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let outcome = self.file.write(bytes);
        self.sync.written(*outcome.as_ref().unwrap_or(&0));
        let outcome = outcome.and_then(|n| self.begin_sync().map(|()| n));
        self.watched(outcome)
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        let outcome = self.file.write_all(bytes);
        self.sync.written(bytes.len());
        let outcome = outcome.and_then(|()| self.begin_sync());
        self.watched(outcome)
    }

    /// Flushes to the hidden file; the name has to wait for [`finish`](AtomicFile::finish).
    fn flush(&mut self) -> io::Result<()> {
        let outcome = self.file.flush();
        self.watched(outcome)
    }
}

impl Durable for AtomicFile {
    /// Syncs the hidden file to the disk, and its name the first time. From then on it stays if this is dropped.
    fn sync(&mut self) -> io::Result<()> {
        let outcome = self.sync.join().and_then(|()| self.file.sync());
        self.watched(outcome)?;
        if self.temporary.keep() {
            let outcome = sync_directory(directory(self.temporary.path()));
            self.watched(outcome)?;
        }
        Ok(())
    }
}

#[cold]
fn is_there() -> Error {
    Error::argument("already exists, and would be replaced")
}

/// Size of the write buffer, which gathers short pieces; pages are longer, and bypass it.
const BUFFER: usize = 64 << 10;
/// Maximum number of symbolic links to follow, the same as on Linux.
const MAX_LINKS: usize = 40;

/// Resolves the symbolic links that begin at `path`, whether they lead to a file or not.
fn behind_links(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_path_buf();
    for _ in 0..MAX_LINKS {
        match fs::symlink_metadata(&path) {
            Ok(metadata) if metadata.is_symlink() => path = directory(&path).join(fs::read_link(&path)?),
            _ => return Ok(path),
        }
    }
    Err(io::Error::other("too many symbolic links"))
}

/// Returns the permissions of the file to replace, if there is one. Fails if it must not be replaced.
fn replaced_permissions(target: &Path) -> Result<Option<Permissions>> {
    let metadata = match fs::metadata(target) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Error::io("cannot create the file", error)),
    };
    let refused = |why| Err(Error::new(ErrorKind::Io, why));
    if metadata.is_dir() {
        return refused("is a directory, not a file");
    }
    if !metadata.is_file() {
        return refused("is not a regular file, and would be replaced by one");
    }
    // Unlike opening the file, renaming would not check this.
    if metadata.permissions().readonly() {
        return refused("is read-only, and would be replaced");
    }
    Ok(Some(metadata.permissions()))
}

/// Syncs the rename to the disk.
#[cfg(unix)]
fn sync_directory(directory: &Path) -> io::Result<()> {
    match File::open(directory).and_then(|directory| directory.sync_all()) {
        // Not all file systems support it, and a writable directory may be unreadable.
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported | io::ErrorKind::PermissionDenied
            ) =>
        {
            Ok(())
        }
        outcome => outcome,
    }
}

/// Does nothing: other systems do not support it.
#[cfg(not(unix))]
fn sync_directory(_: &Path) -> io::Result<()> {
    Ok(())
}
