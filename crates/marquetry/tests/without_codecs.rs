//! A build without codecs, files of this machine, threads and clocks reads and writes what needs none of them, and says what it lacks.
#![cfg(not(any(feature = "zstd", feature = "zstd-rust")))]

use arrow_array::{ArrayRef, Int64Array, RecordBatch};
use bytes::Bytes;
use marquetry::arrow::ArrowWriter;
use marquetry::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use marquetry::basic::{Compression, ZstdLevel};
use marquetry::errors::{ErrorKind, Result};
use marquetry::file::properties::WriterProperties;
use marquetry::predicate::Predicate;
use std::sync::Arc;

fn written(compression: Compression) -> Result<Bytes> {
    let column: ArrayRef = Arc::new(Int64Array::from_iter_values((0..50_000).map(|i| i % 1_000)));
    let batch = RecordBatch::try_from_iter([("id", column)]).unwrap();
    let properties = WriterProperties::builder().set_compression(compression).set_threads(3).build();
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties))?;
    writer.write(&batch)?;
    Ok(writer.into_inner()?.into())
}

#[test]
fn what_is_not_compressed_is_written_and_read() -> Result<()> {
    let file = written(Compression::UNCOMPRESSED)?;
    for (predicate, expected) in [("id >= 0", 50_000), ("id in (3, 7)", 100)] {
        let builder = ParquetRecordBatchReaderBuilder::try_new(file.clone())?.with_threads(3);
        let mut reader = builder.with_predicate(Predicate::parse(predicate)?).build()?;
        let rows: usize = reader.by_ref().map(|batch| batch.unwrap().num_rows()).sum();
        assert_eq!((rows, reader.metrics().rows), (expected, expected as u64), "{predicate}");
    }
    Ok(())
}

#[test]
fn a_codec_that_is_not_there_is_named() -> Result<()> {
    let error = written(Compression::ZSTD(ZstdLevel::try_new(1)?)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
    assert!(error.to_string().contains("turn on the feature \"zstd\""), "{error}");
    // Its footer is read, its pages are not.
    let wines = Bytes::from_static(include_bytes!("../../../examples/wines.parquet"));
    let mut reader = ParquetRecordBatchReaderBuilder::try_new(wines)?.build()?;
    let error = reader.next_batch().unwrap().unwrap_err();
    assert!(error.to_string().contains("turn on the feature \"zstd\", or \"zstd-rust\""), "{error}");
    Ok(())
}
