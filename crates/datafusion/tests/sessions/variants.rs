//! Functions of VARIANT, and paths into it as columns and conditions.

use crate::tables::{batch, error, ints, metric, plan, rows, run, session, write};
use arrow_array::{ArrayRef, RecordBatch, StructArray};
use arrow_schema::{Field, Schema};
use datafusion::prelude::SessionContext;
use marquetry_arrow::dataset::Dataset;
use marquetry_arrow::variant::{Shredder, VariantArrayBuilder, VariantColumn};
use marquetry_core::io::read_metadata;
use marquetry_datafusion::DatasetTable;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use tempfile::{TempDir, tempdir};

/// One in a thousand rows has a text as the user's id, one is NULL, one has an id that is null, one has no user.
fn value(n: i32) -> Option<String> {
    let id = match n % 1000 {
        7 => format!("\"guest {n}\""),
        8 => return None,
        9 => "null".to_owned(),
        10 => return Some(format!("{{\"kind\": \"k{}\"}}", n % 7)),
        _ => n.to_string(),
    };
    Some(format!(
        r#"{{"user": {{"id": {id}, "name": "u{n:05}"}}, "kind": "k{}", "price": {n}.5, "ok": {}, "tags": ["a", "t{}"], "e": {n}e0}}"#,
        n % 7,
        n % 2 == 0,
        n % 3
    ))
}

/// A column `v` of VARIANT in a shape, beside `n`.
fn variants(shape: &str) -> RecordBatch {
    let mut builder = VariantArrayBuilder::new();
    for n in 0..10_000 {
        match value(n) {
            Some(text) => builder.append_json(&text).unwrap(),
            None => builder.append_null(),
        }
    }
    let plain = builder.finish().unwrap();
    let shredder = Shredder::new(&shape.parse().unwrap()).unwrap();
    named(shredder.shred(&VariantColumn::try_new(&plain).unwrap()).unwrap())
}

fn named(array: StructArray) -> RecordBatch {
    let extension = HashMap::from([("ARROW:extension:name".to_owned(), "arrow.parquet.variant".to_owned())]);
    let v = Field::new("v", arrow_array::Array::data_type(&array).clone(), true).with_metadata(extension);
    let n = batch([("n", ints(0..10_000))]);
    let schema = Schema::new(vec![Arc::new(v), n.schema().fields()[0].clone()]);
    let columns: Vec<ArrayRef> = vec![Arc::new(array), n.column(0).clone()];
    RecordBatch::try_new(Arc::new(schema), columns).unwrap()
}

const SHAPE: &str = "{user: {id: bigint, name: text}, kind: text, price: decimal(9, 1), ok: boolean, tags: [text], e: double}";

/// Tables `plain`, `shredded`, `partly` of the same rows in files, and `memory`, of which no file is asked anything.
async fn tables() -> (TempDir, SessionContext) {
    let folder = tempdir().unwrap();
    let ctx = session();
    for (name, shape) in [
        ("plain", "variant"),
        ("shredded", SHAPE),
        ("partly", "{user: {id: bigint}, kind: bigint, gone: text}"),
    ] {
        let file = folder.path().join(format!("{name}.parquet"));
        write(&file, &[variants(shape)], 1000);
        create(&ctx, name, &file).await;
    }
    ctx.register_batch("memory", variants(SHAPE)).unwrap();
    (folder, ctx)
}

async fn create(ctx: &SessionContext, name: &str, location: &Path) {
    let location = location.display();
    run(ctx, &format!("create external table {name} stored as parquet location '{location}'")).await;
}

