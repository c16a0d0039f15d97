//! The metadata of a column chunk.
use crate::thrift::{Element, Reader, ThriftString, Wire, Writer};
use crate::{
    ColumnCryptoMetaData, CompressionCodec, Encoding, GeospatialStatistics, PageType, SizeStatistics,
    Statistics, Type,
};
use marquetry_base::Result;
use std::borrow::Cow;

/// A key-value pair of the metadata, which writers use freely.
///
/// ```
/// use marquetry_format::KeyValue;
/// let pair = KeyValue::new("made", "in spring".to_owned());
/// assert_eq!(pair.key, "made");
/// assert_eq!(pair.value.as_deref(), Some("in spring"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct KeyValue {
    /// The key.
    pub key: ThriftString,
    /// The value.
    pub value: Option<ThriftString>,
}

impl KeyValue {
    /// Creates a pair. A key need not have a value.
    pub fn new(key: impl Into<ThriftString>, value: impl Into<Option<String>>) -> Self {
        KeyValue { key: key.into(), value: value.into().map(ThriftString::from) }
    }

    /// Reads the struct.
    pub fn read(r: &mut Reader<'_>) -> Result<Self> {
        KeyValueView::read_element(r).map(KeyValueView::to_pair)
    }

    /// Writes the struct.
    pub fn write(&self, w: &mut Writer) {
        w.fields(|w| {
            w.binary_field(1, self.key.as_bytes());
            if let Some(value) = &self.value {
                w.binary_field(2, value.as_bytes());
            }
        });
    }
}

/// A [`KeyValue`] that borrows from the footer. PERF: the Arrow schema of a wide file, which is such a value, is as
/// long as a row group of its footer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct KeyValueView<'a> {
    /// The bytes of the key.
    pub key: &'a [u8],
    /// The bytes of the value.
    pub value: Option<&'a [u8]>,
}

impl<'a> KeyValueView<'a> {
    /// The key as text. Sequences that are not UTF-8 become U+FFFD.
    pub fn key_text(self) -> Cow<'a, str> {
        text(self.key)
    }

    /// The value as text. Sequences that are not UTF-8 become U+FFFD.
    pub fn value_text(self) -> Option<Cow<'a, str>> {
        self.value.map(text)
    }

    /// Copies the pair.
    pub fn to_pair(self) -> KeyValue {
        KeyValue { key: ThriftString::from_bytes(self.key), value: self.value.map(ThriftString::from_bytes) }
    }
}

/// PERF: checks first, which is faster than searching for sequences to replace.
fn text(bytes: &[u8]) -> Cow<'_, str> {
    str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed)
}

impl<'a> Element<'a> for KeyValueView<'a> {
    const WIRE: Wire = Wire::Struct;

    fn read_element(r: &mut Reader<'a>) -> Result<Self> {
        let mut out = Self::default();
        r.fields(|r, field| {
            match (field.id, field.wire) {
                (1, Wire::Binary) => out.key = r.binary()?,
                (2, Wire::Binary) => out.value = Some(r.binary()?),
                _ => r.skip(field.wire)?,
            }
            Ok(())
        })?;
        Ok(out)
    }

    fn skip_element_observed(r: &mut Reader<'a>) -> Result<()> {
        r.skip(Wire::Struct)
    }
}

/// A column by which rows are sorted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SortingColumn {
    /// The index of the column in the row group.
    pub column_idx: i32,
    /// Whether the order is descending.
    pub descending: bool,
    /// Whether nulls come first.
    pub nulls_first: bool,
}

