//! `diff`: how two files differ.

use crate::column_list::{ColumnList, all_columns, column_list};
use crate::failure::{Failure, Outcome};
use crate::file_name;
use crate::keys;
use crate::output::Output;
use crate::remote;
use crate::text_table::{TextTable, shortened};
use arrow_array::{RecordBatch, RecordBatchOptions};
use arrow_schema::{DataType, Field, Schema};
use clap::Args as ClapArgs;
use marquetry::arrow::StringLayout;
use marquetry::arrow::arrow_reader::Int96Unit;
use marquetry::errors::Error;
use marquetry_core::predicate::names_of;
use marquetry_inspect::{
    Aspect, DiffFile, DiffOptions, Difference, RowsDiff, diff_footers, diff_rows, with_fitting_int96,
};
use marquetry_text::format::column::Column;
use marquetry_text::format::json::write_lines;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The arguments of `diff`.
#[derive(Debug, ClapArgs)]
pub(crate) struct DiffArgs {
    /// The left file: a path or a URL
    #[arg(value_name = "LEFT")]
    pub(crate) left: PathBuf,
    /// The right file
    #[arg(value_name = "RIGHT")]
    pub(crate) right: PathBuf,
    /// Compare rows, whatever their encodings and order
    #[arg(long)]
    pub(crate) rows: bool,
    /// Compare rows that have the same key: columns separated by commas. Implies --rows
    #[arg(long, short, value_name = "A,B", value_parser = column_list)]
    pub(crate) key: Option<Vec<ColumnList>>,
    /// Compare only these columns with all their children, and the key: dotted paths separated by commas. Implies --rows
    #[arg(long, short, value_name = "A,B.C", value_parser = column_list)]
    pub(crate) columns: Option<Vec<ColumnList>>,
    /// How many rows of each kind of difference to show
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub(crate) samples: usize,
}

pub(crate) fn run(args: &DiffArgs, output: &mut Output, outcome: &mut Outcome) -> Result<(), Failure> {
    match compare(args, output) {
        Ok(true) => Ok(()),
        Ok(false) => {
            outcome.differs();
            Ok(())
        }
        Err(failure @ (Failure::ClosedPipe | Failure::Write(_))) => Err(failure),
        Err(failure) => {
            outcome.cannot_tell(&failure);
            Ok(())
        }
    }
}

/// Whether the files are the same.
fn compare(args: &DiffArgs, output: &mut Output) -> Result<bool, Failure> {
    let with_rows = args.rows || args.key.is_some() || args.columns.is_some();
    let (left, right) = (open(&args.left)?, open(&args.right)?);
    let mut facts = diff_footers(left.metadata(), right.metadata())?;
    if with_rows {
        // The same rows may be stored in many ways.
        facts.retain(|fact| matches!(fact.aspect, Aspect::Schema | Aspect::Metadata));
    }
    let mut rows = None;
    if with_rows {
        let key = all_columns(args.key.as_ref()).unwrap_or_default();
        let key = key.iter().map(|name| names_of(name).join("."));
        let mut options = DiffOptions::default().with_key(key).with_samples(args.samples);
        options.columns = all_columns(args.columns.as_ref());
        // Rows are shown as they are compared.
        let (left, right) = with_fitting_int96(&left, &right, &options)?;
        let diff = diff_rows(&left, &right, &options)?;
        let samples = Samples::read(&left, &right, &diff)?;
        rows = Some((diff, samples));
    }
    let is_same = facts.is_empty() && rows.as_ref().is_none_or(|(diff, _)| diff.is_same());
    match output.is_json() {
        true => {
            let rows = rows.as_ref().map(|(diff, samples)| rows_json(diff, samples)).transpose()?;
            let facts: Vec<_> = facts.iter().map(fact_json).collect();
            output.json(&json!({
                "left": file_name::shown(&args.left), "right": file_name::shown(&args.right), "same": is_same,
                "differences": facts, "rows": rows,
            }))?;
        }
        false => {
            print_facts(&facts, output)?;
            // Nothing is printed for files that do not differ.
            if let Some((diff, samples)) = rows.as_ref().filter(|_| !is_same) {
                print_rows(diff, samples, output)?;
            }
        }
    }
    Ok(is_same)
}

fn open(path: &Path) -> Result<DiffFile, Error> {
    let options = keys::reader_options().with_text(StringLayout::Utf8View).with_int96(Int96Unit::Auto);
    let (opened, name) = (remote::source(path), file_name::shown(path));
    let opened = opened.and_then(|source| DiffFile::open(source, options));
    Ok(opened.map_err(|error| error.in_file(name.clone()))?.with_name(name))
}

/// The rows that are shown.
struct Samples {
    removed: Option<RecordBatch>,
    added: Option<RecordBatch>,
    /// Before and after, in the order of the left file.
    changed: Option<(RecordBatch, RecordBatch)>,
}

