//! Comparisons across types and units: casts, finer literals, days of timestamps, times of day.

use crate::tables::{batch, ints, plan, rows, run, session, session_with, write};
use arrow_array::{ArrayRef, Decimal128Array, TimestampMicrosecondArray, TimestampMillisecondArray};
use datafusion::prelude::SessionConfig;
use std::sync::Arc;
use tempfile::tempdir;

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

/// A literal keeps its digits even if the column has fewer.
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
    // The same through a view.
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

/// `TIME '..'` literals are in nanoseconds.
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
        // A string literal is compared as a time.
        ("us between '08:00:00.4' and time '11:00:00'", &["1"]),
        ("ms in ('12:00:00', time '08:00:00')", &["0", "2"]),
        ("'08:00:00.5' between us and time '11:00:00'", &["0", "1"]),
    ] {
        let sql = format!("select n from t where {condition} order by n");
        assert_eq!(rows(&ctx, &sql).await, expected, "{condition}");
    }
    let error = crate::tables::batches(&ctx, "select * from t where us in ('noon', time '08:00:00')").await;
    let error = error.unwrap_err().to_string();
    assert!(error.contains("Cannot cast string 'noon' to value of Time64(ns)"), "{error}");
    let sql = "select us >= time '08:00:00.5' from t order by n";
    assert_eq!(rows(&ctx, sql).await, ["false", "true", "true"]);
    let sql = "select count(*) from t a join t b on a.ms = b.us";
    assert_eq!(rows(&ctx, sql).await, ["3"]);
}

