//! Some columns and some rows of an input that cannot leave out the others by itself.

use super::{Batches, Input, Wanted};
use crate::convert::{plain_batch, plain_schema};
use crate::failure::Failure;
use arrow_array::RecordBatch;
use arrow_schema::{Schema, SchemaRef};
use marquetry::errors::Error;

/// The wanted columns and rows, in layouts that the output knows.
pub(super) fn choose(input: Input, wanted: &Wanted<'_>) -> Result<Input, Failure> {
    let Input { mut schema, mut batches, .. } = input;
    if let Some(columns) = &wanted.selection.columns {
        let chosen = chosen(&schema, columns)?;
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

/// The columns of these names, in the order of the input.
fn chosen(schema: &Schema, columns: &[String]) -> Result<Vec<usize>, Failure> {
    let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
    if let Some(missing) = columns.iter().find(|column| !names.contains(&column.as_str())) {
        let all = names.join(", ");
        return Err(Error::argument(format!("no column {missing}, there are {all}")).into());
    }
    Ok((0..names.len()).filter(|i| columns.iter().any(|column| column == names[*i])).collect())
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

/// The schema with a name for every column, and none twice.
pub(super) fn with_unique_names(schema: &Schema) -> SchemaRef {
    let mut names: Vec<String> = Vec::new();
    for (i, field) in schema.fields().iter().enumerate() {
        let name = if field.name().is_empty() { format!("C{i}") } else { field.name().clone() };
        let others = |name: &String| {
            names.contains(name) || schema.fields().iter().skip(i + 1).any(|field| field.name() == name)
        };
        let is_free = |name: &String| !names.contains(name);
        let name = match is_free(&name) {
            true => name,
            false => {
                let numbered = (1..).map(|n| format!("{name}_{n}"));
                numbered.into_iter().find(|name| !others(name)).unwrap_or(name)
            }
        };
        names.push(name);
    }
    let fields =
        schema.fields().iter().zip(names).map(|(field, name)| field.as_ref().clone().with_name(name));
    std::sync::Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}
