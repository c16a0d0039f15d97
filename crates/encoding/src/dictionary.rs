//! RLE_DICTIONARY (8), in old files PLAIN_DICTIONARY (2): values are indices into a dictionary.
//!
//! Spec: Encodings.md, "Dictionary Encoding". Legal for all physical types but BOOLEAN. The dictionary is a page of its
//! own, PLAIN, before the data pages of the chunk. Old writers give both pages the code PLAIN_DICTIONARY; the bytes are
//! the same.
//!
//! ```text
//! data page := <width: 1 byte, 0 to 32> <indices: RLE hybrid of that width, no length>
//! ```
//!
//! ```
//! use marquetry_encoding::{dictionary, PhysicalType, Values, StringViews};
//! let colours = Values::Bytes(StringViews::from_iter(["red", "blue"]));
//! let bytes = [
//!     1,           // width
//!     0b0000_0011, // 1 group << 1 | packed
//!     0b0000_0010, // 0 1 0 0 0 0 0 0
//! ];
//! let values = Values::Bytes(StringViews::from_iter(["red", "blue", "red"]));
//! assert_eq!(dictionary::decode(&bytes, &colours, 3)?, values);
//! assert_eq!(dictionary::encode(&values)?, (bytes.to_vec(), colours));
//! # Ok::<(), marquetry_base::Error>(())
//! ```

mod builder;
mod strings;
mod table;
mod words;

pub use builder::Builder;
pub(crate) use strings::Strings;

use crate::rle::{self, Hybrid, Piece};
use crate::{Decode, Encode, EncodedPage, PhysicalType, Shape, Values, plain};
use marquetry_base::{ByteCursor, Error, PaddedBytes, Result};
use marquetry_kernels as kernels;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// Decodes `n` values from a data page whose dictionary is `dictionary`.
pub fn decode(bytes: &[u8], dictionary: &Values, n: usize) -> Result<Values> {
    let mut out = dictionary.shape().empty();
    let dictionary = Arc::new(Dictionary::new(dictionary.clone()));
    Decoder::of(&PaddedBytes::copy_of(bytes), dictionary)?.decode(n, &mut out)?;
    Ok(out)
}

/// Encodes all of `values`: the data page, and the dictionary in order of first appearance.
pub fn encode(values: &Values) -> Result<(Vec<u8>, Values)> {
    let mut encoder = Encoder::new(values.shape());
    encoder.encode(values, 0..values.len())?;
    let mut out = Vec::new();
    encoder.finish(&mut out)?;
    Ok((out, encoder.builder.finish().values))
}

/// The values of a dictionary page.
#[derive(Debug, Clone)]
pub struct Dictionary {
    values: Values,
    /// The page they are from, if that is known.
    page: Option<PaddedBytes>,
    /// Byte strings as they are looked up to be put end to end, once somebody wants that.
    strings: OnceLock<Strings>,
}

impl PartialEq for Dictionary {
    fn eq(&self, other: &Self) -> bool {
        self.values == other.values
    }
}

impl Dictionary {
    /// A dictionary of these values.
    pub fn new(values: Values) -> Self {
        Dictionary { values, page: None, strings: OnceLock::new() }
    }

    /// Reads a dictionary page of `n` PLAIN values.
    pub fn read(bytes: PaddedBytes, physical: PhysicalType, n: usize) -> Result<Self> {
        if physical == PhysicalType::Boolean {
            return Err(Error::corrupt("a dictionary of BOOLEAN values"));
        }
        let mut values = physical.shape().empty();
        let page = EncodedPage { bytes, max_values: n, physical, dictionary: None };
        plain::Decoder::new(&page).decode(n, &mut values)?;
        let page = matches!(values, Values::Bytes(_)).then_some(page.bytes);
        Ok(Dictionary { page, ..Dictionary::new(values) })
    }

    /// The values, by index.
    pub fn values(&self) -> &Values {
        &self.values
    }

    /// The values at `indices`. An empty dictionary gives defaults: only slots of nulls can have indices into it.
    pub fn values_at(&self, indices: &[u32]) -> Result<Values> {
        let mut out = self.values.shape().empty();
        match self.values.is_empty() {
            true => out.push_defaults(indices.len()),
            false => self.look_up(indices, &mut out)?,
        }
        Ok(out)
    }

