//! Projects and limits inputs that cannot do so themselves.

use super::chosen_fields::ChosenFields;
use super::input::{Batches, Input, InputOptions};
use crate::convert::{plain_batch, plain_schema};
use crate::failure::Failure;
use arrow_array::RecordBatch;

/// The wanted columns and rows, in layouts that the output supports.
pub(super) fn project(input: Input, wanted: &InputOptions<'_>) -> Result<Input, Failure> {
    let Input { mut schema, mut batches, .. } = input;
    if let Some(columns) = wanted.selection.columns() {
        let chosen = ChosenFields::new(&schema, &columns)?;
        schema = chosen.schema.clone();
        batches = Box::new(batches.map(move |batch| Ok(chosen.of(&batch?)?)));
    }
    let (offset, limit) = (wanted.selection.offset, wanted.limit);
    if offset > 0 || limit.is_some() {
        batches = rows(batches, offset, limit.unwrap_or(usize::MAX));
    }
    if wanted.plain && plain_schema(&schema) != schema {
        schema = plain_schema(&schema);
        let to = schema.clone();
        batches = Box::new(batches.map(move |batch| Ok(plain_batch(&batch?, &to)?)));
    }
    let rows =
        input.rows.map(|rows| rows.saturating_sub(offset as u64).min(limit.map_or(u64::MAX, |n| n as u64)));
    Ok(Input { schema, batches, rows, ..input })
}

fn rows(mut batches: Batches, mut offset: usize, mut limit: usize) -> Batches {
    Box::new(std::iter::from_fn(move || {
        loop {
            if limit == 0 {
                return None;
            }
            let batch: RecordBatch = match batches.next()? {
                Ok(batch) => batch,
                Err(failure) => return Some(Err(failure)),
            };
            let skipped = offset.min(batch.num_rows());
            offset -= skipped;
            let taken = limit.min(batch.num_rows() - skipped);
            if taken > 0 {
                limit -= taken;
                return Some(Ok(batch.slice(skipped, taken)));
            }
        }
    }))
}
