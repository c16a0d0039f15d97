//! The loss report of damaged files: lines on standard error, and a file.

use crate::args::Selection;
use crate::failure::{Failure, line};
use crate::file_name;
use crate::report_file::ReportFile;
use marquetry::arrow::arrow_reader::{Loss, LossReport};
use marquetry_base::counted;
use serde_json::{Value, json};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Where losses are reported.
pub(crate) struct Losses {
    file: Option<ReportFile>,
    /// Whether any file was reported, even one without losses.
    is_told: bool,
}

impl Losses {
    /// Creates the report file, if one is wanted. Fails if it is one of the files `inputs`, or `output`, or exists already.
    pub(crate) fn new(
        selection: &Selection,
        inputs: &[PathBuf],
        output: Option<&Path>,
    ) -> Result<Self, Failure> {
        let inputs = || inputs.iter().map(PathBuf::as_path);
        let create = |path: &PathBuf| ReportFile::create(path, inputs(), output, None);
        Ok(Losses { file: selection.loss_report.as_ref().map(create).transpose()?, is_told: false })
    }

    /// Gives the report file its name, if losses were reported, which also happens after failures. `outcome` is the
    /// result of reading the rows.
    pub(crate) fn finish(self, outcome: Result<(), Failure>) -> Result<(), Failure> {
        let finished = match self.file {
            Some(file) if self.is_told => file.finish(),
            _ => Ok(()),
        };
        outcome.and(finished)
    }

    /// Reports the losses of files. Any loss is a failure.
    pub(crate) fn tell(&mut self, reports: &[(PathBuf, LossReport)]) -> Result<(), Failure> {
        self.is_told = true;
        let (mut rows, mut nulls) = (0, 0);
        for (path, report) in reports {
            if let Some(file) = &mut self.file {
                writeln!(file, "{}", json_of(path, report))?;
            }
            for loss in &report.losses {
                // There is nowhere left to report that this failed.
                let _ = writeln!(io::stderr(), "{}", line(Some(path), format_args!("lost: {loss}")));
            }
            rows += report.rows_left_out;
            nulls += report.values_made_null;
        }
        match reports.iter().all(|(_, report)| report.is_empty()) {
            true => Ok(()),
            false => Err(Failure::Check(format!(
                "{} left out, {} made null",
                counted(rows, "row"),
                counted(nulls, "value")
            ))),
        }
    }

    /// Reports the losses of files before one failed.
    pub(crate) fn before(
        &mut self,
        reports: &[(PathBuf, LossReport)],
        failure: impl Into<Failure>,
    ) -> Failure {
        match self.tell(reports) {
            Err(failure @ (Failure::Write(_) | Failure::ClosedPipe)) => failure,
            _ => failure.into(),
        }
    }
}

fn json_of(path: &Path, report: &LossReport) -> Value {
    let loss = |loss: &Loss| {
        json!({
            "row_group": loss.row_group,
            "column": &*loss.column,
            "page": loss.page,
            "first_row": loss.rows.start,
            "end_row": loss.rows.end,
            "first_byte": loss.bytes.start,
            "end_byte": loss.bytes.end,
            "reason": loss.reason,
        })
    };
    json!({
        "file": file_name::shown(path),
        "rows_left_out": report.rows_left_out,
        "values_made_null": report.values_made_null,
        "losses": report.losses.iter().map(loss).collect::<Vec<_>>(),
    })
}
