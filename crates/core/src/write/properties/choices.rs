//! Small choices: page version, statistics, bloom filters.

use crate::write::{PageVersion, StatisticsLevel};
use marquetry_base::{Error, Result};
use std::str::FromStr;

/// Which page headers are written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[expect(non_camel_case_types)]
#[non_exhaustive]
pub enum WriterVersion {
    /// Data pages V1: all readers take them.
    #[default]
    PARQUET_1_0,
    /// Data pages V2: levels are not compressed, and a page that does not shrink is stored as it is.
    PARQUET_2_0,
}

/// What is bounded and counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum EnabledStatistics {
    /// Nothing.
    None,
    /// Column chunks.
    Chunk,
    /// Column chunks and pages: the column index.
    #[default]
    Page,
}

/// What Arrow types are stored as where there is a choice. Default: what this library reads and writes best, and other readers
/// take as well; the others are for readers that know nothing else.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct StoredForms {
    /// Timestamps are INT96: days and nanoseconds, deprecated, without bounds. Default false: INT64.
    pub int96_timestamps: bool,
    /// Decimals are FIXED_LEN_BYTE_ARRAY, whatever their precision. Default false: INT32 and INT64 up to 18 digits.
    pub fixed_decimals: bool,
    /// The elements of lists have the name that their Arrow field has, and entries of maps too. Default false: `element`, `key` and
    /// `value`, as the format wants it.
    pub arrow_item_names: bool,
    /// Times of day are marked as those of UTC. Default false.
    pub utc_times: bool,
}

impl StoredForms {
    /// Whether timestamps are INT96.
    #[must_use]
    pub fn with_int96_timestamps(mut self, int96_timestamps: bool) -> Self {
        self.int96_timestamps = int96_timestamps;
        self
    }

    /// Whether all decimals are FIXED_LEN_BYTE_ARRAY.
    #[must_use]
    pub fn with_fixed_decimals(mut self, fixed_decimals: bool) -> Self {
        self.fixed_decimals = fixed_decimals;
        self
    }

    /// Whether parts of lists and maps have the names that Arrow gives them.
    #[must_use]
    pub fn with_arrow_item_names(mut self, arrow_item_names: bool) -> Self {
        self.arrow_item_names = arrow_item_names;
        self
    }

    /// Whether times of day are those of UTC.
    #[must_use]
    pub fn with_utc_times(mut self, utc_times: bool) -> Self {
        self.utc_times = utc_times;
        self
    }
}

/// Where bloom filters stand.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BloomFilterPosition {
    /// Behind their row group: they need not be kept in memory.
    AfterRowGroup,
    /// All together before the footer, where one read gets them.
    #[default]
    End,
}

/// How large a bloom filter is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BloomFilterProperties {
    fpp: f64,
    ndv: Option<u64>,
}

/// Makes [`BloomFilterProperties`].
#[derive(Debug, Clone, Copy, Default)]
pub struct BloomFilterPropertiesBuilder {
    properties: BloomFilterProperties,
}

/// How often a bloom filter says "maybe" for a value that is not there, unless something else is asked for.
pub const DEFAULT_BLOOM_FILTER_FPP: f64 = 0.05;

impl WriterVersion {
    /// 1 or 2.
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

    /// `parquet_1_0` or `parquet_2_0`, in any case; also `1` and `2`, `1.0` and `2.0`.
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

    /// `none`, `chunk` or `page`, in any case.
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
    /// A builder with the defaults.
    pub fn builder() -> BloomFilterPropertiesBuilder {
        BloomFilterPropertiesBuilder::new()
    }

    /// As it is asked for, `None` being the default.
    pub(super) fn new(fpp: Option<f64>, ndv: Option<u64>) -> Self {
        BloomFilterProperties { fpp: fpp.unwrap_or(DEFAULT_BLOOM_FILTER_FPP), ndv }
    }

    /// How often the filter may say "maybe" for a value that is not there.
    pub fn fpp(&self) -> f64 {
        self.fpp
    }

    /// How many different values a column chunk is expected to have; `None` takes the number that it has.
    pub fn ndv(&self) -> Option<u64> {
        self.ndv
    }
}

impl Default for BloomFilterProperties {
    /// [`DEFAULT_BLOOM_FILTER_FPP`], and as many values as there are.
    fn default() -> Self {
        BloomFilterProperties::new(None, None)
    }
}

impl BloomFilterPropertiesBuilder {
    /// A builder with the defaults.
    pub fn new() -> Self {
        BloomFilterPropertiesBuilder::default()
    }

    /// How often the filter may say "maybe" for a value that is not there, between 0 and 1.
    #[must_use]
    pub fn with_fpp(mut self, fpp: f64) -> Self {
        self.properties.fpp = fpp;
        self
    }

    /// How many different values a column chunk is expected to have.
    #[must_use]
    pub fn with_max_ndv(mut self, ndv: u64) -> Self {
        self.properties.ndv = Some(ndv);
        self
    }

    /// The properties, unchecked: a wrong one is an error when a writer is made.
    pub fn build(self) -> BloomFilterProperties {
        self.properties
    }

    /// The properties. Fails unless the false positive probability is between 0 and 1.
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
