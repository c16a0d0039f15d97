//! The header of a page: `PageHeader` and the headers of each page type.
use crate::thrift::{Reader, Wire, Writer};
use crate::{Encoding, PageType, Statistics};
use marquetry_base::Result;

/// The header of a data page, version 1.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DataPageHeader {
    /// The number of values, including nulls.
    pub num_values: i32,
    /// The encoding of the values.
    pub encoding: Encoding,
    /// The encoding of the definition levels: RLE, or BIT_PACKED in old files.
    pub definition_level_encoding: Encoding,
    /// The encoding of the repetition levels: RLE, or BIT_PACKED in old files.
    pub repetition_level_encoding: Encoding,
    /// Statistics of the page.
    pub statistics: Option<Statistics>,
}

impl DataPageHeader {
    /// Reads the struct.
    pub fn read(r: &mut Reader<'_>) -> Result<Self> {
        Self::read_with(r, true)
    }

    fn read_with(r: &mut Reader<'_>, keep_statistics: bool) -> Result<Self> {
        let mut num_values = None;
        let mut encoding = None;
        let mut definition_level_encoding = Encoding::RLE;
        let mut repetition_level_encoding = Encoding::RLE;
        let mut statistics = None;
        r.fields(|r, field| {
            match (field.id, field.wire) {
                (1, Wire::INT) => num_values = Some(r.i32()?),
                (2, Wire::INT) => encoding = Some(Encoding(r.i32()?)),
                (3, Wire::INT) => definition_level_encoding = Encoding(r.i32()?),
                (4, Wire::INT) => repetition_level_encoding = Encoding(r.i32()?),
                (5, Wire::Struct) if keep_statistics => statistics = Some(Statistics::read(r)?),
                _ => r.skip(field.wire)?,
            }
            Ok(())
        })?;
        Ok(Self {
            num_values: num_values.ok_or_else(|| r.missing("DataPageHeader.num_values"))?,
            encoding: encoding.ok_or_else(|| r.missing("DataPageHeader.encoding"))?,
            definition_level_encoding,
            repetition_level_encoding,
            statistics,
        })
    }

    /// Writes the struct.
    pub fn write(&self, w: &mut Writer) {
        w.fields(|w| {
            w.i32_field(1, self.num_values);
            w.i32_field(2, self.encoding.0);
            w.i32_field(3, self.definition_level_encoding.0);
            w.i32_field(4, self.repetition_level_encoding.0);
            if let Some(value) = &self.statistics {
                w.nested_field(5, |w| value.write(w));
            }
        });
    }
}

/// The header of a dictionary page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DictionaryPageHeader {
    /// The number of entries.
    pub num_values: i32,
    /// PLAIN, or PLAIN_DICTIONARY in old files, which means the same.
    pub encoding: Encoding,
    /// Whether the entries are sorted.
    pub is_sorted: Option<bool>,
}

impl DictionaryPageHeader {
    /// Reads the struct.
    pub fn read(r: &mut Reader<'_>) -> Result<Self> {
        let mut num_values = None;
        let mut encoding = None;
        let mut is_sorted = None;
        r.fields(|r, field| {
            match (field.id, field.wire) {
                (1, Wire::INT) => num_values = Some(r.i32()?),
                (2, Wire::INT) => encoding = Some(Encoding(r.i32()?)),
                (3, Wire::True | Wire::False) => is_sorted = Some(r.bool(field.wire)),
                _ => r.skip(field.wire)?,
            }
            Ok(())
        })?;
        Ok(Self {
            num_values: num_values.ok_or_else(|| r.missing("DictionaryPageHeader.num_values"))?,
            encoding: encoding.ok_or_else(|| r.missing("DictionaryPageHeader.encoding"))?,
            is_sorted,
        })
    }

    /// Writes the struct.
    pub fn write(&self, w: &mut Writer) {
        w.fields(|w| {
            w.i32_field(1, self.num_values);
            w.i32_field(2, self.encoding.0);
            if let Some(value) = &self.is_sorted {
                w.bool_field(3, *value);
            }
        });
    }
}

