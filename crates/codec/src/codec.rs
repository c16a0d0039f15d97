//! The compression codecs by code and name, and the errors that all of them share.

use marquetry_base::{Error, ErrorKind, PADDING, Result, try_reserve};
use std::ops::RangeInclusive;

/// A compression codec. The numbers are those of `CompressionCodec` in parquet.thrift.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Codec {
    /// No compression.
    Uncompressed = 0,
    /// The raw Snappy format, without its framing.
    Snappy = 1,
    /// Gzip (RFC 1952), one or more members.
    Gzip = 2,
    /// LZO1X in Hadoop's framing. Read, not written.
    Lzo = 3,
    /// Brotli (RFC 7932).
    Brotli = 4,
    /// Deprecated LZ4 with an undocumented framing. Read, not written.
    Lz4 = 5,
    /// Zstandard (RFC 8878).
    Zstd = 6,
    /// One LZ4 block without any framing.
    Lz4Raw = 7,
}

impl Codec {
    /// All codecs, by code.
    pub const ALL: [Codec; 8] = [
        Codec::Uncompressed,
        Codec::Snappy,
        Codec::Gzip,
        Codec::Lzo,
        Codec::Brotli,
        Codec::Lz4,
        Codec::Zstd,
        Codec::Lz4Raw,
    ];

    /// Returns the codec of a code in a file; `None` for a code that the format does not define.
    pub fn from_code(code: i32) -> Option<Codec> {
        Codec::ALL.get(usize::try_from(code).ok()?).copied()
    }

    /// The code in a file.
    pub fn code(self) -> i32 {
        self as i32
    }

    /// The name in parquet.thrift.
    pub fn name(self) -> &'static str {
        match self {
            Codec::Uncompressed => "UNCOMPRESSED",
            Codec::Snappy => "SNAPPY",
            Codec::Gzip => "GZIP",
            Codec::Lzo => "LZO",
            Codec::Brotli => "BROTLI",
            Codec::Lz4 => "LZ4",
            Codec::Zstd => "ZSTD",
            Codec::Lz4Raw => "LZ4_RAW",
        }
    }

    /// Whether [`Decompressor::decompress_prefix`](crate::Decompressor::decompress_prefix) can stop early.
    pub fn supports_prefix(self) -> bool {
        (cfg!(feature = "snappy") && self == Codec::Snappy) || (cfg!(feature = "zstd") && self == Codec::Zstd)
    }

    /// The levels that [`Compressor::new`](crate::Compressor::new) accepts, from fast to small; `None` if the codec has none.
    pub fn levels(self) -> Option<RangeInclusive<i32>> {
        match self {
            Codec::Gzip => Some(0..=12),
            Codec::Brotli => Some(0..=11),
            Codec::Zstd => Some(-(1 << 17)..=22),
            _ => None,
        }
    }

    /// Returns `level`, or `default` if it is `None`. Fails if the codec does not have the level.
    pub(crate) fn level_or(self, level: Option<i32>, default: i32) -> Result<i32> {
        match (level, self.levels()) {
            (None, _) => Ok(default),
            (Some(level), Some(levels)) if levels.contains(&level) => Ok(level),
            (Some(level), Some(levels)) => Err(Error::argument(format!(
                "{} has the levels {} to {}, not {level}",
                self.name(),
                levels.start(),
                levels.end()
            ))),
            (Some(_), None) => Err(Error::argument(format!("{} has no levels", self.name()))),
        }
    }

    /// The cargo feature that brings this codec.
    fn feature(self) -> String {
        match self {
            Codec::Lz4Raw => "lz4".to_owned(),
            _ => self.name().to_lowercase(),
        }
    }

    /// Creates the error for a page whose codec this build does not read.
    #[cold]
    pub(crate) fn not_read(self) -> Error {
        let (name, feature) = (self.name(), self.feature());
        let without_c = match self {
            Codec::Gzip | Codec::Zstd => format!(", or \"{feature}-rust\", which needs no C"),
            _ => String::new(),
        };
        Error::unsupported(format!(
            "this build does not read {name}: turn on the feature \"{feature}\"{without_c}"
        ))
    }

    /// Creates the error for a writer whose codec this build does not write.
    #[cold]
    pub(crate) fn not_written(self) -> Error {
        let (name, feature) = (self.name(), self.feature());
        Error::unsupported(format!(
            "this build does not write {name}: turn on the feature \"{feature}\", or choose another codec"
        ))
    }

    /// Creates the error for a page that the codec's library rejects.
    #[cold]
    pub(crate) fn refused(self, cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Error {
        Error::caused_by(ErrorKind::Corrupt, format!("{} page does not decompress", self.name()), cause)
    }

    /// Fails unless `produced` is the size in the page header.
    pub(crate) fn check_produced(self, produced: usize, size: usize) -> Result<()> {
        if produced == size {
            return Ok(());
        }
        Err(Error::corrupt(format!(
            "{} page decompresses to {produced} bytes, header says {size}",
            self.name()
        )))
    }

    /// Creates the error for a page that decompresses to more bytes than its header says.
    #[cold]
    pub(crate) fn overrun(self, size: usize) -> Error {
        Error::corrupt(format!(
            "{} page decompresses to more than the {size} bytes that its header says",
            self.name()
        ))
    }

    /// Reserves `size` bytes and the padding, if `stored` bytes can decompress to that many at all.
    ///
    /// `max_expansion` is the maximum number of bytes that one stored byte can become. So a small file cannot make the
    /// reader allocate a large buffer. Fails if the system has no memory for it.
    pub(crate) fn reserve(
        self,
        stored: usize,
        max_expansion: usize,
        size: usize,
        output: &mut Vec<u8>,
    ) -> Result<()> {
        if size > stored.saturating_mul(max_expansion) {
            return Err(Error::corrupt(format!(
                "{} page of {stored} bytes cannot decompress to {size}",
                self.name()
            )));
        }
        try_reserve(output, size.saturating_add(PADDING).saturating_sub(output.len()))
    }
}

