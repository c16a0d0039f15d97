//! Appends to a file in place, and truncates it to what it was unless the change is kept.

use super::own_file::OwnFile;
use super::unfinished::{Growth, unfinished};
use crate::write::Durable;
use std::fs::File;
use std::io::{self, Write};
use std::sync::Arc;

/// A writer behind the end of a file. Dropped without [`keep`](Self::keep), it truncates the file again; at the end of
/// the process, [`remove_unfinished_files`](super::remove_unfinished_files) does so.
#[derive(Debug)]
pub(super) struct GrownFile {
    file: OwnFile,
    growth: Arc<Growth>,
}

impl GrownFile {
    /// Creates a writer to a file of `len` bytes, whose position is at its end.
    pub(super) fn new(file: File, len: u64) -> io::Result<Self> {
        let growth = Arc::new(Growth::new(file.try_clone()?, len));
        unfinished().grown.push(growth.clone());
        Ok(GrownFile { file: OwnFile::new(file), growth })
    }

    /// Keeps the bytes written so far.
    pub(super) fn keep(&self) {
        unfinished().forget(&self.growth);
    }
}

impl Write for GrownFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.growth.unless_cut(|| self.file.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Durable for GrownFile {
    fn sync(&mut self) -> io::Result<()> {
        self.file.sync()
    }
}

impl Drop for GrownFile {
    fn drop(&mut self) {
        // After a fork the file belongs to the other process.
        if self.file.is_ours() && unfinished().forget(&self.growth) {
            self.growth.cut();
        }
    }
}
