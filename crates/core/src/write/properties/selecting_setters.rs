//! Setters for columns by type and by pattern.

use super::rules::Change;
use super::selector::{Glob, Selector, TypeSelector};
use super::{BloomFilterProperties, Compression, EnabledStatistics, Encoding, WriterPropertiesBuilder};

/// # For the columns of a type
impl WriterPropertiesBuilder {
    /// Sets the compression of pages, for all columns of a type.
    #[must_use]
    pub fn set_type_compression(self, types: impl Into<TypeSelector>, value: Compression) -> Self {
        self.rule(Selector::Type(types.into()), Change::Compression(value))
    }

    /// Sets the encoding of values, for all columns of a type.
    #[must_use]
    pub fn set_type_encoding(self, types: impl Into<TypeSelector>, value: Encoding) -> Self {
        self.rule(Selector::Type(types.into()), Change::Encoding(value))
    }

    /// Sets whether columns may have a dictionary, for all columns of a type.
    #[must_use]
    pub fn set_type_dictionary_enabled(self, types: impl Into<TypeSelector>, value: bool) -> Self {
        self.rule(Selector::Type(types.into()), Change::Dictionary(value))
    }

    /// Sets the size limit of the dictionary page in bytes, past which the dictionary is given up, for all columns of a
    /// type.
    #[must_use]
    pub fn set_type_dictionary_page_size_limit(self, types: impl Into<TypeSelector>, value: usize) -> Self {
        self.rule(Selector::Type(types.into()), Change::DictionaryPageBytes(value))
    }

    /// Sets the size limit of data pages in bytes, of values and levels encoded but not compressed, for all columns of
    /// a type.
    #[must_use]
    pub fn set_type_data_page_size_limit(self, types: impl Into<TypeSelector>, value: usize) -> Self {
        self.rule(Selector::Type(types.into()), Change::PageBytes(value))
    }

    /// Sets the maximum number of rows in a data page, for all columns of a type.
    #[must_use]
    pub fn set_type_data_page_row_count_limit(self, types: impl Into<TypeSelector>, value: usize) -> Self {
        self.rule(Selector::Type(types.into()), Change::PageRows(value))
    }

    /// Sets which parts of a file have statistics, for all columns of a type.
    #[must_use]
    pub fn set_type_statistics_enabled(
        self,
        types: impl Into<TypeSelector>,
        value: EnabledStatistics,
    ) -> Self {
        self.rule(Selector::Type(types.into()), Change::Statistics(value))
    }

    /// Sets whether data page headers have statistics as well, for old readers, for all columns of a type.
    #[must_use]
    pub fn set_type_write_page_header_statistics(self, types: impl Into<TypeSelector>, value: bool) -> Self {
        self.rule(Selector::Type(types.into()), Change::PageHeaderStatistics(value))
    }

    /// Sets whether column chunks have a bloom filter, for all columns of a type.
    #[must_use]
    pub fn set_type_bloom_filter_enabled(self, types: impl Into<TypeSelector>, value: bool) -> Self {
        self.rule(Selector::Type(types.into()), Change::Bloom(value))
    }

    /// Sets the false positive probability of the bloom filter, between 0 and 1, for all columns of a type. Turns the
    /// filter on.
    #[must_use]
    pub fn set_type_bloom_filter_fpp(self, types: impl Into<TypeSelector>, value: f64) -> Self {
        self.rule(Selector::Type(types.into()), Change::BloomFpp(value))
    }

    /// Sets the expected number of distinct values in a column chunk, for all columns of a type. Turns the bloom filter
    /// on.
    #[must_use]
    pub fn set_type_bloom_filter_max_ndv(self, types: impl Into<TypeSelector>, value: u64) -> Self {
        self.rule(Selector::Type(types.into()), Change::BloomNdv(value))
    }

    /// The older name of [`set_type_bloom_filter_max_ndv`](Self::set_type_bloom_filter_max_ndv).
    #[must_use]
    pub fn set_type_bloom_filter_ndv(self, types: impl Into<TypeSelector>, value: u64) -> Self {
        self.set_type_bloom_filter_max_ndv(types, value)
    }

    /// Sets both properties of the bloom filter, for all columns of a type. Turns the filter on.
    #[must_use]
    pub fn set_type_bloom_filter_properties(
        self,
        types: impl Into<TypeSelector>,
        value: BloomFilterProperties,
    ) -> Self {
        self.rule(Selector::Type(types.into()), Change::BloomBoth(value))
    }
}

