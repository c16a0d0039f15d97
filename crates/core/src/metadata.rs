//! The footer's contents, through accessors: file, row groups, column chunks.
//!
//! The bytes of the footer are kept. Parsing only locates the column chunks; the metadata of a chunk is read from the
//! bytes whenever it is needed. So reading one column of thousands costs what one column does.

mod column_chunk;
mod encrypted;
mod opened_chunks;
mod order;

use crate::encryption::FileDecryptor;
use crate::schema::{Leaf, Schema, physical_type};
use bytes::Bytes;
use marquetry_base::{Error, Limits, Result};
use marquetry_format as format;
use opened_chunks::OpenedChunks;
use order::Order;
use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, OnceLock};

/// The parsed footer of a file: its schema, row groups, column chunks and key-value metadata.
#[derive(Clone)]
pub struct ParquetMetaData {
    footer: Bytes,
    outline: format::LazyFooter,
    schema: Arc<Schema>,
    /// The key-value metadata, read at first use.
    key_values: OnceLock<Option<Vec<format::KeyValue>>>,
    /// For each row group, the places of its chunks by path; made when a chunk is not at its column's place.
    orders: Vec<OnceLock<Order>>,
    /// For each row group, whether all its chunks name the same file; found out at first use.
    in_one_file: Vec<OnceLock<bool>>,
    /// Offset of the footer in the file, if it was read from one: pages are before it.
    data_end: Option<u64>,
    /// The decryptor of the file's encrypted modules, if keys were given.
    decryptor: Option<Arc<FileDecryptor>>,
    /// Column chunks whose metadata the footer holds encrypted, decrypted at first use.
    opened: OpenedChunks,
}

/// The metadata of one row group.
#[derive(Debug, Clone, Copy)]
pub struct RowGroup<'a> {
    metadata: &'a ParquetMetaData,
    index: usize,
}

/// The metadata of one column chunk.
#[derive(Debug, Clone, Copy)]
pub struct ColumnChunk<'a> {
    chunk: format::ChunkView<'a>,
    leaf: &'a Leaf,
    group: RowGroup<'a>,
    /// Index of the chunk in the row group.
    place: usize,
    data_end: Option<u64>,
    created_by: Option<&'a str>,
}

impl ParquetMetaData {
    /// Parses a footer: the bytes between the last page and the length before the closing magic.
    ///
    /// Column chunks are parsed when they are used, so errors in them come up then.
    pub fn parse(footer: impl Into<Bytes>, limits: &Limits) -> Result<Self> {
        let footer = footer.into();
        let outline = format::LazyFooter::parse(&footer, limits)?;
        let schema = Arc::new(Schema::from_thrift(&outline.fields.schema, limits)?);
        let orders = vec![OnceLock::new(); outline.row_groups.len()];
        let in_one_file = vec![OnceLock::new(); outline.row_groups.len()];
        let (key_values, opened) = (OnceLock::new(), OpenedChunks::default());
        let (data_end, decryptor) = (None, None);
        Ok(ParquetMetaData {
            footer,
            outline,
            schema,
            key_values,
            orders,
            in_one_file,
            data_end,
            decryptor,
            opened,
        })
    }

    /// Creates the metadata from a footer that is not in a file.
    pub fn from_thrift(thrift: format::FileMetaData, limits: &Limits) -> Result<Self> {
        let mut w = format::Writer::new();
        thrift.write(&mut w);
        ParquetMetaData::written(w.finish(), limits)
    }

    /// Parses a footer that this crate wrote, whatever its length.
    pub(crate) fn written(footer: impl Into<Bytes>, limits: &Limits) -> Result<Self> {
        ParquetMetaData::parse(footer, &limits.clone().with_footer_bytes(usize::MAX))
    }

    /// Sets the offset of the footer in its file.
    #[must_use]
    pub fn with_data_end(self, data_end: u64) -> Self {
        ParquetMetaData { data_end: Some(data_end), ..self }
    }

    /// Returns the offset of the footer in its file, if it was read from one.
    pub fn data_end(&self) -> Option<u64> {
        self.data_end
    }

    /// Returns the bytes of the footer as stored, or as decrypted, for caches of footers: [`parse`](Self::parse) with
    /// [`with_data_end`](Self::with_data_end) makes equal metadata from them, without keys.
    pub fn footer_bytes(&self) -> &Bytes {
        &self.footer
    }

