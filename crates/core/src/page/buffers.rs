//! Buffers that are reused from page to page.

use super::free_list::FreeList;
use crate::metrics::ReadCounters;
use bytes::BytesMut;
use marquetry_base::MemoryReservation;
use marquetry_codec::Decompressor;
use std::sync::Arc;

/// Buffers for reading pages, reused from page to page and possibly from chunk to chunk, and the state that columns
/// share for decoding.
#[derive(Default)]
pub struct PageBuffers {
    /// Number of other columns that are read side by side with this one.
    others: usize,
    /// Counters of the pages read, if they are counted.
    pub(super) counters: Option<Arc<ReadCounters>>,
    /// Codec contexts. PERF: columns share them page by page, as they share `dictionaries`: the next page uses memory
    /// that is still in the cache.
    pub(super) decompressors: FreeList<Decompressor>,
    /// Memory for decompressing a dictionary page, in use until its values were copied out of it.
    pub(super) dictionaries: FreeList<(Vec<u8>, MemoryReservation)>,
    /// Memory for the next read-ahead window.
    pub(super) window: BytesMut,
    /// Memory for the next decompressed page.
    pub(super) spare: Vec<u8>,
    /// Reservation for the decompressed page, and then for `spare`.
    pub(super) page: MemoryReservation,
    /// Memory for the next decrypted page.
    pub(super) opened: Vec<u8>,
    /// Reservation for the decrypted page, and then for `opened`.
    pub(super) opened_held: MemoryReservation,
    /// Reservation for earlier pages and windows that values still refer to.
    pub(super) retained: MemoryReservation,
}

impl PageBuffers {
    /// Creates buffers for one of `columns` columns that are read side by side and share the read-ahead bytes. Default
    /// 1.
    pub(super) fn sharing_read_ahead(columns: usize) -> Self {
        PageBuffers { others: columns.saturating_sub(1), ..PageBuffers::default() }
    }

    /// Counts the pages that are read with these buffers.
    #[must_use]
    pub(super) fn counted_by(self, counters: Arc<ReadCounters>) -> Self {
        PageBuffers { counters: Some(counters), ..self }
    }

    /// Creates buffers with the same share of the read-ahead and the same counters.
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

    /// Takes the reservation for earlier pages and windows that values still refer to.
    pub(crate) fn take_retained(&mut self) -> MemoryReservation {
        std::mem::take(&mut self.retained)
    }

    /// Maximum bytes to read ahead.
    pub(super) fn max_read_ahead(&self) -> u64 {
        (SHARED_READ_AHEAD_BYTES / (self.others as u64 + 1)).clamp(MIN_READ_AHEAD_BYTES, MAX_READ_AHEAD_BYTES)
    }
}

/// Maximum bytes that one column reads ahead: large enough that requests are few.
const MAX_READ_AHEAD_BYTES: u64 = 1 << 20;
/// Read-ahead bytes of all columns together, so that a wide file does not fill the memory.
const SHARED_READ_AHEAD_BYTES: u64 = 16 << 20;
/// Minimum bytes that a column reads ahead, however many columns there are: with less, most pages would be read twice,
/// first for their header.
const MIN_READ_AHEAD_BYTES: u64 = 8 << 10;
