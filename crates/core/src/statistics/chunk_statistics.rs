//! The `Statistics` of a page or a column chunk.

use crate::sort_order::SortOrder;
use crate::statistics::min_max::MinMaxStats;
use crate::statistics::truncate;
use marquetry_format::Statistics;

/// Returns the statistics to write for the values in `bounds` and `null_count` nulls. `distinct_count` is written if
/// known. Byte strings are truncated to `truncate` bytes, as UTF-8 if `is_text`.
///
/// The deprecated `min` and `max` are also written if values are booleans, signed integers or floats under TYPE_ORDER.
/// SPEC: they "may be set when the column order is signed"; parquet-mr, parquet-cpp and arrow-rs write them, and
/// readers older than 2017 know no others. They cost at most 20 bytes per column chunk. They are never written for byte
/// strings, which those readers compared wrongly, nor under IEEE_754_TOTAL_ORDER, which those readers cannot know.
pub fn statistics(
    bounds: &MinMaxStats,
    null_count: u64,
    distinct_count: Option<u64>,
    truncate: Option<usize>,
    is_text: bool,
) -> Statistics {
    let mut out = Statistics {
        null_count: Some(count(null_count)),
        distinct_count: distinct_count.map(count),
        nan_count: bounds.nan_count().map(count),
        ..Statistics::default()
    };
    if let Some(Cut { min, max, is_min_exact, is_max_exact }) = cut(bounds, truncate, is_text) {
        if bounds.order().is_deprecated_order() {
            out.min = Some(min.clone());
            out.max = Some(max.clone());
        }
        out.min_value = Some(min);
        out.max_value = Some(max);
        out.is_min_value_exact = Some(is_min_exact);
        out.is_max_value_exact = Some(is_max_exact);
    }
    out
}

/// Bounds as they are written, perhaps truncated.
pub(super) struct Cut {
    pub(super) min: Vec<u8>,
    pub(super) max: Vec<u8>,
    is_min_exact: bool,
    is_max_exact: bool,
}

/// Truncates the bounds; `None` if there are none. Only BYTE_ARRAY can be truncated: a value of fixed length is invalid
/// without it, and the bytes of a decimal are a number. If these exceed [`LONGEST_WHOLE`] bytes, there are no bounds.
pub(super) fn cut(bounds: &MinMaxStats, truncate: Option<usize>, is_text: bool) -> Option<Cut> {
    let (min, max) = (bounds.min()?, bounds.max()?);
    let n = match (bounds.order(), truncate) {
        (SortOrder::Bytes, Some(n)) => n,
        (SortOrder::Bytes, None) => usize::MAX,
        _ if min.len().max(max.len()) > LONGEST_WHOLE => return None,
        _ => usize::MAX,
    };
    let lower = truncate::lower(min, n, is_text);
    let upper = truncate::upper(max, n, is_text).unwrap_or_else(|| max.to_vec());
    Some(Cut {
        is_min_exact: bounds.is_min_exact() && lower.len() == min.len(),
        is_max_exact: bounds.is_max_exact() && upper == max,
        min: lower.to_vec(),
        max: upper,
    })
}

/// Maximum length in bytes of a bound that cannot be truncated. Each page has two bounds in the index, and readers load
/// them all into memory.
const LONGEST_WHOLE: usize = 4 << 10;

/// Converts a count, which the format stores as signed.
pub(super) fn count(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use marquetry_encoding::{FixedLenBytes, StringViews, Values};

    #[test]
    fn what_cannot_be_cut_has_bounds_if_it_is_short() {
        for (width, has_bounds) in [(LONGEST_WHOLE, true), (LONGEST_WHOLE + 1, false)] {
            let mut bounds = MinMaxStats::new(SortOrder::FixedLenBytes);
            let values = FixedLenBytes::from_bytes(width, vec![7; 2 * width]);
            bounds.update(&Values::Fixed(values), 0..2);
            let found = statistics(&bounds, 3, None, Some(64), false);
            assert_eq!(found.max_value.is_some(), has_bounds);
            assert_eq!(found.null_count, Some(3));
        }
        let mut bounds = MinMaxStats::new(SortOrder::Bytes);
        bounds.update(&Values::Bytes(StringViews::from_iter([&b"x".repeat(LONGEST_WHOLE + 1)])), 0..1);
        let whole = statistics(&bounds, 0, None, None, false);
        assert_eq!(whole.min_value.map(|min| min.len()), Some(LONGEST_WHOLE + 1));
        assert_eq!(statistics(&bounds, 0, None, Some(64), false).min_value.map(|min| min.len()), Some(64));
    }
}
