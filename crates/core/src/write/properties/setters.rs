//! Setters for all columns, and for one.

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
    /// Sets the compression of pages, for all columns. Default [`DEFAULT_COMPRESSION`](super::DEFAULT_COMPRESSION), or
    /// SNAPPY with [`Compat::Maximum`](crate::write::Compat::Maximum).
    #[must_use]
    pub fn set_compression(self, value: Compression) -> Self {
        self.rule(Selector::All, Change::Compression(value))
    }

    /// Sets the encoding of values, for all columns. Default [`Encoding::Auto`]. An encoding that a column's type may
    /// not have is an error, see [`WriterProperties::column_settings`](super::WriterProperties::column_settings).
    #[must_use]
    pub fn set_encoding(self, value: Encoding) -> Self {
        self.rule(Selector::All, Change::Encoding(value))
    }

    /// Sets whether columns may have a dictionary, for all columns. By default [`Encoding::Auto`] may choose one.
    /// `true` together with an encoding makes that encoding the fallback for a dictionary that becomes too large;
    /// `false` keeps [`Encoding::Auto`] from choosing a dictionary.
    #[must_use]
    pub fn set_dictionary_enabled(self, value: bool) -> Self {
        self.rule(Selector::All, Change::Dictionary(value))
    }

    /// Sets the size limit of the dictionary page in bytes, past which the dictionary is given up, for all columns.
    /// Default 4 MiB.
    #[must_use]
    pub fn set_dictionary_page_size_limit(self, value: usize) -> Self {
        self.rule(Selector::All, Change::DictionaryPageBytes(value))
    }

    /// Sets the size limit of data pages in bytes, of values and levels encoded but not compressed, for all columns.
    /// Default 1 MiB; more than 1 GiB counts as 1 GiB.
    #[must_use]
    pub fn set_data_page_size_limit(self, value: usize) -> Self {
        self.rule(Selector::All, Change::PageBytes(value))
    }

    /// Sets the maximum number of rows in a data page, for all columns. Default 20,000.
    #[must_use]
    pub fn set_data_page_row_count_limit(self, value: usize) -> Self {
        self.rule(Selector::All, Change::PageRows(value))
    }

    /// Sets which parts of a file have statistics, for all columns. Default [`EnabledStatistics::Page`], or
    /// [`EnabledStatistics::Chunk`] if the offset index is disabled.
    #[must_use]
    pub fn set_statistics_enabled(self, value: EnabledStatistics) -> Self {
        self.rule(Selector::All, Change::Statistics(value))
    }

    /// Sets whether data page headers have statistics as well, for old readers, for all columns. Default `false`: the
    /// column index has them.
    #[must_use]
    pub fn set_write_page_header_statistics(self, value: bool) -> Self {
        self.rule(Selector::All, Change::PageHeaderStatistics(value))
    }

    /// Sets whether column chunks have a bloom filter, for all columns. Default `false`. BOOLEAN and FLOAT16 columns
    /// never have one.
    #[must_use]
    pub fn set_bloom_filter_enabled(self, value: bool) -> Self {
        self.rule(Selector::All, Change::Bloom(value))
    }

    /// Sets the false positive probability of the bloom filter, between 0 and 1, for all columns. Turns the filter on.
    /// Default 0.05.
    #[must_use]
    pub fn set_bloom_filter_fpp(self, value: f64) -> Self {
        self.rule(Selector::All, Change::BloomFpp(value))
    }

    /// Sets the expected number of distinct values in a column chunk, for all columns. Turns the bloom filter on. By
    /// default the actual number is used.
    #[must_use]
    pub fn set_bloom_filter_max_ndv(self, value: u64) -> Self {
        self.rule(Selector::All, Change::BloomNdv(value))
    }

    /// The older name of [`set_bloom_filter_max_ndv`](Self::set_bloom_filter_max_ndv).
    #[must_use]
    pub fn set_bloom_filter_ndv(self, value: u64) -> Self {
        self.set_bloom_filter_max_ndv(value)
    }

    /// Sets both properties of the bloom filter, for all columns. Turns the filter on.
    #[must_use]
    pub fn set_bloom_filter_properties(self, value: BloomFilterProperties) -> Self {
        self.rule(Selector::All, Change::BloomBoth(value))
    }
}

