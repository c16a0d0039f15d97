//! Many files read as one table: directories, patterns, partitions, summary files.
//!
//! ```no_run
//! use marquetry_arrow::dataset::Dataset;
//! // warehouse/wines/country=France/year=2019/part-0.parquet, ..
//! let wines = Dataset::open(["warehouse/wines"])?.columns(["name", "year"]).limit(100);
//! for batch in wines.batches()? {
//!     println!("{} rows", batch?.num_rows());
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Which files
//! A path may be a file; a directory, which means the files below it that end in `.parquet`, `.parq` or `.pq`, or if there
//! is none all of them; a pattern with `*`, `**`, `?` or `[]`; or a summary file (`_metadata`), which means the files that
//! it names. In directories what begins with `.` or `_` is passed over, but for directories like `_key=value`. Paths are
//! read in the order given, the files of a directory or pattern sorted by their paths.
//!
//! A summary is a file from who knows where: the files it names must be below its own directory, links followed.
//!
//! # Partitions
//! A directory called `key=value` on the way to a file, as the path was given, makes a column of all its rows, behind the
//! columns of the files; a column of that name in a file is not read. Values are percent-decoded, and
//! `__HIVE_DEFAULT_PARTITION__` is null. A key whose values are all integers is Int64, one of dates `YYYY-MM-DD` Date32,
//! any other text: `007` is text, so that nothing is lost. [`Dataset::partition_type`] says otherwise.
//!
//! # One schema
//! It is that of the first file. The others must have the same columns, in any order, of types that
//! [become those](crate::evolution) without any value changing; anything else is an error that names the file. With
//! [`Dataset::union_by_name`] the schema has the columns of all files, null where a file has none, each of the narrowest type
//! that holds the values of all. With [`Dataset::evolve`] it is any schema.

mod filter;
mod listing;
mod opened;
mod partition;
mod reader;
mod schema;
mod summary;

pub use filter::Needed;
pub use reader::DatasetReader;

use crate::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions, Int96, ParquetRecordBatchReaderBuilder};
use crate::evolution::{Evolution, MatchBy};
use crate::schema::Text;
use arrow_schema::{DataType, SchemaRef};
use marquetry_base::{Error, Result};
use marquetry_core::io::{LocalFile, read_metadata};
use marquetry_core::predicate::Predicate;
use marquetry_core::source::Source;
use opened::Opened;
use std::collections::HashMap;
use std::fmt::{self, Debug, Formatter};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Files that are read as one table, and what is to be read of them. No file is open until it is its turn.
#[derive(Clone)]
pub struct Dataset {
    files: Vec<DataFile>,
    open: Open,
    opened: opened::Files,
    options: ArrowReaderOptions,
    has_partitions: bool,
    partition_types: HashMap<String, DataType>,
    columns: Option<Vec<String>>,
    union: bool,
    by: MatchBy,
    evolution: Option<Evolution>,
    predicate: Option<Predicate>,
    batch_size: Option<usize>,
    limit: Option<usize>,
    offset: usize,
}

/// How a file is opened.
type Open = Arc<dyn Fn(&Path) -> Result<Arc<dyn Source>> + Send + Sync>;

/// One of the files.
#[derive(Debug, Clone)]
struct DataFile {
    path: PathBuf,
    /// Keys and values of the partitions it is in.
    partitions: Vec<(String, Option<String>)>,
    /// Its row groups, if a summary says which.
    groups: Option<Vec<summary::Group>>,
}

impl DataFile {
    fn new(path: PathBuf, groups: Option<Vec<summary::Group>>) -> Self {
        DataFile { partitions: partition::pairs(&path), path, groups }
    }

    fn name(&self) -> Arc<str> {
        self.path.display().to_string().into()
    }

    /// Its value of a key; the inner `None` is null.
    fn partition(&self, key: &str) -> Option<Option<&str>> {
        let pair = self.partitions.iter().rfind(|(name, _)| name == key);
        pair.map(|(_, value)| value.as_deref())
    }
}

