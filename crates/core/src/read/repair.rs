//! Repairs values of a batch that are invalid for the column's type: replaces text that is not UTF-8, and nulls
//! decimals that are too large.

use super::column_batch::ColumnBatch;
use super::target::ValueRepair;
use marquetry_base::Result;
use marquetry_encoding::{Bitmap, FixedLenBytes, StringViews, Values};

/// Repairs the slots of `out` from `first` on, which were appended last.
pub(super) fn repair(out: &mut ColumnBatch, first: usize, repair: ValueRepair) -> Result<()> {
    match repair {
        ValueRepair::None => Ok(()),
        ValueRepair::ReplaceInvalidUtf8 => replace_invalid_utf8(out, first),
        ValueRepair::NullDecimalsOver(bytes) => {
            null_decimals(out, first, bytes);
            Ok(())
        }
    }
}

/// Leaves indices alone: dictionary entries were repaired when they were decoded.
fn replace_invalid_utf8(out: &mut ColumnBatch, first: usize) -> Result<()> {
    let ColumnBatch { values: Values::Bytes(views), held, .. } = out else { return Ok(()) };
    let added = views.replace_invalid_utf8(first..views.len())?;
    held.grow(added)
}

fn null_decimals(out: &mut ColumnBatch, first: usize, bytes: usize) {
    let slots = out.values.len();
    let too_large: Vec<usize> = match &out.values {
        Values::Fixed(values) if values.width() > bytes => {
            (first..slots).filter(|&i| !fits(values.get(i), bytes)).collect()
        }
        Values::Bytes(views) => (first..slots).filter(|&i| !fits(views.get(i), bytes)).collect(),
        _ => Vec::new(),
    };
    if let Some(validity) = &mut out.validity {
        // In a required column, earlier values may have become NULL; these slots are not null.
        validity.push_run(true, slots - validity.len());
    }
    if too_large.is_empty() {
        return;
    }
    let before = out.validity.take();
    let mut is_large = too_large.iter().copied().peekable();
    let is_valid =
        |i: usize| is_large.next_if_eq(&i).is_none() && before.as_ref().is_none_or(|bits| bits.get(i));
    out.validity = Some((0..slots).map(is_valid).collect::<Bitmap>());
    zero(&mut out.values, &too_large);
}

/// Whether a big-endian integer has no more than `n` significant bytes.
fn fits(value: &[u8], n: usize) -> bool {
    let Some(cut) = value.len().checked_sub(n).filter(|cut| *cut > 0) else { return true };
    let is_negative = value[0] >= 0x80;
    let sign = if is_negative { 0xff } else { 0 };
    let (head, tail) = value.split_at(cut);
    head.iter().all(|&byte| byte == sign) && tail.first().is_none_or(|&byte| (byte >= 0x80) == is_negative)
}

/// Sets the values at these positions to zero.
fn zero(values: &mut Values, positions: &[usize]) {
    match values {
        Values::Fixed(values) => {
            let width = values.width();
            let mut bytes = std::mem::take(values).into_bytes();
            positions.iter().for_each(|&i| bytes[i * width..(i + 1) * width].fill(0));
            *values = FixedLenBytes::from_bytes(width, bytes);
        }
        Values::Bytes(strings) => {
            let (mut views, buffers) = std::mem::take(strings).into_parts();
            // An empty string is inline, and its view is 0.
            positions.iter().for_each(|&i| views[i] = 0);
            let mut out = StringViews::new();
            out.push_views(&buffers, |out, _| *out = views);
            *strings = out;
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use marquetry_encoding::Shape;

    #[test]
    fn significant_bytes_decide() {
        assert!(fits(&[0, 0, 0x7f], 1) && fits(&[0xff, 0xff, 0x80], 1) && fits(&[], 1) && fits(&[0x80], 1));
        assert!(
            !fits(&[0, 0x80], 1) && !fits(&[0xff, 0x7f], 1) && !fits(&[1, 0], 1) && !fits(&[0xfe, 0xff], 1)
        );
    }

    #[test]
    fn large_decimals_become_null_in_required_columns_too() {
        for is_fixed in [true, false] {
            let mut out = ColumnBatch::new(if is_fixed { Shape::Fixed(3) } else { Shape::Bytes });
            let push = |out: &mut ColumnBatch, value: &[u8]| match &mut out.values {
                Values::Fixed(values) => values.push(value),
                Values::Bytes(views) => views.push(value),
                _ => unreachable!(),
            };
            [[0, 0, 5], [0, 1, 0], [0xff, 0xff, 0x80]].iter().for_each(|value| push(&mut out, value));
            null_decimals(&mut out, 0, 1);
            push(&mut out, &[0, 0, 7]);
            null_decimals(&mut out, 3, 1);
            let expected = [true, false, true, true].into_iter().collect();
            assert_eq!(out.validity, Some(expected));
            let zero: &[u8] = if is_fixed { &[0, 0, 0] } else { &[] };
            match &out.values {
                Values::Fixed(values) => assert_eq!((values.get(1), values.get(3)), (zero, &[0, 0, 7][..])),
                Values::Bytes(views) => assert_eq!((views.get(1), views.get(3)), (zero, &[0, 0, 7][..])),
                _ => unreachable!(),
            }
        }
    }
}
