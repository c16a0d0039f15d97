use super::*;
use crate::arrow_reader::ArrowReaderOptions;
use crate::arrow_reader::{ArrowReaderMetadata, OnCorrupt};
use crate::arrow_writer::ArrowWriter;
use crate::evolution::Evolution;
use arrow_array::cast::AsArray;
use arrow_array::types::{Date32Type, Int64Type};
use arrow_array::{
    Array, ArrayRef, Int32Array, Int64Array, RecordBatch, RecordBatchReader, StringArray, StructArray,
};
use arrow_schema::{DataType, Field, Schema};
use marquetry_base::{Error, ErrorKind};
use marquetry_core::predicate::Predicate;
use marquetry_format::{FileMetaData, FooterTail, PAR1, Writer};
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use tempfile::TempDir;

mod int96_names;
mod keys_of_parts;
mod predicates_by_name;
mod reference_systems;
mod wide;

fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

/// Writes a file, and the directories above it.
fn write(folder: &TempDir, path: &str, columns: Vec<(&str, ArrayRef)>) {
    let path = folder.path().join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let mut writer = ArrowWriter::try_new(fs::File::create(path).unwrap(), batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

fn ints(values: impl IntoIterator<Item = i32>) -> ArrayRef {
    Arc::new(Int32Array::from_iter_values(values))
}

fn longs(values: impl IntoIterator<Item = i64>) -> ArrayRef {
    Arc::new(Int64Array::from_iter_values(values))
}

fn texts(values: &[&str]) -> ArrayRef {
    Arc::new(StringArray::from(values.to_vec()))
}

/// The rows as text, one line each.
fn rows(dataset: Dataset) -> Vec<String> {
    let schema = dataset.schema().unwrap();
    let mut reader = dataset.batches().unwrap();
    assert_eq!(schema, reader.schema());
    let mut out = Vec::new();
    while let Some(batch) = reader.next_batch() {
        let batch = batch.unwrap();
        assert_eq!(batch.schema(), reader.schema());
        for row in 0..batch.num_rows() {
            let cell = |column: &ArrayRef| match column.is_null(row) {
                true => "-".to_owned(),
                false => arrow_cast::display::array_value_to_string(column, row).unwrap(),
            };
            out.push(batch.columns().iter().map(cell).collect::<Vec<_>>().join(" "));
        }
    }
    out
}

fn error(dataset: Result<Dataset>) -> Error {
    let outcome = dataset.and_then(Dataset::batches).and_then(|mut reader| {
        while let Some(batch) = reader.next_batch() {
            batch?;
        }
        Ok(())
    });
    outcome.expect_err("an error")
}

/// Values of damaged pages are null: the schema says so before any is read.
#[test]
fn what_may_be_lost_may_be_null() {
    let folder = folder();
    let path = folder.path().join("a.parquet");
    let schema = Arc::new(Schema::new(vec![Field::new("n", DataType::Int32, false)]));
    let batch = RecordBatch::try_new(schema.clone(), vec![ints(0..3)]).unwrap();
    let mut writer = ArrowWriter::try_new(fs::File::create(&path).unwrap(), schema, None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    let dataset = Dataset::open([&path]).unwrap();
    assert!(!dataset.schema().unwrap().field(0).is_nullable());
    let salvaged = dataset.options(ArrowReaderOptions::new().with_on_corrupt(OnCorrupt::NullPage));
    assert!(salvaged.schema().unwrap().field(0).is_nullable());
    assert_eq!(rows(salvaged), ["0", "1", "2"]);
}

fn names(dataset: &Dataset) -> Vec<String> {
    dataset.schema().unwrap().fields().iter().map(|field| field.name().clone()).collect()
}

#[test]
fn directories_are_read_sorted_and_without_what_is_hidden() {
    let folder = folder();
    for (i, path) in
        ["b/2.parquet", "a.parquet", "b/10.parquet", ".hidden.parquet", "_tmp/x.parquet", "c/d.PQ"]
            .iter()
            .enumerate()
    {
        write(&folder, path, vec![("i", ints([i as i32]))]);
    }
    fs::write(folder.path().join("readme.txt"), "no Parquet").unwrap();
    fs::write(folder.path().join("_SUCCESS"), "").unwrap();
    let all = Dataset::open([folder.path()]).unwrap();
    let files: Vec<_> =
        all.files().map(|path| path.strip_prefix(folder.path()).unwrap().to_owned()).collect();
    assert_eq!(files, ["a.parquet", "b/10.parquet", "b/2.parquet", "c/d.PQ"].map(PathBuf::from));
    assert_eq!(all.num_rows().unwrap(), 4);
    assert_eq!(rows(all.clone()), ["1", "2", "0", "5"]);
    assert_eq!(rows(all.clone().offset(1).limit(2)), ["2", "0"]);
    assert_eq!(rows(all.offset(9)), [""; 0]);
    let pattern = |end: &str| Dataset::open([folder.path().join(end)]);
    assert_eq!(rows(pattern("b/*.parquet").unwrap()), ["2", "0"]);
    assert_eq!(rows(pattern("**/*.parquet").unwrap()), ["1", "2", "0"]);
    assert_eq!(rows(pattern("[bc]").unwrap()), ["2", "0", "5"]);
    assert_eq!(error(pattern("*.orc")).kind(), ErrorKind::NotFound);
    let both = [folder.path().join("c"), folder.path().join("a.parquet")];
    assert_eq!(rows(Dataset::open(&both).unwrap()), ["5", "1"]);
    fs::create_dir(folder.path().join("empty")).unwrap();
    assert!(error(pattern("empty")).to_string().contains("no Parquet file is in the directory"));
    assert_eq!(error(Dataset::open([""; 0])).kind(), ErrorKind::Argument);
    assert_eq!(error(pattern("none.parquet")).kind(), ErrorKind::NotFound);
}

#[test]
fn without_a_known_end_all_files_are_meant() {
    let folder = folder();
    write(&folder, "t/000000_0", vec![("i", ints([1]))]);
    write(&folder, "t/000001_0", vec![("i", ints([2]))]);
    assert_eq!(rows(Dataset::open([folder.path().join("t")]).unwrap()), ["1", "2"]);
}

#[cfg(unix)]
#[test]
fn links_that_lead_back_end() {
    let folder = folder();
    write(&folder, "t/a.parquet", vec![("i", ints([1]))]);
    std::os::unix::fs::symlink(folder.path(), folder.path().join("t/up")).unwrap();
    assert_eq!(Dataset::open([folder.path()]).unwrap().files().len(), 1);
}

#[test]
fn partitions_are_columns() {
    let folder = folder();
    write(&folder, "t/n=1/day=2024-01-02/c=x%2Fy/0.parquet", vec![("i", ints([1, 2]))]);
    write(&folder, "t/n=-7/day=2023-12-31/c=01/0.parquet", vec![("i", ints([3]))]);
    let none = "t/n=5/day=__HIVE_DEFAULT_PARTITION__/c=1/0.parquet";
    // A column of the same name is in the file, too: the directory says what it is.
    write(&folder, none, vec![("n", ints([9])), ("i", ints([4]))]);
    let all = || Dataset::open([folder.path().join("t")]).unwrap();
    assert_eq!(names(&all()), ["i", "n", "day", "c"]);
    let schema = all().schema().unwrap();
    let types: Vec<_> = schema.fields().iter().map(|field| field.data_type().clone()).collect();
    assert_eq!(types, [DataType::Int32, DataType::Int64, DataType::Date32, DataType::Utf8View]);
    assert_eq!(rows(all()), ["3 -7 2023-12-31 01", "1 1 2024-01-02 x/y", "2 1 2024-01-02 x/y", "4 5 - 1"]);
    assert_eq!(rows(all().columns(["c", "i"])), ["01 3", "x/y 1", "x/y 2", "1 4"]);
    assert_eq!(rows(all().columns(["n"])), ["-7", "1", "1", "5"]);
    let typed = all().columns(["n"]).partition_type("n", DataType::Int16);
    assert_eq!(*typed.schema().unwrap().field(0).data_type(), DataType::Int16);
    assert_eq!(rows(typed), ["-7", "1", "1", "5"]);
    let wrong = error(Ok(all().partition_type("n", DataType::UInt8)));
    assert!(
        wrong.to_string().starts_with("argument: the partition n=-7 is not a valid UInt8, in file"),
        "{wrong}"
    );
    assert!(wrong.place().file.as_deref().unwrap().contains("n=-7"));
    let error = error(Ok(all().partition_type("m", DataType::UInt8)));
    assert!(error.to_string().contains("no partition m=.."), "{error}");
    assert_eq!(rows(all().partitions(false).columns(["i"])), ["3", "1", "2", "4"]);
}

#[test]
fn a_partition_that_some_files_lack() {
    let folder = folder();
    write(&folder, "t/n=1/0.parquet", vec![("i", ints([1]))]);
    write(&folder, "t/0.parquet", vec![("i", ints([2]))]);
    let all = || Dataset::open([folder.path().join("t")]).unwrap();
    let error = error(Ok(all()));
    assert!(error.to_string().contains("the file is in no partition n=.., as others are"), "{error}");
    assert_eq!(rows(all().union_by_name(true)), ["2 -", "1 1"]);
}

#[test]
fn the_first_schema_or_that_of_all() {
    let folder = folder();
    write(&folder, "t/1.parquet", vec![("a", ints([1])), ("b", texts(&["x"]))]);
    write(&folder, "t/2.parquet", vec![("b", texts(&["y"])), ("a", ints([2]))]);
    let all = || Dataset::open([folder.path().join("t")]).unwrap();
    assert_eq!(rows(all()), ["1 x", "2 y"], "another order is not a misfit");
    write(&folder, "t/3.parquet", vec![("a", longs([3])), ("b", texts(&["z"])), ("c", ints([4]))]);
    let misfit = error(Ok(all()));
    let text = misfit.to_string();
    assert!(text.contains("the column is not among the wanted fields, a, b: the first file says"), "{text}");
    assert!(text.contains("unless it is a union by name"), "{text}");
    assert!(misfit.place().file.as_deref().unwrap().ends_with("3.parquet"));
    let text = error(Ok(all().columns(["a"]))).to_string();
    assert!(text.contains("is Int64 in the file, which cannot become Int32"), "{text}");
    assert!(text.contains("unless it is a union by name"), "{text}");
    assert_eq!(rows(all().columns(["b"])), ["x", "y", "z"]);
    assert_eq!(rows(all().union_by_name(true)), ["1 x -", "2 y -", "3 z 4"]);
    assert_eq!(rows(all().union_by_name(true).columns(["c", "a"])), ["- 1", "- 2", "4 3"]);
    let text = error(Ok(all().union_by_name(true).columns(["cc"]))).to_string();
    assert!(text.contains("no column cc"), "{text}");
    write(&folder, "t/4.parquet", vec![("b", ints([4]))]);
    let text = error(Ok(all().union_by_name(true))).to_string();
    assert!(text.contains("the column is Int32, and Utf8View in files before it, in file"), "{text}");
    let text = error(Ok(all().columns(["a"]))).to_string();
    assert!(text.contains("4.parquet") || text.contains("Int64"), "{text}");
}

/// An error must not advise a union that would not help.
#[test]
fn types_without_one_for_both_are_no_case_for_a_union() {
    let folder = folder();
    write(&folder, "t/1.parquet", vec![("a", ints([1]))]);
    write(&folder, "t/2.parquet", vec![("a", texts(&["x"]))]);
    let text = error(Ok(Dataset::open([folder.path().join("t")]).unwrap())).to_string();
    assert!(text.contains("the first file says which columns the table has, and their types"), "{text}");
    assert!(!text.contains("union"), "{text}");
}

#[test]
fn a_wanted_schema_for_all() {
    let folder = folder();
    write(&folder, "t/n=1/1.parquet", vec![("a", ints([1]))]);
    write(&folder, "t/n=2/2.parquet", vec![("a", longs([2])), ("b", texts(&["y"]))]);
    let wanted = arrow_schema::Schema::new(vec![
        arrow_schema::Field::new("n", DataType::Int8, true),
        arrow_schema::Field::new("b", DataType::Utf8, false),
        arrow_schema::Field::new("a", DataType::Int64, true),
    ]);
    let evolution = Evolution::to(Arc::new(wanted)).with_default("b", texts(&["none"]));
    let all = Dataset::open([folder.path().join("t")]).unwrap().evolve(evolution);
    assert_eq!(rows(all), ["1 none 1", "2 y 2"]);
}

#[test]
fn batches_are_of_one_file_each_and_as_large_as_asked_for() {
    let folder = folder();
    write(&folder, "1.parquet", vec![("a", ints(0..10))]);
    write(&folder, "2.parquet", vec![("a", ints(10..13))]);
    let reader = Dataset::open([folder.path()]).unwrap().batch_size(4).offset(1).limit(11).batches().unwrap();
    let batches: Vec<_> = reader.map(Result::unwrap).collect();
    assert_eq!(batches.iter().map(RecordBatch::num_rows).collect::<Vec<_>>(), [4, 4, 1, 2]);
    let error = Dataset::open([folder.path()]).unwrap().batch_size(0).batches().unwrap().next_batch();
    assert_eq!(error.unwrap().unwrap_err().kind(), ErrorKind::Argument);
}

#[test]
fn files_that_are_anywhere() {
    let file = |i: i32| {
        let batch = RecordBatch::try_from_iter([("i", ints([i]))]).unwrap();
        let mut bytes = Vec::new();
        let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), None).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
        bytes::Bytes::from(bytes)
    };
    let all = Dataset::from_files(["s3://bucket/p=7/a", "s3://bucket/p=8/b"], move |path| {
        Ok(Arc::new(file(if path.ends_with("a") { 1 } else { 2 })))
    });
    assert_eq!(rows(all.unwrap()), ["1 7", "2 8"]);
}

/// A summary of the files of a folder, as other writers make them; `edit` may change it.
fn write_summary(folder: &TempDir, names: &[&str], edit: impl Fn(&mut FileMetaData)) -> PathBuf {
    let mut summary = FileMetaData::default();
    for name in names {
        let file = fs::File::open(folder.path().join(name)).unwrap();
        let metadata = ArrowReaderMetadata::load(file, ArrowReaderOptions::new()).unwrap();
        let footer = metadata.metadata().to_thrift().unwrap();
        summary.schema.clone_from(&footer.schema);
        summary.num_rows += footer.num_rows;
        for group in &footer.row_groups {
            let mut group = group.clone();
            group.columns.iter_mut().for_each(|column| column.file_path = Some((*name).into()));
            summary.row_groups.push(group);
        }
    }
    edit(&mut summary);
    let mut writer = Writer::new();
    summary.write(&mut writer);
    let footer = writer.finish();
    let tail = FooterTail::Plain { metadata_len: footer.len() as u32 }.to_bytes();
    let path = folder.path().join("_metadata");
    fs::write(&path, [&PAR1[..], &footer, &tail[..]].concat()).unwrap();
    path
}

#[test]
fn summaries_name_the_files() {
    let folder = folder();
    write(&folder, "c=x/1.parquet", vec![("a", ints([1, 2]))]);
    write(&folder, "c=y/2.parquet", vec![("a", ints([3]))]);
    write(&folder, "c=z/3.parquet", vec![("a", ints([4]))]);
    let path = write_summary(&folder, &["c=y/2.parquet", "c=x/1.parquet"], |_| ());
    assert_eq!(rows(Dataset::open([&path]).unwrap()), ["3 y", "1 x", "2 x"], "its files in its order");
    assert_eq!(Dataset::open([folder.path()]).unwrap().files().len(), 3, "it is passed over in a directory");
    // Written again since.
    write(&folder, "c=x/1.parquet", vec![("a", ints([1, 2, 3]))]);
    let error = error(Dataset::open([&path]));
    assert!(error.to_string().contains("it is older than the file"), "{error}");
    assert!(error.place().file.as_deref().unwrap().ends_with("1.parquet"));
}

#[test]
fn summaries_name_no_file_outside_of_their_directory() {
    let folder = folder();
    write(&folder, "secret.parquet", vec![("a", ints([1]))]);
    write(&folder, "t/1.parquet", vec![("a", ints([1]))]);
    let absolute = folder.path().join("t/1.parquet").display().to_string();
    for path in [
        "../secret.parquet",
        "t/../../secret.parquet",
        "t/./../secret.parquet",
        "/etc/passwd",
        &absolute,
        "..",
        "c:\\x",
        "..\\secret.parquet",
        "file:///etc/passwd",
        "t//../../x",
    ] {
        let name = |summary: &mut FileMetaData| {
            let columns = summary.row_groups.iter_mut().flat_map(|group| &mut group.columns);
            columns.for_each(|column| column.file_path = Some(path.into()));
        };
        let inner = tempfile::tempdir_in(folder.path()).unwrap();
        fs::create_dir(inner.path().join("t")).unwrap();
        fs::copy(folder.path().join("t/1.parquet"), inner.path().join("t/1.parquet")).unwrap();
        let summary = write_summary(&inner, &["t/1.parquet"], name);
        let error = error(Dataset::open([summary]));
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{path}: {error}");
        assert!(error.to_string().contains("leads out of the summary's directory"), "{path}: {error}");
    }
    let missing = |summary: &mut FileMetaData| {
        summary.row_groups[0].columns[0].file_path = Some("gone.parquet".into());
    };
    assert_eq!(
        error(Dataset::open([write_summary(&folder, &["t/1.parquet"], missing)])).kind(),
        ErrorKind::NotFound
    );
}

#[cfg(unix)]
#[test]
fn links_do_not_lead_a_summary_out() {
    let outside = folder();
    write(&outside, "secret.parquet", vec![("a", ints([1]))]);
    let folder = folder();
    let link = |from: &str, to: PathBuf| std::os::unix::fs::symlink(to, folder.path().join(from)).unwrap();
    write(&folder, "real.parquet", vec![("a", ints([1]))]);
    link("out.parquet", outside.path().join("secret.parquet"));
    link("elsewhere", outside.path().to_owned());
    link("in.parquet", folder.path().join("real.parquet"));
    for (name, is_fine) in [("out.parquet", false), ("elsewhere/secret.parquet", false), ("in.parquet", true)]
    {
        let outcome = Dataset::open([write_summary(&folder, &[name], |_| ())]);
        assert_eq!(outcome.is_ok(), is_fine, "{name}");
    }
}

#[test]
fn columns_of_a_row_group_in_several_files_are_refused() {
    let folder = folder();
    write(&folder, "1.parquet", vec![("a", ints([1])), ("b", ints([2]))]);
    let apart = |summary: &mut FileMetaData| {
        summary.row_groups[0].columns[1].file_path = Some("2.parquet".into());
    };
    let error = error(Dataset::open([write_summary(&folder, &["1.parquet"], apart)]));
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.to_string().contains("are in several files: 1.parquet, 2.parquet, in file"), "{error}");
}

