//! Prints the result of a rewrite: sizes, notes, errors.

use super::ColumnLog;
use crate::convert::{Before, SizeReport};
use crate::failure::{Failure, Outcome};
use crate::output::Output;
use marquetry::file::metadata::ParquetMetaData;
use serde_json::Value;
use std::path::Path;

/// Prints the bytes of each column before and after, and what was done to it. `path` is the new file.
pub(crate) fn print_report(
    path: &Path,
    metadata: &ParquetMetaData,
    size: u64,
    before: &[u64],
    log: &ColumnLog,
    output: &mut Output,
) -> Result<(), Failure> {
    let leaves = metadata.schema().columns().iter().map(|leaf| leaf.dotted().clone());
    let before = Before::InFile(leaves.zip(before.iter().copied()).collect());
    print_report_of(path, metadata, size, before, log, output)
}

/// As [`print_report`], if columns had other names before.
pub(crate) fn print_report_of(
    path: &Path,
    metadata: &ParquetMetaData,
    size: u64,
    before: Before,
    log: &ColumnLog,
    output: &mut Output,
) -> Result<(), Failure> {
    let report = SizeReport::new(metadata, before, log.actions())?;
    if output.is_json() {
        let mut value = report.json(path, size);
        if let Value::Object(members) = &mut value {
            members.insert("notes".to_owned(), log.json());
        }
        return Ok(output.json(&value)?);
    }
    report.print(path, size, output)?;
    log.print(output)
}

/// Reports a failure with its file, which is `path` if the error names none. Returns only failures that concern no file.
pub(crate) fn report_failure(path: &Path, failure: Failure, outcome: &mut Outcome) -> Result<(), Failure> {
    match &failure {
        Failure::ClosedPipe => return Err(failure),
        Failure::File(error) => match &error.place().file {
            Some(file) => outcome.report(Some(Path::new(&**file)), &failure),
            None => outcome.report(Some(path), &failure),
        },
        Failure::Usage(_)
        | Failure::UsageOf(..)
        | Failure::Check(_)
        | Failure::CheckOf(..)
        | Failure::Write(_) => outcome.report(None, &failure),
    }
    Ok(())
}
