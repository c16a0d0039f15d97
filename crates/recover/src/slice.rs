//! Presents a range of a source as a source: one of several concatenated files.

use bytes::Bytes;
use marquetry_base::Result;
use marquetry_core::source::{Source, outside};
use std::ops::Range;
use std::sync::Arc;

pub(crate) struct SliceSource {
    source: Arc<dyn Source>,
    range: Range<u64>,
}

impl SliceSource {
    /// INVARIANT: the range is inside the source.
    pub(crate) fn new(source: Arc<dyn Source>, range: Range<u64>) -> Self {
        SliceSource { source, range }
    }
}

impl Source for SliceSource {
    fn len(&self) -> u64 {
        self.range.end - self.range.start
    }

    fn read_at(&self, offset: u64, len: usize) -> Result<Bytes> {
        match offset.checked_add(len as u64) {
            Some(end) if end <= self.len() => {
                let read = self.source.read_at(self.range.start + offset, len);
                read.map_err(|error| error.without_offset().at(offset))
            }
            _ => Err(outside(offset, len, self.len())),
        }
    }
}
