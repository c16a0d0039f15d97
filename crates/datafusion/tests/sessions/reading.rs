//! Columns, files, folders, schemas.

use crate::tables::{batch, error, ints, longs, plan, rows, run, session, session_with, shown, texts, write};
use arrow_array::builder::{Int32Builder, MapBuilder, MapFieldNames, StringBuilder};
use arrow_array::types::Int8Type;
use arrow_array::{
    ArrayRef, Decimal128Array, DictionaryArray, Int32Array, LargeStringArray, ListArray, StringArray,
    StringViewArray, StructArray, TimestampMicrosecondArray, TimestampMillisecondArray,
};
use arrow_schema::{DataType, Field};
use datafusion::arrow::buffer::OffsetBuffer;
use datafusion::prelude::SessionConfig;
use std::path::Path;
use std::sync::Arc;
use tempfile::tempdir;

fn at(folder: &Path, name: &str) -> String {
    folder.join(name).display().to_string()
}

#[tokio::test]
async fn a_file_is_a_table() {
    let folder = tempdir().unwrap();
    let file = at(folder.path(), "numbers.parquet");
    write(
        file.as_ref(),
        &[batch([("n", ints(0..1000)), ("t", texts((0..1000).map(|n| format!("t{n}"))))])],
        100,
    );
    let ctx = session();
    let sql = format!("select count(*), min(n), max(t), sum(n) from '{file}'");
    assert_eq!(rows(&ctx, &sql).await, ["1000 | 0 | t999 | 499500"]);
    let sql = format!("select t, n + 1 as m, 'x' as c from '{file}' where n between 998 and 2000 order by n");
    assert_eq!(rows(&ctx, &sql).await, ["t998 | 999 | x", "t999 | 1000 | x"]);
    let plan = plan(&ctx, &sql).await;
    assert!(plan.contains("file_type=parquet, reader=marquetry"), "{plan}");
    assert!(!plan.contains("FilterExec"), "{plan}");
    assert_eq!(rows(&ctx, &format!("select n from '{file}' limit 3")).await.len(), 3);
    assert_eq!(rows(&ctx, &format!("select 7 from '{file}'")).await.len(), 1000);
}

#[tokio::test]
async fn tables_are_stored_as_parquet_and_as_marquetry() {
    let folder = tempdir().unwrap();
    for (name, first) in [("a.parquet", 0), ("b.parquet", 50), ("c.other", 100)] {
        write(&folder.path().join(name), &[batch([("n", ints(first..first + 50))])], 7);
    }
    let ctx = session();
    for (name, stored) in [("p", "PARQUET"), ("m", "marquetry")] {
        let path = folder.path().display();
        run(&ctx, &format!("create external table {name} stored as {stored} location '{path}/'")).await;
        assert_eq!(rows(&ctx, &format!("select count(*), sum(n) from {name}")).await, ["100 | 4950"]);
        let one = format!("create external table {name}1 stored as {stored} location '{path}/c.other'");
        run(&ctx, &one).await;
        assert_eq!(rows(&ctx, &format!("select min(n) from {name}1 where n > 120")).await, ["121"]);
    }
}

#[tokio::test]
async fn folders_are_partitions() {
    let folder = tempdir().unwrap();
    for (year, first) in [(2023, 0), (2024, 100)] {
        let below = folder.path().join(format!("year={year}"));
        std::fs::create_dir(&below).unwrap();
        write(&below.join("f.parquet"), &[batch([("n", ints(first..first + 100))])], 10);
    }
    let ctx = session();
    run(&ctx, &format!("create external table t stored as parquet location '{}/'", folder.path().display()))
        .await;
    assert_eq!(
        rows(&ctx, "select year, count(*) from t group by year order by year").await,
        ["2023 | 100", "2024 | 100"]
    );
    assert_eq!(
        rows(&ctx, "select year, n from t where n = 150 or year = '2023' and n < 1 order by n").await,
        ["2023 | 0", "2024 | 150"]
    );
    // Both in one condition that only the file can settle.
    assert_eq!(rows(&ctx, "select n from t where (year = '2024') = (n > 198) and n > 197").await, ["199"]);
    assert_eq!(rows(&ctx, "select year from t where n = 5").await, ["2023"]);
}

