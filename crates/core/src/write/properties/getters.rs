//! What was set: of the file as a whole, and of a column as far as its path tells.

use super::rules::Asked;
use super::selector::{ColumnPath, Subject};
use super::{
    BloomFilterPosition, BloomFilterProperties, CheckpointEvery, Compat, Compression,
    DEFAULT_DATA_PAGE_ROW_COUNT_LIMIT, DEFAULT_DICTIONARY_PAGE_SIZE_LIMIT, DEFAULT_PAGE_SIZE,
    EnabledStatistics, Encoding, StoredForms, WriterProperties, WriterVersion,
};
use crate::write::CdcOptions;
use crate::write::sealed_spills::SealedSpills;
use crate::write::spill_folder::SpillFolder;
use crate::write::spill_store::SpillStore;
use marquetry_base::{CancelToken, MemoryBudget, SharedExecutor};
use marquetry_crypto::FileEncryptionProperties;
use marquetry_format::{KeyValue, SortingColumn};
use std::sync::Arc;

/// # Of the file
impl WriterProperties {
    /// How the file is encrypted; `None` if it is not.
    pub fn file_encryption_properties(&self) -> Option<&Arc<FileEncryptionProperties>> {
        self.file_encryption.as_ref()
    }

    /// Which page headers are written.
    pub fn writer_version(&self) -> WriterVersion {
        self.writer_version
    }

    /// Rows that are taken apart at a time.
    pub fn write_batch_size(&self) -> usize {
        self.write_batch_size
    }

    /// Most rows in a row group.
    pub fn max_row_group_row_count(&self) -> Option<usize> {
        self.max_row_group_row_count
    }

    /// A row group ends once it has so many bytes, encoded and compressed.
    pub fn max_row_group_bytes(&self) -> Option<usize> {
        self.max_row_group_bytes
    }

    /// Whether, and how, data pages end where their content says.
    pub fn content_defined_chunking(&self) -> Option<&CdcOptions> {
        self.content_defined_chunking.as_ref()
    }

    /// Where bloom filters stand.
    pub fn bloom_filter_position(&self) -> BloomFilterPosition {
        self.bloom_filter_position
    }

    /// Whether to leave out the offset index, and the column index with it. Not if statistics of pages are asked for.
    pub fn offset_index_disabled(&self) -> bool {
        self.offset_index_disabled && !self.rules.asks_for_pages()
    }

    /// Whether Arrow types that Parquet lacks are stored as the nearest that other systems know, rather than as they
    /// are.
    pub fn coerce_types(&self) -> bool {
        self.coerce_types
    }

    /// What Arrow types are stored as where there is a choice.
    pub fn stored_forms(&self) -> StoredForms {
        self.stored_forms
    }

    /// The number that the footer has for the format's version.
    pub fn format_version(&self) -> i32 {
        self.format_version
    }

    /// Which readers must be able to read what [`Encoding::Auto`] chooses.
    pub fn compat(&self) -> Compat {
        self.compat
    }

    /// Whether pages have a CRC-32.
    pub fn page_checksums(&self) -> bool {
        self.page_checksums
    }

    /// Whether the Arrow schema is kept in the metadata, under `ARROW:schema`, so that reading returns the same
    /// types.
    pub fn arrow_schema(&self) -> bool {
        self.arrow_schema
    }

    /// How many threads encode and compress columns.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// What has the threads besides the caller's.
    pub fn executor(&self) -> &SharedExecutor {
        &self.executor
    }

    /// Finished pages past so many bytes wait for the end of their row group in a temporary file.
    pub fn memory_limit(&self) -> Option<usize> {
        self.memory_limit
    }

    /// What the writer's memory is taken from.
    pub fn memory(&self) -> &MemoryBudget {
        &self.memory
    }

    /// Whether memory has a bound, of its own or shared with others.
    pub fn is_memory_bounded(&self) -> bool {
        self.memory_limit.is_some() || self.memory.is_bounded()
    }

    /// What stops the writer.
    pub fn cancel_token(&self) -> &CancelToken {
        &self.cancel
    }

    /// Where pages past the memory limit wait; `None` is the system's folder for temporary files.
    pub fn spill_store(&self) -> Option<&Arc<dyn SpillStore>> {
        self.spill_store.0.as_ref()
    }

    /// Where pages past the memory limit go: the [store](Self::spill_store), or the system's folder for temporary files. Those of
    /// an encrypted file are [encrypted](SealedSpills) there, too.
    pub fn page_store(&self) -> Arc<dyn SpillStore> {
        let store = self.spill_store.0.clone().unwrap_or_else(|| Arc::new(SpillFolder::system()));
        match self.file_encryption {
            Some(_) => Arc::new(SealedSpills::new(store)),
            None => store,
        }
    }

