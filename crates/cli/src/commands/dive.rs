//! `dive`: explores a file in the terminal.

use crate::failure::Failure;
use clap::Args as ClapArgs;
use std::io::{IsTerminal, stdin, stdout};
use std::path::PathBuf;

/// The arguments of `dive`.
#[derive(Debug, ClapArgs)]
pub(crate) struct DiveArgs {
    /// A Parquet file, or the URL of one: s3://, gs://, az://, http(s)://
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

/// Text after the options in `--help`.
pub(crate) const DIVE_HELP: &str = "\
Enter leads from the file to its schema, row groups, columns, pages, bytes and rows; Esc leads back, ? shows all keys,
q quits. Below each list is what the selected line means, with the section of the format's specification.

Only what is on the screen is read. Damaged parts, and parts without a key, show an error in their place. NO_COLOR
turns colours off. Output must be a terminal; explain and report write to files and pipes.

Examples:
  marquetry dive wines.parquet
  marquetry dive https://example.com/wines.parquet
  marquetry dive salaries.parquet --key-file keys.json";

pub(crate) fn run(args: &DiveArgs) -> Result<(), Failure> {
    let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    if !stdin().is_terminal() || !stdout().is_terminal() || is_dumb {
        let message =
            "dive needs a terminal; explain, report, meta and pages write what they find to files and pipes";
        return Err(Failure::Usage(message.to_owned()));
    }
    terminal::dive(&args.file)
}

#[cfg(feature = "dive")]
mod terminal {
    use crate::failure::Failure;
    use crate::spinner::Spinner;
    use crate::{file_name, keys, remote};
    use marquetry::arrow::arrow_reader::ArrowReaderMetadata;
    use marquetry::errors::Error;
    use marquetry_base::{CancelToken, Limits};
    use marquetry_dive::OpenedFile;
    use std::path::Path;

    pub(super) fn dive(path: &Path) -> Result<(), Failure> {
        let cancel = CancelToken::new();
        let limits = Limits::default().with_cancel(cancel.clone());
        let place = |error: Error| error.in_file(file_name::shown(path));
        let waiting = Spinner::new("reading the footer");
        let source = remote::source(path).map_err(place)?;
        let options = keys::reader_options().with_limits(limits.clone());
        let opened = ArrowReaderMetadata::load(source.clone(), options).map_err(place)?;
        drop(waiting);
        let colour = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        let file = OpenedFile::new(file_name::shown(path), source, opened, limits);
        Ok(marquetry_dive::run(file, colour, &cancel)?)
    }
}

#[cfg(not(feature = "dive"))]
mod terminal {
    use crate::failure::Failure;
    use std::path::Path;

    pub(super) fn dive(_: &Path) -> Result<(), Failure> {
        let message = "this build has no terminal program: `cargo install marquetry-cli` has, or in a checkout `cargo install --path crates/cli`";
        Err(Failure::Usage(message.to_owned()))
    }
}
