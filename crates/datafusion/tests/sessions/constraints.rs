//! What `CREATE EXTERNAL TABLE` says of rows, and files that are not so.

use crate::tables::{batch, error, ints, rows, run, session, write};
use arrow_array::{ArrayRef, Int64Array};
use datafusion::datasource::listing::{ListingOptions, ListingTable, ListingTableConfig, ListingTableUrl};
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::prelude::{SessionConfig, SessionContext};
use marquetry_datafusion::MarquetryFormat;
use std::sync::Arc;
use tempfile::tempdir;

#[tokio::test]
async fn keys_that_are_declared_are_not_believed() {
    let folder = tempdir().unwrap();
    let file = folder.path().join("a.parquet");
    write(&file, &[batch([("k", ints([1, 1, 2])), ("v", ints([3, 3, 4]))])], 10);
    for constraint in ["primary key (k)", "unique (k)", "unique (k, v)"] {
        let ctx = session();
        run(
            &ctx,
            &format!(
                "create external table t (k int not null, v int not null, {constraint}) stored as parquet location '{}'",
                file.display()
            ),
        )
        .await;
        for (sql, wanted) in [
            ("select distinct k, v from t order by k", ["1 | 3", "2 | 4"]),
            ("select k, count(*) from t group by k, v order by k", ["1 | 2", "2 | 1"]),
            ("select k, sum(v) from t group by k order by k", ["1 | 6", "2 | 4"]),
            ("select k, v from t union select k, v from t order by k", ["1 | 3", "2 | 4"]),
        ] {
            assert_eq!(rows(&ctx, sql).await, wanted, "{constraint}: {sql}");
        }
    }
}

#[tokio::test]
async fn nulls_are_found_though_none_are_declared() {
    let folder = tempdir().unwrap();
    let some = Arc::new(Int64Array::from(vec![Some(1), None, Some(3)])) as ArrayRef;
    write(&folder.path().join("a.parquet"), &[batch([("k", ints([1, 2, 3])), ("x", some)])], 10);
    std::fs::write(folder.path().join("a.csv"), "k,x\n1,1\n2,\n3,3\n").unwrap();
    for stored in ["parquet", "csv"] {
        let ctx = session();
        let create = format!(
            "create external table t (k bigint not null, x bigint not null) stored as {stored} location '{}/a.{stored}'",
            folder.path().display()
        );
        run(&ctx, &create).await;
        for (sql, wanted) in [
            ("select k from t where x is null", "2"),
            ("select count(*) from t where x is not null", "2"),
            ("select count(*), count(x), sum(x) from t", "3 | 2 | 4"),
            ("select count(*) from t where x is null or k = 1", "2"),
            ("select k, x from t where x is not distinct from null", "2 | null"),
            ("select count(*) from t where coalesce(x, 7) = 7", "1"),
            ("select k, x from t order by x nulls first limit 1", "2 | null"),
        ] {
            assert_eq!(rows(&ctx, sql).await, [wanted], "{stored}: {sql}");
        }
    }
}

#[tokio::test]
async fn nulls_are_not_inserted_where_none_are_declared() {
    let folder = tempdir().unwrap();
    let ctx = session();
    for (name, stored) in [("p", "parquet"), ("c", "csv")] {
        let create = format!(
            "create external table {name} (k bigint not null, x bigint) stored as {stored} location '{}/{stored}/'",
            folder.path().display()
        );
        run(&ctx, &create).await;
        run(&ctx, &format!("insert into {name} values (1, null)")).await;
        let message = error(&ctx, &format!("insert into {name} values (2, 2), (null, 3)")).await;
        assert!(message.contains("null"), "{message}");
        assert_eq!(rows(&ctx, &format!("select k, x from {name}")).await, ["1 | null"], "{stored}");
    }
}

/// Files added later may contain nulls, although those that the table was made of had none: tables of statements see
/// them, and a `ListingTable` that a program made reports them as an error.
#[tokio::test]
async fn nulls_may_come_later() {
    let folder = tempdir().unwrap();
    let path = folder.path().display();
    // Lists folders anew each time.
    let runtime = RuntimeEnvBuilder::new().with_object_list_cache_limit(0).build_arc().unwrap();
    let ctx = SessionContext::new_with_config_rt(SessionConfig::new(), runtime).enable_url_table();
    marquetry_datafusion::register(&ctx).unwrap();
    run(&ctx, &format!("copy (select 1 as x, 2 as y) to '{path}/a.parquet'")).await;
    run(&ctx, &format!("create external table t stored as parquet location '{path}/'")).await;
    let url = ListingTableUrl::parse(format!("{path}/")).unwrap();
    let options = ListingOptions::new(Arc::new(MarquetryFormat::default()));
    let schema = options.infer_schema(&ctx.state(), &url).await.unwrap();
    let config = ListingTableConfig::new(url).with_listing_options(options).with_schema(schema);
    ctx.register_table("listed", Arc::new(ListingTable::try_new(config).unwrap())).unwrap();
    run(
        &ctx,
        &format!(
            "copy (select column1 as x, column2 as y from (values (4, null), (5, 6))) to '{path}/b.parquet'"
        ),
    )
    .await;
    for (condition, wanted) in [
        ("true", "3 | 2"),
        ("y is null", "1 | 0"),
        ("y is null or y = 6", "2 | 1"),
        ("not y is null", "2 | 2"),
        ("x > 4", "1 | 1"),
    ] {
        let counts = "select count(*), count(y) from";
        assert_eq!(rows(&ctx, &format!("{counts} t where {condition}")).await, [wanted], "{condition}");
        assert_eq!(
            rows(&ctx, &format!("{counts} '{path}/' where {condition}")).await,
            [wanted],
            "{condition}"
        );
    }
    for sql in [
        "select * from listed",
        "select x from listed where y is null or y = 6",
        "select count(*) from listed where x > 4",
    ] {
        let message = error(&ctx, sql).await;
        assert!(
            message.contains("create the table again") && message.contains("b.parquet, column y"),
            "{message}"
        );
    }
}

/// A table of one file is none of no rows where the file is gone. A folder may have no files.
#[tokio::test]
async fn a_file_that_is_gone_is_an_error() {
    let folder = tempdir().unwrap();
    let file = folder.path().join("a.parquet");
    write(&file, &[batch([("k", ints([1, 2]))])], 10);
    let config = SessionConfig::new();
    let runtime = RuntimeEnvBuilder::new().with_object_list_cache_limit(0).build_arc().unwrap();
    let ctx = SessionContext::new_with_config_rt(config, runtime);
    marquetry_datafusion::register(&ctx).unwrap();
    for (name, location) in [("one", "a.parquet"), ("every", "")] {
        let location = folder.path().join(location).display().to_string();
        run(&ctx, &format!("create external table {name} (k int) stored as parquet location '{location}'"))
            .await;
        assert_eq!(rows(&ctx, &format!("select count(*) from {name}")).await, ["2"]);
    }
    std::fs::remove_file(&file).unwrap();
    for sql in ["select count(*) from one", "select k from one where k > 1", "select k from one limit 1"] {
        let error = error(&ctx, sql).await;
        assert!(error.contains("there is no such file") && error.contains("a.parquet"), "{sql}: {error}");
    }
    assert_eq!(rows(&ctx, "select count(*) from every").await, ["0"]);
}
