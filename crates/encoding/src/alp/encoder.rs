//! Encodes ALP: writes each vector with the best of a few exponents and factors.

use super::exponents::{Exponents, Word};
use super::header::{Header, OFFSET_BYTES, VALUES_PER_VECTOR, VectorHeader, unsupported_shape};
use super::search::{
    VALUES_PER_PROBE, VECTORS_PER_SAMPLE, best, candidates, exception_bits, sample, width_between,
};
use crate::shape::{PhysicalType, Shape};
use crate::traits::Encode;
use crate::values::{Values, wrong_shape};
use marquetry_base::{Error, Result};
use std::ops::Range;

/// Writes vectors as soon as a sample of values is full.
#[derive(Debug)]
pub struct Encoder(Pages);

#[derive(Debug)]
enum Pages {
    Float(PageEncoder<u32>),
    Double(PageEncoder<u64>),
}

impl Encoder {
    /// Creates an encoder with an empty page. Fails unless `physical` is 32-bit or 64-bit.
    pub fn new(physical: PhysicalType) -> Result<Self> {
        Encoder::from_shape(physical.shape())
    }

    pub(super) fn from_shape(shape: Shape) -> Result<Self> {
        match shape {
            Shape::W32 => Ok(Encoder(Pages::Float(PageEncoder::new()))),
            Shape::W64 => Ok(Encoder(Pages::Double(PageEncoder::new()))),
            other => Err(unsupported_shape(other)),
        }
    }
}

impl Encode for Encoder {
    fn encode(&mut self, values: &Values, range: Range<usize>) -> Result<()> {
        match (&mut self.0, values) {
            (Pages::Float(page), Values::W32(values)) => page.push(&values[range]),
            (Pages::Double(page), Values::W64(values)) => page.push(&values[range]),
            (Pages::Float(_), other) => return Err(wrong_shape(Shape::W32, other)),
            (Pages::Double(_), other) => return Err(wrong_shape(Shape::W64, other)),
        }
        Ok(())
    }

    fn size(&self) -> usize {
        match &self.0 {
            Pages::Float(page) => page.size(),
            Pages::Double(page) => page.size(),
        }
    }

    fn finish(&mut self, page: &mut Vec<u8>) -> Result<()> {
        match &mut self.0 {
            Pages::Float(encoder) => encoder.finish(page),
            Pages::Double(encoder) => encoder.finish(page),
        }
    }
}

/// The page that is being written.
#[derive(Debug)]
struct PageEncoder<W> {
    /// Values that are not in a vector yet.
    pending: Vec<W>,
    /// Exponents and factors that suit this page; empty until the first sample is full, and while none suits.
    candidates: Vec<Exponents>,
    vectors: Vec<u8>,
    /// Where each vector begins in `vectors`.
    starts: Vec<usize>,
    values: usize,
}

impl<W: Word> PageEncoder<W> {
    fn new() -> Self {
        PageEncoder {
            pending: Vec::new(),
            candidates: Vec::new(),
            vectors: Vec::new(),
            starts: Vec::new(),
            values: 0,
        }
    }

    fn push(&mut self, values: &[W]) {
        let mut values = values;
        while !values.is_empty() {
            // Flushes only whole samples, so that the page does not depend on how the values are split into calls.
            let take = values.len().min(VECTORS_PER_SAMPLE * VALUES_PER_VECTOR - self.pending.len());
            self.pending.extend_from_slice(&values[..take]);
            values = &values[take..];
            if self.pending.len() == VECTORS_PER_SAMPLE * VALUES_PER_VECTOR {
                self.flush();
            }
        }
    }

    /// Writes all pending values as vectors.
    fn flush(&mut self) {
        if self.candidates.is_empty() {
            self.candidates = candidates(&self.pending);
        }
        for values in self.pending.chunks(VALUES_PER_VECTOR) {
            self.starts.push(self.vectors.len());
            write_vector(values, &self.candidates, &mut self.vectors);
        }
        self.values += self.pending.len();
        self.pending.clear();
    }

    fn size(&self) -> usize {
        let vectors = self.starts.len() + self.pending.len().div_ceil(VALUES_PER_VECTOR);
        Header::LEN + vectors * OFFSET_BYTES + self.vectors.len() + self.pending.len() * W::LEN
    }

