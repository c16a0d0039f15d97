//! The stream of record batches.

use super::ordered_futures::OrderedFutures;
use super::row_group::{DecodeStep, FetchTask, FetchedRowGroup};
use super::row_group_reader::RowGroupReader;
use super::source::FileVersion;
use super::stream_scan::StreamScan;
use crate::arrow_reader::{LossReport, panicked};
use crate::evolution::BatchAdapter;
use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use futures_core::Stream;
use futures_core::future::BoxFuture;
use marquetry_base::{Error, Result, Span};
use marquetry_core::metrics::{ReadCounters, ReadMetrics};
use std::collections::VecDeque;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

/// Fetches and decodes the rows that a builder was told to, batch by batch.
///
/// After an error the stream ends.
#[must_use = "a stream does nothing unless it is polled"]
pub struct ParquetRecordBatchStream<T> {
    schema: SchemaRef,
    /// Adapts batches to the wanted schema, if they are read with another one.
    adapter: Option<Arc<BatchAdapter>>,
    scan: Arc<StreamScan>,
    version: Version,
    /// Row groups that are not begun.
    jobs: VecDeque<FetchTask>,
    /// Row groups that are fetched or being fetched, and the number of bytes that each counts.
    ahead: OrderedFutures<Result<FetchedRowGroup>>,
    bytes: VecDeque<u64>,
    /// The row group that is being decoded.
    open: Option<FetchedRowGroup>,
    /// Fetches the missing bytes of the open row group, then gives it back.
    refetch: Option<BoxFuture<'static, Result<FetchedRowGroup>>>,
    prefetch: u64,
    /// Set if only reading shows which rows count, unless all are wanted: how many rows to skip and how many to return.
    rest: Option<(u64, u64)>,
    /// Whether row groups are handed out, so that their row counts must be known.
    hands_out: bool,
    /// The losses of the row groups before the open one.
    report: LossReport,
    /// How many rows may be returned before other tasks have a turn, and how many were.
    yield_rows: usize,
    given: usize,
    /// Set during a poll, and left set by one that panicked.
    is_polled: bool,
    opened: PhantomData<fn() -> T>,
}

enum Version {
    Known(Arc<FileVersion>),
    /// The request for the version, once it was made.
    Unknown(Option<BoxFuture<'static, Result<FileVersion>>>),
}

impl<T> ParquetRecordBatchStream<T> {
    pub(super) fn new(
        schema: SchemaRef,
        adapter: Option<BatchAdapter>,
        scan: StreamScan,
        jobs: Vec<FetchTask>,
        prefetch: u64,
        rest: Option<(u64, u64)>,
    ) -> Self {
        let version = match scan.metadata.file_version() {
            Some(version) => Version::Known(Arc::new(version.clone())),
            None => Version::Unknown(None),
        };
        ParquetRecordBatchStream {
            schema,
            adapter: adapter.map(Arc::new),
            scan: Arc::new(scan),
            version,
            jobs: jobs.into(),
            ahead: OrderedFutures::default(),
            bytes: VecDeque::new(),
            open: None,
            refetch: None,
            prefetch,
            rest,
            hands_out: false,
            report: LossReport::default(),
            yield_rows: usize::MAX,
            given: 0,
            is_polled: false,
            opened: PhantomData,
        }
    }

    pub(super) fn yielding_after(self, rows: usize) -> Self {
        ParquetRecordBatchStream { yield_rows: rows, ..self }
    }

    /// Returns what was fetched, read, skipped and spent so far, including the readers of [row
    /// groups](Self::next_row_group). This is cheap.
    pub fn metrics(&self) -> ReadMetrics {
        self.scan.counters.snapshot()
    }

    /// Returns the counters behind [`metrics`](Self::metrics), which outlive the stream.
    pub fn counters(&self) -> &Arc<ReadCounters> {
        &self.scan.counters
    }

