//! Decodes DELTA_BYTE_ARRAY: appends each suffix to the prefix of the value before it.

use super::arena::{SHORT_VALUE_BYTES, Size, Value, ValueArena};
use crate::delta_binary_packed::DeltaReader;
use crate::delta_length_byte_array::{LENGTHS_PER_BLOCK, LengthReader};
use crate::offset_strings::OffsetStrings;
use crate::shape::Shape;
use crate::traits::{Decode, EncodedPage};
use crate::values::Values;
use marquetry_base::{Error, MemoryBudget, PaddedBytes, Result};

/// Assembles values. Each call of `decode` collects its long byte strings in an arena.
#[derive(Debug)]
pub struct Decoder {
    page: PaddedBytes,
    shape: Shape,
    prefixes: DeltaReader<u32>,
    suffixes: LengthReader,
    /// The previous value, followed by at least [`PADDING_BYTES`] arbitrary bytes.
    last: Vec<u8>,
    last_len: u32,
    prefix_lengths: Vec<u32>,
    /// Number of bytes that the values of the page may still take; a value that only repeats a prefix is free.
    budget: u64,
    memory: MemoryBudget,
}

impl Decoder {
    /// Creates a decoder for a page. Finds the ends of the prefix lengths and of the suffix lengths. Fails if their counts differ.
    pub fn new(page: &EncodedPage) -> Result<Self> {
        let prefixes = DeltaReader::new(&page.bytes, 0)?;
        let suffixes = LengthReader::new(&page.bytes, prefixes.end()?)?;
        if prefixes.left() != suffixes.left() {
            return Err(Error::corrupt(format!(
                "{} prefixes and {} suffixes",
                prefixes.left(),
                suffixes.left()
            )));
        }
        Ok(Decoder {
            budget: FREE_BYTES.saturating_add((page.bytes.len() as u64).saturating_mul(MAX_EXPANSION)),
            page: page.bytes.clone(),
            memory: page.memory.clone(),
            shape: page.physical.shape(),
            prefixes,
            suffixes,
            last: Vec::new(),
            last_len: 0,
            prefix_lengths: Vec::new(),
        })
    }

    /// Reads the lengths of the next `n` values and makes room in `last` for the longest. Returns where their suffixes
    /// begin, and the total length of the values.
    ///
    /// INVARIANT: each prefix is at most as long as the previous value, and each value has the fixed width of the page,
    /// if there is one. A value is never longer than all suffixes up to it, so it is never longer than the page.
    fn next(&mut self, n: usize) -> Result<(usize, Size)> {
        self.prefix_lengths.clear();
        self.prefixes.decode(n, &mut self.prefix_lengths)?;
        let start = self.suffixes.next(n)?.start;
        let (mut before, mut longest, mut size) = (u64::from(self.last_len), 0, Size::default());
        for (&prefix, &suffix) in self.prefix_lengths.iter().zip(self.suffixes.lengths()) {
            if u64::from(prefix) > before {
                // QUIRK: parquet-mr before 1.8 took the first prefix of a page from the last value of the previous page
                // (PARQUET-246). Such pages fail here, because the right value is not in them.
                return Err(Error::corrupt(format!("a prefix of {prefix} bytes after a value of {before}")));
            }
            before = u64::from(prefix) + u64::from(suffix);
            longest = longest.max(before);
            size.new += if suffix > 0 { before } else { 0 };
            size.all += before;
            if let Shape::Fixed(width) = self.shape
                && before != width as u64
            {
                return Err(Error::corrupt(format!("a value of {before} bytes, not {width}")));
            }
        }
        self.budget = self.budget.checked_sub(size.new).ok_or_else(|| {
            let len = self.page.len();
            Error::limit(format!(
                "a page of {len} bytes repeats prefixes to over {MAX_EXPANSION} times its size"
            ))
        })?;
        let room = (longest as usize + PADDING_BYTES).max(self.last.len()).max(SHORT_VALUE_BYTES);
        self.last.resize(room, 0);
        Ok((start, size))
    }

