//! Predicates that would ask another column, or compare other numbers, are refused.

use super::*;
use crate::evolution::MatchBy;

/// A file of columns with field ids.
fn write_ids(folder: &TempDir, path: &str, columns: Vec<(&str, i32, ArrayRef)>) {
    let field = |(name, id, array): &(&str, i32, ArrayRef)| {
        let id = [(crate::schema::FIELD_ID_KEY.to_owned(), id.to_string())].into();
        Field::new(*name, array.data_type().clone(), true).with_metadata(id)
    };
    let schema = Arc::new(arrow_schema::Schema::new(columns.iter().map(field).collect::<Vec<_>>()));
    let arrays = columns.into_iter().map(|(.., array)| array).collect();
    let batch = RecordBatch::try_new(schema.clone(), arrays).unwrap();
    let file = fs::File::create(folder.path().join(path)).unwrap();
    let mut writer = ArrowWriter::try_new(file, schema, None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

/// A predicate goes by names: it must not ask another column, nor take a column for one that is not there.
#[test]
fn predicates_of_columns_that_have_other_names_in_a_file_are_refused() {
    let above = |number: i32| Predicate::parse(&format!("price > {number}")).unwrap();
    let table = |folder: &TempDir| {
        Dataset::open([folder.path()]).unwrap().union_by_name(true).match_by(MatchBy::FieldId)
    };
    let fails = |dataset: Dataset| match dataset.batches() {
        Err(error) => error.to_string(),
        Ok(mut batches) => loop {
            match batches.next_batch().expect("an error") {
                Ok(_) => {}
                Err(error) => break error.to_string(),
            }
        },
    };
    let renamed = folder();
    write_ids(&renamed, "a.parquet", vec![("price", 1, ints([5, 20]))]);
    write_ids(&renamed, "b.parquet", vec![("cost", 1, ints([6, 21]))]);
    assert_eq!(rows(table(&renamed)), ["5", "20", "6", "21"]);
    assert!(fails(table(&renamed).filter(above(10))).contains("under another one"));
    let swapped = folder();
    write_ids(&swapped, "a.parquet", vec![("price", 1, ints([5, 20])), ("old", 2, ints([1, 2]))]);
    write_ids(&swapped, "b.parquet", vec![("price", 2, ints([100, 1])), ("cost", 1, ints([6, 21]))]);
    assert!(fails(table(&swapped).filter(above(10))).contains("under another one"));
    let alike = folder();
    write_ids(&alike, "a.parquet", vec![("price", 1, ints([5, 20]))]);
    write_ids(&alike, "b.parquet", vec![("price", 1, ints([6, 21]))]);
    assert_eq!(rows(table(&alike).filter(above(10))), ["20", "21"]);
    let in_capitals = folder();
    write(&in_capitals, "a.parquet", vec![("price", ints([5, 20]))]);
    write(&in_capitals, "b.parquet", vec![("Price", ints([6, 21]))]);
    let ignoring = table(&in_capitals).match_by(MatchBy::NameIgnoringCase).filter(above(10));
    assert!(fails(ignoring).contains("under another one"));
}

/// They would be compared as other numbers.
#[test]
fn decimals_of_many_digits_compare() {
    use arrow_array::{Decimal128Array, Decimal256Array};
    use arrow_buffer::i256;
    let folder = folder();
    let wide = |text: &str, precision: u8, scale: i8| -> ArrayRef {
        let number = i256::from_string(text).unwrap();
        Arc::new(Decimal256Array::from(vec![number]).with_precision_and_scale(precision, scale).unwrap())
    };
    let long = |precision: u8, scale: i8| -> ArrayRef {
        Arc::new(Decimal128Array::from(vec![300]).with_precision_and_scale(precision, scale).unwrap())
    };
    let million = format!("1{}", "0".repeat(60));
    write(
        &folder,
        "t.parquet",
        vec![
            ("a", wide(&million, 70, 2)),
            ("b", wide(&million, 70, 2)),
            ("c", long(38, 0)),
            ("d", long(38, 2)),
            ("e", long(30, 0)),
            ("f", long(30, 2)),
            ("g", wide(&million, 70, 4)),
            ("h", wide("-1", 76, 20)),
            ("i", long(10, 0)),
            ("j", wide("1", 76, 60)),
        ],
    );
    let asked = |text: &str| {
        let table = Dataset::open([folder.path()]).unwrap().columns(["c"]);
        let mut batches = table.filter(Predicate::parse(text).unwrap()).batches()?;
        let mut rows = 0;
        while let Some(batch) = batches.next_batch() {
            rows += batch?.num_rows();
        }
        Ok::<_, Error>(rows)
    };
    for text in ["a = b", "c > d", "a > c", "a > g", "c < g", "e > f", "c = e", "i > j"] {
        assert_eq!(asked(text).unwrap(), 1, "{text}");
    }
    for text in ["a < b", "c = d", "c > a", "a <= g", "e = f"] {
        assert_eq!(asked(text).unwrap(), 0, "{text}");
    }
    assert!(asked("a > h").unwrap_err().to_string().contains("do not compare"));
}