    /// Returns the next row group with selected rows as a blocking reader whose bytes are fetched. It may decode on
    /// another thread while this one fetches what comes next. Returns `None` after the last.
    ///
    /// The stream itself can be polled for batches as well. It does not return those of a row group that was handed out.
    ///
    /// ```
    /// use futures::executor::block_on;
    /// use marquetry_arrow::async_reader::ParquetRecordBatchStreamBuilder;
    ///
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/wines.parquet");
    /// let file = bytes::Bytes::from(std::fs::read(path)?);
    /// let rows = block_on(async {
    ///     let mut stream = ParquetRecordBatchStreamBuilder::new(file).await?.build()?;
    ///     let mut threads = Vec::new();
    ///     while let Some(reader) = stream.next_row_group().await? {
    ///         // Of a runtime: `tokio::task::spawn_blocking`.
    ///         threads.push(std::thread::spawn(move || {
    ///             reader.map(|batch| batch.map(|batch| batch.num_rows())).sum::<Result<usize, _>>()
    ///         }));
    ///     }
    ///     threads.into_iter().map(|thread| thread.join().expect("no panic")).sum::<Result<usize, _>>()
    /// })?;
    /// assert_eq!(rows, 200);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// Fails as polling the stream does, and then the stream ends. Also fails with
    /// [`ErrorKind::Argument`](marquetry_base::ErrorKind::Argument) if there is a limit and the row count is known only
    /// after reading. That is so if damage is not an error, or if the predicate is evaluated while batches are read, which
    /// an earlier poll of the stream may have begun.
    pub async fn next_row_group(&mut self) -> Result<Option<RowGroupReader>> {
        let group = std::future::poll_fn(|cx| {
            let group = match std::mem::replace(&mut self.is_polled, true) {
                false => self.poll_row_group(cx),
                true => Poll::Ready(Err(panicked())),
            };
            self.is_polled = false;
            group
        });
        let group = group.await;
        if group.is_err() {
            self.end();
        }
        group
    }

