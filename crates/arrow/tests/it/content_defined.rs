//! Content-defined chunking: a change in the middle changes few pages, and what is read is what was written.

use arrow_array::builder::{Int64Builder, ListBuilder};
use arrow_array::*;
use arrow_select::concat::concat_batches;
use bytes::Bytes;
use marquetry_arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use marquetry_arrow::arrow_writer::ArrowWriter;
use marquetry_base::Limits;
use marquetry_core::io::read_metadata;
use marquetry_core::page_index::read_offset_index;
use marquetry_core::write::{CdcOptions, WriterProperties};
use proptest::prelude::*;
use std::collections::HashSet;
use std::sync::Arc;

fn written(batch: &RecordBatch, options: Option<CdcOptions>, dictionary: bool, per_group: usize) -> Bytes {
    let properties = WriterProperties::builder()
        .set_content_defined_chunking(options)
        .set_dictionary_enabled(dictionary)
        .set_max_row_group_row_count(Some(per_group))
        .build();
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties)).unwrap();
    // In pieces, which pages know nothing of.
    for at in (0..batch.num_rows()).step_by(977) {
        writer.write(&batch.slice(at, 977.min(batch.num_rows() - at))).unwrap();
    }
    Bytes::from(writer.into_inner().unwrap())
}

fn read(file: Bytes) -> RecordBatch {
    let mut reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap();
    let batches: Vec<_> = std::iter::from_fn(|| reader.next_batch()).map(Result::unwrap).collect();
    concat_batches(&RecordBatchReader::schema(&reader), &batches).unwrap()
}

/// The bytes of all data pages of a column.
fn pages(file: &Bytes, column: usize) -> Vec<Bytes> {
    let limits = Limits::default();
    let metadata = read_metadata(file, &limits).unwrap().metadata;
    let mut out = Vec::new();
    for group in metadata.row_groups() {
        let index = read_offset_index(file, group.column(column).unwrap(), &limits).unwrap().unwrap();
        for page in index.page_locations {
            let start = page.offset as usize;
            out.push(file.slice(start..start + page.compressed_page_size as usize));
        }
    }
    out
}

/// How many pages of the second file are not in the first, and how many there are.
fn changed(files: [&Bytes; 2], column: usize) -> (usize, usize) {
    let before: HashSet<Bytes> = pages(files[0], column).into_iter().collect();
    let after = pages(files[1], column);
    (after.iter().filter(|page| !before.contains(*page)).count(), after.len())
}

/// Numbers, strings, strings of which there are few, lists of numbers: 60,000 rows.
fn table() -> RecordBatch {
    let rows = 60_000u64;
    let mixed =
        |i: u64| i.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(17).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let numbers: Int64Array = (0..rows).map(|i| (mixed(i) % 11 != 0).then_some(mixed(i) as i64)).collect();
    let strings = StringArray::from_iter_values((0..rows).map(|i| format!("{:x}", mixed(i + 7) >> (i % 40))));
    let few = StringArray::from_iter_values((0..rows).map(|i| format!("value {}", mixed(i) % 50)));
    let mut lists = ListBuilder::new(Int64Builder::new());
    for i in 0..rows {
        for j in 0..mixed(i) % 4 {
            lists.values().append_value(mixed(i * 5 + j) as i64);
        }
        lists.append(mixed(i) % 13 != 0);
    }
    RecordBatch::try_from_iter_with_nullable([
        ("numbers", Arc::new(numbers) as ArrayRef, true),
        ("strings", Arc::new(strings), true),
        ("few", Arc::new(few), true),
        ("lists", Arc::new(lists.finish()), true),
    ])
    .unwrap()
}

const SMALL: CdcOptions = CdcOptions { min_chunk_size: 4 << 10, max_chunk_size: 16 << 10, norm_level: 0 };

#[test]
fn a_change_in_the_middle_changes_few_pages() {
    let table = table();
    let rows = table.num_rows();
    let schema = table.schema();
    let parts = |parts: &[RecordBatch]| concat_batches(&schema, parts).unwrap();
    let half = rows / 2;
    let inserted = parts(&[table.slice(0, half), table.slice(77, 1), table.slice(half, rows - half)]);
    let removed = parts(&[table.slice(0, half), table.slice(half + 40, rows - half - 40)]);
    let replaced = parts(&[table.slice(0, half), table.slice(3, 1), table.slice(half + 1, rows - half - 1)]);
    // `few` has its dictionary in the order of the first rows, which stays.
    let before = written(&table, Some(SMALL), true, rows * 2);
    let plain_before = written(&table, None, true, rows * 2);
    for (what, after) in [("inserted", inserted), ("removed", removed), ("replaced", replaced)] {
        let file = written(&after, Some(SMALL), true, rows * 2);
        assert_eq!(read(file.clone()), after, "{what}");
        for column in 0..4 {
            let (different, all) = changed([&before, &file], column);
            assert!(all >= 5, "{what} {column}: {all}");
            assert!((1..=3).contains(&different), "{what}, column {column}: {different} of {all} pages");
        }
        // Without it, a row more or less moves all rows behind it into other pages.
        if what != "replaced" {
            let file = written(&after, None, true, rows * 2);
            let (different, all) = changed([&plain_before, &file], 1);
            assert!(different * 3 >= all, "{what}: {different} of {all}");
        }
    }
}

#[test]
fn pages_have_the_sizes_that_are_asked_for() {
    let table = table();
    let file = written(&table, Some(SMALL), false, usize::MAX >> 1);
    let limits = Limits::default();
    let metadata = read_metadata(&file, &limits).unwrap().metadata;
    let group = metadata.row_group(0);
    let index = read_offset_index(&file, group.column(0).unwrap(), &limits).unwrap().unwrap();
    let starts: Vec<i64> = index.page_locations.iter().map(|page| page.first_row_index).collect();
    // A level for each row, eight bytes for each value; one in eleven is null.
    let sizes: Vec<f64> =
        starts.windows(2).map(|pair| (pair[1] - pair[0]) as f64 * (1.0 + 8.0 * 10.0 / 11.0)).collect();
    assert!(sizes.iter().all(|size| (4000.0..16_600.0).contains(size)), "{sizes:?}");
    let mean = sizes.iter().sum::<f64>() / sizes.len() as f64;
    assert!((8_000.0..12_500.0).contains(&mean), "{mean}");
}

#[test]
fn sizes_that_make_no_sense_are_refused() {
    for (min_chunk_size, max_chunk_size, norm_level) in [(0, 10, 0), (10, 10, 0), (1 << 10, 1 << 12, 40)] {
        let options = CdcOptions { min_chunk_size, max_chunk_size, norm_level };
        let properties = WriterProperties::builder().set_content_defined_chunking(Some(options)).build();
        let error = ArrowWriter::try_new(Vec::new(), table().schema(), Some(properties)).err().unwrap();
        assert!(error.to_string().contains("content-defined chunks"), "{error}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn what_is_read_is_what_was_written(
        (from, rows) in (0..50_000usize, 0..10_000usize),
        (min, more, norm_level) in (1..5000usize, 20..20_000usize, -2..2i32),
        (dictionary, per_group) in (any::<bool>(), 500..20_000usize),
    ) {
        let options = CdcOptions { min_chunk_size: min, max_chunk_size: min + 64 * more, norm_level };
        let table = table().slice(from, rows);
        let file = written(&table, Some(options), dictionary, per_group);
        prop_assert_eq!(read(file), table);
    }
}
