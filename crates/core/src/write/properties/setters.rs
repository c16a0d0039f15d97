//! The settings of all columns, and of one.

use super::rules::{Change, Rule};
use super::selector::{ColumnPath, Selector};
use super::{BloomFilterProperties, Compression, EnabledStatistics, Encoding, WriterPropertiesBuilder};

impl WriterPropertiesBuilder {
    pub(super) fn rule(mut self, selector: Selector, change: Change) -> Self {
        self.properties.rules.push(Rule { selector, change });
        self
    }
}

/// # For all columns
impl WriterPropertiesBuilder {
    /// How pages are compressed, for all columns. Default [`DEFAULT_COMPRESSION`](super::DEFAULT_COMPRESSION).
    #[must_use]
    pub fn set_compression(self, value: Compression) -> Self {
        self.rule(Selector::All, Change::Compression(value))
    }

    /// How values are encoded, for all columns. Default [`Encoding::Auto`]. An encoding that a column's type may not
    /// have is an error, see [`WriterProperties::column_settings`](super::WriterProperties::column_settings).
    #[must_use]
    pub fn set_encoding(self, value: Encoding) -> Self {
        self.rule(Selector::All, Change::Encoding(value))
    }

    /// Whether there may be a dictionary, for all columns. By default [`Encoding::Auto`] may choose one. `true` next
    /// to an encoding puts that encoding behind a dictionary that has become too large; `false` forbids
    /// [`Encoding::Auto`] to choose one.
    #[must_use]
    pub fn set_dictionary_enabled(self, value: bool) -> Self {
        self.rule(Selector::All, Change::Dictionary(value))
    }

    /// Sets the maximum size of the dictionary page, in bytes, for all columns. Default 4 MiB. A dictionary that would
    /// exceed it is given up: values that have no page yet, and all after them, are written without one.
    ///
    /// ```
    /// use marquetry_core::write::WriterProperties;
    /// assert_eq!(WriterProperties::default().dictionary_page_size_limit(), 4 << 20);
    /// ```
    #[must_use]
    pub fn set_dictionary_page_size_limit(self, value: usize) -> Self {
        self.rule(Selector::All, Change::DictionaryPageBytes(value))
    }

    /// Sets the size at which a data page ends, in bytes of encoded values and levels before compression, for all columns. Default 1 MiB; more
    /// than 1 GiB counts as 1 GiB.
    #[must_use]
    pub fn set_data_page_size_limit(self, value: usize) -> Self {
        self.rule(Selector::All, Change::DataPageBytes(value))
    }

    /// Sets the number of rows at which a data page ends, for all columns. Default 20,000.
    #[must_use]
    pub fn set_data_page_row_count_limit(self, value: usize) -> Self {
        self.rule(Selector::All, Change::PageRows(value))
    }

    /// Sets which statistics are written, for all columns. Default [`EnabledStatistics::Page`].
    #[must_use]
    pub fn set_statistics_enabled(self, value: EnabledStatistics) -> Self {
        self.rule(Selector::All, Change::Statistics(value))
    }

    /// Whether data page headers have statistics as well, as old readers want them, for all columns. Default `false`:
    /// the column index has them.
    #[must_use]
    pub fn set_write_page_header_statistics(self, value: bool) -> Self {
        self.rule(Selector::All, Change::PageHeaderStatistics(value))
    }

    /// Writes a bloom filter for each column chunk, for all columns. Default `false`. BOOLEAN columns never get one.
    #[must_use]
    pub fn set_bloom_filter_enabled(self, value: bool) -> Self {
        self.rule(Selector::All, Change::Bloom(value))
    }

    /// Sets the false positive probability of the bloom filter, between 0 and 1, for all columns, and turns the filter on. Default 0.05.
    #[must_use]
    pub fn set_bloom_filter_fpp(self, value: f64) -> Self {
        self.rule(Selector::All, Change::BloomFpp(value))
    }

    /// Sets the number of distinct values that the bloom filter of a column chunk is made for, for all columns, and turns the filter on.
    /// Default: the number that the chunk has.
    #[must_use]
    pub fn set_bloom_filter_max_ndv(self, value: u64) -> Self {
        self.rule(Selector::All, Change::BloomNdv(value))
    }

