//! `COPY TO` and `INSERT INTO`.

use crate::tables::{batch, error, ints, plan, rows, run, session, session_with, texts};
use datafusion::prelude::SessionConfig;
use marquetry_arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use marquetry_arrow::dataset::Dataset;
use marquetry_datafusion::DatasetTable;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::tempdir;

/// All files at or below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found.sort();
    found
}

#[tokio::test]
async fn a_query_becomes_one_file_or_many() {
    let folder = tempdir().unwrap();
    let ctx = session();
    ctx.register_batch(
        "t",
        batch([("n", ints(0..1000)), ("w", texts((0..1000).map(|n| format!("w{}", n % 3))))]),
    )
    .unwrap();
    let path = folder.path().display();
    assert_eq!(
        rows(&ctx, &format!("copy (select * from t where n < 900) to '{path}/one.parquet'")).await,
        ["900"]
    );
    assert_eq!(
        rows(&ctx, &format!("select count(*), sum(n), max(w) from '{path}/one.parquet'")).await,
        ["900 | 404550 | w2"]
    );
    assert_eq!(rows(&ctx, &format!("copy t to '{path}/many/' stored as marquetry")).await, ["1000"]);
    assert!(
        files(&folder.path().join("many"))
            .iter()
            .all(|file| file.extension().is_some_and(|ext| ext == "parquet"))
    );
    run(&ctx, &format!("create external table many stored as marquetry location '{path}/many/'")).await;
    assert_eq!(rows(&ctx, "select count(*), sum(n) from many").await, ["1000 | 499500"]);
    // A query without rows makes a file, too.
    assert_eq!(
        rows(&ctx, &format!("copy (select * from t where n < 0) to '{path}/none.parquet'")).await,
        ["0"]
    );
    assert_eq!(rows(&ctx, &format!("select count(*) from '{path}/none.parquet'")).await, ["0"]);
}

#[tokio::test]
async fn null_keys_have_the_folder_that_means_null() {
    let folder = tempdir().unwrap();
    let ctx = session();
    let path = folder.path().display();
    let rows_of_keys = "select column1 id, column2 k, column3 w from \
                        (values (1, 5, 'a'), (2, null, 'a'), (3, 0, null), (4, null, null), (5, 5, ''))";
    run(&ctx, &format!("copy ({rows_of_keys}) to '{path}/t/' stored as parquet partitioned by (k, w)")).await;
    let mut folders: Vec<String> = files(&folder.path().join("t"))
        .iter()
        .map(|file| file.parent().unwrap().strip_prefix(folder.path()).unwrap().display().to_string())
        .collect();
    folders.dedup();
    let null = "__HIVE_DEFAULT_PARTITION__";
    assert_eq!(
        folders,
        [
            format!("t/k=0/w={null}"),
            "t/k=5/w=".to_owned(),
            "t/k=5/w=a".to_owned(),
            format!("t/k={null}/w={null}"),
            format!("t/k={null}/w=a")
        ]
    );
    let table = DatasetTable::try_new(Dataset::open([folder.path().join("t")]).unwrap()).unwrap();
    ctx.register_table("t", Arc::new(table)).unwrap();
    assert_eq!(
        rows(&ctx, "select id, k, w from t order by id").await,
        ["1 | 5 | a", "2 | null | a", "3 | 0 | null", "4 | null | null", "5 | 5 | "]
    );
    let kept = format!(
        "copy ({rows_of_keys}) to '{path}/kept/' stored as parquet partitioned by (k) \
         options ('execution.keep_partition_by_columns' 'true')"
    );
    let message = error(&ctx, &kept).await;
    assert!(message.contains("the key k is null in some rows"), "{message}");
    let text = format!("select 1 id, '{null}' k union all select 2, 'a'");
    for keeps in [true, false] {
        let text = format!(
            "copy ({text}) to '{path}/kept/' stored as parquet partitioned by (k) \
             options ('execution.keep_partition_by_columns' '{keeps}')"
        );
        let message = error(&ctx, &text).await;
        assert!(message.contains(&format!("the key k is the text {null} in some rows")), "{message}");
    }
    assert!(files(folder.path()).iter().all(|file| !file.starts_with(folder.path().join("kept"))));
}

