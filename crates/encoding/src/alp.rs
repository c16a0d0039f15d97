//! ALP (10): floating-point values that were decimals once are stored as the integers they come from.
//!
//! Spec: AlpEncoding.md. Legal for FLOAT and DOUBLE. A value is `integer * 10^factor * 10^-exponent`, with one factor and
//! exponent for a vector of values. Integers are stored as what they are over the least of their vector, in as many bits
//! as that needs. Values that do not come back exactly are exceptions: their place holds any integer, and their bits
//! follow.
//!
//! ```text
//! page   := <mode: 1 byte, 0> <integer encoding: 1 byte, 0> <log2(vector size): 1 byte, 3 to 15> <values: 4 bytes>
//!           <offset of each vector from the first offset: 4 bytes each> <vectors>
//! vector := <exponent: 1 byte> <factor: 1 byte> <exceptions: 2 bytes>
//!           <least integer: as wide as a value> <bits of an integer: 1 byte>
//!           <integers, packed least significant bit first> <position of each exception: 2 bytes each>
//!           <exceptions: as wide as a value>
//! ```
//!
//! The specification's example. It chose exponent 4 and factor 3; any other two with this distance that give the values
//! back exactly are as good:
//!
//! ```
//! use marquetry_encoding::{alp, PhysicalType, Values};
//! let values = Values::W64([1500.0, f64::NAN, 2500.0, 333.5].map(f64::to_bits).to_vec());
//! let page = |exponent: u8, factor: u8| [
//!     0, 0,                         // mode, integer encoding
//!     10,                           // 2^10 values in a vector
//!     4, 0, 0, 0,                   // 4 values
//!     4, 0, 0, 0,                   // offset of vector 0
//!     exponent, factor,
//!     1, 0,                         // 1 exception
//!     0x07, 0x0d, 0, 0, 0, 0, 0, 0, // least integer: 3335
//!     15,                           // bits of an integer
//!     0x91, 0xad, 0xc8, 0x56, 0x28, 0x15, 0, 0, // 11665 11665 21665 0
//!     1, 0,                         // exception at position 1
//!     0, 0, 0, 0, 0, 0, 0xf8, 0x7f, // NaN
//! ];
//! assert_eq!(alp::decode(&page(4, 3), PhysicalType::Double, 4)?, values);
//! assert_eq!(alp::encode(&values)?, page(18, 17));
//! # Ok::<(), marquetry_base::Error>(())
//! ```

use crate::{Decode, Encode, EncodedPage, PhysicalType, Shape, Values, decode_all, encode_all};
use decimal::{Scale, Word};
use marquetry_base::{ByteCursor, Error, PaddedBytes, Result};
use std::ops::Range;

mod decimal;

/// Decodes a page of FLOAT or DOUBLE, and of it `n` values.
pub fn decode(bytes: &[u8], physical: PhysicalType, n: usize) -> Result<Values> {
    let page = EncodedPage::of(bytes, physical, usize::MAX);
    decode_all(Decoder::new(&page)?, physical.shape(), n)
}

/// Encodes all of `values`: the bits of FLOAT or DOUBLE values.
pub fn encode(values: &Values) -> Result<Vec<u8>> {
    encode_all(Encoder::of(values.shape())?, values)
}

/// Reads a vector at a time.
#[derive(Debug)]
pub struct Decoder {
    vectors: Vectors,
    /// The values of a vector that a read ended in.
    scratch: Values,
}

impl Decoder {
    /// Checks the header and the offsets.
    pub fn new(page: &EncodedPage) -> Result<Self> {
        Ok(Decoder { vectors: Vectors::new(page)?, scratch: legal(page.physical.shape())?.empty() })
    }
}

impl Decode for Decoder {
    fn decode(&mut self, n: usize, out: &mut Values) -> Result<()> {
        match &mut self.scratch {
            Values::W32(scratch) => self.vectors.decode(n, scratch, out.as_w32()?),
            Values::W64(scratch) => self.vectors.decode(n, scratch, out.as_w64()?),
            other => Err(not_legal(other.shape())),
        }
    }

    fn skip(&mut self, n: usize) -> Result<()> {
        self.vectors.skip(n)
    }

    fn is_exhausted(&self) -> bool {
        self.vectors.position == self.vectors.header.values
    }
}

/// The vectors of a page, whatever the type of their values.
#[derive(Debug)]
struct Vectors {
    page: PaddedBytes,
    header: Header,
    /// The next value.
    position: usize,
    /// The vector that is in the scratch.
    in_scratch: Option<usize>,
}

