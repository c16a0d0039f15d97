//! INT96 as other writers leave it: no unit is stored, and no bounds.

use crate::command::{Folder, success};
use arrow_schema::{DataType, Field, TimeUnit};
use marquetry::arrow::{ARROW_SCHEMA_META_KEY, print_stored_schema};
use marquetry::errors::Limits;
use marquetry::file::properties::WriterProperties;
use marquetry::internals::encoding::{FixedLenBytes, PhysicalType, Values};
use marquetry::internals::format::{ColumnOrder, KeyValue};
use marquetry::schema::{Schema, column, group};
use marquetry_core::nesting::{ColumnValues, DefinitionLevels, ShreddedColumn};
use marquetry_core::write::copy::drop_bounds;
use marquetry_core::write::{ColumnWriter, FileSettings, FileWriter, Workspace};

/// A file of one column `t`, of days since 1970 and nanoseconds.
pub(crate) fn write_int96(path: &str, values: impl ExactSizeIterator<Item = (i32, u64)>) {
    write_with(path, values, Vec::new());
}

fn write_with(path: &str, values: impl ExactSizeIterator<Item = (i32, u64)>, pairs: Vec<KeyValue>) {
    let schema = vec![group("root", 1), column("t", PhysicalType::Int96)];
    let tree = Schema::from_thrift(&schema, &Limits::default()).expect("a schema");
    let settings = WriterProperties::default().column_settings(tree.column(0)).expect("settings");
    let mut writer = ColumnWriter::new(tree.column(0), &settings).expect("a column");
    let (mut times, rows) = (FixedLenBytes::new(12), values.len());
    values.for_each(|(day, nanos)| {
        times.push(&[&nanos.to_le_bytes()[..], &(2_440_588 + day).to_le_bytes()].concat());
    });
    let block = ShreddedColumn::flat(rows, DefinitionLevels::Max, ColumnValues::Values(Values::Fixed(times)));
    let mut workspace = Workspace::new();
    writer.write(&block, &mut workspace).expect("rows");
    let mut chunk = writer.close(&mut workspace).expect("a chunk").0;
    drop_bounds(&mut chunk);
    let settings = FileSettings::default().with_column_orders(Some(vec![ColumnOrder::TypeOrder]));
    let settings = settings.with_key_values(pairs);
    let mut file = FileWriter::new(Vec::new(), schema, settings).expect("a file");
    file.write_row_group(rows as u64, vec![chunk], None).expect("rows");
    std::fs::write(path, file.finish().expect("a file").0).expect("a file");
}

/// No unit of Arrow's timestamps can hold both: each is printed exactly.
#[test]
fn a_far_time_takes_no_nanoseconds_from_others() {
    let folder = Folder::new("int96");
    let file = folder.path("t.parquet");
    write_int96(&file, [(0, 123_456_789), (1_157_000, 1), (1, 0)].into_iter());
    let times = ["1970-01-01T00:00:00.123456789", "5137-10-05T00:00:00.000000001", "1970-01-02T00:00:00"];
    let lines: String = times.iter().map(|time| format!("{{\"t\":\"{time}\"}}\n")).collect();
    assert_eq!(success(&["cat", &file, "--format", "json"]), lines);
    assert_eq!(success(&["head", &file, "--format", "json"]), lines);
    assert!(times.iter().all(|time| success(&["cat", &file]).contains(time)));
    assert_eq!(success(&["convert", &file, "-", "--to", "csv"]), format!("t\n{}\n", times.join("\n")));
    assert_eq!(success(&["convert", &file, "-"]), lines);
    // Printed values work as literals of conditions.
    for (i, time) in times.iter().enumerate() {
        let found = success(&["cat", &file, "--format", "json", "--where", &format!("t = '{time}'")]);
        assert_eq!(found, lines.lines().nth(i).map(|line| format!("{line}\n")).unwrap_or_default());
    }
    // What is sorted has one unit.
    let sorted = success(&["convert", &file, "-", "--sort-by", "t:desc"]);
    assert_eq!(sorted.lines().next(), Some("{\"t\":\"5137-10-05T00:00:00\"}"), "{sorted}");
    assert!(sorted.ends_with("{\"t\":\"1970-01-01T00:00:00.123456\"}\n"), "{sorted}");
}

/// The stored Arrow schema says that they are instants.
#[test]
fn times_of_a_zone_are_shown_as_such() {
    let folder = Folder::new("int96-zone");
    let utc = DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()));
    let stored = print_stored_schema(&arrow_schema::Schema::new(vec![Field::new("t", utc, false)]));
    let pairs = vec![KeyValue::new(ARROW_SCHEMA_META_KEY, stored)];
    for (day, date) in [(0, "1970-01-01"), (1_157_000, "5137-10-05")] {
        let file = folder.path(&format!("{day}.parquet"));
        write_with(&file, [(day, 0)].into_iter(), pairs.clone());
        assert_eq!(success(&["cat", &file, "--format", "json"]), format!("{{\"t\":\"{date}T00:00:00Z\"}}\n"));
    }
}

/// A distant time in one file does not cost the times in other files their nanoseconds.
#[test]
fn times_of_several_files_are_exact() {
    let folder = Folder::new("int96-several");
    let file = |name: &str| folder.path(&format!("{name}.parquet"));
    let (near, far, other) = (file("near"), file("far"), file("other"));
    write_int96(&near, [(0, 123_456_789)].into_iter());
    write_int96(&far, [(1_157_000, 1), (1, 0)].into_iter());
    let times = ["1970-01-01T00:00:00.123456789", "5137-10-05T00:00:00.000000001", "1970-01-02T00:00:00"];
    let lines: String = times.iter().map(|time| format!("{{\"t\":\"{time}\"}}\n")).collect();
    for more in [&[][..], &["--union-by-name"]] {
        assert_eq!(success(&[&["cat", &near, &far, "--format", "json"], more].concat()), lines);
        assert_eq!(success(&[&["convert", &near, &far, "-"], more].concat()), lines);
        for (i, time) in times.iter().enumerate() {
            let condition = format!("t = '{time}'");
            let asked = ["cat", &near, &far, "--format", "json", "--where", &condition];
            let line = lines.lines().nth(i).map(|line| format!("{line}\n"));
            assert_eq!(Some(success(&[&asked[..], more].concat())), line);
        }
    }
    // Where files differ in what they have there is one unit for all.
    let stamp = folder.write("t.csv", "t\n2024-01-01T00:00:00.5\n");
    success(&["convert", &stamp, &other, "--schema", "t timestamp(us) !", "--report", "none"]);
    for files in [[&near, &far, &other], [&other, &near, &far]] {
        let shown = success(&["cat", files[0], files[1], files[2], "--format", "json"]);
        assert_eq!(shown.lines().count(), 4);
        for time in ["1970-01-01T00:00:00.123456", "5137-10-05T00:00:00", "2024-01-01T00:00:00.500"] {
            assert!(shown.contains(&format!("\"{time}\"")), "{shown}");
        }
    }
}