#[tokio::test]
async fn files_of_one_table_have_other_columns_and_types() {
    let folder = tempdir().unwrap();
    write(
        &folder.path().join("1.parquet"),
        &[batch([("a", ints(0..10)), ("b", texts((0..10).map(|n| n.to_string())))])],
        4,
    );
    write(&folder.path().join("2.parquet"), &[batch([("c", longs(10..20)), ("a", longs(10..20))])], 4);
    let ctx = session();
    let path = folder.path().display();
    run(&ctx, &format!("create external table t (a bigint, b varchar, c bigint, d int) stored as parquet location '{path}/'")).await;
    assert_eq!(
        rows(&ctx, "select count(*), count(b), count(c), count(d), sum(a) from t").await,
        ["20 | 10 | 10 | 0 | 190"]
    );
    assert_eq!(
        rows(&ctx, "select a, b, c, d from t where a in (3, 13) order by a").await,
        ["3 | 3 | null | null", "13 | null | 13 | null"]
    );
    assert_eq!(rows(&ctx, "select a from t where b is null and a < 12 order by a").await, ["10", "11"]);
    assert_eq!(
        rows(&ctx, "select a from t where (c is distinct from 12) and a > 8 order by a limit 4").await,
        ["9", "10", "11", "13"]
    );
    assert_eq!(
        rows(&ctx, "select a from t where not (b = '3') order by a limit 4").await,
        ["0", "1", "2", "4"]
    );
    assert!(rows(&ctx, "select a from t where d = 1 or d <> 1").await.is_empty());
}

/// What one file says of a column is not true of those that lack it.
#[tokio::test]
async fn columns_that_files_lack_may_be_null() {
    let folder = tempdir().unwrap();
    let ctx = session();
    let path = folder.path().display();
    run(&ctx, &format!("copy (select 1 as i, 5 as u, {{x: 1, y: 2}} as s) to '{path}/1.parquet'")).await;
    run(&ctx, &format!("copy (select 2 as i, {{x: 3}} as s) to '{path}/2.parquet'")).await;
    run(&ctx, &format!("create external table t stored as parquet location '{path}/'")).await;
    assert_eq!(rows(&ctx, "select i from t where u is null").await, ["2"]);
    assert_eq!(rows(&ctx, "select i from t where s['y'] is null").await, ["2"]);
    assert_eq!(rows(&ctx, "select count(u), count(*), max(u) from t").await, ["1 | 2 | 5"]);
    assert_eq!(rows(&ctx, "select i, u, s['y'] from t order by i").await, ["1 | 5 | 2", "2 | null | null"]);
    // All have this one.
    assert!(!plan(&ctx, "select i from t where i is null").await.contains("DataSourceExec"));
}

#[tokio::test]
async fn a_column_that_is_narrower_in_the_table_is_cast() {
    let folder = tempdir().unwrap();
    let file = folder.path().join("1.parquet");
    write(&file, &[batch([("a", longs(0..10)), ("s", texts((0..10).map(|n| format!("0{n}"))))])], 4);
    let ctx = session();
    run(
        &ctx,
        &format!("create external table t (a int, s int) stored as parquet location '{}'", file.display()),
    )
    .await;
    assert_eq!(rows(&ctx, "select a, s from t where s = 7").await, ["7 | 7"]);
    assert_eq!(rows(&ctx, "select a from t where s < 2 and a > 0").await, ["1"]);
    assert_eq!(rows(&ctx, "select min(s), max(a) from t").await, ["0 | 9"]);
}

