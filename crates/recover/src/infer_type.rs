//! Infers the types that a column may have from one data page of it and its dictionary.
//!
//! Guesses with levels come first: bytes are hardly ever a whole stream of levels by chance.

use crate::byte_histogram::ByteHistogram;
use crate::found_page::FoundPage;
use crate::open_page::{fills, fits_codec, fitting_codecs, open};
use crate::report::Confidence;
use crate::search_budget::SearchBudget;
use crate::window::Window;
use marquetry_base::{ByteCursor, MemoryBudget, PaddedBytes};
use marquetry_codec::{Codec, Decompressor};
use marquetry_encoding::{EncodedPage, PhysicalType, Values, registry};
use marquetry_format::Encoding;

/// A possible type of a column, with its levels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Guess {
    pub(crate) physical: PhysicalType,
    pub(crate) max_rep: u8,
    pub(crate) max_def: u8,
    pub(crate) confidence: Confidence,
    pub(crate) why: &'static str,
    /// Whether the page has only nulls, which fit any physical type.
    pub(crate) is_blank: bool,
}

impl Guess {
    pub(crate) fn levels(&self) -> (u8, u8) {
        (self.max_rep, self.max_def)
    }
}

/// The possible types of a chunk, inferred from one of its pages.
#[derive(Debug, Default)]
pub(crate) struct ChunkKind {
    /// All guesses that fit, the likeliest first. Empty if none fits.
    pub(crate) guesses: Vec<Guess>,
    /// The histogram of the dictionary's bytes, or of the page's if there is no dictionary.
    pub(crate) histogram: ByteHistogram,
}

/// Returns all types and levels that fit a page. The codec `preferred` is tried first.
pub(crate) fn infer_chunk_kind(
    window: &mut Window,
    dictionary: Option<&FoundPage>,
    data: &FoundPage,
    preferred: Option<Codec>,
    budget: &mut SearchBudget,
) -> ChunkKind {
    let mut decompressor = Decompressor::new();
    let first = dictionary.unwrap_or(data);
    let cost = LEAST_COST + data.uncompressed() + data.values() + first.uncompressed();
    if !budget.spend(cost) || data.values() > MAX_VALUES {
        return ChunkKind::default();
    }
    // A page that compression made smaller shows the codec.
    let telling =
        if first.end - first.body == first.header.uncompressed_page_size as u64 { data } else { first };
    if let Some(codec) = preferred
        && fits_codec(window, telling, codec, &mut decompressor).unwrap_or(false)
        && let Some(kind) = kind_by_codec(window, dictionary, data, codec, &mut decompressor)
    {
        return kind;
    }
    if !budget.spend(ALL_CODECS_COST + cost) {
        return ChunkKind::default();
    }
    let codecs = fitting_codecs(window, telling, None, &mut decompressor).unwrap_or_default();
    let mut kinds =
        codecs.into_iter().map(|codec| kind_by_codec(window, dictionary, data, codec, &mut decompressor));
    kinds.find_map(|kind| kind).unwrap_or_default()
}

/// Returns all types and levels that fit a page compressed by `codec`, or `None` if there are none.
fn kind_by_codec(
    window: &mut Window,
    dictionary: Option<&FoundPage>,
    data: &FoundPage,
    codec: Codec,
    decompressor: &mut Decompressor,
) -> Option<ChunkKind> {
    let dictionary = match dictionary {
        Some(page) => {
            let count = page.header.dictionary_page_header.as_ref().map_or(0, |header| header.num_values);
            Some((count, open(window, page, codec, (0, 0), decompressor).ok()?.values))
        }
        None => None,
    };
    let parts = Parts::new(window, data, codec, decompressor)?;
    let guesses = parts.guesses(data, dictionary.as_ref());
    let first = guesses.first()?;
    let bytes = dictionary.as_ref().map_or(parts.bytes(), |(_, bytes)| bytes);
    let histogram = ByteHistogram::new(bytes.as_slice(), first.physical);
    Some(ChunkKind { guesses, histogram })
}

/// A data page without its header.
enum Parts {
    V1(PaddedBytes),
    V2 { rep: PaddedBytes, def: PaddedBytes, values: PaddedBytes },
}

