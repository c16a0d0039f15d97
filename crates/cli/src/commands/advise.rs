//! `advise`: what would make a file smaller or faster.

mod applied;
mod command;
mod print;
mod setting_names;
mod wanted;

pub(crate) use applied::{Allowed, Applied, TRIED_BYTES, TrialFolder, may_be_tried, rewrite_args};
pub(crate) use wanted::{WantedArgs, advice_of};

use super::heading::title;
use crate::args::Files;
use crate::failure::{Failure, Outcome};
use crate::keys::encrypted_like;
use crate::output::Output;
use crate::rewrite::Input;
use clap::Args as ClapArgs;
use marquetry::errors::Error;
use marquetry_inspect::{Advice, ColumnSource, Finding, advise_merging};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The arguments of `advise`.
#[derive(Debug, ClapArgs)]
pub(crate) struct AdviseArgs {
    #[command(flatten)]
    files: FilesAndDirs,
    #[command(flatten)]
    wanted: WantedArgs,
}

#[derive(Debug, ClapArgs)]
struct FilesAndDirs {
    /// Parquet files, or their URLs: s3://, gs://, az://, http(s)://; patterns with *, ? and []; - is standard input. For a directory:
    /// whether to merge its files, and advice for the largest of them
    #[arg(value_name = "FILE|DIR", required = true)]
    files: Vec<PathBuf>,
}

/// The advice for a file or a directory.
struct Advised<'a> {
    /// The argument.
    path: &'a Path,
    /// The file that was analyzed, and its advice.
    input: &'a Input,
    advice: &'a Advice,
    /// For a directory, the number of its files and their bytes.
    files: Option<(usize, u64)>,
    /// For a directory, files that should be merged, and the directory that they are in.
    merging: Option<(PathBuf, Finding)>,
    /// What `optimize` does about it.
    applied: Applied,
    wanted: &'a WantedArgs,
}

pub(crate) fn run(args: &AdviseArgs, output: &mut Output, outcome: &mut Outcome) -> Result<(), Failure> {
    let files = Files { files: args.files.files.clone() };
    let are_several = files.are_several();
    for path in files.with_directories(outcome) {
        let mut look = || -> Result<(), Failure> {
            if are_several && !output.is_json() {
                title(&path, output)?;
            }
            match path.is_dir() {
                true => of_directory(&path, &args.wanted, output),
                false => {
                    let input = Input::new(&path, crate::remote::open(&path)?)?;
                    let (advice, applied) = args.wanted.advice(&input)?;
                    let wanted = &args.wanted;
                    let (files, merging) = (None, None);
                    let advised = Advised {
                        path: &path,
                        input: &input,
                        advice: &advice,
                        files,
                        merging,
                        applied,
                        wanted,
                    };
                    advised.print(output)
                }
            }
        };
        match look() {
            Ok(()) => {}
            Err(failure @ (Failure::ClosedPipe | Failure::Write(_))) => return Err(failure),
            Err(failure) => outcome.report(Some(&failure.file(&path)), &failure),
        }
    }
    Ok(())
}

impl WantedArgs {
    /// What would make the file smaller or faster, and what `optimize` does about it.
    fn advice(&self, input: &Input) -> Result<(Advice, Applied), Failure> {
        let options = self.options()?;
        let goal = options.goal;
        let advice = advice_of(input, options)?;
        // If a key is missing, no trial file is written.
        let encryption = encrypted_like(&input.metadata).unwrap_or_default();
        let applied = Applied::tried(input, &advice, goal, Allowed::default(), encryption)?;
        Ok((advice, applied))
    }
}

/// Whether the files of a directory should be merged, and what to do with the largest.
fn of_directory(path: &Path, wanted: &WantedArgs, output: &mut Output) -> Result<(), Failure> {
    let dataset = marquetry::dataset(&[path.to_owned()])?;
    let files: Vec<PathBuf> = dataset.files().map(Path::to_owned).collect();
    let inputs = files.iter().map(|file| Input::open(file)).collect::<Result<Vec<_>, Error>>()?;
    let Some(largest) = inputs.iter().max_by_key(|input| input.source.len()) else {
        return Err(Error::argument("has no Parquet files").into());
    };
    let bytes = inputs.iter().map(|input| input.source.len()).fold(0, u64::saturating_add);
    // Files in several directories may be partitions, which stay apart.
    let mut together: BTreeMap<&Path, Vec<(String, ColumnSource)>> = BTreeMap::new();
    for input in &inputs {
        let parent = input.path.parent().unwrap_or(Path::new(""));
        together.entry(parent).or_default().push((input.name(), input.columns()));
    }
    let most = together.into_iter().max_by_key(|(_, files)| files.len());
    let merging = match most {
        Some((parent, files)) => advise_merging(&files, wanted.budget.mul_f64(MERGING_SHARE))?
            .map(|finding| (parent.to_owned(), finding)),
        None => None,
    };
    let (advice, applied) = wanted.advice(largest)?;
    let files = Some((files.len(), bytes));
    Advised { path, input: largest, advice: &advice, files, merging, applied, wanted }.print(output)
}

/// The part of the budget for merging, in addition to it.
const MERGING_SHARE: f64 = 0.25;

/// Text after the options in `--help`.
pub(crate) const ADVISE_HELP: &str = "\
Every figure is measured. Columns are decoded, and encoded again with the encodings and codecs that may be better:
first a part of the rows, then, for the best three, whole row groups that are spread evenly over the file, as many as
the budget allows. The largest columns come first. If there are very many, each gets a short test, and those that
would save most are measured. A choice must save 3 % of its column, and more than its error (+-, from the spread
between row groups).

Everything else is tried on a sample of up to 262,144 rows and 64 MiB, which is written with and without it. Times are
those of decoding on one thread:
  row-groups    too small or too large for 128 MiB
  pages         too small or too large
  indexes       statistics and page indexes are missing
  dictionary    the writer gave it up, though a larger one pays
  bloom-filter  for columns that --where or --queries compare with one value
  sort-order    of up to three columns, by what queries skip, or by bytes
  type          int64 that fits int32; text that is dates, numbers, UUIDs or booleans
  variant       text that is JSON
  shredding     VARIANT whose values have one shape
  list-of-one   lists of at most one element
  small-files   of a directory: one file is better
Bloom filters are tested with values of other row groups. For types all values are read, as long as there is time.
With more than 1,000 columns the largest, and some that are spread over the others, are tried as a table; types and
lists are tried for all columns, as long as there is time.

What helps the goal most comes first. `certain` advice comes from all rows or from the footer; other advice shows the
share of rows that it comes from. Each comes with the command that does it, unless only the writer of the rows can.
`marquetry optimize` does everything that keeps rows and types, and compares the rows. `marquetry convert` changes
types (--change-type) and sorts rows (--sort-by).

JSON: {file, size, predicted, columns: [{column, bytes, predicted, error, measured, encoding, compression}], command,
findings: [{kind, columns, what, bytes, decode, skipped, confidence, command}], not_measured}; a directory also has
directory: {path, files, size}. Shares are from 0 to 1. encoding and compression are null for a column that stays as
it is. bytes, decode (seconds) and skipped (share of rows) are {before, after} or null. confidence is the share of
rows that was read, 1 for certain advice.

Examples:
  marquetry advise data.parquet
  marquetry advise data.parquet --for filter --where \"country = 'DE'\" --where 'year > 2020'
  marquetry advise data.parquet --queries queries.sql --budget 60s
  marquetry advise warehouse/events
  marquetry advise 'data/*.parquet' --compat latest --format json";
