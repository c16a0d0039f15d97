//! Replaces temporary files in a build without the feature `fs`, by an error that names the feature.

use super::spill_store::{SpillFile, SpillStore};
use std::io;
use std::path::PathBuf;

/// A store of files without a name in a folder, which this build does not support.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpillFolder;

impl SpillFolder {
    /// Uses the system's folder for temporary files.
    pub fn system() -> Self {
        SpillFolder
    }

    /// Uses this folder.
    pub fn new(_: impl Into<PathBuf>) -> Self {
        SpillFolder
    }
}

impl SpillStore for SpillFolder {
    /// Fails always.
    fn create(&self) -> io::Result<Box<dyn SpillFile>> {
        let why = "this build makes no temporary files: turn on the feature \"fs\", or set a spill store";
        Err(io::Error::new(io::ErrorKind::Unsupported, why))
    }
}
