//! The line between what is printed of several files.

use crate::failure::Failure;
use crate::output::Output;
use crate::table::printable;
use std::path::Path;

/// The line over what is said of one of several files.
pub(super) fn title(path: &Path, output: &mut Output) -> Result<(), Failure> {
    Ok(output.line(format!("==> {} <==", printable(&path.display().to_string())))?)
}
