//! The asynchronous writer of record batches.

use super::sink::AsyncSink;
use super::task::{BlockingTask, Tasks};
use crate::arrow_writer::{ArrowColumnChunk, ArrowRowGroupWriterFactory, ArrowWriter};
use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use futures_core::future::BoxFuture;
use marquetry_base::{Error, Result, Stopwatch};
use marquetry_core::metadata::ParquetMetaData;
use marquetry_core::metrics::{WriteCounters, WriteMetrics};
use marquetry_core::source::Source;
use marquetry_core::write::{ByteQueue, EncodingDecision, KeyValue, WriterProperties};
use marquetry_format::RowGroup;
use std::sync::Arc;

/// Writes record batches as a Parquet file to an [`AsyncSink`]. The bytes are those of an
/// [`ArrowWriter`] with the same batches and properties. The [module](super) has an example.
///
/// The file is there once [`close`](Self::close) or [`finish`](Self::finish) is ready, and not before.
///
/// [Checkpoints](marquetry_core::write::WriterPropertiesBuilder::set_checkpoint_every) are written if they are asked for, but
/// where nothing can be seen before the end they save nothing.
#[must_use = "the file is complete once the writer is closed"]
pub struct AsyncArrowWriter<S: AsyncSink> {
    /// Not there while a task has it, and once the file is finished.
    writer: Option<ArrowWriter<ByteQueue>>,
    sink: S,
    tasks: Tasks,
    bytes_written: u64,
    counters: Arc<WriteCounters>,
    is_finished: bool,
    /// An error, or a future that was dropped.
    failed: bool,
}

impl<S: AsyncSink> AsyncArrowWriter<S> {
    /// Begins a file of batches of `arrow_schema` in `sink`; without `properties` with the default ones. Nothing is given to
    /// the sink yet.
    ///
    /// Fails if Parquet cannot store a column, or a property does not fit the schema.
    pub fn try_new(sink: S, arrow_schema: SchemaRef, properties: Option<WriterProperties>) -> Result<Self> {
        let writer = ArrowWriter::queued(arrow_schema, properties)?;
        Ok(AsyncArrowWriter {
            counters: writer.counters().clone(),
            writer: Some(writer),
            sink,
            tasks: Tasks::default(),
            bytes_written: 0,
            is_finished: false,
            failed: false,
        })
    }

    /// Where encoding, compressing and reading what was spilled is done. By default it is the thread that polls, which that keeps
    /// busy for a while whenever enough rows have come together.
    ///
    /// `run` must run each task once, and its future must be ready when the task has run. With tokio:
    ///
    /// ```
    /// # use marquetry_arrow::async_writer::AsyncArrowWriter;
    /// # use std::sync::Arc;
    /// # let schema = Arc::new(arrow_schema::Schema::empty());
    /// # mod tokio { pub mod task { pub async fn spawn_blocking(task: Box<dyn FnOnce() + Send>) { task() } } }
    /// let writer = AsyncArrowWriter::try_new(Vec::new(), schema, None)?
    ///     .with_blocking_tasks(|task| Box::pin(async { drop(tokio::task::spawn_blocking(task).await) }));
    /// # drop(writer);
    /// # Ok::<(), marquetry_base::Error>(())
    /// ```
    ///
    /// Threads that encode columns side by side are another matter: see
    /// [`set_threads`](marquetry_core::write::WriterPropertiesBuilder::set_threads), and for those of the host
    /// [`row_group_writer_factory`](Self::row_group_writer_factory).
    pub fn with_blocking_tasks(
        mut self,
        run: impl Fn(BlockingTask) -> BoxFuture<'static, ()> + Send + Sync + 'static,
    ) -> Self {
        self.tasks = Tasks::new(run);
        self
    }

