//! Datasets of asynchronous sources.

use super::data_file::DataFile;
use super::int96::TableUnits;
use super::opened::Opened;
use super::schema::Plan;
use super::stream::DatasetStream;
use super::{Dataset, summary};
use crate::arrow_reader::{ArrowReaderMetadata, Int96Unit};
use crate::async_reader::{AsyncSource, OrderedFutures, fitting};
use arrow_schema::SchemaRef;
use futures_core::future::BoxFuture;
use marquetry_base::{Error, Result};
use std::future::poll_fn;
use std::path::{Path, PathBuf};
use std::sync::Arc;

type Late = Opened<dyn AsyncSource>;

/// A dataset of asynchronous sources. Only futures and streams fetch anything, and these may be dropped at any time.
///
/// ```
/// use futures::{TryStreamExt, executor::block_on};
/// use marquetry_arrow::async_reader::AsyncSource;
/// use marquetry_arrow::dataset::Dataset;
/// use std::sync::Arc;
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/wines.parquet");
/// # let bytes = bytes::Bytes::from(std::fs::read(path)?);
/// // One file that is in memory, under two names; a store is asked by the path.
/// let open = move |_: &std::path::Path| Ok(Arc::new(bytes.clone()) as Arc<dyn AsyncSource>);
/// let wines = Dataset::from_async_files(["shelf=1/a.parquet", "shelf=2/b.parquet"], open)?;
/// block_on(async {
///     let mut batches = wines.columns(["name", "shelf"]).stream().await?;
///     while let Some(batch) = batches.try_next().await? {
///         println!("{} rows", batch.num_rows());
///     }
///     Ok::<(), marquetry_base::Error>(())
/// })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
impl Dataset<dyn AsyncSource> {
    /// Creates a dataset of files at any place. `open` opens each file when it is needed, and more than once if there
    /// are very many. The paths define the partitions. Fails if there are no files.
    pub fn from_async_files<P: Into<PathBuf>>(
        paths: impl IntoIterator<Item = P>,
        open: impl Fn(&Path) -> Result<Arc<dyn AsyncSource>> + Send + Sync + 'static,
    ) -> Result<Self> {
        let files = paths.into_iter().map(|path| DataFile::new(path.into(), None));
        Dataset::new(files.collect(), Arc::new(open))
    }

    /// Creates a dataset of the files that the summary (`_metadata`) at `path` lists, or of that file alone if it is no
    /// summary.
    ///
    /// `open` opens the summary and the files. Their paths are `path` up to its last slash, and the names in the
    /// summary.
    ///
    /// Fails if the summary cannot be opened, if its footer cannot be read, or if it lists a file outside its folder.
    pub async fn from_async_summary(
        path: &str,
        open: impl Fn(&Path) -> Result<Arc<dyn AsyncSource>> + Send + Sync + 'static,
    ) -> Result<Self> {
        let in_file = |error: Error| error.in_file(path);
        let source = open(Path::new(path)).map_err(in_file)?;
        let metadata =
            ArrowReaderMetadata::load_async(&*source, Default::default()).await.map_err(in_file)?;
        let files = summary::files_in_store(path, metadata.metadata()).map_err(in_file)?;
        Dataset::new(files, Arc::new(open))
    }

    /// Sets how many bytes are fetched ahead at most, for row groups after the one being decoded, of its file and of
    /// later ones; 0 fetches none ahead.
    ///
    /// Default 32 MiB, and at most a quarter of [`Limits::memory`](marquetry_base::Limits::memory).
    #[must_use]
    pub fn prefetch(mut self, bytes: u64) -> Self {
        self.choice.prefetch = bytes;
        self
    }

    /// Returns the schema that batches will have. Fetches the first file's footer, or all footers if
    /// [`union_by_name`](Self::union_by_name) or INT96 timestamps require it.
    pub async fn schema(&self) -> Result<SchemaRef> {
        Ok(self.plan().await?.schema(&self.choice))
    }

    /// Returns the number of rows in all files, before any filter, limit or offset. Fetches all footers.
    pub async fn num_rows(&self) -> Result<u64> {
        let mut rows = 0u64;
        let mut opened = self.opened_in_order(&self.choice.files);
        for file in &self.choice.files {
            let metadata = opened.next().await?.metadata;
            let metadata = metadata.metadata();
            let row_groups = file.row_groups(metadata).map_err(|error| error.in_file(file.name()))?;
            let of_file = match row_groups {
                Some(row_groups) => row_groups.into_iter().fold(0u64, |rows, row_group| {
                    rows.saturating_add(metadata.row_group(row_group).num_rows())
                }),
                None => metadata.num_rows(),
            };
            rows = rows.saturating_add(of_file);
        }
        Ok(rows)
    }

