//! Folders called `key=value` as keys of tables that statements declare.

use crate::tables::{batch, error, ints, rows, run, session, shown, texts, write};
use arrow_array::{ArrayRef, StringArray};
use std::path::Path;
use std::sync::Arc;
use tempfile::tempdir;

/// A file of these ids below a folder.
fn file(folder: &Path, below: &str, ids: std::ops::Range<i32>) {
    let folder = folder.join(below);
    std::fs::create_dir_all(&folder).unwrap();
    write(&folder.join("a.parquet"), &[batch([("id", ints(ids))])], 10);
}

const NULL: &str = "__HIVE_DEFAULT_PARTITION__";

/// A folder of `__HIVE_DEFAULT_PARTITION__` has rows whose key is null, of whatever type that is.
#[tokio::test]
async fn keys_may_be_null() {
    let folder = tempdir().unwrap();
    let path = folder.path().display();
    for (key, ids) in [("0", 0..1), ("5", 1..3), ("05", 3..4), ("-7", 4..5), (NULL, 5..9)] {
        file(folder.path(), &format!("k={key}"), ids);
    }
    let texts =
        [("k is distinct from '5'", "7"), ("k = '5'", "2"), ("k <> '0'", "4"), ("k in ('5', '05')", "3")];
    let numbers =
        [("k is distinct from 5", "6"), ("k = 5", "3"), ("k <> 0", "4"), ("k between 0 and 7", "4")];
    let create = [
        ("(id int, k bigint)", "partitioned by (k)", numbers, "5 | 0 | -7"),
        ("(id int, k decimal(9, 2))", "partitioned by (k)", numbers, "5 | 0.00 | -7.00"),
        ("(id int not null, k smallint)", "partitioned by (k)", numbers, "5 | 0 | -7"),
        ("(id int, k varchar)", "partitioned by (k)", texts, "5 | 0 | -7"),
        ("", "partitioned by (k)", texts, "5 | 0 | -7"),
        ("", "", texts, "5 | 0 | -7"),
    ];
    for (columns, keys, conditions, first) in create {
        let ctx = session();
        run(&ctx, &format!("create external table t {columns} stored as parquet {keys} location '{path}/'"))
            .await;
        let said = format!("{columns} {keys}");
        for (condition, wanted) in conditions.into_iter().chain([
            ("k is null", "4"),
            ("k is not null", "5"),
            ("k = null", "0"),
            ("k is null and id > 6", "2"),
            ("k is null or id = 1", "5"),
            ("not (k is null) and id < 2", "2"),
            ("coalesce(arrow_cast(k, 'Int64'), 5) = 5 and id > 2", "5"),
        ]) {
            let sql = format!("select count(*) from t where {condition}");
            assert_eq!(rows(&ctx, &sql).await, [wanted], "{said}: {sql}");
            // The planner evaluates the first, the execution this one.
            let sql = format!("select count(*) filter (where {condition}) from t");
            assert_eq!(rows(&ctx, &sql).await, [wanted], "{said}: {sql}");
        }
        let found = rows(&ctx, "select count(*), count(k) from t").await;
        assert_eq!(found, ["9 | 5"], "{said}");
        let found = rows(&ctx, "select count(distinct k), min(id) from t where k is null").await;
        assert_eq!(found, ["0 | 5"], "{said}");
        let sql = "select (select count(*) from t where k is null limit 1) + 1, \
                   (select k from t where id = 0) a, (select k from t where id = 4) b";
        assert_eq!(rows(&ctx, sql).await, [first], "{said}");
        let found = rows(&ctx, "select id, k from t order by k desc nulls first, id limit 3").await;
        assert_eq!(found, ["5 | null", "6 | null", "7 | null"], "{said}");
        let sql = "select a.id from t a join t b on a.k is not distinct from b.k where b.id = 8 order by a.id limit 2";
        assert_eq!(rows(&ctx, sql).await, ["5", "6"], "{said}");
        assert_eq!(
            rows(&ctx, "select count(*) from t a join t b on a.k = b.k where b.id = 8").await,
            ["0"],
            "{said}"
        );
        assert_eq!(rows(&ctx, "select id from t where k is null order by id limit 1").await, ["5"], "{said}");
        assert_eq!(rows(&ctx, "select count(*) from (select 1 from t limit 8)").await, ["8"], "{said}");
    }
}