impl SortingColumn {
    /// Reads the struct.
    pub fn read(r: &mut Reader<'_>) -> Result<Self> {
        let mut column_idx = None;
        let mut descending = None;
        let mut nulls_first = None;
        r.fields(|r, field| {
            match (field.id, field.wire) {
                (1, Wire::INT) => column_idx = Some(r.i32()?),
                (2, Wire::True | Wire::False) => descending = Some(r.bool(field.wire)),
                (3, Wire::True | Wire::False) => nulls_first = Some(r.bool(field.wire)),
                _ => r.skip(field.wire)?,
            }
            Ok(())
        })?;
        Ok(Self {
            column_idx: column_idx.ok_or_else(|| r.missing("SortingColumn.column_idx"))?,
            descending: descending.ok_or_else(|| r.missing("SortingColumn.descending"))?,
            nulls_first: nulls_first.ok_or_else(|| r.missing("SortingColumn.nulls_first"))?,
        })
    }

    /// Writes the struct.
    pub fn write(&self, w: &mut Writer) {
        w.fields(|w| {
            w.i32_field(1, self.column_idx);
            w.bool_field(2, self.descending);
            w.bool_field(3, self.nulls_first);
        });
    }
}

/// The number of pages that have a type and an encoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PageEncodingStats {
    /// The type of the pages.
    pub page_type: PageType,
    /// The encoding of the pages.
    pub encoding: Encoding,
    /// The number of pages.
    pub count: i32,
}

impl PageEncodingStats {
    /// Reads the struct.
    pub fn read(r: &mut Reader<'_>) -> Result<Self> {
        let mut out = Self::default();
        r.fields(|r, field| {
            match (field.id, field.wire) {
                (1, Wire::INT) => out.page_type = PageType(r.i32()?),
                (2, Wire::INT) => out.encoding = Encoding(r.i32()?),
                (3, Wire::INT) => out.count = r.i32()?,
                _ => r.skip(field.wire)?,
            }
            Ok(())
        })?;
        Ok(out)
    }

    /// Writes the struct.
    pub fn write(&self, w: &mut Writer) {
        w.fields(|w| {
            w.i32_field(1, self.page_type.0);
            w.i32_field(2, self.encoding.0);
            w.i32_field(3, self.count);
        });
    }
}

/// The metadata of a column chunk: where its pages are, and what they hold.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ColumnMetaData {
    /// The physical type.
    pub type_: Type,
    /// All encodings that occur, including those of levels.
    pub encodings: Vec<Encoding>,
    /// The names on the path from the root to the leaf. Empty if the writer left it out.
    pub path_in_schema: Vec<ThriftString>,
    /// The compression codec.
    pub codec: CompressionCodec,
    /// The number of values, including nulls.
    pub num_values: i64,
    /// Total size of all pages before compression, with headers, in bytes.
    pub total_uncompressed_size: i64,
    /// Total size of all pages as stored, with headers, in bytes.
    pub total_compressed_size: i64,
    /// Key-value metadata of the chunk.
    pub key_value_metadata: Option<Vec<KeyValue>>,
    /// Offset of the first data page in the file, in bytes; 0 if the writer left it out.
    pub data_page_offset: i64,
    /// Offset of the index page in the file, in bytes.
    pub index_page_offset: Option<i64>,
    /// Offset of the dictionary page in the file, in bytes.
    pub dictionary_page_offset: Option<i64>,
    /// Statistics of the chunk.
    pub statistics: Option<Statistics>,
    /// The number of pages for each page type and encoding.
    pub encoding_stats: Option<Vec<PageEncodingStats>>,
    /// Offset of the bloom filter in the file, in bytes.
    pub bloom_filter_offset: Option<i64>,
    /// Length of the bloom filter with its header, in bytes.
    pub bloom_filter_length: Option<i32>,
    /// Sizes before encoding, and level histograms.
    pub size_statistics: Option<SizeStatistics>,
    /// The extent and the types of geometries.
    pub geospatial_statistics: Option<GeospatialStatistics>,
}

impl ColumnMetaData {
    /// Removes everything that tells about the values. Keeps what a reader without the key needs to pass over an encrypted chunk.
    #[must_use]
    pub fn without_contents(self) -> Self {
        ColumnMetaData {
            key_value_metadata: None,
            statistics: None,
            encoding_stats: None,
            size_statistics: None,
            geospatial_statistics: None,
            ..self
        }
    }

