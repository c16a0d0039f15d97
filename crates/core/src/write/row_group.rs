//! Row groups on their way into a file: chunk after chunk, then the bloom filters.
//!
//! Chunks come all at once, or each as soon as it is made, so that nobody has to hold all of them.

use super::chunk_bytes::{ChunkBytes, unwritten};
use super::encoded_chunk::{EncodedChunk, check_chunk, check_chunks, check_rows};
use super::file::FileWriter;
use super::partial_row_group::{Indexes, PartialRowGroup};
use crate::page::plain_pages_are_believed;
use marquetry_base::{Error, Result, Stopwatch};
use marquetry_format as format;
use std::io::Write;

impl<W: Write> FileWriter<W> {
    /// Appends a row group of `num_rows` rows: one chunk for each column, in the order of the schema's leaves.
    ///
    /// Fails, before the first byte is written, if there is not one chunk for each column, or one is of another column, of
    /// another physical type, or of another number of rows.
    pub fn write_row_group(
        &mut self,
        num_rows: u64,
        chunks: Vec<EncodedChunk>,
        sorting_columns: Option<Vec<format::SortingColumn>>,
    ) -> Result<()> {
        self.check_between_row_groups()?;
        self.check_growth()?;
        let ordinal = self.row_groups.len();
        check_chunks(&self.tree, num_rows, &chunks).map_err(|error| error.in_row_group(ordinal))?;
        if let Some(encryptor) = &self.encryptor {
            encryptor.check_ordinals(ordinal, &chunks)?;
        }
        self.guarded(|writer| {
            writer.open_row_group(num_rows);
            chunks.into_iter().try_for_each(|chunk| writer.append_chunk(chunk))?;
            writer.end_row_group(sorting_columns)
        })
    }

    /// Appends the chunk of the next column of a row group of `num_rows` rows, in the order of the schema's leaves: for who makes
    /// one column after the other, and has no memory for all. [`finish_row_group`](Self::finish_row_group) ends it; before that
    /// there is no row group.
    ///
    /// Fails, before the first byte is written, if all columns are there, or the chunk is of another column, of another physical
    /// type, or of another number of rows.
    ///
    /// ```
    /// use marquetry_core::nesting::ShreddedColumn;
    /// use marquetry_core::schema::Schema;
    /// use marquetry_core::write::{ColumnSettings, ColumnWriter, FileSettings, FileWriter, Workspace};
    /// use marquetry_format::{FieldRepetitionType, SchemaElement, Type};
    /// # use marquetry_base::Limits;
    /// # use marquetry_encoding::Values;
    ///
    /// let number = |name: &str| SchemaElement {
    ///     type_: Some(Type::INT32),
    ///     repetition_type: Some(FieldRepetitionType::REQUIRED),
    ///     name: name.into(),
    ///     ..SchemaElement::default()
    /// };
    /// let root = SchemaElement { name: "root".into(), num_children: Some(2), ..SchemaElement::default() };
    /// let elements = vec![root, number("a"), number("b")];
    /// let schema = Schema::from_thrift(&elements, &Limits::default())?;
    ///
    /// let mut file = FileWriter::new(Vec::new(), elements, FileSettings::default())?;
    /// let mut workspace = Workspace::new();
    /// for leaf in schema.columns() {
    ///     let mut column = ColumnWriter::new(leaf, &ColumnSettings::default())?;
    ///     let values = ShreddedColumn { values: Values::I32(vec![1, 2, 3]), ..ShreddedColumn::default() };
    ///     column.write(&values, &mut workspace)?;
    ///     file.append_column(3, column.close(&mut workspace)?.0)?;
    /// }
    /// file.finish_row_group(None)?;
    /// let (bytes, metadata) = file.finish()?;
    /// assert_eq!((metadata.num_rows(), &bytes[..4]), (3, &b"PAR1"[..]));
    /// # Ok::<(), marquetry_base::Error>(())
    /// ```
    pub fn append_column(&mut self, num_rows: u64, chunk: EncodedChunk) -> Result<()> {
        self.check()?;
        let (ordinal, columns) = (self.row_groups.len(), self.tree.num_columns());
        let (number, rows) = match &self.partial {
            Some(open) => (open.columns.len(), open.num_rows),
            None => (0, num_rows),
        };
        let placed = |error: Error| error.in_row_group(ordinal);
        if self.partial.is_none() {
            self.check_growth()?;
            check_rows(num_rows).map_err(placed)?;
        }
        if number >= columns {
            let message = format!("a chunk too many for a schema of {columns} columns");
            return Err(placed(Error::argument(message)));
        }
        if rows != num_rows {
            let message = format!("{num_rows} rows, the chunks before have {rows}");
            return Err(placed(Error::argument(message)));
        }
        check_chunk(self.tree.column(number), num_rows, &chunk).map_err(placed)?;
        if let Some(encryptor) = &self.encryptor {
            encryptor.check_ordinals(ordinal, std::slice::from_ref(&chunk))?;
        }
        self.guarded(|writer| {
            if writer.partial.is_none() {
                writer.open_row_group(num_rows);
            }
            writer.append_chunk(chunk)
        })
    }

