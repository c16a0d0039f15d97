//! File identity: whether two names lead to the same file.

use std::fs::File;
use std::io;
use std::path::Path;

/// Device and inode; on systems without them, the path without links.
#[cfg(unix)]
pub(super) type FileIdentity = (u64, u64);
#[cfg(not(unix))]
pub(super) type FileIdentity = std::path::PathBuf;

#[cfg(unix)]
fn of(metadata: &std::fs::Metadata) -> FileIdentity {
    use std::os::unix::fs::MetadataExt;
    (metadata.dev(), metadata.ino())
}

/// Returns the identity of the file at `path`.
#[cfg(unix)]
pub(super) fn identity(path: &Path) -> io::Result<FileIdentity> {
    std::fs::metadata(path).map(|metadata| of(&metadata))
}

#[cfg(not(unix))]
pub(super) fn identity(path: &Path) -> io::Result<FileIdentity> {
    std::fs::canonicalize(path)
}

/// Whether two paths lead to the same file, by links of either kind. Fails if one of them does not exist.
pub fn is_same_file(one: &Path, other: &Path) -> io::Result<bool> {
    Ok(identity(one)? == identity(other)?)
}

/// Whether `file` is still the one at `path`, and was not replaced or removed since it was opened.
#[cfg(unix)]
pub(super) fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    match identity(path) {
        Ok(there) => Ok(there == of(&file.metadata()?)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Always true: the standard library cannot tell here.
#[cfg(not(unix))]
pub(super) fn is_at(_: &File, _: &Path) -> io::Result<bool> {
    Ok(true)
}
