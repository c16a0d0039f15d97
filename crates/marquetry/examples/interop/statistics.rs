//! What a footer and page indexes say of each column, as the arrays that an engine is given.

use crate::Result;
use arrow_array::{Array, ArrayRef, ListArray, RecordBatch};
use arrow_buffer::OffsetBuffer;
use arrow_schema::Field;
use bytes::Bytes;
use marquetry::arrow::ProjectionMask;
use marquetry::arrow::arrow_reader::statistics::StatisticsConverter;
use marquetry::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use marquetry::file::page_index::PageIndex;
use serde_json::json;
use std::path::Path;
use std::sync::Arc;

/// Returns a batch of one row: each array is a list, named by the number of its column and by its kind. Prints which
/// columns have none, and why.
pub(crate) fn statistics(path: &Path) -> Result<RecordBatch> {
    let file = Bytes::from(std::fs::read(path)?);
    let opened = ArrowReaderMetadata::load(file.clone(), ArrowReaderOptions::new())?;
    let (schema, mut columns) = (opened.parquet_schema(), Vec::new());
    for (number, leaf) in schema.columns().iter().enumerate() {
        let mask = ProjectionMask::leaves(schema, [number]);
        let of_column = opened.statistics(leaf.dotted()).and_then(|converter| {
            // If two columns have the same name, it means the first.
            if converter.parquet_column_index() != Some(number) {
                return Ok(Vec::new());
            }
            let mut arrays = of_row_groups(&opened, &converter)?;
            let index = opened.read_page_index(file.clone(), &mask)?;
            arrays.extend(of_pages(&opened, &converter, &index)?);
            Ok(arrays)
        });
        match of_column {
            Ok(arrays) => {
                columns.extend(arrays.into_iter().map(|(what, array)| (format!("{number}.{what}"), array)));
            }
            Err(error) => {
                println!("{}", json!({ "file": path, "column": number, "error": error.to_string() }));
            }
        }
    }
    let lists = columns.into_iter().map(|(name, array)| (name, list(array)));
    Ok(RecordBatch::try_from_iter(lists)?)
}

type Named = Vec<(&'static str, ArrayRef)>;

fn of_row_groups(
    opened: &ArrowReaderMetadata,
    converter: &StatisticsConverter<'_>,
) -> marquetry::errors::Result<Named> {
    let groups = || opened.metadata().row_groups();
    Ok(vec![
        ("min", converter.row_group_mins(groups())?),
        ("max", converter.row_group_maxes(groups())?),
        ("nulls", Arc::new(converter.row_group_null_counts(groups())?)),
        ("nans", Arc::new(converter.row_group_nan_counts(groups())?)),
        ("rows", Arc::new(converter.row_group_row_counts(groups()))),
        ("min_exact", Arc::new(converter.row_group_is_min_value_exact(groups())?)),
        ("max_exact", Arc::new(converter.row_group_is_max_value_exact(groups())?)),
    ])
}

fn of_pages(
    opened: &ArrowReaderMetadata,
    converter: &StatisticsConverter<'_>,
    index: &PageIndex,
) -> marquetry::errors::Result<Named> {
    let groups = || opened.metadata().row_groups();
    Ok(vec![
        ("page.rows", Arc::new(converter.data_page_row_counts(index, groups())?)),
        ("page.min", converter.data_page_mins(index, groups())?),
        ("page.max", converter.data_page_maxes(index, groups())?),
        ("page.nulls", Arc::new(converter.data_page_null_counts(index, groups())?)),
    ])
}

fn list(array: ArrayRef) -> ArrayRef {
    let field = Arc::new(Field::new("item", array.data_type().clone(), true));
    Arc::new(ListArray::new(field, OffsetBuffer::from_lengths([array.len()]), array, None))
}
