//! Answers that a cluster gave wrong, or not at all.

use crate::parts;
use crate::tables::{rows, session};
use datafusion::prelude::SessionContext;
use marquetry_ballista::client;
use std::time::Duration;
use tempfile::tempdir;

/// What a query gives within a minute.
async fn answer(ctx: &SessionContext, sql: &str) -> Vec<String> {
    let rows = tokio::time::timeout(Duration::from_secs(60), rows(ctx, sql)).await;
    let rows = rows.unwrap_or_else(|_| panic!("it does not end: {sql}"));
    rows.unwrap_or_else(|error| panic!("{sql}: {error}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_answers_as_it_should() {
    let folder = tempdir().unwrap();
    let path = folder.path().display();
    let alone = session();
    // Files that state their order, with rows of each between those of the others.
    for file in 0..4 {
        let table = format!(
            "create external table f{file} (n bigint, g bigint, t timestamp(6), x double, d decimal(9, 2)) stored as parquet \
             location '{path}/t/' with order (n)"
        );
        answer(&alone, &table).await;
        let insert = format!(
            "insert into f{file} select value * 4 + {file}, value % 3, \
             arrow_cast(1704067200000000 + value * 600000000, 'Timestamp(Microsecond, None)'), \
             case when value % 5 = 0 then 'NaN'::double else (value % 7) / 2.0 end, cast(value % 4 as decimal(9, 2)) + 0.75 \
             from generate_series(0, 499) order by value"
        );
        answer(&alone, &insert).await;
    }
    let (_part, address) = parts::local(2);
    let ctx = client(&address).unwrap();
    let create = format!("create external table t stored as parquet location '{path}/t/'");
    answer(&ctx, &create).await;
    let ordered = format!(
        "create external table o (n bigint, g bigint) stored as parquet location '{path}/t/' with order (n)"
    );
    answer(&ctx, &ordered).await;

    // Exchanges between stages keep no order.
    for (table, group) in [("t", "n"), ("o", "n"), ("t", "n, g")] {
        let sql = format!("select n, count(*) from {table} where g < 2 group by {group} order by n");
        let found = answer(&ctx, &sql).await;
        let numbers: Vec<i64> =
            found.iter().map(|row| row.split(' ').next().unwrap().parse().unwrap()).collect();
        assert!(numbers.is_sorted() && numbers.len() == 1336, "{sql}");
    }
    let numbers = answer(&ctx, "select n from o order by n limit 5 offset 1").await;
    assert_eq!(numbers, ["1", "2", "3", "4", "5"]);

    // Window functions over no rows would never end with adaptive planning, which therefore is refused.
    let window =
        "select n, row_number() over (partition by g order by n) as row, sum(n) over (partition by t) from t";
    assert!(answer(&ctx, &format!("{window} where d = 1000.5")).await.is_empty());
    assert_eq!(answer(&ctx, &format!("{window} where n = 5")).await, ["5 | 1 | 5"]);

    // Rows without columns.
    for (condition, count) in
        [("exists (select 1 from t where n > 5)", "2000"), ("not exists (select 1 from t where n > 5)", "0")]
    {
        assert_eq!(
            answer(&ctx, &format!("select count(*) from t where {condition}")).await,
            [count],
            "{condition}"
        );
    }

    for sql in ["set ballista.planner.adaptive.enabled = true", window] {
        let refused = rows(&ctx, sql).await.expect_err("it has no end").to_string();
        assert!(refused.contains("ballista.planner.adaptive.enabled = true is refused"), "{refused}");
    }
    answer(&ctx, "set ballista.planner.adaptive.enabled = false").await;

    // Declared keys that the rows violate.
    for stored in ["parquet", "csv"] {
        let keyed = format!("'{path}/keyed.{stored}'");
        answer(
            &alone,
            &format!("copy (select value % 2 as k from generate_series(0, 9)) to {keyed} stored as {stored}"),
        )
        .await;
        let create = format!(
            "create external table keyed_{stored} (k bigint not null, primary key (k)) stored as {stored} location {keyed}"
        );
        answer(&ctx, &create).await;
        assert_eq!(
            answer(&ctx, &format!("select distinct k from keyed_{stored} order by k")).await,
            ["0", "1"],
            "{stored}"
        );
    }

    // Files of no bytes are not passed over.
    let broken = folder.path().join("broken");
    std::fs::create_dir(&broken).unwrap();
    std::fs::copy(folder.path().join("keyed.parquet"), broken.join("a.parquet")).unwrap();
    let create = format!("create external table broken stored as parquet location '{path}/broken/'");
    answer(&ctx, &create).await;
    std::fs::write(broken.join("b.parquet"), "").unwrap();
    for from in [format!("'{path}/broken/'"), format!("'{path}/broken/*.parquet'"), "broken".to_owned()] {
        let error =
            rows(&ctx, &format!("select count(*) from {from}")).await.expect_err("b is cut off").to_string();
        assert!(error.contains("not a Parquet file: 0 bytes, in file "), "{error}");
    }

    // Results that DataFusion alone gets wrong are right here, too: the scheduler runs Marquetry's rules.
    for (sql, expected) in [
        ("select arrow_typeof(timestamptz '2020-01-01 00:00:00+05') like '%+00:00%'", &["true"][..]),
        (
            "select g from (values (1, 'NaN'::double), (1, 1.0), (2, 5.0), (2, 2.0), (3, 'NaN'::double)) v(g, a) \
             group by g order by min(a) limit 2",
            &["1", "2"],
        ),
        (
            "select n from t where cast(d as int) = 3 and g = 0 and n < 60 order by n",
            &["12", "13", "14", "15"],
        ),
        ("select n from t where n / 4 = 1 order by n desc", &["7", "6", "5", "4"]),
        ("select min(n), max(t), count(g) from t where n > 5 and false", &["NULL | NULL | 0"]),
        (
            "select a.n, b.x from t a left join (select n, x from t where false) b on a.n = b.n where a.n = 5",
            &["5 | NULL"],
        ),
        // Functions of lists, structs and VARIANT are those of executors, too.
        ("select n, array_length([n, g]) from t where [n, g][1] = 5", &["5 | 2"]),
        ("select struct(n, g)['c0'] + 1 from t where named_struct('a', n)['a'] = 5", &["6"]),
        ("select variant_to_json(json_to_variant('[' || n || ']')) from t where n = 5", &["[5]"]),
        (
            "select count(*), count(b.n) from t a left join t b on a.n = b.n and b.g in (select g from t where n < 2)",
            &["2000 | 668"],
        ),
        (
            "select count(*) from (select cast(t as date) as day, n from t) where day = date '2024-01-02'",
            &["576"],
        ),
        (
            "select count(*) from (select t as moment from t) where moment < timestamp '2024-01-01 00:10:00.0000001'",
            &["8"],
        ),
    ] {
        assert_eq!(answer(&ctx, sql).await, expected, "{sql}");
    }

    // A path into a VARIANT, which the file is asked about.
    let variants = format!("'{path}/variants.parquet'");
    let copy =
        "select value as n, json_to_variant('{\"id\": ' || value || '}') as v from generate_series(0, 9)";
    answer(&alone, &format!("copy ({copy}) to {variants}")).await;
    let sql =
        format!("select n, v:id::bigint + 1, variant_to_json(v) from {variants} where v:id::bigint = 7");
    assert_eq!(answer(&ctx, &sql).await, ["7 | 8 | {\"id\":7}"]);

    // Rows are inserted with the keys in the files where the table says so, and in its order.
    let kept = format!(
        "create external table kept (n bigint, k bigint) stored as parquet partitioned by (k) location '{path}/kept/' \
         with order (n desc) options ('execution.keep_partition_by_columns' 'true')"
    );
    answer(&ctx, &kept).await;
    answer(&ctx, "insert into kept select n, g from t where n < 9 order by n").await;
    let files = format!("select n, k from '{path}/kept/k=0/'");
    assert_eq!(answer(&alone, &files).await, ["3 | 0", "2 | 0", "1 | 0", "0 | 0"]);
}

/// A table of one file is one partition, of which plans make more.
#[tokio::test(flavor = "multi_thread")]
async fn joins_are_whole_however_small_the_tables_are() {
    let folder = tempdir().unwrap();
    let path = folder.path().display();
    let alone = session();
    let one = "select column1 as k, column2 as x from (values (1, 1), (2, null), (3, 3))";
    answer(&alone, &format!("copy ({one}) to '{path}/one.parquet'")).await;
    for file in 0..4 {
        let some = format!(
            "select value + {file} * 5 as k, (value + {file} * 5) % 7 as x from generate_series(0, 4)"
        );
        answer(&alone, &format!("copy ({some}) to '{path}/some/{file}.parquet'")).await;
    }
    let (_part, address) = parts::local(2);
    let ctx = client(&address).unwrap();
    for ctx in [&alone, &ctx] {
        for (table, at) in [("one", "one.parquet"), ("some", "some/")] {
            let create = format!("create external table {table} stored as parquet location '{path}/{at}'");
            answer(ctx, &create).await;
        }
        // What is declared and not so.
        let create = format!(
            "create external table declared (k bigint not null, x bigint not null) stored as parquet location '{path}/one.parquet'"
        );
        answer(ctx, &create).await;
    }
    for sql in [
        // Joins that collect one side are changed to partitioned joins.
        "select count(*) from one a left join one b on a.k = b.k",
        "select a.k, b.x from one a full join one b on a.k = b.x order by a.k, b.x",
        "select a.k from one a where not exists (select 1 from one b where a.k = b.x) order by 1",
        "select a.k, row_number() over (order by a.k) as row from one a left join one b on a.k = b.k order by 1",
        "select a.k from one a left join one b on a.k = b.k union all select k from one order by 1",
        "select b.k, row_number() over (order by b.k) as row from some b left anti join (select c.k from one c join one d on c.k < d.x) a \
         on a.k = b.x order by 1",
        // Joins of each row with each.
        "select count(*) from some a left join some b on a.k < b.x",
        "select count(*) from some a full join some b on a.k < b.x",
        "select count(*) from some a right join one b on a.k > b.x",
        "select a.k from some a where not exists (select 1 from some b where b.x > a.k) order by 1",
        "select a.k from some a where exists (select 1 from some b where b.x > a.k) order by 1",
        "select count(*) from one a left join some b on a.k > 2",
        // Conditions of ON, and null answers.
        "select a.k, b.k as l from one a left join one b on a.k = b.k and a.x not in (select x from some where x > 2) order by 1",
        "select k from some where x not in (select x from one) or k = 3 order by k",
        "select k from declared where x is null",
        "select count(*), count(x) from declared",
        // Subqueries as columns, and a plan node without a message.
        "select k, k in (select x from one) as known, exists (select 1 from some where x > 5) as some from one order by k",
        "describe one",
    ] {
        let (found, wanted) = (answer(&ctx, sql).await, answer(&alone, sql).await);
        assert_eq!(found, wanted, "{sql}");
    }
    let recursive =
        "with recursive r as (select 1 as n union all select n + 1 from r where n < 5) select * from r";
    let error = rows(&ctx, recursive).await.expect_err("it has no tasks").to_string();
    assert!(error.contains("clusters do not support WITH RECURSIVE"), "{error}");
    let keyed = format!(
        "create external table keyed (n bigint, k bigint) stored as parquet partitioned by (k) location '{path}/keyed/'"
    );
    answer(&ctx, &keyed).await;
    // Null keys have a folder, and are null again.
    answer(&ctx, "insert into keyed select k, x from one").await;
    for (sql, wanted) in [
        ("select n from keyed where k is null", &["2"][..]),
        ("select n, k from keyed order by n", &["1 | 1", "2 | NULL", "3 | 3"]),
        (
            "select k, count(*), count(k) from keyed group by k order by k",
            &["1 | 1 | 1", "3 | 1 | 1", "NULL | 1 | 0"],
        ),
        (
            "select a.n, b.n from keyed a left join keyed b on a.n = b.n and exists (select 1 from one where x = a.k) order by a.n",
            &["1 | 1", "2 | NULL", "3 | 3"],
        ),
    ] {
        assert_eq!(answer(&ctx, sql).await, wanted, "{sql}");
    }
    let required = format!(
        "create external table required (n bigint, k bigint not null) stored as parquet partitioned by (k) location '{path}/keyed/'"
    );
    answer(&ctx, &required).await;
    for (sql, sentence) in [
        ("insert into required select k, x from one", "the key k is null in some rows"),
        ("insert into declared select x, k from one", "single file"),
    ] {
        let error = rows(&ctx, sql).await.expect_err(sql).to_string();
        assert!(error.contains(sentence), "{error}");
    }
}
