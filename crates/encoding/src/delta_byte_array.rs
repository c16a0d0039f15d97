//! DELTA_BYTE_ARRAY (7): how much of the value before is repeated, and what follows it.
//!
//! Spec: Encodings.md, "Delta Strings". Legal for BYTE_ARRAY and FIXED_LEN_BYTE_ARRAY, whose lengths are stored all the
//! same.
//!
//! ```text
//! page := <prefix lengths: DELTA_BINARY_PACKED of INT32> <suffixes: DELTA_LENGTH_BYTE_ARRAY>
//! ```
//!
//! ```
//! use marquetry_encoding::{delta_byte_array as delta, PhysicalType::ByteArray, Values, StringViews};
//! let mut bytes = vec![
//!     0x80, 0x01, // values in a block: 128
//!     4,          // miniblocks in a block
//!     4,          // values
//!     0,          // first prefix length
//!     3,          // least delta: -2, zigzag
//!     3, 0, 0, 0, // widths
//!     0b0100_0100, 0b0000_0001, // 2 - -2, -2 - -2 and two bits of 3 - -2, its last bit
//!     0, 0, 0, 0, 0, 0, 0, 0, 0, 0, // filling
//!     0x80, 0x01, // values in a block: 128
//!     4,          // miniblocks in a block
//!     4,          // values
//!     8,          // first suffix length: 4, zigzag
//!     3,          // least delta: -2, zigzag
//!     3, 0, 0, 0, // widths
//!     0b0111_0000, 0b0000_0000, // -2 - -2, 4 - -2 and two bits of -1 - -2, its last bit
//!     0, 0, 0, 0, 0, 0, 0, 0, 0, 0, // filling
//! ];
//! bytes.extend(b"axislebabbleyhood");
//! let strings = Values::Bytes(StringViews::from_iter(["axis", "axle", "babble", "babyhood"]));
//! assert_eq!(delta::decode(&bytes, ByteArray, 4)?, strings);
//! assert_eq!(delta::encode(&strings)?, bytes);
//! # Ok::<(), marquetry_base::Error>(())
//! ```

use crate::delta_binary_packed::{Deltas, DeltasEncoder};
use crate::delta_length_byte_array::{self as delta_length, INLINE, LENGTHS, Strings};
use crate::{
    Decode, Encode, EncodedPage, FixedLenBytes, OffsetStrings, PhysicalType, Shape, StringViews, Values,
    decode_all, encode_all,
};
use bytes::Bytes;
use marquetry_base::{Error, PaddedBytes, Result};
use marquetry_kernels as kernels;
use std::ops::Range;

/// Decodes `n` values of BYTE_ARRAY or FIXED_LEN_BYTE_ARRAY.
pub fn decode(bytes: &[u8], physical: PhysicalType, n: usize) -> Result<Values> {
    let page = EncodedPage::of(bytes, physical, n);
    decode_all(Decoder::new(&page)?, physical.shape(), n)
}

/// Encodes all of `values`, which must be byte strings or of a fixed width.
pub fn encode(values: &Values) -> Result<Vec<u8>> {
    encode_all(Encoder::of(values.shape()), values)
}

/// Puts values together: long byte strings in an arena for each call of `decode`.
#[derive(Debug)]
pub struct Decoder {
    page: PaddedBytes,
    shape: Shape,
    prefixes: Deltas<u32>,
    suffixes: Strings,
    /// The value before the next, and at least [`WORD`] bytes of anything.
    last: Vec<u8>,
    last_len: u32,
    prefix_lengths: Vec<u32>,
    /// How many more bytes the page may make of what it repeats.
    budget: u64,
}

impl Decoder {
    /// Finds where the prefix lengths end, where the suffix lengths end and the suffixes begin.
    pub fn new(page: &EncodedPage) -> Result<Self> {
        let prefixes = Deltas::new(&page.bytes, 0)?;
        let suffixes = Strings::new(&page.bytes, prefixes.end()?)?;
        if prefixes.left() != suffixes.left() {
            return Err(Error::corrupt(format!(
                "{} prefixes and {} suffixes",
                prefixes.left(),
                suffixes.left()
            )));
        }
        Ok(Decoder {
            budget: FREE_BYTES.saturating_add((page.bytes.len() as u64).saturating_mul(EXPANSION)),
            page: page.bytes.clone(),
            shape: page.physical.shape(),
            prefixes,
            suffixes,
            last: Vec::new(),
            last_len: 0,
            prefix_lengths: Vec::new(),
        })
    }

