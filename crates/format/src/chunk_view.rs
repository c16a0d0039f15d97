//! A column chunk where it lies: numbers are read, everything else stays in the bytes of the footer.

use crate::thrift::{Bookmark, Element, Elements, Reader, Wire, missing};
use crate::{ColumnChunk, CompressionCodec, Encoding, PageEncodingStats, SizeStatistics, Statistics, Type};
use marquetry_base::Result;

/// A [`ColumnChunk`] that takes no memory of its own. Reading it fails where reading a `ColumnChunk` would.
#[derive(Debug, Clone, Copy)]
pub struct ChunkView<'a> {
    /// At the struct.
    start: Bookmark<'a>,
    /// The file that the pages are in, where it is another one; it may be no UTF-8.
    pub file_path: Option<&'a [u8]>,
    /// Where the pages are, and what is in them; of no use unless `has_meta_data`.
    pub meta: MetaView<'a>,
    /// Whether there is a `meta`: there is none where it is encrypted.
    pub has_meta_data: bool,
    /// Where the offset index is.
    pub offset_index_offset: Option<i64>,
    /// Its bytes.
    pub offset_index_length: Option<i32>,
    /// Where the column index is.
    pub column_index_offset: Option<i64>,
    /// Its bytes.
    pub column_index_length: Option<i32>,
    /// Whether it is said how the column is encrypted.
    pub has_crypto_metadata: bool,
    /// Whether `meta_data` is there in encrypted form.
    pub has_encrypted_metadata: bool,
}

/// The [`ColumnMetaData`](crate::ColumnMetaData) of a [`ChunkView`].
#[derive(Debug, Clone, Copy)]
pub struct MetaView<'a> {
    /// Physical type.
    pub type_: Type,
    /// Encodings that occur, levels included.
    pub encodings: Elements<'a, Encoding>,
    /// Names from the root's field to the leaf; they may be no UTF-8.
    pub path_in_schema: Elements<'a, &'a [u8]>,
    /// Compression.
    pub codec: CompressionCodec,
    /// Values, nulls included.
    pub num_values: i64,
    /// Bytes of all pages before compression, headers included.
    pub total_uncompressed_size: i64,
    /// Bytes of all pages as stored, headers included.
    pub total_compressed_size: i64,
    /// Where the first data page is.
    pub data_page_offset: i64,
    /// Where the dictionary page is.
    pub dictionary_page_offset: Option<i64>,
    /// Bounds and counts.
    pub statistics: Option<Statistics<&'a [u8]>>,
    /// Pages of each kind and encoding.
    pub encoding_stats: Option<Elements<'a, PageEncodingStats>>,
    /// Where the bloom filter is.
    pub bloom_filter_offset: Option<i64>,
    /// Its bytes, header included.
    pub bloom_filter_length: Option<i32>,
    /// Sizes and level histograms.
    pub size_statistics: Option<SizeStatistics<Elements<'a, i64>>>,
}

impl<'a> ChunkView<'a> {
    /// A chunk of which nothing is known yet.
    #[inline]
    pub fn unread() -> Self {
        ChunkView {
            start: Bookmark::NOWHERE,
            file_path: None,
            meta: MetaView::unread(),
            has_meta_data: false,
            offset_index_offset: None,
            offset_index_length: None,
            column_index_offset: None,
            column_index_length: None,
            has_crypto_metadata: false,
            has_encrypted_metadata: false,
        }
    }

    /// Reads the struct into an unread one. PERF: it is large, so it is better read where it stays than moved there.
    pub fn read(&mut self, r: &mut Reader<'a>) -> Result<()> {
        self.start = r.bookmark();
        r.fields(|r, field| {
            match (field.id, field.wire) {
                (1, Wire::Binary) => self.file_path = Some(r.binary()?),
                (2, Wire::INT) => _ = r.i64()?,
                (3, Wire::Struct) => {
                    if self.has_meta_data {
                        self.meta = MetaView::unread();
                    }
                    self.has_meta_data = true;
                    self.meta.read(r)?;
                }
                (4, Wire::INT) => self.offset_index_offset = Some(r.i64()?),
                (5, Wire::INT) => self.offset_index_length = Some(r.i32()?),
                (6, Wire::INT) => self.column_index_offset = Some(r.i64()?),
                (7, Wire::INT) => self.column_index_length = Some(r.i32()?),
                (8, Wire::Struct) => {
                    r.apart(crate::ColumnCryptoMetaData::read)?;
                    self.has_crypto_metadata = true;
                }
                (9, Wire::Binary) => {
                    r.binary()?;
                    self.has_encrypted_metadata = true;
                }
                _ => r.skip(field.wire)?,
            }
            Ok(())
        })
    }