#[test]
fn losses_are_told_by_file() {
    let folder = folder();
    write(&folder, "1.parquet", vec![("a", ints(0..100))]);
    write(&folder, "2.parquet", vec![("a", ints(100..200))]);
    let path = folder.path().join("2.parquet");
    let mut bytes = fs::read(&path).unwrap();
    bytes[40] ^= 1;
    fs::write(&path, bytes).unwrap();
    let all = || Dataset::open([folder.path()]).unwrap();
    assert!(error(Ok(all())).place().file.as_deref().unwrap().ends_with("2.parquet"));
    let skipping = ArrowReaderOptions::new().with_on_corrupt(OnCorrupt::SkipPage);
    let mut reader = all().options(skipping).batches().unwrap();
    let mut read = 0;
    while let Some(batch) = reader.next_batch() {
        read += batch.unwrap().num_rows();
    }
    let reports = reader.loss_reports();
    assert_eq!(reports.iter().map(|(_, report)| report.rows_left_out).collect::<Vec<_>>(), [0, 100]);
    assert_eq!(read, 100);
}

#[test]
fn values_of_partitions_are_arrays_of_their_type() {
    let folder = folder();
    write(&folder, "d=2024-02-29/n=3/1.parquet", vec![("a", ints([1, 2]))]);
    let batch = Dataset::open([folder.path()]).unwrap().batches().unwrap().next_batch().unwrap().unwrap();
    assert_eq!(batch.column(1).as_primitive::<Date32Type>().values(), &[19782, 19782]);
    assert_eq!(batch.column(2).as_primitive::<Int64Type>().values(), &[3, 3]);
    assert!(!batch.schema().field(2).is_nullable());
}

