//! The enumerations of `parquet.thrift`. Each wraps its number, so that values of later versions are kept, shown and written back.
use std::fmt;
use std::str::FromStr;

/// The physical type of a column.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Type(pub i32);

impl Type {
    /// `BOOLEAN`.
    pub const BOOLEAN: Type = Type(0);
    /// `INT32`.
    pub const INT32: Type = Type(1);
    /// `INT64`.
    pub const INT64: Type = Type(2);
    /// `INT96`.
    pub const INT96: Type = Type(3);
    /// `FLOAT`.
    pub const FLOAT: Type = Type(4);
    /// `DOUBLE`.
    pub const DOUBLE: Type = Type(5);
    /// `BYTE_ARRAY`.
    pub const BYTE_ARRAY: Type = Type(6);
    /// `FIXED_LEN_BYTE_ARRAY`.
    pub const FIXED_LEN_BYTE_ARRAY: Type = Type(7);

    const NAMES: &[&str] =
        &["BOOLEAN", "INT32", "INT64", "INT96", "FLOAT", "DOUBLE", "BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY"];

    /// The name in `parquet.thrift`, if this is a known value.
    pub fn name(self) -> Option<&'static str> {
        name(Self::NAMES, self.0)
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        display(Self::NAMES, self.0, f)
    }
}

impl fmt::Debug for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        display(Self::NAMES, self.0, f)
    }
}

/// The older annotation of a field, which `LogicalType` succeeded.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct ConvertedType(pub i32);

impl ConvertedType {
    /// `UTF8`.
    pub const UTF8: ConvertedType = ConvertedType(0);
    /// `MAP`.
    pub const MAP: ConvertedType = ConvertedType(1);
    /// `MAP_KEY_VALUE`.
    pub const MAP_KEY_VALUE: ConvertedType = ConvertedType(2);
    /// `LIST`.
    pub const LIST: ConvertedType = ConvertedType(3);
    /// `ENUM`.
    pub const ENUM: ConvertedType = ConvertedType(4);
    /// `DECIMAL`.
    pub const DECIMAL: ConvertedType = ConvertedType(5);
    /// `DATE`.
    pub const DATE: ConvertedType = ConvertedType(6);
    /// `TIME_MILLIS`.
    pub const TIME_MILLIS: ConvertedType = ConvertedType(7);
    /// `TIME_MICROS`.
    pub const TIME_MICROS: ConvertedType = ConvertedType(8);
    /// `TIMESTAMP_MILLIS`.
    pub const TIMESTAMP_MILLIS: ConvertedType = ConvertedType(9);
    /// `TIMESTAMP_MICROS`.
    pub const TIMESTAMP_MICROS: ConvertedType = ConvertedType(10);
    /// `UINT_8`.
    pub const UINT_8: ConvertedType = ConvertedType(11);
    /// `UINT_16`.
    pub const UINT_16: ConvertedType = ConvertedType(12);
    /// `UINT_32`.
    pub const UINT_32: ConvertedType = ConvertedType(13);
    /// `UINT_64`.
    pub const UINT_64: ConvertedType = ConvertedType(14);
    /// `INT_8`.
    pub const INT_8: ConvertedType = ConvertedType(15);
    /// `INT_16`.
    pub const INT_16: ConvertedType = ConvertedType(16);
    /// `INT_32`.
    pub const INT_32: ConvertedType = ConvertedType(17);
    /// `INT_64`.
    pub const INT_64: ConvertedType = ConvertedType(18);
    /// `JSON`.
    pub const JSON: ConvertedType = ConvertedType(19);
    /// `BSON`.
    pub const BSON: ConvertedType = ConvertedType(20);
    /// `INTERVAL`.
    pub const INTERVAL: ConvertedType = ConvertedType(21);

    const NAMES: &[&str] = &[
        "UTF8",
        "MAP",
        "MAP_KEY_VALUE",
        "LIST",
        "ENUM",
        "DECIMAL",
        "DATE",
        "TIME_MILLIS",
        "TIME_MICROS",
        "TIMESTAMP_MILLIS",
        "TIMESTAMP_MICROS",
        "UINT_8",
        "UINT_16",
        "UINT_32",
        "UINT_64",
        "INT_8",
        "INT_16",
        "INT_32",
        "INT_64",
        "JSON",
        "BSON",
        "INTERVAL",
    ];

    /// The name in `parquet.thrift`, if this is a known value.
    pub fn name(self) -> Option<&'static str> {
        name(Self::NAMES, self.0)
    }
}

