//! The options of `advise`.

use crate::args::condition;
use crate::failure::Failure;
use crate::file_name;
use crate::rewrite::Input;
use crate::spinner::Spinner;
use clap::{Args as ClapArgs, ValueEnum};
use marquetry::errors::Error;
use marquetry::file::properties::Compat;
use marquetry::predicate::Predicate;
use marquetry_inspect::{Advice, AdviseOptions, Goal, Query, advise};
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

/// What a file is to be good for.
#[derive(Debug, ClapArgs)]
pub(crate) struct WantedArgs {
    /// The goal
    #[arg(long = "for", value_name = "GOAL", value_enum, default_value_t = GoalArg::Size)]
    pub(crate) goal: GoalArg,
    /// Which readers must be able to read the file
    #[arg(long, value_enum, default_value_t = CompatArg::Modern)]
    compat: CompatArg,
    /// How long to measure, in seconds: 10s or 10
    #[arg(long, value_name = "TIME", value_parser = seconds, default_value = "10s")]
    pub(super) budget: Duration,
    /// A file of queries: one condition a line, or a SELECT with a WHERE. A number and a tab before it say how often it runs
    #[arg(long, value_name = "FILE")]
    queries: Option<PathBuf>,
    /// A query's condition, as in SQL: "country = 'DE' and amount > 100". May be repeated
    #[arg(long = "where", value_name = "CONDITION", value_parser = condition, allow_hyphen_values = true)]
    conditions: Vec<Predicate>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum GoalArg {
    /// A small file
    Size,
    /// Fast scans: no codec that decompresses slower than the current one
    Scan,
    /// Selective queries: indexes, bloom filters and sort orders come first
    Filter,
}

impl GoalArg {
    pub(super) fn goal(self) -> Goal {
        match self {
            GoalArg::Size => Goal::Size,
            GoalArg::Scan => Goal::Scan,
            GoalArg::Filter => Goal::Filter,
        }
    }

    /// The goal as it is typed.
    fn name(self) -> &'static str {
        match self {
            GoalArg::Size => "size",
            GoalArg::Scan => "scan",
            GoalArg::Filter => "filter",
        }
    }
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum CompatArg {
    /// Current readers: PLAIN, dictionaries
    Modern,
    /// Readers of the format's current version: also DELTA encodings and BYTE_STREAM_SPLIT. pyarrow, parquet-java and the parquet crate
    /// read them, DuckDB, polars and Spark most of them, fastparquet does not
    Latest,
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.strip_suffix('s').unwrap_or(text).parse().map_err(|_| "say seconds, as 10s")?;
    Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())
}

impl WantedArgs {
    /// The options of the analysis.
    pub(crate) fn options(&self) -> Result<AdviseOptions, Failure> {
        let compat = match self.compat {
            CompatArg::Modern => Compat::Modern,
            CompatArg::Latest => Compat::Latest,
        };
        let options = AdviseOptions::default().with_goal(self.goal.goal()).with_compat(compat);
        Ok(options.with_budget(self.budget).with_queries(self.queries()?))
    }

    /// The options as they are typed, except for the budget.
    pub(super) fn words(&self) -> Vec<String> {
        let mut options = vec![format!("--for={}", self.goal.name())];
        if matches!(self.compat, CompatArg::Latest) {
            options.push("--compat=latest".to_owned());
        }
        options.extend(self.queries.iter().map(|path| format!("--queries={}", file_name::shown(path))));
        options.extend(self.conditions.iter().map(|condition| format!("--where={condition}")));
        options
    }

    fn queries(&self) -> Result<Vec<Query>, Failure> {
        let mut queries: Vec<Query> = self.conditions.iter().cloned().map(Query::new).collect();
        if let Some(path) = &self.queries {
            let name = || file_name::shown(path);
            let text =
                fs::read_to_string(path).map_err(|error| Error::io("cannot read", error).in_file(name()))?;
            queries.extend(Query::parse_lines(&text).map_err(|error| error.in_file(name()))?);
        }
        Ok(queries)
    }
}

/// Advice that makes the file smaller or faster.
pub(crate) fn advice_of(input: &Input, options: AdviseOptions) -> Result<Advice, Error> {
    let options = match input.compat {
        // A stored Arrow schema has dictionaries, which only few encodings can give.
        Compat::Maximum => options.with_compat(Compat::Maximum),
        _ => options,
    };
    let _spinner = Spinner::new("measuring");
    advise(&input.columns(), &options)
}
