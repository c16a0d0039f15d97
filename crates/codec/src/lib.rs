//! The Parquet compression codecs: page bytes as stored <-> page bytes as encoded.
//!
//! SPEC: Compression.md. A page's bytes go *as they are* into the codec's library; the sizes are in the page header,
//! so both ends know them. One file per codec; each codec is a cargo feature of the crate, all on by default:
//!
//! | codec | code | read | written | feature | level |
//! |---|---|---|---|---|---|
//! | UNCOMPRESSED | 0 | yes | yes | | |
//! | SNAPPY | 1 | yes | yes | `snappy` | |
//! | GZIP | 2 | yes, several members too | yes | `gzip` | 0 to 12, default 6 |
//! | LZO | 3 | yes | no | `lzo` | |
//! | BROTLI | 4 | yes | yes | `brotli` | 0 to 11, default 4 |
//! | LZ4 (deprecated) | 5 | yes: Hadoop blocks, a frame, a raw block | no | `lz4` | |
//! | ZSTD | 6 | yes | yes | `zstd` | -131072 to 22, default 1 |
//! | LZ4_RAW | 7 | yes | yes | `lz4` | |
//!
//! ```
//! use marquetry_codec::{Codec, Compressor, Decompressor};
//! let values = b"to be or not to be or not to be or not to be";
//! let mut page = Vec::new();
//! Compressor::new(Codec::Zstd, Some(3))?.compress(values, &mut page)?;
//! let mut back = Vec::new();
//! Decompressor::new().decompress(Codec::Zstd, &page, values.len(), &mut back)?;
//! assert_eq!(back, values);
//! # Ok::<(), marquetry_base::Error>(())
//! ```
#![forbid(unsafe_code)]
// What only codecs that are left out would use is no mistake.
#![cfg_attr(
    not(all(
        feature = "snappy",
        feature = "gzip",
        feature = "brotli",
        feature = "lz4",
        feature = "zstd",
        feature = "lzo"
    )),
    allow(dead_code)
)]

use marquetry_base::{Error, ErrorKind, PADDING, Result};
use std::ops::RangeInclusive;

#[cfg(feature = "brotli")]
mod brotli;
#[cfg(feature = "gzip")]
mod gzip;
#[cfg(any(feature = "lz4", feature = "lzo"))]
mod hadoop;
#[cfg(feature = "lz4")]
mod lz4;
#[cfg(feature = "lzo")]
mod lzo;
#[cfg(feature = "snappy")]
mod snappy;
#[cfg(feature = "zstd")]
mod zstd;

