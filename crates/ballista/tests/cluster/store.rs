//! Files in an S3-compatible server on this machine: `MARQUETRY_S3` is its address. `.ci/ballista` starts one and sets it; without
//! it the test is skipped.

use crate::parts;
use crate::tables::{self, QUERIES, rows, session};
use marquetry_ballista::client;

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_reads_and_writes_files_of_a_store() {
    if std::env::var_os("MARQUETRY_S3").is_none() {
        eprintln!("skipped: no server, MARQUETRY_S3 is not set");
        return;
    }
    // The parts have it from the environment, as this process has.
    let location = "s3://marquetry/ballista/";
    tables::write(location).await;
    let alone = session();
    tables::register(&alone, location).await;
    let (_part, address) = parts::local(2);
    let ctx = client(&address).unwrap();
    tables::register(&ctx, location).await;
    for query in QUERIES {
        let expected = rows(&alone, query).await.unwrap_or_else(|error| panic!("{query}: {error}"));
        let found = rows(&ctx, query).await.unwrap_or_else(|error| panic!("{query}: {error}"));
        assert_eq!(found, expected, "{query}");
    }
    let copy = format!("copy (select * from orders where o_priority = 1) to '{location}copied.parquet'");
    rows(&ctx, &copy).await.unwrap();
    let found = rows(&alone, &format!("select count(*) from '{location}copied.parquet'")).await.unwrap();
    assert_eq!(found, ["1600"]);
    let error = rows(&ctx, &format!("select * from '{location}none.parquet'")).await.unwrap_err().to_string();
    assert!(error.contains("none.parquet"), "{error}");
}