    /// Reads the lengths of the next `n` values and makes room in `last` for the longest. Returns where their suffixes
    /// begin, and how many bytes the values have.
    ///
    /// INVARIANT: each prefix is at most as long as the value before it, and each value is of the page's fixed width.
    /// A value is never longer than all suffixes up to it, so never longer than the page.
    fn next(&mut self, n: usize) -> Result<(usize, Size)> {
        self.prefix_lengths.clear();
        self.prefixes.decode(n, &mut self.prefix_lengths)?;
        let start = self.suffixes.next(n)?.start;
        let (mut before, mut longest, mut size) = (u64::from(self.last_len), 0, Size::default());
        for (&prefix, &suffix) in self.prefix_lengths.iter().zip(self.suffixes.lengths()) {
            if u64::from(prefix) > before {
                // QUIRK: parquet-mr before 1.8 let the first prefix of a page count from the last value of the page
                // before (PARQUET-246). Such pages end here; the right value is not in them.
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
            Error::limit(format!("a page of {len} bytes repeats prefixes to over {EXPANSION} times its size"))
        })?;
        let room = (longest as usize + WORD).max(self.last.len()).max(SHORT);
        self.last.resize(room, 0);
        Ok((start, size))
    }

    /// Reads `n` values and hands each one to `take`; `reserve` gets the sizes of those to come, before they come.
    fn for_each<O>(
        &mut self,
        n: usize,
        out: &mut O,
        reserve: impl Fn(&mut O, Size) -> Result<()>,
        take: impl Fn(&mut O, Value<'_>),
    ) -> Result<()> {
        let mut left = n;
        while left > 0 {
            let now = left.min(LENGTHS);
            left -= now;
            let (mut position, size) = self.next(now)?;
            reserve(out, size)?;
            let padded = self.page.padded();
            for (&prefix, &suffix) in self.prefix_lengths.iter().zip(self.suffixes.lengths()) {
                let (prefix_len, len) = (prefix as usize, prefix as usize + suffix as usize);
                let from = position.checked_sub(prefix_len).and_then(|from| padded[from..].first_chunk());
                match (from, self.last.first_chunk_mut()) {
                    (Some(from), Some(last)) if len <= SHORT => overlay(last, from, prefix_len),
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

/// How many bytes values have.
#[derive(Debug, Clone, Copy, Default)]
struct Size {
    /// Those that do not just repeat the start of the value before them.
    new: u64,
    /// All of them.
    all: u64,
}

/// A value that was put together.
struct Value<'a> {
    /// The value, and at least [`WORD`] bytes of anything.
    padded: &'a [u8],
    len: u32,
    /// Whether the value before it begins with all of it.
    is_start: bool,
}

impl Value<'_> {
    fn bytes(&self) -> &[u8] {
        &self.padded[..self.len as usize]
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
                let mut arena = Arena::new(out.as_bytes()?);
                self.for_each(n, &mut arena, Arena::reserve, Arena::push)?;
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

/// Collects strings: short ones in their views, long ones in buffers of at most [`ARENA`] bytes or of a single string.
struct Arena<'a> {
    out: &'a mut StringViews,
    views: Vec<u128>,
    bytes: Vec<u8>,
    /// Where in `bytes` the string before the next begins, if it is there.
    last: Option<usize>,
}

impl<'a> Arena<'a> {
    fn new(out: &'a mut StringViews) -> Self {
        Arena { out, views: Vec::new(), bytes: Vec::new(), last: None }
    }

    fn reserve(&mut self, size: Size) -> Result<()> {
        let room = ARENA - self.bytes.len().min(ARENA);
        // A copy of the last string may take that much more, for a moment.
        self.bytes.reserve((size.new as usize).min(room) + SHORT);
        Ok(())
    }

    #[inline]
    fn push(&mut self, value: Value<'_>) {
        if value.len <= INLINE {
            // What the string before it left in the arena stays, but is not looked for any more.
            self.last = None;
            self.views.push(kernels::view_at(value.padded, 0, value.len, 0));
            return;
        }
        let string = value.bytes();
        // PERF: strings that are repeated, as in any sorted column, share their bytes. It also keeps a page of nothing
        // but repetitions, which takes no bits for each, from growing without bounds.
        let start = match self.last {
            Some(last) if value.is_start => last,
            _ => {
                if self.bytes.len() + string.len() > ARENA && !self.bytes.is_empty() {
                    self.seal();
                }
                kernels::push_padded(value.padded, string.len(), &mut self.bytes);
                self.bytes.len() - string.len()
            }
        };
        self.last = Some(start);
        // The buffer's number is added when the arena is sealed. A start is at most `ARENA`.
        self.views.push(kernels::long_view(string, 0, start as u32));
    }

    /// Hands over the views and their buffer.
    fn seal(&mut self) {
        let bytes = Bytes::from(std::mem::take(&mut self.bytes));
        let buffer = std::slice::from_ref(&bytes);
        let buffers = if bytes.is_empty() { &[] } else { buffer };
        self.out.push_views(buffers, |views, base| {
            let start = views.len();
            views.append(&mut self.views);
            kernels::rebase_views(&mut views[start..], base);
        });
        self.last = None;
    }
}

/// Collects prefix lengths and suffixes.
#[derive(Debug)]
pub struct Encoder {
    shape: Shape,
    prefixes: DeltasEncoder<u32>,
    suffixes: delta_length::Encoder,
    last: Vec<u8>,
    /// Those of the values that are being taken, and the bytes of their suffixes.
    prefix_lengths: Vec<u32>,
    suffix_lengths: Vec<u32>,
    suffix_bytes: Vec<u8>,
}

impl Encoder {
    /// An empty page of BYTE_ARRAY or FIXED_LEN_BYTE_ARRAY.
    pub fn new(physical: PhysicalType) -> Self {
        Self::of(physical.shape())
    }

    fn of(shape: Shape) -> Self {
        Encoder {
            shape,
            prefixes: DeltasEncoder::new(),
            suffixes: delta_length::Encoder::new(),
            last: Vec::new(),
            prefix_lengths: Vec::new(),
            suffix_lengths: Vec::new(),
            suffix_bytes: Vec::new(),
        }
    }

    /// Takes values.
    fn push<'a>(&mut self, values: impl Iterator<Item = &'a [u8]>) -> Result<()> {
        self.prefix_lengths.clear();
        self.suffix_lengths.clear();
        self.suffix_bytes.clear();
        let mut before = self.last.as_slice();
        let mut longest = 0;
        for value in values {
            let prefix = common_prefix(before, value);
            before = value;
            longest = longest.max(value.len());
            self.prefix_lengths.push(prefix as u32);
            self.suffix_lengths.push((value.len() - prefix) as u32);
            push_tail(value, value.len() - prefix, &mut self.suffix_bytes);
        }
        // SPEC: lengths are INT32.
        if i32::try_from(longest).is_err() {
            return Err(Error::argument("a byte string of over 2 GiB"));
        }
        self.prefixes.push(&self.prefix_lengths);
        self.suffixes.push(&self.suffix_lengths, |bytes| bytes.extend_from_slice(&self.suffix_bytes))?;
        if !self.prefix_lengths.is_empty() {
            let last = before.to_vec();
            self.last = last;
        }
        Ok(())
    }
}

impl Encode for Encoder {
    fn encode(&mut self, values: &Values, range: Range<usize>) -> Result<()> {
        match values {
            Values::Bytes(strings) if self.shape == Shape::Bytes => {
                self.push(strings.views()[range].iter().map(|view| strings.resolve(view)))
            }
            Values::Fixed(fixed) if self.shape == Shape::Fixed(fixed.width()) => {
                self.push(range.map(|i| FixedLenBytes::get(fixed, i)))
            }
            other => Err(crate::values::wrong_shape(self.shape, other)),
        }
    }

    fn size(&self) -> usize {
        self.prefixes.size() + self.suffixes.size()
    }

    fn finish(&mut self, page: &mut Vec<u8>) -> Result<()> {
        self.prefixes.finish(page);
        self.suffixes.finish(page)?;
        // SPEC: pages stand alone, so the next one's first value repeats nothing.
        self.last.clear();
        Ok(())
    }

    fn finish_parts(&mut self, head: &mut Vec<u8>, body: &mut Vec<u8>) -> Result<()> {
        self.prefixes.finish(head);
        self.suffixes.finish_parts(head, body)?;
        self.last.clear();
        Ok(())
    }
}

/// Replaces all but the first `prefix` bytes of `last` by those at the same place of `from`.
///
/// PERF: all bytes are written, each time the same ones together. Were only those that change, the next value's load
/// would have to wait until the bytes of several stores have reached the cache. By index, because what makes a zip of iterators is a
/// call where the compiler does not inline between units.
#[inline(always)]
fn overlay(last: &mut [u8; SHORT], from: &[u8; SHORT], prefix: usize) {
    let keep: &[u8; SHORT] = KEEP[SHORT - prefix..].first_chunk().expect("twice as many bytes");
    for i in 0..SHORT {
        last[i] = last[i] & keep[i] | from[i] & !keep[i];
    }
}

/// Appends the last `n` bytes of `value`.
///
/// PERF: a few bytes of a longer string are shifted to the beginning of a word that is appended whole, which takes less time
/// than a copy of a length that only the data knows.
#[inline(always)]
fn push_tail(value: &[u8], n: usize, out: &mut Vec<u8>) {
    match value.last_chunk::<16>() {
        Some(last) if (1..=16).contains(&n) => {
            let end = out.len() + n;
            out.extend_from_slice(&(u128::from_le_bytes(*last) >> (8 * (16 - n))).to_le_bytes());
            out.truncate(end);
        }
        _ => out.extend_from_slice(&value[value.len() - n..]),
    }
}

/// How many bytes both begin with.
#[inline]
fn common_prefix(a: &[u8], b: &[u8]) -> usize {
    let shorter = a.len().min(b.len());
    let (a, b) = (&a[..shorter], &b[..shorter]);
    // PERF: by words; the last one may have been looked at in part.
    let ((a_words, _), (b_words, _)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
    for (i, (a, b)) in a_words.iter().zip(b_words).enumerate() {
        if a != b {
            return 8 * i + equal_bytes(*a, *b);
        }
    }
    match (a.last_chunk(), b.last_chunk()) {
        (Some(a), Some(b)) => shorter - 8 + equal_bytes(*a, *b),
        _ => a.iter().zip(b).take_while(|(a, b)| a == b).count(),
    }
}

/// How many bytes both words begin with.
#[inline(always)]
fn equal_bytes(a: [u8; 8], b: [u8; 8]) -> usize {
    (u64::from_le_bytes(a) ^ u64::from_le_bytes(b)).trailing_zeros() as usize / 8
}

/// Bytes that are copied at once.
const WORD: usize = 16;
/// Values up to this length are put together at once.
const SHORT: usize = 64;
/// Ones for a prefix, zeros for what follows it.
static KEEP: [u8; 2 * SHORT] = {
    let mut keep = [0; 2 * SHORT];
    let mut i = 0;
    while i < SHORT {
        keep[i] = 0xff;
        i += 1;
    }
    keep
};
/// Most bytes of an arena of several strings: a view's offset is 32 bits, and as little as 31 for some readers.
const ARENA: usize = 1 << 30;
/// Each value may repeat nearly a whole page and add one byte, so what a page decodes to can grow with its size squared.
/// So many times its size is above what sorted keys come to, and this much is free for small pages.
const EXPANSION: u64 = 1024;
const FREE_BYTES: u64 = 256 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    fn strings<T: AsRef<[u8]>>(strings: impl IntoIterator<Item = T>) -> Values {
        Values::Bytes(StringViews::from_iter(strings))
    }

    /// Pages of prefixes and suffixes as given, right or wrong.
    fn page(prefixes: &[u32], suffixes: &[&[u8]]) -> Vec<u8> {
        let mut out = Vec::new();
        let mut deltas = DeltasEncoder::new();
        deltas.push(prefixes);
        deltas.finish(&mut out);
        let mut strings = delta_length::Encoder::new();
        let lengths: Vec<u32> = suffixes.iter().map(|suffix| suffix.len() as u32).collect();
        strings.push(&lengths, |bytes| bytes.extend(suffixes.concat())).unwrap();
        strings.finish(&mut out).unwrap();
        out
    }

    #[test]
    fn a_prefix_longer_than_the_value_before_is_refused() {
        let bytes = page(&[0, 2, 5], &[b"axis", b"le", b"s"]);
        assert_eq!(decode(&bytes, PhysicalType::ByteArray, 2).unwrap(), strings(["axis", "axle"]));
        assert!(decode(&bytes, PhysicalType::ByteArray, 3).is_err());
    }

    #[test]
    fn the_first_value_of_a_page_has_no_prefix() {
        let bytes = page(&[2, 2], &[b"is", b"le"]);
        let error = decode(&bytes, PhysicalType::ByteArray, 1).unwrap_err();
        assert!(error.to_string().contains("prefix of 2 bytes after a value of 0"), "{error}");
        let mut encoder = Encoder::of(Shape::Bytes);
        for _ in 0..2 {
            let mut bytes = Vec::new();
            encoder.encode(&strings(["axis", "axle"]), 0..2).unwrap();
            assert_eq!(encoder.size(), page(&[0, 2], &[b"axis", b"le"]).len());
            encoder.finish(&mut bytes).unwrap();
            assert_eq!(bytes, page(&[0, 2], &[b"axis", b"le"]));
        }
    }

    #[test]
    fn there_are_as_many_prefixes_as_suffixes() {
        let error = decode(&page(&[0, 0], &[b"axis"]), PhysicalType::ByteArray, 1).unwrap_err();
        assert!(error.to_string().contains("2 prefixes and 1 suffixes"), "{error}");
        assert_eq!(decode(&[], PhysicalType::ByteArray, 0).unwrap(), strings([""; 0]));
    }

    #[test]
    fn a_fixed_width_is_kept() {
        let width = |n| PhysicalType::FixedLenByteArray(n);
        let values = Values::Fixed(FixedLenBytes::from_bytes(4, b"axisaxleaxle".to_vec()));
        let bytes = page(&[0, 2, 4], &[b"axis", b"le", b""]);
        assert_eq!(encode(&values).unwrap(), bytes);
        assert_eq!(decode(&bytes, width(4), 3).unwrap(), values);
        assert!(decode(&bytes, width(3), 3).is_err());
        assert!(decode(&page(&[0, 2], &[b"axis", b"l"]), width(4), 2).is_err());
        assert_eq!(decode(&page(&[0; 5], &[b"".as_slice(); 5]), width(0), 5).unwrap().len(), 5);
    }

    #[test]
    fn repeated_strings_share_their_bytes() {
        let long = "a string that is too long for a view";
        let values = strings([long, long, &long[..20], &long[..3], &long[..20], long]);
        let Values::Bytes(views) = decode(&encode(&values).unwrap(), PhysicalType::ByteArray, 6).unwrap()
        else {
            unreachable!()
        };
        assert_eq!(views.buffers().len(), 1);
        assert_eq!(views.buffers()[0].len(), long.len() + 20 + long.len());
        assert_eq!(Values::Bytes(views), values);
    }

    #[test]
    fn a_page_may_not_repeat_itself_without_bounds() {
        let long = "x".repeat(16 << 10);
        let page = |n: usize| {
            let all: Vec<String> = (0..n).map(|i| format!("{long}{}", i % 2)).collect();
            let bytes = PaddedBytes::copy_of(&encode(&strings(&all)).unwrap());
            EncodedPage { bytes, max_values: n, physical: PhysicalType::ByteArray, dictionary: None }
        };
        // 16 KiB each, of which one byte is new.
        Decoder::new(&page(1_000)).unwrap().skip(1_000).unwrap();
        let error = Decoder::new(&page(30_000)).unwrap().skip(30_000).unwrap_err();
        assert_eq!(error.kind(), marquetry_base::ErrorKind::Limit, "{error}");
    }

    #[test]
    fn any_split_of_reads_and_skips() {
        let all: Vec<String> =
            (0..5000u64).map(|i| format!("{:x}", i * i * i).repeat(1 + i as usize % 5)).collect();
        let bytes = PaddedBytes::copy_of(&encode(&strings(&all)).unwrap());
        let page =
            EncodedPage { bytes, max_values: all.len(), physical: PhysicalType::ByteArray, dictionary: None };
        let mut decoder = Decoder::new(&page).unwrap();
        let (mut out, mut expected, mut from) = (Shape::Bytes.empty(), Vec::new(), 0);
        for (i, n) in [1, 0, 100, 31, 1025, 1, 2000, 3, 1839].into_iter().enumerate() {
            if i % 3 == 2 {
                decoder.skip(n).unwrap();
            } else {
                decoder.decode(n, &mut out).unwrap();
                expected.extend(&all[from..from + n]);
            }
            from += n;
        }
        assert_eq!(from, all.len());
        assert_eq!(out, strings(expected));
        assert!(decoder.skip(1).is_err());
    }
}
