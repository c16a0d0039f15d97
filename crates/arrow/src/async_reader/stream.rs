//! The stream of record batches.

use super::ordered_futures::OrderedFutures;
use super::row_group::{DecodeStep, FetchTask, FetchedRowGroup};
use super::source::FileVersion;
use super::stream_scan::StreamScan;
use crate::arrow_reader::{LossReport, panicked};
use crate::evolution::BatchAdapter;
use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use futures_core::Stream;
use futures_core::future::BoxFuture;
use marquetry_base::Result;
use std::collections::VecDeque;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

/// Fetches and decodes the rows that a builder was told to, batch by batch.
///
/// After an error the stream is over.
pub struct ParquetRecordBatchStream<T> {
    schema: SchemaRef,
    /// What batches are made into, unless they are given as they are read.
    adapter: Option<BatchAdapter>,
    scan: Arc<StreamScan>,
    version: Version,
    /// Row groups that were not begun.
    jobs: VecDeque<FetchTask>,
    /// Row groups that are being fetched or were, and how many bytes each counts.
    ahead: OrderedFutures<Result<FetchedRowGroup>>,
    bytes: VecDeque<u64>,
    /// The row group that is decoded.
    open: Option<FetchedRowGroup>,
    /// Fetches what the open row group lacks, then gives it back.
    refetch: Option<BoxFuture<'static, Result<FetchedRowGroup>>>,
    prefetch: u64,
    /// Where only reading tells which rows count: how many are still to be passed over and to be given, if not all.
    rest: Option<(u64, u64)>,
    /// What could not be read of the row groups before the open one.
    report: LossReport,
    /// Set during a poll, and after one that panicked.
    is_polled: bool,
    opened: PhantomData<fn() -> T>,
}

enum Version {
    Known(Arc<FileVersion>),
    /// To be asked for, or asked for already.
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
            adapter,
            scan: Arc::new(scan),
            version,
            jobs: jobs.into(),
            ahead: OrderedFutures::default(),
            bytes: VecDeque::new(),
            open: None,
            refetch: None,
            prefetch,
            rest,
            report: LossReport::default(),
            is_polled: false,
            opened: PhantomData,
        }
    }

    /// The schema of the batches.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// What could not be read so far; complete after the last batch. Empty if damage is an error, see
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
            if let Some(refetch) = &mut self.refetch {
                let group = ready!(refetch.as_mut().poll(cx));
                self.refetch = None;
                self.open = Some(group?);
            }
            let version = ready!(self.poll_version(cx))?;
            // Begun before decoding, so that bytes come meanwhile.
            self.fetch_ahead(&version, self.prefetch, true);
            self.ahead.poll_all(cx);
            let Some(mut group) = self.open.take() else {
                let group = ready!(self.poll_first())?;
                if let Some((offset, _)) = &mut self.rest {
                    *offset -= group.passed;
                }
                self.open = Some(group);
                continue;
            };
            let step = self.scan.step(&mut group);
            if matches!(step, Ok(DecodeStep::Over) | Err(_)) {
                self.report.join(group.loss_report());
            }
            match step? {
                DecodeStep::Batch(batch) => {
                    self.open = Some(group);
                    if let Some((_, left)) = &mut self.rest {
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
                    let scan = self.scan.clone();
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

    /// Begins to fetch what comes next, as far as it has room, and goes on with what was begun; decodes nothing. `is_next`:
    /// its rows are wanted now, so its first row group is fetched, however large.
    ///
    /// Gives what is left of the room, if nothing is left to be begun.
    pub(crate) fn fetch(&mut self, cx: &mut Context<'_>, room: u64, is_next: bool) -> Option<u64> {
        // Whoever has not asked for the version yet will, when it is polled.
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

    /// Begins to fetch row groups: the one that is wanted next, and those after it that there is room for.
    fn fetch_ahead(&mut self, version: &Arc<FileVersion>, room: u64, is_next: bool) {
        let mut bytes = self.bytes_ahead();
        loop {
            let is_wanted_now = is_next && self.open.is_none() && self.ahead.len() == 0;
            let has_room = |job: &mut FetchTask| {
                // How many rows are left for it is known when those before it were read.
                is_wanted_now || self.rest.is_none() && bytes.saturating_add(job.bytes) <= room
            };
            let Some(mut job) = self.jobs.pop_front_if(has_room) else { return };
            if let Some((offset, left)) = self.rest {
                let first = job.rows.start.saturating_add(offset);
                job.rows = first..first.saturating_add(left);
            }
            // What is wanted now is not ahead of anything.
            let counted = if is_wanted_now { 0 } else { job.bytes };
            bytes = bytes.saturating_add(counted);
            let fetch = self.scan.clone().open(version.clone(), job);
            self.ahead.push(Box::pin(fetch));
            self.bytes.push_back(counted);
        }
    }

    /// The first row group of those ahead, when it is there.
    fn poll_first(&mut self) -> Poll<Result<FetchedRowGroup>> {
        match self.ahead.take_done() {
            Some(done) => {
                self.bytes.pop_front();
                Poll::Ready(done)
            }
            None => Poll::Pending,
        }
    }

    /// Gives everything up.
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

impl<T> Stream for ParquetRecordBatchStream<T> {
    type Item = Result<RecordBatch>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let batch = match std::mem::replace(&mut self.is_polled, true) {
            false => self.poll_batch(cx),
            // The poll before panicked: rows of its row group are lost.
            true => Poll::Ready(Some(Err(panicked()))),
        };
        self.is_polled = false;
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