impl fmt::Display for ConvertedType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        display(Self::NAMES, self.0, f)
    }
}

impl fmt::Debug for ConvertedType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        display(Self::NAMES, self.0, f)
    }
}

/// How often a field occurs in its parent: `FieldRepetitionType`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Repetition(pub i32);

impl Repetition {
    /// Exactly once.
    pub const REQUIRED: Repetition = Repetition(0);
    /// At most once.
    pub const OPTIONAL: Repetition = Repetition(1);
    /// Any number of times.
    pub const REPEATED: Repetition = Repetition(2);

    const NAMES: &[&str] = &["REQUIRED", "OPTIONAL", "REPEATED"];

    /// The name in `parquet.thrift`, if this is a known value.
    pub fn name(self) -> Option<&'static str> {
        name(Self::NAMES, self.0)
    }
}

impl fmt::Display for Repetition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        display(Self::NAMES, self.0, f)
    }
}

impl fmt::Debug for Repetition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        display(Self::NAMES, self.0, f)
    }
}

/// The encoding of values or levels.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Encoding(pub i32);

impl Encoding {
    /// `PLAIN`.
    pub const PLAIN: Encoding = Encoding(0);
    /// `PLAIN_DICTIONARY`.
    pub const PLAIN_DICTIONARY: Encoding = Encoding(2);
    /// `RLE`.
    pub const RLE: Encoding = Encoding(3);
    /// `BIT_PACKED`.
    pub const BIT_PACKED: Encoding = Encoding(4);
    /// `DELTA_BINARY_PACKED`.
    pub const DELTA_BINARY_PACKED: Encoding = Encoding(5);
    /// `DELTA_LENGTH_BYTE_ARRAY`.
    pub const DELTA_LENGTH_BYTE_ARRAY: Encoding = Encoding(6);
    /// `DELTA_BYTE_ARRAY`.
    pub const DELTA_BYTE_ARRAY: Encoding = Encoding(7);
    /// `RLE_DICTIONARY`.
    pub const RLE_DICTIONARY: Encoding = Encoding(8);
    /// `BYTE_STREAM_SPLIT`.
    pub const BYTE_STREAM_SPLIT: Encoding = Encoding(9);
    /// `ALP`.
    pub const ALP: Encoding = Encoding(10);

    const NAMES: &[&str] = &[
        "PLAIN",
        "",
        "PLAIN_DICTIONARY",
        "RLE",
        "BIT_PACKED",
        "DELTA_BINARY_PACKED",
        "DELTA_LENGTH_BYTE_ARRAY",
        "DELTA_BYTE_ARRAY",
        "RLE_DICTIONARY",
        "BYTE_STREAM_SPLIT",
        "ALP",
    ];

    /// The name in `parquet.thrift`, if this is a known value.
    pub fn name(self) -> Option<&'static str> {
        name(Self::NAMES, self.0)
    }
}

impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        display(Self::NAMES, self.0, f)
    }
}

impl fmt::Debug for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        display(Self::NAMES, self.0, f)
    }
}

impl FromStr for Encoding {
    type Err = marquetry_base::Error;

    /// Parses the name in `parquet.thrift`, ignoring case.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        parse(Self::NAMES, text).map(Encoding)
    }
}

/// The compression codec of pages.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct CompressionCodec(pub i32);

impl CompressionCodec {
    /// `UNCOMPRESSED`.
    pub const UNCOMPRESSED: CompressionCodec = CompressionCodec(0);
    /// `SNAPPY`.
    pub const SNAPPY: CompressionCodec = CompressionCodec(1);
    /// `GZIP`.
    pub const GZIP: CompressionCodec = CompressionCodec(2);
    /// `LZO`.
    pub const LZO: CompressionCodec = CompressionCodec(3);
    /// `BROTLI`.
    pub const BROTLI: CompressionCodec = CompressionCodec(4);
    /// `LZ4`.
    pub const LZ4: CompressionCodec = CompressionCodec(5);
    /// `ZSTD`.
    pub const ZSTD: CompressionCodec = CompressionCodec(6);
    /// `LZ4_RAW`.
    pub const LZ4_RAW: CompressionCodec = CompressionCodec(7);

    const NAMES: &[&str] = &["UNCOMPRESSED", "SNAPPY", "GZIP", "LZO", "BROTLI", "LZ4", "ZSTD", "LZ4_RAW"];

    /// The name in `parquet.thrift`, if this is a known value.
    pub fn name(self) -> Option<&'static str> {
        name(Self::NAMES, self.0)
    }
}

impl fmt::Display for CompressionCodec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        display(Self::NAMES, self.0, f)
    }
}