impl std::fmt::Display for Codec {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// Returns the first `size` bytes of `output`, to write a page into. Grows `output` if needed, and leaves the bytes
/// after the page as they are.
///
/// PERF: a codec that needs initialized memory reuses that of earlier pages. If `output` were shrunk to each page, it
/// would be filled with zeros again for each page that is larger than the one before.
pub(crate) fn first_bytes(output: &mut Vec<u8>, size: usize) -> &mut [u8] {
    if output.len() < size {
        output.resize(size, 0);
    }
    &mut output[..size]
}

/// The error of a codec's library. None of the libraries fails to compress if the output has the room that its bound asks for.
pub(crate) type CodecError = Box<dyn std::error::Error + Send + Sync>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_those_of_the_format() {
        for (code, codec) in Codec::ALL.into_iter().enumerate() {
            assert_eq!(codec.code(), code as i32);
            assert_eq!(Codec::from_code(code as i32), Some(codec));
        }
        assert_eq!(Codec::from_code(8), None);
        assert_eq!(Codec::from_code(-1), None);
    }

    #[test]
    fn a_codec_left_out_names_its_features() {
        let read = |codec: Codec| codec.not_read().message().to_owned();
        assert_eq!(read(Codec::Lz4Raw), "this build does not read LZ4_RAW: turn on the feature \"lz4\"");
        assert!(read(Codec::Brotli).ends_with("turn on the feature \"brotli\""));
        assert!(
            read(Codec::Zstd).ends_with("turn on the feature \"zstd\", or \"zstd-rust\", which needs no C")
        );
        let written = Codec::Gzip.not_written();
        assert!(
            written.message().contains("turn on the feature \"gzip\", or choose another codec"),
            "{written}"
        );
    }
}
