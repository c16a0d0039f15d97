//! `decode`: one column a file, held in memory, for each encoding and type.

use clap::Args;

use crate::columns::{COLUMNS, Column};
use crate::generate::{Rng, with_nulls};
use crate::race::{Row, race};
use crate::{Common, Result, peer};

#[derive(Args)]
pub(crate) struct Options {
    #[command(flatten)]
    pub(crate) common: Common,
    /// Numbers in a column; strings are half as many, lists an eighth
    #[arg(long, value_name = "N", default_value_t = 4_000_000, value_parser = clap::value_parser!(u32).range(8..))]
    values: u32,
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
    let file = peer::write_column(column.schema(written.clone()), array, column.encoding)
        .map_err(|error| format!("{}: {error}", column.name))?;
    race(column.name, column.title, &file, &column.read_schema(written), options.common.rounds)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every column is written with the encoding it names, and both sides read the same values.
    #[test]
    fn small_columns() {
        let common = Common { json: false, markdown: false, filter: String::new(), rounds: 1 };
        let rows = run(&Options { common, values: 80_000 }).unwrap();
        let mut names: Vec<_> = rows.iter().map(|row| row.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), COLUMNS.len());
    }
}
