//! INT96 of several files as text, each value exact.

use super::decode_dictionaries::plain_schema;
use super::exact_int96::{Exact, exact_fields, int96_as_bytes, is_int96};
use crate::keys;
use crate::remote;
use arrow_array::RecordBatchReader;
use arrow_schema::{DataType, Fields, Schema, SchemaRef, TimeUnit};
use marquetry::arrow::arrow_reader::ArrowReaderOptions;
use marquetry::dataset::{Dataset, DatasetReader};
use marquetry::errors;
use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;

/// Reads many files, and returns the schema that their rows are converted to, without dictionary and run-end encoded
/// types. If nanoseconds cannot hold the INT96 values of all files, all of them are read as the stored bytes.
pub(crate) fn read_for_text(
    chosen: impl Fn(ArrowReaderOptions) -> Dataset,
    options: ArrowReaderOptions,
) -> errors::Result<(DatasetReader, SchemaRef)> {
    let files = chosen(options.clone());
    let paths: Vec<PathBuf> = files.files().map(ToOwned::to_owned).collect();
    let reader = files.batches()?;
    let fitting = plain_schema(&reader.schema());
    if !has_timestamps(fitting.fields(), |unit| unit != TimeUnit::Nanosecond) {
        return Ok((reader, fitting));
    }
    // If a column is INT96 in one file, and in another a type that cannot become bytes, there is one unit for both.
    let Ok(exact) = chosen(int96_as_bytes(options)).batches() else { return Ok((reader, fitting)) };
    let fields = exact_fields(fitting.fields(), plain_schema(&exact.schema()).fields(), Exact::All);
    if fields == *fitting.fields() || !are_alike(&paths)? {
        return Ok((reader, fitting));
    }
    Ok((exact, Arc::new(Schema::new_with_metadata(fields, fitting.metadata().clone()))))
}

/// Whether no column is INT96 in one file and another kind of timestamp in another. Columns are identified by their roots.
fn are_alike(paths: &[PathBuf]) -> errors::Result<bool> {
    let (mut int96, mut others) = (HashSet::new(), HashSet::new());
    for path in paths {
        let file = remote::open_with_options(path, int96_as_bytes(keys::reader_options()))?;
        let leaves = file.metadata().schema().columns().iter().filter(|leaf| is_int96(leaf));
        int96.extend(leaves.filter_map(|leaf| leaf.path().first().map(ToString::to_string)));
        let schema = file.schema()?;
        let fields = schema.fields().iter();
        let timed = fields.filter(|field| is_timestamp(field.data_type(), &|_| true));
        others.extend(timed.map(|field| field.name().clone()));
    }
    Ok(int96.is_disjoint(&others))
}

fn has_timestamps(fields: &Fields, of: impl Fn(TimeUnit) -> bool) -> bool {
    fields.iter().any(|field| is_timestamp(field.data_type(), &of))
}

/// Whether a type contains a timestamp whose unit satisfies `of`, at any depth.
fn is_timestamp(data_type: &DataType, of: &dyn Fn(TimeUnit) -> bool) -> bool {
    use DataType::*;
    match data_type {
        Timestamp(unit, _) => of(*unit),
        Dictionary(_, values) => is_timestamp(values, of),
        RunEndEncoded(_, values) => is_timestamp(values.data_type(), of),
        Struct(fields) => fields.iter().any(|field| is_timestamp(field.data_type(), of)),
        List(field) | LargeList(field) | ListView(field) | LargeListView(field) => {
            is_timestamp(field.data_type(), of)
        }
        FixedSizeList(field, _) | Map(field, _) => is_timestamp(field.data_type(), of),
        _ => false,
    }
}