/// A cast is taken away only where the condition says the same without it.
#[tokio::test]
async fn files_have_coarser_and_finer_types_than_the_table() {
    let folder = tempdir().unwrap();
    let path = folder.path().display();
    let millis: ArrayRef = Arc::new(TimestampMillisecondArray::from_iter_values(0..4));
    let micros: ArrayRef = Arc::new(TimestampMicrosecondArray::from_iter_values([-1, 500, 1_000, 1_001]));
    let decimals = |values: &[i128], precision, scale| -> ArrayRef {
        let values = Decimal128Array::from_iter_values(values.iter().copied());
        Arc::new(values.with_precision_and_scale(precision, scale).unwrap())
    };
    let coarse = decimals(&[100, 101, 102, 103], 9, 2);
    // 1.0004 becomes 1.000 in the table, 1.0015 becomes 1.002.
    let fine = decimals(&[100_040, 100_150, 102_000, 99_999], 15, 5);
    write(&folder.path().join("1.parquet"), &[batch([("t", millis), ("d", coarse)])], 4);
    write(&folder.path().join("2.parquet"), &[batch([("t", micros), ("d", fine)])], 4);
    let ctx = session();
    let sql = format!(
        "create external table s (t timestamp(9), d decimal(12,3)) stored as parquet location '{path}/'"
    );
    run(&ctx, &sql).await;
    let count =
        async |condition: &str| rows(&ctx, &format!("select count(*) from s where {condition}")).await;
    let moment = |fraction: &str| format!("timestamp '1970-01-01T00:00:00.{fraction}'");
    for (condition, expected) in [
        (format!("t = {}", moment("000500000")), "1"),
        (format!("t = {}", moment("000500001")), "0"),
        (format!("t < {}", moment("000500001")), "3"),
        (format!("t >= {}", moment("001000001")), "3"),
        (format!("t <> {}", moment("001000000")), "6"),
        (format!("t in ({}, {})", moment("000500001"), moment("001001000")), "1"),
        (format!("not t > {}", moment("001001000")), "6"),
        ("d = 1.000".into(), "3"),
        ("d = 1.002".into(), "1"),
        ("d < 1.000".into(), "0"),
        ("d > 1.019".into(), "3"),
        ("d = 1.02".into(), "2"),
    ] {
        assert_eq!(count(&condition).await, [expected], "{condition}");
    }
    let first = "1969-12-31T23:59:59.999999";
    assert_eq!(rows(&ctx, "select t from s order by t limit 1").await, [first]);
    assert_eq!(rows(&ctx, "select d from s order by d desc limit 2").await, ["1.030", "1.020"]);
    // Where the literal has the file's unit, the file is asked.
    let sql = format!("select count(*) from s where t > {}", moment("002000000"));
    assert_eq!(rows(&ctx, &sql).await, ["1"]);
    assert!(crate::tables::metric(&ctx, &sql, "page_index_rows_pruned").await >= 3);
}

