//! File identity: whether two names are of the same file.

use std::fs::File;
use std::io;
use std::path::Path;

/// Device and inode; where there are none, the path without links.
#[cfg(unix)]
pub(super) type FileIdentity = (u64, u64);
#[cfg(not(unix))]
pub(super) type FileIdentity = std::path::PathBuf;

#[cfg(unix)]
fn of(metadata: &std::fs::Metadata) -> FileIdentity {
    use std::os::unix::fs::MetadataExt;
    (metadata.dev(), metadata.ino())
}

/// The identity of what is at `path`.
#[cfg(unix)]
pub(super) fn identity(path: &Path) -> io::Result<FileIdentity> {
    std::fs::metadata(path).map(|metadata| of(&metadata))
}

#[cfg(not(unix))]
pub(super) fn identity(path: &Path) -> io::Result<FileIdentity> {
    std::fs::canonicalize(path)
}

/// Whether two paths lead to one file, by links of either kind. Fails if nothing is at one of them.
pub fn is_same_file(one: &Path, other: &Path) -> io::Result<bool> {
    Ok(identity(one)? == identity(other)?)
}

/// Whether `file` is what is at `path`, and not one that was replaced or removed there since it was opened.
#[cfg(unix)]
pub(super) fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    match identity(path) {
        Ok(there) => Ok(there == of(&file.metadata()?)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// The standard library does not tell here.
#[cfg(not(unix))]
pub(super) fn is_at(_: &File, _: &Path) -> io::Result<bool> {
    Ok(true)
}
