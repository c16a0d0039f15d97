//! Converts INT96 to timestamps, and counts those that lose digits.
//!
//! An Arrow column of timestamps has one unit. If nanoseconds cannot hold its farthest time, or if a table has it in another unit, times
//! lose digits, which is reported.

use super::exact_int96::{int96_as_bytes, is_int96};
use crate::failure::line;
use crate::memory::bounded_options;
use crate::remote;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, FixedSizeBinaryArray, RecordBatch, RecordBatchOptions, make_array};
use arrow_data::ArrayData;
use arrow_schema::{ArrowError, DataType, FieldRef, SchemaRef, TimeUnit};
use marquetry::arrow::ProjectionMask;
use marquetry::arrow::arrow_reader::{ChunkReader, ParquetRecordBatchReaderBuilder};
use marquetry::errors;
use marquetry::schema::Leaf;
use marquetry_base::counted;
use marquetry_core::int96::{NANOS_PER_DAY, instant};
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::slice;

/// The number of times that lost digits, and the unit, of each column.
#[derive(Debug, Default)]
pub(crate) struct CutTimes(BTreeMap<String, Cut>);

#[derive(Debug)]
struct Cut {
    times: u64,
    unit: TimeUnit,
    /// Whether the column is another timestamp in some files, so that these decide the unit, too.
    is_mixed: bool,
}

impl CutTimes {
    /// Whether no time lost digits.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Reports each column on standard error. `file` is the file, if there is only one.
    pub(crate) fn tell(&self, file: Option<&Path>) {
        for (column, Cut { times, unit, is_mixed }) in &self.0 {
            let times = counted(*times, "time");
            let unit = words(*unit);
            let why = match is_mixed {
                true => {
                    format!("the table has the column in {unit}, as it is another timestamp in some files")
                }
                false => {
                    format!("{unit} is the finest unit of timestamps that reaches the column's farthest")
                }
            };
            let said = format_args!(
                "column {column}: {times} lost digits: INT96 has nanoseconds of any year, and {why}"
            );
            // A failure of standard error cannot be reported.
            let _ = writeln!(io::stderr(), "{}", line(file, said));
        }
    }

    fn add(&mut self, column: &str, unit: TimeUnit, is_mixed: bool) {
        let cut = self.0.entry(column.to_owned()).or_insert(Cut { times: 0, unit, is_mixed });
        (cut.times, cut.unit) = (cut.times + 1, unit);
    }

    /// Counts the times that lose digits in these columns, in whole files. They are INT96 in some files and other timestamps
    /// in others. `fitting` has the columns' units.
    pub(crate) fn of_files(
        paths: &[PathBuf],
        columns: &[String],
        fitting: &SchemaRef,
    ) -> errors::Result<Self> {
        let mut cut = CutTimes::default();
        for path in paths.iter().filter(|_| !columns.is_empty()) {
            let file = remote::open_with_options(path, int96_as_bytes(bounded_options()))?;
            let schema = file.metadata().schema().clone();
            let is_one = |leaf: &Leaf| {
                is_int96(leaf)
                    && leaf.path().first().is_some_and(|root| columns.iter().any(|name| **name == **root))
            };
            let leaves = schema.columns().iter().enumerate().filter(|(_, leaf)| is_one(leaf));
            let mask = ProjectionMask::leaves(&schema, leaves.map(|(number, _)| number));
            let options = int96_as_bytes(bounded_options());
            let builder =
                ParquetRecordBatchReaderBuilder::try_new_with_options(file.into_source()?, options)?;
            for batch in builder.with_projection(mask).build()? {
                let batch = batch?;
                for (column, field) in batch.columns().iter().zip(batch.schema_ref().fields()) {
                    if let Ok(fitting) = fitting.field_with_name(field.name()) {
                        cut.count(&column.to_data(), field.name(), coarsest(fitting.data_type()));
                    }
                }
            }
        }
        Ok(cut)
    }

