//! An HTML page that shows where the bytes of files are.

use crate::encryption::Decryption;
use crate::options::Options;
use crate::source::{Input, named};
use crate::work::run;
use marquetry::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use marquetry::errors::{CancelToken, Error, Limits, Result};
use marquetry::file::AtomicFile;
use marquetry::predicate::Predicate;
use marquetry::verify::{Level, VerifyOptions};
use marquetry_inspect::file_layout;
use marquetry_report::{ReportOptions, ReportedFile, SkippedRows, write_report};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::PathBuf;
use std::sync::Arc;

/// Writes an HTML page about files, which are given with the names to show.
#[pyfunction]
#[pyo3(signature = (sources, target, options=None))]
pub(crate) fn report(
    py: Python<'_>,
    sources: Vec<(String, Bound<'_, PyAny>)>,
    target: PathBuf,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<()> {
    let options = Options::new(py, options)?;
    let cancel = CancelToken::new();
    let shown = ReportOptions::default().with_values(options.take("values")?.unwrap_or(true));
    let look = Look {
        filter: options.parsed("filter", Predicate::parse)?,
        level: options.parsed("level", level)?.unwrap_or(Some(Level::Quick)),
        reader: ArrowReaderOptions::new().with_limits(Limits::default().with_cancel(cancel.clone())),
        keys: options.take("decryption")?,
        limits: Arc::new(Limits::default().with_cancel(cancel.clone())),
    };
    options.finish()?;
    let mut inputs = Vec::new();
    for (name, source) in &sources {
        inputs.push((name.clone(), Input::new(source)?));
    }
    run(py, &cancel, move || {
        let mut files = Vec::new();
        for (name, input) in inputs {
            let place = input.name();
            files.push(look.at(name, input).map_err(|error| named(error, place))?);
        }
        let mut page = AtomicFile::create(&target)?;
        write_report(&files, &shown, &mut page)?;
        page.finish()
    })
}

/// What to report on each file.
struct Look {
    filter: Option<Predicate>,
    level: Option<Level>,
    reader: ArrowReaderOptions,
    keys: Option<Py<Decryption>>,
    limits: Arc<Limits>,
}

impl Look {
    fn at(&self, name: String, input: Input) -> Result<ReportedFile> {
        let keys = self.keys.as_ref().map(|keys| keys.get().properties());
        let source = input.open()?;
        let mut reader = self.reader.clone();
        if let Some(keys) = &keys {
            reader = reader.with_file_decryption_properties(keys.clone());
        }
        let metadata = ArrowReaderMetadata::load(source.clone(), reader)?;
        let layout = file_layout(&source, metadata.metadata(), &self.limits)?;
        let skipped =
            self.filter.as_ref().map(|filter| SkippedRows::of(&*source, metadata.metadata(), filter));
        let mut reported = ReportedFile::new(name, metadata, layout);
        if let Some(skipped) = skipped.transpose()? {
            reported = reported.with_skipped_rows(skipped);
        }
        if let Some(level) = self.level {
            let mut options = VerifyOptions::default().with_level(level).with_decryption(keys);
            options = options.with_limits((*self.limits).clone());
            reported = reported.with_findings(marquetry::verify::verify(source, &options)?.findings);
        }
        Ok(reported)
    }
}

/// The level at which the rules of the format are checked; `None` for no check.
fn level(name: &str) -> Result<Option<Level>> {
    let levels = [Level::Quick, Level::Default, Level::Deep];
    match levels.into_iter().find(|level| level.name() == name) {
        None if name != "none" => {
            Err(Error::argument(format!("verify is {name}, and should be none, quick, default or deep")))
        }
        level => Ok(level),
    }
}
