//! Small option types: page version, statistics, bloom filters.

use crate::write::{PageVersion, StatisticsLevel};
use marquetry_base::{Error, Result};
use std::str::FromStr;

/// The version of data pages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[expect(non_camel_case_types)]
#[non_exhaustive]
pub enum WriterVersion {
    /// Data pages V1: all readers support them.
    #[default]
    PARQUET_1_0,
    /// Data pages V2: levels are not compressed, and a page that does not shrink is stored uncompressed.
    PARQUET_2_0,
}

/// The parts of a file that have statistics.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum EnabledStatistics {
    /// No statistics.
    None,
    /// Statistics of column chunks.
    Chunk,
    /// Statistics of column chunks and pages; those of pages are the column index.
    #[default]
    Page,
}

/// The stored types of Arrow types that can be stored in several ways. The defaults are what this library reads and
/// writes best, and what other readers support as well; the alternatives are for readers that support nothing else.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct StoredForms {
    /// Whether timestamps are INT96: days and nanoseconds, deprecated, without bounds. Default false: INT64.
    pub int96_timestamps: bool,
    /// Whether decimals are FIXED_LEN_BYTE_ARRAY, whatever their precision. Default false: INT32 and INT64 up to 18
    /// digits.
    pub fixed_decimals: bool,
    /// Whether elements of lists and entries of maps have the names of their Arrow fields. Default false: `element`,
    /// `key` and `value`, as the format requires.
    pub arrow_item_names: bool,
    /// Whether times of day are marked as UTC. Default false.
    pub utc_times: bool,
}

impl StoredForms {
    /// Sets whether timestamps are INT96.
    #[must_use]
    pub fn with_int96_timestamps(mut self, int96_timestamps: bool) -> Self {
        self.int96_timestamps = int96_timestamps;
        self
    }

    /// Sets whether all decimals are FIXED_LEN_BYTE_ARRAY.
    #[must_use]
    pub fn with_fixed_decimals(mut self, fixed_decimals: bool) -> Self {
        self.fixed_decimals = fixed_decimals;
        self
    }

    /// Sets whether parts of lists and maps have the names of their Arrow fields.
    #[must_use]
    pub fn with_arrow_item_names(mut self, arrow_item_names: bool) -> Self {
        self.arrow_item_names = arrow_item_names;
        self
    }

    /// Sets whether times of day are marked as UTC.
    #[must_use]
    pub fn with_utc_times(mut self, utc_times: bool) -> Self {
        self.utc_times = utc_times;
        self
    }
}

/// The position of bloom filters in the file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BloomFilterPosition {
    /// Behind their row group, so that they need not be kept in memory.
    AfterRowGroup,
    /// All together before the footer, where one request reads them.
    #[default]
    End,
}

/// The false positive probability and the expected number of values of a bloom filter, which determine its size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BloomFilterProperties {
    fpp: f64,
    ndv: Option<u64>,
}

/// A builder of [`BloomFilterProperties`].
#[derive(Debug, Clone, Copy, Default)]
pub struct BloomFilterPropertiesBuilder {
    properties: BloomFilterProperties,
}

/// The default false positive probability of a bloom filter.
pub const DEFAULT_BLOOM_FILTER_FPP: f64 = 0.05;

impl WriterVersion {
    /// Returns 1 or 2.
    pub fn as_num(&self) -> i32 {
        match self {
            WriterVersion::PARQUET_1_0 => 1,
            WriterVersion::PARQUET_2_0 => 2,
        }
    }
}

impl From<WriterVersion> for PageVersion {
    fn from(version: WriterVersion) -> Self {
        match version {
            WriterVersion::PARQUET_1_0 => PageVersion::V1,
            WriterVersion::PARQUET_2_0 => PageVersion::V2,
        }
    }
}

impl FromStr for WriterVersion {
    type Err = Error;

    /// Parses `parquet_1_0` or `parquet_2_0`, in any case; also `1` and `2`, `1.0` and `2.0`.
    fn from_str(text: &str) -> Result<Self> {
        match text.to_ascii_lowercase().as_str() {
            "parquet_1_0" | "1" | "1.0" => Ok(WriterVersion::PARQUET_1_0),
            "parquet_2_0" | "2" | "2.0" => Ok(WriterVersion::PARQUET_2_0),
            _ => Err(Error::argument(format!("writer version {text} is none of PARQUET_1_0, PARQUET_2_0"))),
        }
    }
}

impl From<EnabledStatistics> for StatisticsLevel {
    fn from(statistics: EnabledStatistics) -> Self {
        match statistics {
            EnabledStatistics::None => StatisticsLevel::None,
            EnabledStatistics::Chunk => StatisticsLevel::Chunk,
            EnabledStatistics::Page => StatisticsLevel::Page,
        }
    }
}

impl FromStr for EnabledStatistics {
    type Err = Error;

    /// Parses `none`, `chunk` or `page`, in any case.
    fn from_str(text: &str) -> Result<Self> {
        match text.to_ascii_lowercase().as_str() {
            "none" => Ok(EnabledStatistics::None),
            "chunk" => Ok(EnabledStatistics::Chunk),
            "page" => Ok(EnabledStatistics::Page),
            _ => Err(Error::argument(format!("statistics {text} are none of NONE, CHUNK, PAGE"))),
        }
    }
}

impl BloomFilterProperties {
    /// Creates a builder with the defaults.
    pub fn builder() -> BloomFilterPropertiesBuilder {
        BloomFilterPropertiesBuilder::new()
    }

    /// Creates the properties; `None` is the default.
    pub(super) fn new(fpp: Option<f64>, ndv: Option<u64>) -> Self {
        BloomFilterProperties { fpp: fpp.unwrap_or(DEFAULT_BLOOM_FILTER_FPP), ndv }
    }

    /// Returns the false positive probability of the filter.
    pub fn fpp(&self) -> f64 {
        self.fpp
    }

    /// Returns the expected number of distinct values in a column chunk; `None` means the actual number.
    pub fn ndv(&self) -> Option<u64> {
        self.ndv
    }
}

impl Default for BloomFilterProperties {
    /// [`DEFAULT_BLOOM_FILTER_FPP`], and the actual number of values.
    fn default() -> Self {
        BloomFilterProperties::new(None, None)
    }
}

impl BloomFilterPropertiesBuilder {
    /// Creates a builder with the defaults.
    pub fn new() -> Self {
        BloomFilterPropertiesBuilder::default()
    }

    /// Sets the false positive probability of the filter, between 0 and 1.
    #[must_use]
    pub fn with_fpp(mut self, fpp: f64) -> Self {
        self.properties.fpp = fpp;
        self
    }

    /// Sets the expected number of distinct values in a column chunk.
    #[must_use]
    pub fn with_max_ndv(mut self, ndv: u64) -> Self {
        self.properties.ndv = Some(ndv);
        self
    }

    /// Returns the properties, unchecked: an invalid one is an error when a writer is created.
    pub fn build(self) -> BloomFilterProperties {
        self.properties
    }

    /// Returns the properties. Fails unless the false positive probability is between 0 and 1.
    pub fn try_build(self) -> Result<BloomFilterProperties> {
        check_fpp(self.properties.fpp).map(|()| self.properties)
    }
}

/// Fails unless `fpp` is between 0 and 1.
pub(super) fn check_fpp(fpp: f64) -> Result<()> {
    match fpp > 0.0 && fpp < 1.0 {
        true => Ok(()),
        false => Err(Error::argument(format!(
            "a bloom filter's false positive probability must be between 0 and 1, not {fpp}"
        ))),
    }
}
