//! What footers answer, and the order that they promise.

use crate::tables::{
    batch, error, ints, longs, plan, rows, rows_of, run, session, session_with, texts, write, write_with,
};
use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, DictionaryArray, Float32Array, Float64Array, Int32Array, RecordBatch};
use arrow_schema::SortOptions;
use datafusion::common::stats::Precision;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::common::{ScalarValue, Statistics};
use datafusion::datasource::file_format::FileFormat;
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::{FileScanConfig, FileScanConfigBuilder};
use datafusion::datasource::source::DataSourceExec;
use datafusion::datasource::table_schema::TableSchema;
use datafusion::error::DataFusionError;
use datafusion::execution::object_store::ObjectStoreUrl;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::{LexOrdering, PhysicalSortExpr};
use datafusion::physical_plan::collect;
use datafusion::prelude::SessionConfig;
use marquetry_core::write::{SortingColumn, WriterProperties};
use marquetry_datafusion::{MarquetryFormat, MarquetrySource};
use object_store::ObjectStoreExt;
use std::sync::Arc;
use tempfile::tempdir;

#[tokio::test]
async fn counts_and_bounds_come_from_footers() {
    let folder = tempdir().unwrap();
    for file in 0..5 {
        let numbers: Int32Array = (0..100).map(|n| (n % 10 != 0).then_some(file * 100 + n)).collect();
        let columns =
            [("n", Arc::new(numbers) as ArrayRef), ("w", texts((0..100).map(|n| format!("{n:03}"))))];
        write(&folder.path().join(format!("{file}.parquet")), &[batch(columns)], 30);
    }
    let ctx = session();
    run(&ctx, &format!("create external table t stored as parquet location '{}/'", folder.path().display()))
        .await;
    for (sql, expected) in [
        ("select count(*) from t", "500"),
        ("select count(n) from t", "450"),
        ("select min(n), max(n), count(*) from t", "1 | 499 | 500"),
        ("select min(w), max(w) from t", "000 | 099"),
    ] {
        let plan = plan(&ctx, sql).await;
        assert!(!plan.contains("DataSourceExec"), "{sql}: {plan}");
        assert_eq!(rows(&ctx, sql).await, [expected], "{sql}");
    }
    assert_eq!(rows(&ctx, "select count(*), min(n) from t where n > 250").await, ["225 | 251"]);
}

/// DataFusion negates bounds while planning, which overflows for the least integer.
#[tokio::test]
async fn the_least_integer_is_computed_with() {
    let folder = tempdir().unwrap();
    let file = folder.path().join("t.parquet");
    let (int, long) = (ints([i32::MIN, -1, 0, i32::MAX]), longs([i64::MIN, -1, 0, i64::MAX]));
    write(&file, &[batch([("i", int), ("l", long)])], 30);
    let ctx = session();
    run(&ctx, &format!("create external table t stored as parquet location '{}'", file.display())).await;
    for column in ["i", "l"] {
        let sql = format!("select count(*) from t where {column} > -9 and -{column} < 1");
        assert_eq!(rows(&ctx, &sql).await, ["2"], "{sql}");
    }
    let bounds = "select min(i), max(i), min(l), max(l) from t";
    let expected = format!("{} | {} | {} | {}", i32::MIN, i32::MAX, i64::MIN, i64::MAX);
    assert_eq!(rows(&ctx, bounds).await, [expected]);
}

#[tokio::test]
async fn bounds_that_were_cut_are_not_answers() {
    let folder = tempdir().unwrap();
    let file = folder.path().join("t.parquet");
    let long = |n: usize| format!("{}{n:03}", "x".repeat(200));
    let cut = WriterProperties::builder().set_statistics_truncate_length(Some(16)).build();
    write_with(&file, &[batch([("w", texts((0..100).map(long))), ("n", ints(0..100))])], cut);
    let ctx = session();
    run(&ctx, &format!("create external table t stored as parquet location '{}'", file.display())).await;
    assert_eq!(
        rows(&ctx, "select min(w), max(w), max(n) from t").await,
        [format!("{} | {} | 99", long(0), long(99))]
    );
}

