//! The settings of the file as a whole.

use super::{
    BloomFilterPosition, CheckpointEvery, ColumnPath, Compat, StoredForms, WriterPropertiesBuilder,
    WriterVersion,
};
use crate::write::CdcOptions;
use crate::write::spill::ChosenStore;
use crate::write::spill_folder::SpillFolder;
use crate::write::spill_store::SpillStore;
use marquetry_base::{CancelToken, MemoryBudget, SharedExecutor};
use marquetry_crypto::FileEncryptionProperties;
use marquetry_format::{KeyValue, SortingColumn};
use std::path::PathBuf;
use std::sync::Arc;

/// # For the file
impl WriterPropertiesBuilder {
    /// Sets how the file is encrypted. Default: no encryption.
    ///
    /// A key for a column that does not exist is an error when a writer is created.
    #[must_use]
    pub fn with_file_encryption_properties(mut self, value: Arc<FileEncryptionProperties>) -> Self {
        self.properties.file_encryption = Some(value);
        self
    }

    /// Sets the version of data pages. Default [`WriterVersion::PARQUET_1_0`].
    #[must_use]
    pub fn set_writer_version(mut self, value: WriterVersion) -> Self {
        self.properties.writer_version = value;
        self
    }

    /// Sets the number of rows that are shredded at a time. It has no effect, except that zero is an error: the writer
    /// uses blocks that fit the processor's caches. It exists so that programs for the `parquet` crate compile.
    #[must_use]
    pub fn set_write_batch_size(mut self, value: usize) -> Self {
        self.properties.write_batch_size = value;
        self
    }

    /// Sets the maximum number of rows in a row group. Default 1,048,576; `None` means no limit.
    #[must_use]
    pub fn set_max_row_group_row_count(mut self, value: Option<usize>) -> Self {
        self.properties.max_row_group_row_count = value;
        self
    }

    /// Sets the size in bytes, encoded and compressed, at which a row group ends. Default `None`, no limit.
    #[must_use]
    pub fn set_max_row_group_bytes(mut self, value: Option<usize>) -> Self {
        self.properties.max_row_group_bytes = value;
        self
    }

    /// Sets content-defined chunking: data pages end where their content determines it, and where they are full.
    /// Inserting, changing or deleting a row then changes few pages, so that stores that keep equal blocks only once
    /// share most of a new version of a file. Pages of nested columns end between rows. Default `None`: pages end where
    /// they are full.
    ///
    /// Invalid sizes are an error when a writer is created.
    #[must_use]
    pub fn set_content_defined_chunking(mut self, options: Option<CdcOptions>) -> Self {
        self.properties.content_defined_chunking = options;
        self
    }

    /// Sets the position of bloom filters. Default [`BloomFilterPosition::End`].
    #[must_use]
    pub fn set_bloom_filter_position(mut self, value: BloomFilterPosition) -> Self {
        self.properties.bloom_filter_position = value;
        self
    }

    /// Sets whether to omit the offset index, and with it the column index, which is useless without. Default `false`.
    /// Ignored if [`EnabledStatistics::Page`](super::EnabledStatistics::Page) was set for any column.
    #[must_use]
    pub fn set_offset_index_disabled(mut self, value: bool) -> Self {
        self.properties.offset_index_disabled = value;
        self
    }

    /// Sets whether Arrow types that Parquet lacks are stored as the nearest types that other systems know, instead of
    /// unchanged. Default `false`.
    #[must_use]
    pub fn set_coerce_types(mut self, value: bool) -> Self {
        self.properties.coerce_types = value;
        self
    }

    /// Sets the stored types of Arrow types that can be stored in several ways.
    #[must_use]
    pub fn set_stored_forms(mut self, value: StoredForms) -> Self {
        self.properties.stored_forms = value;
        self
    }

    /// Sets the format version in the footer, 1 or 2. It does not affect how files are read. Default 1, as the format
    /// requires.
    #[must_use]
    pub fn set_format_version(mut self, value: i32) -> Self {
        self.properties.format_version = value;
        self
    }

    /// Sets which readers must support the choices of [`Encoding::Auto`](super::Encoding::Auto). Default
    /// [`Compat::Modern`].
    #[must_use]
    pub fn set_compat(mut self, value: Compat) -> Self {
        self.properties.compat = value;
        self
    }

    /// Sets whether pages have a CRC-32 checksum. Default `true`.
    #[must_use]
    pub fn set_page_checksums(mut self, value: bool) -> Self {
        self.properties.page_checksums = value;
        self
    }

    /// Sets whether the Arrow schema is stored in the metadata, under `ARROW:schema`, so that reading returns the same
    /// types. Default `true`.
    ///
    /// Without it, values are read back as the nearest type of Parquet: durations as 64-bit integers, instants of any
    /// zone in UTC, seconds as milliseconds, dictionaries as their values, lists of a fixed size as lists, and
    /// extension types that Parquet does not know, such as `arrow.bool8`, as their storage type.
    #[must_use]
    pub fn set_arrow_schema(mut self, value: bool) -> Self {
        self.properties.arrow_schema = value;
        self
    }

