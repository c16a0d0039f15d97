//! RLE (3): the hybrid of run-length encoding and bit packing.
//!
//! Spec: Encodings.md, "Run Length Encoding / Bit-Packing Hybrid". Carries levels, dictionary indices and BOOLEAN
//! values. The width of a value, 0 to 32 bits, is known from outside.
//!
//! ```text
//! run     := <count << 1     : ULEB128> <value : ceil(width / 8) bytes, little-endian>
//! packed  := <groups << 1 | 1: ULEB128> <8 * groups values of width bits, least significant bit first>
//! ```
//!
//! Whether the byte length stands before it depends on what is encoded:
//!
//! | values | page | length before? |
//! |---|---|---|
//! | levels | V1 | yes, 4 bytes little-endian |
//! | levels | V2 | no, the page header has it |
//! | dictionary indices | both | no, but one byte with the width |
//! | BOOLEAN | both | yes, 4 bytes little-endian |
//!
//! The specification's example, the numbers 0 to 7 in three bits each:
//!
//! ```
//! use marquetry_encoding::rle;
//! let bytes = [
//!     0b0000_0011, // 1 group << 1 | packed
//!     0b1000_1000, // 0 1 and two bits of 2
//!     0b1100_0110, // the last bit of 2, 3 4 and one bit of 5
//!     0b1111_1010, // two bits of 5, 6 7
//! ];
//! assert_eq!(rle::decode(&bytes, 3, 8)?, [0, 1, 2, 3, 4, 5, 6, 7]);
//! assert_eq!(rle::encode(&[0, 1, 2, 3, 4, 5, 6, 7], 3), bytes);
//! # Ok::<(), marquetry_base::Error>(())
//! ```

mod boolean;
mod decoder;
mod encoder;

pub use boolean::{Decoder, Encoder};
pub use decoder::{RleBitPackedDecoder, RleRun};
pub(crate) use encoder::{write_bits, write_bytes, write_run, write_words};

use marquetry_base::{PaddedBytes, Result};

/// Decodes `n` values of `width` bits from hybrid bytes without a length prefix.
pub fn decode(bytes: &[u8], width: u32, n: usize) -> Result<Vec<u32>> {
    let mut out = Vec::new();
    RleBitPackedDecoder::new(PaddedBytes::copy_of(bytes), width)?.decode(n, &mut out)?;
    Ok(out)
}

/// Encodes values of `width` bits as hybrid bytes without a length prefix.
///
/// # Panics
/// If the width is over 32.
pub fn encode(values: &[u32], width: u32) -> Vec<u8> {
    let mut out = Vec::new();
    write_words(values, width, &mut out);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use marquetry_kernels::Bitmap;

    #[test]
    fn runs_and_groups_by_turns() {
        let bytes = [
            0x14, // 10 << 1: a run of ten
            0x05, // the value
            0x03, // 1 group << 1 | packed
            0x88, // 0 1 and two bits of 2
            0xc6, // the last bit of 2, 3 4 and one bit of 5
            0xfa, // two bits of 5, 6 7
        ];
        let values: Vec<u32> = std::iter::repeat_n(5, 10).chain(0..8).collect();
        assert_eq!(decode(&bytes, 3, 18).unwrap(), values);
        assert_eq!(encode(&values, 3), bytes);
    }

    #[test]
    fn a_last_group_may_be_cut_short() {
        let bytes = [
            0x03, // 1 group << 1 | packed
            0x88, // 0 1 and two bits of 2
            0xc6, // the last bit of 2, 3 4 and one bit of 5
        ];
        assert_eq!(decode(&bytes, 3, 5).unwrap(), [0, 1, 2, 3, 4]);
        assert!(decode(&bytes, 3, 6).is_err());
    }

    #[test]
    fn empty_runs_end() {
        assert_eq!(decode(&[0x00, 0x07, 0x01, 0x02, 0x03], 3, 1).unwrap(), [3]);
        assert!(decode(&[0x00, 0x00, 0x00, 0x00], 3, 1).is_err());
        for first in 0..70 {
            // Bits that end at any position of a word, then empty runs of both kinds.
            let mut bytes = Vec::new();
            write_run(1, first, 1, &mut bytes);
            write_run(1, 1, 1, &mut bytes);
            bytes.extend([[0x00, 0x01], [0x01, 0x01]].concat().repeat(8));
            let mut hybrid = RleBitPackedDecoder::new(PaddedBytes::from(bytes), 1).unwrap();
            let mut bits = Bitmap::new();
            hybrid.decode_bits(first + 1, &mut bits).unwrap();
            assert_eq!(bits.count_ones(0..bits.len()), first + 1);
            assert!(hybrid.decode_bits(1, &mut bits).is_err());
        }
    }

    #[test]
    fn width_zero_needs_no_bytes() {
        assert_eq!(decode(&[0x06], 0, 3).unwrap(), [0, 0, 0]);
        assert_eq!(decode(&[0x03], 0, 8).unwrap(), [0; 8]);
        assert_eq!(encode(&[0; 9], 0), [0x12]);
    }

    #[test]
    fn bytes_are_what_words_are() {
        for width in 0..=8 {
            let mask = (1u32 << width) - 1;
            // Runs of all lengths, and packed groups between them.
            let values: Vec<u32> =
                (0..9000u32).map(|i| if i / 97 % 3 == 0 { i * i } else { i / 100 } & mask).collect();
            let bytes = PaddedBytes::from(encode(&values, width));
            for step in [1, 7, 64, 2048, 9000] {
                let (mut hybrid, mut out) =
                    (RleBitPackedDecoder::new(bytes.clone(), width).unwrap(), Vec::new());
                while out.len() + step <= values.len() {
                    hybrid.decode_u8(step, &mut out).unwrap();
                }
                assert!(out.iter().map(|&byte| u32::from(byte)).eq(values[..out.len()].iter().copied()));
            }
        }
    }

    #[test]
    fn a_value_wider_than_its_width_is_refused() {
        assert!(decode(&[0x02, 0x08], 3, 1).is_err());
        assert!(RleBitPackedDecoder::new(PaddedBytes::copy_of(&[]), 33).is_err());
    }
}
