//! What a file says of itself: footer, row groups, column chunks, pages.

pub use marquetry_core::io::{AtomicFile, Edited, FileEdit, LocalFile, read_metadata, unreferenced_bytes};
pub use marquetry_core::source::Source;
pub use marquetry_core::write::Durable;

/// Footers inside a file: checkpoints, and those from before it grew.
pub mod checkpoint {
    pub use marquetry_core::checkpoint::{CheckpointFound, Evidence, find_last_checkpoint, find_last_footer};
}

/// The footer's contents, through accessors.
pub mod metadata {
    pub use marquetry_core::metadata::{ColumnChunk, ParquetMetaData, RowGroup};
    pub use marquetry_core::write::{KeyValue, SortingColumn};
}

/// The pages of a column chunk: headers, checksums, contents.
pub mod page {
    pub use marquetry_core::page::{
        Checksum, ChecksumTrust, DataPage, PageMemory, PageOptions, PageReader, PageStart,
    };
}

/// How a file is written.
pub mod properties {
    pub use marquetry_core::write::{
        BloomFilterPosition, BloomFilterProperties, BloomFilterPropertiesBuilder, CheckpointCost,
        CheckpointEvery, Compat, DEFAULT_BLOOM_FILTER_FPP, DEFAULT_COLUMN_INDEX_TRUNCATE_LENGTH,
        DEFAULT_COMPRESSION, DEFAULT_DATA_PAGE_ROW_COUNT_LIMIT, DEFAULT_DICTIONARY_PAGE_SIZE_LIMIT,
        DEFAULT_MAX_ROW_GROUP_ROW_COUNT, DEFAULT_PAGE_SIZE, DEFAULT_STATISTICS_TRUNCATE_LENGTH,
        DEFAULT_WRITE_BATCH_SIZE, EnabledStatistics, WriterProperties, WriterPropertiesBuilder,
        WriterPropertiesPtr, WriterVersion,
    };
}
