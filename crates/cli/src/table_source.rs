//! The source of a table: one file, or many.
//!
//! A directory and a summary file (`_metadata`) are always one table. Of several files `cat` and `convert` make one;
//! the other commands look at each.

use crate::args::{Selection, TableArgs};
use crate::bounded_rows::BoundedRows;
use crate::convert::{CutTimes, TimesAs, plain_batch, plain_columns, read_exactly};
use crate::failure::{Failure, line};
use crate::file_name;
use crate::geo_labels::{labelled, labelled_by_files};
use crate::keys;
use crate::remote;
use crate::standard_input;
use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use marquetry::OpenFile;
use marquetry::arrow::arrow_reader::{ArrowReaderOptions, Int96Unit, LossReport};
use marquetry::dataset::{Dataset, DatasetReader};
use marquetry::errors::{Error, Result};
use marquetry::metrics::ReadMetrics;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Rows with one schema.
pub(crate) enum TableSource {
    /// Rows of one file.
    File(OpenFile),
    /// Rows of many files.
    Files(Dataset),
}

impl TableSource {
    /// All that the paths refer to, as one table.
    pub(crate) fn open(paths: &[PathBuf], together: &TableArgs) -> Result<Self> {
        match paths {
            [one] => TableSource::open_one(one, together),
            several if several.iter().any(|path| remote::is_url(path)) => {
                if let Some(local) = several.iter().find(|path| !remote::is_url(path)) {
                    let message = "files in stores and files of this machine are not read as one table";
                    return Err(Error::argument(message).in_file(file_name::shown(local)));
                }
                let files = several.iter().map(|url| remote::files(url)).collect::<Result<Vec<_>>>()?;
                TableSource::of_urls(files.into_iter().flatten(), together)
            }
            several if several.iter().any(|path| standard_input::is_meant(path)) => {
                let message = "standard input is read alone: to read it with files, put it into one";
                Err(Error::argument(message).in_file("-"))
            }
            several => Ok(TableSource::Files(with_keys(together.apply(marquetry::dataset(several)?)))),
        }
    }

    /// All that one path refers to.
    pub(crate) fn open_one(path: &Path, together: &TableArgs) -> Result<Self> {
        if remote::is_url(path) {
            if path.ends_with("_metadata") {
                let url = path.to_string_lossy();
                let files = Dataset::from_summary(&url, remote::source)?;
                return match files.files().eq([path]) {
                    true => remote::open(path).map(TableSource::File),
                    false => Ok(TableSource::Files(together.apply(files))),
                };
            }
            let files = remote::files(path)?;
            return match files.as_slice() {
                [itself] if itself == path => remote::open(path).map(TableSource::File),
                _ => TableSource::of_urls(files, together),
            };
        }
        if standard_input::is_meant(path) {
            return remote::open(path).map(TableSource::File);
        }
        if path.is_file() && !path.ends_with("_metadata") {
            return remote::open(path).map(TableSource::File);
        }
        let files = marquetry::dataset([path])?;
        // A path that stands for itself alone is a file like any other.
        let is_itself = files.files().eq([path]);
        match is_itself {
            true => remote::open(path).map(TableSource::File),
            false => Ok(TableSource::Files(with_keys(together.apply(files)))),
        }
    }

    /// Opens a file that may have no footer yet, up to its last checkpoint, and reports where that is.
    pub(crate) fn open_unfinished(path: &Path) -> Result<Self> {
        let options = keys::reader_options().with_checkpoint_recovery(true);
        let file = remote::open_with_options(path, options)?;
        if let Some(end) = file.recovered_end() {
            let said = format_args!("not finished: read up to its last checkpoint, which ends at byte {end}");
            // There is nowhere left to report that this failed.
            let _ = writeln!(io::stderr(), "{}", line(Some(path), said));
        }
        Ok(TableSource::File(file))
    }

    fn of_urls(urls: impl IntoIterator<Item = PathBuf>, together: &TableArgs) -> Result<Self> {
        Ok(TableSource::Files(with_keys(together.apply(Dataset::from_files(urls, remote::source)?))))
    }