/// Several values cast to the same one: rows that match a condition on the cast may still differ.
#[tokio::test]
async fn conditions_on_parts_of_values_leave_rows_to_be_sorted() {
    use arrow_array::{Float64Array, Int64Array};
    let folder = tempdir().unwrap();
    let file = folder.path().join("t.parquet");
    let f: ArrayRef = Arc::new(Float64Array::from(vec![1.2, 1.9, 0.5, 1.1, 2.5, 1.9]));
    let i: ArrayRef = Arc::new(Int64Array::from(vec![7, 6, 9, 7, 5, 6]));
    let large: ArrayRef =
        Arc::new(Int64Array::from(vec![1 << 53, (1 << 53) + 1, 0, 1 << 53, 4, (1 << 53) + 1]));
    let hours = [10, 8, 33, 9, -1, 8].map(|hour| hour * 3_600_000_000);
    let z = TimestampMicrosecondArray::from_iter_values(hours).with_timezone("+01:00");
    let millis: ArrayRef =
        Arc::new(TimestampMillisecondArray::from_iter_values([1_200, 1_100, 0, 1_300, 2_000, 1_100]));
    let columns =
        [("f", f), ("i", i), ("l", large), ("z", Arc::new(z) as ArrayRef), ("m", millis), ("n", ints(0..6))];
    write(&file, &[batch(columns)], 6);
    let ctx = session();
    run(&ctx, &format!("create external table t stored as parquet location '{}'", file.display())).await;
    let second = "arrow_cast(m, 'Timestamp(Second, None)')";
    // All values of `day` are the same, which implies nothing about a column whose cast equals it.
    run(&ctx, "create view p as select t.*, date '1970-01-01' as day from t").await;
    let days = folder.path().join("days");
    run(
        &ctx,
        &format!("copy (select * from p) to '{}/' stored as parquet partitioned by (day)", days.display()),
    )
    .await;
    let keyed = "(f double, i bigint, l bigint, z timestamp(6), m timestamp(3), n bigint, day date)";
    run(
        &ctx,
        &format!(
            "create external table k {keyed} stored as parquet partitioned by (day) location '{}/'",
            days.display()
        ),
    )
    .await;
    let sql = "select n from k where cast(m as date) = day order by m, n";
    assert_eq!(rows(&ctx, sql).await, ["2", "1", "5", "0", "3", "4"]);
    for (condition, key, expected) in [
        ("cast(f as int) = 1".to_owned(), "f", "3 0 1 5"),
        ("1 = cast(f as int)".to_owned(), "f", "3 0 1 5"),
        ("cast(f as int) between 1 and 1".to_owned(), "f", "3 0 1 5"),
        ("cast(f as int) > 0 and cast(f as int) < 2".to_owned(), "f", "3 0 1 5"),
        ("cast(f as int) + 1 = 2".to_owned(), "f", "3 0 1 5"),
        ("cast(f as int) in (1)".to_owned(), "f", "3 0 1 5"),
        ("cast(cast(f as int) as boolean)".to_owned(), "f", "3 0 1 5 4"),
        ("cast(f as float) <= 0.5".to_owned(), "f", "2"),
        ("i / 2 = 3".to_owned(), "i", "1 5 0 3"),
        ("cast(l as double) = 9007199254740992.0".to_owned(), "l", "0 3 1 5"),
        ("cast(z as date) = date '1970-01-01'".to_owned(), "z", "4 1 5 3 0"),
        (format!("{second} = timestamp '1970-01-01 00:00:01'"), "m", "1 5 0 3"),
        ("cast(f as int) = (select min(n) + 1 from t)".to_owned(), "f", "3 0 1 5"),
    ] {
        let sql = format!("select n from t where {condition} order by {key}, n");
        assert_eq!(rows(&ctx, &sql).await.join(" "), expected, "{sql}");
        let sql = format!(
            "select n from (select *, 1 as one from t) t where {condition} order by {key} desc, n desc"
        );
        let descending: Vec<&str> = expected.rsplit(' ').collect();
        assert_eq!(rows(&ctx, &sql).await, descending, "{sql}");
        let sql = format!("select distinct {key} from t where {condition} order by {key} limit 2");
        assert!(rows(&ctx, &sql).await.is_sorted(), "{sql}");
    }
    // A constant that follows for the column itself is still used.
    let sql = "select i from t where cast(i as int) = 7 order by i";
    assert!(!plan(&ctx, sql).await.contains("SortExec"), "{}", plan(&ctx, sql).await);
    // No value in the file matches after the cast.
    for condition in ["cast(f as int) = 9", "i / 2 = 1", "cast(z as date) = date '1980-01-01'"] {
        let sql = format!("select f from t where {condition} order by f");
        assert_eq!(rows(&ctx, &sql).await, [""; 0], "{sql}");
    }
    // Within the bounds of all rows, beside a join, and of a file that has but one such value.
    let sql = "select a.n from t a join t b on a.n = b.n where cast(a.f as int) = 1 and b.i / 2 = 3 order by b.i desc, a.f";
    assert_eq!(rows(&ctx, sql).await, ["3", "0", "1", "5"]);
    let within = folder.path().join("w.parquet");
    let w: ArrayRef = Arc::new(Float64Array::from(vec![1.8, 1.2, 1.5]));
    write(&within, &[batch([("w", w)])], 3);
    for condition in ["cast(w as int) = 1", "cast(w as int) >= 1 and cast(w as int) < 2"] {
        let sql = format!("select w from '{}' where {condition} order by w", within.display());
        assert_eq!(rows(&ctx, &sql).await, ["1.2", "1.5", "1.8"], "{sql}");
    }
}