    /// Appends the values at `indices` to `out`, which must be of their shape.
    ///
    /// Fails if an index is outside; for BOOLEAN, which has no dictionaries; and if the shapes differ.
    pub fn look_up(&self, indices: &[u32], out: &mut Values) -> Result<()> {
        let (Values::Bytes(views), Values::Offsets(out)) = (&self.values, &mut *out) else {
            return look_up(&self.values, indices, out);
        };
        let strings = match self.strings.get() {
            Some(strings) => strings,
            None => {
                let strings = Strings::new(views, self.page.as_ref())?;
                self.strings.get_or_init(|| strings)
            }
        };
        let total = kernels::bytes_of_entries(&strings.entries, indices);
        out.push_entries(strings, indices, total.map_err(|max| outside(max, views.len()))?)
    }

    /// Appends `n` times the value at `index`.
    fn repeat(&self, index: u32, n: usize, out: &mut Values) -> Result<()> {
        let (at, len) = (index as usize, self.values.len());
        if at >= len {
            return Err(outside(index, len));
        }
        match (&self.values, out) {
            (Values::W32(dictionary), Values::W32(out)) => out.resize(out.len() + n, dictionary[at]),
            (Values::W64(dictionary), Values::W64(out)) => out.resize(out.len() + n, dictionary[at]),
            (Values::Fixed(dictionary), Values::Fixed(out)) if dictionary.width() == out.width() => {
                out.push_with(n, |out| {
                    (0..n).for_each(|_| out.extend_from_slice(dictionary.get(at)));
                });
            }
            (Values::Bytes(dictionary), Values::Bytes(out)) => {
                out.push_views(dictionary.buffers(), |views, base| {
                    let mut view = [dictionary.views()[at]];
                    kernels::rebase_views(&mut view, base);
                    views.resize(views.len() + n, view[0]);
                });
            }
            (Values::Bytes(dictionary), Values::Offsets(out)) => out.push_repeated(dictionary.get(at), n)?,
            (dictionary, out) => return Err(crate::values::wrong_shape(dictionary.shape(), out)),
        }
        Ok(())
    }
}

/// Appends the values of `dictionary` at `indices` to `out`, which must be of the same shape.
///
/// Fails if an index is outside; for BOOLEAN, which has no dictionaries; and if the shapes differ.
pub fn look_up(dictionary: &Values, indices: &[u32], out: &mut Values) -> Result<()> {
    let looked_up = match (dictionary, out) {
        (Values::W32(dictionary), Values::W32(out)) => kernels::gather(dictionary, indices, out),
        (Values::W64(dictionary), Values::W64(out)) => kernels::gather(dictionary, indices, out),
        (Values::Fixed(dictionary), Values::Fixed(out)) if dictionary.width() == out.width() => {
            check_indices(indices, dictionary.len())?;
            out.push_with(indices.len(), |out| {
                kernels::gather_fixed(&dictionary.as_bytes(), dictionary.width(), indices, out);
            });
            Ok(())
        }
        (Values::Bytes(dictionary), Values::Bytes(out)) => out
            .push_views(dictionary.buffers(), |views, base| {
                kernels::gather_views(dictionary.views(), indices, base, views)
            }),
        (dictionary, out) => return Err(crate::values::wrong_shape(dictionary.shape(), out)),
    };
    looked_up.map_err(|max| outside(max, dictionary.len()))
}

/// Fails if one of `indices` is outside a dictionary of `len` values.
pub fn check_indices(indices: &[u32], len: usize) -> Result<()> {
    let max = kernels::max_u32(indices);
    match max as usize >= len && !indices.is_empty() {
        true => Err(outside(max, len)),
        false => Ok(()),
    }
}

#[cold]
fn outside(index: u32, len: usize) -> Error {
    Error::corrupt(format!("dictionary index {index} in a dictionary of {len} values"))
}

/// The index stream of a data page. As a [`Decode`] it gives the indices themselves, as 32-bit words: the keys of a
/// dictionary array.
#[derive(Debug)]
pub struct Indices(Hybrid);

impl Indices {
    /// Reads the width.
    pub fn new(page: &PaddedBytes) -> Result<Self> {
        if page.is_empty() {
            // QUIRK: a page of nulls only may lack even the width (parquet-cpp, Impala). No value can be asked for.
            return Ok(Indices(Hybrid::new(page.clone(), 0)?));
        }
        let width = ByteCursor::new(page.as_slice()).u8()?;
        if width > 32 {
            return Err(Error::corrupt(format!("dictionary index width {width} > 32")));
        }
        Ok(Indices(Hybrid::new(page.slice(1..page.len()), u32::from(width))?))
    }
}

