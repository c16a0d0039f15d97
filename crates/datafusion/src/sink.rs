//! Writes the rows of `COPY TO` and `INSERT INTO` as Parquet files.
//!
//! All files of a statement are written side by side, each by a task of its own, and none is completed before the last row of
//! all is in its file: where a statement fails before that, no file has its final name.

use crate::error::{of_file, refused};
use crate::options::FormatOptions;
use crate::partition_folders::{check_texts, with_named_nulls, with_one_equals_sign};
use crate::required_columns::{check_required, nullable};
use crate::store_sink::StoreSink;
use crate::writer_properties::writer_properties;
use arrow_array::{Array, RecordBatch};
use arrow_schema::{DataType, Schema, SchemaRef};
use async_trait::async_trait;
use datafusion::common::exec_err;
use datafusion::common::runtime::{JoinSet, SpawnedTask};
use datafusion::datasource::file_format::write::demux::DemuxedStreamReceiver;
use datafusion::datasource::file_format::write::get_writer_schema;
use datafusion::datasource::physical_plan::{FileSink, FileSinkConfig};
use datafusion::datasource::sink::DataSink;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryPool, MemoryReservation};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::LexRequirement;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_plan::metrics::{
    Count, ExecutionPlanMetricsSet, MetricBuilder, MetricCategory, MetricsSet, Time,
};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType};
use futures::future::ready;
use futures::{TryStreamExt, stream};
use marquetry_arrow::async_writer::AsyncArrowWriter;
use marquetry_core::write::{SortingColumn, WriterProperties};
use object_store::ObjectStore;
use object_store::path::Path;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;
use tokio::sync::Semaphore;
use tokio::sync::mpsc::Receiver;

/// The sink of Parquet files.
#[derive(Debug)]
pub struct MarquetrySink {
    config: FileSinkConfig,
    options: Arc<FormatOptions>,
    sorting: Option<Vec<SortingColumn>>,
    /// The schema of rows as they arrive, before they are checked: all columns are nullable.
    accepted: SchemaRef,
    metrics: ExecutionPlanMetricsSet,
}

impl MarquetrySink {
    /// Creates a sink of files in this order, whose leading plain columns are recorded as `sorting_columns`.
    ///
    /// Fails if an option of writing is not supported, or if a partition column's name cannot be that of a folder.
    pub fn new(
        config: FileSinkConfig,
        options: Arc<FormatOptions>,
        order: Option<&LexRequirement>,
    ) -> Result<Self> {
        // Fail before a row is computed.
        writer_properties(&options, None, 1)?;
        check_keys(&config)?;
        let sorting = order.and_then(|order| sorting_columns(order, &config));
        let accepted = nullable(config.output_schema());
        Ok(MarquetrySink { config, options, sorting, accepted, metrics: ExecutionPlanMetricsSet::new() })
    }

    #[cfg(feature = "proto")]
    pub(crate) fn options(&self) -> &FormatOptions {
        &self.options
    }
}

/// A file that has all of its rows, but is not visible yet.
struct WrittenFile {
    path: Path,
    writer: AsyncArrowWriter<StoreSink>,
    rows: usize,
    /// Reservation of what is still in memory.
    _memory: MemoryReservation,
}

/// What all files of a statement share.
#[derive(Clone)]
struct Writing {
    schema: SchemaRef,
    properties: WriterProperties,
    store: Arc<dyn ObjectStore>,
    buffer: usize,
    pool: Arc<dyn MemoryPool>,
    /// Permits for files that are encoded at the same time. More threads take more memory, and are no faster.
    encoding: Arc<Semaphore>,
    /// Memory of an open file without rows, in bytes.
    open_bytes: usize,
    elapsed_compute: Time,
}

