//! Files that are written by waiting: the bytes of `ArrowWriter`, and nothing that could be taken for a file after a failure.

use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use bytes::Bytes;
use futures::FutureExt;
use futures::executor::block_on;
use futures::future::BoxFuture;
use marquetry_arrow::arrow_writer::{ArrowWriter, compute_leaves};
use marquetry_arrow::async_writer::{AsyncArrowWriter, AsyncSink, BlockingTask};
use marquetry_base::{Error, ErrorKind, Result};
use marquetry_core::write::{KeyValue, WriterProperties};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::Poll;

fn batch(number: u64, rows: u64) -> RecordBatch {
    let mixed = |i: u64| (i + number * rows).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let id: ArrayRef = Arc::new(Int64Array::from_iter_values((0..rows).map(|i| mixed(i) as i64)));
    let text: ArrayRef =
        Arc::new(StringArray::from_iter((0..rows).map(|i| (i % 7 > 0).then(|| format!("{:x}", mixed(i))))));
    RecordBatch::try_from_iter([("id", id), ("text", text)]).unwrap()
}

fn batches() -> Vec<RecordBatch> {
    (0..8).map(|number| batch(number, 20_000)).collect()
}

fn by_writer(properties: &WriterProperties) -> Vec<u8> {
    let batches = batches();
    let mut writer = ArrowWriter::try_new(Vec::new(), batches[0].schema(), Some(properties.clone())).unwrap();
    batches.iter().for_each(|batch| writer.write(batch).unwrap());
    writer.into_inner().unwrap()
}

/// A thread for each task, as a host may have it.
fn on_a_thread(task: BlockingTask) -> BoxFuture<'static, ()> {
    let (sender, receiver) = futures::channel::oneshot::channel();
    std::thread::spawn(move || {
        task();
        let _ = sender.send(());
    });
    receiver.map(drop).boxed()
}

/// What others see of a sink.
#[derive(Debug, Default)]
struct Seen {
    bytes: Vec<u8>,
    largest: usize,
    completed: bool,
    aborted: bool,
    dropped: bool,
}

/// Is ready only the second time that it is asked, and fails when it has had so many bytes.
struct Slow {
    seen: Arc<Mutex<Seen>>,
    fails_at: usize,
}

impl Slow {
    fn new(fails_at: usize) -> (Self, Arc<Mutex<Seen>>) {
        let seen = Arc::new(Mutex::new(Seen::default()));
        (Slow { seen: seen.clone(), fails_at }, seen)
    }
}

