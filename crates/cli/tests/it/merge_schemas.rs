//! `merge` and `append` of files whose schemas say the same in other words, or differ in what may be null.

use crate::command::{Folder, failure, success};
use arrow_array::{
    Array, ArrayRef, Decimal128Array, Int32Array, Int64Array, ListArray, RecordBatch, StringArray,
    StructArray,
};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::{DataType, Field, Fields, Schema};
use marquetry::file::metadata::ParquetMetaData;
use marquetry::file::properties::WriterProperties;
use marquetry::file::{LocalFile, Source, read_metadata};
use marquetry::internals::format::{ConvertedType, LogicalType, SchemaElement};
use marquetry_core::write::copy::{CopySettings, copy_chunk};
use marquetry_core::write::{FileSettings, FileWriter};
use std::fs::File;
use std::sync::Arc;

#[track_caller]
fn rows(file: &str) -> String {
    success(&["cat", "--format", "json", file])
}

fn write(path: &str, batches: &[RecordBatch]) {
    // The stored Arrow schema would tell what the Parquet schema does not.
    let properties = WriterProperties::builder().set_arrow_schema(false).build();
    let file = File::create(path).expect("a file");
    let mut writer = marquetry::arrow::ArrowWriter::try_new(file, batches[0].schema(), Some(properties))
        .expect("a writer");
    for batch in batches {
        writer.write(batch).expect("rows");
        writer.flush().expect("a row group");
    }
    writer.close().expect("a file");
}

fn metadata(path: &str) -> ParquetMetaData {
    read_metadata(&LocalFile::open(path).expect("a file"), &Default::default()).expect("a footer").metadata
}

/// The same pages under another schema.
fn with_schema(path: &str, out: &str, change: impl Fn(&mut [SchemaElement])) {
    let metadata = metadata(path);
    let source: Arc<dyn Source> = Arc::new(LocalFile::open(path).expect("a file"));
    let mut elements = metadata.head().schema.clone();
    change(&mut elements);
    let file = File::create(out).expect("a file");
    let mut writer = FileWriter::new(file, elements, FileSettings::default()).expect("a writer");
    for group in metadata.row_groups() {
        let chunk = |column| {
            copy_chunk(&source, &metadata, group.index(), column, &CopySettings::default())
                .expect("a chunk")
                .chunk
        };
        let chunks = (0..metadata.schema().num_columns()).map(chunk).collect();
        writer.write_row_group(group.num_rows(), chunks, None).expect("a row group");
    }
    writer.finish().expect("a file");
}

#[test]
fn annotations_that_mean_the_same() {
    let folder = Folder::new("merge-annotations");
    let columns: [(&str, ArrayRef); 2] = [
        ("a", Arc::new(Int64Array::from(vec![Some(1), None, Some(i64::MIN)]))),
        ("b", Arc::new(Int32Array::from(vec![None, Some(-5), Some(i32::MAX)]))),
    ];
    let batch = RecordBatch::try_from_iter(columns).expect("a batch");
    let plain = folder.path("plain.parquet");
    write(&plain, &[batch.clone(), batch]);
    let (converted, logical) = (folder.path("converted.parquet"), folder.path("logical.parquet"));
    with_schema(&plain, &converted, |elements| {
        elements[1].converted_type = Some(ConvertedType::INT_64);
        elements[2].converted_type = Some(ConvertedType::INT_32);
    });
    with_schema(&plain, &logical, |elements| {
        for (element, bit_width) in elements[1..].iter_mut().zip([64, 32]) {
            element.logical_type = Some(LogicalType::Integer { bit_width, is_signed: true });
        }
    });
    for (first, second) in [(&plain, &converted), (&converted, &logical), (&logical, &plain)] {
        let out = folder.path("out.parquet");
        success(&["merge", first, second, &out, "--overwrite"]);
        assert_eq!(rows(&out), rows(&plain).repeat(2));
        assert_eq!(success(&["schema", &out]), success(&["schema", first]));
        success(&["verify", "--deep", &out]);
        std::fs::copy(first, &out).expect("a copy");
        success(&["append", &out, second]);
        assert_eq!(rows(&out), rows(&plain).repeat(2));
    }
    // Another meaning is another column.
    let unsigned = folder.path("unsigned.parquet");
    with_schema(&plain, &unsigned, |elements| elements[1].converted_type = Some(ConvertedType::UINT_64));
    let (code, lines) = failure(&["merge", &plain, &unsigned, &folder.path("no.parquet"), "--compatible"]);
    assert!(code == 2 && lines[0].contains("a is optional INT64 (INTEGER(64,false)) here"), "{lines:?}");
}

