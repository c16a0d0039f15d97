//! A file that is open for reading.

use crate::encryption::Decryption;
use crate::errors::to_python;
use crate::file_refs::FileRefs;
use crate::footer::Footer;
use crate::options::Options;
use crate::pyarrow_types;
use crate::reentrance::{ObjectCalls, Reading, begin_reading};
use crate::source::Input;
use crate::table::{Schema, Stream, Table};
use crate::wide_decimals::widened;
use crate::work::run;
use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{DataType, SchemaRef, TimeUnit};
use marquetry::OpenFile;
use marquetry::arrow::StringLayout;
use marquetry::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ChunkReader, Int96Unit, OnCorrupt,
    ParquetRecordBatchReaderBuilder, prunable_predicate,
};
use marquetry::basic::PhysicalType;
use marquetry::errors::{CancelToken, Error, Limits, Result};
use marquetry::predicate::Predicate;
use marquetry::prune::{PruneOptions, PruneReport, RowGroupMatch, Stage as PruneStage, prune_row_group};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::collections::HashSet;
use std::sync::Arc;

/// A Parquet file that is open for reading.
#[pyclass(frozen, module = "marquetry._marquetry")]
pub(crate) struct File {
    open: OpenFile,
    options: ArrowReaderOptions,
    limits: Limits,
    name: Option<String>,
    object: Option<ObjectCalls>,
}

/// The columns and rows to read.
struct Scan {
    columns: Option<Vec<String>>,
    row_groups: Option<Vec<usize>>,
    filter: Option<Predicate>,
    batch_size: Option<usize>,
    limit: Option<usize>,
    offset: Option<usize>,
    threads: usize,
    row_numbers: Option<String>,
    on_corrupt: Option<OnCorrupt>,
}

#[pymethods]
impl File {
    #[new]
    #[pyo3(signature = (source, options=None, name=None))]
    fn new(
        py: Python<'_>,
        source: &Bound<'_, PyAny>,
        options: Option<&Bound<'_, PyDict>>,
        name: Option<String>,
    ) -> PyResult<Self> {
        let limits = Limits::default();
        let (reader_options, limits) = reader_options(Options::new(py, options)?, limits)?;
        let input = Input::new(source)?;
        let (name, object) = (name.or_else(|| input.name()), input.object());
        let cancel = CancelToken::new();
        let options = reader_options.clone();
        let reader_options = reader_options.with_limits(limits.with_cancel(cancel.clone()));
        let of_error = name.clone();
        let open = run(py, &cancel, move || {
            in_file(
                input.open().and_then(|source| OpenFile::new(source, reader_options)),
                of_error.as_deref(),
            )
        })?;
        Ok(File { open, options, limits, name, object })
    }

    #[getter]
    fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    #[getter]
    fn footer(&self) -> Footer {
        Footer::new(self.open.metadata().clone())
    }

    /// End of the footer that was read, if that is not the end of the file.
    #[getter]
    fn recovered_end(&self) -> Option<u64> {
        self.open.recovered_end()
    }

    /// Returns the Arrow schema of the given columns. Default: all.
    #[pyo3(signature = (columns=None))]
    fn schema(&self, py: Python<'_>, columns: Option<Vec<String>>) -> PyResult<Schema> {
        let (open, cancel, _reading) = self.begin(py)?;
        let open = match columns {
            Some(columns) => open.columns(columns),
            None => open,
        };
        run(py, &cancel, || in_file(open.schema().map(Schema), self.name.as_deref()))
    }

    /// Reads rows into memory: as batches, as a single batch with `whole="file"`, or one per row group with `whole="row_group"`.
    #[pyo3(signature = (options=None, whole=None))]
    fn read(
        &self,
        py: Python<'_>,
        options: Option<&Bound<'_, PyDict>>,
        whole: Option<&str>,
    ) -> PyResult<Table> {
        let scan = Scan::new(Options::new(py, options)?)?;
        let (open, cancel, _reading) = self.begin(py)?;
        let whole = whole.map(str::to_owned);
        let of_parts = self.options.clone().with_limits(self.limits.with_cancel(cancel.clone()));
        run(py, &cancel, || in_file(read(open, scan, whole.as_deref(), of_parts), self.name.as_deref()))
    }

