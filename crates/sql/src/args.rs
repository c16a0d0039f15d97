//! The command line.

use clap::{Parser, ValueEnum};
use marquetry_base::parse_byte_size;
use std::path::PathBuf;

/// Ask Parquet files in SQL.
#[derive(Debug, Parser)]
#[command(name = "marquetry-sql", version, max_term_width = 110, after_help = AFTER_HELP)]
pub struct CommandLine {
    /// One or more statements; without it they are read from --file, from standard input, or typed
    pub(crate) statement: Option<String>,
    /// A file of statements
    #[arg(long, short = 'f', value_name = "FILE", conflicts_with = "statement")]
    pub(crate) file: Option<PathBuf>,
    /// How rows are given. `table` if not given; with --output what the name of the file says
    #[arg(long, value_enum)]
    pub(crate) format: Option<Format>,
    /// Where rows go, instead of to standard output: to one file, of the one statement that has rows
    #[arg(long, short = 'o', value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Replace the file of --output if it is there
    #[arg(long, requires = "output")]
    pub(crate) overwrite: bool,
    /// Show the plan of each query instead of its rows; `analyze` runs it, and shows what it cost
    #[arg(long, value_enum, num_args = 0..=1, default_missing_value = "plan", require_equals = true)]
    pub(crate) explain: Option<Explain>,
    /// A table: a file, a directory or a pattern. Files whose names end with .csv, .json, .arrow are of these formats
    #[arg(long = "table", short = 't', value_name = "NAME=LOCATION", value_parser = named)]
    pub(crate) tables: Vec<(String, String)>,
    /// Memory for sorts, joins and groups, such as 2GiB; what needs more goes to --spill-dir. No bound if not given
    #[arg(long, value_name = "BYTES", value_parser = parse_byte_size)]
    pub(crate) memory_limit: Option<usize>,
    /// Where what does not fit in memory goes. The system's folder of temporary files if not given
    #[arg(long, value_name = "DIR")]
    pub(crate) spill_dir: Option<PathBuf>,
    /// How many threads, and parts of a query. One for each processor if not given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// Have a Ballista cluster answer: the host and port of its scheduler. Its machines have to see the files, too; a program of its
    /// own, marquetry-ballista, does that
    #[arg(long, value_name = "HOST:PORT", value_parser = address, conflicts_with_all = ["memory_limit", "spill_dir", "threads"])]
    cluster: Option<String>,
}

/// How rows are given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Text in columns, all rows at once
    Table,
    /// With a header
    Csv,
    /// An object a row
    Jsonl,
    /// An Arrow IPC file
    Arrow,
    /// With --output only
    Parquet,
}

/// What is shown of a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Explain {
    /// What would be done
    Plan,
    /// What was done
    Analyze,
}

impl CommandLine {
    /// The host and port of a cluster's scheduler, if one is to answer.
    pub fn cluster(&self) -> Option<&str> {
        self.cluster.as_deref()
    }

    pub(crate) fn threads(&self) -> usize {
        let processors = || std::thread::available_parallelism().map_or(1, usize::from);
        self.threads.map_or_else(processors, usize::from)
    }

    /// The format of `--format`, or else of the output's file name.
    ///
    /// # Errors
    ///
    /// If the file name has no known extension.
    pub(crate) fn format(&self) -> Result<Format, String> {
        let Some(path) = self.output.as_ref().filter(|_| self.format.is_none()) else {
            return Ok(self.format.unwrap_or(Format::Table));
        };
        match path.extension().map(|extension| extension.to_ascii_lowercase()) {
            None => Ok(Format::Table),
            Some(extension) => match extension.to_str() {
                Some("txt") => Ok(Format::Table),
                Some("csv") => Ok(Format::Csv),
                Some("jsonl" | "ndjson" | "json") => Ok(Format::Jsonl),
                Some("arrow" | "feather" | "ipc") => Ok(Format::Arrow),
                Some("parquet") => Ok(Format::Parquet),
                _ => Err(format!("the name {} says no format: say by --format which it is", path.display())),
            },
        }
    }
}

