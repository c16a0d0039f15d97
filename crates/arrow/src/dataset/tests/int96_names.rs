//! Units of INT96 timestamps of chosen columns that files have under other names than the table does.

use super::*;
use crate::evolution::MatchBy;
use arrow_array::TimestampMicrosecondArray;
use arrow_schema::TimeUnit;
use marquetry_core::write::{StoredForms, WriterProperties};

/// The years 2024 and 5138.
const NEAR: i64 = 1_704_067_200_000_000;
const FAR: i64 = 100_000_000_000_000_000;

/// A file of INT96 columns with field ids.
fn write_times(folder: &TempDir, path: &str, columns: &[(&str, i32, i64)]) {
    let field = |(name, id, _): &(&str, i32, i64)| {
        let id = [(crate::schema::FIELD_ID_KEY.to_owned(), id.to_string())].into();
        Field::new(*name, DataType::Timestamp(TimeUnit::Microsecond, None), true).with_metadata(id)
    };
    let schema = Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()));
    let array =
        |(.., value): &(&str, i32, i64)| Arc::new(TimestampMicrosecondArray::from(vec![*value])) as ArrayRef;
    let batch = RecordBatch::try_new(schema.clone(), columns.iter().map(array).collect()).unwrap();
    let forms = StoredForms::default().with_int96_timestamps(true);
    let properties = WriterProperties::builder().set_stored_forms(forms).set_arrow_schema(false).build();
    let file = fs::File::create(folder.path().join(path)).unwrap();
    let mut writer = ArrowWriter::try_new(file, schema, Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

#[test]
fn far_timestamps_under_another_name() {
    let renamed = folder();
    write_times(&renamed, "a.parquet", &[("t", 1, NEAR), ("u", 2, NEAR)]);
    // The name of another column, which nanoseconds hold.
    write_times(&renamed, "b.parquet", &[("t", 2, NEAR), ("when", 1, FAR)]);
    let in_capitals = folder();
    write_times(&in_capitals, "a.parquet", &[("t", 1, NEAR), ("u", 2, NEAR)]);
    write_times(&in_capitals, "b.parquet", &[("T", 1, FAR), ("u", 2, NEAR)]);
    for (folder, by) in [(&renamed, MatchBy::FieldId), (&in_capitals, MatchBy::NameIgnoringCase)] {
        for union in [false, true] {
            let table = || Dataset::open([folder.path()]).unwrap().union_by_name(union).match_by(by);
            for columns in [&["t"][..], &["\"t\""], &["u", "t"]] {
                let table = table().columns(columns.iter().copied());
                let schema = table.schema().unwrap();
                let unit = |name: &str| match schema.field_with_name(name).unwrap().data_type() {
                    DataType::Timestamp(unit, None) => *unit,
                    other => panic!("{other}"),
                };
                assert_eq!(unit("t"), TimeUnit::Microsecond, "{by:?} {columns:?}");
                let times: Vec<String> = rows(table)
                    .iter()
                    .filter_map(|row| Some(row.split(' ').next_back()?.to_owned()))
                    .collect();
                assert_eq!(times, ["2024-01-01T00:00:00", "5138-11-16T09:46:40"], "{by:?} {columns:?}");
            }
            // A column that is not chosen does not cost others their nanoseconds.
            let schema = table().columns(["u"]).schema().unwrap();
            assert_eq!(schema.field(0).data_type(), &DataType::Timestamp(TimeUnit::Nanosecond, None));
        }
    }
}

/// A name in quotes is the same name.
#[test]
fn far_timestamps_of_a_name_in_quotes() {
    let folder = folder();
    write_times(&folder, "a.parquet", &[("t.x", 1, NEAR)]);
    write_times(&folder, "b.parquet", &[("t.x", 1, FAR)]);
    let table = Dataset::open([folder.path()]).unwrap().columns(["\"t.x\""]);
    assert_eq!(rows(table), ["2024-01-01T00:00:00", "5138-11-16T09:46:40"]);
}