/// The header of a data page, version 2.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DataPageHeaderV2 {
    /// The number of values, including nulls.
    pub num_values: i32,
    /// The number of nulls.
    pub num_nulls: i32,
    /// The number of rows. A V2 page begins and ends at row boundaries.
    pub num_rows: i32,
    /// The encoding of the values.
    pub encoding: Encoding,
    /// Length of the definition levels in bytes.
    pub definition_levels_byte_length: i32,
    /// Length of the repetition levels in bytes.
    pub repetition_levels_byte_length: i32,
    /// Whether the values are compressed; true if the field is absent.
    pub is_compressed: bool,
    /// Statistics of the page.
    pub statistics: Option<Statistics>,
}

impl DataPageHeaderV2 {
    /// Reads the struct.
    pub fn read(r: &mut Reader<'_>) -> Result<Self> {
        Self::read_with(r, true)
    }

    fn read_with(r: &mut Reader<'_>, keep_statistics: bool) -> Result<Self> {
        let mut num_values = None;
        let mut num_nulls = None;
        let mut num_rows = None;
        let mut encoding = None;
        let mut definition_levels_byte_length = None;
        let mut repetition_levels_byte_length = None;
        let mut is_compressed = true;
        let mut statistics = None;
        r.fields(|r, field| {
            match (field.id, field.wire) {
                (1, Wire::INT) => num_values = Some(r.i32()?),
                (2, Wire::INT) => num_nulls = Some(r.i32()?),
                (3, Wire::INT) => num_rows = Some(r.i32()?),
                (4, Wire::INT) => encoding = Some(Encoding(r.i32()?)),
                (5, Wire::INT) => definition_levels_byte_length = Some(r.i32()?),
                (6, Wire::INT) => repetition_levels_byte_length = Some(r.i32()?),
                (7, Wire::True | Wire::False) => is_compressed = r.bool(field.wire),
                (8, Wire::Struct) if keep_statistics => statistics = Some(Statistics::read(r)?),
                _ => r.skip(field.wire)?,
            }
            Ok(())
        })?;
        Ok(Self {
            num_values: num_values.ok_or_else(|| r.missing("DataPageHeaderV2.num_values"))?,
            num_nulls: num_nulls.ok_or_else(|| r.missing("DataPageHeaderV2.num_nulls"))?,
            num_rows: num_rows.ok_or_else(|| r.missing("DataPageHeaderV2.num_rows"))?,
            encoding: encoding.ok_or_else(|| r.missing("DataPageHeaderV2.encoding"))?,
            definition_levels_byte_length: definition_levels_byte_length
                .ok_or_else(|| r.missing("DataPageHeaderV2.definition_levels_byte_length"))?,
            repetition_levels_byte_length: repetition_levels_byte_length
                .ok_or_else(|| r.missing("DataPageHeaderV2.repetition_levels_byte_length"))?,
            is_compressed,
            statistics,
        })
    }

    /// Writes the struct.
    pub fn write(&self, w: &mut Writer) {
        w.fields(|w| {
            w.i32_field(1, self.num_values);
            w.i32_field(2, self.num_nulls);
            w.i32_field(3, self.num_rows);
            w.i32_field(4, self.encoding.0);
            w.i32_field(5, self.definition_levels_byte_length);
            w.i32_field(6, self.repetition_levels_byte_length);
            w.bool_field(7, self.is_compressed);
            if let Some(value) = &self.statistics {
                w.nested_field(8, |w| value.write(w));
            }
        });
    }
}

/// The header of an index page. The format never defined the contents of such pages.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct IndexPageHeader {}

impl IndexPageHeader {
    /// Reads the struct.
    pub fn read(r: &mut Reader<'_>) -> Result<Self> {
        r.fields(|r, field| r.skip(field.wire))?;
        Ok(IndexPageHeader {})
    }

    /// Writes the struct.
    pub fn write(&self, w: &mut Writer) {
        w.fields(|_| ());
    }
}

