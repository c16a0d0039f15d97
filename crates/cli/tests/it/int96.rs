//! INT96 as other writers leave it: no unit is stored, and no bounds.

use crate::command::{Folder, marquetry, success};
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
use std::path::Path;

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
    let sorted = |order: [usize; 3]| -> String {
        order.iter().map(|at| format!("{{\"t\":\"{}\"}}\n", times[*at])).collect()
    };
    assert_eq!(success(&["convert", &file, "-", "--sort-by", "t:desc"]), sorted([1, 2, 0]));
    assert_eq!(success(&["convert", &file, "-", "--sort-by", "t"]), sorted([0, 2, 1]));
}

/// Bytes of INT96 are in another order than its times, of which some are before 1970, and nanoseconds decide among others.
#[test]
fn times_are_sorted_as_times() {
    let folder = Folder::new("int96-sorted");
    let file = folder.path("t.parquet");
    let times = [(1_157_000, 5), (0, 256), (0, 1), (-1, 86_399_999_999_999), (-700_000, 0), (1_157_000, 4)];
    write_int96(&file, times.into_iter());
    let sorted = success(&["convert", &file, "-", "--to", "csv", "--sort-by", "t"]);
    let expected = [
        "0053-06-19T00:00:00",
        "1969-12-31T23:59:59.999999999",
        "1970-01-01T00:00:00.000000001",
        "1970-01-01T00:00:00.000000256",
        "5137-10-05T00:00:00.000000004",
        "5137-10-05T00:00:00.000000005",
    ];
    assert_eq!(sorted, format!("t\n{}\n", expected.join("\n")));
}

/// Timestamps have one unit: it is told what a far time costs the others.
#[test]
fn digits_that_timestamps_do_not_have_are_told() {
    let folder = Folder::new("int96-cut");
    let file = |name: &str| folder.path(&format!("{name}.parquet"));
    let (near, far, all, exact) = (file("near"), file("far"), file("all"), file("exact"));
    write_int96(&near, [(0, 123_456_789), (0, 5)].into_iter());
    write_int96(&far, [(1_157_000, 1_000), (1, 0)].into_iter());
    write_int96(&all, [(0, 123_456_789), (1_157_000, 1_000), (0, 5)].into_iter());
    write_int96(&exact, [(0, 123_456_000), (1_157_000, 1_000)].into_iter());
    let told = |of: &str| {
        format!(
            "marquetry: {of}column t: 2 times lost digits: INT96 has nanoseconds of any year, and us is the finest unit of timestamps that \
             reaches the column's farthest\n"
        )
    };
    for (i, more) in [&[][..], &["--sort-by", "t"], &["--to", "arrow", "--plain-types"]].iter().enumerate() {
        let out = file(&format!("out{i}"));
        let done = marquetry(&[&["convert", &all, &out, "--report", "none"], *more].concat());
        let said = String::from_utf8_lossy(&done.stderr);
        assert_eq!((done.status.code(), &*said), (Some(0), &*told(&format!("{all}: "))), "{more:?}");
        let done =
            marquetry(&[&["convert", &near, &far, &out, "--overwrite", "--report", "none"], *more].concat());
        let said = String::from_utf8_lossy(&done.stderr);
        assert_eq!((done.status.code(), &*said), (Some(0), &*told("")), "{more:?}");
        // No row of these loses any, and rows that are not written do not count.
        let limited =
            ["convert", &all, &out, "--overwrite", "--report", "none", "--where", "t > '2000-01-01'"];
        for command in [&["convert", &exact, &out, "--overwrite", "--report", "none"][..], &limited] {
            let done = marquetry(&[command, *more].concat());
            assert_eq!(String::from_utf8_lossy(&done.stderr), "", "{command:?}");
        }
    }
    let shown = success(&["cat", &file("out0"), "--format", "json"]);
    assert_eq!(shown, "{\"t\":\"5137-10-05T00:00:00.000001\"}\n");
    // Where some files have another timestamp, text has one unit, too.
    let other = file("other");
    let stamp = folder.write("t.csv", "t\n2024-01-01T00:00:00.5\n");
    success(&["convert", &stamp, &other, "--schema", "t timestamp(us) !", "--report", "none"]);
    let mixed = "marquetry: column t: 2 times lost digits: INT96 has nanoseconds of any year, and the table has the column in us, as it is \
                 another timestamp in some files\n";
    let out = file("mixed");
    for command in [&["convert", &all, &other, &out][..], &["convert", &all, &other, "-"]] {
        let done = marquetry(command);
        assert_eq!(
            (done.status.code(), &*String::from_utf8_lossy(&done.stderr)),
            (Some(0), mixed),
            "{command:?}"
        );
    }
    // The first file decides, though nanoseconds would reach all times; or some file has a far one.
    for files in [[&other, &near], [&other, &all], [&all, &other]] {
        for command in [&["cat"][..], &["cat", "--format", "json"], &["head"]] {
            let folder = folder.path("both");
            let _ = std::fs::remove_dir_all(&folder);
            std::fs::create_dir(&folder).unwrap();
            files.iter().enumerate().for_each(|(i, file)| {
                std::fs::copy(file, Path::new(&folder).join(format!("{i}.parquet"))).unwrap();
            });
            let done = marquetry(&[command, &[&*folder]].concat());
            let said = String::from_utf8_lossy(&done.stderr);
            assert_eq!((done.status.code(), &*said), (Some(0), mixed), "{command:?} {files:?}");
        }
    }
}

