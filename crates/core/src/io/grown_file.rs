//! Appends to a file in place, and cuts it back to what it was unless the change is kept.

use super::own_file::OwnFile;
use super::unfinished::{Growth, unfinished};
use crate::write::Durable;
use std::fs::File;
use std::io::{self, Write};
use std::sync::Arc;

/// Writes behind what a file has. Dropped without [`keep`](Self::keep), it cuts that off again; so does the end of the process by
/// [`remove_unfinished_files`](super::remove_unfinished_files).
#[derive(Debug)]
pub(super) struct GrownFile {
    file: OwnFile,
    growth: Arc<Growth>,
}

impl GrownFile {
    /// Of a file of `len` bytes, whose position is at its end.
    pub(super) fn new(file: File, len: u64) -> io::Result<Self> {
        let growth = Arc::new(Growth::new(file.try_clone()?, len));
        unfinished().grown.push(growth.clone());
        Ok(GrownFile { file: OwnFile::new(file), growth })
    }

    /// Keeps what was written up to now.
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
        // After a fork it is the other process's.
        if self.file.is_ours() && unfinished().forget(&self.growth) {
            self.growth.cut();
        }
    }
}