/// Nothing is cut off of a literal that has digits which the column has not.
#[tokio::test]
async fn timestamps_are_compared_with_finer_literals() {
    let folder = tempdir().unwrap();
    let file = folder.path().join("t.parquet");
    let millis: TimestampMillisecondArray = [Some(0), Some(1), None, Some(-1)].into_iter().collect();
    let micros: TimestampMicrosecondArray = [Some(0), Some(1), None, Some(-1)].into_iter().collect();
    write(
        &file,
        &[batch([("m", Arc::new(millis) as ArrayRef), ("u", Arc::new(micros)), ("n", ints(0..4))])],
        2,
    );
    let ctx = session();
    run(&ctx, &format!("create external table t stored as parquet location '{}'", file.display())).await;
    for (column, between) in [("m", "00:00:00.0005"), ("u", "00:00:00.0000005")] {
        let between = format!("timestamp '1970-01-01 {between}'");
        let later = "timestamp '1970-01-01 00:00:01'";
        for (condition, expected) in [
            (format!("{column} >= {between}"), "1"),
            (format!("{column} > {between}"), "1"),
            (format!("{column} < {between}"), "0 3"),
            (format!("{between} >= {column}"), "0 3"),
            (format!("{column} = {between}"), ""),
            (format!("{column} <> {between}"), "0 1 3"),
            (format!("not {column} = {between}"), "0 1 3"),
            (format!("({column} = {between}) is null"), "2"),
            (format!("{column} is distinct from {between}"), "0 1 2 3"),
            (format!("{column} is not distinct from {between}"), ""),
            (format!("{column} in ({between}, {later})"), ""),
            (format!("{column} not in ({between}, {between})"), "0 1 3"),
            (format!("({column} in ({between})) is null"), "2"),
            (format!("{column} between {between} and {later}"), "1"),
            (format!("{column} not between timestamp '1969-01-01 00:00:00' and {between}"), "1"),
            (format!("{column} < {between} - interval '1 day' + interval '1 day'"), "0 3"),
            (format!("n in (select n from t where {column} >= {between})"), "1"),
        ] {
            let found = rows(&ctx, &format!("select n from t where {condition} order by n")).await;
            assert_eq!(found.join(" "), expected, "{condition}");
        }
        let sql = format!("select {column} >= {between}, {column} = {between} from t order by n");
        assert_eq!(rows(&ctx, &sql).await, ["false | false", "true | false", "null | null", "false | false"]);
    }
    // It is asked in the file.
    let sql = "select n from t where m >= timestamp '1970-01-01 00:00:00.0005'";
    assert!(!plan(&ctx, sql).await.contains("FilterExec"), "{}", plan(&ctx, sql).await);
}

/// The timestamps of a day are not one timestamp.
#[tokio::test]
async fn days_of_timestamps_are_ranges() {
    let folder = tempdir().unwrap();
    let file = folder.path().join("t.parquet");
    let hours = [10, 8, 33, 9, -1, 57].map(|hour| Some(hour * 3_600_000_000)).into_iter().chain([None]);
    let hours: TimestampMicrosecondArray = hours.collect();
    write(&file, &[batch([("t", Arc::new(hours) as ArrayRef), ("n", ints(0..7))])], 2);
    let ctx = session();
    run(&ctx, &format!("create external table t stored as parquet location '{}'", file.display())).await;
    let day = "cast(t as date)";
    for (condition, expected) in [
        (format!("{day} = '1970-01-01'"), "1 3 0"),
        (format!("date '1970-01-02' <= {day}"), "2 5"),
        (format!("{day} > date '1970-01-01'"), "2 5"),
        (format!("{day} < date '1970-01-01'"), "4"),
        (format!("{day} <= date '1970-01-01'"), "4 1 3 0"),
        (format!("{day} <> date '1970-01-01'"), "4 2 5"),
        (format!("not {day} = date '1970-01-01'"), "4 2 5"),
        (format!("{day} is distinct from date '1970-01-01'"), "4 2 5 6"),
        (format!("{day} is not distinct from date '1970-01-01'"), "1 3 0"),
        (format!("({day} is not distinct from date '1970-01-01') is null"), ""),
        (format!("({day} = date '1970-01-01') is null"), "6"),
        (format!("{day} in (date '1969-12-31', date '1970-01-03')"), "4 5"),
        (format!("{day} not in (date '1969-12-31', date '1970-01-03')"), "1 3 0 2"),
        (format!("{day} between date '1970-01-02' and date '1970-01-03'"), "2 5"),
        (format!("{day} not between date '1970-01-02' and date '1970-01-03'"), "4 1 3 0"),
        (format!("{day} = date '1970-01-01' + interval '1 day'"), "2"),
        // Within the bounds of all rows.
        (format!("{day} > date '1969-01-01'"), "4 1 3 0 2 5"),
    ] {
        let sql = format!("select n from t where {condition} order by t nulls last");
        assert_eq!(rows(&ctx, &sql).await.join(" "), expected, "{condition}");
    }
    assert_eq!(rows(&ctx, &format!("select {day} = date '1970-01-02' from t where n = 2")).await, ["true"]);
    // Of a view.
    for day in ["1970-01-01", "1970-01-02"] {
        let view = "(select cast(t as date) as day, t, n from t)";
        let sql = format!("select n from {view} where day = '{day}' order by t");
        let expected = if day == "1970-01-01" { "1 3 0" } else { "2" };
        assert_eq!(rows(&ctx, &sql).await.join(" "), expected, "{sql}");
    }
    let sql = format!("select count(*) from t where {day} = date '1970-01-02'");
    assert_eq!(crate::tables::metric(&ctx, &sql, "row_groups_pruned_statistics").await, 2);
}