/// A compression codec; the numbers are those of `CompressionCodec` in parquet.thrift.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Codec {
    /// The bytes as they are.
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

    /// The codec of a code in a file; `None` for one that the format does not define.
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

    /// Whether [`Decompressor::decompress_part`] stops early.
    pub fn can_stop(self) -> bool {
        (cfg!(feature = "snappy") && self == Codec::Snappy) || (cfg!(feature = "zstd") && self == Codec::Zstd)
    }

    /// The levels that [`Compressor::new`] takes, from fast to small; `None` if the codec has none.
    pub fn levels(self) -> Option<RangeInclusive<i32>> {
        match self {
            Codec::Gzip => Some(0..=12),
            Codec::Brotli => Some(0..=11),
            Codec::Zstd => Some(-(1 << 17)..=22),
            _ => None,
        }
    }

    /// The level, or `default` where none is asked for. Fails if the codec does not have it.
    fn level_or(self, level: Option<i32>, default: i32) -> Result<i32> {
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

    /// The error of a codec whose feature is off.
    #[cold]
    fn left_out(self) -> Error {
        let feature = match self {
            Codec::Lz4Raw => "lz4".to_owned(),
            _ => self.name().to_lowercase(),
        };
        Error::unsupported(format!(
            "{} is left out of this build; turn on the feature \"{feature}\" of marquetry-codec",
            self.name()
        ))
    }

    /// The error of a page that its library refuses.
    #[cold]
    fn refused(self, cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Error {
        Error::caused_by(ErrorKind::Corrupt, format!("{} page does not decompress", self.name()), cause)
    }

    /// Fails unless the page `produced` as many bytes as its header says.
    fn check_produced(self, produced: usize, size: usize) -> Result<()> {
        if produced == size {
            return Ok(());
        }
        Err(Error::corrupt(format!(
            "{} page decompresses to {produced} bytes, header says {size}",
            self.name()
        )))
    }

    /// The error of a page that has more bytes than its header says.
    #[cold]
    fn overrun(self, size: usize) -> Error {
        Error::corrupt(format!(
            "{} page decompresses to more than the {size} bytes that its header says",
            self.name()
        ))
    }

    /// Makes room for `size` bytes and the slack, if `stored` bytes can decompress to that many at all.
    ///
    /// `expansion` is the most bytes that the format can make of one. What a file claims is memory only as far as
    /// the file pays for it.
    fn reserve(self, stored: usize, expansion: usize, size: usize, output: &mut Vec<u8>) -> Result<()> {
        if size > stored.saturating_mul(expansion) {
            return Err(Error::corrupt(format!(
                "{} page of {stored} bytes cannot decompress to {size}",
                self.name()
            )));
        }
        output.reserve(size.saturating_add(PADDING).saturating_sub(output.len()));
        Ok(())
    }
}

impl std::fmt::Display for Codec {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// Decompresses pages of any codec. One per worker: the codecs' states are made at first use and then reused.
#[derive(Default)]
pub struct Decompressor {
    #[cfg(feature = "gzip")]
    gzip: gzip::Decompressor,
    #[cfg(feature = "zstd")]
    zstd: zstd::Decompressor,
}

impl Decompressor {
    /// A decompressor without any codec state yet.
    pub fn new() -> Self {
        Decompressor::default()
    }

    /// Replaces what is in `output` by the `size` bytes that `input` decompresses to.
    ///
    /// `size` is what the page header says; hold it against the limits first. No more memory is reserved than the
    /// input can fill. On success there are [`PADDING`] bytes of spare capacity behind the page. An empty input is an
    /// empty page under every codec.
    ///
    /// # Errors
    /// `Corrupt` if the input is not of the codec or does not decompress to exactly `size` bytes; `Unsupported` if
    /// the codec's feature is off. `output` is then empty.
    pub fn decompress(
        &mut self,
        codec: Codec,
        input: &[u8],
        size: usize,
        output: &mut Vec<u8>,
    ) -> Result<()> {
        // PERF: these codecs write to memory that has a value. That of the page before has one.
        if !matches!(codec, Codec::Snappy | Codec::Gzip | Codec::Lz4Raw) || input.is_empty() {
            output.clear();
        }
        if input.is_empty() {
            // QUIRK: V2 pages of nulls only have no value bytes, not even a codec's empty stream.
            codec.check_produced(0, size)?;
            output.reserve(PADDING);
            return Ok(());
        }
        let done = self.run(codec, input, size, output);
        if done.is_err() {
            output.clear();
        }
        done
    }

    /// Replaces what is in `output` by the first `part` of the `size` bytes that `input` decompresses to, or, of a codec
    /// that cannot stop early, by all of them: see [`Codec::can_stop`].
    ///
    /// What follows the part is not looked at: it may be damaged, or have another size. Otherwise as
    /// [`decompress`](Self::decompress).
    pub fn decompress_part(
        &mut self,
        codec: Codec,
        input: &[u8],
        size: usize,
        part: usize,
        output: &mut Vec<u8>,
    ) -> Result<()> {
        let done = match codec {
            #[cfg(feature = "snappy")]
            Codec::Snappy if part < size => snappy::decompress_part(input, size, part, output),
            #[cfg(feature = "zstd")]
            Codec::Zstd if part < size => self.zstd.decompress_part(input, size, part, output),
            _ => return self.decompress(codec, input, size, output),
        };
        if done.is_err() {
            output.clear();
        }
        done
    }

    fn run(&mut self, codec: Codec, input: &[u8], size: usize, output: &mut Vec<u8>) -> Result<()> {
        match codec {
            Codec::Uncompressed => copy(input, size, output),
            #[cfg(feature = "snappy")]
            Codec::Snappy => snappy::decompress(input, size, output),
            #[cfg(feature = "gzip")]
            Codec::Gzip => self.gzip.decompress(input, size, output),
            #[cfg(feature = "lzo")]
            Codec::Lzo => lzo::decompress(input, size, output),
            #[cfg(feature = "brotli")]
            Codec::Brotli => brotli::decompress(input, size, output),
            #[cfg(feature = "lz4")]
            Codec::Lz4 => lz4::decompress_deprecated(input, size, output),
            #[cfg(feature = "zstd")]
            Codec::Zstd => self.zstd.decompress(input, size, output),
            #[cfg(feature = "lz4")]
            Codec::Lz4Raw => lz4::decompress_raw(input, size, output),
            #[allow(unreachable_patterns)] // reachable when a feature is off
            _ => Err(codec.left_out()),
        }
    }
}

impl std::fmt::Debug for Decompressor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Decompressor").finish_non_exhaustive()
    }
}

fn copy(input: &[u8], size: usize, output: &mut Vec<u8>) -> Result<()> {
    Codec::Uncompressed.check_produced(input.len(), size)?;
    output.reserve(size + PADDING);
    output.extend_from_slice(input);
    Ok(())
}

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
    /// A compressor of `codec` at `level`, or at the codec's default level.
    ///
    /// # Errors
    /// `Argument` if the codec does not have the level, see [`Codec::levels`]; `Unsupported` for LZO and the
    /// deprecated LZ4, which are only read, and for a codec whose feature is off.
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
            _ => return Err(codec.left_out()),
        };
        codec.level_or(level, 0)?;
        Ok(Compressor { codec, state })
    }

    /// The codec it compresses with.
    pub fn codec(&self) -> Codec {
        self.codec
    }

    /// Appends the compressed form of `input` to `output`.
    ///
    /// # Errors
    /// `Argument` if `input` is larger than a page can be, 2 GiB - 1. `output` is then as it was.
    pub fn compress(&mut self, input: &[u8], output: &mut Vec<u8>) -> Result<()> {
        if input.len() > i32::MAX as usize {
            return Err(Error::argument(format!(
                "a page has at most {} bytes, not {}",
                i32::MAX,
                input.len()
            )));
        }
        let start = output.len();
        let done: Result<(), Refusal> = match &mut self.state {
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

impl std::fmt::Debug for Compressor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Compressor").field("codec", &self.codec).finish_non_exhaustive()
    }
}

/// Why a codec's library did not compress; out of the question with the room that its own bound asks for.
type Refusal = Box<dyn std::error::Error + Send + Sync>;

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
    fn a_codec_left_out_names_its_feature() {
        assert!(Codec::Lz4Raw.left_out().message().contains("turn on the feature \"lz4\""));
        assert!(Codec::Brotli.left_out().message().contains("turn on the feature \"brotli\""));
    }

    #[test]
    fn contexts_can_move_to_a_worker() {
        fn moves<T: Send>() {}
        moves::<Decompressor>();
        moves::<Compressor>();
    }
}
