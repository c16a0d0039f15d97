//! `advise`: what would make a file smaller.

use super::heading::title;
use crate::args::Files;
use crate::failure::{Failure, Outcome};
use crate::file_name;
use crate::output::Output;
use crate::rewrite::Input;
use crate::text_table::TextTable;
use clap::{Args as ClapArgs, ValueEnum};
use marquetry::errors::Error;
use marquetry::file::properties::Compat;
use marquetry_inspect::{Advice, AdviseOptions, ColumnAdvice, Goal, advise};
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;

/// The arguments of `advise`.
#[derive(Debug, ClapArgs)]
pub(crate) struct AdviseArgs {
    #[command(flatten)]
    files: Files,
    #[command(flatten)]
    wanted: WantedArgs,
}

/// What a file is to be good for.
#[derive(Debug, ClapArgs)]
pub(crate) struct WantedArgs {
    /// What the file should be good for
    #[arg(long = "for", value_name = "GOAL", value_enum, default_value_t = GoalArg::Size)]
    goal: GoalArg,
    /// Which readers must read the file
    #[arg(long, value_enum, default_value_t = CompatArg::Modern)]
    compat: CompatArg,
    /// How long to measure: seconds, as 10s or 10
    #[arg(long, value_name = "TIME", value_parser = seconds, default_value = "10s")]
    budget: Duration,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum GoalArg {
    /// Few bytes
    Size,
    /// Fast reading: no codec that is slower to decompress than the one that is there
    Scan,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum CompatArg {
    /// All current ones: PLAIN and dictionaries
    Modern,
    /// Those of the format's current version: DELTA encodings and BYTE_STREAM_SPLIT, too, which pyarrow, parquet-java and the
    /// parquet crate read, DuckDB, polars and Spark mostly, fastparquet not
    Latest,
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.strip_suffix('s').unwrap_or(text).parse().map_err(|_| "say seconds, as 10s")?;
    Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())
}

impl WantedArgs {
    /// What would make the file smaller.
    pub(crate) fn advice(&self, input: &Input) -> Result<Advice, Error> {
        let goal = match self.goal {
            GoalArg::Size => Goal::Size,
            GoalArg::Scan => Goal::Scan,
        };
        let compat = match (self.compat, input.compat) {
            // A stored Arrow schema has dictionaries, which come from few encodings only.
            (_, Compat::Maximum) => Compat::Maximum,
            (CompatArg::Modern, _) => Compat::Modern,
            (CompatArg::Latest, _) => Compat::Latest,
        };
        let options = AdviseOptions::default().with_goal(goal).with_compat(compat).with_budget(self.budget);
        advise(&input.columns(), &options)
    }
}

pub(crate) fn run(args: &AdviseArgs, output: &mut Output, outcome: &mut Outcome) -> Result<(), Failure> {
    let are_several = args.files.are_several();
    args.files.for_each(outcome, |path, file| {
        let input = Input::new(path, file)?;
        let advice = args.wanted.advice(&input)?;
        if output.is_json() {
            return Ok(output.json(&as_json(path, &advice))?);
        }
        if are_several {
            title(path, output)?;
        }
        print(path, &advice, output)
    })
}

/// The options of `rewrite` that do what is advised.
pub(crate) fn rewrite_options(advice: &Advice) -> Vec<String> {
    let chosen = advice.columns.iter().filter_map(|column| Some((&column.column, column.choice?)));
    let options = |(column, choice): (&String, marquetry_inspect::Choice)| {
        let codec = choice.compression.codec();
        let codec = match choice.compression.level() {
            Some(level) => format!("{codec}:{level}"),
            None => codec.to_string(),
        };
        [format!("--encoding={column}={}", choice.encoding), format!("--compression={column}={codec}")]
    };
    chosen.flat_map(options).collect()
}

/// The command that does what is advised; `None` if nothing is.
fn command(path: &Path, advice: &Advice) -> Option<String> {
    let options = rewrite_options(advice);
    let mut words = vec!["marquetry".to_owned(), "rewrite".to_owned()];
    words.push(quoted(&file_name::shown(path)));
    words.push("optimized.parquet".to_owned());
    words.extend(options.iter().map(|option| quoted(option)));
    (!options.is_empty()).then(|| words.join(" "))
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let is_plain = |char: char| char.is_ascii_alphanumeric() || "-_=./:+,@%".contains(char);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

/// What a column should be written with.
fn choice(column: &ColumnAdvice) -> String {
    match column.choice {
        Some(choice) => format!("{} {}", choice.encoding, choice.compression),
        None if column.measured == 0.0 => "not measured".to_owned(),
        None => "leave it".to_owned(),
    }
}

fn print(path: &Path, advice: &Advice, output: &mut Output) -> Result<(), Failure> {
    let mut table = TextTable::new(&["column", ">bytes", ">predicted", ">+-", ">measured", "write it with"]);
    for column in &advice.columns {
        table.row([
            column.column.clone(),
            column.bytes.to_string(),
            column.predicted.to_string(),
            share(column.error),
            share(column.measured),
            choice(column),
        ]);
    }
    table.print(output)?;
    output.line(format!("file: {} bytes, predicted: {}", advice.file_bytes, advice.predicted_bytes))?;
    match command(path, advice) {
        Some(command) => Ok(output.line(command)?),
        None => Ok(output.line("nothing to do: leave the file as it is")?),
    }
}

fn share(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

fn as_json(path: &Path, advice: &Advice) -> Value {
    let column = |column: &ColumnAdvice| {
        json!({
            "column": column.column, "bytes": column.bytes, "predicted": column.predicted, "error": column.error,
            "measured": column.measured, "encoding": column.choice.map(|choice| choice.encoding.to_string()),
            "compression": column.choice.map(|choice| choice.compression.to_string()),
        })
    };
    json!({
        "file": file_name::shown(path), "size": advice.file_bytes, "predicted": advice.predicted_bytes,
        "columns": advice.columns.iter().map(column).collect::<Vec<_>>(), "command": command(path, advice),
    })
}

/// What stands behind the options in `--help`.
pub(crate) const ADVISE_HELP: &str = "\
Every figure is measured: columns are decoded and encoded again with the encodings and codecs that may be better, first on
some rows, and the best three on whole row groups, spread evenly over the file, as many as the budget allows. Large columns come
first. A choice must save 3 % of its column, and more than it may be wrong by (+-, from the spread between row groups). The command
that does it stands last; `marquetry optimize` does it and proves it.

JSON: {file, size, predicted, columns: [{column, bytes, predicted, error, measured, encoding, compression}], command}; shares are
from 0 to 1; encoding and compression are null where a column is left as it is.

Examples:
  marquetry advise data.parquet
  marquetry advise data.parquet --for scan --budget 60s
  marquetry advise 'data/*.parquet' --compat latest --format json";
