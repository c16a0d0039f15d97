//! The table of calls in `marquetry::porting`: those of writers and streams that wait, and of object stores. They are compiled; what
//! they write and read is tested elsewhere.

use crate::porting::wines;
use arrow_array::{ArrayRef, Int32Array, RecordBatch};
use bytes::Bytes;
use marquetry::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use marquetry::errors::Result;
use std::sync::Arc;

/// Compiled where there are sinks; what they get is tested elsewhere.
#[test]
fn asynchronous_writers_are_those_that_wait() {
    use marquetry::arrow::AsyncArrowWriter;
    use marquetry::arrow::async_writer::AsyncSink;
    async fn written<S: AsyncSink>(mut sink: S, batch: RecordBatch) -> Result<u64> {
        // What a sink is asked for; `complete` and `abort` are its last calls.
        AsyncSink::write(&mut sink, Bytes::new()).await?;
        let mut writer = AsyncArrowWriter::try_new(sink, batch.schema(), None)?;
        writer.write(&batch).await?;
        writer.flush().await?;
        assert_eq!(writer.in_progress_size(), 0);
        Ok(writer.close().await?.num_rows())
    }
    let column: ArrayRef = Arc::new(Int32Array::from(vec![1]));
    drop(written(Vec::new(), RecordBatch::try_from_iter([("id", column)]).unwrap()));
}

/// Compiled where there are streams; that they read what readers read is tested elsewhere.
#[test]
fn streams_are_built_as_readers_are() {
    use marquetry::arrow::ParquetRecordBatchStreamBuilder;
    use marquetry::arrow::async_reader::{AsyncSource, CoalesceOptions};
    async fn rows_of<S: AsyncSource + Unpin + 'static>(input: S) -> Result<u64> {
        let options = ArrowReaderOptions::new().with_footer_size_hint(1 << 20);
        let metadata = ArrowReaderMetadata::load_async(&input, options).await?;
        let version = input.read_tail(8).await?.version;
        let ranges = std::iter::once(0..4).collect();
        assert_eq!(AsyncSource::read_ranges(&input, &version, ranges).await?, ["PAR1"]);
        let mut stream = ParquetRecordBatchStreamBuilder::new_with_metadata(input, metadata)
            .with_row_groups(vec![0, 1])
            .with_request_cost(CoalesceOptions::new(1 << 20, 8 << 20))
            .build()?;
        let rows = stream.next_row_group().await?.expect("a row group");
        assert_eq!(rows.row_group(), 0);
        Ok(stream.schema().fields().len() as u64)
    }
    drop(rows_of(wines()));
}

#[cfg(feature = "object_store")]
#[test]
fn objects_are_made_of_stores() {
    use marquetry::object_store::{ObjectFile, ObjectSink};
    let _ = |store, path| ObjectFile::new(store, path);
    let _ = |store, path, n, m| ObjectSink::new(store, path).with_part_bytes(n).with_parts_at_once(m);
}