    fn count(&mut self, data: &ArrayData, column: &str, unit: TimeUnit) {
        data.child_data().iter().for_each(|child| self.count(child, column, unit));
        if !matches!(data.data_type(), DataType::FixedSizeBinary(_)) {
            return;
        }
        let times = FixedSizeBinaryArray::from(data.clone());
        for bytes in times.iter().flatten() {
            let nanos = bytes.try_into().map_or(0, |bytes| instant(bytes).1);
            if nanos % nanos_of(unit) != 0 {
                self.add(column, unit, true);
            }
        }
    }
}

/// Returns the coarsest unit of timestamps at any depth.
fn coarsest(data_type: &DataType) -> TimeUnit {
    match data_type {
        DataType::Timestamp(unit, _) => *unit,
        other => {
            // Units are ordered from coarse to fine.
            let units = children_of(other).iter().map(|field| coarsest(field.data_type()));
            units.min().unwrap_or(TimeUnit::Nanosecond)
        }
    }
}

fn words(unit: TimeUnit) -> &'static str {
    match unit {
        TimeUnit::Second => "s",
        TimeUnit::Millisecond => "ms",
        TimeUnit::Microsecond => "us",
        TimeUnit::Nanosecond => "ns",
    }
}

/// Returns the batch with the timestamps of `schema` in place of the bytes of INT96.
pub(crate) fn with_timestamps(
    batch: &RecordBatch,
    schema: &SchemaRef,
    cut: &mut CutTimes,
) -> Result<RecordBatch, ArrowError> {
    let columns = batch.columns().iter().zip(schema.fields());
    let columns = columns.map(|(column, field)| timed(column, field.data_type(), field.name(), cut));
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    RecordBatch::try_new_with_options(schema.clone(), columns.collect::<Result<_, _>>()?, &options)
}

fn timed(array: &ArrayRef, to: &DataType, column: &str, cut: &mut CutTimes) -> Result<ArrayRef, ArrowError> {
    match (array.data_type(), to) {
        (from, to) if from == to => Ok(array.clone()),
        (DataType::FixedSizeBinary(_), DataType::Timestamp(unit, _)) => {
            timestamps(array.as_fixed_size_binary(), to, *unit, column, cut)
        }
        _ => {
            let data = array.to_data();
            let children = data.child_data().iter().zip(children_of(to));
            let children = children.map(|(child, field)| {
                Ok(timed(&make_array(child.clone()), field.data_type(), column, cut)?.to_data())
            });
            let children = children.collect::<Result<_, ArrowError>>()?;
            Ok(make_array(data.into_builder().data_type(to.clone()).child_data(children).build()?))
        }
    }
}

fn children_of(data_type: &DataType) -> &[FieldRef] {
    use DataType::*;
    match data_type {
        Struct(fields) => fields,
        List(field) | LargeList(field) | ListView(field) | LargeListView(field) => slice::from_ref(field),
        FixedSizeList(field, _) | Map(field, _) => slice::from_ref(field),
        _ => &[],
    }
}

fn nanos_of(unit: TimeUnit) -> i64 {
    match unit {
        TimeUnit::Second => 1_000_000_000,
        TimeUnit::Millisecond => 1_000_000,
        TimeUnit::Microsecond => 1_000,
        TimeUnit::Nanosecond => 1,
    }
}

fn timestamps(
    bytes: &FixedSizeBinaryArray,
    to: &DataType,
    unit: TimeUnit,
    column: &str,
    cut: &mut CutTimes,
) -> Result<ArrayRef, ArrowError> {
    let nanos_each = nanos_of(unit);
    let mut times = Vec::with_capacity(bytes.len());
    for at in 0..bytes.len() {
        if bytes.is_null(at) {
            times.push(0);
            continue;
        }
        let wrong = || ArrowError::CastError(format!("column {column}: no time of INT96 in its unit"));
        let (days, nanos) = instant(bytes.value(at).try_into().map_err(|_| wrong())?);
        if nanos % nanos_each != 0 {
            cut.add(column, unit, false);
        }
        let ticks =
            i128::from(days) * i128::from(NANOS_PER_DAY / nanos_each) + i128::from(nanos / nanos_each);
        times.push(i64::try_from(ticks).map_err(|_| wrong())?);
    }
    let data = ArrayData::builder(to.clone()).len(times.len()).nulls(bytes.nulls().cloned());
    Ok(make_array(data.add_buffer(times.into()).build()?))
}
