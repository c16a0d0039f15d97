//! The ways to read one choice of rows.

use super::Choice;
use crate::arrays::Random;
use arrow_array::RecordBatch;
use bytes::Bytes;
use futures::executor::block_on;
use futures::future::BoxFuture;
use futures::task::noop_waker;
use futures::{FutureExt, StreamExt};
use marquetry::arrow::ParquetRecordBatchStreamBuilder;
use marquetry::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use marquetry::arrow::async_reader::{AsyncSource, CoalesceOptions, FileVersion, Tail};
use marquetry::errors::Result;
use marquetry::file::Source;
use std::ops::Range;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll};

/// How rows are read.
#[derive(Debug, Clone, Copy)]
pub(super) enum Way {
    /// By a reader with this number of threads.
    Reader(usize),
    /// By a reader of a source with expensive requests.
    Far,
    /// By a reader, after it is known which rows are wanted.
    Selected,
    /// By a stream, of batches or of row groups.
    Stream,
    RowGroups,
}

impl Way {
    pub(super) fn random(random: &mut Random) -> Way {
        random.pick(&[Way::Reader(1), Way::Reader(3), Way::Far, Way::Selected, Way::Stream, Way::RowGroups])
    }
}

/// A file far away: nothing of it is kept.
struct FarFile {
    bytes: Bytes,
    cost: CoalesceOptions,
}

impl Source for FarFile {
    fn len(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn read_at(&self, offset: u64, len: usize) -> Result<Bytes> {
        self.bytes.read_at(offset, len)
    }

    fn request_cost(&self) -> Option<CoalesceOptions> {
        Some(self.cost)
    }
}

/// A file whose bytes come when they are asked for a second time.
struct LateFile(Bytes);

impl AsyncSource for LateFile {
    fn read_tail(&self, len: usize) -> BoxFuture<'_, Result<Tail>> {
        self.0.read_tail(len)
    }

    fn read_ranges<'a>(
        &'a self,
        version: &'a FileVersion,
        ranges: Vec<Range<u64>>,
    ) -> BoxFuture<'a, Result<Vec<Bytes>>> {
        let mut was_asked = false;
        let late = futures::future::poll_fn(move |cx| match std::mem::replace(&mut was_asked, true) {
            true => Poll::Ready(()),
            false => {
                cx.waker().wake_by_ref();
                Poll::Pending
            }
        });
        late.then(|()| AsyncSource::read_ranges(&self.0, version, ranges)).boxed()
    }
}

/// Passes the choice to a builder, except for the columns.
macro_rules! chosen {
    ($builder:expr, $choice:expr) => {{
        let (mut builder, choice) = (
            $builder.with_projection($choice.projection.clone()).with_batch_size($choice.batch_size),
            $choice,
        );
        if let Some(row_groups) = &choice.row_groups {
            builder = builder.with_row_groups(row_groups.clone());
        }
        if let Some(selection) = &choice.selection {
            builder = builder.with_row_selection(selection.clone());
        }
        if let Some(predicate) = &choice.predicate {
            builder = builder.with_predicate(predicate.clone());
        }
        if let Some(filter) = choice.row_filter() {
            builder = builder.with_row_filter(filter);
        }
        if let Some(rows) = choice.offset {
            builder = builder.with_offset(rows);
        }
        if let Some(rows) = choice.limit {
            builder = builder.with_limit(rows);
        }
        builder
    }};
}

pub(super) fn read(
    file: &Bytes,
    options: &ArrowReaderOptions,
    choice: &Choice,
    way: Way,
    random: &mut Random,
) -> Result<Vec<RecordBatch>> {
    let near =
        || ParquetRecordBatchReaderBuilder::try_new_with_options(file.clone(), options.clone()).unwrap();
    let cost = CoalesceOptions::new(random.below(5_000) as u64, 1 + random.below(100_000) as u64);
    match way {
        Way::Reader(threads) => batches(chosen!(near(), choice).with_threads(threads)),
        Way::Far => {
            let source: Arc<dyn Source> = Arc::new(FarFile { bytes: file.clone(), cost });
            batches(chosen!(
                ParquetRecordBatchReaderBuilder::try_new_with_options(source, options.clone())?,
                choice
            ))
        }
        Way::Selected => {
            let selected = chosen!(near(), choice).selected_rows()?;
            let builder =
                near().with_projection(choice.projection.clone()).with_batch_size(choice.batch_size);
            let builder = builder.with_row_selection(selected);
            batches(match &choice.row_groups {
                Some(row_groups) => builder.with_row_groups(row_groups.clone()),
                None => builder,
            })
        }
        Way::Stream | Way::RowGroups => {
            let source = LateFile(file.clone());
            let metadata = block_on(ArrowReaderMetadata::load_async(&source, options.clone()))?;
            // Without the end of the file, which was fetched and may contain all of it.
            let metadata = match random.one_in(4) {
                true => metadata,
                false => ArrowReaderMetadata::try_new(metadata.metadata().clone(), options.clone())?,
            };
            let builder = ParquetRecordBatchStreamBuilder::new_with_metadata(source, metadata);
            let builder = chosen!(builder, choice).with_request_cost(cost).with_prefetch(random.pick(&[
                0,
                1_000,
                1 << 20,
            ]));
            streamed(builder, matches!(way, Way::RowGroups), random)
        }
    }
}

fn batches<T>(builder: ParquetRecordBatchReaderBuilder<T>) -> Result<Vec<RecordBatch>> {
    let mut reader = builder.build()?;
    std::iter::from_fn(|| reader.next_batch()).collect()
}

/// Drops a future and starts it again until it finishes.
macro_rules! patiently {
    ($future:expr, $random:expr) => {
        loop {
            if let Some(given) = polled($future, 1 + $random.below(5)) {
                break given;
            }
        }
    };
}

fn polled<F: Future>(future: F, times: usize) -> Option<F::Output> {
    let (mut future, waker) = (pin!(future), noop_waker());
    (0..times).find_map(|_| match future.as_mut().poll(&mut Context::from_waker(&waker)) {
        Poll::Ready(given) => Some(given),
        Poll::Pending => None,
    })
}

fn streamed(
    builder: ParquetRecordBatchStreamBuilder<LateFile>,
    by_row_group: bool,
    random: &mut Random,
) -> Result<Vec<RecordBatch>> {
    let mut stream = builder.build()?;
    let mut out = Vec::new();
    loop {
        if by_row_group {
            match patiently!(stream.next_row_group(), random)? {
                Some(mut group) => std::iter::from_fn(|| group.next_batch())
                    .try_for_each(|batch| batch.map(|batch| out.push(batch)))?,
                None => return Ok(out),
            }
        } else {
            match patiently!(stream.next(), random) {
                Some(batch) => out.push(batch?),
                None => return Ok(out),
            }
        }
    }
}
