//! Rows on their way to the output: sorted, and split as the output takes them.

use crate::args::Target;
use crate::convert::{Part, Progress, Total, formatted};
use crate::failure::Failure;
use crate::inputs::Batches;
use crate::keys::{self, EncryptArgs};
use crate::sort::{self, Budget, Keys, SortKey};
use arrow_schema::SchemaRef;
use marquetry_core::write::{SealedSpills, SpillFolder, SpillStore};
use marquetry_text::format;
use std::num::NonZeroUsize;
use std::sync::Arc;

/// Sorts the rows by `keys`, and drops the columns that are not `kept`.
pub(super) fn sorted_rows(
    batches: Batches,
    schema: &SchemaRef,
    keys: Vec<SortKey>,
    kept: Vec<usize>,
    budget: Budget,
    encrypt: &EncryptArgs,
    progress: &mut Progress,
) -> Result<Batches, Failure> {
    progress.begin("sorting ", None);
    let advance = |rows| progress.advance(rows);
    let store = spills(encrypt.is_asked());
    let sorted = sort::sorted(batches, schema, Keys::new(keys)?, budget, store, advance)?;
    progress.begin("writing ", Some(Total::Rows(progress.rows())));
    Ok(match kept.len() == schema.fields().len() {
        true => sorted,
        false => Box::new(sorted.map(move |batch| Ok(batch?.project(&kept)?))),
    })
}

/// The store of spilled rows, which is encrypted if the output is, or if keys were given.
pub(super) fn spills(is_encrypted: bool) -> Arc<dyn SpillStore> {
    let folder = Arc::new(SpillFolder::system());
    match keys::seal_spills(is_encrypted) {
        true => Arc::new(SealedSpills::new(folder)),
        false => folder,
    }
}

/// Batches of `columns` columns, with column `first` moved to the front.
pub(super) fn with_column_first(batches: Batches, first: usize, columns: usize) -> Batches {
    let others = (0..columns).filter(|at| *at != first);
    let order: Vec<usize> = std::iter::once(first).chain(others).collect();
    Box::new(batches.map(move |batch| Ok(batch?.project(&order)?)))
}

/// Formats the rows for the output.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_are_written_encrypted_wait_so() {
        assert!(format!("{:?}", spills(true)).starts_with("SealedSpills"));
        assert!(format!("{:?}", spills(false)).starts_with("SpillFolder"), "nothing else is slower");
    }
}
