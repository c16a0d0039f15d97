//! File names for display: without the secrets of URLs, and without control characters.

use crate::printable::printable;
use marquetry_base::url_without_secrets;
use std::path::Path;

/// The name for JSON and for errors: URLs without user, password and query.
pub(crate) fn shown(path: &Path) -> String {
    url_without_secrets(&path.to_string_lossy()).into_owned()
}

/// The name for lines of text: like [`shown`], on one line.
pub(crate) fn shown_on_line(path: &Path) -> String {
    printable(&shown(path))
}
