//! A column chunk where it lies: numbers are read, everything else stays in the bytes of the footer.

use crate::thrift::{Bookmark, Element, Elements, Reader, Wire, missing};
use crate::{ColumnChunk, CompressionCodec, Encoding, PageEncodingStats, SizeStatistics, Statistics, Type};
use marquetry_base::Result;
use std::ops::Range;

/// A [`ColumnChunk`] that takes no memory of its own. Reading it fails where reading a `ColumnChunk` would.
///
/// PERF: a table, so that chunks that are written alike can be read by a list of what is where: see `template.rs`.
#[derive(Debug, Clone, Copy)]
pub struct ChunkView<'a> {
    /// At the struct.
    pub(crate) start: Bookmark<'a>,
    /// What there is.
    pub(crate) has: Facts,
    /// Numbers, by what they say; of no use where there is none.
    pub(crate) numbers: [i64; Number::COUNT],
    /// Byte strings, and lists, by what they say.
    pub(crate) strings: [Stretch; Text::COUNT],
    pub(crate) lists: [Stretch; List::COUNT],
}

/// What a number of a chunk says. Those of 32 bits come first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Number {
    Type,
    Codec,
    OffsetIndexLength,
    ColumnIndexLength,
    BloomFilterLength,
    OffsetIndexOffset,
    ColumnIndexOffset,
    NumValues,
    TotalUncompressedSize,
    TotalCompressedSize,
    DataPageOffset,
    DictionaryPageOffset,
    BloomFilterOffset,
    NullCount,
    DistinctCount,
    NanCount,
    UnencodedBytes,
}

impl Number {
    const COUNT: usize = Number::UnencodedBytes as usize + 1;

    /// Whether it has 32 bits.
    pub(crate) fn is_short(self) -> bool {
        self as usize <= Number::BloomFilterLength as usize
    }
}

/// What a byte string of a chunk is.
#[derive(Debug, Clone, Copy)]
#[repr(u8)]
pub(crate) enum Text {
    FilePath,
    Max,
    Min,
    MaxValue,
    MinValue,
}

impl Text {
    const COUNT: usize = Text::MinValue as usize + 1;
}

/// What a list of a chunk is.
#[derive(Debug, Clone, Copy)]
#[repr(u8)]
pub(crate) enum List {
    Encodings,
    Path,
    EncodingStats,
    RepetitionLevels,
    DefinitionLevels,
}

impl List {
    const COUNT: usize = List::DefinitionLevels as usize + 1;
}

/// Bytes of a string, or elements of a list, counted from the start of the chunk.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Stretch {
    /// Where the first is.
    pub(crate) at: u32,
    pub(crate) len: u32,
    /// How many structs and lists an element may enter.
    pub(crate) depth: u32,
}

/// A set of what a chunk has: numbers, byte strings, lists, structs and flags, a bit for each.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Facts(u64);

impl Facts {
    const STATISTICS: Facts = Facts(1 << 40);
    const SIZE_STATISTICS: Facts = Facts(1 << 41);
    const IS_MAX_EXACT: Facts = Facts(0b11 << 42);
    const IS_MIN_EXACT: Facts = Facts(0b11 << 44);
    const META_DATA: Facts = Facts(1 << 46);
    const CRYPTO_METADATA: Facts = Facts(1 << 47);
    const ENCRYPTED_METADATA: Facts = Facts(1 << 48);
    /// What of a chunk is not in its `meta_data`.
    const OUTSIDE: Facts = Facts(
        Facts::number(Number::OffsetIndexOffset).0
            | Facts::number(Number::OffsetIndexLength).0
            | Facts::number(Number::ColumnIndexOffset).0
            | Facts::number(Number::ColumnIndexLength).0
            | Facts::text(Text::FilePath).0
            | Facts::CRYPTO_METADATA.0
            | Facts::ENCRYPTED_METADATA.0,
    );
    /// What statistics say.
    const OF_STATISTICS: Facts = Facts(
        Facts::number(Number::NullCount).0
            | Facts::number(Number::DistinctCount).0
            | Facts::number(Number::NanCount).0
            | Facts::text(Text::Max).0
            | Facts::text(Text::Min).0
            | Facts::text(Text::MaxValue).0
            | Facts::text(Text::MinValue).0
            | Facts::IS_MAX_EXACT.0
            | Facts::IS_MIN_EXACT.0,
    );
    /// What size statistics say.
    const OF_SIZES: Facts = Facts(
        Facts::number(Number::UnencodedBytes).0
            | Facts::list(List::RepetitionLevels).0
            | Facts::list(List::DefinitionLevels).0,
    );

