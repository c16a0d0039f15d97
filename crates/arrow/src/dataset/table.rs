//! A dataset: files that are read as one table, and the choice of what to read of them.

use super::choice::Choice;
use super::data_file::DataFile;
use super::opened::{Files, Opened};
use super::summary;
use crate::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use crate::evolution::{Evolution, MatchBy};
use arrow_schema::{DataType, SchemaRef};
use marquetry_base::{Error, Result};
use marquetry_core::io::read_metadata;
use marquetry_core::predicate::Predicate;
use marquetry_core::source::Source;
use std::fmt::{self, Debug, Formatter};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Files that are read as one table, and the choice of what to read of them. A file is opened only when it is its turn.
///
/// `S` is the kind of source: a [`Source`], or an `AsyncSource` for remote files.
pub struct Dataset<S: ?Sized = dyn Source> {
    pub(super) choice: Choice,
    pub(super) open: Open<S>,
    pub(super) opened: Files<S>,
}

/// How a file is opened.
pub(super) type Open<S> = Arc<dyn Fn(&Path) -> Result<Arc<S>> + Send + Sync>;

impl Dataset {
    /// A table of these files. `open` opens a file when it is its turn; with very many files it is called more than once for some. Partition
    /// values are taken from the paths.
    ///
    /// Fails if there is no file.
    pub fn from_files<P: Into<PathBuf>>(
        paths: impl IntoIterator<Item = P>,
        open: impl Fn(&Path) -> Result<Arc<dyn Source>> + Send + Sync + 'static,
    ) -> Result<Self> {
        let files = paths.into_iter().map(|path| DataFile::new(path.into(), None));
        Dataset::new(files.collect(), Arc::new(open))
    }

    /// The files that the summary (`_metadata`) at `path` names, or the file itself if it is none. It is opened by `open`, and
    /// so are they, by `path` up to its last slash and the names that the summary has for them. This is for files in stores: no
    /// links are looked for.
    ///
    /// Fails if it cannot be opened, if its footer cannot be read, or if it names a file outside of its folder.
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

    /// The schema of the batches. Reads the footer of the first file, or of all files if [`union_by_name`](Self::union_by_name) or INT96
    /// timestamps require it.
    pub fn schema(&self) -> Result<SchemaRef> {
        Ok(self.plan()?.schema(&self.choice))
    }

    /// The number of rows in all files, without regard to filter, offset and limit. Reads all footers.
    pub fn num_rows(&self) -> Result<u64> {
        let mut rows = 0u64;
        for file in &self.choice.files {
            rows = rows.saturating_add(self.builder(file)?.chosen_rows());
        }
        Ok(rows)
    }

    /// A file's footer, and its row groups if not all are its part of the table.
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

/// What is chosen of the files.
impl<S: ?Sized> Dataset<S> {
    pub(super) fn new(files: Vec<DataFile>, open: Open<S>) -> Result<Self> {
        Ok(Dataset { choice: Choice::new(files)?, open, opened: Files::default() })
    }

    /// The files, in the order in which they are read.
    pub fn files(&self) -> impl ExactSizeIterator<Item = &Path> {
        self.choice.files.iter().map(|file| file.path.as_path())
    }

    /// How each file is read. Default: text as views, INT96 timestamps in a unit that holds those of all files, which
    /// takes reading these columns twice. A schema in the options is ignored: [`evolve`](Self::evolve) is for that.
    #[must_use]
    pub fn options(mut self, options: ArrowReaderOptions) -> Self {
        self.choice.options = ArrowReaderOptions { schema: None, ..options };
        self
    }

    /// Selects columns by dotted path or partition key, and returns them in this order. A path selects all columns below it as well. The other
    /// columns of the files need not agree with each other.
    #[must_use]
    pub fn columns<N: Into<String>>(mut self, columns: impl IntoIterator<Item = N>) -> Self {
        self.choice.columns = Some(columns.into_iter().map(Into::into).collect());
        self
    }

    /// Gives the table the columns of all files, if `union` is true; this reads all footers. Default false: the table has the columns of the first
    /// file.
    #[must_use]
    pub fn union_by_name(mut self, union: bool) -> Self {
        self.choice.union = union;
        self
    }

    /// Sets how the columns of one file are matched with those of another. Default: by name.
    #[must_use]
    pub fn match_by(mut self, by: MatchBy) -> Self {
        self.choice.by = by;
        self
    }

    /// Reads all files as this schema. A column that is called as a key of the partitions has their values, and its type is
    /// theirs. It says which columns are read: [`columns`](Self::columns) has no effect then.
    #[must_use]
    pub fn evolve(mut self, evolution: Evolution) -> Self {
        self.choice.evolution = Some(evolution);
        self
    }

    /// What the files are read as, if [`evolve`](Self::evolve) was told, as parts of a table are.
    pub fn evolution(&self) -> Option<&Evolution> {
        self.choice.evolution.as_ref()
    }

    /// Returns only the rows for which `predicate` is true. It may name columns of the table and partition keys. Files whose partition values
    /// rule out all rows are not opened; in the others, what statistics and indexes rule out is not read.
    ///
    /// Names, types and literals are those of the table, whatever each file stores: see [`match_by`](Self::match_by). When columns are matched
    /// by field id, a column that the table is not known to have, or that has no id, is an error.
    #[must_use]
    pub fn filter(mut self, predicate: Predicate) -> Self {
        self.choice.predicate = Some(predicate);
        self
    }

    /// Makes columns of directory names of the form `key=value`, if `are_columns` is true. Default true.
    #[must_use]
    pub fn partitions(mut self, are_columns: bool) -> Self {
        self.choice.has_partitions = are_columns;
        self
    }

    /// Sets the type of a partition key. A value that is not of this type is an error.
    #[must_use]
    pub fn partition_type(mut self, key: impl Into<String>, data_type: DataType) -> Self {
        self.choice.partition_types.insert(key.into(), data_type);
        self
    }

    /// Sets the number of rows in a batch. Default 8,192. The last batch of a file may be shorter.
    #[must_use]
    pub fn batch_size(mut self, rows: usize) -> Self {
        self.choice.batch_size = Some(rows);
        self
    }

    /// Limits the number of rows of all files together, counted after the filter.
    #[must_use]
    pub fn limit(mut self, rows: usize) -> Self {
        self.choice.limit = Some(rows);
        self
    }

    /// Skips this many rows, counted after the filter. Without a filter, files of which all rows are skipped are opened only for their footers.
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
