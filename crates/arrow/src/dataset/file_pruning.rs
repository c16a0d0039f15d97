//! Prunes files by their partition values, and by the columns that they lack.

use super::Dataset;
use super::data_file::DataFile;
use super::filter::{Rest, rest};
use super::schema::Plan;
use super::table_types::TableTypes;
use crate::arrow_reader::ArrowReaderMetadata;
use marquetry_base::{Error, Result};
use marquetry_core::predicate::Predicate;
use std::path::PathBuf;

/// What a filter needs of a file, see [`Dataset::needed`].
#[derive(Debug, Clone, PartialEq)]
pub enum Needed {
    /// No row: its partition values rule them out.
    Nothing,
    /// Every row.
    Everything,
    /// The rows for which this predicate is true, over the file's own columns.
    Rows(Predicate),
}

impl Dataset {
    /// Returns what the filter needs of each file, in the order of the files. Uses partition values, and the columns
    /// that a file lacks. Opens the first file, and those that their partition values do not rule out.
    pub fn needed(&self) -> Result<Vec<(PathBuf, Needed)>> {
        let plan = self.plan()?;
        let needed = |file: &DataFile| {
            let rest = match rest_of_file(&plan, file)? {
                rest @ Rest::Some(_) => rest_in_file(rest, &plan, self.builder(file)?.arrow_metadata())?,
                rest => rest,
            };
            Ok(match rest {
                Rest::None => Needed::Nothing,
                Rest::All => Needed::Everything,
                Rest::Some(predicate) => Needed::Rows(predicate),
            })
        };
        let each = self.choice.files.iter().map(|file| {
            let needed = needed(file).map_err(|error: Error| error.in_file(file.name()))?;
            Ok((file.path.clone(), needed))
        });
        each.collect()
    }
}

/// Returns what the filter needs of a file, by its partition values.
pub(super) fn rest_of_file(plan: &Plan, file: &DataFile) -> Result<Rest> {
    match &plan.predicate {
        Some(predicate) => rest(predicate, &|name| plan.partition(file, name)),
        None => Ok(Rest::All),
    }
}

/// Returns what the filter needs of a file with these columns, as a predicate over the file's own types.
pub(super) fn rest_in_file(rest_of_file: Rest, plan: &Plan, metadata: &ArrowReaderMetadata) -> Result<Rest> {
    let Rest::Some(predicate) = rest_of_file else { return Ok(rest_of_file) };
    let (schema, names) = (metadata.parquet_schema(), plan.names(metadata.schema().fields()));
    match rest(&predicate, &|name| plan.missing(schema, &names, name))? {
        Rest::Some(predicate) => {
            let types = TableTypes { table: &plan.predicate_types, names: &names };
            let predicate = types.predicate_of_file(&predicate)?;
            names.predicate_of_file(predicate).map(Rest::Some)
        }
        other => Ok(other),
    }
}
