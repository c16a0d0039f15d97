//! What is lost of damaged files: lines on standard error, and a file.

use crate::args::Selection;
use crate::failure::{Failure, line};
use marquetry::arrow::arrow_reader::{Loss, LossReport};
use serde_json::{Value, json};
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

/// Where losses are told.
pub(crate) struct Losses {
    file: Option<File>,
}

impl Losses {
    /// Creates the file that is to have them, if there is one.
    pub(crate) fn new(selection: &Selection) -> Result<Self, Failure> {
        Ok(Losses { file: selection.loss_report.as_ref().map(File::create).transpose()? })
    }

    /// Tells what a file has lost. That anything is, is a failure.
    pub(crate) fn tell(&mut self, path: &Path, report: &LossReport) -> Result<(), Failure> {
        if let Some(file) = &mut self.file {
            writeln!(file, "{}", json_of(path, report))?;
        }
        if report.is_empty() {
            return Ok(());
        }
        for loss in &report.losses {
            // There is nowhere left to say that this failed.
            let _ = writeln!(io::stderr(), "{}", line(Some(path), format_args!("lost: {loss}")));
        }
        let (rows, nulls) = (report.rows_left_out, report.values_made_null);
        Err(Failure::Check(format!("{rows} rows left out, {nulls} values made null")))
    }
    /// Tells what a file had lost before it failed.
    pub(crate) fn before(
        &mut self,
        path: &Path,
        report: &LossReport,
        failure: impl Into<Failure>,
    ) -> Failure {
        match self.tell(path, report) {
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
        "file": path.display().to_string(),
        "rows_left_out": report.rows_left_out,
        "values_made_null": report.values_made_null,
        "losses": report.losses.iter().map(loss).collect::<Vec<_>>(),
    })
}
