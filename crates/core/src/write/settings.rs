//! The resolved settings of one column: all choices are made.

use super::cdc_options::CdcOptions;
use marquetry_base::CancelToken;
use marquetry_codec::Codec;
use marquetry_encoding::{PhysicalType, code};
use marquetry_format::KeyValue;

/// The settings with which one column is written.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ColumnSettings {
    /// The codec of pages.
    pub codec: Codec,
    /// The codec's level; `None` is the codec's own default.
    pub level: Option<i32>,
    /// How the encoding of values is chosen.
    pub encoding: EncodingPolicy,
    /// Limits which encodings [`EncodingPolicy::Auto`] may choose.
    pub compat: Compat,
    /// Size limit of the dictionary page in bytes, past which the dictionary is given up.
    pub dictionary_page_bytes: usize,
    /// Size limit of data pages in bytes, of values and levels encoded but not compressed.
    pub page_bytes: usize,
    /// Maximum number of rows in a data page.
    pub page_rows: usize,
    /// If set, a data page also ends where its content determines it.
    pub content_defined_chunking: Option<CdcOptions>,
    /// The version of data pages.
    pub page_version: PageVersion,
    /// Whether pages have a CRC-32 checksum.
    pub checksums: bool,
    /// The parts of the file that have statistics.
    pub statistics: StatisticsLevel,
    /// Length in bytes to which bounds of chunks, and those in page headers, are truncated; `None` keeps them whole.
    pub statistics_truncate: Option<usize>,
    /// Length in bytes to which bounds in the column index are truncated; `None` keeps them whole.
    pub index_truncate: Option<usize>,
    /// Whether data page headers have statistics as well, for old readers.
    pub page_header_statistics: bool,
    /// The bloom filter, if any.
    pub bloom: Option<BloomSettings>,
    /// Whether floats are ordered by IEEE 754 totalOrder instead of TYPE_ORDER.
    pub total_order: bool,
    /// Whether statistics have the number of distinct values if it is known.
    pub distinct_counts: bool,
    /// Whether the dictionary that values come with is stored whole.
    pub whole_dictionaries: bool,
    /// Key-value metadata of the chunk.
    pub key_values: Vec<KeyValue>,
    /// A token that stops writing; it is checked before each page.
    pub cancel: CancelToken,
}

/// The settings of a column for which the [`WriterProperties`](super::WriterProperties) set nothing.
impl Default for ColumnSettings {
    fn default() -> Self {
        ColumnSettings {
            codec: Codec::Zstd,
            level: Some(1),
            encoding: EncodingPolicy::Auto { dictionary: true },
            compat: Compat::default(),
            dictionary_page_bytes: 4 << 20,
            page_bytes: 1 << 20,
            page_rows: 20_000,
            content_defined_chunking: None,
            page_version: PageVersion::default(),
            checksums: true,
            statistics: StatisticsLevel::default(),
            statistics_truncate: Some(64),
            index_truncate: Some(64),
            page_header_statistics: false,
            bloom: None,
            total_order: false,
            distinct_counts: true,
            whole_dictionaries: false,
            key_values: Vec::new(),
            cancel: CancelToken::default(),
        }
    }
}

impl ColumnSettings {
    /// Sets [`cancel`](Self::cancel).
    #[must_use]
    pub fn with_cancel(mut self, cancel: CancelToken) -> Self {
        self.cancel = cancel;
        self
    }

    /// Sets [`codec`](Self::codec).
    #[must_use]
    pub fn with_codec(mut self, codec: Codec) -> Self {
        self.codec = codec;
        self
    }

    /// Sets [`level`](Self::level).
    #[must_use]
    pub fn with_level(mut self, level: Option<i32>) -> Self {
        self.level = level;
        self
    }

    /// Sets [`encoding`](Self::encoding).
    #[must_use]
    pub fn with_encoding(mut self, encoding: EncodingPolicy) -> Self {
        self.encoding = encoding;
        self
    }

    /// Sets [`compat`](Self::compat).
    #[must_use]
    pub fn with_compat(mut self, compat: Compat) -> Self {
        self.compat = compat;
        self
    }

    /// Sets [`dictionary_page_bytes`](Self::dictionary_page_bytes).
    #[must_use]
    pub fn with_dictionary_page_bytes(mut self, dictionary_page_bytes: usize) -> Self {
        self.dictionary_page_bytes = dictionary_page_bytes;
        self
    }

    /// Sets [`page_bytes`](Self::page_bytes).
    #[must_use]
    pub fn with_page_bytes(mut self, page_bytes: usize) -> Self {
        self.page_bytes = page_bytes;
        self
    }

    /// Sets [`page_rows`](Self::page_rows).
    #[must_use]
    pub fn with_page_rows(mut self, page_rows: usize) -> Self {
        self.page_rows = page_rows;
        self
    }

    /// Sets [`content_defined_chunking`](Self::content_defined_chunking).
    #[must_use]
    pub fn with_content_defined_chunking(mut self, options: Option<CdcOptions>) -> Self {
        self.content_defined_chunking = options;
        self
    }

    /// Sets [`page_version`](Self::page_version).
    #[must_use]
    pub fn with_page_version(mut self, page_version: PageVersion) -> Self {
        self.page_version = page_version;
        self
    }

    /// Sets [`checksums`](Self::checksums).
    #[must_use]
    pub fn with_checksums(mut self, checksums: bool) -> Self {
        self.checksums = checksums;
        self
    }

    /// Sets [`statistics`](Self::statistics).
    #[must_use]
    pub fn with_statistics(mut self, statistics: StatisticsLevel) -> Self {
        self.statistics = statistics;
        self
    }

