//! DELTA_BINARY_PACKED (5): differences between neighbours, less the smallest of their block, in as few bits as they need.
//!
//! Spec: Encodings.md, "Delta Encoding". Legal for INT32 and INT64. The two byte array encodings next to it store their
//! lengths in this way, as INT32, and go on where it ends.
//!
//! ```text
//! page   := <header> <block>*
//! header := <values in a block: ULEB128> <miniblocks in a block: ULEB128> <values: ULEB128> <first value: zigzag>
//! block  := <least delta: zigzag> <width: 1 byte for each miniblock> <miniblock>*
//! miniblock := <delta - least delta: so many times the width in bits, least significant bit first>
//! ```
//!
//! The last block has the widths of all its miniblocks, but the bodies of only those that are needed; the last of these
//! is filled up with anything. All sums wrap around in the width of the type.
//!
//! The specification's two examples have blocks of 8 values, to be short; in a file at least 128 are demanded, which
//! [`decode`] checks and [`decode_blocks`] does not:
//!
//! ```
//! use marquetry_encoding::{delta_binary_packed as delta, PhysicalType::Int32, Values};
//! let bytes = [
//!     8,           // values in a block
//!     1,           // miniblocks in a block
//!     8,           // values
//!     14,          // first value: 7, zigzag
//!     3,           // least delta: -2, zigzag
//!     2,           // width
//!     0b1100_0000, // 0 0 0 3
//!     0b0011_1111, // 3 3 3 and filling
//! ];
//! let values = Values::W32(vec![7, 5, 3, 1, 2, 3, 4, 5]);
//! assert_eq!(delta::decode_blocks(&bytes, Int32, 8)?, values);
//! assert_eq!(delta::encode_blocks(&values, 8, 1)?, bytes);
//! assert!(delta::decode(&bytes, Int32, 8).is_err());
//!
//! let bytes = [8, 1, 5, 2, 2, 0]; // the same fields: equal deltas take no bits at all
//! let values = Values::W32(vec![1, 2, 3, 4, 5]);
//! assert_eq!(delta::decode_blocks(&bytes, Int32, 5)?, values);
//! assert_eq!(delta::encode_blocks(&values, 8, 1)?, bytes);
//! # Ok::<(), marquetry_base::Error>(())
//! ```

mod lane;

use crate::rle::write_uleb128;
use crate::{Decode, Encode, EncodedPage, PhysicalType, Shape, Values};
use lane::Lane;
use marquetry_base::{ByteCursor, Error, PaddedBytes, Result};
use std::ops::Range;

/// Decodes `n` values of INT32 or INT64.
pub fn decode(bytes: &[u8], physical: PhysicalType, n: usize) -> Result<Values> {
    Header::read(&mut ByteCursor::new(bytes))?.check()?;
    decode_blocks(bytes, physical, n)
}

/// Decodes `n` values of INT32 or INT64, whatever the block size: it need not be legal in a file.
pub fn decode_blocks(bytes: &[u8], physical: PhysicalType, n: usize) -> Result<Values> {
    let mut out = physical.shape().empty();
    Decoder::open(&PaddedBytes::copy_of(bytes), physical)?.decode(n, &mut out)?;
    Ok(out)
}

/// Encodes all of `values`, which must be 32-bit or 64-bit.
pub fn encode(values: &Values) -> Result<Vec<u8>> {
    encode_blocks(values, BLOCK, MINIBLOCKS)
}

/// Encodes all of `values` in blocks of `block` values. Only sizes that the specification allows may go into a file.
///
/// # Panics
/// If a block is not made of `miniblocks` miniblocks of a multiple of 8 values.
pub fn encode_blocks(values: &Values, block: usize, miniblocks: usize) -> Result<Vec<u8>> {
    let mut encoder = Encoder::with_blocks(values.shape(), block, miniblocks)?;
    encoder.encode(values, 0..values.len())?;
    let mut out = Vec::new();
    encoder.finish(&mut out)?;
    Ok(out)
}

/// Decodes INT32 and INT64.
#[derive(Debug)]
pub struct Decoder(DecoderOf);

#[derive(Debug)]
enum DecoderOf {
    W32(Deltas<u32>),
    W64(Deltas<u64>),
}

