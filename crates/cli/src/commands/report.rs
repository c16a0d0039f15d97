//! `report`: an HTML page that shows where the bytes of files are.

use super::explain::advice_for;
use crate::args::{Files, condition};
use crate::failure::{Failure, Outcome};
use crate::file_name;
use crate::keys;
use crate::output::Output;
use crate::report_file::ReportFile;
use clap::{Args as ClapArgs, ValueEnum};
use marquetry::OpenFile;
use marquetry::arrow::arrow_reader::{ArrowReaderMetadata, ChunkReader};
use marquetry::predicate::Predicate;
use marquetry_base::Limits;
use marquetry_inspect::file_layout;
use marquetry_report::{ReportOptions, ReportedFile, SkippedRows, write_report};
use marquetry_verify::{Level, VerifyOptions, verify};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

#[derive(Debug, ClapArgs)]
pub(crate) struct ReportArgs {
    #[command(flatten)]
    files: Files,
    /// The HTML file to write; `-` is standard output
    #[arg(long, short, value_name = "OUT.html")]
    output: PathBuf,
    /// Show what this predicate prunes, as after WHERE in SQL
    #[arg(long = "where", value_name = "CONDITION", value_parser = condition, allow_hyphen_values = true)]
    condition: Option<Predicate>,
    /// How thoroughly to check the rules of the format
    #[arg(long, value_enum, value_name = "LEVEL", default_value_t = Checks::Quick)]
    verify: Checks,
    /// Do not show bounds as text; they are values of the file
    #[arg(long)]
    no_values: bool,
    /// Replace OUT.html if it exists
    #[arg(long)]
    overwrite: bool,
}

/// What is checked for the report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Checks {
    /// Not at all
    None,
    /// Metadata only
    Quick,
    /// Also all pages and their checksums
    Default,
    /// Also all values
    Deep,
}

impl Checks {
    fn level(self) -> Option<Level> {
        match self {
            Checks::None => None,
            Checks::Quick => Some(Level::Quick),
            Checks::Default => Some(Level::Default),
            Checks::Deep => Some(Level::Deep),
        }
    }
}

pub(crate) const REPORT_HELP: &str = "\
The page is self-contained: style, script and data are in it, and it loads nothing. It shows what every byte of a file
is for; a map to scale from the file down to each page, for wheel, mouse and keyboard; sizes, encodings and codecs of
columns; where bounds of row groups overlap, which decides what a filter can skip; and what breaks the format's rules.
With --where it shows what is skipped, and by what.

Bounds are values: without --no-values the page contains some of the files' values. File names are shown as given,
without directories, and without users, passwords and queries of URLs.

Examples:
  marquetry report wines.parquet -o wines.html
  marquetry report 'data/*.parquet' -o data.html --where \"country = 'DE' and amount > 100\"
  marquetry report wines.parquet -o wines.html --verify deep --no-values";

pub(crate) fn run(args: &ReportArgs, output: &mut Output, outcome: &mut Outcome) -> Result<(), Failure> {
    let inputs: Vec<&Path> = args.files.files.iter().map(PathBuf::as_path).collect();
    let to_stdout = args.output.as_os_str() == "-";
    let mut page = match to_stdout {
        true => None,
        false => Some(ReportFile::create(&args.output, inputs, None, Some(args.overwrite))?),
    };
    let mut files = Vec::new();
    args.files.for_each(outcome, |path, file| {
        files.push(args.look(path, file)?);
        Ok(())
    })?;
    if files.is_empty() {
        // The reasons were reported for each file; an existing page is not replaced.
        return Ok(());
    }
    let options = ReportOptions::default().with_values(!args.no_values);
    match &mut page {
        Some(page) => write_report(&files, &options, page)?,
        None => write_report(&files, &options, output)?,
    }
    match page {
        Some(mut page) => {
            page.flush()?;
            page.finish()
        }
        None => Ok(()),
    }
}

impl ReportArgs {
    fn look(&self, path: &Path, file: OpenFile) -> Result<ReportedFile, Failure> {
        reported(name_of(path), file, self.condition.as_ref(), self.verify.level())
    }
}

/// The report on a file that is called `name`.
pub(super) fn reported(
    name: String,
    file: OpenFile,
    condition: Option<&Predicate>,
    level: Option<Level>,
) -> Result<ReportedFile, Failure> {
    let advice = condition.map(|condition| advice_for(&file, condition)).transpose()?;
    let source = file.into_source()?;
    let metadata = ArrowReaderMetadata::load(source.clone(), keys::reader_options())?;
    let layout = file_layout(&source, metadata.metadata(), &Arc::new(Limits::default()))?;
    let skipped =
        condition.map(|condition| SkippedRows::of(&*source, metadata.metadata(), condition)).transpose()?;
    let mut reported = ReportedFile::new(name, metadata, layout).with_advice(advice.unwrap_or_default());
    if let Some(skipped) = skipped {
        reported = reported.with_skipped_rows(skipped);
    }
    if let Some(level) = level {
        let options = VerifyOptions::default().with_level(level).with_decryption(keys::given());
        reported = reported.with_findings(verify(source, &options)?.findings);
    }
    Ok(reported)
}

/// The name of a file without its directory, which does not concern readers of the page.
fn name_of(path: &Path) -> String {
    let shown = file_name::shown(path);
    let name = Path::new(&shown).file_name().map(|name| name.to_string_lossy().into_owned());
    name.unwrap_or(shown)
}