#[tokio::test]
async fn columns_of_other_types_answer_only_what_is_certain() {
    let folder = tempdir().unwrap();
    write(
        &folder.path().join("1.parquet"),
        &[batch([("a", ints(0..10)), ("s", texts((0..10).map(|n| n.to_string())))])],
        4,
    );
    write(
        &folder.path().join("2.parquet"),
        &[batch([("a", longs(5..15)), ("s", texts((0..20).map(|n| n.to_string()).take(10)))])],
        4,
    );
    let ctx = session();
    let path = folder.path().display();
    run(
        &ctx,
        &format!("create external table t (a bigint, s int, gone int) stored as parquet location '{path}/'"),
    )
    .await;
    assert_eq!(
        rows(&ctx, "select min(a), max(a), min(s), max(s), count(gone), max(gone) from t").await,
        ["0 | 14 | 0 | 9 | 0 | null"]
    );
}

fn sorted_by(columns: &[(i32, bool)], row_group: usize) -> WriterProperties {
    let sorting = columns.iter().map(|(column_idx, descending)| SortingColumn {
        column_idx: *column_idx,
        descending: *descending,
        nulls_first: false,
    });
    WriterProperties::builder()
        .set_max_row_group_row_count(Some(row_group))
        .set_sorting_columns(Some(sorting.collect()))
        .build()
}

#[tokio::test]
async fn what_is_sorted_is_not_sorted_again() {
    let folder = tempdir().unwrap();
    let ctx = session();
    run(&ctx, "set datafusion.execution.target_partitions = 1").await;
    let sorts = |ctx, table: &str, order: &str| {
        let sql = format!("select a, b from {table} order by {order}");
        async move { plan(ctx, &sql).await.contains("SortExec") }
    };
    // Ascending in all; the last row groups share a value.
    let file = folder.path().join("t.parquet");
    write_with(
        &file,
        &[batch([("a", ints((0..100).map(|n| n / 7))), ("b", ints(0..100))])],
        sorted_by(&[(0, false), (1, false)], 10),
    );
    run(&ctx, &format!("create external table t stored as parquet location '{}'", file.display())).await;
    assert!(!sorts(&ctx, "t", "a nulls last").await);
    assert!(sorts(&ctx, "t", "b nulls last").await);
    assert!(sorts(&ctx, "t", "a desc").await);
    assert!(sorts(&ctx, "t", "a nulls last, b nulls last").await);
    assert_eq!(rows(&ctx, "select a, b from t order by a nulls last, b nulls last").await[99], "14 | 99");
    // One row group has all that its footer says.
    let file = folder.path().join("one.parquet");
    write_with(
        &file,
        &[batch([("a", ints((0..100).map(|n| n / 7))), ("b", ints(0..100))])],
        sorted_by(&[(0, false), (1, false)], 100),
    );
    run(&ctx, &format!("create external table one stored as parquet location '{}'", file.display())).await;
    assert!(!sorts(&ctx, "one", "a nulls last, b nulls last").await);
    // Each row group is sorted, the file is not.
    let file = folder.path().join("not.parquet");
    let up_and_down = (0..100).map(|n| if n < 50 { n + 1000 } else { n });
    write_with(
        &file,
        &[batch([("a", ints(up_and_down)), ("b", ints(0..100))])],
        sorted_by(&[(0, false)], 50),
    );
    run(&ctx, &format!("create external table not_sorted stored as parquet location '{}'", file.display()))
        .await;
    assert!(sorts(&ctx, "not_sorted", "a nulls last").await);
    assert_eq!(rows(&ctx, "select a from not_sorted order by a limit 1").await, ["50"]);
}

