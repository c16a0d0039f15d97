//! What takes the place of temporary files in a build without the feature `fs`: an error that names it.

use super::spill_store::{SpillFile, SpillStore};
use std::io;
use std::path::PathBuf;

/// Spills to files without a name in a folder, which this build cannot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpillFolder;

impl SpillFolder {
    /// The system's folder for temporary files.
    pub fn system() -> Self {
        SpillFolder
    }

    /// This folder.
    pub fn new(_: impl Into<PathBuf>) -> Self {
        SpillFolder
    }
}

impl SpillStore for SpillFolder {
    /// Fails.
    fn create(&self) -> io::Result<Box<dyn SpillFile>> {
        let why = "this build makes no temporary files: turn on the feature \"fs\", or set a spill store";
        Err(io::Error::new(io::ErrorKind::Unsupported, why))
    }
}
