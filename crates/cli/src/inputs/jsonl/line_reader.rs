//! Rewrites JSON as lines while it is read.

use std::io::{self, Read};

/// Converts a text to lines.
pub(super) trait ToLines {
    /// Appends the lines of the next bytes of the text, which may be none. Returns false at its end.
    fn next_lines(&mut self, lines: &mut Vec<u8>) -> io::Result<bool>;
}

/// Reads the lines of a text.
pub(super) struct LineReader<T> {
    text: T,
    lines: Vec<u8>,
    /// Number of bytes of `lines` that were returned.
    given: usize,
}

impl<T: ToLines> LineReader<T> {
    pub(super) fn new(text: T) -> Self {
        LineReader { text, lines: Vec::new(), given: 0 }
    }
}

impl<T: ToLines> Read for LineReader<T> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while self.given == self.lines.len() {
            self.lines.clear();
            self.given = 0;
            if !self.text.next_lines(&mut self.lines)? {
                return Ok(0);
            }
        }
        let rest = &self.lines[self.given..];
        let n = rest.len().min(out.len());
        out[..n].copy_from_slice(&rest[..n]);
        self.given += n;
        Ok(n)
    }
}

pub(super) fn broken(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}
