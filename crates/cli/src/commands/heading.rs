//! The heading between the output of several files.

use crate::failure::Failure;
use crate::file_name;
use crate::hyperlinks;
use crate::output::Output;
use std::io::Write;
use std::path::Path;

/// Prints the heading of one of several files.
pub(super) fn title(path: &Path, output: &mut Output) -> Result<(), Failure> {
    output.write_all(b"==> ")?;
    output.linked(&file_name::shown_on_line(path), hyperlinks::of_file(path))?;
    Ok(output.line(" <==")?)
}