    /// The whole struct. Fails in no case that [`read`](Self::read) does not.
    pub fn to_chunk(&self) -> Result<ColumnChunk> {
        ColumnChunk::read(&mut self.start.reader())
    }
}

impl<'a> MetaView<'a> {
    #[inline]
    fn unread() -> Self {
        MetaView {
            type_: Type::BOOLEAN,
            encodings: Elements::none(),
            path_in_schema: Elements::none(),
            codec: CompressionCodec::UNCOMPRESSED,
            num_values: 0,
            total_uncompressed_size: 0,
            total_compressed_size: 0,
            data_page_offset: 0,
            dictionary_page_offset: None,
            statistics: None,
            encoding_stats: None,
            bloom_filter_offset: None,
            bloom_filter_length: None,
            size_statistics: None,
        }
    }

    #[inline]
    fn read(&mut self, r: &mut Reader<'a>) -> Result<()> {
        let (mut type_, mut codec) = (None, None);
        r.fields(|r, field| {
            match (field.id, field.wire) {
                (1, Wire::INT) => type_ = Some(Type(r.i32()?)),
                (2, Wire::List) => self.encodings = r.elements()?.unwrap_or_else(Elements::none),
                (3, Wire::List) => self.path_in_schema = r.elements()?.unwrap_or_else(Elements::none),
                (4, Wire::INT) => codec = Some(CompressionCodec(r.i32()?)),
                (5, Wire::INT) => self.num_values = r.i64()?,
                (6, Wire::INT) => self.total_uncompressed_size = r.i64()?,
                (7, Wire::INT) => self.total_compressed_size = r.i64()?,
                (9, Wire::INT) => self.data_page_offset = r.i64()?,
                (11, Wire::INT) => self.dictionary_page_offset = Some(r.i64()?),
                (12, Wire::Struct) => self.statistics.insert(Statistics::empty()).read_fields(r)?,
                (13, Wire::List) => self.encoding_stats = r.apart(Reader::elements)?,
                (14, Wire::INT) => self.bloom_filter_offset = Some(r.i64()?),
                (15, Wire::INT) => self.bloom_filter_length = Some(r.i32()?),
                (16, Wire::Struct) => {
                    self.size_statistics = Some(r.apart(|r| SizeStatistics::read_with(r, Reader::elements))?);
                }
                // Nobody asks for these but who wants the whole struct, and who reads the file strictly.
                (17, Wire::Struct) => _ = r.apart(crate::GeospatialStatistics::read)?,
                _ => r.skip(field.wire)?,
            }
            Ok(())
        })?;
        self.type_ = type_.ok_or_else(|| missing("ColumnMetaData.type", r.position()))?;
        self.codec = codec.ok_or_else(|| missing("ColumnMetaData.codec", r.position()))?;
        Ok(())
    }
}

impl Element<'_> for i64 {
    const WIRE: Wire = Wire::I64;

    #[inline]
    fn read_element(r: &mut Reader<'_>) -> Result<Self> {
        r.i64()
    }
}

impl Element<'_> for Encoding {
    const WIRE: Wire = Wire::I32;

    #[inline]
    fn read_element(r: &mut Reader<'_>) -> Result<Self> {
        Ok(Encoding(r.i32()?))
    }
}

impl Element<'_> for PageEncodingStats {
    const WIRE: Wire = Wire::Struct;

    #[inline]
    fn read_element(r: &mut Reader<'_>) -> Result<Self> {
        PageEncodingStats::read(r)
    }

    #[inline]
    fn pass_element(r: &mut Reader<'_>) -> Result<()> {
        // PERF: three small numbers, as nearly all chunks have them.
        match r.bookmark().rest() {
            [0x15, 0..0x80, 0x15, 0..0x80, 0x15, 0..0x80, 0, ..] => r.pass_bytes(7),
            _ => PageEncodingStats::read(r).map(|_| ()),
        }
    }
}