impl Indices {
    /// How many entries of a dictionary are asked for by the next `n` indices, or as many as there are: one more than the
    /// largest.
    pub fn entries_needed(mut self, n: usize) -> Result<usize> {
        let hybrid = &mut self.0;
        let width = hybrid.width();
        let (mut needed, mut left, mut scratch) = (0, n, Vec::new());
        while left > 0 && !hybrid.is_exhausted() {
            match hybrid.next(left)? {
                Piece::Repeated { value, n } => {
                    left -= n;
                    needed = needed.max(value as usize + 1);
                }
                Piece::Packed { bytes, first, n } => {
                    left -= n;
                    for from in (first..first + n).step_by(INDEX_BLOCK) {
                        scratch.clear();
                        let take = (first + n - from).min(INDEX_BLOCK);
                        kernels::unpack_u32(bytes, width, from, take, &mut scratch);
                        needed = needed.max(kernels::max_u32(&scratch) as usize + 1);
                    }
                }
            }
        }
        Ok(needed)
    }
}

impl Decode for Indices {
    fn decode(&mut self, n: usize, out: &mut Values) -> Result<()> {
        self.0.decode(n, out.as_w32()?)
    }

    fn skip(&mut self, n: usize) -> Result<()> {
        self.0.skip(n)
    }

    fn is_exhausted(&self) -> bool {
        self.0.is_exhausted()
    }
}

/// Looks values up as it reads their indices.
#[derive(Debug)]
pub struct Decoder {
    indices: Indices,
    block: Block,
}

/// Indices that are looked up together.
#[derive(Debug)]
struct Block {
    dictionary: Arc<Dictionary>,
    indices: Vec<u32>,
}

impl Decoder {
    /// Fails if the page has no dictionary.
    pub fn new(page: &EncodedPage) -> Result<Self> {
        let dictionary = page
            .dictionary
            .clone()
            .ok_or_else(|| Error::corrupt("dictionary indices without a dictionary page"))?;
        Decoder::of(&page.bytes, dictionary)
    }

    fn of(page: &PaddedBytes, dictionary: Arc<Dictionary>) -> Result<Self> {
        Ok(Decoder { indices: Indices::new(page)?, block: Block { dictionary, indices: Vec::new() } })
    }
}

impl Block {
    /// Looks up what is there, if there are at least so many.
    fn look_up_from(&mut self, least: usize, out: &mut Values) -> Result<()> {
        if self.indices.len() >= least {
            self.dictionary.look_up(&self.indices, out)?;
            self.indices.clear();
        }
        Ok(())
    }
}

impl Decode for Decoder {
    /// PERF: a run that is long is a value repeated. Short ones and what is packed between them are unpacked together, and
    /// looked up together: to begin costs as much as some values do. Blocks of indices stay in the first-level cache.
    fn decode(&mut self, n: usize, out: &mut Values) -> Result<()> {
        let Decoder { indices: Indices(hybrid), block } = self;
        let width = hybrid.width();
        block.indices.clear();
        let mut left = n;
        while left > 0 {
            match hybrid.next(left)? {
                Piece::Repeated { value, n } if n < LONG_RUN => {
                    left -= n;
                    block.indices.resize(block.indices.len() + n, value);
                }
                Piece::Repeated { value, n } => {
                    left -= n;
                    block.look_up_from(1, out)?;
                    block.dictionary.repeat(value, n, out)?;
                }
                Piece::Packed { bytes, first, n } => {
                    left -= n;
                    for from in (first..first + n).step_by(INDEX_BLOCK) {
                        block.look_up_from(INDEX_BLOCK, out)?;
                        let take = (first + n - from).min(INDEX_BLOCK);
                        kernels::unpack_u32(bytes, width, from, take, &mut block.indices);
                    }
                }
            }
            block.look_up_from(INDEX_BLOCK, out)?;
        }
        block.look_up_from(1, out)
    }

    fn skip(&mut self, n: usize) -> Result<()> {
        self.indices.skip(n)
    }

    fn is_exhausted(&self) -> bool {
        self.indices.is_exhausted()
    }
}

/// Looks values up for a decoder that gives indices, which may have given some already.
pub struct LookUp {
    indices: Box<dyn Decode>,
    dictionary: Arc<Dictionary>,
    scratch: Values,
}

impl LookUp {
    /// The values of `dictionary` at the indices that `indices` goes on with.
    pub fn new(indices: Box<dyn Decode>, dictionary: Arc<Dictionary>) -> Self {
        LookUp { indices, dictionary, scratch: Shape::W32.empty() }
    }
}

impl Decode for LookUp {
    fn decode(&mut self, n: usize, out: &mut Values) -> Result<()> {
        self.scratch.clear();
        self.indices.decode(n, &mut self.scratch)?;
        self.dictionary.look_up(self.scratch.as_w32()?, out)
    }

    fn skip(&mut self, n: usize) -> Result<()> {
        self.indices.skip(n)
    }

    fn is_exhausted(&self) -> bool {
        self.indices.is_exhausted()
    }
}

