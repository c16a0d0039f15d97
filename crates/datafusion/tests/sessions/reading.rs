//! Columns, files, folders, schemas.

use crate::tables::{batch, error, ints, longs, plan, rows, run, session, shown, texts, write};
use arrow_array::builder::{Int32Builder, MapBuilder, MapFieldNames, StringBuilder};
use arrow_array::types::Int8Type;
use arrow_array::{
    ArrayRef, DictionaryArray, Int32Array, LargeStringArray, ListArray, StringArray, StringViewArray,
    StructArray,
};
use arrow_schema::{DataType, Field};
use datafusion::arrow::buffer::OffsetBuffer;
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
    // A partition column and a file column in one condition, which only the file can decide.
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

/// A file's statistics do not hold for files without the column.
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
    // No file lacks this column. Of a declared table, though, files without it may be added later.
    assert!(plan(&ctx, "select i from t where i is null").await.contains("DataSourceExec"));
    let of_files = format!("select i from '{path}/' where i is null");
    assert!(!plan(&ctx, &of_files).await.contains("DataSourceExec"));
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
    // One of many files has broken pages.
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
    // A cached listing: the file has changed since.
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
