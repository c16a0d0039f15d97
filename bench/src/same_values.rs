//! Are the values of both readers the same? Asked once for each file, outside of the timing.

use crate::bridge;
use crate::error::Result;
use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use arrow60_array::RecordBatch as RecordBatch60;

/// Reads both sides to the end and fails at the first value, null, type or row count that differs.
/// The two may cut their batches at different rows.
pub(crate) fn compare(
    ours: impl Iterator<Item = Result<RecordBatch>>,
    mut peer: impl Iterator<Item = Result<RecordBatch60>>,
) -> Result<()> {
    let mut ours = ours.filter(|batch| batch.as_ref().map_or(true, |batch| batch.num_rows() > 0));
    let mut row = 0;
    let mut schema: Option<SchemaRef> = None; // the peer's, in our Arrow
    let mut left: Option<RecordBatch60> = None; // ours, not compared yet
    while let Some(batch) = peer.next().transpose()? {
        let mut right = batch;
        let schema = match &mut schema {
            Some(schema) => schema,
            None => schema.insert(bridge::schema(&right.schema())?),
        };
        while right.num_rows() > 0 {
            let left_batch = match left.take() {
                Some(batch) => batch,
                None => match ours.next().transpose()? {
                    Some(batch) => to_60(&batch, schema)?,
                    None => return Err(format!("ours ends at row {row}, the peer goes on").into()),
                },
            };
            let rows = left_batch.num_rows().min(right.num_rows());
            same_rows(&left_batch.slice(0, rows), &right.slice(0, rows), row)?;
            row += rows;
            right = right.slice(rows, right.num_rows() - rows);
            if rows < left_batch.num_rows() {
                left = Some(left_batch.slice(rows, left_batch.num_rows() - rows));
            }
        }
    }
    if left.is_some() || ours.next().transpose()?.is_some() {
        return Err(format!("the peer ends at row {row}, ours goes on").into());
    }
    Ok(())
}

/// Our batch in Arrow 60, with the peer's schema.
fn to_60(ours: &RecordBatch, peer: &SchemaRef) -> Result<RecordBatch60> {
    let names = ours.schema_ref().fields().iter().map(|field| field.name());
    if !names.eq(peer.fields().iter().map(|field| field.name())) {
        return Err(format!("ours has the fields {}, the peer {peer}", ours.schema()).into());
    }
    bridge::batch_60(ours, peer)
}

/// Floats are equal if their bits are; dictionaries if the strings of their keys are.
fn same_rows(ours: &RecordBatch60, peer: &RecordBatch60, first_row: usize) -> Result<()> {
    let schema = peer.schema();
    for ((ours, peer), field) in ours.columns().iter().zip(peer.columns()).zip(schema.fields()) {
        if ours == peer {
            continue;
        }
        let differs = |&at: &usize| ours.slice(at, 1).as_ref() != peer.slice(at, 1).as_ref();
        let at = (0..peer.len()).find(differs).unwrap_or(0);
        return Err(format!(
            "column {}, row {}: ours {:?}, the peer {:?}",
            field.name(),
            first_row + at,
            ours.slice(at, 1),
            peer.slice(at, 1)
        )
        .into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{ArrayRef, Int64Array, StringArray};
    use arrow60_array::{ArrayRef as ArrayRef60, Int64Array as Int64Array60, StringArray as StringArray60};

    use super::*;

    type Values = &'static [Option<i64>];

    /// Each slice is a batch of two columns: the numbers, and the same numbers as text.
    fn compare_batches(ours: &[Values], peer: &[Values]) -> std::result::Result<(), String> {
        let text = |value: &Option<i64>| value.map(|value| value.to_string());
        let ours = ours.iter().map(|values| {
            let numbers: ArrayRef = Arc::new(Int64Array::from(values.to_vec()));
            let texts: ArrayRef = Arc::new(values.iter().map(text).collect::<StringArray>());
            Ok(RecordBatch::try_from_iter_with_nullable([("n", numbers, true), ("t", texts, true)])?)
        });
        let peer = peer.iter().map(|values| {
            let numbers: ArrayRef60 = Arc::new(Int64Array60::from(values.to_vec()));
            let texts: ArrayRef60 = Arc::new(values.iter().map(text).collect::<StringArray60>());
            Ok(RecordBatch60::try_from_iter_with_nullable([("n", numbers, true), ("t", texts, true)])?)
        });
        compare(ours, peer).map_err(|error| error.to_string())
    }

    #[test]
    fn batches_may_end_anywhere() {
        let whole: &[Values] = &[&[Some(1), None, Some(3), Some(4)]];
        let parts: &[Values] = &[&[Some(1)], &[], &[None, Some(3)], &[Some(4)]];
        assert_eq!(compare_batches(whole, parts), Ok(()));
        assert_eq!(compare_batches(parts, whole), Ok(()));
    }

    #[test]
    fn differences_are_found() {
        let right: &[Values] = &[&[Some(1), None], &[Some(3)]];
        let wrong_value: &[Values] = &[&[Some(1), None, Some(4)]];
        let wrong_null: &[Values] = &[&[Some(1), Some(0), Some(3)]];
        assert!(compare_batches(wrong_value, right).unwrap_err().starts_with("column n, row 2: ours"));
        assert!(compare_batches(wrong_null, right).unwrap_err().starts_with("column n, row 1: ours"));
        assert_eq!(compare_batches(&right[..1], right).unwrap_err(), "ours ends at row 2, the peer goes on");
        assert_eq!(compare_batches(right, &right[..1]).unwrap_err(), "the peer ends at row 2, ours goes on");
    }
}