    fn poll_row_group(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<RowGroupReader>>> {
        self.hands_out = true;
        if self.rest.is_some() && self.scan.salvages() {
            return Poll::Ready(Err(rows_not_known()));
        }
        while !self.is_over() {
            ready!(self.poll_fetched(cx))?;
            let Some(group) = self.open.take() else { continue };
            let rows = group.rows_left();
            if let Some((_, left)) = &mut self.rest
                && *left < NO_LIMIT
            {
                *left -= rows.ok_or_else(rows_not_known)?;
                if *left == 0 {
                    self.jobs.clear();
                }
            }
            // All of it may have been returned in batches already.
            if rows == Some(0) {
                self.report.join(group.loss_report());
            } else {
                let (schema, adapter) = (self.schema.clone(), self.adapter.clone());
                return Poll::Ready(Ok(Some(RowGroupReader::new(group, schema, adapter))));
            }
        }
        Poll::Ready(Ok(None))
    }

    /// Continues fetching until a row group is open or nothing is left; `open` may still be empty then.
    fn poll_fetched(&mut self, cx: &mut Context<'_>) -> Poll<Result<()>> {
        self.scan.metadata.options.limits.cancel.check()?;
        if let Some(refetch) = &mut self.refetch {
            let Poll::Ready(group) = refetch.as_mut().poll(cx) else {
                // Fetches that have begun continue meanwhile.
                self.ahead.poll_all(cx);
                return Poll::Pending;
            };
            self.refetch = None;
            self.open = Some(group?);
        }
        let version = ready!(self.poll_version(cx))?;
        // Begun before decoding, so that bytes arrive meanwhile.
        self.fetch_ahead(&version, self.prefetch, true);
        self.ahead.poll_all(cx);
        if self.open.is_none() {
            let group = ready!(self.poll_first())?;
            if let Some((offset, _)) = &mut self.rest {
                *offset -= group.passed;
            }
            self.open = Some(group);
        }
        Poll::Ready(Ok(()))
    }

    /// Returns the schema of the batches.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Returns what could not be read so far; complete after the last batch. Empty if damage is an error, see
    /// [`OnCorrupt`](crate::arrow_reader::OnCorrupt).
    pub fn loss_report(&self) -> LossReport {
        let mut report = self.report.clone();
        if let Some(group) = &self.open {
            report.join(group.loss_report());
        }
        report
    }

    fn poll_batch(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<RecordBatch>>> {
        while !self.is_over() {
            ready!(self.poll_fetched(cx))?;
            if self.given > self.yield_rows {
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            let Some(mut group) = self.open.take() else { continue };
            let step = self.scan.step(&mut group);
            if matches!(step, Ok(DecodeStep::Over) | Err(_)) {
                self.report.join(group.loss_report());
            }
            match step? {
                DecodeStep::Batch(batch) => {
                    self.open = Some(group);
                    self.given = self.given.saturating_add(batch.num_rows().max(1));
                    if let Some((_, left)) = &mut self.rest
                        && *left < NO_LIMIT
                    {
                        *left -= batch.num_rows() as u64;
                        if *left == 0 {
                            self.jobs.clear();
                        }
                    }
                    return Poll::Ready(Some(match &self.adapter {
                        Some(adapter) => adapter.batch(&batch),
                        None => Ok(batch),
                    }));
                }
                DecodeStep::Missing(missing) => {
                    let (scan, version) = (self.scan.clone(), ready!(self.poll_version(cx))?);
                    self.refetch = Some(Box::pin(async move {
                        scan.remote(&version).fetch(group.buffered(), missing).await?;
                        Ok(group)
                    }));
                }
                DecodeStep::Over => {}
            }
        }
        Poll::Ready(None)
    }

    fn is_over(&self) -> bool {
        self.open.is_none() && self.refetch.is_none() && self.ahead.len() == 0 && self.jobs.is_empty()
    }

    /// Begins to fetch what comes next, as far as there is room, and continues what was begun. Decodes nothing. With
    /// `is_next`, rows are needed now, so the first row group is fetched, however large it is.
    ///
    /// Returns the remaining room once nothing is left to begin.
    pub(crate) fn fetch(&mut self, cx: &mut Context<'_>, room: u64, is_next: bool) -> Option<u64> {
        // Until the version is requested, there is nothing to do here. Polling requests it.
        let Version::Known(version) = &self.version else { return None };
        let version = version.clone();
        self.fetch_ahead(&version, room, is_next);
        self.ahead.poll_all(cx);
        self.jobs.is_empty().then(|| room.saturating_sub(self.bytes_ahead()))
    }

    fn bytes_ahead(&self) -> u64 {
        self.bytes.iter().fold(0, |sum, bytes| sum.saturating_add(*bytes))
    }

    fn poll_version(&mut self, cx: &mut Context<'_>) -> Poll<Result<Arc<FileVersion>>> {
        let asked = match &mut self.version {
            Version::Known(version) => return Poll::Ready(Ok(version.clone())),
            Version::Unknown(asked) => asked,
        };
        let scan = &self.scan;
        let asked = asked.get_or_insert_with(|| {
            let scan = scan.clone();
            Box::pin(async move { scan.metadata.version_of(&*scan.source).await })
        });
        let version = Arc::new(ready!(asked.as_mut().poll(cx))?);
        self.version = Version::Known(version.clone());
        Poll::Ready(Ok(version))
    }

    /// Begins to fetch row groups: the one that is needed next, and those after it that fit.
    fn fetch_ahead(&mut self, version: &Arc<FileVersion>, room: u64, is_next: bool) {
        let mut bytes = self.bytes_ahead();
        loop {
            let is_wanted_now = is_next && self.open.is_none() && self.ahead.len() == 0;
            let has_room = |job: &mut FetchTask| {
                // How many rows are left for it is known only once those before it were read.
                is_wanted_now || self.rest.is_none() && bytes.saturating_add(job.bytes) <= room
            };
            let Some(mut job) = self.jobs.pop_front_if(has_room) else { return };
            job.may_ask_later = !self.hands_out;
            if let Some((offset, left)) = self.rest {
                let first = job.rows.start.saturating_add(offset);
                job.rows = first..first.saturating_add(left);
            }
            // What is needed now does not count as read ahead.
            let counted = if is_wanted_now { 0 } else { job.bytes };
            bytes = bytes.saturating_add(counted);
            let span = Span::row_group(job.row_group);
            let fetch = span.instrument(self.scan.clone().open(version.clone(), job));
            self.ahead.push(Box::pin(fetch));
            self.bytes.push_back(counted);
        }
    }

    /// Takes the first of the fetched row groups, once it is ready.
    fn poll_first(&mut self) -> Poll<Result<FetchedRowGroup>> {
        match self.ahead.take_done() {
            Some(done) => {
                self.bytes.pop_front();
                Poll::Ready(done)
            }
            None => Poll::Pending,
        }
    }

    /// Gives up everything.
    fn end(&mut self) {
        if let Some(group) = self.open.take() {
            self.report.join(group.loss_report());
        }
        self.refetch = None;
        self.jobs.clear();
        self.ahead.clear();
        self.bytes.clear();
    }
}

/// The limit of a read with only an offset: row counts need not be known.
pub(super) const NO_LIMIT: u64 = u64::MAX;

#[cold]
fn rows_not_known() -> Error {
    Error::argument(
        "a limit of rows, and how many a row group has is only known after reading: poll the stream instead",
    )
}

impl<T> Stream for ParquetRecordBatchStream<T> {
    type Item = Result<RecordBatch>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let batch = match std::mem::replace(&mut self.is_polled, true) {
            false => self.poll_batch(cx),
            // The previous poll panicked: rows of its row group are lost.
            true => Poll::Ready(Some(Err(panicked()))),
        };
        self.is_polled = false;
        if batch.is_pending() {
            self.given = 0;
        }
        if matches!(batch, Poll::Ready(Some(Err(_)))) {
            self.end();
        }
        batch
    }
}

impl<T> std::fmt::Debug for ParquetRecordBatchStream<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let waiting = self.jobs.len() + self.ahead.len();
        f.debug_struct("ParquetRecordBatchStream").field("row_groups", &waiting).finish_non_exhaustive()
    }
}
