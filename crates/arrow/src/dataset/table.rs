//! A dataset: files that are read as one table, and the choice of what to read of them.

use super::choice::Choice;
use super::data_file::DataFile;
use super::opened::{Files, Opened};
use super::summary;
use crate::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use crate::evolution::{Evolution, MatchBy};
use arrow_schema::{DataType, Fields, SchemaRef};
use marquetry_base::{Error, Result};
use marquetry_core::io::read_metadata;
use marquetry_core::predicate::Predicate;
use marquetry_core::source::Source;
use std::fmt::{self, Debug, Formatter};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A table that consists of files, and the choice of what to read from it. A file is opened only when it is needed.
///
/// `S` is the source that a file is read from: a [`Source`], or an `AsyncSource`.
pub struct Dataset<S: ?Sized = dyn Source> {
    pub(super) choice: Choice,
    pub(super) open: Open<S>,
    pub(super) opened: Files<S>,
}

/// A function that opens a file.
pub(super) type Open<S> = Arc<dyn Fn(&Path) -> Result<Arc<S>> + Send + Sync>;

impl Dataset {
    /// Creates a dataset of files at any place. `open` opens each file when it is needed, and more than once if there
    /// are very many. The paths define the partitions. Fails if there are no files.
    pub fn from_files<P: Into<PathBuf>>(
        paths: impl IntoIterator<Item = P>,
        open: impl Fn(&Path) -> Result<Arc<dyn Source>> + Send + Sync + 'static,
    ) -> Result<Self> {
        let files = paths.into_iter().map(|path| DataFile::new(path.into(), None));
        Dataset::new(files.collect(), Arc::new(open))
    }

    /// Creates a dataset of the files that the summary (`_metadata`) at `path` lists, or of that file alone if it is no
    /// summary.
    ///
    /// `open` opens the summary and the files. Their paths are `path` up to its last slash, and the names in the
    /// summary. This is for files in stores: links are not considered.
    ///
    /// Fails if the summary cannot be opened, if its footer cannot be read, or if it lists a file outside its folder.
    pub fn from_summary(
        path: &str,
        open: impl Fn(&Path) -> Result<Arc<dyn Source>> + Send + Sync + 'static,
    ) -> Result<Self> {
        let parts = || {
            let source = open(Path::new(path))?;
            let metadata = read_metadata(&*source, &Default::default())?.metadata;
            summary::files_in_store(path, &metadata)
        };
        let parts = parts().map_err(|error| error.in_file(path))?;
        Dataset::new(parts, Arc::new(open))
    }

    /// Returns the schema that batches will have. Reads the first file's footer, or all footers if
    /// [`union_by_name`](Self::union_by_name) or INT96 timestamps require it.
    pub fn schema(&self) -> Result<SchemaRef> {
        Ok(self.plan()?.schema(&self.choice))
    }

    /// Returns the number of rows in all files, before any filter, limit or offset. Reads all footers.
    pub fn num_rows(&self) -> Result<u64> {
        let mut rows = 0u64;
        for file in &self.choice.files {
            rows = rows.saturating_add(self.builder(file)?.chosen_rows());
        }
        Ok(rows)
    }

    /// Opens a file to be read. Chooses its row groups, if not all are in the table.
    pub(super) fn builder(
        &self,
        file: &DataFile,
    ) -> Result<ParquetRecordBatchReaderBuilder<Arc<dyn Source>>> {
        let build = || {
            let Opened { source, metadata } = self.opened(file)?;
            let row_groups = file.row_groups(metadata.metadata())?;
            let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(source, metadata);
            Ok(match row_groups {
                Some(row_groups) => builder.with_row_groups(row_groups),
                None => builder,
            })
        };
        build().map_err(|error: Error| error.in_file(file.name()))
    }

    pub(super) fn opened(&self, file: &DataFile) -> Result<Opened<dyn Source>> {
        let options = &self.choice.options;
        if let Some(opened) = self.opened.get(&file.path) {
            return opened.read_as(options);
        }
        let source = (self.open)(&file.path)?;
        let metadata = ArrowReaderMetadata::load(source.clone(), options.clone())?;
        let opened = Opened { source, metadata };
        self.opened.keep(&file.path, &opened);
        Ok(opened)
    }
}

/// The choice of what to read.
impl<S: ?Sized> Dataset<S> {
    pub(super) fn new(files: Vec<DataFile>, open: Open<S>) -> Result<Self> {
        Ok(Dataset { choice: Choice::new(files)?, open, opened: Files::default() })
    }

    /// Returns the files, in the order in which they are read.
    pub fn files(&self) -> impl ExactSizeIterator<Item = &Path> {
        self.choice.files.iter().map(|file| file.path.as_path())
    }

