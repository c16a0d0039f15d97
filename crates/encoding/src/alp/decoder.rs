//! Decodes ALP, one vector at a time.

use super::exponents::Word;
use super::header::{Header, OFFSET_BYTES, VectorHeader, check_shape, unsupported_shape};
use crate::traits::{Decode, EncodedPage};
use crate::values::Values;
use marquetry_base::{ByteCursor, Error, PaddedBytes, Result};

/// Decodes values, one vector at a time.
#[derive(Debug)]
pub struct Decoder {
    vectors: Vectors,
    /// The values of a vector that was read only in part.
    scratch: Values,
}

impl Decoder {
    /// Creates a decoder for a page. Checks the header and the offsets.
    pub fn new(page: &EncodedPage) -> Result<Self> {
        Ok(Decoder {
            vectors: Vectors::new(page)?,
            scratch: Values::empty(check_shape(page.physical.shape())?),
        })
    }
}

impl Decode for Decoder {
    fn decode(&mut self, n: usize, out: &mut Values) -> Result<()> {
        match &mut self.scratch {
            Values::W32(scratch) => self.vectors.decode(n, scratch, out.as_w32()?),
            Values::W64(scratch) => self.vectors.decode(n, scratch, out.as_w64()?),
            other => Err(unsupported_shape(other.shape())),
        }
    }

    fn skip(&mut self, n: usize) -> Result<()> {
        self.vectors.skip(n)
    }

    fn is_exhausted(&self) -> bool {
        self.vectors.position == self.vectors.header.values
    }
}

/// The vectors of a page, independent of the type of their values.
#[derive(Debug)]
struct Vectors {
    page: PaddedBytes,
    header: Header,
    /// Index of the next value.
    position: usize,
    /// The vector whose values are in the scratch.
    in_scratch: Option<usize>,
}

impl Vectors {
    fn new(page: &EncodedPage) -> Result<Self> {
        let header = if page.bytes.is_empty() {
            // A page of nulls only may have no bytes at all. It has no values.
            Header::new(0)
        } else {
            Header::read(&mut ByteCursor::new(page.bytes.as_slice()))?
        };
        if header.values > page.max_values {
            let message = format!("{} ALP values in a page of {}", header.values, page.max_values);
            return Err(Error::corrupt(message));
        }
        let vectors = Vectors { page: page.bytes.clone(), header, position: 0, in_scratch: None };
        vectors.check_offsets()?;
        Ok(vectors)
    }

    /// The bytes from which offsets are counted: the offsets themselves and all that follows.
    fn body(&self) -> &[u8] {
        self.page.as_slice().get(Header::LEN..).unwrap_or_default()
    }

    fn check_offsets(&self) -> Result<()> {
        let (body, vectors) = (self.body(), self.header.vectors());
        let Some(offsets) = body.get(..vectors.saturating_mul(OFFSET_BYTES)) else {
            let message = format!("{vectors} ALP vectors in {} bytes", body.len());
            return Err(Error::truncated(message));
        };
        // SPEC: the first vector begins right after the offsets, each other one at the end of the previous one.
        let mut least = offsets.len();
        for (i, offset) in offsets.as_chunks::<OFFSET_BYTES>().0.iter().enumerate() {
            let offset = u32::from_le_bytes(*offset) as usize;
            if offset < least || offset > body.len() || i == 0 && offset != least {
                return Err(Error::corrupt(format!("ALP vector {i} at offset {offset}")));
            }
            least = offset;
        }
        Ok(())
    }

    /// The number of values in `vector`.
    fn len_of(&self, vector: usize) -> usize {
        let size = self.header.vector_size();
        size.min(self.header.values - vector * size)
    }

    /// Returns the bytes from the start of `vector` on, including what follows it, and the number of bytes of the vector itself.
    fn bytes_of(&self, vector: usize) -> (&[u8], usize) {
        let offset = |i: usize| {
            let at = i * OFFSET_BYTES;
            let bytes = self.body()[at..at + OFFSET_BYTES].try_into();
            bytes.map_or(0, u32::from_le_bytes) as usize
        };
        let start = offset(vector);
        let end = match vector + 1 < self.header.vectors() {
            true => offset(vector + 1),
            false => self.body().len(),
        };
        (&self.page.padded()[Header::LEN + start..], end - start)
    }

    fn decode<W: Word>(&mut self, n: usize, scratch: &mut Vec<W>, out: &mut Vec<W>) -> Result<()> {
        self.check(n)?;
        let mut left = n;
        while left > 0 {
            let size = self.header.vector_size();
            let (vector, first) = (self.position / size, self.position % size);
            let len = self.len_of(vector);
            let take = left.min(len - first);
            if take == len {
                self.decode_vector(vector, out)?;
            } else {
                if self.in_scratch != Some(vector) {
                    self.in_scratch = None;
                    scratch.clear();
                    self.decode_vector(vector, scratch)?;
                    self.in_scratch = Some(vector);
                }
                out.extend_from_slice(&scratch[first..first + take]);
            }
            self.position += take;
            left -= take;
        }
        Ok(())
    }

    /// Appends all values of `vector`.
    fn decode_vector<W: Word>(&self, vector: usize, out: &mut Vec<W>) -> Result<()> {
        let (start, n) = (out.len(), self.len_of(vector));
        let (bytes, own) = self.bytes_of(vector);
        let mut cursor = ByteCursor::new(&bytes[..own]);
        let place = |error: Error| {
            let offset = self.page.padded().len() - bytes.len();
            error.offset_by(offset as u64)
        };
        let header = VectorHeader::read::<W>(&mut cursor).map_err(place)?;
        let packed = &bytes[cursor.position()..];
        cursor.skip((n * header.width as usize).div_ceil(8)).map_err(place)?;
        let positions = cursor.take(header.exceptions * 2).map_err(place)?;
        let exceptions = cursor.take(header.exceptions * W::LEN).map_err(place)?;

        W::unpack(packed, header.width, n, header.exponents, header.least, out);
        let values = &mut out[start..];
        let positions = positions.as_chunks().0.iter().copied().map(u16::from_le_bytes);
        for (position, exception) in positions.zip(exceptions.chunks_exact(W::LEN)) {
            match values.get_mut(usize::from(position)) {
                Some(value) => *value = W::from_le(exception),
                None => {
                    let message = format!("ALP exception at position {position} of {n}");
                    return Err(place(Error::corrupt(message).at(0)));
                }
            }
        }
        Ok(())
    }

    fn skip(&mut self, n: usize) -> Result<()> {
        self.check(n)?;
        self.position += n;
        Ok(())
    }

    fn check(&self, n: usize) -> Result<()> {
        let left = self.header.values - self.position;
        match n <= left {
            true => Ok(()),
            false => Err(Error::truncated(format!("{n} ALP values wanted, {left} left"))),
        }
    }
}
