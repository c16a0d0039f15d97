//! The 22 queries of TPC-H on a cluster: the rows are those of one process. With `MARQUETRY_S3` the files are in that server, without
//! it in a folder. `MARQUETRY_SF` is the scale factor, 0.01 if not given; with `--nocapture` times of both are shown.

use crate::parts;
use crate::tables::{rows, session};
use datafusion::arrow::error::ArrowError;
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::datasource::MemTable;
use datafusion::prelude::SessionContext;
use marquetry_ballista::client;
use std::sync::Arc;
use std::time::Instant;
use tpchgen::generators::*;
use tpchgen_arrow::*;

#[path = "../../../datafusion/tests/sessions/tpch_queries.rs"]
mod tpch_queries;

#[tokio::test(flavor = "multi_thread")]
async fn tpch_on_a_cluster_gives_the_rows_of_one_process() {
    let sf = std::env::var("MARQUETRY_SF").map_or(0.01, |sf| sf.parse().expect("MARQUETRY_SF is a number"));
    let folder = tempfile::tempdir().unwrap();
    let location = match std::env::var_os("MARQUETRY_S3") {
        Some(_) => "s3://marquetry/tpch/".to_owned(),
        None => format!("{}/", folder.path().display()),
    };
    let names = write(sf, &location).await;
    let alone = session();
    register(&alone, &names, &location).await;
    let (_part, address) = parts::local(2);
    let ctx = client(&address).unwrap();
    register(&ctx, &names, &location).await;
    println!("| query | one process, ms | two executors, ms |\n|---|--:|--:|");
    let mut totals = [0.0; 2];
    for number in 1..=22 {
        let (expected, one) = timed(&alone, number).await;
        let (found, two) = timed(&ctx, number).await;
        assert!(is_same(&expected, &found), "query {number}: {found:?}, in one process {expected:?}");
        println!("| {number} | {one:.0} | {two:.0} |");
        (totals[0], totals[1]) = (totals[0] + one, totals[1] + two);
    }
    println!("| all | {:.0} | {:.0} |", totals[0], totals[1]);
}

type Batches = Box<dyn Iterator<Item = Result<RecordBatch, ArrowError>>>;

/// Writes the tables below `location`, and gives their names.
async fn write(sf: f64, location: &str) -> Vec<&'static str> {
    let tables: [(&str, Batches); 8] = [
        ("nation", Box::new(NationArrow::new(NationGenerator::new(sf, 1, 1)))),
        ("region", Box::new(RegionArrow::new(RegionGenerator::new(sf, 1, 1)))),
        ("part", Box::new(PartArrow::new(PartGenerator::new(sf, 1, 1)))),
        ("supplier", Box::new(SupplierArrow::new(SupplierGenerator::new(sf, 1, 1)))),
        ("customer", Box::new(CustomerArrow::new(CustomerGenerator::new(sf, 1, 1)))),
        ("partsupp", Box::new(PartSuppArrow::new(PartSuppGenerator::new(sf, 1, 1)))),
        ("orders", Box::new(OrderArrow::new(OrderGenerator::new(sf, 1, 1)))),
        ("lineitem", Box::new(LineItemArrow::new(LineItemGenerator::new(sf, 1, 1)))),
    ];
    let mut names = Vec::new();
    for (name, batches) in tables {
        let batches: Vec<_> = batches.map(Result::unwrap).collect();
        let ctx = session();
        let table = MemTable::try_new(batches[0].schema(), vec![batches]).unwrap();
        ctx.register_table("t", Arc::new(table)).unwrap();
        rows(&ctx, &format!("copy (select * from t) to '{location}{name}.parquet'")).await.unwrap();
        names.push(name);
    }
    names
}

async fn register(ctx: &SessionContext, names: &[&str], location: &str) {
    for name in names {
        let sql =
            format!("create external table {name} stored as parquet location '{location}{name}.parquet'");
        rows(ctx, &sql).await.unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
}

/// The rows of a query, which may be several statements, sorted; and milliseconds.
async fn timed(ctx: &SessionContext, number: usize) -> (Vec<String>, f64) {
    let (mut found, start) = (Vec::new(), Instant::now());
    for statement in tpch_queries::statements(number) {
        found.extend(rows(ctx, &statement).await.unwrap_or_else(|error| panic!("query {number}: {error}")));
    }
    let taken = start.elapsed().as_secs_f64() * 1e3;
    found.sort();
    (found, taken)
}

/// Whether rows are the same; the last digit of an average may be another, as values are added in another order.
fn is_same(some: &[String], other: &[String]) -> bool {
    let is_near = |some: &str, other: &str| match (some.parse::<f64>(), other.parse::<f64>()) {
        (Ok(some), Ok(other)) => (some - other).abs() <= 1e-9 * some.abs().max(other.abs()),
        _ => false,
    };
    some.len() == other.len()
        && some.iter().zip(other).all(|(some, other)| {
            let (some, other): (Vec<_>, Vec<_>) = (some.split(" | ").collect(), other.split(" | ").collect());
            some.len() == other.len()
                && some.iter().zip(&other).all(|(some, other)| some == other || is_near(some, other))
        })
}