    /// Reads rows lazily, batch by batch.
    #[pyo3(signature = (options=None))]
    fn stream(&self, py: Python<'_>, options: Option<&Bound<'_, PyDict>>) -> PyResult<Stream> {
        let scan = Scan::new(Options::new(py, options)?)?;
        let (open, cancel, _reading) = self.begin(py)?;
        let reader = run(py, &cancel, || in_file(scan.apply(open)?.batches(), self.name.as_deref()))?;
        Ok(Stream::of_file(Box::new(reader), cancel, self.name.clone(), self.object.clone()))
    }

    /// Iterates over readers of the bytes that the values of a FILE column refer to, as far as `allow` permits. `options` choose the rows.
    #[pyo3(signature = (options, allow, compare=true, base=None))]
    fn files(
        &self,
        py: Python<'_>,
        options: &Bound<'_, PyDict>,
        allow: Vec<String>,
        compare: bool,
        base: Option<String>,
    ) -> PyResult<FileRefs> {
        let scan = Scan::new(Options::new(py, Some(options))?)?;
        let (open, cancel, _reading) = self.begin(py)?;
        let (whole, name, token) = (self.open.clone(), self.name.clone(), cancel.clone());
        run(py, &cancel, || {
            let reader = scan.apply(open)?.batches()?;
            in_file(
                FileRefs::new(
                    whole,
                    Box::new(reader),
                    allow,
                    compare,
                    base,
                    token,
                    name,
                    self.object.clone(),
                ),
                self.name.as_deref(),
            )
        })
    }

    /// Returns what each stage of pruning leaves of the file for a filter, and the number of rows that may match.
    ///
    /// A stage is a tuple of its name, row groups before and after it, rows before and after it, and bytes read.
    fn explain(&self, py: Python<'_>, filter: &str) -> PyResult<(Vec<Stage>, u64)> {
        let (_, cancel, _reading) = self.begin(py)?;
        let limits = Arc::new(self.limits.with_cancel(cancel.clone()));
        run(py, &cancel, || in_file(explain(&self.open, filter, limits), self.name.as_deref()))
    }
}

impl File {
    /// The file for a call, which the token cancels; the call lasts until the last of the three is dropped. Fails if
    /// the caller is a method of the file's own object.
    fn begin(&self, py: Python<'_>) -> PyResult<(OpenFile, CancelToken, Option<Reading>)> {
        let reading = in_file(begin_reading(self.object.as_ref()), self.name.as_deref());
        let reading = reading.map_err(|error| to_python(py, &error))?;
        let cancel = CancelToken::new();
        Ok((self.open.clone().limits(self.limits.with_cancel(cancel.clone())), cancel, reading))
    }
}