/// By itself DataFusion compares the column without the cast.
#[tokio::test]
async fn values_are_compared_as_what_they_are_cast_to() {
    let folder = tempdir().unwrap();
    let file = folder.path().join("t.parquet");
    let d = Decimal128Array::from_iter_values([250, 200, -270, 199, -50]);
    let d: ArrayRef = Arc::new(d.with_precision_and_scale(9, 2).unwrap());
    let m: ArrayRef = Arc::new(TimestampMillisecondArray::from_iter_values([1000, 2000, -1000, 400, 0]));
    write(&file, &[batch([("d", d), ("i", ints([1000, 100, -1000, 4, 0])), ("m", m), ("n", ints(0..5))])], 5);
    let ctx = session();
    run(&ctx, &format!("create external table t stored as parquet location '{}'", file.display())).await;
    for (condition, expected) in [
        ("cast(d as int) = 2", "0 1"),
        ("cast(d as int) > 1", "0 1"),
        ("2 < cast(d as bigint)", ""),
        ("cast(d as int) <= -2", "2"),
        ("cast(d as int) in (0, 2)", "0 1 4"),
        ("cast(d as int) not in (0, 2, 7, 8, 9)", "2 3"),
        ("cast(d as int) between -2 and 1", "2 3 4"),
        ("cast(d as decimal(9, 0)) = 2", "1 3"),
        ("cast(d as decimal(9, 1)) = -2.7", "2"),
        ("cast(d as decimal(12, 3)) = 1.99", "3"),
        ("try_cast(d as tinyint) is distinct from 2", "2 3 4"),
        ("arrow_cast(d, 'Int32') = 2", "0 1"),
        ("arrow_try_cast(i, 'Int8') <> 3", "1 3 4"),
        ("cast(d as timestamp) = timestamp '1970-01-01 00:00:00.000000002'", "0 1"),
        ("try_cast(i as tinyint) < 5", "3 4"),
        ("not (try_cast(i as tinyint) = 4)", "1 4"),
        ("try_cast(i as decimal(3, 0)) > 50", "1"),
        ("cast(i as decimal(12, 2)) = 4.5", ""),
        ("try_cast(m as tinyint) <> 3", "4"),
        ("try_cast(m as bigint) <> 3", "0 1 2 3 4"),
        ("cast(i as decimal(12, 2)) > 99.5", "0 1"),
    ] {
        let sql = format!("select n from t where {condition} order by n");
        assert_eq!(rows(&ctx, &sql).await.join(" "), expected, "{condition}");
    }
    // Of a view, in groups, in a join, and beside the rows.
    let view = "(select cast(d as int) as whole, n from t)";
    assert_eq!(rows(&ctx, &format!("select n from {view} where whole = 2 order by n")).await, ["0", "1"]);
    let sql =
        "select cast(d as int) as whole, count(*) from t group by cast(d as int) having cast(d as int) >= 2";
    assert_eq!(rows(&ctx, sql).await, ["2 | 2"]);
    let sql = format!("select count(*) from {view} a join {view} b on a.whole = b.whole where a.whole = 2");
    assert_eq!(rows(&ctx, &sql).await, ["4"]);
    let sql = "select cast(d as int), cast(d as int) = 2 from t order by n limit 1";
    assert_eq!(rows(&ctx, sql).await, ["2 | true"]);
}

/// Numbers that no time and no integer reaches are NULL, and so is what compares them.
#[tokio::test]
async fn what_is_too_large_is_compared_as_null() {
    use arrow_array::{Int64Array, UInt64Array};
    let folder = tempdir().unwrap();
    let file = folder.path().join("t.parquet");
    let d = Decimal128Array::from_iter_values([7, 1 << 70]).with_precision_and_scale(38, 0).unwrap();
    let m = TimestampMillisecondArray::from_iter_values([7, i64::MAX]);
    let z = TimestampMillisecondArray::from_iter_values([7, i64::MIN]).with_timezone("+01:00");
    let e = Decimal128Array::from_iter_values([700, 1 << 75]).with_precision_and_scale(38, 2).unwrap();
    let columns: [(&str, ArrayRef); 7] = [
        ("e", Arc::new(e)),
        ("u", Arc::new(UInt64Array::from(vec![7, u64::MAX]))),
        ("i", Arc::new(Int64Array::from(vec![7, i64::MAX]))),
        ("d", Arc::new(d)),
        ("m", Arc::new(m)),
        ("z", Arc::new(z)),
        ("n", ints(0..2)),
    ];
    write(&file, &[batch(columns)], 2);
    let ctx = session();
    run(&ctx, &format!("create external table t stored as parquet location '{}'", file.display())).await;
    // A cast that would truncate bits is an error everywhere.
    for sql in [
        "select cast(d as timestamp) from t",
        "select n from t where cast(e as bigint) = 0",
        "select n from t where cast(e as int) < 5",
        "select n from (select cast(e as bigint) as x, n from t) where x <> 5",
        "select cast(e as smallint) = 0 from t",
    ] {
        let error = crate::tables::error(&ctx, sql).await;
        assert!(error.contains("too large") || error.contains("out of range"), "{sql}: {error}");
    }
    for to in ["bigint", "int", "smallint", "bigint unsigned", "decimal(9, 0)"] {
        for of in ["d", "e"] {
            let sql = format!("select n from t where try_cast({of} as {to}) <> 5");
            assert_eq!(rows(&ctx, &sql).await, ["0"], "{sql}");
            let sql = format!(
                "select try_cast({of} as {to}) as x, try_cast({of} as {to}) < 8 as y from t order by n"
            );
            assert_eq!(rows(&ctx, &sql).await, ["7 | true", "null | null"], "{sql}");
        }
    }
    let zoned = "arrow_try_cast(z, 'Timestamp(Nanosecond, Some(\"+01:00\"))')";
    let start = "timestamp '1970-01-01 00:00:00'";
    for (tried, bound, value) in [
        ("try_cast(u as timestamp)", start, "1970-01-01T00:00:00.000000007"),
        ("try_cast(d as timestamp)", start, "1970-01-01T00:00:00.000000007"),
        ("try_cast(m as timestamp)", start, "1970-01-01T00:00:00.007"),
        (zoned, "timestamptz '1970-01-01 00:00:00+00'", "1970-01-01T01:00:00.007+01:00"),
        ("try_cast(i as date)", "date '1970-01-01'", "1970-01-08"),
    ] {
        for condition in [
            format!("{tried} <> {bound}"),
            format!("{tried} > {bound}"),
            format!("not {tried} = {bound}"),
            format!("({tried} < {bound}) is not null"),
        ] {
            let sql = format!("select n from t where {condition}");
            assert_eq!(rows(&ctx, &sql).await, ["0"], "{condition}");
            // The same with the casts as columns of a subquery.
            let sql = format!(
                "select n from (select *, {tried} as x from t) where {}",
                condition.replace(tried, "x")
            );
            assert_eq!(rows(&ctx, &sql).await, ["0"], "{sql}");
        }
        let sql = format!("select {tried} as x from t order by n");
        assert_eq!(rows(&ctx, &sql).await, [value, "null"], "{sql}");
        let sql = format!("select n from t where {tried} = (select min({tried}) from t)");
        assert_eq!(rows(&ctx, &sql).await, ["0"], "{sql}");
    }
}

