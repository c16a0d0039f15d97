//! Parquet files.

use super::byte_stream::ByteStream;
use super::input::{Input, InputOptions, Losses, put_down};
use super::wide_keys::{have_room, wide_schema, wide_type};
use crate::bounded_rows::BoundedRows;
use crate::convert::{
    CutTimes, TableRows, TimesAs, far_times_as_bytes, is_int96, plain_batch, plain_columns, read_exactly,
    with_timestamps,
};
use crate::failure::Failure;
use crate::keys;
use crate::remote;
use crate::table_source::{self, TableSource};
use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{DataType, FieldRef, Schema, SchemaRef};
use marquetry::OpenFile;
use marquetry::arrow::StringLayout;
use marquetry::arrow::arrow_reader::{ArrowReaderMetadata, ChunkReader, Int96Unit};
use marquetry::file::LocalFile;
use marquetry::metrics::ReadMetrics;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Opens a Parquet file; unwanted columns and rows are not read.
pub(super) fn open(mut origin: ByteStream, wanted: &InputOptions<'_>) -> Result<Input, Failure> {
    let file = match origin.path() {
        Some(path) if !is_pipe(path) => remote::open(path)?,
        // The footer is at the end, which reading from front to back cannot reach first.
        _ => OpenFile::new(Arc::new(LocalFile::new(origin.file()?)?), keys::reader_options())?,
    };
    of_file(file, &origin, wanted)
}

fn of_file(file: OpenFile, origin: &ByteStream, wanted: &InputOptions<'_>) -> Result<Input, Failure> {
    let file = wanted.selection.repaired(file);
    let file = if wanted.plain { plain_columns(file, wanted.times)? } else { stored_columns(file, wanted)? };
    let open = |file: OpenFile| BoundedRows::new(file, wanted.selection, wanted.limit, wanted.batch_rows);
    let mut reader = open(file.clone())?;
    let (mut timed, cut_times) = (None, Arc::default());
    if wanted.times == TimesAs::Timestamps
        && let Some(exact) = far_times_as_bytes(&file, &file.schema()?)?
    {
        timed = Some((reader.schema(), Arc::clone(&cut_times)));
        reader = open(wanted.selection.repaired(exact))?;
    }
    let rows = file.metadata().num_rows().saturating_sub(wanted.selection.offset as u64);
    let rows = rows.min(wanted.limit.map_or(u64::MAX, |limit| limit as u64));
    let schema = timed.as_ref().map_or_else(|| reader.schema(), |(schema, _)| schema.clone());
    let (losses, metrics) = (Arc::<Mutex<Losses>>::default(), Arc::<Mutex<Option<ReadMetrics>>>::default());
    let path = origin.path().unwrap_or(Path::new("-")).to_owned();
    Ok(Input {
        schema,
        batches: Box::new(Reader { reader, path, losses: losses.clone(), metrics: metrics.clone(), timed }),
        losses,
        metrics,
        cut_times,
        rows: wanted.selection.condition.is_none().then_some(rows),
        bytes: None,
        bytes_read: origin.bytes_read(),
        parquet: Some(file),
        files: Vec::new(),
    })
}