#[tokio::test]
async fn three_nothings_are_kept_apart() {
    let (_folder, ctx) = tables().await;
    for table in ["plain", "shredded", "partly", "memory"] {
        let sql = format!(
            "select n, v is null, v:user.id is null, is_variant_null(v, 'user.id'), v:user.id::bigint, variant_to_json(v:user.id) \
             from {table} where n between 6 and 10 order by n"
        );
        assert_eq!(
            rows(&ctx, &sql).await,
            [
                "6 | false | false | false | 6 | 6",
                "7 | false | false | false | null | \"guest 7\"",
                "8 | true | true | null | null | null",
                "9 | false | false | true | null | null",
                "10 | false | true | null | null | null",
            ],
            "{table}"
        );
    }
}

#[tokio::test]
async fn conditions_say_the_same_whatever_is_shredded() {
    let (_folder, ctx) = tables().await;
    let conditions = [
        "v:user.id::bigint = 4711",
        "v:user.id::bigint between 4995 and 5012",
        "v:user.id::bigint in (1, 7, 4711, 99999)",
        "v:user.id::bigint is null",
        "v:user.id is null",
        "v:user is null",
        "not (v:user.id::bigint > 5)",
        "v:user.id::int > 9990 and v:kind::text = 'k3'",
        "v:user.id::text like 'guest%'",
        "v:user.id::text = 'guest 1007'",
        "v:user.name::text like 'u0000%' or n > 9995",
        "starts_with(v:kind::text, 'k1') and n < 20",
        "v:price::decimal(9, 1) = 17.5",
        "v:price::double = 17.5",
        "v:price::double < 3",
        "v:e::double >= 9998",
        "v:ok::boolean and n < 10",
        "not v:ok::boolean and n < 10",
        "v:tags[1]::text = 't2' and n < 30",
        "cast(v:user.id as bigint unsigned) = 12",
        "v:missing.here::bigint = 1",
        "v:missing is null and n < 10",
        "v:user.id::bigint = n and n < 10",
        "v:user.id::bigint % 1000 = 11",
        "is_variant_null(v, 'user.id')",
        "v:user.id is not null and v:user.id::bigint is null",
        "v:kind::bigint is not null",
        "(variant_get(v, 'user.id', 'bigint') is distinct from 5) and n < 10",
        "variant_to_json(v:tags) = '[\"a\",\"t1\"]' and n < 10",
    ];
    for condition in conditions {
        let of =
            |table: &str| format!("select n, v:user.id::bigint from {table} where {condition} order by n");
        let expected = rows(&ctx, &of("memory")).await;
        for table in ["plain", "shredded", "partly"] {
            assert_eq!(rows(&ctx, &of(table)).await, expected, "{condition} of {table}");
        }
        run(&ctx, "set datafusion.execution.parquet.pushdown_filters = false").await;
        for table in ["plain", "shredded", "partly"] {
            assert_eq!(rows(&ctx, &of(table)).await, expected, "{condition} of {table}, asked after reading");
        }
        run(&ctx, "set datafusion.execution.parquet.pushdown_filters = true").await;
    }
}

#[tokio::test]
async fn conditions_are_asked_in_files_and_rule_out_row_groups() {
    let (_folder, ctx) = tables().await;
    let sql = "select count(*) from shredded where v:user.id::bigint = 4711";
    assert_eq!(rows(&ctx, sql).await, ["1"]);
    let plan = plan(&ctx, sql).await;
    assert!(!plan.contains("FilterExec"), "{plan}");
    // Rows with a text as id are in `value`: a tenth of the rows with this group, and only those are read.
    assert!(
        metric(&ctx, sql, "page_index_rows_pruned").await
            + 1000 * metric(&ctx, sql, "row_groups_pruned_statistics").await
            > 0
    );
    let sql = "select count(*) from shredded where v:user.name::text = 'u04711'";
    assert_eq!(rows(&ctx, sql).await, ["1"]);
    assert_eq!(metric(&ctx, sql, "row_groups_pruned_statistics").await, 9);
    let sql = "select count(*) from shredded where v:user.name::text >= 'u09500' and abs(n) > 0";
    assert_eq!(rows(&ctx, sql).await, ["500"]);
    assert_eq!(metric(&ctx, sql, "row_groups_pruned_statistics").await, 9);
}