    /// Sets the number of threads that encode and compress columns. Default 1: no thread is started. The file does not
    /// depend on it. In a build without the feature `threads`, the caller's thread does everything.
    #[must_use]
    pub fn set_threads(mut self, value: usize) -> Self {
        self.properties.threads = value;
        self
    }

    /// Sets the executor of the [threads](Self::set_threads) besides the caller's. Default: a pool of our own, which
    /// lives as long as the writer; it is not started for one thread.
    ///
    /// ```
    /// use marquetry_base::SharedExecutor;
    /// use marquetry_core::write::WriterProperties;
    /// # mod rayon { pub fn spawn(work: impl FnOnce() + Send + 'static) { std::thread::spawn(work); } }
    /// let executor = SharedExecutor::new(|task| rayon::spawn(task));
    /// let properties = WriterProperties::builder().set_threads(4).set_executor(executor.clone()).build();
    /// assert_eq!(properties.executor(), &executor);
    /// ```
    #[must_use]
    pub fn set_executor(mut self, value: SharedExecutor) -> Self {
        self.properties.executor = value;
        self
    }

    /// Sets the bytes of finished pages in memory, past which pages wait for the end of their row group in a temporary
    /// file. Default `None`: all wait in memory. See [`set_spill_dir`](Self::set_spill_dir).
    ///
    /// Batches that wait to be encoded count by their rows. So a slice counts as its rows, although it keeps all of its
    /// buffers, which are the caller's, until it is encoded.
    ///
    /// A limit that is too small for writing is exceeded: 256 KiB of rows always wait before any are encoded. Otherwise
    /// pages would become so small and so many that their metadata would take more memory than they do.
    #[must_use]
    pub fn set_memory_limit(mut self, value: Option<usize>) -> Self {
        self.properties.memory_limit = value;
        self
    }

    /// Sets the budget that the writer's memory is reserved from, which other writers and readers may share. It covers
    /// pages, dictionaries, and rows whose encoding is not chosen yet. Default: a budget without a limit.
    ///
    /// After columns have taken rows, the writer reserves what they hold by then. If the budget has less left, or if
    /// the columns would hold more than they leave for others, pages are [spilled](Self::set_spill_store), as they are
    /// past the [memory limit](Self::set_memory_limit). So all who share a budget end up with equal shares. If there is
    /// not even enough for what cannot be spilled, writing fails with
    /// [`ErrorKind::Memory`](marquetry_base::ErrorKind::Memory). Batches that wait to be encoded belong to the caller,
    /// and are not counted.
    ///
    /// ```
    /// use marquetry_base::MemoryBudget;
    /// use marquetry_core::write::WriterProperties;
    /// // For all files that a query writes.
    /// let memory = MemoryBudget::new(256 << 20);
    /// let properties = WriterProperties::builder().set_memory(memory.clone()).build();
    /// assert_eq!(properties.memory(), &memory);
    /// ```
    #[must_use]
    pub fn set_memory(mut self, value: MemoryBudget) -> Self {
        self.properties.memory = value;
        self
    }

    /// Sets a token that stops the writer with [`ErrorKind::Cancelled`](marquetry_base::ErrorKind::Cancelled), at the
    /// next block of rows, page or piece of a copied chunk after it is cancelled. The file cannot be finished then.
    /// Default: a token that is never cancelled.
    ///
    /// ```
    /// use marquetry_base::CancelToken;
    /// use marquetry_core::write::WriterProperties;
    /// let token = CancelToken::new();
    /// let properties = WriterProperties::builder().set_cancel_token(token.clone()).build();
    /// token.cancel();
    /// assert!(properties.cancel_token().is_cancelled());
    /// ```
    #[must_use]
    pub fn set_cancel_token(mut self, value: CancelToken) -> Self {
        self.properties.cancel = value;
        self
    }

    /// Sets the folder of temporary files for pages past the [memory limit](Self::set_memory_limit). Default: the
    /// system's, [`std::env::temp_dir`], which on many systems is in memory itself and saves none; name a folder on a
    /// disk there, such as `/var/tmp`. The files have no name, so that nothing stays behind. Those of an encrypted file
    /// are encrypted with a key that is discarded with them.
    ///
    /// ```
    /// use marquetry_core::write::WriterProperties;
    /// let properties =
    ///     WriterProperties::builder().set_memory_limit(Some(64 << 20)).set_spill_dir("/var/tmp").build();
    /// assert!(properties.spill_store().is_some());
    /// ```
    #[must_use]
    pub fn set_spill_dir(self, folder: impl Into<PathBuf>) -> Self {
        self.set_spill_store(Some(Arc::new(SpillFolder::new(folder))))
    }

