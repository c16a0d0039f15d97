//! Bloom filters: whether they can be read, and have every value.

use super::context::VerifyContext;
use super::display::display_value;
use super::findings::Findings;
use super::rule::{Level, Rule, Severity, rule};
use crate::metadata::ColumnChunk;
use crate::page_index::read_bloom_filter_header;
use crate::schema::Leaf;
use crate::statistics::BloomFilter;
use marquetry_base::{Error, ErrorLocation, MemoryReservation, Result};

const UNREADABLE: Rule = rule(
    "bloom-unreadable",
    Severity::Corrupt,
    Level::Quick,
    "Bloom filters can be read, and have the length that the footer says",
    "BloomFilter.md, File Format",
);
const MISSING: Rule = rule(
    "bloom-missing-value",
    Severity::Invalid,
    Level::Deep,
    "A bloom filter has every value of its chunk",
    "BloomFilter.md",
);

pub(super) const RULES: &[Rule] = &[UNREADABLE, MISSING];

/// A bloom filter that the values of a chunk are looked up in.
pub(super) struct Filter {
    filter: BloomFilter,
    /// The memory that it takes of what may be taken.
    _held: MemoryReservation,
    /// One missing value is enough to make it useless, and to say so.
    is_reported: bool,
}

/// Checks the header; reads the filter too if its values are to be looked up.
pub(super) fn read(
    file: &VerifyContext,
    chunk: ColumnChunk<'_>,
    place: &ErrorLocation,
    findings: &mut Findings<'_>,
) -> Option<Filter> {
    // A place outside the file was reported with the footer.
    let offset = chunk.bloom_filter_offset().filter(|offset| (4..file.data_end).contains(offset))?;
    let place = ErrorLocation { offset: Some(offset), ..place.clone() };
    match read_filter(file, chunk, offset) {
        Ok(filter) => filter.map(|(filter, held)| Filter { filter, _held: held, is_reported: false }),
        Err(error) => {
            findings.add_error(&UNREADABLE, place, error);
            None
        }
    }
}

fn read_filter(
    file: &VerifyContext,
    chunk: ColumnChunk<'_>,
    offset: u64,
) -> Result<Option<(BloomFilter, MemoryReservation)>> {
    let Some(header) = read_bloom_filter_header(&*file.source, chunk, &file.limits)? else {
        return Ok(None);
    };
    let bits = u64::try_from(header.num_bytes).unwrap_or(0);
    let room = file.data_end - offset;
    if bits == 0 || bits > room || !bits.is_multiple_of(32) {
        return Err(Error::corrupt(format!(
            "a filter of {} bytes, {room} before the footer",
            header.num_bytes
        )));
    }
    let len = chunk.bloom_filter_length().map(i64::from);
    // The header has some 15 bytes.
    let fits = |len: i64| u64::try_from(len).is_ok_and(|len| len > bits && len < bits + LONGEST_HEADER);
    if let Some(len) = len.filter(|len| !fits(*len)) {
        return Err(Error::corrupt(format!(
            "the footer says {len} bytes, the filter's header {bits} without itself"
        )));
    }
    if file.level < Level::Deep {
        return Ok(None);
    }
    let len = usize::try_from((bits + LONGEST_HEADER).min(room)).unwrap_or(usize::MAX);
    if bits > MOST_BYTES {
        return Err(Error::unsupported(format!("a bloom filter of {bits} bytes; 128 MiB are read at most")));
    }
    // Its bytes, and the filter made of them.
    let held = file.limits.memory.reserve(len.saturating_mul(2))?;
    Ok(Some((BloomFilter::read(&file.source.read_at(offset, len)?)?, held)))
}

impl Filter {
    /// Looks a value of the chunk up.
    pub(super) fn check(
        &mut self,
        leaf: &Leaf,
        value: &[u8],
        place: &ErrorLocation,
        findings: &mut Findings<'_>,
    ) {
        if !self.is_reported && !self.filter.might_contain(value) {
            self.is_reported = true;
            findings.add(&MISSING, place.clone(), || {
                format!("{} is not in the filter", display_value(leaf, value))
            });
        }
    }
}

const LONGEST_HEADER: u64 = 256;
const MOST_BYTES: u64 = 128 << 20;