impl Parts {
    fn new(
        window: &mut Window,
        page: &FoundPage,
        codec: Codec,
        decompressor: &mut Decompressor,
    ) -> Option<Parts> {
        let values = open(window, page, codec, (0, 0), decompressor).ok()?.values;
        let Some(v2) = &page.header.data_page_header_v2 else { return Some(Parts::V1(values)) };
        let (rep, def) =
            (v2.repetition_levels_byte_length as usize, v2.definition_levels_byte_length as usize);
        let levels = window.at(page.body, rep.checked_add(def)?).ok()?;
        if levels.len() < rep + def {
            return None;
        }
        let (rep, def) = (
            PaddedBytes::from_file_range(&levels, 0..rep),
            PaddedBytes::from_file_range(&levels, rep..rep + def),
        );
        Some(Parts::V2 { rep, def, values })
    }

    /// Returns the decompressed bytes: levels and values of a V1 page, values of a V2 page.
    fn bytes(&self) -> &PaddedBytes {
        match self {
            Parts::V1(bytes) | Parts::V2 { values: bytes, .. } => bytes,
        }
    }

    fn guesses(&self, page: &FoundPage, dictionary: Option<&(i32, PaddedBytes)>) -> Vec<Guess> {
        let n = page.values() as usize;
        let mut out = Vec::new();
        let kind = ValueEncoding { encoding: page.encoding(), dictionary };
        let (widths_of_rep, widths_of_def): (&[u32], &[u32]) = match self {
            Parts::V1(_) => (&[1, 2, 0], &[1, 2, 3, 0]),
            Parts::V2 { rep, def, .. } => {
                (if rep.is_empty() { &[0] } else { &[1, 2] }, if def.is_empty() { &[0] } else { &[1, 2, 3] })
            }
        };
        for &rep_width in widths_of_rep {
            for &def_width in widths_of_def {
                // Lists may be empty, so a column in a list has definition levels.
                if rep_width > 0 && def_width == 0 {
                    continue;
                }
                out.extend(self.fits(n, rep_width, def_width, &kind).unwrap_or_default());
            }
        }
        out
    }

    /// Returns the guesses with levels of these bit widths.
    fn fits(&self, n: usize, rep_width: u32, def_width: u32, kind: &ValueEncoding<'_>) -> Option<Vec<Guess>> {
        let (rep, def, values) = match self {
            Parts::V2 { rep, def, values } => (Some(rep.clone()), Some(def.clone()), values.clone()),
            Parts::V1(bytes) => {
                let mut rest = bytes.clone();
                let mut take = |width: u32| -> Option<Option<PaddedBytes>> {
                    if width == 0 {
                        return Some(None);
                    }
                    let len = u32::from_le_bytes(*rest.as_slice().first_chunk()?) as usize;
                    let end = len.checked_add(4).filter(|end| *end <= rest.len())?;
                    let levels = rest.slice(4..end);
                    rest = rest.slice(end..rest.len());
                    Some(Some(levels))
                };
                let (rep, def) = (take(rep_width)?, take(def_width)?);
                (rep, def, rest)
            }
        };
        let read = |levels: Option<PaddedBytes>, width| match levels {
            Some(levels) if width > 0 => exact_levels(levels.as_slice(), width, n),
            _ => Some(vec![0; n]),
        };
        let (rep, def) = (read(rep, rep_width)?, read(def, def_width)?);
        if rep.first().is_some_and(|first| *first != 0) {
            return None;
        }
        let most = |levels: &[u8], width: u32| match width {
            0 => 0,
            width => levels.iter().copied().fold(1 << (width - 1), u8::max),
        };
        let (max_rep, least) = (most(&rep, rep_width), most(&def, def_width));
        // The maximum level may occur in no entry.
        let highest = ((1u16 << def_width) - 1) as u8;
        let mut out = Vec::new();
        for max_def in (least..=highest).filter(|max_def| *max_def >= max_rep) {
            let present = def.iter().filter(|def| **def == max_def).count();
            let is_blank = present == 0 && kind.dictionary.is_none_or(|(len, _)| *len == 0);
            let guess = |(physical, confidence, why): Typed| {
                let confidence = if max_def > 1 { confidence.max(Confidence::Medium) } else { confidence };
                Guess { physical, max_rep, max_def, confidence, why, is_blank }
            };
            out.extend(kind.types(&values, present).into_iter().map(guess));
        }
        Some(out)
    }
}