/// # For one column, or all in a group
impl WriterPropertiesBuilder {
    /// Sets the compression of pages, for one column, or for all columns of a group.
    #[must_use]
    pub fn set_column_compression(self, col: ColumnPath, value: Compression) -> Self {
        self.rule(Selector::Column(col), Change::Compression(value))
    }

    /// Sets the encoding of values, for one column, or for all columns of a group.
    #[must_use]
    pub fn set_column_encoding(self, col: ColumnPath, value: Encoding) -> Self {
        self.rule(Selector::Column(col), Change::Encoding(value))
    }

    /// Sets whether columns may have a dictionary, for one column, or for all columns of a group.
    #[must_use]
    pub fn set_column_dictionary_enabled(self, col: ColumnPath, value: bool) -> Self {
        self.rule(Selector::Column(col), Change::Dictionary(value))
    }

    /// Sets the size limit of the dictionary page in bytes, past which the dictionary is given up, for one column, or
    /// for all columns of a group.
    #[must_use]
    pub fn set_column_dictionary_page_size_limit(self, col: ColumnPath, value: usize) -> Self {
        self.rule(Selector::Column(col), Change::DictionaryPageBytes(value))
    }

    /// Sets the size limit of data pages in bytes, of values and levels encoded but not compressed, for one column, or
    /// for all columns of a group.
    #[must_use]
    pub fn set_column_data_page_size_limit(self, col: ColumnPath, value: usize) -> Self {
        self.rule(Selector::Column(col), Change::PageBytes(value))
    }

    /// Sets the maximum number of rows in a data page, for one column, or for all columns of a group.
    #[must_use]
    pub fn set_column_data_page_row_count_limit(self, col: ColumnPath, value: usize) -> Self {
        self.rule(Selector::Column(col), Change::PageRows(value))
    }

    /// Sets which parts of a file have statistics, for one column, or for all columns of a group.
    #[must_use]
    pub fn set_column_statistics_enabled(self, col: ColumnPath, value: EnabledStatistics) -> Self {
        self.rule(Selector::Column(col), Change::Statistics(value))
    }

    /// Sets whether data page headers have statistics as well, for old readers, for one column, or for all columns of a
    /// group.
    #[must_use]
    pub fn set_column_write_page_header_statistics(self, col: ColumnPath, value: bool) -> Self {
        self.rule(Selector::Column(col), Change::PageHeaderStatistics(value))
    }

    /// Sets whether column chunks have a bloom filter, for one column, or for all columns of a group.
    #[must_use]
    pub fn set_column_bloom_filter_enabled(self, col: ColumnPath, value: bool) -> Self {
        self.rule(Selector::Column(col), Change::Bloom(value))
    }

    /// Sets the false positive probability of the bloom filter, between 0 and 1, for one column, or for all columns of
    /// a group. Turns the filter on.
    #[must_use]
    pub fn set_column_bloom_filter_fpp(self, col: ColumnPath, value: f64) -> Self {
        self.rule(Selector::Column(col), Change::BloomFpp(value))
    }

    /// Sets the expected number of distinct values in a column chunk, for one column, or for all columns of a group.
    /// Turns the bloom filter on.
    #[must_use]
    pub fn set_column_bloom_filter_max_ndv(self, col: ColumnPath, value: u64) -> Self {
        self.rule(Selector::Column(col), Change::BloomNdv(value))
    }

    /// The older name of [`set_column_bloom_filter_max_ndv`](Self::set_column_bloom_filter_max_ndv).
    #[must_use]
    pub fn set_column_bloom_filter_ndv(self, col: ColumnPath, value: u64) -> Self {
        self.set_column_bloom_filter_max_ndv(col, value)
    }

    /// Sets both properties of the bloom filter, for one column, or for all columns of a group. Turns the filter on.
    #[must_use]
    pub fn set_column_bloom_filter_properties(self, col: ColumnPath, value: BloomFilterProperties) -> Self {
        self.rule(Selector::Column(col), Change::BloomBoth(value))
    }
}
