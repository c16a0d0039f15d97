//! Writing: pages, chunks, row groups and files from shredded columns.

mod append;
mod buffer_pool;
mod byte_queue;
mod cdc_options;
mod checkpoint;
mod chunk_bytes;
mod chunk_encryptor;
mod column;
mod content_chunker;
pub mod copy;
mod derived_values;
mod dictionary_writer;
mod encoded_chunk;
mod encoding_selection;
mod encrypted_alike;
mod file;
mod file_encryptor;
mod file_indexes;
mod file_settings;
mod held_indices;
mod levels;
mod pages;
mod partial_row_group;
mod properties;
mod row_group;
mod sample_buffer;
mod sealed_spills;
mod settings;
mod spill;
#[cfg_attr(not(feature = "fs"), path = "write/spill_folder_off.rs")]
mod spill_folder;
mod spill_store;
mod value_observers;
mod value_writer;
mod workspace;

pub use byte_queue::ByteQueue;
pub use cdc_options::CdcOptions;
pub use checkpoint::{CheckpointCost, CheckpointEvery, Durable};
pub use chunk_bytes::ChunkBytes;
pub use column::ColumnWriter;
pub use derived_values::geo_without_hidden_boxes;
pub use encoded_chunk::EncodedChunk;
pub use encoding_selection::{Candidate, EncodingDecision};
pub use encrypted_alike::encrypted_alike;
pub use file::FileWriter;
pub use file_settings::FileSettings;
pub use properties::{
    BloomFilterPosition, BloomFilterProperties, BloomFilterPropertiesBuilder, BrotliLevel, ColumnPath,
    Compression, DEFAULT_BLOOM_FILTER_FPP, DEFAULT_COLUMN_INDEX_TRUNCATE_LENGTH, DEFAULT_COMPRESSION,
    DEFAULT_DATA_PAGE_ROW_COUNT_LIMIT, DEFAULT_DICTIONARY_PAGE_SIZE_LIMIT, DEFAULT_MAX_ROW_GROUP_ROW_COUNT,
    DEFAULT_PAGE_SIZE, DEFAULT_STATISTICS_TRUNCATE_LENGTH, DEFAULT_WRITE_BATCH_SIZE, EnabledStatistics,
    Encoding, GzipLevel, KeyValue, SortingColumn, StoredForms, TypeSelector, WriterProperties,
    WriterPropertiesBuilder, WriterPropertiesPtr, WriterVersion, ZstdLevel,
};
pub use sealed_spills::SealedSpills;
pub use settings::{BloomSettings, ColumnSettings, Compat, EncodingPolicy, PageVersion, StatisticsLevel};
pub use spill::Spill;
pub use spill_folder::SpillFolder;
pub use spill_store::{SpillFile, SpillStore};
pub use workspace::{Workspace, WorkspacePool};
