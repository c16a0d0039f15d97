//! Datasets as tables.

use crate::tables::{batch, error, ints, longs, plan, rows, texts, write};
use arrow_array::builder::{BinaryBuilder, ListBuilder, MapBuilder, StringBuilder};
use arrow_array::{ArrayRef, Int64Array};
use arrow_schema::{DataType, Field, Schema};
use datafusion::execution::object_store::ObjectStoreUrl;
use datafusion::prelude::{SessionConfig, SessionContext};
use marquetry_arrow::dataset::Dataset;
use marquetry_arrow::evolution::Evolution;
use marquetry_datafusion::{DatasetTable, FilesInStore, FolderTable, MarquetryFormat, dataset_in_store};
use object_store::ObjectStoreExt;
use object_store::memory::InMemory;
use object_store::path::Path as StorePath;
use std::path::Path;
use std::sync::Arc;
use tempfile::{TempDir, tempdir};

/// Two years of files; those of the second have another type of `n`, and one column more.
fn folder() -> TempDir {
    let folder = tempdir().unwrap();
    for (year, first) in [(2023, 0), (2024, 1000)] {
        let below = folder.path().join(format!("year={year}"));
        std::fs::create_dir(&below).unwrap();
        for (name, from) in [("a.parquet", first), ("b.parquet", first + 100)] {
            let batch = match year {
                2023 => batch([("n", ints(from..from + 100))]),
                _ => batch([
                    ("n", longs((from..from + 100).map(i64::from))),
                    ("t", texts((from..from + 100).map(|n| format!("t{n}")))),
                ]),
            };
            write(&below.join(name), &[batch], 30);
        }
    }
    folder
}

fn session(dataset: Dataset) -> SessionContext {
    let ctx = SessionContext::new_with_config(SessionConfig::new().with_target_partitions(3));
    ctx.register_table("t", Arc::new(DatasetTable::try_new(dataset).unwrap())).unwrap();
    ctx
}

fn united(folder: &Path) -> SessionContext {
    session(Dataset::open([folder]).unwrap().union_by_name(true))
}

#[tokio::test]
async fn files_of_several_schemas_are_one_table() {
    let folder = folder();
    let ctx = united(folder.path());
    let all = "select year, count(*), count(t), min(n), max(n) from t group by year order by year";
    assert_eq!(rows(&ctx, all).await, ["2023 | 200 | 0 | 0 | 199", "2024 | 200 | 200 | 1000 | 1199"]);
    assert_eq!(
        rows(&ctx, "select t, n from t where n in (99, 1001) order by n").await,
        ["null | 99", "t1001 | 1001"]
    );
    assert_eq!(rows(&ctx, "select n from t where year = 2024 and t = 't1005'").await, ["1005"]);
    assert_eq!(rows(&ctx, "select n from t where t is null and year > 2023").await.len(), 0);
    assert_eq!(rows(&ctx, "select 1 from t where n % 100 = 7").await.len(), 4);
    assert_eq!(rows(&ctx, "select n from t where year = 2023 limit 5").await.len(), 5);
    assert_eq!(rows(&ctx, "select year from t where n >= 1190 and n + 0 < 1192").await, ["2024", "2024"]);
}

#[tokio::test]
async fn conditions_and_counts_are_the_datasets() {
    let folder = folder();
    let ctx = united(folder.path());
    let asked = plan(&ctx, "select t from t where n > 5 and year = 2024").await;
    assert!(!asked.contains("FilterExec"), "{asked}");
    assert!(asked.contains("DatasetScan: files=4, partitions=3, columns=[t]"), "{asked}");
    let asked = plan(&ctx, "select n from t where abs(n) > 5").await;
    assert!(asked.contains("FilterExec"), "{asked}");
    let counted = plan(&ctx, "select count(*) from t").await;
    assert!(!counted.contains("DatasetScan"), "{counted}");
    assert_eq!(rows(&ctx, "select count(*) from t").await, ["400"]);
}

