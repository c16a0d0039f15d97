//! Opens local files.

use crate::open::OpenFile;
use marquetry_arrow::arrow_reader::ArrowReaderOptions;
use marquetry_base::Result;
use marquetry_core::io::LocalFile;
use std::path::Path;
use std::sync::Arc;

/// Opens a local file.
///
/// Fails if the file cannot be opened or is not a Parquet file, or if its footer is damaged or encrypted. The error
/// names the file.
///
/// ```
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/wines.parquet");
/// let file = marquetry::open(path)?;
/// println!("{} rows\n{}", file.metadata().num_rows(), file.metadata().schema());
/// # Ok::<(), marquetry::errors::Error>(())
/// ```
pub fn open(path: impl AsRef<Path>) -> Result<OpenFile> {
    open_with_options(path, ArrowReaderOptions::new())
}

/// Opens a local file with options that are needed before the footer is read, such as limits, a schema, or recovery
/// from a checkpoint. See [`OpenFile::new`].
///
/// ```
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/wines.parquet");
/// use marquetry::arrow::arrow_reader::ArrowReaderOptions;
/// // A file whose writer may have died, up to its last checkpoint.
/// let options = ArrowReaderOptions::new().with_checkpoint_recovery(true);
/// let file = marquetry::open_with_options(path, options)?;
/// if let Some(end) = file.recovered_end() {
///     println!("not finished: read up to byte {end}");
/// }
/// # assert_eq!(file.recovered_end(), None);
/// # Ok::<(), marquetry::errors::Error>(())
/// ```
pub fn open_with_options(path: impl AsRef<Path>, options: ArrowReaderOptions) -> Result<OpenFile> {
    let name: Arc<str> = path.as_ref().display().to_string().into();
    let source = LocalFile::open(path)?;
    OpenFile::new(Arc::new(source), options).map_err(|error| error.in_file(name))
}
