//! Applies a predicate to the readable rows of a damaged file.
//!
//! ```text
//! whole rows of all columns -> the predicate, where a lost value is null -> the rows that it wants -> batch
//! ```
//!
//! Nothing is pruned: the same rows are lost with and without a predicate, and the statistics of a damaged file need not be true.

use super::ProjectionMask;
use super::null_padding::NullPadded;
use super::read_plan::ReadPlan;
use super::root_reader::{BatchBuffers, RootError, RootReader};
use super::salvage::{SalvageReader, SalvagedRows};
use crate::convert::boolean_buffer;
use arrow_array::BooleanArray;
use marquetry_base::Result;
use marquetry_core::predicate::{BoundPredicate, LeafValues};
use marquetry_core::read::ColumnBatch;
use marquetry_core::schema::Schema;
use marquetry_encoding::Bitmap;
use std::borrow::Cow;

/// A predicate over the readable rows, with offset and limit.
pub(super) struct SalvageFilter {
    predicate: BoundPredicate,
    /// How many of the reader's roots are in batches. The roots after them are read for the predicate alone.
    pub(super) given: usize,
    /// Matching rows that are still to be skipped, and those still to be returned.
    offset: usize,
    pub(super) limit: usize,
}

/// Which rows of a batch are returned.
pub(super) struct FilterOutcome {
    /// One for each row that was read.
    pub(super) keep: BooleanArray,
    /// How many rows are returned, and how many matching rows are skipped before them.
    pub(super) rows: usize,
    passed: usize,
}

impl SalvageFilter {
    /// Takes predicate, offset and limit out of a plan, so that the plan reads all rows. Batches have the first `given` roots.
    pub(super) fn of(plan: &mut ReadPlan, given: usize) -> Option<Self> {
        let predicate = plan.predicate.take()?;
        let offset = std::mem::take(&mut plan.offset);
        let limit = std::mem::replace(&mut plan.limit, usize::MAX);
        Some(SalvageFilter { predicate, given, offset, limit })
    }

    /// Returns whether it needs the values of a column.
    pub(super) fn looks_at(&self, leaf: usize) -> bool {
        self.predicate.leaves().binary_search(&leaf).is_ok()
    }

    /// Returns the columns that are read for it alone.
    pub(super) fn others(&self, schema: &Schema, projection: &ProjectionMask) -> ProjectionMask {
        let leaves = self.predicate.leaves().iter().copied();
        ProjectionMask::leaves(schema, leaves.filter(|leaf| !projection.leaf_included(*leaf)))
    }

    /// Evaluates the predicate on the chosen rows, whose columns are all in `buffers`.
    pub(super) fn outcome(
        &self,
        salvage: &SalvageReader,
        roots: &[RootReader],
        buffers: &BatchBuffers,
        chosen: &SalvagedRows,
    ) -> Result<FilterOutcome, RootError> {
        let mut expanded = Vec::new();
        for (number, root) in roots.iter().enumerate() {
            for (leaf, _, target) in root.columns.iter().filter(|column| self.looks_at(column.0)) {
                let failed = |error| RootError { root: number, leaf: None, error };
                let batch = buffers.batch(*leaf).map_err(failed)?;
                let gaps = salvage.with_gaps(number, batch, target, chosen);
                expanded.push((*leaf, batch, batch.levels_as_bytes(), gaps.map_err(failed)?));
            }
        }
        let columns: Vec<_> = expanded
            .iter()
            .map(|(leaf, batch, levels, gaps)| (*leaf, values_of(batch, levels, gaps.as_ref())))
            .collect();
        let rows = chosen.rows();
        let wanted = self.predicate.evaluate(rows, &columns);
        Ok(self.cut(wanted.map_err(|error| RootError { root: 0, leaf: None, error })?))
    }

    /// Removes the rows before the offset and those after the limit.
    fn cut(&self, wanted: Bitmap) -> FilterOutcome {
        let count = wanted.count_ones(0..wanted.len());
        let passed = count.min(self.offset);
        let rows = (count - passed).min(self.limit);
        let keep = match rows == count {
            true => wanted,
            false => {
                let mut number = 0;
                let is_given = |row| {
                    let is_wanted = wanted.get(row);
                    number += usize::from(is_wanted);
                    is_wanted && (passed + 1..=passed + rows).contains(&number)
                };
                (0..wanted.len()).map(is_given).collect()
            }
        };
        FilterOutcome { keep: BooleanArray::new(boolean_buffer(keep), None), rows, passed }
    }

    /// Counts the rows of a batch that was made.
    pub(super) fn note(&mut self, outcome: &FilterOutcome) {
        self.offset -= outcome.passed;
        self.limit -= outcome.rows;
    }
}

fn values_of<'a>(
    batch: &'a ColumnBatch,
    (def, rep): &'a (Cow<'_, [u8]>, Cow<'_, [u8]>),
    gaps: Option<&'a NullPadded>,
) -> LeafValues<'a> {
    let dictionary = batch.dictionary.as_deref();
    match gaps {
        Some(NullPadded { values, validity, def, rep }) => {
            LeafValues::flat(values, Some(validity)).with_dictionary(dictionary).with_levels(def, rep)
        }
        None => {
            let validity = batch.validity.as_ref().filter(|_| batch.nulls() > 0);
            LeafValues::flat(&batch.values, validity).with_dictionary(dictionary).with_levels(def, rep)
        }
    }
}
