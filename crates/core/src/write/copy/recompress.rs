//! Recompresses a page with another codec.

use marquetry_base::{Error, MemoryBudget, Result};
use marquetry_codec::{Codec, Compressor, Decompressor};
use marquetry_format::{PageHeader, PageType};

/// A recompressor of pages.
pub(super) struct Recompressor {
    from: Codec,
    decompressor: Decompressor,
    compressor: Compressor,
    /// The uncompressed page.
    plain: Vec<u8>,
}

impl Recompressor {
    pub(super) fn new(from: Codec, to: Codec, level: Option<i32>) -> Result<Self> {
        let compressor = Compressor::new(to, level)?;
        Ok(Recompressor { from, decompressor: Decompressor::new(), compressor, plain: Vec::new() })
    }

    /// Returns a page's bytes under the new codec, and sets the new sizes in its header.
    pub(super) fn page(&mut self, header: &mut PageHeader, stored: &[u8]) -> Result<Vec<u8>> {
        let len = usize::try_from(header.uncompressed_page_size).map_err(|_| {
            Error::corrupt(format!("uncompressed_page_size is {}", header.uncompressed_page_size))
        })?;
        // Both forms of the page are in memory.
        let _held = MemoryBudget::of_process().reserve(len.saturating_mul(2))?;
        let mut out = Vec::new();
        if header.type_ == PageType::DATA_PAGE_V2 {
            let plain_len = self.v2(header, stored, len, &mut out)?;
            header.uncompressed_page_size = size(plain_len)?;
        } else {
            self.decompressor.decompress(self.from, stored, len, &mut self.plain)?;
            self.compressor.compress(&self.plain, &mut out)?;
        }
        header.compressed_page_size = size(out.len())?;
        Ok(out)
    }

    /// Copies the levels unchanged, and compresses the values under the new codec if that makes them smaller. Returns
    /// the page's size before compression.
    fn v2(&mut self, header: &mut PageHeader, stored: &[u8], len: usize, out: &mut Vec<u8>) -> Result<usize> {
        let Some(v2) = &mut header.data_page_header_v2 else {
            return Err(Error::corrupt("a DATA_PAGE_V2 without its header"));
        };
        let lengths = [v2.repetition_levels_byte_length, v2.definition_levels_byte_length];
        let [Ok(rep), Ok(def)] = lengths.map(usize::try_from) else {
            return Err(Error::corrupt(format!("{} and {} bytes of levels", lengths[0], lengths[1])));
        };
        let levels = rep + def;
        let (Some((level_bytes, values)), Some(values_len)) =
            (stored.split_at_checked(levels), len.checked_sub(levels))
        else {
            return Err(Error::corrupt(format!("{levels} bytes of levels in a page of {}", stored.len())));
        };
        out.extend_from_slice(level_bytes);
        let plain = if values.is_empty() {
            // QUIRK: a page of nulls only may have no value bytes, whatever size its header states.
            values
        } else {
            let from = if v2.is_compressed { self.from } else { Codec::Uncompressed };
            self.decompressor.decompress(from, values, values_len, &mut self.plain)?;
            &self.plain[..]
        };
        v2.is_compressed = false;
        if self.compressor.codec() != Codec::Uncompressed && !plain.is_empty() {
            self.compressor.compress(plain, out)?;
            v2.is_compressed = out.len() - levels < plain.len();
        }
        if !v2.is_compressed {
            out.truncate(levels);
            out.extend_from_slice(plain);
        }
        Ok(levels + plain.len())
    }
}

fn size(len: usize) -> Result<i32> {
    i32::try_from(len)
        .map_err(|_| Error::argument(format!("a page has at most {} bytes, not {len}", i32::MAX)))
}