/// What is promised to have the same rows has them.
#[test]
fn an_optimized_file_keeps_nanoseconds() {
    let folder = Folder::new("int96-optimize");
    let (times, file, out) =
        (folder.path("t.parquet"), folder.path("in.parquet"), folder.path("out.parquet"));
    let mixed = |i: u64| i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 33;
    let kind = |i: u64| mixed(i) % 200;
    let rows = (0..20_000).map(|i| (if i == 0 { 1_157_000 } else { 0 }, kind(i) * 1_001));
    write_int96(&times, rows.collect::<Vec<_>>().into_iter());
    let found = |path: &str| {
        let condition = "t = '1970-01-01T00:00:00.000001001'";
        success(&["count", path, "--where", condition]).split_whitespace().next().map(str::to_owned)
    };
    let expected = Some((1..20_000).filter(|i| kind(*i) == 1).count().to_string());
    // Beside a column that a sort, or another type, makes smaller by much.
    let names: &dyn Fn(u64) -> String = &|i| format!("customer {}", kind(i));
    let numbers: &dyn Fn(u64) -> String = &|i| (mixed(i ^ 77) % 1_000_000_000).to_string();
    for (more, text) in [("--sort", names), ("--types", numbers)] {
        let lines: String = (0..20_000).map(|i| text(i) + "\n").collect();
        let (text, other) = (folder.write("n.csv", &format!("n\n{lines}")), folder.path("n.parquet"));
        let options = ["--schema", "n utf8 !", "--compression", "none", "--report", "none", "--overwrite"];
        success(&[&["convert", &text, &other][..], &options].concat());
        beside(&times, &other, &file);
        let said = success(&["optimize", &file, &out, "--overwrite", more]);
        assert_eq!((found(&file), found(&out)), (expected.clone(), expected.clone()), "{more}: {said}");
        assert!(said.contains("note: rows keep their order, and columns their types"), "{more}: {said}");
    }
}

/// A file with the columns of two.
fn beside(one: &str, other: &str, path: &str) {
    use marquetry_core::write::copy::{CopySettings, copy_chunk};
    let files = [one, other].map(|path| marquetry::open(path).expect("a file"));
    let (mut schema, mut chunks, mut rows) = (vec![group("root", 2)], Vec::new(), 0);
    for file in files {
        let metadata = file.metadata().clone();
        schema.extend(metadata.head().schema[1..].iter().cloned());
        let source = marquetry::arrow::arrow_reader::ChunkReader::into_source(file).expect("bytes");
        let copied = copy_chunk(&source, &metadata, 0, 0, &CopySettings::default()).expect("a chunk");
        chunks.push(copied.chunk);
        rows = metadata.num_rows();
    }
    let mut file = FileWriter::new(Vec::new(), schema, FileSettings::default()).expect("a file");
    file.write_row_group(rows, chunks, None).expect("rows");
    std::fs::write(path, file.finish().expect("a file").0).expect("a file");
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
        let done = marquetry(&["cat", files[0], files[1], files[2], "--format", "json"]);
        let said = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success() && said.contains("column t: 2 times lost digits"), "{said}");
        let shown = String::from_utf8(done.stdout).unwrap();
        assert_eq!(shown.lines().count(), 4);
        for time in ["1970-01-01T00:00:00.123456", "5137-10-05T00:00:00", "2024-01-01T00:00:00.500"] {
            assert!(shown.contains(&format!("\"{time}\"")), "{shown}");
        }
    }
}
