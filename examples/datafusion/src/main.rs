//! Parquet tables of DataFusion that Marquetry reads, prunes and writes: `cargo run -p example-datafusion`.
//!
//! It asks a file by SQL, writes a directory of Parquet files with options, and asks that directory as a table.
#![forbid(unsafe_code)]

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::util::pretty::pretty_format_batches;
use datafusion::error::{DataFusionError, Result};
use datafusion::prelude::SessionContext;
use marquetry_datafusion::DatasetTable;
use std::path::Path;
use std::sync::Arc;

const WINES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../wines.parquet");

#[tokio::main]
async fn main() -> Result<()> {
    let ctx = session()?;
    println!("{}", pretty_format_batches(&best_countries(&ctx).await?)?);

    let folder = tempfile::tempdir()?;
    write_by_year(&ctx, folder.path()).await?;
    add_dataset(&ctx, "wines", folder.path())?;
    let recent = "select year, count(*), max(price) from wines where year > 2018 group by year order by year";
    println!("{}", pretty_format_batches(&rows(&ctx, recent).await?)?);
    // What was read and what was skipped: `bytes_scanned`, `row_groups_pruned_statistics`, and so on.
    println!("{}", pretty_format_batches(&rows(&ctx, &format!("explain analyze {recent}")).await?)?);
    Ok(())
}

/// Creates a session in which file names are tables. This one line lets Marquetry read their Parquet.
fn session() -> Result<SessionContext> {
    let ctx = SessionContext::new().enable_url_table();
    marquetry_datafusion::register(&ctx)?;
    Ok(ctx)
}

async fn rows(ctx: &SessionContext, sql: &str) -> Result<Vec<RecordBatch>> {
    ctx.sql(sql).await?.collect().await
}

/// Evaluates the filter while the file is read, and reads only the columns that the query names.
async fn best_countries(ctx: &SessionContext) -> Result<Vec<RecordBatch>> {
    let sql = format!(
        "select country, count(*) as wines, avg(rating) as rating from '{WINES}' \
         where year >= 2015 and producer['name'] is not null group by country order by rating desc limit 5"
    );
    rows(ctx, &sql).await
}

/// Writes the wines to files below `folder`, one directory per year. A file gets its name only when it is complete.
async fn write_by_year(ctx: &SessionContext, folder: &Path) -> Result<()> {
    let sql = format!(
        "copy (select name, country, price, year from '{WINES}' order by name) to '{}/' stored as parquet partitioned by (year) \
         options ('compression' 'zstd(3)', 'bloom_filter_enabled::name' 'true')",
        folder.display()
    );
    rows(ctx, &sql).await.map(drop)
}

/// Registers a directory of files as a table. `year` is a column, taken from the names of its directories.
fn add_dataset(ctx: &SessionContext, name: &str, folder: &Path) -> Result<()> {
    let dataset = marquetry::dataset([folder]).map_err(|error| DataFusionError::External(error.into()))?;
    let table = DatasetTable::try_new(dataset)?;
    ctx.register_table(name, Arc::new(table))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn text(ctx: &SessionContext, sql: &str) -> String {
        pretty_format_batches(&rows(ctx, sql).await.unwrap()).unwrap().to_string()
    }

    #[tokio::test]
    async fn the_directory_has_the_rows_of_the_file() {
        let (ctx, folder) = (session().unwrap(), tempfile::tempdir().unwrap());
        assert_eq!(best_countries(&ctx).await.unwrap().iter().map(RecordBatch::num_rows).sum::<usize>(), 5);
        write_by_year(&ctx, folder.path()).await.unwrap();
        add_dataset(&ctx, "wines", folder.path()).unwrap();
        let of = |table: &str| {
            format!(
                "select name, country, price, cast(year as int) as year from {table} where year > 2018 order by 1, 2, 3, 4"
            )
        };
        assert_eq!(text(&ctx, &of("wines")).await, text(&ctx, &of(&format!("'{WINES}'"))).await);
    }
}