impl Samples {
    fn read(left: &DiffFile, right: &DiffFile, diff: &RowsDiff) -> Result<Self, Error> {
        let rows_of = |file: &DiffFile, rows: &[u64]| match rows {
            [] => Ok(None),
            rows => file.rows_at(rows, &diff.columns).map(Some),
        };
        let removed = rows_of(left, &diff.removed_rows)?;
        let added = rows_of(right, &diff.added_rows)?;
        let lefts: Vec<u64> = diff.changed_rows.iter().map(|(left, _)| *left).collect();
        let mut changed = None;
        if let Some(before) = rows_of(left, &lefts)? {
            let mut rights: Vec<u64> = diff.changed_rows.iter().map(|(_, right)| *right).collect();
            rights.sort_unstable();
            if let Some(after) = rows_of(right, &rights)? {
                // Each in the place of the row that it was before.
                let place = |(_, right): &(u64, u64)| rights.binary_search(right).unwrap_or(0) as u64;
                let places: arrow_array::UInt64Array =
                    diff.changed_rows.iter().map(place).map(Some).collect();
                let after = arrow_select::take::take_record_batch(&after, &places);
                let failed = |error| Error::argument(format!("rows cannot be put in order: {error}"));
                changed = Some((before, after.map_err(failed)?));
            }
        }
        Ok(Samples { removed, added, changed })
    }
}

fn fact_json(fact: &Difference) -> Value {
    json!({
        "aspect": fact.aspect.name(), "of": fact.of, "fact": fact.fact, "left": fact.left, "right": fact.right,
    })
}

/// The rows of a batch as JSON, one by one.
fn rows_of(batch: Option<&RecordBatch>) -> Result<Vec<String>, Error> {
    let mut lines = String::new();
    if let Some(batch) = batch {
        write_lines(batch, &mut lines)?;
    }
    Ok(lines.lines().map(str::to_owned).collect())
}

/// A cell that differs: column, before, after.
type ChangedCell = (String, String, String);

/// The cells that differ, row by row.
fn changed_cells((before, after): &(RecordBatch, RecordBatch)) -> Result<Vec<Vec<ChangedCell>>, Error> {
    let (before, after) = (&with_wide_floats(before, after)?, &with_wide_floats(after, before)?);
    let (lefts, rights) = (Column::of_batch(before)?, Column::of_batch(after)?);
    let fields = before.schema_ref().fields();
    let cell = |column: &Column<'_>, row: usize| {
        let mut text = String::new();
        column.write_json(row, &mut text);
        text
    };
    let row = |row: usize| {
        let cells = fields.iter().zip(lefts.iter().zip(&rights));
        let cells =
            cells.map(|(field, (left, right))| (field.name().clone(), cell(left, row), cell(right, row)));
        cells.filter(|(_, left, right)| left != right).collect()
    };
    Ok((0..before.num_rows()).map(row).collect())
}

/// FLOAT as DOUBLE if the other file has that: 0.1 of both differ, which the shortest digits of each do not show.
fn with_wide_floats(batch: &RecordBatch, other: &RecordBatch) -> Result<RecordBatch, Error> {
    let (schema, mut columns, rows) = batch.clone().into_parts();
    let mut fields = schema.fields().to_vec();
    for (field, column) in fields.iter_mut().zip(&mut columns) {
        let wider = other.schema_ref().field_with_name(field.name()).ok().map(|other| other.data_type());
        if *field.data_type() == DataType::Float32 && wider == Some(&DataType::Float64) {
            *column = arrow_cast::cast(column, &DataType::Float64)?;
            *field = Arc::new(Field::clone(field).with_data_type(DataType::Float64));
        }
    }
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    Ok(RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), columns, &options)?)
}

fn rows_json(diff: &RowsDiff, samples: &Samples) -> Result<Value, Error> {
    let values = |batch: Option<&RecordBatch>, numbers: &[u64]| -> Result<Vec<Value>, Error> {
        let rows = rows_of(batch)?.into_iter().zip(numbers);
        let parsed = |text: String| serde_json::from_str(&text).unwrap_or(Value::String(text));
        Ok(rows.map(|(text, number)| json!({"row": number, "values": parsed(text)})).collect())
    };
    let mut changed = Vec::new();
    if let Some(batches) = &samples.changed {
        for (cells, (left, right)) in changed_cells(batches)?.into_iter().zip(&diff.changed_rows) {
            let parsed = |text: String| serde_json::from_str(&text).unwrap_or(Value::String(text));
            let cell = |(column, left, right): ChangedCell| json!({"column": column, "left": parsed(left), "right": parsed(right)});
            let cells: Vec<_> = cells.into_iter().map(cell).collect();
            changed.push(json!({"left_row": left, "right_row": right, "cells": cells}));
        }
    }
    let columns = diff.changed_columns.iter().map(|(column, rows)| json!({"column": column, "rows": rows}));
    Ok(json!({
        "left": diff.rows.0, "right": diff.rows.1, "removed": diff.removed, "added": diff.added,
        "changed": diff.changed, "reordered": diff.is_reordered, "first_moved": diff.first_moved,
        "changed_columns": columns.collect::<Vec<_>>(), "changed_looked_at": diff.changed_looked_at,
        "not_compared": diff.not_compared, "removed_rows": values(samples.removed.as_ref(), &diff.removed_rows)?,
        "added_rows": values(samples.added.as_ref(), &diff.added_rows)?, "changed_rows": changed,
    }))
}

