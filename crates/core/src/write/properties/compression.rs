//! Codecs and their levels, under the names that users write.

use marquetry_base::{Error, Result};
use marquetry_codec::Codec;
use std::fmt;
use std::str::FromStr;

/// The default compression.
///
/// ZSTD at level 1, by measurement: files are 23 to 33 % smaller than with SNAPPY, and take 15 to 34 % more time to write
/// and up to 11 % more to read, all of it processor time, on one thread. For data that is only read from memory, never
/// from a disk or a network, `SNAPPY` may be better, or `LZ4_RAW`, which reads fastest. `bench -- codecs` repeats it:
///
/// | TPC-H SF1 | codec | MB | write, s | read, s |
/// |---|---|--:|--:|--:|
/// | lineitem | ZSTD 1 | 148.9 | 2.30 | 0.440 |
/// | lineitem | SNAPPY | 192.7 | 1.92 | 0.396 |
/// | lineitem | LZ4_RAW | 197.6 | 2.06 | 0.316 |
/// | lineitem | ZSTD 3 | 144.7 | 2.41 | 0.440 |
/// | lineitem | none | 335.8 | 1.35 | 0.160 |
/// | orders | ZSTD 1 | 37.1 | 0.59 | 0.136 |
/// | orders | SNAPPY | 53.3 | 0.44 | 0.124 |
/// | orders | LZ4_RAW | 55.3 | 0.48 | 0.092 |
/// | orders | ZSTD 3 | 35.9 | 0.62 | 0.136 |
/// | orders | none | 112.7 | 0.19 | 0.032 |
pub const DEFAULT_COMPRESSION: Compression = Compression::ZSTD(ZstdLevel(1));

/// The compression of pages. LZO and the deprecated LZ4 are read, but not written, so they are not here.
///
/// In text, a level stands behind a colon or in parentheses; case does not matter:
///
/// ```
/// use marquetry_core::write::{Compression, ZstdLevel};
/// let zstd: Compression = "zstd:3".parse()?;
/// assert_eq!(zstd, Compression::ZSTD(ZstdLevel::try_new(3)?));
/// assert_eq!(zstd.to_string(), "ZSTD(3)");
/// assert_eq!("SNAPPY".parse::<Compression>()?, Compression::SNAPPY);
/// # Ok::<(), marquetry_base::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(non_camel_case_types)]
#[non_exhaustive]
pub enum Compression {
    /// No compression.
    UNCOMPRESSED,
    /// Snappy: fast, and supported by every reader.
    SNAPPY,
    /// Gzip: small, and slow to read.
    GZIP(GzipLevel),
    /// Brotli: smaller still, and slow to write.
    BROTLI(BrotliLevel),
    /// One LZ4 block for each page: the fastest to read.
    LZ4_RAW,
    /// Zstandard: small and fast.
    ZSTD(ZstdLevel),
}

/// A level of GZIP, 0 to 12: above 9, the search for matches takes longer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GzipLevel(u32);

/// A level of BROTLI, 0 to 11.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BrotliLevel(u32);

/// A level of ZSTD, -131072 to 22; the negative ones are faster than 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ZstdLevel(i32);

impl GzipLevel {
    /// Creates the level. Fails unless it is 0 to 12.
    pub fn try_new(level: u32) -> Result<Self> {
        checked(Codec::Gzip, level.into()).map(|_| GzipLevel(level))
    }

    /// The number.
    pub fn compression_level(&self) -> u32 {
        self.0
    }
}

impl BrotliLevel {
    /// Creates the level. Fails unless it is 0 to 11.
    pub fn try_new(level: u32) -> Result<Self> {
        checked(Codec::Brotli, level.into()).map(|_| BrotliLevel(level))
    }

    /// The number.
    pub fn compression_level(&self) -> u32 {
        self.0
    }
}

impl ZstdLevel {
    /// Creates the level. Fails unless it is -131072 to 22.
    pub fn try_new(level: i32) -> Result<Self> {
        checked(Codec::Zstd, level.into()).map(ZstdLevel)
    }

    /// The number.
    pub fn compression_level(&self) -> i32 {
        self.0
    }
}

impl Default for GzipLevel {
    /// Level 6.
    fn default() -> Self {
        GzipLevel(6)
    }
}

