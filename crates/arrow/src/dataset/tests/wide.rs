//! Tables of very many columns.

use super::*;
use crate::evolution::MatchBy;
use crate::schema::FIELD_ID_KEY;
use std::time::{Duration, Instant};

/// A table of one row and so many columns in two files: `names` are those of a column in either.
fn wide_table(columns: usize, names: [fn(usize) -> String; 2]) -> TempDir {
    let folder = folder();
    for (file, name) in ["a.parquet", "b.parquet"].into_iter().zip(names) {
        let fields = (0..columns).map(|i| {
            let id = (FIELD_ID_KEY.to_owned(), i.to_string());
            Field::new(name(i), DataType::Int32, false).with_metadata([id].into())
        });
        let schema = Arc::new(arrow_schema::Schema::new(fields.collect::<Vec<_>>()));
        let values = (0..columns).map(|i| ints([i as i32])).collect();
        let batch = RecordBatch::try_new(schema.clone(), values).unwrap();
        let file = fs::File::create(folder.path().join(file)).unwrap();
        let mut writer = ArrowWriter::try_new(file, schema, None).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
    }
    folder
}

/// How long it takes to know the schema, of all columns, of all by name, or of every other one.
fn planning(table: Dataset, columns: usize, every: Option<usize>) -> Duration {
    let names = every.map(|every| (0..columns).step_by(every).map(|i| format!("c{i}")).collect::<Vec<_>>());
    let wanted = names.as_ref().map_or(columns, Vec::len);
    let table = match names {
        Some(names) => table.columns(names),
        None => table,
    };
    let begin = Instant::now();
    let schema = table.schema().unwrap();
    let took = begin.elapsed();
    assert_eq!(schema.fields().len(), wanted);
    assert_eq!(schema.field(wanted - 1).name(), &format!("c{}", (wanted - 1) * every.unwrap_or(1)));
    took
}

/// Each chosen column was once searched among all columns, which took minutes.
#[test]
fn columns_are_not_looked_for_one_by_one() {
    let columns = 8_000;
    type Named = fn(usize) -> String;
    let (small, large): (Named, Named) = (|i| format!("c{i}"), |i| format!("C{i}"));
    for (by, names) in [
        (MatchBy::Name, [small, small]),
        (MatchBy::NameIgnoringCase, [small, large]),
        (MatchBy::FieldId, [small, large]),
    ] {
        let folder = wide_table(columns, names);
        let table = || Dataset::open([folder.path()]).unwrap().union_by_name(true).match_by(by);
        for every in [None, Some(1), Some(2)] {
            let took = planning(table(), columns, every);
            assert!(took < Duration::from_secs(60), "{by:?}, every {every:?}: {took:?}");
        }
    }
}
