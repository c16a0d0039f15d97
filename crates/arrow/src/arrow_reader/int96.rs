//! Finds units that hold the INT96 timestamps of a file, one for each column.

use super::ProjectionMask;
use super::loss::OnCorrupt;
use super::options::{ArrowReaderOptions, Int96Unit};
use super::read_target::page_options;
use crate::convert::int96_fits;
use crate::schema::Int96Units;
use arrow_schema::TimeUnit;
use marquetry_base::Result;
use marquetry_core::fetch::chunk_ranges;
use marquetry_core::metadata::ParquetMetaData;
use marquetry_core::nesting::NestedField;
use marquetry_core::read::{ColumnReader, ReadTarget, ValueLayout, find_damage};
use marquetry_core::source::Source;
use marquetry_encoding::{PhysicalType, Values};
use std::sync::Arc;

/// Replaces [`Int96Unit::Auto`] by the finest unit of each chosen INT96 column that holds all its values. Returns
/// whether any unit is coarser than nanoseconds, so that the schema must be made again.
pub(super) fn fit(
    source: &Arc<dyn Source>,
    metadata: &Arc<ParquetMetaData>,
    row_groups: &[usize],
    projection: &ProjectionMask,
    options: &mut ArrowReaderOptions,
) -> Result<bool> {
    if options.int96 != Int96Unit::Auto {
        return Ok(false);
    }
    let mut units = Int96Units::default();
    for (index, leaf) in metadata.schema().columns().iter().enumerate() {
        if leaf.physical() != PhysicalType::Int96 || !projection.leaf_included(index) {
            continue;
        }
        let Some(field) = NestedField::from_root(metadata.schema(), leaf.root()) else { continue };
        let mut unit = 0;
        // All chunks at once: any of them may need a coarser unit.
        let chunks = row_groups.iter().flat_map(|&row_group| chunk_ranges(metadata, row_group, &[index]));
        source.prefetch(&chunks.collect::<Vec<_>>())?;
        let target = ReadTarget::new(leaf, &field, index, ValueLayout::Native);
        let page_options = page_options(metadata, options);
        let reader = |row_groups: &[usize]| {
            let (source, metadata) = (source.clone(), metadata.clone());
            ColumnReader::new(source, metadata, row_groups, index, target.clone(), page_options.clone())
        };
        // Where damage is not an error, each row group is read by itself, so that a damaged one is read as far as possible.
        let at_once = match options.on_corrupt {
            OnCorrupt::Fail => row_groups.len().max(1),
            _ => 1,
        };
        for row_group in row_groups.chunks(at_once) {
            let read = coarsen(reader(row_group), rows_of(metadata, row_group), &mut unit);
            if let Err(error) = read {
                if options.on_corrupt == OnCorrupt::Fail || !error.is_damage() {
                    return Err(error);
                }
                let found = find_damage(source, metadata, row_group[0], index, &target, &page_options)?;
                let (source, metadata) = (source.clone(), metadata.clone());
                let (target, options, rows) = (target.clone(), page_options.clone(), found.rows());
                let found = Arc::new(found);
                let reader = ColumnReader::new(source, metadata, &[row_group[0]], index, target, options)
                    .with_damage(found);
                coarsen(reader, rows, &mut unit)?;
            }
        }
        if unit > 0 {
            units.coarsen(leaf, UNITS[unit]);
        }
    }
    let is_other = !units.is_empty();
    options.int96 = Int96Unit::Nanoseconds;
    options.types.int96_units = units;
    Ok(is_other)
}

fn rows_of(metadata: &ParquetMetaData, row_groups: &[usize]) -> u64 {
    let rows = row_groups.iter().map(|&row_group| metadata.row_group(row_group).num_rows());
    rows.fold(0, u64::saturating_add)
}

/// Makes the unit coarser until it holds all values of the next `rows` rows.
fn coarsen(mut column: ColumnReader, rows: u64, unit: &mut usize) -> Result<()> {
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
            while !int96_fits(values.get(i), UNITS[*unit]) && *unit + 1 < UNITS.len() {
                *unit += 1;
            }
        }
    }
    Ok(())
}

/// From fine to coarse.
const UNITS: [TimeUnit; 4] =
    [TimeUnit::Nanosecond, TimeUnit::Microsecond, TimeUnit::Millisecond, TimeUnit::Second];

const BATCH: usize = 8192;
