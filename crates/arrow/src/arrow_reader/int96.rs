//! Finding a unit that holds the INT96 timestamps of a file.

use super::ProjectionMask;
use super::options::{ArrowReaderOptions, Int96};
use super::reader::page_options;
use crate::leaf::int96_fits;
use arrow_schema::TimeUnit;
use marquetry_base::Result;
use marquetry_core::meta::ParquetMetaData;
use marquetry_core::nesting::Field;
use marquetry_core::read::{ColumnReader, Target};
use marquetry_core::source::Source;
use marquetry_encoding::{Physical, Values};
use std::sync::Arc;

/// Replaces [`Int96::Fitting`] by the finest unit that holds every value of the chosen INT96 columns. Returns whether
/// that is another unit than the schema was made with.
pub(super) fn fit(
    source: &Arc<dyn Source>,
    metadata: &Arc<ParquetMetaData>,
    row_groups: &[usize],
    projection: &ProjectionMask,
    options: &mut ArrowReaderOptions,
) -> Result<bool> {
    if options.int96 != Int96::Fitting {
        return Ok(false);
    }
    let mut unit = 0;
    let fields = Field::from_schema(metadata.schema());
    for (index, leaf) in metadata.schema().columns().iter().enumerate() {
        if leaf.physical() != Physical::Int96 || !projection.leaf_included(index) {
            continue;
        }
        let Some(field) = fields.iter().find(|field| field.has_leaf(index)) else {
            continue;
        };
        let mut column = ColumnReader::new(
            source.clone(),
            metadata.clone(),
            row_groups,
            index,
            Target::new(leaf, field, index, false),
            page_options(metadata, options),
        );
        let rows: u64 = row_groups
            .iter()
            .map(|&row_group| metadata.row_group(row_group).num_rows())
            .fold(0, u64::saturating_add);
        let mut left = usize::try_from(rows).unwrap_or(usize::MAX);
        while left > 0 {
            let rows = left.min(BATCH);
            left -= rows;
            let batch = column.read(rows)?;
            let Values::Fixed(values) = &batch.values else {
                continue;
            };
            let is_valid = |i| batch.validity.as_ref().is_none_or(|bits| bits.get(i));
            for i in (0..values.len()).filter(|&i| is_valid(i)) {
                while !int96_fits(values.get(i), UNITS[unit]) && unit + 1 < UNITS.len() {
                    unit += 1;
                }
            }
        }
    }
    options.int96 = if unit == 0 { Int96::Nanoseconds } else { Int96::Unit(UNITS[unit]) };
    Ok(unit > 0)
}

/// From fine to coarse.
const UNITS: [TimeUnit; 4] =
    [TimeUnit::Nanosecond, TimeUnit::Microsecond, TimeUnit::Millisecond, TimeUnit::Second];

const BATCH: usize = 8192;
