//! The settings of columns by type, and by pattern.

use super::rules::Change;
use super::selector::{Glob, Selector, TypeSelector};
use super::{BloomFilterProperties, Compression, EnabledStatistics, Encoding, WriterPropertiesBuilder};

/// # For the columns of a type
impl WriterPropertiesBuilder {
    /// How pages are compressed, for all columns of a type.
    #[must_use]
    pub fn set_type_compression(self, types: impl Into<TypeSelector>, value: Compression) -> Self {
        self.rule(Selector::Type(types.into()), Change::Compression(value))
    }

    /// How values are encoded, for all columns of a type.
    #[must_use]
    pub fn set_type_encoding(self, types: impl Into<TypeSelector>, value: Encoding) -> Self {
        self.rule(Selector::Type(types.into()), Change::Encoding(value))
    }

    /// Whether there may be a dictionary, for all columns of a type.
    #[must_use]
    pub fn set_type_dictionary_enabled(self, types: impl Into<TypeSelector>, value: bool) -> Self {
        self.rule(Selector::Type(types.into()), Change::Dictionary(value))
    }

    /// The dictionary is given up once its page would have more bytes, for all columns of a type.
    #[must_use]
    pub fn set_type_dictionary_page_size_limit(self, types: impl Into<TypeSelector>, value: usize) -> Self {
        self.rule(Selector::Type(types.into()), Change::DictionaryPageBytes(value))
    }

    /// A data page ends once its values and levels, encoded but not compressed, have so many bytes, for all columns
    /// of a type.
    #[must_use]
    pub fn set_type_data_page_size_limit(self, types: impl Into<TypeSelector>, value: usize) -> Self {
        self.rule(Selector::Type(types.into()), Change::DataPageBytes(value))
    }

    /// A data page ends once it has so many rows, for all columns of a type.
    #[must_use]
    pub fn set_type_data_page_row_count_limit(self, types: impl Into<TypeSelector>, value: usize) -> Self {
        self.rule(Selector::Type(types.into()), Change::PageRows(value))
    }

    /// What is bounded and counted, for all columns of a type.
    #[must_use]
    pub fn set_type_statistics_enabled(
        self,
        types: impl Into<TypeSelector>,
        value: EnabledStatistics,
    ) -> Self {
        self.rule(Selector::Type(types.into()), Change::Statistics(value))
    }

    /// Whether data page headers have statistics as well, as old readers want them, for all columns of a type.
    #[must_use]
    pub fn set_type_write_page_header_statistics(self, types: impl Into<TypeSelector>, value: bool) -> Self {
        self.rule(Selector::Type(types.into()), Change::PageHeaderStatistics(value))
    }

    /// Whether column chunks have a bloom filter, for all columns of a type.
    #[must_use]
    pub fn set_type_bloom_filter_enabled(self, types: impl Into<TypeSelector>, value: bool) -> Self {
        self.rule(Selector::Type(types.into()), Change::Bloom(value))
    }

    /// How often the bloom filter may say "maybe" for a value that is not there, between 0 and 1, for all columns of
    /// a type; turns the filter on.
    #[must_use]
    pub fn set_type_bloom_filter_fpp(self, types: impl Into<TypeSelector>, value: f64) -> Self {
        self.rule(Selector::Type(types.into()), Change::BloomFpp(value))
    }

    /// How many different values a column chunk is expected to have, for all columns of a type; turns the bloom
    /// filter on.
    #[must_use]
    pub fn set_type_bloom_filter_max_ndv(self, types: impl Into<TypeSelector>, value: u64) -> Self {
        self.rule(Selector::Type(types.into()), Change::BloomNdv(value))
    }

    /// The older name of [`set_type_bloom_filter_max_ndv`](Self::set_type_bloom_filter_max_ndv).
    #[must_use]
    pub fn set_type_bloom_filter_ndv(self, types: impl Into<TypeSelector>, value: u64) -> Self {
        self.set_type_bloom_filter_max_ndv(types, value)
    }