/// Writers record a declared order without checking it.
#[tokio::test]
async fn rows_that_break_a_promised_order_fail_what_makes_use_of_it() {
    let folder = tempdir().unwrap();
    let ctx = session();
    // With several partitions the rows would be merged by their values.
    run(&ctx, "set datafusion.execution.target_partitions = 1").await;
    // Broken within the first batch, and between two batches.
    for (name, values) in [("at_once", vec![3, 1, 2]), ("later", (0..8192).chain(0..8192).collect())] {
        let file = folder.path().join(format!("{name}.parquet"));
        let rows_of_file = values.len();
        let columns = [("a", ints(values)), ("b", ints(0..rows_of_file as i32))];
        write_with(&file, &[batch(columns)], sorted_by(&[(0, false)], rows_of_file));
        for (table, options) in [
            (name.to_owned(), ""),
            (format!("{name}_sorted"), "options ('ignore_sorting_columns' 'true')"),
            (format!("{name}_skips"), "options ('on_corrupt' 'skip_page')"),
        ] {
            let file = file.display();
            run(
                &ctx,
                &format!("create external table {table} stored as parquet location '{file}' {options}"),
            )
            .await;
        }
        for query in [
            "select a, b from {t} order by a nulls last",
            // The sorted column is read only for the check.
            "select b from {t} where b >= 0 order by a nulls last",
            "select a, count(*) from {t} group by a",
            "select a, row_number() over (order by a nulls last) from {t}",
        ] {
            let message = error(&ctx, &query.replace("{t}", name)).await;
            assert!(message.contains(&format!("{name}.parquet")), "{query}: {message}");
            assert!(
                message.contains("not in the order") && message.contains("a ASC NULLS LAST"),
                "{message}"
            );
            assert!(message.contains("ignore_sorting_columns"), "{message}");
            for sorted in ["_sorted", "_skips"] {
                run(&ctx, &query.replace("{t}", &format!("{name}{sorted}"))).await;
            }
        }
        let sql = format!("select a from {name}_sorted order by a nulls last limit 3");
        let least = if name == "later" { ["0", "0", "1"] } else { ["1", "2", "3"] };
        assert_eq!(rows(&ctx, &sql).await, least);
        // Queries that do not use the order are not checked.
        let sql = format!("select b % 2, count(*) from {name} group by b % 2");
        assert_eq!(run(&ctx, &sql).await.iter().map(RecordBatch::num_rows).sum::<usize>(), 2);
        let sql = format!("select b from {name} order by b desc limit 1");
        assert_eq!(rows(&ctx, &sql).await, [(rows_of_file - 1).to_string()]);
        let sql = format!("select a from {name} where a < 3");
        assert!(!plan(&ctx, &sql).await.contains("output_ordering"));
        let below = if name == "later" { 6 } else { 2 };
        assert_eq!(rows(&ctx, &sql).await.len(), below);
        assert_eq!(rows(&ctx, &format!("select max(b) from {name}")).await, [(rows_of_file - 1).to_string()]);
    }
    // With a small limit a whole batch is checked all the same.
    let message = error(&ctx, "select a from at_once order by a nulls last limit 1").await;
    assert!(message.contains("(1) follows (3)"), "{message}");
}

/// Bounds do not cover nulls: files that are read in the order of their bounds would have them in the middle.
#[tokio::test]
async fn nulls_of_all_files_stand_together() {
    let folder = tempdir().unwrap();
    let ctx = session();
    run(&ctx, "set datafusion.execution.target_partitions = 1").await;
    let path = folder.path().display();
    for (name, values) in [("1", "(1), (2), (null)"), ("2", "(3), (4), (null)")] {
        let select = format!("select * from (values {values}) v(k) order by k");
        run(&ctx, &format!("copy ({select}) to '{path}/{name}.parquet' stored as parquet")).await;
    }
    run(&ctx, &format!("create external table t stored as parquet location '{path}/'")).await;
    assert_eq!(rows(&ctx, "select k from t order by k").await, ["1", "2", "3", "4", "null", "null"]);
    assert_eq!(
        rows(&ctx, "select k, count(*) from t group by k order by k").await,
        ["1 | 1", "2 | 1", "3 | 1", "4 | 1", "null | 2"]
    );
}

