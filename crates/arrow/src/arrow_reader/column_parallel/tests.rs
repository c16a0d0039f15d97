//! Columns that are read in parts by several threads give what one thread gives, whatever is wrong with the file.

use super::*;
use crate::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use crate::arrow_writer::ArrowWriter;
use arrow_array::builder::{Int64Builder, ListBuilder};
use arrow_array::{Int64Array, RecordBatch, StringArray};
use bytes::Bytes;
use marquetry_core::write::{Compression, WriterProperties, WriterVersion};
use proptest::prelude::*;

/// A file of one field, and how it is written.
#[derive(Debug, Clone, Copy)]
struct Written {
    column: Column,
    version: WriterVersion,
    page: usize,
    row_group: usize,
    has_index: bool,
    has_checksums: bool,
}

#[derive(Debug, Clone, Copy)]
enum Column {
    Numbers,
    /// Few different ones, some null.
    Texts,
    Lists,
}

/// So many rows, each its own.
fn file(rows: usize, written: Written) -> Bytes {
    let array: ArrayRef = match written.column {
        Column::Numbers => Arc::new(Int64Array::from_iter_values((0..rows as i64).map(|row| row * row))),
        Column::Texts => Arc::new(StringArray::from_iter(
            (0..rows).map(|row| (row % 5 > 0).then(|| format!("text {}", row * row % 17))),
        )),
        Column::Lists => {
            let mut lists = ListBuilder::new(Int64Builder::new());
            for row in 0..rows as i64 {
                (0..row % 4).for_each(|i| lists.values().append_value(row * 10 + i));
                lists.append(row % 7 > 0);
            }
            Arc::new(lists.finish())
        }
    };
    let batch = RecordBatch::try_from_iter([("column", array)]).unwrap();
    let properties = WriterProperties::builder()
        .set_writer_version(written.version)
        .set_compression(Compression::UNCOMPRESSED)
        .set_data_page_row_count_limit(written.page)
        .set_write_batch_size(written.page)
        .set_max_row_group_row_count(Some(written.row_group))
        .set_offset_index_disabled(!written.has_index)
        .set_page_checksums(written.has_checksums)
        .build();
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    Bytes::from(bytes)
}

fn reader(
    file: &Bytes,
    batch_size: usize,
    offset: usize,
    limit: Option<usize>,
    threads: usize,
) -> Result<ParquetRecordBatchReader> {
    let mut builder = ParquetRecordBatchReaderBuilder::try_new(file.clone())?
        .with_batch_size(batch_size)
        .with_offset(offset)
        .with_threads(threads);
    if let Some(limit) = limit {
        builder = builder.with_limit(limit);
    }
    let mut reader = builder.build()?;
    // So that each stride is a batch.
    reader.pages = 0;
    Ok(reader)
}

/// The batches up to the first error, and that.
fn read(reader: Result<ParquetRecordBatchReader>) -> (Vec<RecordBatch>, Option<String>) {
    let mut batches = Vec::new();
    match reader {
        Ok(mut reader) => loop {
            match reader.next_batch() {
                Some(Ok(batch)) => batches.push(batch),
                Some(Err(error)) => return (batches, Some(error.to_string())),
                None => return (batches, None),
            }
        },
        Err(error) => (batches, Some(error.to_string())),
    }
}

fn written() -> impl Strategy<Value = Written> {
    let column = prop_oneof![Just(Column::Numbers), Just(Column::Texts), Just(Column::Lists)];
    let version = prop_oneof![Just(WriterVersion::PARQUET_1_0), Just(WriterVersion::PARQUET_2_0)];
    (column, version, 1..80usize, 1..400usize, any::<bool>(), any::<bool>()).prop_map(
        |(column, version, page, row_group, has_index, has_checksums)| Written {
            column,
            version,
            page,
            row_group,
            has_index,
            has_checksums,
        },
    )
}

proptest! {
    /// Whole files.
    #[test]
    fn parts_change_nothing(
        written in written(),
        rows in 0..1000usize,
        batch_size in 1..200usize,
        offset in prop_oneof![3 => Just(0), 1 => 0..300usize],
        limit in proptest::option::of(0..1000usize),
        threads in 2..5usize,
    ) {
        let file = file(rows, written);
        let fallback = read(reader(&file, batch_size, offset, limit, 1));
        prop_assert_eq!(&fallback.1, &None);
        prop_assert_eq!(read(reader(&file, batch_size, offset, limit, threads)), fallback);
    }
}

/// Damages each byte of a file, one at a time.
#[test]
fn parts_of_damaged_files_change_nothing() {
    let (mut failed, mut same) = (0, 0);
    for column in [Column::Numbers, Column::Texts, Column::Lists] {
        for version in [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0] {
            for (has_index, has_checksums) in [(true, false), (false, false), (true, true)] {
                let written = Written { column, version, page: 10, row_group: 70, has_index, has_checksums };
                let good = file(100, written);
                for at in 0..good.len() {
                    let mut bad = good.to_vec();
                    bad[at] ^= if at % 2 == 0 { 0xff } else { 0x04 };
                    let bad = Bytes::from(bad);
                    let (batches, error) = read(reader(&bad, 16, 0, None, 1));
                    let (in_parts, same_error) = read(reader(&bad, 16, 0, None, 3));
                    assert_eq!(error, same_error, "{written:?}, byte {at}");
                    assert!(
                        batches == in_parts,
                        "{written:?}, byte {at}: {batches:?}, in parts {in_parts:?}"
                    );
                    (failed, same) =
                        (failed + usize::from(error.is_some()), same + usize::from(error.is_none()));
                }
            }
        }
    }
    assert!(failed > 1000 && same > 1000, "{failed} failed, {same} did not");
}

/// Which columns get several readers.
#[test]
fn only_what_is_too_much_for_one_thread_is_divided() {
    let written = Written {
        column: Column::Numbers,
        version: WriterVersion::PARQUET_1_0,
        page: 10,
        row_group: 500,
        has_index: true,
        has_checksums: false,
    };
    let steps_of = |written: Written, threads: usize, skip: usize| {
        let builder = ParquetRecordBatchReaderBuilder::try_new(file(1000, written)).unwrap();
        let metadata = builder.metadata().clone();
        let reader = builder.build().unwrap();
        let batches = BatchGrid { skip, rows: 1000, size: 100 };
        plan_columns(&reader.roots, &metadata, ColumnPlan { batches, threads, pages: 0, ahead: None })
    };
    let readers = |schedules: Vec<ColumnSchedule>| {
        schedules.iter().map(|schedule| schedule.readers).collect::<Vec<_>>()
    };
    assert_eq!(readers(steps_of(written, 1, 0)), [1]);
    assert_eq!(readers(steps_of(written, 3, 0)), [3]);
    assert_eq!(readers(steps_of(written, 3, 1)), [1]);
    let lists = Written { column: Column::Lists, ..written };
    assert_eq!(readers(steps_of(lists, 3, 0)), [3]);
    assert_eq!(readers(steps_of(Written { has_index: false, ..lists }, 3, 0)), [1]);
}
