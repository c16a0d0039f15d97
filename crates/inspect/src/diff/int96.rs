//! Units of INT96 timestamps: those that do not fit in nanoseconds get a coarser unit, the same in both files.

use super::compared_columns::comparable;
use super::diff_file::DiffFile;
use super::options::DiffOptions;
use super::row_hash::nanoseconds;
use crate::columns::{Column, columns};
use crate::int96::fitting_int96;
use crate::reencode::{ColumnSource, Reencoder};
use arrow_schema::{DataType, TimeUnit};
use marquetry_arrow::arrow_reader::Int96Unit;
use marquetry_base::{Error, Result};
use marquetry_encoding::{PhysicalType, Values};
use std::collections::{HashMap, HashSet};

/// Returns both files, opened with [`Int96Unit::Auto`], with one unit for the INT96 timestamps of each compared column:
/// the finest that holds its values in both files. Each column has its own unit: one with a year 9999 takes no
/// nanoseconds from the others.
///
/// [`diff_rows`](crate::diff_rows) does the same. Callers that [read rows](DiffFile::rows_at) of both files get
/// comparable ones from these. Files that were opened with other options are unchanged.
///
/// Fails as comparing rows does.
pub fn with_fitting_int96(
    left: &DiffFile,
    right: &DiffFile,
    options: &DiffOptions,
) -> Result<(DiffFile, DiffFile)> {
    in_common_units(left, right, &comparable(left, right, options)?.0)
}

/// Does the same for the columns with these names.
pub(super) fn in_common_units(
    left: &DiffFile,
    right: &DiffFile,
    names: &[String],
) -> Result<(DiffFile, DiffFile)> {
    let (in_left, in_right) = (int96_columns(left, names)?, int96_columns(right, names)?);
    let mut units: HashMap<String, TimeUnit> = HashMap::new();
    for (file, columns) in [(left, &in_left), (right, &in_right)] {
        let numbers = columns.iter().map(|column| column.number);
        let fitting =
            fitting_int96(&file.source, &file.metadata, numbers).map_err(|error| file.named(error))?;
        for column in columns {
            if let Some(unit) = fitting.unit_of(file.metadata.parquet_schema().column(column.number)) {
                let known = units.entry(column.path.clone()).or_insert(unit);
                *known = unit.min(*known);
            }
        }
    }
    for (file, columns) in [(left, &in_left), (right, &in_right)] {
        for column in columns {
            if let Some(unit) = units.get(&column.path) {
                refuse_finer(file, column, *unit).map_err(|error| file.named(error))?;
            }
        }
    }
    Ok((in_units(left, &in_left, &units)?, in_units(right, &in_right, &units)?))
}

/// Returns the named columns of INT96 for which a fitting unit is wanted.
fn int96_columns(file: &DiffFile, names: &[String]) -> Result<Vec<Column>> {
    if file.options.int96() != Int96Unit::Auto {
        return Ok(Vec::new());
    }
    let names: HashSet<&str> = names.iter().map(String::as_str).collect();
    let mut all = columns(&file.metadata, None)?;
    all.retain(|column| {
        let leaf = file.metadata.parquet_schema().column(column.number);
        leaf.physical() == PhysicalType::Int96 && names.contains(column.path.as_str())
    });
    Ok(all)
}

/// Returns the file with these units for its columns.
fn in_units(file: &DiffFile, columns: &[Column], units: &HashMap<String, TimeUnit>) -> Result<DiffFile> {
    if file.options.int96() != Int96Unit::Auto {
        return Ok(file.clone());
    }
    let typed = columns.iter().filter_map(|column| {
        let unit = units.get(&column.path)?;
        Some((column.path.clone(), in_unit(column.field.data_type(), *unit)))
    });
    file.read_as(file.options.clone().with_int96(Int96Unit::Nanoseconds), typed.collect())
}

/// Returns the type with another unit for its timestamps.
fn in_unit(data_type: &DataType, unit: TimeUnit) -> DataType {
    match data_type {
        DataType::Timestamp(_, zone) => DataType::Timestamp(unit, zone.clone()),
        DataType::Dictionary(_, values) => in_unit(values, unit),
        other => other.clone(),
    }
}

/// Fails if a timestamp has a part that is finer than the unit: rows that differ only in that part would seem the same.
fn refuse_finer(file: &DiffFile, column: &Column, unit: TimeUnit) -> Result<()> {
    let metadata = file.metadata.metadata();
    let groups: Vec<usize> = (0..metadata.num_row_groups()).collect();
    let input = ColumnSource::new(file.source.clone(), metadata.clone());
    let step = nanoseconds(unit);
    let mut is_finer = false;
    Reencoder::new(&input, &groups, column.number, true).each_values(metadata.num_rows(), |values| {
        if let Values::Fixed(values) = values {
            is_finer = (0..values.len()).any(|i| {
                let nanos = values.get(i).first_chunk().map(|bytes| i64::from_le_bytes(*bytes));
                nanos.is_some_and(|nanos| nanos % step != 0)
            });
        }
        !is_finer
    })?;
    if is_finer {
        let message = format!(
            "column {} has INT96 timestamps beyond what nanoseconds reach, 1677 to 2262, and some with parts of {unit:?}s: \
             no unit holds all of them; leave it out, with the other columns",
            column.path
        );
        return Err(Error::unsupported(message));
    }
    Ok(())
}
