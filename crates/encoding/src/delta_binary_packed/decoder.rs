//! Decodes streams of deltas: INT32 and INT64 values, and the lengths of byte arrays.

use super::delta_int::DeltaInt;
use super::header::Header;
use crate::shape::PhysicalType;
use crate::traits::{Decode, EncodedPage};
use crate::values::Values;
use marquetry_base::{ByteCursor, Error, PaddedBytes, Result};
use std::ops::Range;

/// Decodes INT32 and INT64 values.
#[derive(Debug)]
pub struct Decoder(DecoderOf);

#[derive(Debug)]
enum DecoderOf {
    W32(DeltaReader<u32>),
    W64(DeltaReader<u64>),
}

impl Decoder {
    /// Creates a decoder for a page. Reads and checks the header.
    pub fn new(page: &EncodedPage) -> Result<Self> {
        let decoder = Decoder::open(&page.bytes, page.physical)?;
        let (DecoderOf::W32(DeltaReader { header, .. }) | DecoderOf::W64(DeltaReader { header, .. })) =
            &decoder.0;
        header.check()?;
        Ok(decoder)
    }

    pub(super) fn open(page: &PaddedBytes, physical: PhysicalType) -> Result<Self> {
        Ok(Decoder(match physical {
            PhysicalType::Int32 => DecoderOf::W32(DeltaReader::open(page, 0)?),
            PhysicalType::Int64 => DecoderOf::W64(DeltaReader::open(page, 0)?),
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

/// Decodes a stream of deltas at any position in a page: values, or the lengths of byte arrays.
#[derive(Debug, Clone)]
pub(crate) struct DeltaReader<T> {
    page: PaddedBytes,
    header: Header,
    /// Offset of the next run, or after the last run of a block, of the next block.
    position: usize,
    /// Range of the widths of the remaining miniblocks of the block.
    widths: Range<usize>,
    /// The least delta of the block.
    least: T,
    /// The value before the next one; before the first value, the first value itself.
    last: T,
    /// Number of values still to come.
    left: usize,
    run: Run,
    scratch: Vec<T>,
}

/// Consecutive miniblocks of a block that have the same width: packed values without a gap.
#[derive(Debug, Clone, Default)]
struct Run {
    /// Offset in the page.
    start: usize,
    width: u32,
    /// Index of the next value.
    first: usize,
    left: usize,
}

impl<T: DeltaInt> DeltaReader<T> {
    /// Reads and checks the header at `start`, which must be inside `page` or at its end.
    pub(crate) fn new(page: &PaddedBytes, start: usize) -> Result<Self> {
        let deltas = Self::open(page, start)?;
        deltas.header.check()?;
        Ok(deltas)
    }

    fn open(page: &PaddedBytes, start: usize) -> Result<Self> {
        let mut cursor = ByteCursor::new(&page.as_slice()[start..]);
        // QUIRK: a page of nulls only may have no bytes at all.
        let header = match cursor.is_empty() {
            true => Header::EMPTY,
            false => Header::read(&mut cursor).map_err(|error| error.offset_by(start as u64))?,
        };
        Ok(DeltaReader {
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

    /// The number of values still to come according to the header; there may be fewer in the page.
    pub(crate) fn left(&self) -> usize {
        self.left
    }

    /// Returns the offset in the page where the stream ends. Reads the headers of all remaining blocks, but no deltas.
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

    /// Skips the next `n` values. Their deltas are summed up, because later values depend on them.
    pub(crate) fn skip(&mut self, n: usize) -> Result<()> {
        self.check(n)?;
        let mut n = n;
        if n > 0 && self.take_first() {
            n -= 1;
        }
        while n > 0 {
            let (from, take) = self.take(n.min(DELTAS_PER_SKIP))?;
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

    /// Takes the next value if it is the first, which is the only one that is not a delta. Returns whether it was.
    fn take_first(&mut self) -> bool {
        let is_first = self.left == self.header.count && self.left > 0;
        self.left -= usize::from(is_first);
        is_first
    }

    /// Takes at least one and at most `max > 0` deltas of one run. Returns the index of the first and their number.
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

    /// Moves on to the next run. `left` must be the number of deltas in the runs to come, and not 0.
    fn next_run(&mut self) -> Result<()> {
        if self.widths.is_empty() {
            self.next_block()?;
        }
        let bytes = self.page.as_slice();
        let size = self.header.block / self.header.miniblocks;
        let width = bytes[self.widths.start];
        // SPEC: the widths of unused miniblocks are arbitrary, so `left` bounds how many widths are read.
        let (mut n, mut miniblocks) = (0, 0usize);
        while n < self.left && !self.widths.is_empty() && bytes[self.widths.start] == width {
            n += size.min(self.left - n);
            miniblocks += 1;
            self.widths.start += 1;
        }
        // QUIRK: arrow-go until 2026 and cuDF until 2023 computed the deltas of INT32 in 64 bits and wrote up to 34
        // bits. They are right modulo 2^32, so the limit is the same for both types.
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
        // QUIRK: some writers (parquet-dotnet until 2023) do not pad the last miniblock.
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

/// Number of deltas that are summed up at once when values are skipped: they stay in the first-level cache.
const DELTAS_PER_SKIP: usize = 1024;