impl Decoder {
    /// Reads the header.
    pub fn new(page: &EncodedPage) -> Result<Self> {
        let decoder = Decoder::open(&page.bytes, page.physical)?;
        let (DecoderOf::W32(Deltas { header, .. }) | DecoderOf::W64(Deltas { header, .. })) = &decoder.0;
        header.check()?;
        Ok(decoder)
    }

    fn open(page: &PaddedBytes, physical: PhysicalType) -> Result<Self> {
        Ok(Decoder(match physical {
            PhysicalType::Int32 => DecoderOf::W32(Deltas::open(page, 0)?),
            PhysicalType::Int64 => DecoderOf::W64(Deltas::open(page, 0)?),
            other => return Err(Error::argument(format!("DELTA_BINARY_PACKED of {other}"))),
        }))
    }
}

impl Decode for Decoder {
    fn decode(&mut self, n: usize, out: &mut Values) -> Result<()> {
        match &mut self.0 {
            DecoderOf::W32(deltas) => deltas.decode(n, out.as_w32()?),
            DecoderOf::W64(deltas) => deltas.decode(n, out.as_w64()?),
        }
    }

    fn skip(&mut self, n: usize) -> Result<()> {
        match &mut self.0 {
            DecoderOf::W32(deltas) => deltas.skip(n),
            DecoderOf::W64(deltas) => deltas.skip(n),
        }
    }

    fn is_exhausted(&self) -> bool {
        match &self.0 {
            DecoderOf::W32(deltas) => deltas.left == 0 && deltas.position == deltas.page.len(),
            DecoderOf::W64(deltas) => deltas.left == 0 && deltas.position == deltas.page.len(),
        }
    }
}

/// Reads a stream of deltas somewhere in a page: the values themselves, or the lengths of byte arrays.
#[derive(Debug, Clone)]
pub(crate) struct Deltas<T> {
    page: PaddedBytes,
    header: Header,
    /// Where the next run, or after the last of a block the next block, begins.
    position: usize,
    /// Where the widths of the block's miniblocks that are still to come are.
    widths: Range<usize>,
    /// The least delta of the block.
    least: T,
    /// The value before the next; before the first the first itself.
    last: T,
    /// Values that are still to come.
    left: usize,
    run: Run,
    scratch: Vec<T>,
}

/// Neighbouring miniblocks of one block that have the same width: packed values without a gap.
#[derive(Debug, Clone, Default)]
struct Run {
    /// Where in the page.
    start: usize,
    width: u32,
    /// The next value.
    first: usize,
    left: usize,
}

impl<T: Lane> Deltas<T> {
    /// Reads the header at `start`, which must be inside `page` or at its end, and checks its sizes.
    pub(crate) fn new(page: &PaddedBytes, start: usize) -> Result<Self> {
        let deltas = Self::open(page, start)?;
        deltas.header.check()?;
        Ok(deltas)
    }

    fn open(page: &PaddedBytes, start: usize) -> Result<Self> {
        let mut cursor = ByteCursor::new(&page.as_slice()[start..]);
        // QUIRK: a page of nulls only may have no bytes at all.
        let header = match cursor.is_empty() {
            true => EMPTY,
            false => Header::read(&mut cursor).map_err(|error| error.offset_by(start as u64))?,
        };
        Ok(Deltas {
            page: page.clone(),
            header,
            position: start + cursor.position(),
            widths: 0..0,
            least: T::from_i64(0),
            last: T::from_i64(header.first),
            left: header.count,
            run: Run::default(),
            scratch: Vec::new(),
        })
    }

    /// How many values are still to come; what the header says, so it may be more than there are.
    pub(crate) fn left(&self) -> usize {
        self.left
    }

    /// Where in the page the stream ends. Reads the heads of all blocks that are still to come, but no deltas.
    pub(crate) fn end(&self) -> Result<usize> {
        let mut walk = self.clone();
        walk.take_first();
        walk.left -= walk.run.left;
        while walk.left > 0 {
            walk.next_run()?;
            walk.left -= walk.run.left;
        }
        Ok(walk.position)
    }

    /// Appends the next `n` values.
    pub(crate) fn decode(&mut self, n: usize, out: &mut Vec<T>) -> Result<()> {
        self.check(n)?;
        let mut n = n;
        if n > 0 && self.take_first() {
            out.push(self.last);
            n -= 1;
        }
        while n > 0 {
            let (from, take) = self.take(n)?;
            n -= take;
            let packed = &self.page.padded()[self.run.start..];
            let range = from..from + take;
            self.last = T::unpack_deltas(packed, self.run.width, range, self.last, self.least, out);
        }
        Ok(())
    }