/// Keys of several levels, and files whose folders have none of them.
#[tokio::test]
async fn keys_stand_below_each_other() {
    let folder = tempdir().unwrap();
    let path = folder.path().display();
    for (below, ids) in [
        (format!("k={NULL}/w={NULL}"), 0..1),
        (format!("k={NULL}/w=a"), 1..2),
        (format!("k=1/w={NULL}"), 2..3),
        ("k=1/w=a".to_owned(), 3..4),
        ("k=2/w=a%20b".to_owned(), 4..5),
        ("k=2/w=a:b".to_owned(), 5..6),
        ("k=2/w=a%3Ab".to_owned(), 6..7),
        ("k=2/w=%61".to_owned(), 7..8),
    ] {
        file(folder.path(), &below, ids);
    }
    let ctx = session();
    run(
        &ctx,
        &format!(
            "create external table t (id int, w varchar, k int) stored as parquet partitioned by (k, w) location '{path}/'"
        ),
    )
    .await;
    for (condition, wanted) in [
        ("true", &["0", "1", "2", "3", "4", "5", "6", "7"][..]),
        ("k is null", &["0", "1"]),
        ("w is null", &["0", "2"]),
        ("w is null and k is null", &["0"]),
        ("k = 1 and w = 'a'", &["3"]),
        ("w = 'a'", &["1", "3", "7"]),
        ("k = 2 and w = 'a b'", &["4"]),
        ("k = 2 and w = 'a:b'", &["5", "6"]),
        ("k + 1 > 2 or w = 'a' and id < 2", &["1", "4", "5", "6", "7"]),
        // Evaluated on the keys alone: a null key is not a division by zero.
        ("10 / k > 5", &["2", "3"]),
    ] {
        let sql = format!("select id from t where {condition} order by id");
        assert_eq!(rows(&ctx, &sql).await, wanted, "{condition}");
    }
    // Of files that are ruled out nothing is read.
    let plan = shown(&ctx, "explain select id from t where k = 1 and w is null").await;
    assert!(plan.contains("k=1/w=__HIVE") && !plan.contains("w=a"), "{plan}");
    std::fs::create_dir_all(folder.path().join("k=x/w=a")).unwrap();
    file(folder.path(), "k=x/w=a", 9..10);
    let ctx = session();
    run(
        &ctx,
        &format!(
            "create external table t (id int, w varchar, k int) stored as parquet partitioned by (k, w) location '{path}/'"
        ),
    )
    .await;
    let message = error(&ctx, "select id from t").await;
    assert!(message.contains("k=x/w=a/a.parquet: the key k") && message.contains("'x'"), "{message}");
}

/// What is inserted is found again: null, and texts of all kinds.
#[tokio::test]
async fn keys_are_inserted() {
    let folder = tempdir().unwrap();
    let path = folder.path().display();
    let ctx = session();
    let odd = [
        "", "a", "a/b", "a=b", "100%", "%41", "a b", "Grüße", "日本", "a+b", "?#&", ".", "..", "'", "\"",
        "\\", "~", "*",
    ];
    let keys = Arc::new(StringArray::from(odd.to_vec())) as ArrayRef;
    ctx.register_batch("odd", batch([("id", ints(0..odd.len() as i32)), ("k", keys)])).unwrap();
    for (name, columns, options) in [
        ("typed", "(id int, k varchar)", ""),
        ("kept", "(id int, k varchar)", "options ('execution.keep_partition_by_columns' 'true')"),
    ] {
        let create = format!(
            "create external table {name} {columns} stored as parquet partitioned by (k) location '{path}/{name}/' {options}"
        );
        run(&ctx, &create).await;
        run(&ctx, &format!("insert into {name} select id, k from odd")).await;
        let sql = format!("select t.id, t.k from {name} t join odd on t.id = odd.id and t.k = odd.k");
        assert_eq!(rows(&ctx, &sql).await.len(), odd.len(), "{name}");
        for (number, key) in odd.iter().enumerate() {
            let sql = format!("select id from {name} where k = '{}'", key.replace('\'', "''"));
            assert_eq!(rows(&ctx, &sql).await, [number.to_string()], "{name}: {key}");
        }
    }
    // DuckDB reads no folder with a second one.
    assert!(folder.path().join("typed/k=a%3Db").is_dir());
    run(&ctx, "insert into typed values (100, null)").await;
    assert_eq!(rows(&ctx, "select id, k from typed where k is null").await, ["100 | null"]);
    let message = error(&ctx, "insert into kept values (100, null)").await;
    assert!(message.contains("the key k is null in some rows"), "{message}");
    for (name, key) in [("n", "bigint"), ("d", "date"), ("f", "double"), ("b", "boolean")] {
        let create = format!(
            "create external table {name} (id int, k {key}) stored as parquet partitioned by (k) location '{path}/{name}/'"
        );
        run(&ctx, &create).await;
        let values = match name {
            "d" => "(1, date '1970-01-01'), (2, null), (3, date '2024-02-29')",
            "b" => "(1, false), (2, null), (3, true)",
            _ => "(1, 0), (2, null), (3, 7)",
        };
        // Twice: the second statement finds a folder of null keys.
        for _ in 0..2 {
            run(&ctx, &format!("insert into {name} select * from (values {values}) v(id, k)")).await;
        }
        let found =
            rows(&ctx, &format!("select id, count(*), count(k) from {name} group by id order by id")).await;
        assert_eq!(found, ["1 | 2 | 2", "2 | 2 | 0", "3 | 2 | 2"], "{name}");
    }
    run(
        &ctx,
        &format!(
            "create external table r (id int, k bigint not null) stored as parquet partitioned by (k) location '{path}/n/'"
        ),
    )
    .await;
    let message = error(&ctx, "insert into r values (4, 5), (5, null)").await;
    assert!(message.contains("the key k is null in some rows"), "{message}");
    assert_eq!(rows(&ctx, "select count(*), count(k) from r").await, ["6 | 4"]);
}

