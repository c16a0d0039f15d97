//! The settings of the file as a whole.

use super::{
    BloomFilterPosition, CheckpointEvery, ColumnPath, Compat, WriterPropertiesBuilder, WriterVersion,
};
use marquetry_format::{KeyValue, SortingColumn};

/// # For the file
impl WriterPropertiesBuilder {
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
    #[must_use]
    pub fn set_arrow_schema(mut self, value: bool) -> Self {
        self.properties.arrow_schema = value;
        self
    }

    /// How many threads encode and compress columns. Default 1: none are started. The file is the same whatever the
    /// number.
    #[must_use]
    pub fn set_threads(mut self, value: usize) -> Self {
        self.properties.threads = value;
        self
    }

    /// Finished pages past so many bytes wait for the end of their row group in a temporary file. Default `None`: all
    /// wait in memory.
    #[must_use]
    pub fn set_memory_limit(mut self, value: Option<usize>) -> Self {
        self.properties.memory_limit = value;
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
        self.properties.column_key_values.push((col, pair));
        self
    }

    /// The columns that the rows of each row group are sorted by. The writer notes it; it neither sorts nor checks.
    #[must_use]
    pub fn set_sorting_columns(mut self, value: Option<Vec<SortingColumn>>) -> Self {
        self.properties.sorting_columns = value;
        self
    }

    /// MinMaxStats in the column index are cut to so many bytes. Default 64; `None` keeps them whole.
    #[must_use]
    pub fn set_column_index_truncate_length(mut self, value: Option<usize>) -> Self {
        self.properties.column_index_truncate_length = value;
        self
    }

    /// MinMaxStats of column chunks are cut to so many bytes. Default 64; `None` keeps them whole.
    #[must_use]
    pub fn set_statistics_truncate_length(mut self, value: Option<usize>) -> Self {
        self.properties.statistics_truncate_length = value;
        self
    }
}