    /// Reads the struct.
    pub fn read(r: &mut Reader<'_>) -> Result<Self> {
        let mut type_ = None;
        let mut codec = None;
        let mut encodings = Default::default();
        let mut path_in_schema = Default::default();
        let mut num_values = Default::default();
        let mut total_uncompressed_size = Default::default();
        let mut total_compressed_size = Default::default();
        let mut key_value_metadata = None;
        let mut data_page_offset = Default::default();
        let mut index_page_offset = None;
        let mut dictionary_page_offset = None;
        let mut statistics = None;
        let mut encoding_stats = None;
        let mut bloom_filter_offset = None;
        let mut bloom_filter_length = None;
        let mut size_statistics = None;
        let mut geospatial_statistics = None;
        r.fields(|r, field| {
            match (field.id, field.wire) {
                (1, Wire::INT) => type_ = Some(Type(r.i32()?)),
                (2, Wire::List) => {
                    encodings = r.list(Wire::I32, |r| Reader::i32(r).map(Encoding))?.unwrap_or_default();
                }
                (3, Wire::List) => {
                    path_in_schema = r.list(Wire::Binary, Reader::string)?.unwrap_or_default();
                }
                (4, Wire::INT) => codec = Some(CompressionCodec(r.i32()?)),
                (5, Wire::INT) => num_values = r.i64()?,
                (6, Wire::INT) => total_uncompressed_size = r.i64()?,
                (7, Wire::INT) => total_compressed_size = r.i64()?,
                (8, Wire::List) => {
                    key_value_metadata = r.list(Wire::Struct, KeyValue::read)?;
                }
                (9, Wire::INT) => data_page_offset = r.i64()?,
                (10, Wire::INT) => index_page_offset = Some(r.i64()?),
                (11, Wire::INT) => dictionary_page_offset = Some(r.i64()?),
                (12, Wire::Struct) => statistics = Some(Statistics::read(r)?),
                (13, Wire::List) => {
                    encoding_stats = r.list(Wire::Struct, PageEncodingStats::read)?;
                }
                (14, Wire::INT) => bloom_filter_offset = Some(r.i64()?),
                (15, Wire::INT) => bloom_filter_length = Some(r.i32()?),
                (16, Wire::Struct) => size_statistics = Some(SizeStatistics::read(r)?),
                (17, Wire::Struct) => geospatial_statistics = Some(GeospatialStatistics::read(r)?),
                _ => r.skip(field.wire)?,
            }
            Ok(())
        })?;
        Ok(Self {
            type_: type_.ok_or_else(|| r.missing("ColumnMetaData.type"))?,
            encodings,
            path_in_schema,
            codec: codec.ok_or_else(|| r.missing("ColumnMetaData.codec"))?,
            num_values,
            total_uncompressed_size,
            total_compressed_size,
            key_value_metadata,
            data_page_offset,
            index_page_offset,
            dictionary_page_offset,
            statistics,
            encoding_stats,
            bloom_filter_offset,
            bloom_filter_length,
            size_statistics,
            geospatial_statistics,
        })
    }