    /// Returns about how many bytes of memory this takes: the footer's bytes, the positions of column chunks, and the
    /// schema.
    pub fn memory_size(&self) -> usize {
        let of_group = size_of::<OnceLock<Order>>() + size_of::<OnceLock<bool>>();
        let pairs = self.key_values.get().and_then(Option::as_deref).unwrap_or_default();
        let pairs =
            pairs.iter().map(|pair| pair.key.len() + pair.value.as_ref().map_or(0, |value| value.len()));
        size_of::<Self>()
            + self.footer.len()
            + self.outline.memory_size()
            + self.schema.memory_size()
            + self.opened.memory_size()
            + self.num_row_groups() * of_group
            + pairs.map(|bytes| bytes + size_of::<format::KeyValue>()).sum::<usize>()
    }

    /// The schema.
    pub fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    /// Returns the number of rows in all row groups. QUIRK: a few writers leave the footer's own total wrong; row
    /// groups are what is read, so they are what is counted.
    pub fn num_rows(&self) -> u64 {
        self.row_groups().fold(0, |rows, row_group| rows.saturating_add(row_group.num_rows()))
    }

    /// Returns the total number of rows that the footer states, right or wrong.
    pub fn declared_rows(&self) -> i64 {
        self.head().num_rows
    }

    /// Returns the number of row groups.
    pub fn num_row_groups(&self) -> usize {
        self.outline.row_groups.len()
    }

    /// Returns row group `index`.
    ///
    /// # Panics
    /// If there is no such row group.
    pub fn row_group(&self, index: usize) -> RowGroup<'_> {
        assert!(index < self.num_row_groups(), "row group {index} of {}", self.num_row_groups());
        RowGroup { metadata: self, index }
    }

    /// Iterates over all row groups.
    pub fn row_groups(&self) -> impl ExactSizeIterator<Item = RowGroup<'_>> {
        (0..self.num_row_groups()).map(|index| RowGroup { metadata: self, index })
    }

    /// Returns the name and version of the writer, as the footer states them.
    pub fn created_by(&self) -> Option<&str> {
        self.head().created_by.as_deref()
    }

    /// Returns the format version that the footer states, 1 or 2. It does not affect how the file is read.
    pub fn version(&self) -> i32 {
        self.head().version
    }

    /// The file's key-value metadata.
    pub fn key_value_metadata(&self) -> &[format::KeyValue] {
        self.owned_key_values().unwrap_or_default()
    }

    fn owned_key_values(&self) -> Option<&[format::KeyValue]> {
        let read = || {
            self.outline
                .key_values(&self.footer)
                .map(|pairs| pairs.iter().map(|pair| pair.to_pair()).collect())
        };
        self.key_values.get_or_init(read).as_deref()
    }

    /// Iterates over the file's key-value metadata as bytes, read from the footer one pair at a time.
    pub fn key_values(&self) -> impl Iterator<Item = format::KeyValueView<'_>> {
        self.outline.key_values(&self.footer).into_iter().flatten()
    }

    /// Returns the value of a key in the file's key-value metadata. Bytes that are not UTF-8 become U+FFFD;
    /// [`key_values`](Self::key_values) gives them as stored.
    pub fn value_of(&self, key: &str) -> Option<Cow<'_, str>> {
        self.key_values().find(|pair| pair.key == key.as_bytes())?.value_text()
    }

    /// Returns how the statistics bounds of each column are ordered, if the footer states it.
    pub fn column_orders(&self) -> Option<&[format::ColumnOrder]> {
        self.head().column_orders.as_deref()
    }

    /// Returns the fields of the footer, without row groups and key-value metadata.
    pub fn head(&self) -> &format::FileMetaData {
        &self.outline.fields
    }

    /// Returns the whole footer. Fails if any column chunk cannot be read.
    pub fn to_thrift(&self) -> Result<format::FileMetaData> {
        let groups = self.row_groups().map(RowGroup::to_thrift).collect::<Result<_>>()?;
        let key_values = self.owned_key_values().map(<[_]>::to_vec);
        Ok(format::FileMetaData { row_groups: groups, key_value_metadata: key_values, ..self.head().clone() })
    }
}

