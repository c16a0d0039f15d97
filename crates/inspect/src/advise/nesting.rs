//! Lists that never have more than one element, and VARIANT that could be shredded.

use super::finding::{AdviceKind, Change, Confidence, Finding};
use super::looked_at::LookedAt;
use super::measure::column_bytes;
use super::new_type::NewType;
use super::sample::{MeasuredFile, Sample, like};
use super::time_left::TimeLeft;
use crate::reencode::ColumnSource;
use arrow_array::Array;
use arrow_schema::DataType;
use marquetry_arrow::infer_shredding::infer_shreddings;
use marquetry_base::Result;
use std::sync::Arc;

/// Finds lists none of which has more than one element: the footer counts as many entries as rows.
pub(super) fn lists_of_one(input: &ColumnSource, sample: &Sample, time: TimeLeft) -> Result<LookedAt> {
    let mut looked = LookedAt::default();
    for ((at, field), root) in sample.batch.schema().fields().iter().enumerate().zip(&sample.columns.roots) {
        let root = *root;
        if !matches!(field.data_type(), DataType::List(_)) {
            continue;
        }
        if time.is_over() {
            looked.left.extend(input.metadata.schema().columns_of(root));
            continue;
        }
        let leaves = input.metadata.schema().columns_of(root);
        let schema = input.metadata.schema();
        if leaves.clone().any(|leaf| schema.column(leaf).max_rep() != 1)
            || !has_one_entry_a_row(input, leaves.start)?
        {
            continue;
        }
        let Ok(elements) = NewType::Element.convert(sample.batch.column(at)) else { continue };
        if elements.null_count() == elements.len() {
            continue;
        }
        // If some lists are null and others empty, only the writer knows what that means.
        let change = match NewType::Element.convert_exactly(sample.batch.column(at)) {
            Ok(_) => Change::Type(NewType::Element),
            Err(_) => Change::ByTheWriter,
        };
        let (listed, flat) = (
            MeasuredFile::of_column(input, field.clone(), sample.batch.column(at).clone())?,
            MeasuredFile::of_column(input, Arc::new(NewType::Element.field(field)), elements)?,
        );
        let stored = leaves.clone().try_fold(0u64, |sum, leaf| {
            Ok::<_, marquetry_base::Error>(sum.saturating_add(column_bytes(&input.metadata, leaf)?))
        })?;
        let ratio = flat.bytes() as f64 / listed.bytes().max(1) as f64;
        let (before, after) = (listed.decode_seconds()?, flat.decode_seconds()?);
        let what = format!(
            "no list of {} has more than one element: as a plain column {:+.1} % bytes, decoded in {:.0} % of the time, and bounds of pages are of rows",
            field.name(),
            (ratio - 1.0) * 100.0,
            after / before.max(f64::MIN_POSITIVE) * 100.0
        );
        looked.findings.push(
            Finding::new(AdviceKind::ListOfOne, what, Confidence::Certain, change)
                .of_columns([field.name()])
                .with_bytes(stored, (stored as f64 * ratio) as u64)
                .with_decode(sample.scaled(before), sample.scaled(after)),
        );
    }
    Ok(looked)
}

fn has_one_entry_a_row(input: &ColumnSource, leaf: usize) -> Result<bool> {
    for group in input.metadata.row_groups() {
        if u64::try_from(group.column(leaf)?.num_values()).ok() != Some(group.num_rows()) {
            return Ok(false);
        }
    }
    Ok(input.metadata.num_rows() > 0)
}

/// Finds VARIANT columns that have fewer bytes, or can be skipped by, when they are shredded by the shape of most
/// values.
pub(super) fn shreddings(input: &ColumnSource, sample: &Sample) -> Result<LookedAt> {
    let properties = like(&input.metadata)?.build();
    let inferred =
        infer_shreddings(std::slice::from_ref(&sample.batch), &[], &Default::default(), Some(&properties))?;
    let mut looked = LookedAt::default();
    for column in inferred.iter().filter(|column| column.pays()) {
        let schema = input.metadata.schema();
        let prefix = format!("{}.", column.column);
        let leaves =
            (0..schema.num_columns()).filter(|leaf| schema.column(*leaf).dotted().starts_with(&prefix));
        let leaves: Vec<usize> = leaves.collect();
        // Two columns are metadata and value; more are a shredded shape.
        if leaves.len() != 2 {
            continue;
        }
        let stored = leaves.iter().try_fold(0u64, |sum, leaf| {
            Ok::<_, marquetry_base::Error>(sum.saturating_add(column_bytes(&input.metadata, *leaf)?))
        })?;
        let ratio = column.shredded_bytes as f64 / column.unshredded_bytes.max(1) as f64;
        let what = format!(
            "shred {}: {:+.1} % bytes, and {} of its fields can be skipped by",
            column.column,
            (ratio - 1.0) * 100.0,
            column.prunable.len()
        );
        let confidence = Confidence::of(sample.rows().min(INFERRED_ROWS), sample.of);
        let finding = Finding::new(AdviceKind::Shredding, what, confidence, Change::Shred);
        let after = (stored as f64 * ratio) as u64;
        looked.findings.push(finding.of_columns([&column.column]).with_bytes(stored, after));
    }
    Ok(looked)
}

/// Number of rows that a shape is inferred from.
const INFERRED_ROWS: u64 = 4_096;
