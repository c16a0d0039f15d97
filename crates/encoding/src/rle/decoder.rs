//! Decodes the RLE / bit-packing hybrid: levels, dictionary indices and booleans.

use marquetry_base::{ByteCursor, Error, PaddedBytes, Result};
use marquetry_kernels::{self as kernels, BitAppender, BitRun, Bitmap};

/// Decodes the RLE / bit-packing hybrid run by run.
#[derive(Debug, Clone)]
pub struct RleBitPackedDecoder {
    page: PaddedBytes,
    /// Offset of the next header in the page.
    position: usize,
    width: u32,
    run: Run,
}

/// The rest of the current run.
#[derive(Debug, Clone, Copy)]
enum Run {
    Repeated {
        value: u32,
        left: usize,
    },
    /// Packed values that begin at byte `start` of the page; `first` is the index of the next value.
    Packed {
        start: usize,
        first: usize,
        left: usize,
    },
}

/// A run of equal values, or part of a run of packed values.
#[derive(Debug)]
pub enum RleRun<'a> {
    /// `value`, repeated `n` times.
    Repeated {
        /// The value.
        value: u32,
        /// The number of values.
        n: usize,
    },
    /// `n` packed values, starting with value `first` of `bytes`. `bytes` may be longer.
    Packed {
        /// The packed values and whatever follows them.
        bytes: &'a [u8],
        /// Index of the first value to take.
        first: usize,
        /// The number of values.
        n: usize,
    },
}

impl RleBitPackedDecoder {
    /// Creates a decoder of values of `width` bits. Fails if `width > 32`.
    pub fn new(page: PaddedBytes, width: u32) -> Result<Self> {
        if width > 32 {
            return Err(Error::corrupt(format!("RLE width {width} > 32")));
        }
        Ok(RleBitPackedDecoder { page, position: 0, width, run: Run::Repeated { value: 0, left: 0 } })
    }

    /// The width of a value in bits.
    pub fn width(&self) -> u32 {
        self.width
    }