#[tokio::test]
async fn partitions_are_folders() {
    let folder = tempdir().unwrap();
    let ctx = session();
    ctx.register_batch(
        "t",
        batch([("n", ints(0..1000)), ("w", texts((0..1000).map(|n| format!("w{}", n % 3))))]),
    )
    .unwrap();
    let path = folder.path().display();
    run(&ctx, &format!("copy t to '{path}/' stored as parquet partitioned by (w)")).await;
    assert_eq!(files(folder.path()).len(), 3);
    run(&ctx, &format!("create external table p stored as parquet partitioned by (w) location '{path}/'"))
        .await;
    assert_eq!(
        rows(&ctx, "select w, count(*) from p group by w order by w").await,
        ["w0 | 334", "w1 | 333", "w2 | 333"]
    );
    run(&ctx, "insert into p select n, nullif(w, 'w1') from p where n > 994").await;
    assert_eq!(files(folder.path()).len(), 6);
    assert_eq!(rows(&ctx, "select count(*), count(w), min(n) from p where n > 994").await, ["10 | 9 | 995"]);
    assert_eq!(rows(&ctx, "select n from p where w is null order by n").await, ["997"]);
    run(&ctx, "insert into p values (5000, 'w9'), (5001, 'w0')").await;
    assert_eq!(
        rows(&ctx, "select w, count(*), max(n) from p group by w order by w").await,
        ["w0 | 337 | 5001", "w1 | 333 | 997", "w2 | 335 | 998", "w9 | 1 | 5000", "null | 1 | 997"]
    );
}

/// `month=05` is the month 5.
#[tokio::test]
async fn keys_are_found_however_they_are_spelled() {
    let folder = tempdir().unwrap();
    let ctx = session();
    let path = folder.path().display();
    for (number, spelled) in ["m=05", "m=5", "m=12", "m=+5"].iter().enumerate() {
        run(&ctx, &format!("copy (select {number} as n) to '{path}/{spelled}/a.parquet'")).await;
    }
    for of in ["bigint", "int", "double", "decimal(9, 2)"] {
        let table = of.split('(').next().unwrap();
        let create = format!(
            "create external table {table}s (n bigint, m {of}) stored as parquet partitioned by (m) location '{path}/'"
        );
        run(&ctx, &create).await;
        for condition in ["m = 5", "5 = m", "m = 5 and n < 9", "m in (5)", "m = 5 or m = 7", "not (m <> 5)"] {
            let sql = format!("select n from {table}s where {condition} order by n");
            assert_eq!(rows(&ctx, &sql).await, ["0", "1", "3"], "{sql}");
        }
        assert_eq!(rows(&ctx, &format!("select n from {table}s where m = 12")).await, ["2"]);
        assert!(!plan(&ctx, &format!("select n from {table}s where m = 12")).await.contains("m=5/"));
    }
    run(
        &ctx,
        &format!("create external table texts stored as parquet partitioned by (m) location '{path}/'"),
    )
    .await;
    assert_eq!(rows(&ctx, "select n from texts where m = '05'").await, ["0"]);
}