/// The same for a declared order; and for NaN, which bounds do not cover either.
#[tokio::test]
async fn a_declared_order_is_that_of_all_files() {
    let folder = tempdir().unwrap();
    let ctx = session();
    run(&ctx, "set datafusion.execution.target_partitions = 1").await;
    for (name, columns, keys, files, expected) in [
        (
            "nulls",
            "column1 as k",
            "k asc nulls last",
            ["(1), (2), (null)", "(3), (4), (null)"],
            ["1", "2", "3", "4", "null", "null"],
        ),
        (
            "first",
            "column1 as k",
            "k desc nulls first",
            ["(null), (4), (3)", "(null), (2), (1)"],
            ["null", "null", "4", "3", "2", "1"],
        ),
        (
            "nan",
            "column1 as k",
            "k asc nulls last",
            ["(1.5), (2.5), ('NaN'::double)", "(3.5), (4.5), ('NaN'::double)"],
            ["1.5", "2.5", "3.5", "4.5", "NaN", "NaN"],
        ),
        (
            "second",
            "column1 as a, column2 as k",
            "a asc nulls last, k asc nulls last",
            ["(1, 1), (1, 2), (1, null)", "(1, 3), (2, 5), (2, null)"],
            ["1 | 1", "1 | 2", "1 | 3", "1 | null", "2 | 5", "2 | null"],
        ),
    ] {
        let path = folder.path().join(name).display().to_string();
        for (number, values) in files.iter().enumerate() {
            let select = format!("select {columns} from (values {values})");
            run(&ctx, &format!("copy ({select}) to '{path}/{number}.parquet' stored as parquet")).await;
        }
        let k = if name == "nan" { "k double" } else { "k bigint" };
        let columns = if name == "second" { "a bigint, k bigint" } else { k };
        let table = format!("{name} ({columns}) stored as parquet with order ({keys}) location '{path}/'");
        run(&ctx, &format!("create external table {table}")).await;
        assert_eq!(rows(&ctx, &format!("select * from {name} order by {keys}")).await, expected, "{name}");
        let groups = rows(&ctx, &format!("select k from {name} group by k order by k")).await;
        let mut keys: Vec<&str> = expected.iter().map(|row| row.rsplit(" | ").next().unwrap()).collect();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(groups.len(), keys.len(), "{name}: {groups:?}");
    }
    // The key that has none keeps the order.
    let plan = plan(&ctx, "select * from second order by a nulls last").await;
    assert!(!plan.contains("SortExec"), "{plan}");
}

/// If a condition leaves only one value between the bounds of a column, DataFusion does not sort by it. NaN is outside
/// of the bounds.
#[tokio::test]
async fn floats_beside_their_bounds_are_sorted() {
    let folder = tempdir().unwrap();
    let ctx = session();
    for (name, values, condition, expected) in [
        ("low", [-f64::NAN, 1.0, -f64::NAN, 1.0], "f <= 1", ["NaN", "NaN", "1.0", "1.0"]),
        ("high", [f64::NAN, 1.0, f64::NAN, 1.0], "f >= 1", ["1.0", "1.0", "NaN", "NaN"]),
        ("end", [f64::NAN, f64::INFINITY, f64::NAN, 1.0], "f >= 'inf'", ["inf", "NaN", "NaN", ""]),
        ("zeros", [0.0, -0.0, 0.0, -0.0], "f <= 0", ["-0.0", "-0.0", "0.0", "0.0"]),
    ] {
        let floats = Float64Array::from_iter_values(values);
        let singles = Float32Array::from_iter_values(values.map(|value| value as f32));
        let columns = [("f", Arc::new(floats) as ArrayRef), ("g", Arc::new(singles) as ArrayRef)];
        let file = folder.path().join(format!("{name}.parquet"));
        write(&file, &[batch(columns)], 10);
        let expected = expected.into_iter().filter(|shown| !shown.is_empty()).collect::<Vec<_>>();
        for column in ["f", "g"] {
            let condition = condition.replace('f', column).replace(&format!("in{column}"), "inf");
            let sql =
                format!("select {column} from '{}' where {condition} order by {column}", file.display());
            assert_eq!(rows(&ctx, &sql).await, expected, "{sql}");
        }
    }
}

/// Files that are read one after the other, in the order of their bounds, may be named in another order.
#[tokio::test]
async fn files_are_read_in_the_sequence_of_their_bounds() {
    let folder = tempdir().unwrap();
    let ctx = session();
    run(&ctx, "set datafusion.execution.target_partitions = 1").await;
    let path = folder.path().display();
    for (name, values) in [("1", [3, 4]), ("2", [1, 2])] {
        write(&folder.path().join(format!("{name}.parquet")), &[batch([("k", ints(values))])], 10);
    }
    let table = "t (k int) stored as parquet with order (k asc nulls last)";
    run(&ctx, &format!("create external table {table} location '{path}/'")).await;
    let sql = "select k from t order by k nulls last";
    assert!(!plan(&ctx, sql).await.contains("SortExec"), "{}", plan(&ctx, sql).await);
    assert_eq!(rows(&ctx, sql).await, ["1", "2", "3", "4"]);
}