    /// Reads `n` values and passes each one to `take`. Before that, `reserve` gets the total length of the values of each block.
    fn for_each<O>(
        &mut self,
        n: usize,
        out: &mut O,
        reserve: impl Fn(&mut O, Size) -> Result<()>,
        take: impl Fn(&mut O, Value<'_>),
    ) -> Result<()> {
        let mut left = n;
        while left > 0 {
            let now = left.min(LENGTHS_PER_BLOCK);
            left -= now;
            let (mut position, size) = self.next(now)?;
            reserve(out, size)?;
            let padded = self.page.padded();
            for (&prefix, &suffix) in self.prefix_lengths.iter().zip(self.suffixes.lengths()) {
                let (prefix_len, len) = (prefix as usize, prefix as usize + suffix as usize);
                let from = position.checked_sub(prefix_len).and_then(|from| padded[from..].first_chunk());
                match (from, self.last.first_chunk_mut()) {
                    (Some(from), Some(last)) if len <= SHORT_VALUE_BYTES => overlay(last, from, prefix_len),
                    _ => {
                        let suffix = &padded[position..position + suffix as usize];
                        self.last[prefix_len..len].copy_from_slice(suffix);
                    }
                }
                position += suffix as usize;
                self.last_len = prefix + suffix;
                take(out, Value { padded: &self.last, len: self.last_len, is_start: suffix == 0 });
            }
        }
        Ok(())
    }
}

impl Decode for Decoder {
    fn decode(&mut self, n: usize, out: &mut Values) -> Result<()> {
        match self.shape {
            Shape::Fixed(width) => {
                let out = out.as_fixed(width)?;
                self.for_each(n, out, |_, _| Ok(()), |out, value| out.push(value.bytes()))
            }
            _ if let Values::Offsets(out) = out => {
                let reserve = |out: &mut OffsetStrings, size: Size| out.make_room(size.all as usize);
                self.for_each(n, out, reserve, |out, value| out.push_padded(value.padded, value.len as usize))
            }
            _ => {
                let memory = self.memory.clone();
                let mut arena = ValueArena::new(out.as_bytes()?, &memory);
                self.for_each(n, &mut arena, ValueArena::reserve, ValueArena::push)?;
                arena.seal();
                Ok(())
            }
        }
    }

    fn skip(&mut self, n: usize) -> Result<()> {
        self.for_each(n, &mut (), |_, _| Ok(()), |_, _| ())
    }

    fn is_exhausted(&self) -> bool {
        self.suffixes.is_exhausted()
    }
}

/// Replaces all but the first `prefix` bytes of `last` by the bytes of `from` at the same places.
///
/// PERF: writes all bytes, always in the same stores. If only the changed bytes were written, the next value's load
/// would have to wait until the bytes of several stores have reached the cache. The loop runs by index, because
/// constructing a zip of iterators is a call where the compiler does not inline across codegen units.
#[inline(always)]
fn overlay(last: &mut [u8; SHORT_VALUE_BYTES], from: &[u8; SHORT_VALUE_BYTES], prefix: usize) {
    let keep: &[u8; SHORT_VALUE_BYTES] =
        PREFIX_MASK[SHORT_VALUE_BYTES - prefix..].first_chunk().expect("twice as many bytes");
    for i in 0..SHORT_VALUE_BYTES {
        last[i] = last[i] & keep[i] | from[i] & !keep[i];
    }
}

/// Number of bytes that are copied at once.
const PADDING_BYTES: usize = 16;
/// Ones for the bytes of a prefix, zeros for the bytes after it.
static PREFIX_MASK: [u8; 2 * SHORT_VALUE_BYTES] = {
    let mut keep = [0; 2 * SHORT_VALUE_BYTES];
    let mut i = 0;
    while i < SHORT_VALUE_BYTES {
        keep[i] = 0xff;
        i += 1;
    }
    keep
};
/// Maximum size of the values of a page, in multiples of its own size. Each value may repeat nearly a whole page and
/// add one byte, so the decoded size can grow with the square of the page's size. The multiple is more than sorted keys
/// ever need; small pages get `FREE_BYTES` in addition.
const MAX_EXPANSION: u64 = 1024;
const FREE_BYTES: u64 = 256 << 20;
