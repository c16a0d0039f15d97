//! The footer's contents, through accessors: file, row groups, column chunks.

use crate::schema::{Leaf, Schema, physical_type};
use marquetry_base::{Error, Limits, Result};
use marquetry_codec::Codec;
use marquetry_format as format;
use std::ops::Range;
use std::sync::Arc;

/// What a footer says.
#[derive(Debug, Clone, PartialEq)]
pub struct ParquetMetaData {
    thrift: format::FileMetaData,
    schema: Arc<Schema>,
    /// Where the footer begins in the file, if it was read from one: pages are before it.
    data_end: Option<u64>,
}

/// What a footer says of one row group.
#[derive(Debug, Clone, Copy)]
pub struct RowGroup<'a> {
    metadata: &'a ParquetMetaData,
    index: usize,
}

/// What a footer says of one column chunk.
#[derive(Debug, Clone, Copy)]
pub struct ColumnChunk<'a> {
    thrift: &'a format::ColumnChunk,
    meta: &'a format::ColumnMetaData,
    leaf: &'a Leaf,
    data_end: Option<u64>,
    created_by: Option<&'a str>,
}

impl ParquetMetaData {
    /// Decodes a footer: the bytes between the last page and the length before the closing magic.
    pub fn parse(footer: &[u8], limits: &Limits) -> Result<Self> {
        Self::from_thrift(format::parse_metadata(footer, limits)?, limits)
    }

    /// Builds the schema of a decoded footer.
    pub fn from_thrift(thrift: format::FileMetaData, limits: &Limits) -> Result<Self> {
        let schema = Arc::new(Schema::from_thrift(&thrift.schema, limits)?);
        Ok(ParquetMetaData { thrift, schema, data_end: None })
    }

    /// Says where the footer begins in its file.
    #[must_use]
    pub fn with_data_end(self, data_end: u64) -> Self {
        ParquetMetaData { data_end: Some(data_end), ..self }
    }

    /// Where the footer begins in its file, if it was read from one.
    pub fn data_end(&self) -> Option<u64> {
        self.data_end
    }

    /// The schema.
    pub fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    /// How many rows all row groups have. QUIRK: a few writers leave the footer's own total wrong; row groups are what
    /// is read, so they are what is counted.
    pub fn num_rows(&self) -> u64 {
        self.row_groups().fold(0, |rows, row_group| rows.saturating_add(row_group.num_rows()))
    }

    /// The total that the footer itself has, right or wrong.
    pub fn declared_rows(&self) -> i64 {
        self.thrift.num_rows
    }

    /// How many row groups.
    pub fn num_row_groups(&self) -> usize {
        self.thrift.row_groups.len()
    }

    /// Row group `index`.
    ///
    /// # Panics
    /// If there is none.
    pub fn row_group(&self, index: usize) -> RowGroup<'_> {
        assert!(index < self.num_row_groups(), "row group {index} of {}", self.num_row_groups());
        RowGroup { metadata: self, index }
    }

    /// All row groups.
    pub fn row_groups(&self) -> impl ExactSizeIterator<Item = RowGroup<'_>> {
        (0..self.num_row_groups()).map(|index| RowGroup { metadata: self, index })
    }

    /// The writer, as it names itself.
    pub fn created_by(&self) -> Option<&str> {
        self.thrift.created_by.as_deref()
    }

    /// The format version that the writer claims: 1 or 2; it decides nothing.
    pub fn version(&self) -> i32 {
        self.thrift.version
    }

    /// The file's key-value metadata.
    pub fn key_value_metadata(&self) -> &[format::KeyValue] {
        self.thrift.key_value_metadata.as_deref().unwrap_or_default()
    }

    /// The value of a key in the file's metadata.
    pub fn value_of(&self, key: &str) -> Option<&str> {
        self.key_value_metadata().iter().find(|pair| pair.key == key).and_then(|pair| pair.value.as_deref())
    }

    /// How the bounds of each column are ordered, if the file says.
    pub fn column_orders(&self) -> Option<&[format::ColumnOrder]> {
        self.thrift.column_orders.as_deref()
    }

    /// The footer as it is in the file.
    pub fn thrift(&self) -> &format::FileMetaData {
        &self.thrift
    }
}

impl<'a> RowGroup<'a> {
    /// Its number.
    pub fn index(self) -> usize {
        self.index
    }