    /// Returns the partition keys as fields, in the order in which they first occur, with types that fit their values in all
    /// files. A key is nullable if a file has no value for it. No file is opened.
    ///
    /// Fails if a file lacks a key that others have, unless [`union_by_name`](Self::union_by_name) or
    /// [`evolve`](Self::evolve) is set.
    pub fn partition_fields(&self) -> Result<Fields> {
        self.choice.key_fields()
    }

    /// Returns the text that the directories of each of the [files](Self::files) have for a partition key; `None` if they have none,
    /// or null.
    ///
    /// ```
    /// # use marquetry_arrow::dataset::Dataset;
    /// let names = ["day=1/a", "day=__HIVE_DEFAULT_PARTITION__/b", "day=a%20b/c"];
    /// let events = Dataset::from_files(names, |_| unreachable!("no file is opened"))?;
    /// assert_eq!(events.partition_texts("day").collect::<Vec<_>>(), [Some("1"), None, Some("a b")]);
    /// # Ok::<(), marquetry_base::Error>(())
    /// ```
    pub fn partition_texts<'a>(&'a self, key: &'a str) -> impl ExactSizeIterator<Item = Option<&'a str>> {
        self.choice.files.iter().map(move |file| file.partition(key).flatten())
    }

    /// Sets how each file is read.
    ///
    /// Default: text as views, and INT96 timestamps in a unit that holds those of all files, which takes a second read
    /// of these columns. A schema in the options is ignored: use [`evolve`](Self::evolve).
    #[must_use]
    pub fn options(mut self, options: ArrowReaderOptions) -> Self {
        self.choice.options = ArrowReaderOptions { schema: None, ..options };
        self
    }

    /// Reads only these columns, and all below them, in this order. Names are dotted paths and partition keys. Other
    /// columns of the files then do not matter.
    #[must_use]
    pub fn columns<N: Into<String>>(mut self, columns: impl IntoIterator<Item = N>) -> Self {
        self.choice.columns = Some(columns.into_iter().map(Into::into).collect());
        self
    }

    /// Sets whether the schema has the columns of all files instead of the first file's. All footers are read for that.
    /// Default false.
    #[must_use]
    pub fn union_by_name(mut self, union: bool) -> Self {
        self.choice.union = union;
        self
    }

    /// Sets how a column of one file is found in another. Default: by name.
    #[must_use]
    pub fn match_by(mut self, by: MatchBy) -> Self {
        self.choice.by = by;
        self
    }

    /// Reads all files as this schema. A column with the name of a partition key has that key's values and type. The
    /// schema decides which columns are read, so [`columns`](Self::columns) has no effect.
    #[must_use]
    pub fn evolve(mut self, evolution: Evolution) -> Self {
        self.choice.evolution = Some(evolution);
        self
    }

    /// Returns the schema set by [`evolve`](Self::evolve). Parts of a table have one, too.
    pub fn evolution(&self) -> Option<&Evolution> {
        self.choice.evolution.as_ref()
    }

    /// Reads only rows for which `predicate` is true, over columns of the files and partition keys. Files whose
    /// partition values rule out a match are not opened; in others, what statistics and indexes rule out is not read.
    ///
    /// The predicate's columns have their names in the table, and are found in each file as
    /// [`match_by`](Self::match_by) says. By field id, a column that the table is not known to have, or that has no id,
    /// is an error.
    #[must_use]
    pub fn filter(mut self, predicate: Predicate) -> Self {
        self.choice.predicate = Some(predicate);
        self
    }

    /// Sets whether directories named `key=value` make columns. Default true.
    #[must_use]
    pub fn partitions(mut self, are_columns: bool) -> Self {
        self.choice.has_partitions = are_columns;
        self
    }

    /// Sets the type of a partition key. A value that does not fit the type is an error.
    #[must_use]
    pub fn partition_type(mut self, key: impl Into<String>, data_type: DataType) -> Self {
        self.choice.partition_types.insert(key.into(), data_type);
        self
    }

    /// Sets how many rows a batch has; the last one of a file may have fewer. Default 8,192.
    #[must_use]
    pub fn batch_size(mut self, rows: usize) -> Self {
        self.choice.batch_size = Some(rows);
        self
    }

    /// Sets the maximum number of rows to read from all files together, counted after the filter.
    #[must_use]
    pub fn limit(mut self, rows: usize) -> Self {
        self.choice.limit = Some(rows);
        self
    }

    /// Sets the number of rows to skip first, counted after the filter. Of files that are skipped as a whole only the
    /// footers are read, unless there is a filter.
    #[must_use]
    pub fn offset(mut self, rows: usize) -> Self {
        self.choice.offset = rows;
        self
    }
}

impl<S: ?Sized> Clone for Dataset<S> {
    fn clone(&self) -> Self {
        Dataset { choice: self.choice.clone(), open: self.open.clone(), opened: self.opened.clone() }
    }
}

impl<S: ?Sized> Debug for Dataset<S> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dataset").field("files", &self.choice.files.len()).finish_non_exhaustive()
    }
}
