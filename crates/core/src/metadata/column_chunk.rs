//! What a footer says of one column chunk, read from its bytes when it is asked for.

use super::ColumnChunk;
use crate::schema::Leaf;
use marquetry_base::{Error, Result};
use marquetry_codec::Codec;
use marquetry_format as format;
use std::borrow::Cow;
use std::ops::Range;

impl<'a> ColumnChunk<'a> {
    /// The column.
    #[inline]
    pub fn leaf(self) -> &'a Leaf {
        self.leaf
    }

    /// The codec's code and name, known or not.
    #[inline]
    pub fn compression(self) -> format::CompressionCodec {
        self.chunk.codec()
    }

    /// The codec; fails if it is unknown.
    #[inline]
    pub fn codec(self) -> Result<Codec> {
        Codec::from_code(self.chunk.codec().0)
            .ok_or_else(|| Error::unsupported(format!("compression codec {}", self.chunk.codec())))
    }

    /// The encodings that occur, as the footer says.
    #[inline]
    pub fn encodings(self) -> format::Elements<'a, format::Encoding> {
        self.chunk.encodings()
    }

    /// How many values, nulls included.
    #[inline]
    pub fn num_values(self) -> i64 {
        self.chunk.num_values()
    }

    /// Bytes of its pages as stored.
    #[inline]
    pub fn compressed_size(self) -> i64 {
        self.chunk.total_compressed_size()
    }

    /// Bytes of its pages before compression.
    #[inline]
    pub fn uncompressed_size(self) -> i64 {
        self.chunk.total_uncompressed_size()
    }

    /// Where its dictionary page is, if the footer says.
    #[inline]
    pub fn dictionary_page_offset(self) -> Option<i64> {
        self.chunk.dictionary_page_offset()
    }

    /// Where its first data page is.
    #[inline]
    pub fn data_page_offset(self) -> i64 {
        self.chunk.data_page_offset()
    }

    /// Minimum, maximum and counts.
    #[inline]
    pub fn statistics(self) -> Option<format::Statistics<&'a [u8]>> {
        self.chunk.statistics()
    }

    /// Sizes and level histograms.
    #[inline]
    pub fn size_statistics(self) -> Option<format::SizeStatistics<format::Elements<'a, i64>>> {
        self.chunk.size_statistics()
    }

    /// How many pages there are of each kind and encoding, if the writer says.
    #[inline]
    pub fn encoding_stats(self) -> Option<format::Elements<'a, format::PageEncodingStats>> {
        self.chunk.encoding_stats()
    }

    /// Where the column index is.
    #[inline]
    pub fn column_index_range(self) -> Option<Range<u64>> {
        range(self.chunk.column_index_offset()?, i64::from(self.chunk.column_index_length()?))
    }

    /// Where the offset index is.
    #[inline]
    pub fn offset_index_range(self) -> Option<Range<u64>> {
        range(self.chunk.offset_index_offset()?, i64::from(self.chunk.offset_index_length()?))
    }

    /// Offset and length of the column index in bytes, as the footer has them: perhaps negative or outside of the file.
    #[inline]
    pub fn declared_column_index(self) -> (Option<i64>, Option<i32>) {
        (self.chunk.column_index_offset(), self.chunk.column_index_length())
    }

    /// Offset and length of the offset index in bytes, as the footer has them: perhaps negative or outside of the file.
    #[inline]
    pub fn declared_offset_index(self) -> (Option<i64>, Option<i32>) {
        (self.chunk.offset_index_offset(), self.chunk.offset_index_length())
    }

    /// Offset of the bloom filter in bytes, as the footer has it: perhaps negative or outside of the file.
    #[inline]
    pub fn declared_bloom_filter_offset(self) -> Option<i64> {
        self.chunk.bloom_filter_offset()
    }

    /// Where the bloom filter begins.
    #[inline]
    pub fn bloom_filter_offset(self) -> Option<u64> {
        u64::try_from(self.chunk.bloom_filter_offset()?).ok()
    }

    /// How many bytes the bloom filter takes, header included, if the writer says.
    #[inline]
    pub fn bloom_filter_length(self) -> Option<i32> {
        self.chunk.bloom_filter_length()
    }

    /// Another file that the pages are in: summary files only.
    #[inline]
    pub fn file_path(self) -> Option<Cow<'a, str>> {
        self.chunk.file_path().map(String::from_utf8_lossy)
    }

    /// The other file that the pages are in, if they are not in this one.
    ///
    /// QUIRK: some files name themselves. Only where the pages cannot be here are they in another file: a summary file has
    /// nothing before its footer, and the chunks of a row group are not all in the same file if they name different ones.
    pub fn elsewhere(self) -> Option<Cow<'a, str>> {
        let path = self.file_path().filter(|path| !path.is_empty())?;
        // A chunk without values may be nowhere.
        let nowhere = if self.num_values() == 0 { 0 } else { u64::MAX };
        let start = self.byte_range().map_or(nowhere, |range| range.start);
        let is_here = self.data_end.is_some_and(|data_end| start < data_end) && self.group.is_in_one_file();
        (!is_here).then_some(path)
    }

    /// Where the footer begins in the file, if it was read from one.
    #[inline]
    pub fn data_end(self) -> Option<u64> {
        self.data_end
    }

    /// The writer of the file, as it names itself.
    #[inline]
    pub fn created_by(self) -> Option<&'a str> {
        self.created_by
    }

    /// The chunk as it is in the footer.
    #[inline]
    pub fn to_thrift(self) -> Result<format::ColumnChunk> {
        self.chunk.to_chunk()
    }

    /// What the footer says of the pages, as it is there.
    #[inline]
    pub fn meta_data(self) -> Result<format::ColumnMetaData> {
        let meta = self.to_thrift()?.meta_data;
        meta.ok_or_else(|| Error::corrupt("the column chunk has no metadata"))
    }

    /// Where its pages are: from the first page, dictionary or data, as many bytes as the footer says.
    ///
    /// QUIRK: `dictionary_page_offset` may be absent or 0 although there is a dictionary page; it then stands at
    /// `data_page_offset`. `file_offset` is unreliable and never used. QUIRK: old parquet-mr forgets the dictionary
    /// page's header in the size, so the end is a hint: the number of values decides when the chunk is over.
    #[inline]
    pub fn byte_range(self) -> Result<Range<u64>> {
        let data = self.chunk.data_page_offset();
        let first = match self.chunk.dictionary_page_offset() {
            Some(dictionary) if dictionary > 0 && (dictionary < data || data == 0) => dictionary,
            _ => data,
        };
        range(first, self.chunk.total_compressed_size().max(0))
            .filter(|range| range.start >= MAGIC_LEN)
            .ok_or_else(|| {
                Error::corrupt(format!("pages at byte {first}, {} bytes", self.chunk.total_compressed_size()))
            })
    }
}

/// No page can be where the opening magic is.
const MAGIC_LEN: u64 = 4;

fn range(offset: i64, len: i64) -> Option<Range<u64>> {
    let start = u64::try_from(offset).ok()?;
    Some(start..start.checked_add(u64::try_from(len).ok()?)?)
}
