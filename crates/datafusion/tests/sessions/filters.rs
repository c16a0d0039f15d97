//! What becomes of conditions: asked where files are read, or ruling out what need not be read.

use crate::tables::{batch, error, ints, longs, metric, plan, rows, run, session, texts, write};
use arrow_array::{ArrayRef, Float32Array, Float64Array, RecordBatch};
use datafusion::datasource::MemTable;
use datafusion::prelude::SessionContext;
use std::sync::Arc;
use tempfile::{TempDir, tempdir};

/// A session with a table `t` of 10,000 sorted numbers, in row groups of 1,000: `n`, `w` its text, `f` as a float, `k` its last digit.
async fn numbers() -> (TempDir, SessionContext) {
    let folder = tempdir().unwrap();
    let file = folder.path().join("t.parquet");
    let floats: Float64Array = (0..10_000).map(|n| Some(f64::from(n))).collect();
    write(
        &file,
        &[batch([
            ("n", ints(0..10_000)),
            ("w", texts((0..10_000).map(|n| format!("w{n:05}")))),
            ("f", Arc::new(floats) as ArrayRef),
            ("k", longs((0..10_000).map(|n| n % 10))),
        ])],
        1000,
    );
    let ctx = session();
    run(&ctx, &format!("create external table t stored as parquet location '{}'", file.display())).await;
    (folder, ctx)
}

#[tokio::test]
async fn exact_conditions_leave_no_filter_in_the_plan() {
    let (_folder, ctx) = numbers().await;
    for (condition, count) in [
        ("n = 5", 1),
        ("5 < n and n <= 10", 5),
        ("n in (1, 2, 3, 20000)", 3),
        ("n not in (1, 2, 3)", 9_997),
        ("n is null", 0),
        ("n is not null or w is null", 10_000),
        ("w like 'w0000%'", 10),
        ("w not like '%9'", 9_000),
        ("w like 'w_0_0_'", 100),
        ("starts_with(w, 'w01')", 1_000),
        ("not (n < 9990 or k > 5)", 6),
        ("(n is distinct from 7) and (k is not distinct from 7)", 999),
        ("w > 'w09998'", 1),
        ("n between 100 and 199 and k = 3", 10),
    ] {
        let sql = format!("select n from t where {condition}");
        let plan = plan(&ctx, &sql).await;
        assert!(!plan.contains("FilterExec"), "{condition}: {plan}");
        assert_eq!(rows(&ctx, &sql).await.len(), count, "{condition}");
    }
}

#[tokio::test]
async fn other_conditions_stay_and_rule_out_row_groups() {
    let (_folder, ctx) = numbers().await;
    for (condition, count) in [
        ("n < 1000 and abs(n - 500) < 2", 3),
        ("f > 9998.5", 1),
        ("n < 3 and random() < 2", 3),
        ("w ilike 'W0000%' and n < 100", 10),
        ("w like 'w\\_%' or n < 2", 2),
        ("n not in (1, null)", 0),
    ] {
        let sql = format!("select n from t where {condition}");
        let plan = plan(&ctx, &sql).await;
        assert!(plan.contains("FilterExec"), "{condition}: {plan}");
        assert_eq!(rows(&ctx, &sql).await.len(), count, "{condition}");
    }
    let sql = "select sum(k) from t where n < 1000 and abs(n - 500) < 2";
    assert_eq!(metric(&ctx, sql, "row_groups_pruned_statistics").await, 9);
}

#[tokio::test]
async fn without_pushdown_conditions_rule_out_row_groups_and_pages() {
    let (_folder, ctx) = numbers().await;
    let sql = "select sum(k) from t where n between 1500 and 1501";
    let count = metric(&ctx, sql, "row_groups_pruned_statistics").await;
    assert_eq!((rows(&ctx, sql).await, count), (vec!["1".to_owned()], 9));
    assert!(metric(&ctx, sql, "page_index_rows_pruned").await > 0);
    run(&ctx, "set datafusion.execution.parquet.pushdown_filters = false").await;
    assert!(plan(&ctx, sql).await.contains("FilterExec"));
    let count = metric(&ctx, sql, "row_groups_pruned_statistics").await;
    assert_eq!((rows(&ctx, sql).await, count), (vec!["1".to_owned()], 9));
    assert!(metric(&ctx, sql, "page_index_rows_pruned").await > 0);
    assert_eq!(metric(&ctx, sql, "pushdown_rows_pruned").await, 0);
    run(&ctx, "set datafusion.execution.parquet.pushdown_filters = true").await;
    assert!(!plan(&ctx, sql).await.contains("FilterExec"));
}

