//! `lint`: checks files by a team's own rules.

use super::verify::{Job, check_files};
use crate::args::Files;
use crate::failure::{Failure, Outcome};
use crate::file_name;
use crate::output::Output;
use clap::Args as ClapArgs;
use marquetry::errors::Error;
use marquetry_verify::LintProfile;
use std::path::{Path, PathBuf};

/// The arguments of `lint`.
#[derive(Debug, ClapArgs)]
pub(crate) struct LintArgs {
    #[command(flatten)]
    files: Files,
    /// The profile. Default: the .marquetry.toml of this directory or of the nearest parent that has one
    #[arg(long, short, value_name = "FILE.toml")]
    profile: Option<PathBuf>,
    /// Show this many findings of each rule and file, and count the others
    #[arg(long, value_name = "N", default_value_t = 20)]
    most: usize,
    /// Number of threads. Default: the number of processors
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
}

pub(crate) const LINT_HELP: &str = "\
Runs the checks of verify with your team's profile. A profile is TOML; every part is optional:

  level = \"quick\"               # how thoroughly: quick, default, deep; default if not set
  # the least severity that fails: style (if not set), suspicious, invalid, corrupt
  fail = \"suspicious\"

  # by rule, or beginning of rules' ids: off, style, suspicious, invalid, corrupt
  [severity]
  list-legacy = \"off\"
  statistics = \"invalid\"

  [limits]                      # numbers, or sizes such as \"256MiB\"
  row-group-rows = { min = 10000, max = 1000000 }
  row-group-bytes = { max = \"256MiB\" }
  file-bytes = { min = \"1MiB\", max = \"1GiB\" }
  footer-bytes = { max = \"1MiB\" }
  columns = { max = 500 }
  codecs = [\"zstd\", \"snappy\"]
  statistics = true             # bounds and null counts
  page-index = true
  bloom-filters = [\"user.id\"]
  sorted-by = [\"day\"]

Limits are rules whose ids begin with house; `marquetry rules house` lists them. Without a profile all rules of the
format are checked. Output is that of `marquetry verify --help`; --format github prints annotations for workflows,
--format sarif a document.

The exit code is 1 if a file fails or cannot be read, 2 if the profile is wrong.

Examples:
  marquetry lint 'warehouse/**/*.parquet'
  marquetry lint --profile data.toml new.parquet --format github";

pub(crate) fn run(args: &LintArgs, output: &mut Output, outcome: &mut Outcome) -> Result<(), Failure> {
    let profile = match args.profile.clone().or_else(found) {
        Some(path) => read(&path)?,
        None => LintProfile::default(),
    };
    let options = profile.options().with_findings_per_rule(args.most).with_decryption(crate::keys::given());
    let job = Job { files: &args.files, threads: args.threads, options, judgement: &profile.judgement };
    check_files(&job, output, outcome)
}

/// The profile of the working directory, or of the nearest one above that has one.
fn found() -> Option<PathBuf> {
    let here = std::env::current_dir().ok()?;
    here.ancestors().map(|folder| folder.join(".marquetry.toml")).find(|path| path.is_file())
}

fn read(path: &Path) -> Result<LintProfile, Failure> {
    let wrong = |why: String| Failure::Usage(format!("{}: {why}", file_name::shown(path)));
    let text =
        std::fs::read_to_string(path).map_err(|error| wrong(format!("cannot read the profile: {error}")))?;
    text.parse().map_err(|error: Error| wrong(error.message().to_owned()))
}