    /// The chosen rows, at most `limit`, without dictionary and run-end encoded arrays. Reports times of many files that lose digits.
    pub(crate) fn plain_rows(
        self,
        selection: &Selection,
        limit: Option<usize>,
        batch_rows: usize,
    ) -> Result<Rows> {
        match self {
            TableSource::File(file) => {
                let file = plain_columns(selection.repaired(file), TimesAs::Text)?;
                let metadata = file.metadata().clone();
                let reader = BoundedRows::new(file, selection, limit, batch_rows)?;
                let labelled = labelled(&reader.schema(), &metadata);
                Ok(Rows::File(Box::new(reader), labelled))
            }
            TableSource::Files(files) => {
                let options = keys::reader_options()
                    .with_text(marquetry::arrow::StringLayout::Utf8View)
                    .with_int96(Int96Unit::Auto);
                let paths: Vec<PathBuf> = files.files().map(Path::to_owned).collect();
                let of = |options| chosen(files.clone(), selection, limit, batch_rows, options);
                let rows = read_exactly(of, options, true)?;
                CutTimes::of_files(&paths, &rows.coarse, &rows.fitting)?.tell(None);
                let schema = rows.exact.unwrap_or(rows.fitting);
                let schema = labelled_by_files(schema, paths.iter().map(PathBuf::as_path));
                Ok(Rows::Files(Box::new(rows.reader), schema))
            }
        }
    }
}

/// The files, read with the keys that were given.
fn with_keys(files: Dataset) -> Dataset {
    match keys::given() {
        Some(_) => files.options(
            keys::reader_options()
                .with_text(marquetry::arrow::StringLayout::Utf8View)
                .with_int96(Int96Unit::Auto),
        ),
        None => files,
    }
}

/// The chosen rows and columns of many files.
pub(crate) fn chosen(
    files: Dataset,
    selection: &Selection,
    limit: Option<usize>,
    batch_rows: usize,
    options: ArrowReaderOptions,
) -> Dataset {
    let options = options.with_page_checksum_verification(!selection.no_verify);
    let options = selection.repaired_options(options);
    let mut files = files.options(options).offset(selection.offset).batch_size(batch_rows);
    if let Some(columns) = selection.columns() {
        files = files.columns(columns);
    }
    if let Some(condition) = &selection.condition {
        files = files.filter(condition.clone());
    }
    if let Some(limit) = limit {
        files = files.limit(limit);
    }
    files
}

/// The rows of a table.
pub(crate) enum Rows {
    /// With the schema that marks geometries, if only the file's metadata does.
    File(Box<BoundedRows>, Option<SchemaRef>),
    /// With the schema that batches are converted to.
    Files(Box<DatasetReader>, SchemaRef),
}

impl Rows {
    /// The schema of every batch.
    pub(crate) fn schema(&self) -> SchemaRef {
        match self {
            Rows::File(reader, labelled) => labelled.clone().unwrap_or_else(|| reader.schema()),
            Rows::Files(_, schema) => schema.clone(),
        }
    }

    /// The next batch.
    pub(crate) fn next_batch(&mut self) -> Option<Result<RecordBatch, Failure>> {
        match self {
            Rows::File(reader, labelled) => {
                let batch = reader.next_batch()?.map_err(Failure::from);
                Some(batch.and_then(|batch| {
                    match labelled {
                        Some(schema) => Ok(batch
                            .with_schema(schema.clone())
                            .map_err(|error| Error::argument(error.to_string()))?),
                        None => Ok(batch),
                    }
                }))
            }
            Rows::Files(reader, schema) => {
                let batch = reader.next_batch()?.map_err(Failure::from);
                Some(batch.and_then(|batch| match batch.schema() == *schema {
                    true => Ok(batch),
                    false => Ok(plain_batch(&batch, schema)?),
                }))
            }
        }
    }

    /// The file of the last batch; `path` is the name of a single one.
    pub(crate) fn file<'a>(&'a self, path: &'a Path) -> &'a Path {
        match self {
            Rows::File(..) => path,
            Rows::Files(reader, _) => reader.path().unwrap_or(path),
        }
    }

    /// The cost of reading so far.
    pub(crate) fn metrics(&self) -> ReadMetrics {
        match self {
            Rows::File(reader, _) => reader.metrics(),
            Rows::Files(reader, _) => reader.metrics(),
        }
    }

    /// The losses by file; `path` is the name of a single one.
    pub(crate) fn losses(&self, path: &Path) -> Vec<(PathBuf, LossReport)> {
        match self {
            Rows::File(reader, _) => vec![(path.to_owned(), reader.loss_report())],
            Rows::Files(reader, _) => losses_of(reader),
        }
    }
}

/// The losses of many files.
pub(crate) fn losses_of(reader: &DatasetReader) -> Vec<(PathBuf, LossReport)> {
    let reports = reader.loss_reports().into_iter();
    reports.map(|(name, report)| (PathBuf::from(&*name), report)).collect()
}

impl TableArgs {
    fn apply(&self, files: Dataset) -> Dataset {
        let files = files.union_by_name(self.union_by_name).partitions(!self.no_partitions);
        self.partition_type
            .iter()
            .fold(files, |files, (key, data_type)| files.partition_type(key, data_type.clone()))
    }
}
