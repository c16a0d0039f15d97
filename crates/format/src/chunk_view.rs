//! A view of a column chunk in the bytes of the footer: numbers are parsed, strings and lists stay where they are.

mod fields;

use crate::thrift::{Bookmark, Element, Elements, Reader, Wire, missing};
use crate::{ColumnChunk, CompressionCodec, Encoding, PageEncodingStats, SizeStatistics, Statistics, Type};
use fields::Text;
use marquetry_base::Result;
use std::ops::Range;

pub(crate) use fields::{FieldSet, List, Number, Span};

/// A [`ColumnChunk`] that borrows from the footer and allocates nothing. Reading it fails in the same cases as reading a `ColumnChunk`.
///
/// PERF: the fields are in tables, so that chunks of the same layout can be read from a list of positions: see `chunk_layout.rs`.
#[derive(Debug, Clone, Copy)]
pub struct ChunkView<'a> {
    /// The start of the struct.
    pub(crate) start: Bookmark<'a>,
    /// The fields that the chunk has.
    pub(crate) has: FieldSet,
    /// Numbers, indexed by [`Number`]; meaningless if `has` lacks them.
    pub(crate) numbers: [i64; Number::COUNT],
    /// Byte strings and lists, indexed by [`Text`] and [`List`].
    pub(crate) strings: [Span; Text::COUNT],
    pub(crate) lists: [Span; List::COUNT],
}

/// Observes the positions of the fields of a chunk.
pub(crate) trait FieldObserver {
    /// Reports that `number` is stored in the bytes `at` of the input.
    fn number(&mut self, number: Number, at: Range<usize>);

    /// Reports a field whose parsing depends on more bits than the layout covers.
    fn other(&mut self);
}

/// Observes nothing.
impl FieldObserver for () {
    #[inline]
    fn number(&mut self, _: Number, _: Range<usize>) {}

    #[inline]
    fn other(&mut self) {}
}

impl<'a> ChunkView<'a> {
    /// Creates an empty view, to be filled by [`read`](Self::read).
    #[inline]
    pub fn empty() -> Self {
        ChunkView {
            start: Bookmark::NOWHERE,
            has: FieldSet::default(),
            numbers: [0; Number::COUNT],
            strings: [Span::default(); Text::COUNT],
            lists: [Span::default(); List::COUNT],
        }
    }

    /// Reads the struct into an empty view. PERF: in place, because the view is too large to be moved.
    pub fn read(&mut self, r: &mut Reader<'a>) -> Result<()> {
        self.read_observed(r, &mut ())
    }

    pub(crate) fn read_observed(&mut self, r: &mut Reader<'a>, trace: &mut impl FieldObserver) -> Result<()> {
        use Number::*;
        self.start = r.bookmark();
        r.fields(|r, field| {
            match (field.id, field.wire) {
                (1, Wire::Binary) => self.text(Text::FilePath, r)?,
                (2, Wire::INT) => _ = r.i64()?,
                (3, Wire::Struct) => self.read_meta(r, trace)?,
                (4, Wire::INT) => self.number(OffsetIndexOffset, r, trace)?,
                (5, Wire::INT) => self.number(OffsetIndexLength, r, trace)?,
                (6, Wire::INT) => self.number(ColumnIndexOffset, r, trace)?,
                (7, Wire::INT) => self.number(ColumnIndexLength, r, trace)?,
                (8, Wire::Struct) => {
                    trace.other();
                    r.out_of_line(crate::ColumnCryptoMetaData::read)?;
                    self.has.set(FieldSet::CRYPTO_METADATA, true);
                }
                (9, Wire::Binary) => {
                    r.binary()?;
                    self.has.set(FieldSet::ENCRYPTED_METADATA, true);
                }
                _ => r.skip(field.wire)?,
            }
            Ok(())
        })
    }

