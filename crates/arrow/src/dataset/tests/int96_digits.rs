//! A column that is INT96 in one file and TIMESTAMP in another: digits are kept, or their loss is an error.

use super::*;
use crate::arrow_reader::Int96Unit;
use arrow_array::{TimestampMicrosecondArray, TimestampNanosecondArray};
use arrow_schema::TimeUnit;
use marquetry_core::write::{StoredForms, WriterProperties};

/// 2020-01-01, and nanoseconds.
const FINE: i64 = 1_577_836_800_123_456_789;

/// A file of TIMESTAMP in microseconds, and one of INT96, in a folder.
fn micros_then_int96(nanos: i64) -> TempDir {
    let folder = folder();
    let micros = Arc::new(TimestampMicrosecondArray::from(vec![Some(FINE / 1000), None])) as ArrayRef;
    write(&folder, "a.parquet", vec![("t", micros)]);
    let int96 = Arc::new(TimestampNanosecondArray::from(vec![Some(nanos), None])) as ArrayRef;
    let batch = RecordBatch::try_from_iter([("t", int96)]).unwrap();
    let forms = StoredForms::default().with_int96_timestamps(true);
    let properties = WriterProperties::builder().set_stored_forms(forms).set_arrow_schema(false).build();
    let file = fs::File::create(folder.path().join("b.parquet")).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    folder
}

#[test]
fn digits_that_the_first_file_lacks_are_an_error() {
    let folder = micros_then_int96(FINE);
    let options = |unit| ArrowReaderOptions::new().with_int96(unit);
    for unit in [Int96Unit::Nanoseconds, Int96Unit::Auto] {
        let table = Dataset::open([folder.path()]).unwrap().options(options(unit));
        let mut reader = table.batches().unwrap();
        let mut error = None;
        while let Some(batch) = reader.next_batch() {
            error = error.or(batch.err());
        }
        let error = error.expect("nanoseconds are no microseconds").to_string();
        for part in ["b.parquet", "column t", "finer digits than Microseconds", "union by name"] {
            assert!(error.contains(part), "{error}");
        }
    }
    let cut = Dataset::open([folder.path()]).unwrap();
    let cut = rows(cut.options(options(Int96Unit::Unit(TimeUnit::Microsecond))));
    assert_eq!(cut[0], cut[2]);
    let union = rows(Dataset::open([folder.path()]).unwrap().union_by_name(true));
    assert!(union[2].contains("00:00:00.123456789"), "{union:?}");
}

#[test]
fn int96_without_finer_digits_is_read_in_the_unit_of_the_first_file() {
    let folder = micros_then_int96(FINE / 1000 * 1000);
    let rows = rows(Dataset::open([folder.path()]).unwrap());
    assert_eq!((&rows[0], &rows[1]), (&rows[2], &rows[3]));
}
