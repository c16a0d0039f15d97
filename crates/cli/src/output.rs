//! Standard output: text or JSON.

use crate::args::Format;
use serde_json::Value;
use std::io::{self, BufWriter, Stdout, Write};

/// Standard output, buffered. That nobody reads it any more shows as [`io::ErrorKind::BrokenPipe`], which becomes
/// [`Failure::ClosedPipe`](crate::failure::Failure::ClosedPipe).
pub(crate) struct Output {
    format: Format,
    out: BufWriter<Stdout>,
}

impl Output {
    pub(crate) fn new(format: Format) -> Self {
        Output { format, out: BufWriter::with_capacity(BUFFER, io::stdout()) }
    }

    /// Whether facts are wanted as JSON.
    pub(crate) fn is_json(&self) -> bool {
        self.format == Format::Json
    }

    /// Whether findings are wanted as SARIF.
    pub(crate) fn is_sarif(&self) -> bool {
        self.format == Format::Sarif
    }

    /// Writes a line of text.
    pub(crate) fn line(&mut self, line: impl AsRef<str>) -> io::Result<()> {
        self.out.write_all(line.as_ref().as_bytes())?;
        self.out.write_all(b"\n")
    }

    /// Writes a value as one line of JSON.
    pub(crate) fn json(&mut self, value: &Value) -> io::Result<()> {
        serde_json::to_writer(&mut self.out, value)?;
        self.out.write_all(b"\n")
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

const BUFFER: usize = 64 << 10;