#[tokio::test]
async fn a_schema_that_is_given_is_the_tables() {
    let folder = folder();
    let fields = [("n", DataType::Int64), ("new", DataType::Int64), ("year", DataType::Utf8)];
    let fields = fields.map(|(name, data_type)| Field::new(name, data_type, true));
    let evolution = Evolution::to(Arc::new(Schema::new(fields.to_vec())));
    let evolution = evolution.with_default("new", Arc::new(Int64Array::from(vec![7])));
    let ctx = session(Dataset::open([folder.path()]).unwrap().evolve(evolution));
    let sql = "select n, year from t where new = 7 and n between 198 and 1000 order by n";
    assert_eq!(rows(&ctx, sql).await, ["198 | 2023", "199 | 2023", "1000 | 2024"]);
    assert_eq!(rows(&ctx, "select sum(new) from t where year = '2023'").await, ["1400"]);
}

/// DataFusion's functions expect Utf8 in lists and maps, not views.
#[tokio::test]
async fn functions_look_into_lists_and_maps() {
    let folder = tempdir().unwrap();
    let item = || Arc::new(Field::new("item", DataType::Binary, true));
    let mut bytes = ListBuilder::new(BinaryBuilder::new()).with_field(item());
    bytes.append_value([Some(b"\xff"), Some(b"\x01")]);
    let mut map = MapBuilder::new(None, StringBuilder::new(), StringBuilder::new());
    map.keys().append_value("a");
    map.values().append_value("oak");
    map.append(true).unwrap();
    let columns = [("l", Arc::new(bytes.finish()) as ArrayRef), ("m", Arc::new(map.finish()) as ArrayRef)];
    let below = folder.path().join("k=1");
    std::fs::create_dir(&below).unwrap();
    write(&below.join("a.parquet"), &[batch(columns)], 30);
    let ctx = session(Dataset::open([folder.path()]).unwrap());
    let sql = "select m['a'], array_has(l, x'ff'), array_has(l, x'02') from t";
    assert_eq!(rows(&ctx, sql).await, ["oak | true | false"]);
}

/// The files of a folder, in a store.
async fn stored(folder: &Path) -> InMemory {
    let store = InMemory::new();
    for year in ["year=2023", "year=2024", "year=__HIVE_DEFAULT_PARTITION__"] {
        for name in ["a.parquet", "b.parquet", ".hidden.parquet", "_SUCCESS"] {
            if let Ok(bytes) = std::fs::read(folder.join(year).join(name)) {
                store.put(&StorePath::from(format!("t/{year}/{name}")), bytes.into()).await.unwrap();
            }
        }
    }
    store
}

#[tokio::test]
async fn files_of_a_store_are_the_table_that_they_are_on_a_disk() {
    let folder = folder();
    let of_null = folder.path().join("year=__HIVE_DEFAULT_PARTITION__");
    std::fs::create_dir(&of_null).unwrap();
    std::fs::copy(folder.path().join("year=2023/a.parquet"), of_null.join("a.parquet")).unwrap();
    std::fs::copy(folder.path().join("year=2023/a.parquet"), of_null.join(".hidden.parquet")).unwrap();
    std::fs::write(of_null.join("_SUCCESS"), "").unwrap();
    let on_disk = united(folder.path());
    let ctx = SessionContext::new_with_config(SessionConfig::new().with_target_partitions(3));
    let bucket = ObjectStoreUrl::parse("s3://bucket").unwrap();
    ctx.register_object_store(bucket.as_ref(), Arc::new(stored(folder.path()).await));
    let found = dataset_in_store("s3://bucket/t/", &ctx.runtime_env()).await.unwrap().union_by_name(true);
    assert_eq!(found.files().next(), Some(Path::new("s3://bucket/t/year=2023/a.parquet")));
    ctx.register_table("t", Arc::new(DatasetTable::try_new_async(found).await.unwrap())).unwrap();
    // As a table that can be sent.
    let listed = FilesInStore::list("s3://bucket/t/", &ctx.runtime_env()).await.unwrap();
    let sent = FolderTable::try_new(&listed, true, &MarquetryFormat::default(), &ctx.state()).await.unwrap();
    ctx.register_table("sent", Arc::new(sent)).unwrap();
    for (sql, len) in [
        ("select year, count(*), count(t), min(n), max(n) from t group by year order by year", 3),
        ("select count(*), sum(n), max(year) from t where year is null", 1),
        ("select t, n from t where n in (99, 1001) order by n, year", 3),
        ("select n from t where year = 2024 and t = 't1005'", 1),
        ("select year from t where n >= 1190 and n + 0 < 1192", 2),
        ("select count(*) from t", 1),
        ("select year from t order by year desc nulls last limit 1", 1),
    ] {
        let found = rows(&ctx, sql).await;
        assert_eq!(found, rows(&on_disk, sql).await, "{sql}");
        assert_eq!(found.len(), len, "{sql}");
        assert_eq!(rows(&ctx, &sql.replace("from t", "from sent")).await, found, "{sql}");
    }
    let files = async |sql: &str| plan(&ctx, sql).await.matches("parquet").count();
    let all = files("select n from sent").await;
    assert!(files("select n from sent where year = 2024").await < all);
    assert_eq!(files("select n from sent where year = 7").await, 0);
    assert_eq!(rows(&ctx, "select n from t where year = 2023 limit 5").await.len(), 5);
    let asked = plan(&ctx, "select t from t where n > 5 and year = 2024").await;
    assert!(asked.contains("DatasetScan: files=5, partitions=3, columns=[t]"), "{asked}");
    for (url, says) in [
        ("s3://bucket/none/", "there is no such file"),
        ("s3://bucket/t/year=202*/[", "wrong pattern"),
        ("s3://other/t/", "No suitable object store found"),
        ("t/", "not a URL"),
    ] {
        let error = dataset_in_store(url, &ctx.runtime_env()).await.unwrap_err().to_string();
        assert!(error.contains(says), "{url}: {error}");
    }
    let pattern = dataset_in_store("s3://bucket/t/year=202*/b.parquet", &ctx.runtime_env()).await.unwrap();
    assert_eq!(pattern.files().len(), 2);
}

