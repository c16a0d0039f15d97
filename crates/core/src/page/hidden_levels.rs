//! Finds definition levels in front of a page's values, where the schema says that there are none.
//!
//! ```text
//! written as optional    [length of levels][levels][values]
//! read as required       [values                     ] rest      other values, and no error
//! ```
//!
//! A footer has no checksum, and one bit of it makes a column required. V2 headers tell how long levels are, and how many nulls: values
//! are where they should be, only too few if there are nulls. V1 pages have to be looked at. What a page has too much is no proof alone, but that it is used up to the last byte by so many levels and by a value for each
//! that says so, and not by so many values, is one. Where both use it up, which takes as many bytes of nulls as of levels,
//! it is believed.

use super::located_header::LocatedHeader;
use marquetry_base::{ByteCursor, Error, Result};
use marquetry_codec::Codec;
use marquetry_encoding::PhysicalType;
use marquetry_encoding::code::{PLAIN, PLAIN_DICTIONARY, RLE, RLE_DICTIONARY};
use marquetry_format::{DataPageHeader, Encoding, PageType};

/// Fails if `page`, a V1 page of `n` values that are in `encoding`, has levels in front of them.
///
/// PERF: looks at the length of a page of plain numbers, and at the first bytes of others.
pub(super) fn check_no_levels(page: &[u8], n: usize, encoding: i32, physical: PhysicalType) -> Result<()> {
    match n > 0 && has_levels(page, n, encoding, physical) {
        true => Err(has_hidden_levels()),
        false => Ok(()),
    }
}

/// The error of a page that has levels, of a column that has none by the schema.
#[cold]
pub(super) fn has_hidden_levels() -> Error {
    Error::corrupt(
        "the page has definition levels in front of its values, and by the schema the column has none",
    )
}

/// Whether a page may have levels, of a column that has none by the schema.
///
/// QUIRK: parquet-mr says BIT_PACKED of levels that a column does not have. As such, having no length, any values could be some.
pub(super) fn says_levels(header: &DataPageHeader) -> bool {
    header.definition_level_encoding == Encoding::RLE
}

/// Bytes of `n` plain values; `None` if each has a length of its own.
pub(super) fn plain_len(n: usize, physical: PhysicalType) -> Option<usize> {
    let width = match physical {
        PhysicalType::Boolean => return Some(n.div_ceil(8)),
        PhysicalType::Int32 | PhysicalType::Float => 4,
        PhysicalType::Int64 | PhysicalType::Double => 8,
        PhysicalType::Int96 => 12,
        PhysicalType::FixedLenByteArray(width) => width,
        PhysicalType::ByteArray => return None,
    };
    Some(n.saturating_mul(width))
}

/// Whether a page of a column that has no levels by the schema is worth to be read only to see whether it has some: plain numbers tell
/// by their length, and no other page is decompressed for it.
pub(super) fn is_worth_a_look(start: &LocatedHeader, codec: Codec, physical: PhysicalType) -> bool {
    let v1 = start.header.data_page_header.as_ref();
    let Some(v1) = v1.filter(|v1| start.header.type_ == PageType::DATA_PAGE && says_levels(v1)) else {
        return false;
    };
    let len = start.num_values().ok().and_then(|n| plain_len(n, physical));
    match len.filter(|_| v1.encoding == Encoding::PLAIN) {
        Some(len) => len != start.uncompressed_len(),
        None => codec == Codec::Uncompressed,
    }
}

fn has_levels(page: &[u8], n: usize, encoding: i32, physical: PhysicalType) -> bool {
    let are_numbers = |bytes: &[u8], n: usize| plain_len(n, physical) == Some(bytes.len());
    let is_used_up: &dyn Fn(&[u8], usize) -> bool = match encoding {
        PLAIN if are_numbers(page, n) => return false,
        PLAIN if physical == PhysicalType::ByteArray => &are_strings,
        PLAIN => &are_numbers,
        RLE => &are_booleans,
        PLAIN_DICTIONARY | RLE_DICTIONARY => &are_indices,
        // The others begin with a number that no length of levels can be, or know where they end.
        _ => return false,
    };
    let Some((values, rest)) = levels(page, n) else { return false };
    let is_found = is_used_up(rest, values)
        // A repeated field has repetition levels before.
        || levels(rest, n).is_some_and(|(values, rest)| is_used_up(rest, values));
    is_found && !is_used_up(page, n)
}

