//! RLE_DICTIONARY (8), in old files PLAIN_DICTIONARY (2): values are indices into a dictionary.
//!
//! Spec: Encodings.md, "Dictionary Encoding". Legal for all physical types but BOOLEAN. The dictionary is a page of its
//! own, PLAIN, before the data pages of the chunk. Old writers give both pages the code PLAIN_DICTIONARY; the bytes are
//! the same.
//!
//! ```text
//! data page := <width: 1 byte, 0 to 32> <indices: RLE hybrid of that width, no length>
//! ```
//!
//! ```
//! use marquetry_encoding::{dictionary, PhysicalType, Values, StringViews};
//! let colours = Values::Bytes(StringViews::from_iter(["red", "blue"]));
//! let bytes = [
//!     1,           // width
//!     0b0000_0011, // 1 group << 1 | packed
//!     0b0000_0010, // 0 1 0 0 0 0 0 0
//! ];
//! let values = Values::Bytes(StringViews::from_iter(["red", "blue", "red"]));
//! assert_eq!(dictionary::decode(&bytes, &colours, 3)?, values);
//! assert_eq!(dictionary::encode(&values)?, (bytes.to_vec(), colours));
//! # Ok::<(), marquetry_base::Error>(())
//! ```

mod builder;
mod bytes_table;
mod decoder;
mod encoder;
mod entries;
mod fixed_table;
mod index_decoder;
mod page;
mod words_table;

pub use builder::DictionaryBuilder;
pub use decoder::{Decoder, IndexLookup};
pub use encoder::{Encoder, encode_indices, index_width};
pub use entries::{Dictionary, check_indices, look_up};
pub use index_decoder::IndexDecoder;

use crate::traits::{Decode, Encode};
use crate::values::Values;
use marquetry_base::{PaddedBytes, Result};
use std::sync::Arc;

/// Decodes `n` values from a data page that refers to `dictionary`.
pub fn decode(bytes: &[u8], dictionary: &Values, n: usize) -> Result<Values> {
    let mut out = Values::empty(dictionary.shape());
    let dictionary = Arc::new(Dictionary::new(dictionary.clone()));
    Decoder::with_dictionary(&PaddedBytes::copy_of(bytes), dictionary)?.decode(n, &mut out)?;
    Ok(out)
}

/// Encodes all of `values`. Returns the data page, and the dictionary in order of first appearance.
pub fn encode(values: &Values) -> Result<(Vec<u8>, Values)> {
    let mut encoder = Encoder::new(values.shape());
    encoder.encode(values, 0..values.len())?;
    let mut out = Vec::new();
    encoder.finish(&mut out)?;
    Ok((out, encoder.builder.finish().into_values()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::Shape;
    use crate::string_views::StringViews;

    #[test]
    fn an_empty_dictionary_has_width_zero() {
        let (bytes, dictionary) = encode(&Values::W32(vec![])).unwrap();
        assert_eq!(bytes, [0]);
        assert_eq!(decode(&bytes, &dictionary, 0).unwrap().len(), 0);
        assert!(decode(&bytes, &dictionary, 1).is_err());
    }

    #[test]
    fn an_index_outside_the_dictionary_is_refused() {
        let dictionary = Values::W64(vec![7, 8, 9]);
        let run = [
            2,    // width
            0x04, // a run of 2
            0x03, // index 3
        ];
        assert!(decode(&run, &dictionary, 2).unwrap_err().to_string().contains("index 3"));
        let packed = [
            2,           // width
            0x03,        // 1 group << 1 | packed
            0b1110_0100, // 0 1 2 3
            0,           // 0 0 0 0
        ];
        assert_eq!(decode(&packed, &dictionary, 3).unwrap(), Values::W64(vec![7, 8, 9]));
        assert!(decode(&packed, &dictionary, 4).is_err());
        assert!(decode(&[33, 0x04, 0x03], &dictionary, 1).is_err());
    }

    #[test]
    fn the_largest_index_says_how_many_entries_are_needed() {
        let values: Vec<u32> = (0..3000).map(|i| if i < 1500 { i % 700 } else { 900 + i % 2 }).collect();
        let mut page = Vec::new();
        encode_indices(&values, 10, &mut page);
        let needed = |n| IndexDecoder::new(&PaddedBytes::copy_of(&page)).unwrap().entries_needed(n).unwrap();
        assert_eq!(needed(1), 1);
        assert_eq!(needed(1500), 700);
        assert_eq!(needed(3000), 902);
        // The header of a V1 page counts nulls, too, so more indices may be requested than there are.
        assert_eq!(needed(4000), 902);
        assert_eq!(IndexDecoder::new(&PaddedBytes::copy_of(&[])).unwrap().entries_needed(3).unwrap(), 0);
    }

    #[test]
    fn views_of_two_dictionaries_can_follow_each_other() {
        let long = |c: char| std::iter::repeat_n(c, 20).collect::<String>();
        let (a, b) =
            (StringViews::from_iter([long('a')]), StringViews::from_iter([long('b'), "short".into()]));
        let mut out = Shape::Bytes.empty();
        for dictionary in [a, b] {
            let n = dictionary.len();
            let (bytes, dictionary) = encode(&Values::Bytes(dictionary)).unwrap();
            let dictionary = Arc::new(Dictionary::new(dictionary));
            Decoder::with_dictionary(&PaddedBytes::copy_of(&bytes), dictionary)
                .unwrap()
                .decode(n, &mut out)
                .unwrap();
        }
        assert_eq!(out, Values::Bytes(StringViews::from_iter([long('a'), long('b'), "short".into()])));
    }
}