    /// Ends the row group that has got its chunks [one by one](Self::append_column).
    ///
    /// Fails if the chunk of a column is missing.
    pub fn finish_row_group(&mut self, sorting_columns: Option<Vec<format::SortingColumn>>) -> Result<()> {
        self.check()?;
        let found = self.partial.as_ref().map_or(0, |open| open.columns.len());
        if found != self.tree.num_columns() {
            let message = format!("{found} chunks for a schema of {} columns", self.tree.num_columns());
            return Err(Error::argument(message).in_row_group(self.row_groups.len()));
        }
        self.guarded(|writer| writer.end_row_group(sorting_columns))
    }

    /// Fails if readers would misread what is added to the file.
    fn check_growth(&self) -> Result<()> {
        match self.grows && !plain_pages_are_believed(self.settings.created_by.as_deref()) {
            true => Err(Error::unsupported(
                "by the name of its writer, readers take all V2 pages of this file to be compressed: nothing is added to \
                 it; rewrite it first",
            )),
            false => Ok(()),
        }
    }

    fn open_row_group(&mut self, num_rows: u64) {
        // Exactly: there may be very many row groups of few columns.
        let n = self.tree.num_columns();
        let (columns, indexes) = (Vec::with_capacity(n), Vec::with_capacity(n));
        self.partial = Some(PartialRowGroup { num_rows, start: self.position, columns, indexes });
    }

    fn append_chunk(&mut self, mut chunk: EncodedChunk) -> Result<()> {
        let (ordinal, offset) = (self.row_groups.len(), self.position);
        let number = self.partial.as_ref().map_or(0, |open| open.columns.len());
        self.append_pages(&mut chunk, ordinal, number).map_err(|error| {
            error.in_row_group(ordinal).in_column(self.tree.column(number).dotted().clone())
        })?;
        if let Some(open) = &mut self.partial {
            open.columns.push(placed(chunk.metadata, offset));
            open.indexes.push(Indexes {
                column: chunk.column_index,
                offset: chunk.offset_index.map(|index| placed_pages(index, offset)),
                bloom_filter: chunk.bloom_filter,
            });
        }
        Ok(())
    }

    fn end_row_group(&mut self, sorting_columns: Option<Vec<format::SortingColumn>>) -> Result<()> {
        let Some(PartialRowGroup { num_rows, start, mut columns, mut indexes }) = self.partial.take() else {
            return Ok(());
        };
        let ordinal = self.row_groups.len();
        if !self.settings.filters_at_end {
            self.write_bloom_filters(ordinal, &mut columns, &mut indexes)?;
        }
        let total = |size: fn(&format::ColumnMetaData) -> i64| {
            columns.iter().filter_map(|column| column.meta_data.as_ref()).map(size).sum::<i64>()
        };
        let row_group = format::RowGroup {
            total_byte_size: total(|meta| meta.total_uncompressed_size),
            num_rows: num_rows as i64,
            sorting_columns: sorting_columns.filter(|columns| !columns.is_empty()),
            file_offset: Some(start as i64),
            total_compressed_size: Some(total(|meta| meta.total_compressed_size)),
            ordinal: i16::try_from(ordinal).ok(),
            columns,
        };
        self.row_groups.push(row_group);
        self.indexes.push(indexes);
        self.counters.row_group(num_rows);
        match self.schedule.every.is_some() {
            true => (self.sync_soon)(&mut self.sink).map_err(unwritten),
            false => Ok(()),
        }
    }

    /// Writes the pages of a chunk, encrypted if its column is.
    fn append_pages(&mut self, chunk: &mut EncodedChunk, row_group: usize, column: usize) -> Result<()> {
        let bytes = std::mem::take(&mut chunk.bytes);
        let (cancel, sink, take) = (&self.settings.cancel, &mut self.sink, self.take);
        let position = &mut self.position;
        let counters = &self.counters;
        let mut append = |bytes: ChunkBytes| -> Result<()> {
            let (len, begun) = (bytes.len(), Stopwatch::start());
            take(cancel, sink, bytes)?;
            *position += len;
            counters.written(len, begun);
            Ok(())
        };
        match self.encryptor.as_ref().and_then(|all| all.chunk(row_group, column)) {
            None => append(bytes),
            Some(encryptor) => {
                encryptor.pages(bytes, &mut chunk.metadata, chunk.offset_index.as_mut(), |page| {
                    let mut bytes = ChunkBytes::new();
                    bytes.push(page);
                    append(bytes)
                })
            }
        }
    }
}

/// The chunk's metadata with offsets that count from the file's first byte.
fn placed(mut meta: format::ColumnMetaData, offset: u64) -> format::ColumnChunk {
    let offset = offset as i64;
    meta.data_page_offset += offset;
    meta.dictionary_page_offset = meta.dictionary_page_offset.map(|at| at + offset);
    meta.index_page_offset = meta.index_page_offset.map(|at| at + offset);
    format::ColumnChunk {
        file_path: None,
        // SPEC: ColumnChunk.file_offset: deprecated, 0.
        file_offset: 0,
        meta_data: Some(meta),
        offset_index_offset: None,
        offset_index_length: None,
        column_index_offset: None,
        column_index_length: None,
        crypto_metadata: None,
        encrypted_column_metadata: None,
    }
}

fn placed_pages(mut index: format::OffsetIndex, offset: u64) -> format::OffsetIndex {
    index.page_locations.iter_mut().for_each(|page| page.offset += offset as i64);
    index
}
