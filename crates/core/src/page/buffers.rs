//! Memory that is reused from page to page.

use super::free_list::FreeList;
use crate::metrics::ReadCounters;
use bytes::BytesMut;
use marquetry_base::MemoryReservation;
use marquetry_codec::Decompressor;
use std::sync::Arc;

/// Memory for a page, reused from page to page, and possibly from chunk to chunk; and what columns share to decode one.
#[derive(Default)]
pub struct PageBuffers {
    /// Number of other columns that are read side by side with this one.
    others: usize,
    /// What is counted, if anything is.
    pub(super) counters: Option<Arc<ReadCounters>>,
    /// Codec contexts. PERF: columns share them page by page, as they share `dictionaries`: what is read next uses memory that is
    /// still in the cache.
    pub(super) decompressors: FreeList<Decompressor>,
    /// Memory to decompress a dictionary page into, until its values were copied out of it.
    pub(super) dictionaries: FreeList<(Vec<u8>, MemoryReservation)>,
    /// For the next window of bytes that are read ahead.
    pub(super) window: BytesMut,
    /// For the next decompressed page.
    pub(super) spare: Vec<u8>,
    /// Memory of the decompressed page, or of `spare` after it.
    pub(super) page: MemoryReservation,
    /// For the next decrypted page.
    pub(super) opened: Vec<u8>,
    /// Memory of the decrypted page, or of `opened` after it.
    pub(super) opened_held: MemoryReservation,
    /// Memory of earlier pages and windows that values still refer to.
    pub(super) retained: MemoryReservation,
}

impl PageBuffers {
    /// Buffers for one of `columns` columns that are read side by side and share the bytes that are read ahead. Default 1.
    pub(super) fn sharing_read_ahead(columns: usize) -> Self {
        PageBuffers { others: columns.saturating_sub(1), ..PageBuffers::default() }
    }

    /// Buffers whose pages are counted.
    #[must_use]
    pub(super) fn counted_by(self, counters: Arc<ReadCounters>) -> Self {
        PageBuffers { counters: Some(counters), ..self }
    }

    /// New buffers with the same share of the read-ahead, whose pages are counted in the same place.
    #[must_use]
    pub(super) fn new_like(&self) -> Self {
        PageBuffers {
            others: self.others,
            counters: self.counters.clone(),
            decompressors: self.decompressors.clone(),
            dictionaries: self.dictionaries.clone(),
            ..PageBuffers::default()
        }
    }

    /// Takes the reservation of the memory of earlier pages and windows that values still refer to.
    pub(crate) fn take_retained(&mut self) -> MemoryReservation {
        std::mem::take(&mut self.retained)
    }

    /// Most bytes to read ahead.
    pub(super) fn max_read_ahead(&self) -> u64 {
        (SHARED_READ_AHEAD_BYTES / (self.others as u64 + 1)).clamp(MIN_READ_AHEAD_BYTES, MAX_READ_AHEAD_BYTES)
    }
}

/// Most bytes that one column reads ahead: large enough that reads are few.
const MAX_READ_AHEAD_BYTES: u64 = 1 << 20;
/// Bytes that columns read ahead together: a wide file does not fill the memory.
const SHARED_READ_AHEAD_BYTES: u64 = 16 << 20;
/// Least bytes that a column reads ahead, however many columns there are: with less, most pages would be read twice, first
/// for their header.
const MIN_READ_AHEAD_BYTES: u64 = 8 << 10;