    /// Appends the rows of `batch`, whose columns must be those of the schema, and gives the sink what has come to its end.
    ///
    /// After an error, or if the future is dropped before it is ready, the writer is of no further use.
    pub async fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        let batch = batch.clone();
        self.step(move |writer| writer.write(&batch)).await
    }

    /// Ends the row group, if it has rows, and gives it to the sink.
    pub async fn flush(&mut self) -> Result<()> {
        self.step(ArrowWriter::flush).await
    }

    /// As [`flush`](Self::flush), and gives back the memory that is kept for the next row group, which then takes somewhat longer: for a
    /// writer that waits for others.
    pub async fn flush_and_shrink(&mut self) -> Result<()> {
        let flushed = |writer: &mut ArrowWriter<ByteQueue>| writer.flush().map(|()| writer.shrink());
        self.step(flushed).await
    }

    /// Makes the writers of columns of row groups that others fill, on any thread; their chunks are
    /// [appended](Self::append_row_group).
    pub fn row_group_writer_factory(&self) -> Result<ArrowRowGroupWriterFactory> {
        Ok(self.writer()?.row_group_writer_factory())
    }

    /// As [`ArrowWriter::append_row_group`].
    pub async fn append_row_group(&mut self, chunks: Vec<ArrowColumnChunk>) -> Result<()> {
        self.step(move |writer| writer.append_row_group(chunks)).await
    }

    /// As [`ArrowWriter::append_copied`]. The pages are read from `source` as the sink takes them.
    pub async fn append_copied(
        &mut self,
        source: &Arc<dyn Source>,
        metadata: &Arc<ParquetMetaData>,
        row_group: usize,
    ) -> Result<()> {
        let (source, metadata) = (source.clone(), metadata.clone());
        self.step(move |writer| writer.append_copied(&source, &metadata, row_group)).await
    }

    /// Writes what is left and the footer, completes the sink, and says what the footer says.
    pub async fn close(mut self) -> Result<ParquetMetaData> {
        self.finish().await
    }

    /// As [`close`](Self::close), for a writer that is asked something afterwards. Nothing more can be written.
    pub async fn finish(&mut self) -> Result<ParquetMetaData> {
        self.check_usable()?;
        self.failed = true;
        let writer = self.writer.take().ok_or_else(gone)?;
        let (writer, ended) = self.tasks.run(writer, with_queue(ArrowWriter::finish)).await?;
        self.writer = Some(writer);
        let (metadata, queue) = ended?;
        self.drain(queue).await?;
        let start = Stopwatch::start();
        self.sink.complete().await?;
        self.counters.synced(start);
        (self.failed, self.is_finished) = (false, true);
        Ok(metadata)
    }

    /// As [`close`](Self::close), but gives the sink back as well.
    pub async fn into_parts(mut self) -> Result<(S, ParquetMetaData)> {
        let metadata = self.finish().await?;
        Ok((self.sink, metadata))
    }

    /// Gives the file up: the sink removes what was written. Dropping the writer does the same as far as that can be done
    /// without waiting.
    pub async fn abort(mut self) -> Result<()> {
        self.sink.abort().await
    }

    /// Has the writer do something, and the sink take what came of it.
    async fn step(
        &mut self,
        work: impl FnOnce(&mut ArrowWriter<ByteQueue>) -> Result<()> + Send + 'static,
    ) -> Result<()> {
        self.check_usable()?;
        // Until all is done: this future may be dropped wherever it waits.
        self.failed = true;
        let writer = self.writer.take().ok_or_else(gone)?;
        let (writer, done) = self.tasks.run(writer, with_queue(work)).await?;
        self.writer = Some(writer);
        let ((), queue) = done?;
        self.drain(queue).await?;
        self.failed = false;
        Ok(())
    }

    async fn drain(&mut self, mut queue: ByteQueue) -> Result<()> {
        while !queue.is_empty() {
            let (rest, pieces) = self.tasks.run(queue, pieces).await?;
            queue = rest;
            let start = Stopwatch::start();
            for piece in pieces? {
                let len = piece.len() as u64;
                self.sink.write(piece).await?;
                self.bytes_written += len;
            }
            self.counters.waited(start);
        }
        // What the queue held is the sink's now.
        self.writer.as_mut().map_or(Ok(()), ArrowWriter::note_memory)
    }

    /// Adds a pair to the file's key-value metadata. Fails once the file is finished, or given up.
    pub fn append_key_value_metadata(&mut self, pair: KeyValue) -> Result<()> {
        self.check_usable()?;
        self.writer.as_mut().ok_or_else(gone)?.append_key_value_metadata(pair)
    }

    /// About how many bytes the row group that is being filled would have in the file.
    pub fn in_progress_size(&self) -> usize {
        self.writer.as_ref().map_or(0, ArrowWriter::in_progress_size)
    }

    /// How many rows the row group that is being filled has.
    pub fn in_progress_rows(&self) -> usize {
        self.writer.as_ref().map_or(0, ArrowWriter::in_progress_rows)
    }

    /// How many bytes the writer holds in memory, without those that the sink holds.
    pub fn memory_size(&self) -> usize {
        self.writer.as_ref().map_or(0, ArrowWriter::memory_size)
    }

    /// How many bytes the sink has taken.
    pub fn bytes_written(&self) -> u64 {
        self.bytes_written
    }

    /// What writing has cost so far: bytes, pages, times, memory; waiting for the sink is in
    /// [`sink_time`](WriteMetrics::sink_time), for its end in [`sync_time`](WriteMetrics::sync_time).
    pub fn metrics(&self) -> WriteMetrics {
        self.counters.snapshot()
    }

    /// Where that is counted: for who asks when the writer is gone.
    pub fn counters(&self) -> &Arc<WriteCounters> {
        &self.counters
    }

    /// The row groups that the sink has.
    pub fn flushed_row_groups(&self) -> &[RowGroup] {
        self.writer.as_ref().map_or(&[], ArrowWriter::flushed_row_groups)
    }

    /// For each column, how the encoding of its latest chunk was chosen.
    pub fn choices(&self) -> &[EncodingDecision] {
        self.writer.as_ref().map_or(&[], ArrowWriter::choices)
    }

    /// The sink. Writing to it spoils the file.
    pub fn inner(&self) -> &S {
        &self.sink
    }

    fn writer(&self) -> Result<&ArrowWriter<ByteQueue>> {
        self.check_usable()?;
        self.writer.as_ref().ok_or_else(gone)
    }

    fn check_usable(&self) -> Result<()> {
        match (self.is_finished, self.failed) {
            (true, _) => Err(Error::argument("the file is finished")),
            (false, true) => {
                Err(Error::argument("writing failed or was given up before; the file cannot be finished"))
            }
            (false, false) => Ok(()),
        }
    }
}

/// Does `work`, and takes what it has written.
fn with_queue<T>(
    work: impl FnOnce(&mut ArrowWriter<ByteQueue>) -> Result<T> + Send + 'static,
) -> impl FnOnce(&mut ArrowWriter<ByteQueue>) -> Result<(T, ByteQueue)> + Send + 'static {
    move |writer| {
        let done = work(writer)?;
        Ok((done, std::mem::take(writer.sink_mut())))
    }
}

/// The next pieces of the queue: a few megabytes.
fn pieces(queue: &mut ByteQueue) -> Result<Vec<bytes::Bytes>> {
    let (mut pieces, mut len) = (Vec::new(), 0);
    while len < TAKEN
        && let Some(piece) = queue.take_piece()?
    {
        len += piece.len();
        pieces.extend(Some(piece).filter(|piece| !piece.is_empty()));
    }
    Ok(pieces)
}

#[cold]
fn gone() -> Error {
    Error::argument("the file is finished")
}

impl<S: AsyncSink> std::fmt::Debug for AsyncArrowWriter<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AsyncArrowWriter").field("bytes_written", &self.bytes_written).finish_non_exhaustive()
    }
}

/// Bytes that are taken of a queue at a time.
const TAKEN: usize = 4 << 20;
