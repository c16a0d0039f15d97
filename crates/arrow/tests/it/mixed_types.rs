//! Files of one table whose types differ: a predicate finds the rows that it is true of as they are shown.

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{ArrayRef, Float32Array, Float64Array, Int32Array, NullArray, RecordBatch, StringArray};
use arrow_schema::DataType;
use marquetry_arrow::arrow_writer::ArrowWriter;
use marquetry_arrow::dataset::Dataset;
use marquetry_core::predicate::{Comparison, Literal, Number, Predicate, col};
use proptest::prelude::*;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use tempfile::TempDir;

fn write(path: &Path, column: ArrayRef) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let batch = RecordBatch::try_from_iter([("x", column)]).unwrap();
    let mut writer = ArrowWriter::try_new(File::create(path).unwrap(), batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

/// One file for each column, in their order.
fn table(columns: Vec<ArrayRef>) -> (TempDir, Dataset) {
    let folder = tempfile::tempdir().unwrap();
    for (i, column) in columns.into_iter().enumerate() {
        write(&folder.path().join(format!("{i}.parquet")), column);
    }
    let dataset = Dataset::open([folder.path()]).unwrap().union_by_name(true);
    (folder, dataset)
}

fn batches(dataset: &Dataset, filter: Option<Predicate>) -> Result<Vec<RecordBatch>, String> {
    let dataset = match filter {
        Some(filter) => dataset.clone().filter(filter),
        None => dataset.clone(),
    };
    let rows = dataset.batches().map_err(|error| error.to_string())?;
    rows.collect::<Result<_, _>>().map_err(|error| error.to_string())
}

fn doubles(dataset: &Dataset, filter: Option<Predicate>) -> Vec<Option<f64>> {
    let batches = batches(dataset, filter).unwrap();
    batches.iter().flat_map(|batch| batch.column(0).as_primitive::<Float64Type>().iter()).collect()
}

fn float16s(values: &[Option<f64>]) -> ArrayRef {
    let doubles: ArrayRef = Arc::new(Float64Array::from(values.to_vec()));
    arrow_cast::cast(&doubles, &DataType::Float16).unwrap()
}

fn is_true(value: Option<f64>, is: Comparison, literal: f64) -> bool {
    value.is_some_and(|value| match is {
        Comparison::Eq => value == literal,
        Comparison::Ne => value != literal,
        Comparison::Lt => value < literal,
        Comparison::Le => value <= literal,
        Comparison::Gt => value > literal,
        Comparison::Ge => value >= literal,
    })
}

fn value() -> impl Strategy<Value = Option<f64>> {
    prop_oneof![
        1 => Just(None),
        1 => Just(Some(f64::NAN)),
        1 => prop_oneof![Just(f64::INFINITY), Just(f64::NEG_INFINITY), Just(-0.0), Just(0.0)].prop_map(Some),
        4 => (-40i32..40).prop_map(|tenths| Some(f64::from(tenths) / 10.0)),
        2 => (-1e6..1e6f64).prop_map(Some),
        1 => any::<f64>().prop_map(Some),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn doubles_floats_halves_and_integers(
        values in prop::collection::vec(value(), 1..30),
        literals in prop::collection::vec(value(), 1..6),
        own in prop::collection::vec(any::<prop::sample::Index>(), 6),
    ) {
        let integers: Int32Array = values.iter().map(|value| value.map(|value| value as i32)).collect();
        let columns: Vec<ArrayRef> = vec![
            Arc::new(Float64Array::from(values.clone())),
            Arc::new(values.iter().map(|value| value.map(|value| value as f32)).collect::<Float32Array>()),
            float16s(&values),
            Arc::new(integers),
            Arc::new(NullArray::new(2)),
        ];
        let (_folder, dataset) = table(columns);
        let shown = doubles(&dataset, None);
        let of_rows = own.iter().map(|index| *index.get(&shown));
        for literal in literals.into_iter().chain(of_rows).flatten() {
            use Comparison::*;
            let number = Literal::Number(Number::exactly(literal));
            for is in [Eq, Ne, Lt, Le, Gt, Ge] {
                let found = doubles(&dataset, Some(col("x").compare(is, number.clone())));
                let expected: Vec<_> = shown.iter().copied().filter(|x| is_true(*x, is, literal)).collect();
                prop_assert_eq!(format!("{found:?}"), format!("{expected:?}"), "x {} {}", is, literal);
                let opposite = doubles(&dataset, Some(!col("x").compare(is, number.clone())));
                let expected: Vec<_> =
                    shown.iter().copied().filter(|x| x.is_some() && !is_true(*x, is, literal)).collect();
                prop_assert_eq!(format!("{opposite:?}"), format!("{expected:?}"), "not x {} {}", is, literal);
            }
            let found = doubles(&dataset, Some(col("x").is_in([number, Literal::from(0.5)])));
            let expected: Vec<_> =
                shown.iter().copied().filter(|x| *x == Some(literal) || *x == Some(0.5)).collect();
            prop_assert_eq!(format!("{found:?}"), format!("{expected:?}"), "x in ({}, 0.5)", literal);
        }
        let nans = doubles(&dataset, Some(col("x").is_nan()));
        prop_assert_eq!(nans.len(), shown.iter().flatten().filter(|x| x.is_nan()).count());
        let nulls = doubles(&dataset, Some(col("x").is_null()));
        prop_assert_eq!(nulls.len(), shown.iter().filter(|x| x.is_none()).count());
    }
}

fn count(dataset: &Dataset, filter: &str) -> Result<usize, String> {
    let batches = batches(dataset, Some(Predicate::parse(filter).unwrap()))?;
    Ok(batches.iter().map(RecordBatch::num_rows).sum())
}

#[test]
fn a_column_that_is_always_null_in_one_file() {
    let text: ArrayRef = Arc::new(StringArray::from(vec!["a", "b"]));
    let nulls: ArrayRef = Arc::new(NullArray::new(1));
    for columns in [vec![text.clone(), nulls.clone()], vec![nulls, text]] {
        let (_folder, dataset) = table(columns);
        for (filter, rows) in
            [("x = 'a'", 1), ("x like 'b%'", 1), ("not x in ('a')", 1), ("x is null", 1), ("x > 'a'", 1)]
        {
            assert_eq!(count(&dataset, filter), Ok(rows), "{filter}");
        }
    }
}

/// Lists of which the files have other elements, or none at all; a column that is always null stands for a list, too.
#[test]
fn lists_of_several_types() {
    use arrow_array::ListArray;
    use arrow_array::types::{Float32Type, Int32Type};
    let floats = [Some(vec![Some(0.1f32), None]), Some(vec![]), None, Some(vec![Some(3.0)])];
    let floats: ArrayRef = Arc::new(ListArray::from_iter_primitive::<Float32Type, _, _>(floats));
    let doubles = [Some(vec![Some(0.1), Some(3.5)]), Some(vec![Some(0.1f32 as f64)])];
    let doubles: ArrayRef = Arc::new(ListArray::from_iter_primitive::<Float64Type, _, _>(doubles));
    let longs = [Some(vec![Some(3)])];
    let integers: ArrayRef = Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>(longs));
    let (folder, dataset) = table(vec![doubles, floats, integers]);
    let lacking =
        RecordBatch::try_from_iter([("y", Arc::new(Int32Array::from(vec![1, 2])) as ArrayRef)]).unwrap();
    let path = folder.path().join("9.parquet");
    let mut writer = ArrowWriter::try_new(File::create(path).unwrap(), lacking.schema(), None).unwrap();
    writer.write(&lacking).unwrap();
    writer.close().unwrap();
    let with_lacking = Dataset::open([folder.path()]).unwrap().union_by_name(true);
    for (filter, rows, of_lacking) in [
        ("any(x) = 0.1", 1, 0),
        // Of one element, and of any two.
        ("any(x > 0.1 and x < 0.2)", 2, 0),
        ("any(x) > 0.1 and any(x) < 0.2", 3, 0),
        ("any(x) = 3", 2, 0),
        ("all(x) >= 3", 3, 0),
        ("not any(x) > 100", 5, 0),
        ("cardinality(x) = 1", 3, 0),
        ("x is empty", 1, 0),
        ("x is null", 1, 2),
        ("x is not null", 6, 0),
    ] {
        assert_eq!(count(&dataset, filter), Ok(rows), "{filter}");
        assert_eq!(
            count(&with_lacking, filter),
            Ok(rows + of_lacking),
            "{filter}, with a file that lacks it"
        );
    }
    let nulls: ArrayRef = Arc::new(NullArray::new(2));
    let tags: ArrayRef = Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>([Some([Some(1)])]));
    for columns in [vec![nulls.clone(), tags.clone()], vec![tags, nulls]] {
        let (_folder, dataset) = table(columns);
        for (filter, rows) in [
            ("any(x) = 1", 1),
            ("not any(x) = 2", 1),
            ("cardinality(x) < 9", 1),
            ("x is not empty", 1),
            ("x is null", 2),
        ] {
            assert_eq!(count(&dataset, filter), Ok(rows), "{filter}");
        }
    }
}