/// Other formats, too; but DataFusion, which writes them, has no folder for null.
#[tokio::test]
async fn keys_of_other_formats() {
    let folder = tempdir().unwrap();
    let path = folder.path().display();
    for (key, ids) in [("0", "1\n2\n"), ("5", "3\n"), (NULL, "4\n5\n6\n")] {
        let below = folder.path().join(format!("k={key}"));
        std::fs::create_dir_all(&below).unwrap();
        std::fs::write(below.join("a.csv"), format!("id\n{ids}")).unwrap();
    }
    let ctx = session();
    run(
        &ctx,
        &format!(
            "create external table t (id int, k bigint) stored as csv partitioned by (k) location '{path}/'"
        ),
    )
    .await;
    assert_eq!(rows(&ctx, "select count(*), count(k), sum(id) from t where k is null").await, ["3 | 0 | 15"]);
    assert_eq!(rows(&ctx, "select id from t where k = 0 order by id").await, ["1", "2"]);
    run(&ctx, "insert into t values (7, 0)").await;
    assert_eq!(rows(&ctx, "select id from t where k = 0 order by id").await, ["1", "2", "7"]);
    let message = error(&ctx, "insert into t values (8, null)").await;
    assert!(message.contains("null"), "{message}");
    assert_eq!(rows(&ctx, "select count(*) from t").await, ["7"]);
    // A plain text has only one spelling as a folder.
    let create = format!(
        "create external table s (id int, k varchar) stored as csv partitioned by (k) location '{path}/'"
    );
    run(&ctx, &create).await;
    assert_eq!(rows(&ctx, "select id from s where k = '5'").await, ["3"]);
    let names = texts(["5".to_owned()]);
    ctx.register_batch("names", batch([("k", names)])).unwrap();
    assert_eq!(rows(&ctx, "select s.id from s join names on s.k = names.k").await, ["3"]);
}

/// Groups of files with distinct keys need no repartitioning. Two spellings of a key belong to one group.
#[tokio::test]
async fn files_of_a_key_stay_together() {
    let folder = tempdir().unwrap();
    for (key, ids) in [("5", 0..3), ("6", 3..4), (NULL, 4..6)] {
        file(folder.path(), &format!("k={key}"), ids);
    }
    let path = folder.path().display();
    let sql = "select k, count(*) from t group by k order by k";
    for (again, wanted, is_exchanged) in
        [(None, ["5 | 3", "6 | 1", "null | 2"], false), (Some("k=05"), ["5 | 5", "6 | 1", "null | 2"], true)]
    {
        if let Some(again) = again {
            file(folder.path(), again, 6..8);
        }
        let ctx = session();
        run(&ctx, "set datafusion.optimizer.preserve_file_partitions = 1").await;
        let create = "create external table t (id int, k bigint) stored as parquet partitioned by (k)";
        run(&ctx, &format!("{create} location '{path}/'")).await;
        assert_eq!(rows(&ctx, sql).await, wanted);
        let plan = shown(&ctx, &format!("explain {sql}")).await;
        assert_eq!(plan.contains("RepartitionExec: partitioning=Hash"), is_exchanged, "{plan}");
    }
}