/// An order that overlapping files cannot have is not checked in their rows, and the prefix of it that they have is used.
#[tokio::test]
async fn orders_that_bounds_rule_out_are_not_looked_at() {
    let folder = tempdir().unwrap();
    let ctx = session();
    run(&ctx, "set datafusion.execution.target_partitions = 1").await;
    let path = folder.path().display();
    ["a", "b"].iter().for_each(|table| std::fs::create_dir(folder.path().join(table)).unwrap());
    for (name, values) in [("1", [3, 1, 2]), ("2", [2, 5, 4])] {
        write(&folder.path().join(format!("a/{name}.parquet")), &[batch([("k", ints(values))])], 10);
    }
    let table = "a (k int) stored as parquet with order (k asc nulls last)";
    run(&ctx, &format!("create external table {table} location '{path}/a/'")).await;
    assert_eq!(rows(&ctx, "select k from a order by k nulls last").await, ["1", "2", "2", "3", "4", "5"]);
    assert_eq!(
        rows(&ctx, "select k, count(*) from a group by k order by k nulls last").await,
        ["1 | 1", "2 | 2", "3 | 1", "4 | 1", "5 | 1"]
    );
    // The second key in the last row of a file is greater than that in the first row of the next.
    for (name, columns) in [("1", [[1, 2, 2], [1, 1, 9]]), ("2", [[2, 3, 3], [1, 1, 2]])] {
        let [a, b] = columns;
        write(
            &folder.path().join(format!("b/{name}.parquet")),
            &[batch([("a", ints(a)), ("b", ints(b))])],
            10,
        );
    }
    let table = "b (a int, b int) stored as parquet with order (a asc nulls last, b asc nulls last)";
    run(&ctx, &format!("create external table {table} location '{path}/b/'")).await;
    let sql = "select a, b from b order by a nulls last";
    assert!(!plan(&ctx, sql).await.contains("SortExec"), "{}", plan(&ctx, sql).await);
    assert_eq!(
        rows(&ctx, "select a, b from b order by a nulls last, b nulls last").await,
        ["1 | 1", "2 | 1", "2 | 1", "2 | 9", "3 | 1", "3 | 2"]
    );
}

/// Bounds may be wrong: if a file's rows belong before those of the file before it, that is an error.
#[tokio::test]
async fn rows_of_one_file_follow_those_of_the_file_before() {
    let folder = tempdir().unwrap();
    let ctx = session();
    let schema = batch([("k", ints([]))]).schema();
    let store = ctx.runtime_env().object_store(ObjectStoreUrl::local_filesystem()).unwrap();
    let scan = async |files: [([i32; 2], [i32; 2]); 2]| {
        let mut group = Vec::new();
        for (number, (values, bounds)) in files.into_iter().enumerate() {
            let path = folder.path().join(format!("{number}.parquet"));
            write(&path, &[batch([("k", ints(values))])], 10);
            let [min, max] = bounds.map(|bound| Precision::Exact(ScalarValue::Int32(Some(bound))));
            let mut known = Statistics::new_unknown(&schema);
            known.column_statistics[0].min_value = min;
            known.column_statistics[0].max_value = max;
            known.column_statistics[0].null_count = Precision::Exact(0);
            let path = object_store::path::Path::from_filesystem_path(path).unwrap();
            let file = PartitionedFile::new_from_meta(store.head(&path).await.unwrap());
            group.push(file.with_statistics(Arc::new(known)));
        }
        let table = TableSchema::builder(schema.clone()).build();
        let source = Arc::new(MarquetrySource::new(table, Arc::default()));
        let by_k = PhysicalSortExpr::new(Arc::new(Column::new("k", 0)), SortOptions::new(false, false));
        FileScanConfigBuilder::new(ObjectStoreUrl::local_filesystem(), source)
            .with_file_group(group.into())
            .with_output_ordering(vec![LexOrdering::new([by_k]).unwrap()])
            .build()
    };
    let read = async |scan| {
        let plan = MarquetryFormat::default().create_physical_plan(&ctx.state(), scan).await?;
        Ok::<_, DataFusionError>(rows_of(&collect(plan, ctx.task_ctx()).await?))
    };
    let known = [([1, 2], [1, 2]), ([3, 4], [3, 4])];
    assert_eq!(read(scan(known).await).await.unwrap(), ["1", "2", "3", "4"]);
    let wrong = [([5, 6], [1, 2]), ([3, 4], [3, 4])];
    let message = read(scan(wrong).await).await.unwrap_err().to_string();
    assert!(message.contains("(3) follows (6) of ") && message.contains("0.parquet"), "{message}");
    assert!(message.contains("1.parquet"), "{message}");
    // Their bounds show no order, so that none is used.
    let overlap = [([5, 6], [5, 6]), ([3, 4], [3, 4])];
    assert_eq!(read(scan(overlap).await).await.unwrap(), ["5", "6", "3", "4"]);
}

