//! Checks bloom filters: that they can be read, and contain every value of their chunk.

use crate::context::VerifyContext;
use crate::findings::Findings;
use crate::rule::{Level, Rule, Severity, rule};
use marquetry_base::{Error, ErrorLocation, MemoryReservation, Result};
use marquetry_core::metadata::ColumnChunk;
use marquetry_core::page_index::{read_bloom_filter, read_bloom_filter_header};
use marquetry_core::schema::Leaf;
use marquetry_core::statistics::{BloomFilter, display_value};
use marquetry_format::{BloomFilterHeader, Reader};

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

pub(crate) const RULES: &[Rule] = &[UNREADABLE, MISSING];

/// The bloom filter of a chunk, for looking up its values.
pub(crate) struct Filter {
    filter: BloomFilter,
    /// The reservation of its memory from the budget.
    _held: MemoryReservation,
    /// Whether a missing value was reported. Only the first one is.
    is_reported: bool,
}

/// Checks the header. At level `Deep`, reads the filter too.
pub(crate) fn read(
    file: &VerifyContext,
    chunk: ColumnChunk<'_>,
    place: &ErrorLocation,
    findings: &mut Findings,
) -> Option<Filter> {
    // A place outside the file was reported with the footer.
    let offset = chunk.bloom_filter_offset().filter(|offset| (4..file.data_end).contains(offset))?;
    let place = place.clone().with_offset(offset);
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
    if chunk.is_encrypted() {
        // Its length is that of two modules, which their tags confirm.
        return read_encrypted(file, chunk, bits);
    }
    let room = file.data_end - offset;
    if bits == 0 || bits > room || !bits.is_multiple_of(32) {
        return Err(Error::corrupt(format!(
            "a filter of {} bytes, {room} before the footer",
            header.num_bytes
        )));
    }
    let len = chunk.bloom_filter_length().map(i64::from);
    // The header has some 15 bytes. If the filter is longer than the footer says, readers that believe the footer lack
    // its last bits.
    let head = file.source.read_at(offset, MAX_HEADER_BYTES.min(room) as usize)?;
    let mut reader = Reader::with_limits(&head, &file.limits);
    BloomFilterHeader::read(&mut reader)?;
    let least = bits + reader.position() as u64;
    let fits = |len: i64| u64::try_from(len).is_ok_and(|len| len >= least && len < bits + MAX_HEADER_BYTES);
    if let Some(len) = len.filter(|len| !fits(*len)) {
        return Err(Error::corrupt(format!(
            "the footer says {len} bytes, the filter has {bits} behind a header of {}",
            least - bits
        )));
    }
    if file.level < Level::Deep {
        return Ok(None);
    }
    let len = usize::try_from((bits + MAX_HEADER_BYTES).min(room)).unwrap_or(usize::MAX);
    if bits > MAX_FILTER_BYTES {
        return Err(Error::unsupported(format!("a bloom filter of {bits} bytes; 128 MiB are read at most")));
    }
    // Memory for the bytes of the filter, and for the filter made from them.
    let held = file.limits.memory.reserve(len.saturating_mul(2))?;
    Ok(Some((BloomFilter::read(&file.source.read_at(offset, len)?)?, held)))
}

fn read_encrypted(
    file: &VerifyContext,
    chunk: ColumnChunk<'_>,
    bits: u64,
) -> Result<Option<(BloomFilter, MemoryReservation)>> {
    if file.level < Level::Deep {
        return Ok(None);
    }
    let held = file.limits.memory.reserve(usize::try_from(bits).unwrap_or(usize::MAX).saturating_mul(3))?;
    Ok(read_bloom_filter(&*file.source, chunk, &file.limits)?.map(|filter| (filter, held)))
}

impl Filter {
    /// Reports a value of the chunk that is not in the filter.
    pub(crate) fn check(
        &mut self,
        leaf: &Leaf,
        value: &[u8],
        place: &ErrorLocation,
        findings: &mut Findings,
    ) {
        if !self.is_reported && !self.filter.might_contain(value) {
            self.is_reported = true;
            findings.add(&MISSING, place.clone(), || {
                format!("{} is not in the filter", display_value(leaf, value))
            });
        }
    }
}

const MAX_HEADER_BYTES: u64 = 256;
const MAX_FILTER_BYTES: u64 = 128 << 20;
