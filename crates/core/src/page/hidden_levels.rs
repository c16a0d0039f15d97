//! Finds definition levels in front of a page's values, where the schema states a column without levels.
//!
//! ```text
//! written as optional    [length of levels][levels][values]
//! read as required       [values                     ] rest      other values, and no error
//! ```
//!
//! A footer has no checksum, and a single wrong bit in it makes a column required. V2 headers state the length of the
//! levels and the number of nulls: values are where they should be, only too few if there are nulls. V1 pages have to
//! be inspected. Bytes left over prove nothing alone. A page is taken to have levels if `n` levels, and a value for
//! each level that is not null, use it up to the last byte, and `n` values alone do not. If both use it up, which takes
//! as many bytes of nulls as of levels, the schema is trusted.

use super::located_header::LocatedHeader;
use marquetry_base::{ByteCursor, Error, Result};
use marquetry_codec::Codec;
use marquetry_encoding::PhysicalType;
use marquetry_encoding::code::{PLAIN, PLAIN_DICTIONARY, RLE, RLE_DICTIONARY};
use marquetry_format::{DataPageHeader, Encoding, PageType};

/// Fails if `page`, a V1 page of `n` values in encoding `encoding`, has levels in front of them.
///
/// PERF: inspects only the length of a page of plain numbers, and the first bytes of other pages.
pub(super) fn check_no_levels(page: &[u8], n: usize, encoding: i32, physical: PhysicalType) -> Result<()> {
    match n > 0 && has_levels(page, n, encoding, physical) {
        true => Err(has_hidden_levels()),
        false => Ok(()),
    }
}

/// Creates the error for a page with definition levels whose column has none by the schema.
#[cold]
pub(super) fn has_hidden_levels() -> Error {
    Error::corrupt(
        "the page has definition levels in front of its values, and by the schema the column has none",
    )
}

/// Whether a page may have definition levels although its column has none by the schema.
///
/// QUIRK: parquet-mr states BIT_PACKED for levels that a column does not have. Those have no length, so any values
/// could be such levels.
pub(super) fn says_levels(header: &DataPageHeader) -> bool {
    header.definition_level_encoding == Encoding::RLE
}

/// Returns the bytes of `n` PLAIN values; `None` for byte arrays, which have a length each.
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

/// Whether a page of a column without levels should be read only to check that it has none. The length of plain numbers
/// is a hint; other pages are checked only if they need not be decompressed.
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
        // Other encodings begin with a number that cannot be the length of levels, or know where they end.
        _ => return false,
    };
    let Some((values, rest)) = levels(page, n) else { return false };
    let is_found = is_used_up(rest, values)
        // A repeated field has repetition levels before the definition levels.
        || levels(rest, n).is_some_and(|(values, rest)| is_used_up(rest, values));
    is_found && !is_used_up(page, n)
}

/// Returns the number of values that are not null by `n` levels at the front of `page`, and the bytes behind them;
/// `None` if there are no such levels.
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

/// Splits off bytes behind their length; returns these and the rest.
fn prefixed(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (len, rest) = bytes.split_first_chunk()?;
    rest.split_at_checked(usize::try_from(u32::from_le_bytes(*len)).ok()?)
}

/// A run of levels: one repeated value, or packed values.
enum LevelRun<'a> {
    Repeated { value: u64, n: usize },
    Packed { bytes: &'a [u8], n: usize },
}

/// Whether runs of exactly `n` values of `width` bits use up `bytes`. Calls `look` with each run.
///
/// INVARIANT: stricter than a decoder, which accepts empty runs. No writer makes these, but zeros among other bytes
/// look like them: if they counted, small numbers in front of padding could be levels.
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
            // The last group is padded. QUIRK: DuckDB pads to 32 groups, with whatever was in its buffer.
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

/// Booleans look like levels. So they need a length prefix, and padding, which could be no values at all, is not
/// enough.
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

/// Number of groups of eight values that DuckDB packs at a time.
const DUCKDB_GROUPS: usize = 32;

#[cfg(test)]
mod tests;