    /// How many rows; a negative number counts as none.
    pub fn num_rows(self) -> u64 {
        u64::try_from(self.thrift().num_rows).unwrap_or(0)
    }

    /// How many column chunks.
    pub fn num_columns(self) -> usize {
        self.thrift().columns.len()
    }

    /// The chunk of column `i` of the schema.
    ///
    /// Fails if there is none, if it has no metadata (it is encrypted then, or corrupt), or if its type is another than
    /// the schema says.
    ///
    /// # Panics
    /// If the schema has no column `i`.
    pub fn column(self, i: usize) -> Result<ColumnChunk<'a>> {
        let leaf = self.metadata.schema.column(i);
        let thrift = self.chunk_of(i, leaf).ok_or_else(|| {
            let (chunks, columns) = (self.num_columns(), self.metadata.schema.num_columns());
            Error::corrupt(format!("no chunk of the column among {chunks}, the schema has {columns} columns"))
                .in_column(leaf.dotted().clone())
                .in_row_group(self.index)
        })?;
        let place = |error: Error| error.in_column(leaf.dotted().clone()).in_row_group(self.index);
        let encrypted = thrift.crypto_metadata.is_some() || thrift.encrypted_column_metadata.is_some();
        match &thrift.meta_data {
            Some(meta) if meta.type_ == physical_type(leaf.physical()) => {
                let (data_end, created_by) = (self.metadata.data_end, self.metadata.created_by());
                Ok(ColumnChunk { thrift, meta, leaf, data_end, created_by })
            }
            Some(meta) => Err(place(Error::corrupt(format!(
                "the column chunk is {}, the schema says {}",
                meta.type_,
                leaf.physical()
            )))),
            None if encrypted => Err(place(Error::key("the column is encrypted, and no key was given"))),
            None => Err(place(Error::corrupt("the column chunk has no metadata"))),
        }
    }

    /// The chunk of column `i`: the one at its place, unless the paths say that chunks stand in another order.
    fn chunk_of(self, i: usize, leaf: &Leaf) -> Option<&'a format::ColumnChunk> {
        let path_of = |chunk: &'a format::ColumnChunk| {
            Some(&chunk.meta_data.as_ref()?.path_in_schema).filter(|path| !path.is_empty())
        };
        let chunks = &self.thrift().columns;
        let at_its_place = chunks.get(i);
        // QUIRK: paths may be absent, and a few writers get them wrong: then the place decides.
        if at_its_place.is_some_and(|chunk| path_of(chunk).is_none_or(|path| path == leaf.path())) {
            return at_its_place;
        }
        chunks
            .iter()
            .find(|chunk| path_of(chunk).is_some_and(|path| path == leaf.path()))
            .or_else(|| at_its_place.filter(|_| chunks.len() == self.metadata.schema.num_columns()))
    }

    /// All column chunks, in the order of the schema's columns.
    pub fn columns(self) -> impl Iterator<Item = Result<ColumnChunk<'a>>> {
        (0..self.metadata.schema.num_columns()).map(move |i| self.column(i))
    }

    /// Bytes of all pages before compression, as the footer says.
    pub fn total_byte_size(self) -> i64 {
        self.thrift().total_byte_size
    }

    /// How rows are sorted, if the writer says.
    pub fn sorting_columns(self) -> &'a [format::SortingColumn] {
        self.thrift().sorting_columns.as_deref().unwrap_or_default()
    }

    fn thrift(self) -> &'a format::RowGroup {
        &self.metadata.thrift.row_groups[self.index]
    }
}

