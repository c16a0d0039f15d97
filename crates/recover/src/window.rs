//! Reads a source in long pieces, and finds the boundaries of concatenated files in it.

use bytes::Bytes;
use marquetry_base::{Limits, Result};
use marquetry_core::source::Source;
use std::sync::Arc;

/// A source that is read in long pieces, the last of which is kept.
pub(crate) struct Window {
    pub(crate) source: Arc<dyn Source>,
    pub(crate) limits: Arc<Limits>,
    start: u64,
    bytes: Bytes,
}

/// The source of windows.
pub(crate) struct Origin {
    source: Arc<dyn Source>,
    limits: Arc<Limits>,
}

impl Origin {
    /// Creates a window that has read nothing yet.
    pub(crate) fn window(&self) -> Window {
        Window::new(self.source.clone(), self.limits.clone())
    }
}

impl Window {
    pub(crate) fn new(source: Arc<dyn Source>, limits: Arc<Limits>) -> Self {
        Window { source, limits, start: 0, bytes: Bytes::new() }
    }

    /// Returns the source, for other windows.
    pub(crate) fn origin(&self) -> Origin {
        Origin { source: self.source.clone(), limits: self.limits.clone() }
    }

    /// Returns `len` bytes from `offset` on, or fewer at the end of the source.
    pub(crate) fn at(&mut self, offset: u64, len: usize) -> Result<Bytes> {
        let left = self.source.len().saturating_sub(offset);
        let len = left.min(len as u64) as usize;
        let inside =
            offset.checked_sub(self.start).filter(|from| from + len as u64 <= self.bytes.len() as u64);
        let from = match inside {
            Some(from) => from as usize,
            None => {
                self.limits.cancel.check()?;
                self.bytes = self.source.read_at(offset, left.min(READ_BYTES.max(len as u64)) as usize)?;
                self.start = offset;
                0
            }
        };
        Ok(self.bytes.slice(from..from + len))
    }
}

/// Returns the positions between two files: in the middle of each `PAR1PAR1`.
pub(crate) fn file_boundaries(window: &mut Window) -> Result<Vec<u64>> {
    let mut out = Vec::new();
    let (mut at, len) = (0, window.source.len());
    while at + 8 <= len && out.len() < MAX_PARTS {
        let bytes = window.at(at, READ_BYTES as usize)?;
        let found = bytes.windows(8).enumerate().filter(|(_, bytes)| *bytes == b"PAR1PAR1");
        out.extend(found.map(|(i, _)| at + i as u64 + 4));
        at += (bytes.len() - 7) as u64;
    }
    Ok(out)
}

/// The first byte behind the opening magic.
pub(crate) const FIRST_PAGE: u64 = 4;
/// Number of bytes that are read at a time.
const READ_BYTES: u64 = 4 << 20;
/// Maximum number of concatenated files.
const MAX_PARTS: usize = 1000;
