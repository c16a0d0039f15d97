//! An open input, and options of reading.

use crate::args::{InputArgs, Selection, TableArgs};
use crate::convert::{CutTimes, TimesAs};
use crate::failure::Failure;
use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use marquetry::OpenFile;
use marquetry::arrow::arrow_reader::LossReport;
use marquetry::metrics::ReadMetrics;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError};

/// An open input.
pub(crate) struct Input {
    /// The schema of every batch.
    pub(crate) schema: SchemaRef,
    /// The rows.
    pub(crate) batches: Batches,
    /// The number of rows, if known.
    pub(crate) rows: Option<u64>,
    /// The number of bytes, if known.
    pub(crate) bytes: Option<u64>,
    /// Bytes of the input that were read so far; not counted for Parquet.
    pub(crate) bytes_read: Arc<AtomicU64>,
    /// The file, if it is a Parquet file.
    pub(crate) parquet: Option<OpenFile>,
    /// The losses of each Parquet file; complete after the last batch.
    pub(crate) losses: Arc<Mutex<Losses>>,
    /// The cost of reading, if it is Parquet; complete after the last batch.
    pub(crate) metrics: Arc<Mutex<Option<ReadMetrics>>>,
    /// Times that lost digits when they became timestamps; complete after the last batch.
    pub(crate) cut_times: Arc<Mutex<CutTimes>>,
    /// The files of directories and patterns that are read.
    pub(crate) files: Vec<PathBuf>,
}

impl Input {
    /// Rows without further information.
    pub(super) fn of_rows(schema: SchemaRef, batches: Batches) -> Self {
        Input {
            schema,
            batches,
            rows: None,
            bytes: None,
            bytes_read: Arc::default(),
            parquet: None,
            losses: Arc::default(),
            metrics: Arc::default(),
            cut_times: Arc::default(),
            files: Vec::new(),
        }
    }
}

/// The losses by file.
pub(crate) type Losses = Vec<(PathBuf, LossReport)>;

/// Batches of rows.
pub(crate) type Batches = Box<dyn Iterator<Item = Result<RecordBatch, Failure>> + Send>;

/// What to read of an input, and how.
pub(crate) struct InputOptions<'a> {
    /// How to interpret text.
    pub(crate) args: &'a InputArgs,
    /// How to combine many files into a table.
    pub(crate) together: &'a TableArgs,
    /// Columns and rows to read.
    pub(crate) selection: &'a Selection,
    /// Maximum number of rows.
    pub(crate) limit: Option<usize>,
    /// Rows in a batch.
    pub(crate) batch_rows: usize,
    /// Whether all batches but the last have exactly `batch_rows` rows; otherwise at most.
    pub(crate) exact_batches: bool,
    /// Threads that parse text.
    pub(crate) threads: NonZeroUsize,
    /// Whether rows of different batches are combined in one.
    pub(crate) is_sorted: bool,
    /// Whether dictionary and run-end encoded columns are read as their values, and text as views, for outputs that
    /// support no others.
    pub(crate) plain: bool,
    /// How INT96 is read then.
    pub(crate) times: TimesAs,
}

/// Stores losses, or the cost of reading.
pub(super) fn put_down<T>(place: &Mutex<T>, found: T) {
    *place.lock().unwrap_or_else(PoisonError::into_inner) = found;
}