impl Dataset {
    /// The files that these paths mean, see [above](self). None is opened but summaries.
    ///
    /// Fails if a directory cannot be read, if a path means no file, and if a summary is none, names a file outside of
    /// its directory, or one that does not exist.
    pub fn open<P: AsRef<Path>>(paths: impl IntoIterator<Item = P>) -> Result<Self> {
        let paths: Vec<P> = paths.into_iter().collect();
        let mut files = Vec::new();
        for path in &paths {
            let path = path.as_ref();
            let in_file = |error: Error| error.in_file(path.display().to_string());
            let may_be_summary = paths.len() == 1 && path.is_file() || path.ends_with("_metadata");
            let parts = if may_be_summary { summary_parts(path).map_err(in_file)? } else { None };
            match parts {
                Some(parts) => files.extend(parts),
                None => {
                    let found = listing::files(path).map_err(in_file)?;
                    files.extend(found.into_iter().map(|path| DataFile::new(path, None)));
                }
            }
        }
        Dataset::new(files, Arc::new(|path| Ok(Arc::new(LocalFile::open(path)?))))
    }

    /// Files that are anywhere, each opened by `open` when it is its turn, and of very many files more than once. Partitions are told
    /// by the paths. Fails if there is none.
    pub fn from_files<P: Into<PathBuf>>(
        paths: impl IntoIterator<Item = P>,
        open: impl Fn(&Path) -> Result<Arc<dyn Source>> + Send + Sync + 'static,
    ) -> Result<Self> {
        let files = paths.into_iter().map(|path| DataFile::new(path.into(), None));
        Dataset::new(files.collect(), Arc::new(open))
    }

    fn new(files: Vec<DataFile>, open: Open) -> Result<Self> {
        if files.is_empty() {
            return Err(Error::argument("no files to read"));
        }
        Ok(Dataset {
            files,
            open,
            opened: opened::Files::default(),
            options: ArrowReaderOptions::new().with_text(Text::Utf8View).with_int96(Int96::Fitting),
            has_partitions: true,
            partition_types: HashMap::new(),
            columns: None,
            union: false,
            by: MatchBy::default(),
            evolution: None,
            predicate: None,
            batch_size: None,
            limit: None,
            offset: 0,
        })
    }

    /// The files, in the order in which they are read.
    pub fn files(&self) -> impl ExactSizeIterator<Item = &Path> {
        self.files.iter().map(|file| file.path.as_path())
    }

    /// How each file is read. Default: text as views, INT96 timestamps in a unit that holds those of all files, which
    /// takes reading these columns twice. A schema in the options is ignored: [`evolve`](Self::evolve) is for that.
    #[must_use]
    pub fn options(mut self, options: ArrowReaderOptions) -> Self {
        self.options = ArrowReaderOptions { schema: None, ..options };
        self
    }

    /// Reads only these columns, and all below them, in this order: dotted paths, and keys of partitions. What other
    /// columns the files have does not matter then.
    #[must_use]
    pub fn columns<S: Into<String>>(mut self, columns: impl IntoIterator<Item = S>) -> Self {
        self.columns = Some(columns.into_iter().map(Into::into).collect());
        self
    }

    /// Whether the schema has the columns of all files, whose footers are all read for that, instead of those of the
    /// first. Default false.
    #[must_use]
    pub fn union_by_name(mut self, union: bool) -> Self {
        self.union = union;
        self
    }

    /// How columns of one file are found in another. Default: by name.
    #[must_use]
    pub fn match_by(mut self, by: MatchBy) -> Self {
        self.by = by;
        self
    }

    /// Reads all files as this schema. A column that is called as a key of the partitions has their values, and its type is
    /// theirs. It says which columns are read: [`columns`](Self::columns) has no effect then.
    #[must_use]
    pub fn evolve(mut self, evolution: Evolution) -> Self {
        self.evolution = Some(evolution);
        self
    }

    /// Only rows for which `predicate` is true, of columns of the files and keys of partitions. Files whose partitions say
    /// that they have no such row are not opened; of others, what statistics and indexes rule out is not read.
    #[must_use]
    pub fn filter(mut self, predicate: Predicate) -> Self {
        self.predicate = Some(predicate);
        self
    }

    /// Whether directories called `key=value` make columns. Default true.
    #[must_use]
    pub fn partitions(mut self, are_columns: bool) -> Self {
        self.has_partitions = are_columns;
        self
    }

