//! Copies row groups into another file.

use super::{CopySettings, copy_chunk, drop_bounds};
use crate::metadata::ParquetMetaData;
use crate::schema::Schema;
use crate::source::Source;
use crate::write::EncodedChunk;
use marquetry_base::{Error, Result};
use marquetry_format::{ColumnOrder, SortingColumn};
use std::sync::Arc;

/// A row group of another file, as writers take one.
#[derive(Debug)]
#[non_exhaustive]
pub struct CopiedRowGroup {
    /// How many rows.
    pub rows: u64,
    /// A chunk of each column.
    pub chunks: Vec<EncodedChunk>,
    /// How the rows are sorted.
    pub sorting: Vec<SortingColumn>,
}

/// Copies a row group of `source`, whose footer is `metadata`, for a file of this schema, which orders bounds so.
///
/// Fails if the other file has another schema, or its columns in another order; where [`copy_chunk`] fails; and if there is no such
/// row group.
pub fn copy_row_group(
    source: &Arc<dyn Source>,
    metadata: &ParquetMetaData,
    row_group: usize,
    schema: &Schema,
    orders: Option<&[ColumnOrder]>,
) -> Result<CopiedRowGroup> {
    if row_group >= metadata.num_row_groups() {
        let message = format!("no row group {row_group}, there are {}", metadata.num_row_groups());
        return Err(Error::argument(message));
    }
    check_schema(schema, metadata.schema())?;
    let group = metadata.row_group(row_group);
    let of =
        |orders: Option<&[ColumnOrder]>, column: usize| orders.and_then(|orders| orders.get(column).copied());
    let mut chunks = Vec::with_capacity(schema.num_columns());
    for column in 0..schema.num_columns() {
        let mut chunk = copy_chunk(source, metadata, row_group, column, &CopySettings::default())?.chunk;
        if of(metadata.column_orders(), column) != of(orders, column) {
            drop_bounds(&mut chunk);
        }
        chunks.push(chunk);
    }
    Ok(CopiedRowGroup { rows: group.num_rows(), chunks, sorting: group.sorting_columns().to_vec() })
}

fn check_schema(ours: &Schema, theirs: &Schema) -> Result<()> {
    let (ours, theirs) = (ours.columns(), theirs.columns());
    if ours.len() != theirs.len() {
        let message = format!("a row group of {} columns for a file of {}", theirs.len(), ours.len());
        return Err(Error::argument(message));
    }
    match ours.iter().zip(theirs).find(|(ours, theirs)| ours != theirs) {
        Some((ours, theirs)) => {
            let message = format!("column {} of another file is not this one, or not alike", theirs.dotted());
            Err(Error::argument(message).in_column(ours.dotted().clone()))
        }
        None => Ok(()),
    }
}