fn named(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, location)) if !name.is_empty() && !location.is_empty() => {
            Ok((name.to_owned(), location.to_owned()))
        }
        _ => Err("it is written NAME=LOCATION".to_owned()),
    }
}

/// A host and a port. An IPv6 address stands in brackets.
fn address(text: &str) -> Result<String, String> {
    let (host, port) = text.rsplit_once(':').ok_or("it is written HOST:PORT")?;
    let is_host = match host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
        Some(host) => host.parse::<std::net::Ipv6Addr>().is_ok(),
        None => !host.is_empty() && !host.contains(['/', ':', '@', '?', '#', ' ']),
    };
    match (is_host, port.parse::<u16>()) {
        (true, Ok(1..)) => Ok(text.to_owned()),
        _ => Err("it is written HOST:PORT".to_owned()),
    }
}

const AFTER_HELP: &str = "\
Files are tables by their names, patterns, directories and URLs too:
  marquetry-sql \"select country, count(*) from 'wines.parquet' group by country\"
  marquetry-sql \"select count(*) from 'events/*.parquet' where day >= '2024-01-01'\"
  marquetry-sql -t events=events/ \"copy (select * from events where id < 10) to 'few.parquet'\"
  marquetry-sql \"select * from 'wines.parquet' order by price desc limit 10\" -o best.csv
  marquetry-sql \"select count(*) from 'https://example.com/wines.parquet'\"
  marquetry-sql --cluster scheduler:50050 \"select count(*) from 's3://bucket/events/'\"

Folders and patterns mean the files that they mean to `marquetry cat --union-by-name`, with the columns of all: files in folders below, too,
and none whose name begins with . or _. A file of the very name goes before what a pattern fits. Folders called key=value make columns, of
integers, dates or text as all their values are, and null where the value is __HIVE_DEFAULT_PARTITION__.

Tables of CREATE EXTERNAL TABLE, and all of a cluster, follow DataFusion's rules instead: hidden files are read, files with = in their names
may be left out. Their PRIMARY KEY, UNIQUE and NOT NULL are read, and not relied on: nothing holds files to them. To write into folders called key=value, declare such a table, or use
COPY .. TO .. PARTITIONED BY; rows for any other folder are new files in it: INSERT INTO 'folder/'.

Statements are DataFusion's SQL: CREATE EXTERNAL TABLE .. STORED AS PARQUET LOCATION .., COPY .. TO, INSERT INTO, SET, EXPLAIN.

Object stores: the environment says keys, regions and endpoints, by the usual names (AWS_ACCESS_KEY_ID, ..).

Exit codes:
  0  success
  1  a file or the machine is at fault
  2  the statement is, or the command line";

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn arguments_go_together() {
        CommandLine::command().debug_assert();
    }

    #[test]
    fn names_of_files_say_formats() {
        let format = |more: &[&str]| {
            CommandLine::parse_from(["marquetry-sql", "select 1"].iter().chain(more)).format()
        };
        assert_eq!(format(&[]), Ok(Format::Table));
        assert_eq!(format(&["-o", "rows"]), Ok(Format::Table));
        assert_eq!(format(&["-o", "rows.CSV"]), Ok(Format::Csv));
        assert_eq!(format(&["-o", "a.b/rows.parquet"]), Ok(Format::Parquet));
        assert_eq!(format(&["-o", "rows.xlsx", "--format", "csv"]), Ok(Format::Csv));
        assert!(format(&["-o", "rows.xlsx"]).unwrap_err().contains("--format"));
    }

    #[test]
    fn a_cluster_is_a_host_and_a_port() {
        for right in ["localhost:50050", "10.0.0.1:1", "[::1]:50050", "scheduler.example:65535"] {
            assert_eq!(address(right).as_deref(), Ok(right));
        }
        for wrong in ["localhost", ":1", "a:", "a:0", "a:70000", "http://a:1", "::1:1", "[x]:1", "u@a:1"] {
            assert!(address(wrong).is_err(), "{wrong}");
        }
    }
}