#[tokio::test]
async fn dictionaries_of_which_one_bound_is_known() {
    let folder = tempdir().unwrap();
    let ctx = session();
    let file = folder.path().join("t.parquet");
    let entries: DictionaryArray<Int32Type> = ["", "", ""].into_iter().collect();
    let entries: ArrayRef = Arc::new(entries);
    write_with(&file, &[batch([("d", entries), ("i", ints(0..3))])], WriterProperties::builder().build());
    run(&ctx, &format!("create external table t stored as parquet location '{}'", file.display())).await;
    assert_eq!(rows(&ctx, "select i from t where i > 0 and d = '' order by i").await, ["1", "2"]);
    assert_eq!(rows(&ctx, "select d from t where i > 0").await.len(), 2);
}

/// Partitions that are merged by their order keep their files: rows of a file from another partition would come after
/// rows that belong behind them.
#[tokio::test]
async fn partitions_in_order_keep_their_files_under_a_limit() {
    let folder = tempdir().unwrap();
    let ctx = session();
    for number in 0..3 {
        let values = ints((0..30).map(|n| n * 3 + number));
        let file = folder.path().join(format!("{number}.parquet"));
        write_with(&file, &[batch([("a", values.clone()), ("b", values)])], sorted_by(&[(0, false)], 10));
    }
    let path = folder.path().display();
    run(&ctx, &format!("create external table t stored as parquet location '{path}/'")).await;
    for sql in [
        "select a from t order by a nulls last limit 3",
        "select a, b from t where b > 7 order by a nulls last limit 3 offset 2",
        "select a from (select * from t union all select * from t where b > 1) order by a nulls last limit 3",
        "select a from (select a from t order by a nulls last limit 9) order by a nulls last limit 3",
        "select a, row_number() over (order by a nulls last) from t limit 3",
    ] {
        let plan = ctx.sql(sql).await.unwrap().create_physical_plan().await.unwrap();
        let mut scans = 0;
        plan.apply(|node| {
            let scan = node.downcast_ref::<DataSourceExec>();
            if let Some(scan) = scan.and_then(|scan| scan.data_source().downcast_ref::<FileScanConfig>()) {
                scans += usize::from(!scan.output_ordering.is_empty());
                assert!(scan.output_ordering.is_empty() || scan.preserve_order, "{sql}");
            }
            Ok(TreeNodeRecursion::Continue)
        })
        .unwrap();
        assert!(scans > 0, "{sql}");
    }
}

/// Rows beside columns that have no value yet are wanted, too.
#[tokio::test]
async fn least_and_greatest_of_several_columns_are_those_of_all_rows() {
    let folder = tempdir().unwrap();
    let path = folder.path();
    write(&path.join("1.parquet"), &[batch([("b", ints([9, 8, 8]))])], 1);
    for (name, a, b) in [("2", [6, 6, 1], [1, 2, 1]), ("3", [3, 7, 4], [3, 10, 4]), ("4", [4; 3], [4; 3])] {
        write(&path.join(format!("{name}.parquet")), &[batch([("a", ints(a)), ("b", ints(b))])], 1);
    }
    let two = || {
        let mut config = SessionConfig::new().with_target_partitions(2);
        // Each partition reads its files one after the other.
        config.options_mut().optimizer.repartition_file_scans = false;
        session_with(config)
    };
    for ctx in [two(), session()] {
        run(
            &ctx,
            &format!(
                "create external table t (a int, b int) stored as parquet location '{}/'",
                path.display()
            ),
        )
        .await;
        for (sql, expected) in [
            ("select min(a), max(b) from t", "1 | 10"),
            ("select max(b), max(a) from t", "10 | 7"),
            ("select min(b), min(a), max(a) from t", "1 | 1 | 7"),
            ("select min(a) from t", "1"),
        ] {
            assert_eq!(rows(&ctx, sql).await, [expected], "{sql}");
        }
    }
}
