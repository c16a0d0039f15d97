//! Places as text.

use crate::printable::printable;
use marquetry::errors::ErrorLocation;

/// `, in column a, row group 3`; nothing of the file as a whole.
pub(super) fn places(place: &ErrorLocation) -> String {
    let mut parts = Vec::new();
    parts.extend(place.column.as_ref().map(|column| format!("column {}", printable(column))));
    parts.extend(place.row_group.map(|row_group| format!("row group {row_group}")));
    parts.extend(place.page.map(|page| format!("page {page}")));
    parts.extend(place.offset.map(|offset| format!("byte {offset}")));
    if parts.is_empty() { String::new() } else { format!(", in {}", parts.join(", ")) }
}