#[tokio::test]
async fn a_path_reads_its_columns_alone() {
    let (_folder, ctx) = tables().await;
    // Several partitions would read a dictionary each.
    ctx.sql("set datafusion.execution.target_partitions = 1").await.unwrap();
    let bytes = async |sql: &str| metric(&ctx, sql, "bytes_scanned").await;
    let whole = bytes("select v from shredded").await;
    let path = bytes("select max(v:user.name::text) from shredded").await;
    let two = bytes("select v:kind::text, count(*) from shredded where v:ok::boolean group by 1").await;
    // All names differ, and so are a large part of the bytes.
    assert!(path * 5 < whole * 3 && two * 5 < whole, "{path} and {two} of {whole} bytes");
    assert_eq!(
        rows(&ctx, "select sum(v:user.id::bigint), count(v:kind::text) from shredded").await,
        rows(&ctx, "select sum(v:user.id::bigint), count(v:kind::text) from memory").await
    );
    // Together with the whole column, and with a part of its storage.
    let both = "select variant_to_json(v), v:kind::text from shredded where n = 5";
    assert!(rows(&ctx, both).await[0].ends_with(" | k5"));
    let part = "select v['metadata'] is null, v:kind::text from shredded where n = 5";
    assert_eq!(rows(&ctx, part).await, ["false | k5"]);
}

#[tokio::test]
async fn files_of_other_shapes_are_one_table() {
    let folder = tempdir().unwrap();
    for (name, shape) in
        [("a", "{user: {id: bigint}}"), ("b", "variant"), ("c", "{user: {id: bigint}, kind: text}")]
    {
        write(&folder.path().join(format!("{name}.parquet")), &[variants(shape)], 1000);
    }
    let ctx = session();
    create(&ctx, "t", folder.path()).await;
    let sql =
        "select n, v:user.id::bigint, v:kind::text from t where v:user.id::bigint in (5, 4711) order by n";
    let expected = [
        "5 | 5 | k5",
        "5 | 5 | k5",
        "5 | 5 | k5",
        "4711 | 4711 | k0",
        "4711 | 4711 | k0",
        "4711 | 4711 | k0",
    ];
    assert_eq!(rows(&ctx, sql).await, expected);
    assert_eq!(
        rows(&ctx, "select count(variant_to_json(v:user)), count(v:user) from t").await,
        ["29940 | 29940"]
    );
    // A table whose declared type is not shredded reads shredded files.
    let file = folder.path().join("a.parquet");
    let create =
        "create external table w (v struct<metadata bytea, value bytea>, n int) stored as parquet location";
    run(&ctx, &format!("{create} '{}'", file.display())).await;
    let sql = "select n, variant_to_json(v) from w order by n";
    let alone = format!("select n, variant_to_json(v) from '{}' order by n", file.display());
    assert_eq!(rows(&ctx, sql).await, rows(&ctx, &alone).await);
    assert_eq!(rows(&ctx, "select v:user.id::bigint from w where n = 5").await, ["5"]);
}

/// The names of files, and their shredding shapes.
const SHAPES: [(&str, &str); 3] =
    [("a", "variant"), ("b", SHAPE), ("c", "{user: {id: text}, kind: text, tags: text}")];