/// Only casts that may be compared go through all digits, which takes longer.
#[tokio::test]
async fn casts_that_nothing_compares_are_short() {
    let folder = tempdir().unwrap();
    let file = folder.path().join("t.parquet");
    let d = Decimal128Array::from_iter_values([250, 200, -270, 199, -50]);
    let d: ArrayRef = Arc::new(d.with_precision_and_scale(9, 2).unwrap());
    write(&file, &[batch([("d", d), ("i", ints([1000, 100, -1000, 4, 0])), ("n", ints(0..5))])], 5);
    let ctx = session();
    run(&ctx, &format!("create external table t stored as parquet location '{}'", file.display())).await;
    run(&ctx, "create view v as select cast(d as int) as whole, n from t").await;
    for (sql, expected) in [
        ("select cast(d as int) as x, n from t limit 5", "2 | 0, 2 | 1, -2 | 2, 1 | 3, 0 | 4"),
        (
            "select sum(cast(d as int)), avg(try_cast(i as tinyint) + 1), 5 from t",
            "3 | 35.666666666666664 | 5",
        ),
    ] {
        let plan = plan(&ctx, sql).await;
        assert!(!plan.contains("Decimal256"), "{sql}: {plan}");
        assert_eq!(rows(&ctx, sql).await.join(", "), expected, "{sql}");
    }
    for (sql, expected) in [
        ("select cast(d as int), cast(d as int) = 2 from t limit 1", "2 | true"),
        ("select x from (select cast(d as int) as x from t) where x = 2", "2, 2"),
        ("with a as (select cast(d as int) as x from t limit 9) select x + 1 from a where x > 1", "3, 3"),
        ("select whole + 1 from v", "3, 3, -1, 2, 1"),
        ("select whole, n from v where whole = 2", "2 | 0, 2 | 1"),
        ("select cast(d as int) as x from t order by x limit 2", "-2, 0"),
        ("select distinct cast(d as int) as x from t where cast(d as int) = 2", "2"),
        ("select case when cast(d as int) = 2 then 1 else 0 end from t", "1, 1, 0, 0, 0"),
        ("select sum(cast(d as int)) filter (where cast(d as int) = 2) from t", "4"),
        ("select max(x) from (select cast(d as int) as x from t) where x < 2", "1"),
        ("select (select count(*) from v where whole = 2) as c, n from t limit 1", "2 | 0"),
        (
            "select a.n, cast(b.d as int) from t a join v on a.n = whole join t b on b.n = a.n where whole > 1",
            "2 | -2, 2 | -2",
        ),
    ] {
        let plan = plan(&ctx, sql).await;
        assert!(plan.contains("Decimal256"), "{sql}: {plan}");
        assert_eq!(rows(&ctx, sql).await.join(", "), expected, "{sql}");
    }
}
