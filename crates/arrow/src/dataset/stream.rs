//! A stream of the rows of a dataset whose files are read asynchronously, one file after the other.
//!
//! ```text
//! file 1   reading    batches are given; its next row groups are fetched
//! file 2   reading    all of file 1 is asked for: row groups are fetched as far as there is room
//! file 3   opened     how many rows are still wanted is known once those of file 2 are
//! file 4   opening    its footer is fetched
//! ```

use super::Dataset;
use super::data_file::DataFile;
use super::file_pruning::{rest_in_file, rest_of_file};
use super::filter::Rest;
use super::opened::Opened;
use super::schema::Plan;
use crate::arrow_reader::{LossReport, OnCorrupt};
use crate::async_reader::{AsyncSource, ParquetRecordBatchStream, ParquetRecordBatchStreamBuilder};
use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use futures_core::Stream;
use futures_core::future::BoxFuture;
use marquetry_base::{Error, Result};
use marquetry_core::metrics::{ReadCounters, ReadMetrics};
use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

/// Fetches and decodes files as one table, batch by batch. Each batch has rows of one file.
///
/// After an error the stream ends. It can be dropped at any time, and so can a future that waits for its next batch.
#[must_use = "a stream does nothing unless it is polled"]
pub struct DatasetStream {
    dataset: Dataset<dyn AsyncSource>,
    plan: Plan,
    schema: SchemaRef,
    /// The next file to open.
    next: usize,
    /// Files that were begun, in order. Batches come from the first one.
    begun: VecDeque<Begun>,
    /// Rows still to be skipped and to be returned, except those already assigned to a file.
    offset: usize,
    left: usize,
    prefetch: u64,
    losses: Vec<(Arc<str>, LossReport)>,
    counters: Arc<ReadCounters>,
    /// Set after an error.
    is_over: bool,
}

/// A file that was begun.
struct Begun {
    name: Arc<str>,
    file: DataFile,
    state: State,
}

enum State {
    Opening(BoxFuture<'static, Result<Opened<dyn AsyncSource>>>),
    /// Opened, and waiting until earlier files show how many rows are left for it; or failed.
    Opened(Box<Result<Opened<dyn AsyncSource>>>),
    Reading(Box<Reading>),
}

struct Reading {
    stream: ParquetRecordBatchStream<Arc<dyn AsyncSource>>,
    /// Whether its rows were counted when they were assigned to it. If only reading shows how many there are, they are
    /// counted as they are returned.
    is_counted: bool,
    /// Bytes that its footer keeps in memory.
    kept: u64,
}

impl DatasetStream {
    pub(super) fn new(dataset: Dataset<dyn AsyncSource>, plan: Plan) -> Self {
        let schema = plan.schema(&dataset.choice);
        let (offset, left) = (dataset.choice.offset, dataset.choice.limit.unwrap_or(usize::MAX));
        let memory = dataset.choice.options.limits.memory.tight_limit();
        let room = memory.map_or(u64::MAX, |limit| limit as u64 / 4);
        let prefetch = dataset.choice.prefetch.min(room);
        let (next, begun, losses, counters, is_over) = Default::default();
        DatasetStream {
            dataset,
            plan,
            schema,
            next,
            begun,
            offset,
            left,
            prefetch,
            losses,
            counters,
            is_over,
        }
    }

    /// Returns the schema of the batches.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Returns what could not be read so far, by file; complete after the last batch. A file without losses has an empty report.
    pub fn loss_reports(&self) -> Vec<(Arc<str>, LossReport)> {
        let first = self.begun.front().and_then(|first| match &first.state {
            State::Reading(reading) => Some((first.name.clone(), reading.stream.loss_report())),
            _ => None,
        });
        self.losses.iter().cloned().chain(first).collect()
    }

    /// Returns what was fetched, read, skipped and spent so far, for all files, without their footers.
    pub fn metrics(&self) -> ReadMetrics {
        self.counters.snapshot()
    }

    /// Returns the file of the last batch or error.
    pub fn file(&self) -> Option<&str> {
        self.begun.front().map(|first| &*first.name)
    }

