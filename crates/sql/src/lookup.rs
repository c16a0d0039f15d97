//! The result of looking up a location: a table, or the reason why there is none.

use datafusion::catalog::TableProvider;
use datafusion::error::DataFusionError;
use marquetry_arrow::dataset::Dataset;
use marquetry_base::{Error, ErrorKind};
use std::path::Path;
use std::sync::Arc;

/// The result of a lookup.
pub(crate) enum Lookup {
    Table(Arc<dyn TableProvider>),
    /// Files that DataFusion reads itself, under this name; or nothing.
    Other(String),
    /// Nothing that can be read, and why.
    Nothing(DataFusionError),
}

/// Who uses a table that is looked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Use {
    /// Only the statement that names it.
    Once,
    /// Later statements, too. By then there may be other files, with nulls where the current ones require values.
    Stays,
    /// Another process, which lists the files itself.
    Sent,
}

impl Lookup {
    pub(crate) fn table(table: impl TableProvider + 'static) -> Self {
        Lookup::Table(Arc::new(table))
    }
}

/// Whether there are Parquet files in folders called `key=value`, below the first `above` parts of their paths.
pub(crate) fn is_partitioned<S: ?Sized>(above: usize, dataset: &Dataset<S>) -> bool {
    let is_in_partition = |file: &Path| {
        let folders = file.parent().into_iter().flat_map(Path::components).skip(above);
        folders.into_iter().any(|folder| folder.as_os_str().to_string_lossy().contains('='))
    };
    dataset.files().any(is_in_partition) && !dataset.files().all(has_another_format)
}

/// Whether a file has the extension of another readable format.
pub(crate) fn has_another_format(path: &Path) -> bool {
    let name = path.to_string_lossy().to_lowercase();
    let name = [".gz", ".bz2", ".xz", ".zst"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(&name);
    [".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".arrow"].iter().any(|end| name.ends_with(end))
}

/// Whether a dataset may read files that a listing table cannot: columns of several types, or names that no URL can have.
pub(crate) fn is_for_datasets(error: &DataFusionError) -> bool {
    match error.find_root() {
        DataFusionError::ArrowError(..) => true,
        DataFusionError::External(error) => {
            error.downcast_ref::<Error>().is_some_and(|error| error.kind() == ErrorKind::Unsupported)
        }
        _ => false,
    }
}

pub(crate) fn of(error: Error) -> DataFusionError {
    DataFusionError::External(error.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_other_formats() {
        for (name, is_other) in
            [("a.CSV", true), ("b.json.gz", true), ("c.parquet", false), ("part-0", false)]
        {
            assert_eq!(has_another_format(Path::new(name)), is_other, "{name}");
        }
    }
}