/// DataFusion takes away one cast after the other, and makes literals of what has no column.
#[tokio::test]
async fn casts_of_casts_and_of_partitions_stay() {
    let folder = tempdir().unwrap();
    let below = folder.path().join("p=1970-01-01");
    std::fs::create_dir(&below).unwrap();
    let millis: ArrayRef = Arc::new(TimestampMillisecondArray::from_iter_values(0..4));
    write(&below.join("1.parquet"), &[batch([("t", millis)])], 4);
    let micros: ArrayRef = Arc::new(TimestampMicrosecondArray::from_iter_values([400, 5_000]));
    write(&below.join("2.parquet"), &[batch([("t", micros)])], 4);
    let ctx = session_with(SessionConfig::new().with_target_partitions(1));
    let path = folder.path().display();
    for (name, precision) in [("micros", 6), ("nanos", 9)] {
        run(
            &ctx,
            &format!(
                "create external table {name} (t timestamp({precision}), p date) stored as parquet partitioned by (p) location '{path}/'"
            ),
        )
        .await;
        let nanos = "arrow_cast(t, 'Timestamp(Nanosecond, None)')";
        let first = format!("select {nanos} from {name} order by {nanos} limit 2");
        assert_eq!(rows(&ctx, &first).await, ["1970-01-01T00:00:00", "1970-01-01T00:00:00.000400"]);
        for (micros, expected) in [(400, "1"), (500, "0"), (1_000, "1")] {
            let moment =
                format!("arrow_cast(p, 'Timestamp(Nanosecond, None)') + interval '{micros} microseconds'");
            let sql = format!("select count(*) from {name} where {nanos} = {moment}");
            assert_eq!(rows(&ctx, &sql).await, [expected], "{sql}");
            let sql = format!("select count(*) from {name} where t = {moment}");
            assert_eq!(rows(&ctx, &sql).await, [expected], "{sql}");
        }
    }
}

#[tokio::test]
async fn of_structs_only_the_wanted_fields_are_read() {
    let folder = tempdir().unwrap();
    let file = at(folder.path(), "s.parquet");
    let fields: Vec<(Arc<Field>, ArrayRef)> = vec![
        (Arc::new(Field::new("x", DataType::Int32, true)), ints(0..1000)),
        (Arc::new(Field::new("big", DataType::Utf8, true)), texts((0..1000).map(|n| format!("{n:0>200}")))),
    ];
    let list = ListArray::from_iter_primitive::<arrow_array::types::Int32Type, _, _>(
        (0..1000).map(|n| Some(vec![Some(n), None])),
    );
    let columns: [(&str, ArrayRef); 2] = [("s", Arc::new(StructArray::from(fields))), ("l", Arc::new(list))];
    write(file.as_ref(), &[batch(columns)], 100);
    let ctx = session();
    let sql = format!("select sum(s['x']) from '{file}'");
    assert_eq!(rows(&ctx, &sql).await, ["499500"]);
    let narrow = crate::tables::metric(&ctx, &sql, "bytes_scanned").await;
    let wide = crate::tables::metric(
        &ctx,
        &format!("select max(s['big']), sum(s['x']) from '{file}'"),
        "bytes_scanned",
    )
    .await;
    assert!(narrow * 2 < wide, "{narrow} {wide}");
    assert_eq!(rows(&ctx, &format!("select s, l from '{file}' where s['x'] = 1")).await.len(), 1);
    assert_eq!(
        rows(&ctx, &format!("select l[1] from '{file}' where s['x'] between 3 and 4 order by 1")).await,
        ["3", "4"]
    );
}

