//! The header of a bloom filter.
use crate::thrift::{Reader, Wire, Writer};
use marquetry_base::Result;

/// The header before the bitset of a bloom filter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BloomFilterHeader {
    /// Size of the bitset in bytes.
    pub num_bytes: i32,
    /// The algorithm that sets the bits.
    pub algorithm: BloomFilterAlgorithm,
    /// The hash function.
    pub hash: BloomFilterHash,
    /// The compression of the bitset.
    pub compression: BloomFilterCompression,
}

impl BloomFilterHeader {
    /// Reads the struct.
    pub fn read(r: &mut Reader<'_>) -> Result<Self> {
        let mut num_bytes = None;
        let mut algorithm = None;
        let mut hash = None;
        let mut compression = None;
        r.fields(|r, field| {
            match (field.id, field.wire) {
                (1, Wire::INT) => num_bytes = Some(r.i32()?),
                (2, Wire::Struct) => algorithm = Some(BloomFilterAlgorithm::read(r)?),
                (3, Wire::Struct) => hash = Some(BloomFilterHash::read(r)?),
                (4, Wire::Struct) => compression = Some(BloomFilterCompression::read(r)?),
                _ => r.skip(field.wire)?,
            }
            Ok(())
        })?;
        Ok(Self {
            num_bytes: num_bytes.ok_or_else(|| r.missing("BloomFilterHeader.numBytes"))?,
            algorithm: algorithm.ok_or_else(|| r.missing("BloomFilterHeader.algorithm"))?,
            hash: hash.ok_or_else(|| r.missing("BloomFilterHeader.hash"))?,
            compression: compression.ok_or_else(|| r.missing("BloomFilterHeader.compression"))?,
        })
    }

    /// Writes the struct.
    pub fn write(&self, w: &mut Writer) {
        w.fields(|w| {
            w.i32_field(1, self.num_bytes);
            w.nested_field(2, |w| self.algorithm.write(w));
            w.nested_field(3, |w| self.hash.write(w));
            w.nested_field(4, |w| self.compression.write(w));
        });
    }
}

/// The algorithm that sets the bits of a bloom filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BloomFilterAlgorithm {
    /// Split blocks of 256 bits.
    Block,
    /// A member with this unknown field id; 0 if the union is empty.
    Unknown(i16),
}

impl BloomFilterAlgorithm {
    /// Reads the union.
    pub fn read(r: &mut Reader<'_>) -> Result<Self> {
        let mut member = Self::Unknown(0);
        r.fields(|r, field| {
            member = match field.id {
                1 => Self::Block,
                other => Self::Unknown(other),
            };
            r.skip(field.wire)
        })?;
        Ok(member)
    }

    /// Writes the union.
    pub fn write(&self, w: &mut Writer) {
        w.fields(|w| match *self {
            Self::Block => w.empty_field(1),
            Self::Unknown(0) => {}
            Self::Unknown(id) => w.empty_field(id),
        });
    }
}

/// The hash function of a bloom filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BloomFilterHash {
    /// xxHash64 with seed 0.
    XxHash,
    /// A member with this unknown field id; 0 if the union is empty.
    Unknown(i16),
}

impl BloomFilterHash {
    /// Reads the union.
    pub fn read(r: &mut Reader<'_>) -> Result<Self> {
        let mut member = Self::Unknown(0);
        r.fields(|r, field| {
            member = match field.id {
                1 => Self::XxHash,
                other => Self::Unknown(other),
            };
            r.skip(field.wire)
        })?;
        Ok(member)
    }

    /// Writes the union.
    pub fn write(&self, w: &mut Writer) {
        w.fields(|w| match *self {
            Self::XxHash => w.empty_field(1),
            Self::Unknown(0) => {}
            Self::Unknown(id) => w.empty_field(id),
        });
    }
}

/// The compression of the bitset of a bloom filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BloomFilterCompression {
    /// No compression.
    Uncompressed,
    /// A member with this unknown field id; 0 if the union is empty.
    Unknown(i16),
}

impl BloomFilterCompression {
    /// Reads the union.
    pub fn read(r: &mut Reader<'_>) -> Result<Self> {
        let mut member = Self::Unknown(0);
        r.fields(|r, field| {
            member = match field.id {
                1 => Self::Uncompressed,
                other => Self::Unknown(other),
            };
            r.skip(field.wire)
        })?;
        Ok(member)
    }

    /// Writes the union.
    pub fn write(&self, w: &mut Writer) {
        w.fields(|w| match *self {
            Self::Uncompressed => w.empty_field(1),
            Self::Unknown(0) => {}
            Self::Unknown(id) => w.empty_field(id),
        });
    }
}