    /// Sets the store for pages past the [memory limit](Self::set_memory_limit). Default `None`: files in the system's
    /// folder for temporary files. Pages of an encrypted file [are encrypted](crate::write::SealedSpills) there.
    /// Properties are equal only if they share the same store.
    #[must_use]
    pub fn set_spill_store(mut self, store: Option<Arc<dyn SpillStore>>) -> Self {
        self.properties.spill_store = ChosenStore(store);
        self
    }

    /// Sets whether and how often the writer leaves a checkpoint in the file: a footer of all row groups so far, synced
    /// to the disk. Default `None`: if the writer dies, nothing it wrote can be read.
    ///
    /// The reader's `with_checkpoint_recovery` reads the file of a dead writer up to its last checkpoint, and
    /// `marquetry recover` makes a file of its own from it. The finished file is a plain Parquet file: checkpoints lie
    /// between row groups, and its footer does not refer to them. Checkpoints have no page indexes, and bloom filters
    /// only with [`BloomFilterPosition::AfterRowGroup`].
    #[must_use]
    pub fn set_checkpoint_every(mut self, value: Option<CheckpointEvery>) -> Self {
        self.properties.checkpoint_every = value;
        self
    }

    /// Sets whether floats are ordered by IEEE 754 totalOrder, instead of the older TYPE_ORDER that more readers know.
    /// Default `false`.
    #[must_use]
    pub fn set_total_order(mut self, value: bool) -> Self {
        self.properties.total_order = value;
        self
    }

    /// Sets whether the dictionary of the first dictionary array of a column chunk is stored whole: all its values in
    /// their order, even those that no row has. This requires that the column is stored with a dictionary, as it is
    /// with [`Encoding::RLE_DICTIONARY`](super::Encoding::RLE_DICTIONARY). Readers that return dictionaries then get
    /// the order of ordered ones. Such chunks have no distinct counts. Default `false`: the values of the rows, in the
    /// order in which they occur. However, dictionaries whose Arrow field states that they are ordered are stored whole
    /// in any case, with a dictionary unless [that](Self::set_dictionary_enabled) is turned off.
    #[must_use]
    pub fn set_whole_dictionaries(mut self, value: bool) -> Self {
        self.properties.whole_dictionaries = value;
        self
    }

    /// Sets whether column chunks whose values are all in a dictionary have a distinct count. Default `true`.
    #[must_use]
    pub fn set_distinct_counts(mut self, value: bool) -> Self {
        self.properties.distinct_counts = value;
        self
    }

    /// Sets the maximum number of rows in a row group: the older name of
    /// [`set_max_row_group_row_count`](Self::set_max_row_group_row_count).
    #[must_use]
    pub fn set_max_row_group_size(self, value: usize) -> Self {
        self.set_max_row_group_row_count(Some(value))
    }

    /// Sets the name of the writer. Default `marquetry version X.Y.Z (build HASH)`. Readers use it to work around the
    /// mistakes of writers, so another name should have the same form.
    #[must_use]
    pub fn set_created_by(mut self, value: impl Into<String>) -> Self {
        self.properties.created_by = value.into();
        self
    }

    /// Sets the key-value metadata of the footer.
    #[must_use]
    pub fn set_key_value_metadata(mut self, value: Option<Vec<KeyValue>>) -> Self {
        self.properties.key_value_metadata = value;
        self
    }

    /// Adds a key-value pair to the metadata of each chunk of one column, or of all columns of a group. It can be
    /// called more than once.
    #[must_use]
    pub fn add_column_key_value_metadata(mut self, col: ColumnPath, pair: KeyValue) -> Self {
        self.properties.column_key_values.push(col, pair);
        self
    }

    /// Sets the columns by which the rows of each row group are sorted. The writer only records them; it neither sorts
    /// nor checks.
    #[must_use]
    pub fn set_sorting_columns(mut self, value: Option<Vec<SortingColumn>>) -> Self {
        self.properties.sorting_columns = value;
        self
    }

    /// Sets the length in bytes to which bounds in the column index are truncated. Default 64; `None` keeps them whole.
    /// Values of a fixed length are not truncated: if they exceed 4 KiB, they have no bounds, and so no column index.
    #[must_use]
    pub fn set_column_index_truncate_length(mut self, value: Option<usize>) -> Self {
        self.properties.column_index_truncate_length = value;
        self
    }

    /// Sets the length in bytes to which bounds of column chunks are truncated. Default 64; `None` keeps them whole.
    /// Values of a fixed length are not truncated: if they exceed 4 KiB, they have no bounds. Nor has a chunk with a
    /// value of more than 16 MiB, of any type.
    #[must_use]
    pub fn set_statistics_truncate_length(mut self, value: Option<usize>) -> Self {
        self.properties.statistics_truncate_length = value;
        self
    }
}