#[tokio::test]
async fn a_file_of_a_store_that_changes_is_an_error_with_its_name() {
    // Larger than the part that is fetched with the footer, and kept.
    let large = |seed: i64| {
        let values = (1..20_000i64).map(move |n| (n ^ seed).wrapping_mul(0x9e37_79b9_7f4a_7c15_u64 as i64));
        let folder = tempdir().unwrap();
        let path = folder.path().join("a.parquet");
        write(&path, &[batch([("n", longs(values))])], 5_000);
        std::fs::read(path).unwrap()
    };
    let ctx = SessionContext::new();
    let bucket = ObjectStoreUrl::parse("s3://bucket").unwrap();
    let store = Arc::new(InMemory::new());
    let (a, b) = (StorePath::from("t/k=1/a.parquet"), StorePath::from("t/k=2/b.parquet"));
    for path in [&a, &b] {
        store.put(path, large(0).into()).await.unwrap();
    }
    ctx.register_object_store(bucket.as_ref(), store.clone());
    let found = dataset_in_store("s3://bucket/t", &ctx.runtime_env()).await.unwrap();
    let table = DatasetTable::try_new_async(found.clone()).await.unwrap();
    ctx.register_table("t", Arc::new(table)).unwrap();
    assert_eq!(rows(&ctx, "select count(distinct n), max(k) from t").await, ["19999 | 2"]);
    store.put(&b, large(1).into()).await.unwrap();
    let message = error(&ctx, "select sum(n) from t").await;
    assert!(message.contains("s3://bucket/t/k=2/b.parquet"), "{message}");
    let limited = DatasetTable::try_new_async(found.limit(3)).await.unwrap_err().to_string();
    assert!(limited.contains("a table with a limit or an offset has no parts"), "{limited}");
}

#[tokio::test]
async fn rows_for_a_dataset_have_another_way() {
    let folder = folder();
    let message = error(&united(folder.path()), "insert into t values (1, 'a', 2023)").await;
    assert!(message.contains("CREATE EXTERNAL TABLE"), "{message}");
}

#[tokio::test]
async fn what_cannot_be_a_table_is_refused() {
    let folder = folder();
    let limited = Dataset::open([folder.path()]).unwrap().union_by_name(true).limit(3);
    let error_of = DatasetTable::try_new(limited).unwrap_err().to_string();
    assert!(error_of.contains("a table with a limit or an offset has no parts"), "{error_of}");
    let ctx = united(folder.path());
    let broken = folder.path().join("year=2024/b.parquet");
    let size = std::fs::metadata(&broken).unwrap().len();
    let mut bytes = std::fs::read(&broken).unwrap();
    bytes[4..size as usize / 2].fill(0xff);
    std::fs::write(&broken, bytes).unwrap();
    let message = error(&ctx, "select sum(n) from t").await;
    assert!(message.contains("b.parquet") && message.contains("column n"), "{message}");
}