impl Writing {
    /// Writes all rows of a file; if that fails, aborts the upload.
    async fn write(self, path: Path, batches: Receiver<RecordBatch>) -> Result<WrittenFile> {
        let named = |error| of_file(error, &path);
        let memory = MemoryConsumer::new(format!("MarquetrySink[{path}]")).register(&self.pool);
        memory.try_grow(self.open_bytes)?;
        let sink = StoreSink::new(self.store.clone(), path.clone(), self.buffer);
        let held = sink.held();
        let writer = AsyncArrowWriter::try_new(sink, self.schema.clone(), Some(self.properties.clone()));
        let (encoding, elapsed) = (self.encoding.clone(), self.elapsed_compute.clone());
        let mut writer = writer.map_err(named)?.with_blocking_tasks(move |task| {
            let (encoding, elapsed) = (encoding.clone(), elapsed.clone());
            Box::pin(async move {
                // The semaphore is never closed.
                let _permit = encoding.acquire().await;
                let timed = move || {
                    let start = Instant::now();
                    task();
                    elapsed.add_elapsed(start);
                };
                // The writer reports a task that panics as an error.
                drop(tokio::task::spawn_blocking(timed).await);
            })
        });
        let note = |writer: &AsyncArrowWriter<StoreSink>| {
            memory.try_resize(self.open_bytes + writer.memory_size() + held.load(Ordering::Relaxed))
        };
        match self.write_all(&mut writer, &path, batches, note).await {
            Ok(rows) => Ok(WrittenFile { path, writer, rows, _memory: memory }),
            Err(error) => {
                give_up_one(writer, &path).await;
                Err(error)
            }
        }
    }

    async fn write_all(
        &self,
        writer: &mut AsyncArrowWriter<StoreSink>,
        path: &Path,
        mut batches: Receiver<RecordBatch>,
        note_memory: impl Fn(&AsyncArrowWriter<StoreSink>) -> Result<()>,
    ) -> Result<usize> {
        let named = |error| of_file(error, path);
        let mut rows = 0;
        while let Some(batch) = batches.recv().await {
            writer.write(&batch).await.map_err(named)?;
            note_memory(writer)?;
            rows += batch.num_rows();
        }
        // Encode the rest now: other files, which may be thousands, are still being written, and this one waits for them.
        writer.flush_and_shrink().await.map_err(named)?;
        note_memory(writer)?;
        Ok(rows)
    }
}

impl MarquetrySink {
    fn writing(&self, context: &TaskContext, store: Arc<dyn ObjectStore>) -> Result<Writing> {
        let session = context.session_config();
        let threads = session.target_partitions();
        let schema = writer_schema(&self.config);
        let leaves = schema.fields().iter().map(|field| leaves(field.data_type())).sum::<usize>();
        Ok(Writing {
            encoding: Arc::new(Semaphore::new(threads.max(1))),
            open_bytes: FILE_BYTES + leaves * LEAF_BYTES,
            schema,
            properties: writer_properties(&self.options, self.sorting.clone(), threads)?,
            store,
            buffer: session.options().execution.objectstore_writer_buffer_size,
            pool: context.memory_pool().clone(),
            elapsed_compute: MetricBuilder::new(&self.metrics).elapsed_compute(0),
        })
    }

    /// The rows, with null keys named as in folder names. Fails at nulls in columns that are not nullable in the table.
    fn checked(&self, data: SendableRecordBatchStream) -> SendableRecordBatchStream {
        let keys: Vec<String> = self.config.table_partition_cols.iter().map(|(key, _)| key.clone()).collect();
        let keeps_keys = self.config.keep_partition_by_columns;
        let (schema, of_table) = (data.schema(), self.config.output_schema().clone());
        let parts = move |batch: RecordBatch| {
            check_required(&batch, &of_table, &keys)?;
            check_texts(&batch, &keys)?;
            match keeps_keys {
                true => without_null_keys(batch, &keys).map(|batch| vec![batch]),
                false => with_named_nulls(batch, &keys),
            }
        };
        let batches = data
            .and_then(move |batch| ready(parts(batch).map(|parts| stream::iter(parts.into_iter().map(Ok)))));
        Box::pin(RecordBatchStreamAdapter::new(schema, batches.try_flatten()))
    }