    /// Whether, and how often, the writer leaves a checkpoint in the file.
    pub fn checkpoint_every(&self) -> Option<CheckpointEvery> {
        self.checkpoint_every
    }

    /// Whether floats are ordered by IEEE 754 totalOrder, not by the older TYPE_ORDER that more readers know.
    pub fn total_order(&self) -> bool {
        self.total_order
    }

    /// Whether a dictionary array's dictionary is stored as it is.
    pub fn whole_dictionaries(&self) -> bool {
        self.whole_dictionaries
    }

    /// Whether column chunks whose values are all in a dictionary say how many different ones they have.
    pub fn distinct_counts(&self) -> bool {
        self.distinct_counts
    }

    /// Who wrote the file.
    pub fn created_by(&self) -> &str {
        &self.created_by
    }

    /// Keys and values for the footer.
    pub fn key_value_metadata(&self) -> Option<&Vec<KeyValue>> {
        self.key_value_metadata.as_ref()
    }

    /// The columns that the rows of each row group are sorted by.
    pub fn sorting_columns(&self) -> Option<&Vec<SortingColumn>> {
        self.sorting_columns.as_ref()
    }

    /// Bounds in the column index are cut to so many bytes.
    pub fn column_index_truncate_length(&self) -> Option<usize> {
        self.column_index_truncate_length
    }

    /// Bounds of column chunks are cut to so many bytes.
    pub fn statistics_truncate_length(&self) -> Option<usize> {
        self.statistics_truncate_length
    }
}

/// # Of a column
///
/// These know the column's path only, so what was set by type is not in them;
/// [`column_settings`](Self::column_settings) has all.
impl WriterProperties {
    /// How pages are compressed.
    pub fn compression(&self, col: &ColumnPath) -> Compression {
        self.asked(col).compression.unwrap_or_default()
    }

    /// How values are encoded; `None` if nothing was set, which is as [`Encoding::Auto`].
    pub fn encoding(&self, col: &ColumnPath) -> Option<Encoding> {
        self.asked(col).encoding
    }

    /// Whether there may be a dictionary.
    pub fn dictionary_enabled(&self, col: &ColumnPath) -> bool {
        self.asked(col).dictionary.unwrap_or(true)
    }

    /// What is bounded and counted.
    pub fn statistics_enabled(&self, col: &ColumnPath) -> EnabledStatistics {
        self.asked(col).statistics.unwrap_or_default()
    }

    /// Whether data page headers have statistics as well.
    pub fn write_page_header_statistics(&self, col: &ColumnPath) -> bool {
        self.asked(col).page_header_statistics.unwrap_or(false)
    }

    /// The bloom filter, if one is written.
    pub fn bloom_filter_properties(&self, col: &ColumnPath) -> Option<BloomFilterProperties> {
        self.asked(col).bloom()
    }

    /// A dictionary is given up once its page would have more bytes.
    pub fn column_dictionary_page_size_limit(&self, col: &ColumnPath) -> usize {
        self.asked(col).dictionary_page_bytes.unwrap_or(DEFAULT_DICTIONARY_PAGE_SIZE_LIMIT)
    }

    /// A data page ends once it has so many bytes.
    pub fn column_data_page_size_limit(&self, col: &ColumnPath) -> usize {
        self.asked(col).page_bytes.unwrap_or(DEFAULT_PAGE_SIZE)
    }

    /// A data page ends once it has so many rows.
    pub fn column_data_page_row_count_limit(&self, col: &ColumnPath) -> usize {
        self.asked(col).page_rows.unwrap_or(DEFAULT_DATA_PAGE_ROW_COUNT_LIMIT)
    }

    /// A dictionary is given up once its page would have more bytes, where nothing else is set for its column.
    pub fn dictionary_page_size_limit(&self) -> usize {
        self.asked_for_all().dictionary_page_bytes.unwrap_or(DEFAULT_DICTIONARY_PAGE_SIZE_LIMIT)
    }

    /// A data page ends once it has so many bytes, where nothing else is set for its column.
    pub fn data_page_size_limit(&self) -> usize {
        self.asked_for_all().page_bytes.unwrap_or(DEFAULT_PAGE_SIZE)
    }

    /// A data page ends once it has so many rows, where nothing else is set for its column.
    pub fn data_page_row_count_limit(&self) -> usize {
        self.asked_for_all().page_rows.unwrap_or(DEFAULT_DATA_PAGE_ROW_COUNT_LIMIT)
    }

    fn asked(&self, col: &ColumnPath) -> Asked {
        self.rules.asked(&Subject { parts: col.parts(), dotted: col.dotted(), leaf: None })
    }

    fn asked_for_all(&self) -> Asked {
        self.rules.asked_for_all()
    }
}
