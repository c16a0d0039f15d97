//! The metadata of a row group.
use crate::thrift::{Reader, Wire, Writer};
use crate::{ColumnChunk, SortingColumn};
use marquetry_base::Result;

/// A horizontal slice of the table, with one chunk of each column.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RowGroup {
    /// The column chunks, in the order of the leaf columns.
    pub columns: Vec<ColumnChunk>,
    /// Total size of all pages before compression, in bytes.
    pub total_byte_size: i64,
    /// The number of rows.
    pub num_rows: i64,
    /// The columns that the rows are sorted by.
    pub sorting_columns: Option<Vec<SortingColumn>>,
    /// Offset of the first page in the file, in bytes.
    pub file_offset: Option<i64>,
    /// Total size of all pages as stored, in bytes.
    pub total_compressed_size: Option<i64>,
    /// The ordinal of the row group in the file, for encryption.
    pub ordinal: Option<i16>,
}

impl RowGroup {
    /// Reads the struct.
    pub fn read(r: &mut Reader<'_>) -> Result<Self> {
        let (mut out, columns) = RowGroup::read_with(r, |r| r.list(Wire::Struct, ColumnChunk::read))?;
        out.columns = columns;
        Ok(out)
    }

    /// Reads the struct except the list of column chunks, which `read` reads.
    pub(crate) fn read_with<'a, C>(
        r: &mut Reader<'a>,
        mut read: impl FnMut(&mut Reader<'a>) -> Result<Option<C>>,
    ) -> Result<(Self, C)> {
        let mut out = Self::default();
        let mut columns = None;
        r.fields(|r, field| {
            match (field.id, field.wire) {
                (1, Wire::List) => columns = read(r)?,
                (2, Wire::INT) => out.total_byte_size = r.i64()?,
                (3, Wire::INT) => out.num_rows = r.i64()?,
                (4, Wire::List) => {
                    out.sorting_columns = r.list(Wire::Struct, SortingColumn::read)?;
                }
                (5, Wire::INT) => out.file_offset = Some(r.i64()?),
                (6, Wire::INT) => out.total_compressed_size = Some(r.i64()?),
                (7, Wire::INT) => out.ordinal = Some(r.i16()?),
                _ => r.skip(field.wire)?,
            }
            Ok(())
        })?;
        let columns = columns.ok_or_else(|| r.missing("RowGroup.columns"))?;
        Ok((out, columns))
    }

    /// Writes the struct.
    pub fn write(&self, w: &mut Writer) {
        w.fields(|w| {
            w.list_field(1, Wire::Struct, &self.columns, |w, value| value.write(w));
            w.i64_field(2, self.total_byte_size);
            w.i64_field(3, self.num_rows);
            if let Some(value) = &self.sorting_columns {
                w.list_field(4, Wire::Struct, value, |w, value| value.write(w));
            }
            if let Some(value) = &self.file_offset {
                w.i64_field(5, *value);
            }
            if let Some(value) = &self.total_compressed_size {
                w.i64_field(6, *value);
            }
            if let Some(value) = &self.ordinal {
                w.i16_field(7, *value);
            }
        });
    }
}
