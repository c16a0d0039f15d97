//! The list of all encodings, found by their code in the file.

use crate::shape::PhysicalType;
use crate::traits::{Decode, Encode, EncodedPage};
use crate::{
    alp, byte_stream_split, code, delta_binary_packed, delta_byte_array, delta_length_byte_array, dictionary,
    plain, rle,
};
use marquetry_base::{Error, Result};

/// One encoding.
#[derive(Debug)]
pub struct EncodingEntry {
    /// The number in `parquet.thrift`.
    pub code: i32,
    /// The name in `parquet.thrift`.
    pub name: &'static str,
    /// Whether values of a physical type may have this encoding.
    pub supports: fn(PhysicalType) -> bool,
    /// Creates a decoder for one page.
    pub decoder: fn(&EncodedPage) -> Result<Box<dyn Decode>>,
    /// Creates an encoder for one column chunk.
    pub encoder: fn(PhysicalType) -> Result<Box<dyn Encode>>,
}

/// All encodings of values. BIT_PACKED (4) is missing because it encodes levels only, see `levels`.
pub static ENCODINGS: [EncodingEntry; 9] = [
    EncodingEntry {
        code: code::PLAIN,
        name: "PLAIN",
        supports: |_| true,
        decoder: |page| Ok(Box::new(plain::Decoder::new(page))),
        encoder: |physical| Ok(Box::new(plain::Encoder::new(physical.shape()))),
    },
    EncodingEntry {
        code: code::PLAIN_DICTIONARY,
        name: "PLAIN_DICTIONARY",
        supports: |physical| physical != PhysicalType::Boolean,
        decoder: |page| Ok(Box::new(dictionary::Decoder::new(page)?)),
        encoder: |physical| Ok(Box::new(dictionary::Encoder::new(physical.shape()))),
    },
    EncodingEntry {
        code: code::RLE,
        name: "RLE",
        supports: |physical| physical == PhysicalType::Boolean,
        decoder: |page| Ok(Box::new(rle::Decoder::new(page)?)),
        encoder: |_| Ok(Box::new(rle::Encoder::new())),
    },
    EncodingEntry {
        code: code::DELTA_BINARY_PACKED,
        name: "DELTA_BINARY_PACKED",
        supports: |physical| matches!(physical, PhysicalType::Int32 | PhysicalType::Int64),
        decoder: |page| Ok(Box::new(delta_binary_packed::Decoder::new(page)?)),
        encoder: |physical| Ok(Box::new(delta_binary_packed::Encoder::new(physical)?)),
    },
    EncodingEntry {
        code: code::DELTA_LENGTH_BYTE_ARRAY,
        name: "DELTA_LENGTH_BYTE_ARRAY",
        supports: |physical| physical == PhysicalType::ByteArray,
        decoder: |page| Ok(Box::new(delta_length_byte_array::Decoder::new(page)?)),
        encoder: |_| Ok(Box::new(delta_length_byte_array::Encoder::new())),
    },
    EncodingEntry {
        code: code::DELTA_BYTE_ARRAY,
        name: "DELTA_BYTE_ARRAY",
        supports: |physical| matches!(physical, PhysicalType::ByteArray | PhysicalType::FixedLenByteArray(_)),
        decoder: |page| Ok(Box::new(delta_byte_array::Decoder::new(page)?)),
        encoder: |physical| Ok(Box::new(delta_byte_array::Encoder::new(physical))),
    },
    EncodingEntry {
        code: code::RLE_DICTIONARY,
        name: "RLE_DICTIONARY",
        supports: |physical| physical != PhysicalType::Boolean,
        decoder: |page| Ok(Box::new(dictionary::Decoder::new(page)?)),
        encoder: |physical| Ok(Box::new(dictionary::Encoder::new(physical.shape()))),
    },
    EncodingEntry {
        code: code::BYTE_STREAM_SPLIT,
        name: "BYTE_STREAM_SPLIT",
        supports: |physical| {
            !matches!(physical, PhysicalType::Boolean | PhysicalType::Int96 | PhysicalType::ByteArray)
        },
        decoder: |page| Ok(Box::new(byte_stream_split::Decoder::new(page)?)),
        encoder: |physical| Ok(Box::new(byte_stream_split::Encoder::new(physical)?)),
    },
    EncodingEntry {
        code: code::ALP,
        name: "ALP",
        supports: |physical| matches!(physical, PhysicalType::Float | PhysicalType::Double),
        decoder: |page| Ok(Box::new(alp::Decoder::new(page)?)),
        encoder: |physical| Ok(Box::new(alp::Encoder::new(physical)?)),
    },
];

/// Returns the entry of an encoding; `None` if `code` is not an encoding of values that this build knows.
pub fn find(code: i32) -> Option<&'static EncodingEntry> {
    ENCODINGS.iter().find(|entry| entry.code == code)
}

/// Creates a decoder for a page whose header names the encoding `code`.
///
/// Fails with [`ErrorKind::Unsupported`](marquetry_base::ErrorKind::Unsupported) if the code is unknown, and with a
/// corruption error if the encoding is not legal for the physical type.
pub fn decoder(code: i32, page: &EncodedPage) -> Result<Box<dyn Decode>> {
    let entry = find(code).ok_or_else(|| Error::unsupported(format!("encoding {code} is not known")))?;
    if !(entry.supports)(page.physical) {
        return Err(Error::corrupt(format!("encoding {} is not legal for {}", entry.name, page.physical)));
    }
    (entry.decoder)(page)
}
