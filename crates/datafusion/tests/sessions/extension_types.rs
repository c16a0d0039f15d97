//! Types that Arrow has as extension types, through statements of SQL: what is UUID, JSON, GEOMETRY, VARIANT stays so.

use crate::tables::{batch, ints, rows, run, session, texts, write};
use arrow_array::{Array, ArrayRef, BinaryArray, FixedSizeBinaryArray, Int64Array, RecordBatch, StructArray};
use arrow_schema::{DataType, Field, Schema};
use datafusion::prelude::SessionContext;
use marquetry_arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use marquetry_arrow::variant::VariantArrayBuilder;
use std::collections::HashMap;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use tempfile::{TempDir, tempdir};

const ROWS: i32 = 100;

fn typed(name: &str, array: &ArrayRef, extension: &str, parameters: Option<&str>) -> Field {
    let mut metadata = HashMap::from([("ARROW:extension:name".to_owned(), extension.to_owned())]);
    metadata.extend(parameters.map(|text| ("ARROW:extension:metadata".to_owned(), text.to_owned())));
    Field::new(name, array.data_type().clone(), true).with_metadata(metadata)
}

fn uuids() -> ArrayRef {
    let values = (0..ROWS).map(|n| (n as u128 | 0xabcd << 100).to_be_bytes());
    Arc::new(FixedSizeBinaryArray::try_from_iter(values).unwrap())
}

/// Points.
fn geometries() -> ArrayRef {
    let point = |n: i32| {
        let mut bytes = vec![1, 1, 0, 0, 0];
        [f64::from(n % 90), 2.0].iter().for_each(|x| bytes.extend(x.to_le_bytes()));
        bytes
    };
    Arc::new(BinaryArray::from_iter_values((0..ROWS).map(point)))
}

fn variants() -> ArrayRef {
    let mut builder = VariantArrayBuilder::new();
    (0..ROWS).for_each(|n| builder.append_json(&format!("{{\"id\":{n}}}")).unwrap());
    Arc::new(builder.finish().unwrap())
}

fn files() -> ArrayRef {
    let sizes: ArrayRef = Arc::new(Int64Array::from_iter_values(0..i64::from(ROWS)));
    let names = texts((0..ROWS).map(|n| format!("{n}.png")));
    let fields = vec![Field::new("uri", DataType::Utf8, true), Field::new("size", DataType::Int64, true)];
    Arc::new(StructArray::new(fields.into(), vec![names, sizes], None))
}

/// A column of each type, in this reference system.
fn columns(crs: &str) -> Vec<(Field, ArrayRef)> {
    let parameters = format!("{{\"crs\":\"{crs}\"}}");
    let spherical = format!("{{\"crs\":\"{crs}\",\"edges\":\"spherical\"}}");
    let json = texts((0..ROWS).map(|n| format!("[{n}]")));
    let field =
        |name, array: ArrayRef, extension, parameters| (typed(name, &array, extension, parameters), array);
    vec![
        (Field::new("n", DataType::Int32, true), ints(0..ROWS)),
        field("u", uuids(), "arrow.uuid", None),
        field("j", json, "arrow.json", Some("")),
        field("g", geometries(), "geoarrow.wkb", Some(&parameters)),
        field("y", geometries(), "geoarrow.wkb", Some(&spherical)),
        field("v", variants(), "arrow.parquet.variant", None),
        field("f", files(), "marquetry.file", None),
    ]
}

fn batch_of(columns: Vec<(Field, ArrayRef)>) -> RecordBatch {
    let (fields, columns): (Vec<Field>, Vec<ArrayRef>) = columns.into_iter().unzip();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).unwrap()
}

/// A file `name.parquet`, and the table of it.
async fn create(ctx: &SessionContext, folder: &Path, name: &str, batch: &RecordBatch) {
    let file = folder.join(format!("{name}.parquet"));
    write(&file, std::slice::from_ref(batch), 40);
    let location = file.display();
    run(ctx, &format!("create external table {name} stored as parquet location '{location}'")).await;
}

