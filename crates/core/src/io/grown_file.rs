//! A file that grows in place, and is what it was unless it is kept.

use super::own_file::OwnFile;
use super::unfinished::unfinished;
use crate::write::Durable;
use std::fs::File;
use std::io::{self, Write};

/// Writes behind what a file has. Dropped without [`keep`](Self::keep), it cuts that off again; so does the end of the process by
/// [`remove_unfinished_files`](super::remove_unfinished_files).
#[derive(Debug)]
pub(super) struct GrownFile {
    file: OwnFile,
    number: u64,
}

impl GrownFile {
    /// Of a file of `len` bytes, whose position is at its end.
    pub(super) fn new(file: File, len: u64) -> io::Result<Self> {
        let number = unfinished().grow(&file, len)?;
        Ok(GrownFile { file: OwnFile::new(file), number })
    }

    /// Keeps what was written up to now.
    pub(super) fn keep(&self) {
        unfinished().keep(self.number);
    }
}

impl Write for GrownFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // Held, so that nothing comes behind the cut.
        let _held = unfinished();
        self.file.write(bytes)
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
        unfinished().cut(self.number);
    }
}
