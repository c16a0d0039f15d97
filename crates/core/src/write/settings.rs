//! How one column is written: every choice made, nothing left to look up.

use marquetry_codec::Codec;
use marquetry_format::KeyValue;

/// How one column is written.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnSettings {
    /// How pages are compressed.
    pub codec: Codec,
    /// The codec's level; `None` is the codec's own default.
    pub level: Option<i32>,
    /// How values are encoded.
    pub encoding: EncodingChoice,
    /// Which encodings [`EncodingChoice::Auto`] may take.
    pub compat: Compat,
    /// The dictionary is given up once its page would have more bytes.
    pub dictionary_page_bytes: usize,
    /// A data page ends once its values and levels, encoded but not compressed, have so many bytes.
    pub page_bytes: usize,
    /// A data page ends once it has so many rows.
    pub page_rows: usize,
    /// The header of data pages.
    pub page_version: PageVersion,
    /// Whether pages have a CRC-32.
    pub checksums: bool,
    /// What is bounded and counted.
    pub statistics: StatisticsLevel,
    /// MinMaxStats of chunks and pages are cut to so many bytes; `None` keeps them whole.
    pub statistics_truncate: Option<usize>,
    /// MinMaxStats in the column index are cut to so many bytes; `None` keeps them whole.
    pub index_truncate: Option<usize>,
    /// Whether data page headers have statistics as well, as old readers want them.
    pub page_header_statistics: bool,
    /// The bloom filter, if any.
    pub bloom: Option<BloomSettings>,
    /// Whether floats are ordered as IEEE 754 totalOrder instead of TYPE_ORDER.
    pub total_order: bool,
    /// Key-value metadata of the chunk.
    pub key_values: Vec<KeyValue>,
}

/// How the encoding of values is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EncodingChoice {
    /// By encoding a sample with each encoding that is legal and allowed.
    Auto {
        /// Whether a dictionary may be among them.
        dictionary: bool,
    },
    /// Always this one, by its code in the registry of encodings.
    FixedLenBytes(i32),
    /// A dictionary, until its page is larger than [`ColumnSettings::dictionary_page_bytes`]; the encoding of this code
    /// from there on.
    DictionaryOr(i32),
}

/// Which readers must be able to read what [`EncodingChoice::Auto`] chooses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
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

/// The header of data pages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum PageVersion {
    /// Levels and values compressed together. All readers take it.
    #[default]
    V1,
    /// Levels are not compressed, and a page that does not shrink is stored as it is.
    V2,
}

/// What is bounded and counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
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
pub struct BloomSettings {
    /// How many different values are expected; `None` takes the number that the chunk has.
    pub ndv: Option<u64>,
    /// How often the filter may say "maybe" for a value that is not there, between 0 and 1.
    pub fpp: f64,
}