    const fn number(number: Number) -> Facts {
        Facts(1 << number as u8)
    }

    const fn text(text: Text) -> Facts {
        Facts(1 << (24 + text as u8))
    }

    const fn list(list: List) -> Facts {
        Facts(1 << (32 + list as u8))
    }

    #[inline]
    pub(crate) fn has(self, other: Facts) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether there is byte string number `of`.
    pub(crate) fn has_string(self, of: usize) -> bool {
        self.0 >> (24 + of) & 1 == 1
    }

    /// Whether there is list number `of`.
    pub(crate) fn has_list(self, of: usize) -> bool {
        self.0 >> (32 + of) & 1 == 1
    }

    #[inline]
    fn set(&mut self, facts: Facts, there: bool) {
        self.0 = if there { self.0 | facts.0 } else { self.0 & !facts.0 };
    }

    /// Of two bits the lower says that there is a flag, the upper what it is.
    fn set_flag(&mut self, flag: Facts, value: bool) {
        self.0 = self.0 & !flag.0 | flag.0 & (flag.0 >> 1 | if value { flag.0 } else { 0 });
    }

    fn flag(self, flag: Facts) -> Option<bool> {
        let lower = flag.0 & !(flag.0 << 1);
        (self.0 & lower != 0).then_some(self.0 & (lower << 1) != 0)
    }
}

/// Who wants to know where the fields of a chunk are.
pub(crate) trait Trace {
    /// The bytes `at` of the input are this number.
    fn number(&mut self, number: Number, at: Range<usize>);

    /// There is something that not only its bytes' high bits decide upon.
    fn other(&mut self);
}

/// Nobody wants to know.
impl Trace for () {
    #[inline]
    fn number(&mut self, _: Number, _: Range<usize>) {}

    #[inline]
    fn other(&mut self) {}
}

impl<'a> ChunkView<'a> {
    /// A chunk of which nothing is known yet.
    #[inline]
    pub fn unread() -> Self {
        ChunkView {
            start: Bookmark::NOWHERE,
            has: Facts::default(),
            numbers: [0; Number::COUNT],
            strings: [Stretch::default(); Text::COUNT],
            lists: [Stretch::default(); List::COUNT],
        }
    }

    /// Reads the struct into an unread one. PERF: it is large, so it is better read where it stays than moved there.
    pub fn read(&mut self, r: &mut Reader<'a>) -> Result<()> {
        self.read_traced(r, &mut ())
    }

