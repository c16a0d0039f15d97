//! Datasets as tables.

use crate::tables::{batch, error, ints, longs, plan, rows, texts, write};
use arrow_array::Int64Array;
use arrow_schema::{DataType, Field, Schema};
use datafusion::prelude::{SessionConfig, SessionContext};
use marquetry_arrow::dataset::Dataset;
use marquetry_arrow::evolution::Evolution;
use marquetry_datafusion::DatasetTable;
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
    assert!(asked.contains("DatasetScan: files=4, partitions=2, columns=[t]"), "{asked}");
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