    fn counter(&self, name: &'static str, category: MetricCategory) -> Count {
        MetricBuilder::new(&self.metrics).with_category(category).global_counter(name)
    }
}

#[async_trait]
impl FileSink for MarquetrySink {
    fn config(&self) -> &FileSinkConfig {
        &self.config
    }

    async fn spawn_writer_tasks_and_join(
        &self,
        context: &Arc<TaskContext>,
        demux_task: SpawnedTask<Result<()>>,
        mut file_stream_rx: DemuxedStreamReceiver,
        object_store: Arc<dyn ObjectStore>,
    ) -> Result<u64> {
        let writing = self.writing(context, object_store)?;
        let mut tasks: JoinSet<Result<WrittenFile>> = JoinSet::new();
        let mut files = Vec::new();
        let mut failed: Option<DataFusionError> = None;
        let (mut is_open, keys) = (true, self.config.table_partition_cols.len());
        // Tasks are polled while files still arrive: an error ends the statement at once.
        while failed.is_none() && (is_open || !tasks.is_empty()) {
            tokio::select! {
                next = file_stream_rx.recv(), if is_open => match next {
                    Some((path, batches)) => match with_one_equals_sign(&path, keys) {
                        Ok(path) => {
                            tasks.spawn(writing.clone().write(path, batches));
                        }
                        Err(error) => failed = Some(error),
                    },
                    None => is_open = false,
                },
                Some(written) = tasks.join_next() => match written {
                    Ok(Ok(file)) => files.push(file),
                    Ok(Err(error)) => failed = Some(error),
                    Err(error) => failed = Some(DataFusionError::ExecutionJoin(Box::new(error))),
                },
            }
        }
        let mut demux_task = Some(demux_task);
        if failed.is_none()
            && let Some(task) = demux_task.take()
        {
            // From here, an error of the input looks like the end of its rows.
            failed = match task.join_unwind().await {
                Ok(rows) => rows.err(),
                Err(error) => Some(DataFusionError::ExecutionJoin(Box::new(error))),
            };
        }
        if let Some(error) = failed {
            // Then no more rows arrive, and all tasks end.
            drop((demux_task, file_stream_rx));
            while let Some(written) = tasks.join_next().await {
                files.extend(written.ok().and_then(Result::ok));
            }
            give_up(files).await;
            return Err(error);
        }
        self.complete(files).await
    }
}

impl MarquetrySink {
    /// Completes all files, which gives them their names.
    async fn complete(&self, files: Vec<WrittenFile>) -> Result<u64> {
        let rows_written = self.counter("rows_written", MetricCategory::Rows);
        let bytes_written = self.counter("bytes_written", MetricCategory::Bytes);
        let mut files = files.into_iter();
        let mut there: Vec<Path> = Vec::new();
        while let Some(mut file) = files.next() {
            if let Err(error) = file.writer.finish().await {
                let error = of_file(error, &file.path);
                give_up(std::iter::once(file).chain(files)).await;
                return Err(with_those_there(error, &there));
            }
            there.push(file.path);
            rows_written.add(file.rows);
            bytes_written.add(usize::try_from(file.writer.bytes_written()).unwrap_or(usize::MAX));
        }
        Ok(rows_written.value() as u64)
    }
}

/// Names the files that exist already: running the statement again writes their rows twice.
fn with_those_there(error: DataFusionError, there: &[Path]) -> DataFusionError {
    match there {
        [] => error,
        [only] => error.context(format!("the statement is not undone: its file {only} is there")),
        [first, others @ ..] => error.context(format!(
            "the statement is not undone: {} of its files are there, {first} for example",
            others.len() + 1
        )),
    }
}

/// Aborts the uploads of some files. The error that led here is the one to report.
async fn give_up(files: impl IntoIterator<Item = WrittenFile>) {
    for WrittenFile { path, writer, .. } in files {
        give_up_one(writer, &path).await;
    }
}

