//! Makes text of files printable.

use marquetry_base::Printable;

/// The text on one line, without control characters that steer a terminal.
pub(crate) fn printable(text: &str) -> String {
    Printable(text).to_string()
}
