//! Decompresses page bytes with the codec that the column chunk names.

#[cfg(feature = "brotli")]
use crate::brotli;
use crate::codec::Codec;
#[cfg(feature = "gzip")]
use crate::gzip;
#[cfg(all(feature = "gzip-rust", not(feature = "gzip")))]
use crate::gzip_rust as gzip;
#[cfg(feature = "lz4")]
use crate::lz4;
#[cfg(feature = "lzo")]
use crate::lzo;
#[cfg(feature = "snappy")]
use crate::snappy;
#[cfg(feature = "zstd")]
use crate::zstd;
#[cfg(all(feature = "zstd-rust", not(feature = "zstd")))]
use crate::zstd_rust as zstd;
use marquetry_base::{PADDING, Result, try_reserve};

/// Decompresses pages of any codec. Use one per thread: the state of a codec is created at its first use and reused afterwards.
#[derive(Default)]
pub struct Decompressor {
    #[cfg(any(feature = "gzip", feature = "gzip-rust"))]
    gzip: gzip::Decompressor,
    #[cfg(any(feature = "zstd", feature = "zstd-rust"))]
    zstd: zstd::Decompressor,
}

impl Decompressor {
    /// Creates a decompressor without any codec state yet.
    pub fn new() -> Self {
        Decompressor::default()
    }

    /// Replaces the content of `output` with the `size` bytes that `input` decompresses to.
    ///
    /// `size` is the uncompressed size in the page header; check it against the limits first. No more memory is reserved than the input can
    /// fill. On success there are [`PADDING`] bytes of spare capacity after the page. An empty input is an empty page for every codec.
    ///
    /// # Errors
    /// `Corrupt` if the input is not valid for the codec or does not decompress to exactly `size` bytes; `Unsupported`
    /// if the codec's feature is off; `Memory` if the system has no memory for `size` bytes. `output` is then empty.
    pub fn decompress(
        &mut self,
        codec: Codec,
        input: &[u8],
        size: usize,
        output: &mut Vec<u8>,
    ) -> Result<()> {
        self.decompress_over(codec, input, size, output)?;
        output.truncate(size);
        Ok(())
    }

    /// Replaces the first `size` bytes of `output` with those that `input` decompresses to. Older content of `output`
    /// may follow them, so that a reader that decompresses page after page need not initialize its memory again.
    /// Otherwise like [`decompress`](Self::decompress).
    pub fn decompress_over(
        &mut self,
        codec: Codec,
        input: &[u8],
        size: usize,
        output: &mut Vec<u8>,
    ) -> Result<()> {
        // Only these codecs need initialized memory.
        if !matches!(codec, Codec::Snappy | Codec::Gzip | Codec::Lz4Raw) || input.is_empty() {
            output.clear();
        }
        if input.is_empty() {
            // QUIRK: V2 pages of nulls only have no value bytes, not even a codec's empty stream.
            codec.check_produced(0, size)?;
            output.reserve(PADDING);
            return Ok(());
        }
        clear_on_error(self.run(codec, input, size, output), output)
    }

    /// Replaces the content of `output` with the first `prefix` of the `size` bytes that `input` decompresses to. A
    /// codec that cannot stop early decompresses all of them: see [`Codec::supports_prefix`].
    ///
    /// The rest of the page is not checked: it may be damaged or have another size. Otherwise like [`decompress`](Self::decompress).
    pub fn decompress_prefix(
        &mut self,
        codec: Codec,
        input: &[u8],
        size: usize,
        prefix: usize,
        output: &mut Vec<u8>,
    ) -> Result<()> {
        match codec {
            #[cfg(feature = "snappy")]
            Codec::Snappy if prefix < size => {
                clear_on_error(snappy::decompress_prefix(input, size, prefix, output), output)
            }
            #[cfg(feature = "zstd")]
            Codec::Zstd if prefix < size => {
                clear_on_error(self.zstd.decompress_prefix(input, size, prefix, output), output)
            }
            _ => self.decompress(codec, input, size, output),
        }
    }

    fn run(&mut self, codec: Codec, input: &[u8], size: usize, output: &mut Vec<u8>) -> Result<()> {
        match codec {
            Codec::Uncompressed => copy(input, size, output),
            #[cfg(feature = "snappy")]
            Codec::Snappy => snappy::decompress(input, size, output),
            #[cfg(any(feature = "gzip", feature = "gzip-rust"))]
            Codec::Gzip => self.gzip.decompress(input, size, output),
            #[cfg(feature = "lzo")]
            Codec::Lzo => lzo::decompress(input, size, output),
            #[cfg(feature = "brotli")]
            Codec::Brotli => brotli::decompress(input, size, output),
            #[cfg(feature = "lz4")]
            Codec::Lz4 => lz4::decompress_deprecated(input, size, output),
            #[cfg(any(feature = "zstd", feature = "zstd-rust"))]
            Codec::Zstd => self.zstd.decompress(input, size, output),
            #[cfg(feature = "lz4")]
            Codec::Lz4Raw => lz4::decompress_raw(input, size, output),
            #[allow(unreachable_patterns)] // reachable when a feature is off
            _ => Err(codec.not_read()),
        }
    }
}

impl std::fmt::Debug for Decompressor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Decompressor").finish_non_exhaustive()
    }
}

fn clear_on_error(done: Result<()>, output: &mut Vec<u8>) -> Result<()> {
    if done.is_err() {
        output.clear();
    }
    done
}

fn copy(input: &[u8], size: usize, output: &mut Vec<u8>) -> Result<()> {
    Codec::Uncompressed.check_produced(input.len(), size)?;
    try_reserve(output, size + PADDING)?;
    output.extend_from_slice(input);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decompressor_can_move_to_another_thread() {
        fn moves<T: Send>() {}
        moves::<Decompressor>();
    }
}
