//! Writes row groups: chunk after chunk, then the bloom filters.
//!
//! Chunks come all at once, or each when it is finished, so that a writer need not hold all of them.

use super::chunk_bytes::{ChunkBytes, unwritten};
use super::encoded_chunk::{EncodedChunk, check_chunk, check_chunks, check_rows};
use super::file::FileWriter;
use super::file_encryptor::FileEncryptor;
use super::partial_row_group::{Indexes, PartialRowGroup};
use crate::metrics::WriteCounters;
use crate::page::plain_pages_are_believed;
use marquetry_base::{CancelToken, Error, Result, Stopwatch};
use marquetry_format as format;
use std::io::Write;

impl<W: Write> FileWriter<W> {
    /// Appends a row group of `num_rows` rows: one chunk for each column, in the order of the schema's leaves.
    ///
    /// Fails, before the first byte is written, if there is not one chunk for each column, or if a chunk has another
    /// column, another physical type, or another number of rows.
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

    /// Appends the chunk of the next column of a row group of `num_rows` rows, in the order of the schema's leaves. It
    /// is for writers that make one column after the other, and have no memory for all.
    /// [`finish_row_group`](Self::finish_row_group) ends the row group, which does not exist before.
    ///
    /// Fails, before the first byte is written, if the row group has all its columns, or if the chunk has another
    /// column, another physical type, or another number of rows.
    ///
    /// ```
    /// use marquetry_core::nesting::{ColumnValues, DefinitionLevels, ShreddedColumn};
    /// use marquetry_core::schema::Schema;
    /// use marquetry_core::write::{ColumnSettings, ColumnWriter, FileSettings, FileWriter, Workspace};
    /// use marquetry_encoding::Values;
    ///
    /// let schema = Schema::parse("message points { required int32 x; required int32 y; }")?;
    /// let mut file = FileWriter::new(Vec::new(), schema.to_thrift(), FileSettings::default())?;
    /// let mut workspace = Workspace::new();
    /// for leaf in schema.columns() {
    ///     let mut column = ColumnWriter::new(leaf, &ColumnSettings::default())?;
    ///     let values = ColumnValues::Values(Values::W32(vec![1, 2, 3]));
    ///     column.write(&ShreddedColumn::flat(3, DefinitionLevels::Max, values), &mut workspace)?;
    ///     file.append_column(3, column.close(&mut workspace)?.0)?;
    /// }
    /// file.finish_row_group(None)?;
    /// let (bytes, metadata) = file.finish()?;
    /// assert_eq!((metadata.num_rows(), &bytes[..4]), (3, &b"PAR1"[..]));
    /// # Ok::<(), marquetry_base::Error>(())
    /// ```
    pub fn append_column(&mut self, num_rows: u64, chunk: EncodedChunk) -> Result<()> {
        self.check()?;
        let ordinal = self.row_groups.len();
        let placed = |error: Error| error.in_row_group(ordinal);
        let number = self.check_next(num_rows).map_err(placed)?;
        let taken = self.partial.as_ref().and_then(|partial| partial.part).map_or(0, |(_, len)| len);
        check_chunk(self.tree.column(number), num_rows, taken, &chunk).map_err(placed)?;
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

    /// Whether the file accepts chunks [in parts](Self::append_part). An encrypted file does not, because each module
    /// is encrypted for its ordinal in the chunk.
    pub fn takes_parts(&self) -> bool {
        self.encryptor.is_none()
    }

    /// Appends the first pages of the next column of a row group of `num_rows` rows, or further ones, as returned by
    /// [`ColumnWriter::take_pages`](super::ColumnWriter::take_pages). [`append_column`](Self::append_column) takes the
    /// rest.
    ///
    /// Fails if the file is [encrypted](Self::takes_parts), if the row group has all its columns, or if it has another
    /// number of rows.
    ///
    /// ```
    /// # use marquetry_core::nesting::{ColumnValues, DefinitionLevels, ShreddedColumn};
    /// # use marquetry_core::schema::Schema;
    /// # use marquetry_core::write::{ColumnSettings, ColumnWriter, EncodingPolicy, FileSettings, FileWriter, Workspace};
    /// # use marquetry_encoding::Values;
    /// let schema = Schema::parse("message points { required int32 x; }")?;
    /// let mut file = FileWriter::new(Vec::new(), schema.to_thrift(), FileSettings::default())?;
    /// let (mut workspace, rows) = (Workspace::new(), 500_000);
    /// // PLAIN.
    /// let settings = ColumnSettings::default().with_encoding(EncodingPolicy::Only(0));
    /// let mut column = ColumnWriter::new(schema.column(0), &settings)?;
    /// for block in 0..10 {
    ///     let values = ColumnValues::Values(Values::W32((block * 50_000..(block + 1) * 50_000).collect()));
    ///     column.write(&ShreddedColumn::flat(50_000, DefinitionLevels::Max, values), &mut workspace)?;
    ///     file.append_part(rows, column.take_pages())?;
    /// }
    /// file.append_column(rows, column.close(&mut workspace)?.0)?;
    /// file.finish_row_group(None)?;
    /// assert_eq!(file.finish()?.1.num_rows(), rows);
    /// # Ok::<(), marquetry_base::Error>(())
    /// ```
    pub fn append_part(&mut self, num_rows: u64, bytes: ChunkBytes) -> Result<()> {
        self.check()?;
        let ordinal = self.row_groups.len();
        self.check_next(num_rows).map_err(|error| error.in_row_group(ordinal))?;
        if !self.takes_parts() {
            return Err(Error::argument("chunks of an encrypted file are not taken in parts"));
        }
        if bytes.is_empty() {
            return Ok(());
        }
        self.guarded(|writer| {
            if writer.partial.is_none() {
                writer.open_row_group(num_rows);
            }
            let (start, len) = (writer.position, bytes.len());
            let number = writer.partial.as_ref().map_or(0, |partial| partial.columns.len());
            writer.append_bytes(bytes).map_err(|error| {
                error.in_row_group(ordinal).in_column(writer.tree.column(number).dotted().clone())
            })?;
            if let Some(partial) = &mut writer.partial {
                let (start, before) = partial.part.unwrap_or((start, 0));
                partial.part = Some((start, before + len));
            }
            Ok(())
        })
    }

    /// Ends the row group whose chunks were appended [one by one](Self::append_column).
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

    /// Returns the number of the next column. Fails if the row group has all its columns, or another number of rows.
    fn check_next(&self, num_rows: u64) -> Result<usize> {
        let columns = self.tree.num_columns();
        let (number, rows) = match &self.partial {
            Some(partial) => (partial.columns.len(), partial.num_rows),
            None => {
                self.check_growth()?;
                check_rows(num_rows)?;
                (0, num_rows)
            }
        };
        if number >= columns {
            return Err(Error::argument(format!("a chunk too many for a schema of {columns} columns")));
        }
        if rows != num_rows {
            return Err(Error::argument(format!("{num_rows} rows, the chunks before have {rows}")));
        }
        Ok(number)
    }

    /// Fails if readers would misread data appended to the file.
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
        // Exact capacity: there may be very many row groups of few columns.
        let n = self.tree.num_columns();
        let (columns, indexes) = (Vec::with_capacity(n), Vec::with_capacity(n));
        self.partial = Some(PartialRowGroup { num_rows, start: self.position, part: None, columns, indexes });
    }

