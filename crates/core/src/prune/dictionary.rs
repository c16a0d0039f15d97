//! Prunes by dictionary pages, which have all values of a chunk whose pages are all dictionary-encoded.

use super::Run;
use super::extent::{Bounds, Outcomes};
use super::plan::Verdict;
use crate::metadata::{ColumnChunk, ParquetMetaData};
use crate::page::{ChecksumTrust, PageBuffers, PageOptions, PageReader};
use crate::predicate::{Condition, Edge, Test};
use crate::source::Source;
use bytes::Bytes;
use marquetry_base::{Error, Result};
use marquetry_format::{Encoding, PageType};
use std::ops::Range;
use std::sync::Arc;

impl Run<'_> {
    /// Tests a condition on rows by the dictionary. `None` if that does not have all values of the chunk, or is too
    /// large. It is also too large if most of the chunk is dictionary, because reading the column then costs little
    /// more.
    pub(super) fn ask_dictionary(
        &self,
        condition: &Condition,
        chunk: ColumnChunk<'_>,
    ) -> Result<Option<Verdict>> {
        let outcomes = self.dictionary_outcomes(condition, chunk)?;
        let extent = || self.extent(chunk, Bounds::default());
        Ok(outcomes.map(|outcomes| extent().verdict_of(condition, outcomes)))
    }

    /// Returns the outcomes of a condition for the values of a chunk; `None` as for
    /// [`ask_dictionary`](Self::ask_dictionary).
    pub(super) fn dictionary_outcomes(
        &self,
        condition: &Condition,
        chunk: ColumnChunk<'_>,
    ) -> Result<Option<Outcomes>> {
        let Some(place) = place(chunk).filter(|_| condition.test != Test::IsNull) else { return Ok(None) };
        let len = place.end - place.start;
        if len > FEW_VALUES_BYTES && excludes_few(condition) {
            return Ok(None);
        }
        let stored = u64::try_from(chunk.compressed_size()).unwrap_or(0);
        if len > self.options.dictionary_bytes || (len > CHEAP_BYTES && len > stored / 2) {
            return Ok(None);
        }
        let bytes = self.source.read_at(place.start, len as usize)?;
        let part = Part { start: place.start, bytes };
        let options = PageOptions {
            limits: self.options.limits.clone(),
            verify_checksums: true,
            trust: ChecksumTrust::of_writer(self.metadata.created_by()),
        };
        let mut pages = PageReader::new(Arc::new(part), chunk, options, PageBuffers::default())?;
        let start = pages.next_header()?.filter(|start| start.is_dictionary());
        let start = start.ok_or_else(|| Error::corrupt("no dictionary where the footer says"))?;
        let page = pages.dictionary_page(&start)?;
        let dictionary = pages.dictionary(&page, usize::MAX)?;
        let passing = condition.passes(dictionary.values())?;
        let ones = passing.count_ones(0..passing.len());
        Ok(Some(Outcomes { pass: ones > 0, fail: ones < passing.len() }))
    }
}

/// Bytes up to which a dictionary is read in any case, except for conditions that exclude few values.
const CHEAP_BYTES: u64 = 64 << 10;

/// Whether all but a few values pass: a dictionary with more than a few values has others as well, so that no rows are
/// ruled out.
fn excludes_few(condition: &Condition) -> bool {
    let is_few = match &condition.test {
        Test::In(_) => true,
        Test::Range(Edge::Included(first), Edge::Included(last)) => first == last,
        _ => false,
    };
    is_few && condition.is_negated
}

/// Maximum size of a dictionary with few short values, in bytes.
const FEW_VALUES_BYTES: u64 = 4 << 10;

/// Returns the byte ranges of the dictionary pages that pruning may read.
pub(crate) fn dictionary_ranges(
    metadata: &ParquetMetaData,
    row_group: usize,
    leaves: &[usize],
) -> Vec<Range<u64>> {
    let group = metadata.row_group(row_group);
    let in_chunk = |chunk: ColumnChunk<'_>| {
        let whole = chunk.byte_range().ok().filter(|_| chunk.elsewhere().is_none())?;
        place(chunk).filter(|place| whole.start <= place.start && place.end <= whole.end)
    };
    leaves.iter().filter_map(|&leaf| in_chunk(group.column(leaf).ok()?)).collect()
}

/// Returns the byte range of the dictionary page, if the footer states it, and states that all data pages are indices
/// into it.
fn place(chunk: ColumnChunk<'_>) -> Option<Range<u64>> {
    let stats = chunk.encoding_stats()?;
    let is_data = |page: PageType| matches!(page, PageType::DATA_PAGE | PageType::DATA_PAGE_V2);
    let mut data = stats.iter().filter(|stats| is_data(stats.page_type) && stats.count != 0).peekable();
    data.peek()?;
    let all =
        data.all(|stats| matches!(stats.encoding, Encoding::RLE_DICTIONARY | Encoding::PLAIN_DICTIONARY));
    let end = u64::try_from(chunk.data_page_offset()).ok()?;
    let start = u64::try_from(chunk.dictionary_page_offset()?).ok()?;
    (all && start > 0 && start < end && !chunk.lacks_key()).then_some(start..end)
}

/// A part of a file, at its offset.
struct Part {
    start: u64,
    bytes: Bytes,
}

impl Source for Part {
    fn len(&self) -> u64 {
        self.start.saturating_add(self.bytes.len() as u64)
    }

    fn read_at(&self, offset: u64, len: usize) -> Result<Bytes> {
        match offset.checked_sub(self.start) {
            Some(offset) => self.bytes.read_at(offset, len),
            None => Err(Error::corrupt(format!("byte {offset} is before the dictionary"))),
        }
    }
}
