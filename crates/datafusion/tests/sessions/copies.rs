//! What `COPY TO` writes of columns of all types is read as what it was: by ourselves, and by DataFusion's own Parquet.

use crate::property::Random;
use crate::tables::{batch, batches, ints, longs, rows_of, run, session, session_with};
use crate::type_columns::kinds;
use arrow_array::{ArrayRef, Int32Array, Int64Array, NullArray, RecordBatch, StringArray};
use arrow_schema::{DataType, IntervalUnit, TimeUnit};
use datafusion::arrow::compute::cast;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::prelude::{SessionConfig, SessionContext};
use marquetry_arrow::dataset::Dataset;
use marquetry_arrow::evolution::Evolution;
use marquetry_datafusion::DatasetTable;
use std::sync::Arc;
use tempfile::tempdir;

fn numbers(random: &mut Random, rows: usize, nulls: usize) -> Vec<Option<i64>> {
    (0..rows).map(|_| (!random.chance(nulls)).then(|| random.below(40) as i64 - 12)).collect()
}

/// Columns of types that conditions are not tested with elsewhere.
fn others(random: &mut Random, rows: usize, nulls: usize) -> Vec<(String, ArrayRef)> {
    let mut long = || -> ArrayRef { Arc::new(Int64Array::from(numbers(random, rows, nulls))) };
    let mut columns = Vec::new();
    for (name, unit) in [
        ("us", TimeUnit::Second),
        ("um", TimeUnit::Millisecond),
        ("uu", TimeUnit::Microsecond),
        ("un", TimeUnit::Nanosecond),
    ] {
        columns.push((name.to_owned(), cast(&long(), &DataType::Duration(unit)).unwrap()));
    }
    // Parquet has no others.
    let months: Int32Array =
        numbers(random, rows, nulls).into_iter().map(|v| v.map(|v| v.abs() as i32)).collect();
    columns.push(("iy".to_owned(), cast(&months, &DataType::Interval(IntervalUnit::YearMonth)).unwrap()));
    columns.push(("nu".to_owned(), Arc::new(NullArray::new(rows)) as ArrayRef));
    columns
}

fn table(random: &mut Random, rows: usize) -> RecordBatch {
    let nulls = [0, 20][random.below(2)];
    let mut columns: Vec<(String, ArrayRef)> = kinds()
        .iter()
        .map(|kind| {
            (
                kind.name.to_owned(),
                cast(&(kind.values)(numbers(random, rows, nulls)), &kind.data_type).unwrap(),
            )
        })
        .collect();
    columns.extend(others(random, rows, nulls));
    columns.push(("id".to_owned(), Arc::new((0..rows as i64).collect::<Int64Array>())));
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, column)| (name, column, true)))
        .unwrap()
}

async fn sorted(ctx: &SessionContext, sql: &str) -> Vec<String> {
    let mut rows = rows_of(&batches(ctx, sql).await.unwrap_or_else(|error| panic!("{sql}: {error}")));
    rows.sort();
    rows
}

#[tokio::test]
async fn copies_of_all_types_are_read_as_what_they_were() {
    let mut random = Random(26);
    let folder = tempdir().unwrap();
    let path = folder.path().display();
    let ctx =
        session_with(SessionConfig::new().with_target_partitions(1 + random.below(3)).with_batch_size(40));
    let whole = table(&mut random, 80);
    ctx.register_batch("t", whole.clone()).unwrap();
    let theirs = SessionContext::new().enable_url_table();
    let options = "'max_row_group_size' '37', 'data_page_row_count_limit' '10'";
    run(&ctx, &format!("copy t to '{path}/one.parquet' options ({options})")).await;
    run(
        &ctx,
        &format!(
            "copy (select * from t order by id desc) to '{path}/many/' stored as parquet options ({options})"
        ),
    )
    .await;
    run(&ctx, &format!("create external table many stored as parquet location '{path}/many/'")).await;
    ctx.register_table(
        "d",
        Arc::new(DatasetTable::try_new(Dataset::open([folder.path().join("many")]).unwrap()).unwrap()),
    )
    .unwrap();
    for column in whole.schema().fields().iter().map(|field| field.name()).filter(|name| *name != "id") {
        let expected = sorted(&ctx, &format!("select id, {column} from t")).await;
        for table in [&format!("'{path}/one.parquet'"), "many", "d"] {
            assert_eq!(
                sorted(&ctx, &format!("select id, {column} from {table}")).await,
                expected,
                "{column} of {table}"
            );
        }
        let given = sorted(&theirs, &format!("select id, {column} from '{path}/one.parquet'")).await;
        assert_eq!(given, expected, "{column} as DataFusion reads it");
        for sql in ["select count({c}) from {t}", "select count(*) from {t} where {c} is null"] {
            let of = |table: &str| sql.replace("{c}", column).replace("{t}", table);
            assert_eq!(sorted(&ctx, &of("many")).await, sorted(&ctx, &of("t")).await, "{}", of("many"));
            assert_eq!(sorted(&ctx, &of("d")).await, sorted(&ctx, &of("t")).await, "{}", of("d"));
        }
    }
}