#[test]
fn types_that_cannot_be_one_are_an_error_of_counting_too() {
    let longs: ArrayRef = Arc::new(arrow_array::Int64Array::from(vec![1]));
    let (_folder, dataset) = table(vec![Arc::new(Float64Array::from(vec![1.0])), longs]);
    for dataset in [dataset.clone(), dataset.union_by_name(false)] {
        let error = count(&dataset.columns([""; 0]), "x = 1").unwrap_err();
        assert!(error.contains("column x"), "{error}");
    }
}

/// A value of a partition that is none of the type that was given is an error, wherever the key is used.
#[test]
fn a_partition_value_of_another_type() {
    let folder = tempfile::tempdir().unwrap();
    for u in [300, 5] {
        write(&folder.path().join(format!("u={u}/a.parquet")), Arc::new(Int32Array::from(vec![u])));
    }
    let dataset = Dataset::open([folder.path()]).unwrap().partition_type("u", DataType::UInt8);
    for filter in ["u = 300", "u is null", "u >= 0", "u = 5 and x = 5"] {
        for dataset in [dataset.clone(), dataset.clone().columns(["x"])] {
            let error = count(&dataset, filter).unwrap_err();
            assert!(error.contains("the partition u=300 is not a valid UInt8"), "{error}");
        }
    }
    assert_eq!(count(&dataset.partition_type("u", DataType::Int16), "u = 300"), Ok(1));
}

