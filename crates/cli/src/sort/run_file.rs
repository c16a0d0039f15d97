//! A temporary file that is written and read from front to back.

use marquetry_core::write::{SpillFile, SpillStore};
use std::io::{self, Read, Write};

/// A file of a spill store.
#[derive(Debug)]
pub(super) struct RunFile {
    file: Box<dyn SpillFile>,
    len: u64,
}

impl RunFile {
    /// Creates an empty file.
    pub(super) fn create(store: &dyn SpillStore) -> io::Result<RunWriter> {
        let file = RunFile { file: store.create()?, len: 0 };
        Ok(RunWriter { file, buffer: Vec::with_capacity(BLOCK) })
    }

    /// Reads the file from its beginning.
    pub(super) fn into_reader(self) -> RunReader {
        RunReader { file: self, next: 0, buffer: Vec::new(), used: 0 }
    }
}

/// Writes a file in blocks of the size in which it is read: stores that encrypt do so block by block.
pub(super) struct RunWriter {
    file: RunFile,
    buffer: Vec<u8>,
}

impl RunWriter {
    /// The complete file.
    pub(super) fn finish(mut self) -> io::Result<RunFile> {
        self.write_block()?;
        Ok(self.file)
    }

    fn write_block(&mut self) -> io::Result<()> {
        if !self.buffer.is_empty() {
            self.file.file.write_at(&self.buffer, self.file.len)?;
            self.file.len += self.buffer.len() as u64;
            self.buffer.clear();
        }
        Ok(())
    }
}

impl Write for RunWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(BLOCK - self.buffer.len());
        self.buffer.extend_from_slice(&bytes[..taken]);
        if self.buffer.len() == BLOCK {
            self.write_block()?;
        }
        Ok(taken)
    }

    /// Does nothing: nobody reads an unfinished file.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Reads a file.
pub(super) struct RunReader {
    file: RunFile,
    /// Where the next block begins.
    next: u64,
    buffer: Vec<u8>,
    /// How much of the block was returned.
    used: usize,
}

impl Read for RunReader {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.used == self.buffer.len() {
            let len = (self.file.len - self.next).min(BLOCK as u64);
            self.buffer.resize(len as usize, 0);
            self.file.file.read_at(&mut self.buffer, self.next)?;
            (self.next, self.used) = (self.next + len, 0);
        }
        let given = out.len().min(self.buffer.len() - self.used);
        out[..given].copy_from_slice(&self.buffer[self.used..self.used + given]);
        self.used += given;
        Ok(given)
    }
}

const BLOCK: usize = 64 << 10;

#[cfg(test)]
mod tests {
    use super::*;
    use marquetry_core::write::SpillFolder;

    #[test]
    fn all_bytes_come_back() {
        for len in [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 5 * BLOCK + 77] {
            let bytes: Vec<u8> = (0..len).map(|i| (i * 31 % 251) as u8).collect();
            let mut writer = RunFile::create(&SpillFolder::system()).unwrap();
            bytes.chunks(10_007).for_each(|part| writer.write_all(part).unwrap());
            let mut read = Vec::new();
            writer.finish().unwrap().into_reader().read_to_end(&mut read).unwrap();
            assert!(read == bytes, "{len} bytes");
        }
    }
}
