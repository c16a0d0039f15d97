//! A client of a cluster: its queries are planned by a scheduler and run on executors, in the folder `crates/ballista`:
//!
//! ```text
//! cargo run --release -p marquetry-ballista -- local --executors 2
//! cargo run --release -p example-cluster -- 127.0.0.1:50050
//! ```
//!
//! With a cluster of several machines, FILES is a URL that all of them see: `example-cluster HOST:PORT s3://bucket/wines/`.
#![forbid(unsafe_code)]

use datafusion::error::Result;
use datafusion::prelude::SessionContext;

const WINES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../wines.parquet");

#[tokio::main]
async fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let Some(address) = arguments.next() else {
        eprintln!("usage: example-cluster HOST:PORT [FILES]");
        std::process::exit(2);
    };
    let files = arguments.next().unwrap_or_else(|| WINES.to_owned());
    let ctx = marquetry_ballista::client(&address)?;
    add_table(&ctx, "wines", &files).await?;
    let sql = "select country, count(*) as wines, avg(price) as price from wines where year > 2010 group by country order by 1";
    ctx.sql(sql).await?.show().await
}

/// Creates a table that all parts of the cluster see. Its name stays here; the URL of its files goes to the scheduler
/// and the executors.
async fn add_table(ctx: &SessionContext, name: &str, files: &str) -> Result<()> {
    let sql =
        format!("create external table {name} stored as parquet location '{}'", files.replace('\'', "''"));
    ctx.sql(&sql).await?.collect().await.map(drop)
}