impl<'a> ColumnChunk<'a> {
    /// The column.
    pub fn leaf(self) -> &'a Leaf {
        self.leaf
    }

    /// The codec's code and name, known or not.
    pub fn compression(self) -> format::CompressionCodec {
        self.meta.codec
    }

    /// The codec; fails if it is unknown.
    pub fn codec(self) -> Result<Codec> {
        Codec::from_code(self.meta.codec.0)
            .ok_or_else(|| Error::unsupported(format!("compression codec {}", self.meta.codec)))
    }

    /// The encodings that occur, as the footer says.
    pub fn encodings(self) -> &'a [format::Encoding] {
        &self.meta.encodings
    }

    /// How many values, nulls included.
    pub fn num_values(self) -> i64 {
        self.meta.num_values
    }

    /// Bytes of its pages as stored.
    pub fn compressed_size(self) -> i64 {
        self.meta.total_compressed_size
    }

    /// Bytes of its pages before compression.
    pub fn uncompressed_size(self) -> i64 {
        self.meta.total_uncompressed_size
    }

    /// Where its dictionary page is, if the footer says.
    pub fn dictionary_page_offset(self) -> Option<i64> {
        self.meta.dictionary_page_offset
    }

    /// Where its first data page is.
    pub fn data_page_offset(self) -> i64 {
        self.meta.data_page_offset
    }

    /// Minimum, maximum and counts.
    pub fn statistics(self) -> Option<&'a format::Statistics> {
        self.meta.statistics.as_ref()
    }

    /// Sizes and level histograms.
    pub fn size_statistics(self) -> Option<&'a format::SizeStatistics> {
        self.meta.size_statistics.as_ref()
    }

    /// How many pages there are of each kind and encoding, if the writer says.
    pub fn encoding_stats(self) -> Option<&'a [format::PageEncodingStats]> {
        self.meta.encoding_stats.as_deref()
    }

    /// Where the column index is.
    pub fn column_index_range(self) -> Option<Range<u64>> {
        range(self.thrift.column_index_offset?, i64::from(self.thrift.column_index_length?))
    }

    /// Where the offset index is.
    pub fn offset_index_range(self) -> Option<Range<u64>> {
        range(self.thrift.offset_index_offset?, i64::from(self.thrift.offset_index_length?))
    }

    /// Where the bloom filter begins.
    pub fn bloom_filter_offset(self) -> Option<u64> {
        u64::try_from(self.meta.bloom_filter_offset?).ok()
    }

    /// How many bytes the bloom filter takes, header included, if the writer says.
    pub fn bloom_filter_length(self) -> Option<i32> {
        self.meta.bloom_filter_length
    }

    /// Another file that the pages are in: summary files only.
    pub fn file_path(self) -> Option<&'a str> {
        self.thrift.file_path.as_deref()
    }

    /// Where the footer begins in the file, if it was read from one.
    pub fn data_end(self) -> Option<u64> {
        self.data_end
    }

    /// The writer of the file, as it names itself.
    pub fn created_by(self) -> Option<&'a str> {
        self.created_by
    }

    /// Whether the pages are encrypted.
    pub fn is_encrypted(self) -> bool {
        self.thrift.crypto_metadata.is_some()
    }

    /// The chunk as it is in the footer.
    pub fn thrift(self) -> &'a format::ColumnChunk {
        self.thrift
    }

    /// Where its pages are: from the first page, dictionary or data, as many bytes as the footer says.
    ///
    /// QUIRK: `dictionary_page_offset` may be absent or 0 although there is a dictionary page; it then stands at
    /// `data_page_offset`. `file_offset` is unreliable and never used. QUIRK: old parquet-mr forgets the dictionary
    /// page's header in the size, so the end is a hint: the number of values decides when the chunk is over.
    pub fn byte_range(self) -> Result<Range<u64>> {
        let data = self.meta.data_page_offset;
        let first = match self.meta.dictionary_page_offset {
            Some(dictionary) if dictionary > 0 && (dictionary < data || data == 0) => dictionary,
            _ => data,
        };
        range(first, self.meta.total_compressed_size.max(0))
            .filter(|range| range.start >= MAGIC_LEN)
            .ok_or_else(|| {
                Error::corrupt(format!("pages at byte {first}, {} bytes", self.meta.total_compressed_size))
            })
    }
}

/// No page can be where the opening magic is.
const MAGIC_LEN: u64 = 4;

fn range(offset: i64, len: i64) -> Option<Range<u64>> {
    let start = u64::try_from(offset).ok()?;
    Some(start..start.checked_add(u64::try_from(len).ok()?)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn row_groups_of_more_rows_than_can_be_do_not_overflow() {
        let root = format::SchemaElement { name: "root".to_owned(), ..Default::default() };
        let row_groups = [i64::MAX, i64::MAX, i64::MAX, -1]
            .map(|num_rows| format::RowGroup { num_rows, ..Default::default() })
            .to_vec();
        let thrift = format::FileMetaData { schema: vec![root], row_groups, ..Default::default() };
        let metadata = ParquetMetaData::from_thrift(thrift, &Limits::default()).unwrap();
        assert_eq!(metadata.num_rows(), u64::MAX);
    }
}