    fn poll_batch(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<RecordBatch>>> {
        loop {
            while self.begin() | self.poll_opening(cx) | self.assign() {}
            self.fetch(cx);
            let Some(first) = self.begun.front_mut() else { return Poll::Ready(None) };
            let reading = match &mut first.state {
                State::Reading(reading) => reading,
                // The first file waits for nobody, so it has failed.
                State::Opened(failed) => match taken(failed) {
                    Err(error) => return Poll::Ready(Some(Err(error))),
                    Ok(_) => continue,
                },
                State::Opening(_) => return Poll::Pending,
            };
            match ready!(Pin::new(&mut reading.stream).poll_next(cx)) {
                None => self.close(),
                Some(Err(error)) => return Poll::Ready(Some(Err(error.in_file(first.name.clone())))),
                Some(Ok(batch)) if reading.is_counted => return Poll::Ready(Some(Ok(batch))),
                Some(Ok(batch)) => {
                    // Only rows that pass the filter count, so no file was told to skip any.
                    let passed = self.offset.min(batch.num_rows());
                    let rows = self.left.min(batch.num_rows() - passed);
                    (self.offset, self.left) = (self.offset - passed, self.left - rows);
                    if rows > 0 {
                        return Poll::Ready(Some(Ok(batch.slice(passed, rows))));
                    }
                    if self.left == 0 {
                        self.close();
                    }
                }
            }
        }
    }

    /// Begins to open files that may have matching rows. Returns whether it began any.
    fn begin(&mut self) -> bool {
        let mut has_begun = false;
        while self.has_room()
            && let Some(file) = self.dataset.choice.files.get(self.next)
        {
            self.next += 1;
            let name = file.name();
            // As in the blocking reader, a partition value that does not fit its type is an error when it is the file's turn.
            let state = match rest_of_file(&self.plan, file) {
                Ok(Rest::None) => continue,
                Ok(_) => State::Opening(self.dataset.open_late(file)),
                Err(error) => State::Opened(Box::new(Err(error.in_file(name.clone())))),
            };
            self.begun.push_back(Begun { name, file: file.clone(), state });
            has_begun = true;
        }
        has_begun
    }

    /// Returns whether one more file should be opened now.
    fn has_room(&self) -> bool {
        if self.left == 0 || self.begun.is_empty() {
            return self.left > 0;
        }
        let has_limit = self.dataset.choice.limit.is_some();
        // With a limit, the rows of earlier files may suffice.
        let is_needed = !has_limit || self.begun.iter().all(Begun::is_counted);
        let kept: u64 = self.begun.iter().skip(1).map(Begun::kept).sum();
        is_needed && self.begun.len() <= FILES_AHEAD && kept < self.prefetch
    }

    /// Polls the files that are being opened. Returns whether any is done.
    fn poll_opening(&mut self, cx: &mut Context<'_>) -> bool {
        let mut has_opened = false;
        for begun in &mut self.begun {
            if let State::Opening(future) = &mut begun.state
                && let Poll::Ready(opened) = future.as_mut().poll(cx)
            {
                begun.state = State::Opened(Box::new(opened));
                has_opened = true;
            }
        }
        has_opened
    }

    /// Assigns rows to opened files, in order, as far as they are known. Returns whether it assigned any.
    fn assign(&mut self) -> bool {
        let counts = self.dataset.choice.limit.is_some() || self.offset > 0;
        let mut has_assigned = false;
        let mut i = 0;
        while let Some(begun) = self.begun.get_mut(i) {
            match &mut begun.state {
                // Its end shows how many rows later files have to skip and to return.
                State::Reading(reading) if counts && !reading.is_counted => break,
                State::Reading(_) => i += 1,
                State::Opened(opened) if opened.is_ok() => {
                    let opened = taken(opened);
                    let (name, file) = (begun.name.clone(), begun.file.clone());
                    has_assigned = true;
                    match opened.and_then(|opened| self.reading(&file, opened)) {
                        Ok(Some(reading)) => self.begun[i].state = State::Reading(Box::new(reading)),
                        Ok(None) => drop(self.begun.remove(i)),
                        Err(error) => {
                            self.begun[i].state = State::Opened(Box::new(Err(error.in_file(name))));
                        }
                    }
                }
                _ => break,
            }
        }
        has_assigned
    }

    /// Starts reading the matching rows of a file; `None` if there are none.
    fn reading(&mut self, file: &DataFile, opened: Opened<dyn AsyncSource>) -> Result<Option<Reading>> {
        let choice = &self.dataset.choice;
        let evolution = self.plan.of(file)?;
        let rest = rest_of_file(&self.plan, file)?;
        let rest = rest_in_file(rest, &self.plan, &opened.metadata)?;
        let row_groups = file.row_groups(opened.metadata.metadata())?;
        let kept = opened.metadata.kept_bytes();
        let columns = opened.metadata.schema().fields().clone();
        let mut builder = ParquetRecordBatchStreamBuilder::new_with_metadata(opened.source, opened.metadata)
            .counted_by(self.counters.clone())
            .with_evolution(evolution)
            .with_prefetch(self.prefetch);
        if let Some(row_groups) = row_groups {
            builder = builder.with_row_groups(row_groups);
        }
        if let Some(rows) = choice.batch_size {
            builder = builder.with_batch_size(rows);
        }
        let has_limit = choice.limit.is_some();
        let mut is_counted = true;
        match rest {
            Rest::None => return Ok(None),
            Rest::Some(predicate) => {
                builder = builder.with_predicate(predicate);
                if has_limit {
                    builder = builder.with_limit(self.offset.saturating_add(self.left));
                }
                is_counted = false;
            }
            Rest::All => {
                let rows = usize::try_from(builder.chosen_rows()?).unwrap_or(usize::MAX);
                let passed = self.offset.min(rows);
                self.offset -= passed;
                if passed == rows || self.left == 0 {
                    return Ok(None);
                }
                builder = builder.with_offset(passed);
                if has_limit {
                    builder = builder.with_limit(self.left);
                    // In a damaged file, only reading shows how many rows there are.
                    is_counted = choice.options.on_corrupt == OnCorrupt::Fail;
                    self.left -= if is_counted { self.left.min(rows - passed) } else { 0 };
                }
            }
        }
        let stream = builder.build().map_err(|error| self.plan.explained(error, choice, &columns))?;
        Ok(Some(Reading { stream, is_counted, kept }))
    }

    /// Continues to fetch row groups. A file's are fetched once all those of earlier files are requested.
    fn fetch(&mut self, cx: &mut Context<'_>) {
        let mut room = self.prefetch;
        for (i, begun) in self.begun.iter_mut().enumerate() {
            let State::Reading(reading) = &mut begun.state else { return };
            match reading.stream.fetch(cx, room, i == 0) {
                Some(left) if i > 0 => room = left.saturating_sub(reading.kept),
                Some(left) => room = left,
                None => return,
            }
        }
    }

    /// Closes the first file.
    fn close(&mut self) {
        if let Some(Begun { name, state: State::Reading(reading), .. }) = self.begun.pop_front() {
            self.losses.push((name, reading.stream.loss_report()));
        }
    }
}

/// Takes the opened file, which is then read or given up.
fn taken(opened: &mut Result<Opened<dyn AsyncSource>>) -> Result<Opened<dyn AsyncSource>> {
    std::mem::replace(opened, Err(Error::argument("the file is not read any more")))
}

impl Begun {
    fn is_counted(&self) -> bool {
        matches!(&self.state, State::Reading(reading) if reading.is_counted)
    }

    /// Returns how many bytes it keeps in memory besides row groups.
    fn kept(&self) -> u64 {
        match &self.state {
            State::Reading(reading) => reading.kept,
            State::Opened(opened) => {
                opened.as_ref().as_ref().map_or(0, |opened| opened.metadata.kept_bytes())
            }
            State::Opening(_) => 0,
        }
    }
}

impl Stream for DatasetStream {
    type Item = Result<RecordBatch>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.is_over {
            return Poll::Ready(None);
        }
        let batch = self.poll_batch(cx);
        if matches!(batch, Poll::Ready(Some(Err(_)))) {
            self.is_over = true;
            self.begun.truncate(1);
        }
        batch
    }
}

impl std::fmt::Debug for DatasetStream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let files = self.dataset.choice.files.len();
        f.debug_struct("DatasetStream").field("files", &files).finish_non_exhaustive()
    }
}

/// How many files are opened ahead: enough to fetch many footers at the same time.
const FILES_AHEAD: usize = 16;