    /// The bloom filter's size, for all columns of a type; turns the filter on.
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
    /// How pages are compressed, for all columns that a pattern fits.
    #[must_use]
    pub fn set_glob_compression(self, pattern: &str, value: Compression) -> Self {
        self.rule(Selector::Glob(Glob::new(pattern)), Change::Compression(value))
    }

    /// How values are encoded, for all columns that a pattern fits.
    #[must_use]
    pub fn set_glob_encoding(self, pattern: &str, value: Encoding) -> Self {
        self.rule(Selector::Glob(Glob::new(pattern)), Change::Encoding(value))
    }

    /// Whether there may be a dictionary, for all columns that a pattern fits.
    #[must_use]
    pub fn set_glob_dictionary_enabled(self, pattern: &str, value: bool) -> Self {
        self.rule(Selector::Glob(Glob::new(pattern)), Change::Dictionary(value))
    }

    /// The dictionary is given up once its page would have more bytes, for all columns that a pattern fits.
    #[must_use]
    pub fn set_glob_dictionary_page_size_limit(self, pattern: &str, value: usize) -> Self {
        self.rule(Selector::Glob(Glob::new(pattern)), Change::DictionaryPageBytes(value))
    }

    /// A data page ends once its values and levels, encoded but not compressed, have so many bytes, for all columns
    /// that a pattern fits.
    #[must_use]
    pub fn set_glob_data_page_size_limit(self, pattern: &str, value: usize) -> Self {
        self.rule(Selector::Glob(Glob::new(pattern)), Change::DataPageBytes(value))
    }

    /// A data page ends once it has so many rows, for all columns that a pattern fits.
    #[must_use]
    pub fn set_glob_data_page_row_count_limit(self, pattern: &str, value: usize) -> Self {
        self.rule(Selector::Glob(Glob::new(pattern)), Change::PageRows(value))
    }

    /// What is bounded and counted, for all columns that a pattern fits.
    #[must_use]
    pub fn set_glob_statistics_enabled(self, pattern: &str, value: EnabledStatistics) -> Self {
        self.rule(Selector::Glob(Glob::new(pattern)), Change::Statistics(value))
    }

    /// Whether data page headers have statistics as well, as old readers want them, for all columns that a pattern
    /// fits.
    #[must_use]
    pub fn set_glob_write_page_header_statistics(self, pattern: &str, value: bool) -> Self {
        self.rule(Selector::Glob(Glob::new(pattern)), Change::PageHeaderStatistics(value))
    }

    /// Whether column chunks have a bloom filter, for all columns that a pattern fits.
    #[must_use]
    pub fn set_glob_bloom_filter_enabled(self, pattern: &str, value: bool) -> Self {
        self.rule(Selector::Glob(Glob::new(pattern)), Change::Bloom(value))
    }

    /// How often the bloom filter may say "maybe" for a value that is not there, between 0 and 1, for all columns
    /// that a pattern fits; turns the filter on.
    #[must_use]
    pub fn set_glob_bloom_filter_fpp(self, pattern: &str, value: f64) -> Self {
        self.rule(Selector::Glob(Glob::new(pattern)), Change::BloomFpp(value))
    }

    /// How many different values a column chunk is expected to have, for all columns that a pattern fits; turns the
    /// bloom filter on.
    #[must_use]
    pub fn set_glob_bloom_filter_max_ndv(self, pattern: &str, value: u64) -> Self {
        self.rule(Selector::Glob(Glob::new(pattern)), Change::BloomNdv(value))
    }

    /// The older name of [`set_glob_bloom_filter_max_ndv`](Self::set_glob_bloom_filter_max_ndv).
    #[must_use]
    pub fn set_glob_bloom_filter_ndv(self, pattern: &str, value: u64) -> Self {
        self.set_glob_bloom_filter_max_ndv(pattern, value)
    }

    /// The bloom filter's size, for all columns that a pattern fits; turns the filter on.
    #[must_use]
    pub fn set_glob_bloom_filter_properties(self, pattern: &str, value: BloomFilterProperties) -> Self {
        self.rule(Selector::Glob(Glob::new(pattern)), Change::BloomBoth(value))
    }
}
