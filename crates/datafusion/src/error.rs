//! Converts our errors to DataFusion's.

use datafusion::error::DataFusionError;
use marquetry_base::{Error, ErrorKind};
use object_store::path::Path;

/// Adds the path of a file to its error.
#[cold]
pub(crate) fn of_file(error: Error, path: &Path) -> DataFusionError {
    of(error.in_file(path.as_ref()))
}

/// Converts an error that has its file's name already, or has none.
#[cold]
pub(crate) fn of(error: Error) -> DataFusionError {
    match error.kind() {
        ErrorKind::Memory => DataFusionError::ResourcesExhausted(error.to_string()),
        _ => DataFusionError::External(Box::new(error)),
    }
}

/// The error of a setting that is not supported.
#[cold]
pub(crate) fn refused(message: impl Into<String>) -> DataFusionError {
    DataFusionError::Configuration(message.into())
}
