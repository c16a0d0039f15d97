//! A file to which only the process that opened it writes, and not a child that was forked since.

use crate::write::Durable;
use std::fs::File;
use std::io::{self, Write};
use std::process;

/// A file of the process that opened it. After a fork, both processes have the file, and share one position in it: the
/// child, which may only drop its writer, must not write the contents of the writer's buffer.
#[derive(Debug)]
pub(super) struct OwnFile {
    file: File,
    process: u32,
}

impl OwnFile {
    pub(super) fn new(file: File) -> Self {
        OwnFile { file, process: process::id() }
    }

    /// Whether this process opened the file.
    pub(super) fn is_ours(&self) -> bool {
        self.process == process::id()
    }

    pub(super) fn file(&self) -> &File {
        &self.file
    }
}

impl Write for OwnFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.is_ours() {
            true => self.file.write(bytes),
            false => Err(io::Error::other("the process that this one was forked from is writing the file")),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Durable for OwnFile {
    fn sync(&mut self) -> io::Result<()> {
        self.file.sync()
    }
}