/// Texts that folders are called by.
const NAMES: [&str; 40] = [
    "",
    "a",
    "a b",
    "a/b",
    "a=b",
    "=",
    "%",
    "%2F",
    "100%",
    "é",
    "Ä",
    ".",
    "..",
    "a.parquet",
    "*",
    "?",
    "[x]",
    "{x}",
    "#",
    "&",
    "+",
    "a+b",
    "'",
    "\"",
    "\\",
    "a\nb",
    "\t",
    "null",
    "_x",
    ".x",
    " a",
    "a ",
    "1",
    "01",
    "true",
    "2024-01-01",
    "~",
    "a:b",
    "|",
    "zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz",
];

#[tokio::test]
async fn keys_that_are_any_text_are_read_as_what_they_were() {
    let folder = tempdir().unwrap();
    let path = folder.path().display();
    let ctx = session();
    let ids = longs(0..NAMES.len() as i64 + 1);
    let keys: StringArray = NAMES.iter().map(Some).chain([None]).collect();
    ctx.register_batch("t", batch([("id", ids), ("k", Arc::new(keys) as ArrayRef)])).unwrap();
    let expected = sorted(&ctx, "select id, k from t").await;
    run(&ctx, &format!("copy t to '{path}/t/' stored as parquet partitioned by (k)")).await;
    let dataset = Dataset::open([folder.path().join("t")]).unwrap();
    ctx.register_table("d", Arc::new(DatasetTable::try_new(dataset).unwrap())).unwrap();
    assert_eq!(sorted(&ctx, "select id, k from d").await, expected);
    let columns = "(id bigint, k varchar) stored as parquet partitioned by (k)";
    run(&ctx, &format!("create external table l {columns} location '{path}/t/'")).await;
    for (id, name) in NAMES.iter().enumerate() {
        let name = name.replace('\'', "''");
        for table in ["d", "l"] {
            for condition in [
                format!("k = '{name}'"),
                format!("k in ('{name}', 'nothing')"),
                format!("k >= '{name}' and k <= '{name}'"),
            ] {
                let sql = format!("select id from {table} where {condition}");
                assert_eq!(sorted(&ctx, &sql).await, [id.to_string()], "{sql}");
            }
        }
    }
}

/// Folders of float keys are named by the float's text, which is the same for both zeros.
#[tokio::test]
async fn keys_of_all_types_are_read_as_what_they_were() {
    let mut random = Random(27);
    let ctx = session();
    for kind in kinds().into_iter().filter(|kind| is_key(&kind.data_type)) {
        let folder = tempdir().unwrap();
        let path = folder.path().display();
        let keys = cast(&(kind.values)(numbers(&mut random, 60, 0)), &kind.data_type).unwrap();
        let table = batch([("id", longs(0..60)), ("k", keys)]);
        ctx.deregister_table("t").unwrap();
        ctx.register_batch("t", table.clone()).unwrap();
        run(&ctx, &format!("copy t to '{path}/t/' stored as parquet partitioned by (k)")).await;
        let dataset = Dataset::open([folder.path().join("t")]).unwrap().evolve(Evolution::to(table.schema()));
        ctx.deregister_table("d").unwrap();
        ctx.register_table("d", Arc::new(DatasetTable::try_new(dataset).unwrap())).unwrap();
        let of = async |table: &str| sorted(&ctx, &format!("select id, k from {table}")).await;
        assert_eq!(of("d").await, of("t").await, "{}", kind.name);
    }
}

/// Whether values of this type can be partition keys.
fn is_key(data_type: &DataType) -> bool {
    let is_date = matches!(data_type, DataType::Date32 | DataType::Date64);
    let is_text = data_type.is_string() || matches!(data_type, DataType::Dictionary(..));
    is_date || is_text || data_type.is_integer() || data_type.is_floating() || *data_type == DataType::Boolean
}

/// Open files take memory, and so do bytes that wait for enough others to make a part of an upload.
#[tokio::test]
async fn what_waits_is_counted_by_the_memory_pool() {
    let folder = tempdir().unwrap();
    let numbers = longs((0..400_000).map(|n: i64| n * 7_919 % 400_009));
    let rows = batch([("v", numbers), ("k", ints(0..400_000))]);
    let many =
        "copy (select v, k from t where k < 500) to 'FOLDER/many/' stored as parquet partitioned by (k)";
    let long = "copy (select v from t) to 'FOLDER/long.parquet' options ('compression' 'uncompressed', \
                'encoding' 'plain', 'dictionary_enabled' 'false', 'max_row_group_size' '8192')";
    for (statement, too_little, enough) in [(many, 4 << 20, 64 << 20), (long, 2 << 20, 16 << 20)] {
        for (limit, is_enough) in [(too_little, false), (enough, true)] {
            let runtime = RuntimeEnvBuilder::new().with_memory_limit(limit, 1.0).build_arc().unwrap();
            let config = SessionConfig::new().with_target_partitions(2);
            let ctx = SessionContext::new_with_config_rt(config, runtime.clone());
            marquetry_datafusion::register(&ctx).unwrap();
            ctx.register_batch("t", rows.clone()).unwrap();
            let sql = statement.replace("FOLDER", &folder.path().display().to_string());
            let written = batches(&ctx, &sql).await;
            assert_eq!(written.is_ok(), is_enough, "{sql} {limit}: {written:?}");
            if let Err(error) = written {
                assert!(error.to_string().contains("MarquetrySink["), "{error}");
            }
            assert_eq!(runtime.memory_pool.reserved(), 0, "{sql}");
        }
    }
}