    /// The type of a key of the partitions. A value that is none of that type is an error.
    #[must_use]
    pub fn partition_type(mut self, key: impl Into<String>, data_type: DataType) -> Self {
        self.partition_types.insert(key.into(), data_type);
        self
    }

    /// Rows in a batch; the last one of a file may have fewer. Default 8,192.
    #[must_use]
    pub fn batch_size(mut self, rows: usize) -> Self {
        self.batch_size = Some(rows);
        self
    }

    /// Most rows to read of all files together, of those that are wanted.
    #[must_use]
    pub fn limit(mut self, rows: usize) -> Self {
        self.limit = Some(rows);
        self
    }

    /// Rows to pass over first, of those that are wanted. Files that are passed over as a whole are opened for their footers
    /// only, unless there is a filter.
    #[must_use]
    pub fn offset(mut self, rows: usize) -> Self {
        self.offset = rows;
        self
    }

    /// The schema that batches will have. Reads the first file's footer, or those of all where
    /// [`union_by_name`](Self::union_by_name) or INT96 timestamps ask for it.
    pub fn schema(&self) -> Result<SchemaRef> {
        Ok(self.plan()?.evolution.schema().clone())
    }

    /// How many rows all files have, whatever is chosen of them. Reads all footers.
    pub fn num_rows(&self) -> Result<u64> {
        let mut rows = 0u64;
        for file in &self.files {
            let opened = self.builder(file, &self.options)?;
            rows = rows.saturating_add(opened.chosen_rows());
        }
        Ok(rows)
    }

    /// The rows. Fails if a column does not exist, or if the files can have no schema in common.
    pub fn batches(self) -> Result<DatasetReader> {
        DatasetReader::new(self)
    }

    /// A file's footer, and its row groups if not all are its part of the table.
    fn builder(
        &self,
        file: &DataFile,
        options: &ArrowReaderOptions,
    ) -> Result<ParquetRecordBatchReaderBuilder<Arc<dyn Source>>> {
        let open = || {
            let opened = self.opened.get(&file.path, || {
                let source = (self.open)(&file.path)?;
                let metadata = ArrowReaderMetadata::load(source.clone(), self.options.clone())?;
                Ok(Opened { source, metadata: metadata.metadata().clone() })
            })?;
            let metadata = ArrowReaderMetadata::try_new(opened.metadata, options.clone())?;
            let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(opened.source, metadata);
            Ok(match &file.groups {
                Some(groups) => {
                    let row_groups = summary::row_groups(builder.metadata(), groups)?;
                    builder.with_row_groups(row_groups)
                }
                None => builder,
            })
        };
        open().map_err(|error: Error| error.in_file(file.name()))
    }
}

/// Of all files that a store has, those that `path` means, as [`Dataset::open`] finds them on a disk: those that it fits if
/// it is a pattern, and those below the folders that it fits, or that it is. Names and path have `/` between their parts.
/// In alphabetical order.
///
/// Fails if the pattern is none.
///
/// ```
/// let names = ["events/_SUCCESS", "events/day=1/a.parquet", "events/day=2/a.parquet", "other/b.parquet"];
/// assert_eq!(marquetry_arrow::dataset::files_among("events/", names)?, names[1..3]);
/// assert_eq!(marquetry_arrow::dataset::files_among("events/day=2/*.parquet", names)?, names[2..3]);
/// # Ok::<(), marquetry_base::Error>(())
/// ```
pub fn files_among<'a>(path: &str, names: impl IntoIterator<Item = &'a str>) -> Result<Vec<&'a str>> {
    listing::among(path, names)
}

/// Whether the name ends as those of Parquet files do: in `.parquet`, `.parq` or `.pq`.
pub fn is_named_parquet(path: impl AsRef<Path>) -> bool {
    listing::is_named_parquet(path.as_ref())
}

/// The files of a summary; `None` if the file is none.
fn summary_parts(path: &Path) -> Result<Option<Vec<DataFile>>> {
    let source = LocalFile::open(path)?;
    let metadata = read_metadata(&source, &Default::default())?.metadata;
    if !summary::is_summary(&metadata) {
        return Ok(None);
    }
    let parts = summary::parts(path, &metadata)?.into_iter();
    Ok(Some(parts.map(|part| DataFile::new(part.path, Some(part.groups))).collect()))
}

impl Debug for Dataset {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dataset").field("files", &self.files.len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
