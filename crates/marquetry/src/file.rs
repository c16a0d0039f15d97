//! What a file says of itself: footer, row groups, column chunks, pages.

pub use marquetry_core::io::{LocalFile, read_metadata};
pub use marquetry_core::source::Source;

/// The footer's contents, through accessors.
pub mod metadata {
    pub use marquetry_core::meta::{ColumnChunk, ParquetMetaData, RowGroup};
}

/// The pages of a column chunk: headers, checksums, contents.
pub mod page {
    pub use marquetry_core::page::{
        Checksum, ChunkPages, DataPage, PageMemory, PageOptions, PageStart, Trust,
    };
}
