//! Compresses page bytes with one codec at one level.

#[cfg(feature = "brotli")]
use crate::brotli;
use crate::codec::{Codec, CodecError};
#[cfg(feature = "gzip")]
use crate::gzip;
#[cfg(feature = "lz4")]
use crate::lz4;
#[cfg(feature = "snappy")]
use crate::snappy;
#[cfg(feature = "zstd")]
use crate::zstd;
use marquetry_base::{Error, ErrorKind, Result, try_reserve};

/// Compresses pages with one codec at one level, and reuses the codec's state from page to page.
pub struct Compressor {
    codec: Codec,
    state: State,
}

enum State {
    Copy,
    #[cfg(feature = "snappy")]
    Snappy(snappy::Compressor),
    #[cfg(feature = "gzip")]
    Gzip(gzip::Compressor),
    #[cfg(feature = "brotli")]
    Brotli(brotli::Compressor),
    #[cfg(feature = "lz4")]
    Lz4Raw(lz4::Compressor),
    #[cfg(feature = "zstd")]
    Zstd(zstd::Compressor),
}

impl Compressor {
    /// Creates a compressor of `codec` at `level`, or at the codec's default level.
    ///
    /// # Errors
    /// `Argument` if the codec does not have the level, see [`Codec::levels`]; `Unsupported` for LZO and the deprecated
    /// LZ4, which are only read, and for a codec whose feature is off.
    pub fn new(codec: Codec, level: Option<i32>) -> Result<Self> {
        let state = match codec {
            Codec::Lzo => return Err(Error::unsupported("LZO is not written")),
            Codec::Lz4 => {
                return Err(Error::unsupported("deprecated LZ4 is not written; use LZ4_RAW"));
            }
            Codec::Uncompressed => State::Copy,
            #[cfg(feature = "snappy")]
            Codec::Snappy => State::Snappy(snappy::Compressor::new()),
            #[cfg(feature = "gzip")]
            Codec::Gzip => State::Gzip(gzip::Compressor::new(level)?),
            #[cfg(feature = "brotli")]
            Codec::Brotli => State::Brotli(brotli::Compressor::new(level)?),
            #[cfg(feature = "lz4")]
            Codec::Lz4Raw => State::Lz4Raw(lz4::Compressor::default()),
            #[cfg(feature = "zstd")]
            Codec::Zstd => State::Zstd(zstd::Compressor::new(level)?),
            #[allow(unreachable_patterns)] // reachable when a feature is off
            _ => return Err(codec.not_written()),
        };
        codec.level_or(level, 0)?;
        Ok(Compressor { codec, state })
    }

    /// The codec of this compressor.
    pub fn codec(&self) -> Codec {
        self.codec
    }

    /// Appends the compressed form of `input` to `output`.
    ///
    /// # Errors
    /// `Argument` if `input` is larger than a page can be, 2 GiB - 1; `Memory` if there is not enough memory for a long
    /// page. `output` then stays as it was.
    pub fn compress(&mut self, input: &[u8], output: &mut Vec<u8>) -> Result<()> {
        if input.len() > i32::MAX as usize {
            return Err(Error::argument(format!(
                "a page has at most {} bytes, not {}",
                i32::MAX,
                input.len()
            )));
        }
        let start = output.len();
        if input.len() > LONG_PAGE_BYTES {
            // About what any codec requests. A codec ends the process if it does not get its memory.
            try_reserve(output, input.len() + input.len() / 6 + 1024)?;
        }
        let done: Result<(), CodecError> = match &mut self.state {
            State::Copy => {
                output.extend_from_slice(input);
                Ok(())
            }
            #[cfg(feature = "snappy")]
            State::Snappy(snappy) => snappy.compress(input, output),
            #[cfg(feature = "gzip")]
            State::Gzip(gzip) => gzip.compress(input, output),
            #[cfg(feature = "brotli")]
            State::Brotli(brotli) => brotli.compress(input, output),
            #[cfg(feature = "lz4")]
            State::Lz4Raw(lz4) => lz4.compress(input, output),
            #[cfg(feature = "zstd")]
            State::Zstd(zstd) => zstd.compress(input, output),
        };
        done.map_err(|cause| {
            output.truncate(start);
            Error::caused_by(ErrorKind::Argument, format!("{} does not compress", self.codec.name()), cause)
        })
    }
}

/// Size in bytes of a page from which memory may be missing.
const LONG_PAGE_BYTES: usize = 1 << 20;

impl std::fmt::Debug for Compressor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Compressor").field("codec", &self.codec).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_compressor_can_move_to_another_thread() {
        fn moves<T: Send>() {}
        moves::<Compressor>();
    }
}
