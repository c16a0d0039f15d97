//! Getters: settings of the file, and of a column as far as its path determines them.

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
    /// Returns how the file is encrypted; `None` if it is not.
    pub fn file_encryption_properties(&self) -> Option<&Arc<FileEncryptionProperties>> {
        self.file_encryption.as_ref()
    }

    /// The version of data pages.
    pub fn writer_version(&self) -> WriterVersion {
        self.writer_version
    }

    /// The number of rows that are shredded at a time, which has no effect.
    pub fn write_batch_size(&self) -> usize {
        self.write_batch_size
    }

    /// The maximum number of rows in a row group.
    pub fn max_row_group_row_count(&self) -> Option<usize> {
        self.max_row_group_row_count
    }

    /// The size in bytes, encoded and compressed, at which a row group ends.
    pub fn max_row_group_bytes(&self) -> Option<usize> {
        self.max_row_group_bytes
    }

    /// Returns the options of content-defined chunking, if it is on.
    pub fn content_defined_chunking(&self) -> Option<&CdcOptions> {
        self.content_defined_chunking.as_ref()
    }

    /// The position of bloom filters.
    pub fn bloom_filter_position(&self) -> BloomFilterPosition {
        self.bloom_filter_position
    }

    /// Whether to omit the offset index, and the column index with it. False if page statistics were set for any
    /// column.
    pub fn offset_index_disabled(&self) -> bool {
        self.offset_index_disabled && !self.rules.asks_for_pages()
    }

    /// Whether Arrow types that Parquet lacks are stored as the nearest types that other systems know, instead of
    /// unchanged.
    pub fn coerce_types(&self) -> bool {
        self.coerce_types
    }

    /// The stored types of Arrow types that can be stored in several ways.
    pub fn stored_forms(&self) -> StoredForms {
        self.stored_forms
    }

    /// The format version in the footer.
    pub fn format_version(&self) -> i32 {
        self.format_version
    }

    /// Returns which readers must support the choices of [`Encoding::Auto`].
    pub fn compat(&self) -> Compat {
        self.compat
    }

    /// Whether pages have a CRC-32 checksum.
    pub fn page_checksums(&self) -> bool {
        self.page_checksums
    }

    /// Whether the Arrow schema is stored in the metadata, under `ARROW:schema`, so that reading returns the same
    /// types.
    pub fn arrow_schema(&self) -> bool {
        self.arrow_schema
    }

    /// The number of threads that encode and compress columns.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// The executor of the threads besides the caller's.
    pub fn executor(&self) -> &SharedExecutor {
        &self.executor
    }

    /// Returns the bytes of finished pages in memory, past which pages wait for the end of their row group in a
    /// temporary file.
    pub fn memory_limit(&self) -> Option<usize> {
        self.memory_limit
    }

    /// The budget that the writer's memory is reserved from.
    pub fn memory(&self) -> &MemoryBudget {
        &self.memory
    }

    /// Whether memory has a limit, its own or a shared one.
    pub fn is_memory_bounded(&self) -> bool {
        self.memory_limit.is_some() || self.memory.is_bounded()
    }

    /// The token that stops the writer.
    pub fn cancel_token(&self) -> &CancelToken {
        &self.cancel
    }

    /// Returns the store for pages past the memory limit; `None` is the system's folder for temporary files.
    pub fn spill_store(&self) -> Option<&Arc<dyn SpillStore>> {
        self.spill_store.0.as_ref()
    }

    /// Returns the store to use for pages past the memory limit: the [chosen one](Self::spill_store), or the system's
    /// folder for temporary files. Pages of an encrypted file are [encrypted](SealedSpills) there.
    pub fn page_store(&self) -> Arc<dyn SpillStore> {
        let store = self.spill_store.0.clone().unwrap_or_else(|| Arc::new(SpillFolder::system()));
        match self.file_encryption {
            Some(_) => Arc::new(SealedSpills::new(store)),
            None => store,
        }
    }

    /// Returns whether and how often the writer leaves a checkpoint in the file.
    pub fn checkpoint_every(&self) -> Option<CheckpointEvery> {
        self.checkpoint_every
    }

    /// Whether floats are ordered by IEEE 754 totalOrder, instead of the older TYPE_ORDER that more readers know.
    pub fn total_order(&self) -> bool {
        self.total_order
    }

    /// Whether the dictionary of a dictionary array is stored whole.
    pub fn whole_dictionaries(&self) -> bool {
        self.whole_dictionaries
    }

    /// Whether column chunks whose values are all in a dictionary have a distinct count.
    pub fn distinct_counts(&self) -> bool {
        self.distinct_counts
    }

    /// The name of the writer.
    pub fn created_by(&self) -> &str {
        &self.created_by
    }

    /// The key-value metadata of the footer.
    pub fn key_value_metadata(&self) -> Option<&Vec<KeyValue>> {
        self.key_value_metadata.as_ref()
    }

    /// Returns the columns by which the rows of each row group are sorted.
    pub fn sorting_columns(&self) -> Option<&Vec<SortingColumn>> {
        self.sorting_columns.as_ref()
    }

    /// Returns the length in bytes to which bounds in the column index are truncated.
    pub fn column_index_truncate_length(&self) -> Option<usize> {
        self.column_index_truncate_length
    }

    /// Returns the length in bytes to which bounds of column chunks are truncated.
    pub fn statistics_truncate_length(&self) -> Option<usize> {
        self.statistics_truncate_length
    }
}

