//! Opens pages whose codec and levels are uncertain.

use crate::found_page::FoundPage;
use crate::window::Window;
use marquetry_base::{ByteCursor, Error, MemoryBudget, MemoryReservation, PaddedBytes, Result};
use marquetry_codec::{Codec, Decompressor};
use marquetry_core::schema::Leaf;
use marquetry_encoding::levels::Levels;
use marquetry_encoding::{PhysicalType, Shape};
use marquetry_format::{DataPageHeaderV2, Encoding};

/// The decompressed parts of a page. A dictionary page has values only.
pub(crate) struct Opened {
    pub(crate) rep: Levels,
    pub(crate) def: Levels,
    pub(crate) values: PaddedBytes,
    /// The reservation of their memory.
    _held: MemoryReservation,
}

/// Returns the codecs that decompress a page to the size in its header, the likeliest first. If there are none, the
/// bytes are not a page.
pub(crate) fn fitting_codecs(
    window: &mut Window,
    page: &FoundPage,
    preferred: Option<Codec>,
    decompressor: &mut Decompressor,
) -> Result<Vec<Codec>> {
    let (_, stored, size, is_compressed) = parts(window, page)?;
    let bytes = stored.as_slice();
    if !is_compressed || bytes.is_empty() {
        return Ok(vec![preferred.unwrap_or(Codec::Uncompressed)]);
    }
    let mut codecs: Vec<Codec> = preferred.into_iter().collect();
    codecs.extend(CODECS.into_iter().filter(|codec| Some(*codec) != preferred));
    let mut out = Vec::new();
    for codec in codecs {
        // Codecs without magic bytes and checksum fit by chance, so they are tried last.
        let may_be = !matches!(codec, Codec::Lz4 | Codec::Lzo | Codec::Brotli) || out.is_empty();
        if may_be && decompresses(codec, bytes, size, decompressor) {
            out.push(codec);
        }
    }
    Ok(out)
}

/// Whether a page shows which codec compresses its chunk. Uncompressed V2 pages may be in a chunk of any codec, and so
/// may pages without values.
pub(crate) fn tells_codec(page: &FoundPage) -> bool {
    let len = page.end - page.body;
    let size = u64::from(page.header.uncompressed_page_size.unsigned_abs());
    let Some(v2) = &page.header.data_page_header_v2 else { return len > 0 };
    let levels = [v2.repetition_levels_byte_length, v2.definition_levels_byte_length];
    let levels: u64 = levels.into_iter().map(|len| u64::from(len.max(0).unsigned_abs())).sum();
    len > levels && is_compressed(v2, size, len)
}

/// QUIRK: parquet-cpp before 2.0 marked no V2 page as compressed (ARROW-17100). The sizes show it.
fn is_compressed(v2: &DataPageHeaderV2, size: u64, len: u64) -> bool {
    v2.is_compressed || size != len
}

/// Returns the codec that fits most of a sample of pages, or `None` if none does. A single page may fit another codec
/// by chance.
pub(crate) fn likeliest_codec(window: &mut Window, pages: &[FoundPage]) -> Option<Codec> {
    let mut decompressor = Decompressor::new();
    let mut counts = [0u32; CODECS.len()];
    let telling = pages.iter().filter(|page| tells_codec(page)).count();
    let step = telling.div_ceil(CODEC_SAMPLE).max(1);
    let mut sampled = 0;
    for page in pages.iter().filter(|page| tells_codec(page)).step_by(step) {
        // A few bytes can decompress to very many.
        if sampled >= SAMPLED_BYTES {
            break;
        }
        sampled += page.uncompressed();
        for codec in fitting_codecs(window, page, None, &mut decompressor).unwrap_or_default() {
            counts
                .iter_mut()
                .zip(CODECS)
                .filter(|(_, known)| *known == codec)
                .for_each(|(count, _)| *count += 1);
        }
    }
    let most = counts.iter().copied().max().filter(|most| *most > 0)?;
    // Uncompressed bytes hardly ever decompress to their own size, so any other codec is likelier.
    let mut likeliest = CODECS.into_iter().zip(counts).filter(|(_, count)| *count == most);
    let others = likeliest.clone().find(|(codec, _)| *codec != Codec::Uncompressed);
    others.or_else(|| likeliest.next()).map(|(codec, _)| codec)
}

