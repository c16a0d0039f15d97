//! Writing: pages, chunks, row groups and files from shredded columns.

mod checkpoint;
mod choose;
mod chunk_bytes;
mod column;
pub mod copy;
mod direct;
mod edit;
mod file;
mod interned;
mod levels;
mod pages;
mod properties;
mod settings;
mod spares;
mod values_seen;
mod workspace;

pub use checkpoint::{CheckpointCost, CheckpointEvery, Durable};
pub use choose::{Candidate, Choice};
pub use chunk_bytes::{ChunkBytes, Spill};
pub use column::ColumnWriter;
pub use file::{EncodedChunk, FileSettings, FileWriter};
pub use properties::{
    BloomFilterPosition, BloomFilterProperties, BloomFilterPropertiesBuilder, BrotliLevel, ColumnPath,
    Compression, DEFAULT_BLOOM_FILTER_FPP, DEFAULT_COLUMN_INDEX_TRUNCATE_LENGTH, DEFAULT_COMPRESSION,
    DEFAULT_DATA_PAGE_ROW_COUNT_LIMIT, DEFAULT_DICTIONARY_PAGE_SIZE_LIMIT, DEFAULT_MAX_ROW_GROUP_ROW_COUNT,
    DEFAULT_PAGE_SIZE, DEFAULT_STATISTICS_TRUNCATE_LENGTH, DEFAULT_WRITE_BATCH_SIZE, EnabledStatistics,
    Encoding, GzipLevel, KeyValue, SortingColumn, TypeSelector, WriterProperties, WriterPropertiesBuilder,
    WriterPropertiesPtr, WriterVersion, ZstdLevel,
};
pub use settings::{BloomSettings, ColumnSettings, Compat, EncodingChoice, PageVersion, StatisticsLevel};
pub use workspace::Workspace;