impl Vectors {
    fn new(page: &EncodedPage) -> Result<Self> {
        let header = if page.bytes.is_empty() {
            // A page of nulls only may have no bytes at all. No value can be asked for.
            Header::of(0)
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

    /// What the offsets count from: the first of them, and all that follows.
    fn body(&self) -> &[u8] {
        self.page.as_slice().get(Header::LEN..).unwrap_or_default()
    }

    fn check_offsets(&self) -> Result<()> {
        let (body, vectors) = (self.body(), self.header.vectors());
        let Some(offsets) = body.get(..vectors.saturating_mul(OFFSET_LEN)) else {
            let message = format!("{vectors} ALP vectors in {} bytes", body.len());
            return Err(Error::truncated(message));
        };
        // SPEC: the first vector begins right behind the offsets, each other one at the end of the one before.
        let mut least = offsets.len();
        for (i, offset) in offsets.as_chunks::<OFFSET_LEN>().0.iter().enumerate() {
            let offset = u32::from_le_bytes(*offset) as usize;
            if offset < least || offset > body.len() || i == 0 && offset != least {
                return Err(Error::corrupt(format!("ALP vector {i} at offset {offset}")));
            }
            least = offset;
        }
        Ok(())
    }

    /// How many values of `vector` there are.
    fn len_of(&self, vector: usize) -> usize {
        let size = self.header.vector_size();
        size.min(self.header.values - vector * size)
    }

    /// The bytes from the start of `vector` on, with what follows it, and how many are its own.
    fn bytes_of(&self, vector: usize) -> (&[u8], usize) {
        let offset = |i: usize| {
            let at = i * OFFSET_LEN;
            let bytes = self.body()[at..at + OFFSET_LEN].try_into();
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

        W::unpack(packed, header.width, n, header.scale, header.least, out);
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

/// Writes a vector as soon as it is full.
#[derive(Debug)]
pub struct Encoder(Pages);

#[derive(Debug)]
enum Pages {
    Float(PageEncoder<u32>),
    Double(PageEncoder<u64>),
}

impl Encoder {
    /// An empty page; fails unless `physical` is FLOAT or DOUBLE.
    pub fn new(physical: PhysicalType) -> Result<Self> {
        Encoder::of(physical.shape())
    }

    fn of(shape: Shape) -> Result<Self> {
        match shape {
            Shape::W32 => Ok(Encoder(Pages::Float(PageEncoder::new()))),
            Shape::W64 => Ok(Encoder(Pages::Double(PageEncoder::new()))),
            other => Err(not_legal(other)),
        }
    }
}

impl Encode for Encoder {
    fn encode(&mut self, values: &Values, range: Range<usize>) -> Result<()> {
        match (&mut self.0, values) {
            (Pages::Float(page), Values::W32(values)) => page.push(&values[range]),
            (Pages::Double(page), Values::W64(values)) => page.push(&values[range]),
            (Pages::Float(_), other) => return Err(crate::values::wrong_shape(Shape::W32, other)),
            (Pages::Double(_), other) => return Err(crate::values::wrong_shape(Shape::W64, other)),
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
    /// Scales that fit this page; empty as long as none was found.
    candidates: Vec<Scale>,
    vectors: Vec<u8>,
    /// Where in `vectors` each begins.
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
            // Up to a whole sample, so that a split of the values does not change the page.
            let take = values.len().min(SAMPLED_VECTORS * VECTOR - self.pending.len());
            self.pending.extend_from_slice(&values[..take]);
            values = &values[take..];
            if self.pending.len() == SAMPLED_VECTORS * VECTOR {
                self.flush();
            }
        }
    }

    /// Writes all pending values as vectors.
    fn flush(&mut self) {
        if self.candidates.is_empty() {
            self.candidates = candidates(&self.pending);
        }
        for values in self.pending.chunks(VECTOR) {
            self.starts.push(self.vectors.len());
            write_vector(values, &self.candidates, &mut self.vectors);
        }
        self.values += self.pending.len();
        self.pending.clear();
    }

    fn size(&self) -> usize {
        let vectors = self.starts.len() + self.pending.len().div_ceil(VECTOR);
        Header::LEN + vectors * OFFSET_LEN + self.vectors.len() + self.pending.len() * W::LEN
    }

    fn finish(&mut self, page: &mut Vec<u8>) -> Result<()> {
        self.flush();
        let header = Header::of(self.values);
        let offsets = self.starts.len() * OFFSET_LEN;
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

/// The scales that are best for some of the vectors in `values`, at most [`MAX_CANDIDATES`], the most frequent first.
fn candidates<W: Word>(values: &[W]) -> Vec<Scale> {
    let mut votes: Vec<(Scale, usize)> = Vec::new();
    for vector in values.chunks(VECTOR) {
        let Some(best) = best_of_all(&sample(vector, SAMPLE)) else {
            continue;
        };
        match votes.iter_mut().find(|(scale, _)| *scale == best) {
            Some((_, count)) => *count += 1,
            None => votes.push((best, 1)),
        }
    }
    votes.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
    votes.truncate(MAX_CANDIDATES);
    votes.into_iter().map(|(scale, _)| scale).collect()
}

/// At most `most` of the values, evenly spread.
fn sample<W: Word>(values: &[W], most: usize) -> Vec<W> {
    values.iter().copied().step_by(values.len().div_ceil(most).max(1)).collect()
}

/// The best of all scales; none if values take fewer bits as exceptions.
fn best_of_all<W: Word>(values: &[W]) -> Option<Scale> {
    let of = |exponent: u8| (0..=exponent).rev().map(move |factor| Scale { exponent, factor });
    // Most are told from the good ones by a few values.
    let few = sample(values, FEW);
    // PERF: the one exponent in which nearly all decimals come back. Larger differences of exponent and factor make larger
    // integers: once there are no exceptions, there is none better.
    let (mut best, mut least) = (None, few.len() * exception_bits::<W>());
    for scale in of(W::USUAL_EXPONENT) {
        let Some(Cost { bits, exceptions }) = cost(&few, scale, usize::MAX) else { continue };
        if bits < least {
            (best, least) = (Some(scale), bits);
        }
        if exceptions == 0 {
            return best;
        }
    }
    let mut found: Vec<(usize, Scale)> = Vec::new();
    for scale in (0..=W::MAX_EXPONENT).rev().flat_map(of) {
        let limit = found.get(BEST_OF_FEW - 1).map_or(few.len() * exception_bits::<W>(), |(bits, _)| *bits);
        if let Some(Cost { bits, .. }) = cost(&few, scale, limit) {
            let place = found.partition_point(|(before, _)| *before <= bits);
            found.insert(place, (bits, scale));
            found.truncate(BEST_OF_FEW);
        }
    }
    self::best(values, found.into_iter().map(|(_, scale)| scale))
}

/// The scale in which `values` take the fewest bits; of equal ones the first. None if they take fewer as exceptions.
fn best<W: Word>(values: &[W], scales: impl Iterator<Item = Scale>) -> Option<Scale> {
    let mut best = None;
    let mut least = values.len() * exception_bits::<W>();
    for scale in scales {
        if let Some(Cost { bits, .. }) = cost(values, scale, least) {
            (best, least) = (Some(scale), bits);
        }
    }
    best
}

/// What values take in a scale.
struct Cost {
    bits: usize,
    exceptions: usize,
}

/// What `values` take in `scale`, if that is less than `limit` bits. Integers that are not found at once count as exceptions.
fn cost<W: Word>(values: &[W], scale: Scale, limit: usize) -> Option<Cost> {
    let (mut count, mut least, mut largest) = (0, i64::MAX, i64::MIN);
    let (mut integers, mut exact) = ([W::ZERO; BLOCK], [W::ZERO; BLOCK]);
    for (block, values) in values.chunks(BLOCK).enumerate() {
        let n = values.len();
        let found = W::to_integers(values, scale, &mut integers[..n], &mut exact[..n]);
        count += found.count;
        (least, largest) = (least.min(found.range.0), largest.max(found.range.1));
        if (block * BLOCK + n - count) * exception_bits::<W>() >= limit {
            return None;
        }
    }
    let exceptions = values.len() - count;
    let width = if least <= largest { width_between((least, largest)) as usize } else { 0 };
    let bits = exceptions * exception_bits::<W>() + values.len() * width;
    (bits < limit).then_some(Cost { bits, exceptions })
}

/// What an exception costs: its position and itself.
fn exception_bits<W: Word>() -> usize {
    16 + W::LEN * 8
}

/// Appends one vector in the best of the scales.
fn write_vector<W: Word>(values: &[W], candidates: &[Scale], out: &mut Vec<u8>) {
    let looked_at = sample(values, if candidates.len() > 1 { SAMPLE / 2 } else { FEW });
    let (mut integers, mut exceptions) = ([W::ZERO; VECTOR], [0; VECTOR]);
    let integers = &mut integers[..values.len()];
    let mut scale = best(&looked_at, candidates.iter().copied());
    let (mut extent, mut exceptions) = match scale {
        Some(scale) => extent_of(values, scale, integers, &mut exceptions),
        None => ((0, 0), &exceptions[..0]),
    };
    let bits = exceptions.len() * exception_bits::<W>() + values.len() * width_between(extent) as usize;
    let every: [u16; VECTOR];
    if scale.is_none() || bits >= values.len() * exception_bits::<W>() {
        // Those that were looked at are not like the others.
        (scale, extent) = (None, (0, 0));
        integers.fill(W::ZERO);
        every = std::array::from_fn(|i| i as u16);
        exceptions = &every[..values.len()];
    }
    let least = extent.0;
    let header = VectorHeader {
        scale: scale.unwrap_or(Scale { exponent: 0, factor: 0 }),
        exceptions: exceptions.len(),
        least: least as u64,
        width: width_between(extent),
    };
    header.write::<W>(out);
    W::pack(integers, least, header.width, out);
    let mut positions = [[0; 2]; VECTOR];
    positions.iter_mut().zip(exceptions).for_each(|(position, i)| *position = i.to_le_bytes());
    out.extend_from_slice(positions[..exceptions.len()].as_flattened());
    W::write_at(values, exceptions, out);
}

/// The integers of the values, the least and the largest of them (0 and 0 if there are none), and where the values are
/// that have none.
fn extent_of<'a, W: Word>(
    values: &[W],
    scale: Scale,
    integers: &mut [W],
    exceptions: &'a mut [u16; VECTOR],
) -> ((i64, i64), &'a [u16]) {
    let mut exact = [W::ZERO; VECTOR];
    let exact = &mut exact[..values.len()];
    let found = W::to_integers(values, scale, integers, exact);
    if found.count == values.len() {
        return (found.range, &[]);
    }
    // PERF: each place is written, and the next one over it if it is none.
    let mut n = 0;
    for (i, exact) in exact.iter().enumerate() {
        exceptions[n] = i as u16;
        n += usize::from(*exact == W::ZERO);
    }
    if found.any_large {
        let mut kept = 0;
        for at in 0..n {
            let i = exceptions[at];
            match values[usize::from(i)].to_integer(scale) {
                Some(integer) => integers[usize::from(i)] = integer,
                None => (exceptions[kept], kept) = (i, kept + 1),
            }
        }
        n = kept;
    }
    let exceptions = &exceptions[..n];
    // SPEC: an exception's place holds the first integer that is none, which keeps the width small.
    let first = (0..values.len()).find(|i| exceptions.get(*i).is_none_or(|&at| usize::from(at) != *i));
    let placeholder = first.map_or(W::ZERO, |i| integers[i]);
    exceptions.iter().for_each(|&i| integers[usize::from(i)] = placeholder);
    (W::range(integers).unwrap_or_default(), exceptions)
}

/// Bitmap of the numbers from the least to the largest, over the least.
fn width_between((least, largest): (i64, i64)) -> u32 {
    width_of(largest.wrapping_sub(least) as u64)
}

/// Bitmap that `value` takes.
fn width_of(value: u64) -> u32 {
    u64::BITS - value.leading_zeros()
}

/// What is at the front of a page.
#[derive(Debug)]
struct Header {
    log_vector_size: u8,
    values: usize,
}

impl Header {
    const LEN: usize = 7;

    /// The header of a page that is written here.
    fn of(values: usize) -> Self {
        Header { log_vector_size: VECTOR.ilog2() as u8, values }
    }

    fn read(cursor: &mut ByteCursor<'_>) -> Result<Self> {
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

    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&[0, 0, self.log_vector_size]);
        out.extend_from_slice(&(self.values as u32).to_le_bytes());
    }

    fn vector_size(&self) -> usize {
        1 << self.log_vector_size
    }

    fn vectors(&self) -> usize {
        self.values.div_ceil(self.vector_size())
    }
}

/// What is at the front of a vector.
#[derive(Debug)]
struct VectorHeader {
    scale: Scale,
    exceptions: usize,
    /// The frame of reference: for FLOAT its lower 32 bits.
    least: u64,
    width: u32,
}

impl VectorHeader {
    fn read<W: Word>(cursor: &mut ByteCursor<'_>) -> Result<Self> {
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
            scale: Scale { exponent, factor },
            exceptions,
            least: u64::from_le_bytes(least),
            width,
        })
    }

    fn write<W: Word>(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&[self.scale.exponent, self.scale.factor]);
        out.extend_from_slice(&(self.exceptions as u16).to_le_bytes());
        out.extend_from_slice(&self.least.to_le_bytes()[..W::LEN]);
        out.push(self.width as u8);
    }
}

fn legal(shape: Shape) -> Result<Shape> {
    match shape {
        Shape::W32 | Shape::W64 => Ok(shape),
        other => Err(not_legal(other)),
    }
}

#[cold]
fn not_legal(shape: Shape) -> Error {
    Error::argument(format!("ALP of {shape:?} values"))
}

const OFFSET_LEN: usize = 4;
/// Values that are looked at together for exceptions.
const BLOCK: usize = 32;
/// Values in a vector that is written here. SPEC: the recommended size.
const VECTOR: usize = 1024;
/// Values of a vector that scales are tried on, vectors that are sampled, and scales kept for the page: the numbers
/// that the specification takes from the paper.
const SAMPLE: usize = 256;
const SAMPLED_VECTORS: usize = 8;
const MAX_CANDIDATES: usize = 5;
/// Values of a sample that tell most scales from the good ones, and how many of these are looked at again.
const FEW: usize = 32;
const BEST_OF_FEW: usize = 4;

#[cfg(test)]
mod tests;
