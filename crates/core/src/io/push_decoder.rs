//! Push decoders of footers and page indexes: the caller does the input, and hands bytes in.

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

/// What a push decoder has to say.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum DecodeResult<T> {
    /// These bytes of the file are missing: push them, and ask again. Ranges are sorted, disjoint and inside the file.
    NeedsData(Vec<Range<u64>>),
    /// All was there.
    Data(T),
}

/// Decodes the footer of a file, and its page index, from bytes that are pushed into it: for who has a way of reading of his
/// own, or has the end of the file at hand already.
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
    /// Of a file of `file_len` bytes.
    pub fn new(file_len: u64) -> Self {
        ParquetMetaDataPushDecoder {
            bytes: RangeCache::new(file_len),
            limits: Limits::default(),
            decryption: None,
        }
    }

    /// What decoding may cost. Default: [`Limits::default`].
    #[must_use]
    pub fn with_limits(self, limits: Limits) -> Self {
        ParquetMetaDataPushDecoder { limits, ..self }
    }

    /// The keys of an encrypted file. Default: none.
    #[must_use]
    pub fn with_file_decryption_properties(self, decryption: Arc<FileDecryptionProperties>) -> Self {
        ParquetMetaDataPushDecoder { decryption: Some(decryption), ..self }
    }

    /// Takes the bytes of the file from `offset` on. More than was asked for may be given, and in any order: the last
    /// bytes of the file are always of use. What lies beyond its end is passed over.
    pub fn push(&self, offset: u64, bytes: Bytes) {
        let room = usize::try_from(self.bytes.len().saturating_sub(offset)).unwrap_or(usize::MAX);
        self.bytes.insert(offset, bytes.slice(..bytes.len().min(room)));
    }

    /// [`push`](Self::push), for each range its bytes: what [`DecodeResult::NeedsData`] asked for.
    ///
    /// Fails if there are not as many buffers as ranges, or if one has not the length of its range.
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

    /// The footer, or what is missing for it: the end of the file, and once that is there, what the footer has before it. Of a
    /// file whose footer is damaged, its first bytes, too, which tell whether it was a Parquet file.
    ///
    /// Fails if the file is no Parquet file, or if its footer is damaged, encrypted or over the limits.
    pub fn try_decode(&self) -> Result<DecodeResult<ParquetMetaData>> {
        let first_read = self.first_read();
        let decryption = self.decryption.as_ref();
        self.step(|| {
            read_metadata_by(&self.bytes, &self.limits, decryption, first_read).map(|footer| footer.metadata)
        })
    }

    /// The page index of `columns`, which are numbers of leaves, in `row_groups`, or what is missing for it.
    ///
    /// Fails as [`PageIndex::read`] does.
    pub fn try_decode_page_index(
        &self,
        metadata: &ParquetMetaData,
        row_groups: Range<usize>,
        columns: &[usize],
    ) -> Result<DecodeResult<PageIndex>> {
        // All that is missing is found at once, not index by index.
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

    /// How many bytes of the file's end to read first: those that are there, so that no more of it is asked for than the
    /// footer has; if there are too few to say where that begins, as many as most footers are shorter than.
    fn first_read(&self) -> usize {
        let len = self.bytes.len();
        let missing = self.bytes.missing_of(std::iter::once(len.saturating_sub(TAIL_READ as u64)..len));
        let known = missing.last().map_or(TAIL_READ as u64, |last| len - last.end);
        if known < TAIL_LEN as u64 { TAIL_READ } else { known as usize }
    }

    /// Runs a step on what is there.
    fn step<T>(&self, step: impl FnOnce() -> Result<T>) -> Result<DecodeResult<T>> {
        let outcome = step();
        match sorted(self.bytes.take_misses()) {
            missing if missing.is_empty() => outcome.map(DecodeResult::Data),
            missing => Ok(DecodeResult::NeedsData(missing)),
        }
    }
}

/// Sorted, and without overlaps.
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