/// # For columns by a pattern
impl WriterPropertiesBuilder {
    /// Sets the compression of pages, for all columns whose path matches a pattern.
    #[must_use]
    pub fn set_glob_compression(self, pattern: &str, value: Compression) -> Self {
        self.rule(Selector::Glob(Glob::new(pattern)), Change::Compression(value))
    }

    /// Sets the encoding of values, for all columns whose path matches a pattern.
    #[must_use]
    pub fn set_glob_encoding(self, pattern: &str, value: Encoding) -> Self {
        self.rule(Selector::Glob(Glob::new(pattern)), Change::Encoding(value))
    }

    /// Sets whether columns may have a dictionary, for all columns whose path matches a pattern.
    #[must_use]
    pub fn set_glob_dictionary_enabled(self, pattern: &str, value: bool) -> Self {
        self.rule(Selector::Glob(Glob::new(pattern)), Change::Dictionary(value))
    }

    /// Sets the size limit of the dictionary page in bytes, past which the dictionary is given up, for all columns
    /// whose path matches a pattern.
    #[must_use]
    pub fn set_glob_dictionary_page_size_limit(self, pattern: &str, value: usize) -> Self {
        self.rule(Selector::Glob(Glob::new(pattern)), Change::DictionaryPageBytes(value))
    }

    /// Sets the size limit of data pages in bytes, of values and levels encoded but not compressed, for all columns
    /// whose path matches a pattern.
    #[must_use]
    pub fn set_glob_data_page_size_limit(self, pattern: &str, value: usize) -> Self {
        self.rule(Selector::Glob(Glob::new(pattern)), Change::PageBytes(value))
    }

    /// Sets the maximum number of rows in a data page, for all columns whose path matches a pattern.
    #[must_use]
    pub fn set_glob_data_page_row_count_limit(self, pattern: &str, value: usize) -> Self {
        self.rule(Selector::Glob(Glob::new(pattern)), Change::PageRows(value))
    }

    /// Sets which parts of a file have statistics, for all columns whose path matches a pattern.
    #[must_use]
    pub fn set_glob_statistics_enabled(self, pattern: &str, value: EnabledStatistics) -> Self {
        self.rule(Selector::Glob(Glob::new(pattern)), Change::Statistics(value))
    }

    /// Sets whether data page headers have statistics as well, for old readers, for all columns whose path matches a
    /// pattern.
    #[must_use]
    pub fn set_glob_write_page_header_statistics(self, pattern: &str, value: bool) -> Self {
        self.rule(Selector::Glob(Glob::new(pattern)), Change::PageHeaderStatistics(value))
    }

    /// Sets whether column chunks have a bloom filter, for all columns whose path matches a pattern.
    #[must_use]
    pub fn set_glob_bloom_filter_enabled(self, pattern: &str, value: bool) -> Self {
        self.rule(Selector::Glob(Glob::new(pattern)), Change::Bloom(value))
    }

    /// Sets the false positive probability of the bloom filter, between 0 and 1, for all columns whose path matches a
    /// pattern. Turns the filter on.
    #[must_use]
    pub fn set_glob_bloom_filter_fpp(self, pattern: &str, value: f64) -> Self {
        self.rule(Selector::Glob(Glob::new(pattern)), Change::BloomFpp(value))
    }

    /// Sets the expected number of distinct values in a column chunk, for all columns whose path matches a pattern.
    /// Turns the bloom filter on.
    #[must_use]
    pub fn set_glob_bloom_filter_max_ndv(self, pattern: &str, value: u64) -> Self {
        self.rule(Selector::Glob(Glob::new(pattern)), Change::BloomNdv(value))
    }

    /// The older name of [`set_glob_bloom_filter_max_ndv`](Self::set_glob_bloom_filter_max_ndv).
    #[must_use]
    pub fn set_glob_bloom_filter_ndv(self, pattern: &str, value: u64) -> Self {
        self.set_glob_bloom_filter_max_ndv(pattern, value)
    }

    /// Sets both properties of the bloom filter, for all columns whose path matches a pattern. Turns the filter on.
    #[must_use]
    pub fn set_glob_bloom_filter_properties(self, pattern: &str, value: BloomFilterProperties) -> Self {
        self.rule(Selector::Glob(Glob::new(pattern)), Change::BloomBoth(value))
    }
}
