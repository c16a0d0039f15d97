//! DELTA_BYTE_ARRAY (7): the length of the prefix shared with the previous value, and the suffix after it.
//!
//! Spec: Encodings.md, "Delta Strings". Legal for BYTE_ARRAY and FIXED_LEN_BYTE_ARRAY. The latter stores the lengths
//! too, although they are known.
//!
//! ```text
//! page := <prefix lengths: DELTA_BINARY_PACKED of INT32> <suffixes: DELTA_LENGTH_BYTE_ARRAY>
//! ```
//!
//! ```
//! use marquetry_encoding::{delta_byte_array as delta, PhysicalType::ByteArray, Values, StringViews};
//! let mut bytes = vec![
//!     0x80, 0x01, // values in a block: 128
//!     4,          // miniblocks in a block
//!     4,          // values
//!     0,          // first prefix length
//!     3,          // least delta: -2, zigzag
//!     3, 0, 0, 0, // widths
//!     0b0100_0100, 0b0000_0001, // 2 - -2, -2 - -2 and two bits of 3 - -2, its last bit
//!     0, 0, 0, 0, 0, 0, 0, 0, 0, 0, // filling
//!     0x80, 0x01, // values in a block: 128
//!     4,          // miniblocks in a block
//!     4,          // values
//!     8,          // first suffix length: 4, zigzag
//!     3,          // least delta: -2, zigzag
//!     3, 0, 0, 0, // widths
//!     0b0111_0000, 0b0000_0000, // -2 - -2, 4 - -2 and two bits of -1 - -2, its last bit
//!     0, 0, 0, 0, 0, 0, 0, 0, 0, 0, // filling
//! ];
//! bytes.extend(b"axislebabbleyhood");
//! let strings = Values::Bytes(StringViews::from_iter(["axis", "axle", "babble", "babyhood"]));
//! assert_eq!(delta::decode(&bytes, ByteArray, 4)?, strings);
//! assert_eq!(delta::encode(&strings)?, bytes);
//! # Ok::<(), marquetry_base::Error>(())
//! ```

mod arena;
mod decoder;
mod encoder;

pub use decoder::Decoder;
pub use encoder::Encoder;

use crate::shape::PhysicalType;
use crate::traits::{EncodedPage, decode_all, encode_all};
use crate::values::Values;
use marquetry_base::Result;

/// Decodes `n` values of BYTE_ARRAY or FIXED_LEN_BYTE_ARRAY.
pub fn decode(bytes: &[u8], physical: PhysicalType, n: usize) -> Result<Values> {
    let page = EncodedPage::new(bytes, physical, n);
    decode_all(Decoder::new(&page)?, physical.shape(), n)
}

