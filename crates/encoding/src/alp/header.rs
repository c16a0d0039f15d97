//! The headers of a page and of a vector, and the shapes that ALP encodes.

use super::exponents::{Exponents, Word};
use crate::shape::Shape;
use marquetry_base::{ByteCursor, Error, Result};

/// The header of a page.
#[derive(Debug)]
pub(super) struct Header {
    pub(super) log_vector_size: u8,
    pub(super) values: usize,
}

impl Header {
    pub(super) const LEN: usize = 7;

    /// Creates the header of a page that this encoder writes.
    pub(super) fn new(values: usize) -> Self {
        Header { log_vector_size: VALUES_PER_VECTOR.ilog2() as u8, values }
    }

    pub(super) fn read(cursor: &mut ByteCursor<'_>) -> Result<Self> {
        let (mode, integers, log_vector_size) = (cursor.u8()?, cursor.u8()?, cursor.u8()?);
        if mode != 0 || integers != 0 {
            // SPEC: other modes are reserved for later variants.
            let message = format!("ALP mode {mode} with integer encoding {integers}");
            return Err(Error::unsupported(message).at(0));
        }
        if !(3..=15).contains(&log_vector_size) {
            return Err(Error::corrupt(format!("ALP vectors of 2^{log_vector_size} values")).at(2));
        }
        let values = cursor.u32_le()? as i32;
        let values =
            usize::try_from(values).map_err(|_| Error::corrupt(format!("{values} ALP values")).at(3))?;
        Ok(Header { log_vector_size, values })
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&[0, 0, self.log_vector_size]);
        out.extend_from_slice(&(self.values as u32).to_le_bytes());
    }

    pub(super) fn vector_size(&self) -> usize {
        1 << self.log_vector_size
    }

    pub(super) fn vectors(&self) -> usize {
        self.values.div_ceil(self.vector_size())
    }
}

/// The header of a vector.
#[derive(Debug)]
pub(super) struct VectorHeader {
    pub(super) exponents: Exponents,
    pub(super) exceptions: usize,
    /// The frame of reference: the least integer. FLOAT uses only the lower 32 bits.
    pub(super) least: u64,
    pub(super) width: u32,
}

impl VectorHeader {
    pub(super) fn read<W: Word>(cursor: &mut ByteCursor<'_>) -> Result<Self> {
        let (exponent, factor) = (cursor.u8()?, cursor.u8()?);
        if exponent > W::MAX_EXPONENT || factor > exponent {
            let message = format!("ALP exponent {exponent} with factor {factor}");
            return Err(Error::corrupt(message).at(0));
        }
        let exceptions = usize::from(cursor.u16_le()?);
        let mut least = [0; 8];
        least[..W::LEN].copy_from_slice(cursor.take(W::LEN)?);
        let width = u32::from(cursor.u8()?);
        if width as usize > W::LEN * 8 {
            return Err(Error::corrupt(format!("ALP width {width} > {}", W::LEN * 8)).at(0));
        }
        Ok(VectorHeader {
            exponents: Exponents { exponent, factor },
            exceptions,
            least: u64::from_le_bytes(least),
            width,
        })
    }

    pub(super) fn write<W: Word>(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&[self.exponents.exponent, self.exponents.factor]);
        out.extend_from_slice(&(self.exceptions as u16).to_le_bytes());
        out.extend_from_slice(&self.least.to_le_bytes()[..W::LEN]);
        out.push(self.width as u8);
    }
}

pub(super) fn check_shape(shape: Shape) -> Result<Shape> {
    match shape {
        Shape::W32 | Shape::W64 => Ok(shape),
        other => Err(unsupported_shape(other)),
    }
}

#[cold]
pub(super) fn unsupported_shape(shape: Shape) -> Error {
    Error::argument(format!("ALP of {shape:?} values"))
}

/// Number of bytes of the offset of a vector.
pub(super) const OFFSET_BYTES: usize = 4;
/// Number of values in a vector that this encoder writes. SPEC: the recommended size.
pub(super) const VALUES_PER_VECTOR: usize = 1024;