/// Tables `a` and `b` of the same columns.
async fn tables() -> (TempDir, SessionContext) {
    let (folder, ctx) = (tempdir().unwrap(), session());
    for name in ["a", "b"] {
        create(&ctx, folder.path(), name, &batch_of(columns("EPSG:4326"))).await;
    }
    (folder, ctx)
}

/// The types of a file's columns, by name.
fn types(file: &Path) -> HashMap<String, String> {
    let builder = ParquetRecordBatchReaderBuilder::try_new(File::open(file).unwrap()).unwrap();
    let fields = builder.metadata().schema().fields().iter();
    fields
        .map(|field| {
            (
                field.name().to_string(),
                field.logical().map_or("-".to_owned(), |logical| format!("{logical:?}")),
            )
        })
        .collect()
}

/// The types in a file that a query was copied into.
async fn copied(ctx: &SessionContext, folder: &Path, query: &str) -> HashMap<String, String> {
    let file = folder.join("copy.parquet");
    std::fs::remove_file(&file).ok();
    run(ctx, &format!("copy ({query}) to '{}' stored as parquet", file.display())).await;
    types(&file)
}

#[tokio::test]
async fn every_type_stays_what_it_is() {
    let (folder, ctx) = tables().await;
    let expected = types(&folder.path().join("a.parquet"));
    assert!(["u", "j", "g", "y", "v", "f"].iter().all(|name| expected[*name] != "-"), "{expected:?}");
    assert!(expected["g"].contains("EPSG:4326"), "{expected:?}");
    run(&ctx, "create table m as select * from a").await;
    run(&ctx, "create view w as select * from b where n < 50").await;
    let queries = [
        "select * from a",
        "select n, u, j, g, y, v, f from a where n > 10 order by n desc limit 20",
        "select * from a where v:id::bigint > 3 and j like '[1%' order by u",
        "select * from a union all select * from b",
        "select * from a union all select * from m union all select * from w",
        "select a.* from a join b on a.u = b.u where b.n < 10",
        "select b.* from a left join b on a.n = b.n + 50",
        "select * from m",
        "select * from w",
        "with t as (select *, row_number() over (order by n) as r from a) select * from t where r < 10",
        "select x as n, u, j, g, y, v, f from (select n + 1 as x, u, j, g, y, v, f from a)",
        "select distinct on (u) * from a order by u",
        "select max(n) as n, u, j, g, y, first_value(v) as v, first_value(f) as f from a group by u, j, g, y",
    ];
    for query in queries {
        let mut found = copied(&ctx, folder.path(), query).await;
        found.remove("r");
        assert_eq!(found, expected, "{query}");
        let sql = format!("select count(*), count(distinct u), min(variant_to_json(v)) from ({query})");
        let copy = format!(
            "select count(*), count(distinct u), min(variant_to_json(v)) from '{}'",
            folder.path().join("copy.parquet").display()
        );
        if !query.contains("limit") {
            assert_eq!(rows(&ctx, &sql).await, rows(&ctx, &copy).await, "{query}");
        }
    }
    let renamed = copied(&ctx, folder.path(), "select u as id, g as place, v as rest from a").await;
    assert_eq!(
        [&renamed["id"], &renamed["place"], &renamed["rest"]],
        ["u", "g", "v"].map(|name| &expected[name])
    );
}

#[tokio::test]
async fn what_is_computed_is_of_no_such_type() {
    let (folder, ctx) = tables().await;
    let query = "select j || '?' as j, coalesce(j, 'none') as k, cast(u as bytea) as u, case when n = 1 then j else 'x' end as c, \
                 cast(g as bytea) as g, arrow_cast(j, 'Utf8') as a, upper(j) as p from a";
    let found = copied(&ctx, folder.path(), query).await;
    for name in ["u", "g"] {
        assert_eq!(found[name], "-", "{name}: {found:?}");
    }
    for name in ["j", "k", "c", "a", "p"] {
        assert_eq!(found[name], "String", "{name}: {found:?}");
    }
}