#[tokio::test]
async fn names_with_dots_and_capitals_are_columns() {
    let folder = tempdir().unwrap();
    let file = at(folder.path(), "n.parquet");
    write(
        file.as_ref(),
        &[batch([("A.b", ints(0..50)), ("select", ints(50..100)), ("é \"q\"", ints(0..50))])],
        10,
    );
    let ctx = session();
    let sql = format!(
        "select \"A.b\", \"select\", \"é \"\"q\"\"\" from '{file}' where \"A.b\" = 7 and \"select\" > 0 and \"é \"\"q\"\"\" < 9"
    );
    assert_eq!(rows(&ctx, &sql).await, ["7 | 57 | 7"]);
}

#[tokio::test]
async fn text_has_any_layout() {
    let folder = tempdir().unwrap();
    let file = at(folder.path(), "t.parquet");
    let words: StringArray = (0..100).map(|n| (n % 7 != 0).then(|| format!("wörd {}", n % 10))).collect();
    let numbers: Int32Array = (0..100).map(|n| (n % 3 != 0).then_some(n)).collect();
    write(file.as_ref(), &[batch([("w", Arc::new(words) as ArrayRef), ("n", Arc::new(numbers))])], 30);
    let ctx = session();
    let query = format!(
        "select count(*), count(w), count(n) from '{file}' where w like 'w_rd 3' or w in ('wörd 4') or n is null and w is not null"
    );
    let expected = rows(&ctx, &query).await;
    run(&ctx, "set datafusion.execution.parquet.schema_force_view_types = false").await;
    assert_eq!(rows(&ctx, &query).await, expected);
    assert_eq!(rows(&ctx, &format!("select arrow_typeof(w) from '{file}' limit 1")).await, ["Utf8"]);
    assert!(!expected[0].starts_with("0 |"), "{expected:?}");
}

/// What pyarrow, DataFusion and others write into one folder.
#[tokio::test]
async fn files_of_one_table_have_other_layouts_and_names() {
    let folder = tempdir().unwrap();
    let map = |names: [&str; 3], n: i32| -> ArrayRef {
        let [entry, key, value] = names.map(str::to_owned);
        let names = MapFieldNames { entry, key, value };
        let mut map = MapBuilder::new(Some(names), StringBuilder::new(), Int32Builder::new());
        map.keys().append_value("k");
        map.values().append_value(n);
        map.append(true).unwrap();
        Arc::new(map.finish())
    };
    let list = |name: &str, text: ArrayRef| -> ArrayRef {
        let field = Arc::new(Field::new(name, text.data_type().clone(), true));
        Arc::new(ListArray::new(field, OffsetBuffer::from_lengths([1]), text, None))
    };
    let text = |word: &str| Arc::new(StringArray::from_iter_values([word])) as ArrayRef;
    let files: [(&str, ArrayRef, ArrayRef, ArrayRef); 3] = [
        ("1", text("a"), map(["key_value", "key", "value"], 1), list("element", text("x"))),
        ("2", Arc::new(StringViewArray::from_iter_values(["b"])), map(["entries", "keys", "values"], 2), {
            list("item", Arc::new(StringViewArray::from_iter_values(["y"])))
        }),
        ("3", Arc::new(DictionaryArray::<Int8Type>::from_iter(["c"])), map(["m", "k", "v"], 3), {
            list("l", Arc::new(LargeStringArray::from_iter_values(["z"])))
        }),
    ];
    for order in [["1", "2", "3"], ["3", "1", "2"], ["2", "3", "1"]] {
        for (name, text, map, list) in &files {
            let place = order.iter().position(|other| other == name).unwrap();
            let columns = [("t", text.clone()), ("m", map.clone()), ("l", list.clone())];
            write(&folder.path().join(format!("{place}.parquet")), &[batch(columns)], 4);
        }
        for views in ["true", "false"] {
            let ctx = session();
            run(&ctx, &format!("set datafusion.execution.parquet.schema_force_view_types = {views}")).await;
            let path = folder.path().display();
            run(&ctx, &format!("create external table s stored as parquet location '{path}/'")).await;
            assert_eq!(
                rows(&ctx, "select t, m['k'], l[1] from s order by t").await,
                ["a | 1 | x", "b | 2 | y", "c | 3 | z"]
            );
            assert_eq!(rows(&ctx, "select t, m from s where t = 'b'").await, ["b | {k: 2}"]);
        }
    }
}

