//! Directories that references may lead into.

use crate::access::FileAccess;
use marquetry_base::{Error, Result};
use std::path::{Path, PathBuf};

impl FileAccess {
    /// Allows plain files in a directory and below it, whatever symbolic links lead there, by `file:` URIs and relative ones.
    ///
    /// What others change there between the look at a path and its opening goes unseen: who may write in the directory may have
    /// any file of it read.
    ///
    /// # Errors
    ///
    /// If there is no such directory.
    pub fn with_directory(mut self, directory: impl AsRef<Path>) -> Result<Self> {
        let directory = directory.as_ref();
        let found = directory.canonicalize().map_err(|error| Error::io("a directory of FILE", error));
        let found = found.map_err(|error| error.in_file(directory.display().to_string()))?;
        if !found.is_dir() {
            return Err(Error::argument(format!("{} is no directory", directory.display())));
        }
        self.local.directories.push(found);
        Ok(self)
    }

    /// What relative URIs are relative to: the directory that the Parquet file is in. This alone allows nothing.
    pub fn with_base(mut self, directory: impl Into<PathBuf>) -> Self {
        self.local.base = Some(directory.into());
        self
    }
}
