//! Formats names for messages: short, on one line.

use marquetry_core::statistics::display_bytes;

/// Formats a name from a file, which may be long or contain line ends.
pub(crate) fn display_name(name: &str) -> String {
    display_bytes(name.as_bytes())
}
