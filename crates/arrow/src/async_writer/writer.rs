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

/// Writes record batches as a Parquet file to an [`AsyncSink`]. The bytes equal those of an [`ArrowWriter`] with the
/// same batches and properties. The [module](super) has an example.
///
/// The file exists once the future of [`close`](Self::close) or [`finish`](Self::finish) is ready, and not before.
///
/// [Checkpoints](marquetry_core::write::WriterPropertiesBuilder::set_checkpoint_every) are written if they are set, but
/// save nothing if the sink shows nothing before its end.
#[must_use = "the file is complete once the writer is closed"]
pub struct AsyncArrowWriter<S: AsyncSink> {
    /// `None` while a task has it.
    writer: Option<ArrowWriter<ByteQueue>>,
    sink: S,
    tasks: Tasks,
    bytes_written: u64,
    counters: Arc<WriteCounters>,
    is_finished: bool,
    /// Set by an error, or if a future was dropped.
    failed: bool,
}

impl<S: AsyncSink> AsyncArrowWriter<S> {
    /// Creates a file in `sink` for batches of `arrow_schema`. Without `properties` it has the default ones. Nothing is
    /// written to the sink yet.
    ///
    /// Fails if Parquet cannot store a column, or if a property does not fit the schema.
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

    /// Sets where to run encoding, compression and reads of spilled pages. The default is the thread that polls, which
    /// is busy for a while whenever enough rows are buffered.
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
    /// This does not set the threads that encode columns side by side: see
    /// [`set_threads`](marquetry_core::write::WriterPropertiesBuilder::set_threads), or
    /// [`row_group_writer_factory`](Self::row_group_writer_factory) for threads of the host.
    pub fn with_blocking_tasks(
        mut self,
        run: impl Fn(BlockingTask) -> BoxFuture<'static, ()> + Send + Sync + 'static,
    ) -> Self {
        self.tasks = Tasks::new(run);
        self
    }

    /// Appends the rows of `batch`, whose columns must be those of the schema, and writes finished bytes to the sink.
    ///
    /// After an error, or if the future is dropped before it is ready, the writer cannot be used any more.
    pub async fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        let batch = batch.clone();
        self.step(move |writer| writer.write(&batch)).await
    }

    /// Ends the row group, if it has rows, and writes it to the sink.
    pub async fn flush(&mut self) -> Result<()> {
        self.step(ArrowWriter::flush).await
    }

    /// Like [`flush`](Self::flush), and frees the memory that is kept for the next row group, which then takes somewhat
    /// longer to write. For a writer that is idle.
    pub async fn flush_and_shrink(&mut self) -> Result<()> {
        let flushed = |writer: &mut ArrowWriter<ByteQueue>| writer.flush().map(|()| writer.shrink());
        self.step(flushed).await
    }

    /// Returns a factory of column writers, for row groups that the host fills on any thread.
    /// [Append](Self::append_row_group) their chunks.
    pub fn row_group_writer_factory(&self) -> Result<ArrowRowGroupWriterFactory> {
        Ok(self.writer()?.row_group_writer_factory())
    }

    /// Does what [`ArrowWriter::append_row_group`] does.
    pub async fn append_row_group(&mut self, chunks: Vec<ArrowColumnChunk>) -> Result<()> {
        self.step(move |writer| writer.append_row_group(chunks)).await
    }

    /// Does what [`ArrowWriter::append_copied`] does. Pages are read from `source` as the sink takes them.
    pub async fn append_copied(
        &mut self,
        source: &Arc<dyn Source>,
        metadata: &Arc<ParquetMetaData>,
        row_group: usize,
    ) -> Result<()> {
        let (source, metadata) = (source.clone(), metadata.clone());
        self.step(move |writer| writer.append_copied(&source, &metadata, row_group)).await
    }

    /// Writes the remaining rows and the footer, completes the sink, and returns the footer's metadata.
    pub async fn close(mut self) -> Result<ParquetMetaData> {
        self.finish().await
    }

    /// Like [`close`](Self::close), but keeps the writer, so that its metrics can be read. Nothing more can be written.
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

    /// Like [`close`](Self::close), but returns the sink as well.
    pub async fn into_parts(mut self) -> Result<(S, ParquetMetaData)> {
        let metadata = self.finish().await?;
        Ok((self.sink, metadata))
    }

    /// Aborts the file: the sink removes what was written. Dropping the writer does the same, as far as that is
    /// possible without waiting.
    pub async fn abort(mut self) -> Result<()> {
        self.sink.abort().await
    }

    /// Runs `work` on the writer, and writes the resulting bytes to the sink.
    async fn step(
        &mut self,
        work: impl FnOnce(&mut ArrowWriter<ByteQueue>) -> Result<()> + Send + 'static,
    ) -> Result<()> {
        self.check_usable()?;
        // Until all is done: this future may be dropped at any point where it waits.
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
        // The sink owns the queued bytes now.
        self.writer.as_mut().map_or(Ok(()), ArrowWriter::note_memory)
    }

    /// Adds a pair to the file's key-value metadata. Fails once the file is finished or failed.
    pub fn append_key_value_metadata(&mut self, pair: KeyValue) -> Result<()> {
        self.check_usable()?;
        self.writer.as_mut().ok_or_else(gone)?.append_key_value_metadata(pair)
    }

    /// Returns about how many bytes the current row group would have in the file.
    pub fn in_progress_size(&self) -> usize {
        self.writer.as_ref().map_or(0, ArrowWriter::in_progress_size)
    }

    /// Returns how many rows the current row group has.
    pub fn in_progress_rows(&self) -> usize {
        self.writer.as_ref().map_or(0, ArrowWriter::in_progress_rows)
    }

    /// Returns how many bytes the writer holds in memory, without those that the sink holds.
    pub fn memory_size(&self) -> usize {
        self.writer.as_ref().map_or(0, ArrowWriter::memory_size)
    }

    /// Returns how many bytes the sink has taken.
    pub fn bytes_written(&self) -> u64 {
        self.bytes_written
    }

    /// Returns what writing has cost so far: bytes, pages, times, memory. Waiting for the sink counts in
    /// [`sink_time`](WriteMetrics::sink_time), waiting for its end in [`sync_time`](WriteMetrics::sync_time).
    pub fn metrics(&self) -> WriteMetrics {
        self.counters.snapshot()
    }

    /// Returns the counters behind [`metrics`](Self::metrics), which outlive the writer.
    pub fn counters(&self) -> &Arc<WriteCounters> {
        &self.counters
    }

    /// Returns the row groups that were written to the sink.
    pub fn flushed_row_groups(&self) -> &[RowGroup] {
        self.writer.as_ref().map_or(&[], ArrowWriter::flushed_row_groups)
    }

    /// Returns for each column how the encoding of its latest chunk was chosen.
    pub fn choices(&self) -> &[EncodingDecision] {
        self.writer.as_ref().map_or(&[], ArrowWriter::choices)
    }

    /// Returns the sink. Writing to it corrupts the file.
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

/// Runs `work`, and takes the bytes that it wrote.
fn with_queue<T>(
    work: impl FnOnce(&mut ArrowWriter<ByteQueue>) -> Result<T> + Send + 'static,
) -> impl FnOnce(&mut ArrowWriter<ByteQueue>) -> Result<(T, ByteQueue)> + Send + 'static {
    move |writer| {
        let done = work(writer)?;
        Ok((done, std::mem::take(writer.sink_mut())))
    }
}

/// Takes the next pieces of the queue, a few megabytes.
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

/// How many bytes are taken from the queue at a time.
const TAKEN: usize = 4 << 20;