#[tokio::test]
async fn whole_variants_of_files_of_other_shapes_are_those_of_each_file() {
    let folder = tempdir().unwrap();
    let ctx = session();
    let mut alone = Vec::new();
    for (name, shape) in SHAPES {
        let file = folder.path().join(format!("{name}.parquet"));
        write(&file, &[variants(shape)], 1000);
        create(&ctx, name, &file).await;
        alone.push(rows(&ctx, &format!("select n, variant_to_json(v) from {name}")).await);
    }
    create(&ctx, "t", folder.path()).await;
    let mut expected = alone.concat();
    expected.sort();
    let sorted = async |sql: &str| {
        let mut found = rows(&ctx, sql).await;
        found.sort();
        found
    };
    assert_eq!(sorted("select n, variant_to_json(v) from t").await, expected);
    // With a path beside the whole, with parts of the storage alone, and with conditions on either.
    let sql =
        "select variant_to_json(v), v:kind::text, v:user.id::bigint from t where v:user.id::bigint = 4711";
    let json = alone[0].iter().find_map(|row| row.strip_prefix("4711 | ")).unwrap();
    let row = format!("{json} | k0 | 4711");
    assert_eq!(rows(&ctx, sql).await, [row.as_str(), &row, &row]);
    let sql = "select count(*), count(v), count(v['metadata']), count(v['value']) from t";
    assert_eq!(rows(&ctx, sql).await, ["30000 | 29970 | 29970 | 29970"]);
    for (condition, count) in [
        ("v is null", "30"),
        ("variant_to_json(v) like '%guest 1007%'", "3"),
        ("v['value'] is null", "30"),
        ("v['value'] is not null and v:user.name::text = 'u00005'", "3"),
    ] {
        let sql = format!("select count(*) from t where {condition}");
        assert_eq!(rows(&ctx, &sql).await, [count], "{condition}");
    }
    assert_eq!(rows(&ctx, "select is_variant_null(v:user.id) from t where n = 9").await, ["true"; 3]);
}

#[tokio::test]
async fn a_table_may_declare_any_storage() {
    let folder = tempdir().unwrap();
    let ctx = session();
    for (name, shape) in SHAPES {
        write(&folder.path().join(format!("{name}.parquet")), &[variants(shape)], 1000);
    }
    let location = folder.path().display();
    let expected = {
        create(&ctx, "t", folder.path()).await;
        rows(&ctx, "select n, variant_to_json(v) from t order by 1, 2").await
    };
    for storage in [
        "metadata bytea, value bytea",
        "value bytea, metadata bytea",
        "metadata bytea, value bytea, typed_value struct<price struct<value bytea, typed_value decimal(9, 1)>>",
    ] {
        let sql = format!(
            "create external table d (v struct<{storage}>, n int) stored as parquet location '{location}'"
        );
        run(&ctx, &sql).await;
        let sql = "select n, variant_to_json(v) from d order by 1, 2";
        assert_eq!(rows(&ctx, sql).await, expected, "{storage}");
        let sql = "select v:price::decimal(9, 1) from d where n = 17 and v:kind::text = 'k3'";
        assert_eq!(rows(&ctx, sql).await, ["17.5"; 3], "{storage}");
        run(&ctx, "drop table d").await;
    }
    // Without `value` there is no place for values of other types.
    let sql = "create external table d (v struct<metadata bytea, typed_value bigint>, n int) stored as parquet location";
    run(&ctx, &format!("{sql} '{location}'")).await;
    error(&ctx, "select variant_to_json(v) from d").await;
}

#[tokio::test]
async fn variants_in_structs_and_lists_are_put_together_too() {
    let folder = tempdir().unwrap();
    let ctx = session();
    let mut expected = Vec::new();
    for (name, shape) in SHAPES {
        let batch = variants(shape).slice(0, 1000);
        let (v, n) = (batch.column(0).clone(), batch.column(1).clone());
        let field = batch.schema().fields()[0].clone();
        let offsets = datafusion::arrow::buffer::OffsetBuffer::from_lengths(std::iter::repeat_n(2, 500));
        let list: ArrayRef = Arc::new(arrow_array::ListArray::new(field.clone(), offsets, v.clone(), None));
        let half: ArrayRef = ints(0..500);
        let of_struct = StructArray::from(vec![
            (Arc::new(Field::new("n", arrow_schema::DataType::Int32, true)), n.slice(0, 500)),
            (field, v.slice(0, 500)),
        ]);
        let batch = batch_of(&[("s", Arc::new(of_struct)), ("l", list), ("id", half)]);
        let file = folder.path().join(format!("{name}.parquet"));
        write(&file, &[batch], 100);
        create(&ctx, name, &file).await;
        let sql = "select id, variant_to_json(s['v']), s['n'] from";
        expected.extend(rows(&ctx, &format!("{sql} {name}")).await);
    }
    create(&ctx, "t", folder.path()).await;
    let sql = "select id, variant_to_json(s['v']), s['n'] from t";
    let mut found = rows(&ctx, sql).await;
    found.sort();
    expected.sort();
    assert_eq!(found, expected);
    let sql = "select distinct variant_to_json(l[1]), variant_to_json(l[2]) from t where id = 100";
    assert_eq!(rows(&ctx, sql).await.len(), 1);
    assert_eq!(rows(&ctx, "select s['n'] from t where id = 100").await, ["100"; 3]);
}

