//! Folders and patterns that no statement declares: the tables of a cluster are those of one process.

use crate::parts;
use crate::tables::rows;
use clap::Parser;
use datafusion::prelude::SessionContext;
use marquetry_ballista::client;
use std::path::Path;
use tempfile::tempdir;

/// Folders below which there is a file each, and what its rows are.
type Shape = (&'static str, &'static [(&'static str, &'static str)]);

const SHAPES: [Shape; 13] = [
    (
        "ints",
        &[
            ("k=9", "1 as i"),
            ("k=10", "2 as i"),
            ("k=__HIVE_DEFAULT_PARTITION__", "3 as i"),
            ("k=-3", "4 as i"),
        ],
    ),
    (
        "dates",
        &[("d=2024-02-29", "1 as i"), ("d=1969-12-31", "2 as i"), ("d=__HIVE_DEFAULT_PARTITION__", "3 as i")],
    ),
    (
        "texts",
        &[
            ("t=a", "1 as i"),
            ("t=", "2 as i"),
            ("t=__HIVE_DEFAULT_PARTITION__", "3 as i"),
            ("t=x%20y%2Fz=", "4 as i"),
        ],
    ),
    ("decimals", &[("k=1.50", "1 as i"), ("k=2", "2 as i"), ("k=__HIVE_DEFAULT_PARTITION__", "3 as i")]),
    ("padded", &[("k=05", "1 as i"), ("k=5", "2 as i"), ("k=12", "3 as i")]),
    ("nothing", &[("k=__HIVE_DEFAULT_PARTITION__", "1 as i")]),
    (
        "several",
        &[
            ("a=1/b=x", "1 as i"),
            ("a=1/b=__HIVE_DEFAULT_PARTITION__", "2 as i"),
            ("a=__HIVE_DEFAULT_PARTITION__/b=x", "3 as i"),
            ("a=__HIVE_DEFAULT_PARTITION__/b=__HIVE_DEFAULT_PARTITION__", "4 as i"),
        ],
    ),
    ("uneven", &[("a=1", "1 as i"), ("a=2/b=7", "2 as i"), ("", "3 as i")]),
    ("stored", &[("k=1", "1 as i, 70 as k"), ("k=2", "2 as i, 80 as k")]),
    (
        "types",
        &[
            ("k=1", "cast(1 as int) as i"),
            ("k=2", "3000000000 as i"),
            ("k=3", "null as j, cast(7 as smallint) as i"),
        ],
    ),
    ("escaped%k", &[("my%20key=1", "1 as i"), ("my%20key=2", "2 as i")]),
    ("plain", &[("", "1 as i"), ("sub", "2 as i, 'x' as t"), ("_hidden", "3 as i")]),
    ("mixed", &[("", "cast(1 as int) as i"), ("sub", "3000000000 as i")]),
];

async fn write(ctx: &SessionContext, folder: &Path) {
    let scratch = tempdir().unwrap();
    for (name, files) in SHAPES {
        for (n, (below, columns)) in files.iter().enumerate() {
            let folder = folder.join(name).join(below);
            std::fs::create_dir_all(&folder).unwrap();
            // What is copied to is a URL, in which such names are others.
            let plain = scratch.path().join("plain.parquet");
            rows(ctx, &format!("copy (select {columns}) to '{}'", plain.display())).await.unwrap();
            std::fs::rename(plain, folder.join(format!("{n}.parquet"))).unwrap();
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn folders_are_the_tables_that_one_process_has() {
    let folder = tempdir().unwrap();
    let alone = marquetry_sql::local(&marquetry_sql::CommandLine::parse_from(["marquetry-sql"])).unwrap();
    write(&alone, folder.path()).await;
    let (_part, address) = parts::local(2);
    let ctx = client(&address).unwrap();
    for (name, _) in SHAPES {
        let table = format!("'{}/{name}/'", folder.path().display());
        let columns = rows(&alone, &format!("describe {table}")).await.unwrap();
        let names: Vec<String> =
            columns.iter().map(|row| row.split(" | ").next().unwrap().to_owned()).collect();
        let mut queries =
            vec![format!("select * from {table} order by i"), format!("select count(*) from {table}")];
        for key in &names {
            let key = format!("\"{key}\"");
            queries.extend([
                format!("select {key}, count(*) from {table} group by {key} order by {key}"),
                format!("select i from {table} where {key} is null or {key} < '5' order by i"),
                format!("select i from {table} where not ({key} in (select {key} from {table} where i > 2)) order by i"),
            ]);
        }
        for query in queries {
            let shown = |found: datafusion::error::Result<Vec<String>>| found.map_err(|_| "an error");
            let expected = shown(rows(&alone, &query).await);
            let found = rows(&ctx, &query).await;
            if let (Ok(_), Err(error)) = (&expected, &found) {
                panic!("{query}: {error}");
            }
            assert_eq!(shown(found), expected, "{query}");
        }
    }

    // Files that come later are read, with their nulls, and rows are added to a folder without keys.
    let below = |name: &str| folder.path().join(name).display().to_string();
    let view = format!("create view v as select * from '{}/'", below("ints"));
    rows(&ctx, &view).await.unwrap();
    std::fs::rename(folder.path().join("ints/k=9/0.parquet"), folder.path().join("ints/k=10/b.parquet"))
        .unwrap();
    rows(&alone, &format!("copy (select cast(null as bigint) as i) to '{}/k=9/c.parquet'", below("ints")))
        .await
        .unwrap();
    assert_eq!(rows(&ctx, "select k from v where i is null").await.unwrap(), ["9"]);
    assert_eq!(rows(&ctx, "select i from v where k = 10 order by i").await.unwrap(), ["1", "2"]);
    rows(&ctx, &format!("insert into '{}/' values (8)", below("mixed"))).await.unwrap();
    let sum = format!("select count(*), sum(i) from '{}/'", below("mixed"));
    assert_eq!(rows(&ctx, &sum).await.unwrap(), ["3 | 3000000009"]);
    let keyed = format!("insert into '{}/' values (1, 2)", below("ints"));
    let error = rows(&ctx, &keyed).await.unwrap_err().to_string();
    assert!(error.contains("CREATE EXTERNAL TABLE"), "{error}");
    std::fs::create_dir(folder.path().join("csv")).unwrap();
    std::fs::write(folder.path().join("csv/a.csv"), "a\n7\n").unwrap();
    for csv in ["csv/", "csv/*.csv"] {
        let sql = format!("select a from '{}'", below(csv));
        assert_eq!(rows(&ctx, &sql).await.unwrap(), ["7"], "{sql}");
    }
}