    /// Passes over the next `n` values; their deltas are needed for those behind.
    pub(crate) fn skip(&mut self, n: usize) -> Result<()> {
        self.check(n)?;
        let mut n = n;
        if n > 0 && self.take_first() {
            n -= 1;
        }
        while n > 0 {
            let (from, take) = self.take(n.min(SKIPPED))?;
            n -= take;
            self.scratch.clear();
            if self.run.width > 0 {
                let packed = &self.page.padded()[self.run.start..];
                T::unpack(packed, self.run.width, from, take, &mut self.scratch);
            }
            let sum = self.scratch.iter().fold(self.last, |sum, &delta| sum.plus(delta));
            let ramp = self.least.to_i64().wrapping_mul(take as i64);
            self.last = sum.plus(T::from_i64(ramp));
        }
        Ok(())
    }

    fn check(&self, n: usize) -> Result<()> {
        if n > self.left {
            return Err(Error::truncated(format!(
                "{n} values wanted, {} of {} left",
                self.left, self.header.count
            )));
        }
        Ok(())
    }

    /// Whether the next value was the first, the only one that is not a delta; then it was taken.
    fn take_first(&mut self) -> bool {
        let is_first = self.left == self.header.count && self.left > 0;
        self.left -= usize::from(is_first);
        is_first
    }

    /// Takes at most `max > 0` deltas of one run, at least one: the first of them and how many.
    fn take(&mut self, max: usize) -> Result<(usize, usize)> {
        if self.run.left == 0 {
            self.next_run()?;
        }
        let (from, n) = (self.run.first, max.min(self.run.left));
        self.run.first += n;
        self.run.left -= n;
        self.left -= n;
        Ok((from, n))
    }

    /// Goes to the next run; `left` must count what the runs to come hold, and not be 0.
    fn next_run(&mut self) -> Result<()> {
        if self.widths.is_empty() {
            self.next_block()?;
        }
        let bytes = self.page.as_slice();
        let size = self.header.block / self.header.miniblocks;
        let width = bytes[self.widths.start];
        // SPEC: the widths of miniblocks that are not needed may be anything, so `left` bounds what is looked at.
        let (mut n, mut miniblocks) = (0, 0usize);
        while n < self.left && !self.widths.is_empty() && bytes[self.widths.start] == width {
            n += size.min(self.left - n);
            miniblocks += 1;
            self.widths.start += 1;
        }
        // QUIRK: arrow-go until 2026 and cuDF until 2023 took the deltas of INT32 in 64 bits, and wrote up to 34 of them.
        // Modulo 2^32 they are right, so the limit is the same for both types.
        if width > 64 {
            return Err(Error::corrupt(format!("miniblock width {width} > 64")).at(self.position as u64));
        }
        let width = u32::from(width);
        let there = bytes.len() - self.position;
        if n.saturating_mul(width as usize).div_ceil(8) > there {
            return Err(Error::truncated(format!("{n} deltas of {width} bits in {there} bytes"))
                .at(self.position as u64));
        }
        self.run = Run { start: self.position, width, first: 0, left: n };
        // QUIRK: some writers (parquet-dotnet until 2023) do not fill up the last miniblock.
        let whole = miniblocks.saturating_mul(size / 8).saturating_mul(width as usize);
        self.position += whole.min(there);
        Ok(())
    }

    fn next_block(&mut self) -> Result<()> {
        let mut cursor = ByteCursor::new(&self.page.as_slice()[self.position..]);
        let head = cursor.zigzag().and_then(|least| {
            cursor.skip(self.header.miniblocks)?;
            Ok(least)
        });
        self.least = T::from_i64(head.map_err(|error| error.offset_by(self.position as u64))?);
        self.position += cursor.position();
        self.widths = self.position - self.header.miniblocks..self.position;
        Ok(())
    }
}

/// Encodes INT32 and INT64.
#[derive(Debug)]
pub struct Encoder(EncoderOf);

#[derive(Debug)]
enum EncoderOf {
    W32(DeltasEncoder<u32>),
    W64(DeltasEncoder<u64>),
}