fn filtered(dataset: Dataset, condition: &str) -> Vec<String> {
    rows(dataset.filter(Predicate::parse(condition).unwrap()))
}

#[test]
fn filters_know_partitions_and_what_files_lack() {
    let folder = folder();
    write(&folder, "t/n=1/1.parquet", vec![("a", ints(0..5))]);
    write(&folder, "t/n=2/2.parquet", vec![("a", ints(5..10)), ("b", texts(&["x", "y", "x", "y", "x"]))]);
    let all = || Dataset::open([folder.path().join("t")]).unwrap().union_by_name(true);
    assert_eq!(filtered(all().columns(["a"]), "a >= 4 and a < 6"), ["4", "5"]);
    assert_eq!(filtered(all(), "n = 1 and a > 2"), ["3 - 1", "4 - 1"]);
    assert_eq!(filtered(all().columns(["a"]), "n = 2 and b = 'y'"), ["6", "8"]);
    assert_eq!(filtered(all().columns(["a"]), "b is null or a = 9"), ["0", "1", "2", "3", "4", "9"]);
    assert_eq!(filtered(all().columns(["a"]), "not b = 'x'"), ["6", "8"]);
    assert_eq!(filtered(all().columns(["a"]).offset(1).limit(3), "a > 2"), ["4", "5", "6"]);
    assert_eq!(filtered(all().columns(["a"]).offset(6).limit(2), "n >= 1"), ["6", "7"]);
    let unknown = all().filter(Predicate::parse("c = 1").unwrap());
    assert!(error(Ok(unknown)).to_string().contains("no column c"));
    // A file that cannot have a row is not opened.
    fs::write(folder.path().join("t/n=2/2.parquet"), "no Parquet any more").unwrap();
    let first = Dataset::open([folder.path().join("t")]).unwrap();
    assert_eq!(filtered(first, "n = 1 and a = 4"), ["4 1"]);
}