    /// Writes the struct.
    pub fn write(&self, w: &mut Writer) {
        w.fields(|w| {
            w.i32_field(1, self.type_.0);
            w.list_field(2, Wire::I32, &self.encodings, |w, value| {
                w.i64(i64::from(value.0));
            });
            w.list_field(3, Wire::Binary, &self.path_in_schema, |w, value| {
                w.binary(value.as_bytes());
            });
            w.i32_field(4, self.codec.0);
            w.i64_field(5, self.num_values);
            w.i64_field(6, self.total_uncompressed_size);
            w.i64_field(7, self.total_compressed_size);
            if let Some(value) = &self.key_value_metadata {
                w.list_field(8, Wire::Struct, value, |w, value| value.write(w));
            }
            w.i64_field(9, self.data_page_offset);
            if let Some(value) = &self.index_page_offset {
                w.i64_field(10, *value);
            }
            if let Some(value) = &self.dictionary_page_offset {
                w.i64_field(11, *value);
            }
            if let Some(value) = &self.statistics {
                w.nested_field(12, |w| value.write(w));
            }
            if let Some(value) = &self.encoding_stats {
                w.list_field(13, Wire::Struct, value, |w, value| value.write(w));
            }
            if let Some(value) = &self.bloom_filter_offset {
                w.i64_field(14, *value);
            }
            if let Some(value) = &self.bloom_filter_length {
                w.i32_field(15, *value);
            }
            if let Some(value) = &self.size_statistics {
                w.nested_field(16, |w| value.write(w));
            }
            if let Some(value) = &self.geospatial_statistics {
                w.nested_field(17, |w| value.write(w));
            }
        });
    }
}

/// The entry of a column chunk in its row group.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ColumnChunk {
    /// The file that contains the pages, if it is another file.
    pub file_path: Option<ThriftString>,
    /// Deprecated and unreliable.
    pub file_offset: i64,
    /// The metadata; absent if it is encrypted.
    pub meta_data: Option<ColumnMetaData>,
    /// Offset of the offset index in the file, in bytes.
    pub offset_index_offset: Option<i64>,
    /// Length of the offset index in bytes.
    pub offset_index_length: Option<i32>,
    /// Offset of the column index in the file, in bytes.
    pub column_index_offset: Option<i64>,
    /// Length of the column index in bytes.
    pub column_index_length: Option<i32>,
    /// The encryption of the column.
    pub crypto_metadata: Option<ColumnCryptoMetaData>,
    /// The encrypted `meta_data`.
    pub encrypted_column_metadata: Option<Vec<u8>>,
}

impl ColumnChunk {
    /// Reads the struct.
    pub fn read(r: &mut Reader<'_>) -> Result<Self> {
        let mut out = Self::default();
        r.fields(|r, field| {
            match (field.id, field.wire) {
                (1, Wire::Binary) => out.file_path = Some(r.string()?),
                (2, Wire::INT) => out.file_offset = r.i64()?,
                (3, Wire::Struct) => out.meta_data = Some(ColumnMetaData::read(r)?),
                (4, Wire::INT) => out.offset_index_offset = Some(r.i64()?),
                (5, Wire::INT) => out.offset_index_length = Some(r.i32()?),
                (6, Wire::INT) => out.column_index_offset = Some(r.i64()?),
                (7, Wire::INT) => out.column_index_length = Some(r.i32()?),
                (8, Wire::Struct) => out.crypto_metadata = Some(ColumnCryptoMetaData::read(r)?),
                (9, Wire::Binary) => out.encrypted_column_metadata = Some(r.binary()?.to_vec()),
                _ => r.skip(field.wire)?,
            }
            Ok(())
        })?;
        Ok(out)
    }

    /// Writes the struct.
    pub fn write(&self, w: &mut Writer) {
        w.fields(|w| {
            if let Some(value) = &self.file_path {
                w.binary_field(1, value.as_bytes());
            }
            w.i64_field(2, self.file_offset);
            if let Some(value) = &self.meta_data {
                w.nested_field(3, |w| value.write(w));
            }
            if let Some(value) = &self.offset_index_offset {
                w.i64_field(4, *value);
            }
            if let Some(value) = &self.offset_index_length {
                w.i32_field(5, *value);
            }
            if let Some(value) = &self.column_index_offset {
                w.i64_field(6, *value);
            }
            if let Some(value) = &self.column_index_length {
                w.i32_field(7, *value);
            }
            if let Some(value) = &self.crypto_metadata {
                w.nested_field(8, |w| value.write(w));
            }
            if let Some(value) = &self.encrypted_column_metadata {
                w.binary_field(9, value);
            }
        });
    }
}