#[tokio::test]
async fn rows_that_are_inserted_are_of_the_table() {
    let (folder, ctx) = tables().await;
    let place = folder.path().join("t");
    std::fs::create_dir(&place).unwrap();
    let first = place.join("0.parquet");
    write(&first, &[batch_of(columns("EPSG:4326"))], 40);
    let location = place.display();
    run(&ctx, &format!("create external table t stored as parquet location '{location}/'")).await;
    run(&ctx, "insert into t select * from b").await;
    let expected = types(&first);
    for file in std::fs::read_dir(&place).unwrap() {
        assert_eq!(types(&file.unwrap().path()), expected);
    }
    assert_eq!(rows(&ctx, "select count(*), count(distinct u) from t").await, ["200 | 100"]);
}

#[tokio::test]
async fn a_table_has_the_types_on_which_its_files_agree() {
    let (folder, ctx) = (tempdir().unwrap(), session());
    let place = folder.path().join("t");
    std::fs::create_dir(&place).unwrap();
    write(&place.join("a.parquet"), &[batch_of(columns("EPSG:4326"))], 40);
    let mut others = columns("EPSG:3857");
    // Text that is not JSON, bytes that are not UUIDs.
    for (field, _) in others.iter_mut().filter(|(field, _)| ["u", "j"].contains(&field.name().as_str())) {
        *field = Field::clone(field).with_metadata(HashMap::new());
    }
    write(&place.join("b.parquet"), &[batch_of(others)], 40);
    // Without most of the columns.
    write(&place.join("c.parquet"), &[batch([("n", ints(0..ROWS))])], 40);
    let location = place.display();
    run(&ctx, &format!("create external table t stored as parquet location '{location}/'")).await;
    let mine = types(&place.join("a.parquet"));
    let found = copied(&ctx, folder.path(), "select * from t").await;
    assert_eq!(found["j"], "String");
    for name in ["u", "g", "y"] {
        assert_eq!(found[name], "-", "{name}");
    }
    assert_eq!([&found["v"], &found["f"]], [&mine["v"], &mine["f"]]);
    assert_eq!(
        rows(&ctx, "select count(*), count(distinct g), sum(v:id::bigint) from t").await,
        ["300 | 90 | 9900"]
    );
}

#[tokio::test]
async fn a_union_has_the_types_on_which_its_parts_agree() {
    let (folder, ctx) = tables().await;
    create(&ctx, folder.path(), "c", &batch_of(columns("EPSG:3857"))).await;
    let plain: Vec<_> =
        columns("").into_iter().map(|(field, array)| (field.with_metadata(HashMap::new()), array)).collect();
    create(&ctx, folder.path(), "p", &batch_of(plain)).await;
    for (one, other) in [("a", "c"), ("c", "a")] {
        let union = format!(
            "select n, u, j, g, y, v, f from {one} union all select n, u, j, g, y, v, f from {other}"
        );
        let found = copied(&ctx, folder.path(), &union).await;
        assert_eq!([&found["g"], &found["y"]], ["-", "-"], "{union}");
        assert_eq!(found["u"], "Uuid", "{union}");
        let sql = format!("select count(*), count(distinct u), count(distinct g) from ({union})");
        assert_eq!(rows(&ctx, &sql).await, ["200 | 100 | 90"], "{union}");
        let sql = format!("select n, count(*) from ({union}) group by n, g having n = 7");
        assert_eq!(rows(&ctx, &sql).await, ["7 | 2"], "{union}");
    }
    for (one, other) in [("a", "p"), ("p", "a")] {
        let union = format!("select u, j, g from {one} union all select u, j, g from {other}");
        let found = copied(&ctx, folder.path(), &union).await;
        assert_eq!([&*found["u"], &*found["j"], &*found["g"]], ["-", "String", "-"], "{union}");
        for set in ["union", "intersect", "except"] {
            let sql = format!(
                "select count(*), count(distinct u) from (select u, j, g from {one} {set} select u, j, g from {other})"
            );
            rows(&ctx, &sql).await;
        }
    }
}
