//! The cache key of a local file.

use super::cache_key::FileCacheKey;
use super::local_file::regular;
use marquetry_base::{Error, Result};
use std::fs::Metadata;
use std::path::Path;

impl FileCacheKey {
    /// Creates the key of a local file. Its version is the time of its last change, and on Unix its inode: a file that
    /// replaces it has another key.
    ///
    /// Fails if there is no such file, or if it is not a file with positioned reads.
    pub fn of_local(path: impl AsRef<Path>) -> Result<Self> {
        let name = path.as_ref().display().to_string();
        let cannot = |error| Error::io("cannot look at the file", error);
        let metadata = std::fs::metadata(&path).map_err(|error| cannot(error).in_file(name.as_str()))?;
        regular(&metadata).map_err(|error| error.in_file(name.as_str()))?;
        let changed = metadata.modified().ok();
        let since = changed.and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
        let version = since.map(|since| format!("{}.{}", since.as_nanos(), inode(&metadata)));
        Ok(FileCacheKey::new(name, metadata.len(), version.as_deref()))
    }
}

#[cfg(unix)]
fn inode(metadata: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(metadata)
}

#[cfg(not(unix))]
fn inode(_: &Metadata) -> u64 {
    0
}