    /// The older name of [`set_bloom_filter_max_ndv`](Self::set_bloom_filter_max_ndv).
    #[must_use]
    pub fn set_bloom_filter_ndv(self, value: u64) -> Self {
        self.set_bloom_filter_max_ndv(value)
    }

    /// The bloom filter's size, for all columns; turns the filter on.
    #[must_use]
    pub fn set_bloom_filter_properties(self, value: BloomFilterProperties) -> Self {
        self.rule(Selector::All, Change::BloomBoth(value))
    }
}

/// # For one column, or all in a group
impl WriterPropertiesBuilder {
    /// How pages are compressed, for one column, or for all in a group.
    #[must_use]
    pub fn set_column_compression(self, col: ColumnPath, value: Compression) -> Self {
        self.rule(Selector::Column(col), Change::Compression(value))
    }

    /// How values are encoded, for one column, or for all in a group.
    #[must_use]
    pub fn set_column_encoding(self, col: ColumnPath, value: Encoding) -> Self {
        self.rule(Selector::Column(col), Change::Encoding(value))
    }

    /// Whether there may be a dictionary, for one column, or for all in a group.
    #[must_use]
    pub fn set_column_dictionary_enabled(self, col: ColumnPath, value: bool) -> Self {
        self.rule(Selector::Column(col), Change::Dictionary(value))
    }

    /// The dictionary is given up once its page would have more bytes, for one column, or for all in a group.
    #[must_use]
    pub fn set_column_dictionary_page_size_limit(self, col: ColumnPath, value: usize) -> Self {
        self.rule(Selector::Column(col), Change::DictionaryPageBytes(value))
    }

    /// A data page ends once its values and levels, encoded but not compressed, have so many bytes, for one column,
    /// or for all in a group.
    #[must_use]
    pub fn set_column_data_page_size_limit(self, col: ColumnPath, value: usize) -> Self {
        self.rule(Selector::Column(col), Change::DataPageBytes(value))
    }

    /// A data page ends once it has so many rows, for one column, or for all in a group.
    #[must_use]
    pub fn set_column_data_page_row_count_limit(self, col: ColumnPath, value: usize) -> Self {
        self.rule(Selector::Column(col), Change::PageRows(value))
    }

    /// What is bounded and counted, for one column, or for all in a group.
    #[must_use]
    pub fn set_column_statistics_enabled(self, col: ColumnPath, value: EnabledStatistics) -> Self {
        self.rule(Selector::Column(col), Change::Statistics(value))
    }

    /// Whether data page headers have statistics as well, as old readers want them, for one column, or for all in a
    /// group.
    #[must_use]
    pub fn set_column_write_page_header_statistics(self, col: ColumnPath, value: bool) -> Self {
        self.rule(Selector::Column(col), Change::PageHeaderStatistics(value))
    }

    /// Whether column chunks have a bloom filter, for one column, or for all in a group.
    #[must_use]
    pub fn set_column_bloom_filter_enabled(self, col: ColumnPath, value: bool) -> Self {
        self.rule(Selector::Column(col), Change::Bloom(value))
    }

    /// How often the bloom filter may say "maybe" for a value that is not there, between 0 and 1, for one column, or
    /// for all in a group; turns the filter on.
    #[must_use]
    pub fn set_column_bloom_filter_fpp(self, col: ColumnPath, value: f64) -> Self {
        self.rule(Selector::Column(col), Change::BloomFpp(value))
    }

    /// How many different values a column chunk is expected to have, for one column, or for all in a group; turns the
    /// bloom filter on.
    #[must_use]
    pub fn set_column_bloom_filter_max_ndv(self, col: ColumnPath, value: u64) -> Self {
        self.rule(Selector::Column(col), Change::BloomNdv(value))
    }

    /// The older name of [`set_column_bloom_filter_max_ndv`](Self::set_column_bloom_filter_max_ndv).
    #[must_use]
    pub fn set_column_bloom_filter_ndv(self, col: ColumnPath, value: u64) -> Self {
        self.set_column_bloom_filter_max_ndv(col, value)
    }

    /// The bloom filter's size, for one column, or for all in a group; turns the filter on.
    #[must_use]
    pub fn set_column_bloom_filter_properties(self, col: ColumnPath, value: BloomFilterProperties) -> Self {
        self.rule(Selector::Column(col), Change::BloomBoth(value))
    }
}