/// Opens many files as one table, or one that is not a regular file.
pub(super) fn open_many(paths: &[PathBuf], wanted: &InputOptions<'_>) -> Result<Input, Failure> {
    let files = match TableSource::open(paths, wanted.together)? {
        TableSource::Files(files) => files,
        TableSource::File(file) => return of_file(file, &ByteStream::new(&paths[0]), wanted),
    };
    let names: Vec<PathBuf> = files.files().map(Path::to_owned).collect();
    // The dictionaries of several files are combined.
    let options =
        keys::reader_options().with_int96(Int96Unit::Auto).with_hint_policy(|_, hint| Some(wide_type(hint)));
    let options = if wanted.plain { options.with_text(StringLayout::Utf8View) } else { options };
    // With a condition, files may be skipped without reading their footers.
    let rows = match &wanted.selection.condition {
        Some(_) => None,
        None => Some(files.num_rows()?.saturating_sub(wanted.selection.offset as u64)),
    };
    let rows = rows.map(|rows| rows.min(wanted.limit.map_or(u64::MAX, |limit| limit as u64)));
    let chosen = |options| {
        table_source::chosen(files.clone(), wanted.selection, wanted.limit, wanted.batch_rows, options)
    };
    let TableRows { mut reader, fitting, exact, coarse } = read_exactly(chosen, options, wanted.plain)?;
    let are_cut = wanted.times == TimesAs::Timestamps;
    let cut = CutTimes::of_files(&names, &coarse, &fitting)?;
    let cut_times = Arc::new(Mutex::new(cut));
    // The schemas of rows before INT96 becomes timestamps, and after that.
    let read = exact.clone().unwrap_or_else(|| fitting.clone());
    let timed = exact.filter(|_| are_cut).map(|_| (fitting, cut_times.clone()));
    let schema = timed.as_ref().map_or_else(|| read.clone(), |(fitting, _)| fitting.clone());
    let (losses, metrics) = (Arc::<Mutex<Losses>>::default(), Arc::<Mutex<Option<ReadMetrics>>>::default());
    let (told, cost, is_plain) = (losses.clone(), metrics.clone(), wanted.plain);
    let batches = std::iter::from_fn(move || {
        let batch = reader.next_batch();
        if !matches!(batch, Some(Ok(_))) {
            put_down(&told, table_source::losses_of(&reader));
            put_down(&cost, Some(reader.metrics()));
        }
        Some(batch?.map_err(Failure::from).and_then(|batch| {
            // Columns that become timestamps need no mark as INT96 before.
            let is_as_read = batch.schema() == read || timed.is_some() && !is_plain;
            let batch = if is_as_read { batch } else { plain_batch(&batch, &read)? };
            as_timestamps(batch, timed.as_ref())
        }))
    });
    Ok(Input {
        schema,
        batches: Box::new(batches),
        losses,
        metrics,
        cut_times,
        rows,
        bytes: None,
        bytes_read: Arc::default(),
        parquet: None,
        files: names,
    })
}

/// A schema with timestamps for INT96 that is read as bytes, and the count of those that lose digits.
type Timed = (SchemaRef, Arc<Mutex<CutTimes>>);

fn as_timestamps(batch: RecordBatch, timed: Option<&Timed>) -> Result<RecordBatch, Failure> {
    let Some((schema, cut)) = timed else { return Ok(batch) };
    let mut cut = cut.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(with_timestamps(&batch, schema, &mut cut)?)
}

/// The file, read in the layouts of the stored Arrow schema: text as it was, dictionaries as dictionaries, with wider
/// keys if those of all row groups together need them.
fn stored_columns(file: OpenFile, wanted: &InputOptions<'_>) -> Result<OpenFile, Failure> {
    let source = file.clone().into_source()?;
    let options = wanted.selection.repaired_options(keys::reader_options());
    let stored = ArrowReaderMetadata::load(source.clone(), options)?.schema().clone();
    let mut fields: Vec<FieldRef> = stored.fields().iter().cloned().collect();
    if file.metadata().schema().columns().iter().any(is_int96) {
        // Their unit is one that holds their values, which only this reader determines.
        let fitting = file.clone().batches()?.schema();
        for (field, fitting) in fields.iter_mut().zip(fitting.fields()) {
            if contains_timestamp(fitting.data_type()) {
                field.clone_from(fitting);
            }
        }
    }
    let mut schema = Schema::new_with_metadata(fields, stored.metadata().clone());
    let wide = wide_schema(&schema);
    if wide != schema && (wanted.is_sorted || !have_room(&file, &schema)) {
        schema = wide;
    }
    let schema = Arc::new(schema);
    Ok(OpenFile::new(source, keys::reader_options().with_schema(schema))?)
}

fn contains_timestamp(data_type: &DataType) -> bool {
    match data_type {
        DataType::Timestamp(..) => true,
        DataType::Struct(fields) => fields.iter().any(|field| contains_timestamp(field.data_type())),
        DataType::List(field) | DataType::LargeList(field) | DataType::Map(field, _) => {
            contains_timestamp(field.data_type())
        }
        DataType::ListView(field) | DataType::LargeListView(field) | DataType::FixedSizeList(field, _) => {
            contains_timestamp(field.data_type())
        }
        _ => false,
    }
}

fn is_pipe(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir())
}

struct Reader {
    reader: BoundedRows,
    path: PathBuf,
    losses: Arc<Mutex<Losses>>,
    metrics: Arc<Mutex<Option<ReadMetrics>>>,
    timed: Option<Timed>,
}

impl Iterator for Reader {
    type Item = Result<RecordBatch, Failure>;

    fn next(&mut self) -> Option<Self::Item> {
        let batch = self.reader.next_batch();
        if !matches!(batch, Some(Ok(_))) {
            put_down(&self.losses, vec![(self.path.clone(), self.reader.loss_report())]);
            put_down(&self.metrics, Some(self.reader.metrics()));
        }
        Some(batch?.map_err(Failure::from).and_then(|batch| as_timestamps(batch, self.timed.as_ref())))
    }
}
