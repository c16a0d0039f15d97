//! Opens many files as one table.

use marquetry_arrow::dataset::Dataset;
use marquetry_base::Result;
use std::path::Path;

/// Opens files, directories, glob patterns or a `_metadata` file as one table. The [module](mod@crate::dataset) of the
/// same name documents which files are read, what partitions become, and which schema the table has.
///
/// ```
/// # use arrow_array::{ArrayRef, Int32Array, RecordBatch};
/// # use std::sync::Arc;
/// # let folder = std::env::temp_dir().join(format!("marquetry-dataset-{}", std::process::id()));
/// # for year in [2023, 2024] {
/// #     std::fs::create_dir_all(folder.join(format!("year={year}")))?;
/// #     let id = Arc::new(Int32Array::from(vec![1, 2])) as ArrayRef;
/// #     let batch = RecordBatch::try_from_iter([("id", id)])?;
/// #     let mut file = marquetry::create(folder.join(format!("year={year}/0.parquet")), batch.schema())?;
/// #     file.write(&batch)?;
/// #     file.close()?;
/// # }
/// // year=2023/0.parquet, year=2024/0.parquet
/// let table = marquetry::dataset([&folder])?;
/// assert_eq!(table.num_rows()?, 4);
/// for batch in table.columns(["year", "id"]).batches()? {
///     assert_eq!(batch?.schema().field(0).name(), "year");
/// }
/// # std::fs::remove_dir_all(folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Fails as [`Dataset::open`] does.
pub fn dataset<P: AsRef<Path>>(paths: impl IntoIterator<Item = P>) -> Result<Dataset> {
    Dataset::open(paths)
}
