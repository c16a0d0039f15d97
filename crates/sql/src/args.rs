//! The command line.

use clap::{Parser, ValueEnum};
use marquetry_base::parse_byte_size;
use std::path::PathBuf;

/// Query Parquet files with SQL.
#[derive(Debug, Parser)]
#[command(name = "marquetry-sql", version, max_term_width = 110, after_help = AFTER_HELP)]
pub struct CommandLine {
    /// One or more statements. Default: those of --file or of standard input, or an interactive shell
    pub(crate) statement: Option<String>,
    /// Read statements from this file
    #[arg(long, short = 'f', value_name = "FILE", conflicts_with = "statement")]
    pub(crate) file: Option<PathBuf>,
    /// The format of rows. Default: `table`, or by the file name of --output
    #[arg(long, value_enum)]
    pub(crate) format: Option<Format>,
    /// Write the rows of the only query to this file instead of standard output
    #[arg(long, short = 'o', value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Replace the file of --output if it exists
    #[arg(long, requires = "output")]
    pub(crate) overwrite: bool,
    /// Show the plan of each query instead of its rows; `analyze` runs it and shows its metrics
    #[arg(long, value_enum, num_args = 0..=1, default_missing_value = "plan", require_equals = true)]
    pub(crate) explain: Option<Explain>,
    /// Register a table: a Parquet file, a directory or a pattern, or a file named .csv, .json or .arrow
    #[arg(long = "table", short = 't', value_name = "NAME=LOCATION", value_parser = named)]
    pub(crate) tables: Vec<(String, String)>,
    /// Memory for sorts, joins and aggregations, such as 2GiB; they spill to --spill-dir beyond it. No limit by default
    #[arg(long, value_name = "BYTES", value_parser = parse_byte_size)]
    pub(crate) memory_limit: Option<usize>,
    /// The directory for spill files. Default: the system's directory of temporary files
    #[arg(long, value_name = "DIR")]
    pub(crate) spill_dir: Option<PathBuf>,
    /// Number of threads and partitions of a query. Default: the number of processors
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// Run queries on a Ballista cluster, by the host and port of its scheduler. The files must be at the same paths or URLs on its
    /// machines. This needs the program marquetry-ballista
    #[arg(long, value_name = "HOST:PORT", value_parser = address, conflicts_with_all = ["memory_limit", "spill_dir", "threads"])]
    cluster: Option<String>,
}

/// The format of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Aligned columns; all rows are kept in memory
    Table,
    /// Comma-separated values with a header
    Csv,
    /// JSON Lines, one object for each row
    Jsonl,
    /// An Arrow IPC file
    Arrow,
    /// Parquet, with --output only
    Parquet,
}

/// What `--explain` shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Explain {
    /// The plan
    Plan,
    /// The plan with the metrics of its execution
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
                _ => Err(format!(
                    "the extension of {} names no known format: give one with --format",
                    path.display()
                )),
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
Files, patterns, directories and URLs are tables:
  marquetry-sql \"select country, count(*) from 'wines.parquet' group by country\"
  marquetry-sql \"select count(*) from 'events/*.parquet' where day >= '2024-01-01'\"
  marquetry-sql -t events=events/ \"copy (select * from events where id < 10) to 'few.parquet'\"
  marquetry-sql \"select * from 'wines.parquet' order by price desc limit 10\" -o best.csv
  marquetry-sql \"select count(*) from 'https://example.com/wines.parquet'\"
  marquetry-sql --cluster scheduler:50050 \"select count(*) from 's3://bucket/events/'\"

Directories and patterns have the files and columns of `marquetry cat --union-by-name`: also files in directories below, but none whose name
begins with . or _. If a file has exactly the name of a pattern, it is the table. Directories called key=value are partition columns, with
the type that fits all their values: integers, dates or text. __HIVE_DEFAULT_PARTITION__ is null.

Tables of CREATE EXTERNAL TABLE follow DataFusion's rules instead: hidden files are read, and files with = in their names may be skipped.
PRIMARY KEY, UNIQUE and NOT NULL are accepted, but no plan relies on them, because nothing enforces them in files. To write into
directories called key=value, create such a table or use COPY .. TO .. PARTITIONED BY. INSERT INTO 'directory/' adds files to any other
directory.

Statements are DataFusion's SQL: CREATE EXTERNAL TABLE .. STORED AS PARQUET LOCATION .., COPY .. TO, INSERT INTO, SET, EXPLAIN.

Object stores: the usual environment variables (AWS_ACCESS_KEY_ID, ..) set keys, regions and endpoints.

Exit codes:
  0  success
  1  a file is bad, or cannot be read or written
  2  the statement or the command line is wrong";

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