impl Encoder {
    /// An empty page of INT32 or INT64; fails for other types.
    pub fn new(physical: PhysicalType) -> Result<Self> {
        Self::with_blocks(physical.shape(), BLOCK, MINIBLOCKS)
    }

    fn with_blocks(shape: Shape, block: usize, miniblocks: usize) -> Result<Self> {
        Ok(Encoder(match shape {
            Shape::W32 => EncoderOf::W32(DeltasEncoder::with_blocks(block, miniblocks)),
            Shape::W64 => EncoderOf::W64(DeltasEncoder::with_blocks(block, miniblocks)),
            other => {
                return Err(Error::argument(format!("DELTA_BINARY_PACKED of {other:?} values")));
            }
        }))
    }
}

impl Encode for Encoder {
    fn encode(&mut self, values: &Values, range: Range<usize>) -> Result<()> {
        match (&mut self.0, values) {
            (EncoderOf::W32(deltas), Values::W32(values)) => deltas.push(&values[range]),
            (EncoderOf::W64(deltas), Values::W64(values)) => deltas.push(&values[range]),
            (EncoderOf::W32(_), other) => return Err(crate::values::wrong_shape(Shape::W32, other)),
            (EncoderOf::W64(_), other) => return Err(crate::values::wrong_shape(Shape::W64, other)),
        }
        Ok(())
    }

    fn size(&self) -> usize {
        match &self.0 {
            EncoderOf::W32(deltas) => deltas.size(),
            EncoderOf::W64(deltas) => deltas.size(),
        }
    }

    fn finish(&mut self, page: &mut Vec<u8>) -> Result<()> {
        match &mut self.0 {
            EncoderOf::W32(deltas) => deltas.finish(page),
            EncoderOf::W64(deltas) => deltas.finish(page),
        }
        Ok(())
    }
}

/// Writes a stream of deltas.
#[derive(Debug)]
pub(crate) struct DeltasEncoder<T> {
    header: Header,
    last: T,
    /// The deltas of the block that is being filled.
    block: Vec<T>,
    /// The blocks that are full.
    bytes: Vec<u8>,
}

impl<T: Lane> DeltasEncoder<T> {
    /// An empty stream.
    pub(crate) fn new() -> Self {
        Self::with_blocks(BLOCK, MINIBLOCKS)
    }

    fn with_blocks(block: usize, miniblocks: usize) -> Self {
        assert!(block > 0 && block.is_multiple_of(miniblocks) && (block / miniblocks).is_multiple_of(8));
        DeltasEncoder {
            header: Header { block, miniblocks, ..EMPTY },
            last: T::from_i64(0),
            block: Vec::with_capacity(block),
            bytes: Vec::new(),
        }
    }

    /// Takes values.
    pub(crate) fn push(&mut self, values: &[T]) {
        let mut values = values;
        if let ([first, rest @ ..], 0) = (values, self.header.count) {
            self.header.first = first.to_i64();
            self.header.count = 1;
            self.last = *first;
            values = rest;
        }
        self.header.count += values.len();
        while let [next, ..] = values {
            let room = self.header.block - self.block.len();
            let (now, later) = values.split_at(values.len().min(room));
            self.block.push(next.minus(self.last));
            self.block.extend(now[1..].iter().zip(now).map(|(value, last)| value.minus(*last)));
            self.last = now[now.len() - 1];
            values = later;
            if self.block.len() == self.header.block {
                self.write_block();
            }
        }
    }

    /// Exactly how many bytes [`finish`](Self::finish) would append now.
    pub(crate) fn size(&self) -> usize {
        let mut size = self.header.size() + self.bytes.len();
        if !self.block.is_empty() {
            let least = T::least(&self.block);
            let miniblock = self.header.block / self.header.miniblocks;
            size += uleb128_size(zigzag(least.to_i64())) + self.header.miniblocks;
            for deltas in self.block.chunks(miniblock) {
                let all = deltas.iter().fold(T::from_i64(0), |all, delta| all.or(delta.minus(least)));
                size += miniblock / 8 * width(all.to_u64()) as usize;
            }
        }
        size
    }

    /// Appends the bytes to `out` and starts a new stream.
    pub(crate) fn finish(&mut self, out: &mut Vec<u8>) {
        if !self.block.is_empty() {
            self.write_block();
        }
        self.header.write(out);
        out.append(&mut self.bytes);
        self.header.count = 0;
        self.header.first = 0;
    }