    /// Sets [`statistics_truncate`](Self::statistics_truncate).
    #[must_use]
    pub fn with_statistics_truncate(mut self, statistics_truncate: Option<usize>) -> Self {
        self.statistics_truncate = statistics_truncate;
        self
    }

    /// Sets [`index_truncate`](Self::index_truncate).
    #[must_use]
    pub fn with_index_truncate(mut self, index_truncate: Option<usize>) -> Self {
        self.index_truncate = index_truncate;
        self
    }

    /// Sets [`page_header_statistics`](Self::page_header_statistics).
    #[must_use]
    pub fn with_page_header_statistics(mut self, page_header_statistics: bool) -> Self {
        self.page_header_statistics = page_header_statistics;
        self
    }

    /// Sets [`bloom`](Self::bloom).
    #[must_use]
    pub fn with_bloom(mut self, bloom: Option<BloomSettings>) -> Self {
        self.bloom = bloom;
        self
    }

    /// Sets [`distinct_counts`](Self::distinct_counts).
    #[must_use]
    pub fn with_distinct_counts(mut self, distinct_counts: bool) -> Self {
        self.distinct_counts = distinct_counts;
        self
    }

    /// Sets [`whole_dictionaries`](Self::whole_dictionaries).
    #[must_use]
    pub fn with_whole_dictionaries(mut self, whole_dictionaries: bool) -> Self {
        self.whole_dictionaries = whole_dictionaries;
        self
    }

    /// Sets [`total_order`](Self::total_order).
    #[must_use]
    pub fn with_total_order(mut self, total_order: bool) -> Self {
        self.total_order = total_order;
        self
    }

    /// Sets [`key_values`](Self::key_values).
    #[must_use]
    pub fn with_key_values(mut self, key_values: Vec<KeyValue>) -> Self {
        self.key_values = key_values;
        self
    }
}

/// How the encoding of values is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum EncodingPolicy {
    /// The smallest of the encodings that are legal and allowed, found by encoding a sample with each.
    Auto {
        /// Whether a dictionary is allowed.
        dictionary: bool,
    },
    /// Always the encoding with this code.
    Only(i32),
    /// A dictionary, until its page exceeds [`ColumnSettings::dictionary_page_bytes`]; then the encoding with this
    /// code.
    DictionaryOr(i32),
}

/// The readers that must support the choices of [`EncodingPolicy::Auto`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Compat {
    /// All readers of the last ten years: PLAIN and dictionaries, and SNAPPY unless another codec is set.
    Maximum,
    /// All current readers: PLAIN and dictionaries. Other encodings will be added when all of these readers support
    /// them.
    #[default]
    Modern,
    /// Readers of the format's current version: all encodings except those in preview. pyarrow, parquet-java and the
    /// `parquet` crate are among them; DuckDB, polars and Spark support most encodings, fastparquet hardly any.
    Latest,
}

impl Compat {
    /// Returns the codes of the encodings that values of a type may get besides a dictionary, PLAIN first. ALP, in
    /// preview, must be set explicitly.
    ///
    /// QUIRK: pyarrow 26, DuckDB 2, polars 2, fastparquet 2026.9 and Spark 4 all read the encodings of `Modern`
    /// correctly. fastparquet returns wrong numbers for DELTA_BINARY_PACKED and wrong booleans for RLE without any
    /// error, and refuses the other delta encodings and BYTE_STREAM_SPLIT.
    pub fn encodings(self, physical: PhysicalType) -> &'static [i32] {
        use PhysicalType::*;
        match (self, physical) {
            (Compat::Maximum | Compat::Modern, _) | (_, Int96) => &[code::PLAIN],
            (Compat::Latest, Boolean) => &[code::PLAIN, code::RLE],
            (Compat::Latest, Int32 | Int64) => {
                &[code::PLAIN, code::DELTA_BINARY_PACKED, code::BYTE_STREAM_SPLIT]
            }
            (Compat::Latest, Float | Double) => &[code::PLAIN, code::BYTE_STREAM_SPLIT],
            (Compat::Latest, ByteArray) => {
                &[code::PLAIN, code::DELTA_LENGTH_BYTE_ARRAY, code::DELTA_BYTE_ARRAY]
            }
            (Compat::Latest, FixedLenByteArray(_)) => {
                &[code::PLAIN, code::DELTA_BYTE_ARRAY, code::BYTE_STREAM_SPLIT]
            }
        }
    }
}

/// The version of data pages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PageVersion {
    /// Levels and values are compressed together. All readers support it.
    #[default]
    V1,
    /// Levels are not compressed, and a page that does not shrink is stored uncompressed.
    V2,
}

/// The parts of a file that have statistics.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum StatisticsLevel {
    /// No statistics.
    None,
    /// Statistics of column chunks.
    Chunk,
    /// Statistics of column chunks and pages; those of pages are the column index.
    #[default]
    Page,
}

/// The false positive probability and the expected number of values of a bloom filter, which determine its size.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct BloomSettings {
    /// Expected number of distinct values; `None` means the actual number.
    pub ndv: Option<u64>,
    /// False positive probability of the filter, between 0 and 1.
    pub fpp: f64,
}

impl BloomSettings {
    /// Creates settings for the actual number of distinct values in the chunk.
    pub fn new(fpp: f64) -> Self {
        BloomSettings { ndv: None, fpp }
    }

    /// Sets [`ndv`](Self::ndv).
    #[must_use]
    pub fn with_ndv(mut self, ndv: Option<u64>) -> Self {
        self.ndv = ndv;
        self
    }
}
