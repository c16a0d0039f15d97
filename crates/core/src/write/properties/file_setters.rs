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
    /// How the file is encrypted. Default: not at all.
    ///
    /// Checkpoints cannot be asked for at the same time. The error comes when a writer is made, as does that for a key of a column
    /// that there is not.
    #[must_use]
    pub fn with_file_encryption_properties(mut self, value: Arc<FileEncryptionProperties>) -> Self {
        self.properties.file_encryption = Some(value);
        self
    }

    /// Which page headers are written. Default [`WriterVersion::PARQUET_1_0`].
    #[must_use]
    pub fn set_writer_version(mut self, value: WriterVersion) -> Self {
        self.properties.writer_version = value;
        self
    }

    /// Rows that are taken apart at a time. The writer takes blocks that fit the processor's caches; this is kept so
    /// that programs for the `parquet` crate compile, and changes nothing but that zero is an error.
    #[must_use]
    pub fn set_write_batch_size(mut self, value: usize) -> Self {
        self.properties.write_batch_size = value;
        self
    }

    /// Most rows in a row group. Default 1,048,576; `None` is no limit.
    #[must_use]
    pub fn set_max_row_group_row_count(mut self, value: Option<usize>) -> Self {
        self.properties.max_row_group_row_count = value;
        self
    }

    /// A row group ends once it has so many bytes, encoded and compressed. Default `None`, no limit.
    #[must_use]
    pub fn set_max_row_group_bytes(mut self, value: Option<usize>) -> Self {
        self.properties.max_row_group_bytes = value;
        self
    }

    /// Content-defined chunking: data pages end where their content says, and where they are full. A row that is inserted, changed or taken
    /// out then changes few pages, so that stores that keep equal blocks once keep most of a new version of a file. Pages of nested columns
    /// end between rows. Default `None`: pages end where they are full.
    ///
    /// Sizes that make no sense are an error when a writer is made.
    #[must_use]
    pub fn set_content_defined_chunking(mut self, options: Option<CdcOptions>) -> Self {
        self.properties.content_defined_chunking = options;
        self
    }

    /// Where bloom filters stand. Default [`BloomFilterPosition::End`].
    #[must_use]
    pub fn set_bloom_filter_position(mut self, value: BloomFilterPosition) -> Self {
        self.properties.bloom_filter_position = value;
        self
    }

    /// Whether to leave out the offset index, and with it the column index, which is of no use without. Default `false`;
    /// passed over if [`EnabledStatistics::Page`](super::EnabledStatistics::Page) is asked for, for any column.
    #[must_use]
    pub fn set_offset_index_disabled(mut self, value: bool) -> Self {
        self.properties.offset_index_disabled = value;
        self
    }

    /// Whether Arrow types that Parquet lacks are stored as the nearest that other systems know, rather than as they
    /// are. Default `false`.
    #[must_use]
    pub fn set_coerce_types(mut self, value: bool) -> Self {
        self.properties.coerce_types = value;
        self
    }

    /// What Arrow types are stored as where there is a choice.
    #[must_use]
    pub fn set_stored_forms(mut self, value: StoredForms) -> Self {
        self.properties.stored_forms = value;
        self
    }

    /// The number that the footer has for the format's version, which decides nothing: 1 or 2. Default 1, as the format wants it.
    #[must_use]
    pub fn set_format_version(mut self, value: i32) -> Self {
        self.properties.format_version = value;
        self
    }

    /// Which readers must be able to read what [`Encoding::Auto`](super::Encoding::Auto) chooses. Default [`Compat::Modern`].
    #[must_use]
    pub fn set_compat(mut self, value: Compat) -> Self {
        self.properties.compat = value;
        self
    }

    /// Whether pages have a CRC-32. Default `true`.
    #[must_use]
    pub fn set_page_checksums(mut self, value: bool) -> Self {
        self.properties.page_checksums = value;
        self
    }

    /// Whether the Arrow schema is kept in the metadata, under `ARROW:schema`, so that reading returns the same
    /// types. Default `true`.
    ///
    /// Without it values come back as what Parquet has for them: durations as 64-bit integers, instants of any zone in UTC, seconds as
    /// milliseconds, dictionaries as their values, lists of a fixed size as lists, and extension types that Parquet does not know, such as
    /// `arrow.bool8`, as what they are stored as.
    #[must_use]
    pub fn set_arrow_schema(mut self, value: bool) -> Self {
        self.properties.arrow_schema = value;
        self
    }

    /// How many threads encode and compress columns. Default 1: none are started. The file is the same whatever the
    /// number. In a build without the feature `threads` the caller's thread does all.
    #[must_use]
    pub fn set_threads(mut self, value: usize) -> Self {
        self.properties.threads = value;
        self
    }

    /// What has the [threads](Self::set_threads) besides the caller's. Default: a pool of our own, which lives as long as the writer;
    /// none is started for one thread.
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

    /// Finished pages past so many bytes wait for the end of their row group in a temporary file. Default `None`: all
    /// wait in memory. See [`set_spill_dir`](Self::set_spill_dir).
    ///
    /// Batches that wait to be encoded are in it by their rows: a slice counts as its rows do, though it keeps the whole of the
    /// buffers behind it until then, which are the caller's.
    ///
    /// A limit that is too small to write by is not kept to: rows of 256 KiB wait before any are encoded, whatever it is, so that pages
    /// do not become so small, and so many, that what is known of them takes more memory than they do.
    #[must_use]
    pub fn set_memory_limit(mut self, value: Option<usize>) -> Self {
        self.properties.memory_limit = value;
        self
    }

    /// What the writer holds is taken from this budget, which other writers and readers may share: pages, dictionaries, rows whose
    /// encoding is not chosen yet. Default: one without a bound.
    ///
    /// Whenever columns have taken rows, the budget is asked for what they hold by then. If it has not as much, or if that is more
    /// than it has left for others, pages wait [elsewhere](Self::set_spill_store), as they do past the
    /// [memory limit](Self::set_memory_limit). So all who share a budget come to have the same of it. If it has not even enough for
    /// what cannot wait elsewhere, writing fails with [`ErrorKind::Memory`](marquetry_base::ErrorKind::Memory). Batches that wait to
    /// be encoded are the caller's, and not in it.
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

    /// Stops the writer, with [`ErrorKind::Cancelled`](marquetry_base::ErrorKind::Cancelled), at the next block of rows, page or
    /// piece of a copied chunk once it is cancelled. The file cannot be finished then. Default: a token that never is.
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

    /// The folder of temporary files for pages past the [memory limit](Self::set_memory_limit). Default: the system's,
    /// [`std::env::temp_dir`], which on many systems is in memory itself and saves none; name a folder on a disk there,
    /// such as `/var/tmp`. The files have no name, so that nothing stays behind; those of an encrypted file are encrypted by a key
    /// that is thrown away with them.
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

    /// Where pages past the [memory limit](Self::set_memory_limit) wait. Default `None`: files in the system's folder for
    /// temporary files. What an encrypted file gives to it [is encrypted](crate::write::SealedSpills). Properties with the same store
    /// are equal, those with one that is alike are not.
    #[must_use]
    pub fn set_spill_store(mut self, store: Option<Arc<dyn SpillStore>>) -> Self {
        self.properties.spill_store = ChosenStore(store);
        self
    }

    /// Whether, and how often, the writer leaves a checkpoint in the file: a footer of all row groups so far, brought to
    /// the disk. Default `None`: a writer that dies leaves nothing that can be read.
    ///
    /// What a dead writer leaves is read up to its last checkpoint by the reader's `with_checkpoint_recovery`, and made a
    /// file of its own by `marquetry recover`. The finished file is a plain Parquet file: checkpoints lie between row
    /// groups, and its footer does not refer to them. They have neither page indexes nor bloom filters at the end;
    /// with [`BloomFilterPosition::AfterRowGroup`] they have the latter.
    #[must_use]
    pub fn set_checkpoint_every(mut self, value: Option<CheckpointEvery>) -> Self {
        self.properties.checkpoint_every = value;
        self
    }

    /// Whether floats are ordered by IEEE 754 totalOrder, not by the older TYPE_ORDER that more readers know. Default
    /// `false`.
    #[must_use]
    pub fn set_total_order(mut self, value: bool) -> Self {
        self.properties.total_order = value;
        self
    }

    /// Whether the dictionary of the first dictionary array of a column chunk is stored as it is: all its values in their order,
    /// those included that no row has; where the column is stored with a dictionary, as it is with
    /// [`Encoding::RLE_DICTIONARY`](super::Encoding::RLE_DICTIONARY). Readers that bring dictionaries back then have the order of ordered ones. Such chunks have no
    /// distinct counts. Default `false`: what rows have, in the order in which it comes; but dictionaries whose Arrow field says that they
    /// are ordered are stored whole in any case, with a dictionary unless [that](Self::set_dictionary_enabled) is turned off.
    #[must_use]
    pub fn set_whole_dictionaries(mut self, value: bool) -> Self {
        self.properties.whole_dictionaries = value;
        self
    }

    /// Whether column chunks whose values are all in a dictionary say how many different ones they have. Default `true`.
    #[must_use]
    pub fn set_distinct_counts(mut self, value: bool) -> Self {
        self.properties.distinct_counts = value;
        self
    }

    /// Most rows in a row group: the older name of
    /// [`set_max_row_group_row_count`](Self::set_max_row_group_row_count).
    #[must_use]
    pub fn set_max_row_group_size(self, value: usize) -> Self {
        self.set_max_row_group_row_count(Some(value))
    }

    /// Who wrote the file. Default `marquetry version X.Y.Z (build HASH)`. Readers work around the mistakes of writers
    /// by this text, so another one should have the same form.
    #[must_use]
    pub fn set_created_by(mut self, value: impl Into<String>) -> Self {
        self.properties.created_by = value.into();
        self
    }

    /// Keys and values for the footer.
    #[must_use]
    pub fn set_key_value_metadata(mut self, value: Option<Vec<KeyValue>>) -> Self {
        self.properties.key_value_metadata = value;
        self
    }

    /// A key and a value for the metadata of each chunk of one column, or of all columns in a group; more than one may be
    /// added.
    #[must_use]
    pub fn add_column_key_value_metadata(mut self, col: ColumnPath, pair: KeyValue) -> Self {
        self.properties.column_key_values.push(col, pair);
        self
    }

    /// The columns that the rows of each row group are sorted by. The writer notes it; it neither sorts nor checks.
    #[must_use]
    pub fn set_sorting_columns(mut self, value: Option<Vec<SortingColumn>>) -> Self {
        self.properties.sorting_columns = value;
        self
    }

    /// Bounds in the column index are cut to so many bytes. Default 64; `None` keeps them whole. Values of a fixed length are not
    /// cut: of more than 4 KiB they have no bounds, and so no index.
    #[must_use]
    pub fn set_column_index_truncate_length(mut self, value: Option<usize>) -> Self {
        self.properties.column_index_truncate_length = value;
        self
    }

    /// Bounds of column chunks are cut to so many bytes. Default 64; `None` keeps them whole. Values of a fixed length are not
    /// cut: of more than 4 KiB they have no bounds. Nor has a chunk with a value of more than 16 MiB, of whatever type.
    #[must_use]
    pub fn set_statistics_truncate_length(mut self, value: Option<usize>) -> Self {
        self.properties.statistics_truncate_length = value;
        self
    }
}