fn print_facts(facts: &[Difference], output: &mut Output) -> Result<(), Failure> {
    for group in facts.chunk_by(|a, b| a.aspect == b.aspect) {
        output.line(group[0].aspect.name())?;
        let mut table = TextTable::new(&["of", "fact", "left", "right"]).indented();
        for fact in group {
            let value = |value: &Option<String>| shortened(value.as_deref().unwrap_or("-"), VALUE_WIDTH);
            let of = fact.of.as_deref().unwrap_or("the file").to_owned();
            table.stream([of, fact.fact.to_owned(), value(&fact.left), value(&fact.right)], output)?;
        }
        table.print(output)?;
    }
    Ok(())
}

fn print_rows(diff: &RowsDiff, samples: &Samples, output: &mut Output) -> Result<(), Failure> {
    output.line(match diff.is_same() {
        true => format!("rows: the same {}", diff.rows.0),
        false => format!("rows: {} and {}", diff.rows.0, diff.rows.1),
    })?;
    for (count, what) in [(diff.removed, "removed"), (diff.added, "added"), (diff.changed, "changed")] {
        if count > 0 {
            output.line(format!("  {count} {what}"))?;
        }
    }
    if let Some(row) = diff.first_moved.filter(|_| diff.is_reordered) {
        output.line(format!("  the same rows in another order, from row {row} on"))?;
    }
    if !diff.changed_columns.is_empty() {
        let columns = diff.changed_columns.iter().map(|(column, rows)| format!("{column} {rows}"));
        let of = match diff.changed_looked_at < diff.changed {
            true => format!(" (of the first {} changed rows)", diff.changed_looked_at),
            false => String::new(),
        };
        output.line(format!("  changed by column: {}{of}", columns.collect::<Vec<_>>().join(", ")))?;
    }
    if !diff.not_compared.is_empty() {
        output.line(format!("  not compared: {}", diff.not_compared.join(", ")))?;
    }
    for (sign, batch, numbers) in
        [('-', &samples.removed, &diff.removed_rows), ('+', &samples.added, &diff.added_rows)]
    {
        for (row, number) in rows_of(batch.as_ref())?.iter().zip(numbers) {
            output.line(shortened(&format!("{sign} {number}: {row}"), ROW_WIDTH))?;
        }
    }
    if let Some(batches) = &samples.changed {
        for (cells, (left, right)) in changed_cells(batches)?.iter().zip(&diff.changed_rows) {
            let cell = |(column, before, after): &ChangedCell| {
                format!("{column}: {} -> {}", shortened(before, VALUE_WIDTH), shortened(after, VALUE_WIDTH))
            };
            let number = if left == right { left.to_string() } else { format!("{left} -> {right}") };
            output.line(format!("~ {number}: {}", cells.iter().map(cell).collect::<Vec<_>>().join(", ")))?;
        }
    }
    Ok(())
}

const VALUE_WIDTH: usize = 40;
const ROW_WIDTH: usize = 1_000;

/// Text after the options in `--help`.
pub(crate) const DIFF_HELP: &str = "\
Without --rows, footers are compared: schemas, key-value metadata, statistics, and the layout (row groups, codecs,
encodings, sizes, indexes). With --rows, schemas, metadata and all rows are compared: each file is read once, in
bounded memory, and encodings make no difference. Without --key, two rows are the same if all their values are; if
both files have the same number of rows, a row that took the place of another is a change. INT96 timestamps beyond
nanoseconds are compared in the finest unit that holds the column of both files. - marks rows of the left file only, +
of the right file only, ~ changes; rows are numbered from 0.

The exit code is 0 if the files are the same, 1 if they differ, 2 if they cannot be compared.

JSON: {left, right, same, differences: [{aspect, of, fact, left, right}], rows: {left, right, removed, added, changed,
reordered, first_moved, changed_columns: [{column, rows}], changed_looked_at, not_compared, removed_rows: [{row,
values}], added_rows, changed_rows: [{left_row, right_row, cells: [{column, left, right}]}]}}.

Examples:
  marquetry diff yesterday.parquet today.parquet
  marquetry diff --rows before.parquet after.parquet
  marquetry diff --key id before.parquet s3://bucket/after.parquet --format json";
