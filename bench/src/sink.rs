//! Sinks of files, and their writers.

use std::io::{self, Write};

use crate::error::Result;

/// A sink of a file's bytes, which may discard them.
pub(crate) trait Sink: Write + Send {}
impl<W: Write + Send> Sink for W {}

/// A function that writes a file to a sink.
pub(crate) type Writing<'a> = &'a dyn Fn(&mut dyn Sink) -> Result<()>;

/// Counts bytes, and discards them.
#[derive(Default)]
pub(crate) struct Counting(pub(crate) usize);

impl Write for Counting {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
