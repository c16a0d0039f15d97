//! Prunes by bloom filters: whether a chunk may contain a value.

use super::Run;
use super::plan::Verdict;
use crate::metadata::ColumnChunk;
use crate::page_index::read_bloom_filter;
use crate::predicate::{Condition, Edge, Test};
use crate::sort_order::SortOrder;
use crate::source::Source;
use crate::statistics::{BloomFilter, BloomFilterHead};
use marquetry_base::Result;
use marquetry_encoding::PhysicalType;
use std::borrow::Cow;

impl Run<'_> {
    /// Tests a condition by the bloom filter; `None` if that is not possible.
    pub(super) fn ask_bloom_filter(
        &self,
        condition: &Condition,
        chunk: ColumnChunk<'_>,
    ) -> Result<Option<Verdict>> {
        let Some(offset) = chunk.bloom_filter_offset().filter(|offset| *offset > 0) else { return Ok(None) };
        let Some(values) = sought(condition, chunk) else { return Ok(None) };
        // A filter has the stored values, which may differ from the values that they mean.
        if condition.narrow.is_some() && !self.bounds(condition.column, chunk).are_known() {
            return Ok(None);
        }
        if chunk.is_encrypted() {
            let filter = read_bloom_filter(&self.source, chunk, &self.options.limits)?;
            let may = filter.is_none_or(|filter| values.iter().any(|value| filter.might_contain(value)));
            return Ok(Some(if may { Verdict::OPEN } else { Verdict { may: false, all: false } }));
        }
        let end = match chunk.bloom_filter_length().and_then(|length| u64::try_from(length).ok()) {
            Some(length) if length > 0 => offset.saturating_add(length),
            _ => offset.saturating_add(FIRST_READ),
        };
        let end = end.min(offset.saturating_add(FIRST_READ)).min(self.source.len());
        if end <= offset {
            return Err(marquetry_base::Error::corrupt(format!("bloom filter at byte {offset}")));
        }
        let first = self.source.read_at(offset, (end - offset) as usize)?;
        let head = BloomFilterHead::read(&first)?;
        for value in &values {
            let block = head.block_of(BloomFilter::hash(value));
            let bytes = match first.get(block.clone()) {
                Some(_) => first.slice(block),
                None => self.source.read_at(offset.saturating_add(block.start as u64), block.len())?,
            };
            if BloomFilterHead::might_contain(&bytes, BloomFilter::hash(value)) {
                return Ok(Some(Verdict::OPEN));
            }
        }
        Ok(Some(Verdict { may: false, all: false }))
    }
}

/// Bytes for the first read: the header, and all of a small filter.
const FIRST_READ: u64 = 4 << 10;
/// Maximum width of a decimal in a filter: no decimal needs more, and a schema may claim gigabytes.
const MOST_DECIMAL_BYTES: usize = 256;
/// Maximum number of values to look up: of more values, one is almost certainly found, and each costs a read.
const MOST_VALUES: usize = 16;

/// Returns the values for which a condition is true, in the form in which filters hash them; `None` if there are too
/// many, or they have several forms.
fn sought<'a>(condition: &'a Condition, chunk: ColumnChunk<'_>) -> Option<Vec<Cow<'a, [u8]>>> {
    if condition.is_negated {
        return None;
    }
    let values: Vec<&[u8]> = match &condition.test {
        Test::In(list) => list.values().collect(),
        Test::Range(Edge::Included(first), Edge::Included(last)) => {
            let is_zero = condition.order.is_zero(first) && condition.order.is_zero(last);
            match first == last {
                true => vec![first],
                false if is_zero => vec![first, last],
                false => return None,
            }
        }
        _ => return None,
    };
    if values.len() > MOST_VALUES {
        return None;
    }
    match (condition.order, chunk.leaf().physical()) {
        (order, _) if hashes_differ(order) => None,
        (SortOrder::Decimal, PhysicalType::FixedLenByteArray(width)) if width <= MOST_DECIMAL_BYTES => {
            Some(values.into_iter().filter_map(|value| widened(value, width)).map(Cow::Owned).collect())
        }
        // The same number may be stored with different numbers of leading zeros.
        (SortOrder::Decimal, _) => None,
        _ => Some(values.into_iter().map(Cow::Borrowed).collect()),
    }
}

/// Whether hashes of one value may differ: writers do not agree on those of two bytes, booleans have only two values,
/// and the same time in INT96 may be stored as that of another day.
pub(super) fn hashes_differ(order: SortOrder) -> bool {
    matches!(order, SortOrder::TotalFloat16 | SortOrder::Bool | SortOrder::Int96)
}

/// Returns a decimal in `width` bytes; `None` if it has more, so that no value equals it.
fn widened(value: &[u8], width: usize) -> Option<Vec<u8>> {
    let sign = if value.first().is_some_and(|first| first & 0x80 != 0) { 0xff } else { 0 };
    let more = width.checked_sub(value.len())?;
    Some([vec![sign; more].as_slice(), value].concat())
}
