//! Tables that are written at once: as small in memory as their largest column, and the same file as batch by batch.

use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use marquetry_arrow::arrow_writer::ArrowWriter;
use marquetry_base::ErrorKind;
use marquetry_core::write::{Compression, Encoding, WriterProperties};
use std::io::{self, Write};
use std::sync::Arc;

/// Many columns of numbers that do not compress.
fn numbers(columns: usize, rows: i64) -> RecordBatch {
    let column = |c: usize| {
        let mix = |i: i64| i.wrapping_add(c as i64).wrapping_mul(0x9E37_79B9_7F4A_7C15_u64 as i64);
        Arc::new(Int64Array::from_iter_values((0..rows).map(mix))) as ArrayRef
    };
    RecordBatch::try_from_iter((0..columns).map(|c| (format!("c{c}"), column(c)))).unwrap()
}

fn properties(threads: usize) -> WriterProperties {
    WriterProperties::builder().set_compression(Compression::UNCOMPRESSED).set_threads(threads).build()
}

#[test]
fn passes_of_long_rows_end_where_they_end_batch_by_batch() {
    // Rows of some 2 KB: a pass of `write` has as many as fit into 64 MiB, which is not a number of whole blocks.
    let texts = (0..40_000).map(|i| format!("{i:x}").repeat(2_000 / format!("{i:x}").len()));
    let texts: ArrayRef = Arc::new(StringArray::from_iter_values(texts));
    let batch = RecordBatch::try_from_iter([("text", texts)]).unwrap();
    let mut one = ArrowWriter::try_new(Vec::new(), batch.schema(), None).unwrap();
    one.write(&batch).unwrap();
    let mut other = ArrowWriter::try_new(Vec::new(), batch.schema(), None).unwrap();
    other.write_table(&[batch]).unwrap();
    assert!(one.into_inner().unwrap() == other.into_inner().unwrap());
}

#[test]
fn memory_holds_some_columns_and_not_all() {
    let batch = numbers(40, 50_000);
    let peak = |threads, at_once: bool| {
        let mut writer = ArrowWriter::try_new(io::sink(), batch.schema(), Some(properties(threads))).unwrap();
        match at_once {
            true => writer.write_table(std::slice::from_ref(&batch)).unwrap(),
            false => writer.write(&batch).unwrap(),
        }
        writer.finish().unwrap();
        writer.metrics().peak_memory as usize
    };
    let column = 50_000 * 8;
    assert!(peak(1, false) > 40 * column);
    // Page by page.
    assert!(peak(1, true) < 2 * column, "{}", peak(1, true));
}

#[test]
fn a_column_that_leaves_its_dictionary_goes_into_the_file_from_then_on() {
    let texts: ArrayRef = Arc::new(StringArray::from_iter_values((0..300_000).map(|i| format!("{i:015x}"))));
    let batch = RecordBatch::try_from_iter([("text", texts)]).unwrap();
    let properties = properties(1)
        .into_builder()
        .set_dictionary_enabled(true)
        .set_encoding(Encoding::PLAIN)
        .set_dictionary_page_size_limit(64 << 10)
        .build();
    let file = |at_once: bool| {
        let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties.clone())).unwrap();
        match at_once {
            true => writer.write_table(std::slice::from_ref(&batch)).unwrap(),
            false => writer.write(&batch).unwrap(),
        }
        let metadata = writer.finish().unwrap();
        (metadata, writer.metrics().peak_memory as usize, writer.into_sink())
    };
    let ((metadata, held, bytes), (_, little, same)) = (file(false), file(true));
    assert!(bytes == same);
    let chunk = metadata.row_group(0).column(0).unwrap();
    assert!(chunk.dictionary_page_offset().is_some() && held > chunk.compressed_size() as usize);
    assert!(little < held / 2, "{little} of {held}");
}

#[test]
fn row_groups_have_as_many_rows_as_the_properties_say() {
    let batch = numbers(3, 1_000);
    let properties = properties(2).into_builder().set_max_row_group_row_count(Some(700)).build();
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties)).unwrap();
    writer.write(&batch.slice(0, 10)).unwrap();
    writer.write_table(&[batch.slice(0, 300), batch.clone(), batch.slice(5, 100)]).unwrap();
    writer.write_table(&[]).unwrap();
    writer.write(&batch.slice(0, 20)).unwrap();
    let rows: Vec<_> = writer.close().unwrap().row_groups().map(|group| group.num_rows()).collect();
    assert_eq!(rows, [10, 700, 700, 20]);
}

#[test]
fn a_sink_that_fails_is_an_error_and_ends_the_writer() {
    /// Takes so many bytes.
    struct Full(usize);

    impl Write for Full {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 = self.0.checked_sub(bytes.len()).ok_or(io::ErrorKind::StorageFull)?;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    let batch = numbers(4, 50_000);
    for threads in [1, 3] {
        let mut writer =
            ArrowWriter::try_new(Full(1_000_000), batch.schema(), Some(properties(threads))).unwrap();
        let error = writer.write_table(std::slice::from_ref(&batch)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Io);
        // Two columns of 400,000 bytes fit.
        assert_eq!((error.place().row_group, error.place().column.as_deref()), (Some(0), Some("c2")));
        assert_eq!(writer.write_table(std::slice::from_ref(&batch)).unwrap_err().kind(), ErrorKind::Argument);
        assert!(writer.finish().is_err());
    }
}