impl Default for BrotliLevel {
    /// Level 4.
    fn default() -> Self {
        BrotliLevel(4)
    }
}

impl Default for ZstdLevel {
    /// Level 1.
    fn default() -> Self {
        ZstdLevel(1)
    }
}

impl Compression {
    /// Returns the codec, without the level.
    pub fn codec(self) -> Codec {
        match self {
            Compression::UNCOMPRESSED => Codec::Uncompressed,
            Compression::SNAPPY => Codec::Snappy,
            Compression::GZIP(_) => Codec::Gzip,
            Compression::BROTLI(_) => Codec::Brotli,
            Compression::LZ4_RAW => Codec::Lz4Raw,
            Compression::ZSTD(_) => Codec::Zstd,
        }
    }

    /// Returns the level; `None` if the codec has none.
    pub fn level(self) -> Option<i32> {
        match self {
            Compression::UNCOMPRESSED | Compression::SNAPPY | Compression::LZ4_RAW => None,
            Compression::GZIP(GzipLevel(level)) | Compression::BROTLI(BrotliLevel(level)) => {
                i32::try_from(level).ok()
            }
            Compression::ZSTD(ZstdLevel(level)) => Some(level),
        }
    }
}

impl Default for Compression {
    /// [`DEFAULT_COMPRESSION`].
    fn default() -> Self {
        DEFAULT_COMPRESSION
    }
}

impl fmt::Display for Compression {
    /// Writes `ZSTD(3)` or `SNAPPY`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.level() {
            Some(level) => f.pad(&format!("{}({level})", self.codec())),
            None => f.pad(self.codec().name()),
        }
    }
}

impl FromStr for Compression {
    type Err = Error;

    /// Parses `zstd`, `zstd:3` or `zstd(3)`, in any case; `none` is UNCOMPRESSED. Fails for codecs that are not
    /// written, and for levels that the codec does not have.
    fn from_str(text: &str) -> Result<Self> {
        let (name, level) = split(text)?;
        let level_or = |codec, default| level.map_or(Ok(default), |level| checked(codec, level));
        let compression = match name.to_ascii_uppercase().as_str() {
            "GZIP" => return Ok(Compression::GZIP(GzipLevel(level_or(Codec::Gzip, 6)?.unsigned_abs()))),
            "BROTLI" => {
                return Ok(Compression::BROTLI(BrotliLevel(level_or(Codec::Brotli, 4)?.unsigned_abs())));
            }
            "ZSTD" => return Ok(Compression::ZSTD(ZstdLevel(level_or(Codec::Zstd, 1)?))),
            "UNCOMPRESSED" | "NONE" => Compression::UNCOMPRESSED,
            "SNAPPY" => Compression::SNAPPY,
            "LZ4_RAW" => Compression::LZ4_RAW,
            "LZ4" => {
                return Err(Error::argument(
                    "LZ4 is deprecated and not written; LZ4_RAW is what replaced it",
                ));
            }
            "LZO" => return Err(Error::argument("LZO is not written")),
            _ => {
                let known = "UNCOMPRESSED, SNAPPY, GZIP, BROTLI, LZ4_RAW, ZSTD";
                return Err(Error::argument(format!("compression {name} is none of {known}")));
            }
        };
        match level {
            None => Ok(compression),
            Some(_) => Err(Error::argument(format!("{compression} has no levels"))),
        }
    }
}

/// Returns `level` if the codec has it.
fn checked(codec: Codec, level: i64) -> Result<i32> {
    let levels = codec.levels().unwrap_or(0..=0);
    let found = i32::try_from(level).ok().filter(|level| levels.contains(level));
    found.ok_or_else(|| {
        let (low, high) = levels.into_inner();
        Error::argument(format!("{codec} has the levels {low} to {high}, not {level}"))
    })
}

/// Splits a codec's name from the level behind it.
fn split(text: &str) -> Result<(&str, Option<i64>)> {
    let text = text.trim();
    let in_parentheses = || text.strip_suffix(')')?.split_once('(');
    let Some((name, level)) = text.split_once(':').or_else(in_parentheses) else {
        return Ok((text, None));
    };
    match level.trim().parse() {
        Ok(level) => Ok((name.trim(), Some(level))),
        Err(_) => Err(Error::argument(format!("the level of {text} is not a whole number"))),
    }
}