#[test]
fn uuids_and_bytes() {
    use arrow_array::{BinaryArray, FixedSizeBinaryArray};
    use arrow_schema::{Field, Schema};
    let folder = tempfile::tempdir().unwrap();
    write(
        &folder.path().join("0.parquet"),
        Arc::new(BinaryArray::from(vec![&b"0123456789abcdef"[..], b"a"])),
    );
    let uuid = [("ARROW:extension:name".to_owned(), "arrow.uuid".to_owned())].into();
    let field = Field::new("x", DataType::FixedSizeBinary(16), false).with_metadata(uuid);
    let uuids = FixedSizeBinaryArray::try_from_iter([b"0123456789abcdef"].iter()).unwrap();
    let batch = RecordBatch::try_new(Arc::new(Schema::new(vec![field])), vec![Arc::new(uuids)]).unwrap();
    let path = folder.path().join("1.parquet");
    let mut writer = ArrowWriter::try_new(File::create(path).unwrap(), batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    let dataset = Dataset::open([folder.path()]).unwrap().union_by_name(true);
    for (filter, rows) in [
        ("x = X'61'", 1),
        ("x in (X'61', X'62')", 1),
        ("x = '0123456789abcdef'", 2),
        ("x = '30313233-3435-3637-3839-616263646566'", 0),
        ("x < X'3031'", 0),
        ("x > X'3031'", 3),
    ] {
        assert_eq!(count(&dataset, filter), Ok(rows), "{filter}");
    }
}

/// What is written as text, or as a bare number, means in each file what it means in the table.
#[test]
fn literals_mean_what_they_mean_in_the_table() {
    use arrow_array::{
        BinaryArray, DurationMicrosecondArray, DurationMillisecondArray, FixedSizeBinaryArray,
    };
    let fixed = |value: &[u8]| -> ArrayRef {
        Arc::new(FixedSizeBinaryArray::try_from_iter(std::iter::once(value)).unwrap())
    };
    let bytes = |value: &[u8]| -> ArrayRef { Arc::new(BinaryArray::from_vec(vec![value])) };
    let (_folder, dataset) = table(vec![bytes(b"a\0"), fixed(b"a\0"), bytes(b"a\\x00")]);
    assert_eq!(count(&dataset, r"x = 'a\x00'"), Ok(2));
    assert_eq!(count(&dataset, r"x in ('a\x00', 'b')"), Ok(2));
    assert_eq!(count(&dataset, r"starts_with(x, 'a\x00')"), Ok(2));
    assert_eq!(count(&dataset, "x = 'a\\x5cx00'"), Ok(1));
    let text: ArrayRef = Arc::new(StringArray::from(vec!["a", "\\x61"]));
    let (_folder, dataset) = table(vec![bytes(b"a"), text]);
    assert_eq!(count(&dataset, r"x = '\x61'"), Ok(2));

    // 1,500 us are in one of them, and 1,500 ms are 1,500,000 us.
    let millis: ArrayRef = Arc::new(DurationMillisecondArray::from(vec![1, 1_500]));
    let micros: ArrayRef = Arc::new(DurationMicrosecondArray::from(vec![1_500, 1_500_000]));
    for columns in [vec![millis.clone(), micros.clone()], vec![micros, millis]] {
        let (_folder, dataset) = table(columns);
        assert_eq!(count(&dataset, "x = 1500"), Ok(1));
        assert_eq!(count(&dataset, "x in (1500000)"), Ok(2));
        assert_eq!(count(&dataset, "x > 1000 and x <= 1500"), Ok(1));
        assert_eq!(count(&dataset, "x = 'PT1.5S'"), Ok(2));
    }
}

/// The first file says that the bytes are UUIDs, another one says nothing.
#[test]
fn uuids_and_bytes_of_their_length() {
    use arrow_array::FixedSizeBinaryArray;
    use arrow_schema::{Field, Schema};
    let folder = tempfile::tempdir().unwrap();
    let value = b"0123456789abcdef";
    for (name, is_uuid) in [("0.parquet", true), ("1.parquet", false)] {
        let metadata = is_uuid.then(|| ("ARROW:extension:name".to_owned(), "arrow.uuid".to_owned()));
        let field = Field::new("x", DataType::FixedSizeBinary(16), false);
        let schema = Arc::new(Schema::new(vec![field.with_metadata(metadata.into_iter().collect())]));
        let array = FixedSizeBinaryArray::try_from_iter(std::iter::once(value)).unwrap();
        let batch = RecordBatch::try_new(schema.clone(), vec![Arc::new(array)]).unwrap();
        let file = File::create(folder.path().join(name)).unwrap();
        let mut writer = ArrowWriter::try_new(file, schema, None).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
    }
    let of_first = Dataset::open([folder.path()]).unwrap();
    let of_all = of_first.clone().union_by_name(true);
    assert_eq!(count(&of_first, "x = '30313233-3435-3637-3839-616263646566'"), Ok(2));
    // Together they are not UUIDs.
    assert_eq!(count(&of_all, "x = '0123456789abcdef'"), Ok(2));
    assert_eq!(count(&of_all, "x = '30313233343536373839616263646566'"), Ok(2));
}