impl fmt::Debug for CompressionCodec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        display(Self::NAMES, self.0, f)
    }
}

impl FromStr for CompressionCodec {
    type Err = marquetry_base::Error;

    /// Parses the name in `parquet.thrift`, ignoring case.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        parse(Self::NAMES, text).map(CompressionCodec)
    }
}

/// The type of a page.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct PageType(pub i32);

impl PageType {
    /// `DATA_PAGE`.
    pub const DATA_PAGE: PageType = PageType(0);
    /// `INDEX_PAGE`.
    pub const INDEX_PAGE: PageType = PageType(1);
    /// `DICTIONARY_PAGE`.
    pub const DICTIONARY_PAGE: PageType = PageType(2);
    /// `DATA_PAGE_V2`.
    pub const DATA_PAGE_V2: PageType = PageType(3);

    const NAMES: &[&str] = &["DATA_PAGE", "INDEX_PAGE", "DICTIONARY_PAGE", "DATA_PAGE_V2"];

    /// The name in `parquet.thrift`, if this is a known value.
    pub fn name(self) -> Option<&'static str> {
        name(Self::NAMES, self.0)
    }
}

impl fmt::Display for PageType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        display(Self::NAMES, self.0, f)
    }
}

impl fmt::Debug for PageType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        display(Self::NAMES, self.0, f)
    }
}

/// The order of the bounds in a column index.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct BoundaryOrder(pub i32);

impl BoundaryOrder {
    /// `UNORDERED`.
    pub const UNORDERED: BoundaryOrder = BoundaryOrder(0);
    /// `ASCENDING`.
    pub const ASCENDING: BoundaryOrder = BoundaryOrder(1);
    /// `DESCENDING`.
    pub const DESCENDING: BoundaryOrder = BoundaryOrder(2);

    const NAMES: &[&str] = &["UNORDERED", "ASCENDING", "DESCENDING"];

    /// The name in `parquet.thrift`, if this is a known value.
    pub fn name(self) -> Option<&'static str> {
        name(Self::NAMES, self.0)
    }
}

impl fmt::Display for BoundaryOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        display(Self::NAMES, self.0, f)
    }
}

impl fmt::Debug for BoundaryOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        display(Self::NAMES, self.0, f)
    }
}

/// How the edges of a GEOGRAPHY are interpolated between points.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct EdgeInterpolationAlgorithm(pub i32);

impl EdgeInterpolationAlgorithm {
    /// `SPHERICAL`.
    pub const SPHERICAL: EdgeInterpolationAlgorithm = EdgeInterpolationAlgorithm(0);
    /// `VINCENTY`.
    pub const VINCENTY: EdgeInterpolationAlgorithm = EdgeInterpolationAlgorithm(1);
    /// `THOMAS`.
    pub const THOMAS: EdgeInterpolationAlgorithm = EdgeInterpolationAlgorithm(2);
    /// `ANDOYER`.
    pub const ANDOYER: EdgeInterpolationAlgorithm = EdgeInterpolationAlgorithm(3);
    /// `KARNEY`.
    pub const KARNEY: EdgeInterpolationAlgorithm = EdgeInterpolationAlgorithm(4);

    const NAMES: &[&str] = &["SPHERICAL", "VINCENTY", "THOMAS", "ANDOYER", "KARNEY"];

    /// The name in `parquet.thrift`, if this is a known value.
    pub fn name(self) -> Option<&'static str> {
        name(Self::NAMES, self.0)
    }
}

impl fmt::Display for EdgeInterpolationAlgorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        display(Self::NAMES, self.0, f)
    }
}

impl fmt::Debug for EdgeInterpolationAlgorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        display(Self::NAMES, self.0, f)
    }
}

fn name(names: &'static [&'static str], value: i32) -> Option<&'static str> {
    names.get(usize::try_from(value).ok()?).copied().filter(|name| !name.is_empty())
}

fn display(names: &'static [&'static str], value: i32, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match name(names, value) {
        Some(name) => f.pad(name),
        None => f.pad(&format!("UNKNOWN({value})")),
    }
}

fn parse(names: &[&str], text: &str) -> marquetry_base::Result<i32> {
    let found = names.iter().position(|name| !name.is_empty() && name.eq_ignore_ascii_case(text));
    found.map(|i| i as i32).ok_or_else(|| {
        let known: Vec<_> = names.iter().copied().filter(|name| !name.is_empty()).collect();
        marquetry_base::Error::argument(format!("{text} is none of {}", known.join(", ")))
    })
}
