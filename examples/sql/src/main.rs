//! `marquetry sql` with a function of one's own: a program that has its whole command line, shell and output.
//!
//! ```text
//! cargo run -p example-sql -- "select vintage(year) as vintage, count(*) from 'examples/wines.parquet' group by 1 order by 1"
//! ```
#![forbid(unsafe_code)]

use clap::Parser;
use datafusion::arrow::array::{ArrayRef, Int32Array, StringArray};
use datafusion::arrow::datatypes::DataType;
use datafusion::common::cast::as_int32_array;
use datafusion::error::Result;
use datafusion::logical_expr::{ColumnarValue, ScalarUDF, Volatility, create_udf};
use datafusion::prelude::SessionContext;
use marquetry_sql::CommandLine;
use std::process::ExitCode;
use std::sync::Arc;

fn main() -> ExitCode {
    let args = CommandLine::parse();
    marquetry_sql::run(&args, async || session(&args))
}

/// Returns the session of `marquetry sql` with a function added. Tables and settings are added the same way.
fn session(args: &CommandLine) -> Result<SessionContext> {
    let ctx = marquetry_sql::local(args)?;
    ctx.register_udf(vintage());
    Ok(ctx)
}

/// `vintage(year)`: the decade of a year, such as `2010s`.
fn vintage() -> ScalarUDF {
    let decades = |arguments: &[ColumnarValue]| {
        let years = ColumnarValue::values_to_arrays(arguments)?;
        Ok(ColumnarValue::Array(Arc::new(decades_of(as_int32_array(&years[0])?)) as ArrayRef))
    };
    create_udf("vintage", vec![DataType::Int32], DataType::Utf8, Volatility::Immutable, Arc::new(decades))
}

fn decades_of(years: &Int32Array) -> StringArray {
    years.iter().map(|year| year.map(|year| format!("{}s", year.div_euclid(10) * 10))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_knows_the_function() {
        let wines = concat!(env!("CARGO_MANIFEST_DIR"), "/../wines.parquet");
        let path = std::env::temp_dir().join(format!("example-sql-{}.csv", std::process::id()));
        let sql = format!(
            "select vintage(year) as decade, count(*) as wines from '{wines}' where year between 2010 and 2019 group by 1"
        );
        let args = CommandLine::parse_from(["example-sql", &sql, "-o", path.to_str().unwrap()]);
        let code = marquetry_sql::run(&args, async || session(&args));
        let found = std::fs::read_to_string(&path);
        std::fs::remove_file(&path).unwrap();
        assert_eq!(code, ExitCode::SUCCESS);
        let found = found.unwrap();
        let mut lines = found.lines();
        assert_eq!(lines.next(), Some("decade,wines"));
        let (decade, count) = lines.next().unwrap().split_once(',').unwrap();
        assert_eq!((decade, lines.next()), ("2010s", None));
        assert!((1..200).contains(&count.parse::<u32>().unwrap()));
    }

    #[test]
    fn years_have_a_decade() {
        let years = Int32Array::from(vec![Some(1999), Some(2000), None, Some(-1)]);
        let decades = StringArray::from(vec![Some("1990s"), Some("2000s"), None, Some("-10s")]);
        assert_eq!(decades_of(&years), decades);
    }
}