type Stage = (&'static str, usize, usize, u64, u64, u64);

fn explain(open: &OpenFile, filter: &str, limits: Arc<Limits>) -> Result<(Vec<Stage>, u64)> {
    let (metadata, source) = (open.metadata(), open.clone().into_source()?);
    let (predicate, _) = prunable_predicate(&Predicate::parse(filter)?, metadata)?;
    let predicate = predicate.bind(metadata.schema())?;
    let options = PruneOptions::default().with_limits(limits);
    let (mut report, mut left) = (PruneReport::default(), 0);
    for group in metadata.row_groups() {
        left += match prune_row_group(&*source, metadata, group.index(), &predicate, &options, &mut report)? {
            RowGroupMatch::None => 0,
            RowGroupMatch::All => group.num_rows(),
            RowGroupMatch::Some(rows) => rows.iter().map(|rows| rows.end - rows.start).sum(),
        };
    }
    let stage = |stage: PruneStage| {
        let of = report.of(stage);
        (stage.name(), of.row_groups, of.row_groups_left, of.rows, of.rows_left, of.bytes)
    };
    Ok((PruneStage::ALL.iter().copied().map(stage).collect(), left))
}

impl Scan {
    fn new(options: Options<'_>) -> PyResult<Self> {
        let scan = Scan {
            columns: options.take("columns")?,
            row_groups: options.take("row_groups")?,
            filter: options.parsed("filter", Predicate::parse)?,
            batch_size: options.take("batch_size")?,
            limit: options.take("limit")?,
            offset: options.take("offset")?,
            threads: options.take("threads")?.unwrap_or(0),
            row_numbers: options.take("row_numbers")?,
            on_corrupt: options.parsed("on_corrupt", on_corrupt)?,
        };
        options.finish()?;
        Ok(scan)
    }

    fn apply(&self, open: OpenFile) -> Result<OpenFile> {
        let mut open = open.threads(self.threads);
        if let Some(columns) = &self.columns {
            open = open.columns(columns.iter().cloned());
        }
        if let Some(name) = &self.row_numbers {
            if open.schema()?.field_with_name(name).is_ok() {
                return Err(Error::argument(format!(
                    "row_numbers is {name}, and a column of this name is read: give the numbers another name, or leave the column out"
                )));
            }
            open = open.row_numbers(name);
        }
        if let Some(row_groups) = &self.row_groups {
            open = open.row_groups(row_groups.iter().copied());
        }
        if let Some(filter) = &self.filter {
            open = open.filter(filter.clone());
        }
        if let Some(rows) = self.batch_size {
            open = open.batch_size(rows);
        }
        if let Some(rows) = self.limit {
            open = open.limit(rows);
        }
        if let Some(rows) = self.offset {
            open = open.offset(rows);
        }
        if let Some(mode) = self.on_corrupt {
            open = open.on_corrupt(mode);
        }
        Ok(open)
    }
}

fn read(open: OpenFile, mut scan: Scan, whole: Option<&str>, options: ArrowReaderOptions) -> Result<Table> {
    let metadata = open.metadata().clone();
    let groups = scan.row_groups.clone().unwrap_or_else(|| (0..metadata.num_row_groups()).collect());
    // The reader reports row groups that do not exist.
    let rows = |group: &usize| match *group < metadata.num_row_groups() {
        true => metadata.row_group(*group).num_rows() as usize,
        false => 0,
    };
    match whole {
        None => collect(scan.apply(open)?),
        Some("file") => {
            scan.batch_size =
                Some(groups.iter().map(rows).fold(0, usize::saturating_add).clamp(1, MOST_ROWS));
            collect(scan.apply(open)?)
        }
        Some("row_group") => {
            let open = with_fitting_int96(open, &scan, options)?;
            let mut all = Table { schema: scan_schema(&scan, &open)?, batches: Vec::new() };
            for group in groups {
                scan.batch_size = Some(rows(&group).clamp(1, MOST_ROWS));
                scan.row_groups = Some(vec![group]);
                let table = collect(scan.apply(open.clone())?)?;
                all.schema = table.schema;
                all.batches.extend(table.batches.into_iter().filter(|batch| batch.num_rows() > 0));
            }
            if all.batches.is_empty() {
                all.batches.push(RecordBatch::new_empty(all.schema.clone()));
            }
            Ok(all)
        }
        Some(other) => Err(Error::argument(format!("whole is {other}, and should be file or row_group"))),
    }
}

/// Maximum rows of a batch: offsets of arrays have 32 bits.
const MOST_ROWS: usize = i32::MAX as usize;

/// The file with INT96 units that hold the values to be read. Each row group on its own would choose its units, but a
/// table has one schema.
fn with_fitting_int96(open: OpenFile, scan: &Scan, mut options: ArrowReaderOptions) -> Result<OpenFile> {
    if let Some(mode) = scan.on_corrupt {
        options = options.with_on_corrupt(mode);
    }
    let options = options.with_default_int96(Int96Unit::Auto);
    let groups = open.metadata().num_row_groups();
    // The reader reports row groups that do not exist.
    let are_there = scan.row_groups.iter().flatten().all(|group| *group < groups);
    if options.int96() != Int96Unit::Auto || !are_there {
        return Ok(open);
    }
    let metadata = ArrowReaderMetadata::try_new(open.metadata().clone(), options.clone())?;
    let source = open.clone().into_source()?;
    let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(source.clone(), metadata);
    let builder = match &scan.columns {
        Some(columns) => builder.with_columns(columns)?,
        None => builder,
    };
    let builder = match &scan.row_groups {
        Some(row_groups) => builder.with_row_groups(row_groups.clone()),
        None => builder,
    };
    let units = builder.fitting_int96()?;
    match units.is_empty() {
        true => Ok(open),
        // This reads the footer again, but dates beyond nanoseconds are rare.
        false => OpenFile::new(source, options.with_int96_units(units)),
    }
}

fn scan_schema(scan: &Scan, open: &OpenFile) -> Result<SchemaRef> {
    scan.apply(open.clone())?.schema()
}

fn collect(open: OpenFile) -> Result<Table> {
    let mut reader = open.batches()?;
    let schema = reader.schema();
    let mut batches = Vec::new();
    while let Some(batch) = reader.next_batch() {
        batches.push(batch?);
    }
    if batches.is_empty() {
        // A column without rows is a chunk, too.
        batches.push(RecordBatch::new_empty(schema.clone()));
    }
    Ok(Table { schema, batches })
}

fn in_file<T>(result: Result<T>, name: Option<&str>) -> Result<T> {
    result.map_err(|error| match name {
        Some(name) => error.in_file(name),
        None => error,
    })
}

/// Parses the options for opening a file.
pub(crate) fn reader_options(
    options: Options<'_>,
    mut limits: Limits,
) -> PyResult<(ArrowReaderOptions, Limits)> {
    let mut out = ArrowReaderOptions::new();
    if let Some(text) = options.parsed("text", string_layout)? {
        out = out.with_default_text(text);
    }
    if options.take("types_of_pyarrow")? != Some(true) {
        out = out.with_hint_policy(|_, stored| Some(widened(stored)));
    } else {
        let asked = options.parsed("text_of_dictionaries", string_layout)?;
        out = out.with_text(None).with_stored_element_names(false);
        out = out.with_hint_policy(move |leaf, stored| pyarrow_types::restored(leaf, stored, asked));
        // `_binary_metadata.py` decodes the digits.
        out = out.with_binary_metadata(true);
    }
    if let Some(int96) = options.parsed("int96", int96_unit)? {
        out = out.with_int96(int96);
    }
    if let Some(verify) = options.take("verify_checksums")? {
        out = out.with_page_checksum_verification(verify);
    }
    if let Some(ignore) = options.take("ignore_arrow_schema")? {
        out = out.with_skip_arrow_metadata(ignore);
    }
    if let Some(recover) = options.take("recover_checkpoint")? {
        out = out.with_checkpoint_recovery(recover);
    }
    if let Some(schema) = options.take::<Py<PyAny>>("schema")? {
        let schema = crate::capsule::import_schema(schema.bind(options.py()))?;
        out = out.with_schema(schema.into());
    }
    if let Some(columns) = options.take::<HashSet<String>>("dictionary_columns")? {
        out = out.with_type_hook(move |leaf| {
            let text = match leaf.logical() {
                Some(logical) if logical.is_text() => DataType::Utf8,
                _ => DataType::Binary,
            };
            let chosen = columns.contains(&**leaf.dotted()) && leaf.physical() == PhysicalType::ByteArray;
            chosen.then(|| DataType::Dictionary(Box::new(DataType::Int32), Box::new(text)))
        });
    }
    if let Some(keys) = options.take::<Py<Decryption>>("decryption")? {
        out = out.with_file_decryption_properties(keys.get().properties());
    }
    if let Some(depth) = options.take("schema_depth")? {
        limits = limits.with_schema_depth(depth);
    }
    if let Some(bytes) = options.take("footer_bytes")? {
        limits = limits.with_footer_bytes(bytes);
    }
    options.finish()?;
    Ok((out, limits))
}

fn string_layout(name: &str) -> Result<StringLayout> {
    Ok(match name {
        "utf8" => StringLayout::Utf8,
        "large_utf8" => StringLayout::LargeUtf8,
        "utf8_view" => StringLayout::Utf8View,
        other => {
            return Err(Error::argument(format!(
                "text is {other}, and should be utf8, large_utf8 or utf8_view"
            )));
        }
    })
}

fn int96_unit(name: &str) -> Result<Int96Unit> {
    Ok(match name {
        "auto" => Int96Unit::Auto,
        "ns" => Int96Unit::Unit(TimeUnit::Nanosecond),
        "us" => Int96Unit::Unit(TimeUnit::Microsecond),
        "ms" => Int96Unit::Unit(TimeUnit::Millisecond),
        "s" => Int96Unit::Unit(TimeUnit::Second),
        other => {
            return Err(Error::argument(format!("int96 is {other}, and should be auto, s, ms, us or ns")));
        }
    })
}

fn on_corrupt(name: &str) -> Result<OnCorrupt> {
    Ok(match name {
        "fail" => OnCorrupt::Fail,
        "skip_page" => OnCorrupt::SkipPage,
        "null_page" => OnCorrupt::NullPage,
        "skip_row_group" => OnCorrupt::SkipRowGroup,
        other => {
            let known = "fail, skip_page, null_page or skip_row_group";
            return Err(Error::argument(format!("on_corrupt is {other}, and should be {known}")));
        }
    })
}