#[tokio::test]
async fn bad_files_are_one_error_with_a_name() {
    let folder = tempdir().unwrap();
    let ctx = session();
    let path = folder.path().display();
    write(&folder.path().join("a.parquet"), &[batch([("n", ints(0..50_000))])], 10_000);
    run(&ctx, &format!("create external table t stored as parquet location '{path}/'")).await;
    // One of many whose pages are broken.
    let mut bytes = std::fs::read(folder.path().join("a.parquet")).unwrap();
    bytes[100..400].fill(0xee);
    std::fs::write(folder.path().join("b.parquet"), &bytes).unwrap();
    let sql = "select sum(n), max(n + 1) from t";
    let ctx2 = session();
    run(&ctx2, &format!("create external table t stored as parquet location '{path}/'")).await;
    let message = error(&ctx2, sql).await;
    assert!(message.contains("b.parquet") && message.contains("column n"), "{message}");
    std::fs::write(folder.path().join("b.parquet"), b"PAR1 is not all of it PAR1").unwrap();
    let message =
        error(&session(), &format!("create external table u stored as parquet location '{path}/'")).await;
    assert!(message.contains("b.parquet"), "{message}");
    std::fs::remove_file(folder.path().join("b.parquet")).unwrap();
    std::fs::remove_file(folder.path().join("a.parquet")).unwrap();
    write(&folder.path().join("a.parquet"), &[batch([("n", ints(0..7))])], 10);
    // A listing that was kept: the file is another one now.
    let message = error(&ctx, sql).await;
    assert!(message.contains("changed") && message.contains("a.parquet"), "{message}");
}

#[tokio::test]
async fn what_is_damaged_may_be_left_out_and_is_counted() {
    let folder = tempdir().unwrap();
    let file = folder.path().join("a.parquet");
    write(&file, &[batch([("n", ints(0..40_000))])], 10_000);
    let mut bytes = std::fs::read(&file).unwrap();
    bytes[100..400].fill(0xee);
    std::fs::write(&file, &bytes).unwrap();
    let ctx = session();
    let create = |name: &str, how: &str| {
        format!(
            "create external table {name} stored as parquet location '{}' options ('on_corrupt' '{how}')",
            file.display()
        )
    };
    run(&ctx, &create("g", "skip_row_group")).await;
    assert_eq!(rows(&ctx, "select count(*), min(n) from g where n >= 0").await, ["30000 | 10000"]);
    assert_eq!(crate::tables::metric(&ctx, "select sum(n) from g", "rows_left_out").await, 10_000);
    let message = error(&ctx, &create("h", "perhaps")).await;
    assert!(message.contains("on_corrupt 'perhaps' is none of fail"), "{message}");
}

