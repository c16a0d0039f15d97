//! The resolved settings of one column: every choice made, nothing left to look up.

use super::cdc_options::CdcOptions;
use marquetry_base::CancelToken;
use marquetry_codec::Codec;
use marquetry_encoding::{PhysicalType, code};
use marquetry_format::KeyValue;

/// How one column is written.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ColumnSettings {
    /// How pages are compressed.
    pub codec: Codec,
    /// The codec's level; `None` is the codec's own default.
    pub level: Option<i32>,
    /// How values are encoded.
    pub encoding: EncodingPolicy,
    /// Which encodings [`EncodingPolicy::Auto`] may take.
    pub compat: Compat,
    /// The dictionary is given up once its page would have more bytes.
    pub dictionary_page_bytes: usize,
    /// A data page ends once its values and levels, encoded but not compressed, have so many bytes.
    pub page_bytes: usize,
    /// A data page ends once it has so many rows.
    pub page_rows: usize,
    /// If set, a data page also ends where its content says.
    pub content_defined_chunking: Option<CdcOptions>,
    /// The header of data pages.
    pub page_version: PageVersion,
    /// Whether pages have a CRC-32.
    pub checksums: bool,
    /// What is bounded and counted.
    pub statistics: StatisticsLevel,
    /// Bounds of chunks and pages are cut to so many bytes; `None` keeps them whole.
    pub statistics_truncate: Option<usize>,
    /// Bounds in the column index are cut to so many bytes; `None` keeps them whole.
    pub index_truncate: Option<usize>,
    /// Whether data page headers have statistics as well, as old readers want them.
    pub page_header_statistics: bool,
    /// The bloom filter, if any.
    pub bloom: Option<BloomSettings>,
    /// Whether floats are ordered as IEEE 754 totalOrder instead of TYPE_ORDER.
    pub total_order: bool,
    /// Whether the number of different values is in the statistics where it is known.
    pub distinct_counts: bool,
    /// Whether the dictionary that values come with is stored as it is.
    pub whole_dictionaries: bool,
    /// Key-value metadata of the chunk.
    pub key_values: Vec<KeyValue>,
    /// Stops writing: looked at before each page.
    pub cancel: CancelToken,
}

/// What [`WriterProperties`](super::WriterProperties) make of a column that nothing is said of.
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

/// How the encoding of values is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum EncodingPolicy {
    /// By encoding a sample with each encoding that is legal and allowed.
    Auto {
        /// Whether a dictionary may be among them.
        dictionary: bool,
    },
    /// Always this one, by its code in the registry of encodings.
    Only(i32),
    /// A dictionary, until its page is larger than [`ColumnSettings::dictionary_page_bytes`]; the encoding of this code
    /// from there on.
    DictionaryOr(i32),
}

/// Which readers must be able to read what [`EncodingPolicy::Auto`] chooses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Compat {
    /// All readers of the last ten years: PLAIN and dictionaries, and SNAPPY unless another codec is asked for.
    Maximum,
    /// All current readers: PLAIN and dictionaries. More, once the last of them reads more.
    #[default]
    Modern,
    /// Those of the format's current version: all encodings but those in preview. pyarrow, parquet-java and the `parquet`
    /// crate are among them; DuckDB, polars and Spark read most of it, fastparquet next to nothing.
    Latest,
}

impl Compat {
    /// The codes of the encodings that values of a type may get besides a dictionary, PLAIN first. ALP, in preview, is only for those
    /// who ask for it.
    ///
    /// QUIRK: `Modern` is what pyarrow 26, DuckDB 2, polars 2, fastparquet 2026.9 and Spark 4 all read right. fastparquet
    /// returns wrong numbers for DELTA_BINARY_PACKED and wrong booleans for RLE without any error, and refuses the other
    /// delta encodings and BYTE_STREAM_SPLIT.
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

/// The header of data pages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PageVersion {
    /// Levels and values compressed together. All readers take it.
    #[default]
    V1,
    /// Levels are not compressed, and a page that does not shrink is stored as it is.
    V2,
}

/// What is bounded and counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum StatisticsLevel {
    /// Nothing.
    None,
    /// Column chunks.
    Chunk,
    /// Column chunks and pages: the column index.
    #[default]
    Page,
}

/// How large a bloom filter is.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct BloomSettings {
    /// How many different values are expected; `None` takes the number that the chunk has.
    pub ndv: Option<u64>,
    /// How often the filter may say "maybe" for a value that is not there, between 0 and 1.
    pub fpp: f64,
}

impl BloomSettings {
    /// A filter for as many different values as the chunk has.
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
