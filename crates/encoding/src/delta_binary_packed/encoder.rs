//! Encodes streams of deltas: INT32 and INT64 values, and the lengths of byte arrays.

use super::delta_int::DeltaInt;
use super::header::{Header, MINIBLOCKS_PER_BLOCK, VALUES_PER_BLOCK};
use crate::shape::{PhysicalType, Shape};
use crate::traits::Encode;
use crate::values::{Values, wrong_shape};
use crate::varint::{uleb128_size, write_uleb128, zigzag};
use marquetry_base::{Error, Result};
use std::ops::Range;

/// Encodes INT32 and INT64 values.
#[derive(Debug)]
pub struct Encoder(EncoderOf);

#[derive(Debug)]
enum EncoderOf {
    W32(DeltaWriter<u32>),
    W64(DeltaWriter<u64>),
}

impl Encoder {
    /// Creates an encoder with an empty page. Fails for types that are neither 32-bit nor 64-bit.
    pub fn new(physical: PhysicalType) -> Result<Self> {
        Self::with_blocks(physical.shape(), VALUES_PER_BLOCK, MINIBLOCKS_PER_BLOCK)
    }

    pub(super) fn with_blocks(shape: Shape, block: usize, miniblocks: usize) -> Result<Self> {
        Ok(Encoder(match shape {
            Shape::W32 => EncoderOf::W32(DeltaWriter::with_blocks(block, miniblocks)),
            Shape::W64 => EncoderOf::W64(DeltaWriter::with_blocks(block, miniblocks)),
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
            (EncoderOf::W32(_), other) => return Err(wrong_shape(Shape::W32, other)),
            (EncoderOf::W64(_), other) => return Err(wrong_shape(Shape::W64, other)),
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

/// Encodes a stream of deltas.
#[derive(Debug)]
pub(crate) struct DeltaWriter<T> {
    header: Header,
    last: T,
    /// The deltas of the block that is being filled.
    block: Vec<T>,
    /// The finished blocks, encoded.
    bytes: Vec<u8>,
}

impl<T: DeltaInt> DeltaWriter<T> {
    /// Creates an empty stream.
    pub(crate) fn new() -> Self {
        Self::with_blocks(VALUES_PER_BLOCK, MINIBLOCKS_PER_BLOCK)
    }

    fn with_blocks(block: usize, miniblocks: usize) -> Self {
        assert!(block > 0 && block.is_multiple_of(miniblocks) && (block / miniblocks).is_multiple_of(8));
        DeltaWriter {
            header: Header { block, miniblocks, ..Header::EMPTY },
            last: T::from_i64(0),
            block: Vec::with_capacity(block),
            bytes: Vec::new(),
        }
    }

    /// Appends values to the stream.
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

    /// The exact number of bytes that [`finish`](Self::finish) would append now.
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
        // SPEC: the last miniblock is padded; here with zeros.
        let miniblock = self.header.block / self.header.miniblocks;
        self.block.resize(self.block.len().next_multiple_of(miniblock), T::from_i64(0));
        write_uleb128(zigzag(least.to_i64()), &mut self.bytes);
        let widths = self.bytes.len();
        self.bytes.resize(widths + self.header.miniblocks, 0);
        for (i, deltas) in self.block.chunks(miniblock).enumerate() {
            let all = deltas.iter().fold(T::from_i64(0), |all, delta| all.or(*delta));
            self.bytes[widths + i] = width(all.to_u64()) as u8;
        }
        // PERF: packs consecutive miniblocks of the same width together.
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

/// The number of bits that a number needs.
fn width(value: u64) -> u32 {
    u64::BITS - value.leading_zeros()
}