/// Footers with the same bytes at the same offset are equal.
impl PartialEq for ParquetMetaData {
    fn eq(&self, other: &Self) -> bool {
        self.footer == other.footer && self.data_end == other.data_end
    }
}

impl fmt::Debug for ParquetMetaData {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { outline, data_end, .. } = self;
        f.debug_struct("ParquetMetaData").field("outline", outline).field("data_end", data_end).finish()
    }
}

impl<'a> RowGroup<'a> {
    /// Returns the footer that this row group belongs to.
    pub fn metadata(self) -> &'a ParquetMetaData {
        self.metadata
    }

    /// The number of this row group in the file, from 0.
    pub fn index(self) -> usize {
        self.index
    }

    /// Returns the number of rows; a negative number counts as 0.
    pub fn num_rows(self) -> u64 {
        u64::try_from(self.head().num_rows).unwrap_or(0)
    }

    /// Returns the number of column chunks.
    pub fn num_columns(self) -> usize {
        self.outline().num_columns()
    }

    /// Returns the chunk of column `i` of the schema.
    ///
    /// Fails if the chunk is missing, if it has no metadata (it is encrypted then, or corrupt), or if its physical type
    /// differs from the schema's.
    ///
    /// # Panics
    /// If the schema has no column `i`.
    pub fn column(self, i: usize) -> Result<ColumnChunk<'a>> {
        let ParquetMetaData { schema, data_end, .. } = self.metadata;
        let (leaf, data_end, created_by) = (schema.column(i), *data_end, self.metadata.created_by());
        let place = |error: Error| error.in_column(leaf.dotted().clone()).in_row_group(self.index);
        let chunk = format::ChunkView::empty();
        let mut column = ColumnChunk { chunk, leaf, group: self, place: i, data_end, created_by };
        column.place = self.find(i, leaf, &mut column.chunk).map_err(place)?;
        if column.chunk.has_encrypted_metadata() {
            self.open_chunk(column.place, leaf, &mut column.chunk).map_err(place)?;
        }
        let chunk = &column.chunk;
        if chunk.has_meta_data() && chunk.type_() == physical_type(leaf.physical()) {
            return Ok(column);
        }
        Err(place(match chunk.has_meta_data() {
            true => Error::corrupt(format!(
                "the column chunk is {}, the schema says {}",
                chunk.type_(),
                leaf.physical()
            )),
            false if chunk.has_crypto_metadata() || chunk.has_encrypted_metadata() => column.no_key(),
            false => Error::corrupt("the column chunk has no metadata"),
        }))
    }

    /// Reads the chunk of column `i` into `chunk`, which is unread, and returns its place. That is `i`, unless the
    /// paths show that chunks stand in another order.
    #[inline]
    fn find(self, i: usize, leaf: &Leaf, chunk: &mut format::ChunkView<'a>) -> Result<usize> {
        if i < self.num_columns() {
            self.read(i, chunk)?;
            // QUIRK: paths may be absent, and a few writers get them wrong: then the place decides.
            if order::path_of(chunk).is_none_or(|path| order::is_path(path, leaf)) {
                return Ok(i);
            }
        }
        self.find_elsewhere(i, leaf, chunk)
    }

    #[cold]
    fn find_elsewhere(self, i: usize, leaf: &Leaf, chunk: &mut format::ChunkView<'a>) -> Result<usize> {
        let places = || (0..self.num_columns()).map(|number| self.chunk(number));
        let order = self.metadata.orders[self.index].get_or_init(|| Order::of(places()));
        let (chunks, columns) = (self.num_columns(), self.metadata.schema.num_columns());
        for number in order.candidates(leaf) {
            let other = self.chunk(number)?;
            let is_of = |leaf: &Leaf| order::path_of(&other).is_some_and(|path| order::is_path(path, leaf));
            // Columns may have equal paths: a chunk at the place of a column with its path belongs to that column.
            if is_of(leaf) && !(number < columns && is_of(self.metadata.schema.column(number))) {
                *chunk = other;
                return Ok(number);
            }
        }
        if i < chunks && chunks == columns {
            return Ok(i);
        }
        Err(Error::corrupt(format!(
            "no chunk of the column among {chunks}, the schema has {columns} columns"
        )))
    }

    /// Whether all chunks can be read, and either all name the same file or none names one.
    fn is_in_one_file(self) -> bool {
        *self.metadata.in_one_file[self.index].get_or_init(|| {
            let mut files = (0..self.num_columns()).map(|i| self.chunk(i).map(|chunk| chunk.file_path()));
            let Some(Ok(first)) = files.next() else { return false };
            files.all(|file| file.is_ok_and(|file| file == first))
        })
    }

    /// Reads the chunk at place `number` of the row group.
    fn chunk(self, number: usize) -> Result<format::ChunkView<'a>> {
        let mut chunk = format::ChunkView::empty();
        self.read(number, &mut chunk).map(|()| chunk)
    }

    /// Reads the chunk at place `number` of the row group into `chunk`, which is unread.
    #[inline]
    fn read(self, number: usize, chunk: &mut format::ChunkView<'a>) -> Result<()> {
        let ParquetMetaData { footer, outline, data_end, .. } = self.metadata;
        outline.chunk(footer, self.index, number, chunk).map_err(|error| in_footer(error, *data_end))
    }

    /// Iterates over the column chunks, in the order of the schema's columns.
    pub fn columns(self) -> impl Iterator<Item = Result<ColumnChunk<'a>>> {
        (0..self.metadata.schema.num_columns()).map(move |i| self.column(i))
    }

    /// Returns the size of all pages before compression in bytes, as the footer states it.
    pub fn total_byte_size(self) -> i64 {
        self.head().total_byte_size
    }

    /// Returns the columns by which rows are sorted, if the writer states them.
    pub fn sorting_columns(self) -> &'a [format::SortingColumn] {
        self.head().sorting_columns.as_deref().unwrap_or_default()
    }

    /// Returns the path that the chunk at place `number` of the row group states; it is empty if the chunk has none.
    /// `None` if there is no such chunk, or its metadata cannot be read.
    pub fn path_at(self, number: usize) -> Option<Vec<String>> {
        let chunk = (number < self.num_columns()).then(|| self.chunk(number).ok())??;
        let names = chunk.path_in_schema().iter();
        chunk.has_meta_data().then(|| names.map(|name| String::from_utf8_lossy(name).into_owned()).collect())
    }

    /// Returns the physical type that the chunk at place `number` of the row group states, even if the schema has
    /// another. `None` if there is no such chunk, or its metadata cannot be read.
    pub fn type_at(self, number: usize) -> Option<format::Type> {
        let chunk = (number < self.num_columns()).then(|| self.chunk(number).ok())??;
        chunk.has_meta_data().then(|| chunk.type_())
    }

    /// Returns the fields of the row group in the footer, without its column chunks.
    pub fn head(self) -> &'a format::RowGroup {
        &self.outline().fields
    }

    /// Returns the row group as it is in the footer. Fails if any column chunk cannot be read.
    pub fn to_thrift(self) -> Result<format::RowGroup> {
        let chunk = |number| {
            let chunk = self.chunk(number).and_then(|chunk| chunk.to_chunk());
            chunk.map_err(|error| error.in_row_group(self.index))
        };
        let columns = (0..self.num_columns()).map(chunk).collect::<Result<_>>()?;
        Ok(format::RowGroup { columns, ..self.head().clone() })
    }

    fn outline(self) -> &'a format::LazyRowGroup {
        &self.metadata.outline.row_groups[self.index]
    }
}

/// Adds the context "footer" to an error in a footer that begins at `data_end`, and its place in the file.
pub(crate) fn in_footer(error: Error, data_end: Option<u64>) -> Error {
    let framed = error.with_context("footer");
    match data_end {
        Some(start) => framed.offset_by(start).at(start),
        None => framed.without_offset(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn row_groups_of_more_rows_than_can_be_do_not_overflow() {
        let root = format::SchemaElement { name: "root".into(), ..Default::default() };
        let row_groups = [i64::MAX, i64::MAX, i64::MAX, -1]
            .map(|num_rows| format::RowGroup { num_rows, ..Default::default() })
            .to_vec();
        let thrift = format::FileMetaData { schema: vec![root], row_groups, ..Default::default() };
        let metadata = ParquetMetaData::from_thrift(thrift, &Limits::default()).unwrap();
        assert_eq!(metadata.num_rows(), u64::MAX);
    }
}