/// The header before each page.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PageHeader {
    /// The type of the page.
    pub type_: PageType,
    /// Size of the page before compression, without this header, in bytes.
    pub uncompressed_page_size: i32,
    /// Size of the page as stored, without this header, in bytes.
    pub compressed_page_size: i32,
    /// CRC-32 checksum of the page as stored.
    pub crc: Option<i32>,
    /// The header of a DATA_PAGE.
    pub data_page_header: Option<DataPageHeader>,
    /// The header of an INDEX_PAGE.
    pub index_page_header: Option<IndexPageHeader>,
    /// The header of a DICTIONARY_PAGE.
    pub dictionary_page_header: Option<DictionaryPageHeader>,
    /// The header of a DATA_PAGE_V2.
    pub data_page_header_v2: Option<DataPageHeaderV2>,
}

impl PageHeader {
    /// Reads the struct. If the input ends inside it, the error is [`Truncated`](marquetry_base::ErrorKind::Truncated):
    /// the file may have more bytes.
    pub fn read(r: &mut Reader<'_>) -> Result<Self> {
        Self::read_with(r, true)
    }

    /// Like [`read`](Self::read), but skips statistics, which readers of values do not need.
    pub fn read_without_statistics(r: &mut Reader<'_>) -> Result<Self> {
        Self::read_with(r, false)
    }

    fn read_with(r: &mut Reader<'_>, keep_statistics: bool) -> Result<Self> {
        let mut type_ = None;
        let mut uncompressed_page_size = None;
        let mut compressed_page_size = None;
        let mut crc = None;
        let mut data_page_header = None;
        let mut index_page_header = None;
        let mut dictionary_page_header = None;
        let mut data_page_header_v2 = None;
        r.fields(|r, field| {
            match (field.id, field.wire) {
                (1, Wire::INT) => type_ = Some(PageType(r.i32()?)),
                (2, Wire::INT) => uncompressed_page_size = Some(r.i32()?),
                (3, Wire::INT) => compressed_page_size = Some(r.i32()?),
                (4, Wire::INT) => crc = Some(r.crc()?),
                (5, Wire::Struct) => data_page_header = Some(DataPageHeader::read_with(r, keep_statistics)?),
                (6, Wire::Struct) => index_page_header = Some(IndexPageHeader::read(r)?),
                (7, Wire::Struct) => dictionary_page_header = Some(DictionaryPageHeader::read(r)?),
                (8, Wire::Struct) => {
                    data_page_header_v2 = Some(DataPageHeaderV2::read_with(r, keep_statistics)?);
                }
                _ => r.skip(field.wire)?,
            }
            Ok(())
        })?;
        Ok(Self {
            type_: type_.ok_or_else(|| r.missing("PageHeader.type"))?,
            uncompressed_page_size: uncompressed_page_size
                .ok_or_else(|| r.missing("PageHeader.uncompressed_page_size"))?,
            compressed_page_size: compressed_page_size
                .ok_or_else(|| r.missing("PageHeader.compressed_page_size"))?,
            crc,
            data_page_header,
            index_page_header,
            dictionary_page_header,
            data_page_header_v2,
        })
    }

    /// Writes the struct.
    pub fn write(&self, w: &mut Writer) {
        w.fields(|w| {
            w.i32_field(1, self.type_.0);
            w.i32_field(2, self.uncompressed_page_size);
            w.i32_field(3, self.compressed_page_size);
            if let Some(value) = &self.crc {
                w.i32_field(4, *value);
            }
            if let Some(value) = &self.data_page_header {
                w.nested_field(5, |w| value.write(w));
            }
            if let Some(value) = &self.index_page_header {
                w.nested_field(6, |w| value.write(w));
            }
            if let Some(value) = &self.dictionary_page_header {
                w.nested_field(7, |w| value.write(w));
            }
            if let Some(value) = &self.data_page_header_v2 {
                w.nested_field(8, |w| value.write(w));
            }
        });
    }
}
