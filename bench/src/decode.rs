//! `decode`: one column a file, held in memory, for each encoding and type.

use std::fs;
use std::path::PathBuf;

use clap::Args;

use crate::columns::{COLUMNS, Column};
use crate::common::Common;
use crate::compare_readers::ReadComparison;
use crate::error::Result;
use crate::generate::{Rng, with_nulls};
use crate::parquet_side;
use crate::row::Row;

#[derive(Args)]
pub(crate) struct Options {
    #[command(flatten)]
    pub(crate) common: Common,
    /// Numbers in a column; strings are half as many, lists an eighth
    #[arg(long, value_name = "N", default_value_t = 4_000_000, value_parser = clap::value_parser!(u32).range(8..))]
    pub(crate) values: u32,
    /// Write the files there as NAME.parquet, for `peers.py` to measure others with
    #[arg(long, value_name = "DIR")]
    pub(crate) write_to: Option<PathBuf>,
}

/// Measures every column that the filter lets through.
pub(crate) fn run(options: &Options) -> Result<Vec<Row>> {
    let chosen = COLUMNS.iter().filter(|column| column.name.contains(&options.common.filter));
    chosen.map(|column| measure(column, options)).collect()
}

fn measure(column: &Column, options: &Options) -> Result<Row> {
    let mut rng = Rng::new(1); // the same for each column: a filter must not change the values
    let rows = options.values as usize / column.share;
    let array = (column.make)(&mut rng, rows);
    let array = with_nulls(&mut rng, &array, column.null_percent)?;
    let written = array.data_type().clone();
    let file = parquet_side::write_column(column.schema(written.clone()), array, column.encoding)
        .map_err(|error| format!("{}: {error}", column.name))?;
    if let Some(dir) = &options.write_to {
        fs::create_dir_all(dir)?;
        fs::write(dir.join(column.name).with_extension("parquet"), &file)?;
    }
    ReadComparison {
        name: column.name,
        title: column.title,
        file: &file,
        schema: Some(&column.read_schema(written)),
        threads: 1,
        with_codec: false,
        rounds: options.common.rounds,
    }
    .race()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every column is written with the encoding it names, and both sides read the same values.
    #[test]
    fn small_columns() {
        let common = Common { json: false, markdown: false, filter: String::new(), rounds: 1 };
        let dir = tempfile::tempdir().unwrap();
        let write_to = Some(dir.path().to_owned());
        let rows = run(&Options { common, values: 80_000, write_to }).unwrap();
        let mut names: Vec<_> = rows.iter().map(|row| row.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), COLUMNS.len());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), COLUMNS.len());
    }
}
