//! Temporary files: hidden, beside the file that they will become or replace.

use super::unfinished::unfinished;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// A file that is removed when this is dropped, unless it was renamed, or has something to recover.
#[derive(Debug)]
pub(super) struct TemporaryFile {
    /// The absolute path, because the process may change its directory meanwhile.
    path: PathBuf,
    /// Whether its contents are worth keeping.
    is_kept: bool,
    /// The process that writes it.
    process: u32,
}

impl TemporaryFile {
    /// Creates a hidden file beside `target`, an absolute path. Its name does not have the extension of data files, so
    /// that listings of the directory ignore it. From its first moment on, nobody can read it who cannot read the file
    /// with the permissions `replaced`, which it will replace.
    pub(super) fn create(target: &Path, replaced: Option<&Permissions>) -> io::Result<(File, Self)> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let Some(name) = target.file_name() else {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "the path ends in no file name"));
        };
        let name: String = name.to_string_lossy().chars().take(MAX_NAME_CHARS).collect();
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        if let Some(replaced) = replaced {
            limit_mode(&mut options, replaced);
        }
        let mut unfinished = unfinished();
        for _ in 0..MAX_TRIES {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let path = directory(target).join(format!(".{name}.{}-{number}.tmp", std::process::id()));
            match options.open(&path) {
                Ok(file) => {
                    unfinished.hidden.insert(path.clone());
                    return Ok((file, TemporaryFile { path, is_kept: false, process: std::process::id() }));
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::Error::new(io::ErrorKind::AlreadyExists, "no free name for a temporary file beside it"))
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Keeps the file from now on, even if this is dropped. Returns whether it was not kept before.
    pub(super) fn keep(&mut self) -> bool {
        unfinished().hidden.remove(&self.path);
        !std::mem::replace(&mut self.is_kept, true)
    }

    /// Removes the file, unless this is another process after a fork.
    pub(super) fn discard(self) {
        if self.process == std::process::id() {
            unfinished().hidden.insert(self.path.clone());
        }
    }

    /// Returns the end of an error message about data to recover, if there are any.
    pub(super) fn left(&self) -> String {
        match self.is_kept {
            true => format!("; what was synced before is in {}", self.path.display()),
            false => String::new(),
        }
    }

    /// Renames the file to a name that must not exist. If it does, both files stay as they are.
    pub(super) fn rename_to_new(&mut self, target: &Path) -> io::Result<()> {
        let mut unfinished = unfinished();
        match fs::hard_link(&self.path, target) {
            // Only the second name remains to be removed: if it stays, the file exists all the same.
            Ok(()) => _ = fs::remove_file(&self.path),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(error),
            Err(_) if fs::symlink_metadata(target).is_ok() => return Err(io::ErrorKind::AlreadyExists.into()),
            // Not all file systems have hard links.
            Err(_) => fs::rename(&self.path, target)?,
        }
        unfinished.hidden.remove(&self.path);
        Ok(())
    }

    /// Renames the file.
    pub(super) fn rename(&mut self, target: &Path) -> io::Result<()> {
        let mut unfinished = unfinished();
        fs::rename(&self.path, target)?;
        unfinished.hidden.remove(&self.path);
        Ok(())
    }
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        if self.process != std::process::id() {
            return;
        }
        // Locked until the file is gone, so that a thread that ends the process meanwhile need not remove it.
        let mut unfinished = unfinished();
        if unfinished.hidden.remove(&self.path) {
            // Nobody is left to handle an error, and the file does no harm.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Returns the directory of a file.
pub(super) fn directory(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent.as_os_str().is_empty() => Path::new("."),
        Some(parent) => parent,
        None => path,
    }
}

#[cfg(unix)]
fn limit_mode(options: &mut OpenOptions, replaced: &Permissions) {
    use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
    options.mode(replaced.mode() & 0o777);
}

/// Other systems have no file modes.
#[cfg(not(unix))]
fn limit_mode(_: &mut OpenOptions, _: &Permissions) {}

/// Maximum number of names to try, which killed processes with our process id may have left.
const MAX_TRIES: usize = 10_000;
/// Maximum characters of the target's name to use. A file name has at most 255 bytes, and more is put around this part.
const MAX_NAME_CHARS: usize = 40;

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_file_that_replaces_another_is_never_more_readable() {
        let directory = tempfile::tempdir().unwrap();
        let target = directory.path().join("f");
        for mode in [0o600, 0o640, 0o400] {
            let (file, temporary) =
                TemporaryFile::create(&target, Some(&Permissions::from_mode(mode))).unwrap();
            let seen = file.metadata().unwrap().permissions().mode() & 0o777;
            assert_eq!(seen & !mode, 0, "{seen:o} for {mode:o}");
            assert!(temporary.path().exists());
        }
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
    }
}