#[tokio::test]
async fn without_pruning_nothing_is_ruled_out() {
    let (folder, ctx) = numbers().await;
    let file = folder.path().join("t.parquet");
    let create = format!(
        "create external table u stored as parquet location '{}' options ('pruning' 'false')",
        file.display()
    );
    run(&ctx, &create).await;
    let sql = "select sum(k) from u where n between 1500 and 1501";
    assert_eq!(rows(&ctx, sql).await, ["1"]);
    assert_eq!(metric(&ctx, sql, "row_groups_pruned_statistics").await, 0);
}

#[tokio::test]
async fn floats_compare_as_datafusion_has_it() {
    let folder = tempdir().unwrap();
    let file = folder.path().join("f.parquet");
    let values = [f64::NAN, -f64::NAN, 0.0, -0.0, 1.5, f64::INFINITY, f64::NEG_INFINITY, -2.0];
    let floats: Float64Array = values.into_iter().map(Some).chain([None]).collect();
    write(&file, &[batch([("f", Arc::new(floats.clone()) as ArrayRef), ("n", ints(0..9))])], 3);
    let ctx = session();
    let memory = batch([("f", Arc::new(floats) as ArrayRef), ("n", ints(0..9))]);
    ctx.register_batch("m", memory).unwrap();
    run(&ctx, &format!("create external table t stored as parquet location '{}'", file.display())).await;
    let literals = [
        "0.0",
        "-0.0",
        "1.5",
        "'NaN'::double",
        "-('NaN'::double)",
        "'Infinity'::double",
        "-2",
        "null::double",
        "7",
    ];
    for literal in literals {
        let mut conditions: Vec<String> =
            ["=", "<>", "<", "<=", ">", ">=", "is distinct from", "is not distinct from"]
                .map(|op| format!("f {op} {literal}"))
                .into();
        conditions.push(format!("f in ({literal}, 1.5)"));
        conditions.push(format!("f not in ({literal}, 1.5)"));
        conditions.push(format!("not (f < {literal})"));
        conditions.push(format!("f between -2 and {literal} or n = 3"));
        for condition in conditions {
            let of = |table: &str| format!("select n, f from {table} where {condition} order by n");
            assert_eq!(rows(&ctx, &of("t")).await, rows(&ctx, &of("m")).await, "{condition}");
        }
    }
    for function in ["min", "max"] {
        let of = |table: &str| format!("select {function}(f) from {table}");
        assert_eq!(rows(&ctx, &of("t")).await, rows(&ctx, &of("m")).await, "{function}");
    }
    let sorted = |table: &str| format!("select f from {table} order by f desc nulls last limit 4");
    assert_eq!(rows(&ctx, &sorted("t")).await, rows(&ctx, &sorted("m")).await);
}

/// The dynamic filter of a top-k sort rules out rows that are still to be read, but none that belong to the result.
/// Both zeros are equal in DataFusion's conditions, and NaN is greater than all others, although bounds do not show
/// that one exists.
#[tokio::test]
async fn the_first_of_a_sort_of_floats_are_the_first() {
    const VALUES: [f64; 7] = [f64::NAN, -f64::NAN, 0.0, -0.0, 1.0, -1.0, f64::INFINITY];
    let mut state = 7u64;
    let mut below = |count: usize| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as usize % count
    };
    for _ in 0..10 {
        let folder = tempdir().unwrap();
        let ctx = session();
        run(&ctx, &format!("set datafusion.execution.target_partitions = {}", 1 + below(3))).await;
        let of = 1 + below(VALUES.len());
        let from = below(VALUES.len());
        let files: Vec<RecordBatch> = (0..1 + below(3))
            .map(|_| {
                let values: Vec<Option<f64>> = (0..1 + below(12))
                    .map(|_| (below(8) > 0).then(|| VALUES[(from + below(of)) % VALUES.len()]))
                    .collect();
                let singles = values.iter().map(|value| value.map(|value| value as f32));
                let singles: Float32Array = singles.collect();
                let rows = values.len() as i32;
                let numbers: Vec<i32> = (0..rows).map(|_| below(3) as i32).collect();
                batch([
                    ("f", Arc::new(Float64Array::from(values)) as ArrayRef),
                    ("g", Arc::new(singles) as ArrayRef),
                    ("n", ints(numbers)),
                ])
            })
            .collect();
        for (number, rows) in files.iter().enumerate() {
            write(&folder.path().join(format!("{number}.parquet")), std::slice::from_ref(rows), 1 + below(4));
        }
        let table = MemTable::try_new(files[0].schema(), vec![files]).unwrap();
        ctx.register_table("m", Arc::new(table)).unwrap();
        let path = folder.path().display();
        run(&ctx, &format!("create external table t stored as parquet location '{path}/'")).await;
        for _ in 0..8 {
            let column = ["f", "g"][below(2)];
            let (direction, nulls) = (["asc", "desc"][below(2)], ["first", "last"][below(2)]);
            let limit = 1 + below(6);
            let condition = ["true", "n > 0", "f >= 0.0", "g <= -0.0"][below(4)];
            let of = |table: &str, limit: &str| {
                format!(
                    "select {column} from {table} where {condition} order by {column} {direction} nulls {nulls} {limit}"
                )
            };
            let shown =
                |rows: Vec<String>| rows.iter().map(|row| row.replace("-0.0", "0.0")).collect::<Vec<_>>();
            let all = shown(rows(&ctx, &of("m", "")).await);
            let first = shown(rows(&ctx, &of("t", &format!("limit {limit}"))).await);
            assert_eq!(first, all[..limit.min(all.len())], "{}", of("t", ""));
            // The bounds of the join keys are a dynamic filter, too.
            let join = |table: &str| {
                format!(
                    "select count(*) from {table} a join {table} b on a.{column} = b.{column} where b.n = 0"
                )
            };
            assert_eq!(rows(&ctx, &join("t")).await, rows(&ctx, &join("m")).await, "{}", join("t"));
        }
    }
}

