//! Bounds as an Arrow array.

use crate::convert::{DictionaryCache, into_array};
use crate::evolution::cast_exact;
use crate::null_arrays::{check_nulls, null_array};
use crate::schema::default_types;
use arrow_array::ArrayRef;
use arrow_schema::DataType;
use marquetry_base::Result;
use marquetry_core::prune::TrustedStatistics;
use marquetry_core::read::ColumnBatch;
use marquetry_core::schema::Leaf;
use marquetry_core::sort_order::SortOrder;
use marquetry_encoding::{Bitmap, PhysicalType, Values};
use std::borrow::Cow;

/// Maximum size of an array of fixed-length bounds, in bytes.
const MOST_BYTES: usize = 64 << 20;

/// Which of the two bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bound {
    Lower,
    Upper,
}

impl Bound {
    fn of<'k>(self, known: &'k TrustedStatistics<'_>) -> Option<&'k [u8]> {
        match self {
            Bound::Lower => known.min.as_deref(),
            Bound::Upper => known.max.as_deref(),
        }
    }

    pub(super) fn exactness(self, known: &TrustedStatistics<'_>) -> Option<bool> {
        match self {
            Bound::Lower => known.is_min_exact,
            Bound::Upper => known.is_max_exact,
        }
    }
}

/// Returns the bounds of values of `leaf`, which is read as `read_as` and then promoted to `to`. A bound is null if it
/// is not a value of that type, or if it does not hold in that type's order.
pub(super) fn bounds_array(
    known: &[Option<TrustedStatistics<'_>>],
    side: Bound,
    leaf: &Leaf,
    read_as: &DataType,
    to: &DataType,
) -> Result<ArrayRef> {
    let bound = |known: &'_ Option<TrustedStatistics<'_>>| -> Option<Vec<u8>> {
        let known = known.as_ref()?;
        let stored = side.of(known).filter(|_| is_in_order(known, leaf, read_as))?;
        fitted(stored, side, read_as).map(Cow::into_owned)
    };
    // The width is only what the schema claims.
    if let PhysicalType::FixedLenByteArray(width) = leaf.physical() {
        check_nulls(&default_types::fixed(width), known.len(), MOST_BYTES)?;
    }
    let mut bounds: Vec<Option<Vec<u8>>> = known.iter().map(bound).collect();
    if bounds.iter().all(Option::is_none) {
        return null_array(to, bounds.len());
    }
    let convert = |bounds: &[Option<Vec<u8>>]| -> Result<ArrayRef> {
        let array =
            into_array(batch(bounds, leaf.physical()), leaf, read_as, &mut DictionaryCache::default())?;
        if read_as == to { Ok(array) } else { cast_exact(&array, to) }
    };
    if let Ok(array) = convert(&bounds) {
        return Ok(array);
    }
    // A value that its type cannot hold, of a finer unit for example, is an error when it is read. As a bound it is null.
    for bound in &mut bounds {
        if convert(std::slice::from_ref(bound)).is_err() {
            *bound = None;
        }
    }
    convert(&bounds)
}

/// Returns whether the order of the bounds is that of an array of `read_as`.
fn is_in_order(known: &TrustedStatistics<'_>, leaf: &Leaf, read_as: &DataType) -> bool {
    use DataType::*;
    let Some(order) = known.order else { return false };
    match (order, read_as) {
        (SortOrder::Bool, Boolean) => true,
        (
            SortOrder::Signed32 | SortOrder::Signed64,
            Int8 | Int16 | Int32 | Int64 | Date32 | Date64 | Time32(_) | Time64(_) | Timestamp(..)
            | Duration(_) | Decimal32(..) | Decimal64(..) | Decimal128(..) | Decimal256(..),
        ) => true,
        (SortOrder::Unsigned32 | SortOrder::Unsigned64, UInt8 | UInt16 | UInt32 | UInt64) => true,
        // The array takes the highest bit as a sign. As long as no value has it set, the order is the same.
        (SortOrder::Unsigned32 | SortOrder::Unsigned64, Int32 | Int64) => {
            known.max.as_deref().and_then(<[u8]>::last).is_some_and(|&high| high < 0x80)
        }
        (SortOrder::Float | SortOrder::TotalFloat, Float32) => true,
        (SortOrder::Double | SortOrder::TotalDouble, Float64) => true,
        (SortOrder::Float16 | SortOrder::TotalFloat16, Float16) => true,
        (SortOrder::Decimal, Decimal32(..) | Decimal64(..) | Decimal128(..) | Decimal256(..)) => true,
        (SortOrder::Bytes, Utf8 | LargeUtf8 | Utf8View | Binary | LargeBinary | BinaryView) => true,
        (SortOrder::FixedLenBytes, FixedSizeBinary(_)) => {
            matches!(leaf.physical(), PhysicalType::FixedLenByteArray(_))
        }
        _ => false,
    }
}

/// Returns a bound in a form that the array's type can hold.
fn fitted<'k>(stored: &'k [u8], side: Bound, read_as: &DataType) -> Option<Cow<'k, [u8]>> {
    match read_as {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => match std::str::from_utf8(stored) {
            Ok(_) => Some(Cow::Borrowed(stored)),
            // Its valid prefix is less than the bound.
            Err(error) if side == Bound::Lower => Some(Cow::Borrowed(&stored[..error.valid_up_to()])),
            Err(_) => None,
        },
        // Truncated bounds are filled up with zeros. A shorter string sorts before all strings that it begins, so
        // before the one that continues with zeros. No value of the full width lies between the two, so an upper bound
        // still holds.
        DataType::FixedSizeBinary(width) => {
            let mut bound = Cow::Borrowed(stored);
            let width = usize::try_from(*width).ok()?;
            if stored.len() < width {
                bound.to_mut().resize(width, 0);
            }
            Some(bound)
        }
        _ => Some(Cow::Borrowed(stored)),
    }
}

/// Returns the bounds as a batch of the column. Each has the length that the type requires, and text is UTF-8.
fn batch(bounds: &[Option<Vec<u8>>], physical: PhysicalType) -> ColumnBatch {
    let mut batch = ColumnBatch::new(physical.shape());
    for bound in bounds {
        let bound = bound.as_deref();
        match &mut batch.values {
            Values::Bit(bits) => bits.push(bound.is_some_and(|bound| bound != [0])),
            Values::W32(words) => words.push(bound.and_then(word).map_or(0, u32::from_le_bytes)),
            Values::W64(words) => words.push(bound.and_then(word).map_or(0, u64::from_le_bytes)),
            Values::Fixed(values) => match bound {
                Some(bound) => values.push(bound),
                None => values.push(&vec![0; values.width()]),
            },
            Values::Bytes(views) => views.push(bound.unwrap_or_default()),
            Values::Offsets(_) => {}
        }
    }
    batch.entries = bounds.len();
    batch.validity = Some(bounds.iter().map(Option::is_some).collect::<Bitmap>());
    batch
}

fn word<const N: usize>(bound: &[u8]) -> Option<[u8; N]> {
    bound.try_into().ok()
}