/// The encoding of a page's values, and its dictionary.
struct ValueEncoding<'a> {
    encoding: Encoding,
    dictionary: Option<&'a (i32, PaddedBytes)>,
}

type Typed = (PhysicalType, Confidence, &'static str);

impl ValueEncoding<'_> {
    /// Returns the types of which `n` values can fill these bytes, the likeliest first.
    fn types(&self, values: &PaddedBytes, n: usize) -> Vec<Typed> {
        let bytes = values.as_slice();
        let by_dictionary = self.dictionary.map(|(len, dictionary)| {
            plain(dictionary.as_slice(), usize::try_from(*len).unwrap_or(usize::MAX), true)
        });
        let dictionary_len = self.dictionary.map_or(0, |(len, _)| len.unsigned_abs());
        let decodes = |physical: &PhysicalType| decodes(self.encoding, values, n, *physical);
        // Values after a fallback from the dictionary have its type.
        if let (Some(types), Encoding::PLAIN | Encoding::DELTA_BINARY_PACKED | Encoding::BYTE_STREAM_SPLIT) =
            (&by_dictionary, self.encoding)
        {
            return types.iter().copied().filter(|(physical, ..)| decodes(physical)).collect();
        }
        let one = |physical, confidence, why| vec![(physical, confidence, why)];
        match self.encoding {
            Encoding::PLAIN => plain(bytes, n, false),
            Encoding::PLAIN_DICTIONARY | Encoding::RLE_DICTIONARY => {
                let fits = match bytes.split_first() {
                    Some((width, rest)) => {
                        *width <= 32 && exact_keys(rest, u32::from(*width), n, dictionary_len)
                    }
                    None => n == 0,
                };
                by_dictionary.filter(|_| fits).unwrap_or_default()
            }
            Encoding::RLE => match bytes.split_first_chunk::<4>() {
                Some((len, rest))
                    if u32::from_le_bytes(*len) as usize == rest.len()
                        && exact_levels(rest, 1, n).is_some() =>
                {
                    one(PhysicalType::Boolean, Confidence::Exact, "RLE values are BOOLEAN")
                }
                _ => Vec::new(),
            },
            Encoding::DELTA_BINARY_PACKED => deltas(values, n),
            Encoding::DELTA_LENGTH_BYTE_ARRAY | Encoding::DELTA_BYTE_ARRAY
                if decodes(&PhysicalType::ByteArray) =>
            {
                let is_of_lengths = self.encoding == Encoding::DELTA_LENGTH_BYTE_ARRAY;
                let confidence = if is_of_lengths { Confidence::Exact } else { Confidence::High };
                one(PhysicalType::ByteArray, confidence, "the encoding is one of byte strings")
            }
            Encoding::BYTE_STREAM_SPLIT if n > 0 && bytes.len().is_multiple_of(n) => match bytes.len() / n {
                4 => one(
                    PhysicalType::Float,
                    Confidence::Medium,
                    "split streams of 4 bytes, most likely FLOAT",
                ),
                8 => one(
                    PhysicalType::Double,
                    Confidence::Medium,
                    "split streams of 8 bytes, most likely DOUBLE",
                ),
                width => one(PhysicalType::FixedLenByteArray(width), Confidence::High, "split streams"),
            },
            Encoding::ALP => [PhysicalType::Float, PhysicalType::Double]
                .into_iter()
                .filter(decodes)
                .map(|physical| (physical, Confidence::High, "ALP decodes as this type"))
                .collect(),
            _ => Vec::new(),
        }
    }
}

