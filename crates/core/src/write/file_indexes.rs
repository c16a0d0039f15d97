//! Writes the indexes of a file: bloom filters, column indexes, offset indexes.

use super::file::{FileWriter, too_long};
use super::partial_row_group::Indexes;
use marquetry_base::Result;
use marquetry_crypto::ModuleType;
use marquetry_format as format;
use std::io::Write;

impl<W: Write> FileWriter<W> {
    /// Writes the bloom filters of some chunks, and drops them.
    pub(super) fn write_bloom_filters(
        &mut self,
        row_group: usize,
        columns: &mut [format::ColumnChunk],
        indexes: &mut [Indexes],
    ) -> Result<()> {
        for (number, (column, indexes)) in columns.iter_mut().zip(indexes).enumerate() {
            let (Some(filter), Some(meta)) = (indexes.bloom_filter.take(), &mut column.meta_data) else {
                continue;
            };
            let filter = match self.encryptor_of(row_group, number) {
                Some(encryptor) => encryptor.bloom_filter(&filter)?,
                None => filter,
            };
            meta.bloom_filter_offset = Some(self.position as i64);
            meta.bloom_filter_length = Some(length(filter.len())?);
            self.write(&filter)?;
        }
        Ok(())
    }

    /// Writes the bloom filters that are left, then the column indexes of all chunks, and then their offset indexes: a
    /// reader that prunes wants the column indexes together.
    pub(super) fn write_indexes(&mut self) -> Result<()> {
        let mut row_groups = std::mem::take(&mut self.row_groups);
        let mut indexes = std::mem::take(&mut self.indexes);
        for (number, (row_group, indexes)) in row_groups.iter_mut().zip(&mut indexes).enumerate() {
            self.write_bloom_filters(number, &mut row_group.columns, indexes)?;
        }
        for (place, column, indexes) in each_chunk(&mut row_groups, &indexes) {
            let Some(index) = &indexes.column else { continue };
            let (offset, len) = self.write_index(place, ModuleType::ColumnIndex, |w| index.write(w))?;
            (column.column_index_offset, column.column_index_length) = (Some(offset), Some(len));
        }
        for (place, column, indexes) in each_chunk(&mut row_groups, &indexes) {
            let Some(index) = indexes.offset.as_ref().filter(|_| !self.settings.leave_out_offset_index)
            else {
                continue;
            };
            let (offset, len) = self.write_index(place, ModuleType::OffsetIndex, |w| index.write(w))?;
            (column.offset_index_offset, column.offset_index_length) = (Some(offset), Some(len));
        }
        self.row_groups = row_groups;
        Ok(())
    }

    /// Writes an index of the chunk in this row group and column. Returns its offset and length.
    fn write_index(
        &mut self,
        place: (usize, usize),
        module: ModuleType,
        write: impl FnOnce(&mut format::Writer),
    ) -> Result<(i64, i32)> {
        let mut index = format::Writer::new();
        write(&mut index);
        let (index, offset) = (index.finish(), self.position as i64);
        let index = match self.encryptor_of(place.0, place.1) {
            Some(encryptor) => encryptor.module(module, &index)?,
            None => index,
        };
        self.write(&index)?;
        Ok((offset, length(index.len())?))
    }
}

/// Iterates over all chunks, with their row group and column, and their indexes.
fn each_chunk<'a>(
    row_groups: &'a mut [format::RowGroup],
    indexes: &'a [Vec<Indexes>],
) -> impl Iterator<Item = ((usize, usize), &'a mut format::ColumnChunk, &'a Indexes)> {
    row_groups.iter_mut().zip(indexes).enumerate().flat_map(|(row_group, (group, indexes))| {
        let columns = group.columns.iter_mut().zip(indexes).enumerate();
        columns.map(move |(column, (chunk, indexes))| ((row_group, column), chunk, indexes))
    })
}

fn length(len: usize) -> Result<i32> {
    i32::try_from(len).map_err(|_| too_long("index"))
}