/// # Of a column
///
/// These use the column's path only, so settings by type are ignored; [`column_settings`](Self::column_settings)
/// includes them.
impl WriterProperties {
    /// The compression of pages.
    pub fn compression(&self, col: &ColumnPath) -> Compression {
        self.asked(col).compression.unwrap_or_else(|| self.default_compression())
    }

    /// Returns the encoding of values; `None` if it was not set, which means [`Encoding::Auto`].
    pub fn encoding(&self, col: &ColumnPath) -> Option<Encoding> {
        self.asked(col).encoding
    }

    /// Whether the column may have a dictionary.
    pub fn dictionary_enabled(&self, col: &ColumnPath) -> bool {
        self.asked(col).dictionary.unwrap_or(true)
    }

    /// Returns which parts of the file have statistics.
    pub fn statistics_enabled(&self, col: &ColumnPath) -> EnabledStatistics {
        self.asked(col).statistics.unwrap_or_else(|| self.default_statistics())
    }

    /// Whether data page headers have statistics as well.
    pub fn write_page_header_statistics(&self, col: &ColumnPath) -> bool {
        self.asked(col).page_header_statistics.unwrap_or(false)
    }

    /// Returns the properties of the bloom filter, if one is written.
    pub fn bloom_filter_properties(&self, col: &ColumnPath) -> Option<BloomFilterProperties> {
        self.asked(col).bloom()
    }

    /// Returns the size limit of the dictionary page in bytes, past which the dictionary is given up.
    pub fn column_dictionary_page_size_limit(&self, col: &ColumnPath) -> usize {
        self.asked(col).dictionary_page_bytes.unwrap_or(DEFAULT_DICTIONARY_PAGE_SIZE_LIMIT)
    }

    /// Returns the size limit of a data page in bytes.
    pub fn column_data_page_size_limit(&self, col: &ColumnPath) -> usize {
        self.asked(col).page_bytes.unwrap_or(DEFAULT_PAGE_SIZE)
    }

    /// Returns the maximum number of rows in a data page.
    pub fn column_data_page_row_count_limit(&self, col: &ColumnPath) -> usize {
        self.asked(col).page_rows.unwrap_or(DEFAULT_DATA_PAGE_ROW_COUNT_LIMIT)
    }

    /// Returns the size limit of the dictionary page in bytes, for columns without a setting of their own.
    pub fn dictionary_page_size_limit(&self) -> usize {
        self.asked_for_all().dictionary_page_bytes.unwrap_or(DEFAULT_DICTIONARY_PAGE_SIZE_LIMIT)
    }

    /// Returns the size limit of a data page in bytes, for columns without a setting of their own.
    pub fn data_page_size_limit(&self) -> usize {
        self.asked_for_all().page_bytes.unwrap_or(DEFAULT_PAGE_SIZE)
    }

    /// Returns the maximum number of rows in a data page, for columns without a setting of their own.
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
