//! Rows on their way from the input to the output: sorted, and in parts as the output takes them.

use crate::args::Target;
use crate::convert::{Part, Progress, Total, formatted};
use crate::failure::Failure;
use crate::inputs::Batches;
use crate::sort::{self, Budget, Keys, SortKey};
use arrow_schema::SchemaRef;
use marquetry_text::format;
use std::num::NonZeroUsize;

/// The rows in the order of `keys`, without the columns that are not `kept`.
pub(super) fn sorted_rows(
    batches: Batches,
    schema: &SchemaRef,
    keys: Vec<SortKey>,
    kept: Vec<usize>,
    budget: Budget,
    progress: &mut Progress,
) -> Result<Batches, Failure> {
    progress.begin("sorting ", None);
    let advance = |rows| progress.advance(rows);
    let sorted = sort::sorted(batches, schema, Keys::new(keys)?, budget, advance)?;
    progress.begin("writing ", Some(Total::Rows(progress.rows())));
    Ok(match kept.len() == schema.fields().len() {
        true => sorted,
        false => Box::new(sorted.map(move |batch| Ok(batch?.project(&kept)?))),
    })
}

/// Batches of `columns` columns, of which another one is the first.
pub(super) fn with_column_first(batches: Batches, first: usize, columns: usize) -> Batches {
    let others = (0..columns).filter(|at| *at != first);
    let order: Vec<usize> = std::iter::once(first).chain(others).collect();
    Box::new(batches.map(move |batch| Ok(batch?.project(&order)?)))
}

/// The rows as the output takes them.
pub(super) fn parts(
    batches: Batches,
    target: Target,
    threads: NonZeroUsize,
) -> Box<dyn Iterator<Item = Result<Part, Failure>>> {
    match target {
        Target::Csv => Box::new(formatted(batches, format::csv::write_lines, threads)),
        Target::Jsonl => Box::new(formatted(batches, format::json::write_lines, threads)),
        Target::Geojson => Box::new(formatted(batches, format::geojson::write_features, threads)),
        Target::Parquet | Target::Arrow => Box::new(batches.map(|batch| batch.map(Part::Rows))),
    }
}
