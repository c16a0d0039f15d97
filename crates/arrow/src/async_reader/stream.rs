//! The stream of record batches.

use super::row_group::{Job, OpenGroup, Scan, Step};
use super::source::FileVersion;
use crate::arrow_reader::LossReport;
use crate::evolution::Remake;
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
    remake: Option<Remake>,
    scan: Arc<Scan>,
    version: Version,
    /// Row groups that were not begun.
    jobs: VecDeque<Job>,
    /// Row groups that are being fetched or were, in order.
    ahead: VecDeque<Ahead>,
    /// The row group that is decoded.
    open: Option<OpenGroup>,
    /// Fetches what the open row group lacks, then gives it back.
    refetch: Option<BoxFuture<'static, Result<OpenGroup>>>,
    prefetch: u64,
    /// Where only reading tells which rows count: how many are still to be passed over and to be given, if not all.
    rest: Option<(u64, u64)>,
    /// What could not be read of the row groups before the open one.
    report: LossReport,
    opened: PhantomData<fn() -> T>,
}

enum Version {
    Known(Arc<FileVersion>),
    /// To be asked for, or asked for already.
    Unknown(Option<BoxFuture<'static, Result<FileVersion>>>),
}

struct Ahead {
    bytes: u64,
    state: Fetch,
}

enum Fetch {
    Running(BoxFuture<'static, Result<OpenGroup>>),
    Done(Box<Result<OpenGroup>>),
    Taken,
}

impl<T> ParquetRecordBatchStream<T> {
    pub(super) fn new(
        schema: SchemaRef,
        remake: Option<Remake>,
        scan: Scan,
        jobs: Vec<Job>,
        prefetch: u64,
        rest: Option<(u64, u64)>,
    ) -> Self {
        let version = match scan.metadata.file_version() {
            Some(version) => Version::Known(Arc::new(version.clone())),
            None => Version::Unknown(None),
        };
        ParquetRecordBatchStream {
            schema,
            remake,
            scan: Arc::new(scan),
            version,
            jobs: jobs.into(),
            ahead: VecDeque::new(),
            open: None,
            refetch: None,
            prefetch,
            rest,
            report: LossReport::default(),
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
            self.fetch_ahead(&version);
            self.poll_ahead(cx);
            let Some(mut group) = self.open.take() else {
                let group = ready!(self.poll_first())?;
                if let Some((offset, _)) = &mut self.rest {
                    *offset -= group.passed;
                }
                self.open = Some(group);
                continue;
            };
            let step = self.scan.step(&mut group);
            if matches!(step, Ok(Step::Over) | Err(_)) {
                self.report.join(group.loss_report());
            }
            match step? {
                Step::Batch(batch) => {
                    self.open = Some(group);
                    if let Some((_, left)) = &mut self.rest {
                        *left -= batch.num_rows() as u64;
                        if *left == 0 {
                            self.jobs.clear();
                        }
                    }
                    return Poll::Ready(Some(match &self.remake {
                        Some(remake) => remake.batch(&batch),
                        None => Ok(batch),
                    }));
                }
                Step::Missing(missing) => {
                    let scan = self.scan.clone();
                    self.refetch = Some(Box::pin(async move {
                        scan.remote(&version).fetch(group.buffered(), missing).await?;
                        Ok(group)
                    }));
                }
                Step::Over => {}
            }
        }
        Poll::Ready(None)
    }

    fn is_over(&self) -> bool {
        self.open.is_none() && self.refetch.is_none() && self.ahead.is_empty() && self.jobs.is_empty()
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

    /// Begins to fetch row groups: the one that is wanted next, and those after it that the limit has room for.
    fn fetch_ahead(&mut self, version: &Arc<FileVersion>) {
        let mut bytes: u64 = self.ahead.iter().fold(0, |sum, ahead| sum.saturating_add(ahead.bytes));
        loop {
            let is_wanted_now = self.open.is_none() && self.ahead.is_empty();
            let has_room = |job: &mut Job| {
                // How many rows are left for it is known when those before it were read.
                is_wanted_now || self.rest.is_none() && bytes.saturating_add(job.bytes) <= self.prefetch
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
            self.ahead.push_back(Ahead { bytes: counted, state: Fetch::Running(Box::pin(fetch)) });
        }
    }

    fn poll_ahead(&mut self, cx: &mut Context<'_>) {
        for ahead in &mut self.ahead {
            if let Fetch::Running(future) = &mut ahead.state
                && let Poll::Ready(done) = future.as_mut().poll(cx)
            {
                ahead.state = Fetch::Done(Box::new(done));
            }
        }
    }

    /// The first row group of those ahead, when it is there.
    fn poll_first(&mut self) -> Poll<Result<OpenGroup>> {
        let Some(first) = self.ahead.front_mut() else { return Poll::Pending };
        match std::mem::replace(&mut first.state, Fetch::Taken) {
            Fetch::Done(done) => {
                self.ahead.pop_front();
                Poll::Ready(*done)
            }
            running => {
                first.state = running;
                Poll::Pending
            }
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
    }
}

impl<T> Stream for ParquetRecordBatchStream<T> {
    type Item = Result<RecordBatch>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let batch = self.poll_batch(cx);
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