    /// Returns a stream of the rows that [`Dataset::batches`] would return of the same files. Fetches what
    /// [`schema`](Self::schema) does.
    ///
    /// Files are read in order. While the row groups of one file are decoded, the footers of the next ones are fetched,
    /// and then their row groups, up to [`prefetch`](Self::prefetch) bytes. With a limit, no more than needed is
    /// fetched.
    ///
    /// Fails if a column does not exist, or if the files can have no schema in common.
    pub async fn stream(self) -> Result<DatasetStream> {
        let plan = self.plan().await?;
        Ok(DatasetStream::new(self, plan))
    }

    /// Splits the table into at most `parts` tables, as [`Dataset::split`] does for blocking sources. Fetches what
    /// [`schema`](Self::schema) does. Fails as that does, and if there is a limit or an offset.
    pub async fn split(&self, parts: usize) -> Result<Vec<Self>> {
        self.check_parts()?;
        self.parts_of(&self.plan().await?.evolution, parts)
    }

    /// Returns how many rows [`stream`](Self::stream) will return, if footers suffice to know it. Fetches all of them.
    /// Returns `None` if there is a filter, or if damaged rows may be left out.
    pub async fn exact_num_rows(&self) -> Result<Option<u64>> {
        if !self.do_footers_tell_rows() {
            return Ok(None);
        }
        Ok(Some(self.chosen_of(self.num_rows().await?)))
    }

    async fn plan(&self) -> Result<Plan> {
        let choice = &self.choice;
        if let Some(plan) = choice.plan_of_evolution()? {
            return Ok(plan);
        }
        let int96 = self.int96().await?;
        let files = if choice.union { &choice.files[..] } else { &choice.files[..1] };
        let mut opened = self.opened_in_order(files);
        let mut draft = choice.draft(&opened.next().await?.metadata, &int96)?;
        for file in &files[1..] {
            choice.add(&mut draft, file, &opened.next().await?.metadata, &int96)?;
        }
        choice.finish(draft)
    }

    /// Returns the units of INT96 timestamps that hold the values of all files, if the options request it and there are any.
    async fn int96(&self) -> Result<TableUnits> {
        let choice = &self.choice;
        let mut units = TableUnits::new(choice.by);
        if choice.options.int96 != Int96Unit::Auto {
            return Ok(units);
        }
        let mut opened = self.opened_in_order(&choice.files[..1]);
        for (i, file) in choice.files.iter().enumerate() {
            let Late { source, metadata } = opened.next().await?;
            let in_file = |error: Error| error.in_file(file.name());
            match choice.has_int96(metadata.parquet_schema(), &mut units) {
                Some(mask) => {
                    let row_groups = file.row_groups(metadata.metadata()).map_err(in_file)?;
                    let all = || (0..metadata.metadata().num_row_groups()).collect();
                    let row_groups = row_groups.unwrap_or_else(all);
                    let fits = fitting(&*source, &metadata, &row_groups, &mask, choice.prefetch).await;
                    units.add(metadata.parquet_schema(), &fits.map_err(in_file)?);
                }
                // If the first file alone decides the schema and has no INT96 column, none is read.
                None if i == 0 && !choice.union => break,
                None => {}
            }
            if i == 0 {
                opened = self.opened_in_order(&choice.files[1..]);
            }
        }
        Ok(units)
    }

    /// Opens a file and reads its footer.
    pub(super) fn open_late(&self, file: &DataFile) -> BoxFuture<'static, Result<Late>> {
        let (open, files, options) = (self.open.clone(), self.opened.clone(), self.choice.options.clone());
        let (name, path) = (file.name(), file.path.clone());
        let opened = async move {
            if let Some(opened) = files.get(&path) {
                return opened.read_as(&options);
            }
            let source = open(&path)?;
            let metadata = ArrowReaderMetadata::load_async(&*source, options).await?;
            let opened = Opened { source, metadata };
            files.keep(&path, &opened);
            Ok(opened)
        };
        Box::pin(async move { opened.await.map_err(|error: Error| error.in_file(name)) })
    }

    fn opened_in_order<'a>(&'a self, files: &'a [DataFile]) -> OpenedInOrder<'a> {
        OpenedInOrder { dataset: self, files: files.iter(), begun: OrderedFutures::default() }
    }
}

/// Opens several files at a time, and returns them in order.
struct OpenedInOrder<'a> {
    dataset: &'a Dataset<dyn AsyncSource>,
    files: std::slice::Iter<'a, DataFile>,
    begun: OrderedFutures<Result<Late>>,
}

impl OpenedInOrder<'_> {
    /// Returns the next file.
    async fn next(&mut self) -> Result<Late> {
        while self.begun.len() < AT_ONCE
            && let Some(file) = self.files.next()
        {
            self.begun.push(self.dataset.open_late(file));
        }
        match poll_fn(|cx| self.begun.poll_next(cx)).await {
            Some(opened) => opened,
            None => Err(Error::argument("there is no other file")),
        }
    }
}

/// How many footers are fetched at the same time if all of them are needed.
const AT_ONCE: usize = 16;