    #[inline]
    fn read_meta(&mut self, r: &mut Reader<'a>, trace: &mut impl FieldObserver) -> Result<()> {
        use Number::*;
        // A repeated `meta_data` replaces the first one completely.
        self.has = FieldSet(self.has.0 & FieldSet::OUTSIDE.0);
        self.has.set(FieldSet::META_DATA, true);
        r.fields(|r, field| {
            match (field.id, field.wire) {
                (1, Wire::INT) => self.number(Type, r, trace)?,
                (2, Wire::List) => self.list::<Encoding>(List::Encodings, r)?,
                (3, Wire::List) => self.list::<&[u8]>(List::Path, r)?,
                (4, Wire::INT) => self.number(Codec, r, trace)?,
                (5, Wire::INT) => self.number(NumValues, r, trace)?,
                (6, Wire::INT) => self.number(TotalUncompressedSize, r, trace)?,
                (7, Wire::INT) => self.number(TotalCompressedSize, r, trace)?,
                (9, Wire::INT) => self.number(DataPageOffset, r, trace)?,
                (11, Wire::INT) => self.number(DictionaryPageOffset, r, trace)?,
                (12, Wire::Struct) => self.read_statistics(r, trace)?,
                (13, Wire::List) => self.list::<PageEncodingStats>(List::EncodingStats, r)?,
                (14, Wire::INT) => self.number(BloomFilterOffset, r, trace)?,
                (15, Wire::INT) => self.number(BloomFilterLength, r, trace)?,
                (16, Wire::Struct) => self.read_sizes(r, trace)?,
                // Checked but not kept: only `verify` and readers of the whole struct use it.
                (17, Wire::Struct) => {
                    trace.other();
                    r.out_of_line(crate::GeospatialStatistics::read)?;
                }
                _ => r.skip(field.wire)?,
            }
            Ok(())
        })?;
        match (self.has.has(FieldSet::number(Type)), self.has.has(FieldSet::number(Codec))) {
            (true, true) => Ok(()),
            (false, _) => Err(missing("ColumnMetaData.type", r.position())),
            (true, false) => Err(missing("ColumnMetaData.codec", r.position())),
        }
    }

    #[inline]
    fn read_statistics(&mut self, r: &mut Reader<'a>, trace: &mut impl FieldObserver) -> Result<()> {
        self.has.set(FieldSet::OF_STATISTICS, false);
        self.has.set(FieldSet::STATISTICS, true);
        r.fields(|r, field| {
            match (field.id, field.wire) {
                (1, Wire::Binary) => self.text(Text::Max, r)?,
                (2, Wire::Binary) => self.text(Text::Min, r)?,
                (3, Wire::INT) => self.number(Number::NullCount, r, trace)?,
                (4, Wire::INT) => self.number(Number::DistinctCount, r, trace)?,
                (5, Wire::Binary) => self.text(Text::MaxValue, r)?,
                (6, Wire::Binary) => self.text(Text::MinValue, r)?,
                (7, Wire::True | Wire::False) => {
                    self.has.set_flag(FieldSet::IS_MAX_EXACT, r.bool(field.wire));
                }
                (8, Wire::True | Wire::False) => {
                    self.has.set_flag(FieldSet::IS_MIN_EXACT, r.bool(field.wire));
                }
                (9, Wire::INT) => self.number(Number::NanCount, r, trace)?,
                _ => r.skip(field.wire)?,
            }
            Ok(())
        })
    }

    #[inline]
    fn read_sizes(&mut self, r: &mut Reader<'a>, trace: &mut impl FieldObserver) -> Result<()> {
        self.has.set(FieldSet::OF_SIZES, false);
        self.has.set(FieldSet::SIZE_STATISTICS, true);
        r.fields(|r, field| {
            match (field.id, field.wire) {
                (1, Wire::INT) => self.number(Number::UnencodedBytes, r, trace)?,
                (2, Wire::List) => self.list::<i64>(List::RepetitionLevels, r)?,
                (3, Wire::List) => self.list::<i64>(List::DefinitionLevels, r)?,
                _ => r.skip(field.wire)?,
            }
            Ok(())
        })
    }

