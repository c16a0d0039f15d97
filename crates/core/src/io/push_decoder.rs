//! Push decoders of footers and page indexes: the caller does the input, and pushes bytes.

use super::footer::{TAIL_LEN, TAIL_READ, read_metadata_by};
use crate::fetch::RangeCache;
use crate::metadata::ParquetMetaData;
use crate::page_index::PageIndex;
use crate::source::Source;
use bytes::Bytes;
use marquetry_base::{Error, Limits, Result};
use marquetry_crypto::FileDecryptionProperties;
use std::ops::Range;
use std::sync::Arc;

/// The result of a push decoder.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum DecodeResult<T> {
    /// These bytes of the file are missing: push them, and decode again. Ranges are sorted, disjoint and inside the
    /// file.
    NeedsData(Vec<Range<u64>>),
    /// The decoded value.
    Data(T),
}

/// Decodes the footer of a file, and its page index, from bytes that are pushed into it. For callers with their own way
/// of reading, or that have the end of the file already.
///
/// ```
/// use marquetry_core::io::{DecodeResult, ParquetMetaDataPushDecoder};
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/wines.parquet");
/// # let file = bytes::Bytes::from(std::fs::read(path)?);
/// # let fetch = |range: std::ops::Range<u64>| file.slice(range.start as usize..range.end as usize);
/// let decoder = ParquetMetaDataPushDecoder::new(file.len() as u64);
/// let metadata = loop {
///     match decoder.try_decode()? {
///         DecodeResult::Data(metadata) => break metadata,
///         DecodeResult::NeedsData(ranges) => {
///             let buffers = ranges.iter().cloned().map(fetch).collect();
///             decoder.push_ranges(ranges, buffers)?;
///         }
///         _ => unreachable!(),
///     }
/// };
/// assert_eq!(metadata.num_rows(), 200);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct ParquetMetaDataPushDecoder {
    bytes: RangeCache,
    limits: Limits,
    decryption: Option<Arc<FileDecryptionProperties>>,
}

impl ParquetMetaDataPushDecoder {
    /// Creates a decoder for a file of `file_len` bytes.
    pub fn new(file_len: u64) -> Self {
        ParquetMetaDataPushDecoder {
            bytes: RangeCache::new(file_len),
            limits: Limits::default(),
            decryption: None,
        }
    }

    /// Sets the limits of decoding. Default: [`Limits::default`].
    #[must_use]
    pub fn with_limits(self, limits: Limits) -> Self {
        ParquetMetaDataPushDecoder { limits, ..self }
    }

    /// Sets the keys of an encrypted file. Default: none.
    #[must_use]
    pub fn with_file_decryption_properties(self, decryption: Arc<FileDecryptionProperties>) -> Self {
        ParquetMetaDataPushDecoder { decryption: Some(decryption), ..self }
    }

    /// Adds the bytes of the file from `offset` on. They may be more than requested, and in any order: the last bytes
    /// of the file are always useful. Bytes beyond the end of the file are ignored.
    pub fn push(&self, offset: u64, bytes: Bytes) {
        let room = usize::try_from(self.bytes.len().saturating_sub(offset)).unwrap_or(usize::MAX);
        self.bytes.insert(offset, bytes.slice(..bytes.len().min(room)));
    }

    /// Like [`push`](Self::push), for the ranges that [`DecodeResult::NeedsData`] requested, and their bytes.
    ///
    /// Fails if the numbers of buffers and ranges differ, or if a buffer does not have the length of its range.
    pub fn push_ranges(&self, ranges: Vec<Range<u64>>, buffers: Vec<Bytes>) -> Result<()> {
        if ranges.len() != buffers.len() {
            return Err(Error::argument(format!("{} buffers for {} ranges", buffers.len(), ranges.len())));
        }
        for (range, bytes) in ranges.into_iter().zip(buffers) {
            if range.end.checked_sub(range.start) != Some(bytes.len() as u64) {
                return Err(Error::argument(format!("{} bytes for the range {range:?}", bytes.len())));
            }
            self.push(range.start, bytes);
        }
        Ok(())
    }

    /// Returns the footer, or the bytes that are missing for it: the end of the file first, and then the part of the
    /// footer before that. If the footer is damaged, also the first bytes of the file, which show whether it was a
    /// Parquet file.
    ///
    /// Fails if the file is not a Parquet file, or if its footer is damaged, encrypted or exceeds the limits.
    pub fn try_decode(&self) -> Result<DecodeResult<ParquetMetaData>> {
        let first_read = self.first_read();
        let decryption = self.decryption.as_ref();
        self.step(|| {
            read_metadata_by(&self.bytes, &self.limits, decryption, first_read).map(|footer| footer.metadata)
        })
    }

    /// Returns the page index of `columns`, which are leaf numbers, in `row_groups`, or the bytes that are missing for
    /// it.
    ///
    /// Fails like [`PageIndex::read`].
    pub fn try_decode_page_index(
        &self,
        metadata: &ParquetMetaData,
        row_groups: Range<usize>,
        columns: &[usize],
    ) -> Result<DecodeResult<PageIndex>> {
        // Requests all missing bytes at once, instead of index by index.
        let chunk = |row_group: usize, &column: &usize| metadata.row_group(row_group).column(column).ok();
        let (groups, leaves) = (metadata.num_row_groups(), metadata.schema().num_columns());
        let known = columns.iter().filter(|&&column| column < leaves);
        let chunks = known.flat_map(|column| {
            row_groups.clone().filter(|&i| i < groups).filter_map(move |i| chunk(i, column))
        });
        let ranges = chunks.flat_map(|chunk| [chunk.column_index_range(), chunk.offset_index_range()]);
        let missing = self.bytes.missing_of(ranges.flatten().filter(|range| range.start > 0));
        match sorted(missing) {
            missing if missing.is_empty() => {
                self.step(|| PageIndex::read(&self.bytes, metadata, row_groups, columns, &self.limits))
            }
            missing => Ok(DecodeResult::NeedsData(missing)),
        }
    }

    /// Returns how many bytes of the file's end to read first: those that are there, so that no more than the footer is
    /// requested. If they are too few to locate the footer, more than most footers have.
    fn first_read(&self) -> usize {
        let len = self.bytes.len();
        let missing = self.bytes.missing_of(std::iter::once(len.saturating_sub(TAIL_READ as u64)..len));
        let known = missing.last().map_or(TAIL_READ as u64, |last| len - last.end);
        if known < TAIL_LEN as u64 { TAIL_READ } else { known as usize }
    }

    /// Runs a step on the bytes that are there.
    fn step<T>(&self, step: impl FnOnce() -> Result<T>) -> Result<DecodeResult<T>> {
        let outcome = step();
        match sorted(self.bytes.take_misses()) {
            missing if missing.is_empty() => outcome.map(DecodeResult::Data),
            missing => Ok(DecodeResult::NeedsData(missing)),
        }
    }
}

/// Sorts ranges and merges overlaps.
fn sorted(mut ranges: Vec<Range<u64>>) -> Vec<Range<u64>> {
    ranges.sort_unstable_by_key(|range| (range.start, range.end));
    let mut out: Vec<Range<u64>> = Vec::new();
    for range in ranges {
        match out.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => out.push(range),
        }
    }
    out
}
