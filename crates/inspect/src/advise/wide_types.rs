//! Types that are wider than their values.

use super::advice::ColumnAdvice;
use super::finding::{AdviceKind, Change, Confidence, Finding};
use super::looked_at::LookedAt;
use super::new_type::NewType;
use super::sample::{MeasuredFile, Sample, like, rows_reader, wrong};
use super::time_left::TimeLeft;
use super::value_form::{ValueForm, Wanted};
use crate::reencode::ColumnSource;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{DataType, FieldRef, Schema};
use marquetry_arrow::arrow_reader::ProjectionMask;
use marquetry_arrow::infer_shredding::infer_shreddings;
use marquetry_base::Result;
use std::cmp::Reverse;
use std::sync::Arc;

/// Finds root columns that could have another type, the largest first. All of their values are read, as far as there is
/// time. `columns` are the recommendations for each column of the file, by its index.
pub(super) fn wide_types(
    input: &ColumnSource,
    sample: &Sample,
    columns: &[ColumnAdvice],
    time: TimeLeft,
) -> Result<LookedAt> {
    let mut looked = LookedAt::default();
    let schema = sample.batch.schema();
    let mut sized = Vec::new();
    for (at, root) in sample.columns.roots.iter().copied().enumerate() {
        if ValueForm::of(schema.field(at).data_type()).is_some() {
            let column = input.metadata.schema().columns_of(root).start;
            sized.push((super::measure::column_bytes(&input.metadata, column)?, at, root, column));
        }
    }
    sized.sort_by_key(|(stored, ..)| Reverse(*stored));
    for (stored, at, root, column) in sized {
        if time.is_over() {
            looked.left.push(column);
            continue;
        }
        let field = &schema.fields()[at];
        let Some(mut form) = ValueForm::of(field.data_type()) else { continue };
        let array = sample.batch.column(at);
        if !form.add(array) || form.wanted().is_none() {
            continue;
        }
        let read = read_all(input, root, &mut form, sample, time)?;
        // A later value may have another form.
        let Some(wanted) = form.wanted() else { continue };
        let confidence = Confidence::of(read.max(sample.rows()), input.metadata.num_rows());
        let finding = match wanted {
            Wanted::Type(new) => narrower(input, field, array, new, confidence, &columns[column])?,
            Wanted::Json => variant(input, field, array, confidence, stored)?,
        };
        looked.findings.extend(finding);
    }
    Ok(looked)
}

/// Passes all values of a column to a form, as long as there is time and a type fits. Returns the number of rows that
/// were read.
fn read_all(
    input: &ColumnSource,
    root: usize,
    form: &mut ValueForm,
    sample: &Sample,
    time: TimeLeft,
) -> Result<u64> {
    if sample.rows() == sample.of {
        return Ok(sample.rows());
    }
    let mask = ProjectionMask::roots(input.metadata.schema(), [root]);
    let mut reader = rows_reader(input, &sample.arrow, mask, 0..sample.of, sample.batch_rows)?;
    let mut rows = 0;
    while let Some(batch) = reader.next_batch() {
        let batch = batch?;
        rows += batch.num_rows() as u64;
        if !form.add(batch.column(0)) || time.is_over() {
            break;
        }
    }
    Ok(rows)
}

/// Recommends a narrower type, measured against the column as it is recommended to be written. That may make another
/// type needless, for example with a codec that compresses bytes which are all zero to nothing. A column of another
/// type keeps the codec, but not the encoding.
fn narrower(
    input: &ColumnSource,
    field: &FieldRef,
    array: &ArrayRef,
    new: NewType,
    confidence: Confidence,
    column: &ColumnAdvice,
) -> Result<Option<Finding>> {
    let (mut of_wide, mut of_narrow) = (like(&input.metadata)?, like(&input.metadata)?);
    if let Some(choice) = column.choice {
        of_wide = of_wide.set_compression(choice.compression).set_encoding(choice.encoding);
        of_narrow = of_narrow.set_compression(choice.compression);
    }
    let converted = new.convert(array)?;
    let wide = MeasuredFile::of_column_with(field.clone(), array.clone(), of_wide)?;
    let narrow = MeasuredFile::of_column_with(Arc::new(new.field(field)), converted, of_narrow)?;
    let (before, after) = (wide.decode_seconds()?, narrow.decode_seconds()?);
    let ratio = narrow.bytes() as f64 / wide.bytes().max(1) as f64;
    if ratio > 1.0 - LEAST_SAVING && after > before * (1.0 - LEAST_SPEED) {
        return Ok(None);
    }
    let what = format!(
        "{} is {}, and all its values are {new}: {:+.1} % bytes, decoded in {:.0} % of the time",
        field.name(),
        type_name(field.data_type()),
        (ratio - 1.0) * 100.0,
        after / before.max(f64::MIN_POSITIVE) * 100.0
    );
    let scale = input.metadata.num_rows() as f64 / array.len().max(1) as f64;
    Ok(Some(
        Finding::new(AdviceKind::Type, what, confidence, Change::Type(new))
            .of_columns([field.name()])
            .with_bytes(column.predicted, (column.predicted as f64 * ratio) as u64)
            .with_decode(before * scale, after * scale),
    ))
}

/// Recommends VARIANT, shredded by the shape of its values, for text that is JSON.
fn variant(
    input: &ColumnSource,
    field: &FieldRef,
    array: &ArrayRef,
    confidence: Confidence,
    stored: u64,
) -> Result<Option<Finding>> {
    let variants = NewType::Variant.convert(&array.slice(0, array.len().min(INFERRED_ROWS)))?;
    let schema = Arc::new(Schema::new(vec![NewType::Variant.field(field)]));
    let batch = RecordBatch::try_new(schema, vec![variants]).map_err(wrong)?;
    let properties = like(&input.metadata)?.build();
    let inferred = infer_shreddings(&[batch], &[], &Default::default(), Some(&properties))?;
    let Some(inferred) = inferred.first() else { return Ok(None) };
    let Some(shape) = inferred.shredding.as_ref().filter(|_| inferred.pays()) else { return Ok(None) };
    // As many rows as the shape was inferred from.
    let rows = array.len().min(INFERRED_ROWS);
    let text = MeasuredFile::of_column(input, field.clone(), array.slice(0, rows))?.bytes();
    let ratio = inferred.shredded_bytes as f64 / text.max(1) as f64;
    if ratio > 1.25 {
        return Ok(None);
    }
    let mut shape = shape.to_string();
    if shape.len() > 80 {
        shape = format!("{}..", shape.chars().take(78).collect::<String>());
    }
    let what = format!(
        "{} is text, and all its values are JSON: as VARIANT of the shape {shape} {:+.1} % bytes, and {} of its fields can be skipped by",
        field.name(),
        (ratio - 1.0) * 100.0,
        inferred.prunable.len()
    );
    let finding = Finding::new(AdviceKind::Variant, what, confidence, Change::Type(NewType::Variant));
    Ok(Some(finding.of_columns([field.name()]).with_bytes(stored, (stored as f64 * ratio) as u64)))
}

fn type_name(data_type: &DataType) -> &'static str {
    match data_type {
        DataType::Int64 => "int64",
        DataType::UInt64 => "uint64",
        _ => "text",
    }
}

/// Minimum saving of bytes, or of time, for a type that is worthwhile.
const LEAST_SAVING: f64 = 0.03;
const LEAST_SPEED: f64 = 0.2;
/// Number of rows that a shape is inferred from.
const INFERRED_ROWS: usize = 4_096;