    fn write_block(&mut self) {
        let least = T::least(&self.block);
        self.block.iter_mut().for_each(|delta| *delta = delta.minus(least));
        // SPEC: the last miniblock is filled up, with zeros.
        let miniblock = self.header.block / self.header.miniblocks;
        self.block.resize(self.block.len().next_multiple_of(miniblock), T::from_i64(0));
        write_uleb128(zigzag(least.to_i64()), &mut self.bytes);
        let widths = self.bytes.len();
        self.bytes.resize(widths + self.header.miniblocks, 0);
        for (i, deltas) in self.block.chunks(miniblock).enumerate() {
            let all = deltas.iter().fold(T::from_i64(0), |all, delta| all.or(*delta));
            self.bytes[widths + i] = width(all.to_u64()) as u8;
        }
        // PERF: neighbours of the same width are packed together.
        let mut done = 0;
        while done < self.block.len() {
            let first = widths + done / miniblock;
            let width = self.bytes[first];
            let same = self.bytes[first..widths + self.header.miniblocks]
                .iter()
                .take_while(|other| **other == width);
            let end = (done + same.count() * miniblock).min(self.block.len());
            T::pack(&self.block[done..end], u32::from(width), &mut self.bytes);
            done = end;
        }
        self.block.clear();
    }
}

/// The start of a stream.
#[derive(Debug, Clone, Copy)]
struct Header {
    /// Values in a block.
    block: usize,
    /// Miniblocks in a block.
    miniblocks: usize,
    /// Values in the stream, the first one included.
    count: usize,
    /// The first value; without meaning if there is none.
    first: i64,
}

impl Header {
    /// Checks only what the arithmetic needs: miniblocks begin and end with whole bytes.
    fn read(cursor: &mut ByteCursor<'_>) -> Result<Self> {
        let mut number = || -> Result<usize> { Ok(usize::try_from(cursor.uleb128()?).unwrap_or(usize::MAX)) };
        let (block, miniblocks, count) = (number()?, number()?, number()?);
        let header = Header { block, miniblocks, count, first: cursor.zigzag()? };
        match block.checked_div(miniblocks) {
            Some(size) if size > 0 && size.is_multiple_of(8) && block.is_multiple_of(miniblocks) => {
                Ok(header)
            }
            _ => Err(header.illegal()),
        }
    }

    /// SPEC: blocks are of a multiple of 128 values, miniblocks of a multiple of 32.
    fn check(&self) -> Result<()> {
        match self.block.is_multiple_of(128) && (self.block / self.miniblocks).is_multiple_of(32) {
            true => Ok(()),
            false => Err(self.illegal()),
        }
    }

    fn write(&self, out: &mut Vec<u8>) {
        write_uleb128(self.block as u64, out);
        write_uleb128(self.miniblocks as u64, out);
        write_uleb128(self.count as u64, out);
        write_uleb128(zigzag(self.first), out);
    }

    /// How many bytes `write` appends.
    fn size(&self) -> usize {
        [self.block, self.miniblocks, self.count]
            .iter()
            .map(|&number| uleb128_size(number as u64))
            .sum::<usize>()
            + uleb128_size(zigzag(self.first))
    }

    #[cold]
    fn illegal(&self) -> Error {
        Error::corrupt(format!("delta blocks of {} values in {} miniblocks", self.block, self.miniblocks))
    }
}

/// 0, -1, 1, -2, 2 become 0, 1, 2, 3, 4.
fn zigzag(value: i64) -> u64 {
    (value << 1 ^ value >> 63) as u64
}

/// How many bytes a varint takes.
fn uleb128_size(value: u64) -> usize {
    width(value | 1).div_ceil(7) as usize
}

/// How many bits a number takes.
fn width(value: u64) -> u32 {
    u64::BITS - value.leading_zeros()
}

/// Values in a block that is written, and its miniblocks: what parquet-java writes, so what all readers were tried with.
const BLOCK: usize = 128;
const MINIBLOCKS: usize = 4;
/// The header of no values.
const EMPTY: Header = Header { block: BLOCK, miniblocks: MINIBLOCKS, count: 0, first: 0 };
/// Deltas that are summed up at a time when values are skipped: they stay in the first-level cache.
const SKIPPED: usize = 1024;

#[cfg(test)]
mod tests;
