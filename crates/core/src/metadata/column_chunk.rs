//! The metadata of one column chunk, read from the footer's bytes when it is used.

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

    /// Returns the codec's code and name, even if this crate does not know the codec.
    #[inline]
    pub fn compression(self) -> format::CompressionCodec {
        self.chunk.codec()
    }

    /// Returns the codec. Fails if it is unknown.
    #[inline]
    pub fn codec(self) -> Result<Codec> {
        Codec::from_code(self.chunk.codec().0)
            .ok_or_else(|| Error::unsupported(format!("compression codec {}", self.chunk.codec())))
    }

    /// The encodings of the pages, as the footer lists them.
    #[inline]
    pub fn encodings(self) -> format::Elements<'a, format::Encoding> {
        self.chunk.encodings()
    }

    /// Returns the number of values, nulls included.
    #[inline]
    pub fn num_values(self) -> i64 {
        self.chunk.num_values()
    }

    /// Returns the size of the pages as stored, in bytes.
    #[inline]
    pub fn compressed_size(self) -> i64 {
        self.chunk.total_compressed_size()
    }

    /// Returns the size of the pages before compression, in bytes.
    #[inline]
    pub fn uncompressed_size(self) -> i64 {
        self.chunk.total_uncompressed_size()
    }

    /// Offset of the dictionary page, if the footer has one.
    #[inline]
    pub fn dictionary_page_offset(self) -> Option<i64> {
        self.chunk.dictionary_page_offset()
    }

    /// Offset of the first data page.
    #[inline]
    pub fn data_page_offset(self) -> i64 {
        self.chunk.data_page_offset()
    }

    /// Minimum, maximum and counts of the chunk.
    #[inline]
    pub fn statistics(self) -> Option<format::Statistics<&'a [u8]>> {
        self.chunk.statistics()
    }

    /// Sizes and level histograms of the chunk.
    #[inline]
    pub fn size_statistics(self) -> Option<format::SizeStatistics<format::Elements<'a, i64>>> {
        self.chunk.size_statistics()
    }

    /// Returns how many pages of each kind and encoding there are, if the writer states it.
    #[inline]
    pub fn encoding_stats(self) -> Option<format::Elements<'a, format::PageEncodingStats>> {
        self.chunk.encoding_stats()
    }

    /// Returns the byte range of the column index.
    #[inline]
    pub fn column_index_range(self) -> Option<Range<u64>> {
        range(self.chunk.column_index_offset()?, i64::from(self.chunk.column_index_length()?))
    }

    /// Returns the byte range of the offset index.
    #[inline]
    pub fn offset_index_range(self) -> Option<Range<u64>> {
        range(self.chunk.offset_index_offset()?, i64::from(self.chunk.offset_index_length()?))
    }

    /// Returns offset and length of the column index in bytes, as the footer has them: perhaps negative or outside of
    /// the file.
    #[inline]
    pub fn declared_column_index(self) -> (Option<i64>, Option<i32>) {
        (self.chunk.column_index_offset(), self.chunk.column_index_length())
    }

    /// Returns offset and length of the offset index in bytes, as the footer has them: perhaps negative or outside of
    /// the file.
    #[inline]
    pub fn declared_offset_index(self) -> (Option<i64>, Option<i32>) {
        (self.chunk.offset_index_offset(), self.chunk.offset_index_length())
    }

    /// Returns the offset of the bloom filter in bytes, as the footer has it: perhaps negative or outside of the file.
    #[inline]
    pub fn declared_bloom_filter_offset(self) -> Option<i64> {
        self.chunk.bloom_filter_offset()
    }

    /// Returns the offset of the bloom filter.
    #[inline]
    pub fn bloom_filter_offset(self) -> Option<u64> {
        u64::try_from(self.chunk.bloom_filter_offset()?).ok()
    }

    /// Returns the length of the bloom filter in bytes, header included, if the writer states it.
    #[inline]
    pub fn bloom_filter_length(self) -> Option<i32> {
        self.chunk.bloom_filter_length()
    }

    /// Returns the `file_path` of the chunk: the file that has the pages. Only summary files need it.
    #[inline]
    pub fn file_path(self) -> Option<Cow<'a, str>> {
        self.chunk.file_path().map(String::from_utf8_lossy)
    }

    /// Returns the file that has the pages, if they are not in this one.
    ///
    /// QUIRK: some files name themselves. The pages are taken to be in another file only if they cannot be in this one:
    /// a summary file has nothing before its footer, and chunks of one row group that name different files cannot all
    /// be in this one.
    pub fn elsewhere(self) -> Option<Cow<'a, str>> {
        let path = self.file_path().filter(|path| !path.is_empty())?;
        // A chunk without values may state any offset.
        let nowhere = if self.num_values() == 0 { 0 } else { u64::MAX };
        let start = self.byte_range().map_or(nowhere, |range| range.start);
        let is_here = self.data_end.is_some_and(|data_end| start < data_end) && self.group.is_in_one_file();
        (!is_here).then_some(path)
    }

    /// Returns the offset of the footer in the file, if it was read from one.
    #[inline]
    pub fn data_end(self) -> Option<u64> {
        self.data_end
    }

    /// Returns the name and version of the file's writer, as the footer states them.
    #[inline]
    pub fn created_by(self) -> Option<&'a str> {
        self.created_by
    }

    /// Returns the chunk as it is in the footer.
    #[inline]
    pub fn to_thrift(self) -> Result<format::ColumnChunk> {
        self.chunk.to_chunk()
    }

    /// Returns the column metadata as it is in the footer.
    #[inline]
    pub fn meta_data(self) -> Result<format::ColumnMetaData> {
        let meta = self.to_thrift()?.meta_data;
        meta.ok_or_else(|| Error::corrupt("the column chunk has no metadata"))
    }

    /// Returns the byte range of the pages: from the first page, dictionary or data, as many bytes as the footer
    /// states.
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

/// Length of the opening magic bytes: no page can be there.
const MAGIC_LEN: u64 = 4;

fn range(offset: i64, len: i64) -> Option<Range<u64>> {
    let start = u64::try_from(offset).ok()?;
    Some(start..start.checked_add(u64::try_from(len).ok()?)?)
}
