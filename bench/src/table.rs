//! `table`: the tables of README.md and bench/RESULTS.md from one run of `decode`, `scan` and `write`.

use std::path::PathBuf;

use clap::Args;

use crate::common::Common;
use crate::error::Result;
use crate::report::{markdown, measured, two};
use crate::row::Row;
use crate::{decode, scan, write};

#[derive(Args)]
pub(crate) struct Options {
    /// Take the best and the median of N runs of each side, and of more if they are short and N is not 1
    #[arg(long, value_name = "N", default_value_t = 9, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Where the generated files are kept for the next run
    #[arg(long, value_name = "DIR", default_value = "target/bench-data")]
    data_dir: PathBuf,
}

/// A row of README's table.
struct Summary {
    label: &'static str,
    /// The row of `decode` or `scan`.
    reading: &'static str,
    /// The row of `write`, if there is one.
    writing: Option<&'static str>,
}

const fn column(label: &'static str, name: &'static str) -> Summary {
    Summary { label, reading: name, writing: Some(name) }
}

const fn file(label: &'static str, reading: &'static str, writing: Option<&'static str>) -> Summary {
    Summary { label, reading, writing }
}

/// README's table.
#[rustfmt::skip] // one row a line
const README: &[Summary] = &[
    column("i64 PLAIN, random", "i64_plain"),
    column("i64 PLAIN, 10 % null", "i64_plain_null10"),
    column("i64 DELTA_BINARY_PACKED, timestamps", "i64_delta_ts"),
    column("i64 dictionary of 1,000", "i64_dict1000"),
    column("f64 BYTE_STREAM_SPLIT", "f64_bss"),
    column("f64 ALP, prices", "f64_alp"),
    column("bool PLAIN, random", "bool_plain"),
    column("string PLAIN (~16 B) as Utf8", "str_plain"),
    column("string DELTA_LENGTH_BYTE_ARRAY as Utf8", "str_dlba"),
    column("URL DELTA_BYTE_ARRAY (~36 B) as Utf8", "str_dba_url"),
    column("string dictionary of 15 as Utf8", "str_dict15"),
    column("list<i64>, ~4.3 values a row, PLAIN", "list_i64"),
    file("TPC-H lineitem SF1 uncompressed", "lineitem_uncompressed", Some("lineitem_uncompressed_1t")),
    file("TPC-H lineitem SF1 snappy", "lineitem_snappy", Some("lineitem_snappy_1t")),
    file("TPC-H lineitem SF1 zstd", "lineitem_zstd", Some("lineitem_zstd_1t")),
    file("hits-like, 105 columns, 1 M rows, snappy", "hits", None),
];

/// Measures everything, and prints Markdown.
pub(crate) fn run(options: &Options) -> Result<bool> {
    let common = || Common { json: false, markdown: true, filter: String::new(), rounds: options.rounds };
    let data = || scan::Data { sf: 1.0, data_dir: options.data_dir.clone() };
    let mut reading = decode::run(&decode::Options { common: common(), values: 4_000_000, write_to: None })?;
    reading.extend(scan::run(&scan::Options {
        common: common(),
        data: data(),
        files: Vec::new(),
        threads: 1,
    })?);
    let writing = write::run(&write::Options { common: common(), values: 4_000_000, sf: 1.0 })?;
    println!("# README.md, Numbers\n\n{}\n\n{}", measured(), readme(&reading, &writing));
    println!("# bench/RESULTS.md, Reading\n\n{}", markdown(&reading));
    print!("# bench/RESULTS.md, Writing\n\n{}", markdown(&writing));
    for row in reading.iter().chain(&writing).filter(|row| row.ratio().is_some_and(|ratio| ratio < 1.0)) {
        eprintln!("behind the peer: {}", row.name);
    }
    Ok(reading.iter().all(|row| row.ours.is_some()))
}

/// The ratios of the rows that README shows.
fn readme(reading: &[Row], writing: &[Row]) -> String {
    let ratio = |rows: &[Row], name: &str| rows.iter().find(|row| row.name == name)?.ratio();
    let cell = |ratio: Option<f64>| ratio.map_or("-".to_owned(), two);
    let mut out = "| | reading | writing |\n|---|--:|--:|\n".to_owned();
    for row in README {
        let written = row.writing.and_then(|name| ratio(writing, name));
        out += &format!("| {} | {} | {} |\n", row.label, cell(ratio(reading, row.reading)), cell(written));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::COLUMNS;
    use crate::scan::GENERATED;
    use crate::write::lineitem_rows;

    /// What README shows is what is measured here, row by row.
    #[test]
    fn readme_has_these_rows() {
        let readme = include_str!("../../README.md");
        let table =
            readme.split_once("| | reading | writing |\n|---|--:|--:|\n").expect("README has the table").1;
        let labels = table.lines().map_while(|line| line.strip_prefix("| ")?.split(" | ").next());
        let expected: Vec<&str> = README.iter().map(|row| row.label).collect();
        assert_eq!(labels.collect::<Vec<_>>(), expected);
    }

    /// The names that README's rows are looked up by are names of rows.
    #[test]
    fn every_row_is_measured() {
        let columns = || COLUMNS.iter().map(|column| column.name.to_owned());
        let read: Vec<String> = columns().chain(GENERATED.iter().map(|file| file.name.to_owned())).collect();
        let written: Vec<String> =
            columns().chain(lineitem_rows().into_iter().map(|(name, ..)| name)).collect();
        for row in README {
            assert!(read.contains(&row.reading.to_owned()), "{}", row.label);
            assert!(row.writing.is_none_or(|name| written.contains(&name.to_owned())), "{}", row.label);
        }
        for column in COLUMNS {
            // The labels of columns are their titles in RESULTS.md.
            let labels = README.iter().filter(|row| row.reading == column.name).map(|row| row.label);
            assert!(labels.into_iter().all(|label| label == column.title), "{}", column.name);
        }
    }
}
