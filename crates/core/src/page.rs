//! Pages: headers, checksums, decompression, and where levels and values are in a page.
//!
//! Spec: README.md, "Data Pages" and "Checksumming"; parquet.thrift, `PageHeader`.
//!
//! ```text
//! column chunk := [header, dictionary page] (header, data page)*
//!
//! V1 page as stored:    compressed( [len, rep levels] [len, def levels] values )
//! V2 page as stored:    rep levels, def levels, compressed( values )
//! ```

mod checksum;
mod chunk_pages;
mod dictionary;
mod writer;

pub use checksum::{Checksum, ChecksumTrust};
pub use chunk_pages::{DataPage, PageMemory, PageOptions, PageReader, PageStart};
pub use dictionary::DictionaryPage;
pub(crate) use writer::{is_before, plain_pages_are_believed};