    /// Takes the next run of at most `max > 0` values. It is never empty.
    #[inline]
    pub fn next(&mut self, max: usize) -> Result<RleRun<'_>> {
        if self.left() == 0 {
            self.next_run()?;
        }
        match &mut self.run {
            Run::Repeated { value, left } => {
                let n = max.min(*left);
                *left -= n;
                Ok(RleRun::Repeated { value: *value, n })
            }
            Run::Packed { start, first, left } => {
                let n = max.min(*left);
                let from = *first;
                *first += n;
                *left -= n;
                Ok(RleRun::Packed { bytes: &self.page.padded()[*start..], first: from, n })
            }
        }
    }

    /// Returns the next value and the remaining length of its run, without consuming it. The length is 0 if the next value is packed.
    pub fn run(&mut self) -> Result<(u32, usize)> {
        if self.left() == 0 {
            self.next_run()?;
        }
        match self.run {
            Run::Repeated { value, left } => Ok((value, left)),
            Run::Packed { .. } => Ok((0, 0)),
        }
    }

    /// Appends the next `n` values.
    pub fn decode(&mut self, n: usize, out: &mut Vec<u32>) -> Result<()> {
        let width = self.width;
        let unpack = |bytes: &[u8], first, n, out: &mut _| kernels::unpack_u32(bytes, width, first, n, out);
        self.decode_runs(n, out, Self::append_short_runs, |value| value, unpack)
    }

    /// Appends the next `n` values, of at most 8 bits each, as bytes.
    ///
    /// # Panics
    /// If the width is over 8.
    pub fn decode_u8(&mut self, n: usize, out: &mut Vec<u8>) -> Result<()> {
        let width = self.width;
        assert!(width <= 8);
        let unpack = |bytes: &[u8], first, n, out: &mut _| kernels::unpack_u8(bytes, width, first, n, out);
        self.decode_runs(n, out, Self::append_short_runs_u8, |value| value as u8, unpack)
    }

    /// Appends the next `n` values: with `short` while runs are short, run by run otherwise.
    #[inline(always)]
    fn decode_runs<T: Copy>(
        &mut self,
        n: usize,
        out: &mut Vec<T>,
        short: impl Fn(&mut Self, usize, &mut Vec<T>) -> usize,
        of: impl Fn(u32) -> T,
        unpack: impl Fn(&[u8], usize, usize, &mut Vec<T>),
    ) -> Result<()> {
        let (mut left, mut are_short) = (n, true);
        while left > 0 {
            if are_short {
                left -= short(self, left, out);
                if left == 0 {
                    break;
                }
            }
            let before = out.len();
            match self.next(left)? {
                RleRun::Repeated { value, n } => out.resize(before + n, of(value)),
                RleRun::Packed { bytes, first, n } => unpack(bytes, first, n, out),
            }
            let n = out.len() - before;
            left -= n;
            are_short = n <= kernels::VALUES_PER_RUN;
        }
        Ok(())
    }

    /// Appends the next `n` values, of one bit each, as bits.
    ///
    /// # Panics
    /// If the width is not 1.
    pub fn decode_bits(&mut self, n: usize, out: &mut Bitmap) -> Result<()> {
        assert_eq!(self.width, 1);
        let mut out = out.appender();
        let mut left = n;
        while left > 0 {
            if self.left() == 0 {
                left -= self.short_bit_runs(left, &mut out);
            }
            if left > 0 {
                left -= match self.next(left)? {
                    RleRun::Repeated { value, n } => {
                        out.push_run(value != 0, n);
                        n
                    }
                    RleRun::Packed { bytes, first, n } => {
                        out.push_packed(bytes, first, n);
                        n
                    }
                };
            }
        }
        Ok(())
    }

    /// Appends the bits of whole short runs with headers of one or two bytes, at most `most` bits in total, and returns
    /// how many. The previous run must be used up.
    ///
    /// PERF: scattered nulls make runs of ten or twenty levels, repeated or packed. The loop does not branch on the
    /// kind of run, the size of the header or the length, because every other such branch would be mispredicted.
    fn short_bit_runs(&mut self, most: usize, out: &mut BitAppender<'_>) -> usize {
        let bytes = self.page.as_slice();
        let most = most.min(BITS_PER_BLOCK);
        let (mut position, mut left) = (self.position, most);
        out.push_bit_runs(most, || {
            let next = bytes.get(position..)?.first_chunk::<10>()?;
            let has_two = next[0] >> 7;
            let count = usize::from(next[0] & 0x7f) | usize::from(next[1] * has_two) << 7;
            let payload = u64::from_le_bytes(*next[1..].first_chunk()?);
            let behind = u64::from_le_bytes(*next[2..].first_chunk()?);
            let payload = if has_two == 0 { payload } else { behind };
            let is_packed = count & 1 == 1;
            let bits = count >> 1 << if is_packed { 3 } else { 0 };
            let longest = if is_packed { 64 } else { 256 };
            let is_bit = is_packed | (payload as u8 <= 1);
            if bits > left.min(longest) || !is_bit || next[1] & (has_two << 7) != 0 {
                return None;
            }
            left -= bits;
            position += 1 + usize::from(has_two) + if is_packed { bits / 8 } else { 1 };
            let repeated = (payload & 1).wrapping_neg();
            let word = if is_packed { payload } else { repeated };
            Some(BitRun { bits, word, after: if bits > 64 { repeated } else { 0 } })
        });
        self.position = position;
        most - left
    }

    /// Like [`append_short_runs`](Self::append_short_runs), for values of up to 8 bits as bytes. Grows `out` as needed.
    fn append_short_runs_u8(&mut self, most: usize, out: &mut Vec<u8>) -> usize {
        if self.left() > 0 || self.width == 0 {
            return 0;
        }
        let (before, most) = (out.len(), most.min(VALUES_PER_BLOCK));
        let (padded, len) = (self.page.padded(), self.page.len());
        self.position = kernels::unpack_short_runs_u8(padded, len, self.position, self.width, most, out);
        out.len() - before
    }

    /// Appends whole short runs, at most `most` values in total and without growing `out`; returns how many values.
    /// Appends nothing if the previous run is not used up.
    pub(crate) fn append_short_runs(&mut self, most: usize, out: &mut Vec<u32>) -> usize {
        let room = (out.capacity() - out.len()).saturating_sub(kernels::VALUES_PER_RUN);
        let most = most.min(room);
        if self.left() > 0 || !(1..=kernels::MAX_SHORT_RUN_WIDTH).contains(&self.width) || most == 0 {
            return 0;
        }
        let (before, len) = (out.len(), self.page.len());
        let (padded, width) = (self.page.padded(), self.width);
        self.position = kernels::unpack_short_runs(padded, len, self.position, width, most, out);
        out.len() - before
    }

    /// Skips the next `n` values.
    pub fn skip(&mut self, n: usize) -> Result<()> {
        let mut left = n;
        while left > 0 {
            let (RleRun::Repeated { n, .. } | RleRun::Packed { n, .. }) = self.next(left)?;
            left -= n;
        }
        Ok(())
    }

    fn left(&self) -> usize {
        let (Run::Repeated { left, .. } | Run::Packed { left, .. }) = self.run;
        left
    }

    /// Whether nothing is left but padding of the last group.
    pub fn is_exhausted(&self) -> bool {
        let is_filling = match self.run {
            Run::Repeated { left, .. } => left == 0,
            Run::Packed { left, .. } => left < VALUES_PER_GROUP,
        };
        is_filling && self.position == self.page.len()
    }

    /// Reads headers up to the next run that is not empty.
    ///
    /// PERF: handles headers of one or two bytes with a complete payload, which nearly all are. The rest goes to `any_run`.
    #[inline]
    fn next_run(&mut self) -> Result<()> {
        let Some(next) = self.page.padded()[self.position..].first_chunk::<8>() else {
            return self.any_run();
        };
        let has_two = next[0] >> 7;
        let header = usize::from(next[0] & 0x7f) | usize::from(next[1] * has_two) << 7;
        let (count, is_packed) = (header >> 1, header & 1 == 1);
        let bytes_of_value = self.width.div_ceil(8);
        let behind = u64::from_le_bytes(*next) >> (8 + 8 * has_two);
        let value = behind as u32 & u32::MAX.checked_shr(32 - 8 * bytes_of_value).unwrap_or(0);
        let start = self.position + 1 + usize::from(has_two);
        let len = if is_packed { count * self.width as usize } else { bytes_of_value as usize };
        let is_value = is_packed || u64::from(value) >> self.width == 0;
        if next[1] & has_two << 7 != 0 || count == 0 || !is_value || start + len > self.page.len() {
            return self.any_run();
        }
        self.run = match is_packed {
            true => Run::Packed { start, first: 0, left: count * VALUES_PER_GROUP },
            false => Run::Repeated { value, left: count },
        };
        self.position = start + len;
        Ok(())
    }

    /// Like [`next_run`](Self::next_run), for any header. Each header consumes at least a byte, so the loop ends.
    #[cold]
    fn any_run(&mut self) -> Result<()> {
        while self.left() == 0 {
            let mut cursor = ByteCursor::new(&self.page.as_slice()[self.position..]);
            let header = cursor.uleb128().map_err(|error| error.offset_by(self.position as u64))?;
            let count = usize::try_from(header >> 1).unwrap_or(usize::MAX);
            self.run = if header & 1 == 0 {
                // SPEC: the value takes the bytes of its width, rounded up to whole bytes.
                let mut word = [0; 4];
                let bytes = cursor.take(self.width.div_ceil(8) as usize)?;
                word[..bytes.len()].copy_from_slice(bytes);
                let value = u32::from_le_bytes(word);
                if u64::from(value) >> self.width != 0 {
                    let message = format!("RLE value {value} is wider than {} bits", self.width);
                    return Err(Error::corrupt(message));
                }
                Run::Repeated { value, left: count }
            } else {
                let start = self.position + cursor.position();
                let bytes = count.saturating_mul(self.width as usize);
                // QUIRK: some writers cut the last group short. The values that are there can be read; reading the
                // missing ones is an error.
                let there = bytes.min(cursor.remaining());
                let _ = cursor.skip(there);
                let left = match self.width {
                    0 => count.saturating_mul(8),
                    width => there * 8 / width as usize,
                };
                if left == 0 && count > 0 {
                    return Err(Error::truncated("packed values end within the first").at(start as u64));
                }
                Run::Packed { start, first: 0, left }
            };
            self.position += cursor.position();
        }
        Ok(())
    }
}

/// Maximum number of bits that one call of `short_bit_runs` appends.
const BITS_PER_BLOCK: usize = 2048;
/// Maximum number of values of short runs for which memory is reserved at once.
const VALUES_PER_BLOCK: usize = 2048;
/// Number of values in a packed group. 8 values fill whole bytes at any width.
pub(super) const VALUES_PER_GROUP: usize = 8;
