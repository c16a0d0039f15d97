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

mod buffer_pool;
mod buffers;
mod checksum;
mod dictionary;
mod free_list;
mod hidden_levels;
mod located_header;
mod page_decryptor;
mod page_kinds;
mod page_options;
mod read_ahead;
mod reader;
mod writer;

pub use buffer_pool::PageBufferPool;
pub use buffers::PageBuffers;
pub use checksum::{Checksum, ChecksumTrust};
pub use dictionary::DictionaryPage;
pub use located_header::LocatedHeader;
pub use page_kinds::{PageKinds, canonical_encoding, value_encoding};
pub use page_options::PageOptions;
pub use reader::{DataPage, PageReader};
pub(crate) use writer::{is_before, plain_pages_are_believed};
