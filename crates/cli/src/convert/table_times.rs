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
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

/// The rows of several files.
pub(crate) struct TableRows {
    pub(crate) reader: DatasetReader,
    /// The schema that rows are converted to, with units that hold the times of all files.
    pub(crate) fitting: SchemaRef,
    /// The same with the bytes of INT96 columns whose times nanoseconds cannot hold.
    pub(crate) exact: Option<SchemaRef>,
    /// INT96 columns that nanoseconds cannot hold, and that are read in one unit, because some column is another timestamp in some files.
    pub(crate) coarse: Vec<String>,
}

/// Reads several files; if `plain`, without dictionary and run-end encoded types. If nanoseconds cannot hold the INT96 values of all
/// files, all of them are read as the stored bytes.
pub(crate) fn read_exactly(
    chosen: impl Fn(ArrowReaderOptions) -> Dataset,
    options: ArrowReaderOptions,
    plain: bool,
) -> errors::Result<TableRows> {
    let files = chosen(options.clone());
    let paths: Vec<PathBuf> = files.files().map(ToOwned::to_owned).collect();
    let reader = files.batches()?;
    let shown = |schema: SchemaRef| if plain { plain_schema(&schema) } else { schema };
    let fitting = shown(reader.schema());
    let rows = TableRows { reader, fitting, exact: None, coarse: Vec::new() };
    let fitting = &rows.fitting;
    if !has_timestamps(fitting.fields(), |unit| unit != TimeUnit::Nanosecond) {
        return Ok(rows);
    }
    let columns = TimeColumns::of(&paths)?;
    let is_coarse = |name: &&String| is_coarse(fitting, name);
    let reader = match columns.mixed().any(|name| is_coarse(&name)) {
        true => None,
        false => chosen(int96_as_bytes(options)).batches().ok(),
    };
    let Some(reader) = reader else {
        let coarse = columns.int96.iter().filter(is_coarse).cloned().collect();
        return Ok(TableRows { coarse, ..rows });
    };
    let fields = exact_fields(fitting.fields(), shown(reader.schema()).fields(), Exact::All);
    if fields == *fitting.fields() {
        return Ok(rows);
    }
    let exact = Some(Arc::new(Schema::new_with_metadata(fields, fitting.metadata().clone())));
    Ok(TableRows { reader, exact, ..rows })
}

/// Whether a column has times in a coarser unit than nanoseconds.
fn is_coarse(schema: &SchemaRef, name: &str) -> bool {
    let field = schema.field_with_name(name);
    field.is_ok_and(|field| is_timestamp(field.data_type(), &|unit| unit != TimeUnit::Nanosecond))
}

/// The root columns of files that have timestamps.
struct TimeColumns {
    int96: BTreeSet<String>,
    others: BTreeSet<String>,
}

impl TimeColumns {
    fn of(paths: &[PathBuf]) -> errors::Result<Self> {
        let (mut int96, mut others) = (BTreeSet::new(), BTreeSet::new());
        for path in paths {
            let file = remote::open_with_options(path, int96_as_bytes(keys::reader_options()))?;
            let leaves = file.metadata().schema().columns().iter().filter(|leaf| is_int96(leaf));
            int96.extend(leaves.filter_map(|leaf| leaf.path().first().map(ToString::to_string)));
            let schema = file.schema()?;
            let fields = schema.fields().iter();
            let timed = fields.filter(|field| is_timestamp(field.data_type(), &|_| true));
            others.extend(timed.map(|field| field.name().clone()));
        }
        Ok(TimeColumns { int96, others })
    }

    /// Returns the columns that are INT96 in one file and another timestamp in another.
    fn mixed(&self) -> impl Iterator<Item = &String> {
        self.int96.intersection(&self.others)
    }
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
