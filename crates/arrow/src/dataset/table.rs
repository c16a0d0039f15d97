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

/// Files that are read as one table, and what is to be read of them. No file is open until it is its turn.
///
/// `S` is what a file is read from: a [`Source`], or where bytes come late, an `AsyncSource`.
pub struct Dataset<S: ?Sized = dyn Source> {
    pub(super) choice: Choice,
    pub(super) open: Open<S>,
    pub(super) opened: Files<S>,
}

/// How a file is opened.
pub(super) type Open<S> = Arc<dyn Fn(&Path) -> Result<Arc<S>> + Send + Sync>;

impl Dataset {
    /// Files that are anywhere, each opened by `open` when it is its turn, and of very many files more than once. Partitions are told
    /// by the paths. Fails if there is none.
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

    /// The schema that batches will have. Reads the first file's footer, or those of all where
    /// [`union_by_name`](Self::union_by_name) or INT96 timestamps ask for it.
    pub fn schema(&self) -> Result<SchemaRef> {
        Ok(self.plan()?.schema(&self.choice))
    }

    /// How many rows all files have, whatever is chosen of them. Reads all footers.
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

    /// The keys of the partitions as columns, in the order in which they first occur: with the types of their values in all files, and
    /// nullable where a file has none. No file is opened. Fails where a file is in no partition of a key that others have, unless
    /// [`union_by_name`](Self::union_by_name) or [`evolve`](Self::evolve) is told.
    pub fn partition_fields(&self) -> Result<Fields> {
        self.choice.key_fields()
    }

    /// What the directories on the way to each of the [files](Self::files) say of a key; `None` where they say nothing, and of null.
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

    /// How each file is read. Default: text as views, INT96 timestamps in a unit that holds those of all files, which
    /// takes reading these columns twice. A schema in the options is ignored: [`evolve`](Self::evolve) is for that.
    #[must_use]
    pub fn options(mut self, options: ArrowReaderOptions) -> Self {
        self.choice.options = ArrowReaderOptions { schema: None, ..options };
        self
    }

    /// Reads only these columns, and all below them, in this order: dotted paths, and keys of partitions. What other
    /// columns the files have does not matter then.
    #[must_use]
    pub fn columns<N: Into<String>>(mut self, columns: impl IntoIterator<Item = N>) -> Self {
        self.choice.columns = Some(columns.into_iter().map(Into::into).collect());
        self
    }

    /// Whether the schema has the columns of all files, whose footers are all read for that, instead of those of the
    /// first. Default false.
    #[must_use]
    pub fn union_by_name(mut self, union: bool) -> Self {
        self.choice.union = union;
        self
    }

    /// How columns of one file are found in another. Default: by name.
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

    /// Only rows for which `predicate` is true, of columns of the files and keys of partitions. Files whose partitions say
    /// that they have no such row are not opened; of others, what statistics and indexes rule out is not read.
    ///
    /// Its columns are called as in the table, and are found in each file as [`match_by`](Self::match_by) says. By field id, one that
    /// the table is not known to have, or that has no id, is an error.
    #[must_use]
    pub fn filter(mut self, predicate: Predicate) -> Self {
        self.choice.predicate = Some(predicate);
        self
    }

    /// Whether directories called `key=value` make columns. Default true.
    #[must_use]
    pub fn partitions(mut self, are_columns: bool) -> Self {
        self.choice.has_partitions = are_columns;
        self
    }

    /// The type of a key of the partitions. A value that is none of that type is an error.
    #[must_use]
    pub fn partition_type(mut self, key: impl Into<String>, data_type: DataType) -> Self {
        self.choice.partition_types.insert(key.into(), data_type);
        self
    }

    /// Rows in a batch; the last one of a file may have fewer. Default 8,192.
    #[must_use]
    pub fn batch_size(mut self, rows: usize) -> Self {
        self.choice.batch_size = Some(rows);
        self
    }

    /// Most rows to read of all files together, of those that are wanted.
    #[must_use]
    pub fn limit(mut self, rows: usize) -> Self {
        self.choice.limit = Some(rows);
        self
    }

    /// Rows to pass over first, of those that are wanted. Files that are passed over as a whole are opened for their footers
    /// only, unless there is a filter.
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
