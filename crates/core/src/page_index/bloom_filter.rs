//! Bloom filters beside the pages: a header, then bits.
//!
//! ```text
//! plain        header | bits
//! encrypted    module of the header | module of the bits
//! ```

use super::framed;
use crate::encryption::ChunkDecryptor;
use crate::metadata::ColumnChunk;
use crate::source::Source;
use crate::statistics::{BloomFilter, BloomFilterHead};
use bytes::Bytes;
use marquetry_base::{Error, Limits, Result};
use marquetry_crypto::{GCM_OVERHEAD, ModuleCipher, ModuleType};
use marquetry_format::{BloomFilterHeader, Reader};

/// Reads the header of the bloom filter of `chunk`; `None` if it has none.
///
/// Fails if it is damaged, or encrypted and there is no key.
pub fn read_bloom_filter_header(
    source: &dyn Source,
    chunk: ColumnChunk<'_>,
    limits: &Limits,
) -> Result<Option<BloomFilterHeader>> {
    let Some((offset, bytes)) = header_bytes(source, chunk, limits)? else { return Ok(None) };
    let header = BloomFilterHeader::read(&mut Reader::with_limits(&bytes.header, limits));
    header.map(Some).map_err(|error| placed(error, offset))
}

/// Reads the bloom filter of `chunk`, header and bits; `None` if it has none. Reads at most 128 MiB.
///
/// Fails if it is damaged, of an unknown kind, or encrypted and there is no key.
///
/// ```
/// use marquetry_core::page_index::read_bloom_filter;
/// # use marquetry_core::{metadata::ColumnChunk, source::Source};
/// # fn example(source: &dyn Source, chunk: ColumnChunk<'_>) -> marquetry_base::Result<()> {
/// if let Some(filter) = read_bloom_filter(source, chunk, &Default::default())?
///     && !filter.might_contain(b"Chile")
/// {
///     println!("no value of the chunk is Chile");
/// }
/// # Ok(())
/// # }
/// ```
pub fn read_bloom_filter(
    source: &dyn Source,
    chunk: ColumnChunk<'_>,
    limits: &Limits,
) -> Result<Option<BloomFilter>> {
    let Some(bytes) = read_bloom_filter_bytes(source, chunk, limits)? else { return Ok(None) };
    let offset = chunk.bloom_filter_offset().unwrap_or(0);
    BloomFilter::read(&bytes).map(Some).map_err(|error| placed(error, offset))
}

/// Reads header and bits of the bloom filter of `chunk`, decrypted if they are encrypted; `None` if it has none. Reads
/// at most 128 MiB.
///
/// Fails like [`read_bloom_filter`].
pub fn read_bloom_filter_bytes(
    source: &dyn Source,
    chunk: ColumnChunk<'_>,
    limits: &Limits,
) -> Result<Option<Bytes>> {
    let Some((offset, first)) = header_bytes(source, chunk, limits)? else { return Ok(None) };
    let head = BloomFilterHead::read(&first.header).map_err(|error| placed(error, offset))?;
    let read = |at: u64, len: usize| source.read_at(at, len).map_err(|error| framed(error, NAME));
    let Some((decryptor, module_len)) = first.encrypted else {
        return read(offset, head.total_bytes()).map(Some);
    };
    let at = offset.saturating_add(module_len as u64);
    let module = read(at, head.num_bytes() + GCM_OVERHEAD)?;
    let bits = decryptor.open(ModuleType::BloomFilterBitset, &module).map_err(|error| placed(error, at))?;
    // QUIRK: parquet-mr encrypts the whole of a buffer of 100 bytes that begins with the header.
    let header = &first.header[..head.header_bytes()];
    Ok(Some([header, &bits[..]].concat().into()))
}

/// A filter's header, and perhaps bytes behind it.
struct HeaderBytes {
    header: Bytes,
    /// The decryptor of the bits, and the length of the header's module.
    encrypted: Option<(ChunkDecryptor, usize)>,
}

/// Reads the first bytes of the filter, which contain its header. Also returns their offset.
fn header_bytes(
    source: &dyn Source,
    chunk: ColumnChunk<'_>,
    limits: &Limits,
) -> Result<Option<(u64, HeaderBytes)>> {
    // QUIRK: writers without a filter omit its offset, or set it to 0.
    let Some(offset) = chunk.bloom_filter_offset().filter(|offset| *offset > 0) else { return Ok(None) };
    // The footer may omit the length, and if it does not, it includes the bits, while the header alone is short.
    let end = offset.saturating_add(LONGEST_HEADER).min(source.len());
    if end <= offset {
        return Ok(None);
    }
    let decryptor = chunk.decryptor()?;
    limits.cancel.check()?;
    let bytes = source.read_at(offset, (end - offset) as usize).map_err(|error| framed(error, NAME))?;
    let Some(decryptor) = decryptor else {
        return Ok(Some((offset, HeaderBytes { header: bytes, encrypted: None })));
    };
    let len = ModuleCipher::framed_len(&bytes).and_then(|len| usize::try_from(len).ok());
    let Some(module) = len.and_then(|len| bytes.get(..len)) else {
        return Err(placed(not_encrypted(&bytes), offset));
    };
    let header =
        decryptor.open(ModuleType::BloomFilterHeader, module).map_err(|error| placed(error, offset))?;
    let encrypted = Some((decryptor, module.len()));
    Ok(Some((offset, HeaderBytes { header: header.into(), encrypted })))
}

/// Returns the error for a filter that is not encrypted. QUIRK: arrow-rs does not encrypt the filters of encrypted
/// columns. Anybody could have written such a filter, so it is not trusted.
#[cold]
fn not_encrypted(bytes: &[u8]) -> Error {
    match BloomFilterHead::read(bytes).is_ok() {
        true => Error::unsupported("it is not encrypted, and its column is: it is not believed"),
        false => Error::corrupt("neither an encrypted header nor a plain one"),
    }
}

fn placed(error: Error, offset: u64) -> Error {
    framed(error, NAME).offset_by(offset).at(offset)
}

const NAME: &str = "bloom filter";
/// Maximum length of a header in bytes. Four fields take some twenty bytes; unions of later versions may take more.
const LONGEST_HEADER: u64 = 256;