#[test]
fn a_column_with_a_dot_in_its_name_and_a_field_of_that_path() {
    let folder = folder();
    let fields = |b| -> ArrayRef {
        Arc::new(StructArray::from(vec![(Arc::new(Field::new("b", DataType::Int32, false)), b)]))
    };
    write(&folder, "t/1.parquet", vec![("id", ints([1, 2])), ("a.b", ints([1, 5]))]);
    write(&folder, "t/2.parquet", vec![("id", ints([3, 4])), ("a", fields(ints([1, 6])))]);
    let all = || Dataset::open([folder.path().join("t")]).unwrap().union_by_name(true).columns(["id"]);
    for (condition, ids) in [
        ("\"a.b\" = 1", &["1"][..]),
        ("a.b = 1", &["3"]),
        ("a.b is null", &["1", "2"]),
        ("\"a.b\" is null", &["3", "4"]),
        ("not a.b = 1", &["4"]),
        ("a.b is distinct from \"a.b\"", &["1", "2", "3", "4"]),
        ("a.b in (5, 6) or \"a.b\" in (5, 6)", &["2", "4"]),
    ] {
        assert_eq!(filtered(all(), condition), ids, "{condition}");
    }
    // A file that has neither: the first file decides which column is meant.
    let first = Dataset::open([folder.path().join("t")]).unwrap().columns(["id"]);
    assert!(error(Ok(first.filter(Predicate::parse("a.b = 1").unwrap()))).to_string().contains("a.b"));
    // The name alone may be written as a path.
    write(&folder, "named/k=1/1.parquet", vec![("id", ints([1, 2])), ("a.b", ints([1, 5]))]);
    let named = Dataset::open([folder.path().join("named")]).unwrap().columns(["id"]);
    assert_eq!(filtered(named, "a.b = 5 and k = 1"), ["2"]);
}
