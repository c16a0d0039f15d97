//! Reads a source in long pieces, and finds where files stand behind each other in it.

use crate::source::Source;
use bytes::Bytes;
use marquetry_base::{Limits, Result};
use std::sync::Arc;

/// Bytes of a source, read in long pieces.
pub(super) struct Window {
    pub(super) source: Arc<dyn Source>,
    pub(super) limits: Arc<Limits>,
    start: u64,
    bytes: Bytes,
}

impl Window {
    pub(super) fn new(source: Arc<dyn Source>, limits: Arc<Limits>) -> Self {
        Window { source, limits, start: 0, bytes: Bytes::new() }
    }

    /// One on the same source, with nothing read yet.
    pub(super) fn another(&self) -> Self {
        Window::new(self.source.clone(), self.limits.clone())
    }

    /// Up to `len` bytes from `offset` on: fewer at the end of the source.
    pub(super) fn at(&mut self, offset: u64, len: usize) -> Result<Bytes> {
        let left = self.source.len().saturating_sub(offset);
        let len = left.min(len as u64) as usize;
        let inside =
            offset.checked_sub(self.start).filter(|from| from + len as u64 <= self.bytes.len() as u64);
        let from = match inside {
            Some(from) => from as usize,
            None => {
                self.bytes = self.source.read_at(offset, left.min(READ.max(len as u64)) as usize)?;
                self.start = offset;
                0
            }
        };
        Ok(self.bytes.slice(from..from + len))
    }
}

/// Where `PAR1PAR1` stands: a file that ends, and one that begins. The position between the two.
pub(super) fn file_boundaries(window: &mut Window) -> Result<Vec<u64>> {
    let mut out = Vec::new();
    let (mut at, len) = (0, window.source.len());
    while at + 8 <= len && out.len() < MAX_PARTS {
        let bytes = window.at(at, READ as usize)?;
        let found = bytes.windows(8).enumerate().filter(|(_, bytes)| *bytes == b"PAR1PAR1");
        out.extend(found.map(|(i, _)| at + i as u64 + 4));
        at += (bytes.len() - 7) as u64;
    }
    Ok(out)
}

/// The first byte behind the opening magic.
pub(super) const FIRST_PAGE: u64 = 4;
/// Bytes read at a time.
const READ: u64 = 4 << 20;
/// Files behind each other that are told apart.
const MAX_PARTS: usize = 1000;
