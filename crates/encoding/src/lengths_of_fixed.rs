//! QUIRK: arrow-rs (parquet 55 to 59) stores dictionaries of FixedSizeBinary in columns of FIXED_LEN_BYTE_ARRAY as if
//! they were BYTE_ARRAY: with a length before each value, in PLAIN data pages and in dictionary pages. Readers that do
//! not know this take the lengths for parts of the values.
//!
//! ```text
//! FIXED_LEN_BYTE_ARRAY(3)   abcdef                              what PLAIN has
//!                           03 00 00 00 abc 03 00 00 00 def     what is there
//! ```

use crate::shape::PhysicalType;
use marquetry_base::PaddedBytes;

const LENGTH_BYTES: usize = 4;

/// Returns the values without their lengths; `None` unless `bytes` is exactly `n` values with lengths.
pub(crate) fn of_exactly(bytes: &PaddedBytes, physical: PhysicalType, n: usize) -> Option<PaddedBytes> {
    let width = width(physical)?;
    let is_as_long = n > 0 && n.checked_mul(width + LENGTH_BYTES) == Some(bytes.len());
    if is_as_long { without(bytes, width) } else { None }
}

/// Like [`of_exactly`], for at most `n` values. If the bytes may as well be values without lengths, the values must be
/// wide and several, because values may look like lengths by chance. Exactly `n` values without lengths are always
/// taken as such: a page of nulls and of values with lengths is hardly ever of this very size.
pub(crate) fn of_at_most(bytes: &PaddedBytes, physical: PhysicalType, n: usize) -> Option<PaddedBytes> {
    let (width, len) = (width(physical)?, bytes.len());
    let with_lengths = len / (width + LENGTH_BYTES);
    let may_be_plain = len.is_multiple_of(width) && len / width <= n;
    let is_likely = len.is_multiple_of(width + LENGTH_BYTES)
        && (1..=n).contains(&with_lengths)
        && (!may_be_plain || (len / width < n && width >= 8 && with_lengths >= 4));
    if is_likely { without(bytes, width) } else { None }
}

fn width(physical: PhysicalType) -> Option<usize> {
    match physical {
        PhysicalType::FixedLenByteArray(width) if width > 0 => Some(width),
        _ => None,
    }
}

fn without(bytes: &PaddedBytes, width: usize) -> Option<PaddedBytes> {
    let length = u32::try_from(width).ok()?.to_le_bytes();
    let values = || bytes.as_slice().chunks_exact(width + LENGTH_BYTES);
    let have_lengths = values().all(|value| value.starts_with(&length));
    have_lengths.then(|| {
        let plain: Vec<u8> = values().flat_map(|value| &value[LENGTH_BYTES..]).copied().collect();
        PaddedBytes::from(plain)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const FOUR: PhysicalType = PhysicalType::FixedLenByteArray(4);

    fn with_lengths(values: &[[u8; 4]]) -> PaddedBytes {
        let bytes: Vec<u8> = values.iter().flat_map(|value| [[4, 0, 0, 0], *value].concat()).collect();
        PaddedBytes::from(bytes)
    }

    #[test]
    fn lengths_are_left_out() {
        let stored = with_lengths(&[*b"abcd", *b"efgh"]);
        for plain in
            [of_exactly(&stored, FOUR, 2), of_at_most(&stored, FOUR, 2), of_at_most(&stored, FOUR, 3)]
        {
            assert_eq!(plain.unwrap().as_slice(), b"abcdefgh");
        }
        let text = PhysicalType::FixedLenByteArray(8);
        let long = [8, 0, 0, 0].iter().chain(b"12345678").copied().cycle().take(6 * 12).collect::<Vec<u8>>();
        let long = PaddedBytes::from(long);
        assert_eq!(of_at_most(&long, text, 100).unwrap().len(), 6 * 8);
    }

    #[test]
    fn what_may_be_values_stays() {
        // These may be four values, of which every other one looks like a length.
        let stored = with_lengths(&[*b"abcd", *b"efgh"]);
        assert!(of_exactly(&stored, FOUR, 4).is_none() && of_at_most(&stored, FOUR, 4).is_none());
        // Exactly six values, each of which looks like two lengths. If there may be nine values, they are taken for lengths.
        let twice = PaddedBytes::from([8, 0, 0, 0].repeat(2 * 6));
        let eight = PhysicalType::FixedLenByteArray(8);
        assert!(of_at_most(&twice, eight, 6).is_none() && of_at_most(&twice, eight, 9).is_some());
        let other = PaddedBytes::copy_of(b"\x04\0\0\0abcd\x05\0\0\0efgh");
        assert!(of_exactly(&other, FOUR, 2).is_none() && of_at_most(&other, FOUR, 2).is_none());
        assert!(of_exactly(&stored, PhysicalType::ByteArray, 2).is_none());
        assert!(of_at_most(&PaddedBytes::copy_of(b""), FOUR, 2).is_none());
    }
}