/// The number of values of which `n` levels at the front of `page` tell, and what follows; `None` if no such levels are there.
fn levels(page: &[u8], n: usize) -> Option<(usize, &[u8])> {
    let (levels, rest) = prefixed(page)?;
    let mut values = 0;
    let fit = |run: LevelRun<'_>| match run {
        LevelRun::Repeated { value, n } => values += if value == 1 { n } else { 0 },
        LevelRun::Packed { bytes, n } => {
            let ones = |bits: &u8| bits.count_ones() as usize;
            let (whole, last) = bytes.split_at(n / 8);
            let last = last.first().map_or(0, |bits| bits & ((1 << (n % 8)) - 1));
            values += whole.iter().map(ones).sum::<usize>() + ones(&last);
        }
    };
    runs(levels, 1, n, fit).then_some((values, rest))
}

/// Bytes behind their length, and what follows them.
fn prefixed(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (len, rest) = bytes.split_first_chunk()?;
    rest.split_at_checked(usize::try_from(u32::from_le_bytes(*len)).ok()?)
}

/// A run of values, all the same or each in its own bits.
enum LevelRun<'a> {
    Repeated { value: u64, n: usize },
    Packed { bytes: &'a [u8], n: usize },
}

/// Whether runs of exactly `n` values of `width` bits use up `bytes`. Calls `look` with each.
///
/// INVARIANT: stricter than a decoder, which takes runs of no values. No writer makes these, but zeros among other bytes look like
/// them: with them, small numbers in front of padding could be levels.
fn runs(bytes: &[u8], width: u32, n: usize, mut look: impl FnMut(LevelRun<'_>)) -> bool {
    let (mut cursor, mut left) = (ByteCursor::new(bytes), n);
    while left > 0 {
        let Ok(header) = cursor.uleb128() else { return false };
        let Ok(count) = usize::try_from(header >> 1) else { return false };
        let run = match header & 1 {
            0 if count <= left => {
                let Ok(value) = cursor.take(width.div_ceil(8) as usize) else { return false };
                let value = value.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte));
                if value >> width != 0 {
                    return false;
                }
                left -= count;
                LevelRun::Repeated { value, n: count }
            }
            // The last group is filled up. QUIRK: by DuckDB 32 groups, with whatever was in its buffer.
            1 if count <= left.div_ceil(8) || count == DUCKDB_GROUPS => {
                let Ok(bytes) = cursor.take(count * width as usize) else { return false };
                let n = left.min(count * 8);
                left -= n;
                LevelRun::Packed { bytes, n }
            }
            _ => return false,
        };
        if count == 0 {
            return false;
        }
        look(run);
    }
    cursor.is_empty()
}

fn are_strings(mut bytes: &[u8], n: usize) -> bool {
    for _ in 0..n {
        match prefixed(bytes) {
            Some((_, rest)) => bytes = rest,
            None => return false,
        }
    }
    bytes.is_empty()
}

/// Booleans look like levels. So only others behind them tell, not padding, which could be none at all.
fn are_booleans(bytes: &[u8], n: usize) -> bool {
    n > 0 && prefixed(bytes).is_some_and(|(values, rest)| rest.is_empty() && runs(values, 1, n, |_| ()))
}

fn are_indices(bytes: &[u8], n: usize) -> bool {
    match bytes.split_first() {
        Some((width, indices)) => *width <= 32 && runs(indices, u32::from(*width), n, |_| ()),
        // QUIRK: a page of only nulls may lack even the width.
        None => n == 0,
    }
}

/// Groups of eight that DuckDB packs at a time.
const DUCKDB_GROUPS: usize = 32;

#[cfg(test)]
mod tests;