/// Whether a codec decompresses a page to the size in its header.
pub(crate) fn fits_codec(
    window: &mut Window,
    page: &FoundPage,
    codec: Codec,
    decompressor: &mut Decompressor,
) -> Result<bool> {
    let (_, stored, size, is_compressed) = parts(window, page)?;
    let bytes = stored.as_slice();
    Ok(!is_compressed || bytes.is_empty() || decompresses(codec, bytes, size, decompressor))
}

fn decompresses(codec: Codec, bytes: &[u8], size: usize, decompressor: &mut Decompressor) -> bool {
    let is_likely = match codec {
        Codec::Uncompressed => return bytes.len() == size,
        Codec::Zstd => bytes.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]),
        Codec::Gzip => bytes.starts_with(&[0x1f, 0x8b]),
        _ => true,
    };
    let Ok(_held) = MemoryBudget::of_process().reserve(size) else { return false };
    is_likely && decompressor.decompress(codec, bytes, size, &mut Vec::new()).is_ok()
}

/// Decompresses a page with `codec`, and returns its levels and values.
pub(crate) fn open(
    window: &mut Window,
    page: &FoundPage,
    codec: Codec,
    (max_rep, max_def): (u8, u8),
    decompressor: &mut Decompressor,
) -> Result<Opened> {
    let (levels, stored, size, is_compressed) = parts(window, page)?;
    let mut held = MemoryBudget::of_process().empty();
    let values = if codec == Codec::Uncompressed || !is_compressed || stored.is_empty() {
        stored
    } else {
        held.grow(size)?;
        let mut plain = Vec::new();
        decompressor.decompress(codec, stored.as_slice(), size, &mut plain)?;
        PaddedBytes::from(plain)
    };
    if let Some(v2) = &page.header.data_page_header_v2 {
        let rep_len = (v2.repetition_levels_byte_length.max(0) as usize).min(levels.len());
        let rep = Levels::rle(levels.slice(0..rep_len), max_rep)?;
        let def = Levels::rle(levels.slice(rep_len..levels.len()), max_def)?;
        return Ok(Opened { rep, def, values, _held: held });
    }
    let Some(v1) = page.header.data_page_header.as_ref().filter(|_| !page.is_dictionary()) else {
        return Ok(Opened { rep: Levels::zero(), def: Levels::zero(), values, _held: held });
    };
    let n = page.values() as usize;
    let (rep, rep_len) = Levels::v1(v1.repetition_level_encoding.0, &values, max_rep, n)?;
    let rest = values.slice(rep_len..values.len());
    let (def, def_len) = Levels::v1(v1.definition_level_encoding.0, &rest, max_def, n)?;
    Ok(Opened { rep, def, values: rest.slice(def_len..rest.len()), _held: held })
}

/// Returns the number of rows that begin in a data page. Fails if its levels cannot be read.
pub(crate) fn count_rows(
    window: &mut Window,
    page: &FoundPage,
    codec: Codec,
    levels: (u8, u8),
    decompressor: &mut Decompressor,
) -> Result<u64> {
    let mut opened = open(window, page, codec, levels, decompressor)?;
    let (mut left, mut rows, mut block) = (page.values() as usize, 0, Vec::new());
    while left > 0 {
        block.clear();
        let n = left.min(LEVELS_PER_BLOCK);
        opened.rep.decode(n, &mut block)?;
        rows += block.iter().filter(|&&rep| rep == 0).count() as u64;
        left -= n;
    }
    Ok(rows)
}

/// Whether a data page has any value that is not null. Fails if its levels cannot be read.
pub(crate) fn has_values(
    window: &mut Window,
    page: &FoundPage,
    codec: Codec,
    levels: (u8, u8),
    decompressor: &mut Decompressor,
) -> Result<bool> {
    Ok(count_values(page, &mut open(window, page, codec, levels, decompressor)?)? > 0)
}