/// Bitmap that an index into a dictionary of `len` values takes: enough for the last one.
pub fn index_width(len: usize) -> u32 {
    match len {
        0 => 0,
        len => usize::BITS - (len - 1).leading_zeros(),
    }
}

/// Appends a data page of `indices`, each of which must fit `width` bits.
///
/// # Panics
/// If the width is over 32.
pub fn encode_indices(indices: &[u32], width: u32, page: &mut Vec<u8>) {
    assert!(width <= 32, "width {width}");
    page.push(width as u8);
    rle::write_words(indices, width, page);
}

/// Collects a dictionary and writes indices into it.
#[derive(Debug)]
pub struct Encoder {
    builder: Builder,
    indices: Vec<u32>,
}

impl Encoder {
    /// An empty chunk of values of `shape`.
    pub fn new(shape: Shape) -> Self {
        Encoder { builder: Builder::new(shape), indices: Vec::new() }
    }

    fn width(&self) -> u32 {
        index_width(self.builder.len())
    }
}

impl Encode for Encoder {
    fn encode(&mut self, values: &Values, range: Range<usize>) -> Result<()> {
        self.builder.intern(values, range, &mut self.indices)
    }

    /// As if there were no runs.
    fn size(&self) -> usize {
        1 + 5 + (self.indices.len() * self.width() as usize).div_ceil(8)
    }

    fn finish(&mut self, page: &mut Vec<u8>) -> Result<()> {
        encode_indices(&self.indices, self.width(), page);
        self.indices.clear();
        Ok(())
    }

    fn dictionary(&self) -> Option<&Dictionary> {
        Some(self.builder.dictionary())
    }
}

/// Indices unpacked at a time: 4 KiB.
const INDEX_BLOCK: usize = 1024;
/// The shortest run whose string is not looked up with others.
const LONG_RUN: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_dictionary_has_width_zero() {
        let (bytes, dictionary) = encode(&Values::W32(vec![])).unwrap();
        assert_eq!(bytes, [0]);
        assert_eq!(decode(&bytes, &dictionary, 0).unwrap().len(), 0);
        assert!(decode(&bytes, &dictionary, 1).is_err());
    }

    #[test]
    fn an_index_outside_the_dictionary_is_refused() {
        let dictionary = Values::W64(vec![7, 8, 9]);
        let run = [
            2,    // width
            0x04, // a run of 2
            0x03, // index 3
        ];
        assert!(decode(&run, &dictionary, 2).unwrap_err().to_string().contains("index 3"));
        let packed = [
            2,           // width
            0x03,        // 1 group << 1 | packed
            0b1110_0100, // 0 1 2 3
            0,           // 0 0 0 0
        ];
        assert_eq!(decode(&packed, &dictionary, 3).unwrap(), Values::W64(vec![7, 8, 9]));
        assert!(decode(&packed, &dictionary, 4).is_err());
        assert!(decode(&[33, 0x04, 0x03], &dictionary, 1).is_err());
    }

    #[test]
    fn the_largest_index_says_how_many_entries_are_needed() {
        let values: Vec<u32> = (0..3000).map(|i| if i < 1500 { i % 700 } else { 900 + i % 2 }).collect();
        let mut page = Vec::new();
        encode_indices(&values, 10, &mut page);
        let needed = |n| Indices::new(&PaddedBytes::copy_of(&page)).unwrap().entries_needed(n).unwrap();
        assert_eq!(needed(1), 1);
        assert_eq!(needed(1500), 700);
        assert_eq!(needed(3000), 902);
        // A page of V1 does not say how many of its entries are null.
        assert_eq!(needed(4000), 902);
        assert_eq!(Indices::new(&PaddedBytes::copy_of(&[])).unwrap().entries_needed(3).unwrap(), 0);
    }

    #[test]
    fn views_of_two_dictionaries_can_follow_each_other() {
        let long = |c: char| std::iter::repeat_n(c, 20).collect::<String>();
        let (a, b) =
            (StringViews::from_iter([long('a')]), StringViews::from_iter([long('b'), "short".into()]));
        let mut out = Shape::Bytes.empty();
        for dictionary in [a, b] {
            let n = dictionary.len();
            let (bytes, dictionary) = encode(&Values::Bytes(dictionary)).unwrap();
            let dictionary = Arc::new(Dictionary::new(dictionary));
            Decoder::of(&PaddedBytes::copy_of(&bytes), dictionary).unwrap().decode(n, &mut out).unwrap();
        }
        assert_eq!(out, Values::Bytes(StringViews::from_iter([long('a'), long('b'), "short".into()])));
    }

    use crate::StringViews;
}