/// Whether inserted files contain the keys, too, is an option of the table.
#[tokio::test]
async fn tables_say_whether_files_keep_keys() {
    let folder = tempdir().unwrap();
    let ctx = session();
    let path = folder.path().display();
    for (keeps, columns) in [(true, vec!["n", "k"]), (false, vec!["n"])] {
        run(
            &ctx,
            &format!(
                "create external table t{keeps} (n int, k int) stored as parquet partitioned by (k) location '{path}/{keeps}/' \
                 options ('execution.keep_partition_by_columns' '{keeps}')"
            ),
        )
        .await;
        run(&ctx, &format!("insert into t{keeps} values (1, 2)")).await;
        assert_eq!(rows(&ctx, &format!("select n, k from t{keeps}")).await, ["1 | 2"]);
        let file = File::open(&files(&folder.path().join(keeps.to_string()))[0]).unwrap();
        let footer = ArrowReaderMetadata::load(file, ArrowReaderOptions::new()).unwrap();
        let names: Vec<&String> = footer.schema().fields().iter().map(|field| field.name()).collect();
        assert_eq!(names, columns);
    }
    for (option, sentence) in [
        ("'execution.anything' '1'", "execution.anything is not an option of a statement"),
        ("'execution.keep_partition_by_columns' '1'", "'1' is none of true, false"),
    ] {
        let sql = format!(
            "create external table u (n int) stored as parquet location '{path}/u/' options ({option})"
        );
        let message = error(&ctx, &sql).await;
        assert!(message.contains(sentence), "{message}");
    }
}

#[tokio::test]
async fn rows_are_inserted() {
    let folder = tempdir().unwrap();
    let ctx = session();
    let path = folder.path().display();
    run(&ctx, &format!("create external table t (n int, w varchar) stored as parquet location '{path}/' with order (n asc nulls last)")).await;
    run(&ctx, "insert into t values (3, 'c'), (1, 'a'), (2, null)").await;
    assert_eq!(rows(&ctx, "select * from t order by n").await, ["1 | a", "2 | null", "3 | c"]);
    run(&ctx, "insert into t select n + 10, w from t").await;
    assert_eq!(rows(&ctx, "select count(*), count(w), sum(n) from t").await, ["6 | 4 | 42"]);
    let file = File::open(&files(folder.path())[0]).unwrap();
    let footer = ArrowReaderMetadata::load(file, ArrowReaderOptions::new()).unwrap();
    let sorting = footer.metadata().row_group(0).sorting_columns();
    assert_eq!(sorting.len(), 1, "the order is recorded");
    assert!(error(&ctx, "insert overwrite t values (1, 'x')").await.contains("not overwritten"));
}

#[tokio::test]
async fn a_statement_that_fails_leaves_no_file() {
    let folder = tempdir().unwrap();
    let ctx = session_with(SessionConfig::new().with_target_partitions(2).with_batch_size(100));
    ctx.register_batch(
        "t",
        batch([("n", ints(0..10_000)), ("w", texts((0..10_000).map(|n| format!("w{}", n / 2500))))]),
    )
    .unwrap();
    let path = folder.path().display();
    let bad = "select 10 / (9000 - n) as q, w from t";
    assert!(error(&ctx, &format!("copy ({bad}) to '{path}/one.parquet'")).await.contains("Divide by zero"));
    assert!(
        error(&ctx, &format!("copy ({bad}) to '{path}/parts/' stored as parquet partitioned by (w)"))
            .await
            .contains("Divide by zero")
    );
    assert!(
        error(&ctx, &format!("copy ({bad}) to '{path}/many/' stored as parquet"))
            .await
            .contains("Divide by zero")
    );
    assert_eq!(files(folder.path()), Vec::<PathBuf>::new());
}

#[tokio::test]
async fn types_survive() {
    let folder = tempdir().unwrap();
    let ctx = session();
    let file = folder.path().join("types.parquet");
    let query = "select 1::tinyint a, 2::smallint unsigned b, 3.25::decimal(9, 2) c, date '2024-02-29' d, timestamp '2024-02-29 12:00:00.123456' e, \
        true f, x'0aff' g, 'text' h, [1, null, 3] i, {x: 1, y: 'z'} j, arrow_cast('2024-01-01T00:00:00Z', 'Timestamp(Millisecond, Some(\"UTC\"))') k, \
        1.5::float l, null::int m, arrow_cast('10:20:30', 'Time64(Microsecond)') o";
    run(&ctx, &format!("copy ({query}) to '{}'", file.display())).await;
    let of_file = format!("select * from '{}'", file.display());
    assert_eq!(rows(&ctx, &of_file).await, rows(&ctx, query).await);
}