    fn finish(&mut self, page: &mut Vec<u8>) -> Result<()> {
        self.flush();
        let header = Header::new(self.values);
        let offsets = self.starts.len() * OFFSET_BYTES;
        if i32::try_from(self.values).is_err() || u32::try_from(offsets + self.vectors.len()).is_err() {
            return Err(Error::argument("a page of over 4 GiB of ALP"));
        }
        header.write(page);
        for start in self.starts.drain(..) {
            page.extend_from_slice(&((offsets + start) as u32).to_le_bytes());
        }
        page.append(&mut self.vectors);
        self.candidates.clear();
        self.values = 0;
        Ok(())
    }
}

/// Appends one vector, with the best of the candidate exponents.
fn write_vector<W: Word>(values: &[W], candidates: &[Exponents], out: &mut Vec<u8>) {
    let looked_at = sample(values, if candidates.len() > 1 { VALUES_PER_CHOICE } else { VALUES_PER_PROBE });
    let (mut integers, mut exceptions) = ([W::ZERO; VALUES_PER_VECTOR], [0; VALUES_PER_VECTOR]);
    let integers = &mut integers[..values.len()];
    let mut exponents = best(&looked_at, candidates.iter().copied());
    let (mut extent, mut exceptions) = match exponents {
        Some(exponents) => extent_of(values, exponents, integers, &mut exceptions),
        None => ((0, 0), &exceptions[..0]),
    };
    let bits = exceptions.len() * exception_bits::<W>() + values.len() * width_between(extent) as usize;
    let every: [u16; VALUES_PER_VECTOR];
    if exponents.is_none() || bits >= values.len() * exception_bits::<W>() {
        // The sample was not representative, or no candidate is worth it: all values become exceptions.
        (exponents, extent) = (None, (0, 0));
        integers.fill(W::ZERO);
        every = std::array::from_fn(|i| i as u16);
        exceptions = &every[..values.len()];
    }
    let least = extent.0;
    let header = VectorHeader {
        exponents: exponents.unwrap_or(Exponents { exponent: 0, factor: 0 }),
        exceptions: exceptions.len(),
        least: least as u64,
        width: width_between(extent),
    };
    header.write::<W>(out);
    W::pack(integers, least, header.width, out);
    let mut positions = [[0; 2]; VALUES_PER_VECTOR];
    positions.iter_mut().zip(exceptions).for_each(|(position, i)| *position = i.to_le_bytes());
    out.extend_from_slice(positions[..exceptions.len()].as_flattened());
    W::write_at(values, exceptions, out);
}

/// Converts the values to `integers`. Returns the least and the largest integer (0 and 0 if there are none), and the
/// positions of the values that have no integer.
fn extent_of<'a, W: Word>(
    values: &[W],
    exponents: Exponents,
    integers: &mut [W],
    exceptions: &'a mut [u16; VALUES_PER_VECTOR],
) -> ((i64, i64), &'a [u16]) {
    let mut exact = [W::ZERO; VALUES_PER_VECTOR];
    let exact = &mut exact[..values.len()];
    let found = W::to_integers(values, exponents, integers, exact);
    if found.count == values.len() {
        return (found.range, &[]);
    }
    // PERF: writes every position without a branch. The next position overwrites one that is not an exception.
    let mut n = 0;
    for (i, exact) in exact.iter().enumerate() {
        exceptions[n] = i as u16;
        n += usize::from(*exact == W::ZERO);
    }
    if found.any_large {
        let mut kept = 0;
        for at in 0..n {
            let i = exceptions[at];
            match values[usize::from(i)].to_integer(exponents) {
                Some(integer) => integers[usize::from(i)] = integer,
                None => (exceptions[kept], kept) = (i, kept + 1),
            }
        }
        n = kept;
    }
    let exceptions = &exceptions[..n];
    // SPEC: the place of an exception holds the first integer of the vector that is not an exception, which keeps the width small.
    let first = (0..values.len()).find(|i| exceptions.get(*i).is_none_or(|&at| usize::from(at) != *i));
    let placeholder = first.map_or(W::ZERO, |i| integers[i]);
    exceptions.iter().for_each(|&i| integers[usize::from(i)] = placeholder);
    (W::range(integers).unwrap_or_default(), exceptions)
}

/// Number of values of a vector on which the candidates of its page are tried: half of them. The exceptions of two
/// candidates often differ by only a few in a hundred, which a smaller sample does not show.
const VALUES_PER_CHOICE: usize = 512;