async fn once_more() {
    let mut asked = false;
    std::future::poll_fn(move |context| {
        if std::mem::replace(&mut asked, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

impl AsyncSink for Slow {
    fn write(&mut self, bytes: Bytes) -> BoxFuture<'_, Result<()>> {
        async move {
            once_more().await;
            let mut seen = self.seen.lock().unwrap();
            seen.bytes.extend_from_slice(&bytes);
            seen.largest = seen.largest.max(bytes.len());
            match seen.bytes.len() > self.fails_at {
                true => Err(Error::new(ErrorKind::Io, "the sink is full")),
                false => Ok(()),
            }
        }
        .boxed()
    }

    fn complete(&mut self) -> BoxFuture<'_, Result<()>> {
        async move {
            once_more().await;
            self.seen.lock().unwrap().completed = true;
            Ok(())
        }
        .boxed()
    }

    fn abort(&mut self) -> BoxFuture<'_, Result<()>> {
        self.seen.lock().unwrap().aborted = true;
        async { Ok(()) }.boxed()
    }
}

impl Drop for Slow {
    fn drop(&mut self) {
        self.seen.lock().unwrap().dropped = true;
    }
}

#[test]
fn the_bytes_are_those_of_the_other_writer() {
    let new = || WriterProperties::builder().set_max_row_group_row_count(Some(50_000));
    let all = [
        new().build(),
        new().set_bloom_filter_enabled(true).set_threads(2).build(),
        WriterProperties::builder().set_memory_limit(Some(1 << 20)).build(),
        new().set_checkpoint_every(Some(marquetry_core::write::CheckpointEvery::RowGroups(1))).build(),
    ];
    for properties in all {
        let expected = by_writer(&properties);
        for has_tasks in [false, true] {
            let (sink, seen) = Slow::new(usize::MAX);
            let tasks = Arc::new(AtomicUsize::new(0));
            block_on(async {
                let batches = batches();
                let mut writer =
                    AsyncArrowWriter::try_new(sink, batches[0].schema(), Some(properties.clone())).unwrap();
                if has_tasks {
                    let tasks = tasks.clone();
                    writer = writer.with_blocking_tasks(move |task| {
                        tasks.fetch_add(1, Ordering::Relaxed);
                        on_a_thread(task)
                    });
                }
                for batch in &batches {
                    writer.write(batch).await.unwrap();
                    assert!(!seen.lock().unwrap().completed);
                }
                let metadata = writer.finish().await.unwrap();
                assert_eq!(metadata.num_rows(), 160_000);
                assert_eq!(writer.bytes_written(), expected.len() as u64);
                assert!(writer.write(&batches[0]).await.unwrap_err().message().contains("is finished"));
                let pair = KeyValue { key: "late".into(), value: None };
                assert!(writer.append_key_value_metadata(pair).is_err());
            });
            let seen = seen.lock().unwrap();
            assert!(seen.bytes == expected && seen.completed && !seen.aborted);
            // A piece is a page or a block, never a row group.
            assert!(seen.largest <= 2 << 20, "{}", seen.largest);
            assert_eq!(tasks.load(Ordering::Relaxed) > 0, has_tasks);
        }
    }
}

#[test]
fn chunks_of_a_host_go_to_the_sink() {
    let rows = batch(0, 1000);
    block_on(async {
        let mut writer = AsyncArrowWriter::try_new(Vec::new(), rows.schema(), None).unwrap();
        let factory = writer.row_group_writer_factory().unwrap();
        let mut chunks = Vec::new();
        let schema = rows.schema();
        let leaves = schema.fields().iter().zip(rows.columns());
        let leaves = leaves.flat_map(|(field, array)| compute_leaves(field, array).unwrap());
        for (mut column, leaf) in factory.create_column_writers(0).unwrap().into_iter().zip(leaves) {
            column.write(&leaf).unwrap();
            chunks.push(column.close().unwrap());
        }
        writer.append_row_group(chunks).await.unwrap();
        assert_eq!(writer.flushed_row_groups().len(), 1);
        let (file, _) = writer.into_parts().await.unwrap();
        let mut other = ArrowWriter::try_new(Vec::new(), rows.schema(), None).unwrap();
        other.write(&rows).unwrap();
        assert!(file == other.into_inner().unwrap());
    });
}

#[test]
fn a_failing_sink_ends_the_file() {
    for fails_at in [0, 4, 100_000] {
        let (sink, seen) = Slow::new(fails_at);
        block_on(async {
            let properties = WriterProperties::builder().set_max_row_group_row_count(Some(20_000)).build();
            let batches = batches();
            let mut writer = AsyncArrowWriter::try_new(sink, batches[0].schema(), Some(properties)).unwrap();
            let mut failed = None;
            for batch in &batches {
                if let Err(error) = writer.write(batch).await {
                    failed = Some(error);
                    break;
                }
            }
            assert_eq!(failed.unwrap().message(), "the sink is full");
            let error = writer.finish().await.unwrap_err();
            assert!(error.message().contains("failed or was given up before"), "{error}");
            writer.abort().await.unwrap();
        });
        let seen = seen.lock().unwrap();
        assert!(!seen.completed && seen.aborted);
    }
}

#[test]
fn a_dropped_future_ends_the_file() {
    for has_tasks in [false, true] {
        let (sink, seen) = Slow::new(usize::MAX);
        block_on(async {
            let properties = WriterProperties::builder().set_max_row_group_row_count(Some(20_000)).build();
            let rows = batch(0, 20_000);
            let mut writer = AsyncArrowWriter::try_new(sink, rows.schema(), Some(properties)).unwrap();
            if has_tasks {
                writer = writer.with_blocking_tasks(on_a_thread);
            }
            // Polled once, and dropped.
            assert!(writer.write(&rows).now_or_never().is_none());
            for error in [writer.write(&rows).await.unwrap_err(), writer.finish().await.unwrap_err()] {
                assert!(error.message().contains("given up before"), "{error}");
            }
            drop(writer);
        });
        let seen = seen.lock().unwrap();
        assert!(!seen.completed && seen.dropped);
    }
}

#[test]
fn a_task_that_is_not_run_is_an_error() {
    block_on(async {
        let rows = batch(0, 10);
        let mut writer = AsyncArrowWriter::try_new(Vec::new(), rows.schema(), None)
            .unwrap()
            .with_blocking_tasks(|_| async {}.boxed());
        let error = writer.write(&rows).await.unwrap_err();
        assert_eq!(error.message(), "a task of the writer was not run");
        assert!(writer.close().await.is_err());
    });
}