/// Returns the types of which `n` PLAIN values fill the bytes, the likeliest first.
fn plain(bytes: &[u8], n: usize, is_dictionary: bool) -> Vec<Typed> {
    if n == 0 {
        let why = "there is no value to tell the type";
        let any = (PhysicalType::ByteArray, Confidence::Low, why);
        return if bytes.is_empty() { vec![any] } else { Vec::new() };
    }
    let mut out = Vec::new();
    if fills(bytes, n, PhysicalType::ByteArray) {
        let confidence = if n < 4 { Confidence::Medium } else { Confidence::High };
        out.push((
            PhysicalType::ByteArray,
            confidence,
            "lengths lead from value to value, to the end of the page",
        ));
    }
    if !is_dictionary && bytes.len() == n.div_ceil(8) {
        out.push((PhysicalType::Boolean, Confidence::High, "a bit for each value"));
    }
    if bytes.is_empty() || !bytes.len().is_multiple_of(n) {
        return out;
    }
    out.push(match bytes.len() / n {
        4 => {
            let words =
                bytes.chunks_exact(4).filter_map(|word| word.first_chunk().copied().map(u32::from_le_bytes));
            narrow(words)
        }
        8 => {
            let words =
                bytes.chunks_exact(8).filter_map(|word| word.first_chunk().copied().map(u64::from_le_bytes));
            wide(words)
        }
        12 if bytes.chunks_exact(12).take(SAMPLE).all(is_julian) => {
            (PhysicalType::Int96, Confidence::High, "12 bytes whose last are a Julian day")
        }
        width => {
            (PhysicalType::FixedLenByteArray(width), Confidence::High, "values of this width fill the page")
        }
    });
    // Empty strings look like the number 0, and a string of four zero bytes, behind its length 4, like the number 4.
    // Numbers are likelier.
    let is_number = match bytes.len() / n {
        4 => true,
        8 => bytes.chunks_exact(8).all(|word| word.ends_with(&[0; 4])),
        _ => false,
    };
    if let [(PhysicalType::ByteArray, ..), _] = out[..] {
        let [likelier, other] = if is_number { [1, 0] } else { [0, 1] };
        out[other].1 = Confidence::Low;
        out.swap(0, likelier);
    }
    out
}

/// Chooses INT32 or FLOAT, by whether the words are floats of usual size.
fn narrow(words: impl Iterator<Item = u32>) -> Typed {
    let (mut floats, mut ints) = (0, 0);
    for word in words.take(SAMPLE).filter(|word| *word != 0) {
        let exponent = (word >> 23 & 0xff) as i32 - 127;
        match (-64..64).contains(&exponent) && (word as i32).unsigned_abs() > 1 << 24 {
            true => floats += 1,
            false => ints += 1,
        }
    }
    match floats > ints * 4 {
        true => (
            PhysicalType::Float,
            Confidence::Medium,
            "4 bytes, INT32 or FLOAT: as FLOAT they are of usual size",
        ),
        false => (
            PhysicalType::Int32,
            Confidence::Medium,
            "4 bytes, INT32 or FLOAT: as FLOAT they would be of odd size",
        ),
    }
}

/// Chooses INT64 or DOUBLE, by whether the words are floats of usual size.
fn wide(words: impl Iterator<Item = u64>) -> Typed {
    let (mut floats, mut ints) = (0, 0);
    for word in words.take(SAMPLE).filter(|word| *word != 0) {
        let exponent = (word >> 52 & 0x7ff) as i32 - 1023;
        match (-128..128).contains(&exponent) {
            true => floats += 1,
            false => ints += 1,
        }
    }
    match floats > ints * 4 {
        true => (
            PhysicalType::Double,
            Confidence::Medium,
            "8 bytes, INT64 or DOUBLE: as DOUBLE they are of usual size",
        ),
        false => (
            PhysicalType::Int64,
            Confidence::Medium,
            "8 bytes, INT64 or DOUBLE: as DOUBLE they would be of odd size",
        ),
    }
}