#[tokio::test]
async fn footers_are_read_once() {
    let folder = tempdir().unwrap();
    let file = at(folder.path(), "c.parquet");
    write(file.as_ref(), &[batch([("n", ints(0..100))])], 10);
    let ctx = session();
    run(&ctx, &format!("create external table t stored as parquet location '{file}'")).await;
    assert_eq!(rows(&ctx, "select sum(n) from t").await, ["4950"]);
    let kept = ctx.runtime_env().cache_manager.get_file_metadata_cache().list_entries();
    assert_eq!(kept.len(), 1);
    let name = shown(&ctx, &format!("select distinct input_file_name() as f from '{file}'")).await;
    assert!(name.contains("c.parquet"), "{name}");
}

/// `TIME '..'` is of nanoseconds.
#[tokio::test]
async fn times_of_day_are_compared_with_times_of_other_units() {
    use arrow_array::{Time32MillisecondArray, Time64MicrosecondArray};
    let folder = tempdir().unwrap();
    let file = folder.path().join("t.parquet");
    // 08:00:00, 08:00:00.5, 12:00:00
    let millis = [28_800_000, 28_800_500, 43_200_000];
    let ms: ArrayRef = Arc::new(Time32MillisecondArray::from(millis.to_vec()));
    let us = Time64MicrosecondArray::from_iter_values(millis.map(|time| i64::from(time) * 1000));
    let us: ArrayRef = Arc::new(us);
    write(&file, &[batch([("ms", ms), ("us", us), ("n", ints(0..3))])], 10);
    let ctx = session();
    run(&ctx, &format!("create external table t stored as parquet location '{}'", file.display())).await;
    for (condition, expected) in [
        ("us > time '08:00:00'", &["1", "2"][..]),
        ("time '08:00:00.5' = ms", &["1"]),
        // Finer than the column.
        ("ms > time '08:00:00.499999999'", &["1", "2"]),
        ("us = time '08:00:00.0000005'", &[]),
        ("us between time '08:00:00.4' and time '11:00:00'", &["1"]),
        ("ms not in (time '08:00:00', time '12:00:00')", &["1"]),
        ("us in (time '12:00:00', null)", &["2"]),
        ("ms = us", &["0", "1", "2"]),
        ("us is distinct from time '12:00:00'", &["0", "1"]),
    ] {
        let sql = format!("select n from t where {condition} order by n");
        assert_eq!(rows(&ctx, &sql).await, expected, "{condition}");
    }
    let sql = "select us >= time '08:00:00.5' from t order by n";
    assert_eq!(rows(&ctx, sql).await, ["false", "true", "true"]);
    let sql = "select count(*) from t a join t b on a.ms = b.us";
    assert_eq!(rows(&ctx, sql).await, ["3"]);
}

#[tokio::test]
async fn rows_have_their_numbers() {
    let folder = tempdir().unwrap();
    for (name, first) in [("a.parquet", 0), ("b.parquet", 1000)] {
        let columns = batch([("n", ints(first..first + 100)), ("__datafusion_file_row_index", ints(0..100))]);
        write(&folder.path().join(name), &[columns], 30);
    }
    let ctx = session();
    run(&ctx, &format!("create external table t stored as parquet location '{}/'", folder.path().display()))
        .await;
    let sql = "select n, file_row_index() + 1 as i from t where n % 1000 in (29, 30, 99) order by n";
    let expected = ["29 | 30", "30 | 31", "99 | 100", "1029 | 30", "1030 | 31", "1099 | 100"];
    assert_eq!(rows(&ctx, sql).await, expected);
    let sql = "select n from t where file_row_index() > 97 order by n";
    assert_eq!(rows(&ctx, sql).await, ["98", "99", "1098", "1099"]);
    let sql = "select file_row_index() from t where n >= 1050 order by file_row_index() desc limit 2";
    assert_eq!(rows(&ctx, sql).await, ["99", "98"]);
}
