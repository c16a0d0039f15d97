//! An input that is open, and how it is to be read.

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

/// Rows that are read.
pub(crate) struct Input {
    /// The schema of every batch.
    pub(crate) schema: SchemaRef,
    /// The rows.
    pub(crate) batches: Batches,
    /// How many rows will come, if that is known.
    pub(crate) rows: Option<u64>,
    /// How many bytes the input has, if that is known, and how far it is read.
    pub(crate) bytes: Option<u64>,
    /// Bytes of the input that were read so far; not counted for Parquet.
    pub(crate) bytes_read: Arc<AtomicU64>,
    /// The file, if it is a Parquet file.
    pub(crate) parquet: Option<OpenFile>,
    /// What was lost of each Parquet file; complete after the last batch.
    pub(crate) losses: Arc<Mutex<Losses>>,
    /// What reading has cost, if it is Parquet; complete after the last batch.
    pub(crate) metrics: Arc<Mutex<Option<ReadMetrics>>>,
    /// Times that lost digits when they became timestamps; complete after the last batch.
    pub(crate) cut_times: Arc<Mutex<CutTimes>>,
    /// The files of directories and patterns that are read.
    pub(crate) files: Vec<PathBuf>,
}

impl Input {
    /// Rows of which nothing else is known.
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

/// What was lost, by file.
pub(crate) type Losses = Vec<(PathBuf, LossReport)>;

/// Batches of rows.
pub(crate) type Batches = Box<dyn Iterator<Item = Result<RecordBatch, Failure>> + Send>;

/// What is read of an input.
pub(crate) struct InputOptions<'a> {
    /// How the input is understood.
    pub(crate) args: &'a InputArgs,
    /// How many files become one table.
    pub(crate) together: &'a TableArgs,
    /// Which columns and rows.
    pub(crate) selection: &'a Selection,
    /// At most so many rows.
    pub(crate) limit: Option<usize>,
    /// Rows in a batch.
    pub(crate) batch_rows: usize,
    /// Whether all batches but the last have exactly so many; else at most.
    pub(crate) exact_batches: bool,
    /// Threads that parse text.
    pub(crate) threads: NonZeroUsize,
    /// Whether rows of different batches come together in one.
    pub(crate) is_sorted: bool,
    /// Whether dictionaries and runs are read as their values, and text as views: for outputs that know no others.
    pub(crate) plain: bool,
    /// What becomes of INT96 then.
    pub(crate) times: TimesAs,
}

/// Puts down what was lost, or what reading has cost.
pub(super) fn put_down<T>(place: &Mutex<T>, found: T) {
    *place.lock().unwrap_or_else(PoisonError::into_inner) = found;
}