/// Returns the possible integer types of DELTA_BINARY_PACKED values, which do not show their width.
///
/// Values of 32 bits look the same as INT32 and as INT64. Wider ones may belong to an INT32 column whose deltas wrap
/// around: then no type is certain.
fn deltas(values: &PaddedBytes, n: usize) -> Vec<Typed> {
    let (mut is_narrow, mut may_wrap, mut before) = (true, true, 0i64);
    let see = |values: &Values| {
        let Values::W64(words) = values else { return };
        for value in words.iter().map(|word| *word as i64) {
            is_narrow &= i32::try_from(value).is_ok();
            let delta = value.wrapping_sub(before);
            may_wrap &= (i64::from(i32::MIN)..1 << 33).contains(&delta);
            before = value;
        }
    };
    if !decode(Encoding::DELTA_BINARY_PACKED, values, n, PhysicalType::Int64, see) {
        return Vec::new();
    }
    let wide = (PhysicalType::Int64, Confidence::High, "deltas, and values are over 32 bits");
    let narrow = (PhysicalType::Int32, Confidence::Medium, "deltas, and all values are of 32 bits");
    match (is_narrow, may_wrap) {
        (true, _) => vec![narrow, (wide.0, Confidence::Low, narrow.2)],
        (false, false) => vec![wide],
        (false, true) => Vec::new(),
    }
}

fn decodes(encoding: Encoding, values: &PaddedBytes, n: usize, physical: PhysicalType) -> bool {
    // Decoders ignore bytes behind the last value.
    let is_exact = encoding != Encoding::PLAIN || fills(values.as_slice(), n, physical);
    is_exact && decode(encoding, values, n, physical, |_| {})
}

/// Decodes a page block by block, and passes each block to `see`. Returns false if that fails.
fn decode(
    encoding: Encoding,
    values: &PaddedBytes,
    n: usize,
    physical: PhysicalType,
    mut see: impl FnMut(&Values),
) -> bool {
    let page = EncodedPage {
        bytes: values.clone(),
        max_values: n,
        physical,
        dictionary: None,
        memory: MemoryBudget::of_process(),
    };
    let Ok(mut decoder) = registry::decoder(encoding.0, &page) else { return false };
    let mut left = n;
    while left > 0 {
        let mut out = physical.shape().empty();
        let block = left.min(4096);
        if decoder.decode(block, &mut out).is_err() {
            return false;
        }
        see(&out);
        left -= block;
    }
    true
}

fn is_julian(value: &[u8]) -> bool {
    let day = value.last_chunk().map_or(0, |day| u32::from_le_bytes(*day));
    (1_500_000..4_000_000).contains(&day)
}

/// Decodes `n` RLE levels that fill the bytes. Returns `None` if they do not.
fn exact_levels(bytes: &[u8], width: u32, n: usize) -> Option<Vec<u8>> {
    is_exact(bytes, width, n).then_some(())?;
    let levels = marquetry_encoding::rle::decode(bytes, width, n).ok()?;
    Some(levels.into_iter().map(|level| level as u8).collect())
}

/// Whether `n` RLE indices fill the bytes, all below `len`.
fn exact_keys(bytes: &[u8], width: u32, n: usize, len: u32) -> bool {
    is_exact(bytes, width, n)
        && marquetry_encoding::rle::decode(bytes, width, n)
            .is_ok_and(|keys| keys.iter().all(|key| *key < len))
}

/// Whether a stream of runs has `n` values and ends where the bytes end.
fn is_exact(bytes: &[u8], width: u32, n: usize) -> bool {
    let mut cursor = ByteCursor::new(bytes);
    let (mut seen, n) = (0u64, n as u64);
    while seen < n {
        let Ok(header) = cursor.uleb128() else { return false };
        let count = header >> 1;
        let (values, len) = match header & 1 {
            1 => (count.saturating_mul(8), count.saturating_mul(u64::from(width))),
            _ => (count, u64::from(width.div_ceil(8))),
        };
        if count == 0 || header & 1 == 0 && seen.saturating_add(values) > n {
            return false;
        }
        seen = seen.saturating_add(values);
        if seen >= n.saturating_add(8) || !usize::try_from(len).is_ok_and(|len| cursor.skip(len).is_ok()) {
            return false;
        }
    }
    cursor.is_empty()
}

/// Minimum cost of a page, however short it is, and the cost of trying all codecs.
const LEAST_COST: u64 = 4 << 10;
const ALL_CODECS_COST: u64 = 64 << 10;
/// Number of values that decide between integers and floats.
const SAMPLE: usize = 4096;
/// Maximum number of entries of a page whose type is guessed.
const MAX_VALUES: u64 = 16 << 20;