#[tokio::test]
async fn the_first_of_a_sort_spare_the_rest() {
    let (_folder, ctx) = numbers().await;
    run(&ctx, "set datafusion.execution.target_partitions = 1").await;
    let sql = "select n, w from t order by n limit 5";
    assert!(plan(&ctx, sql).await.contains("DynamicFilter"), "{}", plan(&ctx, sql).await);
    assert_eq!(rows(&ctx, sql).await.len(), 5);
    assert_eq!(metric(&ctx, sql, "row_groups_pruned_dynamic_filter").await, 9);
}

#[tokio::test]
async fn joins_spare_what_has_no_partner() {
    let (_folder, ctx) = numbers().await;
    for partitions in [1, 3] {
        run(&ctx, &format!("set datafusion.execution.target_partitions = {partitions}")).await;
        let sql = "select count(*), min(t.w) from t join (values (4321), (4400)) as few(x) on t.n = few.x";
        assert_eq!(rows(&ctx, sql).await, ["2 | w04321"]);
        let spared = metric(&ctx, sql, "row_groups_pruned_statistics").await
            + metric(&ctx, sql, "row_groups_pruned_dynamic_filter").await;
        assert!(spared >= 8, "{partitions}: {spared} {}", plan(&ctx, sql).await);
    }
}

#[tokio::test]
async fn files_are_ruled_out_before_they_are_opened() {
    let folder = tempdir().unwrap();
    for file in 0..10 {
        write(
            &folder.path().join(format!("{file}.parquet")),
            &[batch([("n", ints(file * 100..file * 100 + 100))])],
            50,
        );
    }
    let ctx = session();
    run(&ctx, "set datafusion.execution.collect_statistics = true").await;
    run(&ctx, &format!("create external table t stored as parquet location '{}/'", folder.path().display()))
        .await;
    let sql = "select count(*), sum(n) from t where n >= 250 and n < 260";
    assert_eq!(rows(&ctx, sql).await, ["10 | 2545"]);
    assert!(metric(&ctx, sql, "files_ranges_pruned_statistics").await >= 9);
    // Nothing of them is fetched: they need not even be there.
    for file in (0..10).filter(|file| *file != 2) {
        std::fs::remove_file(folder.path().join(format!("{file}.parquet"))).unwrap();
    }
    assert_eq!(rows(&ctx, sql).await, ["10 | 2545"]);
    assert!(
        error(&ctx, "select sum(n) from t").await.contains("0.parquet")
            || error(&ctx, "select sum(n) from t").await.contains("not found")
    );
}

#[tokio::test]
async fn each_row_is_read_once_however_a_file_is_cut() {
    let folder = tempdir().unwrap();
    for (row_group, partitions) in [(10_000, 7), (4_000, 5), (100, 3), (1, 2), (3_333, 16)] {
        let rows_in_all = if row_group == 1 { 50 } else { 10_000 };
        let file = folder.path().join(format!("{row_group}.parquet"));
        write(
            &file,
            &[batch([
                ("n", ints(0..rows_in_all)),
                ("w", texts((0..rows_in_all).map(|n| format!("{n:>50}")))),
            ])],
            row_group,
        );
        let ctx = session();
        run(&ctx, &format!("set datafusion.execution.target_partitions = {partitions}")).await;
        run(&ctx, &format!("create external table t stored as parquet location '{}'", file.display())).await;
        let sum = i64::from(rows_in_all) * (i64::from(rows_in_all) - 1) / 2;
        let sql = "select count(distinct w), sum(n), count(n) from t";
        assert_eq!(rows(&ctx, sql).await, [format!("{rows_in_all} | {sum} | {rows_in_all}")], "{row_group}");
        assert_eq!(
            rows(&ctx, "select count(w) from t where n % 2 = 0 and n >= 10").await,
            [format!("{}", rows_in_all / 2 - 5)]
        );
        assert_eq!(rows(&ctx, "select n from t where n >= 10 order by n limit 2").await, ["10", "11"]);
    }
}
