//! Where a file is written to, and what writes it.

use std::io::{self, Write};

use crate::error::Result;

/// Where a file goes: bytes, or nowhere.
pub(crate) trait Sink: Write + Send {}
impl<W: Write + Send> Sink for W {}

/// What writes a file into a sink.
pub(crate) type Writing<'a> = &'a dyn Fn(&mut dyn Sink) -> Result<()>;

/// Counts bytes, and forgets them.
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
