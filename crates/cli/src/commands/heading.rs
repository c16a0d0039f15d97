//! The line between what is printed of several files.

use crate::failure::Failure;
use crate::file_name;
use crate::output::Output;
use std::path::Path;

/// The line over what is said of one of several files.
pub(super) fn title(path: &Path, output: &mut Output) -> Result<(), Failure> {
    Ok(output.line(format!("==> {} <==", file_name::shown_on_line(path)))?)
}