    #[inline]
    fn number(&mut self, number: Number, r: &mut Reader<'a>, trace: &mut impl FieldObserver) -> Result<()> {
        let start = r.position();
        self.numbers[number as usize] = if number.is_short() { i64::from(r.i32()?) } else { r.i64()? };
        self.has.set(FieldSet::number(number), true);
        trace.number(number, start..r.position());
        Ok(())
    }

    #[inline]
    fn text(&mut self, text: Text, r: &mut Reader<'a>) -> Result<()> {
        let len = r.binary()?.len() as u32;
        let at = (r.position() - self.start.position()) as u32 - len;
        self.strings[text as usize] = Span { at, len, depth: 0 };
        self.has.set(FieldSet::text(text), true);
        Ok(())
    }

    #[inline]
    fn list<T: Element<'a>>(&mut self, list: List, r: &mut Reader<'a>) -> Result<()> {
        let elements = r.elements::<T>()?;
        self.has.set(FieldSet::list(list), elements.is_some());
        if let Some(elements) = elements {
            let (first, len) = elements.parts();
            let at = (first.position() - self.start.position()) as u32;
            self.lists[list as usize] = Span { at, len: len as u32, depth: first.depth() as u32 };
        }
        Ok(())
    }

    #[inline]
    fn long(&self, number: Number) -> Option<i64> {
        self.has.has(FieldSet::number(number)).then_some(self.numbers[number as usize])
    }

    #[inline]
    fn short(&self, number: Number) -> Option<i32> {
        self.long(number).map(|number| number as i32)
    }

    #[inline]
    fn bytes(&self, text: Text) -> Option<&'a [u8]> {
        let Span { at, len, .. } = self.strings[text as usize];
        // INVARIANT: reading the chunk has checked that the string is inside.
        self.has.has(FieldSet::text(text)).then(|| &self.start.rest()[at as usize..][..len as usize])
    }

    #[inline]
    pub(crate) fn elements<T: Element<'a>>(&self, list: List) -> Option<Elements<'a, T>> {
        let Span { at, len, depth } = self.lists[list as usize];
        let elements = || Elements::at(self.start.behind(at as usize, depth as usize), len as usize);
        self.has.has(FieldSet::list(list)).then(elements)
    }

    /// The file that contains the pages, if it is another file. May not be UTF-8.
    #[inline]
    pub fn file_path(&self) -> Option<&'a [u8]> {
        self.bytes(Text::FilePath)
    }

    /// Whether the chunk has its `meta_data` in plaintext. Without it, numbers are 0 and lists are empty.
    #[inline]
    pub fn has_meta_data(&self) -> bool {
        self.has.has(FieldSet::META_DATA)
    }

    /// Offset of the offset index in the file, in bytes.
    #[inline]
    pub fn offset_index_offset(&self) -> Option<i64> {
        self.long(Number::OffsetIndexOffset)
    }

    /// Length of the offset index in bytes.
    #[inline]
    pub fn offset_index_length(&self) -> Option<i32> {
        self.short(Number::OffsetIndexLength)
    }

    /// Offset of the column index in the file, in bytes.
    #[inline]
    pub fn column_index_offset(&self) -> Option<i64> {
        self.long(Number::ColumnIndexOffset)
    }

    /// Length of the column index in bytes.
    #[inline]
    pub fn column_index_length(&self) -> Option<i32> {
        self.short(Number::ColumnIndexLength)
    }

    /// Whether the chunk has `crypto_metadata`, which describes the encryption of the column.
    #[inline]
    pub fn has_crypto_metadata(&self) -> bool {
        self.has.has(FieldSet::CRYPTO_METADATA)
    }

    /// Whether the chunk has its `meta_data` in encrypted form.
    #[inline]
    pub fn has_encrypted_metadata(&self) -> bool {
        self.has.has(FieldSet::ENCRYPTED_METADATA)
    }

    /// The physical type.
    #[inline]
    pub fn type_(&self) -> Type {
        Type(self.short(Number::Type).unwrap_or(0))
    }

    /// All encodings that occur, including those of levels.
    #[inline]
    pub fn encodings(&self) -> Elements<'a, Encoding> {
        self.elements(List::Encodings).unwrap_or_else(Elements::none)
    }

    /// The names on the path to the leaf column, without that of the root. They may not be UTF-8.
    #[inline]
    pub fn path_in_schema(&self) -> Elements<'a, &'a [u8]> {
        self.elements(List::Path).unwrap_or_else(Elements::none)
    }

    /// The compression codec.
    #[inline]
    pub fn codec(&self) -> CompressionCodec {
        CompressionCodec(self.short(Number::Codec).unwrap_or(0))
    }

    /// The number of values, including nulls.
    #[inline]
    pub fn num_values(&self) -> i64 {
        self.long(Number::NumValues).unwrap_or(0)
    }

    /// Total size of all pages before compression, with headers, in bytes.
    #[inline]
    pub fn total_uncompressed_size(&self) -> i64 {
        self.long(Number::TotalUncompressedSize).unwrap_or(0)
    }

    /// Total size of all pages as stored, with headers, in bytes.
    #[inline]
    pub fn total_compressed_size(&self) -> i64 {
        self.long(Number::TotalCompressedSize).unwrap_or(0)
    }

    /// Offset of the first data page in the file, in bytes.
    #[inline]
    pub fn data_page_offset(&self) -> i64 {
        self.long(Number::DataPageOffset).unwrap_or(0)
    }

    /// Offset of the dictionary page in the file, in bytes.
    #[inline]
    pub fn dictionary_page_offset(&self) -> Option<i64> {
        self.long(Number::DictionaryPageOffset)
    }

    /// The statistics: bounds and counts.
    #[inline]
    pub fn statistics(&self) -> Option<Statistics<&'a [u8]>> {
        self.has.has(FieldSet::STATISTICS).then(|| Statistics {
            max: self.bytes(Text::Max),
            min: self.bytes(Text::Min),
            null_count: self.long(Number::NullCount),
            distinct_count: self.long(Number::DistinctCount),
            max_value: self.bytes(Text::MaxValue),
            min_value: self.bytes(Text::MinValue),
            is_max_value_exact: self.has.flag(FieldSet::IS_MAX_EXACT),
            is_min_value_exact: self.has.flag(FieldSet::IS_MIN_EXACT),
            nan_count: self.long(Number::NanCount),
        })
    }

    /// The number of pages for each page type and encoding.
    #[inline]
    pub fn encoding_stats(&self) -> Option<Elements<'a, PageEncodingStats>> {
        self.elements(List::EncodingStats)
    }

    /// Offset of the bloom filter in the file, in bytes.
    #[inline]
    pub fn bloom_filter_offset(&self) -> Option<i64> {
        self.long(Number::BloomFilterOffset)
    }

    /// Length of the bloom filter with its header, in bytes.
    #[inline]
    pub fn bloom_filter_length(&self) -> Option<i32> {
        self.short(Number::BloomFilterLength)
    }

    /// Sizes before encoding, and level histograms.
    #[inline]
    pub fn size_statistics(&self) -> Option<SizeStatistics<Elements<'a, i64>>> {
        self.has.has(FieldSet::SIZE_STATISTICS).then(|| SizeStatistics {
            unencoded_byte_array_data_bytes: self.long(Number::UnencodedBytes),
            repetition_level_histogram: self.elements(List::RepetitionLevels),
            definition_level_histogram: self.elements(List::DefinitionLevels),
        })
    }

    /// Reads the whole struct. Fails only in cases in which [`read`](Self::read) fails.
    pub fn to_chunk(&self) -> Result<ColumnChunk> {
        ColumnChunk::read(&mut self.start.reader())
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
    fn skip_element_observed(r: &mut Reader<'_>) -> Result<()> {
        // PERF: three small numbers, which nearly all chunks have.
        match r.bookmark().rest() {
            [0x15, 0..0x80, 0x15, 0..0x80, 0x15, 0..0x80, 0, ..] => r.pass_bytes(7),
            _ => PageEncodingStats::read(r).map(|_| ()),
        }
    }
}