    pub(crate) fn read_traced(&mut self, r: &mut Reader<'a>, trace: &mut impl Trace) -> Result<()> {
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
                    r.apart(crate::ColumnCryptoMetaData::read)?;
                    self.has.set(Facts::CRYPTO_METADATA, true);
                }
                (9, Wire::Binary) => {
                    r.binary()?;
                    self.has.set(Facts::ENCRYPTED_METADATA, true);
                }
                _ => r.skip(field.wire)?,
            }
            Ok(())
        })
    }

    #[inline]
    fn read_meta(&mut self, r: &mut Reader<'a>, trace: &mut impl Trace) -> Result<()> {
        use Number::*;
        // If there is another one, nothing of it is left.
        self.has = Facts(self.has.0 & Facts::OUTSIDE.0);
        self.has.set(Facts::META_DATA, true);
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
                // Nobody asks for these but who wants the whole struct, and who reads the file strictly.
                (17, Wire::Struct) => {
                    trace.other();
                    r.apart(crate::GeospatialStatistics::read)?;
                }
                _ => r.skip(field.wire)?,
            }
            Ok(())
        })?;
        match (self.has.has(Facts::number(Type)), self.has.has(Facts::number(Codec))) {
            (true, true) => Ok(()),
            (false, _) => Err(missing("ColumnMetaData.type", r.position())),
            (true, false) => Err(missing("ColumnMetaData.codec", r.position())),
        }
    }

    #[inline]
    fn read_statistics(&mut self, r: &mut Reader<'a>, trace: &mut impl Trace) -> Result<()> {
        self.has.set(Facts::OF_STATISTICS, false);
        self.has.set(Facts::STATISTICS, true);
        r.fields(|r, field| {
            match (field.id, field.wire) {
                (1, Wire::Binary) => self.text(Text::Max, r)?,
                (2, Wire::Binary) => self.text(Text::Min, r)?,
                (3, Wire::INT) => self.number(Number::NullCount, r, trace)?,
                (4, Wire::INT) => self.number(Number::DistinctCount, r, trace)?,
                (5, Wire::Binary) => self.text(Text::MaxValue, r)?,
                (6, Wire::Binary) => self.text(Text::MinValue, r)?,
                (7, Wire::True | Wire::False) => {
                    self.has.set_flag(Facts::IS_MAX_EXACT, r.bool(field.wire));
                }
                (8, Wire::True | Wire::False) => {
                    self.has.set_flag(Facts::IS_MIN_EXACT, r.bool(field.wire));
                }
                (9, Wire::INT) => self.number(Number::NanCount, r, trace)?,
                _ => r.skip(field.wire)?,
            }
            Ok(())
        })
    }

    #[inline]
    fn read_sizes(&mut self, r: &mut Reader<'a>, trace: &mut impl Trace) -> Result<()> {
        self.has.set(Facts::OF_SIZES, false);
        self.has.set(Facts::SIZE_STATISTICS, true);
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
    fn number(&mut self, number: Number, r: &mut Reader<'a>, trace: &mut impl Trace) -> Result<()> {
        let start = r.position();
        self.numbers[number as usize] = if number.is_short() { i64::from(r.i32()?) } else { r.i64()? };
        self.has.set(Facts::number(number), true);
        trace.number(number, start..r.position());
        Ok(())
    }

    #[inline]
    fn text(&mut self, text: Text, r: &mut Reader<'a>) -> Result<()> {
        let len = r.binary()?.len() as u32;
        let at = (r.position() - self.start.position()) as u32 - len;
        self.strings[text as usize] = Stretch { at, len, depth: 0 };
        self.has.set(Facts::text(text), true);
        Ok(())
    }

    #[inline]
    fn list<T: Element<'a>>(&mut self, list: List, r: &mut Reader<'a>) -> Result<()> {
        let elements = r.elements::<T>()?;
        self.has.set(Facts::list(list), elements.is_some());
        if let Some(elements) = elements {
            let (first, len) = elements.parts();
            let at = (first.position() - self.start.position()) as u32;
            self.lists[list as usize] = Stretch { at, len: len as u32, depth: first.depth() as u32 };
        }
        Ok(())
    }

    #[inline]
    fn long(&self, number: Number) -> Option<i64> {
        self.has.has(Facts::number(number)).then_some(self.numbers[number as usize])
    }

    #[inline]
    fn short(&self, number: Number) -> Option<i32> {
        self.long(number).map(|number| number as i32)
    }

    #[inline]
    fn bytes(&self, text: Text) -> Option<&'a [u8]> {
        let Stretch { at, len, .. } = self.strings[text as usize];
        // INVARIANT: the string was there when it was read.
        self.has.has(Facts::text(text)).then(|| &self.start.rest()[at as usize..][..len as usize])
    }

    #[inline]
    pub(crate) fn elements<T: Element<'a>>(&self, list: List) -> Option<Elements<'a, T>> {
        let Stretch { at, len, depth } = self.lists[list as usize];
        let elements = || Elements::at(self.start.behind(at as usize, depth as usize), len as usize);
        self.has.has(Facts::list(list)).then(elements)
    }

    /// The file that the pages are in, where it is another one; it may be no UTF-8.
    #[inline]
    pub fn file_path(&self) -> Option<&'a [u8]> {
        self.bytes(Text::FilePath)
    }

    /// Whether it is said where the pages are, and what is in them: not where that is encrypted. Without it numbers are 0, and
    /// lists are empty.
    #[inline]
    pub fn has_meta_data(&self) -> bool {
        self.has.has(Facts::META_DATA)
    }

    /// Where the offset index is.
    #[inline]
    pub fn offset_index_offset(&self) -> Option<i64> {
        self.long(Number::OffsetIndexOffset)
    }

    /// Its bytes.
    #[inline]
    pub fn offset_index_length(&self) -> Option<i32> {
        self.short(Number::OffsetIndexLength)
    }

    /// Where the column index is.
    #[inline]
    pub fn column_index_offset(&self) -> Option<i64> {
        self.long(Number::ColumnIndexOffset)
    }

    /// Its bytes.
    #[inline]
    pub fn column_index_length(&self) -> Option<i32> {
        self.short(Number::ColumnIndexLength)
    }

    /// Whether it is said how the column is encrypted.
    #[inline]
    pub fn has_crypto_metadata(&self) -> bool {
        self.has.has(Facts::CRYPTO_METADATA)
    }

    /// Whether `meta_data` is there in encrypted form.
    #[inline]
    pub fn has_encrypted_metadata(&self) -> bool {
        self.has.has(Facts::ENCRYPTED_METADATA)
    }

    /// PhysicalType type.
    #[inline]
    pub fn type_(&self) -> Type {
        Type(self.short(Number::Type).unwrap_or(0))
    }

    /// Encodings that occur, levels included.
    #[inline]
    pub fn encodings(&self) -> Elements<'a, Encoding> {
        self.elements(List::Encodings).unwrap_or_else(Elements::none)
    }

    /// Names from the root's field to the leaf; they may be no UTF-8.
    #[inline]
    pub fn path_in_schema(&self) -> Elements<'a, &'a [u8]> {
        self.elements(List::Path).unwrap_or_else(Elements::none)
    }

    /// Compression.
    #[inline]
    pub fn codec(&self) -> CompressionCodec {
        CompressionCodec(self.short(Number::Codec).unwrap_or(0))
    }

    /// Values, nulls included.
    #[inline]
    pub fn num_values(&self) -> i64 {
        self.long(Number::NumValues).unwrap_or(0)
    }

    /// Bytes of all pages before compression, headers included.
    #[inline]
    pub fn total_uncompressed_size(&self) -> i64 {
        self.long(Number::TotalUncompressedSize).unwrap_or(0)
    }

    /// Bytes of all pages as stored, headers included.
    #[inline]
    pub fn total_compressed_size(&self) -> i64 {
        self.long(Number::TotalCompressedSize).unwrap_or(0)
    }

    /// Where the first data page is.
    #[inline]
    pub fn data_page_offset(&self) -> i64 {
        self.long(Number::DataPageOffset).unwrap_or(0)
    }

    /// Where the dictionary page is.
    #[inline]
    pub fn dictionary_page_offset(&self) -> Option<i64> {
        self.long(Number::DictionaryPageOffset)
    }

    /// Bounds and counts.
    #[inline]
    pub fn statistics(&self) -> Option<Statistics<&'a [u8]>> {
        self.has.has(Facts::STATISTICS).then(|| Statistics {
            max: self.bytes(Text::Max),
            min: self.bytes(Text::Min),
            null_count: self.long(Number::NullCount),
            distinct_count: self.long(Number::DistinctCount),
            max_value: self.bytes(Text::MaxValue),
            min_value: self.bytes(Text::MinValue),
            is_max_value_exact: self.has.flag(Facts::IS_MAX_EXACT),
            is_min_value_exact: self.has.flag(Facts::IS_MIN_EXACT),
            nan_count: self.long(Number::NanCount),
        })
    }

    /// Pages of each kind and encoding.
    #[inline]
    pub fn encoding_stats(&self) -> Option<Elements<'a, PageEncodingStats>> {
        self.elements(List::EncodingStats)
    }

    /// Where the bloom filter is.
    #[inline]
    pub fn bloom_filter_offset(&self) -> Option<i64> {
        self.long(Number::BloomFilterOffset)
    }

    /// Its bytes, header included.
    #[inline]
    pub fn bloom_filter_length(&self) -> Option<i32> {
        self.short(Number::BloomFilterLength)
    }

    /// Sizes and level histograms.
    #[inline]
    pub fn size_statistics(&self) -> Option<SizeStatistics<Elements<'a, i64>>> {
        self.has.has(Facts::SIZE_STATISTICS).then(|| SizeStatistics {
            unencoded_byte_array_data_bytes: self.long(Number::UnencodedBytes),
            repetition_level_histogram: self.elements(List::RepetitionLevels),
            definition_level_histogram: self.elements(List::DefinitionLevels),
        })
    }

    /// The whole struct. Fails in no case that [`read`](Self::read) does not.
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
    fn pass_element(r: &mut Reader<'_>) -> Result<()> {
        // PERF: three small numbers, as nearly all chunks have them.
        match r.bookmark().rest() {
            [0x15, 0..0x80, 0x15, 0..0x80, 0x15, 0..0x80, 0, ..] => r.pass_bytes(7),
            _ => PageEncodingStats::read(r).map(|_| ()),
        }
    }
}