/// Encodes all of `values`, which must be byte strings or of a fixed width.
pub fn encode(values: &Values) -> Result<Vec<u8>> {
    encode_all(Encoder::from_shape(values.shape()), values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::delta_binary_packed::DeltaWriter;
    use crate::delta_length_byte_array as delta_length;
    use crate::fixed_len_bytes::FixedLenBytes;
    use crate::shape::Shape;
    use crate::string_views::StringViews;
    use crate::traits::{Decode, Encode};
    use marquetry_base::PaddedBytes;

    fn strings<T: AsRef<[u8]>>(strings: impl IntoIterator<Item = T>) -> Values {
        Values::Bytes(StringViews::from_iter(strings))
    }

    /// Encodes a page of these prefix lengths and suffixes, which need not fit each other.
    fn page(prefixes: &[u32], suffixes: &[&[u8]]) -> Vec<u8> {
        let mut out = Vec::new();
        let mut deltas = DeltaWriter::new();
        deltas.push(prefixes);
        deltas.finish(&mut out);
        let mut strings = delta_length::Encoder::new();
        let lengths: Vec<u32> = suffixes.iter().map(|suffix| suffix.len() as u32).collect();
        strings.push(&lengths, |bytes| bytes.extend(suffixes.concat())).unwrap();
        strings.finish(&mut out).unwrap();
        out
    }

    #[test]
    fn a_prefix_longer_than_the_value_before_is_refused() {
        let bytes = page(&[0, 2, 5], &[b"axis", b"le", b"s"]);
        assert_eq!(decode(&bytes, PhysicalType::ByteArray, 2).unwrap(), strings(["axis", "axle"]));
        assert!(decode(&bytes, PhysicalType::ByteArray, 3).is_err());
    }

    #[test]
    fn the_first_value_of_a_page_has_no_prefix() {
        let bytes = page(&[2, 2], &[b"is", b"le"]);
        let error = decode(&bytes, PhysicalType::ByteArray, 1).unwrap_err();
        assert!(error.to_string().contains("prefix of 2 bytes after a value of 0"), "{error}");
        let mut encoder = Encoder::from_shape(Shape::Bytes);
        for _ in 0..2 {
            let mut bytes = Vec::new();
            encoder.encode(&strings(["axis", "axle"]), 0..2).unwrap();
            assert_eq!(encoder.size(), page(&[0, 2], &[b"axis", b"le"]).len());
            encoder.finish(&mut bytes).unwrap();
            assert_eq!(bytes, page(&[0, 2], &[b"axis", b"le"]));
        }
    }

    #[test]
    fn there_are_as_many_prefixes_as_suffixes() {
        let error = decode(&page(&[0, 0], &[b"axis"]), PhysicalType::ByteArray, 1).unwrap_err();
        assert!(error.to_string().contains("2 prefixes and 1 suffixes"), "{error}");
        assert_eq!(decode(&[], PhysicalType::ByteArray, 0).unwrap(), strings([""; 0]));
    }

    #[test]
    fn a_fixed_width_is_kept() {
        let width = |n| PhysicalType::FixedLenByteArray(n);
        let values = Values::Fixed(FixedLenBytes::from_bytes(4, b"axisaxleaxle".to_vec()));
        let bytes = page(&[0, 2, 4], &[b"axis", b"le", b""]);
        assert_eq!(encode(&values).unwrap(), bytes);
        assert_eq!(decode(&bytes, width(4), 3).unwrap(), values);
        assert!(decode(&bytes, width(3), 3).is_err());
        assert!(decode(&page(&[0, 2], &[b"axis", b"l"]), width(4), 2).is_err());
        assert_eq!(decode(&page(&[0; 5], &[b"".as_slice(); 5]), width(0), 5).unwrap().len(), 5);
    }

    #[test]
    fn repeated_strings_share_their_bytes() {
        let long = "a string that is too long for a view";
        let values = strings([long, long, &long[..20], &long[..3], &long[..20], long]);
        let Values::Bytes(views) = decode(&encode(&values).unwrap(), PhysicalType::ByteArray, 6).unwrap()
        else {
            unreachable!()
        };
        assert_eq!(views.buffers().len(), 1);
        assert_eq!(views.buffers()[0].len(), long.len() + 20 + long.len());
        assert_eq!(Values::Bytes(views), values);
    }

    #[test]
    fn a_page_may_not_repeat_itself_without_bounds() {
        let long = "x".repeat(16 << 10);
        let page = |n: usize| {
            let all: Vec<String> = (0..n).map(|i| format!("{long}{}", i % 2)).collect();
            let bytes = PaddedBytes::copy_of(&encode(&strings(&all)).unwrap());
            EncodedPage {
                bytes,
                max_values: n,
                physical: PhysicalType::ByteArray,
                dictionary: None,
                memory: marquetry_base::MemoryBudget::default(),
            }
        };
        // Each value has 16 KiB, of which only one byte is new.
        Decoder::new(&page(1_000)).unwrap().skip(1_000).unwrap();
        let error = Decoder::new(&page(30_000)).unwrap().skip(30_000).unwrap_err();
        assert_eq!(error.kind(), marquetry_base::ErrorKind::Limit, "{error}");
    }

    #[test]
    fn any_split_of_reads_and_skips() {
        let all: Vec<String> =
            (0..5000u64).map(|i| format!("{:x}", i * i * i).repeat(1 + i as usize % 5)).collect();
        let bytes = PaddedBytes::copy_of(&encode(&strings(&all)).unwrap());
        let page = EncodedPage {
            bytes,
            max_values: all.len(),
            physical: PhysicalType::ByteArray,
            dictionary: None,
            memory: marquetry_base::MemoryBudget::default(),
        };
        let mut decoder = Decoder::new(&page).unwrap();
        let (mut out, mut expected, mut from) = (Shape::Bytes.empty(), Vec::new(), 0);
        for (i, n) in [1, 0, 100, 31, 1025, 1, 2000, 3, 1839].into_iter().enumerate() {
            if i % 3 == 2 {
                decoder.skip(n).unwrap();
            } else {
                decoder.decode(n, &mut out).unwrap();
                expected.extend(&all[from..from + n]);
            }
            from += n;
        }
        assert_eq!(from, all.len());
        assert_eq!(out, strings(expected));
        assert!(decoder.skip(1).is_err());
    }
}