/// Three columns, of which everything is optional or nothing is.
fn nested(is_optional: bool, has_nulls: bool) -> RecordBatch {
    let nulls = |bits: [bool; 4]| (is_optional && has_nulls).then(|| NullBuffer::from(bits.to_vec()));
    let a = Int64Array::new(vec![1, 2, 3, 4].into(), nulls([true, false, true, true]));
    let x = Int32Array::new(vec![5, 6, 7, 8].into(), nulls([false, true, true, true]));
    let fields = Fields::from(vec![
        Field::new("x", DataType::Int32, is_optional),
        Field::new("y", DataType::Utf8, true),
    ]);
    let y = StringArray::from(vec![Some("p"), None, Some("q"), Some("q")]);
    let s = StructArray::new(fields, vec![Arc::new(x), Arc::new(y)], nulls([true, true, false, true]));
    let elements = Int32Array::new((0..5).collect::<Vec<_>>().into(), None);
    let element = Arc::new(Field::new("element", DataType::Int32, is_optional));
    let l = ListArray::new(
        element,
        OffsetBuffer::from_lengths([2, 0, 3, 0]),
        Arc::new(elements),
        nulls([true, true, true, false]),
    );
    let columns: [(&str, ArrayRef); 3] = [("a", Arc::new(a)), ("s", Arc::new(s)), ("l", Arc::new(l))];
    let fields: Vec<Field> = columns
        .iter()
        .map(|(name, array)| Field::new(*name, array.data_type().clone(), is_optional))
        .collect();
    let arrays = columns.into_iter().map(|(_, array)| array).collect();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).expect("a batch")
}

#[test]
fn required_and_optional_columns() {
    let folder = Folder::new("merge-optional");
    let (required, optional) = (folder.path("required.parquet"), folder.path("optional.parquet"));
    write(&required, &[nested(false, false), nested(false, false).slice(1, 2)]);
    write(&optional, &[nested(true, true), nested(true, false)]);
    let out = folder.path("out.parquet");
    let (code, lines) = failure(&["merge", &required, &optional, &out]);
    assert!(code == 2 && lines[0].contains("--compatible would take it"), "{lines:?}");
    for (first, second) in [(&required, &optional), (&optional, &required)] {
        success(&["merge", first, second, &out, "--compatible", "--overwrite"]);
        assert_eq!(rows(&out), rows(first) + &rows(second));
        success(&["verify", "--deep", &out]);
        assert!(!success(&["schema", &out]).contains("required"), "all may be null");
    }
    // A required column cannot become optional in place; an optional one accepts both.
    std::fs::copy(&required, &out).expect("a copy");
    let (code, lines) = failure(&["append", &out, &optional, "--compatible"]);
    assert!(code == 2 && lines[0].contains("merge --compatible makes a file of both"), "{lines:?}");
    std::fs::copy(&optional, &out).expect("a copy");
    success(&["append", &out, &required, "--compatible"]);
    assert_eq!(rows(&out), rows(&optional) + &rows(&required));
    success(&["verify", "--deep", &out]);
}

#[test]
fn decimals_of_other_widths_are_encoded_again_by_convert() {
    let folder = Folder::new("merge-decimals");
    let decimals = |precision: u8| {
        let values = Decimal128Array::from(vec![Some(-125), None, Some(7)]);
        let values = values.with_precision_and_scale(precision, 2).expect("a decimal");
        RecordBatch::try_from_iter([("d", Arc::new(values) as ArrayRef)]).expect("a batch")
    };
    let (narrow, wide) = (folder.path("narrow.parquet"), folder.path("wide.parquet"));
    write(&narrow, &[decimals(20)]);
    write(&wide, &[decimals(38)]);
    let out = folder.path("out.parquet");
    let (code, lines) = failure(&["merge", &narrow, &wide, &out, "--compatible"]);
    assert!(code == 2 && lines[0].contains("marquetry convert"), "{lines:?}");
    success(&["convert", &narrow, &wide, &out, "--union-by-name", "--report", "none"]);
    assert_eq!(rows(&out), rows(&narrow) + &rows(&wide));
}

/// Only their places say which of two columns of one name is which.
#[test]
fn columns_of_one_name_stay_apart() {
    let folder = Folder::new("merge-one-name");
    let (a, b, merged) = (folder.path("a.parquet"), folder.path("b.parquet"), folder.path("merged.parquet"));
    let batch = |first: [i64; 2], second: [i64; 2]| {
        let fields = ["n", "n"].map(|name| Field::new(name, DataType::Int64, false));
        let columns = [first, second].map(|values| Arc::new(Int64Array::from(values.to_vec())) as ArrayRef);
        RecordBatch::try_new(Arc::new(Schema::new(fields.to_vec())), columns.to_vec()).expect("columns")
    };
    write(&a, &[batch([1, 2], [3, 4])]);
    write(&b, &[batch([5, 6], [7, 8])]);
    success(&["merge", &a, &b, &merged]);
    let all = [[1, 3], [2, 4], [5, 7], [6, 8]].map(|[a, b]| format!("{{\"n\":{a},\"n_1\":{b}}}\n")).concat();
    assert_eq!(rows(&merged), all);
    success(&["append", &a, &b]);
    assert_eq!(rows(&a), all);
    // If columns may be in any order, nothing tells them apart.
    let (code, lines) = failure(&["merge", "--compatible", &b, &merged, &folder.path("c.parquet")]);
    assert!(code == 2 && lines.join(" ").contains("several columns of the same name"), "{lines:?}");
}
