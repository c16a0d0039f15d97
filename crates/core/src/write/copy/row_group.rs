//! Copies row groups into another file.

use super::{CopySettings, copy_chunk, drop_bounds};
use crate::metadata::ParquetMetaData;
use crate::schema::{Leaf, Schema};
use crate::source::Source;
use crate::write::EncodedChunk;
use marquetry_base::{Error, Result};
use marquetry_format::{ColumnOrder, SortingColumn};
use std::sync::Arc;

/// A row group that was copied from another file, ready for a writer.
#[derive(Debug)]
#[non_exhaustive]
pub struct CopiedRowGroup {
    /// Number of rows.
    pub rows: u64,
    /// One chunk for each column.
    pub chunks: Vec<EncodedChunk>,
    /// The sort order of the rows.
    pub sorting: Vec<SortingColumn>,
}

/// Copies a row group of `source`, whose footer is `metadata`, for a file with this schema and these orders of bounds.
///
/// Fails if the other file has another schema, or its columns in another order; if there is no such row group; and
/// where [`copy_chunk`] fails.
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
            Err(Error::argument(difference(ours, theirs)).in_column(ours.dotted().clone()))
        }
        None => Ok(()),
    }
}

/// Returns how the column of the other file differs from ours.
#[cold]
fn difference(ours: &Leaf, theirs: &Leaf) -> String {
    let shown = |leaf: &Leaf| {
        let annotation = leaf.logical().map(|logical| format!(" ({logical})")).unwrap_or_default();
        format!("{}{annotation}", leaf.physical().to_string().to_lowercase())
    };
    match (shown(ours), shown(theirs)) {
        _ if ours.path() != theirs.path() => {
            format!("the other file has column {} in its place", theirs.dotted())
        }
        (here, there) if here != there => format!("it is {here} here, and {there} in the other file"),
        _ => "the other file declares it otherwise: what is optional or repeated, or its field id".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_tell_what_differs() {
        let schema = |field: &str| Schema::parse(&format!("message m {{ {field}; }}")).unwrap();
        let ours = schema("optional int32 price (DECIMAL(9,2))");
        for (theirs, told) in [
            (
                "optional fixed_len_byte_array(4) price (DECIMAL(9,2))",
                "it is int32 (DECIMAL(9,2)) here, and fixed_len_byte_array(4) (DECIMAL(9,2)) in the other file",
            ),
            ("optional int32 cost (DECIMAL(9,2))", "the other file has column cost in its place"),
            ("required int32 price (DECIMAL(9,2))", "the other file declares it otherwise"),
        ] {
            let error = check_schema(&ours, &schema(theirs)).unwrap_err();
            assert!(error.message().starts_with(told), "{error}");
            assert_eq!(error.place().column.as_deref(), Some("price"));
        }
        assert!(check_schema(&ours, &ours).is_ok());
    }
}