fn batch_of(columns: &[(&str, ArrayRef)]) -> RecordBatch {
    RecordBatch::try_from_iter_with_nullable(
        columns.iter().map(|(name, column)| (*name, column.clone(), true)),
    )
    .unwrap()
}

#[tokio::test]
async fn paths_into_datasets() {
    let folder = tempdir().unwrap();
    for (name, shape) in [("a", SHAPE), ("b", "variant")] {
        write(&folder.path().join(format!("{name}.parquet")), &[variants(shape)], 1000);
    }
    let ctx = session();
    let dataset = Dataset::open([folder.path()]).unwrap().union_by_name(true);
    ctx.register_table("t", Arc::new(DatasetTable::try_new(dataset).unwrap())).unwrap();
    let sql = "select n, v:user.name::text from t where v:user.id::bigint = 4711";
    assert_eq!(rows(&ctx, sql).await, ["4711 | u04711", "4711 | u04711"]);
    assert_eq!(rows(&ctx, "select count(*) from t where v:user.id::bigint < 100").await, ["192"]);
}

#[tokio::test]
async fn json_becomes_variants_that_are_written() {
    let folder = tempdir().unwrap();
    let file = folder.path().join("v.parquet");
    let ctx = session();
    let sql = format!(
        "copy (select json_to_variant(j) as v from (values ('{{\"a\": [1, 2.50]}}'), (null), ('null')) as t(j)) to '{}' stored as parquet",
        file.display()
    );
    run(&ctx, &sql).await;
    let bytes = bytes::Bytes::from(std::fs::read(&file).unwrap());
    let metadata = read_metadata(&bytes, &Default::default()).unwrap().metadata;
    let logical = metadata.schema().fields()[0].logical().map(|logical| format!("{logical:?}"));
    assert!(logical.as_deref().is_some_and(|logical| logical.starts_with("Variant")), "{logical:?}");
    create(&ctx, "t", &file).await;
    let sql = "select variant_to_json(v), v:a[1]::decimal(5, 2), v is null, parse_json('7')::int from t";
    assert_eq!(
        rows(&ctx, sql).await,
        ["{\"a\":[1,2.50]} | 2.50 | false | 7", "null | null | true | 7", "null | null | false | 7"]
    );
}

#[tokio::test]
async fn what_cannot_be_asked_is_said() {
    let (_folder, ctx) = tables().await;
    for (sql, said) in [
        (
            "select variant_get(v, kind) from (select v, 'user' || n as kind from shredded)",
            "the path is a literal",
        ),
        ("select variant_get(v, 'a..b') from shredded", "a name is wanted"),
        ("select variant_get(v, 'a', 'list') from shredded", "list"),
        ("select variant_get(n, 'a') from shredded", "takes a VARIANT"),
        ("select variant_to_json(n) from shredded", "takes a VARIANT"),
        ("select variant_get(v) from shredded", "arguments"),
        ("select json_to_variant('{') from shredded", "not JSON"),
        ("select json_to_variant(n) from shredded", "takes JSON text"),
    ] {
        let error = error(&ctx, sql).await;
        assert!(error.contains(said), "{sql}: {error}");
    }
}
