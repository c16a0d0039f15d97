//! Directories that references may lead into.

use crate::access::FileAccess;
use marquetry_base::{Error, Result};
use std::path::{Path, PathBuf};

impl FileAccess {
    /// Allows regular files in a directory and below it, by `file:` URIs and relative ones. Symbolic links are resolved
    /// first.
    ///
    /// Changes that others make there between the check of a path and its opening are not noticed: whoever can write to
    /// the directory may have any file read that this process can read.
    ///
    /// # Errors
    ///
    /// If there is no such directory.
    pub fn with_directory(mut self, directory: impl AsRef<Path>) -> Result<Self> {
        let directory = directory.as_ref();
        let found = directory.canonicalize().map_err(|error| Error::io("a directory of FILE", error));
        let found = found.map_err(|error| error.in_file(directory.display().to_string()))?;
        if !found.is_dir() {
            return Err(Error::argument(format!("{} is not a directory", directory.display())));
        }
        self.local.directories.push(found);
        Ok(self)
    }

    /// Sets the directory that relative URIs are relative to, which is that of the Parquet file. This alone allows
    /// nothing.
    pub fn with_base(mut self, directory: impl Into<PathBuf>) -> Self {
        self.local.base = Some(directory.into());
        self
    }
}
