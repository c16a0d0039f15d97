//! The Parquet compression codecs: compress and decompress the bytes of pages.
//!
//! SPEC: Compression.md. A page's bytes go *as they are* into the codec's library; the sizes are in the page header,
//! so both ends know them. One file per codec; each codec is a cargo feature of the crate (of all crates above this one, too), all
//! on by default:
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
//! `gzip` and `zstd` are libraries in C. A build without C can use `gzip-rust` and `zstd-rust` instead (`codecs-rust`
//! is these and the other four). They only read, at a third to a half of the speed. If both are on, C is used.
//!
//! ```
//! use marquetry_codec::{Codec, Compressor, Decompressor};
//! let values = b"to be or not to be or not to be or not to be";
//! let mut page = Vec::new();
//! Compressor::new(Codec::Snappy, None)?.compress(values, &mut page)?;
//! let mut back = Vec::new();
//! Decompressor::new().decompress(Codec::Snappy, &page, values.len(), &mut back)?;
//! assert_eq!(back, values);
//! # Ok::<(), marquetry_base::Error>(())
//! ```
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]
// With some features off, code that only the missing codecs use is dead.
#![cfg_attr(
    not(all(
        feature = "snappy",
        feature = "gzip",
        feature = "brotli",
        feature = "lz4",
        feature = "zstd",
        feature = "lzo"
    )),
    allow(dead_code, unused_variables)
)]

#[cfg(feature = "brotli")]
mod brotli;
mod codec;
mod compressor;
mod decompressor;
#[cfg(feature = "gzip")]
mod gzip;
#[cfg(feature = "gzip-rust")]
#[cfg_attr(feature = "gzip", allow(dead_code))]
mod gzip_rust;
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
#[cfg(feature = "zstd-rust")]
#[cfg_attr(feature = "zstd", allow(dead_code))]
mod zstd_rust;

pub use codec::Codec;
pub use compressor::Compressor;
pub use decompressor::Decompressor;