    fn append_chunk(&mut self, mut chunk: EncodedChunk) -> Result<()> {
        let ordinal = self.row_groups.len();
        let (number, part) = match &mut self.partial {
            Some(partial) => (partial.columns.len(), partial.part.take()),
            None => (0, None),
        };
        let offset = part.map_or(self.position, |(start, _)| start);
        self.append_pages(&mut chunk, ordinal, number).map_err(|error| {
            error.in_row_group(ordinal).in_column(self.tree.column(number).dotted().clone())
        })?;
        let has_filters = self.encryptor.as_ref().is_none_or(FileEncryptor::has_filters);
        if let Some(open) = &mut self.partial {
            open.columns.push(placed(chunk.metadata, offset));
            open.indexes.push(Indexes {
                column: chunk.column_index,
                offset: chunk.offset_index.map(|index| placed_pages(index, offset)),
                bloom_filter: chunk.bloom_filter.filter(|_| has_filters),
            });
        }
        Ok(())
    }

    fn end_row_group(&mut self, sorting_columns: Option<Vec<format::SortingColumn>>) -> Result<()> {
        let Some(PartialRowGroup { num_rows, start, mut columns, mut indexes, .. }) = self.partial.take()
        else {
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

    /// Writes the pages of a chunk, encrypted if its column is encrypted.
    fn append_pages(&mut self, chunk: &mut EncodedChunk, row_group: usize, column: usize) -> Result<()> {
        let bytes = std::mem::take(&mut chunk.bytes);
        let FileWriter { settings, sink, take, position, counters, encryptor, .. } = self;
        let mut append = |bytes| append_bytes(bytes, &settings.cancel, sink, *take, position, counters);
        match encryptor.as_ref().and_then(|all| all.chunk(row_group, column)) {
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

    fn append_bytes(&mut self, bytes: ChunkBytes) -> Result<()> {
        let FileWriter { settings, sink, take, position, counters, .. } = self;
        append_bytes(bytes, &settings.cancel, sink, *take, position, counters)
    }
}

/// Writes bytes to the sink, and counts them.
fn append_bytes<W>(
    bytes: ChunkBytes,
    cancel: &CancelToken,
    sink: &mut W,
    take: fn(&CancelToken, &mut W, ChunkBytes) -> Result<()>,
    position: &mut u64,
    counters: &WriteCounters,
) -> Result<()> {
    let (len, begun) = (bytes.len(), Stopwatch::start());
    take(cancel, sink, bytes)?;
    *position += len;
    counters.written(len, begun);
    Ok(())
}

/// Returns the chunk's metadata with offsets relative to the file's first byte.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nesting::{ColumnValues, DefinitionLevels, ShreddedColumn};
    use crate::schema::Schema;
    use crate::write::{ColumnSettings, ColumnWriter, EncodingPolicy, FileSettings, Workspace};
    use marquetry_base::ErrorKind;
    use marquetry_encoding::Values;

    fn schema() -> Schema {
        Schema::parse("message points { required int32 a; required int32 b; }").unwrap()
    }

    fn file() -> FileWriter<Vec<u8>> {
        FileWriter::new(Vec::new(), schema().to_thrift(), FileSettings::default()).unwrap()
    }

    /// Returns the chunk of a column of many numbers, and the pages that were taken from its writer.
    fn chunk(column: usize, takes: bool) -> (Vec<ChunkBytes>, EncodedChunk) {
        let schema = schema();
        let settings = ColumnSettings { encoding: EncodingPolicy::Only(0), ..ColumnSettings::default() };
        let mut writer = ColumnWriter::new(schema.column(column), &settings).unwrap();
        let (mut workspace, mut parts) = (Workspace::new(), Vec::new());
        for block in 0..10 {
            let values = ColumnValues::Values(Values::W32((block * 10_000..(block + 1) * 10_000).collect()));
            let rows = ShreddedColumn::flat(10_000, DefinitionLevels::Max, values);
            writer.write(&rows, &mut workspace).unwrap();
            parts.extend(takes.then(|| writer.take_pages()));
        }
        (parts, writer.close(&mut workspace).unwrap().0)
    }

    #[test]
    fn parts_are_the_chunk() {
        let mut whole = file();
        whole.write_row_group(100_000, vec![chunk(0, false).1, chunk(1, false).1], None).unwrap();
        let mut in_parts = file();
        for column in [0, 1] {
            let (parts, rest) = chunk(column, true);
            assert!(rest.taken > 0 && parts.iter().any(|part| !part.is_empty()));
            parts.into_iter().for_each(|part| in_parts.append_part(100_000, part).unwrap());
            in_parts.append_column(100_000, rest).unwrap();
        }
        in_parts.finish_row_group(None).unwrap();
        assert!(whole.finish().unwrap().0 == in_parts.finish().unwrap().0);
    }

    #[test]
    fn what_is_missing_or_too_much_is_an_error_before_it_is_written() {
        let is_argument = |outcome: Result<()>| outcome.unwrap_err().kind() == ErrorKind::Argument;
        let mut file = file();
        let (parts, rest) = chunk(0, true);
        assert!(is_argument(file.append_column(100_000, rest)), "its first pages are not there");
        assert!(is_argument(file.append_column(100_000, chunk(1, false).1)), "the first column is missing");
        for part in parts {
            file.append_part(100_000, part).unwrap();
        }
        assert!(is_argument(file.append_column(100_000, chunk(0, false).1)), "it has the first pages, too");
        assert!(is_argument(file.append_part(7, ChunkBytes::new())), "other rows");
        let rest = chunk(0, true).1;
        file.append_column(100_000, rest).unwrap();
        for outcome in [
            file.finish_row_group(None),
            file.write_checkpoint(),
            file.write_row_group(100_000, vec![chunk(0, false).1, chunk(1, false).1], None),
            file.finish_in_place().map(drop),
        ] {
            assert!(is_argument(outcome), "the second column is missing");
        }
        file.append_column(100_000, chunk(1, false).1).unwrap();
        assert!(is_argument(file.append_column(100_000, chunk(1, false).1)), "there is no third column");
        file.finish_row_group(None).unwrap();
        assert_eq!(file.finish().unwrap().1.num_rows(), 100_000);
    }
}