fn count_values(page: &FoundPage, opened: &mut Opened) -> Result<usize> {
    let (mut left, mut values, mut scratch) = (page.values() as usize, 0, Vec::new());
    while left > 0 {
        let n = left.min(LEVELS_PER_BLOCK);
        values += opened.def.skip(n, &mut scratch)?;
        left -= n;
    }
    Ok(values)
}

/// Whether PLAIN values of the column fill a page to its last byte, except for `padding` zeros. True for other encodings.
pub(crate) fn is_filled(
    window: &mut Window,
    page: &FoundPage,
    codec: Codec,
    leaf: &Leaf,
    padding: usize,
    decompressor: &mut Decompressor,
) -> Result<bool> {
    if page.encoding() != Encoding::PLAIN && !page.is_dictionary() {
        return Ok(true);
    }
    let mut opened = open(window, page, codec, (leaf.max_rep(), leaf.max_def()), decompressor)?;
    let n = match page.header.dictionary_page_header.as_ref().filter(|_| page.is_dictionary()) {
        Some(dictionary) => dictionary.num_values.max(0) as usize,
        None => count_values(page, &mut opened)?,
    };
    let bytes = opened.values.as_slice();
    let (values, zeros) = bytes.split_at(bytes.len().saturating_sub(padding));
    let is_padded = padding > 0 && zeros.iter().all(|&byte| byte == 0);
    Ok(fills(bytes, n, leaf.physical()) || is_padded && fills(values, n, leaf.physical()))
}

/// Whether `n` PLAIN values take exactly these bytes.
pub(crate) fn fills(bytes: &[u8], n: usize, physical: PhysicalType) -> bool {
    match physical.shape() {
        Shape::Bit => bytes.len() == n.div_ceil(8),
        Shape::W32 => Some(bytes.len()) == n.checked_mul(4),
        Shape::W64 => Some(bytes.len()) == n.checked_mul(8),
        Shape::Fixed(width) => Some(bytes.len()) == n.checked_mul(width),
        Shape::Bytes => {
            let mut cursor = ByteCursor::new(bytes);
            (0..n).all(|_| cursor.u32_le().and_then(|len| cursor.skip(len as usize)).is_ok())
                && cursor.is_empty()
        }
    }
}

/// Returns the levels of a V2 page, the bytes that may be compressed, their size before compression, and whether they
/// are compressed.
fn parts(window: &mut Window, page: &FoundPage) -> Result<(PaddedBytes, PaddedBytes, usize, bool)> {
    let bytes = window.at(page.body, (page.end - page.body) as usize)?;
    let size = page.header.uncompressed_page_size.max(0) as usize;
    let mut levels = 0;
    let mut is_compressed = true;
    if let Some(v2) = &page.header.data_page_header_v2 {
        levels = v2.repetition_levels_byte_length.max(0) as usize
            + v2.definition_levels_byte_length.max(0) as usize;
        is_compressed = self::is_compressed(v2, size as u64, bytes.len() as u64);
    }
    let Some(size) = size.checked_sub(levels).filter(|_| levels <= bytes.len()) else {
        return Err(Error::corrupt(format!("{levels} bytes of levels in a page of {}", bytes.len())));
    };
    Ok((
        PaddedBytes::from_file_range(&bytes, 0..levels),
        PaddedBytes::from_file_range(&bytes, levels..bytes.len()),
        size,
        is_compressed,
    ))
}

/// All codecs, those with magic bytes or a length first.
const CODECS: [Codec; 8] = [
    Codec::Uncompressed,
    Codec::Zstd,
    Codec::Gzip,
    Codec::Snappy,
    Codec::Lz4Raw,
    Codec::Brotli,
    Codec::Lz4,
    Codec::Lzo,
];
/// Number of pages that are sampled to find the likeliest codec.
const CODEC_SAMPLE: usize = 64;
/// Sampling stops once the pages have this many bytes together, uncompressed.
const SAMPLED_BYTES: u64 = 1 << 30;
/// Number of levels decoded at a time.
const LEVELS_PER_BLOCK: usize = 4096;