async fn give_up_one(writer: AsyncArrowWriter<StoreSink>, path: &Path) {
    if let Err(error) = writer.abort().await {
        log::warn!("{path} was given up, but the store keeps parts of it: {error}");
    }
}

#[async_trait]
impl DataSink for MarquetrySink {
    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.metrics.clone_inner())
    }

    fn schema(&self) -> &SchemaRef {
        &self.accepted
    }

    async fn write_all(&self, data: SendableRecordBatchStream, context: &Arc<TaskContext>) -> Result<u64> {
        FileSink::write_all(self, self.checked(data), context).await
    }
}

impl DisplayAs for MarquetrySink {
    fn fmt_as(&self, t: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match t {
            DisplayFormatType::TreeRender => writeln!(f, "MarquetrySink"),
            _ => {
                let paths = self.config.table_paths.iter().map(|path| path.as_str());
                write!(f, "MarquetrySink(to=[{}])", paths.collect::<Vec<_>>().join(", "))
            }
        }
    }
}

/// Fails if a key cannot be in the name of a folder: `key=value` ends the key at the first `=`.
fn check_keys(config: &FileSinkConfig) -> Result<()> {
    match config.table_partition_cols.iter().find(|(key, _)| key.is_empty() || key.contains('=')) {
        Some((key, _)) => Err(refused(format!(
            "no folders are called by the key \"{key}\": the name of a key has a character, and no ="
        ))),
        None => Ok(()),
    }
}

/// Fails if a key is null: files that also contain their keys must have the same value as the name of their folder.
fn without_null_keys(batch: RecordBatch, keys: &[String]) -> Result<RecordBatch> {
    for key in keys {
        if batch.column(batch.schema_ref().index_of(key)?).logical_null_count() > 0 {
            return exec_err!(
                "the key {key} is null in some rows, which has no folder where files keep their keys: \
                 leave those rows out, or set execution.keep_partition_by_columns to false"
            );
        }
    }
    Ok(batch)
}

/// The number of leaf columns of a type.
fn leaves(data_type: &DataType) -> usize {
    use DataType::{Dictionary, FixedSizeList, LargeList, LargeListView, List, ListView, Map, Struct};
    match data_type {
        Struct(fields) => fields.iter().map(|field| leaves(field.data_type())).sum(),
        List(of) | LargeList(of) | ListView(of) | LargeListView(of) | FixedSizeList(of, _) | Map(of, _) => {
            leaves(of.data_type())
        }
        Dictionary(_, values) => leaves(values),
        _ => 1,
    }
}

/// PERF: memory of an open file besides its rows, and of each of its columns, in bytes, as measured: a task, a queue,
/// and metadata until the footer is written.
const FILE_BYTES: usize = 36 << 10;
const LEAF_BYTES: usize = 8 << 10;

fn writer_schema(config: &FileSinkConfig) -> SchemaRef {
    // The metadata of a session's schema says how it was read, not how it is to be written.
    let schema = get_writer_schema(config);
    Arc::new(Schema::new(schema.fields().clone()))
}

/// The order as indices of leaf columns, up to the first key that is not a column; `None` for tables with nested columns.
fn sorting_columns(order: &LexRequirement, config: &FileSinkConfig) -> Option<Vec<SortingColumn>> {
    let schema = get_writer_schema(config);
    // Nested columns have several leaves, which shift the indices of those behind them.
    if schema.fields().iter().any(|field| field.data_type().is_nested()) {
        return None;
    }
    let mut sorting = Vec::new();
    for requirement in order.iter() {
        let Some(column) = requirement.expr.downcast_ref::<Column>() else { break };
        let Some(options) = requirement.options else { break };
        let Ok(index) = schema.index_of(column.name()) else { break };
        sorting.push(SortingColumn {
            column_idx: i32::try_from(index).ok()?,
            descending: options.descending,
            nulls_first: options.nulls_first,
        });
    }
    (!sorting.is_empty()).then_some(sorting)
}
