//! Some columns and some rows of an input that cannot leave out the others by itself.

use super::input::{Batches, Input, InputOptions};
use crate::convert::{plain_batch, plain_schema};
use crate::failure::Failure;
use arrow_array::RecordBatch;
use arrow_schema::Schema;
use marquetry::schema::no_such_column;

/// The wanted columns and rows, in layouts that the output knows.
pub(super) fn project(input: Input, wanted: &InputOptions<'_>) -> Result<Input, Failure> {
    let Input { mut schema, mut batches, .. } = input;
    if let Some(columns) = wanted.selection.columns() {
        let chosen = chosen(&schema, &columns)?;
        schema = std::sync::Arc::new(schema.project(&chosen)?);
        batches = Box::new(batches.map(move |batch| Ok(batch?.project(&chosen)?)));
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

/// The columns of these names, in this order, each once.
fn chosen(schema: &Schema, columns: &[String]) -> Result<Vec<usize>, Failure> {
    let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
    let mut chosen = Vec::new();
    for column in columns {
        let at = names.iter().position(|name| name == column);
        let at = at.ok_or_else(|| no_such_column(column, names.iter().copied()))?;
        if !chosen.contains(&at) {
            chosen.push(at);
        }
    }
    Ok(chosen)
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
